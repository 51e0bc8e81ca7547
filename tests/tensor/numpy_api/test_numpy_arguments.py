"""Arguments that functions of NumPy have: where, initial, dtype, decimals, several axes."""

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from tests.closeness import assert_close
from tests.tensor.against_numpy import compare, drawn

MASK = np.random.default_rng(8).random((3, 4)) < 0.6
MASK[0] = True
MASK[:, 0] = True


@pytest.mark.parametrize("axis, keepdims", [(None, False), (0, True), (1, False), ((0, 1), True)])
@pytest.mark.parametrize("name", ["sum", "prod", "mean", "var", "std", "any", "all"])
@pytest.mark.parametrize("where", [MASK, MASK[1], MASK[:, :1]], ids=["full", "row", "column"])
def test_where(name, axis, keepdims, where):
    for dtype in ("float64", "int32"):
        (x,) = drawn(dtype, (3, 4))
        compare(
            lambda x: getattr(at, name)(x, axis=axis, keepdims=keepdims, where=where),
            lambda x: getattr(np, name)(x, axis=axis, keepdims=keepdims, where=where),
            x,
            gradient=name not in ("any", "all"),
        )
        compare(
            lambda x: getattr(x, name)(axis=axis, where=where),
            lambda x: getattr(np, name)(x, axis=axis, where=where),
            x,
            unknown=False,
            gradient=False,
        )


@pytest.mark.parametrize("name", ["max", "min"])
@pytest.mark.parametrize("axis, keepdims", [(None, False), (0, True), (-1, False), ((0, 1), True)])
@pytest.mark.parametrize("shape", [(3, 4), (0, 4), (3, 0), (0, 0)])
def test_initial_of_extrema(name, axis, keepdims, shape):
    compare(
        lambda x: getattr(at, name)(x, axis, keepdims, initial=0.5),
        lambda x: getattr(np, name)(x, axis, keepdims=keepdims, initial=0.5),
        *drawn("float64", shape),
        gradient=0 not in shape,
    )
    if shape == (3, 4):
        compare(
            lambda x: getattr(x, name)(axis, where=MASK, initial=0.5),
            lambda x: getattr(np, name)(x, axis, where=MASK, initial=0.5),
            *drawn("float64", shape),
        )


def test_initial_of_sums():
    compare(lambda x: at.sum(x, 0, initial=2.5), lambda x: np.sum(x, 0, initial=2.5), *drawn("float64", (3, 4)))
    compare(lambda x: at.prod(x, 1, initial=2.5), lambda x: np.prod(x, 1, initial=2.5), *drawn("float64", (3, 4)))


def test_errors_of_where():
    x = at.matrix("x")
    with pytest.raises(ValueError, match="needs `initial`"):
        at.max(x, where=MASK)
    with pytest.raises(TypeError, match="must be Boolean"):
        at.sum(x, where=np.ones((3, 4)))
    with pytest.raises(ValueError, match="must broadcast"):
        at.sum(at.vector(), where=MASK)
    with pytest.raises(NotImplementedError):
        at.mean(x, op=True, where=MASK)


def test_dtype_of_variance():
    compare(
        lambda x: at.var(x, 0, dtype="float64"),
        lambda x: np.var(x, 0, dtype="float64"),
        *drawn("float32", (3, 4)),
        rtol=1e-12,
    )
    compare(
        lambda x: at.std(x, 0, ddof=1, dtype="float32"),
        lambda x: np.std(x, 0, ddof=1, dtype="float32"),
        *drawn("float64", (3, 4)),
        rtol=1e-5,
    )


@pytest.mark.parametrize("keepdims", [False, True])
def test_ptp(keepdims):
    compare(lambda x: at.ptp(x, 0, keepdims), lambda x: np.ptp(x, 0, keepdims=keepdims), *drawn("float64", (3, 4)))


@pytest.mark.parametrize("decimals", [-1, 0, 2])
def test_round(decimals):
    (x,) = drawn("float64", (3, 4))
    for function in (
        lambda x: at.round(x, decimals),
        lambda x: x.round(decimals=decimals),
        lambda x: at.round(x, None, decimals),
    ):
        compare(function, lambda x: np.round(x, decimals), x * 10, gradient=False)
    compare(lambda x: at.round(x, decimals), lambda x: np.round(x, decimals), (x * 10).astype("int64"))
    got = at.round([0.25, 2.5, -2.5], "half_away_from_zero", 1 if decimals > 0 else 0).eval()
    assert_close(got, [0.3, 2.5, -2.5] if decimals > 0 else [0, 3, -3])


