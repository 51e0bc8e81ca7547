"""Pooling against plain loops, on both machines: values, derivatives, shapes and what is refused."""

import itertools
import warnings

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.gradient import Rop, verify_grad
from aesara.tensor.signal.pool import (
    AveragePoolGrad,
    DownsampleFactorMaxGradGrad,
    MaxPoolGrad,
    MaxPoolRop,
    Pool,
    max_pool_2d_same_size,
    pool_2d,
    pool_3d,
)
from tests.closeness import assert_close
from tests.tensor.signal.pooling_loops import chosen_windows, output_sizes, pooled, windows_of

MODES = ("max", "sum", "average_inc_pad", "average_exc_pad")
MACHINES = {"native": None, "reference": "FAST_COMPILE"}
TIED = np.random.default_rng(3).integers(-4, 0, size=(2, 7, 5)).astype(float)


def handed_out(x, g, mode, ws, ignore_border, stride, pad):
    """The gradient of pooling, by plain loops."""
    result = np.zeros(x.shape)
    for position, window in windows_of(x.shape, ws, stride, pad, g.shape):
        if mode == "max":
            result[window] += np.where(x[window] == x[window].max(), g[position], 0)
            continue
        ones = np.ones(x[window].shape)
        if mode != "sum":
            alone = pooled(np.ones(x.shape), ws, ignore_border, stride, pad, mode)
            whole = pooled(np.ones(x.shape), ws, ignore_border, stride, pad, "sum")
            ones *= alone[position] / whole[position]
        result[window] += ones * g[position]
    return result


@pytest.fixture(scope="module")
def symbolic():
    """For a machine, a mode and a border: value, gradient and its derivative, with windows that are arguments."""
    made = {}

    def get(machine, mode, ignore_border):
        key = (machine, mode, ignore_border)
        if key not in made:
            x, g, e = at.dtensor3("x"), at.dtensor3("g"), at.dtensor3("e")
            windows = [at.lvector(name) for name in ("ws", "stride", "pad")]
            y = Pool(ignore_border, mode)(x, *windows)
            of_x = aesara.grad((y * g).sum(), x)
            results = [y, of_x, aesara.grad((of_x * e).sum(), g)]
            made[key] = aesara.function([x, g, e, *windows], results, mode=MACHINES[machine], on_unused_input="ignore")
        return made[key]

    return get


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("machine", MACHINES)
def test_values_and_derivatives_for_any_windows(symbolic, machine, mode):
    rng = np.random.default_rng(0)
    for chosen in chosen_windows((7, 5)):
        ws, stride, pad, ignore = chosen["ws"], chosen["stride"], chosen["pad"], chosen["ignore_border"]
        f = symbolic(machine, mode, ignore)
        want = pooled(TIED, ws, ignore, stride, pad, mode)
        g, e = rng.normal(size=want.shape), rng.normal(size=TIED.shape)
        value, of_x, of_g = f(TIED, g, e, ws, stride, pad)
        np.testing.assert_allclose(value, want, rtol=1e-12, atol=0, err_msg=str(chosen))
        wanted = handed_out(TIED, g, mode, **chosen)
        np.testing.assert_allclose(of_x, wanted, rtol=1e-12, atol=1e-13, err_msg=str(chosen))
        # what is linear in g has this for its transpose
        np.testing.assert_allclose((of_g * g).sum(), (of_x * e).sum(), rtol=1e-10, err_msg=str(chosen))


KNOWN = [
    {"ws": (2, 2), "ignore_border": True},
    {"ws": (3, 2), "ignore_border": False},
    {"ws": (2, 1), "ignore_border": True, "stride": (3, 2)},
    {"ws": (3, 3), "ignore_border": True, "stride": (2, 1), "pad": (1, 2)},
]


