"""Lowering of one draw: its parameters, their checks, its shape, and calls of routines that draw."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

from aesara.graph.nodes import Apply
from aesara.ir.expr import Expr, const
from aesara.ir.expr import op as primitive
from aesara.ir.generators import draw_address
from aesara.ir.routine import Routine
from aesara.ir.routines.draws import draw, draw_named, fill
from aesara.lower.arrays import ONE, ZERO, Alias, Array, Index, Pointwise, Reader
from aesara.lower.broadcasting import broadcast_array, broadcast_shape
from aesara.lower.calling import call_routine
from aesara.lower.context import Context
from aesara.lower.errors import Unsupported
from aesara.lower.joining.joining import integers_of_vector
from aesara.lower.reductions.careduce import convert, reduce_array
from aesara.lower.shape_arithmetic import count_of
from aesara.records import dataclass

__all__ = [
    "ABOVE_ONE",
    "AT_LEAST_ZERO",
    "BELOW_ONE",
    "NON_NEGATIVE",
    "NO_NAN",
    "POSITIVE",
    "POSITIVE_PROBABILITY",
    "PROBABILITY",
    "Constraint",
    "Drawing",
    "number",
    "unless",
]

_Test = Callable[[Expr], Expr]

#: name of the parameters in error messages of NumPy
_OBJECTS = "objects cannot be broadcast to a single shape: they"


@dataclass(frozen=True)
class Constraint:
    """A test for invalid values of a parameter, and the error message, as in NumPy."""

    is_wrong: _Test
    message: str


def _negative(x: Expr) -> Expr:
    """Test the sign bit, which -0.0 has; false for NaN."""
    if not x.dtype.startswith("float"):
        return x < const(0, x.dtype)
    zero, one = const(0.0, x.dtype), const(1.0, x.dtype)
    minus_zero = primitive("eq", x, zero) & (one / x < zero)
    return (x < zero) | minus_zero


def number(value: float) -> Expr:
    return const(value, "float64")


def _nan(x: Expr) -> Expr:
    return primitive("ne", x, x)


def unless(relation: str, bound: float) -> _Test:
    """Return the test that a comparison with a bound is false, as it is for NaN."""
    return lambda x: ~primitive(relation, x, number(bound))


def _outside(lower: str, upper: str) -> _Test:
    """Return the test that a number is not between 0 and 1; true for NaN."""
    return lambda x: unless(lower, 0.0)(x) | unless(upper, 1.0)(x)


NON_NEGATIVE = Constraint(_negative, "{name} < 0")
POSITIVE = Constraint(lambda x: x <= number(0.0), "{name} <= 0")
NO_NAN = Constraint(_nan, "{name} must not be NaN")
PROBABILITY = Constraint(_outside("ge", "le"), "{name} < 0, {name} > 1 or {name} {nan}")
POSITIVE_PROBABILITY = Constraint(_outside("gt", "le"), "{name} <= 0, {name} > 1 or {name} contains NaNs")
BELOW_ONE = Constraint(_outside("ge", "lt"), "{name} < 0, {name} >= 1 or {name} {nan}")
ABOVE_ONE = Constraint(unless("gt", 1.0), "{name} <= 1 or {name} {nan}")
#: for distributions that are computed by formulas: see `aesara.tensor.random.distributions.formulas.require`
AT_LEAST_ZERO = Constraint(unless("ge", 0.0), "{name} < 0")


def _tuple_text(first: int, last: int) -> str:
    """Return a tuple of placeholders for values in an error message."""
    return f"({', '.join(f'{{{k}}}' for k in range(first, last))}{',' if last == first + 1 else ''})"


class Drawing:
    """The lowering of one draw.

    Attributes
    ----------
    variables
        Parameters of the distribution.
    state
        Words of the generator after the draws so far.
    requires
        Checks so far.
    """

    def __init__(self, node: Apply, context: Context) -> None:
        self.node, self.context = node, context
        state, self._size, _, *self.variables = node.inputs
        self.state = context.array(state)
        self.requires: list[object] = []

    @cached_property
    def params(self) -> list[Array]:
        """The arrays of the parameters."""
        return [self.context.array(v) for v in self.variables]

    @cached_property
    def shape(self) -> tuple[Expr, ...]:
        """The batch shape of the draws."""
        length = self._size.type.shape[0]
        if not length:
            return self._common_shape()
        sizes = self._sizes(length)
        self._require_broadcastable(sizes)
        return sizes

    def _sizes(self, length: int) -> tuple[Expr, ...]:
        """Return the elements of the size, after checks."""
        sizes = integers_of_vector(self._size, length, self.node, self.context)
        for n in sizes:
            fits = n >= ZERO
            message = "negative dimensions are not allowed; one is {0}"
            self.requires += self.context.guard(fits, ValueError, message, self.node, [n])
        return tuple(sizes)

    @property
    def has_size(self) -> bool:
        """True if a size is given."""
        return bool(self._size.type.shape[0])

    def use_size(self) -> None:
        """Set the batch shape to the size, without regard to the parameters."""
        self.shape = self._sizes(self._size.type.shape[0])

    def set_shape(self, *shape: Expr) -> None:
        """Set the batch shape."""
        self.shape = shape

    def _common_shape(self) -> tuple[Expr, ...]:
        """Broadcast the batch dimensions of the parameters."""
        batches = [p.shape[: p.ndim - n] for p, n in zip(self.params, self.node.op.ndims_params, strict=True)]
        shape, checks = broadcast_shape(batches, ValueError, _OBJECTS, self.node, self.context)
        self.requires += checks
        return shape

    def _require_broadcastable(self, sizes: Sequence[Expr]) -> None:
        """Check that the parameters broadcast to the size."""
        shape = self._common_shape()
        if len(shape) > len(sizes):
            raise Unsupported("parameters of more dimensions than the size")
        both = (*sizes, *shape)
        size_text, common = _tuple_text(0, len(sizes)), _tuple_text(len(sizes), len(both))
        message = f"Output size {size_text} is not compatible with broadcast dimensions of inputs {common}."
        for n, size in zip(reversed(shape), reversed(sizes)):
            fits = primitive("eq", n, ONE) | primitive("eq", n, size)
            self.requires += self.context.guard(fits, ValueError, message, self.node, both)

    @property
    def has_arrays(self) -> bool:
        """True if a parameter is an array, for which NumPy has other error messages."""
        return any(p.ndim for p in self.params)

    def require(self, constraint: Constraint, name: str, array: Array) -> None:
        """Check a constraint of all values of a parameter."""
        nan = "contains NaNs" if self.has_arrays else "is NaN"
        self.refuse(constraint.is_wrong, constraint.message.format(name=name, nan=nan), array)

    def refuse(
        self, is_wrong: Callable[..., Expr], message: str, *arrays: Array, kind: type[Exception] = ValueError
    ) -> None:
        """Raise an exception if `is_wrong` holds for any (combination of) values of parameters."""
        wrong = self.map(is_wrong, "bool", *arrays)
        known = self.context.constant_data(wrong)
        if known is not None and not known.any():
            return
        any_wrong = reduce_array(self.context, self.context.add(wrong), tuple(range(wrong.ndim)), "or")
        number_wrong = self.context.size_from(any_wrong)
        self.requires += self.context.guard(primitive("eq", number_wrong, ZERO), kind, message, self.node)

    def map(self, compute: Callable[..., Expr], dtype: str, *arrays: Array) -> Array:
        """Compute a function of parameters element by element."""
        if len(arrays) == 1:
            (array,) = arrays
            return Pointwise(dtype, array.shape, (array,), lambda index, readers: compute(readers[0](index)), 1)
        shape, checks = broadcast_shape([a.shape for a in arrays], ValueError, _OBJECTS, self.node, self.context)
        wide = [self.broadcast(a, shape, checks) for a in arrays]

        def body(index: Index, readers: Sequence[Reader]) -> Expr:
            return compute(*(reader(index) for reader in readers))

        return Pointwise(dtype, shape, tuple(wide), body, 1)

    def broadcast(self, array: Array, shape: Sequence[Expr], checks: Sequence[object] = ()) -> Array:
        """Broadcast an array to a shape."""
        static = [n.attr if n.is_const else None for n in array.shape]
        return broadcast_array(array, shape, static, "size of draws", checks, self.node, self.context)

    def is_known(self, array: Array, value: float) -> bool:
        """Return whether an array is the given constant."""
        known = self.context.constant_data(array) if not array.ndim else None
        return known is not None and known.item() == value

    def draw(self, name: str, *params: Array) -> Array:
        """Draw a number for each element of the shape, and advance the state."""
        arguments, sizes = {}, {}
        for (parameter, dtype), array in zip(draw_named(name).parameters, params, strict=True):
            arguments[parameter] = self.for_each(convert(array, dtype))
            sizes[f"n.{parameter}"] = arguments[parameter].shape[0]
        row, is_uniform = draw_named(name), all(array.shape[0] is ONE for array in arguments.values())
        drawn = self.call(fill(name) if row.fills_any or (row.fills and is_uniform) else draw(name), arguments, sizes)
        return self.context.add(Alias(drawn, self.shape))

    def call(
        self, routine: Routine, arguments: Mapping[str, Array], sizes: Mapping[str, Expr], count: Expr | None = None
    ) -> Array:
        """Call a routine that draws for each element of the shape, or `count` times, and advance the state."""
        source, _, function = routine.symbol.partition(".")
        needed = function if source == "random" else "random_standard_gamma"
        if draw_address(needed) is None:
            raise Unsupported("NumPy does not export its functions that draw")
        sizes = {"n": count_of(self.shape) if count is None else count, "words": self.state.shape[0], **sizes}
        arguments = {"state": self.state, **arguments}
        results = call_routine(self.context, self.node, routine, sizes, arguments, requires=self.requires)
        self.state = results["state"]
        return results["out"]

    def for_each(self, array: Array, core: int = 0) -> Array:
        """Flatten the batch dimensions of a parameter: to one value, or one for each draw.

        A value has the last `core` dimensions of the array.
        """
        lead = array.ndim - core
        core_shape = array.shape[lead:]
        if all(n is ONE for n in array.shape[:lead]):

            def body(index: Index, readers: Sequence[Reader]) -> Expr:
                return readers[0]((*(ZERO,) * lead, *index[1:]))

            return Pointwise(array.dtype, (ONE, *core_shape), (array,), body, 0)
        wide = self.broadcast(array, (*self.shape, *core_shape))
        if len(self.shape) == 1:
            return wide
        return self.context.add(Alias(self.context.add(wide), (count_of(self.shape), *core_shape)))
