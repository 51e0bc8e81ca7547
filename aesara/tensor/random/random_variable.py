"""The operation that draws random numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict

import numpy as np

from aesara.configdefaults import config
from aesara.graph.disconnected_type import DisconnectedType
from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Apply, Constant, Variable
from aesara.graph.op import Op
from aesara.graph.pullback import grad_undefined
from aesara.graph.shared import shared
from aesara.graph.utils import get_variable_trace_string
from aesara.tensor.core.casting import cast
from aesara.tensor.core.constant_value import infer_static_shape, with_open_lengths
from aesara.tensor.core.conversion import as_tensor_variable, constant
from aesara.tensor.core.dtypes import all_dtypes, discrete_dtypes
from aesara.tensor.core.tensor_like import IntegerLike, TensorLike
from aesara.tensor.core.tensor_type import TensorType
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.core.vector_length import get_vector_length
from aesara.tensor.random.generators import NumPyGenerator, copy_generator
from aesara.tensor.random.parameters import (
    SizeLike,
    default_supp_shape_from_params,
    normalize_size_param,
    sizes_of_shape,
)
from aesara.tensor.random.type import RandomType
from aesara.tensor.shapes.broadcasting import broadcast_shape_iter, broadcast_to, summed_to
from aesara.tensor.shapes.shape import shape_tuple

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, DTypeLike

__all__ = ["RandomVariable", "draw_again"]


#: the shape of draws, for functions that draw; None if the parameters determine it
DrawShape: TypeAlias = tuple[int, ...] | None
#: derivatives of a draw in the parameters; None where there is no derivative
PathDerivatives: TypeAlias = Sequence[Variable | None]


class DrawOptions(TypedDict, total=False):
    """Options of draws from any distribution, see `RandomVariable.__call__`."""

    name: str | None
    rng: Variable | None
    dtype: DTypeLike | None


class RandomVariable(Op):
    """Draws from a distribution.

    A node has the inputs ``(rng, size, dtype, *parameters)`` and the outputs ``(next_rng, draw)``; calls return the
    second output. The op is a pure function of the state of the generator.

    Parameters
    ----------
    name
        The distribution. `rng_fn` calls the method of the generator that has this name.
    ndim_supp
        How many dimensions one draw has: 0 for numbers, 1 for vectors.
    ndims_params
        For each parameter, how many dimensions one distribution needs of it; dimensions in front of these are those
        of a batch of distributions, and broadcast.
    dtype
        The dtype of draws, or ``"floatX"``; None leaves it to each call.
    inplace
        Whether the state of the generator that comes in is changed, or that of a copy.

    Notes
    -----
    Subclasses may define all of these as attributes of the class, and the methods `rng_fn`,
    `_supp_shape_from_params` and ``__call__``, which names the parameters.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> class TwoDiceRV(RandomVariable):
    ...     name = "two_dice"
    ...     ndim_supp = 0
    ...     ndims_params = (0,)
    ...     dtype = "int64"
    ...
    ...     @classmethod
    ...     def rng_fn(cls, rng, sides, size):
    ...         return rng.integers(1, sides + 1, size) + rng.integers(1, sides + 1, size)
    >>> two_dice = TwoDiceRV()
    >>> two_dice(6, size=(2, 3)).type
    TensorType(int64, (2, 3))
    """

    __props__: tuple[str, ...] = ("name", "ndim_supp", "ndims_params", "dtype", "inplace")
    default_output = 1

    name: str
    ndim_supp: int
    ndims_params: Sequence[int]
    #: Whether types leave open how long draws are: libraries make variables of the same type for coordinates of draws,
    #: of which there may be fewer, as on a simplex. So it is for subclasses that have a `_supp_shape_from_params` of
    #: their own, unless they say that it is not.
    open_support = False
    dtype: str | None

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "_supp_shape_from_params" in vars(cls) and "open_support" not in vars(cls):
            cls.open_support = True

    def __init__(
        self,
        name: str | None = None,
        ndim_supp: int | None = None,
        ndims_params: Sequence[int] | None = None,
        dtype: str | None = None,
        inplace: bool | None = None,
    ) -> None:
        super().__init__()
        attributes = {"name": name or None, "ndim_supp": ndim_supp, "ndims_params": ndims_params}
        for attribute, value in attributes.items():
            if value is None:
                value = getattr(self, attribute, None)
            if value is None:
                raise AttributeError(
                    f"{type(self).__name__} needs a {attribute}, as argument or attribute of the class."
                )
            setattr(self, attribute, value)
        if not isinstance(self.ndims_params, Sequence):
            raise TypeError(f"Parameter ndims_params must be sequence type, got {self.ndims_params!r}.")
        self.ndims_params = tuple(self.ndims_params)
        self.dtype = dtype or getattr(self, "dtype", None)
        self.inplace = bool(getattr(self, "inplace", False) if inplace is None else inplace)
        if self.inplace:
            self.destroy_map = {0: [0]}

    def __str__(self) -> str:
        properties = ", ".join(str(getattr(self, name)) for name in RandomVariable.__props__[1:])
        return f"{self.name}_rv{{{properties}}}"

    # -- shapes -------------------------------------------------------------

    def _supp_shape_from_params(
        self, dist_params: Sequence[Variable], **kwargs: Any
    ) -> Variable | tuple[IntegerLike, ...]:
        """Return the shape of one draw for multivariate distributions.

        By default it is given by the last dimensions of the first parameter.

        Parameters
        ----------
        dist_params
            The parameters.
        param_shapes
            Their shapes, where they are known.
        rep_param_idx
            The number of the parameter that has the shape.
        """
        return default_supp_shape_from_params(self.ndim_supp, dist_params, **kwargs)

    def _infer_shape(
        self,
        size: Variable,
        dist_params: Sequence[Variable],
        param_shapes: Sequence[tuple[Variable, ...]] | None = None,
    ) -> Variable | tuple[IntegerLike, ...]:
        """Return the shape of the draws of a node.

        Parameters
        ----------
        size
            A vector of known length; empty where the parameters alone decide.
        dist_params
            The parameters.
        param_shapes
            Their shapes, where they are known.

        Returns
        -------
        A symbolic vector, or a tuple of sizes.
        """
        has_size = get_vector_length(size) > 0
        if has_size and self.ndim_supp == 0:
            return size
        if has_size:
            batch = sizes_of_shape(size)
        else:
            batch = self._batch_shape(dist_params, param_shapes)
        if self.ndim_supp == 0:
            return batch or constant(np.zeros(0, dtype="int64"))
        support = self._supp_shape_from_params(dist_params, param_shapes=param_shapes)
        return (*batch, *sizes_of_shape(support))

    def _batch_shape(
        self, dist_params: Sequence[Variable], param_shapes: Sequence[tuple[Variable, ...]] | None
    ) -> tuple[Variable, ...]:
        """Return the shape to which the batch dimensions of the parameters broadcast."""
        batches = []
        for number, (param, ndim) in enumerate(zip(dist_params, self.ndims_params)):
            if param.type.ndim > ndim:
                sizes = shape_tuple(param) if param_shapes is None else sizes_of_shape(param_shapes[number])
                batches.append(sizes[: param.type.ndim - ndim])
        return broadcast_shape_iter(batches, arrays_are_shapes=True) if batches else ()

    def infer_shape(
        self, fgraph: FunctionGraph, node: Apply, input_shapes: Sequence[tuple[Variable, ...]]
    ) -> list[list[IntegerLike] | None]:
        _, size, _, *dist_params = node.inputs
        shape = self._infer_shape(size, dist_params, input_shapes[3:])
        return [None, list(sizes_of_shape(shape))]

    # -- nodes --------------------------------------------------------------

    def __call__(
        self,
        *args: TensorLike | None,
        size: SizeLike = None,
        name: str | None = None,
        rng: Variable | None = None,
        dtype: DTypeLike | None = None,
        **kwargs: Any,
    ) -> Any:
        """Draw.

        Parameters
        ----------
        *args
            The parameters of the distribution.
        size
            The shape of a batch of draws; parameters broadcast to it. Without it the shape is that of the parameters.
        name
            The name of the variable.
        rng
            A variable whose value is a generator; a new shared variable if it is not given.
        dtype
            The dtype of the draws, if it is not to be that of the distribution.
        """
        return super().__call__(rng, size, dtype, *args, name=name, **kwargs)

    def make_node(
        self, rng: Variable | None, size: SizeLike, dtype: DTypeLike | Variable | None, *dist_params: TensorLike | None
    ) -> Apply:
        """The inputs.

        Parameters
        ----------
        rng
            A variable of a `RandomType`; None for a new shared variable with a generator of its own.
        size
            See `normalize_size_param`.
        dtype
            A dtype, or its number among all dtypes; None for the one of the distribution. So it is for a variable
            that stands for the number, as it does where the inputs of a node become those of a graph.
        dist_params
            The parameters of the distribution.
        """
        size = normalize_size_param(size)
        params = [p if isinstance(p, Variable) else as_tensor_variable(p) for p in dist_params]
        if len(params) < len(self.ndims_params):  # a distribution may take any number of further ones
            raise TypeError(f"{self} has {len(self.ndims_params)} parameters, but {len(params)} were given.")
        if rng is None:
            rng = shared(np.random.default_rng(), borrow=True)
        elif not isinstance(getattr(rng, "type", None), RandomType):
            raise TypeError(
                "The type of rng should be an instance of either RandomGeneratorType or RandomStateType, such as "
                f"aesara.shared(numpy.random.default_rng(seed)); got {rng!r}."
            )
        number = self._dtype_number(dtype)
        _, static = infer_static_shape(self._infer_shape(size, params))
        if self.open_support:
            static = with_open_lengths(static, self.ndim_supp)
        outputs = [rng.type(), TensorType(all_dtypes[number], static)()]
        return Apply(self, [rng, size, constant(number, dtype="int64"), *params], outputs)

    def _dtype_number(self, dtype: Any) -> int:
        """Return the number of a dtype in the list of all dtypes.

        A symbolic number is ignored; then the dtype is that of the distribution.
        """
        if isinstance(dtype, Constant):
            dtype = int(dtype.data)
        elif isinstance(dtype, Variable):
            dtype = None
        if isinstance(dtype, int | np.integer):
            return int(dtype)
        wanted = self.dtype if dtype is None else dtype
        if wanted is None:
            raise TypeError(f"dtype is unspecified: {self} has none of its own.")
        wanted = config.floatX if wanted == "floatX" else np.dtype(wanted).name
        if wanted not in all_dtypes:
            raise TypeError(f"Draws cannot have the dtype {wanted}.")
        return all_dtypes.index(wanted)

    # -- values -------------------------------------------------------------

    def rng_fn(self, rng: NumPyGenerator, *args: Any, **kwargs: Any) -> np.ndarray:
        """Draw: by default with the method of the generator that is called like the distribution.

        Parameters
        ----------
        rng
            The generator.
        *args
            The values of the parameters, and a tuple or None as ``size``.
        """
        return getattr(rng, self.name)(*args, **kwargs)

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[list], params: Any = None) -> None:
        rng, size, _, *values = inputs
        if not self.inplace:
            rng = copy_generator(rng)
        sizes = tuple(int(n) for n in size)
        drawn = self.rng_fn(rng, *values, sizes or None)
        kind: Any = node.outputs[1].type
        output_storage[0][0] = rng
        if np.ndim(drawn) < kind.ndim and not sizes:
            drawn = self._with_first_dimensions(drawn, values)
        output_storage[1][0] = _as_values_of(kind, drawn)

    def _with_first_dimensions(self, drawn: np.ndarray, parameters: Sequence[np.ndarray]) -> np.ndarray:
        """Restore leading dimensions of the parameters, which SciPy omits from draws if they have length 1."""
        batch = np.broadcast_shapes(*[np.shape(p)[: np.ndim(p) - n] for p, n in zip(parameters, self.ndims_params)])
        n_missing = len(batch) + self.ndim_supp - np.ndim(drawn)
        if n_missing > 0 and all(n == 1 for n in batch[:n_missing]):
            return np.expand_dims(drawn, tuple(range(n_missing)))
        return drawn

    # -- derivatives --------------------------------------------------------

    def path_derivatives(self, draw: Variable, *dist_params: Variable) -> PathDerivatives:
        """Return the derivatives of each draw in the parameters, with the randomness held fixed.

        Parameters
        ----------
        draw
            The draws.
        dist_params
            The parameters, which broadcast to them.

        Returns
        -------
        For each parameter an expression that broadcasts with the draws, or None where there is no derivative.
        """
        return [None] * len(dist_params)

    def _known_path_derivatives(self, draw: Variable, dist_params: Sequence[Variable]) -> Sequence[Variable | None]:
        """Return `path_derivatives`, or None if a subclass draws in another way."""
        for cls in type(self).__mro__:
            if "path_derivatives" in vars(cls):
                return self.path_derivatives(draw, *dist_params)
            if "rng_fn" in vars(cls) or "rng_fn_scipy" in vars(cls):
                break
        return [None] * len(dist_params)

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        return [[True, True], [False, False], [False, False], *([False, True] for _ in node.inputs[3:])]

    def L_op(
        self, inputs: Sequence[Variable], outputs: Sequence[Variable], output_grads: Sequence[Variable]
    ) -> list[Variable]:
        rng, size = inputs[:2]
        params: list[Any] = list(inputs[3:])
        gradient: Any = output_grads[1]
        gradients: list[Variable] = [
            grad_undefined(self, 0, rng, "No gradient defined for random variables"),
            DisconnectedType()(),
            DisconnectedType()(),
        ]
        if isinstance(gradient.type, DisconnectedType):
            return gradients + [DisconnectedType()() for _ in params]
        draw = outputs[1]
        # Scalar parameters are broadcast to the shape of the draws.
        wide = params if any(self.ndims_params) else _broadcast_to_draws(draw, size, params)
        derivatives = self._known_path_derivatives(draw, wide)
        for number, (param, derivative) in enumerate(zip(params, derivatives, strict=True)):
            if param.type.dtype in discrete_dtypes:
                gradients.append(param.zeros_like(dtype=config.floatX))
            elif derivative is None:
                text = (
                    "No gradient defined for random variables of this distribution in this parameter: draws are not "
                    "known as functions of it that have derivatives. Hold the draws fixed, by "
                    "aesara.gradient.disconnected_grad, and differentiate their log-probability instead."
                    + get_variable_trace_string(draw)
                )
                gradients.append(grad_undefined(self, number + 3, param, text))
            else:
                gradients.append(cast(summed_to(gradient * derivative, param), param.type.dtype))
        return gradients


def draw_again(draw: Any, *dist_params: TensorLike) -> TensorVariable:
    """Draw from the same generator state with other parameters: the same random numbers, transformed differently.

    Derivatives use such draws if the random numbers cannot be recovered from the draws, like `z` in ``loc + scale * z``
    if `scale` is 0.

    Parameters
    ----------
    draw
        The draws.
    dist_params
        The other parameters.

    Examples
    --------
    >>> import numpy as np
    >>> import aesara
    >>> import aesara.tensor as at
    >>> x = at.random.normal(5.0, 0.0, size=2, rng=aesara.shared(np.random.default_rng(1)))
    >>> x.eval(), draw_again(x, 0.0, 1.0).eval()
    (array([5., 5.]), array([0.34558419, 0.82161814]))
    """
    op, (rng, _, dtype, *_) = draw.owner.op, draw.owner.inputs
    return op.make_node(rng, shape_tuple(draw), dtype, *dist_params).outputs[1]


def _broadcast_to_draws(draw: Variable, size: Variable, params: Sequence[Variable]) -> list[Variable]:
    """Broadcast parameters to the shape of the draws, if an unknown length may be 1."""
    alone = get_vector_length(size) == 0 and sum(param.type.ndim > 0 for param in params) <= 1
    return [
        param if alone or None not in param.type.shape else broadcast_to(param, shape_tuple(draw)) for param in params
    ]


def _as_values_of(kind: TensorType, drawn: ArrayLike) -> np.ndarray:
    """Convert draws to an array of a type."""
    array = np.asarray(drawn)
    if array.dtype != kind.numpy_dtype:
        with np.errstate(invalid="ignore"):
            converted = array.astype(kind.numpy_dtype)
        if kind.numpy_dtype.kind in "iub" and array.dtype.kind in "iuf" and not np.array_equal(converted, array):
            raise ValueError(f"Draws of dtype {array.dtype} do not fit into {kind.dtype}.")
        array = converted
    if array.ndim != kind.ndim:
        raise ValueError(
            f"The draws have {array.ndim} dimensions, with shape {array.shape}, but {kind.ndim} were expected, as "
            "their parameters and size tell."
        )
    return array
