"""The dtype of bare numbers, and conversion to scalar variables."""

import numpy as np
import pytest

import aesara.scalar as aes
import aesara.tensor as at
from aesara.configdefaults import config
from aesara.graph.basic import equal_computations
from aesara.graph.nodes import Apply, Constant
from aesara.graph.type import Type
from aesara.scalar import (
    ScalarConstant,
    as_scalar,
    autocast_float,
    autocast_float_as,
    autocast_int,
    cast,
    constant,
    convert,
    float32,
    get_scalar_type,
    int8,
)
from aesara.tensor.type_other import SliceConstant, slicetype

# value: dtype under custom with floatX float64, float32, float16; then under numpy+floatX.
CAST_POLICY = [
    (0, "int8 int8 int8", "int64 int64 int64"),
    (True, "int8 int8 int8", "bool bool bool"),
    (127, "int8 int8 int8", "int64 int64 int64"),
    (128, "int16 int16 int16", "int64 int64 int64"),
    (-129, "int16 int16 int16", "int64 int64 int64"),
    (32768, "int32 int32 int32", "int64 int64 int64"),
    (2**31, "int64 int64 int64", "int64 int64 int64"),
    (-(2**63), "int64 int64 int64", "int64 int64 int64"),
    (2**63, "uint64 uint64 uint64", "uint64 uint64 uint64"),
    (1.5, "float32 float32 float16", "float64 float32 float16"),
    (0.1, "float64 float32 float16", "float64 float32 float16"),
    (1e10, "float32 float32 float16", "float64 float32 float16"),
    (1e300, "float64 float32 float16", "float64 float32 float16"),
    (np.nan, "float64 float32 float16", "float64 float32 float16"),
    (np.inf, "float32 float32 float16", "float64 float32 float16"),
    (1j, "complex128 complex128 complex128", "complex128 complex128 complex128"),
    (np.float32(0.1), "float32 float32 float32", "float32 float32 float32"),
    (np.float64(1.5), "float64 float64 float64", "float64 float64 float64"),
    (np.float16(0.1), "float16 float16 float16", "float16 float16 float16"),
    (np.int64(1), "int64 int64 int64", "int64 int64 int64"),
    (np.bool_(True), "bool bool bool", "bool bool bool"),
    (np.array(3, dtype="int32"), "int32 int32 int32", "int32 int32 int32"),
]


@pytest.mark.parametrize(("value", "custom", "numpy_floatX"), CAST_POLICY, ids=lambda v: repr(v))
def test_cast_policy(value, custom, numpy_floatX):
    for policy, expected in (("custom", custom), ("numpy+floatX", numpy_floatX)):
        for floatX, dtype in zip(("float64", "float32", "float16"), expected.split()):
            with config.change_flags(cast_policy=policy, floatX=floatX), np.errstate(over="ignore"):
                assert convert(value).dtype == dtype
                assert constant(value).type.dtype == dtype
                assert as_scalar(value).type.dtype == dtype
                np.testing.assert_array_equal(constant(value).data, np.asarray(value).astype(dtype))


def test_integers_beyond_64_bits_are_refused():
    with pytest.raises(OverflowError, match="64 bits"):
        constant(2**64)


@pytest.mark.parametrize(
    ("dtypes", "floatX", "value", "expected"),
    [
        (("float64",), "float32", 0.5, "float64"),
        (("float32",), "float64", 0.1, "float32"),
        (("float32",), "float16", 0.1, "float32"),
        (("float32", "float64"), "float64", 0.1, "float64"),
        (("float32", "float64"), "float64", 0.5, "float32"),
        (("float32", "float64"), "float32", 0.1, "float32"),
        (("float16", "float32"), "float64", 0.5, "float32"),
        (("float16", "float32"), "float16", 0.1, "float16"),
    ],
)
def test_autocast_float_as(dtypes, floatX, value, expected):
    with config.change_flags(cast_policy="custom", floatX=floatX):
        before = autocast_float.dtypes
        with autocast_float_as(*dtypes):
            assert constant(value).type.dtype == expected
        assert autocast_float.dtypes == before


def test_autocast_float_as_needs_the_custom_policy():
    with config.change_flags(cast_policy="numpy+floatX"), pytest.raises(ValueError, match="custom"):
        autocast_float_as("float32")


def test_autocast_restores_after_an_exception():
    before = autocast_float.dtypes
    with pytest.raises(ZeroDivisionError), autocast_float_as("float32"):
        1 / 0
    assert autocast_float.dtypes == before


def test_autocasters():
    assert autocast_int(1).dtype == "int8"
    assert autocast_int(300).dtype == "int16"
    with config.change_flags(floatX="float64"):
        assert autocast_float(1.5).dtype == "float32"


def test_convert_to_a_given_dtype():
    assert convert(1, "float32").dtype == "float32"
    assert convert(1.9, "int8") == 1
    assert convert(np.array([1.0, 2.0]), "float32").dtype == "float32"
    with config.change_flags(floatX="float32"):
        assert convert(1, "floatX").dtype == "float32"
    assert constant(1, dtype="float32", name="one").name == "one"


def test_a_scalar_constant_is_one_number():
    with pytest.raises(TypeError, match="one number"):
        constant([1, 2])
    with pytest.raises(TypeError, match="Unsupported dtype"):
        constant("a")


