"""Sorting along an axis, and the k largest or smallest elements: the documented names."""

from aesara.tensor.elementwise.ops import eq, ge, mul, switch
from aesara.tensor.ordering.sorting import *
from aesara.tensor.ordering.sorting import ArgSortOp, SortOp, TopKOp
