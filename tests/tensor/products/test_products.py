"""Products over the last dimensions, traces."""

import itertools

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.graph.traversal import applys_between
from aesara.tensor.shapes.specify_shape import SpecifyShape
from tests.closeness import assert_close
from tests.tensor.against_numpy import DTYPES, compare, drawn


def vecdot(a, b):
    return (np.conj(a) * b).sum(axis=-1, dtype=np.result_type(a, b))


def matvec(a, b):
    return np.matmul(a, b[..., None])[..., 0]


def vecmat(a, b):
    return np.matmul((np.conj(a) if a.dtype.kind == "c" else a)[..., None, :], b)[..., 0, :]


CASES = [
    (at.vecdot, vecdot, (4, 3), (3,)),
    (at.vecdot, vecdot, (2, 4, 3), (4, 3)),
    (at.matvec, matvec, (2, 3), (3,)),
    (at.matvec, matvec, (4, 2, 3), (3,)),
    (at.matvec, matvec, (4, 2, 3), (5, 1, 3)),
    (at.vecmat, vecmat, (2,), (2, 3)),
    (at.vecmat, vecmat, (4, 2), (4, 2, 3)),
    (at.vecmat, vecmat, (2,), (4, 2, 3)),
    (at.matrix_transpose, lambda x: np.swapaxes(x, -1, -2), (4, 2, 3)),
    *[(at.inner, np.inner, *shapes) for shapes in itertools.product([(3,), (4, 3), (2, 2, 3)], repeat=2)],
    *[(at.inner, np.inner, *shapes) for shapes in [((), (2,)), ((3, 2), ()), ((), ())]],
    *[(at.outer, np.outer, *shapes) for shapes in itertools.product([(), (3,), (2, 2)], repeat=2)],
    *[(at.dot, np.dot, a, b) for a in [(3,), (2, 3), (2, 4, 3)] for b in [(3,), (3, 2), (2, 3, 2)]],
    (at.vdot, np.vdot, (2, 3), (3, 2)),
    (at.kron, np.kron, (2,), (3,)),
    (at.kron, np.kron, (2, 3), (3, 2)),
    (at.kron, np.kron, (2,), (2, 3)),
    (at.kron, np.kron, (2, 3), (2,)),
    (at.kron, np.kron, (2, 1, 2), (3, 2)),
    (at.kron, np.kron, (), (2,)),
    (at.trace, np.trace, (3, 4)),
    (lambda x: at.trace(x, 1, 2, 0), lambda x: np.trace(x, 1, 2, 0), (3, 2, 4)),
    (lambda x: at.trace(x, -9), lambda x: np.trace(x, -9), (3, 2)),
    (lambda x: x.trace(1, 2, 0), lambda x: x.trace(1, 2, 0), (3, 2, 4)),
]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("case", CASES)
def test_against_numpy(case, dtype):
    function, expected, *shapes = case
    if dtype == "bool" and expected is vecdot:
        expected = lambda a, b: (a & b).any(axis=-1)
    compare(function, expected, *drawn(dtype, *shapes), unknown=dtype == "float64")


@pytest.mark.parametrize("dtype", ["float64", "int32"])
@pytest.mark.parametrize("shapes", [((3,), (3,)), ((4, 3), (3,)), ((2, 1, 3), (4, 3))])
def test_cross(dtype, shapes):
    compare(at.cross, np.cross, *drawn(dtype, *shapes), unknown=False)


def test_cross_along_other_axes():
    compare(
        lambda a, b: at.cross(a, b, axisa=0, axisc=0),
        lambda a, b: np.cross(a, b, axisa=0, axisc=0),
        *drawn("float64", (3, 4), (4, 3)),
        unknown=False,
    )
    compare(
        lambda a, b: at.cross(a, b, axis=0),
        lambda a, b: np.cross(a, b, axis=0),
        *drawn("float64", (3, 4), (3, 4)),
        unknown=False,
    )


def test_cross_in_the_plane():
    a, b = drawn("float64", (5, 2), (5, 2))
    assert_close(at.cross(a, b).eval(), a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0])
    (c,) = drawn("float64", (5, 3))
    assert_close(at.cross(a, c).eval(), np.cross(np.c_[a, np.zeros(5)], c))
    assert_close(at.cross(c, a).eval(), np.cross(c, np.c_[a, np.zeros(5)]))


