"""Functions of NumPy called with variables: all of them, each builds what computes the same or says what to use."""

import types

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.tensor.numpy_api.functions import ADVICE, FUNCTIONS, UFUNCS
from aesara.tensor.numpy_api.protocol import _look_up
from aesara.tensor.type import TensorType
from aesara.tensor.var import TensorVariable

RNG = np.random.default_rng(11)
DATA = {
    "X": RNG.normal(size=(3, 4)),
    "Y": RNG.normal(size=(3, 4)),
    "V": RNG.normal(size=4),
    "W": RNG.normal(size=4),
    "S": RNG.normal(size=(4, 4)),
    "T": RNG.normal(size=(2, 3, 4)),
    "P": RNG.random((3, 4)) / 2 + 0.25,  # between 0.25 and 0.75
    "I": RNG.integers(1, 6, (3, 4)),
    "J": RNG.integers(1, 6, (3, 4)),
    "K": RNG.integers(0, 4, 4),
    "B": RNG.random((3, 4)) < 0.5,
    "C": RNG.random((3, 4)) < 0.5,
    "Z": RNG.normal(size=(3, 4)) + 1j * RNG.normal(size=(3, 4)),
    "N": np.where(RNG.random((3, 4)) < 0.3, np.nan, RNG.normal(size=(3, 4))),
    "A": np.sort(RNG.normal(size=5)),
}
MODULES = {"": np, "linalg.": np.linalg, "fft.": np.fft}


def public(kind):
    """The functions of NumPy's public modules for which `kind` is true, by their path below numpy."""
    for prefix, module in MODULES.items():
        for name in sorted(dir(module)):
            if name.startswith("_") or name in ("test",):
                continue
            found = getattr(module, name)
            if callable(found) and not isinstance(found, type | types.ModuleType) and kind(found):
                yield prefix + name, found


def is_dispatched(function):
    return hasattr(function, "_implementation")


DISPATCHED = dict(public(is_dispatched))
ALL_UFUNCS = dict(public(lambda f: isinstance(f, np.ufunc)))
OTHERS = dict(public(lambda f: not is_dispatched(f) and not isinstance(f, np.ufunc)))

# -- one or more calls of each function: f is the function, d has the data as arrays or as variables ----------


def each(names, *calls):
    return dict.fromkeys(names.split(), calls)


