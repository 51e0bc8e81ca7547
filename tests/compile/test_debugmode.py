"""DebugMode finds planted faults, names them, and leaves what is right alone."""

import copy
import itertools
import logging
import pickle
import warnings
from collections import Counter

import numpy as np
import pytest

import aesara
import aesara.sparse as sparse
import aesara.tensor as at
import aesara.typed_list as typed_list
from aesara.compile.builders import OpFromGraph
from aesara.compile.debug_checks import may_replace, order_of, strided_copy
from aesara.compile.debugmode import (
    BadDestroyMap,
    BadOptimization,
    BadThunkOutput,
    BadViewMap,
    DebugMode,
    DebugModeError,
    InvalidValueError,
    StochasticOrder,
    check_eq,
    data_destroyed,
    str_diagnostic,
    validity_hint,
)
from aesara.compile.function.aliasing import Supervisor
from aesara.compile.function.maker import FunctionMaker
from aesara.configdefaults import config
from aesara.graph.basic import Apply
from aesara.graph.features import BadOptimization as FeatureBadOptimization
from aesara.graph.fg import FunctionGraph
from aesara.graph.op import Op
from aesara.graph.rewriting.basic import GraphRewriter, in2out, node_rewriter
from aesara.graph.type import Type
from aesara.ifelse import ifelse
from aesara.ir.expr import const
from aesara.ir.expr import op as primitive
from aesara.lower.arrays import Pointwise
from aesara.lower.dispatch import lower_op
from aesara.tensor.elemwise import Elemwise
from tests.closeness import assert_close

VALUES = np.array([0.5, 1.0, 2.0])


class OneToOne(Op):
    """A vector from a vector; what it does wrong is up to the subclass."""

    __props__ = ()

    def make_node(self, x):
        x = at.as_tensor_variable(x)
        return Apply(self, [x], [x.type()])

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = inputs[0] + 1


def debug(op_or_output, mode=None, value=VALUES):
    """The error of calling the op on a vector in debug mode."""
    x = at.dvector("x")
    out = op_or_output(x)  # the line that makes it
    f = aesara.function([x], out, mode=mode or DebugMode(stability_patience=1))
    with pytest.raises(DebugModeError) as caught:
        f(value)
    return caught.value


def rewriting(rule):
    return DebugMode(optimizer=in2out(rule), stability_patience=1)


# Rewrites


def test_a_wrong_rule_is_named():
    @node_rewriter([at.mul])
    def product_becomes_sum(fgraph, node):
        return [at.add(*node.inputs)]

    error = debug(lambda x: at.exp(x * 3) + 1, rewriting(product_becomes_sum))
    assert isinstance(error, BadOptimization) and isinstance(error, FeatureBadOptimization)
    assert "product_becomes_sum" in str(error.reason)
    assert error.old_r.owner.op == at.mul and error.new_r.owner.op == at.add
    np.testing.assert_array_equal(error.old_r_val, VALUES * 3)
    np.testing.assert_array_equal(error.new_r_val, VALUES + 3)
    text = str(error)
    assert "BadOptimization" in text and "product_becomes_sum" in text and "Max Abs Diff: 2.0" in text
    assert "x * 3" in text.splitlines()[-1]  # the line that makes the node


def test_a_rule_that_makes_what_fails_is_named():
    @node_rewriter([at.add])
    def longer(fgraph, node):
        first, second = node.inputs
        return None if second.owner else [at.add(first, at.concatenate([second, second]))]

    x, y = at.dvectors("x", "y")
    f = aesara.function([x, y], x + y, mode=rewriting(longer))
    with pytest.raises(ValueError, match=r"mismatch(.|\n)*rewrite longer has put .*add.* in the place of .*add"):
        f(VALUES, VALUES)
    g = aesara.function([x, y], x * y, mode=rewriting(longer))
    with pytest.raises(ValueError) as caught:
        g(VALUES, VALUES[:2])  # this fails by itself
    assert "rewrite" not in str(caught.value)


def test_the_first_of_several_rules_is_blamed():
    @node_rewriter([at.mul])
    def wrong(fgraph, node):
        return [at.add(*node.inputs)]

    @node_rewriter([at.add])
    def right(fgraph, node):
        return [at.sub(node.inputs[0], -node.inputs[1])]

    mode = DebugMode(optimizer=None, stability_patience=1).register((in2out(wrong), 1), (in2out(right), 2))
    error = debug(lambda x: x * 3, mode)
    assert "wrong" in str(error.reason)
    f = aesara.function([x := at.dvector()], x + 3, mode=rewriting(right))
    np.testing.assert_array_equal(f(VALUES), VALUES + 3)


def test_a_rule_that_makes_nan():
    @node_rewriter([at.square])
    def by_logarithm(fgraph, node):
        return [at.exp(2 * at.log(node.inputs[0]))]

    f = aesara.function([x := at.dvector("x")], at.square(x).sum(), mode=rewriting(by_logarithm))
    assert f([1.0, 2.0]) == pytest.approx(5.0, rel=1e-12)
    with np.errstate(all="ignore"), pytest.raises(InvalidValueError, match="Non-finite"):
        f([-1.0, 2.0])
    g = aesara.function([x], at.square(x).sum(), mode=rewriting(by_logarithm).clone(check_isfinite=False))
    with np.errstate(all="ignore"), pytest.raises(BadOptimization, match="by_logarithm"):
        g([-1.0, 2.0])


