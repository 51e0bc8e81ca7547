"""Shapes of parameters and streams of draws under their documented path.

They are defined in `parameters` and `stream`.
"""

from aesara.tensor.elementwise.ops import maximum
from aesara.tensor.random.parameters import (
    broadcast_params,
    explicit_expand_dims,
    normalize_size_param,
    params_broadcast_shapes,
    supp_shape_from_ref_param_shape,
)
from aesara.tensor.random.stream import RandomStream

__all__ = [name for name in dir() if not name.startswith("_")]
