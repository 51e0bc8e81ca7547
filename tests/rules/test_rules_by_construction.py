"""Every registered rule on every kind of operands: it computes what the expression as written computes."""

import pytest

from aesara.graph.rewriting.pattern import Rule
from tests.rules.framework import check, examples, examples_of_row, exceptions_of_rows
from tests.rules.registered import node_rewriters

EXAMPLES = examples()
EXCEPTIONS = exceptions_of_rows()
REWRITERS = node_rewriters()
#: Rules that still need examples.
STILL_MISSING = set(
    """
    constant_folding inline_ofg_expansion local_0_dot_x local_Shape_i_ground local_Shape_of_SpecifyShape
    local_abs_lift local_abs_merge local_add_canonizer local_add_mul_fusion local_add_neg_to_sub
    local_add_specialize local_add_to_part local_alloc_empty_to_zeros local_alloc_unary local_blockwise_of_rule
    local_cast_cast local_dimshuffle_alloc local_dimshuffle_lift local_div_switch_sink local_div_to_reciprocal
    local_dot_of_identity local_elemwise_alloc local_elemwise_sub_zeros local_fill_sink local_fill_to_alloc
    local_greedy_distributor local_handed_on local_incsubtensor_of_zeros local_incsubtensor_of_zeros_to_setsubtensor
    local_intdiv_by_one local_join_1 local_join_empty local_join_make_vector local_log_add_exp local_log_mul_exp
    local_log_sum_exp local_logsoftmax local_logsoftmax_grad local_max_and_argmax local_max_to_min local_merge_alloc
    local_merge_consecutive_specify_shape local_merge_switch_same_cond local_mul_canonizer local_mul_specialize
    local_mul_switch_sink local_mul_to_sqr local_neg_div_neg local_neg_to_mul local_op_of_op local_opt_alloc
    local_pow_canonicalize local_pow_specialize local_pow_specialize_device local_reciprocal_canon
    local_reduce_broadcastable local_remove_all_assert local_remove_useless_assert local_reshape_lift
    local_reshape_of_reshape local_reshape_to_dimshuffle local_scalar_tensor_scalar local_setsubtensor_of_constants
    local_shape_to_shape_i local_sub_neg_to_add local_subtensor_SpecifyShape_lift local_subtensor_inc_subtensor
    local_subtensor_lift local_subtensor_make_vector local_subtensor_merge local_subtensor_of_alloc
    local_subtensor_of_join local_subtensor_shape_constant local_sum_prod_all_to_none local_sum_prod_mul_by_scalar
    local_tensor_scalar_tensor local_track_shape_i local_useless_AdvancedSubtensor1 local_useless_alloc
    local_useless_dimshuffle_in_reshape local_useless_dimshuffle_makevector local_useless_elemwise
    local_useless_elemwise_comparison local_useless_fill local_useless_inc_subtensor local_useless_reshape
    local_useless_slice local_useless_split local_useless_switch local_useless_unbroadcast local_zero_div
    """.split()
)


def instances():
    for name, (rewriter, _) in sorted(REWRITERS.items()):
        made = examples_of_row(rewriter, EXCEPTIONS.get(name, {})) if isinstance(rewriter, Rule) else []
        for k, one in enumerate([*made, *EXAMPLES.get(name, [])]):
            yield pytest.param(name, one, id=f"{name}-{k}")


INSTANCES = list(instances())


@pytest.mark.parametrize("name, of", INSTANCES)
def test_rule(name, of):
    rewriter, tags = REWRITERS[name]
    assert check(rewriter, tags, of) > 0, f"{name} does not fire on this example, whatever the operands"


def test_every_rule_has_examples():
    covered = {parameters.values[0] for parameters in INSTANCES}
    assert sorted(set(REWRITERS) - covered - STILL_MISSING) == []


def test_every_example_has_a_rule():
    assert sorted(set(EXAMPLES) - set(REWRITERS)) == []
    assert sorted(name for name in EXCEPTIONS if not isinstance(REWRITERS[name][0], Rule)) == []
