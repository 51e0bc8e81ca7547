"""Measure every row of the op table beside NumPy or SciPy, on one core, and list what is slower here.

    python benchmarks/optable.py [--only WORD,...] [--sizes 10,1000,100000] [--repeats 1]
        [--seconds 0.05] [--all] [--json FILE]

The first case of each row of `tests/optable` is made larger: its lengths are replaced so that an input has about as
many elements as `--sizes` says. Where that has no result, since lengths or numbers belong together, the row is measured
as it is, and where it has none either, it is named at the end. The other side is the row's oracle; rows whose oracle is
a program of several calls, or one with more digits, are compared with that. Results of a function are memory of their
own, so where the oracle gives a view of an input or the input itself, it copies it, too. Both sides are called in
turns, and the smallest time of each counts, so that other work on the machine shows little.

Each line has microseconds for a call here, for the oracle, and the ratio; lines with a ratio above 1 come first, the
worst on top. `--all` prints the others, too. It takes a few minutes. Calls of many milliseconds are measured few times,
so that other work on the machine shows: look at them again with `--only` and `--repeats`.

What is known of rows that are slower here (ratios on an AMD EPYC with AVX-512, elements of the inputs behind them):

- `unique` and what is made from it (1.3 to 3.2 at 10 and 1,000): NumPy's function, called as a node in Python, which
  costs some microseconds beside its work.
- `isin` of integers (0.65 to 2.5 at 100,000, from run to run): where the values lie close together, NumPy fills a table
  with an entry for each possible one. Here they are searched for.
- `searchsorted` and `interp` (1.4 and 1.75 at 1,000): each call has the same numbers, so that the processor can learn
  the way of each search in NumPy, at 10 ns for a value. Of 100,000 other values NumPy takes 40 to 140 ns for each, and
  this package 5 to 15.
- `power` (1.3 to 1.5): 140 vector instructions for eight numbers, a division among them.
- `zeta` (1.2 to 1.5): up to ten powers for each number, one after the other, and not in vectors.
- `dstack` (1.6 at 100,000): one pass over the result for each input.
- `max`, `min`, `nanmax`, `nanmin` (1.15 to 1.2), `triu_indices_from`, `tril_indices_from` (1.5 to 1.7), `rot90`
  (1.25) and `pack and unpack` (1.8), all at 100,000: not looked into.
"""

import argparse
import json
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

for name in ("OPENBLAS", "OMP", "MKL"):
    os.environ.setdefault(f"{name}_NUM_THREADS", "1")  # read when NumPy is loaded
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np  # noqa: E402

import aesara  # noqa: E402
import tests.optable.rows  # noqa: E402, F401  # fills the table
from tests.optable.inputs import Arg  # noqa: E402
from tests.optable.running import rng_of, variable_of  # noqa: E402
from tests.optable.table import ROWS, Case, Row, as_list  # noqa: E402

#: measured in turns at least so often
ROUNDS = 5
#: a batch of calls takes about so long, which the clock can tell
BATCH = 2e-5


@dataclass(frozen=True)
class Result:
    """One line of the table; times in seconds."""

    row: str
    case: str
    ours: float
    oracle: float

    @property
    def ratio(self) -> float:
        return self.ours / self.oracle


def enlarged(case: Case, size: int) -> Case:
    """The case with inputs of about so many elements; integers that are given, which may be indices, stay."""
    rank = max((len(a.shape) for a in case.args), default=0)
    length = max(2, round(size ** (1 / max(rank, 1))))
    return replace(case, args=tuple(_with_length(a, length) for a in case.args))


def _with_length(arg: Arg, length: int) -> Arg:
    known = arg.static or (None,) * len(arg.shape)
    shape = tuple(length if n > 1 and k is None else n for n, k in zip(arg.shape, known))
    if shape == arg.shape or (arg.values is not None and np.dtype(arg.dtype).kind not in "fc"):
        return arg
    return replace(arg, shape=shape, values=None if arg.values is None else np.resize(arg.values, shape))


