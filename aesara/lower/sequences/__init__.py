"""Lowering of ops, by family: cumulative ops and recurrences."""
