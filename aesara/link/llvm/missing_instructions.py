"""Instructions that old processors lack, as functions that give the same bits.

x86-64 processors of before 2013 have no fused multiply-add, some no conversions of half precision.  LLVM would call the
C library for each number.  The functions here work on vectors, so that loops that use them are vectorised.
"""

import functools
import re
from typing import Any

from aesara.ir.typed.function import PURE, CFunction, TypedFunction, typed_function
from aesara.ir.typed.operations import any_lane, bitcast, element, is_less_or_greater, select, with_element
from aesara.ir.typed.translate import translate
from aesara.ir.typed.types import FLOAT32, FLOAT64, INT64, VectorType, f16, f32, f64, u16, u32
from aesara.link.llvm.target import Target

__all__ = ["externals", "supply_missing"]

_FMA = re.compile(r"@llvm\.fma\.(v(\d+))?(f32|f64)\b")
_DECLARED_FMA = re.compile(r"(?m)^declare [^\n]* @llvm\.fma\.[^\n]*\n?")
#: lengths of vectors of 128 and 256 bits, and of a half of one
_LENGTHS = {"f64": (2, 4), "f32": (2, 4, 8)}


def supply_missing(text: str, target: Target) -> str:
    """Return the text of a module with definitions of the instructions that it uses and the target lacks."""
    functions: list[TypedFunction] = []
    if not target.multiplies_and_adds and "@llvm.fma." in text:
        used = [(int(match[2] or 1), match[3]) for match in _FMA.finditer(text)]
        used += [(n, suffix) for _, suffix in used for n in (1, *_LENGTHS[suffix])]
        text = _FMA.sub(r"@ae.fma.\1\3", _DECLARED_FMA.sub("", text))
        functions += [one for lanes, suffix in dict.fromkeys(used) for one in _multiply_add(lanes, suffix)]
        if any(suffix == "f64" for _, suffix in used):
            text += f"\n{_fma.declaration}"
    if target.is_x86 and not target.has("f16c") and re.search(r"\bhalf\b", text):
        functions += [half_to_single, single_to_half]
    return "\n".join([text, *map(_text, functions)]) if functions else text


def externals(text: str, target: Target) -> tuple[str, ...]:
    """Return the C functions that a module calls besides those that its text names."""
    return ("fma",) if not target.multiplies_and_adds and "@llvm.fma." in text else ()


@functools.cache
def _text(function: TypedFunction) -> str:
    """Return the definition of a function; LLVM declares intrinsics itself."""
    return translate(function).definition.text()


# -- fused multiply-add ------------------------------------------------------------------------------------------------

_fma = CFunction("fma", f64, f64, f64, f64, attributes=PURE)

#: added to the bits of a number before the lower half of its digits is cut off: rounds the upper half
_HALF_UNIT = 1 << 26
_UPPER_HALF = -(1 << 27)
#: products below lose digits to underflow, products and sums above may overflow
_TINY, _HUGE = 2.0**-900, 2.0**1000


def _two_sum(a: Any, b: Any) -> tuple[Any, Any]:
    """Return a rounded sum and its error, which is exact.

    TwoSum: Knuth, The Art of Computer Programming, volume 2, section 4.2.2, theorem B.
    """
    total = a + b
    b_part = total - a
    a_part = total - b_part
    return total, (a - a_part) + (b - b_part)


def _round_to_odd(total: Any, error: Any) -> Any:
    """Return a rounded sum with its error, rounded to odd: rounding the result once more is rounding once."""
    bits = total.as_bits()
    zero, one = (bits.writer.constant(bits.kind, number) for number in (0, 1))
    is_moved = error.compare("one", 0.0) & (bits & 1).equals(0)
    # towards zero if the signs differ
    step = ((error.as_bits() ^ bits) < 0).select(-1, one)
    return (bits + is_moved.select(step, zero)).as_float()


@functools.cache
def _multiply_add(lanes: int, suffix: str) -> tuple[TypedFunction, ...]:
    """Return the function ``ae.fma`` for vectors of a length, and the one that it calls if there is one."""
    name = f"ae.fma.{'' if lanes == 1 else f'v{lanes}'}{suffix}"
    linkage, attributes = "weak_odr hidden", f"noinline {PURE}"
    if lanes == 1:
        versions = ",".join(f"_ZGV_LLVM_N{n}vvv_{name}(ae.fma.v{n}{suffix})" for n in _LENGTHS[suffix])
        linkage, attributes = "internal", f'{attributes} "vector-function-abi-variant"="{versions}"'
    if suffix == "f32":
        return (_multiply_add_singles(lanes, name, linkage, attributes),)
    exact = None if lanes == 1 else _multiply_add_exactly(lanes)
    fast = _multiply_add_doubles(lanes, exact or _fma, name, linkage, attributes)
    return (fast,) if exact is None else (fast, exact)


