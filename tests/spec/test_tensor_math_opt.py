"""The documentation of `aesara.tensor.math_opt`: every class, method, function and example.

What the documentation says of ...            stands in the test
============================================  =======================================================================
the class, its use with ``TopoOptimizer``     ``test_examples_of_the_canonizer``,
                                              ``test_a_product_of_three_is_one_node``
``main``, ``inverse``, ``reciprocal``         ``test_merge_num_denum``, ``test_parts_of_a_canonizer_of_ones_own``
``calculate`` and its ``aslist``              ``test_calculate``, ``test_parts_of_a_canonizer_of_ones_own``
``use_reciprocal``                            ``test_without_reciprocals``
the nine examples                             ``test_examples_of_the_canonizer``
``get_num_denum``, ``merge_num_denum``        ``test_get_num_denum``, ``test_merge_num_denum``
``simplify`` and its two parts                ``test_simplify_does_both``, ``test_simplify_constants``,
                                              ``test_simplify_factors_changes_the_lists``
``tracks``, ``transform``                     ``test_a_canonizer_is_a_local_optimizer``
each function                                 the test with its name; trees also ``test_deep_trees``
============================================  =======================================================================
"""

import math

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.graph.fg import FunctionGraph
from aesara.graph.rewriting.utils import rewrite_graph
from aesara.scalar.basic import Deg2Rad, Rad2Deg
from aesara.tensor.math_opt import (
    AlgebraicCanonizer,
    TopoOptimizer,
    add_calculate,
    attempt_distribution,
    check_for_x_over_absX,
    compute_mul,
    get_constant,
    inv,
    is_1pexp,
    is_exp,
    is_inverse_pair,
    is_mul,
    is_neg,
    local_add_mul_fusion,
    local_mul_canonizer,
    local_optimizer,
    mul_calculate,
    parse_mul_tree,
    perform_sigm_times_exp,
    replace_leaf,
    scalarconsts_rest,
    simplify_mul,
    true_div,
)

add, sub, neg, mul = at.add, at.sub, at.neg, at.mul
# As documented, with any functions that calculate.
ADD = AlgebraicCanonizer(add, sub, neg, lambda n, d: sum(n) - sum(d))
MUL = AlgebraicCanonizer(mul, true_div, inv, lambda n, d: math.prod(n) / math.prod(d))

a, b, c, d, x, y, z = LEAVES = at.dvectors("a", "b", "c", "d", "x", "y", "z")
log_x, z_plus_x, x_pow_y = at.log(x), z + x, x**y
pp = aesara.pprint
REFERENCE = aesara.compile.mode.Mode("py", None)


def same_values(before, after):
    rng = np.random.default_rng(3)
    values = {leaf: rng.uniform(0.5, 3.0, 4) for leaf in LEAVES}
    f = aesara.function(list(LEAVES), [before, after], mode=REFERENCE, on_unused_input="ignore")
    np.testing.assert_allclose(*f(*values.values()), rtol=1e-12)


# AlgebraicCanonizer


@pytest.mark.parametrize(
    "expression, canonical, compiled",
    [
        (x / x, "fill(x, [1.])", "alloc(1.0, Shape_i{0}(x))"),
        ((x * y) / x, "y", "y"),
        (x / y / x, "reciprocal(y)", "reciprocal(y)"),
        (x / y / z, "(x / (y * z))", "(x / (y * z))"),
        (x / (y / z), "((x * z) / y)", "((x * z) / y)"),
        ((a / b) * (b / c) * (c / d), "(a / d)", "(a / d)"),
        ((2.0 * x) / (4.0 * y), "(([0.5] * x) / y)", "(([0.5] * x) / y)"),
        (2 * x / 2, "x", "x"),
        (x * y * z, "((x * y) * z)", "((x * y) * z)"),
    ],
    ids=lambda value: pp(value) if hasattr(value, "owner") else None,
)
def test_examples_of_the_canonizer(expression, canonical, compiled):
    documented = rewrite_graph(expression, include=(), custom_rewrite=TopoOptimizer(MUL, order="in_to_out"))
    assert pp(documented) == canonical
    of_the_package = rewrite_graph(expression, include=("canonicalize",))
    assert pp(of_the_package) in (canonical, canonical.replace("reciprocal(y)", "([1.] / y)"))
    f = aesara.function(list(LEAVES), expression, on_unused_input="ignore")
    # A result that is an input is copied.
    assert pp(f.maker.fgraph.outputs[0]) in (compiled, f"DeepCopyOp({compiled})")
    same_values(expression, documented)
    same_values(expression, of_the_package)


