"""Lowering of ops, by family: draws from random distributions."""
