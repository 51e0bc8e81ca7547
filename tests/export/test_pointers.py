"""C function pointers: what they compute, what they refuse, and that they need no Python."""

import ctypes
import pickle
import re
import threading

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.compile.ops import as_op
from aesara.export import logp_pointer, vector_pointer
from aesara.link.llvm import layout
from aesara.link.llvm.emit_pointer import PointerWords, emit_pointer
from aesara.raise_op import Assert
from aesara.tensor.random.utils import RandomStream

x = at.dvector("x")
M = np.random.default_rng(3).normal(size=(40, 5))

LONG = np.random.default_rng(4).normal(size=(130, 5)) / 20


def density(logp, given=x, **options):
    return aesara.function([given], [logp, aesara.grad(logp, given)], **options)


def shared(value, name=None):
    return aesara.shared(value, name)


def walk(x):
    states = aesara.scan(lambda e, s: at.tanh(e + s), sequences=x, outputs_info=at.zeros(()))[0]
    return (states**2).sum()


CASES = {
    "elementwise": lambda x: at.exp(-(x**2)).sum(),
    "shared": lambda x: (shared(np.arange(5.0)) * x**2).sum(),
    "shared scalar": lambda x: (shared(np.float64(2.5)) * at.log1p(x**2)).sum(),
    "product": lambda x: at.tanh(at.dot(shared(M), x)).sum(),
    "large product": lambda x: at.tanh(at.dot(at.outer(at.dot(LONG, x), at.dot(LONG, x)), LONG)).sum(),
    "square product": lambda x: at.tanh(at.dot(at.outer(at.dot(LONG, x), LONG[:, 0]), at.dot(x * LONG, LONG.T))).sum(),
    "constants": lambda x: (at.constant(M)[:, :] * x).sum() - at.square(x).sum(),
    "workspace of the stack": lambda x: at.log(at.cumsum(at.exp(x))[::-1]).sum(),
    "workspace of the pool": lambda x: at.log(at.cumsum(at.exp(at.repeat(x, 1000)))[::-1]).sum(),
    "sizes that depend on values": lambda x: at.square(at.cumsum(x[at.nonzero(x > 0)[0]])).sum(),
    "cholesky": lambda x: at.log(at.diag(at.linalg.cholesky(at.outer(x, x) + 3 * at.eye(x.shape[0])))).sum(),
    "solve": lambda x: at.linalg.solve(at.diag(x**2 + 1) + 0.1, x).sum(),
    "loop": walk,
    "choice": lambda x: aesara.ifelse.ifelse(x.sum() > 0, at.exp(x).sum(), at.square(x).sum()),
    "many inputs": lambda x: sum((shared(np.full(5, 0.1 * k)) * x ** (k % 3 + 1)).sum() for k in range(70)),
    "constant gradient": lambda x: x.sum(),
}


@pytest.fixture(params=CASES)
def case(request):
    return density(CASES[request.param](x))


def test_is_what_the_function_gives(case, rng):
    pointer = logp_pointer(case)
    for _ in range(3):
        point = rng.normal(size=5)
        logp, gradient = case(point)
        found, slope = pointer(point)
        assert found == logp
        np.testing.assert_array_equal(slope, gradient)


#: what code that does without Python may take from the table: memory, BLAS and products, all without the GIL
FREE = re.compile(r"PyMem_Raw\w+|[ds](gem[mv]|syrk)|matmul.*|large.*|mirror.*|state|late")


