import copy
import gc
import pickle
import weakref

import pytest
from graph_toys import Double, Interval, Toy, double, f, g, pair, variables

from aesara.configdefaults import config
from aesara.graph import Apply, Constant, Op, Variable
from aesara.graph.nodes import AtomicVariable, NominalVariable
from aesara.graph.utils import TestValueError


class TestApply:
    def test_the_long_example(self):
        # The documentation builds x + y * z by hand.
        x, y, z = (Variable(type=double, name=name) for name in "xyz")
        mul, add = Toy("mul"), Toy("add")
        product = Variable(type=double)
        assert product.owner is None
        node_mul = Apply(op=mul, inputs=[y, z], outputs=[product])
        assert product.owner is node_mul
        assert product.index == 0
        total = Variable(type=double)
        node_add = Apply(op=add, inputs=[x, product], outputs=[total])
        assert total.owner is node_add
        assert total.owner.inputs[0] is x
        assert total.owner.inputs[1].owner.inputs == [y, z]

    def test_outputs_get_owner_and_index(self):
        x = double("x")
        first, second = pair(x)
        assert first.owner is second.owner
        assert (first.index, second.index) == (0, 1)
        assert first.owner.outputs == [first, second]
        assert (first.owner.nin, first.owner.nout) == (1, 2)
        assert first.get_parents() == [first.owner]
        assert first.owner.get_parents() == [x]
        assert x.get_parents() == []

    def test_inputs_must_be_variables(self):
        with pytest.raises(TypeError, match="'inputs' argument to Apply must contain Variable instances, not 1"):
            Apply(f, [1], [double()])
        with pytest.raises(TypeError, match="must be a sequence"):
            Apply(f, double(), [double()])
        with pytest.raises(TypeError, match="'outputs' argument"):
            Apply(f, [double()], [2])

    def test_outputs_must_be_new(self):
        x = double("x")
        y = f(x)
        with pytest.raises(ValueError, match="must belong to it"):
            Apply(g, [x], [y])
        twice = double()
        with pytest.raises(ValueError, match="must belong to it"):
            Apply(g, [x], [twice, twice])

    def test_constants_cannot_be_outputs(self):
        with pytest.raises(ValueError, match="cannot be the output"):
            Apply(f, [double()], [double.make_constant(1.0)])

    def test_default_output(self):
        first, _ = pair(double())
        with pytest.raises(ValueError, match="no default_output"):
            first.owner.default_output()
        one = Toy("one", nout=2, default_output=1)
        result = one(double())
        assert result.index == 1
        assert result.owner.default_output() is result
        assert result.owner.out is result
        for index in range(3):
            node = Apply(Toy("one", default_output=index), [double()], [double(), double(), double()])
            assert node.default_output() is node.outputs[index]
        for index in (-1, 3):
            bad = Apply(Toy("bad", default_output=index), [double()], [double(), double(), double()])
            with pytest.raises(AttributeError, match=f"default_output is {index}"):
                bad.default_output()

    def test_clone_keeps_inputs_tag_and_source(self):
        x = double("x")
        node = f(x).owner
        node.tag.note = "kept"
        clone = node.clone()
        assert clone.inputs == [x]
        assert clone.outputs[0] is not node.outputs[0]
        assert clone.outputs[0].owner is clone
        assert clone.tag.note == "kept"
        assert clone.tag is not node.tag
        assert clone.source == node.source

    def test_clone_with_new_inputs(self):
        x, y = variables("xy")
        node = f(x, x).owner
        clone = node.clone_with_new_inputs([x, y])
        assert clone.inputs == [x, y]
        assert node.inputs == [x, x]
        with pytest.raises(ValueError, match="2 inputs, but 1"):
            node.clone_with_new_inputs([x])
        with pytest.raises(TypeError, match="Cannot convert"):
            node.clone_with_new_inputs([x, Interval(0, 1)()])

    def test_narrower_inputs_make_narrower_outputs(self):
        wide, narrow = Interval(0, 10)(), Interval(0, 1)()
        node = f(wide).owner
        node.tag.note, node.outputs[0].name, node.outputs[0].tag.test_value = "kept", "result", 0.5
        clone = node.clone_with_new_inputs([narrow])
        assert clone.outputs[0].type == narrow.type and clone.outputs[0].name == "result"
        assert clone.outputs[0].tag.test_value == 0.5
        assert clone.tag.note == "kept" and clone.tag is not node.tag and clone.source == node.source
        del node.outputs[0].tag.test_value
        assert not hasattr(node.clone_with_new_inputs([narrow]).outputs[0].tag, "test_value")
        node.outputs[0].tag.test_value = 5.0  # which the narrower type has not
        assert not hasattr(node.clone_with_new_inputs([narrow]).outputs[0].tag, "test_value")
        with pytest.raises(TypeError):
            f(narrow).owner.clone_with_new_inputs([wide])
        assert f(narrow).owner.clone_with_new_inputs([wide], strict=False).outputs[0].type == wide.type

    def test_generic_syntax(self):
        assert Variable[Double, Apply] is not None
        assert Apply[Op] is not None


