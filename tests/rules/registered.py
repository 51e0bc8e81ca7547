"""Finds all node rewriters that are registered, by name."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import aesara.compile.pipeline
import aesara.tensor.rewriting
import aesara.tensor.rewriting.matrices  # noqa: F401 - those about linear algebra
from aesara.graph.rewriting import databases
from aesara.graph.rewriting.db import RewriteDatabase, TopoDB
from aesara.graph.rewriting.node_rewriters import SequentialNodeRewriter
from aesara.graph.rewriting.processing import NodeProcessingGraphRewriter
from aesara.graph.rewriting.rewriter import NodeRewriter
from aesara.tensor.rewriting.inplace import InplaceWriter


@cache
def node_rewriters() -> dict[str, tuple[NodeRewriter, set[str]]]:
    """All registered node rewriters by name, with all tags under which they are registered anywhere."""
    found: dict[str, tuple[NodeRewriter, set[str]]] = {}
    for name, rewriter, tags in _inside(databases.optdb):
        known, known_tags = found.setdefault(name, (rewriter, set()))
        if known is not rewriter:
            raise AssertionError(f"two rewriters are registered as {name}")
        known_tags |= tags
    return found


def _inside(database: RewriteDatabase) -> Iterator[tuple[str, NodeRewriter, set[str]]]:
    if isinstance(database, TopoDB):
        yield from _inside(database.db)
    for name in sorted(database._names):
        entry = database._rewriter_named(name)
        tags = {tag for tag, entries in database.__db__.items() if entry in entries}
        if isinstance(entry, RewriteDatabase):
            yield from _inside(entry)
        elif isinstance(entry, NodeProcessingGraphRewriter) and entry.node_rewriter is not None:
            for inner_name, inner in _parts(name, entry.node_rewriter):
                yield inner_name, inner, tags
        elif isinstance(entry, InplaceWriter):
            for inner_name, inner in _parts(name, entry.rule):
                yield inner_name, inner, tags
        elif isinstance(entry, NodeRewriter):
            for inner_name, inner in _parts(name, entry):
                yield inner_name, inner, tags


def _parts(name: str, rewriter: Any) -> Iterator[tuple[str, NodeRewriter]]:
    if isinstance(rewriter, SequentialNodeRewriter):
        for inner in rewriter.rewrites:
            yield from _parts(inner.name, inner)
    else:
        yield name, rewriter
