"""Comparison of symbolic gradients with differences of values, both by `evaluate`."""

import numpy as np

from aesara.graph.autodiff import grad
from aesara.tensor.core.conversion import constant
from aesara.tensor.type import TensorType
from tests.tensor.evaluate import evaluate


def check_gradient(function, *values, shapes=None, step=1e-5, tolerance=1e-6):
    """Assert that the gradients of a function of tensors are what differences say.

    `shapes` gives the static shapes of the inputs; by default no size is known.
    """
    values = [np.asarray(value, dtype="float64") for value in values]
    shapes = shapes or [(None,) * value.ndim for value in values]
    inputs = [TensorType("float64", shape=shape)() for shape in shapes]
    output = function(*inputs)
    given = dict(zip(inputs, values))
    weights = np.random.default_rng(7).normal(size=evaluate(output, given).shape)
    cost = (output * constant(weights)).sum()
    gradients = grad(cost, inputs)
    for variable, gradient in zip(inputs, gradients):
        assert gradient.type.dtype == variable.type.dtype
    symbolic = evaluate(gradients, given)
    for variable, value, found in zip(inputs, values, symbolic):
        assert found.shape == value.shape
        expected = np.empty_like(value)
        for position in np.ndindex(value.shape):
            slopes = []
            for sign in (1, -1):
                moved = value.copy()
                moved[position] += sign * step
                slopes.append(sign * evaluate(cost, {**given, variable: moved}))
            expected[position] = sum(slopes) / (2 * step)
        np.testing.assert_allclose(found, expected, rtol=tolerance * 10, atol=tolerance)


def check_inferred_shape(output, values):
    """Assert that `infer_shape` of the nodes leads to the shape that is computed."""
    node = output.owner
    input_shapes = [
        tuple(x.shape[i] for i in range(x.type.ndim)) if hasattr(x.type, "ndim") else None for x in node.inputs
    ]
    inferred = node.op.infer_shape(None, node, input_shapes)[node.outputs.index(output)]
    computed = evaluate(output, values)
    assert len(inferred) == computed.ndim
    from_graph = [size if isinstance(size, int) else int(evaluate(size, values)) for size in inferred]
    assert tuple(from_graph) == computed.shape
    for known, size in zip(output.type.shape, computed.shape):
        assert known is None or known == size
