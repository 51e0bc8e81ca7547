"""`verify_rewrites`: computes both sides of every replacement, on real values, while a graph is rewritten."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any

import numpy as np

from aesara.compile.debug_checks import Failed
from aesara.compile.debug_errors import BadOptimization
from aesara.compile.mode import get_mode
from aesara.compile.shrink import SmallestCase, Values, compute, difference, smallest_case
from aesara.configdefaults import config
from aesara.graph.fg import FunctionGraph
from aesara.graph.messages import describe
from aesara.graph.nodes import Constant, Variable
from aesara.graph.rewriting.rewriter import SequentialGraphRewriter
from aesara.graph.rewriting.watching import Pair, Watcher, name_of, watching
from aesara.graph.shared import SharedVariable
from aesara.graph.traversal import graph_inputs
from aesara.records import dataclass
from aesara.tensor.core.tensor_type import TensorType

if TYPE_CHECKING:
    from aesara.compile.mode import Mode


__all__ = ["VerifiedRewrites", "WrongRewrite", "draw_value", "verify_rewrites"]

_LENGTH = 3  # of dimensions that the type leaves open


class WrongRewrite(BadOptimization):
    """A rewrite has replaced an expression by another one that is not equal to it.

    Attributes
    ----------
    rule
        The name of the rewrite.
    what
        In which way the new expression is wrong.
    case
        The smallest expression that shows it (`SmallestCase`); None where the rewrite alone does nothing wrong.
    old_r, new_r, old_r_val, new_r_val
        What was replaced by what, and their values.
    """

    def __init__(
        self, pair: Pair, values: tuple[Any, Any], rule: str, what: str, stage: str, case: SmallestCase | None
    ) -> None:
        super().__init__(*pair, *values, reason=rule)
        self.rule = rule
        self.what = what
        self.stage = stage
        self.case = case
        self.program = None if case is None else case.program()

    def __str__(self) -> str:
        text = (
            f"The rewrite {self.rule} (in {self.stage}) puts a wrong expression in the place of another: {self.what}."
        )
        return f"{text}\n{self.str_diagnostic()}"


@dataclass
class VerifiedRewrites:
    """Result of a verification that found no fault: counts of compared and skipped replacements.

    Attributes
    ----------
    checked
        How many replacements of each rule have been compared.
    skipped
        How many could not be, as computing the old expression raised an error.
    """

    checked: Counter[str] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)

    def __str__(self) -> str:
        total, rules = sum(self.checked.values()), len(self.checked)
        left = f"; {sum(self.skipped.values())} could not be compared" if self.skipped else ""
        return f"{total} replacements by {rules} rewrites are right{left}"


class _Verifier(Watcher):
    """Compares both sides of each replacement as soon as it has been made.

    Values are kept: what has been replaced by something equal still has the value that it had.
    """

    def __init__(self, input_values: Sequence[Sequence[Any]], rng: np.random.Generator) -> None:
        self.input_values = input_values
        self.rng = rng
        self.values: dict[FunctionGraph, list[Values]] = {}
        self.stages: list[object] = []
        self.report = VerifiedRewrites()
        self.wrong: WrongRewrite | None = None

    def begin(self, fgraph: FunctionGraph, level: int) -> None:
        draws = self.input_values
        if level:  # the step of a loop
            try:
                kinds = range(len(self.input_values))
                draws = [[draw_value(one, self.rng, kind) for one in fgraph.inputs] for kind in kinds]
            except TypeError:
                draws = []
        self.values[fgraph] = [dict(zip(fgraph.inputs, draw, strict=True)) for draw in draws]
        for values in self.values[fgraph]:
            compute(fgraph.outputs, values)

    def end(self, fgraph: FunctionGraph, level: int) -> None:
        del self.values[fgraph]

    def enter(self, fgraph: FunctionGraph, rewriter: object) -> None:
        self.stages.append(rewriter)

    def leave(self, fgraph: FunctionGraph, rewriter: object, seconds: float) -> None:
        self.stages.pop()

    def on_replace(self, fgraph: FunctionGraph, pairs: Sequence[Pair], rules: Sequence[object]) -> None:
        if self.wrong is not None:
            return
        name = ", ".join(name_of(rule) for rule in rules)
        compared = False
        for pair in pairs:
            for values in self.values[fgraph]:
                compute(pair, values)
                before, after = (values[one] for one in pair)
                compared = compared or not isinstance(before, Failed)
                what = difference(pair[0], before, after)
                if what is not None:
                    rewriter = self.stages[-1] if isinstance(rules[0], str) and self.stages else rules[0]
                    case = smallest_case(pair[0], values, rewriter)
                    stage = name_of(self.stages[-1]) if self.stages else "no pass"
                    self.wrong = WrongRewrite(pair, (before, after), name, what, stage, case)
                    return
        (self.report.checked if compared else self.report.skipped)[name] += 1


def draw_value(variable: Variable, rng: np.random.Generator, kind: int = 0) -> Any:
    """A value for a variable: its own, if it has one, or a random one.

    Parameters
    ----------
    variable
        The variable. Dimensions that its type leaves open get the length 3.
    rng
        Where random numbers come from.
    kind
        0: of both signs; 1: between 0 and 1; 2: with zeros, and ones of both signs.
    """
    if isinstance(variable, SharedVariable):
        return variable.get_value(borrow=False)
    test_value = getattr(variable.tag, "test_value", None)
    if test_value is not None:
        return test_value
    if isinstance(variable.type, TensorType):
        dtype, shape = (
            np.dtype(variable.type.dtype),
            tuple(n if n is not None else _LENGTH for n in variable.type.shape),
        )
    elif isinstance(getattr(variable.type, "dtype", None), str):
        dtype, shape = np.dtype(variable.type.dtype), ()
    else:
        raise TypeError(f"There is no random value of the type {variable.type}; give one for {describe(variable)}.")
    if dtype.kind in "iub":
        low, high = (0, 1) if kind == 1 else (-3 if dtype.kind == "i" else 0, 3)
        return np.asarray(rng.integers(low, high, shape, endpoint=True)).astype(dtype)
    value = (rng.normal(0, 2, shape), rng.uniform(0.05, 0.95, shape), rng.integers(-1, 2, shape))[kind % 3]
    if dtype.kind == "c":
        value = value + 1j * rng.normal(0, 1, shape)
    return np.asarray(value).astype(dtype)


def verify_rewrites(
    outputs: Variable | Sequence[Variable],
    values: Mapping[Variable, object] | Iterable[Mapping[Variable, object]] | None = None,
    mode: Mode | str | None = None,
    draws: int = 3,
    seed: int = 0,
) -> VerifiedRewrites:
    """Rewrite a graph, and compute both sides of each replacement on the way.

    Value, dtype, shape, static type, and NaN and infinity where there was none are compared. Values that were not
    finite may be anything afterwards: many rewrites are there to make them finite.

    Parameters
    ----------
    outputs
        A variable or a list of variables.
    values
        Values of the inputs, as a dict, or several dicts. Inputs without a value take that of their tag
        (``x.tag.test_value``), or random ones.
    mode
        Which rewrites.  Default: those of ``config.mode``.
    draws
        How many sets of random values are tried where values are drawn.
    seed
        Seed of the random values.

    Returns
    -------
    VerifiedRewrites
        How many replacements were compared.

    Raises
    ------
    WrongRewrite
        The first wrong rewrite, with the line of the program that the expression comes from, and the smallest
        expression that shows it, as a program.

    Examples
    --------
    >>> x = at.dvector("x")
    >>> verify_rewrites(at.log(at.exp(x))).checked["local_log_exp"]
    1
    """
    outputs = [outputs] if isinstance(outputs, Variable) else list(outputs)
    inputs = [one for one in graph_inputs(outputs) if not isinstance(one, Constant)]
    sets: list[Mapping[Variable, object]] = (
        [values or {}] if values is None or isinstance(values, Mapping) else [*values]
    )
    rng = np.random.default_rng(seed)
    input_values = [
        [one.type.filter(known[one]) if one in known else draw_value(one, rng, kind) for one in inputs]
        for known in sets
        for kind in range(draws if any(one not in known for one in inputs) else 1)
    ]
    fgraph = FunctionGraph(inputs, outputs, clone=True)
    rewriter = get_mode(mode).optimizer
    if not isinstance(rewriter, SequentialGraphRewriter):
        rewriter = SequentialGraphRewriter([rewriter])
    verifier = _Verifier(input_values, rng)
    with config.change_flags(on_opt_error="raise", compute_test_value="off"), watching(verifier):
        rewriter.rewrite(fgraph)
    if verifier.wrong is not None:
        raise verifier.wrong
    return verifier.report
