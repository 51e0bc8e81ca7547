"""Random changes of a graph, against a model that looks at everything anew after each change."""

from collections import Counter

import numpy as np
import pytest
from graph_toys import Double, Toy, double, variables

from aesara.graph import Constant, FunctionGraph
from aesara.graph.features import Feature, History
from aesara.graph.traversal import ancestors, io_toposort
from aesara.graph.utils import MissingInputError

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
    """The inputs of each node, and the inputs and outputs of the graph; a change goes through all of them."""

    def __init__(self, inputs, outputs, updated):
        self.inputs, self.outputs = list(inputs), list(outputs)
        #: for each output, the input whose new value it is
        self.updated = list(updated)
        self.inputs_of = {}
        for out in outputs:
            self.learn(out)

    def learn(self, variable):
        """Look at the nodes before a variable, as they are now."""
        node = variable.owner
        if node is not None and variable not in self.inputs and node not in self.inputs_of:
            self.inputs_of[node] = list(node.inputs)
            for v in node.inputs:
                self.learn(v)

    def copied(self):
        copied = Model(self.inputs, [], self.updated)
        copied.outputs, copied.inputs_of = list(self.outputs), {node: list(of) for node, of in self.inputs_of.items()}
        return copied

    def before(self, variables):
        """The nodes before some variables."""
        found, waiting = {}, list(variables)
        while waiting:
            variable = waiting.pop()
            node = variable.owner
            if node is not None and variable not in self.inputs and node not in found:
                found[node] = None
                waiting += self.inputs_of[node]
        return found

    def reachable(self):
        return self.before(self.outputs)

    def users(self, variable):
        found = [(node, i) for node in self.reachable() for i, v in enumerate(self.inputs_of[node]) if v is variable]
        return found + [("output", i) for i, v in enumerate(self.outputs) if v is variable]

    def set_input(self, node, i, new):
        self.learn(new)
        (self.outputs if node == "output" else self.inputs_of[node])[i] = new

    def keep_outputs(self, kept):
        self.outputs = [out for out, is_kept in zip(self.outputs, kept) if is_kept]
        self.updated = [v for v, is_kept in zip(self.updated, kept) if is_kept]

    def remove_nodes(self, removed):
        """Some nodes go, and all outputs that depend on them."""
        self.keep_outputs([not removed & self.before([out]).keys() for out in self.outputs])

    def remove_input(self, k):
        gone = self.inputs[k]
        users = {node for node, _ in self.users(gone) if node != "output"}
        self.keep_outputs([out is not gone and not users & self.before([out]).keys() for out in self.outputs])
        del self.inputs[k]
        self.updated = [None if v is gone else v for v in self.updated]

    def mapping(self):
        return {i: self.inputs.index(v) for i, v in enumerate(self.updated) if v is not None}


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


SHARES = {
    "replace": 0.3, "all": 0.12, "input": 0.18, "add": 0.12, "remove": 0.06, "add input": 0.04, "remove input": 0.04,
    "remove node": 0.02, "revert": 0.06, "nothing": 0.06,
}  # fmt: skip


