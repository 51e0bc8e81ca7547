"""What libraries set does not outlast a test."""

import pytest

import aesara


@pytest.fixture(autouse=True)
def _options():
    """PyMC 3 leaves test values in use when the block of a model is entered within itself."""
    with aesara.config.change_flags(compute_test_value="off"):
        yield
