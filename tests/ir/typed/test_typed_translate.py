"""Typed functions give the same as Python and as machine code."""

import ctypes

import numpy as np
import pytest

from aesara.ir.typed.function import CFunction, ConstantArray, GlobalVariable, typed_function
from aesara.ir.typed.operations import (
    absolute,
    allocate,
    any_lane,
    bitcast,
    compare_exchange,
    copy_bytes,
    element,
    exchange,
    fill_bytes,
    floor,
    is_less_or_greater,
    leading_zeros,
    multiply_checked,
    reference,
    rotate_right,
    select,
    sqrt,
    view,
    with_element,
)
from aesara.ir.typed.translate import translate
from aesara.ir.typed.types import (
    ArrayPointer,
    Pointer,
    Struct,
    VectorType,
    f32,
    f64,
    field,
    i1,
    i32,
    i64,
    null,
    ptr,
    u32,
    u64,
)
from aesara.ir.typed.values import TypedPythonError
from aesara.link.llvm.jit import load_functions

_C_TYPES = {
    "i64": ctypes.c_int64, "u64": ctypes.c_uint64, "i32": ctypes.c_int32, "u32": ctypes.c_uint32, "i1": ctypes.c_bool,
    "f64": ctypes.c_double, "f32": ctypes.c_float,
}  # fmt: skip


def compiled(function):
    """Return a typed function as machine code, called with numbers and ndarrays."""
    address = load_functions([function])[function]
    kinds = [_C_TYPES.get(repr(kind), ctypes.c_void_p) for kind in function.parameters.values()]
    result = None if function.result is None else _C_TYPES.get(repr(function.result), ctypes.c_void_p)
    call = ctypes.CFUNCTYPE(result, *kinds)(address)
    return lambda *arguments: call(*(a.ctypes.data if isinstance(a, np.ndarray) else a for a in arguments))


def assert_same(function, *arguments):
    """Compare results and written arrays of a call as machine code and as Python."""
    native, python = ([a.copy() if isinstance(a, np.ndarray) else a for a in arguments] for _ in range(2))
    got = compiled(function)(*native)
    kinds = function.parameters.values()
    with np.errstate(all="ignore"):
        converted = [ArrayPointer(a) if isinstance(a, np.ndarray) else kind(a) for a, kind in zip(python, kinds)]
        wanted = function(*converted)
    np.testing.assert_equal(got, None if wanted is None else function.result(wanted))
    for a, b in zip(native, python):
        np.testing.assert_array_equal(a, b)


@typed_function()
def gcd(a: i64, b: i64) -> i64:
    while b != 0:
        a, b = b, a % b
    return a


@typed_function()
def collatz(n: i64) -> i64:
    steps = 0
    while True:
        if n == 1:
            break
        steps += 1
        if n % 2 == 0:
            n //= 2
            continue
        n = 3 * n + 1
    return steps


@typed_function()
def divisions(a: i64, b: i64, c: u64, d: u64) -> i64:
    return a // b * 7 + a % b * 5 + a // 8 + a % 8 + a // -3 + i64(c // d) * 3 + i64(c % d) + i64(c // 16 + c % 4)


@typed_function()
def shifts(a: i64, c: u64, n: i64) -> u64:
    return u64(a >> n) ^ u64(a << 3) ^ c >> u64(n) ^ rotate_right(c, u64(n)) ^ ~c & u64(n) | u64(leading_zeros(c))


@typed_function()
def conversions(x: f64, a: i64, c: u32) -> f64:
    return f64(i32(a)) + f64(c) + f64(u32(a)) + f64(i64(x)) + f64(f32(x)) + floor(x) + absolute(-x) + abs(x)


@typed_function()
def extremes(a: i64, b: i64, x: f64, y: f64) -> f64:
    return f64(min(a, b, 3)) + max(x, y) + min(x, y) + f64(abs(a)) + sqrt(abs(x)) + (x if a < b else y)


@typed_function()
def conditions(a: i64, b: i64, values: Pointer[i64]) -> i64:
    """Do not load where the left side decides."""
    total = 0
    if (a < 4 and values[a] > b) or (b < 0 and not values[0] == 1):
        total += 1
    if 0 <= a < 4 and (values[a] == b or values[a] == b + 1):
        total += 2
    is_small = a < 4 and values[a] < 0
    return total + 4 if is_small or not a > b else total


@typed_function()
def bubble_sort(values: Pointer[f64], n: i64) -> i64:
    swaps = 0
    for last in range(n - 1, 0, -1):
        for k in range(last):
            if values[k] > values[k + 1]:
                values[k], values[k + 1] = values[k + 1], values[k]
                swaps += 1
    return swaps


@typed_function()
def leap(n: i64) -> i64:
    """Loop with a step, an early exit, and the counter changed in the body and used after the loop."""
    found = 0
    k = -1
    for k in range(2, n, 3):
        k *= 2
        found += k
        if found > 40:
            return k
    return found + 1000 * k


