"""Reports of code that will run in Python: nothing, a warning or an error, by the option `native_fallback`."""

from __future__ import annotations

import warnings
from collections.abc import Mapping

from aesara.configdefaults import config
from aesara.errors import NativeFallbackError, NativeFallbackWarning
from aesara.graph.nodes import Apply
from aesara.graph.source import SourceLine, user_source

__all__ = ["report_graph", "report_nodes"]

_HINT = "The option native_fallback decides whether this is an error, a warning or accepted in silence."


def report_graph(reason: str) -> None:
    """Report that a whole function will run in Python."""
    if config.native_fallback != "ignore":
        _report([(f"The function runs in Python, node by node: {reason}.", user_source())])


def report_nodes(reasons: Mapping[Apply, str]) -> None:
    """Report which nodes of a native function will run in Python."""
    if reasons and config.native_fallback != "ignore":
        _report([(f"{node.op} runs in Python: {reason}.", node.source) for node, reason in reasons.items()])


def _report(messages: list[tuple[str, SourceLine | None]]) -> None:
    if config.native_fallback == "raise":
        lines = [text if source is None else f"{text} ({source})" for text, source in messages]
        raise NativeFallbackError("\n".join(lines), hint=_HINT)
    for text, source in messages:
        filename, lineno = ("<unknown>", 0) if source is None else (source.filename, source.lineno)
        warnings.warn_explicit(text, NativeFallbackWarning, filename, lineno)
