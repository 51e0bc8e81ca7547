"""The state of lowering one graph."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from aesara.graph.nodes import Apply, Constant, Variable
from aesara.ir.buffers import Buffer, longest
from aesara.ir.expr import PART_OF, Expr, cast, const, load, op, var
from aesara.ir.program import Input
from aesara.ir.symbols import ArgumentName, DefinedSize, InputSize
from aesara.lower.arrays import Array, ComplexView, Definition, External, LoopRow, Pointwise, PythonNode, Reader, Source
from aesara.lower.constants import ConstantTable
from aesara.lower.errors import ErrorInfo, Unsupported
from aesara.lower.guards import GuardTable
from aesara.lower.items import ItemList
from aesara.lower.sizes import SizeFacts

__all__ = ["Context", "array_in_memory", "is_complex"]


class Context:
    """The state of lowering one graph: arrays of variables, inputs, and nodes that run in Python.

    Constants (`ConstantTable`), items in order (`ItemList`), equalities of sizes (`SizeFacts`) and run-time checks
    (`GuardTable`) are parts with classes of their own; their methods are also methods of the context.
    """

    def __init__(self, outer: Context | None = None) -> None:
        self.outer = outer
        #: description of an inner context, for messages
        self.location = ""
        #: arrays captured from the outer context; None if capturing is not allowed
        self.captured: list[LoopRow] | None = None
        self._names: itertools.count[int] = itertools.count(1) if outer is None else outer._names
        #: prefix of the names of buffers
        self.prefix = "" if outer is None else f"{self.fresh('l')}_"
        # An inner context shares inputs, constants and errors, and starts with the known equalities of sizes.
        self.inputs: list[Input] = [] if outer is None else outer.inputs
        self.constants: ConstantTable = ConstantTable() if outer is None else outer.constants
        self.errors: list[ErrorInfo] = [] if outer is None else outer.errors
        #: nodes that only one side of a lazy choice needs, by choice and side
        self.branches: dict[tuple[Apply, int], list[Apply]] = {} if outer is None else outer.branches
        self.sizes: SizeFacts = SizeFacts(None if outer is None else outer.sizes)
        item_list = ItemList()
        guards = GuardTable(item_list, self.sizes, self.errors)
        self.items = item_list.items
        self.add, self.ensure_added = item_list.add, item_list.ensure_added
        self.canonical, self.same_size, self.equate = self.sizes.canonical, self.sizes.same_size, self.sizes.equate
        self.guard, self.require_equal = guards.guard, guards.require_equal
        self.constant_data = self.constants.data_of
        self.arrays: dict[Variable, Array] = {}
        #: the parts of variables with composite values, such as sparse matrices
        self.parts_of: dict[Variable, tuple[Variable, ...]] = {}
        #: the numbers of the items that lowering a node has added
        self.item_numbers: dict[Apply, Sequence[int]] = {}
        self.python_nodes: list[tuple[Apply, tuple[Variable, ...]]] = []
        #: reasons why nodes run in Python
        self.reasons: dict[Apply, str] = {}
        #: nodes whose results are no arrays; they run inside the Python node that reads them
        self.deferred: set[Apply] = set()
        #: cache of arrays that several lowerings may build, by their description
        self.parts: dict[tuple[Any, ...], Array] = {}
        #: the elements of vectors that are built from 0-d arrays
        self.vectors: dict[Array, tuple[Array, ...]] = {}
        #: smallest and largest entry of integer arrays
        self.ranges: dict[Array, tuple[Expr, Expr]] = {}
        #: for arrays of positions along a dimension: its size, and whether positions ascend
        self.positions_in: dict[Array, tuple[Expr, bool]] = {}
        #: size expressions of integer 0-d arrays
        self._size_of: dict[Array, Expr] = {}

    def inside_loop(self) -> Context:
        """Return a context for the body of a loop."""
        inner = Context(self)
        inner.location = "in the step of a loop"
        return inner

    def inside_branch(self) -> Context:
        """Return a context for one side of a choice, which captures arrays of this one."""
        inner = self.inside_loop()
        inner.location = "on one side of a choice"
        inner.captured, inner.parts_of = [], dict(self.parts_of)
        return inner

    def has(self, variable: Variable) -> bool:
        """Return whether this context or an outer one has lowered a variable."""
        if variable in self.arrays:
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
        self.set_memory(variable, local)

    def fresh(self, letter: str) -> str:
        """Return a name that is unique in the program."""
        return f"{letter}{next(self._names)}"

    def fresh_size(self) -> DefinedSize:
        """Return a unique name for a computed size."""
        return DefinedSize(self.fresh("h"))

    # -- arrays ----------------------------------------------------------------------------------------------

    def set(self, variable: Variable, array: Array) -> None:
        """Set the array of a variable; dtypes must agree."""
        dtype = getattr(variable.type, "dtype", array.dtype)
        if array.dtype != dtype:
            raise TypeError(f"{variable} has dtype {dtype}, and was lowered to an array of {array.dtype}.")
        self.arrays[variable] = self.ensure_added(array)

    def set_memory(self, variable: Variable, memory: Array) -> None:
        """Set the array of a variable by the array in memory."""
        self.set(variable, array_in_memory(variable, memory))

    def array(self, variable: Variable) -> Array:
        """Return the array of a variable."""
        array = self.arrays.get(variable)
        if array is None:
            self._make_constant(variable)
            array = self.arrays[variable]
        return array

    def in_memory(self, variable: Variable) -> Array:
        """Return the array of a variable as it crosses the boundary of the program."""
        return self.ensure_added(self.array(variable).memory)

    def _make_constant(self, variable: Variable) -> None:
        if not isinstance(variable, Constant):
            if self.captured is None:
                raise Unsupported(f"a value of type {variable.type}")
            self._capture(variable)
            return
        self.set(variable, self.constants.lower(variable))

    def add_input(self, variable: Variable, implicit: bool) -> None:
        dtype, static, is_generator = element_type(variable), static_shape(variable), variable.type.in_words
        number = len(self.inputs)
        most = longest(dtype, len(static))
        shape = tuple(const(n) if n is not None else var(InputSize(number, d, most)) for d, n in enumerate(static))
        if is_complex(variable):
            shape += (const(2),)
        buffer = Buffer(ArgumentName(f"a{number}"), dtype, shape, is_complex(variable))
        self.inputs.append(Input(buffer, static, implicit, is_generator))
        self.set_memory(variable, Source(buffer.name, dtype, shape))

    # -- sizes -----------------------------------------------------------------------------------------------

    def size_from(self, array: Array) -> Expr:
        """Convert an integer 0-d array to a size expression."""
        size = self.integer_from(array)
        if array.dtype == "uint64":  # a number above 2**63 - 1 must not become negative
            size = op("select", size < 0, const(2**63 - 1), size)
        return size

    def integer_from(self, array: Array) -> Expr:
        """Reinterpret an integer 0-d array as int64: inline if it is arithmetic on sizes, else as a definition."""
        number = self._size_of.get(array)
        if number is None:
            number = self._inline(array)
            if number is None:
                number = var(self.fresh_size())
                self.add(Definition(number.attr, array))
            self._size_of[array] = number
        return number

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

    # -- nodes that run in Python ----------------------------------------------------------------------------

    def python_node(self, node: Apply, leaves: Sequence[Variable], reason: str) -> list[Array]:
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
            if is_complex(out):
                shape.append(const(2))
            results.append(External(producer, element_type(out), shape))
        producer.results = tuple(results)
        self.python_nodes.append((node, tuple(leaves)))
        old_states = iter([self.arrays[v] for v in node.inputs if v.type.in_words and v in self.arrays])
        return [
            self._with_length_of(result, next(old_states, None)) if out.type.in_words else array_in_memory(out, result)
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
    return "uint64" if variable.type.in_words else PART_OF.get(variable.type.dtype, variable.type.dtype)


def is_complex(variable: Variable) -> bool:
    return getattr(variable.type, "dtype", None) in PART_OF


def array_in_memory(variable: Variable, memory: Array) -> Array:
    """Return the array of a variable whose array in memory is `memory`."""
    return ComplexView(memory) if is_complex(variable) else memory


def static_shape(variable: Variable) -> tuple[int | None, ...]:
    """Return the static shape of a variable; a generator is a vector of words."""
    return (None,) if variable.type.in_words else tuple(getattr(variable.type, "shape", ()))


def _reader_of(value: Expr) -> Reader:
    return lambda index: value


def _as_index(e: Expr) -> Expr | None:
    if e.dtype.startswith("float"):
        return None
    return cast(e, "int64")
