"""Correspondence of functions of NumPy and of this package, with their parameters.

`FUNCTIONS` has a row for each supported function of NumPy. A row names NumPy's parameters in order:

======================  ===========================================================================
``x/``                  is required, and passed on by position
``axis``                is passed on by name, if it was given
``method:mode``         is passed on under the name `mode`
``shape|newshape/``     has two names in different versions of NumPy
``axis=-1``             is passed on always, with this value if it was not given
``-out``                has no counterpart: nothing but None, False or "not given" is accepted
``-order=C``            nothing but None, "not given" and this value is accepted
``~copy``               does not matter for variables
``*args`` ``**kwargs``  are passed on as they are
======================  ===========================================================================
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from aesara.graph.nodes import Variable
from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.dtypes import complex_dtypes
from aesara.tensor.core.tensor_like import TensorLike
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.creation.allocation import full, ones, zeros
from aesara.tensor.elementwise.ops import angle as angle_of
from aesara.tensor.elementwise.ops import clip as clip_between
from aesara.tensor.elementwise.ops import maximum, minimum, rad2deg
from aesara.tensor.indexing.nonzero import nonzero
from aesara.tensor.indexing.selection import tensor_copy
from aesara.tensor.indexing.selection import where as where_chosen
from aesara.tensor.joining.join_split import stack as stack_of
from aesara.tensor.joining.stacking import split_evenly, unstack
from aesara.tensor.ordering.sorting import argsort as argsort_of
from aesara.tensor.ordering.sorting import sort as sort_of
from aesara.tensor.products.dot import dense_dot
from aesara.tensor.products.matmul import matrix_product
from aesara.tensor.products.norms import matrix_norm, norm, vector_norm
from aesara.tensor.statistics.observations import histogram

if TYPE_CHECKING:
    from numpy.typing import DTypeLike


_NOT_GIVEN = np._NoValue  # type: ignore[attr-defined]


class _Parameter:
    """A parameter of a function of NumPy: its names, how it is passed on, its name in this package, and a value."""

    __slots__ = ("default", "kind", "names", "ours")

    def __init__(self, names: tuple[str, ...], kind: str, ours: str, default: object) -> None:
        self.names, self.kind, self.ours, self.default = names, kind, ours, default

    def refuses(self, value: object) -> bool:
        if value is None or value is _NOT_GIVEN:
            return False
        if self.default is _NOT_GIVEN:
            return value is not False
        return not (isinstance(value, type(self.default)) and value == self.default)


def _parameter(text: str) -> _Parameter:
    if text.startswith("*"):
        return _Parameter((text.lstrip("*"),), text[: text.count("*")], "", _NOT_GIVEN)
    kind = {"-": "refused", "~": "ignored"}.get(text[0], "required" if text.endswith("/") else "named")
    name, _, default = text.strip("-~/").partition("=")
    value = (
        _NOT_GIVEN if not default else default if default.isalpha() and default != "True" else ast.literal_eval(default)
    )
    if kind == "named" and default:
        kind = "always"
    name, _, ours = name.partition(":")
    names = tuple(name.split("|"))
    return _Parameter(names, kind, ours or names[0], value)


class Passing:
    """Mapping of the arguments of a NumPy function to those of a function of this package.

    `target` is the name of the latter, if it differs from NumPy's.
    """

    __slots__ = ("parameters", "target")

    def __init__(self, parameters: str, target: str = "") -> None:
        self.parameters, self.target = parameters, target

    def bind(self, path: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        """Return the positional and keyword arguments for the function of this package.

        Raises
        ------
        TypeError
            If some are missing, unknown, or have no counterpart.
        """
        positional: list[Any] = []
        keywords: dict[str, Any] = {}
        args_left, kwargs = list(args), dict(kwargs)
        for parameter in [_parameter(text) for text in self.parameters.split()]:
            if parameter.kind == "*":
                positional += args_left
                args_left = []
                continue
            if parameter.kind == "**":
                keywords |= kwargs
                kwargs = {}
                continue
            values = [kwargs.pop(name) for name in parameter.names if name in kwargs]
            value = args_left.pop(0) if args_left and not values else values[0] if values else _NOT_GIVEN
            if parameter.kind == "required":
                if value is _NOT_GIVEN:
                    raise TypeError(f"{path}: the argument `{parameter.names[0]}` is missing.")
                positional.append(value)
            elif parameter.kind == "refused":
                if parameter.refuses(value):
                    raise TypeError(
                        f"{path}: the argument `{parameter.names[0]}` is not supported where an argument is a "
                        f"variable; got {value!r}. Use functions of aesara.tensor, such as "
                        f"aesara.tensor.{self.target or path.removeprefix('numpy.')}."
                    )
            elif parameter.kind == "always":
                keywords[parameter.ours] = parameter.default if value is _NOT_GIVEN else value
            elif parameter.kind == "named" and value is not _NOT_GIVEN:
                keywords[parameter.ours] = value
        if args_left or kwargs:
            raise TypeError(f"{path}: there are unknown arguments: {(*args_left, *kwargs)!r}.")
        return positional, keywords


def _not_all(path: str, **refused: object) -> None:
    for name, value in refused.items():
        if value is not None and value is not False and value is not _NOT_GIVEN:
            raise TypeError(
                f"{path}: the argument `{name}` is not supported where an argument is a variable; got {value!r}."
            )


# -- functions whose arguments need more than passing on ----------------------


def _angle(z: TensorLike, deg: bool = False) -> TensorVariable:
    return rad2deg(angle_of(z)) if deg else angle_of(z)


def _clip(
    a: TensorLike,
    a_min: object = None,
    a_max: object = None,
    out: object = None,
    *,
    min: object = None,
    max: object = None,
    **kwargs: object,
) -> TensorVariable:
    _not_all("numpy.clip", out=out, **kwargs)
    lower = min if a_min is None or a_min is _NOT_GIVEN else a_min
    upper = max if a_max is None or a_max is _NOT_GIVEN else a_max
    lower, upper = [None if bound is _NOT_GIVEN else bound for bound in (lower, upper)]
    if lower is None:
        return as_tensor_variable(a) if upper is None else minimum(a, upper)
    return maximum(a, lower) if upper is None else clip_between(a, lower, upper)


def _in_sequences(*arys: Any) -> Any:
    """Replace `numpy.atleast_1d`, which programs use to turn a variable or a list of variables into a list."""
    result = []
    for value in arys:
        array = np.empty((1,), dtype=object)
        array[0] = value
        result.append(array if isinstance(value, Variable) else np.atleast_1d(value))
    return result[0] if len(result) == 1 else tuple(result)


def _atleast_3d(*arys: Any) -> TensorVariable | list[TensorVariable]:
    def one(x: TensorLike) -> TensorVariable:
        x = as_tensor_variable(x)
        return x.dimshuffle(*{0: "xxx", 1: ("x", 0, "x"), 2: (0, 1, "x")}.get(x.type.ndim, range(x.type.ndim)))

    return one(arys[0]) if len(arys) == 1 else [one(x) for x in arys]


def _where(condition: TensorLike, *choices: TensorLike) -> TensorVariable | tuple[TensorVariable, ...]:
    return where_chosen(condition, *choices) if choices else nonzero(as_tensor_variable(condition))


def _filling_function(name: str) -> Callable[..., TensorVariable]:
    make = {"zeros_like": zeros, "empty_like": zeros, "ones_like": ones}[name]

    def like(
        a: TensorLike,
        dtype: DTypeLike | None = None,
        order: object = None,
        subok: object = None,
        shape: Any = None,
        *,
        device: object = None,
    ) -> TensorVariable:
        a = as_tensor_variable(a)
        return make(a.shape if shape is None else shape, dtype or a.type.dtype)

    return like


def _full_like(
    a: TensorLike,
    fill_value: Any,
    dtype: DTypeLike | None = None,
    order: object = None,
    subok: object = None,
    shape: Any = None,
    *,
    device: object = None,
) -> TensorVariable:
    a = as_tensor_variable(a)
    return full(a.shape if shape is None else shape, fill_value, dtype or a.type.dtype)


def _sorting(function: Callable[..., TensorVariable]) -> Callable[..., TensorVariable]:
    def in_order(
        a: TensorLike,
        axis: int | Sequence[int] | None = -1,
        kind: object = None,
        order: object = None,
        *,
        stable: object = None,
    ) -> TensorVariable:
        _not_all(f"numpy.{function.__name__}", order=order)
        return function(a, axis, "stable" if stable else kind or "quicksort")

    return in_order


def _split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[TensorVariable]:
    return split_evenly("split", as_tensor_variable(ary), indices_or_sections, axis)


def _stack(
    arrays: Any,
    axis: int = 0,
    out: object = None,
    *,
    dtype: DTypeLike | None = None,
    casting: object = None,
) -> TensorVariable:
    _not_all("numpy.stack", out=out)
    parts = unstack(arrays) if isinstance(arrays, Variable) else list(arrays)
    return stack_of([as_tensor_variable(p).astype(dtype) for p in parts] if dtype is not None else parts, axis=axis)


def _copy(a: TensorLike, order: object = None, subok: object = None) -> TensorVariable:
    return tensor_copy(a)


def _histogram_bin_edges(a: TensorLike, bins: Any = 10, range: Any = None, weights: Any = None) -> TensorVariable:
    return histogram(a, bins, range, weights=weights)[1]


def _is_complex(x: TensorLike) -> bool:
    return as_tensor_variable(x).type.dtype in complex_dtypes


def _is_real(x: TensorLike) -> bool:
    return not _is_complex(x)


def _dtype_of(x: TensorLike) -> Any:
    return x.type.dtype if isinstance(x, Variable) else x


def _result_type(*arrays_and_dtypes: Any) -> np.dtype:
    return np.result_type(*[_dtype_of(x) for x in arrays_and_dtypes])


def _can_cast(from_: Any, to: Any, casting: Any = "safe") -> bool:
    return np.can_cast(_dtype_of(from_), to, casting)


def _common_type(*arrays: object) -> type:
    return np.common_type(*[np.empty(0, x.type.dtype) if isinstance(x, Variable) else x for x in arrays])


def _multi_dot(arrays: Any, *, out: Any = None) -> TensorVariable:
    _not_all("numpy.linalg.multi_dot", out=out)
    first, *others = arrays
    product = as_tensor_variable(first)
    for other in others:
        product = dense_dot(product, other)
    return product


def _vector_norm(
    x: TensorLike, /, *, axis: int | Sequence[int] | None = None, keepdims: bool = False, ord: Any = 2
) -> TensorVariable:
    return vector_norm(x, ord, axis, keepdims)


def _matrix_norm(x: TensorLike, /, *, keepdims: bool = False, ord: Any = "fro") -> TensorVariable:
    return matrix_norm(x, ord, (-2, -1), keepdims)


# -- the tables ---------------------------------------------------------------

_ROWS: tuple[tuple[str, str], ...] = (
    ("a/ axis -out keepdims where", "all any"),
    ("a/ axis -out keepdims initial where", "amax amin max min"),
    ("a/ axis dtype -out keepdims initial where", "sum prod"),
    ("a/ axis dtype -out keepdims where", "mean"),
    ("a/ axis dtype -out ddof keepdims where -mean correction:ddof", "var std"),
    ("a/ axis -out keepdims", "argmax argmin ptp nanargmax nanargmin"),
    ("a/ axis -out keepdims -initial -where", "nanmax nanmin"),
    ("a/ axis dtype -out keepdims -initial -where", "nansum nanprod"),
    ("a/ axis dtype -out keepdims -where", "nanmean"),
    ("a/ axis dtype -out ddof keepdims -where -mean correction:ddof", "nanvar nanstd"),
    ("a/ axis -out ~overwrite_input keepdims", "median nanmedian"),
    (
        "a/ q/ axis -out ~overwrite_input method keepdims -weights -interpolation",
        "percentile quantile nanpercentile nanquantile",
    ),
    ("a/ axis dtype -out", "cumsum cumprod"),
    ("a/ axis -dtype -out", "nancumsum nancumprod"),
    ("x/ axis dtype -out include_initial", "cumulative_sum cumulative_prod"),
    ("a/ axis weights returned keepdims", "average"),
    ("a/ axis keepdims", "count_nonzero"),
    ("a/ axis", "size squeeze"),
    ("a/", "argwhere flatnonzero ndim nonzero shape"),
    ("a/ b/", "inner kron vdot"),
    ("a/ b/ -out", "dot outer"),
    ("a/ b/ rtol atol equal_nan", "allclose isclose"),
    ("a1/ a2/ equal_nan", "array_equal"),
    ("a/ b/ axes", "tensordot"),
    ("a/ b/ axisa axisb axisc axis", "cross"),
    ("*operands -out ~optimize dtype -order=K ~casting", "einsum"),
    ("arr/ values/ axis", "append"),
    ("a/ kth/ axis ~kind -order", "partition argpartition"),
    ("a/ decimals -out", "round around"),
    ("ary/ indices_or_sections/ axis", "array_split"),
    ("ary/ indices_or_sections/", "hsplit vsplit dsplit"),
    ("x/ dtype/ ~copy ~device", "astype"),
    ("*arys", "atleast_2d"),
    ("x/ weights minlength", "bincount"),
    ("arrays/", "block"),
    ("*args ~subok", "broadcast_arrays"),
    ("array/ shape/ ~subok", "broadcast_to"),
    ("a/ choices/ -out mode", "choose"),
    ("tup/", "column_stack"),
    ("tup/ dtype ~casting", "hstack vstack"),
    ("tup/", "dstack"),
    ("arrays/ axis -out dtype ~casting", "concat concatenate"),
    ("condition/ a/ axis -out", "compress"),
    ("a/ v/ mode", "convolve correlate"),
    ("x/ y rowvar ~bias ~ddof -dtype", "corrcoef"),
    ("m/ y rowvar bias ddof fweights aweights -dtype", "cov"),
    ("arr/ obj/ axis", "delete"),
    ("v/ k", "diag diagflat"),
    ("a/ offset axis1 axis2", "diagonal"),
    ("a/ offset axis1 axis2 dtype -out", "trace"),
    ("a/ n axis prepend append", "diff"),
    ("x/ bins/ right", "digitize"),
    ("ary/ to_end to_begin", "ediff1d"),
    ("a/ axis/", "expand_dims"),
    ("condition/ arr/", "extract"),
    ("x/ -out", "fix isneginf isposinf"),
    ("m/ axis", "flip"),
    ("m/", "fliplr flipud"),
    ("start/ stop/ num endpoint dtype axis", "geomspace"),
    ("start/ stop/ num endpoint retstep dtype axis ~device", "linspace"),
    ("start/ stop/ num endpoint base dtype axis", "logspace"),
    ("f/ *varargs axis edge_order", "gradient"),
    ("a/ bins range -normed density weights", "histogram"),
    ("x/", "i0 sinc iscomplex isreal matrix_transpose unique_counts unique_inverse unique_values"),
    ("val/", "real imag"),
    ("arr/ obj/ values/ axis", "insert"),
    ("x/ xp/ fp/ left right period", "interp"),
    ("ar1/ ar2/ assume_unique -return_indices", "intersect1d"),
    ("ar1/ ar2/ assume_unique", "setdiff1d setxor1d"),
    ("ar1/ ar2/", "union1d"),
    ("element/ test_elements/ assume_unique invert ~kind", "isin"),
    ("*args", "ix_"),
    ("keys/ axis", "lexsort"),
    ("*xi ~copy sparse indexing", "meshgrid"),
    ("a/ source/ destination/", "moveaxis"),
    ("x/ -copy=True nan posinf neginf", "nan_to_num"),
    ("array/ pad_width/ mode **kwargs", "pad"),
    ("a/ axes", "permute_dims transpose"),
    ("x/ condlist/ funclist/ *args **kw", "piecewise"),
    ("p/ x/", "polyval"),
    ("a/ -order=C", "ravel"),
    ("multi_index/ dims/ mode order", "ravel_multi_index"),
    ("indices/ shape:dims/ order", "unravel_index"),
    ("a/ repeats/ axis", "repeat"),
    ("a/ shape|newshape/ -order=C ~copy", "reshape"),
    ("a/ shift/ axis", "roll"),
    ("a/ axis/ start", "rollaxis"),
    ("m/ k axes", "rot90"),
    ("a/ v/ side sorter", "searchsorted"),
    ("condlist/ choicelist/ default", "select"),
    ("a/ axis1/ axis2/", "swapaxes"),
    ("a/ indices/ axis -out mode", "take"),
    ("arr/ indices/ axis=-1", "take_along_axis"),
    ("A/ reps/", "tile"),
    ("y/ x dx axis", "trapezoid"),
    ("m/ k", "tril triu"),
    ("arr/ k", "tril_indices_from triu_indices_from"),
    ("ar/ return_index return_inverse return_counts axis -equal_nan=True ~sorted", "unique"),
    ("x/ axis", "unstack"),
    ("p/ discont axis period", "unwrap"),
    ("x/ N increasing", "vander"),
    ("x1/ x2/", "linalg.matmul=matmul linalg.outer=outer"),
    ("x1/ x2/ axis", "linalg.vecdot=vecdot linalg.cross=cross"),
    ("x1/ x2/ axes", "linalg.tensordot=tensordot"),
    ("x/", "linalg.matrix_transpose=matrix_transpose"),
    ("x/ offset axis1=-2 axis2=-1", "linalg.diagonal=diagonal"),
    ("x/ offset dtype axis1=-2 axis2=-1", "linalg.trace=trace"),
    ("a/ -upper", "linalg.cholesky"),
    ("a/", "linalg.det linalg.eig linalg.eigvals linalg.inv linalg.slogdet"),
    ("a/ UPLO", "linalg.eigh"),
    ("a/ -UPLO=L", "linalg.eigvalsh"),
    ("a/ b/ rcond", "linalg.lstsq"),
    ("a/ n/", "linalg.matrix_power"),
    ("A/ tol hermitian rtol", "linalg.matrix_rank"),
    ("a/ -rcond hermitian -rtol", "linalg.pinv"),
    ("a/ mode", "linalg.qr"),
    ("a/ b/", "linalg.solve"),
    ("a/ full_matrices compute_uv -hermitian", "linalg.svd"),
    ("x/", "linalg.svdvals"),
    ("x/ p", "linalg.cond"),
    ("a/ ind", "linalg.tensorinv"),
    ("a/ b/ axes", "linalg.tensorsolve"),
    (
        "a/ n axis norm -out",
        "fft.fft fft.ifft fft.hfft fft.ihfft fft.rfft=fft.rfft_complex fft.irfft=fft.irfft_complex",
    ),
    (
        "a/ s axes norm -out",
        "fft.fftn fft.ifftn fft.rfftn fft.irfftn fft.fft2 fft.ifft2 fft.rfft2 fft.irfft2",
    ),
    ("x/ axes", "fft.fftshift fft.ifftshift"),
    # names that NumPy has left behind
    ("y/ x dx axis", "trapz=trapezoid"),
    ("tup/ dtype ~casting", "row_stack=vstack"),
    ("a/ decimals -out", "round_=round"),
)

#: For each function of NumPy, under its path below ``numpy``, how its arguments are passed on, or what is called.
FUNCTIONS: dict[str, Passing | Callable[..., Any]] = {
    name: Passing(parameters, target)
    for parameters, entries in _ROWS
    for name, _, target in [entry.partition("=") for entry in entries.split()]
} | {
    "angle": _angle,
    "argsort": _sorting(argsort_of),
    "atleast_1d": _in_sequences,
    "atleast_3d": _atleast_3d,
    "can_cast": _can_cast,
    "clip": _clip,
    "common_type": _common_type,
    "copy": _copy,
    "empty_like": _filling_function("empty_like"),
    "full_like": _full_like,
    "histogram_bin_edges": _histogram_bin_edges,
    "iscomplexobj": _is_complex,
    "isrealobj": _is_real,
    "linalg.matrix_norm": _matrix_norm,
    "linalg.multi_dot": _multi_dot,
    "linalg.norm": norm,
    "linalg.vector_norm": _vector_norm,
    "ones_like": _filling_function("ones_like"),
    "result_type": _result_type,
    "sort": _sorting(sort_of),
    "split": _split,
    "stack": _stack,
    "where": _where,
    "zeros_like": _filling_function("zeros_like"),
}

#: Replacements of elementwise functions of NumPy whose names this package does not have.
UFUNCS: dict[str, Callable[..., Any]] = {"matmul": matrix_product}

_REDUCED = Passing("a/ axis dtype -out keepdims initial where")
_REDUCED_IN_ITS_DTYPE = Passing("a/ axis -dtype -out keepdims initial where")
_REDUCED_TO_TRUTH = Passing("a/ axis -dtype -out keepdims -initial where")

#: The ``reduce`` of elementwise functions of NumPy, ...
REDUCTIONS = {
    "add": ("sum", _REDUCED),
    "multiply": ("prod", _REDUCED),
    "maximum": ("max", _REDUCED_IN_ITS_DTYPE),
    "minimum": ("min", _REDUCED_IN_ITS_DTYPE),
    "logical_and": ("all", _REDUCED_TO_TRUTH),
    "logical_or": ("any", _REDUCED_TO_TRUTH),
}
#: ... and its ``accumulate``.
ACCUMULATIONS = {
    "add": ("cumsum", Passing("a/ axis dtype -out")),
    "multiply": ("cumprod", Passing("a/ axis dtype -out")),
}

_IN_PLACE = "A variable is no memory that could be changed: use x = aesara.tensor.{}."
_POLYNOMIAL = "Polynomials are evaluated by aesara.tensor.polyval."
_TEXT = "Use str, aesara.pprint or aesara.dprint to see the expression."
_VALUES = "Save values: results of a compiled function, or get_value() of shared variables."

#: Replacements of functions that are not supported.
ADVICE = {
    "fill_diagonal": _IN_PLACE.format("fill_diagonal(x, value)"),
    "put_along_axis": _IN_PLACE.format("put_along_axis(x, indices, values, axis)"),
    "copyto": _IN_PLACE.format("where(condition, values, x)"),
    "place": _IN_PLACE.format("set_subtensor(x[mask], values)"),
    "put": _IN_PLACE.format("set_subtensor(x.flatten()[indices], values).reshape(x.shape)"),
    "putmask": _IN_PLACE.format("where(mask, values, x)"),
    "apply_along_axis": "Use aesara.tensor.vectorize, or aesara.scan over a transposed tensor.",
    "apply_over_axes": "Call the function of aesara.tensor with a tuple of axes and keepdims=True.",
    "array2string": _TEXT,
    "array_repr": _TEXT,
    "array_str": _TEXT,
    "array_equiv": "Use aesara.tensor.all(aesara.tensor.eq(x, y)).",
    "diag_indices_from": "Use aesara.tensor.diag_indices(n).",
    "in1d": "Use aesara.tensor.isin.",
    "unique_all": "Use aesara.tensor.unique with return_index, return_inverse and return_counts.",
    "save": _VALUES,
    "savetxt": _VALUES,
    "savez": _VALUES,
    "savez_compressed": _VALUES,
    "poly": _POLYNOMIAL,
    "polyadd": _POLYNOMIAL,
    "polyder": _POLYNOMIAL,
    "polydiv": _POLYNOMIAL,
    "polyfit": _POLYNOMIAL,
    "polyint": _POLYNOMIAL,
    "polymul": _POLYNOMIAL,
    "polysub": _POLYNOMIAL,
    "roots": _POLYNOMIAL,
}
