"""Draws as functions of a key: the numbers of Random123 and of JAX, the same in every mode, in loops and batches."""

import numpy as np
import pytest
from scipy import stats

import aesara
import aesara.tensor as at
from aesara.tensor.random import threefry
from aesara.tensor.random.threefry.bits import numbers_of_elements

MODES = ["FAST_COMPILE", "FAST_RUN"]
KEY = at.tensor("uint32", shape=(2,), name="key")


def computed(expression, seed=42, mode="FAST_RUN"):
    """The value of an expression of `KEY`, compiled for all keys."""
    return aesara.function([KEY], expression, mode=mode)(np.array([0, seed], dtype="uint32"))


# Known answers of Random123 for 20 rounds.
@pytest.mark.parametrize(
    "counter, key, answer",
    [
        ((0, 0), (0, 0), (0x6B200159, 0x99BA4EFE)),
        ((0xFFFFFFFF, 0xFFFFFFFF), (0xFFFFFFFF, 0xFFFFFFFF), (0x1CB996FC, 0xBB002BE7)),
        ((0x243F6A88, 0x85A308D3), (0x13198A2E, 0x03707344), (0xC4923A9C, 0x483DF7A0)),
    ],
)
def test_known_answers(counter, key, answer):
    words = at.vector(dtype="uint32")
    result = threefry.threefry2x32(*(words[i] for i in range(4)))
    for mode in MODES:
        found = aesara.function([words], result, mode=mode)(np.array([*key, *counter], dtype="uint32"))
        assert [int(word) for word in found] == list(answer)