def test_a_product_of_three_is_one_node():
    expression = x * y * z
    for result in (
        rewrite_graph(expression, include=("canonicalize",)),
        aesara.function([x, y, z], expression).maker.fgraph.outputs[0],
    ):
        assert result.owner.op == mul and [str(v) for v in result.owner.inputs] == ["x", "y", "z"]


@pytest.mark.parametrize(
    "expression, num, denum",
    [
        (x * y, [x, y], []),
        (inv(x), [], [x]),
        (inv(x) * inv(y), [], [x, y]),
        (x * y / z, [x, y], [z]),
        (log_x / y * z_plus_x / y, [log_x, z_plus_x], [y, y]),
        ((((a / b) * c) / d), [a, c], [b, d]),
        (a / (b / c), [a, c], [b]),
        (log_x, [log_x], []),
        (x_pow_y, [x_pow_y], []),
        (x * y * z, [x, y, z], []),
    ],
)
def test_get_num_denum(expression, num, denum):
    assert MUL.get_num_denum(expression) == (num, denum)
    assert local_mul_canonizer.get_num_denum(expression) == (num, denum)


@pytest.mark.parametrize(
    "num, denum, product, total",
    [
        ([], [], "1.0", "0"),
        ([x], [], "x", "x"),
        ([], [x], "reciprocal(x)", "(-x)"),
        ([x], [y], "(x / y)", "(x - y)"),
        ([], [x, y], "reciprocal((x * y))", "(-(x + y))"),
        ([x, y], [], "(x * y)", "(x + y)"),
        ([x], [y, z], "(x / (y * z))", "(x - (y + z))"),
        ([x, y], [z], "((x * y) / z)", "((x + y) - z)"),
        ([x, y], [z, a], "((x * y) / (z * a))", "((x + y) - (z + a))"),
    ],
)
def test_merge_num_denum(num, denum, product, total):
    assert pp(MUL.merge_num_denum(num, denum)) == product
    assert pp(ADD.merge_num_denum(num, denum)) == total


def shown(lists):
    return [[v if not hasattr(v, "data") else float(v.data.item()) for v in part] for part in lists]


@pytest.mark.parametrize("canonizer", [MUL, local_mul_canonizer], ids=["documented", "of the package"])
@pytest.mark.parametrize("wrap", [lambda number: number, at.constant], ids=["numbers", "constants"])
def test_simplify_constants(canonizer, wrap):
    two, three, four = wrap(2), wrap(3), wrap(4)
    assert shown(canonizer.simplify_constants([two, three, x], [])) == [[6, x], []]
    assert shown(canonizer.simplify_constants([x, y, two], [four, z])) == [[0.5, x, y], [z]]
    assert shown(canonizer.simplify_constants([x, two, y], [z, two])) == [[x, y], [z]]


def test_simplify_factors_changes_the_lists():
    for num, denum, left, right in (
        ([x], [x], [], []),
        ([x, y], [x], [y], []),
        ([a, b], [c, d], [a, b], [c, d]),
        ([x, x, y], [x, y, y], [x], [y]),
    ):
        result = MUL.simplify_factors(num, denum)
        assert result == (left, right) == (num, denum)
        assert result[0] is num and result[1] is denum


@pytest.mark.parametrize("canonizer", [MUL, local_mul_canonizer], ids=["documented", "of the package"])
def test_simplify_does_both(canonizer):
    num, denum = [x, at.constant(2.0), y], [at.constant(4.0), x]
    both = canonizer.simplify_constants(*canonizer.simplify_factors(list(num), list(denum)), out_type=x.type)
    assert shown(canonizer.simplify(num, denum, x.type)) == [[0.5, y], []] == shown(both)


def test_without_reciprocals():
    canonizer = AlgebraicCanonizer(mul, true_div, inv, mul_calculate, use_reciprocal=False)
    assert (
        pp(canonizer.merge_num_denum([], [x])) == "(1.0 / x)" and pp(canonizer.merge_num_denum([x], [y])) == "(x / y)"
    )
    assert AlgebraicCanonizer(mul, true_div, inv, mul_calculate).use_reciprocal


