"""Choices of which one side is computed."""

import itertools

import numpy as np
import pytest
import scipy.sparse

import aesara
import aesara.tensor as at
from aesara import sparse
from aesara.compile.io import In
from aesara.compile.mode import Mode, optdb
from aesara.gradient import DisconnectedType, disconnected_type, verify_grad
from aesara.graph.fg import FunctionGraph
from aesara.graph.rewriting.basic import in2out
from aesara.ifelse import (
    CondMerge,
    IfElse,
    cond_make_inplace,
    cond_merge_ifs_false,
    cond_merge_ifs_true,
    cond_merge_random_op,
    cond_remove_identical,
    ifelse,
    ifelse_lift_single_if_through_acceptable_ops,
)
from aesara.raise_op import Assert
from aesara.tensor.random.basic import NormalRV
from aesara.tensor.random.type import random_generator_type, random_state_type
from aesara.typed_list import TypedListType
from tests.closeness import assert_close

MODES = ["FAST_COMPILE", "FAST_RUN"]


@pytest.mark.parametrize("mode", MODES)
def test_only_one_branch_is_computed(mode):
    x = at.dvector("x")
    fails = Assert("not to be computed")(x, at.constant(False))
    f = aesara.function([x], ifelse(x.sum() > 0, x * 2, fails), mode=mode)
    if mode == "FAST_RUN":
        assert f._native.report.python_nodes == {}
    assert f([1.0, 2.0]).tolist() == [2, 4]
    with pytest.raises(AssertionError, match="not to be computed"):
        f([-1.0, -2.0])


@pytest.mark.parametrize("mode", MODES)
def test_several_values_and_updates(mode):
    c, x, y = at.iscalar("c"), at.dvector("x"), at.dvector("y")
    state = aesara.shared(np.zeros(2))
    one, two = ifelse(c, [x, y], [y + 1, x.astype("float64")])
    f = aesara.function([c, x, y], [one, two], updates=[(state, ifelse(c, x, state))], mode=mode)
    for condition in (1, 0, 5, -1):
        got = f(condition, [1.0, 2.0], [3.0, 4.0])
        want = ([1, 2], [3, 4]) if condition else ([4, 5], [1, 2])
        assert [v.tolist() for v in got] == [*map(list, want)]
        assert state.get_value().tolist() == [1, 2]


def test_results_do_not_share_memory_with_arguments():
    c, x, y = at.iscalar("c"), at.dvector("x"), at.dvector("y")
    f = aesara.function([c, x, y], ifelse(c, x, y))
    value = np.ones(3)
    assert not np.shares_memory(f(1, value, value * 2), value)


def test_gradients():
    rng = np.random.default_rng(0)
    for sign in (1, -1):
        verify_grad(
            lambda x, y, s=sign: (ifelse(at.constant(s) > 0, at.sin(x), at.exp(y)) ** 2).sum(),
            [rng.normal(size=3), rng.normal(size=3)],
            rng=rng,
        )
    c, x, y = at.iscalar("c"), at.dvector("x"), at.dvector("y")
    f = aesara.function([c, x, y], aesara.grad(ifelse(c, x**2, y).sum(), [x, y]))
    assert [v.tolist() for v in f(1, [3.0], [4.0])] == [[6], [0]]
    assert [v.tolist() for v in f(0, [3.0], [4.0])] == [[0], [1]]
    u = at.dvector("u")
    assert aesara.function([c, x, y, u], aesara.Rop(ifelse(c, x**2, y), x, u))(1, [3.0], [4.0], [2.0]).tolist() == [12]


def test_types():
    c = at.iscalar("c")
    assert ifelse(c, at.row(), at.matrix()).type.shape == (None, None)
    assert ifelse(c, at.tensor("float64", shape=(3,)), at.tensor("float64", shape=(3,))).type.shape == (3,)
    x = at.dvector("x")
    z = ifelse(c, x, x[:1])
    f = aesara.function([c, x], [z, z.shape[0]])
    assert [f(k, [1.0, 2.0])[1] for k in (1, 0)] == [2, 1]
    for bad, error, message in [
        (lambda: ifelse(c, x, at.dmatrix()), TypeError, "ndim"),
        (lambda: ifelse(c, x, at.fvector()), TypeError, "dtypes"),
        (lambda: ifelse(at.dvector(), x, x), TypeError, "scalar"),
        (lambda: ifelse(c, [x, x], x), ValueError, "got 2 for `then`, and 1 for `else`"),
        (lambda: IfElse(2)(c, x, x, x), ValueError, "expected 4 values, got 3"),
    ]:
        with pytest.raises(error, match=message):
            bad()


