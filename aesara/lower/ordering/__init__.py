"""Lowering of ops, by family: sorting and searching."""
