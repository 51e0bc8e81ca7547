"""What lowerings of linear algebra share: batches of matrices, checks of them, and views."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from aesara.graph.nodes import Apply, Variable
from aesara.graph.op import Op
from aesara.ir.expr import Expr, const
from aesara.ir.expr import op as primitive
from aesara.ir.routine import Routine
from aesara.lower.arrays import ONE, ZERO, Array, Assembled, Index, Pointwise, Reader, Write, literal
from aesara.lower.calling import call_routine, require_success
from aesara.lower.complex import ComplexArray, complex_from_real, split
from aesara.lower.context import Context, Unsupported, check_dtype
from aesara.lower.dimensions import with_dimensions
from aesara.lower.dispatch import is_complex, lower_all, lower_complex_op, lower_op
from aesara.lower.families import load_lowering
from aesara.lower.reductions.careduce import reduce_array
from aesara.tensor.core.tensor_type import tensor_type
from aesara.tensor.shapes.length_one import MessageAboutLengths
from aesara.tensor.vectorization.blockwise import Blockwise

__all__ = [
    "Matrices",
    "Numbers",
    "adopt",
    "arranged",
    "as_column",
    "as_row",
    "conjugate",
    "diagonal",
    "each_part",
    "identities",
    "is_nan",
    "is_not_zero",
    "is_zero",
    "lower_matrices",
    "negative",
    "not_finite",
    "only",
    "padded",
    "parts_of",
    "side",
    "swapped",
    "taken",
    "triangle",
    "whole",
]


#: of real or of complex numbers
Numbers = Array | ComplexArray
Lowering = Callable[[Any, "Matrices"], Sequence[Numbers]]


@functools.singledispatch
def lower_matrices(op: Op, of: Matrices) -> Sequence[Numbers]:
    """The arrays of the results of a matrix op, for one member or a batch."""
    raise Unsupported(f"no native lowering for {type(op).__name__}")


def adopt(kind: type[Op]) -> Callable[[Lowering], Lowering]:
    """Let a function lower an op of matrices: its own nodes, and those that apply it to a batch."""

    def register(lower: Lowering) -> Lowering:
        lower_matrices.register(kind)(lower)
        lower_op.register(kind)(_one)
        lower_complex_op.register(kind)(_one)
        return lower

    return register


def _inputs(node: Apply, context: Context) -> list[Numbers]:
    return [context.pair(v) if is_complex(v) else context.array(v) for v in node.inputs]


def _one(op: Op, node: Apply, context: Context) -> Sequence[Any]:
    return lower_matrices(op, Matrices(op, node, context, (), _inputs(node, context)))


@lower_complex_op.register
@lower_op.register
def _blockwise(op: Blockwise, node: Apply, context: Context) -> Sequence[Any]:
    core = op.core_op
    load_lowering(type(core))
    if lower_matrices.dispatch(type(core)) is lower_matrices.dispatch(object):
        raise Unsupported(f"{core} has no rule for batches (vectorize_node): it is called for each member")
    arrays = _inputs(node, context)
    ranks = [a.ndim - len(dims) for a, dims in zip(arrays, op.inputs_signature, strict=True)]
    lead: list[Expr] = [ONE] * max(ranks)
    measured: list[tuple[Variable, int] | None] = [None] * max(ranks)
    guards: list[object] = []
    for array, rank, variable in zip(arrays, ranks, node.inputs, strict=True):
        for d in range(rank):
            at = len(lead) - rank + d
            if variable.type.shape[d] == 1:
                continue
            if lead[at] is not ONE:
                message = (
                    f"{_label(op)}: the inputs have sizes {{0}} and {{1}} in dimension {at} of the batch. A dimension "
                    "is broadcast only where its static length is 1: use specify_broadcastable to say so."
                )
                first = measured[at]
                worded = MessageAboutLengths(message, (first, (variable, d))) if first is not None else message
                guards += context.require_equal(lead[at], array.shape[d], ValueError, worded, node)
            else:
                lead[at], measured[at] = array.shape[d], (variable, d)
    aligned = [
        arranged(a, [*[None] * (len(lead) - rank), *range(a.ndim)]) for a, rank in zip(arrays, ranks, strict=True)
    ]
    return lower_matrices(core, Matrices(core, node, context, tuple(lead), aligned, guards))


def _label(op: Op) -> str:
    return str(op).replace("{", "{{").replace("}", "}}")


class Matrices:
    """An op of matrices that is being lowered: its inputs, with the same number of leading dimensions.

    Attributes
    ----------
    lead
        The leading dimensions of the results; those of an input may be 1 instead.
    failures
        None where a failure raises an exception, as it does at first; else arrays of lead dimensions that say which
        members have failed, by numbers that are not zero or by truth values.
    """

    linalg_error = np.linalg.LinAlgError

    def __init__(
        self, op: Op, node: Apply, context: Context, lead: tuple[Expr, ...], inputs: Sequence[Numbers],
        guards: Sequence[object] = (),
    ) -> None:  # fmt: skip
        self.op, self.node, self.context, self.lead = op, node, context, lead
        self.inputs: list[Any] = list(inputs)
        self.guards = list(guards)
        self.failures: list[Array] | None = None
        for array in self.inputs:
            for part in parts_of(array):
                check_dtype(part.dtype)

    def require_equal(self, a: Expr, b: Expr, message: str, kind: type[Exception] = ValueError) -> None:
        """Check that two sizes are equal; the message may show them as ``{0}`` and ``{1}``."""
        self.guards += self.context.require_equal(a, b, kind, f"{_label(self.op)}: {message}", self.node)

    def require_square(self, array: Numbers, kind: type[Exception] = ValueError) -> Expr:
        """The order of a matrix that must be square; in a batch it is a ValueError if it is not, as all such are."""
        rows, columns = array.shape[-2:]
        kind = ValueError if self.lead else kind
        self.require_equal(rows, columns, "the matrix must be square; it has {0} rows and {1} columns.", kind)
        return rows

    def require_none(self, found: Array, kind: type[Exception], message: str) -> None:
        """Raise an exception if an array of truth values has a true one."""
        if self.failures is not None:
            self.failures.append(self.members_with(found))
            return
        any_of_it = reduce_array(self.context, self._added(found), tuple(range(found.ndim)), "or")
        number = self.context.size_from(any_of_it)
        holds = primitive("eq", number, const(0))
        self.guards += self.context.guard(holds, kind, f"{_label(self.op)}: {message}", self.node)

    def require_finite(self, *arrays: Numbers) -> None:
        """Refuse infinities and NaN."""
        for array in arrays:
            self.require_none(not_finite(array), ValueError, "array must not contain infs or NaNs")

    def require_success(self, status: Array, what: str) -> None:
        """Raise a `LinAlgError` unless the status of each call is zero; `what` is said of the matrix before it."""
        if self.failures is not None:
            self.failures.append(status)
            return
        of_one = f"{_label(self.op)}: the matrix {what} {{0}}."
        of_many = f"{_label(self.op)}: a matrix of the batch {what.partition(':')[0]}."
        text = of_many if status.ndim else of_one
        self.guards += require_success(self.context, self.node, status, self.linalg_error, text)

    def call(
        self,
        routine: Routine,
        sizes: Mapping[str, Expr],
        given: Mapping[str, Numbers],
        lead: Sequence[Expr] | None = None,
    ) -> dict[str, Any]:
        """Call a routine for each member of the batch, or for the leading dimensions `lead` of one input.

        What is overwritten gets the whole batch first.  Complex numbers are handed over in memory, as are results.
        """
        lead = self.lead if lead is None else lead
        overwritten = {p.name for p in routine.parameters if p.is_written}
        arrays = {name: whole(a, lead) if name in overwritten else a for name, a in given.items()}
        memory = {name: a.in_memory() if isinstance(a, ComplexArray) else a for name, a in arrays.items()}
        made = call_routine(self.context, self.node, routine, sizes, memory, lead, self.guards)
        pairs = {p.name for p in routine.parameters if p.is_complex}
        return {name: split(array) if name in pairs else array for name, array in made.items()}

    def expression(self, build: Callable[..., Any], arrays: Sequence[Numbers] | None = None) -> list[Any]:
        """What a graph of arrays, else the inputs, gives, where its nodes are lowered in the place of this one.

        `build` gets variables of them, with the leading dimensions, and returns a list of variables.
        """
        context = self.context
        arrays = self.inputs if arrays is None else arrays
        variables = [_variable_for(array) for array in arrays]
        for variable, array in zip(variables, arrays, strict=True):
            context.set(variable, array)
        results = build(*variables)
        before = len(context.made)
        lower_all(variables, results, context)
        while len(context.made) > before:
            context.made.popitem()  # what has been made, has been made for this node
        return [context.pair(v) if is_complex(v) else context.array(v) for v in results]

    def members_with(self, found: Array) -> Array:
        """Which members have a true one in an array of truth values."""
        return reduce_array(self.context, self._added(found), tuple(range(len(self.lead), found.ndim)), "or")

    def nan_where_failed(self, results: Sequence[Numbers]) -> list[Numbers]:
        """The results with NaN for members that have failed, and for those one of whose results is not finite."""
        for result in results:
            self.require_none(not_finite(result), ValueError, "")
        assert self.failures is not None
        return [self.with_nan(self.failures, result) for result in results]

    def with_nan(self, where: Sequence[Array], result: Numbers) -> Numbers:
        """The result with NaN for members for which an array holds; the imaginary part of it is zero there."""
        rank, (real, *imag) = len(self.lead), parts_of(result)
        made = _instead(where, rank, real, float("nan"))
        return ComplexArray(made, _instead(where, rank, imag[0], 0.0)) if imag else made

    def _added(self, array: Array) -> Array:
        return self.context.added(array)


def _variable_for(array: Numbers) -> Variable:
    """A variable of the dtype and the shape of an array, as far as that is known."""
    shape = tuple(n.attr if n.is_const else None for n in array.shape)
    made: Variable = tensor_type(array.dtype, shape)()
    return made


def _instead(where: Sequence[Array], rank: int, result: Array, instead: float) -> Array:
    """A number for members for which one of the arrays holds; a dimension of length 1 there is that of all members."""

    def body(index: Index, readers: Sequence[Reader]) -> Expr:
        value = readers[0](index)
        for holds, read in zip(where, readers[1:], strict=True):
            here = read(tuple(ZERO if n is ONE else i for n, i in zip(holds.shape, index[:rank], strict=True)))
            condition = primitive("ne", here, const(0, holds.dtype)) if holds.dtype != "bool" else here
            value = primitive("select", condition, const(instead, result.dtype), value)
        return value

    return Pointwise(result.dtype, result.shape, (result, *where), body, len(where), [False, *[True] * len(where)])


def parts_of(array: Numbers) -> tuple[Array, ...]:
    """The real arrays that numbers consist of: one, or two."""
    return array.parts if isinstance(array, ComplexArray) else (array,)


def each_part(change: Callable[[Array], Array], array: Numbers) -> Any:
    """What a function of real arrays makes of each part."""
    return ComplexArray(*map(change, array.parts)) if isinstance(array, ComplexArray) else change(array)


def arranged(array: Numbers, order: Sequence[int | None]) -> Any:
    """`with_dimensions` of real or complex numbers."""
    return each_part(lambda part: with_dimensions(part, order), array)


def conjugate(array: Numbers) -> Any:
    """The complex conjugates; real numbers as they are."""
    return ComplexArray(array.real, negative(array.imag)) if isinstance(array, ComplexArray) else array


def negative(array: Array) -> Array:
    """The numbers with the opposite sign."""
    return Pointwise(array.dtype, array.shape, (array,), lambda index, readers: -readers[0](index))


def whole(array: Numbers, lead: Sequence[Expr]) -> Numbers:
    """The array for all members of a batch."""
    rank = len(lead)
    single = [a is ONE and b is not ONE for a, b in zip(array.shape, lead)]
    if not any(single):
        return array

    def body(index: Index, readers: Sequence[Reader]) -> Expr:
        here = tuple(ZERO if alone else i for alone, i in zip(single, index))
        return readers[0]((*here, *index[rank:]))

    def repeated(part: Array) -> Array:
        return Pointwise(part.dtype, (*lead, *part.shape[rank:]), (part,), body, 0, [True])

    made: Numbers = each_part(repeated, array)
    return made


def not_finite(array: Numbers) -> Array:
    """Where an array is infinite or NaN."""

    def body(index: Index, readers: Sequence[Reader]) -> Expr:
        values = [read(index) for read in readers]
        tests = [primitive("ne", value - value, const(0, value.dtype)) for value in values]
        return functools.reduce(lambda a, b: a | b, tests)

    return Pointwise("bool", array.shape, parts_of(array), body, 2)


def is_nan(array: Numbers) -> Array:
    """Where an array is NaN."""

    def body(index: Index, readers: Sequence[Reader]) -> Expr:
        return functools.reduce(lambda a, b: a | b, [primitive("isnan", read(index)) for read in readers])

    return Pointwise("bool", array.shape, parts_of(array), body, 2)


def is_not_zero(array: Array) -> Array:
    """Where an array of real numbers is not zero."""
    zero = const(0, array.dtype)
    return Pointwise("bool", array.shape, (array,), lambda index, readers: primitive("ne", readers[0](index), zero))


def is_zero(array: Numbers) -> Array:
    """Where an array is zero."""

    def body(index: Index, readers: Sequence[Reader]) -> Expr:
        values = [read(index) for read in readers]
        return functools.reduce(lambda a, b: a & b, [primitive("eq", v, const(0, v.dtype)) for v in values])

    return Pointwise("bool", array.shape, parts_of(array), body, 1)


def swapped(array: Numbers) -> Any:
    """The matrices with rows for columns."""
    *lead, rows, columns = range(array.ndim)
    return arranged(array, [*lead, columns, rows])


def triangle(array: Numbers, lower: bool) -> Any:
    """The matrices with zeros outside of the lower or upper triangle."""

    def of_part(part: Array) -> Array:
        def body(index: Index, readers: Sequence[Reader]) -> Expr:
            row, column = index[-2:]
            inside = column <= row if lower else row <= column
            return primitive("select", inside, readers[0](index), const(0, part.dtype))

        return Pointwise(part.dtype, part.shape, (part,), body, 2)

    return each_part(of_part, array)


def side(lower: bool) -> str:
    """The word for a triangle in the names of routines."""
    return "lower" if lower else "upper"


def taken(array: Numbers, shape: Sequence[Expr]) -> Any:
    """The first rows and columns of matrices, so many that this is the shape."""
    return each_part(lambda p: Pointwise(p.dtype, shape, (p,), lambda index, readers: readers[0](index), 0), array)


def padded(array: Numbers, shape: Sequence[Expr]) -> Any:
    """Arrays at the beginning of larger ones, with zeros behind."""

    def of_part(part: Array) -> Array:
        write = Write(
            part.shape, (part,), lambda index, readers: index, lambda index, readers: readers[0](index)
        )  # fmt: skip
        return Assembled(part.dtype, shape, literal(0, part.dtype, shape), [write])

    return each_part(of_part, array)


def identities(of: Matrices, order: Expr, like: Numbers) -> Numbers:
    """An identity matrix for each member of the batch."""
    dtype = parts_of(like)[0].dtype
    one, zero = const(1, dtype), const(0, dtype)
    made = Pointwise(
        dtype, (*of.lead, order, order), (),
        lambda index, readers: primitive("select", primitive("eq", index[-2], index[-1]), one, zero),
    )  # fmt: skip
    return complex_from_real(made) if isinstance(like, ComplexArray) else made


def diagonal(array: Numbers, length: Expr) -> Any:
    """The diagonals of matrices."""

    def of_part(part: Array) -> Array:
        return Pointwise(
            part.dtype, (*part.shape[:-2], length), (part,),
            lambda index, readers: readers[0]((*index, index[-1])), 1,
        )  # fmt: skip

    return each_part(of_part, array)


def as_column(array: Numbers) -> Any:
    """Vectors as matrices of one column."""
    return arranged(array, [*range(array.ndim), None])


def as_row(array: Numbers) -> Any:
    """Vectors as matrices of one row."""
    return arranged(array, [*range(array.ndim - 1), None, array.ndim - 1])


def only(array: Numbers, axis: int) -> Any:
    """The array without a dimension of length 1, the last (-1) or the one before."""
    return arranged(array, [d for d in range(array.ndim) if d != array.ndim + axis])
