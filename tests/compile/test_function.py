"""`function`: inputs, outputs, defaults, updates, substitutions, and what it says when something is wrong."""

import copy
import pickle
import re

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.compile import Function, In, Mode, Out, UnusedInputError
from aesara.compile.ops import as_op
from aesara.graph.basic import Constant
from aesara.graph.traversal import applys_between
from aesara.graph.utils import MissingInputError
from aesara.tensor.elemwise import Elemwise
from tests.closeness import assert_close

MODES = ["FAST_COMPILE", "FAST_RUN"]


@pytest.fixture(params=MODES)
def mode(request):
    return request.param


@pytest.fixture
def x():
    return at.dvector("x")


@pytest.fixture
def y():
    return at.dvector("y")


class TestInputsAndOutputs:
    def test_single_output(self, mode, x, y):
        f = aesara.function([x, y], x + 2 * y, mode=mode)
        result = f([1.0, 2.0], [3.0, 4.0])
        assert isinstance(result, np.ndarray) and result.dtype == "float64"
        np.testing.assert_array_equal(result, [7.0, 10.0])

    def test_list_of_outputs(self, mode, x):
        one, two = aesara.function([x], [x + 1, x.sum()], mode=mode)([1.0, 2.0])
        np.testing.assert_array_equal(one, [2.0, 3.0])
        assert two.shape == () and two == 3.0

    def test_list_of_one_output_stays_a_list(self, mode, x):
        result = aesara.function([x], [x + 1], mode=mode)([1.0])
        assert isinstance(result, list) and len(result) == 1

    def test_empty_list_of_outputs(self, mode):
        assert aesara.function([], [], mode=mode)() == []

    def test_no_outputs(self, mode):
        total = aesara.shared(1.0)
        f = aesara.function([], updates={total: total + 1}, mode=mode)
        assert f() is None
        assert total.get_value() == 2.0

    def test_dict_of_outputs(self, mode, x):
        f = aesara.function([x], {"b": x + 1, "a": x.sum()}, mode=mode)
        result = f([1.0, 2.0])
        assert list(result) == ["a", "b"]
        np.testing.assert_array_equal(result["b"], [2.0, 3.0])
        assert result["a"] == 3.0
        # With values that need a conversion too.
        np.testing.assert_array_equal(f(np.arange(2, dtype="int8"))["b"], [1.0, 2.0])

    def test_output_subset(self, mode, x):
        f = aesara.function([x], {"a": x, "b": x + 1}, mode=mode)
        assert list(f([1.0], output_subset=["b"])) == ["b"]
        g = aesara.function([x], [x, x + 1], mode=mode)
        (only,) = g([1.0], output_subset=[1])
        np.testing.assert_array_equal(only, [2.0])
        with pytest.raises(ValueError, match="unknown output"):
            g([1.0], output_subset=[2])

    def test_out_objects(self, mode, x):
        np.testing.assert_array_equal(aesara.function([x], Out(x + 1, borrow=True), mode=mode)([1.0]), [2.0])

    @pytest.mark.parametrize("bad", [3.0, "x", [1, 2]])
    def test_outputs_must_be_variables(self, x, bad):
        with pytest.raises(TypeError, match="Outputs must be aesara Variable or Out instances"):
            aesara.function([x], bad, on_unused_input="ignore")

    def test_names_of_outputs_must_be_strings(self, x):
        for kind in (TypeError, AssertionError):
            with pytest.raises(kind, match="must be strings, got 1"):
                aesara.function([x], {1: x})

    def test_constant_output(self, mode):
        f = aesara.function([], at.constant([1.0, 2.0]), mode=mode)
        f()[0] = 5
        np.testing.assert_array_equal(f(), [1.0, 2.0])

    def test_an_inner_variable_as_input(self, mode, x):
        inner = x + 1
        inner.name = "inner"
        f = aesara.function([inner], 2 * inner, mode=mode)
        np.testing.assert_array_equal(f([3.0]), [6.0])
        np.testing.assert_array_equal(f(inner=[3.0]), [6.0])

    @pytest.mark.parametrize("value", [[1, 2], (1.0, 2.0), np.float32([1, 2]), np.int8([1, 2]), np.arange(4.0)[1:3]])
    def test_convertible_arguments(self, mode, x, value):
        result = aesara.function([x], x * 2, mode=mode)(value)
        assert result.dtype == "float64"
        np.testing.assert_array_equal(result, [2.0, 4.0])

    @pytest.mark.parametrize(
        "value",
        [
            np.arange(12.0).reshape(3, 4).T,
            np.arange(24.0).reshape(3, 8)[:, ::2],
            np.arange(12.0)[::-1].reshape(3, 4),
            np.asfortranarray(np.arange(12.0).reshape(3, 4)),
            np.empty((0, 4)),
            np.array([[np.nan, np.inf, -np.inf, -0.0]]),
        ],
        ids=["transposed", "strided", "negative", "fortran", "empty", "special"],
    )
    def test_any_memory_layout(self, mode, value):
        x = at.dmatrix("x")
        with np.errstate(invalid="ignore"):
            expected = value - 1
        np.testing.assert_array_equal(aesara.function([x], x - 1, mode=mode)(value), expected)

    def test_numbers_for_scalars(self, mode):
        a = at.dscalar("a")
        f = aesara.function([a], a * 2, mode=mode)
        for value in (3, 3.0, np.float64(3), np.float32(3), np.array(3.0), True):
            assert f(value) == 2 * float(value)
            assert f(value).shape == ()

    def test_downcast(self, mode):
        a = at.fvector("a")
        value = np.array([0.1, 0.2])
        with pytest.raises(TypeError, match="loss of precision"):
            aesara.function([a], a, mode=mode)(value)
        f = aesara.function([a], a, mode=mode, allow_input_downcast=True)
        np.testing.assert_array_equal(f(value), value.astype("float32"))
        g = aesara.function([In(a, allow_downcast=True)], a, mode=mode)
        np.testing.assert_array_equal(g(value), value.astype("float32"))

    def test_strict(self, mode, x):
        f = aesara.function([In(x, strict=True)], x + 1, mode=mode)
        np.testing.assert_array_equal(f(np.ones(2)), [2.0, 2.0])
        with pytest.raises(TypeError, match="index 0"):
            f([1.0, 1.0])


