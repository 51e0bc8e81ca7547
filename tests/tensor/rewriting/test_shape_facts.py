"""Dimensions that are equally long, or the graph raises an error: what is known, which rules use it, and when."""

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.compile import Mode
from aesara.compile.mode import get_mode
from aesara.graph.fg import FunctionGraph
from aesara.ifelse import ifelse
from aesara.ir.steps import Launch
from aesara.raise_op import Assert
from aesara.tensor.blas import batched_dot, gemm_no_inplace
from aesara.tensor.creation.allocation import Alloc
from aesara.tensor.creation.make_vector import MakeVector
from aesara.tensor.rewriting.length_facts import LengthFacts, dimension_measured_by
from aesara.tensor.rewriting.shape_feature import ShapeFeature
from aesara.tensor.shape import Reshape, Shape_i
from aesara.tensor.subtensor import Subtensor

VM = Mode("py", "fast_run")


@pytest.fixture
def x():
    return at.dvector("x")


@pytest.fixture
def y():
    return at.dvector("y")


@pytest.fixture
def a():
    return at.dmatrix("a")


@pytest.fixture
def b():
    return at.dmatrix("b")


def facts_of(*outputs):
    return LengthFacts(FunctionGraph(outputs=list(outputs), clone=False))


def length(variable, axis=0):
    return Shape_i(axis)(variable)


class TestWhatNodesTell:
    def test_elementwise_operands_and_results(self, x, y):
        z = x + y
        facts = facts_of(z)
        assert facts.are_equal((x, 0), (y, 0)) and facts.are_equal((x, 0), (z, 0))

    def test_facts_are_transitive(self, x, y):
        z, w = at.dvectors("z", "w")
        assert facts_of(x + y, y * z, at.switch(z > 0, z, w)).are_equal((x, 0), (w, 0))

    def test_what_is_broadcast_tells_nothing(self, a):
        column, row = at.dcol("column"), at.drow("row")
        facts = facts_of(a + column, a * row)
        assert facts.are_equal((a, 0), (column, 0)) and not facts.are_equal((a, 1), (column, 1))
        assert facts.are_equal((a, 1), (row, 1)) and not facts.are_equal((a, 0), (row, 0))

    def test_other_dimensions_and_other_graphs_tell_nothing(self, a, b, x):
        facts = facts_of(a + b)
        assert facts.are_equal((a, 1), (b, 1)) and not facts.are_equal((a, 0), (a, 1))
        assert not facts.are_equal((a, 0), (x, 0))

    def test_order_of_dimensions_and_reductions(self, a, b, x):
        facts = facts_of(a.T + b, a.sum(axis=1) + x)
        assert facts.are_equal((a, 0), (b, 1)) and facts.are_equal((x, 0), (b, 1))
        assert not facts.are_equal((x, 0), (b, 0))

    def test_products(self, a, b, x):
        facts = facts_of(at.dot(a, b), at.dot(b, x))
        assert facts.are_equal((a, 1), (b, 0)) and facts.are_equal((b, 1), (x, 0))
        assert not facts.are_equal((a, 0), (b, 1))
        z = gemm_no_inplace(at.dmatrix(), 1.0, a, b, 1.0)
        assert facts_of(z).are_equal((a, 1), (b, 0)) and facts_of(z).are_equal((z, 1), (b, 1))
        s, t = at.dtensor3s("s", "t")
        facts = facts_of(batched_dot(s, t))
        assert facts.are_equal((s, 0), (t, 0)) and facts.are_equal((s, 2), (t, 1))

    def test_joins(self, a, b):
        z = at.join(1, a, b)
        facts = facts_of(z)
        assert facts.are_equal((a, 0), (b, 0)) and facts.are_equal((a, 0), (z, 0))
        assert not facts.are_equal((a, 1), (b, 1)) and not facts.are_equal((a, 1), (z, 1))
        assert facts_of(at.join(-1, a, b)).are_equal((a, 0), (b, 0))
        k = at.lscalar("k")
        assert not facts_of(at.join(k, a, b)).are_equal((a, 0), (b, 0))

    def test_writes_keep_the_shape_but_do_not_tell_that_of_the_value(self, x, y):
        z = at.set_subtensor(x[1:], y)
        facts = facts_of(z, at.inc_subtensor(x[[0, 0]], 1.0))
        assert facts.are_equal((z, 0), (x, 0)) and not facts.are_equal((x, 0), (y, 0))

    def test_stated_shapes(self, x, y):
        z = at.specify_shape(x, (length(y),))
        assert facts_of(z).are_equal((x, 0), (y, 0))
        assert facts_of(at.specify_shape(x, (3,)), at.specify_shape(y, (3,))).are_equal((x, 0), (y, 0))
        assert not facts_of(at.specify_shape(x, (3,)), at.specify_shape(y, (4,))).are_equal((x, 0), (y, 0))

    @pytest.mark.parametrize(
        "condition",
        [
            lambda n, m: at.eq(n, m),
            lambda n, m: at.all(at.eq(n, m)),
            lambda n, m: at.and_(at.gt(n, 1), at.eq(m, n)),
        ],
    )
    def test_assertions(self, x, y, condition):
        assert facts_of(Assert("differ")(x, condition(length(x), length(y)))).are_equal((x, 0), (y, 0))

    @pytest.mark.parametrize(
        "condition",
        [
            lambda n, m: at.or_(at.eq(n, m), at.eq(n, 1)),
            lambda n, m: at.neq(n, m),
            lambda n, m: at.eq(at.cast(n, "int8"), at.cast(m, "int8")),
            lambda n, m: at.eq(n, m + 1),
        ],
    )
    def test_conditions_that_say_less(self, x, y, condition):
        assert not facts_of(Assert("differ")(x, condition(length(x), length(y)))).are_equal((x, 0), (y, 0))

    def test_nodes_that_may_not_run_tell_nothing(self, x, y):
        chosen = ifelse(at.lscalar("c"), x + y, x)
        assert not facts_of(chosen).are_equal((x, 0), (y, 0))
        assert facts_of(chosen, x * y).are_equal((x, 0), (y, 0))

    def test_nodes_that_come_later(self, x, y):
        facts = facts_of(at.exp(x))
        assert not facts.are_equal((x, 0), (y, 0))
        assert facts.are_equal((x + y, 0), (y, 0)) and facts.are_equal((x, 0), (y, 0))

    def test_lengths_in_narrow_dtypes_measure_nothing(self, x):
        assert dimension_measured_by(length(x)) == (x, 0)
        assert dimension_measured_by(at.scalar_from_tensor(length(x))) == (x, 0)
        assert dimension_measured_by(at.cast(at.cast(length(x), "int8"), "int64")) is None


