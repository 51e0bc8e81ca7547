"""Random loops with gradients: native code against the reference, and the reference against differences."""

import random

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.gradient import verify_grad
from aesara.graph.features import ReplaceValidate
from aesara.graph.fg import FunctionGraph
from aesara.scan import scan
from aesara.scan.saving_memory import SaveMemory
from aesara.scan.utils import until

UNARY_STEPS = [lambda z: z.sum(axis=0), lambda z: z[0], lambda z: z.mean(axis=-1)]
BINARY = [
    lambda p, q: at.tanh(p + q),
    lambda p, q: p * 0.5 - q,
    lambda p, q: at.sin(p) * q,
    lambda p, q: at.switch(p > q, p, q * 0.5),
    lambda p, q: at.dot(p, q) if p.ndim and q.ndim else p * q,
]


class Program:
    """A random loop: inputs with values, and what it computes."""

    def __init__(self, seed, smooth=False, loop=scan):
        self.draw, self.noise = random.Random(seed), np.random.default_rng(seed)
        draw = self.draw
        self.inputs, self.values = [], []
        self.steps, self.size = draw.choice([2, 3, 5] if smooth else [0, 1, 2, 3, 6]), draw.choice([1, 2, 3])
        self.operations = BINARY[:3] if smooth else BINARY
        sequences = [self.sequence() for _ in range(draw.randint(0, 2))]
        self.ranks, infos = [], []
        for _ in range(draw.randint(1, 3)):
            infos.append(self.state())
        self.matrix = self.input((self.size, self.size))
        self.ends_early = not smooth and draw.random() < 0.15
        n_steps = None if sequences else self.steps
        if draw.random() < 0.2:
            n_steps = max(self.steps - 1, 0)
        self.n_steps = self.steps if n_steps is None else n_steps
        self.outputs, _ = loop(
            self.step, sequences, infos, self.matrix, n_steps=n_steps, go_backwards=draw.random() < 0.2,
            return_list=True,
        )  # fmt: skip

    def input(self, shape):
        known = self.draw.random() < 0.3
        variable = at.TensorType("float64", tuple(n if known else None for n in shape))()
        self.inputs.append(variable)
        self.values.append(self.noise.normal(size=shape) * 0.5)
        return variable

    def sequence(self):
        taps = self.draw.choice([[0], [0], [0, 1], [-1, 0], [-2]])
        length = self.steps + max(0, *taps) - min(0, *taps)
        return {"input": self.input((length, self.size, self.size)[: self.draw.choice([1, 2, 2, 3])]), "taps": taps}

    def state(self):
        rank, kind = self.draw.choice([0, 1, 2]), self.draw.choice(["last", "taps", "none"])
        self.ranks.append(rank)
        row = (self.size,) * rank
        if kind == "none":
            return None
        if kind == "last":
            return self.input(row)
        taps = self.draw.choice([[-2, -1], [-3], [-3, -1], [-2]])
        return {"initial": self.input((-min(taps), *row)), "taps": taps}

    def step(self, *arguments):
        draw = self.draw
        outputs = []
        for rank in self.ranks:
            one, two = draw.choice(arguments), draw.choice(arguments)
            operation = draw.choice(self.operations)
            if one.ndim != two.ndim:
                one, two = self.of_rank(one, rank), self.of_rank(two, rank)
            outputs.append(self.of_rank(operation(one, two), rank))
        if self.ends_early:
            return outputs, until(sum(abs(out).sum() for out in outputs) > 2.0)
        return outputs

    def of_rank(self, z, rank):
        while z.ndim > rank:
            z = self.draw.choice(UNARY_STEPS)(z)
        while z.ndim < rank:
            z = at.alloc(z, self.size, *z.shape)
        return z

    def cost(self):
        return sum((at.sin(out) * 1.3).sum() for out in self.outputs)