def test_a_rule_that_changes_the_shape():
    @node_rewriter([at.exp])
    def drops_last(fgraph, node):
        return [at.log1p(at.expm1(node.inputs[0]))[:-1]]

    error = debug(at.exp, rewriting(drops_last))
    assert isinstance(error, BadOptimization) and "drops_last" in str(error.reason)


def test_a_shape_that_is_not_so():
    class Lies(OneToOne):
        def infer_shape(self, fgraph, node, input_shapes):
            return [(input_shapes[0][0] + 1,)]

    error = debug(lambda x: Lies()(x).shape[0] * 2)
    assert isinstance(error, BadOptimization)
    assert error.old_r_val == 3 and error.new_r_val == 4


def test_order_by_chance():
    counter = itertools.count()

    @node_rewriter([at.exp])
    def sometimes(fgraph, node):
        return [at.expm1(node.inputs[0]) + 1] if next(counter) % 2 else None

    x = at.dvector("x")
    with pytest.raises(StochasticOrder, match="sometimes"):
        aesara.function([x], at.exp(x), mode=DebugMode(optimizer=in2out(sometimes)))


def test_copies_of_a_graph_are_rewritten_with_the_same_features():
    seen = []

    class Looks(GraphRewriter):
        def apply(self, fgraph):
            protected = [f.protected for f in fgraph._features if isinstance(f, Supervisor)]
            assert all(one in fgraph.inputs for variables in protected for one in variables)
            seen.append((Counter(map(type, fgraph._features)), list(map(len, protected))))

    x, y = at.dvectors("x", "y")
    aesara.function([x, aesara.In(y, mutable=True)], x + y, mode=DebugMode(optimizer=Looks(), stability_patience=3))
    first, *others = seen
    assert len(others) == 2 and others == [first] * 2 and first[0][Supervisor] == 1 and first[1] == [1]


# What operations promise


def test_an_undeclared_view():
    class View(OneToOne):
        def perform(self, node, inputs, output_storage):
            output_storage[0][0] = inputs[0][::-1]

    error = debug(View())
    assert isinstance(error, BadViewMap)
    assert error.in_alias_idx == [0] and error.output_idx == 0
    assert "aliased to inputs: [0]" in str(error) and "the line that makes it" in str(error)

    class Declared(View):
        view_map = {0: [0]}

    f = aesara.function([x := at.dvector()], Declared()(x), mode="DebugMode")
    np.testing.assert_array_equal(f(VALUES), VALUES[::-1])


def test_outputs_that_share_memory():
    class Twice(OneToOne):
        def make_node(self, x):
            return Apply(self, [x], [x.type(), x.type()])

        def perform(self, node, inputs, output_storage):
            output_storage[0][0] = output_storage[1][0] = inputs[0] + 1

    error = debug(lambda x: sum(Twice()(x)))
    assert isinstance(error, BadViewMap) and error.out_alias_idx == [0] and error.output_idx == 1
    assert "aliased to outputs: [0]" in str(error)

    # Nothing can be written over them where they go to the caller, or where there is no other.
    x = at.dvector("x")
    both = aesara.function([x], Twice()(x), mode="DebugMode")(VALUES)
    np.testing.assert_array_equal(both, [VALUES + 1, VALUES + 1])
    np.testing.assert_array_equal(aesara.function([x], Twice()(x)[1] * 2, mode="DebugMode")(VALUES), 2 * VALUES + 2)
    # A state lives on, and what an operation reads, it could overwrite while the caller has the other.
    one, other = Twice()(x)
    s, t = aesara.shared(VALUES, "s"), aesara.shared(VALUES, "t")
    for outputs, updates in (([one, other * 2], {}), ([], {s: one, t: other}), ([one], {s: other})):
        f = aesara.function([x], outputs, updates=updates, mode="DebugMode")
        with pytest.raises(BadViewMap, match="aliased to outputs"):
            f(VALUES)


def test_an_undeclared_overwrite():
    class Destroys(OneToOne):
        def perform(self, node, inputs, output_storage):
            inputs[0] += 1
            output_storage[0][0] = inputs[0] * 2

    error = debug(Destroys())
    assert isinstance(error, BadDestroyMap) and error.idx == 0
    np.testing.assert_array_equal(error.old_val, VALUES)
    np.testing.assert_array_equal(error.new_val, VALUES + 1)
    assert "changed input idx: 0" in str(error) and "the line that makes it" in str(error)


class Keeps(OneToOne):
    """Writes each result over the one before."""

    def perform(self, node, inputs, output_storage):
        kept = getattr(node.tag, "kept", None)
        if kept is None:
            kept = node.tag.kept = np.empty_like(inputs[0])
        np.multiply(inputs[0], 2, out=kept)
        output_storage[0][0] = kept


def test_a_result_that_changes_later():
    x = at.dvector("x")
    f = aesara.function([x], Keeps()(x), mode=DebugMode(stability_patience=1))
    np.testing.assert_array_equal(f(VALUES), 2 * VALUES)
    with pytest.raises(BadThunkOutput, match="the same result after the next call") as caught:
        f(VALUES + 1)
    np.testing.assert_array_equal(caught.value.val1, 2 * VALUES)


class Counts(OneToOne):
    """Gives another result each time."""

    calls = itertools.count()

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = inputs[0] + next(self.calls)


def test_results_that_do_not_repeat():
    error = debug(Counts())
    assert isinstance(error, BadThunkOutput) and error.offending_op() is Counts


