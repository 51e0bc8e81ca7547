"""Lowering of sorting and searching."""
