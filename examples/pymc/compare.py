"""Compare PyTensor's modes on the models of this folder, and draw a figure (pymc_models.png).

For each model and mode, in a process of its own with empty caches: seconds to compile log-density and gradient,
microseconds for each call of them, and effective samples per second of PyMC's own sampler in one short chain, the least
of all variables, without the time to compile.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from importlib import import_module
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
MODELS = ("radon", "eight_schools", "gaussian_process", "ordered_mixture", "time_series", "lotka_volterra")
MODES = {"AESARA": "#c0392b", "NUMBA": "#2471a3", "CVM": "#909497"}
MEASURES = {
    "compile": "seconds to compile",
    "call": "µs for log-density and gradient",
    "effective": "effective samples per second",
}


def measure(name, mode, draws):
    """The three numbers of a model in a mode, in this process."""
    import pymc as pm

    import aesara.pytensor  # noqa: F401

    model = import_module(name).build()
    began = time.perf_counter()
    density = model.logp_dlogp_function(ravel_inputs=True, mode=mode)
    density.set_extra_values({})
    point = pm.blocking.DictToArrayBijection.map(model.initial_point())
    density(point)
    compiled = time.perf_counter() - began
    with model:
        step = pm.NUTS(logp_dlogp_func=density)
        options = {"chains": 1, "cores": 1, "random_seed": 1, "progressbar": False, "compile_kwargs": {"mode": mode}}
        trace = pm.sample(draws, tune=draws, step=step, **options)
    effective = min(float(values.min()) for values in pm.ess(trace).data_vars.values())
    calls = max(20, int(0.05 / _seconds(density, point, 5)))
    each = sorted(_seconds(density, point, calls) for _ in range(9))[4]
    return {"compile": compiled, "call": 1e6 * each, "effective": effective / trace.posterior.attrs["sampling_time"]}


def _seconds(density, point, calls):
    began = time.perf_counter()
    for _ in range(calls):
        density(point)
    return (time.perf_counter() - began) / calls


def in_a_process(name, mode, draws):
    """The same in a process with empty caches; None if the mode cannot do it here."""
    with tempfile.TemporaryDirectory() as caches:
        env = dict(
            os.environ,
            PYTENSOR_FLAGS=f"base_compiledir={caches}/c",
            NUMBA_CACHE_DIR=f"{caches}/numba",
            XDG_CACHE_HOME=f"{caches}/cache",
        )
        call = [sys.executable, __file__, "--one", name, mode, "--draws", str(draws)]
        done = subprocess.run(call, env=env, capture_output=True, text=True)
    if done.returncode:
        print(f"{name} in {mode}: {done.stderr.strip().splitlines()[-1][:160]}", file=sys.stderr)
        return None
    return json.loads(done.stdout.splitlines()[-1])


def draw(found, path):
    """The figure: for each measure the models, and a bar for each mode."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 3, figsize=(12, 3.6), sharey=True, constrained_layout=True)
    names = list(found)[::-1]
    for axis, (measured, title) in zip(axes, MEASURES.items()):
        for k, (mode, color) in enumerate(MODES.items()):
            rows = [(i, found[name][mode][measured]) for i, name in enumerate(names) if found[name].get(mode)]
            places = [i + 0.27 * (1 - k) for i, _ in rows]
            axis.barh(places, [value for _, value in rows], 0.25, color=color, label=mode)
        axis.set(xscale="log", title=title)
        axis.set_yticks(range(len(names)), [name.replace("_", " ") for name in names])
        for side in ("top", "right"):
            axis.spines[side].set_visible(False)
    axes[0].legend(frameon=False)
    figure.savefig(path, dpi=150)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("models", nargs="*", default=MODELS)
    parser.add_argument("--draws", type=int, default=500, help="draws of the chain, after as many to adapt")
    parser.add_argument("--figure", default="pymc_models.png")
    parser.add_argument("--one", nargs=2, metavar=("MODEL", "MODE"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            print(json.dumps(measure(*arguments.one, arguments.draws)))
        return
    found = {}
    print(f"{'model':18}" + "".join(f"{mode + ' s, us, effective/s':>32}" for mode in MODES))
    for name in arguments.models:
        found[name] = {mode: in_a_process(name, mode, arguments.draws) for mode in MODES}
        cells = (
            f"{got['compile']:14.2f}{got['call']:9.1f}{got['effective']:9.1f}" if got else f"{'-':>32}"
            for got in found[name].values()
        )
        print(f"{name:18}" + "".join(cells), flush=True)
    draw(found, arguments.figure)
    print(f"wrote {arguments.figure}")


if __name__ == "__main__":
    main()
