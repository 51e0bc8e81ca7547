"""Plant faults, run the tests that come to them, and name the faults that no test notices.

    python -m tools.mutate [--count 240] [--seed 0] [--area NAME ...] [--since REVISION] [--workers 2]
                           [--look-for SECONDS] [--keep FOLDER]
    python -m tools.mutate --again FOLDER ...

A run takes a while: the tests are imported, run for some minutes (``--look-for``) to find out which come to the place
of which fault, and then those of each fault are run with it, the fastest and nearest first, until one fails. With
``--again`` the faults are those that runs with ``--keep FOLDER`` did not notice, as far as the tree still has them.
"""

from __future__ import annotations

import argparse
import difflib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tools.mutate.areas import AREAS, chosen, tested_here
from tools.mutate.equivalent import EQUIVALENT
from tools.mutate.faults import Fault
from tools.mutate.faults import faults as faults_of

ROOT = Path(__file__).resolve().parents[2]
COPIED = "aesara tests tools docs examples benchmarks pyproject.toml README.md CHANGELOG.md LICENSE Makefile".split()
TARGET = 0.9


def copy_of(tree: Path, folder: Path) -> Path:
    """A copy of what the tests need."""
    folder.mkdir(parents=True)
    for name in COPIED:
        source = tree / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        elif source.exists():
            shutil.copy2(source, folder / name)
    return folder


def outcomes(
    faults: Sequence[Fault], folder: Path, workers: int, seconds: float, tests: Sequence[str] = ()
) -> Iterator[dict[str, Any]]:
    """Yield the outcome of each fault under all tests, or those of some files; `folder` takes the copy and notes."""
    tree = copy_of(ROOT, folder / "tree")
    task = {"tree": str(tree), "folder": str(folder), "workers": workers, "budget": seconds}
    (folder / "task.json").write_text(json.dumps({**task, "faults": [asdict(fault) for fault in faults]}))
    surroundings = {
        **os.environ,
        "AESARA_MUTATE": str(folder / "task.json"),
        "PYTHONPATH": os.pathsep.join([str(tree), str(tree / "tools" / "mutate" / "started")]),
        "XDG_CACHE_HOME": str(folder / "cache"),
        "OPENBLAS_NUM_THREADS": "1",
    }
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tools.mutate.session", "-p", "no:cacheprovider"]
    command += ["-p", "no:xdist", *tests]
    results = folder / "outcomes.jsonl"
    results.touch()
    with open(folder / "log.txt", "w") as log, open(results, encoding="utf-8") as known:
        process = subprocess.Popen(command, cwd=tree, env=surroundings, stdout=log, stderr=log)
        running = True
        while running:
            running = process.poll() is None
            for line in known:
                yield json.loads(line)
            time.sleep(0.5 * running)
    if process.returncode not in (0, 5):
        raise SystemExit(f"the tests could not be run: see {folder / 'log.txt'}")


def missed_in(folders: Iterable[Path]) -> list[Fault]:
    """The faults that no test had noticed in runs that were kept, where they are today."""
    keys = set()
    for folder in folders:
        old = [Fault(**fault) for fault in json.loads((folder / "task.json").read_text(encoding="utf-8"))["faults"]]
        known = [json.loads(line) for line in (folder / "outcomes.jsonl").read_text(encoding="utf-8").splitlines()]
        keys |= {old[outcome["number"]].key for outcome in known if not outcome["caught_by"]}
    files = [path for path in sorted({key[0] for key in keys}) if (ROOT / path).exists()]
    today = [fault for path in files for fault in faults_of(path, (ROOT / path).read_text(encoding="utf-8"))]
    return list({fault.key: fault for fault in today if fault.key in keys}.values())


def difference(fault: Fault) -> str:
    """Return the change of a fault as a diff."""
    source = (ROOT / fault.path).read_text(encoding="utf-8")
    before, after = source.splitlines(), fault.planted(source).splitlines()
    return "\n".join(list(difflib.unified_diff(before, after, fault.path, fault.path, lineterm="", n=2))[2:])


def describe(fault: Fault, outcome: dict[str, Any]) -> str:
    where = "run when modules are imported, and " if outcome["at_import"] else ""
    tests = f"{outcome['tests']} tests" if outcome["tests"] else "any test: none that was tried comes there"
    heading = f"{fault.path}:{fault.first} in {fault.function}: {fault.kind}, {where}not noticed by {tests}"
    return f"{heading}\n{difference(fault)}\n    {fault.key!r}\n"


def summary(faults: Sequence[Fault], survivors: Sequence[Fault], equivalent: int, at_import: int) -> str:
    """Summarize the numbers of noticed faults, of each kind and in all."""
    planted, missed = Counter(f.kind for f in faults), Counter(f.kind for f in survivors)
    kinds = ", ".join(f"{kind} {n - missed[kind]}/{n}" for kind, n in sorted(planted.items()))
    noticed = len(faults) - len(survivors)
    share = 100 * noticed / max(1, len(faults))
    left_out = f"{equivalent} equivalent ones left out, {at_import} that imports alone come to not tried"
    return f"{kinds}\n{noticed} of {len(faults)} faults noticed ({share:.1f} %); {left_out}"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.mutate", description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=240, help="how many faults")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--area", action="append", choices=AREAS, help="only there; may be given several times")
    parser.add_argument("--since", metavar="REVISION", help="only on lines that have changed since then")
    parser.add_argument("--workers", type=int, default=min(2, os.cpu_count() or 1))
    parser.add_argument("--look-for", type=float, default=1200.0, help="seconds to find out which tests come where")
    parser.add_argument("--keep", type=Path, help="a new folder for the copy and the notes, which is not removed")
    parser.add_argument(
        "--again", type=Path, action="append", metavar="FOLDER", help="what a run that was kept there did not notice"
    )
    given = parser.parse_args()
    sample = ROOT, given.count, given.seed, given.area or tested_here(), given.since
    wanted = missed_in(given.again) if given.again else chosen(*sample)
    faults = [fault for fault in wanted if fault.key not in EQUIVALENT]
    survivors, reports, tried = [], [], []
    with tempfile.TemporaryDirectory(prefix="aesara-mutate-") as scratch:
        folder = given.keep or Path(scratch) / "run"
        for count, outcome in enumerate(outcomes(faults, folder, given.workers, given.look_for), 1):
            fault, result = faults[outcome["number"]], outcome["caught_by"]
            if not outcome["tried"]:
                print(f"{count}/{len(faults)} {fault.path}:{fault.first} {fault.kind}: not tried: run by imports alone")
                continue
            tried.append(fault)
            place = f"{fault.path}:{fault.first} {fault.kind}"
            print(f"{count}/{len(faults)} {outcome['seconds']} s {place}: {result or 'NOT NOTICED'}", flush=True)
            if not result:
                survivors.append(fault)
                reports.append(describe(fault, outcome))
    print("\n".join(["", *reports, summary(tried, survivors, len(wanted) - len(faults), len(faults) - len(tried))]))
    return int(len(survivors) > (1 - TARGET) * len(tried))


if __name__ == "__main__":
    sys.exit(main())
