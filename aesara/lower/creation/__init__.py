"""Lowering of ops, by family: arrays that are made."""
