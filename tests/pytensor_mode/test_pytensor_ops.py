"""Every Op of PyTensor, computed here and by PyTensor itself."""

import sys
from importlib import import_module
from inspect import isabstract
from pkgutil import walk_packages

import numpy as np
import pytest

pytensor = pytest.importorskip("pytensor")

import pytensor.tensor as pt
from pytensor.compile.mode import Mode
from pytensor.graph.op import Op
from pytensor.scalar.basic import Cast, Composite, ScalarOp
from pytensor.scalar.loop import ScalarLoop
from pytensor.tensor.math import MulWithoutZeros
from pytensor.tensor.random.op import RandomVariable

import aesara.pytensor
from aesara.graph.traversal import io_toposort
from aesara.pytensor.conversion import convert_op
from aesara.pytensor.elementwise import SCALAR_FUNCTIONS
from aesara.pytensor.perform import PerformOp
from aesara.pytensor.random import DISTRIBUTIONS
from tests.pytensor_mode.pytensor_cases import CASES

PYTHON = Mode(linker="py", optimizer=None)


def inputs_of(case, static):
    return [
        pt.tensor(f"x{i}", dtype=value.dtype, shape=value.shape if static else (None,) * value.ndim)
        for i, value in enumerate(case.values)
    ]


def as_list(made):
    return list(made) if isinstance(made, list | tuple) else [made]


def assert_same(case, expected, found):
    for wanted, result in zip(expected, found, strict=True):
        assert result.dtype == wanted.dtype and result.shape == wanted.shape, case.name
        rounding = 64 * np.finfo(wanted.dtype).eps if wanted.dtype.kind in "fc" else 0
        with np.errstate(invalid="ignore"):
            size = np.nanmax(np.abs(np.where(np.isfinite(wanted), wanted, 0)), initial=0) if rounding else 0
        np.testing.assert_allclose(result, wanted, rtol=rounding, atol=rounding * size, err_msg=case.name)


def assert_computed(case, inputs, outputs):
    theirs = pytensor.function(inputs, outputs, mode=PYTHON, on_unused_input="ignore")
    ours = pytensor.function(inputs, outputs, mode="AESARA", on_unused_input="ignore")
    assert_same(case, theirs(*case.values), ours(*case.values))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_values(case):
    inputs = inputs_of(case, False)
    assert_computed(case, inputs, as_list(case.build(*inputs)))


#: how many cases of static shapes are compiled as one function, which takes a third of the time of one by one
TOGETHER = 8


@pytest.mark.parametrize("first", range(0, len(CASES), TOGETHER), ids=lambda k: f"{CASES[k].name}...")
def test_values_of_static_shapes(first):
    cases = CASES[first : first + TOGETHER]
    given = [inputs_of(case, True) for case in cases]
    built = [as_list(case.build(*inputs)) for case, inputs in zip(cases, given)]
    inputs, outputs = [[x for part in parts for x in part] for parts in (given, built)]
    values = [value for case in cases for value in case.values]
    theirs = pytensor.function(inputs, outputs, mode=PYTHON, on_unused_input="ignore")
    ours = pytensor.function(inputs, outputs, mode="AESARA", on_unused_input="ignore")
    expected, found = theirs(*values), ours(*values)
    for case, made in zip(cases, built):
        assert_same(case, expected[: len(made)], found[: len(made)])
        expected, found = expected[len(made) :], found[len(made) :]


@pytest.mark.parametrize("case", [case for case in CASES if case.differentiable], ids=lambda case: case.name)
def test_gradients(case):
    inputs = inputs_of(case, False)
    outputs = as_list(case.build(*inputs))
    cost = sum((output * pt.cos(pt.arange(output.size)).reshape(output.shape)).sum() for output in outputs)
    assert_computed(case, inputs, pytensor.grad(cost, [x for x in inputs if x.type.dtype.startswith("float")]))


#: Ops that are no part of users' graphs, that PyTensor makes when it compiles for other modes, or whose work is in
#: Python: printing, generators that are made, what calls SciPy or a function
IN_PYTHON = {
    "AbstractRNGConstructor", "AddSD_ccode", "AddSparseDenseC", "CSMGradC", "Default", "DefaultGeneratorMakerOp",
    "FromFunctionOp", "JAXOp", "JAXShapeTuple", "LUFactorTridiagonal", "MinimizeOp", "MinimizeScalarOp", "MulSDCSC",
    "MulSDCSR", "MulSVCSR", "Output", "PdbBreakpoint", "Print", "RootOp", "RootScalarOp", "SamplingDotCSR",
    "SolveLUFactorTridiagonal", "SparseBlockDiagonal", "StructuredAddSVCSR", "StructuredAddSparseDenseVectorCSR",
    "StructuredDotCSC", "StructuredDotCSR", "UsmmCscDense",
}  # fmt: skip
#: their modules: those that PyTensor lowers before (labelled dimensions), and lists of tensors
NOT_TENSORS = ("pytensor.xtensor.", "pytensor.typed_list.")
#: classes that others are derived from
BASES = {
    "BinaryBitOp", "BinaryScalarOp", "FixedLogicalComparison", "LogicalComparison", "RandomVariable",
    "ScalarInnerGraphOp", "ScalarOp", "SolveBase", "UnaryBitOp", "UnaryScalarOp",
}  # fmt: skip


def all_subclasses(cls):
    for subclass in cls.__subclasses__():
        yield subclass
        yield from all_subclasses(subclass)


def is_converted(cls):
    if issubclass(cls, ScalarOp):
        return cls in SCALAR_FUNCTIONS or issubclass(cls, Cast | Composite | ScalarLoop | MulWithoutZeros)
    if issubclass(cls, RandomVariable) and convert_op.dispatch(cls) is convert_op.dispatch(RandomVariable):
        return cls in DISTRIBUTIONS
    return convert_op.dispatch(cls) is not convert_op.dispatch(object)


def test_every_op_is_converted():
    for module in walk_packages(pytensor.__path__, "pytensor."):
        parent, _, name = module.name.rpartition(".")
        if callable(getattr(sys.modules.get(parent), name, None)):
            continue  # the module `pytensor.tensor.var` would take the place of the function
        if module.name.startswith(("pytensor.tensor.", "pytensor.scalar.", "pytensor.sparse.", "pytensor.scan.")):
            import_module(module.name)
    left = {
        cls.__name__
        for cls in all_subclasses(Op)
        if cls.__module__.startswith("pytensor.") and not cls.__module__.startswith(NOT_TENSORS)
        if not cls.__name__.startswith("_") and not isabstract(cls) and not is_converted(cls)
    }
    assert left <= IN_PYTHON | BASES


#: cases of forms that there are not here
RUN_IN_PYTHON = {
    "convolve1d-batch",
    "convolve2d-batch",
    "convolve2d-integers", "eig", "eig-batch", "qz-sorted", "unknown-op",
}  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_nothing_runs_in_python(case):
    inputs = inputs_of(case, False)
    _, outputs = aesara.pytensor.convert_graph(inputs, as_list(case.build(*inputs)))
    left = {str(node.op) for node in io_toposort([], outputs) if isinstance(node.op, PerformOp)}
    assert bool(left) == (case.name in RUN_IN_PYTHON), left
