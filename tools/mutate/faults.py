"""The faults that can be planted in a module, found in its syntax tree: each changes one expression or statement."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass

COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult,
    ast.BitOr: ast.BitAnd, ast.BitAnd: ast.BitOr, ast.LShift: ast.RShift, ast.RShift: ast.LShift,
}  # fmt: skip
ORDERED = (ast.Sub, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow)
EXCHANGED = {
    "min": "max", "max": "min", "any": "all", "all": "any", "minimum": "maximum", "maximum": "minimum",
}  # fmt: skip
DROPPED = {"abs", "sorted", "reversed", "neg"}
EMPTIED = {"set", "tuple", "list", "dict"}
ABSOLUTE = {"abs", "absolute", "fabs"}


@dataclass(frozen=True)
class Fault:
    """One change of a module; lines are those of the statement or expression that is replaced, from 1."""

    path: str
    function: str
    kind: str
    first: int
    last: int
    columns: tuple[int, int]
    before: str
    after: str

    @property
    def key(self) -> tuple[str, str, str, str]:
        """Identity of a fault, independent of line numbers."""
        return self.path, self.function, self.before, self.after

    @property
    def place(self) -> tuple[int, int, int, int]:
        return self.first, self.columns[0], self.last, self.columns[1]

    def planted(self, source: str) -> str:
        """The source of the module with this fault, to be shown."""
        lines = source.encode().splitlines(keepends=True)
        head = lines[self.first - 1][: self.columns[0]]
        tail = lines[self.last - 1][self.columns[1] :]
        blank = [b"\n"] * (self.last - self.first)  # the lines after it keep their numbers
        new = head + self.after.encode() + tail
        return b"".join([*lines[: self.first - 1], new, *blank, *lines[self.last :]]).decode()


def faults(path: str, source: str) -> list[Fault]:
    """All faults that can be planted in the functions of a module, in the order of its lines."""
    tree = ast.parse(source)
    found = []
    same = _without_effect(tree)
    for function, body in _functions(tree):
        for node in body:
            for kind, new in _changes(node):
                if (node, kind) in same:
                    continue
                old = node.test if isinstance(node, ast.If) and isinstance(new, ast.expr) else node
                before, after = ast.unparse(old), ast.unparse(new)
                after = f"({after})" if isinstance(old, ast.expr) else after
                columns = (old.col_offset, old.end_col_offset)
                found.append(Fault(path, function, kind, old.lineno, old.end_lineno, columns, before, after))
    return sorted(found, key=lambda fault: (fault.first, fault.columns, fault.kind, fault.after))


def _without_effect(tree: ast.Module) -> set[tuple[ast.AST, str]]:
    """Nodes and kinds of faults that change nothing there, whatever the values are."""
    found: set[tuple[ast.AST, str]] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = _name_of(node.func)
            if name in ABSOLUTE and len(node.args) == 1 and _is_difference(node.args[0]):
                found.add((node.args[0], "swapped operands"))
            elif name in DROPPED and len(node.args) == 1 and _has_one_element(node.args[0]):
                found.add((node, "dropped call"))
            elif name == "zip":
                found |= {(keyword.value, "constant") for keyword in node.keywords if keyword.arg == "strict"}
        elif isinstance(node, ast.BinOp):
            if ast.dump(node.left) == ast.dump(node.right):
                found.add((node, "swapped operands"))
            if isinstance(node.op, ast.Pow) and _is_even(node.right) and _is_difference(node.left):
                found.add((node.left, "swapped operands"))
        elif isinstance(node, ast.For | ast.While):
            found |= {(last, "dropped early exit") for last in _last_of(node.body)}
    return found


def _last_of(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The `continue` at the end of the body of a loop, and an `if` there with nothing else."""
    last = body[-1]
    if isinstance(last, ast.Continue):
        yield last
    elif isinstance(last, ast.If):
        if isinstance(last.body[0], ast.Continue):
            yield last
        for part in (last.body, last.orelse):
            yield from _last_of(part) if part else ()
    elif isinstance(last, ast.Try) and not last.finalbody:
        for part in (last.orelse or last.body, *[handler.body for handler in last.handlers]):
            yield from _last_of(part)


def _is_difference(node: ast.expr) -> bool:
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub)


def _is_even(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, int | float) and node.value % 2 == 0


def _name_of(function: ast.expr) -> str:
    return function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")


def _has_one_element(node: ast.expr) -> bool:
    """Return whether an expression is a list display of at most one element."""
    return isinstance(node, ast.List) and len(node.elts) < 2 and not any(isinstance(e, ast.Starred) for e in node.elts)


