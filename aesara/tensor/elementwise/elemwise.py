"""Applying a scalar op to every element of tensors, with broadcasting."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from aesara import scalar as aes
from aesara.configdefaults import config
from aesara.graph.forward_mode import tangents_of_outputs
from aesara.graph.messages import describe
from aesara.graph.nodes import Apply, Constant
from aesara.graph.op import Op
from aesara.graph.pullback import (
    cotangents_of_inputs,
    float_zeros_like,
    is_disconnected,
    is_discrete,
    is_null,
    sum_terms,
)
from aesara.graph.support import EMPTY, FULL, Condition, Outside, Support, Supported, intersection, select
from aesara.graph.utils import MethodNotDefined
from aesara.scalar.structure import condition_of
from aesara.tensor.core.conversion import as_tensor_variable, constant
from aesara.tensor.core.dtypes import complex_dtypes, discrete_dtypes
from aesara.tensor.core.tensor_like import OutputCells
from aesara.tensor.core.tensor_type import StaticShape, TensorType, tensor_type
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.elementwise.pullback import PullbackPlan, pullback_plan
from aesara.tensor.shapes.dimshuffle import DimShuffle, dimshuffle, dimshuffle_op
from aesara.tensor.shapes.length_one import declare_length_one


class Elemwise(Op):
    """The application of a scalar op to each element of its inputs.

    Inputs are extended by leading dimensions of length 1 to the same number of dimensions. Only dimensions with static
    length 1 are broadcast. Different static lengths raise an error when the node is built; unknown lengths must be
    equal at run time.

    Parameters
    ----------
    scalar_op
        The `ScalarOp` to apply.
    inplace_pattern
        ``{output: input}``: which output may overwrite which input.
    name
        How the op is printed.
    nfunc_spec
        The name of the equivalent NumPy function, its number of inputs and of
        outputs.

    Examples
    --------
    >>> import aesara.scalar as aes, aesara.tensor as at
    >>> Elemwise(aes.add)(at.matrix(), at.row()).type
    TensorType(float64, (None, None))
    """

    __props__ = ("scalar_op", "inplace_pattern")

    def __init__(
        self,
        scalar_op: aes.ScalarOp,
        inplace_pattern: Mapping[int, int] | None = None,
        name: str | None = None,
        nfunc_spec: tuple[str, int, int] | None = None,
        openmp: bool | None = None,
    ):
        self.scalar_op = scalar_op
        self.inplace_pattern = _FrozenPattern(inplace_pattern or {})
        self.destroy_map = {output: [inp] for output, inp in self.inplace_pattern.items()}
        self.name = name
        self.nfunc_spec = nfunc_spec
        self.nfunc = None
        self.nin = getattr(scalar_op, "nin", -1)
        self.nout = getattr(scalar_op, "nout", 1)
        self._hash = hash((Elemwise, scalar_op, self.inplace_pattern))
        # Keys are `floatX`, `cast_policy` and the dtypes of the inputs, because scalar ops may depend on the first two.
        self._output_dtypes: dict[tuple[str, ...], tuple[str, ...]] = {}

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if type(self) is not type(other):
            return NotImplemented
        return (
            self._hash == other._hash
            and self.scalar_op == other.scalar_op
            and self.inplace_pattern == other.inplace_pattern
        )

    def __getstate__(self) -> dict[str, object]:
        state = self.__dict__.copy()
        # Hashes of strings differ between processes.
        for name in ("_hash", "_output_dtypes"):
            state.pop(name, None)
        return state

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)
        self._hash = hash((Elemwise, self.scalar_op, self.inplace_pattern))
        self._output_dtypes = {}

    def __str__(self) -> str:
        if self.name:
            return self.name
        pattern = str(sorted(self.inplace_pattern.items())) if self.inplace_pattern else ""
        return f"Elemwise{{{self.scalar_op}}}{pattern}"

    # -- building nodes -----------------------------------------------------

    def make_node(self, *inputs: Any) -> Apply:
        tensors = self.as_operands(inputs)
        for x in tensors:
            if not x.type.is_dense:
                raise TypeError(
                    f"{self} takes dense tensors; {describe(x)} is a {x.type}. Use a function of aesara.sparse, or "
                    "the dense matrix: toarray()."
                )
        out_dtypes = self._known_output_dtypes(tuple([x.type.dtype for x in tensors]))
        shape = tensors[0].type.shape
        for x in tensors:
            if x.type.shape != shape:
                tensors, shape = _broadcast(self, tensors)
                break
        if self.inplace_pattern:
            self._check_inplace(tensors, out_dtypes, shape)
        return Apply(self, tensors, [tensor_type(dtype, shape)() for dtype in out_dtypes])

    def as_operands(self, inputs: Sequence[Any]) -> list[TensorVariable]:
        """Return inputs as tensors; Python integers take the dtype uint64 of another if the result is integers then."""
        tensors = [as_tensor_variable(x) for x in inputs]
        dtypes = tuple([x.type.dtype for x in tensors])
        if "uint64" in dtypes:
            for k in aes.literals_in_uint64(inputs, dtypes, self._known_output_dtypes):
                tensors[k] = constant(inputs[k], dtype="uint64")
        return tensors

    def _known_output_dtypes(self, dtypes: tuple[str, ...]) -> tuple[str, ...]:
        """Return the dtypes of the outputs, which are cached by the dtypes of the inputs."""
        key = (config.floatX, config.cast_policy, *dtypes)
        result = self._output_dtypes.get(key)
        if result is None:
            result = self._output_dtypes[key] = self._find_output_dtypes(dtypes)
        return result

    def _find_output_dtypes(self, dtypes: tuple[str, ...]) -> tuple[str, ...]:
        """Compute the dtypes of the outputs; the scalar op raises an error for unsupported inputs."""
        if not dtypes:
            raise TypeError(f"{self} needs at least one input.")
        node = self.scalar_op.make_node(*[aes.get_scalar_type(dtype=dtype).make_variable() for dtype in dtypes])
        return tuple([out.type.dtype for out in node.outputs])

    def _check_inplace(self, inputs: Sequence[TensorVariable], out_dtypes: Sequence[str], shape: StaticShape) -> None:
        for output, position in self.inplace_pattern.items():
            inp = inputs[position].type
            for axis, (from_input, broadcast) in enumerate(zip(inp.broadcastable, shape)):
                if from_input and broadcast != 1:
                    raise ValueError(
                        f"{self} cannot overwrite input {position}: it is broadcast along dimension {axis}."
                    )
            if inp.dtype != out_dtypes[output]:
                raise TypeError(
                    f"{self} cannot overwrite input {position} of dtype {inp.dtype} "
                    f"with output {output} of dtype {out_dtypes[output]}."
                )

    def get_output_info(
        self, dim_shuffle: Any, *inputs: TensorVariable
    ) -> tuple[list[str], list[StaticShape], list[TensorVariable]]:
        """Return dtypes and static shapes of the outputs, and the inputs with equal numbers of dimensions."""
        out_dtypes = self._find_output_dtypes(tuple([x.type.dtype for x in inputs]))
        tensors, shape = _broadcast(self, list(inputs))
        return list(out_dtypes), [shape] * len(out_dtypes), tensors

    # -- derivatives --------------------------------------------------------

    def L_op(
        self, inputs: Sequence[TensorVariable], outs: Sequence[TensorVariable], ograds: Sequence[TensorVariable]
    ) -> list[TensorVariable]:
        return [g.apply_support() for g in self.cotangents(inputs, outs, [Supported(g) for g in ograds])]

    def cotangents(
        self, inputs: Sequence[TensorVariable], outs: Sequence[TensorVariable], of_outputs: Sequence[Supported]
    ) -> list[Supported]:
        """Return the gradients of the inputs, with their supports, given those of the outputs."""
        plan = pullback_plan(
            self.scalar_op,
            tuple([x.type.dtype for x in inputs]),
            tuple([getattr(g.value.type, "dtype", None) for g in of_outputs]),
        )
        values = self._replay(plan, inputs, outs, [g.value for g in of_outputs])
        outputs_are_clean = all(g.is_clean for g in of_outputs)

        def support_of(condition: Condition) -> Support:
            kind, slot = condition.key
            return of_outputs[slot].support if kind == "of output" else tensor_condition(values[slot])

        result = []
        for x, slot, support, is_clean in zip(inputs, plan.results, plan.supports, plan.clean):
            gradient = values[slot]
            if not isinstance(gradient.type, TensorType):
                result.append(Supported(gradient))
                continue
            support = support.map_conditions(support_of)
            if support is EMPTY:
                result.append(Supported(float_zeros_like(x), EMPTY))
                continue
            is_clean = (is_clean and outputs_are_clean) or support is FULL
            summed = _broadcast_axes(x, outs[0])
            if summed and support.is_partial:
                gradient = gradient if is_clean else _select(gradient, support)
                support, is_clean = any_along(support, summed), True
            result.append(Supported(_shaped_like(x, gradient, outs[0]), support, is_clean))
        return result

    @staticmethod
    def _replay(
        plan: PullbackPlan,
        inputs: Sequence[TensorVariable],
        outs: Sequence[TensorVariable],
        ograds: Sequence[TensorVariable],
    ) -> list[TensorVariable]:
        """Build the scalar gradient graph of a plan on tensors; return the variable of each slot."""
        values: list[Any] = [*inputs, *outs, *ograds]
        values.extend([constant(data) if is_data else data.clone() for is_data, data in plan.leaves])
        for scalar_op, arguments in plan.steps:
            values.extend(elemwise_of(scalar_op)(*[values[slot] for slot in arguments], return_list=True))
        return values

    def R_op(
        self, inputs: Sequence[TensorVariable], eval_points: Sequence[TensorVariable | None]
    ) -> list[TensorVariable | None]:
        points = [None if point is None else Supported(point) for point in eval_points]
        return [None if t is None else t.apply_support() for t in self.tangents(inputs, points)]

    def tangents(self, inputs: Sequence[TensorVariable], points: Sequence[Supported | None]) -> list[Supported | None]:
        """Return the tangents of the outputs, with their supports, given those of the inputs."""
        outs = self(*inputs, return_list=True)
        tangents: list[Supported | None] = []
        for position, out in enumerate(outs):
            tangent = self._along(inputs, outs, position, 1, points)
            if tangent is not None and out.type.dtype in complex_dtypes and not is_null(tangent.value):
                imaginary = self._along(inputs, outs, position, 1j, points)
                assert imaginary is not None  # it depends on the same inputs
                tangent = Supported(elemwise_of(aes.complex)(tangent.apply_support(), imaginary.apply_support()))
            tangents.append(tangent)
        return tangents

    def _along(
        self,
        inputs: Sequence[TensorVariable],
        outs: Sequence[TensorVariable],
        position: int,
        seed: complex,
        points: Sequence[Supported | None],
    ) -> Supported | None:
        """Return the derivative along `points` of an output's real part, for the seed 1, or imaginary part, for 1j.

        It is None if no input that the part depends on moves, and of a `NullType` if one does without a derivative.
        Elementwise, the pullback of the seed is the derivative itself: of a complex input the one by the real part
        plus i times the one by the imaginary part.
        """
        seeds = [o.zeros_like(dtype=_gradient_dtype(o)) for o in outs]
        seeds[position] = outs[position].ones_like(dtype=_gradient_dtype(outs[position]))
        if seed != 1:
            seeds[position] = seeds[position] * constant(np.array(seed, seeds[position].type.dtype))
        plan = pullback_plan(
            self.scalar_op,
            tuple([x.type.dtype for x in inputs]),
            tuple([seed.type.dtype for seed in seeds]),
        )
        values = self._replay(plan, inputs, outs, seeds)

        def support_of(condition: Condition) -> Support:
            kind, slot = condition.key
            if kind == "of output":
                return FULL if slot == position else EMPTY
            return tensor_condition(values[slot])

        terms = []
        for slot, slope_support, point in zip(plan.results, plan.supports, points):
            slope = values[slot]
            if point is None or is_disconnected(slope):
                continue
            if is_null(slope):
                return Supported(slope)
            direction = point.value
            if slope.type.dtype in complex_dtypes:
                term = slope.real * direction.real + slope.imag * direction.imag
            else:
                term = slope * direction
            terms.append(Supported(term, intersection(slope_support.map_conditions(support_of), point.support), False))
        return sum_terms(terms[::-1]) if terms else None

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        try:
            return self.scalar_op.connection_pattern(node)  # type: ignore[attr-defined]  # few have one
        except (AttributeError, MethodNotDefined):
            return [[True for _ in node.outputs] for _ in node.inputs]

    # -- values ---------------------------------------------------------------

    def infer_shape(self, fgraph: Any, node: Apply, i_shapes: Sequence[Any]) -> list[tuple]:
        shape = []
        for axis, length in enumerate(node.outputs[0].type.shape):
            if length is not None:
                shape.append(constant(np.int64(length)))
                continue
            for x, in_shape in zip(node.inputs, i_shapes):
                if x.type.shape[axis] != 1:
                    shape.append(in_shape[axis])
                    break
            else:  # rewriting has learned that all inputs are of length 1 here
                shape.append(constant(np.int64(1)))
        return [tuple(shape) for _ in node.outputs]

    def prepare_node(self, node: Apply, storage_map: Any, compute_map: Any, impl: str | None) -> None:
        prepare = getattr(self.scalar_op, "prepare_node", None)
        if prepare is not None:
            prepare(node.tag.__dict__.get("fake_node", node), None, None, impl)

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: OutputCells, params: object = None) -> None:
        shape = _runtime_shape(self, node, inputs)
        results = self.scalar_op.evaluate(
            inputs,
            [aes.get_scalar_type(dtype=x.type.dtype) for x in node.inputs],
            [aes.get_scalar_type(dtype=out.type.dtype) for out in node.outputs],
        )
        if self.inplace_pattern and len(results) > 1:
            # Copy results that share memory with the overwritten input.
            results = tuple([r.copy() if any(np.may_share_memory(r, x) for x in inputs) else r for r in results])
        for position, (result, out, storage) in enumerate(zip(results, node.outputs, output_storage)):
            result = np.asarray(result)
            if result.dtype != out.type.numpy_dtype:
                result = result.astype(out.type.numpy_dtype)
            overwritten = self.inplace_pattern.get(position)
            target = None if overwritten is None else inputs[overwritten]
            if isinstance(target, np.ndarray) and target.flags.writeable:
                np.copyto(target, result)
                result = target
            elif result.shape != shape:
                result = np.array(np.broadcast_to(result, shape))
            elif any(np.may_share_memory(result, x) for x in inputs):
                result = result.copy()
            storage[0] = result


class _FrozenPattern(dict):
    """A dictionary of ints that can be hashed, and is not to be changed."""

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))


def _gradient_dtype(variable: TensorVariable) -> str:
    """Return the dtype of gradients with respect to a variable."""
    return config.floatX if variable.type.dtype in discrete_dtypes else variable.type.dtype


def _broadcast(op: Op, tensors: list[TensorVariable]) -> tuple[list[TensorVariable], StaticShape]:
    """Extend tensors to the same number of dimensions, and return them with the static shape of the result."""
    ndim = max([len(x.type.shape) for x in tensors])
    padded = []
    for x in tensors:
        missing = ndim - len(x.type.shape)
        if missing:
            order = ("x",) * missing + tuple(range(ndim - missing))
            x = dimshuffle_op(x.type.broadcastable, order)(x)
        padded.append(x)
    shape: list[int | None] = []
    for axis, lengths in enumerate(zip(*[x.type.shape for x in padded])):
        length: int | None = 1
        for candidate in lengths:
            if candidate == 1 or candidate == length:
                continue
            if candidate is None:
                length = None if length == 1 else length
            elif length is None or length == 1:
                length = candidate
            else:
                shapes = [x.type.shape for x in padded]
                raise ValueError(
                    f"Incompatible Elemwise input shapes {shapes}: {op} cannot combine lengths {length} and "
                    f"{candidate} in dimension {axis}; they must be equal, or one of them 1."
                )
        shape.append(length)
    return padded, tuple(shape)


def _runtime_shape(op: Op, node: Apply, inputs: Sequence[Any]) -> tuple[int, ...]:
    """Return the shape of the result; raise an error if lengths differ or if broadcasting is not permitted."""
    shapes = [np.shape(x) for x in inputs]
    first = shapes[0]
    if shapes.count(first) == len(shapes):
        return first
    result = []
    for axis in range(len(first)):
        length, source = 1, None
        for position, (variable, shape) in enumerate(zip(node.inputs, shapes)):
            if variable.type.shape[axis] == 1:
                if shape[axis] != 1:
                    raise ValueError(
                        f"Input {position} of {op} must have length 1 in dimension {axis}; its shape is {shape}."
                    )
            elif source is None:
                length, source = shape[axis], position
            elif shape[axis] != length:
                raise ValueError(
                    f"Input dimension mismatch in {op}: in dimension {axis}, input {source} has length {length} and "
                    f"input {position} has length {shape[axis]} (shapes {shapes}). A dimension is broadcast only "
                    "where its static length is 1: use specify_broadcastable, specify_shape or dimshuffle to say so."
                    f"{declare_length_one([(v, axis, s[axis]) for v, s in zip(node.inputs, shapes)])}"
                )
        result.append(length)
    return tuple(result)


def _shaped_like(x: TensorVariable, gradient: Any, out: TensorVariable) -> TensorVariable:
    """Return the gradient for an input, from one that may have the shape of the output."""
    in_shape, out_shape = x.type.shape, out.type.shape
    is_zero = isinstance(gradient, Constant) and not np.any(gradient.data)
    if gradient.type.ndim == 0:
        gradient = dimshuffle(gradient, ("x",) * len(out_shape))
    full_shape = in_shape if is_zero else out_shape
    if any(mine == 1 and full != 1 for mine, full in zip(gradient.type.shape, full_shape)):
        gradient = elemwise_of(aes.second)(x if is_zero else out, gradient)
    summed = [axis for axis, (inner, mine) in enumerate(zip(in_shape, gradient.type.shape)) if inner == 1 and mine != 1]
    return gradient.sum(axis=summed, keepdims=True) if summed else gradient


def _broadcast_axes(x: TensorVariable, out: TensorVariable) -> list[int]:
    """Return the dimensions along which an input is broadcast."""
    return [axis for axis, (mine, full) in enumerate(zip(x.type.shape, out.type.shape)) if mine == 1 and full != 1]


def tensor_condition(variable: TensorVariable) -> Support:
    """Return the support on which a tensor, as a condition, is true."""
    is_boolean = variable.type.dtype == "bool"
    number = _number(variable)
    if number is not None:
        return FULL if number.all() else EMPTY
    return condition_of(variable, lambda: variable if is_boolean else elemwise_of(aes.neq)(variable, 0))


def _number(variable: Any, depth: int = 3) -> np.ndarray | None:
    """Return the value of an elementwise expression of constants with one entry; None if it is something else."""
    if isinstance(variable, Constant):
        return variable.data if variable.data.size == 1 else None
    node = variable.owner
    if node is None or not depth or len(node.outputs) > 1 or not isinstance(node.op, (DimShuffle, Elemwise)):
        return None
    values = [_number(x, depth - 1) for x in node.inputs]
    if any(value is None for value in values):
        return None
    result: list[list[Any]] = [[None]]
    node.op.perform(node, values, result)
    return np.asarray(result[0][0])


class Everywhere(Condition):
    """The condition that holds for all entries of a tensor if a scalar is true, and for none otherwise."""

    __slots__ = ("scalar",)

    def __init__(self, scalar: Condition, ndim: int):
        super().__init__(
            ("everywhere", ndim, scalar.key), lambda: dimshuffle(scalar.mask(), ["x"] * ndim), scalar.is_of_row
        )
        self.scalar = scalar


def is_uniform(support: Support) -> bool:
    """Return whether a support holds all entries or none."""
    return all(isinstance(condition, Everywhere) for condition in support.atoms())


def any_along(support: Support, axes: Sequence[int]) -> Support:
    """Return the support of sums along axes, which are kept with length 1."""
    if is_uniform(support):
        return support

    def build() -> TensorVariable:
        mask = support.mask()
        reduced = [axis for axis in axes if mask.type.shape[axis] != 1]
        return mask.any(axis=reduced, keepdims=True) if reduced else mask

    return Condition(("any", tuple(axes), support.key), build, support.is_of_row)


@select.register(TensorType)
def _(value_type: TensorType, value: TensorVariable, support: Support) -> TensorVariable:
    # The static shape of a mask may be less precise than that of the value.
    ones = tuple([1 if length == 1 else None for length in value.type.shape])
    return _select(value, support).with_static_shape(ones)


def _select(value: TensorVariable, support: Support) -> TensorVariable:
    """Return a value with zeros outside of a support; the value may broadcast to the mask."""
    zero = constant(np.zeros((), value.type.dtype))
    if support is EMPTY:
        return elemwise_of(aes.second)(value, zero)
    if isinstance(support, Outside):
        return elemwise_of(aes.switch)(support.condition.mask(), zero, value)
    return elemwise_of(aes.switch)(support.mask(), value, zero)


@tangents_of_outputs.register(Elemwise)
def _(op: Elemwise, node: Any, points: Sequence[Supported | None]) -> Sequence[Supported | None]:
    """Multiply by slopes also outside of supports: the zeros there are put back where entries are added up."""
    if type(op).R_op is not Elemwise.R_op:
        return tangents_of_outputs.dispatch(object)(op, node, points)
    return op.tangents(node.inputs, points)


@cotangents_of_inputs.register(Elemwise)
def _(op: Elemwise, node: Any, of_outputs: Sequence[Supported]) -> Sequence[Supported]:
    """Multiply by slopes also outside of supports: the zeros there are put back where entries are added up."""
    if type(op).L_op is not Elemwise.L_op or all(map(is_discrete, node.outputs)):
        return cotangents_of_inputs.dispatch(object)(op, node, of_outputs)
    return op.cotangents(node.inputs, node.outputs, of_outputs)


_elemwise_ops: dict[aes.ScalarOp, Elemwise] = {}


def elemwise_of(scalar_op: aes.ScalarOp) -> Elemwise:
    """Return the `Elemwise` of a scalar op; ops are cached."""
    op = _elemwise_ops.get(scalar_op)
    if op is None:
        if len(_elemwise_ops) > 10_000:
            _elemwise_ops.clear()
        op = _elemwise_ops[scalar_op] = Elemwise(scalar_op)
    return op


def tensor_function(scalar_op: aes.ScalarOp, name: str) -> Elemwise:
    """Return the tensor function of a scalar op, with the name by which it is printed."""
    op = Elemwise(scalar_op, name=f"Elemwise{{{name},no_inplace}}", nfunc_spec=scalar_op.nfunc_spec)
    description = scalar_op.__doc__ or name
    op.__doc__ = f"{description}\n\nApplied to each element of tensors, with broadcasting; see `Elemwise`."
    _elemwise_ops.setdefault(scalar_op, op)
    return op


def scalar_elemwise(
    *symbol: Callable[..., Any],
    nfunc: str | None = None,
    nin: int | None = None,
    nout: int | None = None,
    symbolname: str | None = None,
) -> Any:
    """Decorator that replaces a stub by the `Elemwise` of the scalar op with its name.

    A name that ends with ``_inplace`` returns an op that overwrites its first input. The op gets the docstring of the
    stub.

    Examples
    --------
    >>> @scalar_elemwise
    ... def exp(a):
    ...     "e to the power of a"
    >>> exp
    Elemwise{exp,no_inplace}
    """

    def construct(stub: Callable[..., Any]) -> Elemwise:
        name = symbolname or stub.__name__
        inplace = name.endswith("_inplace")
        base = name.removesuffix("_inplace")
        scalar_op = getattr(aes, base)
        spec = (nfunc, nin or scalar_op.nin, nout or scalar_op.nout) if nfunc else None
        label = f"Elemwise{{{base},{'inplace' if inplace else 'no_inplace'}}}"
        op = Elemwise(scalar_op, {0: 0} if inplace else None, name=label, nfunc_spec=spec)
        if stub.__doc__:
            op.__doc__ = stub.__doc__
        return op

    return construct(symbol[0]) if symbol else construct


scalar_identity = Elemwise(aes.identity, name="Elemwise{identity}")
