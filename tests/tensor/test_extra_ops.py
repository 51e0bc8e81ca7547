"""Further functions on tensors, with NumPy as the oracle."""

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.graph.autodiff import grad
from aesara.tensor.extra_ops import (
    Bartlett,
    BroadcastTo,
    CpuContiguous,
    CumOp,
    CumprodOp,
    CumsumOp,
    FillDiagonal,
    FillDiagonalOffset,
    RavelMultiIndex,
    Repeat,
    SearchsortedOp,
    Unique,
    UnravelIndex,
    bartlett,
    bincount,
    broadcast_arrays,
    broadcast_shape,
    broadcast_shape_iter,
    broadcast_to,
    compress,
    cpu_contiguous,
    cumprod,
    cumsum,
    diff,
    fill_diagonal,
    fill_diagonal_offset,
    geomspace,
    linspace,
    logspace,
    ravel_multi_index,
    repeat,
    searchsorted,
    squeeze,
    to_one_hot,
    unique,
    unravel_index,
)
from tests.tensor.check_gradient import check_gradient, check_inferred_shape
from tests.tensor.evaluate import evaluate


def tensor(*sizes, dtype="float64"):
    return at.TensorType(dtype, shape=sizes)()


def agree(output, expected, values=None):
    """Assert value, dtype and shape of an output, and that the shape is inferred."""
    values = values or {}
    found = evaluate(output, values)
    expected = np.asarray(expected)
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)
    if output.owner is not None and hasattr(output.owner.op, "infer_shape"):
        check_inferred_shape(output, values)


def test_cpu_contiguous(rng):
    x, value = at.dmatrix(), rng.normal(size=(2, 3)).T
    found = evaluate(cpu_contiguous(x), {x: value})
    assert found.flags.c_contiguous and np.array_equal(found, value)
    whole = np.ones((2, 3))
    assert evaluate(CpuContiguous()(x), {x: whole}) is whole
    check_gradient(lambda x: cpu_contiguous(x) ** 2, value)


@pytest.mark.parametrize("axis", [None, 0, 1, -1])
def test_cumulative(axis, rng):
    value = rng.normal(size=(3, 4))
    x = at.dmatrix()
    agree(cumsum(x, axis), np.cumsum(value, axis), {x: value})
    agree(cumprod(x, axis), np.cumprod(value, axis), {x: value})
    assert cumsum(tensor(3, 4), axis).type.shape == np.cumsum(value, axis).shape
    check_gradient(lambda x: cumsum(x, axis) ** 2, value)
    check_gradient(lambda x: cumprod(x, axis), value)
    small = at.bmatrix()
    assert cumsum(small, axis).type.dtype == "int8"
    agree(cumsum(small, axis), np.cumsum(np.ones((2, 2)), axis, dtype="int8"), {small: np.ones((2, 2), "int8")})


def test_cumulative_ops():
    assert CumsumOp(axis=1) == CumOp(1, "add") and CumprodOp() == CumOp(None, "mul")
    assert cumsum(at.TensorType("bool", shape=(None,))()).type.dtype == "int64"
    with pytest.raises(ValueError, match="out of bounds"):
        cumsum(at.dvector(), 1)
    with pytest.raises(ValueError, match="mode"):
        CumOp(mode="other")


@pytest.mark.parametrize("n", [0, 1, 2, 5])
@pytest.mark.parametrize("axis", [0, -1])
def test_diff(n, axis, rng):
    value = rng.normal(size=(3, 4))
    x = at.dmatrix()
    np.testing.assert_array_equal(evaluate(diff(x, n, axis), {x: value}), np.diff(value, n, axis))
    with pytest.raises(ValueError):
        diff(x, -1)
    if n == 2:
        check_gradient(lambda x: diff(x, n, axis) ** 2, value)


def test_bincount(rng):
    x, w = at.lvector(), at.dvector()
    value = np.array([1, 3, 3, 0])
    weights = rng.normal(size=4)
    agree(bincount(x), np.bincount(value), {x: value})
    agree(bincount(x, minlength=7), np.bincount(value, minlength=7), {x: value})
    agree(bincount(x, weights=w), np.bincount(value, weights), {x: value, w: weights})
    agree(bincount(x), np.zeros(0, dtype="int64"), {x: np.zeros(0, dtype="int64")})
    small = at.TensorType("uint8", shape=(None,))()
    agree(bincount(small, assert_nonneg=True), np.bincount(value), {small: value.astype("uint8")})
    with pytest.raises(AssertionError, match="negative"):
        evaluate(bincount(x, assert_nonneg=True), {x: [-1, 2]})
    with pytest.raises(TypeError):
        bincount(w)
    with pytest.raises(ValueError):
        bincount(at.lmatrix())


