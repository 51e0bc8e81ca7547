"""Inputs and outputs of a loop and of its step by kind, for inspection and editing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from aesara.graph.cloning import clone as clone_graph
from aesara.graph.cloning import clone_replace
from aesara.graph.nodes import Apply, Variable
from aesara.graph.traversal import ancestors
from aesara.scan.info import ScanInfo
from aesara.scan.layout import ScanMethodsMixin
from aesara.scan.op import Scan

__all__ = ["FieldInfo", "ScanArgs", "default_filter_scanargs", "safe_index"]

#: the kinds of states and outputs
_CARRIED = ("mit_mot", "mit_sot", "sit_sot", "nit_sot", "shared")
#: The lists of a `ScanArgs`, in the order in which they make up the inputs and outputs of the loop and its step.
_AGGREGATES = {
    "inner_inputs": ("seqs", "mit_mot", "mit_sot", "sit_sot", "shared", "non_seqs"),
    "inner_outputs": _CARRIED,
    "outer_inputs": ("seqs", "mit_mot", "mit_sot", "sit_sot", "shared", "nit_sot", "non_seqs"),
    "outer_outputs": _CARRIED,
}
_FIELDS = {f"{agg[:-1].removesuffix('put')}_{kind}": agg for agg, kinds in _AGGREGATES.items() for kind in kinds}


def safe_index(lst: Sequence[Variable], x: Variable) -> int | None:
    """Return the index of `x` in a list, or None.

    Examples
    --------
    >>> safe_index(["a", "b"], "b"), safe_index(["a"], "b")
    (1, None)
    """
    return next((k for k, entry in enumerate(lst) if entry is x or entry == x), None)


def default_filter_scanargs(x: str) -> bool:
    """Return whether `x` names a field of `ScanArgs` that contains variables.

    Examples
    --------
    >>> default_filter_scanargs("inner_in_seqs"), default_filter_scanargs("n_steps")
    (True, False)
    """
    return x.startswith(("inner_", "outer_"))


class FieldInfo(NamedTuple):
    """The position of a variable in a `ScanArgs`.

    Attributes
    ----------
    name : str
        The field, such as ``inner_in_seqs``.
    agg_name : str
        The list of variables that contains the field: ``inner_inputs``, ``inner_outputs``, ``outer_inputs`` or
        ``outer_outputs``.
    index : int
        The index in the field.
    inner_index : int or None
        The index in the entry of the field, if the entry is a list.
    agg_index : int
        The index in ``agg_name``.
    """

    name: str
    agg_name: str
    index: int  # type: ignore[assignment]  # it hides the method of tuples
    inner_index: int | None
    agg_index: int | None


class ScanArgs:
    """The inputs and outputs of a loop and of its step, by kind.

    The name of a field consists of the side (``outer`` for the loop, ``inner`` for its step), the direction (``in`` or
    ``out``) and the kind (``seqs``, ``mit_mot``, ``mit_sot``, ``sit_sot``, ``nit_sot``, ``shared`` or ``non_seqs``; see
    `ScanInfo`). Fields are lists of variables; ``inner_in_mit_mot``, ``inner_in_mit_sot`` and ``inner_out_mit_mot`` are
    lists of lists, with one variable per tap.

    Parameters
    ----------
    outer_inputs, outer_outputs
        The inputs and outputs of the loop.
    _inner_inputs, _inner_outputs
        The inputs and outputs of its step.
    info
        Their kinds.
    clone
        Whether to copy the step.

    Examples
    --------
    >>> import aesara, aesara.tensor as at
    >>> from aesara.scan.utils import ScanArgs
    >>> x, k = at.dvector("x"), at.dscalar("k")
    >>> products, _ = aesara.scan(lambda entry, k: entry * k, sequences=x, non_sequences=k)
    >>> args = ScanArgs.from_node(products.owner)
    >>> args.outer_in_non_seqs, args.inner_out_nit_sot
    ([k], [Elemwise{mul,no_inplace}.0])
    >>> args.get_alt_field(args.inner_out_nit_sot[0], "outer_out") is products
    True
    """

    default_filter = staticmethod(default_filter_scanargs)

    def __init__(
        self, outer_inputs: Sequence[Variable], outer_outputs: Sequence[Variable],
        _inner_inputs: Sequence[Variable], _inner_outputs: Sequence[Variable], info: ScanInfo,
        clone: bool | None = True,
    ) -> None:  # fmt: skip
        inner_inputs, inner_outputs = list(_inner_inputs), list(_inner_outputs)
        if clone:
            inner_inputs, inner_outputs = clone_graph(inner_inputs, inner_outputs, copy_orphans=False)
        kinds = ScanMethodsMixin()
        kinds.info = info
        self.n_steps: Any = outer_inputs[0]
        self.as_while = info.as_while
        self.cond = inner_outputs[-1:] if info.as_while else []
        self.mit_mot_in_slices = list(info.mit_mot_in_slices)
        self.mit_mot_out_slices = list(info.mit_mot_out_slices)
        self.mit_sot_in_slices = list(info.mit_sot_in_slices)
        self.sit_sot_in_slices = list(info.sit_sot_in_slices)
        self.outer_in_seqs = kinds.outer_seqs(outer_inputs)
        self.outer_in_mit_mot = kinds.outer_mitmot(outer_inputs)
        self.outer_in_mit_sot = kinds.outer_mitsot(outer_inputs)
        self.outer_in_sit_sot = kinds.outer_sitsot(outer_inputs)
        self.outer_in_shared = kinds.outer_shared(outer_inputs)
        self.outer_in_nit_sot = kinds.outer_nitsot(outer_inputs)
        self.outer_in_non_seqs = kinds.outer_non_seqs(outer_inputs)
        self.inner_in_seqs = kinds.inner_seqs(inner_inputs)
        self.inner_in_mit_mot = kinds.inner_mitmot(inner_inputs)
        self.inner_in_mit_sot = kinds.inner_mitsot(inner_inputs)
        self.inner_in_sit_sot = kinds.inner_sitsot(inner_inputs)
        self.inner_in_shared = kinds.inner_shared(inner_inputs)
        self.inner_in_non_seqs = kinds.inner_non_seqs(inner_inputs)
        self.outer_out_mit_mot = kinds.outer_mitmot_outs(outer_outputs)
        self.outer_out_mit_sot = kinds.outer_mitsot_outs(outer_outputs)
        self.outer_out_sit_sot = kinds.outer_sitsot_outs(outer_outputs)
        self.outer_out_nit_sot = kinds.outer_nitsot_outs(outer_outputs)
        self.outer_out_shared = kinds.outer_shared_outs(outer_outputs)
        self.inner_out_mit_mot = kinds.inner_mitmot_outs(inner_outputs)
        self.inner_out_mit_sot = kinds.inner_mitsot_outs(inner_outputs)
        self.inner_out_sit_sot = kinds.inner_sitsot_outs(inner_outputs)
        self.inner_out_nit_sot = kinds.inner_nitsot_outs(inner_outputs)
        self.inner_out_shared = kinds.inner_shared_outs(inner_outputs)

    @classmethod
    def from_node(cls, node: Apply, clone: bool = False) -> ScanArgs:
        """Return the inputs and outputs of a `Scan` node."""
        if not isinstance(node.op, Scan):
            raise TypeError(f"{node} is not a Scan node")
        return cls(node.inputs, node.outputs, node.op.inner_inputs, node.op.inner_outputs, node.op.info, clone)

    @staticmethod
    def create_empty() -> ScanArgs:
        """Return the arguments of a loop of one step without inputs and outputs."""
        info = ScanInfo(0, (), (), (), (), 0, 0, 0, False)
        return ScanArgs([1], [], [], [], info, clone=False)  # type: ignore[list-item]  # any number of steps

    # -- lists of variables ------------------------------------------------------------------------------------

    @property
    def n_mit_mot(self) -> int:
        return len(self.outer_in_mit_mot)

    @property
    def n_nit_sot(self) -> int:
        return len(self.outer_in_nit_sot)

    @property
    def inputs(self) -> list[Variable]:
        """The inputs of the step."""
        return self.inner_inputs

    @property
    def inner_inputs(self) -> list[Variable]:
        return self._flat("inner_inputs")

    @property
    def inner_outputs(self) -> list[Variable]:
        return [*self._flat("inner_outputs"), *self.cond]

    @property
    def outer_inputs(self) -> list[Variable]:
        return [self.n_steps, *self._flat("outer_inputs")]

    @property
    def outer_outputs(self) -> list[Variable]:
        return self._flat("outer_outputs")

    @property
    def info(self) -> ScanInfo:
        """The kinds, as the constructor of `Scan` takes them."""
        return ScanInfo(
            n_seqs=len(self.outer_in_seqs),
            mit_mot_in_slices=tuple(self.mit_mot_in_slices),
            mit_mot_out_slices=tuple(self.mit_mot_out_slices),
            mit_sot_in_slices=tuple(self.mit_sot_in_slices),
            sit_sot_in_slices=tuple(self.sit_sot_in_slices),
            n_nit_sot=len(self.outer_in_nit_sot),
            n_shared_outs=len(self.outer_in_shared),
            n_non_seqs=len(self.outer_in_non_seqs),
            as_while=self.as_while,
        )

    @property
    def var_mappings(self) -> dict[str, dict[int, Any]]:
        """See `ScanMethodsMixin.get_oinp_iinp_iout_oout_mappings`."""
        kinds = ScanMethodsMixin()
        kinds.info = self.info
        return kinds.get_oinp_iinp_iout_oout_mappings()

    @property
    def field_names(self) -> list[str]:
        """The names of all fields."""
        return [
            "mit_mot_out_slices",
            "mit_mot_in_slices",
            "mit_sot_in_slices",
            "sit_sot_in_slices",
            "n_steps",
            *_FIELDS,
        ]

    def _flat(self, agg_name: str) -> list[Variable]:
        fields = [getattr(self, name) for name, agg in _FIELDS.items() if agg == agg_name]
        return [v for field in fields for entry in field for v in (entry if isinstance(entry, list) else [entry])]

    def _entries(self) -> Iterator[tuple[Variable, FieldInfo]]:
        """Iterate over all variables and their positions."""
        counts = {"inner_inputs": 0, "inner_outputs": 0, "outer_inputs": 1, "outer_outputs": 0}
        for name, agg in _FIELDS.items():
            for k, entry in enumerate(getattr(self, name)):
                several = isinstance(entry, list)
                for j, variable in enumerate(entry if several else [entry]):
                    yield variable, FieldInfo(name, agg, k, j if several else None, counts[agg])
                    counts[agg] += 1

    # -- search ------------------------------------------------------------------------------------------------

    def find_among_fields(
        self, i: object, field_filter: Callable[[str], bool] = default_filter_scanargs
    ) -> FieldInfo | None:
        """Return the position of a variable, or None if the loop does not have it."""
        if not isinstance(i, Variable):
            return None
        return next((info for v, info in self._entries() if v is i and field_filter(info.name)), None)

    def _find(self, i: object) -> FieldInfo:
        position = self.find_among_fields(i)
        if position is None:
            raise ValueError(f"{i} not found among fields.")
        return position

    def get_alt_field(self, var_info: Variable | FieldInfo, alt_prefix: str) -> Variable | None:
        """Return the counterpart of a variable on another side, such as ``outer_in``, or None if there is none."""
        info = self._find(var_info) if isinstance(var_info, Variable) else var_info
        field = getattr(self, f"{alt_prefix}_{_kind(info.name)}", None)
        return field[info.index] if field is not None and info.index < len(field) else None

    def get_dependent_nodes(self, i: Variable) -> set[Variable]:
        """Return the variables that must be removed together with `i`: its counterparts and all that
        depends on them.
        """
        groups = self._dependent_groups(i)
        return {v for v, info in self._entries() if (_kind(info.name), info.index) in groups}

    def _dependent_groups(self, i: Variable) -> set[tuple[str, int]]:
        """Return the kinds and indices of the entries that must be removed together with `i`."""
        own = self._find(i)
        pending, groups = [(_kind(own.name), own.index)], set()
        ancestors_of = {v: set(ancestors([v])) for v in self._flat("inner_outputs")}
        while pending:
            group = pending.pop()
            if group in groups:
                continue
            groups.add(group)
            kind, index = group
            field = getattr(self, f"inner_in_{kind}", [])
            entry = field[index] if index < len(field) else []
            removed = set(entry if isinstance(entry, list) else [entry])
            for variable, info in self._entries():
                if info.agg_name == "inner_outputs" and removed & ancestors_of[variable]:
                    pending.append((_kind(info.name), info.index))
        return groups

    # -- editing -----------------------------------------------------------------------------------------------

    def _remove_from_fields(self, i: Variable) -> FieldInfo | None:
        """Remove only the given variable, and return its position, or None if the loop does not have it."""
        position = self.find_among_fields(i)
        if position is not None:
            field, index = getattr(self, position.name), position.index
            if position.inner_index is not None:
                field, index = field[position.index], position.inner_index
            del field[index]
        return position

    def remove_from_fields(self, i: Variable, rm_dependents: bool = True) -> list[tuple[Variable, FieldInfo]]:
        """Remove a variable and all that cannot be computed without it; return the removed variables with their
        positions.

        With ``rm_dependents=False`` only the variable itself is removed; the caller has to remove its counterparts.
        """
        if not rm_dependents:
            self._find(i)
            position = self._remove_from_fields(i)
            assert position is not None
            return [(i, position)]
        groups = self._dependent_groups(i)
        removed = [(v, info) for v, info in self._entries() if (_kind(info.name), info.index) in groups]
        for kind, index in sorted(groups, key=lambda group: -group[1]):
            for name in (f"inner_in_{kind}", f"inner_out_{kind}", f"outer_in_{kind}", f"outer_out_{kind}",
                         f"{kind}_in_slices", f"{kind}_out_slices"):  # fmt: skip
                if hasattr(self, name):
                    del getattr(self, name)[index]
        return removed

    def replace_inner(self, replacements: Mapping[Variable, Variable]) -> None:
        """Replace variables in the graph of the step."""
        self.set_inner_outputs(clone_replace(self.inner_outputs, dict(replacements)))

    def set_inner_outputs(self, outputs: Sequence[Variable]) -> None:
        """Set the outputs of the step; their number must stay the same."""
        new_outputs = iter(outputs)
        self.inner_out_mit_mot = [[next(new_outputs) for _ in taps] for taps in self.inner_out_mit_mot]
        for name in ("mit_sot", "sit_sot", "nit_sot", "shared"):
            field = f"inner_out_{name}"
            setattr(self, field, [next(new_outputs) for _ in getattr(self, field)])
        self.cond = [next(new_outputs) for _ in self.cond]

    def merge(self, other: ScanArgs) -> ScanArgs:
        """Return the arguments of a loop that computes the outputs of both loops.

        Both loops must have the same number of steps.

        Raises
        ------
        ValueError
            If their conditions differ, or only one loop has a condition.
        """
        if self.as_while != other.as_while or (self.as_while and self.cond[0] is not other.cond[0]):
            raise ValueError("ScanArgs.merge: the two loops end by different conditions.")
        merged = self.__copy__()
        for name in [n for n in merged.field_names if n != "n_steps"]:
            getattr(merged, name).extend(
                list(entry) if isinstance(entry, list) else entry for entry in getattr(other, name)
            )
        return merged

    def __copy__(self) -> ScanArgs:
        result = object.__new__(type(self))
        for name, value in vars(self).items():
            copied = [list(v) if isinstance(v, list) else v for v in value] if isinstance(value, list) else value
            setattr(result, name, copied)
        return result

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ScanArgs):
            return NotImplemented
        return vars(self) == vars(other)

    def __str__(self) -> str:
        lines = [f"\t{name}={getattr(self, name)}" for name in ("n_steps", *_FIELDS)]
        lines += [f"\t{name}={getattr(self, name)}" for name in self.field_names if name.endswith("_slices")]
        return "ScanArgs(\n" + ",\n".join(lines) + ")"

    __repr__ = __str__


def _kind(name: str) -> str:
    """Return the kind in the name of a field."""
    return name.split("_", 2)[2]
