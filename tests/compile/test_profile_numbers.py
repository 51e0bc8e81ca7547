"""The numbers that profiles report, against a clock of which every second is known."""

import html
import io
import itertools
import json
import pickle
import re

import numpy as np
import pytest
from fake_clock import TICK, FakeClock, Late, Waits

import aesara
import aesara.tensor as at
from aesara.compile import profiling
from aesara.compile.mode import Mode
from aesara.compile.profiling import ProfileStats, print_global_stats
from aesara.compile.step_times import NativeTimes, StepTime
from aesara.configdefaults import config
from aesara.d3viz.formatting import apply_profile
from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Apply
from aesara.graph.rewriting.basic import EquilibriumGraphRewriter, GraphRewriter, in2out, node_rewriter
from aesara.ifelse import ifelse
from aesara.link.vm import VMLinker


@pytest.fixture
def clock(monkeypatch):
    return FakeClock().install(monkeypatch)


def quiet(**kwargs):
    return ProfileStats(atexit_print=False, line_width=300, **kwargs)


def diamond(clock, mode, **kwargs):
    """Nodes of 1, 2 and 4 seconds: the first is needed by the others, and these by the last, of 0.5 seconds."""
    x = at.dvector("x")
    first = Waits(clock, 1.0)(x)
    left, right = Waits(clock, 2.0)(first), Waits(clock, 4.0)(first)
    f = aesara.function([x], Waits(clock, 0.5)(left, right), mode=mode, profile=quiet(**kwargs))
    return f, [first.owner.op, left.owner.op, right.owner.op, f.maker.fgraph.outputs[0].owner.op]


REFERENCES = {
    "in order": lambda: Mode("py", None),
    "lazily": lambda: Mode(VMLinker(lazy=True), None),
    "native": lambda: Mode("llvm", None),
}


