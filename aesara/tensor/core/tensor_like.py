"""Type of what functions of tensors take: all that `as_tensor_variable` converts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from aesara.graph.nodes import Variable

#: variables, arrays, numbers, and sequences of these
TensorLike: TypeAlias = Variable | np.ndarray | np.generic | complex | Sequence[Any]
#: an integer, or a variable of one
IntegerLike: TypeAlias = Variable | int | np.integer
#: the lengths of an array; one number is the length of a vector
ShapeLike: TypeAlias = IntegerLike | np.ndarray | Sequence[IntegerLike]
