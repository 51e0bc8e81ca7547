"""Tests of graphs compiled by JAX, where it is installed (`make test-jax`)."""

import importlib
from importlib.util import find_spec

import pytest

collect_ignore_glob = [] if find_spec("jax") else ["test_*.py"]


@pytest.fixture(scope="module")
def quick_compilation():
    """XLA leaves most of its passes out: for tests of many functions, each of which is called once."""
    config = importlib.import_module("jax").config
    config.update("jax_disable_most_optimizations", True)
    yield
    config.update("jax_disable_most_optimizations", False)
