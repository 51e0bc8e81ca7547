"""Rewriters of single nodes: the base class, functions as rewriters, groups."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import IO, Any, TypeAlias

from aesara import clock
from aesara.configdefaults import config
from aesara.graph.destroyhandler import DestroyHandler
from aesara.graph.features import Feature
from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Apply, Constant, Variable
from aesara.graph.op import Op
from aesara.graph.rewriting.rewriter import NodeRewriter, RequiringFeatures
from aesara.graph.rewriting.tracker import OpToRewriterTracker

#: what a rule returns: the new outputs of a node, or new variables by the old ones; False or None if it does not apply
RuleResult: TypeAlias = Sequence[Variable] | dict[Variable, Variable] | bool | None


def is_tracked(tracks: Sequence[Any] | None, op: Op) -> bool:
    """Return whether `tracks` matches an op; see `OpToRewriterTracker` for the kinds of entries."""
    if tracks is None:
        return True
    for key in tracks:
        if isinstance(key, type):
            if isinstance(op, key):
                return True
        elif isinstance(key, tuple):
            if isinstance(op, key[0]) and isinstance(getattr(op, "scalar_op", None), key[1]):
                return True
        elif op == key:
            return True
    return False


class FromFunctionNodeRewriter(RequiringFeatures, NodeRewriter):
    """A function ``fn(fgraph, node)`` as a node rewriter."""

    __name__: str
    only_tracked = True

    def __init__(
        self,
        fn: Callable[[FunctionGraph, Apply], Any],
        tracks: Sequence[Any] | None = None,
        requirements: Sequence[Any] = (),
        operands: Sequence[Any] | None = None,
    ):
        self.fn = fn
        self._tracks = tracks
        self._operands = operands
        self.requirements = tuple(requirements)
        self.name = getattr(fn, "__name__", None)
        # Drivers that find rewriters by the op of a node call the function itself.
        self.transform_tracked = fn  # type: ignore[method-assign,assignment]

    def transform(self, fgraph: FunctionGraph, node: Apply, *args: Any, **kwargs: Any) -> Any:
        """Apply the function to a node whose op it tracks; return False for other nodes."""
        return self.fn(fgraph, node) if is_tracked(self._tracks, node.op) else False

    def tracks(self) -> Sequence[Any] | None:
        return self._tracks

    def operands(self) -> Sequence[Any] | None:
        return self._operands

    def __call__(self, fgraph: FunctionGraph, node: Apply) -> Any:
        return self.fn(fgraph, node)

    def __str__(self) -> str:
        return self.name or repr(self.fn)

    def __repr__(self) -> str:
        return f"FromFunctionNodeRewriter({self.name}, {self._tracks!r})"

    def print_summary(self, stream: IO[str] | None = None, level: int = 0, depth: int = -1) -> None:
        print(f"{' ' * level}{self.name} id={id(self)}", file=stream)


def node_rewriter(
    tracks: Sequence[Any] | None,
    inplace: bool = False,
    requirements: Sequence[type[Feature]] | None = (),
    operands: Sequence[Any] | None = None,
) -> Callable[[Callable[[FunctionGraph, Apply], Any]], FromFunctionNodeRewriter]:
    """Make a node rewriter of a function (use as a decorator).

    Parameters
    ----------
    tracks
        Ops, classes of ops, or pairs ``(op class, scalar op class)`` that the function is tried
        on; None for every node.
    inplace
        The function makes operations destroy their inputs: the graph gets a `DestroyHandler`.
    requirements
        Classes of features that the graph must have.
    operands
        Ops, classes of ops, pairs as above, or `Constant`: the function is not asked about nodes none of whose inputs
        comes from one of these. What an operation makes of a constant by rearranging its dimensions counts as one.

    Examples
    --------
    >>> @node_rewriter([at.exp], operands=[at.log])
    ... def local_exp_of_log(fgraph, node):
    ...     inner = node.inputs[0].owner
    ...     return [inner.inputs[0]] if inner and inner.op == at.log else None
    """
    if tracks is not None:
        tracks = _checked_keys("tracks", tracks, ())
    if operands is not None:
        operands = _checked_keys("operands", operands, (Constant,))
    needed = tuple(requirements or ())
    if inplace:
        needed = (*needed, DestroyHandler)

    def decorate(f: Callable[[FunctionGraph, Apply], Any]) -> FromFunctionNodeRewriter:
        rewriter = FromFunctionNodeRewriter(f, tracks, needed, operands)
        rewriter.__name__ = f.__name__
        rewriter.__doc__ = f.__doc__
        return rewriter

    return decorate


def _checked_keys(name: str, keys: Any, others: tuple[type, ...]) -> list[Any]:
    """The entries of `tracks` or `operands` as a list."""
    keys = list(keys) if isinstance(keys, (list, tuple, set, frozenset)) else [keys]
    if not keys:
        raise ValueError(f"Use None instead of an empty list: `{name}` of nothing would never be tried.")
    for key in keys:
        if not (isinstance(key, (Op, tuple)) or (isinstance(key, type) and issubclass(key, (Op, *others)))):
            raise TypeError(
                f"`{name}` must hold Op instances, Op classes or pairs (Op class, scalar Op class); got {key!r}."
            )
    return keys


class SequentialNodeRewriter(NodeRewriter):
    """Node rewriters tried one after the other on a node.

    Parameters
    ----------
    rewriters
        The rewriters, in order.
    apply_all_rewrites
        After one has applied, go on with the rest on the node that came out; otherwise stop.
    profile
        Keep time, applications and attempts per rewriter.
    """

    only_tracked = True

    def __init__(self, *rewriters: NodeRewriter, apply_all_rewrites: bool = False, profile: bool = False):
        if len(rewriters) == 1 and isinstance(rewriters[0], (list, tuple)):
            rewriters = tuple(rewriters[0])
        self.rewrites = rewriters
        self.reentrant = any(getattr(rw, "reentrant", True) for rw in rewriters)
        self.retains_inputs = all(getattr(rw, "retains_inputs", False) for rw in rewriters)
        self.apply_all_rewrites = apply_all_rewrites
        self.profile = profile
        #: which of them have made the last result
        self.applied_last: list[NodeRewriter] = []
        self.tracker = OpToRewriterTracker()
        for rw in rewriters:
            self.tracker.add_tracker(rw)
        self.time_rewrites = dict.fromkeys(rewriters, 0.0)
        self.process_count = dict.fromkeys(rewriters, 0)
        self.applied_true = dict.fromkeys(rewriters, 0)

    def __str__(self) -> str:
        return self.name or f"SequentialNodeRewriter({','.join(str(r) for r in self.rewrites)})"

    def tracks(self) -> Sequence[Any] | None:
        keys: list[Any] = []
        for rw in self.rewrites:
            tracked = rw.tracks()
            if tracked is None:
                return None
            keys.extend(tracked)
        return keys

    def operands(self) -> Sequence[Any] | None:
        keys: list[Any] = []
        for rw in self.rewrites:
            needed = rw.operands()
            if needed is None:
                return None
            keys.extend(needed)
        return keys

    def add_requirements(self, fgraph: FunctionGraph) -> None:
        for rw in self.rewrites:
            rw.add_requirements(fgraph)

    @property
    def has_requirements(self) -> bool:
        return any(rw.has_requirements for rw in self.rewrites)

    def transform(self, fgraph: FunctionGraph, node: Apply, *args: Any, **kwargs: Any) -> Any:
        result: Any = None
        tried: set[int] = set()
        self.applied_last = []
        while True:
            found = self._first_result(fgraph, node, tried)
            if not found or isinstance(found, dict) or not self.apply_all_rewrites:
                return found or result
            result = list(found)
            owner = result[0].owner if len(result) == 1 and result[0] is not None else None
            # Only a fresh node that computes exactly this can be looked at further, and only if the graph knows what
            # it reads: rules ask who else does.
            if owner is None or owner in fgraph.apply_nodes or len(owner.outputs) != 1:
                return result
            if any(read.owner is not None and read not in fgraph.clients for read in owner.inputs):
                return result
            node = owner

    def _first_result(self, fgraph: FunctionGraph, node: Apply, tried: set[int]) -> Any:
        for rw in self.tracker.get_node_trackers(node):
            if id(rw) in tried:
                continue
            start = clock.now() if self.profile else 0.0
            found = rw.transform_tracked(fgraph, node)
            if self.profile:
                self.time_rewrites[rw] += clock.now() - start
                self.process_count[rw] += 1
                self.applied_true[rw] += bool(found)
            if found:
                if config.optimizer_verbose:
                    print(f"rewriting: rewrite {rw} replaces node {node} with {found}")
                self.applied_last.append(rw)
                if self.apply_all_rewrites:
                    tried.add(id(rw))
                return found
        return None

    def print_summary(self, stream: IO[str] | None = None, level: int = 0, depth: int = -1) -> None:
        print(f"{' ' * level}{type(self).__name__} {self.name or ''} id={id(self)}", file=stream)
        if depth != 0:
            for rw in self.rewrites:
                rw.print_summary(stream, level=level + 2, depth=depth - 1)

    @staticmethod
    def print_profile(stream: IO[str], prof: Any, level: int = 0) -> None:
        times, counts, applied, name = prof
        indent = "    " * level
        print(f"{indent}SequentialNodeRewriter {name}", file=stream)
        for rw, seconds in sorted(times.items(), key=lambda item: -item[1]):
            print(f"{indent}    {seconds:.6f}s tried {counts[rw]} applied {applied[rw]}  {rw}", file=stream)

    @staticmethod
    def merge_profile(prof1: Any, prof2: Any) -> Any:
        """One profile out of two: the numbers of each rewriter are added."""

        def total(one: dict[Any, Any], two: dict[Any, Any]) -> dict[Any, Any]:
            return {key: one.get(key, 0) + two.get(key, 0) for key in {**one, **two}}

        return (*(total(a, b) for a, b in zip(prof1[:3], prof2[:3])), prof1[3])


class SubstitutionNodeRewriter(NodeRewriter):
    """Replaces ``op1(inputs)`` with ``op2(inputs)``."""

    def __init__(self, op1: Op, op2: Op, transfer_tags: bool = True):
        self.op1 = op1
        self.op2 = op2
        self.transfer_tags = transfer_tags
        self.name = f"{op1} -> {op2}"

    @property
    def description(self) -> str:
        return f"{self.op1} becomes {self.op2}"

    def op_key(self) -> Op:
        return self.op1

    def tracks(self) -> Sequence[Any]:
        return [self.op1]

    def transform(self, fgraph: FunctionGraph, node: Apply, *args: Any, **kwargs: Any) -> Any:
        if node.op != self.op1:
            return False
        new = self.op2.make_node(*node.inputs)
        if self.transfer_tags:
            new.tag = node.tag
            for new_output, output in zip(new.outputs, node.outputs):
                new_output.tag = output.tag
        return new.outputs

    def __str__(self) -> str:
        return f"{self.op1} -> {self.op2}"


class RemovalNodeRewriter(NodeRewriter):
    """Removes ``op(x, ...)``: its outputs are replaced with its inputs."""

    def __init__(self, op: Op):
        self.op = op
        self.name = f"{op}(x) -> x"

    @property
    def description(self) -> str:
        return f"{self.op} is removed"

    def op_key(self) -> Op:
        return self.op

    def tracks(self) -> Sequence[Any]:
        return [self.op]

    def transform(self, fgraph: FunctionGraph, node: Apply, *args: Any, **kwargs: Any) -> Any:
        if node.op != self.op or len(node.inputs) != len(node.outputs):
            return False
        return list(node.inputs)

    def __str__(self) -> str:
        return f"{self.op}(x) -> x"

    def print_summary(self, stream: IO[str] | None = None, level: int = 0, depth: int = -1) -> None:
        print(f"{' ' * level}{self} id={id(self)}", file=stream)


class MetaNodeRewriterSkip(AssertionError):
    """Raised by a rewriter of a `MetaNodeRewriter` that should not be considered for a node."""


class MetaNodeRewriter(NodeRewriter):
    """Tries several rewriters on a node, times what they give, and keeps the fastest.

    Subclasses define `provide_inputs` (values for the node's unknown inputs) and `time_call`. As the option
    ``metaopt__verbose`` says when one is made, the choice (1) and all times (2) are printed.
    """

    def __init__(self) -> None:
        self.verbose = config.metaopt__verbose
        self.track_dict: dict[Any, list[NodeRewriter]] = {}
        self.tag_dict: dict[str, list[NodeRewriter]] = {}
        self._tracks: list[Any] = []
        self.rewriters: list[NodeRewriter] = []

    def register(self, rewriter: NodeRewriter, tag_list: Sequence[str]) -> None:
        self.rewriters.append(rewriter)
        for tag in tag_list:
            self.tag_dict.setdefault(tag, []).append(rewriter)
        for key in rewriter.tracks() or ():
            self._tracks.append(key)
            self.track_dict.setdefault(key, []).append(rewriter)

    def tracks(self) -> Sequence[Any]:
        return self._tracks

    def get_rewrites(self, node: Apply) -> Sequence[NodeRewriter]:
        found = list(self.track_dict.get(type(node.op), ()))
        return found + [rw for rw in self.track_dict.get(node.op, ()) if rw not in found]

    def provide_inputs(self, node: Apply, inputs: Sequence[Variable]) -> dict[Variable, Variable]:
        """Variables with values in place of `inputs`, which have none."""
        raise NotImplementedError(f"{type(self).__name__} must define provide_inputs.")

    def time_call(self, fn: Callable[[], Any]) -> float:
        start = clock.now()
        fn()
        return clock.now() - start

    def compile_candidate(self, outputs: Sequence[Variable]) -> Callable[[], Any]:
        """A callable that computes `outputs`; to be defined where functions can be compiled."""
        raise NotImplementedError(f"{type(self).__name__} must define compile_candidate.")

    def transform(self, fgraph: FunctionGraph, node: Apply, *args: Any, **kwargs: Any) -> Any:
        best: tuple[float, Any, NodeRewriter] | None = None
        for rewriter in self.get_rewrites(node):
            try:
                outputs = rewriter.transform(fgraph, node)
                if not outputs:
                    continue
                seconds = self.time_call(self.compile_candidate(outputs))
            except MetaNodeRewriterSkip:
                continue
            if self.verbose > 1:
                print(f"{type(self).__name__}: {rewriter} of {node} takes {seconds:.3g} s")
            if best is None or seconds < best[0]:
                best = (seconds, outputs, rewriter)
        if best is None:
            return None
        if self.verbose:
            print(f"{type(self).__name__}: {best[2]} is chosen for {node}")
        return best[1]
