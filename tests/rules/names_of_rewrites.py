"""The names of the rewrites of Aesara 2.9.4 and their tags, by database, where this package has what they are for."""

NAMES = {
    "BlasOpt": {
        "fast_compile fast_run": "local_dot_to_dot22",
        "fast_run": "gemm_optimizer local_dot22_to_dot22scalar local_gemm_to_gemv",
    },
    "canonicalize": {
        "fast_compile fast_run": """
            local_0_dot_x local_abs_lift local_add_canonizer local_adv_sub1_adv_inc_sub1 local_alloc_sink_dimshuffle
            local_cast_cast local_dimshuffle_lift local_div_switch_sink local_erf_minus_one local_erf_neg_minus_one
            local_exp_log local_expm1 local_fill_sink local_func_inv local_greedy_distributor
            local_incsubtensor_of_zeros_to_setsubtensor local_IncSubtensor_serialize local_intdiv_by_one
            local_join_1 local_join_empty local_join_make_vector local_lift_transpose_through_dot
            local_logit_sigmoid local_merge_alloc local_merge_consecutive_specify_shape local_merge_switch_same_cond
            local_mul_canonizer local_mul_switch_sink local_mul_zero local_neg_to_mul local_one_minus_erf
            local_one_minus_erfc local_one_plus_erf local_op_of_op local_pow_canonicalize local_reciprocal_canon
            local_reduce_broadcastable local_reduce_join local_remove_scalar_BroadcastTo local_reshape_chain
            local_reshape_lift local_reshape_to_dimshuffle local_scalar_tensor_scalar local_set_to_inc_subtensor
            local_Shape_i_ground local_Shape_of_SpecifyShape local_shape_to_shape_i local_sigmoid_logit
            local_sub_neg_to_add local_subtensor_inc_subtensor local_subtensor_lift local_subtensor_make_vector
            local_subtensor_merge local_subtensor_of_alloc local_subtensor_of_dot
            local_subtensor_remove_broadcastable_index local_subtensor_shape_constant
            local_subtensor_SpecifyShape_lift local_sum_prod_all_to_none local_sum_prod_div_dimshuffle
            local_sumsqr2dot local_tensor_scalar_tensor local_track_shape_i local_unbroadcast_lift
            local_Unique_Alloc_lift local_Unique_BroadcastTo_lift local_Unique_Repeat_lift local_Unique_scalar
            local_Unique_second local_upcast_elemwise_constant_inputs local_useless_AdvancedSubtensor1
            local_useless_alloc local_useless_composite local_useless_conj
            local_useless_crossentropy_softmax_1hot_with_bias_dx_alloc local_useless_dimshuffle_in_reshape
            local_useless_dimshuffle_makevector local_useless_elemwise local_useless_elemwise_comparison
            local_useless_fill local_useless_inc_subtensor local_useless_inc_subtensor_alloc local_useless_reshape
            local_useless_slice local_useless_split local_useless_subtensor local_useless_unbroadcast local_view_op
            local_zero_div merge remove_tensor_copy topo_constant_folding
            local_log_prod_sqr no_transpose_symmetric tag_solve_triangular transinv_to_invtrans
        """,
        "fast_compile fast_run local_cut_useless_reduce": "local_useless_reduce",
        "fast_compile fast_run local_incsubtensor_of_allocs": "local_incsubtensor_of_zeros",
        "fast_compile fast_run local_remove_switch_const_cond": "local_useless_switch",
        "fast_compile fast_run local_setsubtensor_of_allocs": "local_setsubtensor_of_constants",
        "unsafe": "local_remove_all_assert",
    },
    "conv_opts": {
        "conv_gemm fast_compile fast_run": """
            local_abstractconv3d_gemm local_abstractconv3d_gradinputs_gemm local_abstractconv3d_gradweight_gemm
            local_abstractconv_gemm local_abstractconv_gradinputs_gemm local_abstractconv_gradweight_gemm
        """,
        "fast_compile fast_run": "local_conv2d_cpu local_conv2d_gradinputs_cpu local_conv2d_gradweight_cpu",
    },
    "elemwise_fusion": {
        "fast_run fusion": "composite_elemwise_fusion local_add_mul_fusion",
    },
    "optdb": {
        "": "CheckStackTrace Print1.21 Print1.51 UnShapeOpt",
        "alloc_empty_to_zeros": "local_alloc_empty_to_zeros",
        "blas_opt_inplace fast_run inplace": "InplaceBlasOpt",
        "canonicalize_db fast_compile fast_run": "canonicalize",
        "fast_compile fast_run": """
            AbstractConvCheck BlasOpt inline_ofg_expansion ShapeOpt specialize specialize_device useless
        """,
        "fast_compile fast_run merge": "merge1 merge1.1 merge1.2",
        "fast_compile fast_run xent": "crossentropy_to_crossentropy_with_softmax",
        "fast_run": """
            local_elemwise_alloc local_fill_to_alloc pre_local_IncSubtensor_serialize stabilize uncanonicalize
        """,
        "fast_run fusion local_elemwise_fusion": "elemwise_fusion",
        "fast_run inplace": """
            add_destroy_handler local_inplace_AdvancedIncSubtensor local_inplace_AdvancedIncSubtensor1
            local_inplace_setsubtensor local_inplace_sparse_block_gemv local_inplace_sparse_block_outer
        """,
        "fast_run inplace inplace_elemwise_optimizer inplace_opt": "inplace_elemwise_opt",
        "fast_run merge": "merge2 merge3",
        "fusion": "local_careduce_fusion",
    },
    "specialize": {
        "fast_compile fast_run": """
            crossentropy_to_crossentropy_with_softmax_with_bias graph_merge_softmax_with_crossentropy_softmax
            local_advanced_indexing_crossentropy_onehot local_advanced_indexing_crossentropy_onehot_grad
            local_argmax_pushdown local_logsoftmax local_logsoftmax_grad local_softmax_with_bias
            topo_constant_folding
        """,
        "fast_compile fast_run local_crossentropy_to_crossentropy_with_softmax_grad": """
            local_softmax_grad_to_crossentropy_with_softmax_grad
        """,
        "fast_run": """
            local_1msigmoid local_abs_merge local_add_neg_to_sub local_add_specialize local_adv_sub1_adv_inc_sub1
            local_AdvancedIncSubtensor_to_AdvancedIncSubtensor1 local_alloc_sink_dimshuffle local_alloc_unary
            local_cast_cast local_dimshuffle_lift local_div_to_reciprocal local_elemwise_sub_zeros
            local_erf_minus_one local_erf_neg_minus_one local_exp_log local_exp_log_nan_switch local_expm1
            local_fill_to_alloc local_func_inv local_grad_log_erfc_neg local_incsubtensor_of_zeros_to_setsubtensor
            local_join_1 local_join_empty local_join_make_vector local_join_subtensors local_log1p local_log_add_exp
            local_log_erfc local_log_sum_exp local_logit_sigmoid local_merge_alloc local_mul_specialize
            local_mul_switch_sink local_mul_to_sqr local_neg_div_neg local_one_minus_erf local_one_minus_erfc
            local_one_plus_erf local_opt_alloc local_pow_specialize local_reduce_broadcastable
            local_remove_useless_assert local_replace_AdvancedSubtensor local_scalar_tensor_scalar
            local_set_to_inc_subtensor local_shape_to_shape_i local_sigmoid_logit local_sub_neg_to_add
            local_subtensor_inc_subtensor local_subtensor_make_vector local_subtensor_merge local_subtensor_of_alloc
            local_subtensor_of_dot local_subtensor_remove_broadcastable_index local_subtensor_shape_constant
            local_sum_prod_div_dimshuffle local_sum_prod_mul_by_scalar local_sumsqr2dot local_tensor_scalar_tensor
            local_track_shape_i local_uint_constant_indices local_unbroadcast_lift local_useless_AdvancedSubtensor1
            local_useless_alloc local_useless_crossentropy_softmax_1hot_with_bias_dx_alloc
            local_useless_dimshuffle_makevector local_useless_elemwise local_useless_elemwise_comparison
            local_useless_inc_subtensor local_useless_inc_subtensor_alloc local_useless_slice local_useless_split
            local_useless_subtensor local_useless_switch local_useless_unbroadcast local_zero_div log1p_neg_sigmoid
            log_diff_exp
            local_det_chol local_log_prod_sqr no_transpose_symmetric
        """,
        "fast_run local_alloc_elemwise": "local_elemwise_alloc",
        "unsafe": "local_remove_all_assert",
    },
    "specialize_device": {
        "fast_compile fast_run": "conv_opts",
        "fast_run": "local_pow_specialize_device",
    },
    "stabilize": {
        "fast_compile fast_run": "crossentropy_to_crossentropy_with_softmax_with_bias topo_constant_folding",
        "fast_run": """
            local_0_dot_x local_1msigmoid local_alloc_sink_dimshuffle local_erf_minus_one local_erf_neg_minus_one
            local_exp_over_1_plus_exp local_expm1 local_fill_to_alloc local_grad_log_erfc_neg
            local_greedy_distributor local_log1p local_log_add_exp local_log_erfc local_log_sum_exp
            local_merge_alloc local_one_minus_erf local_one_minus_erfc local_one_plus_erf
            local_reciprocal_1_plus_exp local_reshape_lift local_sigm_times_exp local_subtensor_of_dot
            local_useless_alloc local_useless_crossentropy_softmax_1hot_with_bias_dx_alloc
            local_useless_elemwise_comparison local_useless_inc_subtensor_alloc local_useless_reshape
            log1msigm_to_softplus log1p_neg_sigmoid log1pexp_to_softplus log1pmexp_to_log1mexp logsigm_to_softplus
            inv_as_solve local_det_chol local_log_prod_sqr no_transpose_symmetric psd_solve_with_chol
            tag_solve_triangular
        """,
        "fast_run local_incsubtensor_of_allocs": "local_incsubtensor_of_zeros",
        "fast_run local_setsubtensor_of_allocs": "local_setsubtensor_of_constants",
        "unsafe": "local_remove_all_assert",
    },
    "uncanonicalize": {
        "": "local_hard_sigmoid local_ultra_fast_sigmoid",
        "fast_compile fast_run": "topo_constant_folding",
        "fast_run": """
            local_alloc_dimshuffle local_dimshuffle_alloc local_dimshuffle_subtensor local_max_and_argmax
            local_max_to_min local_reduce_broadcastable local_reduce_join local_reshape_dimshuffle
        """,
    },
    "useless": {
        "fast_compile fast_run": "local_useless_topk local_view_op",
        "fast_run": """
            local_join_1 local_join_empty local_join_make_vector local_merge_alloc
            local_merge_consecutive_specify_shape local_remove_scalar_BroadcastTo local_remove_useless_assert
            local_Shape_i_ground local_Shape_of_SpecifyShape local_subtensor_make_vector local_subtensor_of_alloc
            local_Unique_Alloc_lift local_Unique_BroadcastTo_lift local_Unique_Repeat_lift local_Unique_scalar
            local_Unique_second local_useless_alloc local_useless_conj local_useless_elemwise
            local_useless_elemwise_comparison local_useless_fill local_useless_inc_subtensor
            local_useless_inc_subtensor_alloc local_useless_reshape local_useless_slice local_useless_split
            local_useless_unbroadcast
        """,
        "fast_run local_cut_useless_reduce": "local_useless_reduce",
        "fast_run local_remove_switch_const_cond": "local_useless_switch",
        "unsafe": "local_remove_all_assert",
    },
}
