"""Indexing: values, shapes, errors and gradients, with NumPy as the oracle."""

import numpy as np
import pytest

import aesara
import aesara.scalar as aes
import aesara.tensor as at
from aesara.graph.autodiff import grad
from aesara.graph.disconnected_type import DisconnectedType
from aesara.tensor.exceptions import AdvancedIndexingError, NotScalarConstantError
from aesara.tensor.indexing.index_facts import static_slice_length
from aesara.tensor.subtensor import (
    AdvancedIncSubtensor,
    AdvancedIncSubtensor1,
    AdvancedSubtensor,
    AdvancedSubtensor1,
    IncSubtensor,
    Subtensor,
    advanced_inc_subtensor1,
    advanced_set_subtensor1,
    advanced_subtensor1,
    as_index_constant,
    as_index_literal,
    as_index_variable,
    basic_shape,
    get_canonical_form_slice,
    get_constant_idx,
    get_idx_list,
    group_indices,
    inc_subtensor,
    indexed_result_shape,
    set_subtensor,
    slice_len,
    take,
)
from tests.tensor.check_gradient import check_gradient, check_inferred_shape
from tests.tensor.evaluate import evaluate

VALUE = np.arange(4 * 5 * 3, dtype="float64").reshape(4, 5, 3) * 1.5
MASK = np.array([True, False, True, True])
MASK2 = np.arange(20).reshape(4, 5) % 3 == 0

BASIC = [
    (),
    (0,),
    (-1,),
    (np.int8(2),),
    (slice(None),),
    (slice(1, 3),),
    (slice(1, None, 2), slice(None, None, -1)),
    (slice(-3, -1), 2),
    (slice(10, 2, -2), slice(-100, 100), -3),
    (slice(3, 1),),
    (slice(None, 0),),
    (slice(5, None),),
    (..., 0),
    (0, ...),
    (..., slice(None, None, 2)),
    (None,),
    (None, 1, None, ..., None),
    (1, None, slice(2, 4)),
    (1, 2, 0),
    (...,),
]

ADVANCED = [
    ([0, 2, 2],),
    ([],),
    ([[0, 1], [-1, 3]],),
    (np.array([1, 0], dtype="uint8"), slice(1, None)),
    (slice(None), [0, 4]),
    ([0, 1], [2, 3], [0, 0]),
    ([[0], [1]], [2, 3]),
    ([0, 1], slice(None), [2, 0]),
    (0, slice(None), [2, 0]),
    (slice(None), 0, [2, 0]),
    ([0, 1], None, [2, 0]),
    (None, [0, 1]),
    ([0, 1], None),
    (slice(None), [0, 1], [2, 0]),
    (slice(None), None, [0, 1], [2, 0]),
    (..., [0, 1]),
    ([0, 1], ..., [0, 1]),
    (MASK,),
    (MASK2,),
    (MASK2, 0),
    (MASK, slice(1, 4)),
    (slice(None), np.array([True, False, True, False, False])),
    (MASK, [0, 1, 4]),
    (np.zeros((4, 5, 3), dtype=bool),),
    (MASK, 2, ...),
    (slice(None, None, -1), [3, 3], slice(0, 2)),
]


def fully_known(value):
    return at.TensorType(value.dtype, shape=value.shape)()


def unknown(value):
    return at.TensorType(value.dtype, shape=(None,) * value.ndim)()


@pytest.mark.parametrize("index", BASIC + ADVANCED, ids=str)
@pytest.mark.parametrize("make", [unknown, fully_known])
def test_values_and_shapes(index, make):
    x = make(VALUE)
    y = x[index]
    expected = VALUE[index]
    found = evaluate(y, {x: VALUE})
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)
    if make is fully_known:
        assert y.type.shape == expected.shape
    if y is not x and y.owner.op.__class__ in (Subtensor, AdvancedSubtensor):
        check_inferred_shape(y, {x: VALUE})


@pytest.mark.parametrize(
    "index", [[slice(None), slice(None, None, -1)], [slice(1, 3), 0, None], [[0, 2], slice(2, None)]], ids=str
)
def test_a_list_with_a_slice_stands_for_a_tuple(index):
    x = unknown(VALUE)
    np.testing.assert_array_equal(evaluate(x[index], {x: VALUE}), VALUE[tuple(index)])
    changed = VALUE.copy()
    changed[tuple(index)] = 7.0
    np.testing.assert_array_equal(evaluate(set_subtensor(x[index], 7.0), {x: VALUE}), changed)


