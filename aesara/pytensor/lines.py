"""Source lines for nodes of PyTensor's graphs, and names for variables that PyMC joins to one vector.

PyTensor records the call stack for each result. Densities, gradients and rewritten expressions are built by the call
that compiles a function, so their stacks do not lead to the model. For such a node, the line of the model is taken in
which the variables that the node depends on first occur together.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from os import sep
from os.path import dirname
from types import FrameType
from typing import Any, NamedTuple

from pytensor.graph.basic import Apply as PyTensorApply
from pytensor.graph.basic import Constant as PyTensorConstant
from pytensor.graph.basic import Variable as PyTensorVariable
from pytensor.graph.fg import FunctionGraph as PyTensorGraph
from pytensor.graph.traversal import graph_inputs, toposort
from pytensor.tensor.random.type import RandomGeneratorType as PyTensorGeneratorType
from pytensor.tensor.subtensor import Subtensor as PyTensorSubtensor

from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Apply, Variable
from aesara.graph.source import SourceLine
from aesara.tensor.indexing.index_forms import get_constant_idx
from aesara.tensor.indexing.subtensor_basic import Subtensor
from aesara.tensor.shapes.dimshuffle import DimShuffle
from aesara.tensor.shapes.reshape import Reshape

__all__ = ["JoinedPart", "Lines", "frames_of_pymc", "joined_parts", "model_in_use", "name_parts"]

#: folders of libraries between the user and PyTensor, found without importing them
_LIBRARIES = tuple(
    spec.origin if spec.submodule_search_locations is None else dirname(spec.origin) + sep
    for spec in map(find_spec, ("pytensor", "pymc", "pymc_extras", "functools", "aesara"))
    if spec is not None and spec.origin is not None
)
_GRADIENT_OF = "_grad"  # PyMC's suffix for the gradient of a variable

Names = frozenset[str]


class JoinedPart(NamedTuple):
    """A variable in a vector that consists of several variables."""

    name: str
    start: int
    stop: int


class Lines:
    """Finds the source lines of the nodes of a graph; nodes must be passed in topological order.

    Parameters
    ----------
    model : pymc.Model, optional
        The model of the graph.
    parts : mapping of pytensor.graph.basic.Variable to sequence of JoinedPart, optional
        The variables that inputs of the graph consist of.
    """

    def __init__(self, model: Any = None, parts: Mapping[PyTensorVariable, Sequence[JoinedPart]] | None = None) -> None:
        self._running = {(frame.f_code.co_filename, frame.f_lineno) for frame in _frames()}
        self._of_model = {} if model is None else _lines_of_model(model)
        self._parts = {
            (vector, part.start, part.stop): frozenset([part.name])
            for vector, joined in (parts or {}).items()
            for part in joined
        }
        self._names: dict[PyTensorVariable, Names] = {}
        self._lines: dict[PyTensorVariable, SourceLine] = {}

    def source_of(self, node: PyTensorApply) -> SourceLine | None:
        """Return the source line of a node.

        This is the line that built it, unless a library built it on behalf of the running line. In that case it is the
        line of the model in which the variables of the node first occur together, or the line of an input.
        """
        line, is_own = _kept_line(node, self._running)
        names = self._names_in(node)
        for output in node.outputs:
            self._names[output] = names
        if not is_own:
            of_inputs = (self._lines[variable] for variable in node.inputs if variable in self._lines)
            model_line = self._line_of_names(names) or next(of_inputs, None)
            if model_line is None:
                return line
            line = model_line
        assert line is not None
        self._lines.update(dict.fromkeys(node.outputs, line))
        return line

    def _names_in(self, node: PyTensorApply) -> Names:
        """Return the names of the variables of the model that a node depends on."""
        if not self._of_model:
            return frozenset()
        part = self._parts.get((node.inputs[0], *_bounds(node))) if self._parts and node.inputs else None
        if part is not None:
            return part
        return frozenset().union(
            *(self._names[v] if v in self._names else _name_of_leaf(v) for v in node.inputs if v.name or v.owner)
        )

    def _line_of_names(self, names: Names) -> SourceLine | None:
        """Return the first line of the model with these variables, and as few others as possible."""
        if not names:
            return None
        if names not in self._of_model:
            wider = [known for known in self._of_model if names < known]
            self._of_model[names] = self._of_model[min(wider, key=len)] if wider else None
        return self._of_model[names]


def _frames() -> Iterator[FrameType]:
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        yield frame
        frame = frame.f_back


def frames_of_pymc() -> Iterator[FrameType]:
    """Iterate over the frames of running functions of PyMC, innermost first."""
    return (frame for frame in _frames() if str(frame.f_globals.get("__name__")).startswith("pymc."))


def _kept_line(node: PyTensorApply, running: set[tuple[str, int]]) -> tuple[SourceLine | None, bool]:
    """The user's line among the calls that PyTensor has kept, and whether it has made the node.

    A running line has not, if calls of libraries come after it: what they make is for the function that they compile.
    Without a line of the user's, it is the outermost of a library's that PyTensor has kept.
    """
    found = None
    for output in node.outputs:
        for stack in getattr(output.tag, "trace", None) or ():
            for depth, (filename, line, function, *_) in enumerate(reversed(stack)):
                found = SourceLine(filename, line or 0, function)
                if not filename.startswith(_LIBRARIES):
                    if depth and (filename, line) in running:
                        break
                    return found, True
    return found, False


def _bounds(node: PyTensorApply) -> tuple[Any, ...]:
    """Return the bounds of a slice of a vector, if both are constants."""
    if not isinstance(node.op, PyTensorSubtensor) or len(node.inputs) != 3:
        return ()
    return tuple(int(bound.data) for bound in node.inputs[1:] if isinstance(bound, PyTensorConstant))


def _name_of_leaf(variable: PyTensorVariable) -> Names:
    known = isinstance(variable, PyTensorConstant) or isinstance(variable.type, PyTensorGeneratorType)
    return frozenset() if known or not variable.name else frozenset([variable.name])


def model_in_use() -> Any:
    """Return the model for which PyMC is compiling a function, or None; it is an argument of a running function of
    PyMC.

    It only affects error messages.
    """
    pymc = sys.modules.get("pymc")
    kind = getattr(pymc, "Model", None)
    if kind is None:
        return None
    for frame in frames_of_pymc():
        for name in ("self", "model"):
            model = frame.f_locals.get(name)
            if isinstance(model, kind):
                return model
    return None


def _lines_of_model(model: Any) -> dict[Names, SourceLine | None]:
    """Return the first line of a model for each set of variables and data that occur together.

    In the density of a random variable, its value occurs together with its parameters, on the line that declares it.
    """
    values = getattr(model, "rvs_to_values", {})
    free = set(getattr(model, "free_RVs", ()))
    outputs = [*values, *getattr(model, "potentials", ()), *getattr(model, "deterministics", ())]
    lines: dict[Names, SourceLine | None] = {}
    names: dict[PyTensorVariable, Names] = {}
    for node in toposort(outputs):
        names_of_inputs = frozenset().union(*(names[v] if v in names else _name_of_leaf(v) for v in node.inputs))
        for output in node.outputs:
            names[output] = names_of_inputs
            if output in values:
                value = values[output]
                leaves = [value] if output in free else graph_inputs([value])
                names[output] = frozenset().union(*map(_name_of_leaf, leaves))
        line, is_own = _kept_line(node, set())
        if is_own:
            for output in node.outputs:
                lines.setdefault(names_of_inputs | names[output], line)
    lines.pop(frozenset(), None)
    return lines


def joined_parts(graph: PyTensorGraph) -> dict[PyTensorVariable, list[JoinedPart]]:
    """Return the variables that PyMC has joined to vectors, for each vector among the inputs of a graph.

    Their order is that of their gradients if these are outputs, else that of the variables of a step. If the number of
    names does not match, the parts stay unnamed.
    """
    gradients = [names for output in graph.outputs if (names := _names_of_gradients(output))]
    names = gradients[0] if len(gradients) == 1 else _names_of_step()
    result = {}
    for vector in graph.inputs if names else ():
        if getattr(vector.type, "ndim", None) == 1 and not hasattr(vector, "get_value"):
            bounds = {
                _bounds(node) for node, position in graph.clients[vector] if position == 0 and _is_subtensor(node)
            }
            ends = sorted(pair for pair in bounds if len(pair) == 2)
            if len(ends) == len(names):
                result[vector] = [JoinedPart(name, *pair) for name, pair in zip(names, ends)]
    return result


def _names_of_step() -> list[str]:
    """Return the names of the variables of the step of PyMC that is being compiled."""
    for frame in frames_of_pymc():
        variables = frame.f_locals.get("vars")
        if isinstance(variables, list) and all(isinstance(variable, PyTensorVariable) for variable in variables):
            return [variable.name for variable in variables]
    return []


def _is_subtensor(client: Any) -> bool:
    """Return whether a client is a node that selects a part of a vector."""
    return isinstance(getattr(client, "op", None), PyTensorSubtensor)


def _names_of_gradients(output: PyTensorVariable) -> list[str]:
    """Return the names of the variables whose gradients an output consists of; empty if it contains anything else."""
    if _gradient_name(output) is not None or output.owner is None:
        parts = [output]
    else:
        parts = [v for v in output.owner.inputs if not isinstance(v, PyTensorConstant)]
    names = [_gradient_name(v) or (_gradient_name(v.owner.inputs[0]) if v.owner is not None else None) for v in parts]
    return [name for name in names if name is not None] if None not in names else []


def _gradient_name(variable: PyTensorVariable) -> str | None:
    name = variable.name or ""
    return name.removesuffix(_GRADIENT_OF) if name.endswith(_GRADIENT_OF) else None


def name_parts(graph: FunctionGraph, vector: Variable, parts: Sequence[JoinedPart]) -> None:
    """Name the parts of a vector in a compiled graph after the variables that are joined to it.

    Parameters
    ----------
    graph : FunctionGraph
        The rewritten graph.
    vector : Variable
        The vector, an input of the graph.
    parts : sequence of JoinedPart
        The variables that it consists of.
    """
    if len(parts) == 1:
        vector.name = parts[0].name
        _name_reshaped(graph, vector)
        return
    names = {(part.start, part.stop): part.name for part in parts}
    for node, _ in graph.clients.get(vector, ()):
        if isinstance(node, Apply) and isinstance(node.op, Subtensor):
            (index,) = get_constant_idx(node.op.idx_list, node.inputs, allow_partial=True)
            index = slice(index, index + 1) if isinstance(index, int) else index
            if isinstance(index, slice) and index.step in (None, 1):
                name = names.get((index.start or 0, parts[-1].stop if index.stop is None else index.stop))
                if name is not None:
                    node.outputs[0].name = name
                    _name_reshaped(graph, node.outputs[0])


def _name_reshaped(graph: FunctionGraph, variable: Variable) -> None:
    """Give reshaped versions of a variable its name."""
    for node, position in graph.clients.get(variable, ()):
        if isinstance(node, Apply) and position == 0 and isinstance(node.op, DimShuffle | Reshape):
            node.outputs[0].name = variable.name