@pytest.mark.parametrize("axis", [None, 0, 1, -1])
def test_repeat(axis, rng):
    value = rng.normal(size=(3, 4))
    x, n, v = at.dmatrix(), at.lscalar(), at.TensorType("uint64", shape=(None,))()
    given = {x: value, n: 2}
    np.testing.assert_array_equal(evaluate(repeat(x, 2, axis), given), np.repeat(value, 2, axis))
    np.testing.assert_array_equal(evaluate(repeat(x, n, axis), given), np.repeat(value, 2, axis))
    np.testing.assert_array_equal(evaluate(repeat(x, 0, axis), given), np.repeat(value, 0, axis))
    agree(Repeat(axis)(x, n), np.repeat(value, 2, axis), given)
    assert repeat(tensor(3, 4), 2, axis).type.shape == np.repeat(value, 2, axis).shape
    counts = rng.integers(0, 3, size=value.size if axis is None else value.shape[axis])
    y = repeat(x, v, axis)
    assert type(y.owner.op) is Repeat
    agree(y, np.repeat(value, counts, axis), {x: value, v: counts.astype("uint64")})
    check_gradient(lambda x: repeat(x, counts, axis) ** 2, value)
    check_gradient(lambda x: repeat(x, 2, axis) ** 2, value)


@pytest.mark.parametrize("count", [0, [0], np.zeros(1, "uint8")])
@pytest.mark.parametrize("axis", [None, 0, 1])
def test_no_repetitions_leave_nothing_of_any_length(count, axis):
    x = at.dmatrix()
    for y in (repeat(x, count, axis), Repeat(axis)(x, count)):
        assert evaluate(y, {x: np.ones((3, 2))}).shape == np.repeat(np.ones((3, 2)), count, axis).shape
    assert y.type.shape[axis or 0] == 0
    assert Repeat(axis)(tensor(3, 2), count).type.shape == np.repeat(np.ones((3, 2)), count, axis).shape
    assert Repeat(0)(tensor(0, 2), at.lscalar()).type.shape == (0, 2)


def test_repeat_errors():
    x = at.dmatrix()
    with pytest.raises(ValueError, match="exceed 1"):
        repeat(x, at.lmatrix())
    with pytest.raises(TypeError, match="integers"):
        repeat(x, 1.5)
    for wrong in (-1, [-1], [2, -1]):
        for tensor_of in (x, tensor(2, 3)):
            with pytest.raises(ValueError, match="cannot be negative"):
                repeat(tensor_of, wrong, axis=0)
            with pytest.raises(ValueError, match="cannot be negative"):
                Repeat(0)(tensor_of, wrong)
    np.testing.assert_array_equal(evaluate(repeat(x, [3], axis=0), {x: np.ones((1, 2))}), np.ones((3, 2)))


def test_squeeze():
    x = tensor(1, 3, 1)
    agree(squeeze(x), [1.0, 2.0, 3.0], {x: [[[1.0], [2.0], [3.0]]]})
    assert squeeze(x, 0).type.shape == (3, 1) and squeeze(x, (0, -1)).type.shape == (3,)
    assert squeeze(tensor(2, 3)).type.shape == (2, 3)
    with pytest.raises(ValueError, match="non-broadcastable"):
        squeeze(x, 1)


def test_compress_and_one_hot(rng):
    x, c, y = at.dmatrix(), at.lvector(), at.lvector()
    value = rng.normal(size=(3, 4))
    for axis, condition in ((0, [1, 0, 1]), (1, [0, 1]), (None, [1, 0, 0, 0, 0, 1])):
        expected = np.compress(np.array(condition, bool), value, axis)
        np.testing.assert_array_equal(evaluate(compress(c, x, axis), {x: value, c: condition}), expected)
        np.testing.assert_array_equal(evaluate(compress([bool(e) for e in condition], x, axis), {x: value}), expected)
    with pytest.raises(ValueError, match="vector"):
        compress(x, x)
    agree(to_one_hot(y, 4), np.eye(4)[[2, 0, 3]], {y: [2, 0, 3]})
    assert to_one_hot(y, 4, dtype="int8").type.dtype == "int8"


