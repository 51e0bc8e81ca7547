"""Every option of the configuration by what it changes: a small program gives other results for other values of it.

An option stands in the table of effects, with what is seen for some of its values, or is declared as one without
effect, with the reason; a few cannot be changed in a process.
"""

import io
import pickle
import sys
import threading
import warnings
from dataclasses import dataclass
from traceback import walk_tb
from types import SimpleNamespace

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara import progress
from aesara.compile import profiling
from aesara.compile.debugmode import DebugMode
from aesara.compile.function.maker import FunctionMaker
from aesara.compile.mode import Mode, get_default_mode
from aesara.compile.nanguardmode import NanGuardMode
from aesara.compile.profiling import ProfileStats
from aesara.configdefaults import config
from aesara.graph.basic import Apply
from aesara.graph.op import Op
from aesara.graph.rewriting.basic import MetaNodeRewriter, in2out, node_rewriter
from aesara.graph.utils import add_tag_trace
from aesara.link.llvm import large_results, workers
from aesara.link.llvm import linker as native_linker
from aesara.link.vm import VMLinker
from aesara.notebooks import shorten_tracebacks
from aesara.scan.op import Scan
from aesara.tensor.nnet.abstract_conv import conv2d

VALUES = np.array([1.0, 2.0, 3.0])


@dataclass
class Option:
    """Observed result for each value of an option, and the program that observes it, called with an `Around`."""

    name: str
    seen: dict
    program: object


EFFECTS: dict[str, Option] = {}

#: Options that can be set only before the package is imported.
FIXED = {"device": "there is one device, the CPU, whatever it is called"}


def shows(name, seen):
    """Declare what a program shows for values of an option."""

    def declare(program):
        assert name not in EFFECTS and len(set(map(repr, seen.values()))) > 1
        EFFECTS[name] = Option(name, seen, program)
        return program

    return declare


class Around:
    """Surroundings of a program: a folder of its own, captured output and log, and changes that are undone."""

    def __init__(self, folder, captured, log, monkeypatch):
        self.folder = folder
        self.captured = captured
        self.log = log
        self.monkeypatch = monkeypatch

    def printed(self):
        """Return the text printed on both streams since the last call."""
        return "".join(self.captured.readouterr())


