"""Lowering of draws to NumPy's C functions on the words of a generator, and formulas of their numbers.

The words of a generator are an ordinary array (`ir.generators`) that a draw overwrites: a state with several readers is
copied, others are advanced in place.  The generator of a shared variable is updated after a call has succeeded.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from aesara.graph.nodes import Apply
from aesara.ir.expr import Expr, const
from aesara.ir.expr import op as primitive
from aesara.lower.arrays import Array, Pointwise
from aesara.lower.context import Context
from aesara.lower.dispatch import lower_op
from aesara.lower.errors import Unsupported
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
from aesara.lower.reductions.careduce import convert
from aesara.records import dataclass
from aesara.tensor.random import distributions as of
from aesara.tensor.random.random_variable import RandomVariable

__all__: list[str] = []


@lower_op.register
def _draw(op: RandomVariable, node: Apply, context: Context) -> Sequence[Array]:
    distribution = _DISTRIBUTIONS.get(type(op))  # a subclass may draw differently
    if distribution is None:
        raise Unsupported(f"no native draws from {op.name}")
    drawing = Drawing(node, context)
    drawn = distribution(drawing)
    dtype = node.outputs[1].type.dtype
    if dtype != drawn.dtype and not dtype.startswith("float") and type(op) not in _FITTING:
        raise Unsupported(f"draws of dtype {dtype}, which may overflow")
    return [drawing.state, convert(drawn, dtype)]


# -- distributions of numbers --------------------------------------------------------------------------------------

_Checks = Callable[[Drawing, Sequence[Array]], None]


@dataclass(frozen=True)
class _Parameter:
    """A parameter: its name in messages, its constraints, and whether it is an integer count."""

    name: str
    constraints: tuple[Constraint, ...] = ()
    counts: bool = False


def _one(name: str, *constraints: Constraint) -> _Parameter:
    return _Parameter(name, constraints)


def _count(name: str, *constraints: Constraint) -> _Parameter:
    return _Parameter(name, constraints, counts=True)


@dataclass(frozen=True)
class _Standard:
    """A faster draw for certain values of the parameters."""

    draw: str
    parameters: tuple[float, ...]


@dataclass(frozen=True)
class _Scalar:
    """A scalar distribution that a C function draws.

    Attributes
    ----------
    draw
        The name of the function (`ir.routines.draws`).
    parameters
        The parameters of the op, in order.
    order
        Positions of the parameters of the C function among these, in the order of their checks.
    first, last
        Joint checks of the parameters, before and after those of each.
    standard
        The faster draw for certain parameters.
    """

    draw: str
    parameters: tuple[_Parameter, ...] = ()
    order: tuple[int, ...] = ()
    first: _Checks | None = None
    last: _Checks | None = None
    standard: _Standard | None = None

    def __call__(self, drawing: Drawing) -> Array:
        """Lower the draw."""
        params = _convert_parameters(drawing, self.parameters)
        if self.standard is not None and all(map(drawing.is_known, drawing.params, self.standard.parameters)):
            return drawing.draw(self.standard.draw)
        order = self.order or tuple(range(len(params)))
        if self.first is not None:
            self.first(drawing, params)
        for k in order:
            for constraint in self.parameters[k].constraints:
                drawing.require(constraint, self.parameters[k].name, params[k])
        if self.last is not None:
            self.last(drawing, params)
        return drawing.draw(self.draw, *(params[k] for k in order))


def _convert_parameters(drawing: Drawing, parameters: Sequence[_Parameter]) -> list[Array]:
    """Convert parameters as NumPy does: counts to integers, others to floats."""
    converted = []
    for parameter, array in zip(parameters, drawing.params, strict=True):
        if parameter.counts and (array.dtype.startswith("float") or array.dtype == "uint64"):
            raise Unsupported(f"{parameter.name} of dtype {array.dtype}")
        converted.append(convert(array, "int64" if parameter.counts else "float64"))
    return converted


def _uniform(drawing: Drawing) -> Array:
    low, high = _convert_parameters(drawing, (_one("low"), _one("high")))
    if drawing.is_known(drawing.params[0], 0.0) and drawing.is_known(drawing.params[1], 1.0):
        return drawing.draw("standard_uniform")
    length = drawing.map(lambda a, b: b - a, "float64", low, high)
    text = "Range exceeds valid bounds" if drawing.has_arrays else "high - low range exceeds valid bounds"

    def is_infinite(x: Expr) -> Expr:
        return ~(primitive("abs", x) < number(float("inf")))

    drawing.refuse(is_infinite, text, length, kind=OverflowError)
    drawing.require(NON_NEGATIVE, "high - low", length)
    return drawing.draw("uniform", low, length)


def _poisson(drawing: Drawing) -> Array:
    (lam,) = _convert_parameters(drawing, (_one("lam"),))
    # As in NumPy, the largest mean is ten standard deviations below the largest int64.
    largest = 2.0**63 - 10 * (2.0**63) ** 0.5
    checks = [
        (unless("ge", 0.0), f"lam < 0 or lam {'contains NaNs' if drawing.has_arrays else 'is NaN'}"),
        (unless("le", largest), "lam value too large"),
    ]
    for is_wrong, message in reversed(checks) if drawing.has_arrays else checks:
        drawing.refuse(is_wrong, message, lam)
    return drawing.draw("poisson", lam)


def _check_triangle(drawing: Drawing, params: Sequence[Array]) -> None:
    left, mode, right = params
    drawing.refuse(lambda a, b: a > b, "left > mode", left, mode)
    drawing.refuse(lambda a, b: a > b, "mode > right", mode, right)
    drawing.refuse(lambda a, b: primitive("eq", a, b), "left == right", left, right)


def _check_mean_of_failures(drawing: Drawing, params: Sequence[Array]) -> None:
    def is_too_large(n: Expr, p: Expr) -> Expr:
        odds = (number(1.0) - p) / p
        most = n + number(10.0) * primitive("sqrt", n)
        return odds * most > number(2.0**63 - 10 * (2.0**63) ** 0.5)

    drawing.refuse(is_too_large, "n too large or p too small, see Generator.negative_binomial Notes", *params)


def _check_counts(drawing: Drawing, params: Sequence[Array]) -> None:
    good, bad, sample = params
    for array in (good, bad):
        too_many = "both ngood and nbad must be less than 1000000000"
        drawing.refuse(lambda x: x >= (10**9), too_many, array)
    text = "ngood + nbad < nsample"
    drawing.refuse(lambda g, b, s: g + b < s, text, good, bad, sample)


def _bernoulli(drawing: Drawing) -> Array:
    (p,) = _convert_parameters(drawing, (_one("p"),))
    drawing.require(PROBABILITY, "p", p)
    single_trial = Pointwise("int64", (), (), lambda index, readers: const(1), 0)
    return drawing.draw("binomial", p, single_trial)


def _beta_binomial(drawing: Drawing) -> Array:
    n, a, b = _convert_parameters(drawing, (_count("n"), _one("a"), _one("b")))
    drawing.require(POSITIVE, "a", a)
    drawing.require(POSITIVE, "b", b)
    drawing.require(NON_NEGATIVE, "n", n)
    return drawing.draw("binomial", drawing.draw("beta", a, b), n)


def _integers(drawing: Drawing) -> Array:
    low, high = _convert_parameters(drawing, (_count("low"), _count("high")))
    drawing.refuse(lambda a, b: a >= b, "low >= high", low, high)

    def length(a: Expr, b: Expr) -> Expr:
        return b - 1 - a

    return drawing.draw("integers", low, drawing.map(length, "int64", low, high))


def _half_normal(drawing: Drawing) -> Array:
    loc, scale = _convert_parameters(drawing, (_one("loc"), _one("scale")))
    drawing.require(AT_LEAST_ZERO, "scale", scale)
    numbers = drawing.draw("standard_normal")
    return formulas.shift_and_scale(drawing, drawing.map(lambda x: primitive("abs", x), "float64", numbers), loc, scale)


def _student_t(drawing: Drawing) -> Array:
    df, loc, scale = _convert_parameters(drawing, (_one("df"), _one("loc"), _one("scale")))
    drawing.require(AT_LEAST_ZERO, "scale", scale)
    drawing.require(POSITIVE, "df", df)
    return formulas.shift_and_scale(drawing, drawing.draw("standard_t", df), loc, scale)


_LOC = _one("loc")
_SCALE = _one("scale", NON_NEGATIVE)

#: lowering of each distribution
_DISTRIBUTIONS: dict[type[RandomVariable], Callable[[Drawing], Array]] = {
    of.NormalRV: _Scalar("normal", (_LOC, _SCALE), standard=_Standard("standard_normal", (0.0, 1.0))),
    of.LaplaceRV: _Scalar("laplace", (_LOC, _SCALE)),
    of.LogisticRV: _Scalar("logistic", (_LOC, _SCALE)),
    of.StudentTRV: _student_t,
    of.GumbelRV: formulas.gumbel,
    of.CauchyRV: formulas.cauchy,
    of.UniformRV: _uniform,
    of.TriangularRV: _Scalar("triangular", (_one("left"), _one("mode"), _one("right")), first=_check_triangle),
    of.BetaRV: _Scalar("beta", (_one("a", POSITIVE), _one("b", POSITIVE))),
    of.PowerRV: _Scalar("power", (_one("a", POSITIVE),)),
    of.VonMisesRV: _Scalar("vonmises", (_one("mu"), _one("kappa", NON_NEGATIVE))),
    of.HalfNormalRV: _half_normal,
    of.HalfCauchyRV: formulas.half_cauchy,
    of.TruncExponentialRV: formulas.truncated_exponential,
    of.InvGammaRV: formulas.inverse_gamma,
    of.GenGammaRV: formulas.generalized_gamma,
    of.ParetoRV: formulas.pareto,
    of.LogNormalRV: _Scalar("lognormal", (_one("mean"), _one("sigma", NON_NEGATIVE))),
    of.GammaRV: _Scalar("gamma", (_one("shape", NON_NEGATIVE), _SCALE)),
    of.ChiSquareRV: _Scalar("chisquare", (_one("df", POSITIVE),)),
    of.NoncentralChiSquareRV: _Scalar("noncentral_chisquare", (_one("df", POSITIVE), _one("nonc", NON_NEGATIVE))),
    of.FRV: _Scalar("f", (_one("dfnum", POSITIVE), _one("dfden", POSITIVE))),
    of.NoncentralFRV: _Scalar(
        "noncentral_f", (_one("dfnum", POSITIVE), _one("dfden", POSITIVE), _one("nonc", NON_NEGATIVE))
    ),
    of.ExponentialRV: _Scalar("exponential", (_SCALE,), standard=_Standard("standard_exponential", (1.0,))),
    of.WeibullRV: _Scalar("weibull", (_one("a", NON_NEGATIVE),)),
    of.RayleighRV: _Scalar("rayleigh", (_SCALE,)),
    of.WaldRV: _Scalar("wald", (_one("mean", POSITIVE), _one("scale", POSITIVE))),
    of.BernoulliRV: _bernoulli,
    of.BinomialRV: _Scalar("binomial", (_count("n", NON_NEGATIVE), _one("p", PROBABILITY)), order=(1, 0)),
    of.NegBinomialRV: _Scalar(
        "negative_binomial",
        (_one("n", NO_NAN, POSITIVE), _one("p", POSITIVE_PROBABILITY)),
        last=_check_mean_of_failures,
    ),
    of.BetaBinomialRV: _beta_binomial,
    of.PoissonRV: _poisson,
    of.GeometricRV: _Scalar("geometric", (_one("p", POSITIVE_PROBABILITY),)),
    of.HyperGeometricRV: _Scalar(
        "hypergeometric",
        (_count("ngood", NON_NEGATIVE), _count("nbad", NON_NEGATIVE), _count("nsample", NON_NEGATIVE)),
        first=_check_counts,
    ),
    of.LogSeriesRV: _Scalar("logseries", (_one("p", BELOW_ONE),)),
    of.ZipfRV: _Scalar("zipf", (_one("a", ABOVE_ONE),)),
    of.IntegersRV: _integers,
    of.CategoricalRV: choosing.categorical,
    of.ChoiceRV: choosing.choice,
    of.PermutationRV: choosing.permutation,
    of.PermutedRV: choosing.permute,
    of.MultinomialRV: choosing.multinomial,
    of.DirichletRV: vectors.dirichlet,
    of.MvNormalRV: vectors.normal,
    of.MultivariateHypergeometricRV: vectors.hypergeometric,
}
#: distributions whose draws fit into any dtype that the parameters fit into
_FITTING = (of.BernoulliRV, of.ChoiceRV, of.PermutationRV, of.PermutedRV)
