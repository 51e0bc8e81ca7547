"""Lowering of loops, lazy choices, checks and subgraphs."""