@pytest.mark.parametrize("chosen", KNOWN, ids=str)
@pytest.mark.parametrize("mode", ("max", "average_inc_pad"))
def test_known_windows_run_natively(chosen, mode):
    x, g = at.dtensor3("x"), at.dtensor3("g")
    y = pool_2d(x, mode=mode, **chosen)
    of_x = aesara.grad((y * g).sum(), x)
    # What is computed with goes into memory that the calls before have written to.
    results = [y, 2 * of_x, *([] if mode != "max" else [aesara.grad((of_x * x).sum(), g)])]
    f = aesara.function([x, g], results)
    assert aesara.explain(f).python == []
    ws = chosen["ws"]
    full = {"stride": ws, "pad": (0, 0), **chosen}
    for shape in ((2, 7, 5), (1, 6, 6), (3, 2, 3), (2, 0, 4), (0, 4, 4)):
        values = np.random.default_rng(1).integers(-4, 0, size=shape).astype(float)
        want = pooled(values, ws, full["ignore_border"], full["stride"], full["pad"], mode)
        weights = np.random.default_rng(2).normal(size=want.shape)
        value, gradient, *_ = f(values, weights)
        assert value.shape == want.shape
        np.testing.assert_allclose(value, want, rtol=1e-12)
        np.testing.assert_allclose(gradient / 2, handed_out(values, weights, mode, **full), rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("machine", MACHINES)
def test_windows_in_the_padding(machine):
    x, g, e = at.dmatrix("x"), at.dmatrix("g"), at.dmatrix("e")
    windows = (1, 2), (1, 1), (2, 2)
    found = []
    for mode in ("sum", "average_inc_pad"):
        handed = AveragePoolGrad(True, mode)(x, g, *windows)
        found += [handed, Pool(True, mode)(x, *windows), aesara.grad((handed * e).sum(), g)]
    f = aesara.function([x, g, e], found, mode=MACHINES[machine])
    rng = np.random.default_rng(4)
    image, weights, direction = rng.normal(size=(2, 4)), rng.normal(size=(6, 7)), rng.normal(size=(2, 4))
    results = f(image, weights, direction)
    np.testing.assert_allclose(results[0], weights[2:4, 1:5] + weights[2:4, 2:6], rtol=1e-12)
    for result, values in zip(results[1:3], (image, direction), strict=True):
        around = np.pad(values, 2)
        np.testing.assert_allclose(result, around[:, :-1] + around[:, 1:], rtol=1e-12, atol=1e-15)
    for total, mean in zip(results[:3], results[3:], strict=True):
        np.testing.assert_allclose(mean, total / 2, rtol=1e-12)
    for mode in ("average_exc_pad", "max"):
        with pytest.raises(NotImplementedError, match="padding must be smaller"):
            Pool(True, mode)(x, *windows)
    with pytest.raises(NotImplementedError, match="padding must be smaller"):
        AveragePoolGrad(True, "average_exc_pad")(x, g, *windows)


def test_many_entries_are_reduced_in_loops():
    x = at.dtensor3("x")
    f = aesara.function([x], [pool_2d(x, (7, 5), True), pool_2d(x, (7, 5), True, mode="sum")])
    assert aesara.explain(f).python == []
    largest, total = f(TIED)
    np.testing.assert_array_equal(largest, TIED.max((1, 2), keepdims=True))
    assert_close(total, TIED.sum((1, 2), keepdims=True))


@pytest.mark.parametrize("mode", MODES)
def test_gradients_against_differences(mode):
    rng = np.random.default_rng(5)
    distinct = rng.permutation(36).reshape(1, 6, 6).astype(float) if mode == "max" else rng.normal(size=(1, 6, 6))
    chosen = {"ignore_border": True, "stride": (2, 1), "pad": (1, 0)}
    verify_grad(lambda x: pool_2d(x, (3, 2), mode=mode, **chosen), [distinct], rng=rng, mode="FAST_COMPILE")
    shape = pooled(distinct, (3, 2), True, (2, 1), (1, 0), mode).shape
    weights = rng.normal(size=shape)
    if mode == "max":
        largest = pooled(distinct, (3, 2), True, (2, 1), (1, 0), mode)
        second = lambda g: MaxPoolGrad(True)(distinct, largest, g, (3, 2), (2, 1), (1, 0))
        third = lambda g: DownsampleFactorMaxGradGrad(True)(distinct, largest, g, (3, 2), (2, 1), (1, 0))
        verify_grad(third, [rng.normal(size=distinct.shape)], rng=rng, mode="FAST_COMPILE")
    else:
        second = lambda g: AveragePoolGrad(True, mode)(distinct, g, (3, 2), (2, 1), (1, 0))
    verify_grad(second, [weights], rng=rng, mode="FAST_COMPILE")


def test_volumes():
    rng = np.random.default_rng(6)
    x = rng.permutation(60).reshape(4, 3, 5).astype(float)
    for mode in ("max", "average_exc_pad"):
        y = pool_3d(x, (2, 2, 3), ignore_border=True, stride=(1, 2, 2), pad=(1, 0, 2), mode=mode)
        assert_close(y.eval(), pooled(x, (2, 2, 3), True, (1, 2, 2), (1, 0, 2), mode))
    verify_grad(lambda v: pool_3d(v, (2, 2, 2), ignore_border=False), [x], rng=rng, mode="FAST_COMPILE")


@pytest.mark.parametrize("mode", MODES)
def test_forward_derivative_is_the_transpose_of_the_gradient(mode):
    x, e, g = at.dtensor3("x"), at.dtensor3("e"), at.dtensor3("g")
    y = pool_2d(x, (2, 3), ignore_border=True, stride=(2, 1), mode=mode)
    along, of_x = Rop(y, x, e), aesara.grad((y * g).sum(), x)
    rng = np.random.default_rng(7)
    shape = pooled(TIED, (2, 3), True, (2, 1)).shape
    values = {x: TIED, e: rng.normal(size=TIED.shape), g: rng.normal(size=shape)}
    f = aesara.function([x, e, g], [(along * g).sum(), (of_x * e).sum()], on_unused_input="ignore")
    forwards, backwards = f(*values.values())
    np.testing.assert_allclose(forwards, backwards, rtol=1e-12)
    assert isinstance(along.owner.op, MaxPoolRop if mode == "max" else Pool)


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int32", "float16", "float32", "complex128"])
def test_dtypes(dtype):
    x = at.tensor(dtype=dtype, shape=(None, None))
    values = np.array([[1, 1, 2, 0], [1, 0, 3, 200]]).astype(dtype)
    for mode in MODES:
        y = pool_2d(x, (2, 2), ignore_border=True, mode=mode)
        assert y.type.dtype == dtype
        native, reference = (aesara.function([x], y, mode=m)(values) for m in MACHINES.values())
        np.testing.assert_array_equal(native, reference)
        wide = np.array([values[:, :2].ravel(), values[:, 2:].ravel()])
        with np.errstate(all="ignore"):
            total = wide.sum(1, dtype=dtype) if mode == "sum" else wide.mean(1).astype(dtype)
        np.testing.assert_array_equal(native[0], wide.max(1) if mode == "max" else total)


def test_nan_is_the_maximum_and_gets_no_gradient():
    x = at.dmatrix("x")
    y = pool_2d(x, (2, 2), ignore_border=True)
    values = np.array([[np.nan, 1, 2, 0], [1, 0, -np.inf, -np.inf]])
    for mode in MACHINES.values():
        value, gradient = aesara.function([x], [y, aesara.grad(y.sum(), x)], mode=mode)(values)
        np.testing.assert_array_equal(value, [[np.nan, 2]])
        np.testing.assert_array_equal(gradient, [[0, 0, 1, 0], [0, 0, 0, 0]])


@pytest.mark.parametrize("machine", MACHINES)
def test_infinities_count_in_the_middle_of_padding(machine):
    x = at.dmatrix("x")
    y = pool_2d(x, (2, 2), ignore_border=True, stride=(1, 1), pad=(1, 1))
    assert (aesara.function([x], y, mode=MACHINES[machine])(np.full((1, 2), -np.inf)) == -np.inf).all()


def test_numbers_of_windows():
    for n, w, s in itertools.product(range(8), range(1, 5), range(1, 6)):
        for ignore in (True, False):
            assert Pool.out_shape((3, n, n), (w, w), ignore, (s, s)) == [
                3,
                *output_sizes((n, n), (w, w), ignore, (s, s), (0, 0)),
            ]
        for p in range(1, w):
            assert Pool.out_shape((n,), (w,), True, (s,), (p,), 1) == output_sizes((n,), (w,), True, (s,), (p,))
    assert Pool.out_shape((5, 5), ds=(2, 2)) == [3, 3]
    n = at.lscalar("n")
    rows, columns = Pool.out_shape((n, 6), (2, 3), True, (2, 3))
    assert rows.eval({n: 7}) == 3 and columns == 2


def test_known_shapes():
    x = at.tensor("float64", shape=(3, 2, 8, 1))
    assert pool_2d(x, (3, 1), ignore_border=True, stride=(2, 1)).type.shape == (3, 2, 3, 1)
    y = pool_2d(at.tensor("float64", shape=(None, None, 8, None)), (3, 1), ignore_border=False)
    assert y.type.shape == (None, None, 3, None)
    f = aesara.function([(z := at.dmatrix())], pool_2d(z, (2, 2), ignore_border=True).shape)
    assert not any(isinstance(node.op, Pool) for node in f.maker.fgraph.apply_nodes)
    assert f(np.zeros((5, 4))).tolist() == [2, 2]


def test_same_size():
    values = np.array([[[[1.0, 1, 2, 0, 9], [1, 0, 3, 3, 9]]]])
    assert max_pool_2d_same_size(values, (2, 2)).eval().tolist() == [[[[1, 1, 0, 0, 0], [1, 0, 3, 3, 0]]]]


def test_older_names_and_warnings():
    x = at.dmatrix("x")
    with pytest.warns(DeprecationWarning, match="`ds` is now `ws`"):
        older = pool_2d(x, ds=(2, 2), ignore_border=True)
    assert older.owner.op == pool_2d(x, (2, 2), ignore_border=True).owner.op
    with pytest.warns(UserWarning, match="ignore_border"):
        assert not pool_2d(x, (2, 2)).owner.op.ignore_border
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for given in ({"ds": (2, 2)}, {"stride": (1, 1), "st": (1, 1)}, {"pad": (1, 1), "padding": (1, 1)}):
            with pytest.raises(ValueError, match="You can't provide a tuple value to both"):
                pool_2d(x, (2, 2), ignore_border=True, **given)


@pytest.mark.parametrize(
    "error, message, given",
    [
        (ValueError, "must provide a tuple value for the window size", {}),
        (ValueError, "Pool mode parameter only support", {"ws": (2, 2), "mode": "median"}),
        (TypeError, "parameters must be ints", {"ws": (2.0, 2.0)}),
        (TypeError, "Stride parameters must be ints", {"ws": (2, 2), "stride": (1.0, 1.0)}),
        (ValueError, "`ws` must have an entry for each of 2", {"ws": (2,)}),
        (ValueError, "`ws` must have an entry for each of 2", {"ws": 2}),
        (ValueError, "windows must not be empty", {"ws": (0, 1)}),
        (ValueError, "strides must be positive", {"ws": (2, 2), "stride": (0, 1)}),
        (ValueError, "padding must not be negative", {"ws": (2, 2), "pad": (-1, 0)}),
        (NotImplementedError, "padding must be smaller", {"ws": (2, 2), "pad": (2, 0)}),
        (NotImplementedError, "only with ignore_border=True", {"ws": (2, 2), "pad": (1, 0), "ignore_border": False}),
    ],
)
def test_what_is_refused(error, message, given):
    with pytest.raises(error, match=message):
        pool_2d(at.dmatrix(), **{"ignore_border": True, **given})


def test_too_few_dimensions():
    with pytest.raises(NotImplementedError, match="pool_3d requires a dimension >= 3"):
        pool_3d(at.dmatrix(), (1, 1, 1), ignore_border=True)
    with pytest.raises(TypeError, match="`maxout` has 2 dimensions, the images 3"):
        MaxPoolGrad(True)(at.dtensor3(), at.dmatrix(), at.dtensor3(), (1, 1))


@pytest.mark.parametrize("machine", MACHINES)
def test_what_calls_refuse(symbolic, machine):
    f = symbolic(machine, "max", True)
    x, g = np.zeros((1, 4, 4)), np.zeros((1, 2, 2))
    assert f(x, g, x, [2, 2], [2, 2], [0, 0])[0].shape == (1, 2, 2)
    for error, message, windows in (
        (ValueError, "windows must not be empty", ([0, 2], [2, 2], [0, 0])),
        (ValueError, "strides must be positive", ([2, 2], [2, 0], [0, 0])),
        (ValueError, "padding must not be negative", ([2, 2], [2, 2], [-1, 0])),
        (NotImplementedError, "padding must be smaller", ([2, 2], [2, 2], [2, 0])),
        (ValueError, "entries|expected a vector of 2", ([2, 2, 2], [2, 2, 2], [0, 0, 0])),
    ):
        with pytest.raises(error, match=message):
            f(x, g, x, *windows)
    with pytest.raises(ValueError, match="`gz` has the|size|shape"):
        f(x, np.zeros((1, 2, 3)), x, [2, 2], [2, 2], [0, 0])


@pytest.mark.parametrize("machine", MACHINES)
def test_arrays_that_do_not_fit(machine):
    x, y, g = (at.dmatrix() for _ in range(3))
    f = aesara.function([x, y, g], MaxPoolGrad(True)(x, y, g, (2, 2)), mode=MACHINES[machine])
    small, large = np.zeros((2, 2)), np.zeros((4, 4))
    assert f(large, small, small).shape == (4, 4)
    for arrays, name in (((large, large, small), "maxout"), ((large, small, large), "gz")):
        with pytest.raises(ValueError, match=f"MaxPoolGrad: `{name}` has the"):
            f(*arrays)
    f = aesara.function([x, g], AveragePoolGrad(True)(x, g, (2, 2)), mode=MACHINES[machine])
    assert f(large, small).shape == (4, 4)
    for wrong in (large, np.zeros((1, 2)), np.zeros((1, 1))):
        with pytest.raises(ValueError, match="AveragePoolGrad: `gz` has the"):
            f(large, wrong)
    f = aesara.function([x, y], MaxPoolRop(True)(x, y, (2, 2)), mode=MACHINES[machine])
    with pytest.raises(ValueError, match="`eval_point` has the"):
        f(large, small)
