"""Each rule of `aesara.tensor.rewriting.math` alone does what its name says."""

import numpy as np
import pytest
from scipy import special

import aesara
import aesara.tensor as at
import aesara.tensor.rewriting.math as math_rules
from aesara.compat.rule_names import INCLUDED_WITH
from aesara.compile.mode import Mode
from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Constant
from aesara.graph.op import Op
from aesara.graph.rewriting.basic import in2out
from aesara.graph.rewriting.databases import (
    canonicalize,
    optdb,
    specialize,
    specialize_device,
    stabilize,
    uncanonicalize,
)
from aesara.graph.rewriting.db import RewriteDatabaseQuery
from aesara.graph.rewriting.rewriter import NodeRewriter
from aesara.graph.rewriting.utils import rewrite_graph
from aesara.tensor.elementwise.ops import conj_
from aesara.tensor.shapes.shape import Shape_i

w, x, y, z = at.dvectors("w", "x", "y", "z")
A, B = at.dmatrices("A", "B")
i = at.ivector("i")
c = at.zvector("c")
exp, log, erf, erfc, sigmoid = at.exp, at.log, at.erf, at.erfc, at.sigmoid
pp = aesara.pprint

ROWS = {
    "local_0_dot_x": [
        (at.dot(at.specify_shape(A, (None, 3)), np.zeros(3)), "alloc(0.0, Shape(SpecifyShape(A, NoneConst, 3))[0])"),
        (
            at.dot(A, np.zeros(3)),
            "alloc(0.0, CheckAndRaise{<class 'ValueError'>(shapes are not aligned: the operands of a product do not "
            "fit.)}(Shape(A)[0], eq(Shape(A)[1], 3)))",
        ),
    ],
    "local_1msigmoid": [(1 - sigmoid(x), "sigmoid((-x))")],
    "local_abs_lift": [(abs(x * y), "(|x| * |y|)"), (abs(x / y), "(|x| / |y|)")],
    "local_abs_merge": [(abs(x) * abs(y), "|(x * y)|"), (abs(x) / abs(y), "|(x / y)|")],
    "local_add_canonizer": [(x + y - x, "y")],
    "local_add_neg_to_sub": [(x + -y, "(x - y)"), (-x + y, "(y - x)")],
    "local_add_specialize": [(at.add(x, 0, y), "(x + y)")],
    "local_div_switch_sink": [(at.switch(x, 0, y) / 3.0, "switch(x, [0.], (y / 3.0))")],
    "local_div_to_reciprocal": [(1 / x, "reciprocal(x)")],
    "local_elemwise_sub_zeros": [(x - x, "fill(x, [0.])")],
    "local_erf_minus_one": [(at.add(-1, erf(x)), "(-erfc(x))")],
    "local_erf_neg_minus_one": [(erfc(-x) - 1, "erf(x)")],
    "local_exp_log": [(log(exp(x)), "x"), (at.log1p(at.expm1(x)), "x"), (exp(at.softplus(x)), "(1 + exp(x))")],
    "local_exp_log_nan_switch": [
        (exp(log(x)), "switch(ge(x, 0), x, nan)"),
        (exp(at.log1p(x)), "switch(ge(x, -1), (1 + x), nan)"),
        (at.expm1(log(x)), "switch(ge(x, 0), (x - 1), nan)"),
        (at.expm1(at.log1p(x)), "switch(ge(x, -1), x, nan)"),
        (exp(at.log1mexp(x)), "switch(le(x, 0), (-expm1(x)), nan)"),
        (at.expm1(at.log1mexp(x)), "switch(le(x, 0), (-exp(x)), nan)"),
    ],
    "local_exp_over_1_plus_exp": [(exp(x) / (1 + exp(x)), "sigmoid(x)")],
    "local_expm1": [(exp(x) - 1, "expm1(x)")],
    "local_fill_sink": [(exp(at.fill(x, y[0])), "fill(x, exp(y[0]))")],
    "local_func_inv": [
        (-(-x), "x"),
        (conj_(conj_(c)), "c"),
        (at.reciprocal(at.reciprocal(x)), "x"),
        (at.deg2rad(at.rad2deg(x)), "x"),
        (at.rad2deg(at.deg2rad(x)), "x"),
        (at.sinh(at.arcsinh(x)), "x"),
        (at.arcsinh(at.sinh(x)), "x"),
        (at.arctanh(at.tanh(x)), "x"),
        (at.tanh(at.arctanh(x)), "switch(le(|x|, 1), x, nan)"),
        (at.arccosh(at.cosh(x)), "|x|"),
        (at.cosh(at.arccosh(x)), "switch(ge(x, 1), x, nan)"),
    ],
    "local_grad_log_erfc_neg": [
        (exp(-at.square(x)) / erfc(x), "([1.] / erfcx(x))"),
        (y * exp(-(x**2)) / (z * erfc(x)), "(y / (z * erfcx(x)))"),
    ],
    "local_greedy_distributor": [((y / x + z / x) * x, "(y + z)"), ((y / x + z) * x, "(y + (z * x))")],
    "local_intdiv_by_one": [(i // 1, "i")],
    "local_lift_transpose_through_dot": [(at.dot(A, B).T, "(B.T \\dot A.T)")],
    "local_log1p": [(log(1 + x), "log1p(x)")],
    "local_log_add_exp": [(log(exp(x) + exp(y)), "logaddexp(x, y)")],
    "local_logit_sigmoid": [(log(sigmoid(x) / sigmoid(-x)), "x")],
    "local_mul_canonizer": [(x * y / x, "y")],
    "local_mul_specialize": [(-1 * x, "(-x)"), (at.mul(-x, 1, y), "(-(x * y))"), (-x * -y, "(x * y)")],
    "local_mul_switch_sink": [(at.switch(x, 0, y) * 3.0, "switch(x, [0.], (y * 3.0))")],
    "local_mul_to_sqr": [(x * x, "square(x)")],
    "local_mul_zero": [(x * 0, "fill(x, [0.])")],
    "local_neg_div_neg": [(-((-x) / y), "(x / y)"), (-(x / -y), "(x / y)")],
    "local_neg_to_mul": [(-(2.0 * x), "([-2.] * x)"), (-(2.0 * x / y), "(([-2.] * x) / y)")],
    "local_one_minus_erf": [(1 - erf(x), "erfc(x)")],
    "local_one_minus_erfc": [(1 - erfc(x), "erf(x)")],
    "local_one_plus_erf": [(1 + erf(x), "erfc((-x))")],
    "local_op_of_op": [(A.sum(axis=0).sum(), "sum(A, axis=(0, 1))")],
    "local_opt_alloc": [(at.max(at.alloc(x[0], 3)), "x[0]")],
    "local_pow_canonicalize": [(x**1, "x")],
    "local_pow_specialize": [(x**2, "square(x)"), (x**0.5, "sqrt(x)")],
    "local_pow_specialize_device": [(x**3, "(x * square(x))")],
    "local_reciprocal_1_plus_exp": [(at.reciprocal(1 + exp(x)), "sigmoid((-x))")],
    "local_reciprocal_canon": [(at.reciprocal(x), "(1.0 / x)")],
    "local_reduce_join": [
        (at.stack([x, y, z]).sum(axis=0), "((x + y) + z)"),
        (at.stack([A, B], axis=1).max(axis=1), "maximum(A, B)"),
    ],
    "local_sigm_times_exp": [(exp(x) * sigmoid(-x), "sigmoid(x)"), (y * sigmoid(x) * exp(-x), "(y * sigmoid((-x)))")],
    "local_sigmoid_logit": [(sigmoid(log(x / (1 - x))), "switch(and_(le(0, x), le(x, 1)), x, nan)")],
    "local_sub_neg_to_add": [(x - -y, "(x + y)")],
    "local_sum_prod_all_to_none": [(A.sum(axis=(0, 1)), "sum(A, axis=None)")],
    "local_sum_prod_div_dimshuffle": [
        ((A / x).sum(axis=0), "(sum(A, axis=(0,)) / x)"),
        ((A / x.dimshuffle(0, "x")).sum(axis=1), "(sum(A, axis=(1,)) / x)"),
        ((A / x).sum(), "sum((sum(A, axis=(0,)) / x), axis=(0,))"),
    ],
    "local_sum_prod_mul_by_scalar": [((2.0 * x).sum(), "(DimShuffle{}(2.0) * sum(x, axis=None))")],
    "local_sumsqr2dot": [
        (
            at.square(A.dimshuffle("x", 0, 1) * B.dimshuffle(0, "x", 1)).sum(axis=(1, 2)),
            "(square(B) \\dot sum(square(A), axis=(0,)))",
        )
    ],
    "local_useless_conj": [(conj_(x), "x")],
    "local_useless_elemwise_comparison": [(at.maximum(x, x), "x")],
    "local_useless_reduce": [(at.sum(x, axis=[]), "x")],
    "local_zero_div": [(0 / x, "fill(x, [0.])")],
    "log1msigm_to_softplus": [(log(1 - sigmoid(x)), "(-softplus(x))")],
    "log1p_neg_sigmoid": [(at.log1p(-sigmoid(x)), "(-softplus(x))")],
    "log1pexp_to_softplus": [(at.log1p(exp(x)), "softplus(x)")],
    "log1pmexp_to_log1mexp": [(at.log1p(-exp(x)), "log1mexp(x)")],
    "logsigm_to_softplus": [(log(sigmoid(x)), "(-softplus((-x)))")],
}
#: What comes of these is longer than a line: see tests of accuracy, and tests/rules.
LONG = {"local_log_sum_exp", "local_log_erfc", "log_diff_exp", "local_reduce_broadcastable"}


@pytest.mark.parametrize(
    "name, before, after", [(name, *row) for name, rows in ROWS.items() for row in rows], ids=lambda v: str(v)[:40]
)
def test_rule_applies_alone(name, before, after):
    rewriter = getattr(math_rules, name)
    assert pp(before) != after
    assert pp(rewrite_graph(before, include=(), custom_rewrite=in2out(rewriter))) == after


def test_each_rule_has_a_row():
    rules = {name for name in math_rules.__all__ if isinstance(getattr(math_rules, name), NodeRewriter)}
    others = {"local_add_mul_fusion", "local_max_to_min", "local_min_to_max"}
    assert rules - LONG - others == set(ROWS)


def test_ops_are_names_of_the_module():
    for name in ("add", "at_abs", "at_pow", "exp", "fill", "log1mexp", "sgn", "true_divide"):
        assert isinstance(getattr(math_rules, name), Op)
    assert math_rules.at_pow == at.pow and math_rules.fill == at.fill


def test_unknown_rule_names_raise():
    with pytest.raises(AttributeError, match="no attribute 'local_nothing'"):
        math_rules.local_nothing
    with pytest.raises(AttributeError, match="no attribute 'local_nothing'"):
        aesara.tensor.rewriting.math.local_nothing


# Tags


@pytest.mark.parametrize(
    "name, databases",
    [
        ("local_abs_lift", (canonicalize,)),
        ("local_abs_merge", (specialize,)),
        ("local_add_neg_to_sub", (specialize,)),
        ("local_add_specialize", (specialize,)),
        ("local_elemwise_sub_zeros", (specialize,)),
        ("local_erf_neg_minus_one", (canonicalize, stabilize, specialize)),
        ("local_exp_log_nan_switch", (specialize,)),
        ("local_exp_log", (specialize,)),
        ("local_func_inv", (canonicalize, specialize)),
        ("local_grad_log_erfc_neg", (stabilize, specialize)),
        ("local_lift_transpose_through_dot", (canonicalize,)),
        ("local_mul_specialize", (specialize,)),
        ("local_neg_div_neg", (specialize,)),
        ("local_neg_to_mul", (canonicalize,)),
        ("local_pow_specialize_device", (specialize_device,)),
        ("local_reduce_join", (canonicalize, uncanonicalize)),
        ("local_sigm_times_exp", (stabilize,)),
        ("local_sub_neg_to_add", (canonicalize, specialize)),
        ("local_sum_prod_div_dimshuffle", (canonicalize, specialize)),
        ("local_sumsqr2dot", (canonicalize, specialize)),
        ("local_useless_conj", (canonicalize,)),
        ("local_useless_reduce", (canonicalize,)),
        ("local_cut_useless_reduce", (canonicalize,)),
        ("log1msigm_to_softplus", (stabilize,)),
    ],
)
def test_rules_are_selected_by_their_names(name, databases):
    """A rule is found by its name, and left out by it."""
    for database in databases:
        everything = database._select(RewriteDatabaseQuery(include=["fast_run"]))
        named = database._select(RewriteDatabaseQuery(include=[name]))
        rest = database._select(RewriteDatabaseQuery(include=["fast_run"], exclude=[name]))
        more = {id(database[other]) for other in INCLUDED_WITH.get(name, ()) if other in database}
        assert named and set(map(id, named)) - more <= set(map(id, everything))
        assert not set(map(id, named)) & set(map(id, rest))


# What rules must not do


def applied(name, expression):
    fgraph = FunctionGraph(outputs=[expression], clone=False)
    return getattr(math_rules, name).transform(fgraph, expression.owner)


@pytest.mark.parametrize(
    "name, expression",
    [
        ("local_abs_lift", abs(i * i)),  # integers wrap around differently
        ("local_abs_merge", abs(x) * y),
        ("local_abs_merge", abs(x) * -2.0 * abs(y)),
        ("local_add_neg_to_sub", x + (-at.bvector("u")).astype("float64")),
        ("local_neg_to_mul", -(x * y)),
        ("local_neg_to_mul", -x),
        ("local_op_of_op", A.sum(axis=0, dtype="bool").sum(dtype="bool")),  # 1 - 1 is true + true
        ("local_reduce_join", at.join(0, x, y).sum(axis=0)),
        ("local_reduce_join", at.join(0, at.drow("r"), at.drow("s")).sum(axis=1)),
        ("local_reduce_join", at.stack([x] * 40).sum(axis=0)),
        ("local_sum_prod_div_dimshuffle", (A / x).sum(axis=1)),
        ("local_sum_prod_div_dimshuffle", (at.imatrix() // at.ivector()).sum(axis=0)),
        ("local_sumsqr2dot", at.square(A.dimshuffle("x", 0, 1) * B.dimshuffle("x", 0, 1)).sum(axis=(1, 2))),
        ("local_lift_transpose_through_dot", at.dot(A, x).dimshuffle("x", 0)),
        ("local_grad_log_erfc_neg", exp(-at.square(y)) / erfc(x)),
        ("local_grad_log_erfc_neg", exp(at.square(x)) / erfc(x)),
        ("local_sigm_times_exp", exp(x) * sigmoid(x)),
        ("local_useless_conj", conj_(c)),
    ],
)
def test_rule_does_not_apply(name, expression):
    assert not applied(name, expression)


def test_a_product_that_is_used_twice_is_not_computed_twice():
    product = at.dot(A, B)
    fgraph = FunctionGraph(outputs=[product.T, product], clone=False)
    assert not math_rules.local_lift_transpose_through_dot.transform(fgraph, fgraph.outputs[0].owner)


def test_the_slope_of_log_erfc_does_not_vanish():
    f = aesara.function([x], aesara.grad(log(erfc(x)).sum(), x))
    values = np.array([-5.0, 0.0, 30.0, 1e6])
    np.testing.assert_allclose(f(values), -2 / np.sqrt(np.pi) / special.erfcx(values), rtol=1e-14)


@pytest.mark.parametrize(
    "expression, number",
    [
        (exp(x**2) * erfc(x), 1),
        (exp(x**2 / 4) * erfc(x / 2), 0.5),
        (exp(x * x / 3) * erfc(x / np.sqrt(3)), np.sqrt(1 / 3)),
        (exp((2 * x) ** 2) * erfc(2 * x), 2),
        (exp(2 * (x * 2) ** 2 * 0.5) * erfc(2 * x), 2),
        (exp(x * 4 * x) * erfc(2 * x), 2),
        (exp(x**2) * erfc(-x), -1),
        (exp(-(x**2) / 2) / at.ndtr(x), None),
        (exp(-((x / 3) ** 2) * 0.5) / at.ndtr(x / 3), None),
        (exp(x**2 / 4) * erfc(x), False),
        (exp(x**2 / y) * erfc(x), False),
        (exp(x**2 * y) * erfc(x), False),
        (exp(x**3) * erfc(x), False),
        (exp(x) * erfc(x), False),
        (exp(x**2 * at.square(x)) * erfc(x), False),
        (exp(4 * at.square(y)) * erfc(2 * x), False),
        (exp(-(x**2)) / at.ndtr(x), False),
        (exp(-(x**2)) / erf(x), False),
        (exp(x**2) / erfc(x), False),
        (at.sinh(x**2) * erfc(x), False),
        (at.sinh(-(x**2)) / erfc(x) + exp(y), False),
        (y * erfc(x) + exp(y), False),
        (exp(at.maximum(x, 2.0)) * erfc(x), False),
        (exp(at.sinh(x)) * erfc(x), False),
        (exp(-(x**2)) / erf(x) * erfc(y), False),
        (exp(x**2) * erf(x) * erfc(y), False),
        (exp(-(x**2)) / y * erfc(x), False),
        (exp(i**2) * erfc(i), False),
        (exp(-(i**2)) / erfc(i), False),
        (exp(x**2) * exp(x**2) * erfc(x), "once"),
        (exp(-(x**2)) * exp(-(x**2)) / erfc(x), "once"),
    ],
)
def test_exp_of_a_square_beside_erfc_becomes_erfcx(expression, number):
    """Squares may be written in any way; other exponentials stay as they are."""
    f = aesara.function([x, y, i], expression, on_unused_input="ignore")
    ops = {str(getattr(node.op, "scalar_op", "")) for node in f.maker.fgraph.apply_nodes}
    assert ("erfcx" in ops) == (number is not False)
    assert ("exp" in ops) == (number in (False, "once")) or "sinh" in ops
    given = np.array([0.3, 0.7, 1.1])
    wanted = expression.eval({x: given, y: given, i: [1, 2, 3]}, on_unused_input="ignore", mode=Mode("py", None))
    np.testing.assert_allclose(f(given, given, [1, 2, 3]), wanted, rtol=1e-13)
    if number in (-1, 0.5, 1, 2):
        far = np.array([20.0, 50.0, 1e3])
        np.testing.assert_allclose(f(far, far, [1, 2, 3]), special.erfcx(number * far), rtol=1e-14)


@pytest.mark.parametrize("op", [at.arccosh, at.arctanh])
def test_inverse_functions_are_nan_where_one_is_not_defined(op):
    inverse = {at.arccosh: at.cosh, at.arctanh: at.tanh}[op]
    f = aesara.function([x], inverse(op(x)))
    assert "arc" not in pp(f.maker.fgraph.outputs[0])
    values = np.array([-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5, np.inf, np.nan])
    with np.errstate(all="ignore"):
        undefined = np.isnan(op.nfunc_spec and getattr(np, op.nfunc_spec[0])(values))
    np.testing.assert_array_equal(f(values), np.where(undefined, np.nan, values))


def test_signs_and_constants_end_in_one_number():
    for expression, wanted in (
        (-(2.0 * x), "([-2.] * x)"),
        (-(-3.0 * x / y), "(([3.] * x) / y)"),
        (abs(-2.0 * x), "([2.] * |x|)"),
        (abs(x * y), "|(x * y)|"),
        (-x * -y, "(x * y)"),
        (-(1 / x), "(-reciprocal(x))"),
    ):
        f = aesara.function([x, y], expression, on_unused_input="ignore")
        assert pp(f.maker.fgraph.outputs[0]) == wanted


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_real_constants_stay_real_among_complex_numbers(dtype):
    """Infinity as a complex number, or its reciprocal, times a complex number is NaN."""
    a = at.vector("a", dtype=dtype)
    data = np.array([1 + 2j, -1.5 - 1j], dtype=dtype)
    two, infinity = np.float32(2), np.float32(np.inf)
    far = [complex(np.inf, np.inf), complex(-np.inf, -np.inf)]
    f = aesara.function([a], [a / infinity, a * infinity, -(two * a) / two, np.int8(3) * a * two], mode=Mode("py"))
    for found, expected in zip(f(data), ([0, 0], far, -data, 6 * data)):
        np.testing.assert_array_equal(found, np.asarray(expected, dtype=dtype))
    constants = [v for node in f.maker.fgraph.apply_nodes for v in node.inputs if isinstance(v, Constant)]
    assert not any(v.data.any() for v in constants if np.iscomplexobj(v.data))


def test_fill_chain():
    (filled,) = math_rules.fill_chain(x.sum(), [y, z])
    np.testing.assert_array_equal(
        aesara.function([x, y, z], filled, mode="FAST_COMPILE")([1.0, 2.0], [0.0] * 3, [0.0] * 3), [3.0] * 3
    )


def test_canonizers_of_whole_graphs():
    canonizers = (math_rules.mul_canonizer, x * y / x + z), (math_rules.add_canonizer, (x + y - x) * z)
    for rewriter, expression in canonizers:
        fgraph = FunctionGraph(outputs=[expression], clone=False)
        rewriter.rewrite(fgraph)
        assert pp(fgraph.outputs[0]) in ("(y + z)", "(y * z)")


def test_negations_in_canonical_forms_that_are_asked_for_alone():
    """Libraries look for products with -1, as Aesara has them; whole modes keep negations."""
    for expression, wanted in ((-x, "([-1.] * x)"), (sigmoid(-A), "sigmoid(([[-1.]] * A))"), (-i, "([-1] * i)")):
        assert pp(rewrite_graph(expression)) == wanted
        fgraph = FunctionGraph(outputs=[expression], clone=True)
        optdb.query("+canonicalize").rewrite(fgraph)
        assert pp(fgraph.outputs[0]) == wanted
    assert pp(rewrite_graph(exp(-x) + (-x), include=("canonicalize", "specialize"))) == "(exp((-x)) - x)"
    for mode in ("FAST_RUN", "FAST_COMPILE"):
        for tags in ((), ("canonicalize",)):
            f = aesara.function([x], sigmoid(-x), mode=aesara.compile.mode.get_mode(mode).including(*tags))
            assert pp(f.maker.fgraph.outputs[0]) == "sigmoid((-x))"


@pytest.mark.slow
def test_long_chains():
    """10,000 products one after the other, in one walk of each rule that looks at products."""
    result = exp(x)
    for k in range(10_000):
        result = result * (-y if k % 2 else z)
    result = abs(result * sigmoid(-x))
    for name in ("local_sigm_times_exp", "local_mul_specialize", "local_abs_lift", "local_neg_to_mul"):
        result = rewrite_graph(result, include=(), custom_rewrite=in2out(getattr(math_rules, name)))
    values, ones = np.array([-2.0, 0.0, 3.0]), np.ones(3)
    found = aesara.function([x, y, z], result, mode=Mode("py", None))(values, ones, ones)
    np.testing.assert_allclose(found, special.expit(values), rtol=1e-14)


@pytest.mark.parametrize("exponent", [-400.0, -17.0, -3.0, -2.0, -1.0, -0.5, 0.5, 2.0, 3.0, 17.0, 400.0])
def test_logarithms_of_powers_times_exponentials(exponent):
    """The logarithm is known where the product overflows or underflows, whatever the sign of the exponent."""
    x, y = at.dvectors("x", "y")
    f = aesara.function([x, y], at.log(x**exponent * at.exp(y)))
    values, others = np.array([10.0, 2.0, 0.25]), np.array([1.0, 2000.0, -3000.0])
    np.testing.assert_allclose(f(values, others), exponent * np.log(values) + others, rtol=1e-13)


@pytest.mark.parametrize("dtype, is_known", [("float64", True), ("int16", True), ("int8", False)])
def test_sums_of_lengths_that_cannot_wrap(dtype, is_known):
    """Two lengths of arrays of one byte for each element could be more than the largest integer together."""
    m = at.matrix("m", dtype=dtype)
    fgraph = FunctionGraph([m], [at.add(Shape_i(0)(m), Shape_i(1)(m)) >= 0], clone=False)
    in2out(math_rules.local_useless_elemwise_comparison).rewrite(fgraph)
    nodes = [node.op for node in fgraph.apply_nodes]
    assert (at.ge not in nodes) == is_known


def test_logarithms_of_integers_and_one():
    for dtype in ("int8", "int16", "int32", "int64"):
        z, top = at.vector("z", dtype=dtype), np.iinfo(dtype).max
        f = aesara.function([z], log(1 + z), mode="FAST_RUN")
        assert [node.op for node in f.maker.fgraph.toposort()] == [at.log1p]
        expected = [np.log1p(float(top)), 0, np.log(6), -np.inf, np.nan]
        np.testing.assert_allclose(f([top, 0, 5, -1, -2]), expected, rtol=1e-6)
