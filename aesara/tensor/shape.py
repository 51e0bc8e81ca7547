"""Shapes: reading, stating and changing them: the documented names."""

from aesara.scalar import int32
from aesara.tensor.shapes.reshape import *
from aesara.tensor.shapes.reshape import Reshape, register_shape_c_code, register_shape_i_c_code, static_reshape
from aesara.tensor.shapes.shape import *
from aesara.tensor.shapes.shape import Shape, Shape_i, _shape, shape_i, shape_i_op, shape_tuple
from aesara.tensor.shapes.specify_shape import *
from aesara.tensor.shapes.specify_shape import SpecifyShape, Unbroadcast, _specify_shape
from aesara.tensor.type_other import NoneConst
