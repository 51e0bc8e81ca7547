"""Shapes: reading, stating and changing them: the documented names."""

from __future__ import annotations

from aesara.scalar import int32
from aesara.tensor.shapes.reshape import (
    Reshape,
    register_shape_c_code,
    register_shape_i_c_code,
    reshape,
    shape_padaxis,
    shape_padleft,
    shape_padright,
    static_reshape,
)
from aesara.tensor.shapes.shape import Shape, Shape_i, _shape, shape, shape_i, shape_i_op, shape_tuple
from aesara.tensor.shapes.specify_shape import (
    SpecifyShape,
    Unbroadcast,
    _specify_shape,
    specify_broadcastable,
    specify_shape,
    unbroadcast,
)
from aesara.tensor.type_other import NoneConst

__all__ = [
    "NoneConst",
    "Reshape",
    "Shape",
    "Shape_i",
    "SpecifyShape",
    "Unbroadcast",
    "_shape",
    "_specify_shape",
    "int32",
    "register_shape_c_code",
    "register_shape_i_c_code",
    "reshape",
    "shape",
    "shape_i",
    "shape_i_op",
    "shape_padaxis",
    "shape_padleft",
    "shape_padright",
    "shape_tuple",
    "specify_broadcastable",
    "specify_shape",
    "static_reshape",
    "unbroadcast",
]
