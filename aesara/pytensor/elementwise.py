"""Conversion of elementwise Ops: a function of tensors for each scalar Op."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import numpy as np
import pytensor.scalar.basic as ps
from pytensor.graph.basic import Apply as PyTensorApply
from pytensor.scalar.loop import ScalarLoop
from pytensor.tensor.elemwise import Elemwise

import aesara.tensor as at
from aesara.graph.nodes import Constant, Variable
from aesara.pytensor.conversion import convert_graph, convert_op, perform_in_python
from aesara.pytensor.versions import classes
from aesara.scan.basic import scan
from aesara.scan.stopping import until
from aesara.tensor.xlogx import xlogx

__all__ = ["SCALAR_FUNCTIONS"]


def _sum(*terms: Any) -> Any:
    return at.add(*terms) if len(terms) > 1 else at.as_tensor_variable(terms[0])


def _product(*factors: Any) -> Any:
    return at.mul(*factors) if len(factors) > 1 else at.as_tensor_variable(factors[0])


def _power(x: Any, y: Any) -> Any:
    """Return a power; negative powers of integers are truncated, as by PyTensor's code in C and Numba."""
    if not all(v.type.dtype.startswith(("int", "uint")) for v in (x, y)) or y.type.dtype.startswith("uint"):
        return at.pow(x, y)
    if isinstance(y, Constant) and np.all(y.data >= 0):
        return at.pow(x, y)
    power = at.pow(x, at.abs(y))
    return at.switch(at.lt(y, 0) & at.neq(at.abs(x), 1), at.zeros_like(power), power)


def _ndtri_exp(x: Any) -> Any:
    """Return the inverse of the standard normal distribution function at ``exp(x)``, also if that rounds to 1 or 0."""
    # The asymptotic series q = exp(-z**2 / 2) / (sqrt(2 pi) |z|) * (1 - 1 / z**2 + 3 / z**4 - ...) is solved for z**2
    # by fixed-point iteration.
    twice = -2 * at.minimum(x, -700.0)
    squared = twice
    for _ in range(5):
        series = (-1 + (3 + (-15 + 105 / squared) / squared) / squared) / squared
        squared = twice - np.log(2 * np.pi) - at.log(squared) + 2 * at.log1p(series)
    far = -at.sqrt(at.switch(at.isinf(twice), twice, squared))
    near = at.switch(at.gt(x, -0.01), -at.ndtri(-at.expm1(x)), at.ndtri(at.exp(x)))
    return at.switch(at.lt(x, -700.0), far, near)


def _xlogy0(x: Any, y: Any) -> Any:
    return at.switch(at.eq(x, 0), 0.0, x * at.log(y))


#: functions of tensors by modules and names of classes of scalar Ops
_FUNCTIONS: dict[str, dict[str, Callable[..., Any]]] = {
    "pytensor.scalar.basic": {
        "Abs": at.abs, "Add": _sum, "AND": at.bitwise_and, "Angle": at.angle, "ArcCos": at.arccos,
        "ArcCosh": at.arccosh, "ArcSin": at.arcsin, "ArcSinh": at.arcsinh, "ArcTan": at.arctan, "ArcTan2": at.arctan2,
        "ArcTanh": at.arctanh, "Ceil": at.ceil, "Clip": at.clip, "Complex": at.complex,
        "ComplexFromPolar": at.complex_from_polar, "Conj": at.conj, "Cos": at.cos, "Cosh": at.cosh,
        "Deg2Rad": at.deg2rad, "EQ": at.eq, "Exp": at.exp, "Exp2": at.exp2, "Expm1": at.expm1, "Floor": at.floor,
        "GE": at.ge, "GT": at.gt, "Identity": at.as_tensor_variable, "Imag": at.imag, "IntDiv": at.floor_divide,
        "Invert": at.invert, "IsInf": at.isinf, "IsNan": at.isnan, "LE": at.le, "LT": at.lt, "Log": at.log,
        "Log10": at.log10, "Log1p": at.log1p, "Log2": at.log2, "Mod": at.mod, "Mul": _product, "NEQ": at.neq,
        "Neg": at.neg, "OR": at.bitwise_or, "Pow": _power, "Rad2Deg": at.rad2deg, "Real": at.real,
        "Reciprocal": at.reciprocal, "RoundHalfAwayFromZero": at.round_half_away_from_zero,
        "RoundHalfToEven": at.round_half_to_even, "ScalarMaximum": at.maximum, "ScalarMinimum": at.minimum,
        "Second": at.second, "Sign": at.sgn, "Sin": at.sin, "Sinh": at.sinh, "Sqr": at.square, "Sqrt": at.sqrt,
        "Sub": at.sub, "Switch": at.switch, "Tan": at.tan, "Tanh": at.tanh, "TrueDiv": at.true_divide,
        "Trunc": at.trunc, "XOR": at.bitwise_xor,
    },
    "pytensor.scalar.math": {
        "BetaInc": at.betainc, "BetaIncInv": at.betaincinv, "Erf": at.erf, "Erfc": at.erfc, "Erfcinv": at.erfcinv,
        "Erfcx": at.erfcx, "Erfinv": at.erfinv, "Gamma": at.gamma, "GammaInc": at.gammainc, "GammaIncC": at.gammaincc,
        "GammaIncCInv": at.gammainccinv, "GammaIncInv": at.gammaincinv, "GammaL": at.gammal, "GammaLn": at.gammaln,
        "GammaU": at.gammau, "Hyp2F1": at.hyp2f1, "I0": at.i0, "I1": at.i1, "Iv": at.iv, "Ive": at.ive, "J0": at.j0,
        "J1": at.j1, "Jv": at.jv, "Kve": at.kve, "Log1mexp": at.log1mexp, "Owens_t": at.owens_t,
        "PolyGamma": at.polygamma, "Psi": at.psi, "Sigmoid": at.sigmoid, "Softplus": at.softplus,
        "NdtriExp": _ndtri_exp, "TriGamma": at.tri_gamma,
    },
    "pytensor.tensor.xlogx": {"XlogX": xlogx, "XlogY0": _xlogy0},
}  # fmt: skip
#: the same functions by class; results are cast to the dtype of PyTensor's result
SCALAR_FUNCTIONS: dict[type, Callable[..., Any]] = {
    cls: functions[name] for module, functions in _FUNCTIONS.items() for name, cls in classes(module, functions).items()
}

