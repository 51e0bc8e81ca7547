"""The rows of the op table, by family."""

from tests.optable.rows import (  # noqa: F401
    creation,
    elementwise,
    indexing,
    ordering,
    others,
    products,
    reductions,
    shapes,
)
