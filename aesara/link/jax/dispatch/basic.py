"""From graphs to functions of JAX: the conversion of whole graphs, and what those of single Ops share.

A value that comes to the function of an Op is *known* if JAX has it while it traces: constants, shapes, and what is
computed of them, as arrays of NumPy.  All others are arrays or tracers of JAX.  Sizes have to be known.
"""

from __future__ import annotations

import contextlib
import functools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import checkify

from aesara.configdefaults import config
from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Apply, Constant, Variable
from aesara.graph.op import Op
from aesara.graph.traversal import io_toposort
from aesara.graph.type import Type
from aesara.graph.utils import MethodNotDefined
from aesara.ifelse import IfElse
from aesara.link.utils import raise_with_op
from aesara.lower.control.branches import branches_of_choices
from aesara.scalar.types import ScalarType
from aesara.tensor.core.conversion import as_tensor_variable, constant
from aesara.tensor.core.expression_op import ExpressionOp
from aesara.tensor.core.tensor_type import TensorType
from aesara.tensor.type import lscalar

__all__ = [
    "Checks",
    "ChecksNeeded",
    "ConvertedGraph",
    "NotAsAssumed",
    "SizeUnknown",
    "as_strong",
    "by_expression",
    "by_host",
    "errors_kept",
    "is_known",
    "jax_funcify",
    "jax_typify",
    "known",
    "known_ints",
    "note_host",
    "module_for",
    "one_or_all",
    "output_shapes",
    "performed",
    "require",
]

if config.floatX == "float64":
    # As in Aesara: who calls converted functions directly gets the precision of the graph.
    jax.config.update("jax_enable_x64", True)

#: Results of more elements than this are computed by XLA, also those of known values.
MOST_KNOWN = 4096


class SizeUnknown(Exception):
    """A size depends on values that JAX does not have while it traces.

    Parameters
    ----------
    what
        What is unknown: ``"The size of the result"``.
    values
        The tracers that would have to be known.

    Attributes
    ----------
    node
        The node that needs to know them.
    positions
        The positions of the function's inputs that the values are.
    """

    def __init__(self, what: str, values: Sequence[Any]) -> None:
        super().__init__(f"{what} has to be known when XLA compiles")
        self.values = list(values)
        self.node: Apply | None = None
        self.positions: list[int] = []


class NotAsAssumed(Exception):
    """A size is not what it nearly always is, so that the function has to be compiled without assumptions."""


class ChecksNeeded(Exception):
    """A condition has to be checked when the function runs, and the function was not traced for that."""


class Checks:
    """The errors that a compiled function may raise, by number.

    Parameters
    ----------
    assuming
        Whether functions may rely on what nearly always holds, if they check it: they require it with the error
        `NotAsAssumed`.

    Attributes
    ----------
    traced
        Whether the function is traced in such a way that conditions can be checked.
    on_host
        The Ops that run on the host.
    raised
        The errors that these have raised in the present call.
    """

    def __init__(self, assuming: bool = True) -> None:
        self.assuming = assuming
        self.traced = False
        self.on_host: list[Op] = []
        self.raised: list[tuple[Apply, Exception]] = []
        self.errors: list[tuple[Exception, Apply | None]] = []
        self._numbers: dict[Any, int] = {}

    def require(self, holds: Any, error: type[Exception], message: str, node: Apply | None) -> None:
        """Raise an error when the function runs and a condition does not hold.

        Parameters
        ----------
        holds
            A boolean scalar that is not known.
        error, message
            The error.
        node
            The node that it is about.
        """
        if not self.traced:
            raise ChecksNeeded
        key = error, message, node
        if key not in self._numbers:
            self._numbers[key] = len(self.errors)
            self.errors.append((error(message), node))
        checkify.check(holds, f"aesara:{self._numbers[key]}.")


