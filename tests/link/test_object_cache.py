"""The object cache: hits, damage, permissions, failures of the file system, concurrent processes."""

import errno
import os
import random
import signal
import stat
import subprocess
import sys
import tempfile
import time
import warnings

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.configdefaults import config
from aesara.link.llvm import jit
from aesara.link.llvm.cache import CacheWarning, ObjectCache


@pytest.fixture
def folder(tmp_path):
    compiled()  # so that the process has the routines that functions share, which would be stored, too
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


def test_entries_that_were_exchanged_are_replaced(folder):
    x = at.dvector("x")

    def value(function):
        f = aesara.function([x], function(x))
        return f(np.full(2, 2.0)), f._native.report.cached

    value(at.exp), value(at.log)
    first, second = sorted(folder.glob("*.o"))
    one, other = first.read_bytes(), second.read_bytes()
    first.write_bytes(other), second.write_bytes(one)
    for function, numpy in ((at.exp, np.exp), (at.log, np.log)):
        got, cached = value(function)
        np.testing.assert_allclose(got, numpy(2.0), rtol=1e-15)
        assert not cached
    assert first.read_bytes() == one and second.read_bytes() == other


def test_code_for_another_machine_is_not_taken(folder, monkeypatch):
    """Compiler, processor and interpreter are part of the key."""
    assert not compiled() and compiled()
    host = jit._host_key
    with monkeypatch.context() as patched:
        patched.setattr(jit, "_host_key", lambda target: host(target) + "\nanother processor")
        assert not compiled() and compiled()
    assert compiled()
    assert len(list(folder.glob("*.o"))) == 2


def test_switched_off(folder):
    with config.change_flags(native_cache=False):
        assert not compiled()
        assert not compiled()
    assert not folder.exists()


posix = pytest.mark.skipif(not hasattr(os, "getuid"), reason="permissions of POSIX systems")


def entry_of(folder):
    (entry,) = folder.glob("*.o")
    return entry


@posix
def test_folder_is_private(folder):
    before = os.umask(0)
    try:
        compiled()
    finally:
        os.umask(before)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(entry_of(folder).stat().st_mode) == 0o600


@posix
def test_folders_of_the_folder_are_made(tmp_path):
    cache = ObjectCache(tmp_path / "a" / "b" / "c")
    cache.store(key := cache.key("text", "host", "how"), b"code")
    assert cache.load(key) == b"code"
    assert {stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "a").rglob("*") if path.is_dir()} == {0o700}


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o702])
def test_folder_that_others_may_write_is_not_used(folder, mode):
    folder.mkdir(parents=True)
    folder.chmod(mode)
    with pytest.warns(CacheWarning, match="can be written by other users"):
        assert not compiled()
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # it is said once
        assert not compiled()
    assert not list(folder.iterdir())


@posix
@pytest.mark.parametrize("mode", [0o777, 0o775, 0o757])
@pytest.mark.parametrize("linked", [False, True])
def test_folder_whose_parent_others_may_write_is_not_used(folder, mode, linked, monkeypatch):
    monkeypatch.setattr("aesara.file_owners._is_private", lambda group: False)
    assert not compiled() and compiled()
    parent = folder.parent
    if linked:  # where a link leads to counts, too
        moved = parent.rename(parent.parent / "elsewhere")
        parent.symlink_to(moved)
        parent = moved
    parent.chmod(mode)
    with pytest.warns(CacheWarning, match="can be written by other users, who could exchange"):
        assert not compiled()
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # it is said once
        assert not compiled(1.75)
    assert len(list(folder.glob("*.o"))) == 1
    parent.chmod(mode | stat.S_ISVTX)
    assert compiled()


@posix
def test_parent_may_be_written_by_a_group_of_one(folder, monkeypatch):
    compiled()
    folder.parent.chmod(0o770)
    for private in (True, False):
        monkeypatch.setattr("aesara.file_owners._is_private", lambda group: private)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert compiled() == private


@posix
def test_folder_of_another_user_is_not_used(folder, monkeypatch):
    assert not compiled()
    user = os.getuid()
    monkeypatch.setattr(os, "getuid", lambda: user + 1)
    with pytest.warns(CacheWarning, match="belongs to another user"):
        assert not compiled()


@posix
def test_entry_that_others_may_write_is_not_loaded(folder):
    compiled()
    entry_of(folder).chmod(0o622)
    with pytest.warns(CacheWarning, match=r"\.o can be written by other users"):
        assert not compiled()
    assert stat.S_IMODE(entry_of(folder).stat().st_mode) == 0o600
    assert compiled()


