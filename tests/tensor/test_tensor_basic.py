"""Tensors made, joined, split and rearranged, with NumPy as the oracle."""

import importlib
import itertools

import numpy as np
import pytest

import aesara
import aesara.scalar as aes
import aesara.tensor as at
from aesara.graph.autodiff import grad
from aesara.graph.basic import Apply
from aesara.graph.fg import FunctionGraph
from aesara.graph.null_type import NullType
from aesara.graph.op import Op
from aesara.tensor.basic import (
    Alloc,
    AllocDiag,
    AllocEmpty,
    ARange,
    Choose,
    ExtractDiag,
    Eye,
    Join,
    MakeVector,
    Nonzero,
    PermuteRowElements,
    Split,
    Tri,
    atleast_Nd,
    default,
    infer_static_shape,
    make_vector,
    register_transfer,
    transfer,
)
from aesara.tensor.elemwise import CAReduce
from aesara.tensor.exceptions import NotScalarConstantError
from aesara.tensor.type_other import NoneConst
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
    assert found.shape == expected.shape
    if output.owner is not None and hasattr(output.owner.op, "infer_shape"):
        check_inferred_shape(output, values)


# Allocation


def test_alloc():
    v, n = at.dvector(), at.lscalar()
    y = at.alloc(v, 2, n)
    assert type(y.owner.op) is Alloc and y.type.shape == (2, None)
    agree(y, [[1.0, 2.0], [1.0, 2.0]], {v: [1.0, 2.0], n: 2})
    assert at.alloc(tensor(3), 2, n).type.shape == (2, 3)
    agree(at.alloc(np.int8(7), 0, 3), np.full((0, 3), 7, dtype="int8"))
    with pytest.raises(TypeError, match="dimensions"):
        at.alloc(v)
    with pytest.raises(TypeError, match="integers"):
        at.alloc(v, 1.5)
    with pytest.raises(ValueError, match="broadcast"):
        at.alloc(tensor(5), 4)
    with pytest.raises(ValueError, match="negative"):
        at.alloc(v, -1)
    with pytest.raises(ValueError):
        evaluate(y, {v: [1.0, 2.0], n: 3})


def test_gradient_of_alloc():
    check_gradient(lambda x: at.alloc(x, 3, 2) ** 2, [1.0, 2.0])
    check_gradient(lambda x: at.alloc(x, 3, 4, 2) ** 2, [[1.0], [2.0], [3.0], [4.0]], shapes=[(None, 1)])
    check_gradient(lambda x: at.alloc(x, 2, 3) ** 2, 1.5)


@pytest.mark.parametrize("name", ["zeros", "ones"])
def test_zeros_and_ones(name):
    ours, theirs = getattr(at, name), getattr(np, name)
    n = at.lscalar()
    agree(ours((2, n)), theirs((2, 3)), {n: 3})
    agree(ours(3, dtype="int8"), theirs(3, dtype="int8"))
    agree(ours(n, dtype=bool), theirs(2, dtype=bool), {n: 2})
    assert ours(()).type.shape == () and ours([2, 3]).type.shape == (2, 3)
    x = at.fmatrix()
    agree(ours(x.shape, dtype="float32"), theirs((2, 0), dtype="float32"), {x: np.zeros((2, 0))})
    like = getattr(at, name + "_like")
    value = np.full((2, 2), np.nan, dtype="float32")
    np.testing.assert_array_equal(evaluate(like(x), {x: value}), theirs((2, 2)))
    assert like(x, dtype="int16").type.dtype == "int16"
    assert like(np.zeros(3), dtype="floatX").type.dtype == "float64"
    with pytest.raises(ValueError, match="Length"):
        ours(at.lvector())


def test_full_and_empty():
    n, x = at.lscalar(), at.lmatrix()
    agree(at.full((2, n), 2.5, dtype="float32"), np.full((2, 3), 2.5, dtype="float32"), {n: 3})
    agree(at.full((2, 2), n), np.full((2, 2), 9), {n: 9})
    value = np.zeros((2, 3), dtype="int64")
    np.testing.assert_array_equal(evaluate(at.full_like(x, 4.0, dtype="float64"), {x: value}), np.full((2, 3), 4.0))
    e = at.empty((2, n), dtype="int8")
    assert e.owner.op == AllocEmpty("int8") and evaluate(e, {n: 3}).shape == (2, 3)
    assert evaluate(at.empty_like(x), {x: value}).dtype == "int64"
    assert not e.owner.op.do_constant_folding(None, e.owner)


def test_a_filled_tensor_is_a_constant_unless_its_memory_is_written_to_or_given_away():
    filled = at.alloc(2.0, 3)
    for use, folded in (
        (lambda x: Split(2)(x, 0, [1, 2])[0], True),
        (lambda x: at.sum(x), True),
        (lambda x: at.set_subtensor(x[:1], 1.0), False),
        (lambda x: x, False),
    ):
        fgraph = FunctionGraph([], [use(filled)], clone=True)
        (node,) = (n for n in fgraph.apply_nodes if isinstance(n.op, Alloc))
        assert node.op.do_constant_folding(fgraph, node) is folded


# Scalars in vectors, joining, splitting


