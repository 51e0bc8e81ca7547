"""Instructions that old processors lack, as functions that give the same bits.

x86-64 processors of before 2013 have no fused multiply-add, some no conversions of half precision.  LLVM would call the
C library for each number.  The functions here work on vectors, so that loops that use them are vectorised.
"""

from __future__ import annotations

import functools
import re

from aesara.link.llvm.target import Target

__all__ = ["externals", "supply_missing"]

_FMA = re.compile(r"@llvm\.fma\.(v(\d+))?(f32|f64)\b")
_DECLARED_FMA = re.compile(r"(?m)^declare [^\n]* @llvm\.fma\.[^\n]*\n?")
#: lengths of vectors of 128 and 256 bits, and of a half of one
_LENGTHS = {"f64": (2, 4), "f32": (2, 4, 8)}


def supply_missing(text: str, target: Target) -> str:
    """The text of a module, with what it asks for and the target lacks."""
    if not target.multiplies_and_adds and "@llvm.fma." in text:
        used = [(int(match[2] or 1), match[3]) for match in _FMA.finditer(text)]
        used += [(n, suffix) for _, suffix in used for n in (1, *_LENGTHS[suffix])]
        text = _FMA.sub(r"@ae.fma.\1\3", _DECLARED_FMA.sub("", text))
        text = "\n".join([text, *(_multiply_add(n, suffix) for n, suffix in dict.fromkeys(used))])
        if any(suffix == "f64" for _, suffix in used):
            text += _LANES
    if target.is_x86 and not target.has("f16c") and re.search(r"\bhalf\b", text):
        text += _HALF
    return text


def externals(text: str, target: Target) -> tuple[str, ...]:
    """The C functions that a module calls besides those that its text names."""
    return ("fma",) if not target.multiplies_and_adds and "@llvm.fma." in text else ()


@functools.cache
def _multiply_add(n: int, suffix: str) -> str:
    """The function ``ae.fma`` for vectors of so many numbers."""

    def kind(element: str) -> str:
        return element if n == 1 else f"<{n} x {element}>"

    def constant(element: str, value: str) -> str:
        return value if n == 1 else f"splat ({element} {value})"

    length = "" if n == 1 else f"v{n}"
    name = f"ae.fma.{length}{suffix}"
    linkage, attributes = "weak_odr hidden", "noinline nounwind willreturn memory(none)"
    if n == 1:
        versions = ",".join(f"_ZGV_LLVM_N{k}vvv_{name}(ae.fma.v{k}{suffix})" for k in _LENGTHS[suffix])
        linkage, attributes = "internal", f'{attributes} "vector-function-abi-variant"="{versions}"'
    body = _DOUBLE if suffix == "f64" else _SINGLE
    words = {
        "D": kind("double"), "F": kind("float"), "L": kind("i64"), "B": kind("i1"),
        "ZERO": constant("double", "0.0"), "ONE": constant("i64", "1"), "NONE": constant("i64", "0"),
        "ROUND": constant("i64", str(1 << 26)), "HEAD": constant("i64", str(-(1 << 27))),
        "MINUS": constant("i64", "-1"), "TINY": constant("double", "0x07B0000000000000"),
        "HUGE": constant("double", "0x7E70000000000000"), "SIZE": f"@llvm.fabs.{length}f64",
    }  # fmt: skip
    body = re.sub(r"\b[A-Z]+\b", lambda match: words[match[0]], body)
    if suffix == "f64":
        body += _REST if n == 1 else _REST_OF_LANES.replace("LENGTH", str(n))
    t = kind("double" if suffix == "f64" else "float")
    return f"\ndefine {linkage} {t} @{name}({t} %a, {t} %b, {t} %c) {attributes} {{{body}}}\n"


def _sum(s: str, e: str, a: str, b: str) -> str:
    """s + e is a + b, exactly, where s is the rounded sum.

    TwoSum: Knuth, The Art of Computer Programming, volume 2, section 4.2.2, theorem B.
    """
    return f"""
      %{s} = fadd D %{a}, %{b}
      %{s}.b = fsub D %{s}, %{a}
      %{s}.a = fsub D %{s}, %{s}.b
      %{s}.lost.a = fsub D %{a}, %{s}.a
      %{s}.lost.b = fsub D %{b}, %{s}.b
      %{e} = fadd D %{s}.lost.a, %{s}.lost.b
    """


