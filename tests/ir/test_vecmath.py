"""Accuracy, special values and text of the elementary functions in LLVM IR."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import mpmath as mp
import numpy as np
import pytest

from aesara.ir import vecmath
from aesara.ir.vecmath import arithmetic, coefficients, large_arguments, minimax
from aesara.link.llvm.target import target_named

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parent.parent))
import levels
import vecmath_harness as harness

ALL = sorted(vecmath.available())
UNARY = [case for case in ALL if harness.arity_of(case[0]) == 1]
BINARY = [case for case in ALL if harness.arity_of(case[0]) == 2]
TRIGONOMETRIC = ["sin", "cos", "tan"]
#: with and without instructions for what the functions do, where this processor can run both
TARGETS = levels.known_to_differ()

# (low, high) outside which the result is inf, 0, NaN or a constant.
INTERESTING = {
    "exp": (-746, 710.5), "exp2": (-1076, 1025), "expm1": (-40, 710.5), "sinh": (-711, 711),
    "cosh": (-711, 711),
    "log": (0, 5), "log2": (0, 5), "log10": (0, 5), "log1p": (-1, 5), "acosh": (1, 9), "tanh": (-20, 20),
    "asin": (-1, 1), "acos": (-1, 1), "atanh": (-1, 1), "erf": (-6, 6), "erfc": (-6, 27.3),
    "sin": (-1e5, 1e5), "cos": (-1e5, 1e5), "tan": (-1e5, 1e5),
}  # fmt: skip
SPECIAL = [
    0.0,
    1.0,
    0.5,
    2.0,
    np.inf,
    np.nan,
    5e-324,
    1e-310,
    2.2250738585072014e-308,
    1.7976931348623157e308,
]
SPECIAL += [
    1e-45,
    1e-40,
    1.17549435e-38,
    3.4028234663852886e38,
    3.0,
    1.5,
    2.0**52,
    2.0**53,
    2.0**24,
    1e-8,
    1e10,
]


def ulps(got: np.ndarray, exact: list, dtype: str) -> np.ndarray:
    """Distance in units in the last place of the exact value; infinite where a special value is missed."""
    bits, least = (53, -1074) if dtype == "float64" else (24, -149)
    kind = np.dtype(dtype).type
    limit = mp.mpf(2) ** (1024 if bits == 53 else 128) * (1 - mp.mpf(2) ** (-bits - 1))
    errors = []
    for value, want in zip(got.tolist(), exact, strict=True):
        if mp.isnan(want) or mp.isnan(value):
            errors.append(0.0 if mp.isnan(want) and mp.isnan(value) else np.inf)
        elif abs(want) >= limit or abs(value) == np.inf:
            wanted = np.sign(float(mp.sign(want))) * np.inf if abs(want) >= limit else kind(float(want))
            errors.append(0.0 if wanted == value else np.inf)
        else:
            exponent = mp.frexp(want)[1] if want != 0 else least
            ulp = mp.mpf(2) ** max(exponent - bits, least)
            errors.append(float(abs(value - want) / ulp))
    return np.array(errors)


def reference(name: str, *arguments: float):
    """The exact value, by mpmath; special points follow the limits that C99 and NumPy take."""
    x = arguments[-1]
    if any(np.isnan(argument) for argument in arguments):
        return mp.nan
    if name == "atan2":
        y = arguments[0]
        if np.isinf(y) or np.isinf(x) or x == 0 or y == 0:
            return mp.mpf(float(np.arctan2(y, x)))
        return mp.atan2(mp.mpf(y), mp.mpf(x))
    if np.isinf(x):
        with np.errstate(all="ignore"):
            known = {"erf": np.sign, "erfc": lambda v: 1.0 - np.sign(v)}.get(name) or harness.numpy_function(name)
            return mp.mpf(float(known(x)))
    value = mp.mpf(x)
    if name in ("log", "log2", "log10", "log1p"):
        shifted = mp.fadd(value, 1, exact=True) if name == "log1p" else value
        if shifted <= 0:
            return mp.mpf("-inf") if shifted == 0 else mp.nan
    if (name in ("asin", "acos", "atanh") and abs(value) > 1) or (name == "acosh" and value < 1):
        return mp.nan
    if name == "atanh" and abs(value) == 1:
        return value * mp.inf
    if name in ("exp", "exp2", "expm1", "sinh", "cosh") and abs(value) > 3000:
        return mp.mpf(float(harness.numpy_function(name)(np.sign(x) * np.inf)))
    if name in ("tanh", "erf", "erfc") and abs(value) > 40:
        return mp.mpf(float(np.sign(x) if name != "erfc" else 1.0 - np.sign(x)))
    composed = {"exp2": lambda v: mp.mpf(2) ** v, "log2": lambda v: mp.log(v, 2)}
    composed["cbrt"] = lambda v: mp.sign(v) * mp.cbrt(abs(v))
    return (composed.get(name) or getattr(mp, name))(value)


def points(name: str, dtype: str) -> np.ndarray:
    """Arguments of all sizes, dense where the function is interesting, and the special ones."""
    rng = np.random.default_rng(7)
    kind = np.dtype(dtype)
    word = {8: np.uint64, 4: np.uint32}[kind.itemsize]
    low, high = INTERESTING.get(name, (-10, 10))
    with np.errstate(over="ignore"):
        parts = [
            rng.integers(0, 2 ** (8 * kind.itemsize), 150, dtype=word).view(kind),
            rng.uniform(low, high, 400).astype(kind),
            rng.uniform(-2, 2, 300).astype(kind),
            (rng.choice([-1, 1], 200) * 2.0 ** rng.uniform(-40, 3, 200)).astype(kind),
            (1 + rng.choice([-1, 1], 150) * 2.0 ** rng.uniform(-30, 0, 150)).astype(kind),
            np.array(SPECIAL).astype(kind),
            -np.array(SPECIAL).astype(kind),
        ]
        if dtype == "float32" and name in ("exp", "exp2", "expm1", "sinh", "cosh"):
            parts.append(rng.uniform(-151, 129, 300).astype(kind))
        if name in ("sin", "cos", "tan"):
            multiples = rng.integers(1, 10_600_000, 400) * (np.pi / 2)
            parts += [multiples.astype(kind), np.nextafter(multiples.astype(kind), kind.type(0))]
    return np.concatenate(parts)


@pytest.fixture(scope="module", autouse=True)
def precision():
    with mp.workprec(160):
        yield


@pytest.mark.parametrize("name, dtype", UNARY)
def test_accuracy_unary(name, dtype):
    x = points(name, dtype)
    exact = [reference(name, value) for value in x.tolist()]
    errors = ulps(harness.ours(name, dtype)[0](x), exact, dtype)
    worst = int(np.argmax(errors))
    assert errors[worst] <= 4, f"{errors[worst]} ulp at {x[worst]!r}"


def pow_arguments(dtype: str) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    largest = 1024 if dtype == "float64" else 128
    base = np.concatenate(
        [rng.uniform(0, 3, 500), 2.0 ** rng.uniform(-largest, largest, 500), 1 + rng.normal(size=500) * 1e-4]
    )
    base = np.abs(base.astype(dtype).astype("float64"))
    base[base == 1] = 1.25
    exponent = np.concatenate(
        [rng.uniform(-20, 20, 500), rng.uniform(-largest - 60, largest + 1, 1000) / np.log2(base[500:])]
    )
    return base.astype(dtype), exponent.astype(dtype)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_accuracy_of_pow(dtype):
    x, y = pow_arguments(dtype)
    exact = [mp.mpf(a) ** mp.mpf(b) for a, b in zip(x.tolist(), y.tolist(), strict=True)]
    errors = ulps(harness.ours("pow", dtype)[0](x, y), exact, dtype)
    worst = int(np.argmax(errors))
    assert errors[worst] <= 4, f"{errors[worst]} ulp at {x[worst]!r}, {y[worst]!r}"


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_accuracy_of_atan2(dtype):
    rng = np.random.default_rng(4)
    scale = 2.0 ** rng.uniform(-100, 100, 1000)
    y = (rng.normal(size=1000) * scale).astype(dtype)
    x = (rng.normal(size=1000) * scale * 2.0 ** rng.uniform(-8, 8, 1000)).astype(dtype)
    big = np.finfo(dtype).max
    y, x = (
        np.append(y, [big, big, -big, 1]).astype(dtype),
        np.append(x, [big, -big / 2, big / 3, big]).astype(dtype),
    )
    exact = [reference("atan2", *pair) for pair in zip(y.tolist(), x.tolist(), strict=True)]
    assert ulps(harness.ours("atan2", dtype)[0](y, x), exact, dtype).max() <= 4


@pytest.mark.parametrize("name, dtype", BINARY)
def test_special_values_binary(name, dtype):
    """All pairs of special values: the same zeros (with sign), infinities, NaNs as NumPy, the rest close."""
    values = [
        0,
        1,
        2,
        3,
        0.5,
        1.5,
        np.inf,
        1e-45,
        5e-324,
        1e30,
        1e300,
        2.0**22 + 0.5,
        2.0**24 - 1,
        2.0**52,
        2.0**53 - 1,
    ]
    with np.errstate(over="ignore"):
        values = np.array([*values, *[-value for value in values], np.nan]).astype(dtype)
    x, y = (grid.ravel().copy() for grid in np.meshgrid(values, values))
    with np.errstate(all="ignore"):
        want = harness.numpy_function(name)(x, y)
    got = harness.ours(name, dtype)[0](x, y)
    assert np.allclose(got, want, rtol=1e-6 if dtype == "float32" else 1e-14, atol=0, equal_nan=True)
    number = ~np.isnan(want)
    assert (np.signbit(got) == np.signbit(want))[number].all()


ODD = ["expm1", "log1p", "tanh", "sinh", "sin", "tan", "asin", "atan", "asinh", "atanh", "erf", "cbrt"]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", ODD)
def test_sign_of_zero_and_tiny_arguments(name, dtype):
    tiny = np.finfo(dtype).smallest_subnormal
    x = np.array([0.0, -0.0, tiny, -tiny, 3 * tiny], dtype)
    got = harness.ours(name, dtype)[0](x)
    if name in ("erf", "cbrt"):
        assert np.array_equal(np.signbit(got), np.signbit(x))
    else:
        assert np.array_equal(got.view("u1"), x.view("u1"))


@pytest.mark.parametrize("dtype, last", [("float64", 2000), ("float32", 250)])
def test_roots_of_cubes_are_exact(dtype, last):
    numbers = np.arange(-last, last + 1).astype(dtype)
    cubes = numbers * numbers * numbers  # powers of NumPy 1.26 are not exact
    assert np.array_equal(harness.ours("cbrt", dtype)[0](cubes), numbers)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_exact_results(dtype):
    def run(name, *arguments):
        return harness.ours(name, dtype)[0](*[np.asarray(argument, dtype) for argument in arguments])

    exponents = np.arange(-140, 128) if dtype == "float32" else np.arange(-1074, 1024)
    powers = np.ldexp(np.ones(len(exponents), dtype), exponents)
    assert np.array_equal(run("exp2", exponents), powers)
    assert np.array_equal(run("log2", powers), exponents.astype(dtype))
    assert np.array_equal(run("pow", np.full(len(exponents), 2), exponents), powers)
    assert np.array_equal(run("pow", np.arange(-9, 10), np.full(19, 3)), np.arange(-9, 10) ** 3)
    tens = np.arange(0, 11 if dtype == "float32" else 23)
    assert np.array_equal(run("log10", 10.0**tens), tens.astype(dtype))
    for name in ("exp", "cos", "cosh", "erfc"):
        assert run(name, [0.0, -0.0]).tolist() == [1, 1]
    assert run("log", [1.0]).tolist() == [0] and run("acos", [1.0]).tolist() == [0]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", ["sin", "cos", "tanh", "erf"])
def test_results_stay_within_one(name, dtype):
    rng = np.random.default_rng(0)
    near = np.arange(-2000, 2000) * (np.pi / 2)
    x = np.concatenate([near, near + rng.normal(size=4000) * 1e-8, rng.uniform(-30, 30, 50_000)]).astype(dtype)
    assert np.abs(harness.ours(name, dtype)[0](x)).max() <= 1


@pytest.mark.parametrize("name, dtype", ALL)
def test_every_length_gives_the_same_values(name, dtype):
    """Vector body and scalar remainder are the same code."""
    rng = np.random.default_rng(5)
    low, high = harness.DOMAINS.get(name, (-3, 3))
    arrays = [rng.uniform(low, high, 17).astype(dtype) for _ in range(harness.arity_of(name))]
    call = harness.ours(name, dtype)[0]
    whole = call(*arrays)
    for length in range(1, 18):
        assert np.array_equal(call(*[array[:length].copy() for array in arrays]), whole[:length])


@pytest.mark.parametrize("name, dtype", ALL)
def test_form_of_the_text(name, dtype):
    text = vecmath.definition(name, dtype)
    assert text.startswith(f"define internal {harness.TYPES[dtype]} @{vecmath.symbol(name, dtype)}(")
    module = harness.llvm.parse_assembly(harness.complete_text(name, dtype))
    module.verify()
    function = module.get_function(vecmath.symbol(name, dtype))
    assert len(list(function.blocks)) == 1
    called = {str(i).split("@")[1].split("(")[0] for b in function.blocks for i in b.instructions if i.opcode == "call"}
    dependencies = [vecmath.symbol(needed, dtype) for needed in vecmath.dependencies(name, dtype)]
    assert bool(dependencies) == (name in TRIGONOMETRIC)
    allowed = ("llvm.fma.", "llvm.fabs.", "llvm.copysign.", "llvm.sqrt.", *dependencies)
    assert all(callee.startswith(allowed) for callee in called)
    assert "contract" not in text and "fast" not in text


def functions_called(assembly: str) -> set[str]:
    words = [line.split() for line in assembly.splitlines()]
    return {line[1] for line in words if len(line) > 1 and line[0] in ("callq", "call", "bl")}


@pytest.mark.parametrize("name, dtype", ALL)
def test_vectorises_without_library_calls(name, dtype):
    for target in TARGETS:
        call, assembly = harness.ours(name, dtype, target)
        fused = "llvm.fma." if target_named(target).multiplies_and_adds else "ae.fma.v"
        assert re.search(rf"call [^@]*x {harness.TYPES[dtype]}> @{fused}", call.optimised)
        if name in TRIGONOMETRIC:
            assert f"x {harness.TYPES[dtype]}> @ae.replace_large_lanes.{dtype}.x" in call.optimised
        # what is supplied calls the C library where products are very large or small
        called = {name for name in functions_called(assembly) if "fma" not in name or fused == "llvm.fma."}
        assert all("ae.replace_large" in symbol for symbol in called) and bool(called) == (name in TRIGONOMETRIC)


@pytest.mark.parametrize("name, dtype", ALL)
def test_bits_are_the_same_at_every_level(name, dtype):
    """Also in the last place, which no tolerance of accuracy would show; the bits of a NaN may differ."""
    rng = np.random.default_rng(23)
    kind, word = np.dtype(dtype), {8: np.uint64, 4: np.uint32}[np.dtype(dtype).itemsize]
    arrays = []
    for _ in range(harness.arity_of(name)):
        with np.errstate(over="ignore"):
            parts = [
                rng.integers(0, 2 ** (8 * kind.itemsize), 6000, dtype=word).view(kind),
                rng.uniform(-2, 2, 6000).astype(kind),
                (rng.normal(size=6000) * 2.0 ** rng.integers(-40, 12, 6000)).astype(kind),
                (rng.normal(size=1000) * 2.0 ** rng.integers(-1070, -900, 1000)).astype(kind),
                rng.permutation(np.resize([*SPECIAL, *(-value for value in SPECIAL)], 500)).astype(kind),
            ]
        arrays.append(np.concatenate(parts))
    levels.assert_same_bits({level: harness.ours(name, dtype, level)[0](*arrays) for level in levels.RUNNABLE})


@pytest.mark.parametrize("name", ["exp", "log1p", "sin", "pow"])
def test_contraction_around_the_function_does_not_reach_into_it(name):
    arity = harness.arity_of(name)
    plain = harness.complete_text(name, "float64")
    names = [f"%a{k}" for k in range(arity)]
    scaled = ", ".join(f"double %s{k}" for k in range(arity))
    wrapper = (
        f"define internal double @f({', '.join('double ' + n for n in names)}) alwaysinline {{\n"
        + "".join(f"  %s{k} = fmul FLAGS double %a{k}, 0x3FF8000000000000\n" for k in range(arity))
        + f"  %r = call double @{vecmath.symbol(name, 'float64')}({scaled})\n"
        + "  %t = fadd FLAGS double %r, 0.0\n  ret double %t\n}\n"
    )
    rng = np.random.default_rng(1)
    arrays = [rng.uniform(0.1, 20, 4000) for _ in range(arity)]
    results = []
    for flags in ("", "contract"):
        text = plain + wrapper.replace("FLAGS", flags) + harness.loop_text("f", "double", arity)
        results.append(harness.compile_loop(text, arity)[0](*arrays))
    assert np.array_equal(*results)


def hardest_angles(dtype: str) -> np.ndarray:
    """For each exponent from 24 the number nearest, relatively, to a multiple of pi / 2.

    m 2**q is near n pi / 2 where n / m is a convergent of the continued fraction of 2**q 2 / pi.
    """
    bits, largest = (53, 1024) if dtype == "float64" else (24, 128)
    found = []
    with mp.workprec(2 * largest):
        two_over_pi = 2 / mp.pi
        for q in range(25 - bits, largest - bits + 1):
            whole = 1 << largest + 256
            numerator, denominator = int(mp.ldexp(two_over_pi, q) * whole) % whole, whole
            previous, current = 1, 0
            while True:
                quotient, rest = divmod(numerator, denominator)
                following = quotient * current + previous
                if following >> bits:
                    break
                numerator, denominator = denominator, rest
                previous, current = current, following
            found.append(np.ldexp(float(current << bits - current.bit_length()), q))
    return np.array(found).astype(dtype)


def large_angles(dtype: str) -> np.ndarray:
    rng = np.random.default_rng(11)
    largest = np.finfo(dtype).max
    sizes = 2.0 ** rng.uniform(22, np.log2(float(largest)) - 0.01, 1000)
    edges = [2.0**24, np.nextafter(np.array(2.0**24, dtype), np.inf), 2.0**24 - 1, largest]
    x = np.concatenate([hardest_angles(dtype), sizes, edges]).astype(dtype)
    return x * rng.choice([-1, 1], len(x)).astype(dtype)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", TRIGONOMETRIC)
def test_accuracy_for_large_angles(name, dtype):
    x = large_angles(dtype)
    exact = [reference(name, value) for value in x.tolist()]
    if name == "cos":
        assert min(abs(value) for value in exact) < (1e-17 if dtype == "float64" else 1e-7)
    errors = ulps(harness.ours(name, dtype)[0](x), exact, dtype)
    worst = int(np.argmax(errors))
    assert errors[worst] <= 4, f"{errors[worst]} ulp at {x[worst]!r}"


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", TRIGONOMETRIC)
def test_large_angles_leave_their_neighbours_alone(name, dtype):
    rng = np.random.default_rng(12)
    small, large = rng.uniform(-40, 40, 64).astype(dtype), large_angles(dtype)[-64:]
    large[::7] = [np.inf, -np.inf, np.nan, 1e30, 1e35, -1e30, -1e35, 2e9, 3e9, 4e9]
    for target in TARGETS:
        call = harness.ours(name, dtype, target)[0]
        mixed = np.where(rng.integers(0, 4, 64) == 0, large, small)
        want = np.where(mixed == small, call(small), call(large))
        assert np.array_equal(call(mixed), want, equal_nan=True)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", TRIGONOMETRIC)
def test_trigonometric_functions_of_infinity_are_nan(name, dtype):
    x = np.array([np.inf, -np.inf, np.nan], dtype)
    assert np.isnan(harness.ours(name, dtype)[0](x)).all()


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_one_module_holds_all_that_share_a_dependency(dtype):
    """Twice over: two modules in memory do not clash."""
    kind = harness.TYPES[dtype]
    shared = {needed for name in TRIGONOMETRIC for needed in vecmath.dependencies(name, dtype)}
    parts = [vecmath.definition(name, dtype) for name in [*shared, *TRIGONOMETRIC]]
    steps = "\n".join(f"  %{name} = call {kind} @{vecmath.symbol(name, dtype)}({kind} %x)" for name in TRIGONOMETRIC)
    sum_ = f"  %a = fadd {kind} %sin, %cos\n  %b = fadd {kind} %a, %tan\n  ret {kind} %b\n"
    parts.append(f"define internal {kind} @f({kind} %x) alwaysinline {{\n{steps}\n{sum_}}}\n")
    x = np.array([1, 1e10, 3e30, -7, -2e20], dtype)
    one = [harness.ours(name, dtype)[0](x) for name in TRIGONOMETRIC]
    for _ in range(2):
        call = harness.compile_loop("".join(parts) + harness.loop_text("f", kind, 1), 1)[0]
        assert np.array_equal(call(x), one[0] + one[1] + one[2])


@pytest.mark.parametrize("format", arithmetic.FORMATS.values(), ids=lambda format: format.dtype)
def test_bits_of_two_over_pi(format):
    words = large_arguments.two_over_pi_words(format)
    with mp.workprec(64 * len(words) + 60):
        places = 64 * (len(words) - 1)
        want = int(mp.floor(mp.ldexp(2 / mp.pi, places)))
        assert large_arguments.pi_fixed_point(places) in (p := int(mp.floor(mp.ldexp(mp.pi, places))), p - 1)
    assert sum(word << 64 * k for k, word in enumerate(reversed(words))) == want
    # The window ends inside the table even for the exponent of inf.
    last = format.bias - format.fraction_bits + 63
    assert (last >> 6) + 3 < len(words)


def test_unknown_names_have_no_definition():
    assert vecmath.definition("gamma", "float64") is None
    assert vecmath.definition("exp", "float16") is None


@pytest.mark.parametrize("family", minimax.FAMILIES)
def test_coefficients_are_those_of_the_generator(family):
    with mp.workdps(110):
        for name, dtype, _, found, _ in family():
            assert np.allclose([float(c) for c in found], getattr(coefficients, name)[dtype], rtol=1e-14, atol=0)


def test_minimax_levels_the_error():
    """The best line for exp on [0, 1] has slope e - 1, and equal errors at 0, ln(e - 1) and 1."""
    (constant, slope), error = minimax.minimax(mp.exp, 0, 1, 2)
    middle = mp.log(mp.e - 1)
    assert abs(slope - (mp.e - 1)) < 1e-3
    assert abs(error - (1 - constant)) < 1e-3
    assert abs((constant + slope * middle - mp.exp(middle)) - error) < 1e-3


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "complex128", "int64"])
@pytest.mark.parametrize("name", ["sin", "tan", "exp", "replace_large_lanes", "hypot"])
def test_what_a_function_needs_is_there_for_its_dtype(name, dtype):
    needed = vecmath.dependencies(name, dtype)
    assert bool(needed) == (name == "replace_large_lanes" or (name in TRIGONOMETRIC and (name, dtype) in ALL))
    for other in needed if dtype in ("float64", "float32") else ():
        assert vecmath.definition(other, dtype) is not None
