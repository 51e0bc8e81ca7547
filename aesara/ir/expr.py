"""Scalar expressions of the loop IR, hash-consed: equal expressions are the same object.

An `Expr` is an operation on scalars.  Its `op` is one of

==========  =======================================  =====================================
op          attr                                     args
==========  =======================================  =====================================
``const``   the value (int, float or bool)           none
``var``     name of a loop index, size or scalar     none
``load``    name of a buffer                         one linear element offset (int64)
``cast``    none                                     one value of any dtype
``call``    a `ScalarFunction`, or the name of an    its arguments
            external scalar function
primitive   none                                     operands, all of one dtype
``complex`` none                                     real and imaginary part
==========  =======================================  =====================================

Arithmetic works on one dtype: operands are cast first.  Comparisons yield ``bool``; ``select`` takes a ``bool``
and two values.

Each expression of a complex dtype is a ``complex``: operations on it are made of operations on the parts. In memory
the imaginary part follows the real part.  Programs have no complex expressions, only their parts.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from aesara.ir.bounds import ANY, ON_NUMBERS, Term, bounds_of, decide_comparison, holds, split_constant
from aesara.ir.symbols import InputSize
from aesara.primitives import PRIMITIVES
from aesara.utils import free_in_children

__all__ = [
    "Expr",
    "COMPARISONS",
    "COMPLEX_OF",
    "INDEX",
    "NoComplexForm",
    "PART_OF",
    "const",
    "var",
    "load",
    "cast",
    "call",
    "complex_number",
    "imag",
    "op",
    "parts_of",
    "real",
    "walk",
    "linear_offset",
    "on_clear",
    "sharing",
    "substitute",
]

INDEX = "int64"

#: complex dtype by the dtype of its parts, and the reverse
COMPLEX_OF = {"float32": "complex64", "float64": "complex128"}
PART_OF = {whole: part for part, whole in COMPLEX_OF.items()}

COMPARISONS = frozenset({"lt", "le", "gt", "ge", "eq", "ne"})
TESTS = frozenset({"isnan", "isinf"})

_table: dict[tuple[Any, ...], Expr] = {}
_TABLE_LIMIT = 100_000  # about 25 MB
_lock = free_in_children(threading.Lock())
_users = 0
_dependents: list[Callable[[], None]] = []


class NoComplexForm(Exception):
    """An operation that is not defined for complex numbers."""


def _operator(name: str) -> Callable[[Expr, Expr | float], Expr]:
    return lambda a, b: op(name, a, a.like(b))


def _reflect(name: str) -> Callable[[Expr, float], Expr]:
    return lambda a, b: op(name, a.like(b), a)


class Expr(Term):
    """A scalar expression, to be made with the functions of this module, which return equal ones only once.

    An index lies in `least` to `most`. Its arithmetic wraps; a result whose bounds are narrower than those of its dtype
    has not wrapped.
    """

    __slots__ = ()

    def __repr__(self) -> str:
        if self.op == "const":
            return repr(self.attr)
        if self.op == "var":
            return str(self.attr)
        inner = ", ".join(map(repr, self.args))
        return f"{self.attr}[{inner}]" if self.op == "load" else f"{self.op}({inner})"

    @property
    def is_const(self) -> bool:
        return self.op == "const"

    # Operators apply primitives; numbers become literals of the other operand's dtype. `==` compares identity.
    __add__ = _operator("add")
    __sub__ = _operator("sub")
    __mul__ = _operator("mul")
    __truediv__ = _operator("div")
    __floordiv__ = _operator("intdiv")
    __mod__ = _operator("mod")
    __and__ = _operator("and")
    __or__ = _operator("or")
    __xor__ = _operator("xor")
    __lt__ = _operator("lt")
    __le__ = _operator("le")
    __gt__ = _operator("gt")
    __ge__ = _operator("ge")
    __radd__ = _reflect("add")
    __rsub__ = _reflect("sub")
    __rmul__ = _reflect("mul")
    __rtruediv__ = _reflect("div")
    __rfloordiv__ = _reflect("intdiv")
    __rmod__ = _reflect("mod")

    def __neg__(self) -> Expr:
        return op("neg", self)

    def __invert__(self) -> Expr:
        return op("invert", self)

    def like(self, value: Expr | float) -> Expr:
        """Convert a number to a literal of this expression's dtype; return an expression unchanged."""
        return value if isinstance(value, Expr) else const(value, self.dtype)


