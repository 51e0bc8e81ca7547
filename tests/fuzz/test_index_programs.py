"""A few of the programs of `index_programs`."""

import pytest

from tests.fuzz.index_programs import check


@pytest.mark.parametrize("piece", range(8))
def test_programs_of_parts_and_shapes(piece):
    valued = sum(check(seed, native=seed % 10 == 0) for seed in range(20 * piece, 20 * piece + 20))
    assert valued > 10
