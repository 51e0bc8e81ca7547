"""Applying any op to each member of a batch, and functions of arrays to batches of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from aesara.configdefaults import config
from aesara.graph.disconnected_type import DisconnectedType
from aesara.graph.messages import describe
from aesara.graph.nodes import Apply, Constant, Variable
from aesara.graph.null_type import NullType
from aesara.graph.op import Op
from aesara.graph.traversal import graph_inputs
from aesara.graph.utils import TestValueError
from aesara.graph.vectorization import vectorize_graph
from aesara.tensor.core.conversion import as_tensor_variable, constant
from aesara.tensor.core.tensor_like import OutputCells, TensorLike
from aesara.tensor.core.tensor_type import TensorType, tensor_type
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.elementwise.ops import second
from aesara.tensor.indexing.selection import static_broadcast
from aesara.tensor.shapes.length_one import declare_length_one
from aesara.tensor.shapes.shape import shape_i_op
from aesara.tensor.vectorization.gufunc_signature import (
    CoreDims,
    parse_signature,
    signature_from_ndims,
    static_core_sizes,
)

if TYPE_CHECKING:
    from aesara.graph.fg import FunctionGraph


__all__ = ["vectorize"]


def signature_of(node: Apply) -> str:
    """Return a signature for the inputs and outputs of a node in which all sizes have different names."""
    return signature_from_ndims([x.type.ndim for x in node.inputs], [x.type.ndim for x in node.outputs])


class Blockwise(Op):
    """The application of an op to each member of a batch: to the leading dimensions of the inputs, broadcast together.

    Only dimensions with static size 1 are broadcast. During compilation, the op is replaced by ops on the whole batch
    if there is a rule for its core op; otherwise it is a loop in Python.

    Parameters
    ----------
    core_op
        The op. Its inputs and outputs are tensors.
    signature
        The core dimensions of its inputs and outputs, as ``"(m,n),(n)->(m)"``; by default the attribute
        ``gufunc_signature`` of the op.
    name
        How the op is printed.
    gufunc_spec
        The name of a NumPy function that does the same, its number of inputs and of outputs; for information.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> from aesara.tensor.sort import SortOp
    >>> Blockwise(SortOp("quicksort"), "(n),()->(n)")(at.tensor3("x"), 0).type
    TensorType(float64, (None, None, None))
    """

    __props__ = ("core_op", "signature")

    def __init__(
        self,
        core_op: Op,
        signature: str | None = None,
        name: str | None = None,
        gufunc_spec: tuple[str, int, int] | None = None,
    ):
        if isinstance(core_op, Blockwise):
            raise TypeError(f"The core op of a Blockwise cannot be a Blockwise; got {core_op}.")
        if not isinstance(core_op, Op):
            raise TypeError(f"The core op of a Blockwise must be an Op; got {core_op!r}.")
        if signature is None:
            signature = getattr(core_op, "gufunc_signature", None)
            if signature is None:
                raise ValueError(
                    f'{core_op} has no attribute `gufunc_signature`: pass a signature, like "(m,n),(n)->(m)".'
                )
        if getattr(core_op, "destroy_map", None):
            raise NotImplementedError(f"Blockwise cannot work in place; the core op {core_op} does.")
        self.core_op = core_op
        self.signature = signature
        self.name = name
        self.gufunc_spec = gufunc_spec
        self.inputs_signature, self.outputs_signature = parse_signature(signature)
        self._core_nodes: WeakKeyDictionary[Apply, Apply] = WeakKeyDictionary()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_core_nodes"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _core_nodes=WeakKeyDictionary())

    def __str__(self) -> str:
        return self.name or f"Blockwise{{{self.core_op}, {self.signature}}}"

    # -- nodes ------------------------------------------------------------------

    def make_node(self, *inputs: Any) -> Apply:
        tensors = [as_tensor_variable(x) for x in inputs]
        self._check_inputs(tensors)
        tensors, core = self._core_node(tensors)
        batch = static_broadcast(*[_batch_part(x.type.shape, dims) for x, dims in zip(tensors, self.inputs_signature)])
        known = static_core_sizes(
            str(self), self.inputs_signature, [x.type.shape for x in tensors], _input_names(len(tensors))
        )
        outputs = []
        for out, dims in zip(core.outputs, self.outputs_signature):
            core_shape = [size if size is not None else known.get(dim) for size, dim in zip(out.type.shape, dims)]
            outputs.append(tensor_type(out.type.dtype, (*batch, *core_shape))())
        return Apply(self, tensors, outputs)

    def _check_inputs(self, tensors: Sequence[TensorVariable]) -> None:
        if len(tensors) != len(self.inputs_signature):
            raise TypeError(
                f"{self} takes {len(self.inputs_signature)} inputs, as its signature says; got {len(tensors)}."
            )
        for position, (x, dims) in enumerate(zip(tensors, self.inputs_signature)):
            if x.type.ndim < len(dims):
                raise ValueError(
                    f"Input {position} of {self} needs at least the {len(dims)} core dimension(s) ({','.join(dims)}); "
                    f"{describe(x)} has {x.type.ndim} dimension(s)."
                )

    def _core_node(self, tensors: Sequence[TensorVariable]) -> tuple[list[TensorVariable], Apply]:
        """Return the tensors, converted for the core op, and a node of that op for one member of the batch."""
        cores = [
            # Pass constants without batch dimensions to the op, which may depend on their value.
            x if isinstance(x, Constant) and x.type.ndim == len(dims) else _core_type(x, dims)()
            for x, dims in zip(tensors, self.inputs_signature)
        ]
        node = self.core_op.make_node(*cores)
        if len(node.inputs) != len(cores) or len(node.outputs) != len(self.outputs_signature):
            raise ValueError(
                f"The signature {self.signature} does not fit {self.core_op}, which has {len(node.inputs)} inputs and "
                f"{len(node.outputs)} outputs."
            )
        converted: list[Any] = []
        for x, core, taken in zip(tensors, cores, node.inputs):
            if taken is core:
                converted.append(x)
            else:  # The op casts its inputs: so is the batch.
                converted.append(vectorize_graph(taken, {core: x}) if core in graph_inputs([taken]) else taken)
        for position, (out, dims) in enumerate(zip(node.outputs, self.outputs_signature)):
            if not isinstance(out.type, TensorType) or out.type.ndim != len(dims):
                raise ValueError(
                    f"The signature {self.signature} does not fit {self.core_op}: output {position} is of type "
                    f"{out.type}."
                )
        return converted, node

    def core_node(self, inputs: Sequence[Any]) -> Apply:
        """Return a node of the core op for one member of a batch with the types of `inputs`."""
        return self._core_node(inputs)[1]

    # -- values -----------------------------------------------------------------

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: OutputCells, params: object = None) -> None:
        arrays = [np.asarray(x) for x in inputs]
        batch = self.batch_shape(node, arrays)
        if 0 in batch:
            results = self._empty_results(node, arrays, batch)
        else:
            results = self._loop(node, arrays, batch)
        for cell, result in zip(output_storage, results):
            cell[0] = result

    def _loop(self, node: Apply, arrays: Sequence[np.ndarray], batch: tuple[int, ...]) -> list[np.ndarray]:
        """Return the results of the core op for each member."""
        core = self._core_nodes.get(node)
        if core is None:
            core = self._core_nodes[node] = self.core_node(node.inputs)
        count = math.prod(batch)
        members = [_members_of(x, len(dims), batch, count) for x, dims in zip(arrays, self.inputs_signature)]
        results: list[Any] = []
        for index in range(count):
            storage: list[list[Any]] = [[None] for _ in node.outputs]
            self.core_op.perform(core, [x[index] for x in members], storage)
            if not results:
                results = [
                    np.empty((count, *np.shape(cell[0])), dtype=out.type.numpy_dtype)
                    for cell, out in zip(storage, node.outputs)
                ]
            for position, ((value,), result) in enumerate(zip(storage, results)):
                if np.shape(value) != result.shape[1:]:
                    raise ValueError(
                        f"{self}: output {position} has shape {result.shape[1:]} for one member of the batch and "
                        f"{np.shape(value)} for another; all must have the same."
                    )
                result[index] = value
        return [result.reshape(batch + result.shape[1:]) for result in results]

    def batch_shape(self, node: Apply, arrays: Sequence[np.ndarray]) -> tuple[int, ...]:
        """Return the batch dimensions of the result; raise an error if sizes differ or if broadcasting is not
        permitted.
        """
        static_core_sizes(str(self), self.inputs_signature, [x.shape for x in arrays], _input_names(len(arrays)))
        numbers = [x.ndim - len(dims) for x, dims in zip(arrays, self.inputs_signature)]
        batch = [1] * max(numbers, default=0)
        source: list[int | None] = [None] * len(batch)
        for position, (x, variable, number) in enumerate(zip(arrays, node.inputs, numbers)):
            for axis in range(number):
                where = len(batch) - number + axis
                size = x.shape[axis]
                if variable.type.shape[axis] == 1:
                    continue
                first = source[where]
                if first is not None and size != batch[where]:
                    before = (node.inputs[first], where - len(batch) + numbers[first], batch[where])
                    raise ValueError(
                        f"{self}: input {first} has size {batch[where]} in batch dimension {where}, input "
                        f"{position} has size {size}. A dimension is broadcast only where its static size is 1: use "
                        f"specify_broadcastable to say so.{declare_length_one([before, (variable, axis, size)])}"
                    )
                batch[where], source[where] = size, position
        return tuple(batch)

    def _empty_results(self, node: Apply, arrays: Sequence[np.ndarray], batch: tuple[int, ...]) -> list[np.ndarray]:
        """Return the results for an empty batch, of which only the shape is relevant."""
        sizes = static_core_sizes(
            str(self), self.inputs_signature, [x.shape for x in arrays], _input_names(len(arrays))
        )
        # The op's outputs for members of these static shapes
        members = [
            x if isinstance(x, Constant) else tensor_type(a.dtype.name, a.shape[a.ndim - len(dims) :])()
            for x, a, dims in zip(self.core_node(node.inputs).inputs, arrays, self.inputs_signature)
        ]
        results = []
        for position, (out, shape, dims) in enumerate(
            zip(node.outputs, self.core_op.make_node(*members).outputs, self.outputs_signature)
        ):
            core: Any = [sizes.get(dim) if size is None else size for size, dim in zip(shape.type.shape, dims)]
            if None in core:
                raise ValueError(
                    f"{self}: the batch is empty, so that the size of output {position} in the core dimension "
                    f"{dims[core.index(None)]} is unknown. Name it like a dimension of an input in the signature."
                )
            results.append(np.empty((*batch, *core), dtype=out.type.numpy_dtype))
        return results

    def infer_shape(
        self, fgraph: FunctionGraph, node: Apply, shapes: Sequence[Sequence[TensorVariable]]
    ) -> list[tuple]:
        batch = []
        n_batch = node.outputs[0].type.ndim - len(self.outputs_signature[0])
        for axis in range(-n_batch, 0):
            batch.append(self._batch_size(node, shapes, axis))
        named: dict[str, Any] = {}
        for dims, shape in zip(self.inputs_signature, shapes):
            named.update(zip(dims, shape[len(shape) - len(dims) :]))
        core_shapes = None
        result = []
        for position, (out, dims) in enumerate(zip(node.outputs, self.outputs_signature)):
            core = []
            for k, dim in enumerate(dims):
                known = out.type.shape[n_batch + k]
                if known is not None:
                    size = constant(known, dtype="int64")
                elif dim in named:
                    size = named[dim]
                else:
                    core_shapes = core_shapes or self._core_shapes(fgraph, node, shapes)
                    size = core_shapes[position][k]
                core.append(shape_i_op(n_batch + k)(out) if size is None else size)
            result.append((*batch, *core))
        return result

    def _batch_size(self, node: Apply, shapes: Sequence[Any], axis: int) -> Any:
        """Return the size of one batch dimension: that of an input that is not broadcast along it."""
        for x, dims, shape in zip(node.inputs, self.inputs_signature, shapes):
            position = axis + x.type.ndim - len(dims)
            if position >= 0 and x.type.shape[position] != 1:
                return shape[position]
        return constant(1, dtype="int64")

    def _core_shapes(self, fgraph: FunctionGraph, node: Apply, shapes: Sequence[Any]) -> list[list[Any]]:
        """Return the shapes of the outputs of the core op, with None for sizes that depend on values of inputs."""
        core = self.core_node(node.inputs)
        unknown = [[None] * len(dims) for dims in self.outputs_signature]
        infer = getattr(self.core_op, "infer_shape", None)
        if infer is None:
            return unknown
        core_sizes = [tuple(shape[len(shape) - len(dims) :]) for shape, dims in zip(shapes, self.inputs_signature)]
        inferred = infer(fgraph, core, core_sizes)
        members = {x for x in core.inputs if not isinstance(x, Constant)}
        return [
            [
                None if isinstance(s, Variable) and members & set(graph_inputs([s])) else as_tensor_variable(s)
                for s in sh
            ]
            for sh in inferred
        ]

    # -- derivatives ------------------------------------------------------------

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        pattern = getattr(self.core_op, "connection_pattern", None)
        result = None if pattern is None else pattern(self.core_node(node.inputs))
        return result or [[True for _ in node.outputs] for _ in node.inputs]

    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> list[TensorVariable]:
        """Return the gradient of the core op for each member, summed over dimensions along which an input was
        broadcast.
        """
        core = self.core_node(inputs)
        self._take_first_members(core, inputs, outputs)
        seeds = [
            g if isinstance(g.type, DisconnectedType) else _core_variable(g, dims)
            for g, dims in zip(output_grads, self.outputs_signature)
        ]
        gradients = self.core_op.L_op(core.inputs, core.outputs, seeds)
        missing = (DisconnectedType, NullType)
        wanted = [g for g in gradients if not isinstance(g.type, missing)]
        replace = _members(core, inputs, outputs, seeds, output_grads)
        vectorized = iter(vectorize_graph(wanted, replace))
        return [
            g if isinstance(g.type, missing) else _summed_to(x, next(vectorized), len(dims))
            for x, g, dims in zip(inputs, gradients, self.inputs_signature)
        ]

    def _take_first_members(self, core: Apply, inputs: Sequence[Any], outputs: Sequence[Any]) -> None:
        """Set test values of the variables of the core node to those of the first member."""
        for variables, batches, signature in (
            (core.inputs, inputs, self.inputs_signature),
            (core.outputs, outputs, self.outputs_signature),
        ):
            for variable, batch, dims in zip(variables, batches, signature):
                if not isinstance(variable, Constant):
                    _take_first_member(variable, batch, dims)

    def R_op(
        self, inputs: Sequence[TensorVariable], eval_points: Sequence[TensorVariable | None]
    ) -> list[TensorVariable | None]:
        core = self.core_node(inputs)
        outputs = self(*inputs, return_list=True)
        self._take_first_members(core, inputs, outputs)
        points = [
            None if point is None else _core_variable(point, dims)
            for point, dims in zip(eval_points, self.inputs_signature)
        ]
        tangents = self.core_op.R_op(core.inputs, points)
        nonzero_tangents = [t for t in tangents if t is not None]
        if not nonzero_tangents:
            return [None] * len(tangents)
        replace = _members(core, inputs, outputs, points, eval_points)
        vectorized = iter(vectorize_graph(nonzero_tangents, replace))
        return [None if t is None else _broadcast_like(out, next(vectorized)) for out, t in zip(outputs, tangents)]


def _members_of(x: np.ndarray, core_ndim: int, batch: tuple[int, ...], count: int) -> Sequence[np.ndarray]:
    """Return the members of a batch as a list of arrays."""
    core = x.shape[x.ndim - core_ndim :]
    if math.prod(x.shape[: x.ndim - core_ndim]) == 1:
        return [x.reshape(core)] * count
    rows = np.broadcast_to(x, batch + core).reshape((count, *core))
    # The ellipsis makes members without dimensions arrays instead of scalars.
    return [rows[index, ...] for index in range(count)]


def _input_names(n_inputs: int) -> list[str]:
    return [f"input {position}" for position in range(n_inputs)]


def _batch_part(shape: Sequence[Any], dims: tuple[str, ...]) -> Sequence[Any]:
    return shape[: len(shape) - len(dims)]


def _core_type(x: TensorVariable, dims: tuple[str, ...]) -> TensorType:
    """Return the type of one member of a batch."""
    return tensor_type(x.type.dtype, tuple(x.type.shape[x.type.ndim - len(dims) :]))


def _members(
    core: Apply,
    inputs: Sequence[Variable],
    outputs: Sequence[Variable],
    seeds: Sequence[Any],
    gradients: Sequence[Any],
) -> dict[Variable, Variable]:
    """Return a mapping from variables of the core graph to those of one member of the batch."""
    replace: dict[Variable, Variable] = {x: new for x, new in zip(core.inputs, inputs) if not isinstance(x, Constant)}
    replace.update(zip(core.outputs, outputs))
    replace.update(
        (seed, new)
        for seed, new in zip(seeds, gradients)
        if seed is not None and not isinstance(seed.type, DisconnectedType)
    )
    return replace


def _broadcast_like(model: Variable, x: TensorVariable) -> TensorVariable:
    """Broadcast dimensions of size one to those of `model`."""
    same = x.type.ndim == model.type.ndim and all(
        mine != 1 or wanted == 1 for mine, wanted in zip(x.type.shape, model.type.shape)
    )
    return x if same else second(model, x)


def _summed_to(x: TensorVariable, gradient: TensorVariable, core_ndim: int) -> TensorVariable:
    """Return the gradient for an input, given those for the members of the batch to which it was broadcast."""
    extra = gradient.type.ndim - x.type.ndim
    if extra > 0:
        gradient = gradient.sum(axis=tuple(range(extra)))
    if extra >= 0:
        batch = range(x.type.ndim - core_ndim)
        axes = [axis for axis in batch if x.type.shape[axis] == 1 and gradient.type.shape[axis] != 1]
        gradient = gradient.sum(axis=axes, keepdims=True) if axes else gradient
    # Terms without batch dimensions are zero, because results are linear in the batched gradients.
    return _broadcast_like(x, gradient)


def vectorize(func: Callable[..., Any], signature: str | None = None) -> Callable[..., Any]:
    """Make a function of symbolic arrays work on batches of them, like `numpy.vectorize`.

    Parameters
    ----------
    func
        Takes variables and returns a variable or several. It is called once for each call, with variables for one
        member of the batch, and builds a graph; there is no loop.
    signature
        The core dimensions that `func` takes and returns, as ``"(m,n),(n)->(m)"``. By default it takes scalars.

    Returns
    -------
    callable
        Takes tensors with any number of batch dimensions in front of the core dimensions. They are broadcast together
        where their static size is 1.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> dot_rows = at.vectorize(lambda x, y: at.dot(x, y), signature="(n),(n)->()")
    >>> dot_rows([[1.0, 2.0], [3.0, 4.0]], [10.0, 100.0]).eval()
    array([210., 430.])
    """
    parsed = None if signature is None else parse_signature(signature)

    def vectorized_function(*inputs: TensorLike) -> Any:
        tensors = [as_tensor_variable(x) for x in inputs]
        in_dims: CoreDims = ((),) * len(tensors) if parsed is None else parsed[0]
        _check_vectorized_inputs(signature, in_dims, tensors)
        cores = [_core_variable(x, dims) for x, dims in zip(tensors, in_dims)]
        result = func(*cores)
        several = isinstance(result, (list, tuple))
        outputs = [as_tensor_variable(out) for out in (result if several else [result])]
        if parsed is not None:
            _check_vectorized_outputs(signature, parsed[1], outputs)
        new = vectorize_graph(outputs, dict(zip(cores, tensors)))
        return new if several else new[0]

    return vectorized_function


def _core_variable(x: TensorVariable, dims: tuple[str, ...]) -> Variable:
    """Return a variable for one member of a batch; its test value is that of the first member."""
    core: Variable = _core_type(x, dims)(name=x.name)
    _take_first_member(core, x, dims)
    return core


def _take_first_member(core: Variable, x: TensorVariable, dims: tuple[str, ...]) -> None:
    if config.compute_test_value != "off":
        with suppress(TestValueError, IndexError):
            core.tag.test_value = np.asarray(x.get_test_value()[(0,) * (x.type.ndim - len(dims))])


def _check_vectorized_inputs(signature: str | None, dims: CoreDims, tensors: Sequence[TensorVariable]) -> None:
    if len(dims) != len(tensors):
        raise TypeError(f"A function with signature {signature} takes {len(dims)} inputs; got {len(tensors)}.")
    for position, (x, core) in enumerate(zip(tensors, dims)):
        if x.type.ndim < len(core):
            raise ValueError(
                f"Input {position} of a function with signature {signature} needs at least {len(core)} dimension(s); "
                f"{describe(x)} has {x.type.ndim}."
            )
    static_core_sizes(f"vectorize({signature})", dims, [x.type.shape for x in tensors], _input_names(len(tensors)))


def _check_vectorized_outputs(signature: str | None, dims: CoreDims, outputs: Sequence[TensorVariable]) -> None:
    if [len(core) for core in dims] != [out.type.ndim for out in outputs]:
        raise ValueError(
            f"The signature {signature} promises outputs of {[len(core) for core in dims]} dimension(s); the function "
            f"returned outputs of {[out.type.ndim for out in outputs]}."
        )
