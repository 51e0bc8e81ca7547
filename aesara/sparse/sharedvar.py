"""Shared variables with sparse values."""

from __future__ import annotations

from typing import Any

import scipy.sparse

from aesara.graph.shared import shared_constructor
from aesara.sparse.type import MATRIX_CLASSES, SparseTensorType
from aesara.sparse.variables import _sparse_py_operators
from aesara.tensor.sharedvar import TensorSharedVariable

__all__ = ["SparseTensorSharedVariable", "sparse_constructor"]


class SparseTensorSharedVariable(_sparse_py_operators, TensorSharedVariable):
    """A shared variable with a sparse value; constructed by `aesara.shared`."""

    def __str__(self) -> str:
        return str(self.name) if self.name else f"<{self.type}>"

    __repr__ = __str__

    def zero(self, borrow: bool = False) -> None:
        """Set the value to a matrix without stored values.

        Parameters
        ----------
        borrow
            Accepted for compatibility; has no effect.
        """
        value = self.container.value
        self.container.value = type(value)(value.shape, dtype=value.dtype)


@shared_constructor.register(scipy.sparse.spmatrix)
@shared_constructor.register(scipy.sparse.sparray)
def sparse_constructor(
    value: Any,
    name: str | None = None,
    strict: bool = False,
    allow_downcast: bool | None = None,
    borrow: bool = False,
    format: str | None = None,
) -> SparseTensorSharedVariable:
    """Construct a shared variable for a sparse matrix.

    Parameters
    ----------
    value
        The matrix.
    borrow
        Use `value` itself instead of a copy.
    format
        The format of all values; by default that of `value`.

    Examples
    --------
    >>> import scipy.sparse
    >>> import aesara.sparse
    >>> aesara.shared(scipy.sparse.eye(3, format="csc")).type
    Sparse(float64, (None, None), csc)
    """
    if format is None:
        format = value.format
    if format not in MATRIX_CLASSES:
        raise TypeError(f"A shared variable of the format {format} is not possible: convert the value with tocsr.")
    kind = SparseTensorType(format, value.dtype.name)
    return SparseTensorSharedVariable(
        type=kind,
        value=kind.filter(value if borrow else value.copy()),
        strict=strict,
        allow_downcast=allow_downcast,
        name=name,
    )