def unrolled(step, sequences, infos, matrix, n_steps, go_backwards, return_list):
    """The graph of all steps, one after the other, without a loop."""
    program = step.__self__
    low = [min(0, *s["taps"]) for s in sequences]
    read = [(k, s["input"], tap) for k, s in enumerate(sequences) for tap in s["taps"]]
    states, taps = [], []
    for info in infos:
        first = info["initial"] if isinstance(info, dict) else info
        taps.append(info["taps"] if isinstance(info, dict) else [] if info is None else [-1])
        states.append([first[k] for k in range(-min(taps[-1]))] if isinstance(info, dict) else [first])
    entries = [x.type.clone(shape=x.type.shape[1:])() for _, x, _ in read]
    former = [state[0].type.clone(shape=(None,) * state[0].ndim)() for state, t in zip(states, taps) for _ in t]
    outputs = step(*entries, *former, matrix)
    made = [[] for _ in outputs]
    for t in range(program.n_steps):
        rows = []
        for k, x, tap in read:
            rows.append(x[(program.steps - 1 - t if go_backwards else t) - low[k] + tap])
        values = [state[len(state) + tap] for state, t in zip(states, taps) for tap in t]
        new = aesara.clone_replace(outputs, dict(zip([*entries, *former], [*rows, *values])))
        for rows_of_one, state, value in zip(made, states, new):
            rows_of_one.append(value)
            state.append(value)
    return [at.stack(rows) for rows in made], {}


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(200, 216))
def test_derivatives_of_loops_are_those_of_all_steps_in_a_row(seed):
    found = []
    for loop in (scan, unrolled):
        program = Program(seed, smooth=True, loop=loop)
        cost, inputs = program.cost(), program.inputs
        slopes = aesara.grad(cost, inputs, disconnected_inputs="ignore")
        second = aesara.grad(sum((g**2).sum() for g in slopes), inputs, disconnected_inputs="ignore")
        points = [at.as_tensor(p) for p in np.random.default_rng(seed).normal(size=3)]
        along = aesara.Rop(cost, inputs, [at.ones_like(v) * points[k % 3] for k, v in enumerate(inputs)])
        results = [*program.outputs, *[out[-1] for out in program.outputs], *slopes, *second, along]
        f = aesara.function(inputs, results, on_unused_input="ignore")
        found.append(f(*program.values))
    for got, want in zip(*found, strict=True):
        assert got.shape == want.shape
        np.testing.assert_allclose(got, want, rtol=1e-8, atol=1e-10)


#: of loops with several steps
SEVERAL_STEPS = [seed for seed in range(300, 330) if Program(seed).n_steps > 1][:16]


@pytest.mark.parametrize("seed", SEVERAL_STEPS)
def test_gradients_of_loops_that_keep_few_rows_are_those_of_loops_that_keep_all(seed):
    program = Program(seed)
    cost = sum((at.sin(out[-1]) * 1.3).sum() for out in program.outputs)
    short = FunctionGraph(program.inputs, [cost], clone=True)
    short.attach_feature(ReplaceValidate())
    assert SaveMemory().apply(short) == 1
    found = []
    for inputs, total in ((program.inputs, cost), (short.inputs, short.outputs[0])):
        slopes = aesara.grad(total, inputs, disconnected_inputs="ignore")
        f = aesara.function(inputs, [total, *slopes], on_unused_input="ignore", mode="FAST_COMPILE")
        found.append(f(*program.values))
    for want, got in zip(*found, strict=True):
        assert got.shape == want.shape and got.dtype == want.dtype
        np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("seed", range(60))
def test_native_loops_agree_with_the_reference(seed):
    program = Program(seed)
    outputs = list(program.outputs)
    if seed % 3:
        outputs += aesara.grad(program.cost(), program.inputs, disconnected_inputs="ignore")
    reference, native = (
        aesara.function(program.inputs, outputs, mode=mode, on_unused_input="ignore")
        for mode in ("FAST_COMPILE", "FAST_RUN")
    )
    assert native._native.report.python_nodes == {}
    for want, got in zip(reference(*program.values), native(*program.values)):
        assert got.shape == want.shape and got.dtype == want.dtype
        np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("seed", range(100, 115))
def test_gradients_agree_with_differences(seed):
    program = Program(seed, smooth=True)
    cost = program.cost()
    used = [k for k, v in enumerate(program.inputs) if v in set(aesara.graph.basic.graph_inputs([cost]))]

    def function(*replacements):
        return aesara.clone_replace(cost, dict(zip([program.inputs[k] for k in used], replacements)))

    verify_grad(function, [program.values[k] for k in used], rng=np.random.default_rng(seed))