def test_axis_and_dtype():
    compare(lambda a, b: at.vecdot(a, b, axis=0), lambda a, b: (a * b).sum(axis=0), *drawn("float64", (3, 4), (3, 4)))
    x, y = at.fmatrix("x"), at.fvector("y")
    for product in (
        at.matvec(x, y, dtype="float64"),
        at.vecmat(y, x, dtype="float64"),
        at.vecdot(x, y, dtype="float64"),
    ):
        assert product.type.dtype == "float64"
    assert at.trace(x, dtype="float64").type.dtype == "float64"


def test_errors():
    with pytest.raises(ValueError, match="x1 needs 2"):
        at.matvec(at.vector(), at.vector())
    with pytest.raises(ValueError, match="x needs 2"):
        at.matrix_transpose(at.vector())
    with pytest.raises(ValueError, match="2 or 3 elements"):
        at.cross(at.vector(), at.vector())
    with pytest.raises(ValueError):
        at.inner(at.tensor("float64", (3,)), at.tensor("float64", (4,)))


@pytest.mark.parametrize("dtypes", itertools.product(["float32", "float64", "complex128", "int8"], repeat=2))
def test_gradients_of_dot_are_like_their_operands(dtypes):
    """In dtype (of integers, floats), and of length 1 wherever these are, with a check only where that is news."""
    kinds = {1: [(1,), (None,), (3,)], 2: [*itertools.product((1, None, 3), repeat=2)]}
    for first, second in itertools.product([*kinds[1], *kinds[2]], repeat=2):
        inner = first[-1], second[0]
        if None not in inner and inner[0] != inner[1]:
            continue
        a, b = (at.tensor(dtype, shape=shape) for dtype, shape in zip(dtypes, (first, second)))
        product = at.dot(a, b)
        # Where one operand says what the other one does not, the sum tells it of both.
        gradients = aesara.grad(at.real(product).sum(), [a, b], disconnected_inputs="ignore")
        for operand, gradient in zip((a, b), gradients, strict=True):
            of_integers = operand.type.dtype == "int8" and gradient.type.dtype.startswith("float")
            assert gradient.type.dtype == operand.type.dtype or of_integers
            for mine, theirs in zip(operand.type.shape, gradient.type.shape, strict=True):
                assert theirs == mine or ((mine is None or theirs is None) and mine != 1)
            if 1 not in operand.type.shape:
                assert not any(isinstance(node.op, SpecifyShape) for node in applys_between([a, b], [gradient]))


OF_MATRICES = list(itertools.product([(3,), (2, 3)], [(3,), (3, 4)]))
OF_BATCHES = list(itertools.product([(5, 3), (5, 2, 3)], [(5, 3), (5, 3, 4)]))


@pytest.mark.parametrize(
    "function, shapes", [(at.dot, OF_MATRICES), (at.matmul, OF_MATRICES), (at.batched_dot, OF_BATCHES)]
)
@pytest.mark.parametrize("dtypes", [("complex128", "complex128"), ("complex128", "float64"), ("int8", "complex128")])
def test_gradients_of_complex_products(function, shapes, dtypes):
    """The slope of a real function along any direction is the real part of the product with the gradient."""
    for shapes_of_both in shapes:
        values = [drawn(dtype, shape, seed=seed)[0] for seed, (shape, dtype) in enumerate(zip(shapes_of_both, dtypes))]
        a, b = (at.tensor(value.dtype.name, shape=(None,) * value.ndim) for value in values)
        product = function(a, b)
        (weights,) = drawn("complex128", function(*values).eval().shape)
        cost = at.real(product * weights).sum()
        gradients = aesara.function([a, b], aesara.grad(cost, [a, b]), mode="FAST_COMPILE")(*values)
        f = aesara.function([a, b], cost, mode="FAST_COMPILE")
        for k, gradient in enumerate(gradients):
            if dtypes[k] == "int8":
                expected = f(*(v if j != k else np.ones_like(v) for j, v in enumerate(values)))
                np.testing.assert_allclose(gradient.sum(), expected, rtol=1e-10)  # as if the numbers were real ones
                continue
            (direction,) = drawn(dtypes[k], shapes_of_both[k], seed=7)
            low, high = (f(*(v if j != k else v + sign * direction for j, v in enumerate(values))) for sign in (-1, 1))
            np.testing.assert_allclose((np.conj(gradient) * direction).real.sum(), (high - low) / 2, rtol=1e-10)
