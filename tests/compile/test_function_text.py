"""What compiled functions look like when they are printed."""

import copy
import gc
import pickle
import re

import numpy as np

import aesara
import aesara.tensor as at


def without_time(f):
    text = repr(f)
    assert str(f) == text
    assert re.search(r", compiled in \d+\.\d ms>$", text)
    return text.rpartition(", compiled in")[0]


def test_name_inputs_outputs_and_time():
    x, n, w = at.dmatrix("x"), at.lscalar(), aesara.shared(np.ones((3, 2)), name="w")
    y = at.tanh(x @ w) + 1
    f = aesara.function([x, n], [y, n], updates={w: w * 2}, name="step", on_unused_input="ignore")
    assert without_time(f) == (
        "<function 'step': x: float64[?, ?], int64, shared w: float64[?, ?] -> tanh(x @ w) + 1: float64[?, ?], int64; "
        "updates w; native code"
    )
    assert f.compile_seconds > 0
    g = aesara.function([x], {"a": y.sum(), "b": x}, mode="FAST_COMPILE", name="g")
    text = "<function 'g': x: float64[?, ?], shared w: float64[?, ?] -> a = sum(tanh(x @ w) + 1): float64, "
    assert without_time(g) == text + "b = x: float64[?, ?]; Python, node by node"


def test_nothing_and_much():
    assert without_time(aesara.function([], [], name="none")) == "<function 'none': nothing -> nothing; native code"
    inputs = [at.dscalar(f"v{k}") for k in range(9)]
    text = without_time(aesara.function(inputs, inputs, name="many"))
    assert "v5: float64, and 3 more -> v0: float64" in text and "v6" not in text


def test_formulas_are_those_of_the_user_or_none():
    x = at.dvector("x")
    y = 2 * x + 1  # a float, once it has been rewritten
    f = aesara.function([x], y, name="f")
    assert "-> 2 * x + 1: float64[?];" in repr(f)
    del y
    gc.collect()
    assert "x: float64[?] -> float64[?]; native code" in repr(f)
    f.name = None
    assert repr(f).startswith("<function: x: ")


def test_copies():
    x = at.dvector("x")
    f = aesara.function([x], x * 2, name="f")
    for other in (pickle.loads(pickle.dumps(f)), copy.deepcopy(f), f.copy(name="f")):
        assert repr(other) == "<function 'f': x: float64[?] -> float64[?]; native code>"