@pytest.mark.parametrize("mode", list(REFERENCES))
class TestNodes:
    def test_times_and_totals(self, clock, mode):
        f, ops = diamond(clock, REFERENCES[mode]())
        for _ in range(3):
            f([1.0])
        profile, graph = f.profile, f.maker.fgraph
        nodes = {node.op: node for node in graph.apply_nodes}
        own = dict(zip(ops, (3.0, 6.0, 12.0, 1.5)))
        with_inputs = dict(zip(ops, (3.0, 9.0, 15.0, 22.5)))
        assert {op: profile.apply_time[graph, node] for op, node in nodes.items()} == own
        assert profile.apply_callcount == {(graph, node): 3 for node in nodes.values()}
        assert profile.compute_total_times() == {nodes[op]: seconds for op, seconds in with_inputs.items()}
        totals = {}
        profile.fill_node_total_time(graph, nodes[ops[1]], totals)
        assert totals == {nodes[ops[1]]: 9.0}
        assert profile.op_time() == own and set(profile.op_callcount().values()) == {3}
        assert profile.class_time() == {Waits: 22.5}
        assert profile.class_callcount() == {Waits: 12} and profile.class_nodes() == {Waits: 4}
        assert apply_profile(graph, nodes[ops[2]], profile) == [12.0, 22.5]
        assert [(node["seconds"], node["calls"]) for node in profile.as_dict()["nodes"]] == [
            (profile.apply_time[graph, node], 3) for _, node in profile.apply_time
        ]

    def test_totals_have_nothing_of_what_has_not_run(self, clock, mode):
        x, c = at.dvector("x"), at.bscalar("c")
        sides = [Waits(clock, 1.0)(Waits(clock, seconds)(x)) for seconds in (2.0, 4.0)]
        f = aesara.function([c, x], ifelse(c, *sides), mode=REFERENCES[mode](), profile=quiet())
        profile, last = f.profile, f.maker.fgraph.outputs[0].owner
        # Nodes that have not run have no numbers, or zeros.
        for side, expected in ((1, 3.0), (0, 8.0), (0, 13.0)):
            f(side, [1.0])
            totals = {}
            profile.fill_node_total_time(f.maker.fgraph, last, totals)
            assert totals == {last: expected}
            assert profile.compute_total_times().get(last, expected) == expected

    def test_calls(self, clock, mode):
        f, _ = diamond(clock, REFERENCES[mode]())
        for seconds in (2.0, 5.0):
            f(Late(clock, [1.0], seconds))
        profile = f.profile
        assert (profile.fct_callcount, profile.fct_call_time) == (2, 22.0)
        # Of a native function, converting arguments belongs to what is called.
        assert profile.vm_call_time == (22.0 if mode == "native" else 15.0)
        found = profile.as_dict()
        assert (found["fct_callcount"], found["fct_call_time"]) == (2, 22.0)
        assert found["vm_call_time"] == profile.vm_call_time

    def test_a_dict_of_results_is_made_outside_of_the_machine(self, clock, mode, monkeypatch):
        x = at.dvector("x")
        f = aesara.function([x], {"y": Waits(clock, 1.0)(x)}, mode=REFERENCES[mode](), profile=quiet())
        present = type(f)._present

        def slowly(*args):
            clock.wait(0.25)
            return present(*args)

        monkeypatch.setattr(type(f), "_present", slowly)
        f(np.ones(2))
        assert (f.profile.fct_call_time, f.profile.vm_call_time) == (1.25, 1.0)

    def test_tables(self, clock, mode):
        f, _ = diamond(clock, REFERENCES[mode](), message="m")
        f([1.0]), f([1.0])
        text = io.StringIO()
        f.profile.summary(text, n_ops_to_print=2, n_apply_to_print=3)
        lines = text.getvalue().splitlines()
        assert "  Time in 2 calls to Function.__call__: 1.500000e+01s (7.500000e+00s each)" in lines
        assert "  Time in Function.vm.__call__: 1.500000e+01s (100.000%)" in lines
        assert "  Time in nodes: 1.500000e+01s (100.000%)" in lines
        assert lines[lines.index("Class") + 3] == (
            "  100.0%   100.0%    1.500e+01s   1.88e+00s    Py        8     4   fake_clock.Waits"
        )
        assert lines[lines.index("Ops") + 3 :][:3] == [
            "   53.3%    53.3%    8.000e+00s   4.00e+00s    Py        2     1   Waits{seconds=4.0}",
            "   26.7%    80.0%    4.000e+00s   2.00e+00s    Py        2     1   Waits{seconds=2.0}",
            "   ... (the other 2 take 20.00% (3.00s))",
        ]
        rows = lines[lines.index("Apply") + 3 :][:4]
        assert [row[:16] for row in rows[:3]] == ["   53.3%    53.3", "   26.7%    80.0", "   13.3%    93.3"]
        assert rows[3] == "   ... (the other 1 take 6.67% (1.00s))"

    def test_first_call_left_out(self, clock, mode):
        with config.change_flags(profiling__ignore_first_call=True):
            f, ops = diamond(clock, REFERENCES[mode]())
        for _ in range(3):
            f([1.0])
        assert (f.profile.fct_callcount, f.profile.fct_call_time) == (2, 15.0)
        assert f.profile.op_time()[ops[2]] == 8.0

    def test_tree(self, clock, mode):
        f, _ = diamond(clock, REFERENCES[mode]())
        f([1.0])
        text = aesara.printing.debugprint(f, file="str")
        assert "--> 1.00e+00s 13.3% 1.00e+00s 13.3%" in text
        assert "--> 2.00e+00s 26.7% 3.00e+00s 40.0%" in text
        assert "--> 4.00e+00s 53.3% 5.00e+00s 66.7%" in text
        assert "--> 5.00e-01s 6.7% 7.50e+00s 100.0%" in text

    def test_trace(self, clock, mode, tmp_path):
        f, _ = diamond(clock, REFERENCES[mode](), message="m")
        f([1.0])
        clock.wait(10.0)
        f([1.0])
        f.profile.to_trace(tmp_path / "trace.json")
        events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
        calls = [(e["ts"], e["dur"]) for e in events if e.get("cat") == "call"]
        assert calls == [(0.0, 7.5e6), (17.5e6, 7.5e6)]
        nodes = [(e["ts"], e["dur"]) for e in events if e.get("cat") in ("node", "python")]
        assert sum(duration for _, duration in nodes) == 15e6
        assert nodes[0] == (0.0, 1e6) and nodes[4] == (17.5e6, 1e6)
        starts = [ts for ts, _ in nodes[:4]]
        assert starts == [0.0, *np.cumsum([duration for _, duration in nodes[:3]])]


