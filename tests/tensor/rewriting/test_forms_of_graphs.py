"""Forms in which compiled graphs, and rules that are called by themselves, leave expressions."""

import numpy as np
import pytest

import aesara
import aesara.scalar as aes
import aesara.tensor as at
from aesara.compile.mode import Mode, get_mode
from aesara.graph.basic import Constant
from aesara.graph.fg import FunctionGraph
from aesara.raise_op import Assert
from aesara.tensor import inplace
from aesara.tensor.blas import Dot22Scalar, _dot22
from aesara.tensor.creation.allocation import Alloc
from aesara.tensor.elementwise.elemwise import Elemwise
from aesara.tensor.indexing.subtensor_advanced import AdvancedSubtensor, AdvancedSubtensor1
from aesara.tensor.rewriting.blas import local_dot22_to_dot22scalar
from aesara.tensor.rewriting.constants import local_elemwise_alloc
from aesara.tensor.rewriting.shape_feature import ShapeFeature
from aesara.tensor.rewriting.subtensor import local_replace_AdvancedSubtensor, local_subtensor_shape_constant
from aesara.tensor.shapes.broadcasting import BroadcastTo
from aesara.tensor.shapes.dimshuffle import DimShuffle
from aesara.tensor.shapes.reshape import Reshape
from aesara.tensor.shapes.shape import Shape
from aesara.tensor.shapes.specify_shape import Unbroadcast

FAST_RUN = get_mode("FAST_RUN")
REFERENCE = Mode("py", None)


def ops_of(inputs, expression, mode=FAST_RUN):
    f = aesara.function(inputs, expression, mode=mode, on_unused_input="ignore")
    return [node.op for node in f.maker.fgraph.toposort()], f


# Operations in place


def test_operations_in_place_are_what_compiled_graphs_have():
    x = at.dvector("x")
    ops, _ = ops_of([x], at.log1p(at.exp(-x) * x), FAST_RUN.excluding("stabilize", "specialize"))
    assert ops[-1] == inplace.log1p_inplace and inplace.log1p_inplace == ops[-1]
    assert hash(ops[-1]) == hash(inplace.log1p_inplace)
    assert ops[-1] != inplace.exp_inplace and at.log1p != inplace.log1p_inplace and inplace.log1p_inplace != 1


# Logic of bits


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int64"])
def test_bits_that_make_no_difference(dtype):
    x = at.vector("x", dtype=dtype)
    zeros, ones = np.zeros((), dtype), ~np.zeros((), dtype)
    values = np.array([0, 1, 1] if dtype == "bool" else [0, 1, 100], dtype)
    for expression in (x | zeros, zeros ^ x, x & ones, ones & x, x & x):
        ops, f = ops_of([x], expression)
        assert not any(isinstance(op, Elemwise) for op in ops)
        np.testing.assert_array_equal(f(values), values)
    for expression, constant in ((x & zeros, zeros), (ones | x, ones), (x ^ x, zeros)):
        ops, f = ops_of([x], expression)
        assert not any(isinstance(op, Elemwise) for op in ops)
        result = f(values)
        assert result.dtype == dtype and (result == constant).all() and result.shape == (3,)


def test_bits_of_another_dtype_are_not_taken_for_all():
    x = at.bvector("x")
    ops, f = ops_of([x], x & np.uint8(255))  # in int16
    assert any(isinstance(op, Elemwise) for op in ops)
    np.testing.assert_array_equal(f(np.array([-1, 3], "int8")), np.array([255, 3], "int16"))


# Numbers that are not negative


