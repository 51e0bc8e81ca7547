"""What users do with functions: inputs with defaults, states and names; givens; updates; copies; evaluation."""

import copy
import itertools
import pickle
import sys
import warnings

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.compile import register_deep_copy_op_c_code, register_view_op_c_code
from aesara.compile.function.pfunc import rebuild_collect_shared
from aesara.compile.function.types import Function, FunctionMaker, UnusedInputError
from aesara.compile.io import In, Out, SymbolicInput
from aesara.compile.mode import Mode
from aesara.compile.ops import as_op, deep_copy_op, view_op
from aesara.graph.op import Op
from aesara.graph.utils import MissingInputError
from aesara.link.basic import Container
from aesara.link.vm import VMLinker
from tests.counting import calls_in

x, y, z = at.dvectors("x", "y", "z")
a, b = at.dscalars("a", "b")


@pytest.fixture(params=["FAST_RUN", "FAST_COMPILE"])
def mode(request):
    return request.param


def shared(value, name="s"):
    return aesara.shared(value, name=name)


# Inputs


@pytest.mark.slow
def test_defaults_and_names(mode):
    f = aesara.function([x, In(a, value=3.0, name="rate"), In(b, autoname=False, value=2.0)], x * a + b, mode=mode)
    assert f([1.0]) == 5 and f([1.0], rate=5) == 7 and f([1.0], 2.0, 1.0) == 3
    assert f["rate"] == 3 and f[x] is None and f[2] == 2
    assert "rate" in f and "x" in f and "b" not in f and x in f.value and 0 in f.container
    with pytest.raises(TypeError, match="Unknown input or state: a"):
        f([1.0], a=2.0)
    with pytest.raises(TypeError, match="Unknown input or state: b"):
        f([1.0], b=2.0)


def test_states(mode):
    f = aesara.function([In(a, value=1.0, update=a + 1, name="s")], a * 1, mode=mode)
    assert (f(), f(), f["s"]) == (1, 2, 3)
    assert f(10.0) == 10 and f["s"] == 11
    f["s"] = 5.0
    assert f() == 5 and f.container["s"].value == 6


def test_implicit_inputs(mode):
    cell = Container(a, [np.asarray(4.0)], name="c")
    f = aesara.function([x, In(a, value=cell)], x * a, mode=mode)
    assert f([1.0]) == 4
    cell.value = 9.0
    assert f([1.0]) == 9
    with pytest.raises(TypeError, match="takes 1, got 2"):
        f([1.0], 2.0)
    with pytest.raises(TypeError, match="implicit input: a"):
        f([1.0], a=2.0)
    with pytest.raises(TypeError, match="implicit"):
        aesara.function([x, In(a, implicit=True)], x * a, mode=mode)


def test_shared_variables_as_values_of_inputs(mode):
    s = shared(2.0)
    f = aesara.function([x, In(a, value=s)], x * a, mode=mode)
    s.set_value(5.0)
    assert f([1.0]) == 5


def test_strict_inputs(mode):
    f = aesara.function([In(x, strict=True)], x + 0, mode=mode)
    assert f(np.ones(1)) == 1
    for wrong in ([1.0], np.ones(1, "float32"), np.ones((1, 1))):
        with pytest.raises(TypeError, match="index 0"):
            f(wrong)


@pytest.mark.parametrize(
    "allow, vector, number",
    [(None, False, False), (True, True, True), (False, False, False)],
)
def test_downcasting(mode, allow, vector, number):
    v, n = at.fvector("v"), at.fscalar("n")
    f = aesara.function([In(v, allow_downcast=allow)], v, mode=mode)
    g = aesara.function([In(n, allow_downcast=allow)], n, mode=mode)
    for function, value, accepted in ((f, [0.1], vector), (f, np.array([0.1]), vector), (g, np.float64(0.1), number)):
        if accepted:
            np.testing.assert_array_equal(function(value), np.float32(0.1))
        else:
            with pytest.raises(TypeError, match="0.10000000149011612|float32"):
                function(value)
    assert g(3) == 3  # nothing is lost


