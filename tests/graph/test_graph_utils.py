import copy
import importlib
import sys
from abc import ABC, abstractmethod

import pytest
from graph_toys import double, f

from aesara import errors, utils
from aesara.configdefaults import config
from aesara.graph import hooks
from aesara.graph.utils import (
    AssocList,
    MetaObject,
    MetaType,
    MethodNotDefined,
    MissingInputError,
    NoParams,
    Scratchpad,
    ValidatingScratchpad,
    add_tag_trace,
    deprecated,
    get_variable_trace_string,
    toposort,
)


class TestMetaObject:
    def test_properties(self):
        class Two(MetaObject):
            __props__ = ("a", "b")

            def __init__(self, a, b):
                self.a, self.b = a, b

        assert Two(1, 2) == Two(1, 2)
        assert Two(1, 2) != Two(2, 1)
        assert hash(Two(1, 2)) == hash(Two(1, 2))
        assert Two(1, 2)._props() == (1, 2)
        assert Two(1, 2)._props_dict() == {"a": 1, "b": 2}
        assert str(Two(1, "x")) == "Two{a=1, b='x'}"
        assert Two(1, 2) != 5

        class Sub(Two):
            pass

        assert Sub(1, 2) == Sub(1, 2)
        assert Sub(1, 2) != Two(1, 2)
        assert str(Sub(1, 2)).startswith("Sub{")

    def test_one_and_none(self):
        class One(MetaObject):
            __props__ = ("a",)

        one = One()
        one.a = 3
        assert one._props() == (3,)

        class Single(MetaObject):
            __props__ = "name"

        single = Single()
        single.name = "s"
        assert single._props() == ("s",)

        class Zero(MetaObject):
            __props__ = ()

        assert Zero() == Zero()
        assert hash(Zero()) == hash(Zero())
        assert str(Zero()) == "Zero"

    def test_methods_of_the_class_are_kept(self):
        class Own(MetaObject):
            __props__ = ("a",)

            def __init__(self, a):
                self.a = a

            def __eq__(self, other):
                return True

            def __str__(self):
                return "own"

        assert Own(1) == Own(2)
        assert str(Own(1)) == "own"
        assert hash(Own(1)) == hash(Own(1)) != hash(Own(2))

    def test_with_abstract_classes(self):
        class Interface(ABC):
            @abstractmethod
            def need(self): ...

        class Both(MetaObject, Interface):
            __props__ = ()

        with pytest.raises(TypeError):
            Both()

    def test_metaclass(self):
        class Other(metaclass=MetaType):
            __props__ = ("a",)
            a = 1

        assert Other() == Other()
        assert str(Other()) == "Other{a=1}"

        class Sub(Other):
            def __str__(self):
                return "sub"

        assert Sub() == Sub() != Other()
        assert str(Sub()) == "sub"

        class More(Other):
            __props__ = ("a", "b")
            b = 2

            def __hash__(self):
                return 7

        assert str(More()) == "More{a=1, b=2}"
        assert hash(More()) == 7

        class Both(MetaObject, metaclass=MetaType):
            __props__ = ("a",)
            a = 1

            def __eq__(self, other):
                return True

        assert Both() == 5
        assert hash(Both()) == hash(Both())
        assert str(Both()) == "Both{a=1}"

    def test_without_properties_objects_are_compared_by_identity(self):
        class Plain(metaclass=MetaType):
            pass

        class Stated(metaclass=MetaType):
            __props__ = None

        class Object(MetaObject):
            __props__ = None

        for cls in (Plain, Stated, Object):
            one, two = cls(), cls()
            assert one == one != two
            assert len({one, two}) == 2


def test_scratchpad(capsys):
    pad = Scratchpad()
    pad.a = 1
    other = copy.copy(pad)
    other.b = 2
    assert not hasattr(pad, "b")
    assert pad.__update__(other) is pad
    assert pad.b == 2
    assert str(pad) == "scratchpad{'a': 1, 'b': 2}"
    pad.info()
    assert "a: 1" in capsys.readouterr().out
    pad.clear()
    assert not hasattr(pad, "a")


def test_validating_scratchpad():
    pad = ValidatingScratchpad("x", float)
    pad.x = "3"
    pad.y = "3"
    assert (pad.x, pad.y) == (3.0, "3")
    with pytest.raises(ValueError):
        pad.x = "three"