# JAX 0.10.2 with 64-bit numbers and jax_threefry_partitionable, key(42). Here all bits have to agree.
SAME_BITS = {
    "split": (
        lambda k: threefry.split(k, 3),
        [[1832780943, 270669613], [64467757, 2916123636], [2465931498, 255383827]],
    ),
    "split in two dimensions": (
        lambda k: threefry.split(k, (2, 2)),
        [[[1832780943, 270669613], [64467757, 2916123636]], [[2465931498, 255383827], [3134548294, 894150801]]],
    ),
    "fold_in": (lambda k: threefry.fold_in(k, 7), [2547012911, 1371500959]),
    "fold_in of several": (
        lambda k: threefry.fold_in(k, [7, -1]),
        [[2547012911, 1371500959], [2398536845, 3890976714]],
    ),
    "bits uint8": (lambda k: threefry.bits(k, (2, 3), "uint8"), [[162, 217, 249], [215, 21, 216]]),
    "bits uint16": (lambda k: threefry.bits(k, (2, 3), "uint16"), [[5026, 12505, 63993], [49623, 29461, 20184]]),
    "bits uint32": (
        lambda k: threefry.bits(k, (2, 3)),
        [[2098992034, 2919706841, 2646866425], [2409546199, 1935504149, 2516274904]],
    ),
    "bits uint64": (
        lambda k: threefry.bits(k, 3, "uint64"),
        [7871734211187709741, 276886910877598708, 10591095138341673235],
    ),
    "uniform float16": (
        lambda k: threefry.uniform(k, size=(2, 3), dtype="float16"),
        [[0.076171875, 0.1904296875, 0.9755859375], [0.7568359375, 0.44921875, 0.3076171875]],
    ),
    "uniform float32": (
        lambda k: threefry.uniform(k, size=3, dtype="float32"),
        [0.48870956897735596, 0.6797971725463867, 0.6162714958190918],
    ),
    "uniform float64": (
        lambda k: threefry.uniform(k, size=3),
        [0.4267275666499091, 0.015010069515314584, 0.5741444178995352],
    ),
    "randint int8": (lambda k: threefry.randint(k, 3, 100, 5, "int8"), [38, 79, 89, 54, 28]),
    "randint uint32": (lambda k: threefry.randint(k, 3, 100, 5, "uint32"), [38, 79, 89, 54, 28]),
    "randint int64": (lambda k: threefry.randint(k, 3, 100, 5), [34, 78, 93, 73, 60]),
    "randint uint64": (lambda k: threefry.randint(k, 3, 100, 5, "uint64"), [34, 78, 93, 73, 60]),
    "randint of 16 bits": (lambda k: threefry.randint(k, -5, 60000, 4, "int32"), [3659, 10259, 28516, 52924]),
    "randint of 32 bits": (
        lambda k: threefry.randint(k, -5, 4 * 10**9, 4),
        [1901206330, 2303240768, 3651564553, 3081133331],
    ),
    "randint of 63 bits": (
        lambda k: threefry.randint(k, -(2**62), 2**62 + 5, 3),
        [-145378591231461840, -3741815450302687559, -3506958169482507113],
    ),
    "randint all of uint8": (lambda k: threefry.randint(k, 0, 256, 5, "uint8"), [196, 18, 183, 193, 141]),
    "randint all of int16": (lambda k: threefry.randint(k, -(2**15), 2**15, 3, "int16"), [-19260, 12306, 1207]),
    "randint but one of int32": (
        lambda k: threefry.randint(k, -(2**31), 2**31 - 1, 3, "int32"),
        [977810628, 1236381714, -1367112521],
    ),
    "bernoulli": (lambda k: threefry.bernoulli(k, 0.3, 10), [0, 1, 0, 0, 0, 0, 0, 0, 1, 1]),
    "categorical": (lambda k: threefry.categorical(k, np.log(np.arange(1, 5) / 10), size=6), [3, 3, 2, 1, 3, 3]),
    "categorical of rows": (lambda k: threefry.categorical(k, [[0.0, 1, 2], [2, 1, 0]]), [2, 0]),
    "categorical of columns": (lambda k: threefry.categorical(k, [[0.0, 1, 2], [2, 1, 0]], axis=0), [1, 1, 0]),
    "categorical of rows, several": (
        lambda k: threefry.categorical(k, [[0.0, 1, 2], [2, 1, 0]], size=(3, 2)),
        [[2, 0], [1, 0], [2, 0]],
    ),
    "categorical of columns, several": (
        lambda k: threefry.categorical(k, [[0.0, 1, 2], [2, 1, 0]], axis=0, size=(2, 3)),
        [[1, 1, 0], [1, 0, 0]],
    ),
    "permutation": (lambda k: threefry.permutation(k, 10), [7, 4, 2, 5, 3, 6, 8, 9, 0, 1]),
    "permutation of columns": (
        lambda k: threefry.permutation(k, np.arange(12).reshape(3, 4), axis=1),
        [[2, 3, 0, 1], [6, 7, 4, 5], [10, 11, 8, 9]],
    ),
    "choice": (lambda k: threefry.choice(k, 10, 6), [5, 8, 3, 1, 5, 6]),
    "choice without replacement": (lambda k: threefry.choice(k, 10, 6, replace=False), [7, 4, 2, 5, 3, 6]),
    "choice by probabilities": (lambda k: threefry.choice(k, 10, 6, p=np.arange(1, 11) / 55), [7, 9, 6, 4, 5, 5]),
    "choice by probabilities without replacement": (
        lambda k: threefry.choice(k, 10, 6, replace=False, p=np.arange(1, 11) / 55),
        [6, 7, 5, 4, 3, 9],
    ),
    "choice of columns": (
        lambda k: threefry.choice(k, np.arange(12).reshape(3, 4), 2, axis=1),
        [[1, 2], [5, 6], [9, 10]],
    ),
}


@pytest.mark.slow
def test_numbers_of_jax_to_the_last_bit():
    names = list(SAME_BITS)
    expressions = [SAME_BITS[name][0](KEY) for name in names]
    for mode in MODES:
        for name, expression, found in zip(names, expressions, computed(expressions, mode=mode)):
            wanted = np.array(SAME_BITS[name][1], dtype=found.dtype)
            assert found.shape == wanted.shape and (found == wanted).all(), (name, mode, found)
            assert found.dtype == expression.type.dtype and expression.type.is_valid_value(found), name


