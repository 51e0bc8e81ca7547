"""Predictive sampling of PyMC's models: seconds for prior and posterior draws, here and in PyTensor's own modes.

Run with PyMC installed, from the root of the repository::

    python benchmarks/pymc_predictive.py [model ...]

Each model and mode gets a process of its own. ``prior``: 1000 draws of everything; ``posterior``: the observed
variables at 2000 draws; both with the time to compile, and again without, as the median of three.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import warnings
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MODES = ("AESARA", "NUMBA", "CVM")
MODELS = ("hierarchical", "eight_schools", "poisson_regression", "normal_mixture", "categorical", "negative_binomial")


def measure(name: str, mode: str) -> dict[str, float]:
    """Seconds in this process."""
    import numpy as np
    import pymc as pm
    import pytensor
    import xarray as xr

    import aesara.pytensor  # noqa: F401
    from tests.pytensor_mode.pymc_models import MODELS as tests_of

    model = tests_of[name]()
    quiet = {"random_seed": 1, "progressbar": False, "compile_kwargs": {"mode": mode}}
    found = {}
    with model:
        began = time.perf_counter()
        prior = pm.sample_prior_predictive(1000, random_seed=1, compile_kwargs={"mode": mode})
        found["prior"] = time.perf_counter() - began
        compiled = pytensor.function([], model.basic_RVs, mode=mode)
        found["draw"] = 1e6 * _median(lambda: [compiled() for _ in range(200)]) / 200
        names = [v.name for v in model.free_RVs]
        trace = xr.concat([prior.prior[names]] * 2, "draw").assign_coords(draw=np.arange(2000))
        began = time.perf_counter()
        pm.sample_posterior_predictive(trace, **quiet)
        found["posterior"] = time.perf_counter() - began
    return found


def _median(work) -> float:
    times = []
    for _ in range(3):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return sorted(times)[1]


def main(names: list[str]) -> None:
    env = dict(os.environ, PYTHONPATH=os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]))
    print(f"{'model':22}" + "".join(f"{mode + ' prior s, draw us, posterior s':>40}" for mode in MODES))
    for name in names:
        cells = []
        for mode in MODES:
            call = [sys.executable, __file__, "--one", name, mode]
            done = subprocess.run(call, env=env, capture_output=True, text=True)
            if done.returncode:
                print(f"{name} in {mode}: {done.stderr.strip().splitlines()[-1][:160]}", file=sys.stderr)
                cells.append(f"{'-':>40}")
                continue
            got = json.loads(done.stdout.splitlines()[-1])
            cells.append(f"{got['prior']:20.2f}{got['draw']:10.1f}{got['posterior']:10.2f}")
        print(f"{name:22}" + "".join(cells), flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            print(json.dumps(measure(*sys.argv[2:4])))
    else:
        main(sys.argv[1:] or list(MODELS))
