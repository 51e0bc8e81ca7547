"""The reference pages are made from the declarations; those in the repository are the ones that are made."""

import re
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import aesara.scalar as aes
import aesara.tensor as at
from aesara.ir.routines import fourier
from aesara.tensor.elemwise import Elemwise
from tools.reference.formulas import argument_names, decomposition_formula, gradient_formulas, scalars
from tools.reference.names import entries
from tools.reference.pages import pages

FOLDER = ROOT / "docs" / "reference"


@pytest.fixture(scope="module")
def made():
    return pages()


def test_pages_are_up_to_date(made):
    # They say what runs natively with NumPy 2; with NumPy 1 Fourier transforms do not.
    others = () if fourier.is_available() else ("fourier.md", "index.md")
    stale = [name for name, text in made.items() if name not in others and _read(FOLDER / name) != text]
    stale += [file.name for file in FOLDER.glob("*.md") if file.name not in made]
    assert not stale, f"run `python -m tools.reference`: {', '.join(stale)} out of date"


def _read(file):
    return file.read_text(encoding="utf-8") if file.exists() else None


def test_every_function_has_an_entry(made):
    text = "\n".join(made.values())
    documented = {name for entry in entries() for name in (entry.name, *entry.aliases)}
    for name in dir(at):
        value = getattr(at, name)
        if isinstance(value, Elemwise):
            assert name in documented, name
            assert f"`{name}" in text, name


def test_calls_show_no_contents_of_defaults(made):
    """A default that is a dictionary of a module is nothing that a caller writes."""
    calls = [line for text in made.values() for line in text.splitlines() if re.match("###* `", line)]
    assert len(calls) > 500 and not [line for line in calls if "={" in line]


def _functions():
    """The functions that formulas may name."""
    names = {
        name: getattr(np, name)
        for name in ("exp", "log", "sqrt", "abs", "where", "maximum", "minimum", "signbit", "copysign")
    }
    for name in dir(aes):
        op = getattr(aes, name)
        if isinstance(op, aes.ScalarOp):
            names[str(op) if str(op).isidentifier() else name] = names[name] = op.impl
    return {**names, "pi": np.pi, "inf": np.inf, "nan": np.nan, "__builtins__": {}}


_FUNCTIONS = _functions()
_OPS = {entry.name: entry.scalar_op for entry in entries() if entry.scalar_op is not None}
#: arguments away from where the functions have kinks
_PARTS = (0.61, 0.43, 0.72, 0.55, 0.5)


def _point(op, names):
    """Values inside of the domain."""
    domains = op.domain if isinstance(op.domain[0], tuple) else [op.domain] * len(names)
    return {n: np.float64(low + part * (high - low)) for n, part, (low, high) in zip(names, _PARTS, domains)}


@pytest.mark.parametrize("name", [n for n, op in _OPS.items() if {v.dtype for v in scalars(op)} == {"float64"}])
def test_formulas_are_what_is_computed(name):
    """The printed gradients and formulas, evaluated as Python, against the reference and its differences."""
    op = _OPS[name]
    names = argument_names(op)
    point = _point(op, names)
    value = op.impl(*point.values())
    result = next(one for one in ("y", "f", "out") if one not in names)
    surroundings = {**_FUNCTIONS, **point, "g": np.float64(1), result: value}
    formula = decomposition_formula(op)
    if formula is not None:
        np.testing.assert_allclose(eval(formula, surroundings), value, rtol=1e-11)
    terms = gradient_formulas(op)
    if isinstance(terms, str) or np.asarray(value).dtype.kind != "f":
        return
    for changed, term in terms.items():
        if term not in ("none", "not connected"):
            np.testing.assert_allclose(eval(term, surroundings), _slope(op, point, changed), rtol=2e-6, atol=1e-8)


def _slope(op, point, changed):
    """The difference quotient of the reference."""
    step = 1e-5 * max(1.0, abs(point[changed]))
    low, high = (op.impl(*[v + s * (n == changed) for n, v in point.items()]) for s in (-step, step))
    return (high - low) / (2 * step)
