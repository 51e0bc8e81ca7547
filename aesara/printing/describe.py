"""Short descriptions of variables that are independent of memory addresses."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from itertools import count
from typing import Any

import numpy as np

from aesara.graph import hooks
from aesara.graph.nodes import Variable
from aesara.printing.identifiers import char_from_number


class _TagGenerator:
    """Generates the tags A, B, C, ..."""

    def __init__(self) -> None:
        self._numbers: Iterator[int] = count()

    def get_tag(self) -> str:
        return char_from_number(next(self._numbers))


def min_informative_str(obj: Variable, indent_level: int = 0, _prev_obs: Any = None, _tag_generator: Any = None) -> str:
    """Return a tree of a variable in which each node is described once.

    Named variables, and variables without an owner, are leaves.

    Parameters
    ----------
    obj
        The variable.
    indent_level
        The indentation of the tree.

    Examples
    --------
    >>> x, y, z = at.dvectors("x", "y", "z")
    >>> print(min_informative_str(x * (y + z)))
    A. Elemwise{mul,no_inplace}
     B. x
     C. Elemwise{add,no_inplace}
      D. y
      E. z
    """
    tags: dict[Variable, str] = {} if _prev_obs is None else _prev_obs
    generator = _TagGenerator() if _tag_generator is None else _tag_generator
    lines = []
    pending = [(obj, indent_level)]
    while pending:
        variable, level = pending.pop()
        indent = " " * level
        if variable in tags:
            lines.append(f"{indent}<{tags[variable]}>")
            continue
        tags[variable] = tag = generator.get_tag()
        node = getattr(variable, "owner", None)
        if getattr(variable, "name", None) is not None or node is None:
            lines.append(f"{indent}{tag}. {variable}")
            continue
        number = f"::{variable.index}" if len(node.outputs) > 1 else ""
        lines.append(f"{indent}{tag}. {node.op}{number}")
        pending.extend((operand, level + 1) for operand in reversed(node.inputs))
    return "\n".join(lines)


def var_descriptor(obj: Any, _prev_obs: Any = None, _tag_generator: Any = None) -> str:
    """Return a formula of a variable in which each subexpression has a tag and is described once.

    Equal graphs have equal descriptors, also in different processes.

    Examples
    --------
    >>> x = at.dvector("x")
    >>> var_descriptor(x + x)
    'A=Elemwise{add,no_inplace}(B=x,<B>)'
    """
    tags: dict[Any, str] = {} if _prev_obs is None else _prev_obs
    generator = _TagGenerator() if _tag_generator is None else _tag_generator
    text: list[str] = []
    pending: list[Any] = [(obj,)]
    while pending:
        item = pending.pop()
        if isinstance(item, str):
            text.append(item)
            continue
        (variable,) = item
        key = variable if isinstance(variable, Variable) else id(variable)
        if key in tags:
            text.append(f"<{tags[key]}>")
            continue
        tags[key] = tag = generator.get_tag()
        if isinstance(variable, np.ndarray):
            strides = ",".join(map(str, variable.strides))
            digest = hashlib.sha256(variable.tobytes()).hexdigest()
            text.append(f"{tag}=<ndarray:strides=[{strides}],digest={digest}>")
            continue
        node = getattr(variable, "owner", None)
        if node is None:
            description = variable.name if getattr(variable, "name", None) is not None else str(variable)
            text.append(f"{tag}={description}")
            continue
        number = f"::{variable.index}" if len(node.outputs) > 1 else ""
        text.append(f"{tag}={node.op}{number}(")
        pending.append(")")
        for position in range(len(node.inputs) - 1, -1, -1):
            pending.append((node.inputs[position],))
            if position:
                pending.append(",")
    return "".join(text)


def position_independent_str(obj: object) -> str:
    """Return a description that is the same for all variables of a type."""
    if isinstance(obj, Variable):
        return f"aesara_var{{type={obj.type}}}"
    raise NotImplementedError(f"position_independent_str describes variables, got {obj!r}")


def hex_digest(x: np.ndarray) -> str:
    """Return a digest of the values, dtype, shape and strides of an array."""
    if not isinstance(x, np.ndarray):
        raise TypeError(f"hex_digest takes an array, got {type(x).__name__}")
    digest = hashlib.sha256(x.tobytes()).hexdigest()
    return f"{digest}|strides=[{','.join(map(str, x.strides))}]|shape=[{','.join(map(str, x.shape))}]"


hooks.min_informative_str.set(min_informative_str)