BIG = 2**53 + 1  # no float64


@pytest.mark.parametrize(
    "make, value",
    [
        (at.dscalar, BIG),
        (at.dscalar, -BIG),
        (at.dscalar, np.int64(BIG)),
        (at.dscalar, np.uint64(BIG)),
        (at.dscalar, np.array(BIG)),
        (at.dscalar, 2**63 - 1),
        (at.dscalar, 2**70 + 1),
        (at.zscalar, BIG),
        (at.fscalar, 2**24 + 1),
        (at.fscalar, 2**60 + 1),
        (at.dvector, [1, BIG]),
        (at.dvector, [1.5, BIG]),
        (at.dvector, (np.int64(BIG),)),
        (at.dvector, [1.5, np.array(BIG)]),
        (at.dvector, np.array([1, BIG])),
        (at.dvector, np.array([1, BIG, 3])[::-1]),
        (at.dvector, np.array([2**64 - 1], "uint64")),
        (at.dvector, np.array([BIG], ">i8")),
        (at.dvector, np.array([np.iinfo("int64").max])),
        (at.zmatrix, np.array([[BIG]])),
    ],
)
def test_integers_that_are_no_floats_are_refused(mode, make, value):
    x = make("x")
    for allow in (None, False):
        with pytest.raises(TypeError, match="cannot store accurately"):
            aesara.function([In(x, allow_downcast=allow)], x + 0, mode=mode)(value)
        with pytest.raises(TypeError, match="cannot store accurately"):
            x.type.filter(value, allow_downcast=allow)
    rounded = aesara.function([x], x + 0, mode=mode, allow_input_downcast=True)(value)
    np.testing.assert_array_equal(rounded, np.asarray(value).astype(x.dtype))


@pytest.mark.parametrize("value", [2**53, -(2**53), 2**60, -(2**63), BIG + 1, 2**70, np.int64(2**62), np.uint64(2**63)])
def test_integers_that_are_floats_are_taken(mode, value):
    s, v = at.dscalar("s"), at.dvector("v")
    assert aesara.function([s], s * 1, mode=mode)(value) == float(value)
    for given in ([value], [value, 0.5][:1], np.array([value])):
        if np.asarray(given).dtype != object:
            assert aesara.function([v], v * 1, mode=mode)(given)[0] == float(value)


def test_shared_values_and_defaults_lose_nothing():
    s, x = aesara.shared(1.0), at.dscalar("x")
    for act in (
        lambda: s.set_value(BIG),
        lambda: s.set_value(np.array(BIG)),
        lambda: aesara.function([In(x, value=BIG)], x),
        lambda: aesara.function([], [], updates={s: BIG}),
    ):
        with pytest.raises(TypeError, match="cannot store accurately"):
            act()
    rounding = aesara.shared(1.0, allow_downcast=True)
    rounding.set_value(BIG)
    assert rounding.get_value() == 2.0**53


@pytest.mark.parametrize("value", [[1.5], (1.5,), [[1.5]], np.array([1.5]), np.array([[1.5]]), [np.array([1.5])]])
def test_one_element_is_a_number(mode, value):
    s = at.dscalar("s")
    f = aesara.function([s], s * 2, mode=mode)
    assert f(value) == 3.0 and f(value).shape == ()
    with pytest.raises(TypeError, match="index 0"):
        aesara.function([In(s, strict=True)], s, mode=mode)(value)
    with pytest.raises(TypeError, match="Wrong number of dimensions"):
        f([1.5, 2.5])
    with pytest.raises(TypeError, match="Wrong number of dimensions"):
        f([])


def test_downcasting_of_python_floats_follows_float_x():
    n = at.fscalar("n")
    with aesara.config.change_flags(floatX="float32"):
        assert aesara.function([n], n, mode="FAST_COMPILE")(0.1) == np.float32(0.1)


def test_integers(mode):
    i = at.ivector("i")
    assert aesara.function([i], i, allow_input_downcast=True, mode=mode)([1.7]).tolist() == [1]
    f = aesara.function([i], i, mode=mode)
    assert f([3]).dtype == "int32"
    for wrong in ([1.7], np.array([1.5]), [2**40]):
        with pytest.raises(TypeError):
            f(wrong)


