"""Programs that go wrong when functions are compiled, or their graphs rewritten."""

from __future__ import annotations

import numpy as np
from catalogue import Doubled, wrong

import aesara
import aesara.tensor as at
from aesara.compile.debugmode import DebugMode
from aesara.compile.mode import Mode
from aesara.graph.rewriting.basic import in2out, node_rewriter
from aesara.graph.utils import MissingInputError


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
    "TensorType(float64, (?,))",
    "TensorType(float64, (?, ?))",
    "Cast the update",
)
def update_of_another_type():
    s = aesara.shared(np.zeros(2), name="s")
    aesara.function([], [], updates=[(s, at.outer(s, s))])


@wrong("compile", TypeError, "update target must be a SharedVariable, got x", "aesara.shared")
def update_of_a_plain_variable():
    x = at.dscalar("x")
    aesara.function([x], x, updates=[(x, x + 1)])


@wrong("compile", ValueError, "already has an update expression: s would become `s + 1`", "Give one")
def two_updates_of_one_variable():
    s = aesara.shared(1.0, name="s")
    aesara.function([], [], updates=[(s, s + 1), (s, s + 2)])


@wrong("compile", AssertionError, "the old_v b", "not allowed")
def substitutions_in_a_circle():
    a, b = at.dscalar("a"), at.dscalar("b")
    aesara.function([], a + b, givens=[(a, b + 1), (b, a + 1)])


@wrong("compile", TypeError, "TensorType(float64, (?,)) (of Variable v)", "into Type TensorType(float64, ())")
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


@wrong("compile", TypeError, "for s of type TensorType(float64, (?,))", "expected 1, got 2")
def update_by_an_array_of_another_rank():
    s = aesara.shared(np.zeros(2), name="s")
    aesara.function([], [], updates={s: np.zeros((2, 2))})


@wrong("compile", TypeError, "shared_var=s", "TensorType(float32, (?,))", "Cast the update")
def update_of_another_dtype():
    s, x = aesara.shared(np.zeros(2, "float32"), name="s"), at.dvector("x")
    aesara.function([x], [], updates={s: s + x})


@wrong("compile", ValueError, "'warning'", "'raise', 'warn' or 'ignore'")
def unknown_reaction_to_unused_inputs():
    x, y = at.dscalar("x"), at.dscalar("y")
    aesara.function([x, y], x, on_unused_input="warning")


@wrong("compile", TypeError, "Cannot swap s of type", "with t of type TensorType(float64, (?, ?))")
def swap_with_another_type():
    s, t = aesara.shared(np.zeros(2), name="s"), aesara.shared(np.zeros((2, 2)), name="t")
    aesara.function([], s + 1).copy(swap={s: t})


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


@wrong("rewrite", TypeError, "TensorType(float64, (?, ?))", "makes_a_matrix")
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
