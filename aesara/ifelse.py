"""`ifelse`: a choice of which only one side is computed."""

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
from aesara.tensor.derivatives.structure import Found, structure_of_output
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
    """Computes the values of one of two branches; the other branch is not computed at all.

    The inputs are the condition, the values of the first branch (taken if the condition is not zero), and those of
    the second.

    Parameters
    ----------
    n_outs
        How many values there are.
    as_view
        Whether outputs may be the very arrays of the first branch instead of copies.  Those of the second one are
        copied in any case: an output is known as a view of one input.
    name
        A name for messages.
    """

    __props__ = ("as_view", "n_outs", "name")
    #: rules leave alone what such an operation may not compute
    is_lazy = True

    def __init__(self, n_outs: int, as_view: bool = False, name: str | None = None):
        self.n_outs, self.as_view, self.name = int(n_outs), as_view, name
        if as_view:
            self.view_map = {k: [1 + k] for k in range(self.n_outs)}

    def __str__(self) -> str:
        inside = ",".join([*([self.name] if self.name else []), *(["inplace"] if self.as_view else [])])
        return f"if{{{inside}}}"

    def make_node(self, condition: Any, *branches: Any) -> Apply:
        if len(branches) != 2 * self.n_outs:
            raise ValueError(f"{self}: expected {2 * self.n_outs} values, got {len(branches)}.")
        condition = as_tensor_variable(condition)
        if condition.type.ndim:
            raise TypeError(f"The condition argument must be a truthy scalar value; got {condition.type}.")
        then, other, types = [], [], []
        for one, two in zip(branches[: self.n_outs], branches[self.n_outs :]):
            one, two, kind = _unify_types(one, two)
            then.append(one)
            other.append(two)
            types.append(kind)
        return Apply(self, [condition, *then, *other], [kind() for kind in types])

    def infer_shape(self, fgraph: FunctionGraph, node: Apply, input_shapes: Sequence[Any]) -> list[Any]:
        then, other = input_shapes[1 : 1 + self.n_outs], input_shapes[1 + self.n_outs :]
        return [
            None if one is None else tuple(
                [a if a is b else switch(node.inputs[0], a, b) for a, b in zip(one, two)]
            )
            for one, two in zip(then, other)
        ]  # fmt: skip

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        own = [[k == o for o in range(self.n_outs)] for k in range(self.n_outs)]
        # As with `switch`, a condition has a gradient: zero.
        return [[True] * self.n_outs, *own, *own]

    def L_op(self, inputs: Sequence[Any], outputs: Sequence[Any], output_gradients: Sequence[Any]) -> list[Any]:
        flowing = [k for k, g in enumerate(output_gradients) if not is_disconnected(g)]
        result: list[Any] = [disconnected_type() for _ in inputs]
        if not flowing:
            return result
        result[0] = inputs[0].zeros_like(dtype="floatX")
        gradients = [output_gradients[k] for k in flowing]
        choose = IfElse(len(flowing), self.as_view, self.name)
        for first in (1, 1 + self.n_outs):
            # The values of the side that is not taken have zeros of their own shapes.
            zeros = [inputs[first + k].zeros_like().astype(g.type.dtype) for k, g in zip(flowing, gradients)]
            sides = (gradients, zeros) if first == 1 else (zeros, gradients)
            made = choose(inputs[0], *sides[0], *sides[1], return_list=True)
            for k, gradient in zip(flowing, made):
                result[first + k] = gradient
        return result

    def R_op(self, inputs: Sequence[Any], eval_points: Sequence[Any]) -> list[Any]:
        points = [p if p is not None else v.zeros_like() for v, p in zip(inputs[1:], eval_points[1:])]
        return self(inputs[0], *points, return_list=True)

    def branch_inputs(self, node: Apply, condition: Any) -> Sequence[Variable]:
        """Return the inputs of the branch that `condition` selects."""
        start = self._first_taken(condition)
        return node.inputs[start : start + self.n_outs]

    def perform(
        self, node: Apply, inputs: Sequence[Any], output_storage: Sequence[list], params: object = None
    ) -> None:
        start = self._first_taken(inputs[0])
        for k, storage in enumerate(output_storage):
            storage[0] = self._output_value(node.outputs[k], inputs[start + k], start)

    def _first_taken(self, condition: Any) -> int:
        """Index of the first input of the branch that is taken."""
        return 1 if condition else 1 + self.n_outs

    def _output_value(self, out: Variable, value: Any, start: int) -> Any:
        """Return a branch's value as the output `out`: the first branch's as a view if allowed, others as a copy."""
        return value if self.as_view and start == 1 else out.type.copy_value(value)

    def make_thunk(
        self, node: Apply, storage_map: dict, compute_map: dict, no_recycling: list[Variable], impl: str | None = None
    ) -> Any:
        """A lazy thunk: asks for the condition first, then for the values of one branch."""
        outputs = node.outputs

        def run() -> list[int]:
            if not compute_map[node.inputs[0]][0]:
                return [0]
            start = self._first_taken(storage_map[node.inputs[0]][0])
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
def _(op: IfElse, node: Any, output: Any, found: Found) -> tuple[Support, bool]:
    k = node.outputs.index(output)
    one, two = found[node.inputs[1 + k]], found[node.inputs[1 + op.n_outs + k]]
    if not isinstance(output.type, TensorType) or (one.support is FULL and two.support is FULL):
        return FULL, True
    holds = tensor_condition(node.inputs[0]).map_conditions(lambda condition: Everywhere(condition, output.type.ndim))
    support = union(intersection(holds, one.support), intersection(complement(holds), two.support))
    return support, one.is_clean and two.is_clean


