"""Draws of many numbers: fast draws with PCG64, and NumPy's C functions for the rest.

``draw.<name>(words, n, out, a, a_step, b, b_step)`` draws `n` numbers. Parameters are pointers and strides in elements,
0 or 1; NumPy's functions have up to two.

NumPy calls one function per random integer and one per number.  For PCG64, whose next state is a product and a sum, the
loops here keep the state in a register. If a fast draw fails, the state from before it is stored and NumPy's function
draws from there.
"""

import functools
from typing import Any

from aesara.ir.draws.pcg64 import FAST_DRAWS
from aesara.ir.generators import KIND, PARTS
from aesara.ir.typed.function import CFunction, TypedFunction, typed_function
from aesara.ir.typed.operations import view
from aesara.ir.typed.types import Pointer, Struct, f64, field, i64, ptr, u128
from aesara.records import dataclass

__all__ = ["DRAWS", "draw_loop"]


@dataclass(frozen=True)
class NumberDraw:
    """A draw of numbers.

    Attributes
    ----------
    parameters
        Number of parameters.
    type
        ValueType of the numbers.
    fill
        Whether NumPy has a function for many numbers.
    """

    parameters: int = 0
    type: Any = f64
    fill: bool = False

    @property
    def dtype(self) -> str:
        """Name of the type in NumPy."""
        return "int64" if self.type is i64 else "float64"


#: draws by the name of NumPy's function
DRAWS = {
    "standard_uniform": NumberDraw(fill=True),
    "standard_normal": NumberDraw(fill=True),
    "standard_exponential": NumberDraw(fill=True),
    "uniform": NumberDraw(2),
    "normal": NumberDraw(2),
    "exponential": NumberDraw(1),
    "standard_gamma": NumberDraw(1),
    "gamma": NumberDraw(2),
    "poisson": NumberDraw(1, i64),
}


class Words(Struct):
    """The words of a generator; see `ir.generators`."""

    kind: i64 = field(KIND)
    first_part: i64 = field(PARTS)


class PCG64(Struct):
    """The state of the bit generator PCG64."""

    state: u128 = field(0)
    increment: u128 = field(16)


@functools.cache
def draw_loop(name: str, with_fast_draws: bool) -> TypedFunction:
    """Return the function that draws many numbers, ``draw.<name>``."""
    draw = DRAWS[name]
    number, parameters, fills = draw.type, draw.parameters, draw.fill
    numpy_draw = CFunction(f"random.random_{name}", number, ptr, *[f64] * parameters)
    numpy_fill = CFunction(f"random.random_{name}_fill", None, ptr, i64, ptr)
    fast_draw = FAST_DRAWS[name]

    @typed_function(f"call.{name}", attributes="alwaysinline nounwind")
    def call(words: Words, a: f64, b: f64) -> number:
        if parameters == 0:
            return numpy_draw(words)
        elif parameters == 1:
            return numpy_draw(words, a)
        else:
            return numpy_draw(words, a, b)

    @typed_function(f"step.{name}", attributes="alwaysinline nounwind")
    def step(words: Words, bits: PCG64, state: u128, increment: u128, a: f64, b: f64) -> tuple[u128, number]:
        """Draw a number; return the next state and the number."""
        following, drawn, found = fast_draw(state, increment, a, b)
        if not found:
            bits.state = state
            drawn = call(words, a, b)
            following = bits.state
        return following, drawn

    @typed_function(f"draw.{name}", attributes="noinline nounwind")
    def loop(
        words: Words, n: i64, out: Pointer[number], a: Pointer[f64], a_step: i64, b: Pointer[f64], b_step: i64
    ) -> None:
        if n <= 0:
            return
        if with_fast_draws:
            if words.kind == 0:
                bits = view(words, words.first_part, PCG64)
                state, increment = bits.state, bits.increment
                if a_step == 0 and b_step == 0:
                    x = a[0] if parameters > 0 else 0.0
                    y = b[0] if parameters > 1 else 0.0
                    for k in range(n):
                        state, out[k] = step(words, bits, state, increment, x, y)
                else:
                    for k in range(n):
                        x = a[k * a_step] if parameters > 0 else 0.0
                        y = b[k * b_step] if parameters > 1 else 0.0
                        state, out[k] = step(words, bits, state, increment, x, y)
                bits.state = state
                return
        if fills:
            numpy_fill(words, n, out)
        else:
            for k in range(n):
                x = a[k * a_step] if parameters > 0 else 0.0
                y = b[k * b_step] if parameters > 1 else 0.0
                out[k] = call(words, x, y)

    return loop