def test_a_declared_overwrite():
    class InPlace(OneToOne):
        destroy_map = {0: [0]}

        def perform(self, node, inputs, output_storage):
            inputs[0] += 1
            output_storage[0][0] = inputs[0]

    x = at.dvector("x")
    f = aesara.function([x], InPlace()(at.exp(x)), mode=DebugMode(stability_patience=1), accept_inplace=True)
    assert_close(f(VALUES), np.exp(VALUES) + 1)


@pytest.mark.parametrize("position", [0, 1])
@pytest.mark.parametrize("declared", [{"view_map": {0: [0]}}, {"view_map": {1: [0]}}, {"destroy_map": {0: [0]}}])
def test_one_of_two_results_may_be_the_input(declared, position):
    class Two(OneToOne):
        def make_node(self, x):
            return Apply(self, [x], [x.type(), x.type()])

        def perform(self, node, inputs, output_storage):
            (place,) = next(iter(declared.values()))
            output_storage[1 - place][0] = inputs[0] * 3
            output_storage[place][0] = inputs[0]

    op = type("Two", (Two,), declared)()
    x = at.dvector("x")
    f = aesara.function([x], op(at.exp(x)), mode=DebugMode(stability_patience=1), accept_inplace=True)
    one, other = f(VALUES)
    (place,) = next(iter(declared.values()))
    assert_close((one, other)[place], np.exp(VALUES))
    assert_close((one, other)[1 - place], 3 * np.exp(VALUES))


@pytest.mark.parametrize(
    ("result", "hint"),
    [
        (lambda x: x.astype("float32"), "float32"),
        (lambda x: x[:, None] + 1, "dimensions"),
        (lambda x: list(x), "list"),
    ],
)
def test_a_value_that_is_not_of_its_type(result, hint):
    class Wrong(OneToOne):
        def perform(self, node, inputs, output_storage):
            output_storage[0][0] = result(inputs[0])

    error = debug(Wrong())
    assert isinstance(error, InvalidValueError)
    assert hint in error.specific_hint and hint in str(error)
    assert "the line that makes it" in str(error)


def test_a_static_shape_that_is_not_so():
    class Static(OneToOne):
        def make_node(self, x):
            return Apply(self, [x], [at.TensorType("float64", (4,))()])

    error = debug(Static())
    assert isinstance(error, InvalidValueError) and "(4,)" in error.specific_hint


@pytest.mark.parametrize(
    ("layout", "condition"),
    [
        ("initial", lambda out, x: True),
        ("previous", lambda out, x: True),
        ("c_contiguous", lambda out, x: out.flags.c_contiguous),
        ("f_contiguous", lambda out, x: out.flags.f_contiguous),
        ("strided", lambda out, x: not (out.flags.c_contiguous or out.flags.f_contiguous)),
        ("wrong_size", lambda out, x: out.shape != x.shape),
    ],
)
def test_memory_for_outputs(layout, condition):
    class Accumulates(OneToOne):
        """Adds to what it finds instead of writing it."""

        def perform(self, node, inputs, output_storage):
            out, x = output_storage[0][0], inputs[0]
            if out is None or not condition(out, x):
                out = np.zeros_like(x)
            out = out[tuple(map(slice, x.shape))]
            out += x
            output_storage[0][0] = out

    x = at.dmatrix("x")
    values = np.outer(VALUES, [1.0, -1.0])
    f = aesara.function([x], Accumulates()(x), mode=DebugMode(stability_patience=1))
    f(values)
    g = aesara.function([x], Accumulates()(x), mode=DebugMode(stability_patience=1, check_preallocated_output=[layout]))
    if layout == "previous":
        g(values)
    with pytest.raises(BadThunkOutput, match=f"in memory: {layout}"):
        g(values)
    with config.change_flags(DebugMode__check_preallocated_output="ALL"):
        h = aesara.function([x], at.exp(x).sum() + OneToOne()(x)[::2], mode=DebugMode(stability_patience=1))
    assert_close(h(values), np.exp(values).sum() + values[::2] + 1)


@pytest.mark.parametrize("most", [1, 2])
@pytest.mark.parametrize("wrong", [(1, 0), (0, 1), (1, 1)])
def test_strided_memory_for_outputs_of_few_dimensions(most, wrong):
    """Each output is offered such memory for itself: those of more dimensions than an option says get none."""

    class Accumulates(OneToOne):
        """Adds to what it finds in the outputs that are done wrong."""

        def make_node(self, x):
            return Apply(self, [x], [at.dvector(), at.dmatrix()])

        def perform(self, node, inputs, output_storage):
            for cell, value, adds in zip(output_storage, (inputs[0], np.outer(inputs[0], inputs[0])), wrong):
                cell[0] = value + cell[0] if adds and cell[0] is not None else value.copy()

    x = at.dvector("x")
    mode = DebugMode(stability_patience=1, check_preallocated_output=["strided"])
    f = aesara.function([x], Accumulates()(x), mode=mode)
    with config.change_flags(DebugMode__check_preallocated_output_ndim=most):
        noticed = [ndim for ndim, adds in zip((1, 2), wrong) if adds and ndim <= most]
        if not noticed:
            assert_close(f(VALUES)[1], np.outer(VALUES, VALUES))
            return
        with pytest.raises(BadThunkOutput, match="in memory: strided") as caught:
            f(VALUES)
    assert caught.value.r.type.ndim == noticed[0]