def test_the_first_branch_says_what_is_returned():
    """A variable, a list or a tuple, as in 2.9.4."""
    c, x, y = at.iscalar("c"), at.dvector("x"), at.dvector("y")
    for then in (x, [x], (x,)):
        for other in (y, [y], (y,)):
            result = ifelse(c, then, other)
            assert type(result) is type(then)
            made = result[0] if then is not x else result
            assert made.owner.inputs == [c, x, y]
    for then, other, counts in (((x, y), x, "2.*1"), (x, [x, y], "1.*2"), ([x], (x, y), "1.*2"), (x, [], "1.*0")):
        with pytest.raises(ValueError, match=counts):
            ifelse(c, then, other)


def choices(fgraph):
    return [n for n in fgraph.apply_nodes if isinstance(n.op, IfElse)]


def test_rewrites_keep_the_values():
    c, x, y = at.iscalar("c"), at.dvector("x"), at.dvector("y")
    inner = ifelse(c, x * 2, y)
    cases = {
        "identical": (ifelse(c, [x, x], [y, y]), cond_remove_identical, lambda n: n[0].op.n_outs == 1),
        "true": ([ifelse(c, inner, x)], cond_merge_ifs_true, lambda n: len(n) == 1),
        "false": ([ifelse(c, x, inner)], cond_merge_ifs_false, lambda n: len(n) == 1),
        "lift": ([at.exp(inner)], ifelse_lift_single_if_through_acceptable_ops, lambda n: len(n) == 1),
        "inplace": ([inner], cond_make_inplace, lambda n: n[0].op.as_view),
        "joined": ([inner + ifelse(c, y, x)], cond_merge_random_op, lambda n: len(n) == 1 and n[0].op.n_outs == 2),
        "merged": ([inner + ifelse(c, y, x)], CondMerge(), lambda n: len(n) == 1 and n[0].op.n_outs == 2),
    }
    for name, (outputs, rewrite, holds) in cases.items():
        fgraph = FunctionGraph([c, x, y], list(outputs), clone=True)
        (rewrite if isinstance(rewrite, CondMerge) else in2out(rewrite, ignore_newtrees=True)).rewrite(fgraph)
        assert holds(choices(fgraph)), name
        before, after = (
            aesara.function(inputs, list(results), mode="FAST_COMPILE", on_unused_input="ignore")
            for inputs, results in (([c, x, y], outputs), (fgraph.inputs, fgraph.outputs))
        )
        for k in (0, 1):
            for one, two in zip(before(k, [1.0, 2.0], [3.0, 4.0]), after(k, [1.0, 2.0], [3.0, 4.0])):
                np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("as_views", list(itertools.product([False, True], repeat=2)))
@pytest.mark.parametrize(
    "names, name", [(("a", "b"), "a&b"), (("a", None), "a"), ((None, "b"), "b"), ((None, None), None)]
)
def test_a_joint_choice_has_both_names_and_is_a_view_if_both_were(names, name, as_views):
    c, x, y = at.iscalar("c"), at.dvector("x"), at.dvector("y")
    first = IfElse(2, as_views[0], names[0])(c, x, y, y, x)
    second = IfElse(1, as_views[1], names[1])(c, at.exp(x), at.cos(y))
    fgraph = FunctionGraph([c, x, y], [*first, second], clone=False)
    CondMerge().rewrite(fgraph)
    (joint,) = choices(fgraph)
    sides = [x, y, second.owner.inputs[1], y, x, second.owner.inputs[2]]
    assert joint.op == IfElse(3, all(as_views), name) and joint.inputs == [c, *sides]


def test_an_output_that_stands_twice_is_computed_once():
    c, x, y = at.iscalar("c"), at.dvector("x"), at.dvector("y")
    out = ifelse(c, [x, y, x, x], [y, x, y, x])
    fgraph = FunctionGraph([c, x, y], out, clone=False)
    made = cond_remove_identical.transform(fgraph, out[0].owner)
    (smaller,) = {new.owner for new in made.values()}
    assert smaller.inputs == [c, x, y, x, y, x, x]
    assert [made[v] for v in out] == [smaller.outputs[k] for k in (0, 1, 0, 2)]
    assert cond_remove_identical.transform(FunctionGraph([c, x, y], smaller.outputs, clone=False), smaller) is False


