"""Functions of graphs that were compiled before: results, graphs and errors are those of compiling; keys differ."""

import json
import os
import pickle
import random
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.compile.function import cache
from aesara.compile.mode import get_mode
from aesara.compile.ops import as_op
from aesara.configdefaults import config
from aesara.graph.digest import NoDigest, digest_of
from aesara.graph.rewriting.basic import in2out
from aesara.graph.rewriting.databases import canonicalize
from aesara.graph.rewriting.pattern import rule
from aesara.link.llvm.cache import function_cache
from aesara.tensor.random.utils import RandomStream
from tests.fuzz.programs import draw_program
from tests.ir.representative_graphs import GRAPHS


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A cache of its own for each test, in memory and on disk."""
    monkeypatch.setattr(cache, "_kept", type(cache._kept)())
    with config.change_flags(native_cache=True, function_cache=True, native_cache_dir=str(tmp_path)):
        yield tmp_path / "functions"


def forget():
    """Leave the process as a new one: what was compiled is on disk only."""
    cache._kept.clear()


def is_kept(function):
    """Return whether the function was compiled before."""
    return "_kept" in function.maker.__dict__ or function.maker.rewrite_seconds == 0


def bits(values):
    return [(v.dtype, v.shape, v.tobytes()) for v in map(np.asarray, values)]


def compiled(graph):
    return aesara.function(graph.inputs, graph.outputs, updates=graph.updates, on_unused_input="ignore")


def outcome(graph, function):
    found = []
    start = [s.get_value() for s in graph.shared]
    for arguments in graph.arguments:
        for variable, value in zip(graph.shared, start):
            variable.set_value(value.copy())
        found.append((bits(function(*arguments) or []), bits([s.get_value() for s in graph.shared])))
    return found


@pytest.mark.parametrize("name", GRAPHS)
def test_results_and_graphs_are_those_of_compiling(name, caplog):
    first, second = GRAPHS[name](), GRAPHS[name]()
    function = compiled(first)
    expected = outcome(first, function)
    forget()
    again = compiled(second)
    if function.maker._form is None or function.maker._form.n_callbacks or function.maker.not_cached:
        assert not is_kept(again)
        return
    assert is_kept(again) and again._native.report.cached
    assert outcome(second, again) == expected
    # Making the graph compares the code that it lowers to with the one that was loaded.
    assert aesara.dprint(again, file="str") == aesara.dprint(function, file="str")
    assert again.maker._form.symbols is not None and not caplog.records


def program_of(seed):
    """Return the function of a random program, and a function that calls it: results, states or the kind of error."""
    program = draw_program(random.Random(seed).randint, 12)
    variables, given = program.variables, [spec for spec in program.inputs if not spec.shared]
    shared = [variables[spec.name] for spec in program.inputs if spec.shared]
    f = aesara.function(
        [variables[spec.name] for spec in given],
        [variables[name] for name in program.outputs],
        updates=[(variables[old], variables[new]) for old, new in program.updates.items()],
        on_unused_input="ignore",
    )

    def call(number):
        try:
            with np.errstate(all="ignore"):
                found = bits(f(*[spec.values(number) for spec in given]))
        except Exception as error:
            found = type(error)
        return found, bits([variable.get_value() for variable in shared])

    return f, call


@pytest.mark.filterwarnings("ignore")
def test_random_programs(caplog):
    kept = 0
    for seed in range(40):
        first, call_first = program_of(seed)
        forget()
        second, call_second = program_of(seed)
        cached = first.maker.not_cached is None and first.maker._form is not None and not first.maker._form.n_callbacks
        assert is_kept(second) == cached
        kept += cached
        assert [call_first(number) for number in (0, 0, 2)] == [call_second(number) for number in (0, 0, 2)]
        assert aesara.dprint(first, file="str") == aesara.dprint(second, file="str")
    assert kept > 25 and not caplog.records


def test_names_and_order_play_no_part():
    a, b = at.dvectors("a", "b")
    f = aesara.function([a, b], [at.exp(a) * 2.25, at.sin(b)])
    p, q = at.dvectors("p", "q")
    sine = at.sin(q)
    g = aesara.function([p, q], [at.exp(p) * 2.25, sine])
    assert is_kept(g) and not is_kept(f)
    assert [v.name for v in g.maker.fgraph.inputs] == ["p", "q"]
    np.testing.assert_array_equal(g([0.0], [0.5])[1], np.sin([0.5]))


def test_errors_name_the_lines_and_names_of_the_program_at_hand():
    def make(name):
        v, w = at.dvector(name), at.dvector("w")
        return aesara.function([v, w], at.exp(v) + w)  # the line that errors name

    make("first")
    forget()
    second = make("second")
    assert is_kept(second)
    with pytest.raises(ValueError, match="mismatch") as caught:
        second(np.ones(2), np.ones(3))
    assert "# the line that errors name" in str(caught.value) and "second" in str(caught.value)


def test_errors_are_those_of_the_options_of_then(caplog):
    def make():
        v, w = at.dvector("v"), at.dvector("w")
        return aesara.function([v, w], at.cast(v, config.floatX) + w)

    with config.change_flags(floatX="float32", optimizer_excluding="fusion"):
        make()
        second = make()
    assert is_kept(second)
    with pytest.raises(ValueError, match="mismatch"):
        second(np.ones(2), np.ones(3))
    assert not caplog.records


def test_errors_of_a_graph_that_is_rewritten_in_another_way(caplog):
    def make():
        v, w = at.dvector("v"), at.dvector("w")
        return aesara.function([v, w], at.tan(v) * 1.5 + w)

    make()
    second = make()
    canonicalize.register("tan_as_quotient", rule("tan_as_quotient", (at.tan, "a"), lambda a: at.sin(a) / at.cos(a)))
    canonicalize.add_tags("tan_as_quotient", "fast_run")
    try:
        assert is_kept(second)
        with pytest.raises(ValueError, match="check of the function has failed"):
            second(np.ones(2), np.ones(3))
        assert "has changed" in caplog.text
    finally:
        canonicalize.remove_tags("tan_as_quotient", "fast_run", "canonicalize")
        canonicalize.foreign_modules.clear()


def test_another_process_loads_what_was_compiled(folder):
    program = textwrap.dedent("""
        import json, numpy as np, aesara, aesara.tensor as at
        x, w = at.dmatrix("x"), aesara.shared(np.ones(3), "w")
        steps, _ = aesara.scan(lambda row, s: at.tanh(row @ w + s), sequences=[x], outputs_info=[at.zeros(())])
        cost = (steps**2).sum()
        f = aesara.function([x], cost, updates=[(w, w - 0.1 * aesara.grad(cost, w))])
        print(json.dumps([f.maker.rewrite_seconds == 0, float(f(np.eye(3))), w.get_value().tolist()]))
    """)

    def run():
        flags = f"native_cache_dir={folder.parent}"
        done = subprocess.run(
            [sys.executable, "-c", program],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "AESARA_FLAGS": flags},
        )
        return json.loads(done.stdout)

    first, second = run(), run()
    assert (first[0], second[0]) == (False, True) and first[1:] == second[1:]


x, m = at.dvector("x"), at.dmatrix("m")
s = aesara.shared(np.zeros(3), name="s")
DIFFERENT = {
    "dtype": lambda: aesara.function([v := at.fvector()], v * 2),
    "static shape": lambda: aesara.function([v := at.TensorType("float64", (3,))()], v * 2),
    "plain": lambda: aesara.function([x], x * 2),
    "constant": lambda: aesara.function([x], x * 3),
    "sign of zero": lambda: aesara.function([x], x * -0.0 + x),
    "zero": lambda: aesara.function([x], x * 0.0 + x),
    "axis": lambda: aesara.function([m], m.sum(0)),
    "other axis": lambda: aesara.function([m], m.sum(1)),
    "no axis": lambda: aesara.function([m], m.sum()),
    "one of a list": lambda: aesara.function([x], [x * 2]),
    "no result": lambda: aesara.function([x], None, updates=[(s, s + x)]),
    "update": lambda: aesara.function([x], x * 2, updates=[(s, x)]),
    "other update": lambda: aesara.function([x], x * 2, updates=[(s, s + x)]),
    "mutable": lambda: aesara.function([aesara.In(x, mutable=True)], x * 2),
    "lent": lambda: aesara.function([x], aesara.Out(x * 2, borrow=True)),
    "mode": lambda: aesara.function([x], x * 2, mode=get_mode("FAST_RUN").excluding("fusion")),
    "loop": lambda: aesara.function([x], aesara.scan(lambda e: e * 2, sequences=[x])[0]),
    "other loop": lambda: aesara.function([x], aesara.scan(lambda e: e + 2, sequences=[x])[0]),
    "truncated loop": lambda: aesara.function([x], aesara.scan(lambda e: e + 2, sequences=[x], truncate_gradient=2)[0]),
    "slice": lambda: aesara.function([x], x[1:]),
    "other slice": lambda: aesara.function([x], x[2:]),
    "set": lambda: aesara.function([x], at.set_subtensor(x[1:], 0.0)),
    "increment": lambda: aesara.function([x], at.inc_subtensor(x[1:], 0.0)),
    "two outputs": lambda: aesara.function([x], [x * 2, x * 2]),
    "order of outputs": lambda: aesara.function([x], [x * 2, x * 3]),
    "other order": lambda: aesara.function([x], [x * 3, x * 2]),
}


def test_what_differs_is_compiled():
    functions = {name: make() for name, make in DIFFERENT.items()}
    assert [name for name, f in functions.items() if is_kept(f)] == []
    assert len({f.maker._key for f in functions.values()} - {None}) == len(functions)
    assert all(is_kept(make()) for make in DIFFERENT.values())


@pytest.mark.parametrize("option, value", [("floatX", "float32"), ("cast_policy", "numpy+floatX")])
def test_options_count(option, value):
    aesara.function([x], x * 2)
    with config.change_flags({option: value}):
        assert not is_kept(aesara.function([x], x * 2))


class Twice(aesara.graph.op.Op):
    __props__ = ()

    def make_node(self, x):
        return aesara.graph.basic.Apply(self, [x], [x.type()])

    def perform(self, node, inputs, outputs):
        outputs[0][0] = inputs[0] * 2


NOT_CACHED = {
    "Twice is not a class of aesara": lambda: aesara.function([x], Twice()(x)),
    "rewrites were added to the mode": lambda: aesara.function(
        [x], x * 2, mode=get_mode("FAST_RUN").register((in2out(rule("sine", (at.sin, "a"), (at.sin, "a"))), 1.5))
    ),
    "is not one of rewrites and native code": lambda: aesara.function([x], x * 2, mode="FAST_COMPILE"),
    "the function is profiled": lambda: aesara.function([x], x * 2, profile=True),
    "FromFunctionOp": lambda: aesara.function([x], as_op([at.dvector], [at.dvector])(lambda a: a)(x)),
}


@pytest.mark.parametrize("reason", NOT_CACHED)
def test_reason_why_a_function_is_not_cached(reason, capsys):
    function = NOT_CACHED[reason]()
    assert reason in function.maker.not_cached
    explanation = aesara.explain(function)
    assert explanation.fallback is not None or explanation.not_cached == function.maker.not_cached in str(explanation)
    assert not is_kept(NOT_CACHED[reason]())


def test_classes_of_programs_without_a_module_are_no_builtins():
    text = """
