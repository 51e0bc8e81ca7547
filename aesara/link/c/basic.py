"""Documented path of `aesara.compat.c_linkers`."""

from aesara.compat.c_linkers import *