def reaction(call, *arguments):
    """``"nothing"``, ``"a warning"``, or the name of the error."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            call(*arguments)
        except Exception as error:
            return type(error).__name__
    return "a warning" if said else "nothing"


def operations(function):
    return [node.op for node in function.maker.fgraph.apply_nodes]


def vector():
    return at.dvector("x")


def is_native():
    """Return whether a function is native code by default."""
    x = vector()
    return getattr(aesara.function([x], at.exp(x)), "_native", None) is not None


class OneToOne(Op):
    """An operation in Python only, from a vector to one of the same length."""

    __props__ = ()

    def make_node(self, x):
        x = at.as_tensor_variable(x)
        return Apply(self, [x], [x.type()])

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = inputs[0] + 1


def profiled(x=None, mode="FAST_COMPILE", calls=1):
    """The profile of a function of four operations that has been called."""
    x = vector()
    profile = ProfileStats(atexit_print=False)
    f = aesara.function([x], at.exp(at.sin(x)) * at.cos(x), profile=profile, mode=mode)
    for _ in range(calls):
        f(VALUES)
    return profile


def text_of(write, *arguments):
    file = io.StringIO()
    write(file, *arguments)
    return file.getvalue()


# -- dtypes, memory, pickles ---------------------------------------------------------------------------------------


@shows("floatX", {"float64": "float64", "float32": "float32", "float16": "float16"})
def _(around):
    return at.vector().dtype


@shows("warn_float64", {"ignore": "nothing", "warn": "a warning", "raise": "TypeError"})
def _(around):
    return reaction(at.dvector)


@shows("pickle_test_value", {True: True, False: False})
def _(around):
    x = vector()
    x.tag.test_value = VALUES
    return hasattr(pickle.loads(pickle.dumps(x)).tag, "test_value")


@shows("cast_policy", {"custom": "int8", "numpy+floatX": "int64"})
def _(around):
    return (at.bvector() + 1).dtype


@shows("unpickle_function", {True: True, False: False})
def _(around):
    x = vector()
    return pickle.loads(pickle.dumps(aesara.function([x], x + 1))) is not None


@shows("reoptimize_unpickled_function", {True: 1, False: 0})
def _(around):
    x = vector()
    data = pickle.dumps(aesara.function([x], x + 1, mode="FAST_COMPILE"))
    rewritten = []
    rewrite = FunctionMaker._set_graph

    def noted(self, *args, **kwargs):
        rewritten.append(args)
        rewrite(self, *args, **kwargs)

    around.monkeypatch.setattr(FunctionMaker, "_set_graph", noted)
    np.testing.assert_array_equal(pickle.loads(data)(VALUES), VALUES + 1)
    return len(rewritten)


@shows("allow_gc", {True: [False], False: [True]})
def _(around):
    """Observe if the value of the sine is kept after the call."""
    x = vector()
    f = aesara.function([x], at.exp(at.sin(x)), mode=Mode(VMLinker(), None))
    f(VALUES)
    return [cell[0] is not None for v, cell in f.vm.storage_map.items() if v.owner and v.owner.op == at.sin]


# -- modes and linkers ---------------------------------------------------------------------------------------------


@shows("mode", {"Mode": ("Mode", True), "FAST_COMPILE": ("Mode", False), "NanGuardMode": ("NanGuardMode", False)})
def _(around):
    return type(get_default_mode()).__name__, is_native()


@shows("linker", {"llvm": True, "py": False, "cvm": True})
def _(around):
    return is_native()


@shows("on_unused_input", {"raise": "UnusedInputError", "warn": "a warning", "ignore": "nothing"})
def _(around):
    return reaction(aesara.function, [vector(), vector()], at.zeros(2))


@shows("native_target", {"native": "native", "x86-64-v2": "x86-64-v2"})
def _(around):
    return aesara.link.llvm.target.current_target().name


@shows("native_kept_bytes", {2**28: large_results.USED, 0: False})
def _(around):
    """Observe if the memory of a large dead result is kept."""
    large_results.release()
    n = at.lscalar()
    aesara.function([n], at.ones(n) * 3)(2**20)
    kept = large_results.kept_bytes() > 0
    large_results.release()
    return kept


@shows("threads", {1: 1, 3: 3})
def _(around):
    """Return the number of threads that loops may use after a function has been made."""
    workers.start()
    aesara.function([], at.zeros(3))
    return workers.threads_in_use()


@shows("function_cache", {True: True, False: False})
def _(around):
    """Return whether an equal graph is not rewritten again."""
    x = vector()
    aesara.function([x], x * 1.375)
    return aesara.function([x], x * 1.375).maker.rewrite_seconds == 0


@shows("native_cache", {True: True, False: False})
def _(around):
    """Observe if the cache folder holds a compiled object."""
    x = vector()
    with config.change_flags(native_cache_dir=str(around.folder / "objects")):
        aesara.function([x], at.exp(x) * 17.25)
    return any(path.is_file() for path in around.folder.rglob("*"))


@shows("native_cache_dir", {"one": ["one"], "two": ["two"]})
def _(around):
    """The folder below this one in which there are objects."""
    x = vector()
    around.monkeypatch.chdir(around.folder)
    aesara.function([x], at.exp(x) * 17.25)
    return [path.name for path in around.folder.iterdir()]


@shows("native_verify", {True: 1, False: 0})
def _(around):
    x = vector()
    verified = []
    around.monkeypatch.setattr(native_linker, "verify_program", verified.append)
    aesara.function([x], at.exp(x))
    return len(verified)


@shows("native_fallback", {"ignore": "nothing", "warn": "a warning", "raise": "NativeFallbackError"})
def _(around):
    x = vector()
    return reaction(aesara.function, [x], OneToOne()(x))


@shows("vm__lazy", {"True": "Stack", "None": "Loop", "False": "Loop"})
def _(around):
    x = vector()
    return type(aesara.function([x], x + 1, mode="FAST_COMPILE").vm).__name__


# -- errors --------------------------------------------------------------------------------------------------------


@shows("traceback__limit", {1: 1, 2: 2})
def _(around):
    (trace,) = add_tag_trace(vector()).tag.trace
    return len(trace)


@shows("hide_internal_frames", {True: 1, False: 3})
def _(around):
    """Count the frames of a traceback in IPython's shell."""
    shown = []
    shell = SimpleNamespace(
        custom_exceptions=(),
        set_custom_exc=lambda kinds, handler: setattr(shell, "handler", handler),
        InteractiveTB=SimpleNamespace(skip_hidden=True),
        showtraceback=lambda error, **options: shown.append(len(list(walk_tb(error[2])))),
    )
    around.monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    shorten_tracebacks()
    try:
        aesara.grad(vector(), [])
    except TypeError:
        shell.handler(shell, *sys.exc_info())
    return shown[0]


