"""Lowering of ops, by family: linear algebra."""
