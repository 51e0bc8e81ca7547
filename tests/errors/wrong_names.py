"""Programs whose messages have to name expressions, or tell two variables of one name apart."""

from __future__ import annotations

import numpy as np
from catalogue import Doubled, wrong

import aesara
import aesara.tensor as at
from aesara.compile.io import In
from aesara.gradient import DisconnectedInputError, Lop, grad, hessian, jacobian
from aesara.graph.cloning import graph_replace
from aesara.graph.utils import MissingInputError
from aesara.raise_op import Assert
from aesara.subgraph import OpFromGraph

SUM = "`x + y` (Elemwise{add,no_inplace}.0)"
ANOTHER = "Another variable called `x`, of type TensorType(float64, (?,)), "
IDENTITY = "told apart by identity, not by name"

x, y, m = at.dvector("x"), at.dvector("y"), at.dmatrix("m")


@wrong("build", TypeError, "Cost must be a scalar. Got `(x + y) * 2` (Elemwise{mul,no_inplace}.0)")
def cost_that_is_an_expression():
    grad((x + y) * 2, x)


@wrong("build", DisconnectedInputError, "computational graph of the cost", SUM)
def gradient_with_respect_to_an_expression():
    grad(x.sum(), x + y)


@wrong("build", TypeError, "dense", "`AddSS(x, y)`", "Sparse(float64, (?, ?), csc)")
def jacobian_of_an_expression():
    x, y = aesara.sparse.csc_matrix("x"), aesara.sparse.csc_matrix("y")
    jacobian(x + y, x)


@wrong("build", ValueError, "0 dimensional", "`m * x`", "TensorType(float64, (?, ?))")
def hessian_of_an_expression():
    hessian(m * x, x)


@wrong("build", TypeError, "`x + y > 0` (Elemwise{gt,no_inplace}.0) was asked", "switch")
def truth_of_an_expression():
    if x + y > 0:
        pass


@wrong("build", TypeError, "no len()", SUM)
def length_of_an_expression():
    len(x + y)


@wrong("build", TypeError, "does not support iteration", SUM)
def iteration_over_an_expression():
    list(x + y)


@wrong("build", TypeError, "float() needs a number", "`x[0] * 2` (Elemwise{mul,no_inplace}.0)")
def expression_as_a_python_number():
    float(x[0] * 2)


@wrong("build", TypeError, "item assignment", SUM)
def assignment_to_an_element_of_an_expression():
    (x + y)[0] = 1.0


@wrong("build", TypeError, "index must be integers or a boolean mask", "`x / 2`")
def quotient_as_index():
    y[x / 2]


@wrong("build", TypeError, "result of a subtensor operation", SUM)
def set_subtensor_of_an_expression():
    at.set_subtensor(x + y, 1.0)


@wrong("build", ValueError, "`m @ (x[t-1][:, None] @ x[t-1])` (dot.0)", "first value x")
def state_that_becomes_a_product():
    aesara.scan(lambda a: m @ at.outer(a, a), outputs_info=x, n_steps=3)


@wrong("build", ValueError, "a sequence needs at least one dimension", "`sum(x + y)` (Sum")
def sum_as_sequence():
    aesara.scan(lambda a: a, sequences=(x + y).sum())


@wrong("build", ValueError, "to be summed over must have equal lengths", "`ones + 1` (")
def product_of_expressions_of_fixed_sizes():
    ones = at.tensor("float64", shape=(2, 3), name="ones")
    at.dot(ones + 1, ones * 2)


@wrong("compile", TypeError, "An update must have the same type", "update_val=`m * s`")
def update_by_an_expression_of_another_rank():
    s = aesara.shared(np.zeros(2), name="s")
    aesara.function([m], [], updates={s: m * s})


@wrong("compile", ValueError, "already has an update expression: s would become `s + 1`", "and `s + 2`")
def two_expressions_for_one_variable():
    s = aesara.shared(0.0, name="s")
    aesara.function([], [], updates=[(s, s + 1), (s, s + 2)])


@wrong("compile", aesara.compile.UnusedInputError, "at index 1", f"outputs: {SUM}")
def unused_input_that_is_an_expression():
    aesara.function([x, x + y], x * 2)


@wrong("compile", TypeError, f"Cannot convert Type TensorType(float64, (?,)) (of Variable {SUM})")
def substitution_by_an_expression():
    s = at.dscalar("s")
    aesara.function([x, y], s * 2, givens={s: x + y})


@wrong("run", ValueError, "It computes: 2.0 * tanh(x) + y", "[(2,), (3,)]")
def sum_in_a_formula(mode):
    z = at.exp(at.tanh(x) * 2 + y)  # here
    aesara.function([x, y], z.sum(), mode=mode)(np.zeros(2), np.zeros(3))


