"""Number of cores that a process may use."""

import math

import pytest

from aesara.link.llvm import cores


@pytest.fixture
def system(tmp_path, monkeypatch):
    """Return a folder that stands for the files of the system, and let four processors be usable."""
    for name, folder in (("_SYSTEM", "cpu"), ("_GROUPS", "cgroup"), ("_OWN_GROUPS", "own")):
        monkeypatch.setattr(cores, name, tmp_path / folder)
    monkeypatch.setattr(cores, "_processors", lambda: [0, 1, 2, 3])
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    return tmp_path


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="ascii")


def test_without_files_of_the_system_each_processor_is_a_core(system):
    assert cores.available_cores() == 4


def test_threads_of_one_core_count_once(system):
    for number, siblings in enumerate(["0,2", "1,3", "0,2", "1,3"]):
        write(system / f"cpu/cpu{number}/topology/thread_siblings_list", f"{siblings}\n")
    assert cores.available_cores() == 2


@pytest.mark.parametrize("text, expected", [("max 100000", 4), ("150000 100000", 2), ("20000 100000", 1), ("?", 4)])
def test_the_quota_of_a_control_group_is_rounded_up(system, text, expected):
    write(system / "cgroup/cpu.max", text)
    assert cores.available_cores() == expected


def test_the_smallest_quota_of_nested_groups_counts(system):
    write(system / "own", "0::/job/step\n")
    write(system / "cgroup/job/cpu.max", "300000 100000")
    write(system / "cgroup/job/step/cpu.max", "max 100000")
    assert cores.available_cores() == 3


def test_the_quota_of_version_1_counts(system):
    write(system / "cgroup/cpu/cpu.cfs_quota_us", "200000\n")
    write(system / "cgroup/cpu/cpu.cfs_period_us", "100000\n")
    assert cores.available_cores() == 2
    write(system / "cgroup/cpu/cpu.cfs_quota_us", "-1\n")
    assert cores._quota() == math.inf


@pytest.mark.parametrize("text, expected", [("1", 1), ("3", 3), ("9", 4), ("2,4", 2), ("0", 1), ("", 4), ("many", 4)])
def test_a_number_of_threads_in_the_environment_is_a_limit(system, monkeypatch, text, expected):
    monkeypatch.setenv("OMP_NUM_THREADS", text)
    assert cores.available_cores() == expected
