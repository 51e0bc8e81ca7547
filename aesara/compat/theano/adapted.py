"""Functions that have other parameters in Theano than here."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Collection, Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Any

import aesara.tensor as at
from aesara.configdefaults import config
from aesara.graph import traversal
from aesara.graph.cloning import clone_replace
from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Apply, Constant, Variable
from aesara.graph.op import Op
from aesara.graph.shared import SharedVariable
from aesara.graph.utils import MetaType
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.linear_algebra.solve import Solve, SolveTriangular
from aesara.tensor.reductions.softmax import log_softmax
from aesara.tensor.reductions.softmax import softmax as softmax_along
from aesara.tensor.signal.pool import pool_2d

__all__ = [
    "TheanoFunctionGraph",
    "TheanoOp",
    "TheanoTensorVariable",
    "ancestors",
    "change_flags",
    "clone",
    "graph_inputs",
    "hashtype",
    "logsoftmax",
    "max_pool_2d",
    "nodes_between",
    "orphans",
    "patternbroadcast",
    "softmax",
    "solve_op",
    "variables",
    "variables_and_orphans",
]


class TheanoOp(Op):
    """The base class of Theano's Ops, whose ``infer_shape`` takes the node and the shapes only."""

    def __init_subclass__(cls, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        own = vars(cls).get("infer_shape")
        if own is None or len(inspect.signature(own).parameters) != 3:
            return

        @functools.wraps(own)
        def infer_shape(self: object, fgraph: FunctionGraph, node: Apply, shapes: object) -> Any:
            return own(self, node, shapes)

        setattr(cls, "infer_shape", infer_shape)  # noqa: B010


class _TheanoVariables(MetaType):
    """In Theano, constants and shared variables are no instances of `TensorVariable`."""

    def __instancecheck__(cls, instance: object) -> bool:
        if cls is not TheanoTensorVariable:
            return super().__instancecheck__(instance)
        return isinstance(instance, TensorVariable) and not isinstance(instance, (Constant, SharedVariable))


class TheanoTensorVariable(TensorVariable, metaclass=_TheanoVariables):
    """The class of tensors that are neither constant nor shared."""


class _AllFunctionGraphs(MetaType):
    """A graph that a program for Theano has not made itself is one of Theano's graphs, too."""

    def __instancecheck__(cls, instance: object) -> bool:
        if cls is not TheanoFunctionGraph:
            return super().__instancecheck__(instance)
        return isinstance(instance, FunctionGraph)


class TheanoFunctionGraph(FunctionGraph, metaclass=_AllFunctionGraphs):
    """The class of graphs, with a method that Theano's have."""

    def disown(self) -> None:
        """Release the nodes of the graph, so that they may belong to another one.

        This has no effect: nodes do not know here which graphs they belong to.
        """


def hashtype(op: object) -> int:
    """The hash of Theano's Ops that have no parameters: that of the class."""
    return hash(type(op))


def change_flags(**flags: object) -> AbstractContextManager[Any]:
    """Change options within a block, or in a function that it decorates."""
    return config.change_flags(**flags)


def clone(
    output: Any, replace: Any = None, strict: bool = True, share_inputs: bool = True, copy_inputs: object = None
) -> Any:
    """Copy a graph with some variables replaced; `copy_inputs` is an old name of `share_inputs`."""
    shared = share_inputs if copy_inputs is None else copy_inputs
    return clone_replace(output, replace, rebuild_strict=strict, copy_inputs_over=shared)


def ancestors(variable_list: Iterable[Variable], blockers: Collection[Variable] | None = None) -> list[Variable]:
    """The variables that `variable_list` is computed from, as a list; those of `blockers` are not followed."""
    return list(traversal.ancestors(variable_list, blockers))


def graph_inputs(variable_list: Iterable[Variable], blockers: Collection[Variable] | None = None) -> list[Variable]:
    """The variables without owner among the `ancestors`, as a list."""
    return list(traversal.graph_inputs(variable_list, blockers))


def variables(i: Collection[Variable], o: Iterable[Variable]) -> list[Variable]:
    """The variables from `o` back to `i`, as a list."""
    return list(traversal.vars_between(i, o))


def orphans(i: Collection[Variable], o: Iterable[Variable]) -> list[Variable]:
    """The variables without owner that `o` needs beside `i`, as a list."""
    return list(traversal.orphans_between(i, o))


def variables_and_orphans(i: Collection[Variable], o: Iterable[Variable]) -> tuple[list[Variable], list[Variable]]:
    """Both of these lists."""
    return variables(i, o), orphans(i, o)


def nodes_between(i: Collection[Variable], o: Iterable[Variable]) -> set[Apply]:
    """The nodes that compute `o` from `i`, as a set."""
    return set(traversal.applys_between(i, o))


def _rows(x: object) -> Any:
    """A vector as a matrix with one row."""
    x = at.as_tensor_variable(x)
    return at.shape_padleft(x) if x.type.ndim == 1 else x


def softmax(c: object, axis: int | None = None) -> Any:
    """The softmax of each row, as a matrix also for a vector; along an axis of any tensor, if one is given."""
    return softmax_along(_rows(c), -1) if axis is None else softmax_along(c, axis)


def logsoftmax(c: object, axis: int | None = None) -> Any:
    """The logarithm of `softmax`."""
    return log_softmax(_rows(c), -1) if axis is None else log_softmax(c, axis)


def max_pool_2d(
    input: Any, ds: Any, ignore_border: bool | None = None, st: Any = None, padding: Any = (0, 0), mode: str = "max"
) -> Any:
    """`pool_2d` by the name and with the parameters that it had at first."""
    return pool_2d(input, ds, bool(ignore_border), st, padding, mode)


def patternbroadcast(x: object, broadcastable: Sequence[bool]) -> Any:
    """Say of each dimension whether it has length one and is broadcast."""
    x = at.as_tensor_variable(x)
    ones = [d for d, one in enumerate(broadcastable) if one and x.type.shape[d] != 1]
    others = [d for d, one in enumerate(broadcastable) if not one and x.type.shape[d] == 1]
    if ones:
        x = at.specify_broadcastable(x, *ones)
    return at.unbroadcast(x, *others) if others else x


def solve_op(
    A_structure: str = "general", lower: bool = False, overwrite_A: bool = False, overwrite_b: bool = False
) -> Op:
    """Return the op that solves equations with a structured matrix, by its name in Theano.

    Parameters
    ----------
    A_structure
        ``general``, ``symmetric``, ``lower_triangular`` or ``upper_triangular``.
    lower
        Which triangle of a symmetric matrix is read.
    overwrite_A, overwrite_b
        Accepted for compatibility; have no effect: rewriting decides what is done in place.
    """
    if A_structure in ("lower_triangular", "upper_triangular"):
        return SolveTriangular(lower=A_structure == "lower_triangular")
    kinds = {"general": "gen", "symmetric": "sym"}
    if A_structure not in kinds:
        raise ValueError(
            f"Solve: A_structure must be one of {', '.join([*kinds, 'lower_triangular', 'upper_triangular'])}; got "
            f"{A_structure!r}."
        )
    return Solve(assume_a=kinds[A_structure], lower=lower)


solve_lower_triangular = solve_op("lower_triangular")
solve_upper_triangular = solve_op("upper_triangular")
solve_symmetric = solve_op("symmetric")
