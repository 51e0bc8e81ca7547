"""Batch normalisation against its formulas in NumPy and against differences, on both machines."""

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.gradient import verify_grad
from aesara.tensor.nnet.batchnorm import (
    AbstractBatchNormInference,
    AbstractBatchNormTrain,
    AbstractBatchNormTrainGrad,
    BNComposite,
    batch_normalization,
    batch_normalization_test,
    batch_normalization_train,
)

X = np.random.default_rng(0).normal(size=(4, 3, 2, 5)) * 2 + 1
MODES = {"native": None, "reference": "FAST_COMPILE"}
AXES = {"per-activation": (0,), "spatial": (0, 2, 3), (1, 3): (1, 3), (0, 1, 2, 3): (0, 1, 2, 3)}
OF_SCALE = {"per-activation": (3, 2, 5), "spatial": (3,), (1, 3): (4, 2), (0, 1, 2, 3): ()}


def factors(rng, axes, count):
    """Scales, shifts and statistics, in the short form and with all dimensions."""
    short = [rng.uniform(0.5, 2, size=OF_SCALE[axes]) for _ in range(count)]
    return short, [np.expand_dims(v, AXES[axes]) for v in short]


def formula(x, scale, bias, axes, mean=None, variance=None, epsilon=1e-4):
    if mean is None:
        mean, variance = x.mean(axes, keepdims=True), x.var(axes, keepdims=True)
    return (x - mean) / np.sqrt(variance + epsilon) * scale + bias


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("axes", AXES, ids=str)
def test_training(axes, mode):
    rng = np.random.default_rng(1)
    short, (scale, bias, *_) = factors(rng, axes, 4)
    x, *rest = variables = [at.tensor("float64", shape=(None,) * v.ndim) for v in (X, *short)]
    results = batch_normalization_train(
        x, rest[0], rest[1], axes, 1e-3, 0.25, running_mean=rest[2], running_var=rest[3]
    )
    assert [v.type.ndim for v in results] == [4, *[short[0].ndim] * 4]
    f = aesara.function(variables, results, mode=MODES[mode])
    if mode == "native":
        assert aesara.explain(f).python == []
    along = AXES[axes]
    mean, variance = X.mean(along), X.var(along)
    m = X.size // mean.size
    wanted = [
        formula(X, scale, bias, along, epsilon=1e-3),
        mean,
        1 / np.sqrt(variance + 1e-3),
        short[2] * 0.75 + mean * 0.25,
        short[3] * 0.75 + variance * m / (m - 1) * 0.25,
    ]
    for got, want in zip(f(X, *short), wanted, strict=True):
        assert got.shape == want.shape
        np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("axes", AXES, ids=str)
def test_inference(axes, mode):
    rng = np.random.default_rng(1)
    short, (scale, bias, mean, variance) = factors(rng, axes, 4)
    x, *rest = variables = [at.tensor("float64", shape=(None,) * v.ndim) for v in (X, *short)]
    f = aesara.function(variables, batch_normalization_test(x, *rest, axes=axes, epsilon=1e-2), mode=MODES[mode])
    wanted = formula(X, scale, bias, AXES[axes], mean, variance, 1e-2)
    np.testing.assert_allclose(f(X, *short), wanted, rtol=1e-12, atol=1e-13)


@pytest.mark.slow
@pytest.mark.parametrize("axes", ["per-activation", "spatial"])
def test_gradients_of_all_results(axes):
    """Statistics are results too: what depends on them has a gradient, alone and beside the normalised inputs."""
    rng = np.random.default_rng(1)
    (scale, bias, mean, variance), _ = factors(rng, axes, 4)
    for chosen in ([0], [1], [2], [0, 1, 2], [3, 4], [0, 4]):
        weights = [rng.normal(size=s) for s in (X.shape, *[scale.shape] * 4)]

        def cost(x, scale, bias, mean, variance, chosen=chosen, weights=weights):
            results = batch_normalization_train(x, scale, bias, axes, running_mean=mean, running_var=variance)
            return sum((results[k] * weights[k]).sum() for k in chosen)

        given = [X, scale, bias, mean, variance] if chosen[-1] > 2 else [X, scale, bias]
        if chosen == [3, 4]:
            cost_of = lambda x, m, v, c=cost: c(x, scale, bias, m, v)
            given = [X, mean, variance]
        elif chosen == [0, 4]:
            cost_of = lambda x, s, b, v, c=cost: c(x, s, b, mean, v)
            given = [X, scale, bias, variance]
        elif 0 in chosen:
            cost_of = lambda x, s, b, c=cost: c(x, s, b, mean, variance)
        else:
            cost_of = lambda x, c=cost: c(x, scale, bias, mean, variance)
            given = [X]
        verify_grad(cost_of, given, rng=rng, mode="FAST_COMPILE")


