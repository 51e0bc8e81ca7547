"""Shapes whose form is decided at run time: what is inferred is the shape of the value, for every kind of argument.

A function of the shape alone is computed beside one of the value, for lengths of 0, 1 and more that no type knows, and
for negative and zero numbers. Where the value cannot be computed nothing is asked of the shape.
"""

import itertools

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.compile.mode import Mode

SHAPE_MODE = Mode("llvm", "fast_run")
LENGTHS = (0, 1, 2, 5)
AROUND = (-6, -2, -1, 0, 1, 2, 6)


def vectors(*lengths):
    return [np.arange(n) + 0.5 for n in lengths]


def matrices(lengths=LENGTHS):
    return [np.arange(float(n * m)).reshape(n, m) for n, m in itertools.product(lengths, repeat=2)]


def integers(*values):
    return [np.array(v, dtype="int64") for v in values]


#: graphs, and for each input the values that it takes in all combinations
CASES = {
    "repeat by a vector": (lambda x, r: at.repeat(x, r), vectors(*LENGTHS), integers([3], [1], [0], [2, 0], [1, 2])),
    "repeat along an axis": (lambda x, r: at.repeat(x, r, axis=1), matrices(), integers([3], [0], [2, 0], [1, 2])),
    "repeat of all": (
        lambda x, r: at.repeat(x, r, axis=None),
        matrices((0, 1, 2)),
        integers([3], [0], [2, 0], [1, 2, 3, 4]),
    ),
    "repeat by a number": (lambda x, r: at.repeat(x, r, axis=0), matrices((0, 1, 2)), integers(0, 1, 3)),
    "topk": (lambda x, k: at.topk(x, k), vectors(*LENGTHS), integers(*AROUND)),
    "argtopk": (lambda x, k: at.argtopk(x, k, axis=0), matrices(), integers(*AROUND)),
    "topk_and_argtopk": (lambda x, k: at.topk_and_argtopk(x, k, axis=-1), matrices((1, 5)), integers(*AROUND)),
    "topk by a small integer": (lambda x, k: at.topk(x, k), vectors(128, 200), [np.int8(k) for k in (-128, -2, 127)]),
    "diagonal above": (lambda x: at.diagonal(x, offset=2), matrices()),
    "diagonal below": (lambda x: at.diagonal(x, offset=-1), matrices()),
    "diag": (lambda x: at.diag(x, k=-2), vectors(*LENGTHS)),
    "slice": (lambda x, a, b: x[a:b], vectors(*LENGTHS), integers(*AROUND), integers(*AROUND)),
    "slice in steps": (
        lambda x, a, b, c: x[a:b:c],
        vectors(*LENGTHS),
        integers(-6, -1, 0, 2, 6),
        integers(-6, -1, 0, 2, 6),
        integers(-3, -1, 1, 2),
    ),
    "slice from": (lambda x, a: x[a:], vectors(*LENGTHS), integers(*AROUND)),
    "slice to, backwards": (lambda x, a: x[:a:-1], vectors(*LENGTHS), integers(*AROUND)),
    "every": (lambda x, c: x[::c], vectors(*LENGTHS), integers(-6, -2, -1, 1, 2, 6)),
    "arange": (lambda a, b, c: at.arange(a, b, c), *[integers(-5, 0, 1, 5)] * 2, integers(-3, -1, 1, 2)),
    "arange of floats": (
        lambda a, b, c: at.arange(a, b, c),
        *[[np.array(v) for v in (-2.5, 0.0, 3.1)]] * 2,
        [np.array(v) for v in (-1.0, 0.3, 7.0)],
    ),
    "reshape": (
        lambda x, s: at.reshape(x, s, ndim=2),
        vectors(0, 1, 6),
        integers([-1, 2], [2, -1], [1, -1], [3, 2], [0, 4], [1, 1]),
    ),
    "join": (lambda i, x, y: at.join(i, x, y), integers(-2, -1, 0, 1), matrices((0, 1, 2)), matrices((0, 1, 2))),
    "split": (
        lambda x, i, s: at.split(x, s, 2, i),
        matrices((0, 1, 2, 3)),
        integers(-1, 0, 1),
        integers([1, 1], [0, 2], [2, 1], [0, 0]),
    ),
    "take": (lambda x, i: at.take(x, i, axis=0, mode="clip"), matrices((1, 2)), integers([0], [5, -5], [])),
    "two index vectors": (
        lambda x, i, j: x[i, j],
        matrices((1, 5)),
        integers([0], [0, 0], []),
        integers([0], [0, 0], []),
    ),
    "mean of two": (lambda x, y: at.maximum(x, y), vectors(*LENGTHS), vectors(*LENGTHS)),
    "broadcast_to": (lambda x, n, m: at.broadcast_to(x, (n, m)), vectors(1, 2), integers(0, 1, 3), integers(1, 2)),
    "tile": (lambda x, n: at.tile(x, (n, 2)), matrices((0, 1, 2)), integers(0, 1, 3)),
    "roll": (lambda x, n: at.roll(x, n), vectors(*LENGTHS), integers(*AROUND)),
    "pad": (lambda x, n: at.pad(x, ((n, 1),), mode="constant"), vectors(*LENGTHS), integers(0, 1, 3)),
    "eye": (lambda n, m, k: at.eye(n, m, k), integers(0, 1, 3), integers(0, 1, 3), integers(-4, 0, 1)),
    "tri": (lambda n, m, k: at.tri(n, m, k), integers(0, 1, 3), integers(0, 1, 3), integers(-4, 0, 1)),
    "alloc": (lambda n, m: at.alloc(1.0, n, m), integers(0, 1, 3), integers(0, 1, 3)),
    "alloc of a vector": (lambda x, n: at.alloc(x, n, x.shape[0]), vectors(*LENGTHS), integers(0, 1, 3)),
    "linspace": (lambda n: at.linspace(0.0, 1.0, n), integers(0, 1, 2, 7)),
    "diff": (lambda x: at.diff(x, n=2), vectors(*LENGTHS)),
    "convolve": (lambda x, y: at.convolve(x, y, mode="valid"), vectors(1, 2, 5), vectors(1, 2, 5)),
    "convolve to the same": (lambda x, y: at.convolve(x, y, mode="same"), vectors(1, 2, 5), vectors(1, 2, 5)),
    "bincount": (lambda x, n: at.bincount(x, minlength=n), integers([], [0], [3, 1]), integers(0, 1, 6)),
    "choose": (lambda i, x, y: at.choose(i, [x, y]), integers([0], [0, 1]), vectors(2), vectors(2)),
    "cumsum of all": (lambda x: at.cumsum(x), matrices((0, 1, 2))),
    "flatten": (lambda x: at.flatten(x), matrices((0, 1, 2))),
    "set_subtensor": (
        lambda x, a, b: at.set_subtensor(x[a:b], 0.0),
        vectors(*LENGTHS),
        integers(-2, 0, 9),
        integers(-2, 0, 9),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_the_inferred_shape_is_that_of_the_value(name):
    build, *given = CASES[name]
    inputs = [at.TensorType(str(v[0].dtype), (None,) * v[0].ndim)() for v in given]
    outputs = build(*inputs)
    outputs = outputs if isinstance(outputs, (list, tuple)) else [outputs]
    function = aesara.function(inputs, list(outputs), mode="FAST_COMPILE", on_unused_input="ignore")
    shapes = aesara.function(inputs, [o.shape for o in outputs], mode=SHAPE_MODE, on_unused_input="ignore")
    computed = 0
    for values in itertools.product(*given):
        try:
            results = function(*values)
        except (ValueError, IndexError, AssertionError):
            continue
        computed += 1
        for result, inferred in zip(results, shapes(*values), strict=True):
            assert tuple(inferred) == result.shape, [v.tolist() for v in values]
    assert computed * 5 >= np.prod([len(v) for v in given]), f"{computed} combinations have a value"
