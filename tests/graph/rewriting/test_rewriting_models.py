"""What databases, indexes, patterns and merging give, compared with models that look at everything."""

import itertools

import numpy as np
import pytest

from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Constant, Variable
from aesara.graph.op import Op
from aesara.graph.rewriting.basic import (
    EquilibriumGraphRewriter,
    MergeOptimizer,
    node_rewriter,
    pre_constant_merge,
)
from aesara.graph.rewriting.db import EquilibriumDB, RewriteDatabase, RewriteDatabaseQuery, SequenceDB
from aesara.graph.rewriting.matching import as_pattern, matches, reify
from aesara.graph.rewriting.node_rewriters import is_tracked
from aesara.graph.rewriting.rewriter import GraphRewriter
from aesara.graph.rewriting.tracker import OpToRewriterTracker
from aesara.graph.traversal import io_toposort
from tests.graph.graph_toys import Double, Toy, variables

DOUBLE = Double()


class Pass(GraphRewriter):
    def apply(self, fgraph):
        pass


class OtherPass(Pass):
    pass


def some(rng, values, most=3):
    """Up to so many of some values."""
    return [str(v) for v in rng.choice(values, rng.integers(0, most + 1), replace=False)]


@pytest.mark.parametrize("made", [RewriteDatabase, SequenceDB, EquilibriumDB])
@pytest.mark.parametrize("seed", range(6))
def test_queries_of_databases(seed, made):
    rng = np.random.default_rng(seed)
    db = made()
    db.name = "all"
    names, tags = [f"n{k}" for k in range(8)], list("abcdef")
    members, positions = {}, {}
    for name in rng.permutation(names):
        given, rewriter = some(rng, tags), [Pass, OtherPass][rng.integers(2)]()
        place, as_tag = {}, bool(rng.random() < 0.7)
        if made is SequenceDB:
            last = rng.random() < 0.3
            positions[name] = max(positions.values(), default=-1) + 1 if last else float(rng.integers(0, 6)) / 2
            place = {} if last else {"position": positions[name]}
        db.register(str(name), rewriter, *given, use_db_name_as_tag=as_tag, **place)
        for tag in [str(name), type(rewriter).__name__, *given, *["all"][: int(as_tag)]]:
            members.setdefault(tag, []).append(str(name))
        if rng.random() < 0.3:
            added = next(t for t in rng.permutation(tags) if name not in members.get(t, ()))
            db.add_tags(str(name), str(added))
            members.setdefault(added, []).append(name)
        if given and rng.random() < 0.3:
            db.remove_tags(str(name), given[0])
            members[given[0]].remove(name)
    db.included_with = {"a": ("n1", "n5", "elsewhere"), "n2": ("n3",)}
    db.excluded_with = {"b": ("n2", "n6", "elsewhere"), "n4": ("n7",)}
    everything = [*names, *tags, "all", "Pass", "OtherPass", "unknown"]
    sizes = set()
    for _ in range(60):
        include, require, exclude = some(rng, everything, 4), some(rng, everything[8:], 1), some(rng, everything, 2)
        wanted = [name for tag in include for name in db.included_with.get(tag, ()) if name in names]
        wanted = list(dict.fromkeys([*wanted, *(name for tag in include for name in members.get(tag, ()))]))
        wanted = [name for name in wanted if all(name in members.get(tag, ()) for tag in require)]
        wanted = [name for name in wanted if not any(name in members.get(tag, ()) for tag in exclude)]
        wanted = [name for name in wanted if not any(name in db.excluded_with.get(tag, ()) for tag in exclude)]
        cutoff = float("inf")
        if made is SequenceDB:
            cutoff = float(rng.choice([1.5, 2, np.inf]))
            wanted = sorted((n for n in wanted if positions[n] < cutoff), key=lambda name: (positions[name], name))
        query = RewriteDatabaseQuery(include, require, exclude, position_cutoff=cutoff)
        marks = [*(f"+{t}" for t in include), *(f"&{t}" for t in require), *(f"-{t}" for t in exclude)]
        by_marks = db.query(*marks, position_cutoff=cutoff) if made is SequenceDB else db.query(*marks)
        for answer in (db.query(query), by_marks):
            found = answer.global_rewriters if made is EquilibriumDB else answer
            assert [rewriter.name for rewriter in found] == wanted
        assert query == RewriteDatabaseQuery(list(include), list(require), list(exclude), position_cutoff=cutoff)
        sizes.add(len(wanted))
    assert sizes > {0, 1, 2}


