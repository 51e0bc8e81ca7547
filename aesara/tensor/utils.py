"""Small helpers about arrays and lists."""

from __future__ import annotations

from typing import Any

import numpy as np

from aesara.graph import hooks
from aesara.graph.fg import FunctionGraph
from aesara.tensor.core.tensor_like import TensorLike
from aesara.tensor.core.variable import TensorVariable
from aesara.utils import hash_from_code


def hash_from_ndarray(data: np.ndarray) -> str:
    """Return a hash of values, dtype, shape and strides of an array that is the same in every process."""
    data = np.asarray(data)
    described = f"{data.dtype.str} {data.shape} {data.strides}".encode()
    return hash_from_code(described + np.ascontiguousarray(data).tobytes())


def as_list(x: TensorLike) -> list[Any]:
    """Convert a list or tuple to a list; other objects become the only entry of a list."""
    return list(x) if isinstance(x, (list, tuple)) else [x]


def shape_of_variables(
    fgraph: FunctionGraph, input_shapes: dict[TensorVariable, tuple[int, ...]]
) -> dict[TensorVariable, tuple[int, ...]]:
    """Return the shapes of all tensors of a graph for given shapes of its inputs.

    Parameters
    ----------
    fgraph
        The graph.
    input_shapes
        The shape of each input that is not known from its type.

    Returns
    -------
    dict
        The shape of each variable.

    Raises
    ------
    ValueError
        If a shape depends on the values of an input, not only on shapes.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> from aesara.graph.fg import FunctionGraph
    >>> x = at.matrix("x")
    >>> y = x[512:]
    >>> shape_of_variables(FunctionGraph([x], [y], clone=False), {x: (1024, 1024)})[y]
    (512, 1024)
    """
    return hooks.shape_of_variables(fgraph, input_shapes)
