"""Fast draws of many numbers give NumPy's numbers."""

import numpy as np
import pytest

import aesara
import aesara.tensor as at
import aesara.tensor.random as at_random
from aesara.configdefaults import config
from aesara.ir.draws import numbers, pcg64, ziggurats
from aesara.ir.typed.function import typed_function
from aesara.ir.typed.translate import translations
from aesara.ir.typed.types import f64, i1, u128
from aesara.link.llvm import draws
from aesara.tensor.random.generators import same_state

MANY = 30_000
BIT_GENERATORS = ["PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64"]
#: distributions with parameters for which their functions do different things
CASES = {
    "uniform": [(0.0, 1.0), (-1.0, 2.5)],
    "normal": [(0.0, 1.0), (2.0, 3.0), (0.0, 0.0)],
    "exponential": [(1.0,), (2.5,), (0.0,)],
    "gamma": [(2.5, 1.0), (1.0, 2.0), (0.3, 1.0), (0.0, 1.0), (1e-300, 1.0), (1e9, 1.0)],
    "poisson": [(0.0,), (3.0,), (9.999,), (10.0,), (77.7,), (1e4,), (1e18,)],
}


def drawing(name, *parameters, **options):
    if name == "gamma":
        shape, scale = parameters
        return at_random.gamma(shape, scale=scale, **options)
    return getattr(at_random, name)(*parameters, **options)


def generator(bits, seed=5):
    return np.random.Generator(getattr(np.random, bits)(seed))


@pytest.mark.parametrize("bits", BIT_GENERATORS)
@pytest.mark.parametrize("name", CASES)
def test_the_same_parameters_for_all(name, bits):
    rng, twin = aesara.shared(generator(bits)), generator(bits)
    draws, state = [], rng
    for p in CASES[name]:
        x = drawing(name, *p, size=MANY, rng=state)
        draws.append(x)
        state = x.owner.outputs[0]
    f = aesara.function([], draws, updates=[(rng, state)])
    for x, p in zip(f(), CASES[name], strict=True):
        np.testing.assert_array_equal(x, getattr(twin, name)(*p, size=MANY), err_msg=str(p))
    assert same_state(rng.get_value(), twin)


@pytest.mark.parametrize("bits", ["PCG64", "SFC64"])
@pytest.mark.parametrize("name", CASES)
def test_parameters_that_differ(name, bits):
    """Varying parameters, also next to constant ones."""
    rng, twin = aesara.shared(generator(bits)), generator(bits)
    values = [np.resize(column, MANY) for column in zip(*CASES[name], strict=True)]
    given = [at.dvector() for _ in values]
    x = drawing(name, *given, rng=rng)
    one = drawing(name, given[0], *(v[0] for v in given[1:]), rng=x.owner.outputs[0])
    f = aesara.function(given, [x, one], updates=[(rng, one.owner.outputs[0])])
    drawn, other = f(*values)
    np.testing.assert_array_equal(drawn, getattr(twin, name)(*values))
    np.testing.assert_array_equal(other, getattr(twin, name)(values[0], *(v[0] for v in values[1:])))
    assert same_state(rng.get_value(), twin)


@pytest.mark.parametrize("name", CASES)
def test_without_fast_draws(name, monkeypatch):
    """NumPy's functions draw all numbers if the comparison of fast draws fails."""
    monkeypatch.setattr(draws, "fast_draws_are_numpys", lambda: False)
    rng, twin = aesara.shared(generator("PCG64")), generator("PCG64")
    p = CASES[name][0]
    x = drawing(name, *p, size=MANY, rng=rng)
    f = aesara.function([], x, updates=[(rng, x.owner.outputs[0])])
    assert "fast." not in "".join(f.symbol for f in translations(draws.drawing_function(f"draw.{name}")))
    np.testing.assert_array_equal(f(), getattr(twin, name)(*p, size=MANY))
    assert same_state(rng.get_value(), twin)


@typed_function("fast.normal")
def opposite_normal(state: u128, increment: u128, loc: f64, scale: f64) -> tuple[u128, f64, i1]:
    following, number, found = pcg64.standard_normal(state, increment, 0.0, 0.0)
    return following, loc - scale * number, found


@typed_function("fast.uniform")
def uniform_without_advance(state: u128, increment: u128, low: f64, length: f64) -> tuple[u128, f64, i1]:
    return state, low + length * pcg64.fraction(pcg64.advance(state, increment)), True


def test_comparison_detects_differences():
    """The comparison detects wrong numbers and wrong states."""
    look = draws.fast_draws_are_numpys.__wrapped__
    usual = look()
    for name, wrong, count in (("normal", opposite_normal, draws._MANY), ("uniform", uniform_without_advance, 1)):
        # Object code is cached by sources, which stay the same here.
        with pytest.MonkeyPatch.context() as patch, config.change_flags(native_cache=False):
            patch.setattr(draws, "_MANY", count)
            assert look() == usual
            patch.setattr(draws, "draw_loop", numbers.draw_loop.__wrapped__)
            patch.setitem(pcg64.FAST_DRAWS, name, wrong)
            assert not look()


def test_draws_of_nothing():
    rng, n = aesara.shared(generator("PCG64")), at.lscalar()
    x = at_random.normal(size=n, rng=rng)
    f = aesara.function([n], x, updates=[(rng, x.owner.outputs[0])])
    assert f(0).shape == (0,) and same_state(rng.get_value(), generator("PCG64"))


@pytest.mark.parametrize(
    ("ziggurat", "density"),
    [
        (ziggurats.NORMAL, lambda x: np.exp(-x * x / 2)),
        (ziggurats.EXPONENTIAL, lambda x: np.exp(-x)),
    ],
)
def test_ziggurats(ziggurat, density):
    """All layers have equal areas."""
    widths, bounds = (np.array(values) for values in ziggurats.tables(ziggurat))
    ends = widths * 2.0**ziggurat.bits
    heights = np.diff(density(ends[1:])) * -1
    areas = ends[2:] * heights
    np.testing.assert_allclose(areas, areas[0], rtol=1e-9)
    np.testing.assert_allclose(bounds[2:] * widths[2:], ends[1:-1], rtol=1e-12)
    assert bounds[1] == 0  # nothing is above the highest
