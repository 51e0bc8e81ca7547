"""Elementwise Ops: a function of tensors for each scalar Op of PyTensor."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytensor.scalar.basic as ps
import pytensor.scalar.math as psm
from pytensor.graph.basic import Apply as PyTensorApply
from pytensor.tensor.elemwise import Elemwise
from pytensor.tensor.xlogx import XlogX, XlogY0

import aesara.tensor as at
from aesara.graph.nodes import Variable
from aesara.pytensor.conversion import convert_graph, convert_op, perform_in_python
from aesara.tensor.xlogx import xlogx

__all__ = ["SCALAR_FUNCTIONS"]


def _sum(*terms: Any) -> Any:
    return at.add(*terms) if len(terms) > 1 else at.as_tensor_variable(terms[0])


def _product(*factors: Any) -> Any:
    return at.mul(*factors) if len(factors) > 1 else at.as_tensor_variable(factors[0])


def _xlogy0(x: Any, y: Any) -> Any:
    return at.switch(at.eq(x, 0), 0.0, x * at.log(y))


#: the function of tensors for each class of scalar Ops; results get the dtype that PyTensor gives them
SCALAR_FUNCTIONS: dict[type, Callable[..., Any]] = {
    ps.Abs: at.abs, ps.Add: _sum, ps.AND: at.bitwise_and, ps.Angle: at.angle, ps.ArcCos: at.arccos,
    ps.ArcCosh: at.arccosh, ps.ArcSin: at.arcsin, ps.ArcSinh: at.arcsinh, ps.ArcTan: at.arctan,
    ps.ArcTan2: at.arctan2, ps.ArcTanh: at.arctanh, ps.Ceil: at.ceil, ps.Clip: at.clip, ps.Complex: at.complex,
    ps.ComplexFromPolar: at.complex_from_polar, ps.Conj: at.conj, ps.Cos: at.cos, ps.Cosh: at.cosh,
    ps.Deg2Rad: at.deg2rad, ps.EQ: at.eq, ps.Exp: at.exp, ps.Exp2: at.exp2, ps.Expm1: at.expm1, ps.Floor: at.floor,
    ps.GE: at.ge, ps.GT: at.gt, ps.Identity: at.as_tensor_variable, ps.Imag: at.imag, ps.IntDiv: at.int_div,
    ps.Invert: at.invert, ps.IsInf: at.isinf, ps.IsNan: at.isnan, ps.LE: at.le, ps.LT: at.lt, ps.Log: at.log,
    ps.Log10: at.log10, ps.Log1p: at.log1p, ps.Log2: at.log2, ps.Mod: at.mod, ps.Mul: _product, ps.NEQ: at.neq,
    ps.Neg: at.neg, ps.OR: at.bitwise_or, ps.Pow: at.pow, ps.Rad2Deg: at.rad2deg, ps.Real: at.real,
    ps.Reciprocal: at.reciprocal, ps.RoundHalfAwayFromZero: at.round_half_away_from_zero,
    ps.RoundHalfToEven: at.round_half_to_even, ps.ScalarMaximum: at.maximum, ps.ScalarMinimum: at.minimum,
    ps.Second: at.second, ps.Sign: at.sgn, ps.Sin: at.sin, ps.Sinh: at.sinh, ps.Sqr: at.sqr, ps.Sqrt: at.sqrt,
    ps.Sub: at.sub, ps.Switch: at.switch, ps.Tan: at.tan, ps.Tanh: at.tanh, ps.TrueDiv: at.true_div,
    ps.Trunc: at.trunc, ps.XOR: at.bitwise_xor,
    psm.BetaInc: at.betainc, psm.BetaIncInv: at.betaincinv, psm.Erf: at.erf, psm.Erfc: at.erfc,
    psm.Erfcinv: at.erfcinv, psm.Erfcx: at.erfcx, psm.Erfinv: at.erfinv, psm.Gamma: at.gamma,
    psm.GammaInc: at.gammainc, psm.GammaIncC: at.gammaincc, psm.GammaIncCInv: at.gammainccinv,
    psm.GammaIncInv: at.gammaincinv, psm.GammaL: at.gammal, psm.GammaLn: at.gammaln, psm.GammaU: at.gammau,
    psm.Hyp2F1: at.hyp2f1, psm.I0: at.i0, psm.I1: at.i1, psm.Iv: at.iv, psm.Ive: at.ive, psm.J0: at.j0,
    psm.J1: at.j1, psm.Jv: at.jv, psm.Kve: at.kve, psm.Log1mexp: at.log1mexp, psm.Owens_t: at.owens_t,
    psm.PolyGamma: at.polygamma, psm.Psi: at.psi, psm.Sigmoid: at.sigmoid, psm.Softplus: at.softplus,
    psm.TriGamma: at.tri_gamma,
    XlogX: xlogx, XlogY0: _xlogy0,
}  # fmt: skip


def _of_dtype(function: Callable[..., Any], inputs: Sequence[Any], dtype: str) -> Any:
    """The function's result in the dtype that PyTensor gives it, computed in that precision."""
    made = function(*inputs)
    if made.type.dtype == dtype:
        return made
    wide = [at.cast(x, dtype) if x.type.dtype != "bool" else x for x in inputs]
    again = function(*wide)
    return again if again.type.dtype == dtype else at.cast(made, dtype)


def scalar_op(op: ps.ScalarOp, node: PyTensorApply, inputs: Sequence[Any]) -> list[Any]:
    """What a scalar Op gives elementwise on tensors, an entry for each of the node's outputs."""
    dtypes = [output.type.dtype for output in node.outputs]
    if isinstance(op, ps.Cast):
        return [at.cast(inputs[0], dtypes[0])]
    if isinstance(op, ps.Composite):
        return _composite(op, inputs)
    function = SCALAR_FUNCTIONS.get(type(op))
    if function is None:
        return list(perform_in_python(node, inputs))
    return [_of_dtype(function, inputs, dtypes[0])]


def _composite(op: ps.Composite, inputs: Sequence[Any]) -> list[Any]:
    """The graph inside, on tensors."""
    given = dict(zip(op.inputs, inputs))
    return convert_graph(op.inputs, op.outputs, given)[1]


@convert_op.register(ps.ScalarOp)
def _scalar(op: ps.ScalarOp, node: PyTensorApply, *inputs: Variable) -> list[Any]:
    return scalar_op(op, node, inputs)


@convert_op.register(Elemwise)
def _elemwise(op: Elemwise, node: PyTensorApply, *inputs: Variable) -> list[Any]:
    return scalar_op(op.scalar_op, node, inputs)
