"""Ordered updates, and the names of the package."""

import pytest

import aesara
from aesara.updates import OrderedUpdates


@pytest.fixture
def s():
    return aesara.shared(1.0, name="s")


@pytest.fixture
def t():
    return aesara.shared(2.0, name="t")


def test_keeps_the_order(s, t):
    assert list(OrderedUpdates([(t, t + 1), (s, s + 1)])) == [t, s]
    assert list(OrderedUpdates({s: s + 1, t: t + 1})) == [s, t]
    assert OrderedUpdates() == {}


def test_only_shared_variables(s):
    for key in ("a", aesara.tensor.dvector(), 3):
        with pytest.raises(TypeError, match="must inherit from SharedVariable"):
            OrderedUpdates({key: 1})
        with pytest.raises(TypeError, match="must inherit from SharedVariable"):
            OrderedUpdates()[key] = 1


def test_joining(s, t):
    one, two = OrderedUpdates({s: s + 1}), OrderedUpdates({t: t + 1})
    joined = one + two
    assert isinstance(joined, OrderedUpdates) and list(joined) == [s, t] and list(one) == [s]
    assert list({t: t + 1} + one) == [t, s]
    one.update(two)
    one.update(None)
    one.update(joined)
    assert list(one) == [s, t]


def test_collisions(s):
    one = OrderedUpdates({s: s + 1})
    for other in ({s: s + 2}, OrderedUpdates({s: s + 2})):
        with pytest.raises(KeyError, match="Collision"):
            one.update(other)
        with pytest.raises(KeyError, match="Collision"):
            one + other


def test_public_names():
    for name in aesara.__all__:
        assert getattr(aesara, name) is not None
    assert aesara.__version__ == "3.0.0.dev0"
    assert aesara.get_scalar_constant_value(aesara.tensor.constant(3)) == 3
    assert aesara.OrderedUpdates is OrderedUpdates
