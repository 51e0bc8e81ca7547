"""Scalar types: which values they take, and how they promote."""

import pickle
import warnings

import numpy as np
import pytest

import aesara.scalar as aes
from aesara.configdefaults import config
from aesara.scalar import ScalarType, all_types, get_scalar_type, promotion, upcast

FLOAT32 = get_scalar_type("float32")


def test_there_is_one_type_for_each_dtype():
    for scalar_type in all_types:
        assert get_scalar_type(scalar_type.dtype) is scalar_type
        assert ScalarType(scalar_type.dtype) == scalar_type
        assert hash(ScalarType(scalar_type.dtype)) == hash(scalar_type)
        assert pickle.loads(pickle.dumps(scalar_type)) is scalar_type
        assert getattr(aes, scalar_type.dtype) is scalar_type
    assert len(set(all_types)) == 14
    assert ScalarType("float32") != ScalarType("float64")
    assert ScalarType(np.float32) == ScalarType("float32") == ScalarType(np.dtype("f4"))


def test_floatX_is_the_configured_dtype():
    with config.change_flags(floatX="float32"):
        assert ScalarType("floatX").dtype == "float32"
    with config.change_flags(floatX="float64"):
        assert ScalarType("floatX").dtype == "float64"


@pytest.mark.parametrize("dtype", ["float33", "object", "str", "datetime64[s]", np.longdouble])
def test_unsupported_dtypes_are_named(dtype):
    with pytest.raises(TypeError, match="Unsupported dtype for ScalarType"):
        ScalarType(dtype)


@pytest.mark.parametrize(
    ("dtype", "value", "expected"),
    [
        ("int8", 1, np.int8(1)),
        ("int8", True, np.int8(1)),
        ("int8", 3.0, np.int8(3)),
        ("float32", 1.5, np.float32(1.5)),
        ("float32", np.array(2.0), np.float32(2)),
        ("float32", np.inf, np.float32(np.inf)),
        ("bool", 1, np.bool_(True)),
        ("complex64", 1j, np.complex64(1j)),
        ("uint64", 2**63, np.uint64(2**63)),
    ],
)
def test_filter_converts_what_keeps_its_value(dtype, value, expected):
    for allow_downcast in (None, False, True):
        result = get_scalar_type(dtype).filter(value, allow_downcast=allow_downcast)
        assert type(result) is type(expected)
        assert result == expected


def test_filter_keeps_nan():
    assert np.isnan(FLOAT32.filter(np.nan))
    assert FLOAT32.filter(np.nan).dtype == np.float32


@pytest.mark.parametrize(
    ("dtype", "value"),
    [
        ("int8", 300),
        ("int8", 1.5),
        ("uint8", -1),
        ("uint64", -1),
        ("int64", 2**63),
        ("int64", np.uint64(2**63)),
        ("bool", 2),
        ("float32", np.float64(0.1)),
        ("float32", 1e300),
        ("float32", 1 + 1j),
        ("float64", "a"),
        ("float64", None),
        ("float64", [1.0]),
        ("float64", np.ones(2)),
        ("int64", 2**70),
    ],
)
def test_filter_refuses_what_would_change(dtype, value):
    with config.change_flags(floatX="float64"), pytest.raises(TypeError, match="Could not convert"):
        get_scalar_type(dtype).filter(value)


def test_allow_downcast():
    assert get_scalar_type("int8").filter(300, allow_downcast=True) == 44
    assert FLOAT32.filter(0.1, allow_downcast=True) == np.float32(0.1)
    with config.change_flags(floatX="float32"):
        assert FLOAT32.filter(0.1) == FLOAT32.filter(np.float64(0.1)) == np.float32(0.1)
        with pytest.raises(TypeError, match="allow_downcast"):
            FLOAT32.filter(0.1, allow_downcast=False)
    with pytest.raises(TypeError, match="complex"):
        FLOAT32.filter(1j, allow_downcast=True)


def test_strict_takes_only_the_exact_numpy_type():
    assert FLOAT32.filter(np.float32(1), strict=True) == 1
    for value in (1.0, np.float64(1), np.array(1, dtype="float32"), 1):
        with pytest.raises(TypeError, match="strict"):
            FLOAT32.filter(value, strict=True)
    assert FLOAT32.is_valid_value(np.float32(1))
    assert not FLOAT32.is_valid_value(1.0)
    assert FLOAT32.is_valid_value(1.0, strict=False)


