"""Special functions, compiled by JAX, beside SciPy, over their domains and at the ends of these."""

import itertools

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest

import aesara
import aesara.scalar as aes
import aesara.tensor as at
from aesara.graph.fg import FunctionGraph
from aesara.graph.pullback import NullTypeGradError
from aesara.link.jax.dispatch import jax_funcify
from aesara.link.jax.dispatch.special import SPECIAL
from aesara.scalar.native import Special
from aesara.scalar.op import ScalarOp
from aesara.scalar.routine import FloatRoutine, routine
from aesara.tensor.elemwise import Elemwise

#: Functions that the host computes, with why: JAX's hyp2f1 fails for whole parameters, at 1, and below -1.
ON_HOST = {"hyp2f1", "hyp2f1_der"}

INF, NAN = np.inf, np.nan
LINE = np.concatenate(
    [np.linspace(-12, 12, 97), [1e-300, 1e-20, 1e-5, 26.5, 38.0, 100.0, 700.0, 1e4, 1e10, INF, -INF, NAN]]
)
ENDS = [0.0, 1e-300, 1e-20, 1e-5, 0.1, 0.4, 0.5, 0.7, 0.99, 1 - 1e-10, 1.0, -0.1, 1.1, NAN]
SHAPES = [1e-5, 0.3, 1.0, 2.5, 10.0, 33.3, 300.0, 2e4]
ORDERS = [0.0, 1e-5, 0.3, 0.5, 1.0, 2.0, 3.7, 10.0, 33.3, 100.0, -0.5, -1.0, -2.3, -7.0, NAN]
#: orders that count derivatives, for routines with a loop over these
DERIVATIVES = [0.0, 1.0, 2.0, 3.0]
RADII = [1e-200, 1e-5, 0.3, 1.0, 1.9999, 2.0, 3.7, 10.0, 24.0, 26.0, 33.3, 100.0, 300.0, 1e3, NAN, -0.5, -2.3, -30.0]
POSITIVE = [1e-300, 1e-5, 0.3, 0.5, 1.0, 1.5, 2.0, 3.7, 10.0, 33.3, 100.0, 1e3, 1e5]
WITH_ENDS = [*POSITIVE, 0.0, INF, NAN, -0.5, -1.0]
#: whose differences are exact: some are at zeros
EXACT = [0.25, 0.5, 1.0, 1.5, 2.0, 3.75, 10.0, 33.25, 50.0, -0.5, -2.25]
SIGNED = [0.3, 0.5, 1.0, 1.5, 2.0, 3.7, 10.0, 33.3, 50.0, -0.5, -2.3]

#: The values that each operand has.
DOMAINS = {
    **dict.fromkeys(["erfinv"], ([*ENDS, *(-x for x in ENDS)],)),
    **dict.fromkeys(["erfcinv"], ([2 * x for x in ENDS],)),
    **dict.fromkeys(["ndtri"], (ENDS,)),
    **dict.fromkeys(["gammaincinv", "gammainccinv"], (SHAPES, ENDS)),
    **dict.fromkeys(["betaincinv", "betainccinv"], (SHAPES[1:-1], SHAPES[1:-1], [x for x in ENDS if x > 1e-300])),
    "betainc": (SHAPES[1:], SHAPES[1:], ENDS),
    **dict.fromkeys(["betainc_der"], ([0.5, 1.0, 3.0], [0.5, 2.0, 7.0], [0.0, 0.1, 0.5, 0.9, 1.0], [0.0, 1.0])),
    "beta_density": (SHAPES[1:], SHAPES[1:], [0.0, 1e-5, 0.1, 0.5, 0.7, 0.99, 1.0, -0.1, 1.1, NAN]),
    **dict.fromkeys(["hyp2f1"], ([0.3, 1.0, -2.0], [0.5, 2.0], [1.0, 2.5], [-3.0, -0.5, 0.0, 0.5, 0.99, 1.0])),
    "hyp2f1_der": ([0.3, 1.0], [0.5, 2.0], [1.0, 3.5], [-3.0, -0.5, 0.5, 0.9], [0.0, 1.0, 2.0]),
    **dict.fromkeys(
        ["j0", "j1", "y0", "y1"], (np.concatenate([np.linspace(-30, 60, 361), [1e-300, 1e-5, 0.3, 1e3, NAN]]),)
    ),
    **dict.fromkeys(["k0", "k0e", "k1", "k1e", "i0", "i0e", "i1", "i1e"], (LINE,)),
    **dict.fromkeys(["jv", "yv", "iv", "ive", "kv", "kve"], (ORDERS, RADII)),
    **dict.fromkeys(["chi2sf", "gammal", "gammau"], (POSITIVE[1:-3], POSITIVE[1:-3])),
    "polygamma": ([0.0, 1.0, 2.0, 5.0, 0.5, NAN], [0.1, 1.0, 5.0, 100.0, NAN]),
    "erfc_ratio": ([1.0, 2.0], np.linspace(-3, 10, 40)),
    "zeta": ([1.5, 2.0, 10.0, 1.0, 50.0, NAN], POSITIVE),
    "owens_t": ([0.0, 0.3, 1.0, -3.0, 10.0, NAN], [0.0, 0.3, 1.0, 5.0, -0.5, INF, -INF, NAN]),
    "beta": (SIGNED, SIGNED),
    "betaln": (SIGNED, SIGNED),
    "binom": ([*EXACT, -3.0], [0.0, *EXACT, -1.0]),
    "poch": (SIGNED, [0.0, *SIGNED[:-1], -2.4]),
    **dict.fromkeys(
        ["gammainc", "gammaincc", "gammainc_der", "gammaincc_der", "gamma_density"], (WITH_ENDS, WITH_ENDS)
    ),
    **dict.fromkeys(["kl_div", "rel_entr"], (WITH_ENDS, WITH_ENDS)),
    "spherical_ratio": (DERIVATIVES, LINE),
    "log1p_ratio": (DERIVATIVES, np.linspace(-0.9, 10, 40)),
    "spherical_bessel_of_square": (DERIVATIVES, np.linspace(-1, 1, 21)),
    "boys": (DERIVATIVES, np.linspace(0, 1, 21)),
}
#: Relative errors beyond 1e-12: those of powers with large exponents, and where SciPy's are as large.
TOLERANCES = {
    "betaincinv": 1e-8, "betainccinv": 1e-8, "betainc": 1e-9, "betainc_der": 1e-10, "hyp2f1_der": 1e-11, "binom": 1e-11,
    "poch": 1e-11, "beta_density": 1e-11, "iv": 1e-11, "kv": 1e-11, "erfc_ratio": 1e-10, "gammaincinv": 1e-11,
    "gammainccinv": 1e-11, "beta": 1e-11, "zeta": 1e-11,
}  # fmt: skip


