"""TensorType: construction, relations between types, and filtering of values."""

import pickle

import numpy as np
import pytest

import aesara.tensor as at
from aesara.configdefaults import config
from aesara.graph.basic import Apply, Constant, Variable
from aesara.tensor.type import (
    DenseTensorType,
    TensorType,
    values_eq_approx,
    values_eq_approx_always_true,
    values_eq_approx_remove_inf,
    values_eq_approx_remove_nan,
)
from aesara.tensor.type_other import (
    MakeSlice,
    NoneConst,
    NoneTypeT,
    SliceConstant,
    SliceType,
    make_slice,
    slicetype,
)


def test_repr_shows_dtype_and_static_shape():
    assert repr(TensorType("float64", (2, None))) == "TensorType(float64, (2, None))"
    assert str(TensorType("float32", (3,))) == "TensorType(float32, (3,))"
    assert str(TensorType("float64", (2, None))) == "TensorType(float64, (2, ?))"
    assert repr(TensorType("float64", (2,), name="bob")) == "bob"
    assert repr(TensorType("float64", (2, None))()) == "<TensorType(float64, (2, ?))>"


@pytest.mark.parametrize(
    "shape, expected",
    [((2, None), (2, None)), ([3], (3,)), ((True, False), (1, None)), ((np.int64(2),), (2,)), ((), ())],
)
def test_shape_is_made_canonical(shape, expected):
    t = TensorType("float64", shape)
    assert t.shape == expected and t.ndim == len(expected)
    assert all(n is None or type(n) is int for n in t.shape)


def test_broadcastable_argument_and_property():
    with pytest.warns(DeprecationWarning, match="broadcastable of TensorType is deprecated") as caught:
        t = TensorType("int8", broadcastable=(True, False))
    assert caught[0].filename == __file__
    assert t.shape == (1, None) and t.broadcastable == (True, False)


@pytest.mark.parametrize("dtype", ["foo", object, "U3", "datetime64[s]"])
def test_unknown_dtypes_are_refused(dtype):
    with pytest.raises(TypeError, match="dtype"):
        TensorType(dtype, ())


@pytest.mark.parametrize("shape", [(-1,), ("a",), (2.0,), 2, None])
def test_bad_shapes_are_refused(shape):
    with pytest.raises((TypeError, ValueError), match="shape"):
        TensorType("float64", shape)


def test_equality_ignores_the_name():
    a, b = TensorType("float64", (2, None), name="a"), TensorType("float64", (2, None))
    assert a == b and hash(a) == hash(b)
    assert a != TensorType("float64", (None, None)) and a != TensorType("float32", (2, None))
    assert a != "TensorType(float64, (2, None))"
    assert pickle.loads(pickle.dumps(a)) == a


def test_floatX():
    assert TensorType("floatX", ()).dtype == config.floatX
    assert at.matrix().dtype == config.floatX


def test_documented_relations():
    v1, v2 = TensorType("float64", (2, None))(), TensorType("float64", (2, 1))()
    assert not v1.type.in_same_class(v2.type)
    assert v1.type.is_super(v2.type) and not v2.type.is_super(v1.type)
    assert v1.type.filter_variable(v2) is v2
    v3 = v2.type.filter_variable(v1)
    assert v3 is not v1 and v3.type == v2.type


def test_relations_need_one_dtype_and_rank():
    t = TensorType("float64", (2, None))
    assert not t.is_super(TensorType("float32", (2, 1)))
    assert not t.is_super(TensorType("float64", (2,)))
    assert t.in_same_class(TensorType("float64", (None, None)))
    assert not t.is_super(slicetype)


def test_filter_variable_merges_what_is_known():
    merged = TensorType("float64", (None, 3)).filter_variable(TensorType("float64", (2, None))())
    assert merged.type.shape == (2, 3)


@pytest.mark.parametrize("other", [at.fmatrix(), at.dvector(), TensorType("float64", (3, None))()])
def test_filter_variable_refuses_what_never_fits(other):
    t = TensorType("float64", (2, None))
    assert t.convert_variable(other) is None
    with pytest.raises(TypeError, match="Cannot convert Type"):
        t.filter_variable(other)


def test_filter_variable_makes_constants():
    constant = TensorType("float64", (2, None)).filter_variable(np.zeros((2, 3), "float32"))
    assert isinstance(constant, Constant) and constant.type == TensorType("float64", (2, 3))
    with pytest.raises(TypeError, match="not compatible"):
        TensorType("float64", (2, None)).filter_variable(np.zeros((3, 3)))


