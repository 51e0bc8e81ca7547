"""The reference virtual machine, the linkers around it, and error reports."""

import gc
import weakref

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.compile import Mode
from aesara.configdefaults import config
from aesara.graph.basic import Apply
from aesara.graph.fg import FunctionGraph
from aesara.graph.op import Op
from aesara.link.basic import Container, JITLinker, PerformLinker, WrapLinker, WrapLinkerMany
from aesara.link.utils import (
    clear_after_each,
    error_report,
    gc_helper,
    map_storage,
    raise_with_op,
    streamline,
)
from aesara.link.vm import Loop, Stack, VMLinker, calculate_reallocate_info
from tests.closeness import assert_close


@pytest.fixture
def x():
    return at.dvector("x")


@pytest.fixture
def y():
    return at.dvector("y")


class Choose(Op):
    """Lazy: the second input if the first is positive, otherwise the third."""

    __props__ = ()

    def make_node(self, condition, a, b):
        return Apply(self, [condition, a, b], [a.type()])

    def perform(self, node, inputs, output_storage):
        raise AssertionError("runs through its thunk only")

    def make_thunk(self, node, storage_map, compute_map, no_recycling, impl=None):
        condition = node.inputs[0]
        (output,) = node.outputs

        def thunk():
            if not compute_map[condition][0]:
                return [0]
            chosen = 1 if storage_map[condition][0] > 0 else 2
            if not compute_map[node.inputs[chosen]][0]:
                return [chosen]
            storage_map[output][0] = storage_map[node.inputs[chosen]][0].copy()
            compute_map[output][0] = True
            return []

        thunk.lazy = True
        return thunk


class Counted(Op):
    """The identity; counts how often it is computed."""

    __props__ = ("name",)

    def __init__(self, name):
        self.name = name
        self.calls = 0

    def make_node(self, x):
        return Apply(self, [x], [x.type()])

    def perform(self, node, inputs, output_storage):
        self.calls += 1
        output_storage[0][0] = inputs[0].copy()


class Halved(Op):
    """Overwrites some of its first input, and may fail then."""

    destroy_map = {0: [0]}

    def make_node(self, x, y):
        return Apply(self, [x, y], [x.type()])

    def perform(self, node, inputs, output_storage):
        inputs[0] *= 0.5
        if inputs[1][0] < 0:
            raise ValueError("half of it is overwritten")
        output_storage[0][0] = inputs[0]


@pytest.mark.parametrize("linker", [PerformLinker, VMLinker])
@pytest.mark.parametrize("high", [False, True])
def test_messages_show_what_a_node_has_read_before_it_overwrote_it(linker, high, x, y):
    f = aesara.function([x, y], Halved()(at.exp(x), y), mode=Mode(linker(), None), accept_inplace=True)
    assert f([0.0], [1.0]).tolist() == [0.5]
    with config.change_flags(exception_verbosity="high" if high else "low"):
        for value in (0.0, 1.0):
            with pytest.raises(ValueError, match="half of it is overwritten") as caught:
                f([value], [-3.0])
            (line,) = [line for line in str(caught.value).splitlines() if line.startswith("Inputs values")]
            assert f"{np.exp(value):.6g}" in line.replace("array([1.])", "1") and "-3" in line


@pytest.mark.parametrize("linker", [PerformLinker(), VMLinker(), VMLinker(allow_gc=False), VMLinker(lazy=True)])
class TestRunning:
    def test_values(self, linker, x, y):
        f = aesara.function([x, y], [at.exp(x) * y, (x + y).sum()], mode=Mode(linker, None))
        for _ in range(2):
            one, two = f([0.0, 1.0], [2.0, 3.0])
            assert_close(one, [2.0, 3 * np.e])
            assert two == 6.0

    def test_updates(self, linker, x):
        s = aesara.shared(np.zeros(2))
        f = aesara.function([x], s + x, updates={s: s + 2 * x}, mode=Mode(linker, None))
        assert f([1.0, 1.0]).tolist() == [1.0, 1.0]
        assert f([1.0, 1.0]).tolist() == [3.0, 3.0]

    def test_errors_name_the_node(self, linker, x, y):
        f = aesara.function([x, y], at.exp(x * y), mode=Mode(linker, None))
        with pytest.raises(ValueError, match="mul") as info:
            f([1.0, 2.0], [1.0, 2.0, 3.0])
        assert str(info.value).count("Apply node that caused the error") == 1

    def test_linker_is_not_changed(self, linker, x):
        aesara.function([x], x + 1, mode=Mode(linker, None))
        assert linker.fgraph is None


