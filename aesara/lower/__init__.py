"""From graphs to programs: tensor expressions, what to store and what to recompute, kernels, memory.

`arrays` has the tensor expressions, `context` the state of one lowering, `dispatch` the entry for each Op; the folders
of families have the lowerings, and `families` the table of them. `schedule` decides what becomes a buffer and which
expressions share a loop nest, `nests` writes the loops, `assemble` plans buffers and puts steps in order.
"""