class TestNamesAndDefaults:
    def test_keywords(self, mode, x, y):
        f = aesara.function([x, y], x - y, mode=mode)
        np.testing.assert_array_equal(f(y=[1.0], x=[3.0]), [2.0])
        np.testing.assert_array_equal(f([3.0], y=[1.0]), [2.0])

    def test_default_value(self, mode, x, y):
        f = aesara.function([x, In(y, value=[10.0, 20.0])], x + y, mode=mode)
        np.testing.assert_array_equal(f([1.0, 2.0]), [11.0, 22.0])
        np.testing.assert_array_equal(f([1.0, 2.0], [0.0, 0.0]), [1.0, 2.0])
        np.testing.assert_array_equal(f([1.0, 2.0], y=[0.0, 1.0]), [1.0, 3.0])
        # A value that is passed does not replace the default.
        np.testing.assert_array_equal(f([1.0, 2.0]), [11.0, 22.0])
        np.testing.assert_array_equal(f[y], [10.0, 20.0])

    def test_pair_of_variable_and_default(self, mode, x, y):
        f = aesara.function([x, (y, np.ones(2))], x + y, mode=mode)
        np.testing.assert_array_equal(f([1.0, 2.0]), [2.0, 3.0])

    def test_default_is_a_copy(self, mode, x):
        value = np.ones(2)
        f = aesara.function([In(x, value=value)], x + 1, mode=mode)
        value[:] = 7
        np.testing.assert_array_equal(f(), [2.0, 2.0])

    def test_default_can_be_changed(self, mode, x, y):
        f = aesara.function([x, In(y, value=[1.0], name="why")], x + y, mode=mode)
        f["why"] = [5.0]
        np.testing.assert_array_equal(f([1.0]), [6.0])
        np.testing.assert_array_equal(f([1.0], [2.0]), [3.0])
        np.testing.assert_array_equal(f([1.0]), [6.0])
        f.value[y] = [7.0]
        np.testing.assert_array_equal(f([1.0]), [8.0])
        with pytest.raises(TypeError, match="Wrong number of dimensions"):
            f["why"] = [[1.0]]

    def test_state(self, mode, x, y):
        f = aesara.function([x, In(y, value=[0.0], name="state", update=x + y)], y, mode=mode)
        assert [float(f([2.0])[0]) for _ in range(3)] == [0.0, 2.0, 4.0]
        np.testing.assert_array_equal(f["state"], [6.0])
        np.testing.assert_array_equal(f([1.0], [100.0]), [100.0])
        np.testing.assert_array_equal(f["state"], [101.0])
        f["state"] = [5.0]
        np.testing.assert_array_equal(f([1.0]), [5.0])

    def test_one_update_for_a_shared_variable_and_its_clone(self):
        state = aesara.shared(1.0, name="state")
        with pytest.raises(ValueError, match="state and state have the same value"):
            aesara.function([], [], updates=[(state, state + 1), (state.clone(), state + 10)])

    def test_lookup(self, x, y):
        f = aesara.function([x, In(y, value=[1.0])], x + y, mode="FAST_COMPILE")
        assert f[x] is None and f["x"] is None and f[0] is None
        assert "x" in f and y in f and "z" not in f and len(f.value) == 2
        assert f.container["y"].value.tolist() == [1.0]
        with pytest.raises(TypeError, match="Unknown input or state: z.*x, y"):
            f["z"]

    def test_ambiguous_names(self):
        a, b = at.dvector("same"), at.dvector("same")
        f = aesara.function([a, b], a + b, mode="FAST_COMPILE")
        np.testing.assert_array_equal(f([1.0], [2.0]), [3.0])
        with pytest.raises(TypeError, match="Ambiguous name"):
            f["same"]
        with pytest.raises(TypeError, match="Ambiguous name"):
            f([1.0], same=[1.0])

    def test_arguments_are_not_kept(self, x):
        f = aesara.function([x], x + 1, mode="FAST_COMPILE")
        f([1.0])
        assert f.input_storage[0].value is None and f.output_storage[0].value is None

    def test_trust_input(self, x):
        f = aesara.function([x], x + 1, mode="FAST_COMPILE")
        f.trust_input = True
        np.testing.assert_array_equal(f(np.ones(1)), [2.0])

    def test_a_trusted_argument_that_native_code_does_not_take_is_converted(self, x):
        f = aesara.function([x], x + 1, mode="FAST_RUN")
        f.trust_input = True
        np.testing.assert_array_equal(f([1, 2]), [2.0, 3.0])
        with pytest.raises(TypeError, match="Wrong number of dimensions"):
            f(np.ones((2, 2)))
        number = at.dscalar()
        g = aesara.function([number], number + 1, mode="FAST_RUN")
        g.trust_input = True
        assert g(np.array([10.0])) == 11.0


