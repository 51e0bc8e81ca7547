"""Features of SciPy that its oldest supported versions lack."""

import scipy.special

#: functions of `scipy.special` that are younger than the oldest SciPy that the package runs with
YOUNG = ("betainccinv",)
SCIPY_LACKS = tuple(name for name in YOUNG if not hasattr(scipy.special, name))
