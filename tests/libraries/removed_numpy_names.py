"""Names that NumPy 2 does not have any more, for libraries that are older than it."""

import numpy as np

for old, new in (("product", "prod"), ("in1d", "isin")):
    if not hasattr(np, old):
        setattr(np, old, getattr(np, new))
