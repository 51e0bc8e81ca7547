"""Names that need no row of the op table, with the reasons."""

#: public functions of `aesara.tensor` and the modules of its families
FUNCTIONS: dict[str, str] = {}

_REASONS = {
    "gives or asks for a fact of a graph, and makes no op": """constant extract_constant get_scalar_constant_value
        get_vector_length ndim is_flat gradient_as
        register_transfer infer_static_shape static_reshape shape_tuple known_entries
        known_integer check_and_normalize_axes indexed_result_shape index_vars_to_types indices_from_subtensor
        get_constant_idx get_idx_list get_slice_elements get_canonical_form_slice as_index_constant as_index_literal
        as_index_variable as_nontensor_scalar as_slice is_basic_idx is_mask is_scalar_integer group_indices basic_shape
        check_advanced_indexing_dimensions as_list_or_tuple constant_of_output follow_input upcast tensor_function
        mode_not_slow printer_attribute
        values_eq_approx_always_true""",
    "differentiates graphs: tests/test_gradient.py": """grad Lop Rop subgraph_grad jacobian hessian
        hessian_vector_product verify_grad numeric_grad grad_not_implemented grad_undefined""",
    "applies other ops in batches: tests/tensor/vectorization/test_blockwise.py": "vectorize",
    "makes an index: tests/tensor/joining/test_stacking.py": "slice_at_axis",
    "makes a type or a value of one that is no tensor": """make_slice slicetype none_type_t disconnected_type null_type
        tensor_type""",
    "reads a file when it is called: tests/tensor/test_reading_files.py": "load",
    "an attribute of a module with deprecated names": "deprecated_attribute",
    "registers code of another back end": "register_shape_c_code register_shape_i_c_code",
    "prints": "pprint described",
    "a cast, of functions that have rows": "as_floats",
    "a derivative that only gradients apply": "hyp2f1_der",
    "made by rewriting: tests/accuracy/test_never_worse.py": "erfcx_reciprocal",
    "made by gradients and rewriting: tests/accuracy/test_stable.py": """exprel exprel_reciprocal log_exprel
        log1p_ratio log_sinhc spherical_bessel_of_square spherical_ratio boys""",
    "another name for what `at.getitem` and its like do with an index, each in a row of rows/indexing.py": """getitem
        advanced_subtensor advanced_subtensor1 advanced_inc_subtensor advanced_inc_subtensor1 advanced_set_subtensor
        advanced_set_subtensor1 advanced_inc_subtensor_nodup advanced_set_subtensor_nodup write_to_result""",
    "sizes of slices, for rules: tests/tensor/indexing/test_subtensor.py": "range_len slice_len",
    "the op of a function that has a row": """bartlett_ broadcast_to_ fill_diagonal_ fill_diagonal_offset_ join_ isinf_
        isnan_ conj_ logit_ poch_ at_abs consider_constant_ disconnected_grad_ undefined_grad_ zero_grad_ shape_i_op
        mod_check identity makeKeepDims mul_without_zeros""",
    "rewrites graphs": """crossentropy_to_crossentropy_with_softmax softmax_simplifier
        crossentropy_to_crossentropy_with_softmax_with_bias graph_merge_softmax_with_crossentropy_softmax""",
}
for _reason, _names in _REASONS.items():
    FUNCTIONS.update(dict.fromkeys(_names.split(), _reason))

#: classes of ops of tensors and scalars
OPS: dict[str, str] = {}

_OPS = {
    "the base of other ops": """ScalarOp UnaryScalarOp BinaryScalarOp FixedLogicalComparison UnaryBitOp BinaryBitOp
        LogicalComparison ComposedOp ExpressionOp MayOverwriteFirst Correlation BaseAbstractConv AbstractConv
        AbstractConv_gradWeights AbstractConv_gradInputs ChosenWindows MatrixCorrelation Forward
        ForWeights ForInputs BatchNormOp PoolingOp PoolGrad BaseCorrMM BaseCorr3dMM MatrixOp SolveBase""",
    "forms of convolutions, made by rewriting: tests/tensor/nnet/test_convolution_rules.py": """ConvOp CorrMM
        CorrMM_gradWeights CorrMM_gradInputs Corr3dMM Corr3dMMGradWeights Corr3dMMGradInputs""",
    "costs of sequences of labels: tests/tensor/nnet/test_ctc.py": "ConnectionistTemporalClassification",
    "products of chosen blocks: tests/tensor/nnet/test_blocksparse.py": "SparseBlockGemv SparseBlockOuter",
    "made by rewriting: tests/scalar/test_scalar_composite.py": "Composite",
    "made by lowering of complex numbers: tests/link/llvm": "_CopySign",
    "a deprecated name of CumOp": "CumsumOp CumprodOp",
    "overwrites its input: tests/tensor/test_overwriting.py": "OverwritingElemwise",
    "the scalar op of the op Mean, which computes it otherwise": "Mean",
    "makes slices, no tensors: tests/tensor/test_type.py": "MakeSlice",
    "applies other ops in batches: tests/tensor/vectorization/test_blockwise.py": "Blockwise",
    "reads a file: tests/tensor/test_reading_files.py": "LoadFromDisk",
    "forms of products of matrices, made by rewriting: tests/tensor/products/test_blas.py": """BlasOp GemmRelated Gemm
        Dot22 Dot22Scalar Gemv Ger""",
    "made by rewriting: tests/accuracy/test_never_worse.py": "ErfcxReciprocal",
    "made by gradients and rewriting: tests/accuracy/test_stable.py": """Exprel ExprelLogSlope ExprelReciprocal
        LogExprel LogSinhc Log1pRatio SphericalBesselOfSquare SphericalRatio Boys""",
    "made by rewriting: tests/accuracy/test_stability_rows.py": "Supremum",
    "made by rewriting: tests/tensor/indexing/test_chained_index.py": "ChainedIndex",
    "made by rewriting: tests/rules/basic_examples.py": "_AssertLengths",
    "derivatives in one step: tests/tensor/linear_algebra/test_gradient_ops.py": """EighGrad EigvalshGrad
        CofactorsGrad""",
    "made by rewriting: tests/tensor/rewriting/test_reduction_fusion.py": "FusedReduction",
    "made by rewriting: tests/tensor/rewriting/test_shared_factors.py": "SolveByLU InverseByLU",
    "made by gradients and rewriting: tests/tensor/rewriting/test_gradients_of_factors.py": """CholeskyPullback
        InverseByCholesky""",
}
for _reason, _names in _OPS.items():
    OPS.update(dict.fromkeys(_names.split(), _reason))
