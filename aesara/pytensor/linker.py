"""PyTensor's linker and mode ``"AESARA"``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytensor.tensor as pt
from pytensor import config
from pytensor.compile.mode import Mode, optdb, register_linker, register_mode
from pytensor.graph.basic import Apply as PyTensorApply
from pytensor.graph.basic import Variable as PyTensorVariable
from pytensor.graph.fg import FunctionGraph as PyTensorGraph
from pytensor.graph.rewriting.basic import node_rewriter
from pytensor.graph.rewriting.db import EquilibriumDB, RewriteDatabaseQuery
from pytensor.link.basic import JITLinker
from pytensor.raise_op import CheckAndRaise
from pytensor.tensor.random.type import RandomGeneratorType as PyTensorGeneratorType

from aesara.compile.function import function
from aesara.pytensor.conversion import convert_graph, shared_with_cell

__all__ = ["AESARA", "AesaraLinker"]


class AesaraLinker(JITLinker):  # type: ignore[misc]
    """Compiles a graph of PyTensor as one function of ours.

    Generators are shared variables of that function, whose cells are PyTensor's: a generator that is updated stays the
    same object, and draws advance it. Where a graph gives back the state of a generator without updating it, generators
    are inputs, and go through the function as other values do.
    """

    def fgraph_convert(
        self, fgraph: PyTensorGraph, storage_map: dict[PyTensorVariable, list[Any]], **kwargs: Any
    ) -> Callable[..., Any]:
        generators = _generators_with_cells(fgraph)
        cells = {variable: storage_map[variable] for variable in generators}
        given = {variable: shared_with_cell(variable, cell) for variable, cell in cells.items()}
        inputs, outputs = convert_graph(fgraph.inputs, fgraph.outputs, given)
        explicit = [ours for ours, variable in zip(inputs, fgraph.inputs) if variable not in given]
        updated = {o: fgraph.inputs[i] for o, i in fgraph.update_mapping.items() if fgraph.inputs[i] in given}
        compiled = function(
            explicit,
            [output for o, output in enumerate(outputs) if o not in updated],
            updates=[(given[variable], outputs[o]) for o, variable in updated.items()],
            on_unused_input="ignore",
        )
        compiled.trust_input = True
        if not updated:
            return compiled
        places = [(o, cells[variable]) for o, variable in sorted(updated.items())]

        def call(*values: Any) -> list[Any]:
            results = compiled(*values)
            for place, cell in places:
                results.insert(place, cell[0])
            return results

        return call

    def jit_compile(self, fn: Callable[..., Any]) -> Callable[..., Any]:
        return fn

    def create_thunk_inputs(self, storage_map: dict[PyTensorVariable, list[Any]]) -> list[Any]:
        from_cells = _generators_with_cells(self.fgraph)
        return [storage_map[variable] for variable in self.fgraph.inputs if variable not in from_cells]


def _generators_with_cells(fgraph: PyTensorGraph) -> set[PyTensorVariable]:
    """The generators among a graph's inputs, if each state that the graph gives back updates one of them."""
    found = {variable for variable in fgraph.inputs if isinstance(variable.type, PyTensorGeneratorType)}
    updates = {o: fgraph.inputs[i] for o, i in fgraph.update_mapping.items()}
    for o, output in enumerate(fgraph.outputs):
        if isinstance(output.type, PyTensorGeneratorType) and updates.get(o) not in found:
            return set()
    return found


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


#: rules of PyTensor's that a mode asks for by name, because what they do is not for the compiler to decide
_asked_for = EquilibriumDB()
for _rule, _name in (
    (_checks_of_parameters, "local_check_parameter_to_ninf_switch"),
    (_no_checks_of_parameters, "local_remove_check_parameter"),
):
    _asked_for.register(_name, _rule, use_db_name_as_tag=False)
optdb.register("aesara", _asked_for, position=0.5)

register_linker("aesara", AesaraLinker())
#: our rules do the work: of PyTensor's only those run without which a graph has no meaning (variables with labelled
#: dimensions become tensors) and those that the user's mode names, but none that writes to inputs
AESARA = Mode(
    linker="aesara",
    optimizer=RewriteDatabaseQuery(include=["aesara", "minimum_compile"], exclude=["inplace", "random_make_inplace"]),
)
register_mode("AESARA", AESARA)


def _accept_by_name(name: str) -> None:
    """Let ``pytensor.config.mode`` take a mode's name, which it knows of its own modes only."""
    option = config._config_var_dict["mode"]
    known = option._apply
    option._apply = lambda value: value if value == name else known(value)


_accept_by_name("AESARA")
