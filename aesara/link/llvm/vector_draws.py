"""Draws of vectors that NumPy has written in Cython, in LLVM IR around its C functions for numbers.

======================================  ==============================================================================
``draw.dirichlet(state, alpha, out, n)``  a vector of n numbers whose sum is one
======================================  ==============================================================================
"""

from __future__ import annotations

import re

__all__ = ["DRAWS", "called_by"]

#: NumPy breaks a stick where all concentrations are below 0.1, since all gamma numbers might be zero
_DIRICHLET = """
declare double @random.random_beta(ptr, double, double)
declare double @random.random_standard_gamma(ptr, double)
define internal void @draw.dirichlet(ptr %state, ptr %alpha, ptr %out, i64 %n) noinline nounwind {
entry:
  %last = sub i64 %n, 1
  %last.at = getelementptr double, ptr %out, i64 %last
  %some = icmp sgt i64 %n, 0
  br i1 %some, label %sum, label %done
sum:
  %s = phi i64 [%n, %entry], [%s.next, %sum]
  %total = phi double [0.0, %entry], [%total.next, %sum]
  %small = phi i1 [true, %entry], [%small.next, %sum]
  %s.next = sub i64 %s, 1
  %s.a.at = getelementptr double, ptr %alpha, i64 %s.next
  %s.a = load double, ptr %s.a.at
  %total.next = fadd double %total, %s.a
  %s.out = getelementptr double, ptr %out, i64 %s.next
  store double %total.next, ptr %s.out
  %s.small = fcmp olt double %s.a, 0x3FB999999999999A
  %small.next = and i1 %small, %s.small
  %s.more = icmp sgt i64 %s.next, 0
  br i1 %s.more, label %sum, label %summed
summed:
  br i1 %small.next, label %sticks, label %gamma
sticks:
  %nothing = fcmp oeq double %total.next, 0.0
  br i1 %nothing, label %clear, label %stick
stick:
  %k = phi i64 [0, %sticks], [%k.next, %broken]
  %rest = phi double [1.0, %sticks], [%rest.next, %broken]
  %k.more = icmp slt i64 %k, %last
  br i1 %k.more, label %break, label %end
break:
  %k.next = add i64 %k, 1
  %k.a.at = getelementptr double, ptr %alpha, i64 %k
  %k.a = load double, ptr %k.a.at
  %tail.at = getelementptr double, ptr %out, i64 %k.next
  %tail = load double, ptr %tail.at
  %part = call double @random.random_beta(ptr %state, double %k.a, double %tail)
  %k.value = fmul double %rest, %part
  %k.out = getelementptr double, ptr %out, i64 %k
  store double %k.value, ptr %k.out
  %left = fsub double 1.0, %part
  %rest.next = fmul double %rest, %left
  %no.tail = fcmp oeq double %tail, 0.0
  br i1 %no.tail, label %clear, label %broken
broken:
  br label %stick
clear:
  %c.first = phi i64 [0, %sticks], [%k.next, %break]
  %c.rest = phi double [0.0, %sticks], [%rest.next, %break]
  br label %clear.next
clear.next:
  %c = phi i64 [%c.first, %clear], [%c.next, %clear.one]
  %c.more = icmp slt i64 %c, %last
  br i1 %c.more, label %clear.one, label %end
clear.one:
  %c.out = getelementptr double, ptr %out, i64 %c
  store double 0.0, ptr %c.out
  %c.next = add i64 %c, 1
  br label %clear.next
end:
  %e.rest = phi double [%rest, %stick], [%c.rest, %clear.next]
  store double %e.rest, ptr %last.at
  br label %done
gamma:
  %g = phi i64 [0, %summed], [%g.next, %gamma]
  %g.total = phi double [0.0, %summed], [%g.total.next, %gamma]
  %g.a.at = getelementptr double, ptr %alpha, i64 %g
  %g.a = load double, ptr %g.a.at
  %g.value = call double @random.random_standard_gamma(ptr %state, double %g.a)
  %g.out = getelementptr double, ptr %out, i64 %g
  store double %g.value, ptr %g.out
  %g.total.next = fadd double %g.total, %g.value
  %g.next = add i64 %g, 1
  %g.more = icmp slt i64 %g.next, %n
  br i1 %g.more, label %gamma, label %drawn
drawn:
  %factor = fdiv double 1.0, %g.total.next
  br label %scale
scale:
  %f = phi i64 [0, %drawn], [%f.next, %scale]
  %f.out = getelementptr double, ptr %out, i64 %f
  %f.value = load double, ptr %f.out
  %f.scaled = fmul double %f.value, %factor
  store double %f.scaled, ptr %f.out
  %f.next = add i64 %f, 1
  %f.more = icmp slt i64 %f.next, %n
  br i1 %f.more, label %scale, label %done
done:
  ret void
}"""

#: the text of each function, by its symbol
DRAWS = {"draw.dirichlet": _DIRICHLET.strip()}


def called_by(text: str) -> set[str]:
    """The symbols of the C functions that a text declares.

    Examples
    --------
    >>> sorted(called_by(DRAWS["draw.dirichlet"]))
    ['random.random_beta', 'random.random_standard_gamma']
    """
    return set(re.findall(r"^declare \S+ @([\w.]+)", text, re.MULTILINE))
