"""Every scalar op, driven by its own declaration: values, dtypes, decompositions and gradients."""

import inspect
import itertools
import operator
import zlib

import mpmath
import numpy as np
import pytest

import aesara
import aesara.scalar as aes
import aesara.tensor as at
from aesara.configdefaults import config
from aesara.graph.disconnected_type import DisconnectedType
from aesara.graph.null_type import NullType
from aesara.primitives import PRIMITIVES
from aesara.scalar import Composite, ScalarOp, UnaryScalarOp, get_scalar_type, scalar_gradient_graph
from aesara.scalar.native import Primitive, Special
from aesara.scalar.promotion import upgrade_to_float_no_complex
from aesara.scalar.routine import FloatRoutine, SciPyFunction
from aesara.tensor.elemwise import Elemwise
from tests.versions import SCIPY_LACKS

DTYPES = tuple(scalar_type.dtype for scalar_type in aes.all_types)
REAL_DTYPES = tuple(dtype for dtype in DTYPES if not dtype.startswith("complex"))


def all_ops():
    found = {name: value for name, value in vars(aes).items() if isinstance(value, ScalarOp)}
    names = {}
    for name, op in found.items():
        names.setdefault(op, name)
    return {name: op for op, name in names.items()}


OPS = all_ops()
over_ops = pytest.mark.parametrize("name", sorted(OPS))


@pytest.mark.parametrize("name", ["lt", "gt", "le", "ge", "eq", "neq"])
@pytest.mark.parametrize("dtype", ["int8", "int64"])
def test_comparisons_of_signed_integers_with_uint64_are_exact(name, dtype):
    """No dtype holds all values of both: they are compared as the numbers that they are."""
    op, exact = getattr(aes, name), getattr(operator, name.replace("neq", "ne"))
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    signed, unsigned = [low, -1, 0, 1, high - 1, high], [0, 1, high - 1, high, high + 1, 2**63 - 1, 2**63, 2**64 - 1]
    pairs = list(itertools.product(signed, unsigned))
    types = aes.get_scalar_type(dtype), aes.uint64
    values = [np.array([pair[k] for pair in pairs], t.dtype) for k, t in enumerate(types)]
    for order in (1, -1):
        wanted = [exact(*pair[::order]) for pair in pairs]
        (found,) = op.evaluate(values[::order], types[::order], [aes.bool])
        assert found.tolist() == wanted
        inputs = [t() for t in types[::order]]
        (found,) = Composite(inputs, op.decomposition(*inputs)).evaluate(values[::order], types[::order], [aes.bool])
        assert found.tolist() == wanted


def test_derivatives_that_are_missing_name_their_input():
    named = []
    for name, op in OPS.items():
        try:
            gradients = scalar_gradient_graph(op, [aes.float64] * number_of_inputs(op)).grads
        except (TypeError, NotImplementedError):
            continue
        for position, gradient in enumerate(gradients):
            if isinstance(gradient.type, NullType):
                named.append(name)
                assert f"with respect to its input {position} " in gradient.type.why_null, name
    assert {"gammainc_der", "gammaincc_der", "polygamma", "betainc_der", "jv"} <= set(named)


def number_of_inputs(op):
    return op.nin if op.nin >= 0 else 3


def accepts(op, types):
    try:
        return op.output_types(types)
    except (TypeError, NotImplementedError):
        return None


def intervals(op):
    if np.ndim(op.domain) == 1:
        return [op.domain] * number_of_inputs(op)
    return list(op.domain)


def draw(op, types, seed, size=40):
    rng = np.random.default_rng(seed)
    values = []
    for (low, high), scalar_type in zip(intervals(op), types):
        kind = scalar_type.numpy_dtype.kind
        if kind == "b":
            drawn = rng.integers(0, 2, size)
        elif kind in "iu":
            low = max(int(np.ceil(low)), 0 if kind == "u" else -100)
            drawn = rng.integers(low, max(int(np.floor(high)), low) + 1, size)
        elif kind == "c":
            drawn = rng.uniform(low, high, size) + 1j * rng.uniform(low, high, size)
        else:
            drawn = rng.uniform(low, high, size)
        values.append(drawn.astype(scalar_type.dtype))
    return values


def float64_types(op):
    return [aes.int64 if op in (aes.and_, aes.or_, aes.xor, aes.invert) else aes.float64] * number_of_inputs(op)


