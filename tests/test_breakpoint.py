"""Breakpoints inside of compiled functions."""

import pdb
import sys

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.breakpoint import PdbBreakpoint
from aesara.compile.mode import Mode
from aesara.typed_list import TypedListType


def test_the_debugger_is_called_where_the_condition_holds(monkeypatch, capsys):
    calls = []
    monkeypatch.setattr(pdb, "set_trace", lambda: calls.append(1))
    x, y = at.dvectors("x", "y")
    seen_x, seen_y = PdbBreakpoint("large")(at.gt(x.sum(), 10), x, y)
    f = aesara.function([x, y], [seen_x + 1, seen_y, aesara.grad((seen_x * seen_y).sum(), x)])
    assert [v.tolist() for v in f([1.0, 2.0], [3.0, 4.0])] == [[2, 3], [3, 4], [3, 4]] and not calls
    f([10.0, 2.0], [3.0, 4.0])
    assert calls == [1]
    assert "large" in capsys.readouterr().out


def test_what_the_debugger_changes_goes_on(monkeypatch):
    """The values can be written to: the op hands them on, and nobody else sees it."""

    def write():
        (monitored,) = sys._getframe(1).f_locals["monitored"]
        monitored[0] = 7

    monkeypatch.setattr(pdb, "set_trace", write)
    x = at.dvector("x")
    value = np.array([1.0, 2.0])
    f = aesara.function([x], [PdbBreakpoint("here")(np.True_, x), x * 1], mode=Mode("py", None))
    assert [v.tolist() for v in f(value)] == [[7, 2], [1, 2]]
    assert value.tolist() == [1, 2]


def test_what_is_no_array_is_handed_on_as_it_is():
    values = TypedListType(at.dvector)("values")
    f = aesara.function([values], PdbBreakpoint("here")(np.False_, values))
    assert [v.tolist() for v in f([np.ones(2), np.zeros(1)])] == [[1, 1], [0]]


def test_wrong_uses():
    with pytest.raises(TypeError, match="single truth value"):
        PdbBreakpoint("a")(at.dvector(), at.dvector())
    with pytest.raises(ValueError, match="at least one"):
        PdbBreakpoint("a")(at.constant(np.True_))
