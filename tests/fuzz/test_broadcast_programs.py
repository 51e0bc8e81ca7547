"""A few of the programs of `broadcast_programs`."""

import pytest

from tests.fuzz.broadcast_programs import check_seed


@pytest.mark.parametrize("piece", range(6))
def test_programs_of_broadcast_operands(piece):
    seeds = range(1100 + 60 * piece, 1160 + 60 * piece)
    valued = sum(check_seed(seed, native=seed % 20 == 0) for seed in seeds)
    assert valued > 60