# As above. The functions of our own that these are made of may differ from JAX's in the last bits.
NEARLY = {
    # JAX rounds once where bounds are applied, by a fused multiplication and addition.
    "uniform": (
        lambda k, d: threefry.uniform(k, -2, 5, size=4, dtype=d),
        [0.9870929665493635, -1.894929513392798, 2.0190109252967465, 3.108732278332416],
        [1.4209669828414917, 2.758580207824707, 2.3139004707336426, 1.9271125793457031],
    ),
    "normal": (
        lambda k, d: threefry.normal(k, size=3, dtype=d),
        [-0.18471174528191162, -2.169824560397754, 0.18693555179382582],
        [-0.02830461598932743, 0.4671318531036377, 0.2957029640674591],
    ),
    "exponential": (
        lambda k, d: threefry.exponential(k, size=3, dtype=d),
        [0.5563942243855916, 0.015123860720489336, 0.8536549993431988],
        [0.670817494392395, 1.1388006210327148, 0.9578199982643127],
    ),
    "laplace": (
        lambda k, d: threefry.laplace(k, size=3, dtype=d),
        [0.15846230602649014, 3.5058868215207473, -0.16050781878325354],
        [0.022839652374386787, -0.4456535577774048, -0.2646729052066803],
    ),
    "logistic": (
        lambda k, d: threefry.logistic(k, size=3, dtype=d),
        [-0.29521526220084393, -4.183910141360207, 0.29878068416298553],
        [-0.0451694130897522, 0.7528398036956787, 0.47375231981277466],
    ),
    "gumbel": (
        lambda k, d: threefry.gumbel(k, size=3, dtype=d),
        [0.16062720630382138, -1.4348544993307841, 0.5890136500161952],
        [0.3340933918952942, 0.952019453048706, 0.7255305647850037],
    ),
    "cauchy": (
        lambda k, d: threefry.cauchy(k, size=3, dtype=d),
        [-0.23434604341667786, -21.19070234669309, 0.23723777098183235],
        [-0.03548463061451912, 0.6337261199951172, 0.38244056701660156],
    ),
    "rayleigh": (
        lambda k, d: threefry.rayleigh(k, 2.0, size=3, dtype=d),
        [2.6101486342144358, 5.795884058247333, 2.1068921475580344],
        None,
    ),
    "lognormal": (
        lambda k, d: threefry.lognormal(k, sigma=0.5, size=3, dtype=d),
        [0.9117806140267735, 0.33793142787224595, 1.0979752215045038],
        None,
    ),
    "weibull": (
        lambda k, d: threefry.weibull(k, 3.0, size=3, dtype=d),
        [0.822484150499099, 0.24729816266648857, 0.9486240466083737],
        None,
    ),
    "pareto": (
        lambda k, d: threefry.pareto(k, 3.0, size=3, dtype=d),
        [1.203777755582976, 1.0050540155743009, 1.3291659848108275],
        None,
    ),
}


def test_bounds_give_the_same_bits_in_every_mode():
    expressions = [threefry.uniform(KEY, -0.3, 0.7, size=1000, dtype=dtype) for dtype in ("float32", "float64")]
    for a, b in zip(*(computed(expressions, mode=mode) for mode in MODES)):
        assert (a == b).all() and a.dtype == b.dtype


@pytest.mark.slow
def test_numbers_of_jax_nearly():
    cases = [
        (name, dtype) for name in NEARLY for dtype in ("float64", "float32") if NEARLY[name][2 - (dtype == "float64")]
    ]
    expressions = [NEARLY[name][0](KEY, dtype) for name, dtype in cases]
    for mode in MODES:
        for (name, dtype), found in zip(cases, computed(expressions, mode=mode)):
            wanted = np.array(NEARLY[name][2 - (dtype == "float64")])
            # Near its zeros a logarithm or tangent has the rounding of its argument.
            tolerance = 8 * np.finfo(dtype).eps
            np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance, err_msg=f"{name} {dtype}")
            assert found.dtype == dtype


