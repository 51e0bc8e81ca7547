"""Rewriting by relations: what may stand in the place of an expression is found by a search."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Apply, Variable
from aesara.graph.rewriting.kanren_packages import as_etuple, imported_packages
from aesara.graph.rewriting.pattern import fits_in_place
from aesara.graph.rewriting.relational import lall, reify, var
from aesara.graph.rewriting.rewriter import NodeRewriter
from aesara.graph.rewriting.stack_trace import copy_stack_trace

__all__ = ["KanrenRelationSub"]

_TRIED = 1000  # answers that do not fit, before the search is given up


class KanrenRelationSub(NodeRewriter):
    """Replaces what a relation relates to something else.

    Parameters
    ----------
    kanren_relation
        ``relation(input_term, output_var)``: a goal that holds where `output_var` may stand in the place of the
        expression `input_term`; see `aesara.graph.rewriting.relational` for goals and terms. Where the packages
        ``kanren`` and ``etuples`` have been imported, goals may be theirs: `input_term` is then an ``etuple``, and
        `output_var` a variable of ``unification``.
    results_filter
        ``f(answers)``: chooses one of the answers, an iterator, or returns None. Default: the first whose type can
        stand in the place of the expression.
    node_filter
        ``f(node)``: whether the relation is tried on a node.

    Examples
    --------
    >>> from aesara.graph.rewriting.relational import eq, lall, var
    >>> from aesara.graph.rewriting.utils import rewrite_graph
    >>> from aesara.graph.rewriting.walking import in2out
    >>> def twice(expression, result):
    ...     x = var()
    ...     return lall(eq((at.add, x, x), expression), eq((at.mul, 2, x), result))
    >>> a = at.dvector("a")
    >>> aesara.pprint(rewrite_graph(at.exp(a) + at.exp(a), (), in2out(KanrenRelationSub(twice))))
    '(2 * exp(a))'
    """

    reentrant = True

    def __init__(
        self,
        kanren_relation: Callable[[Any, Any], Any],
        results_filter: Callable[[Iterator[Any]], Any] | None = None,
        node_filter: Callable[[Apply], bool] = lambda node: True,
    ):
        self.kanren_relation = kanren_relation
        self.results_filter = results_filter
        self.node_filter = node_filter
        self.name = getattr(kanren_relation, "__name__", None)

    def transform(self, fgraph: FunctionGraph, node: Apply, *args: Any, **kwargs: Any) -> Any:
        """The replacements that the relation gives for the outputs of a node, or False."""
        if not self.node_filter(node):
            return False
        if len(node.outputs) != 1:
            return self._transform_all(node)
        old = node.outputs[0]
        answers = (answer for answer in self._answers(old) if answer is not old)
        chosen: Any
        if self.results_filter is None:
            fitting = (fits_in_place(old, graph_of(answer)) for answer in islice(answers, _TRIED))
            chosen = next((new for new in fitting if new is not None and new is not old), None)
        else:
            chosen = self.results_filter(answers)
        if isinstance(chosen, list) and len(chosen) == 1:
            chosen = chosen[0]
        new = fits_in_place(old, graph_of(chosen))
        if new is None or new is old:
            return False
        return [copy_stack_trace(old, new)]

    def _transform_all(self, node: Apply) -> Any:
        """Apply `transform` to a node with several outputs; an answer is a list of replacements."""
        for answer in islice(self._answers(node), _TRIED):
            new = answer if isinstance(answer, list) else graph_of(answer)
            if not isinstance(new, (list, tuple)) or len(new) != len(node.outputs):
                continue
            fitting = [fits_in_place(old, one) for old, one in zip(node.outputs, new)]
            if all(one is not None for one in fitting):
                return [copy_stack_trace(old, one) for old, one in zip(node.outputs, fitting)]
        return False

    def _answers(self, old: Variable | Apply) -> Iterator[Any]:
        packages = imported_packages()
        expression: Any
        if packages is None:
            result = var()
            expression = (old.op, *old.inputs) if isinstance(old, Apply) else old
            for substitution in lall(self.kanren_relation(expression, result))({}):
                yield reify(result, substitution)
            return
        unification, etuples = packages
        result = unification.var()
        if isinstance(old, Apply):
            expression = etuples.etuple(old.op, *old.inputs, evaled_obj=list(old.outputs))
        else:
            expression = as_etuple(old, etuples.etuple)
        for substitution in self.kanren_relation(expression, result)({}):
            yield reify(unification.reify(result, substitution), substitution)

    def print_summary(self, stream: Any = None, level: int = 0, depth: int = -1) -> None:
        relation = getattr(self.kanren_relation, "__name__", None)
        print(f"{' ' * level}{type(self).__name__}({relation}) id={id(self)}", file=stream)


def graph_of(term: Any) -> Any:
    """The graph that a term describes; what is no term of operations is left as it is."""
    if hasattr(term, "evaled_obj"):
        return term.evaled_obj
    if isinstance(term, (tuple, list)) and term:
        return term[0](*(graph_of(part) for part in term[1:]))
    return term
