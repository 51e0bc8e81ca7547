"""Each class of steps has its own emitter."""

from __future__ import annotations

import re

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.graph.traversal import graph_inputs
from aesara.ir.steps import Step
from aesara.link.llvm import emit_steps, layout
from aesara.link.llvm.chunks import ELEMENTS
from aesara.link.llvm.emit_program import EntryPoint
from aesara.link.llvm.emit_steps import emission_of, emits
from aesara.link.llvm.emit_threads import Threads


@pytest.mark.parametrize("kind", Step.__subclasses__())
def test_every_class_has_its_emission(kind):
    emission = emission_of(object.__new__(kind))
    others = [emission_of(object.__new__(other)).emit for other in Step.__subclasses__() if other is not kind]
    assert callable(emission.emit) and emission.emit not in others


@pytest.mark.parametrize("kind", Step.__subclasses__())
def test_steps_with_a_kind_have_a_weight(kind):
    """Steps with a kind take time; nodes in Python check for signals themselves."""
    assert (emission_of(object.__new__(kind)).weight > 0) == (kind.kind is not Step.kind and not kind.calls_python)


def text_of(function, entry_point=EntryPoint):
    return entry_point(function._native.report.lowering.program).module().text()


@pytest.mark.parametrize("shape", [(None, None), (2, 2)])
@pytest.mark.parametrize("count", [1, 3, 4, 9, 40])
def test_signals_are_checked_after_some_steps(count, shape):
    """A product weighs 4 and a kernel 1; there are no checks if all steps are short."""
    x, y = (at.TensorType("float64", shape)(name) for name in "xy")
    for _ in range(count):
        x = at.tanh(at.dot(x, y))
    text = text_of(aesara.function(list(graph_inputs([x])), x))
    looks = len(re.findall(r"call i1 %\S+\(ptr %frame\)", text))
    assert 5 * count // 20 <= looks <= 5 * count // 16 if None in shape else looks == 0


x, t, n = at.dmatrix("x"), at.dtensor3("t"), at.lscalar("n")
EVERY = {
    "sums of rows": (x, x.sum(axis=1), [1024]),
    "products of rows": (x, x.prod(axis=1), [1024]),
    "sums of matrices": (t, t.sum(axis=(1, 2)), [1024, 64]),
    "sums of computed rows": (n, at.exp(at.outer(at.arange(n), at.arange(n))).sum(axis=1), [1024]),
    "extrema of matrices": (t, t.max(axis=(1, 2)), [64]),
    "one sum": (x, x.sum(), []),
    "sums of columns": (x, x.sum(axis=0), []),
    "extrema of rows": (x, x.max(axis=1), []),
    "elements": (t, at.exp(t), []),
}


@pytest.mark.parametrize("name", EVERY)
def test_iterations_between_checks_in_nested_loops(name):
    """After some blocks of a sum, of a thousand elements each, or a few loops."""
    argument, output, rounds = EVERY[name]
    text = text_of(aesara.function([argument], output))
    assert [int(mask) + 1 for mask in re.findall(r"and i64 %\S+, (\d{2,})$", text, re.M)] == rounds


@pytest.mark.parametrize(
    ("rows", "columns", "is_cut"),
    [
        (at.arange(n), at.arange(n), True),
        (at.arange(n), at.arange(1000), False),
        (at.arange(n), at.arange(ELEMENTS), False),
        (at.arange(n), at.arange(ELEMENTS + 1), True),
        (x[:, 0], at.arange(n), True),
        (at.arange(n), x[0], False),  # memory bounds how many there are
    ],
)
def test_nested_loops_over_elements_that_are_split(rows, columns, is_cut):
    found = at.any(at.eq(rows[:, None] * columns, 3), axis=1)
    text = text_of(aesara.function([n, x], found, on_unused_input="ignore"))
    assert bool(re.search(rf"add nsw i64 %first\.\d+, {ELEMENTS}$", text, re.M)) == is_cut


@pytest.mark.parametrize("count", [1, 2, 5])
def test_in_place_updates_are_decided_once(count):
    """The decision for all values comes before the first of them."""
    decided = []

    class Noted(Threads):
        def decide_in_place_updates(self, steps, size):
            decided.append([buffer.name for step in steps for buffer in step.overwrites()])
            super().decide_in_place_updates(steps, size)

    class Entry(EntryPoint):
        threads_class = Noted

    states = [aesara.shared(np.zeros(k + 3)) for k in range(count)]
    x = at.dscalar("x")
    f = aesara.function([x], updates=[(state, state * x + 1) for state in states])
    text_of(f, Entry)
    assert [len(set(names)) for names in decided] == [count]
    x = at.dvector("x")
    text_of(aesara.function([x], updates=[(state, x) for state in states]), Entry)
    assert len(decided) == 1


def test_registering(monkeypatch):
    monkeypatch.setattr(emit_steps, "_EMISSIONS", {})

    class Other(Step.__subclasses__()[0]):
        """A class of steps outside of programs."""

    def emit(entry, step):
        """Emit nothing."""

    assert emits(Other, weight=3)(emit) is emit
    found = emission_of(object.__new__(Other))
    assert (found.emit, found.weight) == (emit, 3)
    with pytest.raises(KeyError):
        emission_of(object.__new__(Step.__subclasses__()[0]))


def releases(function):
    """Return the conditions under which a function releases the GIL."""
    text = text_of(function)
    calls = re.escape(f"getelementptr i8, ptr %table, i64 {8 * layout.WORD['release']}\n")
    labels = re.findall(rf"(?m)^(release\.\d+):\n%\S+ = {calls}", text)
    return [re.search(rf"br i1 (\S+), label %{label},", text)[1] for label in labels]


@pytest.mark.parametrize(
    "shape, steps, expected",
    [((6, 6), 21, []), ((6, 6), 10**6, ["true"]), ((None, None), 21, ["%", "%"]), ((6, 6), None, ["%"])],
)
def test_long_loops_release_the_gil(shape, steps, expected):
    """The estimate is known before the loop, at the latest at run time."""
    W, h, n = at.tensor("float64", shape=shape), at.tensor("float64", shape=shape[:1]), at.lscalar()
    states, _ = aesara.scan(lambda h, W: at.tanh(at.dot(W, h)), outputs_info=[h], non_sequences=[W], n_steps=steps or n)
    found = releases(aesara.function([W, h, n], states[-1], on_unused_input="ignore"))
    assert [when[: len(e)] for when, e in zip(found, expected, strict=True)] == expected


def test_loops_of_unknown_duration_release_the_gil():
    """The duration of an iteration is known only when it begins."""
    k, v = at.lvector(), at.dvector()
    sums, _ = aesara.scan(lambda k, v: at.exp(at.sort(v[:k])).sum(), sequences=[k], non_sequences=[v])
    assert releases(aesara.function([k, v], sums)) == ["true"]
