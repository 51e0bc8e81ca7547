"""Assembly of a `Program` from a schedule: kernels, memory plan, order of steps.

`results` assigns memory to results; `in_place` selects updates and results that overwrite inputs; `alike`
shares kernels; `assembler` emits the steps.
"""

from aesara.lower.assemble.assembler import Assembler, Lowered, assemble, plan_results
from aesara.lower.assemble.results import assign_memory

__all__ = ["Assembler", "Lowered", "assemble", "assign_memory", "plan_results"]