def test_calculate():
    """``inverse(main(*num), main(*denum))`` of arrays, or it in a list that is empty for ``main()``."""
    two, three, six = (np.asarray(number) for number in (2.0, 3.0, 6.0))
    assert mul_calculate([two, three], [six]) == 1 and mul_calculate([two, three], []) == 6 == mul_calculate([six], [])
    assert mul_calculate([two, three], [six], aslist=True) == [] == mul_calculate([], [], aslist=True)
    assert mul_calculate([six], [two], aslist=True) == [3]
    assert add_calculate([two, three], [six]) == -1 and add_calculate([], []) == 0
    assert add_calculate([three, three], [six], aslist=True) == [] == add_calculate([], [], aslist=True)
    assert add_calculate([six], [two], aslist=True) == [4]
    (some,) = add_calculate([np.array([0.0, 1.0])], [], aslist=True)
    assert some.tolist() == [0, 1]


def test_parts_of_a_canonizer_of_ones_own():
    """Attributes of a canonizer, and the arguments with which it calls `calculate`."""
    asked = []

    def calculate(num, denum, aslist=False):
        asked.append(([float(v) for v in num], [float(v) for v in denum]))
        value = math.prod(num) / math.prod(denum)
        return ([] if value == 1 else [value]) if aslist else value

    canonizer = AlgebraicCanonizer(mul, true_div, inv, calculate)
    assert (canonizer.main, canonizer.inverse, canonizer.reciprocal) == (mul, true_div, inv)
    assert shown(canonizer.simplify_constants([at.constant(3.0), x, at.constant(2.0)], [at.constant(4.0)])) == [
        [1.5, x],
        [],
    ]
    assert asked[-1] == ([3.0, 2.0], [4.0])


def test_a_canonizer_is_a_local_optimizer():
    assert MUL.tracks() == [mul, at.true_divide, at.reciprocal] and ADD.tracks() == [add, sub, neg]
    expression = x * y / x
    (result,) = MUL.transform(FunctionGraph(outputs=[expression], clone=False), expression.owner)
    assert result is y
    for unchanged in (x / y, at.exp(x), at.fill(x, y)):
        assert not MUL.transform(FunctionGraph(outputs=[unchanged], clone=False), unchanged.owner)

    @local_optimizer([at.exp])
    def nothing(fgraph, node):
        return None

    assert pp(rewrite_graph(at.exp(x), include=(), custom_rewrite=TopoOptimizer(nothing))) == "exp(x)"


def test_mathematics_first():
    f = aesara.function([x], at.log(1 / (1 + at.exp(-x))))
    np.testing.assert_allclose(f([-800.0, -40.0, 0.0, 800.0]), [-800.0, -40.0, -math.log(2), 0.0], rtol=1e-15)


def test_a_rule_can_be_left_out():
    expression = x / y / z
    mode = aesara.compile.get_default_mode().excluding("local_mul_canonizer")
    assert pp(aesara.function([x, y, z], expression, mode=mode).maker.fgraph.outputs[0]) == "((x / y) / z)"
    with aesara.config.change_flags(optimizer_excluding="local_mul_canonizer"):
        f = aesara.function([x, y, z], expression)
    assert pp(f.maker.fgraph.outputs[0]) == "((x / y) / z)"


# Functions about products and sums


def test_attempt_distribution():
    changed, factor, num, denum = attempt_distribution(a / x + b / x, [x, y], [z], x.type)
    assert changed and pp(factor) == "(a + b)" and (num, denum) == ([y], [z])
    changed, factor, num, denum = attempt_distribution(a * x - b * x, [y], [x, z], x.type)
    assert changed and pp(factor) == "(a - b)" and (num, denum) == ([y], [z])
    total = a + b
    assert attempt_distribution(total, [x], [y], x.type) == (False, total, [x], [y])


def test_check_for_x_over_absX():
    num, denum = check_for_x_over_absX([y, x], [abs(x), z])
    assert [pp(v) for v in num] == ["y", "sgn(x)"] and denum == [z]
    assert check_for_x_over_absX([y], [z]) == ([y], [z])
    assert pp(rewrite_graph(x / abs(x), include=("canonicalize",))) == "sgn(x)"


