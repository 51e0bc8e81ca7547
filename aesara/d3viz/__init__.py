"""Graphs as pages for a browser: ``d3viz(function, "graph.html")``."""

from aesara.d3viz.d3viz import d3viz, d3write

__all__ = ["d3viz", "d3write"]
