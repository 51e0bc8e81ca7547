"""Lowering of draws: NumPy's C functions on the words of a generator, and what is computed of their numbers.

The words of a generator are an array like any other (`ir.generators`): a draw overwrites them, so that a state that
several read is copied, and one that nobody reads any more is advanced in its place.  What a call has drawn goes into
the generator of the shared variable when everything has succeeded.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from aesara.graph.nodes import Apply, Variable
from aesara.ir.expr import Expr, const
from aesara.ir.expr import op as primitive
from aesara.ir.generators import draw_address
from aesara.ir.routines.draws import draw, draw_named
from aesara.lower.arrays import ONE, ZERO, Alias, Array, Index, Pointwise, Reader
from aesara.lower.broadcasting import broadcast_shape, stretched
from aesara.lower.calling import call_routine
from aesara.lower.context import Context, Unsupported
from aesara.lower.dispatch import lower_op
from aesara.lower.joining.joining import integers_of_vector
from aesara.lower.reductions.careduce import converted, reduce_array
from aesara.lower.shape_arithmetic import count_of
from aesara.records import dataclass
from aesara.tensor.random import distributions as of
from aesara.tensor.random.random_variable import RandomVariable

__all__: list[str] = []

_Test = Callable[[Expr], Expr]

#: parameters, in NumPy's words
_OBJECTS = "objects cannot be broadcast to a single shape: they"


@lower_op.register
def _draw(op: RandomVariable, node: Apply, context: Context) -> Sequence[Array]:
    distribution = _DISTRIBUTIONS.get(type(op))  # a subclass may draw otherwise
    if distribution is None:
        raise Unsupported(f"no native draws from {op.name}")
    drawn = _Node(node, context)
    numbers = distribution(drawn)
    dtype = node.outputs[1].type.dtype
    if dtype != numbers.dtype and not dtype.startswith("float"):
        raise Unsupported(f"draws of dtype {dtype}, which they may not fit into")
    return [drawn.state, converted(numbers, dtype)]


# -- parameters ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Constraint:
    """What is wrong with a value of a parameter, and what is said then; both are NumPy's."""

    is_wrong: _Test
    message: str


def _negative(x: Expr) -> Expr:
    """As the sign bit says, which -0.0 has; NaN is taken for a number."""
    if not x.dtype.startswith("float"):
        return primitive("lt", x, const(0, x.dtype))
    zero, one = const(0.0, x.dtype), const(1.0, x.dtype)
    minus_zero = primitive("and", primitive("eq", x, zero), primitive("lt", primitive("div", one, x), zero))
    return primitive("or", primitive("lt", x, zero), minus_zero)


def _number(value: float) -> Expr:
    return const(value, "float64")


def _nan(x: Expr) -> Expr:
    return primitive("ne", x, x)


def _unless(relation: str, bound: float) -> _Test:
    """True for NaN as well."""
    return lambda x: primitive("invert", primitive(relation, x, _number(bound)))


def _outside(lower: str, upper: str) -> _Test:
    """Not between 0 and 1; true for NaN as well."""
    return lambda x: primitive("or", _unless(lower, 0.0)(x), _unless(upper, 1.0)(x))


_NON_NEGATIVE = _Constraint(_negative, "{name} < 0")
_POSITIVE = _Constraint(lambda x: primitive("le", x, _number(0.0)), "{name} <= 0")
_NO_NAN = _Constraint(_nan, "{name} must not be NaN")
_PROBABILITY = _Constraint(_outside("ge", "le"), "{name} < 0, {name} > 1 or {name} {nan}")
_POSITIVE_PROBABILITY = _Constraint(_outside("gt", "le"), "{name} <= 0, {name} > 1 or {name} contains NaNs")
_BELOW_ONE = _Constraint(_outside("ge", "lt"), "{name} < 0, {name} >= 1 or {name} {nan}")
_ABOVE_ONE = _Constraint(_unless("gt", 1.0), "{name} <= 1 or {name} {nan}")
#: of distributions that are computed here: see `aesara.tensor.random.distributions.formulas.require`
_AT_LEAST_ZERO = _Constraint(_unless("ge", 0.0), "{name} < 0")


def _tuple_text(first: int, last: int) -> str:
    """A tuple in the message of an error, of the values with these numbers."""
    return f"({', '.join(f'{{{k}}}' for k in range(first, last))}{',' if last == first + 1 else ''})"