def test_gradient_is_the_op_and_runs_natively():
    rng = np.random.default_rng(1)
    x, g = at.dtensor4("x"), at.dtensor4("g")
    scale, bias = at.dvector("scale"), at.dvector("bias")
    out = batch_normalization_train(x, scale, bias, "spatial")[0]
    found = aesara.grad((out * g).sum(), [x, scale, bias])
    assert isinstance(found[0].owner.op, AbstractBatchNormTrainGrad)
    weights, (s, b) = rng.normal(size=X.shape), factors(rng, "spatial", 2)[0]
    results = []
    for mode in MODES.values():
        f = aesara.function([x, g, scale, bias], [out, *found], mode=mode)
        results.append(f(X, weights, s, b))
        if mode is None:
            assert aesara.explain(f).python == []
            assert not any(isinstance(n.op, AbstractBatchNormTrain) for n in f.maker.fgraph.apply_nodes)
    for native, reference in zip(*results):
        np.testing.assert_allclose(native, reference, rtol=1e-10, atol=1e-12)
    along = AXES["spatial"]
    deviation = (X - X.mean(along, keepdims=True)) / np.sqrt(X.var(along, keepdims=True) + 1e-4)
    np.testing.assert_allclose(results[0][2], (weights * deviation).sum(along), rtol=1e-9)
    np.testing.assert_allclose(results[0][3], weights.sum(along), rtol=1e-9)


def test_second_derivatives():
    rng = np.random.default_rng(1)
    small = X[:, :2, :1, :2]
    weights = rng.normal(size=small.shape)
    points = [small, rng.normal(size=small.shape), np.array([0.5, 2.0])]

    def gradient(x, direction, scale):
        out = batch_normalization_train(x, scale, np.zeros(2), "spatial")[0]
        return (aesara.grad((out * weights * out).sum(), x) * direction).sum()

    verify_grad(gradient, points, rng=rng, mode="FAST_COMPILE")


def test_gradients_of_inference():
    rng = np.random.default_rng(1)
    (scale, bias, mean, variance), _ = factors(rng, "spatial", 4)
    weights = rng.normal(size=X.shape)
    verify_grad(
        lambda *v: (batch_normalization_test(*v, axes="spatial") * weights).sum(),
        [X, scale, bias, mean, variance],
        rng=rng,
        mode="FAST_COMPILE",
    )


