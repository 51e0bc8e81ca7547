"""Operations made from graphs, under the path at which they are documented."""

from aesara.compile.ops import update_placeholder
from aesara.configdefaults import config
from aesara.graph.rewriting.databases import optdb
from aesara.subgraph import OpFromGraph, construct_nominal_fgraph, infer_shape, inline_ofg_expansion

__all__ = [
    "OpFromGraph",
    "config",
    "construct_nominal_fgraph",
    "infer_shape",
    "inline_ofg_expansion",
    "optdb",
    "update_placeholder",
]
