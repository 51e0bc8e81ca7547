"""Tests that ``pytest --quick`` chooses."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests import quick

ROOT = Path(__file__).resolve().parent


@pytest.mark.parametrize("length, count, expected", [(10, 3, [0, 3, 6]), (3, 5, [0, 1, 2]), (0, 5, [])])
def test_spread(length, count, expected):
    assert quick.spread(range(length), count) == expected


def test_rows_are_of_tests():
    for name in quick.ROWS:
        file, _, test = name.partition("::")
        assert f"\ndef {test}(" in (ROOT / file).read_text(encoding="utf-8"), name


def test_slow_places_exist():
    assert [place for place in quick.SLOW if not (ROOT / place).exists()] == []


def collected(*arguments):
    command = [sys.executable, "-m", "pytest", "--collect-only", "-qq", "-p", "no:cacheprovider", *arguments]
    run = subprocess.run(command, cwd=ROOT.parent, capture_output=True, text=True, check=True)
    return {f: int(n) for f, _, n in (line.partition(": ") for line in run.stdout.splitlines()) if n.isdigit()}


def test_a_few_tests_of_each_file_are_chosen():
    graphs, values = "tests/graph/test_graph_fg.py", "tests/optable/test_table_values.py"
    some, everything = collected("--quick", graphs, "tests/optable"), collected(graphs, values)
    assert some[graphs] == quick.TESTS < everything[graphs]
    assert 60 <= some[values] <= 60 + quick.TESTS < everything[values]
    assert "tests/optable/test_table_ops.py" in some and "tests/optable/test_table_complete.py" not in some
