"""Python code may do anything during a call: the process survives, with the right values or an exception."""

import gc
import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest

#: an operation in Python with two outputs, that does something more, and a function with it
PREAMBLE = """
import gc
import numpy as np
import aesara
import aesara.tensor as at
from aesara.graph.basic import Apply
from aesara.graph.op import Op

class AndMore(Op):
    __props__ = ()
    act = staticmethod(lambda inputs, storage: None)

    def make_node(self, x):
        x = at.as_tensor_variable(x)
        return Apply(self, [x], [x.type(), x.type()])

    def perform(self, node, inputs, storage):
        storage[0][0], storage[1][0] = inputs[0] + 1, inputs[0] + 2
        AndMore.act(inputs, storage)

    def infer_shape(self, fgraph, node, shapes):
        return [shapes[0], shapes[0]]

def doing(act, f, *arguments):
    AndMore.act = staticmethod(act)
    try:
        return f(*arguments)
    except (RuntimeError, ValueError, TypeError, IndexError) as error:
        return f"{type(error).__name__}: {error}"

LONG = 300_000
x = at.dvector("x")
y, z = AndMore()(x)
"""


def survives(program):
    """Run a program in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", PREAMBLE + textwrap.dedent(program)],
        capture_output=True, text=True, timeout=300, env={**os.environ, "AESARA_FLAGS": "native_fallback=ignore"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]


def test_the_list_of_cells_may_be_changed():
    survives("""
    f = aesara.function([x], [at.exp(y) * 2, z.sum()])
    data = np.arange(3.0)
    def same(act):
        value, total = doing(act, f, data)
        assert np.allclose(value, 2 * np.exp(data + 1)) and total == (data + 2).sum()
    for act in (list.clear, list.pop, lambda s: s.pop(0), lambda s: s.extend([1, 2]), lambda s: s.__delitem__(0)):
        same(lambda inputs, storage: act(storage))
    same(lambda inputs, storage: storage.__setitem__(0, [np.zeros(2)]))
    """)


def test_cells_may_be_emptied_or_hold_anything():
    survives("""
    f = aesara.function([x], [at.exp(y) * 2, z.sum()])
    data = np.arange(3.0)
    for act in (list.clear, list.pop):
        assert "has left output 0 empty" in doing(lambda inputs, storage: act(storage[0]), f, data)
    odd = [None, "a", 3, object(), [1, 2], np.zeros((2, 2)), np.zeros(3, complex), np.array(["a"]), np.zeros(3, object)]
    for value in odd:
        doing(lambda inputs, storage: storage[0].__setitem__(0, value), f, data)
    swapped = np.arange(3.0).astype(">f8")
    value, _ = doing(lambda inputs, storage: storage[0].__setitem__(0, swapped), f, data)
    assert np.allclose(value, 2 * np.exp(data))
    """)


@pytest.mark.parametrize(
    "change",
    [
        "a.resize(0, refcheck=False)",
        "a.resize(3 * LONG, refcheck=False)",
        "a.__setstate__((1, (3,), np.dtype('float64'), False, bytes(24)))",
        "setattr(a, 'shape', (2, LONG // 2))",
        "setattr(a, 'dtype', np.dtype('int8'))",
    ],
)
def test_arrays_in_use_may_get_other_memory(change):
    survives(f"""
    change = lambda a: {change}
    first = lambda: np.arange(float(LONG))
    s = aesara.shared(first())
    for out in ([at.exp(-x).sum() + y, x * 2 + z.sum()], [at.exp(-s).sum() + y, s * 2 + z.sum()], [z, x.T + y, s]):
        f = aesara.function([x], out, updates=[(s, s + y[0])])
        for target in ("argument", "shared", "both"):
            s.set_value(first())
            argument = first()
            def act(inputs, storage):
                if target != "shared":
                    change(argument)
                if target != "argument":
                    change(s.get_value(borrow=True))
                gc.collect()
            got = doing(act, f, argument)
            assert isinstance(got, list) or "resized or reshaped an array" in got, got
    # what an operation has stored before, which it has kept
    kept = []
    def act(inputs, storage):
        for a in kept:
            change(a)
        kept.append(storage[0][0])
    f = aesara.function([x], at.exp(-y) + AndMore()(z)[0].sum() + AndMore()(y)[1])
    got = doing(act, f, first())
    assert "resized or reshaped an array" in got, got
    """)


def test_containers_may_be_emptied():
    survives("""
    data, w = np.arange(3.0), at.dvector("w")
    for during in (True, False):
        for act in (list.clear, list.pop, lambda cell: cell.__setitem__(slice(None), [])):
            s = aesara.shared(np.ones(3))
            f = aesara.function([x], [y * s, z], updates=[(s, s + y)])
            g = aesara.function([x, aesara.In(w, value=np.ones(3), update=w + x)], y * 2)
            for function, cell in ((f, s.container.storage), (g, g.input_storage[1].storage)):
                if during:
                    assert not isinstance(doing(lambda inputs, storage: act(cell), function, data), str)
                else:
                    act(cell)
                got = doing(lambda inputs, storage: None, function, data)
                assert got.startswith(("ValueError", "IndexError")), got
            s.set_value(np.ones(3)) if len(s.container.storage) else s.container.storage.append(np.ones(3))
            assert np.array_equal(f(data)[0], data + 1) and np.array_equal(s.get_value(), data + 2)
    """)


def test_containers_may_hold_anything():
    survives("""
    s = aesara.shared(np.ones(3))
    f = aesara.function([x], x * s, updates=[(s, s + 1)])
    for value in (None, "a", 3, object(), np.ones((2, 2)), np.ones(3, "complex64"), np.ones(3, ">f8"), np.ones(2)):
        s.container.storage[0] = value
        assert doing(None, f, np.ones(3)).startswith(("TypeError", "ValueError"))
    s.container.storage[0] = np.ones(6)[::2]
    assert np.array_equal(f(np.ones(3)), np.ones(3))
    """)


@pytest.mark.slow
def test_tables_of_compiled_code_are_read_only():
    import aesara
    import aesara.tensor as at

    x = at.dvector("x")
    f = aesara.function([x], at.exp(x))
    with pytest.raises(ValueError, match="read-only"):
        f._native.table[:] = 0
    n = at.dscalar("n")
    strict = aesara.function([aesara.In(n, strict=True)], n + 1)
    with pytest.raises(ValueError, match="read-only"):
        strict._native.table[:] = 0
    gc.collect()
    np.testing.assert_array_equal(f(np.zeros(2)), 1)
