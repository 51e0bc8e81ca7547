"""Permissions of users besides the owner to write a file or a folder."""

from __future__ import annotations

import contextlib
import os
import stat

with contextlib.suppress(ImportError):  # systems with groups of users have them
    import grp
    import pwd


def others_may_write(status: os.stat_result) -> bool:
    """Return whether users besides the owner may write to a file, or create files in a folder.

    The group of a user's own, as many systems make one for each, is not counted.
    """
    by_group = bool(status.st_mode & stat.S_IWGRP) and not _is_private(status.st_gid)
    return by_group or bool(status.st_mode & stat.S_IWOTH)


def others_may_rename(status: os.stat_result) -> bool:
    """Return whether others may rename the files of a folder; the sticky bit restricts this to each file's owner."""
    return not status.st_mode & stat.S_ISVTX and others_may_write(status)


def _is_private(group: int) -> bool:
    """Return whether a group is the user's own, without other members."""
    try:
        found, user = grp.getgrgid(group), pwd.getpwuid(os.getuid())
    except KeyError:
        return False
    return found.gr_name == user.pw_name and set(found.gr_mem) <= {user.pw_name}
