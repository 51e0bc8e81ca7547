"""Pickled functions: with their code, without it, across processes, with other picklers, together with what they
share."""

import copy
import dataclasses
import io
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import cloudpickle
import joblib
import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.compile.ops import as_op
from aesara.compile.profiling import ProfileStats
from aesara.configdefaults import config
from aesara.link.llvm import jit, linker
from aesara.link.llvm.form import Form

sys.path.insert(0, str(Path(__file__).parent.parent))
from counting import calls_in

from tests.closeness import assert_close


def again(obj, **options):
    return pickle.loads(pickle.dumps(obj, **options))


def is_closed(function):
    """Whether the graph of a function is still as it came out of the pickle."""
    return "fgraph" not in vars(function.maker)


@pytest.fixture
def no_compiler(monkeypatch):
    """Nothing is rewritten, lowered or compiled."""

    def refuse(*args, **kwargs):
        raise AssertionError("this should not have been needed")

    monkeypatch.setattr(linker, "lower_graph", refuse)
    monkeypatch.setattr(linker, "build", refuse)
    monkeypatch.setattr(aesara.compile.FunctionMaker, "prepare_fgraph", refuse)
    with config.change_flags(native_cache=False):
        yield


def likelihood():
    """A function with shared data, constants of some size, checks, gathers, BLAS and several outputs."""
    rng = np.random.default_rng(1)
    a, w = at.dvector("a"), at.dmatrix("w")
    county = aesara.shared(rng.integers(0, 8, 50), name="county")
    y = at.constant(rng.normal(size=50))
    value = -((y - at.exp(a)[county]) ** 2).sum() + (w @ w).sum()
    return aesara.function([a, w], [value, *aesara.grad(value, [a, w])], name="likelihood")


VALUES = np.linspace(-1, 1, 8), np.eye(3) + 0.5


@pytest.fixture(scope="module")
def model():
    return likelihood()


def same(function, other):
    for one, two in zip(function(*VALUES), other(*VALUES), strict=True):
        np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_code_comes_along(model, protocol, no_compiler):
    f = again(model, protocol=protocol)
    same(f, model)
    assert is_closed(f) and f._native.report.cached
    same(again(f), model)  # the nested pickle goes on as it is
    assert is_closed(f)


def test_other_picklers(model, no_compiler, tmp_path):
    same(pickle.loads(cloudpickle.dumps(model)), model)
    joblib.dump(model, tmp_path / "f.joblib")
    same(joblib.load(tmp_path / "f.joblib"), model)
    same(copy.deepcopy(model), model)
    file = io.BytesIO()
    pickle._Pickler(file).dump(model)
    same(pickle._Unpickler(io.BytesIO(file.getvalue())).load(), model)


def test_loading_does_little(model, no_compiler):
    data = pickle.dumps(model)
    pickle.loads(data)(*VALUES)  # the first brings the routines that functions share
    assert calls_in(lambda: pickle.loads(data)(*VALUES)) < 2_000


def test_graph_is_there_when_it_is_wanted(model):
    f = again(model)
    assert aesara.dprint(f, file="str") == aesara.dprint(model, file="str")
    assert not is_closed(f)
    assert len(f.maker.outputs) == len(f.outputs) == 3
    assert f._native.report.text == model._native.report.text
    one, two = ([t for t in str(aesara.explain(g)).splitlines() if "compiled in" not in t] for g in (f, model))
    assert one == two
    same(again(f), model)
    g = f.copy()
    same(g, model)


def test_threads_that_want_the_graph(model):
    f = again(model)
    with ThreadPoolExecutor(8) as pool:
        graphs = list(pool.map(lambda _: f.maker.fgraph, range(32)))
    assert {id(graph) for graph in graphs} == {id(f.maker.fgraph)}
    with pytest.raises(AttributeError, match="has no attribute 'graph'"):
        f.maker.graph


def test_failed_checks_say_the_same(model):
    f = again(model)
    messages = []
    for function in (model, f):
        with pytest.raises(IndexError) as caught:
            function(np.ones(2), VALUES[1])
        messages.append(str(caught.value))
    assert messages[0] == messages[1] and "out of bounds" in messages[0]
    for function in (model, f):
        with pytest.raises(ValueError, match="likelihood"):
            function("a", VALUES[1])
    same(f, model)


def test_code_that_does_not_suit_is_made_again(model, monkeypatch):
    form = model.maker._form
    broken = dataclasses.replace(form, image=dataclasses.replace(form.image, host="another machine"))
    monkeypatch.setattr(model.maker, "_form", broken)
    f = again(model)
    monkeypatch.undo()
    assert f.maker._form.image.host == jit.host_key()
    same(f, model)


