"""Putting tensors together, taking them apart, turning them around."""

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from tests.tensor.against_numpy import DTYPES, compare, drawn


def both(name, *arguments, **options):
    """The function of this name of both libraries, with arguments behind the tensor."""
    return [lambda x, m=module: getattr(m, name)(x, *arguments, **options) for module in (at, np)]


JOINING = [
    (lambda *xs: at.vstack(xs), lambda *xs: np.vstack(xs)),
    (lambda *xs: at.hstack(xs), lambda *xs: np.hstack(xs)),
    (lambda *xs: at.dstack(xs), lambda *xs: np.dstack(xs)),
    (lambda *xs: at.column_stack(xs), lambda *xs: np.column_stack(xs)),
    (lambda x, y: at.append(x, y), lambda x, y: np.append(x, y)),
]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("functions", JOINING)
@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (2, 3, 2)])
def test_joining(functions, shape, dtype):
    compare(*functions, *drawn(dtype, shape, shape), unknown=dtype == "float64")


UNARY = [
    (both("flip"), (2, 3, 4)),
    (both("flip", 1), (2, 3, 4)),
    (both("flip", (0, -1)), (2, 3, 4)),
    (both("flipud"), (3,)),
    (both("fliplr"), (2, 3)),
    *[(both("rot90", k), (2, 3)) for k in range(-1, 5)],
    (both("rot90", 1, (2, 0)), (2, 3, 4)),
    *[(both("rollaxis", axis, start), (2, 3, 4)) for axis in (0, 1, -1) for start in (-3, -1, 0, 2, 3)],
    *[(both("array_split", n), (5, 2)) for n in (1, 2, 3, 7)],
    (both("array_split", [1, 3, 9], -1), (2, 5)),
    (both("hsplit", 2), (3, 4)),
    (both("hsplit", [1]), (3,)),
    (both("vsplit", [1]), (3, 4)),
    (both("dsplit", 2), (3, 4, 2)),
]


@pytest.mark.parametrize("functions, shape", UNARY)
def test_one_tensor(functions, shape):
    for dtype in ("float64", "int32"):
        compare(*functions, *drawn(dtype, shape), unknown=dtype == "float64")


def test_joining_blocks():
    compare(
        lambda a, b, c: at.block([[a, b], [c]]),
        lambda a, b, c: np.block([[a, b], [c]]),
        *drawn("float64", (2, 2), (2, 1), (3,)),
    )
    compare(lambda a, b: at.block([a, b]), lambda a, b: np.block([a, b]), *drawn("float64", (2,), (3,)))
    with pytest.raises(ValueError, match="equally deep"):
        at.block([[at.matrix()], at.matrix()])
    with pytest.raises(ValueError, match="empty"):
        at.block([[], []])
    with pytest.raises(TypeError, match="not tuples"):
        at.block(([at.matrix()],))


def test_append_along_an_axis():
    compare(lambda x, y: at.append(x, y, 1), lambda x, y: np.append(x, y, 1), *drawn("float64", (2, 1), (2, 3)))


def test_dtype_of_stacks():
    assert at.vstack([[1], [2]], dtype="float32").type.dtype == "float32"
    assert at.hstack(at.tensor("float64", (2, 3))).type.shape == (6,)


def test_unstack():
    compare(lambda x: at.unstack(x, 1), lambda x: list(np.moveaxis(x, 1, 0)), *drawn("float64", (2, 3)), unknown=False)
    with pytest.raises(ValueError, match="must be known"):
        at.unstack(at.matrix())


def test_split_at_symbolic_positions():
    x, n = at.dvector("x"), at.lscalar("n")
    f = aesara.function([x, n], at.array_split(x, [n, n + 2]))
    for part, want in zip(f(np.arange(6.0), 1), np.split(np.arange(6.0), [1, 3])):
        np.testing.assert_array_equal(part, want)


@pytest.mark.parametrize("what", [0, -1, [0, -1], slice(0, 4, 2), [True, False, False, True]])
def test_delete(what):
    compare(*both("delete", what, 1), *drawn("float64", (3, 4)))


def test_delete_from_a_flat_tensor():
    compare(*both("delete", 2), *drawn("float64", (3, 2)))
    compare(*both("delete", []), *drawn("float64", (3, 2)))
    x, n = at.dvector("x"), at.lscalar("n")
    f = aesara.function([x, n], at.delete(x, n))
    np.testing.assert_array_equal(f([1.0, 2.0, 3.0], -1), [1.0, 2.0])
    with pytest.raises(IndexError):
        f([1.0, 2.0, 3.0], 3)