def test_make_vector():
    n, x = at.iscalar(), at.dscalar()
    v = MakeVector("float64")(n, x, 3)
    agree(v, [1.0, 2.5, 3.0], {n: 1, x: 2.5})
    assert v.type.shape == (3,) and at.get_vector_length(v) == 3
    agree(make_vector(1, 2), np.array([1, 2]))
    agree(MakeVector("int8")(), np.zeros(0, dtype="int8"))
    with pytest.raises(TypeError, match="upcastable"):
        MakeVector("int64")(n, 1.5)
    with pytest.raises(ValueError, match="scalars"):
        MakeVector("int64")(at.lvector())
    check_gradient(lambda x, y: MakeVector("float64")(x, y, x * y), 2.0, 3.0)


def test_tensors_of_sequences():
    n, x, v = at.lscalar(), at.dmatrix(), at.dvector()
    assert type(at.as_tensor_variable([n, 1]).owner.op) is MakeVector
    agree(at.as_tensor_variable((n, 2.5)), [4.0, 2.5], {n: 4})
    agree(at.as_tensor_variable([[n, 1], [2, n]]), [[4, 1], [2, 4]], {n: 4})
    agree(at.as_tensor_variable([v, [1.0, 2.0]]), [[3.0, 4.0], [1.0, 2.0]], {v: [3.0, 4.0]})
    assert at.as_tensor_variable([x, x]).type.ndim == 3
    assert at.as_tensor_variable([]).type.shape == (0,)
    assert at.as_tensor_variable([at.constant(1), at.constant(2)]).owner is None
    assert at.as_tensor_variable([n, 1], dtype="float32").type.dtype == "float32"
    assert at.as_tensor_variable([n, 1], ndim=2).type.shape == (1, 2)


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("symbolic", [True, False])
def test_join(axis, symbolic, rng):
    values = [
        rng.normal(size=(2, 3)),
        rng.normal(size=(2, 3)).astype("float32"),
        np.ones((2, 3), dtype="int8"),
    ]
    inputs = [at.TensorType(str(value.dtype), shape=(None, None))() for value in values]
    given = dict(zip(inputs, values))
    dimension = axis
    if symbolic:
        dimension = at.lscalar()
        given[dimension] = axis
    y = at.join(dimension, *inputs)
    assert type(y.owner.op) is Join
    agree(y, np.concatenate(values, axis=axis), given)


def test_shapes_of_joined_tensors():
    x, y = tensor(2, 3), tensor(None, 3)
    assert at.join(0, x, x).type.shape == (4, 3)
    assert at.join(0, x, y).type.shape == (None, 3)
    assert at.join(1, tensor(None, 3), tensor(2, None)).type.shape == (2, None)
    assert at.join(at.lscalar(), x, x).type.shape == (None, None)
    assert at.join(0, at.row(), at.row()).type.shape == (2, None)
    assert at.get_vector_length(at.concatenate([x.shape, y.shape])) == 4
    assert at.join(0, x) is x
    assert at.join(-1, x, x).owner.inputs[0].data == 1


def test_what_cannot_be_joined():
    x, v = at.dmatrix(), at.dvector()
    with pytest.raises(TypeError, match="same number"):
        at.join(0, x, v)
    with pytest.raises(TypeError, match="scalars"):
        at.join(0, at.dscalar(), at.dscalar())
    with pytest.raises(ValueError, match="out of range"):
        at.join(2, x, x)
    with pytest.raises(ValueError, match="differ"):
        at.join(0, tensor(2, 3), tensor(2, 4))
    with pytest.raises(ValueError, match="empty"):
        at.concatenate([])
    with pytest.raises(TypeError, match="brackets"):
        at.concatenate(x)
    with pytest.raises(TypeError, match="integer"):
        at.join(1.5, x, x)
    with pytest.raises(ValueError):
        evaluate(at.join(0, x, x * 1.0), {x: np.ones((2, 2))}) and evaluate(
            at.join(0, x, at.ones((2, 3))), {x: np.ones((2, 2))}
        )


def test_gradient_of_join(rng):
    values = [rng.normal(size=(2, 3)), rng.normal(size=(2, 1))]
    check_gradient(lambda x, y: at.join(1, x, y) ** 2, *values)
    check_gradient(lambda x: at.join(0, x, x) ** 2, values[0], shapes=[(2, 3)])
    x, y = at.fmatrix(), at.dmatrix()
    g = grad(at.join(0, x, y).sum(), [x, y])
    assert [entry.type.dtype for entry in g] == ["float32", "float64"]


def test_join_returns_the_only_tensor_that_is_not_empty():
    x, y = at.dvector(), at.dvector()
    op = Join(view=0)
    value = np.arange(3.0)
    assert evaluate(op(0, x, y), {x: value, y: np.zeros(0)}) is value
    assert op.view_map == {0: [1]} and Join() != op
    z = at.dvector()
    for view, lengths in itertools.product(range(3), itertools.product((0, 2), repeat=3)):
        values = [k + np.arange(float(n)) for k, n in enumerate(lengths)]
        joined = evaluate(Join(view=view)(0, x, y, z), dict(zip((x, y, z), values)))
        np.testing.assert_array_equal(joined, np.concatenate(values))
        assert (joined is values[view]) == (sum(lengths) == lengths[view])


