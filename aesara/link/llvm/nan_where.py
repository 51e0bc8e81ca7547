"""Native code with checks for NaNs, and a search for their origin.

The check is native: a reduction over the outputs and the new values of shared variables, fused with the loops that
compute them, and one branch. Only if it fails, the reference machine computes the call again, node by node.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from aesara.errors import NanFound
from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Apply, Variable
from aesara.ifelse import IfElse
from aesara.link.basic import InputCell
from aesara.link.llvm.callable import NativeCallable
from aesara.link.llvm.linker import LLVMLinker
from aesara.link.llvm.marshalling import MarshallingCallable
from aesara.link.nan_origin import Origin
from aesara.tensor.core.check_and_raise import CheckAndRaise
from aesara.tensor.core.tensor_type import TensorType
from aesara.tensor.elementwise.ops import bitwise_or, isinf, isnan

__all__ = ["NanWhereLinker"]


class NanWhereLinker(LLVMLinker):
    """`LLVMLinker` with a check for NaNs.

    Parameters
    ----------
    nan, inf
        The values to look for.
    everywhere
        Check the results of all nodes, not only those that the function returns.
    """

    def __init__(self, nan: bool = True, inf: bool = False, everywhere: bool = False, **kwargs: Any) -> None:
        self.nan, self.inf, self.everywhere = nan, inf, everywhere
        # Graphs that native code declines run on the reference machine, where each node is checked.
        super().__init__(**kwargs)
        self.callback = self._after_node

    def _after_node(self, node: Apply, thunk: Any, storage_map: Any, compute_map: Any) -> None:
        Origin(self.nan, self.inf).after_node(node, thunk, storage_map, compute_map)

    def make_callable(
        self,
        fgraph: FunctionGraph,
        inputs: Sequence[InputCell],
        n_outputs: int,
        updates: dict[int, int],
        unpack_single: bool,
        fallback: Callable[..., Any],
        timed: bool = False,
        lent: Sequence[int] = (),
    ) -> NativeCallable | MarshallingCallable:
        # New values are checked before they replace the old ones, so they cannot be computed in place.
        lent = list(dict.fromkeys((*lent, *updates)))
        native = super().make_callable(fgraph, inputs, n_outputs, updates, unpack_single, fallback, timed, lent)
        if isinstance(native, NativeCallable):
            native.form = None  # a pickled function's graph has no checks
        return native

    def checks(self, fgraph: FunctionGraph) -> list[Variable]:
        """Return a check of the function's results, or of all results."""
        watched = [variable for variable in fgraph.outputs if _can_be_nan(variable)]
        # Values that only one branch of an `ifelse` needs are not computed if the other one is taken.
        if self.everywhere and not any(isinstance(node.op, IfElse) for node in fgraph.apply_nodes):
            watched = [v for node in fgraph.toposort() for v in node.outputs if _can_be_nan(v)]
        if not watched:
            return []
        found = functools.reduce(bitwise_or, [self._is_bad(v).any() for v in dict.fromkeys(watched)])
        return [CheckAndRaise(NanFound, self._name())(found, ~found)]

    def _is_bad(self, variable: Variable) -> Any:
        if self.nan and self.inf:
            return bitwise_or(isnan(variable), isinf(variable))
        return isnan(variable) if self.nan else isinf(variable)

    def _name(self) -> str:
        return " or ".join(name for name, enabled in (("nan", self.nan), ("inf", self.inf)) if enabled)


def _can_be_nan(variable: Variable) -> bool:
    return (
        variable.owner is not None
        and isinstance(variable.type, TensorType)
        and variable.type.is_dense
        and variable.type.dtype.startswith(("float", "complex"))
    )
