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
    "summed_outside",
]

Replacements = dict[Variable, Variable]

#: Elementwise operations that cost no more than to store and load what they compute.
_CHEAP = frozenset(
    {
        "Abs", "Add", "And", "Cast", "EQ", "GE", "GT", "Identity", "Invert", "LE", "LT", "Mul", "NEQ", "Neg", "Or",
        "ScalarMaximum", "ScalarMinimum", "Second", "Sgn", "Sqr", "Sub", "Switch", "XOR",
    }
)  # fmt: skip


# -- values that are the same in every step ------------------------------------------------------------------------


@node_rewriter([Scan])
def push_out_non_seq_scan(fgraph: FunctionGraph, node: Apply) -> Replacements | bool:
    """Compute once, before the loop, what a step computes of nothing but values that do not change.

    Outputs that are the same in every step are repeated.
    """
    args = ScanArgs.from_node(node)
    steady, order = _computed_of(args, args.inner_in_non_seqs)
    repeated = [] if args.as_while else [
        k for k, v in enumerate(args.inner_out_nit_sot) if v in steady or v in args.inner_in_non_seqs
    ]  # fmt: skip
    outputs = [v for k, v in enumerate(args.inner_out_nit_sot) if k in repeated]
    frontier = _frontier(args, steady, order, set(repeated))
    frontier = [v for v in frontier if _is_work(v, steady)]
    if not frontier and not outputs:
        return False
    outer_of = dict(zip(args.inner_in_non_seqs, args.outer_in_non_seqs))
    with inherit_source(node):
        made = clone_replace([*frontier, *outputs], outer_of)
        found: Replacements = {}
        for k, value in zip(repeated, made[len(frontier) :]):
            length = args.outer_in_nit_sot[k]
            found[args.outer_out_nit_sot[k]] = alloc(value, length, *sizes_of(value))
    _drop_results(args, repeated)
    inner = [v.type(name=v.name) for v in frontier]
    args.outer_in_non_seqs += made[: len(frontier)]
    args.inner_in_non_seqs += inner
    args.replace_inner(dict(zip(frontier, inner)))
    return {**found, **_apply_remaining(args, node)}


def _computed_of(args: ScanArgs, given: Sequence[Variable]) -> tuple[set[Variable], list[Apply]]:
    """Return the variables that the step computes from these inputs and constants alone, and its nodes in order."""
    known = set(given)
    found: set[Variable] = set()
    order = list(io_toposort(args.inner_inputs, args.inner_outputs))
    for node in order:
        of_given = any(v in known for v in node.inputs)
        if of_given and all(v in known or isinstance(v, Constant) or _is_constant(v) for v in node.inputs):
            known.update(node.outputs)
            found.update(node.outputs)
    return found, order


def _is_constant(variable: Variable) -> bool:
    """Return whether this is computed of constants alone."""
    return variable.owner is not None and all(
        v.owner is not None or isinstance(v, Constant) for v in ancestors([variable])
    )


def _frontier(args: ScanArgs, inside: set[Variable], order: Sequence[Apply], dropped: Iterable[int]) -> list[Variable]:
    """The variables of a set that nodes outside of the set read, or that are outputs of the step."""
    gone = set(dropped)
    kept = [v for k, v in enumerate(args.inner_out_nit_sot) if k not in gone]
    others = [v for taps in args.inner_out_mit_mot for v in taps]
    others += [*args.inner_out_mit_sot, *args.inner_out_sit_sot, *kept, *args.inner_out_shared, *args.cond]
    readers = [node for node in order if node.outputs[0] not in inside and not getattr(node.op, "is_lazy", False)]
    wanted = dict.fromkeys([*(v for node in readers for v in node.inputs), *others])
    return [v for v in wanted if v in inside and isinstance(v.type, TensorType)]


def _is_work(variable: Variable, inside: set[Variable]) -> bool:
    """Return whether more than views and sizes are computed on the way to a variable."""
    found: list[Any] = [v for v in ancestors([variable]) if v in inside]
    return not all(v.owner.op.view_map or isinstance(v.owner.op, (Shape, Shape_i)) or _is_size(v) for v in found)


def _is_size(variable: Any) -> bool:
    """Return whether this may be a size: the step is to know what it is computed from."""
    return getattr(variable.type, "ndim", 0) == 0 and getattr(variable.type, "dtype", "int64") in integer_dtypes


def _drop_results(args: ScanArgs, gone: Sequence[int]) -> None:
    for k in sorted(gone, reverse=True):
        for field in (args.inner_out_nit_sot, args.outer_in_nit_sot, args.outer_out_nit_sot):
            del field[k]


