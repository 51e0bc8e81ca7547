"""Random changes of a graph, against a model that looks at everything anew after each change."""

from collections import Counter

import numpy as np
import pytest
from graph_toys import Double, Toy, double, variables

from aesara.graph import Constant, FunctionGraph
from aesara.graph.features import Feature

SHARES = [0.35, 0.15, 0.2, 0.1, 0.1, 0.1]
OPS = [Toy("f"), Toy("g"), Toy("two", nout=2), Toy("three", nout=3)]


class Events(Feature):
    """All that a graph says of its changes, in order."""

    def __init__(self):
        self.seen = []

    def on_import(self, fgraph, node, reason):
        self.seen.append(("import", node, reason))

    def on_prune(self, fgraph, node, reason):
        self.seen.append(("prune", node, reason))

    def on_change_input(self, fgraph, node, i, old, new, reason=None):
        self.seen.append(("change", node, i, old, new, reason))

    def of_kind(self, kind):
        return [event[1:] for event in self.seen if event[0] == kind]


class Model:
    """The inputs of each node, and the outputs of the graph; a change goes through all of them."""

    def __init__(self, outputs):
        self.outputs = list(outputs)
        self.inputs_of = {}
        for out in outputs:
            self.learn(out)

    def learn(self, variable):
        """Look at the nodes before a variable, as they are now."""
        node = variable.owner
        if node is not None and node not in self.inputs_of:
            self.inputs_of[node] = list(node.inputs)
            for v in node.inputs:
                self.learn(v)

    def reachable(self):
        found, waiting = {}, [out.owner for out in self.outputs]
        while waiting:
            node = waiting.pop()
            if node is not None and node not in found:
                found[node] = None
                waiting += [v.owner for v in self.inputs_of[node]]
        return found

    def users(self, variable):
        found = [(node, i) for node in self.reachable() for i, v in enumerate(self.inputs_of[node]) if v is variable]
        return found + [("output", i) for i, v in enumerate(self.outputs) if v is variable]

    def set_input(self, node, i, new):
        self.learn(new)
        (self.outputs if node == "output" else self.inputs_of[node])[i] = new


def new_value(rng, earlier):
    """A variable that is computed of some others by up to three new nodes, or a constant, or one of the others."""
    choices = [*earlier, Constant(Double(), float(rng.integers(3)))]
    for _ in range(rng.integers(0, 4)):
        op = OPS[rng.integers(len(OPS))]
        results = op(*(choices[k] for k in rng.integers(0, len(choices), rng.integers(1, 4))), return_list=True)
        choices += results
    return choices[-1] if rng.random() < 0.8 else choices[rng.integers(len(choices))]


def differ(before, after):
    return [one for one in before if one not in after]


@pytest.mark.parametrize("seed", range(12))
def test_random_changes(seed):
    rng = np.random.default_rng(seed)
    inputs = variables("abc")
    known = list(inputs)
    for _ in range(12):
        known.append(new_value(rng, known))
    outputs = known[-3:]
    early, late = Events(), Events()
    fgraph = FunctionGraph(inputs, outputs, clone=False, features=[early])
    fgraph.attach_feature(late)
    model, counts = Model(outputs), dict.fromkeys(("replace", "all", "input", "add", "remove", "nothing"), 0)
    for step in range(60):
        before, n_outputs = model.reachable(), len(model.outputs)
        order = fgraph.toposort()
        early.seen.clear()
        late.seen.clear()
        reason = f"reason {step}"
        kind = ["replace", "all", "input", "add", "remove", "nothing"][rng.choice(6, p=SHARES)]
        node = order[rng.integers(len(order))] if order else None
        earlier = [v for n in order[: order.index(node)] for v in n.outputs] + inputs if node else inputs
        changed = []
        if kind in ("replace", "all") and node:
            old, new = node.outputs[rng.integers(len(node.outputs))], new_value(rng, earlier)
            if old is not new:
                changed = [(user, i, old, new) for user, i in model.users(old)]
            if kind == "all":
                fgraph.replace_all([(old, new)], reason=reason)
            else:
                fgraph.replace(old, new, reason=reason)
        elif kind == "input" and node:
            i, new = int(rng.integers(len(node.inputs))), new_value(rng, earlier)
            if node.inputs[i] is not new:
                changed = [(node, i, node.inputs[i], new)]
            fgraph.change_node_input(node, i, new, reason=reason)
        elif kind == "add":
            new = new_value(rng, [v for n in order for v in n.outputs] + inputs)
            fgraph.add_output(new, reason=reason, import_missing=True)
            model.learn(new)
            model.outputs.append(new)
        elif kind == "remove" and len(model.outputs) > 1:
            gone = int(rng.integers(len(model.outputs)))
            fgraph.remove_output(gone, reason=reason)
            del model.outputs[gone]
        for user, i, _, new in changed:
            model.set_input(user, i, new)
        after = model.reachable()
        counts[kind] += before != after or bool(changed) or len(model.outputs) != n_outputs
        # -- the graph is what the model says
        fgraph.check_integrity()
        assert fgraph.outputs == model.outputs and fgraph.apply_nodes == set(after)
        for one in after:
            assert one.inputs == model.inputs_of[one]
            for i, v in enumerate(one.outputs):
                assert Counter(fgraph.clients[v]) == Counter(model.users(v)), (one, i)
        # -- and has said what has changed, once, to all who listen
        assert early.seen == late.seen
        imported, pruned = early.of_kind("import"), early.of_kind("prune")
        transient = [one for one, _ in imported if one not in after]
        assert {one for one, _ in imported if one in after} == {*differ(after, before)}
        assert {one for one, _ in pruned} == {*differ(before, after), *transient}
        assert len(set(imported)) == len(imported) and len(set(pruned)) == len(pruned)
        assert {why for *_, why in early.seen} <= {reason}
        assert Counter(early.of_kind("change")) == Counter((*one, reason) for one in changed)
        for k, (one, _) in enumerate(imported):
            assert not any(v.owner is later for v in one.inputs for later, _ in imported[k:]), "inputs come first"
    assert counts["replace"] > 5 and counts["all"] and counts["input"] > 2 and counts["add"] and counts["remove"]
    assert counts["nothing"] == 0


def test_a_graph_follows_what_it_is_told_of_its_inputs():
    x, y = variables("xy")
    out = OPS[0](x)
    fgraph = FunctionGraph([x, y], [out], clone=False)
    fgraph.remove_input(1)
    assert fgraph.inputs == [x] and y not in fgraph.variables
    fgraph.add_input(z := double("z"))
    fgraph.add_output(OPS[1](z))
    assert fgraph.inputs == [x, z] and fgraph.clients[z] == [(fgraph.outputs[1].owner, 0)]
    fgraph.check_integrity()
