"""Where the inputs and outputs of loops of any kinds stand, which belong together, and what is left without some."""

import random
from copy import copy

import pytest

import aesara.tensor as at
from aesara.graph.traversal import ancestors
from aesara.scan.layout import ScanMethodsMixin
from aesara.scan.op import Scan, ScanInfo
from aesara.scan.utils import ScanArgs, safe_index

CARRIED = ("mit_mot", "mit_sot", "sit_sot", "nit_sot", "shared")
#: the kinds in their order, as `ScanInfo` gives it
ORDER = {
    "inner_in": ("seqs", "mit_mot", "mit_sot", "sit_sot", "shared", "non_seqs"),
    "inner_out": (*CARRIED, "cond"),
    "outer_in": ("n_steps", "seqs", "mit_mot", "mit_sot", "sit_sot", "shared", "nit_sot", "non_seqs"),
    "outer_out": CARRIED,
}
AGGREGATES = {"inner_in": "inner_inputs", "inner_out": "inner_outputs", "outer_in": "outer_inputs",
              "outer_out": "outer_outputs"}  # fmt: skip
SEEDS = range(12)


class Layout:
    """A random layout, and for each input and output its kind, number and tap."""

    def __init__(self, seed):
        draw = random.Random(seed)
        self.counts = {kind: draw.choice([0, 1, 1, 2, 3]) for kind in ("seqs", *CARRIED, "non_seqs")}
        several = [tuple(sorted(draw.sample(range(-4, 0), draw.randint(2, 3)))) for _ in range(self.counts["mit_sot"])]
        reads, writes = (
            [tuple(sorted(draw.sample(range(3), draw.randint(1, 3)))) for _ in range(self.counts["mit_mot"])]
            for _ in range(2)
        )
        self.counts |= {"cond": draw.randint(0, 1), "n_steps": 1}
        self.taps = {"inner_in": {"mit_mot": reads, "mit_sot": several}, "inner_out": {"mit_mot": writes}}
        ones = ((-1,),) * self.counts["sit_sot"]
        results, shared, constants = (self.counts[kind] for kind in ("nit_sot", "shared", "non_seqs"))
        self.info = ScanInfo(
            self.counts["seqs"], tuple(reads), tuple(writes), tuple(several), ones, results, shared, constants,
            bool(self.counts["cond"]),
        )  # fmt: skip
        self.labels = {side: [v for kind in ORDER[side] for v in self.of_kind(side, kind)] for side in ORDER}

    def of_kind(self, side, kind):
        """What there is of a kind on a side, as (kind, number, tap)."""
        taps = self.taps.get(side, {}).get(kind)
        if taps is None:
            return [(kind, k, None) for k in range(self.counts[kind])]
        return [(kind, k, tap) for k, own in enumerate(taps) for tap in own]

    def grouped(self, side, kind):
        """The same, in a list for each number where there are taps."""
        found = self.of_kind(side, kind)
        if kind not in self.taps.get(side, {}):
            return found
        return [[v for v in found if v[1] == k] for k in range(self.counts[kind])]

    def args(self, seed=None):
        """The parts of a loop with these inputs and outputs; with a seed the outputs depend on some of the inputs."""
        draw = random.Random(seed)
        variables = {side: [at.dscalar(f"{side} {v}") for v in labels] for side, labels in self.labels.items()}
        if seed is not None:
            inner = variables["inner_in"]
            variables["inner_out"] = [
                sum(draw.sample(inner, min(len(inner), draw.choice([0, 1, 1, 2]))), at.dscalar()) + 1
                for _ in variables["inner_out"]
            ]
        sides = (variables[side] for side in ("outer_in", "outer_out", "inner_in", "inner_out"))
        return ScanArgs(*sides, self.info, clone=False), variables


