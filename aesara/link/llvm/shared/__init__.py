"""Routines that compiled functions share: written in LLVM IR, compiled once, reached through the table.

Functions differ in what they compute; how they read arguments, make arrays, wait for guards, release the GIL or fail
is the same for all.  What differs there stands in their plan (`layout`), which the routines read.
"""