def test_memory_is_for_arrays_only():
    x = at.dvector("x")
    outputs = [typed_list.make_list([x, x + 1]), ifelse(x.sum() > 0, x, -x), sparse.csr_from_dense(x)]
    f = aesara.function([x], outputs, mode=DebugMode(stability_patience=1, check_preallocated_output="ALL"))
    for sign in (1, -1):
        made, chosen, matrix = f(sign * VALUES)
        np.testing.assert_array_equal(made, [sign * VALUES, sign * VALUES + 1])
        np.testing.assert_array_equal(chosen, VALUES)
        np.testing.assert_array_equal(matrix.toarray(), [sign * VALUES])


def test_outputs_that_lie_between_one_another_do_not_share_memory():
    x = at.dmatrix("x")
    f = aesara.function([x], at.nonzero(x), mode=DebugMode(stability_patience=1))
    for got, expected in zip(f(np.eye(3)), np.nonzero(np.eye(3))):
        np.testing.assert_array_equal(got, expected)


# Native code


class AddsOne(OneToOne):
    """Its native code forgets to add."""


@lower_op.register
def _adds_one(op: AddsOne, node, context):
    return [context.array(node.inputs[0])]


def test_wrong_native_code():
    error = debug(lambda x: at.exp(AddsOne()(x) * 2))
    assert isinstance(error, BadThunkOutput)
    assert isinstance(error.r.owner.op, AddsOne) and error.offending_op() is AddsOne
    assert_close(error.val1, VALUES + 1)
    assert_close(error.val2, VALUES)
    assert "native code" in str(error) and "perform" in str(error)
    x = at.dvector("x")
    f = aesara.function([x], AddsOne()(x), mode=DebugMode(stability_patience=1, check_c_code=False))
    assert_close(f(VALUES), VALUES + 1)


class AddsOneToMost(AddsOne):
    """Its native code forgets to add to numbers of one dtype, and wherever there is only one."""


@lower_op.register
def _adds_one_to_most(op: AddsOneToMost, node, context):
    array = context.array(node.inputs[0])
    one = const(0.0 if array.dtype == "float32" else 1.0, array.dtype)

    def body(index, readers):
        single = primitive("eq", array.shape[0], const(1))
        return primitive("add", readers[0](index), primitive("select", single, const(0.0, array.dtype), one))

    return [Pointwise(array.dtype, array.shape, (array,), body)]


@pytest.mark.parametrize("dtype, length, right", [("float64", 3, True), ("float32", 3, False), ("float64", 1, False)])
def test_native_code_that_is_wrong_now_and_then(dtype, length, right):
    x = at.vector("x", dtype=dtype)
    f = aesara.function([x], AddsOneToMost()(x) * 2, mode=DebugMode(stability_patience=1))
    values = np.ones(length, dtype)
    if right:
        np.testing.assert_array_equal(f(values), values * 4)
        return
    with pytest.raises(BadThunkOutput, match="native code") as caught:
        f(values)
    assert isinstance(caught.value.r.owner.op, AddsOneToMost) and len(str(caught.value).splitlines()) <= 15


def test_wrong_native_code_in_a_loop():
    x = at.dvector("x")
    states, _ = aesara.scan(lambda a: AddsOne()(a) * 0.5, outputs_info=x, n_steps=3)
    f = aesara.function([x], states, mode=DebugMode(stability_patience=1))
    with pytest.raises(BadThunkOutput) as caught:
        f(VALUES)
    assert isinstance(caught.value.r.owner.op, AddsOne)
    g = aesara.function([x], states, mode=DebugMode(stability_patience=1, check_c_code=False))
    expected = [VALUES]
    for _ in range(3):
        expected.append((expected[-1] + 1) * 0.5)
    assert_close(g(VALUES), expected[1:])


def test_an_undeclared_overwrite_in_a_graph_inside():
    class Destroys(OneToOne):
        def perform(self, node, inputs, output_storage):
            inputs[0] += 1
            output_storage[0][0] = inputs[0] * 2

    x = at.dvector("x")
    inner = OpFromGraph([x], [Destroys()(x * 2)])
    error = debug(lambda x: inner(x) + 1)
    assert isinstance(error, BadDestroyMap) and "Destroys" in str(error)


class _Replaced:
    """Native code with other results."""

    def __init__(self, native, change):
        self.native = native
        self.change = change

    def careful(self, values):
        return self.change(values, self.native.careful(values))


def _fail(values, results):
    raise ValueError("a check in front of a loop")


def _overwrite(values, results):
    values[0][0] = 7
    return results


@pytest.mark.parametrize(
    ("change", "error", "text"),
    [
        (lambda values, results: [results[0] + 1], BadThunkOutput, "each node alone is right"),
        (lambda values, results: [results[0].astype("float32")], BadThunkOutput, "float32"),
        (_fail, DebugModeError, "fails where the reference computes a value: ValueError: a check in front"),
        (_overwrite, DebugModeError, "has overwritten an argument"),
        (lambda values, results: [values[0]], DebugModeError, "returns memory of an argument"),
    ],
)
def test_native_code_of_whole_functions(change, error, text):
    x = at.dvector("x")
    f = aesara.function([x], at.exp(x) * 2, mode=DebugMode(stability_patience=1))
    f(VALUES)
    f.vm.native.native = _Replaced(f.vm.native.native, change)
    with pytest.raises(error, match=text):
        f(VALUES)


