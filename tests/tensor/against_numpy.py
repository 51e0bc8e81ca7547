"""Comparison of a function of tensors with the function of NumPy that it stands for."""

import numpy as np

import aesara
from aesara.gradient import verify_grad
from aesara.tensor.shape import specify_shape
from aesara.tensor.type import TensorType

DTYPES = ("float64", "float32", "int32", "bool", "complex64")


def drawn(dtype, *shapes, seed=3):
    """Arrays of a dtype, with numbers of both signs."""
    rng = np.random.default_rng(seed)
    numbers = [rng.normal(size=shape) * 3 for shape in shapes]
    if np.dtype(dtype).kind == "c":
        numbers = [real + 1j * rng.normal(size=real.shape) for real in numbers]
    return [one.astype(dtype) for one in numbers]


def as_list(value):
    return list(value) if isinstance(value, (list, tuple)) else [value]


def compare(function, expected, *values, unknown=True, gradient=True, python=(), rtol=None, check_dtype=True):
    """Assert that values, dtypes and shapes are those of NumPy, natively and by the reference.

    With known and (if `unknown`) with unknown lengths; ops named in `python` may call Python. Where inputs and outputs
    are float64 the gradient is compared with differences.
    """
    values = [np.asarray(value) for value in values]
    with np.errstate(all="ignore"):
        wanted = [np.asarray(one) for one in as_list(expected(*values))]
    tolerance = rtol or (1e-12 if all(v.dtype.itemsize >= 8 and v.dtype != "complex64" for v in values) else 3e-5)
    for known in (True, False) if unknown else (True,):
        inputs = [
            TensorType(v.dtype.name, v.shape if known else tuple([1 if n == 1 else None for n in v.shape]))()
            for v in values
        ]
        result = function(*inputs)
        outputs = as_list(result)
        assert len(outputs) == len(wanted)
        native = aesara.function(inputs, outputs, on_unused_input="ignore")
        called = [type(node.op).__name__ for node in native._native.report.python_nodes]
        is_complex = any(v.dtype.kind == "c" for v in values)
        assert is_complex or not [name for name in called if name not in python], called
        reference = aesara.function(inputs, outputs, mode="FAST_COMPILE", on_unused_input="ignore")
        for f in (native, reference):
            for got, want, variable in zip(f(*values), wanted, outputs):
                got = np.asarray(got)
                assert got.shape == want.shape
                assert got.dtype == variable.type.dtype
                assert got.dtype == want.dtype or not check_dtype
                np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance * 1e-2)
                for static, length in zip(variable.type.shape, want.shape):
                    assert static is None or static == length
    if gradient and all(v.dtype == "float64" for v in (*values, *wanted)) and result is outputs[0]:
        shapes = [v.shape for v in values]

        def of_known_shapes(*xs):
            return function(*[specify_shape(x, shape) for x, shape in zip(xs, shapes)])

        verify_grad(function if unknown else of_known_shapes, values, rng=np.random.default_rng(5))
