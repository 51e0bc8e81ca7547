"""Random loops full of what rewrites look for: the same values and gradients with all rewrites, and without any."""

import itertools
import random
from collections import Counter

import numpy as np

import aesara
import aesara.tensor as at
from aesara.compile.mode import Mode
from aesara.scan import scan, until
from aesara.scan.editing import OverLoops
from aesara.scan.merging import ScanMerge
from aesara.scan.saving_memory import SaveMemory

SIZE = 2

RULES = {
    "remove_constants_and_unused_inputs_scan", "push_out_non_seq_scan", "push_out_seq_scan", "push_out_add_scan",
    "remove_unused_outputs_scan", "scan_merge_inouts", "scan_merge", "scan_save_mem",
}  # fmt: skip


class Loops:
    """Random loops: the inputs with values, and what is read of the loops' outputs."""

    def __init__(self, seed):
        self.draw, self.noise = random.Random(seed), np.random.default_rng(seed)
        self.n = self.draw.choice([1, 2, 3, 5])
        self.count = at.lscalar("n")
        self.sequences = [at.dmatrix("x"), at.dmatrix("y"), at.dtensor3("z")]
        self.vector, self.square = at.dvector("v"), at.dmatrix("m")
        self.inputs = [*self.sequences, self.vector, self.square]
        self.ended_early = False
        self.values = [
            self.noise.normal(size=(self.n, *[SIZE] * (v.ndim - 1))) * 0.7 if v in self.sequences
            else self.noise.normal(size=(SIZE,) * v.ndim) * 0.5
            for v in self.inputs
        ]  # fmt: skip
        first = self.loop([])
        others = [self.loop([] if self.ended_early else first) for _ in range(self.draw.choice([0, 1, 1, 2]))]
        self.read = [self.reading(rows) for rows in [*first, *itertools.chain(*others)]]
        self.read = [v for v in self.read if v is not None] or [first[0][-1]]

    def reading(self, rows):
        how = self.draw.choice(["all", "last", "last", "some", "none"])
        if how == "none":
            return None
        return {"all": rows, "last": rows[-1], "some": rows[-1:] if self.n < 2 else rows[1:]}[how]

    def loop(self, rows_of_others):
        """The outputs of a loop, perhaps over those of another one."""
        draw = self.draw
        sequences = draw.sample(self.sequences, draw.randint(0, 3))
        if rows_of_others and draw.random() < 0.5:
            sequences.append(draw.choice(rows_of_others))
        if draw.random() < 0.3:
            sequences.append(at.alloc(self.vector, self.count, SIZE))
        if sequences and draw.random() < 0.3:
            sequences.append(sequences[0])
        constants = [
            self.vector,
            self.square,
            *draw.sample([self.vector, at.constant(np.eye(SIZE))], draw.randint(0, 2)),
        ]
        kinds = [
            draw.choice(["state", "same state", "sum", "taps", "none", "map", "steady", "twice"]) for _ in range(3)
        ]
        if not any(kind in ("state", "sum", "taps") for kind in kinds):
            kinds.append("state")
        firsts = {
            "state": lambda: at.zeros_like(self.vector), "same state": lambda: at.zeros_like(self.vector),
            "sum": lambda: at.zeros((SIZE, SIZE)), "taps": lambda: {"initial": self.square, "taps": [-2, -1]},
        }  # fmt: skip
        infos = [firsts[kind]() if kind in firsts else None for kind in kinds]
        self.ends_early = draw.random() < 0.15
        self.ended_early = self.ended_early or self.ends_early
        self.kinds, self.n_seqs = kinds, len(sequences)
        outputs, _ = scan(
            self.step, sequences, infos, constants, n_steps=self.count, return_list=True,
            go_backwards=draw.random() < 0.2, truncate_gradient=draw.choice([-1, -1, -1, 1, 2]),
        )  # fmt: skip
        return list(outputs)

    def step(self, *arguments):
        arguments = list(arguments)
        entries, arguments = arguments[: self.n_seqs], arguments[self.n_seqs :]
        former = []
        for kind in self.kinds:
            taps = 2 if kind == "taps" else int(kind in ("state", "same state", "sum"))
            former.append(arguments[:taps])
            arguments = arguments[taps:]
        vector, square, *_ = arguments
        rows = [e for e in entries if e.ndim == 1] or [vector]
        of_states = [v for taps in former for v in taps if v.ndim == 1] or [vector]
        outputs = []
        common = at.tanh(of_states[0] + rows[0])
        for kind, taps in zip(self.kinds, former):
            outputs.append(self.value(kind, taps, rows, vector, square, common, entries))
        if self.ends_early:
            return outputs, until(rows[-1].sum() > 0.8)
        return outputs

    def value(self, kind, taps, rows, vector, square, common, entries):
        draw = self.draw
        row = draw.choice(rows)
        steady = at.exp(vector) * 0.2
        if kind == "state":
            return at.tanh(at.dot(draw.choice([row, taps[0]]), draw.choice([square, square + 1])) + taps[0] * 0.3)
        if kind == "same state":
            return taps[0] * 0.5 + at.sin(rows[0]) + steady
        if kind == "sum":
            left = draw.choice([row, common])
            term = draw.choice([at.outer(left, row), at.dot(left[:, None], common[None, :])])
            if any(e.ndim == 2 for e in entries) and draw.random() < 0.5:
                term = at.dot(next(e for e in entries if e.ndim == 2), at.outer(common, row))
            return taps[0] + term
        if kind == "taps":
            return 0.4 * taps[0] - at.sin(taps[1]) * steady + draw.choice([0, row])
        if kind == "map":
            return draw.choice([at.sin(row) * 2, at.dot(row, square), row, at.exp(row) + vector])
        if kind == "steady":
            return draw.choice([steady, vector, at.dot(square, square), at.constant(np.ones(SIZE))])
        return common * 2 if kind == "twice" else common + row

    def functions(self):
        outputs = list(self.read)
        cost = sum((at.sin(out) * 1.3).sum() for out in outputs)
        outputs += aesara.grad(cost, self.inputs, disconnected_inputs="ignore")
        for mode in ("FAST_COMPILE", "FAST_RUN", Mode("py", "fast_run")):
            yield aesara.function([self.count, *self.inputs], outputs, mode=mode, on_unused_input="ignore")


def assert_same_results(seed):
    loops = Loops(seed)
    plain, *others = loops.functions()
    want = plain(loops.n, *loops.values)
    for f in others:
        for got, wanted in zip(f(loops.n, *loops.values), want, strict=True):
            assert got.shape == wanted.shape and got.dtype == wanted.dtype
            np.testing.assert_allclose(got, wanted, rtol=1e-9, atol=1e-11)


def counted(method, fired, name_of):
    """The method `apply` of a rewriter, which notes how many loops it has replaced."""

    def apply(self, fgraph):
        done = method(self, fgraph)
        fired[name_of(self)] += done
        return done

    return apply


def test_rewrites_change_no_result(monkeypatch):
    fired = Counter()
    monkeypatch.setattr(OverLoops, "apply", counted(OverLoops.apply, fired, lambda rewriter: rewriter.rule.__name__))
    monkeypatch.setattr(ScanMerge, "apply", counted(ScanMerge.apply, fired, lambda _: "scan_merge"))
    monkeypatch.setattr(SaveMemory, "apply", counted(SaveMemory.apply, fired, lambda _: "scan_save_mem"))
    for seed in (18, 21, 23, 26, 27, 30, 36):
        assert_same_results(seed)
    assert {rule for rule in RULES if not fired[rule]} == set()
