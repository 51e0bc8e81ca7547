"""What is said of expressions that may, or may not, be used of a loop."""

import pytest

import aesara.tensor as at
from aesara.graph.basic import ancestors
from aesara.scan.utils import Validator

x, y, z = at.dvectors("x", "y", "z")
middle = at.exp(x)


@pytest.mark.parametrize(
    "out, known, usable",
    [
        (x + 1, {"valid": [x]}, True),
        (x + y, {"valid": [x]}, False),
        (x + y, {"valid": [x, y]}, True),
        (at.constant([1.0, 2.0]) + 1, {}, True),
        (middle + x, {"valid": [x], "invalid": [middle]}, False),
        (x + 1, {"valid": [x], "invalid": [middle]}, True),
        (middle * 2, {"valid": [middle]}, True),
        (middle * 2, {"valid": [middle], "invalid": [x]}, True),
        (middle * 2, {"valid": [], "invalid": [middle]}, False),
        (x, {"valid": [], "invalid": [x]}, False),
    ],
)
def test_what_is_computed_of_valid_variables_and_constants_alone_may_be_used(out, known, usable):
    assert Validator(**known).check(out) == ((out, True) if usable else None)


@pytest.mark.parametrize("out", [y + 1, at.exp(y) * x, y])
@pytest.mark.parametrize("invalid", [[], [y]])
def test_variables_are_replaced_by_their_equivalents(out, invalid):
    found, is_same = Validator(valid=[x], invalid=invalid, valid_equivalent={y: z}).check(out)
    leaves = {v for v in ancestors([found]) if v.owner is None and v.name}
    assert not is_same and z in leaves and y not in leaves and found.type == out.type


def test_what_has_an_equivalent_may_be_computed_of_anything():
    found, is_same = Validator(valid_equivalent={middle: z}).check(middle * 2)
    assert not is_same and [v for v in ancestors([found]) if v.name] == [z]
