"""Profiles in notebooks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aesara.compile.profile_trace import lines_of
from aesara.graph.nodes import Apply
from aesara.utils import escaped_html

__all__ = ["profile_html"]

_MOST_ROWS = 15
_LONGEST = 120


def profile_html(profile: Any) -> str:
    """Return the calls of a profile and its longest steps, or nodes, as HTML."""
    calls, seconds = profile.fct_callcount, profile.fct_call_time
    head = f"<b>{_text('profile' if profile.message is None else profile.message)}</b>: {calls} calls"
    if calls:
        head += f", {_time(seconds)} in all, {_time(seconds / calls)} each"
    head += f"; compiled in {_time(profile.compile_time)}"
    rows: list[tuple[float, int, str, Sequence[Apply]]]
    rows = [(step.seconds, step.calls, step.kind, step.nodes) for step in profile.steps()]
    if not rows:
        times, counts = profile.apply_time, profile.apply_callcount
        rows = [(times[key], counts[key], "node", [key[1]]) for key in times]
    rows.sort(key=lambda row: -row[0])
    total = sum(row[0] for row in rows)
    lines = [_row(*row, total) for row in rows[:_MOST_ROWS] if row[1]]
    if len(rows) > _MOST_ROWS:
        rest = sum(row[0] for row in rows[_MOST_ROWS:])
        lines.append(f"<tr><td>{_time(rest)}</td><td></td><td></td><td>{len(rows) - _MOST_ROWS} more</td></tr>")
    if not lines:
        return f"<div>{head}</div>"
    names = "<tr><th>time</th><th>of all</th><th>each</th><th>what</th></tr>"
    return f"<div>{head}<table>{names}{''.join(lines)}</table></div>"


def _row(seconds: float, calls: int, kind: str, nodes: Sequence[Apply], total: float) -> str:
    share = 100 * seconds / total if total else 0.0
    bar = f"background: linear-gradient(90deg, #f4a58288 {share:.0f}%, transparent {share:.0f}%)"
    ops = "; ".join(str(node.op) for node in nodes) or "copies"
    lines = ", ".join(lines_of(nodes))
    return (
        f'<tr><td>{_time(seconds)}</td><td style="{bar}">{share:.1f}%</td><td>{_time(seconds / calls)}</td>'
        f'<td style="text-align: left">{kind}: {_text(ops)}<br><small>{_text(lines)}</small></td></tr>'
    )


def _time(seconds: float) -> str:
    """A time with three digits."""
    seconds = float(f"{seconds:.3g}")
    unit, factor = ("s", 1.0) if seconds >= 1 else ("ms", 1e3) if seconds >= 1e-3 else ("µs", 1e6)
    return f"{seconds * factor:.6g} {unit}"


def _text(text: str) -> str:
    return escaped_html(text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…")
