"""Long runs: ``python -m tests.fuzz.campaign SECONDS [SEED [LINES]]`` prints each kind of disagreement, made small.

Programs come from a plain random generator: they are larger and more varied than what hypothesis draws. Every fifth is
a differentiable one, whose gradient is checked against differences.
"""

from __future__ import annotations

import random
import re
import sys
import time
from collections import Counter

from tests.fuzz.checking import check
from tests.fuzz.programs import Program, draw_program, rebuild
from tests.fuzz.smooth import SmoothProgram, draw_smooth


def program_of(seed: int, lines: int = 20) -> Program:
    """The program of a seed."""
    return draw_program(random.Random(seed).randint, lines)


def complaint(program: Program) -> str | None:
    """Check a program; return the text of the error, or None."""
    try:
        check(program)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None


def smooth_program_of(seed: int, lines: int = 4) -> SmoothProgram:
    """The differentiable program of a seed."""
    return draw_smooth(random.Random(seed).randint, lines)


def smooth_complaint(program: SmoothProgram, mode: object = None) -> str | None:
    """Check the gradient of a program; return the text of the error, or None."""
    try:
        program.check(mode)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None


def kind_of(text: str) -> str:
    """A complaint without names and numbers."""
    return re.sub(r"[-+]?\d[\d.e+-]*", "#", re.sub(r"\bcall \d|\b[vx]\d+\b", "", text))[:60]


def smaller(program: Program):
    """The program with a result, an update or a line left out."""
    lines, outputs, updates = program.lines, program.outputs, program.updates
    for k in range(len(outputs)):
        yield lines, outputs[:k] + outputs[k + 1 :], updates
    for name in updates:
        yield lines, outputs, {k: v for k, v in updates.items() if k != name}
    for k in reversed(range(len(lines))):
        yield lines[:k] + lines[k + 1 :], outputs, updates


def minimised(program: Program, text: str, seconds: float = 20) -> tuple[Program, str]:
    """The smallest program found that has the same kind of complaint."""
    kind, end = kind_of(text), time.monotonic() + seconds
    progress = True
    while progress and time.monotonic() < end:
        progress = False
        for parts in smaller(program):
            other = rebuild(program, *parts)
            if size(other) >= size(program):
                continue
            found = complaint(other)
            if found is not None and kind_of(found) == kind:
                program, text, progress = other, found, True
                break
    return program, text


def size(program: Program) -> int:
    return len(program.lines) + len(program.outputs) + len(program.updates)


def main(seconds: float, seed: int = 0, lines: int = 20, examples: int = 2) -> None:
    end, count, kinds = time.monotonic() + seconds, 0, Counter()
    while time.monotonic() < end:
        if count and count % 500 == 0:
            print(f"... {count} programs, {sum(kinds.values())} complaints", flush=True)
        number = seed * 10**6 + count
        count += 1
        if number % 5 == 0:
            smooth = smooth_program_of(number)
            text = smooth_complaint(smooth)
            if text is not None:
                kinds[kind_of(text)] += 1
                print(f"--- seed {number}, gradient\n{text[:900]}\n{smooth}\n", flush=True)
            continue
        program = program_of(number, lines)
        text = complaint(program)
        if text is not None:
            kinds[kind_of(text)] += 1
            if kinds[kind_of(text)] <= examples:
                program, text = minimised(program, text)
                print(f"--- seed {number}, {lines} lines\n{text[:900]}\n{program.source()}\n", flush=True)
    print(f"{count} programs, {sum(kinds.values())} complaints: {dict(kinds)}")


if __name__ == "__main__":
    arguments = sys.argv[1:] or ["60"]
    main(float(arguments[0]), *(int(a) for a in arguments[1:]))