@shows("compile_progress", {"auto": True, "off": False})
def _(around):
    """Observe if a notebook shows a line during a slow compilation."""
    shown = threading.Event()
    publish = SimpleNamespace(publish=lambda *data, **options: shown.set())
    shell = SimpleNamespace(kernel="a kernel", display_pub=publish)
    around.monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    around.monkeypatch.setattr(progress, "_DELAY", 0.001)
    with progress.compiling("f"):
        return shown.wait(10 if config.compile_progress == "auto" else 0.1)


@shows("exception_verbosity", {"low": False, "high": True})
def _(around):
    """Observe if the error of a call shows the graph around the node."""
    x, y = vector(), vector()
    f = aesara.function([x, y], at.exp(x) + y, mode="FAST_COMPILE")
    with pytest.raises(ValueError) as caught:
        f(VALUES, VALUES[:2])
    said = "\n".join([str(caught.value), *getattr(caught.value, "__notes__", ())])
    return "[id A]" in said


@shows("on_shape_error", {"warn": "a warning", "raise": "ZeroDivisionError"})
def _(around):
    class Fails(OneToOne):
        def infer_shape(self, fgraph, node, shapes):
            raise ZeroDivisionError

    x = vector()
    with config.change_flags(on_opt_error="raise"):
        return reaction(aesara.function, [x], Fails()(x).shape)


@shows("on_opt_error", {"warn": ("nothing", True), "raise": ("ZeroDivisionError", False), "ignore": ("nothing", False)})
def _(around):
    @node_rewriter([at.exp])
    def fails(fgraph, node):
        raise ZeroDivisionError

    x = vector()
    around.printed()
    reacted = reaction(lambda: aesara.function([x], at.exp(x), mode=Mode("py", in2out(fails))))
    return reacted, "Rewrite failure" in around.printed()


@shows("check_stack_trace", {"off": "nothing", "log": "a warning", "warn": "a warning", "raise": "AssertionError"})
def _(around):
    @node_rewriter([at.exp])
    def without_line(fgraph, node):
        hidden = at.log(node.inputs[0])
        hidden.owner.source = None
        return [hidden]

    x = vector()
    mode = Mode("py", "fast_compile").register((in2out(without_line), 5))
    with config.change_flags(on_opt_error="raise"):
        return reaction(lambda: aesara.function([x], at.exp(x), mode=mode))


# -- test values ---------------------------------------------------------------------------------------------------

MISSING = {"off": "nothing", "ignore": "nothing", "warn": "a warning", "raise": "TestValueError"}


@shows("compute_test_value", {choice: (MISSING[choice], choice != "off") for choice in MISSING})
def _(around):
    """Observe the reaction to a missing test value, and if results get one."""
    x = vector()
    x.tag.test_value = VALUES
    return reaction(at.exp, vector()), hasattr(at.exp(x).tag, "test_value")


@shows("compute_test_value_opt", MISSING)
def _(around):
    x = vector()
    with config.change_flags(on_opt_error="raise"):
        return reaction(lambda: aesara.function([x], at.log(at.exp(x) + 1), mode="FAST_RUN"))


@shows("print_test_value", {True: True, False: False})
def _(around):
    return repr(VALUES) in repr(aesara.shared(VALUES, name="s"))


# -- modes that look for faults ------------------------------------------------------------------------------------


def guarded(value):
    """Return the reaction of `NanGuardMode` to ``0 + value``."""
    x = vector()
    f = aesara.function([x], x + value, mode=NanGuardMode())
    return reaction(f, np.zeros(1))


@shows("NanGuardMode__nan_is_error", {True: "AssertionError", False: "nothing"})
def _(around):
    return guarded(np.nan)


@shows("NanGuardMode__inf_is_error", {True: "AssertionError", False: "nothing"})
def _(around):
    with config.change_flags(NanGuardMode__big_is_error=False):
        return guarded(np.inf)


@shows("NanGuardMode__big_is_error", {True: "AssertionError", False: "nothing"})
def _(around):
    return guarded(1e11)


@shows("NanGuardMode__action", {"raise": ("AssertionError", False), "warn": ("nothing", True)})
def _(around):
    return guarded(np.nan), "NaN detected" in around.log.text


