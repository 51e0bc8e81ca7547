"""Rules about tensors. Importing the package registers them, in the order of `RULES`."""

from aesara.tensor.rewriting import (
    arithmetic,
    basic,
    blas,
    constants,
    dots,
    elemwise,
    erf_tails,
    extra_ops,
    gradient_forms,
    hyperbolic,
    indexing,
    jax,
    logarithms,
    logistic,
    math,
    powers,
    reductions,
    shape,
    special,
    subtensor,
    sums,
    uncanonicalize,
    vanishing_quotients,
)
from aesara.tensor.rewriting.registration import Rules

#: The rules of this package, a module or subpackage for each root operation. In each pass (`canonicalize`,
#: `stabilize`, `specialize`, ...) the rules about one op are tried in this order, those of a module in the order in
#: which they are defined, and the first that applies is used. The order of modules matters in few cases:
#:
#: - Constants are folded, and operations without effect removed, before other rules visit a node.
#: - `exp`, `log1p`, ... of one or two terms (`exponentials`) come before the more general rules about sums, products
#:   and logarithms.
#: - Logistic functions are recognised before the complements and quotients that they are written as.
#: - Sums of dots are merged before the canonizers of `arithmetic` reorder the terms.
#: - Logarithms of functions that vanish at zero are recognised before other logarithms are expanded.
#: - `uncanonicalize` comes last: other rules undo its forms.
RULES = (
    constants.rules,
    basic.rules,
    shape.rules,
    logarithms.exponentials.rules,
    logistic.rules,
    sums.rules,
    reductions.rules,
    dots.rules,
    arithmetic.rules,
    elemwise.rules,
    vanishing_quotients.rules,
    Rules(*logarithms.RULES),
    hyperbolic.rules,
    erf_tails.rules,
    special.rules,
    extra_ops.rules,
    powers.rules,
    indexing.rules,
    jax.rules,
    uncanonicalize.rules,
)
for _rules in RULES:
    _rules.register()

__all__ = [
    "RULES",
    "basic",
    "blas",
    "constants",
    "dots",
    "elemwise",
    "erf_tails",
    "extra_ops",
    "gradient_forms",
    "hyperbolic",
    "jax",
    "logarithms",
    "math",
    "shape",
    "special",
    "subtensor",
    "sums",
    "uncanonicalize",
]
