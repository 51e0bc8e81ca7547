"""The line that a notebook shows while something slow is compiled."""

import queue
import sys
import threading
from types import SimpleNamespace

import pytest

import aesara
import aesara.tensor as at
from aesara import progress
from aesara.compile.mode import get_default_mode
from aesara.graph.rewriting.basic import graph_rewriter
from aesara.progress import begin_stage, compiling


class Notebook:
    """Stands in for the display of IPython's kernel: takes what is published, in order."""

    def __init__(self):
        self.published = queue.SimpleQueue()
        self.shell = SimpleNamespace(kernel="a kernel", display_pub=self)

    def publish(self, data, *, transient, update):
        (text,) = data.values()
        self.published.put((text, transient["display_id"], update))

    def next(self):
        return self.published.get(timeout=30)


@pytest.fixture
def notebook(monkeypatch):
    notebook = Notebook()
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: notebook.shell))
    monkeypatch.setattr(progress, "_DELAY", 0.001)
    monkeypatch.setattr(progress, "_PERIOD", 0.001)
    return notebook


def until(notebook, part):
    """The texts until one has a part, and that one."""
    while True:
        found = notebook.next()
        if part in found[0]:
            return found


def test_one_line_is_replaced(notebook):
    with compiling("f"):
        first = notebook.next()
        assert first[0] == "Compiling f (0 s)" and not first[2]
        begin_stage("rewriting the graph")
        second = until(notebook, "rewriting")
        assert second == ("Compiling f: rewriting the graph (0 s)", first[1], True)
    last = until(notebook, "Compiled f after 0.")
    assert last[1:] == (first[1], True) and notebook.published.empty()
    begin_stage("nothing is compiled")
    with pytest.raises(KeyError), compiling(None):
        notebook.next()
        raise KeyError
    assert until(notebook, "Stopped")[0] == "Stopped compiling a function after 0.0 s"


def test_stages_of_a_function(notebook):
    seen = []

    @graph_rewriter
    def slow(fgraph):
        seen.append(until(notebook, "rewriting the graph")[0])

    x = at.dvector("x")
    mode = get_default_mode().register((slow, 1000))
    aesara.function([x], x + 1, mode=mode, name="f")
    assert seen == ["Compiling f: rewriting the graph (0 s)"]
    assert until(notebook, "Compiled f after")


def test_quick_compilations_show_nothing(notebook, monkeypatch):
    monkeypatch.setattr(progress, "_DELAY", 60.0)
    x = at.dvector("x")
    aesara.function([x], x + 1)
    assert notebook.published.empty()


def test_functions_inside_of_others_show_no_line(notebook):
    with compiling("outer"):
        number = threading.active_count()
        with compiling("inner"):
            assert threading.active_count() == number
        begin_stage("still running")
        assert until(notebook, "still running")[0].startswith("Compiling outer: ")


@pytest.mark.parametrize("shell", [None, SimpleNamespace()])
def test_nothing_happens_in_scripts_and_terminals(shell, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    number = threading.active_count()
    with compiling("f"):
        assert threading.active_count() == number
    assert capsys.readouterr() == ("", "")
