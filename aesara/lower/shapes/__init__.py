"""Lowering of shapes and repetition."""
