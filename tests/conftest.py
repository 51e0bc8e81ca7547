"""Fixtures of all tests, and the selection of tests for ``--quick``."""

import contextlib
import gc
import zlib

import numpy as np
import pytest

import aesara
from aesara.graph.rewriting.databases import optdb
from tests import quick
from tests.unoptimized import is_unoptimized, unoptimized
from tests.versions import SCIPY_LACKS

#: A rule that fails, or a shape that an op cannot tell, is an error; each function is compiled, whatever was before.
OPTIONS = {"on_opt_error": "raise", "on_shape_error": "raise", "function_cache": False}


def pytest_addoption(parser):
    parser.addoption("--quick", action="store_true", help="run a few tests of each file that is not slow")


def pytest_configure(config):
    """Set the options for what is compiled while tests are collected, and by fixtures of modules."""
    for name, value in OPTIONS.items():
        setattr(aesara.config, name, value)


def pytest_ignore_collect(collection_path, config):
    """Slow files are not even imported for ``--quick``."""
    return True if config.getoption("--quick") and quick.is_slow(collection_path) else None


@pytest.hookimpl(trylast=True)
def pytest_generate_tests(metafunc):
    """For ``--quick``, few of a test's parameters make items."""
    if metafunc.config.getoption("--quick") and metafunc._calls:
        metafunc._calls = quick.some(metafunc.module, metafunc.function.__name__, metafunc._calls)


@pytest.hookimpl(tryfirst=True, specname="pytest_pycollect_makeitem")
def pytest_leave_out(collector, name, obj):
    """For ``--quick``, nothing in place of most tests; others make the items of the rest."""
    chooses = collector.config.getoption("--quick")
    return [] if chooses and quick.left_out(collector.getparent(pytest.Module).obj, name, obj) else None


def pytest_collection_modifyitems(items):
    for item in items:
        if quick.is_slow(item.path):
            item.add_marker(pytest.mark.slow)


def pytest_collection_finish(session):
    """Collect garbage seldom, and not among the million objects of the tests: a sixth of the time went there."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 20, 50)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """A test that needs a function of `scipy.special` that this SciPy is too old for is skipped, for that reason."""
    try:
        return (yield)
    except NotImplementedError as error:
        for name in SCIPY_LACKS:
            if f"has no {name}: install a newer one" in str(error):
                pytest.skip(str(error).splitlines()[0])
        raise


@pytest.fixture(autouse=True)
def _options():
    """Set the options again, whatever a test before has left; a test that is about them sets what it needs.

    Rules that such a test has registered do not count either.
    """
    for database in optdb._with_inner():
        database.foreign_modules.clear()
    with aesara.config.change_flags(**OPTIONS):
        yield


@pytest.fixture(autouse=True)
def _without_passes(request):
    """Compile without LLVM's passes where a test is not about what they make of loops."""
    with unoptimized() if is_unoptimized(request.path) else contextlib.nullcontext():
        yield


@pytest.fixture
def rng(request):
    """Random numbers of this test alone: the same in each run, whatever ran before and in whichever worker."""
    return np.random.default_rng(zlib.crc32(request.node.nodeid.encode()))
