"""Random replacements that are validated, against what the graph was before."""

import contextlib
import gc
import weakref
from collections import Counter

import numpy as np
import pytest
from graph_toys import Interval, Toy, double, f, g, h, variables

from aesara.configdefaults import config
from aesara.graph import Apply, Constant, FunctionGraph
from aesara.graph.cloning import clone_get_equiv
from aesara.graph.features import Feature, History, ReplacementDidNotRemoveError, ReplaceValidate
from aesara.graph.utils import InconsistencyError

BAD = Toy("bad")
OPS = [f, g, h]


class Refuses(Feature):
    """No graph may have an operation of this kind; says what it is told."""

    def __init__(self):
        self.told = []

    def validate(self, fgraph):
        self.told.append("validate")
        if any(node.op == BAD for node in fgraph.apply_nodes):
            raise InconsistencyError("bad")

    def on_transaction(self, fgraph):
        self.told.append("begins")

    def on_rollback(self, fgraph):
        self.told.append("undone")


def state(fgraph):
    """The nodes of a graph, with their inputs, and the outputs: the very variables."""
    return {node: list(node.inputs) for node in fgraph.apply_nodes}, list(fgraph.outputs)


def some_value(rng, earlier, bad):
    """A variable of some others, by new nodes."""
    value = earlier[rng.integers(len(earlier))]
    for _ in range(rng.integers(1, 3)):
        value = OPS[rng.integers(3)](value, earlier[rng.integers(len(earlier))])
    return BAD(value) if bad else value


def outcome(fgraph, replacements, removed):
    """What the replacements make of a copy of the graph: its text, or the error that is due."""
    copied, equiv = fgraph.clone_get_equiv(attach_feature=False)
    new_values = [clone_get_equiv([], [new], copy_orphans=False, memo=dict(equiv))[new] for _, new in replacements]
    try:
        for (old, _), new in zip(replacements, new_values):
            copied.replace(equiv[old], new)
    except TypeError:
        return TypeError
    if any(node.op == BAD for node in copied.apply_nodes):
        return InconsistencyError
    if any(equiv[one] in (copied.apply_nodes if isinstance(one, Apply) else copied.variables) for one in removed):
        return ReplacementDidNotRemoveError
    return str(copied)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("held", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_random_replacements_happen_as_a_whole_or_not_at_all(seed, held):
    """And are kept in mind only for who holds a checkpoint, to which the graph can be taken back."""
    rng = np.random.default_rng(seed)
    inputs = variables("abc")
    known = [*inputs, Constant(double, 1.0)]
    for _ in range(10):
        known.append(OPS[rng.integers(3)](*(known[k] for k in rng.integers(0, len(known), 2))))
    history, refuses = ReplaceValidate(), Refuses()
    fgraph = FunctionGraph(inputs, known[-3:], clone=False, features=[history, refuses])
    checkpoints = [(fgraph.checkpoint(), state(fgraph))] if held else []
    seen = Counter()
    for _ in range(60):
        if checkpoints and rng.random() < 0.2:
            number, expected = checkpoints[rng.integers(len(checkpoints))]
            checkpoints = [(other, then) for other, then in checkpoints if other <= number]
            fgraph.revert(number)
            assert state(fgraph) == expected
            seen["taken back"] += 1
        order, before = fgraph.toposort(), state(fgraph)
        replacements, kind = [], ("bad", "wrong", *["good"] * 4)[rng.integers(6)]
        for node in rng.choice(order, min(len(order), rng.integers(1, 3)), replace=False):
            earlier = [*inputs, *(v for n in order[: order.index(node)] for v in n.outputs)]
            replacements.append((node.outputs[0], some_value(rng, earlier, kind == "bad")))
        if kind == "wrong":
            replacements[-1] = (replacements[-1][0], Interval(0, 1)())
        node = order[rng.integers(len(order))]
        some = [replacements[0][0], (node, node.outputs[0])[rng.integers(2)]]
        removed = some[: rng.integers(1, 3)] if rng.random() < 0.5 else []
        expected = outcome(fgraph, replacements, removed)
        refuses.told.clear()
        with contextlib.nullcontext() if isinstance(expected, str) else pytest.raises(expected):
            if removed:
                fgraph.replace_all_validate_remove(replacements, removed, warn=False)
            elif len(replacements) == 1:
                fgraph.replace_validate(*replacements[0])
            else:
                fgraph.replace_all_validate(replacements)
        fgraph.check_integrity()
        if isinstance(expected, str):
            assert str(fgraph) == expected and refuses.told == ["begins", "validate"]
        else:
            assert state(fgraph) == before
            undone = {TypeError: ["undone"], InconsistencyError: ["validate", "undone"]}.get(expected, ["validate"])
            assert refuses.told == ["begins", *undone]
        seen["done" if isinstance(expected, str) else expected] += 1
        if not held:
            assert fgraph._history_history == []
        elif rng.random() < 0.3:
            checkpoints.append((fgraph.checkpoint(), state(fgraph)))
    assert all(seen[what] for what in ("done", TypeError, InconsistencyError, ReplacementDidNotRemoveError)), seen
    assert held == bool(seen["taken back"])


@pytest.mark.parametrize("option", [False, True])
@pytest.mark.parametrize("verbose", [None, False, True])
def test_replacements_are_printed_where_that_is_wanted(option, verbose, capsys):
    x = double("x")
    fgraph = FunctionGraph([x], [f(x), g(x)], clone=False, features=[ReplaceValidate(), Refuses()])
    given = {} if verbose is None else {"verbose": verbose}
    with config.change_flags(optimizer_verbose=option):
        fgraph.replace_all_validate([(fgraph.outputs[0], h(x)), (fgraph.outputs[1], x)], reason="why", **given)
        done = capsys.readouterr().out.splitlines()
        with pytest.raises(InconsistencyError):
            fgraph.replace_all_validate([(fgraph.outputs[0], BAD(x))], reason="why", **given)
        undone = capsys.readouterr().out
    if option if verbose is None else verbose:
        assert done == [
            "rewriting: rewrite why replaces f.0 of f(x) with h.0 of h(x)",
            "rewriting: rewrite why replaces g.0 of g(x) with x of None",
        ]
        assert undone.endswith("rewriting: validate failed on node h.0.\n Reason: why, bad\n")
    else:
        assert done == [] and "rewriting" not in undone


def test_the_history_of_a_copy_is_its_own():
    x, y = variables("xy")
    for kind in (History, ReplaceValidate):
        fgraph = FunctionGraph([x, y], [f(x)], clone=False, features=[kind()])
        copied = fgraph.clone()
        (of_copy,) = copied._features
        assert type(of_copy) is kind and of_copy is not fgraph._features[0]
        start = fgraph.checkpoint(), copied.checkpoint()
        copied.replace(copied.outputs[0], g(copied.inputs[1]))
        fgraph.revert(start[0])
        assert str(copied) == "FunctionGraph(g(y))"
        copied.revert(start[1])
        assert str(copied) == "FunctionGraph(f(x))"
        seen = weakref.ref(copied)
        del copied, of_copy
        gc.collect()
        assert seen() is None


def test_a_change_to_a_narrower_type_is_undone():
    wide, narrow = Interval(0, 10)("wide"), Interval(1, 2)("narrow")
    fgraph = FunctionGraph([wide, narrow], [f(f(wide))], clone=False, features=[ReplaceValidate(), Refuses()])
    before = state(fgraph)
    with pytest.raises(InconsistencyError):
        fgraph.replace_all_validate([(wide, narrow), (fgraph.outputs[0], BAD(wide))])
    assert state(fgraph) == before
