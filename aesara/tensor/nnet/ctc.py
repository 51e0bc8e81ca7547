"""Connectionist temporal classification: the cost of a sequence of labels at unknown times.

Each step of a sequence has probabilities of labels and of a blank, label 0. A path selects one of them at each step;
without repetitions, and then without blanks, it is a sequence of labels. The cost of a sequence is minus the logarithm
of the probability of all its paths.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from aesara.graph.disconnected_type import DisconnectedType, disconnected_type
from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Apply, Variable
from aesara.graph.op import Op
from aesara.graph.pullback import grad_not_implemented
from aesara.graph.rewriting.basic import copy_stack_trace, node_rewriter
from aesara.graph.rewriting.node_rewriters import RuleResult
from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.dtypes import float_dtypes, integer_dtypes
from aesara.tensor.core.tensor_like import OutputCells, TensorLike
from aesara.tensor.core.tensor_type import tensor_type
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.rewriting.registration import Rules

__all__ = ["ConnectionistTemporalClassification", "ctc", "ctc_available", "ctc_present", "local_ctc_no_grad"]


def ctc_present() -> bool:
    """Return whether costs can be computed: always, since no library is needed."""
    return True


def ctc_available() -> bool:
    """Return whether costs can be computed: always, since no library is needed."""
    return True


class ConnectionistTemporalClassification(Op):
    """Costs of sequences of labels and their gradients: ``op(activations, labels, input_lengths)``; see `ctc`.

    Parameters
    ----------
    compute_grad
        Whether the gradients of the costs are a second result.
    openmp
        Has no effect.
    """

    __props__ = ("compute_grad",)

    def __init__(self, compute_grad: bool = True, openmp: bool | None = None):
        self.compute_grad = bool(compute_grad)

    def make_node(self, activations: Any, labels: Any, input_lengths: TensorLike) -> Apply:
        activations, labels, lengths = map(as_tensor_variable, (activations, labels, input_lengths))
        if activations.type.dtype not in float_dtypes:
            raise TypeError(f"activations must be floating-point numbers; got {activations.type.dtype}.")
        for name, v, ndim in (("activations", activations, 3), ("labels", labels, 2), ("input_lengths", lengths, 1)):
            if v.type.ndim != ndim:
                raise ValueError(f"{name} must have {ndim} dimensions; got {v.type.ndim}.")
            if ndim < 3 and v.type.dtype not in integer_dtypes:
                raise TypeError(f"{name} must be integers; got {v.type.dtype}.")
        results = [tensor_type(activations.type.dtype, (activations.type.shape[1],))()]
        if self.compute_grad:
            results.append(activations.type())
        return Apply(self, [activations, labels, lengths], results)

    def infer_shape(self, fgraph: FunctionGraph, node: Apply, shapes: Sequence[Any]) -> list[tuple]:
        return [(shapes[0][1],), shapes[0]][: len(node.outputs)]

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: OutputCells, params: object = None) -> None:
        activations, labels, lengths = inputs
        dtype = activations.dtype
        batch = _Batch(activations.astype("float64"), labels, lengths)
        with np.errstate(all="ignore"):
            forward = batch.forward()
            likelihood = batch.likelihood(forward)
            output_storage[0][0] = np.asarray(-likelihood, dtype=dtype)
            if self.compute_grad:
                output_storage[1][0] = batch.gradient(forward, likelihood).astype(dtype)

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        count = len(node.outputs)
        return [[True] * count, [False] * count, [False] * count]

    def L_op(
        self, inputs: Sequence[Variable], outputs: Sequence[Variable], output_grads: Sequence[Variable]
    ) -> list[Variable]:
        of_costs, *of_gradients = output_grads
        if any(not isinstance(g.type, DisconnectedType) for g in of_gradients):
            return [grad_not_implemented(self, 0, inputs[0]), disconnected_type(), disconnected_type()]
        if self.compute_grad:
            slopes: Any = outputs[1]
        else:
            slopes = type(self)(compute_grad=True)(*inputs, return_list=True)[1]
        weights: Any = of_costs
        return [slopes * weights.dimshuffle("x", 0, "x"), disconnected_type(), disconnected_type()]


class _Batch:
    """Sequences of activations with their labels, as arrays over (time, sequence, state).

    States are the labels with blanks around each; `counts` are their numbers for each sequence.
    """

    def __init__(self, activations: np.ndarray, labels: np.ndarray, lengths: np.ndarray):
        steps, size, symbols = activations.shape
        if labels.shape[0] != size or lengths.shape[0] != size:
            raise ValueError(
                f"There are activations of {size} sequences, labels of {labels.shape[0]} and {len(lengths)} lengths."
            )
        if size and (lengths.min() < 1 or lengths.max() > steps):
            raise ValueError(f"Lengths of sequences must be from 1 to {steps}; got {lengths.tolist()}.")
        if labels.size and (labels.max() >= symbols or (labels == 0).any()):
            raise ValueError(
                f"Labels must be from 1 to {symbols - 1}, since 0 is the blank, or negative as padding; got "
                f"{labels.tolist()}."
            )
        chosen = [row[row >= 0] for row in labels]
        self.lengths = lengths.astype("int64")
        self.counts = np.array([2 * len(row) + 1 for row in chosen], dtype="int64")
        self.places = np.zeros((size, max(self.counts, default=1)), dtype="int64")
        for k, row in enumerate(chosen):
            self.places[k, 1 : 2 * len(row) : 2] = row
        # A label may follow another one without a blank in between (and a blank stands two places from a blank).
        self.may_skip = np.zeros(self.places.shape, dtype=bool)
        self.may_skip[:, 2:] = self.places[:, 2:] != self.places[:, :-2]
        largest = activations.max(axis=2, keepdims=True)
        shifted = activations - largest
        self.logs = shifted - np.log(np.exp(shifted).sum(axis=2, keepdims=True))
        self.of_places = np.take_along_axis(self.logs, np.broadcast_to(self.places, (steps, *self.places.shape)), 2)

    def forward(self) -> np.ndarray:
        """Return log probabilities of the paths to each state, including the step itself."""
        result: Any = np.full(self.of_places.shape, -np.inf)
        result[:1, :, :2] = self.of_places[:1, :, :2]
        if self.places.shape[1] > 1:
            result[0, self.counts < 2, 1] = -np.inf
        for t in range(1, len(result)):
            before = result[t - 1]
            total = np.logaddexp(before, _shift(before, 1))
            total = np.where(self.may_skip, np.logaddexp(total, _shift(before, 2)), total)
            result[t] = total + self.of_places[t]
        return result

    def likelihood(self, forward: np.ndarray) -> np.ndarray:
        """Return the log probability of the labels of each sequence."""
        rows = np.arange(len(self.counts))
        last = forward[self.lengths - 1, rows]
        blank = last[rows, self.counts - 1]
        label = np.where(self.counts > 1, last[rows, np.maximum(self.counts - 2, 0)], -np.inf)
        return np.logaddexp(blank, label)

    def backward(self) -> np.ndarray:
        """Return log probabilities of the paths from each state, without the step itself."""
        result = np.full(self.of_places.shape, -np.inf)
        state = np.arange(self.places.shape[1])
        ends = (state == self.counts[:, None] - 1) | (state == self.counts[:, None] - 2)
        skips = np.zeros_like(self.may_skip)
        skips[:, :-2] = self.may_skip[:, 2:]
        for t in reversed(range(len(result))):
            if t + 1 < len(result):
                after = result[t + 1] + self.of_places[t + 1]
                total = np.logaddexp(after, _shift(after, -1))
                result[t] = np.where(skips, np.logaddexp(total, _shift(after, -2)), total)
            result[t] = np.where((self.lengths == t + 1)[:, None], np.where(ends, 0.0, -np.inf), result[t])
        return result

    def gradient(self, forward: np.ndarray, likelihood: np.ndarray) -> np.ndarray:
        """Return the gradients of the costs for the activations, with NaN for sequences that are too short for their
        labels.
        """
        shares = np.exp(forward + self.backward() - likelihood[:, None])
        expected = np.zeros(self.logs.shape)
        times, rows, states = np.indices(shares.shape)
        np.add.at(expected, (times, rows, self.places[rows, states]), shares)
        inside = np.arange(len(forward))[:, None] < self.lengths
        return np.where(inside[:, :, None], np.exp(self.logs) - expected, 0.0)


def _shift(values: np.ndarray, n: int) -> np.ndarray:
    """Shift `values` by `n` positions along axis 1, toward larger indices if n > 0; fill with -inf."""
    shifted = np.full(values.shape, -np.inf)
    if n > 0:
        shifted[:, n:] = values[:, :-n]
    else:
        shifted[:, :n] = values[:, -n:]
    return shifted


def ctc(activations: TensorLike, labels: TensorLike, input_lengths: TensorLike) -> TensorVariable:
    """The costs of sequences of labels.

    Parameters
    ----------
    activations
        Activations of shape ``(steps, sequences, symbols)``, of which a softmax over symbols makes probabilities.
        Symbol 0 is the blank.
    labels
        A row of labels for each sequence; negative entries are padding.
    input_lengths
        How many steps each sequence has.

    Returns
    -------
    TensorVariable
        A vector with minus the logarithm of the probability of each sequence of labels: infinite, with NaN for its
        gradient, if there are too few steps for it.

    Examples
    --------
    >>> import numpy as np
    >>> ctc(np.zeros((2, 1, 2)), [[1, -1]], [2]).eval().round(4)    # 3 of 4 paths: 1 1, 1 blank, blank 1
    array([0.2877])
    """
    return ConnectionistTemporalClassification()(activations, labels, input_lengths, return_list=True)[0]


rules = Rules()


@node_rewriter([ConnectionistTemporalClassification])
def local_ctc_no_grad(fgraph: FunctionGraph, node: Apply) -> RuleResult:
    """Costs whose gradients are not read are computed without them."""
    if not node.op.compute_grad or fgraph.clients[node.outputs[1]]:
        return False
    costs = ConnectionistTemporalClassification(compute_grad=False)(*node.inputs)
    copy_stack_trace(node.outputs[0], costs)
    return {node.outputs[0]: costs}


rules.canonicalize(local_ctc_no_grad, "fast_compile")
