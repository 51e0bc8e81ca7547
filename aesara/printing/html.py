"""Elements of HTML pages for notebooks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from aesara.utils import escaped_html

__all__ = ["code", "prose", "table"]

_QUOTED = re.compile(r"(?<!`)(`+)([^`]+)\1(?!`)")


def code(text: object) -> str:
    """Return text formatted as code, or an empty string for an empty text.

    Examples
    --------
    >>> code("x < y"), code("")
    ('<code>x &lt; y</code>', '')
    """
    escaped = escaped_html(str(text))
    return f"<code>{escaped}</code>" if escaped else ""


def prose(text: object) -> str:
    """Return text with parts in backticks formatted as code.

    Examples
    --------
    >>> prose("use `f(x)` & co")
    'use <code>f(x)</code> &amp; co'
    """
    return _QUOTED.sub(r"<code>\2</code>", escaped_html(str(text)))


def table(heads: Sequence[str], rows: Sequence[Sequence[str]], most: int = 200) -> str:
    """Return a table; cells are HTML.

    Empty columns are omitted. At most `most` rows are shown.

    Examples
    --------
    >>> table(["name", "notes"], [["<b>x</b>", ""]])
    '<table><tr><th>name</th></tr><tr><td style="text-align: left"><b>x</b></td></tr></table>'
    """
    if not rows:
        return ""
    shown_columns = [k for k in range(len(heads)) if any(row[k] for row in rows)]
    lines = [_line(f"<th>{heads[k]}</th>" for k in shown_columns)] if any(heads) else []
    lines += [_line(f'<td style="text-align: left">{row[k]}</td>' for k in shown_columns) for row in rows[:most]]
    if len(rows) > most:
        lines.append(f'<tr><td colspan="{len(shown_columns)}">and {len(rows) - most} more</td></tr>')
    return f"<table>{''.join(lines)}</table>"


def _line(cells: Iterable[str]) -> str:
    return f"<tr>{''.join(cells)}</tr>"
