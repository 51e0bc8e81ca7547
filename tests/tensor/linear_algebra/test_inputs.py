"""Every kind of input to every function of matrices: dtypes, layouts, and what is wrong; natively and on the reference.

Results are compared with NumPy and SciPy; an error must be of the right kind, and tell the node and the line.
"""

import numpy as np
import pytest
import scipy.linalg as sl

import aesara
import aesara.tensor as at
from aesara.tensor import linalg
from tests.tensor.linear_algebra.input_kinds import DTYPES, LINKERS, assert_tells_where, layouts

FILE = "test_inputs.py"
ERROR, VALUE = np.linalg.LinAlgError, ValueError


#: What each function is, what computes the same, and what it raises: for a matrix that is not square, a singular one,
#: one that is not definite, and NaN. None: there is a result; "any": there may be one, which has NaN if the input has.
ONE_MATRIX = {
    "cholesky": (linalg.cholesky, np.linalg.cholesky, VALUE, ERROR, ERROR, VALUE),
    "inv": (linalg.inv, np.linalg.inv, ERROR, ERROR, None, "any"),
    "det": (linalg.det, np.linalg.det, (VALUE, ERROR), None, None, "any"),
    "slogdet": (lambda a: linalg.slogdet(a)[1], lambda a: np.linalg.slogdet(a)[1], (VALUE, ERROR), None, None, "any"),
    "pinv": (linalg.pinv, np.linalg.pinv, None, "any", None, "any"),
    "eigvalsh": (linalg.eigvalsh, sl.eigvalsh, (VALUE, ERROR), None, None, "any"),
    "svdvals": (linalg.svdvals, sl.svdvals, None, None, None, "any"),
    "qr": (lambda a: abs(linalg.qr(a)[1]), lambda a: abs(np.linalg.qr(a)[1]), None, None, None, "any"),
    "lu": (lambda a: linalg.lu(a)[2], lambda a: sl.lu(a)[2], None, None, None, "any"),
    "expm": (linalg.expm, sl.expm, (VALUE, ERROR), None, None, "any"),
    "polar": (lambda a: linalg.polar(a)[1], lambda a: sl.polar(a)[1], None, None, None, "any"),
    "cond": (linalg.cond, np.linalg.cond, None, "any", None, "any"),
    "norm": (linalg.norm, np.linalg.norm, None, None, None, "any"),
    "matrix_power": (
        lambda a: linalg.matrix_power(a, 3), lambda a: np.linalg.matrix_power(a, 3), (VALUE, ERROR), None, None, "any",
    ),
    "sylvester": (
        lambda a: linalg.solve_sylvester(a, a, a), lambda a: sl.solve_sylvester(a, a, a), (VALUE, ERROR), "any", "any",
        "any",
    ),
}  # fmt: skip
WITH_RIGHT_HAND_SIDE = {
    "solve": (linalg.solve, sl.solve, (VALUE, ERROR), ERROR, None, VALUE),
    "solve pos": (
        lambda a, b: linalg.solve(a, b, assume_a="pos"), lambda a, b: sl.solve(a, b, assume_a="pos"), VALUE, ERROR,
        ERROR, VALUE,
    ),
    "solve sym": (
        lambda a, b: linalg.solve(a, b, assume_a="sym"), lambda a, b: sl.solve(a, b, assume_a="sym"), VALUE, ERROR,
        None, VALUE,
    ),
    "solve_triangular": (
        lambda a, b: linalg.solve_triangular(a, b, lower=True), lambda a, b: sl.solve_triangular(a, b, lower=True),
        VALUE, None, None, VALUE,
    ),
    "cho_solve": (
        lambda a, b: linalg.cho_solve((a, True), b), lambda a, b: sl.cho_solve((a, True), b), VALUE, None, None, VALUE,
    ),
    "lu_solve": (
        lambda a, b: linalg.lu_solve(linalg.lu_factor(a), b), lambda a, b: sl.lu_solve(sl.lu_factor(a), b),
        VALUE, "any", None, "any",
    ),
    "lstsq": (
        lambda a, b: linalg.lstsq(a, b)[0], lambda a, b: np.linalg.lstsq(a, b, rcond=None)[0], None, None, None, "any",
    ),
}  # fmt: skip
ROWS = ONE_MATRIX | WITH_RIGHT_HAND_SIDE
NOT_EMPTY = ("cond",)


