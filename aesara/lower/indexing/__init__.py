"""Lowering of ops, by family: indexing."""