def test_forms_of_inputs():
    one = np.ones(1)
    assert aesara.function([(x, one)], x, mode="FAST_COMPILE")() == 1
    assert aesara.function([[x, one]], x, mode="FAST_COMPILE")() == 1
    f = aesara.function([("n", x, one), ("k", a)], x * a, mode="FAST_COMPILE")
    assert f(k=2.0) == 2 and f(n=[3.0], k=2.0) == 6
    state = aesara.function([((a, a + 1), 2.0)], a, mode="FAST_COMPILE")
    assert (state(), state()) == (2, 3)
    wrong_pairs = [(a, a + 1), (a, 1.0, 2.0), (), (3, a), (shared(1.0), 2.0)]
    for wrong in (3, at.constant(1.0), shared(1.0), In(shared(1.0)), *wrong_pairs):
        with pytest.raises(TypeError):
            aesara.function([wrong], a, mode="FAST_COMPILE")
    with pytest.raises(UnusedInputError, match="twice"):
        aesara.function([x, x], x)


def test_descriptions_of_inputs():
    assert str(In(x)) == "In(x)" and repr(Out(x, borrow=True)) == "Out(x,True)"
    assert In(a, update=a).mutable and not In(a).mutable
    assert In(x, value=shared(np.ones(1))).implicit and not In(a, value=1.0).implicit
    assert SymbolicInput(x, autoname=False).name is None and SymbolicInput(x).name == "x"
    with pytest.raises(TypeError, match="update of type"):
        In(a, update=x)
    with pytest.raises(TypeError, match="name"):
        In(x, name=3)


@pytest.mark.parametrize("number", [2.0, np.float64(2.0)])
def test_numbers_are_taken_without_python(number):
    """A number costs no more calls than an array, unless an argument must be an array."""
    f = aesara.function([a], a * 2, updates=[(state := shared(np.ones(2)), state + 1)])
    array = np.array(number)
    assert calls_in(lambda: f(number)) == calls_in(lambda: f(array))
    with pytest.raises(TypeError):
        aesara.function([In(a, strict=True)], a * 2)(number)
    # What is strict about a value that is no argument says nothing about arguments.
    g = aesara.function([a, In(b, value=shared(2.0), strict=True)], a * b)
    assert g(number) == 4 and calls_in(lambda: g(number)) == calls_in(lambda: g(array))


def test_names_that_two_inputs_have(mode):
    f = aesara.function([In(x, name="q"), In(y, name="q")], x + y, mode=mode)
    assert f([1.0], [2.0]) == 3
    with pytest.raises(TypeError, match="Ambiguous"):
        f(q=[1.0])
    with pytest.raises(TypeError, match="Ambiguous"):
        f["q"]


def test_wrong_calls(mode):
    f = aesara.function([x, In(y, value=np.ones(1))], x + y, name="F", mode=mode)
    for match, args, kwargs in (
        ("Missing required input: x", (), {}),
        ("Too many parameters", ([1.0],) * 3, {}),
        ("Unknown input or state: w", ([1.0],), {"w": 1}),
        ("Multiple values for input: x", ([1.0],), {"x": [1.0]}),
        ("index 1", ([1.0], None), {}),
    ):
        with pytest.raises(TypeError, match=match):
            f(*args, **kwargs)
    with pytest.raises(TypeError, match="Unknown input or state: nope"):
        f["nope"]
    assert f(x=[2.0]) == 3


def test_unused_inputs():
    for choice in (None, "raise"):
        with pytest.raises(UnusedInputError, match="index 1"):
            aesara.function([x, y], x, on_unused_input=choice)
    with pytest.warns(UserWarning, match="index 1"):
        aesara.function([x, y], x, on_unused_input="warn", mode="FAST_COMPILE")
    aesara.function([x, y], x, on_unused_input="ignore", mode="FAST_COMPILE")
    with pytest.raises(ValueError, match="on_unused_input"):
        aesara.function([x, y], x, on_unused_input="bad")
    with pytest.raises(UnusedInputError):
        aesara.function([x], y, givens={y: at.ones(2)})
    with pytest.raises(MissingInputError, match="`y`"):
        aesara.function([x], x + y)