@typed_function()
def halves(n: i64) -> tuple[i64, i64, i1]:
    half = n // 2
    return half, n - half, n % 2 == 0


@typed_function()
def of_halves(n: i64) -> i64:
    low, high, is_even = halves(n)
    return 100 * low + 10 * high + (1 if is_even else 0)


@typed_function()
def recursion(n: i64) -> i64:
    return n if n < 2 else recursion(n - 1) + recursion(n - 2)


SQUARES = ConstantArray("squares", i64, lambda: [k * k for k in range(10)])
hypot = CFunction("hypot", f64, f64, f64, reference=np.hypot)


@typed_function()
def outside(n: i64, x: f64) -> f64:
    return f64(SQUARES[n]) + hypot(x, 3)


def traced_cube(x):
    return x * x * x


@typed_function()
def traced(x: f64, n: i64) -> f64:
    return traced_cube(x) + f64(traced_cube(n))


@typed_function()
def bits(x: f64, n: u64) -> u64:
    product, is_too_large = multiply_checked(n, 5)
    return bitcast(u64, x) ^ select(is_too_large, n, product)


CASES = [
    *((gcd, a, b) for a, b in [(12, 18), (17, 5), (0, 3), (5, 0)]),
    *((collatz, n) for n in (1, 6, 27)),
    *((divisions, a, b, c, d) for a in (-17, 17, 8) for b in (-5, 5, 4) for c, d in [(17, 5), (2**64 - 1, 3)]),
    *((shifts, a, c, n) for a in (-5, 9) for c in (1, 2**63 + 5) for n in (0, 1, 40)),
    *((conversions, x, a, c) for x in (-2.7, 3.1) for a in (-1, 2**40 + 5) for c in (0, 2**32 - 1)),
    *((extremes, a, b, x, y) for a, b in [(1, 2), (5, -7)] for x, y in [(1.5, 2.5), (0.0, -0.0), (3.0, np.nan)]),
    *((conditions, a, b, np.array([1, 5, 2, -3])) for a in (0, 1, 3, 4, 10**9) for b in (-2, 0, 1, 2, 5)),
    *((bubble_sort, np.array(values), len(values)) for values in ([3.0, 1.0, 2.0, -1.0], [1.0], [2.0, 2.0, 1.0])),
    *((leap, n) for n in (0, 3, 9, 30)),
    *((of_halves, n) for n in (7, 8)),
    (recursion, 12),
    (outside, 7, 4.0),
    (traced, 1.5, -3),
    *((bits, x, n) for x in (1.5, -0.0) for n in (3, 2**63)),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0].__name__}-{case[1:]}")
def test_machine_code_gives_the_same_as_python(case):
    assert_same(*case)


@typed_function()
def countdown(n: i64) -> i64:
    """Call functions of the same type in a loop; the result of one of them is returned."""
    steps = 0
    while n > 3:
        steps += halve(n)
        if steps > 20:
            return halve(n + steps)
        n -= 1
    return steps


@typed_function()
def halve(n: i64) -> i64:
    return n // 2


@pytest.mark.parametrize("n", [0, 5, 9, 50])
def test_returned_calls_in_loops_are_tail_calls(n):
    assert_same(countdown, n)
    lines = translate(countdown).definition.lines
    tail_calls = [k for k, line in enumerate(lines) if " musttail " in line]
    assert [lines[k + 1].partition(" ")[0] for k in tail_calls] == ["ret"]


class Pair(Struct):
    first: i64 = field(0)
    second: f64 = field(8)
    rest: Pointer[i64] = field(16)


@typed_function()
def fields(pair: Pair) -> f64:
    pair.first += 3
    pair.second = f64(pair.first) * 2
    if pair.rest != null:
        pair.rest[1] = 7
    other = view(pair, 8, Pointer[f64])
    return other[0] + 0.5


def test_fields_of_structures():
    rest = np.zeros(2, "int64")
    memory = np.array([4, 0, rest.ctypes.data], "int64")
    assert compiled(fields)(memory) == 14.5
    assert memory[:2].tolist() == [7, np.float64(14.0).view("int64")] and rest.tolist() == [0, 7]
    memory[2] = 0
    assert compiled(fields)(memory) == 20.5


class Link(Struct):
    next: "Element" = field(0)


class Element(Link):
    value: i64 = field(8)


@typed_function()
def remove(head: Link, value: i64) -> i64:
    """Remove the first element of a list with a value and return the number of elements before it."""
    count = 0
    before: Link = head
    element = before.next
    while element != null and element.value != value:
        before = element
        element = element.next
        count += 1
    if element != null:
        before.next = element.next
        fill_bytes(element, 255, 16)
    return count