def test_every_documented_op_is_there():
    assert len(OPS) > 100


@over_ops
def test_the_declaration_is_complete(name):
    op = OPS[name]
    assert op.native is None or isinstance(op.native, Primitive | Special | FloatRoutine)
    assert op.numpy is not None
    assert inspect.getdoc(type(op))
    if isinstance(op.native, Primitive):
        assert op.native.name in {*PRIMITIVES, "cast"}
    if name not in {"complex", "complex_from_polar"}:
        assert op.native is not None or op.decompose is not None or type(op).decomposition is not ScalarOp.decomposition


def test_special_functions_exist_in_cython_special():
    import scipy.special.cython_special as cython_special

    capsules = cython_special.__pyx_capi__
    for op in OPS.values():
        if isinstance(op.native, Special) and op.native.name not in SCIPY_LACKS:
            symbols = [op.native.name, *(f"__pyx_fuse_{i}{op.native.name}" for i in range(4))]
            signature = f"double ({'double, ' * op.nin}int __pyx_skip_dispatch)"
            assert any(s in capsules and f'"{signature}"' in str(capsules[s]) for s in symbols), op


def test_functions_that_scipy_lacks_are_named():
    with pytest.raises(NotImplementedError, match=r"SciPy [\d.]+\S* has no unknown_function: install a newer one"):
        SciPyFunction("unknown_function")(1.0)

    class Unknown(UnaryScalarOp):
        """An op that SciPy is to compute."""

        numpy = SciPyFunction("unknown_function")
        native = Special("unknown_function")
        dtype = upgrade_to_float_no_complex

    x = at.dvector("x")
    with pytest.raises(NotImplementedError, match=r"SciPy [\d.]+\S* has no unknown_function: install a newer one"):
        aesara.function([x], Elemwise(Unknown(name="unknown"))(x))


def test_unknown_primitives_are_refused():
    with pytest.raises(ValueError, match="Unknown primitive"):
        Primitive("frobnicate")


@over_ops
def test_perform_agrees_with_evaluation_of_arrays_in_every_dtype(name):
    op = OPS[name]
    n = number_of_inputs(op)
    pairs = [(d,) * n for d in DTYPES] + [("int8", "float32", "float64", "float64", "int8")[:n]]
    accepted = 0
    for dtypes in pairs:
        types = [get_scalar_type(dtype) for dtype in dtypes]
        output_types = accepts(op, types)
        if output_types is None:
            continue
        accepted += 1
        values = draw(op, types, zlib.crc32(name.encode()), size=3)
        if name == "pow" and output_types[0].is_discrete:
            values[1] = np.abs(values[1])
        (array,) = op.evaluate(values, types, output_types)
        assert array.dtype == output_types[0].dtype
        assert array.shape == (3,)
        node = op.make_node(*[scalar_type() for scalar_type in types])
        for i in range(3):
            storage = [[None]]
            op.perform(node, [value[i] for value in values], storage)
            assert type(storage[0][0]) is output_types[0].numpy_type
            np.testing.assert_allclose(
                storage[0][0],
                array[i],
                rtol=8 * np.finfo(array.dtype).eps if array.dtype.kind in "fc" else 0,
            )
    assert accepted


@over_ops
def test_evaluation_broadcasts_and_takes_empty_arrays(name):
    op = OPS[name]
    types = float64_types(op)
    output_types = accepts(op, types)
    values = draw(op, types, 1, size=4)
    (empty,) = op.evaluate([value[:0] for value in values], types, output_types)
    assert empty.shape == (0,)
    if len(values) > 1:
        values[0] = values[0].reshape(4, 1)
        (result,) = op.evaluate(values, types, output_types)
        assert result.shape == (4, 4)
        (corner,) = op.evaluate([values[0][2, 0], *[value[1] for value in values[1:]]], types, output_types)
        np.testing.assert_allclose(result[2, 1], corner, rtol=1e-13)


