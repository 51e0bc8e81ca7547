"""Loops: `scan` and functions based on it."""

from aesara.scan import batches
from aesara.scan.basic import scan
from aesara.scan.carried import fori_loop, while_loop
from aesara.scan.checkpoints import scan_checkpoints
from aesara.scan.prefixes import associative_scan
from aesara.scan.stopping import until
from aesara.scan.views import foldl, foldr, map, reduce

__all__ = [
    "associative_scan",
    "batches",
    "foldl",
    "foldr",
    "fori_loop",
    "map",
    "reduce",
    "scan",
    "scan_checkpoints",
    "until",
    "while_loop",
]

# The name of this package in `aesara` is that of its function, as in Aesara 2.9.4: what is here is found there too.
for _name in __all__:
    setattr(scan, _name, globals()[_name])
