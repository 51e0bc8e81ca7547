"""What users of PyTensor and PyMC do with compiled functions."""

import copy
import io
import os
import pickle
import signal
import sys
import warnings
from traceback import format_exception

import numpy as np
import pytest
import scipy.sparse as sp

pytensor = pytest.importorskip("pytensor")

import pytensor.tensor as pt
from pytensor.compile.io import In
from pytensor.gradient import disconnected_grad, grad_clip, grad_scale, zero_grad
from pytensor.graph.basic import Apply
from pytensor.graph.op import Op
from pytensor.raise_op import CheckAndRaise
from pytensor.scan import scan
from pytensor.tensor.type_other import SliceType

import aesara
import aesara.pytensor
import aesara.tensor as at

ONES = np.ones(3)
HAS_DEFAULTS = pytensor.__version__ < "3"


@pytest.fixture
def counting():
    x, w = pt.vector("x"), pytensor.shared(np.ones(3), "w")
    return pytensor.function([x], (x * w).sum(), updates=[(w, w + 1)], mode="AESARA"), w


def test_updates_are_seen_on_both_sides(counting):
    f, w = counting
    assert [float(f(ONES)), float(f(ONES))] == [3.0, 6.0]
    np.testing.assert_array_equal(w.get_value(), 3 * ONES)
    w.set_value(10 * ONES)
    assert f(ONES) == 30.0


def test_a_failed_call_changes_nothing(counting):
    f, w = counting
    with pytest.raises(ValueError):
        f(np.ones(4))
    np.testing.assert_array_equal(w.get_value(), ONES)


@pytest.mark.parametrize("duplicate", [lambda f: pickle.loads(pickle.dumps(f)), copy.deepcopy])
def test_copies_have_their_own_state(counting, duplicate):
    f, _ = counting
    g = duplicate(f)
    assert [float(g(ONES)), float(g(ONES)), float(f(ONES))] == [3.0, 6.0, 3.0]


def test_function_copies_share_state(counting):
    f, _ = counting
    g = f.copy()
    assert [float(f(ONES)), float(g(ONES)), float(f(ONES))] == [3.0, 6.0, 9.0]


def test_function_copies_return_what_the_function_returns():
    x, w = pt.vector("x"), pytensor.shared(1.0, "w")
    alone, listed = (pytensor.function([x], made, mode="AESARA") for made in (w * x, [w * x]))
    new = pytensor.shared(5.0)
    for f in (alone, listed):
        for g in (f.copy(), f.copy(swap={w: new})):
            assert type(g(ONES)) is type(f(ONES))
    np.testing.assert_array_equal(alone.copy(swap={w: new})(ONES), 5 * ONES)


def frames_of(call):
    """How many functions of Python a call runs."""
    entered = []

    def record(frame, event, argument):
        if event == "call":
            entered.append(frame.f_code.co_name)

    sys.setprofile(record)
    try:
        call()
    finally:
        sys.setprofile(None)
    return len(entered)


def test_ordinary_calls_run_no_python(counting):
    f, w = counting
    assert frames_of(lambda: f(ONES)) == 1  # the one that is given here
    np.testing.assert_array_equal(w.get_value(), 2 * ONES)
    assert frames_of(lambda: f(x=ONES)) > 1
    assert frames_of(lambda: f([1, 1, 1])) > 1
    np.testing.assert_array_equal(w.get_value(), 4 * ONES)


@pytest.mark.parametrize("trust", [False, True])
def test_calls_that_are_not_ordinary_are_those_of_pytensor(trust):
    x, a, i = pt.vector("x"), pt.fscalar("a"), pt.iscalar("i")
    arguments = [
        ([x], (2.5,), {}), ([x], (np.ones((1, 3)),), {}), ([x], (), {}), ([x], (ONES, ONES), {}),
        ([x], (), {"y": ONES}),
        ([a], (0.1,), {}), ([a], (2,), {}), ([a], (np.float32(2),), {}), ([i], (2.5,), {}), ([i], (2**40,), {}),
        ([In(a, strict=True)], (1.0,), {}), ([In(x, allow_downcast=True)], (np.arange(3),), {}),
        ([x], (ONES[::-1],), {}),
    ]  # fmt: skip
    if HAS_DEFAULTS:
        arguments += [([In(x, value=ONES)], (), {}), ([In(x, value=ONES)], (2 * ONES,), {})]
    for inputs, given, named in arguments:
        variable = getattr(inputs[0], "variable", inputs[0])
        answers = []
        for mode in ("FAST_COMPILE", "AESARA"):
            try:
                f = pytensor.function(inputs, 2 * variable, mode=mode)
                f.trust_input = trust and isinstance(given[:1] and given[0], np.ndarray) and given[0].ndim == 1
                answers.append(f(*given, **named))
            except Exception as error:
                answers.append(error)
        expected, found = answers
        if isinstance(expected, Exception):
            assert type(found) is type(expected), (given, named)
        else:
            assert found.dtype == expected.dtype
            np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("outputs", [[], None])