@pytest.mark.parametrize(
    "seed, words", [(42, [0, 42]), (-1, [2**32 - 1] * 2), (2**40 + 5, [256, 5]), (2**64 - 1, [2**32 - 1] * 2)]
)
def test_keys_of_seeds(seed, words):
    assert threefry.key(seed).data.tolist() == words
    number = at.scalar(dtype="uint64" if seed >= 2**63 else "int64")
    assert aesara.function([number], threefry.key(number))(seed).tolist() == words


def test_several_rounds_of_sorting():
    n = at.lscalar("n")
    order = threefry.permutation(threefry.key(42), n)
    f = aesara.function([n], order)
    assert f(10).tolist() == [7, 4, 2, 5, 3, 6, 8, 9, 0, 1]
    assert f(0).tolist() == [] and f(1).tolist() == [0]
    found = f(2000)
    assert found[:8].tolist() == [1474, 815, 539, 874, 1693, 84, 995, 1191]
    assert found.dot(np.arange(2000)) == 2010407423
    assert (found == threefry.permutation(threefry.key(42), 2000).eval()).all()


def test_steps_of_loops_draw_natively():
    def step(number, x, key):
        return x + threefry.normal(threefry.fold_in(key, number))

    walk, _ = aesara.scan(step, sequences=at.arange(20), outputs_info=at.zeros(()), non_sequences=KEY)
    keys = threefry.fold_in(KEY, at.arange(20))
    alone = [threefry.normal(keys[n]) for n in range(3)]
    f = aesara.function([KEY], [walk, *alone])
    found, *draws = f(np.array([0, 42], dtype="uint32"))
    np.testing.assert_allclose(found[:3], np.cumsum(draws), rtol=1e-14)
    explained = aesara.explain(f)
    assert not explained.python
    slow = computed(walk, mode="FAST_COMPILE")
    np.testing.assert_allclose(found, slow, rtol=1e-13)


def test_batches_of_keys():
    keys = at.matrix("keys", dtype="uint32")
    draw = at.vectorize(lambda key: threefry.uniform(key, size=(2, 3)), signature="(k)->(a,b)")
    values = np.array([[0, 42], [5, 6]], dtype="uint32")
    for mode in MODES:
        found = aesara.function([keys], draw(keys), mode=mode)(values)
        assert found.shape == (2, 2, 3)
        for value, one in zip(values, found):
            assert (threefry.uniform(value, size=(2, 3)).eval() == one).all()


def test_the_shape_does_not_matter_to_the_numbers():
    n, m = at.lscalars("n", "m")
    f = aesara.function([KEY, n, m], threefry.bits(KEY, (n, 3, m)))
    key = np.array([0, 42], dtype="uint32")
    flat = threefry.bits(key, 60).eval()
    assert (f(key, 4, 5).ravel() == flat).all() and (f(key, 2, 10).ravel() == flat).all()
    assert f(key, 0, 5).shape == (0, 3, 5)


def test_numbers_of_elements_beyond_32_bits():
    # Few elements, but the number of each is far above 2^32.
    n = at.lscalar("n")
    high, low = numbers_of_elements((n, 2**20))
    f = aesara.function([n], [high[-1, -3:], low[-1, -3:]], mode="FAST_RUN")
    number = 2**13 * 2**20 - 1
    found = f(2**13)
    assert found[0].tolist() == [number >> 32] * 3 and found[1][-1] == number % 2**32


