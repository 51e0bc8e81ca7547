"""Checking symbolic gradients against finite differences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from aesara.compile.function import function
from aesara.compile.mode import FAST_RUN, Mode, get_mode
from aesara.graph.autodiff import grad
from aesara.tensor.core.tensor_type import TensorType
from aesara.tensor.reductions.sum_prod_max import sum as tensor_sum

FLOAT_DTYPES = ("float16", "float32", "float64")
# What finite differences with the step sizes of `numeric_grad` can tell apart, for each dtype.
TOLERANCES = {"float16": 5e-2, "float32": 1e-2, "float64": 1e-4}


class GradientError(Exception):
    """A symbolic gradient differs from finite differences by more than is allowed.

    Parameters
    ----------
    arg, err_pos, shape
        Which argument, which of its elements (in C order), and the argument's shape.
    val1, val2
        The symbolic and the numeric derivative.
    abs_err, rel_err, abs_tol, rel_tol
        Their difference, and what was allowed. Both tolerances must be exceeded.
    """

    __module__ = "aesara.gradient"  # where users find it

    def __init__(self, arg, err_pos, shape, val1, val2, abs_err, rel_err, abs_tol, rel_tol):
        super().__init__(arg, err_pos, shape, val1, val2, abs_err, rel_err, abs_tol, rel_tol)
        self.arg = arg
        self.err_pos = err_pos
        self.shape = shape
        self.val1 = val1
        self.val2 = val2
        self.abs_err = abs_err
        self.rel_err = rel_err
        self.abs_tol = abs_tol
        self.rel_tol = rel_tol

    def __str__(self) -> str:
        return (
            "GradientError: numeric gradient and analytic gradient exceed tolerance:\n"
            f"        At position {self.err_pos} of argument {self.arg} with shape {self.shape},\n"
            f"            val1 = {self.val1:f}      ,  val2 = {self.val2:f}\n"
            f"            abs. error = {self.abs_err:f},  abs. tolerance = {self.abs_tol:f}\n"
            f"            rel. error = {self.rel_err:f},  rel. tolerance = {self.rel_tol:f}"
        )


class numeric_grad:
    """The gradient of a function at a point, by one-sided finite differences of a fixed step.

    Parameters
    ----------
    f
        A function of arrays that returns a scalar.
    pt
        The point: an array, or a list or tuple of arrays.
    eps
        The step. By default it depends on the dtypes, see `type_eps`.
    out_type
        Dtype of the gradient where it is not that of the point.

    Attributes
    ----------
    gf
        The gradient: an array, or a list of arrays.

    Examples
    --------
    >>> import numpy as np
    >>> numeric_grad(lambda x: (x**2).sum(), np.array([1.0, 2.0])).gf.round(3)
    array([2., 4.])
    """

    # The steps that lose least of the derivative to rounding and to curvature, for functions of ordinary
    # size.
    type_eps: ClassVar[dict[Any, float]] = {"float64": 1e-7, "float32": 3e-4, "float16": 1e-1}
    type_eps.update({np.dtype(name): step for name, step in list(type_eps.items())})

    def __init__(
        self,
        f: Callable[..., Any],
        pt: Any,
        eps: float | None = None,
        out_type: str | None = None,
    ) -> None:
        several = isinstance(pt, list | tuple)
        arrays = [np.array(p) for p in (pt if several else [pt])]
        for array in arrays:
            if array.dtype.name not in FLOAT_DTYPES:
                raise TypeError(f"All function arguments must be floats, got an array of dtype {array.dtype}.")
        if eps is None:
            eps = max((self.type_eps[array.dtype] for array in arrays), default=1e-7)
        start = f(*[array.copy() for array in arrays])
        gradients = []
        for array in arrays:
            gradient = np.zeros(array.shape, dtype=out_type or array.dtype)
            for index in np.ndindex(array.shape):
                kept = array[index]
                array[index] += eps
                # The step that was taken is what survived rounding, not `eps`.
                step = array[index] - kept
                gradient[index] = np.asarray((f(*[a.copy() for a in arrays]) - start) / step).item()
                array[index] = kept
            gradients.append(gradient)
        self.gf: Any = gradients if several else gradients[0]

    @staticmethod
    def abs_rel_err(a: Any, b: Any) -> tuple[Any, Any]:
        """Return the absolute and the relative difference of `a` and `b`, element by element."""
        abs_err = abs(a - b)
        return abs_err, abs_err / np.maximum(abs(a) + abs(b), 1e-8)

    def abs_rel_errors(self, g_pt: Any) -> list[tuple[Any, Any]]:
        """Return the differences of `g_pt` from the numeric gradient, one pair for each argument."""
        own, other = self._as_lists(g_pt)
        errors = []
        for k, (a, b) in enumerate(zip(own, other)):
            if np.shape(a) != np.shape(b):
                raise ValueError(
                    f"argument element {k} has wrong shapes: the gradient has shape {np.shape(b)}, the point"
                    f" {np.shape(a)}."
                )
            errors.append(self.abs_rel_err(b, a))
        return errors

    def max_err(self, g_pt: Any, abs_tol: float, rel_tol: float) -> tuple[int, int, float, float]:
        """Find the element of `g_pt` that is furthest from the numeric gradient, measured in the tolerances.

        Returns
        -------
        tuple
            The argument's number, the position in it, the absolute and the relative difference. A difference
            that is not a number counts as infinite.
        """
        worst = (0, 0, 0.0, 0.0)
        worst_size = -1.0
        for k, (abs_errors, rel_errors) in enumerate(self.abs_rel_errors(g_pt)):
            abs_flat = np.where(np.isfinite(abs_errors), abs_errors, np.inf).ravel()
            rel_flat = np.where(np.isfinite(rel_errors), rel_errors, np.inf).ravel()
            if not abs_flat.size:
                continue
            sizes = np.minimum(abs_flat / abs_tol, rel_flat / rel_tol)
            position = int(np.argmax(sizes))
            if sizes[position] > worst_size:
                worst_size = float(sizes[position])
                worst = (k, position, float(abs_flat[position]), float(rel_flat[position]))
        return worst

    def _as_lists(self, g_pt: Any) -> tuple[Sequence[Any], Sequence[Any]]:
        own = self.gf if isinstance(self.gf, list) else [self.gf]
        other = g_pt if isinstance(self.gf, list) else [g_pt]
        if len(own) != len(other):
            raise ValueError(f"argument has wrong number of elements: {len(other)} for a point of {len(own)} arrays.")
        return own, other


def mode_not_slow(mode: Any) -> Mode:
    """Return `mode`, or `FAST_RUN` where `mode` is made for checking or for quick compilation."""
    chosen = get_mode(mode)
    is_slow = mode == "FAST_COMPILE" or chosen is get_mode("FAST_COMPILE")
    return FAST_RUN if is_slow or type(chosen).__name__ == "DebugMode" else chosen


def verify_grad(
    fun: Callable[..., Any],
    pt: Sequence[np.ndarray],
    n_tests: int = 2,
    rng: np.random.Generator | np.random.RandomState | None = None,
    eps: float | None = None,
    out_type: str | None = None,
    abs_tol: float | None = None,
    rel_tol: float | None = None,
    mode: Any = None,
    cast_to_output_type: bool = False,
    no_debug_ref: bool = True,
) -> None:
    """Compare the symbolic gradient of a function with finite differences.

    The function's output is multiplied by a random array and summed; the gradient of that is checked.

    Parameters
    ----------
    fun
        Takes variables and returns one variable; an op will do.
    pt
        Arrays of floats: the point.
    n_tests
        How many random arrays to try.
    rng
        Where they come from. Required.
    eps
        Step of the finite differences; by default it depends on the dtype.
    out_type
        Dtype of the output, where that is complex.
    abs_tol, rel_tol
        What is allowed. An element fails when it exceeds both. By default they depend on the dtypes.
    mode
        How to compile.
    cast_to_output_type
        Cast the random array to the dtype of the output even where that is float32 or float16.
    no_debug_ref
        Compute the finite differences in a fast mode, whatever `mode` is.

    Raises
    ------
    GradientError
        If the two differ by more than the tolerances.

    Examples
    --------
    >>> import aesara.tensor as at, numpy as np
    >>> verify_grad(at.tanh, [np.array([2.0, 0.3])], rng=np.random.default_rng(0))
    """
    if not isinstance(pt, list | tuple):
        raise TypeError("`pt` should be a list or tuple")
    points = [np.array(p) for p in pt]
    for k, point in enumerate(points):
        if point.dtype.name not in FLOAT_DTYPES:
            raise TypeError(
                f'verify_grad can work only with floating point inputs, but input {k} has dtype "{point.dtype}".'
            )
    if rng is None:
        raise TypeError(
            "rng should be a valid instance of numpy.random.RandomState or numpy.random.Generator; pass"
            " rng=np.random.default_rng(seed)."
        )
    inputs = [
        TensorType(p.dtype.name, shape=tuple(1 if n == 1 else None for n in p.shape))(name=f"input {k}")
        for k, p in enumerate(points)
    ]
    output = fun(*inputs)
    if isinstance(output, list | tuple):
        raise NotImplementedError("Can't (yet) auto-test the gradient of a function with multiple outputs")

    reference_mode = mode_not_slow(mode) if no_debug_ref else mode
    options: dict[str, Any] = {"accept_inplace": True, "on_unused_input": "ignore"}
    value_function = function(inputs, output, mode=reference_mode, **options)  # type: ignore[operator]  # named like its module
    value = value_function(*[p.copy() for p in points])
    dtypes = [p.dtype.name for p in points] + [output.type.dtype]
    tolerance = max(TOLERANCES.get(dtype, TOLERANCES["float64"]) for dtype in dtypes)
    abs_tol = tolerance if abs_tol is None else abs_tol
    rel_tol = tolerance if rel_tol is None else rel_tol

    # One function serves every test: the random array is an input.
    direction_dtype = output.type.dtype if cast_to_output_type else "float64"
    direction = TensorType(direction_dtype, shape=output.type.shape)(name="direction")
    cost = tensor_sum(direction * output)
    arguments = [*inputs, direction]
    cost_function = function(arguments, cost, mode=reference_mode, **options)  # type: ignore[operator]  # named like its module
    gradients = grad(cost, inputs, disconnected_inputs="ignore")
    gradient_function = function(arguments, gradients, mode=mode, **options)  # type: ignore[operator]  # named like its module

    for _ in range(n_tests):
        # Away from zero, so that no element of the output goes unchecked.
        projection = (rng.random(np.shape(value)) + 0.5).astype(direction_dtype)
        numeric = numeric_grad(lambda *p, u=projection: cost_function(*p, u), points, eps, out_type)
        analytic = gradient_function(*[p.copy() for p in points], projection)
        arg, position, abs_err, rel_err = numeric.max_err(analytic, abs_tol, rel_tol)
        if abs_err > abs_tol and rel_err > rel_tol:
            raise GradientError(
                arg,
                position,
                points[arg].shape,
                float(np.ravel(analytic[arg])[position]),
                float(np.ravel(numeric.gf[arg])[position]),
                abs_err,
                rel_err,
                abs_tol,
                rel_tol,
            )
