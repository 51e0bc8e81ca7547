import copy
import itertools
import pickle
import random
import warnings

import numpy as np
import pytest
from graph_toys import Inner, Interval, Toy, chain, double, f, g, h, pair, variables

from aesara import clock
from aesara.compile.function.types import Supervisor
from aesara.configdefaults import config
from aesara.graph import Constant, FunctionGraph
from aesara.graph.clients import LONG, ClientList
from aesara.graph.destroyhandler import DestroyHandler
from aesara.graph.features import (
    AlreadyThere,
    BadOptimization,
    Bookkeeper,
    Feature,
    GetCheckpoint,
    History,
    NodeFinder,
    NoOutputFromInplace,
    PreserveVariableAttributes,
    PrintListener,
    ReplacementDidNotRemoveError,
    ReplaceValidate,
    Validator,
    attach_once,
)
from aesara.graph.null_type import NullType
from aesara.graph.utils import InconsistencyError, MissingInputError, ValidatingScratchpad


class Log(Feature):
    """Writes down what happens."""

    def __init__(self):
        self.events = []

    def on_import(self, fgraph, node, reason):
        self.events.append(("import", str(node.op), reason))

    def on_prune(self, fgraph, node, reason):
        self.events.append(("prune", str(node.op), reason))

    def on_change_input(self, fgraph, node, i, r, new_r, reason=None):
        self.events.append(("change", str(getattr(node, "op", node)), i, str(r), str(new_r), reason))


class TestConstruction:
    def test_nodes_are_imported_from_left_to_right(self):
        x = double("x")
        log = Log()
        FunctionGraph([x], [h(f(x), g(x))], clone=False, features=[log])
        fgraph = FunctionGraph([x], [x], clone=False, features=[later := Log()])
        fgraph.add_output(h(f(x), g(x)))
        assert [name for _, name, _ in log.events] == [name for _, name, _ in later.events] == ["f", "g", "h"]

    def test_given_nodes(self):
        x, y = variables("xy")
        p = f(x, y)
        q = g(p)
        fgraph = FunctionGraph([x, y], [q, p], clone=False)
        assert fgraph.inputs == [x, y]
        assert fgraph.outputs == [q, p]
        assert fgraph.apply_nodes == {p.owner, q.owner}
        assert fgraph.variables == {x, y, p, q}
        assert fgraph.clients[x] == [(p.owner, 0)]
        assert fgraph.get_clients(p) == [(q.owner, 0), ("output", 1)]
        assert p in fgraph
        assert p.owner in fgraph
        assert double() not in fgraph
        with pytest.raises(TypeError):
            1 in fgraph
        fgraph.check_integrity()

    def test_clones_by_default(self):
        x = double("x")
        y = f(x)
        fgraph = FunctionGraph([x], [y])
        assert fgraph.inputs[0] is not x
        assert fgraph.outputs[0] is not y
        assert FunctionGraph([x], [y], copy_inputs=False).inputs[0] is x
        assert FunctionGraph([x], [y], clone=False, copy_inputs=False, copy_orphans=True).outputs[0] is y
        with pytest.raises(TypeError, match="no parameters .*copy_input'"):
            FunctionGraph([x], [y], clone=False, copy_input=False)

    def test_inputs_are_found(self):
        x, y = variables("xy")
        fgraph = FunctionGraph(outputs=[f(x, Constant(double, 1), y)], clone=False)
        assert fgraph.inputs == [x, y]
        assert any(isinstance(v, Constant) for v in fgraph.variables)
        with pytest.raises(ValueError, match="No outputs"):
            FunctionGraph([x])

    def test_missing_inputs(self):
        x, y = variables("xy")
        with pytest.raises(MissingInputError, match=r"Input 1 \(y\) of the graph"):
            FunctionGraph([x], [f(x, y)], clone=False)
        with pytest.raises(MissingInputError, match="Undeclared input"):
            FunctionGraph([x], [y], clone=False)
        fgraph = FunctionGraph([x], [f(x)], clone=False)
        before = set(fgraph.variables)
        with pytest.raises(MissingInputError):
            fgraph.add_output(g(f(x), y))
        assert fgraph.variables == before
        fgraph.check_integrity()
        fgraph.add_output(g(f(x), y), import_missing=True)
        assert fgraph.inputs == [x, y]
        fgraph.check_integrity()

    def test_copies_are_made_of_sound_graphs_unless_that_is_not_asked(self):
        x, y = variables("xy")
        fgraph = FunctionGraph([x], [f(x)], clone=False)
        assert str(fgraph.clone()) == "FunctionGraph(f(x))"
        fgraph.add_client(x, (g(x, y).owner, 0))
        for copied in (fgraph.clone, fgraph.clone_get_equiv):
            with pytest.raises(Exception, match="Client not in FunctionGraph"):
                copied()
            copied(check_integrity=False)

    @pytest.mark.parametrize("option", ["off", "ignore", "warn", "raise"])
    def test_test_values_of_replacements_have_the_same_shape_where_there_are_test_values(self, option):
        shapes = [None, "no array", (2,), (3,)]
        for before, after in itertools.product(shapes, shapes):
            x = double("x")
            old, new = f(x), g(x)
            for variable, shape in ((old, before), (new, after)):
                if shape is not None:
                    object.__setattr__(variable.tag, "test_value", 1.0 if shape == "no array" else np.ones(shape))
            fgraph = FunctionGraph([x], [old], clone=False)
            with config.change_flags(compute_test_value=option):
                if option != "off" and {before, after} == {(2,), (3,)}:
                    with pytest.raises(AssertionError, match="has a test value of shape"):
                        fgraph.replace(old, new)
                    assert fgraph.outputs == [old]
                else:
                    fgraph.replace(old, new, reason="r")
                    assert fgraph.outputs == [new]

    def test_clients_that_are_not_in_the_graph_are_named(self):
        x, y = variables("xy")
        fgraph = FunctionGraph([x], [f(x)], clone=False)
        stranger = g(x, y).owner
        fgraph.add_client(x, (stranger, 0))
        with pytest.raises(Exception, match=r"Client not in FunctionGraph: x is listed as input 0 of g\(x, y\)"):
            fgraph.check_integrity()
        fgraph.remove_client(x, (stranger, 0))
        fgraph.check_integrity()
        fgraph.add_client(x, (fgraph.outputs[0].owner, 1))
        with pytest.raises(Exception, match="Inconsistent clients list of x"):
            fgraph.check_integrity()

    def test_an_input_may_come_twice(self):
        x, y = variables("xy")
        fgraph = FunctionGraph([x, x, y], [f(x, y), g(y)], clone=False)
        assert fgraph.inputs == [x, x, y] and fgraph.variables == {x, y, *fgraph.outputs}
        fgraph.check_integrity()
        duplicate = fgraph.clone()
        assert duplicate.inputs[0] is duplicate.inputs[1] is not duplicate.inputs[2]
        fgraph.remove_input(0)
        assert fgraph.inputs == [x, y] and [str(out) for out in fgraph.outputs] == ["g.0"]
        assert x not in fgraph.variables and fgraph.clients[x] == []
        fgraph.check_integrity()
        fgraph.remove_input(0)
        assert fgraph.inputs == [y] and x not in fgraph.clients
        fgraph.add_input(y)
        assert fgraph.inputs == [y]

    def test_unused_inputs_are_not_among_the_variables(self):
        x, y = variables("xy")
        fgraph = FunctionGraph([x, y], [f(x)], clone=False)
        assert y not in fgraph.variables and fgraph.clients[y] == []
        fgraph.check_integrity()
        restored = pickle.loads(pickle.dumps(fgraph))
        assert restored.variables == {restored.inputs[0], restored.outputs[0]}
        fgraph.replace(fgraph.outputs[0], g(y))
        assert y in fgraph.variables and x not in fgraph.variables and fgraph.inputs == [x, y]
        fgraph.check_integrity()
        # They are known all the same: what replaces something may use them.
        fgraph.replace(fgraph.outputs[0], x)
        assert fgraph.variables == {x}
        fgraph.change_node_input("output", 0, y)
        fgraph.add_output(x)
        assert fgraph.variables == {x, y}
        fgraph.check_integrity()

    def test_what_features_show(self):
        x, y = variables("xy")
        fgraph = FunctionGraph([x, y], [f(x, y)], clone=False)
        assert not hasattr(fgraph, "_supervisor_protected")
        first, second = Supervisor([x]), Supervisor([y])
        fgraph.attach_feature(first)
        fgraph.attach_feature(second)
        assert fgraph._supervisor_protected == {x, y}
        fgraph.remove_feature(first)
        assert fgraph._supervisor_protected == {y}
        assert not hasattr(fgraph, "_history_history")
        history = History()
        fgraph.attach_feature(history)
        start = fgraph.checkpoint()
        fgraph.replace(fgraph.outputs[0], g(x))
        assert len(fgraph._history_history) == 1
        fgraph.revert(start)
        assert fgraph._history_history == [] and fgraph._history_is_reverting is False
        fgraph.remove_feature(history)
        assert not hasattr(fgraph, "_history_is_reverting")

    def test_values_that_do_not_exist(self):
        with pytest.raises(TypeError, match=r"NaN\. because"):
            FunctionGraph([], [f(NullType("because")())], clone=False)

    def test_constant_outputs(self):
        one = Constant(double, 1)
        fgraph = FunctionGraph([], [one, one], clone=False)
        assert fgraph.clients[one] == [("output", 0), ("output", 1)]
        fgraph.check_integrity()

    def test_inputs_that_are_computed(self):
        x = double("x")
        p = f(x)
        fgraph = FunctionGraph([p], [g(p)], clone=False)
        assert len(fgraph.apply_nodes) == 1
        fgraph.check_integrity()
        fgraph.replace(fgraph.outputs[0], p)
        assert fgraph.apply_nodes == set()
        assert p in fgraph.variables
        fgraph.check_integrity()

    def test_text(self):
        x = double("x")
        assert str(FunctionGraph([x], [f(x)])) == repr(FunctionGraph([x], [f(x)])) == "FunctionGraph(f(x))"