CALLS = {
    **each(
        "all any amax amin max min",
        lambda f, d: f(d.X),
        lambda f, d: f(d.X, 0),
        lambda f, d: f(d.X, axis=(0, 1), keepdims=True),
    ),
    **each(
        "sum prod nansum nanprod",
        lambda f, d: f(d.N),
        lambda f, d: f(d.I, 1),
        lambda f, d: f(d.X, 0, np.float32),
        lambda f, d: f(d.X, axis=1, out=None, keepdims=True),
    ),
    **each("nanmax nanmin nanmedian", lambda f, d: f(d.N), lambda f, d: f(d.N, axis=1)),
    **each("nanargmax nanargmin", lambda f, d: f(d.N), lambda f, d: f(d.N, axis=1)),
    **each("argmax argmin ptp", lambda f, d: f(d.X), lambda f, d: f(d.X, 1), lambda f, d: f(d.X, 0, keepdims=True)),
    **each("mean nanmean", lambda f, d: f(d.N), lambda f, d: f(d.X, 0, "float32"), lambda f, d: f(d.I, axis=-1)),
    **each(
        "var std nanvar nanstd",
        lambda f, d: f(d.X),
        lambda f, d: f(d.X, 1, None, None, 1),
        lambda f, d: f(d.N, axis=0, ddof=1, keepdims=True),
    ),
    **each("median", lambda f, d: f(d.X), lambda f, d: f(d.X, 1, keepdims=True)),
    **each(
        "quantile nanquantile",
        lambda f, d: f(d.X, 0.3),
        lambda f, d: f(d.X, [0.25, 0.5], 1),
        lambda f, d: f(d.X, 0.4, axis=0, method="nearest"),
    ),
    **each("percentile nanpercentile", lambda f, d: f(d.X, 30), lambda f, d: f(d.X, 30, 1, keepdims=True)),
    **each("cumsum cumprod", lambda f, d: f(d.X), lambda f, d: f(d.X, 1), lambda f, d: f(d.I, 0, "float64")),
    **each("nancumsum nancumprod", lambda f, d: f(d.N), lambda f, d: f(d.N, axis=1)),
    **each("cumulative_sum cumulative_prod", lambda f, d: f(d.X, axis=1, include_initial=True)),
    "average": (lambda f, d: f(d.X), lambda f, d: f(d.X, 1, d.V), lambda f, d: f(d.X, weights=d.P)),
    "count_nonzero": (lambda f, d: f(d.B), lambda f, d: f(d.B, axis=0, keepdims=True)),
    "size": (lambda f, d: f(d.X), lambda f, d: f(d.X, 1)),
    "squeeze": (lambda f, d: f(f_expand(d.X)), lambda f, d: f(f_expand(d.X), axis=2)),
    **each("argwhere flatnonzero nonzero", lambda f, d: f(d.B)),
    "ndim": (lambda f, d: f(d.X),),
    "shape": (lambda f, d: list(f(d.X)),),
    "inner": (lambda f, d: f(d.X, d.Y), lambda f, d: f(d.V, d.W), lambda f, d: f(2.0, d.V)),
    "vdot": (lambda f, d: f(d.Z, d.Z), lambda f, d: f(d.V, d.W)),
    "kron": (lambda f, d: f(d.X, d.Y), lambda f, d: f(d.V, d.S)),
    "dot": (
        lambda f, d: f(d.X, d.S),
        lambda f, d: f(d.X, d.V),
        lambda f, d: f(d.V, d.W),
        lambda f, d: f(d.T, d.S),
        lambda f, d: f(3.0, d.X),
        lambda f, d: f(a=d.X, b=DATA["S"]),
    ),
    "outer": (lambda f, d: f(d.V, d.W), lambda f, d: f(d.X, d.V)),
    **each("allclose isclose", lambda f, d: f(d.X, d.Y), lambda f, d: f(d.X, d.X + 1e-9, rtol=1e-3, equal_nan=True)),
    "array_equal": (lambda f, d: f(d.X, d.Y), lambda f, d: f(d.N, d.N, equal_nan=True)),
    "tensordot": (lambda f, d: f(d.X, d.Y), lambda f, d: f(d.T, d.X, axes=([1, 2], [0, 1]))),
    "cross": (lambda f, d: f(d.S[:, :3], d.X.T), lambda f, d: f(d.X, d.Y, axis=0)),
    "einsum": (
        lambda f, d: f("ij,jk->ik", d.X, d.S),
        lambda f, d: f("ii", d.S),
        lambda f, d: f("...j,j", d.T, d.V, optimize=True),
    ),
    "append": (lambda f, d: f(d.X, d.V), lambda f, d: f(d.X, d.Y, 1)),
    "partition": (lambda f, d: f(d.X, 3)[:, 3], lambda f, d: f(d.X, kth=2, axis=0)[2]),
    "argpartition": (lambda f, d: np.size(f(d.X, 3)),),
    **each("round around round_", lambda f, d: f(d.X), lambda f, d: f(d.X, 2), lambda f, d: f(d.X, decimals=1)),
    "array_split": (lambda f, d: f(d.A, 3), lambda f, d: f(d.X, [1, 2], axis=1)),
    "split": (lambda f, d: f(d.X, 3), lambda f, d: f(d.X, [1, 2], 1), lambda f, d: f(d.X, 2, axis=1)),
    **each("hsplit", lambda f, d: f(d.X, 2)),
    **each("vsplit", lambda f, d: f(d.X, 3)),
    **each("dsplit", lambda f, d: f(d.T, 2)),
    "astype": (lambda f, d: f(d.X, np.float32), lambda f, d: f(d.X, "int64", copy=False)),
    **each("atleast_2d atleast_3d", lambda f, d: f(d.V), lambda f, d: list(f(d.V, 2.0))),
    "bincount": (lambda f, d: f(d.K), lambda f, d: f(d.K, d.V), lambda f, d: f(d.K, minlength=9)),
    "block": (lambda f, d: f([[d.X, d.Y], [d.Y, d.X]]),),
    "broadcast_arrays": (lambda f, d: list(f(d.X, 2.0)),),
    "broadcast_to": (lambda f, d: f(d.V, (3, 4)), lambda f, d: f(d.X, shape=(2, 3, 4))),
    "choose": (lambda f, d: f(d.K % 2, [d.V, d.W]), lambda f, d: f(d.K, [d.V, d.W], mode="clip")),
    "column_stack": (lambda f, d: f([d.V, d.W]),),
    **each("hstack vstack dstack row_stack", lambda f, d: f([d.X, d.Y]), lambda f, d: f((d.V, d.W))),
    **each(
        "concat concatenate",
        lambda f, d: f([d.X, d.Y]),
        lambda f, d: f((d.X, DATA["Y"]), 1),
        lambda f, d: f([d.X, d.Y], axis=None),
        lambda f, d: f([d.X, d.Y], axis=-1, dtype="float32"),
    ),
    "compress": (lambda f, d: f([True, False, True], d.X, 0), lambda f, d: f(d.B[0], d.X, axis=1)),
    **each("convolve correlate", lambda f, d: f(d.A, d.V), lambda f, d: f(d.A, d.V, mode="same")),
    "corrcoef": (lambda f, d: f(d.X), lambda f, d: f(d.X, d.Y, rowvar=False)),
    "cov": (lambda f, d: f(d.X), lambda f, d: f(d.X, d.Y, bias=True), lambda f, d: f(d.X, ddof=0)),
    "delete": (lambda f, d: f(d.X, 1), lambda f, d: f(d.X, [0, 2], axis=1)),
    **each("diag diagflat", lambda f, d: f(d.V), lambda f, d: f(d.V, 1), lambda f, d: f(d.V, k=-1)),
    "diagonal": (lambda f, d: f(d.X), lambda f, d: f(d.T, 1, 1, 2)),
    "trace": (lambda f, d: f(d.S), lambda f, d: f(d.T, 1, 0, 2), lambda f, d: f(d.I, dtype="float64")),
    "diff": (lambda f, d: f(d.X), lambda f, d: f(d.X, 2, 0), lambda f, d: f(d.X, prepend=0.0)),
    "digitize": (lambda f, d: f(d.X, d.A), lambda f, d: f(d.X, np.array([-1.0, 0.0, 1.0]), right=True)),
    "ediff1d": (lambda f, d: f(d.A), lambda f, d: f(d.A, 1.0, 2.0)),
    "expand_dims": (lambda f, d: f(d.X, 1), lambda f, d: f(d.X, axis=(0, 2))),
    "extract": (lambda f, d: f(d.B, d.X),),
    **each("fix sinc i0 real imag isreal iscomplex", lambda f, d: f(d.X)),
    **each("isposinf isneginf", lambda f, d: f(d.X / 0.0)),
    "angle": (lambda f, d: f(d.Z), lambda f, d: f(d.Z, True)),
    "flip": (lambda f, d: f(d.X), lambda f, d: f(d.X, 1)),
    **each("fliplr flipud", lambda f, d: f(d.X)),
    "linspace": (lambda f, d: f(d.V[0], d.V[1], 5), lambda f, d: f(0.0, d.V, num=4, endpoint=False, axis=1)),
    "logspace": (lambda f, d: f(d.V[0], d.V[1], 5), lambda f, d: f(0.0, d.V[0], num=4, base=2.0)),
    "geomspace": (lambda f, d: f(d.P[0, 0], 8.0, 5),),
    "gradient": (lambda f, d: f(d.A), lambda f, d: list(f(d.X)), lambda f, d: f(d.X, 2.0, axis=1, edge_order=2)),
    "histogram": (lambda f, d: f(d.V, 4), lambda f, d: f(d.V, bins=3, range=(-2.0, 2.0), density=True)),
    "histogram_bin_edges": (lambda f, d: f(d.V, 4),),
    **each("matrix_transpose", lambda f, d: f(d.T)),
    "unique_counts": (lambda f, d: list(f(d.K)),),
    "unique_inverse": (lambda f, d: list(f(d.K)),),
    "unique_values": (lambda f, d: np.sort(f(d.K)),),
    "insert": (lambda f, d: f(d.X, 1, 5.0), lambda f, d: f(d.X, 1, d.X[:, 0], axis=1)),
    "interp": (lambda f, d: f(d.X, d.A, d.A**2), lambda f, d: f(d.X, d.A, d.A**2, left=0.0, right=1.0)),
    "intersect1d": (lambda f, d: f(d.K, d.I),),
    "setdiff1d": (lambda f, d: f(d.I, d.K),),
    "setxor1d": (lambda f, d: f(d.I, d.K),),
    "union1d": (lambda f, d: f(d.I, d.K),),
    **each("isin", lambda f, d: f(d.I, [1, 2]), lambda f, d: f(d.I, d.K, invert=True)),
    "ix_": (lambda f, d: list(f(d.K, [0, 1])),),
    "lexsort": (lambda f, d: f((d.V, d.K)),),
    "meshgrid": (lambda f, d: list(f(d.V, d.A)), lambda f, d: list(f(d.V, d.A, indexing="ij", sparse=True))),
    "moveaxis": (lambda f, d: f(d.T, 0, -1),),
    "nan_to_num": (lambda f, d: f(d.N), lambda f, d: f(d.N, nan=3.0)),
    "pad": (lambda f, d: f(d.X, 1), lambda f, d: f(d.X, ((1, 2), (0, 1)), constant_values=2.0)),
    **each("transpose permute_dims", lambda f, d: f(d.T), lambda f, d: f(d.T, (1, 0, 2))),
    "piecewise": (lambda f, d: f(d.X, [d.X < 0, d.X >= 0], [-1.0, lambda x: 2 * x]),),
    "polyval": (lambda f, d: f(d.V, d.X), lambda f, d: f([1.0, 2.0], d.X)),
    "ravel": (lambda f, d: f(d.X), lambda f, d: f(d.X, order="C")),
    "ravel_multi_index": (lambda f, d: f((d.K, d.K), (4, 5)),),
    "unravel_index": (lambda f, d: list(f(d.K, (2, 3))), lambda f, d: list(f(d.K, shape=(2, 3), order="F"))),
    "repeat": (lambda f, d: f(d.X, 2), lambda f, d: f(d.X, 3, axis=1), lambda f, d: f(d.V, d.K)),
    "reshape": (lambda f, d: f(d.X, (2, 6)), lambda f, d: f(d.X, -1), lambda f, d: f(d.X, (4, 3), order="C")),
    "roll": (lambda f, d: f(d.X, 2), lambda f, d: f(d.X, (1, 2), axis=(0, 1))),
    "rollaxis": (lambda f, d: f(d.T, 2), lambda f, d: f(d.T, 1, start=3)),
    "rot90": (lambda f, d: f(d.X), lambda f, d: f(d.T, 3, axes=(0, 2))),
    "searchsorted": (lambda f, d: f(d.A, d.X), lambda f, d: f(d.A, 0.5, side="right")),
    "select": (lambda f, d: f([d.X < -0.5, d.X > 0.5], [d.X, d.Y], default=3.0),),
    "swapaxes": (lambda f, d: f(d.T, 0, 2),),
    "take": (lambda f, d: f(d.X, [1, 5]), lambda f, d: f(d.X, d.K % 3, axis=0), lambda f, d: f(d.X, 9, mode="clip")),
    "take_along_axis": (lambda f, d: f(d.X, d.I % 4, axis=1), lambda f, d: f(d.X, d.I % 3, axis=0)),
    "tile": (lambda f, d: f(d.X, 2), lambda f, d: f(d.X, (2, 1, 3))),
    **each("trapezoid trapz", lambda f, d: f(d.X), lambda f, d: f(d.X, dx=0.5, axis=0), lambda f, d: f(d.V, d.W)),
    **each("tril triu", lambda f, d: f(d.S), lambda f, d: f(d.S, k=1)),
    **each("tril_indices_from triu_indices_from", lambda f, d: list(f(d.S)), lambda f, d: list(f(d.S, k=1))),
    "unique": (lambda f, d: f(d.K), lambda f, d: list(f(d.K, return_index=True, return_counts=True))),
    "unstack": (lambda f, d: list(f(d.X)), lambda f, d: list(f(d.X, axis=1))),
    "unwrap": (lambda f, d: f(d.V * 5), lambda f, d: f(d.X * 5, axis=0, period=3.0)),
    "vander": (lambda f, d: f(d.V), lambda f, d: f(d.V, 3, increasing=True)),
    "argsort": (lambda f, d: f(d.X), lambda f, d: f(d.K, kind="stable"), lambda f, d: f(d.X, axis=0)),
    "sort": (lambda f, d: f(d.X), lambda f, d: f(d.X, axis=None), lambda f, d: f(d.X, 0)),
    "can_cast": (lambda f, d: f(d.X.dtype, "float32"),),
    "clip": (
        lambda f, d: f(d.X, -0.5, 0.5),
        lambda f, d: f(d.X, a_min=None, a_max=d.V),
        lambda f, d: f(d.X, 0.0, None),
    ),
    "common_type": (lambda f, d: f(d.X, d.Z).__name__ == "complex128",),
    "copy": (lambda f, d: f(d.X),),
    **each(
        "zeros_like ones_like",
        lambda f, d: f(d.X),
        lambda f, d: f(d.X, "int32"),
        lambda f, d: f(d.X, shape=(2, 2)),
    ),
    "empty_like": (lambda f, d: f(d.X) * 0, lambda f, d: f(d.X, "int32") * 0),
    "full_like": (lambda f, d: f(d.X, 3.0), lambda f, d: f(d.I, 2.5), lambda f, d: f(d.X, d.V)),
    **each("iscomplexobj isrealobj", lambda f, d: f(d.X), lambda f, d: f(d.Z)),
    "result_type": (lambda f, d: f(d.X, np.float32) == np.dtype("float64"), lambda f, d: str(f(d.K, "float32"))),
    "stack": (lambda f, d: f([d.X, d.Y]), lambda f, d: f((d.X, d.Y), axis=-1), lambda f, d: f(d.X, 1)),
    "where": (lambda f, d: f(d.B, d.X, d.Y), lambda f, d: f(d.X > 0, 1.0, 0.0), lambda f, d: list(f(d.B))),
    "linalg.norm": (
        lambda f, d: f(d.X),
        lambda f, d: f(d.V),
        lambda f, d: f(d.Z, axis=1),
        lambda f, d: f(d.I, 1),
        lambda f, d: f(d.X, "fro"),
        lambda f, d: f(d.X, np.inf, keepdims=True),
        lambda f, d: f(d.X, -1),
        lambda f, d: f(d.V, 3),
        lambda f, d: f(d.V, 0),
        lambda f, d: f(d.T, -np.inf, axis=(0, 2)),
    ),
    "linalg.vector_norm": (lambda f, d: f(d.X), lambda f, d: f(d.X, axis=1, ord=1, keepdims=True)),
    "linalg.matrix_norm": (lambda f, d: f(d.T), lambda f, d: f(d.T, ord=1)),
    "linalg.multi_dot": (lambda f, d: f([d.X, d.S, d.V]),),
    "linalg.matmul": (lambda f, d: f(d.T, d.S),),
    "linalg.outer": (lambda f, d: f(d.V, d.W),),
    "linalg.vecdot": (lambda f, d: f(d.X, d.Y), lambda f, d: f(d.X, d.Y, axis=0)),
    "linalg.cross": (lambda f, d: f(d.X, d.Y, axis=0),),
    "linalg.tensordot": (lambda f, d: f(d.X, d.Y, axes=2),),
    "linalg.matrix_transpose": (lambda f, d: f(d.T),),
    "linalg.diagonal": (lambda f, d: f(d.T), lambda f, d: f(d.T, offset=1)),
    "linalg.trace": (lambda f, d: f(d.T),),
    **each("linalg.cholesky", lambda f, d: f(d.S.T @ d.S + 4 * np.eye(4)), lambda f, d: f(np.eye(4) + 0 * d.S)),
    **each("linalg.det linalg.inv linalg.slogdet", lambda f, d: f(d.S), lambda f, d: f(d.S[None] + np.eye(4))),
    # since 2.5 NumPy gives complex numbers always
    **each("linalg.eig linalg.eigvals", lambda f, d: [one.real for one in as_list(f(d.S + d.S.T))]),
    "linalg.eigh": (lambda f, d: f(d.S), lambda f, d: f(d.S, "U"), lambda f, d: f(d.S, UPLO="U")),
    **each("linalg.eigvalsh", lambda f, d: f(d.S), lambda f, d: f(d.S, UPLO="L")),
    "linalg.lstsq": (
        lambda f, d: f(d.X.T, d.V),
        lambda f, d: f(d.X, d.Y, rcond=None),
        lambda f, d: f(d.X, d.Y, 0.5),
    ),
    "linalg.matrix_power": (lambda f, d: f(d.S, 3), lambda f, d: f(d.S, -1), lambda f, d: f(d.S, 0)),
    "linalg.matrix_rank": (lambda f, d: f(d.X), lambda f, d: f(d.X, tol=2.0), lambda f, d: f(d.S + d.S.T, None, True)),
    "linalg.pinv": (lambda f, d: f(d.X), lambda f, d: f(d.S + d.S.T, hermitian=True)),
    "linalg.qr": (lambda f, d: f(d.X), lambda f, d: f(d.X, "r"), lambda f, d: f(d.X, mode="complete")),
    "linalg.solve": (lambda f, d: f(d.S, d.V), lambda f, d: f(d.S, d.X.T)),
    "linalg.svd": (lambda f, d: f(d.X), lambda f, d: f(d.X, False), lambda f, d: f(d.X, compute_uv=False)),
    "linalg.svdvals": (lambda f, d: f(d.X),),
    "linalg.cond": (lambda f, d: f(d.S), lambda f, d: f(d.S, 1)),
    "linalg.tensorinv": (lambda f, d: f((d.S + 9 * np.eye(4)).reshape((2, 2, 2, 2))), lambda f, d: f(d.S, ind=1)),
    "linalg.tensorsolve": (lambda f, d: f(d.S, d.V),),
    **each("fft.fft fft.ifft fft.hfft", lambda f, d: f(d.Z), lambda f, d: f(d.X, 5, 0, "ortho")),
    **each("fft.rfft fft.ihfft", lambda f, d: f(d.X), lambda f, d: f(d.X, n=3, norm="forward")),
    **each("fft.irfft", lambda f, d: f(d.Z), lambda f, d: f(d.Z, n=5, axis=0)),
    **each("fft.fftn fft.ifftn fft.irfftn", lambda f, d: f(d.Z), lambda f, d: f(d.T, (2, 3), (0, 1))),
    **each("fft.rfftn", lambda f, d: f(d.T), lambda f, d: f(d.T, axes=(0, 1))),
    **each("fft.fft2 fft.ifft2 fft.irfft2", lambda f, d: f(d.Z)),
    **each("fft.rfft2", lambda f, d: f(d.T)),
    **each("fft.fftshift fft.ifftshift", lambda f, d: f(d.X), lambda f, d: f(d.X, axes=1)),
}


