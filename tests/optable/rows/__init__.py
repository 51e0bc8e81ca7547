"""The rows of the op table, by family."""

from tests.optable.rows import (  # noqa: F401
    creation,
    elementwise,
    fourier,
    indexing,
    linear_algebra,
    networks,
    numpy_functions,
    ordering,
    others,
    pooling,
    products,
    reductions,
    shapes,
)

elementwise.add_rows()  # of what has no row yet