@pytest.mark.parametrize(
    "linker", [PerformLinker(), VMLinker(), WrapLinker([VMLinker()], lambda fgraph, i, node, thunk: thunk())]
)
def test_old_values_are_offered_as_memory_unless_forbidden(linker, x):
    class Copies(Op):
        __props__ = ()

        def make_node(self, x):
            return Apply(self, [x], [x.type()])

        def perform(self, node, inputs, output_storage):
            offered.append(output_storage[0][0])
            output_storage[0][0] = inputs[0].copy()

    offered = []
    for forbidden in (None, (), "first", "all"):
        fgraph = FunctionGraph([x], [Copies()(x), Copies()(at.exp(x))], clone=True)
        kept = {"first": fgraph.outputs[:1], "all": fgraph.outputs}.get(forbidden, forbidden)
        fn, inputs, outputs = linker.clone(allow_gc=False).accept(fgraph, kept).make_thunk()
        inputs[0].value = np.ones(2)
        fn()
        before = [cell.value for cell in outputs]
        offered.clear()
        fn()
        again = before if not kept else [before[1]] if forbidden == "first" else []
        assert len(offered) == 2 and [one is not None for one in offered] == [not kept, forbidden != "all"]
        assert all(any(one is old for one in offered) for old in again)


def test_direct_use(x):
    fgraph = FunctionGraph([x], [at.exp(x) + 1], clone=True)
    fn, inputs, outputs = VMLinker().accept(fgraph).make_thunk()
    inputs[0].value = [0.0]
    fn()
    assert outputs[0].value.tolist() == [2.0]


def test_updates_of_the_machine(x):
    fgraph = FunctionGraph([x], [x + 1], clone=True)
    linker = VMLinker().accept(fgraph)
    linker.accept_var_updates({fgraph.inputs[0]: fgraph.outputs[0]})
    fn, inputs, _ = linker.make_thunk()
    inputs[0].value = [0.0]
    fn()
    fn()
    assert inputs[0].value.tolist() == [2.0]


@pytest.mark.parametrize("lazy", [False, True])
def test_clearing_leaves_inputs_alone_that_are_computed_elsewhere(lazy, x):
    z = at.exp(x)
    fgraph = FunctionGraph([z], [z * 2 + 1], clone=False)
    vm, inputs, outputs, _, _ = VMLinker(lazy=lazy, allow_gc=False).accept(fgraph).make_all()
    assert set(vm.storage_map) == set(vm.compute_map) >= fgraph.variables
    inputs[0].value = np.array([1.5])
    vm()
    assert outputs[0].value.tolist() == [4.0] and vm.storage_map[fgraph.outputs[0]][0].tolist() == [4.0]
    vm.clear_storage()
    assert inputs[0].value.tolist() == [1.5] and outputs[0].storage[0] is None


def test_given_cells(x):
    fgraph = FunctionGraph([x], [x + 1], clone=True)
    cell, out = [np.zeros(1)], [None]
    fn, _, _ = VMLinker().accept(fgraph).make_thunk(input_storage=[cell], output_storage=[out])
    fn()
    assert out[0].tolist() == [1.0]


def test_linker_without_graph():
    for linker in (VMLinker(), PerformLinker()):
        with pytest.raises(ValueError, match="accept"):
            linker.make_all(None, None)


def test_accept_makes_a_clone_for_another_graph(x):
    one, two = FunctionGraph([x], [x + 1], clone=True), FunctionGraph([x], [x + 2], clone=True)
    for linker in (VMLinker().accept(one), PerformLinker().accept(one, one.outputs)):
        other = linker.accept(two, two.outputs)
        assert other is not linker and linker.fgraph is one and other.fgraph is two
        assert other.no_recycling == two.outputs and linker.accept(one) is linker
    linker = WrapLinker([PerformLinker()], lambda fgraph, i, node, thunk: thunk()).accept(one)
    other = linker.accept(two)
    assert other is not linker and (linker.fgraph, other.fgraph) == (one, two) and linker.accept(one) is linker
    assert other.wrapper is linker.wrapper and [inner.fgraph for inner in other.linkers] == [two]
    assert [inner.fgraph for inner in linker.linkers] == [one]


