"""Basic functions of tensors, under their documented path.

They are defined in the packages `core`, `creation`, `indexing`, `joining` and `shapes`.
"""

from aesara.configdefaults import config
from aesara.graph.hooks import pprint, printer_attribute
from aesara.graph.nodes import Variable
from aesara.scalar import int32
from aesara.tensor.core.casting import *
from aesara.tensor.core.casting import (
    _cast_mapping,
    _convert_to_bool,
    _convert_to_complex64,
    _convert_to_complex128,
    _convert_to_float16,
    _convert_to_float32,
    _convert_to_float64,
    _convert_to_int8,
    _convert_to_int16,
    _convert_to_int32,
    _convert_to_int64,
    _convert_to_uint8,
    _convert_to_uint16,
    _convert_to_uint32,
    _convert_to_uint64,
)
from aesara.tensor.core.check_and_raise import assert_op
from aesara.tensor.core.constant_value import *
from aesara.tensor.core.constant_value import infer_static_shape
from aesara.tensor.core.conversion import *
from aesara.tensor.core.conversion import _as_tensor_variable
from aesara.tensor.core.scalar_conversion import *
from aesara.tensor.core.scalar_conversion import ScalarFromTensor, TensorFromScalar
from aesara.tensor.core.transfer import *
from aesara.tensor.core.transfer import register_transfer
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.core.vector_length import *
from aesara.tensor.creation.allocation import *
from aesara.tensor.creation.allocation import Alloc, AllocEmpty
from aesara.tensor.creation.diagonals import *
from aesara.tensor.creation.diagonals import AllocDiag, ExtractDiag
from aesara.tensor.creation.eye_tri import *
from aesara.tensor.creation.eye_tri import Eye, Tri
from aesara.tensor.creation.make_vector import MakeVector, make_vector
from aesara.tensor.creation.ranges import *
from aesara.tensor.creation.ranges import ARange, _nd_grid
from aesara.tensor.exceptions import NotScalarConstantError
from aesara.tensor.indexing.choosing import *
from aesara.tensor.indexing.choosing import Choose
from aesara.tensor.indexing.nonzero import *
from aesara.tensor.indexing.nonzero import Nonzero, _nonzero
from aesara.tensor.indexing.permuting import *
from aesara.tensor.indexing.permuting import PermuteRowElements, _permute_row_elements
from aesara.tensor.indexing.selection import *
from aesara.tensor.indexing.selection import Default, second, switch
from aesara.tensor.joining.join_split import *
from aesara.tensor.joining.join_split import Join, Split, join_
from aesara.tensor.shapes.rearranging import *
from aesara.tensor.type import tensor

__getattr__ = printer_attribute(__name__, ("MakeVectorPrinter",))