def checked():
    """A function whose pickle holds no values but its own constants."""
    x, n = at.dvector("x"), at.lscalar("n")
    table = np.arange(100.0).reshape(20, 5)
    y = at.constant(table)[n] * x + at.constant(np.array([0.5, 1.5, 2.5, 3.5, 4.5]))
    return aesara.function([x, n], [y, (at.exp(y) + x).sum(), 2 * x], on_unused_input="ignore", name="checked")


def shown(function):
    return aesara.dprint(function, file="str"), [
        np.asarray(value).tobytes() for value in (*function([1, 2, 3, 4, 5.0], 3), *function([0.5] * 5, 19))
    ]


def test_damaged_pickles_are_refused(rng):
    f = checked()
    data, expected = pickle.dumps(f), shown(f)
    assert shown(pickle.loads(data)) == expected
    refused = noticed = same_as_before = no_function = 0
    for place in rng.permutation(len(data))[:600]:
        damaged = bytearray(data)
        damaged[place] ^= 1 << int(rng.integers(8))
        try:
            loaded = pickle.loads(damaged)
        except Exception as error:
            refused += 1
            noticed += "damaged" in str(error)
            continue
        if type(loaded) is not type(f):  # an instruction of pickle's own: what comes out cannot be called
            no_function += 1
            continue
        assert shown(loaded) == expected, (place, data[place - 20 : place + 20])
        same_as_before += 1
    assert noticed > 400 and refused + same_as_before + no_function == 600 and same_as_before < 60 and no_function < 12


@pytest.mark.parametrize("rest", [0, 1, 100, 0.25, 0.5, 0.75, 0.999])
def test_truncated_pickles_are_refused(rest):
    data = pickle.dumps(checked())
    with pytest.raises((pickle.UnpicklingError, EOFError)):
        pickle.loads(data[: round(rest * len(data)) if rest < 1 else rest])


def refused_for(part):
    return pytest.raises(pickle.UnpicklingError, match=f"damaged: its {part} is not what was pickled. Compile")


@pytest.mark.parametrize(
    "name, change",
    [
        ("image", lambda image: dataclasses.replace(image, code=image.code[:-1])),
        ("image", lambda image: dataclasses.replace(image, entry="another")),
        ("image", lambda image: dataclasses.replace(image, externals=("sin",))),
        ("image", lambda image: dataclasses.replace(image, host=image.host + " ")),
        ("interface", lambda interface: dataclasses.replace(interface, guards=7)),
        ("interface", lambda interface: dataclasses.replace(interface, dtypes=("float32", "int64"))),
        ("constants", lambda arrays: (arrays[0] + 1, *arrays[1:])),
        ("constants", lambda arrays: (arrays[0].view("int64"), *arrays[1:])),
        ("constants", lambda arrays: (arrays[0].reshape(-1), *arrays[1:])),
        ("n_callbacks", lambda count: count + 1),
        ("checksum", lambda checksum: None),
    ],
)
def test_each_part_of_a_form_is_sealed(name, change):
    state = checked().maker._form.without_symbols().__getstate__()
    Form.__new__(Form).__setstate__(state)
    with refused_for("machine code"):
        Form.__new__(Form).__setstate__({**state, name: change(state[name])})


def test_descriptions_and_graphs_are_sealed():
    x, s = at.dvector("x"), aesara.shared(np.ones(2))
    f = aesara.function([x], x * s, updates=[(s, s + x)])

    def load(change):
        state = f.maker.__getstate__()
        change(state)
        maker = object.__new__(type(f.maker))
        maker.__setstate__(state)
        rebuild, arguments = f.__reduce__()
        return rebuild(maker, *arguments[1:])

    assert load(lambda state: None) is not None
    others = {"update_mapping": {1: 0}, "n_returned": 2, "unpack_single": False, "inputs": [], "_checksum": b""}
    for name, value in others.items():
        with refused_for("description of inputs and results"):
            load(lambda state, name=name, value=value: state.update({name: value}))
    nested = f.maker.__getstate__()["_stored"].content
    data, outside, checksum = nested.__getstate__()
    for state in [(data[:-1], outside, checksum), (data, outside[1:], checksum), (data, outside, b"")]:
        with refused_for("graph"):
            object.__new__(type(nested)).__setstate__(state)


def test_options():
    x = at.dvector("x")
    f = aesara.function([x], at.exp(x) + 1)
    data = pickle.dumps(f)
    with config.change_flags(unpickle_function=False):
        assert pickle.loads(data) is None
    with config.change_flags(reoptimize_unpickled_function=True):
        g = pickle.loads(data)
    assert not is_closed(g)
    np.testing.assert_array_equal(g([0.0]), f([0.0]))


