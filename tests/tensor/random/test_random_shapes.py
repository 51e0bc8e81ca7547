"""Shapes of draws: static ones, those that are computed, the argument `size`, and what is refused."""

import numpy as np
import pytest
from distribution_table import CASES, generator

import aesara
import aesara.tensor as at
import aesara.tensor.random as at_random
from aesara.graph.autodiff import grad
from aesara.graph.pullback import NullTypeGradError
from aesara.tensor.random.parameters import (
    broadcast_params,
    default_supp_shape_from_params,
    explicit_expand_dims,
    normalize_size_param,
    params_broadcast_shapes,
    supp_shape_from_ref_param_shape,
)
from aesara.tensor.random.random_variable import RandomVariable


def test_static_shapes():
    s = at.lscalar("s")
    two = at.specify_shape(at.lvector("two"), (2,))
    for size, shape in [
        ((7, 3, 5, 5), (7, 3, 5, 5)),
        (4, (4,)),
        (np.array([2, 3]), (2, 3)),
        (np.int32(2), (2,)),
        ((), ()),
        ((s, 3), (None, 3)),
        (s, (None,)),
        (at.as_tensor([3, s]), (3, None)),
        (two, (None, None)),
        (at.zeros((2, 4)).shape, (2, 4)),
    ]:
        assert at_random.normal(size=size).type.shape == shape, size
    row, column = at.tensor("float64", shape=(1, 4)), at.tensor("float64", shape=(3, 1))
    assert at_random.normal(row, column).type.shape == (3, 4)
    assert at_random.normal(at.dmatrix(), row).type.shape == (None, 4)
    assert at_random.normal(np.zeros((2, 3)), 1).type.shape == (2, 3)
    v, m = at.dvector("v"), at.dmatrix("m")
    assert at_random.multivariate_normal(v, np.eye(3), size=2).type.shape == (2, 3)
    assert at_random.multivariate_normal(np.zeros(3), m).type.shape == (3,)
    assert at_random.multivariate_normal(v, m, size=2).type.shape == (2, None)
    assert at_random.multinomial(v.astype("int64"), np.ones((1, 4)) / 4).type.shape == (None, 4)
    # How long its vectors are is left open: libraries make variables of this type for coordinates of the simplex.
    assert at_random.dirichlet(np.ones((2, 4)), size=(3, 2)).type.shape == (3, 2, None)
    assert at_random.categorical(np.ones((2, 4)) / 4).type.shape == (2,)
    assert at_random.permutation(np.ones((2, 4))).type.shape == (2, 4)
    assert at_random.permutation(5).type.shape == (5,)


def test_open_lengths_of_vectors_of_other_distributions():
    """One that says how long its draws are may have fewer coordinates than that, unless it says otherwise."""

    class Weights(RandomVariable):
        name = "weights"
        ndim_supp = 1
        ndims_params = (0, 0)
        dtype = "float64"

        def _supp_shape_from_params(self, dist_params, **kwargs):
            return (dist_params[1] + 1,)

        @classmethod
        def rng_fn(cls, rng, concentration, n, size):
            return rng.dirichlet(np.full(n + 1, concentration), size)

    class Coordinates(Weights):
        open_support = False

    assert Weights()(2.0, 3, size=(2,)).type.shape == (2, None)
    assert Coordinates()(2.0, 3, size=(2,)).type.shape == (2, 4)
    assert Weights()(2.0, 3, size=(2,)).eval().shape == (2, 4)
    assert RandomVariable("alike", 1, [1], "float64")(np.ones(3)).type.shape == (3,)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
@pytest.mark.parametrize("size", [None, (4, 3)])
def test_computed_shapes(case, size):
    """The shape without drawing is the shape of what is drawn, for parameters of unknown sizes."""
    params = [at.as_tensor_variable(p) for p in case.batch]
    variables = [at.tensor(p.dtype, shape=(None,) * p.ndim) for p in params]
    x = case.distribution(*variables, size=size, rng=aesara.shared(generator(case.kinds[0])))
    f = aesara.function(variables, x)
    shape = aesara.function(variables, x.shape, on_unused_input="ignore")
    assert not any(isinstance(node.op, RandomVariable) for node in shape.maker.fgraph.apply_nodes)
    drawn = f(*case.batch)
    assert shape(*case.batch).tolist() == list(drawn.shape)
    assert all(n in (None, m) for n, m in zip(x.type.shape, drawn.shape))


def test_infer_shape_is_asked_with_the_shapes():
    v, m = at.dvector("v"), at.dmatrix("m")
    normal, mv = at_random.normal, at_random.multivariate_normal
    empty = normalize_size_param(None)
    assert [int(n.eval()) for n in normal._infer_shape(empty, [v, m], [(3,), (4, 3)])] == [4, 3]
    assert [at.as_tensor(n).eval().item() for n in mv._infer_shape(empty, [v, m], [(3,), (3, 3)])] == [3]
    assert normal._infer_shape(normalize_size_param((2, 3)), [v, m]).data.tolist() == [2, 3]
    assert normal._infer_shape(empty, [at.dscalar(), at.dscalar()]).data.tolist() == []
    node = normal(v, 1.0).owner
    rng, (length,) = node.op.infer_shape(None, node, [None, (0,), (), (5,), ()])
    assert rng is None and at.as_tensor(length).eval() == 5


