"""Constants as sums of numbers of a format, against exact fractions."""

from __future__ import annotations

from fractions import Fraction

import pytest

from aesara.ir.vecmath.arithmetic import FLOAT32, FLOAT64, split_constant

DIGITS = {
    "pi": "3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482534211707",
    "ln 2": "0.693147180559945309417232121458176568075500134360255254120680009493393621969694715605863326996418687",
    "a tie": "1.0000000596046447753906250",  # between two numbers of float32
    "exact": "0.625",
    "an integer": "3",
    "negative": "-2.71828182845904523536028747135266249775724709369995957496696762772407663035354759457138217852516642",
}


@pytest.mark.parametrize("format", [FLOAT32, FLOAT64], ids=lambda format: format.dtype)
@pytest.mark.parametrize("high_bits", [14, 24, 40])
@pytest.mark.parametrize("parts", [1, 2, 3])
@pytest.mark.parametrize("name", DIGITS)
def test_parts_add_up_to_the_constant(name, format, high_bits, parts):
    found = split_constant(DIGITS[name], format, high_bits, parts)
    assert len(found) == parts
    rest = Fraction(DIGITS[name])
    for index, part in enumerate(found):
        bits = format.fraction_bits + 1 if index == parts - 1 else high_bits
        magnitude = abs(rest)
        exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
        quantum = Fraction(2) ** (exponent - bits)
        nearest = round(rest / quantum) * quantum
        assert part == float(nearest)
        rest -= nearest