def test_what_is_made_of_lengths_is_not_negative():
    x, y = at.dvectors("x", "y")
    a, b = x.shape[0], y.shape[0]
    known = [
        at.lt(a, 0), at.ge(at.maximum(a, b), 0), at.gt(at.minimum(a, b), -1), at.neq(-1, at.maximum(b, a)),
        at.lt(a + b, 0),
    ]  # fmt: skip
    for expression, outcome in zip(known, (False, True, True, True, False), strict=True):
        ops, f = ops_of([x, y], expression)
        assert not any(isinstance(op, Elemwise) for op in ops)
        assert f([1.0], []) == outcome
    ops, f = ops_of([x, y], at.eq(at.stack([a, b, a]), -1))
    assert not any(isinstance(op, Elemwise) for op in ops)
    np.testing.assert_array_equal(f([1.0], []), [False] * 3)
    for unknown, outcome in (
        (at.lt(a - b, 0), False),
        (at.eq(a + b, 0), False),
        (at.le(a.astype("int8") + 127, 0), True),
    ):
        ops, f = ops_of([x, y], unknown)
        assert any(isinstance(op, Elemwise) for op in ops)
        assert f([1.0], []) == outcome
    # Lengths of arrays of bytes may have a sum that wraps around.
    s, t = at.bvector("s"), at.bvector("t")
    ops, f = ops_of([s, t], at.lt(s.shape[0] + t.shape[0], 0))
    assert any(isinstance(op, Elemwise) for op in ops) and not f(np.zeros(3, "int8"), np.zeros(2, "int8"))
    # In a narrower dtype a length may be a negative number.
    ops, f = ops_of([x], at.lt(a.astype("int8"), 0))
    assert f(np.zeros(200))


# Inverse functions


@pytest.mark.parametrize("dtype", ["int8", "int32", "float32", "bool"])
def test_degrees_of_integers(dtype):
    x = at.vector("x", dtype=dtype)
    for expression in (at.deg2rad(at.rad2deg(x)), at.rad2deg(at.deg2rad(x))):
        ops, f = ops_of([x], expression)
        assert len(ops) == 1
        result = f(np.array([0, 1], dtype))
        assert result.dtype == expression.dtype
        np.testing.assert_array_equal(result, [0, 1])


def test_expm1_of_softplus():
    x = at.dvector("x")
    ops, f = ops_of([x], at.expm1(at.softplus(x)))
    assert ops == [at.exp]
    np.testing.assert_array_equal(f([-np.inf, -800.0, 0.0, 800.0, np.nan]), [0.0, 0.0, 1.0, np.inf, np.nan])


# Positions in one op


@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize("ndim", [1, 2])
def test_positions_along_any_dimension_as_rows(place, ndim):
    x = at.dtensor3("x")
    i = at.TensorType("int64", (None,) * ndim)("i")
    index = tuple(i if axis == place else slice(None) for axis in range(3))
    part = x[index]
    (new,) = local_replace_AdvancedSubtensor.transform(None, part.owner)
    graph = FunctionGraph([x, i], [new], clone=False)
    assert any(isinstance(node.op, AdvancedSubtensor1) for node in graph.apply_nodes)
    assert not any(isinstance(node.op, AdvancedSubtensor) for node in graph.apply_nodes)
    data = np.arange(60.0).reshape(3, 4, 5)
    positions = np.array([2, 0, -1]) if ndim == 1 else np.array([[2, 0], [1, -1]])
    taken = tuple(positions if axis == place else slice(None) for axis in range(3))
    np.testing.assert_array_equal(aesara.function([x, i], new, mode=REFERENCE)(data, positions), data[taken])
    # In compiled functions it is used where it is named.
    named, f = ops_of([x, i], part, FAST_RUN.including("local_replace_AdvancedSubtensor"))
    assert not any(isinstance(op, AdvancedSubtensor) for op in named)
    np.testing.assert_array_equal(f(data, positions), data[taken])
    unnamed, _ = ops_of([x, i], part)
    assert any(isinstance(op, AdvancedSubtensor) for op in unnamed) == ((place, ndim) != (0, 1))


