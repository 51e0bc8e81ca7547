"""Tensor variables and constants: operators, methods, comparison, conversion."""

import ast
import copy
import math
import pickle

import numpy as np
import pytest

import aesara.scalar as aes
import aesara.tensor as at
from aesara.configdefaults import config
from aesara.graph.basic import Constant
from aesara.graph.shared import shared
from aesara.tensor.core.variable import functions
from aesara.tensor.type import TensorType
from aesara.tensor.var import (
    DenseTensorConstant,
    DenseTensorVariable,
    TensorConstant,
    TensorConstantSignature,
    TensorVariable,
    get_unique_value,
)
from tests.closeness import assert_close
from tests.tensor.evaluate import evaluate
from tests.test_layers import tree_of

X = np.array([[1.5, -2.0, 3.0], [0.5, 4.0, -0.25]])
I = np.array([[5, -3], [2, 7]], dtype="int32")


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x + 2,
        lambda x: 2 + x,
        lambda x: x - 0.5,
        lambda x: 0.5 - x,
        lambda x: x * x,
        lambda x: 3 * x,
        lambda x: x / 4,
        lambda x: 4 / x,
        lambda x: x // 2,
        lambda x: 7 // x,
        lambda x: x % 2,
        lambda x: 7 % x,
        lambda x: x**2,
        lambda x: 2.0**x,
        lambda x: pow(x, 3),
        lambda x: -x,
        lambda x: abs(x),
        lambda x: x < 1,
        lambda x: x <= 1.5,
        lambda x: x > 1,
        lambda x: x >= 1.5,
        lambda x: x @ np.ones(3),
        lambda x: np.ones(2) @ x,
        lambda x: np.array([1.0, 2.0, 3.0]) + x,
        lambda x: np.float64(2) * x,
        lambda x: x + np.array([[1.0], [2.0]]),
        lambda x: x + [1.0, 2.0, 3.0],
        lambda x: divmod(x, 2)[0] + divmod(7, x)[1],
        lambda x: x.T,
        lambda x: x[0],
        lambda x: x[:, ::-1],
        lambda x: x[None, ..., 1],
        lambda x: x.transpose(1, 0),
        lambda x: x.transpose((1, 0)),
        lambda x: x.transpose(),
        lambda x: x.reshape((3, 2)),
        lambda x: x.reshape(3, -1),
        lambda x: x.flatten(),
        lambda x: x.ravel(),
        lambda x: x.swapaxes(0, 1),
        lambda x: x.diagonal(),
        lambda x: x.trace(),
        lambda x: x.squeeze(),
        lambda x: x.repeat(2, axis=0),
        lambda x: x.cumsum(axis=1),
        lambda x: x.cumprod(),
        lambda x: x.take([0, 1], axis=1),
        lambda x: x.clip(0, 2),
        lambda x: x.round(),
        lambda x: x.astype("int64"),
        lambda x: x.astype(np.float32),
        lambda x: x.conj(),
        lambda x: x.conjugate(),
        lambda x: x.real,
        lambda x: x.imag,
        lambda x: x.copy(),
        lambda x: x.sum(axis=0),
        lambda x: x.prod(),
        lambda x: x.mean(axis=1),
        lambda x: x.std(),
        lambda x: x.var(axis=0),
        lambda x: x.min(),
        lambda x: x.max(axis=1),
        lambda x: x.argmin(),
        lambda x: x.argmax(axis=0),
        lambda x: x.any(),
        lambda x: x.all(axis=0),
        lambda x: x.dot(np.ones((3, 2))),
        lambda x: x[np.array([True, False])],
    ],
)
def test_same_as_numpy(function):
    x = at.matrix("x")
    result, expected = evaluate(function(x), {x: X}), function(X)
    np.testing.assert_allclose(result, expected, rtol=1e-14)
    assert np.shape(result) == np.shape(expected)


@pytest.mark.parametrize(
    "function",
    [
        lambda i: i & 3,
        lambda i: 3 & i,
        lambda i: i | 8,
        lambda i: 8 | i,
        lambda i: i ^ i,
        lambda i: 1 ^ i,
        lambda i: ~i,
        lambda i: (i > 2) & ~(i < 6),
        lambda i: i // 2,
        lambda i: i % -4,
    ],
)
def test_integers_same_as_numpy(function):
    i = at.imatrix("i")
    np.testing.assert_array_equal(evaluate(function(i), {i: I}), function(I))


METHODS = """
    exp exp2 expm1 log log1p log2 log10 sqrt sin cos tan sinh cosh tanh arcsinh arctan
    deg2rad rad2deg ceil floor trunc
"""


