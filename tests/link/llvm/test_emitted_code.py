"""What is emitted for graphs, kept as the number of instructions of each kind and a digest of the text.

After a change that is meant, run ``AESARA_REGENERATE_GOLDEN=1 pytest tests/link/llvm/test_emitted_code.py`` and read
the difference.  Where only the digest differs, compare ``f._native.report.text`` with that of before the change.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
from collections import Counter
from pathlib import Path

import llvmlite.binding as llvm
import numpy as np
import pytest

import aesara

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "ir"))
from representative_graphs import GRAPHS

FILE = Path(__file__).with_name("emitted_code.txt")
INSTRUCTION = re.compile(r"(?:%\S+ = )?(?:tail )?([a-z]+) ")

pytestmark = pytest.mark.skipif(
    llvm.llvm_version_info[0] < 22 or np.lib.NumpyVersion(np.__version__) < "2.0.0",
    reason="for older versions of LLVM and NumPy other code is emitted",
)


def described(text):
    found = Counter()
    for line in text.splitlines():
        if line.startswith(("define", "declare")):
            found[line.partition(" ")[0]] += 1
        elif not line.endswith(":") and (match := INSTRUCTION.match(line)):
            found[match[1]] += 1
    counts = " ".join(f"{kind} {count}" for kind, count in sorted(found.items()))
    return f"{counts}, digest {hashlib.sha256(text.encode()).hexdigest()[:12]}"


@pytest.mark.parametrize("name", GRAPHS)
def test_code_is_as_recorded(name):
    graph = GRAPHS[name]()
    f = aesara.function(graph.inputs, graph.outputs, updates=graph.updates, mode="FAST_RUN")
    text = described(f._native.report.text)
    recorded = dict(line.split(": ", 1) for line in FILE.read_text(encoding="utf-8").splitlines())
    if os.environ.get("AESARA_REGENERATE_GOLDEN") == "1":
        recorded[name] = text
        lines = [f"{one}: {recorded[one]}\n" for one in GRAPHS if one in recorded]
        FILE.write_text("".join(lines), encoding="utf-8", newline="\n")
    assert text == recorded[name]
