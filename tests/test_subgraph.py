"""Graphs as operations."""

import pickle

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.compile.builders import OpFromGraph, infer_shape
from aesara.compile.ops import as_op
from aesara.gradient import DisconnectedType, disconnected_grad, disconnected_type, grad_undefined, verify_grad
from aesara.graph.autodiff import NullTypeGradError
from aesara.graph.replace import vectorize_graph
from aesara.graph.utils import MissingInputError
from aesara.tensor.random.basic import NormalRV
from aesara.tensor.random.type import random_generator_type
from aesara.typed_list import TypedListType, append
from tests.closeness import assert_close

MODES = ["FAST_COMPILE", "FAST_RUN"]
x, y = at.dvectors("x", "y")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("inline", [False, True])
def test_values_and_gradients(mode, inline):
    op = OpFromGraph([x, y], [x * y + 1, at.exp(x).sum()], inline=inline)
    a, b = op(x, y * 2)
    f = aesara.function([x, y], [a, b, *aesara.grad(a.sum() * b, [x, y])], mode=mode)
    v, w = np.array([0.1, 0.2]), np.array([3.0, 4.0])
    got = f(v, w)
    assert_close(got[0], v * w * 2 + 1)
    assert_close(got[2], 2 * w * np.exp(v).sum() + (v * w * 2 + 1).sum() * np.exp(v))
    assert_close(got[3], 2 * v * np.exp(v).sum())
    if mode == "FAST_RUN":
        assert f._native.report.python_nodes == {}
    nodes = [n for n in f.maker.fgraph.apply_nodes if isinstance(n.op, OpFromGraph)]
    assert bool(nodes) != inline


def test_twice_in_one_graph_and_nested():
    inner = OpFromGraph([x], [at.tanh(x)])
    outer = OpFromGraph([x, y], [inner(x) + inner(y)])
    f = aesara.function([x, y], outer(x, y) * outer(y, x))
    v, w = np.array([0.5]), np.array([2.0])
    assert_close(f(v, w), (np.tanh(v) + np.tanh(w)) ** 2)
    assert f._native.report.python_nodes == {}


def test_shared_variables_become_inputs():
    s = aesara.shared(np.float64(2.0), "s")
    op = OpFromGraph([x], [x * s])
    assert op.shared_inputs == [s]
    out = op(x)
    f = aesara.function([x], [out, aesara.grad(out.sum(), s)])
    assert f([1.0, 2.0])[0].tolist() == [2, 4] and f([1.0, 2.0])[1] == 3
    s.set_value(3.0)
    assert f([1.0, 2.0])[0].tolist() == [3, 6]


def test_other_variables_in_the_places_of_shared_ones():
    s, t, u = (aesara.shared(np.float64(k), name) for k, name in ((2.0, "s"), (3.0, "t"), (5.0, "u")))
    op = OpFromGraph([x], [x * s - t])
    assert op.shared_inputs == [s, t]
    node = op.make_node(x, s, t)
    assert node.op is op and op.make_node(x).op is op
    node = op.make_node(x, u, t)
    assert node.op.shared_inputs == [u, t] and op.shared_inputs == [s, t] and node.op != op
    f = aesara.function([x], node.outputs[0])
    assert f([1.0]) == [2]
    u.set_value(7.0)
    assert f([1.0]) == [4]
    n = at.dscalar("n")
    for given, shared in (((n, t), [t]), ((s, n), []), ((4.0, t), [t])):
        node = op.make_node(x, *given)
        assert node.op.shared_inputs == shared and len(node.op.input_types) == 3 - len(shared)
        out = node.outputs[0]
        wanted = x * given[0] - given[1]
        f = aesara.function([x, n], [out, wanted, *aesara.grad(out.sum(), [x]), *aesara.grad(wanted.sum(), [x])],
                            on_unused_input="ignore")  # fmt: skip
        got = f([1.0, 2.0], 6.0)
        assert got[0].tolist() == got[1].tolist() and got[2].tolist() == got[3].tolist()
    with pytest.raises(ValueError, match="Expected at least 1"):
        op.make_node(x, s)
    # Gradients of one's own are about the inputs that there were.
    own = OpFromGraph([x], [x * s], lop_overrides=lambda inputs, outputs, gradients: [gradients[0] * 10])
    out = own.make_node(x, n).outputs[0]
    f = aesara.function([x, n], aesara.grad(out.sum(), x), on_unused_input="ignore")
    assert f([1.0], 6.0) == [10]