def _odd(out: str, s: str, e: str) -> str:
    """The sum s + e of a rounded sum and what it lost, rounded to odd: rounding that once more is rounding once."""
    return f"""
      %{out}.inexact = fcmp one D %{e}, ZERO
      %{out}.bits = bitcast D %{s} to L
      %{out}.last = and L %{out}.bits, ONE
      %{out}.even = icmp eq L %{out}.last, NONE
      %{out}.move = and B %{out}.inexact, %{out}.even
      %{out}.e = bitcast D %{e} to L
      %{out}.differ = xor L %{out}.e, %{out}.bits
      %{out}.inwards = icmp slt L %{out}.differ, NONE
      %{out}.step = select B %{out}.inwards, L MINUS, L ONE
      %{out}.by = select B %{out}.move, L %{out}.step, L NONE
      %{out}.moved = add L %{out}.bits, %{out}.by
      %{out} = bitcast L %{out}.moved to D
    """


# The product as a sum of two numbers (Dekker, "A floating-point technique for extending the available precision",
# 1971, where the heads are rounded in integers), and the sum of three (Boldo, Melquiond, "Emulation of FMA and
# correctly rounded sums: proved algorithms using rounding to odd", 2008).  Where the product is exact, so is this
# without the rest, and zeros get the right sign.  Very large and very small products, infinities and NaNs go to the C
# library.
_DOUBLE = f"""
  %a.bits = bitcast D %a to L
  %b.bits = bitcast D %b to L
  %a.up = add L %a.bits, ROUND
  %b.up = add L %b.bits, ROUND
  %a.cut = and L %a.up, HEAD
  %b.cut = and L %b.up, HEAD
  %a.head = bitcast L %a.cut to D
  %b.head = bitcast L %b.cut to D
  %a.tail = fsub D %a, %a.head
  %b.tail = fsub D %b, %b.head
  %p = fmul D %a, %b
  %hh = fmul D %a.head, %b.head
  %ht = fmul D %a.head, %b.tail
  %th = fmul D %a.tail, %b.head
  %tt = fmul D %a.tail, %b.tail
  %r0 = fsub D %hh, %p
  %r1 = fadd D %r0, %ht
  %r2 = fadd D %r1, %th
  %rest = fadd D %r2, %tt
  {_sum("u", "u.rest", "c", "rest")}
  {_sum("t", "t.rest", "p", "u")}
  {_sum("v", "v.rest", "t.rest", "u.rest")}
  {_odd("w", "v", "v.rest")}
  %z = fadd D %t, %w
  %plain = fadd D %p, %c
  %inexact = fcmp one D %rest, ZERO
  %fast = select B %inexact, D %z, D %plain
  %p.size = call D SIZE(D %p)
  %c.size = call D SIZE(D %c)
  %p.large = fcmp ugt D %p.size, HUGE
  %c.large = fcmp ugt D %c.size, HUGE
  %no.rest = fcmp uno D %rest, ZERO
  %p.small = fcmp olt D %p.size, TINY
  %a.some = fcmp une D %a, ZERO
  %b.some = fcmp une D %b, ZERO
  %some = and B %a.some, %b.some
  %lost = and B %p.small, %some
  %large = or B %p.large, %c.large
  %odd = or B %large, %no.rest
  %unsafe = or B %odd, %lost
"""
_REST = """
  br i1 %unsafe, label %slow, label %end
slow:
  %exact = call double @fma(double %a, double %b, double %c)
  ret double %exact
end:
  ret double %fast
"""
_REST_OF_LANES = """
  %any = call i1 @llvm.vector.reduce.or.vLENGTHi1(<LENGTH x i1> %unsafe)
  br i1 %any, label %slow, label %end
slow:
  %places = alloca [3 x <LENGTH x double>], align 64
  %place.b = getelementptr <LENGTH x double>, ptr %places, i64 1
  %place.c = getelementptr <LENGTH x double>, ptr %places, i64 2
  store <LENGTH x double> %a, ptr %places, align 64
  store <LENGTH x double> %b, ptr %place.b
  store <LENGTH x double> %c, ptr %place.c
  call void @ae.fma.lanes(ptr %places, ptr %place.b, ptr %place.c, i64 LENGTH)
  %exact = load <LENGTH x double>, ptr %places, align 64
  ret <LENGTH x double> %exact
end:
  ret <LENGTH x double> %fast
"""

