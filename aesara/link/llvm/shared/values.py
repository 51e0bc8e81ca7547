"""Values that a function shares with others: guards of what it updates, and memory that may be overwritten.

=========================================================================  ===========================================
``secure(frame, plan, careful, entry, self, args, nargs, names)``          take guards, if the function updates and
                                                                           needs them, and hold references to shared
                                                                           values if `careful`; returns whether to go
                                                                           on; otherwise the frame has the result of
                                                                           a repeated call of the entry after waiting
``reuse(table, descriptor, rank, shape, old, holders, source, bytes)``     the array `old`, if it owns its memory and
                                                                           has `holders` references; otherwise a new
                                                                           one with bytes of the source; null if there
                                                                           is no memory
=========================================================================  ===========================================
"""

__all__ = ["GIVE_GUARDS", "VALUES"]

VALUES = """
define i1 @ae.secure(
  ptr %frame, ptr %plan, i1 %careful, ptr %again.at, ptr %self, ptr %args, i64 %nargs, ptr %names
) nounwind {
entry:
  %table = field ptr %self, ARRAY_DATA
  %guards = field i64 %plan, PLAN_GUARDS
  %updates = icmp ne i64 %guards, 0
  br i1 %updates, label %look, label %hold
look:
  ; While no guards are held, a call that keeps the GIL needs none.
  %state = word state
  %native = field i64 %state, STATE_NATIVE
  %others = field i64 %state, STATE_PYTHON
  %both = or i64 %native, %others
  %some = icmp ne i64 %both, 0
  %needed = or i1 %some, %careful
  br i1 %needed, label %ask, label %hold
ask:
  %me = call i64 @ae.me(ptr %table)
  %taken = call i1 @ae.guards.take(ptr %frame, ptr %table, ptr %plan, i64 %me)
  br i1 %taken, label %hold, label %wait
wait:
  %waiting = add i64 %native, 1
  set i64 %waiting, %state, STATE_NATIVE
  %callee = word wait
  %got = ask ptr PyObject_Vectorcall(ptr %callee, ptr null, i64 0, ptr null)
  %failed = icmp eq ptr %got, null
  br i1 %failed, label %gone, label %again
gone:
  %now = field i64 %state, STATE_NATIVE
  %fewer = sub i64 %now, 1
  set i64 %fewer, %state, STATE_NATIVE
  br label %leave
again:
  ; Values read before are outdated.
  ask void Py_DecRef(ptr %got)
  set i64 1, %frame, FRAME_GUARDED
  %new = call ptr %again.at(ptr %self, ptr %args, i64 %nargs, ptr %names)
  br label %leave
leave:
  %answer = phi ptr [null, %gone], [%new, %again]
  %unused = field ptr %frame, FRAME_ANSWER
  ask void Py_DecRef(ptr %unused)
  call void @ae.guards.give(ptr %frame, ptr %table, ptr %plan)
  set ptr %answer, %frame, FRAME_ANSWER
  ret i1 false

hold:
  br i1 %careful, label %cells, label %go
cells:
  %count = field i64 %plan, PLAN_CELLS
  %first.at = field i64 %plan, PLAN_FIRST_CELL
  %first = at %table, %first.at
  %held.at = field i64 %plan, PLAN_HELD
  %held = at %frame, %held.at
  br label %cell
cell:
  %k = phi i64 [0, %cells], [%k.next, %next]
  %more = icmp slt i64 %k, %count
  br i1 %more, label %keep, label %kept
keep:
  ; The user may have emptied the cell of an argument that is updated.
  %box = item ptr %first, %k
  %length = field i64 %box, LIST_LENGTH
  %filled = icmp sgt i64 %length, 0
  br i1 %filled, label %full, label %next
full:
  %items = field ptr %box, LIST_ITEMS
  %value = load ptr, ptr %items
  ask void Py_IncRef(ptr %value)
  br label %next
next:
  %object = phi ptr [null, %keep], [%value, %full]
  %p = getelementptr ptr, ptr %held, i64 %k
  store ptr %object, ptr %p
  %k.next = add i64 %k, 1
  br label %cell
kept:
  set i64 %count, %frame, FRAME_HOLDING
  br label %go
go:
  ret i1 true
}

; Take all guards if none is held or wanted by others.  This and the next count the calls with guards.
define internal i1 @ae.guards.take(ptr %frame, ptr %table, ptr %plan, i64 %me) nounwind {
entry:
  %first.at = field i64 %plan, PLAN_FIRST_GUARD
  %count = field i64 %plan, PLAN_GUARDS
  %guards = at %table, %first.at
  br label %look
look:
  %k = phi i64 [0, %entry], [%k.next, %next]
  %guard = item ptr %guards, %k
  %owner = field i64 %guard, GUARD_OWNER
  %wanted = field i64 %guard, GUARD_WANTED
  %mine = icmp eq i64 %owner, %me
  %either = or i64 %owner, %wanted
  %free = icmp eq i64 %either, 0
  %good = or i1 %mine, %free
  br i1 %good, label %next, label %refused
next:
  %k.next = add i64 %k, 1
  %more = icmp slt i64 %k.next, %count
  br i1 %more, label %look, label %take
take:
  %j = phi i64 [0, %next], [%j.next, %take]
  %taken = item ptr %guards, %j
  set i64 %me, %taken, GUARD_OWNER
  %depth = field i64 %taken, GUARD_DEPTH
  %deeper = add i64 %depth, 1
  set i64 %deeper, %taken, GUARD_DEPTH
  %j.next = add i64 %j, 1
  %j.more = icmp slt i64 %j.next, %count
  br i1 %j.more, label %take, label %done
done:
  %state = word state
  %calls = field i64 %state, STATE_NATIVE
  %calls.more = add i64 %calls, 1
  set i64 %calls.more, %state, STATE_NATIVE
  set i64 1, %frame, FRAME_GUARDED
  ret i1 true
refused:
  ret i1 false
}

define ptr @ae.reuse(
  ptr %table, i64 %descr.at, i32 %rank, ptr %shape, ptr %old, i32 %holders, ptr %source, i64 %bytes
) nounwind {
entry:
  %references = load i32, ptr %old
  %flags = field i32 %old, ARRAY_FLAGS
  %masked = and i32 %flags, {OWN}
  %single = icmp eq i32 %references, %holders
  %owned = icmp eq i32 %masked, {OWN}
  %free = and i1 %single, %owned
  br i1 %free, label %take, label %make
take:
  ask void Py_IncRef(ptr %old)
  ret ptr %old
make:
  %made = ask ptr array(ptr %table, i64 %descr.at, i32 %rank, ptr %shape, ptr null)
  %failed = icmp eq ptr %made, null
  %empty = icmp eq ptr %source, null
  %plain = or i1 %failed, %empty
  br i1 %plain, label %done, label %copy
copy:
  %data = field ptr %made, ARRAY_DATA
  call void @llvm.memcpy.p0.p0.i64(ptr %data, ptr %source, i64 %bytes, i1 false)
  br label %done
done:
  ret ptr %made
}
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
"""

