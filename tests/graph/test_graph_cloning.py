import copy
import gc
import io
import pickle
import weakref
from itertools import pairwise

import numpy as np
import pytest
from graph_toys import Inner, Interval, chain, double, f, g, h, pair, variables

import aesara.tensor as at
from aesara.graph import Constant, FunctionGraph, clone, clone_replace, graph_replace
from aesara.graph.basic import (
    clone_get_equiv,
    clone_node_and_cache,
    equal_computations,
    io_toposort,
    replace_nominals_with_dummies,
)
from aesara.graph.nodes import NominalVariable
from aesara.graph.pickling import epoch

DEEP = 100_000


class TestClone:
    def test_copies_everything(self):
        a, b = variables("ab")
        y = g(f(a, b))
        (a2,), (y2,) = clone([a], [y])
        assert a2 is not a
        assert y2.owner.op is g
        assert equal_computations([y], [clone([a], [y], copy_orphans=False)[1][0]], [a], [a]) is False
        assert y2.owner.inputs[0].owner.inputs[0] is a2
        assert y2.owner.inputs[0].owner.inputs[1] is not b

    def test_orphans_follow_inputs_by_default(self):
        a, b = variables("ab")
        y = f(a, b)
        _, (y2,) = clone([a], [y], copy_inputs=False)
        assert y2.owner.inputs == [a, b]
        _, (y2,) = clone([a], [y], copy_orphans=False)
        assert y2.owner.inputs[0] is not a
        assert y2.owner.inputs[1] is b

    def test_sharing_is_kept(self):
        a = double("a")
        p = f(a)
        _, (y,) = clone([a], [g(p, p)])
        assert y.owner.inputs[0] is y.owner.inputs[1]

    def test_memo(self):
        a, b = variables("ab")
        p = f(a)
        y = g(p)
        memo = clone_get_equiv([a], [y], memo={p: b})
        assert memo[y].owner.inputs == [b]
        assert memo[y.owner] is memo[y].owner
        assert clone_node_and_cache(y.owner, memo) is None

    def test_inner_graphs(self):
        x, y = variables("xy")
        op = Inner([x], [f(x)])
        z = g(op(y), op(y))
        _, (same,) = clone([y], [z])
        assert same.owner.inputs[0].owner.op is op
        _, (other,) = clone([y], [z], clone_inner_graphs=True)
        first, second = (v.owner.op for v in other.owner.inputs)
        assert first is second is not op

    def test_names_and_sources(self):
        a = double("a")
        y = f(a)
        y.name = "y"
        _, (y2,) = clone([a], [y])
        assert y2.name == "y"
        assert y2.owner.source == y.owner.source


