"""Lowering of ops that create arrays."""
