"""Failed and interrupted calls leave shared variables unchanged, and later calls work."""

import os
import subprocess
import sys

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.compile.ops import as_op
from aesara.configdefaults import config
from aesara.ifelse import ifelse

x = at.dvector("x")
DATA = np.array([1.0, 2.0, 3.0, 4.0])


@as_op(itypes=[at.dvector], otypes=[at.dvector])
def refusing(v):
    raise ValueError("refused")


#: new values that compiled code can write over the old one
UPDATES = {
    "elementwise": lambda s: s + at.exp(x),
    "some entries": lambda s: at.set_subtensor(s[:2], x[:2]),
    "one entry": lambda s: at.inc_subtensor(s[1], x.sum()),
    "entries by index": lambda s: at.inc_subtensor(s[at.cast(x[:2] - 1, "int64")], x[:2]),
    "product": lambda s: s + at.dot(at.outer(x, x), x),
}
#: what fails once the new value is known
FAILURES = {
    "check": lambda new: x[at.cast(new.max(), "int64") + 100],
    "check in a loop": lambda new: aesara.scan(lambda k, v: v[k + 100], at.arange(3), non_sequences=[new])[0],
    "check of data in a loop": lambda new: aesara.scan(
        lambda k, v: x[at.cast(v[k] + 100, "int64")], at.arange(3), non_sequences=[new]
    )[0],
    "check in a choice": lambda new: ifelse(new.sum() > 0, new[at.cast(new.max(), "int64") + 100], x[0]),
    "node in Python": lambda new: refusing(new),
    "node in Python, of something else": lambda new: refusing(at.exp(new) * 2),
}


@pytest.mark.parametrize("failure", FAILURES)
@pytest.mark.parametrize("update", UPDATES)
def test_a_failed_call_changes_no_shared_variable(update, failure):
    s, other = aesara.shared(np.zeros(4)), aesara.shared(np.ones(4))
    new = UPDATES[update](s)
    with config.change_flags(native_fallback="ignore"):
        f = aesara.function([x], FAILURES[failure](new), updates=[(s, new), (other, other * 2 + new)])
        good = aesara.function([x], new.sum(), updates=[(s, new), (other, other * 2 + new)])
    for _ in range(2):
        with pytest.raises((IndexError, ValueError)):
            f(DATA)
        np.testing.assert_array_equal(s.get_value(borrow=True), 0)
        np.testing.assert_array_equal(other.get_value(borrow=True), 1)
    total = good(DATA)
    assert total == pytest.approx(s.get_value().sum(), rel=1e-15) and total != 0
    np.testing.assert_allclose(other.get_value(), 2 + s.get_value(), rtol=1e-15)


_FORK = """
import os, signal, sys, threading
import numpy as np
import aesara
import aesara.tensor as at
from aesara.compile.ops import as_op
from aesara.link import guards

aesara.config.native_fallback = "ignore"
x = at.dvector("x")
s = aesara.shared(np.zeros(2))
gates = {}

@as_op(itypes=[at.dvector], otypes=[at.dvector])
def waiting(v):
    inside, leave = gates[threading.current_thread().name]
    inside.set()
    assert leave.wait(60)
    return v

f = aesara.function([x], [], updates=[(s, s + waiting(x))])

def two_calls(name, between):
    "One call that has the guards, and one that waits for them."
    inside, leave = gates[name + " first"] = gates[name + " second"] = threading.Event(), threading.Event()
    threads = [threading.Thread(target=f, args=(np.ones(2),), name=f"{name} {which}", daemon=True)
               for which in ("first", "second")]
    threads[0].start()
    assert inside.wait(60)
    waited = len(guards._queue)
    threads[1].start()
    while len(guards._queue) == waited:
        pass
    between()
    leave.set()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive(), f"{thread.name} hangs"

def fork():
    child = os.fork()
    if child == 0:
        try:
            s.set_value(np.zeros(2))
            f_alone = aesara.function([x], [], updates=[(s, s + x)])
            f_alone(np.ones(2))
            two_calls("child", lambda: None)
            assert (s.get_value() == 3).all()
            os._exit(0)
        except BaseException as error:
            print(error, file=sys.stderr)
            os._exit(1)
    assert os.waitpid(child, 0)[1] == 0

two_calls("parent", fork)
assert (s.get_value() == 2).all()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="systems with fork")
@pytest.mark.slow
def test_threads_of_a_child_do_not_wait_for_threads_of_its_parent():
    done = subprocess.run([sys.executable, "-c", _FORK], capture_output=True, text=True, timeout=400)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("first", [True, False])
def test_operations_of_the_program_run_once_in_a_call_that_fails(first):
    """User-defined operations may have side effects, so the search for an error does not repeat them."""
    calls = []

    @as_op(itypes=[at.dvector], otypes=[at.dvector])
    def counts(values):
        calls.append(values.tolist())
        return values + 1.0

    x, y = at.dvectors("x", "y")
    result = counts(x) + y if first else counts(x + y)
    outputs = [result, counts(y)]
    f = aesara.function([x, y], outputs)
    with pytest.raises(ValueError, match="Input dimension mismatch"):
        f([1.0, 2.0], [1.0, 2.0, 3.0])
    assert all(calls.count(one) == 1 for one in calls)
    assert f([1.0], [2.0])[0].tolist() == [4.0]
