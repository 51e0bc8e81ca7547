"""What profiled functions measure, natively and node by node, and how it is printed."""

import io
import json
import pickle
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.compile.mode import Mode
from aesara.compile.ops import as_op
from aesara.compile.profiling import ProfileStats, extended_open, print_global_stats, register_profiler_printer
from aesara.configdefaults import config
from aesara.ifelse import ifelse
from aesara.tensor.ordering.sorting import SortOp
from aesara.tensor.products.gemm import Dot22

sys.path.insert(0, str(Path(__file__).parent))
from fake_clock import FakeClock, Waits

from tests.closeness import assert_close


@as_op([at.dvector], [at.dvector])
def copied(values):
    return values.copy()


def quiet(**kwargs):
    return ProfileStats(atexit_print=False, **kwargs)


def text_of(profile, **kwargs):
    file = io.StringIO()
    profile.summary(file, **kwargs)
    return file.getvalue()


def example(mode=None, **kwargs):
    x, w = at.dmatrix("x"), aesara.shared(np.ones(3), name="w")
    loss = at.tanh(x @ w).sum()
    profile = quiet(**kwargs)
    f = aesara.function([x], loss, updates={w: w - 0.1 * aesara.grad(loss, w)}, mode=mode, profile=profile)
    return f, profile


@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE"])
def test_calls_and_compiling_are_measured(mode):
    f, profile = example(mode)
    assert f.profile is profile and profile.fct_callcount == 0
    reference, _ = example("FAST_COMPILE")
    for _ in range(3):
        argument = np.random.default_rng(0).normal(size=(20, 3))
        assert f(argument) == pytest.approx(reference(argument), rel=1e-12)
    assert profile.fct_callcount == 3
    assert 0 < profile.vm_call_time <= profile.fct_call_time
    assert profile.nb_nodes == len(f.maker.fgraph.apply_nodes)
    assert profile.compile_time >= profile.rewriting_time + profile.linker_time > 0
    assert profile.linker_time == pytest.approx(sum(profile.stages.values()), rel=1e-12)
    assert sum(profile.apply_time.values()) <= profile.vm_call_time
    assert set(profile.apply_time) <= {(f.maker.fgraph, node) for node in f.maker.fgraph.apply_nodes}
    assert set(profile.apply_callcount.values()) == {3}
    assert set(profile.apply_cimpl.values()) == {mode == "FAST_RUN"}


@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE"])
def test_the_slow_node_is_found(mode, monkeypatch):
    x = at.dvector("x")
    clock = FakeClock().install(monkeypatch)
    slow = Waits(clock, 0.25)
    f = aesara.function([x], at.exp(slow(x * 2)), mode=mode, profile=quiet())
    f([1.0]), f([1.0])
    profile = f.profile
    (key,) = [key for key in profile.apply_time if key[1].op == slow]
    assert profile.apply_time[key] == 0.5 == sum(profile.apply_time.values())
    assert profile.apply_cimpl[key[1]] is False
    assert profile.op_time()[slow] == profile.apply_time[key] == profile.class_time()[type(slow)]
    totals = profile.compute_total_times()
    assert totals[key[1]] >= profile.apply_time[key]
    last = f.maker.fgraph.outputs[0].owner
    assert totals[last] == pytest.approx(sum(profile.apply_time.values()), rel=1e-12)
    if mode == "FAST_RUN":
        (step,) = [step for step in profile.steps() if step.kind == "python"]
        assert step.nodes == (key[1],) and step.calls == 2 and step.seconds == profile.apply_time[key]


def test_steps_of_native_code():
    x, n = at.dmatrix("x"), at.lscalar("n")
    looped, _ = aesara.scan(lambda a: at.tanh(a) * 0.5, outputs_info=x[0], n_steps=n)
    f = aesara.function([x, n], [x @ x, looped, at.exp(x).sum(axis=0), at.sort(x[0])], profile=quiet())
    value = np.random.default_rng(0).normal(size=(40, 40))
    product, states, sums, _ = f(value, 5)
    assert_close(product, value @ value)
    assert states.shape == (5, 40)
    assert_close(sums, np.exp(value).sum(axis=0))
    steps = f.profile.steps()
    assert {"product", "loop", "nest", "routine"} <= {step.kind for step in steps}
    assert any(isinstance(node.op, SortOp) for step in steps if step.kind == "routine" for node in step.nodes)
    assert all(step.seconds >= 0 and step.calls == 1 for step in steps)
    assert any(isinstance(node.op, Dot22) for step in steps if step.kind == "product" for node in step.nodes)
    assert any("for{" in str(node.op) for step in steps if step.kind == "loop" for node in step.nodes)
    assert sum(step.seconds for step in steps) <= f.profile.vm_call_time


