"""Products of matrices in the forms of BLAS: values, derivatives, memory, and the rules that make them."""

import itertools

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.compile.mode import Mode, get_mode
from aesara.graph.basic import equal_computations
from aesara.graph.fg import FunctionGraph
from aesara.graph.utils import InconsistencyError
from aesara.graph.vectorization import vectorize_graph
from aesara.tensor import blas
from aesara.tensor.products.gemm import BlasOp
from tests.closeness import assert_close

DTYPES = ["float32", "float64", "complex64", "complex128"]
TOLERANCE = {"float32": 1e-5, "complex64": 1e-5, "float64": 1e-12, "complex128": 1e-12}
PYTHON = Mode("py", None)
REWRITTEN = Mode("py", "fast_run")
dot22, dot22scalar = blas.Dot22(), blas.Dot22Scalar()


def drawn(shape, dtype, seed=0):
    rng = np.random.default_rng([seed, *shape])
    values = rng.normal(size=shape)
    if dtype.startswith("complex"):
        values = values + 1j * rng.normal(size=shape)
    return values.astype(dtype)


def symbol(value, name=None):
    return at.tensor(str(value.dtype), shape=(None,) * value.ndim, name=name)


CASES = {
    "gemm": (blas.gemm, ["mn", "", "mk", "kn", ""], lambda z, a, x, y, b: b * z + a * (x @ y)),
    "gemm_inplace": (blas.gemm_inplace, ["mn", "", "mk", "kn", ""], lambda z, a, x, y, b: b * z + a * (x @ y)),
    "gemv": (blas.gemv, ["m", "", "mk", "k", ""], lambda y, a, A, x, b: b * y + a * (A @ x)),
    "gemv_inplace": (blas.gemv_inplace, ["m", "", "mk", "k", ""], lambda y, a, A, x, b: b * y + a * (A @ x)),
    "ger": (blas.ger, ["mn", "", "m", "n"], lambda A, a, x, y: A + a * np.outer(x, y)),
    "ger_destructive": (blas.ger_destructive, ["mn", "", "m", "n"], lambda A, a, x, y: A + a * np.outer(x, y)),
    "dot22": (dot22, ["mk", "kn"], lambda x, y: x @ y),
    "dot22scalar": (dot22scalar, ["mk", "kn", ""], lambda x, y, a: a * (x @ y)),
}
SIZES = [
    {"m": 3, "k": 4, "n": 5},
    {"m": 0, "k": 4, "n": 5},
    {"m": 3, "k": 0, "n": 5},
    {"m": 3, "k": 4, "n": 0},
    {"m": 1, "k": 1, "n": 1},
]
compiled = {}


def function_of(name, dtype, mode):
    key = (name, dtype, mode)
    if key not in compiled:
        op, shapes, _ = CASES[name]
        inputs = [at.tensor(dtype, shape=(None,) * len(s)) for s in shapes]
        made = [aesara.In(v, mutable=True, borrow=True) for v in inputs]
        mode = {"python": PYTHON, "native": get_mode(None)}[mode]
        compiled[key] = aesara.function(made, op(*inputs), mode=mode, accept_inplace=True)
    return compiled[key]


@pytest.mark.parametrize("mode", ["python", "native"])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", sorted(CASES))
def test_values(name, dtype, mode):
    _, shapes, formula = CASES[name]
    f = function_of(name, dtype, mode)
    for sizes in SIZES:
        values = [drawn([sizes[letter] for letter in s], dtype, seed) for seed, s in enumerate(shapes)]
        expected = formula(*values)
        found = f(*[v.copy() for v in values])
        assert found.dtype == dtype and found.shape == expected.shape
        np.testing.assert_allclose(found, expected, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype])


LAYOUTS = {
    "transposed": lambda v: np.array(v.T).T,
    "every second": lambda v: np.repeat(np.repeat(v, 2, axis=0), 2, axis=-1)[::2, ::2],
    "backwards": lambda v: np.array(v[::-1, ::-1])[::-1, ::-1],
}