def _vector(kind: Any, lanes: int) -> Any:
    return kind if lanes == 1 else VectorType(kind, lanes)


def _multiply_add_doubles(lanes: int, exact: Any, name: str, linkage: str, attributes: str) -> TypedFunction:
    number: Any = _vector(FLOAT64, lanes)
    bits: Any = _vector(INT64, lanes)

    @typed_function(name, linkage, attributes)
    def multiply_add(a: number, b: number, c: number) -> number:
        """Return a * b + c, rounded once.

        The product is a sum of two numbers (Dekker, "A floating-point technique for extending the available
        precision", 1971, where the heads are rounded in integers), and the result is a sum of three (Boldo, Melquiond,
        "Emulation of FMA and correctly rounded sums: proved algorithms using rounding to odd", 2008).
        """
        a_head = bitcast(number, (bitcast(bits, a) + _HALF_UNIT) & _UPPER_HALF)
        b_head = bitcast(number, (bitcast(bits, b) + _HALF_UNIT) & _UPPER_HALF)
        a_tail, b_tail = a - a_head, b - b_head
        product = a * b
        rest = (((a_head * b_head - product) + a_head * b_tail) + a_tail * b_head) + a_tail * b_tail
        low, low_error = _two_sum(c, rest)
        high, high_error = _two_sum(product, low)
        middle, middle_error = _two_sum(high_error, low_error)
        total = high + _round_to_odd(middle, middle_error)
        # Where the product is exact, so is this without the rest, and zeros get the right sign.
        total = select(is_less_or_greater(rest, 0.0), total, product + c)
        # Very large and very small products, infinities and NaNs go to the C library.
        product_size, c_size = abs(product), abs(c)
        is_large = not product_size <= _HUGE or not c_size <= _HUGE or rest != rest
        is_small = product_size < _TINY and a != 0.0 and b != 0.0
        if any_lane(is_large or is_small):
            return exact(a, b, c)
        return total

    return multiply_add


def _multiply_add_exactly(lanes: int) -> TypedFunction:
    number: Any = VectorType(FLOAT64, lanes)

    @typed_function(f"ae.fma.exact.v{lanes}f64", "weak_odr hidden", "noinline optnone cold nounwind")
    def multiply_add_exactly(a: number, b: number, c: number) -> number:
        """Return a * b + c by the C library."""
        for lane in range(lanes):
            c = with_element(c, lane, _fma(element(a, lane), element(b, lane), element(c, lane)))
        return c

    return multiply_add_exactly


def _multiply_add_singles(lanes: int, name: str, linkage: str, attributes: str) -> TypedFunction:
    number: Any = _vector(FLOAT32, lanes)

    @typed_function(name, linkage, attributes)
    def multiply_add(a: number, b: number, c: number) -> number:
        """Return a * b + c, rounded once: in double precision the product is exact."""
        total, error = _two_sum(f64(a) * f64(b), f64(c))
        return f32(_round_to_odd(total, error))

    return multiply_add


# -- half precision: the functions that LLVM calls ---------------------------------------------------------------------


@typed_function("__extendhfsf2", "weak_odr hidden", PURE)
def half_to_single(x: f16) -> f32:
    """Convert a number of half precision to single precision."""
    word = u32(bitcast(u16, x))
    size = word & 0x7FFF
    wide = size << 13
    # An exact product puts the exponent right.
    finite = bitcast(u32, bitcast(f32, wide) * 2.0**112)
    infinite_or_nan = wide | 0x7F800000
    sign = (word & 0x8000) << 16
    return bitcast(f32, (finite if size < 0x7C00 else infinite_or_nan) | sign)


@typed_function("__truncsfhf2", "weak_odr hidden", PURE)
def single_to_half(x: f32) -> f16:
    """Convert a number of single precision to the nearest of half precision, or the even one of two."""
    bits = bitcast(u32, x)
    size = bits & 0x7FFFFFFF
    sign = bits >> 16 & 0x8000
    # Numbers below the smallest normal one are rounded by an addition.
    subnormal = bitcast(u32, bitcast(f32, size) + 0.5) - 0x3F000000
    normal = (size - 0x37FFF001 + (size >> 13 & 1)) >> 13
    finite = subnormal if size < 0x38800000 else normal
    nan = size >> 13 & 0x3FF | 0x7E00
    infinite_or_nan = nan if size > 0x7F800000 else 0x7C00
    half = infinite_or_nan if size >= 0x47800000 else finite
    return bitcast(f16, u16(half | sign))