@pytest.mark.parametrize("side", ["left", "right"])
def test_searchsorted(side):
    x, v, order = at.dvector(), at.dmatrix(), at.lvector()
    value = np.array([3.0, 1.0, 2.0, 2.0])
    wanted = np.array([[0.5, 2.0], [2.5, np.nan]])
    agree(
        searchsorted(x, v, side),
        np.searchsorted(np.sort(value), wanted, side),
        {x: np.sort(value), v: wanted},
    )
    given = {x: value, v: wanted, order: np.argsort(value)}
    agree(searchsorted(x, v, side, order), np.searchsorted(value, wanted, side, np.argsort(value)), given)
    assert searchsorted(x, 3).type.ndim == 0
    g = evaluate(grad((searchsorted(x, v).astype("float64") * v).sum(), x), given)
    np.testing.assert_array_equal(g, np.zeros(4))


def test_searchsorted_errors():
    with pytest.raises(ValueError, match="side"):
        SearchsortedOp("other")
    with pytest.raises(ValueError, match="vector"):
        searchsorted(at.dmatrix(), 1)
    with pytest.raises(TypeError, match="integers"):
        searchsorted(at.dvector(), 1, sorter=at.dvector())


@pytest.mark.parametrize("axis", [None, 0, 1, -1])
def test_unique(axis):
    value = np.array([[1.0, 2.0, 1.0], [1.0, 2.0, 1.0], [0.0, 2.0, 0.0]])
    x = at.dmatrix()
    agree(unique(x, axis=axis), np.unique(value, axis=axis), {x: value})
    ours = unique(x, True, True, True, axis=axis)
    theirs = np.unique(value, True, True, True, axis=axis)
    for output, expected in zip(ours, theirs):
        expected = expected if output is ours[0] else expected.reshape(-1)
        np.testing.assert_array_equal(evaluate(output, {x: value}), expected)
    assert unique(tensor(3, 4), axis=0).type.shape == (None, 4)
    assert Unique(axis=0) != Unique()


@pytest.mark.parametrize(
    ("axis", "counts", "is_left"),
    [
        (0, 2, False),
        (1, [3], False),
        (0, [2, 1], False),
        (1, [1, 2, 1], False),
        (None, [1, 2, 1, 3, 1, 1], False),
        (0, [2, 0], True),
        (None, [1, 0, 1, 3, 1, 1], True),
    ],
)
def test_unique_of_what_is_repeated(axis, counts, is_left):
    """Nothing is repeated unless entries are left out, or counts may be too few or too many."""
    value, counts = np.array([[1.0, 2.0, 1.0], [3.0, 2.0, 0.0]]), np.array(counts)
    known, x = at.tensor("float64", (2, 3)), at.dmatrix()
    n = at.TensorType("int64", (None,) * counts.ndim)()
    expected = np.unique(np.repeat(value, counts, axis))

    def compiled(inputs, output):
        f = aesara.function(inputs, output)
        return f, any(isinstance(node.op, Repeat) for node in f.maker.fgraph.toposort())

    f, repeats = compiled([known], unique(Repeat(axis)(known, counts)))
    np.testing.assert_array_equal(f(value), expected)
    assert repeats == is_left
    f, repeats = compiled([x], unique(Repeat(axis)(x, counts)))
    np.testing.assert_array_equal(f(value), expected)
    assert repeats == (is_left or counts.size > 1)
    f, repeats = compiled([x, n], unique(Repeat(axis)(x, n)))
    np.testing.assert_array_equal(f(value, counts), expected)
    assert repeats
    if counts.size > 1:
        with pytest.raises(ValueError):
            compiled([x], unique(Repeat(axis)(x, counts)))[0](value[:1, :2])


