"""Lowering of ops, by family: shapes and repetition."""
