"""Indexing tensors: ``x[...]``, `set_subtensor`, `inc_subtensor`, `take`: the documented names."""

from aesara.configdefaults import config
from aesara.graph.hooks import pprint, printer_attribute
from aesara.tensor.creation.allocation import alloc
from aesara.tensor.elementwise.ops import clip
from aesara.tensor.exceptions import AdvancedIndexingError
from aesara.tensor.indexing.getitem import getitem
from aesara.tensor.indexing.inc_subtensor import *
from aesara.tensor.indexing.index_shapes import *
from aesara.tensor.indexing.subtensor_advanced import *
from aesara.tensor.indexing.subtensor_basic import *
from aesara.tensor.type import (
    bscalar,
    cscalar,
    dscalar,
    fscalar,
    iscalar,
    lscalar,
    ubscalar,
    uiscalar,
    ulscalar,
    uwscalar,
    wscalar,
    zscalar,
)
from aesara.tensor.type_other import NoneConst, make_slice

__getattr__ = printer_attribute(__name__, ("SubtensorPrinter", "IncSubtensorPrinter"))
