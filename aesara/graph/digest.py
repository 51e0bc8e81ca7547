"""Digests of graphs: the same in each process for graphs that compute the same by the same ops.

Names of variables, values of inputs and the order in which a graph was built play no part. An op counts by its class
and its ``__props__``, or by what its method ``digest_facts`` returns. A graph with an op of another package, or with
one that is compared by identity, has no digest: its class may be another one in the next process.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from functools import cache
from types import BuiltinFunctionType, FunctionType
from typing import Any

import numpy as np

from aesara.digests import blake2b
from aesara.graph.nodes import Constant, Variable
from aesara.graph.traversal import io_toposort

__all__ = ["InnerGraph", "NoDigest", "digest_of"]

#: bytes of an array that is digested by itself
_LARGE = 1024
_PACKAGE = __name__.partition(".")[0]
#: texts of objects that are met again and again, with the objects: an identity is not used again meanwhile
_kept_texts: dict[int, tuple[Any, str]] = {}
_MOST_TEXTS = 8192
#: characters of a text that is kept: ops with long ones hold graphs
_LONGEST_KEPT = 500


class NoDigest(ValueError):
    """A graph has no digest; the message says why."""


class InnerGraph:
    """The graph inside of an op, as one of its facts."""

    def __init__(self, inputs: Sequence[Variable], outputs: Sequence[Variable]) -> None:
        self.inputs = inputs
        self.outputs = outputs


def digest_of(inputs: Sequence[Variable], outputs: Sequence[Variable], *facts: Any) -> str:
    """Return the digest of a graph and of further facts, in hexadecimal digits.

    Parameters
    ----------
    inputs, outputs
        The graph.
    *facts
        Values whose texts are the same in each process: numbers, strings, types, and sequences of them.

    Raises
    ------
    NoDigest
        If an op, a type or a value has no text that is the same in each process.

    Examples
    --------
    >>> x, y = at.dvector("x"), at.dvector("y")
    >>> digest_of([x], [at.exp(x)]) == digest_of([y], [at.exp(y)])
    True
    >>> digest_of([x], [at.exp(x)]) == digest_of([x], [at.exp(x)], "fast")
    False
    """
    text = f"{_graph_text(inputs, outputs)}\n{text_of(facts)}"
    return blake2b(text.encode(), digest_size=20).hexdigest()


def text_of(value: Any) -> str:
    """Return the text of a value, an op or a type; see `digest_of`."""
    cls = type(value)
    write = _WRITERS.get(cls)
    if write is not None:
        return write(value)
    known = _kept_texts.get(id(value))
    if known is not None:
        return known[1]
    text = _text_of_object(value)
    if len(text) <= _LONGEST_KEPT:
        if len(_kept_texts) > _MOST_TEXTS:
            _kept_texts.clear()
        _kept_texts[id(value)] = value, text
    return text


def _graph_text(inputs: Sequence[Variable], outputs: Sequence[Variable]) -> str:
    numbers: dict[Variable, str] = {}
    lines = []
    for variable in inputs:
        numbers[variable] = f"%{len(numbers)}"
        lines.append(f"{text_of(variable.type)} {getattr(variable._tag, 'indestructible', False)}")

    def number(variable: Variable) -> str:
        found = numbers.get(variable)
        if found is None:
            if not isinstance(variable, Constant):
                raise NoDigest(f"{variable} is no input of the graph")
            found = numbers[variable] = f"%{len(numbers)}"
            lines.append(f"{found} = {text_of(variable.type)} {text_of(variable.data)}")
        return found

    for node in io_toposort(inputs, outputs):
        arguments = ",".join([number(variable) for variable in node.inputs])
        results = []
        for variable in node.outputs:
            numbers[variable] = f"%{len(numbers)}"
            results.append(text_of(variable.type))
        lines.append(f"{text_of(node.op)}({arguments}) {results}")
    lines.append(",".join([number(variable) for variable in outputs]))
    return "\n".join(lines)


def _text_of_object(value: Any) -> str:
    if isinstance(value, (FunctionType, BuiltinFunctionType, np.ufunc)):
        return _text_of_function(value)
    if isinstance(value, type):
        return _name_of_class(value)
    if isinstance(value, np.dtype):
        if value.hasobject:
            raise NoDigest("an array of Python objects")
        return f"dtype {value.str} {value.descr}"
    if isinstance(value, np.generic):
        return f"{type(value).__name__} {_text_of_array(np.asarray(value))}"
    if isinstance(value, Enum):
        return f"{_name_of_class(type(value))}.{value.name}"
    if isinstance(value, dict):
        return _text_of_mapping(value)
    if isinstance(value, Variable):
        raise NoDigest(f"the variable {value} is a part of an op")
    cls: Any = type(value)
    names = _facts_of_class(cls)
    facts = value.digest_facts() if names is None else [getattr(value, name) for name in names]
    return f"{_name_of_class(cls)}{text_of(tuple(facts))}"


@cache
def _facts_of_class(cls: type) -> tuple[str, ...] | None:
    """Return the names of the attributes that tell objects of a class apart; None if the method `digest_facts` does."""
    order = cls.__mro__
    for base in order:
        namespace = base.__dict__
        if "digest_facts" in namespace:
            return None
        if namespace.get("__props__") is not None:
            props = namespace["__props__"]
            return (props,) if isinstance(props, str) else tuple(props)
        if "__dataclass_fields__" in namespace:
            return tuple(namespace["__dataclass_fields__"])
        if "__eq__" in namespace and base is not object:
            break  # it compares what nobody has told us of
    raise NoDigest(f"{cls.__qualname__} has no __props__")


@cache
def _name_of_class(cls: type) -> str:
    return _global_name(cls, "class")


def _text_of_function(function: Any) -> str:
    return f"numpy.{function.__name__}" if _is_ufunc(function) else _global_name(function, "function")


def _is_ufunc(function: Any) -> bool:
    return isinstance(function, np.ufunc) and getattr(np, function.__name__, None) is function


def _global_name(thing: Any, kind: str) -> str:
    """Return the name by which each process finds a class or function of this package, of NumPy or of Python."""
    module, name = str(thing.__module__), thing.__qualname__
    found: Any = sys.modules.get(module) if module.partition(".")[0] in (_PACKAGE, "builtins", "numpy") else None
    for part in name.split("."):
        found = getattr(found, part, None)
    # What has the name alone, such as a class of a program without a module, is another one in the next process.
    if found is not thing:
        raise NoDigest(f"{name} is not a {kind} of {_PACKAGE}")
    return f"{module}.{name}"


def _text_of_array(array: np.ndarray) -> str:
    if array.dtype.hasobject:
        raise NoDigest("an array of Python objects")
    content = np.ascontiguousarray(array).reshape(-1).view(np.uint8).data
    told = blake2b(content, digest_size=20).hexdigest() if array.nbytes > _LARGE else content.hex()
    return f"{array.dtype.str}{array.shape}{told}"


def _text_of_sequence(values: Iterable[Any]) -> str:
    return f"({','.join([text_of(value) for value in values])})"


def _text_of_mapping(mapping: Mapping[Any, Any]) -> str:
    items = sorted((text_of(key), text_of(value)) for key, value in mapping.items())
    return f"{{{','.join([f'{key}:{value}' for key, value in items])}}}"


def _text_of_slice(entry: slice) -> str:
    return f"slice{_text_of_sequence((entry.start, entry.stop, entry.step))}"


_WRITERS: dict[type, Any] = {
    type(None): repr,
    bool: repr,
    int: repr,
    float: float.hex,
    complex: lambda value: f"{value.real.hex()}{value.imag.hex()}j",
    str: repr,
    bytes: repr,
    type(...): repr,
    slice: _text_of_slice,
    tuple: _text_of_sequence,
    list: lambda values: f"list{_text_of_sequence(values)}",
    frozenset: lambda values: f"set({','.join(sorted(map(text_of, values)))})",
    dict: _text_of_mapping,
    np.ndarray: _text_of_array,
    InnerGraph: lambda graph: f"[{_graph_text(graph.inputs, graph.outputs)}]",
}
