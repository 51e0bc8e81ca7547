"""The public names of rules about subtensors, which are in `aesara.tensor.rewriting.indexing`."""

from aesara.tensor.creation.allocation import alloc
from aesara.tensor.elementwise.ops import add, and_, eq, ge, gt, le, lt, maximum, minimum, or_, switch
from aesara.tensor.indexing.subtensor_advanced import (
    advanced_inc_subtensor1,
    advanced_subtensor,
    advanced_subtensor1,
)
from aesara.tensor.rewriting.indexing.lifting import (
    local_join_subtensors,
    local_subtensor_lift,
    local_subtensor_of_alloc,
    local_subtensor_of_dot,
    local_subtensor_of_join,
    local_subtensor_SpecifyShape_lift,
)
from aesara.tensor.rewriting.indexing.positions import (
    get_advsubtensor_axis,
    local_adv_sub1_adv_inc_sub1,
    local_AdvancedIncSubtensor_to_AdvancedIncSubtensor1,
    local_positions_to_slice,
    local_replace_AdvancedSubtensor,
    local_set_to_inc_subtensor,
    local_useless_AdvancedSubtensor1,
    transform_take,
)
from aesara.tensor.rewriting.indexing.reading import (
    local_subtensor_make_vector,
    local_subtensor_merge,
    local_subtensor_remove_broadcastable_index,
    local_subtensor_shape_constant,
    local_uint_constant_indices,
    local_useless_slice,
    local_useless_subtensor,
)
from aesara.tensor.rewriting.indexing.scattered import local_IncSubtensor_serialize
from aesara.tensor.rewriting.indexing.writing import (
    local_incsubtensor_of_zeros,
    local_incsubtensor_of_zeros_to_setsubtensor,
    local_setsubtensor_of_constants,
    local_subtensor_beside_written,
    local_subtensor_inc_subtensor,
    local_useless_inc_subtensor,
    local_useless_inc_subtensor_alloc,
    local_writes_to_same_place,
)
from aesara.tensor.rewriting.indices import is_full_slice, merge_two_slices
from aesara.tensor.rewriting.inplace import (
    local_inplace_AdvancedIncSubtensor,
    local_inplace_AdvancedIncSubtensor1,
    local_inplace_setsubtensor,
)
from aesara.tensor.rewriting.registration import (
    register_canonicalize,
    register_specialize,
    register_stabilize,
    register_useless,
)

__all__ = [
    "add",
    "advanced_inc_subtensor1",
    "advanced_subtensor",
    "advanced_subtensor1",
    "alloc",
    "and_",
    "eq",
    "ge",
    "get_advsubtensor_axis",
    "gt",
    "is_full_slice",
    "le",
    "local_AdvancedIncSubtensor_to_AdvancedIncSubtensor1",
    "local_IncSubtensor_serialize",
    "local_adv_sub1_adv_inc_sub1",
    "local_incsubtensor_of_zeros",
    "local_incsubtensor_of_zeros_to_setsubtensor",
    "local_inplace_AdvancedIncSubtensor",
    "local_inplace_AdvancedIncSubtensor1",
    "local_inplace_setsubtensor",
    "local_join_subtensors",
    "local_positions_to_slice",
    "local_replace_AdvancedSubtensor",
    "local_set_to_inc_subtensor",
    "local_setsubtensor_of_constants",
    "local_subtensor_SpecifyShape_lift",
    "local_subtensor_beside_written",
    "local_subtensor_inc_subtensor",
    "local_subtensor_lift",
    "local_subtensor_make_vector",
    "local_subtensor_merge",
    "local_subtensor_of_alloc",
    "local_subtensor_of_dot",
    "local_subtensor_of_join",
    "local_subtensor_remove_broadcastable_index",
    "local_subtensor_shape_constant",
    "local_uint_constant_indices",
    "local_useless_AdvancedSubtensor1",
    "local_useless_inc_subtensor",
    "local_useless_inc_subtensor_alloc",
    "local_useless_slice",
    "local_useless_subtensor",
    "local_writes_to_same_place",
    "lt",
    "maximum",
    "merge_two_slices",
    "minimum",
    "or_",
    "register_canonicalize",
    "register_specialize",
    "register_stabilize",
    "register_useless",
    "switch",
    "transform_take",
]