def test_get_constant():
    assert get_constant(at.constant(2.5)) == 2.5 and get_constant(at.constant([[3]])) == 3
    assert get_constant(7) == 7
    assert get_constant(x) is None and get_constant(at.constant([1.0, 2.0])) is None


def test_is_1pexp():
    assert is_1pexp(1 + at.exp(x)) == (False, x) == is_1pexp(at.exp(x) + 1)
    for other in (1 - at.exp(x), 1 + -at.exp(x), 2 + at.exp(x), 1 + x, x, at.exp(x), y + at.exp(x)):
        assert is_1pexp(other) is None
    filled = at.ones_like(x) + at.exp(x)
    assert is_1pexp(filled) is None and is_1pexp(filled, only_process_constants=False) == (False, x)


def test_is_exp():
    assert is_exp(at.exp(x)) == (False, x) and is_exp(-at.exp(x)) == (True, x)
    assert is_exp(x) is None and is_exp(-x) is None and is_exp(at.expm1(x)) is None


def test_is_inverse_pair():
    pair = (Deg2Rad, Rad2Deg)
    to_radians, to_degrees = at.deg2rad.scalar_op, at.rad2deg.scalar_op
    assert is_inverse_pair(to_radians, to_degrees, pair) and is_inverse_pair(to_degrees, to_radians, pair)
    assert not is_inverse_pair(to_degrees, to_degrees, pair)
    assert not is_inverse_pair(at.exp.scalar_op, to_degrees, pair)


def test_is_mul():
    assert is_mul(mul(x, y, z)) == [x, y, z]
    assert is_mul(x) is None and is_mul(x + y) is None and is_mul(x / y) is None


def test_is_neg():
    assert is_neg(-x) is x and is_neg(-1.0 * x) is x
    assert pp(is_neg(mul(x, -1.0, y))) == "(x * y)"
    assert is_neg(x) is None and is_neg(x * y) is None


def test_local_add_mul_fusion():
    for op, expression in ((add, (x + y) + (z + a)), (mul, (x * y) * (z * a))):
        (result,) = local_add_mul_fusion(FunctionGraph(outputs=[expression], clone=False), expression.owner)
        assert result.owner.op == op and result.owner.inputs == [x, y, z, a]
    # Not across different operations, and not what is used elsewhere too.
    mixed, shared = (x + y) * z, x * y
    assert not local_add_mul_fusion(FunctionGraph(outputs=[mixed], clone=False), mixed.owner)
    twice = shared * z
    assert not local_add_mul_fusion(FunctionGraph(outputs=[twice, shared], clone=False), twice.owner)


# Trees


@pytest.mark.parametrize(
    "expression, tree",
    [
        (x * y, [False, [[False, x], [False, y]]]),
        (-(x * y), [True, [[False, x], [False, y]]]),
        (-x * y, [False, [[True, x], [False, y]]]),
        (-x, [True, x]),
        ((x * y) * -z, [False, [[False, [[False, x], [False, y]]], [True, z]]]),
    ],
)
def test_parse_mul_tree(expression, tree):
    assert parse_mul_tree(expression) == tree
    assert pp(compute_mul(tree)) == pp(expression)
    assert parse_mul_tree(compute_mul(tree)) == tree


def test_simplify_mul():
    assert simplify_mul([False, [[False, None], [False, x]]]) == [False, x]
    assert simplify_mul([False, [[True, None], [False, x]]]) == [True, x]
    assert simplify_mul([False, [[True, None], [False, x], [False, y]]]) == [True, [[False, x], [False, y]]]
    assert simplify_mul([True, [[True, None], [False, None]]]) == [False, None]
    assert simplify_mul([False, [[False, [[True, x]]], [False, y]]]) == [False, [[True, x], [False, y]]]
    assert simplify_mul([True, x]) == [True, x]


def test_replace_leaf():
    leaf, other = [False, at.exp(x)], [False, at.exp(y)]
    leaves, new_leaves = [(x, leaf), (y, other)], []
    assert replace_leaf(x, leaves, new_leaves, at.sigmoid, True)
    assert leaf[0] is True and pp(leaf[1]) == "sigmoid(x)"
    assert leaves == [(y, other)] and new_leaves == [(x, leaf)]
    assert replace_leaf(y, leaves, new_leaves, at.sigmoid, False) and other[0] is False
    assert not replace_leaf(z, leaves, new_leaves, at.sigmoid, False) and len(new_leaves) == 2


