"""Every scalar op on every dtype, compiled by JAX, beside the reference."""

import itertools

import jax
import numpy as np
import pytest

import aesara
import aesara.scalar as aes
import aesara.tensor as at
from aesara.graph.fg import FunctionGraph
from aesara.link.jax.dispatch import jax_funcify
from aesara.scalar.native import Special
from aesara.scalar.op import ScalarOp
from aesara.scalar.promotion import ComplexError
from aesara.scalar.routine import FloatRoutine
from aesara.scalar.ufuncs import fmax, fmin
from aesara.tensor.elemwise import Elemwise
from aesara.tensor.type import TensorType

DTYPES = [kind.dtype for kind in aes.all_types]


def operations():
    """An op of each class, and the classes that need arguments."""
    found, pending = {}, [ScalarOp]
    while pending:
        kind = pending.pop()
        pending += kind.__subclasses__()
        if kind.__module__.startswith("aesara.scalar") and not kind.__name__.startswith("_") and kind.numpy is not None:
            try:
                found[kind.__name__] = kind()
            except TypeError:
                assert kind in ARGUMENTS, f"{kind} needs arguments"
    for kind, arguments in ARGUMENTS.items():
        found.update({f"{kind.__name__}{given}": kind(*given) for given in arguments})
    return found


ARGUMENTS = {
    aes.Cast: [(aes.get_scalar_type(dtype),) for dtype in DTYPES],
    aes.InRange: list(itertools.product([False, True], repeat=2)),
}
OPS = operations()

#: Functions that are compared in `test_special`, by what is known of their domains.
SPECIAL = {name for name, op in OPS.items() if isinstance(op.native, Special | FloatRoutine)}
#: These are made of such.
SPECIAL |= {"Chi2SF", "ErfcxReciprocal", "GammaL", "GammaU"}
ELEMENTARY = sorted(OPS.keys() - SPECIAL)


#: Functions that are further from the reference than 8 units of the last place, and how far.
LIMITS = {"Erfc": 64}
LIMITS_OF_COMPLEX = {"Pow": 256}
#: Functions whose terms cancel: units of the last place of 1 count.
CANCELLING = {"LogAddExp", "LogAddExp2"}
EXTREMA = aes.ScalarMaximum, aes.ScalarMinimum, type(fmax), type(fmin)


#: Ops that have no form for the parts of complex numbers.
WITHOUT_FORM = ("Erf", "InRange", "IsFinite", "Sinc")


def number_of_inputs(op):
    return op.nin if op.nin >= 0 else 3


#: Pairs of different dtypes that are tried, in both orders.
MIXED = [
    ("bool", "int8"), ("bool", "float64"), ("int8", "uint8"), ("int64", "uint64"), ("int8", "uint64"),
    ("int8", "float32"), ("int32", "float32"), ("int8", "float16"), ("float16", "float32"), ("float32", "float64"),
    ("complex64", "float64"), ("int16", "complex64"), ("bool", "complex128"),
]  # fmt: skip


def accepted(op):
    """The dtypes of operands that an op takes, and what it gives for these."""
    n = number_of_inputs(op)
    combinations = [(dtype,) * n for dtype in DTYPES]
    if n == 2:
        combinations += [pair for one in MIXED for pair in (one, one[::-1])]
    for dtypes in combinations:
        try:
            yield dtypes, op.output_types([aes.get_scalar_type(d) for d in dtypes])
        except (TypeError, ComplexError):
            pass


