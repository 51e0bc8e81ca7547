"""Operations that write over inputs nobody reads any more: where they may, and that values stay the same."""

import contextlib
import io
import pickle
import sys
from pathlib import Path

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara import scalar as aes
from aesara.compile import In, Mode
from aesara.compile.function.types import Supervisor
from aesara.compile.mode import get_mode, optdb
from aesara.graph.basic import Constant
from aesara.graph.destroyhandler import DestroyHandler
from aesara.graph.features import NoOutputFromInplace, ReplaceValidate
from aesara.graph.fg import FunctionGraph
from aesara.ifelse import ifelse
from aesara.tensor.elemwise import Elemwise
from aesara.tensor.rewriting.elemwise import InplaceElemwiseOptimizer, inplace_elemwise_optimizer
from aesara.tensor.rewriting.inplace import (
    InplaceWriter,
    local_inplace_AdvancedIncSubtensor,
    local_inplace_AdvancedIncSubtensor1,
    local_inplace_setsubtensor,
)
from aesara.tensor.subtensor import AdvancedIncSubtensor, advanced_set_subtensor1

sys.path.insert(0, str(Path(__file__).parents[2]))
from counting import calls_in

from tests.closeness import assert_close

VM = Mode("py", "fast_run")
PASSES = [
    InplaceWriter(local_inplace_setsubtensor),
    InplaceWriter(local_inplace_AdvancedIncSubtensor1),
    InplaceWriter(local_inplace_AdvancedIncSubtensor),
    inplace_elemwise_optimizer,
]


@pytest.fixture
def x():
    return at.dvector("x")


@pytest.fixture
def y():
    return at.dvector("y")


def rewritten(inputs, outputs, protect=True, features=()):
    """The graph with everything in place that may be; its inputs may not be overwritten if `protect`."""
    fgraph = FunctionGraph(inputs, outputs, features=list(features), clone=True)
    if protect:
        fgraph.attach_feature(Supervisor(fgraph.inputs))
    for rewriter in PASSES:
        rewriter.rewrite(fgraph)
    fgraph.validate()
    return fgraph


def patterns(fgraph):
    """Return the destroy maps of nodes that are not views, in order."""
    return [dict(node.op.destroy_map) for node in fgraph.toposort() if not node.op.view_map]


def destructive(f):
    return [node for node in f.maker.fgraph.toposort() if node.op.destroy_map]


