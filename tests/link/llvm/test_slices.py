"""Loops that several threads run: the same bits for any number of threads, errors, interrupts, forks."""

import contextlib
import os
import subprocess
import sys
import textwrap
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.configdefaults import config
from aesara.link.llvm import emit_threads, workers
from aesara.link.llvm.runtime.sharing import MOST_THREADS
from aesara.link.llvm.runtime.slices import LEAST_WORK
from aesara.tensor.slinalg import cholesky

X, Y, x = at.dmatrix("X"), at.dmatrix("Y"), at.dvector("x")
F, Z, L, i = at.fmatrix("F"), at.zmatrix("Z"), at.lmatrix("L"), at.lvector("i")
THREADS = (1, 2, 3, 8)
SHAPES = [(0, 3), (3, 0), (1, 1), (7, 5), (300, 17), (1000, 3), (2, 9000), (70, 700)]

#: graphs of the inputs above
GRAPHS = {
    "elementwise": at.exp(-(X**2)) * at.tanh(X),
    "sum": X.sum(),
    "sum of rows": X.sum(axis=1),
    "sum of columns": X.sum(axis=0),
    "product of columns": (1 + X / 100).prod(axis=0),
    "several sums": [X.sum(), (X**2).sum(), X.sum(axis=0), (X * X).sum(axis=0), at.exp(X)],
    "float32": [F.sum(), F.sum(axis=0), F.sum(axis=1), at.exp(F)],
    "integers": [L.sum(), L.sum(axis=0), at.eq(L, 3).any(), at.eq(L, 3).all(axis=0), at.bitwise_xor(L, 5).sum()],
    "complex": [Z.sum(), Z.sum(axis=0), Z.sum(axis=1), Z * Z],
    "transposed": X.T * 2,
    "gather": X[i],
    "scatter": at.inc_subtensor(X[i], 1.5),
    "rows after others": at.set_subtensor(X[1:], X[:-1] * 2),
    "columns after others": at.inc_subtensor(X[:, 1:], X[:, :-1]),
    "strided": at.set_subtensor(X[::-1, ::2], 1.0),
    "join": at.concatenate([X, X * 2, X[:, :1]], axis=1),
    "running sums": [at.cumsum(X, axis=1), at.cumsum(X, axis=0)],
    "sorted": [at.sort(X, axis=1), at.argsort(X, axis=0)],
    "repeated": at.repeat(X, 3, axis=0),
    "triangle": at.tril(X),
    "variance": [X.var(axis=0), X.var()],
}
#: those that need an element in each row and column
NONEMPTY = {
    "extrema": [X.max(), X.min(axis=0), X.max(axis=1), L.max(), L.min(axis=0)],
    "positions": [X.argmax(axis=1), X.argmax(axis=0), X.argmax()],
    "softmax": [at.special.softmax(X, axis=1), at.logsumexp(X, axis=0), at.logsumexp(X, axis=1)],
    "gradient": aesara.grad(at.logsumexp(X, axis=0).sum(), X),
}


@pytest.fixture
def sliced(monkeypatch):
    """Run each loop in slices that may be: the GIL is released for all, and no work is too little."""
    monkeypatch.setattr(emit_threads, "LONG", 0.0)
    workers.set_least_work(1.0)
    with config.change_flags(native_cache=False):
        yield
    workers.set_least_work(LEAST_WORK)


@contextlib.contextmanager
def threads(number):
    with config.change_flags(threads=number):
        workers.start()
        yield
    workers.start()


def values_of(shape):
    rng = np.random.default_rng(sum(shape))
    real, whole = rng.standard_normal(shape), rng.integers(-5, 5, shape)
    rows = rng.integers(0, max(shape[0], 1), 2 * shape[0])
    return {X: real, F: real.astype("float32"), Z: real + 1j * real[::-1], L: whole, i: rows}


@pytest.mark.parametrize("name", [*GRAPHS, *NONEMPTY])
def test_results_are_the_same_for_any_number_of_threads(name, sliced):
    outputs = (GRAPHS | NONEMPTY)[name]
    outputs = outputs if isinstance(outputs, list) else [outputs]
    f = aesara.function([X, F, Z, L, i], outputs, on_unused_input="ignore")
    reference = aesara.function([X, F, Z, L, i], outputs, on_unused_input="ignore", mode="FAST_COMPILE")
    for shape in SHAPES:
        if name in NONEMPTY and 0 in shape:
            continue
        arguments = list(values_of(shape).values())
        expected = reference(*arguments)
        alone = None
        for number in THREADS:
            with threads(number):
                results = f(*arguments)
            alone = alone or results
            for result, first, wanted in zip(results, alone, expected, strict=True):
                assert np.asarray(result).tobytes() == np.asarray(first).tobytes(), (shape, number)
                assert result.dtype == wanted.dtype
                tolerance = 1e-5 if result.dtype.itemsize == 4 else 1e-11
                np.testing.assert_allclose(result, wanted, rtol=tolerance, atol=tolerance)