class TestCompiling:
    def test_rewriting(self, clock):
        @node_rewriter([Waits])
        def takes_time(fgraph, node):
            clock.wait(3.0)
            return False

        x = at.dvector("x")
        mode = Mode("py", in2out(takes_time, name="slow_pass", ignore_newtrees=True))
        y = Waits(clock, 1.0, when_linked=0.75)(Waits(clock, 2.0, when_linked=0.5)(x))
        f = aesara.function([x], y, mode=mode, profile=quiet())
        profile = f.profile
        assert (profile.rewriting_time, profile.linker_time, profile.compile_time) == (6.0, 1.25, 7.25)
        assert profile.stages == {"link": 1.25} and profile.linker_node_make_thunks == 1.25
        explanation = aesara.explain(f)
        assert explanation.seconds["rewrite"] == 6.0

    def test_rules_and_passes(self, clock):
        @node_rewriter([Waits])
        def takes_time(fgraph, node):
            clock.wait(3.0)
            return False

        x = at.dvector("x")
        query = aesara.compile.mode.get_mode("FAST_COMPILE").optimizer
        query.append(in2out(takes_time, name="slow_pass", ignore_newtrees=True))
        with config.change_flags(profile_optimizer=True):
            f = aesara.function([x], Waits(clock, 1.0)(x), mode=Mode("py", query), profile=quiet())
        rules = f.profile.rewriter_profile[1][-1]
        assert rules.seconds == 3.0 and rules.passes["slow_pass"] == 3.0
        assert rules.rules["takes_time"].seconds == 3.0
        text = io.StringIO()
        f.profile.summary(text)
        assert "time 3.000s" in text.getvalue() and "3.000000s  slow_pass" in text.getvalue()
        assert "Rewriting: 3.0000 s, 1 graph" in text.getvalue()

    def test_rules_until_nothing_changes(self, clock):
        @node_rewriter([Waits])
        def takes_time(fgraph, node):
            clock.wait(3.0)
            return False

        class Pass(GraphRewriter):
            def apply(self, fgraph):
                clock.wait(0.5)

        x, last = at.dvector("x"), Pass()
        rewriter = EquilibriumGraphRewriter([takes_time, last], max_use_ratio=10)
        profile = rewriter.apply(FunctionGraph([x], [Waits(clock, 1.0)(x)], clone=True))
        assert profile.seconds == 3.5 and profile.global_seconds == {last: 0.5}

    def test_stages_of_native_code(self, clock, monkeypatch, tmp_path):
        linker = aesara.link.llvm.linker
        for name, seconds in (("_lower", 4.0), ("emit_timed_program", 1.0), ("build", 2.0)):
            monkeypatch.setattr(linker, name, late(clock, getattr(linker, name), seconds))
        x = at.dvector("x")
        f = aesara.function([x], at.exp(x), profile=quiet())
        assert f.profile.stages == {"lower": 4.0, "emit": 1.0, "build": 2.0}
        assert (f.profile.linker_time, f.profile.compile_time, f.profile.rewriting_time) == (7.0, 7.0, 0.0)
        assert aesara.explain(f).seconds == {"rewrite": 0.0, "lower": 4.0, "emit": 1.0, "build": 2.0}
        assert "compiled in 7000.0 ms: rewrite 0.0 ms, lower 4000.0 ms, emit 1000.0 ms" in str(aesara.explain(f))
        text = io.StringIO()
        f.profile.summary_function(text)
        assert "    Linking: 7.000000e+00s\n       lower: 4.000000e+00s\n" in text.getvalue()
        f.profile.to_trace(tmp_path / "trace.json")
        events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
        spans = {e["name"]: (e["ts"], e["dur"]) for e in events if e.get("cat") == "compile"}
        assert spans == {
            "compile": (0.0, 7e6), "rewrite": (0.0, 0.0),
            "lower": (0.0, 4e6), "emit": (4e6, 1e6), "build": (5e6, 2e6),
        }  # fmt: skip


@pytest.mark.parametrize("mode", list(REFERENCES))
@pytest.mark.parametrize("length", [79, 80, 81, 200])
def test_names_in_traces_are_short(clock, mode, length, tmp_path):
    class Named(Waits):
        def __str__(self):
            return "".join(chr(ord("a") + k % 26) for k in range(length))

    x = at.dvector("x")
    f = aesara.function([x], Named(clock, 1.0)(x), mode=REFERENCES[mode](), profile=quiet())
    f([1.0])
    f.profile.to_trace(tmp_path / "trace.json")
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    (event,) = [e for e in events if e.get("dur") == 1e6 and e["cat"] in ("node", "python")]
    name = event["name"].removeprefix("python: ")
    whole = str(f.maker.fgraph.outputs[0].owner.op)
    assert event["args"]["nodes"] == [str(f.maker.fgraph.outputs[0].owner)]
    assert name == whole if length <= 80 else len(name) == 80 and name[-3:] == "..." and whole.startswith(name[:-3])