class TestElemwise:
    def test_temporaries_are_overwritten_and_inputs_are_not(self, x, y):
        fgraph = rewritten([x, y], [at.exp(x) * y])
        assert patterns(fgraph) == [{}, {0: [0]}]
        assert str(fgraph.outputs[0].owner.op) == "Elemwise{Mul}[(0, 0)]"

    def test_inputs_that_nobody_protects(self, x, y):
        assert patterns(rewritten([x, y], [x + y], protect=False)) == [{0: [0]}]

    def test_only_the_last_reader_overwrites(self, x):
        t = at.exp(x)
        fgraph = rewritten([x], [at.sin(t) + at.cos(t)])
        assert patterns(fgraph) == [{}, {}, {0: [0]}, {0: [0]}]

    def test_what_only_reads_runs_before_what_overwrites(self, x):
        t = at.exp(x)
        for outputs in ([at.sin(t), t.sum()], [t.sum(), at.sin(t)], [at.sin(t), at.cumsum(t)[-1], t.max()]):
            fgraph = rewritten([x], outputs)
            (writer,) = (node for node in fgraph.apply_nodes if node.op.destroy_map)
            assert writer.op.scalar_op == aes.sin
            f = aesara.function([x], outputs, mode=VM)
            assert [node.op.destroy_map for node in f.maker.fgraph.apply_nodes].count({0: [0]}) == 1
            for found, expected in zip(f([0.5, -1.0]), aesara.function([x], outputs, mode="FAST_COMPILE")([0.5, -1.0])):
                assert_close(found, expected)

    def test_what_reads_the_result_of_a_writer_cannot_run_before_it(self, x):
        t = at.exp(x)
        assert patterns(rewritten([x], [at.sin(t).sum() * t.sum()]))[1] == {}
        s = at.sin(t)
        assert patterns(rewritten([x], [(s.sum() + t).sum()])) == [{}, {}, {}, {0: [1]}, {}]

    def test_results_take_the_memory_rather_than_temporaries(self, x):
        t = at.exp(x)
        for outputs in ([at.sin(t), at.cos(2 * t)], [at.cos(2 * t), at.sin(t)]):
            fgraph = rewritten([x], outputs)
            assert all(out.owner.op.destroy_map == {0: [0]} for out in fgraph.outputs)
            fgraph = rewritten([x], outputs, features=[NoOutputFromInplace([1])])
            assert [bool(out.owner.op.destroy_map) for out in fgraph.outputs] == [True, False]

    def test_outputs_are_kept(self, x):
        t = at.exp(x)
        assert patterns(rewritten([x], [t, at.sin(t)])) == [{}, {}]
        assert patterns(rewritten([x], [t[1:], at.sin(t)])) == [{}, {}]

    def test_constants_are_kept(self, x):
        constant = at.constant(np.arange(3.0))
        assert patterns(rewritten([], [constant + constant * 2])) == [{}, {0: [1]}]

    def test_views_that_are_read_later(self, x):
        t = at.exp(at.outer(x, x))
        late = at.sin(at.cos(t.sum(axis=0))).sum() + t.T[0].sum()
        fgraph = rewritten([x], [at.tanh(t).sum(), late])
        f_order = fgraph.toposort()
        for node in f_order:
            for (position,) in node.op.destroy_map.values():
                readers = [c for c, _ in fgraph.clients[node.inputs[position]] if c is not node]
                assert all(f_order.index(reader) < f_order.index(node) for reader in readers)

    def test_a_view_may_be_overwritten(self, x):
        assert patterns(rewritten([x], [at.sin(at.exp(x)[1:])])) == [{}, {0: [0]}]

    def test_operands_that_share_memory(self, x):
        t = at.exp(x)
        assert patterns(rewritten([x], [t[1:] + t[:-1]])) == [{}, {}]
        assert patterns(rewritten([x], [t * t])) == [{}, {}]

    def test_dtype_and_shape_must_fit(self, x, y):
        assert patterns(rewritten([x], [at.gt(at.exp(x), 0)]))[-1] == {}
        row, matrix = at.drow(), at.dmatrix()
        assert patterns(rewritten([row, matrix], [at.exp(row) + matrix])) == [{}, {}]
        assert patterns(rewritten([row, matrix], [at.exp(row) + at.exp(matrix)])) == [{}, {}, {0: [1]}]

    def test_several_outputs(self):
        a, b = aes.float64("a"), aes.float64("b")
        op = Elemwise(aes.Composite([a, b], [a + b, a]))
        x, y = at.dvectors("x", "y")
        fgraph = rewritten([x, y], op(at.exp(x), at.exp(y), return_list=True))
        assert fgraph.outputs[0].owner.op.inplace_pattern == {0: 0, 1: 1}
        f = aesara.function([x, y], op(at.exp(x), at.exp(y), return_list=True), mode=VM)
        assert f.maker.fgraph.outputs[0].owner.op.inplace_pattern == {0: 0, 1: 1}
        sums, same = f([0.0], [1.0])
        assert_close([sums[0], same[0]], [1 + np.e, 1])

    def test_other_classes_of_operations(self, x):
        class Special(Elemwise):
            pass

        fgraph = FunctionGraph([x], [at.exp(Special(aes.sin)(at.cos(x)))], clone=True)
        rewriter = InplaceElemwiseOptimizer(Special)
        assert rewriter.rewrite(fgraph) == 1
        (node,) = [node for node in fgraph.apply_nodes if node.op.destroy_map]
        assert type(node.op) is Special and node.op.inplace_pattern == {0: 0}

    def test_print_summary_names_the_op(self):
        text = io.StringIO()
        inplace_elemwise_optimizer.print_summary(text)
        assert text.getvalue() == "InplaceElemwiseOptimizer (Elemwise)\n"
        redirected = io.StringIO()
        with contextlib.redirect_stdout(redirected):
            inplace_elemwise_optimizer.print_summary()
        assert redirected.getvalue() == text.getvalue()


