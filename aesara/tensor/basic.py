"""The basic functions on tensors, under the documented path.

What stands behind them is found by family: `core`, `creation`, `indexing`, `joining` and `shapes`.
"""

from __future__ import annotations

from aesara.configdefaults import config
from aesara.graph.hooks import pprint, printer_attribute
from aesara.graph.nodes import Variable
from aesara.scalar import int32
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
    cast,
)
from aesara.tensor.core.check_and_raise import assert_op
from aesara.tensor.core.constant_value import extract_constant, get_scalar_constant_value, infer_static_shape
from aesara.tensor.core.conversion import _as_tensor_variable, as_tensor, as_tensor_variable, constant
from aesara.tensor.core.scalar_conversion import (
    ScalarFromTensor,
    TensorFromScalar,
    scalar_from_tensor,
    tensor_from_scalar,
)
from aesara.tensor.core.transfer import register_transfer, transfer
from aesara.tensor.core.vector_length import get_vector_length
from aesara.tensor.creation.allocation import (
    Alloc,
    AllocEmpty,
    alloc,
    empty,
    empty_like,
    full,
    full_like,
    ones,
    ones_like,
    zeros,
    zeros_like,
)
from aesara.tensor.creation.diagonals import AllocDiag, ExtractDiag, diag, diagonal, extract_diag
from aesara.tensor.creation.eye_tri import (
    Eye,
    Tri,
    eye,
    identity_like,
    tri,
    tril,
    tril_indices,
    tril_indices_from,
    triu,
    triu_indices,
    triu_indices_from,
)
from aesara.tensor.creation.make_vector import MakeVector, make_vector
from aesara.tensor.creation.ranges import ARange, _nd_grid, arange, mgrid, ogrid
from aesara.tensor.exceptions import NotScalarConstantError
from aesara.tensor.indexing.choosing import Choose, choose
from aesara.tensor.indexing.nonzero import Nonzero, _nonzero, flatnonzero, nonzero, nonzero_values
from aesara.tensor.indexing.permuting import (
    PermuteRowElements,
    _permute_row_elements,
    inverse_permutation,
    permute_row_elements,
    take_along_axis,
)
from aesara.tensor.indexing.selection import Default, default, fill, second, switch, tensor_copy, where
from aesara.tensor.joining.join_split import (
    Join,
    Split,
    concatenate,
    horizontal_stack,
    join,
    join_,
    split,
    stack,
    stacklists,
    vertical_stack,
)
from aesara.tensor.shapes.rearranging import (
    atleast_1d,
    atleast_2d,
    atleast_3d,
    atleast_Nd,
    expand_dims,
    flatten,
    is_flat,
    moveaxis,
    roll,
    swapaxes,
    tile,
    transpose,
)
from aesara.tensor.type import tensor
from aesara.tensor.var import TensorVariable

__all__ = [
    "AllocDiag",
    "ARange",
    "Alloc",
    "AllocEmpty",
    "Choose",
    "Default",
    "ExtractDiag",
    "Eye",
    "Join",
    "MakeVector",
    "Nonzero",
    "NotScalarConstantError",
    "PermuteRowElements",
    "ScalarFromTensor",
    "Split",
    "TensorFromScalar",
    "TensorVariable",
    "Tri",
    "_as_tensor_variable",
    "_cast_mapping",
    "_convert_to_bool",
    "_convert_to_complex128",
    "_convert_to_complex64",
    "_convert_to_float16",
    "_convert_to_float32",
    "_convert_to_float64",
    "_convert_to_int16",
    "_convert_to_int32",
    "_convert_to_int64",
    "_convert_to_int8",
    "_convert_to_uint16",
    "_convert_to_uint32",
    "_convert_to_uint64",
    "_convert_to_uint8",
    "_nd_grid",
    "_nonzero",
    "_permute_row_elements",
    "alloc",
    "arange",
    "as_tensor",
    "as_tensor_variable",
    "assert_op",
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "atleast_Nd",
    "cast",
    "choose",
    "concatenate",
    "config",
    "constant",
    "default",
    "diag",
    "diagonal",
    "empty",
    "empty_like",
    "expand_dims",
    "extract_constant",
    "extract_diag",
    "eye",
    "fill",
    "flatnonzero",
    "flatten",
    "full",
    "full_like",
    "get_scalar_constant_value",
    "get_vector_length",
    "horizontal_stack",
    "identity_like",
    "infer_static_shape",
    "int32",
    "inverse_permutation",
    "is_flat",
    "join",
    "join_",
    "make_vector",
    "mgrid",
    "moveaxis",
    "nonzero",
    "nonzero_values",
    "ogrid",
    "ones",
    "ones_like",
    "permute_row_elements",
    "pprint",
    "register_transfer",
    "roll",
    "scalar_from_tensor",
    "second",
    "split",
    "stack",
    "stacklists",
    "swapaxes",
    "switch",
    "take_along_axis",
    "tensor",
    "tensor_copy",
    "tensor_from_scalar",
    "tile",
    "transfer",
    "transpose",
    "tri",
    "tril",
    "tril_indices",
    "tril_indices_from",
    "triu",
    "triu_indices",
    "triu_indices_from",
    "vertical_stack",
    "where",
    "zeros",
    "zeros_like",
]


__getattr__ = printer_attribute(__name__, ("MakeVectorPrinter",))
