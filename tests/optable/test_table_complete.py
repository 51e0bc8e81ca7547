"""Every public function and every class of ops has a row in the op table, or a reason to have none."""

import importlib
import inspect

import pytest

import tests.optable.rows  # noqa: F401
from aesara.graph.type import Type
from tests.op_classes import is_base, op_classes
from tests.optable.excused import FUNCTIONS, OPS
from tests.optable.table import ROWS
from tests.optable.test_table_ops import nodes_of, with_gradients

MODULES = """aesara.tensor aesara.tensor.basic aesara.tensor.math aesara.tensor.extra_ops aesara.tensor.special
    aesara.tensor.shape aesara.tensor.subtensor aesara.tensor.sort aesara.gradient aesara.tensor.nnet
    aesara.tensor.elementwise.ops aesara.tensor.elementwise.special aesara.tensor.linalg aesara.tensor.nlinalg
    aesara.tensor.slinalg aesara.tensor.fft aesara.tensor.signal.pool""".split()

#: Modules whose functions make variables, or compute nothing.
OF_NONE = {"aesara.tensor.type", "aesara.user_code", "functools"}


def functions_of(module):
    """Names of public functions, without types, modules and functions that make variables."""
    for name in dir(module):
        value = getattr(module, name)
        if name.startswith("_") or inspect.isclass(value) or inspect.ismodule(value) or not callable(value):
            continue
        if isinstance(value, Type) or getattr(value, "__module__", "") in OF_NONE:
            continue
        if (getattr(value, "__module__", None) or "aesara").startswith("aesara"):
            yield name


@pytest.mark.parametrize("module", MODULES)
def test_functions_have_rows(module):
    covered = {name for row in ROWS.values() for name in (row.name, *row.covers)}
    missing = [n for n in functions_of(importlib.import_module(module)) if n not in covered and n not in FUNCTIONS]
    assert not missing, f"{module}: no row in tests/optable/rows and no reason in tests/optable/excused.py: {missing}"


def test_ops_occur_in_rows():
    found = set()
    for row in ROWS.values():
        for node in nodes_of(with_gradients(row)):
            found |= {type(node.op), type(getattr(node.op, "scalar_op", node.op))}
    classes = op_classes("aesara.tensor.", "aesara.scalar.", "aesara.raise_op")
    classes = [c for c in classes if not (c.__name__[0] == "_" and is_base(c))]
    # Rows compare numbers with those of another formula; what is drawn is tried in tests/tensor/random.
    classes = [c for c in classes if not c.__module__.startswith("aesara.tensor.random.")]
    missing = [f"{c.__module__}.{c.__name__}" for c in classes if c not in found and c.__name__ not in OPS]
    assert not missing, f"no row applies these ops, and tests/optable/excused.py gives no reason: {missing}"


def test_excuses_are_of_use():
    covered = {name for row in ROWS.values() for name in (row.name, *row.covers)}
    assert not sorted(covered & set(FUNCTIONS))
    names = {c.__name__ for c in op_classes()}
    assert not sorted(set(OPS) - names)