@shows("DebugMode__patience", {1: 1, 3: 3})
def _(around):
    """Count the times that the graph is rewritten."""
    seen = []

    @node_rewriter([at.exp])
    def look(fgraph, node):
        seen.append(fgraph)

    x = vector()
    aesara.function([x], at.exp(x), mode=DebugMode(in2out(look)))
    return len(seen)


class AddsOnce(OneToOne):
    """Overwrites its argument without saying so."""

    def perform(self, node, inputs, output_storage):
        inputs[0] += 1
        output_storage[0][0] = inputs[0] * 2


@shows("DebugMode__check_py", {True: "BadDestroyMap", False: "nothing"})
def _(around):
    x = vector()
    return reaction(lambda: aesara.function([x], AddsOnce()(x), mode=DebugMode(stability_patience=1))(VALUES.copy()))


@shows("DebugMode__check_c", {True: 1, False: 0})
def _(around):
    """Observe if the native linker takes part."""
    x = vector()
    verified = []
    around.monkeypatch.setattr(native_linker, "verify_program", verified.append)
    with config.change_flags(native_verify=True):
        aesara.function([x], at.exp(x), mode=DebugMode(stability_patience=1))(VALUES)
    return min(1, len(verified))


@shows("DebugMode__check_finite", {True: "InvalidValueError", False: "nothing"})
def _(around):
    x = vector()
    f = aesara.function([x], at.exp(x), mode=DebugMode(stability_patience=1))
    return reaction(f, np.array([np.inf]))


@shows("DebugMode__check_strides", {0: ("nothing", False), 1: ("nothing", True), 2: ("BadThunkOutput", False)})
def _(around):
    x = at.dmatrix("x")
    f = aesara.function([x], at.exp(x).T, mode=DebugMode(stability_patience=1))
    return reaction(f, np.ones((2, 3))), "strides" in around.log.text


class WrongInMemoryWithStrides(OneToOne):
    """Wrong where it is to write into memory that is not contiguous."""

    def perform(self, node, inputs, output_storage):
        out = output_storage[0][0]
        wrong = out is not None and out.shape == inputs[0].shape and not out.flags.c_contiguous
        output_storage[0][0] = inputs[0] + (2 if wrong else 1)


def in_offered_memory(ndim):
    x = at.tensor(dtype="float64", shape=(None,) * ndim)
    f = aesara.function([x], WrongInMemoryWithStrides()(x), mode=DebugMode(stability_patience=1))
    return reaction(f, np.ones((2,) * ndim))


@shows("DebugMode__check_preallocated_output", {"": "nothing", "initial": "nothing", "strided": "BadThunkOutput"})
def _(around):
    return in_offered_memory(2)


@shows("DebugMode__check_preallocated_output_ndim", {1: "nothing", 2: "BadThunkOutput", 3: "BadThunkOutput"})
def _(around):
    with config.change_flags(DebugMode__check_preallocated_output="strided"):
        return in_offered_memory(2)


@shows("conv__assert_shape", {True: "AssertionError", False: "nothing"})
def _(around):
    x, w = at.dtensor4(), at.dtensor4()
    y = conv2d(x, w, input_shape=(1, 1, 6, 5), filter_shape=(1, 1, 2, 2))
    return reaction(aesara.function([x, w], y, mode="FAST_COMPILE"), np.ones((1, 1, 5, 5)), np.ones((1, 1, 2, 2)))


@shows("assume__check", {True: "ValueError", False: "nothing"})
def _(around):
    x = at.dmatrix()
    return reaction(aesara.function([x], at.assume(x, diagonal=True)), np.ones((2, 2)))


@shows("tensor__cmp_sloppy", {0: [False] * 3, 1: [True, False, False], 2: [True, True, False]})
def _(around):
    return [at.dscalar().type.values_eq_approx(np.array(1.0), np.array(1.0 + d)) for d in (1e-4, 1e-2, 1.0)]


# -- rewrites ------------------------------------------------------------------------------------------------------


def left_of(output, inputs, mode=None):
    """The names of the operations of a function."""
    return sorted(str(op) for op in operations(aesara.function(inputs, output, mode=mode)))


@shows("optimizer", {"fast_run": [0, 1], "merge": [1, 1], "None": [1, 2]})
def _(around):
    """Count the exponentials and sines that are left."""
    x = vector()
    with config.change_flags(linker="py"):
        kept = left_of([at.log(at.exp(x)), at.sin(x), at.sin(x)], [x])
    return [sum(f"{{{name}" in op for op in kept) for name in ("exp", "sin")]