def f_expand(x):
    return x[None, :, None]


BITS = lambda f, d: f(d.I, d.J), lambda f, d: f(d.B, d.C)
UFUNC_CALLS = {
    **each("arccosh", lambda f, d: f(d.I)),
    **each("arcsin arccos arctanh log log2 log10 sqrt", lambda f, d: f(d.P)),
    **each("bitwise_and bitwise_or bitwise_xor", *BITS),
    **each("left_shift right_shift", lambda f, d: f(d.I, d.J)),
    **each("invert", lambda f, d: f(d.I), lambda f, d: f(d.B)),
    **each("conjugate", lambda f, d: f(d.Z)),
    **each("ldexp", lambda f, d: f(d.X, d.I)),
    **each("matmul", lambda f, d: f(d.X, d.S), lambda f, d: f(d.T, d.V), lambda f, d: f(DATA["X"], d.V)),
    **each("matvec", lambda f, d: f(d.T, d.V)),
    **each("vecmat", lambda f, d: f(d.V, d.S)),
    **each("vecdot", lambda f, d: f(d.X, d.V), lambda f, d: f(d.X, d.Y, axis=0)),
    **each("power float_power", lambda f, d: f(d.P, d.X)),
}


class Data:
    def __init__(self, values):
        self.__dict__.update(values)


