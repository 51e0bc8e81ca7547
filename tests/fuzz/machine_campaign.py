"""Long runs: ``python -m tests.fuzz.machine_campaign SECONDS [SEED [STEPS]]`` prints each fault, with few steps."""

from __future__ import annotations

import re
import sys
import time
import traceback
from collections import Counter

from tests.fuzz.machine import USUAL_MODES, Fault, Machine, draw_steps

ALL_MODES = [*USUAL_MODES, "DebugMode"]


def complaint(seed: int, steps: list[tuple[str, int]], modes: list[str]) -> tuple[str | None, Machine]:
    """Run a program; return the text of the error or None, and the machine."""
    machine = Machine(seed, modes)
    try:
        machine.run(steps)
    except Fault as error:
        return str(error), machine
    except Exception as error:
        where = "".join(traceback.format_exception(error)[-6:])
        return f"{type(error).__name__}: {error}\n{where}", machine
    return None, machine


def kind_of(text: str) -> str:
    return re.sub(r"[-+]?\d[\d.e+-]*", "#", text.split("\n")[0])[:50]


def minimised(seed: int, steps: list, text: str, modes: list[str], seconds: float = 30) -> tuple[list, str, Machine]:
    """Fewer steps with a fault of the same kind."""
    end = time.monotonic() + seconds
    _, machine = complaint(seed, steps, modes)
    k = len(steps) - 1
    while k >= 0 and time.monotonic() < end:
        fewer = steps[:k] + steps[k + 1 :]
        found, other = complaint(seed, fewer, modes)
        if found is not None and kind_of(found) == kind_of(text):
            steps, text, machine = fewer, found, other
            k = min(k, len(steps))
        k -= 1
    return steps, text, machine


def main(seconds: float, seed: int = 0, count: int = 30) -> None:
    end, programs, calls, refused, kinds = time.monotonic() + seconds, 0, 0, 0, Counter()
    while time.monotonic() < end:
        number = seed * 10**6 + programs
        programs += 1
        steps = draw_steps(number, count)
        text, machine = complaint(number, steps, ALL_MODES)
        calls, refused = calls + machine.calls, refused + machine.refused
        if text is None:
            continue
        kinds[kind_of(text)] += 1
        if kinds[kind_of(text)] <= 2:
            steps, text, machine = minimised(number, steps, text, ALL_MODES)
            print(f"--- seed {number}: {text[:1500]}\n{chr(10).join(machine.trace)}\n{steps}\n", flush=True)
    print(f"{programs} programs, {calls} calls, {refused} refused, {sum(kinds.values())} faults: {dict(kinds)}")


if __name__ == "__main__":
    arguments = sys.argv[1:] or ["60"]
    main(float(arguments[0]), *(int(a) for a in arguments[1:]))
