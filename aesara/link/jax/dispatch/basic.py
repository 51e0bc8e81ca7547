"""Conversion of graphs to functions of JAX, with run-time checks and constant folding.

An argument of the function of an Op is *known* if it has a concrete value during tracing: constants, shapes, and values
computed from them, which are arrays of NumPy.  All others are arrays or tracers of JAX.  Sizes must be known.
"""

from __future__ import annotations

import contextlib
import functools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeAlias

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
    "record_errors",
    "is_known",
    "jax_funcify",
    "jax_typify",
    "require_known",
    "known_ints",
    "module_for",
    "record_host_call",
    "one_or_all",
    "output_shapes",
    "perform_node",
    "require",
]

if config.floatX == "float64":
    # As in Aesara: converted functions that are called directly have the precision of the graph.
    jax.config.update("jax_enable_x64", True)

#: an array of JAX, or one of NumPy whose value is known while a function is traced
ArrayValue: TypeAlias = jax.Array | np.ndarray

#: largest number of elements of results that are folded
MOST_KNOWN = 4096


class SizeUnknown(Exception):
    """A size depends on values that are not known during tracing.

    Parameters
    ----------
    quantity
        Name of the size: ``"The size of the result"``.
    values
        The tracers that it depends on.

    Attributes
    ----------
    node
        The node that needs the size.
    positions
        The positions of the values among the inputs of the function.
    """

    def __init__(self, quantity: str, values: Sequence[Any]) -> None:
        super().__init__(f"{quantity} has to be known when XLA compiles")
        self.values = list(values)
        self.node: Apply | None = None
        self.positions: list[int] = []


class NotAsAssumed(Exception):
    """An assumption does not hold, so that the function must be compiled without it."""


class ChecksNeeded(Exception):
    """A function needs a run-time check, but was traced without checks."""


class Checks:
    """The run-time checks of a compiled function, by number.

    Parameters
    ----------
    assuming
        Allow functions to assume what is nearly always true; they check it with the error `NotAsAssumed`.

    Attributes
    ----------
    traced
        True if the function is traced with `checkify`.
    on_host
        Ops that run on the host.
    raised
        Errors that these have raised in the current call.
    """

    def __init__(self, assuming: bool = True) -> None:
        self.assuming = assuming
        self.traced = False
        self.on_host: list[Op] = []
        self.raised: list[tuple[Apply, Exception]] = []
        self.errors: list[tuple[Exception, Apply | None]] = []
        self._numbers: dict[Any, int] = {}

    def require(self, holds: Any, error: type[Exception], message: str, node: Apply | None) -> None:
        """Add a run-time check.

        Parameters
        ----------
        holds
            An unknown boolean scalar.
        error, message
            The error.
        node
            The node that the error is attributed to.
        """
        if not self.traced:
            raise ChecksNeeded
        key = error, message, node
        if key not in self._numbers:
            self._numbers[key] = len(self.errors)
            self.errors.append((error(message), node))
        checkify.check(holds, f"aesara:{self._numbers[key]}.")


def is_known(value: Any) -> bool:
    """Return whether a value is known during tracing."""
    parts = (value.start, value.stop, value.step) if isinstance(value, slice) else (value,)
    return not any(isinstance(part, jax.Array) for part in parts)


def require_known(value: Any, quantity: str) -> np.ndarray:
    """Return a value that must be known as an array of NumPy; only tracers are unknown here.

    Parameters
    ----------
    value
        The value.
    quantity
        Name of the value, for the error message: ``"The size of the result"``.
    """
    if isinstance(value, jax.core.Tracer):
        raise SizeUnknown(quantity, [value])
    return np.asarray(value)


def known_ints(values: Iterable[Any], quantity: str) -> tuple[int, ...]:
    """Return values that must be known as integers of Python."""
    return tuple(int(require_known(value, quantity)) for value in values)


def module_for(size: int, *values: Any) -> Any:
    """Return `numpy` for a small result of known values, else `jax.numpy`."""
    return np if size <= MOST_KNOWN and all(map(is_known, values)) else jnp


def require(checks: Checks | None, holds: Any, error: type[Exception], message: str, node: Apply | None) -> None:
    """Check a condition: during tracing if it is known, else at run time.

    Without `checks`, only known conditions are checked.
    """
    if is_known(holds):
        if not np.all(holds):
            raise error(message)
    elif checks is not None:
        checks.require(jnp.all(holds), error, message, node)


