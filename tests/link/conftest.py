"""Tests of the linker change what it does: each function is compiled, even if an equal one was before."""

import pytest

from aesara.configdefaults import config


@pytest.fixture(autouse=True)
def compile_all_functions():
    with config.change_flags(function_cache=False):
        yield
