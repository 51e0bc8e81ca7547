"""Lowering of ops, by family: loops, choices, checks and subgraphs."""