@pytest.mark.parametrize("seed", SEEDS)
def test_parts_by_kind(seed):
    layout, kinds = Layout(seed), ScanMethodsMixin()
    kinds.info = info = layout.info
    for side, labels in layout.labels.items():
        count = f"n_{AGGREGATES[side]}"
        assert getattr(info, count) == len(labels)
        for kind in ORDER[side]:
            name = kind if kind.endswith("seqs") else kind.replace("_", "")
            if kind in ("cond", "n_steps"):
                continue
            method = getattr(kinds, f"{side.partition('_')[0]}_{name}{'_outs' * side.endswith('out')}")
            assert method(labels) == layout.grouped(side, kind)
    assert info.n_mit_mot_outs == len(layout.of_kind("inner_out", "mit_mot"))
    assert [info.n_mit_mot, info.n_mit_sot, info.n_sit_sot, info.n_nit_sot] == [layout.counts[k] for k in CARRIED[:4]]


@pytest.mark.parametrize("seed", SEEDS)
def test_messages_show_the_first_values_of_states(seed):
    """The rest of a buffer is empty room; what there is no value of is shown as None."""
    layout, kinds = Layout(seed), ScanMethodsMixin()
    kinds.info = layout.info
    values = [[(label, row) for row in range(9)] for label in layout.labels["outer_in"]]
    depths = {("mit_sot", k, None): -min(taps) for k, taps in enumerate(layout.info.mit_sot_in_slices)}
    want = [
        value[: 1 if label[0] == "sit_sot" else depths.get(label)]
        for label, value in zip(layout.labels["outer_in"], values, strict=True)
    ]
    assert Scan.shown_inputs(kinds, values) == want
    assert Scan.shown_inputs(kinds, [None] * len(values)) == [None] * len(values)


@pytest.mark.parametrize("seed", SEEDS)
def test_what_belongs_together(seed):
    layout, kinds = Layout(seed), ScanMethodsMixin()
    kinds.info = layout.info
    labels = {
        "outer_inp": layout.labels["outer_in"], "outer_out": layout.labels["outer_out"],
        "inner_inp": layout.labels["inner_in"], "inner_out": [v for v in layout.labels["inner_out"] if v[0] != "cond"],
    }  # fmt: skip
    want = {}
    for given in labels:
        for found in labels:
            if found == given:
                continue
            same = {k: [j for j, w in enumerate(labels[found]) if w[:2] == v[:2]] for k, v in enumerate(labels[given])}
            single = found.startswith("outer")
            want[f"{found}_from_{given}"] = {k: next(iter(js), -1) if single else js for k, js in same.items()}
    assert kinds.get_oinp_iinp_iout_oout_mappings() == want
    inputs, outputs = kinds.outer_positions()
    assert dict(enumerate(inputs)) == want["outer_inp_from_inner_inp"]
    assert dict(enumerate(outputs)) == want["outer_out_from_inner_out"]


