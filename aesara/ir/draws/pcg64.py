"""Fast draws with PCG64: the branch that NumPy's C functions nearly always take to draw a number.

A fast draw takes the state of the generator, its increment and two parameters, and returns the next state, a number,
and whether the number is the one that NumPy would draw; if not, NumPy's function has to draw again from the old state.
A ziggurat draws with one random integer in 99 of 100 cases; the fast draw has only this case.

M. E. O'Neill: PCG, a family of simple fast space-efficient statistically good algorithms for random number generation,
Harvey Mudd College, 2014.
G. Marsaglia, W. W. Tsang: A simple method for generating gamma variables, ACM Transactions on Mathematical Software 26,
2000.
W. Hörmann: The transformed rejection method for generating Poisson random variables, Insurance: Mathematics and
Economics 12, 1993.
"""

from aesara.ir.draws.ziggurats import EXPONENTIAL, NORMAL, tables
from aesara.ir.typed.function import PURE, CFunction, ConstantArray, typed_function
from aesara.ir.typed.operations import absolute, bitcast, floor, rotate_right, sqrt
from aesara.ir.typed.types import f64, i1, i64, u64, u128

__all__ = ["FAST_DRAWS"]

_exp = CFunction("exp", f64, f64, attributes=PURE)
_log = CFunction("log", f64, f64, attributes=PURE)
_pow = CFunction("pow", f64, f64, f64, attributes=PURE)
_log_gamma = CFunction("random.random_loggam", f64, f64, attributes=PURE)

_NORMAL_WIDTHS = ConstantArray("ziggurat.normal.widths", f64, lambda: tables(NORMAL)[0])
_NORMAL_BOUNDS = ConstantArray("ziggurat.normal.bounds", u64, lambda: tables(NORMAL)[1])
_EXPONENTIAL_WIDTHS = ConstantArray("ziggurat.exponential.widths", f64, lambda: tables(EXPONENTIAL)[0])
_EXPONENTIAL_BOUNDS = ConstantArray("ziggurat.exponential.bounds", u64, lambda: tables(EXPONENTIAL)[1])

_INLINE = "alwaysinline nounwind"


@typed_function("pcg64.advance", attributes=_INLINE)
def advance(state: u128, increment: u128) -> u128:
    """Return the next state."""
    return u128(state * 47026247687942121848144207491837523525 + increment)


@typed_function("pcg64.integer", attributes=_INLINE)
def integer(state: u128) -> u64:
    """Return the random integer of a state."""
    high = u64(state >> 64)
    return rotate_right(high ^ u64(state), high >> 58)


@typed_function("pcg64.fraction", attributes=_INLINE)
def fraction(state: u128) -> f64:
    """Return the random number between 0 and 1 of a state."""
    return f64(i64(integer(state) >> 11)) * 2.0**-53


@typed_function("fast.standard_uniform", attributes=_INLINE)
def standard_uniform(state: u128, increment: u128, a: f64, b: f64) -> tuple[u128, f64, i1]:
    following = advance(state, increment)
    return following, fraction(following), True


@typed_function("fast.uniform", attributes=_INLINE)
def uniform(state: u128, increment: u128, low: f64, length: f64) -> tuple[u128, f64, i1]:
    following = advance(state, increment)
    return following, low + length * fraction(following), True


@typed_function("fast.standard_normal", attributes=_INLINE)
def standard_normal(state: u128, increment: u128, a: f64, b: f64) -> tuple[u128, f64, i1]:
    following = advance(state, increment)
    bits = integer(following)
    layer = bits & 255
    sign = (bits & 256) << 55
    number = bits >> 9 & 2**52 - 1
    size = f64(i64(number)) * _NORMAL_WIDTHS[layer]
    return following, bitcast(f64, bitcast(u64, size) ^ sign), number < _NORMAL_BOUNDS[layer]


@typed_function("fast.normal", attributes=_INLINE)
def normal(state: u128, increment: u128, loc: f64, scale: f64) -> tuple[u128, f64, i1]:
    following, number, found = standard_normal(state, increment, 0.0, 0.0)
    return following, loc + scale * number, found


