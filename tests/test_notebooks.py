"""What a program in IPython's shell sees: cells instead of files, and tracebacks without frames of the package."""

import linecache
import sys
import textwrap
import traceback
from types import SimpleNamespace

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.configdefaults import config
from aesara.graph.source import SourceLine
from aesara.notebooks import cell_of, place_text, running_shell, shorten_tracebacks

FILE = "/tmp/ipykernel_12/345.py"
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
    """What the cell has defined."""
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