class _Node:
    """A draw that is lowered.

    Attributes
    ----------
    params
        Its parameters.
    state
        The words of the generator, after what has been drawn.
    shape
        The shape of what is drawn.
    """

    def __init__(self, node: Apply, context: Context) -> None:
        self.node, self.context = node, context
        state, size, _, *params = node.inputs
        self.state = context.array(state)
        self.variables = params
        self.params = [context.array(v) for v in params]
        self.requires: list[object] = []
        self.shape = self._shape(size)

    def _shape(self, size: Variable) -> tuple[Expr, ...]:
        (length,) = size.type.shape
        if not length:
            shape, checks = broadcast_shape(
                [p.shape for p in self.params], ValueError, _OBJECTS, self.node, self.context
            )
            self.requires += checks
            return shape
        sizes = integers_of_vector(size, length, self.node, self.context)
        for n in sizes:
            fits = primitive("ge", n, ZERO)
            message = "negative dimensions are not allowed; one is {0}"
            self.requires += self.context.guard(fits, ValueError, message, self.node, [n])
        self._require_fit(sizes)
        return tuple(sizes)

    def _require_fit(self, sizes: Sequence[Expr]) -> None:
        """Parameters broadcast to the size."""
        shape, checks = broadcast_shape([p.shape for p in self.params], ValueError, _OBJECTS, self.node, self.context)
        self.requires += checks
        if len(shape) > len(sizes):
            raise Unsupported("parameters of more dimensions than the size")
        both = (*sizes, *shape)
        given, common = _tuple_text(0, len(sizes)), _tuple_text(len(sizes), len(both))
        message = f"Output size {given} is not compatible with broadcast dimensions of inputs {common}."
        for n, size in zip(reversed(shape), reversed(sizes)):
            fits = primitive("or", primitive("eq", n, ONE), primitive("eq", n, size))
            self.requires += self.context.guard(fits, ValueError, message, self.node, both)

    @property
    def has_arrays(self) -> bool:
        """Whether a parameter is an array: NumPy words some messages otherwise then."""
        return any(p.ndim for p in self.params)

    def require(self, constraint: _Constraint, name: str, array: Array) -> None:
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

    def draw(self, name: str, *params: Array) -> Array:
        """A number for each place of the shape, drawn from the state, which is the next one then."""
        row = draw_named(name)
        routine = draw(name)
        if draw_address(routine.symbol.removeprefix("random.")) is None:
            raise Unsupported("NumPy does not export its functions that draw")
        count = count_of(self.shape)
        given, sizes = {"state": self.state}, {"n": count, "words": self.state.shape[0]}
        for (parameter, dtype), array in zip(row.parameters, params, strict=True):
            given[parameter] = self._elements(converted(array, dtype), count)
            sizes[f"n.{parameter}"] = given[parameter].shape[0]
        made = call_routine(self.context, self.node, routine, sizes, given, requires=self.requires)
        self.state = made["state"]
        return self.context.add(Alias(made["out"], self.shape))

    def _elements(self, array: Array, count: Expr) -> Array:
        """The values of a parameter as a vector: the only one, or one for each number that is drawn."""
        if all(n is ONE for n in array.shape):
            rank = array.ndim
            return Pointwise(array.dtype, (ONE,), (array,), lambda index, readers: readers[0]((ZERO,) * rank), 0)
        wide = self.stretch(array, self.shape)
        return self.context.add(Alias(self.context.add(wide), (count,))) if len(self.shape) != 1 else wide


# -- distributions of numbers --------------------------------------------------------------------------------------

_Checks = Callable[[_Node, Sequence[Array]], None]


@dataclass(frozen=True)
class _Parameter:
    """A parameter: its name in messages, what must hold of it, and whether it counts something."""

    name: str
    constraints: tuple[_Constraint, ...] = ()
    counts: bool = False


def _one(name: str, *constraints: _Constraint) -> _Parameter:
    return _Parameter(name, constraints)


def _count(name: str, *constraints: _Constraint) -> _Parameter:
    return _Parameter(name, constraints, counts=True)


@dataclass(frozen=True)
class _Numbers:
    """A distribution of numbers that a C function draws.

    Attributes
    ----------
    draw
        The name of the function (`ir.routines.draws`).
    parameters
        The parameters of the op, in order.
    order
        The numbers of the parameters of the C function among them, in the order in which they are also checked.
    first, last
        Further checks of the parameters together, before and after these.
    """

    draw: str
    parameters: tuple[_Parameter, ...] = ()
    order: tuple[int, ...] = ()
    first: _Checks | None = None
    last: _Checks | None = None

    def __call__(self, node: _Node) -> Array:
        """The numbers."""
        params = _numbers_of(node, self.parameters)
        order = self.order or tuple(range(len(params)))
        if self.first is not None:
            self.first(node, params)
        for k in order:
            for constraint in self.parameters[k].constraints:
                node.require(constraint, self.parameters[k].name, params[k])
        if self.last is not None:
            self.last(node, params)
        return node.draw(self.draw, *(params[k] for k in order))


