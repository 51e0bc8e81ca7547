"""The public names of rules about mathematical operations, and of the ops that they are about.

The rules are in `arithmetic`, `canonizer`, `constants`, `dots`, `erf_tails`, `logarithms`, `logistic`, `powers` and
`reductions`.
"""

from aesara.graph.rewriting.basic import in2out
from aesara.graph.rewriting.databases import canonicalize, specialize, stabilize
from aesara.tensor.core.check_and_raise import assert_op
from aesara.tensor.creation.allocation import alloc
from aesara.tensor.elementwise.ops import abs as at_abs
from aesara.tensor.elementwise.ops import (
    add,
    eq,
    exp,
    expm1,
    floor_divide,
    ge,
    le,
    log,
    log1mexp,
    log1p,
    maximum,
    mul,
    neg,
    reciprocal,
    sgn,
    sigmoid,
    softplus,
    sqrt,
    square,
    sub,
    switch,
    true_divide,
)
from aesara.tensor.elementwise.ops import pow as at_pow
from aesara.tensor.elementwise.ops import second as fill
from aesara.tensor.elementwise.special import erf, erfc
from aesara.tensor.rewriting.algebraic_canonizer import AlgebraicCanonizer, get_constant
from aesara.tensor.rewriting.arithmetic import (
    fill_chain,
    local_0_dot_x,
    local_abs_lift,
    local_abs_merge,
    local_add_mul_fusion,
    local_add_neg_to_sub,
    local_add_specialize,
    local_div_switch_sink,
    local_elemwise_sub_zeros,
    local_intdiv_by_one,
    local_mul_specialize,
    local_mul_switch_sink,
    local_mul_zero,
    local_neg_div_neg,
    local_neg_to_mul,
    local_sub_neg_to_add,
    local_useless_elemwise_comparison,
    local_zero_div,
)
from aesara.tensor.rewriting.basic import local_fill_sink
from aesara.tensor.rewriting.canonizer import (
    add_calculate,
    check_for_x_over_absX,
    local_add_canonizer,
    local_greedy_distributor,
    local_mul_canonizer,
    mul_calculate,
)
from aesara.tensor.rewriting.dots import local_lift_transpose_through_dot
from aesara.tensor.rewriting.elemwise import fuse_seqopt
from aesara.tensor.rewriting.erf_tails import local_grad_log_erfc_neg
from aesara.tensor.rewriting.logistic import local_sigm_times_exp
from aesara.tensor.rewriting.powers import (
    local_div_to_reciprocal,
    local_exp_log,
    local_exp_log_nan_switch,
    local_func_inv,
    local_mul_to_sqr,
    local_pow_canonicalize,
    local_pow_specialize,
    local_pow_specialize_device,
    local_reciprocal_canon,
)
from aesara.tensor.rewriting.reductions import (
    local_max_to_min,
    local_min_to_max,
    local_op_of_op,
    local_opt_alloc,
    local_reduce_broadcastable,
    local_reduce_join,
    local_sum_prod_all_to_none,
    local_sum_prod_div_dimshuffle,
    local_sum_prod_mul_by_scalar,
    local_sumsqr2dot,
    local_useless_reduce,
)
from aesara.utils import found_at

#: Canonizers as rewriters of whole graphs.
mul_canonizer = in2out(local_mul_canonizer, name="mul_canonizer_groups")
add_canonizer = in2out(local_add_canonizer, name="add_canonizer_group")


#: Rules that `__getattr__` finds by the names that they are registered under; most are rows of a table.
BY_NAME = (
    "local_1msigmoid",
    "local_erf_minus_one",
    "local_erf_neg_minus_one",
    "local_exp_over_1_plus_exp",
    "local_expm1",
    "local_log1p",
    "local_log_add_exp",
    "local_log_erfc",
    "local_log_sum_exp",
    "local_logit_sigmoid",
    "local_one_minus_erf",
    "local_one_minus_erfc",
    "local_one_plus_erf",
    "local_reciprocal_1_plus_exp",
    "local_sigmoid_logit",
    "local_useless_conj",
    "log1msigm_to_softplus",
    "log1p_neg_sigmoid",
    "log1pexp_to_softplus",
    "log1pmexp_to_log1mexp",
    "log_diff_exp",
    "logsigm_to_softplus",
)


#: Functions of Aesara 2.9.4 about products, which nothing in the package uses.
_PRODUCT_TREES = (
    "attempt_distribution",
    "compute_mul",
    "distribute_greedy",
    "is_1pexp",
    "is_exp",
    "is_inverse_pair",
    "is_mul",
    "is_neg",
    "parse_mul_tree",
    "partition_num_or_denom",
    "perform_sigm_times_exp",
    "replace_leaf",
    "scalarconsts_rest",
    "simplify_mul",
)


def __getattr__(name: str):
    if name in _PRODUCT_TREES:
        return found_at("aesara.compat.product_trees", name)
    for database in (canonicalize, stabilize, specialize):
        if name in database:
            return database[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "AlgebraicCanonizer",
    "add",
    "add_calculate",
    "add_canonizer",
    "alloc",
    "assert_op",
    "at_abs",
    "at_pow",
    "check_for_x_over_absX",
    "eq",
    "erf",
    "erfc",
    "exp",
    "expm1",
    "fill",
    "fill_chain",
    "floor_divide",
    "fuse_seqopt",
    "ge",
    "get_constant",
    "le",
    "local_0_dot_x",
    "local_abs_lift",
    "local_abs_merge",
    "local_add_canonizer",
    "local_add_mul_fusion",
    "local_add_neg_to_sub",
    "local_add_specialize",
    "local_div_switch_sink",
    "local_div_to_reciprocal",
    "local_elemwise_sub_zeros",
    "local_exp_log",
    "local_exp_log_nan_switch",
    "local_fill_sink",
    "local_func_inv",
    "local_grad_log_erfc_neg",
    "local_greedy_distributor",
    "local_intdiv_by_one",
    "local_lift_transpose_through_dot",
    "local_max_to_min",
    "local_min_to_max",
    "local_mul_canonizer",
    "local_mul_specialize",
    "local_mul_switch_sink",
    "local_mul_to_sqr",
    "local_mul_zero",
    "local_neg_div_neg",
    "local_neg_to_mul",
    "local_op_of_op",
    "local_opt_alloc",
    "local_pow_canonicalize",
    "local_pow_specialize",
    "local_pow_specialize_device",
    "local_reciprocal_canon",
    "local_reduce_broadcastable",
    "local_reduce_join",
    "local_sigm_times_exp",
    "local_sub_neg_to_add",
    "local_sum_prod_all_to_none",
    "local_sum_prod_div_dimshuffle",
    "local_sum_prod_mul_by_scalar",
    "local_sumsqr2dot",
    "local_useless_elemwise_comparison",
    "local_useless_reduce",
    "local_zero_div",
    "log",
    "log1mexp",
    "log1p",
    "maximum",
    "mul",
    "mul_calculate",
    "mul_canonizer",
    "neg",
    "reciprocal",
    "sgn",
    "sigmoid",
    "softplus",
    "sqrt",
    "square",
    "sub",
    "switch",
    "true_divide",
    *BY_NAME,
    *_PRODUCT_TREES,
]
