"""The programs that lowering makes, kept as text so that a change of them is seen in review.

After a change that is meant, run ``AESARA_REGENERATE_GOLDEN=1 pytest tests/lower/test_golden.py`` and read the
difference.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from aesara.ir.text import parse_program, print_program

TESTS = Path(__file__).parent.parent
sys.path.insert(0, str(TESTS / "ir"))
from representative_graphs import GRAPHS, Runs

FOLDER = TESTS / "golden"
REGENERATE = os.environ.get("AESARA_REGENERATE_GOLDEN") == "1"
NAMES = [
    "elementwise_fusion", "sums_over_axes", "extrema", "softmax_gradient", "gather", "set_slices", "join", "dot_forms",
    "gradient_step", "node_in_python", "library_routines", "functions_with_loops", "sequential", "loops", "choices",
    "complex_numbers",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_program_is_as_recorded(name):
    text = f"# {GRAPHS[name].__doc__}\n\n{print_program(Runs(name).program)}"
    file = FOLDER / f"{name}.txt"
    if REGENERATE:
        FOLDER.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8", newline="\n")
    assert text == file.read_text(encoding="utf-8")


def test_every_recorded_program_is_one_of_these_and_can_be_read():
    files = {file.stem: file for file in FOLDER.glob("*.txt")}
    assert sorted(files) == sorted(NAMES)
    for file in files.values():
        text = file.read_text(encoding="utf-8")
        assert text.endswith(print_program(parse_program(text)))
