"""Native code says which operation has made the first NaN."""

import pickle

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.compile import NanWhere
from aesara.compile.mode import get_mode
from aesara.configdefaults import config
from aesara.errors import NanFound
from aesara.gradient import grad
from aesara.graph.generic import Generic
from aesara.ifelse import ifelse
from aesara.link.llvm.callable import NativeCallable
from aesara.tensor.random.utils import RandomStream

HERE = __file__


def found(function, *arguments):
    with pytest.raises(NanFound) as caught:
        function(*arguments)
    text = str(caught.value)
    assert len(text.splitlines()) <= 15
    return text


def line_of(mark):
    """The number of the line of this file that has a comment."""
    with open(HERE) as file:
        (number,) = (k for k, line in enumerate(file, 1) if line.rstrip().endswith(f"# {mark}"))
    return f'File "{HERE}", line {number},'


@pytest.fixture(scope="module")
def x():
    return at.dvector("x")


@pytest.fixture(scope="module")
def logarithm(x):
    """A function with two outputs and a state, and the state."""
    state = aesara.shared(np.ones(3), name="state")
    logarithm = at.log(x)  # the logarithm
    outputs = [at.exp(logarithm) * 2, (logarithm**2).sum()]
    return aesara.function([x], outputs, updates={state: state + x}, mode="NanWhere"), state


def test_numbers_are_computed_as_ever(logarithm):
    function, state = logarithm
    state.set_value(np.ones(3))
    values = np.array([1.0, 2.0, 3.0])
    doubled, squares = function(values)
    np.testing.assert_allclose(doubled, 2 * values, rtol=1e-14)
    np.testing.assert_allclose(squares, (np.log(values) ** 2).sum(), rtol=1e-14)
    np.testing.assert_array_equal(state.get_value(), [2.0, 3.0, 4.0])
    assert isinstance(function.vm, NativeCallable)


def test_the_first_operation_is_named_and_states_stay(logarithm):
    function, state = logarithm
    state.set_value(np.ones(3))
    text = found(function, [1.0, 2.0, -3.0])
    assert text.startswith("The first NaN at index 2 of Elemwise{log")
    assert "x is -3.0" in text and "forward computation" in text and line_of("the logarithm") in text
    assert "Inputs shapes: [(3,)]" in text
    np.testing.assert_array_equal(state.get_value(), np.ones(3))


def test_new_states_are_looked_at(x):
    state = aesara.shared(np.zeros(2), name="state")
    function = aesara.function([x], x.sum(), updates={state: state + at.sqrt(x)}, mode="NanWhere")
    text = found(function, [1.0, -4.0])
    assert "index 1 of Elemwise{" in text and "is -4.0" in text
    np.testing.assert_array_equal(state.get_value(), np.zeros(2))
    function([1.0, 4.0])
    np.testing.assert_array_equal(state.get_value(), [1.0, 2.0])


def test_gradients_are_told_from_forward_computations(x):
    norm = at.sqrt((x**2).sum())  # the norm
    text = found(aesara.function([x], grad(norm, x), mode="NanWhere"), [0.0, 0.0])
    assert "The node belongs to the gradient of the line below." in text
    assert "x is 0.0" in text and line_of("the norm") in text


def test_operations_that_overwrite_their_inputs_show_what_they_have_read(x):
    function = aesara.function([x], at.sqrt(x - 1), mode="NanWhere")
    assert "is -0.5" in found(function, [2.0, 0.5])


def test_the_step_of_a_loop_is_searched(x):
    states, _ = aesara.scan(
        lambda state: at.sqrt(state - 1),  # the step
        outputs_info=x,
        n_steps=4,
    )
    text = found(aesara.function([x], states[-1], mode="NanWhere"), [1.0, 3.0])
    assert line_of("the step") in text and "is -1.0" in text
    assert "In step 1 (the first is 0) of the loop" in text
    assert len(text.splitlines()) <= 15


def test_the_step_of_a_gradient_is_counted_backwards(x):
    states, _ = aesara.scan(
        lambda row, state: state + at.sqrt(row) * 2,  # the rows
        sequences=x,
        outputs_info=at.constant(np.float64(0)),
    )
    function = aesara.function([x], aesara.grad(states[-1] * 0, x), mode="NanWhere")
    text = found(function, [1.0, 2.0, 0.0, 4.0])
    assert "In step 1 (the first is 0) of the loop of a gradient, which runs backwards" in text
    assert "gradient of the line below" in text and line_of("the rows") in text


def test_nan_in_an_input(x):
    function = aesara.function([x], x * 2, mode="NanWhere")
    assert found(function, [1.0, np.nan]) == "The first NaN came in with the input x, at index 1."


def test_products_tell_the_range_of_their_inputs():
    a, b = at.dmatrices("a", "b")
    function = aesara.function([a, b], at.dot(a, b), mode="NanWhere")
    text = found(function, [[0.0, 1.0]], [[np.inf], [2.0]])
    assert "a is between 0.0 and 1.0" in text and "index (0, 0)" in text


def test_a_nan_that_is_removed_counts_only_everywhere(x):
    root = at.sqrt(x)
    output = at.switch(at.isnan(root), 0.0, root)
    np.testing.assert_array_equal(aesara.function([x], output, mode="NanWhere")([-1.0, 4.0]), [0.0, 2.0])
    everywhere = aesara.function([x], output, mode=NanWhere(everywhere=True))
    assert "index 0 of Elemwise{sqrt" in found(everywhere, [-1.0, 4.0])
    np.testing.assert_array_equal(everywhere([1.0, 4.0]), [1.0, 2.0])


