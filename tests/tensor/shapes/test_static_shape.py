"""Shapes known before anything is computed: static ones of types, and those inferred as graphs."""

import inspect
import re

import numpy as np
import pytest

import aesara
from aesara.compile.mode import Mode
from aesara.graph.traversal import applys_between
from aesara.scalar import ScalarOp
from aesara.tensor import basic, extra_ops, math, nnet
from aesara.tensor.elemwise import Elemwise
from aesara.tensor.type import TensorType
from tests.op_classes import is_base, op_classes
from tests.tensor.shapes import shape_rows
from tests.tensor.shapes.shape_rows import ROWS

rows = pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
REFERENCE = Mode("py", "fast_compile")
REWRITTEN = Mode("py", "fast_run")


def variables_of(row, shapes):
    return [TensorType(str(v.dtype), shape=s)(f"x{k}") for k, (v, s) in enumerate(zip(row.values, shapes))]


def shapes_at_run_time(row):
    inputs = variables_of(row, [v.shape for v in row.values])
    outputs = [v for v in row.outputs(inputs) if isinstance(v.type, TensorType)]
    function = aesara.function(inputs, outputs, mode=REFERENCE, on_unused_input="ignore")
    return [r.shape for r in function(*row.values)]


def tensors(outputs):
    return [v for v in outputs if isinstance(v.type, TensorType)]


@rows
def test_shapes_that_are_known(row):
    """From static shapes of all inputs, and constants, all of the shape is known."""
    actual = shapes_at_run_time(row)
    outputs = tensors(row.outputs(variables_of(row, [v.shape for v in row.values])))
    for output, shape in zip(outputs, actual, strict=True):
        known = output.type.shape
        assert len(known) == len(shape)
        assert all(k is None or k == n for k, n in zip(known, shape)), (known, shape)
        if not row.depends_on_values and not row.inferred:
            assert known == shape


@rows
def test_shapes_that_are_known_in_part(row):
    """If some lengths are not known, nothing wrong is inferred from the others."""
    actual = shapes_at_run_time(row)
    lengths = [len(v.shape) for v in row.values]
    rng = np.random.default_rng(1)
    for _ in range(4):
        keep = [rng.random(n) < 0.5 for n in lengths]
        # A length of one that is not known does not broadcast.
        shapes = [tuple(n if k or n == 1 else None for n, k in zip(v.shape, kept)) for v, kept in zip(row.values, keep)]
        outputs = tensors(row.outputs(variables_of(row, shapes)))
        for output, shape in zip(outputs, actual, strict=True):
            assert len(output.type.shape) == len(shape)
            assert all(k is None or k == n for k, n in zip(output.type.shape, shape)), (shapes, output.type, shape)


@rows
def test_shapes_are_inferred(row):
    """The shape is computed without what has it."""
    actual = shapes_at_run_time(row)
    shapes = [tuple(1 if n == 1 else None for n in v.shape) for v in row.values]
    inputs = variables_of(row, shapes)
    outputs = tensors(row.outputs(inputs))
    function = aesara.function(inputs, [v.shape for v in outputs], mode=REWRITTEN, on_unused_input="ignore")
    for got, shape in zip(function(*row.values), actual, strict=True):
        assert tuple(got) == shape
    if row.depends_on_values:
        return
    for output in outputs:
        if output.owner is None or output.type.ndim == 0 or output.type.dtype == "int64":
            continue
        for node in function.maker.fgraph.apply_nodes:
            assert node.op != output.owner.op or node.outputs[0].type.ndim != output.type.ndim, node


# Every op has a row.

NO_ROW = {
    "LoadFromDisk": "the shape is given, the file is not there",
    "MakeSlice": "a slice is no tensor",
    "ChainedIndex": "positions are scalars, no tensors",
    "CumsumOp": "it makes a CumOp",
    "CumprodOp": "it makes a CumOp",
    "OverwritingElemwise": "an Elemwise with another dtype",
}


def is_concrete(cls):
    return not cls.__name__.startswith("_") and (not is_base(cls) or "make_node" in vars(cls))


#: Families whose shapes are tried with the rows of the op table (`test_table_shapes`), and with draws (`random`).
ELSEWHERE = (
    "aesara.tensor.linear_algebra.", "aesara.tensor.discrete_fourier.", "aesara.tensor.random.",
    "aesara.tensor.signal.",
)  # fmt: skip


def test_every_op_has_a_row():
    used = set()
    for row in ROWS.values():
        inputs = variables_of(row, [(None,) * v.ndim if 1 not in v.shape else v.shape for v in row.values])
        for node in applys_between(inputs, row.outputs(inputs)):
            used.update(type(node.op).__mro__)
    missing = {
        f"{cls.__module__}.{cls.__name__}"
        for cls in op_classes("aesara.tensor")
        if is_concrete(cls) and not issubclass(cls, ScalarOp)
        if cls not in used and cls.__name__ not in NO_ROW and not cls.__module__.startswith(ELSEWHERE)
    }
    assert not missing, f"add a row to shape_rows.py, or an excuse here, for {sorted(missing)}"


# Every function of tensors that 2.9.4 has, too.

NO_TENSOR = {
    "as_tensor", "as_tensor_variable", "constant", "register_transfer", "is_flat", "pprint", "disconnected_type",
    "extract_constant", "get_scalar_constant_value", "get_vector_length", "infer_static_shape", "dvector", "int_t",
    "int32", "deprecated_attribute", "printer_attribute", "check_and_normalize_axes", "makeKeepDims",
}  # fmt: skip
OPS_OF_ROWS = {
    "assert_op", "bartlett_", "broadcast_to_", "cpu_contiguous", "fill_diagonal_", "fill_diagonal_offset_", "join_",
    "make_vector", "mod_check", "mul_without_zeros", "scalar_from_tensor", "tensor_from_scalar",
}  # fmt: skip
REWRITES = {
    "crossentropy_to_crossentropy_with_softmax", "crossentropy_to_crossentropy_with_softmax_with_bias",
    "graph_merge_softmax_with_crossentropy_softmax", "softmax_simplifier",
}  # fmt: skip


@pytest.mark.parametrize("module", [basic, math, extra_ops, nnet], ids=lambda m: m.__name__)
def test_every_function_has_a_row(module):
    named = set(re.findall(r"\w+", inspect.getsource(shape_rows)))
    functions = {
        name
        for name in dir(module)
        if callable(getattr(module, name)) and not isinstance(getattr(module, name), (type, Elemwise))
    }
    private = {name for name in functions if name.startswith("_")}
    assert not functions - named - NO_TENSOR - OPS_OF_ROWS - REWRITES - private