def _apply_remaining(args: ScanArgs, node: Apply) -> Replacements:
    """Apply what is left of a loop, if anything is."""
    return apply_edited(args, node) if args.outer_outputs else {}


# -- values that depend on sequences only --------------------------------------------------------------------------


@node_rewriter([Scan])
def push_out_seq_scan(fgraph: FunctionGraph, node: Apply) -> Replacements | bool:
    """Compute before the loop, for all steps at once, what depends on entries of sequences and on no state.

    This is done for elementwise operations, and for products with matrices that are the same in every step, where it
    is worth the memory: for outputs, which have a row for each step in any case, and for operations that cost more than
    to store and load their results.  A loop of which nothing is left is gone.
    """
    args = ScanArgs.from_node(node)
    if args.n_mit_mot:
        return False
    mapped, order = _vectorizable(args, args.inner_in_seqs)
    outputs = [] if args.as_while else [
        k for k, v in enumerate(args.inner_out_nit_sot)
        if (v in mapped or v in args.inner_in_seqs) and args.outer_in_nit_sot[k] is args.n_steps
    ]  # fmt: skip
    frontier = [v for v in _frontier(args, mapped, order, outputs) if _pays(v, mapped, args)]
    values = [args.inner_out_nit_sot[k] for k in outputs]
    if not frontier and not values:
        return False
    with inherit_source(node):
        checked = bool(values)
        made = _for_all_steps([*frontier, *values], args, checked)
    found = dict(zip([args.outer_out_nit_sot[k] for k in outputs], made[len(frontier) :]))
    _drop_results(args, outputs)
    inner = [TensorType(v.type.dtype, rows.type.shape[1:])(name=v.name) for v, rows in zip(frontier, made)]
    args.outer_in_seqs += made[: len(frontier)]
    args.inner_in_seqs += inner
    args.replace_inner(dict(zip(frontier, inner)))
    return {**found, **_apply_remaining(args, node)}


def _vectorizable(args: ScanArgs, given: Iterable[Variable]) -> tuple[set[Variable], list[Apply]]:
    """Return the variables that are computed from these elementwise or by products, and the step's nodes in order."""
    of_sequences = set(given)
    steady = set(args.inner_in_non_seqs)
    found: set[Variable] = set()
    order = list(io_toposort(args.inner_inputs, args.inner_outputs))
    for node in order:
        if of_sequences.issuperset(node.outputs):
            continue
        operands = [v for v in node.inputs if not isinstance(v, Constant)]
        if all(v in steady for v in operands):
            steady.update(node.outputs)
        elif all(v in steady or v in of_sequences for v in operands) and _is_for_rows(node, of_sequences):
            of_sequences.update(node.outputs)
            found.update(node.outputs)
    return found, order


def _is_for_rows(node: Apply, of_sequences: set[Variable]) -> bool:
    """Return whether a node does for all steps at once what it does for one, as fast or faster."""
    if isinstance(node.op, (Elemwise, DimShuffle)):
        return True
    if isinstance(node.op, Dot):
        left, right = node.inputs
        if left in of_sequences:
            return right not in of_sequences and right.type.ndim == 2
        return left.type.ndim == 2 and right.type.ndim == 1
    return False


def _for_all_steps(variables: Sequence[Variable], args: ScanArgs, checked: bool) -> list[Variable]:
    """Return the values of variables of the step in all steps, stacked."""

    def rows_of(rows: Any) -> Any:
        return first_rows(rows, args.n_steps) if checked else rows[: args.n_steps]

    made: Any = vectorize_graph(
        list(variables),
        {
            **{v: rows_of(rows) for v, rows in zip(args.inner_in_seqs, args.outer_in_seqs)},
            **dict(zip(args.inner_in_non_seqs, args.outer_in_non_seqs)),
        },
    )
    return list(made)


def _pays(variable: Any, mapped: set[Variable], args: ScanArgs) -> bool:
    """Return whether rows of a variable are expensive to compute, and no larger than those of a sequence."""
    behind: list[Any] = list(ancestors([variable]))
    entries = [v for v in behind if v in args.inner_in_seqs]
    if not any(_covers(entry, variable) for entry in entries):
        return False
    return any(v in mapped and not _is_cheap(v.owner) for v in behind)


def _covers(entry: Any, variable: Any) -> bool:
    """Return whether an entry of a sequence has as many dimensions that may be long as a variable."""
    return sum(n != 1 for n in entry.type.shape) >= sum(n != 1 for n in variable.type.shape)


