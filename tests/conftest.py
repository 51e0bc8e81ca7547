"""What every test can ask for."""

import zlib

import numpy as np
import pytest


@pytest.fixture
def rng(request):
    """Random numbers of this test alone: the same in each run, whatever ran before and in whichever worker."""
    return np.random.default_rng(zlib.crc32(request.node.nodeid.encode()))
