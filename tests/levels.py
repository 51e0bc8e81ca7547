"""The levels of processors that this one can run code for, and comparing their results."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from aesara.errors import NativeTargetError
from aesara.link.llvm.target import ARM_LEVELS, X86_LEVELS, target_named

X86, ARM = tuple(X86_LEVELS), tuple(ARM_LEVELS)


def runs(name: str) -> bool:
    """Return whether this processor runs code for a level."""
    try:
        return target_named(name).runs
    except NativeTargetError:
        return False


#: the levels that can be run here, and the processor itself
RUNNABLE = [*(name for name in (*X86, *ARM) if runs(name)), "native"]


def known_to_differ() -> list[str]:
    """Levels with and without instructions for what vector math does."""
    without = [name for name in RUNNABLE if not target_named(name).multiplies_and_adds]
    return list(dict.fromkeys([*without[:1], "native"]))


def assert_same_bits(results: Mapping[str, np.ndarray]) -> None:
    """Results, by level, are the same but for the bits of NaNs."""
    (first, one), *others = ((level, np.asarray(value)) for level, value in results.items())
    word = f"u{one.dtype.itemsize}"
    for level, other in others:
        same = (one.view(word) == other.view(word)) | (np.isnan(one) & np.isnan(other))
        where = np.flatnonzero(~same)
        assert not len(where), (
            f"{len(where)} of {one.size} values differ: {first} {one.ravel()[where[0]]!r}, "
            f"{level} {other.ravel()[where[0]]!r}, at {where[0]}"
        )
