"""Linkers with the names of Aesara's C linkers, which run native code.

No C code is generated; the names are for programs that link graphs themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import TYPE_CHECKING, Any

from aesara.graph.container import StorageCell, StorageMap
from aesara.graph.fg import FunctionGraph
from aesara.graph.messages import describe
from aesara.graph.nodes import Apply, Variable
from aesara.link.basic import Declined, InputCell, JITLinker, Linker, PerformLinker, containers_of
from aesara.link.llvm.linker import LLVMLinker

if TYPE_CHECKING:
    from aesara.compile.profile_stats import ProfileStats


__all__ = ["CLinker", "DualLinker", "OpWiseCLinker"]


class CLinker(JITLinker):
    """A linker that runs graphs as native code, or in Python if they have no native form.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> from aesara.graph.fg import FunctionGraph
    >>> x = at.dvector("x")
    >>> run, (given,), (result,) = CLinker().accept(FunctionGraph([x], [x * x], clone=False)).make_thunk()
    >>> given.value = [1.0, 2.0]
    >>> run()
    >>> result.value
    array([1., 4.])
    """

    def fgraph_convert(
        self,
        fgraph: FunctionGraph,
        order: list[Apply],
        input_storage: list[StorageCell],
        output_storage: list[StorageCell],
        storage_map: StorageMap,
        **kwargs: object,
    ) -> Callable[..., Any]:
        cells = [InputCell(variable, [None], False) for variable in fgraph.inputs]
        try:
            native = LLVMLinker().make_callable(fgraph, cells, len(fgraph.outputs), {}, False, _refuse)
        except Declined:
            return _in_python(fgraph)
        return lambda *values: native.careful(list(values))

    def create_thunk_inputs(self, storage_map: StorageMap) -> list[StorageCell]:
        assert self.fgraph is not None
        return [storage_map[variable] for variable in self.fgraph.inputs]

    def jit_compile(self, fn: Callable[..., object]) -> Callable[..., Any]:
        return fn


#: Aesara compiles C code for each node, this package native code for whole graphs.
OpWiseCLinker = CLinker


def _refuse(*args: object, **kwargs: object) -> Any:
    raise TypeError("The values do not have the types of the graph's inputs.")


def _in_python(fgraph: FunctionGraph) -> Callable[..., Any]:
    run, inputs, outputs = PerformLinker(allow_gc=False).accept(fgraph, fgraph.outputs).make_thunk()

    def call(*values: object) -> list[Any]:
        for container, value in zip(inputs, values):
            container.storage[0] = value
        run()
        return [container.storage[0] for container in outputs]

    return call


class DualLinker(Linker):
    """A linker that runs graphs in Python and natively, and raises an error if the results differ.

    Parameters
    ----------
    checker
        Called for each output with the two one-element lists that hold its values, to raise an error. By default the
        values must be equal up to rounding, as defined by the output's type.
    """

    def __init__(self, checker: Callable[[StorageCell, StorageCell], Any] | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.fgraph: FunctionGraph | None = None
        self.no_recycling: Sequence[Variable] = ()
        self.checker = checker

    def accept(
        self, fgraph: FunctionGraph, no_recycling: Sequence[Variable] | None = None, profile: ProfileStats | None = None
    ) -> DualLinker:
        """Set the graph to link; return the linker itself, or a new one if it has a graph already."""
        if self.fgraph is not None and self.fgraph is not fgraph:
            return type(self)(self.checker, allow_gc=self._allow_gc).accept(fgraph, no_recycling, profile)
        self.fgraph = fgraph
        self.no_recycling = no_recycling or ()
        return self

    def make_thunk(
        self,
        input_storage: Sequence[StorageCell] | None = None,
        output_storage: Sequence[StorageCell] | None = None,
        **kwargs: object,
    ) -> Any:
        fgraph = self.fgraph
        if fgraph is None:
            raise ValueError("The linker has no graph; call accept(fgraph) first.")
        reference = PerformLinker(allow_gc=self._allow_gc).accept(fgraph, self.no_recycling)
        run, inputs, outputs = reference.make_thunk(input_storage, output_storage)
        native, native_inputs, native_outputs = CLinker().accept(fgraph, fgraph.outputs).make_thunk()

        def run_both() -> None:
            for given, copied in zip(inputs, native_inputs):
                copied.storage[0] = deepcopy(given.storage[0])
            run()
            native()
            for variable, one, other in zip(fgraph.outputs, outputs, native_outputs):
                if self.checker is not None:
                    self.checker(one.storage, other.storage)
                elif not variable.type.values_eq_approx(one.storage[0], other.storage[0]):
                    raise ValueError(
                        f"The output {describe(variable)} is {one.storage[0]!r} in Python, but natively "
                        f"{other.storage[0]!r}."
                    )

        return run_both, containers_of(fgraph.inputs, [c.storage for c in inputs]), outputs