def is_known(value: Any) -> bool:
    """Whether a value is known while JAX traces."""
    parts = (value.start, value.stop, value.step) if isinstance(value, slice) else (value,)
    return not any(isinstance(part, jax.Array) for part in parts)


def known(value: Any, what: str) -> np.ndarray:
    """A value that has to be known, as an array of NumPy; arrays of JAX that are no tracers are, too.

    Parameters
    ----------
    value
        The value.
    what
        What it is, for the error message: ``"The size of the result"``.
    """
    if isinstance(value, jax.core.Tracer):
        raise SizeUnknown(what, [value])
    return np.asarray(value)


def known_ints(values: Iterable[Any], what: str) -> tuple[int, ...]:
    """Sizes, as numbers of Python."""
    return tuple(int(known(value, what)) for value in values)


def module_for(size: int, *values: Any) -> Any:
    """NumPy, for a result that is known since it has few elements and is made of known values; or else that of JAX."""
    return np if size <= MOST_KNOWN and all(map(is_known, values)) else jnp


def require(checks: Checks | None, holds: Any, error: type[Exception], message: str, node: Apply | None) -> None:
    """Raise an error where a condition does not hold: at once if it is known, or else when the function runs.

    A function that is converted without `checks` checks only what is known.
    """
    if is_known(holds):
        if not np.all(holds):
            raise error(message)
    elif checks is not None:
        checks.require(jnp.all(holds), error, message, node)


@functools.singledispatch
def jax_typify(data: Any, dtype: Any = None, **kwargs: Any) -> Any:
    """Return a value as JAX takes it.

    Parameters
    ----------
    data
        A value of a variable.
    dtype
        The dtype it is to have, if it is an array.
    """
    return data if dtype is None else jnp.array(data, dtype=dtype)


@jax_typify.register(np.ndarray)
def _array(data: np.ndarray, dtype: Any = None, **kwargs: Any) -> Any:
    return jnp.array(data, dtype=dtype)


@functools.singledispatch
def jax_funcify(op: Any, node: Apply | None = None, storage_map: Any = None, **kwargs: Any) -> Callable[..., Any]:
    """Return the function of JAX that computes an Op, or a graph.

    A conversion of another Op is registered by its class.  It takes the Op, the keyword `node`, and others that it
    passes on to conversions which it asks for, and returns a function from the node's inputs to its output, or to a
    tuple of several.

    Examples
    --------
    >>> from aesara.graph.op import Op
    >>> class Twice(Op):
    ...     itypes, otypes = [at.dvector], [at.dvector]
    ...     def perform(self, node, inputs, outputs):
    ...         outputs[0][0] = 2 * inputs[0]
    >>> @jax_funcify.register(Twice)
    ... def _(op, node=None, **kwargs):
    ...     return lambda x: 2 * x
    """
    if not isinstance(op, Op):
        raise NotImplementedError(f"No JAX conversion for {op!r} of type {type(op).__name__}.")
    if getattr(op, "passes_value_on", False):
        return lambda value, *rest: value
    if node is None:
        raise NotImplementedError(f"No JAX conversion for the given `Op`: {op}")
    return by_host(op, node, **kwargs)


def by_expression(op: Any, node: Apply, inputs: Sequence[Variable], results: Any, **kwargs: Any) -> Callable[..., Any]:
    """The function of an expression.

    Parameters
    ----------
    inputs
        Variables that take the places of the node's inputs.
    results
        The expression of the node's outputs in these: a variable or a sequence of variables.
    """
    outputs = list(results) if isinstance(results, list | tuple) else [results]
    casts = [_cast_to(v, out.type) for v, out in zip(outputs, node.outputs, strict=True)]
    graph = ConvertedGraph(inputs, casts, None, **kwargs)
    return lambda *values: one_or_all(graph.run(values))


def _cast_to(variable: Variable, kind: Any) -> Variable:
    same = getattr(variable.type, "dtype", None) == getattr(kind, "dtype", None)
    return variable if same else as_tensor_variable(variable).astype(kind.dtype)