@posix
def test_entries_that_are_no_files(folder):
    compiled()
    entry = entry_of(folder)
    moved = entry.rename(folder.parent / "elsewhere")
    entry.symlink_to(moved)
    assert not compiled()  # and replaces the link
    assert not entry.is_symlink() and compiled()
    entry.unlink()
    os.mkfifo(entry)
    assert not compiled()
    entry.unlink()
    entry.mkdir()
    assert not compiled()


@posix
def test_folder_that_is_read_only(folder):
    compiled()
    folder.chmod(0o500)
    try:
        assert compiled()
        compiled(1.5)  # a user who may do everything writes it all the same
    finally:
        folder.chmod(0o700)


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS, errno.EDQUOT])
def test_failing_disk(folder, monkeypatch, code):
    def refuse(*args, **kwargs):
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(tempfile, "mkstemp", refuse)
    assert not compiled()
    assert not compiled()


def test_disk_that_is_full_in_the_middle_of_a_write(folder, monkeypatch):
    real = os.fdopen

    class Full:
        def __init__(self, file):
            self.file = file

        def __enter__(self):
            return self

        def __exit__(self, *details):
            self.file.close()

        def write(self, data):
            self.file.write(data[: len(data) // 2])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fdopen", lambda *args: Full(real(*args)))
    assert not compiled()
    assert not compiled()
    assert not list(folder.iterdir())
    monkeypatch.undo()
    with config.change_flags(native_cache=True, native_cache_dir=str(folder.parent)):
        assert not compiled()
        assert compiled()


def test_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("")
    with config.change_flags(native_cache=True, native_cache_dir=str(tmp_path / "file")):
        assert not compiled()
        assert not compiled()


def test_the_folder_stays_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr("aesara.link.llvm.cache._MAX_BYTES", 10_000)
    monkeypatch.setattr("aesara.link.llvm.cache._TRIM_EVERY", 1)
    cache = ObjectCache(tmp_path / "objects")
    for k in range(30):
        cache.store(f"key{k}", bytes(1000))
    assert sum(p.stat().st_size for p in cache.folder.iterdir()) < 10_000
    assert cache.load("key29") == bytes(1000)


def test_random_numbers_of_the_user_stay_as_they_are(folder):
    before, legacy = random.getstate(), np.random.get_state()[1].copy()
    assert not compiled()
    assert random.getstate() == before
    np.testing.assert_array_equal(np.random.get_state()[1], legacy)


def test_temporary_files_of_killed_processes_are_removed(tmp_path, monkeypatch):
    monkeypatch.setattr("aesara.link.llvm.cache._TRIM_EVERY", 1)
    cache = ObjectCache(tmp_path / "objects")
    cache.store("key", b"code")
    old, young = cache.folder / "new-1", cache.folder / "new-2"
    for path in (old, young):
        path.write_bytes(b"half")
    os.utime(old, (time.time() - 7200,) * 2)
    cache.store("other", b"code")
    assert not old.exists() and young.exists()
    assert cache.load("key") == cache.load("other") == b"code"


def test_entries_in_use_are_young(tmp_path):
    cache = ObjectCache(tmp_path / "objects")
    cache.store("key", b"code")
    path = cache.folder / "key.o"
    os.utime(path, (1e9, 1e9))
    assert cache.load("key") == b"code"
    assert path.stat().st_mtime > time.time() - 60
    an_hour_ago = int(time.time()) - 3600
    os.utime(path, (an_hour_ago, an_hour_ago))
    assert cache.load("key") == b"code" and path.stat().st_mtime == an_hour_ago  # once a day is often enough


PROGRAM = """
import numpy as np, aesara, aesara.tensor as at
x = at.vector("x")
f = aesara.function([x], at.tanh(x) + at.exp(x))
assert abs(f(np.ones(2))[0] - np.tanh(1) - np.exp(1)) < 1e-14
"""


def run(program, cache, **options):
    environment = os.environ | {"AESARA_FLAGS": f"native_cache_dir={cache}"}
    return subprocess.Popen([sys.executable, "-c", program], env=environment, **options)


@pytest.mark.parametrize("count", [4, pytest.param(16, marks=pytest.mark.slow)])
@pytest.mark.slow
def test_processes_that_start_together(tmp_path, count):
    processes = [run(PROGRAM, tmp_path / "cache") for _ in range(count)]
    assert [p.wait(300) for p in processes] == [0] * count
    assert len(list((tmp_path / "cache" / "objects").iterdir())) == 2  # the function, and the shared routines


OF_MANY_KINDS = """
import numpy as np

import aesara
import aesara.tensor as at
from aesara.export import vector_pointer

x, y, m, v = at.dvector("x"), at.fvector("y"), at.dmatrix("m"), at.fmatrix("v")
states, _ = aesara.scan(lambda e, s, m: at.dot(m, s) * e, x, x, [m])
noise = at.random.normal(size=x.shape, rng=aesara.shared(np.random.default_rng(0)))
outputs = {
    "products": [at.dot(m, x), at.dot(v, y), at.dot(m, m), at.dot(v, v)],
    "linear algebra": [at.linalg.solve(m, x), at.linalg.svd(v)[1], at.linalg.cholesky(at.dot(m, m.T))],
    "elementwise": [at.exp(x), at.erf(y), x.sum() + y.sum(), at.unbroadcast(m.sum(0, keepdims=True), 0)],
    "others": [at.sort(x), noise, states, x[at.argsort(y)], aesara.grad(states.sum(), x)],
}
cached = []
for kind, some in outputs.items():
    f = aesara.function([x, y, m, v], some, on_unused_input="ignore")
    cached.append(f._native.report.cached)
assert cached == [FOUND] * len(outputs), cached
narrow = x.astype("float32")
vector = aesara.function([x], at.dot(at.outer(x, x), x) + at.dot(at.outer(narrow, narrow), narrow))
assert vector_pointer(vector)(np.ones(2), 2).tolist() == [4, 4]
"""


@pytest.mark.slow
def test_objects_do_not_depend_on_the_order_of_sets(tmp_path):
    """Processes with different hash seeds share objects."""
    entries = []
    for seed in ("1", "6", "2"):  # of which the second and the third put texts in other orders
        program = OF_MANY_KINDS.replace("FOUND", str(seed != "1"))
        with pytest.MonkeyPatch.context() as surroundings:
            surroundings.setenv("PYTHONHASHSEED", seed)
            assert run(program, tmp_path / "cache").wait(120) == 0
        entries.append(set((tmp_path / "cache" / "objects").iterdir()))
    assert entries[0] == entries[1] == entries[2]


DEATH = """
import os, signal

write = os.fdopen
def fdopen(*args):
    file = write(*args)
    file.write(b"aesara-object-1")
    file.flush()
    os.kill(os.getpid(), signal.SIGKILL)
os.fdopen = fdopen
"""


@posix
@pytest.mark.slow
def test_process_that_is_killed_while_it_writes(tmp_path):
    assert run(DEATH + PROGRAM, tmp_path / "cache").wait(120) == -signal.SIGKILL
    (left,) = (tmp_path / "cache" / "objects").iterdir()
    assert left.name.startswith("new-") and left.read_bytes() == b"aesara-object-1"
    assert run(PROGRAM, tmp_path / "cache").wait(120) == 0
    assert len(list((tmp_path / "cache" / "objects").glob("*.o"))) == 2


def test_keys_tell_parts_apart():
    cache = ObjectCache("anywhere")
    parts = [("ab", "c"), ("a", "bc"), ("abc",), ("abc", ""), ("", "abc"), ("c", "ab")]
    assert len({cache.key(*some) for some in parts}) == len(parts)


def test_systems_without_users(folder, monkeypatch):
    """Nothing is refused on systems without owners of files."""
    monkeypatch.delattr(os, "getuid")
    assert not compiled() and compiled()
    folder.chmod(0o777)
    assert compiled()


def test_entries_that_cannot_be_touched_are_loaded(folder, monkeypatch):
    compiled()
    (entry,) = folder.glob("*.o")
    os.utime(entry, (1.0, 1.0))
    monkeypatch.setattr(os, "utime", refuse)
    assert compiled() and entry.stat().st_mtime == 1.0


def test_a_write_that_fails_and_leaves_a_file(folder, monkeypatch):
    compiled(2.0)
    monkeypatch.setattr(os, "replace", refuse)
    monkeypatch.setattr(os, "unlink", refuse)
    assert not compiled() and not compiled()


def refuse(*args, **kwargs):
    raise PermissionError


def test_entries_that_cannot_be_removed_are_passed_over(tmp_path, monkeypatch):
    """The next older ones are removed instead, and no more than necessary."""
    monkeypatch.setattr("aesara.link.llvm.cache._MAX_BYTES", 30)
    cache, unlink = ObjectCache(tmp_path), type(tmp_path).unlink
    for k, name in enumerate("abcde"):
        (tmp_path / name).write_bytes(b"0123456789")
        os.utime(tmp_path / name, (k + 1.0, k + 1.0))
    monkeypatch.setattr(type(tmp_path), "unlink", lambda path: refuse() if path.name == "a" else unlink(path))
    cache._trim()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "d", "e"]
    cache._trim()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "d", "e"]  # just as much as may be
