"""Gradients of graphs, as users and ops ask for them.

The functions here check what they are given, call `aesara.graph.pullback`, and decide what to return where
there is no gradient. They know no tensors; `aesara.gradient` adds what does. Forward mode is in
`aesara.graph.forward_mode`.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, TypeVar

from aesara.configdefaults import config
from aesara.graph.disconnected_type import DisconnectedType, disconnected_type
from aesara.graph.messages import describe, namesake_note
from aesara.graph.nodes import Variable
from aesara.graph.null_type import NullType
from aesara.graph.pullback import (
    DISCRETE_DTYPES,
    DisconnectedInputError,
    NullTypeGradError,
    float_ones_like,
    float_zeros_like,
    grad_not_implemented,
    grad_undefined,
    in_terms_of,
    is_disconnected,
    is_discrete,
    is_null,
    pull_back,
)
from aesara.graph.traversal import ancestors
from aesara.user_code import warn_user

__all__ = [
    "DisconnectedInputError",
    "DisconnectedType",
    "Lop",
    "NullTypeGradError",
    "as_list_or_tuple",
    "disconnected_type",
    "grad",
    "grad_not_implemented",
    "grad_undefined",
    "subgraph_grad",
]

V = TypeVar("V", bound=Variable)
OnDisconnected = Literal["ignore", "warn", "raise"]
ReturnDisconnected = Literal["none", "zero", "disconnected"]


def as_list_or_tuple(use_list: bool, use_tuple: bool, outputs: V | Sequence[V]) -> V | list[V] | tuple[V, ...]:
    """Return `outputs` as a list, as a tuple, or, when neither is wanted, as a single variable.

    >>> as_list_or_tuple(False, True, [1, 2])
    (1, 2)
    """
    if use_list and use_tuple:
        raise ValueError("Both flags cannot be simultaneously True")
    sequence: list[Any] = list(outputs) if isinstance(outputs, list | tuple) else [outputs]
    if use_list:
        return sequence
    if use_tuple:
        return tuple(sequence)
    if len(sequence) != 1:
        raise ValueError(f"A single variable was wanted, but there are {len(sequence)}: pass a list or a tuple.")
    return sequence[0]


def as_sequence(value: Any, name: str) -> list[Any]:
    """Return a variable, or a list or tuple of variables, as a list."""
    if isinstance(value, Variable):
        return [value]
    if isinstance(value, list | tuple):
        return list(value)
    if isinstance(value, Iterable) and not hasattr(value, "dtype"):
        raise TypeError(f"`{name}` must be a variable, or a list or tuple of variables; got a {type(value).__name__}.")
    return [value]


def check_variables(values: Iterable[Any], name: str) -> None:
    """Raise a `TypeError` unless all of `values` are variables."""
    for value in values:
        if not isinstance(value, Variable):
            raise TypeError(f"Expected Variable in `{name}`, got {describe(value)} of type {type(value).__name__}.")


def check_choice(value: str, name: str, choices: Sequence[str]) -> None:
    """Raise a `ValueError` unless `value` is one of `choices`."""
    if value not in choices:
        listed = ", ".join(map(repr, choices[:-1]))
        raise ValueError(
            f"Invalid value for keyword '{name}', valid values are {listed} and {choices[-1]!r}; got {value!r}."
        )


def normalize_return_choice(return_disconnected: Any) -> ReturnDisconnected:
    """Check the argument `return_disconnected`, in which small and capital letters mean the same."""
    if isinstance(return_disconnected, str):
        return_disconnected = return_disconnected.lower()
    check_choice(return_disconnected, "return_disconnected", ("none", "zero", "disconnected"))
    return return_disconnected


def as_value_of(value: Any, variable: Variable, name: str) -> Any:
    """Return `value` as a variable: itself, or a constant that fits the type of `variable`."""
    if isinstance(value, Variable):
        return value
    variable_type: Any = variable.type
    if getattr(variable_type, "dtype", None) in DISCRETE_DTYPES:
        variable_type = variable_type.clone(dtype=config.floatX)
    try:
        return variable_type.constant_type(variable_type, variable_type.filter(value, allow_downcast=True))
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"`{name}` must hold variables, or values that fit {variable.type} ({describe(variable)}); got "
            f"{value!r}: {error}"
        ) from error


def as_point(value: Any, variable: Variable, name: str, k: int) -> Any:
    """Return element `k` of `eval_points` as a variable that has as many dimensions as that of the argument `name`."""
    point = as_value_of(value, variable, "eval_points")
    wanted, given = (getattr(one.type, "ndim", 0) for one in (variable, point))
    if wanted != given:
        raise ValueError(
            f"Elements {k} of `{name}` and `eval_points` have mismatched dimensionalities: {wanted} and {given}"
        )
    return point


def handle_disconnected(
    variable: Variable,
    action: OnDisconnected,
    *,
    forward: bool = False,
    roots: Iterable[Variable] = (),
) -> None:
    """Ignore, warn or raise, since nothing that is differentiated, which are the `roots`, depends on `variable`.

    In forward mode it is the other way round: `variable` depends on nothing that it is differentiated by.
    """
    if action == "ignore":
        return
    if forward:
        message = (
            "Rop was asked for the derivative of a variable that depends on none of `wrt`, or only through"
            f" non-differentiable operators: {describe(variable)} (of type {variable.type})."
            " Pass disconnected_outputs='ignore' to take such derivatives as zero."
        )
    else:
        message = (
            "grad method was asked to compute the gradient with respect to a variable that is not part of the"
            " computational graph of the cost, or is used only by a non-differentiable operator:"
            f" {describe(variable)} (of type {variable.type})."
            " Pass disconnected_inputs='ignore' to take such gradients as zero."
        )
    owner = variable.owner
    if owner is not None and owner.source is not None:
        message += f" It was made at {owner.source.place}."
    note = namesake_note(variable, ancestors(list(roots)), "is in the graph of what is differentiated")
    message += f" {note}" if note else ""
    if action == "warn":
        warn_user(message)
        return
    raise DisconnectedInputError(message)


def known_gradients(known_grads: Mapping[Variable, Any]) -> dict[Variable, Variable]:
    """Check what the caller says the gradients of some variables are."""
    if not isinstance(known_grads, Mapping):
        raise TypeError(f"`known_grads` must map variables to their gradients; got {type(known_grads).__name__}.")
    check_variables(known_grads, "known_grads")
    seeds = {}
    for variable, gradient in known_grads.items():
        if not isinstance(gradient, Variable):
            raise TypeError(
                f"output grads must be aesara variables: `known_grads` gives {describe(gradient)} of type"
                f" {type(gradient).__name__} for {describe(variable)}."
            )
        if is_discrete(gradient):
            raise TypeError(
                "Gradients must always be NullType, DisconnectedType, or continuous, but grad was given a known_grad"
                f" of type {gradient.type} for {describe(variable)}."
            )
        wanted, ndim = getattr(variable.type, "ndim", None), getattr(gradient.type, "ndim", None)
        if wanted and ndim == 0:
            ones: Any = float_ones_like(variable)
            gradient = ones * gradient  # the same for all entries
        elif wanted is not None and ndim is not None and wanted != ndim:
            raise ValueError(
                f"`known_grads` gives a gradient with {ndim} dimensions for {describe(variable)}, which has "
                f"{wanted}: a term"
                f" with {wanted} dimensions is required."
            )
        if not is_disconnected(gradient):
            seeds[variable] = gradient
    return seeds


def constants(consider_constant: Any) -> frozenset[Variable]:
    """Check the argument `consider_constant`."""
    if consider_constant is None:
        return frozenset()
    if isinstance(consider_constant, Variable) or not isinstance(consider_constant, Iterable):
        raise TypeError(
            f"`consider_constant` must be a list of variables or None; got {type(consider_constant).__name__}."
        )
    variables = list(consider_constant)
    check_variables(variables, "consider_constant")
    return frozenset(variables)


def grad(
    cost: Variable | None,
    wrt: Variable | Sequence[Variable],
    consider_constant: Sequence[Variable] | None = None,
    disconnected_inputs: OnDisconnected = "raise",
    add_names: bool = True,
    known_grads: Mapping[Variable, Variable] | None = None,
    return_disconnected: ReturnDisconnected = "zero",
    null_gradients: Literal["raise", "return"] = "raise",
) -> Any:
    """Return symbolic gradients of one cost with respect to one or more variables.

    Parameters
    ----------
    cost
        The scalar that is differentiated. May be None when `known_grads` is given.
    wrt
        One variable, or a list or tuple of variables. They may be anywhere in the graph.
    consider_constant
        Variables that count as constants: nothing behind them is differentiated.
    disconnected_inputs
        What to do about variables of `wrt` that the cost does not depend on: ``'raise'`` a
        `DisconnectedInputError`, ``'warn'``, or ``'ignore'``.
    add_names
        Name the results ``(d<cost>/d<variable>)`` where both have names.
    known_grads
        Gradients that are known already, by variable.
    return_disconnected
        What to return for such variables: ``'zero'`` zeros of the variable's shape, ``'none'`` None, or
        ``'disconnected'`` a variable of type `DisconnectedType`.
    null_gradients
        What to do about gradients that do not exist: ``'raise'`` a `NullTypeGradError`, or ``'return'`` a
        variable of type `NullType`.

    Returns
    -------
    Variable, list or tuple
        A gradient for each variable of `wrt`, of its shape and floating-point dtype (that of `floatX` for
        integers), in the form `wrt` was given in.

    Examples
    --------
    >>> import aesara, aesara.tensor as at
    >>> x = at.dscalar("x")
    >>> f = aesara.function([x], aesara.grad(x**3, x))
    >>> float(f(2.0))
    12.0
    """
    check_choice(disconnected_inputs, "disconnected_inputs", ("ignore", "warn", "raise"))
    return_disconnected = normalize_return_choice(return_disconnected)
    check_choice(null_gradients, "null_gradients", ("raise", "return"))
    if cost is None and known_grads is None:
        raise ValueError("cost and known_grads can't both be None.")
    variables = as_sequence(wrt, "wrt")
    check_variables(variables, "wrt")
    seeds = known_gradients(known_grads) if known_grads is not None else {}
    if cost is not None:
        check_cost(cost)
        if known_grads is None or cost not in known_grads:  # there it may be disconnected
            seeds[cost] = float_ones_like(cost)

    flowing = pull_back(seeds, variables, constants(consider_constant), final=seeds)
    gradients = settle(variables, flowing, disconnected_inputs, return_disconnected, null_gradients, seeds)
    if add_names and cost is not None and cost.name is not None:
        for variable, gradient in zip(variables, flowing):
            if variable.name is not None and gradient.name is None and not is_disconnected(gradient):
                gradient.name = f"(d{cost.name}/d{variable.name})"
    return as_list_or_tuple(isinstance(wrt, list), isinstance(wrt, tuple), gradients)


def settle(
    variables: Sequence[Variable],
    gradients: Sequence[Variable],
    disconnected_inputs: OnDisconnected,
    return_disconnected: ReturnDisconnected = "zero",
    null_gradients: Literal["raise", "return"] = "raise",
    roots: Iterable[Variable] = (),
) -> list[Any]:
    """Return `gradients` of the `roots`, with what the caller wants in place of those that are null or disconnected."""
    result: list[Any] = []
    for variable, gradient in zip(variables, gradients):
        if is_null(gradient) and null_gradients == "raise":
            raise NullTypeGradError(f"`grad` encountered a NaN. {gradient.type.why_null}")
        if not is_disconnected(gradient):
            result.append(in_terms_of(variable.type, variable, gradient))
            continue
        handle_disconnected(variable, disconnected_inputs, roots=roots)
        if return_disconnected == "zero":
            result.append(float_zeros_like(variable))
        else:
            result.append(None if return_disconnected == "none" else gradient)
    return result


def check_cost(cost: Any) -> None:
    """Raise unless `cost` can be differentiated."""
    if not isinstance(cost, Variable):
        raise TypeError(f"Expected Variable as `cost`, got {describe(cost)} of type {type(cost).__name__}.")
    if isinstance(cost.type, NullType):
        raise ValueError(f"Can't differentiate a NaN cost. Cost is NaN because {cost.type.why_null}")
    ndim = getattr(cost.type, "ndim", 0)
    if ndim != 0:
        raise TypeError(
            f"Cost must be a scalar. Got {describe(cost)}, which has {ndim} dimensions: reduce it, for example by "
            "cost.sum(), or"
            " use jacobian."
        )


def Lop(
    f: Variable | Sequence[Variable],
    wrt: Variable | Sequence[Variable],
    eval_points: Variable | Sequence[Variable],
    consider_constant: Sequence[Variable] | None = None,
    disconnected_inputs: OnDisconnected = "raise",
) -> Any:
    """Return the Jacobian of `f` with respect to `wrt`, multiplied from the left by `eval_points`.

    Parameters
    ----------
    f
        The differentiated variable or variables.
    wrt
        The variable or variables to differentiate with respect to.
    eval_points
        For each of `f` a variable (or value) of the same shape.
    consider_constant, disconnected_inputs
        As in `grad`.

    Returns
    -------
    Variable, list or tuple
        For each of `wrt` the sum over `f` of ``eval_points * d f / d wrt``, in the form `wrt` was given in.

    Examples
    --------
    >>> import aesara, aesara.tensor as at
    >>> x, v = at.dvectors("x", "v")
    >>> aesara.function([x, v], aesara.Lop(x**2, x, v))([1.0, 2.0], [1.0, 10.0])
    array([ 2., 40.])
    """
    functions, points = as_sequence(f, "f"), as_sequence(eval_points, "eval_points")
    check_variables(functions, "f")
    if len(functions) != len(points):
        raise ValueError(f"`f` must be the same length as `eval_points`; got {len(functions)} and {len(points)}.")
    seeds: dict[Variable, Any] = {}
    for k, (function, point) in enumerate(zip(functions, points)):
        point = as_point(point, function, "f", k)
        if is_discrete(point):
            point = point.astype(config.floatX)
        # The same variable may stand in `f` twice.
        seeds[function] = seeds[function] + point if function in seeds else point
    check_choice(disconnected_inputs, "disconnected_inputs", ("ignore", "warn", "raise"))
    variables = as_sequence(wrt, "wrt")
    check_variables(variables, "wrt")
    gradients = pull_back(seeds, variables, constants(consider_constant))
    gradients = settle(variables, gradients, disconnected_inputs, roots=seeds)
    return as_list_or_tuple(isinstance(wrt, list), isinstance(wrt, tuple), gradients)


def subgraph_grad(
    wrt: Sequence[Variable],
    end: Sequence[Variable],
    start: Mapping[Variable, Variable] | None = None,
    cost: Variable | None = None,
    details: bool = False,
) -> Any:
    """Differentiate a part of a graph: from `cost` and `start` back to `end`.

    Lets one differentiate layer by layer, or put a formula of one's own in the place of the gradient of
    something that has none: what is returned for `end` can be the `start` of the next part. Disconnected
    variables count as zero.

    Parameters
    ----------
    wrt
        Variables whose gradients are wanted (parameters).
    end
        Variables where this part ends: nothing behind them is differentiated.
    start
        Variable -> gradient, known from the part before.
    cost
        A scalar whose gradient is added.
    details
        Return also the gradients that come from `start` and from `cost` alone.

    Returns
    -------
    tuple
        ``(gradients of wrt, gradients of end)``, each a list; with `details` also the list of both that comes
        from `start` and the list that comes from `cost` (None for what was not given), first for `wrt`, then
        for `end`.
    """
    if cost is None and start is None:
        raise ValueError("`cost` or `start` must be specified.")
    for name, value in (("wrt", wrt), ("end", end)):
        if not isinstance(value, list):
            raise TypeError(f"`{name}` must be a list.")
        check_variables(value, name)
    targets = [*wrt, *end]

    def gradients(**source: Any) -> list[Any]:
        source.setdefault("cost", None)
        return grad(wrt=targets, consider_constant=end, disconnected_inputs="ignore", **source)

    start_gradients = None if start is None else gradients(known_grads=start)
    cost_gradients = None if cost is None else gradients(cost=cost)
    if start_gradients is None or cost_gradients is None:
        both = start_gradients if cost_gradients is None else cost_gradients
        assert both is not None
    else:
        both = [a + b for a, b in zip(start_gradients, cost_gradients)]
    result = both[: len(wrt)], both[len(wrt) :]
    return (*result, start_gradients, cost_gradients) if details else result