def numbers(dtype, many):
    """Numbers of a dtype: extremes, small ones, and some in between."""
    kind = np.dtype(dtype)
    if kind.kind == "b":
        return np.array([False, True])
    if kind.kind in "iu":
        info = np.iinfo(kind)
        few = [info.min, info.max, 0, 1, 2, 3, 7, info.max - 1, 100]
        few += [-1, -2, -3, -100, info.min + 1] if kind.kind == "i" else []
        return np.array(few, dtype=kind)
    if kind.kind == "c":
        part = np.array([0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 30.0, np.inf, -np.inf, np.nan])
        grid = part[:, None] + 0 * part
        pairs = np.empty(grid.shape, kind)
        pairs.real, pairs.imag = grid, part
        return pairs.ravel() if many else pairs.ravel()[::7]
    info = np.finfo(kind)
    whole = [0.0, 1.0, 2.0, 3.0, 0.5, 1.5, 2.5, 0.1, 0.75, 10.0, 88.0, 1e-3, 1e4]
    edges = [np.inf, info.max / 8, info.tiny**0.5, info.eps, 1 + info.eps, 1 - info.epsneg]
    values = np.array([*whole, *edges], dtype=kind)
    if many:
        rng = np.random.default_rng(3)
        spread = [rng.uniform(0, 1.5, 40), rng.uniform(0, 30, 60), 10.0 ** rng.uniform(-4, 4, 60)]
        values = np.concatenate([values, np.concatenate(spread).astype(kind)])
    return np.concatenate([values, -values, np.array([np.nan], kind)])