class TestWrongArguments:
    @pytest.fixture
    def f(self, mode, x, y):
        return aesara.function([x, y], x + y, mode=mode, name="adder")

    def test_rank(self, f):
        with pytest.raises(TypeError) as info:
            f([1.0], [[2.0]])
        text = str(info.value)
        assert '"adder" at index 1' in text and "`y`" in text and "float64" in text
        assert "Wrong number of dimensions: expected 1, got 2" in text

    def test_dtype(self, f):
        with pytest.raises(TypeError, match="index 0.*float64.*complex128"):
            f(np.ones(1, dtype="complex128"), [1.0])

    def test_imprecise_integers(self, mode):
        i = at.ivector("i")
        f = aesara.function([i], i + 1, mode=mode)
        with pytest.raises(TypeError, match=r"`i`.*int32.*\[1.5\]"):
            f([1.5])
        with pytest.raises(TypeError, match="`i`.*int32.*int64"):
            f(np.arange(2, dtype="int64"))

    @pytest.mark.parametrize("value", [None, "abc", object()], ids=["None", "string", "object"])
    def test_no_array(self, f, value):
        with pytest.raises((TypeError, ValueError), match="index 1.*`y`"):
            f([1.0], value)

    def test_missing(self, f):
        with pytest.raises(TypeError, match='Missing required input: y of aesara function "adder".*x, y'):
            f([1.0])

    def test_too_many(self, f):
        with pytest.raises(TypeError, match='Too many parameters passed to aesara function "adder": it takes 2, got 3'):
            f([1.0], [1.0], [1.0])

    def test_unknown_keyword(self, f):
        with pytest.raises(TypeError, match="Unknown input or state: z.*x, y"):
            f([1.0], z=[1.0])

    def test_keyword_given_twice(self, f):
        with pytest.raises(TypeError, match="Multiple values for input: x"):
            f([1.0], x=[1.0], y=[1.0])

    def test_works_again_after_an_error(self, f):
        with pytest.raises(TypeError):
            f([1.0])
        np.testing.assert_array_equal(f([1.0], [2.0]), [3.0])

    def test_static_shape(self, mode):
        a = at.tensor("float64", shape=(2,), name="a")
        f = aesara.function([a], a + 1, mode=mode)
        np.testing.assert_array_equal(f([1.0, 2.0]), [2.0, 3.0])
        with pytest.raises(TypeError, match="`a`"):
            f([1.0, 2.0, 3.0])