@wrong("run", IndexError, "It computes: ", "[1 + k]", "out of bounds")
def index_in_a_formula(mode):
    k = at.lscalar("k")
    z = at.exp(x)[k + 1]  # here
    aesara.function([x, k], z, mode=mode)(np.zeros(2), 5)


@wrong("run", ValueError, "It computes: m @ x", "3", "2")
def product_in_a_formula(mode):
    z = at.dot(m, x[:, None])  # here
    aesara.function([m, x], z, mode=mode)(np.zeros((2, 3)), np.zeros(2))


@wrong("run", AssertionError, "sizes", "It computes: Assert{msg=sizes}(x, x.shape[0] == y.shape[0])")
def assertion_in_a_formula(mode):
    z = Assert("sizes")(x, at.eq(x.shape[0], y.shape[0]))  # here
    aesara.function([x, y], z, mode=mode)(np.zeros(2), np.zeros(3))


@wrong("run", ValueError, "nothing to double", "It computes: Doubled(2.0 * x[1:])")
def operation_of_the_user_in_a_formula():
    z = Doubled()(x[1:] * 2)  # here
    aesara.function([x], z, mode="FAST_COMPILE")(np.zeros(1))


@wrong("run", aesara.errors.NanFound, "The inputs there: `x - 1.0` (", "is -1.0", "It computes: log(x - 1.0)")
def nan_of_an_expression():
    z = at.log(x - np.float64(1.0))  # here
    aesara.function([x], z, mode=aesara.compile.NanWhere(optimizer=None))([0.0])


# Two variables of one name


@wrong("compile", MissingInputError, "Input `x` of type TensorType(float64, ())", ANOTHER + "is an input", IDENTITY)
def input_of_the_same_name():
    aesara.function([x], at.dscalar("x") * 2)


@wrong("compile", MissingInputError, "Input `x`", ANOTHER + "is an input of the function", IDENTITY)
def input_in_of_the_same_name():
    aesara.function([In(x)], at.dvector("x") * x)


@wrong("compile", MissingInputError, "Input `x`", ANOTHER + "is replaced through `givens`", IDENTITY)
def substitution_of_the_same_name():
    aesara.function([y], at.dvector("x") + x, givens={x: y})


@wrong("compile", MissingInputError, "Input `x`", ANOTHER + "is an input of the function", IDENTITY)
def value_for_a_variable_of_the_same_name():
    (at.dscalar("x") * 2).eval({x: [1.0]})


@wrong("compile", aesara.compile.UnusedInputError, "outputs: x.", ANOTHER + "is needed to compute", IDENTITY)
def unused_input_of_the_same_name():
    aesara.function([x, at.dscalar("x")], x * 2)


@wrong("build", DisconnectedInputError, ANOTHER + "is in the graph of what is differentiated", IDENTITY)
def gradient_by_a_variable_of_the_same_name():
    grad((x * y).sum(), at.dvector("x"))


@wrong("build", DisconnectedInputError, ANOTHER + "is in the graph of what is differentiated", IDENTITY)
def product_with_the_jacobian_by_a_variable_of_the_same_name():
    Lop(x * y, at.dvector("x"), at.dvector("v"))


@wrong("build", MissingInputError, "OpFromGraph is missing an input: x", ANOTHER + "is an input", IDENTITY)
def graph_of_an_op_of_the_same_name():
    OpFromGraph([x], [at.dvector("x") * 2])


@wrong("build", ValueError, "not part of the graph: x.", ANOTHER + "is part of it", IDENTITY)
def replaced_variable_of_the_same_name():
    graph_replace([x * 2], {at.dvector("x"): y}, strict=True)


# What DebugMode finds


@wrong("run", aesara.compile.debugmode.InvalidValueError, "variable       = `log(x * y)` (Elemwise{log,no_inplace}.0)")
def infinity_in_debug_mode():
    z = at.log(x * y)  # here
    aesara.function([x, y], z, mode=aesara.compile.debugmode.DebugMode(optimizer=None))([0.0], [1.0])


@wrong("run", aesara.compile.debugmode.BadThunkOutput, "computes: Drifting(exp(x))", "a second time")
def operation_with_a_memory_in_debug_mode():
    class Drifting(Doubled):
        calls = 0

        def perform(self, node, inputs, output_storage):
            type(self).calls += 1
            output_storage[0][0] = inputs[0] + type(self).calls

    z = Drifting()(at.exp(x))  # here
    aesara.function([x], z, mode="DebugMode")([0.0])