@pytest.mark.parametrize("side, rewrite", [(0, cond_merge_ifs_true), (1, cond_merge_ifs_false)])
def test_only_a_choice_by_the_same_condition_is_made_already_in_a_branch(side, rewrite):
    c, d, e, x, y = at.iscalar("c"), at.iscalar("d"), at.iscalar("e"), at.dvector("x"), at.dvector("y")
    pair = ifelse(c, [x, y], [y, x])
    three = at.tensor("float64", shape=(3,), name="three")
    for value, replacement in (
        (pair[0], (x, y)[side]),
        (pair[1], (y, x)[side]),
        (ifelse(d, x, y), None),
        (c + e, None),
        (ifelse(c, x, three), (x, None)[side]),  # the type says more than that of the choice
        (x, None),
    ):
        other = e if value.type.ndim == 0 else x
        branches = [[other, value], [other, other]][:: 1 - 2 * side]
        node = ifelse(c, *branches)[0].owner
        fgraph = FunctionGraph([c, d, e, x, y, three], node.outputs, clone=False)
        made = rewrite.transform(fgraph, node)
        if replacement is None:
            assert made is False
        else:
            inputs = list(node.inputs)
            inputs[2 + 2 * side] = replacement
            assert made[0].owner.inputs == inputs
        # the other branch is left to the other rule
        turned = ifelse(c, *branches[::-1])[0].owner
        assert rewrite.transform(FunctionGraph([c, d, e, x, y, three], turned.outputs, clone=False), turned) is False


def test_choices_are_merged_unless_one_needs_another():
    c, x = at.iscalar("c"), at.dvector("x")
    positive = c > 0
    first = ifelse(positive, at.exp(x), -x)
    for second, count in (
        (ifelse(positive, at.sin(x), at.cos(x)), 1),
        (ifelse(positive, at.sin(first), at.cos(x)), 2),
        (ifelse(positive, at.sin(x), at.cos(at.exp(first) + 1)), 2),
        (ifelse(c > 1, at.sin(x), at.cos(x)), 2),
    ):
        fgraph = FunctionGraph([c, x], [first, second], clone=True)
        CondMerge().rewrite(fgraph)
        assert len(choices(fgraph)) == count
        for value in (0, 1, 2):
            given = {fgraph.inputs[0]: value, fgraph.inputs[1]: [0.5, 2.0]}
            for new, old in zip(fgraph.outputs, (first, second)):
                assert_close(new.eval(given, on_unused_input="ignore"), old.eval({c: value, x: [0.5, 2.0]}))


def test_an_operation_is_not_done_in_branches_of_a_choice_that_others_read():
    c, x, y = at.iscalar("c"), at.dvector("x"), at.dvector("y")
    inner = ifelse(c, x * 2, y)
    for outputs, is_lifted in (([at.exp(inner)], True), ([at.exp(inner), inner], False), ([at.exp(inner)] * 2, True)):
        fgraph = FunctionGraph([c, x, y], outputs, clone=True)
        made = ifelse_lift_single_if_through_acceptable_ops.transform(fgraph, fgraph.outputs[0].owner)
        assert bool(made) is is_lifted


def test_only_operations_on_tensors_with_one_choice_are_done_in_branches():
    c, x, y = at.iscalar("c"), at.dvector("x"), at.dvector("y")
    A, values = sparse.csr_matrix("A"), TypedListType(at.dvector().type)("values")

    def choice(outputs=1):
        return ifelse(c, [x * 2, y][:outputs], [y, x * 3][:outputs])[0]

    for out, is_lifted in (
        (choice() + y, True),
        (choice() + choice(), False),
        (choice(2) + y, False),
        (at.max_and_argmax(choice())[0], False),
        (ifelse(c, choice(), x), False),
        (sparse.mul_s_v(A, choice()), True),
        (values.append(choice()), False),
    ):
        fgraph = FunctionGraph([c, x, y, A, values], [out], clone=False)
        assert bool(ifelse_lift_single_if_through_acceptable_ops.transform(fgraph, out.owner)) is is_lifted, out


