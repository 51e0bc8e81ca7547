"""Cases of the op table for small shapes, with types that know some of the lengths.

A *variant* is a case of a row with other lengths, values for them, and which lengths the types of its inputs know. Its
graph has the results of the row, what later operations make of them, and gradients through both.
"""

from __future__ import annotations

import itertools
import warnings
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

import aesara
import aesara.tensor as at
from aesara.compile.mode import Mode
from aesara.graph.nodes import Variable
from aesara.tensor.type import TensorType
from tests.optable.differences import real_parts
from tests.optable.inputs import Arg
from tests.optable.running import called, compiled, rng_of, unlike_type
from tests.optable.table import Case, Row

#: lengths that take the place of each length of a case, and of the lengths of index arrays: repeats need more entries
#: than a vector register has
LENGTHS = (1, 0, 5, 2)
INDEX_LENGTHS = (12, 1, 0)
#: largest entries of index arrays, of which the first that the oracle takes is used
SMALLEST_SIZES = (5, 3, 2, 1)
#: inputs of larger cases are left out
MOST_ELEMENTS = 400
#: computes node by node what was written
AS_WRITTEN = Mode("py", None)
#: rows whose parameters or integers go with the lengths, as permutations and sizes do: their cases keep them
AS_GIVEN = frozenset(
    """inverse_permutation permute_row_elements h_softmax specify_shape split max_pool_second_derivative
    conv2d_transpose conv2d_grad_wrt_inputs topk argtopk topk_and_argtopk""".split()
) | {"reshape to sizes", "broadcast_to sizes", "split at sizes"}

#: what gradients say that do not exist for some lengths, as where a length of 1 that no type knows was broadcast: only
#: the values are compared then
WITHOUT_GRADIENT = ("The gradient of a value that was repeated", "The gradient of a polar form")
#: rows whose oracle gives numbers for inputs that are refused, with the reason
REFUSED = {
    "eig": "a real matrix may have complex eigenvalues",
    "eigvals": "a real matrix may have complex eigenvalues",
    "solve_discrete_are": "without controls there is no stabilising solution",
    "solve_continuous_are": "without controls there is no stabilising solution",
    "solve_tridiagonal": "the oracle adds matrices of other sizes",
    **dict.fromkeys(("conv2d", "conv3d", "separable_conv2d"), "empty filters, and channels that cannot be grouped"),
    "split_dims": "a dimension that is known not to fit is refused, also where there are no elements",
    "partition": "a position that is known to be out of bounds is refused, also where there are no elements",
    "concat_with_broadcast": "the oracle broadcasts what is joined",
}

#: rows that drop lengths of 1, which types know, as NumPy does
DROPS_ONES = frozenset({"cov", "cov with weights", "corrcoef"})
#: rows that divide a rounding error by zero for a single observation: it differs from its weighted mean
ILL_POSED = frozenset({"cov with weights"})

Known = tuple[tuple[bool, ...], ...]


def is_index(arg: Arg) -> bool:
    return np.dtype(arg.dtype).kind in "iu" and not arg.varies