def fastest(*calls: Callable[[], Any], seconds: float) -> list[float]:
    """The smallest time of each call, measured in turns."""
    batches = []
    for call in calls:
        start = time.perf_counter()
        call()
        batches.append(max(1, int(BATCH / max(time.perf_counter() - start, 1e-8))))
    best = [float("inf")] * len(calls)
    end, rounds = time.perf_counter() + seconds, 0
    while rounds < ROUNDS or time.perf_counter() < end:
        rounds += 1
        for k, (call, batch) in enumerate(zip(calls, batches)):
            start = time.perf_counter()
            for _ in range(batch):
                call()
            best[k] = min(best[k], (time.perf_counter() - start) / batch)
        if time.perf_counter() > end + 20 * seconds:
            break
    return best


def measured(row: Row, sizes: list[int], seconds: float) -> Iterator[Result]:
    """Times of the first case of a row; of the case as it is where no larger one has a result."""
    inputs = [variable_of(a, f"x{k}") for k, a in enumerate(row.cases[0].args)]
    function = aesara.function(inputs, row.apply(row.cases[0], inputs), on_unused_input="ignore")
    cases = dict.fromkeys(str(c) for c in (enlarged(row.cases[0], size) for size in sizes))
    found = False
    for case in [enlarged(row.cases[0], size) for size in sizes]:
        if str(case) in cases:
            del cases[str(case)]
            for result in _measured_case(row, case, function, seconds):
                found = True
                yield result
    if not found:
        yield from _measured_case(row, row.cases[0], function, seconds)


def _measured_case(row: Row, case: Case, function: Any, seconds: float) -> Iterator[Result]:
    rng = rng_of(row)
    values = [a.draw(rng) for a in case.args]

    def views(results: Any) -> list[int]:
        return [k for k, r in enumerate(as_list(results)) if any(np.may_share_memory(r, v) for v in values)]

    def oracle() -> Any:
        return row.oracle(*values, **case.params)

    def copying_oracle() -> Any:
        results = as_list(row.oracle(*values, **case.params))
        return [np.array(results[k], order="C") for k in shared]

    try:
        shared = views(oracle())
        function(*values)
    except Exception:  # these lengths do not go together
        return
    ours, theirs = fastest(lambda: function(*values), copying_oracle if shared else oracle, seconds=seconds)
    yield Result(row.name, str(case), ours, theirs)


def line(result: Result) -> str:
    times = f"{result.ours * 1e6:12.2f} {result.oracle * 1e6:12.2f} {result.ratio:8.2f}"
    return f"{times}  {result.row}  {result.case}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="rows whose name has one of these words")
    parser.add_argument("--sizes", default="10,1000,100000", help="elements of the inputs")
    parser.add_argument("--seconds", type=float, default=0.05, help="how long each line is measured")
    parser.add_argument("--repeats", type=int, default=1, help="of so many measurements the one with the median ratio")
    parser.add_argument("--all", action="store_true", help="print what is faster, too")
    parser.add_argument("--json", help="write the results to a file")
    given = parser.parse_args()
    sizes = [int(size) for size in given.sizes.split(",")]
    warnings.simplefilter("ignore")
    results: list[Result] = []
    missing = []
    for row in ROWS.values():
        if not any(word in row.name for word in given.only.split(",")):
            continue
        with np.errstate(all="ignore"):
            again = [list(measured(row, sizes, given.seconds)) for _ in range(given.repeats)]
        found = [sorted(same, key=lambda result: result.ratio)[len(same) // 2] for same in zip(*again, strict=True)]
        results += found
        missing += [row.name] * (not found)
        if sys.stderr.isatty():
            print(f"\r{len(results)} cases measured", end="", file=sys.stderr, flush=True)
    results.sort(key=lambda result: -result.ratio)
    slower = [result for result in results if result.ratio > 1]
    print(f"{'here (us)':>12} {'oracle (us)':>12} {'ratio':>8}  row and case")
    print("\n".join(map(line, results if given.all else slower)))
    print(f"{len(slower)} of {len(results)} cases are slower here.")
    if missing:
        print(f"Not measured: {', '.join(missing)}.")
    if given.json:
        Path(given.json).write_text(json.dumps([asdict(result) for result in results], indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