def symbolic(index, given):
    """The same index with a variable for each part of it."""
    if isinstance(index, slice):
        return slice(*(symbolic(part, given) for part in (index.start, index.stop, index.step)))
    if index is None or index is Ellipsis:
        return index
    value = np.asarray(index, dtype="int64" if np.size(index) == 0 else None)
    variable = at.TensorType(value.dtype, shape=(None,) * value.ndim)()
    given[variable] = value
    return variable


@pytest.mark.parametrize("index", BASIC + ADVANCED, ids=str)
def test_symbolic_indices(index):
    x = unknown(VALUE)
    given = {x: VALUE}
    y = x[tuple(symbolic(entry, given) for entry in index)]
    np.testing.assert_array_equal(evaluate(y, given), VALUE[index])
    if y.owner is not None and isinstance(y.owner.op, Subtensor | AdvancedSubtensor):
        check_inferred_shape(y, given)


@pytest.mark.parametrize("index", BASIC + ADVANCED, ids=str)
@pytest.mark.parametrize("is_set", [True, False])
def test_set_and_inc_subtensor_agree_with_numpy(index, is_set):
    x = unknown(VALUE)
    part_shape = VALUE[index].shape
    expected = VALUE.copy()
    value = np.random.default_rng(0).normal(size=part_shape)
    y = at.TensorType("float64", shape=part_shape)()
    if is_set:
        expected[index] = value
        result = set_subtensor(x[index], y)
    else:
        arrays = [np.array(e, dtype=int) if isinstance(e, list) else e for e in index]
        np.add.at(expected, tuple(arrays), value)
        result = inc_subtensor(x[index], y)
    before = VALUE.copy()
    np.testing.assert_array_equal(evaluate(result, {x: VALUE, y: value}), expected)
    np.testing.assert_array_equal(VALUE, before)
    assert result.type.ndim == 3


@pytest.mark.parametrize("value", [2.5, np.array([1.0, 2.0, 3.0]), np.array([[1.0], [2.0]])], ids=str)
def test_values_broadcast_when_written(value):
    x = unknown(VALUE)
    expected = VALUE.copy()
    expected[1, 2:4] += value
    np.testing.assert_array_equal(evaluate(inc_subtensor(x[1, 2:4], value), {x: VALUE}), expected)
    expected = VALUE.copy()
    expected[[1, 2], 2:4] = value
    np.testing.assert_array_equal(evaluate(set_subtensor(x[[1, 2], 2:4], value), {x: VALUE}), expected)


def test_repeated_positions_add_up_unless_ignored():
    x = at.dvector()
    value = np.zeros(3)
    part = x[[0, 0, 2]]
    np.testing.assert_array_equal(evaluate(inc_subtensor(part, 1.0), {x: value}), [2, 0, 1])
    ignoring = inc_subtensor(part, 1.0, ignore_duplicates=True)
    np.testing.assert_array_equal(evaluate(ignoring, {x: value}), [1, 0, 1])
    np.testing.assert_array_equal(evaluate(set_subtensor(part, [1.0, 2.0, 3.0]), {x: value}), [2, 0, 3])


def test_inplace_writes_to_the_memory_given():
    value = np.zeros(4)
    x = at.dvector()
    for part in (x[1:3], x[[1, 2]]):
        result = set_subtensor(part, 7.0, inplace=True)
        assert result.owner.op.destroy_map == {0: [0]}
        value = np.zeros(4)
        assert evaluate(result, {x: value}) is value
        np.testing.assert_array_equal(value, [0, 7, 7, 0])
    op = AdvancedIncSubtensor1().clone_inplace()
    assert op.inplace and not op.set_instead_of_inc


def test_writing_through_a_transposed_or_reshaped_part():
    value = np.arange(6.0).reshape(2, 3)
    x = at.dmatrix()
    transposed = set_subtensor(x[[0, 1]].T, np.zeros((3, 2)))
    np.testing.assert_array_equal(evaluate(transposed, {x: value}), np.zeros((3, 2)))
    part = x[0].reshape((3, 1))
    result = inc_subtensor(part, np.ones((3, 1)))
    np.testing.assert_array_equal(evaluate(result, {x: value}), value + [[1], [0]])
    broadcast = inc_subtensor(part, np.ones((1, 1)))
    np.testing.assert_array_equal(evaluate(broadcast, {x: value}), value + [[1], [0]])


