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
#: which they stand there, and the first that applies wins. The passes see to the rest: canonical forms, then stability,
#: then speed. The order of modules matters in few places:
#:
#: - Constants are folded, and what does nothing is removed, before other rules look at a node.
#: - `exp`, `log1p`, ... of one or two terms (`exponentials`) come before the rules about sums, products and logarithms,
#:   which are more general.
#: - Logistic functions are found before the complements and quotients that they are written as.
#: - Sums of dots are merged before the canonizers of `arithmetic` reorder the terms.
#: - Logarithms of functions that vanish at zero are found before other logarithms are taken apart.
#: - `uncanonicalize` comes last: it has forms that the others take back.
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
