"""Areas in which faults are planted, and the choice of faults."""

from __future__ import annotations

import random
import re
import subprocess
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Mapping
from importlib.util import find_spec
from pathlib import Path

from tools.mutate.faults import Fault, faults

DERIVATIVES = re.compile(r"pullback|pushforward|[LR]_op|grad|jacobian|hessian|tangent", re.IGNORECASE)
SHAPES = re.compile(r"shape|broadcast|ndim|length", re.IGNORECASE)

#: `aesara.tensor` without its rules, which are an area of their own.
_TENSOR = ("aesara/tensor/*.py", "aesara/tensor/[!r]*/*.py", "aesara/tensor/reductions/*.py",
           "aesara/tensor/random/**/*.py")  # fmt: skip

#: What tests of their own are for, which run where JAX is installed.
_BY_JAX = ("aesara/link/jax/", "aesara/tensor/rewriting/jax.py")

#: Folders or files of each area, and whether a function of them belongs to it.
AREAS: dict[str, tuple[tuple[str, ...], Callable[[Fault], bool]]] = {
    "graph": (("aesara/graph/*.py",), lambda f: True),
    "rewriting": (
        ("aesara/graph/rewriting/*.py", "aesara/tensor/rewriting/**/*.py"),
        lambda f: not f.path.startswith(_BY_JAX),
    ),
    "lower": (("aesara/lower/**/*.py",), lambda f: True),
    "link": (("aesara/link/**/*.py",), lambda f: not f.path.startswith(_BY_JAX)),
    "ir": (("aesara/ir/**/*.py",), lambda f: True),
    "scan": (("aesara/scan/**/*.py", "aesara/ifelse.py"), lambda f: True),
    "derivatives": (
        ("aesara/scalar/*.py", *_TENSOR, "aesara/graph/autodiff.py"),
        lambda f: bool(DERIVATIVES.search(f.function)),
    ),
    "shapes": (_TENSOR, lambda f: bool(SHAPES.search(f.function))),
    "tensor": (_TENSOR, lambda f: True),
    "scalar": (("aesara/scalar/**/*.py",), lambda f: True),
    "compile": (("aesara/compile/**/*.py",), lambda f: True),
    "printing": (("aesara/printing/*.py", "aesara/d3viz/*.py"), lambda f: True),
    "misc": (("aesara/*.py",), lambda f: True),
    "sparse": (("aesara/sparse/**/*.py", "aesara/typed_list/*.py"), lambda f: True),
    "jax": (("aesara/link/jax/**/*.py", "aesara/tensor/rewriting/jax.py"), lambda f: True),
    "compat": (("aesara/compat/**/*.py", "aesara/export/*.py"), lambda f: True),
}


def tested_here() -> list[str]:
    """The areas whose tests can run in this environment."""
    return [area for area in AREAS if area != "jax" or find_spec("jax") is not None]


def chosen(tree: Path, count: int, seed: int, areas: Iterable[str], since: str | None = None) -> list[Fault]:
    """About `count` faults, as many of each area and kind as there are, and not two of a function.

    With `since`, a revision, only on lines that have changed since then.
    """
    areas = list(areas)
    generator = random.Random(seed)
    found: list[Fault] = []
    functions: set[tuple[str, str]] = set()
    changed = None if since is None else changed_lines(tree, since)
    for k, area in enumerate(areas):
        wanted = (k + 1) * count // len(areas) - k * count // len(areas)
        found += _of_area(tree, area, wanted, generator, functions, changed)
    return found


def changed_lines(tree: Path, since: str) -> dict[str, set[int]]:
    """The lines of each module that are new or other ones than in a revision."""
    command = ["git", "diff", "--unified=0", "--no-ext-diff", "--no-color", since, "--", "*.py"]
    text = subprocess.run(command, cwd=tree, check=True, capture_output=True, text=True).stdout
    return lines_of_difference(text)


def lines_of_difference(text: str) -> dict[str, set[int]]:
    """The new lines of each file of a difference in the form of git."""
    found: dict[str, set[int]] = defaultdict(set)
    path = ""
    for line in text.splitlines():
        if line.startswith("+++ "):
            path = line.removeprefix("+++ b/")
        elif hunk := re.match(r"@@ -\S+ \+(\d+)(?:,(\d+))? @@", line):
            first, count = int(hunk[1]), int(hunk[2] or 1)
            found[path].update(range(first, first + count))
    return found


def _of_area(
    tree: Path,
    area: str,
    wanted: int,
    generator: random.Random,
    functions: set[tuple[str, str]],
    changed: Mapping[str, Container[int]] | None,
) -> list[Fault]:
    patterns, belongs = AREAS[area]
    by_kind: dict[str, list[Fault]] = defaultdict(list)
    for file in sorted({file for pattern in patterns for file in tree.glob(pattern)}):
        path = file.relative_to(tree).as_posix()
        for fault in faults(path, file.read_text(encoding="utf-8")):
            if belongs(fault) and (changed is None or fault.first in changed.get(path, ())):
                by_kind[fault.kind].append(fault)
    for group in by_kind.values():
        generator.shuffle(group)
    taken: list[Fault] = []
    kinds = sorted(by_kind)
    while len(taken) < wanted and any(by_kind.values()):
        for kind in kinds:
            while by_kind[kind] and len(taken) < wanted:
                fault = by_kind[kind].pop()
                if (fault.path, fault.function) not in functions:
                    functions.add((fault.path, fault.function))
                    taken.append(fault)
                    break
    return taken