def test_assoc_list():
    pairs = AssocList()
    pairs["a"], pairs[[1]] = 1, 2
    pairs[[1]] = 3
    assert (pairs["a"], pairs[[1]], pairs["b"], pairs.get([2], 5)) == (1, 3, None, 5)
    assert len(pairs) == 2
    assert list(pairs) == ["a", [1]]
    assert [1] in pairs
    assert "b" not in pairs
    del pairs[[1]]
    pairs.discard([1])
    pairs.discard("zzz")
    with pytest.raises(KeyError):
        del pairs["zzz"]
    del pairs["a"]
    assert len(pairs) == 0
    pairs["a"], pairs[[1]] = 1, 2
    pairs.clear()
    assert len(pairs) == 0 and [1] not in pairs and "a" not in pairs
    assert "AssocList" in repr(pairs)


def test_toposort():
    assert toposort({"c": ["a", "b"], "b": ["a"], "a": []}) == ["a", "b", "c"]
    with pytest.raises(ValueError, match="cycle"):
        toposort({"a": ["b"], "b": ["a"]})
    with pytest.raises(ValueError, match="no key"):
        toposort({"a": ["b"]})


def test_traces():
    x = double("x")
    assert get_variable_trace_string(x) == ""
    with config.change_flags(traceback__limit=2):
        add_tag_trace(x)
    line = sys._getframe().f_lineno - 1
    assert x.tag.trace[0][-1][:3] == (__file__, line, "test_traces")
    assert "test_traces" in get_variable_trace_string(x)
    assert "test_traces" in get_variable_trace_string(f(double()))
    assert "test_traces" in str(MissingInputError("missing", variable=x))
    assert add_tag_trace(x, 0).tag.trace == []
    for limit in (1, 2):
        assert len(add_tag_trace(x, limit).tag.trace[0]) == limit
    with pytest.raises(TypeError):
        MissingInputError("missing", nonsense=1)


def test_exceptions():
    assert "class 'Op' has no such method" in str(MethodNotDefined("perform", int, "Op"))
    assert str(MethodNotDefined("text")) == "text"
    assert MethodNotDefined("one", "two", "three").args == ("one", "two", "three")
    error = errors.AesaraError("Wrong.", expected=1, came=2, hint="Try.")
    assert str(error).splitlines() == ["Wrong.", "  expected: 1", "  came: 2", "  hint: Try."]
    assert str(errors.AesaraError("Wrong.")) == "Wrong."
    assert not NoParams
    assert copy.deepcopy(NoParams) is NoParams


def test_what_is_deprecated_says_so_to_its_caller():
    @deprecated("use another one")
    def old(a, b=1):
        """What it does."""
        return a, b

    with pytest.warns(DeprecationWarning, match="use another one") as caught:
        assert old(2, b=3) == (2, 3)
    assert caught[0].filename == __file__ and old.__name__ == "old"


def test_slots():
    slot = hooks.Hook("something", "aesara.graph.hooks")
    assert "unset" in repr(slot)
    with pytest.raises(RuntimeError, match=r"aesara\.graph\.hooks, which provides it"):
        slot()
    slot.set(lambda a, b=2: a + b)
    assert slot(1) == 3
    assert "unset" not in repr(slot)


def test_a_slot_imports_what_fills_it(tmp_path, monkeypatch):
    (tmp_path / "provider_of_triples.py").write_text("import triples\ntriples.slot.set(lambda x: 3 * x)\n")
    (tmp_path / "triples.py").write_text(
        "from aesara.graph.hooks import Hook\nslot = Hook('triple', 'provider_of_triples')\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    assert importlib.import_module("triples").slot(2) == 6


def test_helpers():
    assert utils.uniq([3, 1, 3]) == [3, 1]
    assert utils.uniq([[1], [1], [2]]) == [[1], [2]]
    assert utils.difference([1, 2, 3], [2]) == [1, 3]
    assert utils.flatten([1, (2, [3]), {4}]) == [1, 2, 3, 4]
    assert utils.flatten(5) == [5]
    assert utils.hash_from_code("a") == utils.hash_from_code(b"a") != utils.hash_from_code("b")
    assert utils.from_return_values(1) == [1]
    assert utils.from_return_values((1, 2)) == [1, 2]
    assert utils.to_return_values([1]) == 1
    assert utils.to_return_values([1, 2]) == [1, 2]
