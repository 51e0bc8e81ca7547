"""Rewrites of sparse matrices under their older path; they stand in `aesara.sparse.rewriting`."""

from aesara.sparse.rewriting import *
