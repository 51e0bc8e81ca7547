"""What is said of wrong calls of `function`, of a function, and of modes: the facts that are named are right."""

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.compile import Mode
from aesara.compile.debugmode import DebugMode
from aesara.compile.function.aliasing import Supervisor
from aesara.compile.function.graph import std_fgraph
from aesara.compile.function.types import FunctionMaker
from aesara.compile.io import In, SymbolicInput, SymbolicOutput
from aesara.compile.mode import register_linker, register_mode, register_optimizer
from aesara.compile.monitormode import MonitorMode
from aesara.compile.nanguardmode import NanGuardMode
from aesara.compile.ops import UpdatePlaceholder, as_op
from aesara.compile.profiling import ProfileStats, register_profiler_printer
from aesara.graph.destroyhandler import DestroyHandler
from aesara.graph.fg import FunctionGraph
from aesara.graph.utils import InconsistencyError
from aesara.link.basic import PerformLinker

x, y, m = at.dvector("x"), at.dvector("y"), at.dmatrix("m")
n = at.lscalar("n")
s, t = aesara.shared(1.0, name="s"), aesara.shared(np.ones((2, 2)), name="t")
copy_of_s = s.clone()
copy_of_s.name = "copy"


def compiled(inputs, outputs, **kwargs):
    return lambda: aesara.function(inputs, outputs, **kwargs)


@as_op([at.dvector, at.lscalar], [at.dvector])
def shifted(vector, number):
    return (vector, number) if number < 0 else vector + number


def called(*args, inputs=(x, In(n, value=2)), outputs=x * n, name="f", **kwargs):
    return lambda: aesara.function(list(inputs), outputs, name=name)(*args, **kwargs)


def overwritten():
    graph = FunctionGraph([x, y], [at.inc_subtensor(x[0], y[0], inplace=True)], clone=False)
    graph.attach_feature(DestroyHandler())
    graph.attach_feature(Supervisor([y, x]))
    graph.validate()


