"""Tests by construction of all rewrite rules.

How to add examples: every node rewriter in the databases is either a row (`rule(...)`), which is tried on expressions
made from its pattern, or has examples by name in a file ``tests/rules/<family>_examples.py`` (found by its name)::

    EXAMPLES = {
        "local_mul_zero": [
            lambda x: x * 0,
            example(lambda x, y: x * (y * 0), assumes_finite="the zero is taken for the product of infinity and it"),
        ],
    }

The first letter of a parameter (one without a default) says what it stands for: x, y, z, w tensors of many dtypes and
shapes, or constants; b booleans of these shapes; s, v, m, t a scalar, a vector (5), a matrix (4, 5), a tensor
(3, 4, 5) of any dtype; k an integer scalar from 0 to 2, n one from 3 to 5; i a vector of integers from 0 to 2.
Exceptions for what is made from the pattern of a row stand in ``ROWS = {"name": {"regroups": "why", ...}}`` of a file;
``not_made`` says why nothing is made, where the row is about more than its pattern.
Each example must fire at least once; each time, values (NaN, infinity and signed zeros too), dtypes, shapes, static
types and errors are compared with the expression as written. `example` has the exceptions, which must give reasons.
Rows may have examples, too. Run: ``pytest tests/rules/test_rules_by_construction.py -k local_mul_zero``.
"""

from __future__ import annotations

import importlib
import inspect
import numbers
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import aesara.tensor.rewriting  # noqa: F401 - registers the rules
from aesara.graph.cloning import clone
from aesara.graph.destroyhandler import DestroyHandler
from aesara.graph.features import ReplaceValidate
from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Constant, Variable
from aesara.graph.op import Op
from aesara.graph.rewriting.matching import Extractor, Ops
from aesara.graph.rewriting.merge import MergeOptimizer
from aesara.graph.rewriting.node_rewriters import is_tracked
from aesara.graph.rewriting.pattern import Rule
from aesara.graph.rewriting.rewriter import NodeRewriter
from aesara.graph.rewriting.tracker import OpToRewriterTracker
from aesara.graph.rewriting.unify import LogicVariable, OpPattern, ValuePattern
from aesara.graph.traversal import io_toposort
from aesara.tensor.rewriting.rows import NumberVariable
from aesara.tensor.rewriting.shape import ShapeFeature
from tests.fuzz.evaluation import EXACT_SCALAR_OPS, conditioned
from tests.rules.exact import errors_in_units
from tests.rules.leaves import Variation, variations

#: How far apart both sides may be where it is not known which is better, in units in the last place.
UNITS = 4

ARITHMETIC = frozenset("Add Sub Mul Sqr TrueDivide Reciprocal IntDiv".split()) | EXACT_SCALAR_OPS


@dataclass(frozen=True)
class Example:
    """An expression on which a rule is tried, and what is not asked of the rule there; see `example`."""

    build: Callable[..., Any]
    dtypes: tuple[str, ...] | None = None
    domain: tuple[float, float] | None = None
    moderate: str | None = None
    assumes_finite: str | None = None
    limits: str | None = None
    zeros: str | None = None
    nonempty: str | None = None
    regroups: str | None = None
    drops_checks: str | None = None

    @property
    def leaves(self) -> tuple[str, ...]:
        parameters = inspect.signature(self.build).parameters.values()
        return tuple(p.name for p in parameters if p.default is inspect.Parameter.empty)


def example(build: Callable[..., Any], **exceptions: Any) -> Example:
    """An example with exceptions.

    Parameters
    ----------
    build
        A function of leaves that gives an expression or a list of them.
    dtypes
        The dtypes that leaves take, where the rule is about these alone.
    domain
        Between which numbers the data lie, where the rule is about these alone; NaN is among them nevertheless.
    moderate
        Why data are neither NaN nor infinite, huge or tiny.
    assumes_finite
        Why elements are not compared where the expression as written gives NaN or an infinite number.
    limits
        Why there may be a limit where the expression as written gives NaN for an infinite number.
    zeros
        Why zeros may have another sign in arithmetic. (In functions they may.)
    nonempty
        Why the rule is not for tensors without elements.
    regroups
        Why results may differ as they do if each operation of the expression is rounded in another way.
    drops_checks
        Why an error of the expression as written may be lost.
    """
    return Example(build, **exceptions)


# Rules


def examples() -> dict[str, list[Example]]:
    """The examples of all files, by the names of rules."""
    found: dict[str, list[Example]] = {}
    for module in _example_modules():
        for name, entries in module.EXAMPLES.items():
            found.setdefault(name, []).extend(e if isinstance(e, Example) else Example(e) for e in entries)
    return found


def _example_modules() -> Iterator[Any]:
    for path in sorted(Path(__file__).parent.glob("*_examples.py")):
        yield importlib.import_module(f"tests.rules.{path.stem}")


