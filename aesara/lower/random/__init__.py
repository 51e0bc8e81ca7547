"""Lowering of draws from random distributions."""
