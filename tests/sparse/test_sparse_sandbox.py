"""Random sparse matrices, and convolution and pooling of flat images."""

import numpy as np
import pytest
import scipy.signal
import scipy.sparse
from sparse_data import some_matrix

import aesara
import aesara.sparse as sparse
import aesara.tensor as at
from aesara.sparse.sandbox import sp, sp2
from tests.closeness import assert_close


@pytest.mark.parametrize("mode", ["valid", "full"])
@pytest.mark.parametrize("step", [(1, 1), (2, 1)])
def test_convolve(rng, mode, step):
    images, kernels, bias = rng.normal(size=(2, 2 * 4 * 5)), rng.normal(size=(3, 2 * 2 * 3)), rng.normal(size=3)
    K, I, b = at.dmatrix("K"), at.dmatrix("I"), at.dvector("b")
    result, shape = sp.convolve(K, (2, 3), 3, I, (2, 4, 5), step=step, bias=b, mode=mode, flatten=False)
    got = aesara.function([K, I, b], result)(kernels, images, bias).reshape(2, *shape)
    for image, maps in zip(images.reshape(2, 2, 4, 5), got, strict=True):
        for kernel, number, one in zip(kernels.reshape(3, 2, 2, 3), bias, maps, strict=True):
            expected = sum(scipy.signal.correlate2d(a, k, mode) for a, k in zip(image, kernel, strict=True))
            assert_close(one, expected[:: step[0], :: step[1]] + number, size=1.0)
    flat, _ = sp.convolve(K, (2, 3), 3, I, (2, 4, 5), step=step, mode=mode)
    assert flat.ndim == 2 and flat.eval({K: kernels, I: images}).shape == (2, got[0].size)
    with pytest.raises(ValueError, match="mode"):
        sp.convolve(K, (2, 3), 3, I, (2, 4, 5), mode="same")


def test_max_pool(rng):
    images = rng.normal(size=(3, 2 * 5 * 4))
    I = at.dmatrix("I")
    result, shape = sp.max_pool(I, (2, 5, 4), (2, 2))
    assert list(shape) == [2, 2]
    expected = images.reshape(3, 2, 5, 4)[:, :, :4].reshape(3, 2, 2, 2, 2, 2).max(axis=(3, 5))
    np.testing.assert_array_equal(aesara.function([I], result)(images), expected.reshape(3, -1))
    with pytest.raises(ValueError, match="shape of images"):
        sp.max_pool(I, (5,), (2, 2))


def test_draws(rng):
    np.random.set_state(np.random.RandomState(5).get_state())  # the draws are those of NumPy's own generator
    p = scipy.sparse.csr_matrix(np.array([[0.5, 0.0, 0.5], [0.0, 1.0, 0.0], [0.0, 0.0, 0.0]]))
    P, n = sparse.csr_matrix("P"), at.lvector("n")
    counts = aesara.function([P, n], sp2.multinomial(n, P))(p, [4000, 7, 9])
    assert (counts.sum(axis=1).A1 == [4000, 7, 0]).all() and counts[1, 1] == 7
    assert abs(counts[0, 0] - 2000) < 5 * np.sqrt(1000) and counts[0, 1] == 0
    means = some_matrix(rng, 5, 4)
    means.data = np.full(means.nnz, 1000.0)
    drawn = aesara.function([P], sp2.poisson(P))(means)
    assert ((drawn != 0) != (means != 0)).nnz == 0 and (abs(drawn.data - 1000) < 5 * np.sqrt(1000)).all()
    f = aesara.function([], sp2.csc_fbinomial(10, 0.25, [40, 50]))
    one, two = f(), f()
    assert one.format == "csc" and one.dtype == "float32" and one.shape == (40, 50) and (one != two).nnz
    assert abs(one.sum() - 5000) < 5 * np.sqrt(3750) and one.data.max() <= 10
    with pytest.raises(TypeError):
        sp2.csr_dbinomial(1.5, 0.25, [4, 5])
    with pytest.raises(NotImplementedError):
        sp2.multinomial(3, P.T)
    with pytest.raises(ValueError, match="numbers of trials"):
        aesara.function([P, n], sp2.multinomial(n, P))(p, [1, 2])
