"""Evaluation of a graph by `perform`, node by node, optionally with random rounding errors.

How far a result may be off is a property of the program: a difference of nearly equal numbers loses digits, a
comparison of them may turn over.  So the reference evaluation is repeated with an error of a few units in the last
place behind each operation that rounds; the spread of the outcomes is the tolerance, element by element.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from aesara.graph.nodes import Constant
from aesara.graph.traversal import io_toposort

EXACT_SCALAR_OPS = frozenset(
    """Identity Neg Abs Switch ScalarMaximum ScalarMinimum Clip Floor Ceil Trunc RoundHalfToEven
    RoundHalfAwayFromZero Sgn
    Second EQ NEQ LT LE GT GE IsNan IsInf AND OR XOR Invert Cast""".split()
)
PRODUCTS = frozenset("Dot BatchedDot MatMul Dot22 Dot22Scalar Gemm Gemv Ger".split())
INEXACT_OPS = PRODUCTS | frozenset(
    """Softmax LogSoftmax SoftmaxGrad CumOp CumsumOp Sum Prod CAReduce CAReduceDtype AdvancedIncSubtensor
    AdvancedIncSubtensor1 IncSubtensor Mean Scan OpFromGraph Blockwise Cholesky CholeskySolve Cofactors Det Inv LUFactor
    MatrixInverse SLogDet Solve SolveTriangular""".split()
)
#: rounding errors of the native code, in units in the last place
UNITS = 4


@dataclass
class Trace:
    """Events of an evaluation that limit which results can be compared."""

    finite: bool = True
    #: a float that does not fit was cast to an integer, or NaN met BLAS: something else on each machine
    undefined: bool = False
    #: an infinity or NaN was compared, searched for or otherwise made into something finite
    decided: bool = False


def evaluate(variables, given, rng=None, trace=None, exact=True):
    """Values of `variables` from the values `given`; with `rng`, each operation that rounds gets an error.

    Arithmetic that happens to be exact gets none if `exact`; rules may write it in a way that is not.
    """
    values = dict(given)
    trace = Trace() if trace is None else trace
    for node in io_toposort(list(given), variables):
        if all(v in values for v in node.outputs):
            continue
        inputs = [v.data if isinstance(v, Constant) else values[v] for v in node.inputs]
        for overwritten in node.op.destroy_map.values():
            for k in overwritten:
                inputs[k] = np.array(inputs[k])
        kind = type(node.op).__name__
        if kind == "Elemwise":
            kind = type(node.op.scalar_op).__name__
            if "Cast" in kind or kind.startswith("Convert"):
                trace.undefined |= _cast_overflows(inputs[0], node.outputs[0].type.dtype)
                kind = "Cast"
            inexact = kind not in EXACT_SCALAR_OPS
            if rng is not None and kind in ("Add", "Sub", "Mul") and (len(inputs) > 2 or not exact):
                # Rounded after each operand, and with others than those that stand here where terms are moved.
                dtype = node.outputs[0].type.dtype
                inputs = [_noisy(np.asarray(value).astype(dtype), None, rng) for value in inputs]
        else:
            inexact = kind in INEXACT_OPS
            if kind in PRODUCTS:  # BLAS leaves out what is multiplied by zero, NaN or not
                trace.undefined |= not all(_is_finite(value) for value in inputs)
            if inexact and rng is not None:
                inputs = [_noisy(value, value, rng) for value in inputs]
        if any(_is_float(value) and not _is_finite(value) for value in inputs):
            trace.decided |= any(not str(getattr(v.type, "dtype", "")).startswith("float") for v in node.outputs)
        storage = [[None] for _ in node.outputs]
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            node.op.perform(node, inputs, storage)
            for variable, (value,) in zip(node.outputs, storage, strict=True):
                trace.finite &= _is_finite(value)
                if inexact and rng is not None:
                    value = _noisy(value, _more_precisely(kind, inputs) if exact else None, rng)
                    if kind == "LogSoftmax":  # the logarithm of a sum that is rounded and may be close to 1
                        value = value + _noisy(np.ones_like(value), None, rng) - 1
                values[variable] = value
    return [v.data if isinstance(v, Constant) else values[v] for v in variables]


def _is_float(value) -> bool:
    return isinstance(value, (np.ndarray, np.floating)) and value.dtype.kind == "f"


def _is_finite(value) -> bool:
    return not _is_float(value) or bool(np.isfinite(value).all())


def _cast_overflows(value, dtype) -> bool:
    if not _is_float(value) or np.dtype(dtype).kind not in "iu":
        return False
    limits = np.iinfo(dtype)
    value = np.asarray(value, dtype="float64")
    return not bool(((value > float(limits.min) - 1) & (value < float(limits.max))).all())


def _more_precisely(kind, inputs):
    """The result of an arithmetic operation with more digits, to see where it was exact."""
    if len(inputs) != 2 or kind not in ("Add", "Sub", "Mul", "TrueDivide"):
        return None
    a, b = (np.asarray(value).astype(np.longdouble) for value in inputs)
    if kind in ("Mul", "TrueDivide"):
        return a * b if kind == "Mul" else a / b
    b = b if kind == "Add" else -b
    total = a + b
    part = total - a
    lost = (a - (total - part)) + (b - part)
    return np.where(lost == 0, total, np.nan)


def _noisy(value, exact, rng):
    """A float value with an error of `UNITS` units in the last place where it is not exact."""
    if not _is_float(value):
        return value
    value = np.asarray(value)
    eps = np.finfo(value.dtype).eps
    size = rng.uniform(0.5, 1.0, value.shape) * rng.choice([-1.0, 1.0], value.shape) * UNITS * float(eps)
    moved = (value.astype(np.longdouble) * (1 + size)).astype(value.dtype)
    keep = ~np.isfinite(value) | ~np.isfinite(moved)
    if exact is not None and exact is not value:
        keep |= exact == value
    return np.where(keep, value, moved)


@dataclass
class Outcome:
    """Values of one call, what they may deviate by, and where they are too uncertain to be compared."""

    values: list
    tolerance: list
    uncertain: list
    trace: Trace
    stable: bool = True


def conditioned(variables, given, seed=0, runs=4, exact=True) -> Outcome:
    """Evaluate, with tolerances from repeated noisy evaluations."""
    trace = Trace()
    values = [np.array(v) for v in evaluate(variables, given, trace=trace)]
    tolerance = [np.zeros(v.shape) for v in values]
    uncertain = [np.zeros(v.shape, bool) for v in values]
    stable = True
    rng = np.random.default_rng(seed)
    with np.errstate(all="ignore"):
        for _ in range(runs):
            try:
                noisy = evaluate(variables, given, rng, exact=exact)
            except Exception:
                return Outcome(values, tolerance, uncertain, trace, stable=False)
            for k, (value, other) in enumerate(zip(values, noisy, strict=True)):
                other = np.asarray(other)
                if other.shape != value.shape:
                    stable = False
                elif value.dtype.kind in "fc":
                    both = np.isfinite(value) & np.isfinite(other)
                    uncertain[k] |= ~both & ~((value == other) | (np.isnan(value) & np.isnan(other)))
                    distance = np.abs(value.astype(np.longdouble) - other.astype(np.longdouble))
                    tolerance[k] = np.maximum(tolerance[k], np.where(both, distance, 0).astype(float))
                else:
                    uncertain[k] |= value != other
        for k, value in enumerate(values):
            if value.dtype.kind == "f":
                info = np.finfo(value.dtype)
                size = np.where(np.isfinite(value), np.abs(value), 0).astype(float)
                tolerance[k] = 16 * tolerance[k] + 8 * float(info.eps) * size + 64 * float(info.tiny)
    return Outcome(values, tolerance, uncertain, trace, stable)


def difference(outcome: Outcome, k: int, got, finite_only: bool = False) -> str | None:
    """Describe the difference of a value from output `k`; None if it agrees."""
    want, got = outcome.values[k], np.asarray(got)
    if got.dtype != want.dtype:
        return f"output {k}: dtype {got.dtype}, expected {want.dtype}"
    if got.shape != want.shape:
        return f"output {k}: shape {got.shape}, expected {want.shape}"
    with np.errstate(all="ignore"):
        if want.dtype.kind != "f":
            wrong = (want != got) & (not finite_only)
        else:
            same = (want == got) | (np.isnan(want) & np.isnan(got))
            both = np.isfinite(want) & np.isfinite(got)
            distance = np.abs(want.astype(np.longdouble) - got.astype(np.longdouble))
            wrong = ~same & ~(both & (distance <= outcome.tolerance[k]))
            if finite_only:
                wrong &= both
        wrong &= ~outcome.uncertain[k]
    if not wrong.any():
        return None
    place = tuple(int(i[0]) for i in np.nonzero(np.atleast_1d(wrong)))
    at = place if want.ndim else ()
    allowed = outcome.tolerance[k][at] if want.dtype.kind == "f" else 0
    return (
        f"output {k} ({want.dtype}{want.shape}) at {at}: {got[at]!r}, expected {want[at]!r} within {allowed}; "
        f"{int(wrong.sum())} of {wrong.size} differ"
    )