@functools.singledispatch
def jax_typify(data: Any, dtype: Any = None, **kwargs: Any) -> Any:
    """Convert a value of a variable to one of JAX.

    Parameters
    ----------
    data
        A value of a variable.
    dtype
        The dtype of the result, if it is an array.
    """
    return data if dtype is None else jnp.array(data, dtype=dtype)


@jax_typify.register(np.ndarray)
def _array(data: np.ndarray, dtype: Any = None, **kwargs: Any) -> Any:
    return jnp.array(data, dtype=dtype)


@functools.singledispatch
def jax_funcify(op: Any, node: Apply | None = None, storage_map: Any = None, **kwargs: Any) -> Callable[..., Any]:
    """Return the function of JAX that computes an Op, or a graph.

    Conversions of further Ops are registered by class.  A conversion takes the Op, the keyword `node`, and other
    keywords that it passes on to nested conversions.  It returns a function from the inputs of the node to its output,
    or to a tuple of several.

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
    """Return the function of JAX for an expression of the inputs of a node.

    Parameters
    ----------
    inputs
        Variables that stand for the inputs of the node.
    results
        Outputs of the node as expressions of these variables.
    """
    outputs = list(results) if isinstance(results, list | tuple) else [results]
    casts = [_cast_to(v, out.type) for v, out in zip(outputs, node.outputs, strict=True)]
    graph = ConvertedGraph(inputs, casts, None, **kwargs)
    return lambda *values: one_or_all(graph.run(values))


def _cast_to(variable: Variable, kind: Any) -> Variable:
    same = getattr(variable.type, "dtype", None) == getattr(kind, "dtype", None)
    return variable if same else as_tensor_variable(variable).astype(kind.dtype)


def one_or_all(results: Sequence[Any]) -> Any:
    """Return the only result itself, or a tuple of several."""
    return results[0] if len(results) == 1 else tuple(results)


@jax_funcify.register(ExpressionOp)
def _expression(op: ExpressionOp, node: Apply | None = None, **kwargs: Any) -> Callable[..., Any]:
    assert node is not None
    inputs = [variable.type() for variable in node.inputs]
    return by_expression(op, node, inputs, op.definition(*inputs), **kwargs)


def by_host(op: Op, node: Apply, **kwargs: Any) -> Callable[..., Any]:
    """Return a function that calls `perform` of the Op on the host."""
    checks: Checks | None = kwargs.get("checks")
    shapes = output_shapes(op, node, **kwargs)
    record_host_call(op, **kwargs)
    types = [variable.type for variable in node.outputs]
    if not all(isinstance(kind, TensorType | ScalarType) for kind in types):
        raise NotImplementedError(f"No JAX conversion for the given `Op`: {op}")

    def perform(*values: Any) -> tuple[np.ndarray, ...]:
        cells: list[list[Any]] = [[None] for _ in types]
        # `perform` may overwrite its inputs, and arrays of JAX are read-only.
        with record_errors(node, checks):
            op.perform(node, [_value_of(v, value) for v, value in zip(node.inputs, values)], cells)
        return tuple(np.asarray(cell[0], dtype=kind.dtype) for cell, kind in zip(cells, types))

    def on_host(*values: Any) -> Any:
        wanted = [jax.ShapeDtypeStruct(shape, kind.dtype) for shape, kind in zip(shapes(*values), types)]
        return one_or_all(jax.pure_callback(perform, tuple(wanted), *values, vmap_method="sequential"))

    return on_host


@contextlib.contextmanager
def record_errors(node: Apply, checks: Checks | None) -> Iterator[None]:
    """Record an error on the host, of which JAX passes on only the text."""
    try:
        yield
    except Exception as error:
        if checks is not None:
            checks.raised.append((node, error))
        raise


def record_host_call(op: Op, checks: Checks | None = None, **kwargs: Any) -> None:
    """Record that a function calls the host."""
    if checks is not None:
        checks.on_host.append(op)


def _value_of(variable: Variable, value: Any) -> Any:
    if isinstance(variable.type, TensorType):
        return np.array(value, dtype=variable.type.dtype)
    if isinstance(variable.type, ScalarType):
        return variable.type.filter(np.asarray(value)[()])
    return numpy_value(variable.type, value)


def output_shapes(op: Op, node: Apply, **kwargs: Any) -> Callable[..., list[tuple[int, ...]]]:
    """Return the function from inputs of a node to the shapes of its outputs, by `infer_shape`."""
    types = [variable.type for variable in node.outputs]
    static = [getattr(kind, "shape", ()) for kind in types]
    if not any(None in shape for shape in static):
        return lambda *values: list(static)
    inputs = [variable.type() for variable in node.inputs]
    sizes = [[lscalar() for _ in range(getattr(v.type, "ndim", 0))] for v in inputs]
    stand_in = Apply(op, inputs, [kind() for kind in types])
    try:
        inferred = stand_in.op.infer_shape(None, stand_in, [tuple(size) for size in sizes])
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
    """Cast a value to the dtype of a type, without the weak types of JAX; states of loops need this."""
    return jax.lax.convert_element_type(value, kind.dtype) if isinstance(kind, TensorType | ScalarType) else value


@functools.singledispatch
def numpy_value(kind: Type, value: Any) -> Any:
    """Convert a value of JAX to one of a type: the inverse of `jax_typify`.

    Conversions are registered by the class of the type.
    """
    return value


class ConvertedGraph:
    """A graph as a function of JAX, from values of inputs to a tuple of values of outputs.

    Parameters
    ----------
    inputs, outputs
        The graph.
    fgraph
        The graph's `FunctionGraph`, if it has one.
    kwargs
        Keywords for the conversions of Ops.
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
        """Compute; all arguments are unknown, so that JAX computes everything that depends on them."""
        if len(arguments) != len(self.inputs):
            raise TypeError(f"This function takes {len(self.inputs)} arguments, got {len(arguments)}.")
        converted = [
            jnp.asarray(value) if isinstance(v.type, TensorType | ScalarType) else jax_typify(value)
            for v, value in zip(self.inputs, arguments)
        ]
        return self.as_outputs(self.run(converted))

    def as_outputs(self, results: Sequence[Any]) -> tuple[Any, ...]:
        """Convert results to arrays of JAX with the dtypes of the outputs."""
        return tuple(
            jnp.asarray(value, dtype=v.type.dtype) if isinstance(v.type, TensorType | ScalarType) else value
            for v, value in zip(self.outputs, results, strict=True)
        )

    def run(self, arguments: Sequence[Any]) -> list[Any]:
        """Compute, with arguments that may be known."""
        values: dict[Variable, Any] = dict(zip(self.inputs, arguments, strict=True))
        values.update(self.constants)
        self._compute(self.order, values)
        return [values[v] for v in self.outputs]

    def _compute(self, nodes: Iterable[Apply], values: dict[Variable, Any]) -> None:
        """Compute nodes, and add the values of their outputs to `values`."""
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
            return self._choose(node, values)
        arguments = [values[v] for v in node.inputs]
        results = _fold(node, arguments)
        if results is not None:
            return results
        results = self.functions[node](*arguments)
        single = len(node.outputs) == 1 and not (isinstance(results, list | tuple) and len(results) == 1)
        return [results] if single else results

    def _choose(self, node: Apply, values: dict[Variable, Any]) -> Sequence[Any]:
        """Compute a lazy choice, of which only one side runs."""
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
        """Return the values of the inputs that the wanted values depend on."""
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