@over_ops
@pytest.mark.parametrize("dtype", ["float64", "float32", "int16", "uint8", "bool"])
def test_a_decomposition_computes_the_same(name, dtype):
    op = OPS[name]
    types = [get_scalar_type(dtype)] * number_of_inputs(op)
    output_types = accepts(op, types)
    if output_types is None:
        pytest.skip("not defined for this dtype")
    inputs = [scalar_type() for scalar_type in types]
    outputs = op.decomposition(*inputs)
    if outputs is None:
        pytest.skip("computed by one instruction or by perform")
    assert [output.type for output in outputs] == output_types
    values = draw(op, types, 2)
    if dtype.startswith("float") and op.nin == 1:
        special = np.array([0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1e30, -1e30, np.inf, -np.inf, np.nan], dtype)
        values = [np.concatenate([values[0], special])]
    (expected,) = op.evaluate(values, types, output_types)
    (actual,) = Composite(inputs, outputs).evaluate(values, types, output_types)
    actual = np.broadcast_to(actual, expected.shape)
    assert actual.dtype == expected.dtype
    exact = expected.dtype.kind in "biu"
    np.testing.assert_allclose(actual, expected, rtol=0 if exact else 20 * np.finfo(expected.dtype).eps)


TRUTH = {
    "abs": mpmath.fabs,
    "add": lambda *x: mpmath.fsum(x),
    "arccos": mpmath.acos,
    "arccosh": mpmath.acosh,
    "arcsin": mpmath.asin,
    "arcsinh": mpmath.asinh,
    "arctan": mpmath.atan,
    "arctan2": mpmath.atan2,
    "arctanh": mpmath.atanh,
    "betainc": lambda a, b, x: mpmath.betainc(a, b, 0, x, regularized=True),
    "betainc_der": lambda a, b, x, w: mpmath.diff(lambda t: mpmath.betainc(t, b, 0, x, regularized=True), a),
    "ceil": mpmath.ceil,
    "chi2sf": lambda x, k: mpmath.gammainc(k / 2, x / 2, regularized=True),
    "clip": lambda x, a, b: a if x < a else b if x > b else x,
    "cos": mpmath.cos,
    "cosh": mpmath.cosh,
    "deg2rad": mpmath.radians,
    "erf": mpmath.erf,
    "erfc": mpmath.erfc,
    "erfcinv": lambda x: mpmath.erfinv(1 - x),
    "erfcx": lambda x: mpmath.exp(x * x) * mpmath.erfc(x),
    "erfinv": mpmath.erfinv,
    "exp": mpmath.exp,
    "exp2": lambda x: mpmath.power(2, x),
    "expm1": mpmath.expm1,
    "floor": mpmath.floor,
    "floor_divide": lambda x, y: mpmath.floor(x / y),
    "gamma": mpmath.gamma,
    "gammainc": lambda k, x: mpmath.gammainc(k, 0, x, regularized=True),
    "gammainc_der": lambda k, x: mpmath.diff(lambda t: mpmath.gammainc(t, 0, x, regularized=True), k),
    "gammaincc": lambda k, x: mpmath.gammainc(k, x, regularized=True),
    "gammaincc_der": lambda k, x: mpmath.diff(lambda t: mpmath.gammainc(t, x, regularized=True), k),
    "gammal": lambda k, x: mpmath.gammainc(k, 0, x),
    "gammaln": lambda x: mpmath.loggamma(x).real,
    "gammau": lambda k, x: mpmath.gammainc(k, x),
    "hyp2f1": mpmath.hyp2f1,
    "hyp2f1_der": lambda a, b, c, z, w: mpmath.diff(lambda t: mpmath.hyp2f1(a, b, c, t), z),
    "i0": lambda x: mpmath.besseli(0, x),
    "i1": lambda x: mpmath.besseli(1, x),
    "iv": mpmath.besseli,
    "j0": lambda x: mpmath.besselj(0, x),
    "j1": lambda x: mpmath.besselj(1, x),
    "jv": mpmath.besselj,
    "log": mpmath.log,
    "log10": mpmath.log10,
    "log1mexp": lambda x: mpmath.log(-mpmath.expm1(x)),
    "log1p": mpmath.log1p,
    "log2": lambda x: mpmath.log(x, 2),
    "mean": lambda *x: mpmath.fsum(x) / len(x),
    "mod": lambda x, y: x - y * mpmath.floor(x / y),
    "mul": lambda *x: mpmath.fprod(x),
    "neg": lambda x: -x,
    "pow": mpmath.power,
    "psi": mpmath.digamma,
    "polygamma": lambda n, x: mpmath.polygamma(int(n), x),
    "rad2deg": mpmath.degrees,
    "reciprocal": lambda x: 1 / x,
    "round_half_to_even": mpmath.nint,
    "scalar_maximum": max,
    "scalar_minimum": min,
    "sgn": mpmath.sign,
    "sigmoid": lambda x: 1 / (1 + mpmath.exp(-x)),
    "sin": mpmath.sin,
    "sinh": mpmath.sinh,
    "softplus": lambda x: mpmath.log1p(mpmath.exp(x)),
    "sqrt": mpmath.sqrt,
    "square": lambda x: x * x,
    "sub": lambda x, y: x - y,
    "switch": lambda c, x, y: x if c else y,
    "tan": mpmath.tan,
    "tanh": mpmath.tanh,
    "tri_gamma": lambda x: mpmath.polygamma(1, x),
    "true_divide": lambda x, y: x / y,
    "divide": lambda x, y: x / y,
    "trunc": lambda x: mpmath.floor(x) if x > 0 else mpmath.ceil(x),
}


