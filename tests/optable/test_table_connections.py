"""Every row of the op table, and its gradients: what operations say of which inputs they are connected to is true."""

import pytest

import aesara
import aesara.tensor as at
import tests.optable.rows  # noqa: F401
from aesara.gradient import disconnected_type
from aesara.graph.pullback import is_disconnected, is_null
from aesara.graph.traversal import applys_between, io_connection_pattern
from aesara.tensor.basic import get_scalar_constant_value
from aesara.tensor.exceptions import NotScalarConstantError
from aesara.tensor.nnet import batchnorm, blocksparse, crossentropy, ctc
from aesara.tensor.random.basic import NormalRV
from aesara.tensor.random.type import random_generator_type
from aesara.tensor.shape import Shape_i
from aesara.tensor.sort import TopKOp
from tests.optable.derivatives import differentiable
from tests.optable.faults import rows_for
from tests.optable.running import Graphs
from tests.optable.table import ROWS


def is_zero(term):
    try:
        return get_scalar_constant_value(term) == 0
    except NotScalarConstantError:
        return False


def complaints(node):
    """Yield differences between an op's `connection_pattern` and its gradients of one output at a time."""
    pattern = node.op.connection_pattern(node)
    for j, out in enumerate(node.outputs):
        if out.type.dtype.startswith(("float", "complex")):
            given = [out.ones_like() if other is out else disconnected_type() for other in node.outputs]
            for i, term in enumerate(node.op.L_op(node.inputs, node.outputs, given)):
                if is_null(term):
                    continue
                if is_disconnected(term) if pattern[i][j] else not (is_disconnected(term) or is_zero(term)):
                    yield f"{node}: pattern {pattern}, but the gradient of output {j} by input {i} is {term}"


@rows_for("connections", ROWS.values())
def test_connected_inputs_have_a_gradient_and_no_others(row):
    graphs = Graphs.of(row, row.cases[:2])
    inputs, outputs = graphs.flat_inputs(), graphs.flat_outputs()
    if differentiable(row):
        real = [v.sum() for v in outputs if v.type.dtype.startswith("float")]
        wrt = [v for v in inputs if v.type.dtype.startswith("float")]
        if real and wrt:
            slopes = aesara.grad(sum(real), wrt, disconnected_inputs="ignore", null_gradients="return")
            outputs += [slope for slope in slopes if not is_null(slope)]
    found = [
        complaint
        for node in applys_between(inputs, outputs)
        if hasattr(node.op, "connection_pattern")
        for complaint in complaints(node)
    ]
    if found:
        pytest.fail("\n".join(found[:6]), pytrace=False)


x, y, z, u, v = at.dmatrices("x", "y", "z", "u", "v")
b, c, n = at.dvector("b"), at.dvector("c"), at.lvector("n")
r, s, k, rng = at.dscalar("r"), at.dscalar("s"), at.lscalar("k"), random_generator_type("rng")
t, h, i, j = at.dtensor3("t"), at.dtensor3("h"), at.lmatrix("i"), at.lmatrix("j")
W = at.dtensor4("W")
DRAW = NormalRV()(r, s, size=(k,), rng=rng).owner
TRAIN = batchnorm.AbstractBatchNormTrain((0,))

#: For each input which outputs are connected to it.
PATTERNS = {
    "a shape": ([x], x.shape, "0"),
    "a length": ([x], Shape_i(0)(x), "0"),
    "a length and an element": ([x], x[0, 0] * x.shape[0], "1"),
    "largest elements": ([b, k], TopKOp(sorted=True, idx_dtype="int64")(b, k), "10 00"),
    "a draw": (DRAW.inputs, DRAW.outputs, "11 00 00 01 01"),
    "normalisation": ([x, y, z, r, s], TRAIN(x, y, z, r, s), "111 100 100 000 000"),
    "normalisation with running statistics": (
        [x, y, z, r, s, u, v], TRAIN(x, y, z, r, s, u, v),
        "11111 10000 10000 00000 00000 00010 00001",
    ),
    "gradient of normalisation": (
        [x, y, z, u, v, r], batchnorm.AbstractBatchNormTrainGrad((0,))(x, y, z, u, v, r),
        "110 111 100 110 110 000",
    ),
    "softmax and its cost": (
        [x, b, n], crossentropy.crossentropy_softmax_argmax_1hot_with_bias(x, b, n), "110 110 000",
    ),
    "gradient of softmax and cost": ([c, x, n], crossentropy.crossentropy_softmax_1hot_with_bias_dx(c, x, n), "1 1 0"),
    "cost of classes": ([x, n], crossentropy.crossentropy_categorical_1hot(x, n), "1 0"),
    "gradient of the cost of classes": ([c, x, n], crossentropy.crossentropy_categorical_1hot_grad(c, x, n), "1 1 0"),
    "temporal classification": (
        [t, i, n], ctc.ConnectionistTemporalClassification(compute_grad=True)(t, i, n), "11 00 00",
    ),
    "products of blocks": ([t, W, h, i, j], blocksparse.SparseBlockGemv()(t, W, h, i, j), "1 1 1 0 0"),
}  # fmt: skip


@pytest.mark.parametrize("name", PATTERNS)
def test_which_outputs_are_connected_to_which_inputs(name):
    inputs, outputs, wanted = PATTERNS[name]
    outputs = outputs if isinstance(outputs, list) else [outputs]
    found = io_connection_pattern(inputs, outputs)
    assert " ".join("".join(str(int(connected)) for connected in row) for row in found) == wanted
