"""Products of vectors and matrices, sums of products, norms; convolutions of images."""
