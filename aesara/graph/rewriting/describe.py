"""Descriptions of rewriters, from their docstring, their pattern, or the source of their functions."""

from __future__ import annotations

import ast
import inspect
import linecache
from collections.abc import Callable
from copy import deepcopy
from functools import lru_cache, reduce
from types import CodeType
from typing import Any, ClassVar

from aesara.graph.rewriting.matching import Extractor, LogicVariable, OpPattern, Ops, ValuePattern


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
    name = (name.split("{")[0] or name).removeprefix("scalar_")
    return name if inner is op else name.lower()


def pattern_text(pattern: Any) -> str:
    """A pattern (in its parsed form) as a formula.

    Examples
    --------
    >>> from aesara.graph.rewriting.matching import as_pattern
    >>> pattern_text(as_pattern((at.log, (at.add, 1, "*x"))))
    'log(1 + x)'
    """
    return _formula(_pattern_tree(pattern))


def _pattern_tree(pattern: Any) -> ast.expr:
    """Return a pattern as calls of ops."""
    if isinstance(pattern, LogicVariable):
        return ast.Name(str(pattern))
    if isinstance(pattern, ValuePattern):
        return ast.Constant(pattern.value)
    if isinstance(pattern, OpPattern):
        inner = [_pattern_tree(part) for part in pattern.inputs]
        if pattern.rest is not None:
            inner.append(ast.Name(pattern.rest.name))
        if pattern.others is not None:
            inner.append(ast.Starred(ast.Name(pattern.others)) if pattern.others else ast.Constant(...))
        return ast.Call(ast.Name(op_text(pattern.op)), inner, [])
    if isinstance(pattern, Extractor):
        return ast.Call(ast.Name(pattern.function.__name__), [_pattern_tree(part) for part in pattern.inputs], [])
    return ast.Name(str(pattern))


def function_text(function: Callable[..., Any]) -> str | None:
    """Return the result of a function as a formula: for lambdas; the first sentence of its docstring for others."""
    code = getattr(function, "__code__", None)
    if isinstance(code, CodeType) and code.co_name == "<lambda>":
        body = _lambda_body(code)
        return None if body is None else _formula(deepcopy(body))
    return first_sentence(function.__doc__) or None


def _formula(tree: ast.expr) -> str:
    return ast.unparse(_Formula().visit(tree))


class _Formula(ast.NodeTransformer):
    """Writes calls of arithmetic ops with operators, and numbers without the dtype that they get."""

    OPERATORS: ClassVar[dict[str, type[ast.operator]]] = {
        "add": ast.Add, "sub": ast.Sub, "mul": ast.Mult, "true_divide": ast.Div, "pow": ast.Pow
    }  # fmt: skip
    #: Functions whose first argument is what counts.
    TRANSPARENT = ("asarray", "constant_like", "as_dtype", "as_float")

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        name = getattr(node.func, "id", getattr(node.func, "attr", "")).removeprefix("at_")
        arguments = [*node.args, *(keyword.value for keyword in node.keywords)]
        if name in self.TRANSPARENT and arguments:
            return arguments[0]
        if name in self.OPERATORS and len(node.args) == len(arguments) > 1:
            operator = self.OPERATORS[name]()
            return reduce(lambda left, right: ast.BinOp(left, operator, right), arguments)
        if name == "neg" and len(arguments) == 1:
            return ast.UnaryOp(ast.USub(), arguments[0])
        # Modules call an operation `at_abs` or `ops.abs` where it would hide a function of Python.
        if isinstance(node.func, ast.Name):
            node.func.id = name
        elif isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name):
            if node.func.value.id in ("ops", "special"):
                node.func = ast.Name(name, ast.Load())
        return node


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
