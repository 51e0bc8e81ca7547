"""Draws of vectors that NumPy has written in Cython, around its C functions for numbers.

===========================================================  =======================================================
``draw.dirichlet(state, alpha, out, n)``                     n numbers whose sum is one
``draw.subset(state, out, table, count, of, slots)``         some of the numbers below `of`, each at most once
``draw.weighted_subset(state, p, out, sums, count, of)``     the same by probabilities, which are overwritten
``draw.mrg31k3p(states, streams, count, out)``               integers of streams, one of each in turn
===========================================================  =======================================================
"""

from aesara.ir.instructions import Value
from aesara.ir.typed.function import CFunction, TypedFunction, typed_function
from aesara.ir.typed.types import Pointer, f64, i32, i64, ptr, u64
from aesara.scalar.mrg31k3p import advance

__all__ = ["DRAWS"]

_beta = CFunction("random.random_beta", f64, ptr, f64, f64)
_gamma = CFunction("random.random_standard_gamma", f64, ptr, f64)
_uniform = CFunction("random.random_standard_uniform", f64, ptr)
_bounded = CFunction("random.random_bounded_uint64", i64, ptr, i64, i64, i64, i32)

_ATTRIBUTES = "noinline nounwind"
_choose = Value.select


@typed_function("draw.dirichlet", attributes=_ATTRIBUTES)
def dirichlet(state: ptr, alpha: Pointer[f64], out: Pointer[f64], n: i64) -> None:
    """Draw from a Dirichlet distribution.

    Where all concentrations are below 0.1, a stick is broken, since all gamma numbers might be zero.
    """
    if n <= 0:
        return
    # out[k] is the sum of the concentrations from k on.
    total = 0.0
    are_small = True
    for k in range(n - 1, -1, -1):
        concentration = alpha[k]
        total += concentration
        out[k] = total
        are_small = are_small and concentration < 0.1
    if are_small:
        _break_stick(state, alpha, out, n)
        return
    total = 0.0
    for k in range(n):
        number = _gamma(state, alpha[k])
        out[k] = number
        total += number
    factor = 1.0 / total
    for k in range(n):
        out[k] *= factor


@typed_function("draw.dirichlet.stick", attributes=_ATTRIBUTES)
def _break_stick(state: ptr, alpha: Pointer[f64], out: Pointer[f64], n: i64) -> None:
    """Replace the sums of concentrations in `out` by parts of a stick."""
    some = out[0] != 0.0
    rest = 1.0 if some else 0.0
    for k in range(n - 1):
        if some:
            tail = out[k + 1]
            part = _beta(state, alpha[k], tail)
            out[k] = rest * part
            rest *= 1.0 - part
            some = tail != 0.0
        else:
            out[k] = 0.0
    out[n - 1] = rest


@typed_function("draw.shuffle", attributes=_ATTRIBUTES)
def _shuffle(state: ptr, numbers: Pointer[i64], last: i64, first: i64) -> None:
    """Exchange each number, from `last` down to `first`, with a random one that is not behind it."""
    for k in range(last, first - 1, -1):
        other = _bounded(state, 0, k, 0, 0)
        numbers[k], numbers[other] = numbers[other], numbers[k]


@typed_function("draw.subset", attributes=_ATTRIBUTES)
def subset(state: ptr, out: Pointer[i64], table: Pointer[i64], count: i64, of: i64, slots: i64) -> None:
    """Draw `count` of the numbers below `of`.

    For many numbers, the end of a shuffled range.  Otherwise (Floyd's algorithm) a number below each of the last
    ones, and that one itself if the number was drawn before; `table` is a hash table of the drawn numbers with `slots`
    entries.
    """
    first = of - count
    if of > 10000 and count > of // 50:
        for k in range(of):
            table[k] = k
        _shuffle(state, table, of - 1, max(first, 1))
        for k in range(count):
            out[k] = table[first + k]
        return
    for k in range(slots):
        table[k] = -1
    for k in range(count):
        last = first + k
        number = _bounded(state, 0, last, 0, 0)
        slot = _find_slot(table, slots, number)
        if table[slot] == number:
            number = last
            slot = _find_slot(table, slots, number)
        table[slot] = number
        out[k] = number
    _shuffle(state, out, count - 1, 1)


@typed_function("draw.subset.slot", attributes="alwaysinline nounwind")
def _find_slot(table: Pointer[i64], slots: i64, number: i64) -> i64:
    """Return the slot of a hash table that holds a number, or the free one for it."""
    slot = i64(u64(number) % u64(slots))
    while table[slot] != -1 and table[slot] != number:
        slot = slot + 1 if slot + 1 < slots else 0
    return slot


@typed_function("draw.weighted_subset", attributes=_ATTRIBUTES)
def weighted_subset(state: ptr, p: Pointer[f64], out: Pointer[i64], sums: Pointer[f64], count: i64, of: i64) -> None:
    """Draw `count` of the numbers below `of` by probabilities.

    A drawn number gets probability zero in the next round; draws of it in the same round count once.
    """
    found = 0
    while found < count:
        total = 0.0
        for k in range(of):
            total += p[k]
            sums[k] = total
        for k in range(of):
            sums[k] /= total
        for _ in range(count - found):
            number = _search(sums, of - 1, _uniform(state))
            if p[number] != 0.0:
                p[number] = 0.0
                out[found] = number
                found += 1


@typed_function("draw.search", attributes="alwaysinline nounwind")
def _search(sums: Pointer[f64], last: i64, x: f64) -> i64:
    """Return the first index with a sum above `x`; `last` if there is none before."""
    low, high = 0, last
    while low < high:
        middle = low + high >> 1
        if sums[middle] > x:
            high = middle
        else:
            low = middle + 1
    return low


@typed_function("draw.mrg31k3p", attributes=_ATTRIBUTES)
def mrg31k3p(states: Pointer[i32], streams: i64, count: i64, out: Pointer[i64]) -> None:
    """Draw integers by `scalar.mrg31k3p.advance`."""
    stream = 0
    for k in range(count):
        state = states + 6 * stream
        before = i64(state[0]), i64(state[1]), i64(state[2]), i64(state[3]), i64(state[4]), i64(state[5])
        (x1, x2, x3, y1, y2, y3), number = advance(before, _choose)
        state[0], state[1], state[2] = i32(x1), i32(x2), i32(x3)
        state[3], state[4], state[5] = i32(y1), i32(y2), i32(y3)
        out[k] = number
        stream = stream + 1 if stream + 1 < streams else 0


#: the functions by symbol
DRAWS: dict[str, TypedFunction] = {draw.symbol: draw for draw in (dirichlet, subset, weighted_subset, mrg31k3p)}
