"""Who else may write a file, by its bits."""

import os
import stat

import pytest

from aesara import file_owners

BITS = {"user": 0o700, "group": stat.S_IWGRP, "others": stat.S_IWOTH, "sticky": stat.S_ISVTX}


def status(*names):
    return os.stat_result([stat.S_IFDIR | sum(BITS[name] for name in names), *range(9)])


@pytest.mark.parametrize(
    "bits, private, write, rename",
    [
        (["user"], False, False, False),
        (["user"], True, False, False),
        (["user", "group"], True, False, False),
        (["user", "group"], False, True, True),
        (["user", "others"], True, True, True),
        (["user", "group", "others"], True, True, True),
        (["user", "sticky"], False, False, False),
        (["user", "group", "sticky"], False, True, False),
        (["user", "others", "sticky"], True, True, False),
    ],
)
def test_bits(bits, private, write, rename, monkeypatch):
    monkeypatch.setattr(file_owners, "_is_private", lambda group: private)
    assert file_owners.others_may_write(status(*bits)) is write
    assert file_owners.others_may_rename(status(*bits)) is rename


@pytest.mark.skipif(not hasattr(file_owners, "grp"), reason="there are no groups of users here")
@pytest.mark.parametrize(
    "name, members, private",
    [("me", [], True), ("me", ["me"], True), ("me", ["me", "you"], False), ("us", [], False), (None, [], False)],
)
def test_groups(name, members, private, monkeypatch):
    class Group:
        gr_name, gr_mem = name, members

    class User:
        pw_name = "me"

    def group(number):
        if name is None:
            raise KeyError(number)
        return Group

    monkeypatch.setattr(file_owners.grp, "getgrgid", group)
    monkeypatch.setattr(file_owners.pwd, "getpwuid", lambda number: User)
    assert file_owners._is_private(5) is private
