"""Lowering of matrix products."""
