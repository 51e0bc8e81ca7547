"""Symbolic lists of elements of the same type.

Examples
--------
>>> import aesara
>>> import aesara.tensor as at
>>> from aesara.typed_list import TypedListType, length
>>> vectors, x = TypedListType(at.dvector)("vectors"), at.dvector("x")
>>> f = aesara.function([vectors, x], [vectors.append(x)[0], length(vectors)])
>>> f([[1.0, 2.0], [3.0]], [4.0])
[array([1., 2.]), array(2)]
"""

from aesara.configdefaults import config
from aesara.graph.nodes import Apply, Constant, Variable
from aesara.graph.op import Op
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.type import scalar
from aesara.tensor.type_other import SliceType
from aesara.typed_list.basic import (
    Append,
    Count,
    Extend,
    GetItem,
    Index,
    Insert,
    Length,
    MakeList,
    Remove,
    Reverse,
    TypedListConstant,
    TypedListVariable,
    append,
    count,
    extend,
    getitem,
    index_,
    insert,
    length,
    make_list,
    remove,
    reverse,
)
from aesara.typed_list.rewriting import rules as _rules
from aesara.typed_list.type import TypedListType
from aesara.utils import modules_on_demand

_rules.register()

__getattr__ = modules_on_demand(__name__, elsewhere={"COp": "aesara.link.c.op"})

__all__ = [
    "Append",
    "Apply",
    "COp",
    "Constant",
    "Count",
    "Extend",
    "GetItem",
    "Index",
    "Insert",
    "Length",
    "MakeList",
    "Op",
    "Remove",
    "Reverse",
    "SliceType",
    "TensorVariable",
    "TypedListConstant",
    "TypedListType",
    "TypedListVariable",
    "Variable",
    "append",
    "config",
    "count",
    "extend",
    "getitem",
    "index_",
    "insert",
    "length",
    "make_list",
    "remove",
    "reverse",
    "scalar",
]