def test_ops_and_their_inputs():
    x, i = at.dmatrix("x"), at.lscalar("i")
    node = x[1:i, 0].owner
    assert type(node.op) is Subtensor
    assert node.op.idx_list == (slice(aes.int64, aes.int64, None), aes.int64)
    assert node.inputs[0] is x
    assert all(isinstance(scalar.type, aes.ScalarType) for scalar in node.inputs[1:])
    assert node.inputs[1].data == 1 and node.inputs[3].data == 0
    assert str(node.op) == "Subtensor{int64:int64:, int64}"
    write = set_subtensor(x[1:i, 0], 3.0).owner
    assert type(write.op) is IncSubtensor and write.inputs[0] is x
    assert str(write.op) == "IncSubtensor{Set;int64:int64:, int64}"
    taken = x[[0, 1]].owner
    assert type(taken.op) is AdvancedSubtensor and len(taken.inputs) == 2
    assert type(inc_subtensor(x[[0, 1]], 1.0).owner.op) is AdvancedIncSubtensor
    one = advanced_subtensor1(x, [0, 1])
    assert type(one.owner.op) is AdvancedSubtensor1
    assert type(inc_subtensor(one, 1.0).owner.op) is AdvancedIncSubtensor1


def test_ops_are_equal_by_what_they_do():
    i = at.lscalar()
    assert Subtensor([i, slice(None)]) == Subtensor([aes.int64, slice(None)])
    assert hash(Subtensor([i])) == hash(Subtensor([aes.int64]))
    assert Subtensor([i]) != Subtensor([slice(i)])
    assert IncSubtensor([i]) != IncSubtensor([i], inplace=True)
    assert IncSubtensor([i]) != IncSubtensor([i], set_instead_of_inc=True)
    assert AdvancedIncSubtensor1(inplace=True) != AdvancedIncSubtensor1()
    assert AdvancedSubtensor1(sparse_grad=True) == AdvancedSubtensor1()


@pytest.mark.parametrize(
    "index",
    [5, -6, (0, 3), (slice(None), np.int64(-4)), [5], [[0, -6]], (0, [3]), at.constant(7), (..., 1)],
    ids=str,
)
def test_indices_known_to_be_out_of_bounds(index):
    x = at.TensorType("float64", shape=(5, 3, 1))()
    with pytest.raises(IndexError, match="out of bounds"):
        x[index]


@pytest.mark.parametrize("index", [4, [4], (0, -6)], ids=str)
def test_indices_out_of_bounds_when_computed(index):
    x = unknown(VALUE)
    with pytest.raises(IndexError):
        evaluate(x[index], {x: VALUE})


@pytest.mark.parametrize(
    ("index", "error"),
    [
        ((0, 0, 0), IndexError),
        ((np.ones((2, 2, 2), dtype=bool),), IndexError),
        ((..., ...), IndexError),
        (1.5, TypeError),
        (True, TypeError),
        ([True, False], TypeError),
        ("a", TypeError),
        (slice(1.0, None), TypeError),
        (slice(None, None, 0), ValueError),
        (np.array([1.5]), TypeError),
        (at.dscalar(), TypeError),
        (at.dvector(), TypeError),
        (slice(at.dvector(), None), TypeError),
        (([0, 1], [0, 1, 2]), IndexError),
    ],
    ids=str,
)
def test_what_is_no_index(index, error):
    with pytest.raises(error):
        at.dmatrix("x")[index]


def test_masks_must_fit():
    known = at.TensorType("float64", shape=(5, 3))()
    with pytest.raises(IndexError, match="boolean index"):
        known[np.array([True, False])]
    x = at.dmatrix()
    with pytest.raises(IndexError):
        evaluate(x[np.array([True, False])], {x: np.ones((5, 3))})


