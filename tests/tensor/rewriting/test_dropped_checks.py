"""Errors that rules may drop, all of which the tag ``shape_unsafe`` keeps."""

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.compile.mode import Mode
from aesara.raise_op import Assert
from tests.rules.framework import examples
from tests.rules.registered import node_rewriters

V = np.arange(3.0)
W = np.arange(4.0)
M = np.ones((3, 4))

#: Programs that raise an error when they are run as written, since lengths differ or an index is out of range.
PROGRAMS = {
    "product with zero": lambda v, w, m, i: v * 0 * w,
    "quotient of zero": lambda v, w, m, i: 0 / (v + w),
    "matrix of zeros": lambda v, w, m, i: at.dot(at.zeros((3, 3)), w),
    "vector of zeros": lambda v, w, m, i: at.dot(v, at.zeros_like(w)),
    "known choice": lambda v, w, m, i: at.switch(1, v, w),
    "equal choices": lambda v, w, m, i: at.switch(v, w, w),
    "fill": lambda v, w, m, i: at.second(v, w),
    "zeros like": lambda v, w, m, i: at.zeros_like(v + w),
    "shape of sum": lambda v, w, m, i: (v + w).shape,
    "length of sum": lambda v, w, m, i: (v + w).shape[0],
    "specified shape": lambda v, w, m, i: at.specify_shape(v, (i,)).shape,
    "specified length": lambda v, w, m, i: at.specify_shape(v, (i,)).shape[0],
    "part of sum": lambda v, w, m, i: (v + w)[0],
    "part of alloc": lambda v, w, m, i: at.alloc(v, i)[:2],
    "product of row with zero": lambda v, w, m, i: m[i] * 0,
    "reshape of reshape": lambda v, w, m, i: m.reshape((i, -1)).reshape((-1,)),
    "shape of reshape": lambda v, w, m, i: m.reshape((i, 2)).shape,
    "part of join": lambda v, w, m, i: at.join(0, m, m[:, :2])[0],
    "part of stack": lambda v, w, m, i: at.stack([v, w])[0],
    "shape of join": lambda v, w, m, i: at.join(0, m, m[:, :2]).shape,
    "written and read": lambda v, w, m, i: at.set_subtensor(v[:2], w)[:2],
    "written and read elsewhere": lambda v, w, m, i: at.set_subtensor(v[:2], w)[2],
    "written twice": lambda v, w, m, i: at.set_subtensor(at.set_subtensor(v[:2], w)[:2], 1.0),
    "other element of stack": lambda v, w, m, i: at.stack([v[i], w[0]])[1],
    "difference of an element and itself": lambda v, w, m, i: at.xor(v[i] > 0, v[i] > 0),
    "known choice of an element": lambda v, w, m, i: at.and_(v[i] > 0, np.array(False)),
    "logic with a constant": lambda v, w, m, i: at.and_(at.zeros_like(w, dtype="bool"), v > 0),
    "other logic with a constant": lambda v, w, m, i: at.or_(at.zeros_like(w, dtype="bool"), v > 0),
    "power of zeros": lambda v, w, m, i: at.pow(v, at.zeros_like(w)),
    "choice in a choice": lambda v, w, m, i: at.switch(v > 0, at.switch(v > 0, v, w), 1.0),
    "element of specified shape": lambda v, w, m, i: at.specify_shape(v, (i,))[0],
    "zero written to zeros": lambda v, w, m, i: at.set_subtensor(at.zeros(3)[i], 0.0),
    "sum written": lambda v, w, m, i: at.set_subtensor(v[:2], v[:2] + w[:1]),
    "written over": lambda v, w, m, i: at.set_subtensor(at.set_subtensor(v[:1], v[i])[:1], 1.0),
    "all written": lambda v, w, m, i: at.set_subtensor(v[:], w),
    "element written and read": lambda v, w, m, i: at.set_subtensor(v[i], 1.0)[i],
    "nothing added": lambda v, w, m, i: at.inc_subtensor(v[i], 0.0),
    "own value written": lambda v, w, m, i: at.set_subtensor(v[i], v[i]),
    "added to zeros": lambda v, w, m, i: at.inc_subtensor(at.zeros(3)[:2], w)[0],
    "different entries of fill": lambda v, w, m, i: at.unique(at.second(v, w)),
    "largest of fill": lambda v, w, m, i: at.max(at.second(v, w)),
    "sum of alloc": lambda v, w, m, i: at.alloc(v, i).sum(),
    "one piece": lambda v, w, m, i: at.split(v, at.stack([i]), 1, 0),
    "shape of asserted": lambda v, w, m, i: Assert("no")(v, i < 3).shape,
    "shape of product": lambda v, w, m, i: at.dot(m, v).shape,
    "part of broadcast": lambda v, w, m, i: at.broadcast_to(v, (i,))[0],
    "shape of updated": lambda v, w, m, i: at.inc_subtensor(v[i], 1.0).shape,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_errors_are_kept_without_the_tag(name):
    inputs = [at.dvector("v"), at.dvector("w"), at.dmatrix("m"), at.lscalar("i")]
    for mode in (Mode("py", None), Mode("py", "fast_run").excluding("shape_unsafe")):
        function = aesara.function(inputs, PROGRAMS[name](*inputs), mode=mode, on_unused_input="ignore")
        with pytest.raises((ValueError, IndexError, AssertionError)):
            function(V, W, M, 7)


#: What cancels is not looked at: that is what the canonical form of sums and products is for.
CANCELLING = {"local_add_canonizer", "local_mul_canonizer", "local_greedy_distributor"}


def test_rules_that_drop_checks_have_the_tag():
    dropping = {name for name, entries in examples().items() if any(entry.drops_checks for entry in entries)}
    tags = {name: tags for name, (_, tags) in node_rewriters().items()}
    untagged = {name for name in dropping if not tags[name] & {"shape_unsafe", "unsafe"}}
    # Joins are summed if lengths differ only where one is 1.
    assert untagged == CANCELLING | {"local_reduce_stack"}