@pytest.mark.parametrize("name", METHODS.split())
def test_elementwise_methods(name):
    x = at.matrix("x")
    value = np.abs(X)
    expected = getattr(np, name)(value)
    np.testing.assert_allclose(evaluate(getattr(x, name)(), {x: value}), expected, rtol=1e-12)
    np.testing.assert_allclose(evaluate(getattr(np, name)(x), {x: value}), expected, rtol=1e-12)


def test_rounding_protocol():
    x = at.matrix("x")
    for function, reference in ((math.floor, np.floor), (math.ceil, np.ceil), (math.trunc, np.trunc)):
        np.testing.assert_array_equal(evaluate(function(x), {x: X}), reference(X))


def test_methods_without_a_numpy_twin():
    x = at.matrix("x")
    values = {x: X}
    assert_close(evaluate(x.norm(2), values), np.linalg.norm(X))
    assert_close(evaluate(x.norm(1, axis=0), values), np.abs(X).sum(axis=0))
    assert_close(evaluate(x.norm(np.inf, axis=1), values), np.abs(X).max(axis=1))
    with pytest.raises(NotImplementedError, match="0-norm"):
        x.norm(0)
    np.testing.assert_array_equal(evaluate(x.fill(3), values), np.full_like(X, 3))
    np.testing.assert_array_equal(evaluate(x.zeros_like("int8"), values), np.zeros(X.shape, "int8"))
    np.testing.assert_array_equal(evaluate(x.ones_like(), values), np.ones(X.shape))
    np.testing.assert_array_equal(evaluate(x.nonzero_values(), values), X.ravel())
    np.testing.assert_array_equal(evaluate(list(x.nonzero()), values), np.nonzero(X))
    np.testing.assert_array_equal(evaluate(x.ptp(axis=0), values), np.ptp(X, axis=0))
    np.testing.assert_array_equal(evaluate(x.sort(axis=0), values), np.sort(X, axis=0))
    np.testing.assert_array_equal(evaluate(x.argsort(), values), np.argsort(X))
    np.testing.assert_array_equal(evaluate(x.shape, values), X.shape)
    assert evaluate(x.size, values) == 6
    np.testing.assert_array_equal(evaluate(x.compress([True, False], axis=0), values), X[:1])
    v = at.vector("v")
    assert evaluate(v.searchsorted(1.5), {v: [1.0, 2.0, 3.0]}) == 1
    i = at.lvector("i")
    np.testing.assert_array_equal(evaluate(i.choose([[1, 2], [3, 4]]), {i: [1, 0]}), [3, 2])
    assert x.transfer("cpu") is x and x.copy(name="y").name == "y"
    with pytest.raises(ValueError, match="target"):
        x.transfer("gpu")


def test_attributes():
    x = at.tensor("float32", (1, None), name="x")
    assert (x.dtype, x.ndim, x.broadcastable, x.type.shape) == ("float32", 2, (True, False), (1, None))
    assert str(x) == "x" and x.astype("float32") is x
    assert isinstance(x, DenseTensorVariable) and not isinstance(x, DenseTensorConstant)
    one = at.constant(1)
    assert isinstance(one, DenseTensorConstant) and not isinstance(one, DenseTensorVariable)
    assert not isinstance(aes.float64(), DenseTensorVariable)


DOCUMENTED = """
    T __abs__ __add__ __and__ __ceil__ __divmod__ __dot__ __floor__ __floordiv__ __ge__ __getitem__ __gt__
    __invert__ __iter__ __le__ __lt__ __matmul__ __mod__ __mul__ __neg__ __or__ __pow__ __radd__ __rand__
    __rdivmod__ __rfloordiv__ __rmatmul__ __rmod__ __rmul__ __ror__ __rpow__ __rsub__ __rtruediv__ __rxor__
    __sub__ __truediv__ __trunc__ __xor__ all any arccos arccosh arcsin arcsinh arctan arctanh argmax argmin
    argsort astype broadcastable ceil choose clip compress conj conjugate copy cos cosh cumprod cumsum deg2rad
    diagonal dimshuffle dot dtype exp exp2 expm1 fill flatten floor get_scalar_constant_value imag log log10
    log1p log2 max mean min ndim nonzero nonzero_values norm ones_like prod ptp rad2deg ravel real repeat
    reshape round searchsorted shape sin sinh size sort sqrt squeeze std sum swapaxes take tan tanh trace
    transfer transpose trunc var zeros_like
"""


