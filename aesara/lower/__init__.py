"""From graphs to programs: tensor expressions, what to store and what to recompute, kernels, memory.

`arrays` has the tensor expressions, `context` the state of one lowering, `dispatch` the entry for each Op family
(`elemwise`, `shapes`, `indexing`, `reductions`, `joining`, `creation`, `products`, `softmax`), `schedule` decides
what becomes a buffer and which expressions share a loop nest, `nests` writes the loops, `memory` plans buffers.
"""
