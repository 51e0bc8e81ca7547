"""Every registered rewrite says in one readable sentence what it does."""

from types import CellType, CodeType, FunctionType

import numpy as np
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
from aesara.graph.rewriting.describe import function_text


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
        (rule("r", (at.log, (at.add, 1, "*x")), (at.log1p, "x")), "log(1 + x) becomes log1p(x)"),
        (
            rule("r", (at.exp, (at.neg, "x")), lambda x: at.reciprocal(at.exp(x))),
            "exp(-x) becomes at.reciprocal(at.exp(x))",
        ),
        (rule("r", (at.exp, (at.neg, "x")), named), "exp(-x) becomes The sine of the sum"),
        (
            rule(
                "r",
                (at.true_divide, "x", (at.add, "x", 2, "y")),
                lambda x, y: at.sub(at.mul(x, np.asarray(2)), at.neg(y)),
            ),
            "x / (x + 2 + y) becomes x * 2 - -y",
        ),
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


LAMBDAS = """
two = lambda x: (0 - x, lambda x: (x, 1)), lambda x: x
called = (lambda x: (lambda x: x + 1)(x))(2), lambda: x, lambda *é: "é" + é[0]
longer = lambda x: (
    lambda x: [
        x for x in range(x)]
)(
    x
)
closed = lambda x: (lambda y: x + y) if (lambda: x)() else {lambda y: at_abs(x) for x in "["}
given = lambda x=(lambda x: -x): x(lambda a, b=2, *c, d=4, **e: a + b + d)
"""
BODIES = """
(0 - x, lambda x: (x, 1)) | (x, 1) | x
(lambda x: x + 1)(x) | x + 1 | x | 'é' + é[0]
(lambda x: [x for x in range(x)])(x) | [x for x in range(x)]
(lambda y: x + y) if (lambda: x)() else {lambda y: abs(x) for x in '['} | x | x + y | abs(x)
-x | x(lambda a, b=2, *c, d=4, **e: a + b + d) | a + b + d
"""


def codes_in(code):
    """The codes of all lambdas in a code."""
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from [inner] if inner.co_name == "<lambda>" else []
            yield from codes_in(inner)


def test_the_text_of_every_lambda_is_found(tmp_path):
    file = tmp_path / "lambdas.py"
    file.write_text(LAMBDAS, encoding="utf-8")
    found = []
    for code in codes_in(compile(LAMBDAS, str(file), "exec")):
        cells = tuple(CellType() for _ in code.co_freevars)
        found.append(function_text(FunctionType(code, {}, closure=cells)))
        assert function_text(FunctionType(code.replace(co_linetable=b""), {}, closure=cells)) is None
    assert found == [text for line in BODIES.strip().splitlines() for text in line.split(" | ")]
