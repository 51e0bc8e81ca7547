"""Lowering of cumulative ops, recurrences and convolutions of vectors."""