def exceptions_of_rows() -> dict[str, dict[str, Any]]:
    """The exceptions for rows of all files, by the names of the rows."""
    return {name: given for module in _example_modules() for name, given in getattr(module, "ROWS", {}).items()}


def examples_of_row(row: Rule, exceptions: dict[str, Any]) -> list[Example]:
    """Expressions made from the pattern of a row, for each of its ops; none if it is not of ops and numbers alone."""
    if "not_made" in exceptions or not _is_buildable(row.pattern):
        return []
    counts = [1, 2] if _has_rest(row.pattern) else [1]
    choices = range(_most_choices(row.pattern))
    return [Example(_from_pattern(row.pattern, n, choice), **exceptions) for choice in choices for n in counts]


def _is_buildable(pattern: Any) -> bool:
    if isinstance(pattern, OpPattern):
        op = pattern.op
        of_ops = isinstance(op, Op) or (isinstance(op, Ops) and not op.classes and not op.attributes)
        return of_ops and pattern.others is None and all(_is_buildable(p) for p in pattern.inputs)
    if isinstance(pattern, NumberVariable):
        return isinstance(pattern.value, numbers.Number)
    if isinstance(pattern, Extractor):
        return False
    return not (isinstance(pattern, LogicVariable) and pattern.constraint is not None)


def _most_choices(pattern: OpPattern) -> int:
    """Return the largest number of ops that a part of a pattern may be."""
    own = len(pattern.op.members) if isinstance(pattern.op, Ops) else 1
    return max(own, *(_most_choices(inner) for inner in pattern.operands), 1)


def _has_rest(pattern: Any) -> bool:
    return isinstance(pattern, OpPattern) and (
        pattern.rest is not None or any(_has_rest(inner) for inner in pattern.inputs)
    )


def _from_pattern(pattern: OpPattern, count: int, choice: int) -> Callable[..., Any]:
    """A function of leaves that builds what matches a pattern; `count` leaves for what its rest stands for.

    Of several ops the one at the place `choice` is taken.
    """
    names: dict[str, list[int]] = {}
    total = 0

    def number(part: Any) -> None:
        nonlocal total
        if isinstance(part, LogicVariable) and not isinstance(part, NumberVariable) and part.name not in names:
            names[part.name] = [total]
            total += 1
        elif isinstance(part, OpPattern):
            for inner in part.inputs:
                number(inner)
            if part.rest is not None and part.rest.name not in names:
                names[part.rest.name] = list(range(total, total + count))
                total += count

    def instance(part: Any, leaves: tuple[Variable, ...]) -> Any:
        if isinstance(part, (NumberVariable, ValuePattern)):
            return part.value
        if isinstance(part, LogicVariable):
            return leaves[names[part.name][0]]
        if isinstance(part, OpPattern):
            inputs = [instance(inner, leaves) for inner in part.inputs]
            if part.rest is not None:
                inputs.extend(leaves[i] for i in names[part.rest.name])
            op = part.op.members[choice % len(part.op.members)] if isinstance(part.op, Ops) else part.op
            return op(*inputs)
        return part

    number(pattern)

    def build(*leaves: Variable) -> Any:
        return instance(pattern, leaves)

    parameters = [inspect.Parameter(f"x{i}", inspect.Parameter.POSITIONAL_ONLY) for i in range(total)]
    build.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return build


# Comparison


class WrongRule(AssertionError):
    """A rule changed what an expression computes."""


def check(rewriter: NodeRewriter, tags: set[str], of: Example) -> int:
    """Apply a rule to all variations of an example; how often it fired."""
    fired = compared = 0
    for variation in variations(of.leaves, of.dtypes, of.domain, of.moderate is not None):
        applied = apply_once(rewriter, tags, of, variation)
        if applied is None:
            continue
        fired += 1
        reference, after = applied
        try:
            compare_types(reference, after)
            compared += sum(compare(reference, after, v, of, tags) for v in variation.data(of.nonempty is None))
        except WrongRule as error:
            raise WrongRule(f"{error}\nwith {variation}") from None
    if fired and not compared:
        raise WrongRule("an error is all that the expression gives, whatever the operands")
    return fired


