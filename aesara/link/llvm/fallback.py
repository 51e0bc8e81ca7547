"""What to say when something will run in Python: nothing, a warning or an error, as `native_fallback` wants."""

from __future__ import annotations

import warnings
from collections.abc import Mapping

from aesara.configdefaults import config
from aesara.errors import NativeFallbackError, NativeFallbackWarning
from aesara.graph.nodes import Apply
from aesara.graph.source import SourceLine, user_source

__all__ = ["complain_about_graph", "complain_about_nodes"]

_HINT = "The option native_fallback decides whether this is an error, a warning or accepted in silence."


def complain_about_graph(reason: str) -> None:
    """Say that a whole function will run in Python."""
    if config.native_fallback != "ignore":
        _complain([(f"The function runs in Python, node by node: {reason}.", user_source())])


def complain_about_nodes(reasons: Mapping[Apply, str]) -> None:
    """Say which nodes of a native function will run in Python."""
    if reasons and config.native_fallback != "ignore":
        _complain([(f"{node.op} runs in Python: {reason}.", node.source) for node, reason in reasons.items()])


def _complain(complaints: list[tuple[str, SourceLine | None]]) -> None:
    if config.native_fallback == "raise":
        lines = [text if source is None else f"{text} ({source})" for text, source in complaints]
        raise NativeFallbackError("\n".join(lines), hint=_HINT)
    for text, source in complaints:
        filename, lineno = ("<unknown>", 0) if source is None else (source.filename, source.lineno)
        warnings.warn_explicit(text, NativeFallbackWarning, filename, lineno)
