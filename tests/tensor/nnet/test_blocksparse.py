"""Products of chosen blocks of a matrix."""

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.gradient import verify_grad
from aesara.tensor.nnet.blocksparse import (
    SparseBlockGemv,
    SparseBlockOuter,
    sparse_block_dot,
    sparse_block_gemv,
    sparse_block_gemv_inplace,
    sparse_block_outer,
    sparse_block_outer_inplace,
)
from tests.closeness import assert_close

RNG = np.random.default_rng(0)
W, H, B = RNG.normal(size=(4, 5, 2, 3)), RNG.normal(size=(2, 2, 2)), RNG.normal(size=(5, 3))
OF_INPUT, OF_OUTPUT = np.array([[0, 3], [1, 1]]), np.array([[4, 0, 2], [1, 1, -2]])
NAMES = pytest.mark.parametrize("mode", [None, "FAST_COMPILE", "DebugMode"])


def variables():
    return at.dtensor4("W"), at.dtensor3("h"), at.lmatrix("i"), at.dmatrix("b"), at.imatrix("o")


VALUES = (W, H, OF_INPUT, B, OF_OUTPUT.astype("int32"))


def product(h=H, w=W, b=B):
    result = b[OF_OUTPUT].copy()
    for n, j, i in np.ndindex(2, 3, 2):
        result[n, j] += h[n, i] @ w[OF_INPUT[n, i], OF_OUTPUT[n, j]]
    return result


def outer(result, x, y, alpha=1.0):
    result = result.copy()
    for n, i, j in np.ndindex(2, 2, 3):
        result[OF_INPUT[n, i], OF_OUTPUT[n, j]] += alpha * np.outer(x[n, i], y[n, j])
    return result


@NAMES
def test_product(mode):
    inputs = variables()
    f = aesara.function(inputs, sparse_block_dot(*inputs), mode=mode)
    assert_close(f(*VALUES), product(), size=1.0)
    with pytest.raises((IndexError, ValueError)):
        f(W, H, OF_INPUT + 4, B, VALUES[4])
    with pytest.raises((IndexError, ValueError)):
        f(W, H, OF_INPUT[:, :1], B, VALUES[4])
    with pytest.raises((IndexError, ValueError)):
        f(W, H[:, :, :1], OF_INPUT, B, VALUES[4])


@NAMES
def test_gradients(mode):
    inputs = variables()
    w, h, _, b, _ = inputs
    result = sparse_block_dot(*inputs)
    gradients = aesara.grad((result**2).sum(), [w, h, b])
    g = 2 * product()
    of_h, of_b = np.zeros_like(H), np.zeros_like(B)
    for n, j, i in np.ndindex(2, 3, 2):
        of_h[n, i] += W[OF_INPUT[n, i], OF_OUTPUT[n, j]] @ g[n, j]
    np.add.at(of_b, OF_OUTPUT, g)
    wanted = [outer(np.zeros_like(W), H, g), of_h, of_b]
    f = aesara.function(inputs, gradients, mode=mode)
    for got, want in zip(f(*VALUES), wanted):
        assert_close(got, want, size=1.0)
    if mode is None:
        assert {sparse_block_gemv_inplace, sparse_block_outer_inplace} <= {n.op for n in f.maker.fgraph.apply_nodes}
        assert "nothing in Python" in str(aesara.explain(f))


@NAMES
def test_outer_products(mode, rng):
    o, x, y, alpha = at.dtensor4(), at.dtensor3(), at.dtensor3(), at.dscalar()
    given = rng.normal(size=(4, 5, 2, 3)), H, rng.normal(size=(2, 3, 3))
    results = [
        sparse_block_outer(o, x, y, OF_INPUT, OF_OUTPUT),
        sparse_block_outer(o, x, y, OF_INPUT, OF_OUTPUT, alpha=alpha),
    ]
    f = aesara.function([o, x, y, alpha], results, mode=mode)
    plain, scaled = f(*given, -0.5)
    assert_close(plain, outer(*given), size=1.0)
    assert_close(scaled, outer(*given, -0.5), size=1.0)


def test_second_derivatives(rng):
    verify_grad(lambda w, h, b: at.tanh(sparse_block_dot(w, h, OF_INPUT, b, OF_OUTPUT)), [W, H, B], rng=rng)
    y = rng.normal(size=(2, 3, 3))
    verify_grad(
        lambda o, x, y, alpha: at.tanh(sparse_block_outer(o, x, y, OF_INPUT, OF_OUTPUT, alpha)),
        [W, H, y, np.array(0.5)],
        rng=rng,
    )


def test_without_a_batch():
    result = sparse_block_dot(W, H[0], OF_INPUT[0], B, OF_OUTPUT[0])
    assert_close(result.eval(), product()[:1], size=1.0)


def test_the_wider_dtype_and_what_is_refused():
    w, h, i, b, o = variables()
    assert sparse_block_gemv(b[o].astype("float32"), w.astype("float32"), h, i, o).dtype == "float64"
    assert sparse_block_gemv(b[o], w, h, i, o).owner.op == SparseBlockGemv() != SparseBlockGemv(inplace=True)
    assert sparse_block_outer == SparseBlockOuter() and sparse_block_outer_inplace.destroy_map == {0: [0]}
    for build, message in [
        (lambda: sparse_block_gemv(b, w, h, i, o), "o must be a 3D"),
        (lambda: sparse_block_gemv(h, h, h, i, o), "W must be a 4D"),
        (lambda: sparse_block_gemv(h, w, h, at.dmatrix(), o), "integer"),
        (lambda: sparse_block_gemv(h, w, h, i, at.lvector()), "2D"),
        (lambda: sparse_block_outer(w, h, b, i, o), "y must be a 3D"),
        (lambda: sparse_block_outer(w, h, h, i, o, at.dvector()), "alpha must be a 0D"),
    ]:
        with pytest.raises(TypeError, match=message):
            build()
