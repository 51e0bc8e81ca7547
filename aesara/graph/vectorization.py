"""Graphs for many inputs at once: variables replaced by others with extra dimensions in front.

Nothing here knows tensors: `vectorize_graph` walks the graph once and asks `vectorize_node`, which dispatches on
the op, what each node becomes. The rules are in `aesara.tensor.vectorization`.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import singledispatch
from typing import Any, TypeVar

from aesara.configdefaults import config
from aesara.graph.messages import describe
from aesara.graph.nodes import Apply, Variable
from aesara.graph.op import Op, compute_test_value
from aesara.graph.source import inherit_source
from aesara.graph.traversal import io_toposort

__all__ = ["batch_ndim", "vectorize_graph", "vectorize_node"]

#: What a mapping replaces may be variables of one class.
V = TypeVar("V", bound=Variable)


def core_ndim(variable: Variable) -> int:
    """Return the number of dimensions of a variable; what is no tensor has none."""
    return getattr(variable.type, "ndim", 0)


def batch_ndim(batched: Variable, core: Variable) -> int:
    """Return how many dimensions `batched` has in front of those of `core`."""
    return core_ndim(batched) - core_ndim(core)


@singledispatch
def vectorize_node(op: Op, node: Apply, *batched_inputs: Variable) -> Apply | Sequence[Variable]:
    """Return a node, or outputs, that apply `node` along the batch dimensions of new inputs.

    Ops register what they need with ``@vectorize_node.register(OpClass)``.

    Parameters
    ----------
    op
        The op of the node, by whose class rules are found.
    node
        The node, with inputs without batch dimensions.
    *batched_inputs
        For each input what takes its place. They may differ in the number of batch dimensions; these are
        aligned at the last one, and broadcast.

    Returns
    -------
    Apply or sequence of Variable
        A node, or one variable for each output of the given node.
    """
    raise NotImplementedError(f"{op} of type {type(op).__name__} cannot be vectorized: there is no rule for it.")


def _replacements(replace: Any) -> dict[Variable, Variable]:
    """Check the argument `replace` of `vectorize_graph`."""
    if isinstance(replace, Mapping):
        pairs: Iterable[Any] = replace.items()
    elif isinstance(replace, Iterable):
        pairs = replace
    else:
        raise TypeError(f"`replace` must map variables to variables; got {type(replace).__name__}.")
    checked: dict[Variable, Variable] = {}
    for old, new in pairs:
        if not isinstance(old, Variable):
            raise TypeError(f"Only variables can be replaced, not {describe(old)}.")
        checked[old] = check_core_type(old, new)
    return checked


@singledispatch
def fit_core_type(core_type: Any, old: Variable, new: Any) -> Variable:
    """Return `new` as a variable that can take the place of `old`: by default one of a type that fits."""
    return core_type.filter_variable(new)


def check_core_type(old: Variable, new: Any) -> Variable:
    """Return `new` as a replacement of `old` by the rule of its type; see `fit_core_type`."""
    return fit_core_type(old.type, old, new)


def vectorize_graph(
    outputs: Variable | Sequence[Variable],
    replace: Mapping[V, Variable] | Iterable[tuple[Variable, Variable]],
) -> Any:
    """Return a graph with some variables replaced by others that have extra dimensions in front.

    The rest of the graph follows: it computes, for each entry along these batch dimensions, what the original
    graph computes for this entry. Batch dimensions of several replacements are broadcast together, aligned at
    the last one.

    Parameters
    ----------
    outputs
        A variable or a sequence of variables.
    replace
        Maps variables to what takes their place, of the same dtype and with the same number of dimensions or
        more. What does not depend on any of them stays as it is.

    Returns
    -------
    Variable or list of Variable
        Like `outputs`.

    Examples
    --------
    >>> import numpy as np
    >>> import aesara.tensor as at
    >>> from aesara.graph.replace import vectorize_graph
    >>> x = at.vector("x")
    >>> y = at.exp(x) / at.exp(x).sum()
    >>> rows = at.matrix("rows")
    >>> vectorize_graph(y, {x: rows}).eval({rows: np.zeros((3, 2))})
    array([[0.5, 0.5],
           [0.5, 0.5],
           [0.5, 0.5]])
    """
    single = isinstance(outputs, Variable)
    wanted = [outputs] if isinstance(outputs, Variable) else list(outputs)
    for variable in wanted:
        if not isinstance(variable, Variable):
            raise TypeError(f"Expected a variable or a sequence of variables as `outputs`; got {describe(variable)}.")
    memo = _replacements(replace)
    for node in io_toposort(list(memo), wanted):
        if any(variable in memo for variable in node.inputs):
            _replace_node(node, memo)
    results = [memo.get(variable, variable) for variable in wanted]
    return results[0] if single else results


def _replace_node(node: Apply, memo: dict[Variable, Variable]) -> None:
    """Note in `memo` what takes the place of the outputs of a node."""
    inputs = [memo.get(variable, variable) for variable in node.inputs]
    with inherit_source(node):
        if all(batch_ndim(new, old) == 0 for new, old in zip(inputs, node.inputs)):
            new_outputs = node.clone_with_new_inputs(inputs, strict=False).outputs
        else:
            result = vectorize_node(node.op, node, *inputs)
            if isinstance(result, Apply) and config.compute_test_value != "off":
                compute_test_value(result)
            new_outputs = result.outputs if isinstance(result, Apply) else list(result)
    if len(new_outputs) != len(node.outputs):
        raise ValueError(
            f"The rule to vectorize {node.op} returned {len(new_outputs)} outputs; the node has {len(node.outputs)}."
        )
    for old, new in zip(node.outputs, new_outputs):
        if batch_ndim(new, old) < 0:
            raise ValueError(
                f"The rule to vectorize {node.op} returned an output of type {new.type} in place of {old.type}."
            )
        # Outputs that are replaced themselves keep what the caller put in their place.
        memo.setdefault(old, new)