def _functions(tree: ast.Module) -> Iterator[tuple[str, list[ast.AST]]]:
    """The functions of a module and its classes by qualified name, with the nodes of their bodies that may change."""
    waiting: list[tuple[str, ast.AST]] = [("", tree)]
    while waiting:
        prefix, parent = waiting.pop()
        for child in ast.iter_child_nodes(parent):
            if isinstance(child, ast.ClassDef):
                waiting.append((f"{prefix}{child.name}.", child))
            elif isinstance(child, ast.FunctionDef) and child.name not in ("__repr__", "__str__"):
                yield prefix + child.name, [node for statement in child.body for node in _changeable(statement)]


def _changeable(node: ast.AST) -> Iterator[ast.AST]:
    """A statement and what is in it, but for texts, annotations and messages of errors."""
    if isinstance(node, ast.Raise | ast.Assert | ast.JoinedStr | ast.Import | ast.ImportFrom | ast.pattern):
        return
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return
    yield node
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "args") and not isinstance(node, ast.Call):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from _changeable(child)


def _with(node: ast.AST, **fields: object) -> ast.AST:
    new = deepcopy(node)
    for name, value in fields.items():
        setattr(new, name, value)
    return new


def _changes(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """The kinds of faults that a node can have, with what takes its place."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        yield "comparison", _with(node, ops=[COMPARISONS[type(node.ops[0])]()])
    elif isinstance(node, ast.BoolOp):
        for k in range(len(node.values)):
            rest = node.values[:k] + node.values[k + 1 :]
            yield "dropped condition", rest[0] if len(rest) == 1 else _with(node, values=rest)
        yield "and for or", _with(node, op=ast.And() if isinstance(node.op, ast.Or) else ast.Or())
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub):
        if not isinstance(node.operand, ast.Constant):
            yield "dropped not or sign", node.operand
    elif isinstance(node, ast.BinOp):
        if type(node.op) in ARITHMETIC and not _is_text(node):
            yield "other operator", _with(node, op=ARITHMETIC[type(node.op)]())
        if isinstance(node.op, ORDERED) and not _is_text(node):
            yield "swapped operands", _with(node, left=node.right, right=node.left)
    elif isinstance(node, ast.Constant):
        yield from _other_constants(node)
    elif isinstance(node, ast.Call):
        yield from _other_calls(node)
    elif isinstance(node, ast.IfExp):
        yield "swapped branches", _with(node, body=node.orelse, orelse=node.body)
    elif isinstance(node, ast.comprehension) or not isinstance(node, ast.stmt):
        return
    else:
        yield from _other_statements(node)


def _is_text(node: ast.BinOp) -> bool:
    """Return whether an operand is a text, list or tuple."""
    parts = [node.left, node.right]
    return any(isinstance(p, ast.JoinedStr | ast.List | ast.Tuple | ast.ListComp) for p in parts) or any(
        isinstance(p, ast.Constant) and isinstance(p.value, str | bytes) for p in parts
    )


def _other_constants(node: ast.Constant) -> Iterator[tuple[str, ast.AST]]:
    if isinstance(node.value, bool):
        yield "constant", ast.Constant(not node.value)
    elif isinstance(node.value, int):
        yield "off by one", ast.Constant(node.value + 1)
    elif isinstance(node.value, float):
        yield "constant", ast.Constant(node.value * 2 or 1.0)


def _other_calls(node: ast.Call) -> Iterator[tuple[str, ast.AST]]:
    name = _name_of(node.func)
    if name in EXCHANGED:
        func = _with(node.func, **{"id" if isinstance(node.func, ast.Name) else "attr": EXCHANGED[name]})
        yield "min for max, any for all", _with(node, func=func)
    if name in DROPPED and len(node.args) == 1 and not node.keywords:
        yield "dropped call", node.args[0]
    if name in EMPTIED and isinstance(node.func, ast.Name) and node.args:
        yield "emptied collection", _with(node, args=[], keywords=[])


def _other_statements(node: ast.stmt) -> Iterator[tuple[str, ast.AST]]:
    if isinstance(node, ast.Expr | ast.AugAssign):
        yield "removed statement", ast.Pass()
    elif isinstance(node, ast.Assign) and not any(isinstance(t, ast.Name | ast.Tuple) for t in node.targets):
        yield "removed statement", ast.Pass()
    elif isinstance(node, ast.Continue | ast.Break):
        yield "dropped early exit", ast.Pass()
    elif isinstance(node, ast.Return) and node.value is not None:
        # None and False are the same to who asks; that a constant is another one is a fault of its own.
        if not (isinstance(node.value, ast.Constant) and node.value.value in (None, False)):
            yield "dropped result", _with(node, value=ast.Constant(None))
    elif isinstance(node, ast.If):
        ends = isinstance(node.body[-1], ast.Return | ast.Continue | ast.Break)
        if ends and not node.orelse:
            yield "dropped early exit", ast.Pass()
        elif not node.orelse:
            yield "dropped condition", ast.Constant(True)  # in place of the test alone
