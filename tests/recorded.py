"""Texts that are kept beside a test, a line for each case, so that a change of them is seen in review.

After a change that is meant, run the test with ``AESARA_REGENERATE_GOLDEN=1`` and read the difference.
"""

import os

import llvmlite.binding as llvm
import numpy as np
import pytest

#: for tests of emitted code; in CI it is what the newest versions emit
needs_newest_llvm_and_numpy = pytest.mark.skipif(
    llvm.llvm_version_info[0] < 22 or np.lib.NumpyVersion(np.__version__) < "2.0.0",
    reason="for older versions of LLVM and NumPy other code is emitted",
)


def assert_recorded(file, cases, case, text):
    """The text is that of the case's line in a file, whose lines are in the order of the cases."""
    recorded = dict(line.split(": ", 1) for line in file.read_text(encoding="utf-8").splitlines())
    if os.environ.get("AESARA_REGENERATE_GOLDEN") == "1":
        recorded[case] = text
        lines = [f"{name}: {recorded[name]}\n" for name in cases if name in recorded]
        file.write_text("".join(lines), encoding="utf-8", newline="\n")
    assert text == recorded.get(case), "if this is meant, run the test with AESARA_REGENERATE_GOLDEN=1"
