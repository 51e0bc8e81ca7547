"""Translation of typed functions to LLVM IR.

Values are in SSA form.  Assignments rebind names; where paths of control flow meet, names with different values get
phis.  At the head of a loop, each name that the loop assigns gets one.

Where a function returns the result of another one with the same types of parameters, this is a tail call, which needs
no stack.
"""

from __future__ import annotations

import ast
import functools
import linecache
from collections.abc import Callable, Iterator, Sequence
from types import ModuleType
from typing import Any

from aesara.ir.definitions import FunctionDefinition, FunctionParameter
from aesara.ir.instructions import Value
from aesara.ir.typed.function import CFunction, ConstantArray, GlobalVariable, TypedFunction
from aesara.ir.typed.types import (
    BOOL,
    FLOAT32,
    FLOAT64,
    INT32,
    INT64,
    FloatType,
    FunctionField,
    FunctionType,
    InlineType,
    IntType,
    PointerType,
    StructType,
    TupleType,
    ValueType,
    VectorType,
    llvm_type,
    type_of_annotation,
)
from aesara.ir.typed.values import TypedPythonError, TypedValue, ValueWriter, is_float
from aesara.records import dataclass

__all__ = ["Operation", "Translation", "translate", "translations"]


class Operation:
    """An operation that Python has no syntax for.

    Parameters
    ----------
    reference
        Python function that does the same.
    emit
        Function that emits it, of a `ValueWriter` and the arguments: typed values, Python's numbers, or types.
    """

    def __init__(self, reference: Callable[..., Any], emit: Callable[..., TypedValue | None]) -> None:
        self.reference, self.emit = reference, emit
        self.__name__, self.__doc__ = reference.__name__, reference.__doc__

    def __call__(self, *arguments: Any) -> Any:
        return self.reference(*arguments)


@dataclass(eq=False)
class Translation:
    """LLVM IR of a function.

    Attributes
    ----------
    definition
        Its definition.
    functions
        The typed functions that it calls.
    externals
        The C functions that it calls.
    declarations
        Declarations and definitions of other names in its text, by name.
    """

    definition: FunctionDefinition
    functions: dict[TypedFunction, None]
    externals: dict[str, None]
    declarations: dict[str, str]


@functools.lru_cache(maxsize=512)
def translate(function: TypedFunction) -> Translation:
    """Translate a typed function, once per process.

    Raises
    ------
    TypedPythonError
        If it is no typed Python; the message has the place.

    Examples
    --------
    >>> from aesara.ir.draws.pcg64 import advance
    >>> print(translate(advance).definition.text())
    define internal i128 @pcg64.advance(i128 %state, i128 %increment) alwaysinline nounwind {
    entry:
    %t.1 = mul i128 %state, 47026247687942121848144207491837523525
    %t.2 = add i128 %t.1, %increment
    ret i128 %t.2
    }
    """
    return _Translator(function).translation()


def translations(*functions: TypedFunction) -> dict[TypedFunction, Translation]:
    """Translate functions and those that they call, which come first."""
    found: dict[TypedFunction, Translation] = {}

    def visit(function: TypedFunction) -> None:
        if function not in found:
            translation = translate(function)
            for called in translation.functions:
                if called is not function:
                    visit(called)
            found[function] = translation

    for function in functions:
        visit(function)
    return found


def _parse(function: TypedFunction) -> tuple[ast.FunctionDef, int]:
    """Return the definition of a function, and the number of lines of its file before those that were parsed.

    Lines after its head belong to it as long as they are indented: to parse the whole file would take twice as long.
    """
    code = function.function.__code__
    lines = linecache.getlines(code.co_filename)[code.co_firstlineno - 1 :]
    heads = (k for k, line in enumerate(lines) if line.rstrip().endswith(":"))
    end = next(heads, len(lines) - 1) + 1
    indent = len(lines[0]) - len(lines[0].lstrip()) if lines else 0
    while end < len(lines) and (not lines[end][: indent + 1].strip() or lines[end].lstrip().startswith("#")):
        end += 1
    text = "".join(lines[:end])
    try:
        (body,) = ast.parse(f"if True:\n{text}" if indent else text).body
    except (SyntaxError, ValueError):
        raise TypedPythonError(
            f"the source of {function!r} is not available, or has a line with less indentation than the function"
        ) from None
    definition = body.body[0] if isinstance(body, ast.If) else body
    assert isinstance(definition, ast.FunctionDef)
    return definition, code.co_firstlineno - (2 if indent else 1)