def as_list(value):
    return list(value) if isinstance(value, list | tuple) else [value]


def computed(result, inputs, mode):
    """The values of what a call returned, of which some may be no variables."""
    outputs = [one for one in result if isinstance(one, TensorVariable)]
    values = iter(
        aesara.function(list(inputs.values()), outputs, mode=mode, on_unused_input="ignore")(
            *[DATA[name] for name in inputs]
        )
    )
    return [next(values) if isinstance(one, TensorVariable) else one for one in result]


def check(function, call, native):
    with np.errstate(all="ignore"):
        wanted = as_list(call(function, Data(DATA)))
    inputs = {name: TensorType(value.dtype.name, value.shape)(name) for name, value in DATA.items()}
    result = as_list(call(function, Data(inputs)))
    assert len(result) == len(wanted)
    for mode in ("FAST_COMPILE", "FAST_RUN")[: 1 + native]:
        for got, want, variable in zip(computed(result, inputs, mode), wanted, result):
            assert np.asarray(got).dtype != object
            if isinstance(variable, TensorVariable):
                assert np.shape(got) == np.shape(want)
                assert got.dtype.kind == np.asarray(want).dtype.kind
            single = "float32" in (str(np.asarray(got).dtype), str(np.asarray(want).dtype))
            if np.asarray(want).dtype.kind in "biufc":
                np.testing.assert_allclose(got, want, rtol=2e-6 if single else 1e-12, atol=1e-12)
            else:
                assert got == want


