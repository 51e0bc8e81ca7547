"""Errors that are specific to tensor expressions."""


class ShapeError(Exception):
    """Raised when the shape of an expression cannot be worked out."""


class NotScalarConstantError(Exception):
    """Raised when an expression was expected to be a scalar constant and is not.

    Functions that look for constants, such as
    `aesara.tensor.get_scalar_constant_value`, raise it; callers that can do
    without the constant catch it.
    """


class AdvancedIndexingError(TypeError):
    """Raised when an index needs advanced indexing where only a basic one is accepted."""