@dataclass(frozen=True)
class Variant:
    """A case with the values of its inputs, and which of their lengths the types know."""

    row: Row
    case: Case
    values: tuple[np.ndarray, ...]
    known: Known

    def __str__(self) -> str:
        types = ", ".join(f"[{', '.join('?' if n is None else str(n) for n in shape)}]" for shape in self.static())
        return f"{self.row.name} {self.case}, known {types}"

    def static(self) -> list[tuple[int | None, ...]]:
        """The lengths that the types of the inputs know."""
        return [
            tuple(n if k else None for n, k in zip(v.shape, known, strict=True))
            for v, known in zip(self.values, self.known, strict=True)
        ]

    def least_known(self) -> Variant:
        """The variant whose types know only what operands need to be broadcast."""
        return replace(self, known=tuple(required(a) for a in self.case.args))

    def features(self) -> Iterator[tuple[int, int, str, bool]]:
        """The input, dimension and kind of each length, and whether it is known."""
        for k, (value, known) in enumerate(zip(self.values, self.known)):
            for d, (n, is_known) in enumerate(zip(value.shape, known)):
                yield k, d, "0" if n == 0 else "1" if n == 1 else "n", is_known

    def pairs(self) -> set[Any]:
        """The pairs of lengths with what is known of them; each alone if there is only one."""
        found = list(self.features())
        which = (len(self.case.args), str(sorted(self.case.params.items(), key=str)))
        if len(found) < 2:
            return {(which, one) for one in found} or {which}
        return {(which, pair) for pair in itertools.combinations(found, 2)}

    @cached_property
    def expected(self) -> list[np.ndarray] | None:
        """The results of the oracle; None where it has none."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                return self.row.expect(self.case, self.values)
            except Exception:
                return None


def required(arg: Arg) -> tuple[bool, ...]:
    """Which lengths the type must know, so that operands are broadcast along them."""
    return tuple(n is not None for n in arg.static or (None,) * len(arg.shape))


# -- other lengths -------------------------------------------------------------------------------------------------


def assignments(case: Case) -> Iterator[Mapping[int, int]]:
    """Other lengths for those of a case; the first are its own."""
    lengths = sorted({n for a in case.args for n, fixed in zip(a.shape, required(a)) if n > 1 and not fixed})
    own = {n: n for n in lengths}
    yield own
    of_indices = {n for a in case.args if is_index(a) for n in a.shape}
    choices = [INDEX_LENGTHS if n in of_indices else LENGTHS for n in lengths]
    for chosen in itertools.product(*choices):
        if dict(zip(lengths, chosen)) != own:
            yield dict(zip(lengths, chosen))


def resized(arg: Arg, lengths: Mapping[int, int]) -> Arg:
    """An input with other lengths; of values that are given the first are kept, and repeated for more."""
    shape = tuple(n if fixed else lengths.get(n, n) for n, fixed in zip(arg.shape, required(arg), strict=True))
    if shape == arg.shape:
        return arg
    if arg.values is None:
        return replace(arg, shape=shape)
    kept = np.asarray(arg.values)[tuple(slice(n) for n in shape)]
    return replace(arg, shape=shape, values=kept if kept.shape == shape else np.resize(arg.values, shape))


def grows(old: Arg, new: Arg) -> bool:
    """Return whether explicit values (of an invertible matrix, say) would be repeated along a dimension."""
    chosen_numbers = old.values is not None and np.dtype(old.dtype).kind in "fc"
    return chosen_numbers and any(n > m for n, m in zip(new.shape, old.shape))


def with_lengths(row: Row, case: Case, lengths: Mapping[int, int]) -> Variant | None:
    """The case with other lengths, values that the oracle takes, and types that know nothing; None if it takes none."""
    new = replace(case, args=tuple(resized(a, lengths) for a in case.args))
    rng = rng_of(row, zlib.crc32(str(new).encode()) & 0xFFFF)
    values = [a.draw(rng) for a in new.args]
    variant = Variant(row, new, tuple(values), tuple(required(a) for a in new.args))
    indices = [k for k, a in enumerate(new.args) if is_index(a) and a.shape]
    if not indices or row.name in AS_GIVEN:
        return None if variant.expected is None else variant
    for size in SMALLEST_SIZES:
        repeated = [v % v.dtype.type(size) if k in indices else v for k, v in enumerate(values)]
        tried = replace(variant, values=tuple(repeated))
        if tried.expected is not None:
            return tried
    return None if variant.expected is None else variant


# -- which lengths are known ---------------------------------------------------------------------------------------


def patterns(variant: Variant, rng: np.random.Generator, count: int) -> Iterator[Known]:
    """Which lengths may be known: none, all, ones, others, and some at random."""
    shapes = [v.shape for v in variant.values]
    forced = [required(a) for a in variant.case.args]
    choices: list[Any] = [
        lambda n: False,
        lambda n: True,
        lambda n: n == 1,
        lambda n: n != 1,
        *[lambda n: rng.random() < 0.5] * count,
    ]
    seen = set()
    for choice in choices:
        known = tuple(
            tuple(bool(f or choice(n)) for n, f in zip(shape, fixed, strict=True))
            for shape, fixed in zip(shapes, forced, strict=True)
        )
        if known not in seen:
            seen.add(known)
            yield known


def variants_of(row: Row, at_random: int = 4, most: int | None = None) -> list[Variant]:
    """The variants of a row: its cases, for other lengths, with some patterns of what is known.

    At most so many cases with lengths are drawn if `most` is given, else there are all.
    """
    rng = rng_of(row, 11)
    pairs = [
        (case, lengths)
        for case in row.cases
        for lengths in itertools.islice(assignments(case), 1 if row.name in AS_GIVEN else None)
    ]
    if most is not None:
        pairs = [pairs[k] for k in rng.permutation(len(pairs))]
    found: list[Variant] = []
    seen: set[Any] = set()
    for case, lengths in pairs:
        if most is not None and len(seen) >= most:
            break
        args = tuple(resized(a, lengths) for a in case.args)
        key = (tuple((a.shape, a.dtype) for a in args), str(case.params))
        if key in seen or sum(int(np.prod(a.shape)) for a in args) > MOST_ELEMENTS:
            continue
        variant = None if any(map(grows, case.args, args)) else with_lengths(row, case, lengths)
        if variant is not None and not is_ill_posed(variant):
            seen.add(key)
            known_of_it = [replace(variant, known=known) for known in patterns(variant, rng, at_random)]
            found += [v for v in known_of_it if not drops_ones(v)]
    return found


def chosen(variants: Sequence[Variant], count: int, rng: np.random.Generator) -> list[Variant]:
    """Some of the variants, each the one with the most pairs of lengths and knowledge that those before do not have."""
    left = [variants[k] for k in rng.permutation(len(variants))]
    pairs = [v.pairs() for v in left]
    covered: set[Any] = set()
    found = []
    while left and len(found) < count:
        best = max(range(len(left)), key=lambda k: len(pairs[k] - covered))
        covered |= pairs[best]
        found.append(left.pop(best))
        pairs.pop(best)
    return found


# -- graphs --------------------------------------------------------------------------------------------------------


def uses_of(result: Variable, i: Variable, j: Variable) -> list[Variable]:
    """Operations on a result: sums with rows and columns of it, and gathers with repeated indices."""
    r: Any = result
    if np.dtype(r.type.dtype).kind not in "fc":
        return []
    if r.type.ndim == 0:
        return [r * 2 + 1]
    row, column = r.sum(axis=0, keepdims=True), r.sum(axis=-1, keepdims=True)
    spread = at.inc_subtensor(at.zeros_like(row)[i * 0], row[0] if r.type.ndim > 1 else 0.5)
    placed = at.set_subtensor(at.zeros_like(row)[:1], 0.25)
    mixed = (r + row) * 0.5 - column * r
    wide = r + row + spread + placed
    taken = r[i] * column[i] if r.type.ndim > 1 else r[i] * row
    across = r[..., j] + column if r.type.ndim > 1 else r[j]
    steps = at.diff(row, axis=0)
    return [mixed, wide, taken, across, steps]


class Graph:
    """The graph of a variant: inputs and their values, results, operations on them, and gradients.

    Those of `uses_of` with the numbers `uses` are applied to the first result; by default all, to each result.
    """

    def __init__(self, variant: Variant, number: int = 0, uses: Sequence[int] | None = None) -> None:
        self.variant = variant
        args = variant.case.args
        self.arguments: list[Variable] = [
            TensorType(a.dtype, shape=shape)(f"x{number}_{k}")
            for k, (a, shape) in enumerate(zip(args, variant.static(), strict=True))
        ]
        self.inputs: list[Variable] = list(self.arguments)
        self.values: list[np.ndarray] = list(variant.values)
        results = variant.row.apply(variant.case, self.arguments)
        self.outputs: list[Variable] = list(results)
        parts: list[Any] = []
        for n, (result, value) in enumerate(zip(results, variant.expected or (), strict=True)):
            i, j = (at.lvector(f"{name}{number}_{n}") for name in "ij")
            value = value.reshape(
                (1,) * (result.type.ndim - value.ndim) + value.shape
            )  # where NumPy drops lengths of 1
            made = uses_of(result, i, j)
            if len(made) > 1:
                self.inputs += [i, j]
                self.values += [repeated(value.shape[0]), repeated(value.shape[-1])]
                made = made if uses is None else [made[k % len(made)] for k in uses] if n == 0 else []
            self.outputs += made
            parts += [part for use in made or [result] for part in real_parts([use])]
        places = [self.arguments[k] for k, a in enumerate(args) if a.gradient_wanted]
        if variant.row.gradient and variant.case.smooth and places and parts:
            cost = sum((part.sum() * (1 + 0.25 * k) for k, part in enumerate(parts)), start=at.constant(0.0))
            self.outputs += aesara.grad(cost, places, disconnected_inputs="ignore")


def repeated(size: int) -> np.ndarray:
    """Indices for so many elements, in which each occurs more than once."""
    return np.resize(np.arange(size)[::-1] // 2 if size > 2 else np.zeros(size, "int64"), 14 if size else 0)


def results_of(graphs: Sequence[Graph], mode: Any) -> list[list[Any]]:
    """The results of graphs that are compiled together."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        function = compiled([v for g in graphs for v in g.inputs], [v for g in graphs for v in g.outputs], mode)
        results = iter(called(function, [v for g in graphs for v in g.values]))
    return [[next(results) for _ in g.outputs] for g in graphs]


