"""The index from operations to the rewriters that start at them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aesara.graph.nodes import Apply, Constant
from aesara.graph.op import Op
from aesara.graph.rewriting.rewriter import NodeRewriter

#: The bit that stands for a constant among the inputs of a node, or what may be one with its dimensions rearranged.
CONSTANT = 1


class OpEntry:
    """Rewriters of an op, or of all ops of a class, and the operands that they need.

    Attributes
    ----------
    op
        The op; kept with its entry, so that its id is not used again meanwhile.
    rewriters
        Those that track it.
    needs
        For each of them the bits of which an input must have one; 0 for none.
    bits
        The bits that a node has one of whose inputs comes from this op.
    relevant
        The bits that any of its rewriters needs.
    chosen
        The rewriters to try, by those of the relevant bits that the inputs have.
    """

    __slots__ = ("bits", "chosen", "needs", "op", "relevant", "rewriters")

    def __init__(self, op: Op, rewriters: tuple[NodeRewriter, ...], needs: tuple[int, ...], bits: int):
        self.op = op
        self.rewriters = rewriters
        self.needs = needs
        self.bits = bits
        self.relevant = 0
        for need in needs:
            self.relevant |= need
        self.chosen: dict[int, tuple[NodeRewriter, ...]] = {}

    def choose(self, bits: int) -> tuple[NodeRewriter, ...]:
        """The rewriters that inputs with these bits leave to be tried."""
        found = tuple(rw for rw, need in zip(self.rewriters, self.needs) if not need or need & bits)
        self.chosen[bits] = found
        return found


class OpToRewriterTracker:
    """Finds the node rewriters that may apply to a node by its op, without trying the others.

    A rewriter's `tracks` may name:

    * an `Op` instance: nodes whose op equals it;
    * an `Op` class: nodes whose op is an instance of it (of a subclass too);
    * a pair ``(op class, scalar op class)``: nodes whose op is of the first class and whose
      ``scalar_op`` is of the second, such as ``(Elemwise, Cast)``;
    * nothing (``None``): every node.

    Its `operands` may name the same, for the ops of which one must be what an input comes from, and `Constant`.

    Rewriters of a node are tried in the order in which they were added.
    """

    def __init__(self) -> None:
        self.tracked_instances: dict[Op, list[NodeRewriter]] = {}
        self.tracked_types: dict[type, list[NodeRewriter]] = {}
        self.tracked_pairs: dict[tuple[type, type], list[NodeRewriter]] = {}
        self.untracked_rewrites: list[NodeRewriter] = []
        # All rewriters in order, with the bits that they need; their places, and the places of those that track a key.
        self._rewriters: list[NodeRewriter] = []
        self._needs: list[int] = []
        self._place: dict[int, int] = {}
        self._places: dict[Any, list[int]] = {}
        # Which bit stands for which operand.
        self._bit_of: dict[Any, int] = {Constant: CONSTANT}
        # Of what is tracked or an operand: the classes of ops that are named as instances, and first classes of pairs.
        self._classes_of_instances: set[type] = set()
        self._classes_in_pairs: set[type] = set()
        self._by_type: dict[type, OpEntry | None] = {}
        self._by_id: dict[int, OpEntry] = {}

    def add_tracker(self, rw: NodeRewriter) -> None:
        """Add a rewriter under everything that it tracks."""
        if self._by_type or self._by_id:
            self._by_type.clear()
            self._by_id.clear()
        place = self._place.get(id(rw))
        if place is None:
            place = self._place[id(rw)] = len(self._rewriters)
            self._rewriters.append(rw)
            self._needs.append(0)
        needs = 0
        for key in _as_sequence(rw.operands() or ()):
            bit = self._bit_of.get(key)
            if bit is None:
                bit = self._bit_of[key] = 1 << len(self._bit_of)
                self._note_class(key)
            needs |= bit
        self._needs[place] = needs
        tracks = rw.tracks()
        if tracks is None:
            self.untracked_rewrites.append(rw)
            self._places.setdefault(None, []).append(place)
            return
        for key in _as_sequence(tracks):
            group: dict[Any, list[NodeRewriter]] = self.tracked_types
            if not isinstance(key, type):
                self._note_class(key)
                group = self.tracked_pairs if isinstance(key, tuple) else self.tracked_instances
            group.setdefault(key, []).append(rw)
            self._places.setdefault(key, []).append(place)

    def _note_class(self, key: Any) -> None:
        if isinstance(key, tuple):
            self._classes_in_pairs.add(key[0])
        elif not isinstance(key, type):
            self._classes_of_instances.add(type(key))

    def get_trackers(self, op: Op) -> Sequence[NodeRewriter]:
        """The rewriters that track this op, in the order in which they were added."""
        return self._entry(op).rewriters

    def get_node_trackers(self, node: Apply) -> Sequence[NodeRewriter]:
        """The rewriters to try on a node: those that track its op and have operands among its inputs."""
        by_type, by_id = self._by_type, self._by_id
        op = node.op
        entry = by_id.get(id(op)) or by_type.get(type(op)) or self._entry(op)
        relevant = entry.relevant
        if not relevant:
            return entry.rewriters
        bits = 0 if node.inputs else CONSTANT
        for var in node.inputs:
            owner = var.owner
            if owner is None:
                if isinstance(var, Constant):
                    bits |= CONSTANT
                continue
            op = owner.op
            bits |= (by_id.get(id(op)) or by_type.get(type(op)) or self._entry(op)).bits
        bits &= relevant
        found = entry.chosen.get(bits)
        return entry.choose(bits) if found is None else found

    def get_rewriters(self) -> list[NodeRewriter]:
        """All rewriters, each once, in the order in which they were added."""
        return list(self._rewriters)

    def _entry(self, op: Op) -> OpEntry:
        cls = type(op)
        found = self._by_type.get(cls, _UNKNOWN)
        if found is _UNKNOWN:
            found = self._by_type[cls] = None if self._depends_on_instance(cls) else self._make_entry(op)
        if found is not None:
            return found
        entry = self._by_id.get(id(op))
        if entry is None:
            if len(self._by_id) > 4096:
                self._by_id.clear()
            entry = self._by_id[id(op)] = self._make_entry(op)
        return entry

    def _depends_on_instance(self, cls: type) -> bool:
        """Return whether ops of this class can differ in their rewriters, or in their bits as operands."""
        return cls in self._classes_of_instances or not self._classes_in_pairs.isdisjoint(cls.__mro__)

    def _make_entry(self, op: Op) -> OpEntry:
        keys: list[Any] = [None, *type(op).__mro__]
        scalar_op = getattr(op, "scalar_op", None)
        if scalar_op is not None and not self._classes_in_pairs.isdisjoint(keys):
            scalar_classes = type(scalar_op).__mro__
            keys += [(one, other) for one in keys if one in self._classes_in_pairs for other in scalar_classes]
        keys.append(op)
        bits = CONSTANT if hasattr(op, "new_order") else 0  # a rearrangement of dimensions
        found: set[int] = set()
        for key in keys:
            found.update(self._places.get(key, ()))
            bits |= self._bit_of.get(key, 0)
        places = sorted(found)
        needs = tuple([self._needs[place] for place in places])
        return OpEntry(op, tuple([self._rewriters[place] for place in places]), needs, bits)


_UNKNOWN: Any = object()


def _as_sequence(tracks: Any) -> Sequence[Any]:
    return tuple(tracks) if isinstance(tracks, (list, tuple, set, frozenset)) else (tracks,)