class TestVariable:
    def test_arguments_are_checked(self):
        with pytest.raises(TypeError, match="index"):
            Variable(double, None, "0")
        with pytest.raises(TypeError, match="name"):
            Variable(double, None, None, name=1)
        with pytest.raises(TypeError, match="owner"):
            Variable(double, double)
        node = pair(*variables("a"))[0].owner
        made = Variable(double, node, 1)
        assert made.owner is node and made.index == 1

    def test_text(self):
        x = double("x")
        assert str(x) == repr(x) == "x"
        assert str(double()) == "<Double>"
        assert str(f(x)) == "f.0"
        assert str(Toy("two", nout=2, default_output=1)(x)) == "two.out"

    def test_clone(self):
        x = double("x")
        x.tag.test_value = 2
        y = x.clone()
        assert y is not x
        assert (y.name, y.type, y.owner) == ("x", double, None)
        assert y.tag.test_value == 2.0
        y.tag.test_value = 3
        assert x.tag.test_value == 2.0
        assert x.clone(name="z").name == "z"

    def test_auto_names_differ(self):
        x, y = variables("xy")
        assert x.auto_name != y.auto_name
        assert x.auto_name == x.auto_name
        number = next(Variable.__count__)
        assert variables("z")[0].auto_name == f"auto_{number + 1}"

    def test_test_values_are_filtered(self):
        x = double("x")
        with pytest.raises(TestValueError, match="x has no test value"):
            x.get_test_value()
        x.tag.test_value = 1
        assert type(x.get_test_value()) is float
        with pytest.raises(TypeError):
            x.tag.test_value = 10**400 + 1 if False else complex(1, 1)

    def test_copy_is_another_variable(self):
        y = f(double("x"))
        z = copy.copy(y)
        assert z is not y
        assert z.owner is y.owner

    def test_eval_needs_the_compiler(self):
        from aesara.graph import hooks

        slot = hooks.eval_variable
        function, slot.function = slot.function, None
        try:
            with pytest.raises(RuntimeError, match="aesara.compile, which provides it"):
                double().eval()
            slot.set(lambda variable, values=None, **kw: (variable, values, kw))
            x = double()
            assert x.eval({x: 1}, mode=2) == (x, {x: 1}, {"mode": 2})
        finally:
            slot.function = function