def late(clock, function, seconds):
    def run(*args, **kwargs):
        clock.wait(seconds)
        return function(*args, **kwargs)

    return run


class TestNativeSteps:
    WAITS = 100.0

    @pytest.fixture
    def f(self, clock):
        """A function that was called once; each reading of its clock takes twice as long as the one before."""
        x, n = at.dmatrix("x"), at.lscalar("n")
        looped, _ = aesara.scan(lambda a: at.tanh(a) * 0.5, outputs_info=x[0], n_steps=n)
        outputs = [x @ x, looped, at.exp(x).sum(axis=0), Waits(clock, self.WAITS)(x[0] * 3)]
        f = aesara.function([x, n], outputs, profile=quiet(message="m"))
        clock.ticks = (2**k for k in itertools.count())
        self.started = clock.now()
        f(np.ones((3, 3)), 4)
        self.ended = clock.now()
        return f

    def seconds(self, f):
        return [step.seconds for step in f.profile.steps()]

    def test_times(self, f, clock):
        steps = f.profile.steps()
        assert {step.kind for step in steps} == {"loop", "nest", "product", "python"}
        assert {step.calls for step in steps} == {1}
        assert f.profile.fct_call_time == f.profile.vm_call_time == self.ended - self.started
        # A step lasts from one reading to the next: it takes what one reading takes, and a node in Python waits too.
        ticks = [(step.seconds - self.WAITS * (step.kind == "python")) / TICK for step in steps]
        exponents = np.log2(ticks)
        assert exponents[0] == 1 and all(exponents == exponents.round())
        # One reading ends a step and begins the next; after waiting for the GIL, as before Python, there is another.
        readings = np.diff(exponents)
        assert set(readings) == {1, 2} and readings[0] == 1
        assert readings[[step.kind for step in steps].index("python") - 1] == 2
        assert sum(self.seconds(f)) < self.ended - self.started

        clock.ticks = itertools.repeat(1)
        for calls in (2, 3):
            before = self.seconds(f)
            f(np.ones((3, 3)), 4)
            assert {step.calls for step in f.profile.steps()} == {calls}
            expected = [TICK + self.WAITS * (step.kind == "python") for step in steps]
            assert [after - one for one, after in zip(before, self.seconds(f))] == expected
        assert [step["seconds"] for step in f.profile.as_dict()["steps"]] == self.seconds(f)
        f.profile.reset()
        assert {(step.seconds, step.calls) for step in f.profile.steps()} == {(0.0, 0)}
        f(np.ones((3, 3)), 4)
        assert self.seconds(f) == expected

    def test_nodes_share_the_time_of_their_step(self, f):
        shares = {}
        for step in f.profile.steps():
            for node in step.nodes:
                shares[f.maker.fgraph, node] = shares.get((f.maker.fgraph, node), 0.0) + step.seconds / len(step.nodes)
        assert f.profile.apply_time == shares
        (waiting,) = (seconds for (_, node), seconds in shares.items() if isinstance(node.op, Waits))
        assert waiting > self.WAITS

    def test_a_node_of_several_steps_has_the_sum(self, clock):
        x = at.dvector("x")
        a, b = at.exp(x).owner, at.log(x).owner
        measured = NativeTimes.__new__(NativeTimes)
        measured.steps = lambda: [
            StepTime("nest", 1.0, 5, (b,)), StepTime("nest", 6.0, 2, (a, b)), StepTime("product", 9.0, 3, ()),
        ]  # fmt: skip
        assert measured.nodes() == {a: (3.0, 2), b: (4.0, 5)}

    def test_table_and_trace(self, f, tmp_path):
        text = io.StringIO()
        f.profile.summary_steps(text)
        rows = [line.split() for line in text.getvalue().splitlines()[3:] if line]
        longest = sorted(self.seconds(f), reverse=True)
        total = sum(longest)
        assert [row[2] for row in rows] == [f"{seconds:.3e}s" for seconds in longest]
        assert [row[0] for row in rows] == [f"{100 * seconds / total:.1f}%" for seconds in longest]
        assert rows[0][0] == rows[0][1] and rows[-1][1] == "100.0%"

        f.profile.to_trace(tmp_path / "trace.json")
        events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
        (call,) = [e for e in events if e.get("cat") == "call"]
        inside = [e for e in events if e.get("cat") in ("nest", "product", "loop", "python")]
        assert call["dur"] == 1e6 * (self.ended - self.started)
        assert [e["dur"] for e in inside] == [1e6 * seconds for seconds in self.seconds(f)]
        ends = call["ts"] + np.cumsum([0.0, *(e["dur"] for e in inside)])
        assert [e["ts"] for e in inside] == list(ends[:-1])

    def test_notebook(self, f):
        page = f.profile._repr_html_()
        each = f"{float(f'{self.ended - self.started:.3g}'):g} s"
        assert f"<b>m</b>: 1 calls, {each} in all, {each} each; compiled in 0 µs" in page
        longest = max(self.seconds(f))
        share = 100 * longest / sum(self.seconds(f))
        assert f"<tr><td>{float(f'{longest:.3g}'):g} s</td>" in page and f"{share:.1f}%</td>" in page


