"""Scalar ops as functions of JAX on arrays: by their primitive, by their decomposition, or by a function of JAX."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import jax
import jax.numpy as jnp
from aesara.graph.nodes import Apply
from aesara.link.jax.dispatch.basic import ConvertedGraph, is_known, jax_funcify
from aesara.link.jax.dispatch.special import SPECIAL
from aesara.scalar.native import Primitive
from aesara.scalar.op import ScalarOp
from aesara.scalar.types import get_scalar_type

__all__ = ["PRIMITIVES", "cast"]

_FOLDED = frozenset({"add", "mul", "and", "or", "xor", "minimum", "maximum"})


def cast(value: Any, dtype: str) -> Any:
    """A value in another dtype, by the rules of NumPy."""
    if is_known(value):
        with np.errstate(all="ignore"):
            return np.asarray(value).astype(dtype)
    if value.dtype == dtype:
        return value
    if jnp.iscomplexobj(value) and not dtype.startswith(("complex", "bool")):
        value = value.real
    return value != 0 if dtype == "bool" else value.astype(dtype)


def _is_float(x: Any) -> bool:
    return bool(jnp.issubdtype(jnp.result_type(x), jnp.inexact))


def _add(x: Any, y: Any) -> Any:
    return x | y if x.dtype == bool else x + y


def _mul(x: Any, y: Any) -> Any:
    return x & y if x.dtype == bool else x * y


def _intdiv(x: Any, y: Any) -> Any:
    if _is_float(x):
        return jnp.floor_divide(x, y)
    # What NumPy gives where it warns.
    return jnp.where(y == 0, jnp.zeros((), x.dtype), jnp.floor_divide(x, jnp.where(y == 0, jnp.ones((), y.dtype), y)))


def _mod(x: Any, y: Any) -> Any:
    if _is_float(x):
        return jnp.remainder(x, y)
    return jnp.where(y == 0, jnp.zeros((), x.dtype), jnp.remainder(x, jnp.where(y == 0, jnp.ones((), y.dtype), y)))


def _pow(x: Any, y: Any) -> Any:
    return jnp.power(x, y)


#: The primitives of `aesara.primitives` as functions of JAX.
PRIMITIVES: dict[str, Callable[..., Any]] = {
    "add": _add,
    "sub": jnp.subtract,
    "mul": _mul,
    "div": jnp.true_divide,
    "intdiv": _intdiv,
    "mod": _mod,
    "neg": jnp.negative,
    "abs": jnp.abs,
    "copysign": jnp.copysign,
    "minimum": jnp.minimum,
    "maximum": jnp.maximum,
    "larger": jnp.maximum,
    "lt": jnp.less,
    "le": jnp.less_equal,
    "gt": jnp.greater,
    "ge": jnp.greater_equal,
    "eq": jnp.equal,
    "ne": jnp.not_equal,
    "isnan": jnp.isnan,
    "isinf": jnp.isinf,
    "and": jnp.bitwise_and,
    "or": jnp.bitwise_or,
    "xor": jnp.bitwise_xor,
    "invert": jnp.bitwise_not,
    "shl": jnp.left_shift,
    "shr": jnp.right_shift,
    "select": jnp.where,
    "floor": jnp.floor,
    "ceil": jnp.ceil,
    "trunc": jnp.trunc,
    "rint": jnp.rint,
    "sqrt": jnp.sqrt,
    "cbrt": jnp.cbrt,
    "exp": jnp.exp,
    "exp2": jnp.exp2,
    "expm1": jnp.expm1,
    "log": jnp.log,
    "log2": jnp.log2,
    "log10": jnp.log10,
    "log1p": jnp.log1p,
    "sin": jnp.sin,
    "cos": jnp.cos,
    "tan": jnp.tan,
    "asin": jnp.arcsin,
    "acos": jnp.arccos,
    "atan": jnp.arctan,
    "sinh": jnp.sinh,
    "cosh": jnp.cosh,
    "tanh": jnp.tanh,
    "asinh": jnp.arcsinh,
    "acosh": jnp.arccosh,
    "atanh": jnp.arctanh,
    "erf": jax.scipy.special.erf,
    "erfc": jax.scipy.special.erfc,
    "pow": _pow,
    "atan2": jnp.arctan2,
    "hypot": jnp.hypot,
}


@jax_funcify.register(ScalarOp)
def _scalar_op(op: ScalarOp, node: Apply | None = None, **kwargs: Any) -> Callable[..., Any]:
    assert node is not None
    input_types = [get_scalar_type(v.type.dtype) for v in node.inputs]
    output_types = [get_scalar_type(v.type.dtype) for v in node.outputs]
    dtypes = op.operand_dtypes(input_types, output_types)
    out = output_types[0].dtype
    fact = op.native_fact(input_types) or (op.native if isinstance(op.native, Primitive) else None)
    special = SPECIAL.get(type(op))
    if special is not None:
        return lambda *values: cast(special(*(cast(v, d) for v, d in zip(values, dtypes))), out)
    if isinstance(fact, Primitive):
        return functools.partial(_by_primitive, fact.name, dtypes, out)
    inputs = [kind() for kind in input_types]
    results = op.decomposition(*inputs)
    if results is not None:
        graph = ConvertedGraph(inputs, results, None, **kwargs)
        return lambda *values: _one_or_all(graph.run(values))
    return functools.partial(_on_host, op, input_types, output_types)


def _one_or_all(results: Sequence[Any]) -> Any:
    return results[0] if len(results) == 1 else tuple(results)


def _by_primitive(name: str, dtypes: Sequence[str], out: str, *values: Any) -> Any:
    if name == "cast":
        return cast(values[0], out)
    operands = [cast(value, dtype) for value, dtype in zip(values, dtypes)]
    if name == "select":
        operands[0] = cast(operands[0], "bool")
    function = PRIMITIVES[name]
    folded = name in _FOLDED and len(operands) != 2
    return cast(functools.reduce(function, operands) if folded else function(*operands), out)


def _on_host(op: ScalarOp, input_types: Any, output_types: Any, *values: Any) -> Any:
    """Let the processor compute an Op that only NumPy or SciPy can, wherever the rest of the graph runs."""
    shape = np.broadcast_shapes(*(np.shape(v) for v in values))
    wanted = tuple(jax.ShapeDtypeStruct(shape, kind.dtype) for kind in output_types)

    def evaluate(*given: Any) -> tuple[np.ndarray, ...]:
        results = op.evaluate([np.asarray(v) for v in given], input_types, output_types)
        return tuple(np.broadcast_to(r, np.broadcast_shapes(*(np.shape(v) for v in given))) for r in results)

    return _one_or_all(jax.pure_callback(evaluate, wanted, *values, vmap_method="broadcast_all"))