class TestReplace:
    def test_replacements_happen_at_once(self):
        x, y = variables("xy")
        result = clone_replace(f(x, y), {x: y, y: x})
        assert result.owner.inputs == [y, x]

    def test_a_replacement_may_contain_what_it_replaces(self):
        x = double("x")
        result = clone_replace(f(x), {x: g(x)})
        assert equal_computations([result], [f(g(x))])

    def test_the_original_is_not_changed(self):
        x, y = variables("xy")
        p = f(x)
        q = g(p)
        result = clone_replace(q, [(p, h(y))])
        assert equal_computations([result], [g(h(y))])
        assert equal_computations([q], [g(f(x))])
        assert clone_replace(q) is not q

    def test_collections(self):
        x, y = variables("xy")
        a, b = f(x), g(x)
        assert isinstance(clone_replace([a, b], {x: y}), list)
        assert isinstance(clone_replace((a, b), {x: y}), tuple)
        assert set(clone_replace({"a": a}, {x: y})) == {"a"}
        assert clone_replace(x, {x: y}) is y

    @pytest.mark.parametrize("kind", [list, tuple, set, dict, iter], ids=lambda kind: kind.__name__)
    def test_kinds_of_replacements(self, kind):
        a, b, c = variables("abc")
        y = clone_replace(f(a, b), kind([(a, c), (b, g(c))]))
        assert y.owner.inputs[0] is c and y.owner.inputs[1].owner.op is g

    def test_replacements_that_are_none(self):
        with pytest.raises(ValueError, match="must be a dictionary or an iterable of pairs"):
            clone_replace(f(double("a")), 3)

    def test_inner_graphs_are_shared_by_default(self):
        x, y, z = variables("xyz")
        op = Inner([x], [f(x)])
        assert clone_replace(op(y), {y: z}).owner.op is op
        assert clone_replace(op(y), {y: z}, clone_inner_graphs=True).owner.op is not op

    def test_values_become_constants(self):
        x = double("x")
        (constant,) = clone_replace(f(x), {x: 3}).owner.inputs
        assert isinstance(constant, Constant)
        assert constant.data == 3.0

    def test_replacements_of_other_types(self):
        x, wide, narrow = Interval(0, 10)("x"), Interval(0, 20)("wide"), Interval(1, 2)("narrow")
        with pytest.raises(TypeError):
            clone_replace(f(x), {x: wide})
        assert clone_replace(f(x), {x: narrow}).owner.inputs == [narrow]
        made = clone_replace(f(x), {x: wide}, rebuild_strict=False)
        assert made.owner.inputs == [wide] and made.type == wide.type
        for strict in (False, True):
            (constant,) = clone_replace(f(x), {x: 3}, rebuild_strict=strict).owner.inputs
            assert constant.data == 3.0 and constant.type == x.type
            with pytest.raises(TypeError, match="not between"):
                clone_replace(f(x), {x: 30}, rebuild_strict=strict)

    def test_types_are_checked(self):
        x = Interval(0, 1)("x")
        with pytest.raises(TypeError):
            clone_replace(f(x), {x: Interval(0, 2)()})
        wide = Interval(0, 2)()
        assert clone_replace(f(x), {x: wide}, rebuild_strict=False).type == wide.type
        with pytest.raises(TypeError, match="does not take"):
            clone_replace(f(x), {}, nonsense=1)
        with pytest.raises(TypeError, match="Only variables"):
            clone_replace(f(x), {1: x})
        with pytest.raises(TypeError, match="collection of variables"):
            clone_replace([1])

    def test_graph_replace_shares_what_does_not_change(self):
        x, y, z = variables("xyz")
        kept = f(z)
        result = graph_replace(g(h(x), kept), {x: y})
        assert result.owner.inputs[1] is kept
        assert equal_computations([result], [g(h(y), f(z))])
        unchanged = f(z)
        assert graph_replace([unchanged], {x: y}, strict=False) == [unchanged]
        with pytest.raises(ValueError, match="not part of the graph"):
            graph_replace(unchanged, {x: y})

    def test_graph_replace_takes_variables_of_other_types(self):
        """Nodes are made anew for them, as the ops take them."""
        x, other = Interval(0, 1)("x"), double("other")
        result = graph_replace(f(g(x)), {x: other})
        assert result.owner.inputs[0].owner.inputs[0] is other

    def test_nominals(self):
        n, x = NominalVariable(0, double), double("x")
        (new_n, new_x), (y,) = replace_nominals_with_dummies([n, x], [f(n, x)])
        assert not isinstance(new_n, NominalVariable)
        assert new_x is x
        assert y.owner.inputs == [new_n, x]


