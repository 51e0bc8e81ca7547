"""Data classes that are made quickly, against those of the standard library."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from typing import ClassVar

import pytest

from aesara.records import dataclass


class Nothing:
    pass


class Plain:
    x: int
    y: list[int]


class WithDefaults:
    x: int
    y: float = 2.0
    z: str = "z"


class WithPostInit:
    x: int
    y: int = 1

    def __post_init__(self):
        self.total = self.x + self.y


class OwnInit:
    x: int

    def __init__(self):
        self.x = 7


class WithFactory:
    x: int
    rows: list[int] = dataclasses.field(default_factory=list)


class WithClassVariable:
    shared: ClassVar[int] = 3
    x: int


class WithParameterOnly:
    x: int
    scale: dataclasses.InitVar[int] = 2

    def __post_init__(self, scale):
        self.x *= scale


class KeywordsOnly:
    x: int
    _: dataclasses.KW_ONLY
    y: int = 3


CALLS = [((), {}), ((1,), {}), ((1, 2), {}), ((1,), {"y": 5}), ((1, 2, 3), {}), ((1, 2, 3, 4), {}), ((), {"q": 1})]


def outcome(cls, args, options):
    try:
        return vars(cls(*args, **options))
    except TypeError as error:
        return str(error).partition("() ")[2]


@pytest.mark.parametrize(
    "cls",
    [Nothing, Plain, WithDefaults, WithPostInit, OwnInit, WithFactory, WithClassVariable, WithParameterOnly,
     KeywordsOnly],
)  # fmt: skip
def test_objects_are_made_as_by_the_standard_library(cls):
    body = {k: v for k, v in vars(cls).items() if k not in ("__dict__", "__weakref__")}
    ours, theirs = (make(type(cls.__name__, (), dict(body))) for make in (dataclass, dataclasses.dataclass))
    assert [(p.name, p.kind, p.default) for p in inspect.signature(ours).parameters.values()] == [
        (p.name, p.kind, p.default) for p in inspect.signature(theirs).parameters.values()
    ]
    assert [f.name for f in dataclasses.fields(ours)] == [f.name for f in dataclasses.fields(theirs)]
    for args, options in CALLS:
        assert outcome(ours, args, options) == outcome(theirs, args, options)


def test_fields_of_a_base_class_come_first():
    @dataclass
    class Base:
        x: int
        rows: list[int] = dataclasses.field(default_factory=list)

    @dataclass
    class Derived(Base):
        y: int = 4

    first, second = Derived(1), Derived(2, [5], 6)
    assert (first.x, first.rows, first.y) == (1, [], 4) and first.rows is not Derived(1).rows
    assert (second.x, second.rows, second.y) == (2, [5], 6)


def test_fields_of_a_base_class_that_are_no_parameters():
    @dataclass
    class Base:
        x: int
        cached: int = dataclasses.field(default=7, init=False)

    @dataclass
    class Derived(Base):
        y: int = 4

    assert list(inspect.signature(Derived).parameters) == ["x", "y"]
    assert vars(Derived(1, 2)) == {"x": 1, "y": 2} and Derived(1).cached == 7


def test_objects_that_are_not_compared():
    @dataclass(eq=False)
    class Plain:
        x: int = 1

    @dataclass(eq=False)
    class Rows:
        rows: list[int] = dataclasses.field(default_factory=list)

    @dataclass(eq=False)
    class Derived(Rows):
        y: int = 4

    for cls in (Plain, Rows, Derived):
        one, other = cls(), cls()
        assert one != other and len({one, other}) == 2


def test_a_field_without_a_default_cannot_follow_one_that_has_one():
    with pytest.raises(TypeError, match="non-default argument 'y' follows default argument"):

        @dataclass
        class Wrong:
            x: int = 1
            y: int


@dataclass(frozen=True)
class Point:
    x: int
    y: int = 0


def test_objects_are_compared_copied_and_shown():
    assert Point(1) == Point(1, 0) != Point(1, 2) and len({Point(1), Point(1, 0)}) == 1
    assert pickle.loads(pickle.dumps(Point(3, 4))) == copy.copy(Point(3, 4)) == dataclasses.replace(Point(3, 0), y=4)
    assert repr(Point(1, 2)) == "Point(x=1, y=2)"
    with pytest.raises(TypeError, match=r"^Point\.__init__\(\) missing 1 required positional argument: 'x'"):
        Point()


def test_docstrings():
    assert dataclass(type("Plain", (), dict(vars(Plain), __doc__=None))).__doc__ == "Plain(x, y)"
    assert dataclass(type("Plain", (), dict(vars(Plain), __doc__="A pair."))).__doc__ == "A pair."
