"""PyTensor's linker ``"aesara"``, and the rules that go with it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

import pytensor.tensor as pt
from pytensor.compile.mode import optdb
from pytensor.gradient import DisconnectedGrad, GradClip, GradScale, ZeroGrad
from pytensor.graph.basic import Apply as PyTensorApply
from pytensor.graph.basic import Variable as PyTensorVariable
from pytensor.graph.fg import FunctionGraph as PyTensorGraph
from pytensor.graph.rewriting.basic import node_rewriter
from pytensor.graph.rewriting.db import EquilibriumDB
from pytensor.link.basic import JITLinker
from pytensor.raise_op import CheckAndRaise
from pytensor.scalar.basic import ScalarType
from pytensor.tensor.random.type import RandomGeneratorType as PyTensorGeneratorType

from aesara.compile.function import function
from aesara.compile.function.function import Function
from aesara.pytensor.conversion import convert_graph, is_shared_tensor, shared_with_cell
from aesara.pytensor.lines import Lines, joined_parts, model_in_use, name_parts

__all__ = ["AesaraLinker", "places_of_scalars"]


class AesaraLinker(JITLinker):  # type: ignore[misc]
    """Compiles a graph of PyTensor as one function of ours.

    Shared variables are shared variables of that function, whose cells are PyTensor's. A generator that is updated
    stays the same object, and draws advance it. Where a graph gives back the state of a generator without updating it,
    generators are inputs, and go through the function as other values do.
    """

    #: whether calls return a single result by itself, as the maker of the function says
    unpack_single = False
    #: what the graph has been compiled to, and those of the graph's inputs that it takes as arguments
    compiled: Function | None = None
    explicit: Sequence[PyTensorVariable] = ()

    def fgraph_convert(
        self, fgraph: PyTensorGraph, storage_map: dict[PyTensorVariable, list[Any]], **kwargs: Any
    ) -> Callable[..., Any]:
        cells = {variable: storage_map[variable] for variable in _inputs_with_cells(fgraph)}
        given = {variable: shared_with_cell(variable, cell) for variable, cell in cells.items()}
        parts = joined_parts(fgraph)
        lines = Lines(model_in_use(), parts)
        inputs, outputs = convert_graph(fgraph.inputs, fgraph.outputs, given, lines)
        self.explicit = [variable for variable in fgraph.inputs if variable not in given]
        updated = {o: fgraph.inputs[i] for o, i in fgraph.update_mapping.items() if fgraph.inputs[i] in given}
        results = [output for o, output in enumerate(outputs) if o not in updated]
        alone = len(results) == 1 and self.unpack_single
        compiled = self.compiled = function(
            [ours for ours, variable in zip(inputs, fgraph.inputs) if variable not in given],
            (results[0] if alone else results) if results else None,
            updates=[(given[variable], outputs[o]) for o, variable in updated.items()],
            on_unused_input="ignore",
        )
        compiled.trust_input = True
        for variable, taken in zip(self.explicit, compiled.maker.fgraph.inputs):
            if variable in parts:
                name_parts(compiled.maker.fgraph, taken, parts[variable])
        places = [(o, cells[variable]) for o, variable in sorted(updated.items())]
        scalars = places_of_scalars(fgraph.outputs)

        def call(*values: Any) -> list[Any] | None:
            made = compiled(*values)
            found = [made] if alone else made or []
            for place, cell in places:
                found.insert(place, cell[0])
            for place in scalars:
                found[place] = found[place][()]
            return found or None

        return call if places or alone or scalars or not results else compiled

    def make_all(self, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        run, *rest = super().make_all(*args, **kwargs)

        @wraps(run)
        def run_without_second_node(*args: Any, **kwargs: Any) -> Any:
            try:
                return run(*args, **kwargs)
            except Exception as error:
                original = _as_raised_here(error)
                if original is error:
                    raise
                raise original from original.__cause__

        return run_without_second_node, *rest

    def jit_compile(self, fn: Callable[..., Any]) -> Callable[..., Any]:
        return fn

    def create_thunk_inputs(self, storage_map: dict[PyTensorVariable, list[Any]]) -> list[Any]:
        from_cells = _inputs_with_cells(self.fgraph)
        return [storage_map[variable] for variable in self.fgraph.inputs if variable not in from_cells]


def places_of_scalars(outputs: Sequence[PyTensorVariable]) -> list[int]:
    """Which outputs of a graph are of PyTensor's scalars, whose values are NumPy's scalars and not arrays."""
    return [place for place, output in enumerate(outputs) if isinstance(output.type, ScalarType)]


def _inputs_with_cells(fgraph: PyTensorGraph) -> set[PyTensorVariable]:
    """The shared tensors among a graph's inputs; and generators, if each state that the graph gives back is an update.

    What an update changes is told from its cell after a call, so that nothing else may change it.
    """
    generators = {variable for variable in fgraph.inputs if isinstance(variable.type, PyTensorGeneratorType)}
    updates = {o: fgraph.inputs[i] for o, i in fgraph.update_mapping.items()}
    for o, output in enumerate(fgraph.outputs):
        if isinstance(output.type, PyTensorGeneratorType) and updates.get(o) not in generators:
            generators = set()
    return generators | {variable for variable in fgraph.inputs if is_shared_tensor(variable)}


def _as_raised_here(error: Exception) -> BaseException:
    """Return the exception behind one of PyTensor's that says the same and adds a node.

    To PyTensor (2.38) the whole graph is one thunk, and the node is the one that computes the first output, whatever
    failed.
    """
    behind = None if getattr(error, "_names_node", False) else error.__context__
    repeats = behind is not None and type(behind) is type(error) and str(error).startswith(str(behind))
    return behind if behind is not None and repeats else error


@node_rewriter([CheckAndRaise])
def _checks_of_parameters(fgraph: PyTensorGraph, node: PyTensorApply) -> Sequence[PyTensorVariable] | None:
    """PyMC's checks of parameters: minus infinity where one fails."""
    if not getattr(node.op, "can_be_replaced_by_ninf", False):
        return None
    value, *conditions = node.inputs
    return [pt.switch(pt.all([pt.all(condition) for condition in conditions]), value, -float("inf"))]


@node_rewriter([CheckAndRaise])
def _no_checks_of_parameters(fgraph: PyTensorGraph, node: PyTensorApply) -> Sequence[PyTensorVariable] | None:
    return [node.inputs[0]] if hasattr(node.op, "can_be_replaced_by_ninf") else None


@node_rewriter([DisconnectedGrad, GradClip, GradScale, ZeroGrad])
def _no_marks_for_gradients(fgraph: PyTensorGraph, node: PyTensorApply) -> Sequence[PyTensorVariable]:
    """Remove an Op that only affects gradients: by the time of compilation they have been built."""
    return list(node.inputs)


#: rules of PyTensor's that a mode asks for by name, because what they do is not for the compiler to decide
_asked_for = EquilibriumDB()
for _rule, _name in (
    (_checks_of_parameters, "local_check_parameter_to_ninf_switch"),
    (_no_checks_of_parameters, "local_remove_check_parameter"),
):
    _asked_for.register(_name, _rule, use_db_name_as_tag=False)
_asked_for.register("no_marks_for_gradients", _no_marks_for_gradients, "aesara", use_db_name_as_tag=False)
optdb.register("aesara", _asked_for, position=0.5)