def loaded_as_it_is(function):
    return is_closed(function) and function._native.report.cached


def test_what_is_shared_stays_shared():
    s, t = aesara.shared(np.zeros(2), name="s"), aesara.shared(1.5, name="t")
    x = at.dvector("x")
    step = aesara.function([x], s * t, updates={s: s + x})
    look = aesara.function([], [s + 0, t + 0])
    step2, look2, s2, t2, x2 = again((step, look, s, t, x))
    assert loaded_as_it_is(step2) and loaded_as_it_is(look2)
    assert step2.get_shared() == [s2, t2] or step2.get_shared() == [t2, s2]
    step2([1.0, 2.0])
    t2.set_value(2.5)
    np.testing.assert_array_equal(look2()[0], [1.0, 2.0])
    assert look2()[1] == 2.5
    np.testing.assert_array_equal(step2([0.0, 0.0]), [2.5, 5.0])
    np.testing.assert_array_equal(s2.get_value(), [1.0, 2.0])
    np.testing.assert_array_equal(look()[0], [0.0, 0.0])
    assert x2 in step2.finder
    g = step2.copy(swap={s2: aesara.shared(np.full(2, 10.0))})
    np.testing.assert_array_equal(g([1.0, 1.0]), [25.0, 25.0])


def test_default_values_names_and_dicts():
    x, y = at.dvectors("x", "y")
    f = aesara.function([x, aesara.In(y, value=[3.0], name="why")], {"sum": x + y, "all": x}, name="f")
    f.trust_input = True
    g = again(f)
    assert loaded_as_it_is(g) and g.name == "f" and g.trust_input
    assert g([1.0])["sum"] == [4.0] and g([1.0], why=[5.0])["sum"] == [6.0]
    assert g([1.0], output_subset=["all"]) == {"all": [1.0]}
    nothing = again(aesara.function([x], None, on_unused_input="ignore"))
    assert nothing([1.0]) is None


def test_states_of_arguments():
    x, total = at.dscalars("x", "total")
    f = aesara.function([x, aesara.In(total, value=1.0, update=total + x)], total)
    f(2.0)
    g = again(f)
    assert loaded_as_it_is(g)
    assert g(1.0) == 3.0 and g(1.0) == 4.0 and f(1.0) == 3.0


@as_op([at.dvector], [at.dvector])
def backwards(x):
    return x[::-1] * 1.0


def test_nodes_that_run_in_python():
    x = at.dvector("x")
    f = aesara.function([x], backwards(at.exp(x)) + 1)
    g = again(f)
    assert loaded_as_it_is(g)
    np.testing.assert_array_equal(g([0.0, 1.0]), f([0.0, 1.0]))
    assert not is_closed(g)
    assert [str(n.op) for n in g._native.report.python_nodes] == [str(n.op) for n in f._native.report.python_nodes]
    with config.change_flags(native_fallback="warn"), pytest.warns(aesara.errors.NativeFallbackWarning):
        again(f)


def test_nodes_that_write_into_arguments():
    """The graph of a loaded function knows of them: what they write into is read before."""
    x = at.dvector("x")
    f = aesara.function(
        [aesara.In(x, mutable=True)], [at.inplace.exp_inplace(x), at.sum(x), at.prod(x)], mode="FAST_COMPILE",
        accept_inplace=True,
    )  # fmt: skip
    g = again(f)
    graph = g.maker.fgraph
    (argument,) = graph.inputs
    (writer,) = graph.destroyers(argument)
    assert writer.outputs[0] is graph.outputs[0]
    assert graph.toposort()[-1] is writer
    for function in (f, g, g.copy()):
        value = np.array([1.0, 2.0])
        result, total, product = function(value)
        assert_close([*result, total, product, *value], [*np.exp([1.0, 2.0]), 3, 2, *np.exp([1.0, 2.0])])


def test_loops():
    x = at.dvector("x")
    states, _ = aesara.scan(lambda a, b: a + 0.5 * b, sequences=[x], outputs_info=[np.float64(0)])
    f = aesara.function([x], [states, aesara.grad(states[-1], x)])
    g = again(f)
    assert loaded_as_it_is(g)
    for one, two in zip(f(np.arange(4.0)), g(np.arange(4.0)), strict=True):
        np.testing.assert_array_equal(one, two)
    again(g.maker.fgraph)