def test_defaults_of_newer_versions():
    """An axis that NumPy 2 has by default, and this package another one."""
    x, i = at.dmatrix("x"), at.lmatrix("i")
    taken = x.__array_function__(np.take_along_axis, (TensorVariable,), (x, i), {})
    positions = np.argsort(DATA["X"], axis=-1)
    np.testing.assert_array_equal(taken.eval({x: DATA["X"], i: positions}), np.sort(DATA["X"], axis=-1))


#: What answers with objects, or numbers.
NO_EXPRESSIONS = {"atleast_1d"}


def names_with_rows():
    return sorted(name for name in DISPATCHED if name in FUNCTIONS and name not in NO_EXPRESSIONS)


@pytest.mark.parametrize("name", names_with_rows())
def test_functions_that_build_expressions(name):
    for k, call in enumerate(CALLS[name]):
        check(DISPATCHED[name], call, native=k == 0 and len(name) % 4 == 0)


@pytest.mark.parametrize("name", sorted(set(DISPATCHED) - set(FUNCTIONS)))
def test_functions_that_do_not(name):
    x = at.dmatrix("x")
    # Called as NumPy would call it, whatever arguments the function needs to get there.
    with pytest.raises(TypeError, match=r"has no value yet\. .*(aesara|Use|Multiply|Save)"):
        x.__array_function__(DISPATCHED[name], (TensorVariable,), (x, x), {})