class TestErrorsAtRunTime:
    def test_shape_mismatch_names_node_and_line(self, mode, x, y):
        z = x * y  # the line that the message shows
        f = aesara.function([x, y], z, mode=mode)
        with pytest.raises(ValueError) as info:
            f([1.0, 2.0], [1.0, 2.0, 3.0])
        text = str(info.value)
        assert "Apply node that caused the error: " in text and "mul" in text
        assert __file__ in text and "z = x * y" in text
        assert len(text.splitlines()) <= 15

    def test_values_are_shown(self, x, y):
        f = aesara.function([x, y], x * y, mode="FAST_COMPILE")
        with pytest.raises(ValueError) as info:
            f([1.0, 2.0], np.ones(30))
        text = str(info.value)
        assert "Inputs shapes: [(2,), (30,)]" in text and "Inputs strides: [(8,), (8,)]" in text
        assert "Inputs values: [array([1., 2.]), not shown]" in text

    def test_index_out_of_range(self, mode, x):
        f = aesara.function([x], x[5], mode=mode)
        with pytest.raises(IndexError) as info:
            f([1.0])
        assert "Subtensor" in str(info.value) and __file__ in str(info.value)

    def test_high_verbosity(self, mode, x, y):
        f = aesara.function([x, y], x * y, mode=mode)
        with (
            aesara.config.change_flags(exception_verbosity="high"),
            pytest.raises(ValueError, match=r"\[id A\]"),
        ):
            f([1.0, 2.0], [1.0, 2.0, 3.0])

    def test_shared_variables_keep_their_values(self, mode, x, y):
        first, second = aesara.shared(np.zeros(2)), aesara.shared(np.zeros(2))
        f = aesara.function([x, y], x * y, updates=[(first, first + 1), (second, second + y)], mode=mode)
        for arguments in (([1.0, 2.0, 3.0], [1.0, 2.0]), ([1.0, 2.0, 3.0], [1.0, 2.0, 3.0])):
            with pytest.raises(ValueError):
                f(*arguments)
            assert first.get_value().tolist() == [0.0, 0.0]
            assert second.get_value().tolist() == [0.0, 0.0]
        f([1.0, 2.0], [1.0, 2.0])
        assert first.get_value().tolist() == [1.0, 1.0]
        assert second.get_value().tolist() == [1.0, 2.0]

    def test_states_keep_their_values(self, mode, x, y):
        f = aesara.function([x, In(y, value=np.zeros(2), update=x + y)], x * y, mode=mode)
        with pytest.raises(ValueError):
            f([1.0, 2.0, 3.0])
        with pytest.raises(ValueError):
            f([1.0, 2.0, 3.0], [1.0, 1.0])
        assert f[y].tolist() == [0.0, 0.0]

    def test_exceptions_of_other_classes(self, mode):
        class OddError(Exception):
            def __init__(self, code, other):
                super().__init__(f"code {code}")

        @as_op([at.dscalar], [at.dscalar])
        def fails(a):
            raise OddError(3, 4)

        a = at.dscalar("a")
        f = aesara.function([a], fails(a) + 1, mode=mode)
        with pytest.raises(OddError) as info:
            f(1.0)
        assert str(info.value) == "code 3"
        assert any("FromFunctionOp{fails}" in note for note in info.value.__notes__)