class TestQuestions:
    def test_checks_count_only_where_asked_for(self, x, y):
        feature = ShapeFeature()
        FunctionGraph([x, y], [x + y], clone=False, features=[feature])
        assert not feature.same_shape(x, y)
        assert feature.same_shape(x, y, with_checks=True) and feature.same_shape(x, y, 0, 0, with_checks=True)

    def test_one_length_or_all(self):
        m = at.dmatrix("m")
        feature = ShapeFeature()
        doubled, turned = m * 2, m.T
        FunctionGraph([m], [doubled, turned], clone=False, features=[feature])
        assert feature.same_shape(m, doubled) and feature.same_shape(m, turned, 0, 1)
        assert not feature.same_shape(m, turned) and not feature.same_shape(m, doubled, 0, 1)
        assert not feature.same_shape(m, doubled, 0) and not feature.same_shape(m, doubled, None, 0)

    def test_lengths_come_from_elsewhere(self, x, y):
        feature = ShapeFeature()
        FunctionGraph([x, y], [x + y], clone=False, features=[feature])
        assert feature.same_shape(at.cumsum(x), y, with_checks=True)
        assert feature.same_shape(at.cumsum(y), at.zeros((length(x),)), with_checks=True)
        assert not feature.same_shape(x[2:], y, with_checks=True)

    def test_nothing_is_collected_before(self, x, y):
        feature = ShapeFeature()
        FunctionGraph([x, y], [x + y], clone=False, features=[feature])
        feature.same_shape(x, y)
        assert feature._facts is None

    def test_cost_grows_with_the_graph_only(self, x, y):
        s = x * y
        for _ in range(3_000):
            s = s + at.sin(s)
        feature = ShapeFeature()
        FunctionGraph([x, y], [s], clone=False, features=[feature])
        variables = [v for v in feature.fgraph.variables if getattr(v.type, "ndim", 0) == 1]
        assert all(feature.same_shape(v, y, with_checks=True) for v in variables)
        # Every variable is looked at, each by a path that has become short.
        assert len(feature._facts._seen) == len(feature.fgraph.apply_nodes)


def reshaped(v, *lengths):
    return Reshape(len(lengths))(v, MakeVector("int64")(*lengths))


def ops_of(function):
    return [type(node.op) for node in function.maker.fgraph.apply_nodes]