def test_every_namesake_has_a_row():
    for name in DISPATCHED:
        here = _look_up(name)
        if here is not None:
            assert name in FUNCTIONS or name in ADVICE, f"numpy.{name} has a namesake: give it a row"
    assert not set(FUNCTIONS) & set(ADVICE)
    assert set(CALLS) == set(FUNCTIONS) - NO_EXPRESSIONS


def test_axes_in_a_range():
    x = at.dtensor3("x")
    data = np.arange(24.0).reshape(2, 3, 4)
    np.testing.assert_array_equal(x.sum(axis=range(1, 3)).eval({x: data}), data.sum(axis=(1, 2)))


def test_variables_in_containers_are_counted():
    """As programs do that take a variable or several, and a size with variables in it."""
    n, v = at.lscalar("n"), at.dvector("v")
    assert np.ndim((n, 3)) == 1 and np.shape([(n, 3), (2, n)]) == (2, 2) and np.size((n, n, n)) == 3
    for one in (n, v):
        (found,) = np.atleast_1d(one)
        assert found is one
    first, second = np.atleast_1d(n, 2.0)
    assert first[0] is n and second.tolist() == [2.0]
    for several in ((n, at.constant(3)), [v, v], (n, 3)):
        assert all(found is one for found, one in zip(np.atleast_1d(several), several, strict=True))
    for refused in (lambda: np.array([n, 2]), lambda: np.asarray(n), lambda: np.sum([n, n])):
        with pytest.raises(TypeError, match="NumPy needs an array"):
            refused()


def ufunc_calls(name, ufunc):
    if ufunc.__name__ in UFUNC_CALLS:
        return UFUNC_CALLS[ufunc.__name__]
    return ((lambda f, d: f(d.X)) if ufunc.nin == 1 else (lambda f, d: f(d.X, d.Y)),)


@pytest.mark.parametrize("name", sorted(ALL_UFUNCS))
def test_elementwise_functions(name):
    ufunc = ALL_UFUNCS[name]
    calls = ufunc_calls(name, ufunc)
    if ufunc.__name__ in UFUNCS or _look_up(ufunc.__name__) is not None:
        for k, call in enumerate(calls):
            check(ufunc, call, native=k == 0 and len(name) % 4 == 0)
    else:
        with pytest.raises(TypeError, match="has no counterpart here.*aesara.tensor"):
            calls[0](ufunc, Data({name: at.as_tensor(value).copy() for name, value in DATA.items()}))