@pytest.mark.parametrize(
    "position, axis, shape", [(1, 1, (3,)), (-1, 0, ()), (0, 0, (4,)), (3, 0, (1, 4)), (4, None, ())]
)
def test_insert(position, axis, shape):
    compare(
        lambda x, v: at.insert(x, position, v, axis),
        lambda x, v: np.insert(x, position, v, axis),
        *drawn("float64", (3, 4), shape),
    )


@pytest.mark.parametrize("axis", [1, -1])
def test_joining_with_broadcasting(axis):
    def expected(x, y, z):
        return np.concatenate([np.broadcast_to(x, (3, 2)), y, np.broadcast_to(z, (3, 4))], axis=1)

    compare(lambda *xs: at.concat_with_broadcast(xs, axis), expected, *drawn("float64", (1, 2), (3, 5), (1, 4)))
    with pytest.raises(TypeError, match="equally many"):
        at.concat_with_broadcast([at.vector(), at.matrix()])


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -2, -3])
def test_slice_at_axis(axis):
    (x,) = drawn("float64", (2, 3, 4))
    want = np.moveaxis(np.moveaxis(x, axis, 0)[:1], 0, axis)
    np.testing.assert_array_equal(x[at.slice_at_axis(slice(0, 1), axis)], want)


def test_errors():
    with pytest.raises(ValueError, match="at least one"):
        at.vstack([])
    with pytest.raises(TypeError, match="known length"):
        at.hstack(at.vector())
    with pytest.raises(ValueError, match="must be positive"):
        at.array_split(at.vector(), 0)
    with pytest.raises(ValueError, match="3 equal parts"):
        at.vsplit(at.tensor("float64", (4, 2)), 3)
    with pytest.raises(ValueError, match="2 or more dimensions"):
        at.fliplr(at.vector())
    with pytest.raises(np.exceptions.AxisError):
        at.flip(at.vector(), 1)
    with pytest.raises(ValueError, match="two axes"):
        at.rot90(at.matrix(), axes=(0,))
    with pytest.raises(TypeError, match="single position"):
        at.insert(at.vector(), [0, 1], 1.0)
    with pytest.raises(IndexError, match="out of bounds"):
        at.insert(at.tensor("float64", (2,)), 3, 1.0)


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("positions", [(1, 4), (-3, -1), (4, 2), (0, 9)])
def test_parts_at_positions_of_a_vector(positions, known):
    x, given = at.dvector("x"), at.constant(positions) if known else at.tensor("int64", (2,), name="given")
    (value,) = drawn("float64", (7,))
    parts = aesara.function([x] if known else [x, given], at.array_split(x, given))
    found = parts(value) if known else parts(value, np.array(positions))
    for part, expected in zip(found, np.array_split(value, positions), strict=True):
        np.testing.assert_array_equal(part, expected)


def test_arguments_by_name():
    x = at.dvector("x")
    (value,) = drawn("float64", (3,))
    for stacked, axis in ((at.stack(tensors=[x, -x]), 0), (at.stack(1, tensors=[x, -x]), 1), (at.stack([x, -x], 1), 1)):
        np.testing.assert_array_equal(stacked.eval({x: value}), np.stack([value, -value], axis))


m, v, s = at.dmatrix("m"), at.dvector("v"), at.dscalar("s")


@pytest.mark.parametrize(
    ("build", "error", "message"),
    [
        (lambda: at.array_split(v, at.lvector()), TypeError, "a vector of integers, of known length"),
        (lambda: at.array_split(v, at.dvector()), TypeError, "a vector of integers"),
        (lambda: at.hsplit(s, 2), ValueError, "hsplit needs a tensor of 1 or more dimensions"),
        (lambda: at.dsplit(m, 2), ValueError, "dsplit needs a tensor of 3 or more dimensions"),
        (lambda: at.split(s, [1], 1), TypeError, "A scalar cannot be split"),
        (lambda: at.stack(), ValueError, "No tensor arguments"),
        (lambda: at.stack([v, v], 0, 1), TypeError, "one list of tensors and an axis"),
        (lambda: at.horizontal_stack(m), ValueError, "at least two matrices, got 1"),
    ],
)
def test_refusals(build, error, message):
    with pytest.raises(error, match=message):
        build()


def test_gradients_for_joined_integers_are_zero():
    vectors = at.lvectors("a", "b")
    node = at.join(0, *vectors).owner
    gradients = node.op.grad(node.inputs, [at.dvector("g")])[1:]
    assert [g.type.dtype for g in gradients] == ["float64"] * 2
    for found in aesara.function(list(vectors), gradients)([1, 2], [3]):
        assert not found.any()