# What each dtype takes: value -> (accepted by default, accepted with allow_downcast=False)
@pytest.mark.parametrize(
    "dtype, value, default, exact",
    [
        ("float32", 1, True, True),
        ("float32", 0.1, False, False),
        ("float32", 1.5, True, True),
        ("float32", np.float64(0.1), False, False),
        ("float32", np.float32(0.1), True, True),
        ("float32", np.array(1.0), False, False),
        ("float32", np.array(5, dtype="int8"), True, True),
        ("float32", np.array(5, dtype="int64"), False, False),
        ("float32", np.nan, True, True),
        ("float32", np.inf, True, True),
        ("float32", 2**70, True, True),
        ("float32", 1j, False, False),
        ("float64", 1j, False, False),
        ("float64", np.array(3), True, True),
        ("float64", 0.1, True, True),
        ("int8", 300, False, False),
        ("int8", 2.0, True, True),
        ("int8", 1.5, False, False),
        ("int8", True, True, True),
        ("int8", np.nan, False, False),
        ("int8", np.array([1], dtype="uint8")[0], True, True),
        ("int8", np.array(1, dtype="uint8"), False, False),
        ("int64", 2**70, False, False),
        ("uint8", -1, False, False),
        ("bool", 1, True, True),
        ("bool", 2, False, False),
        ("bool", np.array(1), False, False),
        ("complex64", 1j, True, True),
        ("complex64", 0.1, False, False),
    ],
)
def test_filter_accepts_what_survives_the_cast(dtype, value, default, exact):
    t = TensorType(dtype, ())
    for allow_downcast, accepted in ((None, default), (False, exact)):
        if accepted:
            result = t.filter(value, allow_downcast=allow_downcast)
            assert isinstance(result, np.ndarray) and result.dtype == dtype
            np.testing.assert_array_equal(result, np.asarray(value).astype(dtype))
        else:
            with pytest.raises(TypeError, match=f"TensorType\\({dtype}.*allow_input_downcast"):
                t.filter(value, allow_downcast=allow_downcast)


@pytest.mark.parametrize("value", [0.1, np.float64(0.1), np.longdouble(0.1)])
def test_float_scalars_go_into_floatX(value):
    with config.change_flags(floatX="float32"):
        result = TensorType("float32", ()).filter(value)
        assert result == np.float32(0.1) and result.dtype == np.float32
        with pytest.raises(TypeError):
            TensorType("float32", ()).filter(value, allow_downcast=False)
        with pytest.raises(TypeError):
            TensorType("float32", ()).filter(np.array(value))
        with pytest.raises(TypeError):
            TensorType("float16", ()).filter(value)


@pytest.mark.parametrize("value", [300, 1.7, np.array(2.5), np.float64(-3.2)])
def test_allow_downcast_casts(value):
    expected = np.asarray(value).astype("int8")
    assert TensorType("int8", ()).filter(value, allow_downcast=True) == expected


def test_strict_takes_only_arrays_of_the_dtype():
    t = TensorType("float64", (None,))
    value = np.arange(3.0)
    assert t.filter(value, strict=True) is value
    for bad in ([1.0], np.arange(3), np.arange(3, dtype="float32")):
        with pytest.raises(TypeError, match="expected an ndarray"):
            t.filter(bad, strict=True)


def test_filter_reports_rank_and_lengths():
    t = TensorType("float64", (2, None))
    with pytest.raises(TypeError, match="expected 2, got 1 with shape \\(3,\\)"):
        t.filter(np.zeros(3))
    with pytest.raises(TypeError, match=r"\(2, None\).*\(3, 3\)"):
        t.filter(np.zeros((3, 3)))
    with pytest.raises(TypeError, match="found a Variable"):
        t.filter(at.dmatrix())


@pytest.mark.parametrize("value", ["abc", [[1], [2, 3]], None, {}, float])
def test_filter_refuses_what_is_no_number(value):
    with pytest.raises((TypeError, ValueError)):
        TensorType("float64", (None, None)).filter(value)


def test_filter_keeps_memory_where_it_can():
    t = TensorType("float64", (None, None))
    for value in (
        np.zeros((2, 3)),
        np.asfortranarray(np.zeros((2, 3))),
        np.zeros((4, 6))[::2, ::2],
        np.zeros((0, 2)),
    ):
        assert t.filter(value) is value
    swapped = np.arange(6.0).reshape(2, 3).astype(">f8")
    result = t.filter(swapped)
    assert result.dtype.isnative
    np.testing.assert_array_equal(result, swapped)
    unaligned = np.zeros(17, "int8")[1:].view("float64").reshape(1, 2)
    assert t.filter(unaligned).flags.aligned


def test_values_eq_and_approx():
    t = TensorType("float64", (None,))
    a = np.array([1.0, np.nan, np.inf])
    assert t.values_eq(a, a.copy()) and t.values_eq_approx(a, a * (1 + 1e-9))
    assert not t.values_eq(a, np.array([1.0, 2.0, np.inf]))
    assert not t.values_eq(np.zeros(3), np.zeros(3, "float32"))
    assert not t.values_eq_approx(np.zeros(2), np.zeros(3))
    assert not t.values_eq_approx(np.array([1.0]), np.array([1.0001]))
    assert not values_eq_approx(np.array([1]), np.array([2]))
    assert values_eq_approx_remove_inf(np.array([np.inf]), np.array([3.0]))
    assert not values_eq_approx_remove_inf(np.array([np.nan]), np.array([3.0]))
    assert values_eq_approx_remove_nan(np.array([np.nan]), np.array([3.0]))
    assert values_eq_approx_always_true(1, "x")


