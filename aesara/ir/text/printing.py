"""Printer of kernels and programs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from aesara.ir.buffers import Buffer
from aesara.ir.expr import COMPARISONS, INDEX, Expr
from aesara.ir.function import ScalarFunction, functions_below
from aesara.ir.kernel import (
    Assign,
    BufferParam,
    Declare,
    For,
    If,
    Kernel,
    ScalarParam,
    Statement,
    Store,
    While,
    expressions_of,
    walk_statements,
)
from aesara.ir.text.syntax import BITWISE, SIGNS, format_name

__all__ = ["StepWriter", "print_function", "print_kernel"]

_ATOM = 9
#: length from which a subexpression gets a line of its own
_LONG = 88
_WIDTH = 108
_TAB = "    "


def _literal(value: object, dtype: str) -> str:
    if dtype == "bool":
        return "true" if value else "false"
    if dtype.startswith("float"):
        return repr(value) if dtype == "float64" else f"{value!r}:{dtype}"
    return str(value) if dtype == INDEX else f"{value}:{dtype}"


# -- expressions to text ---------------------------------------------------------------------------------------


class _Writer:
    """Writes expressions, with `%k` lines for common subexpressions.

    A `%k` is used as long as nothing that its expression reads has changed, so that it reads as a value.
    """

    def __init__(self, functions: dict[ScalarFunction, str]) -> None:
        self.functions = functions
        self.lines: list[str] = []
        self.scalars: dict[str, str] = {}
        self.buffers: dict[str, str] = {}
        self.bound: dict[Expr, str] = {}
        self.reads: dict[Expr, frozenset[str]] = {}
        self.count = 0

    def invalidate(self, names: Iterable[str]) -> None:
        """Drop `%k` names of expressions that read these scalars and buffers."""
        changed = set(names)
        self.bound = {e: text for e, text in self.bound.items() if not self.reads[e] & changed}

    def uses(self, roots: Sequence[Expr]) -> Counter[Expr]:
        """Count the uses of each expression below the roots; operands of a shared expression are counted once."""
        found = Counter(roots)
        for e in self._walk_unbound(roots):
            found.update(e.args)
        return found

    def write(
        self, roots: Sequence[Expr], indent: str, uses: Counter[Expr] | None = None, whole: bool = False
    ) -> list[str]:
        """Return the text of each root; lines for shared subexpressions are added before.

        `uses` decides what is shared (default: the uses in these roots). With `whole`, no lines are added.
        """
        order = list(self._walk_unbound(roots))
        uses = self.uses(roots) if uses is None else uses
        text: dict[Expr, tuple[str, int]] = {}
        for e in order:
            self._record_reads(e)
            part, level = self._format(e, text)
            leaf = e.op in ("const", "var")
            if not leaf and not whole and (uses[e] > 1 or (len(part) > _LONG and e not in roots)):
                name = f"%{self.count}"
                self.count += 1
                self.lines.append(f"{indent}{name} = {part}")
                self.bound[e] = name
                part, level = name, _ATOM
            text[e] = part, level
        return [self.bound.get(e) or text[e][0] for e in roots]

    def _walk_unbound(self, roots: Iterable[Expr]) -> Iterator[Expr]:
        """Iterate over the expressions below the roots that have no `%k` yet, operands first."""
        seen = set(self.bound)
        for root in roots:
            stack = [(root, False)]
            while stack:
                e, ready = stack.pop()
                if e in seen:
                    continue
                if ready or not e.args:
                    seen.add(e)
                    yield e
                else:
                    stack.append((e, True))
                    stack.extend((a, False) for a in reversed(e.args))

    def _record_reads(self, e: Expr) -> None:
        if e in self.reads:
            return
        direct = {e.attr} if e.op in ("var", "load") else set()
        self.reads[e] = frozenset(direct).union(*(self.reads[a] for a in e.args))

    def _format(self, e: Expr, text: dict[Expr, tuple[str, int]]) -> tuple[str, int]:
        args = [(self.bound[a], _ATOM) if a in self.bound else text[a] for a in e.args]
        if e.op == "const":
            return _literal(e.attr, e.dtype), _ATOM
        if e.op == "var":
            known = self.scalars.get(e.attr, INDEX) == e.dtype
            return format_name(e.attr) + ("" if known else f":{e.dtype}"), _ATOM
        if e.op == "load":
            known = self.buffers.get(e.attr) == e.dtype
            return f"{format_name(e.attr)}{'' if known else ':' + e.dtype}[{args[0][0]}]", _ATOM
        if e.op in SIGNS:
            sign, level = SIGNS[e.op]
            left = self._operand(e, e.args[0], *args[0], level)
            right = self._operand(e, e.args[1], *args[1], level + 1)
            return f"{left} {sign} {right}", level
        if e.op == "call":
            head = "@" + (self.functions.get(e.attr) or f"{format_name(e.attr)}:{e.dtype}")
        else:
            head = e.dtype if e.op == "cast" else e.op
        return f"{head}({', '.join(part for part, _ in args)})", _ATOM

    @staticmethod
    def _operand(user: Expr, e: Expr, part: str, level: int, needed: int) -> str:
        clearer = user.op in BITWISE and e.op in COMPARISONS and level < _ATOM
        return f"({part})" if level < needed or clearer else part


def _format_call(head: str, items: Sequence[str], tail: str, indent: str) -> str:
    """Format ``head(items)tail``, on several lines if it is long."""
    line = f"{indent}{head}({', '.join(items)}){tail}"
    if len(line) <= _WIDTH:
        return line
    lines, row = [f"{indent}{head}("], indent + 2 * _TAB
    for k, item in enumerate(items):
        part = item + (f"){tail}" if k == len(items) - 1 else ",")
        if row.strip() and len(row) + len(part) > _WIDTH:
            lines.append(row.rstrip())
            row = indent + 2 * _TAB
        row += part + " "
    return "\n".join([*lines, row.rstrip()])


# -- kernels to text -------------------------------------------------------------------------------------------


def print_kernel(kernel: Kernel) -> str:
    """Return the kernel as text that `parse_kernel` reads back.

    Examples
    --------
    >>> from aesara.ir.expr import const
    >>> body = (Store("b0", const(0), const(7, "int8")),)
    >>> print(print_kernel(Kernel("fill", (BufferParam("b0", "int8", True),), body)), end="")
    kernel fill(b0: int8[] written):
        b0[0] = 7:int8
    """
    functions = _function_labels(_kernel_expressions(kernel))
    texts = [_kernel_text(kernel, format_name(kernel.name), functions), *_function_texts(functions)]
    return "\n\n".join(text.rstrip("\n") for text in texts) + "\n"


def print_function(function: ScalarFunction) -> str:
    """Return the scalar function and those that it calls as text that `parse_function` reads back."""
    functions = _function_labels([function()])
    return "\n\n".join(_function_texts(functions)) + "\n"


def _kernel_expressions(kernel: Kernel) -> list[Expr]:
    return [e for s in walk_statements(kernel.body) for e in expressions_of(s)]


def _labels(names: Iterable[str]) -> list[str]:
    """Return the names as text, made unique by numbers."""
    used: Counter[str] = Counter()
    found = []
    for name in names:
        found.append(format_name(name) + (f"~{used[name]}" if used[name] else ""))
        used[name] += 1
    return found


def _function_labels(roots: Iterable[Expr]) -> dict[ScalarFunction, str]:
    """Return the labels of the functions that are called, callers first."""
    functions = functions_below(roots)
    return dict(zip(functions, _labels(f.name for f in functions)))


def _kernel_text(kernel: Kernel, label: str, functions: dict[ScalarFunction, str]) -> str:
    writer = _Writer(functions)
    params = []
    for p in kernel.params:
        if isinstance(p, BufferParam):
            writer.buffers[p.name] = p.dtype
            flags = " written" * p.written + " aliased" * p.aliased
            params.append(f"{format_name(p.name)}: {p.dtype}[]{flags}")
        else:
            params.append(_scalar_parameter(p, writer))
    writer.lines.append(_format_call(f"kernel {label}", params, ":", ""))
    _write_body(kernel.body, writer, _TAB)
    return "\n".join(writer.lines) + "\n"


def _scalar_parameter(p: ScalarParam, writer: _Writer) -> str:
    writer.scalars[p.name] = p.dtype
    return f"{format_name(p.name)}: {p.dtype}"


def _function_texts(functions: dict[ScalarFunction, str]) -> list[str]:
    return [_function_text(function, functions) for function in functions]


def _function_text(function: ScalarFunction, functions: dict[ScalarFunction, str]) -> str:
    writer = _Writer(functions)
    params = [_scalar_parameter(p, writer) for p in function.parameters]
    tail = f" -> {function.result.dtype}:"
    writer.lines.append(_format_call(f"function {functions[function]}", params, tail, ""))
    _write_body(function.body, writer, _TAB)
    for s in function.body:
        if isinstance(s, Declare):
            writer.scalars[s.name] = s.value.dtype
    (result,) = writer.write([function.result], _TAB)
    writer.lines.append(f"{_TAB}return {result}")
    return "\n".join(writer.lines)


def _write_body(body: tuple[Statement, ...], writer: _Writer, indent: str) -> None:
    scalars, bound = dict(writer.scalars), set(writer.bound)
    for run in _straight_runs(body):
        if isinstance(run[0], While):
            writer.invalidate(_changed_names(run[0].body))  # earlier iterations change them, too
            (condition,) = writer.write([run[0].condition], indent, whole=True)
            _write_statement(run[0], [condition], writer, indent)
            continue
        uses = writer.uses([e for s in run for e in expressions_of(s)])
        for batch in _batches(run):
            roots = [e for s in batch for e in expressions_of(s)]
            written = iter(writer.write(roots, indent, uses))
            for s in batch:
                _write_statement(s, [next(written) for _ in expressions_of(s)], writer, indent)
    writer.scalars = scalars
    # Names defined inside are not valid outside: the loop may not run at all.
    writer.bound = {e: text for e, text in writer.bound.items() if e in bound}


def _straight_runs(body: tuple[Statement, ...]) -> Iterator[list[Statement]]:
    """Split statements into straight-line runs and single loops and branches."""
    run: list[Statement] = []
    for s in body:
        if isinstance(s, (For, If, While)):
            if run:
                yield run
            yield [s]
            run = []
        else:
            run.append(s)
    if run:
        yield run


def _batches(body: Sequence[Statement]) -> Iterator[list[Statement]]:
    """Split statements one by one, with consecutive stores to different buffers, which happen at once, together."""
    stores: list[Statement] = []
    for s in body:
        if isinstance(s, Store) and all(s.buffer != t.buffer for t in stores if isinstance(t, Store)):
            stores.append(s)
            continue
        if stores:
            yield stores
        stores = [s] if isinstance(s, Store) else []
        if not stores:
            yield [s]
    if stores:
        yield stores


def _write_statement(s: Statement, texts: list[str], writer: _Writer, indent: str) -> None:
    if isinstance(s, Store):
        distinct = "distinct " if s.distinct else ""
        writer.lines.append(f"{indent}{distinct}{format_name(s.buffer)}[{texts[0]}] = {texts[1]}")
        writer.invalidate([s.buffer])
    elif isinstance(s, Declare):
        writer.lines.append(f"{indent}let {format_name(s.name)} = {texts[0]}")
        writer.invalidate([s.name])
        writer.scalars[s.name] = s.value.dtype
    elif isinstance(s, Assign):
        writer.lines.append(f"{indent}{format_name(s.name)} = {texts[0]}{', reassociate' if s.reassociate else ''}")
        writer.invalidate([s.name])
    elif isinstance(s, If):
        writer.lines.append(f"{indent}if {texts[0]}:")
        before = dict(writer.bound)
        _write_body(s.body, writer, indent + _TAB)
        writer.bound = before
        writer.invalidate(_changed_names(s.body))
    elif isinstance(s, While):
        writer.lines.append(f"{indent}while {texts[0]}:")
        before = dict(writer.bound)
        _write_body(s.body, writer, indent + _TAB)
        writer.bound = before
    else:
        parallel = "parallel " * s.parallel + "independent " * s.independent
        interleave = f" interleave {s.interleave}" if s.interleave != 1 else ""
        lanes = f" lanes {', '.join(map(str, s.lanes))}" if s.lanes else ""
        until = f" until {format_name(s.until)}" if s.until else ""
        writer.lines.append(f"{indent}{parallel}for {format_name(s.var)} < {texts[0]}{interleave}{lanes}{until}:")
        changes = {s.var, *_changed_names(s.body)}
        writer.invalidate(changes)  # earlier iterations change them, too
        before = dict(writer.bound)
        outer = writer.scalars.get(s.var)
        writer.scalars[s.var] = INDEX
        _write_body(s.body, writer, indent + _TAB)
        writer.bound = before
        del writer.scalars[s.var]
        if outer is not None:
            writer.scalars[s.var] = outer


def _changed_names(body: tuple[Statement, ...]) -> set[str]:
    """Return the names of the scalars and buffers that a body changes."""
    found = set()
    for s in walk_statements(body):
        if isinstance(s, Store):
            found.add(s.buffer)
        elif isinstance(s, For):
            found.add(s.var)
        elif not isinstance(s, (If, While)):
            found.add(s.name)
    return found


# -- steps to text ---------------------------------------------------------------------------------------------


class StepWriter:
    """Printer of steps, for their `write` methods.

    Parameters
    ----------
    kernels
        Those that the steps launch.
    """

    def __init__(self, kernels: Sequence[Kernel]) -> None:
        self._labels = dict(zip(kernels, _labels(kernel.name for kernel in kernels)))
        self._functions = _function_labels(e for kernel in kernels for e in _kernel_expressions(kernel))
        self._writer = _Writer(self._functions)
        self._indent = _TAB

    def kernel_texts(self) -> list[str]:
        """Return the text of each kernel, and of each function that they call."""
        kernels = [_kernel_text(kernel, label, self._functions) for kernel, label in self._labels.items()]
        return [*(text.rstrip("\n") for text in kernels), *_function_texts(self._functions)]

    def texts(self, roots: Sequence[Expr]) -> list[str]:
        """Return the text of each expression; lines for shared subexpressions are added before."""
        return self._writer.write(roots, self._indent)

    def name(self, name: str) -> str:
        """Return a name as text."""
        return format_name(name)

    def buffer(self, buffer: Buffer) -> str:
        """Return the text of a buffer with its dtype and shape."""
        shape = self.texts(buffer.shape)
        marked = " complex" if buffer.is_complex else ""
        return f"{format_name(buffer.name)}: {buffer.dtype}[{', '.join(shape)}]{marked}"

    def kernel(self, kernel: Kernel) -> str:
        """Return the label of a kernel."""
        return self._labels[kernel]

    def line(self, text: str) -> None:
        """Add a line."""
        self._writer.lines.append(f"{self._indent}{text}")

    def call(self, head: str, items: Sequence[str], tail: str) -> None:
        """Add ``head(items)tail``, on several lines if it is long."""
        self._writer.lines.append(_format_call(head, items, tail, self._indent))

    @contextmanager
    def indentation(self) -> Iterator[None]:
        """Indent the lines that are added in this context."""
        self._indent += _TAB
        yield
        self._indent = self._indent[: -len(_TAB)]

    def invalidate(self, names: Iterable[str]) -> None:
        """Record that these scalars and buffers have new values."""
        self._writer.invalidate(names)

    def define_buffers(self, *buffers: Buffer) -> None:
        """Record that buffers are defined."""
        self.invalidate([b.name for b in buffers])
        self._writer.buffers.update({b.name: b.dtype for b in buffers})