def _intern(operation: str, dtype: str, attr: object, args: tuple[Expr, ...], key_attr: object) -> Expr:
    key = (operation, dtype, key_attr, args)
    found = _table.get(key)
    if found is None:
        expression = Expr.__new__(Expr)
        expression.op, expression.dtype, expression.attr, expression.args = operation, dtype, attr, args
        expression.least, expression.most = bounds_of(expression) if dtype == INDEX else ANY
        found = _table.setdefault(key, expression)  # atomic, so that threads agree on one object
    return found


@contextmanager
def sharing() -> Iterator[None]:
    """Make equal expressions identical; a context manager and decorator.

    A large table of expressions is cleared when the last user leaves. Constants and variables stay, since modules hold
    some.
    """
    global _users
    with _lock:
        _users += 1
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if _users == 0 and len(_table) > _TABLE_LIMIT:
                for key in [key for key in _table if key[0] not in ("const", "var")]:
                    del _table[key]
                for forget in _dependents:
                    forget()


def on_clear(forget: Callable[[], None]) -> None:
    """Call `forget` whenever the table of expressions is cleared, to drop expressions kept elsewhere."""
    _dependents.append(forget)


def const(value: float | complex, dtype: str = INDEX) -> Expr:
    """Return the literal of a number. Signed zeros and NaN are distinct."""
    if dtype in PART_OF:
        number, part = complex(value), PART_OF[dtype]
        return complex_number(const(number.real, part), const(number.imag, part))
    assert not isinstance(value, complex)
    if dtype == "bool":
        value = bool(value)
    elif dtype.startswith("float"):
        value = float(value)
    else:
        value = int(value)
    return _intern("const", dtype, value, (), repr(value))


def var(name: str, dtype: str = INDEX) -> Expr:
    """Return a named scalar: a loop index, a size, or a mutable scalar; the name may be one of `ir.symbols`."""
    if dtype in PART_OF:
        return complex_number(var(f"{name}_re", PART_OF[dtype]), var(f"{name}_im", PART_OF[dtype]))
    return _intern("var", dtype, name, (), (type(name), name, getattr(name, "most", None)))


def load(buffer: str, dtype: str, offset: Expr) -> Expr:
    """Return the element of `buffer` at a linear offset."""
    if dtype in PART_OF:
        return complex_number(*(load(buffer, PART_OF[dtype], part_offset(offset, k)) for k in (0, 1)))
    return _intern("load", dtype, buffer, (offset,), (type(buffer), buffer))


def cast(value: Expr, dtype: str) -> Expr:
    if value.dtype == dtype:
        return value
    if dtype in PART_OF:
        return complex_number(cast(real(value), PART_OF[dtype]), cast(imag(value), PART_OF[dtype]))
    if value.op == "complex":
        raise NoComplexForm(f"cast to {dtype}")
    if value.op == "const" and not (isinstance(value.attr, float) and not dtype.startswith("float")):
        number = value.attr
        if dtype.startswith("float64") or dtype == "bool" or holds(dtype, number):
            return const(number, dtype)
    return _intern("cast", dtype, None, (value,), None)


def call(function: Any, dtype: str, args: Iterable[Expr]) -> Expr:
    """Return a call of a `ScalarFunction` or an `ExternalFunction`."""
    return _intern("call", dtype, function, tuple(args), function)


def complex_number(re: Expr, im: Expr) -> Expr:
    """Return the complex number of these parts."""
    return _intern("complex", COMPLEX_OF[re.dtype], None, (re, im), None)


def real(e: Expr) -> Expr:
    """Return the real part; a real expression itself."""
    return e.args[0] if e.op == "complex" else e


def imag(e: Expr) -> Expr:
    """Return the imaginary part; that of a real expression is 0."""
    return e.args[1] if e.op == "complex" else const(0, e.dtype)


def parts_of(e: Expr) -> tuple[Expr, ...]:
    """Return real and imaginary part, or the real expression."""
    return e.args if e.op == "complex" else (e,)


def part_offset(offset: Expr, part: int) -> Expr:
    """Return the offset of the real (0) or imaginary (1) part of the complex number at an offset."""
    return op("add", op("mul", offset, const(2)), const(part))


def op(name: str, *args: Expr) -> Expr:
    """Apply a primitive; integer index arithmetic is simplified on the way."""
    arity = PRIMITIVES[name].operands
    if len(args) != arity:
        raise TypeError(f"IR primitive {name!r} takes {arity} operands, got {len(args)}")
    if name == "select":
        condition, yes, no = args
        if condition.op == "const":
            return yes if condition.attr else no
        if yes is no:
            return yes
        if yes.dtype == "bool" and yes.op == no.op == "const":
            return condition if yes.attr else ~condition
        if yes.dtype == INDEX and condition is op("gt", yes, no):
            return op("maximum", yes, no)
        if yes.op == "complex" or no.op == "complex":
            return complex_number(*(op(name, condition, part(yes), part(no)) for part in (real, imag)))
        return _intern(name, yes.dtype, None, args, None)
    if args[0].op == "complex" or args[-1].op == "complex":
        return _op_on_parts(name, *args)
    dtype = args[0].dtype
    simple = _simplify_index(name, args) if dtype == INDEX else _simplify_logic(name, args) if dtype == "bool" else None
    if simple is not None:
        return simple
    if name in COMPARISONS or name in TESTS:
        dtype = "bool"
    return _intern(name, dtype, None, args, None)


