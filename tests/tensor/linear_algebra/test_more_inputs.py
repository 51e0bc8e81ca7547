"""Every kind of input to Schur forms, functions of matrices, equations, spectra, diagonals and Fourier transforms.

As `test_inputs.py`, for functions of several matrices. Results are those of NumPy and SciPy, also where inputs have NaN
and infinities; what is not determined (signs and phases of vectors) is multiplied away. An error is of the kind that
the table says, and tells the node and the line. Both linkers do the same.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
import scipy.linalg as sl

import aesara
import aesara.tensor as at
from aesara.tensor import fft, linalg
from aesara.tensor.discrete_fourier.transforms import (
    FourierTransform,
    InverseRealFourierTransform,
    RealFourierTransform,
)
from tests.tensor.linear_algebra.input_kinds import DTYPES, LINKERS, assert_tells_where, layouts

FILE = "test_more_inputs.py"
ERROR, VALUE = np.linalg.LinAlgError, ValueError

# Whole numbers, so that every dtype has them
GENERAL = np.array([[5, 1, 0, 2], [0, 6, 1, 1], [2, 0, 7, 1], [1, 2, 0, 8]], "float64")
DEFINITE = np.array([[6, 2, 1, 0], [2, 5, 1, 1], [1, 1, 4, 0], [0, 1, 0, 7]], "float64")
TRIANGLE = np.array([[1, 2, 0, 1], [0, 3, 1, 1], [0, 0, 5, 2], [0, 0, 0, 7]], "float64")
TALL = np.array([[1, 0], [2, 1], [0, 1], [1, 3]], "float64")
SMALL = np.array([[2, 1], [1, 3]], "float64")
VECTOR = np.array([1, 0, 2, 3], "float64")
BANDS = np.array([[0, 1, 2, 1], [6, 5, 7, 6], [1, 1, 2, 0]], "float64")
UPPER_BANDS, LOWER_BANDS = BANDS[:2], BANDS[1:]
BESIDE = np.array([1, 2, 1], "float64")


@dataclass(frozen=True)
class Row:
    """A function, and what there is to know of its inputs.

    Attributes
    ----------
    build, oracle
        The function of variables, and that of arrays.
    given
        Arguments that fit.
    short
        What happens if the argument of this number lacks its last row: an exception, or None for a result.
    not_finite
        The same for a NaN, or an infinity, at the end of an argument.
    singular
        The same for zeros in an argument.
    negative
        The same for an argument with the opposite sign, where that matters.
    nan
        The same for NaN alone, where that differs: "nan": all of the result is NaN.
    empty
        What happens if all arguments have no elements; "any shape": there is a result, which the oracle has none of.
    empties
        Such arguments, where they are not those with all lengths zero.
    hermitian
        Which arguments have to be.
    without
        Dtypes that it is not for: there is nothing of the kind, or the numbers of the dtype do not fit.
    rtol
        How near results are to the oracle's.
    """

    build: Callable[..., Any]
    oracle: Callable[..., Any]
    given: tuple[np.ndarray, ...]
    short: dict[int, Any]
    not_finite: dict[int, Any] = field(default_factory=dict)
    singular: dict[int, Any] = field(default_factory=dict)
    negative: dict[int, Any] = field(default_factory=dict)
    nan: dict[int, Any] = field(default_factory=dict)
    empty: Any = None
    empties: tuple[np.ndarray, ...] | None = None
    hermitian: tuple[int, ...] = ()
    without: tuple[str, ...] = ()
    rtol: float = 1e-11


COMPLEX, WHOLE = ("complex64", "complex128"), ("int8", "int64", "uint16", "bool")


def turned(x: Any) -> Any:
    return x.conj().T if isinstance(x, np.ndarray) else at.conj(x.T)


def of_schur(a: Any) -> list[Any]:
    """The matrix, the identity matrix, and zeros."""
    form, unitary = linalg.schur(a)
    return [at.dot(at.dot(unitary, form), turned(unitary)), at.dot(turned(unitary), unitary), at.tril(form, -2)]


def of_complex_schur(a: Any) -> list[Any]:
    form, unitary = linalg.schur(a, output="complex")
    return [at.dot(at.dot(unitary, form), turned(unitary)), at.dot(turned(unitary), unitary), at.tril(form, -1)]


def of_qz(a: Any, b: Any) -> list[Any]:
    first, second, left, right = linalg.qz(a, b)
    whole = [at.dot(at.dot(left, x), turned(right)) for x in (first, second)]
    return [*whole, at.dot(turned(left), left), at.dot(turned(right), right), at.tril(second, -1)]


def identity(a: np.ndarray) -> np.ndarray:
    return np.eye(len(a))


def expected_of_schur(a: np.ndarray) -> list[np.ndarray]:
    return [a, identity(a), np.zeros(a.shape)]


def dense(bands: np.ndarray, upper: int) -> np.ndarray:
    """The matrix that has these diagonals, of which the first is so far above the main one."""
    rows, n = bands.shape
    places = [(r, j, r + j - upper) for r in range(rows) for j in range(n) if 0 <= r + j - upper < n]
    a = np.zeros((n, n), bands.dtype)
    for row, column, other in places:
        a[other, column] = bands[row, column]
    return a


def of_upper(ab: Any, b: Any) -> Any:
    return linalg.solveh_banded(at.specify_shape(ab, (2, None)), b)


def of_lower(ab: Any, b: Any) -> Any:
    return linalg.solveh_banded(at.specify_shape(ab, (2, None)), b, lower=True)


def by_upper(ab: np.ndarray, b: np.ndarray) -> np.ndarray:
    a = dense(ab, 1)
    return np.linalg.solve(a + np.triu(a, 1).conj().T, b)


def by_lower(ab: np.ndarray, b: np.ndarray) -> np.ndarray:
    a = dense(ab, 0)
    return np.linalg.solve(a + np.tril(a, -1).conj().T, b)


def tridiagonal(dl: np.ndarray, d: np.ndarray, du: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.linalg.solve(np.diag(dl, -1) + np.diag(d) + np.diag(du, 1), b)


def recomposed(a: Any) -> list[Any]:
    w, v = linalg.eigh(a)
    return [w, at.dot(v * w, turned(v))]


def of_svd(a: Any) -> list[Any]:
    u, s, vh = linalg.svd(a, full_matrices=False)
    return [s, at.dot(u * s, vh)]


def of_pivoted_qr(a: Any) -> list[Any]:
    q, r, places = linalg.qr(a, pivoting=True)
    return [at.dot(q, r), abs(r), places]


def expected_of_pivoted_qr(a: np.ndarray) -> list[np.ndarray]:
    q, r, places = sl.qr(a, mode="economic", pivoting=True)
    return [q @ r, abs(r), places]


def of_lu(a: Any) -> list[Any]:
    factors, pivots = linalg.lu_factor(a)
    return [at.dot(at.tril(factors, -1) + at.eye(a.shape[0], dtype=factors.dtype), at.triu(factors)), pivots]


def expected_of_lu(a: np.ndarray) -> list[np.ndarray]:
    if a.size == 0:
        return [a, np.zeros(0, "int32")]
    factors, pivots = sl.lu_factor(a, check_finite=False)
    return [(np.tril(factors, -1) + np.eye(len(a))) @ np.triu(factors), pivots]


def projection(x: Any) -> Any:
    return (x @ x.conj().T) if isinstance(x, np.ndarray) else at.dot(x, turned(x))


def unless_empty(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function whose result has the shape of its last argument, also where that is empty: older versions of SciPy
    refuse it."""
    return lambda *given: function(*given) if given[-1].size else given[-1]


