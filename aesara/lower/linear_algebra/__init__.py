"""Lowering of linear algebra."""