def test_grouped_numbers_agree():
    x = at.dvector("x")
    f = aesara.function([x], [at.exp(x), at.exp(x + 1), x.sum()], mode=Mode("py", None), profile=quiet())
    for _ in range(2):
        f([1.0])
    profile = f.profile
    total = sum(profile.apply_time.values())
    assert sum(profile.op_time().values()) == pytest.approx(total, rel=1e-12)
    assert sum(profile.class_time().values()) == pytest.approx(total, rel=1e-12)
    assert profile.op_nodes()[at.exp] == 2 and profile.op_callcount()[at.exp] == 4
    assert sorted(profile.class_nodes().values()) == [1, 1, 3]
    assert set(profile.op_impl().values()) == set(profile.class_impl().values()) == {"Py"}
    assert sum(profile.class_callcount().values()) == 2 * len(f.maker.fgraph.apply_nodes)


def test_without_profile_nothing_is_measured():
    x = at.dvector("x")
    f = aesara.function([x], at.exp(x), profile=False)
    assert f.profile is None
    assert f._native.timers is None
    assert type(f).__call__ is f._native.entry
    g = aesara.function([x], at.exp(x), profile=quiet(flag_time_thunks=False))
    g([1.0])
    assert g._native.timers is None and g.profile.fct_callcount == 1 and g.profile.apply_time == {}
    assert "Function profiling" in text_of(g.profile)
    h = aesara.function([x], at.exp(x), mode="FAST_COMPILE", profile=quiet(flag_time_thunks=False))
    h([1.0])
    assert h.profile.apply_time == {} and h.profile.fct_callcount == 1


