"""Random integers, categories, choices and permutations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from aesara.graph.nodes import Apply, Variable
from aesara.graph.shared import shared
from aesara.tensor.core.constant_value import known_integer
from aesara.tensor.core.conversion import as_tensor_variable, constant
from aesara.tensor.core.tensor_like import IntegerLike, TensorLike
from aesara.tensor.creation.ranges import arange
from aesara.tensor.indexing.distinct_positions import are_distinct, differ_along
from aesara.tensor.random.distributions.formulas import require
from aesara.tensor.random.generators import NumPyGenerator
from aesara.tensor.random.parameters import SizeLike, sizes_of_shape
from aesara.tensor.random.random_variable import DrawOptions, DrawShape, RandomVariable
from aesara.tensor.random.type import RandomGeneratorType, RandomStateType
from aesara.tensor.shapes.shape import shape_tuple
from aesara.tensor.type_other import NoneConst

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

__all__ = ["categorical", "choice", "integers", "permutation", "permuted", "randint"]


class RandIntRV(RandomVariable):
    """Integers that are equally likely, drawn from a `numpy.random.RandomState`; see `integers` for generators."""

    name = "randint"
    ndim_supp = 0
    ndims_params = (0, 0)
    dtype = "int64"
    _print_name = ("randint", "\\operatorname{randint}")

    def __call__(
        self, low: TensorLike, high: TensorLike | None = None, size: SizeLike = None, **kwargs: Unpack[DrawOptions]
    ) -> Variable:
        """Draw.

        Parameters
        ----------
        low
            The smallest integer; without `high` this is `high`, and the smallest is 0.
        high
            The first integer that is too large.
        size
            Shape of the draws.
        """
        low, high = (0, low) if high is None else (low, high)
        return super().__call__(low, high, size=size, **kwargs)

    def make_node(
        self, rng: Variable | None, size: SizeLike, dtype: DTypeLike | Variable | None, *dist_params: TensorLike | None
    ) -> Apply:
        if rng is None:
            rng = shared(np.random.RandomState(), borrow=True)
        elif not isinstance(getattr(rng, "type", None), RandomStateType):
            raise TypeError("`randint` is only available for `RandomStateType`s")
        return super().make_node(rng, size, dtype, *dist_params)


class IntegersRV(RandomVariable):
    """Integers that are equally likely, drawn from a `numpy.random.Generator`; see `randint` for random states."""

    name = "integers"
    ndim_supp = 0
    ndims_params = (0, 0)
    dtype = "int64"
    _print_name = ("integers", "\\operatorname{integers}")

    def __call__(
        self, low: TensorLike, high: TensorLike | None = None, size: SizeLike = None, **kwargs: Unpack[DrawOptions]
    ) -> Variable:
        """Draw.

        Parameters
        ----------
        low
            The smallest integer; without `high` this is `high`, and the smallest is 0.
        high
            The first integer that is too large.
        size
            Shape of the draws.
        """
        low, high = (0, low) if high is None else (low, high)
        return super().__call__(low, high, size=size, **kwargs)

    def make_node(
        self, rng: Variable | None, size: SizeLike, dtype: DTypeLike | Variable | None, *dist_params: TensorLike | None
    ) -> Apply:
        if rng is not None and not isinstance(getattr(rng, "type", None), RandomGeneratorType):
            raise TypeError("`integers` is only available for `RandomGeneratorType`s")
        return super().make_node(rng, size, dtype, *dist_params)


class CategoricalRV(RandomVariable):
    """Categories, numbered from 0, with given probabilities; drawn by a uniform number and cumulative probabilities."""

    name = "categorical"
    ndim_supp = 0
    ndims_params = (1,)
    dtype = "int64"
    _print_name = ("Cat", "\\operatorname{Cat}")

    def __call__(self, p: TensorLike | None, size: SizeLike = None, **kwargs: Unpack[DrawOptions]) -> Variable:
        """Draw.

        Parameters
        ----------
        p
            Probabilities of the categories: a vector, or a batch of vectors.
        size
            Shape of the draws.
        """
        return super().__call__(p, size=size, **kwargs)

    def _infer_shape(
        self,
        size: Variable,
        dist_params: Sequence[Variable],
        param_shapes: Sequence[tuple[Variable, ...]] | None = None,
    ) -> Variable | tuple[IntegerLike, ...]:
        if dist_params[0].type.ndim == 0:
            raise ValueError("The probabilities of categories are a vector, or a batch of vectors, not a number.")
        return super()._infer_shape(size, dist_params, param_shapes)

    @classmethod
    def rng_fn(cls, rng: NumPyGenerator, p: np.ndarray, size: DrawShape) -> np.ndarray:
        require(p >= 0, "Probabilities are not non-negative")
        kind = p.dtype if p.dtype.kind == "f" else np.dtype("float64")
        enough = np.sqrt(np.finfo(kind).eps)  # as in `numpy.random.Generator.choice`
        require(abs(p.sum(axis=-1, dtype="float64") - 1) <= enough, "Probabilities do not sum to 1")
        batch = p.shape[:-1]
        shape = batch if size is None else tuple(size)
        if np.broadcast_shapes(batch, shape) != shape:
            raise ValueError(f"`size` is incompatible with the shape of `p`: {shape} and {p.shape}")
        uniform = rng.uniform(size=shape)
        sums = np.cumsum(p, axis=-1)
        if p.ndim == 1:
            drawn = np.searchsorted(sums, uniform)
        else:
            drawn = (sums < uniform[..., None]).sum(axis=-1)
        # Rounding may leave the last sum a little below one.
        return np.minimum(drawn, p.shape[-1] - 1)


class ChoiceRV(RandomVariable):
    """Elements of an array, along its first axis."""

    name = "choice"
    ndim_supp = 0
    ndims_params = (1, 1, 0)
    dtype = None
    _print_name = ("choice", "\\operatorname{choice}")

    def __call__(
        self,
        a: TensorLike,
        size: SizeLike = None,
        replace: TensorLike = True,
        p: TensorLike | None = None,
        **kwargs: Unpack[DrawOptions],
    ) -> Variable:
        """Draw.

        Parameters
        ----------
        a
            The array; an integer stands for the numbers from 0 up to it.
        size
            Shape of the draws.
        replace
            Whether an element may be drawn several times.
        p
            Probabilities of the elements; without them all are equally likely.
        """
        a = as_tensor_variable(a)
        if a.type.ndim == 0:
            a = arange(a)
        p = NoneConst if p is None else as_tensor_variable(p)
        kwargs.setdefault("dtype", a.type.dtype)
        if isinstance(replace, bool | np.bool_):
            replace = constant(np.asarray(replace))
        return super().__call__(a, p, as_tensor_variable(replace), size=size, **kwargs)

    def _supp_shape_from_params(
        self, dist_params: Sequence[Variable], **kwargs: Sequence[tuple[Variable, ...]] | None
    ) -> Variable | tuple[IntegerLike, ...]:
        raise NotImplementedError("The shape of draws is not that of a batch and that of one draw.")

    def _infer_shape(
        self,
        size: Variable,
        dist_params: Sequence[Variable],
        param_shapes: Sequence[tuple[Variable, ...]] | None = None,
    ) -> Variable | tuple[IntegerLike, ...]:
        a = dist_params[0]
        if a.type.ndim == 1:
            return size
        of_a = shape_tuple(a) if param_shapes is None else sizes_of_shape(param_shapes[0])
        return (*sizes_of_shape(size), *of_a[1:])

    @classmethod
    def rng_fn(
        cls, rng: NumPyGenerator, a: np.ndarray, p: np.ndarray, replace: np.ndarray, size: DrawShape
    ) -> np.ndarray:
        if isinstance(rng, np.random.RandomState) and np.ndim(a) > 1:
            return a[rng.choice(len(a), size, bool(replace), p)]
        return rng.choice(a, size, bool(replace), p)


@differ_along.register(ChoiceRV)
def _differ_in_choice(op, node, output, axis):
    a, _, replace = node.inputs[3:]
    return a.type.ndim == 1 and known_integer(replace) == 0 and output.type.dtype == "int64" and are_distinct(a, None)


class PermutationRV(RandomVariable):
    """The elements of an array along its first axis, in another order."""

    name = "permutation"
    ndim_supp = 1
    ndims_params = (1,)
    open_support = False
    dtype = None
    _print_name = ("permutation", "\\operatorname{permutation}")

    def __call__(self, x: TensorLike, **kwargs: Unpack[DrawOptions]) -> Variable:
        """Draw.

        Parameters
        ----------
        x
            The array; an integer stands for the numbers from 0 up to it.
        """
        x = as_tensor_variable(x)
        kwargs.setdefault("dtype", x.type.dtype)
        return super().__call__(x, **kwargs)

    def _supp_shape_from_params(
        self, dist_params: Sequence[Variable], **kwargs: Sequence[tuple[Variable, ...]] | None
    ) -> Variable | tuple[IntegerLike, ...]:
        raise NotImplementedError("The shape of draws is not that of a batch and that of one draw.")

    def _infer_shape(
        self,
        size: Variable,
        dist_params: Sequence[Variable],
        param_shapes: Sequence[tuple[Variable, ...]] | None = None,
    ) -> Variable | tuple[IntegerLike, ...]:
        (x,) = dist_params
        if x.type.ndim == 0:
            return (x,)
        return shape_tuple(x) if param_shapes is None else sizes_of_shape(param_shapes[0])

    @classmethod
    def rng_fn(cls, rng: NumPyGenerator, x: np.ndarray, size: DrawShape) -> np.ndarray:
        return rng.permutation(x if np.ndim(x) > 0 else int(x))


@differ_along.register(PermutationRV)
def _differ_in_permutation(op, node, output, axis):
    x = node.inputs[3]
    return output.type.dtype == "int64" and (x.type.ndim == 0 or are_distinct(x, None, axis))


class PermutedRV(RandomVariable):
    """The elements of an array, each row along an axis in an order of its own.

    Parameters
    ----------
    axis
        The axis; None for all elements in one order.
    """

    __props__ = (*RandomVariable.__props__, "axis")

    name = "permuted"
    ndim_supp = 0
    ndims_params = (0,)
    dtype = None
    axis: int | None = None
    _print_name = ("permuted", "\\operatorname{permuted}")

    def __init__(self, *args: Any, axis: int | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.axis = axis

    def __str__(self) -> str:
        return f"{super().__str__()[:-1]}, axis={self.axis}}}"

    def __call__(self, x: TensorLike, axis: int | None = None, **kwargs: Unpack[DrawOptions]) -> Variable:
        """Draw.

        Parameters
        ----------
        x
            The array.
        axis
            The axis; None for all elements in one order.
        """
        x = as_tensor_variable(x)
        if axis != self.axis:
            return PermutedRV(axis=axis)(x, axis, **kwargs)
        kwargs.setdefault("dtype", x.type.dtype)
        return super().__call__(x, **kwargs)

    def make_node(
        self, rng: Variable | None, size: SizeLike, dtype: DTypeLike | Variable | None, *dist_params: TensorLike | None
    ) -> Apply:
        if rng is not None and not isinstance(getattr(rng, "type", None), RandomGeneratorType):
            raise TypeError("`permuted` is only available for `RandomGeneratorType`s")
        return super().make_node(rng, size, dtype, *dist_params)

    def rng_fn(self, rng: np.random.Generator, *args: Any, **kwargs: Any) -> np.ndarray:
        x, _ = args
        return rng.permuted(x, axis=self.axis)


randint = RandIntRV()
integers = IntegersRV()
categorical = CategoricalRV()
choice = ChoiceRV()
permutation = PermutationRV()
permuted = PermutedRV()
