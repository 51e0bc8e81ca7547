"""What a rewriter does, in words: from its docstring, its pattern, or the text of its functions."""

from __future__ import annotations

import ast
import inspect
import linecache
import re
from collections.abc import Callable
from functools import lru_cache
from types import CodeType
from typing import Any

from aesara.graph.rewriting.matching import LogicVariable, OpPattern, Ops, ValuePattern


def first_sentence(text: str | None) -> str:
    """The first sentence of a docstring, on one line.

    Examples
    --------
    >>> first_sentence("Removes what does nothing,\\n    such as ``x + 0``.  More follows.")
    'Removes what does nothing, such as ``x + 0``'
    """
    paragraph = " ".join(inspect.cleandoc(text or "").split("\n\n")[0].split())
    return paragraph.split(". ")[0].rstrip(".:")


def op_text(op: Any) -> str:
    """The name of an operation (a class, or a function of operations), or the names of several, without details.

    Examples
    --------
    >>> op_text(at.exp)
    'exp'
    """
    if isinstance(op, Ops):
        return " | ".join(map(op_text, op.alternatives))
    inner = getattr(op, "scalar_op", op)
    name = inner.__name__ if isinstance(inner, type) or inspect.isfunction(inner) else str(inner)
    name = name.split("{")[0] or name
    return name if inner is op else name.lower()


def pattern_text(pattern: Any) -> str:
    """A pattern (in its parsed form) as a formula.

    Examples
    --------
    >>> from aesara.graph.rewriting.matching import as_pattern
    >>> pattern_text(as_pattern((at.log, (at.add, 1, "*x"))))
    'log(add(1, *x))'
    """
    if isinstance(pattern, LogicVariable):
        return str(pattern)
    if isinstance(pattern, ValuePattern):
        return str(pattern.value)
    if isinstance(pattern, OpPattern):
        inner = [pattern_text(part) for part in pattern.inputs]
        if pattern.rest is not None:
            inner.append(f"*{pattern.rest.name}")
        if pattern.others is not None:
            inner.append(pattern.others or "...")
        return f"{op_text(pattern.op)}({', '.join(inner)})"
    return str(pattern)


def function_text(function: Callable[..., Any]) -> str | None:
    """What a function returns, as it is written: for lambdas; the first sentence of its docstring for others."""
    code = getattr(function, "__code__", None)
    if isinstance(code, CodeType) and code.co_name == "<lambda>":
        body = _lambda_body(code)
        # Modules call an operation `at_abs` where it would hide a function of Python; casts to the dtype of the result
        # are left out.
        text = "" if body is None else re.sub(r"\bas_float\((\w+), out\)", r"\1", ast.unparse(body))
        return re.sub(r"\bat_(\w+)\(", r"\1(", text) or None
    return first_sentence(function.__doc__) or None


def _lambda_body(code: CodeType) -> ast.expr | None:
    """The body of the lambda that was compiled to this code, if its file can be read: the innermost one around it."""
    # Instructions that take no room in the text belong to no place in it.
    place = next(((line, column) for line, _, column, end in code.co_positions() if column != end), None)
    around = (body for body in _lambda_bodies(code.co_filename) if place and _start(body) <= place < _end(body))
    return max(around, key=_start, default=None)


def _start(body: ast.expr) -> tuple[int, int]:
    return body.lineno, body.col_offset


def _end(body: ast.expr) -> tuple[Any, Any]:
    return body.end_lineno, body.end_col_offset


@lru_cache(maxsize=64)
def _lambda_bodies(filename: str) -> tuple[ast.expr, ...]:
    try:
        tree = ast.parse("".join(linecache.getlines(filename)))
    except SyntaxError:
        return ()
    return tuple(node.body for node in ast.walk(tree) if isinstance(node, ast.Lambda))