class TestChanges:
    def test_replace(self):
        x, y = variables("xy")
        p = f(x)
        q = g(p, p)
        fgraph = FunctionGraph([x, y], [q, p], clone=False)
        new = h(y)
        fgraph.replace(p, new)
        assert q.owner.inputs == [new, new]
        assert fgraph.outputs == [q, new]
        assert fgraph.apply_nodes == {q.owner, new.owner}
        assert fgraph.clients[x] == []
        assert fgraph.clients[new] == [(q.owner, 0), (q.owner, 1), ("output", 1)]
        assert p not in fgraph.variables
        fgraph.check_integrity()
        fgraph.replace(p, x)  # no longer there
        fgraph.check_integrity()

    def test_results_that_nothing_reads(self):
        x, y = variables("xy")
        used, unused = pair(x, y)
        fgraph = FunctionGraph([x, y], [f(used)], clone=False)
        assert fgraph.get_clients(unused) == []
        node = g(unused).owner
        fgraph.import_node(node)
        assert fgraph.get_clients(unused) == [(node, 0)] and fgraph.get_clients(used) != []
        fgraph.attach_feature(log := Log())
        fgraph.import_node(node)
        assert fgraph.get_clients(unused) == [(node, 0)] and log.events == []

    def test_a_removed_node_takes_along_what_only_it_needed(self):
        x, y = variables("xy")
        before, kept = g(x), h(y)
        last = f(before, kept)
        fgraph = FunctionGraph([x, y], [last, kept], clone=False)
        fgraph.remove_node(last.owner)
        assert fgraph.apply_nodes == {kept.owner} and fgraph.outputs == [kept]
        assert before not in fgraph.variables and fgraph.clients[x] == []
        unread = g(f(Constant(double, 3), h(kept)))
        fgraph.import_node(unread.owner)
        fgraph.remove_node(unread.owner)
        assert fgraph.apply_nodes == {kept.owner} and fgraph.clients[x] == []
        assert fgraph.clients[kept] == [("output", 0)] and fgraph.variables == {y, kept}
        fgraph.check_integrity()

    def test_replace_an_input_by_what_uses_it(self):
        x, y = variables("xy")
        fgraph = FunctionGraph([x, y], [f(x)], clone=False)
        fgraph.replace_all([(x, g(y))], reason="why")
        assert str(fgraph) == "FunctionGraph(f(g(y)))"
        fgraph.check_integrity()

    def test_types(self):
        wide, narrow = Interval(0, 10)("wide"), Interval(0, 1)("narrow")
        fgraph = FunctionGraph([wide, narrow], [f(wide), g(narrow)], clone=False)
        with pytest.raises(TypeError):
            fgraph.replace(narrow, wide)
        with pytest.raises(TypeError, match="must be compatible"):
            fgraph.change_node_input(fgraph.outputs[1].owner, 0, wide)
        with pytest.raises(TypeError, match="output 1 of the graph"):
            fgraph.change_node_input("output", 1, fgraph.outputs[0])
        fgraph.check_integrity()
        fgraph.replace(wide, narrow)
        fgraph.change_node_input(fgraph.outputs[1].owner, 0, wide, check=False)
        fgraph.check_integrity()

    def test_constants_leave_when_unused(self):
        x, one = double("x"), Constant(double, 1)
        fgraph = FunctionGraph([x], [f(x, one)], clone=False)
        fgraph.replace(fgraph.outputs[0], x)
        assert fgraph.variables == {x}
        assert one not in fgraph.clients
        fgraph.check_integrity()

    def test_constants_that_are_inputs_stay(self):
        x, one = double("x"), Constant(double, 1)
        fgraph = FunctionGraph([x, one], [f(x, one)], clone=False)
        (node,) = fgraph.apply_nodes
        fgraph.change_node_input(node, 1, x)
        assert fgraph.clients[one] == []
        fgraph.remove_input(1)
        assert one not in fgraph.clients
        fgraph.change_node_input(node, 1, one, import_missing=True)
        fgraph.change_node_input(node, 1, x)
        assert one not in fgraph.clients and one not in fgraph.variables
        fgraph.check_integrity()

    def test_outputs_of_a_node_leave_together(self):
        x = double("x")
        first, second = pair(x)
        fgraph = FunctionGraph([x], [first, second], clone=False)
        fgraph.replace(first, x)
        assert second in fgraph.variables
        assert first in fgraph.variables
        fgraph.check_integrity()
        fgraph.replace(second, x)
        assert fgraph.variables == {x}
        fgraph.check_integrity()

    def test_remove_output(self):
        x = double("x")
        p, q = f(x), g(x)
        fgraph = FunctionGraph([x], [p, q, q], clone=False, update_mapping={0: 0, 2: 0})
        fgraph.remove_output(0)
        assert fgraph.outputs == [q, q]
        assert fgraph.apply_nodes == {q.owner}
        assert fgraph.clients[q] == [("output", 0), ("output", 1)]
        assert fgraph.update_mapping == {1: 0}
        fgraph.check_integrity()

    def test_remove_input(self):
        x, y = variables("xy")
        p, q = f(x), g(y)
        fgraph = FunctionGraph([x, y], [h(p), q, x], clone=False, update_mapping={1: 1})
        fgraph.remove_input(0)
        assert fgraph.inputs == [y]
        assert fgraph.outputs == [q]
        assert fgraph.update_mapping == {0: 0}
        fgraph.check_integrity()

    def test_remove_node(self):
        x = double("x")
        p = f(x)
        q = g(p)
        fgraph = FunctionGraph([x], [h(q), x, q], clone=False)
        fgraph.remove_node(p.owner)
        assert fgraph.outputs == [x]
        assert fgraph.apply_nodes == set()
        fgraph.check_integrity()

    def test_verbose(self, capsys):
        x = double("x")
        fgraph = FunctionGraph([x], [f(x)], clone=False)
        fgraph.replace(fgraph.outputs[0], x, reason="simple", verbose=True)
        assert "rewrite simple replaces" in capsys.readouterr().out

    def test_shapes_of_test_values(self):
        class Array(type(double)):
            def filter(self, data, strict=False, allow_downcast=None):
                return np.asarray(data)

        x, y = Array()("x"), Array()("y")
        y = x.type("y")
        x.tag.test_value, y.tag.test_value = np.zeros(2), np.zeros(3)
        fgraph = FunctionGraph([x, y], [f(x)], clone=False)
        with config.change_flags(compute_test_value="ignore"), pytest.raises(AssertionError, match="shape"):
            fgraph.replace(x, y)

    def test_long_lists_of_clients_only_keep_positions(self):
        x = double("x")
        y = f(*[x] * LONG)
        fgraph = FunctionGraph([x], [y], clone=False)
        assert type(fgraph.clients[x]) is list
        for k in range(1, 4):
            fgraph.add_output(x)
            assert type(fgraph.clients[x]) is ClientList
            outputs = [("output", i + 1) for i in range(k)]
            assert fgraph.clients[x] == [*((y.owner, i) for i in range(LONG)), *outputs]
        fgraph.check_integrity()

    def test_long_lists_know_where_everything_is(self):
        rng = random.Random(0)
        x = double("x")
        nodes = [f(x).owner for _ in range(3 * LONG)]
        clients = ClientList((node, 0) for node in nodes)
        model = list(clients)
        while model:
            client = rng.choice(model)
            clients.remove(client)
            position, last = model.index(client), model.pop()
            if last is not client:
                model[position] = last
            assert clients == model and clients._positions == {one: k for k, one in enumerate(model)}
        with pytest.raises(ValueError, match="not in the list of clients"):
            clients.remove(client)

    @pytest.mark.slow
    def test_many_clients(self):
        # A variable with many clients, such as a constant, must not make removal slow.
        one = Constant(double, 1)
        x = double("x")
        y = x
        for _ in range(20_000):
            y = f(y, one)
        fgraph = FunctionGraph([x], [y], clone=False)
        assert len(fgraph.clients[one]) == 20_000
        fgraph.check_integrity()
        fgraph.replace(y, x)
        assert fgraph.variables == {x}
        fgraph.check_integrity()

    def test_cycles_are_found(self):
        x = double("x")
        y = f(g(x))
        fgraph = FunctionGraph([x], [y], clone=False)
        fgraph.change_node_input(y.owner.inputs[0].owner, 0, y)
        with pytest.raises(ValueError, match="cycle"):
            fgraph.toposort()
        with pytest.raises(ValueError, match="cycle"):
            FunctionGraph([x], [h(y)], clone=False)


