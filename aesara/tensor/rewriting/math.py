"""Rules about mathematical operations: the names of this package's public parts.

==================  ======================================================
``canonizer``       canonical forms of sums and products
``arithmetic``      zeros, ones, comparisons, choices in products
``powers``          powers with constant exponents
``distribution``    factors multiplied into a sum where they cancel
``exponentials``    exponentials and logarithms, one rule a row
``logistic``        the logistic function
``reductions``      sums, products, extrema along axes
==================  ======================================================
"""

from aesara.graph.rewriting.databases import canonicalize, specialize, stabilize
from aesara.tensor.rewriting.arithmetic import (
    local_0_dot_x,
    local_add_mul_fusion,
    local_div_switch_sink,
    local_intdiv_by_one,
    local_mul_switch_sink,
    local_mul_zero,
    local_useless_elemwise_comparison,
    local_zero_div,
)
from aesara.tensor.rewriting.basic import local_fill_sink
from aesara.tensor.rewriting.canonizer import (
    AlgebraicCanonizer,
    add_calculate,
    check_for_x_over_absX,
    get_constant,
    local_add_canonizer,
    local_mul_canonizer,
    mul_calculate,
)
from aesara.tensor.rewriting.distribution import (
    attempt_distribution,
    distribute_greedy,
    local_greedy_distributor,
)
from aesara.tensor.rewriting.exponentials import local_log_add_exp, local_log_sum_exp
from aesara.tensor.rewriting.multrees import (
    compute_mul,
    is_1pexp,
    is_exp,
    is_inverse_pair,
    is_mul,
    is_neg,
    parse_mul_tree,
    partition_num_or_denom,
    replace_leaf,
    scalarconsts_rest,
    simplify_mul,
)
from aesara.tensor.rewriting.powers import (
    local_div_to_reciprocal,
    local_mul_to_sqr,
    local_pow_canonicalize,
    local_pow_specialize,
    local_pow_specialize_device,
    local_reciprocal_canon,
)
from aesara.tensor.rewriting.reductions import (
    local_max_to_min,
    local_op_of_op,
    local_opt_alloc,
    local_reduce_broadcastable,
    local_sum_prod_all_to_none,
    local_sum_prod_mul_by_scalar,
)


def __getattr__(name: str):
    # Rules that are rows of a table can be had by their names too.
    for database in (canonicalize, stabilize, specialize):
        if name in database:
            return database[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "AlgebraicCanonizer",
    "add_calculate",
    "attempt_distribution",
    "check_for_x_over_absX",
    "compute_mul",
    "distribute_greedy",
    "get_constant",
    "is_1pexp",
    "is_exp",
    "is_inverse_pair",
    "is_mul",
    "is_neg",
    "local_0_dot_x",
    "local_add_canonizer",
    "local_add_mul_fusion",
    "local_div_switch_sink",
    "local_div_to_reciprocal",
    "local_fill_sink",
    "local_greedy_distributor",
    "local_intdiv_by_one",
    "local_log_add_exp",
    "local_log_sum_exp",
    "local_max_to_min",
    "local_mul_canonizer",
    "local_mul_switch_sink",
    "local_mul_to_sqr",
    "local_mul_zero",
    "local_op_of_op",
    "local_opt_alloc",
    "local_pow_canonicalize",
    "local_pow_specialize",
    "local_pow_specialize_device",
    "local_reciprocal_canon",
    "local_reduce_broadcastable",
    "local_sum_prod_all_to_none",
    "local_sum_prod_mul_by_scalar",
    "local_useless_elemwise_comparison",
    "local_zero_div",
    "mul_calculate",
    "parse_mul_tree",
    "partition_num_or_denom",
    "replace_leaf",
    "scalarconsts_rest",
    "simplify_mul",
]
