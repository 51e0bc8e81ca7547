"""Remove `assume` after the rules that read its facts."""

from __future__ import annotations

from aesara.tensor.linear_algebra.assume import Assume
from aesara.tensor.rewriting.matrices.patterns import matrix_row
from aesara.tensor.rewriting.registration import Rules

rules = Rules()
rules.specialize(matrix_row("local_remove_assume", (Assume, "x"), "x", why="assume(A, ...) -> A"), "fast_compile")
