"""Short calls of BLAS and LAPACK on one thread, where their library would start more.

===========================  =======================================================================================
``threads.enter(short)``     limit the library to one thread, if `short`; returns whether the call was counted
``threads.leave(entered)``   end of the call: restore the number of threads after the last one
===========================  =======================================================================================

The number of threads belongs to the whole process.  One word (``threads.calls``) counts, in its upper half, the calls
that need one thread and keeps, in its lower half, the number from before the first of them.  The last one to leave
restores that number, unless it was changed meanwhile.  A call that finds the number at one does nothing.  All of this
takes no lock, since threads may call it without the GIL.  A race can make a call use more or fewer threads than
intended; it cannot lose the number.
"""

from __future__ import annotations

__all__ = ["NEEDED", "NOTHING", "ONE_THREAD", "ROUTINES"]

#: the two routines
ROUTINES = ("threads.enter", "threads.leave")
#: symbols that they refer to: the word, and the library's functions that get and set its number of threads
NEEDED = ("threads.calls", "threads.get", "threads.set")

#: ``1 << 32``: increment of the count of calls
_CALL = 2**32

ONE_THREAD = f"""
@threads.calls = external global i64
declare i32 @threads.get()
declare void @threads.set(i32)

define i1 @ae.threads.enter(i1 %short) nounwind {{
entry:
  br i1 %short, label %look, label %no
look:
  %seen = load atomic i64, ptr @threads.calls seq_cst, align 8
  %others = icmp ne i64 %seen, 0
  br i1 %others, label %join, label %first
join:
  %more = add i64 %seen, {_CALL}
  %joined = cmpxchg ptr @threads.calls, i64 %seen, i64 %more seq_cst seq_cst, align 8
  %has.joined = extractvalue {{i64, i1}} %joined, 1
  br i1 %has.joined, label %yes, label %look
first:
  %number = call i32 @threads.get()
  %several = icmp sgt i32 %number, 1
  br i1 %several, label %begin, label %no
begin:
  %wide = zext i32 %number to i64
  %one = or i64 %wide, {_CALL}
  %begun = cmpxchg ptr @threads.calls, i64 0, i64 %one seq_cst seq_cst, align 8
  %has.begun = extractvalue {{i64, i1}} %begun, 1
  br i1 %has.begun, label %set, label %look
set:
  call void @threads.set(i32 1)
  br label %yes
yes:
  ret i1 true
no:
  ret i1 false
}}

define void @ae.threads.leave(i1 %entered) nounwind {{
entry:
  br i1 %entered, label %look, label %done
look:
  %seen = load atomic i64, ptr @threads.calls seq_cst, align 8
  %less = sub i64 %seen, {_CALL}
  %others = icmp uge i64 %less, {_CALL}
  %next = select i1 %others, i64 %less, i64 0
  %left = cmpxchg ptr @threads.calls, i64 %seen, i64 %next seq_cst seq_cst, align 8
  %has.left = extractvalue {{i64, i1}} %left, 1
  br i1 %has.left, label %out, label %look
out:
  br i1 %others, label %done, label %last
last:
  %number = call i32 @threads.get()
  %still = icmp eq i32 %number, 1
  br i1 %still, label %restore, label %done
restore:
  %before = trunc i64 %seen to i32
  call void @threads.set(i32 %before)
  br label %done
done:
  ret void
}}
"""

#: the same for a library whose number of threads cannot be set
NOTHING = """
define i1 @ae.threads.enter(i1 %short) nounwind {
  ret i1 false
}

define void @ae.threads.leave(i1 %entered) nounwind {
  ret void
}
"""