def test_strides(caplog):
    x = at.dmatrix("x")
    value = np.ones((2, 3))
    with caplog.at_level(logging.WARNING, logger="aesara"):
        aesara.function([x], at.exp(x).T, mode=DebugMode(stability_patience=1))(value)
        assert caplog.text == ""
        aesara.function([x], at.exp(x).T, mode=DebugMode(stability_patience=1, require_matching_strides=1))(value)
        assert "strides" in caplog.text
    f = aesara.function([x], at.exp(x).T, mode=DebugMode(stability_patience=1, require_matching_strides=2))
    with pytest.raises(BadThunkOutput):
        f(value)


# Values


def test_values_that_are_not_finite():
    x = at.dvector("x")
    f = aesara.function([x], at.log(x), mode="DebugMode")
    with np.errstate(all="ignore"), pytest.raises(InvalidValueError, match="perform output"):
        f([-1.0])
    with pytest.raises(InvalidValueError, match="Graph Input 'x' has invalid value"):
        f([np.nan])
    g = aesara.function([x], at.log(x), mode=DebugMode(check_isfinite=False))
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(g([-1.0, 0.0]), [np.nan, -np.inf])


def test_rules_may_remove_infinity():
    x = at.dvector("x")
    f = aesara.function([x], at.log(1 + at.exp(x)), mode=DebugMode(stability_patience=1))
    with np.errstate(all="ignore"):
        assert_close(f([1000.0, 0.0]), [1000.0, np.log(2)])


# What is right is left alone


@pytest.mark.slow
def test_ordinary_functions():
    rng = np.random.default_rng(0)
    x, y, w = at.dmatrix("x"), at.dvector("y"), aesara.shared(rng.normal(size=3), name="w")
    p = at.sigmoid(x @ w)
    loss = -(y * at.log(p) + (1 - y) * at.log1p(-p)).mean()
    states, _ = aesara.scan(lambda a: at.tanh(a * w), outputs_info=w, n_steps=4)
    outputs = [loss, states, x[:, ::-1], ifelse(loss > 0, at.exp(y), y), at.argmax(x, axis=1), x.T @ x]

    def compiled(mode):
        return aesara.function([x, y], outputs, updates={w: w - 0.1 * aesara.grad(loss, w)}, mode=mode)

    first, second = compiled("FAST_RUN"), compiled("DebugMode")
    start, features, labels = w.get_value(), rng.normal(size=(20, 3)), rng.integers(0, 2, 20).astype(float)
    expected, updated = first(features, labels), w.get_value()
    w.set_value(start)
    for one, other in zip(second(features, labels), expected):
        np.testing.assert_allclose(one, other, rtol=1e-9)
    np.testing.assert_allclose(w.get_value(), updated, rtol=1e-9)
    second(features, labels)


def test_a_failed_call_changes_nothing():
    s = aesara.shared(VALUES, name="s")
    f = aesara.function([], AddsOne()(s), updates={s: s + 1}, mode=DebugMode(stability_patience=1))
    with pytest.raises(BadThunkOutput):
        f()
    np.testing.assert_array_equal(s.get_value(), VALUES)


def test_arguments_and_results_are_not_touched():
    x = at.dvector("x")
    f = aesara.function([x], [x, x[:2], at.exp(x)], mode="DebugMode")
    value = VALUES.copy()
    first = f(value)
    first[0][:] = 7
    np.testing.assert_array_equal(value, VALUES)
    second = f(value)
    np.testing.assert_array_equal(second[1], VALUES[:2])
    assert_close(second[2], np.exp(VALUES))


def test_only_the_branch_that_is_taken_may_fail():
    x, i = at.dvector("x"), at.lscalar("i")
    f = aesara.function([x, i], ifelse(i < 3, x[i], x.sum()), mode=DebugMode(stability_patience=1))
    assert f(VALUES, 1) == 1.0
    assert f(VALUES, 5) == 3.5
    with pytest.raises(IndexError, match="Apply node that caused the error"):
        f(VALUES, -7)


def test_graphs_without_nodes_and_with_constants():
    x = at.dvector("x")
    f = aesara.function([x], [x, at.constant(2.0), at.exp(at.constant(0.0))], mode="DebugMode")
    first, two, one = f(VALUES)
    np.testing.assert_array_equal(first, VALUES)
    assert (two, one) == (2.0, 1.0)
    assert aesara.function([], [], mode="DebugMode")() == []


# The mode


def test_names():
    x = at.dvector("x")
    for name in ("DebugMode", "DEBUG_MODE"):
        f = aesara.function([x], at.exp(x), mode=name)
        assert isinstance(f.maker.mode, DebugMode)
        with config.change_flags(mode=name):
            assert isinstance(aesara.function([x], at.exp(x)).maker.mode, DebugMode)
    assert DebugMode().function_maker is FunctionMaker


def test_parameters():
    for kwargs, error, text in (
        ({"check_c_code": False, "check_py_code": False}, ValueError, "at least one of c and py"),
        ({"linker": "py"}, TypeError, "its own linker"),
        ({"check_preallocated_output": ["diagonal"]}, ValueError, "Unknown layout 'diagonal'"),
    ):
        with pytest.raises(error, match=text):
            DebugMode(**kwargs)
    assert DebugMode(check_preallocated_output="ALL").check_preallocated_output[0] == "initial"
    with config.change_flags(DebugMode__patience=3, DebugMode__check_finite=False, DebugMode__check_strides=1):
        mode = DebugMode()
        assert (mode.stability_patience, mode.check_isfinite, mode.require_matching_strides) == (3, False, 1)


