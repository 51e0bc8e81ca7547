"""Documented import paths, which gather the names of the modules that define them."""

import importlib
import pkgutil
from types import ModuleType

import aesara.tensor as at
from aesara.tensor import blas, fft, linalg, nnet, random, subtensor
from aesara.tensor.random import threefry

FACADES = (at, linalg, fft, subtensor, blas, random, threefry, nnet)
#: Folders without functions of their own, and those whose modules are documented paths themselves.
OTHERS = {"nnet", "rewriting", "signal", "vectorization", "random"}


def defining_modules() -> list[ModuleType]:
    """Return the modules of the folders of `aesara.tensor` that have names for users."""
    folders = [f"aesara.tensor.{m.name}" for m in pkgutil.iter_modules(at.__path__) if m.ispkg and m.name not in OTHERS]
    found = []
    for folder in [*folders, "aesara.tensor.random.distributions", "aesara.tensor.random.threefry"]:
        for module in pkgutil.iter_modules(importlib.import_module(folder).__path__):
            found.append(importlib.import_module(f"{folder}.{module.name}"))
    return [module for module in found if hasattr(module, "__all__")]


def test_a_facade_has_what_modules_have_for_users():
    """A name is listed once: in the module that defines it."""
    found = defining_modules()
    assert len(found) > 70
    missing = [
        f"{module.__name__}.{name}"
        for module in found
        for name in module.__all__
        if not any(vars(facade).get(name) is getattr(module, name) for facade in FACADES)
    ]
    assert not missing, "import the module by * in its facade, or take the names out of its __all__:\n" + "\n".join(
        missing
    )


def test_classes_of_ops_are_not_among_the_functions():
    classes = {name for name, value in vars(at).items() if isinstance(value, type)}
    assert classes == {"Constant", "Op", "TensorConstant", "TensorType", "TensorVariable", "Variable"}