def test_size():
    assert normalize_size_param(None).data.tolist() == [] and normalize_size_param(None).dtype == "int64"
    s = at.iscalar("s")
    assert normalize_size_param((2, s)).type.shape == (2,) and normalize_size_param((2, s)).dtype == "int64"
    for size in ("ab", {1}, 1.5, (1.5,), np.array([2.0]), at.zscalar(), at.dvector(), True, object()):
        with pytest.raises((TypeError, ValueError)):
            normalize_size_param(size)
    with pytest.raises(ValueError, match="cannot be determined"):
        normalize_size_param(at.lvector())
    with pytest.raises(ValueError, match="negative"):
        at_random.normal(size=(2, -1))
    length = at.dscalar("length")
    assert aesara.function([length], at_random.normal(size=(length, 2)))(3.0).shape == (3, 2)
    n = at.lscalar("n")
    f = aesara.function([n], at_random.normal(size=(n,)))
    assert f(0).shape == (0,)
    with pytest.raises(ValueError, match="(?s)negative.*test_random_shapes.py"):
        f(-1)


def test_broadcasting_of_parameters():
    assert params_broadcast_shapes([(2, 3), (3,)], [0, 0], use_aesara=False) == [(2, 3), (2, 3)]
    assert params_broadcast_shapes([(4, 3), (5, 1, 3, 3)], [1, 2], use_aesara=False) == [(5, 4, 3), (5, 4, 3, 3)]
    assert params_broadcast_shapes([(1,), ()], [0, 0], use_aesara=False) == [(1,), (1,)]
    a, b = broadcast_params([np.ones((2, 3)), np.ones((3, 3))], [1, 2])
    assert a.shape == (2, 3) and b.shape == (2, 3, 3)
    assert [np.shape(x) for x in broadcast_params([0, 1], [0, 0])] == [(), ()]
    with pytest.raises(ValueError):
        broadcast_params([np.ones((2, 3)), np.ones(4)], [0, 0])
    m, v = at.dmatrix("m"), at.dvector("v")
    x, y = broadcast_params([m, v], [0, 0])
    values = aesara.function([m, v], [x, y])(np.ones((2, 3)), np.arange(3.0))
    np.testing.assert_array_equal(values, np.broadcast_arrays(np.ones((2, 3)), np.arange(3.0)))
    # A dimension without elements stays one.
    assert aesara.function([m, v], [x, y])(np.ones((0, 3)), np.arange(3.0))[1].shape == (0, 3)
    assert at_random.normal(np.zeros((0, 3)), np.ones(3)).eval().shape == (0, 3)
    assert [p.ndim for p in explicit_expand_dims([v, m, at.dscalar()], [1, 1, 0])] == [2, 2, 1]
    assert [p.ndim for p in explicit_expand_dims([v, at.dscalar()], [0, 0], size_length=3)] == [3, 3]


def test_shapes_of_one_draw():
    v, m = at.dvector("v"), at.dmatrix("m")
    assert default_supp_shape_from_params(1, [np.zeros(2), np.eye(2)]) == (2,)
    assert default_supp_shape_from_params(2, [v, np.ones((2, 3, 4))], 1) == (3, 4)
    assert default_supp_shape_from_params(1, [v, m], 0, [(7,), (2, 3)]) == (7,)
    (n,) = supp_shape_from_ref_param_shape(ndim_supp=1, dist_params=[v, m], ref_param_idx=1)
    assert at.as_tensor(n).eval({m: np.zeros((2, 5))}) == 5
    with pytest.raises(ValueError, match="greater than 0"):
        default_supp_shape_from_params(0, [v])
    with pytest.raises(ValueError, match="Reference parameter"):
        default_supp_shape_from_params(2, [v])
    with pytest.raises(ValueError, match="Reference parameter"):
        at_random.dirichlet(1.0)
    with pytest.raises(ValueError, match="vector"):
        at_random.categorical(0.5)