def test_how_many_take_part():
    """So that a change of NumPy or of the table that leaves functions out is seen."""
    assert len([name for name in DISPATCHED if name in FUNCTIONS]) >= 150
    assert len([f for f in ALL_UFUNCS.values() if _look_up(f.__name__) is not None]) >= 80


@pytest.mark.parametrize(
    "call",
    [
        lambda f, d: np.add.reduce(d.X),
        lambda f, d: np.add.reduce(d.X, axis=None),
        lambda f, d: np.multiply.reduce(d.X, axis=(0, -1), keepdims=True),
        lambda f, d: np.maximum.reduce(d.X, 1),
        lambda f, d: np.minimum.reduce(d.X, axis=1),
        lambda f, d: np.logical_and.reduce(d.B),
        lambda f, d: np.logical_or.reduce(d.B, axis=1),
        lambda f, d: np.add.accumulate(d.X),
        lambda f, d: np.multiply.accumulate(d.X, axis=1),
        lambda f, d: np.multiply.outer(d.V, d.X),
        lambda f, d: np.subtract.outer(DATA["V"], d.W),
        lambda f, d: np.add(d.I, d.J, dtype="float64"),
        lambda f, d: np.divide(d.I, d.J, dtype=np.float32),
        lambda f, d: np.add(d.X, 1, where=True, out=None, casting="same_kind", order="K", subok=True),
        lambda f, d: list(np.divmod(d.I, d.J)),
    ],
)
def test_methods_and_keywords_of_elementwise_functions(call):
    check(None, call, native=True)


#: what NumPy 1 says itself of parameters that it does not have
NOT_THERE = "|got an unexpected keyword argument"


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda x: np.add(x, 1, where=x > 0), "aesara.tensor.where"),
        (lambda x: np.add(x, 1, out=np.ones(3)), "`out` cannot hold"),
        (lambda x: np.sin(x, np.ones(3)), "`out` cannot hold"),
        (lambda x: np.add(np.ones(3), 1, out=x), "`out` cannot hold"),
        (lambda x: np.add(x, 1, dtype="int64"), "does not convert to int64"),
        (lambda x: np.sin(x, dtype="int64"), "does not compute with numbers of dtype int64"),
        (lambda x: np.add(x, 1, signature="dd->d"), "`signature`"),
        (lambda x: np.add.at(np.ones(3), [0], x), "inc_subtensor"),
        (lambda x: np.add.reduceat(x, [0]), "reductions and scan"),
        (lambda x: np.hypot.reduce(x), "reductions and scan"),
        (lambda x: np.add.reduce(x, out=np.ones(3)), "`out` is not supported"),
        (lambda x: np.frompyfunc(lambda v: v, 1, 1)(x), "none of NumPy's"),
        (lambda x: np.sum(x, out=np.ones(())), "`out` is not supported"),
        (lambda x: np.clip(x, 0, 1, out=np.ones(3)), "`out` is not supported"),
        (lambda x: np.reshape(x, (3, 1), order="F"), "`order` is not supported.*aesara.tensor.reshape"),
        (lambda x: np.nan_to_num(x, copy=False), "`copy` is not supported"),
        (lambda x: np.unique(x, equal_nan=False), "`equal_nan` is not supported"),
        (lambda x: np.nanstd(x, where=x > 0), "`where` is not supported"),
        (lambda x: np.fill_diagonal(x, 1), "aesara.tensor.fill_diagonal"),
        (lambda x: np.copyto(x, 1), "aesara.tensor.where"),
        (lambda x: np.linalg.cholesky(at.dmatrix(), upper=True), "`upper` is not supported" + NOT_THERE),
        (lambda x: np.linalg.pinv(at.dmatrix(), rcond=0.1), "`rcond` is not supported"),
        (lambda x: np.fft.fft(x, out=np.ones(3)), "`out` is not supported" + NOT_THERE),
    ],
)
def test_what_is_refused(call, message):
    with pytest.raises((TypeError, NotImplementedError), match=message):
        call(at.dvector("x"))


def test_functions_of_scipy_are_pointed_to():
    special = pytest.importorskip("scipy.special")
    with pytest.raises(TypeError, match=r"Use aesara\.tensor\.erfcx"):
        special.erfcx(at.dvector("x"))


# -- no arrays of objects -------------------------------------------------------

STATE = ("set", "get", "show", "info", "printoptions", "seterr", "frompyfunc", "from")


@pytest.mark.parametrize("name", sorted(name for name in OTHERS if not name.startswith(STATE)))
def test_no_function_makes_an_array_of_objects(name):
    x = at.dvector("x")
    for args in [(x,), (x, x), ([x, x],), ([[x, 1.0], [2.0, x]],), (3, x), ((2,), x)]:
        try:
            result = OTHERS[name](*args)
        except Exception:
            continue  # whatever NumPy says of an argument that is no array
        assert not (isinstance(result, np.ndarray) and result.dtype == object), args


