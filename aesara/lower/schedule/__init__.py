"""What becomes a buffer, what is recomputed where it is read, and which computations share a loop nest.

Fusion lives here and nowhere else.  The parts:

1. `uses`: from the results and the checks back, how often each array is read.
2. `storage`: an array is stored if it has to be (results, operands of library calls), or if recomputing it in
   every place that reads it would cost more than a store and a load.
3. `tracing`: each stored array becomes tasks, loop bodies over an iteration space whose expressions load only
   stored arrays.
4. `scheduler`: tasks over the same space join one nest if what they read of each other is the element of the same
   iteration.  A stored array that is only read inside its own nest then never touches memory.
"""

from aesara.lower.schedule.scheduler import Schedule, schedule

__all__ = ["Schedule", "schedule"]
