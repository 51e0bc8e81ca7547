"""Other threads cannot resize arrays that a call reads without the GIL."""

import threading
import weakref

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.compile.ops import as_op
from aesara.link.llvm import spills

LONG = 500_000


def try_to_resize(array):
    """Try to resize the array; return whether it was resized."""
    try:
        array.resize(7, refcheck=False)
    except ValueError:
        return False
    return True


@pytest.mark.parametrize("many", [spills.MANY, -1])
@pytest.mark.parametrize("where", ["argument", "shared value", "value that is updated"])
def test_arrays_are_not_resized_while_they_are_read(where, many, monkeypatch):
    monkeypatch.setattr(spills, "MANY", many)
    begun = threading.Event()

    @as_op([at.dscalar], [at.dscalar])
    def begin(value):
        begun.set()
        return np.asarray(value)

    x, shared = at.dvector("x"), aesara.shared(np.zeros(1))
    read = x if where == "argument" else shared
    # enough work for an update that is not done in place, with the GIL held
    out = (sum(at.exp(at.sin(read * k)) for k in range(6)) + begin(x[0])).sum()
    f = aesara.function([x], out, updates=[(shared, at.tanh(shared) + at.cos(shared))] if "updated" in where else [])
    expected = LONG * (np.exp(np.sin(np.arange(6.0))).sum() + 1.0)
    refused = 0
    for _ in range(100):
        array = np.ones(LONG)
        shared.set_value(array, borrow=True)
        answers = []

        def call(array=array, answers=answers):
            try:
                answers.append(f(array if where == "argument" else np.ones(1)))
            except RuntimeError as error:  # it was resized between the steps
                answers.append(str(error))

        begun.clear()
        thread = threading.Thread(target=call)
        thread.start()
        begun.wait()
        while thread.is_alive() and not try_to_resize(array):
            refused += 1
        thread.join()
        (answer,) = answers
        if isinstance(answer, str):
            assert "resized or reshaped an array" in answer
        else:
            np.testing.assert_allclose(answer, expected, rtol=1e-12)
        if refused > 10:
            break
    assert refused > 10


def test_pins_are_released():
    x, y = at.dvectors("xy")
    f = aesara.function([x, y], [at.exp(at.sin(x)) * y, at.exp(y).sum()])
    arrays = np.ones(LONG), np.ones(LONG)
    f(*arrays)
    with pytest.raises(ValueError):
        f(arrays[0], np.ones(3))
    assert not any(map(weakref.getweakrefcount, arrays))
    assert all(map(try_to_resize, arrays))