_LANES = """
define internal void @ae.fma.lanes(ptr %a, ptr %b, ptr %c, i64 %count) noinline optnone cold nounwind {
entry:
  br label %lane
lane:
  %i = phi i64 [0, %entry], [%next, %lane]
  %a.p = getelementptr double, ptr %a, i64 %i
  %b.p = getelementptr double, ptr %b, i64 %i
  %c.p = getelementptr double, ptr %c, i64 %i
  %x = load double, ptr %a.p
  %y = load double, ptr %b.p
  %z = load double, ptr %c.p
  %value = call double @fma(double %x, double %y, double %z)
  store double %value, ptr %a.p
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %count
  br i1 %more, label %lane, label %end
end:
  ret void
}

declare double @fma(double, double, double) nounwind willreturn memory(none)
"""

# In double precision the product is exact.
_SINGLE = f"""
  %a.wide = fpext F %a to D
  %b.wide = fpext F %b to D
  %c.wide = fpext F %c to D
  %p = fmul D %a.wide, %b.wide
  {_sum("s", "s.rest", "p", "c.wide")}
  {_odd("w", "s", "s.rest")}
  %out = fptrunc D %w to F
  ret F %out
"""

# What LLVM calls to convert half precision.  Half to single: the exponent is put right by an exact product.  Single to
# half: the nearest, or the even one of two; numbers below the smallest normal one are rounded by an addition.
_HALF = """
define weak_odr hidden float @__extendhfsf2(half %x) nounwind willreturn memory(none) {
  %bits = bitcast half %x to i16
  %word = zext i16 %bits to i32
  %sign = and i32 %word, 32768
  %size = and i32 %word, 32767
  %high = shl i32 %sign, 16
  %wide = shl i32 %size, 13
  %small = bitcast i32 %wide to float
  %number = fmul float %small, 0x46F0000000000000
  %number.bits = bitcast float %number to i32
  %special = or i32 %wide, 2139095040
  %finite = icmp ult i32 %size, 31744
  %chosen = select i1 %finite, i32 %number.bits, i32 %special
  %signed = or i32 %chosen, %high
  %out = bitcast i32 %signed to float
  ret float %out
}

define weak_odr hidden half @__truncsfhf2(float %x) nounwind willreturn memory(none) {
  %bits = bitcast float %x to i32
  %size = and i32 %bits, 2147483647
  %shifted = lshr i32 %bits, 16
  %sign = and i32 %shifted, 32768
  %plain = bitcast i32 %size to float
  %moved = fadd float %plain, 0.5
  %moved.bits = bitcast float %moved to i32
  %subnormal = sub i32 %moved.bits, 1056964608
  %cut = lshr i32 %size, 13
  %odd = and i32 %cut, 1
  %half = add i32 %size, -939520001
  %rounded = add i32 %half, %odd
  %normal = lshr i32 %rounded, 13
  %is.small = icmp ult i32 %size, 947912704
  %number = select i1 %is.small, i32 %subnormal, i32 %normal
  %payload = and i32 %cut, 1023
  %nan = or i32 %payload, 32256
  %is.nan = icmp ugt i32 %size, 2139095040
  %special = select i1 %is.nan, i32 %nan, i32 31744
  %is.special = icmp uge i32 %size, 1199570944
  %chosen = select i1 %is.special, i32 %special, i32 %number
  %signed = or i32 %chosen, %sign
  %short = trunc i32 %signed to i16
  %out = bitcast i16 %short to half
  ret half %out
}
"""