def built(variant: Variant, number: int = 0, uses: Sequence[int] | None = None) -> Graph:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Graph(variant, number, uses)


# -- judging -------------------------------------------------------------------------------------------------------


def unlike(graph: Graph, got: Sequence[Any], want: Sequence[Any]) -> str | None:
    """Describe the first wrong result of a graph; None if all are right."""
    for k, (variable, a, b) in enumerate(zip(graph.outputs, got, want, strict=True)):
        text = unlike_type(variable, a) or unlike_array(np.asarray(a), np.asarray(b))
        if text is not None:
            return f"output {k}: {text}"
    return None


def unlike_array(got: np.ndarray, want: np.ndarray) -> str | None:
    if got.shape != want.shape or got.dtype != want.dtype:
        return f"{got.dtype}{list(got.shape)}, expected {want.dtype}{list(want.shape)}"
    if want.dtype.kind not in "fc":
        return None if np.array_equal(got, want) else f"got\n{got}\nexpected\n{want}"
    tolerance = 1e-7 if want.dtype in ("float64", "complex128") else 1e-3
    scale = 1 + float(np.max(np.abs(want[np.isfinite(want)]), initial=0))
    same = np.allclose(got, want, rtol=tolerance, atol=tolerance * 1e-2 * scale, equal_nan=True)
    return None if same else f"got\n{got}\nexpected\n{want}"