class Scale(Op):
    __props__ = ()

    def make_node(self, x):
        return Apply(self, [x], [x.type()])

    def perform(self, node, inputs, outputs):
        outputs[0][0] = inputs[0] * FACTOR
"""
    found = []
    for factor in (2, 3):
        names = {"Op": aesara.graph.op.Op, "Apply": aesara.graph.basic.Apply, "FACTOR": factor}
        exec(text, names)
        function = aesara.function([x], names["Scale"]()(x))
        assert "Scale is not a class of aesara" in function.maker.not_cached
        found.append(float(function([1.0])[0]))
    assert found == [2.0, 3.0]


def test_rules_of_others_switch_it_off():
    aesara.function([x], x * 2)
    canonicalize.register("rule_of_a_test", rule("rule_of_a_test", (at.sin, (at.sin, "a")), "a"))
    try:
        assert "has registered rewrites" in aesara.function([x], x * 2).maker.not_cached
    finally:
        canonicalize.remove_tags("rule_of_a_test", "canonicalize")
        canonicalize.foreign_modules.clear()


def test_damage_is_noticed(folder):
    aesara.function([x], at.cos(x) * 2)
    (entry,) = folder.iterdir()
    content = entry.read_bytes()
    for damaged in (content[:-5], content[:80] + b"?" + content[81:], b""):
        entry.write_bytes(damaged)
        forget()
        f = aesara.function([x], at.cos(x) * 2)
        assert not is_kept(f)
        np.testing.assert_array_equal(f([0.5]), np.cos([0.5]) * 2)
    function_cache().store(f.maker._key, pickle.dumps("another thing"))
    forget()
    assert not is_kept(aesara.function([x], at.cos(x) * 2))


def test_generators_that_compiled_code_cannot_draw_from():
    def make(generator):
        stream = aesara.shared(np.random.Generator(generator))
        return aesara.function([], at.random.normal(size=(2,), rng=stream))

    make(np.random.PCG64(1))
    assert is_kept(make(np.random.PCG64(2)))
    np.testing.assert_array_equal(make(np.random.PCG64(3))(), np.random.Generator(np.random.PCG64(3)).normal(size=2))
    other = make(np.random.MT19937(3))
    np.testing.assert_array_equal(other(), np.random.Generator(np.random.MT19937(3)).normal(size=2))


def test_streams_draw_their_own_numbers():
    def draws(seed):
        stream = RandomStream(seed)
        f = aesara.function([], stream.normal(size=(3,)))
        return np.concatenate([f(), f()]), is_kept(f)

    (first, was_kept), (again, is_again), (other, is_other) = draws(1), draws(1), draws(2)
    assert (was_kept, is_again, is_other) == (False, True, True)
    np.testing.assert_array_equal(first, again)
    assert not np.any(first == other)


def test_pickles_copies_and_shared_values():
    def make():
        total = aesara.shared(np.zeros(2), name="total")
        return total, aesara.function([x], total * 1.5, updates=[(total, total + x)])

    make()
    total, f = make()
    assert is_kept(f)
    loaded, copied = pickle.loads(pickle.dumps(f)), f.copy(share_memory=True)
    f([1.0, 2.0])
    np.testing.assert_array_equal(total.get_value(), [1.0, 2.0])
    np.testing.assert_array_equal(copied([0.0, 0.0]), [1.5, 3.0])
    np.testing.assert_array_equal(loaded([4.0, 4.0]), [0.0, 0.0])
    np.testing.assert_array_equal(loaded([0.0, 0.0]), [6.0, 6.0])


def test_threads_may_compile_one_graph():
    def make(_):
        v = at.dvector()
        f = aesara.function([v], at.tanh(v) * 1.75)
        return f(np.ones(3)).tolist(), len(f.maker.fgraph.apply_nodes)

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(make, range(40)))
    assert found == [found[0]] * 40


def test_threads_may_fail_together():
    """The first error makes the graph; the others wait until it is there."""

    def make():
        v, w = at.dvector("v"), at.dvector("w")
        return aesara.function([v, w], at.log(at.exp(v * 1.125) + 1) + w)  # the line of the error

    def fail(_):
        with pytest.raises(ValueError, match="the line of the error"):
            second(np.ones(2), np.ones(3))
        return True

    make()
    second = make()
    assert is_kept(second)
    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(fail, range(16)))


def test_memory_is_bounded(monkeypatch):
    monkeypatch.setattr(cache, "_MOST_FUNCTIONS", 3)
    for factor in range(2, 8):
        aesara.function([x], x * float(factor))
    assert len(cache._kept) == 3


def test_large_constants_are_not_copied_to_disk(folder, monkeypatch):
    monkeypatch.setattr(cache, "_LARGEST", 1000)
    f = aesara.function([x], x + at.constant(np.arange(500.0)))
    assert not folder.exists() and not cache._kept
    np.testing.assert_array_equal(f(np.zeros(500)), np.arange(500.0))


def test_constants_that_somebody_changes():
    def make(values):
        c = at.constant(values)
        return c, aesara.function([x], x + c)

    c, _ = make(np.ones(500))
    c.data[:] = 2
    again = make(np.ones(500))[1]
    assert is_kept(again)
    np.testing.assert_array_equal(again(np.zeros(500)), np.ones(500))


def test_digests_of_values():
    a = at.dvector("a")
    values = [0.0, -0.0, np.nan, 1, True, "1", (1,), [1], None, np.float32(1), np.int8(1), {"a": 1}, frozenset([1]), 1j]
    assert len({digest_of([a], [a], value) for value in values}) == len(values)
    with pytest.raises(NoDigest, match="Python objects"):
        digest_of([a], [a], np.array([None]))
    with pytest.raises(NoDigest):
        digest_of([a], [a], lambda: None)