@pytest.mark.parametrize("mode", list(REFERENCES))
def test_tables_in_notebooks(clock, mode):
    """The longest steps or nodes first, the others together; of what has not run, nothing."""

    class Named(Waits):
        def __str__(self):
            return f"<{self.seconds:.0f}>" * int(self.seconds)

    x, c = at.dvector("x"), at.bscalar("c")
    order = [*range(1, 40, 2), *range(2, 41, 2)]
    value = x
    for seconds in order:
        value = Named(clock, float(seconds))(value)
    not_run = ifelse(c, x, Named(clock, 100.0)(x))
    f = aesara.function([c, x], [value, not_run], mode=REFERENCES[mode](), profile=quiet())
    f(1, [1.0]), f(1, [1.0])
    rows = re.findall("<tr><td>(.*?)</td><td(?: style=.*?)?>(.*?)</td><td>(.*?)</td><td.*?>(.*?)</td></tr>", page_of(f))
    *rows, rest = rows
    assert [row[0] for row in rows] == [f"{2 * seconds} s" for seconds in range(40, 25, -1)]
    assert [row[1] for row in rows] == [f"{100 * seconds / 820:.1f}%" for seconds in range(40, 25, -1)]
    assert [row[2] for row in rows] == [f"{seconds} s" for seconds in range(40, 25, -1)]
    assert rest[0] == "650 s" and re.fullmatch(r"2\d more", rest[3])
    for row, seconds in zip(rows, range(40, 25, -1)):
        name = html.unescape(row[3].partition("<br>")[0]).partition(": ")[2]
        whole = f"<{seconds}>" * seconds
        assert name == whole if len(whole) <= 120 else name == whole[:119] + "…"
    quick = aesara.function([c, x], Named(clock, 3.0)(x) * c, mode=REFERENCES[mode](), profile=quiet())
    assert "<table>" not in page_of(quick)  # not called
    quick(1, [1.0])
    assert "<td>3 s</td>" in page_of(quick) and "more" not in page_of(quick)


def page_of(f):
    return f.profile._repr_html_()


@pytest.mark.parametrize(
    "seconds, text",
    [
        (0.0, "0 µs"), (1.5e-9, "0.0015 µs"), (1e-6, "1 µs"), (9.99e-4, "999 µs"), (9.996e-4, "1 ms"),
        (1e-3, "1 ms"), (0.04567, "45.7 ms"), (0.9994, "999 ms"), (0.9996, "1 s"), (1.0, "1 s"), (1.996, "2 s"),
        (59.96, "60 s"), (1234.0, "1230 s"),
    ],
)  # fmt: skip
def test_notebooks_have_times_of_three_digits(seconds, text):
    page = quiet(fct_callcount=2, fct_call_time=seconds, compile_time=2 * seconds)._repr_html_()
    assert f": 2 calls, {text} in all, " in page
    page = quiet(fct_callcount=4, fct_call_time=4 * seconds, compile_time=seconds)._repr_html_()
    assert page.endswith(f", {text} each; compiled in {text}</div>")