def test_client_list():
    clients = ClientList([("a", 0), ("b", 0), ("c", 0)])
    clients.append(("d", 0))
    clients.remove(("a", 0))
    assert sorted(clients) == [("b", 0), ("c", 0), ("d", 0)]
    clients.sort()  # behind its back
    for client in list(clients):
        clients.remove(client)
    assert clients == []
    with pytest.raises(ValueError):
        clients.remove(("a", 0))
    assert copy.copy(ClientList([("a", 0)])) == [("a", 0)]


def test_random_changes():
    rng = np.random.default_rng(1)
    for seed in range(10):
        rng = np.random.default_rng(seed)
        inputs = variables("abc")
        known = list(inputs)
        for _ in range(30):
            known.append(f(*(known[i] for i in rng.integers(0, len(known), 2))))
        fgraph = FunctionGraph(inputs, known[-3:])
        for _ in range(30):
            order = fgraph.toposort()
            if len(order) < 2:
                break
            node = order[rng.integers(len(order))]
            earlier = [v for n in order[: order.index(node)] for v in n.outputs] + fgraph.inputs
            new = earlier[rng.integers(len(earlier))]
            fgraph.replace(node.outputs[0], new if rng.random() < 0.5 else g(new))
            fgraph.check_integrity()


class TestOrder:
    def test_is_remembered_until_something_changes(self):
        x = double("x")
        y = f(g(x))
        fgraph = FunctionGraph([x], [y], clone=False)
        order = fgraph.toposort()
        assert [str(node.op) for node in order] == ["g", "f"]
        order.clear()  # a copy
        assert len(fgraph.toposort()) == 2
        fgraph.replace(y.owner.inputs[0], x)
        assert fgraph.toposort() == [y.owner]
        fgraph.add_output(h(x))
        assert len(fgraph.toposort()) == 2
        node = g(x).owner
        fgraph.import_node(node)
        assert node not in fgraph.toposort()
        fgraph.add_output(node.outputs[0])
        assert node in fgraph.toposort()

    def test_follows_changes_that_neither_add_nor_remove_nodes(self):
        x = double("x")
        p, q, r = f(x), g(x), h(x)
        fgraph = FunctionGraph([x], [p, q, r], clone=False)
        assert fgraph.toposort() == [p.owner, q.owner, r.owner]
        fgraph.change_node_input(p.owner, 0, r)
        assert fgraph.toposort() == [r.owner, p.owner, q.owner]
        fgraph.change_node_input(p.owner, 0, x)
        assert fgraph.toposort() == [p.owner, q.owner, r.owner]
        fgraph.change_node_input("output", 0, r)
        assert fgraph.toposort() == [r.owner, q.owner]

    def test_features_may_add_orderings(self):
        x = double("x")
        p, q = f(x), g(x)

        class Reverse(Feature):
            on = True

            def orderings(self, fgraph):
                return {p.owner: [q.owner]} if self.on else {}

        fgraph = FunctionGraph([x], [p, q], clone=False)
        assert fgraph.toposort() == [p.owner, q.owner]
        feature = Reverse()
        fgraph.attach_feature(feature)
        assert fgraph.toposort() == [q.owner, p.owner]
        assert fgraph.orderings() == {p.owner: [q.owner]}
        feature.on = False
        assert fgraph.toposort() == [p.owner, q.owner]
        feature.orderings = lambda fgraph: []
        fgraph.remove_feature(feature)
        fgraph.attach_feature(feature)
        with pytest.raises(TypeError, match="orderings must return"):
            fgraph.toposort()


