"""Lowering of ops, by family: products of matrices."""