def test_split(rng):
    value = rng.normal(size=(2, 6))
    x, sizes = at.dmatrix(), at.lvector()
    pieces = at.split(x, sizes, 3, axis=1)
    given = {x: value, sizes: [1, 0, 5]}
    for piece, expected in zip(pieces, np.split(value, [1, 1], axis=1)):
        agree(piece, expected, given)
    known = at.split(tensor(2, 6), [2, 4], 2, axis=-1)
    assert [piece.type.shape for piece in known] == [(2, 2), (2, 4)]
    assert at.split(x, [6], 1, axis=1).type.shape == (None, 6)
    with pytest.raises(ValueError, match="sum up"):
        at.split(tensor(2, 6), [2, 3], 2, axis=1)
    with pytest.raises(ValueError, match="sizes"):
        at.split(x, [1, 2, 3], 2)
    with pytest.raises(ValueError, match="sum up"):
        evaluate(pieces[0], {x: value, sizes: [1, 1, 1]})
    with pytest.raises(ValueError, match="negative"):
        evaluate(pieces[0], {x: value, sizes: [-1, 1, 6]})
    with pytest.raises(TypeError):
        Split(2)(x, 0, [1.5, 2.5])
    check_gradient(lambda x: at.split(x, [2, 4], 2, axis=1)[1] ** 2, value)


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -3])
def test_stack(axis, rng):
    values = [rng.normal(size=(2, 3)) for _ in range(3)]
    x, y, z = at.dmatrix(), at.dmatrix(), tensor(2, 3)
    agree(at.stack([x, y, z], axis=axis), np.stack(values, axis=axis), dict(zip((x, y, z), values)))


def test_stack_of_scalars_and_errors():
    n, x, v = at.lscalar(), at.dmatrix(), at.dvector()
    assert type(at.stack([n, 1]).owner.op) is MakeVector
    assert at.stack([x, x], 1).type.shape == (None, 2, None)
    with pytest.warns(DeprecationWarning):
        assert at.stack(x, x).type.ndim == 3
    with pytest.raises(ValueError, match="at least one"):
        at.stack([])
    with pytest.raises(IndexError, match="out of bounds"):
        at.stack([x, x], axis=3)
    with pytest.raises(ValueError, match="same shape"):
        at.stack([x, v])
    with pytest.raises(TypeError, match="unknown"):
        at.stack([x], axes=0)
    agree(at.stacklists([[n, 1], [2, n]]), [[5, 1], [2, 5]], {n: 5})
    value = np.ones((2, 2))
    agree(at.horizontal_stack(x, x), np.hstack([value, value]), {x: value})
    agree(at.vertical_stack(x, x), np.vstack([value, value]), {x: value})
    with pytest.raises(ValueError, match="two dimensions"):
        at.horizontal_stack(v, v)


# Ranges, identity and triangles


@pytest.mark.parametrize(
    ("start", "stop", "step"),
    [
        (0, 5, 1),
        (2, 9, 3),
        (9, 2, -3),
        (3, 3, 1),
        (5, 2, 1),
        (-7, 7, 5),
        (0, 1, 0.25),
        (1, 0, -0.3),
        (2.5, 9, 2),
    ],
)
def test_arange(start, stop, step):
    expected = np.arange(start, stop, step)
    y = at.arange(start, stop, step)
    assert y.type.shape == expected.shape
    np.testing.assert_array_equal(evaluate(y), expected.astype(y.type.dtype))
    dtype = "float64" if expected.dtype.kind == "f" else "int64"
    variables = [at.TensorType(dtype, shape=())() for _ in range(3)]
    agree(at.arange(*variables), expected, dict(zip(variables, (start, stop, step))))


def test_arange_of_one_argument_and_dtypes():
    n, b = at.lscalar(), at.bscalar()
    agree(at.arange(n), np.arange(4), {n: 4})
    agree(at.arange(n), np.arange(0), {n: -4})
    agree(at.arange(100, b, -50), np.array([100, 50, 0, -50]), {b: -100})
    assert at.arange(5).type.dtype == "int64"
    assert at.arange(b, at.iscalar()).type.dtype == "int64"
    assert at.arange(at.fscalar()).type.dtype == "float32"
    assert at.arange(n, dtype="int8").type.dtype == "int8"
    assert at.arange(5, dtype="int8").owner.op == ARange("int8")
    with pytest.raises(ValueError, match="zero"):
        at.arange(0, 5, 0)
    with pytest.raises(TypeError, match="scalar"):
        at.arange(at.lvector())
    with pytest.raises(ValueError, match="finite"):
        at.arange(0, np.inf)


@pytest.mark.parametrize("floatX", ["float32", "float64"])
def test_dtypes_of_arange_as_numpy_has_them(floatX):
    with aesara.config.change_flags(cast_policy="numpy+floatX", floatX=floatX):
        for dtype in ("int8", "float32", "float64"):
            bounds = [at.scalar(dtype=dtype) for _ in range(3)]
            numbers = np.array([1, 7, 2], dtype)
            expected = np.arange(*numbers)
            narrow = floatX == "float32" and dtype == "float32"
            found = aesara.function(bounds, at.arange(*bounds))(*numbers)
            assert found.dtype == ("float32" if narrow else expected.dtype)
            np.testing.assert_array_equal(found, expected)


def test_gradient_of_arange():
    check_gradient(lambda a, d: at.arange(a, 4.8, d) ** 2, 0.1, 0.7)


@pytest.mark.parametrize("make", [at.eye, at.tri])
def test_sizes_of_eye_and_triangles_have_no_gradient(make):
    sizes = at.lscalars("n", "m", "k")
    gradients = make(*sizes).owner.op.grad(sizes, [at.dmatrix()])
    assert [isinstance(gradient.type, NullType) for gradient in gradients] == [True] * 3