class TestClone:
    def test_features_and_updates(self):
        x = double("x")
        fgraph = FunctionGraph([x], [f(x)], features=[NodeFinder()], update_mapping={0: 0})
        copied, equiv = fgraph.clone_get_equiv()
        assert copied.outputs == [equiv[fgraph.outputs[0]]]
        assert copied.update_mapping == {0: 0}
        assert copied.get_nodes(f) == [copied.outputs[0].owner]
        assert not hasattr(fgraph.clone_get_equiv(attach_feature=False)[0], "get_nodes")
        fgraph.clone().check_integrity()

    def test_inner_graphs(self):
        x, y = variables("xy")
        fgraph = FunctionGraph([y], [Inner([x], [f(x)])(y)])
        copied, _ = fgraph.clone_get_equiv(clone_inner_graphs=True)
        assert copied.outputs[0].owner.op is not fgraph.outputs[0].owner.op

    @pytest.mark.parametrize(
        "copied", [FunctionGraph.clone, copy.deepcopy, lambda fgraph: pickle.loads(pickle.dumps(fgraph))]
    )
    def test_copies_know_where_everything_is_used(self, copied):
        """Also what nothing uses: inputs, and results beside one that something uses."""
        x, y, unused = variables("xyz")
        one, _ = pair(x, Constant(double, 2.0))
        _, other = pair(one, one)
        fgraph = FunctionGraph([x, y, unused], [f(other, one, y), x, one, x], clone=False)

        def uses(fgraph):
            order = fgraph.toposort()
            made = [*fgraph.inputs, *(v for node in order for v in node.outputs)]
            clients = [fgraph.get_clients(v) for v in made]
            return [[("output" if c == "output" else order.index(c), i) for c, i in of_one] for of_one in clients]

        restored = copied(fgraph)
        restored.check_integrity()
        assert uses(restored) == uses(fgraph)
        restored.replace(restored.outputs[0], restored.inputs[2])
        restored.check_integrity()

    @pytest.mark.parametrize("copied", [copy.deepcopy, lambda fgraph: pickle.loads(pickle.dumps(fgraph))])
    def test_features_may_order_nodes_only_after_the_copy_is_there(self, copied):
        x, y = variables("xy")
        fgraph = FunctionGraph([x, y], [f(x), g(y)], features=[Reordering()])
        assert [str(node.op) for node in fgraph.toposort()] == ["f", "g"]
        restored = copied(fgraph)
        assert restored._features[0].seen == ["f", "g"]
        assert [str(node.op) for node in restored.toposort()] == ["g", "f"]

    def test_an_order_is_kept_only_if_all_features_follow_the_graph(self):
        x, y = variables("xy")
        following, other = Reordering(), Reordering()
        other.orderings_follow_graph = False
        fgraph = FunctionGraph([x, y], [f(x), g(y)], features=[following, other])
        assert [str(node.op) for node in fgraph.toposort()] == ["f", "g"]
        other.turned = True
        assert [str(node.op) for node in fgraph.toposort()] == ["g", "f"]

    def test_what_was_asked_of_a_graph_is_not_stored_with_it(self):
        x, y = variables("xy")
        fgraph = FunctionGraph([x, y], [f(x, g(y))], features=[NodeFinder(), Reordering()])
        before = len(pickle.dumps(fgraph))
        fgraph.toposort()
        fgraph.execute_callbacks("on_nothing")
        assert fgraph.get_nodes(f) and fgraph.collect_callbacks("orderings", fgraph)
        assert len(pickle.dumps(fgraph)) == before
        # nor are nodes that were there when it was stored before
        restored = pickle.loads(pickle.dumps(fgraph))
        restored.replace(restored.outputs[0], restored.inputs[0])
        assert len(pickle.dumps(restored)) < before - 100


class Reordering(Feature):
    """Turns the order around once it has been copied with its graph."""

    orderings_follow_graph = True
    turned = False

    def orderings(self, fgraph):
        nodes = [out.owner for out in fgraph.outputs]
        return {nodes[0]: nodes[1:]} if self.turned else {}

    def on_unpickle(self, fgraph):
        self.seen = [str(node.op) for node in fgraph.toposort()]
        self.turned = True


class TestComputedInputs:
    """Inputs that a node computes, which may be in the graph or not."""

    def test_one_whose_node_is_outside_may_lose_its_last_use(self):
        x, y = variables("xy")
        given = h(x, y)
        fgraph = FunctionGraph([x, y, given], [g(given), f(x)], clone=False)
        fgraph.replace(fgraph.outputs[0], f(y))
        fgraph.check_integrity()
        assert given not in fgraph.variables and fgraph.clients[given] == []

    @pytest.mark.parametrize("is_used", [True, False])
    def test_one_beside_what_a_node_computes_stays_when_the_node_goes(self, is_used):
        x, y = variables("xy")
        given, computed = pair(x, y)
        outputs = [g(computed), *[f(given)][:is_used]]
        fgraph = FunctionGraph([x, y, given], outputs, clone=False)
        fgraph.replace(fgraph.outputs[0], x)
        fgraph.check_integrity()
        assert (given in fgraph.variables) == is_used and computed not in fgraph.variables
        assert fgraph.apply_nodes == {out.owner for out in outputs[1:]}

    def test_what_a_node_computes_may_become_an_input(self):
        x = double("x")
        p = f(x)
        fgraph = FunctionGraph([x], [g(p), h(p)], clone=False)
        fgraph.add_input(p)
        assert len(fgraph.clients[p]) == 2 and fgraph.inputs == [x, p]


