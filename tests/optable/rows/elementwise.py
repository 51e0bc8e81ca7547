"""Rows of the elementwise functions, made from the declarations of the scalar ops."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.special as sps

import aesara.tensor as at
from aesara.scalar.op import SciPyFunction
from aesara.scalar.types import get_scalar_type
from aesara.tensor.elemwise import Elemwise
from tests.optable.inputs import ALL, Arg, boolean
from tests.optable.table import ROWS, Case, Row
from tests.optable.truth import TRUTH


def _with_sign(x: Any) -> Any:
    return np.copysign(1.0, x)


def _away_from_zero(x: np.ndarray) -> np.ndarray:
    """Halves away from zero; exact, where ``floor(x + 0.5)`` is not for the number below 0.5."""
    whole = np.trunc(x)
    return np.copysign(np.where(np.abs(x - whole) >= 0.5, np.abs(whole) + 1, np.abs(whole)), x).astype(x.dtype)


def _log1mexp(x: np.ndarray) -> np.ndarray:
    return np.where(x > -0.6931, np.log(-np.expm1(x)), np.log1p(-np.exp(x))).astype(x.dtype)


def _clip(x: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """As NumPy's, except that bounds in the wrong order give the lower one where it applies."""
    return np.where(x < low, low, np.where(x > high, high, x))


def _sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x)) if x.dtype.kind == "c" else sps.expit(x)


def _softplus(x: np.ndarray) -> np.ndarray:
    return np.log1p(np.exp(x)) if x.dtype.kind == "c" else np.logaddexp(np.zeros((), x.dtype), x)


def _angle(z: np.ndarray) -> np.ndarray:
    return np.angle(z if z.dtype.kind == "c" else z.astype("float64"))


