"""The rows of the op table, by family."""

from tests.optable.rows import (  # noqa: F401
    creation,
    elementwise,
    indexing,
    networks,
    numpy_functions,
    ordering,
    others,
    products,
    reductions,
    shapes,
)

elementwise.add_rows()  # of what has no row yet
