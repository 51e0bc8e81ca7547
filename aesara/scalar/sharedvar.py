"""Documented path of `aesara.compat.scalar_shared`."""

from aesara.compat.scalar_shared import *
