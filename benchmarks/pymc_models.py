"""Models of PyMC: how long log-density and gradient take to compile and to call, here and in PyTensor's own modes.

Run with PyMC installed, from the root of the repository::

    python benchmarks/pymc_models.py [--out FILE] [model ...]

Each model and mode gets a process of its own, with empty caches, so that compile times are those of a first call.  The
processes of a model compile one after the other, and then call in turns: the time of a gradient is the median of
batches of calls at the same point with ``trust_input``.  All is processor time (of a process, its threads and the
compilers that it starts), which other work on the machine hardly changes; matrices have one thread.  Modes whose
requirements are missing (a C compiler) are left out.  Without names, all models of the tests are measured, which takes
PyTensor's modes half an hour and more.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))
MODES = ("AESARA", "NUMBA", "CVM")
BATCHES = 15


def used() -> float:
    """Seconds of processor time, of this process and of those that it has started and waited for."""
    children = os.times()
    return time.process_time() + children.children_user + children.children_system


def batch(f, point, calls: int) -> float:
    began = time.process_time()
    for _ in range(calls):
        f(*point)
    return (time.process_time() - began) / calls


def work(name: str, mode: str) -> None:
    """Compile in this process and say how long it took; then one batch of calls for each line that comes in."""
    import numpy as np
    import pytensor

    import aesara.pytensor  # noqa: F401
    from tests.pytensor_mode.pymc_models import MODELS

    if mode == "NUMBA":
        import pytensor.link.numba.dispatch  # so that loading Numba is not counted

    model = MODELS[name]()
    values = model.value_vars
    logp = model.logp()
    outputs = [logp, *pytensor.grad(logp, values, disconnected_inputs="ignore")]
    start = model.initial_point()
    point = [np.asarray(start[v.name], v.type.dtype) for v in values]
    began = used()
    f = pytensor.function(values, outputs, mode=mode, on_unused_input="ignore")
    f(*point)
    print(json.dumps(used() - began), flush=True)
    f.trust_input = True
    calls = max(20, int(0.02 / max(batch(f, point, 5), 1e-7)))
    batch(f, point, calls)
    for _ in sys.stdin:
        print(json.dumps(1e6 * batch(f, point, calls)), flush=True)


class Worker:
    """A model in a mode, in a process with empty caches."""

    def __init__(self, name: str, mode: str) -> None:
        self.caches = tempfile.TemporaryDirectory()
        env = dict(
            os.environ,
            PYTHONPATH=os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]),
            PYTENSOR_FLAGS=f"base_compiledir={self.caches.name}/c",
            NUMBA_CACHE_DIR=f"{self.caches.name}/numba",
            XDG_CACHE_HOME=f"{self.caches.name}/cache",
            OPENBLAS_NUM_THREADS="1",
            OMP_NUM_THREADS="1",
        )
        call = [sys.executable, __file__, "--one", name, mode]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(call, env=env, stdin=pipe, stdout=pipe, stderr=pipe, text=True)
        self.compiled = self._answer()
        self.calls: list[float] = []

    def _answer(self) -> float | None:
        line = self.process.stdout.readline()
        return json.loads(line) if line else None

    def call(self) -> None:
        print(file=self.process.stdin, flush=True)
        answer = self._answer()
        if answer is not None:
            self.calls.append(answer)

    def end(self) -> dict[str, float] | None:
        _, errors = self.process.communicate()
        self.caches.cleanup()
        if self.process.returncode or self.compiled is None or not self.calls:
            last = (errors.strip().splitlines() or ["no answer"])[-1]
            print(f"{' '.join(self.process.args[-2:])}: {last[:160]}", file=sys.stderr)
            return None
        return {"compile": self.compiled, "call": statistics.median(self.calls)}


def measure(name: str) -> dict[str, dict[str, float] | None]:
    workers = {mode: Worker(name, mode) for mode in MODES}
    for _ in range(BATCHES):
        for worker in workers.values():
            if worker.compiled is not None:
                worker.call()
    return {mode: worker.end() for mode, worker in workers.items()}


def summary(measured: dict[str, dict[str, dict[str, float] | None]]) -> None:
    for kind, limit in (("compile", 0.1), ("call", 0.5)):
        ratios = {}
        for name, found in measured.items():
            others = [got[kind] for mode, got in found.items() if mode != "AESARA" and got]
            if found["AESARA"] and others:
                ratios[name] = found["AESARA"][kind] / min(others)
        if not ratios:
            continue
        slower = ", ".join(f"{name} {ratio:.2f}" for name, ratio in ratios.items() if ratio > 1) or "none"
        print(
            f"{kind}, {len(ratios)} models: {statistics.geometric_mean(ratios.values()):.3f} of the better of others "
            f"(geometric mean; {limit} is the aim), at worst {max(ratios.values()):.2f}; slower: {slower}"
        )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("models", nargs="*")
    parser.add_argument("--out", help="a file of results; models that it holds are not measured again")
    parser.add_argument("--one", nargs=2, metavar=("MODEL", "MODE"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            work(*arguments.one)
        return
    names = arguments.models
    if not names:
        from tests.pytensor_mode.pymc_models import MODELS

        names = list(MODELS)
    measured = {}
    if arguments.out and Path(arguments.out).exists():
        measured = json.loads(Path(arguments.out).read_text())
    print(f"{'model':30}" + "".join(f"{mode + ' s, us':>20}" for mode in MODES))
    for name in names:
        if name not in measured:
            measured[name] = measure(name)
        found = measured[name].values()
        cells = (f"{got['compile']:12.2f}{got['call']:8.1f}" if got else f"{'-':>20}" for got in found)
        print(f"{name:30}{''.join(cells)}", flush=True)
        if arguments.out:
            Path(arguments.out).write_text(json.dumps(measured, indent=1))
    summary({name: measured[name] for name in names})


if __name__ == "__main__":
    main()