def special_ops():
    names = {type(op): name for name, op in reversed(vars(aes).items()) if isinstance(op, ScalarOp)}
    found = {
        name: getattr(aes, name) for kind, name in names.items() if isinstance(kind.native, Special | FloatRoutine)
    }
    return {**found, **{name: getattr(aes, name) for name in ("chi2sf", "erfcx_reciprocal", "gammal", "gammau")}}


OPS = special_ops()


def compiled(op):
    inputs = [at.dvector() for _ in range(op.nin)]
    return aesara.function(inputs, Elemwise(op)(*inputs), mode="JAX")


def on_host(op, arguments):
    inputs = [at.dvector() for _ in arguments]
    graph = jax_funcify(FunctionGraph(inputs, [Elemwise(op)(*inputs)], clone=False))
    return "pure_callback" in str(jax.make_jaxpr(lambda *values: graph(*values))(*arguments))


@pytest.mark.parametrize("name", sorted(OPS))
@pytest.mark.filterwarnings("ignore")
def test_values_are_those_of_scipy(name):
    op = OPS[name]
    axes = DOMAINS.get(name, (LINE,) * op.nin)
    arguments = [np.array(column) for column in zip(*itertools.product(*axes), strict=True)]
    got, want = np.asarray(compiled(op)(*arguments)), op.impl(*arguments)
    assert got.dtype == want.dtype
    if name in ("jv", "yv", "iv", "ive", "kv", "kve"):
        # SciPy's give up there, or underflow early.
        kept = (np.abs(want) > 1e-300) | (np.abs(got) < 1e-300)
        got, want, arguments = got[kept], want[kept], [value[kept] for value in arguments]
    scale = np.abs(want)
    if name in ("j0", "j1", "y0", "y1", "jv", "yv", "psi"):
        # Near zeros of the function, errors are relative to its size around them.
        scale = np.maximum(scale, np.minimum(1, 1 / np.sqrt(np.maximum(np.abs(arguments[-1]), 1))))
    tiny = 2.3e-308
    flat = (got == want) | (np.isnan(got) & np.isnan(want)) | ((np.abs(got) <= tiny) & (np.abs(want) <= tiny))
    error = np.where(flat, 0, np.abs(got - want) / scale)
    error = np.where(np.isnan(error), INF, error)
    worst = np.argsort(-error)[:5]
    wrong = [(*(float(a[k]) for a in arguments), float(got[k]), float(want[k])) for k in worst]
    assert error[worst[0]] < TOLERANCES.get(name, 1e-12), wrong


@pytest.mark.parametrize("name", sorted(OPS))
def test_what_the_host_computes(name):
    op = OPS[name]
    if not hasattr(jax.scipy.special, "dawsn") and name in ("dawsn", "erfi", "owens_t"):
        pytest.skip("this version of JAX does not have it")
    assert on_host(op, [np.full(2, 0.5)] * op.nin) == (name in ON_HOST)
    # the linker waits for the host
    assert bool(compiled(op).vm.jit_fn.checks.on_host) == (name in ON_HOST)
    fact = op.native
    assert not isinstance(fact, Special) or (fact.name in SPECIAL) == (name not in ON_HOST)