@pytest.mark.parametrize("kind", ["low_mem", "high_mem"])
def test_with_given_deviations(kind):
    rng = np.random.default_rng(1)
    x, values = at.dmatrix("x"), X[:, :, 0, 0]
    scale, bias, mean, std = (rng.uniform(0.5, 2, size=3) for _ in range(4))
    y = batch_normalization(x, scale, bias, mean, std, mode=kind)
    if kind == "low_mem":
        assert isinstance(y.owner.op.scalar_op, BNComposite)
    for mode in MODES.values():
        f = aesara.function([x], [y, aesara.grad((y**2).sum(), x)], mode=mode)
        want = (values - mean) / std * scale + bias
        value, gradient = f(values)
        np.testing.assert_allclose(value, want, rtol=1e-12, atol=1e-13)
        np.testing.assert_allclose(gradient, 2 * want * scale / std, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize(
    "dtypes", [("float32", "float32"), ("float16", "float16"), ("int64", "float64"), ("float32", "float64")]
)
def test_dtypes(dtypes):
    x, scale = at.tensor(dtype=dtypes[0], shape=(None,) * 4), at.tensor(dtype=dtypes[1], shape=(None,))
    results = batch_normalization_train(x, scale, scale, "spatial", running_mean=scale, running_var=scale)
    wide = np.result_type(*dtypes)
    assert {v.type.dtype for v in results} == {str(wide)}
    values, of_scale = X.astype(dtypes[0]), np.array([1.0, 2, 3], dtype=dtypes[1])
    got = [aesara.function([x, scale], results, mode=mode)(values, of_scale) for mode in MODES.values()]
    want = formula(values.astype(float), *[of_scale.astype(float).reshape(1, 3, 1, 1)] * 2, AXES["spatial"])
    for native, reference in zip(*got):
        np.testing.assert_allclose(
            native.astype(float), reference.astype(float), rtol=4 * np.finfo(wide).eps, atol=8 * np.finfo(wide).eps
        )
    np.testing.assert_allclose(got[0][0].astype(float), want, rtol=8 * np.finfo(wide).eps, atol=16 * np.finfo(wide).eps)


def test_shapes_need_no_values():
    x, scale = at.dtensor4("x"), at.dvector("scale")
    results = batch_normalization_train(x, scale, scale, "spatial")
    f = aesara.function([x, scale], [v.shape for v in results])
    assert not any(isinstance(n.op, AbstractBatchNormTrain) for n in f.maker.fgraph.apply_nodes)
    assert [list(s) for s in f(X, np.ones(3))] == [[4, 3, 2, 5], [3], [3]]
    known = at.tensor("float64", shape=(4, 3, None, 5))
    y = AbstractBatchNormTrain((0,))(x, *[np.ones((1, 1, 2, 5))] * 2)[0]
    assert y.type.shape == (None, 1, None, None)  # nothing is broadcast
    assert AbstractBatchNormTrain((0, 2))(known, *[np.ones((1, 3, 1, 5))] * 2)[1].type.shape == (1, 3, 1, 5)


@pytest.mark.parametrize(
    "message, call",
    [
        ("invalid axes: foo", lambda x, v: batch_normalization_train(x, v, v, "foo")),
        ("invalid axes: 0", lambda x, v: batch_normalization_train(x, v, v, 0)),
        ("axes should be less than ndim", lambda x, v: batch_normalization_train(x, v, v, (0, 5))),
        ("axes should be less than ndim", lambda x, v: batch_normalization_test(x, v, v, v, v, (-1,))),
        ("at least one normalization axis", lambda x, v: batch_normalization_train(x, v, v, ())),
        ("different numbers", lambda x, v: batch_normalization_train(x, x, x, (0, 0))),
        ("epsilon must be at least 1e-5", lambda x, v: batch_normalization_train(x, v, v, "spatial", 1e-8)),
        ("epsilon must be at least 1e-5", lambda x, v: batch_normalization_test(x, v, v, v, v, "spatial", 1e-8)),
        ("got 1 and 4 instead of 1", lambda x, v: batch_normalization_train(x, v, x, "spatial")),
        ("got 2 and 2 instead of 1", lambda x, v: batch_normalization_train(x, *[at.dmatrix()] * 2, "spatial")),
        (
            "must both be tensors, or both None",
            lambda x, v: batch_normalization_train(x, v, v, "spatial", running_mean=v),
        ),
        ("mode must be either", lambda x, v: batch_normalization(x, v, v, v, v, mode="no_mem")),
        (
            "dimension 1 of `scale` has length 2",
            lambda x, v: AbstractBatchNormInference((0,))(np.ones((2, 3)), *[np.ones((1, 2))] * 4),
        ),
    ],
)
def test_what_is_refused(message, call):
    with pytest.raises(ValueError, match=message):
        call(at.dtensor4("x"), at.dvector("v"))


@pytest.mark.parametrize("mode", MODES)
def test_calls_with_factors_that_do_not_fit(mode):
    x, scale = at.dmatrix("x"), at.dvector("scale")
    f = aesara.function([x, scale], batch_normalization_train(x, scale, scale), mode=MODES[mode])
    for length in (1, 2):
        with pytest.raises(ValueError, match="mismatch|has the shape"):
            f(np.ones((4, 3)), np.ones(length))
    row = at.dmatrix("row")
    f = aesara.function([x, row], batch_normalization_train(x, row, row), mode=MODES[mode])
    assert f(np.ones((4, 3)), np.ones((1, 3)))[1].shape == (1, 3)
    with pytest.raises((ValueError, AssertionError)):
        f(np.ones((4, 3)), np.ones((4, 3)))
