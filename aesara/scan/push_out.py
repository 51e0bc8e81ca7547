"""Loop-invariant code motion, and vectorization of computations that do not depend on former steps."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from copy import copy
from typing import Any, cast

from aesara.graph.cloning import clone_replace
from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Apply, Constant, Variable
from aesara.graph.rewriting.basic import node_rewriter
from aesara.graph.source import inherit_source
from aesara.graph.traversal import ancestors, io_toposort
from aesara.graph.vectorization import vectorize_graph
from aesara.scan.arguments import ScanArgs
from aesara.scan.editing import apply_edited, edited_node
from aesara.scan.op import Scan
from aesara.scan.parts import expansion_of, is_exact
from aesara.scan.row_counts import first_rows
from aesara.scan.saving_memory import reads_of_last_rows
from aesara.tensor.core.check_and_raise import CheckAndRaise
from aesara.tensor.core.constant_value import known_integer
from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.dtypes import integer_dtypes
from aesara.tensor.core.tensor_type import TensorType
from aesara.tensor.creation.allocation import alloc
from aesara.tensor.elementwise.elemwise import Elemwise
from aesara.tensor.elementwise.ops import add, gt
from aesara.tensor.products.dot import Dot, dot
from aesara.tensor.shapes.dimshuffle import DimShuffle
from aesara.tensor.shapes.rearranging import sizes_of
from aesara.tensor.shapes.shape import Shape, Shape_i
from aesara.tensor.shapes.specify_shape import SpecifyShape

__all__ = [
    "add_nitsot_outputs",
    "added_terms",
    "get_outer_ndim",
    "inner_sitsot_only_last_step_used",
    "push_out_add_scan",
    "push_out_dot1_scan",
    "push_out_inner_vars",
    "push_out_non_seq_scan",
    "push_out_products_scan",
    "push_out_seq_scan",
    "sum_outside",
]

Replacements = dict[Variable, Variable]

#: elementwise operations that cost less than storing and loading their results
_CHEAP = frozenset(
    {
        "Abs", "Add", "And", "Cast", "EQ", "GE", "GT", "Identity", "Invert", "LE", "LT", "Mul", "NEQ", "Neg", "Or",
        "ScalarMaximum", "ScalarMinimum", "Second", "Sgn", "Sqr", "Sub", "Switch", "XOR",
    }
)  # fmt: skip


# -- loop-invariant code -------------------------------------------------------------------------------------------


@node_rewriter([Scan])
def push_out_non_seq_scan(fgraph: FunctionGraph, node: Apply) -> Replacements | bool:
    """Move loop-invariant computations before the loop.

    Outputs that are the same in each step become broadcasts.
    """
    args = ScanArgs.from_node(node)
    invariant, order = _derived_from(args, args.inner_in_non_seqs)
    repeated = [] if args.as_while else [
        k for k, v in enumerate(args.inner_out_nit_sot) if v in invariant or v in args.inner_in_non_seqs
    ]  # fmt: skip
    outputs = [v for k, v in enumerate(args.inner_out_nit_sot) if k in repeated]
    frontier = _frontier(args, invariant, order, set(repeated))
    frontier = [v for v in frontier if _is_worth_moving(v, invariant)]
    if not frontier and not outputs:
        return False
    outer_of = dict(zip(args.inner_in_non_seqs, args.outer_in_non_seqs))
    with inherit_source(node):
        values = clone_replace([*frontier, *outputs], outer_of)
        replacements: Replacements = {}
        for k, value in zip(repeated, values[len(frontier) :]):
            length = args.outer_in_nit_sot[k]
            replacements[args.outer_out_nit_sot[k]] = alloc(value, length, *sizes_of(value))
    _drop_results(args, repeated)
    inner = [v.type(name=v.name) for v in frontier]
    args.outer_in_non_seqs += values[: len(frontier)]
    args.inner_in_non_seqs += inner
    args.replace_inner(dict(zip(frontier, inner)))
    return {**replacements, **_apply_remaining(args, node)}


def _derived_from(args: ScanArgs, inputs: Sequence[Variable]) -> tuple[set[Variable], list[Apply]]:
    """Return the variables that the step computes from the given inputs and constants alone, and its nodes in order."""
    known = set(inputs)
    derived: set[Variable] = set()
    order = list(io_toposort(args.inner_inputs, args.inner_outputs))
    for node in order:
        is_derived = any(v in known for v in node.inputs)
        if is_derived and all(v in known or isinstance(v, Constant) or _is_constant(v) for v in node.inputs):
            known.update(node.outputs)
            derived.update(node.outputs)
    return derived, order


def _is_constant(variable: Variable) -> bool:
    """Return whether a variable depends on constants alone."""
    return variable.owner is not None and all(
        v.owner is not None or isinstance(v, Constant) for v in ancestors([variable])
    )


def _frontier(args: ScanArgs, inside: set[Variable], order: Sequence[Apply], dropped: Iterable[int]) -> list[Variable]:
    """Return the variables of a set that nodes outside of it read, or that are outputs of the step."""
    dropped_indices = set(dropped)
    results = [v for k, v in enumerate(args.inner_out_nit_sot) if k not in dropped_indices]
    outputs = [v for taps in args.inner_out_mit_mot for v in taps]
    outputs += [*args.inner_out_mit_sot, *args.inner_out_sit_sot, *results, *args.inner_out_shared, *args.cond]
    readers = [node for node in order if node.outputs[0] not in inside and not getattr(node.op, "is_lazy", False)]
    candidates = dict.fromkeys([*(v for node in readers for v in node.inputs), *outputs])
    return [v for v in candidates if v in inside and isinstance(v.type, TensorType)]


def _is_worth_moving(variable: Variable, inside: set[Variable]) -> bool:
    """Return whether a variable depends on nodes of the set other than views and sizes."""
    dependencies: list[Any] = [v for v in ancestors([variable]) if v in inside]
    return not all(v.owner.op.view_map or isinstance(v.owner.op, (Shape, Shape_i)) or _is_size(v) for v in dependencies)


def _is_size(variable: Variable) -> bool:
    """Return whether a variable may be a size, whose formula must stay visible in the step."""
    return getattr(variable.type, "ndim", 0) == 0 and getattr(variable.type, "dtype", "int64") in integer_dtypes


def _drop_results(args: ScanArgs, indices: Sequence[int]) -> None:
    for k in sorted(indices, reverse=True):
        for field in (args.inner_out_nit_sot, args.outer_in_nit_sot, args.outer_out_nit_sot):
            del field[k]


def _apply_remaining(args: ScanArgs, node: Apply) -> Replacements:
    """Apply the remaining loop, unless it has no outputs."""
    return apply_edited(args, node) if args.outer_outputs else {}


# -- vectorization of computations on sequences --------------------------------------------------------------------


@node_rewriter([Scan])
def push_out_seq_scan(fgraph: FunctionGraph, node: Apply) -> Replacements | bool:
    """Vectorize computations that depend on entries of sequences and on no state, and move them before the loop.

    This applies to elementwise operations and to products with loop-invariant matrices. It requires memory for all
    steps, so it is done only for outputs, which need this memory anyway, and for operations that cost more than storing
    and loading their results. A loop without remaining outputs is removed.
    """
    args = ScanArgs.from_node(node)
    if args.n_mit_mot:
        return False
    vectorizable, order = _vectorizable(args, args.inner_in_seqs)
    outputs = [] if args.as_while else [
        k for k, v in enumerate(args.inner_out_nit_sot)
        if (v in vectorizable or v in args.inner_in_seqs) and args.outer_in_nit_sot[k] is args.n_steps
    ]  # fmt: skip
    frontier = [v for v in _frontier(args, vectorizable, order, outputs) if _is_worth_storing(v, vectorizable, args)]
    values = [args.inner_out_nit_sot[k] for k in outputs]
    if not frontier and not values:
        return False
    with inherit_source(node):
        checked = bool(values)
        stacked = _for_all_steps([*frontier, *values], args, checked)
    replacements = dict(zip([args.outer_out_nit_sot[k] for k in outputs], stacked[len(frontier) :]))
    _drop_results(args, outputs)
    inner = [TensorType(v.type.dtype, rows.type.shape[1:])(name=v.name) for v, rows in zip(frontier, stacked)]
    args.outer_in_seqs += stacked[: len(frontier)]
    args.inner_in_seqs += inner
    args.replace_inner(dict(zip(frontier, inner)))
    return {**replacements, **_apply_remaining(args, node)}


def _vectorizable(args: ScanArgs, roots: Iterable[Variable]) -> tuple[set[Variable], list[Apply]]:
    """Return the variables that elementwise operations and products compute from the given ones, and the step's nodes
    in order.
    """
    of_sequences = set(roots)
    invariant = set(args.inner_in_non_seqs)
    result: set[Variable] = set()
    order = list(io_toposort(args.inner_inputs, args.inner_outputs))
    for node in order:
        if of_sequences.issuperset(node.outputs):
            continue
        operands = [v for v in node.inputs if not isinstance(v, Constant)]
        if all(v in invariant for v in operands):
            invariant.update(node.outputs)
        elif all(v in invariant or v in of_sequences for v in operands) and _is_vectorizable(node, of_sequences):
            of_sequences.update(node.outputs)
            result.update(node.outputs)
    return result, order


def _is_vectorizable(node: Apply, of_sequences: set[Variable]) -> bool:
    """Return whether a node can be computed for all steps at once, at most at the same cost."""
    if isinstance(node.op, (Elemwise, DimShuffle)):
        return True
    if isinstance(node.op, Dot):
        left, right = node.inputs
        if left in of_sequences:
            return right not in of_sequences and right.type.ndim == 2
        return left.type.ndim == 2 and right.type.ndim == 1
    return False


def _for_all_steps(variables: Sequence[Variable], args: ScanArgs, checked: bool) -> list[Variable]:
    """Return the values of variables of the step, stacked over the steps."""

    def rows_of(rows: Any) -> Variable:
        return first_rows(rows, args.n_steps) if checked else rows[: args.n_steps]

    stacked: Any = vectorize_graph(
        list(variables),
        {
            **{v: rows_of(rows) for v, rows in zip(args.inner_in_seqs, args.outer_in_seqs)},
            **dict(zip(args.inner_in_non_seqs, args.outer_in_non_seqs)),
        },
    )
    return list(stacked)


def _is_worth_storing(variable: Variable, vectorizable: set[Variable], args: ScanArgs) -> bool:
    """Return whether computing a variable is expensive, and its rows are no larger than those of a sequence."""
    dependencies: list[Any] = list(ancestors([variable]))
    entries = [v for v in dependencies if v in args.inner_in_seqs]
    if not any(_covers(entry, variable) for entry in entries):
        return False
    return any(v in vectorizable and not _is_cheap(v.owner) for v in dependencies)


def _covers(entry: Any, variable: Variable) -> bool:
    """Return whether an entry of a sequence has at least as many dimensions as a variable, not counting those of length
    1.
    """
    return sum(n != 1 for n in entry.type.shape) >= sum(n != 1 for n in variable.type.shape)


def _is_cheap(node: Apply) -> bool:
    if isinstance(node.op, Elemwise):
        return type(node.op.scalar_op).__name__ in _CHEAP
    return isinstance(node.op, DimShuffle)


# -- products of states --------------------------------------------------------------------------------------------


@node_rewriter([Scan])
def push_out_products_scan(fgraph: FunctionGraph, node: Apply) -> Replacements | bool:
    """Move products that no step reads after the loop, as one matrix product for all steps.

    One product of matrices is faster than a product with a vector in each step. This requires that all operands are
    stored anyway: states of which all rows are read, and sequences.
    """
    args = ScanArgs.from_node(node)
    if args.as_while or args.n_mit_mot:
        return False
    states = [v for v, (output, _) in _rows_in_outputs(args).items() if _is_stored(fgraph, output)]
    if not states:
        return False
    operands = [*args.inner_in_seqs, *states]
    vectorizable, _ = _vectorizable(args, operands)
    outputs = _unread_products(args, vectorizable, operands)
    if not outputs:
        return False
    values = [args.inner_out_nit_sot[k] for k in outputs]
    results = [args.outer_out_nit_sot[k] for k in outputs]
    _drop_results(args, outputs)
    read = set(ancestors(values, blockers=operands))
    rows, replacements = _rows_of(fgraph, [v for v in operands if v in read], node, args)
    rows.update(zip(args.inner_in_non_seqs, args.outer_in_non_seqs))
    with inherit_source(node):
        stacked: Any = vectorize_graph(values, rows)
    return replacements | dict(zip(results, stacked))


def _is_stored(fgraph: FunctionGraph, output: Variable) -> bool:
    """Return whether all rows of a state are stored, because not only the last ones are read."""
    return bool(fgraph.clients[output]) and reads_of_last_rows(fgraph, output) is None


def _unread_products(args: ScanArgs, vectorizable: set[Variable], operands: Sequence[Variable]) -> list[int]:
    """Return the numbers of results that contain products of the given operands that nothing else in the step reads."""
    products = {}
    for k, v in enumerate(args.inner_out_nit_sot):
        if v in vectorizable and args.outer_in_nit_sot[k] is args.n_steps:
            dependencies: list[Any] = [u for u in ancestors([v], blockers=operands) if u in vectorizable]
            products[k] = {u for u in dependencies if isinstance(u.owner.op, Dot)}
    with_products = [k for k, nodes in products.items() if nodes]
    outputs = [v for v in args.inner_outputs if all(v is not args.inner_out_nit_sot[k] for k in with_products)]
    others = set(ancestors(outputs))
    return [k for k in with_products if not products[k] & others]


# -- sums of products ----------------------------------------------------------------------------------------------


@node_rewriter([Scan])
def push_out_add_scan(fgraph: FunctionGraph, node: Apply) -> Replacements | bool:
    """Replace a state that accumulates products by one product after the loop, if only its last value is read."""
    return _sum_of_products(fgraph, node, of_sequences=False)


@node_rewriter([Scan])
def push_out_dot1_scan(fgraph: FunctionGraph, node: Apply) -> Replacements | bool:
    """Replace a state that accumulates products of sequences by one product, if only its last value is read."""
    return _sum_of_products(fgraph, node, of_sequences=True)


def _sum_of_products(fgraph: FunctionGraph, node: Apply, of_sequences: bool) -> Replacements | bool:
    args = ScanArgs.from_node(node)
    if args.as_while or args.n_mit_mot:
        return False
    for k, (old, new) in enumerate(zip(args.inner_in_sit_sot, args.inner_out_sit_sot)):
        terms = added_terms(old, new, args)
        if terms is None or not all(isinstance(t.owner.op, Dot) and t.type.dtype == new.type.dtype for t in terms):
            continue
        factors = [_Factor(v, args) for t in terms for v in t.owner.inputs]
        if any(f.is_invariant for f in factors) or (of_sequences and not all(f.is_sequence for f in factors)):
            continue
        if not inner_sitsot_only_last_step_used(fgraph, new, args):
            continue
        return _sum_products_outside(fgraph, node, args, k, terms)
    return False


def added_terms(old: Any, new: Any, args: ScanArgs) -> list[Any] | None:
    """Match ``new = old + term + ...``; return the terms, or None."""
    if new.owner is None or new.owner.op != add:
        return None
    all_terms = _flat_terms(new)
    terms = [v for v in all_terms if v is not old]
    if len(terms) != len(all_terms) - 1 or any(v.owner is None for v in terms):
        return None
    if any(v.type.broadcastable != old.type.broadcastable for v in terms):
        return None
    others = [v for v in args.inner_outputs if v is not new]
    return None if old in set(ancestors([*others, *terms])) else terms


def _flat_terms(total: Any) -> list[Variable]:
    """Return the terms of a sum, with nested sums flattened."""
    if total.owner is None or total.owner.op != add:
        return [total]
    return [term for v in total.owner.inputs for term in (_flat_terms(v) if v.type == total.type else [v])]


class _Factor:
    """A factor of a product: a variable of the step, and the order of its dimensions in the factor."""

    def __init__(self, variable: Variable, args: ScanArgs) -> None:
        self.order: Any = tuple(range(variable.type.ndim))
        self.variable = variable
        node = variable.owner
        if node is not None and isinstance(node.op, DimShuffle) and len(set(node.op.new_order) - {"x"}) == (
            node.inputs[0].type.ndim
        ):  # fmt: skip
            self.variable, self.order = node.inputs[0], node.op.new_order
        self.is_sequence = self.variable in args.inner_in_seqs
        leaves = {v for v in ancestors([self.variable]) if v.owner is None and not isinstance(v, Constant)}
        self.is_invariant = leaves <= set(args.inner_in_non_seqs)

    def rows(self, rows: Any) -> Any:
        """Return the factor for all steps, given its variable for all steps."""
        return rows.dimshuffle(0, *("x" if d == "x" else d + 1 for d in self.order))


def _sum_products_outside(
    fgraph: FunctionGraph, node: Apply, args: ScanArgs, k: int, terms: Sequence[Any]
) -> Replacements:
    """Return the loop without a state, and the sum of the products of this state after the loop."""
    factors = [[_Factor(v, args) for v in t.owner.inputs] for t in terms]

    def last_value(first: Any, rows: dict[Variable, Any]) -> Variable:
        for left, right in factors:
            first = first + _sum_over_steps(left.rows(rows[left.variable]), right.rows(rows[right.variable]))
        return first

    return sum_outside(fgraph, node, args, k, [f.variable for pair in factors for f in pair], last_value)


def sum_outside(
    fgraph: FunctionGraph, node: Apply, args: ScanArgs, k: int, variables: Iterable[Variable],
    last_value_of: Callable[[Any, dict[Variable, Any]], Any],
) -> Replacements:  # fmt: skip
    """Remove a state from the loop, and compute its last value after the loop.

    Parameters
    ----------
    fgraph, node, args
        The graph, the loop and its parts.
    k
        The number of the state among those with one tap.
    variables
        The variables of the step that the last value depends on.
    last_value_of
        A function from the first value and the stacked values of these variables to the last value.
    """
    output, first = args.outer_out_sit_sot[k], args.outer_in_sit_sot[k]
    for field in (args.inner_in_sit_sot, args.inner_out_sit_sot, args.outer_in_sit_sot, args.outer_out_sit_sot,
                  args.sit_sot_in_slices):  # fmt: skip
        del field[k]
    rows, replacements = _rows_of(fgraph, list(dict.fromkeys(variables)), node, args)
    stored = expansion_of(first)
    with inherit_source(node):
        last = last_value_of((first if stored is None else stored[0])[0], rows)  # other rows are not needed any more
    of_reads: Replacements = {}
    for value, is_checked in _last_values(fgraph, output):
        with inherit_source(node):
            of_reads[value] = last if is_checked else _check_has_step(last, args.n_steps)
    return {**replacements, **of_reads}


def _sum_over_steps(a: Any, b: Any) -> Variable:
    """Return the sum of products over the first dimension, as one product."""
    if a.type.ndim == 3:  # the transposed operand is often contiguous
        a = _flatten_steps(a.dimshuffle(0, 2, 1)).T
    else:
        a = _flatten_steps(a)
    return dot(a, _flatten_steps(b))


def _flatten_steps(rows: Any) -> Any:
    """Merge the first two dimensions."""
    sizes: list[Any] = [as_tensor_variable(size) for size in sizes_of(rows)]
    steps, length, *rest = sizes
    if rows.type.shape[1] == 1:
        return rows.dimshuffle(0, *range(2, rows.type.ndim))
    return rows.reshape((steps * length, *rest), ndim=rows.type.ndim - 1)


def _check_has_step(value: Any, n_steps: Variable | None) -> Any:
    """Return a last value, with a check that the loop has a step."""
    return CheckAndRaise(IndexError, "scan: the last value of a loop without steps.")(value, gt(n_steps, 0))


def _last_values(fgraph: FunctionGraph, output: Variable) -> list[tuple[Variable, bool]]:
    """Return the variables that are the last value of a state; for each, whether it may also be its first value."""
    reads = reads_of_last_rows(fgraph, output)
    assert reads is not None
    return [(chain[-1].outputs[0], len(chain) == 1) for chain in reads.last]


def inner_sitsot_only_last_step_used(fgraph: FunctionGraph, var: Variable, scan_args: ScanArgs) -> bool:
    """Return whether only the last value of a state is read; `var` is the output of the step for it."""
    position = next((k for k, v in enumerate(scan_args.inner_out_sit_sot) if v is var), None)
    if position is None:
        return False
    reads = reads_of_last_rows(fgraph, scan_args.outer_out_sit_sot[position])
    return reads is not None and all(_is_last_entry(chain) for chain in reads.last)


def _is_last_entry(chain: Sequence[Apply]) -> bool:
    """Return whether a chain of nodes reads the last entry: ``x[-1]`` or ``x[1:][-1]``."""
    *slices, last = chain
    starts = [known_integer(node.inputs[1]) for node in slices if len(node.inputs) == 2 and len(node.op.idx_list) == 1]
    indices = last.op.idx_list
    is_entry = len(indices) == 1 and not isinstance(indices[0], slice) and known_integer(last.inputs[1]) == -1
    return is_entry and len(starts) == len(slices) and sum(filter(None, starts)) <= 1


# -- stacked values of variables of the step -----------------------------------------------------------------------


def get_outer_ndim(var: Variable, scan_args: ScanArgs) -> int:
    """Return the number of dimensions of the values of a variable over all steps; loop-invariant ones
    are not stacked.
    """
    is_invariant = isinstance(var, Constant) or var in scan_args.inner_in_non_seqs
    return var.type.ndim + (not is_invariant)


def add_nitsot_outputs(
    fgraph: FunctionGraph, old_scan_node: Apply, old_scan_args: ScanArgs, new_outputs_inner: Sequence[Variable]
) -> tuple[Apply, Replacements]:
    """Add outputs to a loop; return the new node and replacements of the outputs of the old one."""
    args = copy(old_scan_args)
    args.inner_out_nit_sot += new_outputs_inner
    args.outer_in_nit_sot += [args.n_steps] * len(new_outputs_inner)
    old_outputs: list[Variable | None] = list(args.outer_outputs)
    states = len(old_outputs) - len(args.outer_out_shared)
    old_outputs[states:states] = [None] * len(new_outputs_inner)  # the old loop has none
    new_node = edited_node(args, old_scan_node)
    return new_node, {old: new for old, new in zip(old_outputs, new_node.outputs, strict=True) if old is not None}


def push_out_inner_vars(
    fgraph: FunctionGraph, inner_vars: Sequence[Variable], old_scan_node: Apply, old_scan_args: ScanArgs
) -> tuple[list[Variable], ScanArgs, Replacements]:
    """Return the values of variables of the step outside of the loop, stacked over the steps unless they are
    loop-invariant.

    Returns
    -------
    tuple
        The variables, the arguments of the new loop, and replacements of the outputs of the old one.
    """
    changing = [v for v in inner_vars if get_outer_ndim(v, old_scan_args) > v.type.ndim]
    rows, replacements = _rows_of(fgraph, changing, old_scan_node, old_scan_args)
    invariant = dict(zip(old_scan_args.inner_in_non_seqs, old_scan_args.outer_in_non_seqs))
    values = [rows[v] if v in rows else invariant.get(v, v) for v in inner_vars]
    new_node: Any = next(iter(replacements.values())).owner if replacements else old_scan_node
    return values, ScanArgs.from_node(new_node), replacements


def _rows_of(
    fgraph: FunctionGraph, variables: Sequence[Variable], node: Apply, args: ScanArgs
) -> tuple[dict[Variable, Any], Replacements]:
    """Return the stacked values of variables of the step: rows of sequences, states and new outputs."""
    positions = _rows_in_outputs(args)
    missing = [v for v in variables if v not in positions and v not in args.inner_in_seqs]
    if not missing and not args.outer_outputs:
        new_node: Any = None
        replacements: Replacements = {}
    else:
        new_node, replacements = add_nitsot_outputs(fgraph, node, args, missing)
    rows: dict[Variable, Any] = {}
    with inherit_source(node):
        for v in variables:
            if v in args.inner_in_seqs:
                rows[v] = first_rows(args.outer_in_seqs[args.inner_in_seqs.index(v)], args.n_steps)
            elif v in positions:
                output, index = positions[v]
                rows[v] = cast("Any", replacements[output])[index]
    if new_node is not None:
        collected = new_node.op.outer_nitsot_outs(new_node.outputs)
        rows.update(zip(missing, collected[len(collected) - len(missing) :]))
    return rows, replacements


def _rows_in_outputs(args: ScanArgs) -> dict[Variable, tuple[Variable, slice]]:
    """Return the output and the slice of its rows for former and new values of states."""
    rows: dict[Variable, tuple[Variable, slice]] = {}
    outputs = [*args.outer_out_mit_sot, *args.outer_out_sit_sot]
    buffers = [*args.outer_in_mit_sot, *args.outer_in_sit_sot]
    inner = [*args.inner_in_mit_sot, *([v] for v in args.inner_in_sit_sot)]
    new_values = [*args.inner_out_mit_sot, *args.inner_out_sit_sot]
    slices = [*args.mit_sot_in_slices, *args.sit_sot_in_slices]
    for output, buffer, formers, new, taps in zip(outputs, buffers, inner, new_values, slices, strict=True):
        depth = -min(taps)
        stop = None if is_exact(buffer, depth, args.n_steps) else args.n_steps + depth
        while new is not None:
            rows.setdefault(new, (output, slice(depth, stop)))
            stated = new.owner is not None and isinstance(new.owner.op, SpecifyShape)
            new = new.owner.inputs[0] if stated else None
        for tap, variable in zip(taps, formers):
            rows.setdefault(variable, (output, slice(depth + tap, args.n_steps + depth + tap)))
    return rows
