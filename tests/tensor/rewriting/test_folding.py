"""Which nodes of constants are computed when a graph is compiled, and what comes of them."""

import mpmath
import numpy as np
import pytest
from mpmath import exp, log, log1p, mpf

import aesara
import aesara.tensor as at
from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Apply, Constant
from aesara.graph.op import Op
from aesara.tensor.rewriting.basic import constant_folding
from aesara.tensor.rewriting.constants import LARGEST_FOLDED, lossless_constant_folding
from aesara.tensor.special import ndtr, softmax

DTYPES = ("bool", "int16", "float32", "float64", "complex128")


def filled(dtype, *shape):
    return at.constant(np.ones(shape, dtype))


def folded(variable, inputs=()):
    """The constants that take the place of the node of a variable, which another one reads, or False."""
    fgraph = FunctionGraph(inputs, [at.sum(variable)], clone=False)
    return constant_folding.transform(fgraph, variable.owner)


class Repeated(Op):
    """The first number of an array in several vectors whose lengths are known."""

    __props__ = ("lengths",)

    def __init__(self, *lengths):
        self.lengths = lengths

    def make_node(self, x):
        return Apply(self, [x], [at.TensorType(x.type.dtype, (length,))() for length in self.lengths])

    def perform(self, node, inputs, output_storage):
        for length, storage in zip(self.lengths, output_storage):
            storage[0] = np.full(length, inputs[0].flat[0])


def repeated(x, *lengths):
    return Repeated(*lengths).make_node(x).outputs[0]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "build",
    [
        lambda one, n: at.alloc(one, n),
        lambda one, n: repeated(one, n),
        lambda one, n: repeated(one, 1, n - 2, 1),
    ],
    ids=["alloc", "one", "several"],
)
def test_results_of_more_than_a_megabyte_are_left_to_be_computed(build, dtype):
    most = LARGEST_FOLDED // np.dtype(dtype).itemsize
    (result, *_) = folded(build(filled(dtype), most))
    assert result.type.dtype == dtype and result.data.all()
    assert not folded(build(filled(dtype), most + 1))


@pytest.mark.parametrize("dtype", DTYPES)
def test_results_of_large_constants_may_be_twice_as_large(dtype):
    count = LARGEST_FOLDED // np.dtype(dtype).itemsize
    for lengths, kept in (((count,), True), ((2 * count,), True), ((count, count), True), ((count, count + 1), False)):
        assert bool(folded(repeated(filled(dtype, count), *lengths))) is kept


