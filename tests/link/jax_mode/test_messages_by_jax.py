"""Messages of JAX mode tell of lengths, values and names as those of native code do."""

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.tensor.nnet import categorical_crossentropy, softmax


@pytest.mark.parametrize(
    "declared, of_unknown_length, combined, shapes",
    [
        (at.dmatrix, at.dmatrix, lambda x, m: x * m, [(2, 3), (2, 1)]),
        (at.dtensor3, at.dtensor3, at.matmul, [(2, 3, 4), (1, 4, 3)]),
    ],
)
def test_lengths_of_one(declared, of_unknown_length, combined, shapes):
    x, m = declared("x"), of_unknown_length("m")
    f = aesara.function([x, m], combined(x, m), mode="JAX")
    wanted = tuple(1 if length == 1 else None for length in shapes[1])
    with pytest.raises(ValueError) as caught:
        f(*map(np.zeros, shapes))
    assert f"Declare `m` with `shape={wanted}`, or use `at.specify_broadcastable(m, " in str(caught.value)


def test_label_out_of_range():
    m, y = at.dmatrix("m"), at.lvector("y")
    f = aesara.function([m, y], categorical_crossentropy(softmax(m, axis=1), y).mean(), mode="JAX")
    with pytest.raises(ValueError, match="class 3 of row 1, but there are 3 columns, so that classes go from 0 to 2"):
        f(np.zeros((2, 3)), [0, 3])
