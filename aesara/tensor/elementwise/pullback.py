"""Gradients of scalar ops, recorded once so that they can be rebuilt with tensors."""

from __future__ import annotations

from typing import Any

from aesara import scalar as aes
from aesara.configdefaults import config
from aesara.graph.disconnected_type import DisconnectedType
from aesara.graph.nodes import Constant, Variable
from aesara.graph.support import Condition, Support, Supported, is_flowing, structure_of
from aesara.graph.traversal import io_toposort
from aesara.records import dataclass


@dataclass(frozen=True)
class PullbackPlan:
    """The graph of a scalar op's gradients, as a list of steps over numbered slots.

    The first slots are the inputs, the outputs and the gradients with respect
    to the outputs of the op; then come the leaves; then the outputs of each
    step in turn.

    Attributes
    ----------
    leaves
        (True, value) of a constant, or (False, variable) of a variable that
        stands for a missing or undefined gradient.
    steps
        The scalar op to apply and the slots of its arguments.
    results
        For each input of the op, the slot of the gradient with respect to it.
    supports
        For each input of the op, the support of this gradient as an expression of conditions ``("of output", k)``,
        for the support of the gradient with respect to output k, and ``("holds", slot)``.
    clean
        For each input of the op, whether this gradient is zero outside of its support if those of the outputs are.
    """

    leaves: tuple[tuple[bool, Any], ...]
    steps: tuple[tuple[aes.ScalarOp, tuple[int, ...]], ...]
    results: tuple[int, ...]
    supports: tuple[Support, ...]
    clean: tuple[bool, ...]


_plans: dict[tuple[Any, ...], PullbackPlan] = {}


def pullback_plan(
    scalar_op: aes.ScalarOp, in_dtypes: tuple[str, ...], grad_dtypes: tuple[str | None, ...]
) -> PullbackPlan:
    """Return the gradients of a scalar op for given dtypes of inputs and output gradients.

    The dtype None means that the output is disconnected from the cost.
    """
    # The dtypes of results and gradients may depend on the configuration.
    key = (scalar_op, in_dtypes, grad_dtypes, config.floatX, config.cast_policy)
    plan = _plans.get(key)
    if plan is None:
        if len(_plans) > 10_000:
            _plans.clear()
        with config.change_flags(compute_test_value="off"):
            plan = _plans[key] = _record(scalar_op, in_dtypes, grad_dtypes)
    return plan


def _record(scalar_op: aes.ScalarOp, in_dtypes: tuple[str, ...], grad_dtypes: tuple[str | None, ...]) -> PullbackPlan:
    inputs = [aes.get_scalar_type(dtype)() for dtype in in_dtypes]
    outputs = scalar_op(*inputs, return_list=True)
    seeds = [
        DisconnectedType()() if dtype is None else aes.get_scalar_type(dtype=dtype).make_variable()
        for dtype in grad_dtypes
    ]
    gradients = scalar_op.L_op(inputs, outputs, seeds)
    if len(gradients) != len(inputs):
        raise ValueError(f"{scalar_op}.L_op returned {len(gradients)} gradients for {len(inputs)} inputs.")
    known = [*inputs, *outputs, *seeds]
    supported_gradients = _structures([*inputs, *outputs], seeds, gradients)
    gradients = [cotangent.value for cotangent in supported_gradients]
    conditions = {variable for cotangent in supported_gradients for variable in _conditions(cotangent.support)}
    wanted = [*gradients, *conditions]
    slots: dict[Variable, int] = {variable: slot for slot, variable in enumerate(known)}
    nodes = [
        node
        for node in io_toposort(known, [v for v in wanted if v not in slots])
        if not any(out in slots for out in node.outputs)
    ]
    leaves: list[tuple[bool, Any]] = []
    for variable in [*[v for node in nodes for v in node.inputs], *wanted]:
        if variable.owner is None and variable not in slots:
            slots[variable] = len(known) + len(leaves)
            leaves.append((True, variable.data) if isinstance(variable, Constant) else (False, variable))
    steps = []
    next_slot = len(known) + len(leaves)
    for node in nodes:
        steps.append((node.op, tuple([slots[v] for v in node.inputs])))
        for out in node.outputs:
            slots[out] = next_slot
            next_slot += 1

    def by_slot(condition: Condition) -> Support:
        kind, variable = condition.key
        return condition if kind == "of output" else Condition(("holds", slots[variable]), _no_mask)

    return PullbackPlan(
        tuple(leaves),
        tuple(steps),
        tuple([slots[g] for g in gradients]),
        tuple([cotangent.support.map_conditions(by_slot) for cotangent in supported_gradients]),
        tuple([cotangent.is_clean for cotangent in supported_gradients]),
    )


def _structures(constants: list[Variable], seeds: list[Variable], gradients: list[Variable]) -> list[Supported]:
    """Return the gradients with their supports, given variables for the output gradients."""
    known = {variable: Supported(variable) for variable in constants}
    known.update({seed: Supported(seed, Condition(("of output", k), _no_mask)) for k, seed in enumerate(seeds)})
    return [
        structure_of(gradient.type, gradient, known) if is_flowing(gradient) else Supported(gradient)
        for gradient in gradients
    ]


def _conditions(support: Support) -> list[Variable]:
    """Return the variables that a support has conditions on."""
    return [condition.key[1] for condition in support.atoms() if condition.key[0] == "holds"]


def _no_mask() -> None:
    raise AssertionError("A plan stands for the gradients of any tensors, which have the masks.")