def definite(n=4):
    x = np.random.default_rng(n).normal(size=(n, n))
    return x @ x.T / n + 2 * np.eye(n)


def right_hand_side(n=4):
    return np.arange(1.0, n + 1)


def function(name, dtype, mode):
    build, *_ = ROWS[name]
    inputs = [at.matrix("a", dtype=dtype), at.vector("b", dtype=dtype)][: 2 if name in WITH_RIGHT_HAND_SIDE else 1]
    return aesara.function(inputs, build(*inputs), mode=mode)


def arguments(name, a, b):
    return (a, b) if name in WITH_RIGHT_HAND_SIDE else (a,)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ROWS)
@pytest.mark.parametrize("mode", LINKERS, ids=["native", "reference"])
def test_layouts_and_what_is_wrong(name, mode):
    _, reference, *outcomes = ROWS[name]
    f = function(name, "float64", mode)
    a, b = definite(), right_hand_side()
    expected = reference(*arguments(name, a, b))
    for layout, given in layouts(a).items():
        other = layouts(b)[layout]
        found = f(*arguments(name, given, other))
        np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-12, err_msg=layout)
        np.testing.assert_array_equal(given, a, layout)
        np.testing.assert_array_equal(other, b, layout)
    empty = arguments(name, np.zeros((0, 0)), np.zeros(0))
    if name in NOT_EMPTY:
        with pytest.raises(ERROR):
            f(*empty)
    else:
        assert np.isfinite(f(*empty)).all() or name == "slogdet"
    nan = a.copy()
    nan[2, 1] = nan[1, 2] = np.nan
    wrong = {
        "not square": (a[:3], b[:3]),
        "singular": (np.ones((4, 4)), b),
        "not definite": (np.diag([1.0, -2.0, 3.0, -5.0]), b),
        "NaN": (nan, b),
    }
    for (what, given), outcome in zip(wrong.items(), outcomes, strict=True):
        values = arguments(name, *given)
        if outcome is None:
            result = f(*values)
            if what != "singular":
                np.testing.assert_allclose(result, reference(*values), rtol=1e-10, atol=1e-11, err_msg=what)
        elif outcome == "any":
            try:
                result = f(*values)
            except (ValueError, np.linalg.LinAlgError) as error:
                assert_tells_where(error, FILE)
            else:
                assert what != "NaN" or np.isnan(result).any(), what
        else:
            with pytest.raises(outcome) as caught:
                f(*values)
            assert_tells_where(caught.value, FILE)
    if name in WITH_RIGHT_HAND_SIDE:
        with pytest.raises(ValueError) as caught:
            f(a, b[:3])
        assert_tells_where(caught.value, FILE)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("mode", LINKERS, ids=["native", "reference"])
