"""Functions along one dimension: running sums, recurrences, convolutions, interpolation, windows."""