def test_what_cannot_be_written():
    x, v, w = at.dmatrix("x"), at.dvector("v"), at.lvector("w")
    with pytest.raises(TypeError, match="result of a subtensor"):
        set_subtensor(x, 1.0)
    with pytest.raises(TypeError, match="result of a subtensor"):
        set_subtensor(x + 1, 1.0)
    with pytest.raises(TypeError, match="dimension"):
        set_subtensor(v[0], v)
    with pytest.raises(TypeError, match="complex"):
        set_subtensor(v[0], np.complex128(1j))
    with pytest.raises(TypeError, match="dtype"):
        inc_subtensor(w[0], 1.5)
    with pytest.raises(ValueError):
        inc_subtensor(w[0], 1, tolerate_inplace_aliasing=True)


def test_wrong_index_templates_raise():
    with pytest.raises(TypeError):
        Subtensor([0])
    with pytest.raises(AdvancedIndexingError):
        Subtensor([at.lvector()])
    op, x = Subtensor([aes.int64]), at.dvector()
    with pytest.raises(IndexError, match="takes 1"):
        op(x)
    with pytest.raises(TypeError, match="expected"):
        op(x, at.iscalar())
    with pytest.raises(IndexError, match="too many"):
        op(at.dscalar(), at.lscalar())


GRADIENTS = [
    lambda x: x[1],
    lambda x: x[::-1, 1:],
    lambda x: x[None, ..., 0],
    lambda x: x[[0, 0, 2]],
    lambda x: x[[0, 2], [1, 1]],
    lambda x: x[:, [1, 1]],
    lambda x: x[[[0, 1], [1, 0]], :, None],
    lambda x: x[np.array([True, False, True])],
    lambda x: x[x > 0] ** 2,
    lambda x: advanced_subtensor1(x, [2, 2, 0]),
    lambda x: take(x, [0, 5, 5]),
    lambda x: take(x, [[0, 7], [5, -1]], axis=1, mode="wrap"),
]


@pytest.mark.parametrize("function", GRADIENTS)
def test_gradients_of_taking(function):
    check_gradient(function, np.random.default_rng(1).normal(size=(3, 4)))


WRITES = [
    lambda x, y: inc_subtensor(x[1], y),
    lambda x, y: set_subtensor(x[1:, 0], y[:2]),
    lambda x, y: set_subtensor(x[1], y),
    lambda x, y: set_subtensor(x[:, ::2], y[0]),
    lambda x, y: inc_subtensor(x[[0, 0, 2]], y),
    lambda x, y: set_subtensor(x[[0, 2]], y),
    lambda x, y: set_subtensor(x[[0, 2], [1, 1]], y[:2]),
    lambda x, y: inc_subtensor(x[x > 0], y[1]),
    lambda x, y: advanced_inc_subtensor1(x, y.dimshuffle("x", 0), [1, 1]),
    lambda x, y: advanced_set_subtensor1(x, y.dimshuffle("x", 0), [1]),
]


@pytest.mark.parametrize("function", WRITES)
def test_gradients_of_writing(function):
    rng = np.random.default_rng(2)
    check_gradient(function, rng.normal(size=(3, 4)), rng.normal(size=4))


def test_gradient_with_respect_to_a_column():
    x = np.random.default_rng(3).normal(size=(3, 4))
    check_gradient(lambda x, y: set_subtensor(x[:, 1:], y), x, np.ones((3, 1)), shapes=[(None, None), (None, 1)])


def test_indices_are_disconnected():
    x, i, v = at.dmatrix(), at.lscalar(), at.lvector()
    assert x[i].owner.op.connection_pattern(x[i].owner) == [[True], [False]]
    g = grad(x[i, v].sum(), [v], disconnected_inputs="ignore", return_disconnected="disconnected")
    assert isinstance(g[0].type, DisconnectedType)
    w = set_subtensor(x[i], 1.0).owner
    assert w.op.connection_pattern(w) == [[True], [True], [False]]


def test_gradients_with_respect_to_integers_are_zero():
    w, y = at.lvector(), at.dvector()
    g = grad((w[1:] * y[1:]).sum(), w)
    assert g.type.dtype == "float64"
    np.testing.assert_array_equal(evaluate(g, {w: np.arange(3), y: np.ones(3)}), np.zeros(3))


def test_r_op():
    x, i = at.dmatrix(), at.lscalar()
    point = at.dmatrix()
    for part in (x[i, 1:], x[[0, 1]], advanced_subtensor1(x, [0, 1])):
        (moved,) = part.owner.op.R_op(part.owner.inputs, [point] + [None] * (len(part.owner.inputs) - 1))
        value = np.arange(6.0).reshape(2, 3)
        given = {point: value, i: 1}
        expected = value[1, 1:] if moved.ndim == 1 else value[[0, 1]]
        np.testing.assert_array_equal(evaluate(moved, given), expected)
        assert part.owner.op.R_op(part.owner.inputs, [None] * len(part.owner.inputs)) == [None]


