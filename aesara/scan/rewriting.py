"""Rewrites of loops."""

from aesara.configdefaults import config
from aesara.graph.rewriting.databases import optdb
from aesara.scan.inner_graphs import RewriteSteps

__all__ = ["RewriteSteps", "config", "optdb"]