def one_or_all(results: Sequence[Any]) -> Any:
    """What a conversion returns for a node with these results: the only one itself, or a tuple of several."""
    return results[0] if len(results) == 1 else tuple(results)


@jax_funcify.register(ExpressionOp)
def _expression(op: ExpressionOp, node: Apply | None = None, **kwargs: Any) -> Callable[..., Any]:
    assert node is not None
    inputs = [variable.type() for variable in node.inputs]
    return by_expression(op, node, inputs, op.definition(*inputs), **kwargs)


def by_host(op: Op, node: Apply, **kwargs: Any) -> Callable[..., Any]:
    """The function that lets the processor run the Op's `perform`, wherever the rest of the graph runs."""
    checks: Checks | None = kwargs.get("checks")
    shapes = output_shapes(op, node, **kwargs)
    note_host(op, **kwargs)
    types = [variable.type for variable in node.outputs]
    if not all(isinstance(kind, TensorType | ScalarType) for kind in types):
        raise NotImplementedError(f"No JAX conversion for the given `Op`: {op}")

    def perform(*values: Any) -> tuple[np.ndarray, ...]:
        cells: list[list[Any]] = [[None] for _ in types]
        # `perform` may overwrite or return what it gets, and JAX's arrays cannot be written to.
        with errors_kept(node, checks):
            op.perform(node, [_value_of(v, value) for v, value in zip(node.inputs, values)], cells)
        return tuple(np.asarray(cell[0], dtype=kind.dtype) for cell, kind in zip(cells, types))

    def on_host(*values: Any) -> Any:
        wanted = [jax.ShapeDtypeStruct(shape, kind.dtype) for shape, kind in zip(shapes(*values), types)]
        return one_or_all(jax.pure_callback(perform, tuple(wanted), *values, vmap_method="sequential"))

    return on_host


@contextlib.contextmanager
def errors_kept(node: Apply, checks: Checks | None) -> Iterator[None]:
    """Keep an error on the host for who has called the function: JAX tells only its text."""
    try:
        yield
    except Exception as error:
        if checks is not None:
            checks.raised.append((node, error))
        raise


def note_host(op: Op, checks: Checks | None = None, **kwargs: Any) -> None:
    """Make known that a function calls the host."""
    if checks is not None:
        checks.on_host.append(op)


def _value_of(variable: Variable, value: Any) -> Any:
    if isinstance(variable.type, TensorType):
        return np.array(value, dtype=variable.type.dtype)
    if isinstance(variable.type, ScalarType):
        return variable.type.filter(np.asarray(value)[()])
    return numpy_value(variable.type, value)


def output_shapes(op: Op, node: Apply, **kwargs: Any) -> Callable[..., list[tuple[int, ...]]]:
    """The function from a node's inputs to the shapes of its outputs, by `infer_shape`."""
    types = [variable.type for variable in node.outputs]
    static = [getattr(kind, "shape", ()) for kind in types]
    if not any(None in shape for shape in static):
        return lambda *values: list(static)
    inputs = [variable.type() for variable in node.inputs]
    sizes = [[lscalar() for _ in range(getattr(v.type, "ndim", 0))] for v in inputs]
    stand_in = Apply(op, inputs, [kind() for kind in types])
    try:
        inferred = op.infer_shape(None, stand_in, [tuple(size) for size in sizes])  # type: ignore[attr-defined]
    except (AttributeError, MethodNotDefined) as error:
        raise NotImplementedError(
            f"No JAX conversion for the given `Op`: {op}. To run its `perform` on the host, JAX needs the shapes of "
            f"its results, which are not static ({', '.join(map(str, types))}), and it has no `infer_shape`."
        ) from error
    wanted = [as_tensor_variable(size).astype("int64") for shape in inferred for size in shape or ()]
    graph = ConvertedGraph([*inputs, *(size for shape in sizes for size in shape)], wanted, None, **kwargs)

    def shapes(*values: Any) -> list[tuple[int, ...]]:
        given = [np.int64(n) for v, value in zip(inputs, values) if getattr(v.type, "ndim", 0) for n in value.shape]
        found = iter(known_ints(graph.run([*values, *given]), f"The shape of the result of {op}"))
        return [tuple(next(found) for _ in shape) for shape in static]

    return shapes


