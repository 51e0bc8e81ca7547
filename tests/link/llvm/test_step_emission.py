"""Each class of steps is emitted by a function of its own."""

from __future__ import annotations

import pytest

from aesara.ir.steps import Step
from aesara.link.llvm import emit_steps
from aesara.link.llvm.emit_steps import emission_of, emits


@pytest.mark.parametrize("kind", Step.__subclasses__())
def test_every_class_has_its_emission(kind):
    emission = emission_of(object.__new__(kind))
    others = [emission_of(object.__new__(other)).emit for other in Step.__subclasses__() if other is not kind]
    assert callable(emission.emit) and emission.emit not in others


@pytest.mark.parametrize("kind", Step.__subclasses__())
def test_signals_are_looked_for_after_what_lasts(kind):
    """What has a kind takes time; nodes in Python look for signals themselves."""
    assert (emission_of(object.__new__(kind)).weight > 0) == (kind.kind is not None and not kind.calls_python)


def test_registering(monkeypatch):
    monkeypatch.setattr(emit_steps, "_EMISSIONS", {})

    class Other(Step.__subclasses__()[0]):
        """No step of programs."""

    def emit(entry, step):
        """Nothing."""

    assert emits(Other, weight=3)(emit) is emit
    found = emission_of(object.__new__(Other))
    assert (found.emit, found.weight) == (emit, 3)
    with pytest.raises(KeyError):
        emission_of(object.__new__(Step.__subclasses__()[0]))
