"""The reference pages are made from the declarations; those in the repository are the ones that are made."""

import math
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.special

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import aesara.scalar as aes
import aesara.tensor as at
from aesara.tensor.elemwise import Elemwise
from tools.reference.formulas import argument_names, decomposition_formula, gradient_formulas
from tools.reference.names import entries
from tools.reference.pages import pages


@pytest.fixture(scope="module")
def made():
    return pages()


def test_every_function_has_an_entry(made):
    text = "\n".join(made.values())
    documented = {name for entry in entries() for name in (entry.name, *entry.aliases)}
    for name in dir(at):
        value = getattr(at, name)
        if isinstance(value, Elemwise):
            assert name in documented, name
            assert f"`{name}" in text, name


_NAMES = {
    **{name: getattr(scipy.special, name) for name in dir(scipy.special) if not name.startswith("_")},
    **{name: getattr(np, name) for name in ("exp", "log", "sqrt", "sin", "cos", "expm1", "log1p", "sinh", "cosh")},
    **{name: getattr(np, name) for name in ("abs", "where", "maximum", "trunc", "floor", "tanh", "arctan2")},
    "pi": math.pi,
    "sigmoid": scipy.special.expit,
    "tri_gamma": lambda x: scipy.special.polygamma(1, x),
    "sgn": np.sign,
}
_POINTS = {"arccosh": (1.7,), "arctanh": (0.3,), "log1mexp": (-0.8,), "betainc": (1.3, 2.1, 0.4), "erfcinv": (0.7,)}


@pytest.mark.parametrize(
    "name",
    """
    abs add arccos arccosh arcsin arcsinh arctan arctan2 arctanh clip cos cosh deg2rad erf erfc erfcinv erfcx erfinv
    exp exp2 expm1 gamma gammaln i0 i1 j0 j1 log log10 log1mexp log1p log2 mul neg pow psi rad2deg reciprocal sigmoid
    sin sinh softplus sqrt square sub tan tanh true_divide
    """.split(),
)
def test_formulas_are_what_is_computed(name):
    """The printed gradient, and the printed formula, evaluated as Python, against finite differences."""
    op = getattr(aes, name)
    names = argument_names(op)
    point = dict(zip(names, _POINTS.get(name, (0.37, 0.83, 1.9))))
    reference = at.__dict__[name](*[at.constant(np.float64(v)) for v in point.values()])
    value = float(reference.eval())
    result = next(one for one in ("y", "f", "out") if one not in names)
    surroundings = {**_NAMES, **point, "g": 1.0, result: value}
    formula = decomposition_formula(op)
    if formula is not None:
        np.testing.assert_allclose(eval(formula, surroundings), value, rtol=1e-12)
    step = 1e-6
    for changed, term in gradient_formulas(op).items():
        sides = [
            float(at.__dict__[name](*[np.float64(v + s * (n == changed)) for n, v in point.items()]).eval())
            for s in (-step, step)
        ]
        np.testing.assert_allclose(eval(term, surroundings), (sides[1] - sides[0]) / (2 * step), rtol=1e-6, atol=1e-9)
