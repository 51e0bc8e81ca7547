"""Whose memory the results of functions and the new values of shared variables have: never that of somebody else."""

import itertools

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.compile.function.aliasing import alias_root, infer_reuse_pattern
from aesara.compile.mode import Mode
from aesara.compile.ops import DeepCopyOp, as_op
from aesara.graph.fg import FunctionGraph

X, S, C = np.array([1.0, 2.0, 3.0]), np.array([5.0, 7.0, 11.0]), np.array([13.0, 17.0, 19.0])
x = at.dvector("x")
s, t = aesara.shared(S, name="s"), aesara.shared(S, name="t")
c = at.constant(C)


def copies_in(f):
    return [node for node in f.maker.fgraph.apply_nodes if isinstance(node.op, DeepCopyOp)]


def first_is_zero(value):
    return np.array([0.0, *value[1:]])


#: expressions, and their values for values of x and s
EXPRESSIONS = {
    "argument": (x, lambda x, s: x),
    "part of an argument": (x[::-1], lambda x, s: x[::-1]),
    "state": (s, lambda x, s: s),
    "part of a state": (s[::-1], lambda x, s: s[::-1]),
    "constant": (c, lambda x, s: C),
    "part of a constant": (c[::-1], lambda x, s: C[::-1]),
    "product": (product := x * s, lambda x, s: x * s),
    "part of a product": (product[::-1], lambda x, s: (x * s)[::-1]),
    "over a product": (at.set_subtensor(product[0], 0.0), lambda x, s: first_is_zero(x * s)),
    "over an argument": (at.set_subtensor(x[0], 0.0), lambda x, s: first_is_zero(x)),
    "over a state": (at.set_subtensor(s[0], 0.0), lambda x, s: first_is_zero(s)),
}
IN_PLACE = Mode("py", "fast_compile").including("inplace")
MODES = {"in place": IN_PLACE, "as written": "FAST_COMPILE", "native": "FAST_RUN"}
#: what two results, a result and a new value, and two new values may be
KINDS = {"results": (), "a result and a state": (s,), "states": (s, t)}


@pytest.mark.parametrize("given_away", [False, True])
@pytest.mark.parametrize("lent", [False, True])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("mode", MODES)
def test_values_share_memory_with_nothing_that_is_not_theirs(mode, kind, lent, given_away):
    targets, used = KINDS[kind], MODES[mode]
    pairs = list(itertools.combinations_with_replacement(EXPRESSIONS, 2))
    step = 7 if mode == "native" else 1  # how native code is made of it is tested elsewhere
    for names in pairs[::step]:
        expressions, expected = zip(*(EXPRESSIONS[name] for name in names))
        returned = 2 - len(targets)
        f = aesara.function(
            [aesara.In(x, mutable=given_away)],
            [aesara.Out(out, borrow=lent) for out in expressions[:returned]],
            updates=list(zip(targets, expressions[returned:])),
            mode=used,
            on_unused_input="ignore",
        )
        s.set_value(S)
        t.set_value(S)
        kept: list = []
        for _ in range(2):
            before, argument = s.get_value(), X.copy()
            held = [target.get_value(borrow=True) for target in targets]
            results = f(argument)
            states = [target.get_value(borrow=True) for target in targets]
            found = [*results, *states]
            for name, value, function in zip(names, found, expected):
                np.testing.assert_array_equal(value, function(X, before), err_msg=str((names, name)))
            if not given_away:
                np.testing.assert_array_equal(argument, X)
            of_others = [c.data, *(v.get_value(borrow=True) for v in {s, t} - set(targets))]
            for value in states if lent else found:
                others = [*of_others, *(other for other in found if other is not value), *kept]
                assert not any(np.shares_memory(value, other) for other in others), names
            for value in results:
                assert not np.shares_memory(value, c.data), names
                # What is given away may become a result, but never what is kept.
                assert given_away or not np.shares_memory(value, argument), names
            assert not any(np.shares_memory(value, argument) for value in states), names
            # Whoever holds an old value holds no part of the new one.
            assert not any(new is not old and np.shares_memory(new, old) for new, old in zip(states, held)), names
            if not lent:
                kept += results


@pytest.mark.parametrize(
    ("lent", "outputs", "copies"),
    [
        (False, ["product"], 0), (False, ["argument"], 1), (False, ["state"], 1), (False, ["constant"], 1),
        (False, ["product", "part of a product"], 1), (True, ["product", "part of a product"], 0),
        (True, ["state", "part of a state"], 0), (True, ["argument", "part of an argument"], 2),
        (True, ["constant"], 1), (False, ["product", "product"], 1),
    ],
)  # fmt: skip
def test_only_what_has_to_be_copied_is_copied(lent, outputs, copies):
    expressions = [aesara.Out(EXPRESSIONS[name][0], borrow=lent) for name in outputs]
    f = aesara.function([x], expressions, mode="FAST_COMPILE", on_unused_input="ignore")
    assert len(copies_in(f)) == copies


