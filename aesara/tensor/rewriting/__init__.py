"""Rules about tensors. Importing the package registers them, in the order of `RULES`."""

from aesara.graph.rewriting import databases
from aesara.tensor.rewriting import (
    allocations,
    arithmetic,
    basic,
    batches,
    blas,
    checked_shapes,
    complements,
    differences,
    dot_chains,
    elemwise,
    entropies,
    erf_tails,
    extra_ops,
    folding,
    fusion,
    gradient_forms,
    hyperbolic,
    inverses,
    jax,
    logarithms,
    logistic,
    math,
    older_interface,
    positions,
    powers,
    product_sums,
    pythagorean,
    reduced_forms,
    reductions,
    repeated_elements,
    scattered,
    shape,
    signs,
    softmax_entries,
    special,
    subtensor,
    subtensor_lifting,
    subtensor_reading,
    subtensor_writing,
    uncanonicalize,
    vanishing_quotients,
    views,
)

#: The rules of this package. Where several rules of a database (`canonicalize`, ...) are about the same op, they are
#: tried in this order, and within a module in the order in which they stand there. The first that applies wins, so that
#: the order decides where two have forms for one expression: constants are folded before anything else is done with
#: them, and logistic functions are found before the complements and quotients that they are written as.
RULES = (
    # Constants, and what does nothing.
    allocations.rules,
    folding.rules,
    views.rules,
    basic.rules,
    batches.rules,
    checked_shapes.rules,
    # Exponentials and what is made of them.
    logarithms.exponentials.rules,
    logistic.rules,
    complements.rules,
    differences.rules,
    # Sums, products and reductions.
    dot_chains.rules,
    signs.rules,
    arithmetic.rules,
    fusion.rules,
    elemwise.rules,
    reductions.rules,
    # Logarithms.
    vanishing_quotients.rules,
    *logarithms.RULES,
    entropies.rules,
    hyperbolic.rules,
    erf_tails.rules,
    extra_ops.rules,
    inverses.rules,
    powers.rules,
    # Reductions in fewer steps.
    reduced_forms.rules,
    repeated_elements.rules,
    # Sums of products.
    product_sums.rules,
    pythagorean.rules,
    # Shapes, and parts of tensors.
    shape.rules,
    special.rules,
    softmax_entries.rules,
    positions.rules,
    subtensor_lifting.rules,
    subtensor_reading.rules,
    subtensor_writing.rules,
    scattered.rules,
    # For modes that name their tag.
    jax.rules,
    # What canonical forms stand in the way of.
    uncanonicalize.rules,
)
for _database in (databases.canonicalize, databases.stabilize, databases.specialize, databases.local_useless):
    _database.excluded_with = older_interface.EXCLUDED_WITH
    _database.included_with = older_interface.INCLUDED_WITH
for _rules in RULES:
    _rules.register()

__all__ = [
    "RULES",
    "basic",
    "batches",
    "blas",
    "checked_shapes",
    "complements",
    "differences",
    "dot_chains",
    "elemwise",
    "entropies",
    "erf_tails",
    "extra_ops",
    "gradient_forms",
    "hyperbolic",
    "jax",
    "logarithms",
    "math",
    "product_sums",
    "pythagorean",
    "scattered",
    "shape",
    "softmax_entries",
    "special",
    "subtensor",
    "uncanonicalize",
    "views",
]
