"""The object cache: hits, damage, permissions, concurrent processes."""

import os
import subprocess
import sys

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.configdefaults import config
from aesara.link.llvm.cache import ObjectCache


@pytest.fixture
def folder(tmp_path):
    with config.change_flags(native_cache=True, native_cache_dir=str(tmp_path / "cache")):
        yield tmp_path / "cache" / "objects"


def compiled(factor=1.25):
    x = at.vector("x")
    f = aesara.function([x], at.exp(x * factor))
    np.testing.assert_allclose(f(np.ones(3)), np.exp(np.full(3, factor)), rtol=1e-15)
    return f._native.report.cached


def test_second_compilation_takes_the_object(folder):
    assert not compiled()
    assert compiled()
    assert not compiled(1.5)
    assert len(list(folder.glob("*.o"))) == 2
    assert not list(folder.glob("new-*"))


@pytest.mark.parametrize(
    "damage",
    [lambda b: b[:-1], lambda b: b"", lambda b: b[:60] + bytes(c ^ 255 for c in b[60:69]) + b[69:], lambda b: b + b"x"],
)
def test_damaged_entries_are_replaced(folder, damage):
    compiled()
    (entry,) = folder.glob("*.o")
    good = entry.read_bytes()
    entry.write_bytes(damage(good))
    assert not compiled()
    assert entry.read_bytes() == good
    assert compiled()


def test_switched_off(folder):
    with config.change_flags(native_cache=False):
        assert not compiled()
        assert not compiled()
    assert not folder.exists()


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="permissions of POSIX systems")
def test_folder_that_others_may_write_is_not_used(folder):
    folder.mkdir(parents=True)
    folder.chmod(0o777)
    assert not compiled()
    assert not compiled()
    assert not list(folder.iterdir())


def test_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("")
    with config.change_flags(native_cache=True, native_cache_dir=str(tmp_path / "file")):
        assert not compiled()
        assert not compiled()


def test_the_folder_stays_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr("aesara.link.llvm.cache._MAX_BYTES", 10_000)
    cache = ObjectCache(tmp_path / "objects")
    for k in range(130):
        cache.store(f"key{k}", bytes(1000))
    assert sum(p.stat().st_size for p in cache.folder.iterdir()) < 80_000


PROGRAM = """
import numpy as np, aesara, aesara.tensor as at
x = at.vector("x")
f = aesara.function([x], at.tanh(x) + at.exp(x))
assert abs(f(np.ones(2))[0] - np.tanh(1) - np.exp(1)) < 1e-14
"""


def test_processes_that_start_together(tmp_path):
    flags = f"native_cache_dir={tmp_path / 'cache'}"
    environment = os.environ | {"AESARA_FLAGS": flags}
    processes = [subprocess.Popen([sys.executable, "-c", PROGRAM], env=environment) for _ in range(4)]
    assert [p.wait(120) for p in processes] == [0] * 4
    assert len(list((tmp_path / "cache" / "objects").glob("*.o"))) == 1