@pytest.mark.parametrize("mode", ["raise", "wrap", "clip"])
@pytest.mark.parametrize("axis", [None, 0, 1, -1])
def test_take(mode, axis):
    value = np.arange(12.0).reshape(3, 4)
    x, i = at.dmatrix(), at.lmatrix()
    positions = np.array([[0, 2], [1, -1]]) if mode == "raise" else np.array([[0, 100], [7, 3]])
    found = evaluate(take(x, i, axis=axis, mode=mode), {x: value, i: positions})
    np.testing.assert_array_equal(found, np.take(value, positions, axis=axis, mode=mode))


def test_take_one_entry():
    x, i = at.dmatrix(), at.lscalar()
    value = np.arange(12.0).reshape(3, 4)
    np.testing.assert_array_equal(evaluate(take(x, i, axis=0), {x: value, i: 2}), value[2])
    with pytest.raises(ValueError, match="mode"):
        take(x, i, mode="other")


@pytest.mark.parametrize("length", [0, 1, 4])
def test_lengths_of_slices(length):
    n = at.lscalar("n")
    parts = [at.lscalar(name) for name in ("start", "stop", "step")]
    symbolic = slice(*parts)
    computed = {
        "whole": slice_len(symbolic, n),
        "canonical": get_canonical_form_slice(symbolic, n),
    }
    bounds, direction = computed["canonical"]
    outputs = [computed["whole"], bounds.start, bounds.stop, bounds.step, direction]
    outputs = [at.as_tensor_variable(output) for output in outputs]
    data = np.arange(length)
    for start in (-5, -1, 0, 2, 6):
        for stop in (-6, -2, 0, 3, 5):
            for step in (-3, -1, 1, 2):
                expected = data[start:stop:step]
                given = {n: length, **dict(zip(parts, (start, stop, step)))}
                size, first, last, stride, sign = (int(value) for value in evaluate(outputs, given))
                assert size == len(expected)
                assert 0 <= first and stride > 0
                np.testing.assert_array_equal(data[first:last:stride][::sign], expected)
                known, sign = get_canonical_form_slice(slice(start, stop, step), length)
                np.testing.assert_array_equal(data[known][::sign], expected)
                assert slice_len(slice(start, stop, step), length) == len(expected)
                static = static_slice_length(slice(start, stop, step), None)
                assert static is None or static == len(expected)
                half, sign = get_canonical_form_slice(slice(start, stop, step), n)
                half = [
                    int(p) if isinstance(p, int) else int(evaluate(p, {n: length}))
                    for p in (half.start, half.stop, half.step)
                ]
                np.testing.assert_array_equal(data[slice(*half)][::sign], expected)


@pytest.mark.parametrize("bound", [None, -1, 2])
def test_lengths_of_slices_with_parts_left_out(bound):
    n = at.lscalar("n")
    data = np.arange(4)
    for slc in (slice(bound, None), slice(None, bound), slice(bound, None, -1), slice(None, bound, -2)):
        size = at.as_tensor_variable(slice_len(slc, n))
        assert int(evaluate(size, {n: 4})) == len(data[slc])


def test_canonical_integers():
    i, n = at.lscalar(), at.lscalar()
    index, direction = get_canonical_form_slice(i, n)
    assert direction == 1
    assert [int(evaluate(index, {i: value, n: 5})) for value in (-1, 3)] == [4, 3]


def test_index_forms():
    i = at.lscalar()
    assert as_index_constant(3).type == aes.int64
    assert as_index_constant(slice(1, i)).stop is i
    assert as_index_literal(as_index_variable(slice(1, None))) == slice(1, None)
    assert as_index_literal(at.constant(2)) == 2
    assert as_index_literal(None) is None
    with pytest.raises(NotScalarConstantError):
        as_index_literal(i)
    with pytest.raises(TypeError):
        as_index_variable(at.dvector())
    node = at.dmatrix()[1:3, i].owner
    assert get_idx_list(node.inputs, node.op.idx_list)[1] is node.inputs[3]
    assert get_constant_idx(node.op.idx_list, node.inputs, allow_partial=True)[0] == slice(1, 3)
    with pytest.raises(NotScalarConstantError):
        get_constant_idx(node.op.idx_list, node.inputs)


