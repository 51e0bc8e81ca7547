"""The algorithm of reverse-mode differentiation.

Nothing here knows tensors. `pull_back` walks the graph once from the differentiated variables to their
ancestors and back, asks each `Op` on the way for its `L_op`, and adds up what arrives at each variable.
`grad` and the other functions of `aesara.graph.autodiff` are ways of calling it.

The time is linear in the size of the graph and nothing recurses, so graphs may be as deep as memory allows.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import field
from functools import singledispatch
from types import MappingProxyType
from typing import Any

from aesara.configdefaults import config
from aesara.graph.disconnected_type import DisconnectedType, disconnected_type
from aesara.graph.nodes import Apply, Variable
from aesara.graph.null_type import NullType
from aesara.graph.op import Op
from aesara.graph.source import gradient_mark, inherit_source, resolve
from aesara.graph.support import EMPTY, FULL, Support, Supported, is_flowing, structure_of, union
from aesara.graph.type import Type
from aesara.records import dataclass

DISCRETE_DTYPES = frozenset(
    ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
)


class DisconnectedInputError(ValueError):
    """A gradient was asked for with respect to a variable that the cost does not depend on."""

    __module__ = "aesara.gradient"  # where users find it


class NullTypeGradError(TypeError):
    """A gradient that was asked for is undefined or not implemented."""

    __module__ = "aesara.gradient"


# What an op's gradient may say about one of its inputs


def grad_not_implemented(op: Op, x_pos: int, x: Variable, comment: str = "") -> Variable:
    """Stand in for the gradient of `op` with respect to input `x_pos`, which could exist but was not written.

    Asking for a gradient that flows through it raises `NullTypeGradError`.

    Parameters
    ----------
    op
        The op whose gradient is missing.
    x_pos
        Position of the input among the op's inputs.
    x
        That input.
    comment
        Why, or what to do instead; becomes part of the error message.
    """
    return NullType(
        f"This variable is Null because the gradient of {op} with respect to its input {x_pos} ({x}) is not"
        f" implemented. {comment}".rstrip()
    )()


def grad_undefined(op: Op, x_pos: int, x: Variable, comment: str = "") -> Variable:
    """Stand in for the gradient of `op` with respect to input `x_pos`, which does not exist mathematically.

    Parameters are those of `grad_not_implemented`.
    """
    return NullType(
        f"This variable is Null because the gradient of {op} with respect to its input {x_pos} ({x}) is"
        " undefined."
        f" {comment}".rstrip()
    )()


def is_discrete(variable: Variable) -> bool:
    """Return whether the variable holds integers or booleans."""
    return getattr(variable.type, "dtype", None) in DISCRETE_DTYPES


def is_disconnected(variable: Variable) -> bool:
    """Return whether the variable is a disconnected gradient: zero because the cost does not depend on the input."""
    return isinstance(variable.type, DisconnectedType)


def is_null(variable: Variable) -> bool:
    """Return whether the variable stands for an undefined gradient."""
    return isinstance(variable.type, NullType)


def gradient_dtype(variable: Variable) -> str | None:
    """Return the dtype of a gradient with respect to `variable`: its own, `floatX` if that is discrete."""
    dtype = getattr(variable.type, "dtype", None)
    return config.floatX if dtype in DISCRETE_DTYPES else dtype


def float_zeros_like(variable: Any) -> Variable:
    """Zeros of the shape of `variable`, in the dtype of its gradient."""
    return variable.zeros_like(dtype=gradient_dtype(variable))


def float_ones_like(variable: Any) -> Variable:
    """Ones of the shape of `variable`, in the dtype of its gradient."""
    return variable.ones_like(dtype=gradient_dtype(variable))


@singledispatch
def sum_gradients(gradient_type: Type, terms: Sequence[Any]) -> Variable:
    """Add two or more gradients of one variable.

    Dispatches on the type of the first term. The general method adds neighbours with ``+`` until one is left:
    a balanced tree, so that a variable with many uses adds little depth and little rounding error.
    """
    while len(terms) > 1:
        pairs = [a + b for a, b in zip(terms[::2], terms[1::2])]
        if len(terms) % 2:
            pairs.append(terms[-1])
        terms = pairs
    return terms[0]


@singledispatch
def in_terms_of(variable_type: Type, variable: Variable, gradient: Variable) -> Variable:
    """The gradient with respect to `variable`, for types whose constants have to be given something of the variable.

    Dispatches on the type of the variable. Zeros and ones of tensors have the shape of the variable anyway.
    """
    return gradient


@singledispatch
def gradient_form(op: Any, node: Apply, kept: Collection[Variable]) -> Variable | None:
    """Return an expression of what `node` computes that is differentiated in its place, or None for the node itself.

    It is for values that are right where the product of the derivatives of each step is not: ``log(sum(exp(x)))`` is
    ``log(sum(exp(x - m))) + m``, whose slope has no overflow. Dispatches on the type of the op.

    Parameters
    ----------
    op
        The op of `node`, which has one output.
    node
        What is to be differentiated.
    kept
        Variables that take gradients of their own: the expression must be made of them, not of what is behind them.
    """
    return None


class SameValue:
    """Stands for the op of a `Differentiated` node."""

    def L_op(self, inputs: Any, outputs: Any, output_gradients: Sequence[Variable]) -> Sequence[Variable]:
        return output_gradients

    def R_op(self, inputs: Any, eval_points: Sequence[Variable | None]) -> Sequence[Variable | None]:
        return eval_points


@dataclass(frozen=True)
class Differentiated:
    """A node as it is differentiated: its output is another expression of the same value."""

    inputs: list[Variable]
    outputs: list[Variable]
    _source: Any
    op: SameValue = field(default_factory=SameValue)

    @property
    def source(self) -> Any:
        return resolve(self._source)


def as_differentiated(node: Apply, kept: Collection[Variable]) -> Any:
    """Return the `Differentiated` form of `node` if its op has one, else `node` itself."""
    find_form = gradient_form.dispatch(type(node.op))
    form = None if find_form is no_form else find_form(node.op, node, kept)
    return node if form is None else Differentiated([form], node.outputs, node._source)


no_form = gradient_form.dispatch(object)


# The algorithm


def connections(node: Apply) -> list[list[bool]] | None:
    """Return which input is connected to which output, ``[input][output]``, or None when all are.

    Raises
    ------
    TypeError, ValueError
        If the op's `connection_pattern` returns something else than lists of booleans of the right lengths.
    """
    method = getattr(node.op, "connection_pattern", None)
    if method is None:
        return None
    pattern = method(node)
    if pattern is None:
        return None
    if not isinstance(pattern, list) or not all(isinstance(row, list) for row in pattern):
        raise TypeError(
            f"{node.op}.connection_pattern must return a list of lists of booleans, [input][output]; got {pattern!r}."
        )
    n_outputs = len(node.outputs)
    if len(pattern) != len(node.inputs) or any(len(row) != n_outputs for row in pattern):
        raise ValueError(
            f"{node.op}.connection_pattern must have one row for each of the {len(node.inputs)} inputs and in each row"
            f" one entry for each of the {n_outputs} outputs; got {pattern!r}."
        )
    return pattern


def nodes_towards(
    sources: Iterable[Variable], blocked: Collection[Variable] = (), kept: Collection[Variable] | None = None
) -> list[Apply]:
    """Return the nodes that compute `sources`, inputs before clients, not looking behind `blocked`.

    With `kept`, nodes are as they are differentiated (see `gradient_form`).
    """
    order: list[Apply] = []
    open_nodes: dict[Apply, Apply] = {}
    closed: set[Apply] = set()
    stack = [s.owner for s in sources if s.owner is not None and s not in blocked]
    while stack:
        node = stack[-1]
        if node in open_nodes:
            stack.pop()
            if node not in closed:
                closed.add(node)
                order.append(open_nodes[node])
        else:
            open_nodes[node] = node if kept is None else as_differentiated(node, kept)
            for variable in open_nodes[node].inputs:
                owner = variable.owner
                if owner is not None and owner not in open_nodes and variable not in blocked:
                    stack.append(owner)
    return order


def leading_inputs(
    order: Iterable[Apply], wrt: Iterable[Variable], final: Collection[Variable]
) -> list[tuple[Apply, list[list[bool]] | None, list[int]]]:
    """Return the nodes of `order` that depend on `wrt`, each with its pattern and the inputs that do.

    `final` are variables that take no gradient from their clients, since theirs is given.
    """
    leads = {variable for variable in wrt if variable not in final}
    active = []
    for node in order:
        positions = [i for i, variable in enumerate(node.inputs) if variable in leads]
        if not positions:
            continue
        pattern = connections(node)
        if pattern is not None:
            positions = [i for i in positions if True in pattern[i]]
            if not positions:
                continue
        active.append((node, pattern, positions))
        for j, output in enumerate(node.outputs):
            if output not in final and (pattern is None or any(pattern[i][j] for i in positions)):
                leads.add(output)
    return active


def pull_back(
    seeds: Mapping[Variable, Variable],
    wrt: Sequence[Variable],
    consider_constant: Collection[Variable] = (),
    final: Collection[Variable] = (),
    supports: Mapping[Variable, Support] | None = None,
) -> list[Variable]:
    """Return the gradients with respect to `wrt` of the sum over `seeds` of ``variable * gradient``.

    Entries that are zero because of the structure of the graph stay zero, however large or undefined the slopes are
    that they are multiplied by; see `aesara.graph.support`.

    Parameters
    ----------
    seeds
        Variable -> its gradient.
    wrt
        The variables whose gradients are wanted.
    consider_constant
        Variables behind which nothing is differentiated.
    final
        Those of `seeds` whose whole gradient is given: being used by other variables adds nothing to it.
    supports
        The supports of the gradients in `seeds`; all entries where there is none.

    Returns
    -------
    list of Variable
        For each of `wrt` its gradient. The gradient has `DisconnectedType` where nothing connects it to the
        seeds, and `NullType` where it does not exist.
    """
    cotangents = pulled_cotangents(seeds, wrt, consider_constant, final, supports)
    return [cotangent.apply_support() for cotangent in cotangents]


def pulled_cotangents(
    seeds: Mapping[Variable, Variable],
    wrt: Sequence[Variable],
    consider_constant: Collection[Variable] = (),
    final: Collection[Variable] = (),
    supports: Mapping[Variable, Support] | None = None,
) -> list[Supported]:
    """Return the gradients of `pull_back` with their supports."""
    supports = supports or {}
    order = nodes_towards(seeds, frozenset(consider_constant), kept={*seeds, *wrt, *consider_constant})
    active = leading_inputs(order, wrt, final)
    arrived = {variable: [Supported(value, supports.get(variable, FULL))] for variable, value in seeds.items()}
    wanted = set(wrt)
    nothing = Supported(disconnected_type())
    for node, pattern, positions in reversed(active):
        # Nothing below can arrive at these outputs any more: their clients come later in `order`.
        with inherit_source(gradient_mark(node)):
            of_outputs = [
                total(arrived, output, output in wanted) if output in arrived else nothing for output in node.outputs
            ]
            connected = [j for j, g in enumerate(of_outputs) if not is_disconnected(g.value)]
            if pattern is not None:
                positions = [i for i in positions if any(pattern[i][j] for j in connected)]
            if not connected or not positions:
                continue
            for position, term in zip(positions, input_cotangents(node, pattern, positions, of_outputs)):
                variable = node.inputs[position]
                if not is_disconnected(term.value) and variable not in final:
                    arrived.setdefault(variable, []).append(term)
    return [total(arrived, variable, True) if variable in arrived else nothing for variable in wrt]


def total(arrived: dict[Variable, list[Supported]], variable: Variable, keep: bool) -> Supported:
    """Return the sum of what arrived at `variable`; forget it unless it is needed again."""
    terms = arrived[variable] if keep else arrived.pop(variable)
    if len(terms) == 1:
        return terms[0]
    for term in terms:
        if is_null(term.value):
            result = term
            break
    else:
        result = sum_terms([term for term in terms if term.support is not EMPTY] or terms[:1])
    if keep:
        arrived[variable] = [result]
    return result


def sum_terms(terms: Sequence[Supported]) -> Supported:
    """Return the sum of gradients of one variable."""
    first = terms[0]
    if len(terms) == 1:
        return first
    if all(term.support == first.support for term in terms):
        support, is_clean = first.support, all(term.is_clean for term in terms)
        values = [term.value for term in terms]
    else:
        support, is_clean = union(*(term.support for term in terms)), True
        values = [term.apply_support() for term in terms]
    # They came from the last use to the first; print them as they stand in the program.
    return Supported(sum_gradients(values[-1].type, values[::-1]), support, is_clean)


def input_cotangents(
    node: Apply,
    pattern: list[list[bool]] | None,
    positions: Sequence[int],
    of_outputs: list[Supported],
) -> list[Supported]:
    """Return the gradients with respect to the inputs at `positions`, given those of the outputs."""
    outputs = node.outputs
    nulls = [j for j, g in enumerate(of_outputs) if is_null(g.value)]
    spoiled: dict[int, Supported] = {}
    # What does not exist behind a node does not exist before it either.
    for i in positions:
        for j in nulls:
            if pattern is None or pattern[i][j]:
                spoiled[i] = of_outputs[j]
    if len(spoiled) == len(positions):
        return [spoiled[i] for i in positions]
    of_outputs = [
        Supported(disconnected_type()) if is_null(g.value) else Supported(as_output(g.value, o), g.support, g.is_clean)
        for g, o in zip(of_outputs, outputs)
    ]

    try:
        terms = cotangents_of_inputs(node.op, node, of_outputs)
    except Exception as error:
        place = "" if node.source is None else f", which was created at {node.source}"
        error.add_note(f"Raised by the gradient of the node {node}{place}.")
        raise
    if len(terms) != len(node.inputs):
        raise ValueError(
            f"{node.op}.L_op returned {len(terms)} gradients for {len(node.inputs)} inputs: the wrong number of"
            " gradient terms. It must return one for each input."
        )
    smooth = [not is_discrete(o) and not is_disconnected(g.value) for o, g in zip(outputs, of_outputs)]
    every_output_smooth = all(smooth)
    result = []
    for i in positions:
        if i in spoiled:
            result.append(spoiled[i])
            continue
        term = terms[i]
        check_term(node, i, term.value)
        if not every_output_smooth and is_flowing(term.value):
            # Discrete outputs are piecewise constant: whatever the op says, nothing flows through them.
            if not any(s and (pattern is None or pattern[i][j]) for j, s in enumerate(smooth)):
                term = Supported(float_zeros_like(node.inputs[i]), EMPTY)
        result.append(term)
    return result


@singledispatch
def cotangents_of_inputs(op: Any, node: Any, of_outputs: Sequence[Supported]) -> Sequence[Supported]:
    """Return the gradients of the inputs of a node, given those of its outputs.

    Dispatches on the type of the op.  This general method gives the op's `L_op` gradients with zeros outside of their
    supports, and finds out the supports of its terms from what they are made of.
    """
    values = [g.apply_support() for g in of_outputs]
    return with_supports(node, op.L_op(node.inputs, node.outputs, values), values, of_outputs)


def with_supports(
    node: Any,
    terms: Sequence[Any],
    values: Sequence[Variable],
    of_outputs: Sequence[Supported],
    known: Mapping[Variable, Supported] = MappingProxyType({}),
) -> Sequence[Supported]:
    """Return the terms of a gradient, or tangents, with the supports that follow from what they are made of.

    Parameters
    ----------
    node
        The node that is differentiated.
    terms
        The gradients of its inputs, or the tangents of its outputs.
    values, of_outputs
        The variables that the terms are made of for the gradients of its outputs, or the tangents of its inputs, and
        these with their supports.
    known
        Other variables that they are made of, of which the supports are known.
    """
    known = {**known, **{v: Supported(v) for v in (*node.inputs, *node.outputs)}}
    known.update({v: Supported(v, g.support) for v, g in zip(values, of_outputs) if v not in known})
    return [
        structure_of(term.type, term, known) if isinstance(term, Variable) and is_flowing(term) else Supported(term)
        for term in terms
    ]


@cotangents_of_inputs.register(SameValue)
def _(op: SameValue, node: Any, of_outputs: Sequence[Supported]) -> Sequence[Supported]:
    return of_outputs


def as_output(gradient: Any, output: Variable) -> Variable:
    """Give the gradient of a real output the output's dtype, so that one wide term does not widen the rest."""
    dtype = getattr(output.type, "dtype", None)
    wide = str(dtype).startswith("float") and getattr(gradient.type, "dtype", dtype) != dtype
    return gradient.astype(dtype) if wide else gradient


def check_term(node: Apply, position: int, term: Any) -> None:
    """Raise unless `term` can be the gradient with respect to the input at `position`."""
    if not isinstance(term, Variable):
        found = "None" if term is None else f"{term!r} of type {type(term).__name__}"
        raise TypeError(
            f"{node.op}.grad returned {found} for a gradient term (input index {position}), this is prohibited. Return"
            " a variable: x.zeros_like() where the gradient is zero, disconnected_type() where the output does not"
            " depend on the input, grad_undefined(...) or grad_not_implemented(...) where there is none."
        )
    term_type = term.type
    if getattr(term_type, "dtype", None) in DISCRETE_DTYPES:
        raise TypeError(
            f"{node.op}.grad illegally returned an integer-valued variable."
            f" (Input index {position}, dtype {term_type.dtype}). Gradients are floating-point: use"
            " x.zeros_like(dtype=config.floatX) for a zero."
        )
    ndim = getattr(node.inputs[position].type, "ndim", None)
    term_ndim = getattr(term_type, "ndim", None)
    if ndim is not None and term_ndim is not None and term_ndim != ndim:
        raise ValueError(
            f"{node.op}.grad returned a term with {term_ndim} dimensions, but {ndim} are required"
            f" (input index {position})."
        )