@pytest.mark.parametrize("inline", [True, False])
def test_updates_of_other_shared_variables(inline):
    """A shared variable given in the place of another has its own default update, not the other's."""
    s, t, n = aesara.shared(1.0, "s"), aesara.shared(1.0, "t"), at.dscalar("n")
    s.default_update = s + n
    op = OpFromGraph([n], [n * s], inline=inline)
    assert aesara.function([n], op.make_node(n, t).outputs[0])(3.0) == 3 and t.get_value() == s.get_value() == 1
    assert aesara.function([n], op.make_node(n, s).outputs[0])(3.0) == 3 and s.get_value() == 4
    t.default_update = t + 10
    assert aesara.function([n], op.make_node(n, t).outputs[0])(3.0) == 3 and (t.get_value(), s.get_value()) == (11, 4)


@pytest.mark.parametrize("inline", [True, False])
def test_default_updates_are_those_of_the_inputs_that_are_given(inline):
    s, n = aesara.shared(1.0, "s"), at.dscalar("n")
    s.default_update = s + n
    op = OpFromGraph([n], [n * s], inline=inline)
    around = OpFromGraph([x], [op(x.sum()) + x])
    m = at.dscalar("m")
    for result, given, wanted, after in ((op(m), 3.0, 3.0, 4.0), (around(y), [1.0, 2.0], [4.0, 5.0], 4.0)):
        s.set_value(1.0)
        f = aesara.function([m if result.ndim == 0 else y], result)
        np.testing.assert_array_equal(f(given), wanted)
        assert s.get_value() == after
    outside = aesara.function([n], s * 2)
    assert outside(1.0) == 8.0 and s.get_value() == 5.0


def test_default_updates_that_know_nothing_of_the_graph_stay():
    s, t = aesara.shared(1.0, "s"), aesara.shared(10.0, "t")
    n, m, other = at.dscalars("n", "m", "other")
    s.default_update, t.default_update = s + 1, t + other
    f = aesara.function([m, other], OpFromGraph([n], [n * s * t])(m))
    assert f(2.0, 5.0) == 20.0 and (s.get_value(), t.get_value()) == (2.0, 15.0)


def test_draws_of_graphs_with_parameters_that_are_replaced():
    """The generator's next state is drawn with the parameter that is given, and nothing else is."""
    srng = at.random.RandomStream(5)
    prior = srng.normal(0.0, 1.0, name="prior")
    n = at.dscalar("n")
    op = OpFromGraph([prior], [srng.normal(prior, 1e-9)], inline=True)
    f = aesara.function([n], op(n))
    drawn = [v for v in f.maker.fgraph.apply_nodes if isinstance(v.op, at.random.op.RandomVariable)]
    assert len(drawn) == 1 and abs(f(100.0) - 100) < 1e-6 and f(100.0) != f(100.0)


def test_second_derivatives():
    op = OpFromGraph([x, y], [(x**3 * y).sum()])
    values = [np.array([1.0, 2.0]), np.array([0.5, 1.5])]
    verify_grad(lambda a, b: aesara.grad(op(a, b), a).sum(), values, rng=np.random)


