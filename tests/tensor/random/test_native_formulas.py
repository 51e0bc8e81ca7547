"""Distributions computed of uniform or gamma numbers: native code gives what NumPy and SciPy give, to the last bit."""

import numpy as np
import pytest
from distribution_table import BIT_GENERATORS, CASES, generator

import aesara
import aesara.tensor as at
import aesara.tensor.random as at_random
from aesara.ir.generators import words_of
from aesara.ir.interpret import run_program
from aesara.ir.routines.numpy_loops import loop, loop_address
from aesara.tensor.random.generators import same_state

#: that call the loops of NumPy's ufuncs
WITH_LOOPS = ("gumbel", "cauchy", "halfcauchy", "pareto", "gengamma")
FORMULAS = [case for case in CASES if case.name in (*WITH_LOOPS, "invgamma", "truncexpon", "t", "halfnormal")]
#: exponents for which NumPy has formulas of their own in some cases, and others
EXPONENTS = [1.0, 0.5, 2.0, 0.3]


def compiled(case, inputs, size, **options):
    rng = aesara.shared(generator("Generator"))
    x = case.distribution(*inputs, rng=rng, size=size, **options)
    f = aesara.function(inputs, x, updates=[(rng, x.owner.outputs[0])])
    assert runs_natively(f, case.name)
    return f, rng


def runs_natively(f, name):
    """Unless this release of NumPy does not let us call its functions."""
    explained = aesara.explain(f)
    assert explained.fallback is None
    calls_loops = name in WITH_LOOPS and (name != "pareto" or f.maker.fgraph.outputs[0].type.ndim > 0)
    return bool(explained.python) == (calls_loops and loop_address("log", "d", "d") is None)


@pytest.mark.parametrize("bits", BIT_GENERATORS)
@pytest.mark.parametrize("case", FORMULAS, ids=lambda case: case.name)
def test_many_numbers(case, bits):
    """So many that all that vectors of a processor do with the rest of a loop occurs."""
    inputs = [at.dscalar() for _ in case.parameters]
    n = at.lscalar("n")
    rng = aesara.shared(generator("Generator", bits))
    x = case.distribution(*inputs, rng=rng, size=(n,))
    f = aesara.function([*inputs, n], x, updates=[(rng, x.owner.outputs[0])])
    assert runs_natively(f, case.name)
    twin = generator("Generator", bits)
    for count in (0, 1, 7, 1003):
        np.testing.assert_array_equal(f(*case.parameters, count), case.numbers(twin, case.parameters, (count,)))
    assert same_state(rng.get_value(), twin)


@pytest.mark.parametrize("case", FORMULAS, ids=lambda case: case.name)
def test_one_number(case):
    inputs = [at.dscalar() for _ in case.parameters]
    f, rng = compiled(case, inputs, None)
    twin = generator("Generator")
    for _ in range(300):
        assert f(*case.parameters) == case.numbers(twin, case.parameters, None)
    assert same_state(rng.get_value(), twin)


@pytest.mark.parametrize("case", FORMULAS, ids=lambda case: case.name)
@pytest.mark.parametrize("dtype", ["float32", "int8", "float64"])
def test_parameters_and_draws_of_other_dtypes(case, dtype):
    given = [np.asarray(p).astype(dtype) + np.asarray(dtype == "int8", dtype) for p in case.batch]
    inputs = [at.as_tensor_variable(p).type() for p in given]
    f, rng = compiled(case, inputs, (4, 3), dtype="float32")
    twin = generator("Generator")
    expected = case.numbers(twin, tuple(p.astype("float64") for p in given), (4, 3)).astype("float32")
    drawn = f(*given)
    assert drawn.dtype == "float32"
    np.testing.assert_array_equal(drawn, expected)
    assert same_state(rng.get_value(), twin)


POWERS = {
    "pareto": lambda e, last: (1 / e, last),  # (1 - u) ** (-e)
    "gengamma": lambda e, last: (np.full_like(e, 1.3), 1 / e, last),  # g ** e
}
SHAPES = [
    ((), ()), ((), (1,)), ((), (40,)), ((1,), (1,)), ((1,), (40,)), ((40,), (40,)),
    ((40,), (3, 40)), ((3, 1), (3, 40)), ((1, 1), (3, 40)), ((1, 40), (3, 40)), ((3, 40), (3, 40)),
    ((1,), (40, 1)), ((40, 1), (40, 1)), ((1,), (1, 1)), ((1, 1), (1, 1)), ((2, 1, 1), (2, 20, 1)),
    ((2, 1, 4), (2, 9, 4)),
]  # fmt: skip


