"""Functions compiled by JAX: sizes, states, errors."""

import os
import pickle
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.compile.builders import OpFromGraph
from aesara.compile.mode import get_target_language
from aesara.graph.fg import FunctionGraph
from aesara.graph.op import Op
from aesara.link.jax.compiled import enable_x64
from aesara.link.jax.dispatch import jax_funcify
from aesara.raise_op import Assert, CheckAndRaise


def compiled(inputs, outputs, **options):
    return aesara.function(inputs, outputs, mode="JAX", **options)


def test_results_are_arrays_of_jax_with_the_dtypes_of_the_graph():
    x, n = at.fvector("x"), at.lscalar("n")
    f = compiled([x, n], [x * 2, x.sum(), n + 1, x > 0, x.shape[0]])
    results = f(np.ones(3, "float32"), 2**40)
    assert all(isinstance(r, jax.Array) for r in results)
    assert [str(r.dtype) for r in results] == ["float32", "float32", "int64", "bool", "int64"]
    assert int(results[2]) == 2**40 + 1


def test_64_bits_whatever_the_option_of_jax():
    x = at.dvector("x")
    f = compiled([x], [x / 3, at.arange(x.shape[0])])
    jax.config.update("jax_enable_x64", False)
    try:
        third, numbers = f(np.ones(2))
    finally:
        jax.config.update("jax_enable_x64", True)
    assert third.dtype == "float64" and numbers.dtype == "int64"
    np.testing.assert_array_equal(third, np.ones(2) / 3)


def test_one_compilation_for_each_shape():
    x = at.dvector("x")
    f = compiled([x], x + x.shape[0])
    for n in (3, 3, 4, 3, 4):
        np.testing.assert_array_equal(f(np.zeros(n)), np.full(n, float(n)))
    assert f.vm.jit_fn.compilations == 2


