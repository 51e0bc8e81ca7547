"""Lengths that a check has found equal to a number are that number from there on."""

import re

import numpy as np
import pytest

import aesara
import aesara.tensor as at


@pytest.mark.parametrize("first", [True, False], ids=["number first", "length first"])
def test_a_length_equal_to_a_number_is_a_constant_of_the_loop(first):
    x, c = at.dvector("x"), at.tensor("float64", shape=(16,), name="c")
    f = aesara.function([x, c], c + x if first else x + c)
    ends = re.findall(r"icmp slt (.*)\nbr i1 \S+, label %loop", f.vm.report.text)
    assert ends and all(line.endswith(", 16") for line in ends)
    assert f(np.arange(16.0), np.ones(16)).tolist() == list(range(1, 17))
    with pytest.raises(ValueError, match="mismatch"):
        f(np.arange(15.0), np.ones(16))