@pytest.mark.slow
def test_derivatives_go_through_draws():
    loc, scale = at.dvector("loc"), at.dscalar("scale")
    for draw in (threefry.normal, threefry.laplace, threefry.logistic, threefry.gumbel, threefry.cauchy):
        x = draw(KEY, loc, scale)
        f = aesara.function([KEY, loc, scale], [x, *aesara.grad((x * [1.0, 2.0, 3.0]).sum(), [loc, scale])])
        values, by_loc, by_scale = f(np.array([0, 42], dtype="uint32"), np.arange(3.0), 2.0)
        assert by_loc.tolist() == [1.0, 2.0, 3.0]
        np.testing.assert_allclose(by_scale, ((values - np.arange(3.0)) / 2.0) @ [1.0, 2.0, 3.0], rtol=1e-14)
    low, high = at.dscalars("low", "high")
    u = threefry.uniform(KEY, low, high, size=5).sum()
    slopes = aesara.function([KEY, low, high], aesara.grad(u, [low, high]))(np.array([0, 42], dtype="uint32"), 0.0, 3.0)
    share = threefry.uniform(threefry.key(42), size=5).eval().sum()
    np.testing.assert_allclose(slopes, [5 - share, share], rtol=1e-14)
    for draw, parameters in (
        (threefry.weibull, (1.5,)),
        (threefry.pareto, (2.5, 1.5)),
        (threefry.lognormal, (0.3, 0.7)),
    ):
        aesara.gradient.verify_grad(
            lambda *p, draw=draw: draw(threefry.key(1), *p, size=3), list(parameters), rng=np.random.default_rng(1)
        )


@pytest.mark.parametrize(
    "make, error, text",
    [
        (lambda: threefry.normal(42), TypeError, "A key is a vector of two numbers of dtype uint32"),
        (lambda: threefry.normal(np.zeros(3, dtype="uint32")), TypeError, "A key is a vector of two"),
        (lambda: threefry.key(2**64), ValueError, "64 bits"),
        (lambda: threefry.key(1.0), TypeError, "must be an integer"),
        (lambda: threefry.key(True), TypeError, "must be an integer"),
        (lambda: threefry.fold_in(KEY, 0.5), TypeError, "must be an integer"),
        (lambda: threefry.bits(KEY, 3, "int32"), TypeError, "unsigned"),
        (lambda: threefry.threefry2x32(1, 2, 3, 4), TypeError, "uint32"),
        (lambda: threefry.normal(KEY, dtype="int64"), TypeError, "floating-point"),
        (lambda: threefry.normal(KEY, 0, -1.0), ValueError, "scale < 0"),
        (lambda: threefry.lognormal(KEY, 0, -1.0), ValueError, "sigma < 0"),
        (lambda: threefry.uniform(KEY, 1, 0), ValueError, "high < low"),
        (lambda: threefry.weibull(KEY, [1.0, 0.0]), ValueError, "shape <= 0"),
        (lambda: threefry.pareto(KEY, 1.0, 0.0), ValueError, "scale <= 0"),
        (lambda: threefry.randint(KEY, 3, 3), ValueError, "low >= high"),
        (lambda: threefry.randint(KEY, 0, 257, dtype="uint8"), ValueError, "high is out of bounds"),
        (lambda: threefry.randint(KEY, -1, 5, dtype="uint8"), ValueError, "low is out of bounds"),
        (lambda: threefry.randint(KEY, -1, 5, dtype="uint64"), ValueError, "negative"),
        (lambda: threefry.randint(KEY, 0.0, 5), TypeError, "bounds of draws of int64 are integers"),
        (lambda: threefry.randint(KEY, 0, 5, dtype="float64"), TypeError, "whole numbers"),
        (lambda: threefry.bernoulli(KEY, [0.5, 1.5]), ValueError, "p < 0 or p > 1"),
        (lambda: threefry.categorical(KEY, 0.5), ValueError, "at least one dimension"),
        (lambda: threefry.categorical(KEY, [0.5], axis=1), ValueError, "out of bounds"),
        (lambda: threefry.categorical(KEY, np.zeros((2, 2, 2)), size=2), ValueError, "size has 1 dimensions"),
        (lambda: threefry.permutation(KEY, 0.5), TypeError, "is an integer"),
        (lambda: threefry.choice(KEY, 3, 4, replace=False), ValueError, "Cannot take more"),
        (lambda: threefry.choice(threefry.key(1), 3, 3, False, [0.5, 0.5, 0.0]).eval(), ValueError, "Cannot take more"),
        (lambda: threefry.choice(KEY, 3, p=[0.5, 0.5]), ValueError, "p and a differ in length"),
        (lambda: threefry.choice(KEY, 3, p=0.5), ValueError, "vector"),
    ],
)
def test_errors(make, error, text):
    with pytest.raises(error, match=text):
        make()


