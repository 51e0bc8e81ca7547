"""The examples of the documentation and of the README run, and print what they say they print."""

import doctest
import functools
import importlib
import re
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import aesara
import aesara.tensor as at

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
SOURCES = [path for path in sorted((ROOT / "aesara").rglob("*.py")) if ">>> " in path.read_text(encoding="utf-8")]
MODULES = [".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__") for path in SOURCES]
#: what examples in docstrings need not import; they see the names of their module, too
NAMES = {"aesara": aesara, "at": at, "np": np}
OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.IGNORE_EXCEPTION_DETAIL


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_page(page):
    # A fence ends an example, as a blank line would.
    text = page.read_text(encoding="utf-8").replace("```", "\n")
    if page.name == "jax.md":
        pytest.importorskip("jax")
    test = doctest.DocTestParser().get_doctest(text, {}, page.name, str(page), 0)
    report = []
    with warnings.catch_warnings(), aesara.config.change_flags(function_cache=True):
        warnings.simplefilter("ignore")
        result = doctest.DocTestRunner(optionflags=OPTIONS).run(test, out=report.append)
    assert result.failed == 0, "".join(report)


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name):
    if name.startswith("aesara.pytensor"):
        pytest.importorskip("pytensor")
    if name.startswith("aesara.link.jax."):
        pytest.importorskip("jax")
    if name == "aesara.pytensor.nutpie":
        pytest.importorskip("nutpie")
    importlib.import_module(name)
    module = sys.modules[name]  # a function of this name may hide it
    report = []
    runner = doctest.DocTestRunner(optionflags=OPTIONS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for test in doctest.DocTestFinder().find(module, name, extraglobs=NAMES):
            runner.run(test, out=report.append)
    assert runner.summarize(verbose=False).failed == 0, "".join(report)


def without_code(page):
    return "".join(page.read_text(encoding="utf-8").split("```")[::2])


@functools.cache
def anchors(page):
    """The anchors that a page has for its headings, as they are made for readers of repositories."""
    headings = re.findall(r"(?m)^#+ (.*)$", without_code(page))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken_links(page):
    """Relative links of a page to files, or to headings, that do not exist."""
    for target, _, anchor in re.findall(r"\]\(([^)#]*)(#?)([^)]*)\)", without_code(page)):
        if "://" not in target:
            file = (page.parent / target).resolve() if target else page
            if not file.exists() or (anchor and anchor not in anchors(file)):
                yield f"{page.name} links to {target}#{anchor}"


def test_links_lead_somewhere(tmp_path):
    """Relative links of the pages point to files that exist, and to headings that these have."""
    pages = [*PAGES, ROOT / "CHANGELOG.md", *(ROOT / "docs").glob("reference/*.md")]
    assert [link for page in pages for link in broken_links(page)] == []
    page = tmp_path / "page.md"
    page.write_text("# `A` page, of two\n[a](page.md#a-page-of-two) [b](#b) [c](none.md) [d](page.md#d)\n", "utf-8")
    assert len([*broken_links(page)]) == 3


def test_every_page_says_what_it_is_about():
    """Below its title a page begins with a sentence, not with an example or another heading."""
    for page in PAGES:
        title, _, below = page.read_text(encoding="utf-8").partition("\n")
        first = below.lstrip()[0]
        assert title.startswith("# ") and (first.isalpha() or first in "`["), page.name


def test_every_page_is_in_the_index():
    text = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    assert [page.name for page in PAGES[1:] if page.name != "index.md" and f"({page.name})" not in text] == []