@pytest.mark.parametrize(
    "expression, result",
    [
        (at.exp(x) * at.sigmoid(-x), "sigmoid(x)"),
        (at.sigmoid(x) * at.exp(-x), "sigmoid((-x))"),
        (y * at.sigmoid(-x) * at.exp(x), "(y * sigmoid(x))"),
        (-at.exp(x) * at.sigmoid(-x), "(-sigmoid(x))"),
        (at.sigmoid(-x) * -at.exp(x) * -y, "((-sigmoid(x)) * (-y))"),
        # The new function takes the place of the first of both.
        (mul(at.exp(y), x, -at.sigmoid(-y)), "((-sigmoid(y)) * x)"),
        # Two exponentials and one logistic function: the second exponential stays.
        (mul(at.exp(x), at.sigmoid(-x), at.exp(x)), "(sigmoid(x) * exp(x))"),
        # sigmoid(x) was made in the first step and takes part in the second.
        (mul(at.exp(x), at.sigmoid(-x), at.exp(-x)), "sigmoid((-x))"),
    ],
)
def test_perform_sigm_times_exp(expression, result):
    tree = parse_mul_tree(expression)
    assert perform_sigm_times_exp(tree)
    new = compute_mul(simplify_mul(tree))
    assert pp(new) == result
    same_values(expression, new)


def test_perform_sigm_times_exp_without_a_pair():
    for expression in (at.exp(x) * at.sigmoid(x), at.exp(x) * at.sigmoid(-y), x * y):
        tree = parse_mul_tree(expression)
        assert not perform_sigm_times_exp(tree)
        assert tree == parse_mul_tree(expression)


def test_perform_sigm_times_exp_of_a_subtree():
    """With all that it hands to itself: the place of the subtree, and the tree."""
    tree = parse_mul_tree((y * z) * (at.exp(x) * at.sigmoid(-x)))
    lists = {"exp_x": [], "exp_minus_x": [], "sigm_x": [], "sigm_minus_x": []}
    assert perform_sigm_times_exp(tree[1][1], **lists, parent=tree, child_idx=1, full_tree=tree)
    assert pp(compute_mul(simplify_mul(tree))) == "((y * z) * sigmoid(x))"


def test_perform_sigm_times_exp_knows_leaves_of_the_rest():
    leaf = [False, at.sigmoid(-x)]
    tree = parse_mul_tree(at.exp(x) * y)
    sigm_x, sigm_minus_x = [], [(x, leaf)]
    assert perform_sigm_times_exp(tree, sigm_x=sigm_x, sigm_minus_x=sigm_minus_x)
    assert pp(leaf[1]) == "sigmoid(x)" and sigm_x == [(x, leaf)] and sigm_minus_x == []
    assert simplify_mul(tree) == [False, y]


def test_scalarconsts_rest():
    two, matrix_of_three = at.constant(2.0), at.constant([[3.0]])
    numbers, variables, rest = scalarconsts_rest([x, two, matrix_of_three, at.constant([1.0, 2.0])])
    assert [float(n) for n in numbers] == [2.0, 3.0] and variables == [two, matrix_of_three]
    assert rest[0] is x and len(rest) == 2
    filled = at.fill(x, 4.0)
    assert scalarconsts_rest([filled])[1] == [filled]
    assert scalarconsts_rest([filled], only_process_constants=True)[2] == [filled]
    doubled = at.constant(2.0) * at.constant(3.0)
    assert [float(n) for n in scalarconsts_rest([doubled])[0]] == [6.0]
    assert scalarconsts_rest([doubled], elemwise=False)[2] == [doubled]


@pytest.mark.slow
def test_deep_trees():
    """Trees of 10,000 products, the one inside of the other."""
    nested = at.exp(x)
    for _ in range(10_000):
        nested = nested * -y
    nested = nested * at.sigmoid(-x)
    tree = parse_mul_tree(nested)
    assert perform_sigm_times_exp(tree)
    smaller = simplify_mul(tree)
    result = compute_mul(smaller)
    assert len(FunctionGraph(outputs=[result], clone=False).apply_nodes) == 20_001
    num, denum = local_mul_canonizer.get_num_denum(result)
    assert len(num) == 10_001 and denum == []