class TestWriters:
    def test_parts_by_slices(self, x):
        fgraph = rewritten([x], [at.set_subtensor(at.exp(x)[1:3], 0.0)])
        assert str(fgraph.outputs[0].owner.op) == "IncSubtensor{InplaceSet;int64:int64:}"
        assert patterns(rewritten([x], [at.inc_subtensor(x[1:3], 0.0)])) == [{}]

    def test_parts_by_positions(self, x):
        i = at.lvector("i")
        b = at.vector("b", dtype="bool")
        for part in (at.exp(x)[i], at.exp(x)[b]):
            for write in (at.set_subtensor, at.inc_subtensor):
                fgraph = rewritten([x, i, b], [write(part, 1.0)])
                writer = fgraph.outputs[0].owner.op
                assert writer.inplace and writer.set_instead_of_inc == (write is at.set_subtensor)
        kept = AdvancedIncSubtensor(ignore_duplicates=True)(at.exp(x), 1.0, i)
        assert rewritten([x, i], [kept]).outputs[0].owner.op.ignore_duplicates

    def test_a_value_from_the_same_memory(self, x):
        t = at.exp(x)
        fgraph = rewritten([x], [at.set_subtensor(t[:2], t[2:4])])
        assert not fgraph.outputs[0].owner.op.inplace

    def test_node_rewriters_refuse_what_is_in_place(self, x):
        i = at.lvector("i")
        for rule, expression in (
            (local_inplace_setsubtensor, at.set_subtensor(x[1:], 0.0)),
            (local_inplace_AdvancedIncSubtensor1, advanced_set_subtensor1(x, 0.0, i)),
            (local_inplace_AdvancedIncSubtensor, at.set_subtensor(at.outer(x, x)[i, i], 0.0)),
        ):
            (once,) = rule.transform(None, expression.owner)
            assert once.owner.op.destroy_map == {0: [0]}
            assert rule.transform(None, once.owner) is False


