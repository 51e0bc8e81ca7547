"""Kernels that differ only in where they read and write, and how much, are one kernel, which is told where.

A loop that Python has unrolled, as in ``for t in range(100): h = tanh(dot(x[t], w) + dot(h, u))``, makes kernels that
differ in the number `t`.  As one kernel they are compiled once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from aesara.ir.expr import INDEX, Expr, load, rebuild, substitute, var
from aesara.ir.kernel import BufferParam, Declare, For, Kernel, Store, map_expressions, walk_statements
from aesara.ir.steps import Launch, Step
from aesara.lower.kernels import launch_of

__all__ = ["share_kernels"]

#: so many kernels become one; fewer keep the numbers of their own
_MANY = 3
#: what can be computed before the launch: it reads no memory, and does not fail; quotients do not if the divisor is
#: known to be positive
_BEFORE, _QUOTIENTS = frozenset({"add", "sub", "mul", "minimum", "maximum"}), frozenset({"intdiv", "mod"})


def share_kernels(steps: Sequence[Step]) -> tuple[Step, ...]:
    """Launch one kernel in place of many that differ in fixed terms of offsets, or in lengths that are computed.

    These become arguments.
    """
    launches = [step for step in steps if isinstance(step, Launch)]
    told = {
        launch: _told(launch)
        for group in _groups(launches, lambda launch: _outline(launch.kernel))
        for launch in group
    }
    shared = {
        launch: told[launch]
        for group in _groups(told, lambda launch: _content(told[launch].kernel))
        for launch in group
    }
    return tuple(shared.get(step, step) if isinstance(step, Launch) else step for step in steps)


def _groups(launches: Iterable[Launch], likeness: Callable[[Launch], object]) -> Iterator[list[Launch]]:
    """The launches that are alike, where they are of many kernels."""
    found: dict[object, list[Launch]] = {}
    for launch in launches:
        found.setdefault(likeness(launch), []).append(launch)
    for group in found.values():
        if len(group) >= _MANY and len({_content(launch.kernel) for launch in group}) >= _MANY:
            yield group


def _content(kernel: Kernel) -> object:
    """What a kernel is compiled from."""
    return kernel.params, kernel.body


def _outline(kernel: Kernel) -> object:
    """Something that kernels have in common if they differ in places only, found without a look at these."""
    return tuple(_kind(s) if isinstance(s, Store) else type(s) for s in walk_statements(kernel.body))


def _kind(store: Store) -> object:
    """How a value is made: by what, of what, and of which numbers."""
    value = store.value
    of = tuple(a if a.is_const and a.dtype != INDEX else a.op for a in value.args)
    return store.buffer, value.op, value.dtype, of


def _told(launch: Launch) -> Launch:
    """The launch of a kernel that has the fixed terms of offsets, and computed lengths, as parameters."""
    kernel = launch.kernel
    places = _Places(kernel)
    body = tuple(
        map_expressions(s, places.value, of_offset=places.of_store, of_extent=places.of_loop) for s in kernel.body
    )
    aliased = [p.name for p in kernel.params if isinstance(p, BufferParam) and p.aliased]
    general = launch_of(kernel.name, body, aliased)
    given = zip(kernel.params, launch.arguments, strict=True)
    argument_of = {var(p.name, p.dtype) if isinstance(a, Expr) else p.name: a for p, a in given}
    sizes = {p: a for p, a in argument_of.items() if isinstance(p, Expr) and isinstance(a, Expr)}
    terms = {name: term for term, name in places.terms.items()}
    memo: dict[Expr, Expr] = {}
    arguments = [
        argument_of[a] if isinstance(a, str) else substitute([terms.get(a, a)], sizes.get, memo)[0]
        for a in general.arguments
    ]
    return Launch(general.kernel, tuple(arguments), launch.begins_loop)


class _Places:
    """Replaces the fixed terms of offsets, and lengths of loops that are computed, by variables.

    Attributes
    ----------
    terms
        The terms, each with its variable.
    """

    def __init__(self, kernel: Kernel) -> None:
        self.terms: dict[Expr, Expr] = {}
        self._bound = {s.var for s in walk_statements(kernel.body) if isinstance(s, For)}
        self._bound |= {s.name for s in walk_statements(kernel.body) if isinstance(s, Declare)}
        self._memo: dict[Expr, Expr] = {}

    def value(self, e: Expr) -> Expr:
        """An expression, with other offsets in what it reads."""
        return substitute([e], lambda e: None, self._memo, self._remade)[0]

    def of_store(self, offset: Expr) -> Expr:
        return self._moved(self.value(offset))

    def of_loop(self, extent: Expr) -> Expr:
        """A known length stays: LLVM unrolls the loop."""
        return self._term(extent) if self._is_fixed(extent) and extent.args else self.value(extent)

    def _remade(self, e: Expr, args: tuple[Expr, ...]) -> Expr:
        return load(e.attr, e.dtype, self._moved(args[0])) if e.op == "load" else rebuild(e, args)

    def _moved(self, e: Expr) -> Expr:
        """An offset without fixed terms; what is multiplied stays, as it may be how far elements are apart."""
        if self._is_fixed(e):
            return e if e.is_const and not e.attr else self._term(e)
        if e.op == "load" or e.dtype != INDEX:
            return e
        in_sum = e.op in ("add", "sub")
        return rebuild(e, tuple(self._moved(a) if in_sum or not self._is_fixed(a) else a for a in e.args))

    def _term(self, e: Expr) -> Expr:
        return self.terms.setdefault(e, var(f"at{len(self.terms)}"))

    def _is_fixed(self, e: Expr) -> bool:
        if e.op == "var":
            return e.attr not in self._bound
        if e.dtype != INDEX or e.is_const:
            return e.is_const
        is_safe = e.op in _BEFORE or (e.op in _QUOTIENTS and e.args[1].least > 0)
        return is_safe and all(map(self._is_fixed, e.args))
