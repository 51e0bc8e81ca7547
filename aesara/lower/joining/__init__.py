"""Lowering of ops, by family: joining and splitting."""
