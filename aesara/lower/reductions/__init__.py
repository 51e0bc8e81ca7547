"""Lowering of reductions."""