def test_functions_where_scipy_is_less_accurate():
    with mpmath.workdps(60):
        points = np.array([(1e5, 0.3), (1e5, 3.7), (1e10, 1e5), (-2.3, 1e5), (-0.5, 1e10), (20.0, 30.0)])
        beta = [mpmath.beta(*map(mpmath.mpf, point)) for point in points]
        logarithms = [float(mpmath.log(abs(value))) for value in beta]
        gammaln = [float(mpmath.loggamma(1 + mpmath.mpf(z))) for z in (1e-9, -1e-9, 1e-3, 0.2)]
        order = float(mpmath.besseli(2.5, 700) * mpmath.exp(-700)), float(mpmath.besselk(500, 100))
    np.testing.assert_allclose(compiled(aes.betaln)(*points.T), logarithms, rtol=1e-14)
    np.testing.assert_allclose(compiled(aes.gammaln)(1 + np.array([1e-9, -1e-9, 1e-3, 0.2])), gammaln, rtol=1e-6)
    np.testing.assert_allclose(compiled(aes.ive)(np.array([2.5]), np.array([700.0])), order[:1], rtol=1e-14)
    np.testing.assert_allclose(compiled(aes.kv)(np.array([500.0]), np.array([100.0])), order[1:], rtol=1e-12)


# -- routines --------------------------------------------------------------------------------------------------------


@routine
def _collatz(n: float) -> float:
    steps = 0.0
    while n > 1.0 and steps < 1000.0:
        half = 0.5 * n
        if half == half // 1.0:
            n = half
        else:
            n = 3.0 * n + 1.0
        steps += 1.0
    return steps


class Collatz(aes.UnaryScalarOp):
    """Number of Collatz steps that lead to 1."""

    dtype = aes.upgrade_to_float
    numpy = _collatz
    native = _collatz


@pytest.mark.parametrize("shape", [(), (0,), (7,), (2, 3)])
def test_each_element_loops_as_often_as_it_needs(shape):
    x = at.TensorType("float64", (None,) * len(shape))()
    values = np.arange(1.0, 1 + np.prod(shape, dtype=int)).reshape(shape) + 20
    got = aesara.function([x], Elemwise(Collatz())(x), mode="JAX")(values)
    np.testing.assert_array_equal(got, _collatz(values))
    assert got.shape == shape


def converted(inputs, output):
    graph = jax_funcify(FunctionGraph(inputs, [output], clone=False))
    return lambda *values: graph(*values)[0]


def test_routines_under_vmap_and_without_jit():
    x, y = at.dscalars(2)
    f = converted([x, y], Elemwise(aes.kv)(x, y))
    values = np.array([0.5, 2.0]), np.array([1.0, 3.0])
    want = aes.kv.impl(*values)
    np.testing.assert_allclose(jax.vmap(f)(*values), want, rtol=1e-13)
    np.testing.assert_allclose(f(0.5, 1.0), want[0], rtol=1e-13)
    np.testing.assert_allclose(jax.vmap(jax.jit(f), in_axes=(0, None))(values[0], 3.0)[1], want[1], rtol=1e-13)


@pytest.mark.parametrize("name", ["gammaln", "erfcx", "zeta", "gammaincinv", "kv", "hyp2f1"])
def test_jax_differentiates_by_the_pullbacks_of_ops(name):
    op = OPS[name]
    last = op.nin - 1
    point = [1.5, 2.0, 2.5, 0.3][: op.nin] if op.nin != 2 else [2.0, 0.4]
    inputs = [at.dscalar() for _ in point]
    output = Elemwise(op)(*inputs)
    f = converted(inputs, output)
    want = aesara.function(inputs, at.grad(output, inputs[last]), mode="FAST_COMPILE")(*point)
    np.testing.assert_allclose(jax.grad(f, argnums=last)(*point), want, rtol=1e-9)
    np.testing.assert_allclose(jax.vmap(jax.grad(f, argnums=last))(*np.array([point]).T), [want], rtol=1e-9)


def test_second_derivatives():
    x = at.dscalar()
    f = converted([x], at.gammaln(x))
    np.testing.assert_allclose(jax.grad(jax.grad(f))(2.5), aes.tri_gamma.impl(2.5), rtol=1e-13)


def test_what_has_no_derivative_says_so():
    n, x = at.dscalars(2)
    f = converted([n, x], Elemwise(aes.polygamma)(n, x))
    assert np.isfinite(jax.grad(f, argnums=1)(1.0, 2.0))
    with pytest.raises(NullTypeGradError, match="whole number"):
        jax.grad(f, argnums=0)(1.0, 2.0)


def test_narrow_dtypes_are_computed_in_double_precision():
    x = at.vector(dtype="float16")
    values = np.array([0.5, 3.0, 100.0], "float16")
    got = aesara.function([x], at.gammaln(x), mode="JAX")(values)
    assert got.dtype == jnp.float16
    np.testing.assert_array_equal(got, aes.gammaln.impl(values.astype("float64")).astype("float16"))
