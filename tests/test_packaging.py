"""Declared dependencies of the package and its extras are those that its parts import."""

import ast
import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
#: where what imports a module as may be unknown: the module may be missing here
DISTRIBUTIONS = {"kanren": "minikanren", "sklearn": "scikit-learn", "unification": "logical-unification"}


def normal(name):
    return re.sub("[-_.]+", "-", name).lower()


def declared(*extras):
    """The names of the distributions that the package asks for, with some extras."""
    found, pending = set(), [*PROJECT["dependencies"], *(one for extra in extras for one in EXTRAS[extra])]
    while pending:
        name, more = re.fullmatch(r"([\w.-]+)(?:\[([\w,]+)\])?.*", pending.pop()).groups()
        if normal(name) == normal(PROJECT["name"]):
            pending += [one for extra in more.split(",") for one in EXTRAS[extra]]
        else:
            found.add(normal(name))
    return found


def imported(folder):
    """The names of the distributions that the files of a folder import, or ask for by `importorskip`."""
    names, own = {}, {"aesara", "theano", folder, "tools", "tests", "benchmarks"}
    for path in sorted((ROOT / folder).rglob("*.py")):
        own.add(path.stem)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                found = [one.name for one in node.names]
            elif isinstance(node, ast.ImportFrom) and not node.level:
                found = [node.module]
            elif isinstance(node, ast.Call) and getattr(node.func, "attr", None) == "importorskip":
                found = [one.value for one in node.args if isinstance(one, ast.Constant)]
            else:
                continue
            for name in found:
                names.setdefault(name.partition(".")[0], path)
    own |= {path.stem for path in (ROOT / "examples").glob("*.py")}
    known = packages_distributions()
    return {
        normal(DISTRIBUTIONS.get(name) or known.get(name, [name])[0]): str(path.relative_to(ROOT))
        for name, path in names.items()
        if name not in own and name not in sys.stdlib_module_names
    }


@pytest.mark.slow
@pytest.mark.parametrize(
    "folder, extras",
    [
        ("tests", ("test", "test-jax", "test-notebook", "test-pytensor")),
        ("tools", ("test",)),
        ("examples", ("demo", "nutpie")),
    ],
)
def test_what_is_imported_is_declared(folder, extras):
    found = imported(folder)
    assert "numpy" in found
    # What is installed without its dependencies is no extra; `make test-libraries` names it.
    alone = re.findall(r"([\w-]+)==", (ROOT / "Makefile").read_text(encoding="utf-8"))
    missing = {name: path for name, path in found.items() if name not in {*declared(*extras), *alone}}
    assert not missing, missing


@pytest.mark.slow
def test_the_package_needs_three_others():
    assert declared() == {"numpy", "scipy", "llvmlite"}
    # The script that fits coefficients of vector functions needs mpmath, which tests need as well.
    assert set(imported("aesara")) - declared("jax", "kanren", "pytensor", "nutpie") <= {"mpmath"}, imported("aesara")


def test_tests_bring_what_they_would_otherwise_skip():
    assert {"cloudpickle", "joblib", "minikanren", "etuples", "matplotlib"} <= declared("test")
