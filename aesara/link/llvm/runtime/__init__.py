"""The runtime: functions that all compiled functions share, in typed Python, called through the table.

Compiled functions differ in what they compute, but read arguments, allocate arrays, wait for guards, release the GIL
and fail in the same way. Their plan (`layout`), which the runtime reads, describes the differences.
"""
