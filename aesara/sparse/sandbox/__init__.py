"""Experiments with sparse matrices: random ones (`sp2`), and convolution and pooling of flat images (`sp`)."""
