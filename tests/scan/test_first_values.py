"""Numbers and arrays as first values of states."""

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.scan import reduce, scan

DATA = np.array([1, 2, 3])


def run(first, step=lambda e, s: s + e, dtype="float64", n_steps=None):
    x = at.vector("x", dtype=dtype)
    rows, _ = scan(step, x, first, n_steps=n_steps)
    results = [aesara.function([x], rows, mode=m, on_unused_input="ignore") for m in ("FAST_COMPILE", "FAST_RUN")]
    (reference, native) = [f(DATA.astype(dtype)) for f in results]
    for a, b in zip(reference, native, strict=True) if isinstance(rows, list) else [(reference, native)]:
        assert a.dtype == b.dtype and a.tolist() == b.tolist()
    return reference


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("first", [0.0, 0, True, 0.5])
def test_a_number_has_the_precision_of_the_data(first, dtype):
    got = run(first, dtype=dtype)
    assert got.dtype == dtype and got.tolist() == (np.cumsum(DATA) + first).tolist()


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "int64"])
def test_an_integer_does_not_overflow(dtype):
    got = run(1000, dtype=dtype)
    assert got.dtype == "int64" and got.tolist() == [1001, 1003, 1006]
    counts = run(127, lambda e, c: c + (e > 1), dtype=dtype)
    assert counts.dtype == "int64" and counts.tolist() == [127, 128, 129]


@pytest.mark.parametrize("first, factor", [(1.0, 2), (1, 0.5), (1.0, 0.5), (1j, 2)])
def test_numbers_alone_have_the_usual_precision(first, factor):
    got = run(first, lambda e, s: s * factor)
    assert got.dtype == (complex if isinstance(first, complex) else float)
    assert got.tolist() == [first * factor**k for k in (1, 2, 3)]


def test_what_floatX_says():
    with aesara.config.change_flags(floatX="float32"):
        assert run(1.0, lambda e, s: s * 2).dtype == "float32"
        assert run(1, lambda e, s: s * 0.5).dtype == "float32"
        assert run(0.1, dtype="float32").dtype == "float32"
        assert run(0.1, dtype="float64").dtype == "float64"


def test_a_number_that_does_not_fit_keeps_its_precision():
    assert run(1e300, lambda e, s: at.maximum(s, e), dtype="float32").tolist() == [1e300] * 3
    with pytest.raises(ValueError, match="its first value"):
        run(0.5, lambda e, s: at.cast(s + e, "int32"))
    assert run(0.0, lambda e, s: at.cast(s + e, "int32")).dtype == "int32"


@pytest.mark.parametrize(
    "first, dtype, want",
    [
        (np.float64(0), "float32", "float64"),
        (np.float32(0), "float32", "float32"),
        (np.float32(0), "float64", "float64"),
        (np.int64(0), "float64", "float64"),
        (np.int8(0), "int32", "int32"),
        (np.int64(0), "int8", "int64"),
        (np.zeros(()), "int64", "float64"),
    ],
)
def test_a_numpy_value_keeps_its_dtype_or_takes_a_wider_one(first, dtype, want):
    got = run(first, dtype=dtype)
    assert got.dtype == want and got.tolist() == [1, 3, 6]


def test_lists_of_variables_keep_their_dtype():
    a = at.fscalar("a")
    for first in ([a, a], (a, a)):
        rows, _ = scan(lambda e, p, q: p + q + e, at.fvector(), {"initial": first, "taps": [-2, -1]})
        assert rows.type.dtype == "float32"
    with pytest.raises(ValueError, match="its first value"):
        scan(lambda e, p, q: p + q + e, at.dvector(), {"initial": [a, a], "taps": [-2, -1]})


def test_lists_and_arrays_are_tensors():
    assert run([[0.5, 0]]).tolist() == [[1.5, 1], [3.5, 3], [6.5, 6]]
    assert run([[0, 0]]).dtype == "float64"
    assert run({"initial": [0, 1], "taps": [-2, -1]}, lambda e, a, b: a + b).tolist() == [1, 2, 3]
    assert run({"initial": [0, 1], "taps": [-2, -1]}, lambda e, a, b: a + b + e).tolist() == [2, 5, 10]
    assert run({"initial": 0.0}).tolist() == [1, 3, 6]
    one, two, none = run([0, 1.0, None], lambda e, s, t: [s + e, t * e, e])
    assert one.tolist() == [1, 3, 6] and two.tolist() == [1, 2, 6] and none.tolist() == [1, 2, 3]


@pytest.mark.parametrize("first", [[0, 1], [0.0, 1], [0.0, 1.0]])
@pytest.mark.parametrize("dtype", ["int8", "float32", "float64"])
def test_numbers_that_depend_on_each_other(first, dtype):
    one, two = run(first, lambda e, a, b: [b, a + b * e], dtype=dtype)
    whole = "float64" if any(isinstance(v, float) for v in first) else "int64"
    assert one.dtype == two.dtype == (whole if dtype == "int8" else dtype)
    assert one.tolist() == [1, 1, 3] and two.tolist() == [1, 3, 10]


def test_numbers_that_do_not_depend_on_each_other():
    x, y = at.fvector("x"), at.dvector("y")
    (one, two, three), _ = scan(lambda e, d, s, t, u: [s + e, t + d, u + 1], [x, y], [0.0, 0, 0])
    assert (one.dtype, two.dtype, three.dtype) == ("float32", "float64", "int64")


def test_a_single_step_and_no_step():
    for first, dtype, want in [(0, "float32", "float32"), (0.0, "float64", "float64"), (0, "int8", "int64")]:
        assert run(first, dtype=dtype, n_steps=1).dtype == want
        assert run(first, dtype=dtype, n_steps=0).dtype == want
    assert run(0.5, n_steps=1).tolist() == [1.5]


def test_gradients_flow_past_numbers():
    x = at.dvector("x")
    total, _ = reduce(lambda e, s: s * 0.5 + e**2, x, 0)
    assert aesara.function([x], aesara.grad(total, x))([1.0, 2.0, 3.0]).tolist() == [0.5, 2, 6]


def test_a_number_is_no_vector():
    X = at.dmatrix("X")
    with pytest.raises(ValueError, match=r"its first value TensorConstant\{0.0\}.*at.full\(shape, value\)"):
        scan(lambda row, s: s + row, X, 0.0)


def test_variables_keep_their_dtype():
    x, first = at.dvector("x"), at.lscalar("first")
    for value in (first, at.constant(0, dtype="int8"), at.fscalar("f")):
        with pytest.raises(ValueError, match="Cast one of them"):
            scan(lambda e, s: s + e, x, value)


@pytest.mark.parametrize("first", [at.zeros((1,)), np.zeros((1,)), at.TensorType("float64", (1,))(), at.dvector()])
@pytest.mark.parametrize("of_size_one", [True, False])
def test_sizes_of_one_that_are_known_on_one_side_only(first, of_size_one):
    X = at.dmatrix("X")
    rows, _ = scan(lambda e, s: (at.zeros((1,)) + e[:1] + s[0]) if of_size_one else s + e, X, first)
    inputs = [v for v in (X, first) if isinstance(v, at.TensorVariable) and v.owner is None]
    for mode in ("FAST_COMPILE", "FAST_RUN"):
        f = aesara.function(inputs, rows, mode=mode)
        assert f(*[[[1.0], [2.0]], [0.0]][: len(inputs)]).tolist() == [[1], [3]]
