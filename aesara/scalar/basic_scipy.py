"""Facade: the special functions under an older module path; use `aesara.scalar.math`."""

import warnings

from aesara.scalar import *

warnings.warn(
    "aesara.scalar.basic_scipy is deprecated; import from aesara.scalar.math instead.",
    DeprecationWarning,
    stacklevel=2,
)
