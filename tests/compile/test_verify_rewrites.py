"""Wrong rewrites are found while a graph is rewritten, and shrunk to the smallest expression that shows them."""

import io
from contextlib import redirect_stdout

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.compile.debugmode import BadOptimization, DebugMode
from aesara.compile.program_text import ProgramText, array_text
from aesara.compile.verify import WrongRewrite, draw_value, verify_rewrites
from aesara.graph.rewriting.basic import graph_rewriter, in2out, node_rewriter, rule
from aesara.graph.rewriting.databases import canonicalize
from aesara.graph.traversal import io_toposort
from aesara.scan.rewriting import RewriteSteps

x, y = at.dvectors("x", "y")
m = at.dmatrix("m")


def with_rule(rewriter, position=0.55):
    return aesara.Mode("py", "fast_run").register((in2out(rewriter, ignore_newtrees=True), position))


def wrong(outputs, rewriter, values=None, **options):
    with pytest.raises(WrongRewrite) as caught:
        verify_rewrites(outputs, values, mode=with_rule(rewriter), **options)
    error = caught.value
    assert f"Reason: {error.rule}" in str(error) and error.rule == rewriter.name
    assert __file__ in str(error)  # the line of what was replaced
    if error.case is None:
        assert error.program is None and "smallest expression" not in str(error)
    else:
        assert error.program == error.case.program() and error.program in str(error)
    return error


def nodes_of(case):
    return [str(node.op) for node in io_toposort(list(case.values), [case.before])]


def shown(case):
    """What the program of a case prints."""
    stream = io.StringIO()
    with redirect_stdout(stream):
        exec(case.program(), {})
    return stream.getvalue().splitlines()


# A large expression around, and another below, that have nothing to do with what is wrong.
def dressed(core, argument):
    below = at.sin(argument) * 2 + at.exp(argument / 7).sum()
    return at.tanh(core(below)) + at.square(argument).sum() * at.cosh(below / 50)


def test_a_wrong_value():
    bad = rule("cos_is_sin", (at.cos, "x"), (at.sin, "x"))
    error = wrong(dressed(at.cos, x), bad)
    assert error.what == "its values differ" and nodes_of(error.case) == ["Elemwise{cos,no_inplace}"]
    (value,) = error.case.values.values()
    assert value.shape == (1,)
    first, second = shown(error.case)
    assert first != second and first.startswith("float64 (1,) [")


def test_wrong_in_its_surroundings_only():
    """What the rewrite does by itself is right, so that no smaller expression shows it."""

    @node_rewriter([at.cos])
    def looks_around(fgraph, node):
        """A cosine is a sine wherever there is a hyperbolic tangent as well."""
        if any(other.op == at.tanh for other in fgraph.apply_nodes):
            return [at.sin(node.inputs[0])]

    error = wrong([at.cos(x), at.tanh(y)], looks_around)
    assert error.case is None and error.what == "its values differ"
    assert wrong(at.tanh(at.cos(x)), looks_around).case is None


def test_wrong_for_negative_values_only():
    bad = rule("root_of_square", (at.sqrt, (at.square, "x")), "x")
    error = wrong(dressed(lambda v: at.sqrt(at.square(v - 10)), x), bad)
    (value,) = error.case.values.values()
    assert value.shape == (1,) and value[0] < 0
    assert len(nodes_of(error.case)) == 2
    assert (
        verify_rewrites(at.sqrt(at.square(x)), {x: np.array([1.0, 2.0])}, mode=with_rule(bad)).checked["root_of_square"]
        == 1
    )


@pytest.mark.parametrize(
    "change, simplest",
    [
        (lambda v: at.round(v * 10) / 10, 4.3456),
        (at.round, 4.3),
        (lambda v: at.clip(v, -1, 1), 4.0),
        (lambda v: v + 1, 1.0),
    ],
)
def test_values_are_as_round_as_they_can_be(change, simplest):
    """As long as what is wrong shows: the rewrite may leave round numbers as they are."""

    @node_rewriter([at.exp])
    def changes(fgraph, node):
        return [at.exp(change(node.inputs[0]))]

    error = wrong(at.exp(x), changes, {x: np.array([4.3456])})
    (value,) = error.case.values.values()
    assert value.tolist() == [simplest]


def test_too_narrow_a_dtype():
    @node_rewriter([at.exp])
    def narrow(fgraph, node):
        """An exponential in less than its precision."""
        return [at.cast(at.exp(at.cast(node.inputs[0], "float16")), "float64")]

    error = wrong(dressed(lambda v: at.exp(v * 0.9), x), narrow)
    assert nodes_of(error.case) == ["Elemwise{exp,no_inplace}"]


def test_a_wrong_dtype():
    @node_rewriter([at.exp])
    def narrow(fgraph, node):
        """An exponential of another type."""
        return [at.exp(at.cast(node.inputs[0], "float32"))]

    with pytest.raises(TypeError, match="float32") as caught:
        verify_rewrites(at.exp(x), mode=with_rule(narrow))
    assert "for the reason: narrow" in str(caught.value.__notes__)


