"""Draws of vectors that NumPy has written in Cython, in LLVM IR around its C functions for numbers.

===========================================================  =======================================================
``draw.dirichlet(state, alpha, out, n)``                     n numbers whose sum is one
``draw.subset(state, out, room, count, of, slots)``          some of the numbers up to ``of``, each at most once
``draw.weighted_subset(state, p, out, room, count, of)``     the same by probabilities, which are overwritten
``draw.mrg31k3p(states, streams, count, out)``               integers of streams, one of each in turn
===========================================================  =======================================================
"""

from __future__ import annotations

import re

from aesara.ir.instructions import InstructionWriter, Value
from aesara.scalar import mrg31k3p

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

#: NumPy takes a random number below each of the last ones, and that one itself where it has been taken already
_SUBSET = """
declare i64 @random.random_bounded_uint64(ptr, i64, i64, i64, i32)
define internal void @draw.subset(ptr %state, ptr %out, ptr %room, i64 %count, i64 %of, i64 %slots) noinline nounwind {
entry:
  %first = sub i64 %of, %count
  %fiftieth = sdiv i64 %of, 50
  %many = icmp sgt i64 %of, 10000
  %much = icmp sgt i64 %count, %fiftieth
  %shuffles = and i1 %many, %much
  %size = select i1 %shuffles, i64 %of, i64 %slots
  br label %fill
fill:
  %f = phi i64 [0, %entry], [%f.next, %fill.one]
  %f.more = icmp slt i64 %f, %size
  br i1 %f.more, label %fill.one, label %filled
fill.one:
  %f.value = select i1 %shuffles, i64 %f, i64 -1
  %f.at = getelementptr i64, ptr %room, i64 %f
  store i64 %f.value, ptr %f.at
  %f.next = add i64 %f, 1
  br label %fill
filled:
  br i1 %shuffles, label %tail, label %take
tail:
  %t.last = sub i64 %of, 1
  %t.one = icmp sgt i64 %first, 1
  %t.first = select i1 %t.one, i64 %first, i64 1
  call void @draw.shuffle(ptr %state, ptr %room, i64 %t.last, i64 %t.first)
  br label %copy
copy:
  %c = phi i64 [0, %tail], [%c.next, %copy.one]
  %c.more = icmp slt i64 %c, %count
  br i1 %c.more, label %copy.one, label %done
copy.one:
  %c.place = add i64 %first, %c
  %c.from = getelementptr i64, ptr %room, i64 %c.place
  %c.value = load i64, ptr %c.from
  %c.to = getelementptr i64, ptr %out, i64 %c
  store i64 %c.value, ptr %c.to
  %c.next = add i64 %c, 1
  br label %copy
take:
  %k = phi i64 [0, %filled], [%k.next, %kept]
  %k.more = icmp slt i64 %k, %count
  br i1 %k.more, label %draw, label %taken
draw:
  %last = add i64 %first, %k
  %drawn = call i64 @random.random_bounded_uint64(ptr %state, i64 0, i64 %last, i64 0, i32 0)
  %start = urem i64 %drawn, %slots
  br label %look
look:
  %slot = phi i64 [%start, %draw], [%slot.next, %other]
  %slot.at = getelementptr i64, ptr %room, i64 %slot
  %there = load i64, ptr %slot.at
  %free = icmp eq i64 %there, -1
  br i1 %free, label %keep, label %compare
compare:
  %again = icmp eq i64 %there, %drawn
  br i1 %again, label %instead, label %other
other:
  %slot.above = add i64 %slot, 1
  %slot.next = urem i64 %slot.above, %slots
  br label %look
instead:
  %i.start = urem i64 %last, %slots
  br label %i.look
i.look:
  %i.slot = phi i64 [%i.start, %instead], [%i.slot.next, %i.other]
  %i.at = getelementptr i64, ptr %room, i64 %i.slot
  %i.there = load i64, ptr %i.at
  %i.free = icmp eq i64 %i.there, -1
  br i1 %i.free, label %keep, label %i.other
i.other:
  %i.slot.above = add i64 %i.slot, 1
  %i.slot.next = urem i64 %i.slot.above, %slots
  br label %i.look
keep:
  %value = phi i64 [%drawn, %look], [%last, %i.look]
  %place = phi ptr [%slot.at, %look], [%i.at, %i.look]
  store i64 %value, ptr %place
  %k.out = getelementptr i64, ptr %out, i64 %k
  store i64 %value, ptr %k.out
  br label %kept
kept:
  %k.next = add i64 %k, 1
  br label %take
taken:
  %s.last = sub i64 %count, 1
  call void @draw.shuffle(ptr %state, ptr %out, i64 %s.last, i64 1)
  br label %done
done:
  ret void
}
; From the last place down to the first, each changes places with one that is not behind it.
define internal void @draw.shuffle(ptr %state, ptr %numbers, i64 %last, i64 %first) noinline nounwind {
entry:
  br label %next
next:
  %k = phi i64 [%last, %entry], [%k.next, %swap]
  %more = icmp sge i64 %k, %first
  br i1 %more, label %swap, label %done
swap:
  %other = call i64 @random.random_bounded_uint64(ptr %state, i64 0, i64 %k, i64 0, i32 0)
  %here.at = getelementptr i64, ptr %numbers, i64 %k
  %there.at = getelementptr i64, ptr %numbers, i64 %other
  %here = load i64, ptr %here.at
  %there = load i64, ptr %there.at
  store i64 %there, ptr %here.at
  store i64 %here, ptr %there.at
  %k.next = sub i64 %k, 1
  br label %next
done:
  ret void
}"""

