"""Draws that one loop reads, element by element, are made in blocks, without memory of their whole size."""

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.compile.profile_stats import ProfileStats
from aesara.ir.generators import generator_of, words_of
from aesara.ir.interpret import run_program
from aesara.ir.text import parse_program, print_program
from aesara.ir.verify_program import verify_program
from aesara.tensor.creation.make_vector import MakeVector
from aesara.tensor.random.generators import same_state
from aesara.tensor.shapes.shape import Shape_i

COUNTS = (0, 1, 1023, 1024, 1025, 5000)
PCG64, MT19937 = np.random.PCG64, np.random.MT19937


def new(seed=1, bits=PCG64):
    return np.random.Generator(bits(seed))


def compiled(inputs, outputs, draws, **options):
    """A function that advances the generators of draws."""
    updates = [(x.owner.inputs[0], x.owner.outputs[0]) for x in draws]
    return aesara.function(inputs, outputs, updates=updates, **options)


def blocks(f):
    """The loops over blocks of a function's program."""
    program = f._native.report.lowering.program
    verify_program(program)
    assert print_program(parse_program(print_program(program))) == print_program(program)
    return [step for step in program.steps if getattr(step, "nest", "")]


@pytest.mark.parametrize("bits", [PCG64, MT19937])
@pytest.mark.parametrize("count", COUNTS)
def test_numbers_and_states_are_numpys(count, bits):
    rng, twin = aesara.shared(new(bits=bits)), new(bits=bits)
    x = at.dvector("x")
    noise = at.random.normal(size=x.shape, rng=rng)
    f = compiled([x], x + 2.0 * noise, [noise])
    assert len(blocks(f)) == 1
    values = np.arange(float(count))
    for _ in range(2):
        np.testing.assert_array_equal(f(values), values + 2.0 * twin.standard_normal(count))
        assert same_state(rng.get_value(), twin)


@pytest.mark.parametrize("count", COUNTS)
def test_parameters_go_along(count):
    """Those with a value for each number, and those with one for all; integers; what is computed of uniform numbers."""
    rng, other = aesara.shared(new()), aesara.shared(new(2))
    x, scale = at.dvector("x"), at.dscalar("scale")
    one = at.random.normal(x, scale, rng=rng)
    two = at.random.integers(0, 1000, size=x.shape, rng=other)
    f = compiled([x, scale], one * two, [one, two])
    (step,) = blocks(f)
    assert [inner.keyword for inner in step.body] == ["call", "call", "launch"]
    values = np.arange(float(count))
    wanted = new().normal(values, 0.5) * new(2).integers(0, 1000, size=count)
    np.testing.assert_array_equal(f(values, 0.5), wanted)


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (1, 5000), (5000, 1), (70, 33), (3, 1024), (2, 1500)])
def test_blocks_are_whole_rows(shape):
    """Blocks are whole rows if other operands are read by row or column; row sums are computed in them as well."""
    rng = aesara.shared(new())
    x, row, column = at.dmatrix("x"), at.dvector("row"), at.dvector("column")
    noise = at.random.normal(size=x.shape, rng=rng)
    y = x + row * noise + column[:, None]
    f = compiled([x, row, column], [y, noise.sum(axis=1)], [noise])
    assert len(blocks(f)) == 1
    values, r, c = np.ones(shape), np.arange(float(shape[1])), np.arange(float(shape[0]))
    drawn = new().standard_normal(shape)
    found, sums = f(values, r, c)
    np.testing.assert_array_equal(found, values + r * drawn + c[:, None])
    np.testing.assert_allclose(sums, drawn.sum(axis=1), rtol=1e-12, atol=1e-12)


def test_two_draws_from_one_generator():
    """The first is finished before the second begins, and only the second is made in blocks."""
    rng = aesara.shared(new())
    x = at.dvector("x")
    first = at.random.normal(size=x.shape, rng=rng)
    second = at.random.uniform(size=x.shape, rng=first.owner.outputs[0])
    f = aesara.function([x], x + first * second, updates=[(rng, second.owner.outputs[0])])
    (step,) = blocks(f)
    assert [inner.keyword for inner in step.body] == ["call", "launch"]
    values, twin = np.arange(3000.0), new()
    np.testing.assert_array_equal(f(values), values + twin.standard_normal(3000) * twin.random(3000))
    assert same_state(rng.get_value(), twin)


def draws_read_twice(x, rng):
    noise = at.random.normal(size=x.shape, rng=rng)
    return noise, [x + noise, x * noise[::-1]]


def draws_returned(x, rng):
    noise = at.random.normal(size=x.shape, rng=rng)
    return noise, [x + noise, noise]


def draws_turned(x, rng):
    noise = at.random.normal(size=x.shape, rng=rng)
    return noise, [x * noise[::-1]]