class TestFunctions:
    def test_passes_are_registered_with_positions_and_tags(self):
        for name, position, tags in (
            ("inplace_elemwise_opt", 75, ("fast_run", "inplace", "inplace_opt", "inplace_elemwise_optimizer")),
            ("local_inplace_setsubtensor", 60, ("fast_run", "inplace")),
            ("local_inplace_AdvancedIncSubtensor1", 60, ("fast_run", "inplace")),
            ("local_inplace_AdvancedIncSubtensor", 60, ("fast_run", "inplace")),
        ):
            assert optdb.__position__[name] == position
            assert all(optdb[name] in optdb.__db__[tag] for tag in tags)

    @pytest.mark.parametrize("tag", ["inplace", "inplace_elemwise_optimizer", "inplace_opt"])
    def test_tags_switch_in_place_off(self, x, tag):
        assert not destructive(aesara.function([x], at.exp(x) + 1, mode=VM.excluding(tag)))
        assert destructive(aesara.function([x], at.exp(x) + 1, mode=VM))

    @pytest.mark.parametrize("mode", ["FAST_RUN", VM], ids=["native", "vm"])
    def test_arguments_stay_as_they_are(self, x, mode):
        f = aesara.function([x], [at.exp(x) + 1, at.set_subtensor(x[0], 5.0)], mode=mode)
        value = np.zeros(2)
        results = f(value)
        np.testing.assert_array_equal(value, [0, 0])
        np.testing.assert_array_equal(results[0], [2, 2])
        np.testing.assert_array_equal(results[1], [5, 0])

    def test_mutable_arguments(self, x):
        f = aesara.function([In(x, mutable=True)], x * 2, mode=VM)
        assert destructive(f)
        value = np.ones(2)
        np.testing.assert_array_equal(f(value), [2, 2])
        np.testing.assert_array_equal(value, [2, 2])

    def test_arguments_that_cannot_be_written_to(self, x):
        value = np.ones(3)
        value.flags.writeable = False
        for expression, expected in ((x * 2, [2, 2, 2]), (at.set_subtensor(x[0], 7.0), [7, 1, 1])):
            f = aesara.function([In(x, mutable=True)], expression, mode=VM)
            assert destructive(f)
            np.testing.assert_array_equal(f(value), expected)
        np.testing.assert_array_equal(value, [1, 1, 1])

    def test_default_values_serve_every_call(self, x):
        f = aesara.function([In(x, value=np.ones(2), mutable=True)], x * 2, mode=VM)
        for _ in range(2):
            np.testing.assert_array_equal(f(), [2, 2])

    @pytest.mark.parametrize("mode", ["FAST_RUN", VM], ids=["native", "vm"])
    def test_shared_variables(self, mode):
        s = aesara.shared(np.arange(3.0), "s")
        kept = aesara.shared(np.arange(3.0), "kept")
        f = aesara.function([], [s.sum(), kept * 2], updates={s: kept + s * 2}, mode=mode)
        (product,) = f.maker.fgraph.outputs[2].owner.inputs[1:]
        assert product.owner.op.scalar_op == aes.mul and not product.owner.op.destroy_map
        for expected in ([0, 3, 6], [0, 7, 14]):
            f()
            np.testing.assert_array_equal(s.get_value(), expected)
        np.testing.assert_array_equal(kept.get_value(), [0, 1, 2])

    @pytest.mark.parametrize("mode", ["FAST_RUN", VM], ids=["native", "vm"])
    def test_states_survive_calls_that_fail(self, mode, x):
        s, t = aesara.shared(np.arange(3.0), "s"), aesara.shared(np.ones(3), "t")
        f = aesara.function([x], [], updates={s: (s * 2 + 1) * 3, t: t + x}, mode=mode)
        with pytest.raises(ValueError):
            f(np.ones(4))
        np.testing.assert_array_equal(s.get_value(), [0, 1, 2])
        np.testing.assert_array_equal(t.get_value(), [1, 1, 1])
        f(np.ones(3))
        np.testing.assert_array_equal(s.get_value(), [3, 9, 15])
        np.testing.assert_array_equal(t.get_value(), [2, 2, 2])

    def test_copies_without_updates(self):
        s = aesara.shared(np.ones(3), "s")
        f = aesara.function([], s.sum(), updates={s: at.set_subtensor(s[1:], 0.0) + 1}, mode=VM)
        g = f.copy(delete_updates=True)
        h = aesara.function([], [s * 2, s + 1], updates={s: s * 3}, mode=VM).copy(delete_updates=True)
        for _ in range(2):
            assert g() == 3
            np.testing.assert_array_equal(h(), [[2, 2, 2], [2, 2, 2]])
        np.testing.assert_array_equal(s.get_value(), [1, 1, 1])

    def test_copied_and_pickled_functions_keep_the_order(self, x):
        t = at.exp(x)
        expressions = [at.sin(t) + at.cos(t) + t.sum(), at.tanh(t) * t]
        f = aesara.function([x], expressions, mode=VM)
        assert destructive(f)
        value = np.linspace(-1, 1, 5)
        e = np.exp(value)
        for g in (f, f.copy(), pickle.loads(pickle.dumps(f))):
            first, second = g(value)
            np.testing.assert_allclose(first, np.sin(e) + np.cos(e) + e.sum(), rtol=1e-14)
            np.testing.assert_allclose(second, np.tanh(e) * e, rtol=1e-14)

    @pytest.mark.parametrize("taken", [0, 1])
    def test_lazy_graphs(self, x, taken):
        t = at.exp(x)
        c = at.lscalar("c")
        late = at.sin(t)
        out = ifelse(c, at.cos(t) + late, late * t)
        f = aesara.function([x, c], [out, at.tanh(late)], mode=VM)
        value = np.linspace(-1, 1, 5)
        e = np.exp(value)
        expected = np.cos(e) + np.sin(e) if taken else np.sin(e) * e
        result, other = f(value, taken)
        np.testing.assert_allclose(result, expected, rtol=1e-14)
        np.testing.assert_allclose(other, np.tanh(np.sin(e)), rtol=1e-14)

    def test_machines_with_an_order_of_their_own(self, x):
        t = at.exp(x)
        mode = Mode(aesara.link.vm.VMLinker(callback_input=lambda *_: None), "fast_run")
        f = aesara.function([x], [at.sin(t), at.cos(t), t.sum(), t * 2], mode=mode)
        assert destructive(f)
        value = np.linspace(-1, 1, 5)
        e = np.exp(value)
        for got, expected in zip(f(value), (np.sin(e), np.cos(e), e.sum(), 2 * e)):
            np.testing.assert_allclose(got, expected, rtol=1e-14)


