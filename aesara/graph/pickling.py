"""Pickling and deep copying of graphs of any depth.

Ordinary pickling follows references and would recurse once per node. Here the ancestors of a computed
variable are described by one flat `Block`: nodes in topological order that name their inputs by number. A
variable is pickled as (its block, its number), and the pickler's memo keeps the block alive for the extent of
the dump, so that further variables of the same dump find their nodes in it and shared nodes stay shared.

A `NestedPickle` is a pickle inside of a pickle: bytes that are decoded when somebody asks for what is in them.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from copy import copy
from types import FunctionType
from typing import Any
from weakref import ref

from aesara.graph.checksums import checksum_of, confirm
from aesara.graph.source import SourceLine, resolve
from aesara.graph.utils import Scratchpad

#: Number of changes made in place to nodes; blocks described before the last change are checked before use.
epoch = [0]


class Block:
    """A flat description of nodes."""

    __slots__ = ("__weakref__", "described", "epoch", "nodes", "numbers")

    def __init__(self, nodes: list[Any] | None = None):
        self.nodes: list[Any] = [] if nodes is None else nodes
        self.numbers = {node: number for number, node in enumerate(self.nodes)}
        self.described = [(node.op, tuple(node.inputs)) for node in self.nodes]
        self.epoch = epoch[0]
        own_reference = ref(self)
        for node in self.nodes:
            node._block = own_reference

    def is_fresh(self) -> bool:
        """Tell whether the nodes still are what they were when the block was made."""
        if self.epoch == epoch[0]:
            return True
        now = epoch[0]
        for node, (op, inputs) in zip(self.nodes, self.described):
            current = node.inputs
            if node.op is not op or len(current) != len(inputs):
                return False
            for new, old in zip(current, inputs):
                if new is not old:
                    return False
        self.epoch = now
        return True

    def __reduce_ex__(self, protocol: Any) -> Any:
        program, state = _describe(self)
        return (_rebuild, program, state)

    def __setstate__(self, state: dict[Any, Any]) -> None:
        for position, attributes in state["nodes"]:
            self.nodes[position].__dict__.update(attributes)
        for position, index, attributes in state["variables"]:
            self.nodes[position].outputs[index].__dict__.update(attributes)


def _live_block(node: Any) -> Block | None:
    reference = node._block
    if reference is None:
        return None
    block = reference()
    return block if block is not None and block.is_fresh() else None


def block_of(nodes: Any) -> Block | None:
    """Describe the given nodes and all their ancestors that no live block describes yet."""
    order: list[Any] = []
    entered: set[Any] = set()
    done: set[Any] = set()
    stack = list(nodes)
    while stack:
        node = stack[-1]
        if node in done:
            stack.pop()
            continue
        if node in entered:
            stack.pop()
            done.add(node)
            order.append(node)
            continue
        if _live_block(node) is not None:
            stack.pop()
            continue
        entered.add(node)
        for variable in node.inputs:
            parent = variable.owner
            if parent is not None and parent not in done:
                if parent in entered:
                    raise ValueError(f"The graph has a cycle through {parent.op}; it cannot be pickled.")
                stack.append(parent)
    return Block(order) if order else None


def _locate(node: Any) -> tuple[Block, int]:
    block = _live_block(node) or block_of([node])
    assert block is not None
    return block, block.numbers[node]


def reduce_variable(variable: Any) -> Any:
    """Return the pickle form of a computed variable."""
    block, number = _locate(variable.owner)
    return (_get_variable, (block, number, variable.index))


def reduce_node(node: Any) -> Any:
    """Return the pickle form of an Apply node."""
    return (_get_node, _locate(node))


def _get_variable(block: Block, number: int, index: int) -> Any:
    return block.nodes[number].outputs[index]


def _get_node(block: Block, number: int) -> Any:
    return block.nodes[number]


class _Table:
    """Numbers objects by identity in the order of their first occurrence."""

    def __init__(self) -> None:
        self.items: list[Any] = []
        self._numbers: dict[int, int] = {}

    def number(self, item: Any) -> int:
        number = self._numbers.get(id(item))
        if number is None:
            number = self._numbers[id(item)] = len(self.items)
            self.items.append(item)
        return number


_VARIABLE_STRUCTURE = ("type", "owner", "index", "name")
_NODE_STRUCTURE = ("op", "inputs", "outputs", "_source", "_block")


def _extra(state: dict[Any, Any], structure: tuple[str, ...]) -> dict[Any, Any]:
    return {key: value for key, value in state.items() if key not in structure and value is not None}


def _describe(block: Block) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the structure of the block, and what may refer back to it: tags and other attributes."""
    leaves, ops, types, classes = _Table(), _Table(), _Table(), _Table()
    # Outputs are numbered after all leaves; until their count is known, they are written as negative numbers.
    output_numbers: dict[int, int] = {}
    rows: list[tuple[Any, ...]] = []
    sources: list[tuple[Any, ...] | None] = []
    node_state: list[tuple[int, dict[Any, Any]]] = []
    variable_state: list[tuple[int, int, dict[Any, Any]]] = []
    for position, node in enumerate(block.nodes):
        inputs = []
        for variable in node.inputs:
            number = output_numbers.get(id(variable))
            inputs.append(leaves.number(variable) if number is None else number)
        outputs = []
        for index, variable in enumerate(node.outputs):
            output_numbers[id(variable)] = -1 - len(output_numbers)
            outputs.append((classes.number(type(variable)), types.number(variable.type), variable.name))
            state = variable.__getstate__()
            extra = _extra(state, _VARIABLE_STRUCTURE)
            if extra:
                variable_state.append((position, index, extra))
        rows.append((classes.number(type(node)), ops.number(node.op), inputs, outputs))
        source = resolve(node._source)
        sources.append(None if source is None else tuple(source))
        extra = _extra(node.__dict__, _NODE_STRUCTURE)
        if extra:
            node_state.append((position, extra))
    program = (leaves.items, ops.items, types.items, classes.items, rows, _pack(sources))
    return program, {"nodes": node_state, "variables": variable_state}


