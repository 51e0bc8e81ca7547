"""Products that BLAS scales, and adds to shared variables in their memory: values, aliases, calls that fail."""

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.compile.mode import get_mode
from aesara.ir.routines import products
from aesara.ir.steps import Call, walk_steps
from aesara.lower.dispatch import lower_graph
from tests.closeness import assert_close


def program_of(f):
    fgraph = f.maker.fgraph
    implicit = len(fgraph.inputs) - len([i for i in f.maker.inputs if not i.implicit])
    inputs = [(v, k >= len(fgraph.inputs) - implicit) for k, v in enumerate(fgraph.inputs)]
    returned = len(fgraph.outputs) - len(fgraph.update_mapping or {})
    return lower_graph(inputs, fgraph.outputs, dict(fgraph.update_mapping or {}), returned, False).program


def products_of(f):
    return [step for step in walk_steps(program_of(f).steps) if isinstance(step, Call)]


def is_added(product):
    """Return whether a product accumulates in its operand."""
    return product.routine is products.accumulated_product(product.routine.parameters[0].dtype)


def scale_of(product):
    (alpha,) = product.scalars
    return alpha.attr


def memory_of(shared):
    """Return the address of the value; a reference to it would prevent updates in place."""
    return shared.get_value(borrow=True).ctypes.data


def noise(rng, *shape):
    return rng.normal(size=shape)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("rate", ["number", "input", "shared", "expression"])
@pytest.mark.parametrize("size", [3, 30])
def test_step_of_gradient_descent(dtype, rate, size, rng):
    x, y = [at.matrix(name, dtype=dtype) for name in "xy"]
    lr = at.scalar("lr", dtype=dtype)
    shared = aesara.shared(np.asarray(0.5, dtype))
    factor = {"number": np.asarray(0.5, dtype), "input": lr, "shared": shared, "expression": lr * at.exp(shared)}[rate]
    value = {"expression": 0.25 * np.exp(0.5)}.get(rate, 0.25 if rate == "input" else 0.5)
    start, left, right = [noise(rng, size, size).astype(dtype) for _ in range(3)]
    w = aesara.shared(start)
    f = aesara.function([x, y, lr], [], updates={w: w - factor * at.dot(x, y)}, on_unused_input="ignore")
    (product,) = products_of(f)
    assert is_added(product)
    before = memory_of(w)
    f(left, right, np.asarray(0.25, dtype))
    assert memory_of(w) == before
    tolerance = 1e-5 if dtype == "float32" else 1e-12
    np.testing.assert_allclose(w.get_value(), start - value * (left @ right), rtol=tolerance, atol=tolerance)


def test_an_old_value_that_a_product_reads_is_overwritten_after_it(rng):
    x = at.tensor("float64", (3, 3))
    w = aesara.shared(noise(rng, 3, 3), shape=(3, 3))
    f = aesara.function([x], [at.exp(x), w @ x], updates={w: w + 1})
    before, value, old = memory_of(w), noise(rng, 3, 3), w.get_value()
    exponentials, product = f(value)
    np.testing.assert_allclose(product, old @ value, rtol=1e-13)
    np.testing.assert_allclose(exponentials, np.exp(value), rtol=1e-13)
    np.testing.assert_array_equal(w.get_value(), old + 1)
    assert memory_of(w) == before


def test_shape_that_the_variable_does_not_have_changes_nothing(rng):
    x, y = at.dmatrices("x", "y")
    w = aesara.shared(np.ones((3, 3)))
    f = aesara.function([x, y], [], updates={w: w - 0.1 * at.dot(x, y)})
    for left, right in [((3, 2), (3, 3)), ((4, 2), (2, 3)), ((3, 2), (2, 4))]:
        with pytest.raises(ValueError):
            f(noise(rng, *left), noise(rng, *right))
        np.testing.assert_array_equal(w.get_value(), 1)


def test_what_fails_afterwards_changes_nothing(rng):
    x, y = at.dmatrices("x", "y")
    i = at.lscalar("i")
    w, u = aesara.shared(np.ones((3, 3))), aesara.shared(np.ones((3, 3)))
    f = aesara.function([x, y, i], x[i], updates={w: w - 0.1 * at.dot(x, y), u: u + at.dot(y, w)})
    with pytest.raises(IndexError):
        f(noise(rng, 3, 3), noise(rng, 3, 3), 7)
    np.testing.assert_array_equal(w.get_value(), 1)
    np.testing.assert_array_equal(u.get_value(), 1)


def test_variable_that_is_an_operand_or_the_rate_as_well(rng):
    x = at.dmatrix("x")
    start, given = noise(rng, 4, 4), noise(rng, 4, 4)
    w, rate = aesara.shared(start), aesara.shared(np.array(0.5))
    f = aesara.function([x], [], updates={w: w - rate * at.dot(w, x), rate: rate * 0.5})
    f(given)
    np.testing.assert_allclose(w.get_value(), start - 0.5 * (start @ given), rtol=1e-12)
    assert rate.get_value() == 0.25


def test_value_that_others_hold_is_not_changed(rng):
    x, y = at.dmatrices("x", "y")
    start, left, right = noise(rng, 4, 4), noise(rng, 4, 4), noise(rng, 4, 4)
    w = aesara.shared(start, borrow=True)
    f = aesara.function([x, y], [], updates={w: w + 2 * at.dot(x, y)})
    held = w.get_value(borrow=True)
    kept = held.copy()
    f(left, right)
    np.testing.assert_array_equal(held, kept)
    np.testing.assert_allclose(w.get_value(), kept + 2 * left @ right, rtol=1e-12)


