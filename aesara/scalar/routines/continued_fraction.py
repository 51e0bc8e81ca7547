"""Continued fractions whose value and derivative are computed together."""

from __future__ import annotations

from aesara.scalar.routine import where

__all__ = ["next_convergent"]


def next_convergent(
    p0: float,
    q0: float,
    dp0: float,
    dq0: float,
    p1: float,
    q1: float,
    dp1: float,
    dq1: float,
    a: float,
    da: float,
    b: float,
    db: float,
) -> tuple[float, ...]:
    """Return the last two convergents of ``... b + a / (b + ...)`` after one more step.

    Numerators p obey p2 = b p1 + a p0, and denominators q likewise, DLMF 1.12.5; derivatives follow the values. If the
    new denominator is not close to zero, all are divided by it: q1 is then 1, p1 the value, and dp1 its derivative.
    """
    p2, q2 = b * p1 + a * p0, b * q1 + a * q0
    dp2 = b * dp1 + db * p1 + a * dp0 + da * p0
    dq2 = b * dq1 + db * q1 + a * dq0 + da * q0
    sound = abs(q2) > 0.03125 * abs(b * q1)
    scale, slope = where(sound, 1.0 / q2, 1.0), where(sound, dq2, 0.0)
    p1, q1, p2 = p1 * scale, q1 * scale, p2 * scale
    return (
        p1, q1, (dp1 - p1 * slope) * scale, (dq1 - q1 * slope) * scale,
        p2, where(sound, 1.0, q2), (dp2 - p2 * slope) * scale, where(sound, 0.0, dq2),
    )  # fmt: skip
