"""Shapes as values: reading, stating, changing and forgetting them."""

import numpy as np
import pytest

import aesara
import aesara.scalar as aes
import aesara.tensor as at
from aesara.graph.disconnected_type import DisconnectedType
from aesara.graph.equality import equal_computations
from aesara.graph.fg import FunctionGraph
from aesara.graph.traversal import applys_between
from aesara.tensor.rewriting.shape_feature import ShapeFeature
from aesara.tensor.shape import (
    Reshape,
    Shape,
    Shape_i,
    SpecifyShape,
    Unbroadcast,
    reshape,
    shape,
    shape_i,
    shape_i_op,
    shape_padaxis,
    shape_padleft,
    shape_padright,
    shape_tuple,
    specify_broadcastable,
    specify_shape,
    static_reshape,
    unbroadcast,
)
from aesara.tensor.type_other import NoneConst
from tests.tensor.check_gradient import check_gradient, check_inferred_shape
from tests.tensor.evaluate import evaluate


def tensor(*sizes, dtype="float64"):
    return at.TensorType(dtype, shape=sizes)()


def test_shape():
    x = at.dmatrix()
    s = shape(x)
    assert type(s.owner.op) is Shape and s.type.dtype == "int64" and s.type.shape == (2,)
    np.testing.assert_array_equal(evaluate(s, {x: np.zeros((0, 3))}), [0, 3])
    assert (
        evaluate(shape(at.dscalar()).owner.outputs[0] if shape(at.dscalar()).owner else shape(at.dscalar())).size == 0
    )
    check_inferred_shape(s, {x: np.zeros((2, 3))})
    assert isinstance(s.owner.op.grad([x], [s])[0].type, DisconnectedType)


def test_known_shapes_are_constants():
    np.testing.assert_array_equal(shape(tensor(2, 3)).data, [2, 3])
    np.testing.assert_array_equal(shape(np.zeros((4, 0))).data, [4, 0])
    sizes = shape_tuple(tensor(None, 3))
    assert sizes[0].type.ndim == 0 and sizes[1].type == aes.int64 and sizes[1].data == 3


def test_shape_i():
    x = at.dmatrix()
    assert int(evaluate(Shape_i(1)(x), {x: np.zeros((2, 3))})) == 3
    assert shape_i_op(1) == Shape_i(1)
    assert int(evaluate(shape_i(x, -1), {x: np.zeros((2, 3))})) == 3
    assert int(at.get_scalar_constant_value(Shape_i(1)(tensor(None, 4)))) == 4
    with pytest.raises(TypeError, match="dimension"):
        Shape_i(2)(x)
    with pytest.raises(ValueError):
        Shape_i(-1)


def test_shape_i_asks_the_graph():
    x = at.dmatrix()
    y = x + 1

    class Feature:
        shape_of = {y: ("rows", "columns")}

    class Graph:
        shape_feature = Feature()

    assert shape_i(y, 1, fgraph=Graph()) == "columns"
    graph = FunctionGraph([x], [y], clone=False, features=[ShapeFeature()])
    later = at.exp(at.sin(y)[:, None].T)  # is no part of the graph
    assert equal_computations([shape_i(later, 2, fgraph=graph)], [Shape_i(0)(x)])


def test_specify_shape():
    x, n = at.dmatrix(), at.lscalar()
    y = specify_shape(x, (n, 3))
    assert type(y.owner.op) is SpecifyShape and y.type.shape == (None, 3)
    value = np.arange(6.0).reshape(2, 3)
    assert evaluate(y, {x: value, n: 2}) is value
    with pytest.raises(AssertionError, match=r"Got shape \(2, 3\), expected \(4, 3\)"):
        evaluate(y, {x: value, n: 4})
    check_inferred_shape(y, {x: value, n: 2})
    half = specify_shape(x, (None, 3))
    assert half.owner.inputs[1] is NoneConst
    check_inferred_shape(half, {x: value})
    vector = at.lvector()
    given = at.as_tensor_variable([n, n + 1])
    np.testing.assert_array_equal(evaluate(specify_shape(x, given), {x: value, n: 2}), value)
    with pytest.raises(ValueError, match="must have fixed dimensions. Length"):
        specify_shape(x, vector)