class TestIntegrity:
    @pytest.mark.parametrize("which", ["nodes", "variables", "clients", "owner"])
    def test_damage_is_found(self, which):
        x = double("x")
        fgraph = FunctionGraph([x], [f(x)], clone=False)
        if which == "nodes":
            fgraph.apply_nodes.clear()
        elif which == "variables":
            fgraph.variables.add(double())
        elif which == "clients":
            fgraph.clients[x].clear()
        else:
            fgraph.outputs[0].index = 1
        with pytest.raises(Exception, match=r"inappropriately|Inconsistent|index 1"):
            fgraph.check_integrity()


class TestExchange:
    """A node for another on the same inputs, for which there is a short way."""

    def made(self):
        x, y = variables("xy")
        p = f(x, y)
        log = Log()
        fgraph = FunctionGraph([x, y], [g(p), h(p, p), p], clone=False, features=[ReplaceValidate(), log])
        log.events.clear()
        return fgraph, p, log

    def test_the_graph_is_what_the_long_way_makes_of_it(self):
        fgraph, p, log = self.made()
        new = h(*p.owner.inputs)
        fgraph.replace(p, new, reason="test")
        fgraph.check_integrity()
        assert p not in fgraph.variables and p.owner not in fgraph.apply_nodes and p not in fgraph.clients
        assert fgraph.outputs[2] is new
        assert [list(node.inputs) for node in (fgraph.outputs[0].owner, fgraph.outputs[1].owner)] == [[new], [new, new]]
        assert [event[0] for event in log.events] == ["import", "prune", *["change"] * 4]
        assert all(event[-1] == "test" for event in log.events)

    def test_it_can_be_undone(self):
        fgraph, p, _ = self.made()
        before = str(fgraph)
        checkpoint = fgraph.checkpoint()
        fgraph.replace(p, h(*p.owner.inputs))
        assert str(fgraph) != before
        fgraph.revert(checkpoint)
        fgraph.check_integrity()
        assert str(fgraph) == before and fgraph.outputs[2] is p

    def test_many_clients(self):
        x, y = variables("xy")
        p = f(x, y)
        fgraph = FunctionGraph([x, y], [*[g(p, x) for _ in range(100)]], clone=False)
        fgraph.replace(p, h(x, y))
        fgraph.check_integrity()
        assert all(output.owner.inputs[0].owner.op == h for output in fgraph.outputs)

    def test_an_input_that_is_a_result_elsewhere_is_not_computed(self):
        x, y = variables("xy")
        given = h(x, y)
        p = f(x, y)
        fgraph = FunctionGraph([x, y, given], [g(p)], clone=False)
        fgraph.replace(p, given)
        fgraph.check_integrity()
        assert fgraph.apply_nodes == {fgraph.outputs[0].owner}
        assert fgraph.outputs[0].owner.inputs == [given]


