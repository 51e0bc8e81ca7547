"""Faults that random programs have brought to light, each by itself."""

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.compile.mode import Mode
from aesara.configdefaults import config
from tests.closeness import assert_close

MODES = {"plain": Mode("py", None), "rewritten": Mode("py", "fast_run"), "native": Mode("llvm", "fast_run")}


@pytest.fixture(params=list(MODES))
def compiled(request):
    """Compiles in one of the ways to run a program, with all checks of the native compiler."""

    def build(inputs, outputs, **options):
        with config.change_flags(native_verify=True, on_opt_error="raise"):
            return aesara.function(inputs, outputs, mode=MODES[request.param], **options)

    return build


def test_a_vector_is_added_at_a_matrix_of_positions(compiled):
    # numpy.add.at reads past the end of the vector
    x = np.array([-0.25, -0.75, 2.5])
    index = np.array([[0, 0, 0], [2, 0, 1], [0, 0, 2]])
    v, i = at.dvector("v"), at.lmatrix("i")
    np.testing.assert_array_equal(compiled([v, i], at.inc_subtensor(v[i], v))(x, index), [-0.5, 1.75, 4.75])


def test_the_last_of_repeated_positions_counts_in_any_layout(compiled):
    index = np.asfortranarray([[0, 1, 0, 0], [0, 0, 1, 0], [1, 0, 0, 0]])
    v, i, y = at.lvector("v"), at.lmatrix("i"), at.lmatrix("y")
    f = compiled([v, i, y], at.set_subtensor(v[i], y))
    np.testing.assert_array_equal(f(np.zeros(2, "int64"), index, np.arange(12).reshape(3, 4)), [11, 8])


def test_a_join_is_allocated_when_the_sizes_of_all_parts_are_known(compiled):
    # the number of entries that a mask selects is known once the node has run
    x = at.fvector("x")
    f = compiled([x], at.join(0, x, x, x[x > 0]))
    np.testing.assert_array_equal(f(np.float32([1, -2, 3])), np.float32([1, -2, 3, 1, -2, 3, 1, 3]))


def test_writes_in_a_row_share_memory_before_an_update(compiled):
    shared = aesara.shared(np.zeros((3, 4), "float32"), "shared")
    new = at.inc_subtensor(at.set_subtensor(shared[[0, 2]], 3.0)[:, [1, 1]], 1.0)
    compiled([], [], updates=[(shared, at.clip(new, -1, 4))])()
    np.testing.assert_array_equal(shared.get_value(), [[3, 4, 3, 3], [0, 2, 0, 0], [3, 4, 3, 3]])


def test_products_in_half_precision_are_rounded_once(compiled):
    x = np.float16([[60000.0, 60000.0, 1.0], [0.001, 1.0, 2.0]])
    y = np.float16([[2.0, 1.0], [-2.0, 1.0], [3.0, 4.0]])
    a, b = at.tensor("float16", shape=(None, None)), at.tensor("float16", shape=(None, None))
    got = compiled([a, b], [at.dot(a, b), at.batched_dot(a[None], b[None])[0]])(x, y)
    with np.errstate(over="ignore"):
        want = (x.astype("float64") @ y.astype("float64")).astype("float16")
    for value in got:
        assert value.dtype == "float16"
        np.testing.assert_allclose(value, want, rtol=1e-3)


def test_the_shape_of_a_node_whose_inputs_became_known_to_be_of_length_one(compiled):
    x = at.tensor("float64", shape=(1, None), name="x")
    rows = x.reshape((-1, x.shape[1]), ndim=2)
    cost = at.inc_subtensor(x[at.all(rows, axis=1)], rows).sum()
    np.testing.assert_array_equal(compiled([x], aesara.grad(cost, x))(np.ones((1, 3))), [[2.0, 2.0, 2.0]])


def array(values, dtype):
    return np.array(values, dtype=dtype)


#: arithmetic that rules must do in the dtype of the result: what is computed, for which values, and what it is
ARITHMETIC = {
    "times minus one": (lambda x: x * -1, [array([5, 200], "uint8")], [-5, -200]),
    "zero minus": (lambda x: 0 - x, [array([5, 200], "uint8")], [-5, -200]),
    "over minus one": (lambda x: x / -1, [array([-(2**63)], "int64")], [2.0**63]),
    "zero minus boolean": (lambda x: at.zeros((1,), dtype="int32") - x, [array([True], "bool")], [-1]),
    "reciprocal": (lambda x: at.constant(np.int64(1)) / x, [array([3], "float32")], [1 / 3]),
    "booleans added": (lambda x, y: x + (x - y), [array([True], "bool"), array([0.5], "float16")], [1.5]),
    "product over": (lambda x: x * ((x * x) / x), [array([5, 20], "uint8")], [25, 144]),
    "neutral factor": (
        lambda x: x * at.ones_like(x, dtype="float32") * x[::-1],
        [array([2147483647], "int32")],
        [2147483647.0**2],
    ),
}


@pytest.mark.parametrize("name", list(ARITHMETIC))
def test_rules_compute_in_the_dtype_of_the_result(name, compiled):
    build, values, expected = ARITHMETIC[name]
    inputs = [at.tensor(str(v.dtype), shape=(None,)) for v in values]
    output = build(*inputs)
    np.testing.assert_array_equal(compiled(inputs, output)(*values), array(expected, output.type.dtype))


@pytest.mark.parametrize("mode", ["rewritten", "native"])
def test_the_sum_of_no_infinite_numbers_is_zero(mode):
    n, x = at.lscalar("n"), at.dscalar("x")
    assert aesara.function([n, x], at.alloc(x, n).sum(), mode=MODES[mode])(0, np.inf) == 0


@pytest.mark.parametrize("mode", ["rewritten", "native"])
def test_products_over_no_axes_have_a_gradient_at_zero(mode):
    x = at.dvector("x")
    gradient = aesara.grad((at.prod(x, axis=(), keepdims=True) * 3.5).sum(), x)
    np.testing.assert_array_equal(aesara.function([x], gradient, mode=MODES[mode])([0.0, 1.0, 0.5]), [3.5] * 3)


@pytest.mark.parametrize("mode", ["rewritten", "native"])
def test_there_are_no_polygamma_functions_of_orders_that_are_no_whole_numbers(mode):
    n, x = at.dvectors("n", "x")
    f = aesara.function([n, x], at.polygamma(n, x), mode=MODES[mode])
    assert np.isnan(f([0.5, -1.0, np.nan, np.inf], [1.0] * 4)).all()
    assert_close(f([0.0, 1.0, 2.0], [1.0] * 3), [-0.5772156649015329, np.pi**2 / 6, -2.404113806319188])