def as_strong(value: Any, kind: Any) -> Any:
    """A value of a type as JAX wants it in the states of loops: an array with exactly this dtype."""
    return jax.lax.convert_element_type(value, kind.dtype) if isinstance(kind, TensorType | ScalarType) else value


@functools.singledispatch
def numpy_value(kind: Type, value: Any) -> Any:
    """Return a value as those of a type are outside of functions of JAX: the inverse of `jax_typify`.

    It is registered by the class of the type.
    """
    return value


class ConvertedGraph:
    """A graph as a function of JAX, from values of its inputs to a tuple of those of its outputs.

    Parameters
    ----------
    inputs, outputs
        The graph.
    fgraph
        The graph's `FunctionGraph`, if it has one.
    kwargs
        What conversions of Ops get.
    """

    def __init__(
        self, inputs: Sequence[Variable], outputs: Sequence[Variable], fgraph: FunctionGraph | None, **kwargs: Any
    ) -> None:
        self.inputs, self.outputs = list(inputs), list(outputs)
        self.fgraph = fgraph
        self.kwargs = kwargs
        order = fgraph.toposort() if fgraph is not None else io_toposort(self.inputs, self.outputs)
        self.functions = {node: jax_funcify(node.op, node=node, **kwargs) for node in order}
        self.branches = branches_of_choices(order, self.outputs)
        in_branches = {node for nodes in self.branches.values() for node in nodes}
        self.order = [node for node in order if node not in in_branches]
        leaves = {v for node in order for v in node.inputs} | set(self.outputs)
        constants = [v for v in leaves if isinstance(v, Constant) and v not in self.inputs]
        self.constants: dict[Variable, Any] = {v: _constant_value(v) for v in constants}
        self.__name__ = "jax_funcified_fgraph"

    def __call__(self, *arguments: Any) -> tuple[Any, ...]:
        """Compute with arrays of JAX or NumPy; everything that depends on the arguments is computed by JAX."""
        if len(arguments) != len(self.inputs):
            raise TypeError(f"This function takes {len(self.inputs)} arguments, got {len(arguments)}.")
        given = [
            jnp.asarray(value) if isinstance(v.type, TensorType | ScalarType) else jax_typify(value)
            for v, value in zip(self.inputs, arguments)
        ]
        return self.finished(self.run(given))

    def finished(self, results: Sequence[Any]) -> tuple[Any, ...]:
        """Results as arrays of JAX, with the dtypes of the outputs."""
        return tuple(
            jnp.asarray(value, dtype=v.type.dtype) if isinstance(v.type, TensorType | ScalarType) else value
            for v, value in zip(self.outputs, results, strict=True)
        )

    def run(self, arguments: Sequence[Any]) -> list[Any]:
        """Compute; arguments may be known."""
        values: dict[Variable, Any] = dict(zip(self.inputs, arguments, strict=True))
        values.update(self.constants)
        self._compute(self.order, values)
        return [values[v] for v in self.outputs]

    def _compute(self, nodes: Iterable[Apply], values: dict[Variable, Any]) -> None:
        """Add the values of the nodes' outputs to those that are there."""
        for node in nodes:
            try:
                results = self._results(node, values)
            except SizeUnknown as unknown:
                unknown.node = unknown.node or node
                unknown.values = self._sources(unknown.values, node, values)
                raise
            except ChecksNeeded:
                raise
            except Exception:
                raise_with_op(self.fgraph, node)
            values.update(zip(node.outputs, results, strict=True))

    def _results(self, node: Apply, values: dict[Variable, Any]) -> Sequence[Any]:
        if isinstance(node.op, IfElse):
            return self._chosen(node, values)
        given = [values[v] for v in node.inputs]
        results = _folded(node, given)
        if results is not None:
            return results
        results = self.functions[node](*given)
        single = len(node.outputs) == 1 and not (isinstance(results, list | tuple) and len(results) == 1)
        return [results] if single else results

    def _chosen(self, node: Apply, values: dict[Variable, Any]) -> Sequence[Any]:
        """The side of a choice that is taken; what only the other needs is not computed."""
        condition, *sides = (values.get(node.inputs[0]), *(node.inputs[1 + k * node.op.n_outs :] for k in (0, 1)))

        def side(number: int) -> tuple[Any, ...]:
            inside = dict(values)
            self._compute(self.branches.get((node, number), ()), inside)
            pairs = zip(sides[number], node.outputs)
            return tuple(as_strong(inside[v], out.type) for v, out in pairs)

        if is_known(condition):
            return side(0 if condition else 1)
        both = functools.partial(side, 0), functools.partial(side, 1)
        if len({str(jax.tree.map(jnp.shape, jax.eval_shape(one))) for one in both}) > 1:
            raise SizeUnknown("The condition of an ifelse, whose sides have different shapes,", [condition])
        return jax.lax.cond(condition != 0, *both)

    def _sources(self, wanted: Sequence[Any], node: Apply, values: dict[Variable, Any]) -> list[Any]:
        """The values of the inputs that wanted values are computed from."""
        pending = [v for v, value in values.items() if any(value is one for one in wanted)]
        pending = pending or [v for v in node.inputs if not is_known(values[v])]
        found, seen = [], set()
        while pending:
            variable = pending.pop()
            if variable in seen or is_known(values[variable]):
                continue
            seen.add(variable)
            if variable in self.inputs or variable.owner is None:
                found.append(values[variable])
            else:
                pending += variable.owner.inputs
        return found


