"""Profiles as files for Perfetto and Chrome (``ui.perfetto.dev``, ``chrome://tracing``)."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from aesara import clock
from aesara.compile.step_times import NativeTimes, StepTime
from aesara.graph.nodes import Apply
from aesara.records import dataclass

__all__ = ["Timeline", "trace_of", "write_trace"]

_CALLS = 1000  # the last calls that are kept
_NODES = 20_000  # the last runs of single nodes
_LONGEST_NAME = 80
_thread = threading.get_ident


# A call: its thread, when it started, seconds, and what each native function's timers have shown after it, as bytes.
_Call = tuple[int, float, float, tuple[bytes, ...]]


class _NodeRun(NamedTuple):
    thread: int
    started: float
    seconds: float
    node: Apply


@dataclass(frozen=True)
class _Phase:
    """A part of compiling."""

    name: str
    started: float
    seconds: float


class Timeline:
    """Time line of a function: all phases of compilation, the last calls, and the last runs of nodes."""

    def __init__(self) -> None:
        self.phases: list[_Phase] = []
        self.forget_calls()

    def forget_calls(self) -> None:
        """Forget calls and runs of nodes; keep the phases of compilation."""
        self.calls: deque[_Call] = deque(maxlen=_CALLS + 1)  # the first says where the second begins
        self.node_runs: deque[_NodeRun] = deque(maxlen=_NODES)

    def add_phases(self, seconds: dict[str, float]) -> None:
        """Add phases that have followed each other and have just ended."""
        started = clock.now() - sum(seconds.values())
        for name, duration in seconds.items():
            self.phases.append(_Phase(name, started, duration))
            started += duration

    def add_call(self, started: float, seconds: float, ticks: Sequence[np.ndarray]) -> None:
        """Add a call, and what timers show after it; this happens at each call, so it is short."""
        self.calls.append((_thread(), started, seconds, tuple([one.tobytes() for one in ticks])))

    def add_node_run(self, started: float, seconds: float, node: Apply) -> None:
        """Add a run of a single node."""
        self.node_runs.append(_NodeRun(threading.get_ident(), started, seconds, node))


def write_trace(
    path: str | os.PathLike[str], timeline: Timeline, natives: Sequence[NativeTimes], name: str | None
) -> None:
    """Write `trace_of` to a file."""
    import json  # only for files

    Path(path).write_text(json.dumps(trace_of(timeline, natives, name)), encoding="utf-8")


def trace_of(timeline: Timeline, natives: Sequence[NativeTimes], name: str | None) -> dict[str, Any]:
    """Return a profile in the trace event format, as dicts and lists.

    Parameters
    ----------
    timeline
        What was measured.
    natives
        The native functions that were measured.
    name
        What calls are named.
    """
    label = "function" if name is None else name
    threads = {0: 0}
    for thread, *_ in (*list(timeline.calls)[-_CALLS:], *timeline.node_runs):
        threads.setdefault(thread, len(threads))
    spans = [
        *((0, phase.started, phase.seconds, phase.name, "compile", {}) for phase in timeline.phases),
        *_spans_of_calls(timeline, natives, label),
        *((run.thread, run.started, run.seconds, *_event_fields([run.node], "node")) for run in timeline.node_runs),
    ]
    zero = min((started for _, started, *_ in spans), default=0.0)
    # A span that contains others comes before them.
    spans.sort(key=lambda span: (threads[span[0]], span[1], -span[2]))
    process = os.getpid()
    events = [_metadata_event(process, 0, "process_name", f"aesara: {label}")]
    for number in threads.values():
        name = "compiling" if number == 0 else f"calls, thread {number}"
        events.append(_metadata_event(process, number, "thread_name", name))
    for thread, started, seconds, text, category, arguments in spans:
        events.append({
            "name": text, "cat": category, "ph": "X", "ts": 1e6 * (started - zero), "dur": 1e6 * seconds,
            "pid": process, "tid": threads[thread], "args": arguments,
        })  # fmt: skip
    return {"traceEvents": events, "displayTimeUnit": "ms"}


_Span = tuple[int, float, float, str, str, dict[str, Any]]


def _spans_of_calls(timeline: Timeline, natives: Sequence[NativeTimes], label: str) -> Iterator[_Span]:
    """Calls, and the steps of native code in them: how long each took is measured, that they follow at once is not."""
    timed = [native for native in natives if native.timers is not None]
    steps = [native.steps() for native in timed]
    calls = list(timeline.calls)
    before = calls[0][3] if len(calls) > _CALLS else ()
    for thread, started, seconds, after in calls[-_CALLS:]:
        yield thread, started, seconds, label, "call", {}
        at, end = started, started + seconds
        for k, (native, shown) in enumerate(zip(timed, after)):
            spent = _ticks(shown) - _ticks(before[k]) if k < len(before) else _ticks(shown)
            for step, duration, runs in zip(steps[k], spent[0] * native.timers.clock.tick, spent[1]):
                seconds = min(float(duration), end - at)
                if runs > 0 and seconds > 0:
                    yield thread, at, seconds, *_event_fields(step.nodes, step.kind, step)
                    at += seconds
        before = after


def _ticks(shown: bytes) -> np.ndarray:
    return np.frombuffer(shown, np.int64).reshape(2, -1)


def _event_fields(nodes: Sequence[Apply], kind: str, step: StepTime | None = None) -> tuple[str, str, dict[str, Any]]:
    """Name, category and arguments of the trace event for some nodes."""
    names = "; ".join(str(node.op) for node in nodes) or "copies"
    short = names if len(names) <= _LONGEST_NAME else names[: _LONGEST_NAME - 3] + "..."
    arguments: dict[str, Any] = {"nodes": [str(node) for node in nodes], "lines": lines_of(nodes)}
    if step is not None:
        short = f"{kind}: {short}"
    return short, kind, arguments


def lines_of(nodes: Iterable[Apply]) -> list[str]:
    """The lines of the user's program that nodes come from, each once."""
    found = (node.source for node in nodes)
    return list(dict.fromkeys(source.place for source in found if source is not None))


def _metadata_event(process: int, thread: int, key: str, name: str) -> dict[str, Any]:
    return {"name": key, "ph": "M", "pid": process, "tid": thread, "args": {"name": name}}
