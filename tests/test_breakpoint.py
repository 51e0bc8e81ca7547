"""Breakpoints inside of compiled functions."""

import pdb

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.breakpoint import PdbBreakpoint


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


def test_wrong_uses():
    with pytest.raises(TypeError, match="single truth value"):
        PdbBreakpoint("a")(at.dvector(), at.dvector())
    with pytest.raises(ValueError, match="at least one"):
        PdbBreakpoint("a")(at.constant(np.True_))