def test_copies():
    mode = DebugMode(stability_patience=2, check_c_code=False)
    for other in (mode.excluding("inplace"), mode.clone(), pickle.loads(pickle.dumps(mode))):
        assert isinstance(other, DebugMode)
        assert other.stability_patience == 2 and not other.check_c_code
    x = at.dvector("x")
    f = aesara.function([x], at.exp(x), mode=mode)
    for g in (f.copy(), pickle.loads(pickle.dumps(f))):
        assert_close(g(VALUES), np.exp(VALUES))


# Helpers


def test_check_eq():
    x, i = at.dvector("x"), at.lvector("i")
    assert check_eq(x, VALUES, VALUES * (1 + 1e-9)) and not check_eq(x, VALUES, VALUES + 1e-3)
    assert check_eq(x, VALUES * np.nan, VALUES * np.nan) and not check_eq(x, VALUES, VALUES[:2])
    assert not check_eq(x, VALUES, VALUES.astype("float32"))
    assert check_eq(i, np.arange(3), np.arange(3)) and not check_eq(i, np.arange(3), np.arange(3) + 1)
    x.tag.values_eq_approx = lambda a, b: True
    assert check_eq(x, VALUES, VALUES + 1)
    with config.change_flags(tensor__cmp_sloppy=1):
        assert check_eq(at.dscalar(), np.array(1.0), np.array(1.0005))


@pytest.mark.parametrize(
    "before, after, may",
    [
        ([1.0, 2.0], [1.0, 2.0], True), ([1.0, 2.0], [1.0, 2.5], False), ([1.0, 2.0], [1.0, np.nan], False),
        ([np.nan, 2.0], [1.0, 2.0], True), ([np.inf, 2.0], [np.nan, 2.0], True), ([np.nan, 2.0], [1.0, 2.5], False),
        ([np.nan, 2.0], [2.0], False), ([np.nan], [2.0, 2.0], False), ([np.nan, 2.0], [[1.0, 2.0]], False),
        ([np.nan, 2.0], np.array([1.0, 2.0], "float32"), False), ([np.nan, 2.0], None, False),
    ],
)  # fmt: skip
def test_where_values_were_not_finite_others_may_stand(before, after, may):
    given = np.array(before), after if after is None else np.asarray(after)
    assert may_replace(at.dvector("x"), *given) is may


class Incomparable(Type):
    """A type that cannot tell whether two values are the same."""

    def filter(self, value, strict=False, allow_downcast=None):
        return value

    @classmethod
    def values_eq(cls, one, other):
        raise TypeError("These cannot be compared.")

    @classmethod
    def values_eq_approx(cls, one, other):
        return True

    def __eq__(self, other):
        return type(self) is type(other)

    def __hash__(self):
        return hash(type(self))


class Wrapped(Op):
    __props__ = ("inward",)

    def __init__(self, inward):
        self.inward = inward

    def make_node(self, x):
        return Apply(self, [x], [Incomparable()() if self.inward else at.dvector()])

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = (inputs[0].copy(),) if self.inward else inputs[0][0].copy()


def test_values_that_cannot_be_compared_are_not_found_fault_with():
    x = at.dvector("x")
    f = aesara.function([x], Wrapped(False)(Wrapped(True)(x)), mode="DebugMode")
    for _ in range(2):
        np.testing.assert_array_equal(f(VALUES), VALUES)


def test_differences_are_in_proportion_to_sizes_of_negative_values_too():
    error = BadThunkOutput(at.dvector("x"), "perform", np.array([-4.0, -2.0]), "c", np.array([-4.0, -1.0]))
    assert "Max Abs Diff: 1.0  Max Rel Diff: 0.5 " in str(error)


def test_str_diagnostic():
    text = str_diagnostic(np.array([0.0, 1.0]), np.array([0.0, 1.5]), 1e-3, 1e-4)
    assert "Max Abs Diff:  0.5" in text and "rtol, atol: 0.001 0.0001" in text
    assert "(2,) float64 (8,) 0.0 1.0 0 0" in text
    assert "rtol, atol: 1e-05 1e-08" in str_diagnostic(np.ones(2), np.ones(3), None, None)
    assert "no array" in str_diagnostic(np.ones(2), None, None, None)
    assert "Max" not in str_diagnostic(np.ones(0), np.ones(0), None, None)
    # Differences are in proportion to what was expected.
    numbers = str_diagnostic(np.array([2.0, -4.0]), np.array([2.0, -5.0]), None, None)
    assert "Max Abs Diff:  1.0" in numbers and "Max Rel Diff:  0.25" in numbers and "Mean Rel Diff:  0.125" in numbers


