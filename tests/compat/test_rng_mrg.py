"""Streams of MRG31k3p: the numbers of Aesara 2.9.4, recorded from it, and what must hold of any generator."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.compile.mode import Mode
from aesara.sandbox.rng_mrg import (
    A1p72,
    A2p134,
    DotModulo,
    MRG_RandomStream,
    ff_2p72,
    ff_2p134,
    guess_n_streams,
    mrg_random_make_inplace,
    mrg_uniform,
)
from aesara.scalar.mrg31k3p import M1, M2, advance, integers, jump, spread
from aesara.tensor.random.from_uniform import ChoiceFromUniform, MultinomialFromUniform

RECORDED = json.loads((Path(__file__).parent / "mrg_of_aesara.json").read_text())
P = np.array([[0.2, 0.3, 0.5], [0.9, 0.05, 0.05]])
P4 = np.array([[0.1, 0.2, 0.3, 0.4], [0.25, 0.25, 0.25, 0.25]])

EXACT = {
    "uniform": lambda s: s.uniform((3, 4)),
    "uniform float32": lambda s: s.uniform((3, 4), dtype="float32"),
    "uniform float16": lambda s: s.uniform((3, 4), dtype="float16"),
    "one stream": lambda s: s.uniform((10,), nstreams=1),
    "three streams": lambda s: s.uniform((10,), nstreams=3),
    "vector of lengths": lambda s: s.uniform(at.as_tensor([2, 3]), ndim=2),
    "bounds": lambda s: s.uniform((2, 3), low=at.as_tensor([1.0, 2.0, 3.0]), high=10.0),
    "binomial": lambda s: s.binomial((5,), p=0.3),
    "multinomial": lambda s: s.multinomial(n=1, pvals=P),
    "multinomial of three": lambda s: s.multinomial(n=3, pvals=P),
    "choice": lambda s: s.choice(size=2, replace=False, p=P4),
    "choice of all": lambda s: s.choice(size=4, replace=False, p=P4),
}
NORMAL = {
    "normal": lambda s: s.normal((5,)),
    "normal of four": lambda s: s.normal((4,)),
    "normal float32": lambda s: s.normal((5,), dtype="float32"),
    "truncated": lambda s: s.truncated_normal((3, 3), avg=1.0, std=2.0),
}


def draws(build, seed=12345):
    f = aesara.function([], build(MRG_RandomStream(seed)))
    return [f(), f()]


@pytest.mark.parametrize("name", [*EXACT, *NORMAL])
def test_the_numbers_of_aesara(name):
    recorded = RECORDED[name]
    for ours, values in zip(draws({**EXACT, **NORMAL}[name]), recorded["values"], strict=True):
        assert ours.dtype == recorded["dtype"] and list(ours.shape) == recorded["shape"]
        found = ours.astype("float64").ravel()[:12]
        if name in EXACT:
            np.testing.assert_array_equal(found, values)
        else:  # logarithms and cosines may differ in the last bit
            bound = 4 * np.finfo(ours.dtype).eps
            np.testing.assert_allclose(found, values, rtol=bound, atol=bound)


def test_more_numbers_of_aesara():
    sums = [d.sum() for d in draws(lambda s: s.uniform((200, 100)))]
    np.testing.assert_allclose(sums, RECORDED["big"]["sums"], rtol=1e-12)
    for ours, values in zip(draws(lambda s: s.normal((101,), truncate=True), 3), RECORDED["normal True"]["values"]):
        np.testing.assert_allclose([*ours[:3], *ours[-6:]], values, rtol=1e-14)
    for seed, name in ((-1, "negative seed"), ([1, 2, 3, 4, 5, 6], "six seeds")):
        size = RECORDED[name]["shape"]
        np.testing.assert_array_equal(draws(lambda s: s.uniform(tuple(size)), seed), RECORDED[name]["values"])
    stream = MRG_RandomStream(7)
    values = aesara.function([], [stream.uniform((2,)), stream.uniform((2,)), stream.normal((2,))])()
    np.testing.assert_allclose(values, RECORDED["two draws"]["values"], rtol=1e-15)
    assert stream.rstate.tolist() == RECORDED["two draws"]["rstate"]


def test_the_recurrence_step_by_step():
    state, numbers = [12345] * 6, []
    for _ in range(3000):
        x = (state[1] * 2**22 + state[2] * (2**7 + 1)) % M1
        y = (state[3] * 2**15 + state[5] * (2**15 + 1)) % M2
        state = [x, *state[:2], y, *state[3:5]]
        numbers.append((x - y) % M1 or M1)
    for count in (1, 2, 1023, 1024, 1025, 3000):
        found, after = integers(np.full((1, 6), 12345), count)
        assert found.tolist() == numbers[:count]
    assert after.tolist() == [state]


@pytest.mark.parametrize("streams", [2, 3, 1000, 2000])
def test_streams_take_turns(streams):
    states = spread(np.arange(1, 7), 2**72, streams)
    whole, after = integers(states, 4321)
    first, between = integers(states, 2 * streams)
    second, end = integers(between, 4321 - 2 * streams) if 4321 > 2 * streams else (first[:0], between)
    np.testing.assert_array_equal(whole, np.concatenate([first, second]))
    np.testing.assert_array_equal(after, end)
    np.testing.assert_array_equal(whole[1::streams][:2], integers(states[1:2], 2)[0])


def test_jumps():
    start = np.array([12345] * 6)
    np.testing.assert_array_equal(jump(jump(start, 1000), 24), jump(start, 1024))
    assert ff_2p72(start).tolist() == [1613322692, 623311037, 1722317882, 1563970864, 792350268, 619030428]
    assert ff_2p134(start).tolist() == [336690377, 597094797, 1245771585, 85196284, 523477687, 2094976052]
    assert A1p72[0].tolist() == [1516919229, 758510237, 499121365] and A2p134[2, 2] == 1431130166


def test_seeding_again_repeats_all_draws():
    stream = MRG_RandomStream(7)
    f = aesara.function([], [stream.uniform((3,)), stream.normal((4,))])
    first, second = f(), f()
    stream.seed()
    np.testing.assert_array_equal(f()[0], first[0])
    stream.seed(7)
    for again, before in zip(f(), first):
        np.testing.assert_array_equal(again, before)
    assert not np.array_equal(first[0], second[0])


@pytest.mark.parametrize("dtype", ["int64", "float32", "bool"])
def test_binomial_draws_are_one_below_the_probability(dtype):
    numbers = draws(lambda s: s.uniform((20,)))[0]
    for p in (numbers, np.nextafter(numbers, 1), np.nextafter(numbers, 0), 0.0, 1.0, np.float32(0.3)):
        drawn = draws(lambda s, p=p: s.binomial((20,), p=p, dtype=dtype))[0]
        assert drawn.dtype == dtype
        np.testing.assert_array_equal(drawn, numbers < p)


def test_states_are_updated_unless_one_says_otherwise():
    stream = MRG_RandomStream(7)
    x = stream.uniform((3,))
    f = aesara.function([], x, no_default_updates=True)
    np.testing.assert_array_equal(f(), f())
    ((states, new, size, nstreams),) = stream.updates()
    assert states.default_update is new and size == (3,) and nstreams is None
    assert states.get_value().shape == (3, 6) and states.get_value()[0].tolist() == [7] * 6


@pytest.mark.parametrize("inplace", [False, True])
def test_states_that_come_in(inplace):
    states = at.imatrix("states")
    op = mrg_uniform(at.dvector, inplace=inplace)
    f = aesara.function([aesara.In(states, mutable=True)], op(states, [3]), mode=Mode("py", None), accept_inplace=True)
    given = np.full((1, 6), 7, dtype="int32")
    after, numbers = f(given)
    assert (given is after or np.array_equal(given, after)) == inplace
    np.testing.assert_array_equal(numbers, draws(lambda s: s.uniform((3,), nstreams=1), 7)[0])


def test_states_that_nobody_else_reads_are_overwritten():
    states = at.imatrix("states")
    op = mrg_uniform(at.dvector)
    once = op(states, [3])
    _, numbers = mrg_random_make_inplace.transform(None, once[0].owner)
    assert numbers.owner.op == mrg_uniform(at.dvector, inplace=True) and numbers.owner.op.destroy_map == {0: [0]}
    assert not mrg_random_make_inplace.transform(None, numbers.owner)
    given = aesara.In(states, mutable=True)
    for inputs, outputs, wanted in (
        ([given], once, [True]),
        ([states], once, [False]),
        ([given], [*once, *op(states, [4])], [False, True]),
        ([states], op(once[0], [4]), [False, True]),
    ):
        fgraph = aesara.function(inputs, outputs).maker.fgraph
        found = sorted(node.op.inplace for node in fgraph.apply_nodes if isinstance(node.op, mrg_uniform))
        assert found == wanted


def test_moments():
    u, z, t = aesara.function([], [
        MRG_RandomStream(3).uniform((100000,)), MRG_RandomStream(4).normal((100000,), 2.0, 3.0),
        MRG_RandomStream(5).truncated_normal((100000,), 2.0, 3.0),
    ])()  # fmt: skip
    assert 0 < u.min() < 1e-4 and 1 - 1e-4 < u.max() < 1
    assert abs(u.mean() - 0.5) < 0.005 and abs(u.std() - 12**-0.5) < 0.005
    for x in (z, t):
        assert abs(x.mean() - 2) < 0.05 and abs(x.std() - 3) < 0.05
    assert abs(t - 2).max() <= 6 / 0.87962566 and abs(z - 2).max() > 10


def test_float32_never_gives_one():
    numbers = aesara.function([], MRG_RandomStream(1).uniform((300000,), dtype="float32"))()
    assert numbers.dtype == "float32" and numbers.max() < 1 and numbers.min() > 0


@pytest.mark.parametrize(
    ("build", "kind", "message"),
    [
        (lambda s: s.uniform((0, 3)), ValueError, "dimension with value <= 0"),
        (lambda s: s.uniform(4), TypeError, "size must be a tuple"),
        (lambda s: s.uniform([2, 3]), TypeError, "size must be a tuple"),
        (lambda s: s.uniform((2, 2.5)), TypeError, "size must be a tuple"),
        (lambda s: s.uniform((2,), foo=1), TypeError, "unexpected keyword arguments foo"),
        (lambda s: s.uniform((2,), dtype="int64"), TypeError, "not int64"),
        (lambda s: s.binomial((5,), n=5), NotImplementedError, "n > 1"),
        (lambda s: s.multinomial(pvals=P, size=(2,)), ValueError, "no `size`"),
        (lambda s: s.multinomial(), TypeError, "pvals"),
        (lambda s: s.multinomial(pvals=P[0]), NotImplementedError, "pvals.ndim = 2"),
        (lambda s: s.choice(p=P4), NotImplementedError, "without replacement"),
        (lambda s: s.choice(a=3, p=P4, replace=False), TypeError, "a has to be None"),
        (lambda s: s.choice((2,), p=P4, replace=False), TypeError, "must be an integer"),
        (lambda s: s.choice(5, p=P4, replace=False).eval(), ValueError, "bigger than the size of the distribution"),
        (lambda s: s.get_substream_rstates(0, "float64"), ValueError, "at least one stream"),
        (lambda s: s.seed(0), ValueError, "should not be 0"),
        (lambda s: s.seed(M2), ValueError, "less than 2147462579"),
        (lambda s: s.seed([0, 0, 0, 1, 2, 3]), ValueError, "first 3 values"),
        (lambda s: s.seed([1, 2, 3, 0, 0, 0]), ValueError, "last 3 values"),
        (lambda s: s.seed([1, 2, M1, 1, 1, 1]), ValueError, "less than 2147483647"),
        (lambda s: s.seed([1, 2, 3]), TypeError, "1 integer or 6"),
        (lambda s: s.seed("abcdef"), TypeError, "1 integer or 6"),
        (lambda s: mrg_uniform(at.dvector)(at.dmatrix(), [3]), TypeError, "int32"),
        (lambda s: mrg_uniform(at.dvector)(np.zeros((1, 5), "int32"), [3])[1].eval(), ValueError, "streams, 6"),
        (lambda s: mrg_uniform(at.dvector)(np.zeros((1, 6), "int32"), [-3]), ValueError, "at least 0"),
        (lambda s: s.uniform((at.as_tensor(1) - 2,)).eval(), ValueError, "negative"),
        (lambda s: aesara.grad(s.uniform((2,)).sum(), s.updates()[0][0]), Exception, "mrg_uniform|random draw"),
    ],
)  # fmt: skip
def test_what_is_refused(build, kind, message):
    with pytest.raises(kind, match=message):
        build(MRG_RandomStream(3))


def test_gradients():
    """Those with respect to parameters are undefined, as in Aesara; others do not notice the draw."""
    low, scale = at.scalar("low"), at.scalar("scale")
    x = MRG_RandomStream(3).uniform((3,), low=low)
    assert x.type.shape == (3,)
    value, slope = aesara.function([low, scale], [x.sum(), aesara.grad((x * scale).sum(), scale)])(0.5, 2.0)
    assert value == slope
    with pytest.raises(aesara.gradient.NullTypeGradError, match="UndefinedGrad"):
        aesara.grad(x.sum(), low)


def test_streams_for_sizes():
    assert [guess_n_streams(s) for s in [(3,), (7,), (100,), (10**6,), [4, 5]]] == [3, 1, 16, 15360, 3]
    with pytest.warns(UserWarning, match="15360 streams"):
        assert guess_n_streams(at.lvector(), warn=True) == 15360


def test_draws_by_given_numbers():
    pvals, unis = at.dmatrix(), at.dvector()
    often = MultinomialFromUniform("auto")(pvals, unis, 2)
    which = ChoiceFromUniform("auto")(pvals, unis, 2)
    f = aesara.function([pvals, unis], [often, which])
    given = [0.5, 0.89, 0.1, 0.96]
    counts, chosen = f(P, given)
    assert often.type.dtype == "float64" and which.type.dtype == "int64"
    assert counts.tolist() == [[1, 0, 1], [1, 0, 1]]  # 0.5 is not beyond the first two of 0.2 and 0.3
    assert chosen.tolist() == [[2, 0], [0, 2]]
    with pytest.raises(ValueError, match="need 4 uniform numbers, got 3"):
        f(P, given[:3])


@pytest.mark.parametrize("draw", [MultinomialFromUniform("float64"), ChoiceFromUniform("float64")])
def test_draws_by_given_numbers_have_no_slope(draw):
    pvals, unis, n = at.dmatrix("pvals"), at.fvector("unis"), at.iscalar("n")
    cost = (draw(pvals, unis, n) * [[1.0], [2.0]]).sum() + (pvals**2).sum()
    gradients = aesara.grad(cost, [pvals, unis, n])
    assert [g.type.dtype for g in gradients] == ["float64", "float32", aesara.config.floatX]
    found = aesara.function([pvals, unis, n], gradients, on_unused_input="ignore")(P, np.float32([0.5] * 4), 2)
    for got, expected in zip(found, (2 * P, np.zeros(4), 0.0), strict=True):
        np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
def test_native_draws_are_those_of_the_reference(dtype):
    """Of fewer numbers than streams, of rounds that do not reach all of them, and of none."""
    op = mrg_uniform(at.TensorType(dtype, (None, None)))
    seen, size = at.imatrix("states"), at.specify_shape(at.lvector("size"), (2,))
    given = [seen, size.owner.inputs[0]]
    after, drawn = op(seen, size)
    f = aesara.function(given, [after, drawn])
    reference = aesara.function(given, [after, drawn], mode="FAST_COMPILE")
    explained = aesara.explain(f)
    assert explained.fallback is None and explained.python == []
    states = MRG_RandomStream(987).get_substream_rstates(7, dtype)
    for shape in ((2, 3), (5, 7), (40, 11), (0, 4), (1, 1)):
        before = states.copy()
        for mine, theirs in zip(f(states, shape), reference(states, shape), strict=True):
            assert mine.dtype == theirs.dtype and mine.shape == theirs.shape
            np.testing.assert_array_equal(mine, theirs)
        np.testing.assert_array_equal(states, before)
    for wrong, shape in ((states, (2, -1)), (states[:, :5], (2, 2)), (states[:0], (2, 2))):
        messages = []
        for function in (f, reference):
            with pytest.raises(ValueError) as caught:
                function(np.ascontiguousarray(wrong), shape)
            messages.append(str(caught.value).splitlines()[0])
        assert messages[0].split(":")[1] == messages[1].split(":")[1]
        assert "test_rng_mrg.py" in str(caught.value)


def test_lengths_that_are_known():
    """Of sizes that are partly known when the graph is made, as in programs that ask for `broadcastable`."""
    x, stream = at.matrix("x"), MRG_RandomStream(3)
    assert stream.uniform((x.shape[0], 1)).type.shape == (None, 1)
    assert stream.normal((10, x.shape[1])).type.shape == (10, None)


def test_binomial_numbers_have_no_gradient_in_their_probability():
    p = at.scalar("p")
    with pytest.raises(aesara.gradient.NullTypeGradError):
        aesara.grad(MRG_RandomStream(3).binomial((3,), p=p, dtype="float64").sum(), p)


@pytest.mark.parametrize("mode", ["FAST_COMPILE", "FAST_RUN"])
def test_products_modulo_numbers(mode):
    """Exact for the largest numbers that are asked for, where the sum of products would not fit."""
    rng = np.random.default_rng(3)
    variables = [at.lmatrix(), at.ivector(), at.iscalar(), at.lmatrix(), at.ivector(), at.iscalar()]
    f = aesara.function(variables, DotModulo()(*variables), mode=mode)
    largest = 2**31 - 1
    for high in (10, largest):
        values = []
        for modulus in (M1, M2):
            matrix = rng.integers(high - 5, high, (3, 3), dtype="int64")
            values += [matrix, rng.integers(high - 5, high, 3, dtype="int32"), np.int32(modulus)]
        wanted = []
        for matrix, vector, modulus in (values[:3], values[3:]):
            wanted += [sum(int(a) * int(x) for a, x in zip(row, vector)) % int(modulus) for row in matrix]
        found = f(*values)
        assert found.dtype == "int32" and found.tolist() == wanted
    values[1] = values[1][:1]
    with pytest.raises(ValueError, match="a vector must be as long as the rows of its matrix"):
        f(*values)
    with pytest.raises(TypeError, match="m has 0 dimensions and the dtype int32"):
        DotModulo()(*variables[:2], at.lscalar(), *variables[3:])


@pytest.mark.parametrize("rows, length", [((2, 3), 5), ((2, None), None), ((0, 0), 0)])
def test_products_modulo_numbers_have_a_length_that_is_known(rows, length):
    matrices = [at.tensor("int64", shape=(n, 2)) for n in rows]
    out = DotModulo()(matrices[0], at.ivector(), at.iscalar(), matrices[1], at.ivector(), at.iscalar())
    assert out.type.shape == (length,)


def test_counts_of_categories_are_native():
    """And the same as those of the reference: also where probabilities add up to less, or to more, than one."""
    p, u, n = at.matrix("p"), at.vector("u"), at.lscalar("n")
    counts = MultinomialFromUniform("int64")(p, u, n)
    native = aesara.function([p, u, n], counts)
    reference = aesara.function([p, u, n], counts, mode="FAST_COMPILE")
    assert native._native is not None and not aesara.explain(native).python
    rng = np.random.default_rng(5)
    for rows, categories, draws in ((1, 1, 1), (4, 6, 3), (4, 6, 0), (0, 6, 3), (30, 9, 100)):
        weights = rng.uniform(size=(rows, categories)) / 4
        uniform = rng.uniform(size=rows * draws)
        found = native(weights, uniform, draws)
        np.testing.assert_array_equal(found, reference(weights, uniform, draws))
        assert found.shape == weights.shape and (found.sum(axis=1) <= draws).all()
    for f in (native, reference):
        with pytest.raises(ValueError, match="100 draws for each of 30 rows need 3000 uniform numbers, got 2999"):
            f(weights, uniform[:-1], draws)
    assert MultinomialFromUniform("auto")(p, u, 1).type.shape == (None, None)
    assert ChoiceFromUniform("auto")(p, u, 2).type.shape == (None, 2)


@pytest.mark.parametrize(("streams", "count"), [(1, 9), (7, 30), (60, 20)])
def test_native_code_advances_streams_as_python_does(streams, count):
    """Native code, NumPy and Python's integers run one function, and give the same bits."""
    states = np.random.default_rng(3).integers(1, M2, size=(streams, 6))
    rows = [tuple(map(int, row)) for row in states]
    numbers = []
    for k in range(count):
        rows[k % streams], number = advance(rows[k % streams], lambda condition, yes, no: yes if condition else no)
        numbers.append(number)
    by_numpy, after = integers(states, count)
    assert by_numpy.tolist() == numbers and after.tolist() == [list(row) for row in rows]
    given = aesara.shared(states.astype("int32"))
    following, uniform = mrg_uniform.new(given, 1, "float64", (count,))
    native = aesara.function([], uniform, updates=[(given, following)])
    np.testing.assert_array_equal(native(), np.array(numbers) * 2.0**-31)
    assert given.get_value().tolist() == [list(row) for row in rows]