class TestConstant:
    def test_data_is_filtered_and_set_once(self):
        c = Constant(double, 3)
        assert type(c.data) is float
        assert c.value == c.data == c.get_test_value() == 3.0
        with pytest.raises(AttributeError, match="already set"):
            c.data = 4.0
        assert c.data == 3.0
        with pytest.raises(TypeError):
            Constant(Interval(0, 1), 2)

    def test_signature_and_equality(self):
        a, b, c = Constant(double, 1), Constant(double, 1), Constant(double, 2)
        assert a.signature() == (double, 1.0)
        assert a.merge_signature() == a.signature()
        assert a.equals(b)
        assert not a.equals(c)
        assert not a.equals(double())
        assert a != b  # as graph nodes they are two

    def test_clone_shares_the_value(self):
        a = Constant(double, 1, name="one")
        b = a.clone()
        assert b is not a
        assert b.data is a.data
        assert b.name == "one"
        assert a.clone(name="uno").name == "uno"
        a.tag.note = "kept"
        c = a.clone()
        c.tag.note = "changed"
        assert a.tag.note == "kept" and not hasattr(b.tag, "note")
        with pytest.raises(TypeError, match="does not take"):
            a.clone(color="red")

    def test_of_a_type_whose_constants_are_of_another_class(self):
        class Signed(Constant):
            def signature(self):
                return ("signed", self.data)

        class SignedType(Double):
            __props__ = ()
            constant_type = Signed

            def make_constant(self, value, name=None):
                return Signed(self, value, name=name)

        plain, own = Constant(SignedType(), 2), SignedType().make_constant(2)
        assert plain.signature() == own.signature() == ("signed", 2.0)
        assert plain.equals(own) and own.equals(plain) and not own.equals(Constant(double, 2))

    def test_has_no_owner(self):
        a = Constant(double, 1)
        assert a.owner is None
        assert a.index is None
        a.owner = None
        with pytest.raises(ValueError, match="cannot be the output"):
            a.owner = f(double()).owner
        with pytest.raises(ValueError, match="cannot be the output"):
            a.index = 0

    def test_text(self):
        assert str(Constant(double, 1)) == "Constant{1.0}"
        assert str(Constant(double, 1, name="one")) == "one"

    def test_long_values_are_shortened(self):
        class Text(Double):
            def filter(self, data, strict=False, allow_downcast=None):
                return data

        assert len(str(Constant(Text(), "a" * 100))) < 40

    def test_is_atomic(self):
        assert isinstance(Constant(double, 1), AtomicVariable)


def test_variables_that_are_known_by_a_signature():
    class Known(AtomicVariable):
        def signature(self):
            return self.name

    class Other(Known):
        pass

    a = Known(double, "a")
    assert a.equals(Known(double, "a")) and a.equals(Other(double, "a")) and a.merge_signature() == "a"
    assert not a.equals(Known(double, "b")) and not a.equals(double("a")) and not Other(double, "a").equals(a)
    for missing in (AtomicVariable(double).signature, a.clone):
        with pytest.raises(NotImplementedError):
            missing()


class TestNominalVariable:
    def test_a_name_and_a_tag_stay_when_it_is_asked_for_again(self):
        a = NominalVariable("kept", double, name="a")
        a.tag.note = "here"
        again = NominalVariable("kept", double, name="b")
        assert again is a and a.name == "a" and a.tag.note == "here"

    def test_one_object_for_each_id_and_type(self):
        a = NominalVariable(0, double)
        assert a is NominalVariable(0, double)
        assert a is NominalVariable(0, Double())
        assert a is not NominalVariable(1, double)
        assert a is not NominalVariable(0, Interval(0, 1))
        assert a.type == double

    def test_clones_are_itself(self):
        a = NominalVariable(0, double)
        assert a.clone() is a
        assert copy.copy(a) is a
        assert copy.deepcopy(a) is a
        assert pickle.loads(pickle.dumps(a)) is a

    def test_has_the_methods_of_the_types_variables(self):
        class Special(Variable):
            def answer(self):
                return 42

        class SpecialType(Double):
            __props__ = ()
            variable_type = Special

        a = NominalVariable(0, SpecialType())
        assert isinstance(a, Special)
        assert isinstance(a, NominalVariable)
        assert a.answer() == 42
        assert type(a).__name__ == "NominalSpecial"

    def test_equality_and_text(self):
        a = NominalVariable(0, double)
        assert a.equals(a)
        assert not a.equals(NominalVariable(1, double))
        assert a.signature() == (double, 0)
        assert str(a) == "*0-<Double>"
        assert "0" in repr(a)

    @pytest.mark.slow
    def test_is_freed(self):
        reference = weakref.ref(NominalVariable("only here", double))
        gc.collect()
        assert reference() is None


def test_functions_of_eval_are_no_part_of_pickles():
    for v in (f(double("x")), double("z")):
        v._fn_cache = {"mode": lambda x: x}
        assert "_fn_cache" not in vars(pickle.loads(pickle.dumps(v))) and v._fn_cache


def test_test_values_are_dropped_from_pickles_on_request():
    x = double("x")
    x.tag.test_value = 1
    assert pickle.loads(pickle.dumps(x)).tag.test_value == 1.0
    with config.change_flags(pickle_test_value=False):
        y = pickle.loads(pickle.dumps(x))
    assert not hasattr(y.tag, "test_value")
    assert x.tag.test_value == 1.0
