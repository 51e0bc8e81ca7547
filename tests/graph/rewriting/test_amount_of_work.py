"""How much is done while graphs are rewritten, counted and kept as text, so that more or less of it is seen in review.

After a change that is meant, run ``AESARA_REGENERATE_GOLDEN=1 pytest tests/graph/rewriting/test_amount_of_work.py`` and
read the difference.
"""

import random
import runpy
import sys
from pathlib import Path

import pytest

import aesara
import aesara.tensor as at
from aesara.graph import destroyhandler, fg
from aesara.graph.destroyhandler import DestroyHandler
from aesara.graph.fg import FunctionGraph
from aesara.graph.rewriting.tracker import OpToRewriterTracker
from tests.recorded import assert_recorded

TESTS = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TESTS / "ir"))
from representative_graphs import GRAPHS as ONE_OF_EACH

GROWING = runpy.run_path(str(TESTS.parent / "benchmarks" / "rewriting.py"))["GRAPHS"]
FILE = Path(__file__).with_name("amount_of_work.txt")
#: What is counted, and by which function that is called for it.
COUNTED = {
    "visits": (OpToRewriterTracker, "get_node_trackers"),
    "imports": (FunctionGraph, "import_node"),
    "changes": (FunctionGraph, "change_node_input"),
    "validations": (DestroyHandler, "validate"),
    "orders": (fg, "io_toposort"),
    "orders that are maintained": (destroyhandler, "io_toposort"),
}


@pytest.fixture
def counts(monkeypatch):
    found = dict.fromkeys(COUNTED, 0)

    def counting(what, function):
        def counted(*args, **kwargs):
            found[what] += 1
            return function(*args, **kwargs)

        return counted

    for what, (place, name) in COUNTED.items():
        monkeypatch.setattr(place, name, counting(what, getattr(place, name)))
    return found


def growing(name, gradient):
    inputs, output = GROWING[name](at, 150)
    output = aesara.grad(output, inputs[0]) if gradient else output
    aesara.function(inputs, output, mode="FAST_RUN", on_unused_input="ignore")


def one_of_each(name):
    graph = ONE_OF_EACH[name]()
    aesara.function(graph.inputs, graph.outputs, updates=graph.updates, mode="FAST_RUN")


def writes():
    """Writes to parts of a vector, one after the other; after every third it is read."""
    x, y = at.dvectors("x", "y")
    state, outputs = x, []
    for i in range(60):
        state = at.set_subtensor(state[i : i + 3], y[:3] * i)
        if i % 3 == 0:
            outputs.append(at.sort(state))
    aesara.function([x, y], [state, *outputs], mode="FAST_RUN")


def random_writes():
    """Writes by the cells of a graph without an order, some of them to the same values."""
    rng = random.Random(0)
    values = list(at.dvectors(*"abc"))
    inputs = list(values)
    for _ in range(60):
        one, other = rng.choice(values), rng.choice(values)
        values.append(at.inc_subtensor(one[rng.randrange(3) :: 2], at.sort(other)[0]))
    aesara.function(inputs, values[-20:], mode="FAST_RUN")


CASES = {
    **{f"{name}, {which}": (growing, name, which == "gradient") for name in GROWING for which in ("value", "gradient")},
    "writes": (writes,),
    "random writes": (random_writes,),
    **{name: (one_of_each, name) for name in ONE_OF_EACH},
}


@pytest.mark.parametrize("case", CASES)
def test_work_is_as_recorded(case, counts):
    make, *arguments = CASES[case]
    make(*arguments)  # what is done once
    for what in counts:
        counts[what] = 0
    make(*arguments)
    text = ", ".join(f"{count} {what}" for what, count in counts.items())
    assert_recorded(FILE, CASES, case, text)
