"""The table of lowerings agrees with what modules register."""

from __future__ import annotations

import ast
import importlib
import os
import pkgutil
import subprocess
import sys

import aesara.lower
from aesara.lower.dispatch import lower_op
from aesara.lower.families import COMMON, LOWERINGS
from aesara.lower.linear_algebra.matrices import lower_matrices


def _registered():
    """Pairs of a module and the Op class that a function of it lowers."""
    for found in pkgutil.walk_packages(aesara.lower.__path__, "aesara.lower."):
        importlib.import_module(found.name)
    for registry in (lower_op.registry, lower_matrices.registry):
        for kind, function in registry.items():
            # Tests, and examples of docstrings, register Ops of their own.
            if function.__module__ is not None and kind.__module__.startswith("aesara."):
                module = function.__module__.removeprefix("aesara.lower.")
                yield module, f"{kind.__module__}.{kind.__qualname__}".removeprefix("aesara.")


def test_every_registered_op_has_a_row_and_every_row_an_op():
    table = {(module, path) for module, paths in LOWERINGS.items() for path in paths}
    registered = set(_registered())
    adopted = {(module, path) for module, path in registered if module == "linear_algebra.matrices"} - table
    of_matrices = {path for module, path in table if module.startswith("linear_algebra.")}
    assert {path for _, path in adopted} <= of_matrices  # `adopt` registers there
    assert {(module, path) for module, path in registered} - adopted == table


def test_lists_are_in_order():
    assert list(LOWERINGS) == sorted(LOWERINGS)
    assert all(paths == sorted(paths) for paths in LOWERINGS.values())


def test_what_is_not_compiled_is_not_loaded():
    program = """
import sys, aesara, aesara.tensor as at
x = at.dvector("x")
aesara.function([x], x + 1)
assert "aesara.lower.elementwise.elemwise" in sys.modules
print([name for name in sys.modules if name.startswith(("aesara.lower.linear_algebra", "aesara.lower.control."))])
aesara.function([x], at.linalg.cholesky(at.outer(x, x)))
assert "aesara.lower.linear_algebra.equations" in sys.modules
"""
    uncached = dict(os.environ, AESARA_FLAGS="function_cache=False")
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env=uncached)
    # what looks for choices in any graph, and what is loaded with the package
    assert "control.scan" in COMMON
    loaded = {name.removeprefix("aesara.lower.control.") for name in ast.literal_eval(ran.stdout)}
    assert loaded == {"branches", "loop", "scan"}
