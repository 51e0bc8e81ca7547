"""Linear algebra by SciPy, under the documented path; see `aesara.tensor.linear_algebra`."""

from typing import Any

from numpy import iscomplexobj

from aesara.tensor.linalg import *
from aesara.tensor.linear_algebra.deprecations import DEPRECATED_NAMES
from aesara.utils import deprecated_attribute


def __getattr__(name: str) -> Any:
    return deprecated_attribute(DEPRECATED_NAMES, __name__, name)
