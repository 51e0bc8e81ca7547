"""Log-densities of PyMC's models as functions of one vector, for authors of samplers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np
import pytensor as theirs
from pytensor.graph.basic import Constant
from pytensor.graph.basic import Variable as PyTensorVariable
from pytensor.graph.fg import FunctionGraph as PyTensorGraph
from pytensor.graph.traversal import graph_inputs

import aesara.tensor as at
from aesara.compile.function import function
from aesara.pytensor.conversion import convert_graph
from aesara.pytensor.lines import JoinedPart, Lines, name_parts
from aesara.pytensor.mode import AESARA

__all__ = ["CompiledLogp", "VectorPart", "compile_logp", "convert_model_graph"]


class VectorPart(NamedTuple):
    """The slice of a vector that holds a variable, and the shape of the variable."""

    place: slice
    shape: tuple[int, ...]


class CompiledLogp:
    """The log-density of a model and its gradient as a function of one vector; built by `compile_logp`.

    Attributes
    ----------
    function : aesara.compile.function.function.Function
        A function from the vector to log-density and gradient; a direct call saves a tenth of a microsecond.
    parts : dict of str to VectorPart
        The parts of the vector by the names of the variables of the model.
    size : int
        The length of the vector.
    """

    def __init__(self, function: Any, parts: dict[str, VectorPart]) -> None:
        self.function, self.parts = function, parts
        self.size = sum(prod(part.shape) for part in parts.values())

    def __call__(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the log-density (0-d) and its gradient (``(size,)``) at `x` (``(size,)``)."""
        logp, gradient = self.function(x)
        return logp, gradient

    def ravel(self, point: Mapping[str, Any]) -> np.ndarray:
        """Return the vector for a point such as ``model.initial_point()``."""
        x = np.empty(self.size, self.function.maker.inputs[0].variable.type.dtype)
        for name, (place, _) in self.parts.items():
            x[place] = np.ravel(point[name])
        return x

    def unravel(self, x: np.ndarray) -> dict[str, np.ndarray]:
        """Return the point for a vector; values are views of the vector."""
        return {name: x[place].reshape(shape) for name, (place, shape) in self.parts.items()}


def compile_logp(model: Any, jacobian: bool = True) -> CompiledLogp:
    """Compile the log-density of a model and its gradient as one function of one vector.

    Parameters
    ----------
    model : pymc.Model
        A model with continuous free variables. The function uses the current values of data containers; these may
        change their shapes, unless the shapes of free variables depend on them.
    jacobian : bool, default True
        Whether to include the Jacobian determinant of transformations, as samplers need it.

    Returns
    -------
    CompiledLogp
        ``f(x)`` returns the log-density and its gradient. The log-density is minus infinity if a parameter of a
        distribution is out of its range.

    Raises
    ------
    TypeError
        If a free variable is discrete.

    Examples
    --------
    >>> import numpy as np, pymc as pm  # doctest: +SKIP
    >>> with pm.Model() as model:  # doctest: +SKIP
    ...     x = pm.Normal("x", 0, 1, shape=2)
    >>> f = compile_logp(model)  # doctest: +SKIP
    >>> f(np.array([1.0, -1.0]))[1]  # doctest: +SKIP
    array([-1.,  1.])
    """
    values = model.value_vars
    discrete = [variable.name for variable in values if not variable.type.dtype.startswith("float")]
    if discrete:
        raise TypeError(f"The gradient needs continuous variables; these are discrete: {', '.join(discrete)}.")
    logp = model.logp(jacobian=jacobian)
    gradient = theirs.grad(logp, values, disconnected_inputs="ignore")

    initial_point, parts, end = model.initial_point(), {}, 0
    for variable in values:
        shape = np.shape(initial_point[variable.name])
        parts[variable.name] = VectorPart(slice(end, end := end + prod(shape)), shape)
    x, (density, *partials) = convert_model_graph(model, parts, [logp, *gradient])
    gradient = at.cast(at.concatenate([g.ravel() for g in partials]), x.type.dtype)
    compiled = function([x], [density, gradient], on_unused_input="ignore")
    compiled.trust_input = True
    joined = [JoinedPart(name, place.start, place.stop) for name, (place, _) in parts.items()]
    name_parts(compiled.maker.fgraph, compiled.maker.fgraph.inputs[0], joined)
    return CompiledLogp(compiled, parts)


def convert_model_graph(
    model: Any, parts: Mapping[str, VectorPart], outputs: Sequence[PyTensorVariable]
) -> tuple[Any, list[Any]]:
    """Convert graphs in terms of the variables of a model to graphs in terms of one vector.

    Parameters
    ----------
    model : pymc.Model
        The model. If it checks bounds, densities are minus infinity for parameters out of their range.
    parts : mapping of str to VectorPart
        The parts of the vector by the names of the variables.
    outputs : sequence of pytensor.graph.basic.Variable
        The graphs.

    Returns
    -------
    vector : Variable
        The vector.
    results : list of Variable
        The converted outputs.
    """
    values = model.value_vars
    shared = [v for v in graph_inputs(outputs) if v not in values and not isinstance(v, Constant)]
    graph = PyTensorGraph([*values, *shared], list(outputs), clone=True)
    AESARA.including("local_check_parameter_to_ninf_switch").optimizer.rewrite(graph)
    end = max((part.place.stop for part in parts.values()), default=0)
    x = at.TensorType(theirs.config.floatX, (end,))("vector")
    replacements = {
        variable: at.cast(x[part.place].reshape(part.shape), variable.type.dtype)
        for variable, part in zip(graph.inputs, parts.values())
    }
    return x, convert_graph(list(replacements), graph.outputs, replacements, Lines(model))[1]
