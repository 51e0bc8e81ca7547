"""Lowering of draws: NumPy's C functions on the words of a generator, and what is computed of their numbers.

The words of a generator are an array like any other (`ir.generators`): a draw overwrites them, so that a state that
several read is copied, and one that nobody reads any more is advanced in its place.  What a call has drawn goes into
the generator of the shared variable when everything has succeeded.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from aesara.graph.nodes import Apply
from aesara.ir.expr import Expr, const
from aesara.ir.expr import op as primitive
from aesara.lower.arrays import Array, Pointwise
from aesara.lower.context import Context, Unsupported
from aesara.lower.dispatch import lower_op
from aesara.lower.random import choosing, formulas, vectors
from aesara.lower.random.drawing import (
    ABOVE_ONE,
    AT_LEAST_ZERO,
    BELOW_ONE,
    NO_NAN,
    NON_NEGATIVE,
    POSITIVE,
    POSITIVE_PROBABILITY,
    PROBABILITY,
    Constraint,
    Drawing,
    number,
    unless,
)
from aesara.lower.reductions.careduce import converted
from aesara.records import dataclass
from aesara.tensor.random import distributions as of
from aesara.tensor.random.random_variable import RandomVariable

__all__: list[str] = []


@lower_op.register
def _draw(op: RandomVariable, node: Apply, context: Context) -> Sequence[Array]:
    distribution = _DISTRIBUTIONS.get(type(op))  # a subclass may draw otherwise
    if distribution is None:
        raise Unsupported(f"no native draws from {op.name}")
    drawing = Drawing(node, context)
    drawn = distribution(drawing)
    dtype = node.outputs[1].type.dtype
    if dtype != drawn.dtype and not dtype.startswith("float") and type(op) not in _FITTING:
        raise Unsupported(f"draws of dtype {dtype}, which they may not fit into")
    return [drawing.state, converted(drawn, dtype)]


# -- distributions of numbers --------------------------------------------------------------------------------------

_Checks = Callable[[Drawing, Sequence[Array]], None]


@dataclass(frozen=True)
class _Parameter:
    """A parameter: its name in messages, what must hold of it, and whether it counts something."""

    name: str
    constraints: tuple[Constraint, ...] = ()
    counts: bool = False


def _one(name: str, *constraints: Constraint) -> _Parameter:
    return _Parameter(name, constraints)


def _count(name: str, *constraints: Constraint) -> _Parameter:
    return _Parameter(name, constraints, counts=True)


@dataclass(frozen=True)
class _Standard:
    """The draw of a distribution with these values of its parameters, which takes less time."""

    draw: str
    parameters: tuple[float, ...]


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
    standard
        What is drawn instead for certain parameters.
    """

    draw: str
    parameters: tuple[_Parameter, ...] = ()
    order: tuple[int, ...] = ()
    first: _Checks | None = None
    last: _Checks | None = None
    standard: _Standard | None = None

    def __call__(self, node: Drawing) -> Array:
        """The numbers."""
        params = _numbers_of(node, self.parameters)
        if self.standard is not None and all(map(node.is_known, node.params, self.standard.parameters)):
            return node.draw(self.standard.draw)
        order = self.order or tuple(range(len(params)))
        if self.first is not None:
            self.first(node, params)
        for k in order:
            for constraint in self.parameters[k].constraints:
                node.require(constraint, self.parameters[k].name, params[k])
        if self.last is not None:
            self.last(node, params)
        return node.draw(self.draw, *(params[k] for k in order))


def _numbers_of(node: Drawing, parameters: Sequence[_Parameter]) -> list[Array]:
    """The parameters as NumPy takes them: integers where they count, else floats."""
    found = []
    for parameter, array in zip(parameters, node.params, strict=True):
        if parameter.counts and (array.dtype.startswith("float") or array.dtype == "uint64"):
            raise Unsupported(f"{parameter.name} of dtype {array.dtype}")
        found.append(converted(array, "int64" if parameter.counts else "float64"))
    return found