Environment = dict[str, Any]
#: a way by which control reaches a block: the block that it comes from, and the values of names there
Edge = tuple[str, Environment]


#: types of values in traced functions, by their name in LLVM IR
_TRACED = {kind.llvm: kind for kind in (BOOL, INT32, INT64, FLOAT32, FLOAT64)}


def _traced_type(kind: str) -> ValueType:
    """Return a type by its name in LLVM IR."""
    if kind in _TRACED:
        return _TRACED[kind]
    lanes, _, element = kind[1:-1].partition(" x ")
    return VectorType(_TRACED[element], int(lanes))


class _Loop:
    """The loop around a statement: the ways to its end and to its next iteration."""

    def __init__(self, after: str, next_iteration: str) -> None:
        self.after, self.next_iteration = after, next_iteration
        self.breaks: list[Edge] = []
        self.continues: list[Edge] = []


class _Translator(ValueWriter):
    """Translates one function."""

    def __init__(self, function: TypedFunction) -> None:
        super().__init__(function.function.__code__.co_filename, function.__name__)
        self.function, self.names = function, function.names
        #: values of local names; None in code that is never reached
        self.environment: Environment | None = {
            name: TypedValue(kind, f"%{name}") for name, kind in function.parameters.items()
        }
        self.loops: list[_Loop] = []
        self.functions: dict[TypedFunction, None] = {}
        self.externals: dict[str, None] = {}
        #: results, which are returned, of calls of functions of the same type
        self.returned_calls: set[str] = set()

    def translation(self) -> Translation:
        function = self.function
        source, self.lines_before = _parse(function)
        if "entry" in function.parameters:
            self.refuse("`entry` is the name of the first block; give the parameter another name")
        self._block(source.body)
        if self.environment is not None:
            if function.result is not None:
                self.refuse("the function may end without a result")
            self.writer.add("ret void")
        self._mark_tail_calls()
        parameters = [
            FunctionParameter(kind.llvm, f"%{name}", tuple(function.parameter_attributes.get(name, "").split()))
            for name, kind in function.parameters.items()
        ]
        definition = FunctionDefinition(
            f"@{function.symbol}",
            llvm_type(function.result),
            parameters,
            function.attributes,
            ["entry:", *self.stack, *self.writer.lines],
            function.linkage,
        )
        return Translation(definition, self.functions, self.externals, self.declarations)

    # -- statements ------------------------------------------------------------------------------------------

    def _block(self, statements: Sequence[ast.stmt]) -> None:
        for statement in statements:
            if self.environment is None:
                self.line = statement.lineno
                self.refuse("the statement is never reached")
            self._statement(statement)

    def _statement(self, statement: ast.stmt) -> None:
        self.line = statement.lineno
        match statement:
            case ast.Assign(targets=[target], value=value):
                self._assign(target, self._expression(value))
            case ast.AnnAssign(target=ast.Name() as target, annotation=annotation, value=value) if value:
                kind = type_of_annotation(self._static(annotation))
                self._assign(target, self.cast(kind, self._expression(value)))
            case ast.AugAssign(target=target, op=op, value=value):
                self._assign(target, self.binary(op, self._expression(target), self._expression(value)))
            case ast.If(test=test, body=body, orelse=otherwise):
                self._if(test, body, otherwise)
            case ast.While(test=test, body=body, orelse=[]):
                self._loop(body, test)
            case ast.For(target=ast.Name(id=name), iter=ast.Call() as call, body=body, orelse=[]):
                self._for(name, call, body)
            case ast.Break():
                self._leave(self.loops[-1].breaks, self.loops[-1].after)
            case ast.Continue():
                self._leave(self.loops[-1].continues, self.loops[-1].next_iteration)
            case ast.Return(value=value):
                self._return(value)
            case ast.Expr(value=ast.Constant()) | ast.Pass():
                pass
            case ast.Expr(value=ast.Call() as call):
                self._call(call)
            case _:
                self.refuse(f"typed Python has no such statement: {ast.unparse(statement)}")

    def _leave(self, edges: list[Edge], label: str) -> None:
        assert self.environment is not None
        edges.append((self.writer.block, self.environment))
        self.writer.jump(label)
        self.environment = None

    def _assign(self, target: ast.expr, value: Any) -> None:
        match target:
            case ast.Name(id=name):
                assert self.environment is not None
                before = self.environment.get(name)
                if isinstance(before, TypedValue):
                    value = self.like(before.type, value)
                self.environment[name] = value if isinstance(value, (TypedValue, tuple)) else self.as_value(value)
            case ast.Subscript(value=base, slice=index):
                pointer, kind = self.element(self._expression(base), self._expression(index))
                self.store(kind, value, pointer)
            case ast.Attribute(value=base, attr=name):
                address, field_type = self.field(self._expression(base), name)
                if field_type is None:
                    self.refuse(f"{name} is a function")
                self.store(field_type, value, address)
            case ast.Tuple(elts=targets):
                values = value if isinstance(value, tuple) else self._elements(value)
                if len(values) != len(targets):
                    self.refuse(f"{len(targets)} names for {len(values)} values")
                for one, part in zip(targets, values):
                    self._assign(one, part)
            case _:
                self.refuse(f"no assignment to {ast.unparse(target)}")

    def _elements(self, value: Any) -> Sequence[TypedValue]:
        if not (isinstance(value, TypedValue) and isinstance(value.type, TupleType)):
            self.refuse("the value is no tuple")
        kinds = value.type.elements
        return [self.emit(kind, f"extractvalue {value.argument}, {k}") for k, kind in enumerate(kinds)]

    def _return(self, value: ast.expr | None) -> None:
        result = self.function.result
        if result is None or value is None:
            if result is not None or value is not None:
                self.refuse(f"a result of type {result} is declared")
            self.writer.add("ret void")
        elif isinstance(result, TupleType) and isinstance(value, ast.Tuple):
            made = "undef"
            parts = [self.like(kind, self._expression(one)) for kind, one in zip(result.elements, value.elts)]
            for k, part in enumerate(parts):
                made = self.emit(result, f"insertvalue {result.llvm} {made}, {part.argument}, {k}").text
            self.writer.add(f"ret {result.llvm} {made}")
        else:
            returned = self.like(result, self._expression(value))
            if self._is_call_of_same_type(value):
                self.returned_calls.add(returned.text)
            self.writer.add(f"ret {returned.argument}")
        self.environment = None

    def _is_call_of_same_type(self, expression: ast.expr) -> bool:
        """Return whether an expression is a call of a function with the parameters and the result of this one."""
        if not (isinstance(expression, ast.Call) and isinstance(expression.func, ast.Name)):
            return False
        called = self.names.get(expression.func.id)
        if isinstance(called, TypedFunction):
            parameters = tuple(called.parameters.values())
        elif isinstance(called, CFunction):
            parameters = called.parameters
        else:
            return False
        if any(isinstance(kind, VectorType) for kind in parameters):
            return False  # Windows passes vectors by pointers to the stack
        own_parameters = self.function.parameters.values()
        is_same = [kind.llvm for kind in parameters] == [kind.llvm for kind in own_parameters]
        return is_same and called.result == self.function.result

    def _mark_tail_calls(self) -> None:
        """Reuse the stack frame for returned calls, unless they may get pointers to it."""
        lines = self.writer.lines
        if not self.returned_calls or self.stack or any(" = alloca " in line for line in lines):
            return
        for k, line in enumerate(lines):
            if line.partition(" = ")[0] in self.returned_calls:
                lines[k] = line.replace(" = call ", " = musttail call ", 1)

    def _if(self, test: ast.expr, body: Sequence[ast.stmt], otherwise: Sequence[ast.stmt]) -> None:
        static = self._static_truth(test)
        if static is not None:
            self._block(body if static else otherwise)
            return
        yes, no, after = map(self.writer.names.label, ("then", "else", "after"))
        end = no if otherwise else after
        into_yes, into_no = self._branch(test, yes, end)
        edges: list[Edge] = [] if otherwise else into_no
        for label, entering, statements in ((yes, into_yes, body), (no, into_no, otherwise)):
            if statements:
                self._meet(entering, label)
                self._block(statements)
                if self.environment is not None:
                    self._leave(edges, after)
        self._meet(edges, after)

    def _for(self, name: str, call: ast.Call, body: Sequence[ast.stmt]) -> None:
        if not (isinstance(call.func, ast.Name) and call.func.id == "range" and 1 <= len(call.args) <= 3):
            self.refuse("loops are over `range`")
        bounds = [self._expression(one) for one in call.args]
        step = bounds.pop() if len(bounds) == 3 else 1
        if not isinstance(step, int) or not step:
            self.refuse("the step of a range is a constant other than zero")
        end = bounds.pop()
        kind = next((b.type for b in (end, *bounds) if isinstance(b, TypedValue)), INT64)
        assert self.environment is not None
        # The name may be assigned in the body, and keeps its last value after the loop: count by another one.
        counter = f"{name}.counter"
        self.environment[counter] = self.like(kind, bounds[0] if bounds else 0)
        self.environment.setdefault(name, self.environment[counter])
        last = self.like(kind, end)

        def test(yes: str, no: str) -> tuple[list[Edge], list[Edge]]:
            assert self.environment is not None
            more = self.compare(ast.Lt if step > 0 else ast.Gt, self.environment[counter], last)
            return self._split(more, yes, no)

        def advance() -> None:
            assert self.environment is not None
            self.environment[counter] = self.binary(ast.Add(), self.environment[counter], step)

        def begin() -> None:
            assert self.environment is not None
            self.environment[name] = self.environment[counter]

        self._loop(body, test, [name, counter], begin, advance)
        if self.environment is not None:
            del self.environment[counter]

    def _loop(
        self,
        body: Sequence[ast.stmt],
        test: ast.expr | Callable[[str, str], tuple[list[Edge], list[Edge]]],
        assigned: Sequence[str] = (),
        begin: Callable[[], None] = lambda: None,
        advance: Callable[[], None] | None = None,
    ) -> None:
        """Emit a loop; `begin` and `advance` emit the beginning and the end of an iteration."""
        w = self.writer
        assert self.environment is not None
        head, inside, following, after = map(w.names.label, ("head", "body", "next", "after"))
        initial = {name: value for name, value in self.environment.items() if isinstance(value, TypedValue)}
        names = [name for name in dict.fromkeys([*assigned, *_assigned_names(body)]) if name in initial]
        before = w.block
        w.jump(head)
        w.begin(head)
        position = len(w.lines)
        phis = {name: TypedValue(initial[name].type, w.names.fresh()) for name in names}
        self.environment = {**initial, **phis}
        loop = _Loop(after, following if advance else head)
        self.loops.append(loop)
        if isinstance(test, ast.expr):
            endless = self._static_truth(test)
            if endless:
                w.jump(inside)
                into: list[Edge] = [(w.block, self.environment)]
                leaving: list[Edge] = []
            else:
                into, leaving = self._branch(test, inside, after)
        else:
            into, leaving = test(inside, after)
        self._meet(into, inside)
        begin()
        self._block(body)
        if self.environment is not None:
            self._leave(loop.continues, loop.next_iteration)
        edges = loop.continues
        if advance and edges:
            self._meet(edges, following)
            advance()
            edges = []
            self._leave(edges, head)
        incoming = [(before, initial), *edges]
        w.lines[position:position] = [
            f"{phi.text} = phi {phi.type.llvm} "
            + ", ".join(f"[{self.like(phi.type, values[name]).text}, %{block}]" for block, values in incoming)
            for name, phi in phis.items()
        ]
        self.loops.pop()
        self._meet([*leaving, *loop.breaks], after)

    def _meet(self, edges: Sequence[Edge], label: str) -> None:
        """Begin a block where paths meet; names that are set on all of them stay."""
        if not edges:
            self.environment = None
            return
        self.writer.begin(label)
        (_, first), *others = edges
        if not others:
            self.environment = first
            return
        environment: Environment = {}
        for name, value in first.items():
            if all(other.get(name) is value for _, other in others):
                environment[name] = value
                continue
            values = [value, *[other[name] for _, other in others if name in other]]
            if len(values) < len(edges) or not all(isinstance(v, TypedValue) for v in values):
                continue
            if any(v.type != value.type for v in values):
                self.refuse(f"{name} has values of types {', '.join(sorted({repr(v.type) for v in values}))}")
            if all(v.text == value.text for v in values):
                environment[name] = value
                continue
            incoming = ", ".join([f"[{v.text}, %{block}]" for v, (block, _) in zip(values, edges)])
            environment[name] = self.emit(value.type, f"phi {value.type.llvm} {incoming}")
        self.environment = environment

    # -- conditions ------------------------------------------------------------------------------------------

    def _branch(self, test: ast.expr, yes: str, no: str) -> tuple[list[Edge], list[Edge]]:
        """Branch by a condition; return the ways to both blocks."""
        match test:
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                into_no, into_yes = self._branch(operand, no, yes)
                return into_yes, into_no
            case ast.BoolOp(op=op, values=[*values]) if not all(map(_is_simple, values[1:])):
                is_and = isinstance(op, ast.And)
                into_yes, into_no = [], []
                for k, value in enumerate(values):
                    last = k == len(values) - 1
                    label = "" if last else self.writer.names.label("also" if is_and else "or")
                    on = (yes if last else label, no) if is_and else (yes, no if last else label)
                    some_yes, some_no = self._branch(value, *on)
                    if is_and or last:
                        into_no += some_no
                    if not is_and or last:
                        into_yes += some_yes
                    if not last:
                        self._meet(some_yes if is_and else some_no, label)
                return into_yes, into_no
        return self._split(self._truth(test), yes, no)

    def _split(self, condition: TypedValue, yes: str, no: str) -> tuple[list[Edge], list[Edge]]:
        environment = self.environment
        assert environment is not None
        block = self.writer.block
        self.writer.branch(condition.text, yes, no)
        self.environment = None
        return [(block, dict(environment))], [(block, dict(environment))]

    def _truth(self, test: ast.expr) -> TypedValue:
        return self.like(BOOL, self._expression(test))

    def _static_truth(self, test: ast.expr) -> bool | None:
        """Return the value of a condition of constants, None for others."""
        if not self._is_static(test):
            return None
        value = self._expression(test)
        return value if isinstance(value, bool) else None

    def _is_static(self, expression: ast.expr) -> bool:
        """Return whether an expression has no local names, calls and loads."""
        match expression:
            case ast.Constant():
                return True
            case ast.Name(id=name):
                return name not in (self.environment or {})
            case ast.BoolOp(values=parts):
                return all(map(self._is_static, parts))
            case ast.Compare(left=left, comparators=others):
                return self._is_static(left) and all(map(self._is_static, others))
            case ast.UnaryOp(operand=operand):
                return self._is_static(operand)
            case ast.BinOp(left=left, right=right):
                return self._is_static(left) and self._is_static(right)
        return False

    def _choose(self, test: ast.expr, yes: ast.expr, no: ast.expr) -> Any:
        """Return a conditional expression."""
        static = self._static_truth(test)
        if static is not None:
            return self._expression(yes if static else no)
        if _is_simple(yes) and _is_simple(no):
            condition = self._truth(test)
            return self.select(condition, self._expression(yes), self._expression(no))
        return self._choose_by_branches(test, yes, no)

    def _choose_by_branches(self, test: ast.expr, yes: ast.expr, no: ast.expr) -> TypedValue:
        """Return a conditional expression of which only one side is evaluated."""
        labels = [self.writer.names.label(stem) for stem in ("then", "else")]
        after = self.writer.names.label("after")
        ways = self._branch(test, *labels)
        values: list[Any] = []
        edges: list[Edge] = []
        for label, entering, expression in zip(labels, ways, (yes, no)):
            self._meet(entering, label)
            values.append(self._expression(expression))
            self._leave(edges, after)
        self._meet(edges, after)
        kind = next((v.type for v in values if isinstance(v, TypedValue)), None)
        parts = [self.like(kind, v) if kind else self.as_value(v) for v in values]
        incoming = ", ".join(f"[{v.text}, %{block}]" for v, (block, _) in zip(parts, edges))
        return self.emit(parts[0].type, f"phi {parts[0].type.llvm} {incoming}")

    # -- expressions -----------------------------------------------------------------------------------------

    def _expression(self, expression: ast.expr) -> Any:
        """Return an operand, or a Python object for constants, types and functions."""
        self.line = expression.lineno
        match expression:
            case ast.Name(id=name):
                return self._name(name)
            case ast.Constant(value=value):
                return value
            case ast.Attribute(value=base, attr=name):
                on = self._expression(base)
                if isinstance(on, ModuleType):
                    return getattr(on, name)
                address, field_type = self.field(on, name)
                if field_type is None:
                    self.refuse(f"{name} is a function, which can only be called")
                if isinstance(field_type, InlineType):
                    return TypedValue(PointerType(field_type.target), address)
                return self.load(field_type, address)
            case ast.Call():
                result = self._call(expression)
                if result is None:
                    self.refuse(f"{ast.unparse(expression)} has no result")
                return result
            case ast.Subscript(value=base, slice=index):
                on = self._expression(base)
                if not isinstance(on, (TypedValue, ConstantArray)):
                    return on[self._static(index)]
                pointer, kind = self.element(on, self._expression(index))
                return self.load(kind, pointer)
            case ast.BinOp(left=left, op=op, right=right):
                return self.binary(op, self._expression(left), self._expression(right))
            case ast.UnaryOp(op=op, operand=operand):
                return self.unary(op, self._expression(operand))
            case ast.Compare(left=left, ops=ops, comparators=comparators):
                operands = [self._expression(one) for one in (left, *comparators)]
                tests = [self.compare(type(op), a, b) for op, a, b in zip(ops, operands, operands[1:])]
                return functools.reduce(lambda a, b: self.binary(ast.BitAnd(), a, b), tests)
            case ast.BoolOp(op=op, values=values):
                if all(map(_is_simple, values[1:])):
                    bitwise = ast.BitAnd() if isinstance(op, ast.And) else ast.BitOr()
                    parts = [self._expression(one) for one in values]
                    return functools.reduce(lambda a, b: self.binary(bitwise, a, b), parts)
                true, false = (ast.Constant(value, lineno=self.line) for value in (True, False))
                return self._choose_by_branches(expression, true, false)
            case ast.Tuple(elts=elements):
                return tuple(self._expression(one) for one in elements)
            case ast.IfExp(test=test, body=yes, orelse=no):
                return self._choose(test, yes, no)
        self.refuse(f"typed Python has no such expression: {ast.unparse(expression)}")

    def _static(self, expression: ast.expr) -> Any:
        value = self._expression(expression)
        if isinstance(value, TypedValue):
            self.refuse(f"{ast.unparse(expression)} is no constant")
        return value

    def _name(self, name: str) -> Any:
        if self.environment is not None and name in self.environment:
            return self.environment[name]
        if name in self.names:
            return self._global(self.names[name])
        builtins = {"min": min, "max": max, "abs": abs, "None": None}
        if name in builtins:
            return builtins[name]
        self.refuse(f"{name} has no value here on every path")

    def _global(self, value: Any) -> Any:
        if isinstance(value, GlobalVariable):
            self.declarations[f"@{value.symbol}"] = value.declaration
            return TypedValue(value.pointer, f"@{value.symbol}")
        if isinstance(value, ConstantArray):
            self.declarations[f"@{value.symbol}"] = value.definition
            return TypedValue(value.pointer, f"@{value.symbol}")
        return value

    # -- calls -----------------------------------------------------------------------------------------------

    def _call(self, call: ast.Call) -> Any:
        if call.keywords:
            self.refuse("arguments have no names")
        if isinstance(call.func, ast.Attribute):
            on = self._expression(call.func.value)
            if isinstance(on, TypedValue):
                return self._call_field(on, call.func.attr, [self._expression(one) for one in call.args])
            function = getattr(on, call.func.attr)
        else:
            function = self._expression(call.func)
        arguments = [self._expression(one) for one in call.args]
        self.line = call.lineno
        if isinstance(function, TypedFunction):
            self.functions[function] = None
            return self.call(f"@{function.symbol}", function.result, tuple(function.parameters.values()), arguments)
        if isinstance(function, CFunction):
            self.externals[function.symbol] = None
            self.declarations[f"@{function.symbol}"] = function.declaration
            return self.call(f"@{function.symbol}", function.result, function.parameters, arguments)
        if isinstance(function, Operation):
            return function.emit(self, *arguments)
        if isinstance(function, (IntType, FloatType)):
            (value,) = arguments
            return self.cast(function, value)
        if function is min or function is max:
            comparison = ast.Lt if function is min else ast.Gt
            return functools.reduce(lambda a, b: self.extreme(comparison, a, b), arguments)
        if function is abs:
            (value,) = arguments
            if is_float(value.type):
                return self.intrinsic("fabs", value)
            return self.select(self.compare(ast.Lt, value, 0), self.binary(ast.Sub(), 0, value), value)
        if callable(function):
            return self._trace(function, arguments)
        self.refuse(f"{ast.unparse(call.func)} is no typed function")

    def _trace(self, function: Callable[..., Any], arguments: Sequence[Any]) -> Any:
        """Call an ordinary Python function that only calculates, with values whose operators emit instructions."""

        def to_value(argument: Any) -> Any:
            if isinstance(argument, tuple):
                return tuple(map(to_value, argument))
            if not isinstance(argument, TypedValue):
                return argument
            kind = argument.type.element if isinstance(argument.type, VectorType) else argument.type
            if kind not in _TRACED.values():
                self.refuse(f"a traced function takes signed integers and floats, not {argument.type!r}")
            return Value(self.writer, argument.type.llvm, argument.text)

        def to_operand(result: Any) -> Any:
            if isinstance(result, tuple):
                return tuple(map(to_operand, result))
            return TypedValue(_traced_type(result.kind), result.name) if isinstance(result, Value) else result

        return to_operand(function(*map(to_value, arguments)))

    def _call_field(self, base: TypedValue, name: str, arguments: list[Any]) -> TypedValue | None:
        """Call the function in a field."""
        field = getattr(base.type.cls, name, None) if isinstance(base.type, StructType) else None
        if not isinstance(field, FunctionField):
            self.refuse(f"{name} is no function of {base.type}")
        pointer = self.emit(PointerType(), f"load ptr, ptr {self.address(base, field.offset)}", "x")
        signature: FunctionType = field.function
        return self.call(pointer.text, signature.result, signature.parameters, arguments)


def _is_simple(expression: ast.expr) -> bool:
    """Return whether an expression may be evaluated where its value is not used: no calls, loads and divisions."""
    return not any(
        isinstance(node, (ast.Call, ast.Subscript, ast.Attribute, ast.FloorDiv, ast.Mod))
        for node in ast.walk(expression)
    )


def _assigned_names(statements: Sequence[ast.stmt]) -> Iterator[str]:
    """Yield the names that statements assign."""
    for statement in statements:
        match statement:
            case ast.Assign(targets=[target]) | ast.AugAssign(target=target) | ast.AnnAssign(target=target):
                yield from _target_names(target)
            case ast.If(body=body, orelse=otherwise):
                yield from _assigned_names([*body, *otherwise])
            case ast.While(body=body):
                yield from _assigned_names(body)
            case ast.For(target=target, body=body):
                yield from (*_target_names(target), *_assigned_names(body))


def _target_names(target: ast.expr) -> Iterator[str]:
    if isinstance(target, ast.Name):
        yield target.id
    elif isinstance(target, ast.Tuple):
        for element in target.elts:
            yield from _target_names(element)