def test_calls_that_go_the_long_way_and_calls_that_fail():
    x, y = at.dvector("x"), at.dvector("y")
    f = aesara.function([x, y], {"sum": x + y}, profile=quiet())
    np.testing.assert_array_equal(f([1, 2], y=[3, 4])["sum"], [4.0, 6.0])
    np.testing.assert_array_equal(f(np.array([1.0, 2.0]), np.array([3.0, 4.0]))["sum"], [4.0, 6.0])
    assert f.profile.fct_callcount == 2
    with pytest.raises(ValueError):
        f([1.0, 2.0], [1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="Bad input argument"):
        f("text", [1.0])
    assert f.profile.fct_callcount == 2


def test_sides_of_native_choices():
    x = at.dvector("x")
    f = aesara.function([x], ifelse(x.sum() > 0, at.exp(x), at.log(-x)), profile=quiet())
    f(np.ones(1000))
    times = {str(node.op): seconds for (_, node), seconds in f.profile.apply_time.items()}
    assert times["Elemwise{exp,no_inplace}"] > times["Elemwise{Log}[(0, 0)]"] >= 0
    assert sum(times.values()) <= f.profile.vm_call_time


def test_lazy_graphs_and_several_graphs_in_one_profile():
    x = at.dvector("x")
    profile = quiet()
    f = aesara.function([x], ifelse(x.sum() > 0, at.exp(x), at.log(-x)), profile=profile, mode="FAST_COMPILE")
    g = aesara.function([x], at.sin(x), profile=profile)
    f([1.0]), f([1.0]), g([1.0])
    assert profile.fct_callcount == 3
    ran = {str(node.op): count for (_, node), count in profile.apply_callcount.items()}
    assert ran["Elemwise{exp,no_inplace}"] == 2 and ran["Elemwise{sin,no_inplace}"] == 1
    assert not any("log" in name for name in ran)
    assert "if{" in text_of(profile)


def test_first_call_can_be_left_out_and_numbers_forgotten():
    with config.change_flags(profiling__ignore_first_call=True):
        f, profile = example()
    value = np.ones((2, 3))
    f(value)
    assert profile.fct_callcount == 0 and sum(profile.apply_time.values()) == 0
    f(value)
    assert profile.fct_callcount == 1 and set(profile.apply_callcount.values()) == {1}
    compiling = profile.compile_time
    profile.reset()
    assert profile.fct_callcount == 0 and profile.fct_call_time == 0 and profile.compile_time == compiling
    assert sum(profile.apply_time.values()) == 0


def test_what_profile_may_be():
    x = at.dvector("x")
    f = aesara.function([x], x + 1, profile="a message")
    assert f.profile.message == "a message"
    g = aesara.function([x], x + 1, profile=True, name="g")
    assert g.profile.message == "g"
    assert aesara.function([x], x + 1).profile is None
    with config.change_flags(profile=True):
        h = aesara.function([x], x + 1)
        assert isinstance(h.profile, ProfileStats)
        assert aesara.function([x], x + 1, profile=False).profile is None
    with pytest.raises(TypeError, match="`profile` must be"):
        aesara.function([x], x + 1, profile=3.5)
    with pytest.raises(TypeError, match="no attribute 'nonsense'"):
        ProfileStats(atexit_print=False, nonsense=1)
    copied = f.copy(profile=quiet(message="copy"))
    copied([1.0])
    assert copied.profile.fct_callcount == 1 and f.profile.fct_callcount == 0
    assert f.copy().profile is None
    loaded = pickle.loads(pickle.dumps(g))
    assert loaded([1.0]) == 2.0
    assert (loaded.profile.message, loaded.profile.fct_callcount, g.profile.fct_callcount) == ("g", 1, 0)
    f.profile.fct_callcount = g.profile.fct_callcount = 0
    for one in (f, g, h):
        one.profile.compile_time = 0.0  # not at the end of the tests


@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE"])
def test_summary_has_all_parts(mode):
    f, profile = example(mode, message="the message")
    f(np.ones((2, 3)))
    text = text_of(profile)
    for part in (
        "Function profiling", "Message: the message", "Time in 1 calls", "Total compilation time", "Class\n-----",
        "Ops\n---", "Apply\n-----", "aesara.tensor.elementwise.elemwise.Elemwise", "test_profiling.py:", "Tips\n----",
    ):  # fmt: skip
        assert part in text, part
    assert ("Steps of native code" in text) == (mode == "FAST_RUN")
    assert "(the other" in text_of(profile, n_ops_to_print=1, n_apply_to_print=1)
    for method in (profile.summary_class, profile.summary_ops, profile.summary_nodes):
        file = io.StringIO()
        method(file, N=2)
        assert 4 <= len(file.getvalue().splitlines()) <= 7
    assert max(map(len, text.splitlines())) <= config.profiling__output_line_width
    assert not quiet(message="never called").apply_time
    assert "never called" in text_of(quiet(message="never called"))


def test_memory():
    x = at.dmatrix("x")
    outputs = at.exp(at.log(x) + 1).sum()
    with config.change_flags(profile_memory=True, profiling__min_memory_size=1):
        f = aesara.function([x], outputs, mode="FAST_COMPILE", profile=quiet())
        f(np.ones((128, 8)))
        text = text_of(f.profile)
    sizes = f.profile.output_size
    assert sorted(sizes.values()) == [8, 8192, 8192, 8192]
    assert {f.profile.variable_shape[v] for v in sizes} == {(), (128, 8)}
    assert {f.profile.variable_offset[v] for v in sizes} == {0}
    assert "16.0KB at once if results are dropped" in text and "24.0KB if they are kept" in text
    g = aesara.function([x], at.dot(at.exp(x), at.log(x)).sum(), profile=quiet())
    g(np.ones((16, 16)))
    assert "Memory that native code keeps for intermediate results" in text_of(g.profile)


def test_views_are_known_by_their_offset_and_strides():
    """In bytes, from where the memory begins that they are views of."""
    x = at.dmatrix("x")
    base = at.exp(x)
    views = {base[1:, 2:]: (48, (32, 8)), base[::-1]: (64, (-32, 8)), base.T: (0, (8, 32)), base + 1: (0, (32, 8))}
    with config.change_flags(profile_memory=True):
        f = aesara.function([x], [*views, base[:, ::-1]], mode="FAST_COMPILE", profile=quiet())
        f(np.ones((3, 4)))
    found = {
        (f.profile.variable_offset[out.owner.inputs[0]], f.profile.variable_strides[out.owner.inputs[0]])
        if str(out.owner.op).startswith("DeepCopy")
        else (f.profile.variable_offset[out], f.profile.variable_strides[out])
        for out in f.maker.fgraph.outputs
    }
    assert found == {*views.values(), (24, (32, -8))}


def test_rewriting_can_be_measured_too():
    with config.change_flags(profile_optimizer=True):
        _, profile = example()
    assert profile.rewriter_profile is not None
    assert "Rewriter Profile" in text_of(profile)


def test_as_dict():
    f, profile = example(message="m")
    f(np.ones((2, 3)))
    found = profile.as_dict()
    assert found["message"] == "m" and found["fct_callcount"] == 1
    assert set(found["stages"]) == {"lower", "emit", "build"}
    assert all(set(node) - {"bytes"} == {"node", "op", "source", "seconds", "calls"} for node in found["nodes"])
    assert all(
        set(step) == {"kind", "nodes", "lines", "seconds", "calls", "bytes"} and step["bytes"] > 0
        for step in found["steps"]
    )
    assert sum(step["seconds"] for step in found["steps"]) <= profile.vm_call_time


def trace_of(profile, tmp_path):
    profile.to_trace(tmp_path / "trace.json")
    trace = json.loads((tmp_path / "trace.json").read_text())
    spans = [event for event in trace["traceEvents"] if event["ph"] == "X"]
    for event in trace["traceEvents"]:
        assert event["ph"] in "XM" and isinstance(event["pid"], int) and isinstance(event["tid"], int)
    # Spans of a thread contain each other or follow each other.
    for tid in {event["tid"] for event in spans}:
        open_until = []
        for event in (e for e in spans if e["tid"] == tid):
            assert event["ts"] >= 0 and event["dur"] >= 0 and isinstance(event["name"], str)
            while open_until and event["ts"] >= open_until[-1] - 1e-3:
                open_until.pop()
            assert not open_until or event["ts"] + event["dur"] <= open_until[-1] + 1e-3
            open_until.append(event["ts"] + event["dur"])
    return spans


def test_trace_of_native_code(tmp_path):
    f, profile = example(message="train")
    for _ in range(3):
        f(np.ones((5, 3)))
    spans = trace_of(profile, tmp_path)
    kinds = [event["cat"] for event in spans]
    assert kinds.count("call") == 3 and kinds.count("nest") % 3 == 0 and kinds.count("nest") >= 3
    assert {"compile", "rewrite", "lower", "emit", "build"} <= {e["name"] for e in spans if e["cat"] == "compile"}
    assert {event["name"] for event in spans if event["cat"] == "call"} == {"train"}
    steps = [event for event in spans if event["cat"] not in ("call", "compile")]
    assert any("tanh" in event["name"].lower() for event in steps)
    assert any("test_profiling.py" in line for event in steps for line in event["args"]["lines"])
    assert sum(e["dur"] for e in steps) == pytest.approx(1e6 * sum(s.seconds for s in profile.steps()), rel=1e-3)


def test_trace_of_single_nodes(tmp_path, monkeypatch):
    clock = FakeClock().install(monkeypatch)
    x = at.dvector("x")
    f = aesara.function([x], at.exp(Waits(clock, 0.25)(x)), mode="FAST_COMPILE", profile=quiet())
    f([1.0])
    spans = trace_of(f.profile, tmp_path)
    durations = {event["name"]: event["dur"] for event in spans if event["cat"] == "node"}
    assert sorted(durations.values()) == [0, 250_000] and "Waits" in max(durations, key=durations.get)


def test_trace_has_the_last_calls_and_all_threads(tmp_path):
    f, profile = example()
    value = np.ones((2, 3))
    for _ in range(1100):
        f(value)
    thread = threading.Thread(target=f, args=(value,))
    thread.start()
    thread.join()
    spans = trace_of(profile, tmp_path)
    calls = [event for event in spans if event["cat"] == "call"]
    assert len(calls) == 1000 and len({event["tid"] for event in calls}) == 2
    # What is no longer there does not end in the first call that is.
    steps = sum(event["dur"] for event in spans if event["cat"] not in ("call", "compile"))
    assert 0 < steps <= sum(event["dur"] for event in calls)
    profile.reset()
    assert {event["cat"] for event in trace_of(profile, tmp_path)} == {"compile"}


def test_nothing_measured(tmp_path):
    assert trace_of(quiet(), tmp_path) == []


def test_numbers_have_lines_and_memory():
    f, profile = example()
    f(np.ones((5, 3)))
    numbers = json.loads(json.dumps(profile.as_dict()))
    assert numbers["workspace_bytes"] > 0
    assert any("test_profiling.py" in line for step in numbers["steps"] for line in step["lines"])
    assert "test_profiling.py" in text_of(profile).split("Steps of native code")[1]
    with config.change_flags(profile_memory=True):
        f, profile = example(mode="FAST_COMPILE")
        f(np.ones((5, 3)))
    assert any(node.get("bytes") == 40 for node in profile.as_dict()["nodes"])


def test_bytes_of_steps_and_nodes():
    x, n = at.dmatrix("x"), at.lscalar("n")
    w = aesara.shared(np.ones((3, 4)), name="w")
    product = x @ w
    states, _ = aesara.scan(lambda a: a * 0.5, outputs_info=x[0], n_steps=n)
    outputs = [at.exp(product).sum(), states, at.sin(copied(x[:, 0] * 2))]
    f = aesara.function([x, n], outputs, profile=quiet())
    for rows in (10, 5):
        f(np.ones((rows, 3)), 7)
        by_kind = {}
        for step in f.profile.steps():
            by_kind.setdefault(step.kind, []).append(step.bytes)
        assert by_kind["product"] == [8 * (rows * 3 + 3 * 4 + rows * 4)]
        assert by_kind["python"] == [8 * 2 * rows]
        assert 8 * (rows * 4 + 1) in by_kind["nest"]  # the exponentials exist one by one only
        # the rows that are returned, a ring of two rows of the state, and the factor
        assert by_kind["loop"] == [8 * (7 * 3 + 2 * 3 + 1)]
    stored = {type(node.op).__name__: size for (_, node), size in f.profile.bytes_of_nodes().items()}
    assert stored["Dot22"] == 8 * 5 * 4 and stored["Sum"] == 8 and stored["FromFunctionOp"] == 8 * 5
    assert "exp" not in str([node for _, node in f.profile.bytes_of_nodes()])
    assert "product 0.4KB [" in text_of(f.profile)
    f.profile.reset()
    assert f.profile.bytes_of_nodes() == {} and not any(step.bytes for step in f.profile.steps())
    g = aesara.function([x], at.exp(x), mode="FAST_COMPILE", profile=quiet())
    g(np.ones((2, 2)))
    assert g.profile.bytes_of_nodes() == {}


def test_profiles_elsewhere_begin_at_zero():
    f, profile = example(message="m", flag_time_thunks=False)
    f(np.ones((2, 3)))
    again = pickle.loads(pickle.dumps(profile))
    assert (again.message, again.flag_time_thunks, again.fct_callcount, again.steps()) == ("m", False, 0, [])


def test_printers(monkeypatch):
    printers: list = []
    monkeypatch.setattr("aesara.compile.profiling.PRINTERS", printers)
    monkeypatch.setattr("aesara.compile.profile_stats.PRINTERS", printers)

    @register_profiler_printer
    def show(message, compile_time, fct_call_time, apply_time, apply_cimpl, output_size, file):
        print(f"<{message} {len(apply_time)} {len(apply_cimpl)} {fct_call_time > 0}>", file=file)

    f, profile = example(message="m")
    f(np.ones((2, 3)))
    count = len(profile.apply_time)
    assert f"<m {count} {count} True>" in text_of(profile)
    with pytest.raises(TypeError, match="takes a function"):
        register_profiler_printer("print")


def test_extended_open(tmp_path, capsys):
    for name in ("stdout", "stderr"):
        with extended_open(name, "w") as file:
            print(name, file=file)
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("stdout\n", "stderr\n")
    with extended_open(str(tmp_path / "a"), "w") as file:
        file.write("text")
    with extended_open(str(tmp_path / "a")) as file:
        assert file.read() == "text"
    assert file.closed and not sys.stdout.closed


def test_global_stats(tmp_path):
    with config.change_flags(profiling__destination=str(tmp_path / "out")):
        print_global_stats()
    assert "Global stats: Time elapsed since Aesara import" in (tmp_path / "out").read_text()


PROGRAM = """
import aesara, aesara.tensor as at
x = at.dvector("x")
f = aesara.function([x], at.exp(x), profile=True, name="first")
g = aesara.function([x], at.log(x), profile="second", mode="FAST_COMPILE")
h = aesara.function([x], at.sin(x), profile=aesara.ProfileStats(atexit_print=False, message="third"))
for one in (f, g, h):
    one([1.0]), one([2.0])
"""


def test_printed_at_the_end_of_the_program(tmp_path):
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True, timeout=120)
    assert "Message: first" in done.stderr and "Message: second" in done.stderr
    assert "third" not in done.stderr and done.stdout == ""
    last = done.stderr.split("Message: ")[-1]
    assert last.startswith("Sum of all (2) printed profiles at exit") and "Time in 4 calls" in last
    assert "exp" in last and "log" in last
