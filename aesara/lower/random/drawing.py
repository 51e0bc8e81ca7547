"""A draw that is lowered: its parameters, their checks, its shape, and numbers drawn one after another."""

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
from aesara.lower.broadcasting import broadcast_shape, stretched
from aesara.lower.calling import call_routine
from aesara.lower.context import Context, Unsupported
from aesara.lower.joining.joining import integers_of_vector
from aesara.lower.reductions.careduce import converted, reduce_array
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

#: parameters, in NumPy's words
_OBJECTS = "objects cannot be broadcast to a single shape: they"


@dataclass(frozen=True)
class Constraint:
    """What is wrong with a value of a parameter, and what is said then; both are NumPy's."""

    is_wrong: _Test
    message: str


def _negative(x: Expr) -> Expr:
    """As the sign bit says, which -0.0 has; NaN is taken for a number."""
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
    """True for NaN as well."""
    return lambda x: ~primitive(relation, x, number(bound))


def _outside(lower: str, upper: str) -> _Test:
    """Not between 0 and 1; true for NaN as well."""
    return lambda x: unless(lower, 0.0)(x) | unless(upper, 1.0)(x)


NON_NEGATIVE = Constraint(_negative, "{name} < 0")
POSITIVE = Constraint(lambda x: x <= number(0.0), "{name} <= 0")
NO_NAN = Constraint(_nan, "{name} must not be NaN")
PROBABILITY = Constraint(_outside("ge", "le"), "{name} < 0, {name} > 1 or {name} {nan}")
POSITIVE_PROBABILITY = Constraint(_outside("gt", "le"), "{name} <= 0, {name} > 1 or {name} contains NaNs")
BELOW_ONE = Constraint(_outside("ge", "lt"), "{name} < 0, {name} >= 1 or {name} {nan}")
ABOVE_ONE = Constraint(unless("gt", 1.0), "{name} <= 1 or {name} {nan}")
#: of distributions that are computed here: see `aesara.tensor.random.distributions.formulas.require`
AT_LEAST_ZERO = Constraint(unless("ge", 0.0), "{name} < 0")


def _tuple_text(first: int, last: int) -> str:
    """A tuple in the message of an error, of the values with these numbers."""
    return f"({', '.join(f'{{{k}}}' for k in range(first, last))}{',' if last == first + 1 else ''})"


