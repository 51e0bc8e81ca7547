"""Random generators: their locks, and their words out of and back into their own memory.

================================================  ===================================================================
``attach(frame, table, plan, box, number)``       give the call the link in the box, of the generator with this number
``open(frame, table, plan, number, to)``          copy the words of a generator, under its lock; returns whether that
                                                  was possible
``hold(frame, table, plan)``                      take the locks of all generators that the call draws from; returns
                                                  whether that was possible
``fetch(frame, plan, number, to)``                copy the words of a generator whose lock the call has
``settle(frame, plan, number, before)``           whether the words of a generator whose lock the call has are still
                                                  these
``keep(frame, table, plan)``                      copy new words into the memory of generators, drop the arrays that
                                                  have them, and release the locks of these generators
``unlock.all(frame, table, plan)``                release all locks that the call has
================================================  ===================================================================

Locks that a call holds at the same time are taken in the order of the addresses of the bit generators, whatever the
function calls these: of two calls that draw from the same ones, none waits for the other with a lock that it needs.

Calls that draw from no generator do without these routines.

The frame has the link of a generator as long as the call needs it, and what releases its lock as long as it has that.
"""

from __future__ import annotations

__all__ = ["GENERATORS"]

GENERATORS = """
define void @ae.attach(ptr %frame, ptr %table, ptr %plan, ptr %box, i64 %number) nounwind {
entry:
  %items = field ptr %box, LIST_ITEMS
  %link = load ptr, ptr %items
  ask void Py_IncRef(ptr %link)
  %linked.at = field i64 %plan, PLAN_LINKED
  %linked = at %frame, %linked.at
  %place = getelementptr ptr, ptr %linked, i64 %number
  store ptr %link, ptr %place
  ret void
}

define i1 @ae.open(ptr %frame, ptr %table, ptr %plan, i64 %number, ptr %to) nounwind {
entry:
  %taken = call i1 @ae.lock(ptr %frame, ptr %table, ptr %plan, i64 %number)
  br i1 %taken, label %copy, label %failed
copy:
  call void @ae.fetch(ptr %frame, ptr %plan, i64 %number, ptr %to)
  call void @ae.unlock(ptr %frame, ptr %table, ptr %plan, i64 %number)
  ret i1 true
failed:
  ret i1 false
}

define void @ae.fetch(ptr %frame, ptr %plan, i64 %number, ptr %to) nounwind {
entry:
  %facts = call ptr @ae.link.of(ptr %frame, ptr %plan, i64 %number)
  %header = at %facts, LINK_HEADER
  call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %header, i64 {HEADER}, i1 false)
  %count = field i64 %facts, LINK_PIECES
  %first = at %facts, LINK_FIRST
  br label %next
next:
  %k = phi i64 [0, %entry], [%k.next, %piece]
  %at = phi ptr [%first, %entry], [%at.next, %piece]
  %more = icmp slt i64 %k, %count
  br i1 %more, label %piece, label %done
piece:
  %target.at = field i64 %at, PIECE_PLACE
  %target = getelementptr i8, ptr %to, i64 %target.at
  %size = field i64 %at, PIECE_SIZE
  %source = field ptr %at, PIECE_AT
  call void @llvm.memcpy.p0.p0.i64(ptr %target, ptr %source, i64 %size, i1 false)
  %at.next = at %at, {PIECE}
  %k.next = add i64 %k, 1
  br label %next
done:
  ret void
}

; Each round takes the lock of the bit generator with the lowest address above that of the round before.
define i1 @ae.hold(ptr %frame, ptr %table, ptr %plan) nounwind {
entry:
  %count = field i64 %plan, PLAN_DRAWN
  %pairs.at = field i64 %plan, PLAN_DRAWN_AT
  %pairs = at %plan, %pairs.at
  br label %round
round:
  %last = phi i64 [0, %entry], [%lowest, %locked]
  br label %next
next:
  %k = phi i64 [0, %round], [%k.next, %compare]
  %lowest = phi i64 [-1, %round], [%lowest.next, %compare]
  %chosen = phi i64 [-1, %round], [%chosen.next, %compare]
  %more = icmp slt i64 %k, %count
  br i1 %more, label %compare, label %through
compare:
  %pair = shl i64 %k, 1
  %second = or i64 %pair, 1
  %number = item i64 %pairs, %second
  %facts = call ptr @ae.link.of(ptr %frame, ptr %plan, i64 %number)
  %bits = field i64 %facts, LINK_BITS
  %above = icmp ugt i64 %bits, %last
  %below = icmp ult i64 %bits, %lowest
  %better = and i1 %above, %below
  %lowest.next = select i1 %better, i64 %bits, i64 %lowest
  %chosen.next = select i1 %better, i64 %number, i64 %chosen
  %k.next = add i64 %k, 1
  br label %next
through:
  %none = icmp slt i64 %chosen, 0
  br i1 %none, label %done, label %lock
lock:
  %taken = call i1 @ae.lock(ptr %frame, ptr %table, ptr %plan, i64 %chosen)
  br i1 %taken, label %locked, label %failed
locked:
  br label %round
done:
  ret i1 true
failed:
  ret i1 false
}

; The words that a link begins with.
define internal ptr @ae.facts(ptr %link) nounwind {
entry:
  %items = field ptr %link, LIST_ITEMS
  %array = load ptr, ptr %items
  %facts = field ptr %array, ARRAY_DATA
  ret ptr %facts
}

define internal ptr @ae.link.of(ptr %frame, ptr %plan, i64 %number) nounwind {
entry:
  %linked.at = field i64 %plan, PLAN_LINKED
  %linked = at %frame, %linked.at
  %link = item ptr %linked, %number
  %facts = call ptr @ae.facts(ptr %link)
  ret ptr %facts
}

; Take the lock of a generator; whether an exception is set if not.
define internal i1 @ae.lock(ptr %frame, ptr %table, ptr %plan, i64 %number) nounwind {
entry:
  %facts = call ptr @ae.link.of(ptr %frame, ptr %plan, i64 %number)
  %take = field ptr %facts, LINK_TAKE
  %answer = ask ptr PyObject_Vectorcall(ptr %take, ptr null, i64 0, ptr null)
  %failed = icmp eq ptr %answer, null
  br i1 %failed, label %raised, label %taken
taken:
  ask void Py_DecRef(ptr %answer)
  %release = field ptr %facts, LINK_RELEASE
  %locked.at = field i64 %plan, PLAN_LOCKED
  %locked = at %frame, %locked.at
  %place = getelementptr ptr, ptr %locked, i64 %number
  store ptr %release, ptr %place
  ret i1 true
raised:
  ret i1 false
}

; Release the lock of a generator, if the call has it; an exception that is set stays.
define internal void @ae.unlock(ptr %frame, ptr %table, ptr %plan, i64 %number) nounwind {
entry:
  %error = alloca [3 x ptr]
  %locked.at = field i64 %plan, PLAN_LOCKED
  %locked = at %frame, %locked.at
  %place = getelementptr ptr, ptr %locked, i64 %number
  %release = load ptr, ptr %place
  %none = icmp eq ptr %release, null
  br i1 %none, label %done, label %give
give:
  store ptr null, ptr %place
  %value = at %error, 8
  %trace = at %error, 16
  ask void PyErr_Fetch(ptr %error, ptr %value, ptr %trace)
  %answer = ask ptr PyObject_Vectorcall(ptr %release, ptr null, i64 0, ptr null)
  ask void Py_DecRef(ptr %answer)
  %a = load ptr, ptr %error
  %b = load ptr, ptr %value
  %c = load ptr, ptr %trace
  ask void PyErr_Restore(ptr %a, ptr %b, ptr %c)
  br label %done
done:
  ret void
}

define void @ae.unlock.all(ptr %frame, ptr %table, ptr %plan) nounwind {
entry:
  %count = field i64 %plan, PLAN_LINKS
  br label %next
next:
  %k = phi i64 [0, %entry], [%k.next, %unlock]
  %more = icmp slt i64 %k, %count
  br i1 %more, label %unlock, label %done
unlock:
  call void @ae.unlock(ptr %frame, ptr %table, ptr %plan, i64 %k)
  %k.next = add i64 %k, 1
  br label %next
done:
  ret void
}

define i1 @ae.settle(ptr %frame, ptr %plan, i64 %number, ptr %before) nounwind {
entry:
  %facts = call ptr @ae.link.of(ptr %frame, ptr %plan, i64 %number)
  %count = field i64 %facts, LINK_PIECES
  %first = at %facts, LINK_FIRST
  br label %next
next:
  %k = phi i64 [0, %entry], [%k.next, %through]
  %at = phi ptr [%first, %entry], [%at.next, %through]
  %more = icmp slt i64 %k, %count
  br i1 %more, label %piece, label %same
piece:
  %mine.at = field i64 %at, PIECE_PLACE
  %mine = getelementptr i8, ptr %before, i64 %mine.at
  %size = field i64 %at, PIECE_SIZE
  %now = field ptr %at, PIECE_AT
  br label %byte
byte:
  %b = phi i64 [0, %piece], [%b.next, %equal]
  %b.more = icmp slt i64 %b, %size
  br i1 %b.more, label %compare, label %through
compare:
  %mine.byte = item i8 %mine, %b
  %now.byte = item i8 %now, %b
  %b.next = add i64 %b, 1
  %differs = icmp ne i8 %mine.byte, %now.byte
  br i1 %differs, label %drawn, label %equal
equal:
  br label %byte
through:
  %at.next = at %at, {PIECE}
  %k.next = add i64 %k, 1
  br label %next
same:
  ret i1 true
drawn:
  ret i1 false
}

define void @ae.keep(ptr %frame, ptr %table, ptr %plan) nounwind {
entry:
  %count = field i64 %plan, PLAN_DRAWN
  %pairs.at = field i64 %plan, PLAN_DRAWN_AT
  %pairs = at %plan, %pairs.at
  %results = at %frame, FRAME_PLACES
  br label %next
next:
  %k = phi i64 [0, %entry], [%k.next, %kept]
  %more = icmp slt i64 %k, %count
  br i1 %more, label %generator, label %done
generator:
  %first.of = shl i64 %k, 1
  %second.of = or i64 %first.of, 1
  %output = item i64 %pairs, %first.of
  %number = item i64 %pairs, %second.of
  %array = item ptr %results, %output
  %words = field ptr %array, ARRAY_DATA
  %facts = call ptr @ae.link.of(ptr %frame, ptr %plan, i64 %number)
  %pieces = field i64 %facts, LINK_PIECES
  %first = at %facts, LINK_FIRST
  br label %look
look:
  %j = phi i64 [0, %generator], [%j.next, %piece]
  %at = phi ptr [%first, %generator], [%at.next, %piece]
  %j.more = icmp slt i64 %j, %pieces
  br i1 %j.more, label %piece, label %kept
piece:
  %source.at = field i64 %at, PIECE_PLACE
  %source = getelementptr i8, ptr %words, i64 %source.at
  %size = field i64 %at, PIECE_SIZE
  %target = field ptr %at, PIECE_AT
  call void @llvm.memcpy.p0.p0.i64(ptr %target, ptr %source, i64 %size, i1 false)
  %at.next = at %at, {PIECE}
  %j.next = add i64 %j, 1
  br label %look
kept:
  ask void Py_DecRef(ptr %array)
  call void @ae.unlock(ptr %frame, ptr %table, ptr %plan, i64 %number)
  %k.next = add i64 %k, 1
  br label %next
done:
  ret void
}
"""