@pytest.mark.parametrize("name", DOCUMENTED.split())
def test_documented_methods_exist(name):
    assert hasattr(TensorVariable, name)


class TestTruth:
    def test_comparisons_have_no_truth_value(self):
        x = at.scalar("x")
        for condition in (x > 0, x < 0, x >= 0, x <= 0, at.eq(x, 0), at.neq(x, 0)):
            with pytest.raises(TypeError, match="do not support boolean operations.*switch"):
                bool(condition)

    def test_no_condition_has_a_truth_value(self):
        v, a = at.vector("v"), TensorType("bool", (None,))("a")
        for condition in ((v > 0).all(), at.any(v), a & a, ~a, a[0], a, at.isnan(v), shared(np.array(True))):
            with pytest.raises(TypeError, match="do not support boolean operations.*switch.*is None"):
                bool(condition)

    def test_constants_have_theirs(self):
        assert bool(at.constant(np.array(True))) and not bool(at.constant(np.array(False)))
        assert not bool(at.constant(np.array([[False]])))
        with pytest.raises(ValueError, match="more than one element"):
            bool(at.constant(np.array([True, False])))

    def test_other_variables_are_true(self):
        assert bool(at.scalar()) and bool(at.constant(0)) and bool(at.scalar() + 1)

    def test_equality_is_identity(self):
        x = at.scalar()
        assert (x == x) is True and (x == 0) is False and hash(x) == hash(x)
        assert x in [at.scalar(), x]


class TestIteration:
    def test_known_lengths(self):
        parts = list(at.tensor("float64", (2, 3)))
        assert len(parts) == 2 and parts[0].type.shape == (3,)
        a, b = at.matrix().shape
        assert a.type.ndim == b.type.ndim == 0

    @pytest.mark.parametrize("x", [at.matrix(), at.vector(), at.scalar()])
    def test_unknown_lengths(self, x):
        with pytest.raises(TypeError, match="does not support iteration"):
            list(x)
        with pytest.raises(TypeError, match="has no len"):
            len(x)

    @pytest.mark.parametrize("name", ["len", "float", "int", "complex", "index"])
    def test_methods_of_numbers_and_lists(self, name):
        """Programs that ask whether there are any find none, and what needs one says why there is none."""
        for x in (at.vector("x"), at.scalar("x"), at.exp(at.vector("x")), at.constant([1.0, 2.0])):
            assert not hasattr(x, f"__{name}__")
        if name not in ("complex", "index"):
            with pytest.raises(TypeError, match="x of type TensorType"):
                {"len": len, "float": float, "int": int}[name](at.scalar("x"))


class TestOperands:
    @pytest.mark.parametrize("other", ["a", None, {}, object()])
    def test_what_is_no_tensor(self, other):
        x = at.matrix()
        for operation in (lambda: x + other, lambda: other - x, lambda: x < other, lambda: x @ other):
            with pytest.raises(TypeError, match="support"):
                operation()

    def test_booleans_are_probably_a_mistake(self):
        b = at.vector(dtype="bool")
        for operation in (lambda: b | True, lambda: False & b, lambda: b + True):
            with pytest.raises(TypeError, match="np.array\\(True\\)"):
                operation()
        assert (b & np.array(True)).type.dtype == "bool"

    def test_wrong_dtypes_say_so(self):
        b, x = at.vector(dtype="bool"), at.vector()
        with pytest.raises(TypeError, match="boolean"):
            b - b
        with pytest.raises(TypeError, match="float64"):
            x & x

    def test_other_operands_come_first(self):
        class Other:
            def __radd__(self, other):
                return "mine"

        assert at.matrix() + Other() == "mine"

    @pytest.mark.parametrize("variable", [at.vector(), at.constant([1.0]), shared(2.0), aes.float64()])
    def test_tables_leave_operators_to_variables(self, variable):
        """A table of pandas returns NotImplemented to what has a higher priority; those of pandas end at 4000."""
        assert variable.__pandas_priority__ > 4000

    def test_only_integers_can_be_shifted(self):
        assert (at.ivector() << 1).type.dtype == "int32"
        with pytest.raises(TypeError):
            at.vector() << 1


