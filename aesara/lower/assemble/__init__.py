"""Assembly of a `Program` from a schedule: kernels, memory plan, order of steps.

`results` assigns memory to results; `in_place` selects updates and results that overwrite inputs; `slots` plans the
workspace; `alike` shares kernels; `assembler` emits the steps.
"""

from aesara.lower.assemble.assembler import Lowered, assemble, plan_body_results, plan_results

__all__ = ["Lowered", "assemble", "plan_body_results", "plan_results"]
