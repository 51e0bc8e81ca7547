"""Graphs for the packages ``unification``, ``etuples`` and ``kanren``, where somebody imports them.

The packages are no requirement of Aesara. `watch_imports` sees to it that they know graphs from the moment on at which
``etuples``, which imports the others, has been imported, before Aesara or after it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from numbers import Number
from typing import Any

from aesara.graph.nodes import Apply, Constant, Variable
from aesara.graph.op import Op
from aesara.graph.rewriting.matching import is_value
from aesara.graph.type import Type

_taught: list[Any] = []


def imported_packages() -> tuple[Any, Any] | None:
    """The packages ``unification`` and ``etuples``, told how to unify graphs; None where they are not in use."""
    unification, etuples = sys.modules.get("unification"), sys.modules.get("etuples")
    if unification is None or etuples is None:
        return None
    if unification not in _taught:
        _teach(unification, etuples)
        _taught.append(unification)
    return unification, etuples


class _ImportWatch:
    """A finder of modules: finds ``etuples`` as the other finders do, and teaches it graphs once it is loaded."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name != "etuples":
            return None
        for finder in sys.meta_path:
            find = None if finder is self else getattr(finder, "find_spec", None)
            spec = None if find is None else find(name, path, target)
            if spec is not None:
                break
        else:
            return None
        run = getattr(spec.loader, "exec_module", None)
        if run is not None:

            def run_and_teach(module: Any) -> None:
                run(module)
                imported_packages()

            spec.loader.exec_module = run_and_teach
        return spec


def watch_imports() -> None:
    """Let graphs unify with terms of the packages as soon as these are imported."""
    if imported_packages() is None:
        sys.meta_path.insert(0, _ImportWatch())


def _teach(unification: Any, etuples: Any) -> None:
    core, pairs = unification.core, sys.modules["cons"].core  # `etuples` has imported it

    def head_and_tail(term: Any) -> tuple[Any, tuple[Any, ...]]:
        """``(op, inputs)`` of a variable; the class and the properties of an op or a type."""
        if isinstance(term, Variable):
            node = calling_node(term)
            if node is not None:
                return node.op, tuple(node.inputs)
        elif hasattr(term, "__props__"):
            return type(term), tuple(getattr(term, prop) for prop in term.__props__)
        raise pairs.ConsError(f"{term} was not made from parts.")

    for kind in (Variable, Op, Type):
        pairs._car.add((kind,), lambda term: head_and_tail(term)[0])
        pairs._cdr.add((kind,), lambda term: etuples.etuple(*head_and_tail(term)[1]))

    def unify_variables(u: Variable, v: Variable, s: Mapping[Any, Any]) -> Iterator[Any]:
        if u is v or (isinstance(u, Constant) and isinstance(v, Constant) and u.equals(v)):
            yield s
        elif u.owner is None or v.owner is None:
            yield False
        else:
            yield (yield core._unify(as_etuple(u, etuples.etuple), as_etuple(v, etuples.etuple), s))

    def unify_with_number(u: Variable, v: Variable, s: Mapping[Any, Any]) -> Iterator[Any]:
        yield s if is_value(u, v) else False

    def unify_with_etuple(u: Variable, v: Variable, s: Mapping[Any, Any]) -> Iterator[Any]:
        yield False if u.owner is None else (yield core._unify(as_etuple(u, etuples.etuple), v, s))

    def unify_parts_with_etuple(u: Any, v: Variable, s: Mapping[Any, Any]) -> Iterator[Any]:
        if not hasattr(u, "__props__"):
            yield False
        else:
            head, tail = head_and_tail(u)
            yield (yield core._unify(etuples.etuple(head, *tail), v, s))

    core._unify.add((Variable, Variable, Mapping), unify_variables)
    for kind in (Op, Type):
        core._unify.add((kind, etuples.core.ExpressionTuple, Mapping), unify_parts_with_etuple)
        core._unify.add((etuples.core.ExpressionTuple, kind, Mapping), lambda u, v, s: unify_parts_with_etuple(v, u, s))
    for other, how in ((Number, unify_with_number), (etuples.core.ExpressionTuple, unify_with_etuple)):
        core._unify.add((Variable, other, Mapping), how)
        core._unify.add((other, Variable, Mapping), lambda u, v, s, how=how: how(v, u, s))


def calling_node(variable: Variable) -> Apply | None:
    """The node whose op, called with its inputs, returns a variable of this kind; None if there is none.

    A variable beside the op's default output, as the next state of a random generator is, is no result of a call.
    """
    node = variable.owner
    if node is None or len(node.outputs) == 1:
        return node
    default = node.op.default_output
    return node if default is not None and node.outputs[default] is variable else None


def as_etuple(graph: Variable, etuple: Callable[..., Any]) -> Any:
    """The expression tuple ``e(op, input, ...)`` of a graph."""
    made: dict[Variable, Any] = {}
    stack = [graph]
    while stack:
        variable = stack[-1]
        node = calling_node(variable)
        if node is None:
            made[variable] = variable
        else:
            missing = [one for one in node.inputs if one not in made]
            if missing:
                stack.extend(missing)
                continue
            made[variable] = etuple(node.op, *(made[one] for one in node.inputs))
        stack.pop()
    return made[graph]
