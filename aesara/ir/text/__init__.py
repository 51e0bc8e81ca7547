"""Text form of kernels and programs, which reads back exactly.

A kernel prints as::

    kernel k0(b0: float64[], b1: float64[] written, n0: int64):
        let r0 = 0.0
        parallel for v0 < n0 lanes 8:
            %0 = exp(b0[v0])
            r0 = r0 + %0, reassociate
            b1[v0] = %0 * 2.0

`let` declares a mutable scalar, `name = value` assigns it, ``buffer[offset] = value`` stores.  ``%0`` names an
expression that occurs several times or would make a line too long; it is written before the statement that uses it.
Arithmetic and comparisons are infix, with C's precedence; ``float32(x)`` is a cast, ``@symbol:float64(x)`` a call of
an external function, everything else is a primitive by its name.  A dtype that does not follow from the context is
written after a literal or name, as in ``1.5:float32``.

Scalar functions that expressions call, here as ``@zeta(x)``, follow::

    function zeta(x: float64) -> float64:
        let total = 0.0
        while total < x:
            total = total + 1.0
        return total

A program lists its inputs, its steps and its results, and then its kernels::

    program
        input a0: float64[s0_0]
        allocate t0: float64[] as output 0
        launch k0(a0, t0, s0_0)
        output t0
        return 1
"""

from aesara.ir.text.parsing import parse_function, parse_kernel
from aesara.ir.text.parsing_programs import parse_program
from aesara.ir.text.printing import print_function, print_kernel
from aesara.ir.text.printing_programs import print_program
from aesara.ir.text.syntax import IRSyntaxError

__all__ = [
    "IRSyntaxError",
    "parse_function",
    "parse_kernel",
    "parse_program",
    "print_function",
    "print_kernel",
    "print_program",
]