def test_a_rewrite_that_fails_is_named():
    @node_rewriter([at.exp])
    def fails(fgraph, node):
        """An exponential of an input that there is not."""
        return [node.inputs[3]]

    with pytest.raises(IndexError) as caught:
        verify_rewrites(at.exp(x), mode=with_rule(fails))
    assert "Raised by the rewrite fails on the node" in str(caught.value.__notes__)


def test_lost_broadcasting():
    @node_rewriter([at.alloc.__class__])
    def forgets(fgraph, node):
        """An allocation of a number is the number."""
        if node.inputs[0].ndim == 0 and node.outputs[0].ndim == 1:
            return [node.inputs[0].dimshuffle("x")]

    error = wrong(at.exp(at.alloc(x.sum(), x.shape[0] + 2)), forgets)
    assert error.what == "its shape is (1,), not (5,)"
    assert error.case is not None and any("Alloc" in name for name in nodes_of(error.case))


def test_a_wrong_static_type():
    @node_rewriter([at.exp])
    def claims(fgraph, node):
        """An exponential that is said to have two elements."""
        if node.outputs[0].type.shape == (None,):
            new = at.sin(node.inputs[0])
            return [at.tensor("float64", shape=(2,)).type.filter_variable(at.specify_shape(new, (2,)))]

    error = wrong(at.exp(x) + 1, claims)
    assert error.what.startswith("computing it raises AssertionError")


def test_nan_where_there_was_none():
    bad = rule("through_logs", (at.mul, "x", "y"), lambda x, y: at.exp(at.log(x) + at.log(y)))
    error = wrong(at.tanh(x * y), bad)
    assert error.what == "it has NaN or infinity where there was none"
    assert nodes_of(error.case) == ["Elemwise{mul,no_inplace}"]


def test_several_inputs_and_dimensions():
    bad = rule("dot_commutes", (type(at.dot(m, m).owner.op), "a", "b"), lambda a, b: at.dot(b, a))
    error = wrong(at.exp(at.dot(m + 1, at.cos(m))).sum(), bad)
    assert len(nodes_of(error.case)) == 1 and len(error.case.values) == 2


def test_rewriters_of_graphs():
    @graph_rewriter
    def all_cosines(fgraph):
        for node in fgraph.toposort():
            if node.op == at.cos:
                fgraph.replace_validate(node.outputs[0], at.sin(node.inputs[0]), reason="all_cosines")

    mode = aesara.Mode("py", "fast_run").register((all_cosines, 0.55))
    with pytest.raises(WrongRewrite) as caught:
        verify_rewrites(dressed(at.cos, x), mode=mode)
    assert caught.value.rule == "all_cosines" and nodes_of(caught.value.case) == ["Elemwise{cos,no_inplace}"]


def test_loops():
    bad = rule("cos_is_sin", (at.cos, "x"), (at.sin, "x"))
    out, _ = aesara.scan(lambda e, s: s + at.exp(at.cos(e + s) * 2), x, at.constant(0.0, dtype="float64"))
    canonicalize.register("cos_is_sin", bad, "planted")
    query = RewriteSteps.query
    try:
        RewriteSteps.query = query.including("planted")
        with pytest.raises(WrongRewrite) as caught:
            verify_rewrites(out)
        assert caught.value.rule == "cos_is_sin" and caught.value.case is not None
    finally:
        RewriteSteps.query = query
        canonicalize.remove_tags("cos_is_sin", "planted")


def test_what_is_right_is_counted():
    report = verify_rewrites([at.log(1 + at.exp(x)), at.log(at.exp(y)), (m * 2 / m).sum(), at.dot(m, x)])
    assert report.checked["log1pexp_to_softplus"] == 1 and not report.skipped
    assert str(report).endswith("rewrites are right")