def operands(dtypes):
    axes = [numbers(dtype, len(dtypes) == 1) for dtype in dtypes]
    if len(axes) == 3:
        axes = [axis[:: 1 + len(axis) // 16] for axis in axes]
    return [np.ascontiguousarray(grid.ravel()) for grid in np.meshgrid(*axes, indexing="ij")]


def defined(op, values, out):
    """Where the reference says what the result is.

    It does not for casts that C leaves open, the larger of two zeros, and negative powers of integers.
    """
    where = np.ones(values[0].shape, bool)
    if isinstance(op, aes.Cast) and values[0].dtype.kind in "fc" and out.kind in "iu":
        info = np.iinfo(out)
        whole = np.trunc(values[0].real.astype("float64"))
        where &= (whole >= float(info.min)) & (whole < float(info.max) + (out.itemsize < 8))
    if isinstance(op, aes.Pow) and out.kind in "iu":
        where &= values[1].astype("int64") >= 0 if values[1].dtype != "uint64" else where
    if isinstance(op, EXTREMA):
        where &= (values[0] != 0) | (values[1] != 0)
    return where


def in_last_places(got, want, dtypes, least=0.0):
    """Return errors of results, in units of the last place of the least precise operand or result."""
    if want.dtype.kind not in "fc":
        return np.where(got == want, 0.0, np.inf)
    exact = np.finfo(want.dtype).eps
    single = want.dtype == "float64" and {"complex64", "float32"} & set(dtypes)
    eps = np.finfo("float32").eps if single else exact
    parts = [np.real, np.imag] if want.dtype.kind == "c" else [np.asarray]
    size = np.max([np.where(np.isfinite(part(want)), np.abs(part(want)), 0) for part in parts], axis=0)
    unit = np.maximum(size, least) * float(eps)
    return np.max([_distance(part(got), part(want), unit, len(parts) == 1 and not least) for part in parts], axis=0)


def _distance(got, want, unit, signed):
    same = (got == want) | (np.isnan(got) & np.isnan(want))
    signs = (not signed) | (want != 0) | (got != 0) | (np.signbit(got) == np.signbit(want))
    # XLA flushes subnormal numbers.
    tiny = float(np.finfo(want.dtype).tiny)
    with np.errstate(all="ignore"):
        wide = np.abs(got.astype("float64") - want.astype("float64"))
        away = np.where(wide <= tiny, 0.0, wide / np.maximum(unit, tiny))
    return np.where((same & signs), 0.0, np.where(np.isfinite(away) & ~(same & ~signs), away, np.inf))


def compiled(op, combinations, mode="JAX"):
    inputs = [[TensorType(dtype, (None,))() for dtype in dtypes] for dtypes in combinations]
    outputs = [Elemwise(op)(*some) for some in inputs]
    return aesara.function([v for some in inputs for v in some], outputs, mode=mode, on_unused_input="ignore")


@pytest.mark.parametrize("name", ELEMENTARY)
@pytest.mark.filterwarnings("ignore")
def test_results_are_those_of_the_reference(name):
    op, found = OPS[name], []
    combinations, given, wanted = [], [], []
    for dtypes, outputs in accepted(op):
        values = operands(dtypes)
        kept = defined(op, values, outputs[0].numpy_dtype)
        values = [np.ascontiguousarray(value[kept]) for value in values]
        (want,) = op.evaluate(values, [aes.get_scalar_type(dtype) for dtype in dtypes], outputs)
        combinations.append(dtypes)
        given.append(values)
        wanted.append(np.broadcast_to(want, values[0].shape))
    assert combinations
    arguments = [value for values in given for value in values]
    results = compiled(op, combinations)(*arguments)
    # NumPy's formulas for complex numbers differ at infinities from those of C, which both back ends have.
    others = compiled(op, combinations, "FAST_RUN")(*arguments) if "complex" in str(combinations) else wanted
    for dtypes, values, got, want, other in zip(combinations, given, results, wanted, others, strict=True):
        got = np.asarray(got)
        assert got.dtype == want.dtype and got.shape == want.shape
        is_complex = "complex" in str((want.dtype, dtypes))
        distance = in_last_places(got, want, dtypes, least=float(name in CANCELLING))
        if is_complex:
            distance = np.minimum(distance, in_last_places(got, other, dtypes))
        worst = np.argmax(distance)
        if distance[worst] > (LIMITS_OF_COMPLEX if is_complex else LIMITS).get(name, 8):
            found.append(
                f"{dtypes}: {np.sum(distance > 8)} of {want.size}, {distance[worst]:.3g} at "
                f"{[value[worst] for value in values]}: {got[worst]}, not {want[worst]}"
            )
    if found:
        pytest.fail(f"{len(found)}: " + "\n".join(found[:12]), pytrace=False)


def test_negative_powers_of_integers_raise():
    x, n = at.lvectors(2)
    f = aesara.function([x, n], x**n, mode="JAX")
    np.testing.assert_array_equal(f([2, 3], [62, 0]), [2**62, 1])
    with pytest.raises(ValueError, match="Integers to negative integer powers"):
        f([2, 3], [1, -1])


def test_composites_are_their_graphs():
    x, y = aes.float64("x"), aes.int8("y")
    op = Elemwise(aes.Composite([x, y], [aes.exp(x) + y, aes.lt(x, y)]))
    a, b = at.dvector(), at.bvector()
    f = aesara.function([a, b], op(a, b), mode="JAX")
    total, less = f([0.0, 1.0], [1, 0])
    np.testing.assert_allclose(total, [2.0, np.e], rtol=1e-14)
    np.testing.assert_array_equal(less, [True, False])


@pytest.mark.parametrize("name", ELEMENTARY)
def test_nothing_runs_on_the_host(name):
    for dtypes in [(dtype,) * number_of_inputs(OPS[name]) for dtype in ("float64", "int64", "complex128")]:
        if dtypes not in [each for each, _ in accepted(OPS[name])] or (
            "complex128" in dtypes and name.startswith(WITHOUT_FORM)
        ):
            continue
        inputs = [at.TensorType(dtype, (None,))() for dtype in dtypes]
        graph = jax_funcify(FunctionGraph(inputs, [Elemwise(OPS[name])(*inputs)], clone=False))
        values = [np.ones(2, dtype) for dtype in dtypes]
        assert "pure_callback" not in str(jax.make_jaxpr(lambda *given: graph(*given))(*values))


def test_derivatives_are_those_of_the_pullback():
    x = at.dscalar()
    f = jax_funcify(FunctionGraph([x], [at.softplus(x) + at.log1mexp(-x)], clone=False))
    # By the decomposition they would be NaN.
    np.testing.assert_allclose(jax.grad(lambda value: f(value)[0])(800.0), 1.0, rtol=1e-12)
    np.testing.assert_allclose(
        jax.vmap(jax.grad(lambda value: f(value)[0]))(np.array([800.0, 900.0])), [1.0, 1.0], rtol=1e-12
    )