def _is_cheap(node: Apply) -> bool:
    if isinstance(node.op, Elemwise):
        return type(node.op.scalar_op).__name__ in _CHEAP
    return isinstance(node.op, DimShuffle)


# -- results that are products of states ---------------------------------------------------------------------------


@node_rewriter([Scan])
def push_out_products_scan(fgraph: FunctionGraph, node: Apply) -> Replacements | bool:
    """Compute behind the loop, for all steps at once, results that are products and that no step reads.

    One product of matrices takes less time than one with a vector in each step.  This is done where it needs no more
    memory: of states all of whose rows are read, and of sequences.
    """
    args = ScanArgs.from_node(node)
    if args.as_while or args.n_mit_mot:
        return False
    states = [v for v, (output, _) in _places(args).items() if _is_kept(fgraph, output)]
    if not states:
        return False
    given = [*args.inner_in_seqs, *states]
    mapped, _ = _vectorizable(args, given)
    outputs = _unread_products(args, mapped, given)
    if not outputs:
        return False
    values = [args.inner_out_nit_sot[k] for k in outputs]
    results = [args.outer_out_nit_sot[k] for k in outputs]
    _drop_results(args, outputs)
    read = set(ancestors(values, blockers=given))
    rows, news = _rows_of(fgraph, [v for v in given if v in read], node, args)
    rows.update(zip(args.inner_in_non_seqs, args.outer_in_non_seqs))
    with inherit_source(node):
        made: Any = vectorize_graph(values, rows)
    return news | dict(zip(results, made))


def _is_kept(fgraph: FunctionGraph, output: Variable) -> bool:
    """Return whether all rows of a state are in memory, since others than the last ones are read."""
    return bool(fgraph.clients[output]) and reads_of_last_rows(fgraph, output) is None


def _unread_products(args: ScanArgs, mapped: set[Variable], given: Sequence[Variable]) -> list[int]:
    """The numbers of results with products on the way from given variables, which nothing else in the step reads."""
    products = {}
    for k, v in enumerate(args.inner_out_nit_sot):
        if v in mapped and args.outer_in_nit_sot[k] is args.n_steps:
            between: list[Any] = [u for u in ancestors([v], blockers=given) if u in mapped]
            products[k] = {u for u in between if isinstance(u.owner.op, Dot)}
    found = [k for k, of in products.items() if of]
    kept = [v for v in args.inner_outputs if all(v is not args.inner_out_nit_sot[k] for k in found)]
    others = set(ancestors(kept))
    return [k for k in found if not products[k] & others]


# -- sums of products ----------------------------------------------------------------------------------------------


@node_rewriter([Scan])
def push_out_add_scan(fgraph: FunctionGraph, node: Apply) -> Replacements | bool:
    """Make one product behind the loop of the products that a state of which only the last value is read adds up."""
    return _sum_of_products(fgraph, node, of_sequences=False)


@node_rewriter([Scan])
def push_out_dot1_scan(fgraph: FunctionGraph, node: Apply) -> Replacements | bool:
    """Make one product before the loop of those of sequences that a state adds up, if only its last value is read."""
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
        if any(f.is_steady for f in factors) or (of_sequences and not all(f.is_sequence for f in factors)):
            continue
        if not inner_sitsot_only_last_step_used(fgraph, new, args):
            continue
        return _products_outside(fgraph, node, args, k, terms)
    return False


def added_terms(old: Any, new: Any, args: ScanArgs) -> list[Any] | None:
    """The terms that a state adds to its last value in each step; None if it does something else."""
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


def _flat_terms(total: Any) -> list[Any]:
    """The terms of a sum, and of sums among them."""
    if total.owner is None or total.owner.op != add:
        return [total]
    return [term for v in total.owner.inputs for term in (_flat_terms(v) if v.type == total.type else [v])]


class _Factor:
    """A factor of a product: a variable of the step, and how its dimensions are arranged."""

    def __init__(self, variable: Any, args: ScanArgs) -> None:
        self.order: Any = tuple(range(variable.type.ndim))
        self.variable = variable
        node = variable.owner
        if node is not None and isinstance(node.op, DimShuffle) and len(set(node.op.new_order) - {"x"}) == (
            node.inputs[0].type.ndim
        ):  # fmt: skip
            self.variable, self.order = node.inputs[0], node.op.new_order
        self.is_sequence = self.variable in args.inner_in_seqs
        leaves = {v for v in ancestors([self.variable]) if v.owner is None and not isinstance(v, Constant)}
        self.is_steady = leaves <= set(args.inner_in_non_seqs)

    def rows(self, rows: Any) -> Any:
        """The factor in all steps, of its variable's value in all steps."""
        return rows.dimshuffle(0, *("x" if d == "x" else d + 1 for d in self.order))


