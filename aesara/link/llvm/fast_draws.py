"""Fast draws: the branch that NumPy's C functions nearly always take to draw a number, in LLVM IR, for PCG64.

``try.<name>(state, step, parameters)`` gives the next state, a number, and whether it is one that NumPy would draw.  A
ziggurat draws with one random integer in 99 of 100 cases; the fast draw has only this case.

M. E. O'Neill: PCG, a family of simple fast space-efficient statistically good algorithms for random number generation,
Harvey Mudd College, 2014.
G. Marsaglia, W. W. Tsang: A simple method for generating gamma variables, ACM Transactions on Mathematical Software 26,
2000.
W. Hörmann: The transformed rejection method for generating Poisson random variables, Insurance: Mathematics and
Economics 12, 1993.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator

from aesara.link.llvm.types import literal
from aesara.link.llvm.ziggurats import EXPONENTIAL, LAYERS, NORMAL, Ziggurat, tables

__all__ = ["fast_draws"]

_PCG64 = """
declare i64 @llvm.fshr.i64(i64, i64, i64)
define internal i128 @pcg64.next(i128 %state, i128 %step) alwaysinline nounwind {
  %product = mul i128 %state, 47026247687942121848144207491837523525
  %next = add i128 %product, %step
  ret i128 %next
}
define internal i64 @pcg64.integer(i128 %state) alwaysinline nounwind {
  %low = trunc i128 %state to i64
  %shifted = lshr i128 %state, 64
  %high = trunc i128 %shifted to i64
  %both = xor i64 %high, %low
  %turn = lshr i64 %high, 58
  %integer = call i64 @llvm.fshr.i64(i64 %both, i64 %both, i64 %turn)
  ret i64 %integer
}
define internal double @pcg64.fraction(i128 %state) alwaysinline nounwind {
  %integer = call i64 @pcg64.integer(i128 %state)
  %upper = lshr i64 %integer, 11
  %number = sitofp i64 %upper to double
  %fraction = fmul double %number, 0x3CA0000000000000
  ret double %fraction
}"""

#: for each the others that it needs, and its text, in which RETURN returns several values
_FAST = {
    "standard_uniform": ((), """
define internal {i128, double, i1} @try.standard_uniform(i128 %state, i128 %step) alwaysinline nounwind {
  %next = call i128 @pcg64.next(i128 %state, i128 %step)
  %fraction = call double @pcg64.fraction(i128 %next)
  RETURN i128 %next, double %fraction, i1 true
}"""),
    "uniform": ((), """
define internal {i128, double, i1} @try.uniform(i128 %state, i128 %step, double %low, double %range) alwaysinline {
  %next = call i128 @pcg64.next(i128 %state, i128 %step)
  %fraction = call double @pcg64.fraction(i128 %next)
  %above = fmul double %range, %fraction
  %number = fadd double %low, %above
  RETURN i128 %next, double %number, i1 true
}"""),
    "standard_normal": (("ziggurat.normal",), """
define internal {i128, double, i1} @try.standard_normal(i128 %state, i128 %step) alwaysinline nounwind {
  %next = call i128 @pcg64.next(i128 %state, i128 %step)
  %integer = call i64 @pcg64.integer(i128 %next)
  %layer = and i64 %integer, 255
  %sign = and i64 %integer, 256
  %sign.bit = shl i64 %sign, 55
  %upper = lshr i64 %integer, 9
  %number = and i64 %upper, 4503599627370495
  %width.at = getelementptr [256 x double], ptr @ziggurat.normal.widths, i64 0, i64 %layer
  %width = load double, ptr %width.at
  %bound.at = getelementptr [256 x i64], ptr @ziggurat.normal.bounds, i64 0, i64 %layer
  %bound = load i64, ptr %bound.at
  %float = sitofp i64 %number to double
  %size = fmul double %float, %width
  %size.bits = bitcast double %size to i64
  %bits = xor i64 %size.bits, %sign.bit
  %normal = bitcast i64 %bits to double
  %found = icmp ult i64 %number, %bound
  RETURN i128 %next, double %normal, i1 %found
}"""),
    "normal": (("try.standard_normal",), """