def pairs(x: np.ndarray) -> np.ndarray:
    found = np.fft.rfftn(x, axes=range(1, x.ndim))
    return np.stack([found.real, found.imag], axis=-1)


def from_pairs(x: np.ndarray) -> np.ndarray:
    return np.fft.irfftn(x.view("complex128")[..., 0], axes=range(1, x.ndim - 1))


def of_complex(transform: Callable[..., np.ndarray]) -> Callable[..., np.ndarray]:
    """The transform of complex numbers: those of real ones may leave NaN out where they meet zeros."""
    return lambda x: transform(x.astype("complex128"))


SQUARE = {0: VALUE}
ROWS = {
    "schur": Row(of_schur, expected_of_schur, (GENERAL,), SQUARE, SQUARE),
    "complex schur": Row(of_complex_schur, expected_of_schur, (GENERAL,), SQUARE, SQUARE),
    "qz": Row(
        of_qz, lambda a, b: [a, b, identity(a), identity(a), np.zeros(a.shape)], (GENERAL, DEFINITE),
        {0: VALUE, 1: VALUE}, {0: VALUE, 1: VALUE}, {0: None, 1: None},
    ),
    "expm": Row(linalg.expm, sl.expm, (TRIANGLE,), {0: ERROR}, {0: "nan"}),
    "logm": Row(
        linalg.logm, sl.logm, (DEFINITE,), {0: ERROR}, {0: VALUE}, {0: ERROR}, {0: ERROR}, hermitian=(0,),
        empty="any shape",
    ),
    "sqrtm": Row(
        linalg.sqrtm, unless_empty(sl.sqrtm), (DEFINITE,), {0: ERROR}, {0: VALUE}, {0: None}, {0: ERROR}, hermitian=(0,)
    ),
    "sylvester": Row(
        linalg.solve_sylvester, unless_empty(sl.solve_sylvester), (GENERAL, SMALL, TALL),
        {0: VALUE, 1: VALUE, 2: VALUE}, {0: VALUE, 1: VALUE}, {0: None, 1: None, 2: None}, {0: None, 1: None},
    ),
    "continuous lyapunov": Row(
        linalg.solve_continuous_lyapunov, unless_empty(sl.solve_continuous_lyapunov), (GENERAL, DEFINITE),
        {0: VALUE, 1: VALUE}, {0: VALUE}, {0: ERROR, 1: None}, {0: None},
    ),
    "discrete lyapunov": Row(
        linalg.solve_discrete_lyapunov, unless_empty(sl.solve_discrete_lyapunov), (GENERAL, DEFINITE),
        {0: VALUE, 1: VALUE}, {0: VALUE, 1: VALUE}, {0: None, 1: None}, without=("bool",),
    ),
    "bilinear discrete lyapunov": Row(
        lambda a, q: linalg.solve_discrete_lyapunov(a, q, "bilinear"),
        unless_empty(lambda a, q: sl.solve_discrete_lyapunov(a, q, "bilinear")),
        (GENERAL, DEFINITE), {0: VALUE, 1: VALUE},
        {0: VALUE}, {0: None, 1: None}, without=("bool",),
    ),
    "continuous riccati": Row(
        linalg.solve_continuous_are, sl.solve_continuous_are, (GENERAL, TALL, DEFINITE, SMALL),
        {0: VALUE, 1: VALUE, 2: VALUE, 3: VALUE}, {0: VALUE, 1: VALUE, 2: VALUE, 3: VALUE}, {1: ERROR, 3: VALUE},
        {2: None, 3: None}, hermitian=(2, 3), without=("bool",), rtol=1e-9, empty="any shape",
    ),
    "discrete riccati": Row(
        linalg.solve_discrete_are, sl.solve_discrete_are, (GENERAL, TALL, DEFINITE, SMALL),
        {0: VALUE, 1: VALUE, 2: VALUE, 3: VALUE}, {0: VALUE, 1: VALUE, 2: VALUE, 3: VALUE}, {1: ERROR},
        hermitian=(2, 3), without=("bool",), rtol=1e-9, empty="any shape",
    ),
    "banded": Row(
        lambda ab, b: linalg.solve_banded((1, 1), ab, b), lambda ab, b: np.linalg.solve(dense(ab, 1), b),
        (BANDS, VECTOR), {0: VALUE, 1: VALUE}, {1: None}, {0: ERROR, 1: None}, {0: None},
        without=("bool",), empties=(np.zeros((3, 0)), np.zeros(0)),
    ),
    "upper bands": Row(
        of_upper, by_upper, (UPPER_BANDS, VECTOR), {0: AssertionError, 1: VALUE}, {1: None}, {0: ERROR, 1: None},
        {0: ERROR}, hermitian=(0,), without=("bool",), empties=(np.zeros((2, 0)), np.zeros(0)),
    ),
    "lower bands": Row(
        of_lower, by_lower, (LOWER_BANDS, VECTOR), {0: AssertionError, 1: VALUE}, {1: None}, {0: ERROR, 1: None},
        {0: ERROR}, hermitian=(0,), without=("bool",), empties=(np.zeros((2, 0)), np.zeros(0)),
    ),
    "tridiagonal": Row(
        linalg.solve_tridiagonal, tridiagonal, (BESIDE, VECTOR + 5, BESIDE, VECTOR),
        {0: VALUE, 1: VALUE, 2: VALUE, 3: VALUE}, {1: None, 3: None}, {0: None, 2: None, 3: None},
        without=("bool",), empty="any shape",
    ),
    "eig": Row(
        lambda a: linalg.eig(a)[0], lambda a: np.linalg.eig(a)[0], (TRIANGLE,), {0: ERROR}, {0: ERROR}, {0: None},
        without=COMPLEX,
    ),
    "eigh": Row(
        recomposed, lambda a: [np.linalg.eigvalsh(a), a], (DEFINITE,), {0: ERROR}, {}, {0: None}, {0: None},
        nan={0: ERROR}, hermitian=(0,),
    ),
    "generalised eigh": Row(
        lambda a, b: linalg.eigh(a, b)[0], lambda a, b: sl.eigh(a, b)[0] if a.size else np.zeros(0),
        (DEFINITE, DEFINITE + TRIANGLE + TRIANGLE.T), {0: VALUE, 1: VALUE}, {0: VALUE, 1: VALUE},
        {0: None, 1: ERROR}, {0: None, 1: ERROR}, hermitian=(0, 1), without=("bool",),
    ),
    "svd": Row(
        of_svd, lambda a: [np.linalg.svd(a, compute_uv=False), a], (GENERAL,), {0: None}, {}, {0: None},
        nan={0: ERROR},
    ),
    "pivoted qr": Row(
        of_pivoted_qr, expected_of_pivoted_qr, (TRIANGLE,), {0: None}, {0: VALUE}, {0: None}, empty="any shape",
    ),
    "lu_factor": Row(of_lu, expected_of_lu, (GENERAL,), {0: ERROR}, {0: None}, {0: None}),
    "null_space": Row(
        lambda a: projection(linalg.null_space(a)), lambda a: projection(sl.null_space(a)), (GENERAL,),
        {0: None}, {0: ERROR}, {0: None}, empty="any shape",
    ),
    "orth": Row(
        lambda a: projection(linalg.orth(a)), lambda a: projection(sl.orth(a)), (GENERAL,), {0: None}, {0: ERROR},
        {0: None}, empty="any shape",
    ),
    "matrix_rank": Row(
        linalg.matrix_rank, lambda a: np.linalg.matrix_rank(a) if a.size else np.int64(0),
        (GENERAL,), {0: None}, {0: ERROR}, {0: None},
    ),
    "matrix_power": Row(
        lambda a: linalg.matrix_power(a, -2), lambda a: np.linalg.matrix_power(a, -2), (GENERAL,), {0: ERROR},
        {}, {0: ERROR}, nan={0: "nan"}, without=WHOLE,
    ),
    "tensorinv": Row(
        lambda a: linalg.tensorinv(a, 1), np.linalg.inv, (GENERAL,), {0: ERROR}, {}, {0: ERROR}, nan={0: "nan"},
    ),
    "tensorsolve": Row(
        linalg.tensorsolve, np.linalg.solve, (GENERAL, VECTOR), {0: ERROR, 1: ERROR}, {1: None}, {0: ERROR, 1: None},
    ),
    "fft": Row(fft.fft, np.fft.fft, (GENERAL,), {0: None}, {0: None}, {0: None}, empty=VALUE),
    "ifft": Row(fft.ifft, np.fft.ifft, (GENERAL,), {0: None}, {0: None}, {0: None}, empty=VALUE),
    "fft2": Row(fft.fft2, np.fft.fft2, (GENERAL,), {0: None}, {0: None}, {0: None}, empty=VALUE),
    "ifftn": Row(fft.ifftn, of_complex(np.fft.ifftn), (GENERAL,), {0: None}, {0: None}, {0: None}, empty=VALUE),
    "rfft_complex": Row(
        fft.rfft_complex, np.fft.rfft, (GENERAL,), {0: None}, {0: None}, {0: None}, empty=VALUE, without=COMPLEX
    ),
    "rfftn": Row(fft.rfftn, np.fft.rfftn, (GENERAL,), {0: None}, {0: None}, {0: None}, empty=VALUE, without=COMPLEX),
    "irfft_complex": Row(fft.irfft_complex, np.fft.irfft, (GENERAL,), {0: None}, {0: None}, {0: None}, empty=VALUE),
    "irfftn": Row(
        fft.irfftn, of_complex(np.fft.irfftn), (GENERAL,), {0: None}, {0: None}, {0: None}, nan={0: "nan"}, empty=VALUE
    ),
    "hfft": Row(fft.hfft, np.fft.hfft, (GENERAL,), {0: None}, {0: None}, {0: None}, empty=VALUE),
    "ihfft": Row(fft.ihfft, np.fft.ihfft, (GENERAL,), {0: None}, {0: None}, {0: None}, empty=VALUE, without=COMPLEX),
    "rfft of pairs": Row(fft.rfft, pairs, (GENERAL,), {0: None}, {0: None}, {0: None}, empty=VALUE, without=COMPLEX),
    "irfft of pairs": Row(
        fft.irfft, from_pairs, (np.stack([GENERAL, TRIANGLE], axis=-1),), {0: None}, {0: None}, {0: None},
        empty=VALUE, empties=(np.zeros((0, 0, 2)),), without=COMPLEX,
    ),
    "kron": Row(linalg.kron, np.kron, (GENERAL, TALL), {0: None, 1: None}, {0: None, 1: None}, {0: None}),
    "block_diag": Row(
        linalg.block_diag, sl.block_diag, (GENERAL, TALL), {0: None, 1: None}, {0: None, 1: None}, {0: None}
    ),
    "toeplitz": Row(linalg.toeplitz, sl.toeplitz, (VECTOR, VECTOR), {0: None, 1: None}, {0: None}, {0: None}),
    "hankel": Row(
        linalg.hankel, sl.hankel, (VECTOR, VECTOR), {0: None, 1: None}, {0: None}, {0: None}, empty="any shape"
    ),
    "circulant": Row(linalg.circulant, sl.circulant, (VECTOR,), {0: None}, {0: None}, {0: None}, empty="any shape"),
}  # fmt: skip
#: what runs in Python: Fourier transforms before NumPy 2
IN_PYTHON = set()
if np.lib.NumpyVersion(np.__version__) < "2.0.0":
    IN_PYTHON = {FourierTransform, RealFourierTransform, InverseRealFourierTransform}
