"""Batch normalization, with statistics of the batch or given ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aesara.configdefaults import config
from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Apply, Variable
from aesara.graph.rewriting.basic import copy_stack_trace, node_rewriter
from aesara.graph.rewriting.db import LocalGroupDB
from aesara.graph.rewriting.node_rewriters import RuleResult
from aesara.graph.vectorization import vectorize_graph, vectorize_node
from aesara.scalar import Composite, get_scalar_type
from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.tensor_like import TensorLike
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.elementwise.elemwise import Elemwise
from aesara.tensor.elementwise.ops import add, mul, reciprocal, sqrt, sub, true_divide
from aesara.tensor.nnet.batchnorm_ops import (
    AbstractBatchNormInference,
    AbstractBatchNormTrain,
    AbstractBatchNormTrainGrad,
    BatchNormOp,
)
from aesara.tensor.rewriting.registration import Rules
from aesara.tensor.shapes.dimshuffle import dimshuffle
from aesara.tensor.shapes.specify_shape import specify_broadcastable

__all__ = [
    "AbstractBatchNormInference",
    "AbstractBatchNormTrain",
    "AbstractBatchNormTrainGrad",
    "BNComposite",
    "add",
    "batch_normalization",
    "batch_normalization_test",
    "batch_normalization_train",
    "bn_groupopt",
    "config",
    "local_abstract_batch_norm_inference",
    "local_abstract_batch_norm_train",
    "local_abstract_batch_norm_train_grad",
    "mul",
    "reciprocal",
    "sqrt",
    "sub",
    "true_divide",
]


class BNComposite(Composite):
    """``(x - mean) / std * gamma + beta`` as one scalar op: ``op(x, mean, std, gamma, beta)``.

    Parameters
    ----------
    dtype
        The dtype of all inputs and of the result.
    """

    def __init__(self, dtype: str):
        self.dtype = dtype  # type: ignore[assignment,misc]  # a name here, where other scalar ops have a rule
        x, mean, std, gamma, beta = inputs = [
            get_scalar_type(dtype=dtype)(name) for name in ("x", "mean", "std", "gamma", "beta")
        ]
        with config.change_flags(compute_test_value="off"):  # its variables stand for any values
            super().__init__(inputs, [(x - mean) / std * gamma + beta])

    def __getstate__(self) -> tuple:
        return (self.dtype,)


def batch_normalization(
    inputs: TensorLike, gamma: TensorLike, beta: TensorLike, mean: TensorLike, std: TensorLike, mode: str = "low_mem"
) -> TensorVariable:
    """Inputs normalised with a mean and a standard deviation, scaled and shifted.

    Parameters
    ----------
    inputs
        The tensor.
    gamma, beta
        Scale and shift, which broadcast to the inputs.
    mean, std
        Means and standard deviations, which broadcast to the inputs.
    mode
        "low_mem": one elementwise op; "high_mem": several. Compiled functions compute both in one loop.

    Examples
    --------
    >>> batch_normalization([1.0, 3.0], 2.0, 1.0, 2.0, 0.5).eval()
    array([-3.,  5.])
    """
    if mode == "low_mem":
        tensors = [as_tensor_variable(v) for v in (inputs, mean, std, gamma, beta)]
        dtype = add(*tensors).type.dtype
        return Elemwise(BNComposite(dtype=dtype))(*(v.astype(dtype) for v in tensors))
    if mode == "high_mem":
        inputs, mean = as_tensor_variable(inputs), as_tensor_variable(mean)
        return (inputs - mean) * (as_tensor_variable(gamma) / as_tensor_variable(std)) + as_tensor_variable(beta)
    raise ValueError('mode must be either "low_mem", "high_mem"')


def _normalized_axes(axes: Any, ndim: int) -> tuple[tuple[int, ...], list[int]]:
    """Return the axes over which means are taken, and the other axes."""
    if axes == "per-activation":
        axes = (0,)
    elif axes == "spatial":
        axes = (0, *range(2, ndim))
    elif not isinstance(axes, (tuple, list)):
        raise ValueError(f"invalid axes: {axes}")
    axes = tuple(int(axis) for axis in axes)
    if not axes:
        raise ValueError("there should be at least one normalization axis")
    if min(axes) < 0 or max(axes) >= ndim:
        raise ValueError(f"axes should be less than ndim (<{ndim}), but {axes} given")
    return axes, [axis for axis in range(ndim) if axis not in axes]


def _require_epsilon(epsilon: Any) -> None:
    if not isinstance(epsilon, Variable) and epsilon < 1e-5:
        raise ValueError(f"epsilon must be at least 1e-5, got {epsilon}")


def _fit_to_inputs(
    inputs: TensorVariable, axes: tuple[int, ...], others: Sequence[int], *factors: Any
) -> list[TensorVariable]:
    """Factors with the dimensions of the inputs, of length 1 along the axes.

    Raises
    ------
    ValueError
        If one has neither the dimensions of the inputs nor those without the axes.
    """
    result = []
    for factor in map(as_tensor_variable, factors):
        if factor.type.ndim == len(others):
            order: list[int | str] = ["x"] * inputs.type.ndim
            for k, axis in enumerate(others):
                order[axis] = k
            factor = dimshuffle(factor, order)
        result.append(specify_broadcastable(factor, *axes))
    return result


def _require_rank(inputs: TensorVariable, others: Sequence[int], names: str, *factors: Any) -> None:
    ranks = [as_tensor_variable(factor).type.ndim for factor in factors]
    if len(set(ranks)) != 1 or ranks[0] not in (inputs.type.ndim, len(others)):
        raise ValueError(
            f"{names} dimensionality must match the number of non-normalized axes, or have the same number of "
            f"dimensions as the inputs; got {' and '.join(map(str, ranks))} instead of {len(others)}"
        )


def batch_normalization_train(
    inputs: Any,
    gamma: Any,
    beta: TensorLike,
    axes: str | Sequence[int] = "per-activation",
    epsilon: Any = 1e-4,
    running_average_factor: Any = 0.1,
    running_mean: Any = None,
    running_var: Any = None,
) -> tuple[TensorVariable, ...]:
    """Inputs normalised with the mean and the variance that they have themselves, scaled and shifted.

    Parameters
    ----------
    inputs
        The tensor.
    gamma, beta
        Scale and shift. They have the dimensions of the inputs without the axes that are normalised, or all of them
        with length 1 along these axes.
    axes
        Over which axes mean and variance are taken: "per-activation" (the first), "spatial" (all but the second), or
        a tuple of axes.
    epsilon
        The number added to the variance, at least 1e-5.
    running_average_factor
        The weight of the batch in new running averages.
    running_mean, running_var
        Averages so far of means and variances, in the form of `gamma`; either both or none.

    Returns
    -------
    tuple
        The normalised inputs, their means, and the inverses of their standard deviations; with running averages also
        their new values: ``running_mean * (1 - factor) + mean * factor`` and
        ``running_var * (1 - factor) + m / (m - 1) * variance * factor`` for m elements of each mean. Statistics have
        the form of `gamma`.

    Examples
    --------
    >>> out, mean, invstd = batch_normalization_train([[1.0, 5.0], [3.0, 9.0]], [1.0, 1.0], [0.0, 0.0])
    >>> out.eval().round(3)
    array([[-1., -1.],
           [ 1.,  1.]])
    >>> mean.eval()
    array([2., 7.])
    """
    inputs = as_tensor_variable(inputs)
    axes, others = _normalized_axes(axes, inputs.type.ndim)
    _require_epsilon(epsilon)
    _require_rank(inputs, others, "gamma and beta", gamma, beta)
    is_short = as_tensor_variable(gamma).type.ndim == len(others)
    running = [v for v in (running_mean, running_var) if v is not None]
    if len(running) == 1:
        raise ValueError("running_mean and running_var must both be tensors, or both None")
    if running:
        _require_rank(inputs, others, "gamma, beta, running_mean and running_var", gamma, beta, *running)
    gamma, beta, *running = _fit_to_inputs(inputs, axes, others, gamma, beta, *running)
    out, *statistics = AbstractBatchNormTrain(axes)(
        inputs, gamma, beta, epsilon, running_average_factor, *running, return_list=True
    )
    if is_short:
        statistics = [dimshuffle(v, others) for v in statistics]
    return (out, *statistics)


def batch_normalization_test(
    inputs: Any,
    gamma: TensorLike,
    beta: TensorLike,
    mean: TensorLike,
    var: Variable,
    axes: str | Sequence[int] = "per-activation",
    epsilon: TensorLike = 1e-4,
) -> TensorVariable:
    """Normalize inputs with a given mean and variance, and apply scale and shift.

    Parameters
    ----------
    inputs
        The tensor.
    gamma, beta
        Scale and shift, in a form as in `batch_normalization_train`.
    mean, var
        Means and variances, such as running averages of a training, in the form of `gamma`.
    axes
        Along which axes they are the same: as in `batch_normalization_train`.
    epsilon
        The number added to the variance, at least 1e-5.

    Examples
    --------
    >>> batch_normalization_test([[1.0, 5.0]], [2.0, 2.0], [0.0, 1.0], [0.0, 4.0], [1.0, 4.0]).eval().round(3)
    array([[2., 2.]])
    """
    inputs = as_tensor_variable(inputs)
    axes, others = _normalized_axes(axes, inputs.type.ndim)
    _require_epsilon(epsilon)
    _require_rank(inputs, others, "gamma, beta, mean and var", gamma, beta, mean, var)
    factors = _fit_to_inputs(inputs, axes, others, gamma, beta, mean, var)
    return AbstractBatchNormInference(axes)(inputs, *factors, epsilon)


# -- rules ---------------------------------------------------------------------------------------------------------

rules = Rules()

bn_groupopt = LocalGroupDB()
bn_groupopt.__name__ = "batchnorm_opts"
rules.specialize_device(bn_groupopt, "fast_compile", name="batchnorm_opts")
# Also register it here, so that other rewrites simplify its results.
rules.specialize(bn_groupopt, name="batchnorm_opts")


def _in_elementary_operations(node: Apply) -> list[TensorVariable] | None:
    op = node.op
    assert isinstance(op, BatchNormOp)
    inputs: list[Any] = node.inputs
    result = op.expressions(*inputs)
    for old, new in zip(node.outputs, result, strict=True):
        copy_stack_trace(old, new)
    return result


@vectorize_node.register(BatchNormOp)
def _vectorize(op: BatchNormOp, node: Apply, *inputs: TensorVariable) -> Sequence[TensorVariable]:
    """Vectorize the definition of the op; the op itself has no form for batches."""
    members: list[Any] = node.inputs
    return vectorize_graph(op.expressions(*members), dict(zip(members, inputs)))


@node_rewriter([AbstractBatchNormTrain])
def local_abstract_batch_norm_train(fgraph: FunctionGraph, node: Apply) -> RuleResult:
    """Normalisation with the statistics of the batch in elementary operations."""
    return _in_elementary_operations(node)


@node_rewriter([AbstractBatchNormTrainGrad])
def local_abstract_batch_norm_train_grad(fgraph: FunctionGraph, node: Apply) -> RuleResult:
    """Its gradient in elementary operations."""
    return _in_elementary_operations(node)


@node_rewriter([AbstractBatchNormInference])
def local_abstract_batch_norm_inference(fgraph: FunctionGraph, node: Apply) -> RuleResult:
    """Replace normalization with given statistics by elementary ops."""
    return _in_elementary_operations(node)


for _rule in (
    local_abstract_batch_norm_train,
    local_abstract_batch_norm_train_grad,
    local_abstract_batch_norm_inference,
):
    rules.into(bn_groupopt, _rule, "batchnorm", "fast_compile", "fast_run", position=30)
