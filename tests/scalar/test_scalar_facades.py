"""The documented module paths."""

import importlib
import pkgutil
import subprocess
import sys
import warnings

import numpy as np
import pytest

import aesara.scalar as aes


def import_quietly(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return importlib.import_module(name)


# `aesara.shared` makes shared variables, `aesara.tensor` has the functions of `ufuncs`; the others are for whoever adds
# an operation, and the generator MRG31k3p is for back ends.
NOT_IN_THE_PACKAGE = {"complex_forms", "mrg31k3p", "routine", "routines", "sharedvar", "ufuncs"}


def test_the_package_has_what_its_modules_have_for_users():
    for module in pkgutil.iter_modules(aes.__path__):
        if module.name not in NOT_IN_THE_PACKAGE:
            found = import_quietly(f"aesara.scalar.{module.name}")
            for public in getattr(found, "__all__", ()):
                assert getattr(aes, public) is getattr(found, public), f"{module.name}.{public}"


@pytest.mark.parametrize("module", ["basic", "math", "basic_scipy"])
def test_facades_have_the_same_objects(module):
    facade = import_quietly(f"aesara.scalar.{module}")
    functions = {name for name, value in vars(facade).items() if isinstance(value, aes.ScalarOp)}
    assert len(functions) > 50
    for public in functions:
        assert getattr(facade, public) is getattr(aes, public)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Inv", "Reciprocal"),
        ("inv", "reciprocal"),
        ("Scalar", "ScalarType"),
        ("true_div", "true_divide"),
        ("int_div", "floor_divide"),
        ("floor_div", "floor_divide"),
        ("sqr", "square"),
    ],
)
def test_old_names_warn(old, new):
    basic = importlib.import_module("aesara.scalar.basic")
    for module in (aes, basic):
        with pytest.warns(DeprecationWarning, match=f"`{old}` is deprecated"):
            assert getattr(module, old) is getattr(aes, new)
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        aes.nonsense


def test_shared_variables():
    sharedvar = importlib.import_module("aesara.scalar.sharedvar")
    variable = sharedvar.shared(1.5, name="s")
    assert isinstance(variable, sharedvar.ScalarSharedVariable)
    assert (variable.type, variable.name, variable.get_value()) == (aes.float64, "s", 1.5)
    assert (variable + 1).dtype == "float64"
    assert sharedvar.shared(np.float32(2)).type == aes.float32
    assert sharedvar.shared(3).type == aes.int64
    with pytest.raises(TypeError, match="one number"):
        sharedvar.shared(np.ones(2))


@pytest.mark.slow
def test_importing_does_not_import_scipy():
    code = "import sys, aesara.scalar; sys.exit('scipy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
