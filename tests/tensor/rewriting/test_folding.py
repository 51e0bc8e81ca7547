"""Which nodes of constants are computed when a graph is compiled, and what comes of them."""

import numpy as np
import pytest

import aesara.tensor as at
from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Apply
from aesara.graph.op import Op
from aesara.tensor.rewriting.basic import constant_folding
from aesara.tensor.rewriting.folding import LARGEST_FOLDED

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
