"""Compilation in processes with little free address space: code and its constants may be far apart."""

import subprocess
import sys

import pytest

FRAGMENTED = """
import ctypes

import numpy as np
import scipy.special

import aesara
import aesara.tensor as at

PAGES = {pages} * 4096
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]


def reserved(size):
    address = libc.mmap(None, size, 0, 0x4022, -1, 0)  # private, anonymous, without memory behind it
    assert address not in (None, 2**64 - 1)
    return address


x = at.dvector()
aesara.function([x], at.exp(x) + 1)([1.0])
blocks = [reserved(4 << 30) for _ in range(8)]
while (address := reserved(PAGES)) > min(blocks):
    pass
libc.munmap(address, PAGES)
for block in blocks:
    libc.munmap(block, PAGES)  # all that is free above the last block: holes that are 4 GiB apart

value = np.linspace(-2, 2, 7)
for k in range(6):
    found = aesara.function([x], at.tanh(x) * at.sin(x + k) + at.erf(x))(value)
    np.testing.assert_allclose(found, np.tanh(value) * np.sin(value + k) + scipy.special.erf(value), rtol=1e-13)
print("all right")
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="takes address space by mmap")
@pytest.mark.parametrize("pages", [1, 2, 4])
def test_holes_that_are_far_apart(pages):
    program = FRAGMENTED.format(pages=pages)
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=100)
    assert ended.stdout == "all right\n", ended.stderr[-2000:]