@typed_function("fast.standard_exponential", attributes=_INLINE)
def standard_exponential(state: u128, increment: u128, a: f64, b: f64) -> tuple[u128, f64, i1]:
    following = advance(state, increment)
    bits = integer(following)
    layer = bits >> 3 & 255
    number = bits >> 11
    return following, f64(i64(number)) * _EXPONENTIAL_WIDTHS[layer], number < _EXPONENTIAL_BOUNDS[layer]


@typed_function("fast.exponential", attributes=_INLINE)
def exponential(state: u128, increment: u128, scale: f64, b: f64) -> tuple[u128, f64, i1]:
    following, number, found = standard_exponential(state, increment, 0.0, 0.0)
    return following, scale * number, found


@typed_function("fast.standard_gamma", attributes=_INLINE)
def standard_gamma(state: u128, increment: u128, shape: f64, b: f64) -> tuple[u128, f64, i1]:
    if shape > 1.0:
        d = shape - 1.0 / 3.0
        c = 1.0 / sqrt(d * 9.0)
        after_normal, x, is_normal = standard_normal(state, increment, 0.0, 0.0)
        following = advance(after_normal, increment)
        u = fraction(following)
        root = c * x + 1.0
        v = root * root * root
        square = x * x
        limit = 1.0 - square * 0.0331 * square
        return following, d * v, is_normal and root > 0.0 and u < limit
    if shape < 1.0 and shape > 0.0:
        after_fraction = advance(state, increment)
        p = fraction(after_fraction)
        following, e, found = standard_exponential(after_fraction, increment, 0.0, 0.0)
        base = 1.0 - shape
        if p > base:
            y = -_log((1.0 - p) / shape)
            p = base + shape * y
            e = e + y
        number = _pow(p, 1.0 / shape)
        return following, number, found and number <= e
    return state, 0.0, False


@typed_function("fast.gamma", attributes=_INLINE)
def gamma(state: u128, increment: u128, shape: f64, scale: f64) -> tuple[u128, f64, i1]:
    following, number, found = standard_gamma(state, increment, shape, 0.0)
    return following, scale * number, found


@typed_function("fast.poisson", attributes=_INLINE)
def poisson(state: u128, increment: u128, mean: f64, b: f64) -> tuple[u128, i64, i1]:
    if mean >= 10.0:
        return _poisson_by_rejection(state, increment, mean)
    lowest = _exp(-mean)
    product = 1.0
    count = -1
    while product > lowest:
        state = advance(state, increment)
        product *= fraction(state)
        count += 1
    return state, count, mean > 0.0


@typed_function("fast.poisson.rejection", attributes=_INLINE)
def _poisson_by_rejection(state: u128, increment: u128, mean: f64) -> tuple[u128, i64, i1]:
    """Draw by the algorithm PTRS."""
    b = 0.931 + 2.53 * sqrt(mean)
    a = -0.059 + 0.02483 * b
    while True:
        middle = advance(state, increment)
        u = fraction(middle) - 0.5
        state = advance(middle, increment)
        v = fraction(state)
        us = 0.5 - absolute(u)
        number = floor((2.0 * a / us + b) * u + mean + 0.43)
        if us < 0.013:
            return state, 0, False
        k = i64(number)
        if us >= 0.07 and v <= 0.9277 - 3.6224 / (b - 2.0):
            return state, k, True
        if k >= 0:
            alpha = 1.1239 + 1.1328 / (b - 3.4)
            left = _log(v) + _log(alpha) - _log(a / (us * us) + b)
            if left <= -mean + f64(k) * _log(mean) - _log_gamma(f64(k) + 1.0):
                return state, k, True


#: fast draws by the name of NumPy's function
FAST_DRAWS = {
    "standard_uniform": standard_uniform,
    "uniform": uniform,
    "standard_normal": standard_normal,
    "normal": normal,
    "standard_exponential": standard_exponential,
    "exponential": exponential,
    "standard_gamma": standard_gamma,
    "gamma": gamma,
    "poisson": poisson,
}
