"""Examples of rules that graphs for JAX get: what is done where a mask holds is done everywhere."""

import aesara.tensor as at

EXAMPLES = {
    "jax_boolean_indexing_set_or_inc": [
        lambda m: at.set_subtensor(m[m > 0], 2),
        lambda v: at.inc_subtensor(v[v < 1], 3),
    ],
    "jax_boolean_indexing_sum": [
        lambda m: m[m > 0].sum(),
        lambda v: v[v < 1].prod(),
    ],
    "jax_shape_parameter_as_tuple": [
        lambda m: m.reshape(at.stack([-1, 1])),
    ],
}
