"""Translation of the source of routines (`aesara.scalar.routine`) to scalar functions of the loop IR.

Names are mutable scalars.  A name that is first set inside a block is local to it, unless both branches of an `if` set
it.  If a branch of an `if` returns, the statements after the `if` are moved into the other branch.
"""

from __future__ import annotations

import ast
import builtins
import functools
import inspect
import operator
import textwrap
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn

from aesara.ir.expr import Expr, cast, const, on_clear, op, var
from aesara.ir.function import ScalarFunction
from aesara.ir.kernel import Assign, Declare, If, ScalarParam, Statement, While
from aesara.ir.routines.special import special
from aesara.lower.errors import Unsupported
from aesara.scalar.native import Special
from aesara.scalar.routine import FloatRoutine, Known

__all__ = ["RoutineError", "Traced", "scalar_function"]

_FLOAT = "float64"


class RoutineError(TypeError):
    """The source of a routine has an unsupported construct."""


@functools.lru_cache(maxsize=1024)
def scalar_function(routine: FloatRoutine) -> ScalarFunction:
    """Translate a routine to a function of the loop IR.

    Raises
    ------
    RoutineError
        If its source has an unsupported construct.
    Unsupported
        If there is no source, as in a frozen application.
    """
    function = routine.function
    try:
        statements = ast.parse(textwrap.dedent(inspect.getsource(function))).body
    except (OSError, TypeError, SyntaxError):
        statements = []
    # For code that was executed from a text, Python 3.13 may return the program of `python -c`.
    match statements:
        case [ast.FunctionDef() as definition]:
            return _Translator(routine, definition).function()
    raise Unsupported(f"the source of routine {routine.name} is not available")


on_clear(scalar_function.cache_clear)


class Traced:
    """The symbolic value of an expression during translation; operators build expressions."""

    __slots__ = ("expr",)

    def __init__(self, expr: Expr):
        self.expr = expr

    def __bool__(self) -> NoReturn:
        raise RoutineError("a Python function that a routine calls cannot decide by a value; use `where` there")

    @staticmethod
    def traced_call(function: Known | FloatRoutine, *values: Any) -> Traced:
        """Return the value of a function that routines may call."""
        arguments = list(map(_expr, values))
        if isinstance(function, FloatRoutine):
            return Traced(scalar_function(function)(*arguments))
        native = function.native
        if isinstance(native, Special):
            return Traced(special(native.name, len(arguments))(*arguments))
        return Traced(op(native.name, *arguments))


def _expr(value: Any) -> Expr:
    if isinstance(value, Traced):
        return value.expr
    if isinstance(value, bool):
        return const(value, "bool")
    if isinstance(value, (int, float)):
        return const(float(value), _FLOAT)
    raise RoutineError(f"{value!r} is no number")


def _apply(primitive: str, *values: Any) -> Traced:
    return Traced(op(primitive, *map(_expr, values)))


def _method(primitive: str, reflected: bool = False) -> Callable[[Traced, Any], Traced]:
    if reflected:
        return lambda self, other: _apply(primitive, other, self)
    return lambda self, other: _apply(primitive, self, other)


for _name, _primitive in (
    ("add", "add"), ("sub", "sub"), ("mul", "mul"), ("truediv", "div"), ("floordiv", "intdiv"), ("mod", "mod"),
    ("pow", "pow"),
):  # fmt: skip
    setattr(Traced, f"__{_name}__", _method(_primitive))
    setattr(Traced, f"__r{_name}__", _method(_primitive, reflected=True))
for _name in ("lt", "le", "gt", "ge", "eq", "ne"):
    setattr(Traced, f"__{_name}__", _method(_name))
for _name in ("neg", "abs"):
    setattr(Traced, f"__{_name}__", lambda self, primitive=_name: _apply(primitive, self))
Traced.__hash__ = None  # type: ignore[assignment]