def test_eye_and_triangles(rng):
    n, m, k = at.lscalar(), at.lscalar(), at.lscalar()
    given = {n: 3, m: 4, k: -1}
    agree(at.eye(n, m, k), np.eye(3, 4, -1), given)
    agree(at.eye(3, dtype="int8"), np.eye(3, dtype="int8"))
    agree(at.tri(n, m, k, dtype="int8"), np.tri(3, 4, -1, dtype="int8"), given)
    assert at.eye(2).owner.op == Eye() and at.eye(2, 3).type.shape == (2, 3)
    assert at.tri(2).owner.op == Tri("float64")
    x = at.dmatrix()
    value = np.full((3, 4), np.nan)
    for offset in (-1, 0, 2):
        np.testing.assert_array_equal(evaluate(at.tril(x, offset), {x: value}), np.tril(value, offset))
        np.testing.assert_array_equal(evaluate(at.triu(x, offset), {x: value}), np.triu(value, offset))
        for ours, theirs in zip(at.tril_indices(n, offset, m), np.tril_indices(3, offset, 4)):
            np.testing.assert_array_equal(evaluate(ours, given), theirs)
        for ours, theirs in zip(at.triu_indices_from(x, offset), np.triu_indices(3, offset, 4)):
            np.testing.assert_array_equal(evaluate(ours, {x: value}), theirs)
    np.testing.assert_array_equal(evaluate(at.identity_like(x), {x: value}), np.eye(3, 4))
    batch = at.dtensor3()
    data = rng.normal(size=(2, 3, 3))
    np.testing.assert_array_equal(evaluate(at.triu(batch, 1), {batch: data}), np.triu(data, 1))
    with pytest.raises(TypeError, match="integer"):
        at.eye(1.5)
    with pytest.raises(ValueError, match="two dimensional"):
        at.tril_indices_from(batch)


def test_grids():
    for ours, theirs in zip(at.mgrid[0:3, 1:5:2], np.mgrid[0:3, 1:5:2]):
        np.testing.assert_array_equal(evaluate(ours), theirs)
    for ours, theirs in zip(at.ogrid[0:3, 1:5:2], np.ogrid[0:3, 1:5:2]):
        agree(ours, theirs)
    with pytest.raises(NotImplementedError):
        at.mgrid[0:1:5j]


# Casting, choosing


def test_cast():
    x, z = at.dmatrix(), at.zvector()
    assert at.cast(x, "float64") is x and at.cast(x, "floatX") is x
    agree(at.cast(x, np.int8), np.array([[1, -2]], dtype="int8"), {x: [[1.7, -2.2]]})
    assert at.cast(x, bool).type.dtype == "bool"
    with pytest.raises(TypeError, match="ambiguous"):
        at.cast(z, "float64")
    with pytest.raises(TypeError):
        at.cast(x, "U3")


def test_switch_and_fill():
    c, x = at.bvector(), at.dvector()
    given = {c: [1, 0, 1], x: [1.0, np.nan, 3.0]}
    np.testing.assert_array_equal(evaluate(at.where(c, x, -0.0), given), [1.0, -0.0, 3.0])
    np.testing.assert_array_equal(evaluate(at.second(c, x), given), given[x])
    np.testing.assert_array_equal(evaluate(at.fill(x, 2), given), [2, 2, 2])
    np.testing.assert_array_equal(evaluate(at.tensor_copy(x), given), given[x])


def test_default():
    x, y = at.dvector(), at.dvector()
    node = default(x, y).owner
    storage = [[None]]
    value = np.ones(2)
    node.op.perform(node, [None, value], storage)
    assert storage[0][0] is not value and list(storage[0][0]) == [1, 1]
    with pytest.raises(TypeError, match="same type"):
        default(x, at.lvector())


@pytest.mark.parametrize("mode", ["raise", "wrap", "clip"])
def test_choose(mode):
    choices = np.arange(12.0).reshape(4, 3)
    positions = np.array([3, 0, 1]) if mode == "raise" else np.array([5, -1, 1])
    a, c = at.lvector(), at.dmatrix()
    agree(at.choose(a, c, mode=mode), np.choose(positions, choices, mode=mode), {a: positions, c: choices})
    matrix = at.lmatrix()
    agree(
        at.choose(matrix, c, mode=mode),
        np.choose(positions[None].T, choices, mode=mode),
        {matrix: positions[None].T, c: choices},
    )


@pytest.mark.parametrize("mode", ["FAST_COMPILE", "FAST_RUN"])
def test_the_gradient_of_choose_where_a_length_turns_out_to_be_one(mode, rng):
    a, c, w = at.lmatrix(), at.dtensor3(), at.dmatrix()
    gradient = aesara.function([a, c, w], aesara.grad((at.choose(a, c) * w).sum(), c), mode=mode)
    shapes = [(2, 3), (1, 3), (2, 1), (1, 1), (0, 3), (2, 0)]
    for of_a, of_c in itertools.product(shapes, shapes):
        try:
            shape = np.broadcast_shapes(of_a, of_c)
        except ValueError:
            continue
        which, weights = rng.integers(0, 4, of_a), rng.integers(1, 9, shape).astype("float64")
        expected = np.where(np.arange(4)[:, None, None] == which, weights, 0)
        repeated = tuple(axis for axis in (1, 2) if of_c[axis - 1] == 1)
        found = gradient(which, np.ones((4, *of_c)), weights)
        np.testing.assert_array_equal(found, expected.sum(axis=repeated, keepdims=True))


