"""Documented path of `aesara.compat.sparse_images`."""

from aesara.compat.sparse_images import *