def _constant_value(variable: Constant) -> Any:
    if isinstance(variable.type, TensorType | ScalarType):
        return np.asarray(variable.data)
    return jax_typify(variable.data)


#: Ops that make arrays of given sizes, or draw, or hold graphs of their own: never computed while JAX traces.
NEVER_FOLDED: set[type] = set()


def _folded(node: Apply, given: Sequence[Any]) -> list[Any] | None:
    """The results of a node whose inputs are all known, if its outputs are small; else None."""
    if not given or not all(map(is_known, given)) or any(isinstance(node.op, kind) for kind in NEVER_FOLDED):
        return None
    # The graph of a scalar op is run on arrays.
    if any(isinstance(v.type, ScalarType) and np.ndim(value) for v, value in zip(node.inputs, given)):
        return None
    if any(not isinstance(v.type, TensorType | ScalarType) for v in node.outputs):
        return None
    sizes = [max(value.size, 1) for value in given if isinstance(value, np.ndarray)]
    # Vectors are put one after the other at most; in more dimensions, each element may meet each other.
    flat = all(getattr(v.type, "ndim", 0) <= 1 for v in node.outputs)
    return performed(node, given) if (sum(sizes) if flat else math.prod(sizes)) <= MOST_KNOWN else None


def performed(node: Apply, values: Sequence[Any]) -> list[np.ndarray]:
    """The results of a node for known values, by NumPy."""
    cells: list[list[Any]] = [[None] for _ in node.outputs]
    node.op.perform(node, [_value_of(v, value) for v, value in zip(node.inputs, values)], cells)
    return [np.asarray(cell[0]) for cell in cells]


@jax_funcify.register(FunctionGraph)
def _fgraph(fgraph: FunctionGraph, node: Apply | None = None, storage_map: Any = None, **kwargs: Any) -> ConvertedGraph:
    return ConvertedGraph(fgraph.inputs, fgraph.outputs, fgraph, **kwargs)