def test_rop():
    u = at.dvector("u")
    f = aesara.function([x, y, u], aesara.Rop(OpFromGraph([x, y], [x * y])(x, y), x, u))
    assert f([1.0, 2.0], [3.0, 4.0], [1.0, 10.0]).tolist() == [3, 40]
    op = OpFromGraph([x, y], [x * y], rop_overrides=lambda inputs, points: [points[0] * 7 + points[1]])
    g = aesara.function([x, y, u], aesara.Rop(op(x, y), x, u), on_unused_input="ignore")
    assert g([1.0], [2.0], [3.0]).tolist() == [21]


#: overrides of the forward derivatives of x * y and x + y, and these, from values of x, y and along both
FORWARD = {
    "default": ("default", lambda x, y, u, v: [u * y + x * v, u + v]),
    "function": (
        lambda inputs, points: [points[0] * inputs[1] - points[1] * inputs[0], points[0] * 5],
        lambda x, y, u, v: [u * y - v * x, u * 5],
    ),
    "generator": (lambda inputs, points: (a - b for a, b in zip(inputs, points)), lambda x, y, u, v: [x - u, y - v]),
    "list": (["default", lambda inputs, points: inputs[0] * points[1]], lambda x, y, u, v: [u * y + x * v, x * v]),
    "list of lists": (
        [lambda inputs, points: [inputs[1] - points[1]], lambda inputs, points: [inputs[0]]],
        lambda x, y, u, v: [y - v, x],
    ),
    "operation": (
        OpFromGraph([x, y, *at.dvectors("u", "v")], [x * 10 + y, x - y]), lambda x, y, u, v: [x * 10 + y, x - y]
    ),
    "operation for one": (
        [OpFromGraph([x, y, u := at.dvector("u"), v := at.dvector("v")], [x * 10 + y * u - v]), "default"],
        lambda x, y, u, v: [x * 10 + y * u - v, u + v],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FORWARD)
def test_other_forward_derivatives(name):
    override, want = FORWARD[name]
    u, v = at.dvectors("u", "v")
    out = OpFromGraph([x, y], [x * y, x + y], rop_overrides=override)(x, y)
    f = aesara.function([x, y, u, v], aesara.Rop(out, [x, y], [u, v]), on_unused_input="ignore")
    values = np.array([[2.0, 3.0], [5.0, 7.0], [11.0, 13.0], [17.0, 19.0]])
    for got, expected in zip(f(*values), want(*values), strict=True):
        np.testing.assert_array_equal(got, expected)


def test_forward_derivatives_beside_integers():
    n, u = at.lscalar("n"), at.dvector("u")
    powers, where = OpFromGraph([n, x], [x**n, x.argmax()])(n, x)
    f = aesara.function([n, x, u], [where, aesara.Rop(powers, x, u)])
    where, found = f(3, [1.0, 2.0], [5.0, 7.0])
    assert where == 1 and found.tolist() == [15.0, 84.0]


@pytest.mark.parametrize("inline", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
@pytest.mark.parametrize("along", ["n", "x", "both"])
def test_forward_derivatives_by_integers(inline, dtype, along):
    """Those of the graph by itself; integers have slopes where they are in a smooth function."""
    n, m = at.lvector("n"), at.lvector("m")
    build = lambda n, x, m: [at.sin(n) * x, x**2, n + m, at.exp(m)]
    outputs = OpFromGraph([n, x, m], build(n, x, m), inline=inline)(n, x, m)
    points = {n: at.vector("u", dtype=dtype), x: at.dvector("v")}
    wrt = {"n": [n], "x": [x], "both": [n, x]}[along]
    found = aesara.Rop(outputs, wrt, [points[v] for v in wrt], "ignore", "none")
    wanted = aesara.Rop(build(n, x, m), wrt, [points[v] for v in wrt], "ignore", "none")
    assert [one is None for one in found] == [one is None for one in wanted]
    made = [[one for one in some if one is not None] for some in (found, wanted)]
    assert [one.type.dtype for one in made[0]] == [one.type.dtype for one in made[1]]
    values = [[1, 2], [0.5, 1.5], [3, 4], [5, 6], [7.0, 8.0]]
    f = aesara.function([n, x, m, *points.values()], [*made[0], *made[1]], on_unused_input="ignore")
    results = f(*values)
    half = len(results) // 2
    for got, expected in zip(results[:half], results[half:], strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-6 if dtype == "float32" else 1e-13)


def test_forward_derivatives_beside_what_has_none():
    rng = aesara.shared(np.random.default_rng(1))
    state, draw = at.random.normal(0, 1, rng=rng).owner.outputs
    u = at.dvector("u")
    out = OpFromGraph([rng, x], [x * draw, state])(rng, x)[0]
    f = aesara.function([x, u], [out, aesara.Rop(out, x, u)])
    value, along = f([1.0, 2.0], [3.0, 4.0])
    assert_close(along, value * [3.0, 2.0])


def test_outputs_without_a_forward_derivative():
    out = OpFromGraph([x, y], [x * y, x + y], rop_overrides=[None, "default"])(x, y)
    u = at.dvector("u")
    first, second = aesara.Rop(out, x, u, return_disconnected="none", disconnected_outputs="ignore")
    assert first is None and second.eval({x: [1.0], y: [2.0], u: [3.0]}).tolist() == [3.0]
    with pytest.raises(ValueError, match="expected 2 overrides of R_op, got 1"):
        aesara.Rop(OpFromGraph([x, y], [x * y, x + y], rop_overrides=["default"])(x, y), x, u)


GRADIENTS = {
    "function": (lambda inputs, outputs, gradients: [gradients[0] * 2, outputs[0] * 3], (2, 18)),
    "list": ([lambda inputs, outputs, gradients: gradients[0] * 5, "default"], (5, 2)),
    "none": ([None, "default"], (None, 2)),
    "operation": (OpFromGraph([x, y, at.dvector("z"), at.dvector("g")], [x * 10, y * 20]), (20, 60)),
}


@pytest.mark.parametrize("name", GRADIENTS)
def test_other_gradients(name):
    override, want = GRADIENTS[name]
    op = OpFromGraph([x, y], [x * y], lop_overrides=override)
    gradients = aesara.grad(op(x, y).sum(), [x, y], disconnected_inputs="ignore", return_disconnected="none")
    assert [g is None for g in gradients] == [w is None for w in want]
    values = aesara.function([x, y], [g for g in gradients if g is not None], on_unused_input="ignore")([2.0], [3.0])
    assert [v.item() for v in values] == [w for w in want if w is not None]


@as_op([at.dvector], [at.dvector])
def cube(value):
    return value**3


def slope_of_cube(inputs, outputs, gradients):
    return 3 * inputs[0] ** 2 * gradients[0]


@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE"])
@pytest.mark.parametrize("inline", [True, False])
@pytest.mark.parametrize("form", ["function", "list", "with_default", "shared"])
def test_overridden_gradients_are_not_built(form, inline, mode):
    """A graph with an operation that has no gradient can be given one."""
    outputs, wanted, names = [cube(x)], [12.0], [x]
    overrides = [slope_of_cube]
    if form == "function":
        overrides = lambda *arguments: [slope_of_cube(*arguments)]
    elif form == "with_default":
        outputs, names, wanted = [cube(x) + y * y], [x, y], [12.0, 6.0]
        overrides = [slope_of_cube, "default"]
    elif form == "shared":
        outputs = [cube(x * aesara.shared(1.0))]
    op = OpFromGraph(names, outputs, lop_overrides=overrides, inline=inline)
    f = aesara.function(names, aesara.grad(op(*names).sum(), names), mode=mode)
    assert [g.tolist() for g in f(*[[2.0], [3.0]][: len(names)])] == [[w] for w in wanted]


def sevenfold(inputs, outputs, gradients):
    return gradients[0] * 7


@pytest.mark.parametrize(
    "overrides, connected",
    [
        (["default", "default"], [False, True]),
        ([None, None], [False, True]),
        ([sevenfold, "default"], [True, True]),
        ([sevenfold, None], [True, True]),
        ([disconnected_type(), sevenfold], [False, True]),
        (["default", disconnected_type()], [False, True]),
        (sevenfold, [True, True]),
        ("default", [False, True]),
    ],
)
@pytest.mark.parametrize("kind", ["lop_overrides", "grad_overrides"])
def test_what_a_gradient_connects(overrides, connected, kind):
    """An input that the graph is not connected to is, if the user gives a gradient for it."""
    op = OpFromGraph([x, y], [disconnected_grad(x) * y], **{kind: overrides})
    assert op.connection_pattern(op(x, y).owner) == [[one] for one in connected]


#: overrides, and the gradient and the forward derivative of twice x, for ones
OVERRIDES = {
    "none": ({}, 2, 2),
    "lop_overrides": ({"lop_overrides": lambda inputs, outputs, gradients: [gradients[0] * 5]}, 5, 2),
    "grad_overrides": ({"grad_overrides": lambda inputs, gradients: [gradients[0] * 6]}, 6, 2),
    "rop_overrides": ({"rop_overrides": lambda inputs, points: [points[0] * 7]}, 2, 7),
}


@pytest.mark.parametrize("name", OVERRIDES)
def test_batches_keep_derivatives(name):
    """Vectorized graphs keep the derivatives that the user gave."""
    overrides, backward, forward = OVERRIDES[name]
    batch, points = at.dmatrices("batch", "points")
    out = vectorize_graph(OpFromGraph([x], [x * 2], **overrides)(x), {x: batch})
    outputs = [out, aesara.grad(out.sum(), batch), aesara.Rop(out, batch, points)]
    ones = np.ones((2, 3))
    f = aesara.function([batch, points], outputs, on_unused_input="ignore")
    assert [np.unique(v).tolist() for v in f(ones, ones)] == [[2], [backward], [forward]]


def test_gradients_set_later():
    op = OpFromGraph([x], [x * 2])
    op.set_grad_overrides(lambda inputs, gradients: [gradients[0] * inputs[0]])
    assert aesara.function([x], aesara.grad(op(x).sum(), x))([5.0]).tolist() == [5]
    op.set_lop_overrides("default")
    assert aesara.function([x], aesara.grad(op(x).sum(), x))([5.0]).tolist() == [2]
    op.set_lop_overrides(disconnected_type())
    (pattern,) = op.connection_pattern(op(x).owner)
    assert pattern == [True] and isinstance(op.get_lop_op()(x, x, x)[0].type, DisconnectedType)
    op.set_lop_overrides(grad_undefined(op, 0, x))
    with pytest.raises(NullTypeGradError):
        aesara.grad(op(x).sum(), x)


def test_identity_copies_and_storage():
    one, two = (OpFromGraph([x, y], [x + y]) for _ in range(2))
    assert one == two and hash(one) == hash(two) and one != OpFromGraph([x, y], [x * y])
    f = aesara.function([x, y], one(x, y) + two(x, y))
    assert sum(isinstance(n.op, OpFromGraph) for n in f.maker.fgraph.apply_nodes) == 1
    assert pickle.loads(pickle.dumps(f))([1.0], [2.0]).tolist() == [6]
    assert pickle.loads(pickle.dumps(one)) == one and one.clone() == one
    assert "mine" in str(OpFromGraph([x], [x], name="mine"))


def test_results_of_an_operation_in_python_share_no_memory():
    rising = at.exp(x)
    op = OpFromGraph([x], [rising, rising[::-1]], mode="FAST_COMPILE")
    f = aesara.function([x], op(x), mode="FAST_COMPILE")
    one, two = f([0.0, 1.0])
    assert not np.shares_memory(one, two)
    one += 1
    assert_close(two, np.exp([1.0, 0.0]))


def test_results_that_are_no_tensors_share_nothing_either():
    many, rng = TypedListType(at.dvector().type)("many"), random_generator_type("rng")
    longer, drawn = append(many, many[0]), NormalRV()(rng=rng).owner.outputs[0]
    op = OpFromGraph([many, rng], [longer, longer, drawn, drawn], mode="FAST_COMPILE")
    storage = [None], [None], [None], [None]
    op.perform(op(many, rng)[0].owner, ([np.arange(3.0)], np.random.default_rng(1)), storage)
    (one,), (two,), (first,), (second,) = storage
    assert np.array_equal(one, two) and not any(np.shares_memory(v, w) for v in one for w in two)
    assert first.normal() == second.normal()


def test_options_of_the_function_of_an_operation():
    """They hold where it is compiled for itself."""
    op = OpFromGraph([x, y], [x + 1], on_unused_input="ignore", profile=False, mode="FAST_COMPILE")
    f = aesara.function([x, y], op(x, y), mode="FAST_COMPILE")
    assert_close(f([1.0], [2.0]), [2.0])
    assert op.fn.maker.mode is aesara.compile.mode.get_mode("FAST_COMPILE")
    with pytest.raises(aesara.compile.UnusedInputError):
        _ = OpFromGraph([x, y], [x + 1], on_unused_input="raise").fn


def test_shapes():
    m = at.dmatrix("m")
    n = at.lscalar("n")
    assert infer_shape([m.T], [m], [(n, n)]) == [(n, n)]
    op = OpFromGraph([m], [m.T, m.sum(axis=0)])
    f = aesara.function([m], [op(m)[0].shape[0], op(m)[1].shape[0]])
    assert f(np.ones((2, 5))) == [5, 5]
    assert not any(isinstance(node.op, OpFromGraph) for node in f.maker.fgraph.apply_nodes)


def test_draws_with_fewer_coordinates():
    """A random variable that is a graph, such as a vector whose sum is zero, leaves open how long its draws are."""

    class ZeroSum(OpFromGraph):
        default_output = 0

        def __init__(self, *args, ndim_supp, **kwargs):
            self.ndim_supp = ndim_supp
            super().__init__(*args, **kwargs)

    z = at.tensor("float64", shape=(3, 4))
    given = np.arange(12.0).reshape(3, 4)
    for ndim_supp, shape in ((0, (3, 4)), (1, (3, None)), (2, (None, None))):
        centred = ZeroSum([z], [z - z.mean(), z * 2], ndim_supp=ndim_supp)(z)
        assert centred.type.shape == shape and centred.owner.outputs[1].type.shape == (3, 4)
        np.testing.assert_array_equal(aesara.function([z], centred)(given), given - 5.5)


def test_errors():
    with pytest.raises(MissingInputError, match="missing an input: y"):
        OpFromGraph([x], [x * y])
    with pytest.raises(TypeError, match="must be lists"):
        OpFromGraph(x, [x])
    with pytest.raises(TypeError, match="must be variables"):
        OpFromGraph([1], [x])
    with pytest.raises(ValueError, match=r"Expected at least 2 input\(s\) for OpFromGraph{inline=False}, got 1"):
        OpFromGraph([x, y], [x * y])(x)
    with pytest.raises(ValueError, match="mutually exclusive"):
        OpFromGraph([x], [x], lop_overrides=lambda *a: [], grad_overrides=lambda *a: [])
    with pytest.raises(TypeError):
        OpFromGraph([x], [x])(at.dmatrix())


@pytest.mark.parametrize("inline", [False, True])
def test_inputs_that_reach_whole_numbers_alone(inline):
    """Their gradients are zeros, where the whole numbers take part; they are not said to be unconnected."""
    a, b = OpFromGraph([x, y], [x.sum(), at.argmax(y)], inline=inline)(x, y)
    first, second = aesara.grad(a * 2 + b, [x, y])
    f = aesara.function([x, y], [first, second])
    for got, expected in zip(f([1.0, 2.0, 3.0], [4.0, 5.0]), ([2.0, 2.0, 2.0], [0.0, 0.0])):
        np.testing.assert_array_equal(got, expected)
