"""The operators and methods of symbolic arrays."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from aesara import scalar as aes
from aesara.graph.messages import describe
from aesara.graph.nodes import Constant, Variable
from aesara.tensor.core.casting import cast
from aesara.tensor.core.constant_value import get_scalar_constant_value
from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.tensor_type import DenseTensorType, TensorType
from aesara.tensor.core.transfer import transfer
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
from aesara.tensor.ordering.sorting import Kind, argsort, sort
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

if TYPE_CHECKING:
    from aesara.tensor.var import TensorVariable


#: NumPy's functions about containers that may hold variables, as a ``size`` does, which read none of their values.
_ABOUT_SHAPES = frozenset(("ndim", "shape", "size", "atleast_1d"))


class NoValueError(TypeError, AttributeError):
    """A variable was used as a number or a list; for `hasattr`, it has no method for that."""


class _NoMethod:
    """A special method that variables do not have, with the reason.

    Programs distinguish numbers and lists by these methods, so `hasattr` must not find them.
    """

    def __init__(self, message: str) -> None:
        self.message = message

    def __get__(self, variable: Any, owner: type) -> _NoMethod:
        if variable is None:
            return self
        name = f"{describe(variable)} of type {variable.type}"
        raise NoValueError(self.message.format(name, type(variable).__name__))


class NoAttributeError(AttributeError):
    """A variable was asked for an attribute of another kind of array."""


class NoAttribute:
    """An attribute that variables do not have, with a replacement.

    Like other missing attributes, it is not found by `hasattr`, nor listed by `dir`.
    """

    def __init__(self, message: Callable[[Any], str]) -> None:
        self.message = message

    def __get__(self, variable: Any, owner: type) -> Any:
        if variable is None:
            raise NoAttributeError(f"type object {owner.__name__!r} has no such attribute")
        raise NoAttributeError(self.message(variable))


def _operand(other: Any) -> Any:
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


def _binary(name: str, function: Callable[[Any, Any], Any], symbol: str) -> Callable[[Any, Any], Any]:
    def method(self: Any, other: Any) -> Any:
        other = _operand(other)
        return other if other is NotImplemented else function(self, other)

    method.__name__ = name
    method.__doc__ = f"``self {symbol} other``, element by element."
    return method


def _reflect(name: str, function: Callable[[Any, Any], Any], symbol: str) -> Callable[[Any, Any], Any]:
    def method(self: Any, other: Any) -> Any:
        other = _operand(other)
        return other if other is NotImplemented else function(other, self)

    method.__name__ = name
    method.__doc__ = f"``other {symbol} self``, element by element."
    return method


def _unary(name: str, function: Callable[[Any], Any], description: str) -> Callable[[Any], Any]:
    def method(self: Any) -> Any:
        return function(self)

    method.__name__ = name
    method.__doc__ = f"{description}, element by element."
    return method


def _axes_given(axes: tuple[Any, ...]) -> Any:
    """Axes that were passed one by one, or as one sequence, or not at all."""
    if not axes:
        return None
    return axes[0] if len(axes) == 1 and (axes[0] is None or not isinstance(axes[0], (int, np.integer, str))) else axes


_NUMBER_HINT = (
    "Use functions of aesara.tensor instead of those for Python's numbers, astype to convert, or .eval() for a value."
)


class _tensor_py_operators:
    """The operators and methods that all tensor variables share, shared variables included."""

    type: TensorType

    # NumPy arrays leave binary operators to objects with a higher priority.
    __array_priority__ = 1000
    # pandas does the same; its highest priority is 4000.
    __pandas_priority__ = 5000

    __add__ = _binary("__add__", ops.add, "+")
    __radd__ = _reflect("__radd__", ops.add, "+")
    __sub__ = _binary("__sub__", ops.sub, "-")
    __rsub__ = _reflect("__rsub__", ops.sub, "-")
    __mul__ = _binary("__mul__", ops.mul, "*")
    __rmul__ = _reflect("__rmul__", ops.mul, "*")
    __truediv__ = _binary("__truediv__", ops.true_divide, "/")
    __rtruediv__ = _reflect("__rtruediv__", ops.true_divide, "/")
    __floordiv__ = _binary("__floordiv__", ops.floor_divide, "//")
    __rfloordiv__ = _reflect("__rfloordiv__", ops.floor_divide, "//")
    __mod__ = _binary("__mod__", ops.mod_check, "%")
    __rmod__ = _reflect("__rmod__", ops.mod_check, "%")
    __pow__ = _binary("__pow__", ops.pow, "**")
    __rpow__ = _reflect("__rpow__", ops.pow, "**")
    __divmod__ = _binary("__divmod__", ops.divmod, "divmod")
    __rdivmod__ = _reflect("__rdivmod__", ops.divmod, "divmod")
    __and__ = _binary("__and__", ops.and_, "&")
    __rand__ = _reflect("__rand__", ops.and_, "&")
    __or__ = _binary("__or__", ops.or_, "|")
    __ror__ = _reflect("__ror__", ops.or_, "|")
    __xor__ = _binary("__xor__", ops.xor, "^")
    __rxor__ = _reflect("__rxor__", ops.xor, "^")
    __lt__ = _binary("__lt__", ops.lt, "<")
    __le__ = _binary("__le__", ops.le, "<=")
    __gt__ = _binary("__gt__", ops.gt, ">")
    __ge__ = _binary("__ge__", ops.ge, ">=")
    __matmul__ = _binary("__matmul__", matrix_product, "@")
    __rmatmul__ = _reflect("__rmatmul__", matrix_product, "@")
    __dot__ = _binary("__dot__", dense_dot, "dot")
    __rdot__ = _reflect("__rdot__", dense_dot, "dot")
    __lshift__ = _binary("__lshift__", left_shift, "<<")
    __rlshift__ = _reflect("__rlshift__", left_shift, "<<")
    __rshift__ = _binary("__rshift__", right_shift, ">>")
    __rrshift__ = _reflect("__rrshift__", right_shift, ">>")
    __pos__ = _unary("__pos__", positive, "The tensor itself")
    __abs__ = _unary("__abs__", ops.abs, "The absolute value")
    __neg__ = _unary("__neg__", ops.neg, "The negative")
    __invert__ = _unary("__invert__", ops.invert, "The bitwise, or for Booleans logical, complement")
    __ceil__ = _unary("__ceil__", ops.ceil, "The next larger integer")
    __floor__ = _unary("__floor__", ops.floor, "The next smaller integer")
    __trunc__ = _unary("__trunc__", ops.trunc, "The integer part")

    def __round__(self, ndigits: int | None = None) -> TensorVariable:
        return ops.round(self, None, ndigits or 0)

    exp = _unary("exp", ops.exp, "e to the power of each element")
    exp2 = _unary("exp2", ops.exp2, "2 to the power of each element")
    expm1 = _unary("expm1", ops.expm1, "``exp(x) - 1``")
    log = _unary("log", ops.log, "The natural logarithm")
    log1p = _unary("log1p", ops.log1p, "``log(1 + x)``")
    log2 = _unary("log2", ops.log2, "The logarithm to base 2")
    log10 = _unary("log10", ops.log10, "The logarithm to base 10")
    sqrt = _unary("sqrt", ops.sqrt, "The square root")
    sin = _unary("sin", ops.sin, "The sine")
    cos = _unary("cos", ops.cos, "The cosine")
    tan = _unary("tan", ops.tan, "The tangent")
    arcsin = _unary("arcsin", ops.arcsin, "The inverse sine")
    arccos = _unary("arccos", ops.arccos, "The inverse cosine")
    arctan = _unary("arctan", ops.arctan, "The inverse tangent")
    sinh = _unary("sinh", ops.sinh, "The hyperbolic sine")
    cosh = _unary("cosh", ops.cosh, "The hyperbolic cosine")
    tanh = _unary("tanh", ops.tanh, "The hyperbolic tangent")
    arcsinh = _unary("arcsinh", ops.arcsinh, "The inverse hyperbolic sine")
    arccosh = _unary("arccosh", ops.arccosh, "The inverse hyperbolic cosine")
    arctanh = _unary("arctanh", ops.arctanh, "The inverse hyperbolic tangent")
    ceil = _unary("ceil", ops.ceil, "The next larger integer")
    floor = _unary("floor", ops.floor, "The next smaller integer")
    trunc = _unary("trunc", ops.trunc, "The integer part")
    deg2rad = _unary("deg2rad", ops.deg2rad, "Degrees as radians")
    rad2deg = _unary("rad2deg", ops.rad2deg, "Radians as degrees")
    conj = _unary("conj", ops.conj, "The complex conjugate")
    conjugate = _unary("conjugate", ops.conjugate, "The complex conjugate")

    # -- what it is -----------------------------------------------------------

    @property
    def dtype(self) -> str:
        """The dtype of the elements."""
        return self.type.dtype

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return self.type.ndim

    @property
    def broadcastable(self) -> tuple[bool, ...]:
        """For each dimension, whether its length is known to be 1."""
        return self.type.broadcastable

    @property
    def shape(self) -> TensorVariable:
        """The lengths of the dimensions, as a vector of int64."""
        return shape(self)

    @property
    def size(self) -> TensorVariable:
        """The number of elements."""
        if self.ndim == 1:
            return self.shape[0]
        return prod(self.shape, dtype="int64")

    def __bool__(self) -> bool:
        # Allow `if x:` as a test for None, but refuse it for conditions, whose value is not known yet.
        if self.type.dtype != "bool":
            return True
        if isinstance(self, Constant):
            return bool(self.data)
        raise TypeError(
            "Variables do not support boolean operations. A condition on symbolic variables has no value until it is "
            f"computed ({describe(self)} was asked for one): use aesara.tensor.switch or aesara.ifelse.ifelse to "
            "choose by it, "
            "& and | to combine conditions, and `is None` to ask whether an optional variable was given."
        )

    # Conversions to numbers raise an error with a hint.

    __float__ = _NoMethod("float() needs a number: {0} has no value until it is computed. " + _NUMBER_HINT)
    __int__ = _NoMethod("int() needs a number: {0} has no value until it is computed. " + _NUMBER_HINT)
    __complex__ = _NoMethod("complex() needs a number: {0} has no value until it is computed. " + _NUMBER_HINT)
    __index__ = _NoMethod(
        "An integer is needed: {0} has no value until it is computed. Use aesara.tensor.arange for range, aesara.scan "
        "for loops, and index aesara.tensor.as_tensor(values) instead of a list or an array."
    )
    __len__ = _NoMethod(
        "object of type '{1}' has no len(): the length of {0} is known when it is computed, as x.shape[0]; the number "
        "of dimensions is x.ndim."
    )

    def __setitem__(self, index: Any, value: Any) -> None:
        raise TypeError(
            f"'{type(self).__name__}' object does not support item assignment: {describe(self)} stands for a value, "
            "it is no "
            "memory. Use x = aesara.tensor.set_subtensor(x[index], value), or inc_subtensor for x[index] += value."
        )

    # NumPy's functions build expressions or raise an error.

    at = NoAttribute(
        lambda x: (
            f"{describe(x)} has no `at`: use at.set_subtensor(x[i], y) for JAX's x.at[i].set(y), and "
            "at.inc_subtensor(x[i], y) for x.at[i].add(y). Both return a new expression, and x stays what it is."
        )
    )

    def __dir__(self) -> list[str]:
        kinds = type(self).__mro__
        hidden = {name for kind in kinds for name, own in vars(kind).items() if isinstance(own, NoAttribute)}
        return [name for name in super().__dir__() if name not in hidden]

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return call_ufunc(ufunc, method, inputs, kwargs)

    def __array_function__(self, func: Callable[..., Any], types: Any, args: Any, kwargs: Any) -> Any:
        return call_function(func, args, kwargs)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        caller = sys._getframe(1)
        if caller.f_globals.get("__name__", "").startswith("numpy."):
            wanted = caller.f_code.co_name in _ABOUT_SHAPES
        else:
            wanted = dtype is not None and np.dtype(dtype) == object  # the program itself wants an array of variables
        if wanted:
            return as_object(self)
        raise refuse_array(self)

    # Without this, ``x == array`` calls ``array == x``, which NumPy evaluates elementwise.
    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = object.__hash__

    def __iter__(self) -> Iterator[Any]:
        try:
            length = get_vector_length(self) if self.ndim == 1 else self.type.shape[0] if self.ndim else None
        except ValueError:
            length = None
        if length is None:
            raise TypeError(
                "TensorType does not support iteration over a dimension whose length is not known: "
                f"{describe(self)} has type {self.type}. Maybe you are using builtins.sum instead of "
                "aesara.tensor.math.sum? "
                "(Maybe .max?) To loop over elements, use aesara.scan; to give the length, use specify_shape."
            )
        return iter([self[i] for i in range(length)])

    def get_scalar_constant_value(self) -> Any:
        """The value that all elements are known to have; see the function of that name."""
        return get_scalar_constant_value(self)

    # -- dimensions -----------------------------------------------------------

    def __getitem__(self: Any, args: Any) -> TensorVariable:
        """Part of the tensor: with slices, integers, arrays, masks, ``None`` and ``...``, as in NumPy."""
        return getitem(self, args)

    @property
    def T(self) -> TensorVariable:
        """The tensor with its dimensions in reverse order."""
        return transpose(self)

    @property
    def mT(self) -> TensorVariable:
        """Every matrix of a batch transposed: the last two dimensions exchanged."""
        if self.type.ndim < 2:
            raise ValueError(f"mT needs two or more dimensions; got {describe(self)} of type {self.type}.")
        return swapaxes(self, -1, -2)

    def transpose(self, *axes: Any) -> TensorVariable:
        """The tensor with its dimensions in another order, by default reversed."""
        return transpose(self, _axes_given(axes))

    def dimshuffle(self, *pattern: Any) -> TensorVariable:
        """Reorder, add and drop dimensions.

        Parameters
        ----------
        *pattern
            For each dimension of the result, the number of a dimension of
            this tensor, or "x" for a new one of length 1. A single list is
            taken too.

        Examples
        --------
        >>> import aesara.tensor as at
        >>> at.matrix("x").dimshuffle(1, "x", 0).type
        TensorType(float64, (None, 1, None))
        """
        if len(pattern) == 1 and isinstance(pattern[0], (list, tuple)):
            pattern = tuple(pattern[0])
        return dimshuffle_op(self.type.broadcastable, pattern)(self)

    def reshape(self, shape: Any, *args: Any, ndim: int | None = None) -> TensorVariable:
        """The elements in another shape, which may contain one -1 for what is left.

        `ndim` is the number of dimensions, needed if `shape` is a vector of
        unknown length.
        """
        if args:
            shape = (shape, *args)
        if ndim is not None and not isinstance(ndim, (int, np.integer)):
            raise ValueError(f"ndim must be an integer known when the graph is built; got {ndim!r}.")
        return reshape(self, shape, ndim=ndim)

    def flatten(self, ndim: int = 1) -> TensorVariable:
        """The tensor with `ndim` dimensions, all the last ones merged into one."""
        return flatten(self, ndim)

    def ravel(self) -> TensorVariable:
        """The elements as a vector."""
        return flatten(self)

    def swapaxes(self, axis1: int, axis2: int) -> TensorVariable:
        """The tensor with two dimensions exchanged."""
        return swapaxes(self, axis1, axis2)

    def squeeze(self, axis: Any = None) -> TensorVariable:
        """The tensor without its dimensions that are known to have length 1."""
        return squeeze(self, axis=axis)

    def diagonal(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> TensorVariable:
        """The diagonals of the matrices along two axes."""
        return diagonal(self, offset, axis1, axis2)

    def trace(self, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None) -> TensorVariable:
        """The sums of the diagonals of the matrices along two axes."""
        return diagonal(self, offset, axis1, axis2).sum(axis=-1, dtype=dtype)

    def with_static_shape(self, static_shape: tuple[int | None, ...]) -> TensorVariable:
        """The tensor, with these lengths in its type and a run-time check that it has them."""
        return specify_shape(self, static_shape)

    # -- elements ---------------------------------------------------------------

    def astype(self, dtype: Any) -> TensorVariable:
        """The tensor in another dtype; itself if it has that dtype."""
        return cast(self, dtype)

    @property
    def real(self) -> TensorVariable:
        """The real parts."""
        return ops.real(self)

    @property
    def imag(self) -> TensorVariable:
        """The imaginary parts."""
        return ops.imag(self)

    def copy(self, name: str | None = None) -> TensorVariable:
        """A copy, with another name."""
        copied = tensor_copy(self)
        copied.name = name
        return copied

    def transfer(self, target: str) -> TensorVariable:
        """The tensor at another place: "cpu", or what a function given to `register_transfer` knows."""
        return transfer(self, target)

    def fill(self, value: Any) -> TensorVariable:
        """A tensor of this shape and dtype whose elements are all `value`."""
        return cast(fill(self, value), self.type.dtype)

    def zeros_like(self, dtype: Any = None) -> TensorVariable:
        """A tensor of this shape full of zeros."""
        return zeros_like(self, dtype=dtype)

    def ones_like(self, dtype: Any = None) -> TensorVariable:
        """A tensor of this shape full of ones."""
        return ones_like(self, dtype=dtype)

    def clip(self: Any, a_min: Any = None, a_max: Any = None) -> TensorVariable:
        """The elements, moved into an interval where they are outside; None is no bound."""
        if a_min is None or a_max is None:
            bounded = self if a_min is None else ops.switch(ops.lt(self, a_min), a_min, self)
            return bounded if a_max is None else ops.switch(ops.gt(self, a_max), a_max, self)
        return ops.clip(self, a_min, a_max)

    def round(self, mode: str | int | None = None, decimals: int = 0) -> TensorVariable:
        """The elements rounded to a number of decimals; see `aesara.tensor.round`."""
        return ops.round(self, mode, decimals)

    def nonzero(self, return_matrix: bool = False) -> Any:
        """Return the indices of the nonzero elements, a vector for each dimension."""
        return nonzero(self, return_matrix=return_matrix)

    def nonzero_values(self) -> TensorVariable:
        """The elements that are not zero, as a vector."""
        return nonzero_values(self)

    def take(self, indices: Any, axis: int | None = None, mode: str = "raise") -> TensorVariable:
        """Elements at positions along an axis."""
        return take(self, indices, axis, mode)

    def set(self: Any, y: Any) -> TensorVariable:
        """The whole tensor of which this is a part, such as ``x[idx]``, with the part replaced by `y`."""
        return set_subtensor(self, y)

    def inc(self: Any, y: Any, ignore_duplicates: bool = False) -> TensorVariable:
        """The whole tensor of which this is a part, such as ``x[idx]``, with `y` added to the part.

        Parameters
        ----------
        y
            What is added; it broadcasts to the part.
        ignore_duplicates
            Whether an element whose index comes several times is added to once only, as NumPy's ``x[idx] += y`` does.
        """
        return inc_subtensor(self, y, ignore_duplicates=ignore_duplicates)

    def choose(self, choices: Any, mode: str = "raise") -> TensorVariable:
        """Take each element from the tensor of `choices` whose number stands in this tensor."""
        return choose(self, choices, mode=mode)

    def compress(self, a: Any, axis: int | None = None) -> TensorVariable:
        """The slices of this tensor along an axis for which the condition `a` is true."""
        return compress(a, self, axis=axis)

    def searchsorted(self, v: Any, side: str = "left", sorter: Any = None) -> TensorVariable:
        """Find the indices at which to insert the elements of `v` into this sorted vector."""
        return searchsorted(self, v, side, sorter)

    def repeat(self, repeats: Any, axis: int | None = None) -> TensorVariable:
        """Each element repeated along an axis."""
        return repeat(self, repeats, axis)

    def sort(self, axis: int | None = -1, kind: Kind = "quicksort", order: Any = None) -> TensorVariable:
        """The elements in ascending order along an axis."""
        return sort(self, axis, kind, order)

    def argsort(self, axis: int | None = -1, kind: Kind = "quicksort", order: Any = None) -> TensorVariable:
        """The positions of the elements in ascending order along an axis."""
        return argsort(self, axis, kind, order)

    # -- along axes -------------------------------------------------------------

    def dot(self, other: Any) -> TensorVariable:
        """The product with another tensor, in the sense of `numpy.dot`."""
        return dense_dot(self, other)

    def sum(
        self,
        axis: Any = None,
        dtype: Any = None,
        keepdims: bool = False,
        acc_dtype: Any = None,
        *,
        where: Any = None,
        initial: Any = None,
    ) -> TensorVariable:
        """The sum along axes; see `aesara.tensor.sum`."""
        return sum(self, axis, dtype, keepdims, acc_dtype, where=where, initial=initial)

    def prod(
        self,
        axis: Any = None,
        dtype: Any = None,
        keepdims: bool = False,
        acc_dtype: Any = None,
        *,
        where: Any = None,
        initial: Any = None,
    ) -> TensorVariable:
        """The product along axes; see `aesara.tensor.prod`."""
        return prod(self, axis, dtype, keepdims, acc_dtype, where=where, initial=initial)

    def mean(
        self, axis: Any = None, dtype: Any = None, keepdims: bool = False, acc_dtype: Any = None, *, where: Any = None
    ) -> TensorVariable:
        """The mean along axes; see `aesara.tensor.mean`."""
        return mean(self, axis=axis, dtype=dtype, keepdims=keepdims, acc_dtype=acc_dtype, where=where)

    def var(
        self,
        axis: Any = None,
        ddof: Any = 0,
        keepdims: bool = False,
        corrected: bool = False,
        *,
        dtype: Any = None,
        where: Any = None,
    ) -> TensorVariable:
        """The variance along axes; see `aesara.tensor.var`."""
        return var(self, axis, ddof, keepdims, corrected, dtype=dtype, where=where)

    def std(
        self,
        axis: Any = None,
        ddof: Any = 0,
        keepdims: bool = False,
        corrected: bool = False,
        *,
        dtype: Any = None,
        where: Any = None,
    ) -> TensorVariable:
        """The standard deviation along axes; see `aesara.tensor.std`."""
        return std(self, axis, ddof, keepdims, corrected, dtype=dtype, where=where)

    def min(
        self, axis: Any = None, keepdims: bool = False, *, initial: Any = None, where: Any = None
    ) -> TensorVariable:
        """The smallest element along axes; see `aesara.tensor.min`."""
        return min(self, axis, keepdims, initial=initial, where=where)

    def max(
        self, axis: Any = None, keepdims: bool = False, *, initial: Any = None, where: Any = None
    ) -> TensorVariable:
        """The largest element along axes; see `aesara.tensor.max`."""
        return max(self, axis, keepdims, initial=initial, where=where)

    def argmin(self, axis: Any = None, keepdims: bool = False) -> TensorVariable:
        """The position of the smallest element along axes."""
        return argmin(self, axis, keepdims=keepdims)

    def argmax(self, axis: Any = None, keepdims: bool = False) -> TensorVariable:
        """The position of the largest element along axes."""
        return argmax(self, axis, keepdims=keepdims)

    def ptp(self, axis: Any = None, keepdims: bool = False) -> TensorVariable:
        """The largest minus the smallest element along axes."""
        return ptp(self, axis, keepdims)

    def any(self, axis: Any = None, keepdims: bool = False, *, where: Any = None) -> TensorVariable:
        """Return whether any element along axes is true."""
        return any(self, axis, keepdims, where=where)

    def all(self, axis: Any = None, keepdims: bool = False, *, where: Any = None) -> TensorVariable:
        """Return whether all elements along axes are true."""
        return all(self, axis, keepdims, where=where)

    def cumsum(self, axis: int | None = None, dtype: Any = None) -> TensorVariable:
        """The running sums along an axis."""
        return cumsum(self, axis, dtype)

    def cumprod(self, axis: int | None = None, dtype: Any = None) -> TensorVariable:
        """The running products along an axis."""
        return cumprod(self, axis, dtype)

    def norm(self, L: Any, axis: Any = None, keepdims: bool = False) -> TensorVariable:
        """The L-norm along axes: the L-th root of the sum of L-th powers of absolute values.

        An infinite `L` gives the largest absolute value, "fro" the root of
        the sum of squares of a matrix.
        """
        if isinstance(L, str):
            return matrix_norm(self, L, (0, 1) if axis is None and self.ndim == 2 else axis, keepdims)
        if L == 0:
            raise NotImplementedError("The 0-norm is not implemented: count elements with at.neq(x, 0).sum(axis).")
        magnitudes = ops.abs(self)
        if np.isinf(L):
            return largest_size(magnitudes, axis, keepdims) if L > 0 else min(magnitudes, axis, keepdims)
        total = ops.pow(magnitudes, L).sum(axis=axis, keepdims=keepdims)
        return ops.pow(total, 1.0 / L)
