"""The basic functions on tensors, under the documented path.

What stands behind them is found by theme: `allocation`, `casting`, `constant_value`,
`conversion`, `creation`, `diagonals`, `joining`, `make_vector`, `nonzero`, `permuting`,
`rearranging`, `selection`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from aesara.configdefaults import config
from aesara.graph.hooks import pprint, printer_attribute
from aesara.graph.nodes import Variable
from aesara.scalar import int32
from aesara.tensor.allocation import (
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
from aesara.tensor.casting import (
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
from aesara.tensor.check_and_raise import assert_op
from aesara.tensor.choosing import Choose, choose
from aesara.tensor.constant_value import (
    extract_constant,
    get_scalar_constant_value,
    infer_static_shape,
)
from aesara.tensor.conversion import _as_tensor_variable, as_tensor, as_tensor_variable, constant
from aesara.tensor.creation import (
    ARange,
    Eye,
    Tri,
    _nd_grid,
    arange,
    eye,
    identity_like,
    mgrid,
    ogrid,
    tri,
    tril,
    tril_indices,
    tril_indices_from,
    triu,
    triu_indices,
    triu_indices_from,
)
from aesara.tensor.diagonals import AllocDiag, ExtractDiag, diag, diagonal, extract_diag
from aesara.tensor.exceptions import NotScalarConstantError
from aesara.tensor.joining import (
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
from aesara.tensor.make_vector import MakeVector, make_vector
from aesara.tensor.nonzero import Nonzero, _nonzero, flatnonzero, nonzero, nonzero_values
from aesara.tensor.permuting import (
    PermuteRowElements,
    _permute_row_elements,
    inverse_permutation,
    permute_row_elements,
    take_along_axis,
)
from aesara.tensor.rearranging import (
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
from aesara.tensor.scalar_conversion import (
    ScalarFromTensor,
    TensorFromScalar,
    scalar_from_tensor,
    tensor_from_scalar,
)
from aesara.tensor.selection import (
    Default,
    default,
    fill,
    second,
    switch,
    tensor_copy,
    where,
)
from aesara.tensor.vector_length import get_vector_length

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


_transfers: list[Callable[[Variable, str], Variable | None]] = []


def transfer(var: Any, target: str) -> Variable:
    """Return a variable whose value is kept at a place that `target` names.

    Parameters
    ----------
    var
        A tensor.
    target
        ``"cpu"``, or a name that a registered function knows; see `register_transfer`.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> transfer(at.vector("x"), "cpu").ndim
    1
    """
    if target == "cpu":
        return as_tensor_variable(var)
    for function in _transfers:
        moved = function(var, target)
        if moved is not None:
            return moved
    raise ValueError(f"Can't transfer to target {target}: no registered function knows it.")


def register_transfer(fn: Callable[[Variable, str], Variable | None]) -> None:
    """Register a function that moves variables to other places.

    Parameters
    ----------
    fn
        Called with a variable and a target; returns the moved variable, or None if it
        does not know the target.

    Examples
    --------
    >>> register_transfer(lambda var, target: None)
    """
    if not callable(fn):
        raise TypeError(f"A transfer function must be callable; got {fn!r}.")
    _transfers.append(fn)


__getattr__ = printer_attribute(__name__, ("MakeVectorPrinter",))
