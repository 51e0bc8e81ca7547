"""Scheduling: which arrays are materialized, which are recomputed by their readers, and which share a loop nest.

All decisions about fusion are made here:

1. `uses`: liveness, and the number of reads of each array.
2. `storage`: an array is stored if it must be (results, operands of library calls), or if recomputing it in every
   reader costs more than a store and a load.
3. `tracing`: each stored array becomes tasks, loop bodies over an iteration space that load only stored arrays.
4. `scheduler`: tasks over the same space are fused if they read of each other only the element of the same iteration.
   A stored array that only its own nest reads is then kept in registers.
"""

from aesara.lower.schedule.scheduler import Schedule, schedule

__all__ = ["Schedule", "schedule"]