class TestConstants:
    @pytest.mark.parametrize(
        "value, dtype, shape",
        [
            (1, "int8", ()),
            (300, "int16", ()),
            (2**40, "int64", ()),
            (1.0, "float32", ()),
            (0.1, "float64", ()),
            (1j, "complex128", ()),
            (np.float32(1), "float32", ()),
            (np.float64(1), "float64", ()),
            (np.array(True), "bool", ()),
            ([1, 2], "int64", (2,)),
            ([[1.0]], "float64", (1, 1)),
            ([], "float64", (0,)),
            (np.zeros((1, 3), ">f4"), "float32", (1, 3)),
        ],
    )
    def test_types(self, value, dtype, shape):
        c = at.constant(value)
        assert c.type == TensorType(dtype, shape) and isinstance(c, TensorConstant)
        np.testing.assert_array_equal(c.data, np.asarray(value))
        assert c.data.dtype.isnative

    def test_numbers_follow_floatX(self):
        with config.change_flags(floatX="float32"):
            assert at.constant(0.1).dtype == "float32"
        assert at.constant(0.1).dtype == "float64"

    def test_zero_keeps_its_sign(self):
        assert np.signbit(at.constant(-0.0).data) and not np.signbit(at.constant(0.0).data)

    def test_arguments(self):
        assert at.constant(1, ndim=2).type.shape == (1, 1)
        assert at.constant([[1]], ndim=1).type.shape == (1,)
        assert at.constant(1.5, dtype="float32", name="c").name == "c"
        c = at.constant([1.0])
        assert at.constant(c) is c and at.constant(c, ndim=2).type.shape == (1, 1)
        with pytest.raises(ValueError, match="could not be cast to have 1 dimensions"):
            at.constant(np.ones((2, 3)), ndim=1)

    @pytest.mark.parametrize("value", ["abc", None, object(), at.scalar(), [at.scalar(), 1]])
    def test_what_is_no_value(self, value):
        with pytest.raises(TypeError):
            at.constant(value)

    def test_the_value_is_copied(self):
        value = np.arange(3.0)
        c = at.constant(value)
        value[0] = 7
        assert c.data[0] == 0

    def test_text(self):
        assert str(at.constant(1)) == "TensorConstant{1}"
        assert str(at.constant(np.ones((2, 3)))) == "TensorConstant{(2, 3) of 1.0}"
        assert str(at.constant(np.arange(3))) == "TensorConstant{[0 1 2]}"
        assert str(at.constant(np.arange(100))) == "TensorConstant{[ 0  1  2 .. 97 98 99]}"
        assert str(at.constant(1, name="bob")) == "bob{1}"

    def test_unique_value(self):
        assert at.constant(np.full((2, 2), 3.0)).unique_value == 3.0
        assert at.constant([1, 2]).unique_value is None and at.constant([]).unique_value is None
        assert np.isnan(get_unique_value(at.constant([np.nan, np.nan])))
        assert get_unique_value(at.vector()) is None

    def test_signatures(self):
        def signature(value, **kwargs):
            return at.constant(value, **kwargs).signature()

        assert signature(1) == signature(1) and hash(signature(1)) == hash(signature(1))
        assert signature([1.0, np.nan]) == signature([1.0, np.nan])
        assert hash(signature([1.0, np.nan])) == hash(signature([1.0, np.nan]))
        assert signature(1) != signature(2) and signature(1, dtype="int8") != signature(1, dtype="int16")
        assert signature([1, 2]) != signature([[1, 2]])
        assert signature(0.0) != signature(-0.0)
        assert isinstance(signature(1), TensorConstantSignature)
        assert signature([1.0, np.nan]).sum == 1.0 and signature([1.0, np.nan]).no_nan.mask[1]
        assert signature([1.0, 2.0]).aesara_hash() == signature([1.0, 2.0]).aesara_hash()

    def test_equals(self):
        c = at.constant([1.0, 2.0])
        assert c.equals(at.constant([1.0, 2.0])) and c.equals(np.array([1.0, 2.0]))
        assert not c.equals(at.constant([1.0, 3.0])) and not c.equals(at.vector())
        assert at.constant(1).equals(1)

    def test_copies(self):
        c = at.constant([1.0, 2.0], name="c")
        for other in (copy.copy(c), copy.deepcopy(c), c.clone(), pickle.loads(pickle.dumps(c))):
            assert other.equals(c) and other.name == "c"
        assert copy.copy(c).data is c.data and copy.deepcopy(c).data is not c.data