@shows("optimizer_excluding", {"": False, "local_exp_log": True, "canonicalize:specialize:stabilize": True})
def _(around):
    x = vector()
    return any("exp" in name for name in left_of(at.log(at.exp(x)), [x]))


@shows("optimizer_including", {"": True, "fusion": False})
def _(around):
    x = vector()
    with config.change_flags(linker="py", optimizer="fast_run"):
        return len(left_of(at.exp(at.sin(x)), [x])) == 2


@shows("optimizer_requiring", {"": 0, "nothing has this tag": 2})
def _(around):
    x = vector()
    return sum("exp" in name or "log" in name for name in left_of(at.log(at.exp(x)), [x]))


@shows("optimizer_verbose", {True: True, False: False})
def _(around):
    x = vector()
    around.printed()
    aesara.function([x], at.log(at.exp(x)))
    return "rewriting: rewrite" in around.printed()


@shows("optdb__position_cutoff", {float("inf"): False, 0.0: True})
def _(around):
    x = vector()
    return any("exp" in name for name in left_of(at.log(at.exp(x)), [x]))


WITH_BLOCKS = {"grad_of_scan_fn", "blocks_of_scan_fn", "grad_of_blocks_of_scan_fn"}


@shows("scan__checkpoint_memory", {0: {"grad_of_scan_fn"}, 1: WITH_BLOCKS})
def _(around):
    """Which loops there are in a gradient besides those of the steps themselves."""
    x = at.dscalar("x")
    states, _ = aesara.scan(at.sin, None, x, n_steps=100)
    nodes = aesara.function([x], aesara.grad(states[-1], x)).maker.fgraph.apply_nodes
    return {node.op.name for node in nodes if isinstance(node.op, Scan)} - {None}


@shows("optdb__max_use_ratio", {8.0: False, 0.1: True})
def _(around):
    """Observe if rewriting is stopped early."""
    x = vector()
    around.printed()
    aesara.function([x], sum(at.log(at.exp(x * k)) for k in range(1, 9)), mode="FAST_RUN")
    return "was stopped after" in around.printed()


@shows("cycle_detection", {"regular": True, "fast": False})
def _(around):
    """Observe if an op overwrites a value that another op reads."""
    x = vector()
    t = at.exp(x)
    f = aesara.function([x], at.sin(t) + at.cos(t), mode=Mode("py", "fast_run"))
    return any(op.destroy_map and op.scalar_op.name in ("sin", "cos") for op in operations(f))


@shows("tensor__local_elemwise_fusion", {True: 1, False: 2})
def _(around):
    x = vector()
    return len(operations(aesara.function([x], at.exp(at.sin(x)), mode=Mode("py", "fast_run").including("fusion"))))


@shows("experimental__local_alloc_elemwise", {True: False, False: True})
def _(around):
    x = vector()
    return any("Alloc" in name for name in left_of(x + at.alloc(x[0], x.shape[0]), [x], "FAST_RUN"))


class FirstOfTwo(MetaNodeRewriter):
    """Chooses between two ways to write a sum; the second one takes less time."""

    def __init__(self):
        super().__init__()
        self.register(local_first, ["first"])
        self.register(local_second, ["second"])

    def compile_candidate(self, outputs):
        return lambda: outputs[0]

    def time_call(self, call):
        return 0.25 if call().owner.op == at.mul else 0.5


@node_rewriter([at.neg])
def local_first(fgraph, node):
    return [at.sub(0, node.inputs[0])]


@node_rewriter([at.neg])
def local_second(fgraph, node):
    return [at.mul(-1, node.inputs[0])]


@shows("metaopt__verbose", {0: (False, False), 1: (True, False), 2: (True, True)})
def _(around):
    """Observe if the choice is printed, and the times of the alternatives."""
    x = vector()
    around.printed()
    f = aesara.function([x], -x, mode=Mode("py", in2out(FirstOfTwo(), ignore_newtrees=True)))
    assert at.mul in operations(f)
    said = around.printed()
    return "local_second" in said, "local_first" in said and "0.5" in said


# -- profiles ------------------------------------------------------------------------------------------------------


@shows("profile", {True: True, False: False})
def _(around):
    x = vector()
    around.monkeypatch.setattr(profiling, "PRINTED_AT_EXIT", [])
    around.monkeypatch.setattr(aesara.compile.profile_stats, "PRINTED_AT_EXIT", [])
    return aesara.function([x], x + 1).profile is not None