def _op_on_parts(name: str, *args: Expr) -> Expr:
    """Apply a primitive to complex numbers; a factor or divisor may be real."""
    if len(args) == 2 and args[1].op != "complex" and name in ("mul", "div"):
        return complex_number(*(op(name, part, args[1]) for part in args[0].args))
    if name == "mul" and args[0].op != "complex":
        return complex_number(*(op(name, args[0], part) for part in args[1].args))
    if name == "mul":
        (a, b), (c, d) = (z.args for z in args)
        return complex_number(a * c - b * d, a * d + b * c)
    if name in ("add", "sub", "neg"):
        return complex_number(op(name, *map(real, args)), op(name, *map(imag, args)))
    if name in ("eq", "ne", *TESTS):
        return op("and" if name == "eq" else "or", op(name, *map(real, args)), op(name, *map(imag, args)))
    raise NoComplexForm(name)


#: a comparison with exchanged operands
_MIRRORED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}


def _in_range(value: int) -> Expr | None:
    """Return a constant; None if it would wrap, so that sizes beyond any memory are still detected."""
    return const(value) if holds(INDEX, value) else None


def _simplify_logic(name: str, args: tuple[Expr, ...]) -> Expr | None:
    """Simplify `and` and `or` with a constant or with equal operands."""
    if name not in ("and", "or"):
        return None
    for known, other in (args, args[::-1]):
        if known.op == "const":
            return other if known.attr == (name == "and") else known
    return args[0] if args[0] is args[1] else None


