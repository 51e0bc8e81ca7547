"""Sample a model of PyMC with its gradients compiled here, and print what is known of its parameters.

With nutpie installed its threads do it; without, PyMC's own sampler.
"""

import argparse
import time

import pymc as pm

import aesara.pytensor

try:
    import nutpie

    from aesara.pytensor.nutpie import compile_pymc_model
except ImportError:
    nutpie = None


def sample(model, draws=1000, tune=1000, chains=4, seed=1):
    """Draws from the model's posterior, and the seconds that compiling and sampling have taken."""
    began = time.perf_counter()
    if nutpie is None:
        options = {"compile_kwargs": {"mode": "AESARA"}, "progressbar": False, "random_seed": seed}
        with model:
            trace = pm.sample(draws, tune=tune, chains=chains, **options)
        seconds = trace.posterior.attrs["sampling_time"]
        return trace, (time.perf_counter() - began - seconds, seconds)
    compiled = compile_pymc_model(model)
    ready = time.perf_counter()
    trace = nutpie.sample(compiled, draws=draws, tune=tune, chains=chains, seed=seed, progress_bar=False)
    return trace, (ready - began, time.perf_counter() - ready)


def main(build, names):
    """Sample the model that `build` makes, and print a summary of some variables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--draws", type=int, default=1000, help="draws of each chain, after as many to adapt")
    arguments = parser.parse_args()
    model = build()
    f = aesara.pytensor.compile_logp(model)
    point = f.ravel(model.initial_point())
    calls = 1000
    began = time.perf_counter()
    for _ in range(calls):
        f.function(point)
    each = (time.perf_counter() - began) / calls
    trace, (compiling, sampling) = sample(model, arguments.draws, arguments.draws)
    print(f"{f.size} parameters, log-density and gradient in {1e6 * each:.1f} us")
    print(f"compiled in {compiling:.2f} s, four chains of {2 * arguments.draws} draws in {sampling:.2f} s")
    print(pm.summary(trace, var_names=names, kind="all").to_string())
