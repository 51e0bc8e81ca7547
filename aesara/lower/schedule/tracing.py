"""Tracing of array elements to expressions that load stored arrays only."""

from __future__ import annotations

from collections.abc import Sequence

from aesara.ir.expr import Expr, linear_offset, load, substitute
from aesara.lower.arrays import Array, Index, Pointwise
from aesara.lower.context import Context
from aesara.lower.iteration_space import LOOP
from aesara.lower.schedule.uses import Uses

__all__ = ["Tracer"]

_LOOPS = frozenset(LOOP)


class Tracer:
    """Buffers of materialized arrays, and expressions for elements of the others."""

    def __init__(self, context: Context, uses: Uses, stored: set[Array]) -> None:
        self.sizes, self.uses, self.stored = context.sizes, uses, stored
        self._prefix = context.prefix
        #: names of the buffers of stored arrays
        self.names: dict[Array, str] = {}
        self._array_in: dict[str, Array] = {}
        self._traced: dict[tuple[Array, Index], Expr] = {}
        self._needs: dict[Array, frozenset[object]] = {}

    def name(self, array: Array) -> str:
        """Return the buffer of a materialized array, which it may share with the array whose memory it reuses."""
        aliases: list[Array] = []
        while (buffer := self.names.get(array)) is None:
            base = self.base_of(array)
            if base is not None:
                if array.is_stored is not False:
                    aliases.append(array)
                array = base
            elif array.buffer is not None:
                return array.buffer
            else:
                self.names[array] = f"{self._prefix}t{len(self.names)}"
                self._array_in[self.names[array]] = array
        for alias in aliases:
            self.names[alias] = buffer
        return buffer

    def array_in(self, buffer: str) -> Array | None:
        """Return the array that a buffer holds last."""
        return self._array_in.get(buffer)

    def base_of(self, array: Array) -> Array | None:
        """Return the array whose memory an array reuses; None if it has memory of its own."""
        return array.base_in_memory(self.uses)

    def take_over(self, base: Array, array: Array) -> None:
        """Record that an array is computed in the buffer of `base`."""
        self._array_in[self.name(base)] = array

    def in_memory(self, array: Array) -> bool:
        return array.is_stored is False or array in self.stored

    def shape(self, array: Array) -> tuple[Expr, ...]:
        return tuple(map(self.sizes.canonical, array.shape))

    def read(self, array: Array, index: Index) -> Expr:
        """Return the element of an array at an index, as an expression of loads."""
        if self.in_memory(array):
            return load(self.name(array), array.dtype, linear_offset(index, self.shape(array)))
        return self.trace(array, index)

    def trace(self, array: Array, index: Index) -> Expr:
        """Return the body of an array at an index, as an expression of loads."""
        key = (array, index)
        element = self._traced.get(key)
        if element is None:
            assert isinstance(array, Pointwise), array
            readers = [lambda i, a=a: self.read(a, tuple(i)) for a in array.operands]
            element = self._traced[key] = array.body(index, readers)
        return element

    def needs(self, array: Array) -> frozenset[object]:
        """Return the checks that an array requires, including those of arrays inlined into it."""
        checks = self._needs.get(array)
        if checks is None:
            collected = set(array.requires)
            stack = [a for a, _ in array.reads()]
            seen = set(stack)
            while stack:
                a = stack.pop()
                collected.update(a.requires)
                if not self.in_memory(a) or a.is_stored is False:
                    for operand, _ in a.reads():
                        if operand not in seen:
                            seen.add(operand)
                            stack.append(operand)
            checks = self._needs[array] = frozenset(collected)
        return checks

    def canonical(self, roots: Sequence[Expr]) -> list[Expr]:
        """Replace sizes in expressions with their representatives."""
        equal = self.sizes.canonical
        return substitute(list(roots), lambda e: equal(e) if e.op == "var" and e not in _LOOPS else None, {})