class References:
    """The results of the least known variants, as they were written: one function for all lengths of a case."""

    def __init__(self) -> None:
        self._functions: dict[Any, Any] = {}

    def of(self, variant: Variant, uses: Sequence[int] | None = None) -> list[Any] | str:
        """The results; a text if there are none."""
        case = variant.case
        kinds = tuple((a.dtype, required(a), a.static) for a in case.args)
        key = (variant.row.name, str(case.params), kinds, case.smooth, None if uses is None else tuple(uses))
        try:
            graph = built(variant.least_known(), 0, uses)
            if key not in self._functions:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    self._functions[key] = compiled(graph.inputs, graph.outputs, AS_WRITTEN)
            return called(self._functions[key], graph.values)
        except Exception as error:
            return first_line(error)


def first_line(error: Exception) -> str:
    return f"{type(error).__name__}: {str(error).splitlines()[0][:200]}"


def is_ill_posed(variant: Variant) -> bool:
    """Return whether a row divides a rounding error by zero."""
    return variant.row.name in ILL_POSED and variant.values[0].shape[-1:] == (1,)


def drops_ones(variant: Variant) -> bool:
    """Return whether results have fewer dimensions with these static shapes than with the least known ones."""
    if variant.row.name not in DROPS_ONES:
        return False
    few, many = (
        variant.row.apply(
            v.case, [TensorType(a.dtype, shape=s)() for a, s in zip(v.case.args, v.static(), strict=True)]
        )
        for v in (variant, variant.least_known())
    )
    return [r.type.ndim for r in few] != [r.type.ndim for r in many]


def complaints(variants: Iterable[Variant], mode: Any, uses: Sequence[Sequence[int]] | None = None) -> list[str]:
    """Describe wrong results of variants that are compiled together.

    `uses` are numbers of the operations of `uses_of` for each variant in turn; all if they are not given.
    """
    references = References()
    found: list[str] = []
    graphs: list[Graph] = []
    wanted: list[list[Any]] = []
    for k, variant in enumerate(variants):
        use = None if uses is None else uses[k % len(uses)]
        want = references.of(variant, use)
        if isinstance(want, str) and any(text in want for text in WITHOUT_GRADIENT):
            variant = replace(variant, case=replace(variant.case, smooth=False))
            want = references.of(variant, use)
        if isinstance(want, str):
            if variant.row.name not in REFUSED:
                found.append(f"{variant}: as written, with nothing known: {want}")
            continue
        try:
            graphs.append(built(variant, k, use))
        except Exception as error:
            if variant.row.name not in REFUSED:
                found.append(f"{variant}: when the graph is made: {first_line(error)}")
            continue
        wanted.append(want)
    return found + _compared(graphs, wanted, mode) if graphs else found


def _compared(graphs: list[Graph], wanted: list[list[Any]], mode: Any) -> list[str]:
    try:
        results = results_of(graphs, mode)
    except Exception as error:
        if len(graphs) == 1:
            return [f"{graphs[0].variant}: {first_line(error)}"]
        half = len(graphs) // 2
        halves = _compared(graphs[:half], wanted[:half], mode) + _compared(graphs[half:], wanted[half:], mode)
        return halves or [f"{graphs[0].variant} with {len(graphs) - 1} more, only together: {first_line(error)}"]
    texts = (unlike(*arguments) for arguments in zip(graphs, results, wanted, strict=True))
    return [f"{g.variant}: {text}" for g, text in zip(graphs, texts) if text is not None]
