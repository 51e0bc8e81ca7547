"""Forward-mode differentiation: the Jacobian of a graph times a vector.

A tangent is carried from the variables through each `Op`'s `R_op`. Where an op defines none, it follows from
the op's `L_op`, which is linear in the gradients it is given: differentiating it with respect to those gives
the transpose of the transpose.
"""

from collections.abc import Collection, Sequence
from functools import singledispatch
from typing import Any
from weakref import WeakKeyDictionary, WeakSet

from aesara.graph.autodiff import (
    OnDisconnected,
    ReturnDisconnected,
    as_list_or_tuple,
    as_point,
    as_sequence,
    check_choice,
    check_variables,
    handle_disconnected,
    normalize_return_choice,
)
from aesara.graph.disconnected_type import disconnected_type
from aesara.graph.nodes import Apply, Variable
from aesara.graph.op import Op, stand_in
from aesara.graph.pullback import (
    NullTypeGradError,
    as_output,
    connections,
    float_zeros_like,
    is_disconnected,
    is_discrete,
    is_null,
    leading_inputs,
    nodes_towards,
    pull_back,
    with_supports,
)
from aesara.graph.source import inherit_source
from aesara.graph.support import Supported
from aesara.graph.traversal import graph_inputs

#: From tangents to the inputs of the graphs that were differentiated. The tangent of a linear function needs not all of
#: them, but a function of all is what is asked for: ``function([W, V, x], Rop(dot(x, W), W, V))``.
inputs_of_tangents: WeakKeyDictionary[Variable, WeakSet[Variable]] = WeakKeyDictionary()


def Rop(
    f: Variable | Sequence[Variable],
    wrt: Variable | Sequence[Variable],
    eval_points: Variable | Sequence[Variable],
    disconnected_outputs: OnDisconnected = "raise",
    return_disconnected: ReturnDisconnected = "zero",
) -> Any:
    """Return the Jacobian of `f` with respect to `wrt`, multiplied from the right by `eval_points`.

    Parameters
    ----------
    f
        The differentiated variable or variables.
    wrt
        The variable or variables to differentiate with respect to.
    eval_points
        For each of `wrt` a variable (or value) of the same number of dimensions.
    disconnected_outputs
        What to do about variables of `f` that depend on none of `wrt`: ``'raise'`` a
        `DisconnectedInputError`, ``'warn'``, or ``'ignore'``.
    return_disconnected
        What to return for such variables: ``'zero'``, ``'none'`` or ``'disconnected'``, as in `grad`.

    Returns
    -------
    Variable, list or tuple
        For each of `f` the sum over `wrt` of ``d f / d wrt * eval_points``, in the form `f` was given in.

    Examples
    --------
    >>> import aesara, aesara.tensor as at
    >>> x, v = at.dvectors("x", "v")
    >>> aesara.function([x, v], aesara.Rop((x**2).sum(), x, v))([1.0, 2.0], [1.0, 10.0])
    array(42.)
    """
    check_choice(disconnected_outputs, "disconnected_outputs", ("ignore", "warn", "raise"))
    return_disconnected = normalize_return_choice(return_disconnected)
    functions, variables = as_sequence(f, "f"), as_sequence(wrt, "wrt")
    points = as_sequence(eval_points, "eval_points")
    check_variables(variables, "wrt")
    if len(variables) != len(points):
        raise ValueError(f"`wrt` must be the same length as `eval_points`; got {len(variables)} and {len(points)}.")
    tangents: dict[Variable, Any] = {}
    for k, (variable, point) in enumerate(zip(variables, points)):
        tangents[variable] = as_point(point, variable, "wrt", k)
    check_variables(functions, "f")

    results: list[Any] = []
    for function, tangent in zip(functions, push_forward(functions, tangents)):
        if is_null(tangent):
            raise NullTypeGradError(f"`Rop` encountered a NaN. {tangent.type.why_null}")
        if not is_disconnected(tangent):
            if tangent.owner is not None:
                inputs_of_tangents[tangent] = WeakSet(graph_inputs([function]))
            results.append(tangent)
            continue
        if not _is_constant_along(function, tangents):
            handle_disconnected(function, disconnected_outputs, forward=True)
        if return_disconnected == "zero":
            results.append(float_zeros_like(function))
        else:
            results.append(None if return_disconnected == "none" else tangent)
    return as_list_or_tuple(isinstance(f, list), isinstance(f, tuple), results)


def _is_constant_along(function: Variable, wrt: Collection[Variable]) -> bool:
    """Return whether `function`, whose tangent is disconnected, is connected to `wrt` by differentiable nodes.

    Its derivative is then zero, such as that of the gradient of something linear: only shapes of `wrt` matter.
    """
    reached = set(wrt)
    for node in nodes_towards([function], kept=wrt):
        if not reached.isdisjoint(node.inputs):
            pattern = connections(node)
            if pattern is None or any(True in row for row in pattern):
                reached.update(output for output in node.outputs if not is_discrete(output))
    return function in reached