def _products_outside(fgraph: FunctionGraph, node: Apply, args: ScanArgs, k: int, terms: Sequence[Any]) -> Replacements:
    """The loop without a state, and the sum of the state's products outside."""
    factors = [[_Factor(v, args) for v in t.owner.inputs] for t in terms]

    def total(first: Any, rows: dict[Variable, Any]) -> Any:
        for left, right in factors:
            first = first + _sum_over_steps(left.rows(rows[left.variable]), right.rows(rows[right.variable]))
        return first

    return summed_outside(fgraph, node, args, k, [f.variable for pair in factors for f in pair], total)


def summed_outside(
    fgraph: FunctionGraph, node: Apply, args: ScanArgs, k: int, wanted: Iterable[Variable],
    total: Callable[[Any, dict[Variable, Any]], Any],
) -> Replacements:  # fmt: skip
    """The loop without a state, whose last value is computed behind it.

    Parameters
    ----------
    fgraph, node, args
        The graph, the loop and its parts.
    k
        The number of the state among those with one tap.
    wanted
        Variables of the step.
    total
        Returns the last value, given the first one and the values of these variables in all steps.
    """
    output, first = args.outer_out_sit_sot[k], args.outer_in_sit_sot[k]
    for field in (args.inner_in_sit_sot, args.inner_out_sit_sot, args.outer_in_sit_sot, args.outer_out_sit_sot,
                  args.sit_sot_in_slices):  # fmt: skip
        del field[k]
    rows, news = _rows_of(fgraph, list(dict.fromkeys(wanted)), node, args)
    stored = expansion_of(first)
    with inherit_source(node):
        last = total((first if stored is None else stored[0])[0], rows)  # other rows are not needed any more
    made: Replacements = {}
    for value, is_checked in _last_values(fgraph, output):
        with inherit_source(node):
            made[value] = last if is_checked else _with_a_step(last, args.n_steps)
    return {**news, **made}


def _sum_over_steps(a: Any, b: Any) -> Any:
    """The sum over the first dimension of products of the entries, as one product."""
    if a.type.ndim == 3:  # as the transpose of what is often contiguous
        a = _flat(a.dimshuffle(0, 2, 1)).T
    else:
        a = _flat(a)
    return dot(a, _flat(b))


def _flat(rows: Any) -> Any:
    """The first two dimensions as one."""
    sizes: list[Any] = [as_tensor_variable(size) for size in sizes_of(rows)]
    steps, length, *rest = sizes
    if rows.type.shape[1] == 1:
        return rows.dimshuffle(0, *range(2, rows.type.ndim))
    return rows.reshape((steps * length, *rest), ndim=rows.type.ndim - 1)


def _with_a_step(value: Any, n_steps: Any) -> Any:
    """A last value, which there is only if there was a step."""
    return CheckAndRaise(IndexError, "scan: the last value of a loop without steps.")(value, gt(n_steps, 0))


def _last_values(fgraph: FunctionGraph, output: Variable) -> list[tuple[Variable, bool]]:
    """The variables that are the last value of a state, and for each whether it may be the first value."""
    reads = reads_of_last_rows(fgraph, output)
    assert reads is not None
    return [(chain[-1].outputs[0], len(chain) == 1) for chain in reads.last]


def inner_sitsot_only_last_step_used(fgraph: FunctionGraph, var: Variable, scan_args: ScanArgs) -> bool:
    """Return whether of a state, given the step's output, only the last value is read."""
    place = next((k for k, v in enumerate(scan_args.inner_out_sit_sot) if v is var), None)
    if place is None:
        return False
    reads = reads_of_last_rows(fgraph, scan_args.outer_out_sit_sot[place])
    return reads is not None and all(_is_last_entry(chain) for chain in reads.last)


def _is_last_entry(chain: Sequence[Apply]) -> bool:
    """Return whether nodes, one after the other, read the last entry: ``x[-1]`` or ``x[1:][-1]``."""
    *slices, last = chain
    starts = [known_integer(node.inputs[1]) for node in slices if len(node.inputs) == 2 and len(node.op.idx_list) == 1]
    indices = last.op.idx_list
    is_entry = len(indices) == 1 and not isinstance(indices[0], slice) and known_integer(last.inputs[1]) == -1
    return is_entry and len(starts) == len(slices) and sum(filter(None, starts)) <= 1


