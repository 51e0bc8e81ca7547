"""Applying scalar ops to every element, dimension shuffles and reductions: the documented names."""

from __future__ import annotations

from aesara.configdefaults import config
from aesara.graph.hooks import pprint, printer_attribute
from aesara.scalar import bool as scalar_bool
from aesara.tensor.elementwise.elemwise import (
    Elemwise,
    elemwise_of,
    scalar_elemwise,
    scalar_identity,
)
from aesara.tensor.reductions.careduce import CAReduce
from aesara.tensor.shapes.dimshuffle import DimShuffle
from aesara.tensor.type import lvector

__all__ = [
    "CAReduce",
    "DimShuffle",
    "Elemwise",
    "config",
    "elemwise_of",
    "lvector",
    "pprint",
    "scalar_bool",
    "scalar_elemwise",
    "scalar_identity",
]

__getattr__ = printer_attribute(__name__, ("DimShufflePrinter",))