def _numbers_of(node: _Node, parameters: Sequence[_Parameter]) -> list[Array]:
    """The parameters as NumPy takes them: integers where they count, else floats."""
    found = []
    for parameter, array in zip(parameters, node.params, strict=True):
        if parameter.counts and (array.dtype.startswith("float") or array.dtype == "uint64"):
            raise Unsupported(f"{parameter.name} of dtype {array.dtype}")
        found.append(converted(array, "int64" if parameter.counts else "float64"))
    return found


def _uniform(node: _Node) -> Array:
    low, high = _numbers_of(node, (_one("low"), _one("high")))
    length = node.combined(lambda a, b: primitive("sub", b, a), "float64", low, high)
    text = "Range exceeds valid bounds" if node.has_arrays else "high - low range exceeds valid bounds"

    def is_infinite(x: Expr) -> Expr:
        return primitive("invert", primitive("lt", primitive("abs", x), _number(float("inf"))))

    node.refuse(is_infinite, text, length, kind=OverflowError)
    node.require(_NON_NEGATIVE, "high - low", length)
    return node.draw("uniform", low, length)


def _poisson(node: _Node) -> Array:
    (lam,) = _numbers_of(node, (_one("lam"),))
    # NumPy's largest mean is ten standard deviations below what an int64 holds.
    largest = 2.0**63 - 10 * (2.0**63) ** 0.5
    checks = [
        (_unless("ge", 0.0), f"lam < 0 or lam {'contains NaNs' if node.has_arrays else 'is NaN'}"),
        (_unless("le", largest), "lam value too large"),
    ]
    for is_wrong, message in reversed(checks) if node.has_arrays else checks:
        node.refuse(is_wrong, message, lam)
    return node.draw("poisson", lam)


def _check_triangle(node: _Node, params: Sequence[Array]) -> None:
    left, mode, right = params
    node.refuse(lambda a, b: primitive("gt", a, b), "left > mode", left, mode)
    node.refuse(lambda a, b: primitive("gt", a, b), "mode > right", mode, right)
    node.refuse(lambda a, b: primitive("eq", a, b), "left == right", left, right)


def _check_mean_of_failures(node: _Node, params: Sequence[Array]) -> None:
    def is_too_large(n: Expr, p: Expr) -> Expr:
        odds = primitive("div", primitive("sub", _number(1.0), p), p)
        most = primitive("add", n, primitive("mul", _number(10.0), primitive("sqrt", n)))
        return primitive("gt", primitive("mul", odds, most), _number(2.0**63 - 10 * (2.0**63) ** 0.5))

    node.refuse(is_too_large, "n too large or p too small, see Generator.negative_binomial Notes", *params)


def _check_counts(node: _Node, params: Sequence[Array]) -> None:
    good, bad, sample = params
    for array in (good, bad):
        too_many = "both ngood and nbad must be less than 1000000000"
        node.refuse(lambda x: primitive("ge", x, const(10**9)), too_many, array)
    text = "ngood + nbad < nsample"
    node.refuse(lambda g, b, s: primitive("lt", primitive("add", g, b), s), text, good, bad, sample)


def _bernoulli(node: _Node) -> Array:
    (p,) = _numbers_of(node, (_one("p"),))
    node.require(_PROBABILITY, "p", p)
    one = Pointwise("int64", (), (), lambda index, readers: const(1), 0)
    return node.draw("binomial", p, one)


def _beta_binomial(node: _Node) -> Array:
    n, a, b = _numbers_of(node, (_count("n"), _one("a"), _one("b")))
    node.require(_POSITIVE, "a", a)
    node.require(_POSITIVE, "b", b)
    node.require(_NON_NEGATIVE, "n", n)
    return node.draw("binomial", node.draw("beta", a, b), n)


def _integers(node: _Node) -> Array:
    low, high = _numbers_of(node, (_count("low"), _count("high")))
    node.refuse(lambda a, b: primitive("ge", a, b), "low >= high", low, high)

    def length(a: Expr, b: Expr) -> Expr:
        return primitive("sub", primitive("sub", b, const(1)), a)

    return node.draw("integers", low, node.combined(length, "int64", low, high))