class TestRules:
    def test_reshape_and_allocation(self, x, y):
        function = aesara.function([x, y], [reshaped(x, length(y)) + 1, at.alloc(y, length(x)), x * y], mode=VM)
        assert Reshape not in ops_of(function) and Alloc not in ops_of(function)
        first, second, third = function([1.0, 2.0], [3.0, 4.0])
        assert first.tolist() == [2, 3] and second.tolist() == [3, 4] and third.tolist() == [3, 8]
        with pytest.raises(ValueError):
            function([1.0, 2.0], [3.0])

    def test_slices_up_to_a_length(self, x, y):
        function = aesara.function([x, y], [x[: length(y)] + 1, at.exp(y)[: length(y)], x * y], mode=VM)
        assert Subtensor not in ops_of(function)
        assert function([1.0, 2.0], [3.0, 4.0])[0].tolist() == [2, 3]
        function = aesara.function(
            [x, y],
            [x[: length(y)], x[length(y) :], x[: length(y) : 2], y[1 : length(x)], (y * 2)[: length(x)]],
            mode=VM,
        )
        assert ops_of(function).count(Subtensor) == 5
        assert [len(part) for part in function([1.0, 2.0, 3.0], [3.0, 4.0])] == [2, 1, 1, 1, 2]

    def test_each_of_two_checks_holds_the_other(self, x, y):
        # Both outputs may use the fact of the product; that one stays.
        function = aesara.function([x, y], [reshaped(x, length(y)), reshaped(y, length(x)), (x * y).sum()], mode=VM)
        assert Reshape not in ops_of(function)
        with pytest.raises(ValueError):
            function([1.0, 2.0], [3.0, 4.0, 5.0])

    def test_unsafe_rules_only(self, x, y):
        mode = VM.excluding("shape_unsafe")
        function = aesara.function([x, y], [reshaped(x, length(y)) + 1, x * y], mode=mode)
        assert Reshape in ops_of(function)

    def test_without_a_fact_nothing_is_dropped(self, x, y):
        function = aesara.function([x, y], [reshaped(x, length(y)), at.alloc(y, length(x))], mode=VM)
        assert Reshape in ops_of(function) and Alloc in ops_of(function)
        with pytest.raises(ValueError):
            function([1.0, 2.0], [3.0])

    def test_a_side_that_is_not_taken_tells_nothing(self, x, y):
        c = at.lscalar("c")
        function = aesara.function([c, x, y], [ifelse(c, x + y, x), at.alloc(y, length(x))], mode=VM)
        assert function(0, [1.0, 2.0], [3.0])[1].tolist() == [3, 3]


class TestScheduler:
    """Native code goes by the same facts, which lowering finds where it puts the checks."""

    @staticmethod
    def with_nests(inputs, outputs):
        function = aesara.function(inputs, outputs, mode=get_mode("FAST_RUN"))
        steps = function._native.report.lowering.program.steps
        return function, [nest for step in steps if isinstance(step, Launch) for nest in step.kernel.body]

    def test_loops_over_lengths_that_a_check_has_made_equal_are_one(self, x, y):
        # Nothing but the sum says that the exponentials and the sines are equally many.
        apart, nests = self.with_nests([x, y], [at.exp(x), at.sin(y)])
        assert len(nests) == 2
        together, nests = self.with_nests([x, y], [at.exp(x), at.sin(y), x + y])
        assert len(nests) == 1
        values = np.linspace(0, 1, 5), np.linspace(1, 2, 5)
        for computed, expected in zip(together(*values), (np.exp(values[0]), np.sin(values[1]), sum(values))):
            np.testing.assert_allclose(computed, expected, rtol=1e-14)
        with pytest.raises(ValueError):
            together(values[0], values[1][:3])
        assert len(apart(values[0], values[1][:3])[1]) == 3


def test_what_was_asked_in_vain_is_asked_again():
    x, y = at.dvectors("x", "y")
    length = at.maximum(x.shape[0], 0)
    out = at.alloc(at.as_tensor(0.0), length)
    fgraph = FunctionGraph([x, y], [out + 1], clone=False, features=[ShapeFeature()])
    feature = fgraph.shape_feature
    assert not feature.same_shape(out, x)
    assert not feature.same_shape(out, y)
    assert feature.ask_again(fgraph) == []
    fgraph.replace(out.owner.inputs[1], Shape_i(0)(x))
    assert feature.ask_again(fgraph) == [out]
    assert feature.ask_again(fgraph) == []
