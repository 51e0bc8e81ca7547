import numpy as np
import pytest
from graph_toys import Inner, Toy, chain, double, f, g, h, pair, variables, view

from aesara.graph import Constant
from aesara.graph.basic import (
    ancestors,
    apply_depends_on,
    applys_between,
    as_string,
    explicit_graph_inputs,
    general_toposort,
    get_var_by_name,
    graph_inputs,
    io_connection_pattern,
    io_toposort,
    is_in_ancestors,
    list_of_nodes,
    op_as_string,
    orphans_between,
    truncated_graph_inputs,
    variable_depends_on,
    vars_between,
    view_roots,
    walk,
)

DEEP = 100_000


class TestWalk:
    tree = {1: [2, 3], 2: [4, 5], 3: [5], 4: None, 5: []}

    def test_breadth_first(self):
        assert list(walk([1], self.tree.get)) == [1, 2, 3, 4, 5]

    def test_depth_first_takes_the_last_first(self):
        assert list(walk([1], self.tree.get, bfs=False)) == [1, 3, 5, 2, 4]

    def test_children(self):
        assert list(walk([2], self.tree.get, return_children=True)) == [(2, [4, 5]), (4, None), (5, [])]
        pairs = list(walk([1], lambda n: iter([0] if n else []), return_children=True))
        assert pairs == [(1, [0]), (0, [])]

    def test_hash_function_decides_what_is_the_same(self):
        assert list(walk([1, 11, 2], lambda n: None, hash_fn=lambda n: n % 10)) == [1, 2]


def test_ancestors():
    a, b, c = variables("abc")
    p = f(a, b)
    q = g(p, c)
    assert list(ancestors([q])) == [q, p, a, b, c]
    assert list(ancestors([q], blockers=[p])) == [q, p, c]
    assert list(ancestors([q, p, a])) == [a, p, b, q, c]
    assert list(ancestors([])) == []


def test_graph_inputs():
    a, b, c = variables("abc")
    p = f(a, b)
    assert list(graph_inputs([g(p, c)])) == [a, b, c]
    assert list(graph_inputs([g(p, c)], blockers=[p])) == [c]
    one = Constant(double, 1)
    assert list(graph_inputs([f(a, one)])) == [a, one]
    assert list(explicit_graph_inputs(f(a, one))) == [a]
    assert list(explicit_graph_inputs([f(a, one), b])) == [b, a]


def test_orders_are_those_of_walks():
    x, y, z = variables("xyz")
    first = f(x, y)
    second = g(z, first)
    assert list(vars_between([x, y], [second])) == [second, first, z, y, x]
    third = f(z, y)
    assert list(applys_between([x, y], [h(z, first, third)]))[1:] == [third.owner, first.owner]
    users = {}
    order = general_toposort([second], lambda item: getattr(item, "inputs", None) or item.get_parents(), clients=users)
    assert order == [y, x, z, first.owner, first, second.owner, second]
    assert users[first] == [second.owner]
    with pytest.raises(ValueError, match="deps_cache"):
        general_toposort([second], None, compute_deps_cache=lambda item: [])


def test_between():
    a, b, c = variables("abc")
    p = f(a, b)
    q = g(p, c)
    assert set(vars_between([a, b, c], [q])) == {a, b, c, p, q}
    assert set(vars_between([p], [q])) == {p, q, c}
    assert list(orphans_between([a, c], [q])) == [b]
    assert list(orphans_between([p], [q])) == [c]
    assert list(applys_between([a, b, c], [q])) == [q.owner, p.owner]
    assert list(applys_between([p], [q])) == [q.owner]
    assert list_of_nodes([a, b, c], [q]) == [q.owner, p.owner]


def test_nodes_with_several_outputs_come_once():
    x = double("x")
    first, second = pair(x)
    y = f(first, second)
    assert list(applys_between([x], [y])).count(first.owner) == 1
    assert set(vars_between([x], [f(first)])) >= {first, second}


def test_dependence():
    a, b = variables("ab")
    p = f(a)
    q = g(p)
    assert variable_depends_on(q, a)
    assert variable_depends_on(q, [b, p])
    assert not variable_depends_on(q, b)
    assert apply_depends_on(q.owner, p.owner)
    assert apply_depends_on(p.owner, [p.owner])
    assert not apply_depends_on(p.owner, q.owner)
    assert is_in_ancestors(q.owner, p.owner)
    assert not is_in_ancestors(p.owner, q.owner)