def test_argument_that_is_the_value_of_the_variable(rng):
    x = at.dmatrix("x")
    start = noise(rng, 4, 4)
    w = aesara.shared(start)
    f = aesara.function([x], [], updates={w: w - 0.5 * at.dot(x, x)})
    f(w.get_value(borrow=True))
    np.testing.assert_allclose(w.get_value(), start - 0.5 * start @ start, rtol=1e-12)


@pytest.mark.parametrize("in_place", [True, False])
def test_old_value_that_a_result_is_made_of_as_well(in_place, rng):
    """The result is a copy, to which a product is added, before the variable is overwritten."""
    x = at.dmatrix("x")
    start, given = noise(rng, 20, 20), noise(rng, 20, 20)
    w = aesara.shared(start)
    for change in (w * 2, w - 0.5 * at.dot(x, x), w + at.dot(w, x)):
        w.set_value(start)
        held = None if in_place else w.get_value(borrow=True)
        f = aesara.function([x], [w + 3 * at.dot(x, x), w.sum()], updates={w: change})
        found, total = f(given)
        np.testing.assert_allclose(found, start + 3 * given @ given, rtol=1e-12)
        np.testing.assert_allclose(total, start.sum(), rtol=1e-12)
        assert held is None or (held == start).all()
        if change.owner.op == at.mul:
            np.testing.assert_array_equal(w.get_value(), 2 * start)


def test_argument_that_is_added_to_stays(rng):
    z, x = at.dmatrices("z", "x")
    f = aesara.function([z, x], z - at.dot(x, x))
    (product,) = products_of(f)
    assert is_added(product)
    a, b = noise(rng, 20, 20), noise(rng, 20, 20)
    for left, right in ((a, b), (a, a)):
        kept, operand = left.copy(), right.copy()
        np.testing.assert_allclose(f(left, right), kept - operand @ operand, rtol=1e-11, atol=1e-12)
        np.testing.assert_array_equal(left, kept)


def test_rate_zero_and_not_a_number(rng):
    x, y = at.dmatrices("x", "y")
    lr = at.dscalar("lr")
    for size in (3, 30):
        w = aesara.shared(np.ones((size, size)))
        f = aesara.function([x, y, lr], [], updates={w: w - lr * at.dot(x, y)})
        left, right = noise(rng, size, size), noise(rng, size, size)
        f(left, right, 0.0)
        np.testing.assert_array_equal(w.get_value(), 1)
        left[0, 0] = np.nan
        f(left, right, 0.0)
        assert np.isnan(w.get_value()[0]).all() and (w.get_value()[1:] == 1).all()


def test_scaled_product_needs_no_pass_of_its_own(rng):
    x, y, z = at.dmatrices("x", "y", "z")
    a = at.dscalar("a")
    f = aesara.function([x, y, z, a], at.dot(a * at.dot(x, y), z))
    values = [noise(rng, 5, 5) for _ in range(3)]
    np.testing.assert_allclose(f(*values, 3.0), 3 * values[0] @ values[1] @ values[2], rtol=1e-11)
    program = program_of(f)
    assert not any(type(step).__name__ == "Launch" for step in walk_steps(program.steps))


def test_outer_product_is_elementwise(rng):
    v, w = at.dvectors("v", "w")
    u = aesara.shared(np.ones((3, 4)))
    f = aesara.function([v, w], [], updates={u: u - 0.5 * at.outer(v, w)})
    assert not products_of(f)
    before = memory_of(u)
    a, b = noise(rng, 3), noise(rng, 4)
    f(a, b)
    assert memory_of(u) == before
    np.testing.assert_allclose(u.get_value(), 1 - 0.5 * np.outer(a, b), rtol=1e-12)


def test_without_the_forms_of_blas_as_well(rng):
    x, y = at.dmatrices("x", "y")
    mode = get_mode("FAST_RUN").excluding("BlasOpt")
    w = aesara.shared(np.ones((3, 3)))
    f = aesara.function([x, y], [], updates={w: w - 0.5 * at.dot(x, y)}, mode=mode)
    left, right = noise(rng, 3, 2), noise(rng, 2, 3)
    f(left, right)
    np.testing.assert_allclose(w.get_value(), 1 - 0.5 * left @ right, rtol=1e-12)


@pytest.mark.parametrize("size", [3, 40])
def test_batches_of_products(size, rng):
    """Several products at once are added in place as single ones are."""
    x, y, z = at.dtensor3s("x", "y", "z")
    start, left, right = [noise(rng, 2, size, size) for _ in range(3)]
    w = aesara.shared(start)
    f = aesara.function([x, y], [], updates={w: w - 0.5 * at.batched_dot(x, y)})
    (product,) = products_of(f)
    assert is_added(product) and scale_of(product) == -0.5
    before = memory_of(w)
    f(left, right)
    assert memory_of(w) == before
    np.testing.assert_allclose(w.get_value(), start - 0.5 * (left @ right), rtol=1e-12, atol=1e-12)
    kept = start.copy()
    assert_close(aesara.function([x, y, z], z + at.batched_dot(x, y))(left, right, start), start + left @ right)
    np.testing.assert_array_equal(start, kept)
