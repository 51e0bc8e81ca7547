"""Who may write a file or a folder, besides the user."""

from __future__ import annotations

import contextlib
import os
import stat

with contextlib.suppress(ImportError):  # systems with groups of users have them
    import grp
    import pwd


def others_may_write(status: os.stat_result) -> bool:
    """Whether users besides the owner may write to a file, or put something into a folder.

    The group of a user's own, as many systems make one for each, is not counted.
    """
    by_group = bool(status.st_mode & stat.S_IWGRP) and not _is_private(status.st_gid)
    return by_group or bool(status.st_mode & stat.S_IWOTH)


def others_may_rename(status: os.stat_result) -> bool:
    """Whether others may rename what is in a folder; in one with the sticky bit, only the owners of things may."""
    return not status.st_mode & stat.S_ISVTX and others_may_write(status)


def _is_private(group: int) -> bool:
    """Whether a group is this user's alone."""
    try:
        found, user = grp.getgrgid(group), pwd.getpwuid(os.getuid())
    except KeyError:
        return False
    return found.gr_name == user.pw_name and set(found.gr_mem) <= {user.pw_name}