def test_result_shapes():
    v = at.lvector()
    assert [basic for basic, _ in group_indices((v, slice(None), v))] == [False, True, False]
    sizes = indexed_result_shape((at.lscalar(), at.lscalar()), (v, slice(1, 3)))
    assert len(sizes) == 2
    assert as_index_literal(basic_shape((5, 4), (slice(1, 3),))[0]) == 2
    shapes = indexed_result_shape((7, 8), ((2, 3), slice(None)), indices_are_shapes=True)
    assert [int(getattr(size, "data", size)) for size in shapes] == [2, 3, 8]


def test_lengths_of_indexed_vectors_are_known():
    x, n = at.dtensor3(), at.lscalar()
    assert at.get_vector_length(x.shape[1:]) == 2
    assert at.get_vector_length(x.shape[::-1]) == 3
    assert at.get_vector_length(at.as_tensor_variable([1, n, 2])[:2]) == 2
    known = at.TensorType("float64", shape=(None, 3))()
    assert int(at.get_scalar_constant_value(known.shape[1])) == 3
    with pytest.raises(NotScalarConstantError):
        at.get_scalar_constant_value(known.shape[0])


def test_views_and_copies():
    value = np.arange(4.0)
    x = at.dvector()
    assert np.shares_memory(evaluate(x[1:], {x: value}), value)
    assert np.shares_memory(evaluate(x[1], {x: value}), value)
    assert not np.shares_memory(evaluate(x[[1]], {x: value}), value)
    matrix = at.dmatrix()
    row = AdvancedSubtensor()(matrix, at.constant(np.array(1)))
    assert not np.shares_memory(evaluate(row, {matrix: np.ones((2, 2))}), value)


def test_dtypes_of_what_is_written():
    f = at.fvector()
    value = np.zeros(3, dtype="float32")
    assert evaluate(inc_subtensor(f[0], at.constant(1.0, dtype="float64")), {f: value}).dtype == "float32"
    w = at.bvector()
    result = evaluate(inc_subtensor(w[[0, 0]], 1), {w: np.zeros(2, dtype="int8")})
    assert result.dtype == "int8" and list(result) == [2, 0]


def test_positions_are_not_changed_without_a_mode():
    a = at.dvector("a")
    f = aesara.function([a], at.take(a, [2, 0], mode=None))
    assert f([1.0, 2.0, 3.0]).tolist() == [3.0, 1.0]
    with pytest.raises(IndexError):
        f([1.0, 2.0])
    with pytest.raises(ValueError, match=r"'raise' \(or None\), 'wrap' or 'clip'; got 'nearest'"):
        at.take(a, [0], mode="nearest")


def test_graphs_do_not_share_the_constants_of_their_indices():
    v, w = at.dvectors("v", "w")
    first, second = (one[1:].owner.inputs[1] for one in (v, w))
    assert first is not second and first.equals(second)
    first.name = "start"
    assert second.name is None and v[1:].owner.inputs[1].name is None


none = at.type_other.NoneConst
REPEATED = np.array([2, 0, 2])


@pytest.mark.parametrize(
    ("ours", "numpys"),
    [
        (lambda x: x[none:2, none : none : at.constant(-1)], lambda x: x[:2, ::-1]),
        (lambda x: x[at.constant(1) : none, none], lambda x: x[1:, None]),
        (lambda x: x[none, ..., none:3], lambda x: x[None, ..., :3]),
        (lambda x: x[REPEATED, none:3], lambda x: x[REPEATED, :3]),
        (lambda x: x[np.array(1, "uint8") :, : np.array(3)], lambda x: x[1:, :3]),
        (lambda x: x[: at.constant(3) : at.constant(-1)], lambda x: x[:3:-1]),
        (lambda x: at.choose(np.array([[0, 1], [1, 0]]), x[:2, :1]), lambda x: np.choose([[0, 1], [1, 0]], x[:2, :1])),
        (lambda x: at.choose([[0, 1], [1, 0]], x[0, :2]), lambda x: np.choose([[0, 1], [1, 0]], x[0, :2])),
        (
            lambda x: at.piecewise(x[0], x[0] > 0, [lambda v: -v, lambda v: v * 2]),
            lambda x: np.piecewise(x[0], x[0] > 0, [lambda v: -v, lambda v: v * 2]),
        ),
        (
            lambda x: inc_subtensor(x[:, 0][REPEATED], [1.0, 2.0, 3.0], ignore_duplicates=True),
            lambda x: np.array([x[0, 0] + 2, x[1, 0], x[2, 0] + 3]),
        ),
    ],
)
def test_less_common_forms(ours, numpys):
    x = at.dmatrix("x")
    value = np.random.default_rng(1).normal(size=(3, 4))
    for mode in ("FAST_COMPILE", "FAST_RUN"):
        np.testing.assert_array_equal(aesara.function([x], ours(x), mode=mode)(value), numpys(value))
    check_gradient(lambda v: ours(v) * 1.0, value)