#: what has been taken gets the probability zero in the next round, and counts once in its own
_WEIGHTED_SUBSET = """
declare double @random.random_standard_uniform(ptr)
define internal void @draw.weighted_subset(ptr %state, ptr %p, ptr %out, ptr %sums, i64 %count, i64 %of) nounwind {
entry:
  %last = sub i64 %of, 1
  %last.at = getelementptr double, ptr %sums, i64 %last
  br label %round
round:
  %found = phi i64 [0, %entry], [%found.now, %drawn]
  %missing = sub i64 %count, %found
  %some = icmp sgt i64 %missing, 0
  br i1 %some, label %sum, label %done
sum:
  %s = phi i64 [0, %round], [%s.next, %sum]
  %total = phi double [0.0, %round], [%total.next, %sum]
  %s.from = getelementptr double, ptr %p, i64 %s
  %s.p = load double, ptr %s.from
  %total.next = fadd double %total, %s.p
  %s.to = getelementptr double, ptr %sums, i64 %s
  store double %total.next, ptr %s.to
  %s.next = add i64 %s, 1
  %s.more = icmp slt i64 %s.next, %of
  br i1 %s.more, label %sum, label %scale
scale:
  %f = phi i64 [0, %sum], [%f.next, %scale]
  %f.at = getelementptr double, ptr %sums, i64 %f
  %f.sum = load double, ptr %f.at
  %f.part = fdiv double %f.sum, %total.next
  store double %f.part, ptr %f.at
  %f.next = add i64 %f, 1
  %f.more = icmp slt i64 %f.next, %of
  br i1 %f.more, label %scale, label %draws
draws:
  br label %draw
draw:
  %d = phi i64 [0, %draws], [%d.next, %next]
  %found.now = phi i64 [%found, %draws], [%found.next, %next]
  %d.more = icmp slt i64 %d, %missing
  br i1 %d.more, label %one, label %drawn
one:
  %u = call double @random.random_standard_uniform(ptr %state)
  br label %search
search:
  %low = phi i64 [0, %one], [%low.next, %halve]
  %high = phi i64 [%last, %one], [%high.next, %halve]
  %open = icmp slt i64 %low, %high
  br i1 %open, label %halve, label %place
halve:
  %both = add i64 %low, %high
  %middle = lshr i64 %both, 1
  %m.at = getelementptr double, ptr %sums, i64 %middle
  %m = load double, ptr %m.at
  %above = fcmp ogt double %m, %u
  %behind = add i64 %middle, 1
  %low.next = select i1 %above, i64 %low, i64 %behind
  %high.next = select i1 %above, i64 %middle, i64 %high
  br label %search
place:
  %p.at = getelementptr double, ptr %p, i64 %low
  %p.here = load double, ptr %p.at
  %again = fcmp oeq double %p.here, 0.0
  br i1 %again, label %next, label %keep
keep:
  store double 0.0, ptr %p.at
  %out.at = getelementptr i64, ptr %out, i64 %found.now
  store i64 %low, ptr %out.at
  %more = add i64 %found.now, 1
  br label %next
next:
  %found.next = phi i64 [%found.now, %place], [%more, %keep]
  %d.next = add i64 %d, 1
  br label %draw
drawn:
  br label %round
done:
  ret void
}"""


def _mrg31k3p() -> str:
    """Return the text of a loop that advances one stream after another by `mrg31k3p.advance`."""
    w = InstructionWriter()
    states, out = w.value("ptr", "%states"), w.value("ptr", "%out")
    streams, count = w.value("i64", "%streams"), w.value("i64", "%count")

    def draw(k: Value, stream: Value) -> list[Value]:
        first = w.at(states, stream, "[6 x i32]")
        places = [w.at(first, word, "i32") for word in range(6)]
        words = [w.load("i32", place) for place in places]
        state = tuple(word.convert("sext", "i64") for word in words)
        following, number = mrg31k3p.advance(state, Value.select)
        unchanged = dict(zip(state, words, strict=True))
        for word, place in zip(following, places, strict=True):
            w.store(unchanged[word] if word in unchanged else word.narrow("i32"), place)
        w.store(number, w.at(out, k, "i64"))
        next_stream = stream + 1
        return [next_stream.equals(streams).select(0, next_stream)]

    w.counted_loop(count, [w.constant("i64", 0)], draw)
    head = "define internal void @draw.mrg31k3p(ptr %states, i64 %streams, i64 %count, ptr %out) noinline nounwind {"
    return "\n".join([head, w.text(), "ret void", "}"])


#: the text of each function, by its symbol
DRAWS = {
    "draw.dirichlet": _DIRICHLET.strip(),
    "draw.subset": _SUBSET.strip(),
    "draw.weighted_subset": _WEIGHTED_SUBSET.strip(),
    "draw.mrg31k3p": _mrg31k3p(),
}


def called_by(text: str) -> set[str]:
    """The symbols of the C functions that a text declares.

    Examples
    --------
    >>> sorted(called_by(DRAWS["draw.dirichlet"]))
    ['random.random_beta', 'random.random_standard_gamma']
    """
    return set(re.findall(r"^declare \S+ @(?!llvm\.)([\w.]+)", text, re.MULTILINE))