def test_long_loops_use_other_threads():
    """A worker runs iterations of a loop that takes long."""
    f = aesara.function([x], at.exp(-x) * at.tanh(x))
    values = np.linspace(0, 1, 3_000_000)
    with threads(2):
        before = worker_time()
        for _ in range(30):
            f(values)
            if worker_time() > before:
                break
        assert worker_time() > before


def worker_time():
    """Return the processor time of the workers in seconds."""
    pool = [one for one in threading.enumerate() if one.name.startswith("aesara-")]
    if not hasattr(os, "sched_getaffinity"):
        pytest.skip("times of threads are known on Linux only")
    total = 0
    for one in pool:
        with open(f"/proc/self/task/{one.native_id}/schedstat", encoding="ascii") as file:
            total += int(file.read().split()[0])
    return total


def run_script(script):
    environment = dict(os.environ, AESARA_FLAGS="threads=3")
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, env=environment, timeout=120
    )


def test_short_loops_start_no_thread():
    done = run_script("""
        import threading, numpy as np, aesara, aesara.tensor as at
        x = at.dvector()
        f = aesara.function([x], [at.exp(x), x.sum()])
        f(np.ones(1000))
        print([one.name for one in threading.enumerate() if one.name.startswith("aesara-")])
    """)
    assert done.stdout.strip() == "[]", done.stderr


def test_a_process_ends_while_workers_wait_or_work():
    done = run_script("""
        import threading, time, numpy as np, aesara, aesara.tensor as at
        x = at.dvector()
        f = aesara.function([x], at.exp(-x) * at.tanh(x))
        value = np.ones(4_000_000)
        f(value)
        def work():
            while True:
                f(value)
        threading.Thread(target=work, daemon=True).start()
        time.sleep(0.2)
        print("end")
    """)
    assert (done.stdout.strip(), done.returncode) == ("end", 0), done.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
def test_a_forked_child_starts_workers_of_its_own():
    done = run_script("""
        import os, threading, numpy as np, aesara, aesara.tensor as at
        x = at.dvector()
        f = aesara.function([x], at.exp(-x) * at.tanh(x))
        value = np.linspace(0, 1, 2_000_000)
        expected = f(value)
        busy = threading.Event()
        def work():
            while not busy.is_set():
                f(value)
        other = threading.Thread(target=work)
        other.start()
        for _ in range(5):
            child = os.fork()
            if child == 0:
                same = all((f(value) == expected).all() for _ in range(5))
                names = [one.name for one in threading.enumerate() if one.name.startswith("aesara-")]
                os._exit(0 if same and names else 1)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        busy.set()
        other.join()
        print("end")
    """)
    assert (done.stdout.strip(), done.returncode) == ("end", 0), done.stderr


def test_calls_in_many_threads_share_the_pool(sliced):
    f = aesara.function([X], [at.exp(X), X.sum(), X.sum(axis=0), at.logsumexp(X, axis=1)])
    values = np.random.default_rng(3).random((400, 50))

    def work(_):
        return [result.tobytes() for result in f(values)]

    with threads(3), ThreadPoolExecutor(8) as pool:
        expected = work(0)
        assert all(results == expected for results in pool.map(work, range(200)))


def test_the_number_of_threads_may_change_during_calls(sliced):
    """A call waits for each worker that runs its loop, also for one that is over the limit by then."""
    f = aesara.function([X], [at.exp(X), X.sum(axis=0)])
    values = np.random.default_rng(5).random((300, 40))
    expected = [result.tobytes() for result in f(values)]
    ended = threading.Event()

    def work():
        while not ended.is_set():
            assert [result.tobytes() for result in f(values)] == expected
        return True

    with threads(4), ThreadPoolExecutor(2) as pool:
        calls = [pool.submit(work) for _ in range(2)]
        for k in range(200):
            workers.limit_threads(1 + k % 4)
        workers.limit_threads(MOST_THREADS)
        ended.set()
        assert all(call.result() for call in calls)