#: what has a dtype of its own for whole numbers
MADE_OF_PARTS = ("kron", "block_diag", "toeplitz", "hankel", "circulant", "matrix_rank")


def compiled(row: Row, dtype: str, mode: Any) -> Any:
    inputs = [at.tensor(dtype, (None,) * x.ndim) for x in row.given]
    f = aesara.function(inputs, row.build(*inputs), mode=mode)
    if mode == "FAST_RUN":
        assert {type(node.op) for node in f._native.report.python_nodes} <= IN_PYTHON
    return f


def assert_same(found: Any, expected: Any, rtol: float, message: str) -> None:
    found = found if isinstance(found, list) else [found]
    expected = expected if isinstance(expected, (list, tuple)) else [expected]
    for got, wanted in zip(found, expected, strict=True):
        size = np.max(np.abs(wanted), initial=0.0, where=np.isfinite(wanted))
        np.testing.assert_allclose(got, wanted, rtol=rtol, atol=rtol * size, err_msg=message)


def assert_outcome(f: Any, row: Row, given: list[np.ndarray], outcome: Any, message: str) -> None:
    if outcome is None:
        assert_same(f(*given), row.oracle(*given), row.rtol, message)
    elif outcome == "any shape":
        f(*given)
    elif outcome == "nan":
        assert np.isnan(f(*given)).all()
    else:
        with pytest.raises(outcome) as caught:
            f(*given)
        assert_tells_where(caught.value, FILE)