def test_specify_shape_of_what_is_known():
    x = tensor(5, None)
    assert specify_shape(x, (5, None)) is x
    assert specify_shape(x, (None, 2)).type.shape == (5, 2)
    with pytest.raises(ValueError, match="cannot be 4"):
        specify_shape(x, (4, None))
    with pytest.raises(ValueError, match="Expected 2 size"):
        specify_shape(x, (5,))
    with pytest.raises(TypeError, match="integer types"):
        specify_shape(x, (1.5, 2))
    with pytest.raises(ValueError, match="negative"):
        specify_shape(x, (None, -1))


def test_gradient_of_specify_shape():
    check_gradient(lambda x: specify_shape(x, (2, None)) ** 2, np.ones((2, 3)))


@pytest.mark.parametrize("new", [(6,), (3, 2), (-1,), (2, -1), (-1, 1, 3), (1, 6, 1)])
@pytest.mark.parametrize("known", [True, False])
def test_reshape(new, known):
    value = np.arange(6.0).reshape(2, 3)
    x = tensor(2, 3) if known else at.dmatrix()
    y = reshape(x, new)
    assert y.owner.op == Reshape(len(new))
    found = evaluate(y, {x: value})
    np.testing.assert_array_equal(found, value.reshape(new))
    assert np.shares_memory(found, value)
    expected = tuple(size if known or stated != -1 else None for stated, size in zip(new, found.shape))
    assert y.type.shape == expected
    check_inferred_shape(y, {x: value})


@pytest.mark.parametrize("sizes", [(6, 1), (-1, 2), (2, -1), (1, 6)])
def test_reshape_to_symbolic_sizes(sizes):
    value = np.arange(6.0).reshape(2, 3)
    x, n, m = at.dmatrix(), at.lscalar(), at.iscalar()
    given = {x: value, n: sizes[0], m: sizes[1]}
    y = reshape(x, (n, m))
    np.testing.assert_array_equal(evaluate(y, given), value.reshape(sizes))
    check_inferred_shape(y, given)
    half = reshape(x, (n, sizes[1]))
    if sizes[1] != -1:
        assert half.type.shape == (None, sizes[1])
    check_inferred_shape(half, given)
    vector = at.lvector()
    whole = reshape(x, vector, ndim=2)
    np.testing.assert_array_equal(evaluate(whole, {x: value, vector: sizes}), value.reshape(sizes))
    check_inferred_shape(whole, {x: value, vector: np.array(sizes)})


def test_reshape_to_a_scalar_and_from_one():
    x = at.dmatrix()
    assert evaluate(reshape(x, ()), {x: [[2.0]]}).shape == ()
    s = at.dscalar()
    assert reshape(s, (-1,)).type.shape == (1,)
    assert evaluate(reshape(s, (1, 1)), {s: 3.0}).shape == (1, 1)
    assert evaluate(reshape(x, (0, 5)), {x: np.zeros((3, 0))}).shape == (0, 5)


def test_reshape_takes_what_is_known_of_shapes():
    x, p = at.dtensor3(), tensor(None, 3)
    assert reshape(x, p.shape).type.shape == (None, 3)
    assert reshape(x, at.concatenate([p.shape, [4]])).type.shape == (None, 3, 4)
    assert reshape(x, x.shape[1:], ndim=2).type.shape == (None, None)


@pytest.mark.parametrize("lengths", [(-1, 3), (3, -1), (2, 3), (-1,)])
def test_shape_of_reshape_has_the_given_lengths(lengths):
    """Nothing is left to be found out of lengths that are numbers, before any rule has worked on them."""
    x = at.dmatrix()
    (sizes,) = reshape(x, lengths).owner.op.infer_shape(None, reshape(x, lengths).owner, [(x.shape[0], x.shape[1])])
    assert [s.data for s, n in zip(sizes, lengths) if n != -1] == [n for n in lengths if n != -1]
    assert not any(node.op == at.switch for node in applys_between([x], sizes))