def test_what_cannot_be_computed_is_counted():
    double = rule("sine_of_twice", (at.sin, (at.mul, 2.0, "x")), lambda x: 2 * at.sin(x) * at.cos(x))
    mode = aesara.Mode("py", in2out(double, ignore_newtrees=True))
    large = aesara.raise_op.Assert("too small")(x, (x > 1).all())
    outputs = [at.sin(2.0 * (large + k)) for k in range(3)]
    report = verify_rewrites(outputs, {x: np.zeros(2)}, mode=mode)
    assert (report.checked, report.skipped) == ({}, {"sine_of_twice": 3})
    assert str(report) == "0 replacements by 0 rewrites are right; 3 could not be compared"
    for numbers in ((0.0, 1.5), (1.5, 0.0)):  # one set of values is enough
        report = verify_rewrites(outputs, [{x: np.full(2, number)} for number in numbers], mode=mode)
        assert (report.checked, report.skipped) == ({"sine_of_twice": 3}, {})


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int64", "float32", "float64", "complex64"])
def test_values_that_are_drawn(rng, dtype):
    """Numbers of both signs, between 0 and 1, and round ones with zeros among them: where the dtype has them."""
    kinds = [draw_value(at.tensor(dtype, shape=(2, None, 200)), rng, kind) for kind in range(4)]
    for value in kinds:
        assert value.dtype == dtype and value.shape == (2, 3, 200)
    real = [value.real for value in kinds]
    if np.dtype(dtype).kind in "fc":
        assert set(real[2].ravel()) == {-1, 0, 1} and 0 < real[1].min() < 0.1 and 0.9 < real[1].max() < 1
        for value in (real[0], real[3]):
            assert value.min() < -4 and value.max() > 4 and not (value == value.round()).any()
        assert dtype != "complex64" or all(value.imag.min() < -1 and value.imag.max() > 1 for value in kinds)
    else:
        lowest = -3 if np.dtype(dtype).kind == "i" else 0
        for value, numbers in zip(kinds, (range(lowest, 4), range(2), range(lowest, 4), range(lowest, 4))):
            assert set(value.ravel().tolist()) == set(np.array(numbers).astype(dtype).tolist())


def test_values_that_are_known(rng):
    shared, tagged, number = aesara.shared(np.arange(5.0)), at.dvector(), aesara.scalar.int32()
    tagged.tag.test_value = np.arange(4.0)
    assert draw_value(shared, rng) is not shared.get_value(borrow=True)
    np.testing.assert_array_equal(draw_value(shared, rng), np.arange(5.0))
    np.testing.assert_array_equal(draw_value(tagged, rng), np.arange(4.0))
    assert draw_value(number, rng).dtype == "int32" and draw_value(number, rng).shape == ()
    with pytest.raises(TypeError, match="no random value of the type RandomGeneratorType; give one for r"):
        draw_value(at.random.type.random_generator_type("r"), rng)


def test_more_accurate_results_are_right():
    """A naive form that overflows may become one that does not."""
    verify_rewrites(at.log(1 + at.exp(x)), {x: np.array([1000.0, -1000.0])})


def test_values_may_be_given_in_sets_or_on_tags():
    bad = rule("only_large", (at.cos, "x"), lambda x: at.switch(x > 100, 0.5, at.cos(x)), single_client=False)
    mode = aesara.Mode("py", in2out(bad, ignore_newtrees=True))
    verify_rewrites(at.cos(x), mode=mode)
    with pytest.raises(WrongRewrite):
        verify_rewrites(at.cos(x), [{x: np.zeros(2)}, {x: np.full(2, 200.0)}], mode=mode)
    tagged = at.dvector("tagged")
    tagged.tag.test_value = np.array([300.0])
    with pytest.raises(WrongRewrite):
        verify_rewrites(at.cos(tagged), mode=mode)


def test_debug_mode_shows_the_smallest_expression():
    bad = rule("cos_is_sin", (at.cos, "x"), (at.sin, "x"))
    f = aesara.function(
        [x],
        dressed(at.cos, x),
        mode=DebugMode("fast_run", check_c_code=False).register((in2out(bad, ignore_newtrees=True), 0.55)),
    )
    with pytest.raises(BadOptimization) as caught:
        f([0.5, 2.0])
    program = caught.value.program
    assert "at.cos(x0)" in program and program in caught.value.str_diagnostic() and program not in str(caught.value)
    with aesara.config.change_flags(exception_verbosity="high"):
        assert program in str(caught.value)


def test_programs():
    out = at.exp(m[1:, 0] * at.constant(np.array([np.nan, np.inf]))).sum() + at.join(0, x, x).dimshuffle("x", 0).sum(
        axis=1
    )
    text = ProgramText({m: None, x: None})
    name = text.name_of(out)
    scope = {}
    exec("\n".join(text.lines), scope)
    values = {scope["m"]: np.ones((3, 2)), scope["x"]: np.ones(2)}
    np.testing.assert_array_equal(scope[name].eval(values), out.eval({m: np.ones((3, 2)), x: np.ones(2)}))
    assert eval(array_text(np.zeros((0, 3), "int8")), {"np": np}).shape == (0, 3)


def test_names_in_programs():
    names = ["a b", "lambda", "at", "v0", "x_6", "x", "x", "x7", "3d", None, "é"]
    inputs = [at.dscalar(name) for name in names]
    values = dict(zip(inputs, np.arange(1.0, len(names) + 1)))
    out = at.exp(at.stack(inputs) * np.arange(len(names)))
    text = ProgramText(values)
    assert len(set(text.names.values())) == len(names) and text.names[inputs[5]] == "x"
    name = text.name_of(out)
    scope = {}
    exec("\n".join(text.lines), scope)
    given = {scope[text.names[variable]]: value for variable, value in values.items()}
    np.testing.assert_array_equal(scope[name].eval(given), out.eval(values))
