"""Tensors made from shapes and numbers: filled ones, ranges, triangles, diagonals."""