def test_choose_errors():
    a, c = at.lvector(), at.dmatrix()
    gradient = aesara.function([a, c], aesara.grad(at.choose(a, c).sum(), c))  # computed without the chosen
    assert gradient([1, 1], np.ones((2, 1))).tolist() == [[0.0], [2.0]]
    for wrong in ([4], [2], [0, -1]):
        with pytest.raises(ValueError, match="out of range"):
            evaluate(at.choose(a, c), {a: wrong, c: np.ones((2, 1))})
        with pytest.raises(ValueError, match="out of range"):
            gradient(wrong, np.ones((2, 1)))
    with pytest.raises(TypeError, match="integers"):
        at.choose(at.dvector(), c)
    with pytest.raises(ValueError, match="mode"):
        Choose("other")


@pytest.mark.parametrize(
    "value", [np.array([0.0, 2.0, np.nan, -0.0]), np.array([[0, 1], [3, 0]]), np.zeros((2, 0))], ids=str
)
def test_nonzero(value):
    x = at.TensorType(str(value.dtype), shape=(None,) * value.ndim)()
    for ours, theirs in zip(at.nonzero(x), np.nonzero(value)):
        agree_value = evaluate(ours, {x: value})
        np.testing.assert_array_equal(agree_value, theirs)
        assert agree_value.dtype == "int64" and type(ours.owner.op) is Nonzero
    np.testing.assert_array_equal(evaluate(at.nonzero(x, return_matrix=True), {x: value}), np.stack(np.nonzero(value)))
    np.testing.assert_array_equal(evaluate(at.flatnonzero(x), {x: value}), np.flatnonzero(value))
    np.testing.assert_array_equal(evaluate(at.nonzero_values(x), {x: value}), value[np.nonzero(value)])
    with pytest.raises(ValueError, match="non-scalar"):
        at.nonzero(at.dscalar())


# Rearranging


def test_flatten(rng):
    value = rng.normal(size=(2, 3, 4))
    x = at.dtensor3()
    for ndim in (1, 2, 3):
        expected = value.reshape((*value.shape[: ndim - 1], -1))
        np.testing.assert_array_equal(evaluate(at.flatten(x, ndim), {x: value}), expected)
    assert at.flatten(tensor(2, 3, 4), 2).type.shape == (2, 12)
    assert at.flatten(tensor(None, 3, 4), 2).type.shape == (None, 12)
    assert at.flatten(at.dscalar()).type.shape == (1,)
    assert at.is_flat(at.dvector()) and at.is_flat(x, 3) and not at.is_flat(x)
    for wrong in (0, 4):
        with pytest.raises(ValueError, match="out of bound"):
            at.flatten(x, wrong)


def test_axes(rng):
    value = rng.normal(size=(2, 3, 4))
    x = tensor(2, 3, 4)
    x.name = "x"
    given = {x: value}
    agree(at.transpose(x), value.T, given)
    assert at.transpose(x).name == "x.T"
    agree(at.transpose(x, (1, -1, 0)), value.transpose(1, 2, 0), given)
    agree(at.moveaxis(x, 0, -1), np.moveaxis(value, 0, -1), given)
    agree(at.moveaxis(x, (0, 2), (1, 0)), np.moveaxis(value, (0, 2), (1, 0)), given)
    agree(at.swapaxes(x, 0, -1), np.swapaxes(value, 0, -1), given)
    agree(at.expand_dims(x, (0, -1)), np.expand_dims(value, (0, -1)), given)
    agree(at.expand_dims(x, 1), np.expand_dims(value, 1), given)
    with pytest.raises(ValueError):
        at.transpose(x, (0, 1))
    with pytest.raises(ValueError):
        at.transpose(x, (0, 1, 1))
    with pytest.raises(ValueError, match="out of bounds"):
        at.swapaxes(x, 0, 3)
    with pytest.raises(ValueError, match="same number"):
        at.moveaxis(x, (0, 1), 0)


def test_atleast():
    v = tensor(3)
    assert atleast_Nd(v, n=3).type.shape == (1, 1, 3)
    assert atleast_Nd(v, n=2, left=False).type.shape == (3, 1)
    assert [y.type.ndim for y in atleast_Nd(v, at.dtensor3(), n=2)] == [2, 3]


@pytest.mark.parametrize("shift", [0, 1, -2, 7, -11])
@pytest.mark.parametrize("axis", [None, 0, 1, -1])
@pytest.mark.parametrize("known", [True, False])
def test_roll(shift, axis, known, rng):
    value = rng.normal(size=(3, 4))
    x, s = tensor(3, 4) if known else at.dmatrix(), at.lscalar()
    expected = np.roll(value, shift, axis=axis)
    np.testing.assert_array_equal(evaluate(at.roll(x, shift, axis=axis), {x: value}), expected)
    np.testing.assert_array_equal(evaluate(at.roll(x, s, axis=axis), {x: value, s: shift}), expected)


def test_roll_of_nothing():
    v = at.dvector()
    assert evaluate(at.roll(v, 2), {v: np.zeros(0)}).shape == (0,)


@pytest.mark.parametrize("reps", [2, (2,), (2, 1), (3, 1, 2), (1, 0), ()])
def test_tile(reps, rng):
    value = rng.normal(size=(2, 3))
    x = at.dmatrix()
    np.testing.assert_array_equal(evaluate(at.tile(x, reps), {x: value}), np.tile(value, reps))
    known = at.tile(tensor(2, 3), reps)
    assert known.type.shape == np.tile(value, reps).shape
    if isinstance(reps, tuple) and reps:
        variables = [at.lscalar() for _ in reps]
        given = {x: value, **dict(zip(variables, reps))}
        np.testing.assert_array_equal(evaluate(at.tile(x, variables), given), np.tile(value, reps))