class TestToposort:
    def test_dependencies_come_first(self):
        a, b = variables("ab")
        p = f(a)
        q = g(b)
        r = h(p, q, p)
        assert io_toposort([a, b], [r]) == [p.owner, q.owner, r.owner]
        assert io_toposort([p, b], [r]) == [q.owner, r.owner]
        assert io_toposort([r], [r]) == []
        assert io_toposort([a, b], [q, p]) == [q.owner, p.owner]

    def test_orderings(self):
        a = double("a")
        p, q = f(a), g(a)
        r = h(p, q)
        assert io_toposort([a], [r], {p.owner: [q.owner]}) == [q.owner, p.owner, r.owner]
        with pytest.raises(ValueError, match="cycle"):
            io_toposort([a], [r], {p.owner: [r.owner]})

    def test_clients(self):
        a = double("a")
        p = f(a)
        q = g(p, a)
        clients = {}
        io_toposort([a], [q], clients=clients)
        assert clients[a] == [p.owner, q.owner]
        assert clients[p] == [q.owner]
        assert clients[p.owner] == [p]

    def test_clients_include_what_waits(self):
        a = double("a")
        p, q = f(a), g(a)
        clients = {}
        io_toposort([a], [p, q], {p.owner: [q.owner]}, clients)
        assert clients[q.owner] == [q, p.owner]

    def test_cycles_are_found(self):
        a = double("a")
        p = f(a)
        q = g(p)
        p.owner.inputs[0] = q
        with pytest.raises(ValueError, match="cycle"):
            io_toposort([a], [q])

    def test_general(self):
        deps = {"d": ["b", "c"], "b": ["a"], "c": ["a"], "a": None}
        clients, cache = {}, {}
        assert general_toposort(["d"], deps.get, clients=clients, deps_cache=cache) == ["a", "c", "b", "d"]
        assert clients == {"a": ["c", "b"], "b": ["d"], "c": ["d"]}
        assert cache["d"] == ["b", "c"]
        filled = {}
        assert general_toposort(["d"], None, deps.get, filled) == ["a", "c", "b", "d"] and filled == cache
        with pytest.raises(ValueError, match="needs `deps_cache`"):
            general_toposort(["d"], deps.get, compute_deps_cache=deps.get)
        with pytest.raises(ValueError, match="cycle"):
            general_toposort(["a"], {"a": ["b"], "b": ["a"]}.get)

    def test_random_graphs(self):
        rng = np.random.default_rng(0)
        for _ in range(20):
            known = variables("abc")
            for _ in range(40):
                known.append(f(*(known[i] for i in rng.integers(0, len(known), 2))))
            order = io_toposort(known[:3], known[-3:])
            position = {node: i for i, node in enumerate(order)}
            assert len(position) == len(order)
            for node in order:
                for variable in node.inputs:
                    assert variable.owner is None or position[variable.owner] < position[node]


def test_connection_pattern():
    class Partial(Toy):
        def connection_pattern(self, node):
            return [[True, False], [False, True]]

    a, b, c = variables("abc")
    first, second = Partial("partial", nout=2)(a, b)
    assert io_connection_pattern([a, b, c], [first, second, f(first, second)]) == [
        [True, False, True],
        [False, True, True],
        [False, False, False],
    ]
    assert io_connection_pattern([a, a], [a]) == [[True], [True]]


@pytest.mark.parametrize("wrong", [[[True]], [[True], [True, True]], [[True, True], [True]], [[], [True]]])
def test_connection_pattern_is_checked(wrong):
    class Wrong(Toy):
        def connection_pattern(self, node):
            return wrong

    a, b = variables("ab")
    with pytest.raises(ValueError, match="must return 2 rows"):
        io_connection_pattern([a], [Wrong("wrong")(a, b)])


def test_view_roots():
    x, y = variables("xy")
    assert view_roots(view(view(x))) == [x]
    assert view_roots(x) == [x]
    p = f(x)
    assert view_roots(view(p)) == [p]
    both = Toy("both")
    both.view_map = {0: [0, 1]}
    assert view_roots(both(view(x), y)) == [x, y]


def test_truncated_graph_inputs():
    x, y = variables("xy")
    p = f(x)
    q = g(p, h(y))
    assert set(truncated_graph_inputs([q])) == {x, y}
    assert truncated_graph_inputs([q], [p]) == [p, q.owner.inputs[1]]
    assert truncated_graph_inputs([q], [q]) == [q]