@pytest.mark.parametrize("name", sorted(set(OPS) & set(TRUTH)))
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_values_are_true(name, dtype):
    op = OPS[name]
    types = [get_scalar_type(dtype)] * number_of_inputs(op)
    output_types = op.output_types(types)
    values = draw(op, types, 3, size=8)
    (actual,) = op.evaluate(values, types, output_types)
    with mpmath.workdps(40):
        expected = [float(TRUTH[name](*map(mpmath.mpf, map(float, point)))) for point in zip(*values)]
    # NumPy's and SciPy's functions are good to a few ulp, incomplete functions to a few hundred.
    tolerance = 200 if isinstance(op.native, Special) or name.endswith("_der") or op.decompose else 8
    epsilon = np.finfo(output_types[0].dtype if dtype == "float64" else "float32").eps
    np.testing.assert_allclose(actual, expected, rtol=tolerance * 4 * epsilon, atol=2 * epsilon)


def nudged(graph_values, position, step):
    return [value + step if i == position else value for i, value in enumerate(graph_values)]


NARROWING = {"convert_to_float16", "convert_to_float32"}


@over_ops
def test_gradients_are_derivatives(name):
    op = OPS[name]
    if name in NARROWING:
        pytest.skip("too little precision for differences")
    types = float64_types(op)
    output_types = op.output_types(types)
    graph = scalar_gradient_graph(op, types)
    assert len(graph.grads) == len(types)
    values = draw(op, types, 4, size=25)
    outputs = op.evaluate(values, types, output_types)
    step = 1e-6
    for i, gradient in enumerate(graph.grads):
        if isinstance(gradient.type, NullType | DisconnectedType):
            continue
        assert not gradient.type.is_discrete
        leaves = [*graph.inputs, *graph.outputs, *graph.output_grads]
        if output_types[0].is_discrete or output_types[0].is_complex:
            continue
        g = np.full_like(values[0], 1.7)
        (actual,) = Composite(leaves, [gradient]).evaluate(
            [*values, *outputs, g], [leaf.type for leaf in leaves], [gradient.type]
        )
        (above,) = op.evaluate(nudged(values, i, step), types, output_types)
        (below,) = op.evaluate(nudged(values, i, -step), types, output_types)
        expected = 1.7 * (above - below) / (2 * step)
        scale = 1.7 * np.abs(outputs[0]) + 1
        smooth = np.abs(above - below) < 0.5  # a step function may have jumped in between
        difference = np.abs(actual - expected) / np.maximum(scale, np.abs(expected))
        assert np.all(difference[smooth] < 1e-6), (i, values, actual, expected)


@over_ops
@pytest.mark.parametrize("dtype", ["float32", "int8", "float16", "complex64"])
def test_gradients_have_the_dtype_of_their_inputs(name, dtype):
    op = OPS[name]
    types = [get_scalar_type(dtype)] * number_of_inputs(op)
    if accepts(op, types) is None:
        pytest.skip("not defined for this dtype")
    graph = scalar_gradient_graph(op, types)
    for gradient in graph.grads:
        if not isinstance(gradient.type, NullType | DisconnectedType):
            if dtype == "int8":
                assert gradient.type.numpy_dtype.kind == "f"
            else:
                assert gradient.type.dtype == dtype


HOLOMORPHIC = """
add mul sub true_divide pow square sqrt reciprocal exp exp2 expm1 log log2 log10 log1p
sin cos tan sinh cosh tanh arcsin arccos arctan arcsinh arctanh sigmoid softplus neg
""".split()
PARTS = "abs real imag angle conj identity".split()