@pytest.fixture(scope="module")
def profiled():
    x, w = at.dmatrix("x"), aesara.shared(np.ones((3, 3)), name="w")
    out = {"sum": at.exp(x @ w).sum()}
    return aesara.function([x], out, updates={w: w * 0.5}, profile=ProfileStats(atexit_print=False, message="m"))


def test_profiled_functions(profiled, no_compiler):
    for g in (again(profiled), copy.deepcopy(profiled)):
        assert is_closed(g) and g._native.report.cached
        for _ in range(3):
            assert_close(g(np.zeros((2, 3)))["sum"], 6.0)
        assert is_closed(g)
        assert (g.profile.message, g.profile.fct_callcount, profiled.profile.fct_callcount) == ("m", 3, 0)
        assert [(t.kinds, t.counts()) for t in [g._native.timers]] == [(profiled._native.timers.kinds, [3] * 3)]
        assert not any(profiled._native.timers.counts())


def test_steps_of_profiled_functions(profiled):
    g = again(profiled)
    g(np.zeros((2, 3))), profiled(np.zeros((2, 3)))
    mine, theirs = (
        [(step.kind, [str(node) for node in step.nodes], step.bytes) for step in f.profile.steps()]
        for f in (g, profiled)
    )
    assert mine == theirs
    assert {fgraph for fgraph, _ in g.profile.apply_time} == {g.maker.fgraph}
    profiled.profile.reset()


def test_profiled_functions_without_their_clock(profiled, monkeypatch):
    data = pickle.dumps(profiled)
    monkeypatch.setattr("aesara.link.llvm.emit_timed.system_clock", lambda: None)
    monkeypatch.setattr("aesara.link.llvm.linker.system_clock", lambda: None)
    g = pickle.loads(data)
    assert_close(g(np.zeros((2, 3)))["sum"], 6.0)
    assert g._native.timers is None and g.profile.fct_callcount == 1


def test_profiles_that_functions_share():
    x = at.dvector("x")
    profile = ProfileStats(atexit_print=False)
    f, g = again([aesara.function([x], e, profile=profile) for e in (at.exp(x), at.log(x))])
    assert f.profile is g.profile
    f([1.0]), g([1.0])
    assert f.profile.fct_callcount == 2 and len(f.profile.steps()) == 2
    plain = again(aesara.function([x], at.exp(x), profile=ProfileStats(atexit_print=False, flag_time_thunks=False)))
    assert plain([0.0]) == [1.0] and plain.profile.steps() == [] and plain.profile.fct_callcount == 1


def test_functions_of_the_reference_machine():
    x, s = at.dvector("x"), aesara.shared(2.0)
    f, t = again((aesara.function([x], x * s, mode="FAST_COMPILE"), s))
    t.set_value(3.0)
    np.testing.assert_array_equal(f([2.0]), [6.0])


def test_constants_are_stored_once():
    data = np.random.default_rng(0).normal(size=20_000)
    x = at.dscalar("x")
    f = aesara.function([x], at.exp(x * at.constant(data)).sum())
    pickled = pickle.dumps(f)
    assert data.nbytes < len(pickled) < 1.1 * data.nbytes
    np.testing.assert_allclose(pickle.loads(pickled)(2.0), np.exp(2 * data).sum(), rtol=1e-12)


def test_buffers_out_of_band():
    data = np.random.default_rng(0).normal(size=2000)
    x, s = at.dscalar("x"), aesara.shared(data.copy())
    f = aesara.function([x], at.exp(x * at.constant(data)).sum() + s.sum(), updates={s: s + 1})
    buffers = []
    pickled = pickle.dumps(f, protocol=5, buffer_callback=lambda b: buffers.append(bytes(1) + b.raw().tobytes()))
    assert len(pickled) < data.nbytes and len(buffers) >= 2
    g = pickle.loads(pickled, buffers=[memoryview(b)[1:] for b in buffers])  # neither aligned nor writable
    assert loaded_as_it_is(g)
    for _ in range(2):
        np.testing.assert_allclose(g(0.5), f(0.5), rtol=1e-12)


@pytest.mark.slow
def test_deep_graphs():
    x = at.dscalar("x")
    y = x
    for k in range(3000):
        y = at.sin(y) if k % 2 else y + 1e-3
    f = aesara.function([x], y, mode=aesara.compile.Mode("py", None))
    assert again(f)(1.0) == f(1.0)
    assert copy.deepcopy(f)(1.0) == f(1.0)


def test_copies_have_graphs_of_the_same_name():
    x = at.dscalar("x")
    f = aesara.function([x], x + 1, name="next")
    for g in (copy.deepcopy(f), pickle.loads(pickle.dumps(f))):
        assert g.maker.fgraph.name == f.maker.fgraph.name == "next"


