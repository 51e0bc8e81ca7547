"""Arrays that lowerings set for variables."""

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.graph.basic import Apply
from aesara.graph.op import Op
from aesara.ir.expr import const
from aesara.ir.expr import op as primitive
from aesara.lower.arrays import Pointwise
from aesara.lower.dispatch import lower_op


class Halves(Op):
    """A vector times a half, in a dtype of its own."""

    __props__ = ("dtype",)

    def __init__(self, dtype):
        self.dtype = dtype

    def make_node(self, x):
        return Apply(self, [x], [at.vector(dtype=self.dtype)])

    def perform(self, node, inputs, output_storage, params=None):
        output_storage[0][0] = np.asarray(inputs[0] * 0.5, self.dtype)


@lower_op.register(Halves)
def _halves(op, node, context):
    """Right for float64 alone."""
    array, half = context.array(node.inputs[0]), const(0.5, "float64")
    return [
        Pointwise("float64", array.shape, (array,), lambda index, readers: primitive("mul", readers[0](index), half))
    ]


def test_a_lowering_gives_the_dtype_of_the_variable():
    x = at.dvector("x")
    np.testing.assert_array_equal(aesara.function([x], Halves("float64")(x))([3.0]), [1.5])
    with pytest.raises(TypeError, match="has dtype float32, and was lowered to an array of float64"):
        aesara.function([x], Halves("float32")(x))
