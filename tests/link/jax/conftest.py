"""Tests of graphs compiled by JAX, where it is installed (`make test-jax`)."""

from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("jax") else ["test_*.py"]
