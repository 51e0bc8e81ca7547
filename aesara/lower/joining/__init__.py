"""Lowering of joins and splits."""
