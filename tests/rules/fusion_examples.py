"""Examples of the rules about operations that are made of several."""

import numpy as np

import aesara.tensor as at
from aesara import scalar as aes
from aesara.tensor.elemwise import Elemwise


def _composite(x, y):
    """Of the three inputs and two outputs, the first of each."""
    a, b, c = (aes.get_scalar_type(v.type.dtype)() for v in (x, y, x))
    op = Elemwise(aes.Composite([a, b, c], [aes.exp(a), aes.add(b, c)]))
    return op(x, x, x, return_list=True)[0]


EXAMPLES = {
    "local_useless_composite": [lambda x: _composite(x, x)],
    "local_upcast_elemwise_constant_inputs": [
        lambda x: x + at.constant(np.int8(1)).astype("int8"),
        lambda x: at.add(x, at.constant(np.array([1], "int8"))),
        lambda x: at.mul(x, at.constant(np.array([2], "uint8"))),
    ],
}
