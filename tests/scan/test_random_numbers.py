"""Random loops over numbers, whose states are in registers natively: the same results whatever rewrites do.

Each loop is compiled without any rewrite of loops, with all of them, with all but one, and with one alone, for both
linkers; values and gradients are compared.
"""

import random

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.compile.mode import Mode, get_mode
from aesara.scan import scan, until

#: the rewrites of loops, by the names by which modes exclude and include them
NAMES = (
    "scan_remove_constants_and_unused_inputs0", "scan_remove_constants_and_unused_inputs1",
    "scan_remove_unused_outputs", "scan_pushout_nonseqs_ops", "scan_pushout_seqs_ops", "scan_pushout_dot1",
    "scan_pushout_add", "scan_pushout_dot", "scan_merge_inouts", "scan_merge",
    "while_scan_merge_subtensor_last_element", "scan_save_mem", "scan_late_terms", "scan_split_late_sums",
    "scan_make_inplace",
)  # fmt: skip


class Numbers:
    """One or two random loops: their inputs with values, and what is read of what they give."""

    def __init__(self, seed):
        self.draw, noise = random.Random(seed), np.random.default_rng(seed)
        self.steps = self.draw.choice([1, 2, 3, 5, 9])
        self.entries = at.dvectors("x", "y")
        self.parameters = at.dscalars("p", "q", "c")
        self.pair = at.dvector("first")
        self.count = at.lscalar("n")
        self.inputs = [*self.entries, *self.parameters, self.pair]
        sizes = [self.steps, self.steps, (), (), (), 3]
        self.values = [noise.normal(size=size) * 0.6 for size in sizes]
        self.read = [v for _ in range(self.draw.choice([1, 1, 2])) for v in self.loop()]

    def loop(self):
        draw = self.draw
        self.taps = [draw.choice([[-1], [-1], [-2, -1], [-2, -1], [-3, -1], [-2]]) for _ in range(draw.randint(1, 3))]
        infos = [
            draw.choice(self.parameters) if taps == [-1] else {"initial": self.pair[: -min(taps)], "taps": taps}
            for taps in self.taps
        ]
        self.more = draw.randint(0, 2)  # outputs that are no states
        self.kind = draw.choice(["for", "for", "for", "until"])
        self.nested = draw.random() < 0.2
        self.sequences = draw.sample(self.entries, draw.randint(0, 2))
        self.looks_up = draw.random() < 0.25
        steady = [*self.parameters, self.entries[0], at.constant(0.5)]
        outputs, _ = scan(
            self.step, self.sequences, [*infos, at.constant(0), *[None] * self.more], steady, n_steps=self.count,
            go_backwards=draw.random() < 0.25, truncate_gradient=draw.choice([-1, -1, -1, 2]), return_list=True,
        )  # fmt: skip
        found = [self.reading(rows) for rows in outputs]
        return [v for v in found if v is not None] or [outputs[0][-1]]

    def reading(self, rows):
        how = self.draw.choice(["all", "last", "last", "last two", "none"])
        return {"all": rows, "last": rows[-1], "last two": rows[-2:], "none": None}[how]

    def step(self, *arguments):
        arguments = list(arguments)
        entries, arguments = arguments[: len(self.sequences)], arguments[len(self.sequences) :]
        former = []
        for taps in self.taps:
            former.append(arguments[: len(taps)])
            arguments = arguments[len(taps) :]
        counted, *parameters, table, half = arguments
        older = [v for taps in former for v in taps]
        if self.looks_up:
            entries.append(table[counted])
        values = [*older, *entries, *parameters]
        outputs = [self.value(values, older, parameters, half) for _ in self.taps]
        outputs += [counted + 1, *(self.value(values, older, parameters, half) for _ in range(self.more))]
        if self.kind == "until":
            return outputs, until(outputs[0] > self.draw.choice([0.1, 0.5, 2.0]))
        return outputs

    def value(self, values, older, parameters, half):
        """A sum of terms, as late terms and sums of slopes come from, or a function of one."""
        draw = self.draw
        terms = [draw.choice(values) * draw.choice([*parameters, half]) for _ in range(draw.randint(1, 4))]
        if draw.random() < 0.5:
            terms.append(draw.choice(older) * half)
        total = sum(terms[1:], terms[0])
        if self.nested and draw.random() < 0.5:
            rounds, _ = scan(lambda s, e: at.sin(s) * 0.5 + e, None, [total], [draw.choice(values)], n_steps=3)
            total = rounds[-1]
        return draw.choice([lambda v: v, lambda v: v, at.tanh, lambda v: at.switch(v > 0, v, v * half)])(total)

    def outputs(self):
        cost = sum((at.sin(v.astype("float64")) * 1.3).sum() for v in self.read)
        return [*self.read, *aesara.grad(cost, self.inputs, disconnected_inputs="ignore")]


def results(numbers, outputs, mode):
    f = aesara.function([numbers.count, *numbers.inputs], outputs, mode=mode, on_unused_input="ignore")
    return f(numbers.steps, *numbers.values)


def modes_with_and_without(name):
    plain = get_mode("FAST_RUN")
    yield plain
    yield plain.excluding(name)
    yield Mode("llvm", "fast_compile").including(name)
    yield Mode("py", "fast_run")
    yield Mode("py", "fast_compile").including(name)


def assert_same_results(seed, names):
    numbers = Numbers(seed)
    outputs = numbers.outputs()
    want = results(numbers, outputs, "FAST_COMPILE")
    for name in names:
        for mode in modes_with_and_without(name):
            for got, wanted in zip(results(numbers, outputs, mode), want, strict=True):
                assert got.shape == wanted.shape and got.dtype == wanted.dtype
                np.testing.assert_allclose(got, wanted, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("seed", [11, 12, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(28))])
def test_rewrites_change_no_result(seed):
    assert_same_results(seed, [NAMES[seed % len(NAMES)]])
