"""Indexing tensors: ``x[...]``, `set_subtensor`, `inc_subtensor`, `take`: the documented names."""

from __future__ import annotations

from aesara.configdefaults import config
from aesara.graph.hooks import pprint, printer_attribute
from aesara.tensor.creation.allocation import alloc
from aesara.tensor.elementwise.ops import clip
from aesara.tensor.exceptions import AdvancedIndexingError
from aesara.tensor.indexing.getitem import getitem
from aesara.tensor.indexing.inc_subtensor import (
    inc_subtensor,
    set_subtensor,
    take,
)
from aesara.tensor.indexing.index_shapes import (
    as_index_constant,
    as_index_literal,
    as_index_variable,
    as_nontensor_scalar,
    basic_shape,
    check_advanced_indexing_dimensions,
    get_canonical_form_slice,
    get_constant_idx,
    get_idx_list,
    get_slice_elements,
    group_indices,
    index_vars_to_types,
    indexed_result_shape,
    indices_from_subtensor,
    is_basic_idx,
    range_len,
    slice_len,
)
from aesara.tensor.indexing.subtensor_advanced import (
    AdvancedIncSubtensor,
    AdvancedIncSubtensor1,
    AdvancedSubtensor,
    AdvancedSubtensor1,
    advanced_inc_subtensor,
    advanced_inc_subtensor1,
    advanced_inc_subtensor_nodup,
    advanced_set_subtensor,
    advanced_set_subtensor1,
    advanced_set_subtensor_nodup,
    advanced_subtensor,
    advanced_subtensor1,
)
from aesara.tensor.indexing.subtensor_basic import IncSubtensor, Subtensor
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

__all__ = [
    "AdvancedIndexingError",
    "alloc",
    "clip",
    "config",
    "pprint",
    "bscalar",
    "cscalar",
    "dscalar",
    "fscalar",
    "iscalar",
    "lscalar",
    "ubscalar",
    "uiscalar",
    "ulscalar",
    "uwscalar",
    "wscalar",
    "zscalar",
    "AdvancedIncSubtensor",
    "AdvancedIncSubtensor1",
    "AdvancedSubtensor",
    "AdvancedSubtensor1",
    "IncSubtensor",
    "NoneConst",
    "Subtensor",
    "advanced_inc_subtensor",
    "advanced_inc_subtensor1",
    "advanced_inc_subtensor_nodup",
    "advanced_set_subtensor",
    "advanced_set_subtensor1",
    "advanced_set_subtensor_nodup",
    "advanced_subtensor",
    "advanced_subtensor1",
    "as_index_constant",
    "as_index_literal",
    "as_index_variable",
    "as_nontensor_scalar",
    "basic_shape",
    "check_advanced_indexing_dimensions",
    "get_canonical_form_slice",
    "get_constant_idx",
    "get_idx_list",
    "get_slice_elements",
    "getitem",
    "group_indices",
    "inc_subtensor",
    "index_vars_to_types",
    "indexed_result_shape",
    "indices_from_subtensor",
    "is_basic_idx",
    "make_slice",
    "range_len",
    "set_subtensor",
    "slice_len",
    "take",
]


__getattr__ = printer_attribute(__name__, ("SubtensorPrinter", "IncSubtensorPrinter"))
