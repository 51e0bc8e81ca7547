"""First steps: algebra, names, types, several results, broadcasting, conditions."""

import numpy as np

import aesara
import aesara.tensor as at
from aesara import function, pp
from aesara.ifelse import ifelse


def sum_of_two_numbers(show):
    a, b = at.dscalar("a"), at.dscalar("b")
    total = a + b
    f = function([a, b], total)
    show(f(4, 9), f(0.25, 17.5))
    show(total.eval({a: 1.5, b: 2.25}), total.eval({a: 2, b: 2}))
    show(pp(total), str(a), a.name)


def a_variable_knows_its_type(show):
    a = at.dscalar("a")
    show(type(a).__name__, repr(a.type), a.type is at.dscalar, a.type == at.dscalar)
    n = at.ivector()
    show(repr(n.type.dtype), n.ndim, (-n).type == n.type, n.broadcastable)


def sum_of_two_matrices(show):
    left, right = at.dmatrix("left"), at.dmatrix("right")
    f = function([left, right], left + right)
    show(f([[5, 6], [7, 8]], [[100, 200], [300, 400]]))
    show(f(np.arange(6).reshape(2, 3), np.ones((2, 3), "int16")))


def a_polynomial_of_a_vector(show):
    v, w = at.vector("v"), at.vector("w")
    show(function([v], v + v**8)([0, 1, 3]))
    show(function([v, w], v**2 + w**2 + 2 * v * w)([1, 2], [4, 5]))


def shorthands_for_all_dtypes(show):
    for letter in "bilfdcz":
        for kind in ("scalar", "vector", "matrix", "row", "col", "tensor3", "tensor4"):
            variable = getattr(at, letter + kind)("u")
            show(variable.type.dtype, variable.type.broadcastable)


def the_logistic_curve(show):
    x = at.dmatrix("x")
    curve = function([x], 1 / (1 + at.exp(-x)))
    by_tanh = function([x], (1 + at.tanh(x / 2)) / 2)
    points = [[0, 2], [-3, -1]]
    show(curve(points), by_tanh(points))


def three_results_at_once(show):
    p, q = at.dmatrices("p", "q")
    gap = p - q
    f = function([p, q], [gap, abs(gap), gap**2])
    show(f([[2, 2], [2, 2]], [[0, 3], [2, 7]]))


def results_by_name(show):
    x = at.dscalar("x")
    f = function([x], {"half": x / 2, "twice": 2 * x})
    show(sorted(f(3).items()))


def rows_and_columns_are_broadcast(show):
    row, column, table = at.row(), at.col(), at.matrix()
    show(row.broadcastable, column.broadcastable, table.broadcastable)
    values = np.arange(12).reshape(3, 4)
    show(function([row, table], [row + table])(np.arange(4).reshape(1, 4), values))
    show(function([column, table], [column * table])(np.arange(3).reshape(3, 1), values))


def a_vector_is_a_row(show):
    table, line = at.dmatrix("table"), at.dvector("line")
    shifted = function([table, line], table - line)
    show(shifted(np.ones((2, 3)), [1, 2, 3]))
    show(function([table, line], table - line.dimshuffle(0, "x"))(np.ones((2, 3)), [1, 2]))


def sizes_that_do_not_fit(show):
    u, v = at.vector("u"), at.vector("v")
    f = function([u, v], u + u + v)
    try:
        f(np.ones(2), np.ones(3))
    except ValueError as error:
        show("ValueError", "mismatch" in str(error).lower() or "shape" in str(error).lower())


def one_side_or_the_other(show):
    a, b = at.scalars("a", "b")
    first, second = at.matrices("first", "second")
    switched = function([a, b, first, second], at.switch(at.lt(a, b), at.mean(first), at.mean(second)))
    chosen = function([a, b, first, second], ifelse(at.lt(a, b), at.mean(first), at.mean(second)))
    for left in (0.0, 2.0):
        data = (left, 1.0, np.ones((20, 30)), np.full((10, 10), 5.0))
        show(switched(*data), chosen(*data))


def only_the_chosen_side_is_computed(show):
    ran = []

    class Noted(aesara.graph.op.Op):
        __props__ = ("label",)

        def __init__(self, label):
            self.label = label

        def make_node(self, x):
            x = at.as_tensor_variable(x)
            return aesara.graph.basic.Apply(self, [x], [x.type()])

        def perform(self, node, inputs, output_storage):
            ran.append(self.label)
            output_storage[0][0] = inputs[0] + 1

    x, c = at.dvector("x"), at.bscalar("c")
    f = function([c, x], ifelse(c, Noted("yes")(x), Noted("no")(x)), mode=aesara.compile.mode.Mode(linker="vm"))
    show(f(1, [1.0]), f(0, [2.0]), ran)


def several_results_of_a_condition(show):
    c, x, y = at.iscalar("c"), at.dvector("x"), at.dvector("y")
    low, high = ifelse(c, (x, y), (y, x))
    f = function([c, x, y], [low, high * 2])
    show(f(1, [1.0, 2.0], [3.0]), f(0, [1.0, 2.0], [3.0]))


def comparisons_and_logic(show):
    x = at.dvector("x")
    f = function([x], [x > 1, at.and_(x > 0, x < 2), at.or_(x < 0, at.eq(x, 3)), at.invert(x >= 1), at.isnan(x)])
    show(f([-1.0, 0.0, 1.0, 1.5, 3.0, np.nan]))


def casts(show):
    n = at.iscalar("n")
    show(at.cast(n, "float32").type.dtype, (n / 2).type.dtype, (n // 2).type.dtype, (n + 1.5).type.dtype)
    f = function([n], [at.cast(n, "int8"), n / 4, n // 4, n % 4, -n // 4])
    show(f(7), f(300))