def both_modes(inputs, outputs, *arguments):
    reference, native = (aesara.function(inputs, outputs, mode=m, on_unused_input="ignore") for m in MODES)
    assert native._native.report.python_nodes == {}
    for values in arguments:
        for want, got in zip(reference(*values), native(*values)):
            np.testing.assert_allclose(got, want, rtol=1e-12)
            assert got.dtype == want.dtype and got.shape == want.shape
    return native


def test_choices_in_choices_and_shared_parts():
    c, d, x = at.iscalar("c"), at.bscalar("d"), at.dvector("x")
    shared = at.exp(x)
    inner = ifelse(d, shared.sum() * x, x[::-1])
    outer = ifelse(c, inner + shared, at.concatenate([inner, x]))
    arguments = [(i, j, np.arange(3.0)) for i in (0, 1) for j in (0, 1)]
    both_modes([c, d, x], [outer, outer.shape[0], *aesara.grad((outer**2).sum(), [x])], *arguments)


def test_what_two_choices_need_on_one_side_is_not_computed_for_the_other():
    c, x = at.iscalar("c"), at.dvector("x")
    guarded = Assert("negative")(at.sqrt(x), at.all(x >= 0))
    outputs = [ifelse(c, guarded**2, x), ifelse(c, guarded.sum(), x[0])]
    f = both_modes([c, x], outputs, (0, [-1.0, 2.0]), (1, [1.0, 2.0]))
    with pytest.raises(AssertionError, match="negative"):
        f(1, [-1.0, 2.0])


def test_loops_in_choices_and_choices_in_loops():
    c, x = at.iscalar("c"), at.dvector("x")
    zero = at.constant(0, dtype="float64")
    sums, _ = aesara.scan(lambda v, s: ifelse(v > 0, s + at.exp(v), s - v), x, zero)
    total = ifelse(c, sums[-1], x.sum())
    values = np.array([0.5, -1.0, 2.0])
    both_modes([c, x], [sums, total, aesara.grad(sums[-1], x)], (0, values), (1, values), (1, -values))


def test_complex_values_and_matrix_products():
    c, z, m = at.iscalar("c"), at.zvector("z"), at.dmatrix("m")
    outputs = [ifelse(c, z * 2, z.conj()), ifelse(c, at.dot(m, m), m.T)]
    z_value, m_value = np.array([1 + 2j, 3j]), np.arange(9.0).reshape(3, 3)
    both_modes([c, z, m], outputs, (0, z_value, m_value), (1, z_value, m_value))


def test_a_choice_that_cannot_be_native_runs_lazily_all_the_same():
    x = at.dvector("x")
    computed = []

    @aesara.compile.as_op([at.dvector], [at.dvector])
    def noted(value):
        computed.append(1)
        return value + 1

    f = aesara.function([x], ifelse(x.sum() > 0, noted(x), x))
    assert f([-1.0]).tolist() == [-1] and not computed
    assert f([1.0]).tolist() == [2] and computed
    assert {type(node.op) for node in f._native.report.python_nodes} == {IfElse}


def test_gradients_that_do_not_flow():
    """A choice of two values, with gradients of both, of one, and of none."""
    x, y = at.dvectors("x", "y")
    node = ifelse(at.lscalar("c"), [x * 2, y * 2], [x + 1, y + 1])[0].owner
    for given in ([True, True], [True, False], [False, True], [False, False]):
        flowing = [at.ones_like(out) if wanted else disconnected_type() for wanted, out in zip(given, node.outputs)]
        found = node.op.L_op(node.inputs, node.outputs, flowing)
        assert [not isinstance(g.type, DisconnectedType) for g in found] == [any(given), *given, *given]


@pytest.mark.parametrize("linker", ["py", "vm", "llvm"])
def test_compiled_choices_overwrite_nothing_that_others_read(linker):
    """A choice gives the array of the first branch itself, and nobody writes over an argument through it."""
    c, x, y = at.iscalar("c"), at.dvector("x"), at.dvector("y")
    choice = ifelse(c, x, y)
    mode = Mode(linker, "fast_run")
    f = aesara.function([c, x, y], [at.inc_subtensor(choice[0], 5.0), choice, choice * 2.0], mode=mode)
    assert [node.op.as_view for node in f.maker.fgraph.apply_nodes if isinstance(node.op, IfElse)] == [True]
    one, two = np.arange(3.0), np.arange(4.0)
    for condition, taken in ((1, one), (0, two)):
        changed, given, doubled = f(condition, one, two)
        np.testing.assert_array_equal(changed, [5.0, *taken[1:]])
        np.testing.assert_array_equal(given, taken)
        np.testing.assert_array_equal(doubled, 2 * taken)
        assert not np.shares_memory(given, taken) and not np.shares_memory(given, changed)
        assert taken[0] == 0.0