# Givens


def test_givens(mode):
    e = x + 1
    s = shared(np.array([1.0, 2.0]))
    assert aesara.function([y], e * 2, givens={e: y}, mode=mode)([3.0]) == 6
    assert aesara.function([x], s * 2, givens={s: x}, mode=mode)([5.0]) == 10
    np.testing.assert_array_equal(s.get_value(), [1, 2])
    np.testing.assert_array_equal(aesara.function([], x * 2, givens={x: np.ones(2)}, mode=mode)(), [2, 2])


def test_givens_in_chains_and_cycles():
    with pytest.raises(AssertionError, match="can not have"):
        aesara.function([z], x + 1, givens={x: y * 2, y: z})
    assert aesara.function([z], x + 1, givens=[(y, z), (x, y * 2)], mode="FAST_COMPILE")([1.0]) == 3
    with pytest.raises(AssertionError, match="can not have"):
        aesara.function([], x + 1, givens={x: y, y: x + 1})
    with pytest.raises(MissingInputError):
        aesara.function([y], x + 1, givens={x: x + y})
    with pytest.raises(RuntimeError, match="givens"):
        aesara.function([x], x + 1, givens={x: y})


def test_rebuild_strict(mode):
    i, f32, m = at.lvector("i"), at.fvector("f32"), at.dmatrix("m")
    for replacement in (i, m):
        with pytest.raises(TypeError, match="Cannot convert"):
            aesara.function([replacement], x * 2, givens={x: replacement}, mode=mode)
    f = aesara.function([i], x * 2, givens={x: i}, rebuild_strict=False, mode=mode)
    assert f([1]).dtype == "int64"
    g = aesara.function([f32], x * 2, givens={x: f32}, rebuild_strict=False, mode=mode)
    assert g(np.ones(1, "float32")).dtype == "float32"
    h = aesara.function([m], x * 2, givens={x: m}, rebuild_strict=False, mode=mode)
    assert h([[1.0]]).shape == (1, 1)


# Updates


def test_types_of_updates():
    s, i = shared(np.ones(1)), shared(1)
    aesara.function([], [], updates=[(i, 5)], mode="FAST_COMPILE")()
    assert i.get_value() == 5
    with pytest.raises(TypeError, match="same type"):
        aesara.function([], [], updates=[(i, i + 1.5)])
    with pytest.raises(TypeError):
        aesara.function([], [], updates=[(s, 5.0)])
    with pytest.raises(ValueError, match="already has an update"):
        aesara.function([], [], updates=[(i, i + 1), (i, i + 2)])
    with pytest.raises(TypeError, match="SharedVariable"):
        aesara.function([], [], updates=[(x, x + 1)])
    with pytest.raises(TypeError, match="updates"):
        aesara.function([], [], updates=s)


def test_default_updates(mode):
    s, t = shared(0.0), shared(0.0, "t")
    s.default_update = s + 1
    f = aesara.function([], s, mode=mode)
    assert (f(), f()) == (0, 1)
    for skipped in (True, [s]):
        g = aesara.function([], s, no_default_updates=skipped, mode=mode)
        assert (g(), g()) == (2, 2)
    h = aesara.function([], s, updates=[(s, s + 10)], mode=mode)
    assert (h(), h()) == (2, 12)
    t.default_update = s * 2
    both = aesara.function([], t, mode=mode)
    assert both() == 0 and t.get_value() == 44 and s.get_value() == 23
    with pytest.raises(TypeError, match="no_default_updates"):
        aesara.function([], s, no_default_updates=s)
    only = aesara.function([], t, no_default_updates=[s], mode=mode)
    assert only() == 44 and t.get_value() == 46 and s.get_value() == 23


# Functions