class TestGraphErrors:
    def test_inputs_must_be_a_list(self, x):
        with pytest.raises(TypeError, match="contained in a list"):
            aesara.function(x, x)

    def test_unknown_input(self):
        with pytest.raises(TypeError, match="Unknown parameter type"):
            aesara.function(["x"], [])

    def test_constant_input(self, x):
        with pytest.raises(TypeError, match="Constants not allowed"):
            aesara.function([at.constant(1.0)], x)
        with pytest.raises(TypeError, match="Constants not allowed"):
            aesara.function([In(at.constant(1.0))], x)

    def test_shared_input(self):
        s = aesara.shared(1.0, name="s")
        for given in (s, In(s), (s, 1.0)):
            with pytest.raises(TypeError, match=r"Cannot use a shared variable \(s\) as explicit input"):
                aesara.function([given], s)

    def test_duplicate_input(self, x):
        with pytest.raises(UnusedInputError, match="x is used twice.*0 and 1"):
            aesara.function([x, x], x)

    def test_unused_input(self, x, y):
        with pytest.raises(UnusedInputError, match="index 1.*\n?.*: y"):
            aesara.function([x, y], x)
        with pytest.warns(UserWarning, match="index 1"):
            aesara.function([x, y], x, on_unused_input="warn", mode="FAST_COMPILE")
        f = aesara.function([x, y], x, on_unused_input="ignore", mode="FAST_COMPILE")
        np.testing.assert_array_equal(f([1.0], [2.0]), [1.0])
        with aesara.config.change_flags(on_unused_input="ignore"):
            aesara.function([x, y], x, mode="FAST_COMPILE")
        with pytest.raises(ValueError, match="on_unused_input"):
            aesara.function([x], x, on_unused_input="nonsense")

    def test_missing_input(self, x, y):
        z = x + y  # this line is named
        with pytest.raises(MissingInputError) as info:
            aesara.function([x], z * 2)
        text = str(info.value)
        assert "Input `y`" in text and "input 1" in text and "z = x + y" in text

    def test_a_missing_input_and_one_that_is_not_used(self, x, y):
        for error in (MissingInputError, UnusedInputError):
            with pytest.raises(error, match=r"Input `y`(.|\n)*Not needed: x"):
                aesara.function([x], y)
        with pytest.raises(MissingInputError) as info:
            aesara.function([x], y, on_unused_input="ignore")
        assert not isinstance(info.value, UnusedInputError)

    def test_missing_input_that_is_an_output(self, y):
        with pytest.raises(MissingInputError, match="`y`"):
            aesara.function([], y)

    def test_unknown_mode(self, x):
        with pytest.raises(ValueError, match="'FOO'.*FAST_RUN"):
            aesara.function([x], x, mode="FOO")

    def test_inplace_graphs_are_refused(self, x, y):
        destructive = Elemwise(aesara.scalar.add, {0: 0})
        with pytest.raises(TypeError, match="must not contain inplace operations"):
            aesara.function([x, y], destructive(x, y))
        # Their names are in one order in each run of a program.
        total = x
        for name in "sub mul add true_div scalar_maximum scalar_minimum".split():
            total = Elemwise(getattr(aesara.scalar, name), {0: 0})(total, y)
        names = sorted({str(node.op) for node in applys_between([x, y], [total])})
        with pytest.raises(TypeError, match=f"operations: {re.escape(', '.join(names))}\\. Build"):
            aesara.function([x, y], total)


class TestGivens:
    def test_replaces(self, mode, x, y):
        np.testing.assert_array_equal(aesara.function([x], y + 1, givens={y: x * 2}, mode=mode)([1.0]), [3.0])
        np.testing.assert_array_equal(aesara.function([x], y + 1, givens=[(y, x * 2)], mode=mode)([1.0]), [3.0])

    def test_inner_variable(self, mode, x, y):
        inner = x * 2
        f = aesara.function([y], inner + 1, givens={inner: y}, mode=mode)
        np.testing.assert_array_equal(f([1.0]), [2.0])

    def test_replacement_may_contain_what_it_replaces(self, mode, x):
        s = aesara.shared(np.ones(2))
        np.testing.assert_array_equal(aesara.function([], s * 3, givens={s: s + 1}, mode=mode)(), [6.0, 6.0])

    def test_shared_variable_that_is_updated(self, mode, x):
        s = aesara.shared(np.ones(2))
        f = aesara.function([x], s * 3, givens={s: x}, updates={s: s + 10}, mode=mode)
        np.testing.assert_array_equal(f([1.0, 2.0]), [3.0, 6.0])
        np.testing.assert_array_equal(s.get_value(), [11.0, 12.0])

    def test_value(self, mode, x, y):
        f = aesara.function([x], x + y, givens={y: np.ones(2)}, mode=mode)
        np.testing.assert_array_equal(f([1.0, 2.0]), [2.0, 3.0])

    @pytest.mark.parametrize("backwards", [False, True])
    def test_chains_are_refused(self, x, y, backwards):
        z = at.dvector("z")
        givens = [(y, z), (z, y + 1)]
        with pytest.raises(AssertionError, match="can not have a new_v variable depend on an old_v"):
            aesara.function([x], x + y, givens=givens[::-1] if backwards else givens)

    def test_inputs_cannot_be_replaced(self, x, y):
        with pytest.raises(RuntimeError, match="'x' through the `givens`"):
            aesara.function([x, y], x, givens={x: y})

    def test_type_must_fit(self, x, y):
        m = at.dmatrix("m")
        with pytest.raises(TypeError, match="Cannot convert"):
            aesara.function([m], y + 1, givens={y: m})
        f = aesara.function([m], at.exp(y), givens={y: m}, rebuild_strict=False, mode="FAST_COMPILE")
        assert f(np.zeros((2, 2))).shape == (2, 2)

    def test_only_variables(self, x):
        with pytest.raises(TypeError, match="Only variables can be replaced"):
            aesara.function([x], x, givens={"y": x})