def _complex(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    x, y = np.broadcast_arrays(x, y)
    result = np.empty(x.shape, np.promote_types(x.dtype, "complex64"))
    result.real, result.imag = x.real, y.real
    return result


def _sinc(x: np.ndarray) -> np.ndarray:
    """Zero at whole numbers however large, where NumPy takes the sine of a multiple of pi."""
    return np.where((x == np.rint(x)) & (x != 0) & np.isfinite(x), 0 * x, np.sinc(x))


def _zeta(x: np.ndarray, q: np.ndarray) -> np.ndarray:
    """SciPy's, with the limits for large x that it does not take."""
    limit = np.where(q > 1, 0.0, np.where(q == 1, 1.0, np.where(q > 0, np.inf, np.nan)))
    limit = np.where(np.isposinf(x) & (q > 0), limit, sps.zeta(x, q))
    return np.where(np.isnan(x), np.nan, limit)


def _variadic(function: Callable) -> Callable:
    def apply(*xs: Any) -> Any:
        result = xs[0]
        for x in xs[1:]:
            result = function(result, x)
        return result

    return apply


#: what NumPy and SciPy have under another name or not at all; everything else is declared with the op
ORACLES: dict[str, Callable[..., Any]] = {
    "add": _variadic(np.add),
    "mul": _variadic(np.multiply),
    "switch": lambda c, x, y: np.where(c, x, y),
    "second": lambda x, y: np.broadcast_arrays(x, y)[1].copy(),
    "identity": lambda x: x,
    "clip": _clip,
    "round_half_away_from_zero": _away_from_zero,
    "sigmoid": _sigmoid,
    "softplus": _softplus,
    "log1mexp": _log1mexp,
    "tri_gamma": lambda x: sps.polygamma(1, x).astype(x.dtype),
    "gammau": lambda a, x: sps.gammaincc(a, x) * sps.gamma(a),
    "gammal": lambda a, x: sps.gammainc(a, x) * sps.gamma(a),
    "chi2sf": lambda x, k: np.where(x < 0, np.nan, sps.chdtrc(k, x)),  # older versions of SciPy give 1
    "real": np.real,
    "imag": np.imag,
    "angle": _angle,
    "complex": _complex,
    "copysign": np.copysign,
    "signbit": np.signbit,
    "sinc": _sinc,
    "zeta": _zeta,
    "polygamma": lambda n, x: sps.polygamma(n, x),
    "complex_from_polar": lambda r, t: r * np.exp(1j * t),
}

#: exact in floating-point arithmetic, or a choice among the inputs
EXACT = frozenset(
    """lt gt le ge eq neq isnan isinf switch second identity maximum minimum clip and_ or_ xor invert add sub mul
    true_divide floor_divide mod neg reciprocal abs sgn square sqrt ceil floor trunc round_half_to_even
    round_half_away_from_zero real imag conj complex""".split()
)

#: inputs without a gradient formula, and functions of which a second derivative has none
NO_FORMULA: dict[str, tuple[int, ...]] = dict.fromkeys(
    ("jv", "iv", "yv", "ive", "kv", "kve", "polygamma", "zeta"), (0,)
)
NO_SECOND = frozenset(
    "gammainc gammaincc gammau gammal chi2sf betainc hyp2f1 gammaincinv gammainccinv betaincinv betainccinv".split()
)
#: SciPy has no trigamma function of complex numbers
NO_COMPLEX, NO_COMPLEX_SECOND = frozenset({"psi"}), frozenset({"gamma"})

#: functions of the elementwise module that another row covers, or that no oracle has
LEFT_OUT = frozenset({"hyp2f1_der", "conj"})

#: what each dtype is combined with
MIXED = (
    ("int8", "float32"),
    ("int64", "float32"),
    ("float16", "float32"),
    ("uint8", "int16"),
    ("bool", "float64"),
    ("uint32", "int32"),
    ("float32", "float64"),
    ("int64", "uint64"),
    ("int64", "bool"),
    ("float64", "complex64"),
    ("complex64", "int32"),
)


def oracle_of(name: str, op: Any) -> Callable[..., Any] | None:
    """A function of arrays that computes in the dtype that the op declares."""
    function = ORACLES.get(name)
    if function is None and isinstance(op.numpy, np.ufunc | SciPyFunction):
        function = op.numpy
    if function is None:
        return None
    computes_in = op.operands

    def oracle(*values: np.ndarray) -> np.ndarray:
        (output,) = op.output_types([get_scalar_type(str(v.dtype)) for v in values])
        operands = [v.astype(output.dtype) for v in values] if computes_in == "output" else values
        if name == "switch":
            operands = [values[0] != 0, *operands[1:]]
        result = np.asarray(function(*operands))
        return result.astype(output.dtype)

    return oracle


def domains_of(op: Any, count: int) -> list[tuple[float, float]]:
    """The interval of each input."""
    if isinstance(op.domain[0], tuple):
        return list(op.domain)
    return [op.domain] * count


def has_values(arg: Arg) -> bool:
    """Return whether the dtype has values in the interval."""
    kind = np.dtype(arg.dtype).kind
    if kind == "b":
        return arg.low <= 0 and arg.high >= 1
    if kind == "u":
        return max(0, np.ceil(arg.low)) <= np.floor(arg.high)
    return kind not in "iu" or np.ceil(arg.low) <= np.floor(arg.high)


UNARY_SHAPES: tuple = (((3, 5),), ((),), ((0,),), ((1,),), ((19,),), ((2, 3, 4),), ((2, 0, 3),))
BINARY_SHAPES: tuple = (
    ((3, 5), (3, 5)),
    ((), ()),
    ((0,), (0,)),
    ((19,), (19,)),
    ((3, 5), (5,)),
    ((), (2, 3)),
    ((3, 5), (1, 5)),
    ((3, 1), (1, 5)),
    ((3, 1), (3, 5)),
    ((0, 3), (1, 3)),
    ((2, 1, 4), (3, 1)),
)


def shapes_for(count: int) -> Sequence[tuple[tuple[int, ...], ...]]:
    if count == 1:
        return UNARY_SHAPES
    if count == 2:
        return BINARY_SHAPES
    return [(a, b, *(a for _ in range(count - 2))) for a, b in BINARY_SHAPES[:8]]


def arg_of(shape: tuple[int, ...], domain: tuple[float, float], dtype: str = "float64", **facts: Any) -> Arg:
    static = tuple(1 if n == 1 else None for n in shape)  # what is to be broadcast must be known
    return Arg(shape, dtype=dtype, low=domain[0], high=domain[1], static=static, **facts)


def near_zero(case: Case) -> Case:
    """The case with numbers whose functions are of moderate size, for differences."""
    return Case(tuple(replace(a, low=max(a.low, -1.5), high=min(a.high, 1.5)) for a in case.args))


def accepts(op: Any, dtypes: Sequence[str]) -> bool:
    try:
        op.output_types([get_scalar_type(d) for d in dtypes])
    except (TypeError, NotImplementedError):
        return False
    return True


def elementwise_row(name: str, function: Elemwise, public: Sequence[str]) -> Row | None:
    """The row of a function; None where only a written one can say what it computes."""
    op = function.scalar_op
    oracle = oracle_of(name, op)
    if oracle is None or op.nout != 1 or name in LEFT_OUT:
        return None
    count = op.nin if op.nin > 0 else 3
    domains = domains_of(op, count)
    first = "float64" if accepts(op, ["float64"] * count) else "int64"
    selects = op.selectors
    without = NO_FORMULA.get(name, ())

    extreme = name in EXACT and op.domain == (-5.0, 5.0)

    def args(shapes: Sequence[tuple[int, ...]], dtypes: Sequence[str]) -> tuple[Arg, ...]:
        made = [
            arg_of(s, d, t, differentiable=k not in without, extreme=extreme)
            for k, (s, d, t) in enumerate(zip(shapes, domains, dtypes, strict=True))
        ]
        for k in selects:
            made[k] = boolean(*shapes[k], static=made[k].static)
        return tuple(made)

    cases = [Case(args(shapes, [first] * count)) for shapes in shapes_for(count)]
    combinations = [(dtype,) * count for dtype in ALL]
    if count > 1:
        combinations += [(*pair, *pair[:1] * (count - 2)) for pair in MIXED]
    by_dtype = []
    for dtypes in combinations:
        drawn = args([(2, 7)] * count, dtypes)
        if name == "pow" and drawn[1].dtype.startswith("int"):  # NumPy has no negative powers of integers
            drawn = (drawn[0], replace(drawn[1], low=0))
        drawn = tuple(replace(a, differentiable=op.pullback is not None and a.differentiable) for a in drawn)
        if op.nin < 0 and set(dtypes) == {"float16"}:
            drawn = drawn[:2]  # how often a sum of more is rounded to half precision is not said
        if accepts(op, [a.dtype for a in drawn]) and all(has_values(a) for a in drawn):
            by_dtype.append(Case(drawn, smooth=False))
    row = Row(
        name,
        getattr(at, name, function),
        oracle,
        cases,
        error="exact" if name in EXACT else 2.0,
        covers=tuple(public),
        gradient=op.pullback is not None,
        elementwise=True,
        truth=TRUTH.get(name),
        special_values=name != "polygamma",  # of whole orders
    )
    row.cases_by_dtype = by_dtype
    row.second = "" if name in NO_SECOND else "real" if name in NO_COMPLEX_SECOND else "all"
    if name not in NO_COMPLEX:
        row.complex_cases = [near_zero(c) for c in by_dtype if {a.dtype for a in c.args} == {"complex128"}]
    row.signed_zeros = name not in (
        "maximum",
        "minimum",
        "fmax",
        "fmin",
    )  # where zeros are equal NumPy takes either, by luck of layout
    return row


def add_rows() -> None:
    """One row for each elementwise function, with all names that it has."""
    names: dict[Elemwise, list[str]] = {}
    for name in dir(at):
        value = getattr(at, name)
        if isinstance(value, Elemwise):
            names.setdefault(value, []).append(name)
    from aesara.tensor.elementwise import ops, special

    for name, value in [*vars(ops).items(), *vars(special).items()]:
        if isinstance(value, Elemwise):
            names.setdefault(value, [])
            names[value] += [name.rstrip("_")] if not name.endswith("d_") and not names[value] else []
    for function, public in names.items():
        preferred = [n for n in public if n in ORACLES or n in EXACT or n in TRUTH] or public
        made = elementwise_row(preferred[0], function, public)
        if made is not None and made.name not in ROWS:
            ROWS[made.name] = made
