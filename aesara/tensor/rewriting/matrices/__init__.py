"""Rules about matrices of which something is known. Importing the package registers them."""

from aesara.tensor.rewriting.matrices import assumptions, determinants, inverses, solutions, transposes

__all__ = ["assumptions", "determinants", "inverses", "solutions", "transposes"]