def test_functions_without_results(outputs):
    w = pytensor.shared(ONES.copy())
    assert pytensor.function([], outputs, mode="AESARA")() == pytensor.function([], outputs, mode="FAST_COMPILE")()
    f = pytensor.function([], outputs, updates={w: w + 1}, mode="AESARA")
    assert f() == pytensor.function([], outputs, updates={w: w}, mode="FAST_COMPILE")()
    np.testing.assert_array_equal(w.get_value(), 2 * ONES)


def test_the_old_value_of_an_updated_variable_stays_as_it_is(counting):
    f, w = counting
    before = w.get_value(borrow=True)
    f(ONES)
    f(ONES)
    np.testing.assert_array_equal(before, ONES)


@pytest.mark.skipif(not HAS_DEFAULTS, reason="PyTensor 3 has no default values")
def test_arguments_that_are_updated():
    x = pt.vector("x")
    count = In(x, value=ONES.copy(), update=x + 1)
    f = pytensor.function([count], x.sum(), mode="AESARA")
    assert [float(f()), float(f()), float(f(ONES)), float(f())] == [3.0, 6.0, 3.0, 6.0]


@pytest.mark.skipif(not HAS_DEFAULTS, reason="PyTensor 3 has no variables for slices")
def test_slices_as_arguments():
    x, s = pt.vector("x"), SliceType()("s")
    f = pytensor.function([x, s], [x[s], x[s].set(0)], mode="AESARA")
    part, rest = f(np.arange(4.0), slice(3, 0, -2))
    np.testing.assert_array_equal(part, [3.0, 1.0])
    np.testing.assert_array_equal(rest, [0.0, 0.0, 2.0, 0.0])


def test_marks_for_gradients_do_not_reach_the_function():
    x = pt.vector("x")
    for mark in (zero_grad, disconnected_grad, lambda y: grad_clip(y, -1, 1), lambda y: grad_scale(y, 2)):
        f = pytensor.function([x], pytensor.grad(mark(x * x).sum() + x.sum(), x), mode="AESARA")
        marks = {type(mark(x).owner.op)}
        assert not any(type(node.op) in marks for node in f.maker.fgraph.toposort())


def test_the_options_of_pytensor_can_be_pickled():
    pickle.dumps(pytensor.config)


def test_alloc_repeats_what_has_length_one_for_certain_only():
    n = pt.lscalar("n")
    for x, given in ((pt.matrix(), (1, 4)), (pt.matrix(), (2, 4)), (pt.tensor(shape=(2, 4)), (2, 4))):
        f = pytensor.function([x, n], pt.alloc(x, n, 4), mode="AESARA")
        assert f(np.ones(given), given[0]).shape == given
        with pytest.raises(ValueError):
            f(np.ones(given), 3)
    row = pt.row()
    assert pytensor.function([row, n], pt.alloc(row, n, 4), mode="AESARA")(np.ones((1, 4)), 3).shape == (3, 4)


def test_inspection(counting):
    f, _ = counting
    f.trust_input = True
    assert f(ONES) == 3.0
    assert "mul" in f.dprint(file="str").lower()
    assert callable(f.vm)
    x = pt.vector("x")
    profiled = pytensor.function([x], pt.exp(x), mode="AESARA", profile=True)
    profiled(ONES)
    text = io.StringIO()
    profiled.profile.summary(file=text)
    assert "Function profiling" in text.getvalue()


def test_results_are_not_memory_of_inputs():
    x = pt.vector("x")
    f = pytensor.function([x], [x, x[::-1], x.reshape((3, 1))], mode="AESARA")
    given = ONES.copy()
    for result in f(given):
        result[...] = 7
    np.testing.assert_array_equal(given, ONES)