def test_constants_print_and_compare():
    assert repr(constant(3)) == "ScalarConstant{3}"
    assert isinstance(constant(3), ScalarConstant)
    assert constant(np.nan).equals(constant(np.nan))
    assert not constant(0.0).equals(constant(-0.0))
    assert not constant(1, dtype="int8").equals(constant(1, dtype="int16"))


def test_as_scalar():
    x = float32("x")
    assert as_scalar(x) is x
    node = (x + x).owner
    assert isinstance(node, Apply)
    assert as_scalar(node) is node.outputs[0]
    with pytest.raises(TypeError):
        as_scalar(object())


def test_cast():
    x = float32("x")
    assert cast(x, "float32") is x
    assert cast(x, "int8").type == int8
    assert str(cast(x, "int8").owner.op) == "Cast{int8}"
    assert cast(3, "float64").type.dtype == "float64"
    with config.change_flags(floatX="float64"):
        assert cast(x, "floatX").type.dtype == "float64"
    with pytest.raises(TypeError, match="Unsupported dtype"):
        cast(x, "float33")
    with pytest.raises(TypeError, match="ambiguous"):
        cast(aes.complex64("z"), "float32")
    assert aes.convert_to_int8 == aes.Cast(int8)
    assert aes.convert_to_int8 != aes.convert_to_int16


@pytest.mark.parametrize("source", aes.all_types, ids=str)
def test_cast_between_all_types(source):
    for target in aes.all_types:
        if source.is_complex and not target.is_complex:
            continue
        value = source.filter(1)
        result = aes.Cast(target).impl(value)
        assert type(result) is target.numpy_type
        assert result == 1


def test_common_dtype():
    x, y = aes.as_common_dtype(int8("x"), float32("y"))
    assert x.dtype == y.dtype == "float32"
    assert get_scalar_type("float32") is float32


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (lambda i, f: i + 1, "int8"),
        (lambda i, f: i + 300, "int16"),
        (lambda i, f: i * 1.5, "float32"),
        (lambda i, f: i * 0.1, "float64"),
        (lambda i, f: f * 2, "float32"),
        (lambda i, f: f + np.float64(1), "float64"),
        (lambda i, f: i / 2, "float64"),
        (lambda i, f: 1 / i, "float64"),
        (lambda i, f: 1.5 / f, "float32"),
        (lambda i, f: i // 2, "int8"),
        (lambda i, f: 7 // i, "int8"),
        (lambda i, f: i**2, "int8"),
        (lambda i, f: 2**i, "int8"),
        (lambda i, f: i % 2, "int8"),
        (lambda i, f: 1 - i, "int8"),
        (lambda i, f: -i, "int8"),
        (lambda i, f: abs(i), "int8"),
        (lambda i, f: i & 1, "int8"),
        (lambda i, f: 1 | i, "int8"),
        (lambda i, f: 1 ^ i, "int8"),
        (lambda i, f: ~i, "int8"),
        (lambda i, f: i < f, "bool"),
        (lambda i, f: i >= 2, "bool"),
        (lambda i, f: 2 <= i, "bool"),
        (lambda i, f: f > i, "bool"),
    ],
)
def test_operators(expression, expected):
    with config.change_flags(cast_policy="custom", floatX="float64"):
        assert expression(int8("i"), float32("f")).dtype == expected


def test_a_variable_has_no_truth_value():
    with pytest.raises(TypeError, match="no truth value"):
        bool(float32("x") < 1)
    x = float32("x")
    assert x == x
    assert x != float32("x")


@pytest.mark.parametrize("dtype", ["int8", "int64", "bool", "float32", "float64", "complex64"])
def test_a_constant_of_any_class_equals_one_of_the_class_of_its_type(dtype):
    kind = get_scalar_type(dtype)
    own, other, plain = constant(1, dtype=dtype), constant(0, dtype=dtype), Constant(kind, 1)
    assert type(own) is not type(plain)
    assert plain.equals(own) and own.equals(plain) and plain.equals(Constant(kind, 1))
    assert not plain.equals(other) and not other.equals(plain)
    assert not plain.equals(Constant(get_scalar_type("int16"), 1)) and not plain.equals(kind())
    assert equal_computations([plain], [own]) and equal_computations([own], [plain])


def test_so_do_constants_of_other_types():
    for own, other in (
        (at.constant([1.0, np.nan]), at.constant([1.0, 2.0])),
        (SliceConstant(slicetype, slice(0, 2)), SliceConstant(slicetype, slice(0, 3))),
    ):
        plain = Constant(own.type, own.data)
        assert plain.equals(own) and own.equals(plain) and plain.equals(Constant(own.type, own.data))
        assert not plain.equals(other) and not other.equals(plain)


def test_a_constant_may_extend_the_signature_of_its_class():
    class Rounded(Constant):
        def signature(self):
            return *super().signature(), "rounded"

    class Halves(Type):
        constant_type = Rounded

        def filter(self, data, strict=False, allow_downcast=None):
            return round(2 * data) / 2

        def __eq__(self, other):
            return type(self) is type(other)

        def __hash__(self):
            return hash(type(self))

    kind = Halves()
    assert kind.make_constant(1.2).equals(kind.make_constant(0.8))
    assert Constant(kind, 1.2).equals(kind.make_constant(0.8)) and kind.make_constant(0.8).equals(Constant(kind, 1.2))


def test_so_is_an_index_found():
    """As the code printer of SymPy does it for slices of matrices."""
    x = at.dvector("x")
    index = x[1:].owner.inputs[1]
    assert Constant(index.type, 1).equals(index) and index.equals(Constant(index.type, 1))