def draws_summed(x, rng):
    noise = at.random.normal(size=x.shape, rng=rng)
    return noise, [(x + noise).max()]


def few_draws(x, rng):
    noise = at.random.normal(size=(1024,), rng=rng)
    return noise, [x[:1024] + noise]


@pytest.mark.parametrize("make", [draws_read_twice, draws_returned, draws_turned, draws_summed, few_draws])
def test_draws_that_are_kept(make):
    rng, x = aesara.shared(new()), at.dvector("x")
    noise, outputs = make(x, rng)
    f = compiled([x], outputs, [noise])
    reference = compiled([x], outputs, [noise], mode="FAST_COMPILE")
    assert not blocks(f)
    values = np.arange(3000.0)
    found = f(values)
    rng.set_value(new())
    for one, wanted in zip(found, reference(values), strict=True):
        np.testing.assert_allclose(one, wanted, rtol=1e-14)


def test_parameters_that_are_overwritten():
    """A shared value that a draw takes parameters from is replaced by what the same loop computes."""
    rng, mean = aesara.shared(new()), aesara.shared(np.arange(3000.0))
    drawn = at.random.normal(mean, 1.0, rng=rng)
    f = aesara.function([], [], updates=[(rng, drawn.owner.outputs[0]), (mean, mean + drawn)])
    assert len(blocks(f)) == 1
    twin, wanted = new(), np.arange(3000.0)
    for _ in range(3):
        f()
        wanted = wanted + twin.normal(wanted, 1.0)
        np.testing.assert_array_equal(mean.get_value(), wanted)


def test_values_that_are_updated_in_place():
    """Each block is written over the values that it is computed from."""
    rng, x = aesara.shared(new()), aesara.shared(np.arange(3000.0))
    noise = at.random.normal(size=x.shape, rng=rng)
    f = aesara.function([], [], updates=[(rng, noise.owner.outputs[0]), (x, 0.5 * x + noise)])
    assert len(blocks(f)) == 1
    assert any(made.reuse is not None for made in f._native.program.allocations().values())
    twin, wanted = new(), np.arange(3000.0)
    for _ in range(3):
        f()
        wanted = 0.5 * wanted + twin.standard_normal(3000)
        np.testing.assert_array_equal(x.get_value(), wanted)


def test_in_a_loop():
    x = at.dvector("x")
    stream = at.random.RandomStream(3)
    path, updates = aesara.scan(lambda x: x + 0.5 * stream.normal(size=x.shape), outputs_info=[x], n_steps=4)
    f = aesara.function([x], path, updates=updates)
    reference = aesara.function([x], path, updates=updates, mode="FAST_COMPILE")
    (loop,) = [step for step in f._native.report.lowering.program.steps if step.keyword == "loop"]
    assert any(getattr(step, "nest", "") for step in loop.body)
    stream.seed(7)
    found = f(np.arange(2500.0))
    stream.seed(7)
    np.testing.assert_array_equal(found, reference(np.arange(2500.0)))


def test_program_on_the_reference_machine():
    rng, x = aesara.shared(new()), at.dvector("x")
    noise = at.random.exponential(2.0, size=x.shape, rng=rng)
    f = compiled([x], x - noise, [noise])
    values = np.arange(2500.0)
    results = run_program(f._native.program, [values, words_of(new())], f._native.form.constants)
    np.testing.assert_array_equal(results.returned[0], values - new().exponential(2.0, 2500))
    np.testing.assert_array_equal(results.returned[0], f(values))
    (words,) = results.cells.values()
    assert same_state(generator_of(words), rng.get_value())


def test_what_explanations_and_profiles_say():
    """The draw and what reads it are one nest."""
    rng, x = aesara.shared(new()), at.dvector("x")
    noise = at.random.normal(size=x.shape, rng=rng)
    f = compiled([x], x + noise, [noise], profile=ProfileStats(atexit_print=False))
    ops = {str(node.op) for node in f.maker.fgraph.apply_nodes if not isinstance(node.op, (Shape_i, MakeVector))}
    assert len(ops) == 2
    (*_, step) = aesara.explain(f).steps
    assert step.kind == "nest" and {str(one.node.op) for one in step.nodes} == ops
    f(np.zeros(5000))
    timed = max(f.profile.steps(), key=lambda step: len(step.nodes))
    assert timed.kind == "nest" and {str(node.op) for node in timed.nodes} == ops


def test_workspace_holds_one_block():
    """The workspace has room for one block."""
    rng, x = aesara.shared(new()), at.dvector("x")
    noise = at.random.normal(size=x.shape, rng=rng)
    f = compiled([x], x + noise, [noise])
    f(np.zeros(1000))
    small = f._native.workspace_bytes
    f(np.zeros(1_000_000))
    assert f._native.workspace_bytes == small < 20_000
