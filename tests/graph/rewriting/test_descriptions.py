"""Every registered rewrite says in one readable sentence what it does."""

import pytest

import aesara.tensor as at
from aesara.graph.rewriting.basic import (
    PatternNodeRewriter,
    RemovalNodeRewriter,
    SubstitutionNodeRewriter,
    in2out,
    node_rewriter,
    rule,
)
from aesara.graph.rewriting.databases import optdb
from aesara.graph.rewriting.db import RewriteDatabase


def registered(database, path=()):
    for name in sorted(database._names):
        entry = database[name]
        if isinstance(entry, RewriteDatabase):
            yield from registered(getattr(entry, "db", entry), (*path, name))
        else:
            yield pytest.param(entry, id="/".join((*path, name)))


@pytest.mark.parametrize("rewriter", list(registered(optdb)))
def test_registered_rewrites(rewriter):
    text = rewriter.description
    assert len(text) > 10 and "\n" not in text and " object at 0x" not in text
    assert not text.endswith((".", ":")) and "<lambda>" not in text and "something equal" not in text


def named(x):
    """The sine of the sum.

    More about it.
    """
    return at.sin(x)


@node_rewriter([at.exp])
def one_of_a_function(fgraph, node):
    """An exponential that nobody needs
    is left out. It was of no use."""


@pytest.mark.parametrize(
    "rewriter, text",
    [
        (rule("r", (at.log, (at.add, 1, "*x")), (at.log1p, "x")), "log(add(1, *x)) becomes log1p(x)"),
        (
            rule("r", (at.exp, (at.neg, "x")), lambda x: at.reciprocal(at.exp(x))),
            "exp(neg(x)) becomes at.reciprocal(at.exp(x))",
        ),
        (rule("r", (at.exp, (at.neg, "x")), named), "exp(neg(x)) becomes The sine of the sum"),
        (rule("r", (at.exp, "x"), lambda x: x, why="Nobody needs it"), "Nobody needs it"),
        (rule("r", (at.exp, "x"), eval("lambda x: x")), "exp(x) becomes something equal"),
        (PatternNodeRewriter((at.exp, (at.log, "x")), "x"), "exp(log(x)) becomes x"),
        (SubstitutionNodeRewriter(at.exp, at.log), "Elemwise{exp,no_inplace} becomes Elemwise{log,no_inplace}"),
        (RemovalNodeRewriter(at.exp), "Elemwise{exp,no_inplace} is removed"),
        (one_of_a_function, "An exponential that nobody needs is left out"),
        (in2out(one_of_a_function), "An exponential that nobody needs is left out"),
    ],
)
def test_where_descriptions_come_from(rewriter, text):
    assert rewriter.description == text