# Which rewriters are tried


class A(Toy):
    pass


class B(A):
    pass


class Order(Toy):
    new_order = (0,)


class S1:
    pass


class S2(S1):
    pass


def ops():
    plain = [cls(name, nout=1) for cls in (Toy, A, B) for name in "fg"]
    scalars = [cls("s", nout=1, scalar_op=scalar()) for cls in (A, B) for scalar in (S1, S2)]
    return plain + scalars + [Order("order")]


def is_of(op, key):
    if isinstance(key, tuple):
        return isinstance(op, key[0]) and isinstance(getattr(op, "scalar_op", None), key[1])
    return isinstance(op, key) if isinstance(key, type) else op == key


@pytest.mark.parametrize("seed", range(8))
def test_which_rewriters_are_tried_on_a_node(seed):
    """Those that track its op, or everything, and one of whose operands is among its inputs."""
    rng = np.random.default_rng(seed)
    made = ops()
    keys = [*made[:6], Toy, A, B, Op, (A, S1), (B, S1), (A, S2), (Toy, S2)]
    tracker, rewriters = OpToRewriterTracker(), []
    x = DOUBLE("x")
    level = [x, Constant(DOUBLE, 1.0), *(op(x) for op in made)]
    nodes = [rng.choice(made)(*(level[i] for i in rng.integers(0, len(level), 2))).owner for _ in range(80)]
    nodes += [op(Constant(DOUBLE, 2.0)).owner for op in made]
    for _ in range(12):
        chosen = [keys[i] for i in rng.choice(len(keys), rng.integers(1, 4), replace=False)]
        tracks = [None, chosen, tuple(chosen)][rng.integers(3)]
        needed = [None, [keys[rng.integers(len(keys))]], [Constant], [Constant, A]][rng.integers(4)]
        rewriter = node_rewriter(tracks)(lambda fgraph, node: False)
        rewriter.operands = lambda needed=needed: needed
        tracker.add_tracker(rewriter)
        rewriters.append((rewriter, tracks, needed))
        for node in rng.choice(nodes, 30):  # in between too: what is remembered is forgotten when others come
            tracking = [(r, n) for r, t, n in rewriters if t is None or any(is_of(node.op, key) for key in t)]
            assert list(tracker.get_trackers(node.op)) == [r for r, _ in tracking]
            expected = []
            for r, n in tracking:
                keys_of_ops = [key for key in n or () if key is not Constant]
                owners = [v.owner.op for v in node.inputs if v.owner is not None]
                found = any(is_of(op, key) for op in owners for key in keys_of_ops)
                if n and Constant in n:
                    found |= any(isinstance(v, Constant) for v in node.inputs)
                    found |= any(hasattr(op, "new_order") for op in owners)
                if n is None or found:
                    expected.append(r)
            assert list(tracker.get_node_trackers(node)) == expected
            assert [r for r, *_ in rewriters if is_tracked(r.tracks(), node.op)] == [r for r, _ in tracking]
    assert list(tracker.get_rewriters()) == [r for r, *_ in rewriters]


# Patterns


class Converting(Toy):
    """Takes numbers too."""

    def make_node(self, *inputs):
        return super().make_node(*[v if isinstance(v, Variable) else Constant(DOUBLE, v) for v in inputs])


def are_equal_constants(one, other):
    return isinstance(one, Constant) and isinstance(other, Constant) and one.data == other.data


