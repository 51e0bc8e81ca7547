"""Reductions along axes: sums, extrema, logic, positions; `logsumexp` and `softmax`."""