def test_get_var_by_name():
    x, y = variables("xy")
    inner = f(x)
    inner.name = "hidden"
    op = Inner([x], [inner])
    z = f(op(y), x)
    assert get_var_by_name([z], "y") == (y,)
    assert get_var_by_name([z], "hidden") == (inner,)
    assert get_var_by_name([z], "nothing") == ()
    assert get_var_by_name([z], y.auto_name) == (y,)
    x.name = y.name = "both"
    assert get_var_by_name([f(f(x), y)], "both") == (x, y)  # depth first


def test_nodes_are_listed_once():
    a = double("a")
    p = f(a)
    q, r = g(p), h(p)
    last = f(q, r)
    assert list_of_nodes([a], [last, q]) == [last.owner, q.owner, r.owner, p.owner]
    assert list_of_nodes([p], [last]) == [last.owner, q.owner, r.owner]


class TestText:
    def test_numbers_follow_the_order_of_first_use(self):
        a, b = variables("ab")
        p, q = g(a), h(b)
        assert as_string([a, b], [f(p, p), f(q, q)]) == ["f(*1 -> g(a), *1)", "f(*2 -> h(b), *2)"]
        assert as_string([a, b], [f(p, p, q, q)]) == ["f(*1 -> g(a), *1, *2 -> h(b), *2)"]

    def test_plain(self):
        a, b = variables("ab")
        assert as_string([a, b], [g(f(a, b), b)]) == ["g(f(a, b), b)"]
        assert as_string([a], [a]) == ["a"]

    def test_what_is_shared_is_written_once(self):
        a = double("a")
        p = f(a)
        assert as_string([a], [g(p, p)]) == ["g(*1 -> f(a), *1)"]
        assert as_string([a], [p, g(p)]) == ["*1 -> f(a)", "g(*1)"]

    def test_inputs_stop(self):
        a = double("a")
        p = f(a)
        p.name = "p"
        assert as_string([p], [g(p, p)]) == ["g(p, p)"]

    def test_several_outputs(self):
        a = double("a")
        first, second = pair(a)
        assert as_string([a], [second]) == ["1:pair(a)"]
        assert as_string([a], [f(first, second)]) == ["f(*1 -> pair(a), *1::1)"]

    def test_formatters(self):
        a = double("a")
        p = f(a)

        def write(node, args):
            return f"({node.op} {' '.join(args)})"

        assert as_string([a], [g(p, p)], leaf_formatter=repr, node_formatter=write) == ["(g *1 -> (f a) *1)"]
        assert op_as_string([a], g(p).owner) == "g(f(a))"


def test_paths_that_come_together_are_followed_once():
    """There are as many paths to the input as a power of two."""
    x = double("x")
    y = x
    for _ in range(200):
        y = g(y, y)
    between = list(ancestors([y]))
    assert len(between) == len(set(between)) == 201 and set(vars_between([x], [y])) == set(between)
    assert list(graph_inputs([y])) == list(explicit_graph_inputs([y])) == [x]
    assert len(io_toposort([x], [y])) == len(list_of_nodes([x], [y])) == len(set(applys_between([x], [y]))) == 200
    assert truncated_graph_inputs([y], [x]) == [x] and list(orphans_between([], [y])) == [x]
    assert io_connection_pattern([x], [y]) == [[True]]
    first, last = between[-2].owner, y.owner
    assert variable_depends_on(y, x) and apply_depends_on(last, first) and is_in_ancestors(last, first)
    assert get_var_by_name([y], "x") == (x,)
    both, shown = Toy("both"), x
    both.view_map = {0: [0, 1]}
    for _ in range(200):
        shown = both(shown, shown)
    assert view_roots(shown) == [x]
    assert general_toposort([y], lambda v: v.owner.inputs if v.owner else []) == between[::-1]
    assert as_string([x], [y])[0].count("g(") == 200


@pytest.mark.slow
def test_deep_graphs():
    x = double("x")
    y = chain(x, DEEP)
    assert sum(1 for _ in ancestors([y])) == DEEP + 1
    assert list(graph_inputs([y])) == [x]
    assert sum(1 for _ in vars_between([x], [y])) == DEEP + 1
    assert len(io_toposort([x], [y])) == DEEP
    assert len(list_of_nodes([x], [y])) == DEEP
    assert as_string([x], [y])[0] == "f(" * DEEP + "x" + ")" * DEEP
    assert io_connection_pattern([x], [y]) == [[True]]
    assert view_roots(chain(x, DEEP, view)) == [x]
    assert variable_depends_on(y, x)
    assert get_var_by_name([y], "x") == (x,)
