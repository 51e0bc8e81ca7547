"""Wrong programs, as users write them, and what their messages have to say.

Each program is a function.  The line that its message has to show is marked with `# here`.  Programs that go wrong
when they run take the mode, and are run by the reference machine and natively.
"""

import wrong_building
import wrong_compiling
import wrong_habits
import wrong_names
import wrong_running
from catalogue import PROGRAMS, Program

__all__ = [
    "PROGRAMS",
    "Program",
    "wrong_building",
    "wrong_compiling",
    "wrong_habits",
    "wrong_names",
    "wrong_running",
]