@pytest.mark.parametrize(
    ("expected", "value", "facts", "differences"),
    [
        (np.array([2.0, -4.0, np.inf]), np.array([2.0, -5.0, np.nan]),
         ("(3,) float64 (8,) -4.0 inf 1 0", "(3,) float64 (8,) nan nan 0 1"), ["nan"] * 8),
        (np.array([True, False]), np.array([[1, 2]], "int8"),
         ("(2,) bool (1,) False True", "(1, 2) int8 (2, 1) 1 2"),
         ["2.0", "1.0", "1.0", "1.0", "inf", "inf", "inf", "nan"]),
        (np.ones(0, "float32"), np.ones((0, 2), "complex64"),
         ("(0,) float32 (0,) 0 0", "(0, 2) complex64 (0, 0) 0 0"), []),
        (np.array([1j]), np.array([3j]), ("(1,) complex128 (16,) 0 0",) * 2,
         ["2.0"] * 3 + ["0.0"] + ["2.0"] * 3 + ["0.0"]),
        (np.array([2.0, -4.0]), np.array([1.0, -9.0]),
         ("(2,) float64 (8,) -4.0 2.0 0 0", "(2,) float64 (8,) -9.0 1.0 0 0"),
         ["5.0", "3.0", "3.0", "2.0", "1.25", "0.875", "0.875", "0.375"]),
    ],
)  # fmt: skip
def test_all_that_is_said_of_two_values(expected, value, facts, differences):
    names = [f"{kind} {name} Diff" for name in ("Abs", "Rel") for kind in ("Max", "Mean", "Median", "Std")]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        text = str_diagnostic(expected, value, None, 0.5)
    assert text.splitlines() == [
        "           : shape, dtype, strides, min, max, n_inf, n_nan:",
        f"  Expected : {facts[0]}", f"  Value    : {facts[1]}",
        f"  expected    : {expected}", f"  value       : {value}",
        *(f"  {name}:  {number}" for name, number in zip(names, differences)), "  rtol, atol: 1e-05 0.5",
    ]  # fmt: skip
    assert str_diagnostic(expected, value, 0.25, None).splitlines()[-1].startswith("  rtol, atol: 0.25 1e-0")


@pytest.mark.parametrize(
    ("value", "short", "long"),
    [
        (np.array([1.0, np.inf]), ["isfinite       = False"],
         ["min(value)     = 1.0", "max(value)     = inf", "isfinite       = False"]),
        (np.array([3, 1], "int8"), [], ["min(value)     = 1", "max(value)     = 3", "isfinite       = True"]),
        (np.array([1j]), ["isfinite       = True"], ["isfinite       = True"]),
        (np.ones(0), ["isfinite       = True"], []), (np.float64(2.0), [], []), ("text", [], []),
    ],
)  # fmt: skip
def test_all_that_is_said_of_an_invalid_value(value, short, long):
    x = at.dvector("x")
    for client in (None, (x + x).owner):
        error = InvalidValueError(x, value, client_node=client, hint="h", specific_hint="s")
        head = ["InvalidValueError", f"  type(variable) = {x.type}", "  variable       = x"]
        head += [f"  type(value)    = {type(value)}"]
        dtype, shape = getattr(value, "dtype", None), getattr(value, "shape", None)
        facts = [] if dtype is None else [f"  dtype(value)   = {dtype}, shape(value) = {shape}"]
        reader = [] if client is None else [f"  client_node    = {client}"]
        hints = ["  hint           = h", "  specific_hint  = s"]
        more = ["Hint: set config.exception_verbosity to 'high' to see more."]
        shown, short_lines, long_lines = (
            [f"  value          = {value}"], [f"  {line}" for line in short], [f"  {line}" for line in long]
        )  # fmt: skip
        assert str(error).splitlines() == head + facts + shown + short_lines + reader + hints + more
        facts = [f"  dtype(value)   = {dtype}", f"  shape(value)   = {shape}"]
        reader = [f"  client_node    = {client}"]
        context = ["  context        = ...", "x [id A]"]
        assert error_text(error).splitlines() == head + facts + shown + long_lines + reader + hints + context


def test_the_long_text_about_two_values_of_an_input():
    error = BadThunkOutput(at.dvector("x"), "one", np.ones(2), "two", np.zeros(2), (np.ones(2),))
    lines = error.str_diagnostic().splitlines()
    assert lines[:3] == ["BadThunkOutput", "  Apply   : None", "  op      : None"]
    assert not any(line.startswith("  Inputs Type") for line in lines)
    assert lines[9:] == str_diagnostic(np.ones(2), np.zeros(2), None, None).splitlines()


def test_the_long_text_about_two_values():
    x, n = at.dmatrix("x"), at.lscalar("n")
    result = aesara.tensor.basic.alloc(x, n, n)
    values = np.ones((2, 2)), np.zeros((2, 2))
    text = BadThunkOutput(result, "one", values[0], "two", values[1], (values[0], np.array(2))).str_diagnostic()
    for line in (
        f"  op      : {type(result.owner.op)}",
        f"  Outputs Type: {result.type}",
        f"  Inputs Type : {[v.type for v in result.owner.inputs]}",
        "  Inputs Shape: [(2, 2), ()]",
        "  Inputs Strides: [(16, 8), ()]",
        "  thunk1  : one",
        "  thunk2  : two",
    ):
        assert line in text.splitlines(), line


def test_validity_hint():
    assert validity_hint(at.dvector, VALUES) == "none"
    assert "float32" in validity_hint(at.dvector, VALUES.astype("float32"))


def error_text(error):
    with config.change_flags(exception_verbosity="high"):
        return str(error)


def test_errors_can_be_made_by_hand():
    x = at.dvector("x")
    y = at.exp(x)
    assert isinstance(y.owner.op, Elemwise)
    for error, words in (
        (BadThunkOutput(y, "one", VALUES, "two", VALUES + 1, (VALUES,)), ["thunk1  : one", "thunk2  : two"]),
        (BadOptimization(y, y + 1, VALUES, VALUES + 1, "a reason", "old text", "new text"), ["a reason", "old text"]),
        (BadDestroyMap(y.owner, 0, VALUES, VALUES + 1, "perform"), ["changed input idx: 0"]),
        (BadViewMap(y.owner, 0, [VALUES], [0]), ["aliased to inputs: [0]"]),
        (InvalidValueError(y, VALUES, None, "a hint", "another"), ["a hint", "another"]),
        (InvalidValueError(x), ["value          = None"]),
    ):
        assert isinstance(error, DebugModeError)
        for word in (type(error).__name__, *words):
            assert word in error_text(error), word
        for other in (copy.copy(error), pickle.loads(pickle.dumps(error))):
            assert type(other) is type(error) and error_text(other) == error_text(error)
    assert repr(data_destroyed) == "data_destroyed"


