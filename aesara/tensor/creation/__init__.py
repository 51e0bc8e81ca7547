"""Creation of tensors: constant fills, ranges, triangles, diagonals."""
