"""Short calls of BLAS and LAPACK use one thread and restore the library's number of threads."""

import ctypes
import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.configdefaults import config
from aesara.link.llvm import addresses, blas_threads, jit
from aesara.link.llvm.runtime import code
from aesara.link.llvm.runtime.one_thread import NOTHING, ROUTINES
from aesara.link.llvm.runtime.products import ONE_THREAD
from aesara.link.llvm.target import target_named
from aesara.link.llvm.typed_functions import library_text
from tests.closeness import assert_close

openblas = pytest.mark.skipif(
    blas_threads.number_of_threads() is None, reason="the library does not say how many threads it has"
)

ENTER = ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_bool)
LEAVE = ctypes.CFUNCTYPE(None, ctypes.c_bool)


@pytest.fixture
def three_threads():
    """The library uses three threads, as a user may have asked for."""
    before = blas_threads.number_of_threads()
    blas_threads.set_number_of_threads(3)
    yield
    blas_threads.set_number_of_threads(before)


def routines():
    addresses = jit._load_one_thread()
    return ENTER(addresses[ROUTINES[0]]), LEAVE(addresses[ROUTINES[1]])


@openblas
def test_the_number_is_one_from_the_first_call_to_the_last(three_threads):
    enter, leave = routines()
    seen = []
    first = enter(True)
    seen.append(blas_threads.number_of_threads())
    second = enter(True)
    leave(first)
    seen.append(blas_threads.number_of_threads())
    leave(second)
    seen.append(blas_threads.number_of_threads())
    assert (first, second, seen) == (True, True, [1, 1, 3])


@openblas
def test_long_calls_change_nothing(three_threads):
    enter, leave = routines()
    entered = enter(False)
    assert (entered, blas_threads.number_of_threads()) == (False, 3)
    leave(entered)
    assert blas_threads.number_of_threads() == 3


@openblas
def test_one_thread_stays_one(three_threads):
    enter, leave = routines()
    blas_threads.set_number_of_threads(1)
    entered = enter(True)
    assert not entered
    leave(entered)
    assert blas_threads.number_of_threads() == 1


@openblas
def test_a_number_that_is_set_meanwhile_stays(three_threads):
    enter, leave = routines()
    entered = enter(True)
    blas_threads.set_number_of_threads(2)
    leave(entered)
    assert blas_threads.number_of_threads() == 2


def test_unknown_libraries_are_left_alone():
    addresses = jit.load_routines(library_text(NOTHING), ROUTINES, None, 0, target_named("native"))
    assert not ENTER(addresses["threads.enter"])(True)
    LEAVE(addresses["threads.leave"])(False)


def test_a_library_without_the_functions_is_not_called(monkeypatch):
    monkeypatch.setattr(blas_threads, "_FORMS", [("nobody_", "")])
    blas_threads._functions.cache_clear()
    try:
        assert blas_threads.number_of_threads() is None
        assert [blas_threads.address(name) for name in ("threads.get", "threads.set")] == [None, None]
        blas_threads.set_number_of_threads(7)
    finally:
        blas_threads._functions.cache_clear()


@openblas
@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded")
def test_a_child_gets_the_number_from_before_a_call(three_threads):
    enter, leave = routines()
    entered = enter(True)
    child = os.fork()
    if not child:
        os._exit(blas_threads.number_of_threads())
    _, status = os.waitpid(child, 0)
    assert blas_threads.number_of_threads() == 1
    leave(entered)
    assert (os.waitstatus_to_exitcode(status), blas_threads.number_of_threads()) == (3, 3)


# -- what is short -----------------------------------------------------------------------------------------------


@pytest.fixture
def calls(monkeypatch):
    """Record what compiled code reports of its calls: whether they are short, and their ends."""
    said = []

    def entered(short):
        said.append(short)
        return short

    enter, leave = ENTER(entered), LEAVE(lambda entered: said.append(f"end of {entered}"))
    addresses = dict(zip(ROUTINES, (ctypes.cast(f, ctypes.c_void_p).value for f in (enter, leave)), strict=True))
    monkeypatch.setattr(jit, "_load_one_thread", lambda: addresses)
    code._products.cache_clear()
    with config.change_flags(native_cache=False):
        yield said
    code._products.cache_clear()


def definite(rng, n, dtype="float64"):
    a = rng.normal(size=(n, n))
    return (a @ a.T + n * np.eye(n)).astype(dtype)


A = at.dmatrix("A")
ROUTINE_CALLS = {
    "Cholesky factor": (lambda: at.linalg.cholesky(A), 60, 700),
    "triangular solution": (lambda: at.slinalg.solve_triangular(A, A, lower=True), 60, 300),
    "solution": (lambda: at.linalg.inv(A), 60, 600),
    "eigenvalues": (lambda: at.linalg.eigh(A)[0], 30, 500),
}


