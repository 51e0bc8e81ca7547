"""Rules about matrices with known facts. Importing the package registers them, in the order of `RULES`."""

from aesara.graph.rewriting.databases import optdb
from aesara.tensor.rewriting.matrices import (
    assumptions,
    corrections,
    determinants,
    gradients,
    inverses,
    lengths,
    low_rank,
    orthogonal,
    solutions,
    structured,
    transposes,
)
from aesara.tensor.rewriting.matrices.sharing import ShareFactorizations

#: The rules of this package, in the order in which they are tried.
RULES = (
    assumptions.rules,
    structured.rules,
    low_rank.rules,
    corrections.rules,
    determinants.rules,
    inverses.rules,
    solutions.rules,
    transposes.rules,
    gradients.rules,
    orthogonal.rules,
)
for _rules in RULES:
    _rules.register()

# After `stabilize`, which decides how each result of a matrix is computed.
optdb.register("share_factorizations", ShareFactorizations(), "fast_run", position=1.65)

__all__ = ["RULES", "lengths"]
