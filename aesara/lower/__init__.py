"""Lowering of graphs to programs: tensor expressions, fusion, loop nests and the memory plan.

`arrays` defines the tensor expressions, `context` the state of one lowering, `dispatch` the entry for each Op. Folders
of families hold the lowerings, and `families` lists them. `schedule` decides which arrays are materialized and which
share a loop nest, `nests` writes the loops, `assemble` plans the buffers and orders the steps.
"""
