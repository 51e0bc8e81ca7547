"""Prologue and epilogue of a call: arguments that are not arrays, result or exception.

=================================================  ==================================================================
``strict(self, args, nargs, names, plan)``         whether the number of arguments is right and they are followed by
                                                   the table, which says that the fallback has run already
``number(table, object, integer, place)``          pointer to the value of a Python number, perhaps `place`, as an
                                                   int64 or a float64; null for other objects
``refuse(frame, self, args, nargs, names, plan)``  the result of the Python fallback, called with the arguments; null,
                                                   with an exception, if it has run already
``finish(frame, table, plan)``                     the result, after updates are stored and the call's resources are
                                                   released
``abort(frame, table, plan, args)``                the same for a call that fails: raises the error in the frame and
                                                   returns null, or returns the result of the reference
=================================================  ==================================================================
"""

from __future__ import annotations

__all__ = ["CALLS"]

CALLS = """
define i1 @ae.strict(ptr %self, ptr %args, i64 %nargs, ptr %names, ptr %plan) nounwind {
entry:
  %explicit = field i64 %plan, PLAN_EXPLICIT
  %with.table = add i64 %explicit, 1
  %one.more = icmp eq i64 %nargs, %with.table
  %plain = icmp eq ptr %names, null
  %both = and i1 %one.more, %plain
  br i1 %both, label %look, label %no
look:
  %last = item ptr %args, %explicit
  %is.table = icmp eq ptr %last, %self
  ret i1 %is.table
no:
  ret i1 false
}

define ptr @ae.refuse(ptr %frame, ptr %self, ptr %args, i64 %nargs, ptr %names, ptr %plan) nounwind cold {
entry:
  %table = field ptr %self, ARRAY_DATA
  %unused = field ptr %frame, FRAME_ANSWER
  ask void Py_DecRef(ptr %unused)
  %again = call i1 @ae.strict(ptr %self, ptr %args, i64 %nargs, ptr %names, ptr %plan)
  br i1 %again, label %raise, label %fallback
raise:
  set i64 {WRONG_ARGUMENTS}, %frame, FRAME_ERROR
  %no.answer = call ptr @ae.report(ptr %frame, ptr %table, ptr %plan, ptr %args)
  ret ptr %no.answer
fallback:
  %callee = word fallback
  %answer = ask ptr PyObject_Vectorcall(ptr %callee, ptr %args, i64 %nargs, ptr %names)
  ret ptr %answer
}

define ptr @ae.number(ptr %table, ptr %object, i1 %integer, ptr %place) nounwind {
entry:
  %kind = field ptr %object, OBJECT_TYPE
  %inside = at %object, NUMBER_VALUE
  br i1 %integer, label %whole, label %float
float:
  %float.type = word PyFloat_Type
  %numpy.type = word Float64_Type
  %a = icmp eq ptr %kind, %float.type
  %b = icmp eq ptr %kind, %numpy.type
  %ab = or i1 %a, %b
  br i1 %ab, label %there, label %whole
there:
  ret ptr %inside
whole:
  %int.type = word PyLong_Type
  %is.int = icmp eq ptr %kind, %int.type
  br i1 %is.int, label %read, label %other
other:
  %int64.type = word Int64_Type
  %is.int64 = icmp eq ptr %kind, %int64.type
  br i1 %is.int64, label %load, label %no
load:
  %known = load i64, ptr %inside
  br label %yes
read:
  %value = ask i64 PyLong_AsLongLong(ptr %object)
  %minus = icmp eq i64 %value, -1
  br i1 %minus, label %perhaps, label %yes
perhaps:
  %error = ask ptr PyErr_Occurred()
  %none = icmp eq ptr %error, null
  br i1 %none, label %yes, label %overflow
overflow:
  ask void PyErr_Clear()
  br label %no
yes:
  %number = phi i64 [%known, %load], [%value, %read], [%value, %perhaps]
  br i1 %integer, label %keep, label %convert
keep:
  store i64 %number, ptr %place
  ret ptr %place
convert:
  %above = add i64 %number, 9007199254740992
  %exact = icmp ule i64 %above, 18014398509481984
  br i1 %exact, label %round, label %no
round:
  %converted = sitofp i64 %number to double
  store double %converted, ptr %place
  ret ptr %place
no:
  ret ptr null
}

; Call Python with the address of the error and the arguments, to raise or to return another result.
define internal ptr @ae.report(ptr %frame, ptr %table, ptr %plan, ptr %args) nounwind cold {
entry:
  %explicit = field i64 %plan, PLAN_EXPLICIT
  %count = add i64 %explicit, 1
  %arguments = alloca ptr, i64 %count
  %error = at %frame, FRAME_ERROR
  %address = ask ptr PyLong_FromVoidPtr(ptr %error)
  store ptr %address, ptr %arguments
  %made = icmp ne ptr %address, null
  br i1 %made, label %argument, label %done
argument:
  %k = phi i64 [0, %entry], [%k.next, %copy]
  %more = icmp slt i64 %k, %explicit
  br i1 %more, label %copy, label %call
copy:
  %one = item ptr %args, %k
  %k.next = add i64 %k, 1
  %p = getelementptr ptr, ptr %arguments, i64 %k.next
  store ptr %one, ptr %p
  br label %argument
call:
  %callee = word fail
  %answer = ask ptr PyObject_Vectorcall(ptr %callee, ptr %arguments, i64 %count, ptr null)
  ask void Py_DecRef(ptr %address)
  br label %done
done:
  %result = phi ptr [null, %entry], [%answer, %call]
  ret ptr %result
}

define ptr @ae.finish(ptr %frame, ptr %table, ptr %plan) nounwind {
entry:
  %results = at %frame, FRAME_PLACES
  %returned = field i64 %plan, PLAN_RETURNED
  %form = field i64 %plan, PLAN_FORM
  %is.list = icmp eq i64 %form, {LIST}
  br i1 %is.list, label %list, label %no.list
list:
  %made = field ptr %frame, FRAME_ANSWER
  %items = field ptr %made, LIST_ITEMS
  br label %item
item:
  %k = phi i64 [0, %list], [%k.next, %put]
  %more = icmp slt i64 %k, %returned
  br i1 %more, label %put, label %update
put:
  %one = item ptr %results, %k
  %p = getelementptr ptr, ptr %items, i64 %k
  store ptr %one, ptr %p
  %k.next = add i64 %k, 1
  br label %item
no.list:
  %is.none = icmp eq i64 %form, {NONE}
  br i1 %is.none, label %none, label %single
none:
  %nothing = word Py_None
  ask void Py_IncRef(ptr %nothing)
  br label %update
single:
  %only = load ptr, ptr %results
  br label %update

update:
  %answer = phi ptr [%made, %item], [%nothing, %none], [%only, %single]
  %updates = field i64 %plan, PLAN_UPDATES
  %first = at %plan, PLAN_FIRST_UPDATE
  br label %next
next:
  %u = phi i64 [0, %update], [%u.next, %stored]
  %u.more = icmp slt i64 %u, %updates
  br i1 %u.more, label %swap, label %dropping
swap:
  %number.at = shl i64 %u, 1
  %cell.of = or i64 %number.at, 1
  %number = item i64 %first, %number.at
  %cell.at = item i64 %first, %cell.of
  %new.p = getelementptr ptr, ptr %results, i64 %number
  %new = load ptr, ptr %new.p
  %also = icmp slt i64 %number, %returned
  br i1 %also, label %share, label %store
share:
  ask void Py_IncRef(ptr %new)
  br label %store
store:
  ; The user may have emptied the cell meanwhile.
  %box = field ptr %table, %cell.at
  %length = field i64 %box, LIST_LENGTH
  %some = icmp sgt i64 %length, 0
  br i1 %some, label %exchange, label %stored
exchange:
  %cell.items = field ptr %box, LIST_ITEMS
  %old = load ptr, ptr %cell.items
  store ptr %new, ptr %cell.items
  store ptr %old, ptr %new.p
  br label %stored
stored:
  %u.next = add i64 %u, 1
  br label %next
dropping:
  %drawn = field i64 %plan, PLAN_DRAWN
  %draws = icmp ne i64 %drawn, 0
  br i1 %draws, label %words, label %shown
words:
  ask void keep(ptr %frame, ptr %table, ptr %plan)
  br label %shown
shown:
  ; Freeing an old value may run Python code, which must see all new values.
  call void @ae.guards.give(ptr %frame, ptr %table, ptr %plan)
  br label %replaced
replaced:
  %o = phi i64 [0, %shown], [%o.next, %drop]
  %o.more = icmp slt i64 %o, %updates
  br i1 %o.more, label %drop, label %leave
drop:
  %old.at = shl i64 %o, 1
  %old.number = item i64 %first, %old.at
  %gone = item ptr %results, %old.number
  ask void Py_DecRef(ptr %gone)
  %o.next = add i64 %o, 1
  br label %replaced
leave:
  call void @ae.leave(ptr %frame, ptr %table, ptr %plan)
  ret ptr %answer
}

; Release the workspace, late blocks, results of Python nodes, references to shared values, and links of generators.
define internal void @ae.leave(ptr %frame, ptr %table, ptr %plan) nounwind {
entry:
  %block = field ptr %frame, FRAME_BLOCK
  %no.block = icmp eq ptr %block, null
  br i1 %no.block, label %places, label %back
back:
  %pool = word pool
  set ptr %pool, %block, BLOCK_NEXT
  set ptr %block, %table, 0
  br label %places
places:
  %results = field i64 %plan, PLAN_RESULTS
  %late = field i64 %plan, PLAN_LATE
  %made = field i64 %plan, PLAN_MADE
  %first = at %frame, FRAME_PLACES
  %late.first = getelementptr ptr, ptr %first, i64 %results
  %made.first = getelementptr ptr, ptr %late.first, i64 %late
  br label %block.next
block.next:
  %k = phi i64 [0, %places], [%k.next, %free]
  %k.more = icmp slt i64 %k, %late
  br i1 %k.more, label %free, label %made.drop
free:
  %memory = item ptr %late.first, %k
  ask void PyMem_RawFree(ptr %memory)
  %k.next = add i64 %k, 1
  br label %block.next
made.drop:
  call void @ae.drop(ptr %table, ptr %made.first, i64 %made)
  %holding = field i64 %frame, FRAME_HOLDING
  %held.at = field i64 %plan, PLAN_HELD
  %held = at %frame, %held.at
  call void @ae.drop(ptr %table, ptr %held, i64 %holding)
  %links = field i64 %plan, PLAN_LINKS
  %linked.at = field i64 %plan, PLAN_LINKED
  %linked = at %frame, %linked.at
  call void @ae.drop(ptr %table, ptr %linked, i64 %links)
  ret void
}

define internal void @ae.drop(ptr %table, ptr %objects, i64 %count) nounwind {
entry:
  br label %look
look:
  %k = phi i64 [0, %entry], [%k.next, %drop]
  %more = icmp slt i64 %k, %count
  br i1 %more, label %drop, label %done
drop:
  %object = item ptr %objects, %k
  ask void Py_DecRef(ptr %object)
  %k.next = add i64 %k, 1
  br label %look
done:
  ret void
}

define ptr @ae.abort(ptr %frame, ptr %table, ptr %plan, ptr %args) nounwind cold {
entry:
  call void @ae.take(ptr %frame, ptr %table, ptr %plan)
  %links = field i64 %plan, PLAN_LINKS
  %linked = icmp ne i64 %links, 0
  br i1 %linked, label %unlock, label %unlocked
unlock:
  ; The report of a failure may read generators.
  ask void unlock.all(ptr %frame, ptr %table, ptr %plan)
  br label %unlocked
unlocked:
  %error = field i64 %frame, FRAME_ERROR
  %is.set = icmp eq i64 %error, {RAISED}
  br i1 %is.set, label %clean, label %report
report:
  ; The report replaces an exception that the C API may have set.
  ask void PyErr_Clear()
  %found = call ptr @ae.report(ptr %frame, ptr %table, ptr %plan, ptr %args)
  br label %clean
clean:
  %result = phi ptr [null, %unlocked], [%found, %report]
  %results = field i64 %plan, PLAN_RESULTS
  %first = at %frame, FRAME_PLACES
  call void @ae.drop(ptr %table, ptr %first, i64 %results)
  %answer = field ptr %frame, FRAME_ANSWER
  ask void Py_DecRef(ptr %answer)
  call void @ae.guards.give(ptr %frame, ptr %table, ptr %plan)
  call void @ae.leave(ptr %frame, ptr %table, ptr %plan)
  ret ptr %result
}
"""
