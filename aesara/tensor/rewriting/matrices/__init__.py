"""Rules about matrices of which something is known."""

from aesara.tensor.rewriting.matrices import assumptions, determinants, inverses, solutions, transposes

#: The rules of this package, in the order in which they are tried.
RULES = (assumptions.rules, determinants.rules, inverses.rules, solutions.rules, transposes.rules)

__all__ = ["RULES", "assumptions", "determinants", "inverses", "solutions", "transposes"]