def test_allow_gc_follows_the_configuration():
    with aesara.config.change_flags(allow_gc=False):
        assert VMLinker().allow_gc is False and VMLinker(allow_gc=True).allow_gc is True
    assert VMLinker().clone(allow_gc=False).allow_gc is False


def test_scheduler(x):
    order = []

    def schedule(fgraph):
        nodes = fgraph.toposort()
        order.extend(nodes)
        return nodes

    f = aesara.function([x], at.exp(x) + 1, mode=Mode(VMLinker(schedule=schedule), None))
    assert f([0.0]).tolist() == [2.0] and len(order) == len(f.vm.nodes)


def test_callbacks(x):
    nodes, values = [], []
    linker = VMLinker(
        callback=lambda node, thunk, storage_map, compute_map: nodes.append(node.op),
        callback_input=lambda variable, value: values.append((str(variable), value.tolist())),
    )
    f = aesara.function([x], at.exp(x), mode=Mode(linker, None))
    f([0.0])
    assert [str(op) for op in nodes] == [str(node.op) for node in f.maker.fgraph.toposort()]
    assert values == [("x", [0.0])]


class TestLazy:
    def test_only_what_is_needed(self, x, y):
        one, two = Counted("one"), Counted("two")
        condition = at.dscalar("condition")
        f = aesara.function([condition, x, y], Choose()(condition, one(x), two(y)) + 1, mode=Mode("py", None))
        assert isinstance(f.vm, Stack)
        assert f(1.0, [1.0], [2.0]).tolist() == [2.0] and (one.calls, two.calls) == (1, 0)
        assert f(-1.0, [1.0], [2.0]).tolist() == [3.0] and (one.calls, two.calls) == (1, 1)

    def test_output_subset_of_a_stack(self, x):
        one, two = Counted("one"), Counted("two")
        fgraph = FunctionGraph([x], [one(x), two(x)], clone=True)
        fn, inputs, _ = VMLinker(lazy=True).accept(fgraph).make_thunk()
        inputs[0].value = [1.0]
        fn(output_subset=[1])
        assert (one.calls, two.calls) == (0, 1)

    def test_deep_graph(self):
        z = a = at.dscalar()
        for _ in range(5000):
            z = -z
        assert aesara.function([a], z, mode=Mode(VMLinker(lazy=True), None))(1.0) == 1.0

    def test_eager_graphs_loop(self, x):
        assert isinstance(aesara.function([x], x + 1, mode=Mode("py", None)).vm, Loop)


