"""Functions with lent results and in-place updates allocate nothing after their first calls."""

import gc
import sys
import tracemalloc
import weakref

import numpy as np
import pytest

import aesara
import aesara.tensor as at

x, m, i, d = at.dvector("x"), at.dmatrix("m"), at.lvector("i"), at.dscalar("d")
VECTOR, MATRIX = np.linspace(0.1, 1, 200), np.full((100, 200), 0.01)
weights = aesara.shared(np.full((200, 200), 0.01))
total, count, large = aesara.shared(np.zeros(200)), aesara.shared(np.float64(0)), aesara.shared(np.zeros(100_000))
states, _ = aesara.scan(lambda u, h: at.tanh(u + h), sequences=x, outputs_info=at.constant(np.float64(0)))
products, _ = aesara.scan(lambda h, w: at.tanh(h.dot(w)), outputs_info=x, non_sequences=weights, n_steps=10)


def lent(*results):
    return [aesara.Out(result, borrow=True) for result in results] if len(results) > 1 else aesara.Out(*results, True)


def step_of_descent():
    return weights - 1e-9 * aesara.grad(at.tanh(m.dot(weights)).sum(), weights)


CASES = {
    "elementwise": lambda: (aesara.function([x], lent(at.exp(x) * 2)), (VECTOR,)),
    "stages": lambda: (aesara.function([m], lent(at.exp(m) / at.exp(m).sum(axis=1, keepdims=True))), (MATRIX,)),
    "layers": lambda: (aesara.function([m], lent(at.tanh(at.tanh(m.dot(weights)).dot(weights)))), (MATRIX,)),
    "loop": lambda: (aesara.function([x], lent(states)), (VECTOR,)),
    "loop of products": lambda: (aesara.function([x], lent(products[-1])), (VECTOR,)),
    "gradient of a loop": lambda: (aesara.function([x], lent(aesara.grad(states.sum(), x))), (VECTOR,)),
    "gather": lambda: (aesara.function([x, i], lent(x[i])), (VECTOR, np.arange(50))),
    "positions": lambda: (aesara.function([x], lent(x.nonzero()[0])), (VECTOR,)),
    "running sum": lambda: (aesara.function([x], lent(at.cumsum(x))), (VECTOR,)),
    "several": lambda: (aesara.function([x], lent(x + 1, at.sin(x))), (VECTOR,)),
    "choice": lambda: (aesara.function([x, d], lent(aesara.ifelse.ifelse(d > 0, at.exp(x), -x))), (VECTOR, 1.0)),
    "update": lambda: (aesara.function([x], [], updates={total: total + x}), (VECTOR,)),
    "counter": lambda: (aesara.function([], [], updates={count: count + 1}), ()),
    "large update": lambda: (aesara.function([], [], updates={large: large * 0.5 + 1}), ()),
    "descent": lambda: (aesara.function([m], [], updates={weights: step_of_descent()}), (MATRIX,)),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_calls_take_no_memory(name):
    function, arguments = CASES[name]()
    for _ in range(3):
        function(*arguments)
    gc.collect()
    gc.disable()
    taken = []
    tracemalloc.start()
    try:
        function(*arguments)
        for _ in range(5):
            tracemalloc.reset_peak()
            before, _ = tracemalloc.get_traced_memory()
            function(*arguments)
            taken.append(tracemalloc.get_traced_memory()[1] - before)
    finally:
        tracemalloc.stop()
        gc.enable()
    # The list of results, where there is one, and what keeps arrays from being resized while the GIL is released.
    references = len(function.maker.fgraph.inputs) * sys.getsizeof(weakref.ref(np.ones(1)))
    assert min(taken) <= 64 + references