def test_other_positions_stay():
    x, i, b = at.dtensor3("x"), at.lvector("i"), at.TensorType("bool", (None,))("b")
    for part in (x[i, i], x[:, i, i], x[b], x[:, b]):
        assert local_replace_AdvancedSubtensor.transform(None, part.owner) is None


# Operands that are repeated


def test_repeated_operands_are_broadcast():
    x, y = at.dmatrices("x", "y")
    data = np.arange(6.0).reshape(2, 3)
    for expression, result in (
        (x * at.alloc(y, 2, 3), data * data),
        (x.T + at.alloc(y, 2, 3).T, 2 * data.T),
        (at.alloc(x, 2, 3) * at.alloc(y, 2, 3), data * data),
    ):
        ops, f = ops_of([x, y], expression)
        assert not any(isinstance(op, Alloc) for op in ops)
        assert any(isinstance(op, BroadcastTo) for op in ops)
        np.testing.assert_array_equal(f(data, data), result)
        with pytest.raises(ValueError, match="result has size 3, but the value has size 2"):
            f(data, data[:, :2])
        kept, _ = ops_of([x, y], expression, FAST_RUN.excluding("local_elemwise_alloc"))
        assert any(isinstance(op, Alloc) for op in kept)


@pytest.mark.parametrize(
    ("expression", "is_needed"),
    [
        (lambda m, v, c, n: m + at.alloc(v, m.shape[0], v.shape[0]), False),
        (lambda m, v, c, n: c + at.alloc(v, c.shape[0], v.shape[0]), False),
        (lambda m, v, c, n: m + at.alloc(c, c.shape[0], m.shape[1]), False),
        (lambda m, v, c, n: m + at.alloc(n, *m.shape), False),
        (lambda m, v, c, n: at.add(m, c, at.alloc(n, *m.shape)), False),
        (lambda m, v, c, n: c + at.alloc(n, c.shape[0], 1), False),
        # the length may be 1, so that it is repeated
        (lambda m, v, c, n: m + at.alloc(v, *m.shape), True),
        (lambda m, v, c, n: m + at.alloc(v, m.shape[0], n), True),
        (lambda m, v, c, n: m + at.alloc(c, *m.shape), True),
        # the length must be 1, and is not known to be
        (lambda m, v, c, n: m + at.alloc(v, m.shape[0], 1), True),
        # nothing else says how long the result is
        (lambda m, v, c, n: c + at.alloc(n, c.shape[0], n), True),
        (lambda m, v, c, n: at.alloc(v, n, v.shape[0]) + at.alloc(v, n, v.shape[0]), True),
    ],
)
def test_operands_of_unknown_lengths_are_allocated_if_they_may_be_repeated(expression, is_needed):
    inputs = at.dmatrix("m"), at.dvector("v"), at.tensor("float64", shape=(None, 1), name="c"), at.lscalar("n")
    ops, f = ops_of(inputs, expression(*inputs), FAST_RUN.excluding("local_alloc_to_broadcast"))
    assert sum(isinstance(op, Alloc) for op in ops) == is_needed
    _, as_written = ops_of(inputs, expression(*inputs), REFERENCE)
    for columns, length in ((3, 3), (1, 1), (3, 1)):
        m, v = np.arange(2.0 * columns).reshape(2, columns), np.arange(length) + 1.5
        try:
            wanted = as_written(m, v, m[:, :1], length)
        except ValueError:
            with pytest.raises(ValueError):
                f(m, v, m[:, :1], length)
        else:
            np.testing.assert_array_equal(f(m, v, m[:, :1], length), wanted)


one, other = aes.float64("one"), aes.int64("other")
sum_and_product = Elemwise(aes.Composite([one, other], [one + other, one * other]))