def _unify_types(one: Any, two: Any) -> tuple[Variable, Variable, Any]:
    """The two values, and the type that both have: sizes that differ are unknown."""
    if isinstance(one, Variable) and isinstance(two, Variable) and not _are_compatible(one.type, two.type):
        raise TypeError(
            f"IfElse: the types of the two branches, {one.type} and {two.type}, do not match: {_branch_text(one)}, "
            f"{_branch_text(two)}."
        )
    if isinstance(one, Variable) and type(one.type) is not TensorType:
        two = one.type.filter_variable(two)
        return one, two, one.type
    if isinstance(two, Variable) and type(two.type) is not TensorType:
        return two.type.filter_variable(one), two, two.type
    one, two = as_tensor_variable(one), as_tensor_variable(two)
    if one.type.dtype != two.type.dtype:
        raise TypeError(
            "IfElse requires compatible dtypes for both branches: got "
            f"true_branch={one.type.dtype}, false_branch={two.type.dtype}: {_branch_text(one)}, {_branch_text(two)}. "
            "Convert one, as in `at.cast(value, dtype)`."
        )
    if one.type.ndim != two.type.ndim:
        raise TypeError(
            "IfElse requires compatible ndim values for both branches: got "
            f"true_branch={one.type.ndim}, false_branch={two.type.ndim}: {_branch_text(one)}, {_branch_text(two)}. "
            "Both branches must have the same number of dimensions: add some of length 1, as in `x[None]`, or reshape "
            "one."
        )
    shape = tuple(a if a == b else None for a, b in zip(one.type.shape, two.type.shape))
    loose = [unbroadcast(v, *[d for d, n in enumerate(v.type.shape) if n == 1 != shape[d]]) for v in (one, two)]
    return loose[0], loose[1], TensorType(one.type.dtype, shape)


def _branch_text(branch: Variable) -> str:
    return f"{describe(branch)} has type {branch.type}"


def _are_compatible(one: Any, two: Any) -> bool:
    """Return whether two types can be those of one output; of dense tensors, dtype and rank are checked elsewhere."""
    return type(one) is type(two) is TensorType or bool(one.in_same_class(two))


