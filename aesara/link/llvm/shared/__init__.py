"""Routines that compiled functions share: written in LLVM IR, compiled once, called through the table.

Functions differ in what they compute, but read arguments, allocate arrays, wait for guards, release the GIL and fail in
the same way. Their plan (`layout`), which the routines read, describes the differences.
"""
