"""From a scheduled graph to a `Program`: kernels, memory plan, order of steps.

`results` gives every result memory of its own; `accesses` says who reads and writes which buffer; `in_place` decides
which updates are written over the values they replace; `slots` plans the workspace; `assembler` puts it together.
"""

from aesara.lower.assemble.assembler import Lowered, assemble, planned, planned_body

__all__ = ["Lowered", "assemble", "planned", "planned_body"]
