"""Programs in IPython's shell: cells instead of files, and tracebacks without frames of the package."""

import linecache
import re
import sys
import textwrap
import traceback
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.configdefaults import config
from aesara.graph.source import SourceLine
from aesara.notebooks import cell_of, place_text, running_shell, shorten_tracebacks

FILE = "ipykernel_12/345.py"
CELL = """
    x, y = at.dmatrix("x"), at.dvector("y")
    z = x @ y
    f = aesara.function([x, y], z)
    def step(u):
        return u + y
"""


class Shell:
    """Stands in for IPython's shell, as far as the package asks it for something."""

    def __init__(self):
        self.compile = SimpleNamespace(format_code_name=lambda name: ("Cell", "In[3]") if name == FILE else None)
        self.InteractiveTB = SimpleNamespace(skip_hidden=True)
        self.custom_exceptions = ()
        self.shown = []

    def set_custom_exc(self, kinds, handler):
        self.custom_exceptions, self.handler = kinds, handler

    def showtraceback(self, error, tb_offset=None, running_compiled_code=False):
        assert running_compiled_code
        self.shown.append(traceback.extract_tb(error[2]))

    def run(self, act):
        """Run a cell, as the shell does."""
        try:
            act()
        except self.custom_exceptions:
            self.handler(self, *sys.exc_info())
        return [frame.filename for frame in self.shown.pop()]


@pytest.fixture
def shell(monkeypatch):
    shell = Shell()
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    return shell


@pytest.fixture
def cell(shell, monkeypatch):
    """Run a cell; give the names that it defines."""
    code = textwrap.dedent(CELL).strip()
    monkeypatch.setitem(linecache.cache, FILE, (len(code), None, code.splitlines(True), FILE))
    names = {"at": at, "aesara": aesara}
    exec(compile(code, FILE, "exec"), names)
    return SimpleNamespace(**names)


def test_no_shell(monkeypatch):
    monkeypatch.delitem(sys.modules, "IPython", raising=False)
    assert running_shell() is None and cell_of(FILE) is None
    shorten_tracebacks()
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: None))
    assert running_shell() is None and place_text(FILE, 2) == f"{FILE}:2"
    shorten_tracebacks()


def test_lines_of_cells(shell):
    line = SourceLine(FILE, 2, "<module>")
    assert str(line) == line.place == line.traceback_text() == "Cell In[3], line 2"
    line = SourceLine(FILE, 5, "step")
    assert str(line) == "Cell In[3], line 5 in step" and line.traceback_text() == "Cell In[3], line 5, in step"
    line = SourceLine("model.py", 12, "<module>")
    assert str(line) == "model.py:12 in <module>" and line.traceback_text() == 'File "model.py", line 12, in <module>'


def test_a_shell_that_does_not_know_cells(shell):
    del shell.compile.format_code_name
    assert place_text(FILE, 2) == f"{FILE}:2"


def test_errors_name_the_cell(cell):
    with pytest.raises(ValueError) as found:
        cell.f(np.ones((3, 2)), np.ones(3))
    assert "The node was created by:\n  Cell In[3], line 2\n    z = x @ y\n" in str(found.value)
    with pytest.raises(aesara.graph.fg.MissingInputError, match=r"  Cell In\[3\], line 2\n    z = x @ y\n"):
        aesara.function([cell.x], cell.z)
    with pytest.raises(TypeError, match=r'with name "Cell In\[3\], line 3"'):
        cell.f(np.ones((3, 2)), 1.0)


def test_reports_name_the_cell(cell):
    assert "Cell In[3], line 2" in str(aesara.explain(cell.f))
    assert str(cell.step(cell.y).owner.source) == "Cell In[3], line 5 in step"
    page = cell.z._repr_html_()
    assert "Cell In[3], line 2" in page and FILE not in page
    assert "<function 'Cell In[3], line 3':" in repr(cell.f)


def test_tracebacks_are_shortened(shell, cell):
    def act():
        cell.f(np.ones((3, 2)), np.ones(3))

    def asks_for_a_gradient():
        aesara.grad(cell.y, cell.x)

    shorten_tracebacks()
    assert shell.custom_exceptions == (Exception,)
    assert set(shell.run(act)) == set(shell.run(asks_for_a_gradient)) == {__file__}
    with config.change_flags(hide_internal_frames=False):
        assert len(set(shell.run(asks_for_a_gradient))) > 1
    shell.InteractiveTB.skip_hidden = False  # as `%xmode --show` does
    assert len(set(shell.run(asks_for_a_gradient))) > 1


def test_a_handler_of_the_program_stays(shell):
    shell.set_custom_exc((KeyError,), "own")
    shorten_tracebacks()
    assert shell.handler == "own" and shell.custom_exceptions == (KeyError,)


CELLS = [
    "import time, numpy as np, aesara, aesara.tensor as at\nfrom aesara.graph.rewriting.basic import graph_rewriter",
    "x, y = at.dmatrix('x'), at.dvector('y')\nz = x @ y",
    "f = aesara.function([x, y], z)\nf",
    "f(np.ones((3, 2)), np.ones(3))",
    "aesara.grad(y, x)",
    "aesara.explain(f)",
    "aesara.memory_plan(f)",
    "slow = graph_rewriter(lambda graph: time.sleep(1.3))\n"
    "mode = aesara.compile.mode.get_default_mode().register((slow, 1000))\n"
    "g = aesara.function([x], x + 1, mode=mode, name='g')",
    "g.maker.fgraph.no_such_attribute",
]


def test_a_notebook():
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in CELLS])
    folder = {"metadata": {"path": str(Path(__file__).resolve().parent.parent)}}
    nbclient.NotebookClient(notebook, timeout=300, allow_errors=True, resources=folder).execute()
    outputs = [cell.outputs for cell in notebook.cells]
    assert outputs[0] == outputs[1] == []
    (page,) = outputs[2]
    assert "<b>Cell In[3], line 1</b>" in page.data["text/html"] and "x @ y" in page.data["text/html"]
    for number in (3, 4):
        (error,) = outputs[number]
        text = re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(error.traceback))
        assert "aesara/" not in text and "ipykernel_" not in text and "skipping" not in text
        assert re.findall("Cell .*", text)[0] == f"Cell In[{number + 1}], line 1"
    (error,) = outputs[3]
    assert "  Cell In[2], line 2\n    z = x @ y\n" in error.evalue
    for number in (5, 6):
        (report,) = outputs[number]
        assert "<table>" in report.data["text/html"] and "Cell In[2], line 2" in report.data["text/html"]
        assert report.data["text/plain"].startswith("Cell In[3], line 1: ")
    (line,) = outputs[7]
    assert re.fullmatch(r"Compiled g after \d+\.\d s", line.data["text/plain"])
    (error,) = outputs[8]
    assert error.ename == "AttributeError"