class TestOtherFeatures:
    def test_a_feature_that_refuses(self, x):
        t = at.exp(x)
        fgraph = rewritten([x], [at.sin(t) + 1, at.cos(at.tan(x))], features=[NoOutputFromInplace([1])])
        assert fgraph.outputs[0].owner.op.destroy_map and not fgraph.outputs[1].owner.op.destroy_map
        assert [bool(node.op.destroy_map) for node in fgraph.toposort()].count(True) == 2

    def test_operations_that_are_in_place_already(self, x):
        t = at.exp(x)
        written = Elemwise(aes.sin, {0: 0})(t)
        fgraph = rewritten([x], [written + 1, at.cos(at.tan(t))])
        fgraph.validate()
        (late,) = [node for node in fgraph.apply_nodes if node.op == at.tan]
        assert late in fgraph.destroy_handler.orderings(fgraph)[fgraph.destroyers(late.inputs[0])[0]]

    def test_cycle_detection_fast(self, x):
        with aesara.config.change_flags(cycle_detection="fast"):
            t = at.exp(x)
            fgraph = rewritten([x], [at.sin(t) + at.cos(t), at.tan(at.exp(x + 1)[1:])])
            for node in fgraph.apply_nodes:
                for (position,) in node.op.destroy_map.values():
                    assert len(fgraph.clients[node.inputs[position]]) == 1


def random_graph(rng, n_nodes, n_outputs=4):
    """Inputs and outputs of a graph with views, in-place candidates of several dtypes and shapes, and writers."""
    inputs = [at.dvector("a"), at.dvector("b"), at.dmatrix("c"), at.drow("r"), at.lvector("k"), at.dscalar("s")]
    row = inputs[3]
    pool = [v for v in inputs if v is not row]
    positions = at.constant(np.array([0, 2, 2]))

    def pick(*ndim, dtype="float64"):
        fitting = [v for v in pool if v.type.ndim in ndim and v.type.dtype == dtype]
        return fitting[rng.integers(max(0, len(fitting) - 8), len(fitting))]

    steps = [
        lambda: pick(0, 1, 2) + pick(0),
        lambda: pick(1) * pick(1),
        lambda: pick(2) - pick(1, 2),
        lambda: at.tanh(pick(0, 1, 2)),
        lambda: pick(1, dtype="int64") + 1,
        lambda: at.switch(at.gt(pick(1), 0), pick(1), pick(1)),
        lambda: pick(2).T,
        lambda: pick(1)[::-1],
        lambda: at.cast(pick(1), "float32").astype("float64"),
        lambda: at.concatenate([pick(1)[:2], pick(1)[2:]]),
        lambda: at.exp(row) * pick(2) + at.tanh(row),
        lambda: pick(2) * at.exp(pick(1)).dimshuffle("x", 0),
        lambda: pick(2)[0],
        lambda: pick(1, 2).sum(),
        lambda: at.set_subtensor(pick(1)[1:3], pick(0)),
        lambda: at.inc_subtensor(pick(1)[:2], pick(1)[1:3]),
        lambda: at.inc_subtensor(pick(1)[positions], pick(0)),
        lambda: at.inc_subtensor(pick(2)[0], pick(1)),
        lambda: at.set_subtensor(pick(2)[positions, positions], 1.0),
        lambda: pick(2).reshape((9,)).reshape((3, 3)),
    ]
    while len(pool) < n_nodes:
        pool.append(steps[rng.integers(len(steps))]())
    return inputs, [pool[rng.integers(5, len(pool))] for _ in range(rng.integers(1, n_outputs + 1))]