@pytest.mark.parametrize("layout", sorted(LAYOUTS))
@pytest.mark.parametrize("mode", ["python", "native"])
def test_operands_that_are_not_contiguous(mode, layout):
    for name, (_, shapes, formula) in CASES.items():
        values = [drawn([{"m": 6, "k": 8, "n": 10}[c] for c in s], "float64", seed) for seed, s in enumerate(shapes)]
        expected = formula(*values)
        arranged = [LAYOUTS[layout](v) if v.ndim == 2 else v for v in values]
        found = function_of(name, "float64", mode)(*arranged)
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("mode", ["python", "native"])
@pytest.mark.parametrize("name", ["gemm", "gemm_inplace", "gemv", "gemv_inplace"])
def test_beta_that_is_the_constant_zero_does_not_read(name, mode):
    """A variable that happens to be zero is a factor like others: zero times NaN is NaN."""
    _, shapes, formula = CASES[name]
    sizes = {"m": 3, "k": 4, "n": 5}
    values = [drawn([sizes[c] for c in s], "float64", seed) for seed, s in enumerate(shapes)]
    values[-1] = np.array(0.0)
    expected = formula(*values)
    values[0] = np.full_like(values[0], np.nan)
    inputs = [symbol(v) for v in values[:-1]]
    of_mode = {"python": PYTHON, "native": get_mode(None)}[mode]
    constant = aesara.function(inputs, CASES[name][0](*inputs, 0.0), mode=of_mode, accept_inplace=True)
    np.testing.assert_allclose(constant(*[v.copy() for v in values[:-1]]), expected, rtol=1e-12)
    assert np.isnan(function_of(name, "float64", mode)(*values)).all()


@pytest.mark.parametrize("mode", ["python", "native"])
@pytest.mark.parametrize("size", [3, 40])
def test_zero_alpha_reads(mode, size):
    z, x, y = [drawn((size, size), "float64", seed) for seed in range(3)]
    x[1, 2] = np.nan
    found = function_of("gemm", "float64", mode)(z, np.array(0.0), x, y, np.array(1.0))
    assert np.isnan(found[1]).all()
    assert_close(found[2:], z[2:])


def test_in_place_in_python():
    for name in ("gemm_inplace", "gemv_inplace", "ger_destructive"):
        _, shapes, formula = CASES[name]
        sizes = {"m": 3, "k": 4, "n": 5}
        values = [drawn([sizes[c] for c in s], "float64", seed) for seed, s in enumerate(shapes)]
        expected = formula(*values)
        found = function_of(name, "float64", "python")(*values)
        assert np.shares_memory(found, values[0])
        np.testing.assert_allclose(values[0], expected, rtol=1e-12)


@pytest.mark.parametrize("name", ["gemm", "gemv", "ger", "dot22", "dot22scalar"])
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_gradients(name, dtype):
    """As those of the expression, also where inputs depend on one another."""
    op, shapes, _ = CASES[name]
    inputs = [at.tensor(dtype, shape=(None,) * len(s)) for s in shapes]
    values = [drawn([3 for _ in s], dtype, seed) for seed, s in enumerate(shapes)]
    outputs = []
    for of in (op, op.expression):
        mixed = [v * v for v in inputs]
        mixed[0] = mixed[0] + inputs[1] if inputs[0].ndim == inputs[1].ndim else mixed[0]
        cost = at.square(at.abs(of(*mixed))).sum()
        outputs.append(aesara.function(inputs, aesara.grad(cost, inputs), mode="FAST_COMPILE")(*values))
    for found, expected in zip(*outputs):
        np.testing.assert_allclose(found, expected, rtol=1e-10)


@pytest.mark.parametrize("name", ["gemm", "gemv", "ger", "dot22", "dot22scalar"])
def test_tangents(name):
    op, shapes, _ = CASES[name]
    inputs = [at.tensor("float64", shape=(None,) * len(s)) for s in shapes]
    values = [drawn([3 for _ in s], "float64", seed) for seed, s in enumerate(shapes)]
    points = [v * 2 for v in inputs]
    found, expected = [
        aesara.function(inputs, aesara.Rop(of(*inputs), inputs, points), mode="FAST_COMPILE")(*values)
        for of in (op, op.expression)
    ]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("name", ["gemm", "gemv", "ger", "dot22", "dot22scalar"])
def test_shapes(name):
    op, shapes, _ = CASES[name]
    inputs = [at.tensor("float64", shape=(None,) * len(s)) for s in shapes]
    shape = aesara.function(inputs, op(*inputs).shape, on_unused_input="ignore")
    sizes = {"m": 3, "k": 4, "n": 5}
    values = [drawn([sizes[c] for c in s], "float64") for s in shapes]
    assert tuple(shape(*values)) == np.shape(CASES[name][2](*values))
    assert not any(isinstance(node.op, BlasOp) for node in shape.maker.fgraph.apply_nodes)