VALUES = {
    "tensor": lambda: (at.dvector().type, np.arange(3.0)),
    "list": lambda: (TypedListType(at.dvector().type), [np.arange(3.0)]),
    "matrix": lambda: (sparse.csr_matrix().type, scipy.sparse.csr_matrix(np.eye(3))),
    "Generator": lambda: (random_generator_type, np.random.default_rng(1)),
    "RandomState": lambda: (random_state_type, np.random.RandomState(1)),
}


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("as_view", [False, True])
@pytest.mark.parametrize("kind", VALUES)
def test_only_the_first_branch_is_given_as_it_is(kind, as_view, lazy):
    """Other values share nothing with an argument, whatever they consist of: they may be overwritten."""
    type_, one = VALUES[kind]()
    _, two = VALUES[kind]()
    c, x, y = at.iscalar("c"), type_("x"), type_("y")
    node = IfElse(1, as_view).make_node(c, x, y)
    for condition, taken in ((1, one), (0, two)):
        values = [np.array(condition), one, two]
        storage_map = {v: [value] for v, value in zip([*node.inputs, *node.outputs], [*values, None])}
        if lazy:
            compute_map = {v: [v.owner is None] for v in storage_map}
            assert node.op.make_thunk(node, storage_map, compute_map, [])() == [] and compute_map[node.outputs[0]][0]
        else:
            node.op.perform(node, values, [storage_map[node.outputs[0]]])
        (given,) = storage_map[node.outputs[0]]
        assert type_.values_eq(given, taken)
        assert (given is taken) == (as_view and condition == 1)
        if kind == "list":
            assert np.shares_memory(given[0], taken[0]) == (given is taken)


@pytest.mark.parametrize("as_view", [False, True])
def test_draws_in_place_from_a_chosen_generator_leave_the_other_one(as_view):
    """Drawing from the second branch's generator does not change it: the choice is no view of that input."""
    c, x, y = at.iscalar("c"), random_generator_type("x"), random_generator_type("y")
    draw = NormalRV(inplace=True)(size=(2,), rng=IfElse(1, as_view)(c, x, y))
    f = aesara.function([c, In(x, mutable=True), y], draw, mode=Mode("py", None), accept_inplace=True)
    one, two = np.random.default_rng(1), np.random.default_rng(2)
    first = f(0, one, two)
    np.testing.assert_array_equal(f(0, one, two), first)
    np.testing.assert_array_equal(two.normal(size=2), first)
    first = f(1, one, two)
    assert np.array_equal(f(1, one, two), first) != as_view


def test_sparse_branches_have_one_format():
    c, row, column = at.iscalar("c"), sparse.csr_matrix("row"), sparse.csc_matrix("column")
    for other in (column, at.dmatrix("dense")):
        for branches in ((row, other), (other, row)):
            with pytest.raises(TypeError, match="do not match"):
                ifelse(c, *branches)
    assert ifelse(c, row, sparse.csr_matrix("other")).type == row.type


def test_types_of_branches():
    """Lengths may differ; kinds of values may not, whichever branch has the more exact type."""
    condition, v = at.lscalar("condition"), at.dvector("v")
    one, three = (at.tensor("float64", shape=(length,)) for length in (1, 3))
    for first, second in ((three, one), (one, three), (v, three), (three, v), (v, 2 * v)):
        assert ifelse(condition, first, second).type.shape == (None,)
    f = aesara.function([condition, one, three], ifelse(condition, one, three))
    assert f(1, [5.0], [1.0, 2.0, 3.0]).tolist() == [5] and f(0, [5.0], [1.0, 2.0, 3.0]).tolist() == [1, 2, 3]
    rows, columns = sparse.csr_matrix("rows"), sparse.csc_matrix("columns")
    assert ifelse(condition, rows, 2 * rows).type == rows.type
    for first, second in ((rows, columns), (columns, rows), (rows, at.dmatrix()), (at.dmatrix(), rows)):
        with pytest.raises(TypeError, match="the types of the two branches"):
            ifelse(condition, first, second)