def test_copies(mode):
    s, t, vector = shared(1.0), shared(100.0, "t"), shared(np.ones(1))
    f = aesara.function([In(a, value=1.0, name="a")], s * a, updates=[(s, s + 1)], name="f", mode=mode)
    assert f() == 1
    g = f.copy()
    assert g() == 2 and s.get_value() == 3 and g.name == "f copy"
    h = f.copy(swap={s: t})
    assert h() == 100 and t.get_value() == 101 and s.get_value() == 3
    frozen = f.copy(delete_updates=True)
    assert (frozen(), frozen(), s.get_value()) == (3, 3, 3)
    assert f.copy(share_memory=True, name="other")() == 3
    both = f.copy(swap={s: t}, delete_updates=True)
    assert both() == 101 and t.get_value() == 101
    with pytest.raises(TypeError, match="type"):
        f.copy(swap={s: vector})
    with pytest.raises(ValueError, match="not found"):
        f.copy(swap={t: s})


def temporaries(f):
    """The cells of what is neither input nor result nor constant."""
    graph = f.maker.fgraph
    return [cell for v, cell in f.vm.storage_map.items() if v.owner is not None and v not in graph.outputs]


@pytest.mark.parametrize("linker", ["FAST_RUN", Mode(VMLinker(allow_gc=False), "fast_run")], ids=["native", "vm"])
def test_copies_that_share_memory(linker):
    s = shared(np.arange(3.0))
    f = aesara.function([x], at.tanh(at.dot(x, s) * 2 + at.exp(x).sum()), updates=[(s, s * at.exp(x))], mode=linker)
    sharing, apart = f.copy(share_memory=True), f.copy()
    own = {id(cell) for cell in temporaries(f)}
    assert own and own >= {id(cell) for cell in temporaries(sharing)}
    assert own.isdisjoint(id(cell) for cell in temporaries(apart))
    given, now = np.array([0.1, -0.2, 0.3]), np.arange(3.0)
    for g in (f, sharing, apart, sharing, f):
        assert g(given) == pytest.approx(np.tanh(given @ now * 2 + np.exp(given).sum()), rel=1e-14)
        now = now * np.exp(given)
        np.testing.assert_allclose(s.get_value(), now, rtol=1e-14)


class Double(Op):
    """Twice a vector, in the memory of the last result where that fits."""

    itypes, otypes = [at.dvector], [at.dvector]

    def perform(self, node, inputs, outputs):
        (value,), (cell,) = inputs, outputs
        if cell[0] is None or cell[0].shape != value.shape:
            cell[0] = np.empty_like(value)
        np.multiply(value, 2, out=cell[0])


def test_copies_that_share_memory_leave_values_of_shared_variables_alone():
    s = shared(np.zeros(2))
    step = Double()(x)
    f = aesara.function([x], step.sum(), updates=[(s, step[:2])], mode=Mode(VMLinker(allow_gc=False), "merge"))
    g = f.copy(share_memory=True, delete_updates=True)
    given = np.arange(3.0)
    f(given)
    kept = s.get_value(borrow=True)
    before = kept.copy()
    g(given + 5)
    np.testing.assert_array_equal(kept, before)


def test_copies_have_states_of_their_own(mode):
    f = aesara.function([In(a, value=1.0, update=a + 1, name="s")], a * 1, mode=mode)
    f()
    for make in (Function.copy, copy.copy, copy.deepcopy):
        before, other = f["s"], make(f)
        assert other() == before and f["s"] == before
        f()
        assert other["s"] == before + 1


def test_deep_copies_and_pickles_have_shared_variables_of_their_own(mode):
    s = shared(1.0)
    f = aesara.function([], s, updates=[(s, s + 1)], mode=mode)
    for make in (copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))):
        before, g = s.get_value(), make(f)
        assert (g(), g()) == (before, before + 1)
        assert s.get_value() == before
        f()


def test_what_a_function_says_of_itself(mode):
    s, t = shared(1.0), shared(2.0, "t")
    f = aesara.function([a], a * s + t, updates=[(t, t + 1)], name="nm", mode=mode)
    assert {one.name for one in f.get_shared()} == {"s", "t"}
    assert f.name == "nm" and f.n_returned_outputs == 1 and f.unpack_single and not f.return_none
    assert f.output_keys is None and len(f.input_storage) == 3
    assert f.free() is None and f(1.0) == 3
    f.trust_input = True
    assert f(1.0) == 4