@pytest.mark.parametrize("name", [*HOLOMORPHIC, *PARTS, "complex", "complex_from_polar"])
def test_complex_gradients(name):
    """A gradient is dC/dRe + 1j dC/dIm of the real cost C."""
    op = getattr(aes, name)
    n = number_of_inputs(op)
    real_inputs = name in ("complex", "complex_from_polar")
    types = [aes.float64 if real_inputs else aes.complex128] * n
    output_types = op.output_types(types)
    rng = np.random.default_rng(5)
    values = [rng.uniform(0.2, 0.8, 6) + (0 if real_inputs else 1j * rng.uniform(0.2, 0.8, 6)) for _ in range(n)]
    outputs = op.evaluate(values, types, output_types)
    weight = 1.3 - (0.4j if output_types[0].is_complex else 0)

    def cost(arguments):
        (result,) = op.evaluate(arguments, types, output_types)
        return np.real(np.conj(weight) * result)

    graph = scalar_gradient_graph(op, types)
    leaves = [*graph.inputs, *graph.outputs, *graph.output_grads]
    step = 1e-6
    for i, gradient in enumerate(graph.grads):
        (actual,) = Composite(leaves, [gradient]).evaluate(
            [*values, *outputs, np.full(6, weight)], [leaf.type for leaf in leaves], [gradient.type]
        )
        expected = (cost(nudged(values, i, step)) - cost(nudged(values, i, -step))) / (2 * step)
        if not real_inputs:
            expected = expected + 1j * (
                (cost(nudged(values, i, 1j * step)) - cost(nudged(values, i, -1j * step))) / (2 * step)
            )
        np.testing.assert_allclose(actual, expected, rtol=1e-6, atol=1e-8)


def reference_functions():
    return {
        name: op
        for name, op in OPS.items()
        if op.nfunc_spec is not None and name not in ("mean", "chi2sf", "switch", "hyp2f1", "betainc")
    }


@pytest.mark.parametrize("name", sorted(reference_functions()))
def test_nfunc_spec_names_the_function(name):
    op = OPS[name]
    path, n_inputs, n_outputs = op.nfunc_spec
    assert n_outputs == op.nout == 1
    function = SciPyFunction(path.split(".")[-1]) if path.startswith("scipy") else getattr(np, path)
    types = [float64_types(op)[0]] * n_inputs
    values = draw(op, types, 6)
    (actual,) = op.evaluate(values, types, op.output_types(types))
    np.testing.assert_allclose(actual, function(*values), rtol=1e-14)


def test_equal_ops_are_equal():
    for op in OPS.values():
        assert op == op
        assert hash(op) == hash(op)
    assert len(set(OPS.values())) == len(OPS)
    assert aes.add == aes.Add(name="plus")
    assert aes.add != aes.Add(aes.upgrade_to_float)
    assert aes.exp != aes.log
    assert aes.InRange(False, True) == aes.InRange(False, True) != aes.InRange(True, True)
    assert aes.InRange(False, True) != aes.exp and aes.InRange(False, True) != "inrange"


CODES = dict(zip("? b h i l B H I L e f d F D".split(), DTYPES))
UNARY = {
    "abs imag real": "? b h i l B H I L e f d f d",
    "arccos arccosh arcsin arcsinh arctan arctanh cos cosh exp exp2 expm1 log log10 log1p log2 reciprocal"
    " sin sinh sqrt tan tanh erf gamma log1mexp psi sigmoid softplus": "f f f d d f f d d e f d F D",
    "ceil floor trunc erfc erfcinv erfcx erfinv deg2rad rad2deg gammaln i0 i1 j0 j1"
    " tri_gamma": "f f f d d f f d d e f d - -",
    "angle convert_to_float64": "d d d d d d d d d d d d d d",
    "conj": "b b h i l B H I L e f d F D",
    "isinf isnan": "? ? ? ? ? ? ? ? ? ? ? ? ? ?",
    "identity square": "? b h i l B H I L e f d F D",
    "invert": "? b h i l B H I L - - - - -",
    "neg": "- b h i l B H I L e f d F D",
    "sgn": "- b h i l B H I L e f d - -",
    "round_half_away_from_zero round_half_to_even": "- - - - - - - - - e f d - -",
}