def _moved(node: _Node, numbers: Array, loc: Array, scale: Array) -> Array:
    """The numbers times a scale, plus a location."""

    def body(x: Expr, m: Expr, s: Expr) -> Expr:
        return primitive("add", primitive("mul", x, s), m)

    return node.combined(body, "float64", numbers, loc, scale)


def _half_normal(node: _Node) -> Array:
    loc, scale = _numbers_of(node, (_one("loc"), _one("scale")))
    node.require(_AT_LEAST_ZERO, "scale", scale)
    numbers = node.draw("standard_normal")
    return _moved(node, node.combined(lambda x: primitive("abs", x), "float64", numbers), loc, scale)


def _student_t(node: _Node) -> Array:
    df, loc, scale = _numbers_of(node, (_one("df"), _one("loc"), _one("scale")))
    node.require(_AT_LEAST_ZERO, "scale", scale)
    node.require(_POSITIVE, "df", df)
    return _moved(node, node.draw("standard_t", df), loc, scale)


_LOC = _one("loc")
_SCALE = _one("scale", _NON_NEGATIVE)

#: what draws the numbers
_DISTRIBUTIONS: dict[type[RandomVariable], Callable[[_Node], Array]] = {
    of.NormalRV: _Numbers("normal", (_LOC, _SCALE)),
    of.LaplaceRV: _Numbers("laplace", (_LOC, _SCALE)),
    of.LogisticRV: _Numbers("logistic", (_LOC, _SCALE)),
    of.StudentTRV: _student_t,
    of.UniformRV: _uniform,
    of.TriangularRV: _Numbers("triangular", (_one("left"), _one("mode"), _one("right")), first=_check_triangle),
    of.BetaRV: _Numbers("beta", (_one("a", _POSITIVE), _one("b", _POSITIVE))),
    of.PowerRV: _Numbers("power", (_one("a", _POSITIVE),)),
    of.VonMisesRV: _Numbers("vonmises", (_one("mu"), _one("kappa", _NON_NEGATIVE))),
    of.HalfNormalRV: _half_normal,
    of.LogNormalRV: _Numbers("lognormal", (_one("mean"), _one("sigma", _NON_NEGATIVE))),
    of.GammaRV: _Numbers("gamma", (_one("shape", _NON_NEGATIVE), _SCALE)),
    of.ChiSquareRV: _Numbers("chisquare", (_one("df", _POSITIVE),)),
    of.NoncentralChiSquareRV: _Numbers("noncentral_chisquare", (_one("df", _POSITIVE), _one("nonc", _NON_NEGATIVE))),
    of.FRV: _Numbers("f", (_one("dfnum", _POSITIVE), _one("dfden", _POSITIVE))),
    of.NoncentralFRV: _Numbers(
        "noncentral_f", (_one("dfnum", _POSITIVE), _one("dfden", _POSITIVE), _one("nonc", _NON_NEGATIVE))
    ),
    of.ExponentialRV: _Numbers("exponential", (_SCALE,)),
    of.WeibullRV: _Numbers("weibull", (_one("a", _NON_NEGATIVE),)),
    of.RayleighRV: _Numbers("rayleigh", (_SCALE,)),
    of.WaldRV: _Numbers("wald", (_one("mean", _POSITIVE), _one("scale", _POSITIVE))),
    of.BernoulliRV: _bernoulli,
    of.BinomialRV: _Numbers("binomial", (_count("n", _NON_NEGATIVE), _one("p", _PROBABILITY)), order=(1, 0)),
    of.NegBinomialRV: _Numbers(
        "negative_binomial",
        (_one("n", _NO_NAN, _POSITIVE), _one("p", _POSITIVE_PROBABILITY)),
        last=_check_mean_of_failures,
    ),
    of.BetaBinomialRV: _beta_binomial,
    of.PoissonRV: _poisson,
    of.GeometricRV: _Numbers("geometric", (_one("p", _POSITIVE_PROBABILITY),)),
    of.HyperGeometricRV: _Numbers(
        "hypergeometric",
        (_count("ngood", _NON_NEGATIVE), _count("nbad", _NON_NEGATIVE), _count("nsample", _NON_NEGATIVE)),
        first=_check_counts,
    ),
    of.LogSeriesRV: _Numbers("logseries", (_one("p", _BELOW_ONE),)),
    of.ZipfRV: _Numbers("zipf", (_one("a", _ABOVE_ONE),)),
    of.IntegersRV: _integers,
}
