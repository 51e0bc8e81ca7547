"""Documented path of `aesara.compat.pkl_utils`."""

from aesara.compat.pkl_utils import *
