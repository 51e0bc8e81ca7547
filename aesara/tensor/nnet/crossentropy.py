"""Cross-entropies of predicted probabilities and true classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from aesara import scalar as aes
from aesara.graph.disconnected_type import DisconnectedType, disconnected_type
from aesara.graph.messages import describe
from aesara.graph.nodes import Apply, Variable
from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.dtypes import integer_dtypes
from aesara.tensor.core.tensor_like import IntegerLike, OutputCells, TensorLike
from aesara.tensor.core.tensor_type import tensor_type
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.creation.allocation import zeros
from aesara.tensor.creation.ranges import arange
from aesara.tensor.elementwise.ops import add, eq, log, log1p, mul, neg, softplus, switch
from aesara.tensor.joining.join_split import concatenate
from aesara.tensor.nnet.composed import ComposedOp, as_classes, as_floats, checked_classes, classes_out_of_bounds
from aesara.tensor.nnet.softmax import add_bias, biased_static_shape, softmax_grad_legacy, softmax_legacy
from aesara.tensor.ordering.searching import unique
from aesara.tensor.products.dot import dot
from aesara.tensor.reductions.argmax import argmax, max_and_argmax
from aesara.tensor.reductions.softmax import LogSoftmax
from aesara.tensor.reductions.sum_prod_max import sum as sum_along

if TYPE_CHECKING:
    from aesara.graph.fg import FunctionGraph


__all__ = [
    "binary_crossentropy",
    "categorical_crossentropy",
    "confusion_matrix",
    "crossentropy_categorical_1hot",
    "crossentropy_categorical_1hot_grad",
    "crossentropy_softmax_1hot",
    "crossentropy_softmax_1hot_with_bias",
    "crossentropy_softmax_1hot_with_bias_dx",
    "crossentropy_softmax_argmax_1hot_with_bias",
    "crossentropy_softmax_max_and_argmax_1hot",
    "crossentropy_softmax_max_and_argmax_1hot_with_bias",
    "sigmoid_binary_crossentropy",
]

_log_softmax = LogSoftmax(axis=-1)


def _rows(x: TensorVariable, y: TensorVariable) -> int | None:
    """Return the static number of rows of a matrix and entries of a vector; raise an error if they differ."""
    of_x, of_y = x.type.shape[0], y.type.shape[0]
    if of_x is not None and of_y is not None and of_x != of_y:
        raise ValueError(f"There must be one class for each row; got types {x.type} and {y.type}.")
    return of_x if of_y is None else of_y


def _entries_of_classes(x: TensorVariable, y: TensorVariable) -> TensorVariable:
    """Return the entry of each row in the column of its class."""
    return x[arange(x.shape[0]), checked_classes(x, y)]


def _is_class(x: TensorVariable, y: TensorVariable) -> TensorVariable:
    """Return a mask of the entries in the column of the class of their row."""
    return eq(arange(x.shape[1]).dimshuffle("x", 0), checked_classes(x, y).dimshuffle(0, "x"))


def _check_classes(x: np.ndarray, y: np.ndarray) -> None:
    if len(x) != len(y):
        raise ValueError(f"There must be one class for each row; got shapes {x.shape} and {y.shape}.")
    wrong = classes_out_of_bounds(y, x.shape[1])
    if wrong is not None:
        raise ValueError(wrong)


def _check_gradient(node: Apply, g: np.ndarray, y: np.ndarray) -> None:
    """Return a gradient for each row; a gradient of static length 1 applies to all rows."""
    if g.ndim and len(g) != len(y) and not node.inputs[0].type.broadcastable[0]:
        raise ValueError(f"Input dimension mismatch: there must be a gradient for each row; got {len(g)} for {len(y)}.")


class CrossentropySoftmaxArgmax1HotWithBias(ComposedOp):
    """Cross-entropy, softmax and prediction of a classifier.

    Inputs are a matrix x with a row for each example and a column for each
    class, a vector b with a bias for each class, and a vector of the numbers
    of the true classes. Outputs are ``-log(softmax(x + b))`` of the true
    classes, the softmax of each row, and the column of its largest entry.
    """

    nin, nout = 3, 3

    def __init__(self, **kwargs: Any):
        if kwargs:
            raise TypeError(f"{type(self).__name__} has no parameters; got {sorted(kwargs)}.")

    def make_node(self, x: Any, b: Any, y_idx: TensorLike) -> Apply:
        x, b, y_idx = as_floats("x", 2, x), as_floats("b", 1, b), as_classes("y_idx", y_idx)
        dtype = aes.upcast(x.type.dtype, b.type.dtype)
        rows, (_, columns) = _rows(x, y_idx), biased_static_shape(x, b)
        outputs = [tensor_type(dtype, (rows,))(), tensor_type(dtype, (rows, columns))()]
        return Apply(self, [x, b, y_idx], [*outputs, tensor_type(y_idx.type.dtype, (rows,))()])

    def expand(self, x: TensorVariable, b: TensorVariable, y_idx: TensorVariable) -> list[TensorVariable]:
        total = add_bias(x, b)
        cost = neg(_entries_of_classes(_log_softmax(total), y_idx))
        return [cost, softmax_legacy(total), argmax(total, axis=1).astype(y_idx.type.dtype)]

    def perform(
        self, node: Apply, inputs: Sequence[Any], output_storage: list[list[Any]], params: object = None
    ) -> None:
        x, b, y_idx = inputs
        if x.shape[1] != len(b):
            raise ValueError(f"The bias needs an element for each column of x; got shapes {x.shape} and {b.shape}.")
        _check_classes(x, y_idx)
        total = x + b
        storage: list[list[Any]] = [[None]]
        _log_softmax.perform(node, [total], storage)
        output_storage[0][0] = -storage[0][0][np.arange(len(y_idx)), y_idx]
        softmax_legacy.perform(node, [total], output_storage[1:2])
        output_storage[2][0] = np.argmax(total, axis=1).astype(y_idx.dtype)

    def infer_shape(
        self, fgraph: FunctionGraph, node: Apply, shapes: Sequence[Sequence[TensorVariable]]
    ) -> list[Sequence[IntegerLike] | None]:
        x_shape, _, y_shape = shapes
        return [y_shape, x_shape, y_shape]

    def connection_pattern(self, node: Any) -> list[list[bool]]:
        return [[True, True, False], [True, True, False], [False, False, False]]

    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> list[Variable]:
        x, b, y_idx = inputs
        _, probabilities, _ = outputs
        of_cost, of_probabilities, _ = output_grads
        terms = []
        if not isinstance(of_cost.type, DisconnectedType):
            terms.append(crossentropy_softmax_1hot_with_bias_dx(of_cost, probabilities, y_idx))
        if not isinstance(of_probabilities.type, DisconnectedType):
            terms.append(softmax_grad_legacy(of_probabilities, probabilities))
        dx = terms[0] if len(terms) == 1 else add(*terms)
        return [dx.astype(x.type.dtype), sum_along(dx, axis=0).astype(b.type.dtype), disconnected_type()]


class CrossentropySoftmax1HotWithBiasDx(ComposedOp):
    """The gradient of the cost of `CrossentropySoftmaxArgmax1HotWithBias` with respect to x.

    Inputs are the gradient of the cost (a vector, or a number for all rows),
    the softmax and the true classes. The output is the softmax minus 1 at
    the true classes, times the gradient.
    """

    nin, nout = 3, 1

    def make_node(self, dy: Any, sm: Any, y_idx: TensorLike) -> Apply:
        dy = as_tensor_variable(dy)
        if dy.type.ndim > 1:
            raise ValueError(f"dy must be a number or a vector; got {describe(dy)} of type {dy.type}.")
        sm, y_idx = as_floats("sm", 2, sm), as_classes("y_idx", y_idx)
        _rows(sm, y_idx)
        return Apply(self, [dy, sm, y_idx], [tensor_type(sm.type.dtype, sm.type.shape)()])

    def expand(self, dy: TensorVariable, sm: TensorVariable, y_idx: TensorVariable) -> list[TensorVariable]:
        factor = dy if dy.type.ndim == 0 else dy.dimshuffle(0, "x")
        difference = switch(_is_class(sm, y_idx), sm - np.int8(1), sm)
        return [mul(factor.astype(sm.type.dtype), difference)]

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: OutputCells, params: object = None) -> None:
        dy, sm, y_idx = inputs
        _check_classes(sm, y_idx)
        _check_gradient(node, dy, y_idx)
        difference = np.array(sm)
        difference[np.arange(len(y_idx)), y_idx] -= 1
        factor = dy if dy.ndim == 0 else dy[:, None]
        output_storage[0][0] = np.asarray(factor * difference, dtype=sm.dtype)

    def infer_shape(
        self, fgraph: FunctionGraph, node: Apply, shapes: Sequence[Sequence[TensorVariable]]
    ) -> list[Sequence[IntegerLike] | None]:
        return [shapes[1]]

    def connection_pattern(self, node: Any) -> list[list[bool]]:
        return [[True], [True], [False]]


class CrossentropyCategorical1Hot(ComposedOp):
    """``-log`` of the predicted probability of the true class, for each row.

    Inputs are a matrix of probabilities and a vector of true classes.

    Examples
    --------
    >>> from aesara.tensor.nnet import crossentropy_categorical_1hot
    >>> crossentropy_categorical_1hot([[0.25, 0.75]], [0]).eval()
    array([1.38629436])
    """

    nin, nout = 2, 1

    def make_node(self, coding_dist: Any, true_one_of_n: Any) -> Apply:
        coding_dist = as_floats("coding_dist", 2, coding_dist, error=TypeError)
        true_one_of_n = as_classes("true_one_of_n", true_one_of_n, error=TypeError)
        shape = (_rows(coding_dist, true_one_of_n),)
        return Apply(self, [coding_dist, true_one_of_n], [tensor_type(coding_dist.type.dtype, shape)()])

    def expand(self, coding_dist: TensorVariable, true_one_of_n: TensorVariable) -> list[TensorVariable]:
        # The logarithm comes first because it merges with a softmax; only the entries that are used are computed.
        return [neg(_entries_of_classes(log(coding_dist), true_one_of_n))]

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: OutputCells, params: object = None) -> None:
        coding, classes = inputs
        _check_classes(coding, classes)
        with np.errstate(all="ignore"):
            output_storage[0][0] = -np.log(coding[np.arange(len(classes)), classes])

    def infer_shape(
        self, fgraph: FunctionGraph, node: Apply, shapes: Sequence[Sequence[TensorVariable]]
    ) -> list[Sequence[IntegerLike] | None]:
        return [(shapes[0][0],)]

    def connection_pattern(self, node: Any) -> list[list[bool]]:
        return [[True], [False]]

    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> list[Variable]:
        coding, classes = inputs
        return [crossentropy_categorical_1hot_grad(output_grads[0], coding, classes), disconnected_type()]


class CrossentropyCategorical1HotGrad(ComposedOp):
    """The gradient of `CrossentropyCategorical1Hot` with respect to the probabilities.

    Inputs are the gradient of the output, the probabilities and the true classes.
    """

    nin, nout = 3, 1

    def make_node(self, g_y: Any, coding_dist: Any, true_one_of_n: TensorLike) -> Apply:
        g_y, coding_dist = as_floats("g_y", 1, g_y), as_floats("coding_dist", 2, coding_dist)
        classes = as_classes("true_one_of_n", true_one_of_n)
        _rows(coding_dist, classes)
        output = tensor_type(coding_dist.type.dtype, coding_dist.type.shape)()
        return Apply(self, [g_y, coding_dist, classes], [output])

    def expand(
        self, g_y: TensorVariable, coding_dist: TensorVariable, true_one_of_n: TensorVariable
    ) -> list[TensorVariable]:
        column = neg(g_y).dimshuffle(0, "x").astype(coding_dist.type.dtype)
        return [switch(_is_class(coding_dist, true_one_of_n), column / coding_dist, np.int8(0))]

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: OutputCells, params: object = None) -> None:
        g_y, coding, classes = inputs
        _check_classes(coding, classes)
        _check_gradient(node, g_y, classes)
        rows = np.arange(len(classes))
        gradient = np.zeros_like(coding)
        with np.errstate(all="ignore"):
            gradient[rows, classes] = -g_y / coding[rows, classes]
        output_storage[0][0] = gradient

    def infer_shape(
        self, fgraph: FunctionGraph, node: Apply, shapes: Sequence[Sequence[TensorVariable]]
    ) -> list[Sequence[IntegerLike] | None]:
        return [shapes[1]]

    def connection_pattern(self, node: Any) -> list[list[bool]]:
        return [[True], [True], [False]]


crossentropy_softmax_argmax_1hot_with_bias = CrossentropySoftmaxArgmax1HotWithBias()
crossentropy_softmax_1hot_with_bias_dx = CrossentropySoftmax1HotWithBiasDx()
crossentropy_categorical_1hot = CrossentropyCategorical1Hot()
crossentropy_categorical_1hot_grad = CrossentropyCategorical1HotGrad()


def crossentropy_softmax_1hot_with_bias(
    x: TensorLike, b: TensorLike, y_idx: Any, **kwargs: Any
) -> list[TensorVariable]:
    """The cross-entropy of ``softmax(x + b)`` and true classes, and the softmax.

    See `CrossentropySoftmaxArgmax1HotWithBias` for the inputs.
    """
    return crossentropy_softmax_argmax_1hot_with_bias(x, b, y_idx, **kwargs)[:2]


def crossentropy_softmax_1hot(x: TensorLike, y_idx: TensorLike, **kwargs: TensorLike) -> list[TensorVariable]:
    """The cross-entropy of ``softmax(x)`` and true classes, and the softmax.

    Examples
    --------
    >>> from aesara.tensor.nnet import crossentropy_softmax_1hot
    >>> cost, probabilities = crossentropy_softmax_1hot([[1000.0, 0.0]], [1])
    >>> cost.eval()
    array([1000.])
    """
    x = as_floats("x", 2, x)
    return crossentropy_softmax_1hot_with_bias(x, zeros(x.shape[1], dtype=x.type.dtype), y_idx, **kwargs)


def crossentropy_softmax_max_and_argmax_1hot_with_bias(
    x: TensorLike, b: TensorLike, y_idx: TensorLike, **kwargs: TensorLike
) -> list[TensorVariable]:
    """The cross-entropy, the softmax, and the largest entry of each of its rows with its column."""
    cost, probabilities = crossentropy_softmax_1hot_with_bias(x, b, y_idx, **kwargs)
    return [cost, probabilities, *max_and_argmax(probabilities, axis=-1)]


def crossentropy_softmax_max_and_argmax_1hot(
    x: TensorLike, y_idx: TensorLike, **kwargs: TensorLike
) -> list[TensorVariable]:
    """Like `crossentropy_softmax_max_and_argmax_1hot_with_bias`, without a bias."""
    x = as_floats("x", 2, x)
    return crossentropy_softmax_max_and_argmax_1hot_with_bias(x, zeros(x.shape[1], dtype=x.type.dtype), y_idx, **kwargs)


def categorical_crossentropy(coding_dist: TensorLike, true_dist: TensorLike) -> TensorVariable:
    """The cross-entropy ``-sum(p * log(q))`` of a predicted distribution q and a true one p.

    Parameters
    ----------
    coding_dist
        The predicted distributions, along the last axis.
    true_dist
        The true distributions, of the same shape; or the number of the true
        class of each, with one dimension less.

    Notes
    -----
    In a compiled function the logarithm of a softmax is computed without the
    softmax: it stays finite where that is zero.

    Examples
    --------
    >>> from aesara.tensor.nnet import categorical_crossentropy
    >>> categorical_crossentropy([[0.5, 0.5], [0.25, 0.75]], [[1.0, 0.0], [0.0, 1.0]]).eval()
    array([0.69314718, 0.28768207])
    """
    coding_dist, true_dist = as_tensor_variable(coding_dist), as_tensor_variable(true_dist)
    if true_dist.type.ndim == coding_dist.type.ndim:
        return neg(sum_along(true_dist * log(coding_dist), axis=coding_dist.type.ndim - 1))
    if true_dist.type.ndim != coding_dist.type.ndim - 1 or true_dist.type.dtype not in integer_dtypes:
        raise TypeError(
            "rank mismatch between coding and true distributions: true_dist must have as many dimensions as "
            "coding_dist, or one less and an integer dtype; "
            f"got types {coding_dist.type} and {true_dist.type}."
        )
    if coding_dist.type.ndim == 2:
        return crossentropy_categorical_1hot(coding_dist, true_dist)
    rows = coding_dist.reshape((true_dist.size, coding_dist.shape[-1]))
    return crossentropy_categorical_1hot(rows, true_dist.flatten()).reshape(true_dist.shape, ndim=true_dist.type.ndim)


def binary_crossentropy(output: TensorLike, target: TensorLike) -> TensorVariable:
    """The cross-entropy of predicted and true probabilities of an event, element by element.

    Parameters
    ----------
    output
        The predicted probabilities, between 0 and 1.
    target
        The true ones, 0 and 1 included.

    Examples
    --------
    >>> from aesara.tensor.nnet import binary_crossentropy
    >>> binary_crossentropy([0.5, 0.25], [1.0, 0.0]).eval()
    array([0.69314718, 0.28768207])
    """
    output, target = as_tensor_variable(output), as_tensor_variable(target)
    return neg(target * log(output) + (1.0 - target) * log1p(neg(output)))


def sigmoid_binary_crossentropy(output: TensorLike, target: TensorLike) -> TensorVariable:
    """``binary_crossentropy(sigmoid(output), target)``, without overflow and accurate for all inputs.

    Examples
    --------
    >>> from aesara.tensor.nnet import sigmoid_binary_crossentropy
    >>> sigmoid_binary_crossentropy([1000.0, -1000.0], [0.0, 0.0]).eval()
    array([1000.,    0.])
    """
    output, target = as_tensor_variable(output), as_tensor_variable(target)
    return target * softplus(neg(output)) + (1.0 - target) * softplus(output)


def confusion_matrix(actual: Any, pred: Any) -> list[TensorVariable]:
    """Count the predictions of each class for each true class.

    Parameters
    ----------
    actual, pred
        Vectors of the true and of the predicted classes.

    Returns
    -------
    list
        The matrix, with a row for each true and a column for each predicted
        class, and the vector of the classes in ascending order.

    Examples
    --------
    >>> from aesara.tensor.nnet import confusion_matrix
    >>> matrix, classes = confusion_matrix([2, 0, 2, 2], [0, 0, 2, 2])
    >>> matrix.eval()
    array([[1, 0],
           [1, 2]])
    """
    actual, pred = as_tensor_variable(actual), as_tensor_variable(pred)
    for name, classes in (("actual", actual), ("pred", pred)):
        if classes.type.ndim != 1:
            raise ValueError(f"{name} must be a vector; got {describe(classes)} of type {classes.type}.")
    order = unique(concatenate([actual, pred]))
    rows = eq(order.dimshuffle(0, "x"), actual.dimshuffle("x", 0)).astype("int64")
    columns = eq(pred.dimshuffle(0, "x"), order.dimshuffle("x", 0)).astype("int64")
    return [dot(rows, columns), order]
