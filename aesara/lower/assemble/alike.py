"""Kernels that differ only in numbers, and in where they read and write, are one kernel with arguments.

A loop that Python has unrolled, as in ``for t in range(100): h = tanh(dot(x[t], w) + dot(h, u))``, makes kernels that
differ in the number `t`, and a model has many variables of one distribution, with parameters of their own.  As one
kernel they are compiled once.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from aesara.ir.expr import Expr, load, rebuild, substitute, var
from aesara.ir.kernel import BufferParam, Declare, For, Kernel, Store, map_expressions, walk_statements
from aesara.ir.steps import Launch, Step
from aesara.lower.kernels import launch_of

__all__ = ["share_kernels"]

#: so many kernels become one; fewer keep the numbers of their own
_MANY = 3
#: what can be computed before the launch: it reads no memory, and does not fail; quotients do not if the divisor is
#: known to be positive
_BEFORE, _QUOTIENTS = frozenset({"add", "sub", "mul", "minimum", "maximum"}), frozenset({"intdiv", "mod"})
#: operations of floating-point numbers that are as fast with a number that is not known
_ARITHMETIC = frozenset({"add", "sub", "mul", "div"})


def share_kernels(steps: Sequence[Step]) -> tuple[Step, ...]:
    """Launch one kernel in place of many that differ in few things, which become arguments.

    These are numbers in arithmetic, fixed terms of offsets, and lengths that are computed.
    """
    launches = [launch for step in steps for launch in step.launches()]
    shared: dict[Step, Launch] = {}
    for outlined in _groups({launch: _outline(launch.kernel) for launch in launches}):
        general = {launch: _General(launch.kernel) for launch in outlined}
        for alike in _groups({launch: one.content for launch, one in general.items()}):
            values = zip(*(general[launch].terms for launch in alike), strict=True)
            same = {terms[0] for terms in values if len(set(terms)) == 1}
            exact = {launch: _General(launch.kernel, same) for launch in alike}
            for group in _groups({launch: one.content for launch, one in exact.items()}):
                shared |= {launch: exact[launch].launched(launch) for launch in group}
    return tuple(shared.get(step, step) for step in steps)


def _groups(likeness: Mapping[Launch, object]) -> Iterator[list[Launch]]:
    """The launches that are alike, where they are of many kernels."""
    found: dict[object, list[Launch]] = {}
    for launch, like in likeness.items():
        found.setdefault(like, []).append(launch)
    for group in found.values():
        if len({_content(launch.kernel) for launch in group}) >= _MANY:
            yield group


def _content(kernel: Kernel) -> object:
    """What a kernel is compiled from."""
    return kernel.params, kernel.body


def _outline(kernel: Kernel) -> object:
    """Something that kernels have in common if they differ in few things, found without a look at these."""
    statements = walk_statements(kernel.body)
    return tuple(_kind(one) if isinstance(one, Store) else type(one) for one in statements)


def _kind(store: Store) -> object:
    """How a value is made."""
    return store.buffer, store.value.op, store.value.dtype, tuple(a.op for a in store.value.args)


class _General:
    """A kernel that has what similar ones may differ in as parameters.

    Attributes
    ----------
    terms
        What its parameters stand for in the kernel that it was made of, but for buffers; None for sizes that this has.
    """

    def __init__(self, kernel: Kernel, kept: Collection[Expr | None] = ()) -> None:
        """What is `kept` is no parameter."""
        self._name_of: dict[Expr, Expr] = {}
        self._kept = kept
        self._bound = {s.var for s in walk_statements(kernel.body) if isinstance(s, For)}
        self._bound |= {s.name for s in walk_statements(kernel.body) if isinstance(s, Declare)}
        self._memo: dict[Expr, Expr] = {}
        body = tuple(
            map_expressions(s, self._value, of_offset=self._offset, of_extent=self._extent) for s in kernel.body
        )
        aliased = [p.name for p in kernel.params if isinstance(p, BufferParam) and p.aliased]
        self._launch = launch_of(kernel.name, body, aliased)
        term_of = {name: term for term, name in self._name_of.items()}
        #: the arguments for the kernel that it was made of, in terms of the parameters of that one
        self._arguments = [
            a if isinstance(a, str) else substitute([a], term_of.get, {})[0] for a in self._launch.arguments
        ]

    @property
    def content(self) -> object:
        """What the kernel is compiled from."""
        return _content(self._launch.kernel)

    @property
    def terms(self) -> Sequence[Expr | None]:
        own = zip(self._launch.arguments, self._arguments, strict=True)
        return [None if a is given else given for a, given in own if isinstance(given, Expr)]

    def launched(self, launch: Launch) -> Launch:
        """The launch of this kernel in place of that of the one that it was made of."""
        given = zip(launch.kernel.params, launch.arguments, strict=True)
        argument_of = {var(p.name, p.dtype) if isinstance(a, Expr) else p.name: a for p, a in given}
        sizes = {p: a for p, a in argument_of.items() if isinstance(p, Expr) and isinstance(a, Expr)}
        memo: dict[Expr, Expr] = {}
        arguments = [
            argument_of[a] if isinstance(a, str) else substitute([a], sizes.get, memo)[0] for a in self._arguments
        ]
        return Launch(self._launch.kernel, tuple(arguments), launch.begins_loop)

    # -- expressions with variables for terms ------------------------------------------------------------------

    def _value(self, e: Expr) -> Expr:
        return substitute([e], lambda e: None, self._memo, self._remade)[0]

    def _offset(self, offset: Expr) -> Expr:
        return self._moved(self._value(offset))

    def _extent(self, extent: Expr) -> Expr:
        """A known length stays: LLVM unrolls the loop."""
        return self._term(extent) if self._is_fixed(extent) and extent.args else self._value(extent)

    def _remade(self, e: Expr, args: tuple[Expr, ...]) -> Expr:
        if e.op == "load":
            return load(e.attr, e.dtype, self._moved(args[0]))
        if e.op in _ARITHMETIC and e.dtype.startswith("float"):
            args = tuple(self._term(a) if a.is_const else a for a in args)
        return rebuild(e, args)

    def _moved(self, e: Expr) -> Expr:
        """An offset without fixed terms; what is multiplied stays, as it may be how far elements are apart."""
        if self._is_fixed(e):
            return self._term(e)
        if e.op == "load":
            return e
        in_sum = e.op in ("add", "sub")
        return rebuild(e, tuple(self._moved(a) if in_sum or not self._is_fixed(a) else a for a in e.args))

    def _term(self, e: Expr) -> Expr:
        return e if e in self._kept else self._name_of.setdefault(e, var(f"at{len(self._name_of)}", e.dtype))

    def _is_fixed(self, e: Expr) -> bool:
        if e.op in ("const", "var"):
            return e.attr not in self._bound
        is_safe = e.op in _BEFORE or (e.op in _QUOTIENTS and e.args[1].least > 0)
        return is_safe and all(map(self._is_fixed, e.args))