def test_tile_by_a_vector():
    x, reps = at.dvector(), at.lvector()
    value = np.arange(3.0)
    np.testing.assert_array_equal(evaluate(at.tile(x, reps, ndim=2), {x: value, reps: [2, 2]}), np.tile(value, (2, 2)))
    for fewer in ([3], []):
        found = evaluate(at.tile(x, reps, ndim=2), {x: value, reps: fewer})
        np.testing.assert_array_equal(found, np.tile(value[None], fewer))
    with pytest.raises(AssertionError, match="as many elements as `ndim` says: 2"):
        evaluate(at.tile(x, reps, ndim=2), {x: value, reps: [2, 2, 2]})
    with pytest.raises(ValueError, match="ndim"):
        at.tile(x, reps)
    with pytest.raises(ValueError, match="integer"):
        at.tile(x, (1.5,))
    with pytest.raises(ValueError, match="at least"):
        at.tile(x, (1, 2), ndim=1)


def test_gradients_of_rearranging(rng):
    value = rng.normal(size=(3, 2))
    check_gradient(lambda x: at.flatten(x) ** 2, value)
    check_gradient(lambda x: at.roll(x, 1, axis=0) ** 2, value)
    check_gradient(lambda x: at.tile(x, (2, 2)) ** 2, value)
    check_gradient(lambda x: at.tril(x) ** 2, value)


# Diagonals and permutations


@pytest.mark.parametrize("offset", [-4, -2, -1, 0, 1, 3, 5])
@pytest.mark.parametrize("axes", [(0, 1), (1, 0), (0, 2), (-1, 1)])
def test_extract_diag(offset, axes, rng):
    value = rng.normal(size=(3, 4, 2))
    x = at.dtensor3()
    if offset >= value.shape[axes[1]] or -offset >= value.shape[axes[0]]:
        assert evaluate(at.diagonal(x, offset, *axes), {x: value}).shape[-1] == 0
    agree(at.diagonal(x, offset, *axes), np.diagonal(value, offset, *axes), {x: value})
    assert at.diagonal(tensor(3, 4, 2), offset, *axes).type.shape == np.diagonal(value, offset, *axes).shape
    check_gradient(lambda x: at.diagonal(x, offset, *axes) ** 2, value[:, :3])


def test_diagonals_as_views():
    x, value = at.dmatrix(), np.ones((2, 2))
    view = ExtractDiag(view=True)
    assert view.view_map == {0: [0]}
    assert np.shares_memory(evaluate(view(x), {x: value}), value)
    assert not np.shares_memory(evaluate(ExtractDiag()(x), {x: value}), value)
    with pytest.raises(ValueError, match="2 or more"):
        at.diagonal(at.dvector())
    with pytest.raises(ValueError, match="same"):
        at.diagonal(x, 0, 1, -1)


@pytest.mark.parametrize("offset", [-2, 0, 1])
def test_alloc_diag(offset, rng):
    v, x = at.dvector(), at.dmatrix()
    value = rng.normal(size=3)
    agree(at.diag(v, offset), np.diag(value, offset), {v: value})
    check_gradient(lambda v: at.diag(v, offset) ** 2, value)
    batch = rng.normal(size=(2, 3))
    y = AllocDiag(offset, 0, 2)(x)
    found = evaluate(y, {x: batch})
    np.testing.assert_array_equal(np.diagonal(found, offset, 0, 2), batch)
    assert np.count_nonzero(found) == batch.size
    check_inferred_shape(y, {x: batch})
    agree(at.diag(x), np.diag(batch), {x: batch})
    with pytest.raises(ValueError, match="at least one"):
        at.diag(at.dscalar())


def test_permutations(rng):
    value = rng.normal(size=(2, 4))
    x, p, m = at.dmatrix(), at.lvector(), at.lmatrix()
    permutation = np.array([2, 0, 3, 1])
    y = at.permute_row_elements(x, p)
    assert type(y.owner.op) is PermuteRowElements
    agree(y, value[:, permutation], {x: value, p: permutation})
    inverse = at.permute_row_elements(y, p, inverse=1)
    agree(inverse, value, {x: value, p: permutation})
    rows = np.array([[1, 0, 2, 3], [3, 2, 1, 0]])
    agree(at.permute_row_elements(x, m), np.take_along_axis(value, rows, -1), {x: value, m: rows})
    agree(at.inverse_permutation(p), np.argsort(permutation), {p: permutation})
    check_gradient(lambda x: at.permute_row_elements(x, permutation) ** 2, value)
    check_gradient(lambda x: at.permute_row_elements(x, rows) ** 2, value[0])
    with pytest.raises(TypeError, match="integers"):
        at.permute_row_elements(x, at.dvector())


@pytest.mark.parametrize("axis", [None, 0, 1, -1])
def test_take_along_axis(axis, rng):
    value = rng.normal(size=(3, 4))
    indices = np.array([0, 5, -1]) if axis is None else np.argsort(value, axis=axis)
    x, i = at.dmatrix(), at.TensorType("int64", shape=(None,) * indices.ndim)()
    expected = np.take_along_axis(value, indices, axis)
    np.testing.assert_array_equal(evaluate(at.take_along_axis(x, i, axis), {x: value, i: indices}), expected)
    with pytest.raises(ValueError, match="same number"):
        at.take_along_axis(x, at.ltensor3(), 0)