#: functions for scalar Ops of other libraries, such as PyMC, that name a function of SciPy
_BY_SPECIFICATION: dict[str, Callable[..., Any]] = {
    "scipy.special.i0e": lambda x: at.ive(0.0, x),
    "scipy.special.i1e": lambda x: at.ive(1.0, x),
}


def _function_of(op: ps.ScalarOp) -> Callable[..., Any] | None:
    """Return the function of tensors for a scalar Op, or None."""
    known = SCALAR_FUNCTIONS.get(type(op))
    specification = getattr(op, "nfunc_spec", None)
    return _BY_SPECIFICATION.get(specification[0]) if known is None and specification else known


def _compute_in_dtype(function: Callable[..., Any], inputs: Sequence[Any], dtype: str) -> Any:
    """Return the result of a function in a dtype, computed in the precision of this dtype."""
    result = function(*inputs)
    if result.type.dtype == dtype:
        return result
    cast_inputs = [at.cast(x, dtype) if x.type.dtype != "bool" else x for x in inputs]
    cast_result = function(*cast_inputs)
    return cast_result if cast_result.type.dtype == dtype else at.cast(result, dtype)


def scalar_op(op: ps.ScalarOp, node: PyTensorApply, inputs: Sequence[Any]) -> list[Any]:
    """Apply a scalar Op elementwise to tensors; return a list of outputs."""
    dtypes = [output.type.dtype for output in node.outputs]
    if isinstance(op, ps.Cast):
        return [at.cast(inputs[0], dtypes[0])]
    if isinstance(op, ps.Composite):
        return _composite(op, inputs)
    if isinstance(op, ScalarLoop):
        return _loop(op, inputs, dtypes)
    function = _function_of(op)
    if function is None:
        return list(perform_in_python(node, inputs))
    return [_compute_in_dtype(function, inputs, dtypes[0])]


def _composite(op: ps.Composite, inputs: Sequence[Any]) -> list[Any]:
    """Apply the graph of a composite scalar Op to tensors."""
    replacements = dict(zip(op.inputs, inputs))
    return convert_graph(op.inputs, op.outputs, replacements)[1]


def _loop(op: ScalarLoop, inputs: Sequence[Any], dtypes: Sequence[str]) -> list[Any]:
    """Return the loops of all elements as one loop; elements keep their values after their last step."""
    n_states = len(op.outputs) - op.is_while
    zeros_like_inputs = [at.zeros_like(x, dtype="bool") for x in inputs]
    broadcast_zeros = reduce(at.bitwise_or, zeros_like_inputs)
    n_steps, *values = [at.second(broadcast_zeros, x) for x in inputs]
    states = [at.cast(x, dtype) for x, dtype in zip(values[:n_states], dtypes)]

    def step(i: Any, done: Any, *given: Any) -> Any:
        states, (n_steps, *constants) = given[:n_states], given[n_states:]
        made = convert_graph(op.inputs, op.outputs, dict(zip(op.inputs, [*states, *constants])))[1]
        runs = at.lt(i, n_steps) & ~done
        following = [at.switch(runs, new, old) for new, old in zip(made, states)]
        if op.is_while:
            done = done | (runs & at.cast(made[-1], "bool"))
        return [i + 1, done, *following], until(~at.any(at.lt(i + 1, n_steps) & ~done))

    most_steps = at.max(at.concatenate([at.ones((1,), dtype="int64"), at.cast(n_steps, "int64").ravel()]))
    (_, done, *results), _ = scan(
        step,
        outputs_info=[at.zeros((), dtype="int64"), broadcast_zeros, *states],
        non_sequences=[n_steps, *values[n_states:]],
        n_steps=most_steps,
        return_list=True,
    )
    results = [result[-1] for result in results]
    return [*results, done[-1]] if op.is_while else results


@convert_op.register(ps.ScalarOp)
def _scalar(op: ps.ScalarOp, node: PyTensorApply, *inputs: Variable) -> list[Any]:
    return scalar_op(op, node, inputs)


@convert_op.register(Elemwise)
def _elemwise(op: Elemwise, node: PyTensorApply, *inputs: Variable) -> list[Any]:
    return scalar_op(op.scalar_op, node, inputs)
