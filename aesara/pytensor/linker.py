"""The linker ``"aesara"`` of PyTensor, and its rewrite rules."""

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

__all__ = ["AesaraLinker", "scalar_positions"]


class AesaraLinker(JITLinker):
    """Compiles a graph of PyTensor to a function of this package.

    Shared variables of PyTensor are shared variables of this function, with the same storage cells. An updated
    generator stays the same object, and draws advance it. If a graph returns the state of a generator without updating
    it, generators are passed as arguments and results instead.
    """

    #: whether calls return a single result instead of a list; the maker of the function sets it
    unpack_single = False
    #: the compiled function, and the inputs of the graph that are its arguments
    compiled: Function | None = None
    explicit: Sequence[PyTensorVariable] = ()

    def fgraph_convert(
        self, fgraph: PyTensorGraph, storage_map: dict[PyTensorVariable, list[Any]], **kwargs: Any
    ) -> Callable[..., Any]:
        cells = {variable: storage_map[variable] for variable in _inputs_with_cells(fgraph)}
        shared_variables = {variable: shared_with_cell(variable, cell) for variable, cell in cells.items()}
        parts = joined_parts(fgraph)
        lines = Lines(model_in_use(), parts)
        inputs, outputs = convert_graph(fgraph.inputs, fgraph.outputs, shared_variables, lines)
        self.explicit = [variable for variable in fgraph.inputs if variable not in shared_variables]
        updated = {
            o: fgraph.inputs[i] for o, i in fgraph.update_mapping.items() if fgraph.inputs[i] in shared_variables
        }
        results = [output for o, output in enumerate(outputs) if o not in updated]
        is_single = len(results) == 1 and self.unpack_single
        compiled = self.compiled = function(
            [converted for converted, variable in zip(inputs, fgraph.inputs) if variable not in shared_variables],
            (results[0] if is_single else results) if results else None,
            updates=[(shared_variables[variable], outputs[o]) for o, variable in updated.items()],
            on_unused_input="ignore",
        )
        compiled.trust_input = True
        for variable, argument in zip(self.explicit, compiled.maker.fgraph.inputs):
            if variable in parts:
                name_parts(compiled.maker.fgraph, argument, parts[variable])
        updated_cells = [(o, cells[variable]) for o, variable in sorted(updated.items())]
        scalar_outputs = scalar_positions(fgraph.outputs)

        def call(*values: Any) -> list[Any] | None:
            result = compiled(*values)
            results_with_updates = [result] if is_single else result or []
            for position, cell in updated_cells:
                results_with_updates.insert(position, cell[0])
            for position in scalar_outputs:
                results_with_updates[position] = results_with_updates[position][()]
            return results_with_updates or None

        return call if updated_cells or is_single or scalar_outputs or not results else compiled

    def make_all(self, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        run, *rest = super().make_all(*args, **kwargs)

        @wraps(run)
        def run_with_own_errors(*args: Any, **kwargs: Any) -> Any:
            try:
                return run(*args, **kwargs)
            except Exception as error:
                original = _original_error(error)
                if original is error:
                    raise
                raise original from original.__cause__

        return run_with_own_errors, *rest

    def jit_compile(self, fn: Callable[..., Any]) -> Callable[..., Any]:
        return fn

    def create_thunk_inputs(self, storage_map: dict[PyTensorVariable, list[Any]]) -> list[Any]:
        from_cells = _inputs_with_cells(self.fgraph)
        return [storage_map[variable] for variable in self.fgraph.inputs if variable not in from_cells]


def scalar_positions(outputs: Sequence[PyTensorVariable]) -> list[int]:
    """Return the positions of outputs whose type is PyTensor's scalar type; their values are NumPy
    scalars, not arrays.
    """
    return [position for position, output in enumerate(outputs) if isinstance(output.type, ScalarType)]


def _inputs_with_cells(fgraph: PyTensorGraph) -> set[PyTensorVariable]:
    """Return the inputs whose storage is shared: shared tensors, and generators if the graph returns only updated
    states.

    The new value of an updated variable is read from its cell after a call, so nothing else may change the cell.
    """
    generators = {variable for variable in fgraph.inputs if isinstance(variable.type, PyTensorGeneratorType)}
    updates = {o: fgraph.inputs[i] for o, i in fgraph.update_mapping.items()}
    for o, output in enumerate(fgraph.outputs):
        if isinstance(output.type, PyTensorGeneratorType) and updates.get(o) not in generators:
            generators = set()
    return generators | {variable for variable in fgraph.inputs if is_shared_tensor(variable)}


def _original_error(error: Exception) -> BaseException:
    """Return the original exception if PyTensor has raised a copy of it with a node added.

    PyTensor (2.38) has a single thunk for the graph; the node that it adds is always that of the first output.
    """
    context = None if getattr(error, "_names_node", False) else error.__context__
    is_copy = context is not None and type(context) is type(error) and str(error).startswith(str(context))
    return context if context is not None and is_copy else error


@node_rewriter([CheckAndRaise])
def _replace_parameter_checks(fgraph: PyTensorGraph, node: PyTensorApply) -> Sequence[PyTensorVariable] | None:
    """``check(value, conditions)`` -> ``switch(all(conditions), value, -inf)`` for PyMC's checks of parameters."""
    if not getattr(node.op, "can_be_replaced_by_ninf", False):
        return None
    value, *conditions = node.inputs
    return [pt.switch(pt.all([pt.all(condition) for condition in conditions]), value, -float("inf"))]


@node_rewriter([CheckAndRaise])
def _remove_parameter_checks(fgraph: PyTensorGraph, node: PyTensorApply) -> Sequence[PyTensorVariable] | None:
    """``check(value, conditions)`` -> ``value`` for PyMC's checks of parameters."""
    return [node.inputs[0]] if hasattr(node.op, "can_be_replaced_by_ninf") else None


@node_rewriter([DisconnectedGrad, GradClip, GradScale, ZeroGrad])
def _remove_gradient_ops(fgraph: PyTensorGraph, node: PyTensorApply) -> Sequence[PyTensorVariable]:
    """``disconnected_grad(x)`` -> ``x``, and likewise for other Ops that only affect gradients."""
    return list(node.inputs)


#: rules of PyTensor that a mode includes by name
_named_rules = EquilibriumDB()
for _rule, _name in (
    (_replace_parameter_checks, "local_check_parameter_to_ninf_switch"),
    (_remove_parameter_checks, "local_remove_check_parameter"),
):
    _named_rules.register(_name, _rule, use_db_name_as_tag=False)
_named_rules.register("no_marks_for_gradients", _remove_gradient_ops, "aesara", use_db_name_as_tag=False)
optdb.register("aesara", _named_rules, position=0.5)