@pytest.mark.parametrize("seed", SEEDS)
def test_fields_hold_all_parts(seed):
    layout = Layout(seed)
    args, variables = layout.args()
    assert args.info == layout.info and args.n_mit_mot == layout.counts["mit_mot"]
    assert args.n_nit_sot == layout.counts["nit_sot"] and args.inputs == args.inner_inputs
    for side, aggregate in AGGREGATES.items():
        assert getattr(args, aggregate) == variables[side]
        of_label = dict(zip(layout.labels[side], variables[side], strict=True))
        for place, (label, variable) in enumerate(of_label.items()):
            kind, number, tap = label
            if kind in ("cond", "n_steps"):
                assert getattr(args, kind) in (variable, [variable]) and args.find_among_fields(variable) is None
                continue
            found = args.find_among_fields(variable)
            inner = None
            if tap is not None:
                inner = layout.grouped(side, kind)[number].index(label)
            assert found == (f"{side}_{kind}", aggregate, number, inner, place)
            assert args.find_among_fields(variable, lambda name, own=found.name: name != own) is None
            for other in AGGREGATES:
                own = layout.grouped(other, kind) if kind in ORDER[other] else []
                entry = args.get_alt_field(variable, other)
                if not own:
                    assert entry is None
                elif isinstance(own[number], list):
                    assert entry == [variables[other][layout.labels[other].index(v)] for v in own[number]]
                else:
                    assert entry is variables[other][layout.labels[other].index(own[number])]
    assert args.find_among_fields(at.dscalar()) is None and args.find_among_fields("x") is None


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_left_without_one_variable(seed):
    layout = Layout(seed)
    args, variables = layout.args(seed)
    inner = dict(zip(variables["inner_in"], layout.labels["inner_in"], strict=True))
    new = dict(zip(layout.labels["inner_out"], variables["inner_out"], strict=True))
    every = [(v, label) for side in ORDER for v, label in zip(variables[side], layout.labels[side], strict=True)
             if label[0] not in ("n_steps", "cond")]  # fmt: skip
    for variable, label in every:
        gone = {label[:2]}
        while True:
            more = {to[:2] for to, out in new.items() if to[0] != "cond"
                    and any(inner[v][:2] in gone for v in ancestors([out]) if v in inner)}  # fmt: skip
            if more <= gone:
                break
            gone |= more
        want = {v for v, own in every if own[:2] in gone}
        assert args.get_dependent_nodes(variable) == want
        left = copy(args)
        removed = left.remove_from_fields(variable)
        assert {v for v, _ in removed} == want and all(args.find_among_fields(v) == info for v, info in removed)
        for side, aggregate in AGGREGATES.items():
            assert getattr(left, aggregate) == [v for v in variables[side] if v not in want]
        counts = {kind: sum((kind, k) not in gone for k in range(count)) for kind, count in layout.counts.items()}
        assert [len(taps) for taps in (left.mit_mot_in_slices, left.mit_mot_out_slices)] == [counts["mit_mot"]] * 2
        assert [len(left.mit_sot_in_slices), len(left.sit_sot_in_slices)] == [counts["mit_sot"], counts["sit_sot"]]
        alone = copy(args)
        assert alone.remove_from_fields(variable, rm_dependents=False) == [(variable, args.find_among_fields(variable))]
        for side, aggregate in AGGREGATES.items():
            assert getattr(alone, aggregate) == [v for v in variables[side] if v is not variable]
        for edited in (left, alone):
            with pytest.raises(ValueError, match="not found among fields"):
                edited.remove_from_fields(variable, rm_dependents=edited is left)
    assert args.outer_inputs == variables["outer_in"]  # copies have lists of their own


@pytest.mark.parametrize("seed", SEEDS)
def test_two_loops_have_the_parts_of_both(seed):
    one, other = Layout(seed), Layout(seed + 100)
    args, others = one.args()[0], other.args()[0]
    if one.counts["cond"] != other.counts["cond"] or one.counts["cond"]:
        with pytest.raises(ValueError, match="different conditions"):
            args.merge(others)
        others.as_while, others.cond = args.as_while, args.cond
    made = args.merge(others)
    for side in AGGREGATES:
        for kind in ORDER[side]:
            if kind not in ("cond", "n_steps"):
                name = f"{side}_{kind}"
                assert getattr(made, name) == getattr(args, name) + getattr(others, name)
    assert made.n_steps is args.n_steps and made.cond == args.cond
    for name in ("mit_mot_in_slices", "mit_mot_out_slices", "mit_sot_in_slices", "sit_sot_in_slices"):
        assert getattr(made, name) == getattr(args, name) + getattr(others, name)


def test_a_loop_without_anything():
    empty = ScanArgs.create_empty()
    assert empty.info == ScanInfo(0, (), (), (), (), 0, 0, 0, False)
    assert empty.outer_inputs == [1] and empty.inner_outputs == empty.outer_outputs == empty.inner_inputs == []


def test_places_in_lists():
    nan = float("nan")
    assert [safe_index(given, x) for given, x in [("ab", "b"), ("a", "b"), ([1.0, nan], nan), ([2, 1, 1.0], 1)]] == [
        1, None, 1, 1,
    ]  # fmt: skip