def all_matches(pattern, var, known):
    """All ways in which a variable matches a pattern, by trying all orders of all inputs."""
    if isinstance(pattern, str):
        if pattern in known:
            return [known] if known[pattern] is var or are_equal_constants(known[pattern], var) else []
        return [{**known, pattern: var}]
    if isinstance(pattern, float):
        return [known] if isinstance(var, Constant) and var.data == pattern else []
    if isinstance(pattern, dict):
        return all_matches(pattern["pattern"], var, known) if pattern["constraint"](var) else []
    op, *parts = pattern
    node = var.owner
    if node is None or len(node.inputs) != len(parts) or len(node.outputs) != 1:
        return []
    if not (isinstance(node.op, op) if isinstance(op, type) else node.op == op if isinstance(op, Op) else op(node.op)):
        return []
    found = []
    commutes = getattr(node.op, "commutative", False)
    for inputs in itertools.permutations(node.inputs) if commutes else [tuple(node.inputs)]:
        ways = [known]
        for part, v in zip(parts, inputs):
            ways = [way for before in ways for way in all_matches(part, v, before)]
        found += ways
    return found


class Single(Converting):
    pass


@pytest.mark.parametrize("seed", range(8))
def test_matches_of_patterns(seed):
    rng = np.random.default_rng(seed)
    either, ordered, single = Converting("either", commutative=True), Converting("ordered"), Single("single")
    known = [*variables("ab"), *(Constant(DOUBLE, value) for value in (1.0, 1.0, 2.0))]
    for _ in range(40):
        op = [either, ordered, single][rng.integers(3)]
        known.append(op(*(known[i] for i in rng.integers(0, len(known), 1 if op is single else 2))))
    known += [Toy("two", nout=2)(*known[:2], return_list=True)[0], Toy("nothing", commutative=True)(known[0])]

    def pattern_of(var, depth):
        """A pattern that mostly fits a variable."""
        kind = rng.random()
        if depth == 0 or kind < 0.3 or (var.owner is None and not isinstance(var, Constant)):
            name = "xyz"[rng.integers(3)]
            return {"pattern": name, "constraint": lambda v: v.owner is not None} if kind < 0.05 else name
        if isinstance(var, Constant):
            return [1.0, 2.0][int(kind > 0.9)]
        parts = [pattern_of(v, depth - 1) for v in var.owner.inputs]
        op = var.owner.op
        starts = [op, op, op, type(op), Single, lambda other: other.name == op.name]
        return (starts[rng.integers(6)], *(parts[::-1] if kind > 0.8 else parts))

    counts = {0: 0, 1: 0, 2: 0}
    for _ in range(300):
        var = known[rng.integers(5, len(known))]
        pattern = pattern_of(var, 3)
        if not isinstance(pattern, tuple):
            continue
        expected = all_matches(pattern, var, {})
        assert list(matches(as_pattern(pattern), var, commutative=True)) == expected
        counts[min(len(expected), 2)] += 1
        bound = {"x": known[0]}
        assert list(matches(as_pattern(pattern), var, bound, True)) == all_matches(pattern, var, bound)
        if expected and not any(word in str(pattern) for word in ("constraint", "class", "lambda")):
            built = reify(pattern, expected[0])
            assert all_matches(pattern, built, {}) and built.owner.op == var.owner.op
    assert min(counts.values()) > 1, counts


# Merging


def meaning(var, memo):
    """A number for what is computed: the same for equal computations."""
    if var not in memo["of"]:
        if isinstance(var, Constant):
            key = ("constant", var.data)
        elif var.owner is None:
            key = ("input", id(var))
        else:
            key = (var.owner.op, var.index, *(meaning(v, memo) for v in var.owner.inputs))
        memo["of"][var] = memo["keys"].setdefault(key, len(memo["keys"]))
    return memo["of"][var]


@pytest.mark.parametrize("seed", range(8))
def test_equal_computations_are_merged(seed):
    rng = np.random.default_rng(seed)
    made = [Toy("f"), Toy("g"), Toy("two", nout=2)]
    inputs = variables("ab")
    known = list(inputs)
    for _ in range(60):
        constants = [Constant(DOUBLE, float(rng.integers(2)))]
        choices = [*known[-12:], *constants]
        op = made[rng.integers(3)]
        known += op(*(choices[i] for i in rng.integers(0, len(choices), rng.integers(1, 3))), return_list=True)
    outputs = [*known[-4:], Constant(DOUBLE, 1.0), Constant(DOUBLE, 1.0)]
    memo = {"of": {}, "keys": {}}
    before = [meaning(out, memo) for out in outputs]
    fgraph = FunctionGraph(inputs, outputs, clone=False)
    nodes_before = len(fgraph.apply_nodes)
    groups = {(node.op, *(meaning(v, memo) for v in node.inputs)) for node in fgraph.apply_nodes}
    _, merged, *counts = MergeOptimizer().rewrite(fgraph)
    fgraph.check_integrity()
    assert counts == [nodes_before, len(fgraph.apply_nodes)] and len(fgraph.apply_nodes) == len(groups)
    memo["of"].clear()
    assert [meaning(out, memo) for out in fgraph.outputs] == before
    constants = [v for v in fgraph.variables if isinstance(v, Constant)]
    assert len(constants) == len({v.data for v in constants}) and merged
    assert fgraph.outputs[-1] is fgraph.outputs[-2]
    assert fgraph.merge_feature.dirty is False and MergeOptimizer().rewrite(fgraph)[1] == 0
    fgraph.replace(fgraph.outputs[0], made[0](Constant(DOUBLE, 1.0), *inputs))
    assert MergeOptimizer().rewrite(fgraph)[1] == 1