@pytest.mark.parametrize(("name", "expected"), [(name, row) for names, row in UNARY.items() for name in names.split()])
def test_output_dtype_of_one_input(name, expected):
    with config.change_flags(floatX="float64"):
        for dtype, code in zip(DTYPES, expected.split()):
            result = accepts(getattr(aes, name), [get_scalar_type(dtype)])
            assert (result and result[0].dtype) == CODES.get(code), dtype


def promotion(a, b):
    return np.promote_types(a, b).name


def float_of(dtype):
    return {"?": "f4", "b": "f4", "B": "f4", "h": "f4", "H": "f4"}.get(
        np.dtype(dtype).char, dtype if np.dtype(dtype).kind in "fc" else "f8"
    )


def is_discrete(dtype):
    return np.dtype(dtype).kind in "biu"


def is_complex(dtype):
    return np.dtype(dtype).kind == "c"


def bitwise(a, b):
    if a == b == "bool":
        return "bool"
    both = is_discrete(a) and is_discrete(b) and "bool" not in (a, b) and is_discrete(promotion(a, b))
    return promotion(a, b) if both else None


def complex_of(a, b):
    if is_complex(a) or is_complex(b):
        return None
    return "complex64" if np.promote_types(promotion(a, b), "f4") == "f4" else "complex128"


def real_only(rule):
    return lambda a, b: None if is_complex(a) or is_complex(b) else rule(a, b)


def upgraded(a, b):
    return promotion(float_of(a), float_of(b))


BINARY = {
    "add mul scalar_maximum scalar_minimum": promotion,
    "floor_divide mod": real_only(promotion),
    "sub": lambda a, b: None if a == b == "bool" else promotion(a, b),
    "pow": lambda a, b: "int8" if a == b == "bool" else promotion(a, b),
    "true_divide divide": lambda a, b: "float64" if is_discrete(a) and is_discrete(b) else promotion(a, b),
    "and_ or_ xor": bitwise,
    "eq neq lt le gt ge": lambda a, b: "bool",
    "second": lambda a, b: b,
    "complex complex_from_polar": complex_of,
    "arctan2 gammainc gammaincc gammainc_der gammaincc_der gammal gammau iv jv owens_t": real_only(upgraded),
    "mean chi2sf": real_only(lambda a, b: "float64"),
}


@pytest.mark.parametrize(("name", "rule"), [(name, rule) for names, rule in BINARY.items() for name in names.split()])
def test_output_dtype_of_two_inputs(name, rule):
    op = getattr(aes, name)
    with config.change_flags(floatX="float64", cast_policy="custom"):
        for a, b in itertools.product(DTYPES, repeat=2):
            result = accepts(op, [get_scalar_type(a), get_scalar_type(b)])
            assert (result and result[0].dtype) == rule(a, b), (a, b)


def test_output_dtype_of_three_inputs():
    switch, clip, between = aes.switch, aes.clip, aes.inopenrange
    for a, b in itertools.product(DTYPES, repeat=2):
        types = [get_scalar_type(a), get_scalar_type(b)]
        assert switch.output_types([aes.bool, *types])[0].dtype == promotion(a, b)
        assert between.output_types([aes.float32, *types])[0].dtype == "int8"
        if not is_complex(a) and not is_complex(b):
            assert clip.output_types([aes.int8, *types])[0].dtype == np.promote_types(np.promote_types("i1", a), b).name


def test_division_of_integers_gives_floatX():
    for floatX in ("float16", "float32", "float64"):
        with config.change_flags(floatX=floatX):
            assert aes.true_divide(aes.int64(), aes.int8()).dtype == floatX
            assert aes.exp(aes.int64()).dtype == "float64"


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: aes.sub(aes.bool(), aes.bool()), r"sub\(bool, bool\): booleans alone"),
        (lambda: aes.neg(aes.bool()), "neg"),
        (lambda: aes.and_(aes.int8(), aes.uint64()), "no integer dtype"),
        (lambda: aes.and_(aes.float32(), aes.int8()), "only integers"),
        (lambda: aes.floor(aes.complex64()), "complex"),
        (lambda: aes.exp(), "takes 1 input"),
        (lambda: aes.sub(aes.float32()), "takes 2 input"),
        (lambda: aes.add(), "at least one"),
        (lambda: aes.exp("a"), "Unsupported dtype"),
    ],
)
def test_wrong_inputs_are_explained(build, message):
    with pytest.raises(TypeError, match=message):
        build()


