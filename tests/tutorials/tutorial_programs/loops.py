"""Loops: maps, recurrences, taps, updates, conditions that end them, maps and folds by name."""

import numpy as np

import aesara
import aesara.tensor as at
from aesara import function, scan, shared
from aesara.scan.utils import until


def a_layer_row_by_row(show):
    X, W, b = at.matrix("X"), at.matrix("W"), at.vector("b")
    rows, updates = scan(lambda v: at.tanh(at.dot(v, W) + b), sequences=X)
    f = function(inputs=[X, W, b], outputs=rows)
    show(f(np.eye(2), np.full((2, 2), 0.5), np.array([1.0, 2.0])), len(updates))


def a_recurrence_with_two_sequences(show):
    X, W, U, V = at.vector("X"), at.matrix("W"), at.matrix("U"), at.matrix("V")
    Y, P = at.matrix("Y"), at.matrix("P")
    states, _ = scan(
        lambda y, p, before: at.tanh(at.dot(before, W) + at.dot(y, U) + at.dot(p, V)),
        sequences=[Y, P[::-1]],
        outputs_info=[X],
    )
    rng = np.random.RandomState(0)
    data = [rng.randn(*size) for size in ((2,), (2, 2), (4, 2), (2, 2), (4, 2), (2, 2))]
    show(function(inputs=[X, W, Y, U, P, V], outputs=states)(*data))


def norms_of_lines_and_columns(show):
    X = at.matrix("X")
    lines, _ = scan(lambda x_i: at.sqrt((x_i**2).sum()), sequences=[X])
    columns, _ = scan(lambda x_i: at.sqrt((x_i**2).sum()), sequences=[X.T])
    show(function([X], [lines, columns])(np.diag(np.arange(2.0, 6.0), 1)))


def the_trace(show):
    X = at.matrix("X")
    partial, _ = scan(
        lambda i, j, total: at.cast(X[i, j] + total, "float32"),
        sequences=[at.arange(X.shape[0]), at.arange(X.shape[1])],
        outputs_info=np.asarray(0.0, dtype="float32"),
    )
    show(function([X], partial[-1])(np.arange(16.0).reshape(4, 4)))


def a_recurrence_of_two_steps_back(show):
    X, U, V, W, b, n = at.matrix("X"), at.matrix("U"), at.matrix("V"), at.matrix("W"), at.vector("b"), at.iscalar("n")
    states, _ = scan(
        lambda two, one: at.dot(two, U) + at.dot(one, V) + at.tanh(at.dot(one, W) + b),
        n_steps=n,
        outputs_info=[{"initial": X, "taps": [-2, -1]}],
    )
    f = function(inputs=[X, U, V, W, b, n], outputs=states)
    half = 0.5 * np.ones((2, 2))
    show(f(np.array([[0.0, 1], [1, 1]]), half - np.eye(2) / 2, half, half, np.ones(2), 7))


def how_often_a_loop_has_run(show):
    count, n = shared(0), at.iscalar("n")
    _, updates = scan(lambda: {count: count + 2}, n_steps=n)
    f = function([n], [], updates=updates, allow_input_downcast=True)
    f(5)
    show(count.get_value())
    f(1)
    show(count.get_value())


def updates_outside_of_the_loop(show):
    a = shared(1)
    _, updates = scan(lambda: {a: a + 1}, n_steps=10)
    f = function([], [a + 1, updates[a] + 1], updates=updates)
    show(f(), a.get_value(), f(), a.get_value())


def a_power_of_a_vector(show):
    k, A = at.iscalar("k"), at.vector("A")
    powers, updates = scan(fn=lambda before, A: before * A, outputs_info=at.ones_like(A), non_sequences=A, n_steps=k)
    f = function(inputs=[A, k], outputs=powers[-1], updates=updates)
    show(f(range(6), 2), f(range(6), 5))


def a_polynomial(show):
    coefficients, x = at.vector("coefficients"), at.scalar("x")
    terms, _ = scan(
        fn=lambda coefficient, power, x: coefficient * (x**power),
        outputs_info=None,
        sequences=[coefficients, at.arange(10000)],
        non_sequences=x,
    )
    f = function(inputs=[coefficients, x], outputs=terms.sum())
    show(f(np.asarray([2, 0, 3], dtype=np.float32), 4), f([1.0], 9))


def a_polynomial_added_up_in_the_loop(show):
    coefficients, x = at.vector("coefficients"), at.scalar("x")
    partial, _ = scan(
        fn=lambda coefficient, power, total, x: total + coefficient * (x**power),
        outputs_info=at.as_tensor_variable(np.asarray(0, "float64")),
        sequences=[coefficients, at.arange(100)],
        non_sequences=x,
    )
    show(function([coefficients, x], partial[-1])([2.0, 0.0, 3.0], 4))