def test_infinities(x):
    function = aesara.function([x], 1 / x, mode=NanWhere(nan=False, inf=True))
    assert found(function, [1.0, 0.0]).startswith("The first infinity at index 1 of")
    assert np.isnan(function([np.nan])[0])
    assert np.isinf(aesara.function([x], 1 / x, mode="NanWhere")([0.0])[0])


@pytest.mark.parametrize("dtype", ["float16", "float32", "complex64", "complex128"])
def test_dtypes(dtype):
    z = at.vector("z", dtype=dtype)
    function = aesara.function([z], z - z * 0, mode="NanWhere")
    values = np.array([1, 2], dtype)
    np.testing.assert_array_equal(function(values), values)
    text = found(aesara.function([z], z / (z - z[0]), mode="NanWhere"), np.zeros(2, dtype))
    assert "divide" in text.lower()


def test_integers_empty_arrays_and_scalars(x):
    n = at.lscalar("n")
    function = aesara.function([x, n], [x.sum(), n + 1, x * 2], mode="NanWhere")
    total, following, doubled = function(np.zeros(0), 3)
    assert (total, following, doubled.shape) == (0.0, 4, (0,))


def test_only_the_side_that_is_taken_counts(x):
    choice = ifelse(x.sum() > 0, at.sqrt(x), at.zeros_like(x))
    for mode in (NanWhere(), NanWhere(everywhere=True)):
        np.testing.assert_array_equal(aesara.function([x], choice, mode=mode)([-1.0]), [0.0])


@pytest.mark.parametrize("sign, op", [(1.0, "sqrt"), (-1.0, "log")])
def test_the_side_that_is_taken_made_the_first_one(x, sign, op):
    y = at.dvector("y")
    choice = ifelse(y[0] > 0, at.sqrt(x) * 2, at.log(x) + at.sqrt(x * 0 - 1))
    for mode in (NanWhere(), NanWhere(everywhere=True)):
        text = found(aesara.function([x, y], choice, mode=mode), [-1.0], [sign])
        assert text.startswith(f"The first NaN at index 0 of Elemwise{{{op},") and "x is -1.0" in text


def test_a_draw_that_is_too_large_is_described_by_its_numbers():
    scale = at.dscalar("scale")
    draws = RandomStream(3).normal(0.0, scale, size=100)
    function = aesara.function([scale], draws, mode=NanWhere(inf=True))
    assert function(1.0).shape == (100,)
    text = found(function, 1.7e308)
    assert text.startswith("The first infinity at index") and "scale is 1.7e+308" in text
    assert "Generator" not in text.partition("The inputs there:")[2].splitlines()[0]


def test_graphs_without_native_form_are_searched_node_by_node(x):
    anything = Generic()("anything")
    kept = aesara.compile.ops.ViewOp()(anything)
    function = aesara.function([x, anything], [at.log(x), kept], mode="NanWhere")
    assert function([1.0], "text")[1] == "text"
    for value in ("text", np.array(["text"]), np.array([None, 1.0]), np.array([1, 2]), [1.0]):
        assert "x is -1.0" in found(function, [-1.0], value)


def test_the_mode(x):
    assert get_mode("NanWhere")._chosen == (True, False, False)
    with pytest.raises(ValueError, match="nothing to look for"):
        NanWhere(nan=False)
    mode = NanWhere(inf=True, everywhere=True).excluding("fusion")
    assert isinstance(mode, NanWhere) and mode._chosen == (True, True, True)
    assert pickle.loads(pickle.dumps(mode))._chosen == (True, True, True)
    function = pickle.loads(pickle.dumps(aesara.function([x], at.log(x), mode="NanWhere")))
    assert "x is -1.0" in found(function, [-1.0])
    assert "x is -1.0" in found(function.copy(), [-1.0])


def test_new_values_take_turns_with_the_old_ones(x):
    total = aesara.shared(np.zeros(3))
    function = aesara.function([x], total.sum(), updates={total: total + x}, mode="NanWhere")
    places = []
    for k in range(8):
        assert function([1.0, 2.0, 3.0]) == 6 * k
        places.append(total.get_value(borrow=True).ctypes.data)
    assert len(set(places[2:])) == 2
    held = total.get_value(borrow=True)
    for _ in range(3):
        function([1.0, 2.0, 3.0])
    assert held.tolist() == [8.0, 16.0, 24.0]
    with pytest.raises(NanFound):
        function([1.0, np.nan, 3.0])
    assert total.get_value().tolist() == [11.0, 22.0, 33.0]
    function.free()
    assert function([0.0, 0.0, 0.0]) == 66


def test_new_values_whose_arrays_are_kept_pass_the_verifier():
    x, state = at.dvector("x"), aesara.shared(np.zeros(3), name="state")
    with config.change_flags(native_verify=True):
        f = aesara.function([x], 2 * x, updates=[(state, state + x)], mode="NanWhere")
    held = []
    for k in range(5):
        f(np.ones(3))
        held.append(state.get_value(borrow=True))
    np.testing.assert_array_equal(held, [[k + 1.0] * 3 for k in range(5)])
    with pytest.raises(FloatingPointError):
        f(np.full(3, np.nan))
    np.testing.assert_array_equal(state.get_value(), [5.0] * 3)
