"""Names that NumPy 2 does not have any more, for libraries that are older than it."""

import numpy as np

if not hasattr(np, "product"):
    np.product = np.prod