def triangular_numbers(show):
    n = at.iscalar("n")
    numbers = at.arange(n)
    sums, _ = scan(
        fn=lambda number, total: total + number,
        outputs_info=at.as_tensor_variable(np.asarray(0, numbers.dtype)),
        sequences=numbers,
    )
    show(function(inputs=[n], outputs=sums)(12))


def values_at_positions(show):
    places, values, like = at.imatrix("places"), at.vector("values"), at.matrix("like")

    def placed(place, value, like):
        zeros = at.zeros_like(like)
        return at.set_subtensor(zeros[place[0], place[1]], value)

    tables, _ = scan(fn=placed, outputs_info=None, sequences=[places, values], non_sequences=like)
    f = function(inputs=[places, values, like], outputs=tables)
    show(f(np.asarray([[1, 1], [0, 2]], dtype=np.int32), np.asarray([42, 50.0]), np.zeros((2, 3))))


def powers_of_two_up_to_a_bound(show):
    bound = at.scalar()

    def twice(before, bound):
        return before * 2, until(before * 2 > bound)

    values, _ = scan(twice, outputs_info=at.constant(1.0), non_sequences=bound, n_steps=1024)
    f = function([bound], values)
    show(f(45), f(1), f(1000))


def an_echo_state_network(show):
    W, W_in_1, W_in_2, W_feedback, W_out = (at.matrix(name) for name in ("W", "W1", "W2", "Wf", "Wo"))
    u, x0, y0 = at.matrix("u"), at.matrix("x0"), at.vector("y0")

    def step(u_before, u_now, x_three, x_one, y_one, W, W_in_1, W_in_2, W_feedback, W_out):
        x = at.tanh(at.dot(x_one, W) + at.dot(u_now, W_in_1) + at.dot(u_before, W_in_2) + at.dot(y_one, W_feedback))
        return [x, at.dot(x_three, W_out)]

    (x_values, y_values), _ = scan(
        fn=step,
        sequences={"input": u, "taps": [-4, -0]},
        outputs_info=[{"initial": x0, "taps": [-3, -1]}, y0],
        non_sequences=[W, W_in_1, W_in_2, W_feedback, W_out],
        strict=True,
    )
    rng = np.random.RandomState(1)
    shapes = ((9, 2), (3, 3), (2,), (3, 3), (2, 3), (2, 3), (2, 3), (3, 2))
    inputs = [u, x0, y0, W, W_in_1, W_in_2, W_feedback, W_out]
    show(function(inputs, [x_values, y_values])(*[rng.randn(*shape) * 0.5 for shape in shapes]))


def maps_and_folds(show):
    v = at.dvector("v")
    squares, _ = aesara.map(lambda x: x**2, sequences=v)
    total, _ = aesara.reduce(lambda x, before: x + before, sequences=v, outputs_info=np.float64(0.0))
    left, _ = aesara.foldl(lambda x, before: before * 2 + x, sequences=v, outputs_info=np.float64(0.0))
    right, _ = aesara.foldr(lambda x, before: before * 2 + x, sequences=v, outputs_info=np.float64(0.0))
    show(function([v], [squares, total, left, right])([1.0, 2.0, 5.0]))


def backwards(show):
    v = at.dvector("v")
    sums, _ = scan(lambda x, before: x + before, sequences=v, outputs_info=np.float64(0.0), go_backwards=True)
    show(function([v], sums)([1.0, 2.0, 5.0]))


def gradients_through_a_loop(show):
    v, w = at.dvector("v"), at.dscalar("w")
    for truncated in (-1, 2):
        states, _ = scan(
            lambda x, before, w: at.tanh(w * before + x),
            sequences=v,
            outputs_info=np.float64(0.1),
            non_sequences=w,
            truncate_gradient=truncated,
        )
        show(function([v, w], at.grad(states[-1], [v, w]))([0.5, -0.2, 0.1], 0.7))


def several_states_and_outputs(show):
    n = at.iscalar("n")
    (a, b, c), _ = scan(
        lambda a, b: [b, a + b, a * b],
        outputs_info=[at.constant(np.int64(0)), at.constant(np.int64(1)), None],
        n_steps=n,
    )
    show(function([n], [a, b, c])(8))


def a_loop_in_a_loop(show):
    m = at.dmatrix("m")

    def row_sum(row):
        partial, _ = scan(lambda x, total: total + x, sequences=row, outputs_info=np.float64(0.0))
        return partial[-1]

    sums, _ = scan(row_sum, sequences=m)
    show(function([m], sums)(np.arange(6.0).reshape(2, 3)))


def no_steps_at_all(show):
    n = at.iscalar("n")
    values, _ = scan(lambda before: before + 1, outputs_info=np.float64(5.0), n_steps=n)
    f = function([n], values)
    show(f(0), f(2))