def apply_once(
    rewriter: NodeRewriter, tags: set[str], of: Example, variation: Variation
) -> tuple[list[Variable], list[Variable]] | None:
    """The expression of a variation before and after a rule was tried on each of its nodes; None if it never fired."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        built = _built(tags, of, variation)
        if built is None:
            return None
        reference, fgraph = built
        return (reference, list(fgraph.outputs)) if _fires(rewriter, fgraph) else None


def rounds_until_still(rewriter: NodeRewriter, tags: set[str], of: Example, most: int) -> int:
    """Count the times that a rule changes an expression, and then its results, until it does not fire.

    The operands are of the first kind on which it fires. After `most` rounds it is not asked again.
    """
    for variation in variations(of.leaves, of.dtypes, of.domain, of.moderate is not None):
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            built = _built(tags, of, variation)
            rounds = 0
            while built is not None and rounds < most and _fires(rewriter, built[1]):
                rounds += 1
        if rounds:
            return rounds
    return 0


def _built(tags: set[str], of: Example, variation: Variation) -> tuple[list[Variable], FunctionGraph] | None:
    """The outputs of a copy of the expression for a variation, and the graph of it; None if there is none of those."""
    try:
        built = of.build(*variation.leaves)
    except (TypeError, ValueError, NotImplementedError, IndexError):
        return None
    outputs = list(built) if isinstance(built, (list, tuple)) else [built]
    inputs = [leaf for leaf in variation.leaves if not isinstance(leaf, Constant)]
    reference = clone(inputs, outputs, copy_inputs=False)[1]
    features = [ShapeFeature(), ReplaceValidate()]
    if "inplace" in tags:
        features.append(DestroyHandler())
    fgraph = FunctionGraph(inputs, outputs, clone=False, features=features)
    MergeOptimizer().rewrite(fgraph)
    return reference, fgraph


def _fires(rewriter: NodeRewriter, fgraph: FunctionGraph) -> bool:
    """Try a rule on each node of a graph."""
    changed = False
    for node in fgraph.toposort():
        if node not in fgraph.apply_nodes:
            continue
        result = is_tracked(rewriter.tracks(), node.op) and rewriter.transform(fgraph, node)
        if not result:
            continue
        if not asked_about(rewriter, node):
            raise WrongRule(f"{rewriter.name} is not asked about {node}: its `operands` name none of the inputs")
        changed = True
        fgraph.replace_all_validate(list(_replacements(node, result)), reason=rewriter.name)
    return changed


def asked_about(rewriter: NodeRewriter, node: Any) -> bool:
    """Return whether drivers would try a rule on a node."""
    tracker = OpToRewriterTracker()
    tracker.add_tracker(rewriter)
    return bool(tracker.get_node_trackers(node))


def _replacements(node: Any, result: Any) -> Iterator[tuple[Variable, Variable]]:
    if isinstance(result, dict):
        result = {old: new for old, new in result.items() if old != "remove"}
        pairs = result.items()
    else:
        pairs = zip(node.outputs, result, strict=True)
    for old, new in pairs:
        if new is not None and new is not old:
            if not old.type.is_super(new.type):
                raise WrongRule(f"{old.type} is replaced by {new.type}, which says less")
            yield old, new


def compare_types(reference: list[Variable], after: list[Variable]) -> None:
    for old, new in zip(reference, after, strict=True):
        if not old.type.is_super(new.type):
            raise WrongRule(f"the static type was {old.type} and is {new.type}")


def evaluated(outputs: list[Variable], values: dict[Variable, Any]) -> list[Any]:
    """The values of variables by the `perform` of each op; nothing that is given is overwritten."""
    known = dict(values)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for node in io_toposort(list(known), outputs):
            inputs = [v.data if isinstance(v, Constant) else known[v] for v in node.inputs]
            for positions in getattr(node.op, "destroy_map", {}).values():
                for k in positions:
                    inputs[k] = np.array(inputs[k])
            storage = [[None] for _ in node.outputs]
            node.op.perform(node, inputs, storage)
            for variable, (value,) in zip(node.outputs, storage, strict=True):
                if hasattr(variable.type, "filter"):
                    variable.type.filter(value, strict=True)
                known[variable] = value
    return [v.data if isinstance(v, Constant) else known[v] for v in outputs]


def compare(
    reference: list[Variable], after: list[Variable], values: dict[Variable, Any], of: Example, tags: set[str]
) -> bool:
    """Both sides on the same data; whether they have values for them."""
    try:
        wanted = evaluated(reference, values)
    except Exception as error:
        try:
            evaluated(after, values)
        except Exception:
            return False
        if of.drops_checks is None and "shape_unsafe" not in tags:
            raise WrongRule(f"an error is lost: {type(error).__name__}: {error}\n{_shown(values)}") from None
        return False
    try:
        given = evaluated(after, values)
    except Exception as error:
        raise WrongRule(f"a new error: {type(error).__name__}: {error}\n{_shown(values)}") from None
    for k, (want, got) in enumerate(zip(wanted, given, strict=True)):
        want, got = np.asarray(want), np.asarray(got)
        if want.dtype != got.dtype or want.shape != got.shape:
            raise WrongRule(f"{got.dtype}{got.shape} instead of {want.dtype}{want.shape}\n{_shown(values)}")
        wrong = unequal(reference, k, values, want, got, of)
        if np.any(wrong):
            place = tuple(int(i[0]) for i in np.nonzero(np.atleast_1d(wrong)))[: want.ndim]
            inputs = {str(v): _element(value, place, want.ndim) for v, value in values.items()}
            raise WrongRule(
                f"{got[place]!r} instead of {want[place]!r} at {place} ({int(np.sum(wrong))} of {want.size}), "
                f"inputs there {inputs}"
            )
    return True


def _element(value: Any, place: tuple[int, ...], ndim: int) -> Any:
    value = np.asarray(value)
    if value.ndim != ndim:
        return value if value.size < 30 else value.shape
    return value[tuple(min(i, n - 1) for i, n in zip(place, value.shape))]


def _shown(values: dict[Variable, Any]) -> str:
    return ", ".join(f"{v}: {np.asarray(value).dtype}{np.asarray(value).shape}" for v, value in values.items())


def unequal(reference: list[Variable], k: int, values: dict, want: Any, got: Any, of: Example) -> Any:
    """Return the mask of elements for which `got` is no valid replacement of `want`."""
    if want.dtype.kind not in "fc":
        return want != got
    with np.errstate(all="ignore"):
        wrong = ~_alike(want, got)
        if of.zeros is not None or _has_functions(reference):
            wrong &= ~((want == 0) & (got == 0))
        if of.assumes_finite is not None:
            wrong &= np.isfinite(want)
        if of.limits is not None:
            wrong &= ~(np.isnan(want) & _any_infinite(values, want.shape))
        if not wrong.any():
            return wrong
        if want.dtype.kind == "c":
            size: Any = np.abs(want)
            for value in values.values():
                size = size + (np.abs(value) if _goes_with([value], want.shape) else np.max(np.abs(value), initial=0))
            return wrong & ((of.regroups is None) | ~(np.abs(want - got) <= 64 * np.finfo(want.dtype).eps * size))
        if of.regroups is not None:
            outcome = conditioned(reference, values, runs=8, exact=False)
            within = (np.abs(want - got) <= outcome.tolerance[k]) | outcome.uncertain[k]
            wrong &= ~within | ((want == 0) & (got == 0))
        if not wrong.any():
            return wrong
        measured = errors_in_units(reference[k], values, [want, got], wrong)
        if measured is None:
            return wrong
        before, now = measured
        # Numbers too large or too small to be known exactly.
        unknown = np.isnan(now) & (np.isinf(want) | ((want == 0) & (got == 0)))
        better = (now <= np.maximum(before, UNITS)) & ((want != 0) | (got != 0) | np.isfinite(now))
        return wrong & ~better & ~unknown


def _has_functions(outputs: list[Variable]) -> bool:
    """Return whether a graph has elementwise ops other than arithmetic: the signs of their zeros are not certain."""
    for node in io_toposort([], outputs):
        scalar_op = getattr(node.op, "scalar_op", None)
        if type(node.op).__name__ == "Elemwise" and type(scalar_op).__name__ not in ARITHMETIC:
            return True
    return False


def _any_infinite(values: dict[Variable, Any], shape: tuple[int, ...]) -> Any:
    """Return the mask of elements with infinite data and no NaN; if data do not broadcast, whether any is infinite."""
    floats = [value for value in values.values() if value.dtype.kind in "fc"]
    if not _goes_with(floats, shape):
        return any(np.isinf(value).any() for value in floats)
    infinite = [np.broadcast_to(np.isinf(value), shape) for value in floats]
    nan = [np.broadcast_to(np.isnan(value), shape) for value in floats]
    return np.any(infinite, axis=0) & ~np.any(nan, axis=0)


def _goes_with(values: list[Any], shape: tuple[int, ...]) -> bool:
    """Return whether values have the shape, or broadcast to it."""
    try:
        return np.broadcast_shapes(shape, *(value.shape for value in values)) == shape
    except ValueError:
        return False


def _alike(want: Any, got: Any) -> Any:
    """Return the mask of numbers equal within a few units in the last place; zeros must have the same sign."""
    if want.dtype.kind == "c":  # what NumPy makes of complex infinities is no standard
        close = np.abs(want - got) <= 4 * UNITS * np.finfo(want.dtype).eps * np.abs(want)
        return close | ~np.isfinite(want)
    near = np.isfinite(want) & np.isfinite(got) & (want != 0)
    distance = np.abs(want.astype(np.longdouble) - got.astype(np.longdouble))
    return _same(want, got) | (near & (distance <= UNITS * np.spacing(np.abs(want)).astype(np.longdouble)))


def _same(want: Any, got: Any) -> Any:
    equal = (want == got) & (np.signbit(want) == np.signbit(got))
    return equal | (np.isnan(want) & np.isnan(got))
