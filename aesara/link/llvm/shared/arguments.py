"""The routine that reads the arguments of functions with many inputs.

===================================================  ================================================================
``arguments(frame, table, args, inputs, count)``     whether the arguments (or the values in the cells, if `args` is
                                                     null) fit the descriptions of the inputs; stores the objects, their
                                                     data pointers and lengths in the frame
===================================================  ================================================================
"""

from __future__ import annotations

__all__ = ["ARGUMENTS"]

ARGUMENTS = """
define i1 @ae.arguments(ptr %frame, ptr %table, ptr %args, ptr %inputs, i64 %count) nounwind {
entry:
  %array.type = word PyArray_Type
  br label %next
next:
  %k = phi i64 [0, %entry], [%k.next, %done]
  %input = phi ptr [%inputs, %entry], [%input.next, %done]
  %more = icmp slt i64 %k, %count
  br i1 %more, label %find, label %all
find:
  %from = field i64 %input, INPUT_FROM
  %in.cell = icmp eq ptr %args, null
  br i1 %in.cell, label %cell, label %argument
argument:
  %given = field ptr %args, %from
  br label %look
cell:
  %box = field ptr %table, %from
  %length = field i64 %box, LIST_LENGTH
  %some = icmp sgt i64 %length, 0
  br i1 %some, label %full, label %refused
full:
  %items = field ptr %box, LIST_ITEMS
  %value = load ptr, ptr %items
  br label %look

look:
  %object = phi ptr [%given, %argument], [%value, %full]
  %rank = field i64 %input, INPUT_RANK
  %place = field i64 %input, INPUT_PLACE
  %read = at %frame, %place
  set ptr %object, %read, READ_OBJECT
  %rest = at %read, READ_LENGTHS
  %kind = field ptr %object, OBJECT_TYPE
  %is.array = icmp eq ptr %kind, %array.type
  br i1 %is.array, label %array, label %other
other:
  %number = field i64 %input, INPUT_NUMBER
  %is.none = icmp eq i64 %number, 0
  br i1 %is.none, label %refused, label %convert
convert:
  %integer = icmp eq i64 %number, {INTEGER}
  %inside = ask ptr number(ptr %table, ptr %object, i1 %integer, ptr %rest)
  %is.number = icmp ne ptr %inside, null
  br i1 %is.number, label %ready, label %refused

array:
  %wanted.at = field i64 %input, INPUT_DESCR
  %wanted = field ptr %table, %wanted.at
  %descr = field ptr %object, ARRAY_DESCR
  %same.descr = icmp eq ptr %descr, %wanted
  %ndim = field i32 %object, ARRAY_NDIM
  %dimensions = sext i32 %ndim to i64
  %same.rank = icmp eq i64 %dimensions, %rank
  %flags = field i32 %object, ARRAY_FLAGS
  %masked = and i32 %flags, {PLAIN}
  %plain = icmp eq i32 %masked, {PLAIN}
  %both = and i1 %same.descr, %same.rank
  %fits = and i1 %both, %plain
  br i1 %fits, label %lengths, label %refused
lengths:
  %dims = field ptr %object, ARRAY_DIMS
  %known = at %input, INPUT_LENGTHS
  br label %dimension
dimension:
  %d = phi i64 [0, %lengths], [%d.next, %note]
  %d.more = icmp slt i64 %d, %rank
  br i1 %d.more, label %compare, label %values
compare:
  %n = item i64 %dims, %d
  %static = item i64 %known, %d
  %any = icmp slt i64 %static, 0
  %same = icmp eq i64 %static, %n
  %good = or i1 %any, %same
  br i1 %good, label %note, label %refused
note:
  %note.at = getelementptr i64, ptr %rest, i64 %d
  store i64 %n, ptr %note.at
  %d.next = add i64 %d, 1
  br label %dimension
values:
  %there = field ptr %object, ARRAY_DATA
  br label %ready

ready:
  %data = phi ptr [%inside, %convert], [%there, %values]
  %bytes = field i64 %input, INPUT_COPY
  %shared = icmp eq i64 %bytes, 0
  br i1 %shared, label %done, label %copy
copy:
  call void @llvm.memmove.p0.p0.i64(ptr %rest, ptr %data, i64 %bytes, i1 false)
  br label %done
done:
  %final = phi ptr [%data, %ready], [%rest, %copy]
  set ptr %final, %read, READ_DATA
  %k.next = add i64 %k, 1
  %statics = shl i64 %rank, 3
  %size = add i64 %statics, {INPUT_LENGTHS}
  %input.next = at %input, %size
  br label %next
all:
  ret i1 true
refused:
  ret i1 false
}
declare void @llvm.memmove.p0.p0.i64(ptr, ptr, i64, i1)
"""