def changed(given: tuple[np.ndarray, ...], which: int, change: Callable[[np.ndarray], np.ndarray]) -> list[np.ndarray]:
    return [change(x.copy()) if k == which else x for k, x in enumerate(given)]


def ending_in(number: float) -> Callable[[np.ndarray], np.ndarray]:
    def change(x: np.ndarray) -> np.ndarray:
        x.flat[-1] = number
        return x

    return change


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ROWS)
@pytest.mark.parametrize("mode", LINKERS, ids=["native", "reference"])
def test_layouts_and_what_is_wrong(name, mode):
    row = ROWS[name]
    f = compiled(row, "float64", mode)
    before = [x.copy() for x in row.given]
    expected = row.oracle(*row.given)
    for layout in layouts(row.given[0]):
        given = [layouts(x)[layout] for x in row.given]
        assert_same(f(*given), expected, row.rtol, layout)
        for now, then in zip(given, before):
            np.testing.assert_array_equal(now, then, layout)
    for which, outcome in row.short.items():
        assert_outcome(f, row, changed(row.given, which, lambda x: x[:-1]), outcome, f"short {which}")
    for number in (np.nan, np.inf, -np.inf):
        outcomes = row.not_finite | row.nan if np.isnan(number) else row.not_finite
        for which, outcome in outcomes.items():
            given = changed(row.given, which, ending_in(number))
            if outcome is None and np.isinf(number):
                assert_not_finite_like(f(*given), row.oracle(*given))
            else:
                assert_outcome(f, row, given, outcome, f"{number} in {which}")
    for which, outcome in row.singular.items():
        assert_outcome(f, row, changed(row.given, which, np.zeros_like), outcome, f"zeros in {which}")
    for which, outcome in row.negative.items():
        assert_outcome(f, row, changed(row.given, which, np.negative), outcome, f"minus {which}")
    assert_outcome(f, row, row.empties or [np.zeros((0,) * x.ndim) for x in row.given], row.empty, "empty")
    assert_same(f(*row.given), expected, row.rtol, "after errors")
    for now, then in zip(row.given, before):
        np.testing.assert_array_equal(now, then)