def test_sizes_computed_from_shapes():
    x = at.dmatrix("x")
    f = compiled([x], [x.reshape((x.shape[1] * 2 // 2, -1)), at.zeros((x.shape[0] + 1, x.size))])
    reshaped, zeros = f(np.arange(6.0).reshape(2, 3))
    np.testing.assert_array_equal(reshaped, np.arange(6.0).reshape(3, 2))
    assert zeros.shape == (3, 6)


def test_an_integer_input_that_a_size_depends_on_is_static():
    x, n = at.dvector("x"), at.iscalar("n")
    f = compiled([x, n], x.reshape((n + 1, -1)) * n)
    for value in (1, 2, 1):
        np.testing.assert_array_equal(f(np.arange(6.0), value), np.arange(6.0).reshape(value + 1, -1) * value)
    assert f.vm.jit_fn.compilations == 2


def test_only_what_sizes_depend_on_is_static():
    x, n, m = at.dvector("x"), at.iscalar("n"), at.iscalar("m")
    f = compiled([m, x, n], x.reshape((n, -1)) * m)
    for value in range(5):
        np.testing.assert_array_equal(f(value, np.arange(6.0), 2), np.arange(6.0).reshape(2, 3) * value)
    assert f.vm.jit_fn.compilations == 1


def test_a_vector_of_integers_that_is_a_shape():
    x, shape = at.dvector("x"), at.lvector("shape")
    f = compiled([x, shape], x.reshape(shape, ndim=2))
    np.testing.assert_array_equal(f(np.arange(6.0), [2, 3]), np.arange(6.0).reshape(2, 3))
    np.testing.assert_array_equal(f(np.arange(6.0), [6, 1]), np.arange(6.0).reshape(6, 1))


def test_a_size_that_depends_on_data_is_refused():
    x = at.dvector("x")
    f = compiled([x], at.zeros(at.cast(x.sum(), "int64")) + 1)
    with pytest.raises(TypeError, match=r"has to be known when XLA compiles.*from x of(.|\n)*test_linker_by_jax.py"):
        f(np.ones(3))


def test_a_size_inside_a_graph_as_operation():
    x, n = at.dvector("x"), at.lscalar("n")
    ring = OpFromGraph([x, n], [x.reshape((n, -1))])
    f = compiled([x, n], ring(x * 2, n))
    np.testing.assert_array_equal(f(np.arange(6.0), 3), 2 * np.arange(6.0).reshape(3, 2))


def test_shared_variables_stay_on_the_device():
    total, x = aesara.shared(np.zeros(3), name="total"), at.dvector("x")
    f = compiled([x], total.sum(), updates={total: total + x})
    assert [float(f(np.ones(3))) for _ in range(3)] == [0.0, 3.0, 6.0]
    assert isinstance(total.container.storage[0], jax.Array)
    value = total.get_value()
    assert type(value) is np.ndarray and value.flags.writeable
    np.testing.assert_array_equal(value, np.full(3, 3.0))
    assert type(total.get_value(borrow=True)) is np.ndarray
    total.set_value(np.full(3, 10.0))
    assert float(f(np.ones(3))) == 30.0


@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE"])
def test_a_function_of_another_linker_shares_the_variable(mode):
    state, x = aesara.shared(np.arange(3.0)), at.dvector("x")
    by_jax = compiled([x], [], updates={state: state + x})
    other = aesara.function([x], [], updates={state: at.inc_subtensor(state[0], x[0])}, mode=mode)
    by_jax(np.ones(3))
    kept = state.container.storage[0]
    other(np.ones(3))
    np.testing.assert_array_equal(state.get_value(), [2.0, 2.0, 3.0])
    np.testing.assert_array_equal(kept, [1.0, 2.0, 3.0])
    by_jax(np.ones(3))
    np.testing.assert_array_equal(state.get_value(), [3.0, 3.0, 4.0])


def test_a_failing_check_leaves_shared_variables_alone():
    state, x = aesara.shared(np.zeros(2)), at.dvector("x")
    checked = Assert("x must be positive")(x, at.all(x > 0))
    f = compiled([x], checked.sum(), updates={state: state + x})
    assert float(f([1.0, 2.0])) == 3.0
    with pytest.raises(AssertionError, match=r"x must be positive(.|\n)*test_linker_by_jax.py"):
        f([1.0, -2.0])
    np.testing.assert_array_equal(state.get_value(), [1.0, 2.0])
    assert float(f([1.0, 1.0])) == 2.0


def test_checks_of_another_class():
    x = at.dscalar("x")
    f = compiled([x], CheckAndRaise(KeyError, "too large")(x, x < 3) * 2)
    assert float(f(2.0)) == 4.0
    with pytest.raises(KeyError, match="too large"):
        f(4.0)


def test_lengths_that_do_not_agree():
    x, y = at.dvectors("x", "y")
    f = compiled([x, y], x + y)
    with pytest.raises(ValueError, match=r"Input dimension mismatch(.|\n)*x \+ y"):
        f(np.ones(1), np.ones(3))


class Unknown(Op):
    """The entries that are positive: nobody knows how many."""

    itypes = otypes = [at.dvector]

    def perform(self, node, inputs, outputs):
        outputs[0][0] = inputs[0][inputs[0] > 0]


class Doubled(Op):
    """Twice the input, overwritten on the way."""

    itypes = otypes = [at.dvector]
    calls = 0

    def perform(self, node, inputs, outputs):
        type(self).calls += 1
        inputs[0] *= 2
        outputs[0][0] = inputs[0]

    def infer_shape(self, fgraph, node, shapes):
        return shapes


def test_an_op_without_conversion_runs_on_the_host():
    x = at.dvector("x")
    f = compiled([x], Doubled()(x + 1) * 3)
    given = np.arange(3.0)
    before = Doubled.calls
    np.testing.assert_array_equal(f(given), 6 * (given + 1))
    assert Doubled.calls == before + 1
    np.testing.assert_array_equal(given, np.arange(3.0))


def test_an_op_without_conversion_and_without_shape_is_refused():
    with pytest.raises(NotImplementedError, match=r"No JAX conversion for the given `Op`: Unknown.*infer_shape"):
        x = at.dvector("x")
        compiled([x], Unknown()(x))


def test_a_conversion_that_users_register():
    class Halved(Op):
        itypes = otypes = [at.dvector]

        def perform(self, node, inputs, outputs):
            raise AssertionError("not used")

    @jax_funcify.register(Halved)
    def _(op, node=None, **kwargs):
        return lambda x: x / 2

    x = at.dvector("x")
    np.testing.assert_array_equal(compiled([x], Halved()(x))(np.ones(2)), [0.5, 0.5])


def test_a_graph_as_a_function_of_jax():
    x, y = at.dvector("x"), at.dscalar("y")
    f = jax_funcify(FunctionGraph([x, y], [(x**2).sum() * y, x.shape[0]], clone=False))
    value, length = f(np.arange(3.0), 2.0)
    assert float(value) == 10.0 and int(length) == 3
    gradient = jax.grad(lambda x: f(x, 2.0)[0])(jnp.arange(3.0))
    np.testing.assert_array_equal(gradient, 4 * np.arange(3.0))
    batch = jax.jit(jax.vmap(lambda x: f(x, 1.0)[0]))(jnp.arange(6.0).reshape(2, 3))
    np.testing.assert_array_equal(batch, [5.0, 50.0])
    with pytest.raises(TypeError, match="takes 2 arguments, got 1"):
        f(np.arange(3.0))


def test_gradients_of_the_graph_agree_with_those_of_jax():
    x = at.dmatrix("x")
    cost = at.log1p(at.exp(x)).sum() + at.softmax(x, axis=1)[:, 0].sum()
    ours = compiled([x], aesara.grad(cost, x))
    f = jax_funcify(FunctionGraph([x], [cost]))
    given = np.random.default_rng(0).normal(size=(3, 4))
    np.testing.assert_allclose(ours(given), jax.grad(lambda v: f(v)[0])(given), rtol=1e-12, atol=1e-15)


def test_a_pickled_function():
    state, x = aesara.shared(np.zeros(3)), at.dvector("x")
    f = compiled([x], x.sum(), updates={state: state + x})
    f(np.ones(3))
    again = pickle.loads(pickle.dumps(f))
    assert float(again(np.ones(3))) == 3.0
    np.testing.assert_array_equal(again.get_shared()[0].get_value(), np.full(3, 2.0))


def test_the_mode_by_its_names():
    x = at.dscalar("x")
    assert get_target_language("JAX") == ("jax",)
    for mode in ("JAX", aesara.compile.mode.JAX, aesara.compile.Mode("jax", "fast_compile")):
        assert isinstance(aesara.function([x], x + 1, mode=mode)(1.0), jax.Array)
    with aesara.config.change_flags(mode="JAX"):
        assert isinstance(aesara.function([x], x + 1)(1.0), jax.Array)


def test_what_is_known_is_not_computed_again():
    """Constants and shapes are numbers when XLA compiles."""
    x = at.dvector("x")
    f = jax_funcify(FunctionGraph([x], [x * (x.shape[0] * 2 + 1)]))
    text = str(jax.make_jaxpr(f)(np.ones(3)))
    assert text.count("mul") == 1 and "add" not in text


def test_arrays_of_jax_are_taken_as_they_are():
    x = at.dvector("x")
    f = compiled([x], x * 2)
    given = jnp.arange(3.0)
    seen = []
    original = f.vm.jit_fn._compiled
    f.vm.jit_fn._compiled = lambda fixed, *free: (seen.extend(free), original(fixed, *free))[1]
    np.testing.assert_array_equal(f(given), 2 * np.arange(3.0))
    assert seen[0] is given
    # other dtypes are converted on the device if that loses nothing, else as ever, or refused
    for dtype in ("int32", "float32", "bool"):
        np.testing.assert_array_equal(f(jnp.arange(3).astype(dtype)), 2 * np.arange(3).astype(dtype).astype(float))
        assert isinstance(seen[-1], jax.Array) and seen[-1].dtype == "float64"
    with enable_x64(True):
        whole = jnp.arange(3)
        np.testing.assert_array_equal(f(whole), 2 * np.arange(3.0))
        assert whole.dtype == "int64" and type(seen[-1]) is np.ndarray
        with pytest.raises(TypeError, match="2\\*\\*53|precision|9007199254740993"):
            f(whole + (2**53 + 1))
    exact = aesara.function([aesara.In(x, strict=True)], 2 * x, mode="JAX")
    with pytest.raises(TypeError, match="expected an ndarray"):
        exact(jnp.arange(3, dtype="float32"))
    with pytest.raises(TypeError, match="Wrong number of dimensions"):
        f(jnp.ones((2, 2)))


DISTRIBUTED = """
import jax, numpy as np, aesara, aesara.tensor as at
from jax.sharding import Mesh, NamedSharding, PartitionSpec
x, w = at.dmatrix("x"), aesara.shared(np.zeros(3), name="w")
loss = ((x @ w - 1) ** 2).mean()
step = aesara.function([x], loss, updates={w: w - 0.1 * aesara.grad(loss, w)}, mode="JAX")
rows = np.random.default_rng(0).normal(size=(8, 3))
distributed = jax.device_put(rows, NamedSharding(Mesh(np.array(jax.devices()), ("rows",)), PartitionSpec("rows")))
twice = aesara.function([x], x * 2, mode="JAX")(distributed)
print(len(jax.devices()), len(twice.sharding.device_set), [float(step(distributed)) for _ in range(3)], w.get_value())
"""


def test_rows_on_several_devices():
    """Arguments that are distributed make the computation one of all devices."""
    results = []
    for count in (1, 4):
        flags = f"--xla_force_host_platform_device_count={count}"
        surroundings = {**os.environ, "JAX_PLATFORMS": "cpu", "XLA_FLAGS": flags}
        run = [sys.executable, "-c", DISTRIBUTED]
        out = subprocess.run(run, env=surroundings, capture_output=True, text=True, check=True).stdout
        devices, places, rest = out.split(maxsplit=2)
        assert int(devices) == int(places) == count
        results.append(np.array(rest.replace("[", " ").replace("]", " ").replace(",", " ").split(), dtype=float))
    np.testing.assert_allclose(*results, rtol=1e-7)