def test_broadcast_where_the_type_says_so():
    z, x, y = at.drow("z"), at.dmatrix("x"), at.dmatrix("y")
    out = blas.gemm_inplace(z, 2.0, x, y, 3.0)
    assert out.type.shape == (None, None)
    values = [drawn((1, 4), "float64"), drawn((3, 2), "float64"), drawn((2, 4), "float64")]
    for mode in (PYTHON, get_mode(None)):
        f = aesara.function([z, x, y], out, mode=mode, accept_inplace=True)
        assert_close(f(*values), 3 * values[0] + 2 * values[1] @ values[2])
    with pytest.raises(ValueError):
        function_of("gemm", "float64", "python")(values[0], np.array(1.0), *values[1:], np.array(1.0))


@pytest.mark.parametrize("rows", [1, 3])
def test_shapes_where_the_result_is_longer_than_what_is_added_to(rows):
    y, z = at.tensor("float64", shape=(1,)), at.tensor("float64", shape=(1, None))
    A, x, m = at.dmatrix("A"), at.dvector("x"), at.dmatrix("m")
    given = {y: np.ones(1), z: np.ones((1, 4)), A: np.ones((rows, 2)), x: np.ones(2), m: np.ones((2, 4))}
    for out, shape in ((blas.gemv(y, 2.0, A, x, 3.0), (rows,)), (blas.gemm(z, 2.0, A, m, 3.0), (rows, 4))):
        inputs = [v for v in given if v in out.owner.inputs]
        for result, expected in ((out, np.full(shape, 7.0)), (out.shape, shape)):
            for mode in (PYTHON, get_mode(None)):
                f = aesara.function(inputs, result, mode=mode, on_unused_input="ignore")
                np.testing.assert_array_equal(f(*[given[v] for v in inputs]), expected)


def test_wrong_shapes_raise():
    one = np.array(1.0)
    for mode in ("python", "native"):
        for shapes in ([(3, 5), (3, 4), (3, 5)], [(2, 5), (3, 4), (4, 5)], [(3, 4), (3, 4), (4, 5)]):
            z, x, y = [np.ones(shape) for shape in shapes]
            with pytest.raises(ValueError):
                function_of("gemm", "float64", mode)(z, one, x, y, one)
        for shapes in ([(2,), (3, 4), (4,)], [(3,), (3, 4), (3,)]):
            z, x, y = [np.ones(shape) for shape in shapes]
            with pytest.raises(ValueError):
                function_of("gemv", "float64", mode)(z, one, x, y, one)
        with pytest.raises(ValueError):
            function_of("ger", "float64", mode)(np.ones((3, 4)), one, np.ones(3), np.ones(3))


x, y, z = at.dmatrices("x", "y", "z")
v, w = at.dvectors("v", "w")
a, b = at.dscalars("a", "b")


@pytest.mark.parametrize(
    "make",
    [
        lambda: blas.gemm(z, at.fscalar(), x, y, b),
        lambda: blas.gemm(z, v, x, y, b),
        lambda: blas.gemm(v, a, x, y, b),
        lambda: blas.gemm(z, a, v, y, b),
        lambda: blas.gemm(z, a, x, v, b),
        lambda: blas.gemm(at.fmatrix(), a, x, y, b),
        lambda: blas.gemm(at.lmatrix(), 1, at.lmatrix(), at.lmatrix(), 1),
        lambda: blas.gemm(z, a, x, y),
        lambda: blas.gemv(x, a, x, w, b),
        lambda: blas.gemv(v, a, w, w, b),
        lambda: blas.gemv(at.fvector(), a, x, w, b),
        lambda: blas.ger(v, a, v, w),
        lambda: blas.ger(z, a, x, w),
        lambda: blas.ger(z, v, v, w),
        lambda: blas.ger(at.lmatrix(), 1, at.lvector(), at.lvector()),
        lambda: dot22(x, v),
        lambda: dot22(at.fmatrix(), y),
        lambda: dot22(at.lmatrix(), at.lmatrix()),
        lambda: dot22scalar(x, y, v),
        lambda: dot22scalar(x, y, at.fscalar()),
    ],
)
def test_wrong_types_are_refused(make):
    with pytest.raises(TypeError):
        make()


def test_what_is_overwritten_is_no_operand():
    for other in (z, z.T):
        with pytest.raises(InconsistencyError):
            blas.gemm_inplace(z, a, other, y, b)
    blas.gemm_no_inplace(z, a, z, y, b)


def test_names_and_equality():
    assert str(blas.gemm_inplace) == "Gemm{inplace}" and str(blas.gemv) == "Gemv{no_inplace}"
    assert blas.Gemm(True) == blas.gemm_inplace != blas.gemm_no_inplace
    assert blas.gemm_inplace.destroy_map == {0: [0]} and not blas.gemm.destroy_map
    assert blas.ger_destructive.destroy_map == {0: [0]} and not blas.ger.destroy_map
    assert equal_computations([blas.gemm(z, a, x, y, b)], [blas.gemm(z, a, x, y, b)])


