"""Random sums and products of matrices and vectors: rewritten graphs beside the graphs as written, bit by bit.

Numbers are whole and small, so that the order of sums and products changes nothing. Lengths are all alike, or known to
be 1, so that rules have much to do and a wrong one finds operands that fit.
"""

from __future__ import annotations

import random
import warnings

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.compile.mode import Mode
from aesara.graph.nodes import Variable
from tests.fuzz.evaluation import evaluate

#: Larger numbers take part in no further operation.
LARGEST = 2**16

UNARY = [
    lambda x: -x, lambda x: x.T, lambda x: 2 * x, lambda x: x * np.int8(-3), at.sum, lambda x: x.sum(axis=0),
    lambda x: x.sum(axis=-1), at.trace, at.diag, at.square, lambda x: x.dimshuffle(0, "x"), lambda x: x[::-1],
    lambda x: x.dimshuffle("x", 0), lambda x: x[:1], lambda x: x[:, :1], lambda x: x[0], lambda x: x.max(axis=0),
]  # fmt: skip
BINARY = [
    at.dot, at.dot, at.dot, at.dot, at.add, at.sub, at.mul, at.outer, at.batched_dot, lambda x, y: x.sum() * y,
    lambda x, y: at.dot(at.diag(x), y), lambda x, y: at.dot(y, at.diag(x)), lambda x, y: at.tensordot(x, y, 1),
    lambda x, y: (x.dimshuffle(0, "x") * y.dimshuffle("x", 0)).sum(),
]  # fmt: skip
TERNARY = [
    lambda x, y, z: x - 2 * at.dot(y, z), lambda x, y, z: x.sum() * at.dot(y, z) - x,
    lambda x, y, z: at.dot(y, z).T + x,
    lambda x, y, z: at.dot(x, y) + at.dot(x, z), lambda x, y, z: at.dot(y, x) - at.dot(z, x),
    lambda x, y, z: at.dot(x, at.dot(y, z)), lambda x, y, z: at.dot(at.dot(x, y), z),
]  # fmt: skip
OPERATIONS = [*((f, 1) for f in UNARY), *((f, 2) for f in BINARY), *((f, 3) for f in TERNARY)]


def leaf(rng: random.Random, length: int, dtype: str, name: str) -> tuple[Variable, np.ndarray]:
    """A variable of some rank, of which some lengths are known, and its value."""
    shape = rng.choice([(length, length)] * 3 + [(length,)] * 2 + [(1, length), (length, 1), ()])
    static = tuple(n if n == 1 or rng.random() < 0.3 else None for n in shape)
    numbers = np.random.default_rng(rng.randrange(10**6)).integers(-3, 4, shape)
    return at.tensor(dtype, shape=static, name=name), numbers.astype(dtype)


def program_of(seed: int) -> tuple[dict[Variable, np.ndarray], dict[Variable, np.ndarray]]:
    """The inputs and up to three results of a program, with their values."""
    rng = random.Random(seed)
    length, dtype = rng.choice([2, 2, 3, 1, 0]), rng.choice(["float64", "float64", "float32", "complex128", "int8"])
    known = dict(leaf(rng, length, dtype, f"x{k}") for k in range(rng.randint(2, 4)))
    inputs = dict(known)
    for _ in range(rng.randint(3, 12)):
        operation, count = rng.choice(OPERATIONS)
        try:
            made = operation(*rng.choices(list(known)[-6:], k=count))
            (value,) = (np.asarray(v) for v in evaluate([made], known))
        except (TypeError, ValueError, IndexError, NotImplementedError):  # it does not take these
            continue
        if dtype == "int8" or np.abs(value).max(initial=0) <= LARGEST:
            known[made] = value
    results = [v for v in known if v.owner is not None and v not in inputs]
    return inputs, {v: known[v] for v in rng.sample(results, min(len(results), 3))}


@pytest.mark.parametrize("block", range(5))
def test_sums_of_products(block):
    mode = Mode("py", "fast_run")
    with warnings.catch_warnings(), aesara.config.change_flags(on_opt_error="raise"):
        warnings.simplefilter("ignore")
        programs = [program_of(seed) for seed in range(block * 80, (block + 1) * 80)]
        assert sum(len(results) for _, results in programs) > 2.5 * len(programs)
        for seed, (inputs, results) in enumerate(programs, block * 80):
            f = aesara.function(list(inputs), list(results), mode=mode, on_unused_input="ignore")
            for found, expected in zip(f(*inputs.values()), results.values(), strict=True):
                assert (found.dtype, found.shape) == (expected.dtype, expected.shape), f"seed {seed}"
                np.testing.assert_array_equal(found, expected, err_msg=f"seed {seed}")