WRONG = [
    (at_random.normal, (0.0, -1.0), "scale < 0"),
    (at_random.halfnormal, (0.0, -1.0), "scale < 0"),
    (at_random.cauchy, (0.0, -1.0), "scale < 0"),
    (at_random.cauchy, (0.0, np.nan), "scale < 0"),
    (at_random.halfcauchy, (0.0, -1.0), "scale < 0"),
    (at_random.gumbel, (0.0, -1.0), "scale < 0"),
    (at_random.t, (3.0, 0.0, -1.0), "scale < 0"),
    (at_random.t, (-3.0,), "df <= 0"),
    (at_random.gamma, (-1.0, 1.0), "shape < 0"),
    (at_random.gamma, (1.0, -1.0), "scale < 0"),
    (at_random.invgamma, (-1.0, 1.0), "shape <= 0"),
    (at_random.invgamma, (1.0, -1.0), "scale < 0"),
    (at_random.gengamma, (-1.0, 1.0, 1.0), "alpha / p <= 0"),
    (at_random.gengamma, (1.0, 0.0, 1.0), "p == 0"),
    (at_random.gengamma, (1.0, 1.0, -1.0), "lambd < 0"),
    (at_random.pareto, (-1.0,), "b <= 0"),
    (at_random.pareto, (1.0, -1.0), "scale < 0"),
    (at_random.truncexpon, (-1.0,), "b <= 0"),
    (at_random.truncexpon, (1.0, 0.0, -1.0), "scale < 0"),
    (at_random.bernoulli, (1.5,), "p < 0, p > 1 or p"),
    (at_random.bernoulli, (np.nan,), "p < 0, p > 1 or p"),
    (at_random.betabinom, (-1, 1.0, 1.0), "n < 0"),
    (at_random.nbinom, (-1, 0.5), "n <= 0"),
    (at_random.poisson, (-1.0,), "lam < 0"),
    (at_random.dirichlet, (np.array([-1.0, 1.0]),), "alpha < 0"),
    (at_random.multinomial, (5, np.array([0.9, 0.9, 0.1])), "sum.pvals"),
    (at_random.categorical, (np.array([0.3, 0.3]),), "do not sum to 1"),
    (at_random.categorical, (np.array([-0.3, 1.3]),), "not non-negative"),
    (at_random.multivariate_normal, (np.zeros(2), np.array([[1.0, 2.0], [2.0, 1.0]])), "positive-semidefinite"),
    (at_random.multivariate_normal, (np.zeros((3, 2)), np.array([[1.0, 2.0], [2.0, 1.0]])), "positive-semidefinite"),
    (at_random.multivariate_normal, (np.zeros(3), np.eye(2)), "same length"),
]


@pytest.mark.parametrize("distribution, parameters, says", WRONG)
def test_wrong_parameters(distribution, parameters, says):
    """NumPy's error, with the node, and the line of this file that has made it."""
    rng = aesara.shared(np.random.default_rng(1))
    variables = [at.as_tensor_variable(p).type() for p in parameters]
    with pytest.raises(ValueError, match=f"(?s)({says}).*_rv{{.*test_random_shapes.py"):
        x = distribution(*variables, rng=rng)
        aesara.function(variables, x)(*parameters)


@pytest.mark.parametrize(
    "size, parameters", [((4,), (np.zeros(3), 1.0)), ((1,), (np.zeros(3), 1.0)), ((3,), (np.zeros((2, 3)), 1.0))]
)
@pytest.mark.parametrize("distribution", [at_random.normal, at_random.cauchy, at_random.gamma])
def test_sizes_that_do_not_fit(distribution, size, parameters):
    with pytest.raises(
        ValueError, match="Output size .* is not compatible with broadcast dimensions|cannot be broadcast"
    ):
        distribution(np.abs(parameters[0]) + 1, parameters[1], size=size).eval()


def test_parameters_that_do_not_broadcast():
    with pytest.raises(ValueError, match="cannot be broadcast"):
        at_random.normal(np.zeros(3), np.ones(4))
    v, w = at.dvector("v"), at.dvector("w")
    f = aesara.function([v, w], at_random.normal(v, w))
    with pytest.raises(ValueError, match="(?s)broadcast.*normal_rv{.*test_random_shapes.py"):
        f(np.zeros(3), np.ones(4))
    m = at.dmatrix("m")
    g = aesara.function([v, m], at_random.multivariate_normal(v, m[None], size=(4, 2)))
    assert g(np.zeros(2), np.eye(2)).shape == (4, 2, 2)


def test_vectors_with_parameters_of_too_few_dimensions():
    for mean in (0.0, at.dscalar()):
        for cov in (at.dmatrix(), np.eye(2)):
            with pytest.raises(ValueError, match="less than 1 dim"):
                at_random.multivariate_normal(mean, cov)
    assert at_random.multivariate_normal(at.dvector(), 2.0).type.shape == (None,)


def test_wrong_calls():
    with pytest.raises(TypeError, match="2 parameters, but 1"):
        RandomVariable("normal", 0, (0, 0), "floatX")(0)
    with pytest.raises(TypeError, match="dtype is unspecified"):
        RandomVariable("normal", 0, (0, 0))(0, 1)
    with pytest.raises(AttributeError, match="ndim_supp"):
        RandomVariable("normal")
    with pytest.raises(TypeError, match="sequence"):
        RandomVariable("normal", 0, 2, "floatX")
    with pytest.raises(TypeError, match="either a rate or a scale"):
        at_random.gamma(1.0)
    assert at_random.gamma(1.0, scale=2.0).owner.inputs[-1].data == 2
    with pytest.raises(TypeError):
        at_random.normal(0, 1, foo=3)
    with pytest.raises(TypeError):
        at_random.normal(0, 1, dtype="nothing")


def test_gradients_are_not_there():
    v = at.dvector("v")
    for x in (at_random.poisson(v), at_random.wald(v, 1.0), at_random.vonmises(0.0, v)):
        with pytest.raises(NullTypeGradError, match="No gradient defined for random variables"):
            grad((x + v).sum(), v)
