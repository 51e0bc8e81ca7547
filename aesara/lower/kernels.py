"""Construction of kernels and launches from statements."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

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
    hoisted = _strides([e for s in walk_statements(body) for e in expressions_of(s)], bound) | _lengths(body)
    replaced: dict[Expr, Expr] = {}
    body = tuple(map_expressions(s, lambda e: substitute([e], hoisted.get, replaced)[0]) for s in body)
    dtypes, sizes = _free_names(body, bound)
    buffer_names = {buffer: f"b{k}" for k, buffer in enumerate(dtypes)}
    size_names = {size: f"n{k}" for k, size in enumerate(sizes)}
    body = _rename(body, buffer_names, {size: var(new, size.dtype) for size, new in size_names.items()})

    written = {s.buffer for s in walk_statements(body) if isinstance(s, Store)}
    shared = any(buffer_names.get(buffer) in written for buffer in aliased)
    params: list[BufferParam | ScalarParam] = [
        BufferParam(new, dtypes[old], new in written, shared and old in aliased) for old, new in buffer_names.items()
    ]
    params += [ScalarParam(new, size.dtype) for size, new in size_names.items()]
    computed = {size: e for e, size in hoisted.items()}
    return Launch(Kernel(name, tuple(params), body), (*dtypes, *(computed.get(size, size) for size in sizes)))


def _free_names(body: tuple[Statement, ...], bound: set[str]) -> tuple[dict[str, str], list[Expr]]:
    """Return the dtypes of the buffers of statements by name, and the variables that are not `bound`, in order."""
    dtypes: dict[str, str] = {}
    sizes: dict[Expr, None] = {}
    for statement in walk_statements(body):
        for e in walk(expressions_of(statement)):
            if e.op == "load":
                dtypes.setdefault(e.attr, e.dtype)
            elif e.op == "var" and e.attr not in bound:
                sizes[e] = None
        if isinstance(statement, Store):
            dtypes.setdefault(statement.buffer, statement.value.dtype)
    return dtypes, list(sizes)


def _rename(
    body: Sequence[Statement], buffer_names: Mapping[str, str], variables: Mapping[Expr, Expr]
) -> tuple[Statement, ...]:
    """Rename buffers, and replace variables."""

    def rebuild_load(e: Expr, args: tuple[Expr, ...]) -> Expr:
        return load(buffer_names[e.attr], e.dtype, args[0]) if e.op == "load" else rebuild(e, args)

    memo: dict[Expr, Expr] = {}

    def rename(e: Expr) -> Expr:
        return substitute([e], variables.get, memo, rebuild_load)[0]

    return tuple(map_expressions(s, rename, lambda name: buffer_names.get(name, name)) for s in body)


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