# -- rows of variables of the step ---------------------------------------------------------------------------------


def get_outer_ndim(var: Any, scan_args: ScanArgs) -> int:
    """Return how many dimensions a variable of the step has outside: one more if it may change from step to step."""
    is_steady = isinstance(var, Constant) or var in scan_args.inner_in_non_seqs
    return var.type.ndim + (not is_steady)


def add_nitsot_outputs(
    fgraph: FunctionGraph, old_scan_node: Apply, old_scan_args: ScanArgs, new_outputs_inner: Sequence[Variable]
) -> tuple[Apply, Replacements]:
    """Return a loop that also collects variables of its step, and what replaces the outputs of the old one."""
    args = copy(old_scan_args)
    args.inner_out_nit_sot += new_outputs_inner
    args.outer_in_nit_sot += [args.n_steps] * len(new_outputs_inner)
    kept = list(args.outer_outputs)
    states = len(kept) - len(args.outer_out_shared)
    kept[states:states] = [None] * len(new_outputs_inner)  # type: ignore[list-item]  # the old loop has none
    made = edited_node(args, old_scan_node)
    return made, {old: new for old, new in zip(kept, made.outputs, strict=True) if old is not None}


def push_out_inner_vars(
    fgraph: FunctionGraph, inner_vars: Sequence[Variable], old_scan_node: Apply, old_scan_args: ScanArgs
) -> tuple[list[Variable], ScanArgs, Replacements]:
    """Return what variables of the step are in all steps, stacked; those that change by themselves, as they are.

    Returns
    -------
    tuple
        The variables outside, the parts of the loop that they belong to, and what takes the place of the outputs of
        the old one.
    """
    changing = [v for v in inner_vars if get_outer_ndim(v, old_scan_args) > v.type.ndim]  # type: ignore[attr-defined]
    rows, replacements = _rows_of(fgraph, changing, old_scan_node, old_scan_args)
    steady = dict(zip(old_scan_args.inner_in_non_seqs, old_scan_args.outer_in_non_seqs))
    found = [rows[v] if v in rows else steady.get(v, v) for v in inner_vars]
    made: Any = next(iter(replacements.values())).owner if replacements else old_scan_node
    return found, ScanArgs.from_node(made), replacements


def _rows_of(
    fgraph: FunctionGraph, variables: Sequence[Variable], node: Apply, args: ScanArgs
) -> tuple[dict[Variable, Any], Replacements]:
    """The rows of variables of the step: those of sequences and states, and for others of new outputs."""
    place = _places(args)
    missing = [v for v in variables if v not in place and v not in args.inner_in_seqs]
    if not missing and not args.outer_outputs:
        made: Any = None
        news: Replacements = {}
    else:
        made, news = add_nitsot_outputs(fgraph, node, args, missing)
    rows: dict[Variable, Any] = {}
    with inherit_source(node):
        for v in variables:
            if v in args.inner_in_seqs:
                rows[v] = first_rows(args.outer_in_seqs[args.inner_in_seqs.index(v)], args.n_steps)
            elif v in place:
                output, where = place[v]
                rows[v] = cast("Any", news[output])[where]
    if made is not None:
        collected = made.op.outer_nitsot_outs(made.outputs)
        rows.update(zip(missing, collected[len(collected) - len(missing) :]))
    return rows, news


def _places(args: ScanArgs) -> dict[Variable, tuple[Variable, slice]]:
    """For former and new values of states the output that holds them, and which of its rows they are."""
    found: dict[Variable, tuple[Variable, slice]] = {}
    outputs = [*args.outer_out_mit_sot, *args.outer_out_sit_sot]
    buffers = [*args.outer_in_mit_sot, *args.outer_in_sit_sot]
    inner = [*args.inner_in_mit_sot, *([v] for v in args.inner_in_sit_sot)]
    news = [*args.inner_out_mit_sot, *args.inner_out_sit_sot]
    slices = [*args.mit_sot_in_slices, *args.sit_sot_in_slices]
    for output, buffer, formers, new, taps in zip(outputs, buffers, inner, news, slices, strict=True):
        depth = -min(taps)
        stop = None if is_exact(buffer, depth, args.n_steps) else args.n_steps + depth
        while new is not None:
            found.setdefault(new, (output, slice(depth, stop)))
            stated = new.owner is not None and isinstance(new.owner.op, SpecifyShape)
            new = new.owner.inputs[0] if stated else None
        for tap, variable in zip(taps, formers):
            found.setdefault(variable, (output, slice(depth + tap, args.n_steps + depth + tap)))
    return found