def test_nothing_of_python_is_used(case):
    code = logp_pointer(case)._code
    text = emit_pointer(code.program, code.signature).text()
    places = [int(n) for n in re.findall(r"getelementptr i8, ptr %table, i64 (\d+)", text)]
    names = {layout.WORDS[n // 8] for n in places if n // 8 < len(layout.WORDS)}
    assert places and all(FREE.fullmatch(name) for name in names), names
    assert not any(len(layout.WORDS) <= n // 8 < layout.VARIABLE_START for n in places)


@pytest.mark.parametrize("name", ["workspace of the pool", "product", "sizes that depend on values", "many inputs"])
def test_threads_have_their_own_memory(name, rng):
    f = density(CASES[name](x))
    pointer = logp_pointer(f)
    points = rng.normal(size=(20, 5))
    expected = [f(point) for point in points]
    wrong, start = [], threading.Barrier(8)

    def work():
        start.wait()
        for _ in range(20):
            for point, (logp, gradient) in zip(points, expected):
                found, slope = pointer(point)
                if found != logp or not np.array_equal(slope, gradient):
                    wrong.append((found, logp))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_blocks_that_are_too_small_are_replaced():
    pointer = logp_pointer(density(CASES["workspace of the pool"](x)))
    table, words = pointer._data._table, PointerWords
    for k in range(words.pool_size):  # fill the pool with blocks that are too small
        table[words.pool + 8 * k] = _block(8)
    assert np.isfinite(pointer(np.ones(5))[0])
    sizes = [ctypes.c_uint64.from_address(int(table[words.pool + 8 * k]) + layout.BLOCK_SIZE).value for k in range(32)]
    assert sorted(sizes)[:-1] == [8] * 31 and sizes != [8] * 32


def _block(size):
    raw = ctypes.pythonapi.PyMem_RawCalloc
    raw.restype, raw.argtypes = ctypes.c_void_p, [ctypes.c_size_t, ctypes.c_size_t]
    memory = raw(1, size + layout.BLOCK_HEAD)
    head = (ctypes.c_uint64 * 3).from_address(memory)
    head[layout.BLOCK_SIZE // 8], head[layout.BLOCK_MEMORY // 8] = size, memory
    return memory


def test_status():
    f = density(at.log(x).sum())
    pointer = logp_pointer(f)
    call = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_uint64, *[ctypes.c_void_p] * 4)(pointer.address)

    def status(*values, n=None):
        point, gradient, logp = np.array(values), np.empty(max(len(values), 1)), np.empty(())
        arrays = (a.ctypes.data for a in (point, gradient, logp, pointer.user_data))
        return call(len(values) if n is None else n, *arrays), logp[()], gradient

    assert status(1.0, 2.0)[:2] == (0, np.log(2.0))
    assert status(0.0, 1.0)[:2] == (3, -np.inf)
    assert status(-1.0, 1.0)[0] == 4


def test_lengths_that_are_known():
    v = at.TensorType("float64", (3,))("v")
    pointer = logp_pointer(density((v**2).sum(), v))
    assert pointer(np.ones(3))[0] == 3.0
    with pytest.raises(ValueError, match="has 4 numbers"):
        pointer(np.ones(4))
    twice = vector_pointer(aesara.function([x], at.concatenate([x, x])))
    np.testing.assert_array_equal(twice([1.0, 2.0], 4), [1, 2, 1, 2])
    with pytest.raises(ValueError, match="has 2 numbers"):
        twice([1.0, 2.0], 3)


def test_failed_checks_are_reported():
    pointer = logp_pointer(density((x * at.constant(np.arange(3.0))).sum()))
    with pytest.raises(ValueError, match=r"size 2.*size 3|Input dimension mismatch|mismatch"):
        pointer(np.ones(2))
    positive = logp_pointer(density(Assert("below zero")(x, at.all(x > 0)).sum()))
    assert positive([1.0])[0] == 1.0
    with pytest.raises(AssertionError, match="below zero"):
        positive([-1.0])


def test_values_of_shared_variables():
    w = shared(np.ones(3), "w")
    pointer = logp_pointer(density((w * x.sum()).sum()))
    w.set_value(np.zeros(3))
    assert pointer([1.0])[0] == 3.0  # threads may be in the middle of it: it keeps what it had
    other = pointer.with_values(w=np.full(5, 2.0))
    assert (other([1.0])[0], pointer([1.0])[0]) == (10.0, 3.0)
    np.testing.assert_array_equal(pointer.values["w"], np.ones(3))
    again = pickle.loads(pickle.dumps(other))
    assert again([1.0])[0] == 10.0
    with pytest.raises(KeyError, match="no shared variable v; it has w"):
        pointer.with_values(v=1.0)
    with pytest.raises(TypeError):
        pointer.with_values(w=np.ones((2, 2)))


def test_two_functions_share_user_data():
    logp, twice = logp_pointer(density((x**2).sum())), vector_pointer(aesara.function([x], 2 * x), word=1)
    user = np.array([logp.table, twice.table], np.uint64)
    call = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_uint64, ctypes.c_uint64, *[ctypes.c_void_p] * 3)(twice.address)
    point, result = np.arange(3.0), np.empty(3)
    assert call(3, 3, point.ctypes.data, result.ctypes.data, user.ctypes.data) == 0
    np.testing.assert_array_equal(result, 2 * point)


@as_op(itypes=[at.dvector], otypes=[at.dvector])
def doubled(v):
    return 2 * v


class TestRefused:
    def test_nodes_in_python(self):
        with pytest.raises(NotImplementedError, match=r"doubled.*test_pointers\.py"):
            vector_pointer(aesara.function([x], doubled(x)))

    def test_updates(self):
        with pytest.raises(TypeError, match="cannot update shared variables"):
            vector_pointer(aesara.function([x], 2 * x, updates={shared(0.0): 1.0}))

    def test_draws(self):
        draw = RandomStream(3).normal(size=3)
        with pytest.raises(TypeError):
            vector_pointer(aesara.function([x], x + draw))

    def test_other_functions(self):
        with pytest.raises(TypeError, match="to a scalar and a vector"):
            logp_pointer(aesara.function([x], x))
        f = at.fvector("f")
        with pytest.raises(TypeError, match="float32"):
            vector_pointer(aesara.function([f], 2 * f))
        with pytest.raises(TypeError, match="got ufunc"):
            vector_pointer(np.exp)