@pytest.mark.parametrize("with_feature", [False, True])
@pytest.mark.parametrize(
    "expression, spared",
    [
        (lambda m, v, c, n: m + at.alloc(n, *m.shape), True),
        (lambda m, v, c, n: m + at.alloc(v, m.shape[0], 1), False),
        (lambda m, v, c, n: v + at.alloc(v, 1), False),
        (lambda m, v, c, n: v + at.alloc(v, v.shape[0]), "by lengths"),
        (lambda m, v, c, n: v + at.alloc(at.constant([1.0, 2.0]), 2), True),
        (lambda m, v, c, n: m + at.alloc(at.constant([[1.0]]), n, 2), True),
        (lambda m, v, c, n: c + at.alloc(at.constant([[1.0]]), n, 2), False),
        (lambda m, v, c, n: c + at.alloc(at.constant([[1.0]]), n, 1), True),
        (lambda m, v, c, n: at.add(c, at.exp(m), at.alloc(n, *m.shape)), True),
        (lambda m, v, c, n: at.alloc(n, 2) * at.alloc(n, 2), "one of them"),
        (lambda m, v, c, n: m + at.exp(m), False),
        (lambda m, v, c, n: at.second(m, at.alloc(n, *m.shape)), False),
        (lambda m, v, c, n: at.exp(at.alloc(v, v.shape[0])), False),
        (lambda m, v, c, n: at.exp(at.alloc(at.constant([1.0, 2.0]), 2)), False),
        (lambda m, v, c, n: sum_and_product(at.constant([1.0, 2.0]), at.alloc(n, 2))[0], False),
    ],
)
def test_an_operand_need_not_be_allocated(expression, spared, with_feature):
    inputs = at.dmatrix("m"), at.dvector("v"), at.tensor("float64", shape=(None, 1), name="c"), at.lscalar("n")
    out = expression(*inputs)
    fgraph = FunctionGraph(inputs, [out], clone=False, features=[ShapeFeature()] if with_feature else [])
    before = sum(allocated(v) for v in out.owner.inputs)
    made = local_elemwise_alloc.transform(fgraph, out.owner)
    if spared is False or (spared == "by lengths" and not with_feature):
        assert made is False
    else:
        (new,) = made
        assert new.type == out.type and sum(allocated(v) for v in new.owner.inputs) == before - 1
    with aesara.config.change_flags(experimental__local_alloc_elemwise=False):
        assert local_elemwise_alloc.transform(fgraph, out.owner) is False


def test_an_operand_that_is_repeated_must_be_known_to_be_of_length_one():
    """Not only by a check of another node: elementwise operations repeat what has the type."""
    v, w = at.dvectors("v", "w")
    f = aesara.function([v, w], [at.specify_shape(v, (1,)), w + at.alloc(v, 1)])
    assert [result.tolist() for result in f([2.0], [1.0, 2.0, 3.0])] == [[2], [3, 4, 5]]


def allocated(variable):
    return variable.owner is not None and isinstance(variable.owner.op, Alloc)


def test_what_is_allocated_for_more_stays():
    x, y = at.dmatrices("x", "y")
    repeated = at.alloc(y, 2, 3)
    for outputs in ([x * repeated, repeated], [at.exp(at.dot(repeated, x.T)) + repeated.sum()]):
        ops, _ = ops_of([x, y], outputs)
        assert any(isinstance(op, Alloc) for op in ops)
        assert not any(isinstance(op, BroadcastTo) for op in ops)
    with aesara.config.change_flags(experimental__local_alloc_elemwise=False):
        ops, _ = ops_of([x, y], x * repeated)
    assert any(isinstance(op, Alloc) for op in ops)


def test_functions_of_repeated_numbers_are_computed_once():
    b, y, n = at.dscalar("b"), at.dvector("y"), at.lscalar("n")
    checked = Assert("negative")(at.gammainc(2.0, b * np.full(4, 0.05)), at.ge(b, 0))
    for expression in (checked - y, at.gammainc(at.alloc(b, n), at.alloc(3 * b, n)) - y):
        _, f = ops_of([b, y, n], expression)
        (once,) = (node for node in f.maker.fgraph.toposort() if "gammainc" in str(node.op).lower())
        assert all(k == 1 for k in once.outputs[0].type.shape)
        _, reference = ops_of([b, y, n], expression, REFERENCE)
        values = 1.3, np.arange(4.0), 4
        np.testing.assert_allclose(f(*values), reference(*values), rtol=1e-13)


