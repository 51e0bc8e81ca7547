"""Functions that compute in single precision of tensors in half precision, whose sums would overflow."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import ParamSpec

from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.variable import TensorVariable

P = ParamSpec("P")


def half_in_single(function: Callable[P, TensorVariable]) -> Callable[P, TensorVariable]:
    """Return a function that computes in float32 if its first argument has dtype float16, and rounds the result to
    float16.

    An explicit `dtype` takes precedence.

    Examples
    --------
    >>> import numpy as np
    >>> import aesara.tensor as at
    >>> spread = half_in_single(lambda x: ((x - x.mean()) ** 2).mean())
    >>> float(spread(np.array([0.0] * 99 + [600.0], dtype="float16")).eval())
    3564.0
    """
    signature = inspect.signature(function)
    first = next(iter(signature.parameters))

    @functools.wraps(function)
    def compute(*args: P.args, **kwargs: P.kwargs) -> TensorVariable:
        try:
            arguments = signature.bind(*args, **kwargs)
        except TypeError:
            return function(*args, **kwargs)  # which says what is missing
        tensor = as_tensor_variable(arguments.arguments[first])
        if tensor.type.dtype != "float16" or arguments.arguments.get("dtype") is not None:
            return function(*args, **kwargs)
        arguments.arguments[first] = tensor.astype("float32")
        single = function(*arguments.args, **arguments.kwargs)  # as the signature has them
        result = single.astype("float16")
        result.name = single.name
        return result

    return compute
