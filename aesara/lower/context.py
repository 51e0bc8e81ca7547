"""The state of lowering one graph: arrays of variables, sizes, checks, facts about equal sizes, errors."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from enum import Enum
from typing import Any, TypeVar

import numpy as np

from aesara.graph.nodes import Apply, Constant, Variable
from aesara.ir.buffers import Buffer, longest
from aesara.ir.expr import Expr, cast, const, load, op, substitute, var, walk
from aesara.ir.program import Input
from aesara.ir.symbols import ArgumentName, ConstantName, DefinedSize, InputSize
from aesara.lower.arrays import (
    Array,
    Definition,
    External,
    Guard,
    Item,
    LoopRow,
    Pointwise,
    PythonNode,
    Reader,
    Source,
    literal,
)
from aesara.lower.complex import ComplexArray, complex_from_real, part_dtype, split
from aesara.records import dataclass

#: constants of at most this size are inlined, others are read from memory
_LARGEST_INLINED = 1


class Unsupported(Exception):
    """Raised for an Op, dtype or variant without native lowering; the node runs in Python, with this text as reason."""


Message = str | Callable[..., str]
AnyItem = TypeVar("AnyItem", bound=Item)


class Exemption(Enum):
    """Conditions on which indices that fail a check may still be valid, since they select nothing."""

    #: the second value, the length of a mask, is 0
    EMPTY_MASK = 1
    #: the entries of an index array may be broadcast to no elements
    NO_ELEMENTS = 2


@dataclass(frozen=True)
class ErrorInfo:
    """The error of a check: exception class, message with `{0}`, `{1}`... for the values, and the node.

    The message may also be a function of the values.  If a check with an exemption fails, the reference computes the
    call (`link.llvm.by_reference`).
    """

    kind: type[Exception]
    message: Message
    node: Apply | None
    exemption: Exemption | None = None

    def text(self, values: Sequence[int]) -> str:
        """Return the message for the run-time values."""
        return self.message.format(*values) if isinstance(self.message, str) else self.message(*values)


class Context:
    """The state of lowering one graph."""

    def __init__(self) -> None:
        self.arrays: dict[Variable, Array] = {}
        self.pairs: dict[Variable, ComplexArray] = {}
        #: in order of creation
        self.items: list[Item] = []
        #: the numbers of the items that lowering a node has added
        self.made: dict[Apply, Sequence[int]] = {}
        self.inputs: list[Input] = []
        self.constants: list[tuple[Buffer, np.ndarray]] = []
        self.errors: list[ErrorInfo] = []
        self.python_nodes: list[tuple[Apply, tuple[Variable, ...]]] = []
        self.reasons: dict[Apply, str] = {}
        #: cache of arrays that several lowerings may build, by their description
        self.parts: dict[tuple[Any, ...], Array] = {}
        #: the elements of vectors that are built from 0-d arrays
        self.vectors: dict[Array, tuple[Array, ...]] = {}
        #: smallest and largest entry of integer arrays
        self.ranges: dict[Array, tuple[Expr, Expr]] = {}
        #: for arrays of positions along a dimension: its size, and whether positions ascend
        self.positions_in: dict[Array, tuple[Expr, bool]] = {}
        #: the parts of variables with composite values, such as sparse matrices
        self.parts_of: dict[Variable, tuple[Variable, ...]] = {}
        #: nodes whose results are no arrays; they run inside the Python node that reads them
        self.deferred: set[Apply] = set()
        #: prefix of the names of buffers
        self.prefix = ""
        #: description of an inner context, for messages
        self.location = ""
        #: nodes that only one side of a lazy choice needs, by choice and side
        self.branches: dict[tuple[Apply, int], list[Apply]] = {}
        #: arrays captured from the outer context; None if capturing is not allowed
        self.captured: list[LoopRow] | None = None
        self.outer: Context | None = None
        self._equal: dict[Expr, Expr] = {}
        self._names = itertools.count(1)
        self._sizes: dict[Array, Expr] = {}
        self._guards: dict[tuple[Any, ...], Guard] = {}
        self._expanded: dict[Expr, Expr] = {}

    def inside_loop(self) -> Context:
        """Return a context for the body of a loop, which shares constants, errors and equalities of sizes."""
        inner = Context()
        inner.prefix = self.fresh("l") + "_"
        inner.outer, inner.location = self, "in the step of a loop"
        inner.inputs, inner.constants, inner.errors = self.inputs, self.constants, self.errors
        inner._equal, inner._names, inner.branches = dict(self._equal), self._names, self.branches
        return inner

    def inside_branch(self) -> Context:
        """Return a context for one side of a choice, which captures arrays of this one."""
        inner = self.inside_loop()
        inner.location = "on one side of a choice"
        inner.captured, inner.parts_of = [], dict(self.parts_of)
        return inner

    def has(self, variable: Variable) -> bool:
        """Return whether this context or an outer one has lowered a variable."""
        if variable in self.arrays or variable in self.pairs:
            return True
        return self.outer is not None and self.outer.has(variable)

    def _capture(self, variable: Variable) -> None:
        """Import a variable of the outer context: inputs, constants and sizes as they are, others as buffers."""
        assert self.outer is not None and self.captured is not None
        array = self.outer.in_memory(variable)
        local = array.for_other_context()
        if local is None and array.ndim == 0 and array.dtype.lstrip("u").startswith("int"):
            # It may be a size, which must be known before the loop.
            number = cast(self.outer.integer_from(array), array.dtype)
            local = Pointwise(array.dtype, (), (), lambda index, readers: number, 0)
        elif local is None:
            self.captured.append(LoopRow(self.fresh("w"), array, None, array.shape))
            local = Source(self.captured[-1].name, array.dtype, array.shape)
        self.set(variable, split(local) if variable in self.outer.pairs else local)

    def fresh(self, letter: str) -> str:
        """Return a name that is unique in the program."""
        return f"{letter}{next(self._names)}"

    def fresh_size(self) -> DefinedSize:
        """Return a unique name for a computed size."""
        return DefinedSize(self.fresh("h"))

    # -- arrays ----------------------------------------------------------------------------------------------

    def add(self, item: AnyItem) -> AnyItem:
        """Append an item, after the arrays that it reads if it is an array."""
        if isinstance(item, Array):
            for operand, _ in item.reads():
                if operand.stamp < 0:
                    self.add(operand)
        item.stamp = len(self.items)
        self.items.append(item)
        return item

    def ensure_added(self, array: Array) -> Array:
        """Return the array, after adding it if it is new."""
        return array if array.stamp >= 0 else self.add(array)

    def set(self, variable: Variable, array: Array | ComplexArray) -> None:
        """Set the array of a variable; dtypes must agree."""
        dtype = getattr(variable.type, "dtype", array.dtype)
        if array.dtype != dtype:
            raise TypeError(f"{variable} has dtype {dtype}, and was lowered to an array of {array.dtype}.")
        for part in array.parts if isinstance(array, ComplexArray) else (array,):
            if part.stamp < 0:
                self.add(part)
        if isinstance(array, ComplexArray):
            self.pairs[variable] = array
        else:
            self.arrays[variable] = array

    def array(self, variable: Variable) -> Array:
        """Return the array of a variable that is not complex."""
        found = self.arrays.get(variable)
        if found is None:
            self._make_constant(variable)
            if variable in self.pairs:
                raise Unsupported(f"{variable.type.dtype} values")
            found = self.arrays[variable]
        return found

    def pair(self, variable: Variable) -> ComplexArray:
        """Return the parts of a variable; the imaginary part of a real one is zero."""
        self._make_constant(variable)
        found = self.pairs.get(variable)
        return complex_from_real(self.array(variable)) if found is None else found

    def in_memory(self, variable: Variable) -> Array:
        """Return the array of a variable as it crosses the boundary of the program: complex ones interleaved."""
        self._make_constant(variable)
        pair = self.pairs.get(variable)
        if pair is None:
            return self.array(variable)
        whole = pair.in_memory()
        return self.ensure_added(whole)

    def _make_constant(self, variable: Variable) -> None:
        if variable in self.arrays or variable in self.pairs:
            return
        if not isinstance(variable, Constant):
            if self.captured is None:
                raise Unsupported(f"a value of type {variable.type}")
            self._capture(variable)
            return
        self.set(variable, self._constant(variable))

    def _constant(self, variable: Constant) -> Array | ComplexArray:
        data = variable.data
        if not isinstance(data, (np.ndarray, np.generic, int, float, bool)):
            raise Unsupported(f"a constant of type {variable.type}")
        data = np.asarray(data)
        dtype = str(data.dtype)
        if dtype.startswith("complex"):
            return self._complex_constant(data)
        if data.size and data.size <= _LARGEST_INLINED:
            return literal(data.reshape(-1)[0].item(), dtype, [const(n) for n in data.shape])
        shape = tuple(const(n) for n in data.shape)
        buffer = Buffer(ConstantName(f"c{len(self.constants)}"), dtype, shape)
        self.constants.append((buffer, np.ascontiguousarray(data, dtype=data.dtype.newbyteorder("="))))
        return Source(buffer.name, dtype, shape)

    def _complex_constant(self, data: np.ndarray) -> ComplexArray:
        dtype, shape = part_dtype(str(data.dtype)), [const(n) for n in data.shape]
        if data.size and data.size <= _LARGEST_INLINED:
            number = data.reshape(-1)[0].item()
            return ComplexArray(literal(number.real, dtype, shape), literal(number.imag, dtype, shape))
        plain = np.ascontiguousarray(data, dtype=data.dtype.newbyteorder("=")).reshape(*data.shape, 1).view(dtype)
        buffer = Buffer(ConstantName(f"c{len(self.constants)}"), dtype, (*shape, const(2)), is_complex=True)
        self.constants.append((buffer, plain))
        return split(Source(buffer.name, dtype, buffer.shape))

    def constant_data(self, array: Array) -> np.ndarray | None:
        """Return the value of a constant array, or None."""
        for buffer, data in self.constants:
            if buffer.name == array.buffer:
                return data
        if isinstance(array, Pointwise) and not array.operands and all(n is const(1) for n in array.shape):
            value = array.body((const(0),) * array.ndim, ())
            if value.is_const:
                return np.full((1,) * array.ndim, value.attr, array.dtype)
        return None

    def add_input(self, variable: Variable, implicit: bool) -> None:
        dtype, static, is_generator = element_type(variable), static_shape(variable), variable.type.in_words
        is_complex = is_complex_variable(variable)
        number = len(self.inputs)
        most = longest(dtype, len(static))
        shape = tuple(const(n) if n is not None else var(InputSize(number, d, most)) for d, n in enumerate(static))
        if is_complex:
            shape += (const(2),)
        buffer = Buffer(ArgumentName(f"a{number}"), dtype, shape, is_complex)
        self.inputs.append(Input(buffer, static, implicit, is_generator))
        memory = Source(buffer.name, dtype, shape)
        self.set(variable, split(memory) if is_complex else memory)

    # -- sizes -----------------------------------------------------------------------------------------------

    def size_from(self, array: Array) -> Expr:
        """Convert an integer 0-d array to a size expression."""
        found = self.integer_from(array)
        if array.dtype == "uint64":  # a number above 2**63 - 1 must not become negative
            found = op("select", found < 0, const(2**63 - 1), found)
        return found

    def integer_from(self, array: Array) -> Expr:
        """Reinterpret an integer 0-d array as int64: inline if it is arithmetic on sizes, else as a definition."""
        found = self._sizes.get(array)
        if found is None:
            found = self._inline(array)
            if found is None:
                found = var(self.fresh_size())
                self.add(Definition(found.attr, array))
            self._sizes[array] = found
        return found

    def define_size(self, size: Expr) -> Expr:
        """Define a named size for an expression, so that expressions of it stay short."""
        name = var(self.fresh_size())
        self.add(Definition(name.attr, Pointwise("int64", (), (), lambda index, readers: size)))
        return name

    def _inline(self, array: Array) -> Expr | None:
        """Return the value of a 0-d array that depends only on sizes, constants and input scalars, or None."""
        if isinstance(array.buffer, ArgumentName) and not array.ndim:
            return _as_index(load(array.buffer, array.dtype, const(0)))
        if array.viewed is not None and array.viewed.ndim == 0:
            return self._inline(array.viewed)
        if not isinstance(array, Pointwise) or array.requires or array.ndim or array.cost > 5:
            return None
        values = []
        for operand in array.operands:
            value = self._inline(operand) if operand.ndim == 0 else None
            if value is None:
                return None
            values.append(cast(value, operand.dtype))
        return _as_index(array.body((), [_reader_of(v) for v in values]))

    def same_size(self, a: Expr, b: Expr) -> bool:
        return self.canonical(a) is self.canonical(b)

    def equate(self, a: Expr, b: Expr) -> None:
        """Record that two sizes are equal, as a check at the start of the program ensures."""
        a, b = self.canonical(a), self.canonical(b)
        if a is b or (a.is_const and b.is_const):
            return
        if b.is_const or (b.op == "var" and a.op not in ("var", "const")):
            a, b = b, a  # the representative is a constant if possible, else a variable
        if not is_known_at_entry((a, b)):
            return
        self._equal[b] = a
        self._expanded.clear()

    def canonical(self, e: Expr) -> Expr:
        """Return the representative of a size expression under the known equalities."""
        found = self._expanded.get(e)
        if found is None:
            found = substitute([e], self._equal.get, {})[0]
            seen = 0
            while found in self._equal or (seen < 8 and any(x in self._equal for x in walk([found]))):
                found = substitute([found], self._equal.get, {})[0]
                seen += 1
            self._expanded[e] = found
        return found

    # -- checks ----------------------------------------------------------------------------------------------

    def guard(
        self, condition: Expr, kind: type[Exception], message: Message, node: Apply | None,
        values: Sequence[Expr] = (), requires: Sequence[object] = (), exemption: Exemption | None = None,
    ) -> tuple[Guard, ...]:  # fmt: skip
        """Add a check; return the `requires` of arrays that rely on it, empty if it always holds."""
        if condition.is_const and condition.attr:
            return ()
        key = condition, tuple(requires)  # of two equal checks only the first can fail
        found = self._guards.get(key)
        if found is None:
            self.errors.append(ErrorInfo(kind, message, node, exemption))
            found = self.add(Guard(condition, len(self.errors) - 1, tuple(values), tuple(requires)))
            self._guards[key] = found
        return (found,)

    def require_equal(
        self, a: Expr, b: Expr, kind: type[Exception], message: Message, node: Apply | None,
        exemption: Exemption | None = None,
    ) -> tuple[Guard, ...]:  # fmt: skip
        """Check that two sizes are equal, and record it."""
        if self.same_size(a, b):
            return ()
        guards = self.guard(op("eq", a, b), kind, message, node, (a, b), exemption=exemption)
        self.equate(a, b)
        return guards

    # -- nodes that run in Python ----------------------------------------------------------------------------

    def python_node(self, node: Apply, leaves: Sequence[Variable], reason: str) -> list[Array | ComplexArray]:
        """Run a node in Python on the values of `leaves`."""
        if self.outer is not None:
            raise Unsupported(f"{node.op} {self.location}: {reason}")
        self.reasons[node] = reason
        index = len(self.python_nodes)
        producer = PythonNode(index, [self.in_memory(v) for v in leaves])
        self.add(producer)
        results: list[External] = []
        for k, out in enumerate(node.outputs):
            static = static_shape(out)
            shape = [const(n) if n is not None else var(DefinedSize(f"h{index}p{k}_{d}")) for d, n in enumerate(static)]
            is_complex = is_complex_variable(out)
            results.append(External(producer, element_type(out), [*shape, const(2)] if is_complex else shape))
            results[-1].is_complex = is_complex
        producer.results = tuple(results)
        self.python_nodes.append((node, tuple(leaves)))
        old_states = iter([self.arrays[v] for v in node.inputs if v.type.in_words and v in self.arrays])
        return [
            self._with_length_of(result, next(old_states, None))
            if out.type.in_words
            else split(result)
            if result.is_complex
            else result
            for out, result in zip(node.outputs, results, strict=True)
        ]

    def _with_length_of(self, state: Array, old_state: Array | None) -> Array:
        """Return the state of a generator with the length of the old one, if there is one.

        `link.llvm.python_nodes` checks that both are of the same kind.
        """
        if old_state is None:
            return state
        return self.add(Pointwise(state.dtype, old_state.shape, (state,), lambda index, readers: readers[0](index), 0))


def element_type(variable: Variable) -> str:
    """Return the dtype of a variable in memory: that of the parts if it is complex, uint64 for generators."""
    return "uint64" if variable.type.in_words else part_dtype(variable.type.dtype)


def is_complex_variable(variable: Variable) -> bool:
    return not variable.type.in_words and part_dtype(variable.type.dtype) != variable.type.dtype


def static_shape(variable: Variable) -> tuple[int | None, ...]:
    """Return the static shape of a variable; a generator is a vector of words."""
    return (None,) if variable.type.in_words else tuple(getattr(variable.type, "shape", ()))


def check_dtype(dtype: str) -> None:
    if dtype.startswith("complex"):
        raise Unsupported(f"{dtype} values")


def _reader_of(value: Expr) -> Reader:
    return lambda index: value


def _as_index(e: Expr) -> Expr | None:
    if e.dtype.startswith("float"):
        return None
    return cast(e, "int64")


def reads_only_inputs(e: Expr) -> bool:
    """Return whether an expression depends only on inputs and constants, and their sizes."""
    return not any(
        (x.op == "var" and isinstance(x.attr, DefinedSize))
        or (x.op == "load" and not isinstance(x.attr, (ArgumentName, ConstantName)))
        for x in walk([e])
    )


def is_known_at_entry(expressions: Iterable[Expr]) -> bool:
    """Return whether expressions depend only on sizes of inputs."""
    return not any(e.op == "load" or isinstance(e.attr, DefinedSize) for e in walk(expressions))
