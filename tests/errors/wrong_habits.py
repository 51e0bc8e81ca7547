"""Programs as users of NumPy, JAX and Theano write them at first."""

from __future__ import annotations

import numpy as np
from catalogue import wrong

import aesara
import aesara.tensor as at
from aesara.ifelse import ifelse
from aesara.tensor.nnet import categorical_crossentropy, softmax

# -- broadcasting of a length that is not known to be 1 -------------------------------------------------------------


@wrong("run", ValueError, "3", "1", "Declare `m` with `shape=(None, 1)`", "use `at.specify_broadcastable(m, 1)`")
def column_of_unknown_length(mode):
    x, m = at.dmatrix("x"), at.dmatrix("m")
    z = x * m  # here
    aesara.function([x, m], z, mode=mode)(np.zeros((2, 3)), np.zeros((2, 1)))


@wrong("run", ValueError, "Declare `v` with `shape=(1,)`", "use `at.specify_broadcastable(v, 0)`")
def vector_of_unknown_length(mode):
    x, v = at.dmatrix("x"), at.dvector("v")
    z = x + v  # here
    aesara.function([x, v], z, mode=mode)(np.zeros((2, 3)), np.zeros(1))


@wrong("run", ValueError, "use `at.specify_broadcastable(sum(m, axis=0), 0)`")
def expression_of_unknown_length(mode):
    x, m = at.dvector("x"), at.dmatrix("m")
    z = m.sum(axis=0) * x  # here
    aesara.function([x, m], z, mode=mode)(np.zeros(3), np.zeros((2, 1)))


@wrong("run", ValueError, "matmul", "Declare `b` with `shape=(1, None, None)`", "`at.specify_broadcastable(b, 0)`")
def batch_of_unknown_length(mode):
    a, b = at.dtensor3("a"), at.dtensor3("b")
    z = at.matmul(a, b)  # here
    aesara.function([a, b], z, mode=mode)(np.zeros((2, 3, 4)), np.zeros((1, 4, 3)))


# -- writing to parts, and to shared variables ----------------------------------------------------------------------


@wrong("build", TypeError, "result of a subtensor operation", "got x", "as in `set_subtensor(x[:], value)`")
def set_subtensor_of_the_whole():
    at.set_subtensor(at.dvector("x"), 1.0)


@wrong("build", TypeError, "got `x * 2`", "as in `inc_subtensor((x * 2)[:], value)`")
def inc_subtensor_of_an_expression():
    at.inc_subtensor(at.dvector("x") * 2, 1.0)


@wrong("build", TypeError, "got s", "has no parts", "`switch`")
def set_subtensor_of_a_scalar():
    at.set_subtensor(at.dscalar("s"), 1.0)


@wrong("build", AttributeError, "`w + 1`", "an expression", "w.set_value(value)", "`updates=[(w, w + 1)]`")
def shared_variable_that_became_an_expression():
    w = aesara.shared(np.zeros(2), name="w")
    w += 1
    w.set_value(np.ones(2))


@wrong("compile", TypeError, "got `w + 1`", "an expression", "`w += 1`", "`updates=[(w, w + 1)]`")
def update_of_what_became_an_expression():
    w = aesara.shared(np.zeros(2), name="w")
    w += 1
    aesara.function([], [], updates=[(w, w * 2)])


@wrong("build", AttributeError, "x has no value", "aesara.shared", "argument")
def value_of_a_variable():
    at.dvector("x").get_value()


@wrong("build", AttributeError, "x has no `at`", "at.set_subtensor(x[i], y)", "at.inc_subtensor(x[i], y)")
def writing_as_in_jax():
    at.dvector("x").at[0].set(1.0)


@wrong("compile", TypeError, "An update must have the same type", "holds int64", "`aesara.shared(0.0)`")
def counter_that_gets_a_float():
    n, x = aesara.shared(0, name="n"), at.dscalar("x")
    aesara.function([x], [], updates=[(n, n + x)])


@wrong("compile", TypeError, "An update must have the same type", "holds int64", 'value.astype("float64")')
def integers_that_get_floats():
    n, x = aesara.shared(np.arange(3), name="n"), at.dvector("x")
    aesara.function([x], [], updates=[(n, n + x)])


# -- names of other libraries ---------------------------------------------------------------------------------------


@wrong("build", AttributeError, "'aesara' has no attribute 'vmap'", "aesara.tensor.vectorize(f)")
def vmap():
    aesara.vmap


@wrong("build", AttributeError, "'aesara' has no attribute 'jit'", "aesara.function(inputs, outputs)")
def jit():
    aesara.jit