# Rules


def ops_of(inputs, outputs, **options):
    f = aesara.function(inputs, outputs, mode=REWRITTEN, **options)
    return [node.op for node in f.maker.fgraph.toposort() if not isinstance(node.op, at.elemwise.DimShuffle)]


@pytest.mark.parametrize(
    ("inputs", "output", "expected"),
    [
        ([x, y], at.dot(x, y), ["Dot22"]),
        ([x, y, a], a * at.dot(x, y), ["Dot22Scalar"]),
        ([x, y], -2 * at.dot(x, y), ["Dot22Scalar"]),
        ([x, y, z], z + at.dot(x, y), ["Gemm"]),
        ([x, y, z], at.dot(x, y) - z, ["Gemm"]),
        ([x, y, z], -0.5 * z - 2 * at.dot(x, y), ["Gemm"]),
        ([x, y, z], z + at.dot(x, y).T, ["Gemm"]),
        ([x, y, z, a, b], b * z - a * at.dot(x, y), ["Elemwise", "Gemm"]),
        ([x, y, z, a, b], at.dot(x, y) - b * z * a, ["Elemwise", "Gemm"]),
        ([x, y, z], z + z + at.dot(x, y), ["Gemm"]),
        ([x, v, w, a, b], a * at.dot(x, v) + b * w, ["Gemv"]),
        ([z, v, w], 0.5 * z + at.outer(v, w), ["Gemm"]),
        ([x, y, z], at.dot(x, y) + at.dot(y, z), ["Dot22", "Gemm"]),
        ([x, v, w], w + at.dot(x, v), ["Gemv"]),
        ([x, v, w], w - 2 * at.dot(v, x), ["Gemv"]),
        ([z, v, w], z + at.outer(v, w), ["Ger"]),
        ([v, w], at.outer(v, w), ["Elemwise"]),
        ([x, v], at.dot(x, v), ["Dot"]),
    ],
)
def test_sums_become_forms_of_blas(inputs, output, expected):
    assert [type(op).__name__ for op in ops_of(inputs, output)] == expected
    f = aesara.function(inputs, output, mode=REWRITTEN)
    g = aesara.function(inputs, output, mode=PYTHON)
    values = [drawn((3,) * i.ndim, "float64", seed) for seed, i in enumerate(inputs)]
    np.testing.assert_allclose(f(*values), g(*values), rtol=1e-12)


def test_what_does_not_pay_or_is_not_the_same_stays():
    # a row that is broadcast; a product that is used twice; whole numbers; a sum in a wider dtype
    assert not any(isinstance(op, blas.Gemm) for op in ops_of([x, y, v], at.dot(x, y) + v))
    product = at.dot(x, y)
    assert not any(isinstance(op, blas.Gemm) for op in ops_of([x, y, z], [product + z, product]))
    m, n = at.lmatrices("m", "n")
    assert not any(isinstance(op, BlasOp) for op in ops_of([m, n], m + at.dot(m, n)))
    s, t = at.fmatrices("s", "t")
    assert not any(isinstance(op, blas.Gemm) for op in ops_of([s, t, z], z + at.dot(s, t)))


@pytest.mark.parametrize("mode", ["py", "llvm"])
def test_factor_of_the_other_terms_that_is_zero(mode):
    """NaN in the scaled matrix reach the result even if the factor is zero, a constant or not."""
    one = np.ones((2, 2))
    f = aesara.function([x, y, z, b], b * z + at.dot(x, y), mode=Mode(mode, "fast_run"))
    assert blas.gemm_no_inplace in [node.op for node in f.maker.fgraph.toposort()]
    assert np.isnan(f(one, one, one * np.nan, 0.0)).all()
    g = aesara.function([x, y, z], at.constant(0.0) * z + at.dot(x, y), mode=Mode(mode, None).including("BlasOpt"))
    assert any(isinstance(node.op, blas.Gemm) for node in g.maker.fgraph.toposort())
    assert np.isnan(g(one, one, one * np.nan)).all()


def test_product_of_a_column_and_a_row_is_elementwise_natively():
    for output in (0.5 * z + 2 * at.outer(v, w), at.outer(v, w) * 3):
        f = aesara.function([z, v, w], output, on_unused_input="ignore")
        assert "matrix product" not in str(aesara.explain(f))
        values = [drawn((3, 3), "float64"), drawn((3,), "float64", 1), drawn((3,), "float64", 2)]
        expected = aesara.function([z, v, w], output, mode=PYTHON, on_unused_input="ignore")(*values)
        np.testing.assert_allclose(f(*values), expected, rtol=1e-12)