def test_a_pool_that_cannot_be_started_is_not_needed():
    done = run_script("""
        import threading, numpy as np, aesara, aesara.tensor as at
        def start(self):
            raise RuntimeError("can't start new thread")
        x = at.dvector()
        f = aesara.function([x], at.exp(-x))
        before, threading.Thread.start = threading.Thread.start, start
        value = np.linspace(0, 1, 1_000_000)
        np.testing.assert_allclose(f(value), np.exp(-value), rtol=1e-15)
        print("end")
    """)
    assert (done.stdout.strip(), done.returncode) == ("end", 0), done.stderr


def test_kernels_with_many_arguments_and_with_numbers(sliced):
    """Arguments that do not fit the words of a call are read from memory."""
    inputs = [at.dvector() for _ in range(20)]
    vectors = [np.full(1000, float(k)) for k in range(20)]
    f = aesara.function(inputs, [sum(inputs), sum(one.sum() for one in inputs)])
    many = [at.dvector() for _ in range(4)]
    # Kernels that differ in a constant become one, with the constant as an argument.
    g = aesara.function(many, [at.tanh(one * k).dot(one) + k for k, one in enumerate(many)])
    with threads(3):
        total, number = f(*vectors)
        np.testing.assert_array_equal(total, np.full(1000, 190.0))
        assert number == 190_000
        for k, result in enumerate(g(*vectors[:4])):
            np.testing.assert_allclose(result, np.tanh(vectors[k] * k) @ vectors[k] + k, rtol=1e-12)


def test_loops_over_nothing_beside_long_ones(sliced):
    """The trip count of a loop over all rows but the first is -1 for no rows."""
    f = aesara.function([X], at.cumsum(X, axis=0))
    for number in (1, 3):
        with threads(number):
            assert f(np.zeros((0, 3))).shape == (0, 3)


def test_batches_of_calls(sliced):
    """Products, factors and sorts of the members of a batch."""
    A, B = at.dtensor3("A"), at.dtensor3("B")
    f = aesara.function([A, B, X], [at.matmul(A, B), cholesky(A), at.sort(X, axis=1), at.linalg.eigh(A)[0]])
    for n in (0, 1, 7, 40):
        rng = np.random.default_rng(n)
        a = rng.standard_normal((n, 5, 5))
        a, b, rows = a @ a.transpose(0, 2, 1) + 5 * np.eye(5), rng.standard_normal((n, 5, 3)), rng.random((n, 30))
        results = []
        for number in (1, 3):
            with threads(number):
                results.append(f(a, b, rows))
        for one, other in zip(*results, strict=True):
            assert one.tobytes() == other.tobytes()
        product, factor, ordered, values = results[0]
        np.testing.assert_allclose(product, a @ b, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(factor @ factor.transpose(0, 2, 1), a, rtol=1e-12, atol=1e-12)
        np.testing.assert_array_equal(ordered, np.sort(rows, axis=1))
        if n:
            np.testing.assert_allclose(values, np.linalg.eigvalsh(a), rtol=1e-10)


def test_a_failed_factor_in_a_batch_is_an_error(sliced):
    A = at.dtensor3("A")
    f = aesara.function([A], cholesky(A))
    values = np.stack([np.eye(3)] * 20)
    values[13] = -np.eye(3)
    with threads(3):
        with pytest.raises(np.linalg.LinAlgError):
            f(values)
        np.testing.assert_array_equal(f(values[:13]), values[:13])


def test_updates_by_several_threads(sliced):
    total = aesara.shared(np.zeros((100, 30)))
    step = aesara.function([X], [], updates={total: total + X})
    values = np.random.default_rng(4).random((100, 30))
    with threads(3):
        for _ in range(10):
            step(values)
    expected = np.zeros((100, 30))
    for _ in range(10):
        expected = expected + values
    np.testing.assert_array_equal(total.get_value(), expected)


def test_threadpoolctl_shows_and_limits_the_pool():
    threadpoolctl = pytest.importorskip("threadpoolctl")
    f = aesara.function([x], at.exp(-x))
    with threads(3):
        f(np.zeros(1_000_000))
        (pool,) = [one for one in threadpoolctl.threadpool_info() if one["user_api"] == "aesara"]
        assert pool["num_threads"] == 3
        with threadpoolctl.threadpool_limits(1):
            assert workers.threads_in_use() == workers.number_of_threads() == 1
        assert workers.threads_in_use() == 3
        with threadpoolctl.threadpool_limits(2, user_api="aesara"):
            assert workers.threads_in_use() == 2
        assert workers.threads_in_use() == 3