class TestEqualComputations:
    def test_structure(self):
        a, b = variables("ab")
        assert equal_computations([f(a)], [f(a)])
        assert not equal_computations([f(a)], [f(b)])
        assert equal_computations([f(a)], [f(b)], [a], [b])
        assert not equal_computations([f(a, b)], [f(b, a)])
        assert not equal_computations([f(a)], [g(a)])
        assert not equal_computations([f(a)], [a])
        assert not equal_computations([a], [f(a)])
        assert not equal_computations([f(a)], [f(a, a)])
        assert equal_computations([], [])

    def test_pairs_of_inputs_are_kept_apart(self):
        a, b, c, d = variables("abcd")
        assert not equal_computations([f(a, b)], [f(d, c)], [a, b], [c, d])
        assert not equal_computations([f(a, a)], [f(c, d)], [a, b], [c, d])
        assert not equal_computations([f(a, a)], [f(a, c)], [a], [c])
        assert not equal_computations([a], [c], [a], [b])

    def test_an_input_given_twice_stands_for_each_of_its_partners(self):
        a, b, c, d = variables("abcd")
        assert equal_computations([f(a, a)], [f(b, c)], [a, a], [b, c])
        assert equal_computations([f(b, c)], [f(a, a)], [b, c], [a, a])
        assert not equal_computations([f(a, a)], [f(b, d)], [a, a], [b, c])
        assert not equal_computations([f(a, d)], [f(b, c)], [a, a], [b, c])

    def test_types_of_inputs(self):
        a, b = double(), Interval(0, 1)()
        assert not equal_computations([f(a)], [f(b)], [a], [b])

    def test_constants(self):
        one, uno, two = (Constant(double, v) for v in (1, 1, 2))
        assert equal_computations([f(one)], [f(uno)])
        assert not equal_computations([f(one)], [f(two)])
        assert not equal_computations([f(one)], [f(double())])
        assert equal_computations([one], [np.float64(1)])
        assert equal_computations([1.0], [one])
        assert not equal_computations([2.0], [one])
        assert not equal_computations([1.0], [double()])
        assert equal_computations([np.array([1.0, np.nan])], [np.array([1.0, np.nan])])
        assert not equal_computations([np.array([1.0])], [np.array([1])])
        assert equal_computations([np.array(["a"])], [np.array(["a"])])

    def test_numbers_of_python_have_no_size(self):
        assert equal_computations([at.constant(1)], [1]) and equal_computations([1], [at.constant(1, dtype="int64")])
        assert equal_computations([at.constant(1, dtype="uint8")], [1])
        assert equal_computations([2.5], [at.constant(np.float32(2.5))])
        assert not equal_computations([at.constant(1)], [1.0]) and not equal_computations([at.constant(1)], [True])
        assert not equal_computations([at.constant(1, dtype="int8")], [np.int64(1)])

    @pytest.mark.parametrize("one, other", [(0.0, -0.0), (complex(0, 1), complex(-0.0, 1)), (1j, complex(0, -1))])
    def test_zeros_of_both_signs_differ(self, one, other):
        assert equal_computations([np.array(one)], [np.array(one)])
        assert not equal_computations([np.array(one)], [np.array(other)])
        assert not equal_computations([at.constant(one)], [at.constant(other)])
        assert not equal_computations([at.constant(one)], [np.array(other)])

    def test_other_numbers_of_inputs(self):
        a, b = variables("ab")
        assert not equal_computations([f(a)], [f(b)], [a, b], [b])
        assert not equal_computations([f(a)], [f(a)], [], [a])

    def test_outputs_of_one_node_differ(self):
        x = double("x")
        first, second = pair(x)
        assert not equal_computations([first], [second])
        assert not equal_computations([first, first], [*pair(x)])
        assert equal_computations([first, second], pair(x))

    def test_cut_in_the_middle(self):
        a, b = variables("ab")
        p, q = f(a), f(b)
        assert equal_computations([g(p)], [g(q)], [p], [q])
        assert not equal_computations([g(p)], [g(q)])

    def test_lengths(self):
        a = double()
        with pytest.raises(ValueError, match="number of graphs"):
            equal_computations([a], [])

    def test_shared_graphs_are_compared_in_linear_time(self):
        def doubled():
            y = x
            for _ in range(200):
                y = f(y, y)
            return y

        x = double("x")
        assert equal_computations([doubled()], [doubled()])


def both_ways():
    return pytest.mark.parametrize(
        "duplicate",
        [
            copy.deepcopy,
            *(lambda v, p=p: pickle.loads(pickle.dumps(v, p)) for p in range(2, pickle.HIGHEST_PROTOCOL + 1)),
        ],
        ids=["deepcopy", *(f"pickle{p}" for p in range(2, pickle.HIGHEST_PROTOCOL + 1))],
    )