def test_intermediate_results_are_overwritten_and_updated_variables_are_not():
    assert blas.gemm_inplace in ops_of([x, y, z], at.dot(x, y) + at.dot(y, z))
    assert blas.gemm_inplace in ops_of([x, y, z], at.exp(z) + at.dot(x, y))
    assert blas.gemm_no_inplace in ops_of([x, y, z], z + at.dot(x, y))
    shared = aesara.shared(np.ones((2, 2)))
    assert blas.gemm_no_inplace in ops_of([x, y], [], updates={shared: shared - 0.1 * at.dot(x, y)})


def test_passes_are_registered_in_order():
    names = ["local_dot_to_dot22", "gemm_optimizer", "local_dot22_to_dot22scalar", "local_gemm_to_gemv"]
    assert [blas.blas_optdb.__position__[name] for name in names] == [0, 10, 11, 15]
    assert blas.optdb.__position__["BlasOpt"] == 1.7 and blas.optdb.__position__["InplaceBlasOpt"] == 70
    without = get_mode("FAST_RUN").excluding("BlasOpt")
    f = aesara.function([x, y], at.dot(x, y), mode=without)
    assert not any(isinstance(node.op, BlasOp) for node in f.maker.fgraph.apply_nodes)


def test_res_is_a():
    product = dot22(x, y)
    fgraph = FunctionGraph([x, y], [product, product + 1], clone=False)
    assert blas.res_is_a(fgraph, product, dot22)
    assert blas.res_is_a(fgraph, product, dot22, maxclients=2)
    assert not blas.res_is_a(fgraph, product, dot22, maxclients=1)
    assert not blas.res_is_a(fgraph, x, dot22) and not blas.res_is_a(fgraph, product, dot22scalar)


def test_printing_as_we_go_along(capsys):
    fgraph = FunctionGraph([x, y], [x + y], clone=False)
    assert not blas.local_print_as_we_go_along.transform(fgraph, fgraph.outputs[0].owner)
    assert "add" in capsys.readouterr().out


def test_flags_and_library():
    with aesara.config.change_flags(blas__ldflags="-L/a/lib -lopenblas -lm -I/b -fopenmp"):
        assert blas.ldflags() == ["openblas", "m"]
        assert blas.ldflags(libs=False, flags=True) == ["-fopenmp"]
        assert blas.ldflags(libs=False, libs_dir=True) == ["/a/lib"]
        assert blas.ldflags(libs=False, include_dir=True) == ["/b"]
    assert blas.check_init_y() is False


def test_batches():
    """For a batch of some inputs, the result of each member."""
    values = [drawn(shape, "float64", seed) for seed, shape in enumerate([(3, 5), (), (3, 4), (4, 5), ()])]
    inputs = [symbol(value) for value in values]
    many = at.dtensor3()
    out = vectorize_graph(blas.gemm(*inputs), {inputs[2]: many})
    lefts = drawn((2, 3, 4), "float64", 9)
    found = aesara.function([many, *inputs[:2], *inputs[3:]], out)(lefts, *values[:2], *values[3:])
    z, alpha, _, right, beta = values
    np.testing.assert_allclose(found, beta * z + alpha * (lefts @ right), rtol=1e-12)


@pytest.mark.parametrize("of_sum", itertools.product([None, 1, 3], repeat=2), ids=str)
def test_shapes_of_sums_are_known_as_far_as_those_of_written_ones(of_sum):
    """The added term and the product may be broadcast if a length is 1 or not known."""
    z, row = at.tensor("float64", shape=of_sum), at.tensor("float64", shape=of_sum[:1])
    for of_product in itertools.product([None, 1, 3], repeat=2):
        left, right = at.tensor("float64", shape=(of_product[0], 2)), at.tensor("float64", shape=(2, of_product[1]))
        column, other = (at.tensor("float64", shape=(n,)) for n in of_product)
        v = at.tensor("float64", shape=(2,))
        for made, written in (
            (blas.gemm_no_inplace(z, 1.0, left, right, 1.0), z + at.dot(left, right)),
            (blas.gemv_no_inplace(row, 1.0, left, v, 1.0), row + at.dot(left, v)),
            (blas.ger(z, 1.0, column, other), z + at.outer(column, other)),
        ):
            assert made.type.shape == written.type.shape