@pytest.mark.parametrize("name", POWERS)
@pytest.mark.parametrize("shape, size", SHAPES, ids=str)
def test_powers(name, shape, size):
    """Which exponents NumPy takes apart depends on how parameters are broadcast."""
    distribution = getattr(at_random, name)
    for e in EXPONENTS:
        given = [np.asarray(p) for p in POWERS[name](np.full(shape, e), 1.0)]
        if np.ndim(given[0]) and given[0].size > 1:
            given = [np.where(np.arange(p.size).reshape(p.shape) % 2 == 0, p, 3.0) if p.ndim else p for p in given]
        inputs = [at.tensor("float64", shape=(None,) * p.ndim) for p in given]
        rng, twin = aesara.shared(generator("Generator")), generator("Generator")
        x = distribution(*inputs, rng=rng, size=size or None)
        f = aesara.function(inputs, x, updates=[(rng, x.owner.outputs[0])])
        assert runs_natively(f, name)
        for _ in range(5):
            np.testing.assert_array_equal(f(*given), distribution.rng_fn(twin, *given, size or None))


WRONG = [
    ("gumbel", (0.0, -1.0), "scale < 0"),
    ("gumbel", (0.0, np.nan), "scale < 0"),
    ("cauchy", (0.0, -1.0), "scale < 0"),
    ("halfcauchy", (0.0, -1.0), "scale < 0"),
    ("pareto", (0.0, 1.0), "b <= 0"),
    ("pareto", (np.nan, 1.0), "b <= 0"),
    ("pareto", (1.0, -1.0), "scale < 0"),
    ("gengamma", (1.0, 0.0, 1.0), "p == 0"),
    ("gengamma", (-1.0, 1.0, 1.0), "alpha / p <= 0"),
    ("gengamma", (1.0, 1.0, -1.0), "lambd < 0"),
    ("invgamma", (0.0, 1.0), "shape <= 0"),
    ("invgamma", (1.0, -1.0), "scale < 0"),
    ("truncexpon", (0.0, 0.0, 1.0), "b <= 0"),
    ("truncexpon", (1.0, 0.0, -1.0), "scale < 0"),
]


@pytest.mark.parametrize("as_arrays", [False, True])
@pytest.mark.parametrize("name, parameters, message", WRONG, ids=str)
def test_wrong_parameters(name, parameters, message, as_arrays):
    given = [np.array([1.0, p]) if as_arrays else np.asarray(p) for p in parameters]
    (case,) = (c for c in CASES if c.name == name)
    inputs = [at.as_tensor_variable(p).type() for p in given]
    f, rng = compiled(case, inputs, None)
    with pytest.raises(ValueError, match=message) as caught:
        f(*given)
    with np.errstate(all="ignore"), pytest.raises(ValueError) as wanted:
        case.distribution.rng_fn(generator("Generator"), *given, None)
    assert str(caught.value).splitlines()[0] == str(wanted.value)
    assert same_state(rng.get_value(), generator("Generator"))


@pytest.mark.parametrize("case", FORMULAS, ids=lambda case: case.name)
def test_loops_draw_natively(case):
    rng, twin = aesara.shared(generator("Generator")), generator("Generator")

    def step(total):
        x = case.distribution(*case.parameters, rng=rng, size=(2,))
        return total + x, {rng: x.owner.outputs[0]}

    totals, updates = aesara.scan(step, outputs_info=at.zeros(2), n_steps=5)
    f = aesara.function([], totals, updates=updates)
    assert runs_natively(f, case.name)
    np.testing.assert_array_equal(f(), np.cumsum([case.numbers(twin, case.parameters, (2,)) for _ in range(5)], axis=0))
    assert same_state(rng.get_value(), twin)


@pytest.mark.parametrize("name", ["gumbel", "pareto", "truncexpon"])
def test_the_interpreter_draws_the_same(name):
    (case,) = (c for c in CASES if c.name == name)
    for size in (None, (3,)):
        f, _ = compiled(case, [at.dscalar() for _ in case.parameters], size)
        values = [np.array(p) for p in case.parameters]
        if aesara.explain(f).python:
            pytest.skip("NumPy 1 does not let us call its functions")
        program = f._native.program
        results = run_program(program, [*values, words_of(generator("Generator"))], f._native.form.constants)
        np.testing.assert_array_equal(results.returned[0], f(*values))


def test_loops_of_numpy():
    assert loop("power", "dd") is loop("power", "dd")
    found = [
        loop_address(name, given, "d") is not None for name, given in (("log", "d"), ("tan", "d"), ("power", "dd"))
    ]
    assert found == [np.lib.NumpyVersion(np.__version__) >= "2.0.0"] * 3
    # Not a ufunc, no loop for numbers, and not in NumPy.
    assert not any(loop_address(name, "d", "d") for name in ("sum", "isnat", "nothing", "invert"))
