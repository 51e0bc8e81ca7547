"""Small graphs as Python programs that anybody can run."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping, Sequence
from keyword import iskeyword
from types import ModuleType
from typing import Any

import numpy as np

import aesara.scalar as scalar_module
import aesara.tensor as tensor_module
from aesara.graph.nodes import Apply, Constant, Variable
from aesara.graph.op import Op
from aesara.graph.traversal import io_toposort
from aesara.scalar.casting import Cast
from aesara.tensor.core.tensor_type import TensorType
from aesara.tensor.elementwise.elemwise import Elemwise
from aesara.tensor.indexing.index_forms import indices_from_subtensor
from aesara.tensor.indexing.subtensor_basic import IncSubtensor, Subtensor
from aesara.tensor.shapes.dimshuffle import DimShuffle

_IMPORTS = ["import numpy as np", "import aesara", "import aesara.tensor as at"]


class ProgramText:
    """Lines of Python that build a graph.

    Parameters
    ----------
    values
        The inputs and their values.

    Attributes
    ----------
    lines
        The lines, imports first.
    names
        What each variable is called.

    Examples
    --------
    >>> x = at.dvector("x")
    >>> text = ProgramText({x: np.ones(1)})
    >>> text.name_of(at.exp(at.sin(x)))
    'v1'
    >>> print("\\n".join(text.lines[3:]))
    x = at.tensor("float64", shape=(None,), name="x")
    v0 = at.sin(x)
    v1 = at.exp(v0)
    """

    def __init__(self, values: Mapping[Variable, Any]) -> None:
        self.imports = list(_IMPORTS)
        self.body: list[str] = []
        self.names: dict[Variable, str] = {}
        self._count = 0
        for number, variable in enumerate(values):
            name = variable.name if variable.name and _is_free(variable.name) else f"x{number}"
            while name in self.names.values():
                name = f"{name}_{number}"
            self.names[variable] = name
            self.body.append(f"{name} = {_type_text(variable, name)}")

    @property
    def lines(self) -> list[str]:
        return self.imports + self.body

    def name_of(self, variable: Variable) -> str:
        """The name of a variable of the program; the lines that compute it are added."""
        known = [*self.names]
        for node in io_toposort(known, [variable]):
            for one in node.inputs:
                self._leaf(one)
            if all(out in self.names for out in node.outputs):
                continue
            self._node(node)
        self._leaf(variable)
        return self.names[variable]

    def _new_name(self) -> str:
        name = f"v{self._count}"
        self._count += 1
        return name

    def _leaf(self, variable: Variable) -> None:
        if variable in self.names or variable.owner is not None:
            return
        name = self._new_name()
        value = getattr(variable, "data", None)
        if isinstance(variable, Constant) and isinstance(variable.type, TensorType):
            text = f"at.constant({array_text(value)})"
        else:
            text = repr(value if isinstance(variable, Constant) else variable)
        self.body.append(f"{name} = {text}")
        self.names[variable] = name

    def _node(self, node: Apply) -> None:
        op, inputs = node.op, [self.names[one] for one in node.inputs]
        arguments = ", ".join(inputs)
        if isinstance(op, DimShuffle):
            order = ", ".join(repr(axis) for axis in op.new_order)
            text = f"{arguments}.dimshuffle({order})"
        elif isinstance(op, Subtensor):
            text = f"{inputs[0]}[{_index_text(inputs[1:], op.idx_list)}]"
        elif isinstance(op, IncSubtensor):
            change = "set_subtensor" if op.set_instead_of_inc else "inc_subtensor"
            text = f"at.{change}({inputs[0]}[{_index_text(inputs[2:], op.idx_list)}], {inputs[1]})"
        elif isinstance(op, Elemwise) and isinstance(op.scalar_op, Cast):
            text = f"at.cast({arguments}, {node.outputs[0].type.dtype!r})"
        else:
            text = f"{self._op(node.op)}({arguments})"
        names = [self._new_name() for _ in node.outputs]
        self.names.update(zip(node.outputs, names, strict=True))
        self.body.append(f"{', '.join(names)} = {text}")

    def _op(self, op: Op) -> str:
        name = _public_name(op, tensor_module)
        if name is not None:
            return f"at.{name}"
        if isinstance(op, Elemwise) and _public_name(op.scalar_op, scalar_module) is not None:
            self._add_import("from aesara.tensor.elemwise import Elemwise")
            self._add_import("import aesara.scalar")
            return f"Elemwise(aesara.scalar.{_public_name(op.scalar_op, scalar_module)})"
        cls = type(op)
        self._add_import(f"from {cls.__module__} import {cls.__name__}")
        known = inspect.signature(cls).parameters
        facts = [name for name in getattr(op, "__props__", ()) or () if name in known and name != "scalar_op"]
        props = ", ".join(f"{name}={getattr(op, name)!r}" for name in facts)
        return f"{cls.__name__}({props})"

    def _add_import(self, line: str) -> None:
        if line not in self.imports:
            self.imports.append(line)


def array_text(value: object) -> str:
    """A value as an expression of a program that has imported NumPy as ``np``."""
    array = np.asarray(value)
    if array.dtype.kind not in "biufc":
        return repr(value)
    numbers = repr(array.tolist()).replace("nan", "np.nan").replace("inf", "np.inf")
    text = f"np.array({numbers}, dtype={str(array.dtype)!r})"
    return text if array.size else f"np.empty({array.shape}, dtype={str(array.dtype)!r})"


def _is_free(name: str) -> bool:
    """Return whether an input can have this name: an identifier that no module or result (``v0``, ``v1``, ...) uses."""
    taken = iskeyword(name) or name in ("np", "aesara", "at") or re.fullmatch(r"v\d+", name)
    return name.isidentifier() and not taken


def _type_text(variable: Variable, name: str) -> str:
    type_ = variable.type
    if isinstance(type_, TensorType):
        return f'at.tensor("{type_.dtype}", shape={tuple(type_.shape)}, name="{name}")'
    return f"{type_!r}()"


def _index_text(scalars: Sequence[str], template: Sequence[object]) -> str:
    def entry(part: Any) -> str:
        if not isinstance(part, slice):
            return str(part)
        ends = ":".join("" if one is None else str(one) for one in (part.start, part.stop))
        return ends if part.step is None else f"{ends}:{part.step}"

    return ", ".join(entry(part) for part in indices_from_subtensor(scalars, template))


def _public_name(op: Op, module: ModuleType) -> str | None:
    for name, value in vars(module).items():
        if value is op or (type(value) is type(op) and value == op):
            return name
    return None