def push_forward(functions: Sequence[Variable], seeds: dict[Variable, Variable]) -> list[Variable]:
    """Return the tangents of `functions`, given those of the keys of `seeds`, taken as independent."""
    tangents = {variable: Supported(tangent) for variable, tangent in seeds.items()}
    for node, pattern, positions in leading_inputs(nodes_towards(functions, kept=seeds), seeds, ()):
        points: list[Supported | None] = [None] * len(node.inputs)
        for i in positions:
            tangent = tangents.get(node.inputs[i])
            if tangent is not None:
                points[i] = tangent
        if not any(point is not None for point in points):
            continue
        with inherit_source(node):
            for j, (output, tangent) in enumerate(zip(node.outputs, output_tangents(node, points))):
                connected = pattern is None or any(pattern[i][j] for i in positions)
                if tangent is not None and connected and output not in seeds and not is_disconnected(tangent.value):
                    tangents[output] = tangent
    return [
        tangents[function].apply_support() if function in tangents else disconnected_type() for function in functions
    ]


def output_tangents(node: Apply, points: list[Supported | None]) -> Sequence[Supported | None]:
    """Return the tangents of the outputs of `node`; None where there is none."""
    for point in points:
        if point is not None and is_null(point.value):
            return [point] * len(node.outputs)
    if all(is_discrete(output) for output in node.outputs):
        return [None] * len(node.outputs)
    return tangents_of_outputs(node.op, node, points)


@singledispatch
def tangents_of_outputs(op: Any, node: Apply, points: Sequence[Supported | None]) -> Sequence[Supported | None]:
    """Return the tangents of the outputs of a node, given those of its inputs; None where there is none.

    Dispatches on the type of the op.  This general method gives the op's `R_op` tangents with zeros outside of their
    supports, and finds out the supports of its results from what they are made of.
    """
    values = [None if point is None else point.apply_support() for point in points]
    tangents = plain_tangents(node, values)
    moving = [(value, point) for value, point in zip(values, points) if value is not None and point is not None]
    supported = with_supports(node, tangents, [value for value, _ in moving], [point for _, point in moving])
    return [None if plain is None else tangent for plain, tangent in zip(tangents, supported)]


def plain_tangents(node: Apply, points: list[Variable | None]) -> Sequence[Variable | None]:
    """Return the tangents of the outputs of `node` that its `R_op`, or its `L_op`, gives."""
    if type(node.op).R_op is not Op.R_op:
        try:
            result = node.op.R_op(node.inputs, points)
        except NotImplementedError:
            pass
        else:
            if len(result) != len(node.outputs):
                raise ValueError(f"{node.op}.R_op returned {len(result)} tangents for {len(node.outputs)} outputs.")
            return result
    return transposed_twice(node, points)


def transposed_twice(node: Apply, points: list[Variable | None]) -> list[Variable | None]:
    """Return the tangents of the outputs of `node` by differentiating its `L_op`."""
    directions = [disconnected_type() if is_discrete(output) else stand_in(output) for output in node.outputs]
    try:
        gradients = node.op.L_op(node.inputs, node.outputs, directions)
    except NotImplementedError as error:
        raise NotImplementedError(
            f"{node.op} has neither R_op nor L_op, so it cannot be differentiated in forward mode. {error}"
        ) from error
    seeds: dict[Variable, Any] = {}
    for gradient, point in zip(gradients, points):
        if point is None or gradient is None or is_disconnected(gradient):
            continue
        if is_null(gradient):
            return [gradient] * len(node.outputs)
        point = as_output(point, gradient)
        seeds[gradient] = seeds[gradient] + point if gradient in seeds else point
    local = frozenset((*node.inputs, *node.outputs))
    tangents = pull_back(seeds, directions, consider_constant=local)
    # A tangent, being the derivative of something linear in the directions, can need them for their shapes
    # only.
    shapes = {d: o for d, o in zip(directions, node.outputs) if not is_disconnected(d)}
    return [None if is_disconnected(t) else substitute(t, shapes, local) for t in tangents]


def substitute(variable: Variable, replace: dict[Variable, Variable], blocked: frozenset[Variable]) -> Variable:
    """Return `variable` with the keys of `replace` replaced, copying only nodes that depend on them."""
    new = dict(replace)
    for node in nodes_towards([variable], blocked):
        if any(i in new for i in node.inputs):
            copy = node.clone_with_new_inputs([new.get(i, i) for i in node.inputs])
            new.update(zip(node.outputs, copy.outputs))
    return new.get(variable, variable)