@pytest.mark.parametrize("name", ROUTINE_CALLS)
def test_routines_of_small_matrices_are_short(name, calls, rng):
    expression, few, many = ROUTINE_CALLS[name]
    f = aesara.function([A], expression())
    f(definite(rng, few))
    assert calls
    assert set(calls) == {True, "end of True"}
    calls.clear()
    f(definite(rng, many))
    assert calls
    assert set(calls) == {False, "end of False"}


def test_each_matrix_of_a_batch_is_short(calls, rng):
    T = at.tensor("float64", shape=(None, None, None))
    f = aesara.function([T], at.linalg.cholesky(T))
    batch = np.array([definite(rng, 40) for _ in range(3)])
    assert_close(f(batch), np.linalg.cholesky(batch), size=10)
    assert calls == [True, "end of True"] * 3


SIDE = round(ONE_THREAD[0] ** (1 / 3))


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(
    ("shape", "said"),
    [
        ((40, 40, 40), []),  # without BLAS
        ((SIDE, SIDE, SIDE), [True, "end of True"]),
        ((SIDE + 1, SIDE, SIDE), []),
        ((200, 300, 1), [True, "end of True"]),
        ((1, 300, 200), [True, "end of True"]),
        ((600, 600, 1), []),
    ],
)
def test_products_of_small_matrices_are_short(shape, said, dtype, calls, rng):
    m, k, n = shape
    a, b = (rng.normal(size=size).astype(dtype) for size in ((m, k), (k, n)))
    left, right = at.matrix("left", dtype), at.matrix("right", dtype)
    assert_close(aesara.function([left, right], at.dot(left, right))(a, b), a @ b, units=200, size=10)
    assert calls == said


def test_a_matrix_and_its_transpose_are_short(calls, rng):
    a = rng.normal(size=(100, 100))
    assert_close(aesara.function([A], at.dot(A, A.T))(a), a @ a.T, units=200, size=10)
    assert calls == [True, "end of True"]


# -- in compiled functions ---------------------------------------------------------------------------------------


@openblas
def test_many_threads_leave_the_number_as_it_was(three_threads, rng):
    f = aesara.function([A], at.linalg.inv(A) @ at.linalg.cholesky(A))
    a = definite(rng, 90)
    expected = f(a)
    wrong = []

    def work():
        for _ in range(200):
            if not np.array_equal(f(a), expected):
                wrong.append(threading.current_thread().name)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert blas_threads.number_of_threads() == 3


STARTED = """
import numpy as np
import aesara
import aesara.tensor as at
from aesara.link.llvm import blas_threads

A = at.dmatrix("A")
f = aesara.function([A], at.slinalg.solve_triangular(A, A, lower=True))
blas_threads.set_number_of_threads(4)
f(np.eye(60) + 1)
print(blas_threads.number_of_threads(), f(np.eye(60) + 1).shape)
"""


@openblas
def test_a_new_process():
    """The library is found without anything else having loaded it."""
    ended = subprocess.run([sys.executable, "-c", STARTED], capture_output=True, text=True, timeout=100)
    assert ended.stdout == "4 (60, 60)\n", ended.stderr


WITHOUT_SCIPY = """
import sys
import numpy as np
import aesara, aesara.tensor as at
x = at.dmatrix()
f = aesara.function([x], [at.dot(x, x), at.slinalg.cholesky(x)])
f(4 * np.eye(3))
print("scipy" in sys.modules)
"""


@pytest.mark.skipif(
    not hasattr(addresses.fortran_library("blas"), "scipy_dgemm_"), reason="the library is not that of SciPy's wheels"
)
def test_library_is_found_without_import_of_scipy():
    result = subprocess.run([sys.executable, "-c", WITHOUT_SCIPY], capture_output=True, text=True, check=True)
    assert result.stdout.split() == ["False"]


def test_functions_of_other_libraries_are_those_that_scipy_chooses(monkeypatch):
    find = addresses.fortran_function.__wrapped__
    monkeypatch.setattr(addresses, "fortran_library", lambda name: None)
    found = find("blas", "dsyrk")
    assert found == addresses._capsule_functions("linalg", "cython_blas")["dsyrk"]
    assert find("lapack", "nothing") is None
    # sqrt(3**2 + 4**2), by the function itself
    signature = ctypes.CFUNCTYPE(ctypes.c_double, *[ctypes.c_void_p] * 3)
    values, one, two = (ctypes.c_double * 2)(3.0, 4.0), ctypes.c_int(1), ctypes.c_int(2)
    norm = signature(find("blas", "dnrm2"))
    assert norm(ctypes.addressof(two), ctypes.addressof(values), ctypes.addressof(one)) == 5.0