@pytest.mark.parametrize(("lent", "result"), [(False, False), (True, True)])
def test_a_lent_result_may_be_part_of_a_lent_argument(lent, result):
    given = aesara.In(x, borrow=lent)
    f = aesara.function([given], aesara.Out(x[::-1], borrow=True), mode="FAST_COMPILE")
    argument = X.copy()
    assert np.shares_memory(f(argument), argument) is result


def test_a_lent_result_beside_one_that_is_not():
    for borrowed in ((True, False), (False, True)):
        outputs = [aesara.Out(out, borrow=lent) for out, lent in zip((product, product[::-1]), borrowed)]
        assert not np.shares_memory(*aesara.function([x], outputs, mode="FAST_COMPILE")(X))


@pytest.mark.parametrize("lent", [False, True])
def test_a_state_may_stay_where_it_is(lent):
    """An update that changes nothing copies nothing."""
    f = aesara.function([], aesara.Out(s * 2, borrow=lent), updates={s: s}, mode="FAST_COMPILE")
    before = s.get_value(borrow=True)
    f()
    assert s.get_value(borrow=True) is before and not copies_in(f)


@pytest.fixture
def generator():
    return aesara.shared(np.random.default_rng(5), name="generator")


def draws_of(generator, number=2):
    """Numbers, each drawn from the state that the one before has left; and the last state."""
    state, numbers = generator, []
    for _ in range(number):
        drawn = at.random.normal(rng=state)
        state, *_ = drawn.owner.outputs
        numbers.append(drawn)
    return numbers, state


def state_of(generator):
    return generator.get_value(borrow=True).bit_generator.state


def test_a_copy_without_updates_writes_to_no_state(generator):
    """Draws that overwrote the state of a generator have another one to overwrite."""
    numbers, state = draws_of(generator)
    f = aesara.function([], numbers, updates={generator: state}, mode=IN_PLACE)
    assert all(node.op.inplace for node in f.maker.fgraph.apply_nodes)
    before, g = state_of(generator), f.copy(delete_updates=True)
    first = f()
    after = state_of(generator)
    assert after != before
    second = g()
    assert g() == second != first and state_of(generator) == after
    assert f() == second and len(copies_in(g)) == 1  # the second draw may write over what the first has left


def test_the_new_state_of_a_generator_is_no_argument(generator):
    """Even where draws may write to the argument."""
    given = generator.type("given")
    numbers, state = draws_of(given)
    inputs = [aesara.In(given, mutable=True)]
    f = aesara.function(inputs, numbers, updates={generator: state}, mode=IN_PLACE)
    argument, again = np.random.default_rng(3), np.random.default_rng(3)
    assert f(argument) == [again.normal(), again.normal()]
    assert state_of(generator) == again.bit_generator.state == argument.bit_generator.state
    argument.normal()
    assert state_of(generator) == again.bit_generator.state


def test_generators_are_as_before_after_a_call_that_fails(generator):
    """Also one that the call only reads, beside one that its draws have written to."""
    other = aesara.shared(np.random.default_rng(7), name="other")
    numbers, state = draws_of(generator)
    result = at.sum(numbers) + at.random.normal(rng=other)
    checked = aesara.raise_op.Assert("wrong")(result, at.gt(x, 0).all())
    for mode in MODES.values():
        f = aesara.function([x], checked, updates={generator: state}, mode=mode)
        before, before_other = state_of(generator), state_of(other)
        for _ in range(2):
            with pytest.raises(AssertionError, match="wrong"):
                f(-X)
            assert state_of(generator) == before and state_of(other) == before_other
        f(X)
        assert state_of(generator) != before and state_of(other) == before_other


def test_what_owns_the_memory_of_a_variable():
    assert alias_root(x[1:][::-1].T) is x and alias_root(product) is product
    either = as_op([at.dvector, at.dvector], [at.dvector])(lambda a, b: a)
    either.view_map = {0: [0, 1]}
    view = either(x, s)
    with pytest.raises(NotImplementedError) as caught:
        alias_root(view)
    text = str(caught.value)
    assert str(view.owner) in text and "view of more than one input: [x, s]" in text


def test_what_leaves_a_function():
    """All that shares memory with a result, whether the result is a part of it or it is a part of the result."""
    part, other = product[1:], x + 1
    graph = FunctionGraph([x, s], [part, product[::-1], other * 2], clone=False)
    leaving = infer_reuse_pattern(graph, [part])
    assert set(leaving) == {product, part, graph.outputs[1]}