@pytest.mark.slow
def test_random_graphs_are_accepted():
    """The destroy handler finds nothing wrong: no replacement had to be left out."""
    refused = []

    class Watched(InplaceElemwiseOptimizer):
        def _replace(self, fgraph, chosen):
            done = super()._replace(fgraph, chosen)
            refused.extend([fgraph] * (done != len(chosen)))
            return done

    rng = np.random.default_rng(1)
    written = 0
    for _ in range(1_000):
        inputs, outputs = random_graph(rng, int(rng.integers(10, 40)))
        fgraph = FunctionGraph(inputs, outputs, clone=True)
        fgraph.attach_feature(Supervisor(fgraph.inputs[: rng.integers(7)]))
        for rewriter in (*PASSES[:3], Watched(Elemwise)):
            written += rewriter.rewrite(fgraph)
        fgraph.toposort()
        fresh = FunctionGraph(fgraph.inputs, fgraph.outputs, clone=False, features=[ReplaceValidate()])
        fresh.attach_feature(DestroyHandler())
        fresh.validate()
        for node in fgraph.apply_nodes:
            for (position,) in node.op.destroy_map.values():
                assert not isinstance(node.inputs[position], Constant)
    assert not refused and written > 2_000


def test_values_of_random_graphs():
    """In place, out of place and native: the same numbers, and arguments that do not change."""
    rng = np.random.default_rng(2)
    without = Mode("py", None)
    in_place = Mode("py", None).clone(optimizer=optdb.query("+inplace"))
    values = [
        rng.normal(size=3),
        rng.normal(size=3),
        rng.normal(size=(3, 3)),
        rng.normal(size=(1, 3)),
        np.arange(3),
        0.5,
    ]
    for _ in range(150):
        inputs, outputs = random_graph(rng, int(rng.integers(10, 40)))
        expected = aesara.function(inputs, outputs, mode=without, on_unused_input="ignore")(*values)
        before = [np.copy(v) for v in values]
        f = aesara.function(inputs, outputs, mode=in_place, on_unused_input="ignore")
        for _ in range(2):
            for got, want in zip(f(*values), expected, strict=True):
                np.testing.assert_array_equal(got, want)
        for value, old in zip(values, before):
            np.testing.assert_array_equal(value, old)


def test_native_code_takes_every_form_in_place():
    rng = np.random.default_rng(3)
    values = [
        rng.normal(size=3),
        rng.normal(size=3),
        rng.normal(size=(3, 3)),
        rng.normal(size=(1, 3)),
        np.arange(3),
        0.5,
    ]
    inputs, outputs = random_graph(rng, 100, 40)
    modes = [Mode("llvm", "fast_run"), Mode("llvm", "fast_run").excluding("inplace")]
    functions = [aesara.function(inputs, outputs, mode=m, on_unused_input="ignore") for m in modes]
    assert destructive(functions[0]) and not destructive(functions[1])
    assert all(f._declined is None for f in functions)
    for got, want in zip(functions[0](*values), functions[1](*values), strict=True):
        np.testing.assert_array_equal(got, want)


@pytest.mark.slow
def test_large_graphs_take_little_time():
    """The handler, the decisions and one validation: linear."""

    def calls(length):
        x = at.dvector("x")
        value = x
        for _ in range(length):
            value = at.tanh(value * 0.5) + at.set_subtensor(value[1:3], 0.0)[::-1]
        fgraph = FunctionGraph([x], [value], clone=True)
        fgraph.attach_feature(Supervisor(fgraph.inputs))
        fgraph.attach_feature(ReplaceValidate())
        assert len(fgraph.apply_nodes) > 4 * length

        def validate():
            fgraph.attach_feature(DestroyHandler())
            fgraph.validate()

        def decide():
            for rewriter in PASSES:
                rewriter.rewrite(fgraph)

        found = calls_in(validate), calls_in(decide)
        assert sum(bool(node.op.destroy_map) for node in fgraph.apply_nodes) > 2 * length
        return found

    for few, many in zip(calls(300), calls(1_200), strict=True):
        assert many < 4.2 * few


def test_memory_is_watched_from_the_first_overwriting_form_on():
    x = at.dvector("x")
    fgraph = FunctionGraph([x], [at.exp(x) * 2 + at.sin(x)])
    passes = get_mode("FAST_RUN").optimizer
    passes.add_requirements(fgraph)
    assert not any(isinstance(feature, DestroyHandler) for feature in fgraph._features)
    passes.rewrite(fgraph)
    assert any(isinstance(feature, DestroyHandler) for feature in fgraph._features)
    assert any(node.op.destroy_map for node in fgraph.apply_nodes)
