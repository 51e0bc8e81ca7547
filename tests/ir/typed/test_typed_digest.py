"""Digests of typed functions change with all that their code depends on."""

import importlib
import sys

import pytest

from aesara.ir.typed.digest import digest_and_symbols

PROGRAM = """
from aesara.ir.typed.function import CFunction, ConstantArray, typed_function
from aesara.ir.typed.types import Pointer, f64, i64

FACTOR = 3
POWERS = ConstantArray("powers", i64, lambda: [1, 2, 4])
root = CFunction("cbrt", f64, f64)

@typed_function("inner")
def inner(n: i64) -> i64:
    return POWERS[n] * FACTOR

def outer_by(step):
    @typed_function("outer")
    def outer(x: f64, n: i64) -> f64:
        return root(x) + f64(inner(n) + step)

    return outer
"""


@pytest.fixture
def module(tmp_path, monkeypatch):
    (tmp_path / "typed_program.py").write_text(PROGRAM)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "typed_program", raising=False)
    yield importlib.import_module("typed_program")
    sys.modules.pop("typed_program", None)


def test_symbols_are_those_that_may_be_called(module):
    assert digest_and_symbols([module.outer_by(1)])[1] == {"cbrt"}
    assert digest_and_symbols([module.inner])[1] == set()


def test_digest_depends_on_constants_of_functions_that_are_called(module, monkeypatch):
    outer = module.outer_by(1)
    digest = digest_and_symbols([outer])[0]
    assert digest_and_symbols([module.outer_by(1)])[0] == digest
    assert digest_and_symbols([module.outer_by(2)])[0] != digest
    for name, value in (
        ("FACTOR", 4),
        ("POWERS", type(module.POWERS)("powers", module.i64, lambda: [1, 2, 8])),
        ("root", type(module.root)("sqrt", module.f64, module.f64)),
    ):
        with monkeypatch.context() as patch:
            for function in (outer, module.inner):
                patch.setitem(function.function.__globals__, name, value)
                function.__dict__.pop("names", None)
            assert digest_and_symbols([outer])[0] != digest
        for function in (outer, module.inner):
            function.__dict__.pop("names", None)
    assert digest_and_symbols([outer])[0] == digest
