"""Lowering of indexing."""