def test_index_conversion():
    i, j, dims = at.lvector(), at.lvector(), at.lvector()
    flat = np.array([0, 7, 11])
    for order in "CF":
        positions = np.unravel_index(flat, (3, 4), order)
        ours = unravel_index(i, (3, 4), order)
        for output, expected in zip(ours, positions):
            agree(output, expected, {i: flat})
        agree(ravel_multi_index((i, j), (3, 4), order=order), flat, dict(zip((i, j), positions)))
    with_dims = ravel_multi_index((i, j), dims, mode="wrap")
    given = {i: [4, -1], j: [1, 9], dims: [3, 4]}
    agree(with_dims, np.ravel_multi_index(([4, -1], [1, 9]), (3, 4), mode="wrap"), given)
    m = at.lmatrix()
    agree(ravel_multi_index(m, (3, 4)), np.array([1, 11]), {m: [[0, 2], [1, 3]]})
    with pytest.raises(ValueError):
        evaluate(ravel_multi_index((i, j), (3, 4)), {i: [3], j: [0]})
    for wrong in (UnravelIndex, RavelMultiIndex):
        with pytest.raises(ValueError, match="order"):
            wrong(order="K")
    with pytest.raises(TypeError, match="integers"):
        unravel_index(at.dvector(), (3, 4))
    with pytest.raises(ValueError, match="Length"):
        unravel_index(i, dims)


@pytest.mark.parametrize("shape", [(2, 2), (3, 5), (5, 3), (3, 3, 3), (2, 2, 2, 2)])
def test_fill_diagonal(shape, rng):
    value = rng.normal(size=shape)
    x, v = tensor(*(None,) * len(shape)), at.lscalar()
    expected = value.copy()
    np.fill_diagonal(expected, 7)
    agree(fill_diagonal(x, v), expected, {x: value, v: 7})
    check_gradient(lambda x, v: fill_diagonal(x, v) ** 2, value, 0.5)


@pytest.mark.parametrize("offset", [-9, -2, 0, 1, 3])
def test_fill_diagonal_offset(offset, rng):
    value = rng.normal(size=(3, 4))
    x, o = at.dmatrix(), at.lscalar()
    expected = np.where(np.eye(3, 4, offset, dtype=bool), 7, value)
    agree(fill_diagonal_offset(x, 7, o), expected, {x: value, o: offset})
    check_gradient(lambda x, v: fill_diagonal_offset(x, v, offset) ** 2, value, 0.5)


def test_fill_diagonal_errors():
    with pytest.raises(TypeError, match="2 or more"):
        FillDiagonal()(at.dvector(), 1)
    with pytest.raises(TypeError, match="scalar"):
        fill_diagonal(at.dmatrix(), [1.0])
    with pytest.raises(TypeError, match="fit"):
        fill_diagonal(at.dmatrix(), np.complex128(1j))
    with pytest.raises(ValueError, match="equal"):
        fill_diagonal(tensor(2, 3, 2), 1)
    with pytest.raises(TypeError, match="integer"):
        FillDiagonalOffset()(at.dmatrix(), 1, 1.5)


def test_the_gradient_of_broadcast_to_where_a_length_is_one():
    x, w = at.dmatrix("x"), at.dtensor3("w")
    g = aesara.grad((broadcast_to(x, w.shape) * w).sum(), x)
    weights = np.arange(24.0).reshape(2, 3, 4)
    for mode in ("FAST_COMPILE", "FAST_RUN"):
        f = aesara.function([x, w], g, mode=mode)
        assert (f(np.ones((3, 4)), weights) == weights.sum(axis=0)).all()
        assert (f(np.ones((1, 4)), weights) == weights.sum(axis=(0, 1)).reshape(1, 4)).all()
        assert (f(np.ones((3, 1)), weights) == weights.sum(axis=(0, 2)).reshape(3, 1)).all()
        assert f(np.ones((1, 1)), weights).tolist() == [[weights.sum()]]
        assert f(np.ones((1, 4)), weights[:, :0]).tolist() == [[0.0] * 4]
        assert f(np.ones((0, 4)), weights[:, :0]).shape == (0, 4)