# -- operations that are wrong in ways that one look does not show


class Planted(Op):
    """What these operations do wrong is in their `perform`."""

    __props__ = ()

    def make_node(self, *inputs):
        inputs = [at.as_tensor_variable(one) for one in inputs]
        return Apply(self, inputs, [inputs[0].type()])


def planted(perform, **attributes):
    return type("Planted", (Planted,), {"perform": perform, **attributes})()


def _counts(self, node, inputs, outputs):
    outputs[0][0] = inputs[0] + next(COUNTER)


def _keeps_an_input(self, node, inputs, outputs):
    KEPT.setdefault(self, inputs[0])
    outputs[0][0] = KEPT[self] * 2


def _forgets_signs_of_strides(self, node, inputs, outputs):
    outputs[0][0] = inputs[0] * (2 if all(stride >= 0 for stride in inputs[0].strides) else 3)


def _fails_without_elements(self, node, inputs, outputs):
    outputs[0][0] = inputs[0] - inputs[0].max()


def _writes_into_a_constant(self, node, inputs, outputs):
    inputs[1][...] = 7
    outputs[0][0] = inputs[0] + inputs[1].sum()


def _returns_the_other_input(self, node, inputs, outputs):
    outputs[0][0] = inputs[1]


def _writes_over_the_other_input(self, node, inputs, outputs):
    inputs[1][...] += 1
    outputs[0][0] = inputs[0] + 1


def _is_narrower(self, node, inputs, outputs):
    outputs[0][0] = inputs[0].astype("float32")


def _says_nothing(self, node, inputs, outputs):
    pass


def _one_more(self, fgraph, node, shapes):
    return [(shapes[0][0] + 1,)]


def _doubles(self, node, inputs, outputs):
    outputs[0][0] = inputs[0] * 2


COUNTER, KEPT = itertools.count(), {}
ANOTHER = at.constant(np.ones(3))
FAULTS = {
    "counts": (planted(_counts), (), BadThunkOutput, "a second time"),
    "keeps an input": (planted(_keeps_an_input), (), BadThunkOutput, "a second time"),
    "negative strides": (planted(_forgets_signs_of_strides), (), BadThunkOutput, "not contiguous"),
    "empty": (planted(_fails_without_elements), (), ValueError, "zero-size"),
    "constant": (planted(_writes_into_a_constant), (ANOTHER,), BadDestroyMap, "changed input idx: 1"),
    "view of another": (
        planted(_returns_the_other_input, view_map={0: [0]}), (ANOTHER * 2,), BadViewMap, "aliased to inputs: [1]",
    ),
    "overwrites another": (
        planted(_writes_over_the_other_input, destroy_map={0: [0]}), (ANOTHER * 2,), BadDestroyMap, "input idx: 1",
    ),
    "dtype": (planted(_is_narrower), (), InvalidValueError, "float32"),
    "nothing": (planted(_says_nothing), (), ValueError, "Planted"),
    "shape": (planted(_doubles, infer_shape=_one_more), (), BadOptimization, "local_shape"),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_planted_faults(name):
    op, others, error, text = FAULTS[name]
    x = at.dvector("x")
    result = op(x * 1.5, *others)
    outputs = [result + 0, result.shape[0]] if name == "shape" else result + 0
    f = aesara.function([x], outputs, mode="DebugMode", accept_inplace=True)
    with pytest.raises(error) as caught:
        for value in (np.zeros(0),) if name == "empty" else (np.ones(3), np.ones(3) * 2):
            f(value)
    assert text in str(caught.value) and len(str(caught.value).splitlines()) <= 15
    assert "test_debugmode.py" in str(caught.value)


@pytest.mark.parametrize("shape", [(), (0,), (1,), (3,), (2, 3), (2, 0, 3)])
def test_copies_with_other_strides(shape):
    value = np.arange(np.prod(shape, dtype=int), dtype="float32").reshape(shape)
    other = strided_copy(value)
    assert type(other) is np.ndarray and other.dtype == value.dtype
    np.testing.assert_array_equal(other, value)
    assert not np.shares_memory(other, value)
    if value.size > 1:
        assert not other.flags.c_contiguous and all(stride < 0 for stride in other.strides)


def test_what_is_no_array_is_copied():
    value = [1, 2]
    assert strided_copy(value) == value and strided_copy(value) is not value


def test_the_order_is_that_of_the_targets():
    x = at.dvector("x")
    targets = [at.sin(at.exp(x)), at.cos(x), at.tan(at.exp(x))]
    names = [str(node.op.scalar_op) for node in order_of(targets, set())]
    assert names == ["exp", "sin", "cos", "exp", "tan"]
    assert list(order_of([x], set())) == []


def test_a_linker_has_one_graph():
    """Who takes another one gets another linker."""
    linker = DebugMode().linker
    x = at.dvector("x")
    graphs = [FunctionGraph([x], [at.exp(x)], clone=True) for _ in range(2)]
    first = linker.accept(graphs[0])
    assert first.fgraph is graphs[0] and first.accept(graphs[0]) is first
    second = first.accept(graphs[1])
    assert second is not first and (first.fgraph, second.fgraph) == tuple(graphs)