def test_dtypes(dtype, mode):
    """All functions at once, in one compilation."""
    a, b = at.matrix("a", dtype=dtype), at.vector("b", dtype=dtype)
    outputs = {name: row[0](*arguments(name, a, b)) for name, row in ROWS.items() if name not in skipped(dtype)}
    f = aesara.function([a, b], list(outputs.values()), mode=mode)
    matrix, right = np.array([[2, 1, 0], [1, 3, 1], [0, 1, 2]]), np.array([1, 0, 2])
    if dtype == "bool":
        matrix = np.eye(3, dtype=bool)
    given = matrix.astype(dtype), right.astype(dtype)
    if dtype.startswith("complex"):
        turned = np.array([[0, 1j, 0], [-1j, 0, 0], [0, 0, 0]])
        given = (given[0] + turned).astype(dtype), (given[1] * 1j).astype(dtype)
    wide = [x.astype("complex128" if dtype.startswith("complex") else "float64") for x in given]
    rtol = 2e-4 if dtype in ("float32", "complex64") else 1e-11
    for found, name in zip(f(*given), outputs, strict=True):
        expected = ROWS[name][1](*arguments(name, *wide))
        np.testing.assert_allclose(found, expected, rtol=rtol, atol=rtol, err_msg=name)
        assert found.dtype.itemsize <= (8 if dtype in ("float32", "complex64") else 16), name
        assert found.dtype.kind in "fc", name


def skipped(dtype):
    """Return the functions left out for a dtype: complex matrices are Hermitian, integers have integer powers."""
    if dtype.startswith("complex"):
        return ("solve sym",)
    return () if dtype.startswith("float") else ("matrix_power", "norm")


BATCHES = {name: row for name, row in ROWS.items() if name not in ("norm", "sylvester", "matrix_power", "lstsq")}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("mode", LINKERS, ids=["native", "reference"])
def test_batches(mode):
    """Of several members, of none, and of empty matrices."""
    a, b = at.dtensor3("a"), at.dtensor3("b")
    outputs = [row[0](*arguments(name, a, b)) for name, row in BATCHES.items() if name not in NOT_EMPTY]
    f = aesara.function([a, b], outputs, mode=mode, on_unused_input="ignore")
    members = np.stack([definite(), 3 * definite()]), np.stack([right_hand_side()[:, None]] * 2)
    for found, name in zip(f(*members), [n for n in BATCHES if n not in NOT_EMPTY], strict=True):
        each = [BATCHES[name][1](*arguments(name, x, y)) for x, y in zip(*members)]
        np.testing.assert_allclose(found, np.stack(each), rtol=1e-11, atol=1e-12, err_msg=name)
    for lead, order in ((0, 4), (2, 0)):
        results = f(np.zeros((lead, order, order)), np.zeros((lead, order, 1)))
        assert all(result.shape[0] == lead for result in results)


#: functions that take matrices with infinities, or with NaN
WITHOUT_CHECK = {
    "inv": linalg.inv,
    "det": linalg.det,
    "slogdet": lambda a: linalg.slogdet(a)[1],
    "qr": lambda a: at.concatenate(linalg.qr(a), axis=1),
    "complete qr": lambda a: at.concatenate(linalg.qr(a, "complete"), axis=1),
    "R of qr": lambda a: linalg.qr(a, "r"),
    "lu": lambda a: at.concatenate(linalg.lu(a)[1:], axis=1),
    "lu_factor": lambda a: linalg.lu_factor(a)[0],
    "lu_solve": lambda a: linalg.lu_solve(linalg.lu_factor(a), right_hand_side()),
    "expm": linalg.expm,
    "norm": linalg.norm,
    "matrix_power": lambda a: linalg.matrix_power(a, 3),
    "tensorinv": lambda a: linalg.tensorinv(a, 1),
    "tensorsolve": lambda a: linalg.tensorsolve(a, right_hand_side()),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", WITHOUT_CHECK)
@pytest.mark.parametrize("mode", LINKERS, ids=["native", "reference"])
def test_gradients_take_what_their_functions_take(name, mode):
    """Gradients raise no error where values do not; NaN in the matrix gives NaN."""
    a = at.dmatrix("a")
    value = WITHOUT_CHECK[name](a)
    f = aesara.function([a], [value, aesara.grad((value**2).sum(), a)], mode=mode)
    for number in (np.nan, np.inf):
        matrix = definite()
        matrix[2, 1] = matrix[1, 2] = number
        for result in f(matrix):
            assert number == np.inf or np.isnan(result).any()