class TestUpdates:
    def test_values_are_stored_after_all_are_computed(self, mode):
        a, b = aesara.shared(1.0, name="a"), aesara.shared(10.0, name="b")
        f = aesara.function([], [a, b], updates=[(a, b), (b, a + b)], mode=mode)
        assert [float(one) for one in f()] == [1.0, 10.0]
        assert float(a.get_value()) == 10.0 and float(b.get_value()) == 11.0

    def test_swap(self, mode):
        a, b = aesara.shared(np.zeros(2)), aesara.shared(np.ones(2))
        f = aesara.function([], updates={a: b, b: a}, mode=mode)
        f()
        assert a.get_value().tolist() == [1.0, 1.0] and b.get_value().tolist() == [0.0, 0.0]
        assert not np.shares_memory(a.get_value(borrow=True), b.get_value(borrow=True))

    def test_value_or_constant(self, mode):
        a = aesara.shared(np.zeros(2))
        f = aesara.function([], updates={a: np.ones(2)}, mode=mode)
        f()
        a.get_value(borrow=True)[:] = 7
        f()
        np.testing.assert_array_equal(a.get_value(), [1.0, 1.0])

    def test_target_that_is_not_read(self, mode, x):
        a = aesara.shared(np.zeros(2))
        aesara.function([x], updates={a: 2 * x}, mode=mode)([1.0, 2.0])
        np.testing.assert_array_equal(a.get_value(), [2.0, 4.0])

    def test_default_updates(self, mode):
        a, b = aesara.shared(0, name="a"), aesara.shared(0, name="b")
        a.default_update, b.default_update = a + 1, b + a
        f = aesara.function([], b * 1, mode=mode)
        assert [int(f()) for _ in range(4)] == [0, 0, 1, 3]
        assert int(a.get_value()) == 4

    def test_no_default_updates(self, mode):
        a, b = aesara.shared(0), aesara.shared(0)
        a.default_update, b.default_update = a + 1, b + 1
        aesara.function([], a + b, no_default_updates=True, mode=mode)()
        assert (int(a.get_value()), int(b.get_value())) == (0, 0)
        aesara.function([], a + b, no_default_updates=[a], mode=mode)()
        assert (int(a.get_value()), int(b.get_value())) == (0, 1)
        aesara.function([], a + b, updates={a: a + 10}, mode=mode)()
        assert (int(a.get_value()), int(b.get_value())) == (10, 2)

    def test_ordered_updates(self, mode):
        a = aesara.shared(0)
        aesara.function([], updates=aesara.OrderedUpdates([(a, a + 1)]), mode=mode)()
        assert int(a.get_value()) == 1

    def test_items_of_a_dictionary(self, mode, x):
        a, b = aesara.shared(0.0), aesara.shared(3.0)
        f = aesara.function([x], a + b, updates={a: x.sum() * b}.items(), givens={b: b + 1}.items(), mode=mode)
        assert float(f([1.0, 2.0])) == 4.0 and float(a.get_value()) == 12.0

    def test_errors(self, x, y):
        s = aesara.shared(np.zeros(2), name="s")
        with pytest.raises(TypeError, match="update target must be a SharedVariable"):
            aesara.function([x], x, updates={y: x})
        with pytest.raises(ValueError, match="already has an update"):
            aesara.function([x], x, updates=[(s, x), (s, x + 1)])
        with pytest.raises(TypeError, match="must have the same type"):
            aesara.function([x], x, updates={s: at.outer(x, x)})
        for bad in ([s], s, {s}):
            with pytest.raises(TypeError, match="mapping or a list of pairs"):
                aesara.function([x], x, updates=bad)