#: the routine for the end of a call, linked with the epilogue
GIVE_GUARDS = """
; Release the guards of the call.
define internal void @ae.guards.give(ptr %frame, ptr %table, ptr %plan) nounwind {
entry:
  %guarded = field i64 %frame, FRAME_GUARDED
  %some = icmp ne i64 %guarded, 0
  br i1 %some, label %begin, label %done
begin:
  set i64 0, %frame, FRAME_GUARDED
  %state = word state
  %calls = field i64 %state, STATE_NATIVE
  %calls.less = sub i64 %calls, 1
  set i64 %calls.less, %state, STATE_NATIVE
  %first.at = field i64 %plan, PLAN_FIRST_GUARD
  %count = field i64 %plan, PLAN_GUARDS
  %guards = at %table, %first.at
  br label %give
give:
  %k = phi i64 [0, %begin], [%k.next, %next]
  %guard = item ptr %guards, %k
  %depth = field i64 %guard, GUARD_DEPTH
  %less = sub i64 %depth, 1
  set i64 %less, %guard, GUARD_DEPTH
  %free = icmp eq i64 %less, 0
  br i1 %free, label %open, label %next
open:
  set i64 0, %guard, GUARD_OWNER
  %bell = field ptr %guard, GUARD_BELL
  %silent = icmp eq ptr %bell, null
  br i1 %silent, label %next, label %ring
ring:
  ask void PyThread_release_lock(ptr %bell)
  br label %next
next:
  %k.next = add i64 %k, 1
  %more = icmp slt i64 %k.next, %count
  br i1 %more, label %give, label %done
done:
  ret void
}
"""
