"""Python runs this when it starts: a program that a test starts has the fault that is tried out."""

import json
import os
from pathlib import Path

if "AESARA_FAULT" in os.environ:
    from tools.mutate.faults import Fault
    from tools.mutate.planting import LastingSwitch, plant

    folder, number, active = json.loads(os.environ["AESARA_FAULT"])
    task = json.loads(Path(folder, "task.json").read_text(encoding="utf-8"))
    switch = LastingSwitch(number if active else -1, Path(folder, f"came{number}"))
    plant(Path(task["tree"]), {number: Fault(**task["faults"][number])}, switch)
