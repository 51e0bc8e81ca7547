"""The command line of the package."""

import os
import subprocess
import sys
import time

import pytest

import aesara
import aesara.tensor as at
from aesara.__main__ import main
from aesara.configdefaults import config


@pytest.fixture
def folder(tmp_path):
    with config.change_flags(native_cache=True, function_cache=True, native_cache_dir=str(tmp_path)):
        x = at.dvector("x")
        aesara.function([x], at.exp(x) * 1.03125)
        yield tmp_path


def names(folder):
    return sorted(path.parent.name for path in folder.rglob("*.o"))


def test_sizes_are_shown(folder, capsys):
    main(["cache"])
    text = capsys.readouterr().out
    assert str(folder) in text and "functions: 1 entries, 0.0 MB" in text
    main(["cache", "list"])
    assert capsys.readouterr().out == text


def test_all_entries_are_removed(folder, capsys):
    assert "functions" in names(folder) and "objects" in names(folder)
    main(["cache", "clear"])
    assert names(folder) == [] and "functions: 0.0 MB removed" in capsys.readouterr().out


def test_old_entries_are_removed(folder):
    before = names(folder)
    main(["cache", "prune", "--days", "2", "--size", "100M"])
    assert names(folder) == before
    (entry,) = (folder / "functions").iterdir()
    long_ago = time.time() - 3 * 86400
    os.utime(entry, (long_ago, long_ago))
    main(["cache", "prune", "--days", "2"])
    assert "functions" not in names(folder) and "objects" in names(folder)
    main(["cache", "prune", "--size", "0K"])
    assert names(folder) == []


def test_caches_that_are_off():
    with config.change_flags(native_cache=False), pytest.raises(SystemExit, match="native_cache"):
        main(["cache"])


def test_as_a_module(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "aesara", "cache"],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "AESARA_FLAGS": f"native_cache_dir={tmp_path}"},
    )
    assert "functions: 0 entries" in done.stdout