def test_values_eq():
    assert FLOAT32.values_eq(np.float32(1), np.float32(1))
    assert not FLOAT32.values_eq(np.float32(np.nan), np.float32(np.nan))
    assert FLOAT32.values_eq_approx(np.float32(np.nan), np.float32(np.nan))
    assert FLOAT32.values_eq_approx(np.float32(1), np.float32(1.00001))
    assert not FLOAT32.values_eq_approx(np.float32(1), np.float32(1.1))
    assert FLOAT32.values_eq_approx(np.float32(np.inf), np.float32(np.inf))
    assert not FLOAT32.values_eq_approx(np.float32(np.inf), np.float32(1))
    assert not get_scalar_type("uint8").values_eq_approx(np.uint8(0), np.uint8(255))


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_nearness_is_measured_in_each_part(dtype):
    kind, number = get_scalar_type(dtype), np.dtype(dtype).type
    parts = [1.0] if dtype.startswith("float") else [1.0, 1j]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for part in parts:
            for size in (1e-20, 1.0, -3e4):
                value = number((1 + sum(parts)) * size)
                assert kind.values_eq_approx(value, number(value + part * size * 1e-5)) is np.True_
                assert kind.values_eq_approx(value, number(value + part * size * 1e-1)) is np.False_


def test_text_and_clone():
    assert repr(FLOAT32) == "ScalarType(float32)"
    assert str(FLOAT32) == "float32"
    assert FLOAT32.clone(dtype="int8") == get_scalar_type("int8")
    assert FLOAT32.clone() == FLOAT32
    assert FLOAT32.ndim == 0
    assert FLOAT32.shape == ()
    variable = FLOAT32("x")
    assert (variable.name, variable.type, variable.dtype, variable.ndim) == ("x", FLOAT32, "float32", 0)


def test_groups():
    assert aes.discrete_dtypes[0] == "bool"
    assert {t.dtype for t in aes.continuous_types} == {
        "float16",
        "float32",
        "float64",
        "complex64",
        "complex128",
    }
    assert len(aes.integer_types) == 8
    assert aes.int_types + aes.uint_types == aes.integer_types


def test_upcast_is_numpys_table():
    for a in all_types:
        for b in all_types:
            assert upcast(a.dtype, b.dtype) == np.promote_types(a.dtype, b.dtype).name
    assert upcast("int8") == "int8"
    assert upcast("int8", "float16", "complex64") == "complex64"


@pytest.mark.parametrize(
    ("floatX", "dtypes", "expected"),
    [
        ("float32", ("int64", "float32"), "float32"),
        ("float32", ("int64", "uint64"), "float32"),
        ("float32", ("int32", "float16"), "float32"),
        ("float32", ("float64", "float32"), "float64"),
        ("float32", ("complex64", "int64"), "complex128"),
        ("float16", ("int64", "float32"), "float64"),
        ("float16", ("int32", "float16"), "float16"),
        ("float64", ("int64", "float32"), "float64"),
    ],
)
def test_upcast_under_numpy_floatX(floatX, dtypes, expected):
    with config.change_flags(cast_policy="numpy+floatX", floatX=floatX):
        assert upcast(*dtypes) == expected
    with config.change_flags(cast_policy="custom", floatX=floatX):
        assert upcast(*dtypes) == str(np.result_type(*dtypes))


@pytest.mark.parametrize(
    ("rule", "types", "expected"),
    [
        (promotion.same_out_nocomplex, (aes.int8,), aes.int8),
        (promotion.int_out, (aes.complex64,), aes.int64),
        (promotion.int_out_nocomplex, (aes.float32,), aes.int64),
        (promotion.float_out, (aes.complex64,), aes.float64),
        (promotion.float_out_nocomplex, (aes.int8,), aes.float64),
        (promotion.unary_out_lookup({aes.int8: aes.float32}), (aes.int8,), aes.float32),
        (promotion.unary_out_lookup({aes.int8: [aes.float32]}), (aes.int8,), aes.float32),
    ],
)
def test_rules_for_types_of_results(rule, types, expected):
    assert rule(*types) == (expected,)


@pytest.mark.parametrize(
    "rule",
    [
        promotion.same_out_nocomplex,
        promotion.int_out_nocomplex,
        promotion.float_out_nocomplex,
        promotion.unary_out_lookup({aes.int8: aes.float32}),
    ],
)
def test_rules_refuse_types(rule):
    with pytest.raises(TypeError, match="complex64"):
        rule(aes.complex64)


def test_tables_of_types_are_compared_by_entries():
    first, second = (promotion.unary_out_lookup({aes.int8: aes.float32}) for _ in range(2))
    assert first == second and hash(first) == hash(second)
    assert first != promotion.unary_out_lookup({aes.int8: aes.float64})
