"""The examples of the documentation and of the README run, and print what they say they print."""

import doctest
import re
import sys
import warnings
from pathlib import Path

import pytest

import aesara.finite_differences
import aesara.graph.autodiff
import aesara.graph.forward_mode
import aesara.printing.explain
import aesara.tensor.derivatives
import aesara.tensor.gradient_operators

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
MODULES = [
    aesara.finite_differences,
    aesara.graph.autodiff,
    aesara.graph.forward_mode,
    sys.modules["aesara.printing.explain"],  # the function of this name hides it
    aesara.tensor.derivatives,
    aesara.tensor.gradient_operators,
]
OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.IGNORE_EXCEPTION_DETAIL


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_page(page):
    # A fence ends an example, as a blank line would.
    text = page.read_text(encoding="utf-8").replace("```", "\n")
    test = doctest.DocTestParser().get_doctest(text, {}, page.name, str(page), 0)
    report = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = doctest.DocTestRunner(optionflags=OPTIONS).run(test, out=report.append)
    assert result.failed == 0, "".join(report)


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_docstrings(module):
    assert doctest.testmod(module, optionflags=OPTIONS).failed == 0


def test_links_lead_somewhere():
    """Relative links of the pages point to files that exist."""
    for page in [*PAGES, *(ROOT / "docs").glob("reference/*.md")]:
        text = "".join(page.read_text(encoding="utf-8").split("```")[::2])
        for target in re.findall(r"\]\(([^)#]+)", text):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page.name} links to {target}, which does not exist"


def test_every_page_is_in_the_index():
    text = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    assert [page.name for page in PAGES[1:] if page.name != "index.md" and f"({page.name})" not in text] == []
