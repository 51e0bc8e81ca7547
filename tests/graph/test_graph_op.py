import os
import subprocess
import sys

import numpy as np
import pytest
from graph_toys import Interval, Toy, double, f, pair, variables

import aesara.tensor as at
from aesara.configdefaults import config
from aesara.graph import Apply, Constant, Op
from aesara.graph.op import NoParams, compute_test_value, get_test_value, get_test_values, is_thunk_type, stand_in
from aesara.graph.source import GradientLine, SourceLine, Sources, gradient_mark, inherit_source, user_source
from aesara.graph.utils import MethodNotDefined, TestValueError


class Typed(Op):
    __props__ = ()
    itypes = [Interval(0, 10), double]
    otypes = [double]

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = inputs[0] * inputs[1]


def test_call_returns_one_or_several_outputs():
    x = double("x")
    assert f(x).owner.op is f
    assert f(x, name="y").name == "y"
    assert isinstance(f(x, return_list=True), list)
    assert len(pair(x)) == 2
    chosen = Toy("chosen", nout=2, default_output=0)
    assert chosen(x, name="z").name == "z"
    assert chosen(x, return_list=True)[0].index == 0


def test_declared_types():
    op = Typed()
    y = op(Interval(0, 1)(), double())
    assert y.type == double
    with pytest.raises(ValueError, match="takes 2 inputs, but 1"):
        op(double())
    with pytest.raises(TypeError, match="input 0 has type Interval"):
        op(Interval(0, 100)(), double())
    with pytest.raises(TypeError, match="must be a variable"):
        op(1, double())


def test_missing_methods_say_so():
    op, half = Op(), Typed()
    half.otypes = None
    for without in (op, half):
        with pytest.raises(NotImplementedError, match="make_node"):
            without(double(), double())
    with pytest.raises(MethodNotDefined, match="perform"):
        op.perform(None, [], [])
    with pytest.raises(NotImplementedError, match="grad is not implemented for Op Op"):
        op.L_op([], [], [])
    with pytest.raises(NotImplementedError, match="R_op"):
        op.R_op([], [])
    assert op.do_constant_folding(None, None)


def test_L_op_falls_back_on_grad():
    class WithGrad(Toy):
        def grad(self, inputs, output_grads):
            return ["gradient", inputs, output_grads]

    assert WithGrad("w").L_op([1], [2], [3]) == ["gradient", [1], [3]]


def test_equality_by_properties():
    assert Toy("a") == Toy("a")
    assert hash(Toy("a")) == hash(Toy("a"))
    assert Toy("a") != Toy("b")
    assert Op() != Op()
    assert str(Op()) == repr(Op()) == "Op"


def test_thunk():
    x, y = variables("xy")
    node = f(x, y).owner
    storage = {x: [1.0], y: [2.0], node.outputs[0]: [None]}
    computed = {v: [False] for v in storage}
    thunk = node.op.make_thunk(node, storage, computed, [])
    thunk()
    assert storage[node.outputs[0]] == [3.0]
    assert computed[node.outputs[0]] == [True]
    assert thunk.lazy is False and thunk.perform == node.op.perform and is_thunk_type(thunk) is thunk
    assert thunk.inputs == [[1.0], [2.0]]
    assert thunk.outputs == [[3.0]]


def test_a_node_is_prepared_before_its_thunk_is_made():
    seen = []

    class Prepared(Toy):
        def prepare_node(self, node, storage_map, compute_map, impl):
            seen.append((node, storage_map, compute_map, impl))

    x = double("x")
    node = Prepared("prepared")(x).owner
    storage, computed = {x: [1.0], node.outputs[0]: [None]}, {x: [True], node.outputs[0]: [False]}
    node.op.make_thunk(node, storage, computed, [])
    assert seen == [(node, storage, computed, "py")]


def test_params_are_passed_to_perform():
    class WithParams(Toy):
        def get_params(self, node):
            return 10.0

        def perform(self, node, inputs, output_storage, params):
            output_storage[0][0] = inputs[0] + params

    x = double("x")
    node = WithParams("p")(x).owner
    assert node.run_params() == 10.0
    assert f(x).owner.run_params() is NoParams
    storage = {x: [1.0], node.outputs[0]: [None]}
    node.op.make_thunk(node, storage, {v: [False] for v in storage}, [])()
    assert storage[node.outputs[0]] == [11.0]