def test_sums_of_profiles(clock, tmp_path):
    one, _ = diamond(clock, Mode("py", None))
    other, _ = diamond(clock, Mode("llvm", None))
    one([1.0]), other([1.0]), other([1.0])
    total = quiet()
    total.absorb(one.profile)
    total.absorb(other.profile)
    assert (total.fct_callcount, total.fct_call_time, total.vm_call_time) == (3, 22.5, 22.5)
    assert total.class_time() == {Waits: 22.5} and total.class_callcount() == {Waits: 12}
    assert total.nb_nodes == 8
    again = quiet()
    for _ in range(2):
        again.absorb(one.profile)
    assert set(again.apply_callcount.values()) == {2} and again.class_time() == {Waits: 15.0}
    assert set(one.profile.apply_callcount.values()) == {1}


def test_what_is_printed_at_the_end(clock, monkeypatch, tmp_path):
    printed = []
    monkeypatch.setattr("aesara.compile.profile_stats.PRINTED_AT_EXIT", printed)
    monkeypatch.setattr("aesara.compile.profiling.PRINTED_AT_EXIT", printed)
    monkeypatch.setattr("aesara.clock.IMPORTED_AT", clock.now() - 50.0)
    for mode in ("py", "llvm"):
        f, _ = diamond(clock, Mode(mode, None))
        printed.append(f.profile)
        f([1.0])
    printed[0].compile_time, printed[1].compile_time = 1.0, 2.0
    with config.change_flags(profiling__destination=str(tmp_path / "out")):
        print_global_stats()
    text = (tmp_path / "out").read_text()
    assert "since Aesara import = 65.000s, Time spent in 2 calls of compiled functions = 15.000s" in text
    assert "Time spent compiling Aesara functions =  3.000s" in text


def test_profiles_at_exit(monkeypatch, tmp_path):
    """Those of functions that were compiled or called, each once, and their sum; what was not used says nothing."""
    compiled = ProfileStats(atexit_print=False, message="compiled", compile_time=1.0)
    called = ProfileStats(atexit_print=False, message="called", fct_callcount=2)
    unused = ProfileStats(atexit_print=False, message="unused")
    for printed, sums in (([compiled, called, unused, called], 1), ([compiled, unused], 0), ([unused], None)):
        monkeypatch.setattr("aesara.compile.profiling.PRINTED_AT_EXIT", printed)
        file = tmp_path / str(len(printed))
        with config.change_flags(profiling__destination=str(file)):
            profiling._print_at_exit()
        if sums is None:
            assert not file.exists()
            continue
        text = file.read_text()
        shown = [text.count(f"Message: {one.message}") for one in (compiled, called, unused)]
        assert shown == [1, int(called in printed), 0] and text.count("Sum of all (2)") == sums


def test_memory_of_results():
    class Parts(Waits):
        """Two results, of 16 and 8 bytes for each number."""

        def make_node(self, x):
            x = at.as_tensor_variable(x)
            return Apply(self, [x], [x.type.clone(dtype="complex128")(), x.type()])

        def perform(self, node, inputs, output_storage):
            output_storage[0][0] = inputs[0].astype("complex128")
            output_storage[1][0] = inputs[0] + 1

    x = at.dvector("x")
    one, other = Parts(FakeClock(), 0.0)(at.exp(x))
    with config.change_flags(profile_memory=True, profiling__min_memory_size=1000):
        f = aesara.function([x], at.real(one) + other, mode=Mode("py", None), profile=quiet())
        f(np.ones(100))
        text = io.StringIO()
        f.profile.summary_memory(text)
        shortened = io.StringIO()
        f.profile.summary_memory(shortened, 1)
    lines = text.getvalue().splitlines()
    # The exponential and both parts at once; with the real part and the sum, which are kept, 4,800 bytes.
    assert lines[3] == "          2400B  Parts{seconds=0.0}(Elemwise{exp,no_inplace}.0)"
    assert lines[4:] == ["   ... (3 nodes with smaller results, or of less than 1000 bytes)", ""]
    assert "3.1KB at once" in lines[2] and "4.7KB if they are kept" in lines[2]
    assert "(3 nodes with smaller results" in shortened.getvalue()


def test_how_long_loading_a_stored_function_takes(monkeypatch):
    """By a clock that goes on by one at each look."""
    x = at.dvector("x")
    text = pickle.dumps(aesara.function([x], at.exp(x)))
    ticks = itertools.count()
    monkeypatch.setattr(aesara.clock, "now", lambda: float(next(ticks)))
    assert pickle.loads(text)._native.report.seconds == {"load": 1.0}