# Constants in disguise


def test_constant_values():
    n = at.lscalar()
    known = at.get_scalar_constant_value
    assert int(known(5)) == 5 and known(np.float32(2)).dtype == "float32"
    assert int(known(at.constant([2, 2]))) == 2
    assert int(known(at.alloc(3, n))) == 3
    assert int(known(at.constant(3) + 4)) == 7
    assert int(known(at.cast(at.constant(3.7), "int64"))) == 3
    assert int(known(at.second(n, 4))) == 4
    assert int(known(at.stack([n, 8])[1])) == 8
    assert int(known(at.unbroadcast(at.constant([[6]]), 0))) == 6
    assert int(known(at.tensor_from_scalar(aes.ScalarConstant(aes.int64, 9)))) == 9
    # The sign of a zero may be all that a division by it shows.
    for mixed in ([0.0, -0.0], [-0.0, 0.0], [0.0, complex(0.0, -0.0)]):
        with pytest.raises(NotScalarConstantError, match="differ"):
            known(at.constant(mixed))
        with pytest.raises(NotScalarConstantError):
            known(1 / at.constant(mixed))
    for unknown in (n, n + 1, at.constant([1, 2]), None, at.stack([n, 8])[0]):
        with pytest.raises(NotScalarConstantError):
            known(unknown)
    with pytest.raises(NotScalarConstantError):
        known(at.constant(3) + 4, elemwise=False)
    with pytest.raises(NotScalarConstantError):
        known(at.alloc(3, n), only_process_constants=True)
    assert at.extract_constant(n) is n
    assert known(NoneConst) is None and known(NoneConst, only_process_constants=True) is None


def test_deep_chains_do_not_recurse():
    x = at.constant(np.ones((1, 1)))
    for _ in range(5000):
        x = x.dimshuffle(1, 0)
    assert float(at.get_scalar_constant_value(x)) == 1.0


def test_deep_shape_vectors_do_not_recurse():
    n, x = at.lscalar(), at.dvector()
    v = at.as_tensor_variable([n])
    for _ in range(1500):
        v = at.concatenate([v, [1]])[:2]
    assert at.reshape(x, v).type.ndim == 2


@pytest.mark.parametrize(
    "number",
    [
        True, np.int8(-3), np.uint64(2**63), np.float16(0.1), 1.5, 0.0, -0.0, np.inf, np.nan, np.float32("nan"),
        np.complex64(1 - 2j), complex(0.0, np.nan), complex(np.nan, -0.0),
    ],
)  # fmt: skip
def test_constant_values_are_the_numbers_themselves(number):
    """Of the same dtype and bits, as an array that nothing else holds, whatever the constant is part of."""
    value = np.asarray(number)
    constant = at.constant(value, dtype=value.dtype.name)
    variables = [
        constant,
        constant.dimshuffle("x", "x"),
        at.alloc(constant, at.lscalar()),
        at.second(at.dvector(), constant),
    ]
    if value == value:
        variables += [at.constant(np.full((2, 3), value)), at.constant(np.full((2, 3), value).T)]
    for given in (value, value.copy(), *variables):
        for ask in (at.get_scalar_constant_value, at.extract_constant):
            found = ask(given)
            assert found.dtype == value.dtype and found.shape == () and found.tobytes() == value.tobytes()
            found[...] = 7
            assert value.tobytes() == np.asarray(number).tobytes() == constant.data.tobytes()


def _expressions_of_constants(n, x):
    """Pairs of an expression and whether its value is known without computing it."""
    entries = at.stack([at.constant(3, dtype="int8"), at.constant(100, dtype="int8")])
    for dtype in ("int8", "uint8", "int64", "float32", "float64"):
        a, b = (at.constant(np.array(value).astype(dtype)) for value in (120, 13))
        yield from (
            (f(a, b), True)
            for f in (at.add, at.mul, at.sub, at.maximum, at.true_divide, at.floor_divide, at.lt, at.pow)
        )
        yield from ((f(a), True) for f in (at.sqrt, at.tanh, at.square, at.isnan))
        yield from ((at.cast(a + b, other), True) for other in ("int8", "float32", "bool", "complex64"))
        yield at.alloc(a, n, 1) * at.second(x, b), True
    for f, empty in ((at.sum, True), (at.prod, True), (at.max, False), (at.min, False)):
        yield f(entries), True
        yield f(x.shape[1:]), True
        yield f(x.shape[1:] * at.constant([2], dtype="int64")), True
        yield f(x.shape), False
        yield f(at.constant([1.5, 0.1])), False  # the order of a sum of floats is not fixed
        if empty:
            yield f(x.shape[:0]), True
    yield at.all(entries > 3), False
    yield (x.shape + at.constant([1, 1, 1]))[2], True
    yield (x.shape + at.constant([1, 1, 1]))[0], False
    yield at.constant(np.zeros((0, 2))), False
    yield at.zeros(x.shape[1:]), True
    deep = at.constant(1)
    for depth in range(12):
        deep = deep + 1
        yield deep, depth < 10


