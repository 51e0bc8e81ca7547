"""The class of symbolic arrays, with their operators and methods."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from aesara.graph.messages import describe
from aesara.graph.nodes import Constant, Variable
from aesara.graph.shared import expression_of_shared
from aesara.tensor.core.missing_attributes import NoAttribute, NoMethod
from aesara.tensor.core.tensor_like import AxisLike, IntegerLike, ShapeLike, SortKind, TensorLike

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

#: NumPy's functions about containers that may hold variables, as a ``size`` does, which read none of their values.
_ABOUT_SHAPES = frozenset(("ndim", "shape", "size", "atleast_1d"))


class ArrayType(Protocol):
    """The parts of `TensorType`, whose module imports this one, that variables and constants use."""

    dtype: str
    numpy_dtype: np.dtype
    shape: tuple[int | None, ...]
    is_dense: bool

    @property
    def ndim(self) -> int: ...

    @property
    def broadcastable(self) -> tuple[bool, ...]: ...

    def __call__(self, name: str | None = None) -> TensorVariable: ...

    def with_shape(self, shape: tuple[int | None, ...]) -> ArrayType: ...

    def filter(self, data: object, strict: bool = False, allow_downcast: bool | None = None) -> np.ndarray: ...


class Functions:
    """The functions that operators and methods of variables call, as attributes.

    Their modules import this one. `core.operators`, which imports them all, sets the attributes.
    """

    as_object: Callable[[object], np.ndarray]
    call_function: Callable[..., object]
    call_ufunc: Callable[..., object]
    dimshuffle_op: Callable[[tuple[bool, ...], tuple[object, ...]], Callable[[object], TensorVariable]]
    get_vector_length: Callable[[object], int]
    get_scalar_constant_value: Callable[[object], Any]
    nonzero: Callable[..., TensorVariable | tuple[TensorVariable, ...]]
    refuse_array: Callable[[object], TypeError]

    def __getattr__(self, name: str) -> Callable[..., TensorVariable]:
        raise AttributeError(f"Variables have no function {name!r} so far: aesara.tensor is still being imported.")


functions = Functions()
_function: dict[str, Callable[..., TensorVariable]] = vars(functions)


def _binary(name: str, function: str, symbol: str) -> Callable[[_tensor_py_operators, object], TensorVariable]:
    def method(self: _tensor_py_operators, other: object) -> TensorVariable:
        other = functions.operand(other)
        return other if other is NotImplemented else _function[function](self, other)

    method.__name__ = name
    method.__doc__ = f"``self {symbol} other``, element by element."
    return method


def _reflect(name: str, function: str, symbol: str) -> Callable[[_tensor_py_operators, object], TensorVariable]:
    def method(self: _tensor_py_operators, other: object) -> TensorVariable:
        other = functions.operand(other)
        return other if other is NotImplemented else _function[function](other, self)

    method.__name__ = name
    method.__doc__ = f"``other {symbol} self``, element by element."
    return method


def _unary(name: str, description: str) -> Callable[[_tensor_py_operators], TensorVariable]:
    function = name.strip("_")

    def method(self: _tensor_py_operators) -> TensorVariable:
        return _function[function](self)

    method.__name__ = name
    method.__doc__ = f"{description}, element by element."
    return method


def _parse_axes(axes: tuple[AxisLike, ...]) -> AxisLike | tuple[AxisLike, ...]:
    """Axes that were passed one by one, or as one sequence, or not at all."""
    if not axes:
        return None
    return axes[0] if len(axes) == 1 and (axes[0] is None or not isinstance(axes[0], (int, np.integer, str))) else axes


_NUMBER_HINT = (
    "Use functions of aesara.tensor instead of those for Python's numbers, astype to convert, or .eval() for a value."
)


class _tensor_py_operators:
    """The operators and methods that all tensor variables share, shared variables included."""

    type: ArrayType

    # NumPy arrays leave binary operators to objects with a higher priority.
    __array_priority__ = 1000
    # pandas does the same; its highest priority is 4000.
    __pandas_priority__ = 5000

    __add__ = _binary("__add__", "add", "+")
    __radd__ = _reflect("__radd__", "add", "+")
    __sub__ = _binary("__sub__", "sub", "-")
    __rsub__ = _reflect("__rsub__", "sub", "-")
    __mul__ = _binary("__mul__", "mul", "*")
    __rmul__ = _reflect("__rmul__", "mul", "*")
    __truediv__ = _binary("__truediv__", "true_divide", "/")
    __rtruediv__ = _reflect("__rtruediv__", "true_divide", "/")
    __floordiv__ = _binary("__floordiv__", "floor_divide", "//")
    __rfloordiv__ = _reflect("__rfloordiv__", "floor_divide", "//")
    __mod__ = _binary("__mod__", "mod_check", "%")
    __rmod__ = _reflect("__rmod__", "mod_check", "%")
    __pow__ = _binary("__pow__", "pow", "**")
    __rpow__ = _reflect("__rpow__", "pow", "**")
    __divmod__ = _binary("__divmod__", "divmod", "divmod")
    __rdivmod__ = _reflect("__rdivmod__", "divmod", "divmod")
    __and__ = _binary("__and__", "and_", "&")
    __rand__ = _reflect("__rand__", "and_", "&")
    __or__ = _binary("__or__", "or_", "|")
    __ror__ = _reflect("__ror__", "or_", "|")
    __xor__ = _binary("__xor__", "xor", "^")
    __rxor__ = _reflect("__rxor__", "xor", "^")
    __lt__ = _binary("__lt__", "lt", "<")
    __le__ = _binary("__le__", "le", "<=")
    __gt__ = _binary("__gt__", "gt", ">")
    __ge__ = _binary("__ge__", "ge", ">=")
    __matmul__ = _binary("__matmul__", "matrix_product", "@")
    __rmatmul__ = _reflect("__rmatmul__", "matrix_product", "@")
    __dot__ = _binary("__dot__", "dense_dot", "dot")
    __rdot__ = _reflect("__rdot__", "dense_dot", "dot")
    __lshift__ = _binary("__lshift__", "left_shift", "<<")
    __rlshift__ = _reflect("__rlshift__", "left_shift", "<<")
    __rshift__ = _binary("__rshift__", "right_shift", ">>")
    __rrshift__ = _reflect("__rrshift__", "right_shift", ">>")
    __pos__ = _unary("__pos__", "The tensor itself")
    __abs__ = _unary("__abs__", "The absolute value")
    __neg__ = _unary("__neg__", "The negative")
    __invert__ = _unary("__invert__", "The bitwise, or for Booleans logical, complement")
    __ceil__ = _unary("__ceil__", "The next larger integer")
    __floor__ = _unary("__floor__", "The next smaller integer")
    __trunc__ = _unary("__trunc__", "The integer part")

    def __round__(self, ndigits: int | None = None) -> TensorVariable:
        return functions.round(self, None, ndigits or 0)

    exp = _unary("exp", "e to the power of each element")
    exp2 = _unary("exp2", "2 to the power of each element")
    expm1 = _unary("expm1", "``exp(x) - 1``")
    log = _unary("log", "The natural logarithm")
    log1p = _unary("log1p", "``log(1 + x)``")
    log2 = _unary("log2", "The logarithm to base 2")
    log10 = _unary("log10", "The logarithm to base 10")
    sqrt = _unary("sqrt", "The square root")
    sin = _unary("sin", "The sine")
    cos = _unary("cos", "The cosine")
    tan = _unary("tan", "The tangent")
    arcsin = _unary("arcsin", "The inverse sine")
    arccos = _unary("arccos", "The inverse cosine")
    arctan = _unary("arctan", "The inverse tangent")
    sinh = _unary("sinh", "The hyperbolic sine")
    cosh = _unary("cosh", "The hyperbolic cosine")
    tanh = _unary("tanh", "The hyperbolic tangent")
    arcsinh = _unary("arcsinh", "The inverse hyperbolic sine")
    arccosh = _unary("arccosh", "The inverse hyperbolic cosine")
    arctanh = _unary("arctanh", "The inverse hyperbolic tangent")
    ceil = _unary("ceil", "The next larger integer")
    floor = _unary("floor", "The next smaller integer")
    trunc = _unary("trunc", "The integer part")
    deg2rad = _unary("deg2rad", "Degrees as radians")
    rad2deg = _unary("rad2deg", "Radians as degrees")
    conj = _unary("conj", "The complex conjugate")
    conjugate = _unary("conjugate", "The complex conjugate")

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
        return functions.shape(self)

    @property
    def size(self) -> TensorVariable:
        """The number of elements."""
        if self.ndim == 1:
            return self.shape[0]
        return functions.prod(self.shape, dtype="int64")

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

    __float__ = NoMethod("float() needs a number: {0} has no value until it is computed. " + _NUMBER_HINT)
    __int__ = NoMethod("int() needs a number: {0} has no value until it is computed. " + _NUMBER_HINT)
    __complex__ = NoMethod("complex() needs a number: {0} has no value until it is computed. " + _NUMBER_HINT)
    __index__ = NoMethod(
        "An integer is needed: {0} has no value until it is computed. Use aesara.tensor.arange for range, aesara.scan "
        "for loops, and index aesara.tensor.as_tensor(values) instead of a list or an array."
    )
    __len__ = NoMethod(
        "object of type '{1}' has no len(): the length of {0} is known when it is computed, as x.shape[0]; the number "
        "of dimensions is x.ndim."
    )

    def __setitem__(self, index: object, value: object) -> None:
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

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: object, **kwargs: object) -> object:
        return functions.call_ufunc(ufunc, method, inputs, kwargs)

    def __array_function__(
        self, func: Callable[..., object], types: object, args: tuple[object, ...], kwargs: dict[str, object]
    ) -> object:
        return functions.call_function(func, args, kwargs)

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> np.ndarray:
        caller = sys._getframe(1)
        if caller.f_globals.get("__name__", "").startswith("numpy."):
            wanted = caller.f_code.co_name in _ABOUT_SHAPES
        else:
            wanted = dtype is not None and np.dtype(dtype) == object  # the program itself wants an array of variables
        if wanted:
            return functions.as_object(self)
        raise functions.refuse_array(self)

    # Without this, ``x == array`` calls ``array == x``, which NumPy evaluates elementwise.
    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = object.__hash__

    def __iter__(self) -> Iterator[TensorVariable]:
        try:
            length = functions.get_vector_length(self) if self.ndim == 1 else self.type.shape[0] if self.ndim else None
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
        return functions.get_scalar_constant_value(self)

    # -- dimensions -----------------------------------------------------------

    def __getitem__(self, args: object) -> TensorVariable:
        """Part of the tensor: with slices, integers, arrays, masks, ``None`` and ``...``, as in NumPy."""
        return functions.getitem(self, args)

    @property
    def T(self) -> TensorVariable:
        """The tensor with its dimensions in reverse order."""
        return functions.transpose(self)

    @property
    def mT(self) -> TensorVariable:
        """Every matrix of a batch transposed: the last two dimensions exchanged."""
        if self.type.ndim < 2:
            raise ValueError(f"mT needs two or more dimensions; got {describe(self)} of type {self.type}.")
        return functions.swapaxes(self, -1, -2)

    def transpose(self, *axes: AxisLike) -> TensorVariable:
        """The tensor with its dimensions in another order, by default reversed."""
        return functions.transpose(self, _parse_axes(axes))

    def dimshuffle(self, *pattern: int | str | Sequence[int | str]) -> TensorVariable:
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
        return functions.dimshuffle_op(self.type.broadcastable, pattern)(self)

    def reshape(self, shape: ShapeLike, *args: IntegerLike, ndim: int | None = None) -> TensorVariable:
        """The elements in another shape, which may contain one -1 for what is left.

        `ndim` is the number of dimensions, needed if `shape` is a vector of
        unknown length.
        """
        if ndim is not None and not isinstance(ndim, (int, np.integer)):
            raise ValueError(f"ndim must be an integer known when the graph is built; got {ndim!r}.")
        return functions.reshape(self, (shape, *args) if args else shape, ndim=ndim)

    def flatten(self, ndim: int = 1) -> TensorVariable:
        """The tensor with `ndim` dimensions, all the last ones merged into one."""
        return functions.flatten(self, ndim)

    def ravel(self) -> TensorVariable:
        """The elements as a vector."""
        return functions.flatten(self)

    def swapaxes(self, axis1: int, axis2: int) -> TensorVariable:
        """The tensor with two dimensions exchanged."""
        return functions.swapaxes(self, axis1, axis2)

    def squeeze(self, axis: AxisLike = None) -> TensorVariable:
        """The tensor without its dimensions that are known to have length 1."""
        return functions.squeeze(self, axis=axis)

    def diagonal(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> TensorVariable:
        """The diagonals of the matrices along two axes."""
        return functions.diagonal(self, offset, axis1, axis2)

    def trace(self, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: DTypeLike | None = None) -> TensorVariable:
        """The sums of the diagonals of the matrices along two axes."""
        return functions.diagonal(self, offset, axis1, axis2).sum(axis=-1, dtype=dtype)

    def with_static_shape(self, static_shape: tuple[int | None, ...]) -> TensorVariable:
        """The tensor, with these lengths in its type and a run-time check that it has them."""
        return functions.specify_shape(self, static_shape)

    # -- elements ---------------------------------------------------------------

    def astype(self, dtype: DTypeLike) -> TensorVariable:
        """The tensor in another dtype; itself if it has that dtype."""
        return functions.cast(self, dtype)

    @property
    def real(self) -> TensorVariable:
        """The real parts."""
        return functions.real(self)

    @property
    def imag(self) -> TensorVariable:
        """The imaginary parts."""
        return functions.imag(self)

    def copy(self, name: str | None = None) -> TensorVariable:
        """A copy, with another name."""
        copied = functions.tensor_copy(self)
        copied.name = name
        return copied

    def transfer(self, target: str) -> TensorVariable:
        """The tensor at another place: "cpu", or what a function given to `register_transfer` knows."""
        return functions.transfer(self, target)

    def fill(self, value: TensorLike) -> TensorVariable:
        """A tensor of this shape and dtype whose elements are all `value`."""
        return functions.cast(functions.fill(self, value), self.type.dtype)

    def zeros_like(self, dtype: DTypeLike | None = None) -> TensorVariable:
        """A tensor of this shape full of zeros."""
        return functions.zeros_like(self, dtype=dtype)

    def ones_like(self, dtype: DTypeLike | None = None) -> TensorVariable:
        """A tensor of this shape full of ones."""
        return functions.ones_like(self, dtype=dtype)

    def clip(self, a_min: TensorLike | None = None, a_max: TensorLike | None = None) -> TensorVariable:
        """The elements, moved into an interval where they are outside; None is no bound."""
        if a_min is not None and a_max is not None:
            return functions.clip(self, a_min, a_max)
        if a_min is not None:
            return functions.switch(functions.lt(self, a_min), a_min, self)
        if a_max is not None:
            return functions.switch(functions.gt(self, a_max), a_max, self)
        return functions.as_tensor_variable(self)

    def round(self, mode: str | int | None = None, decimals: int = 0) -> TensorVariable:
        """The elements rounded to a number of decimals; see `aesara.tensor.round`."""
        return functions.round(self, mode, decimals)

    def nonzero(self, return_matrix: bool = False) -> TensorVariable | tuple[TensorVariable, ...]:
        """Return the indices of the nonzero elements, a vector for each dimension."""
        return functions.nonzero(self, return_matrix=return_matrix)

    def nonzero_values(self) -> TensorVariable:
        """The elements that are not zero, as a vector."""
        return functions.nonzero_values(self)

    def take(self, indices: TensorLike, axis: int | None = None, mode: str = "raise") -> TensorVariable:
        """Elements at positions along an axis."""
        return functions.take(self, indices, axis, mode)

    def set(self, y: TensorLike) -> TensorVariable:
        """The whole tensor of which this is a part, such as ``x[idx]``, with the part replaced by `y`."""
        return functions.set_subtensor(self, y)

    def inc(self, y: TensorLike, ignore_duplicates: bool = False) -> TensorVariable:
        """The whole tensor of which this is a part, such as ``x[idx]``, with `y` added to the part.

        Parameters
        ----------
        y
            What is added; it broadcasts to the part.
        ignore_duplicates
            Whether an element whose index comes several times is added to once only, as NumPy's ``x[idx] += y`` does.
        """
        return functions.inc_subtensor(self, y, ignore_duplicates=ignore_duplicates)

    def choose(self, choices: TensorLike, mode: str = "raise") -> TensorVariable:
        """Take each element from the tensor of `choices` whose number stands in this tensor."""
        return functions.choose(self, choices, mode=mode)

    def compress(self, a: TensorLike, axis: int | None = None) -> TensorVariable:
        """The slices of this tensor along an axis for which the condition `a` is true."""
        return functions.compress(a, self, axis=axis)

    def searchsorted(self, v: TensorLike, side: str = "left", sorter: TensorLike | None = None) -> TensorVariable:
        """Find the indices at which to insert the elements of `v` into this sorted vector."""
        return functions.searchsorted(self, v, side, sorter)

    def repeat(self, repeats: TensorLike, axis: int | None = None) -> TensorVariable:
        """Each element repeated along an axis."""
        return functions.repeat(self, repeats, axis)

    def sort(
        self, axis: int | None = -1, kind: SortKind = "quicksort", order: str | Sequence[str] | None = None
    ) -> TensorVariable:
        """The elements in ascending order along an axis."""
        return functions.sort(self, axis, kind, order)

    def argsort(
        self, axis: int | None = -1, kind: SortKind = "quicksort", order: str | Sequence[str] | None = None
    ) -> TensorVariable:
        """The positions of the elements in ascending order along an axis."""
        return functions.argsort(self, axis, kind, order)

    # -- along axes -------------------------------------------------------------

    def dot(self, other: TensorLike) -> TensorVariable:
        """The product with another tensor, in the sense of `numpy.dot`."""
        return functions.dense_dot(self, other)

    def sum(
        self,
        axis: AxisLike = None,
        dtype: DTypeLike | None = None,
        keepdims: bool = False,
        acc_dtype: DTypeLike | None = None,
        *,
        where: TensorLike | None = None,
        initial: TensorLike | None = None,
    ) -> TensorVariable:
        """The sum along axes; see `aesara.tensor.sum`."""
        return functions.sum(self, axis, dtype, keepdims, acc_dtype, where=where, initial=initial)

    def prod(
        self,
        axis: AxisLike = None,
        dtype: DTypeLike | None = None,
        keepdims: bool = False,
        acc_dtype: DTypeLike | None = None,
        *,
        where: TensorLike | None = None,
        initial: TensorLike | None = None,
    ) -> TensorVariable:
        """The product along axes; see `aesara.tensor.prod`."""
        return functions.prod(self, axis, dtype, keepdims, acc_dtype, where=where, initial=initial)

    def mean(
        self,
        axis: AxisLike = None,
        dtype: DTypeLike | None = None,
        keepdims: bool = False,
        acc_dtype: DTypeLike | None = None,
        *,
        where: TensorLike | None = None,
    ) -> TensorVariable:
        """The mean along axes; see `aesara.tensor.mean`."""
        return functions.mean(self, axis=axis, dtype=dtype, keepdims=keepdims, acc_dtype=acc_dtype, where=where)

    def var(
        self,
        axis: AxisLike = None,
        ddof: TensorLike = 0,
        keepdims: bool = False,
        corrected: bool = False,
        *,
        dtype: DTypeLike | None = None,
        where: TensorLike | None = None,
    ) -> TensorVariable:
        """The variance along axes; see `aesara.tensor.var`."""
        return functions.var(self, axis, ddof, keepdims, corrected, dtype=dtype, where=where)

    def std(
        self,
        axis: AxisLike = None,
        ddof: TensorLike = 0,
        keepdims: bool = False,
        corrected: bool = False,
        *,
        dtype: DTypeLike | None = None,
        where: TensorLike | None = None,
    ) -> TensorVariable:
        """The standard deviation along axes; see `aesara.tensor.std`."""
        return functions.std(self, axis, ddof, keepdims, corrected, dtype=dtype, where=where)

    def min(
        self,
        axis: AxisLike = None,
        keepdims: bool = False,
        *,
        initial: TensorLike | None = None,
        where: TensorLike | None = None,
    ) -> TensorVariable:
        """The smallest element along axes; see `aesara.tensor.min`."""
        return functions.min(self, axis, keepdims, initial=initial, where=where)

    def max(
        self,
        axis: AxisLike = None,
        keepdims: bool = False,
        *,
        initial: TensorLike | None = None,
        where: TensorLike | None = None,
    ) -> TensorVariable:
        """The largest element along axes; see `aesara.tensor.max`."""
        return functions.max(self, axis, keepdims, initial=initial, where=where)

    def argmin(self, axis: AxisLike = None, keepdims: bool = False) -> TensorVariable:
        """The position of the smallest element along axes."""
        return functions.argmin(self, axis, keepdims=keepdims)

    def argmax(self, axis: AxisLike = None, keepdims: bool = False) -> TensorVariable:
        """The position of the largest element along axes."""
        return functions.argmax(self, axis, keepdims=keepdims)

    def ptp(self, axis: AxisLike = None, keepdims: bool = False) -> TensorVariable:
        """The largest minus the smallest element along axes."""
        return functions.ptp(self, axis, keepdims)

    def any(self, axis: AxisLike = None, keepdims: bool = False, *, where: TensorLike | None = None) -> TensorVariable:
        """Return whether any element along axes is true."""
        return functions.any(self, axis, keepdims, where=where)

    def all(self, axis: AxisLike = None, keepdims: bool = False, *, where: TensorLike | None = None) -> TensorVariable:
        """Return whether all elements along axes are true."""
        return functions.all(self, axis, keepdims, where=where)

    def cumsum(self, axis: int | None = None, dtype: DTypeLike | None = None) -> TensorVariable:
        """The running sums along an axis."""
        return functions.cumsum(self, axis, dtype)

    def cumprod(self, axis: int | None = None, dtype: DTypeLike | None = None) -> TensorVariable:
        """The running products along an axis."""
        return functions.cumprod(self, axis, dtype)

    def norm(self, L: float | str, axis: AxisLike = None, keepdims: bool = False) -> TensorVariable:
        """The L-norm along axes: the L-th root of the sum of L-th powers of absolute values.

        An infinite `L` gives the largest absolute value, "fro" the root of
        the sum of squares of a matrix.
        """
        if isinstance(L, str):
            return functions.matrix_norm(self, L, (0, 1) if axis is None and self.ndim == 2 else axis, keepdims)
        if L == 0:
            raise NotImplementedError("The 0-norm is not implemented: count elements with at.neq(x, 0).sum(axis).")
        magnitudes = functions.abs(self)
        if np.isinf(L):
            return (
                functions.largest_size(magnitudes, axis, keepdims)
                if L > 0
                else functions.min(magnitudes, axis, keepdims)
            )
        total = functions.pow(magnitudes, L).sum(axis=axis, keepdims=keepdims)
        return functions.pow(total, 1.0 / L)


def _is_no_shared_variable(x: Variable) -> str:
    """Return the error message for reading or setting the value of a variable that is not shared."""
    description = expression_of_shared(x) or (
        "has no value that could be read or set: make it by aesara.shared(value), or give its value as an argument of "
        "a function."
    )
    return f"{describe(x)} {description}"


class TensorVariable(_tensor_py_operators, Variable):
    """A symbolic array."""

    get_value = set_value = NoAttribute(_is_no_shared_variable)