def test_the_mode_is_an_option():
    x = pt.vector("x")
    with pytensor.config.change_flags(mode="AESARA"):
        assert float((2 * x).sum().eval({x: ONES})) == 6.0
        assert isinstance(pytensor.compile.mode.get_default_mode().linker, aesara.pytensor.AesaraLinker)
    with pytest.raises(ValueError), pytensor.config.change_flags(mode="AESARRA"):
        pass


def test_generators_are_seen_on_both_sides():
    rng = pytensor.shared(np.random.default_rng(3))
    following, draw = pt.random.normal(rng=rng, size=3).owner.outputs
    f = pytensor.function([], draw, updates={rng: following}, mode="AESARA")
    expected = np.random.default_rng(3)
    for _ in range(2):
        np.testing.assert_array_equal(f(), expected.normal(size=3))
    assert rng.get_value().normal() == expected.normal()


def test_draws_from_one_state_are_equal():
    rng = pytensor.shared(np.random.default_rng(3))
    draws = [pt.random.normal(rng=rng) for _ in range(2)]
    for include in ([], ["random_make_inplace"]):
        mode = pytensor.compile.mode.get_mode("AESARA").including(*include)
        first, second = pytensor.function([], draws, mode=mode)()
        assert first == second


def test_inputs_of_other_kinds():
    i, s = pt.iscalar("i"), pytensor.scalar.float64("s")
    x = pt.vector("x")
    f = pytensor.function([x, i, s], x[i:] * pt.as_tensor(s), mode="AESARA")
    np.testing.assert_array_equal(f(np.arange(3.0), 1, 2.0), [2.0, 4.0])