@pytest.mark.parametrize(
    "call",
    [
        lambda x: np.array(x),
        lambda x: np.array([x, x]),
        lambda x: np.array([[x, 1.0]]),
        lambda x: np.array(x, dtype=float),
        lambda x: np.ones(2).__setitem__(slice(None), [x, x]),
        lambda x: np.asarray(x),
        lambda x: np.asarray([x, 2.0]),
        lambda x: np.full(3, x),
        lambda x: np.sum([x, x]),
        lambda x: np.ones(3).dot(x),
        lambda x: np.vectorize(lambda v: v)(x),
        lambda x: np.random.default_rng(0).normal(x),
        lambda x: np.testing.assert_array_equal(x, x),
        lambda x: np.ma.masked_array(np.ones(3)) * x,
        lambda x: np.asarray(at.dscalar()),
        lambda x: np.asarray(aesara.shared(1.0)),
        lambda x: np.asarray(aesara.scalar.float64("s")),
        lambda x: np.ones(3) * aesara.scalar.float64("s"),
        lambda x: np.sin(aesara.scalar.float64("s")),
    ],
)
def test_arrays_are_refused(call):
    with pytest.raises(TypeError):
        call(at.dvector("x"))


def test_arrays_of_objects_hold_variables_if_they_are_asked_for():
    x, s = at.dvector("x"), at.dscalar("s")
    single = np.array(x, dtype=object)
    assert single.shape == () and single[()] is x
    pair = np.array([[x, 1.5], [s, None]], dtype=object)
    assert pair.shape == (2, 2) and pair[0, 0] is x and pair[1, 0] is s
    filled = np.empty(3, dtype=object)
    filled[:] = [s, x, s]
    filled[1:] = s
    assert filled[0] is s and filled[1] is s and filled[2] is s
    assert (filled + 1.0).sum().eval({s: 2.0}) == 9.0
    constants = np.array([at.constant([1.0, 2.0]), aesara.shared(np.zeros(2))], dtype=object)
    assert constants.shape == (2,)
    np.testing.assert_array_equal(constants.sum().eval(), [1.0, 2.0])


def test_the_message_says_what_to_use():
    with pytest.raises(TypeError, match=r"needs an array, but x of type .* as_tensor or stack .* \.eval\(\)"):
        np.array([at.dvector("x")])


# -- operators of arrays and numbers with variables -------------------------------


@pytest.mark.parametrize(
    "call",
    [
        lambda x: np.arange(3.0) + x,
        lambda x: x + np.arange(3.0),
        lambda x: np.float64(2) * x,
        lambda x: np.float32(2) ** x,
        lambda x: np.int64(7) // x,
        lambda x: np.int8(7) % x,
        lambda x: np.arange(3.0) < x,
        lambda x: np.float64(1.5) >= x,
        lambda x: np.array(3.0) - x,
        lambda x: np.ones((2, 3)) @ x,
        lambda x: np.array([True, False, True]) & (x > 1),
        lambda x: divmod(np.float64(7), x)[1],
        lambda x: np.arange(3.0)[::-1] / x,
        lambda x: np.equal(np.arange(3.0), x),
    ],
)
def test_operators_of_arrays(call):
    value = np.array([1.5, 2.0, -0.5])
    x = at.dvector("x")
    expression = call(x)
    assert isinstance(expression, TensorVariable)
    for mode in ("FAST_COMPILE", "FAST_RUN"):
        got = aesara.function([x], expression, mode=mode)(value)
        np.testing.assert_allclose(got, call(value), rtol=1e-15)
        assert got.dtype == call(value).dtype


def test_in_place_operators_rebind_the_name():
    x = at.dvector("x")
    total = np.zeros(3)
    kept = total
    total += x
    total *= 2
    assert isinstance(total, TensorVariable)
    np.testing.assert_array_equal(total.eval({x: [1.0, 2.0, 3.0]}), [2.0, 4.0, 6.0])
    np.testing.assert_array_equal(kept, 0)
    number = np.float64(1)
    number += x
    np.testing.assert_array_equal(number.eval({x: [1.0, 2.0, 3.0]}), [2.0, 3.0, 4.0])


@pytest.mark.parametrize("order", ["fro", 1, 2, np.inf, 3])
def test_norms_by_the_method(order):
    m, value = at.dmatrix("m"), np.array([[1.0, -2.0], [3.0, 4.0]])
    wanted = np.linalg.norm(value if order == "fro" else value.ravel(), order)
    np.testing.assert_allclose(m.norm(order).eval({m: value}), wanted, rtol=1e-15)
    np.testing.assert_allclose(
        m.norm(order, axis=(0, 1), keepdims=True).eval({m: value}), np.full((1, 1), wanted), rtol=1e-15
    )
    np.testing.assert_allclose(m.norm("nuc").eval({m: value}), np.linalg.norm(value, "nuc"), rtol=1e-14)
    with pytest.raises(ValueError, match="no matrix norm of order 'other'"):
        m.norm("other")


def test_variables_are_equal_to_themselves_only():
    x, y, a = at.dvector("x"), at.dvector("y"), np.ones(3)
    assert x == x and not x == y and x != y
    assert (x == a) is False and (x != a) is True and (x == np.float64(1)) is False
    assert hash(x) == object.__hash__(x)
    c = at.constant(1.0)
    assert c == c and not c == 1.0 and not c == np.float64(1.0)