def assert_not_finite_like(found: Any, expected: Any) -> None:
    """Infinities are lost in no result: which is infinite and which NaN depends on the order of operations."""
    found = found if isinstance(found, list) else [found]
    expected = expected if isinstance(expected, (list, tuple)) else [expected]
    assert all(not np.isfinite(got).all() for got, wanted in zip(found, expected) if not np.isfinite(wanted).all())


def as_dtype(row: Row, dtype: str) -> list[np.ndarray]:
    """Arguments of another dtype: of truth values identity matrices and ones."""
    given = list(row.given)
    if dtype == "bool":
        given = [np.eye(*x.shape) if x.ndim == 2 else np.ones(x.shape) for x in given]
    if dtype in COMPLEX:
        given = [_made_complex(x, k in row.hermitian) for k, x in enumerate(given)]
    return [x.astype(dtype) for x in given]


def _made_complex(x: np.ndarray, hermitian: bool) -> np.ndarray:
    if not hermitian:
        return x * (1 + 0.25j)
    if x.shape[0] != x.shape[1]:  # two diagonals
        return np.where(x >= 4, x, x * (1 + 0.25j))
    return x + 0.25j * (np.triu(x, 1) - np.tril(x, -1))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("mode", LINKERS, ids=["native", "reference"])
def test_dtypes(dtype, mode):
    is_single = dtype in ("float32", "complex64")
    for name, row in ROWS.items():
        if dtype in row.without:
            continue
        given = as_dtype(row, dtype)
        found = compiled(row, dtype, mode)(*given)
        expected = row.oracle(*[x.astype("complex128" if dtype in COMPLEX else "float64") for x in given])
        assert_same(found, expected, 1e-3 if is_single else 10 * row.rtol, name)
        if name not in MADE_OF_PARTS:
            for array in found if isinstance(found, list) else [found]:
                assert array.dtype.kind in "fci", name
                assert array.dtype.itemsize <= (8 if is_single else 16), name
