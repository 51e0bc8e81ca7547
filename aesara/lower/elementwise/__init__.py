"""Lowering of ops, by family: elementwise ops."""
