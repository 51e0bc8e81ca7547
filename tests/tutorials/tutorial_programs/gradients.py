"""Derivatives: gradients, Jacobians and Hessians by scan and by name, products with them."""

import numpy as np

import aesara
import aesara.tensor as at
from aesara import function
from aesara.gradient import Lop, Rop, consider_constant, disconnected_grad, grad_clip, hessian, jacobian


def slope_of_a_power(show):
    x = at.dscalar("x")
    f = function([x], at.grad(x**3, x))
    show(f(4), f(-2.5), f(0))


def slope_of_the_logistic_curve(show):
    x = at.dmatrix("x")
    s = at.sum(1 / (1 + at.exp(-x)))
    show(function([x], at.grad(s, x))([[0, 2], [-3, -1]]))


def several_slopes(show):
    x, y = at.dvectors("x", "y")
    cost = (x**2 * at.sin(y)).sum()
    show(function([x, y], at.grad(cost, [x, y]))([1, 2], [0.5, -1]))
    show(function([x, y], list(at.grad(cost, (y, x))))([1, 2], [0.5, -1]))


def the_jacobian_by_a_loop(show):
    x = at.dvector("x")
    y = x**3 + x[::-1]
    J, updates = aesara.scan(lambda i, y, x: at.grad(y[i], x), sequences=at.arange(y.shape[0]), non_sequences=[y, x])
    show(function([x], J, updates=updates)([4, 5, 6]))


def the_jacobian_by_a_loop_over_what_it_finds(show):
    v, A = at.vector(), at.matrix()
    y = at.tanh(at.dot(v, A))
    rows, _ = aesara.scan(lambda i: at.grad(y[i], v), sequences=[at.arange(y.shape[0])])
    f = function([A, v], rows, allow_input_downcast=True)
    show(f(np.arange(15.0).reshape(5, 3) / 10, np.array([1.0, 0, 0.5, 0, -1])))


def a_gradient_that_has_two_ways_to_its_variable(show):
    x = at.dvector("x")
    y = x**2
    rows, _ = aesara.scan(
        lambda i, y, x: at.grad(y[i] + x[i], x), sequences=at.arange(x.shape[0]), non_sequences=[y, x]
    )
    show(function([x], rows)([3.0, 4.0]))


def the_hessian_by_a_loop(show):
    x = at.dvector("x")
    slope = at.grad((x**3).sum() + x[0] * x[1], x)
    H, updates = aesara.scan(
        lambda i, slope, x: at.grad(slope[i], x), sequences=at.arange(slope.shape[0]), non_sequences=[slope, x]
    )
    show(function([x], H, updates=updates)([4, 5]))


def jacobian_and_hessian_by_name(show):
    x = at.dvector("x")
    show(function([x], jacobian(at.exp(x) * x.sum(), x))([0.5, 1]))
    show(function([x], hessian((x**4).sum() + x[0] * x[1] * x[2], x))([1, 2, 3]))


def a_gradient_for_each_example(show):
    W, X = at.dvector("W"), at.dmatrix("X")
    costs = at.log1p(at.exp(at.dot(X, W)))
    each, _ = aesara.scan(
        lambda i, c, w: at.grad(c[i], w), sequences=at.arange(costs.shape[0]), non_sequences=[costs, W]
    )
    show(function([W, X], each)([0.5, -1], [[1, 2], [3, 4], [0, 1]]))


def a_jacobian_times_a_matrix(show):
    W, V, x = at.dmatrix("W"), at.dmatrix("V"), at.dvector("x")
    product = Rop(at.dot(x, W), W, V)
    show(function([W, V, x], product)([[1, 1], [1, 1]], [[2, 3], [4, 5]], [0, 1]))


def a_vector_times_a_jacobian(show):
    W, v, x = at.dmatrix("W"), at.dvector("v"), at.dvector("x")
    show(function([v, x], Lop(at.dot(x, W), W, v))([2, 3], [1, 4]))


def a_hessian_times_a_vector_in_two_ways(show):
    x, v = at.dvectors("x", "v")
    slope = at.grad(at.sum(x**3), x)
    show(function([x, v], at.grad(at.sum(slope * v), x))([4, 5], [2, 3]))
    show(function([x, v], Rop(slope, x, v))([4, 5], [2, 3]))


def parts_that_count_as_constant(show):
    x = at.dvector("x")
    for held in (consider_constant, disconnected_grad):
        show(function([x], at.grad((x * held(x)).sum(), x))([1, 2, 3]))
    show(function([x], at.grad((10 * grad_clip(x, -1, 1) ** 3).sum(), x))([0.1, 2.0]))


def variables_that_the_cost_does_not_have(show):
    x, y = at.dscalars("x", "y")
    try:
        at.grad(x**2, y)
    except aesara.gradient.DisconnectedInputError:
        show("DisconnectedInputError")
    show(function([x, y], at.grad(x**2, y, disconnected_inputs="ignore"), on_unused_input="ignore")(1, 2))
    try:
        at.grad(at.dvector() ** 2, x)
    except TypeError:
        show("TypeError")


def gradients_given_from_outside(show):
    x = at.dvector("x")
    y = at.exp(x)
    show(function([x], at.grad(None, x, known_grads={y: at.ones_like(y) * 3}))([0.0, 1.0]))


def a_gradient_is_checked_against_differences(show):
    rng = np.random.RandomState(42)
    aesara.gradient.verify_grad(lambda x, y: at.dot(at.tanh(x), y), [rng.randn(3, 4), rng.randn(4, 2)], rng=rng)
    try:
        aesara.gradient.verify_grad(lambda x: x * disconnected_grad(x), [rng.randn(3)], rng=rng)
    except Exception as error:
        show("wrong", type(error).__name__ != "AssertionError")


def slopes_of_choices(show):
    x = at.dvector("x")
    for y in (abs(x), at.maximum(x, 0), at.switch(x > 0, x, x**2), at.clip(x, -1, 1), at.sort(x), x[x > 0]):
        show(function([x], at.grad((y * at.arange(y.shape[0])).sum(), x))([-2.0, 0.5, 3.0]))


def second_and_third_derivatives(show):
    x = at.dscalar("x")
    y = at.sin(x) * x**4
    for _ in range(3):
        y = at.grad(y, x)
        show(function([x], y)(0.75))