#: Ops that are never folded: those that create arrays or draw, and those with inner graphs
NEVER_FOLDED: set[type] = set()


def _fold(node: Apply, values: Sequence[Any]) -> list[Any] | None:
    """Return the results of a node with known inputs and small outputs, else None."""
    if not values or not all(map(is_known, values)) or any(isinstance(node.op, kind) for kind in NEVER_FOLDED):
        return None
    # The graph of a scalar op may run on arrays.
    if any(isinstance(v.type, ScalarType) and np.ndim(value) for v, value in zip(node.inputs, values)):
        return None
    if any(not isinstance(v.type, TensorType | ScalarType) for v in node.outputs):
        return None
    sizes = [max(value.size, 1) for value in values if isinstance(value, np.ndarray)]
    # Vectors are at most concatenated; with more dimensions, operands may broadcast against each other.
    flat = all(getattr(v.type, "ndim", 0) <= 1 for v in node.outputs)
    return perform_node(node, values) if (sum(sizes) if flat else math.prod(sizes)) <= MOST_KNOWN else None


def perform_node(node: Apply, values: Sequence[Any]) -> list[np.ndarray]:
    """Return the results of a node for known values, by its `perform`."""
    cells: list[list[Any]] = [[None] for _ in node.outputs]
    node.op.perform(node, [_value_of(v, value) for v, value in zip(node.inputs, values)], cells)
    return [np.asarray(cell[0]) for cell in cells]


@jax_funcify.register(FunctionGraph)
def _fgraph(fgraph: FunctionGraph, node: Apply | None = None, storage_map: Any = None, **kwargs: Any) -> ConvertedGraph:
    return ConvertedGraph(fgraph.inputs, fgraph.outputs, fgraph, **kwargs)