def _simplify_index(name: str, args: tuple[Expr, ...]) -> Expr | None:
    """Apply identities of wrapping integer arithmetic that bring sizes and offsets into a canonical form."""
    if len(args) != 2:
        return None
    a, b = args
    if a.op == "const" and b.op == "const":
        if name in ON_NUMBERS:
            value = ON_NUMBERS[name](a.attr, b.attr)
            if isinstance(value, bool):
                return const(value, "bool")
            return _in_range(value)
        if name in ("intdiv", "mod") and b.attr:
            return _in_range(a.attr // b.attr if name == "intdiv" else a.attr % b.attr)
        return None
    if name in COMPARISONS:
        return _simplify_comparison(name, a, b)
    if name in ("minimum", "maximum"):
        larger = a if decide_comparison("ge", a, b) else b if decide_comparison("le", a, b) else None
        if larger is not None:
            return larger if name == "maximum" else a if larger is b else b
    if a.op == "const" and name in ("add", "mul", "minimum", "maximum"):
        return op(name, b, a)
    if b.op == "const" and name in ("minimum", "maximum"):
        base, rest = split_constant(a)
        shifted = _in_range(b.attr - rest) if rest else None
        return None if shifted is None else op("add", op(name, base, shifted), const(rest))
    if name == "sub":
        return _simplify_difference(a, b)
    if name == "add":
        (x, x_constant), (y, y_constant) = split_constant(a), split_constant(b)
        if {x.op, y.op} == {"minimum", "maximum"} and {*x.args} == {*y.args} and holds(INDEX, x_constant + y_constant):
            return op("add", op("add", *x.args), const(x_constant + y_constant))
    if b.op != "const":
        return None
    if b.attr == 0 and name == "add":
        return a
    if b.attr == 0 and name == "mul":
        return b
    if b.attr == 1 and name in ("mul", "intdiv"):
        return a
    if name == "intdiv" and b.attr == -1:
        return op("sub", const(0), a)
    if name == "mod" and 0 <= a.least and a.most < b.attr:
        return a
    if name == "add" and a.op == "add" and a.args[1].op == "const":
        total = _in_range(a.args[1].attr + b.attr)
        return None if total is None else op("add", a.args[0], total)
    if name == "add" and a.op == "sub" and a.args[0].op == "const":
        total = _in_range(a.args[0].attr + b.attr)
        return None if total is None else op("sub", total, a.args[1])
    return None


def _simplify_difference(a: Expr, b: Expr) -> Expr | None:
    """Rewrite `x - c` -> `x + (-c)`, `0 - (a - b)` -> `b - a` and `a - min(a, b)` -> `max(a - b, 0)`."""
    if a is b:
        return const(0)
    if b.op == "const":
        negative = _in_range(-b.attr)
        return None if negative is None else op("add", a, negative)
    if a is const(0) and b.op == "sub":
        return op("sub", b.args[1], b.args[0])
    if b.op == "minimum" and a in b.args:
        (other,) = (e for e in b.args if e is not a)
        difference = op("sub", a, other)
        if difference.is_bounded:
            return op("maximum", difference, const(0))
    return None


def _simplify_comparison(name: str, a: Expr, b: Expr) -> Expr | None:
    """Decide a comparison, or bring one with a constant into the form `x < c`, `x >= c`, `x == c` or `x != c`."""
    known = decide_comparison(name, a, b)
    if known is not None:
        return const(known, "bool")
    if a.op == "const":
        return op(_MIRRORED.get(name, name), b, a)
    if b.op != "const":
        return None
    if a.op == "cast" and a.args[0].dtype == "bool":
        return op("select", a.args[0], *(const(ON_NUMBERS[name](k, b.attr), "bool") for k in (1, 0)))
    if a.op == "select" and a.args[1].op == a.args[2].op == "const":
        return op("select", a.args[0], *(op(name, e, b) for e in a.args[1:]))
    base, rest = split_constant(a)
    if name in ("gt", "le") or rest:
        shifted = _in_range(b.attr - rest + (name in ("gt", "le")))
        return None if shifted is None else op({"gt": "ge", "le": "lt"}.get(name, name), base, shifted)
    if a.op not in ("minimum", "maximum") or a.args[1].op != "const":
        return None
    if name in ("eq", "ne") and a.args[1] is b:
        reached = op("ge" if a.op == "minimum" else "le", a.args[0], b)
        return reached if name == "eq" else ~reached
    if name not in ("eq", "ne"):
        both = (a.op == "minimum") == (name in ("gt", "ge"))
        return op("and" if both else "or", *(op(name, e, b) for e in a.args))
    return None


def is_size(e: Expr) -> bool:
    """Return whether an expression is a sum or product of input sizes: not negative unless it wraps."""
    if e.op == "var":
        return isinstance(e.attr, InputSize)
    if e.op == "const":
        return bool(e.attr >= 0)
    return e.op in ("add", "mul", "minimum", "maximum") and all(is_size(a) for a in e.args)


def linear_offset(index: Iterable[Expr], shape: Iterable[Expr]) -> Expr:
    """Return the row-major offset of an index tuple in an array of the given shape (Horner's scheme)."""
    total = const(0)
    for i, n in zip(index, shape, strict=True):
        total = op("add", op("mul", total, n), i)
    return total


def walk(roots: Iterable[Expr]) -> Iterator[Expr]:
    """Iterate over the distinct expressions below `roots`, operands before users."""
    seen: set[Expr] = set()
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
                stack.extend((a, False) for a in e.args)


def rebuild(e: Expr, args: tuple[Expr, ...]) -> Expr:
    """Return the same operation on other operands."""
    if args == e.args:
        return e
    if e.op == "load":
        return load(e.attr, e.dtype, args[0])
    if e.op == "cast":
        return cast(args[0], e.dtype)
    if e.op == "call":
        return call(e.attr, e.dtype, args)
    if e.op == "complex":
        return complex_number(*args)
    return op(e.op, *args)


def substitute(
    roots: Iterable[Expr],
    change: Callable[[Expr], Expr | None],
    memo: dict[Expr, Expr],
    remake: Callable[[Expr, tuple[Expr, ...]], Expr] = rebuild,
) -> list[Expr]:
    """Replace subexpressions.

    `change` is called from the roots down and may return a replacement, which is final. Expressions for which it
    returns None are rebuilt on their replaced operands by `remake`.
    """
    roots = list(roots)
    for root in roots:
        stack = [(root, False)]
        while stack:
            e, ready = stack.pop()
            if e in memo:
                continue
            if not ready:
                whole = change(e)
                if whole is not None:
                    memo[e] = whole
                    continue
                stack.append((e, True))
                stack.extend((a, False) for a in e.args if a not in memo)
            else:
                memo[e] = remake(e, tuple(memo[a] for a in e.args))
    return [memo[root] for root in roots]


def cost(e: Expr) -> int:
    """Return the relative cost of this one operation."""
    if e.op in ("const", "var"):
        return 0
    if e.op in ("load", "cast"):
        return 1
    if e.op == "call":
        return int(e.attr.cost)
    arity_cost = PRIMITIVES[e.op].cost
    return arity_cost if e.dtype.startswith("float") or arity_cost < 20 else 20
