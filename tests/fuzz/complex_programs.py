"""Random programs of complex numbers: native code and rewritten graphs beside NumPy, node by node.

Run as ``python -m tests.fuzz.complex_programs SECONDS [SEED]`` for a long search.
"""

from __future__ import annotations

import random
import sys
import time
import warnings

import numpy as np

import aesara
import aesara.tensor as at
from aesara.compile.mode import Mode
from aesara.configdefaults import config
from aesara.graph.nodes import Variable
from tests.fuzz.evaluation import evaluate

DTYPES = ("complex128", "complex64", "complex128", "float64", "float32", "int8")
MODES = {"rewritten": Mode("py", "fast_run"), "native": Mode("llvm", "fast_run"), "as written": Mode("llvm", None)}

UNARY = [
    lambda x: -x, at.exp, at.sin, at.cos, at.tanh, at.sqrt, abs, at.conj, at.real, at.imag, at.angle, at.square,
    lambda x: x * 1j, lambda x: x - 2, lambda x: 1 / (x + 3), lambda x: x**2, lambda x: x**3, at.ones_like,
    lambda x: at.cast(x, "complex64"), lambda x: x.astype("complex128"), lambda x: at.log(x * at.conj(x) + 1),
    lambda x: at.complex(at.real(x), at.imag(x)), lambda x: at.eq(x, at.conj(x)), lambda x: at.isnan(abs(x)),
]  # fmt: skip
BINARY = [at.add, at.sub, at.mul, at.add, at.mul, lambda x, y: x / (y * at.conj(y) + 2),
          lambda x, y: at.switch(at.gt(at.real(x), 0), x, y), lambda x, y: x * at.conj(y), at.eq]  # fmt: skip
MOVING = [
    lambda x: x.T, lambda x: x[::-1], lambda x: x.sum(), lambda x: x.sum(axis=0),
    lambda x: x.sum(axis=-1, keepdims=True), lambda x: x[1:], lambda x: x[..., :1], lambda x: x.flatten(),
    lambda x: x[[0, 0, 1]], lambda x: x.mean(axis=0), lambda x: at.cumsum(x, axis=0),
    lambda x: at.prod(x / 4, axis=-1), lambda x: at.join(0, x, at.conj(x)), lambda x: at.set_subtensor(x[:1], 2),
    lambda x: at.inc_subtensor(x[[0, 0]], x[:2]), lambda x: at.stack([x, x * 2]), lambda x: at.diagonal(x),
    lambda x: at.repeat(x, 2, axis=0), lambda x: at.roll(x, 1), lambda x: x.dimshuffle(0, "x"), lambda x: at.tril(x),
    lambda x: at.dot(x, x.T), lambda x: at.dot(x, at.conj(x)), lambda x: at.outer(x, x),
]  # fmt: skip


def values_of(rng: random.Random, dtype: str, shape: tuple[int, ...]) -> np.ndarray:
    """Halves between -3 and 3, with signed zeros among them."""
    generator = np.random.default_rng(rng.randint(0, 10**6))
    draw = lambda: generator.integers(-6, 7, shape) / 2 * generator.choice([1.0, -1.0], shape)
    values = draw() + 1j * draw() if dtype.startswith("complex") else draw()
    return values.astype(dtype)


def check(seed: int) -> int:
    """Raise AssertionError unless all ways to run the program of a seed agree; how many operations it has."""
    rng = random.Random(seed)
    n = rng.choice([0, 1, 2, 3, 3, 5, 33])
    inputs, arguments = [], []
    for k in range(rng.randint(1, 3)):
        dtype, shape = rng.choice(DTYPES), (n,) * rng.choice([0, 1, 1, 2])
        inputs.append(at.tensor(dtype, shape=tuple(rng.choice([None, m]) for m in shape), name=f"x{k}"))
        arguments.append(values_of(rng, dtype, shape))
    state = aesara.shared(values_of(rng, "complex128", (n, n)), name="s")
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        known: list[tuple[Variable, np.ndarray]] = list(zip([*inputs, state], [*arguments, state.get_value()]))
        for _ in range(rng.randint(2, 14)):
            table = rng.choice([UNARY, BINARY, BINARY, MOVING])
            operation = rng.choice(table)
            operands = [rng.choice(known)[0] for _ in range(2 if table is BINARY else 1)]
            try:
                made = operation(*operands)
                (value,) = (np.asarray(v) for v in evaluate([made], dict(known)))
            except Exception:  # the operation does not take these
                continue
            if np.isfinite(value).all() and abs(value).max(initial=0) < 1e4 and value.size < 5000:
                known.append((made, value))
        chosen = rng.sample(known, min(len(known), 3))
        updates = [(state, m) for m, _ in known if m.type == state.type][-1:]
        for name, mode in MODES.items():
            with config.change_flags(on_opt_error="raise", native_verify=True):
                options = {"updates": updates, "mode": mode, "on_unused_input": "ignore"}
                function = aesara.function(inputs, [m for m, _ in chosen], **options)
            before = state.get_value()
            found = [*function(*arguments), state.get_value()]
            state.set_value(before)
            wanted = [*(v for _, v in chosen), next((v for m, v in known for _, u in updates if m is u), before)]
            for k, (got, want) in enumerate(zip(found, wanted, strict=True)):
                assert (got.dtype, got.shape) == (want.dtype, want.shape), f"{name}, output {k}: {got.dtype}{got.shape}"
                narrow = any(str(v.dtype) in ("complex64", "float32") for _, v in known)
                scale = max([1.0, *(float(abs(v).max(initial=0)) for _, v in known)])
                far = abs(got.astype("complex128") - want.astype("complex128")) > (3e-5 if narrow else 1e-12) * scale
                if want.dtype == bool:
                    far &= narrow is False and scale == 0  # equal or not depends on rounding
                assert not far.any(), f"{name}, output {k} ({chosen[k][0] if k < len(chosen) else 's'}): {got} {want}"
    return len(known) - len(inputs) - 1


def main(seconds: float, seed: int = 0) -> None:
    end, count, faults = time.monotonic() + seconds, 0, 0
    while time.monotonic() < end:
        number, count = seed * 10**6 + count, count + 1
        try:
            check(number)
        except Exception as error:
            faults += 1
            print(f"--- seed {number}: {type(error).__name__}: {error}"[:700], flush=True)
    print(f"{count} programs, {faults} faults")


if __name__ == "__main__":
    given = sys.argv[1:] or ["60"]
    main(float(given[0]), *(int(a) for a in given[1:]))