def test_clip_with_one_bound():
    (x,) = drawn("float64", (3, 4))
    compare(lambda x: x.clip(None, 1), lambda x: x.clip(None, 1), x)
    compare(lambda x: x.clip(-1), lambda x: x.clip(-1), x)
    compare(lambda x: x.clip(-1, 1), lambda x: x.clip(-1, 1), x)


@pytest.mark.parametrize(
    "shift, axis", [((1, 2), (0, 1)), (1, (0, 1)), ((1, -2), 1), (2, 0), (5, None), ((1, 1), (1, 1))]
)
def test_roll(shift, axis):
    compare(lambda x: at.roll(x, shift, axis), lambda x: np.roll(x, shift, axis), *drawn("float64", (3, 4)))
    with pytest.raises(ValueError, match="as many shifts"):
        at.roll(at.matrix(), (1, 2, 3), (0, 1))


def test_diff():
    (x,) = drawn("float64", (3, 4))
    compare(lambda x: at.diff(x, prepend=0, append=1), lambda x: np.diff(x, prepend=0, append=1), x)
    compare(lambda x: at.diff(x, 2, 0, prepend=x[:1]), lambda x: np.diff(x, 2, 0, prepend=x[:1]), x)


def test_cumulative_dtype():
    (x,) = drawn("int32", (3, 4))
    compare(lambda x: at.cumsum(x, 1, dtype="float64"), lambda x: np.cumsum(x, 1, dtype="float64"), x)
    compare(lambda x: at.cumprod(x, 0, dtype="int64"), lambda x: np.cumprod(x, 0, dtype="int64"), x)


def test_concatenate():
    x, y = drawn("float64", (2, 3), (4,))
    compare(lambda x, y: at.concatenate([x, y], axis=None), lambda x, y: np.concatenate([x, y], axis=None), x, y)
    compare(lambda x: at.concatenate([x, x], dtype="float32"), lambda x: np.concatenate([x, x], dtype="float32"), x)


class TestEqualSteps:
    @pytest.mark.parametrize("endpoint", [True, False])
    @pytest.mark.parametrize("steps", [0, 1, 2, 7])
    @pytest.mark.parametrize("dtype", [None, "float32", "int64"])
    def test_linspace(self, endpoint, steps, dtype):
        for start, stop in ((-1.0, 2.5), (0.1, 0.7)):
            got = at.linspace(start, stop, steps, endpoint=endpoint, dtype=dtype).eval()
            want = np.linspace(start, stop, steps, endpoint=endpoint, dtype=dtype)
            np.testing.assert_allclose(got, want, rtol=1e-6 if dtype == "float32" else 1e-14)
            assert got.dtype == want.dtype
            if endpoint and steps > 1 and dtype is None:
                assert got[-1] == stop

    def test_keywords_and_symbols(self):
        n = at.lscalar("n")
        f = aesara.function([n], at.linspace(0.0, stop=1.0, num=n))
        assert_close(f(5), np.linspace(0, 1, 5))
        assert at.linspace(0, 1).type.shape == (50,)
        _, step = at.linspace(0, 1, 5, retstep=True)
        assert step.eval() == 0.25
        with pytest.raises(TypeError, match="two names"):
            at.linspace(0, 1, 5, num=5)
        with pytest.raises(TypeError, match="is missing"):
            at.linspace(0)
        with pytest.raises(TypeError, match="must be an integer"):
            at.linspace(0, 1, 5.5)

    @pytest.mark.parametrize("axis", [0, 1, -1])
    def test_between_tensors(self, axis):
        a, b = drawn("float64", (3,), (3,))
        for name, shift in (("linspace", 0), ("logspace", 0), ("geomspace", 10)):
            compare(
                lambda a, b: getattr(at, name)(a + shift, b + shift, 5, axis=axis),
                lambda a, b: getattr(np, name)(a + shift, b + shift, 5, axis=axis),
                a,
                b,
                gradient=name != "logspace",
            )

    @pytest.mark.parametrize("endpoint", [True, False])
    def test_logspace_and_geomspace(self, endpoint):
        assert_close(at.logspace(0, 2, 7, 2.0, endpoint).eval(), np.logspace(0, 2, 7, endpoint, 2.0))
        for start, stop in ((1, 1000), (-2.5, -0.1)):
            got = at.geomspace(start, stop, 7, endpoint=endpoint).eval()
            assert_close(got, np.geomspace(start, stop, 7, endpoint))
            assert got[0] == start
            assert not endpoint or got[-1] == stop