def test_sizes_and_sharing():
    t = TensorType("float32", (None, None))
    assert t.get_size(t.get_shape_info(np.zeros((2, 3), "float32"))) == 24
    assert TensorType("int8", ()).get_size(()) == 1
    a = np.zeros(4)
    assert t.may_share_memory(a, a[1:]) and not t.may_share_memory(a, a.copy()) and not t.may_share_memory(a, 1)
    assert t.is_valid_value(np.zeros((2, 2), "float32")) and not t.is_valid_value(np.zeros((2, 2)))


def test_clone_and_specs():
    t = TensorType("float64", (2, None))
    assert t.clone(dtype="int8") == TensorType("int8", (2, None))
    assert t.clone(shape=(1,)) == TensorType("float64", (1,))
    with pytest.warns(DeprecationWarning, match="broadcastable"):
        assert t.clone(broadcastable=(True, False)).shape == (1, None)
    assert t.dtype_specs()[0] is float and t.numpy_dtype == np.dtype("float64")
    assert t.to_scalar_type().dtype == "float64"
    assert isinstance(t, DenseTensorType) and not isinstance(slicetype, DenseTensorType)


def test_constructors():
    assert at.dmatrix("x").type == TensorType("float64", (None, None))
    assert at.fvector().type == TensorType("float32", (None,))
    assert at.row("r", dtype="int32").type == TensorType("int32", (1, None))
    assert at.col().type.shape == (None, 1)
    assert at.bscalar().dtype == "int8" and at.scalar(dtype="bool").dtype == "bool"
    assert at.ztensor7().type == TensorType("complex128", (None,) * 7)
    assert at.tensor("float32", shape=(2, None), name="t").name == "t"
    assert at.tensor("t", dtype="float32", shape=(2,)).name == "t"
    assert [x.name for x in at.dvectors("a", "b")] == ["a", "b"]
    assert [x.name for x in at.matrices("abc")] == ["a", "b", "c"]
    assert len(at.dmatrices(3)) == 3
    with pytest.raises(TypeError):
        at.matrix("x", "str")


def test_explicit_graph_of_the_documents():
    matrix = TensorType("float64", (None, None))
    x, y, z = (Variable(type=matrix, name=name) for name in "xyz")
    product = Variable(type=matrix)
    node_mul = Apply(op=at.mul, inputs=[y, z], outputs=[product])
    assert product.owner is node_mul and product.index == 0
    total = Variable(type=matrix)
    node_add = Apply(op=at.add, inputs=[x, product], outputs=[total])
    assert total.owner is node_add
    assert total.owner.inputs[1].owner.inputs[1] is z


def test_automatic_wrapping_of_the_documents():
    e = at.dscalar("x") + 1
    assert e.owner.op == at.add
    left, right = e.owner.inputs
    assert left.name == "x" and isinstance(right, Constant) and right.data == 1 and e.type == at.dscalar


def test_none_and_slices():
    assert NoneConst.data is None and NoneConst.type == NoneTypeT() and str(NoneConst) == "NoneConst"
    with pytest.raises(TypeError, match="Expected None"):
        NoneConst.type.filter(1)
    with pytest.raises(TypeError, match="Expected a slice"):
        slicetype.filter(1)
    assert slicetype == SliceType() and hash(slicetype) == hash(SliceType())
    made = make_slice(slice(1, at.lscalar("stop"), None))
    assert isinstance(made.owner.op, MakeSlice) and made.owner.inputs[2] is NoneConst
    constant = SliceConstant(slicetype, slice(np.int64(1), None, 2))
    assert constant.data == slice(1, None, 2) and str(constant) == "SliceConstant{1, None, 2}"
    assert constant.equals(SliceConstant(slicetype, slice(1, None, 2)))
    with pytest.raises(TypeError, match="integers"):
        make_slice(1.5)
    with pytest.raises(TypeError, match="integers or None"):
        SliceConstant(slicetype, slice("a"))
    storage = [[None]]
    made.owner.op.perform(made.owner, [np.array(1), np.array(5), None], storage)
    assert storage[0][0] == slice(1, 5, None)


def test_warn_float64():
    with config.change_flags(warn_float64="warn"):
        at.fvector() * 2.5
        at.constant([0.1])
        with pytest.warns(UserWarning, match="float64") as caught:
            at.fvector() * at.lvector()
    assert caught[0].filename == __file__
    with config.change_flags(warn_float64="raise"), pytest.raises(TypeError, match="warn_float64"):
        at.dvector()


def test_makers_of_several_variables_are_ordinary_functions():
    for make in (at.scalars, at.dvectors, at.matrices, at.ltensor3s):
        assert pickle.loads(pickle.dumps(make)) is make
        assert make.__doc__.startswith(f"Several variables of one type: {make.__name__}(3)")
    assert [v.name for v in at.dvectors("ab")] == [v.name for v in at.dvectors("a", "b")] == ["a", "b"]
