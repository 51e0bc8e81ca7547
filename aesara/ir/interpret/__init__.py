"""Reference interpreter of kernels and programs: one scalar at a time, slow and obvious.

Native code is tested against it. It is stricter than native code: every load and store is checked against the bounds
of its buffer; it is an error to read memory that was not written or that another buffer has taken over, and for
an iteration of a parallel loop to touch what another iteration writes.

Scalars are NumPy scalars of the dtype of their expression.  Arithmetic is NumPy's, and in full:

* integers wrap; ``x // 0`` and ``x % 0`` are 0; a negative exponent gives the truncated quotient 1 / a**|b|;
* ``intdiv`` and ``mod`` round towards minus infinity;
* ``minimum`` and ``maximum`` propagate NaN and order -0.0 before 0.0; ``larger``, of floats, is ``maximum``,
  except that native code may return either of two zeros;
* shifts by the width or more give 0, or the sign for ``shr`` of a negative number;
* arithmetic on bool is logic: add is or, mul is and, sub is xor;
* a cast of a float to an integer truncates to 64 bits; values out of range become the lowest int64.

Both values of a ``select`` are evaluated.  Consecutive stores to different buffers happen at once: all their values
are computed before the first is written.
"""

from aesara.ir.interpret.kernels import run_function, run_kernel
from aesara.ir.interpret.memory import IllegalAccess
from aesara.ir.interpret.programs import Results, run_program
from aesara.ir.interpret.scalars import apply_primitive, convert
from aesara.ir.interpret.steps import CheckFailed

__all__ = [
    "CheckFailed",
    "IllegalAccess",
    "Results",
    "apply_primitive",
    "convert",
    "run_function",
    "run_kernel",
    "run_program",
]