def test_outputs(mode):
    lent = aesara.function([x], [x, Out(x + 1, borrow=True)], mode=mode)([1.0])
    assert lent == [1, 2]
    named = aesara.function([x], {"a": x, "b": x + 1}, mode=mode)
    assert named([1.0]) == {"a": 1, "b": 2}
    assert named([1.0], output_subset=["b"]) == {"b": 2}
    assert aesara.function([x], (x, x + 1), mode=mode)([1.0], output_subset=[1]) == [2]
    assert aesara.function([x], [], on_unused_input="ignore", mode=mode)([1.0]) == []
    for wrong in (3, [3], {1: x}):
        with pytest.raises(TypeError):
            aesara.function([x], wrong)


def test_makers():
    one = np.ones(1)
    assert FunctionMaker([In(x)], [Out(x + 1)]).create()(one) == [2]
    assert FunctionMaker([x], x + 1).create()(one) == 2
    with pytest.raises(UnusedInputError):
        FunctionMaker([x, y], [x + 1])
    with pytest.raises(ValueError, match="The variable x is given as input more than once"):
        FunctionMaker([x, x], [x + 1])
    state = FunctionMaker([In(a, value=1.0, update=a + 1)], a).create()
    assert (state(), state()) == (1, 2)


def test_inputs_that_are_replaced():
    s = aesara.shared(1.0, "s")
    s.default_update = s + 1
    out, t, b = a * s, at.dscalar("t"), at.dscalar("b")
    inputs, output, (_, given, updates, found) = rebuild_collect_shared(out, [a, s], replace={s: t * 2})
    assert inputs[0] is a and inputs[1].owner.inputs[0] is t and output.owner.inputs[1] is inputs[1]
    assert not given and not updates and not found
    inputs, output, _ = rebuild_collect_shared(out, [a, s], replace={s: t, a: b}, copy_inputs_over=False)
    assert [one.name for one in inputs] == ["b", "t"] and not {*inputs} & {a, b, s, t}
    assert output.owner.inputs == inputs
    with pytest.raises(RuntimeError, match="You are trying to replace variable 'a'"):
        aesara.function([a], out, givens={a: b})


def test_default_updates_of_graphs_of_functions():
    s, t, u = (aesara.shared(1.0, name) for name in "stu")
    s.default_update, t.default_update, u.default_update = s + 1, t + 1, u + 1
    f = aesara.function([], s * t * u, updates={t: t * 2}, no_default_updates=[u])
    inside = {v.name: v for v in f.maker.fgraph.inputs}
    assert inside["s"] is not s and inside["t"].default_update is inside["u"].default_update is None
    assert inside["s"].default_update in f.maker.fgraph.outputs
    again = aesara.function([], f.maker.fgraph.outputs[0])
    assert [float(again()) for _ in range(3)] == [1, 2, 3] and s.get_value() == 4
    assert float(pickle.loads(pickle.dumps(f))()) == 4


def test_rebuild_collect_shared():
    s = shared(1.0)
    inputs, output, (clones, given, updates, found) = rebuild_collect_shared(a * s, [a], updates={s: s + 1})
    assert inputs == [a] and found == [s] and list(given) == [s]
    assert [target for target, _ in updates] == [s]
    assert output.owner.inputs == [a, s] and s in clones


# Operations


