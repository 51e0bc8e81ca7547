"""LLVM instructions for each primitive of the loop IR, by dtype.

`primitive(name, dtype)` gives a template: a function from operand names and a fresh-name source to the lines that
compute the result.  Semantics are NumPy's: floor-like `intdiv` and `mod`, NaN-propagating `minimum`/`maximum`,
integer division by zero gives 0, shifts past the width give 0 (or the sign).
"""

from __future__ import annotations

from collections.abc import Callable

from aesara.ir import vecmath
from aesara.ir.function import ScalarFunction

LLVM_TYPES = {
    "bool": "i1",
    **{f"{sign}int{bits}": f"i{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)},
    "float16": "half",
    "float32": "float",
    "float64": "double",
}


def memory_type(dtype: str) -> str:
    return "i8" if dtype == "bool" else LLVM_TYPES[dtype]


def is_float(dtype: str) -> bool:
    return dtype.startswith("float")


def is_unsigned(dtype: str) -> bool:
    return dtype.startswith("u") or dtype == "bool"


def suffix(dtype: str) -> str:
    """Suffix of an overloaded intrinsic's name."""
    return {"float16": "f16", "float32": "f32", "float64": "f64"}.get(dtype) or LLVM_TYPES[dtype]


def literal(value: int | float | bool, dtype: str) -> str:
    """A constant as LLVM text; floats in hexadecimal, so exactly."""
    import struct

    if dtype == "bool":
        return "true" if value else "false"
    if not is_float(dtype):
        return str(int(value))
    if dtype == "float16":
        return f"0xH{struct.unpack('<H', struct.pack('<e', _rounded(value, '<e')))[0]:04X}"
    if dtype == "float32":
        value = _rounded(value, "<f")
    return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"


def _rounded(value: float, form: str) -> float:
    import struct

    try:
        return float(struct.unpack(form, struct.pack(form, value))[0])
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


class Module:
    """What the kernels of one module need besides themselves: declarations and helper functions, by name."""

    def __init__(self) -> None:
        self.declarations: dict[str, str] = {}
        self.helpers: dict[str, str] = {}
        self.externals: set[str] = set()
        #: symbols of the scalar functions
        self.functions: dict[ScalarFunction, str] = {}

    def declare(self, name: str, text: str) -> str:
        self.declarations.setdefault(name, text)
        return name

    def intrinsic(self, name: str, dtype: str, arity: int) -> str:
        full = f"@llvm.{name}.{suffix(dtype)}"
        t = LLVM_TYPES[dtype]
        return self.declare(full, f"declare {t} {full}({', '.join([t] * arity)})")

    def external(self, symbol: str, result: str, arguments: list[str], zeros: int = 0) -> str:
        """A pure C function resolved when the object is linked, which takes so many zeros behind its arguments."""
        self.externals.add(symbol)
        attributes = "nounwind willreturn memory(none)"
        args = ", ".join([LLVM_TYPES[a] for a in arguments] + ["i32"] * zeros)
        return self.declare(f"@{symbol}", f"declare {LLVM_TYPES[result]} @{symbol}({args}) {attributes}")

    def math(self, name: str, dtype: str) -> str | None:
        """One of our vectorisable functions, with what it depends on; None if there is none for the dtype."""
        symbol = f"@{vecmath.symbol(name, dtype)}"
        if symbol not in self.helpers:
            text = vecmath.definition(name, dtype)
            if text is None:
                return None
            self.helpers[symbol] = text
            for needed in vecmath.dependencies(name, dtype):
                self.math(needed, dtype)
        return symbol

    def helper(self, name: str, text: str) -> str:
        self.helpers.setdefault(name, text)
        return name

    def text(self) -> str:
        lines = list(self.helpers.values())
        defined = set(self.helpers)
        needed = {n: t for n, t in self.declarations.items() if n not in defined}
        for body in self.helpers.values():
            for line in body.splitlines():
                if line.startswith("declare "):
                    needed.setdefault("@" + line.split("@", 1)[1].split("(", 1)[0], line)
        lines = ["\n".join(row for row in body.splitlines() if not row.startswith("declare ")) for body in lines]
        return "\n".join([*needed.values(), *lines])


Fresh = Callable[[str], str]

_LOGIC = {"add": "or", "mul": "and", "maximum": "or", "minimum": "and", "sub": "xor"}
_BINARY_INT = {"add": "add", "sub": "sub", "mul": "mul", "and": "and", "or": "or", "xor": "xor"}
_BINARY_FLOAT = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv"}
_COMPARE = {"lt": "lt", "le": "le", "gt": "gt", "ge": "ge", "eq": "eq", "ne": "ne"}
_FLOAT_UNARY = {"sqrt": "sqrt", "floor": "floor", "ceil": "ceil", "trunc": "trunc", "rint": "rint", "abs": "fabs"}
_LIBM_FLOAT32_SUFFIX = "f"


def instructions(name: str, dtype: str, a: list[str], out: str, module: Module, fresh: Fresh) -> list[str]:
    """Lines that compute `name` on operands `a` of `dtype` into the value `out`."""
    t = LLVM_TYPES[dtype]
    if name in _COMPARE:
        return [_comparison(name, dtype, t, a, out)]
    if name == "select":
        return [f"{out} = select i1 {a[0]}, {t} {a[1]}, {t} {a[2]}"]
    if is_float(dtype):
        return _float_instructions(name, dtype, t, a, out, module, fresh)
    return _int_instructions(name, dtype, t, a, out, module, fresh)


def _comparison(name: str, dtype: str, t: str, a: list[str], out: str) -> str:
    if is_float(dtype):
        predicate = ("u" if name == "ne" else "o") + name
        return f"{out} = fcmp {predicate} {t} {a[0]}, {a[1]}"
    sign = "" if name in ("eq", "ne") else "u" if is_unsigned(dtype) else "s"
    return f"{out} = icmp {sign}{name} {t} {a[0]}, {a[1]}"


def _float_instructions(
    name: str, dtype: str, t: str, a: list[str], out: str, module: Module, fresh: Fresh
) -> list[str]:
    if name in _BINARY_FLOAT:
        return [f"{out} = {_BINARY_FLOAT[name]} {t} {a[0]}, {a[1]}"]
    if name == "neg":
        return [f"{out} = fneg {t} {a[0]}"]
    if name in _FLOAT_UNARY:
        return [f"{out} = call {t} {module.intrinsic(_FLOAT_UNARY[name], dtype, 1)}({t} {a[0]})"]
    if name in ("minimum", "maximum", "copysign"):
        return [f"{out} = call {t} {module.intrinsic(name, dtype, 2)}({t} {a[0]}, {t} {a[1]})"]
    if name == "larger":
        return [f"{out} = call nsz {t} {module.intrinsic('maximum', dtype, 2)}({t} {a[0]}, {t} {a[1]})"]
    if name == "isnan":
        return [f"{out} = fcmp uno {t} {a[0]}, {a[0]}"]
    if name == "isinf":
        size = fresh("abs")
        fabs = module.intrinsic("fabs", dtype, 1)
        return [
            f"{size} = call {t} {fabs}({t} {a[0]})",
            f"{out} = fcmp oeq {t} {size}, {literal(float('inf'), dtype)}",
        ]
    if name in ("intdiv", "mod"):
        helper = module.helper(f"@ae.{name}.{dtype}", _float_division(name, dtype, t, module))
        return [f"{out} = call {t} {helper}({t} {a[0]}, {t} {a[1]})"]
    if dtype == "float16":
        return _through_float32(name, a, out, module, fresh)
    symbol = module.math(name, dtype)
    if symbol is None:
        c_name = name + (_LIBM_FLOAT32_SUFFIX if dtype == "float32" else "")
        symbol = "@" + c_name
        module.external(c_name, dtype, [dtype] * len(a))
    return [f"{out} = call {t} {symbol}({', '.join(f'{t} {x}' for x in a)})"]


def _through_float32(name: str, a: list[str], out: str, module: Module, fresh: Fresh) -> list[str]:
    """Half precision is computed in single precision and rounded, as NumPy does."""
    lines, wide = [], []
    for x in a:
        wide.append(fresh("wide"))
        lines.append(f"{wide[-1]} = fpext half {x} to float")
    result = fresh("wide")
    lines += instructions(name, "float32", wide, result, module, fresh)
    return [*lines, f"{out} = fptrunc float {result} to half"]


def _float_division(name: str, dtype: str, t: str, module: Module) -> str:
    """Python's floor division and modulo: the remainder takes the divisor's sign."""
    zero, one, half = literal(0.0, dtype), literal(1.0, dtype), literal(0.5, dtype)
    copysign = module.intrinsic("copysign", dtype, 2)
    floor = module.intrinsic("floor", dtype, 1)
    lines = [
        f"define internal {t} @ae.{name}.{dtype}({t} %a, {t} %b) alwaysinline nounwind {{",
        f"  %r0 = frem {t} %a, %b",
        f"  %nz = fcmp une {t} %r0, {zero}",
        f"  %rneg = fcmp olt {t} %r0, {zero}",
        f"  %bneg = fcmp olt {t} %b, {zero}",
        "  %differ = xor i1 %rneg, %bneg",
        "  %fix = and i1 %nz, %differ",
        f"  %radd = fadd {t} %r0, %b",
        f"  %signed = call {t} {copysign}({t} {zero}, {t} %b)",
        f"  %rnz = select i1 %nz, {t} %r0, {t} %signed",
        f"  %mod = select i1 %fix, {t} %radd, {t} %rnz",
    ]
    if name == "mod":
        lines.append(f"  ret {t} %mod")
    else:
        lines += [
            f"  %am = fsub {t} %a, %r0",
            f"  %q0 = fdiv {t} %am, %b",
            f"  %q1 = fsub {t} %q0, {one}",
            f"  %q = select i1 %fix, {t} %q1, {t} %q0",
            f"  %plain = fdiv {t} %a, %b",
            f"  %fl = call {t} {floor}({t} %q)",
            f"  %gap = fsub {t} %q, %fl",
            f"  %up = fcmp ogt {t} %gap, {half}",
            f"  %fl1 = fadd {t} %fl, {one}",
            f"  %near = select i1 %up, {t} %fl1, {t} %fl",
            f"  %qnz = fcmp une {t} %q, {zero}",
            f"  %qz = call {t} {copysign}({t} {zero}, {t} %plain)",
            f"  %res = select i1 %qnz, {t} %near, {t} %qz",
            f"  %bz = fcmp oeq {t} %b, {zero}",
            f"  %out = select i1 %bz, {t} %plain, {t} %res",
            f"  ret {t} %out",
        ]
    return "\n".join([*lines, "}"])


def _int_instructions(name: str, dtype: str, t: str, a: list[str], out: str, module: Module, fresh: Fresh) -> list[str]:
    unsigned = is_unsigned(dtype)
    if dtype == "bool":
        name = _LOGIC.get(name, name)
    if name in _BINARY_INT:
        # No nsw: an operand may be data.
        return [f"{out} = {_BINARY_INT[name]} {t} {a[0]}, {a[1]}"]
    if name == "neg":
        return [f"{out} = sub {t} 0, {a[0]}"]
    if name == "invert":
        return [f"{out} = xor {t} {a[0]}, {'true' if dtype == 'bool' else '-1'}"]
    if name == "abs":
        if unsigned:
            return [f"{out} = or {t} {a[0]}, {'false' if dtype == 'bool' else '0'}"]
        negative, minus = fresh("neg"), fresh("minus")
        return [
            f"{minus} = sub {t} 0, {a[0]}",
            f"{negative} = icmp slt {t} {a[0]}, 0",
            f"{out} = select i1 {negative}, {t} {minus}, {t} {a[0]}",
        ]
    if name in ("floor", "ceil", "trunc", "rint"):
        return [f"{out} = or {t} {a[0]}, {'false' if dtype == 'bool' else '0'}"]
    if name in ("minimum", "maximum"):
        intrinsic = ("u" if unsigned else "s") + name[:3]
        return [f"{out} = call {t} {module.intrinsic(intrinsic, dtype, 2)}({t} {a[0]}, {t} {a[1]})"]
    if name in ("isnan", "isinf"):
        return [f"{out} = icmp ne {t} {a[0]}, {a[0]}"]
    if name in ("shl", "shr"):
        return _shift(name, dtype, t, a, out, fresh)
    if name in ("intdiv", "mod"):
        symbol = module.helper(f"@ae.{name}.{dtype}", _int_division(name, dtype, t, unsigned))
        return [f"{out} = call {t} {symbol}({t} {a[0]}, {t} {a[1]})"]
    if name == "pow":
        symbol = module.helper(f"@ae.pow.{dtype}", _int_power(dtype, t, unsigned))
        return [f"{out} = call {t} {symbol}({t} {a[0]}, {t} {a[1]})"]
    raise NotImplementedError(f"primitive {name!r} on {dtype}")


def combine(name: str, dtype: str, lanes: int, a: str, b: str, out: str, module: Module) -> str:
    """The line for an accumulating primitive on two vectors in memory's form."""
    t = f"<{lanes} x {memory_type(dtype)}>"
    if dtype == "bool":
        name = _LOGIC.get(name, name)
    if name in ("minimum", "maximum"):
        intrinsic = name if is_float(dtype) else ("u" if is_unsigned(dtype) else "s") + name[:3]
        full = f"@llvm.{intrinsic}.v{lanes}{suffix(dtype)}"
        module.declare(full, f"declare {t} {full}({t}, {t})")
        return f"{out} = call {t} {full}({t} {a}, {t} {b})"
    return f"{out} = {(_BINARY_FLOAT if is_float(dtype) else _BINARY_INT)[name]} {t} {a}, {b}"


def _shift(name: str, dtype: str, t: str, a: list[str], out: str, fresh: Fresh) -> list[str]:
    bits = int(t[1:])
    inside, amount, shifted = fresh("in"), fresh("by"), fresh("sh")
    arithmetic = name == "shr" and not is_unsigned(dtype)
    operation = "shl" if name == "shl" else "ashr" if arithmetic else "lshr"
    lines = [
        f"{inside} = icmp ult {t} {a[1]}, {bits}",
        f"{amount} = select i1 {inside}, {t} {a[1]}, {t} {bits - 1 if arithmetic else 0}",
        f"{shifted} = {operation} {t} {a[0]}, {amount}",
    ]
    if arithmetic:
        return [*lines, f"{out} = or {t} {shifted}, 0"]
    return [*lines, f"{out} = select i1 {inside}, {t} {shifted}, {t} 0"]


def _int_division(name: str, dtype: str, t: str, unsigned: bool) -> str:
    """Floor division and modulo; x // 0 == x % 0 == 0; the lowest value divided by -1 wraps."""
    head = f"define internal {t} @ae.{name}.{dtype}({t} %a, {t} %b) alwaysinline nounwind {{"
    if unsigned:
        operation = "udiv" if name == "intdiv" else "urem"
        body = [
            f"  %z = icmp eq {t} %b, 0",
            f"  %d = select i1 %z, {t} 1, {t} %b",
            f"  %q = {operation} {t} %a, %d",
            f"  %r = select i1 %z, {t} 0, {t} %q",
            f"  ret {t} %r",
        ]
        return "\n".join([head, *body, "}"])
    body = [
        f"  %z = icmp eq {t} %b, 0",
        f"  %m1 = icmp eq {t} %b, -1",
        "  %odd = or i1 %z, %m1",
        f"  %d = select i1 %odd, {t} 1, {t} %b",
        f"  %q0 = sdiv {t} %a, %d",
        f"  %p = mul {t} %q0, %d",
        f"  %r0 = sub {t} %a, %p",
        f"  %nz = icmp ne {t} %r0, 0",
        f"  %x = xor {t} %r0, %d",
        f"  %opp = icmp slt {t} %x, 0",
        "  %fix = and i1 %nz, %opp",
    ]
    if name == "intdiv":
        body += [
            f"  %q1 = sub {t} %q0, 1",
            f"  %q = select i1 %fix, {t} %q1, {t} %q0",
            f"  %n = sub {t} 0, %a",
            f"  %qm = select i1 %m1, {t} %n, {t} %q",
            f"  %res = select i1 %z, {t} 0, {t} %qm",
        ]
    else:
        body += [
            f"  %r1 = add {t} %r0, %d",
            f"  %r = select i1 %fix, {t} %r1, {t} %r0",
            f"  %res = select i1 %odd, {t} 0, {t} %r",
        ]
    return "\n".join([head, *body, f"  ret {t} %res", "}"])


def _int_power(dtype: str, t: str, unsigned: bool) -> str:
    """Square and multiply, wrapping; a negative exponent gives the truncated quotient 1 / a**|b|."""
    guard = [] if unsigned else [f"  %neg = icmp slt {t} %b, 0", "  br i1 %neg, label %negative, label %start"]
    negative = [] if unsigned else [
        "negative:",
        f"  %one = icmp eq {t} %a, 1",
        f"  %mone = icmp eq {t} %a, -1",
        f"  %low = and {t} %b, 1",
        f"  %isodd = icmp eq {t} %low, 1",
        f"  %sgn = select i1 %isodd, {t} -1, {t} 1",
        f"  %r1 = select i1 %mone, {t} %sgn, {t} 0",
        f"  %r2 = select i1 %one, {t} 1, {t} %r1",
        f"  ret {t} %r2",
    ]  # fmt: skip
    return "\n".join([
        f"define internal {t} @ae.pow.{dtype}({t} %a, {t} %b) nounwind {{",
        "entry:",
        *(guard or ["  br label %start"]),
        *negative,
        "start:",
        "  br label %loop",
        "loop:",
        f"  %base = phi {t} [%a, %start], [%sq, %loop]",
        f"  %e = phi {t} [%b, %start], [%e2, %loop]",
        f"  %acc = phi {t} [1, %start], [%next, %loop]",
        f"  %bit = and {t} %e, 1",
        f"  %odd = icmp ne {t} %bit, 0",
        f"  %times = mul {t} %acc, %base",
        f"  %next = select i1 %odd, {t} %times, {t} %acc",
        f"  %sq = mul {t} %base, %base",
        f"  %e2 = lshr {t} %e, 1",
        f"  %done = icmp eq {t} %e2, 0",
        "  br i1 %done, label %end, label %loop",
        "end:",
        f"  ret {t} %next",
        "}",
    ])  # fmt: skip


def _double_to_half(x: str, out: str, fresh: Fresh) -> list[str]:
    """Through single precision without rounding twice: the first rounding is to odd, so the second is exact.

    Boldo, Melquiond, "Emulation of FMA and correctly rounded sums: proved algorithms using rounding to odd", 2008.
    """
    near, back, bits, over, low, exact, nan, keep, odd, chosen, single, rounded = (fresh("h") for _ in range(12))
    size, back_size = fresh("h"), fresh("h")
    return [
        f"{near} = fptrunc double {x} to float",
        f"{back} = fpext float {near} to double",
        f"{bits} = bitcast float {near} to i32",
        f"{size} = bitcast double {x} to i64",
        f"{back_size} = bitcast double {back} to i64",
        f"{over} = icmp ugt i64 {back_size}, {size}",  # same sign, so the magnitude was rounded up
        f"{low} = sext i1 {over} to i32",
        f"{exact} = fcmp oeq double {back}, {x}",
        f"{nan} = fcmp uno double {x}, {x}",
        f"{keep} = or i1 {exact}, {nan}",
        f"{odd} = add i32 {bits}, {low}",
        f"{chosen} = or i32 {odd}, 1",
        f"{single} = select i1 {keep}, i32 {bits}, i32 {chosen}",
        f"{rounded} = bitcast i32 {single} to float",
        f"{out} = fptrunc float {rounded} to half",
    ]


def _float_to_unsigned(source: str, x: str, out: str, fresh: Fresh) -> list[str]:
    """Through signed integers: what instructions for unsigned ones give for negative numbers, and whether a processor
    has them, differs."""
    s, middle = LLVM_TYPES[source], literal(2.0**63, source)
    high, moved, chosen, wide, frozen, flip = (fresh("u") for _ in range(6))
    return [
        f"{high} = fcmp oge {s} {x}, {middle}",
        f"{moved} = fsub {s} {x}, {middle}",
        f"{chosen} = select i1 {high}, {s} {moved}, {s} {x}",
        f"{wide} = fptosi {s} {chosen} to i64",
        f"{frozen} = freeze i64 {wide}",
        f"{flip} = select i1 {high}, i64 {-(2**63)}, i64 0",
        f"{out} = xor i64 {frozen}, {flip}",
    ]


def conversion(source: str, target: str, x: str, out: str, fresh: Fresh) -> list[str]:
    """Lines that convert a value between dtypes with C's (and NumPy's) rules; float to int never is undefined."""
    s, t = LLVM_TYPES[source], LLVM_TYPES[target]
    if s == t:
        return [f"{out} = select i1 true, {t} {x}, {t} {x}"]
    if target == "bool":
        if is_float(source):
            return [f"{out} = fcmp une {s} {x}, {literal(0.0, source)}"]
        return [f"{out} = icmp ne {s} {x}, 0"]
    if source == "float64" and target == "float16":
        return _double_to_half(x, out, fresh)
    if is_float(source) and is_float(target):
        order = ("float16", "float32", "float64")
        return [f"{out} = {'fpext' if order.index(source) < order.index(target) else 'fptrunc'} {s} {x} to {t}"]
    if is_float(source):
        # Through 64 bits, so that narrow integers wrap as they do in NumPy; NaN and overflow are frozen, not poison.
        wide, frozen = fresh("w"), fresh("f")
        if target == "uint64":
            return _float_to_unsigned(source, x, out, fresh)
        lines = [f"{wide} = fptosi {s} {x} to i64"]
        if t == "i64":
            return [*lines, f"{out} = freeze i64 {wide}"]
        return [*lines, f"{frozen} = freeze i64 {wide}", f"{out} = trunc i64 {frozen} to {t}"]
    if is_float(target):
        return [f"{out} = {'uitofp' if is_unsigned(source) else 'sitofp'} {s} {x} to {t}"]
    if int(s[1:]) > int(t[1:]):
        return [f"{out} = trunc {s} {x} to {t}"]
    return [f"{out} = {'zext' if is_unsigned(source) else 'sext'} {s} {x} to {t}"]
