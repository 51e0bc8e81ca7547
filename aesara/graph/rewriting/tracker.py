"""The index from operations to the rewriters that start at them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from aesara.graph.op import Op

if TYPE_CHECKING:
    from aesara.graph.rewriting.node_rewriters import NodeRewriter


class OpToRewriterTracker:
    """Finds the node rewriters that may apply to a node by its op, without trying the others.

    A rewriter's `tracks` may name:

    * an `Op` instance: nodes whose op equals it;
    * an `Op` class: nodes whose op is an instance of it (of a subclass too);
    * a pair ``(op class, scalar op class)``: nodes whose op is of the first class and whose
      ``scalar_op`` is of the second, such as ``(Elemwise, Cast)``;
    * nothing (``None``): every node.

    Rewriters of a node are tried in the order in which they were added.
    """

    def __init__(self) -> None:
        self.tracked_instances: dict[Op, list[NodeRewriter]] = {}
        self.tracked_types: dict[type, list[NodeRewriter]] = {}
        self.tracked_pairs: dict[tuple[type, type], list[NodeRewriter]] = {}
        self.untracked_rewrites: list[NodeRewriter] = []
        self._position: dict[int, int] = {}
        self._by_type: dict[type, tuple[NodeRewriter, ...] | None] = {}
        self._by_id: dict[int, tuple[Op, tuple[NodeRewriter, ...]]] = {}

    def add_tracker(self, rw: NodeRewriter) -> None:
        """Add a rewriter under everything that it tracks."""
        self._position.setdefault(id(rw), len(self._position))
        self._by_type.clear()
        self._by_id.clear()
        tracks = rw.tracks()
        if tracks is None:
            self.untracked_rewrites.append(rw)
            return
        for key in _as_sequence(tracks):
            if isinstance(key, type):
                self.tracked_types.setdefault(key, []).append(rw)
            elif isinstance(key, tuple):
                self.tracked_pairs.setdefault(key, []).append(rw)
            else:
                self.tracked_instances.setdefault(key, []).append(rw)

    def get_trackers(self, op: Op) -> Sequence[NodeRewriter]:
        """The rewriters to try on a node with this op, in the order in which they were added."""
        cls = type(op)
        found = self._by_type.get(cls, _UNKNOWN)
        if found is _UNKNOWN:
            found = self._by_type[cls] = self._lookup_type(cls)
        if found is not None:
            return found
        entry = self._by_id.get(id(op))
        if entry is None:
            if len(self._by_id) > 4096:
                self._by_id.clear()
            # The op is kept with its entry, so that its id is not used again meanwhile.
            entry = self._by_id[id(op)] = (op, self._lookup(op))
        return entry[1]

    def get_rewriters(self) -> Iterable[NodeRewriter]:
        """All rewriters, each once, in the order in which they were added."""
        seen: dict[int, NodeRewriter] = {}
        for group in (self.tracked_instances, self.tracked_types, self.tracked_pairs):
            for rewriters in group.values():  # type: ignore[attr-defined]
                for rw in rewriters:
                    seen[id(rw)] = rw
        for rw in self.untracked_rewrites:
            seen[id(rw)] = rw
        return sorted(seen.values(), key=lambda rw: self._position[id(rw)])

    def _lookup_type(self, cls: type) -> tuple[NodeRewriter, ...] | None:
        """Rewriters of every op of this class, or None where they depend on the instance."""
        if any(type(op) is cls for op in self.tracked_instances):
            return None
        if any(issubclass(cls, pair[0]) for pair in self.tracked_pairs):
            return None
        return self._ordered(self._of_classes(cls) + self.untracked_rewrites)

    def _lookup(self, op: Op) -> tuple[NodeRewriter, ...]:
        cls = type(op)
        found = self._of_classes(cls) + self.untracked_rewrites
        found += self.tracked_instances.get(op, [])
        scalar_op = getattr(op, "scalar_op", None)
        if scalar_op is not None:
            for (op_class, scalar_class), rewriters in self.tracked_pairs.items():
                if issubclass(cls, op_class) and isinstance(scalar_op, scalar_class):
                    found += rewriters
        return self._ordered(found)

    def _of_classes(self, cls: type) -> list[NodeRewriter]:
        return [rw for base in cls.__mro__ for rw in self.tracked_types.get(base, ())]

    def _ordered(self, rewriters: list[NodeRewriter]) -> tuple[NodeRewriter, ...]:
        unique = {id(rw): rw for rw in rewriters}
        return tuple(sorted(unique.values(), key=lambda rw: self._position[id(rw)]))


_UNKNOWN: Any = object()


def _as_sequence(tracks: Any) -> Sequence[Any]:
    return tuple(tracks) if isinstance(tracks, (list, tuple, set, frozenset)) else (tracks,)