def test_sizes_are_in_bytes():
    values = np.arange(LARGEST_FOLDED // 4, dtype="int16")
    for dtype in ("int8", "float32", "float64"):
        found = folded(at.constant(values).astype(dtype))
        assert bool(found) is (np.dtype(dtype).itemsize <= 4)
        if found:
            np.testing.assert_array_equal(found[0].data, values.astype(dtype), strict=True)


def test_what_depends_on_a_variable_or_fails_is_left():
    x, matrix = at.dvector("x"), at.constant(np.ones((2, 2)))
    assert not folded(x + 1.0, [x])
    assert not folded(at.linalg.cholesky(-matrix))


def test_types_of_folded_results_know_their_shapes():
    entries = at.unique(at.constant([4, 3, 4, 4]))
    assert entries.type.shape == (None,)
    (result,) = folded(entries)
    assert result.type.shape == (2,) and result.data.tolist() == [3, 4]


@pytest.mark.filterwarnings("error")
def test_nothing_is_said_about_values_out_of_the_range():
    for variable, value in (
        (at.log(at.constant([0.0])), -np.inf),
        (at.constant([1.0]) / at.constant([0.0]), np.inf),
        (at.linalg.inv(at.constant([[1e-320]])), np.inf),
        (at.sum(at.constant([1e308, 1e308])), np.inf),
        (at.cumsum(at.constant([-1e308, -1e308])), [-1e308, -np.inf]),
    ):
        np.testing.assert_array_equal(np.ravel(folded(variable)[0].data), value)


def double(*values):
    return at.constant(np.array(values))


#: Expressions of constants that lose digits where they are computed as written, and what they are.
LOST = [
    (lambda: at.log(1 + at.exp(at.as_tensor_variable(800))), lambda: [800]),
    (lambda: at.log(1 + at.exp(double(-50.0, 0.0, 800.0))), lambda: [log1p(exp(-50)), log(2), 800]),
    (lambda: at.log(1 - at.sigmoid(double(50.0))), lambda: [-50 - log1p(exp(-50))]),
    (lambda: 1 - at.sigmoid(double(30.0)), lambda: [exp(-30) / (1 + exp(-30))]),
    (lambda: at.exp(double(1e-10)) - 1, lambda: [mpmath.expm1(1e-10)]),
    (lambda: 1 - at.erf(double(7.0)), lambda: [mpmath.erfc(7)]),
    (lambda: at.log(at.exp(double(1000.0, 1001.0)).sum()), lambda: [1000 + log(1 + exp(1))]),
    (lambda: at.log(softmax(double(1000.0, 0.0))), lambda: [-exp(-1000), -1000]),
    (lambda: at.log(double(1e200) ** 2), lambda: [2 * log(mpf(1e200))]),
    (lambda: at.log(ndtr(double(-50.0))), lambda: [log(mpmath.ncdf(-50))]),
    (lambda: at.log(at.exp(double(-740.0))), lambda: [-740]),
]


@pytest.mark.parametrize("case", range(len(LOST)))
def test_stable_forms_of_constants_are_found(case):
    build, value = LOST[case]
    f = aesara.function([], build(), mode="FAST_RUN")
    assert isinstance(f.maker.fgraph.outputs[0].owner.inputs[0], Constant)
    with mpmath.workdps(400):
        expected = np.array([float(number) for number in value()])
    np.testing.assert_allclose(np.ravel(f()), expected, rtol=1e-14 if f().dtype == "float64" else 1e-7)


@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE"])
def test_what_no_stable_form_is_found_of_is_folded_in_the_end(mode):
    x = at.dvector("x")
    f = aesara.function([x], x * at.exp(double(2.0)) * at.exp(double(3.0)) + at.tanh(double(1.0)), mode=mode)
    assert not any(node.op in (at.exp, at.tanh) for node in f.maker.fgraph.apply_nodes)
    np.testing.assert_allclose(f([1.0]), np.exp(5.0) + np.tanh(1.0), rtol=1e-15)


def test_results_without_digits_wait_for_stable_forms():
    large, small = double(1e200), double(1e-200)
    for waits in (at.exp(double(2.0)), at.tanh(double(-1.0)), large * large, small * small):
        assert not early(waits)
    for exact in (at.exp(double(0.0, -np.inf, np.nan)), at.log(double(0.0)), double(0.0) * large, at.sin(small)):
        assert early(exact)
    # nobody reads it
    result = at.exp(double(2.0))
    assert lossless_constant_folding.transform(FunctionGraph([], [result], clone=False), result.owner)


def early(variable):
    return lossless_constant_folding.transform(FunctionGraph([], [at.sum(variable)], clone=False), variable.owner)


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64", "uint8", "uint16"])
def test_stable_forms_of_functions_of_integers(dtype):
    n = at.vector("n", dtype=dtype)
    values = np.array([0, 1, 50, 120], dtype)
    numbers = [int(k) for k in values]
    cases = [
        (at.log(1 + at.exp(n)), lambda k: k + log1p(exp(-k))),
        (1 - at.sigmoid(n), lambda k: exp(-k) / (1 + exp(-k))),
        (at.log(1 - at.sigmoid(n)), lambda k: -k - log1p(exp(-k))),
        (at.log(at.sigmoid(n)), lambda k: -log1p(exp(-k))),
        (at.log(at.exp(n) * 2), lambda k: k + log(2)),
    ]
    f = aesara.function([n], [expression for expression, _ in cases])
    with mpmath.workdps(60):
        for result, (expression, exact) in zip(f(values), cases):
            rtol = 1e-14 if result.dtype == "float64" else 1e-6
            assert result.dtype == expression.dtype
            np.testing.assert_allclose(result, [float(exact(mpf(k))) for k in numbers], rtol=rtol, atol=1e-44)


def test_what_is_an_output_too_is_kept_for_stable_forms():
    number = at.exp(at.constant(-800.0))
    for outputs in ([number, at.log(number)], [at.log(number), number]):
        found = aesara.function([], outputs)()
        assert sorted(float(v) for v in found) == [-800.0, 0.0]