@pytest.mark.parametrize("seed", range(8))
def test_equal_computations_are_merged_after_changes(seed):
    rng = np.random.default_rng(seed)
    made = [Toy("f"), Toy("g"), Toy("two", nout=2)]
    inputs = variables("ab")
    known = list(inputs)

    def grow(known):
        choices = [*known[-12:], Constant(DOUBLE, float(rng.integers(3)))]
        op = made[rng.integers(3)]
        return op(*(choices[i] for i in rng.integers(0, len(choices), rng.integers(1, 3))), return_list=True)

    for _ in range(40):
        known += grow(known)
    fgraph = FunctionGraph(inputs, known[-4:], clone=False)
    merges = 0
    for _ in range(40):
        MergeOptimizer().rewrite(fgraph)
        fgraph.check_integrity()
        memo = {"of": {}, "keys": {}}
        groups = {(node.op, *(meaning(v, memo) for v in node.inputs)) for node in fgraph.apply_nodes}
        assert len(groups) == len(fgraph.apply_nodes)
        before = [meaning(out, memo) for out in fgraph.outputs]
        # Graphs of what is there, and copies of nodes, take the place of variables that others do not depend on.
        order = [node for node in fgraph.toposort() if node.inputs]
        if not order:
            break
        position = rng.integers(len(order))
        old = order[position].outputs[0]
        below = [*inputs, *(v for node in order[:position] for v in node.outputs)]
        for _ in range(rng.integers(3)):
            below += grow(below)
        copy = order[position].clone() if rng.random() < 0.5 else None
        new = copy.outputs[0] if copy is not None else below[-1]
        fgraph.replace(old, new)
        if copy is not None:
            merges += 1
            MergeOptimizer().rewrite(fgraph)
            memo["of"].clear()
            assert [meaning(out, memo) for out in fgraph.outputs] == before
        if len(fgraph.apply_nodes) < 10:
            fgraph.add_output(grow(grow([*inputs, *fgraph.outputs]))[0])
    assert merges


def test_constants_are_merged_before_there_is_a_graph():
    """Inputs of nodes that are in the graph are left alone, and the first constant stands for the others."""
    x = DOUBLE("x")
    f, g = Toy("f"), Toy("g")
    one = [Constant(DOUBLE, 1.0) for _ in range(6)]
    inside = f(x, one[0])
    fgraph = FunctionGraph([x], [g(inside, one[1])], clone=False)
    low = f(inside, one[2])
    high = [g(low, one[3]), g(one[4], low), one[5]]
    merged = pre_constant_merge(fgraph, high)
    assert merged[:2] == high[:2] and fgraph.outputs[0].owner.inputs[1] is one[1] and inside.owner.inputs[1] is one[0]
    assert low.owner.inputs == [inside, one[2]] and merged[2] is one[2]
    assert high[0].owner.inputs == [low, one[2]] and high[1].owner.inputs == [one[2], low]
    assert pre_constant_merge(None, one[5]) == [one[5]]
    assert len(io_toposort([inside], merged)) == 3


