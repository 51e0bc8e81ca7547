"""The functions that operators and methods of variables call."""

from __future__ import annotations

from aesara import scalar as aes
from aesara.graph.nodes import Variable
from aesara.tensor.core.casting import cast
from aesara.tensor.core.constant_value import get_scalar_constant_value
from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.tensor_type import DenseTensorType
from aesara.tensor.core.transfer import transfer
from aesara.tensor.core.variable import TensorVariable, functions
from aesara.tensor.core.vector_length import get_vector_length
from aesara.tensor.creation.allocation import ones_like, zeros_like
from aesara.tensor.creation.diagonals import diagonal
from aesara.tensor.elementwise import ops
from aesara.tensor.elementwise.numpy_ops import left_shift, positive, right_shift
from aesara.tensor.indexing.choosing import choose
from aesara.tensor.indexing.getitem import getitem
from aesara.tensor.indexing.inc_subtensor import inc_subtensor, set_subtensor, take
from aesara.tensor.indexing.nonzero import nonzero, nonzero_values
from aesara.tensor.indexing.selection import fill, tensor_copy
from aesara.tensor.numpy_api.protocol import as_object, call_function, call_ufunc, refuse_array
from aesara.tensor.ordering.searching import searchsorted
from aesara.tensor.ordering.sorting import argsort, sort
from aesara.tensor.products.dot import dense_dot
from aesara.tensor.products.matmul import matrix_product
from aesara.tensor.products.norms import matrix_norm
from aesara.tensor.reductions.all_any import all, any
from aesara.tensor.reductions.argmax import argmax, argmin, ptp
from aesara.tensor.reductions.sum_prod_max import largest_size, max, min, prod, sum
from aesara.tensor.sequences.cumulative import cumprod, cumsum
from aesara.tensor.shapes.dimshuffle import dimshuffle_op
from aesara.tensor.shapes.rearranging import flatten, swapaxes, transpose
from aesara.tensor.shapes.repeating import compress, repeat, squeeze
from aesara.tensor.shapes.reshape import reshape
from aesara.tensor.shapes.shape import shape
from aesara.tensor.shapes.specify_shape import specify_shape
from aesara.tensor.statistics.mean_var import mean, std, var


def _operand(other: object) -> TensorVariable | Variable | int:
    """Convert the other operand of an operator to a tensor; integers are returned unchanged. Return NotImplemented if
    the operator of the other operand applies.
    """
    if type(other) is int:
        return other  # its dtype may depend on that of the first operand
    if isinstance(other, Variable):
        if isinstance(other.type, DenseTensorType) or isinstance(other.type, aes.ScalarType):
            return other
        return NotImplemented
    try:
        return as_tensor_variable(other)
    except NotImplementedError:
        return NotImplemented


vars(functions).update({name: getattr(ops, name) for name in ops.__all__})
vars(functions).update(
    all=all, any=any, argmax=argmax, argmin=argmin, argsort=argsort, as_object=as_object,
    as_tensor_variable=as_tensor_variable, call_function=call_function, call_ufunc=call_ufunc, cast=cast, choose=choose,
    compress=compress, cumprod=cumprod, cumsum=cumsum, dense_dot=dense_dot, diagonal=diagonal,
    dimshuffle_op=dimshuffle_op, fill=fill, flatten=flatten, get_scalar_constant_value=get_scalar_constant_value,
    get_vector_length=get_vector_length, getitem=getitem, inc_subtensor=inc_subtensor, largest_size=largest_size,
    left_shift=left_shift, matrix_norm=matrix_norm, matrix_product=matrix_product, max=max, mean=mean, min=min,
    nonzero=nonzero, nonzero_values=nonzero_values, ones_like=ones_like, prod=prod, ptp=ptp, refuse_array=refuse_array,
    repeat=repeat, reshape=reshape, right_shift=right_shift, searchsorted=searchsorted, set_subtensor=set_subtensor,
    shape=shape, sort=sort, specify_shape=specify_shape, squeeze=squeeze, std=std, sum=sum, swapaxes=swapaxes,
    take=take, tensor_copy=tensor_copy, transfer=transfer, transpose=transpose, var=var, zeros_like=zeros_like,
    mod_check=ops.mod_check, operand=_operand, pos=positive,
)  # fmt: skip