class TestConversion:
    def test_ndim(self):
        x = at.matrix()
        assert at.as_tensor_variable(x) is x and at.as_tensor_variable(x, ndim=2) is x
        assert at.as_tensor_variable(x, ndim=3).type.shape == (1, None, None)
        assert at.as_tensor_variable(at.row(), ndim=1).type.shape == (None,)
        with pytest.raises(ValueError, match="could not be cast to have 1 dimensions"):
            at.as_tensor_variable(x, ndim=1)

    def test_scalars_and_nodes(self):
        s = aes.float32("s")
        assert at.as_tensor_variable(s).type == TensorType("float32", ())
        x = at.vector()
        y = x + 1
        assert at.as_tensor_variable(y.owner) is y
        with pytest.raises(TypeError, match="Multi-output"):
            at.as_tensor_variable(at.max_and_argmax(x)[0].owner)

    def test_sequences(self):
        s, x = at.dscalar(), at.matrix()
        assert at.as_tensor_variable([s, 1.0]).type.shape == (2,)
        assert at.as_tensor_variable([x, x]).type.ndim == 3
        assert isinstance(at.as_tensor_variable((1, 2)), Constant)
        with pytest.raises(ValueError, match="inhomogeneous"):
            at.as_tensor_variable([[1, 2], [3]])

    @pytest.mark.parametrize("value", ["abc", None, slice(1), lambda: 1, at.dvector])
    def test_what_cannot_be_converted(self, value):
        with pytest.raises(NotImplementedError, match="Cannot convert"):
            at.as_tensor_variable(value)

    def test_arrays_of_other_libraries(self):
        class Array:
            def __array__(self, dtype=None, copy=None):
                return np.arange(3.0)

        np.testing.assert_array_equal(at.as_tensor_variable(Array()).data, np.arange(3.0))

    def test_between_scalars_and_tensors(self):
        x = at.scalar("x")
        there = at.scalar_from_tensor(x)
        assert there.type.dtype == "float64"
        assert evaluate(at.tensor_from_scalar(there), {x: 2.5}) == 2.5
        with pytest.raises(TypeError, match="without dimensions"):
            at.scalar_from_tensor(at.vector())
        with pytest.raises(TypeError, match="scalar variable"):
            at.tensor_from_scalar(x)


def test_functions_of_numpy_that_need_no_values():
    x = at.dmatrix("x")
    assert np.ndim(x) == 2
    assert np.shape(x).eval({x: np.ones((2, 3))}).tolist() == [2, 3]
    assert np.transpose(x).eval({x: np.ones((2, 3))}).shape == (3, 2)
    assert_close(np.exp(x).eval({x: np.ones((1, 1))}), np.exp([[1.0]]))
    assert (np.ones((2, 1)) * x).type.ndim == 2


def test_masks_that_hide_nothing():
    x = at.dvector("x")
    values = np.ma.masked_array([1.0, 2.0], mask=[False, False])
    for result in ((x + 1).eval({x: values}), (at.as_tensor_variable(values) + 1).eval()):
        assert type(result) is np.ndarray and result.tolist() == [2.0, 3.0]


def test_repr_with_test_values():
    x, y = at.dvector("x"), at.dvector("y")
    x.tag.test_value = np.ones(2)
    with config.change_flags(compute_test_value="ignore"):
        z = x + 1
        assert repr(x) == "x"
    with config.change_flags(print_test_value=True):
        assert repr(x) == "x\narray([1., 1.])" and str(x) == "x"
        assert repr(z).endswith("\narray([2., 2.])")
        assert repr(y) == "y"
        assert repr(at.constant(2.0, dtype="float64")) == "TensorConstant{2.0}\narray(2.)"
        assert repr(shared(np.zeros(1), name="s")) == "s\narray([0.])"


def test_attributes_that_only_have_a_message():
    """Programs tell kinds of arrays by their attributes: these are not found, and shared variables have theirs."""
    x, w, one = at.dvector("x"), shared(np.zeros(2), name="w"), at.constant(1.0)
    for variable, names in ((x, ("at", "get_value", "set_value")), (one, ("get_value",)), (w, ("at",))):
        for name in names:
            assert not hasattr(variable, name) and not hasattr(type(variable), name)
            assert name not in dir(variable)
    assert "shape" in dir(x) and "set_value" in dir(w)
    assert w.get_value().shape == (2,)


@pytest.mark.parametrize("module", ["variable", "tensor_constant"])
def test_all_functions_of_methods_are_set(module):
    used = set()
    for node in ast.walk(tree_of(f"aesara.tensor.core.{module}")):
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "functions":
            used.add(node.attr)
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in ("_binary", "_reflect"):
            used.add(ast.literal_eval(node.args[1]))
        elif isinstance(node, ast.Call) and ast.unparse(node.func) == "_unary":
            used.add(ast.literal_eval(node.args[0]).strip("_"))
    assert used and used <= vars(functions).keys()