class TestAliasing:
    """What a function returns or stores shares no memory with anything else."""

    def test_input_as_output(self, mode, x):
        value = np.ones(2)
        result = aesara.function([x], x, mode=mode)(value)
        assert not np.shares_memory(result, value)

    def test_view_of_input_as_output(self, mode):
        m = at.dmatrix("m")
        value = np.ones((2, 3))
        for output in (m.T, m[0], m[:, ::2], m.ravel()):
            assert not np.shares_memory(aesara.function([m], output, mode=mode)(value), value)

    def test_the_same_output_twice(self, mode, x):
        y = x + 1
        one, two, three = aesara.function([x], [y, y, y[::-1]], mode=mode)(np.ones(2))
        assert not np.shares_memory(one, two) and not np.shares_memory(one, three) and not np.shares_memory(two, three)

    def test_shared_value_as_output(self, mode):
        s = aesara.shared(np.zeros(2))
        result = aesara.function([], s, mode=mode)()
        result[:] = 5
        np.testing.assert_array_equal(s.get_value(), [0.0, 0.0])

    def test_argument_as_update(self, mode, x):
        s = aesara.shared(np.zeros(2))
        value = np.ones(2)
        aesara.function([x], updates={s: x}, mode=mode)(value)
        value[:] = 5
        np.testing.assert_array_equal(s.get_value(), [1.0, 1.0])

    def test_output_as_update(self, mode, x):
        s = aesara.shared(np.zeros(2))
        y = x + 1
        result = aesara.function([x], y, updates={s: y}, mode=mode)(np.ones(2))
        result[:] = 5
        np.testing.assert_array_equal(s.get_value(), [2.0, 2.0])

    def test_two_updates_with_one_value(self, mode, x):
        a, b = aesara.shared(np.zeros(2)), aesara.shared(np.zeros(2))
        y = x + 1
        aesara.function([x], updates={a: y, b: y}, mode=mode)(np.ones(2))
        assert not np.shares_memory(a.get_value(borrow=True), b.get_value(borrow=True))

    def test_results_of_two_calls(self, mode, x):
        f = aesara.function([x], x + 1, mode=mode)
        first = f(np.zeros(2))
        f(np.ones(2))
        np.testing.assert_array_equal(first, [1.0, 1.0])

    def test_arguments_are_never_written(self, mode, x, y):
        one, two = np.ones(3), np.arange(3.0)
        f = aesara.function([x, y], [at.exp(x + y), x - y], mode=mode)
        f(one, two)
        np.testing.assert_array_equal(one, np.ones(3))
        np.testing.assert_array_equal(two, np.arange(3.0))


class TestFunctionObject:
    def test_class_and_attributes(self, mode, x):
        f = aesara.function([x], x + 1, mode=mode, name="increment")
        assert isinstance(f, Function) and type(f).__name__ == "Function"
        assert f.name == "increment"
        assert [str(one) for one in f.maker.fgraph.inputs] == ["x"]
        assert f.maker.fgraph.inputs[0] is not x

    def test_name_is_the_line_of_the_program(self, x):
        assert aesara.function([x], x).name.startswith(__file__ + ":")

    def test_get_shared(self, mode):
        a, b = aesara.shared(1.0, name="a"), aesara.shared(2.0, name="b")
        assert set(aesara.function([], a + 1, updates={b: b + 1}, mode=mode).get_shared()) == {a, b}

    def test_copy(self, mode, x):
        s = aesara.shared(np.zeros(1), name="s")
        f = aesara.function([x], x + s, updates={s: s + x}, mode=mode, name="f")
        g = f.copy()
        assert g.name == "f copy" and g is not f
        np.testing.assert_array_equal(f([1.0]), [1.0])
        np.testing.assert_array_equal(g([1.0]), [2.0])
        np.testing.assert_array_equal(s.get_value(), [2.0])

    def test_copy_without_updates(self, mode, x):
        s = aesara.shared(np.zeros(1))
        g = aesara.function([x], x + s, updates={s: s + x}, mode=mode).copy(delete_updates=True)
        g([1.0])
        np.testing.assert_array_equal(s.get_value(), [0.0])

    def test_copy_with_other_shared_variables(self, mode, x):
        s, t = aesara.shared(np.zeros(1)), aesara.shared(np.full(1, 100.0))
        g = aesara.function([x], x + s, updates={s: s + x}, mode=mode).copy(swap={s: t})
        np.testing.assert_array_equal(g([1.0]), [101.0])
        assert s.get_value() == [0.0] and t.get_value() == [101.0]
        assert g.get_shared() == [t]
        with pytest.raises(ValueError, match="not found"):
            g.copy(swap={s: t})
        with pytest.raises(TypeError, match="Cannot swap"):
            g.copy(swap={t: aesara.shared(np.zeros((1, 1)))})

    def test_copy_of_states(self, mode, x, y):
        f = aesara.function([x, In(y, value=[0.0], update=x + y)], y, mode=mode)
        f([1.0])
        g = f.copy()
        f([10.0])
        np.testing.assert_array_equal(g([1.0]), [1.0])

    def test_copies_share_default_values(self, mode, x, y):
        z = at.dvector("z")
        f = aesara.function([x, In(y, value=[1.0]), In(z, value=[2.0], mutable=True)], x + y + z, mode=mode)
        f.trust_input = True
        g = copy.copy(f)
        assert g.value[y] is f.value[y] and g.container[y] is not f.container[y]
        assert g.value[z] is not f.value[z] and g.trust_input
        g.value[y] = np.array([10.0])
        assert f(np.zeros(1)) == [3.0] and g(np.zeros(1)) == [12.0]

    @pytest.mark.parametrize("protocol", [2, pickle.HIGHEST_PROTOCOL])
    def test_pickle(self, mode, x, y, protocol):
        s = aesara.shared(np.zeros(1), name="s")
        f = aesara.function(
            [x, In(y, value=[3.0], name="why")], {"z": x * y + s}, updates={s: s + 1}, mode=mode, name="f"
        )
        f([1.0])
        g, t = pickle.loads(pickle.dumps((f, s), protocol=protocol))
        assert isinstance(g, Function) and g.name == "f"
        np.testing.assert_array_equal(g([2.0])["z"], [7.0])
        np.testing.assert_array_equal(g([2.0], why=[1.0])["z"], [4.0])
        assert t.get_value() == [3.0] and s.get_value() == [1.0]

    def test_pickle_with_aliased_outputs(self, mode, x):
        f = pickle.loads(pickle.dumps(aesara.function([x], [x, x], mode=mode)))
        value = np.ones(2)
        one, two = f(value)
        assert not np.shares_memory(one, value) and not np.shares_memory(one, two)

    def test_unpickling_can_be_switched_off(self, x):
        data = pickle.dumps(aesara.function([x], x + 1, mode="FAST_COMPILE"))
        with aesara.config.change_flags(unpickle_function=False):
            assert pickle.loads(data) is None

    @pytest.mark.slow
    def test_pickle_of_a_deep_graph(self, x):
        y = x
        for _ in range(3000):
            y = at.sin(y)
        f = aesara.function([x], y, mode=Mode("py", None))
        g = pickle.loads(pickle.dumps(f))
        np.testing.assert_array_equal(g([1.0]), f([1.0]))

    def test_free(self, x):
        f = aesara.function([x], at.exp(x) + 1, mode=Mode("py", None).clone(link_kwargs={"allow_gc": False}))
        f([0.0])
        kept = [cell[0] for variable, cell in f.vm.storage_map.items() if variable.owner is not None]
        assert any(value is not None for value in kept)
        f.free()
        assert all(cell[0] is None for variable, cell in f.vm.storage_map.items() if variable.owner is not None)

    def test_temporaries_are_dropped(self, x):
        f = aesara.function([x], at.exp(x) + 1, mode=Mode("py", None))
        f([0.0])
        for variable, cell in f.vm.storage_map.items():
            assert cell[0] is None or isinstance(variable, Constant) or variable.name == "s"