define internal {i128, double, i1} @try.normal(i128 %state, i128 %step, double %loc, double %scale) alwaysinline {
  %one = call {i128, double, i1} @try.standard_normal(i128 %state, i128 %step)
  %normal = extractvalue {i128, double, i1} %one, 1
  %scaled = fmul double %scale, %normal
  %number = fadd double %loc, %scaled
  %result = insertvalue {i128, double, i1} %one, double %number, 1
  ret {i128, double, i1} %result
}"""),
    "standard_exponential": (("ziggurat.exponential",), """
define internal {i128, double, i1} @try.standard_exponential(i128 %state, i128 %step) alwaysinline nounwind {
  %next = call i128 @pcg64.next(i128 %state, i128 %step)
  %integer = call i64 @pcg64.integer(i128 %next)
  %layer.up = lshr i64 %integer, 3
  %layer = and i64 %layer.up, 255
  %number = lshr i64 %integer, 11
  %width.at = getelementptr [256 x double], ptr @ziggurat.exponential.widths, i64 0, i64 %layer
  %width = load double, ptr %width.at
  %bound.at = getelementptr [256 x i64], ptr @ziggurat.exponential.bounds, i64 0, i64 %layer
  %bound = load i64, ptr %bound.at
  %float = sitofp i64 %number to double
  %exponential = fmul double %float, %width
  %found = icmp ult i64 %number, %bound
  RETURN i128 %next, double %exponential, i1 %found
}"""),
    "exponential": (("try.standard_exponential",), """
define internal {i128, double, i1} @try.exponential(i128 %state, i128 %step, double %scale) alwaysinline {
  %one = call {i128, double, i1} @try.standard_exponential(i128 %state, i128 %step)
  %exponential = extractvalue {i128, double, i1} %one, 1
  %number = fmul double %scale, %exponential
  %result = insertvalue {i128, double, i1} %one, double %number, 1
  ret {i128, double, i1} %result
}"""),
    "standard_gamma": (("try.standard_normal", "try.standard_exponential"), """
declare double @llvm.sqrt.f64(double)
declare double @log(double) nounwind willreturn memory(none)
declare double @pow(double, double) nounwind willreturn memory(none)
define internal {i128, double, i1} @try.standard_gamma(i128 %state, i128 %step, double %shape) alwaysinline {
entry:
  %third = fdiv double 1.0, 3.0
  %b = fsub double %shape, %third
  %b9 = fmul double %b, 9.0
  %root = call double @llvm.sqrt.f64(double %b9)
  %c = fdiv double 1.0, %root
  %left = fsub double 1.0, %shape
  %power = fdiv double 1.0, %shape
  %above = fcmp ogt double %shape, 1.0
  %less = fcmp olt double %shape, 1.0
  %some.shape = fcmp ogt double %shape, 0.0
  %below = and i1 %less, %some.shape
  br i1 %above, label %large, label %no.large
large:
  %one = call {i128, double, i1} @try.standard_normal(i128 %state, i128 %step)
  %between = extractvalue {i128, double, i1} %one, 0
  %x = extractvalue {i128, double, i1} %one, 1
  %some = extractvalue {i128, double, i1} %one, 2
  %large.next = call i128 @pcg64.next(i128 %between, i128 %step)
  %u = call double @pcg64.fraction(i128 %large.next)
  %cx = fmul double %c, %x
  %v1 = fadd double %cx, 1.0
  %v2 = fmul double %v1, %v1
  %v = fmul double %v2, %v1
  %square = fmul double %x, %x
  %part = fmul double %square, 0.0331
  %fourth = fmul double %part, %square
  %limit = fsub double 1.0, %fourth
  %gamma = fmul double %b, %v
  %positive = fcmp ogt double %v1, 0.0
  %under = fcmp olt double %u, %limit
  %inside = and i1 %positive, %under
  %large.found = and i1 %some, %inside
  br label %done
no.large:
  br i1 %below, label %small, label %done
small:
  %small.between = call i128 @pcg64.next(i128 %state, i128 %step)
  %p = call double @pcg64.fraction(i128 %small.between)
  %two = call {i128, double, i1} @try.standard_exponential(i128 %small.between, i128 %step)
  %small.next = extractvalue {i128, double, i1} %two, 0
  %e = extractvalue {i128, double, i1} %two, 1
  %small.some = extractvalue {i128, double, i1} %two, 2
  %low = fcmp ole double %p, %left
  br i1 %low, label %raise, label %tail
tail:
  %q = fsub double 1.0, %p
  %ratio = fdiv double %q, %shape
  %log = call double @log(double %ratio)
  %y = fneg double %log
  %shape.y = fmul double %shape, %y
  %base = fadd double %left, %shape.y
  %bound = fadd double %e, %y
  br label %raise
raise:
  %to.raise = phi double [%p, %small], [%base, %tail]
  %end = phi double [%e, %small], [%bound, %tail]
  %raised = call double @pow(double %to.raise, double %power)
  %accepted = fcmp ole double %raised, %end
  %small.found = and i1 %small.some, %accepted
  br label %done
done:
  %next = phi i128 [%large.next, %large], [%small.next, %raise], [%state, %no.large]
  %number = phi double [%gamma, %large], [%raised, %raise], [0.0, %no.large]
  %found = phi i1 [%large.found, %large], [%small.found, %raise], [false, %no.large]
  RETURN i128 %next, double %number, i1 %found
}"""),
    "gamma": (("try.standard_gamma",), """
