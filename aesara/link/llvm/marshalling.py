"""Functions whose arguments and results consist of several arrays, as functions of these arrays.

Native code takes and returns arrays only. If an input or output of the graph consists of several, the graph is compiled
from and to the parts, and a callable around it takes arguments apart and puts results together. A generator that is an
argument or a result is represented by its words (`ir.generators`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from aesara.graph.cloning import clone_get_equiv
from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Variable
from aesara.graph.parts import PutTogether, TakeApart, flat, group_by_type, has_parts
from aesara.ir.generators import generator_of, words_of
from aesara.link.basic import Declined, InputCell
from aesara.link.llvm.callable import NativeCallable
from aesara.link.llvm.words import GeneratorOfWords, WordsOfGenerator, origin_of, words_type
from aesara.records import dataclass

__all__ = ["Marshalling", "MarshallingCallable"]


@dataclass(frozen=True)
class Marshalling:
    """A graph from and to the parts of its inputs and outputs.

    Attributes
    ----------
    graph
        The graph.
    inputs
        Its inputs; parts are explicit inputs.
    updates
        Index of an output -> index of the input whose cell it replaces.
    outer
        The inputs of the original graph.
    results
        The types of the original graph's results.
    origins
        For each generator among these, by number, the input whose next state it is, if any.
    """

    graph: FunctionGraph
    inputs: tuple[InputCell, ...]
    updates: dict[int, int]
    outer: tuple[InputCell, ...]
    results: tuple[Any, ...]
    origins: dict[int, int | None]

    @classmethod
    def of(
        cls, graph: FunctionGraph, cells: Sequence[InputCell], n_outputs: int, updates: dict[int, int]
    ) -> Marshalling | None:
        """Return the marshalling of a graph; None if all its inputs and outputs are arrays."""
        in_words = {one.variable for one in cells if one.variable.type.in_words and not one.implicit}
        origins = {k: origin_of(v, graph.inputs) for k, v in enumerate(graph.outputs[:n_outputs]) if v.type.in_words}
        if not (in_words or origins or any(map(has_parts, (*graph.inputs, *graph.outputs)))):
            return None
        for output, k in updates.items():
            if has_parts(graph.outputs[output]) or graph.inputs[k] in in_words:
                raise Declined(f"an update of a value of type {graph.outputs[output].type}")
        for variable in in_words:
            if _is_overwritten(variable, graph):
                raise Declined(f"an argument of type {variable.type} that is overwritten")
        flat_inputs: list[Variable | tuple[Variable, ...]] = []
        memo: dict[Any, Any] = {}
        for variable in graph.inputs:
            if variable in in_words:
                made: Any = words_type(f"{variable}")
                memo[variable] = GeneratorOfWords(variable.type)(made)
            else:
                made = _parts(variable) if has_parts(variable) else variable.clone()
                memo[variable] = PutTogether(variable.type)(*made) if isinstance(made, tuple) else made
            flat_inputs.append(made)
        copies = clone_get_equiv(graph.inputs, graph.outputs, memo=memo)
        flat_outputs = [
            tuple(TakeApart()(copies[v], return_list=True)) if has_parts(v) else copies[v] for v in graph.outputs
        ]
        for k in origins:
            flat_outputs[k] = WordsOfGenerator()(flat_outputs[k])
        output_indices, input_indices = _flat_indices(flat_outputs), _flat_indices(flat_inputs)
        inner_updates = {output_indices[output]: input_indices[k] for output, k in updates.items()}
        flat_cells = []
        for cell, one in zip(cells, flat_inputs, strict=True):
            if isinstance(one, tuple):
                flat_cells += [InputCell(part, [None], False) for part in one]
            elif cell.variable in in_words:
                flat_cells.append(InputCell(one, [None], False))
            else:
                flat_cells.append(InputCell(one, cell.cell, cell.implicit))
        inner = FunctionGraph(flat(flat_inputs), flat(flat_outputs), clone=False, update_mapping=inner_updates)
        results = tuple(variable.type for variable in graph.outputs[:n_outputs])
        return cls(inner, tuple(flat_cells), inner_updates, tuple(cells), results, origins)

    @property
    def n_outputs(self) -> int:
        """Number of the graph's outputs that are returned."""
        return sum(len(kind.part_types() or (kind,)) for kind in self.results)


def _parts(variable: Variable) -> tuple[Variable, ...]:
    kinds = variable.type.part_types()
    assert kinds is not None
    return tuple([kind(f"{variable}[{k}]") for k, kind in enumerate(kinds)])


def _is_overwritten(variable: Variable, graph: FunctionGraph) -> bool:
    """Return whether a node changes the state of a generator in place, as the caller has allowed."""
    return any(index in read for node, index in graph.clients[variable] for read in _overwritten_by(node))


def _overwritten_by(node: Any) -> Iterable[Sequence[int]]:
    return () if isinstance(node, str) else getattr(node.op, "destroy_map", {}).values()


def _flat_indices(items: Sequence[Any]) -> list[int]:
    """Return the index of each item in the flattened sequence."""
    output_indices, index = [], 0
    for item in items:
        output_indices.append(index)
        index += len(item) if isinstance(item, tuple) else 1
    return output_indices


class MarshallingCallable:
    """Calls native code with the parts of arguments, and puts its results together.

    Parameters
    ----------
    marshalling
        The graph of parts.
    native
        The native code.
    unpack_single
        Whether a single result is returned itself, and None without results.
    fallback
        Called with the caller's arguments: it converts them and calls `careful`.
    """

    #: compiled again after unpickling
    form = None

    def __init__(
        self, marshalling: Marshalling, native: NativeCallable, unpack_single: bool, fallback: Callable[..., Any]
    ) -> None:
        self.marshalling, self.native = marshalling, native
        self.graph, self.implicit = marshalling.graph, [one.implicit for one in marshalling.inputs]
        self._unpack_single, self._fallback = unpack_single, fallback

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        return self._fallback(*args, **kwargs)

    def arguments_of(self, values: Sequence[Any]) -> list[Any]:
        """Return the arguments of the native code: parts of values, and the other values."""
        explicit = iter(values)
        arguments: list[Any] = []
        for one in self.marshalling.outer:
            kind = one.variable.type
            if kind.part_types() is not None:
                arguments += kind.take_apart(one.cell[0] if one.implicit else next(explicit))
            elif kind.in_words and not one.implicit:
                arguments.append(words_of(next(explicit)))
            elif not one.implicit:
                arguments.append(next(explicit))
        return arguments

    def careful(self, values: Sequence[Any]) -> Any:
        """Run on explicit values of the right types."""
        returned = self.native.careful(self.arguments_of(values))
        results = [
            kind.put_together(one) if isinstance(one, tuple) else one
            for kind, one in zip(self.marshalling.results, group_by_type(self.marshalling.results, returned))
        ]
        for k, origin in self.marshalling.origins.items():
            results[k] = generator_of(results[k], self._seeds(origin, values))
        if not self._unpack_single:
            return results
        return results[0] if results else None

    def _seeds(self, origin: int | None, values: Sequence[Any]) -> Any:
        """Return the seed sequence of an input's generator, to spawn others from."""
        if origin is None:
            return None
        one = self.marshalling.outer[origin]
        before = sum(not cell.implicit for cell in self.marshalling.outer[:origin])
        return one.variable.type.seeds_of_value(one.cell[0] if one.implicit else values[before])

    def __getattr__(self, name: str) -> Any:
        if name in ("native", "refuse_numbers", "entry"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)
        return getattr(self.native, name)
