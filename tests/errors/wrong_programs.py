"""Wrong programs, as users write them, and what their messages have to say.

Each program is a function.  The line that its message has to show is marked with `# here`.  Programs that go wrong
when they run take the mode, and are run by the reference machine and natively.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.sparse

import aesara
import aesara.tensor as at
from aesara.compile.debugmode import DebugMode
from aesara.compile.io import In
from aesara.compile.mode import Mode
from aesara.compile.nanguardmode import NanGuardMode
from aesara.compile.ops import as_op
from aesara.errors import NanFound
from aesara.gradient import DisconnectedInputError, grad, jacobian
from aesara.graph.nodes import Apply
from aesara.graph.op import Op
from aesara.graph.rewriting.basic import in2out, node_rewriter
from aesara.graph.utils import MissingInputError, TestValueError
from aesara.ifelse import ifelse
from aesara.raise_op import Assert
from aesara.tensor.shape import specify_shape


@dataclass(frozen=True)
class Program:
    """A wrong program.

    Attributes
    ----------
    stage
        When it goes wrong: ``build``, ``rewrite``, ``compile`` or ``run``.
    error
        The class of the exception.
    says
        What the message has to contain.
    """

    run: Callable[..., object]
    stage: str
    error: type[BaseException]
    says: tuple[str, ...]

    @property
    def name(self) -> str:
        return self.run.__name__

    @property
    def takes_mode(self) -> bool:
        """Whether it is run both by the reference machine and natively."""
        return bool(inspect.signature(self.run).parameters)


PROGRAMS: list[Program] = []


def wrong(stage: str, error: type[BaseException], *says: str) -> Callable:
    """Add a program to the catalogue."""

    def register(run: Callable[..., object]) -> Callable[..., object]:
        PROGRAMS.append(Program(run, stage, error, says))
        return run

    return register


# Building


@wrong("build", TypeError, "same number of dimensions", "[2, 1]")
def ranks_in_join():
    at.join(0, at.matrix("m"), at.vector("v"))


@wrong("build", NotImplementedError, "Cannot convert <object object", "Expected a variable, a number, an array")
def not_a_tensor():
    at.exp(object())


@wrong("build", ValueError, "axis 2 is out of bounds", "2 dimensions")
def axis_out_of_range():
    at.dmatrix("m").sum(axis=2)


@wrong("build", NotImplementedError, "Cannot convert TensorType(float64, ())")
def product_of_too_many_dimensions():
    at.dot(at.dmatrix("m"), at.as_tensor_variable(aesara.scalar.float64("s")).type)


@wrong("build", ValueError, "has 3", "has 2", "Transpose or reshape")
def product_of_fixed_sizes():
    at.dot(at.tensor("float64", shape=(2, 3), name="a"), at.tensor("float64", shape=(2, 3), name="b"))


@wrong("build", ValueError, "(2,), (3,)", "dimension 0", "or one of them 1")
def sum_of_fixed_sizes():
    at.tensor("float64", shape=(2,), name="a") + at.tensor("float64", shape=(3,), name="b")


@wrong("build", IndexError, "2 dimension(s), but 3 are indexed")
def too_many_indices():
    at.dmatrix("m")[0, 0, 0]


@wrong("build", TypeError, "integers or a boolean mask", "i of dtype float64")
def float_as_index():
    at.dvector("v")[at.dscalar("i")]


@wrong("build", TypeError, "no value until it is computed", "aesara.tensor.switch")
def truth_of_a_variable():
    if at.dscalar("x") > 0:
        pass


@wrong("build", TypeError, "x has type TensorType(float64, ())", "aesara.scan")
def iteration():
    list(at.dscalar("x"))


@wrong("build", TypeError, "must be the result of a subtensor operation", "got v")
def set_subtensor_of_a_plain_variable():
    at.set_subtensor(at.dvector("v"), 1.0)


@wrong("build", TypeError, "1-dimensional subtensor with a 2-dimensional value")
def set_subtensor_with_too_many_dimensions():
    at.set_subtensor(at.dvector("v")[:2], at.dmatrix("m"))


@wrong("build", ValueError, "(6,)", "(4, 2)", "expected sizes that multiply to 6, got 8")
def reshape_to_a_fixed_wrong_size():
    at.constant(np.zeros(6)).reshape((4, 2))


@wrong("build", ValueError, "Only one size", "(-1, -1)")
def reshape_with_two_unknown_sizes():
    at.dvector("v").reshape((-1, -1))


@wrong("build", ValueError, "dimension 1", "specify_shape")
def dimshuffle_drops_a_dimension():
    at.dmatrix("m").dimshuffle(0)


@wrong("build", ValueError, "axes 2", "dimension 2")
def transpose_with_wrong_axes():
    at.dmatrix("m").transpose(0, 2)


@wrong("build", TypeError, "'float63'", "float64")
def unknown_dtype():
    at.tensor("float63", shape=(None,))


@wrong("build", TypeError, "complex128 to float64", "`real`")
def cast_from_complex():
    at.cast(at.zvector("z"), "float64")


@wrong("build", TypeError, "AND(float64, int8)", "only integers")
def bits_of_floats():
    at.dvector("v") & 1


@wrong("build", AttributeError, "'maen'")
def misspelt_method():
    at.dvector("v").maen()


@wrong("build", TypeError, "Cost must be a scalar", "1 dimensions", "cost.sum()")
def cost_that_is_not_scalar():
    x = at.dvector("x")
    grad(x**2, x)


@wrong("build", DisconnectedInputError, "y (of type TensorType(float64, ()))", "disconnected_inputs='ignore'")
def disconnected_gradient():
    x, y = at.dscalar("x"), at.dscalar("y")
    grad(x**2, y)


@wrong("build", NotImplementedError, "grad is not implemented for Op Doubled", "the gradient of the node Doubled(x)")
def op_without_gradient():
    x = at.dvector("x")
    y = Doubled()(x)  # here
    grad(y.sum(), x)


@wrong("build", ValueError, "1 dimensional", "TensorType(float64, (None, None))", "flatten")
def jacobian_of_a_matrix():
    x = at.dvector("x")
    jacobian(at.outer(x, x), x)


@wrong("build", ValueError, "TensorType(float64, (None, None))", "first value x", "1 dimensions of dtype float64")
def scan_whose_state_changes_rank():
    aesara.scan(lambda x: at.outer(x, x), outputs_info=at.dvector("x"), n_steps=3)


@wrong("build", ValueError, "0 dimensions of dtype int64", "at.cast")
def scan_whose_state_changes_dtype():
    aesara.scan(lambda x: x * 1.5, outputs_info=at.lscalar("x"), n_steps=3)


@wrong("build", ValueError, "give n_steps, or a sequence")
def scan_without_length():
    aesara.scan(lambda x: x + 1, outputs_info=at.dscalar("x"))


@wrong("build", ValueError, "returns 1 outputs", "2 entries")
def scan_with_too_few_outputs():
    aesara.scan(lambda x, y: x + y, outputs_info=[at.dscalar("x"), at.dscalar("y")], n_steps=3)


@wrong("build", TypeError, "true_branch=1, false_branch=2")
def branches_of_different_types():
    ifelse(at.bscalar("c"), at.dvector("v"), at.dmatrix("m"))


@wrong("build", TypeError, "cannot store a value of dtype float64", "astype", 'Container name "s"')
def value_of_another_dtype_in_a_shared_variable():
    aesara.shared(np.zeros(2, "float32"), name="s").set_value(np.zeros(2, "float64"))


@wrong("build", TypeError, "make_node of NoApply must return an Apply node", "got x")
def make_node_gives_no_apply():
    class NoApply(Op):
        def make_node(self, x):
            return x

        def perform(self, node, inputs, outputs):
            pass

    NoApply()(at.dvector("x"))


@wrong("build", ValueError, "'FASTRUN'", "'mode'", "Did you mean 'FAST_RUN'?")
def unknown_value_of_an_option():
    aesara.config.mode = "FASTRUN"


@wrong("build", AttributeError, "'flaotX'", "Did you mean 'floatX'?")
def unknown_option():
    aesara.config.change_flags(flaotX="float32")


@wrong("build", TestValueError, "input 0 (x) of Op Elemwise{exp", "no test value")
def test_value_is_missing():
    with aesara.config.change_flags(compute_test_value="raise"):
        at.exp(at.dvector("x"))


@wrong("build", ValueError, "length 2 and input 1 has length 3", "specify_broadcastable")
def test_values_do_not_fit():
    with aesara.config.change_flags(compute_test_value="raise"):
        a, b = at.dvector("a"), at.dvector("b")
        a.tag.test_value, b.tag.test_value = np.zeros(2), np.zeros(3)
        a + b


@wrong("build", TypeError, "float() needs a number", "s of type TensorType(float64, ())", "aesara.tensor", ".eval()")
def function_of_the_math_module():
    math.exp(at.dscalar("s"))


@wrong("build", TypeError, "int() needs a number", "astype")
def variable_as_python_integer():
    int(at.lscalar("n"))


@wrong("build", TypeError, "An integer is needed", "aesara.tensor.arange", "aesara.scan")
def range_over_a_variable():
    range(at.lscalar("n"))


@wrong("build", TypeError, "An integer is needed", "as_tensor(values)")
def list_indexed_by_a_variable():
    [1, 2, 3][at.lscalar("n")]


@wrong("build", TypeError, "has no len()", "x.shape[0]")
def length_of_a_variable():
    len(at.dvector("v"))


@wrong("build", TypeError, "does not support item assignment", "set_subtensor(x[index], value)", "inc_subtensor")
def assignment_to_an_element():
    v = at.dvector("v")
    v[0] += 1


@wrong("build", TypeError, "numpy.sum takes arrays, not variables", "aesara.tensor.sum")
def numpy_reduction():
    np.sum(at.dvector("v"))


@wrong("build", TypeError, "numpy.dot takes arrays, not variables", "array of objects", "aesara.tensor.dot")
def numpy_product():
    np.dot(np.ones((2, 2)), at.dvector("v"))


@wrong("build", TypeError, "numpy.where takes arrays, not variables", "aesara.tensor.where")
def numpy_choice():
    v = at.dvector("v")
    np.where(v > 0, v, 0)


@wrong("build", TypeError, "numpy.concatenate takes arrays, not variables", "aesara.tensor.concatenate")
def numpy_concatenation():
    np.concatenate([at.dvector("v"), at.dvector("w")])


@wrong("build", TypeError, "1 masked elements", "filled")
def masked_constant():
    at.as_tensor_variable(np.ma.masked_array([1.0, 2.0], mask=[False, True]))


@wrong("build", TypeError, "Sparse matrices are not supported", "toarray()", "csr_matrix")
def sparse_constant():
    at.dmatrix("m") + at.as_tensor_variable(scipy.sparse.csr_matrix(np.eye(2)))


@wrong("build", TypeError, "'flaot32' is no dtype", "Did you mean 'float32'?")
def misspelt_dtype():
    at.dvector("v").astype("flaot32")


@wrong("build", OverflowError, "more than 64 bits")
def constant_that_is_too_large():
    at.lscalar("n") * 2**70


@wrong("build", TypeError, "sub(bool, bool)", "xor")
def difference_of_booleans():
    b = at.vector("b", dtype="bool")
    b - b


@wrong("build", TypeError, "Cannot cast True or False", "aesara.tensor.eq")
def comparison_by_the_wrong_operator():
    x, y = at.dscalar("x"), at.dscalar("y")
    at.switch(x == y, 1.0, 2.0)


@wrong("build", TypeError, "takes 1 positional argument but 2 were given", "1 from sequences, then 1 from outputs_info")
def step_with_too_few_parameters():
    aesara.scan(lambda x: x + 1, sequences=at.dvector("x"), outputs_info=at.zeros(()))


@wrong("build", ValueError, "the step returned None", "return")
def step_without_return():
    def step(x):
        x * 2

    aesara.scan(step, sequences=at.dvector("x"))


@wrong("build", ValueError, "a sequence needs at least one dimension", "s of type")
def scan_over_a_scalar():
    aesara.scan(lambda x: x * 2, sequences=at.dscalar("s"))


@wrong("build", ValueError, "returned 0 gradients for 1 inputs", "one for each input")
def gradient_with_too_few_terms():
    class Forgetful(Doubled):
        def grad(self, inputs, gradients):
            return []

    x = at.dvector("x")
    grad(Forgetful()(x).sum(), x)


@wrong("build", ValueError, "must be an integer", "got 2.5")
def scan_of_half_a_step():
    aesara.scan(lambda x: x * 2, outputs_info=at.ones(()), n_steps=2.5)


@wrong("build", TypeError, "`itypes` must be a list of aesara types", "'dvector'")
def as_op_with_names_of_types():
    as_op(itypes=["dvector"], otypes=[at.dvector])


@wrong("build", TypeError, "unhashable type: 'list'", "the properties of Doubling are {'factors': [1, 2]}")
def op_with_a_list_as_property():
    class Doubling(Doubled):
        __props__ = ("factors",)

        def __init__(self, factors):
            self.factors = factors

    hash(Doubling([1, 2]))


# Compiling


@wrong("compile", MissingInputError, "Input `y` of type TensorType(float64, ())", "input 1", "`givens`")
def missing_input():
    x, y = at.dscalar("x"), at.dscalar("y")
    z = x * y  # here
    aesara.function([x], z)


@wrong("compile", aesara.compile.UnusedInputError, "index 1", ": y.", "on_unused_input='warn'")
def unused_input():
    x, y = at.dscalar("x"), at.dscalar("y")
    aesara.function([x, y], x + 1)


@wrong("compile", aesara.compile.UnusedInputError, "Variable x is used twice", "indices 0 and 1")
def input_given_twice():
    x = at.dscalar("x")
    aesara.function([x, x], x + 1)


@wrong("compile", TypeError, "Variable or Out instances", "3.0")
def output_that_is_no_variable():
    x = at.dscalar("x")
    aesara.function([x], [x, 3.0])


@wrong("compile", TypeError, "Inputs of a function are variables", "got 'x'")
def input_that_is_no_variable():
    x = at.dscalar("x")
    aesara.function(["x"], x)


@wrong("compile", TypeError, "shared variable (s)", "`givens`")
def shared_variable_as_input():
    s = aesara.shared(1.0, name="s")
    aesara.function([s], s + 1)


@wrong(
    "compile",
    TypeError,
    "shared_var=s",
    "TensorType(float64, (None,))",
    "TensorType(float64, (None, None))",
    "Cast the update",
)
def update_of_another_type():
    s = aesara.shared(np.zeros(2), name="s")
    aesara.function([], [], updates=[(s, at.outer(s, s))])


@wrong("compile", TypeError, "update target must be a SharedVariable, got x", "aesara.shared")
def update_of_a_plain_variable():
    x = at.dscalar("x")
    aesara.function([x], x, updates=[(x, x + 1)])


@wrong("compile", ValueError, "already has an update expression: s", "Give one")
def two_updates_of_one_variable():
    s = aesara.shared(1.0, name="s")
    aesara.function([], [], updates=[(s, s + 1), (s, s + 2)])


@wrong("compile", AssertionError, "the old_v b", "not allowed")
def substitutions_in_a_circle():
    a, b = at.dscalar("a"), at.dscalar("b")
    aesara.function([], a + b, givens=[(a, b + 1), (b, a + 1)])


@wrong("compile", TypeError, "TensorType(float64, (None,)) (of Variable v)", "into Type TensorType(float64, ())")
def substitution_of_another_type():
    x = at.dscalar("x")
    aesara.function([], x + 1, givens={x: at.dvector("v")})


@wrong("compile", ValueError, "'FAST_RUNN'", "Did you mean 'FAST_RUN'?")
def unknown_mode():
    x = at.dscalar("x")
    aesara.function([x], x + 1, mode="FAST_RUNN")


@wrong("compile", ValueError, "'gcc'", "'llvm', 'py'")
def unknown_linker():
    Mode(linker="gcc")


@wrong("compile", ValueError, "'o5'", "'o4', 'o3'")
def unknown_optimizer():
    Mode(optimizer="o5")


@wrong("compile", NotImplementedError, "'numba'", "mode='FAST_RUN'")
def back_end_that_is_not_there():
    x = at.dscalar("x")
    aesara.function([x], x + 1, mode="NUMBA")


@wrong("compile", aesara.errors.NativeFallbackError, "no native lowering for Doubled", "native_fallback")
def native_code_is_demanded():
    x = at.dvector("x")
    y = Doubled()(x)  # here
    with aesara.config.change_flags(native_fallback="raise"):
        aesara.function([x], y, mode="FAST_RUN")


@wrong("compile", ValueError, "'fast_run'", "Did you mean 'FAST_RUN'?")
def mode_in_small_letters():
    x = at.dscalar("x")
    aesara.function([x], x + 1, mode="fast_run")


@wrong("compile", TypeError, "A mode is a name or a `Mode`, got 3")
def number_as_mode():
    x = at.dscalar("x")
    aesara.function([x], x + 1, mode=3)


@wrong("compile", ValueError, "'cmv'", "Did you mean 'cvm'?")
def misspelt_linker():
    Mode(linker="cmv")


@wrong("compile", ValueError, "Unknown optimizer 'fast-run'", "Did you mean 'fast_run'?")
def misspelt_optimizer():
    Mode(optimizer="fast-run")


@wrong("compile", TypeError, "`givens` parameter must be a dictionary or a list of pairs", "[x, y]")
def substitutions_that_are_no_pairs():
    x, y = at.dvector("x"), at.dvector("y")
    aesara.function([y], x + 1, givens=[x, y])


@wrong("compile", TypeError, "Only variables can be replaced", "'x'")
def substitution_by_name():
    x, y = at.dvector("x"), at.dvector("y")
    aesara.function([y], x + 1, givens={"x": y})


@wrong("compile", RuntimeError, "'x' through the `givens`", "clone_replace")
def substitution_of_an_input():
    x = at.dvector("x")
    aesara.function([x], x + 1, givens={x: x * 2})


@wrong("compile", TypeError, "`updates` parameter must be an ordered mapping or a list of pairs", "got {")
def updates_in_a_set():
    s = aesara.shared(1.0, name="s")
    aesara.function([], [], updates={s, s + 1})


@wrong("compile", TypeError, "for s of type TensorType(float64, (None,))", "expected 1, got 2")
def update_by_an_array_of_another_rank():
    s = aesara.shared(np.zeros(2), name="s")
    aesara.function([], [], updates={s: np.zeros((2, 2))})


@wrong("compile", TypeError, "shared_var=s", "TensorType(float32, (None,))", "Cast the update")
def update_of_another_dtype():
    s, x = aesara.shared(np.zeros(2, "float32"), name="s"), at.dvector("x")
    aesara.function([x], [], updates={s: s + x})


@wrong("compile", ValueError, "'warning'", "'raise', 'warn' or 'ignore'")
def unknown_reaction_to_unused_inputs():
    x, y = at.dscalar("x"), at.dscalar("y")
    aesara.function([x, y], x, on_unused_input="warning")


@wrong("compile", TypeError, "Cannot swap s of type", "with t of type TensorType(float64, (None, None))")
def swap_with_another_type():
    s, t = aesara.shared(np.zeros(2), name="s"), aesara.shared(np.zeros((2, 2)), name="t")
    aesara.function([], s + 1).copy(swap={s: t})


# Rewriting


@wrong(
    "rewrite", ZeroDivisionError, "division by zero", "Raised by the rewrite divides_by_zero on the node Elemwise{exp"
)
def rule_that_fails():
    @node_rewriter([at.exp])
    def divides_by_zero(fgraph, node):
        1 / 0

    x = at.dvector("x")
    y = at.exp(x)  # here
    with aesara.config.change_flags(on_opt_error="raise"):
        aesara.function([x], y, mode=Mode("py", in2out(divides_by_zero)))


@wrong("rewrite", TypeError, "TensorType(float64, (None, None))", "makes_a_matrix")
def rule_with_a_wrong_type():
    @node_rewriter([at.exp])
    def makes_a_matrix(fgraph, node):
        return [at.outer(node.inputs[0], node.inputs[0])]

    x = at.dvector("x")
    y = at.exp(x)  # here
    with aesara.config.change_flags(on_opt_error="raise"):
        aesara.function([x], y, mode=Mode("py", in2out(makes_a_matrix)))


@wrong("rewrite", ValueError, "gives_two returned 2 replacements for the 1 outputs")
def rule_with_too_many_results():
    @node_rewriter([at.exp])
    def gives_two(fgraph, node):
        return [node.inputs[0], node.inputs[0]]

    x = at.dvector("x")
    y = at.exp(x)  # here
    with aesara.config.change_flags(on_opt_error="raise"):
        aesara.function([x], y, mode=Mode("py", in2out(gives_two)))


@wrong(
    "rewrite",
    aesara.compile.debugmode.BadOptimization,
    "takes_the_logarithm",
    "Old Value: [2.718",
    "New Value: [0.",
    "exception_verbosity",
)
def wrong_rule_in_debug_mode():
    @node_rewriter([at.exp])
    def takes_the_logarithm(fgraph, node):
        return [at.log(node.inputs[0])]

    x = at.dvector("x")
    y = at.exp(x)  # here
    aesara.function([x], y, mode=DebugMode(optimizer=in2out(takes_the_logarithm), stability_patience=1))([1.0, 2.0])


# Running


class Doubled(Op):
    __props__ = ()

    def make_node(self, x):
        x = at.as_tensor_variable(x)
        return Apply(self, [x], [x.type()])

    def perform(self, node, inputs, output_storage):
        if inputs[0].size == 0:
            raise ValueError("nothing to double")
        output_storage[0][0] = 2 * inputs[0]


@wrong(
    "run", TypeError, "index 0", "input `x` of type TensorType(int64, (None,))", "[1.5, 2.5]", "allow_input_downcast"
)
def argument_of_another_dtype(mode):
    x = at.lvector("x")
    aesara.function([x], x + 1, mode=mode)([1.5, 2.5])


@wrong("run", TypeError, "input `x`", "expected 2, got 1 with shape (2,)")
def argument_of_another_rank(mode):
    x = at.dmatrix("x")
    aesara.function([x], x + 1, mode=mode)([1.0, 2.0])


@wrong("run", TypeError, "input `x`", "((3,))", "((2,))")
def argument_of_another_size(mode):
    x = at.tensor("float64", shape=(3,), name="x")
    aesara.function([x], x + 1, mode=mode)([1.0, 2.0])


@wrong("run", TypeError, "Missing required input: y", "x, y")
def argument_is_missing(mode):
    x, y = at.dscalar("x"), at.dscalar("y")
    aesara.function([x, y], x + y, mode=mode)(1.0)


@wrong("run", TypeError, '"increment"', "takes 1, got 2")
def too_many_arguments(mode):
    x = at.dscalar("x")
    aesara.function([x], x + 1, mode=mode, name="increment")(1.0, 2.0)


@wrong("run", TypeError, "Unknown input or state: y", "1 inputs: x")
def unknown_name_of_an_argument(mode):
    x = at.dscalar("x")
    aesara.function([x], x + 1, mode=mode)(y=1.0)


@wrong("run", TypeError, "dtype=float64 (got float32)")
def strict_argument(mode):
    x = at.dvector("x")
    aesara.function([In(x, strict=True)], x + 1, mode=mode)(np.zeros(2, "float32"))


@wrong("run", ValueError, "2", "3", "(x, y)", "[(2,), (3,)]", "specify_broadcastable")
def sum_of_different_sizes(mode):
    x, y = at.dvector("x"), at.dvector("y")
    z = x + y  # here
    aesara.function([x, y], z, mode=mode)(np.zeros(2), np.zeros(3))


@wrong("run", ValueError, "input 0 has", "input 1 has", "Inputs shapes: [(2,), (3,)]")
def fused_sum_of_different_sizes(mode):
    x, y = at.dvector("x"), at.dvector("y")
    z = at.tanh(x) * 2
    z = at.exp(z + y) - 1  # here
    aesara.function([x, y], z.sum(), mode=mode)(np.zeros(2), np.zeros(3))


@wrong("run", ValueError, "[(2, 3), (1, 3)]", "specify_broadcastable")
def no_broadcasting_at_run_time(mode):
    x, y = at.dmatrix("x"), at.dmatrix("y")
    z = x * y  # here
    aesara.function([x, y], z, mode=mode)(np.zeros((2, 3)), np.zeros((1, 3)))


@wrong("run", ValueError, "3", "2", "[(2, 3), (2, 3)]")
def product_of_different_sizes(mode):
    x, y = at.dmatrix("x"), at.dmatrix("y")
    z = x.dot(y)  # here
    aesara.function([x, y], z, mode=mode)(np.zeros((2, 3)), np.zeros((2, 3)))


@wrong("run", ValueError, "[(2, 1), (4, 1)]")
def gradient_of_a_product_of_different_sizes(mode):
    w, x, y = at.dmatrix("w"), at.dvector("x"), at.dvector("y")
    cost = ((w.dot(x) - y) ** 2).sum()  # here
    aesara.function([w, x, y], grad(cost, w), mode=mode)(np.zeros((2, 3)), np.zeros(3), np.zeros(4))


@wrong("run", IndexError, "index 5 is out of bounds for axis 0 with size 3")
def index_out_of_bounds(mode):
    x, i = at.dvector("x"), at.lscalar("i")
    y = x[i]  # here
    aesara.function([x, i], y, mode=mode)(np.zeros(3), 5)


@wrong("run", IndexError, "index 7 is out of bounds for axis 0 with size 3")
def entry_of_an_index_array_out_of_bounds(mode):
    x, i = at.dmatrix("x"), at.lvector("i")
    y = at.tanh(x[i])  # here
    aesara.function([x, i], y, mode=mode)(np.zeros((3, 2)), [0, 1, 7])


@wrong("run", ValueError, "3", "4", "(2, 3), (2, 4)")
def join_of_different_sizes(mode):
    x, y = at.dmatrix("x"), at.dmatrix("y")
    z = at.concatenate([x, y], axis=0)  # here
    aesara.function([x, y], z, mode=mode)(np.zeros((2, 3)), np.zeros((2, 4)))


@wrong("run", ValueError, "7", "Reshape{2}", "array([2, 3])")
def reshape_to_another_size(mode):
    x, n = at.dvector("x"), at.lscalar("n")
    y = x.reshape((n, 3))  # here
    aesara.function([x, n], y, mode=mode)(np.zeros(7), 2)


@wrong("run", ValueError, "could not broadcast", "3", "2", "IncSubtensor{Set;")
def set_subtensor_of_another_size(mode):
    x, y = at.dvector("x"), at.dvector("y")
    z = at.set_subtensor(x[1:3], y)  # here
    aesara.function([x, y], z, mode=mode)(np.zeros(5), np.zeros(3))


@wrong("run", AssertionError, "SpecifyShape", "4", "expected")
def specified_shape(mode):
    x = at.dvector("x")
    y = specify_shape(x, (3,)) * 2  # here
    aesara.function([x], y, mode=mode)(np.zeros(4))


@wrong("run", AssertionError, "x must be positive", "array([ 1., -1.])")
def asserted_condition(mode):
    x = at.dvector("x")
    y = Assert("x must be positive")(x, (x > 0).all())  # here
    aesara.function([x], at.log(y), mode=mode)([1.0, -1.0])


@wrong("run", ValueError, "nothing to double", "Doubled(x)", "[(0,)]")
def perform_that_fails(mode):
    x = at.dvector("x")
    y = at.exp(Doubled()(x))  # here
    aesara.function([x], y, mode=mode)([])


@wrong("run", ValueError, "[(2,), (3,)]")
def step_of_a_scan_that_fails(mode):
    x, y = at.dvector("x"), at.dvector("y")
    states, _ = aesara.scan(
        lambda s, y: s + y,  # here
        outputs_info=x,
        non_sequences=y,
        n_steps=3,
    )
    aesara.function([x, y], states, mode=mode)(np.zeros(2), np.zeros(3))


@wrong("run", ValueError, "sequence 0 has 3 entries", "5 steps")
def scan_over_too_short_a_sequence(mode):
    x = at.dvector("x")
    y, _ = aesara.scan(lambda one: one * 2, sequences=x, n_steps=5)  # here
    aesara.function([x], y, mode=mode)(np.zeros(3))


@wrong("run", ValueError, "3", "2", "Repeat{axis=None}(x, n)")
def repeats_of_another_size(mode):
    x, n = at.dvector("x"), at.lvector("n")
    y = at.repeat(x, n)  # here
    aesara.function([x, n], y, mode=mode)(np.zeros(3), [1, 2])


@wrong("run", ValueError, "negative dimensions are not allowed", "-2")
def negative_size(mode):
    n = at.lscalar("n")
    y = at.zeros((n,)) + 1  # here
    aesara.function([n], y, mode=mode)(-2)


@wrong("run", ValueError, "[(2,), (3,)]", "(s, ")
def update_that_fails(mode):
    s, x = aesara.shared(np.zeros(2), name="s"), at.dvector("x")
    new = s - 0.1 * x  # here
    aesara.function([x], [], updates={s: new}, mode=mode)(np.zeros(3))


@wrong("run", AssertionError, "NaN detected", "array([ 1., -1.])")
def nan_in_a_guarded_graph():
    x = at.dvector("x")
    y = at.log(x)  # here
    aesara.function([x], y.sum(), mode=NanGuardMode())([1.0, -1.0])


@wrong("run", ValueError, "zero-size array to reduction operation maximum")
def maximum_of_nothing(mode):
    x = at.dvector("x")
    y = x.max()  # here
    aesara.function([x], y, mode=mode)([])


@wrong("run", ValueError, "Integers to negative integer powers are not allowed")
def integers_to_negative_powers(mode):
    n, k = at.lvector("n"), at.lvector("k")
    y = n**k  # here
    aesara.function([n, k], y, mode=mode)([2, 3], [1, -1])


@wrong("run", ValueError, "input 0 has", "input 2 has", "[(2,), (2,), (3,)]")
def condition_of_different_sizes(mode):
    c, x, y = at.bvector("c"), at.dvector("x"), at.dvector("y")
    z = at.switch(c, x, at.exp(y))  # here
    aesara.function([c, x, y], z.sum(), mode=mode)([1, 0], np.zeros(2), np.zeros(3))


@wrong("run", ZeroDivisionError, "zero", "ARange")
def arange_with_step_zero(mode):
    n = at.lscalar("n")
    y = at.arange(0, 5, n)  # here
    aesara.function([n], y, mode=mode)(0)


@wrong("run", NanFound, "The first NaN at index 1", "x is -1.0", "forward computation")
def nan_found_natively():
    x = at.dvector("x")
    y = at.log(x)  # here
    aesara.function([x], at.tanh(y), mode="NanWhere")([1.0, -1.0])


@wrong("run", NanFound, "The first NaN at index 0", "x is 0.0", "gradient of the line below")
def nan_in_a_gradient():
    x = at.dvector("x")
    y = at.sqrt((x**2).sum())  # here
    aesara.function([x], grad(y, x), mode="NanWhere")([0.0, 0.0])


@wrong("run", TypeError, "input `x`", "1 masked elements", "filled")
def masked_argument(mode):
    x = at.dvector("x")
    aesara.function([x], x + 1, mode=mode)(np.ma.masked_array([1.0, 2.0], mask=[False, True]))


@wrong("run", TypeError, "input `x`", "Sparse matrices", "toarray()")
def sparse_argument(mode):
    x = at.dmatrix("x")
    aesara.function([x], x + 1, mode=mode)(scipy.sparse.csr_matrix(np.eye(2)))


@wrong("run", ValueError, "input `x`", "inhomogeneous shape")
def ragged_argument(mode):
    x = at.dmatrix("x")
    aesara.function([x], x + 1, mode=mode)([[1.0, 2.0], [3.0]])


@wrong("run", ValueError, "input `x`", "could not convert string to float")
def text_argument(mode):
    x = at.dvector("x")
    aesara.function([x], x + 1, mode=mode)("abc")


@wrong("run", TypeError, "input `x`", "found a list with variables: [y, y]")
def list_of_variables_as_argument(mode):
    x, y = at.dvector("x"), at.dscalar("y")
    aesara.function([x], x + 1, mode=mode)([y, y])


@wrong("run", TypeError, "input `x`", "found a Variable")
def variable_as_argument(mode):
    x, y = at.dvector("x"), at.dvector("y")
    aesara.function([x], x + 1, mode=mode)(y)


@wrong("run", TypeError, "input `x`", "complex128", "float64")
def complex_argument(mode):
    x = at.dvector("x")
    aesara.function([x], x + 1, mode=mode)(np.array([1j]))


@wrong("run", TypeError, "input `n`", "cannot store accurately value 300", "44")
def argument_out_of_range(mode):
    n = at.bscalar("n")
    aesara.function([n], n + 1, mode=mode)(300)


@wrong("run", TypeError, "input `x`", "got None")
def nothing_as_argument(mode):
    x = at.dvector("x")
    aesara.function([x], x + 1, mode=mode)(None)


@wrong("run", TypeError, "Multiple values for input: x")
def argument_given_twice(mode):
    x = at.dvector("x")
    aesara.function([x], x + 1, mode=mode)([1.0], x=[2.0])


@wrong("run", ValueError, "unknown output 'c'", "['a', 'b']")
def unknown_output(mode):
    x = at.dvector("x")
    aesara.function([x], {"a": x, "b": x + 1}, mode=mode)([1.0], output_subset=["c"])


@wrong("run", ValueError, "input 0 has", "input 1 has", "[(9,), (10,)]")
def data_of_another_size_than_the_model(mode):
    data = aesara.shared(np.zeros((10, 3)), name="data")
    mu, beta, observed = at.dscalar("mu"), at.dvector("beta"), at.dvector("observed")
    rate = at.exp(mu + data @ beta)
    logp = -0.5 * (observed - rate) ** 2  # here
    aesara.function([mu, beta, observed], logp.sum(), mode=mode)(0.0, np.zeros(3), np.zeros(9))


@wrong("run", IndexError, "index 8 is out of bounds for axis 0 with size 8", "TensorConstant{[0 1 8]}")
def group_that_does_not_exist(mode):
    effect = at.dvector("effect")
    rate = effect[np.array([0, 1, 8])]  # here
    aesara.function([effect], at.exp(rate).sum(), mode=mode)(np.zeros(8))


@wrong("run", IndexError, "index -4 is out of bounds for axis 0 with size 3")
def negative_index_out_of_bounds(mode):
    x, i = at.dvector("x"), at.lvector("i")
    y = at.exp(x)[i] * 2 + 1  # here
    aesara.function([x, i], y.sum(), mode=mode)(np.zeros(3), [0, -4])


@wrong("run", ValueError, "slice step cannot be zero")
def slice_with_step_zero(mode):
    x, k = at.dvector("x"), at.lscalar("k")
    y = x[::k]  # here
    aesara.function([x, k], y, mode=mode)(np.zeros(3), 0)


@wrong("run", IndexError, "boolean index did not match", "size of axis is 3", "boolean axis is 2")
def mask_of_another_size(mode):
    x, mask = at.dvector("x"), at.vector("mask", dtype="bool")
    y = x[mask]  # here
    aesara.function([x, mask], y.sum(), mode=mode)(np.zeros(3), [True, False])


@wrong("run", ValueError, "for{", "state 0 has", "4")
def state_that_grows(mode):
    x = at.dvector("x")
    states, _ = aesara.scan(lambda s: at.concatenate([s, s]), outputs_info=x, n_steps=3)  # here
    aesara.function([x], states, mode=mode)(np.zeros(2))


@wrong("run", KeyError, "missing", "FromFunctionOp{looks_up}(x)")
def function_of_the_user_that_fails(mode):
    @as_op([at.dvector], [at.dvector])
    def looks_up(values):
        return {}["missing"]

    x = at.dvector("x")
    y = looks_up(x)  # here
    aesara.function([x], at.exp(y).sum(), mode=mode)([1.0])


@wrong("run", TypeError, "The function gives_text must return", "TensorType(float64, (None,)) as result 0")
def function_of_the_user_that_returns_text(mode):
    @as_op([at.dvector], [at.dvector])
    def gives_text(values):
        return "text"

    x = at.dvector("x")
    y = gives_text(x)  # here
    aesara.function([x], at.exp(y).sum(), mode=mode)([1.0])


@wrong("run", NotImplementedError, "CodeOnly has C code but no `perform`", "write what it does in Python")
def op_with_c_code_only(mode):
    class CodeOnly(Op):
        __props__ = ()

        def make_node(self, x):
            return Apply(self, [x], [x.type()])

        def c_code(self, node, name, inputs, outputs, sub):
            return ""

    x = at.dvector("x")
    y = CodeOnly()(x)  # here
    aesara.function([x], y, mode=mode)([1.0])


class Stores(Doubled):
    """Stores something that it should not."""

    __props__ = ("what",)

    def __init__(self, what):
        self.what = what

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = {"nothing": None, "rank": np.ones((2, 2)), "dtype": np.array([1j])}[self.what]


@wrong("run", ValueError, "`perform` has left output 0 empty", "output_storage[0][0]")
def perform_that_stores_nothing(mode):
    x = at.dvector("x")
    y = Stores("nothing")(x)  # here
    aesara.function([x], at.exp(y), mode=mode)([1.0])


@wrong("run", TypeError, "Output 0 has the type TensorType(float64, (None,))", "shape (2, 2)")
def perform_that_stores_another_rank():
    x = at.dvector("x")
    y = Stores("rank")(x)  # here
    aesara.function([x], at.exp(y), mode="FAST_RUN")([1.0])


@wrong("run", TypeError, "Output 0 has the type TensorType(float64, (None,))", "dtype complex128")
def perform_that_stores_another_dtype():
    x = at.dvector("x")
    y = Stores("dtype")(x)  # here
    aesara.function([x], at.exp(y), mode="FAST_RUN")([1.0])


@wrong("run", TypeError, "Output 0 has the type TensorType(float64, (3,))", "shape (2,)")
def perform_that_stores_another_length():
    class Three(Doubled):
        def make_node(self, x):
            return Apply(self, [x], [at.tensor("float64", shape=(3,))])

    x = at.dvector("x")
    y = Three()(x)  # here
    aesara.function([x], at.exp(y), mode="FAST_RUN")([1.0, 2.0])


@wrong("run", MemoryError, "Unable to allocate 728. TiB", "shape (10000000, 10000000)", "data type float64")
def result_that_is_too_large(mode):
    n = at.lscalar("n")
    y = at.ones((n, n)) * 2  # here
    aesara.function([n], y, mode=mode)(10**7)


@wrong("run", ValueError, "larger than the maximum possible size")
def result_that_no_machine_holds(mode):
    n = at.lscalar("n")
    y = at.ones((n, n)) * 2  # here
    aesara.function([n], y, mode=mode)(2**40)


@wrong("run", MemoryError, "intermediate results", "aesara.memory_plan(f)")
def intermediate_results_that_are_too_large():
    n = at.lscalar("n")
    y = at.sort(at.exp(at.arange(n)))[::-1].cumsum()[n // 2]
    aesara.function([n], y, mode="FAST_RUN")(10**14)