@both_ways()
class TestDuplicates:
    def test_graph_and_identity(self, duplicate):
        x, y = variables("xy")
        p = f(x, y)
        first, second = pair(p)
        result = [x, second, p.owner, g(first, p), y]
        x2, second2, node2, q2, y2 = duplicate(result)
        assert equal_computations([second, g(first, p)], [second2, q2], [x, y], [x2, y2])
        assert node2.inputs == [x2, y2]
        assert q2.owner.inputs[1].owner is node2
        assert q2.owner.inputs[0].owner is second2.owner
        assert x2 is not x
        assert (x2.name, second2.index) == ("x", 1)

    def test_later_variables_extend_earlier_ones(self, duplicate):
        x = double("x")
        steps = [chain(x, n) for n in range(5)]
        steps = [x]
        for _ in range(5):
            steps.append(f(steps[-1]))
        copies = duplicate(steps)
        for before, after in pairwise(copies):
            assert after.owner.inputs == [before]
        copies = duplicate(steps[::-1])[::-1]
        for before, after in pairwise(copies):
            assert after.owner.inputs == [before]

    def test_attributes(self, duplicate):
        x = double("x")
        y = f(x)
        y.name = "y"
        y.tag.test_value = 2
        y.tag.itself = y
        y.extra = [x]
        y.owner.tag.note = "node"
        y2 = duplicate(y)
        assert (y2.name, y2.tag.test_value, y2.owner.tag.note) == ("y", 2.0, "node")
        assert y2.tag.itself is y2
        assert y2.extra == y2.owner.inputs
        assert y2.owner.source == y.owner.source

    def test_constants(self, duplicate):
        one = Constant(double, 1, name="one")
        y2 = duplicate(f(one, one))
        assert y2.owner.inputs[0] is y2.owner.inputs[1]
        assert y2.owner.inputs[0].equals(one)
        with pytest.raises(AttributeError):
            y2.owner.inputs[0].data = 3.0

    def test_function_graphs(self, duplicate):
        x, y = variables("xy")
        fgraph = FunctionGraph([x, y], [g(f(x, y)), x], update_mapping={0: 1})
        fgraph2 = duplicate(fgraph)
        fgraph2.check_integrity()
        assert equal_computations(fgraph.outputs, fgraph2.outputs, fgraph.inputs, fgraph2.inputs)
        assert fgraph2.update_mapping == {0: 1}
        assert fgraph2.outputs[0].owner in fgraph2.apply_nodes
        held = duplicate((fgraph, fgraph.outputs[0]))
        assert held[0].outputs[0] is held[1]

    @pytest.mark.slow
    def test_deep(self, duplicate):
        x = double("x")
        y = chain(x, 20_000)
        x2, y2 = duplicate((x, y))
        assert len(io_toposort([x2], [y2])) == 20_000


def test_changes_between_pickles_are_seen():
    x, z = variables("xz")
    y = g(f(x))
    fgraph = FunctionGraph([x, z], [y], clone=False)
    buffer = io.BytesIO()
    pickler = pickle.Pickler(buffer)
    pickler.dump(y)  # keeps its memo, and with it the description of the graph
    fgraph.replace(y.owner.inputs[0], z)
    y2 = pickle.loads(pickle.dumps(y))
    assert y2.owner.inputs[0].name == "z"
    before = epoch[0]
    y3 = pickle.loads(pickle.dumps(y))
    assert y3.owner.inputs[0].name == "z"
    assert epoch[0] == before


def test_unrelated_changes_keep_descriptions():
    class Meddling(type(f)):
        """Changes another graph while it is pickled."""

        def __reduce__(self):
            x = double()
            fgraph = FunctionGraph([x], [f(f(x))])
            fgraph.replace(fgraph.outputs[0].owner.inputs[0], fgraph.inputs[0])
            return (type(f), ("meddled",))

    x = double("x")
    p = Meddling("m")(x)
    q, p2 = pickle.loads(pickle.dumps((g(p), p)))
    assert q.owner.inputs == [p2]


def test_cycles_are_refused():
    x = double("x")
    y = f(f(x))
    y.owner.inputs[0].owner.inputs[0] = y
    with pytest.raises(ValueError, match="cycle"):
        pickle.dumps(y)


@pytest.mark.slow
def test_deep_graphs():
    x = double("x")
    y = x
    for _ in range(DEEP):
        y = f(y, x)
    (x2,), (y2,) = clone([x], [y])
    assert equal_computations([y], [y2], [x], [x2])
    y3 = graph_replace(y, {x: x2})
    assert equal_computations([y3], [y2], [x2], [x2])
    assert len(io_toposort([x2], [clone_replace(y, {x: x2})])) == DEEP
    y4 = pickle.loads(pickle.dumps(y))
    assert len(io_toposort([], [y4])) == DEEP
    reference = weakref.ref(y)
    del y, y2, y3, y4, _
    gc.collect()
    assert reference() is None


@pytest.mark.slow
def test_deep_function_graphs():
    x = double("x")
    fgraph = FunctionGraph([x], [chain(x, DEEP)])
    assert len(fgraph.toposort()) == DEEP
    fgraph2 = pickle.loads(pickle.dumps(fgraph))
    assert len(fgraph2.apply_nodes) == DEEP
    first = fgraph2.toposort()[0]
    fgraph2.replace(fgraph2.outputs[0], first.outputs[0])
    assert fgraph2.apply_nodes == {first}
    fgraph2.check_integrity()
    del fgraph, fgraph2, first
    gc.collect()


def test_copies_share_constants():
    x, two = double("x"), Constant(double, 2.0)
    for copies in (True, False):
        (new,), (result,) = clone([x], [f(x, two)], copies, copies)
        assert (new is x) is not copies
        assert result.owner.inputs[1] is two
    assert clone([two], [two]) == ([two], [two])
