"""Softmax over very many outputs, in two steps."""

from __future__ import annotations

from typing import Any

from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.tensor_like import TensorLike
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.creation.ranges import arange
from aesara.tensor.products.dot import batched_dot, dot, tensordot
from aesara.tensor.reductions.softmax import softmax

__all__ = ["h_softmax"]


def h_softmax(
    x: TensorLike,
    batch_size: Any,
    n_outputs: Any,
    n_classes: Any,
    n_outputs_per_class: Any,
    W1: TensorLike,
    b1: TensorLike,
    W2: Any,
    b2: Any,
    target: TensorLike | None = None,
) -> TensorVariable:
    """The hierarchical softmax: the probability of a class, times that of an output within the class.

    With a target the work for each example grows with
    ``n_classes + n_outputs_per_class``, not with `n_outputs`. See J. Goodman,
    "Classes for Fast Maximum Entropy Training" (2001).

    Parameters
    ----------
    x
        The examples: ``(batch_size, n_features)``.
    batch_size
        The number of examples.
    n_outputs
        The number of outputs; they are numbered class by class.
    n_classes
        The number of classes.
    n_outputs_per_class
        The number of outputs of each class. If there are more than
        `n_outputs` in all, the last ones do not count.
    W1, b1
        Weights ``(n_features, n_classes)`` and biases ``(n_classes,)`` of the classes.
    W2, b2
        Weights ``(n_classes, n_features, n_outputs_per_class)`` and biases
        ``(n_classes, n_outputs_per_class)`` of the outputs.
    target
        The number of an output for each example, as ``(batch_size,)`` or
        ``(batch_size, 1)``; all outputs by default.

    Returns
    -------
    TensorVariable
        Probabilities: ``(batch_size, n_outputs)``, or ``(batch_size,)`` for given targets.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> from aesara.tensor.nnet import h_softmax
    >>> x, W1, W2, b2 = at.matrix(), at.matrix(), at.tensor3(), at.matrix()
    >>> h_softmax(x, 8, 100, 10, 10, W1, at.vector(), W2, b2).ndim
    2
    """
    x, W1, b1, W2, b2 = [as_tensor_variable(value) for value in (x, W1, b1, W2, b2)]
    class_probabilities = softmax(dot(x, W1) + b1)
    if target is None:
        within = softmax(tensordot(x, W2, axes=((1,), (1,))) + b2, axis=-1)
        products = class_probabilities.dimshuffle(0, 1, "x") * within
        return products.reshape((batch_size, n_classes * n_outputs_per_class), ndim=2)[:, :n_outputs]
    target = as_tensor_variable(target).flatten()
    of_class, in_class = target // n_outputs_per_class, target % n_outputs_per_class
    activations = batched_dot(x.dimshuffle(0, "x", 1), W2[of_class]).dimshuffle(0, 2) + b2[of_class]
    within = softmax(activations, axis=-1)
    example = arange(batch_size)
    return class_probabilities[example, of_class] * within[example, in_class]