@pytest.mark.parametrize("seed", range(8))
def test_the_first_constant_stands_for_its_equals(seed):
    """The first on a walk that comes to the inputs of a node in their order, and to all before a node before it."""
    rng = np.random.default_rng(seed)
    known = variables("ab")
    made = [Toy("f"), Toy("g"), Toy("two", nout=2)]
    inside = made[0](known[0], Constant(DOUBLE, 0.0))
    fgraph = FunctionGraph(known, [inside], clone=False)
    known.append(inside)
    for _ in range(14):
        choices = [*known, *(Constant(DOUBLE, float(k)) for k in rng.integers(0, 3, 3))]
        chosen = [choices[k] for k in rng.integers(0, len(choices), rng.integers(1, 4))]
        known += made[rng.integers(3)](*chosen, return_list=True)
    given = [*(known[k] for k in rng.integers(3, len(known), 3)), Constant(DOUBLE, 1.0), Constant(DOUBLE, 2.0)]
    first, seen = {}, set()
    expected = {}

    def visit(node):
        if node is not None and node not in seen and node not in fgraph.apply_nodes:
            seen.add(node)
            for v in node.inputs:
                visit(v.owner)
            expected[node] = [of(v) for v in node.inputs]

    def of(v):
        return first.setdefault(v.data, v) if isinstance(v, Constant) else v

    for v in given:
        visit(v.owner)
    results = [of(v) for v in given]
    untouched = {v.owner: list(v.owner.inputs) for v in known if v.owner is not None and v.owner not in expected}
    assert all(one is other for one, other in zip(pre_constant_merge(fgraph, given), results, strict=True))
    for node, inputs in (expected | untouched).items():
        assert all(one is other for one, other in zip(node.inputs, inputs, strict=True)), node


class Changing(GraphRewriter):
    """Changes a graph a number of times: gives work to a rule for nodes, or not."""

    def __init__(self, name, log, changes, idempotent=False):
        self.name, self.log, self.changes, self.idempotent = name, log, list(changes), idempotent

    def apply(self, fgraph):
        self.log.append(self.name)
        if self.changes:
            op = TO_DO if self.changes.pop(0) else Toy(f"{self.name} {len(self.changes)}")
            fgraph.replace(fgraph.outputs[0], op(fgraph.inputs[0]))


TO_DO, DONE = Toy("to do"), Toy("done")


@pytest.mark.parametrize("seed", range(40))
def test_the_order_in_which_an_equilibrium_applies_its_rewriters(seed):
    """Passes when the graph has changed since their turn, then rules, cleanup, and at rest the final ones."""
    rng = np.random.default_rng(seed)
    log = []

    def some_changes():
        return [bool(v) for v in rng.integers(0, 2, max(0, rng.integers(-1, 3)))]

    def rewriters(name, most):
        count = rng.integers(most + 1)
        return [Changing(f"{name}{k}", log, some_changes(), bool(rng.integers(2))) for k in range(count)]

    @node_rewriter([TO_DO])
    def work(fgraph, node):
        log.append("rule")
        return DONE(*node.inputs, return_list=True)

    passes, cleanup, final = rewriters("pass", 2), rewriters("cleanup", 2), rewriters("final", 1)
    x = DOUBLE("x")
    fgraph = FunctionGraph([x], [[TO_DO, DONE][rng.integers(2)](x)], clone=False)
    # -- what is promised
    expected, to_do = [], fgraph.outputs[0].owner.op == TO_DO
    changes = {one: list(one.changes) for one in (*passes, *cleanup, *final)}

    def apply(one):
        nonlocal to_do
        expected.append(one.name)
        changed = bool(changes[one])
        if changed:
            to_do = changes[one].pop(0)
        return changed

    due = set(passes)
    rounds = 0
    while True:
        rounds += 1
        for one in passes:
            if one in due:
                changed = apply(one)
                if changed:
                    due = set(passes)
                if one.idempotent or not changed:
                    due.discard(one)
        if to_do:
            expected.append("rule")
            due, to_do = set(passes), False
        changed = sum([apply(one) for one in cleanup])
        if not changed:
            changed = sum([apply(one) for one in final])
        if not changed and not due:
            break
    groups = {"final_rewriters": final, "cleanup_rewriters": cleanup}
    equilibrium = EquilibriumGraphRewriter([*passes, work], max_use_ratio=10, **groups)
    profile = equilibrium.rewrite(fgraph)
    assert log == expected and profile.rounds == rounds