TENSOR, MATRIX, NUMBER = "TensorType(float64, (?,))", "TensorType(float64, (?, ?))", "TensorType(float64, ())"
WRONG = {
    # functions that are made
    "name of an output": (compiled([x], {3: x}), TypeError,
        "The names of outputs given as a dict must be strings, got 3 (<class 'int'>)."),
    "output": (compiled([x], [x, "y"]), TypeError,
        "Outputs must be aesara Variable or Out instances. Received y of type <class 'str'>"),
    "form of an input": (compiled([[x, 1.0, 2.0]], x), TypeError,
        "Invalid input syntax: [x, 1.0, 2.0] (expected a variable and a value or an update)"),
    "short form": (lambda: FunctionMaker([(("x", y), 1.0)], []), TypeError,
        "Invalid input syntax: (('x', y), 1.0) (the first part must be a pair (variable, update))"),
    "kind of an input": (lambda: FunctionMaker([3], []), TypeError,
        "Unknown input type: <class 'int'> (3), expected Variable instance"),
    "kind of a variable": (lambda: FunctionMaker([(3, 4)], []), TypeError,
        "Unknown input type: <class 'int'> (3), expected Variable instance"),
    "list of inputs": (compiled({x: 1.0}, x), TypeError,
        "Input variables of an Aesara function should be contained in a list, even when there is a single input, got "
        "{x: 1.0}."),
    "default value": (compiled([[x, y]], x), TypeError, "The default value of x must be a value, got the variable y."),
    "default updates": (compiled([], s, no_default_updates="s"), TypeError,
        "`no_default_updates` must be True, False or a list, got 's'."),
    "target of an update": (compiled([x], x, updates={x: y}), TypeError,
        "update target must be a SharedVariable, got x of type TensorVariable. Only the values of shared variables are "
        "kept between calls: make one with aesara.shared."),
    "two updates of a value": (compiled([], [], updates=[(s, s + 1), (copy_of_s, s + 2)]), ValueError,
        "copy and s have the same value, since one is a copy of the other; updates give both a new one, "
        "`s + 2` (Elemwise{add,no_inplace}.0) and `s + 1` (Elemwise{add,no_inplace}.0). Give one update for both."),
    "given by its name": (compiled([x], x, givens={"y": x}), TypeError,
        "Only variables can be replaced through `givens`, got 'y' (<class 'str'>)."),
    "givens in a chain": (compiled([], x + y, givens=[(x, y + 1), (y, x + 2)]), AssertionError,
        "Here, the old_v y is used to compute other new_v's, but it is scheduled to be replaced by "
        "`x + 2` (Elemwise{add,no_inplace}.0)."),
    "input of a wrong type": (lambda: In(3.0), TypeError,
        "The input of a function must be a graph variable, got 3.0 (<class 'float'>)"),
    "type of an update": (lambda: In(x, update=m), TypeError,
        f"Variable 'x' has type {TENSOR} but an update of type {MATRIX}. The type of the update should be "
        "compatible with the type of the variable."),
    "flags": (lambda: In(x, name="z", mutable=True, borrow=False), ValueError,
        "Symbolic input for variable x (name=z) has flags mutable=True, borrow=False."),
    "implicit input": (lambda: FunctionMaker([In(x, implicit=True)], x).create(), TypeError,
        "The implicit input In(x) has no value."),
    "values of a maker": (lambda: FunctionMaker([x, y], x + y).create([1.0]), ValueError,
        "The function has 2 inputs, but 1 values were given."),
    "output of a maker": (lambda: FunctionMaker([x], [x, 3]), TypeError, "Unknown output type: <class 'int'> (3)"),
    "graph that is left as it is": (lambda: FunctionMaker([x], x, no_fgraph_prep=True), ValueError,
        "no_fgraph_prep=True needs an fgraph."),
    "descriptions of a graph": (
        lambda: std_fgraph([SymbolicInput(x)], [SymbolicOutput(x)], fgraph=FunctionGraph([x], [x, x + 1])), ValueError,
        "The graph has 2 outputs: 1 are described and 0 are updates."),
    "overwritten input": (overwritten, InconsistencyError, "Trying to destroy protected variables: x."),
    "profile": (compiled([x], x, profile=3), TypeError,
        "`profile` must be True, False, a text or a ProfileStats, got 3."),
    "printer": (lambda: register_profiler_printer(3), TypeError, "register_profiler_printer takes a function, got 3."),
    "value of a profile": (lambda: ProfileStats(atexit_print=False, _natives=1), TypeError,
        "ProfileStats has no attribute '_natives' to give a value."),
    # calls
    "too many": (called([1.0], 2, 3), TypeError,
        'Too many parameters passed to aesara function "f": it takes 2, got 3. The function has 2 inputs: x, n.'),
    "missing": (called(), TypeError,
        'Missing required input: x of aesara function "f". The function has 2 inputs: x, n.'),
    "missing without a name": (called(inputs=[z := at.dvector()], outputs=z * 2, name="g"), TypeError,
        f'Missing required input: number 0 ({z}) of aesara function "g". The function has 1 input: (unnamed).'),
    "of the function": (called([1.0], s=3, outputs=x * n * s), TypeError,
        'Tried to provide value for implicit input: s of aesara function "f". Set its container or shared variable '
        "instead."),
    "unknown": (called([1.0], q=3), TypeError, "Unknown input or state: q. The function has 2 inputs: x, n."),
    "twice": (called([1.0], x=[2.0]), TypeError, "Multiple values for input: x"),
    "ambiguous": (called([1.0], x=[2.0], inputs=[x, z := at.dvector("x")], outputs=x * z), TypeError,
        "Ambiguous name: x: more than one input of the function has it."),
    "ambiguous value": (lambda: compiled([x, z], x * z)().value["x"], TypeError,
        "Ambiguous name: x: more than one input of the function has it. Use the variable or the position."),
    "results": (called([1.0], output_subset=[2]), ValueError,
        "output_subset has the unknown output 2; the outputs are [0]"),
    "results by name": (called([1.0], output_subset=["z"], outputs={"a": x * n, "b": x}), ValueError,
        "output_subset has the unknown output 'z'; the outputs are ['a', 'b']"),
    "results below zero": (called([1.0], output_subset=[-1]), ValueError,
        "output_subset has the unknown output -1; the outputs are [0]"),
    "argument": (called([[1.0]]), TypeError,
        f'Bad input argument to aesara function with name "f" at index 0 (0-based), input `x` of type {TENSOR}: '),
    "argument by name": (called([1.0], n="a"), ValueError,
        'Bad input argument to aesara function with name "f" at index 1 (0-based), input `n` of type '
        "TensorType(int64, ()): "),
    # copies and evaluation
    "unknown to swap": (lambda: compiled([], s + 1)().copy(swap={t: t}), ValueError,
        "SharedVariable: t not found in the function. [s]"),
    "other type to swap": (lambda: compiled([], s + 1)().copy(swap={s: t}), TypeError,
        f"Cannot swap s of type {NUMBER} with t of type TensorType(float64, (?, ?))."),
    "what to evaluate with": (lambda: x.eval([1.0]), TypeError,
        "eval() takes a dict from variables to values, got list."),
    "keys to evaluate with": (lambda: x.eval({3: [1.0]}), TypeError,
        "eval() takes a dict from variables to values, got the key 3 (<class 'int'>)."),
    "attribute of a maker": (lambda: compiled([x], x)().maker.graphs, AttributeError,
        "'FunctionMaker' object has no attribute 'graphs'"),
    # operations made of functions
    "number of inputs": (lambda: shifted(x), ValueError, "FromFunctionOp{shifted} takes 2 inputs, got 1."),
    "type of an input": (lambda: shifted(x, y), TypeError,
        "Input 1 of FromFunctionOp{shifted} must have the type TensorType(int64, ()): "),
    "number of results": (lambda: compiled([x], shifted(x, -1), mode=Mode("py", None))()([1.0]), ValueError,
        "The function shifted returned 2 results; its operation has 1"),
    "nothing to stand for": (lambda: UpdatePlaceholder()(), TypeError,
        "UpdatePlaceholder takes the variable that it stands for, and got nothing."),
    # modes
    "linker of DebugMode": (lambda: DebugMode(linker="py"), TypeError, "DebugMode has its own linker, got 'py'."),
    "linker of NanGuardMode": (lambda: NanGuardMode(linker=3), TypeError,
        "`linker` must be a linker or the name of one, got 3."),
    "linker of MonitorMode": (lambda: MonitorMode(linker=3), TypeError,
        "MonitorMode needs a linker that runs single nodes, such as PerformLinker(), got 3."),
    "function of MonitorMode": (lambda: MonitorMode(pre_func=3), TypeError,
        "`pre_func` must be a function of (fgraph, i, node, thunk), got 3."),
    "class as linker": (lambda: Mode(PerformLinker), TypeError,
        "`linker` must be a linker, not the class PerformLinker; call it: PerformLinker()"),
    "name of a linker": (lambda: register_linker("py", PerformLinker()), ValueError, "Linker name already taken: py"),
    "name of rewrites": (lambda: register_optimizer("o4", None), ValueError, "Optimizer name already taken: o4"),
    "name of a mode": (lambda: register_mode("FAST_RUN", Mode()), ValueError, "Mode name already taken: FAST_RUN"),
    "linker that is not there": (lambda: aesara.compile.mode.NUMBA.linker.make_thunk(), NotImplementedError,
        "The linker 'numba' is not available: "),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_named(name):
    program, error, text = WRONG[name]
    with pytest.raises(error) as caught:
        program()
    assert text in str(caught.value)