@pytest.mark.parametrize("seed", range(16))
def test_random_changes(seed):
    rng = np.random.default_rng(seed)
    inputs = variables("abc")
    # What a node computes may be an input, beside another result of that node which is none, and so may a constant.
    computed = OPS[2](*inputs[:2])
    inputs += [computed[0], Constant(Double(), 5.0)]
    known = [*inputs, computed[1]]
    for _ in range(12):
        known.append(new_value(rng, known))
    outputs = [*known[-3:], inputs[rng.integers(len(inputs))]]
    early, late, history = Events(), Events(), History()
    mapping = {0: 1, 2: 0, 3: 3}
    fgraph = FunctionGraph(inputs, outputs, clone=False, features=[early], update_mapping=mapping)
    fgraph.attach_feature(late)
    fgraph.attach_feature(history)
    model = Model(inputs, outputs, [inputs[1], None, inputs[0], inputs[3]])
    counts, checkpoints = dict.fromkeys(SHARES, 0), [(fgraph.checkpoint(), model.copied())]
    for step in range(70):
        before, n_outputs, n_inputs = model.reachable(), len(model.outputs), len(model.inputs)
        order, inputs = fgraph.toposort(), list(model.inputs)
        early.seen.clear()
        late.seen.clear()
        reason = f"reason {step}"
        kind = list(SHARES)[rng.choice(len(SHARES), p=list(SHARES.values()))] if len(order) > 2 else "add"
        node = order[rng.integers(len(order))] if order else None
        earlier = inputs + [v for n in order[: order.index(node) if node else 0] for v in n.outputs]
        changed, ends = [], kind in ("add", "remove", "add input", "remove input", "remove node")
        if kind in ("replace", "all"):
            old = (node.outputs if rng.random() < 0.8 else inputs or node.outputs)[0]
            if old in inputs:
                earlier = inputs
            new = new_value(rng, earlier)
            if old is not new:
                changed = [(user, i, old, new) for user, i in model.users(old)]
            if kind == "all":
                fgraph.replace_all([(old, new)], reason=reason)
            else:
                fgraph.replace(old, new, reason=reason)
        elif kind == "input":
            i, new = int(rng.integers(len(node.inputs))), new_value(rng, earlier)
            if node.inputs[i] is not new:
                changed = [(node, i, node.inputs[i], new)]
            fgraph.change_node_input(node, i, new, reason=reason)
        elif kind == "add":
            missing = Double()("missing")
            new = new_value(rng, [v for n in order for v in n.outputs] + [*inputs, missing])
            if missing in ancestors([new]):
                with pytest.raises(MissingInputError):
                    fgraph.add_output(new)
                fgraph.check_integrity()
                model.inputs.append(missing)
            fgraph.add_output(new, reason=reason, import_missing=True)
            model.learn(new)
            model.outputs.append(new)
            model.updated.append(None)
        elif kind == "remove" and n_outputs:
            gone = int(rng.integers(n_outputs))
            fgraph.remove_output(gone, reason=reason)
            model.keep_outputs([i != gone for i in range(n_outputs)])
        elif kind == "add input":
            new = Double()("new")
            if rng.random() < 0.4 and node.outputs[0] not in inputs:  # what a node computes is given from now on
                new, reason = node.outputs[0], None
            for _ in range(2):  # an input already, the second time
                fgraph.add_input(new)
            model.inputs.append(new)
        elif kind == "remove input" and n_inputs:
            gone = int(rng.integers(n_inputs))
            model.remove_input(gone)
            fgraph.remove_input(gone, reason=reason)
        elif kind == "remove node":
            model.remove_nodes({node})
            fgraph.remove_node(node, reason=reason)
        elif kind == "revert":
            checkpoint, old_model = checkpoints.pop(rng.integers(len(checkpoints)))
            checkpoints = [(c, m) for c, m in checkpoints if c <= checkpoint]
            model = old_model.copied()
            fgraph.revert(checkpoint)
        for user, i, _, new in changed:
            model.set_input(user, i, new)
        if ends:
            checkpoints.clear()
        if not checkpoints or rng.random() < 0.2:
            checkpoints.append((fgraph.checkpoint(), model.copied()))
        after = model.reachable()
        other_ends = (len(model.inputs), len(model.outputs)) != (n_inputs, n_outputs)
        counts[kind] += before != after or bool(changed) or other_ends
        # -- the graph is what the model says
        fgraph.check_integrity()
        assert fgraph.inputs == model.inputs and fgraph.outputs == model.outputs
        assert fgraph.apply_nodes == set(after) and fgraph.update_mapping == model.mapping()
        assert fgraph.toposort() == io_toposort(model.inputs, model.outputs)
        for one in after:
            assert one.inputs == model.inputs_of[one]
        for v in [*fgraph.inputs, *(v for one in after for v in one.outputs)]:
            assert Counter(fgraph.clients[v]) == Counter(model.users(v)), v
        used = {*model.outputs, *(v for one in after for v in (*one.inputs, *one.outputs))}
        assert fgraph.variables == used and set(fgraph.clients) == used.union(model.inputs)
        # -- and has said what has changed, once, to all who listen
        assert early.seen == late.seen
        imported, pruned = early.of_kind("import"), early.of_kind("prune")
        if kind == "revert":
            assert {why[0] for *_, why in early.seen} <= {"Revert"}
            continue
        transient = [one for one, _ in imported if one not in after]
        assert {one for one, _ in imported if one in after} == {*differ(after, before)}
        assert {one for one, _ in pruned} == {*differ(before, after), *transient}
        assert len(set(imported)) == len(imported) and len(set(pruned)) == len(pruned)
        assert {why for *_, why in early.seen} <= {reason}
        assert Counter(early.of_kind("change")) == Counter((*one, reason) for one in changed)
        for k, (one, _) in enumerate(imported):
            assert not any(v.owner is later for v in one.inputs for later, _ in imported[k:] if v not in inputs)
    assert counts["replace"] > 3 and counts["all"] and counts["input"] > 2 and counts["add"]
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
