"""Documented path of `aesara.compat.sched`."""

from aesara.compat.sched import *
