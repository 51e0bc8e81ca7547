"""Rules about random draws under their documented path.

They are defined in `inplace` and `lifting`.
"""

from aesara.configdefaults import config
from aesara.graph.rewriting.databases import optdb
from aesara.tensor.random.rewriting.inplace import random_make_inplace
from aesara.tensor.random.rewriting.lifting import (
    is_rv_used_in_graph,
    local_dimshuffle_rv_lift,
    local_rv_size_lift,
    local_subtensor_rv_lift,
)

__all__ = [name for name in dir() if not name.startswith("_")]
