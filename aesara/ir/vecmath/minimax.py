"""Minimax polynomials: derives the numbers in `coefficients.py`.

Run ``python -m aesara.ir.vecmath.minimax > aesara/ir/vecmath/coefficients.py`` to make them again (needs mpmath; a minute
or two). The method is Remez' exchange algorithm in multiple precision: find the polynomial whose weighted error takes
its extreme value with alternating sign at (number of coefficients + 1) points.
"""

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


def minimax(target, low, high, count: int, weight=lambda x: mp.mpf(1), first_power: int = 0, rounds: int = 12):
    """Best polynomial sum c[k] x**(first_power + k) for `target` on [low, high] under |weight * error|.

    Returns the coefficients (mpf) and the largest weighted error.
    """
    low, high = mp.mpf(low), mp.mpf(high)
    nodes = [(low + high) / 2 - (high - low) / 2 * mp.cos(mp.pi * (k + mp.mpf(1) / 2) / (count + 1)) for k in range(count + 1)]
    worst = mp.inf
    for _ in range(rounds):
        coefficients, level = _solve_reference(target, weight, nodes, first_power, count)

        def error(x):
            return weight(x) * (mp.polyval(coefficients[::-1], x) * x**first_power - target(x))

        found, worst = _extremes(error, low, high, count + 1)
        if len(found) < count + 1 or worst < level * mp.mpf("1.02"):
            break
        nodes = found
    return coefficients, worst


def odd_or_even(function, at_zero, power: int = 1):
    """function(sqrt(z)) / sqrt(z)**power as a function of z, with its limit at zero."""

    def of_square(z):
        if z < 1e-60:
            return mp.mpf(at_zero)
        x = mp.sqrt(z)
        return function(x) / x**power

    return of_square


def _removable(function, at_zero):
    return lambda x: mp.mpf(at_zero) if abs(x) < 1e-30 else function(x)


def _exponentials():
    half_ln2 = mp.log(2) / 2 * mp.mpf("1.0001")
    expm1_tail = _removable(lambda r: (mp.expm1(r) - r) / r**2, 0.5)
    for dtype, count in (("float64", 10), ("float32", 5)):
        fit = minimax(expm1_tail, -half_ln2, half_ln2, count, weight=lambda r: abs(r) + mp.mpf("0.01"))
        yield "EXP", dtype, "(exp(r) - 1 - r) / r**2, |r| <= ln(2) / 2", *fit


def _logarithms():
    low, high = mp.sqrt(mp.mpf(1) / 2) - 1, mp.sqrt(2) - 1
    widest = (high / (2 + high)) ** 2 * mp.mpf("1.0001")
    atanh_tail = _removable(lambda z: (2 * mp.atanh(mp.sqrt(z)) / mp.sqrt(z) - 2) / z, mp.mpf(2) / 3)
    yield "LOG", "float64", "(2 atanh(s) / s - 2) / s**2 in s**2", *minimax(atanh_tail, 0, widest, 7)
    log_tail = _removable(lambda f: (mp.log1p(f) - f + f**2 / 2) / f**3, mp.mpf(1) / 3)
    fit = minimax(log_tail, low * mp.mpf("1.0001"), high * mp.mpf("1.0001"), 8, weight=lambda f: f**2 + mp.mpf("0.001"))
    yield "LOG", "float32", "(log(1 + f) - f + f**2 / 2) / f**3", *fit


FAMILIES = (_exponentials, _logarithms)


def main() -> None:
    mp.mp.dps = 150
    print('"""Polynomial coefficients, lowest degree first, by dtype. Made by `minimax.py`; do not edit."""\n')
    fits: dict[str, list] = {}
    for family in FAMILIES:
        for name, *fit in family():
            fits.setdefault(name, []).append(fit)
    for name, rows in fits.items():
        print(f"{name} = {{")
        for dtype, comment, coefficients, error in rows:
            print(f"    # {comment}; weighted error {mp.nstr(error, 3)}")
            print(f'    "{dtype}": (')
            for coefficient in coefficients:
                print(f"        {float(coefficient)!r},")
            print("    ),")
        print("}\n")


if __name__ == "__main__":
    main()