define internal {i128, double, i1} @try.gamma(i128 %state, i128 %step, double %shape, double %scale) alwaysinline {
  %one = call {i128, double, i1} @try.standard_gamma(i128 %state, i128 %step, double %shape)
  %gamma = extractvalue {i128, double, i1} %one, 1
  %number = fmul double %scale, %gamma
  %result = insertvalue {i128, double, i1} %one, double %number, 1
  ret {i128, double, i1} %result
}"""),
    "poisson": ((), """
declare double @exp(double) nounwind willreturn memory(none)
declare double @log(double) nounwind willreturn memory(none)
declare double @random.random_loggam(double) nounwind willreturn memory(none)
declare double @llvm.sqrt.f64(double)
declare double @llvm.fabs.f64(double)
declare double @llvm.floor.f64(double)
define internal {i128, i64, i1} @try.poisson(i128 %state, i128 %step, double %lam) alwaysinline {
entry:
  %large = fcmp oge double %lam, 10.0
  %minus = fneg double %lam
  %lowest = call double @exp(double %minus)
  %root = call double @llvm.sqrt.f64(double %lam)
  %b.part = fmul double %root, 2.53
  %b = fadd double %b.part, 0.931
  %a.part = fmul double %b, 0.02483
  %a = fadd double %a.part, -0.059
  %a2 = fmul double %a, 2.0
  %v.below = fsub double %b, 2.0
  %v.part = fdiv double 3.6224, %v.below
  %v.limit = fsub double 0.9277, %v.part
  br i1 %large, label %reject, label %multiply
reject:
  %r = phi i128 [%state, %entry], [%last, %log.test], [%last, %no.count]
  %middle = call i128 @pcg64.next(i128 %r, i128 %step)
  %u.whole = call double @pcg64.fraction(i128 %middle)
  %u = fsub double %u.whole, 0.5
  %last = call i128 @pcg64.next(i128 %middle, i128 %step)
  %v = call double @pcg64.fraction(i128 %last)
  %u.size = call double @llvm.fabs.f64(double %u)
  %us = fsub double 0.5, %u.size
  %slope = fdiv double %a2, %us
  %wide = fadd double %slope, %b
  %about.0 = fmul double %wide, %u
  %about.mean = fadd double %about.0, %lam
  %rough = fadd double %about.mean, 0.43
  %floor = call double @llvm.floor.f64(double %rough)
  %inside = fcmp oge double %us, 0.07
  %under = fcmp ole double %v, %v.limit
  %central = and i1 %inside, %under
  %tail = fcmp olt double %us, 0.013
  %safe = select i1 %tail, double 0.0, double %floor
  %k = fptosi double %safe to i64
  br i1 %central, label %done, label %no.center
no.center:
  br i1 %tail, label %done, label %no.count
no.count:
  %negative = icmp slt i64 %k, 0
  br i1 %negative, label %reject, label %log.test
log.test:
  %log.v = call double @log(double %v)
  %alpha.below = fsub double %b, 3.4
  %alpha.part = fdiv double 1.1328, %alpha.below
  %alpha = fadd double %alpha.part, 1.1239
  %log.alpha = call double @log(double %alpha)
  %left.0 = fadd double %log.v, %log.alpha
  %us.square = fmul double %us, %us
  %steep.part = fdiv double %a, %us.square
  %steep = fadd double %steep.part, %b
  %log.steep = call double @log(double %steep)
  %left = fsub double %left.0, %log.steep
  %log.lam = call double @log(double %lam)
  %k.float = sitofp i64 %k to double
  %k.log = fmul double %k.float, %log.lam
  %right.0 = fadd double %minus, %k.log
  %k.more = fadd double %k.float, 1.0
  %gamma = call double @random.random_loggam(double %k.more)
  %right = fsub double %right.0, %gamma
  %accepted = fcmp ole double %left, %right
  br i1 %accepted, label %done, label %reject
multiply:
  br label %factor
factor:
  %s = phi i128 [%state, %multiply], [%s.next, %factor]
  %count = phi i64 [0, %multiply], [%count.next, %factor]
  %product = phi double [1.0, %multiply], [%product.next, %factor]
  %s.next = call i128 @pcg64.next(i128 %s, i128 %step)
  %f = call double @pcg64.fraction(i128 %s.next)
  %product.next = fmul double %product, %f
  %count.next = add i64 %count, 1
  %more = fcmp ogt double %product.next, %lowest
  br i1 %more, label %factor, label %multiplied
multiplied:
  %zero = fcmp oeq double %lam, 0.0
  %drawn = xor i1 %zero, true
  br label %done
done:
  %next = phi i128 [%last, %reject], [%last, %no.center], [%last, %log.test], [%s.next, %multiplied]
  %number = phi i64 [%k, %reject], [0, %no.center], [%k, %log.test], [%count, %multiplied]
  %good = phi i1 [true, %reject], [false, %no.center], [true, %log.test], [%drawn, %multiplied]
  RETURN i128 %next, i64 %number, i1 %good
}"""),
}  # fmt: skip


def fast_draws(name: str) -> Iterator[tuple[str, str]]:
    """The functions and tables of a try, each with its name."""
    yield "@pcg64", _PCG64.strip()
    yield from _texts(f"try.{name}")


def _texts(name: str) -> Iterator[tuple[str, str]]:
    if name == "ziggurat.normal":
        yield f"@{name}", _table("normal", NORMAL)
    elif name == "ziggurat.exponential":
        yield f"@{name}", _table("exponential", EXPONENTIAL)
    else:
        needs, text = _FAST[name.removeprefix("try.")]
        for other in needs:
            yield from _texts(other)
        yield f"@{name}", _with_returns(text.strip())


@functools.cache
def _table(name: str, ziggurat: Ziggurat) -> str:
    widths, bounds = tables(ziggurat)
    rows = ", ".join(f"double {literal(x, 'float64')}" for x in widths), ", ".join(f"i64 {n}" for n in bounds)
    kinds = zip(("widths", "bounds"), ("double", "i64"), rows)
    return "\n".join(f"@ziggurat.{name}.{of} = private constant [{LAYERS} x {t}] [{row}]" for of, t, row in kinds)


def _with_returns(text: str) -> str:
    """Each line ``RETURN a, b, c`` as instructions that return a structure."""
    lines = []
    for line in text.splitlines():
        if line.startswith("  RETURN "):
            values = line.removeprefix("  RETURN ").split(", ")
            kind, made = "{" + ", ".join(v.split()[0] for v in values) + "}", "undef"
            for k, value in enumerate(values):
                lines.append(f"  %result.{k} = insertvalue {kind} {made}, {value}, {k}")
                made = f"%result.{k}"
            line = f"  ret {kind} {made}"
        lines.append(line)
    return "\n".join(lines)