def test_gradients_of_loops_that_draw():
    def compiled(mode):
        rng = pytensor.shared(np.random.default_rng(3))
        x, w = pt.scalars("x", "w")

        def step(y, w, rng):
            following, e = pt.random.normal(rng=rng).owner.outputs
            return [pt.tanh(w * y + e)], {rng: following}

        ys, updates = scan(step, outputs_info=[x], non_sequences=[w, rng], n_steps=5)
        ys = ys[0] if isinstance(ys, list) else ys
        return pytensor.function([x, w], [ys, *pytensor.grad(ys.sum(), [x, w])], updates=updates, mode=mode)

    ours, theirs = compiled("AESARA"), compiled(pytensor.compile.mode.Mode(linker="py"))
    for _ in range(2):
        for found, expected in zip(ours(0.3, 0.7), theirs(0.3, 0.7), strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_shared_sparse_matrices():
    matrix = pytensor.shared(sp.csr_matrix(2 * np.eye(3)), name="matrix")
    x = pt.matrix("x")
    outputs = [pytensor.sparse.dot(matrix, x), matrix]
    f = pytensor.function([x], outputs, updates={matrix: matrix * 2.0}, mode="AESARA")
    for factor in (2.0, 4.0):
        product, before = f(ONES.reshape(3, 1))
        np.testing.assert_array_equal(product[:, 0], factor * ONES)
        np.testing.assert_array_equal(before.toarray(), factor * np.eye(3))
    matrix.set_value(sp.csr_matrix(7 * np.eye(3)))
    np.testing.assert_array_equal(f(ONES.reshape(3, 1))[0][:, 0], 7 * ONES)


def test_integers_to_powers_below_zero():
    x, n = pt.lvector("x"), pt.lscalar("n")
    f = pytensor.function([x, n], [x**n, x ** pt.constant(-2), x**2], mode="AESARA")
    bases = np.array([-2, -1, 1, 2])
    for n, powers in ((-1, [0, -1, 1, 0]), (3, [-8, -1, 1, 8]), (0, [1, 1, 1, 1])):
        np.testing.assert_array_equal(f(bases, n), [powers, [0, 1, 1, 0], bases**2])


def test_scalars_come_back_as_scalars():
    x = pt.bscalar("x")
    f = pytensor.function([x], [pt.scalar_from_tensor(x), x + 1], mode="AESARA")
    scalar, array = f(np.int8(3))
    assert isinstance(scalar, np.int8) and scalar == 3
    assert isinstance(array, np.ndarray)


def test_what_is_known_to_be_wrong_is_an_error_of_the_call():
    x = pt.matrix("x")
    for wrong in (
        lambda: pt.split(x, [5, -1], n_splits=2)[0],
        lambda: pt.set_subtensor(pt.specify_shape(x, (2, 3))[:, :2], np.ones((2, 1, 3))[:, 0]),
        lambda: x.dimshuffle(1),
    ):
        f = pytensor.function([x], wrong(), mode="AESARA")
        with pytest.raises(ValueError):
            f(np.ones((2, 3)))


def test_rules_of_pytensor_that_a_mode_includes_know_shapes():
    x, i = pt.matrix("x"), pt.lvector("i")
    mode = pytensor.compile.mode.get_mode("AESARA").including("canonicalize")
    f = pytensor.function([x, i], pt.exp(x)[i].shape, mode=mode)
    assert not any("exp" in str(node.op).lower() for node in f.maker.fgraph.toposort())
    np.testing.assert_array_equal(f(np.ones((2, 3)), [0, 1, 1, 0]), [4, 3])


def test_errors_name_the_node_and_the_line():
    x, y = pt.vectors("x", "y")
    f = pytensor.function([x, y], pt.exp(x + y), mode="AESARA")
    with pytest.raises(ValueError, match=r"(?s)Runtime|size 2.*size 3") as caught:
        f(np.ones(2), ONES)
    assert "x + y" in str(caught.value)
    assert "test_pytensor_functions.py" in str(caught.value)


def test_own_checks_raise_their_own_errors():
    class Refused(Exception):
        pass

    x = pt.vector("x")
    f = pytensor.function([x], CheckAndRaise(Refused, "positive")(x, (x > 0).all()), mode="AESARA")
    np.testing.assert_array_equal(f(ONES), ONES)
    with pytest.raises(Refused, match="positive"):
        f(-ONES)


def test_no_solution_is_nan():
    a, b = pt.matrices("a", "b")
    outputs = [
        pt.linalg.solve(a, b), pt.linalg.solve(a, b, assume_a="pos"), pt.linalg.solve_triangular(a, b),
        pt.linalg.cholesky(a - pt.eye(2)),
    ]  # fmt: skip
    for result in pytensor.function([a, b], outputs, mode="AESARA")(np.zeros((2, 2)), np.eye(2)):
        assert np.isnan(result).all()


def test_lengths_of_one_are_not_broadcast_at_run_time():
    x, y = pt.vectors("x", "y")
    f = pytensor.function([x, y], x + y, mode="AESARA")
    with pytest.raises(ValueError):
        f(np.ones(1), ONES)


class Tripled(Op):
    def make_node(self, x):
        x = pt.as_tensor(x)
        return Apply(self, [x], [x.type()])

    def perform(self, node, inputs, outputs):
        raise AssertionError("the conversion is used")


def test_ops_of_others_are_registered():
    @aesara.pytensor.convert_op.register(Tripled)
    def _(op, node, x):
        return 3 * x

    x = pt.vector("x")
    np.testing.assert_array_equal(pytensor.function([x], Tripled()(x), mode="AESARA")(ONES), 3 * ONES)


class Wrong(Tripled):
    pass


def test_a_conversion_of_another_type_is_refused():
    aesara.pytensor.convert_op.register(Wrong, lambda op, node, x: at.exp(x).sum())
    x = pt.vector("x")
    with pytest.raises(TypeError, match="output 0 is"):
        pytensor.function([x], Wrong()(x), mode="AESARA")


def test_graphs_that_lead_nowhere_are_refused():
    x, y = pt.vectors("x", "y")
    with pytest.raises(ValueError, match="neither one of its inputs nor a constant"):
        aesara.pytensor.convert_graph([x], [x + y])


def test_names_and_lines_are_kept():
    x = pt.vector("x")
    y = pt.exp(x)
    y.name = "y"
    (ours,), (out,) = aesara.pytensor.convert_graph([x], [y])
    assert (ours.name, out.name) == ("x", "y")
    assert out.owner.source.filename == __file__


# -- PyMC ------------------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def regression():
    pm = pytest.importorskip("pymc")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    with pm.Model() as model:
        x = pm.Data("x", X)
        b, s = pm.Normal("b", 0, 1, shape=2), pm.HalfNormal("s", 1)
        pm.Normal("y", pm.Deterministic("mu", x @ b), s, observed=pm.Data("o", X @ [1, 2] + rng.normal(size=60)))
    return model


OURS = {"compile_kwargs": {"mode": "AESARA"}}
QUIET = {"progressbar": False, "random_seed": 1}


def test_nuts_in_processes_draws_what_it_draws_in_turn(regression):
    pm = pytest.importorskip("pymc")
    with regression, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        one, other = (pm.sample(50, tune=50, chains=2, cores=cores, **QUIET, **OURS) for cores in (1, 2))
    np.testing.assert_array_equal(one.posterior["b"].values, other.posterior["b"].values)


def test_predictive_draws_are_those_of_pytensor(regression):
    pm = pytest.importorskip("pymc")
    with regression:
        ours = pm.sample_prior_predictive(20, random_seed=3, **OURS)
        theirs = pm.sample_prior_predictive(20, random_seed=3, compile_kwargs={"mode": "FAST_COMPILE"})
    for name in ("b", "s"):
        np.testing.assert_array_equal(ours.prior[name].values, theirs.prior[name].values)
    np.testing.assert_allclose(ours.prior["mu"].values, theirs.prior["mu"].values, rtol=1e-14, atol=1e-14)


def test_new_data_are_seen(regression):
    pm = pytest.importorskip("pymc")
    logp, point = regression.compile_logp(mode="AESARA"), regression.initial_point()
    before, old = logp(point), regression["o"].get_value()
    try:
        with regression:
            pm.set_data({"o": old + 1})
        assert logp(point) != before
        np.testing.assert_allclose(logp(point), regression.compile_logp(mode="FAST_COMPILE")(point), rtol=1e-12)
    finally:
        with regression:
            pm.set_data({"o": old})


def test_other_ways_to_fit(regression):
    pm = pytest.importorskip("pymc")
    with regression, pytensor.config.change_flags(mode="AESARA"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mode = pm.find_MAP(progressbar=False)
        mode = {name: mode[name] for name in regression.initial_point()}
        np.testing.assert_allclose(regression.compile_dlogp(jacobian=False)(mode), 0, rtol=0, atol=1e-2)
        assert np.isfinite(pm.fit(50, progressbar=False, random_seed=1).hist).all()
        assert pm.sample(20, tune=20, chains=1, step=pm.Metropolis(), **QUIET).posterior["b"].shape == (1, 20, 2)


def test_explain_says_what_runs_in_python():
    x = pt.vector("x")
    normal = pt.random.normal(x, rng=pytensor.shared(np.random.default_rng(1)))
    inputs, outputs = aesara.pytensor.convert_graph([x, normal.owner.inputs[0]], [pt.exp(normal)])
    assert "normal" in str(aesara.explain(aesara.function(inputs, outputs)))


@pytest.mark.parametrize("jacobian", [True, False])
def test_density_and_gradient_of_a_vector(regression, jacobian):
    pm = pytest.importorskip("pymc")
    f = aesara.pytensor.compile_logp(regression, jacobian=jacobian)
    start = {name: value + 0.1 for name, value in regression.initial_point().items()}
    x = f.ravel(start)
    assert x.shape == (f.size,) == (3,)
    for name, value in f.unravel(x).items():
        np.testing.assert_array_equal(value, start[name])
    logp = regression.compile_logp(jacobian=jacobian, mode="FAST_COMPILE")
    dlogp = regression.compile_dlogp(jacobian=jacobian, mode="FAST_COMPILE")
    np.testing.assert_allclose(f(x)[0], logp(start), rtol=1e-12)
    np.testing.assert_allclose(f(x)[1], dlogp(start), rtol=1e-10)
    old = regression["o"].get_value()
    try:
        with regression:
            pm.set_data({"o": old + 1})
        np.testing.assert_allclose(f(x)[0], logp(start), rtol=1e-12)
    finally:
        with regression:
            pm.set_data({"o": old})


def test_densities_out_of_range_are_minus_infinity():
    pm = pytest.importorskip("pymc")
    with pm.Model() as model:
        pm.Normal("y", 0, pm.Normal("s", 0, 1), observed=1.0)
    assert aesara.pytensor.compile_logp(model)(np.array([-1.0]))[0] == -np.inf


def test_discrete_variables_have_no_gradient():
    pm = pytest.importorskip("pymc")
    with pm.Model() as model:
        pm.Poisson("k", 3)
    with pytest.raises(TypeError, match="discrete: k"):
        aesara.pytensor.compile_logp(model)


def test_converted_graphs_share_values():
    w, x = pytensor.shared(ONES.copy(), "w"), pt.vector("x")
    (ours,), (out,) = aesara.pytensor.convert_graph([x], [(w * x).sum()])
    f = aesara.function([ours], out)
    w.set_value(5 * ONES)
    assert f(ONES) == 15.0


@pytest.mark.parametrize("dtype", ["bool", "int8", "float32"])
@pytest.mark.parametrize("accumulate", [pt.cumsum, pt.cumprod], ids=["sum", "product"])
def test_cumulative_sums_have_the_dtype_of_their_type(accumulate, dtype):
    """As in PyTensor's C code; its reference gives integers of 64 bits, whatever the type says."""
    x = pt.vector("x", dtype=dtype)
    values = np.array([1, 100, 100, 0], dtype)
    got = pytensor.function([x], [accumulate(x), accumulate(x) + x], mode="AESARA")(values)
    wanted = getattr(np, accumulate.__name__)(values, dtype=dtype)
    assert got[0].dtype == dtype
    np.testing.assert_array_equal(got[0], wanted)
    np.testing.assert_array_equal(got[1], wanted + values)


def test_models_of_labelled_dimensions():
    pm, pmd = pytest.importorskip("pymc"), pytest.importorskip("pymc.dims")
    data = np.array([0.3, -1.0, 2.0, 0.1])
    with pm.Model(coords={"group": range(4), "other": range(2)}) as model:
        mu = pmd.Normal("mu", 0, 1, dims=("other", "group"))
        sigma = pmd.HalfNormal("sigma", 1)
        pmd.Normal("y", mu.sum("other"), sigma, observed=pmd.Data("data", data, dims="group"))
    point = {name: value + 0.3 for name, value in model.initial_point().items()}
    expected, found = (model.compile_logp(mode=mode)(point) for mode in ("FAST_COMPILE", "AESARA"))
    np.testing.assert_allclose(found, expected, rtol=1e-14)
    f = aesara.pytensor.compile_logp(model)
    logp, gradient = f(f.ravel(point))
    np.testing.assert_allclose(logp, expected, rtol=1e-14)
    np.testing.assert_allclose(gradient, model.compile_dlogp(mode="FAST_COMPILE")(point), rtol=1e-14)


def raised_in(model, **options):
    """What sampling raises, with our mode and with PyTensor's own."""
    pm, raised = pytest.importorskip("pymc"), []
    for mode in ("AESARA", "FAST_COMPILE"):
        with model, warnings.catch_warnings(), pytest.raises(Exception) as caught:
            warnings.simplefilter("ignore")
            pm.sample(20, tune=20, chains=2, compile_kwargs={"mode": mode}, **QUIET, **options)
        raised.append(caught)
    return raised


def test_starts_that_have_no_density_are_refused_as_by_pytensor():
    pm = pytest.importorskip("pymc")
    with pm.Model() as model:
        pm.Potential("p", pt.log(-1 - pm.HalfNormal("x")))
    ours, theirs = raised_in(model, cores=1)
    assert ours.type is theirs.type is pm.exceptions.SamplingError
    assert "p" in str(ours.value)


@pytest.mark.parametrize("cores", [1, 2])
def test_models_that_raise(cores):
    pm = pytest.importorskip("pymc")
    with pm.Model() as model:
        x = pm.Normal("x")
        # not at the start, which is checked before
        pm.Potential("p", CheckAndRaise(ZeroDivisionError, "too far out")(x, pt.lt(abs(x), 1.2)))
    ours, theirs = raised_in(model, cores=cores, init="adapt_diag", initvals={"x": 0.0})
    assert ours.type is theirs.type
    assert "too far out" in "".join(format_exception(ours.value))


@pytest.fixture
def listening():
    """SIGINT is an interrupt, also where the tests were started by a program that ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_sampling_is_interrupted(listening):
    pm = pytest.importorskip("pymc")

    def interrupt(trace, draw):
        if not draw.tuning and draw.draw_idx >= 30:
            os.kill(os.getpid(), signal.SIGINT)

    with pm.Model(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pm.Normal("x", shape=3)
        found = pm.sample(10_000, tune=10, chains=1, cores=1, callback=interrupt, **QUIET, **OURS)
    assert 20 <= found.posterior.sizes["draw"] < 10_000