def test_lists_of_structures():
    elements = np.array([[0, 5], [0, 7], [0, 9]])
    elements[:2, 0] = elements.ctypes.data + 16 * np.arange(1, 3)
    head = np.array([elements.ctypes.data])
    removal = compiled(remove)
    assert (removal(head, 7), elements[0, 0]) == (1, elements.ctypes.data + 32)
    assert elements[1].tolist() == [-1, -1]
    assert (removal(head, 5), head[0]) == (0, elements.ctypes.data + 32)
    assert (removal(head, 5), removal(head, 9), head[0]) == (1, 0, 0)


ELEMENT = GlobalVariable("element", Element)


@typed_function()
def next_of_global() -> Element:
    ELEMENT.value = 3
    return ELEMENT.next


def test_global_structures():
    translation = translate(next_of_global)
    assert translation.declarations == {"@element": "@element = external global i8"}
    assert "store i64 3, ptr %p.1" in translation.definition.text()
    assert "load ptr, ptr @element" in translation.definition.text()


@typed_function()
def reverse(values: Pointer[i64], n: i64) -> i1:
    """Reverse at most 8 numbers by a copy on the stack."""
    copy = allocate(i64, 8)
    copy_bytes(copy, values, 8 * n)
    for k in range(n):
        values[k] = copy[n - 1 - k]
    return compare_exchange(values, 3, 30)


@typed_function()
def swap(values: Pointer[i64]) -> i64:
    values[1] = exchange(values, values[1])
    return exchange(values, 9)


def test_exchanges_return_what_was_stored():
    assert_same(swap, np.array([3, 4]))


def test_stack_and_memory():
    values = np.array([1, 2, 3])
    assert compiled(reverse)(values, 3) and values.tolist() == [30, 2, 1]
    assert not compiled(reverse)(values, 3) and values.tolist() == [1, 2, 30]


@typed_function()
def sum_of_range(n: i64, total: i64) -> i64:
    """Call itself more often than the stack has room for."""
    if n == 0:
        return total
    return sum_of_range(n - 1, total + n)


@typed_function()
def sum_by_reference(n: i64, total: Pointer[i64]) -> i64:
    """Return the result of a call that gets a pointer to the stack."""
    if n == 0:
        return total[0]
    return sum_by_reference(n - 1, reference(total[0] + n))


def test_returned_calls_reuse_the_stack():
    assert compiled(sum_of_range)(10**7, 0) == 10**7 * (10**7 + 1) // 2
    assert compiled(sum_by_reference)(100, np.zeros(1, "int64")) == 5050


FOUR = VectorType(f64, 4)


def traced_square(x):
    return x * x, (x.as_bits() & 1).as_float()


@typed_function()
def lanes(values: Pointer[f64], out: Pointer[f64], n: i64) -> i64:
    """Compute in vectors of four elements, also of other types and in an ordinary function."""
    x: FOUR = values[0]
    for k in range(1, 4):
        x = with_element(x, k, values[k])
    square, rest = traced_square(x)
    is_large = not abs(square) <= 4.0
    y = select(is_large, f64(i64(x)), square + rest * 0.0)
    for k in range(n):
        out[k] = element(y, k)
    mask = is_less_or_greater(x, 1.0)
    count = 4 if any_lane(mask) else 0
    if any_lane(is_large):
        count += 2
    return count + (1 if any_lane(is_less_or_greater(element(x, 0), 1.0)) else 0)


@pytest.mark.parametrize(
    ("values", "written", "result"),
    [
        ([1.0, 2.5, -3.7, 0.5], [1.0, 2.0, -3.0, 0.25], 6),
        ([1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0], 0),
        ([2.0, np.nan, 1.0, 1.0], [4.0], 7),
        ([1.0, 1.0, 1.0, np.nan], [1.0, 1.0, 1.0], 2),
    ],
)
def test_vectors(values, written, result):
    out = np.zeros(4)
    assert compiled(lanes)(np.array(values), out, len(written)) == result
    assert out[: len(written)].tolist() == written


def refused_types(a: i64, b: u64) -> i64:
    return a + b


def refused_name(a: i64) -> i64:
    if a > 0:
        b = 1
    return b


def refused_statement(a: i64) -> i64:
    with a:
        return a


def refused_end(a: i64) -> i64:
    if a > 0:
        return a


def refused_after_return(a: i64) -> i64:
    return a
    return 0


def refused_field(p: ptr) -> i64:
    return p.length


def refused_change(a: i64) -> i64:
    for _ in range(3):
        a = 0.5
    return a


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (refused_types, "a value of type u64 where i64 is expected"),
        (refused_name, "b has no value here on every path"),
        (refused_statement, "no such statement: with a"),
        (refused_end, "may end without a result"),
        (refused_after_return, "is never reached"),
        (refused_field, "only a structure has fields, such as length"),
        (refused_change, "0.5 is no i64"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_errors_name_the_line(function, message):
    line = function.__code__.co_firstlineno
    with pytest.raises(TypedPythonError, match=message) as error:
        translate(typed_function()(function))
    found = str(error.value).rpartition(":")[2].partition(",")[0]
    assert line <= int(found) <= line + 4 and function.__name__ in str(error.value)