def ifelse(condition: Any, then_branch: Any, else_branch: Any, name: str | None = None) -> Any:
    """Return the values of one of two branches, by a condition that is known when the function runs.

    Unlike `switch` it chooses as a whole, and what only the other branch needs is not computed.

    Parameters
    ----------
    condition
        A scalar; not zero for the first branch.
    then_branch, else_branch
        A variable, or lists of variables, as many on both sides and of equal dtypes and numbers of dimensions.
    name
        A name for messages.

    Returns
    -------
    Variable, or list or tuple of Variable
        The same as `then_branch`.

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
    then, other = (list(one) if isinstance(one, (list, tuple)) else [one] for one in branches)
    if len(then) != len(other):
        raise ValueError(
            "The number of values on the `then` branch must match the `else` branch: "
            f"got {len(then)} for `then`, and {len(other)} for `else`."
        )
    made = IfElse(len(then), name=name)(condition, *then, *other, return_list=True)
    if isinstance(then_branch, tuple):
        return tuple(made)
    return made if isinstance(then_branch, list) else made[0]


# -- rewrites ------------------------------------------------------------------------------------------------------


@node_rewriter([IfElse])
def local_known_choice(fgraph: FunctionGraph, node: Apply) -> list[Variable] | bool:
    """A choice by a condition that is known is the branch that is taken."""
    condition = node.inputs[0]
    if not isinstance(condition, Constant):
        return False
    return list(node.op.branch_inputs(node, condition.data))


canonicalize.register("local_known_choice", local_known_choice, "fast_run", "fast_compile")


@node_rewriter([IfElse])
def cond_make_inplace(fgraph: FunctionGraph, node: Apply) -> list[Variable] | bool:
    """Let the outputs be the very arrays of the first branch."""
    if node.op.as_view:
        return False
    return IfElse(node.op.n_outs, True, node.op.name)(*node.inputs, return_list=True)


@node_rewriter([IfElse])
def cond_remove_identical(fgraph: FunctionGraph, node: Apply) -> dict[Variable, Variable] | bool:
    """Compute an output once that stands twice among those of a choice."""
    n = node.op.n_outs
    then, other = node.inputs[1 : 1 + n], node.inputs[1 + n :]
    first: dict[tuple[Variable, Variable], int] = {}
    place = [first.setdefault(pair, k) for k, pair in enumerate(zip(then, other, strict=True))]
    kept = sorted(set(place))
    if len(kept) == n:
        return False
    smaller = IfElse(len(kept), node.op.as_view, node.op.name)
    made = smaller(node.inputs[0], *[then[k] for k in kept], *[other[k] for k in kept], return_list=True)
    return {out: made[kept.index(place[k])] for k, out in enumerate(node.outputs)}


def _without_inner_choice(node: Apply, side: int) -> list[Variable] | bool:
    """Values of a branch that are a choice by the same condition are values of that choice's same branch."""
    n = node.op.n_outs
    inputs, changed = list(node.inputs), False
    for k in range(1 + side * n, 1 + side * n + n):
        owner = inputs[k].owner
        if owner is not None and isinstance(owner.op, IfElse) and owner.inputs[0] is node.inputs[0]:
            position = owner.outputs.index(inputs[k])
            replacement = owner.inputs[1 + side * owner.op.n_outs + position]
            if replacement.type == inputs[k].type:
                inputs[k], changed = replacement, True
    return node.op(*inputs, return_list=True) if changed else False


@node_rewriter([IfElse])
def cond_merge_ifs_true(fgraph: FunctionGraph, node: Apply) -> list[Variable] | bool:
    """In the first branch, a choice by the same condition takes its first branch."""
    return _without_inner_choice(node, 0)


@node_rewriter([IfElse])
def cond_merge_ifs_false(fgraph: FunctionGraph, node: Apply) -> list[Variable] | bool:
    """In the second branch, a choice by the same condition takes its second branch."""
    return _without_inner_choice(node, 1)


def _join(first: Apply, second: Apply) -> Apply:
    """One choice for the outputs of two by the same condition."""
    n, m = first.op.n_outs, second.op.n_outs
    names = [name for name in (first.op.name, second.op.name) if name]
    both = IfElse(n + m, first.op.as_view and second.op.as_view, "&".join(names) or None)
    then = [*first.inputs[1 : 1 + n], *second.inputs[1 : 1 + m]]
    return both.make_node(first.inputs[0], *then, *first.inputs[1 + n :], *second.inputs[1 + m :])


class CondMerge(GraphRewriter):
    """Joins choices by the same condition to one, where none of them depends on another."""

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
        behind: dict[Apply, set[Apply]] = {}
        for node in fgraph.toposort():
            behind[node] = set()
            for variable in node.inputs:
                if variable.owner is not None:
                    behind[node] |= {variable.owner, *behind[variable.owner]} & set(seen)
            if isinstance(node.op, IfElse):
                for other in seen:
                    if other.inputs[0] is node.inputs[0] and other not in behind[node]:
                        return other, node
                seen.append(node)
        return None


@node_rewriter([IfElse])
def cond_merge_random_op(fgraph: FunctionGraph, node: Apply) -> dict[Variable, Variable] | bool:
    """Join two choices by the same condition that feed one node."""
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
    """An operation on the single output of a choice is done in both branches, so that it becomes lazy, too."""
    if isinstance(node.op, IfElse) or len(node.outputs) != 1:
        return False
    choices = [
        (k, v.owner) for k, v in enumerate(node.inputs) if v.owner is not None and isinstance(v.owner.op, IfElse)
    ]
    if len(choices) != 1 or not all(isinstance(v.type, TensorType) for v in node.inputs):
        return False
    ((place, choice),) = choices
    if choice.op.n_outs != 1 or len(fgraph.clients[choice.outputs[0]]) != 1:
        return False
    sides = []
    for value in choice.inputs[1:]:
        inputs = list(node.inputs)
        inputs[place] = value
        (made,) = node.op.make_node(*inputs).outputs
        sides.append(made)
    return [IfElse(1, choice.op.as_view, choice.op.name)(choice.inputs[0], *sides)]