def test_operations_from_functions(mode):
    @as_op(itypes=[at.dvector, at.dvector], otypes=[at.dvector])
    def add(p, q):
        return p + q

    @as_op([at.dvector], [at.dscalar, at.dvector], infer_shape=lambda fgraph, node, shapes: [(), shapes[0]])
    def two(p):
        calls.append(p)
        return np.asarray(p.sum()), p[::-1]

    calls: list = []
    assert aesara.function([x, y], add(x, y), mode=mode)([1.0], [2.0]) == 3
    total, turned = aesara.function([x], two(x), mode=mode)([1.0, 2.0])
    assert total == 3 and turned.tolist() == [2, 1]
    calls.clear()
    assert aesara.function([x], two(x)[1].shape, mode="FAST_RUN")([1.0, 2.0]).tolist() == [2]
    assert not calls
    assert str(add) == "FromFunctionOp{add}"
    with pytest.raises(TypeError):
        as_op(["a"], [at.dvector])
    with pytest.raises(ValueError):
        add(x)
    with pytest.raises(TypeError):
        add(at.dmatrix(), x)
    with pytest.raises(NotImplementedError):
        aesara.grad(add(x, y).sum(), x)


def test_copies_and_views_of_values(mode):
    copied, viewed = aesara.function([x], [deep_copy_op(x), view_op(x)], mode=mode)([1.0])
    assert copied == viewed == 1
    assert aesara.grad(view_op(x).sum(), x).eval({x: [1.0]}) == 1
    assert register_deep_copy_op_c_code(at.TensorType, "code", 1) is None
    assert register_view_op_c_code(at.TensorType, "code", 1) is None


# Evaluation


def test_eval_keeps_its_functions():
    e = x + 2 * y
    assert e.eval({x: [1.0], y: [2.0]}) == 5
    assert e.eval({y: [2.0], x: [1.0]}) == 5
    assert len(e._fn_cache) == 1
    for options in ({"mode": "FAST_COMPILE", "name": "e"}, {"name": "e", "mode": "FAST_COMPILE"}):
        assert e.eval({x: [1.0], y: [2.0]}, **options) == 5 and len(e._fn_cache) == 2
    assert not hasattr(pickle.loads(pickle.dumps([x, e]))[1], "_fn_cache")
    x._fn_cache = e._fn_cache
    assert not hasattr(pickle.loads(pickle.dumps(x)), "_fn_cache")
    s = shared(3.0)
    scaled = e * s
    assert scaled.eval({y: [2.0], x: [1.0]}) == 15
    s.set_value(1.0)
    assert scaled.eval({x: [1.0], y: [2.0]}) == 5
    assert s.eval() == 1 and (at.constant(3.0) + 1).eval() == 4


def test_wrong_evaluations():
    e = x + y
    with pytest.raises(MissingInputError):
        e.eval({x: [1.0]})
    with pytest.raises(TypeError, match="dict"):
        e.eval([1.0])
    with pytest.raises(TypeError, match="key 'x'"):
        e.eval({"x": [1.0]})
    with pytest.raises(UnusedInputError):
        e.eval({x: [1.0], y: [1.0], z: [1.0]})


@pytest.mark.parametrize("options, expected", [({}, False), ({"borrow": True}, True), ({"mutable": True}, True)])
def test_whether_it_matters_that_arguments_share_memory(options, expected):
    x, s = at.dvector("x"), aesara.shared(np.ones(2))
    f = aesara.function([aesara.In(x, **options)], x + s, updates={s: s + 1})
    assert f._check_for_aliased_inputs is expected
    assert f.maker.fgraph.name == f.name


def test_descriptions_of_outputs(mode):
    """One for each result, in the order of the results, whatever form these have, and of no update."""
    x, s = at.dvector("x"), shared(1.0)
    a, b = x + s, (x * s).sum()
    a.name, b.name = "a", "b"
    for outputs, described in (
        (a, [(a, False)]),
        ([b, Out(a, borrow=True)], [(b, False), (a, True)]),
        ({"second": b, "first": a}, [(a, False), (b, False)]),
        ([], []),
        (None, []),
    ):
        f = aesara.function([x], outputs, mode=mode, updates={s: s + 1}, on_unused_input="ignore")
        for g in (f, f.copy(), f.copy(delete_updates=True), pickle.loads(pickle.dumps(f)), copy.deepcopy(f)):
            found = [(spec.variable.name, spec.variable.type.ndim, spec.borrow) for spec in g.outputs]
            assert found == [(variable.name, variable.type.ndim, borrow) for variable, borrow in described]
            g.outputs.clear()
            assert len(g.outputs) == len(described)


# Names, times, unused inputs


