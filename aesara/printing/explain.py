"""`explain`: a report on which parts of a compiled function are native, and on the cost of compiling it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TextIO

from aesara.compile.function.function import Function
from aesara.graph.nodes import Apply, Variable
from aesara.graph.source import SourceLine
from aesara.ifelse import IfElse
from aesara.link.llvm.emit_threads import runs_on_threads
from aesara.lower.placement import PlacedStep, place_nodes
from aesara.printing.labels import function_name, input_name, shorten, size_text
from aesara.printing.report_pages import explanation_page
from aesara.records import dataclass

__all__ = ["ExplainedNode", "ExplainedStep", "ExplainedValue", "Explanation", "explain"]

_HEADS = {
    "nest": "loops over {}",
    "product": "matrix product of shape {}",
    "routine": "{name} of size {}",
    "loop": "a loop of {} steps, in each of which",
    "choice": "one side of a choice, if it is chosen",
    "graph": "the whole graph, {name}",
    "python": "Python",
}
#: maximum number of reasons for Python in the first line
_MOST_REASONS = 3
_HEADS_WITHOUT_SPACE = {**_HEADS, "nest": "no loop: single elements"}


@dataclass(frozen=True, repr=False)
class ExplainedNode:
    """A node of the rewritten graph.

    Attributes
    ----------
    node
        The node.
    reason
        The reason why it runs in Python; None for a native node.
    source
        The line of the user's program that built it, or the node that it replaced.
    """

    node: Apply
    reason: str | None
    source: SourceLine | None

    def __repr__(self) -> str:
        return f"ExplainedNode({self})"

    def __str__(self) -> str:
        place = "" if self.source is None else f"  {self.source.place}"
        reason = "" if self.reason is None else f": {self.reason}"
        return f"{self.operation}{reason}{place}"

    @property
    def operation(self) -> str:
        """The op as text of at most 60 characters."""
        return shorten(str(self.node.op))


@dataclass(frozen=True)
class ExplainedStep:
    """Nodes that are computed together.

    Attributes
    ----------
    kind
        ``"nest"``: a loop nest; ``"product"``: a matrix product; ``"routine"``: a call of a library; ``"loop"``:
        repeated steps; ``"choice"``: a branch of `ifelse`; ``"graph"``: a graph that is compiled as a whole by another
        compiler, such as JAX; ``"python"``: a call of Python.
    name
        The name of the kernel, of the library routine, or of the compiler of a graph.
    space
        The iteration space of a nest, the shape of a product, or the number of iterations of a loop.
    nodes
        The nodes.
    steps
        The steps in a loop or a branch.
    on_threads
        Whether several threads run a nest, if it takes long.
    """

    kind: str
    name: str
    space: str
    nodes: tuple[ExplainedNode, ...]
    steps: tuple[ExplainedStep, ...] = ()
    on_threads: bool = False

    @property
    def head(self) -> str:
        """The kind of the step and its iteration space, in words."""
        heads = _HEADS if self.space else _HEADS_WITHOUT_SPACE
        head = heads[self.kind].format(self.space, name=self.name)
        return head if self.nodes else f"{head} (copies a result)"

    def __str__(self) -> str:
        lines = [self.head, *_rows(self.nodes)]
        for number, step in enumerate(self.steps, 1):
            lines += [f"     {line}" for line in f"{number}. {step}".split("\n")]
        return "\n".join(lines)


@dataclass(frozen=True)
class ExplainedValue:
    """An input or a result.

    Attributes
    ----------
    name
        The variable's name, or its position.
    dtype
        Its dtype, or its type if it is not a tensor.
    shape
        Its static shape, with None for unknown lengths.
    notes
        ``"shared"``, ``"updated in place"``, ``"updated by a new array"``, ``"updated by the array of v"`` (arrays of
        two shared variables are exchanged), ``"copied"``.
    """

    name: str
    dtype: str
    shape: tuple[int | None, ...]
    notes: tuple[str, ...] = ()

    @property
    def type_text(self) -> str:
        """The dtype and the lengths, such as ``float64[3, ?]``; for scalars only the dtype."""
        lengths = ", ".join("?" if n is None else str(n) for n in self.shape)
        return f"{self.dtype}[{lengths}]" if lengths else self.dtype

    def __str__(self) -> str:
        text = f"{self.name}: {self.type_text}"
        return f"{text}  {', '.join(self.notes)}" if self.notes else text


@dataclass(frozen=True, repr=False)
class Explanation:
    """Result of `explain`; it prints as text.

    Attributes
    ----------
    name
        The function's name.
    fallback
        The reason why the whole function runs in Python, node by node; None if it is compiled.
    steps
        The steps of a native function, in order.
    without_code
        Nodes without a step: sizes, slices and unused nodes.
    inputs, results
        The inputs, including shared variables, and results of the function.
    seconds
        Duration of the stages of compilation.
    cached
        Whether the machine code was loaded from the cache; None without machine code.
    not_cached
        The reason why the compiled function is not cached for equal graphs; None if it is, or if it is not native.
    """

    name: str
    fallback: str | None
    steps: tuple[ExplainedStep, ...]
    without_code: tuple[ExplainedNode, ...]
    inputs: tuple[ExplainedValue, ...]
    results: tuple[ExplainedValue, ...]
    seconds: dict[str, float]
    cached: bool | None
    not_cached: str | None = None

    @property
    def native(self) -> list[ExplainedNode]:
        """The nodes that run natively, without repetitions."""
        nodes = [node for step in self.steps for node in step.nodes if node.reason is None]
        return list(dict.fromkeys(nodes))

    @property
    def python(self) -> list[ExplainedNode]:
        """The nodes that run in Python, without repetitions."""
        nodes = [node for step in self.steps for node in step.nodes if node.reason is not None]
        return list(dict.fromkeys(nodes))

    def __str__(self) -> str:
        return "\n".join(self._lines())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return explanation_page(self)

    def _lines(self) -> Iterator[str]:
        yield f"{self.name}: {self._summary()}"
        times = ", ".join(f"{stage} {1000 * seconds:.1f} ms" for stage, seconds in self.seconds.items())
        cached = {None: "", True: " (machine code from the cache)", False: ""}[self.cached]
        yield f"compiled in {1000 * sum(self.seconds.values()):.1f} ms: {times}{cached}"
        if self.not_cached is not None:
            yield f"compiled again in each process: {self.not_cached}"
        for title, values in (("inputs", self.inputs), ("results", self.results)):
            if values:
                yield f"{title}:"
                yield from _rows(values)
        if self.fallback is not None and self.steps:
            yield "nodes:"
            yield from _rows(replace(node, reason=None) for node in self.python)
            return
        for number, step in enumerate(self.steps, 1):
            yield f"{number}. {step}"
        if self.without_code:
            yield "no code of their own (sizes, slices, unused):"
            yield from _rows(self.without_code)

    def _summary(self) -> str:
        if self.fallback is not None:
            return f"Python, node by node: {self.fallback}"
        if [step.kind for step in self.steps] == ["graph"]:
            return self.steps[0].name
        counts = {kind: sum(step.kind == kind for step in self.steps) for kind in _HEADS}
        parts = [f"{counts['nest']} loop nest{'s' * (counts['nest'] != 1)}"]
        if counts["product"]:
            parts.append(f"{counts['product']} matrix product{'s' * (counts['product'] != 1)}")
        if counts["routine"]:
            parts.append(f"{counts['routine']} library routine{'s' * (counts['routine'] != 1)}")
        if counts["loop"]:
            parts.append(f"{counts['loop']} loop{'s' * (counts['loop'] != 1)} of steps")
        if counts["choice"]:
            parts.append(f"{counts['choice']} sides of choices")
        if counts["python"]:
            reasons = list(dict.fromkeys(str(node.reason) for node in self.python))
            more = f"; and {len(reasons) - _MOST_REASONS} more" if len(reasons) > _MOST_REASONS else ""
            why = "; ".join(reasons[:_MOST_REASONS]) + more
            parts.append(f"{counts['python']} call{'s' * (counts['python'] != 1)} of Python ({why})")
        else:
            parts.append("nothing in Python")
        return "native code, " + ", ".join(parts)


def explain(f: Function, file: TextIO | None = None) -> Explanation:
    """Report which parts of a compiled function run natively and which in Python, and why.

    Parameters
    ----------
    f
        The function.
    file
        A file to print the explanation to; it is returned in any case.

    Returns
    -------
    Explanation
        It prints, in this order: whether the function is native code; the time of compilation; inputs and results,
        with their static shapes, and whether shared variables are updated in place; and the steps of a call, each with
        the nodes of the rewritten graph that it computes, and the source lines of these.  Nodes in one step are
        fused: only values that other steps read are stored in memory.

    Notes
    -----
    A call of Python costs some microseconds and a copy of its operands, in addition to the time of the node.
    Arguments that are not C-contiguous arrays of the dtype of their input are converted in each call.

    Examples
    --------
    >>> import aesara
    >>> import aesara.tensor as at
    >>> x = at.dvector("x")
    >>> f = aesara.function([x], at.exp(x) + 1)
    >>> [str(one.node.op) for one in explain(f).native]
    ['Elemwise{exp,no_inplace}', 'Elemwise{Add}[(0, 1)]']
    """
    if not isinstance(f, Function):
        raise TypeError(f"explain takes a compiled function, got {f!r} of type {type(f).__name__}.")
    explanation = _explain_native(f) if f._native is not None else _explain_linker(f)
    if file is not None:
        file.write(f"{explanation}\n")
    return explanation


def _explain_native(f: Function) -> Explanation:
    native, (graph, cells) = f._native, f._compiled_graph()
    inputs = [(argument.variable, argument.implicit) for argument in cells]
    updates = dict(graph.update_mapping or {})
    placement = place_nodes(inputs, graph.outputs, updates)
    names = [input_name(variable, k) for k, variable in enumerate(graph.inputs)]
    in_place = {
        allocation.output for allocation in native.program.allocations().values() if allocation.reuse is not None
    }
    in_place |= {output for output, _ in native.program.generator_updates()}
    exchanged = native.program.exchanged_arrays()
    notes: dict[int, list[str]] = {k: ["shared"] if implicit else [] for k, (_, implicit) in enumerate(inputs)}
    for output, k in updates.items():
        if output in exchanged:
            notes[k].append(f"updated by the array of {names[exchanged[output]]}")
        else:
            notes[k].append("updated in place" if output in in_place else "updated by a new array")
    for k, notes_of_input in notes.items():
        if k in placement.copied or (k in placement.bases and "updated in place" not in notes_of_input):
            notes_of_input.append("copied")
    report = native.report
    launches = [launch for step in native.program.steps for launch in step.launches()]
    sliced = {launch.kernel.name for launch in launches if runs_on_threads(launch.kernel)}
    return Explanation(
        name=function_name(f),
        fallback=None,
        steps=tuple(
            replace(_step(step, placement.reasons, names), on_threads=step.kernel in sliced) for step in placement.steps
        ),
        without_code=tuple(ExplainedNode(node, None, node.source) for node in placement.without_code),
        inputs=tuple(_value(v, names[k], notes[k]) for k, v in enumerate(graph.inputs)),
        results=_results(f),
        seconds={"rewrite": f.maker.rewrite_seconds, **report.seconds},
        cached=report.cached,
        not_cached=f.maker.not_cached,
    )


def _explain_linker(f: Function) -> Explanation:
    """Explain a function that runs node by node, or that another compiler has compiled."""
    graph, specs, reason = f.maker.fgraph, f.maker.inputs, f._why_in_python
    updated = set(dict(graph.update_mapping or {}).values())
    inputs = []
    for k, (variable, spec) in enumerate(zip(graph.inputs, specs)):
        notes = ["shared"] * bool(spec.implicit) + ["updated by a new array"] * (k in updated)
        inputs.append(_value(variable, input_name(variable, k), notes))
    nodes = [ExplainedNode(node, reason, node.source) for node in graph.toposort()]
    steps = [ExplainedStep("python", "", "", (node,)) for node in nodes]
    if reason is None:
        steps = [ExplainedStep("graph", f._backend, "", tuple(nodes))]
    return Explanation(
        name=function_name(f),
        fallback=reason,
        steps=tuple(steps),
        without_code=(),
        inputs=tuple(inputs),
        results=_results(f),
        seconds={"rewrite": f.maker.rewrite_seconds},
        cached=None,
    )


def _step(step: PlacedStep, reasons: Mapping[Apply, str], names: Sequence[str]) -> ExplainedStep:
    nodes = [ExplainedNode(node, _reason(node, step, reasons), node.source) for node in step.nodes]
    sizes = [size_text(e, names) for e in step.space]
    if len(sizes) == 1 and sizes[0].startswith("("):
        sizes = [sizes[0][1:-1]]
    inner = tuple(_step(inner_step, reasons, names) for inner_step in step.steps)
    # A lazy choice is lowered as loops of at most one step.
    is_choice = step.kind == "loop" and any(isinstance(node.op, IfElse) for node in step.nodes)
    return ExplainedStep("choice" if is_choice else step.kind, step.name, " x ".join(sizes), tuple(nodes), inner)


def _reason(node: Apply, step: PlacedStep, reasons: Mapping[Apply, str]) -> str | None:
    """Return the reason why a node of a step runs in Python; that of an inner graph is the reason of
    one of its nodes.
    """
    if step.kind != "python":
        return None
    return (
        reasons[node]
        if node in reasons
        else "; ".join(reasons[inner_node] for inner_node in step.nodes if inner_node in reasons)
    )


def _results(f: Function) -> tuple[ExplainedValue, ...]:
    keys = f.output_keys or range(f.n_returned_outputs)
    return tuple(_value(v, str(key), ()) for key, v in zip(keys, f.maker.fgraph.outputs))


def _value(variable: Variable, name: str, notes: Iterable[str]) -> ExplainedValue:
    dtype = getattr(variable.type, "dtype", str(variable.type))
    return ExplainedValue(name, dtype, tuple(getattr(variable.type, "shape", ())), tuple(notes))


def _rows(items: Iterable[object]) -> list[str]:
    """Return one line for each distinct item, with its number of occurrences."""
    counts = Counter(map(str, items))
    return [f"     {text}" + (f"  ({count} times)" if count > 1 else "") for text, count in counts.items()]