@pytest.mark.parametrize("choices", [(2,), (2, 1), (2, 1, 3), (2, 2, 3)])
def test_gradients_of_choices_that_broadcast(choices):
    chosen = np.array([[0, 1, 1], [1, 0, 1]])
    check_gradient(lambda x: at.choose(chosen, x) ** 2, np.random.default_rng(2).normal(size=choices))


x, v, w, s, i = at.dmatrix("x"), at.dvector("v"), at.lvector("w"), at.dscalar("s"), at.lscalar("i")


@pytest.mark.parametrize(
    ("build", "error", "message"),
    [
        (lambda: at.choose(w, s), TypeError, "at least one dimension"),
        (lambda: take(x, [0], axis=2), IndexError, r"axis 2 is out of bounds \[-2, 2\)"),
        (lambda: at.unravel_index(w, at.lmatrix()), TypeError, "`dims` must be a vector"),
        (lambda: at.ravel_multi_index((w,), 5, mode="other"), ValueError, "'raise', 'wrap' or 'clip'; got 'other'"),
        (lambda: advanced_subtensor1(x, v), TypeError, "index must be integers.*float64"),
        (lambda: advanced_subtensor1(x, i), TypeError, r"index must be a vector.*0 dimension\(s\)"),
        (lambda: advanced_subtensor1(s, w), TypeError, "A scalar cannot be indexed"),
        (lambda: advanced_inc_subtensor1(s, s, w), TypeError, "A scalar cannot be indexed"),
        (lambda: advanced_inc_subtensor1(v, x, w), TypeError, "cannot increment x subtensor with ndim=1 by y"),
        (lambda: advanced_set_subtensor1(v, x, w), TypeError, "cannot set x subtensor with ndim=1 by y with ndim=2"),
        (lambda: AdvancedIncSubtensor()(x, x, w, w), TypeError, "a 1-dimensional subtensor with a 2-dimensional value"),
        (lambda: IncSubtensor([aes.int64])(v, x, i), ValueError, r"1 dimension\(s\) with a value of 2"),
        (lambda: at.flatnonzero(s), ValueError, "non-scalar"),
        (lambda: at.take_along_axis(x, x, 0), IndexError, "`indices` must be integers"),
        (lambda: at.permute_row_elements(x, w, v), TypeError, "`inverse` must be an integer scalar"),
        (lambda: slice_len(slice(None, None, 0), 5), ValueError, "step of a slice cannot be zero"),
        (lambda: get_canonical_form_slice(slice(0, 1, 0), 5), ValueError, "step of a slice cannot be zero"),
        (lambda: basic_shape((i, i), ("a",)), ValueError, "Invalid index for basic indexing: 'a'"),
        (lambda: Subtensor(["a"]), AdvancedIndexingError, "Invalid index type"),
    ],
)  # fmt: skip
def test_wrong_indices_raise(build, error, message):
    with pytest.raises(error, match=message):
        build()


def test_integers_and_forms_of_helpers():
    assert get_canonical_form_slice(-2, 5) == (3, 1)
    assert as_index_literal(np.array(4)) == 4
    assert as_index_literal(at.type_other.MakeSlice()(at.constant(1), at.constant(3))) == slice(1, 3, None)
    assert Subtensor.str_from_slice(slice(aes.int64, None)) == "int64::"
    assert at.unravel_index(np.array([1, 2]), 5)[0].eval().tolist() == [1, 2]
    assert at.unravel_index(np.array([1, 2]), at.constant(5))[0].eval().tolist() == [1, 2]
