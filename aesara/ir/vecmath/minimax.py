"""Minimax polynomials: derives the numbers in `coefficients.py`.

Run ``python -m aesara.ir.vecmath.minimax > coefficients.py`` to make them again (needs mpmath; some seconds).
The method is Remez' exchange algorithm in multiple precision: find the polynomial whose weighted error takes
its extreme value with alternating sign at (number of coefficients + 1) points.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-incomplete-defs, disable-error-code="type-arg"

from __future__ import annotations

from collections.abc import Callable

import mpmath as mp


def _solve_reference(target, weight, nodes, first_power: int, count: int):
    """Coefficients and levelled error of the polynomial that alternates on `nodes`."""
    rows, right = [], []
    for index, node in enumerate(nodes):
        scale = weight(node)
        rows.append([node ** (first_power + k) * scale for k in range(count)] + [mp.mpf((-1) ** index)])
        right.append(target(node) * scale)
    solution = mp.lu_solve(mp.matrix(rows), mp.matrix(right))
    return list(solution[:count]), abs(solution[count])


def _evaluate(coefficients, x):
    total = mp.mpf(0)
    for coefficient in reversed(coefficients):
        total = total * x + coefficient
    return total


def _extremes(error: Callable, low, high, count: int):
    """`count` points of alternating sign at which |error| is locally largest."""
    size = 24 * count
    grid = [(low + high) / 2 - (high - low) / 2 * mp.cos(mp.pi * k / size) for k in range(size + 1)]
    values = [error(point) for point in grid]
    peaks: list[int] = []
    for k, value in enumerate(values):
        if peaks and (value > 0) == (values[peaks[-1]] > 0):
            if abs(value) > abs(values[peaks[-1]]):
                peaks[-1] = k
        else:
            peaks.append(k)
    while len(peaks) > count:
        peaks.pop(0 if abs(values[peaks[0]]) < abs(values[peaks[-1]]) else -1)
    return [grid[k] for k in peaks], max(abs(values[k]) for k in peaks)


ERFC_CENTRE = mp.mpf("2.5")  # also in error_function.py


def minimax(target, low, high, count: int, weight=lambda x: mp.mpf(1), first_power: int = 0, rounds: int = 12):
    """Best polynomial sum c[k] x**(first_power + k) for `target` on [low, high] under |weight * error|.

    Returns the coefficients (mpf) and the largest weighted error.
    """
    low, high = mp.mpf(low), mp.mpf(high)
    nodes = [
        (low + high) / 2 - (high - low) / 2 * mp.cos(mp.pi * (k + mp.mpf(1) / 2) / (count + 1))
        for k in range(count + 1)
    ]
    worst = mp.inf
    for _ in range(rounds):
        coefficients, level = _solve_reference(target, weight, nodes, first_power, count)

        def error(x, coefficients=coefficients):
            return weight(x) * (_evaluate(coefficients, x) * x**first_power - target(x))

        found, worst = _extremes(error, low, high, count + 1)
        if len(found) < count + 1 or worst < level * mp.mpf("1.02"):
            break
        nodes = found
    return coefficients, worst


def _in_square(function, at_zero):
    """function(x) as a function of z = x**2, with its limit at zero."""
    return lambda z: mp.mpf(at_zero) if z < 1e-40 else function(mp.sqrt(z))


def _removable(function, at_zero):
    return lambda x: mp.mpf(at_zero) if abs(x) < 1e-30 else function(x)


def _round_to_dtype(number, dtype: str):
    """The nearest number of the format."""
    with mp.workprec(53 if dtype == "float64" else 24):
        return +number


def _exponentials():
    half_ln2 = mp.log(2) / 2 * mp.mpf("1.0001")
    expm1_tail = _removable(lambda r: (mp.expm1(r) - r) / r**2, 0.5)
    for dtype, count in (("float64", 10), ("float32", 5)):
        fit = minimax(expm1_tail, -half_ln2, half_ln2, count, weight=lambda r: abs(r) + mp.mpf("0.01"))
        yield "EXP", dtype, "(exp(r) - 1 - r) / r**2, |r| <= ln(2) / 2", *fit
    exp2_tail = _removable(lambda f: (mp.mpf(2) ** f - 1 - f * mp.log(2)) / f**2, mp.log(2) ** 2 / 2)
    for dtype, count in (("float64", 10), ("float32", 5)):
        fit = minimax(exp2_tail, mp.mpf("-0.50001"), mp.mpf("0.50001"), count, weight=lambda f: abs(f) + mp.mpf("0.01"))
        yield "EXP2", dtype, "(2**f - 1 - f ln(2)) / f**2, |f| <= 1/2", *fit


def _logarithms():
    low, high = mp.sqrt(mp.mpf(1) / 2) - 1, mp.sqrt(2) - 1
    widest = (high / (2 + high)) ** 2 * mp.mpf("1.0001")
    atanh_tail = _removable(lambda z: (2 * mp.atanh(mp.sqrt(z)) / mp.sqrt(z) - 2) / z, mp.mpf(2) / 3)
    yield "LOG", "float64", "(2 atanh(s) / s - 2) / s**2 in s**2", *minimax(atanh_tail, 0, widest, 7)
    log_tail = _removable(lambda f: (mp.log1p(f) - f + f**2 / 2) / f**3, mp.mpf(1) / 3)
    fit = minimax(log_tail, low * mp.mpf("1.0001"), high * mp.mpf("1.0001"), 8, weight=lambda f: f**2 + mp.mpf("0.001"))
    yield "LOG", "float32", "(log(1 + f) - f + f**2 / 2) / f**3", *fit


def _trigonometric():
    def near(z):
        return z + mp.mpf("0.001")

    sine_tail = _in_square(lambda r: (mp.sin(r) / r - 1) / r**2, -mp.mpf(1) / 6)
    cosine_tail = _in_square(lambda r: (mp.cos(r) - 1 + r**2 / 2) / r**4, mp.mpf(1) / 24)
    quarter = (mp.pi / 4 * mp.mpf("1.001")) ** 2
    for dtype, narrow in (("float64", 6), ("float32", 3)):
        yield "SIN", dtype, "(sin(r) / r - 1) / r**2 in r**2", *minimax(sine_tail, 0, quarter, narrow, near)
        fit = minimax(cosine_tail, 0, quarter, narrow, lambda z: z**2 + mp.mpf("0.001"))
        yield "COS", dtype, "(cos(r) - 1 + r**2 / 2) / r**4 in r**2", *fit
    asin_tail = _in_square(lambda r: (mp.asin(r) / r - 1) / r**2, mp.mpf(1) / 6)
    atan_tail = _in_square(lambda r: (mp.atan(r) / r - 1) / r**2, -mp.mpf(1) / 3)
    for dtype, asin_count, atan_count in (("float64", 12, 11), ("float32", 5, 5)):
        fit = minimax(asin_tail, 0, mp.mpf("0.2501"), asin_count, near)
        yield "ASIN", dtype, "(asin(s) / s - 1) / s**2 in s**2, s <= 1/2", *fit
        fit = minimax(atan_tail, 0, mp.mpf("0.1717"), atan_count, near)
        yield "ATAN", dtype, "(atan(t) / t - 1) / t**2 in t**2, t <= sqrt(2) - 1", *fit


def _error_functions():
    erf_tail = _in_square(lambda x: mp.erf(x) / x - 1, 2 / mp.sqrt(mp.pi) - 1)

    def log_erfc(x):
        return mp.log(mp.erfc(x))

    for dtype, small, large, end in (("float64", 12, 17, "5.95"), ("float32", 6, 7, "3.95")):
        split = mp.mpf(1) if dtype == "float64" else mp.mpf("0.875")
        yield "ERF", dtype, "erf(x) / x - 1 in x**2, x <= ERF_SPLIT", *minimax(erf_tail, 0, split**2, small)
        yield (
            "LOG_ERFC",
            dtype,
            "log(erfc(x)) from ERF_SPLIT",
            *minimax(log_erfc, split, mp.mpf(end), large, mp.erfc),
        )

    def scaled_erfc(t):
        x = ERFC_CENTRE * (1 + t) / (1 - t)
        return mp.exp(x**2) * mp.erfc(x) * (x + ERFC_CENTRE)

    for dtype, inner, count, end in (("float64", 9, 22, "28"), ("float32", 5, 9, "10.5")):
        yield (
            "ERFC_INNER",
            dtype,
            "erf(x) / x - 1 in x**2, x <= 1/2",
            *minimax(erf_tail, 0, mp.mpf("0.2501"), inner),
        )
        first, last = ((x - ERFC_CENTRE) / (x + ERFC_CENTRE) for x in (mp.mpf("0.499"), mp.mpf(end)))
        found, _ = minimax(scaled_erfc, first, last, count, lambda t: 1 / scaled_erfc(t), rounds=5)
        # Rounding the two leading coefficients would cost an ulp: the constant is kept in two parts, the
        # slope is rounded before the rest is fitted anew.
        constant, slope = found[0], _round_to_dtype(found[1], dtype)
        rest = _removable(lambda t, c=constant, s=slope: (scaled_erfc(t) - c - s * t) / t**2, found[2])
        others, error = minimax(rest, first, last, count - 2, lambda t: t**2 / scaled_erfc(t), rounds=3)
        constant_head = _round_to_dtype(constant, dtype)
        fit = [constant_head, constant - constant_head, slope, *others], error
        comment = "exp(x**2) erfc(x) (x + c) in t = (x - c) / (x + c), c = 2.5; the constant in two parts"
        yield "ERFC", dtype, comment, *fit


def _powers():
    widest = ((mp.sqrt(2) - 1) / (mp.sqrt(2) + 1)) ** 2 * mp.mpf("1.0001")
    tail = _in_square(lambda s: (3 * mp.atanh(s) / s - 3 - s**2) / s**4, mp.mpf(3) / 5)
    fit = minimax(tail, 0, widest, 7, lambda z: z**2 + mp.mpf("0.00001"))
    yield "POW_LOG", "float64", "(3 atanh(s) / s - 3 - s**2) / s**4 in s**2", *fit
    log2 = _removable(lambda f: mp.log1p(f) / f / mp.log(2), 1 / mp.log(2))
    fit = minimax(log2, mp.sqrt(mp.mpf(1) / 2) - 1, mp.sqrt(2) - 1, 12)
    yield "POW_LOG", "float32", "log2(1 + f) / f", *fit


def _cube_roots():
    low, high = mp.sqrt(mp.mpf(1) / 2), mp.sqrt(2)
    for dtype, count in (("float64", 6), ("float32", 4)):
        yield "CUBE_ROOT", dtype, "m**(-1/3)", *minimax(lambda m: 1 / mp.cbrt(m), low, high, count, weight=mp.cbrt)


FAMILIES = (_exponentials, _logarithms, _trigonometric, _error_functions, _powers, _cube_roots)


def main() -> None:
    mp.mp.dps = 110
    print('"""Polynomial coefficients by dtype, lowest degree first. Made by `minimax.py`; do not edit."""')
    fits: dict[str, list] = {}
    for family in FAMILIES:
        for name, *fit in family():
            fits.setdefault(name, []).append(fit)
    for name, rows in fits.items():
        print(f"\n{name} = {{")
        for dtype, comment, coefficients, error in rows:
            print(f"    # {comment}")
            print(f"    # weighted error {mp.nstr(error, 3)}")
            print(f'    "{dtype}": (')
            for coefficient in coefficients:
                print(f"        {float(coefficient)!r},")
            print("    ),")
        print("}")


if __name__ == "__main__":
    main()