def test_errors_of_calls():
    scale, n = at.dvector("scale"), at.lscalar("n")
    f = aesara.function([scale], threefry.normal(threefry.key(1), 0.0, scale, size=(2, 3)))
    assert f([1.0, 2.0, 0.0]).shape == (2, 3) and np.isnan(f([np.nan])).all()
    with pytest.raises(ValueError, match="scale < 0"):
        f([1.0, -1.0, 1.0])
    with pytest.raises(ValueError):
        f([1.0, 2.0])
    g = aesara.function([n], threefry.randint(threefry.key(1), 2, n, size=3, dtype="uint8"))
    assert ((g(5) >= 2) & (g(5) < 5)).all()
    for wrong, text in ((2, "low >= high"), (257, "high is out of bounds")):
        with pytest.raises(ValueError, match=text):
            g(wrong)


# The distribution functions of standard draws.
DISTRIBUTIONS = {
    "uniform": lambda x: x,
    "normal": stats.norm.cdf,
    "laplace": stats.laplace.cdf,
    "logistic": stats.logistic.cdf,
    "gumbel": stats.gumbel_r.cdf,
    "cauchy": stats.cauchy.cdf,
    "exponential": stats.expon.cdf,
    "rayleigh": stats.rayleigh.cdf,
    "lognormal": lambda x: stats.norm.cdf(np.log(x)),
}


def test_distributions():
    keys = threefry.split(threefry.key(20), len(DISTRIBUTIONS))
    draws = [getattr(threefry, name)(keys[i], size=20000) for i, name in enumerate(DISTRIBUTIONS)]
    for (name, cdf), found in zip(DISTRIBUTIONS.items(), aesara.function([], draws)()):
        assert stats.kstest(found, cdf).pvalue > 1e-3, name


@pytest.mark.slow
def test_counts_are_as_likely_as_they_should_be():
    keys = threefry.split(threefry.key(21), 5)
    p = np.array([0.1, 0.2, 0.3, 0.4])
    draws = [
        threefry.randint(keys[0], 0, 4, 20000),
        threefry.categorical(keys[1], np.log(p), size=20000),
        threefry.choice(keys[2], 4, 20000, p=p),
        threefry.bernoulli(keys[3], 0.3, 20000),
        # Which of 4 elements is the first of a permutation.
        at.vectorize(lambda key: threefry.permutation(key, 4), signature="(k)->(n)")(threefry.split(keys[4], 4000))[
            :, 0
        ],
    ]
    wanted = [np.full(4, 0.25), p, p, np.array([0.7, 0.3]), np.full(4, 0.25)]
    for found, shares in zip(aesara.function([], draws)(), wanted):
        counts = np.bincount(found, minlength=len(shares))
        assert stats.chisquare(counts, shares * len(found)).pvalue > 1e-3


def test_no_draw_is_infinite():
    # With ten bits of a float16, the smallest uniform number is among many.
    draws = [
        threefry.uniform,
        threefry.normal,
        threefry.laplace,
        threefry.exponential,
        threefry.gumbel,
        threefry.logistic,
    ]
    for found in computed([draw(KEY, size=20000, dtype="float16") for draw in draws]):
        assert np.isfinite(found).all() and found.dtype == "float16"
    assert computed(threefry.uniform(KEY, size=20000, dtype="float16")).min() == 0