@shows("profile_optimizer", {True: True, False: False})
def _(around):
    return "Rewriter Profile" in text_of(profiled(mode="FAST_RUN").summary)


@shows("profile_memory", {True: 4, False: 0})
def _(around):
    """Count the nodes whose shapes the profile has."""
    return len(profiled().variable_shape)


@shows("profiling__time_thunks", {True: True, False: False})
def _(around):
    return bool(profiled().class_time())


@shows("profiling__n_apply", {1: 1, 3: 3, 20: 4})
def _(around):
    return sum("[id" in line or "Elemwise{" in line for line in text_of(profiled().summary_nodes).splitlines())


@shows("profiling__n_ops", {1: 1, 3: 3, 20: 4})
def _(around):
    return sum("Elemwise{" in line for line in text_of(profiled().summary_ops).splitlines())


@shows("profiling__output_line_width", {40: 40, 50: 50})
def _(around):
    """Measure the longest line below the headings."""
    lines = text_of(profiled().summary_nodes).splitlines()
    return max(len(line) for line in lines if "%" in line and "<" not in line)


@shows("profiling__min_memory_size", {1: 4, 1024: 0})
def _(around):
    with config.change_flags(profile_memory=True):
        text = text_of(profiled().summary_memory)
    return sum("Elemwise{" in line for line in text.splitlines())


@shows("profiling__destination", {"one": ["one"], "two": ["two"], "stderr": []})
def _(around):
    around.monkeypatch.setattr(profiling, "PRINTED_AT_EXIT", [profiled()])
    around.monkeypatch.chdir(around.folder)
    around.printed()
    profiling._print_at_exit()
    files = [path.name for path in around.folder.iterdir()]
    assert bool(files) is not ("Function profiling" in around.printed())
    return files


@shows("profiling__debugprint", {True: True, False: False})
def _(around):
    return "[id A]" in text_of(profiled().print_extra)


@shows("profiling__ignore_first_call", {True: 2, False: 3})
def _(around):
    return profiled(calls=3).fct_callcount


@shows("print_global_stats", {True: True, False: False})
def _(around):
    around.printed()
    profiling._print_stats_at_exit()
    return "Global stats" in around.printed()


# -- all of them ---------------------------------------------------------------------------------------------------

WITHOUT_EFFECT = sorted(name for name, param in config._config_var_dict.items() if "without effect" in param.doc)


@pytest.mark.parametrize("name", sorted(EFFECTS))
def test_effect(name, tmp_path, capsys, caplog, monkeypatch):
    option = EFFECTS[name]
    found = {}
    for number, value in enumerate(option.seen):
        folder = tmp_path / str(number)
        folder.mkdir()
        caplog.clear()
        with monkeypatch.context() as changes, config.change_flags({name: value}):
            found[value] = option.program(Around(folder, capsys, caplog, changes))
    assert found == option.seen


def test_every_option_has_an_effect_or_a_reason_for_none():
    assert sorted([*EFFECTS, *WITHOUT_EFFECT, *FIXED]) == sorted(config._config_var_dict)


def other_value(name):
    """A value of an option that is not the one it has."""
    now, param = getattr(config, name), config._config_var_dict[name]
    if hasattr(param, "all"):
        return next(choice for choice in param.all if choice != now)
    if isinstance(now, bool):
        return not now
    return now + 1 if isinstance(now, int | float) else f"{now}x" if name != "contexts" else "a->cpu"


def result_and_program(x):
    f = aesara.function([x], [at.log(at.exp(x) + 1).sum(), x.reshape((-1, 1)) + x])
    return [value.tobytes() for value in f(VALUES)], f._native.report.text


def test_options_without_effect_have_none():
    """Each is accepted, and a function has the same program and the same bits, if all are other than they were."""
    x = vector()
    before = result_and_program(x)
    mutable = [name for name in WITHOUT_EFFECT if config._config_var_dict[name].mutable]
    changed = {name: other_value(name) for name in mutable}
    assert len(changed) > 40
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with config.change_flags(changed):
            assert {name: getattr(config, name) for name in changed} == changed
            assert result_and_program(x) == before
    for name in WITHOUT_EFFECT:
        assert "because" in config._config_var_dict[name].doc, name


@pytest.mark.parametrize("name", sorted(FIXED))
def test_options_that_cannot_change(name):
    assert not config._config_var_dict[name].mutable
    with pytest.raises(Exception, match="Can't change the value"):
        setattr(config, name, "cpu1")