def _uniform(node: Drawing) -> Array:
    low, high = _numbers_of(node, (_one("low"), _one("high")))
    if node.is_known(node.params[0], 0.0) and node.is_known(node.params[1], 1.0):
        return node.draw("standard_uniform")
    length = node.combined(lambda a, b: b - a, "float64", low, high)
    text = "Range exceeds valid bounds" if node.has_arrays else "high - low range exceeds valid bounds"

    def is_infinite(x: Expr) -> Expr:
        return ~(primitive("abs", x) < number(float("inf")))

    node.refuse(is_infinite, text, length, kind=OverflowError)
    node.require(NON_NEGATIVE, "high - low", length)
    return node.draw("uniform", low, length)


def _poisson(node: Drawing) -> Array:
    (lam,) = _numbers_of(node, (_one("lam"),))
    # NumPy's largest mean is ten standard deviations below what an int64 holds.
    largest = 2.0**63 - 10 * (2.0**63) ** 0.5
    checks = [
        (unless("ge", 0.0), f"lam < 0 or lam {'contains NaNs' if node.has_arrays else 'is NaN'}"),
        (unless("le", largest), "lam value too large"),
    ]
    for is_wrong, message in reversed(checks) if node.has_arrays else checks:
        node.refuse(is_wrong, message, lam)
    return node.draw("poisson", lam)


def _check_triangle(node: Drawing, params: Sequence[Array]) -> None:
    left, mode, right = params
    node.refuse(lambda a, b: a > b, "left > mode", left, mode)
    node.refuse(lambda a, b: a > b, "mode > right", mode, right)
    node.refuse(lambda a, b: primitive("eq", a, b), "left == right", left, right)


def _check_mean_of_failures(node: Drawing, params: Sequence[Array]) -> None:
    def is_too_large(n: Expr, p: Expr) -> Expr:
        odds = (number(1.0) - p) / p
        most = n + number(10.0) * primitive("sqrt", n)
        return odds * most > number(2.0**63 - 10 * (2.0**63) ** 0.5)

    node.refuse(is_too_large, "n too large or p too small, see Generator.negative_binomial Notes", *params)


def _check_counts(node: Drawing, params: Sequence[Array]) -> None:
    good, bad, sample = params
    for array in (good, bad):
        too_many = "both ngood and nbad must be less than 1000000000"
        node.refuse(lambda x: x >= (10**9), too_many, array)
    text = "ngood + nbad < nsample"
    node.refuse(lambda g, b, s: g + b < s, text, good, bad, sample)


def _bernoulli(node: Drawing) -> Array:
    (p,) = _numbers_of(node, (_one("p"),))
    node.require(PROBABILITY, "p", p)
    one = Pointwise("int64", (), (), lambda index, readers: const(1), 0)
    return node.draw("binomial", p, one)


def _beta_binomial(node: Drawing) -> Array:
    n, a, b = _numbers_of(node, (_count("n"), _one("a"), _one("b")))
    node.require(POSITIVE, "a", a)
    node.require(POSITIVE, "b", b)
    node.require(NON_NEGATIVE, "n", n)
    return node.draw("binomial", node.draw("beta", a, b), n)


def _integers(node: Drawing) -> Array:
    low, high = _numbers_of(node, (_count("low"), _count("high")))
    node.refuse(lambda a, b: a >= b, "low >= high", low, high)

    def length(a: Expr, b: Expr) -> Expr:
        return b - 1 - a

    return node.draw("integers", low, node.combined(length, "int64", low, high))


def _half_normal(node: Drawing) -> Array:
    loc, scale = _numbers_of(node, (_one("loc"), _one("scale")))
    node.require(AT_LEAST_ZERO, "scale", scale)
    numbers = node.draw("standard_normal")
    return formulas.moved(node, node.combined(lambda x: primitive("abs", x), "float64", numbers), loc, scale)


def _student_t(node: Drawing) -> Array:
    df, loc, scale = _numbers_of(node, (_one("df"), _one("loc"), _one("scale")))
    node.require(AT_LEAST_ZERO, "scale", scale)
    node.require(POSITIVE, "df", df)
    return formulas.moved(node, node.draw("standard_t", df), loc, scale)


_LOC = _one("loc")
_SCALE = _one("scale", NON_NEGATIVE)

