"""Construction of kernels and launches from statements."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from aesara.ir.expr import Expr, load, rebuild, substitute, var, walk
from aesara.ir.kernel import (
    BufferParam,
    Declare,
    For,
    Kernel,
    ScalarParam,
    Statement,
    Store,
    expressions_of,
    map_expressions,
    walk_statements,
)
from aesara.ir.steps import Launch
from aesara.lower.deep_nests import collapse_deep_nests

__all__ = ["launch_of"]


def launch_of(name: str, body: tuple[Statement, ...], aliased: Collection[str] = ()) -> Launch:
    """Return the launch of a kernel with these statements.

    Parameters get canonical names, so that equal nests become equal kernels.
    """
    body = collapse_deep_nests(body)
    bound = {s.var for s in walk_statements(body) if isinstance(s, For)}
    bound |= {s.name for s in walk_statements(body) if isinstance(s, Declare)}
    buffers: dict[str, str] = {}
    dtypes: dict[str, str] = {}
    written: set[str] = set()
    sizes: dict[Expr, str] = {}

    def add_buffer(buffer: str, dtype: str) -> None:
        if buffer not in buffers:
            buffers[buffer] = f"b{len(buffers)}"
            dtypes[buffer] = dtype

    hoisted = _strides([e for s in walk_statements(body) for e in expressions_of(s)], bound) | _lengths(body)
    replaced: dict[Expr, Expr] = {}
    body = tuple(map_expressions(s, lambda e: substitute([e], hoisted.get, replaced)[0]) for s in body)
    for statement in walk_statements(body):
        for e in walk(expressions_of(statement)):
            if e.op == "load":
                add_buffer(e.attr, e.dtype)
            elif e.op == "var" and e.attr not in bound and e not in sizes:
                sizes[e] = f"n{len(sizes)}"
        if isinstance(statement, Store):
            add_buffer(statement.buffer, statement.value.dtype)
            written.add(statement.buffer)

    def rename(e: Expr) -> Expr | None:
        if e in sizes:
            return var(sizes[e], e.dtype)
        return None

    def remake(e: Expr, args: tuple[Expr, ...]) -> Expr:
        return load(buffers[e.attr], e.dtype, args[0]) if e.op == "load" else rebuild(e, args)

    memo: dict[Expr, Expr] = {}

    def apply(e: Expr) -> Expr:
        return substitute([e], rename, memo, remake)[0]

    renamed_body = tuple(map_expressions(s, apply, lambda name: buffers.get(name, name)) for s in body)
    shared = any(buffer in written for buffer in aliased)
    params: list[BufferParam | ScalarParam] = [
        BufferParam(new, dtypes[old], old in written, shared and old in aliased) for old, new in buffers.items()
    ]
    params += [ScalarParam(new, e.dtype) for e, new in sizes.items()]
    computed = {name: e for e, name in hoisted.items()}
    return Launch(Kernel(name, tuple(params), renamed_body), (*buffers, *(computed.get(e, e) for e in sizes)))


def _lengths(body: tuple[Statement, ...]) -> dict[Expr, Expr]:
    """Return loads of scalars in trip counts, each with a variable for it.

    As arguments of the kernel they are known at the launch, which estimates the run time.
    """
    written = {s.buffer for s in walk_statements(body) if isinstance(s, Store)}
    extents = [s.extent for s in walk_statements(body) if isinstance(s, For)]
    loads = [e for e in walk(extents) if e.op == "load" and e.args[0].is_const and e.attr not in written]
    return {e: var(f"length{k}", e.dtype) for k, e in enumerate(loads)}


def _strides(roots: Sequence[Expr], bound: set[str]) -> dict[Expr, Expr]:
    """Return computed strides, each with a variable for it.

    As arguments of the kernel they are loop-invariant, and LLVM versions loops for stride 1.
    """
    strides: dict[Expr, Expr] = {}
    fixed: set[Expr] = set()
    for e in walk(roots):
        if e.op not in ("load", "var") or (e.op == "var" and e.attr not in bound):
            if all(a in fixed for a in e.args):
                fixed.add(e)
            elif e.op == "mul" and e.dtype == "int64":
                for a in e.args:
                    if a in fixed and a.op not in ("var", "const") and a not in strides:
                        strides[a] = var(f"by{len(strides)}")
    return strides