def test_what_cannot_be_reshaped():
    x = at.dmatrix()
    with pytest.raises(ValueError, match="Only one"):
        reshape(x, (-1, -1))
    with pytest.raises(ValueError, match="at most one is -1"):
        reshape(x, (2, -2))
    with pytest.raises(TypeError, match="integers"):
        reshape(x, (1.5, 2))
    with pytest.raises(TypeError, match="vector"):
        reshape(x, at.lmatrix())
    with pytest.raises(ValueError, match="ndim"):
        reshape(x, at.lvector())
    with pytest.raises(ValueError, match="Cannot reshape"):
        reshape(tensor(5, 3), (7, 2))
    with pytest.raises(ValueError, match="2 entries"):
        Reshape(1)(x, [2, 3])
    with pytest.raises(ValueError, match="Cannot reshape"):
        evaluate(reshape(x, (7, 2)), {x: np.zeros((2, 3))})
    lengths = at.lvector()
    for mode in ("FAST_RUN", "FAST_COMPILE"):
        f = aesara.function([x, lengths], reshape(x, lengths, ndim=2), mode=mode)
        with pytest.raises(ValueError, match="Shape argument to Reshape has incorrect length: expected 2 .* got 3"):
            f(np.zeros((2, 3)), [1, 2, 3])
        for negative in ([-2, 3], [3, -2], [-1, -5]):
            with pytest.raises(ValueError):
                f(np.zeros((2, 3)), negative)
    with pytest.raises(ValueError, match="-1 or at least 0; one is -2"):
        f(np.zeros((2, 3)), [-2, 3])
    assert static_reshape((None, 3), (2, 3)) == (2, 3)


def test_gradient_of_reshape():
    check_gradient(lambda x: reshape(x, (3, -1)) ** 2, np.arange(6.0).reshape(2, 3))


def test_padding():
    x = tensor(2, 3)
    assert shape_padleft(x, 2).type.shape == (1, 1, 2, 3)
    assert shape_padright(x).type.shape == (2, 3, 1)
    assert shape_padaxis(x, 1).type.shape == (2, 1, 3)
    assert shape_padaxis(x, -1).type.shape == (2, 3, 1)
    with pytest.raises(IndexError):
        shape_padaxis(x, 3)


def test_unbroadcast():
    x = tensor(1, 3, 1)
    y = unbroadcast(x, 0, -1)
    assert y.owner.op == Unbroadcast(0, 2) and y.type.shape == (None, 3, None)
    assert Unbroadcast(1, 9, 17) == Unbroadcast(17, 9, 1, 9)  # in whatever order a set has them
    assert str(Unbroadcast(17, 9, 1)) == "Unbroadcast{1,9,17}"
    assert unbroadcast(x, 1) is x
    assert at.get_vector_length(unbroadcast(tensor(1), 0)) == 1
    assert y.owner.op.grad([x], [y.type("g")])[0].type == x.type
    value = np.ones((1, 3, 1))
    assert evaluate(y, {x: value}) is value
    check_inferred_shape(y, {x: value})
    check_gradient(lambda x: unbroadcast(x, 0, 2) ** 2, value, shapes=[(1, 3, 1)])
    with pytest.raises(ValueError, match="non-existent"):
        unbroadcast(x, 3)
    with pytest.raises(ValueError, match=r"which has 3 dimension\(s\)"):
        Unbroadcast(0, 3)(x)
    with pytest.raises(TypeError):
        Unbroadcast("a")


def test_specify_broadcastable():
    x = at.dmatrix()
    y = specify_broadcastable(x, 0)
    assert y.type.broadcastable == (True, False)
    assert specify_broadcastable(y, 0) is y
    with pytest.raises(AssertionError):
        evaluate(y, {x: np.zeros((2, 3))})
    with pytest.raises(ValueError, match="non-existent"):
        specify_broadcastable(x, 5)


def test_the_length_of_a_shared_vector_is_that_of_its_value():
    n = aesara.shared(np.array([2, 3, 4]))
    assert at.get_vector_length(n) == 3
    n.set_value(np.array([2, 3]))
    assert at.get_vector_length(n) == 2
    assert at.alloc(0.0, *n).eval().shape == (2, 3)
    with pytest.raises(TypeError, match="one dimension"):
        at.get_vector_length(aesara.shared(np.eye(2)))


def test_row_of_specify_shape_keeps_the_other_lengths():
    m, k = at.dmatrix("m"), at.lscalar("k")
    f = aesara.function([m, k], at.specify_shape(m, (None, k))[1])
    (shape,) = [node for node in f.maker.fgraph.apply_nodes if isinstance(node.op, SpecifyShape)]
    assert shape.inputs[0].owner is not None and shape.inputs[0].type.ndim == 1
    assert f(np.ones((2, 3)), 3).shape == (3,)
    with pytest.raises(AssertionError):
        f(np.ones((2, 3)), 4)


def test_wrong_lengths_of_stated_shapes():
    with pytest.raises(TypeError, match="must be integer types or None; got .* of type TensorType"):
        at.specify_shape(at.dvector(), (2.5,))
    with pytest.raises(ValueError, match=r"Expected 2 size\(s\) .* will never match"):
        at.specify_shape(at.dmatrix(), (2,))