def test_a_branch_may_be_a_value():
    """It becomes one of the other branch's type; two numbers have the type that numbers have."""
    condition, v, A = at.lscalar("condition"), at.dvector("v"), sparse.csr_matrix("A")
    values = TypedListType(at.dvector().type)("values")
    for variable, value in ((v, np.ones(3)), (A, scipy.sparse.csr_matrix(np.eye(2))), (values, [np.ones(3)])):
        for branches in ((variable, value), (value, variable)):
            node = IfElse(1).make_node(condition, *branches)
            assert type(node.outputs[0].type) is type(variable.type)
            for branch, given in zip(node.inputs[1:], branches):
                assert branch is variable if given is variable else branch.type.values_eq(branch.data, value)
    assert ifelse(condition, 1.5, 2.5).eval({condition: 0}) == 2.5


@pytest.mark.parametrize("count", [1, 2, 3])
def test_shapes_are_those_of_the_branch_that_is_taken(count):
    c = at.iscalar("c")
    then, other = ([at.dmatrix(f"{side}{k}") for k in range(count)] for side in ("then", "other"))
    node = ifelse(c, then, other)[0].owner
    f = aesara.function([c, *then, *other], [v.shape for v in node.outputs])
    values = [np.ones((k + 1, 20 - k)) for k in range(2 * count)]
    for condition in (0, 1):
        taken = values[:count] if condition else values[count:]
        assert [tuple(s) for s in f(condition, *values)] == [v.shape for v in taken]
    shapes = [[v.shape[0], v.shape[1]] for v in node.inputs[1:]]
    found = node.op.infer_shape(None, node, [(), *shapes])
    sizes = aesara.function([c, *then, *other], [at.stack(list(s)) for s in found])
    for condition in (0, 1):
        taken = values[:count] if condition else values[count:]
        assert [tuple(s) for s in sizes(condition, *values)] == [v.shape for v in taken]


@pytest.mark.parametrize("condition", [0, 1])
def test_choices_have_test_values(condition):
    c, x, y = at.iscalar("c"), at.dvector("x"), at.dvector("y")
    c.tag.test_value, x.tag.test_value, y.tag.test_value = condition, np.arange(3.0), np.arange(4.0)
    with aesara.config.change_flags(compute_test_value="raise"):
        chosen = ifelse(c, [x, y], [y, x])
    expected = [np.arange(3.0), np.arange(4.0)]
    for out, value in zip(chosen, expected if condition else expected[::-1]):
        assert np.array_equal(out.tag.test_value, value)


@pytest.mark.parametrize("between", [0, 1, 2])
@pytest.mark.parametrize("swapped", [False, True])
def test_dependent_ifelse_nodes_are_not_merged(between, swapped):
    c, x, y = at.iscalar("c"), at.dvector("x"), at.dvector("y")
    first = value = ifelse(c, x, y)
    for _ in range(between):
        value = at.exp(value)
    second = ifelse(c, value, x)
    apart, by_another = ifelse(c, y, x), ifelse(c + 1, y, x)
    for ends, joined in (([first, second], False), ([first, apart], True), ([first, by_another], False)):
        ends = ends[::-1] if swapped else ends
        # an input that nothing computes stands beside the choices
        out = at.join(0, y, *ends)
        fgraph = FunctionGraph([c, x, y], [out], clone=False)
        nodes = {v.owner for v in ends}
        made = [cond_merge_random_op.transform(fgraph, node) for node in nodes]
        assert [bool(m) for m in made] == [joined] * 2


def test_other_nodes_are_not_merged_with_ifelse():
    c, x, y = at.iscalar("c"), at.dscalar("x"), at.dscalar("y")
    choice = ifelse(c, x, y)
    fgraph = FunctionGraph([c, x, y], [choice * at.add(c, y)], clone=False)
    assert not cond_merge_random_op.transform(fgraph, choice.owner)


def test_long_chains_between_choices_are_followed_once():
    c, x, y = at.iscalar("c"), at.dvector("x"), at.dvector("y")
    value = first = ifelse(c, x, y)
    for _ in range(60):
        value = value + value
    ends = [ifelse(c, value, x), ifelse(c, at.exp(value), y)]
    fgraph = FunctionGraph([c, x, y], [at.join(0, *ends), at.join(0, first, ends[0])], clone=False)
    assert cond_merge_random_op.transform(fgraph, ends[0].owner)
    assert not cond_merge_random_op.transform(fgraph, first.owner)


