"""Lowering of ops, by family: reductions and positions of extremes."""
