"""Sharing of kernels that differ only in constants, offsets and buffers.

A loop that Python has unrolled, as in ``for t in range(100): h = tanh(dot(x[t], w) + dot(h, u))``, makes kernels that
differ in the number `t`, and a model has many variables of one distribution with different parameters.  One kernel
that takes the differences as arguments is compiled once.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from aesara.ir.expr import Expr, load, rebuild, substitute, var
from aesara.ir.kernel import BufferParam, Declare, For, Kernel, Store, map_expressions, walk_statements
from aesara.ir.steps import Launch, Step
from aesara.lower.kernels import launch_of

__all__ = ["share_kernels"]

#: least number of kernels that are merged; fewer keep their constants
_LEAST_MERGED = 3
#: operations that can be hoisted before the launch: they read no memory and cannot fail; quotients cannot if the
#: divisor is known to be positive
_HOISTABLE, _QUOTIENTS = frozenset({"add", "sub", "mul", "minimum", "maximum"}), frozenset({"intdiv", "mod"})
#: floating-point operations that are no slower with an argument than with a constant
_ARITHMETIC = frozenset({"add", "sub", "mul", "div"})


def share_kernels(steps: Sequence[Step]) -> tuple[Step, ...]:
    """Merge kernels that differ only in parametrizable terms, which become arguments.

    These are constants in arithmetic, loop-invariant terms of offsets, and computed trip counts.
    """
    launches = [launch for step in steps for launch in step.launches()]
    shared: dict[Step, Launch] = {}
    for candidates in _groups({launch: _skeleton(launch.kernel) for launch in launches}):
        general = {launch: _ParametricKernel(launch.kernel) for launch in candidates}
        for similar in _groups({launch: kernel.content for launch, kernel in general.items()}):
            values = zip(*(general[launch].terms for launch in similar), strict=True)
            same = {terms[0] for terms in values if len(set(terms)) == 1}
            exact = {launch: _ParametricKernel(launch.kernel, same) for launch in similar}
            for group in _groups({launch: kernel.content for launch, kernel in exact.items()}):
                shared |= {launch: exact[launch].launch(launch) for launch in group}
    return tuple(shared.get(step, step) for step in steps)


def _groups(keys: Mapping[Launch, object]) -> Iterator[list[Launch]]:
    """Yield groups of launches with equal keys that have enough distinct kernels to merge."""
    groups: dict[object, list[Launch]] = {}
    for launch, key in keys.items():
        groups.setdefault(key, []).append(launch)
    for group in groups.values():
        if len({_content(launch.kernel) for launch in group}) >= _LEAST_MERGED:
            yield group


def _content(kernel: Kernel) -> object:
    """Return the parameters and body of a kernel, which its code depends on."""
    return kernel.params, kernel.body


def _skeleton(kernel: Kernel) -> object:
    """Return a cheap key that is equal for kernels that can be merged."""
    statements = walk_statements(kernel.body)
    return tuple(_kind(statement) if isinstance(statement, Store) else type(statement) for statement in statements)


def _kind(store: Store) -> object:
    """Return buffer, operation, dtype and operations of the operands of a store."""
    return store.buffer, store.value.op, store.value.dtype, tuple(a.op for a in store.value.args)


class _ParametricKernel:
    """A kernel whose parametrizable terms are replaced with parameters, except for those `kept`.

    Attributes
    ----------
    terms
        The term of the original kernel for each scalar parameter; None for parameters that it had already.
    """

    def __init__(self, kernel: Kernel, kept: Collection[Expr | None] = ()) -> None:
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
        #: the arguments, in terms of the parameters of the original kernel
        self._arguments = [
            a if isinstance(a, str) else substitute([a], term_of.get, {})[0] for a in self._launch.arguments
        ]

    @property
    def content(self) -> object:
        """The key of the kernel: its parameters and body."""
        return _content(self._launch.kernel)

    @property
    def terms(self) -> Sequence[Expr | None]:
        arguments = zip(self._launch.arguments, self._arguments, strict=True)
        return [None if a is term else term for a, term in arguments if isinstance(term, Expr)]

    def launch(self, launch: Launch) -> Launch:
        """Return the launch of this kernel that replaces a launch of the original."""
        bound = zip(launch.kernel.params, launch.arguments, strict=True)
        argument_of = {var(p.name, p.dtype) if isinstance(a, Expr) else p.name: a for p, a in bound}
        sizes = {p: a for p, a in argument_of.items() if isinstance(p, Expr) and isinstance(a, Expr)}
        memo: dict[Expr, Expr] = {}
        arguments = [
            argument_of[a] if isinstance(a, str) else substitute([a], sizes.get, memo)[0] for a in self._arguments
        ]
        return Launch(self._launch.kernel, tuple(arguments), launch.begins_loop)

    # -- parametrized expressions ------------------------------------------------------------------------------

    def _value(self, e: Expr) -> Expr:
        return substitute([e], lambda e: None, self._memo, self._rebuild)[0]

    def _offset(self, offset: Expr) -> Expr:
        return self._parametrize_offset(self._value(offset))

    def _extent(self, extent: Expr) -> Expr:
        """Return the trip count, parametrized unless it is a constant, for which LLVM unrolls the loop."""
        return self._parameter(extent) if self._is_invariant(extent) and extent.args else self._value(extent)

    def _rebuild(self, e: Expr, args: tuple[Expr, ...]) -> Expr:
        if e.op == "load":
            return load(e.attr, e.dtype, self._parametrize_offset(args[0]))
        if e.op in _ARITHMETIC and e.dtype.startswith("float"):
            args = tuple(self._parameter(a) if a.is_const else a for a in args)
        return rebuild(e, args)

    def _parametrize_offset(self, e: Expr) -> Expr:
        """Replace loop-invariant terms of an offset, but not factors, which may be strides."""
        if self._is_invariant(e):
            return self._parameter(e)
        if e.op == "load":
            return e
        in_sum = e.op in ("add", "sub")
        return rebuild(
            e, tuple(self._parametrize_offset(a) if in_sum or not self._is_invariant(a) else a for a in e.args)
        )

    def _parameter(self, e: Expr) -> Expr:
        return e if e in self._kept else self._name_of.setdefault(e, var(f"at{len(self._name_of)}", e.dtype))

    def _is_invariant(self, e: Expr) -> bool:
        if e.op in ("const", "var"):
            return e.attr not in self._bound
        is_safe = e.op in _HOISTABLE or (e.op in _QUOTIENTS and e.args[1].least > 0)
        return is_safe and all(map(self._is_invariant, e.args))