class Drawing:
    """A draw that is lowered.

    Attributes
    ----------
    variables
        Its parameters.
    state
        The words of the generator, after what has been drawn.
    requires
        The checks so far.
    """

    def __init__(self, node: Apply, context: Context) -> None:
        self.node, self.context = node, context
        state, self._size, _, *self.variables = node.inputs
        self.state = context.array(state)
        self.requires: list[object] = []

    @cached_property
    def params(self) -> list[Array]:
        """Its parameters."""
        return [self.context.array(v) for v in self.variables]

    @cached_property
    def shape(self) -> tuple[Expr, ...]:
        """The shape of a batch of draws."""
        length = self._size.type.shape[0]
        if not length:
            return self._common_shape()
        sizes = self._sizes(length)
        self._require_fit(sizes)
        return sizes

    def _sizes(self, length: int) -> tuple[Expr, ...]:
        """The elements of the size."""
        sizes = integers_of_vector(self._size, length, self.node, self.context)
        for n in sizes:
            fits = n >= ZERO
            message = "negative dimensions are not allowed; one is {0}"
            self.requires += self.context.guard(fits, ValueError, message, self.node, [n])
        return tuple(sizes)

    @property
    def has_size(self) -> bool:
        """Whether the size is given."""
        return bool(self._size.type.shape[0])

    def batch_of_size(self) -> None:
        """Let the size alone say how many are drawn."""
        self.shape = self._sizes(self._size.type.shape[0])

    def batch_is(self, *shape: Expr) -> None:
        """Say how many are drawn."""
        self.shape = shape

    def _common_shape(self) -> tuple[Expr, ...]:
        """What the batch dimensions of the parameters broadcast to."""
        batches = [p.shape[: p.ndim - n] for p, n in zip(self.params, self.node.op.ndims_params, strict=True)]
        shape, checks = broadcast_shape(batches, ValueError, _OBJECTS, self.node, self.context)
        self.requires += checks
        return shape

    def _require_fit(self, sizes: Sequence[Expr]) -> None:
        """Parameters broadcast to the size."""
        shape = self._common_shape()
        if len(shape) > len(sizes):
            raise Unsupported("parameters of more dimensions than the size")
        both = (*sizes, *shape)
        given, common = _tuple_text(0, len(sizes)), _tuple_text(len(sizes), len(both))
        message = f"Output size {given} is not compatible with broadcast dimensions of inputs {common}."
        for n, size in zip(reversed(shape), reversed(sizes)):
            fits = primitive("eq", n, ONE) | primitive("eq", n, size)
            self.requires += self.context.guard(fits, ValueError, message, self.node, both)

    @property
    def has_arrays(self) -> bool:
        """Whether a parameter is an array: NumPy words some messages otherwise then."""
        return any(p.ndim for p in self.params)

    def require(self, constraint: Constraint, name: str, array: Array) -> None:
        """Check all values of a parameter."""
        nan = "contains NaNs" if self.has_arrays else "is NaN"
        self.refuse(constraint.is_wrong, constraint.message.format(name=name, nan=nan), array)

    def refuse(
        self, is_wrong: Callable[..., Expr], message: str, *arrays: Array, kind: type[Exception] = ValueError
    ) -> None:
        """Raise an exception if something is wrong with any value, or any combination of values, of parameters."""
        wrong = self.combined(is_wrong, "bool", *arrays)
        known = self.context.constant_data(wrong)
        if known is not None and not known.any():
            return
        any_wrong = reduce_array(self.context, self.context.add(wrong), tuple(range(wrong.ndim)), "or")
        found = self.context.size_from(any_wrong)
        self.requires += self.context.guard(primitive("eq", found, ZERO), kind, message, self.node)

    def combined(self, compute: Callable[..., Expr], dtype: str, *arrays: Array) -> Array:
        """What is computed of parameters, element by element."""
        if len(arrays) == 1:
            (array,) = arrays
            return Pointwise(dtype, array.shape, (array,), lambda index, readers: compute(readers[0](index)), 1)
        shape, checks = broadcast_shape([a.shape for a in arrays], ValueError, _OBJECTS, self.node, self.context)
        wide = [self.stretch(a, shape, checks) for a in arrays]

        def body(index: Index, readers: Sequence[Reader]) -> Expr:
            return compute(*(reader(index) for reader in readers))

        return Pointwise(dtype, shape, tuple(wide), body, 1)

    def stretch(self, array: Array, shape: Sequence[Expr], checks: Sequence[object] = ()) -> Array:
        """An array broadcast to a shape."""
        static = [n.attr if n.is_const else None for n in array.shape]
        return stretched(array, shape, static, "size of draws", checks, self.node, self.context)

    def is_known(self, array: Array, value: float) -> bool:
        """Whether an array is this number."""
        known = self.context.constant_data(array) if not array.ndim else None
        return known is not None and known.item() == value

    def draw(self, name: str, *params: Array) -> Array:
        """A number for each place of the shape, drawn from the state, which is the next one then."""
        given, sizes = {}, {}
        for (parameter, dtype), array in zip(draw_named(name).parameters, params, strict=True):
            given[parameter] = self.for_each(converted(array, dtype))
            sizes[f"n.{parameter}"] = given[parameter].shape[0]
        row, alike = draw_named(name), all(array.shape[0] is ONE for array in given.values())
        drawn = self.call(fill(name) if row.fills_any or (row.fills and alike) else draw(name), given, sizes)
        return self.context.add(Alias(drawn, self.shape))

    def call(
        self, routine: Routine, given: Mapping[str, Array], sizes: Mapping[str, Expr], count: Expr | None = None
    ) -> Array:
        """What a routine draws, for each place of the shape, or `count` times; the state is the next one then."""
        source, _, function = routine.symbol.partition(".")
        needed = function if source == "random" else "random_standard_gamma"
        if draw_address(needed) is None:
            raise Unsupported("NumPy does not export its functions that draw")
        sizes = {"n": count_of(self.shape) if count is None else count, "words": self.state.shape[0], **sizes}
        given = {"state": self.state, **given}
        made = call_routine(self.context, self.node, routine, sizes, given, requires=self.requires)
        self.state = made["state"]
        return made["out"]

    def for_each(self, array: Array, core: int = 0) -> Array:
        """The values of a parameter, one after another: the only one, or one for each draw.

        A value has the last `core` dimensions of the array.
        """
        lead = array.ndim - core
        own = array.shape[lead:]
        if all(n is ONE for n in array.shape[:lead]):

            def body(index: Index, readers: Sequence[Reader]) -> Expr:
                return readers[0]((*(ZERO,) * lead, *index[1:]))

            return Pointwise(array.dtype, (ONE, *own), (array,), body, 0)
        wide = self.stretch(array, (*self.shape, *own))
        if len(self.shape) == 1:
            return wide
        return self.context.add(Alias(self.context.add(wide), (count_of(self.shape), *own)))
