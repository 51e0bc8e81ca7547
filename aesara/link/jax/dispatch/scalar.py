"""Conversions of scalar ops to functions of JAX on arrays.

An op is computed as in native code: by a primitive, by a routine, or by its decomposition; complex numbers by their
parts.  Ops other than primitives have the derivative of their pullback, whose formulas avoid the overflow and
cancellation of derivatives of decompositions.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.custom_derivatives import SymbolicZero

from aesara.graph.disconnected_type import DisconnectedType
from aesara.graph.nodes import Apply
from aesara.graph.pullback import NullTypeGradError
from aesara.ir.expr import Expr, walk
from aesara.ir.function import ExternalFunction
from aesara.link.jax.dispatch.basic import ConvertedGraph, is_known, jax_funcify, one_or_all, record_host_call, require
from aesara.link.jax.dispatch.routines import function_on_arrays
from aesara.link.jax.dispatch.special import SPECIAL
from aesara.lower.routines import scalar_function
from aesara.scalar import complex_functions  # noqa: F401  # registers complex decompositions
from aesara.scalar.complex_forms import Parts, complex_decomposition, part_dtype
from aesara.scalar.composite import Composite
from aesara.scalar.gradient import scalar_gradient_graph
from aesara.scalar.native import Primitive, Special
from aesara.scalar.op import ScalarOp
from aesara.scalar.routine import FloatRoutine, SciPyFunction
from aesara.scalar.types import ScalarType, get_scalar_type

__all__ = ["PRIMITIVES", "cast"]

_FOLDED = frozenset({"add", "mul", "and", "or", "xor", "minimum", "maximum"})


def cast(value: Any, dtype: str) -> Any:
    """Cast a value by the rules of NumPy."""
    if is_known(value):
        with np.errstate(all="ignore"):
            return np.asarray(value).astype(dtype)
    if value.dtype == dtype:
        return value
    if jnp.iscomplexobj(value) and not dtype.startswith(("complex", "bool")):
        value = value.real
    if dtype == "bool":
        return value != 0
    kind = np.dtype(dtype).kind
    if value.dtype == "bool" and kind in "fc":
        # XLA would replace the product of a converted boolean and NaN with a select of NaN and 0.
        return value.astype("int8").astype(dtype)
    if kind in "iu" and value.dtype.kind == "f":
        # As in native code, cast to 64 bits first: negative numbers wrap around.
        whole = value.astype("int64").astype(dtype)
        return jnp.where(value < 2.0**63, whole, value.astype(dtype)) if dtype == "uint64" else whole
    return value.astype(dtype)


def _is_float(x: jax.Array) -> bool:
    return bool(jnp.issubdtype(jnp.result_type(x), jnp.inexact))


def _add(x: jax.Array, y: jax.Array) -> Any:
    return x | y if x.dtype == bool else x + y


def _mul(x: jax.Array, y: jax.Array) -> Any:
    return x & y if x.dtype == bool else x * y


def _intdiv(x: jax.Array, y: jax.Array) -> Any:
    return _divmod(x, y)[0] if _is_float(x) else _unless_zero(jnp.floor_divide, x, y)


def _mod(x: jax.Array, y: jax.Array) -> Any:
    return _divmod(x, y)[1] if _is_float(x) else _unless_zero(jnp.remainder, x, y)


def _unless_zero(function: Callable[..., Any], x: jax.Array, y: jax.Array) -> Any:
    """Return a quotient or remainder of integers, 0 if the divisor is 0, as in NumPy."""
    return jnp.where(y == 0, jnp.zeros((), x.dtype), function(x, jnp.where(y == 0, jnp.ones((), y.dtype), y)))


def _divmod(x: jax.Array, y: jax.Array) -> tuple[Any, Any]:
    """Return floored quotient and remainder of floats, with signs of zeros as in NumPy."""
    rest = jnp.fmod(x, y)
    across = (rest != 0) & ((y < 0) != (rest < 0))
    quotient = jnp.where(across, (x - rest) / y - 1, (x - rest) / y)
    whole = jnp.floor(quotient)
    whole = jnp.where(quotient - whole > 0.5, whole + 1, whole)
    whole = jnp.where(quotient == 0, jnp.copysign(jnp.zeros_like(whole), x / y), whole)
    rest = jnp.where(rest == 0, jnp.copysign(rest, y), jnp.where(across, rest + y, rest))
    return jnp.where(y == 0, x / y, whole), rest


def _pow(x: jax.Array, y: jax.Array) -> Any:
    if _is_float(x):
        return jnp.power(x, y)
    x, y = jnp.broadcast_arrays(x, y)

    def square(state: tuple[Any, Any, Any]) -> tuple[Any, Any, Any]:
        power, base, left = state
        return jnp.where(left & 1, power * base, power), base * base, left >> 1

    start = jnp.ones_like(x), x, jnp.maximum(y, 0)
    return jax.lax.while_loop(lambda state: jnp.any(state[2] != 0), square, start)[0]


def _log1p(x: jax.Array) -> Any:
    # `log1p` of XLA loses eight bits there.
    return jnp.where((x > -0.45) & (x < -0.25), jnp.log(1 + x), jnp.log1p(x))


def _exp2(x: jax.Array) -> Any:
    near = jnp.clip(x, -3000, 3000)
    whole = jnp.rint(near)
    return jnp.ldexp(jnp.exp((near - whole) * math.log(2)), whole.astype("int32"))


def _half_exp(x: jax.Array) -> Any:
    """Return ``exp(|x|) / 2``, which overflows later than ``exp(|x|)``."""
    half = jnp.exp(0.5 * abs(x))
    return 0.5 * half * half


def _sinh(x: jax.Array) -> Any:
    large = jnp.copysign(_half_exp(x) - 0.5 * jnp.exp(-abs(x)), x)
    return jnp.where(abs(x) < 1, jnp.sinh(x), large)


def _cosh(x: jax.Array) -> Any:
    return _half_exp(x) + 0.5 * jnp.exp(-abs(x))


def _atanh(x: jax.Array) -> Any:
    size = abs(x)
    return jnp.copysign(0.5 * jnp.log1p(2 * size / (1 - size)), x)


#: functions of JAX for the primitives of `aesara.primitives`
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
    "exp2": _exp2,
    "expm1": jnp.expm1,
    "log": jnp.log,
    "log2": jnp.log2,
    "log10": jnp.log10,
    "log1p": _log1p,
    "sin": jnp.sin,
    "cos": jnp.cos,
    "tan": jnp.tan,
    "asin": jnp.arcsin,
    "acos": jnp.arccos,
    "atan": jnp.arctan,
    "sinh": _sinh,
    "cosh": _cosh,
    "tanh": jnp.tanh,
    "asinh": jnp.arcsinh,
    "acosh": jnp.arccosh,
    "atanh": _atanh,
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
    if any(kind.is_complex for kind in (*input_types, *output_types)):
        return _by_parts(op, input_types, output_types, **kwargs)
    if isinstance(op, Composite):
        return _by_graph(op, input_types, **kwargs)
    fact = op.native_fact(input_types)
    dtypes = op.operand_dtypes(input_types, output_types)
    if isinstance(fact, Special | FloatRoutine):
        dtypes = ["float64"] * len(input_types)
    # Half precision is computed in single precision and rounded once.
    types = [get_scalar_type("float32" if dtype == "float16" else dtype) for dtype in dtypes]
    if isinstance(fact, Primitive):
        function = _by_primitive(fact.name, types, node, **kwargs)
    elif fact is not None:
        function = _by_name(fact)
        if _calls_host(fact):
            record_host_call(op, **kwargs)
    elif op.decomposition(*(kind() for kind in types)) is not None:
        function = _by_graph(op, types, **kwargs)
    else:
        function = _reference(op, types)
        record_host_call(op, **kwargs)
    is_continuous = not any(kind.is_discrete for kind in (*types, *output_types))
    if not isinstance(fact, Primitive) and len(output_types) == 1 and is_continuous:
        function = _differentiable(op, types, function, **kwargs)

    def on_arrays(*values: Any) -> Any:
        results = function(*(cast(value, kind.dtype) for value, kind in zip(values, types)))
        if isinstance(results, tuple):
            return tuple(cast(result, kind.dtype) for result, kind in zip(results, output_types))
        return cast(results, output_types[0].dtype)

    return on_arrays


def _by_primitive(
    name: str, types: Sequence[ScalarType], node: Apply, checks: Any = None, **kwargs: Any
) -> Callable[..., Any]:
    if name == "cast":
        return lambda value: value
    function = PRIMITIVES[name]
    if name == "pow" and types[1].numpy_dtype.kind == "i":

        def power(x: jax.Array, y: jax.Array) -> Any:
            message = "Integers to negative integer powers are not allowed."
            require(checks, y >= 0, ValueError, message, node)
            return function(x, y)

        return power
    if name in _FOLDED and len(types) != 2:
        return lambda *operands: functools.reduce(function, operands)
    return function


def _by_graph(op: ScalarOp, types: Sequence[ScalarType], **kwargs: Any) -> Callable[..., Any]:
    inputs = [kind() for kind in types]
    outputs = op.decomposition(*inputs)
    assert outputs is not None
    graph = ConvertedGraph(inputs, outputs, None, **kwargs)
    return lambda *values: one_or_all(graph.run(values))


def _by_parts(
    op: ScalarOp, input_types: Sequence[ScalarType], output_types: Sequence[ScalarType], **kwargs: Any
) -> Callable[..., Any]:
    """Return the function of an op on complex numbers, by their parts if it has a complex decomposition."""
    reals = [get_scalar_type(part_dtype(kind.dtype)) if kind.is_complex else kind for kind in input_types]
    inputs = [Parts(real(), real()) if kind.is_complex else real() for kind, real in zip(input_types, reals)]
    try:
        outputs = complex_decomposition(op, inputs, input_types)
    except NotImplementedError:
        record_host_call(op, **kwargs)
        return _reference(op, input_types)
    graph = ConvertedGraph(_flat(inputs), _flat(outputs), None, **kwargs)

    def on_arrays(*values: Any) -> Any:
        pairs = zip(values, input_types)
        results = iter(graph.run(_flat(Parts(v.real, v.imag) if t.is_complex else v for v, t in pairs)))
        found = [
            jax.lax.complex(*jnp.broadcast_arrays(next(results), next(results))) if kind.is_complex else next(results)
            for kind in output_types
        ]
        return one_or_all(found)

    return on_arrays


def _flat(values: Iterable[Any]) -> list[Any]:
    return [part for value in values for part in (value if isinstance(value, Parts) else (value,))]


def _by_name(fact: Special | FloatRoutine) -> Callable[..., Any]:
    """Return the function of float64 arrays for a native fact."""
    found = SPECIAL.get(fact.name, SciPyFunction(fact.name)) if isinstance(fact, Special) else fact
    if isinstance(found, SciPyFunction):
        return functools.partial(_on_host, found, ["float64"])
    if not isinstance(found, FloatRoutine):
        return found
    function = scalar_function(found)

    def on_arrays(*values: Any) -> Any:
        same = jnp.broadcast_arrays(*values)
        return function_on_arrays(function, _operation)(np.ones(same[0].shape, bool), *same)

    return on_arrays


def _special_of(function: ExternalFunction) -> Special:
    """Return the native fact of an external function."""
    return Special(function.symbol.removeprefix("special.").rpartition(".")[0])


def _calls_host(fact: Special | FloatRoutine) -> bool:
    """Return whether a function is, or calls, one that only SciPy has."""
    if isinstance(fact, Special):
        return fact.name not in SPECIAL
    called = (e.attr for e in walk(scalar_function(fact).expressions()))
    return any(isinstance(one, ExternalFunction) and _special_of(one).name not in SPECIAL for one in called)


def _operation(e: Expr, operands: Sequence[Any]) -> Any:
    """Compute an operation of the loop IR on arrays."""
    if e.op == "cast":
        return cast(operands[0], e.dtype)
    if isinstance(e.attr, ExternalFunction):
        return _by_name(_special_of(e.attr))(*operands)
    return PRIMITIVES[e.op](*operands)


def _on_host(function: Callable[..., Any], dtypes: Sequence[str], *values: Any) -> Any:
    """Compute a function of NumPy or SciPy on the host."""

    def evaluate(*arrays: Any) -> tuple[np.ndarray, ...]:
        shape = np.broadcast_shapes(*(np.shape(v) for v in arrays))
        results = function(*map(np.asarray, arrays))
        results = results if isinstance(results, tuple) else (results,)
        return tuple(np.broadcast_to(np.asarray(r, dtype), shape) for r, dtype in zip(results, dtypes))

    shape = np.broadcast_shapes(*(np.shape(v) for v in values))
    output_types = tuple(jax.ShapeDtypeStruct(shape, dtype) for dtype in dtypes)
    return one_or_all(jax.pure_callback(evaluate, output_types, *values, vmap_method="broadcast_all"))


def _reference(op: ScalarOp, types: Sequence[ScalarType]) -> Callable[..., Any]:
    outputs = op.output_types(types)
    return functools.partial(
        _on_host, lambda *values: op.evaluate(values, types, outputs), [kind.dtype for kind in outputs]
    )


def _differentiable(
    op: ScalarOp, types: Sequence[ScalarType], function: Callable[..., Any], **kwargs: Any
) -> Callable[..., Any]:
    """Set the derivative of a function to that of the op."""
    with_jvp = jax.custom_jvp(function)

    def jvp(primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        result = with_jvp(*primals)
        graph = scalar_gradient_graph(op, types)
        leaves = [*graph.inputs, *graph.outputs, *graph.output_grads]
        total = jnp.zeros_like(result)
        for term, tangent in zip(graph.grads, tangents):
            if isinstance(tangent, SymbolicZero) or isinstance(term.type, DisconnectedType):
                continue
            if not isinstance(term.type, ScalarType):
                raise NullTypeGradError(f"{op}: {term.type.why_null}")
            total += ConvertedGraph(leaves, [term], None, **kwargs).run([*primals, result, tangent])[0]
        return result, total

    with_jvp.defjvp(jvp, symbolic_zeros=True)
    return with_jvp
