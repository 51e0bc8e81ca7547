"""`ifelse`: a choice between two branches, of which only one is computed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aesara.configdefaults import config
from aesara.graph.disconnected_type import disconnected_type
from aesara.graph.fg import FunctionGraph
from aesara.graph.messages import describe
from aesara.graph.nodes import Apply, Constant, Variable
from aesara.graph.op import Op
from aesara.graph.pullback import is_disconnected
from aesara.graph.rewriting.databases import canonicalize, optdb
from aesara.graph.rewriting.node_rewriters import node_rewriter
from aesara.graph.rewriting.rewriter import GraphRewriter
from aesara.graph.support import FULL, Support, complement, intersection, union
from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.tensor_type import TensorType
from aesara.tensor.derivatives.structure import SupportsOfVariables, structure_of_output
from aesara.tensor.elementwise.elemwise import Everywhere, tensor_condition
from aesara.tensor.elementwise.ops import switch
from aesara.tensor.shapes.specify_shape import unbroadcast

__all__ = [
    "CondMerge",
    "IfElse",
    "cond_make_inplace",
    "cond_merge_ifs_false",
    "cond_merge_ifs_true",
    "cond_merge_random_op",
    "cond_remove_identical",
    "config",
    "ifelse",
    "ifelse_lift_single_if_through_acceptable_ops",
    "local_known_choice",
    "optdb",
]


class IfElse(Op):
    """A lazy choice between two branches.

    The inputs are the condition, the values of the first branch (selected if the condition is not zero), and those of
    the second branch.

    Parameters
    ----------
    n_outs
        The number of values of a branch.
    as_view
        Whether outputs may be views of the values of the first branch instead of copies.  Values of the second branch
        are always copied, since an output can be declared a view of one input only.
    name
        A name for messages.
    """

    __props__ = ("as_view", "n_outs", "name")
    #: rules do not assume that the operands of a lazy op are computed
    is_lazy = True

    def __init__(self, n_outs: int, as_view: bool = False, name: str | None = None):
        self.n_outs, self.as_view, self.name = int(n_outs), as_view, name
        if as_view:
            self.view_map = {k: [1 + k] for k in range(self.n_outs)}

    def __str__(self) -> str:
        inside = ",".join([*([self.name] if self.name else []), *(["inplace"] if self.as_view else [])])
        return f"if{{{inside}}}"

    def make_node(self, condition: object, *branches: object) -> Apply:
        if len(branches) != 2 * self.n_outs:
            raise ValueError(f"{self}: expected {2 * self.n_outs} values, got {len(branches)}.")
        condition = as_tensor_variable(condition)
        if condition.type.ndim:
            raise TypeError(f"The condition argument must be a truthy scalar value; got {condition.type}.")
        then, other, types = [], [], []
        for first, second in zip(branches[: self.n_outs], branches[self.n_outs :]):
            first, second, type_of_both = _unify_types(first, second)
            then.append(first)
            other.append(second)
            types.append(type_of_both)
        return Apply(self, [condition, *then, *other], [type_of_both() for type_of_both in types])

    def infer_shape(self, fgraph: FunctionGraph, node: Apply, input_shapes: Sequence[Any]) -> list[Any]:
        then, other = input_shapes[1 : 1 + self.n_outs], input_shapes[1 + self.n_outs :]
        return [
            None if first is None else tuple(
                [a if a is b else switch(node.inputs[0], a, b) for a, b in zip(first, second)]
            )
            for first, second in zip(then, other)
        ]  # fmt: skip

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        same_position = [[k == o for o in range(self.n_outs)] for k in range(self.n_outs)]
        # As for `switch`, the gradient for the condition is zero.
        return [[True] * self.n_outs, *same_position, *same_position]

    def L_op(self, inputs: Sequence[Any], outputs: Sequence[object], output_gradients: Sequence[Any]) -> list[Any]:
        connected = [k for k, g in enumerate(output_gradients) if not is_disconnected(g)]
        result: list[Any] = [disconnected_type() for _ in inputs]
        if not connected:
            return result
        result[0] = inputs[0].zeros_like(dtype="floatX")
        gradients = [output_gradients[k] for k in connected]
        choice = IfElse(len(connected), self.as_view, self.name)
        for first in (1, 1 + self.n_outs):
            # The gradients for values of the other branch are zeros of the same shape.
            zeros = [inputs[first + k].zeros_like().astype(g.type.dtype) for k, g in zip(connected, gradients)]
            branches = (gradients, zeros) if first == 1 else (zeros, gradients)
            chosen_gradients = choice(inputs[0], *branches[0], *branches[1], return_list=True)
            for k, gradient in zip(connected, chosen_gradients):
                result[first + k] = gradient
        return result

    def R_op(self, inputs: Sequence[Any], eval_points: Sequence[Any]) -> list[Any]:
        points = [p if p is not None else v.zeros_like() for v, p in zip(inputs[1:], eval_points[1:])]
        return self(inputs[0], *points, return_list=True)

    def branch_inputs(self, node: Apply, condition: object) -> Sequence[Variable]:
        """Return the inputs of the branch that `condition` selects."""
        start = self._first_input_of_branch(condition)
        return node.inputs[start : start + self.n_outs]

    def perform(
        self, node: Apply, inputs: Sequence[Any], output_storage: Sequence[list], params: object = None
    ) -> None:
        start = self._first_input_of_branch(inputs[0])
        for k, storage in enumerate(output_storage):
            storage[0] = self._output_value(node.outputs[k], inputs[start + k], start)

    def _first_input_of_branch(self, condition: object) -> int:
        """Return the position of the first input of the selected branch."""
        return 1 if condition else 1 + self.n_outs

    def _output_value(self, out: Variable, value: object, start: int) -> Any:
        """Return the value of an output: a view of a value of the first branch if this is allowed, else a copy."""
        return value if self.as_view and start == 1 else out.type.copy_value(value)

    def make_thunk(
        self, node: Apply, storage_map: dict, compute_map: dict, no_recycling: list[Variable], impl: str | None = None
    ) -> Any:
        """Return a lazy thunk, which requests the condition first and then the values of one branch."""
        outputs = node.outputs

        def run() -> list[int]:
            if not compute_map[node.inputs[0]][0]:
                return [0]
            start = self._first_input_of_branch(storage_map[node.inputs[0]][0])
            missing = [start + k for k in range(self.n_outs) if not compute_map[node.inputs[start + k]][0]]
            if missing:
                return missing
            for k, out in enumerate(outputs):
                storage_map[out][0] = self._output_value(out, storage_map[node.inputs[start + k]][0], start)
                compute_map[out][0] = True
            return []

        thunk: Any = run
        thunk.lazy = True
        thunk.inputs = [storage_map[v] for v in node.inputs]
        thunk.outputs = [storage_map[v] for v in outputs]
        return thunk


@structure_of_output.register(IfElse)
def _(op: IfElse, node: Any, output: Any, found: SupportsOfVariables) -> tuple[Support, bool]:
    k = node.outputs.index(output)
    one, two = found[node.inputs[1 + k]], found[node.inputs[1 + op.n_outs + k]]
    if not isinstance(output.type, TensorType) or (one.support is FULL and two.support is FULL):
        return FULL, True
    holds = tensor_condition(node.inputs[0]).map_conditions(lambda condition: Everywhere(condition, output.type.ndim))
    support = union(intersection(holds, one.support), intersection(complement(holds), two.support))
    return support, one.is_clean and two.is_clean


def _unify_types(first: Any, second: Any) -> tuple[Variable, Variable, Any]:
    """Return both values with a common type, in which sizes that differ are unknown."""
    if isinstance(first, Variable) and isinstance(second, Variable) and not _are_compatible(first.type, second.type):
        raise TypeError(
            f"IfElse: the types of the two branches, {first.type} and {second.type}, do not match: "
            f"{_branch_text(first)}, {_branch_text(second)}."
        )
    if isinstance(first, Variable) and type(first.type) is not TensorType:
        second = first.type.filter_variable(second)
        return first, second, first.type
    if isinstance(second, Variable) and type(second.type) is not TensorType:
        return second.type.filter_variable(first), second, second.type
    first, second = as_tensor_variable(first), as_tensor_variable(second)
    if first.type.dtype != second.type.dtype:
        raise TypeError(
            "IfElse requires compatible dtypes for both branches: got "
            f"true_branch={first.type.dtype}, false_branch={second.type.dtype}: "
            f"{_branch_text(first)}, {_branch_text(second)}. "
            "Convert one, as in `at.cast(value, dtype)`."
        )
    if first.type.ndim != second.type.ndim:
        raise TypeError(
            "IfElse requires compatible ndim values for both branches: got "
            f"true_branch={first.type.ndim}, false_branch={second.type.ndim}: "
            f"{_branch_text(first)}, {_branch_text(second)}. "
            "Both branches must have the same number of dimensions: add some of length 1, as in `x[None]`, or reshape "
            "one."
        )
    shape = tuple(a if a == b else None for a, b in zip(first.type.shape, second.type.shape))
    unified = [unbroadcast(v, *[d for d, n in enumerate(v.type.shape) if n == 1 != shape[d]]) for v in (first, second)]
    return unified[0], unified[1], TensorType(first.type.dtype, shape)


def _branch_text(branch: Variable) -> str:
    return f"{describe(branch)} has type {branch.type}"


def _are_compatible(first: Any, second: Any) -> bool:
    """Return whether two types can be types of one output; dtype and rank of dense tensors are checked elsewhere."""
    return type(first) is type(second) is TensorType or bool(first.in_same_class(second))


def ifelse(condition: object, then_branch: object, else_branch: object, name: str | None = None) -> Any:
    """Return the values of one of two branches, selected by a scalar condition at run time.

    Unlike `switch`, which selects elements, it selects whole values, and computes only what the selected branch needs.

    Parameters
    ----------
    condition
        A scalar; the first branch is selected if it is not zero.
    then_branch, else_branch
        Variables, or lists of variables of the same length, with the same dtypes and numbers of dimensions.
    name
        A name for messages.

    Returns
    -------
    Variable, or list or tuple of Variable
        The selected values, with the structure of `then_branch`.

    Examples
    --------
    >>> import aesara, aesara.tensor as at
    >>> from aesara.ifelse import ifelse
    >>> x, y = at.dvectors("x", "y")
    >>> f = aesara.function([x, y], ifelse(x.sum() > y.sum(), x * 2, y * 3))
    >>> f([1.0, 5.0], [1.0, 1.0])
    array([ 2., 10.])
    """
    branches = then_branch, else_branch
    then, other = (list(branch) if isinstance(branch, (list, tuple)) else [branch] for branch in branches)
    if len(then) != len(other):
        raise ValueError(
            "The number of values on the `then` branch must match the `else` branch: "
            f"got {len(then)} for `then`, and {len(other)} for `else`."
        )
    outputs = IfElse(len(then), name=name)(condition, *then, *other, return_list=True)
    if isinstance(then_branch, tuple):
        return tuple(outputs)
    return outputs if isinstance(then_branch, list) else outputs[0]


# -- rewrites ------------------------------------------------------------------------------------------------------


@node_rewriter([IfElse])
def local_known_choice(fgraph: FunctionGraph, node: Apply) -> list[Variable] | bool:
    """``ifelse(constant, a, b)`` -> ``a`` or ``b``"""
    condition = node.inputs[0]
    if not isinstance(condition, Constant):
        return False
    return list(node.op.branch_inputs(node, condition.data))


canonicalize.register("local_known_choice", local_known_choice, "fast_run", "fast_compile")


@node_rewriter([IfElse])
def cond_make_inplace(fgraph: FunctionGraph, node: Apply) -> list[Variable] | bool:
    """``ifelse(c, a, b)`` -> ``ifelse{inplace}(c, a, b)``, whose outputs may be views of ``a``"""
    if node.op.as_view:
        return False
    return IfElse(node.op.n_outs, True, node.op.name)(*node.inputs, return_list=True)


@node_rewriter([IfElse])
def cond_remove_identical(fgraph: FunctionGraph, node: Apply) -> dict[Variable, Variable] | bool:
    """``ifelse(c, [a, a], [b, b])`` -> ``ifelse(c, [a], [b])``"""
    n = node.op.n_outs
    then, other = node.inputs[1 : 1 + n], node.inputs[1 + n :]
    first: dict[tuple[Variable, Variable], int] = {}
    first_equal = [first.setdefault(pair, k) for k, pair in enumerate(zip(then, other, strict=True))]
    distinct = sorted(set(first_equal))
    if len(distinct) == n:
        return False
    choice = IfElse(len(distinct), node.op.as_view, node.op.name)
    outputs = choice(node.inputs[0], *[then[k] for k in distinct], *[other[k] for k in distinct], return_list=True)
    return {out: outputs[distinct.index(first_equal[k])] for k, out in enumerate(node.outputs)}


def _without_inner_choice(node: Apply, branch: int) -> list[Variable] | bool:
    """``ifelse(c, ifelse(c, x, y), z)`` -> ``ifelse(c, x, z)``, and likewise in the second branch."""
    n = node.op.n_outs
    inputs, changed = list(node.inputs), False
    for k in range(1 + branch * n, 1 + branch * n + n):
        owner = inputs[k].owner
        if owner is not None and isinstance(owner.op, IfElse) and owner.inputs[0] is node.inputs[0]:
            position = owner.outputs.index(inputs[k])
            replacement = owner.inputs[1 + branch * owner.op.n_outs + position]
            if replacement.type == inputs[k].type:
                inputs[k], changed = replacement, True
    return node.op(*inputs, return_list=True) if changed else False


@node_rewriter([IfElse])
def cond_merge_ifs_true(fgraph: FunctionGraph, node: Apply) -> list[Variable] | bool:
    """``ifelse(c, ifelse(c, x, y), z)`` -> ``ifelse(c, x, z)``"""
    return _without_inner_choice(node, 0)


@node_rewriter([IfElse])
def cond_merge_ifs_false(fgraph: FunctionGraph, node: Apply) -> list[Variable] | bool:
    """``ifelse(c, z, ifelse(c, x, y))`` -> ``ifelse(c, z, y)``"""
    return _without_inner_choice(node, 1)


def _join(first: Apply, second: Apply) -> Apply:
    """Return one choice for the outputs of two choices by the same condition."""
    n, m = first.op.n_outs, second.op.n_outs
    names = [name for name in (first.op.name, second.op.name) if name]
    both = IfElse(n + m, first.op.as_view and second.op.as_view, "&".join(names) or None)
    then = [*first.inputs[1 : 1 + n], *second.inputs[1 : 1 + m]]
    return both.make_node(first.inputs[0], *then, *first.inputs[1 + n :], *second.inputs[1 + m :])


class CondMerge(GraphRewriter):
    """Merges choices by the same condition that do not depend on each other."""

    def apply(self, fgraph: FunctionGraph) -> None:
        while True:
            pair = self._find(fgraph)
            if pair is None:
                return
            joint = _join(*pair)
            old = [*pair[0].outputs, *pair[1].outputs]
            fgraph.replace_all_validate(list(zip(old, joint.outputs)), reason="cond_merge")

    @staticmethod
    def _find(fgraph: FunctionGraph) -> tuple[Apply, Apply] | None:
        seen: list[Apply] = []
        dependencies: dict[Apply, set[Apply]] = {}
        for node in fgraph.toposort():
            dependencies[node] = set()
            for variable in node.inputs:
                if variable.owner is not None:
                    dependencies[node] |= {variable.owner, *dependencies[variable.owner]} & set(seen)
            if isinstance(node.op, IfElse):
                for other in seen:
                    if other.inputs[0] is node.inputs[0] and other not in dependencies[node]:
                        return other, node
                seen.append(node)
        return None


@node_rewriter([IfElse])
def cond_merge_random_op(fgraph: FunctionGraph, node: Apply) -> dict[Variable, Variable] | bool:
    """Merge two choices by the same condition that are inputs of the same node."""
    clients = {client for out in node.outputs for client, _ in fgraph.clients[out] if isinstance(client, Apply)}
    for client in clients:
        for variable in client.inputs:
            other = variable.owner
            if other is None or other is node or not isinstance(other.op, IfElse):
                continue
            if other.inputs[0] is node.inputs[0] and not _depends(other, node) and not _depends(node, other):
                joint = _join(node, other)
                return dict(zip([*node.outputs, *other.outputs], joint.outputs))
    return False


def _depends(node: Apply, on: Apply) -> bool:
    stack, seen = [node], {node}
    while stack:
        for variable in stack.pop().inputs:
            owner = variable.owner
            if owner is on:
                return True
            if owner is not None and owner not in seen:
                seen.add(owner)
                stack.append(owner)
    return False


@node_rewriter(None)
def ifelse_lift_single_if_through_acceptable_ops(fgraph: FunctionGraph, node: Apply) -> list[Variable] | bool:
    """``f(ifelse(c, a, b), x)`` -> ``ifelse(c, f(a, x), f(b, x))``, so that `f` becomes lazy"""
    if isinstance(node.op, IfElse) or len(node.outputs) != 1:
        return False
    choices = [
        (k, v.owner) for k, v in enumerate(node.inputs) if v.owner is not None and isinstance(v.owner.op, IfElse)
    ]
    if len(choices) != 1 or not all(isinstance(v.type, TensorType) for v in node.inputs):
        return False
    ((position, choice),) = choices
    if choice.op.n_outs != 1 or len(fgraph.clients[choice.outputs[0]]) != 1:
        return False
    branches = []
    for value in choice.inputs[1:]:
        inputs = list(node.inputs)
        inputs[position] = value
        (branch_output,) = node.op.make_node(*inputs).outputs
        branches.append(branch_output)
    return [IfElse(1, choice.op.as_view, choice.op.name)(choice.inputs[0], *branches)]
