"""A function's table has the addresses of all routines that its code calls; rarely needed ones are loaded on demand."""

from __future__ import annotations

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara import In, Out
from aesara.link.llvm.host_code import HostCode
from aesara.link.llvm.layout import WORD
from aesara.link.llvm.runtime.code import routine_words

v, m, s = at.dvector("v"), at.dmatrix("m"), at.dscalar("s")


def updating():
    total = aesara.shared(np.zeros(3))
    return aesara.function([v], total.sum(), updates={total: total + v})


def accumulating():
    total = aesara.shared(np.zeros((200, 300)))
    return aesara.function([m], [], updates={total: at.inc_subtensor(total[1], at.exp(m).sum(axis=0))})


def reading():
    return aesara.function([v], aesara.shared(np.ones(3)) * v)


def drawing():
    return aesara.function([], at.random.RandomStream(3).normal(size=(4,)))


def lending():
    return aesara.function([v], Out(v * 2, borrow=True))


def overwriting():
    return aesara.function([In(v, mutable=True, borrow=True)], Out(at.exp(v), borrow=True))


def looping():
    return aesara.function([v, s], aesara.scan(lambda x, t: at.sin(x + t), v, outputs_info=s)[0])


def many_arguments():
    given = [at.dvector(f"v{k}") for k in range(80)]
    return aesara.function(given, sum(given))


MADE = {
    "number": lambda: aesara.function([s], s + 1),
    "several": lambda: aesara.function([v, s], [v + s, v.sum()]),
    "nothing": lambda: aesara.function([], []),
    "products": lambda: aesara.function([m], at.dot(m, m.T)),
    "in Python": lambda: aesara.function([v], at.sort(v, kind="heapsort") + at.cumprod(v)),
    "unknown lengths": lambda: aesara.function([v], v[v > 0] * 2),
    "updating": updating,
    "accumulating": accumulating,
    "reading": reading,
    "drawing": drawing,
    "lending": lending,
    "overwriting": overwriting,
    "looping": looping,
    "many arguments": many_arguments,
}


@pytest.mark.parametrize("which", MADE)
def test_called_routines_are_in_the_table(which, monkeypatch):
    called = set()
    call = HostCode.call
    monkeypatch.setattr(HostCode, "call", lambda self, name, *rest: (called.add(name), call(self, name, *rest))[1])
    table = MADE[which]()._native.table
    assert called
    assert {name for name in called & set(WORD) if not table[WORD[name]]} == set()


def test_rare_routines_are_loaded_on_demand():
    few = {
        "values": {"secure", "reuse"},
        "lent": {"lend"},
        "arguments": {"arguments"},
        "generators": {"attach", "keep"},
    }
    plain = set(routine_words(()))
    for kind, names in few.items():
        assert not names & plain
        assert names <= set(routine_words((), **{kind: True}))
    assert "matmul.float32" not in plain and "matmul.float32" in routine_words(("float32",))