# Lengths that are known, and dimensions of length one


def test_parts_of_known_shapes_are_constants():
    def transformed(shape, index):
        part = Shape()(at.TensorType("float64", shape)())[index]
        return local_subtensor_shape_constant.transform(None, part.owner)

    for shape, index, known in (
        ((1, None), 0, 1),
        ((1, None), -2, 1),
        ((1, 4), slice(1, None), [4]),
        ((None, 1, 2), slice(1, None), [1, 2]),
        ((3, 5), slice(None, None, -1), [5, 3]),
    ):
        (result,) = transformed(shape, index)
        assert isinstance(result, Constant) and result.dtype == "int64"
        np.testing.assert_array_equal(result.data, known)
    (length,) = transformed((1, None), 1)
    assert not isinstance(length, Constant)
    for index in (slice(0, None), at.lscalar(), slice(at.lscalar(), None)):
        assert not transformed((1, None), index)


def test_reshapes_that_only_add_dimensions_of_length_one_are_views():
    x, m, r = at.dvector("x"), at.dmatrix("m"), at.drow("r")
    of_m, of_x, of_r = np.arange(6.0).reshape(2, 3), np.arange(3.0), np.arange(3.0)[None]
    for v, value, expression, shape in (
        (x, of_x, x.reshape((1, -1)), (1, 3)),
        (x, of_x, x.reshape((x.shape[0], 1)), (3, 1)),
        (r, of_r, r.reshape((-1,)), (3,)),
        (m, of_m, m.reshape((m.shape[0], 1, m.shape[1])), (2, 1, 3)),
        (m, of_m, at.tile(m, (1, 1, 1)), (1, 2, 3)),
    ):
        ops, f = ops_of([v], expression)
        assert not any(isinstance(op, Reshape) for op in ops) and any(isinstance(op, DimShuffle) for op in ops)
        np.testing.assert_array_equal(f(value), value.reshape(shape))
    for v, value, expression, shape in (
        (m, of_m, m.reshape((m.shape[1], 1, m.shape[0])), (3, 1, 2)),
        (m, of_m, m.reshape((m.shape[0], 1, -1)), (2, 1, 3)),
        (x, of_x, x.reshape((1, 3)), (1, 3)),
    ):
        ops, f = ops_of([v], expression)
        assert any(isinstance(op, Reshape) for op in ops)
        np.testing.assert_array_equal(f(value), value.reshape(shape))
    # Of what has no elements, a length that is left open is no length.
    _, f = ops_of([m], m.reshape((m.shape[0], 1, -1)))
    with pytest.raises(ValueError, match="reshape"):
        f(np.zeros((0, 3)))


def test_parts_of_what_is_not_broadcast():
    r = at.drow("r")
    value = np.arange(6.0)[None]
    for index, taken in ((np.s_[:2, :4], True), (np.s_[:, 1], True), (np.s_[0], False), (np.s_[0, 2:], False)):
        for axis in (0, -2):
            ops, f = ops_of([r], Unbroadcast(axis)(r)[index])
            assert any(isinstance(op, Unbroadcast) for op in ops) == taken
            assert not isinstance(ops[0], Unbroadcast)
            np.testing.assert_array_equal(f(value), value[index])


# Rules without a graph


def test_a_scaled_product_of_no_graph():
    x, y, a = at.dmatrix("x"), at.dmatrix("y"), at.dscalar("a")
    (scaled,) = local_dot22_to_dot22scalar.transform(None, (a * _dot22(x, y)).owner)
    assert isinstance(scaled.owner.op, Dot22Scalar)
