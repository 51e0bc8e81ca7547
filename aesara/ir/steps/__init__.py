"""The steps of the host program, a class for each.

A step answers all questions about itself (`base`). A new one is a class in this package, imported here, and a function
in `link/llvm/emit_steps.py` that emits it.
"""

from aesara.ir.steps.allocate import Allocate
from aesara.ir.steps.base import Step, walk_steps
from aesara.ir.steps.call import BATCH, CHUNK, Call
from aesara.ir.steps.check import Check
from aesara.ir.steps.define import Define
from aesara.ir.steps.hand_over import HandOver
from aesara.ir.steps.launch import Launch
from aesara.ir.steps.loop import Iterate
from aesara.ir.steps.python_call import PythonCall
from aesara.ir.steps.view import View

__all__ = [
    "Allocate",
    "BATCH",
    "Call",
    "Check",
    "Define",
    "HandOver",
    "Launch",
    "Iterate",
    "CHUNK",
    "PythonCall",
    "STEPS",
    "Step",
    "View",
    "walk_steps",
]

#: classes of steps by the keyword of the text form
STEPS: dict[str, type[Step]] = {step.keyword: step for step in Step.__subclasses__()}