#: what draws the numbers
_DISTRIBUTIONS: dict[type[RandomVariable], Callable[[Drawing], Array]] = {
    of.NormalRV: _Numbers("normal", (_LOC, _SCALE), standard=_Standard("standard_normal", (0.0, 1.0))),
    of.LaplaceRV: _Numbers("laplace", (_LOC, _SCALE)),
    of.LogisticRV: _Numbers("logistic", (_LOC, _SCALE)),
    of.StudentTRV: _student_t,
    of.GumbelRV: formulas.gumbel,
    of.CauchyRV: formulas.cauchy,
    of.UniformRV: _uniform,
    of.TriangularRV: _Numbers("triangular", (_one("left"), _one("mode"), _one("right")), first=_check_triangle),
    of.BetaRV: _Numbers("beta", (_one("a", POSITIVE), _one("b", POSITIVE))),
    of.PowerRV: _Numbers("power", (_one("a", POSITIVE),)),
    of.VonMisesRV: _Numbers("vonmises", (_one("mu"), _one("kappa", NON_NEGATIVE))),
    of.HalfNormalRV: _half_normal,
    of.HalfCauchyRV: formulas.half_cauchy,
    of.TruncExponentialRV: formulas.truncated,
    of.InvGammaRV: formulas.inverse_gamma,
    of.GenGammaRV: formulas.generalized_gamma,
    of.ParetoRV: formulas.pareto,
    of.LogNormalRV: _Numbers("lognormal", (_one("mean"), _one("sigma", NON_NEGATIVE))),
    of.GammaRV: _Numbers("gamma", (_one("shape", NON_NEGATIVE), _SCALE)),
    of.ChiSquareRV: _Numbers("chisquare", (_one("df", POSITIVE),)),
    of.NoncentralChiSquareRV: _Numbers("noncentral_chisquare", (_one("df", POSITIVE), _one("nonc", NON_NEGATIVE))),
    of.FRV: _Numbers("f", (_one("dfnum", POSITIVE), _one("dfden", POSITIVE))),
    of.NoncentralFRV: _Numbers(
        "noncentral_f", (_one("dfnum", POSITIVE), _one("dfden", POSITIVE), _one("nonc", NON_NEGATIVE))
    ),
    of.ExponentialRV: _Numbers("exponential", (_SCALE,), standard=_Standard("standard_exponential", (1.0,))),
    of.WeibullRV: _Numbers("weibull", (_one("a", NON_NEGATIVE),)),
    of.RayleighRV: _Numbers("rayleigh", (_SCALE,)),
    of.WaldRV: _Numbers("wald", (_one("mean", POSITIVE), _one("scale", POSITIVE))),
    of.BernoulliRV: _bernoulli,
    of.BinomialRV: _Numbers("binomial", (_count("n", NON_NEGATIVE), _one("p", PROBABILITY)), order=(1, 0)),
    of.NegBinomialRV: _Numbers(
        "negative_binomial",
        (_one("n", NO_NAN, POSITIVE), _one("p", POSITIVE_PROBABILITY)),
        last=_check_mean_of_failures,
    ),
    of.BetaBinomialRV: _beta_binomial,
    of.PoissonRV: _poisson,
    of.GeometricRV: _Numbers("geometric", (_one("p", POSITIVE_PROBABILITY),)),
    of.HyperGeometricRV: _Numbers(
        "hypergeometric",
        (_count("ngood", NON_NEGATIVE), _count("nbad", NON_NEGATIVE), _count("nsample", NON_NEGATIVE)),
        first=_check_counts,
    ),
    of.LogSeriesRV: _Numbers("logseries", (_one("p", BELOW_ONE),)),
    of.ZipfRV: _Numbers("zipf", (_one("a", ABOVE_ONE),)),
    of.IntegersRV: _integers,
    of.CategoricalRV: choosing.categorical,
    of.ChoiceRV: choosing.choice,
    of.PermutationRV: choosing.permutation,
    of.PermutedRV: choosing.permuted,
    of.MultinomialRV: choosing.multinomial,
    of.DirichletRV: vectors.dirichlet,
    of.MvNormalRV: vectors.normal,
    of.MultivariateHypergeometricRV: vectors.hypergeometric,
}
#: what is drawn fits into every dtype, if it does into that of the parameters
_FITTING = (of.BernoulliRV, of.ChoiceRV, of.PermutationRV, of.PermutedRV)