@pytest.mark.parametrize("rule", [lambda x: [x], lambda x: [x, "float64"], lambda x: [None, None]])
def test_a_rule_must_give_a_scalar_type_for_each_output(rule):
    class Pair(ScalarOp):
        nin, nout = 1, 2

    with pytest.raises(TypeError, match="2 scalar output type"):
        Pair(rule)(aes.float64())
    assert len(Pair(lambda x: [x, aes.int8])(aes.float64())) == 2


def test_complex_numbers_have_no_remainder():
    for build in (aes.mod, aes.floor_divide, aes.mod_check):
        with pytest.raises(aes.ComplexError):
            build(aes.complex64(), aes.float32())


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "float32", "float64"])
def test_division_and_remainder_round_down(dtype):
    numbers = np.array([-7, -6, -1, 0, 1, 6, 7], dtype)
    x, y = np.meshgrid(numbers, numbers[numbers != 0])
    types = [get_scalar_type(dtype)] * 2
    (quotient,) = aes.floor_divide.evaluate([x, y], types, [types[0]])
    (remainder,) = aes.mod.evaluate([x, y], types, [types[0]])
    np.testing.assert_array_equal(quotient, np.floor(x.astype(float) / y))
    np.testing.assert_array_equal(quotient * y + remainder, x)
    assert np.all((remainder == 0) | (np.sign(remainder) == np.sign(y)))


def test_integer_powers_are_exact():
    types = [aes.int64, aes.int64]
    (result,) = aes.pow.evaluate([np.int64(3), np.int64(39)], types, [aes.int64])
    assert result == 3**39


def test_maximum_and_minimum_hand_on_nan():
    for op in (aes.scalar_maximum, aes.scalar_minimum):
        assert np.isnan(op.impl(np.nan, 1.0))
        assert np.isnan(op.impl(1.0, np.nan))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0.5, 1),
        (-0.5, -1),
        (1.5, 2),
        (2.5, 3),
        (-2.5, -3),
        (0.49999999999999994, 0),
        (2.0**52 + 1, 2.0**52 + 1),
    ],
)
def test_rounding_half_away_from_zero(value, expected):
    assert aes.round_half_away_from_zero.impl(value) == expected
    assert aes.round_half_away_from_zero_(value) == expected
    assert np.signbit(aes.round_half_away_from_zero.impl(-0.2))


def test_rounding_of_infinities():
    with np.errstate(invalid="raise"):
        np.testing.assert_array_equal(
            aes.round_half_away_from_zero_vec(np.array([np.inf, -np.inf, 0.5])), [np.inf, -np.inf, 1]
        )


@pytest.mark.parametrize(
    ("op", "reference"),
    [
        (aes.add, np.logical_or),
        (aes.mul, np.logical_and),
        (aes.scalar_maximum, np.logical_or),
        (aes.scalar_minimum, np.logical_and),
    ],
)
def test_arithmetic_of_booleans_is_logic(op, reference):
    x, y = np.array([False, False, True, True]), np.array([False, True, False, True])
    (result,) = op.evaluate([x, y], [aes.bool, aes.bool], [aes.bool])
    np.testing.assert_array_equal(result, reference(x, y))
    assert op.native_fact([aes.bool, aes.bool]).name in ("or", "and")
    assert op.native_fact([aes.bool, aes.int8]) is op.native


def test_native_facts_depend_on_the_input_types():
    assert aes.exp.native_fact([aes.float32]) == Primitive("exp")
    assert aes.exp.native_fact([aes.complex64]) is None
    assert aes.isnan.native_fact([aes.int8]) is None
    assert aes.isnan.decomposition(aes.int8())[0].data == np.False_
    assert aes.abs.native_fact([aes.uint8]) is None
    x = aes.uint8()
    assert aes.abs.decomposition(x) == [x]
    assert aes.abs.native_fact([aes.int8]) == Primitive("abs")
    assert aes.abs.decomposition(aes.complex64()) is None


@pytest.mark.parametrize("op", [aes.add, aes.sub, aes.mul])
def test_instructions_are_for_real_numbers(op):
    """There is no instruction if a type is complex: these ops are computed from real parts."""
    real, other = aes.float64, aes.complex128
    assert op.native_fact((real, real)) is not None
    for types in ((real, other), (other, real), (other, other)):
        assert op.native_fact(types) is None