_BINARY: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}
_COMPARE = {ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge", ast.Eq: "eq", ast.NotEq: "ne"}


def _select(condition: Any, yes: Any, no: Any) -> Traced:
    return _apply("select", condition, yes, no)


def _extreme(comparison: str) -> Callable[..., Any]:
    """Return Python's `min` or `max`: the first extreme value."""
    return lambda *values: functools.reduce(lambda a, b: _select(_apply(comparison, b, a), b, a), values)


_BUILTINS: dict[Any, Callable[..., Any]] = {
    builtins.abs: abs,
    builtins.min: _extreme("lt"),
    builtins.max: _extreme("gt"),
    builtins.float: lambda value: Traced(cast(_expr(value), _FLOAT)),
}


class _Translator:
    """Translates one routine; `body` collects the statements of the current block."""

    def __init__(self, routine: FloatRoutine, definition: ast.FunctionDef):
        self.routine, self.definition = routine, definition
        self.first_line = routine.function.__code__.co_firstlineno
        closure = inspect.getclosurevars(routine.function)
        self.outside = {**closure.builtins, **closure.globals, **closure.nonlocals}
        self.known: dict[str, str] = {}
        self.body: list[Statement] = []
        self.count = 0
        self.in_loop = False

    def fail(self, node: ast.AST, problem: str) -> NoReturn:
        line = self.first_line + getattr(node, "lineno", 1) - 1
        where = f"{self.routine.function.__code__.co_filename}, line {line}"
        raise RoutineError(f"Routine {self.routine.name}: {problem} ({where}).")

    def function(self) -> ScalarFunction:
        changed = {n.id for n in ast.walk(self.definition) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        parameters = []
        for name in self.routine.parameters:
            parameters.append(ScalarParam(name if name not in changed else f"{name}.given", _FLOAT))
            self.known[name] = _FLOAT
            if name in changed:
                self.body.append(Declare(name, var(parameters[-1].name, _FLOAT)))
        statements = [s for s in self.definition.body if not _is_docstring(s)]
        *before, last = statements
        returns = sum(isinstance(n, ast.Return) for n in ast.walk(self.definition))
        if returns == 1 and isinstance(last, ast.Return):
            self.block(before)
            result = self.float_value(last)
        else:
            self.body.append(Declare("result", const(0.0, _FLOAT)))
            if not self.block(statements):
                self.fail(last, "it may end without a return")
            result = var("result", _FLOAT)
        return ScalarFunction(self.routine.name, tuple(parameters), tuple(self.body), result)

    # -- statements ------------------------------------------------------------------------------------------

    def block(self, statements: Sequence[ast.stmt]) -> bool:
        """Translate statements to the current body; return whether they always return."""
        for k, statement in enumerate(statements):
            if isinstance(statement, ast.Return):
                if self.in_loop:
                    self.fail(statement, "a loop cannot be left by return; let its condition end it")
                self.body.append(Assign("result", self.float_value(statement)))
                return True
            if isinstance(statement, ast.If):
                following = statements[k + 1 :] if _may_return(statement) else ()
                if self.branch(statement, following):
                    return True
                if following:
                    return False
            else:
                self.simple(statement)
        return False

    def branch(self, statement: ast.If, following: Sequence[ast.stmt]) -> bool:
        """Translate an `if`; if it may return, the `rest` of the block is moved into its branches."""
        condition = self.condition(statement.test)
        if not statement.orelse and not following:
            with self.inner() as body:
                self.block(statement.body)
            self.body.append(If(condition, tuple(body)))
            return False
        saved = self.fresh("taken")
        self.body.append(Declare(saved, condition))
        ends, bodies, names = [], [], []
        for part in (statement.body, statement.orelse):
            with self.inner() as body:
                ends.append(self.block([*part, *following]))
                names.append(self.known)
            bodies.append(body)
        for name in sorted(names[0].keys() & names[1].keys() - self.known.keys()):
            if names[0][name] == names[1][name]:  # set in both branches, so it is visible after them
                self.known[name] = names[0][name]
                self.body.append(Declare(name, const(0, names[0][name])))
                bodies = [[_declaration_to_assignment(name, s) for s in body] for body in bodies]
        is_true = var(saved, "bool")
        self.body += [If(is_true, tuple(bodies[0])), If(~is_true, tuple(bodies[1]))]
        return all(ends)

    def simple(self, statement: ast.stmt) -> None:
        if isinstance(statement, ast.While) and not statement.orelse:
            outer, self.in_loop = self.in_loop, True
            condition = self.condition(statement.test)
            with self.inner() as body:
                self.block(statement.body)
            self.in_loop = outer
            self.body.append(While(condition, tuple(body)))
        elif isinstance(statement, ast.Assign):
            for target in statement.targets:
                self.assign(target, self.value(statement.value))
        elif isinstance(statement, ast.AugAssign) and type(statement.op) in _BINARY:
            old = ast.copy_location(ast.Name(getattr(statement.target, "id", ""), ast.Load()), statement)
            self.assign(statement.target, _BINARY[type(statement.op)](self.value(old), self.value(statement.value)))
        elif not isinstance(statement, ast.Pass):
            self.fail(statement, f"it holds a statement that routines cannot have, {type(statement).__name__}")

    def assign(self, target: ast.expr, value: Any) -> None:
        if isinstance(target, ast.Tuple):
            if not isinstance(value, tuple) or len(value) != len(target.elts):
                self.fail(target, f"{len(target.elts)} names cannot be set to {value!r}")
            temporaries = []
            for element in value:  # compute all values before the first name changes
                temporaries.append(self.fresh("value"))
                self.body.append(Declare(temporaries[-1], _expr(element)))
            for name, temporary, element in zip(target.elts, temporaries, value, strict=True):
                self.assign(name, Traced(var(temporary, _expr(element).dtype)))
            return
        if not isinstance(target, ast.Name):
            self.fail(target, "only names can be assigned to")
        expr = _expr(value)
        if self.known.get(target.id, expr.dtype) != expr.dtype:
            self.fail(target, f"{target.id} is {self.known[target.id]}, and is set to {expr.dtype}")
        kind = Assign if target.id in self.known else Declare
        self.known[target.id] = expr.dtype
        self.body.append(kind(target.id, expr))

    @contextmanager
    def inner(self) -> Iterator[list[Statement]]:
        """Open a block; names that are first set there are local to it."""
        known, body = self.known, self.body
        self.known, self.body = dict(known), []
        yield self.body
        self.known, self.body = known, body

    def fresh(self, stem: str) -> str:
        self.count += 1
        return f"{stem}.{self.count}"

    # -- expressions -----------------------------------------------------------------------------------------

    def float_value(self, statement: ast.Return) -> Expr:
        value = _expr(self.value(statement.value)) if statement.value is not None else None
        if value is None or value.dtype != _FLOAT:
            self.fail(statement, "it must return a number")
        return value

    def condition(self, node: ast.expr) -> Expr:
        value = _expr(self.value(node))
        if value.dtype != "bool":
            self.fail(node, "a condition must be a comparison")
        return value

    def value(self, node: ast.expr) -> Any:
        """Evaluate an expression to a number, a `Traced`, a tuple of these, or a Python object."""
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Name):
            return self.name(node)
        if isinstance(node, ast.Attribute) and inspect.ismodule(module := self.value(node.value)):
            return getattr(module, node.attr)
        if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
            return _BINARY[type(node.op)](self.value(node.left), self.value(node.right))
        if isinstance(node, ast.UnaryOp):
            return self.unary(node)
        if isinstance(node, ast.BoolOp):
            kind = "and" if isinstance(node.op, ast.And) else "or"
            return Traced(functools.reduce(functools.partial(op, kind), map(self.condition, node.values)))
        if isinstance(node, ast.Compare):
            return self.comparison(node)
        if isinstance(node, ast.IfExp):
            return _select(Traced(self.condition(node.test)), self.value(node.body), self.value(node.orelse))
        if isinstance(node, ast.Tuple):
            return tuple(map(self.value, node.elts))
        if isinstance(node, ast.Call) and not node.keywords:
            return self.call(node)
        self.fail(node, f"it holds an expression that routines cannot have, {type(node).__name__}")

    def name(self, node: ast.Name) -> Any:
        if node.id in self.known:
            return Traced(var(node.id, self.known[node.id]))
        if node.id in self.outside:
            return self.outside[node.id]
        self.fail(node, f"{node.id} has no value here; what is first set in a block is known in that block only")

    def unary(self, node: ast.UnaryOp) -> Any:
        if isinstance(node.op, ast.Not):
            return Traced(~self.condition(node.operand))
        value = self.value(node.operand)
        return -value if isinstance(node.op, ast.USub) else value

    def comparison(self, node: ast.Compare) -> Traced:
        values = [self.value(operand) for operand in (node.left, *node.comparators)]
        parts = []
        for kind, left, right in zip(node.ops, values, values[1:], strict=False):
            if type(kind) not in _COMPARE:
                self.fail(node, "numbers are compared by < <= > >= == and != only")
            parts.append(_apply(_COMPARE[type(kind)], left, right).expr)
        return Traced(functools.reduce(functools.partial(op, "and"), parts))

    def call(self, node: ast.Call) -> Any:
        function = self.value(node.func)
        arguments = [self.value(argument) for argument in node.args]
        if isinstance(function, (Known, FloatRoutine)):
            return Traced.traced_call(function, *arguments)
        if function in _BUILTINS:
            return _BUILTINS[function](*arguments)
        if not inspect.isfunction(function):
            self.fail(node, f"it calls {ast.unparse(node.func)}, which is no routine and no known function")
        return function(*arguments)


def _declaration_to_assignment(name: str, statement: Statement) -> Statement:
    """Replace the declaration of a name with an assignment."""
    if isinstance(statement, Declare) and statement.name == name:
        return Assign(name, statement.value)
    return statement


def _is_docstring(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _may_return(statement: ast.stmt) -> bool:
    return any(isinstance(node, ast.Return) for node in ast.walk(statement))
