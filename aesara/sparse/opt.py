"""Rewrites of sparse matrices under their older path."""

from aesara.sparse.rewriting import *