class TestTestValues:
    def test_are_computed(self):
        x = double("x")
        x.tag.test_value = 2
        with config.change_flags(compute_test_value="raise"):
            y = f(x, Constant(double, 3))
            assert y.tag.test_value == 5.0
            assert get_test_value(y) == 5.0
            assert get_test_values(x, y) == [(2.0, 5.0)]
            assert "5.0" not in repr(y)
            with config.change_flags(print_test_value=True):
                assert "5.0" in repr(y)
        assert get_test_values(x, y) == []

    def test_a_thunk_is_told_what_is_computed(self):
        class Asks(Toy):
            def make_thunk(self, node, storage_map, compute_map, no_recycling, impl=None):
                assert [compute_map[v][0] for v in (*node.inputs, *node.outputs)] == [True, False]
                return super().make_thunk(node, storage_map, compute_map, no_recycling)

        x = double("x")
        x.tag.test_value = 2
        with config.change_flags(compute_test_value="raise"):
            assert Asks("asks")(x).tag.test_value == 2.0

    def test_missing(self):
        x = double("x")
        with config.change_flags(compute_test_value="raise"), pytest.raises(TestValueError, match="input 0"):
            f(x)
        with config.change_flags(compute_test_value="warn"), pytest.warns(UserWarning, match="input 0"):
            f(x)
        with config.change_flags(compute_test_value="ignore"):
            assert not hasattr(f(x).tag, "test_value")
            assert get_test_values(x) == []
        assert not hasattr(f(x).tag, "test_value")
        x.tag.note = "another attribute"
        with pytest.raises(TestValueError, match="x has no test value"):
            x.get_test_value()

    def test_function_computes_on_request(self):
        x = double("x")
        x.tag.test_value = 1
        node = f(x).owner
        with config.change_flags(compute_test_value="raise"):
            compute_test_value(node)
        assert node.outputs[0].tag.test_value == 1.0

    def test_values_become_variables(self):
        with pytest.raises((NotImplementedError, TypeError), match="variable"):
            get_test_value(object())


class TestSource:
    def test_names_this_line(self):
        y = f(double())
        line = sys._getframe().f_lineno - 1
        assert y.owner.source == SourceLine(__file__, line, "test_names_this_line")
        assert f"{line} in test_names_this_line" in str(y.owner.source)

    def test_user_source(self):
        assert user_source().function == "test_user_source"

    def test_frames_of_the_package_are_skipped(self):
        from aesara.graph.cloning import clone_replace

        narrow = Interval(0, 1)()
        y = f(Interval(0, 2)())
        replaced = clone_replace(y, {y.owner.inputs[0]: narrow})
        assert replaced.owner.source == y.owner.source

    def test_inheritance(self):
        place = SourceLine("model.py", 3, "build")
        with inherit_source(place):
            y = f(double())
            with inherit_source(None):
                assert f(double()).owner.source == place
            with inherit_source(SourceLine("other.py", 1, "x")):
                z = f(double())
        assert y.owner.source == place
        assert z.owner.source.filename == "other.py"
        assert f(double()).owner.source.filename == __file__
        with inherit_source(y.owner):
            assert f(double()).owner.source == place

    @pytest.mark.parametrize("again", [1, 2])
    def test_every_line_and_its_gradients(self, again):
        """Nodes of gradients, and of gradients of these, name the line of the node that they are the gradient of."""
        made = []
        program = "made.append(f(double()))\nmade.append(\n  f(\n    double()))\n" * 100
        exec(compile(program, "model.py", "exec"), {"made": made, "f": f, "double": double})
        for number, y in zip((k + part for k in range(0, 400, 4) for part in (1, 3)), made, strict=True):
            place = SourceLine("model.py", number, "<module>")
            told = f(double()).owner
            told.source = place
            for node in (y.owner, told):
                assert type(node.source) is SourceLine and node.source == place
                for _ in range(again):
                    with inherit_source(gradient_mark(node)):
                        node = f(double()).owner
                assert type(node.source) is GradientLine and node.source == place
        made[0].owner.source = None
        assert gradient_mark(made[0].owner) is None and made[0].owner.source is None

    def test_one_node_after_the_other(self):
        """While rules replace nodes, new ones have the line of the old one, or else what holds around them."""
        outer, inner = SourceLine("model.py", 3, "build"), SourceLine("model.py", 4, "build")
        with_line, without = f(double()).owner, f(double()).owner
        with_line.source, without.source = inner, None
        for around in (None, outer):
            with inherit_source(around), Sources() as sources:
                for node, place in ((with_line, inner), (without, around), (with_line, inner)):
                    sources.follow(node)
                    assert user_source().filename == (place.filename if place else __file__)
                    assert place in (None, user_source())
                    with Sources():  # rules that rewrite another graph
                        assert place in (None, user_source())
            assert user_source().filename == __file__

    def test_inheritance_ends_with_an_error(self):
        with pytest.raises(KeyError), inherit_source(SourceLine("model.py", 3, "build")):
            raise KeyError
        assert user_source().filename == __file__


def test_importing_graphs_imports_neither_scipy_nor_the_compiler():
    code = (
        "import sys, importlib.util, types\n"
        "package = types.ModuleType('aesara'); package.__path__ = [sys.argv[1]]; sys.modules['aesara'] = "
        "package\n"
        "import aesara.graph, aesara.graph.destroyhandler\n"
        "heavy = {'scipy', 'llvmlite', 'jax', 'platformdirs'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    package = os.path.dirname(sys.modules["aesara"].__file__)
    subprocess.run([sys.executable, "-c", code, package], check=True)


def test_apply_of_a_plain_object_is_possible():
    # Nodes do not ask what their Op is.
    node = Apply("anything", [double()], [double()])
    assert "anything" in str(node)


def test_what_stands_in_for_a_variable_has_its_test_value():
    x, y = at.dscalars("x", "y")
    x.tag.test_value = np.array(2.0)
    assert stand_in(x).type == x.type and not hasattr(stand_in(x).tag, "test_value")
    with config.change_flags(compute_test_value="raise"):
        assert stand_in(x).get_test_value() == 2.0 and stand_in(x, "z").name == "z"
        assert not hasattr(stand_in(y).tag, "test_value")