class TestWrapLinker:
    def test_one(self, x):
        seen = []

        def wrapper(fgraph, index, node, thunk):
            thunk()
            seen.append((index, str(node.op), thunk.outputs[0][0].tolist()))

        f = aesara.function([x], at.exp(x) * 2, mode=Mode(WrapLinker([VMLinker()], wrapper), None))
        assert f([0.0]).tolist() == [2.0]
        assert [index for index, _, _ in seen] == list(range(len(seen))) and seen[-1][2] == [2.0]

    def test_allow_gc_of_wrapped_linkers(self):
        """The option of the first linker applies."""
        linkers = [PerformLinker(allow_gc=True), PerformLinker(allow_gc=False)]
        assert WrapLinker(linkers, print).allow_gc is True and WrapLinker(linkers[::-1], print).allow_gc is False
        assert WrapLinker([], print)._allow_gc is None

    def test_results_belong_to_the_caller(self, x):
        linker = WrapLinker([PerformLinker()], lambda fgraph, i, node, thunk: thunk())
        f = aesara.function([x], [at.exp(x), at.exp(x) * 2], mode=Mode(linker, None))
        first = f([0.0])
        f([1.0])
        assert [result.tolist() for result in first] == [[1.0], [2.0]]

    def test_two_linkers(self, x):
        def compare(fgraph, index, node, one, two):
            one()
            two()
            for a, b in zip(one.outputs, two.outputs):
                np.testing.assert_array_equal(a[0], b[0])

        linker = WrapLinker([PerformLinker(), VMLinker()], compare)
        assert aesara.function([x], at.exp(x) * 2, mode=Mode(linker, None))([0.0]).tolist() == [2.0]

    def test_many_wrappers(self, x):
        calls = []
        linker = WrapLinkerMany(
            [PerformLinker()], [lambda fgraph, i, node, thunk: thunk(), lambda *args: calls.append(args[1])]
        )
        aesara.function([x], at.exp(x), mode=Mode(linker, None))([0.0])
        assert calls

    def test_values_of_each_linker_are_its_own(self, x):
        """One may overwrite its values; and a subclass sees the arguments before the first node."""
        begun = []

        class Linker(WrapLinker):
            def pre(self, f, inputs, order, thunk_groups):
                begun.append(([value.tolist() for value in inputs], len(order), [len(some) for some in thunk_groups]))

        def wrapper(fgraph, index, node, *thunks):
            for thunk in thunks:
                thunk()
                values = [[cell[0] for cell in (*thunk.inputs, *thunk.outputs)] for thunk in thunks]
            for mine, theirs in zip(values[0], values[1]):
                np.testing.assert_array_equal(mine, theirs)
                assert mine is not theirs or not isinstance(mine, np.ndarray) or not mine.flags.writeable

        linker = Linker([PerformLinker(), PerformLinker()], wrapper)
        f = aesara.function([x], at.exp(at.cumsum(x)), mode=Mode(linker, None))
        assert f([0.0]).tolist() == [1.0] and f([0.0, 0.0]).tolist() == [1.0, 1.0]
        assert begun == [([[0.0]], 2, [2, 2]), ([[0.0, 0.0]], 2, [2, 2])]

    def test_linkers_have_to_agree_on_the_order(self, x):
        class Backwards(PerformLinker):
            pass

        backwards = Backwards(schedule=lambda fgraph: list(reversed(fgraph.toposort())))
        linker = WrapLinker([PerformLinker(), backwards], lambda *args: None)
        with pytest.raises(ValueError) as caught:
            aesara.function([x], [at.exp(x), at.log(x)], mode=Mode(linker, None))
        before, _, after = str(caught.value).partition(" runs the nodes in another order than ")
        assert "Backwards" in before and "PerformLinker" in after

    def test_errors(self, x, y):
        linker = WrapLinker([PerformLinker()], lambda fgraph, i, node, thunk: thunk())
        with pytest.raises(ValueError, match="Apply node"):
            aesara.function([x, y], x * y, mode=Mode(linker, None))([1.0, 2.0], [1.0, 2.0, 3.0])


def test_jit_linker(x, y):
    class NumPyLinker(JITLinker):
        def fgraph_convert(self, fgraph, order, input_storage, output_storage, storage_map, **kwargs):
            def run(*arguments):
                values = dict(zip(fgraph.inputs, arguments))
                for node in order:
                    cells = [[None] for _ in node.outputs]
                    inputs = [values[one] if one in values else one.data for one in node.inputs]
                    node.op.perform(node, inputs, cells)
                    values.update((one, cell[0]) for one, cell in zip(node.outputs, cells))
                return [values[one] for one in fgraph.outputs]

            return run

        def create_thunk_inputs(self, storage_map):
            return [storage_map[one] for one in self.fgraph.inputs]

        def jit_compile(self, fn):
            return fn

    f = aesara.function([x, y], [at.exp(x) + y, x * 2], mode=Mode(NumPyLinker(), None))
    one, two = f([0.0], [1.0])
    assert one.tolist() == [2.0] and two.tolist() == [0.0]


class TestHelpers:
    def test_map_storage(self, x):
        z = at.exp(x) * 3.0
        fgraph = FunctionGraph([x], [z, z], clone=True)
        order = fgraph.toposort()
        inputs, outputs, storage = map_storage(fgraph, order)
        assert outputs[0] is outputs[1] and storage[fgraph.inputs[0]] is inputs[0]
        with pytest.raises(ValueError, match="1 inputs, but 2"):
            map_storage(fgraph, order, [[None], [None]])
        with pytest.raises(ValueError, match="2 outputs, but 1"):
            map_storage(fgraph, order, None, [[None]])
        fgraph = FunctionGraph([x], [at.exp(x), at.constant(2.0), x], clone=True)
        inputs, outputs, storage = map_storage(fgraph, [])
        assert [cell[0] for cell in outputs] == [None, 2.0, None] and outputs[2] is inputs[0]
        assert [storage[variable] for variable in fgraph.outputs] == outputs

    def test_no_temporaries_share_memory(self, x):
        fgraph = FunctionGraph([x], [at.exp(x)], clone=True)
        assert VMLinker().reduce_storage_allocations({}, fgraph.toposort()) == ()
        assert calculate_reallocate_info(fgraph.toposort(), fgraph, {}, {}, {}) == {}

    def test_lifetimes(self, x):
        a = at.exp(x)
        b = at.sin(a)
        fgraph = FunctionGraph([x], [at.cos(b)], clone=True)
        order = fgraph.toposort()
        computed, last_user = gc_helper(order)
        assert len(computed) == 3 and last_user[order[0].outputs[0]] is order[1]
        _, _, storage = map_storage(fgraph, order)
        dying = clear_after_each(fgraph, order, storage)
        assert [len(cells) for cells in dying] == [0, 1, 1]
        assert dying[1][0] is storage[order[0].outputs[0]]

    def test_streamline(self, x):
        with pytest.raises(ValueError, match="1 thunks for 0 nodes"):
            streamline(FunctionGraph([x], [x], clone=True), [lambda: None], [])

    def test_container_is_exported(self):
        assert Container is aesara.graph.container.Container


