"""Linear algebra: factors, inverses, solutions and functions of matrices.

Ops take matrices; applied to tensors with more dimensions they become a `Blockwise`, whose gradient is theirs.
"""