# Processes

_model = None


def _start(data):
    global _model
    _model = pickle.loads(data)


def _work(k):
    return os.getpid(), _model(VALUES[0] * k, VALUES[1])[0].item()


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_worker_processes(model, method):
    context = multiprocessing.get_context(method)
    with ProcessPoolExecutor(2, mp_context=context, initializer=_start, initargs=(pickle.dumps(model),)) as pool:
        results = list(pool.map(_work, range(6)))
    assert os.getpid() not in {pid for pid, _ in results}
    assert [value for _, value in results] == [model(VALUES[0] * k, VALUES[1])[0].item() for k in range(6)]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork")
@pytest.mark.slow
def test_fork_while_another_thread_compiles(model):
    stop = threading.Event()

    def compile_many():
        x, k = at.dvector("x"), 0
        with config.change_flags(native_cache=False):
            while not stop.is_set():
                k += 1
                aesara.function([x], at.exp(x * k))

    data = pickle.dumps(model)
    thread = threading.Thread(target=compile_many)
    thread.start()
    try:
        for _ in range(5):
            child = os.fork()
            if child == 0:
                try:
                    x = at.dvector("x")
                    signal.alarm(30)
                    with config.change_flags(native_cache=False):
                        good = aesara.function([x], at.tanh(x))([0.0])[0] == 0
                    same(pickle.loads(data), model)
                    os._exit(0 if good else 2)
                finally:
                    os._exit(3)
            assert os.waitpid(child, 0)[1] == 0
    finally:
        stop.set()
        thread.join()


READER = """
import pickle, sys
import numpy as np
import aesara.link.llvm.linker
from unittest import mock

data = open(sys.argv[1], "rb").read()
with mock.patch("aesara.link.llvm.linker.build", None), mock.patch("aesara.link.llvm.linker.lower_graph", None):
    f, arguments, results = pickle.loads(data)
    found = f(*arguments)
for one, two in zip(found, results, strict=True):
    np.testing.assert_array_equal(one, two)
"""


def read_elsewhere(data, path):
    path.write_bytes(data)
    answer = subprocess.run(
        [sys.executable, "-c", READER, str(path)],
        capture_output=True,
        text=True,
        timeout=120,
        env=os.environ | {"AESARA_FLAGS": "native_cache=False"},
    )
    assert answer.returncode == 0, answer.stderr


@pytest.mark.slow
def test_another_process_needs_no_compiler(model, tmp_path):
    read_elsewhere(pickle.dumps((model, VALUES, model(*VALUES))), tmp_path / "f.pkl")


WRITER = """
import sys
import cloudpickle
import numpy as np
import aesara, aesara.tensor as at
from aesara.graph.basic import Apply
from aesara.compile.ops import as_op
from aesara.graph.op import Op

class Twice(Op):
    __props__ = ()

    def make_node(self, x):
        return Apply(self, [x], [x.type()])

    def perform(self, node, inputs, outputs):
        outputs[0][0] = 2 * inputs[0]

FACTOR = 3.0

@as_op([at.dvector], [at.dvector])
def scaled(values):
    return FACTOR * values

@as_op([at.dvector], [at.dvector], infer_shape=lambda fgraph, node, shapes: shapes)
def shifted(values):
    return FACTOR + values

x = at.dvector("x")
f = aesara.function([x], [Twice()(x) + 1, scaled(shifted(x))])
with open(sys.argv[1], "wb") as file:
    cloudpickle.dump((f, [np.ones(2)], f(np.ones(2))), file)
"""


@pytest.mark.slow
def test_cloudpickle_takes_ops_of_scripts_along(tmp_path):
    path = tmp_path / "f.pkl"
    script = tmp_path / "script.py"
    script.write_text(WRITER)
    subprocess.run([sys.executable, str(script), str(path)], check=True, timeout=120)
    read_elsewhere(path.read_bytes(), path)


IN_WORKERS = """
import joblib
import numpy as np
import aesara, aesara.tensor as at
from aesara.compile.ops import as_op

@as_op([at.dvector], [at.dvector])
def squared(values):
    return values**2

if __name__ == "__main__":
    x = at.dvector("x")
    f = aesara.function([x], squared(x).sum())
    found = joblib.Parallel(2)(joblib.delayed(f)(np.full(4, float(k))) for k in range(3))
    assert [float(one) for one in found] == [0.0, 4.0, 16.0], found
"""


@pytest.mark.slow
def test_functions_of_scripts_in_workers_of_joblib(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(IN_WORKERS)
    subprocess.run([sys.executable, str(script)], check=True, timeout=120)