def test_what_is_known_is_what_is_computed():
    n, x = at.lscalar(), at.tensor("float64", shape=(None, 3, 4))
    cases = list(_expressions_of_constants(n, x))
    f = aesara.function([n, x], [e for e, _ in cases], mode=aesara.Mode("py", None))
    for (expression, known), value in zip(cases, f(3, np.zeros((2, 3, 4))), strict=True):
        if not known:
            with pytest.raises(NotScalarConstantError):
                at.get_scalar_constant_value(expression)
            continue
        found = at.get_scalar_constant_value(expression)
        assert found.shape == () and found.dtype == expression.type.dtype == value.dtype, expression
        np.testing.assert_array_equal(np.broadcast_to(found, value.shape), value)


def test_infer_static_shape():
    n = at.lscalar()
    sizes, static = infer_static_shape((n, 3, at.constant(2) * 2))
    assert static == (None, 3, 4) and all(size.type.ndim == 0 for size in sizes)
    assert infer_static_shape(4)[1] == (4,)
    assert infer_static_shape(tensor(None, 3).shape)[1] == (None, 3)
    with pytest.raises(TypeError):
        infer_static_shape((1.5,))


def test_transfer(monkeypatch):
    monkeypatch.setattr(importlib.import_module("aesara.tensor.core.transfer"), "_transfers", [])
    x = at.dvector()
    assert transfer(x, "cpu") is x
    with pytest.raises(ValueError, match="transfer"):
        transfer(x, "moon")
    moved = at.dvector()
    register_transfer(lambda var, target: moved if target == "registered" else None)
    assert transfer(x, "registered") is moved
    assert x.transfer("registered") is moved
    assert moved.transfer("cpu") is moved
    with pytest.raises(TypeError):
        register_transfer(3)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_lists_without_numbers_have_the_configured_dtype(dtype):
    with aesara.config.change_flags(floatX=dtype):
        assert [at.as_tensor_variable(x).type.dtype for x in ([], (), [[], []])] == [dtype] * 3
    assert at.as_tensor_variable(np.array([], "int8")).type.dtype == "int8"


def test_ranges_of_a_dtype_are_one_operation():
    n = at.lscalar("n")
    assert at.arange(n).owner.op is at.arange(2, n, dtype="int64").owner.op is not at.arange(n, dtype="int32").owner.op


def test_a_constant_none_stands_for_all_axes():
    x = at.dmatrix("x")
    assert at.max(x, axis=NoneConst).type.ndim == at.sum(x, axis=NoneConst).type.ndim == 0
    assert at.argmax(x, axis=NoneConst).eval({x: [[1.0, 2.0], [4.0, 3.0]]}) == 2


def test_axes_out_of_range_are_index_errors():
    x = at.dmatrix()
    for kind in (IndexError, ValueError):
        with pytest.raises(kind, match="Axis value -3 is out of range for 2"):
            at.join(-3, x, x)
        with pytest.raises(kind, match="Axis value 2 is out of range for 2"):
            at.split(x, [1, 1], 2, axis=2)


@pytest.mark.parametrize("output", [-1, 5, [0, 1]])
def test_a_node_without_its_default_output_is_no_tensor(output):
    class Wrong(Op):
        default_output = output

        def make_node(self, x):
            return Apply(self, [x], [x.type()])

        def perform(self, node, inputs, output_storage):
            raise NotImplementedError

    node = Wrong().make_node(at.dvector())
    with pytest.raises(ValueError, match="gives no tensor: .*default_output"):
        at.as_tensor_variable(node)


def test_numbers_without_dimensions_have_an_axis_0(rng):
    x = at.dscalar("x")
    for axis in (0, -1):
        for result in (at.sum(x, axis=axis), at.max(x, axis=(axis,)), at.prod(x, axis), at.squeeze(x, axis)):
            assert result.type.ndim == 0
            assert evaluate(result, {x: 5.0}) == 5.0
        assert at.squeeze(x, (axis,)).type.ndim == 0
    for axis in (1, -2, (0, 0)):
        with pytest.raises(ValueError, match="out of bounds|repeated"):
            at.sum(x, axis=axis)
    with pytest.raises(np.exceptions.AxisError):
        at.squeeze(x, 1)


def test_names_of_infinite_orders(rng):
    value = rng.normal(size=(3, 4))
    m, v = at.dmatrix("m"), at.dvector("v")
    for name, order in (("inf", np.inf), ("-inf", -np.inf)):
        np.testing.assert_allclose(
            evaluate(at.nlinalg.norm(m, name), {m: value}), np.linalg.norm(value, order), rtol=1e-12
        )
        np.testing.assert_allclose(
            evaluate(at.nlinalg.norm(v, name), {v: value[0]}), np.linalg.norm(value[0], order), rtol=1e-12
        )
    with pytest.raises(ValueError, match="no matrix norm"):
        at.nlinalg.norm(m, "infinite")


def test_text_of_reductions():
    assert str(CAReduce(aes.add)) == "CAReduce{add}"
    assert str(CAReduce(aes.add, axis=(1,))) == "CAReduce{add}{axis=[1]}"
    assert str(CAReduce(aes.add, acc_dtype="float64")) == "CAReduce{add}{acc_dtype=float64}"
    assert str(CAReduce(aes.add, axis=0, acc_dtype="float64")) == "CAReduce{add}{axis=[0], acc_dtype=float64}"


def test_no_positions_among_other_indices():
    x = at.dmatrix("x")
    value = np.ones((2, 3))
    for empty in ([], ()):
        np.testing.assert_array_equal(evaluate(x[:, empty], {x: value}), value[:, empty])
        assert evaluate(x[:, empty], {x: value}).shape == (2, 0)