def test_broadcast_to():
    x, n = at.dvector(), at.lscalar()
    y = broadcast_to(x, (2, n))
    assert type(y.owner.op) is BroadcastTo and y.type.shape == (2, None)
    assert BroadcastTo()(at.scalar(), (2, 3)).type.shape == (2, 3) and BroadcastTo()(at.scalar(), ()).type.shape == ()
    found = evaluate(y, {x: [1.0, 2.0], n: 2})
    assert found.flags.writeable
    agree(y, [[1.0, 2.0], [1.0, 2.0]], {x: [1.0, 2.0], n: 2})
    agree(broadcast_to(3, (2, 2)), np.full((2, 2), 3, dtype="int8"))
    scalar = at.dscalar()
    assert broadcast_to(scalar, ()) is scalar
    with pytest.raises(ValueError, match="cannot be broadcast"):
        broadcast_to(tensor(3), (2,))
    with pytest.raises(ValueError, match="cannot be broadcast"):
        broadcast_to(at.dmatrix(), (2,))
    with pytest.raises(ValueError, match="Length"):
        broadcast_to(x, at.lvector())
    check_gradient(lambda x: broadcast_to(x, (3, 2)) ** 2, [1.0, 2.0])
    check_gradient(lambda x: broadcast_to(x, (3, 2, 4)) ** 2, [[1.0], [2.0]], shapes=[(None, 1)])


def test_broadcast_shapes(rng):
    x, v = at.dmatrix(), at.dvector()
    sizes = broadcast_shape(x, v)
    for rows, columns, length in ((2, 3, 3), (2, 1, 3), (2, 3, 1), (0, 1, 0)):
        given = {x: np.zeros((rows, columns)), v: np.zeros(length)}
        found = tuple(int(size) for size in evaluate(list(sizes), given))
        assert found == np.broadcast_shapes((rows, columns), (length,))
    with pytest.raises(AssertionError, match="Could not broadcast"):
        evaluate(list(sizes), {x: np.zeros((2, 3)), v: np.zeros(2)})
    n = at.lscalar()
    known = broadcast_shape_iter([(n, 2), (1, 2)], arrays_are_shapes=True)
    assert known[0] is n and int(known[1].data) == 2
    with pytest.raises(ValueError, match="cannot be broadcast"):
        broadcast_shape(tensor(2), tensor(3))
    value, row = rng.normal(size=(2, 3)), rng.normal(size=3)
    for ours, theirs in zip(broadcast_arrays(x, v), np.broadcast_arrays(value, row)):
        np.testing.assert_array_equal(evaluate(ours, {x: value, v: row}), theirs)


@pytest.mark.parametrize("steps", [0, 1, 2, 5])
def test_spacing(steps):
    n = at.lscalar()
    for length in (n, steps):
        given = {n: steps}
        np.testing.assert_allclose(evaluate(linspace(-1, 2.5, length), given), np.linspace(-1, 2.5, steps), rtol=1e-14)
        np.testing.assert_allclose(
            evaluate(logspace(0, 2, length, 2.0), given), np.logspace(0, 2, steps, base=2), rtol=1e-14
        )
        np.testing.assert_allclose(evaluate(geomspace(1, 100, length), given), np.geomspace(1, 100, steps), rtol=1e-12)
    assert linspace(0, 1, steps).type.shape == (steps,)


def test_bartlett():
    n = at.lscalar()
    for length in (-1, 0, 1, 2, 7):
        agree(bartlett(n), np.bartlett(length), {n: length})
        assert Bartlett()(length).type.shape == np.bartlett(length).shape
    with pytest.raises(TypeError, match="integers"):
        bartlett(1.5)
    with pytest.raises(TypeError, match="scalars"):
        bartlett(at.lvector())


@pytest.mark.parametrize("shape", [(), (1,), (3,), (0,), (2, 1), (2, 3), (1, 1, 3)], ids=str)
@pytest.mark.parametrize("target", [(), (1,), (3,), (0,), (2, 3), (2, 0), (4, 2, 3)], ids=str)
def test_broadcast_to_takes_and_refuses_what_numpy_does(shape, target):
    value = np.arange(np.prod(shape), dtype="int64").reshape(shape)
    known, unknown = at.tensor("int64", shape=shape), at.tensor("int64", shape=(None,) * len(shape))
    try:
        expected = np.broadcast_to(value, target)
    except ValueError:
        with pytest.raises(ValueError):
            broadcast_to(known, target)
        with pytest.raises(ValueError):
            broadcast_to(unknown, target).eval({unknown: value})
    else:
        for x in (known, unknown):
            found = broadcast_to(x, target)
            assert found.type.shape == target
            np.testing.assert_array_equal(found.eval({x: value}), expected)
