"""Names of Aesara 2.9.4 of rules whose work others do here."""

from __future__ import annotations

from aesara.graph.rewriting import databases

__all__ = ["EXCLUDED_WITH", "INCLUDED_WITH"]

#: Names of rules (or passes), and the more general rules and simplifiers that replace them. Excluding the former
#: excludes the latter.
EXCLUDED_WITH = {
    "ShapeOpt": ("local_shape_to_shape_i", "local_track_shape_i"),
    "constant_folding": ("late_constant_folding",),
    "local_1msigmoid": ("local_complement",),
    "local_adv_sub1_adv_inc_sub1": ("local_rows_written_once",),
    "local_erf_minus_one": ("local_complement",),
    "local_erf_neg_minus_one": ("local_complement",),
    "local_exp_over_1_plus_exp": ("local_x_over_1_plus_exp", "logistic"),
    "local_expm1": ("local_complement", "local_expm1_add"),
    "local_grad_log_erfc_neg": ("scaled_erfc",),
    "local_log1p": ("local_log1p_of_integer",),
    "local_log_add_exp": ("local_log_mul_exp", "local_log_of_scaled"),
    "local_log_sum_exp": ("local_log_mul_exp", "local_log_of_scaled"),
    "local_logit_sigmoid": ("logit_of_sigmoid",),
    "local_merge_consecutive_specify_shape": ("local_last_stated_shape",),
    "local_one_minus_erf": ("local_complement",),
    "local_one_minus_erfc": ("local_complement",),
    "local_one_plus_erf": ("local_complement",),
    "local_reciprocal_1_plus_exp": ("local_one_over_1_plus_exp", "local_x_over_1_plus_exp", "logistic"),
    "local_replace_AdvancedSubtensor": ("local_rows_at_positions",),
    "local_sigm_times_exp": ("logistic",),
    "local_sigmoid_logit": ("sigmoid_of_logit",),
    "local_sum_prod_div_dimshuffle": ("local_prod_div_dimshuffle",),
}

#: Names of rules, and more general rules that rely on assertions of the program. Including the former by name includes
#: the latter.
INCLUDED_WITH = {
    "local_adv_sub1_adv_inc_sub1": ("local_rows_written_once",),
    "local_merge_consecutive_specify_shape": ("local_last_stated_shape",),
    "local_sum_prod_div_dimshuffle": ("local_prod_div_dimshuffle",),
}

for _database in (databases.canonicalize, databases.stabilize, databases.specialize, databases.local_useless):
    _database.excluded_with = EXCLUDED_WITH
    _database.included_with = INCLUDED_WITH