class TestEval:
    def test_value(self, x, y):
        np.testing.assert_array_equal((x + y).eval({x: [1.0], y: [2.0]}), [3.0])
        assert at.constant(3.0).eval() == 3.0

    def test_function_is_kept(self, x):
        z = x + 1
        z.eval({x: [1.0]})
        (kept,) = z._fn_cache.values()
        z.eval({x: [2.0]})
        assert list(z._fn_cache.values()) == [kept]
        copied = pickle.loads(pickle.dumps(z))
        assert not getattr(copied, "_fn_cache", {})

    def test_other_inputs_need_another_function(self, x):
        z = 2 * (x + 1)
        inner = z.owner.inputs[1]
        np.testing.assert_array_equal(z.eval({x: [1.0]}), [4.0])
        np.testing.assert_array_equal(z.eval({inner: [1.0]}), [2.0])

    def test_errors(self, x):
        with pytest.raises(TypeError, match="from variables to values"):
            (x + 1).eval({3: [1.0]})
        with pytest.raises(MissingInputError, match="`x`"):
            (x + 1).eval()


@pytest.mark.slow
def test_deep_graph():
    x = at.dscalar("x")
    y = x
    for _ in range(20_000):
        y = -y
    f = aesara.function([x], y, mode=Mode("py", None))
    assert f(2.0) == 2.0


def test_function_dump(tmp_path, x):
    path = tmp_path / "arguments.pkl"
    aesara.function_dump(path, [x], x + 1, mode="FAST_COMPILE")
    f = aesara.function(**pickle.loads(path.read_bytes()))
    np.testing.assert_array_equal(f([1.0]), [2.0])


@pytest.mark.parametrize("mode", ["FAST_COMPILE", "FAST_RUN", Mode("vm", None), Mode("llvm", None)], ids=str)
def test_what_is_written_over_is_read_before(mode):
    x = at.dvector("x")
    f = aesara.function(
        [In(x, mutable=True)], [at.inplace.exp_inplace(x), x.sum(), x + 1], mode=mode, accept_inplace=True
    )
    value = np.array([1.0, 2.0])
    changed, total, more = f(value)
    assert_close(changed, np.exp([1.0, 2.0]))
    np.testing.assert_array_equal([total, *more], [3, 2, 3])
    np.testing.assert_array_equal(value, changed)