@wrong("build", AttributeError, "no attribute 'value_and_grad'", "aesara.function([x], [y, aesara.grad(y, x)])")
def value_and_grad():
    aesara.value_and_grad


# -- loops ----------------------------------------------------------------------------------------------------------


@wrong("run", ValueError, "aesara.scan: state 0 (x)", "2", "4", "The shape must be the same in every step")
def state_that_doubles(mode):
    x = at.dvector("x")
    xs, _ = aesara.scan(lambda a: at.concatenate([a, a]), outputs_info=x, n_steps=3)  # here
    aesara.function([x], xs, mode=mode)(np.zeros(2))


@wrong("run", ValueError, "aesara.scan (decay): state 0 (x)", "5", "4")
def state_of_a_named_loop_that_shrinks(mode):
    x = at.dvector("x")
    xs, _ = aesara.scan(lambda t, a: a[1:] * t, at.arange(3), outputs_info=x, name="decay")  # here
    aesara.function([x], xs[-1], mode=mode)(np.zeros(5))


# -- labels ---------------------------------------------------------------------------------------------------------


@wrong("run", ValueError, "y_i value out of bounds", "class 3", "3 columns", "from 0 to 2")
def label_out_of_range(mode):
    m, y = at.dmatrix("m"), at.lvector("y")
    loss = categorical_crossentropy(softmax(m, axis=1), y).mean()
    aesara.function([m, y], loss, mode=mode)(np.zeros((2, 3)), np.array([0, 3]))


@wrong("run", ValueError, "y_i value out of bounds", "class -1", "3 columns", "from 0 to 2")
def label_below_zero(mode):
    m, y = at.dmatrix("m"), at.lvector("y")
    loss = categorical_crossentropy(m / m.sum(axis=1, keepdims=True), y).mean()
    aesara.function([m, y], loss, mode=mode)(np.ones((2, 3)), np.array([-1, 2]))


# -- ranks ----------------------------------------------------------------------------------------------------------


@wrong("build", TypeError, "same number of dimensions", "x has 1", "m has 2", "`x[None, :]`")
def concatenate_vector_and_matrix():
    at.concatenate([at.dvector("x"), at.dmatrix("m")])


@wrong("build", TypeError, "`x * 2`", "m has 2", "`(x * 2)[:, None]`")
def concatenate_column_and_matrix():
    at.concatenate([at.dmatrix("m"), at.dvector("x") * 2], axis=1)


@wrong("build", TypeError, "compatible ndim", "true_branch=1", "x has type", "m has type", "same number of dimensions")
def branches_of_different_ranks():
    ifelse(at.lscalar("c"), at.dvector("x"), at.dmatrix("m"))


@wrong("build", TypeError, "compatible dtypes", "i has type", "`x * 2`", "at.cast")
def branches_of_different_dtypes():
    ifelse(at.lscalar("c"), at.lvector("i"), at.dvector("x") * 2)


@wrong("build", np.exceptions.AxisError, "axis 1 is out of bounds", "1 dimension", "x has type TensorType(float64")
def sum_over_a_missing_axis():
    at.dvector("x").sum(axis=1)


@wrong("build", np.exceptions.AxisError, "axis 1 is out of bounds", "`x * 2`")
def mean_over_a_missing_axis():
    (at.dvector("x") * 2).mean(axis=1)


@wrong("build", np.exceptions.AxisError, "axis 2 is out of bounds", "2 dimensions", "m has type")
def largest_position_over_a_missing_axis():
    at.dmatrix("m").argmax(axis=2)


# -- functions as values --------------------------------------------------------------------------------------------


@wrong("build", TypeError, "for +: 'Function' and 'int'", "double", "Call it: `double(x) + ...`")
def sum_with_a_function():
    x = at.dscalar("x")
    double = aesara.function([x], 2 * x, name="double")
    double + 1


@wrong("build", TypeError, "for *: 'TensorVariable' and 'Function'", "use its expression")
def product_of_a_variable_and_a_function():
    x = at.dscalar("x")
    x * aesara.function([x], 2 * x)


@wrong("build", TypeError, "for -: 'float' and 'Function'", "Call it: `... - f(x)`")
def difference_of_an_array_and_a_function():
    x = at.dscalar("x")
    np.ones(2) - aesara.function([x], 2 * x)


@wrong("build", NotImplementedError, "Cannot convert", "Call the function")
def function_of_a_function():
    x = at.dscalar("x")
    at.exp(aesara.function([x], 2 * x))
