"""Models of PyMC: how long log-density and gradient take to compile and to call, here and in PyTensor's own modes.

Run with PyMC installed, from the root of the repository::

    python benchmarks/pymc_models.py [model ...]

Each model and mode gets a process of its own, with empty caches, so that compile times are those of a first call; the
time of a gradient is the median of batches of calls at the same points with ``trust_input``. Modes whose requirements
are missing (a C compiler) are left out.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MODES = ("AESARA", "NUMBA", "CVM")
MODELS = (
    "hierarchical", "logistic_regression", "normal_mixture", "poisson_regression", "eight_schools", "gp_marginal",
    "stochastic_volatility", "ordered_logistic", "multivariate_regression", "censored", "recursion", "categorical",
)  # fmt: skip


def measure(name: str, mode: str) -> dict[str, float]:
    """Seconds to compile and microseconds of a call, in this process."""
    import numpy as np
    import pytensor

    import aesara.pytensor  # noqa: F401
    from tests.pytensor_mode.pymc_models import MODELS as tests_of

    model = tests_of[name]()
    values = model.value_vars
    logp = model.logp()
    outputs = [logp, *pytensor.grad(logp, values)]
    start = model.initial_point()
    point = [np.asarray(start[v.name], v.type.dtype) for v in values]
    began = time.perf_counter()
    f = pytensor.function(values, outputs, mode=mode)
    f(*point)
    compiled = time.perf_counter() - began
    f.trust_input = True
    calls = max(20, int(0.02 / max(_seconds(f, point, 5), 1e-7)))
    times = sorted(_seconds(f, point, calls) for _ in range(9))
    return {"compile": compiled, "call": 1e6 * times[4]}


def _seconds(f, point, calls: int) -> float:
    began = time.perf_counter()
    for _ in range(calls):
        f(*point)
    return (time.perf_counter() - began) / calls


def in_a_process(name: str, mode: str) -> dict[str, float] | None:
    with tempfile.TemporaryDirectory() as folder:
        env = dict(
            os.environ,
            PYTHONPATH=os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]),
            PYTENSOR_FLAGS=f"base_compiledir={folder}/c",
            NUMBA_CACHE_DIR=f"{folder}/numba",
            XDG_CACHE_HOME=f"{folder}/cache",
        )
        done = subprocess.run([sys.executable, __file__, "--one", name, mode], env=env, capture_output=True, text=True)
    if done.returncode:
        print(f"{name} in {mode}: {done.stderr.strip().splitlines()[-1][:160]}", file=sys.stderr)
        return None
    return json.loads(done.stdout.splitlines()[-1])


def geometric_mean(values: list[float]) -> float:
    product = 1.0
    for value in values:
        product *= value ** (1 / len(values))
    return product


def main(names: list[str]) -> None:
    ratios: dict[str, list[float]] = {"compile": [], "call": []}
    print(f"{'model':26}" + "".join(f"{mode + ' s, us':>20}" for mode in MODES))
    for name in names:
        found = {mode: in_a_process(name, mode) for mode in MODES}
        cells = "".join(f"{got['compile']:12.2f}{got['call']:8.1f}" if got else f"{'-':>20}" for got in found.values())
        print(f"{name:26}{cells}", flush=True)
        others = [got for mode, got in found.items() if mode != "AESARA" and got]
        ours = found["AESARA"]
        for kind in ratios:
            if ours and others:
                ratios[kind].append(ours[kind] / min(got[kind] for got in others))
    for kind, values in ratios.items():
        if values:
            mean, worst = geometric_mean(values), max(values)
            print(f"{kind}: {mean:.3f} of the better of the others (geometric mean), worst {worst:.2f}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            print(json.dumps(measure(*sys.argv[2:4])))
    else:
        main(sys.argv[1:] or list(MODELS))