def _pack(sources: list[Any]) -> tuple[list[Any], list[int]]:
    numbers: dict[Any, Any] = {}
    packed = [numbers.setdefault(source, len(numbers)) for source in sources]
    return list(numbers), packed


def _rebuild(
    leaves: list[Any], ops: list[Any], types: list[Any], classes: list[Any], rows: list[Any], sources: tuple[Any, ...]
) -> Block:
    nodes: list[Any] = []
    computed: list[Any] = []  # the output written as -1 - n is computed[n]
    places = [None if place is None else SourceLine(*place) for place in sources[0]]
    for (cls, op, inputs, outputs), place in zip(rows, sources[1]):
        node_class = classes[cls]
        node = node_class.__new__(node_class)
        node.op = ops[op]
        node.inputs = [leaves[number] if number >= 0 else computed[-1 - number] for number in inputs]
        node.outputs = []
        node._source = places[place]
        for index, (variable_cls, type_, name) in enumerate(outputs):
            variable_class = classes[variable_cls]
            variable = variable_class.__new__(variable_class)
            variable.type = types[type_]
            variable.owner = node
            variable.index = index
            variable.name = name
            node.outputs.append(variable)
            computed.append(variable)
        nodes.append(node)
    block = Block.__new__(Block)
    block.nodes = nodes
    return block


class NestedPickle:
    """Objects as bytes, which are decoded when they are asked for.

    Attributes
    ----------
    data
        The bytes.
    outside
        Objects that are no part of the bytes, so that they stay the same as elsewhere in the surrounding pickle.
    """

    __slots__ = ("data", "outside")

    def __init__(self, data: bytes, outside: list[Any]) -> None:
        self.data = data
        self.outside = outside

    def __getstate__(self) -> tuple[bytes, list[Any], bytes]:
        return self.data, self.outside, self._checksum()

    def __setstate__(self, state: tuple[bytes, list[Any], bytes]) -> None:
        self.data, self.outside, checksum = state
        confirm(checksum, self._checksum(), "graph")

    def _checksum(self) -> bytes:
        return checksum_of(len(self.outside), self.data, self.outside)

    @classmethod
    def pack(cls, content: Any, stays_outside: Callable[[Any], bool]) -> NestedPickle | None:
        """Encode an object; None if only the surrounding pickler may know how to do it.

        Parameters
        ----------
        content
            What is packed.
        stays_outside
            Tells of each object in it whether it is kept beside the bytes instead.
        """
        file = io.BytesIO()
        pickler = _NestedPickler(file, stays_outside)
        try:
            pickler.dump(content)
        except Exception:
            return None
        return cls(file.getvalue(), pickler.outside)

    def unpack(self) -> Any:
        """Decode what was packed."""
        return _NestedUnpickler(io.BytesIO(self.data), self.outside).load()


class _NestedPickler(pickle.Pickler):
    def __init__(self, file: io.BytesIO, stays_outside: Callable[[Any], bool]) -> None:
        super().__init__(file, pickle.HIGHEST_PROTOCOL)
        self.stays_outside = stays_outside
        self.outside: list[Any] = []
        self.places: dict[int, int] = {}

    def persistent_id(self, obj: Any) -> int | None:
        place = self.places.get(id(obj))
        if place is None and self.stays_outside(obj):
            place = self.places[id(obj)] = len(self.outside)
            self.outside.append(obj)
        return place

    def reducer_override(self, obj: Any) -> Any:
        if isinstance(obj, (type, FunctionType)) and obj.__module__ == "__main__":
            raise pickle.PicklingError(f"{obj} may not be there where the pickle is read")  # cloudpickle sends it along
        return reduce_stripped(obj)


class _NestedUnpickler(pickle.Unpickler):
    def __init__(self, file: io.BytesIO, outside: list[Any]) -> None:
        super().__init__(file)
        self.outside = outside

    def persistent_load(self, pid: int) -> Any:
        return self.outside[pid]


#: names of what is left out of tags, together with the places where nodes were made; None: nothing is left out
_left_out: ContextVar[frozenset[str] | None] = ContextVar("left_out", default=None)


@contextmanager
def stripping(tags: Iterable[str]) -> Iterator[None]:
    """Within, pickles with `reduce_stripped` leave out these attributes of tags, and where nodes were made."""
    token = _left_out.set(frozenset(tags))
    try:
        yield
    finally:
        _left_out.reset(token)


def reduce_stripped(obj: Any) -> Any:
    """Reduce an object without the attributes that `stripping` leaves out; for a pickler's ``reducer_override``."""
    names = _left_out.get()
    if names is None:
        return NotImplemented
    if isinstance(obj, Block):
        rebuild, (*structure, _), state = obj.__reduce_ex__(pickle.HIGHEST_PROTOCOL)
        return rebuild, (*structure, _pack([None] * len(obj.nodes))), state
    if isinstance(obj, Scratchpad) and not names.isdisjoint(obj.__dict__):
        obj = copy(obj)
        for name in names.intersection(obj.__dict__):
            del obj.__dict__[name]
        return obj.__reduce_ex__(pickle.HIGHEST_PROTOCOL)
    return NotImplemented