def test_a_choice_that_is_a_view_is_left_as_it_is():
    c, x, y = at.iscalar("c"), at.dvector("x"), at.dvector("y")
    fgraph = FunctionGraph([c, x, y], [ifelse(c, x, y)], clone=False)
    made = cond_make_inplace.transform(fgraph, fgraph.outputs[0].owner)
    assert made[0].owner.op == IfElse(1, True)
    assert cond_make_inplace.transform(FunctionGraph([c, x, y], made, clone=False), made[0].owner) is False


@pytest.mark.parametrize("first", [True, False])
def test_a_choice_by_a_known_condition_is_its_side(first):
    x, y = at.dvector("x"), at.dvector("y")
    known = at.eq(x.shape[0], x.shape[0]) if first else at.constant(0)
    taken = ifelse(known, [x * 2, x[x > 0]], [at.exp(y), y[y > 0]])
    f = aesara.function([x, y], [*taken, *aesara.grad(taken[0].sum(), [x, y])])
    assert not any(isinstance(node.op, IfElse) for node in f.maker.fgraph.apply_nodes)
    assert f._native.report.python_nodes == {}
    values, others = np.array([1.0, -2.0]), np.array([0.5, 3.0, -1.0])
    wanted = (values * 2, values[:1]) if first else (np.exp(others), others[:2])
    slopes = (np.full(2, 2.0), np.zeros(3)) if first else (np.zeros(2), np.exp(others))
    for got, want in zip(f(values, others), (*wanted, *slopes)):
        assert_close(got, want)


def test_a_side_of_a_known_choice_keeps_what_its_type_says():
    fgraph = FunctionGraph(outputs=[ifelse(at.constant(1), at.dvector("x"), at.tensor("float64", shape=(3,)))])
    optdb.query("+canonicalize").rewrite(fgraph)
    assert fgraph.outputs[0] is fgraph.inputs[0]
    x, rows = at.dmatrix("x"), at.drow("rows")
    f = aesara.function([x, rows], ifelse(at.constant(0), x, rows) + x)
    assert f(np.ones((1, 2)), np.ones((1, 2))).tolist() == [[2, 2]]
    with pytest.raises(ValueError, match="Input dimension mismatch"):
        f(np.ones((2, 2)), np.ones((1, 2)))


def test_sizes_that_depend_on_values():
    """Such a choice runs in Python, and the rest natively; only one side is computed, of choices in it, too."""
    c, x = at.iscalar("c"), at.dvector("x")
    fails = Assert("not to be computed")(x, at.constant(False))
    chosen = ifelse(c > 0, ifelse(c > 1, x[x > 0], at.exp(x)[0] * x[x < 0]), ifelse(c < 0, fails, x))
    f = aesara.function([c, x], [chosen, at.exp(chosen).sum() + x.sum(), aesara.grad((chosen**2).sum(), x)])
    assert {type(node.op) for node in f._native.report.python_nodes} == {IfElse}
    values = np.array([0.5, -1.0, 2.0, -3.0])
    kept = np.where(values > 0, 2 * values, 0)
    first = np.exp(0.5)
    slope = np.where(values < 0, 2 * first**2 * values, 0) + np.where(values == 0.5, 2 * first**2 * 10, 0)
    for condition, want, gradient in [(2, values[values > 0], kept), (1, first * values[values < 0], slope)]:
        got, total, found = f(condition, values)
        assert_close(got, want)
        assert_close(total, np.exp(want).sum() + values.sum())
        assert_close(found, gradient)
    got, total, found = f(0, values)
    assert_close(found, 2 * values)
    with pytest.raises(AssertionError, match="not to be computed"):
        f(-1, values)


def test_constants_that_choices_in_python_return():
    """They stay as they are, whatever is done with the result."""
    x, numbers = at.dvector("x"), at.constant(np.arange(3.0))
    f = aesara.function([x], [ifelse(x[0], x * 2, numbers), x + 1])
    assert {type(node.op) for node in f._native.report.python_nodes} == {IfElse}
    for _ in range(2):
        got, _ = f([0.0])
        assert got.tolist() == [0, 1, 2]
        got += 1
    assert f([0.5, 1.0])[0].tolist() == [1, 2]