class TestFeatures:
    def test_any_object_may_be_attached_and_removed(self):
        x = double("x")
        fgraph, feature = FunctionGraph([x], [f(x)], clone=False), object()
        fgraph.attach_feature(feature)
        assert feature in fgraph._features
        fgraph.remove_feature(feature)
        assert feature not in fgraph._features

    def test_a_class_is_attached_once(self):
        x = double("x")
        fgraph = FunctionGraph([x], [f(x)], clone=False)
        for _ in range(2):
            attach_once(fgraph, NodeFinder)
        assert [type(feature) for feature in fgraph._features] == [NodeFinder]
        attach_once(fgraph, lambda graph: graph.attach_feature(Log()))
        assert [type(feature) for feature in fgraph._features] == [NodeFinder, Log]

    def test_a_history_starts_again_in_a_copy(self):
        x = double("x")
        fgraph = pickle.loads(pickle.dumps(FunctionGraph([x], [f(x)], features=[History()])))
        checkpoint = fgraph.checkpoint()
        fgraph.replace(fgraph.outputs[0], g(fgraph.inputs[0]))
        fgraph.revert(checkpoint)
        assert str(fgraph.outputs[0].owner.op) == "f"

    @pytest.mark.parametrize("verbose, lines", [(None, 0), (False, 0), (True, 1)])
    def test_what_is_printed_of_replacements(self, verbose, lines, capsys):
        x = double("x")
        fgraph = FunctionGraph([x], [f(x)], features=[ReplaceValidate()], clone=False)
        fgraph.replace_all_validate([(fgraph.outputs[0], g(x))], reason="because", verbose=verbose)
        printed = capsys.readouterr().out.splitlines()
        assert len(printed) == lines and all("rewrite because replaces f.0" in line for line in printed)
        fgraph.replace(fgraph.outputs[0], h(x), verbose=bool(verbose))
        assert len(capsys.readouterr().out.splitlines()) == lines

    def test_only_what_does_not_fit_is_explained(self):
        x = double("x")
        fgraph = FunctionGraph([x], [f(x)], features=[ReplaceValidate()], clone=False)
        with pytest.raises(TypeError) as caught:
            fgraph.replace_all_validate([(fgraph.outputs[0], Interval(0, 1)())], reason="because")
        assert "for the reason: because" in caught.value.__notes__[0]
        with pytest.raises(MissingInputError) as caught:
            fgraph.replace_all_validate([(fgraph.outputs[0], g(double("other")))], reason="because")
        assert not hasattr(caught.value, "__notes__")

    @pytest.mark.parametrize("length", [300, 301])
    def test_differences_of_rewrites_show_graphs_and_the_ends_of_long_values(self, length):
        x = double("x")
        text = str(BadOptimization(f(x), g(x), "a" * length, "b", "because"))
        shown = "a" * 300 if length == 300 else "a" * 150 + " ... " + "a" * 150
        assert f"Old Value: {shown}\n" in text
        old, new = text.split("  Old Graph:")[1].split("  New Graph:")
        assert "f" in old and "g" in new and "x" in old and "x" in new

    def test_callbacks(self):
        x = double("x")
        p = f(x)
        fgraph = FunctionGraph([x], [g(p)], clone=False)
        log = Log()
        fgraph.attach_feature(log)
        fgraph.attach_feature(log)
        fgraph.replace(p, h(x), reason="test")
        assert log.events == [
            ("import", "h", "test"),
            ("prune", "f", "test"),
            ("change", "g", 0, "f.0", "h.0", "test"),
        ]
        log.events.clear()
        fgraph.remove_feature(log)
        fgraph.remove_feature(log)
        fgraph.replace(fgraph.outputs[0], x)
        assert log.events == []

    def test_objects_that_are_no_features(self):
        class Own:
            count = 0

            def on_import(self, fgraph, node, reason):
                self.count += 1

        x = double("x")
        own = Own()
        fgraph = FunctionGraph([x], [x], features=[own])
        fgraph.add_output(f(fgraph.inputs[0]))
        assert own.count == 1
        assert fgraph.collect_callbacks("orderings") == {}

    def test_features_given_at_once_see_the_nodes_come_in(self):
        x = double("x")
        log = Log()
        fgraph = FunctionGraph([x], [f(g(x))], features=[log])
        assert log.events == [("import", "g", "init"), ("import", "f", "init")]
        later = Log()
        fgraph.attach_feature(later)
        assert later.events == []

    def test_collected_answers(self):
        class Counts(Feature):
            def __init__(self, start):
                self.start = start

            def count(self, step):
                return self.start + step

        one, two = Counts(1), Counts(2)
        x = double("x")
        fgraph = FunctionGraph([x], [f(x)], features=[one, two, Log()])
        assert fgraph.collect_callbacks("count", 10) == {one: 11, two: 12}

    def test_clients_that_are_none(self):
        x, y = variables("xy")
        p = f(x)
        fgraph = FunctionGraph([x, y], [p, g(p)], clone=False)
        before = set(fgraph.variables), set(fgraph.apply_nodes)
        for variable in (x, y, p, g(x)):
            fgraph.remove_client(variable, (g(x).owner, 0))
        assert (fgraph.variables, fgraph.apply_nodes) == before
        fgraph.check_integrity()

    def test_profiled_callbacks(self, monkeypatch):
        ticks = itertools.count(100)
        monkeypatch.setattr(clock, "now", lambda: next(ticks))
        x = double("x")
        log, late = Log(), History()
        fgraph = FunctionGraph([x], [x], features=[log])
        fgraph.attach_feature(late)
        fgraph.add_output(g(fgraph.inputs[0]))
        assert fgraph.execute_callbacks_time == 0
        with config.change_flags(profile_optimizer=True):
            fgraph.add_output(f(fgraph.inputs[0]))
            fgraph.execute_callbacks("on_nothing")  # which nobody handles
        assert len(log.events) == 2
        assert fgraph.execute_callbacks_times == {log: 1, late: 0}
        assert fgraph.execute_callbacks_time == 3

    def test_features_may_set_attributes(self):
        class Sets(Feature):
            def on_attach(self, fgraph):
                if hasattr(fgraph, "answer"):
                    raise AlreadyThere
                fgraph.answer = lambda: 42

            def on_detach(self, fgraph):
                del fgraph.answer

        x = double()
        fgraph = FunctionGraph([x], [x])
        fgraph.attach_feature(Sets())
        fgraph.attach_feature(Sets())
        assert fgraph.answer() == 42
        assert len(fgraph._features) == 1
        fgraph.remove_feature(fgraph._features[0])
        with pytest.raises(AttributeError, match="has no attribute 'answer'"):
            fgraph.answer()

    def test_bookkeeper(self):
        class Count(Bookkeeper):
            nodes = 0

            def on_import(self, fgraph, node, reason):
                self.nodes += 1

            def on_prune(self, fgraph, node, reason):
                self.nodes -= 1

        x = double("x")
        count = Count()
        fgraph = FunctionGraph([x], [f(g(x))], features=[count])
        assert count.nodes == 2
        fgraph.replace(fgraph.outputs[0], fgraph.inputs[0])
        assert count.nodes == 0
        fgraph.add_output(f(fgraph.inputs[0]))
        fgraph.remove_feature(count)
        assert count.nodes == 0

    def test_history(self):
        x = double("x")
        fgraph = FunctionGraph([x], [f(g(x))], clone=False, features=[History(), History()])
        assert len(fgraph._features) == 1
        start = fgraph.checkpoint()
        text = str(fgraph)
        fgraph.replace(fgraph.outputs[0].owner.inputs[0], h(x))
        middle, middle_text = fgraph.checkpoint(), str(fgraph)
        fgraph.replace(fgraph.outputs[0], x)
        fgraph.revert(middle)
        assert str(fgraph) == middle_text
        fgraph.revert(start)
        assert str(fgraph) == text
        fgraph.check_integrity()
        copied = fgraph.clone()
        assert copied._features[0] is not fgraph._features[0] and copied.checkpoint() == 0

    def test_validator(self):
        class Short(Feature):
            def validate(self, fgraph):
                if len(fgraph.apply_nodes) > 2:
                    raise InconsistencyError("too long")

        x = double("x")
        fgraph = FunctionGraph([x], [f(x)], clone=False, features=[Short(), ReplaceValidate()])
        fgraph.validate()
        assert fgraph.consistent()
        y = fgraph.outputs[0]
        with pytest.raises(InconsistencyError, match="too long"):
            fgraph.replace_validate(y, chain(y, 3))
        assert fgraph.outputs == [y]
        with pytest.raises(InconsistencyError):
            fgraph.replace_all_validate([(y, g(x)), (x, chain(x, 5))])
        assert fgraph.outputs == [y]
        fgraph.check_integrity()
        fgraph.replace_validate(y, g(x), reason="fine")
        assert str(fgraph) == "FunctionGraph(g(x))"
        fgraph.replace(fgraph.outputs[0], chain(x, 5))
        assert not fgraph.consistent()
        known = FunctionGraph([x], [x])
        assert not known.has_method("replace_validate") and known.has_method("replace") and known.has_method("inputs")
        alone = FunctionGraph([x], [x], features=[Validator()])
        assert alone.consistent()

    def test_every_graph_has_replacements_that_are_undone(self):
        x = double("x")
        y = f(x)
        fgraph = FunctionGraph([x], [y], clone=False)
        assert fgraph.consistent() and fgraph.validate() is None
        state = fgraph.checkpoint()
        fgraph.replace_validate(y, g(x))
        assert str(fgraph) == "FunctionGraph(g(x))"
        fgraph.revert(state)
        assert str(fgraph) == "FunctionGraph(f(x))"
        assert [type(feature) for feature in fgraph._features] == [ReplaceValidate]
        fgraph.attach_feature(ReplaceValidate())
        assert len(fgraph._features) == 1
        with pytest.raises(AttributeError, match="no attribute 'get_nodes'"):
            fgraph.get_nodes

    def test_failed_replacements_are_undone(self):
        x = double("x")
        fgraph = FunctionGraph([x], [f(x), g(x)], clone=False, features=[ReplaceValidate()])
        text = str(fgraph)
        with pytest.raises(TypeError) as info:
            fgraph.replace_all_validate([(fgraph.outputs[0], x), (fgraph.outputs[1], Interval(0, 1)())], reason="r")
        assert "While replacing g.0" in info.value.__notes__[0]
        assert str(fgraph) == text

    def test_revert_after_validated_replacements(self):
        x = double("x")
        fgraph = FunctionGraph([x], [f(x)], clone=False, features=[ReplaceValidate()])
        start = fgraph.checkpoint()
        fgraph.replace_validate(fgraph.outputs[0], g(x))
        fgraph.revert(start)
        assert str(fgraph) == "FunctionGraph(f(x))"

    def test_replace_all_validate_remove(self):
        x = double("x")
        p = f(x)
        fgraph = FunctionGraph([x], [g(p), p], clone=False, features=[ReplaceValidate()])
        text = str(fgraph)
        with pytest.warns(UserWarning, match="undone"), pytest.raises(ReplacementDidNotRemoveError):
            fgraph.replace_all_validate_remove([(fgraph.outputs[0], h(p))], [p], reason="r")
        assert str(fgraph) == text
        fgraph.replace_all_validate_remove([(p, x)], [p])
        assert str(fgraph) == "FunctionGraph(g(x), x)"

    @pytest.mark.parametrize("held", [False, True])
    def test_changes_are_kept_for_who_holds_a_checkpoint_only(self, held):
        """So that rewriting takes no memory for what nobody takes back."""
        x = double("x")
        p = f(x)
        history = ReplaceValidate()
        fgraph = FunctionGraph([x], [g(p), h(p)], clone=False, features=[history])
        before = str(fgraph)
        if held:
            start = fgraph.checkpoint()
        fgraph.replace_validate(fgraph.outputs[0], h(x))
        fgraph.replace_all_validate([(fgraph.outputs[0], g(p)), (fgraph.outputs[1], g(x))])
        fgraph.replace_all_validate_remove([(p, x)], [p])
        with pytest.warns(UserWarning, match="undone"), pytest.raises(ReplacementDidNotRemoveError):
            fgraph.replace_all_validate_remove([(fgraph.outputs[0], h(x))], [x], reason="r")
        assert str(fgraph) == "FunctionGraph(g(x), g(x))"
        assert bool(history.history[fgraph][0]) is held
        if held:
            fgraph.revert(start)
            assert str(fgraph) == before

    def test_node_finder(self):
        x = double("x")
        finder = NodeFinder()
        fgraph = FunctionGraph([x], [f(f(g(x)))], clone=False, features=[finder])
        assert fgraph.get_nodes(f) == [node for node in fgraph.toposort() if node.op == f]
        assert fgraph.get_nodes(h) == []
        fgraph.replace(fgraph.outputs[0], h(x))
        assert fgraph.get_nodes(f) == []
        assert len(fgraph.get_nodes(Toy("h"))) == 1
        fgraph.attach_feature(NodeFinder())
        assert fgraph._features == [finder]
        with pytest.raises(Exception, match="not attached"):
            finder.on_detach(FunctionGraph([x], [x]))
        fgraph.remove_feature(finder)
        assert not hasattr(fgraph, "get_nodes")

    def test_a_feature_that_moves_to_another_graph_knows_that_one_only(self):
        x, y = variables("xy")
        first, second = FunctionGraph([x], [h(x)], clone=False), FunctionGraph([y], [f(y)], clone=False)
        finder, history = NodeFinder(), History()
        for feature in (finder, history):
            first.attach_feature(feature)
        start = first.checkpoint()
        first.replace(first.outputs[0], g(x))
        for feature in (finder, history):
            first.remove_feature(feature)
            second.attach_feature(feature)
        assert second.get_nodes(f) == [second.outputs[0].owner]
        assert second.get_nodes(g) == second.get_nodes(h) == []
        second.revert(start)
        assert first.outputs[0].owner.op == g and second.outputs[0].owner.op == f
        with pytest.raises(KeyError):
            history.checkpoint(first)
        second.remove_feature(finder)
        assert finder.get_nodes(second, f) == []
        with pytest.raises(Exception, match="not attached"):
            finder.on_detach(second)

    @pytest.mark.parametrize(
        "kind, name",
        [
            (History, "checkpoint"), (History, "revert"), (Validator, "validate"),
            (ReplaceValidate, "replace_validate"), (ReplaceValidate, "replace_all_validate"),
            (ReplaceValidate, "replace_all_validate_remove"),
            (NodeFinder, "get_nodes"), (DestroyHandler, "destroyers"),
        ],
    )  # fmt: skip
    def test_a_feature_leaves_methods_to_who_has_them(self, kind, name):
        class Has(Feature):
            exports = (name,)

            def function_of(self, what):
                return lambda fgraph: f"mine: {what}"

        x = double("x")
        fgraph = FunctionGraph([x], [f(x)], clone=False, features=[has := Has(), kind()])
        assert fgraph._features == [has] and getattr(fgraph, name)() == f"mine: {name}"
        with pytest.raises(AlreadyThere, match="is already present or in conflict"):
            kind().on_attach(fgraph)
        fgraph.remove_feature(has)
        fgraph.attach_feature(kind())
        assert len(fgraph._features) == 1 and fgraph.has_method(name)

    def test_print_listener(self, capsys):
        x = double("x")
        fgraph = FunctionGraph([x], [f(x)], clone=False, features=[PrintListener()])
        fgraph.replace(fgraph.outputs[0], g(x))
        text = capsys.readouterr().out
        assert "-- attaching" in text
        assert "-- importing: g(x)" in text
        assert "-- pruning: f(x)" in text
        assert "-- changing" in text
        FunctionGraph([x], [f(x)], features=[PrintListener(active=False)])
        assert capsys.readouterr().out == ""

    def test_preserve_attributes(self):
        x = double("x")
        p = f(x)
        p.name, p.tag.note = "p", "kept"
        new = g(x)
        fgraph = FunctionGraph([x], [h(p)], clone=False, features=[PreserveVariableAttributes()])
        fgraph.replace(p, new)
        assert (new.name, new.tag.note) == ("p", "kept")
        own, plain = h(x), f(f(x))
        own.name, own.tag.note = "own", "own"
        fgraph.replace(new, own)
        assert (own.name, own.tag.note) == ("own", "own")
        fgraph.replace(own, plain)
        assert (plain.name, plain.tag.note) == ("own", "own")
        fgraph.replace(fgraph.outputs[0], other := g(x))
        assert other.name is None and other._tag is None

    def test_attributes_that_are_there_stay(self):
        """In every combination of what the two variables have."""
        have = list(itertools.product([None, "name"], [None, "note"], [None, "test_value"]))
        for before, after in itertools.product(have, have):
            x = double("x")
            old, new = g(x), h(x)
            for variable, attributes, value in ((old, before, 1.0), (new, after, 2.0)):
                name, note, test_value = attributes
                if name is not None:
                    variable.name = f"{name} {value}"
                if note is not None:
                    variable.tag.note = value
                if test_value is not None:
                    variable.tag.test_value = value
            fgraph = FunctionGraph([x], [f(old)], clone=False, features=[PreserveVariableAttributes()])
            fgraph.replace(old, new)
            expected = [2.0 if own else 1.0 if given else None for given, own in zip(before, after)]
            assert new.name == (None if expected[0] is None else f"name {expected[0]}")
            tag = {what: value for what, value in zip(("note", "test_value"), expected[1:]) if value is not None}
            assert tag.items() <= new.tag.__dict__.items()
            assert tag.keys() == {what for what in ("note", "test_value", "trace") if hasattr(new.tag, what)}

    def test_the_filter_of_a_tag_is_not_handed_on(self):
        x = double("x")
        old, new = g(x), h(x)
        old.tag = ValidatingScratchpad("note", lambda value: value + 1)
        old.tag.note = 1
        fgraph = FunctionGraph([x], [f(old)], clone=False, features=[PreserveVariableAttributes()])
        fgraph.replace(old, new)
        new.tag.note += 10
        assert new.tag.note == 12 and new.tag.attr == "test_value"

    def test_no_output_from_inplace(self):
        x = double("x")
        overwrite = Toy("overwrite", destroys=[(0, 0)])
        fgraph = FunctionGraph([x], [f(x), f(x)], clone=False, features=[NoOutputFromInplace([1]), ReplaceValidate()])
        fgraph.replace_validate(fgraph.outputs[0], overwrite(x))
        with pytest.raises(InconsistencyError, match="Output 1"):
            fgraph.replace_validate(fgraph.outputs[1], overwrite(g(x)))
        beside = Toy("beside", nout=2, destroys=[(0, 0)], views=[(1, 1)])
        for allowed in (x, f(overwrite(g(x))), beside(g(x), x)[1], g(x)):
            fgraph.replace_validate(fgraph.outputs[1], allowed)
        with pytest.raises(InconsistencyError, match="Output 1"):
            fgraph.replace_validate(fgraph.outputs[1], Toy("show", views=[(0, 0)])(overwrite(f(x))))
        assert fgraph._features[0].clone().protected_out_ids == (1,)

    def test_bad_optimization(self):
        x = double("x")
        assert "Max Abs Diff: 0.25" in str(BadOptimization(f(x), g(x), np.array([1.5]), np.array([1.25])))
        error = BadOptimization(f(x), g(x), np.array([1.0]), np.array([1.5]), reason="test")
        assert "Max Abs Diff: 0.5" in str(error)
        assert "Reason: test" in error.str_diagnostic()
        assert str(BadOptimization(x, x, "a", "b")).startswith("BadOptimization")
        assert (BadOptimization(x).new_graph, BadOptimization(None, x, old_graph="text").old_graph) == ("None", "text")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            text = str(BadOptimization(x, x, np.array([np.nan, np.inf]), np.array([1.0, np.inf])))
        assert "Max Abs Diff" not in text
        error = BadOptimization(x, x, np.array([np.nan, 3.0]), np.array([np.nan, 2.0]))
        assert "Max Abs Diff: 1.0\n" in str(error) and "\n\nHint: relax" in str(error)

    def test_what_a_feature_does_that_defines_nothing(self):
        x = double("x")
        fgraph, feature = FunctionGraph([x], [f(x)], features=[NodeFinder()]), Feature()
        fgraph.attach_feature(feature)
        assert feature.clone() is feature and fgraph.clone()._features[1] is feature
        assert feature.orderings(fgraph) == {} and fgraph.toposort() == [fgraph.outputs[0].owner]
        assert fgraph.consistent()
        with pytest.raises(NotImplementedError, match="Feature does not define attribute_of"):
            feature.attribute_of(fgraph, "name")

    def test_checkpoints_can_be_taken_by_an_object(self):
        x = double("x")
        fgraph = FunctionGraph([x], [f(x)], clone=False, features=[history := History()])
        take = GetCheckpoint(history, fgraph)
        fgraph.replace(fgraph.outputs[0], g(x))
        start = take()
        fgraph.replace(fgraph.outputs[0], h(x))
        fgraph.revert(start)
        assert str(fgraph) == "FunctionGraph(g(x))"

    @pytest.mark.parametrize("verbose", [False, True])
    def test_who_has_asked_for_a_validation_that_failed(self, verbose, capsys):
        class Never(Feature):
            def validate(self, fgraph):
                raise InconsistencyError("never")

        x = double("x")
        fgraph = FunctionGraph([x], [x], features=[Never()])
        with config.change_flags(optimizer_verbose=verbose), pytest.raises(InconsistencyError):
            fgraph.validate()
        expected = "validate failed in test_who_has_asked_for_a_validation_that_failed: never\n"
        assert capsys.readouterr().out == expected * verbose

    def test_a_graph_that_is_being_made_has_no_methods_of_features(self):
        assert not hasattr(FunctionGraph.__new__(FunctionGraph), "checkpoint")

    def test_features_survive_pickling(self):
        x = double("x")
        fgraph = FunctionGraph([x], [f(g(x))], features=[NodeFinder(), ReplaceValidate(), Log()])
        copied = copy.deepcopy(fgraph)
        assert copied.get_nodes(f) == [copied.outputs[0].owner]
        copied.replace_validate(copied.outputs[0], h(copied.inputs[0]))
        assert len(copied.get_nodes(h)) == 1
        assert ("import", "h", None) in copied._features[2].events
        copied.remove_feature(copied._features[0])
        assert not hasattr(copied, "get_nodes")
        copied.check_integrity()


def test_the_mapping_of_updates_in_both_directions():
    x, y = variables("xy")
    fgraph = FunctionGraph([x, y], [f(x, y), g(x), h(y)], clone=False, update_mapping={1: 0, 2: 1})
    assert fgraph.inv_update_mapping == {0: 1, 1: 2}
    fgraph.remove_output(1)
    assert (fgraph.update_mapping, fgraph.inv_update_mapping) == ({1: 1}, {1: 1})
    assert FunctionGraph([x], [f(x)]).update_mapping == {}


def test_a_history_of_the_user_leaves_validated_replacements_as_they_are():
    x, y = variables("xy")
    fgraph = FunctionGraph([x, y], [f(x, y)], clone=False)
    fgraph.attach_feature(History())
    start = fgraph.checkpoint()
    assert fgraph.consistent()
    fgraph.replace_validate(fgraph.outputs[0], g(x))
    assert fgraph.outputs[0].owner.inputs == [x]
    fgraph.revert(start)
    assert fgraph.outputs[0].owner.inputs == [x, y]