class TestErrorReports:
    def test_default_is_short(self, x):
        node = at.exp(x).owner
        report = error_report(None, node)
        assert "exp" in report and "HINT" in report and len(report.splitlines()) <= 10

    def test_long_inputs_are_cut(self, x):
        thunk = type("Thunk", (), {"inputs": [[np.ones(1000)]]})
        assert "not shown" in error_report(None, at.exp(x).owner, thunk)

    def test_short_values_take_one_line(self):
        square = at.dmatrix("square")
        report = error_report(None, at.exp(square).owner, storage_map={square: [np.eye(2)]})
        assert "Inputs values: [array([[1., 0.], [0., 1.]])]" in report.splitlines()

    def test_verbosity(self, x):
        """High verbosity shows everything in full; low verbosity a few lines."""
        y = at.exp(x)
        z = at.dot(y, y)
        graph = FunctionGraph([x], [z, y], clone=False)
        values = {x: [np.ones(100)], y: [np.arange(200.0)[::2]], z: [2.0]}
        low = error_report(graph, z.owner, storage_map=values)
        with config.change_flags(exception_verbosity="high"):
            high = error_report(graph, z.owner, storage_map=values)
            of_exp = error_report(graph, y.owner)
            elsewhere = error_report(FunctionGraph([x], [x], clone=False), z.owner)
        in_both = [
            "Apply node that caused the error: dot(Elemwise{exp,no_inplace}.0, Elemwise{exp,no_inplace}.0)",
            "It computes: exp(x) @ exp(x)",
            "Inputs shapes: [(100,), (100,)]",
            "Inputs strides: [(16,), (16,)]",
        ]
        in_high = [
            "Toposort index: 1",
            "Outputs clients: [['output']]",
            "The graph up to this node:",
            f" - x: shape (100,), {8 * 100} bytes, type ndarray",
            " - dot.0: shape (), type float",
        ]
        for line in in_both:
            assert line in low.splitlines() and line in high.splitlines()
        for line in in_high:
            assert line not in low.splitlines() and line in high.splitlines()
        assert "Inputs values: [not shown, not shown]" in low.splitlines()
        assert repr(values[y][0]) in high and "HINT" not in high
        use = "dot(Elemwise{exp,no_inplace}.0, Elemwise{exp,no_inplace}.0)"
        assert f"Outputs clients: {[[use, use, 'output']]}" in of_exp.splitlines()
        assert {"Toposort index: None", "Outputs clients: [[]]"} <= set(elsewhere.splitlines())

    def test_notes_for_unusual_exceptions(self, x):
        node = at.exp(x).owner
        with pytest.raises(KeyError) as info:
            try:
                raise KeyError("key")
            except KeyError:
                raise_with_op(None, node)
        assert info.value.args == ("key",) and "exp" in info.value.__notes__[0]

    def test_attributes_and_cause_survive(self, x):
        cause = RuntimeError("cause")
        with pytest.raises(ValueError) as info:
            try:
                error = ValueError("message")
                error.extra = 3
                raise error from cause
            except ValueError:
                raise_with_op(None, at.exp(x).owner)
        assert info.value.extra == 3 and info.value.__cause__ is cause
        assert str(info.value).startswith("message\nApply node")


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["FAST_COMPILE", "FAST_RUN"])
def test_functions_are_freed(mode, x):
    f = aesara.function([x], at.exp(x), mode=mode)
    f([1.0])
    reference = weakref.ref(f)
    del f
    gc.collect()
    assert reference() is None