def test_functions_of_no_line_have_no_name(monkeypatch):
    monkeypatch.setattr(sys.modules["aesara.compile.function"], "user_source", lambda: None)
    assert aesara.function([x], x).name is None


@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE"])
def test_how_long_compiling_takes(mode, monkeypatch):
    """Rewriting is a part of it; who only links again has no such time."""
    seconds = itertools.count(100.0, 2.0)
    monkeypatch.setattr("aesara.clock.now", lambda: next(seconds))
    with aesara.config.change_flags(function_cache=False):
        f = aesara.function([x], x * 2, mode=mode)
    assert 2.0 <= f.maker.rewrite_seconds < f.compile_seconds < next(seconds) - 100.0
    assert f.copy().compile_seconds is None and f.copy().maker.rewrite_seconds == 0.0


def test_what_is_trusted_is_not_looked_at():
    seen = []
    look = as_op([at.dvector], [at.dvector])(lambda value: seen.append(value) or np.ones(1))
    f = aesara.function([x], look(x), mode="FAST_COMPILE")
    for trusted, kind in ((False, np.ndarray), (True, list)):
        f.trust_input = trusted
        f([1.0])
        assert isinstance(seen[-1], kind)


USES = {
    "nothing": (lambda: [x, y], lambda: y * 2, True),
    "a result": (lambda: [x, y], lambda: x + y, False),
    "an update of another": (lambda: [x, In(y, value=[1.0], update=x + y)], lambda: y * 2, False),
    "its own update": (lambda: [In(x, value=[1.0], update=x + y), y], lambda: y * 2, False),
    "a container": (lambda: [In(x, value=Container(x, [np.ones(1)])), y], lambda: y * 2, False),
}


@pytest.mark.parametrize("action", ["raise", "warn", "ignore"])
@pytest.mark.parametrize("use", USES)
def test_who_makes_a_function_hears_of_unused_inputs(use, action):
    inputs, output, unused = USES[use]
    if not unused or action == "ignore":
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            FunctionMaker(inputs(), output(), on_unused_input=action)
    elif action == "warn":
        with pytest.warns(UserWarning, match=r"index 0 is not part .*:\s*x\."):
            FunctionMaker(inputs(), output(), on_unused_input=action)
    else:
        with pytest.raises(UnusedInputError, match="index 0"):
            FunctionMaker(inputs(), output())


def test_warnings_of_unused_inputs_name_the_line_of_the_program():
    with pytest.warns(UserWarning) as caught:
        aesara.function([x, y], y, on_unused_input="warn")
        FunctionMaker([x, y], y, on_unused_input="warn")
    assert [warning.filename for warning in caught] == [__file__] * 2


@pytest.mark.parametrize("rewritten", [False, True])
def test_functions_from_files_can_be_rewritten_again(rewritten, monkeypatch):
    data = pickle.dumps(aesara.function([x], at.log(at.exp(x)), mode=Mode("py", None)))
    calls = []
    monkeypatch.setattr(FunctionMaker, "prepare_fgraph", staticmethod(lambda *args: calls.append(args)))
    with aesara.config.change_flags(reoptimize_unpickled_function=rewritten):
        assert pickle.loads(data)([1.0]) == 1.0
    assert len(calls) == int(rewritten)


def test_updates_are_not_stored_twice():
    s = shared(1.0)
    f = aesara.function([In(a, value=1.0, update=a + s)], a * 1, updates={s: s + 2})
    loaded = pickle.loads(pickle.dumps(f))
    assert [spec.update for spec in loaded.maker.inputs] == [None, None] and None not in [
        spec.update for spec in f.maker.inputs
    ]
    assert [float(loaded()) for _ in range(3)] == [1.0, 2.0, 5.0]


def test_memory_can_be_freed_in_any_mode():
    for mode in ("FAST_RUN", "FAST_COMPILE", "NanGuardMode", "DebugMode", "MonitorMode"):
        f = aesara.function([x], at.exp(x) + 1, mode=mode)
        before = f([0.0])
        f.free()
        assert before == f([0.0]) == 2.0
