"""How variables, functions and profiles look in a notebook."""

from html.parser import HTMLParser

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.compile.profiling import ProfileStats
from aesara.graph.fg import FunctionGraph
from aesara.printing.notebook import html_of

HOSTILE = "<script>alert(1)</script>&\"'"


class Page(HTMLParser):
    """Checks that elements are closed in order; keeps tags and text."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.text = [], set(), ""
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def page_of(thing, longest=10_000):
    text = thing._repr_html_()
    assert len(text) < longest
    page = Page(text)
    assert "script" not in page.tags
    return page


def test_variables():
    x = at.dvector(HOSTILE)
    assert HOSTILE in page_of(x).text and "TensorType(float64" in page_of(x).text
    y = at.exp(x) * 2
    page = page_of(y)
    assert "(exp(" in page.text and "test_notebook.py" in page.text
    assert "Elemwise{mul,no_inplace} [id A]" in page.text and "3 nodes" in page.text
    assert "by Elemwise{mul,no_inplace}" in page.text
    assert "2.5" in page_of(at.constant(2.5)).text
    assert page_of(at.constant(np.arange(1e6)), 2000)


def test_shared_variables_show_their_values():
    text = page_of(aesara.shared(np.arange(6.0).reshape(3, 2), name="w")).text
    assert "w: TensorType(float64, (?, ?)), shared, of shape (3, 2), 48 bytes" in text
    assert "[[0. 1.]\n [2. 3.]\n [4. 5.]]" in text
    text = page_of(aesara.shared(np.arange(1e6), name="w"), 500).text
    assert "8,000,000 bytes" in text and "[0.00000e+00 1.00000e+00 ... 9.99998e+05 9.99999e+05]" in text
    assert HOSTILE in page_of(aesara.shared(HOSTILE)).text


def test_functions_and_graphs():
    x, w = at.dmatrix("x"), aesara.shared(np.ones(3), name=HOSTILE)
    f = aesara.function([x], at.tanh(x @ w), updates={w: w + x.sum()}, name=HOSTILE)
    page = page_of(f)
    assert "native code" in page.text and f"new value of {HOSTILE}" in page.text
    assert page.text.count("result") == 1 and "table" in page.tags
    assert "compiled in" in page.text and page.text.count("shared") == 1
    assert "node by node" in page_of(aesara.function([x], at.exp(x), mode="FAST_COMPILE")).text
    y = at.exp(x @ w) + 2  # keeps the formula
    assert "TensorType(float64, (?,))exp(x @ " in page_of(aesara.function([x], y)).text
    page = page_of(FunctionGraph([x], [at.exp(x)], clone=False))
    assert "(?, ?))exp(x)" in page.text
    assert "graph" in page.text and "1 node" in page.text


def test_large_things_stay_small():
    y = at.dscalar("x")
    for _ in range(3000):
        y = at.sin(y) + y
    page = page_of(y)
    assert "more than 200 nodes" in page.text and page.text.endswith("…")
    inputs = [at.dscalar(f"x{k}") for k in range(100)]
    page = page_of(aesara.function(inputs, sum(inputs), mode="FAST_COMPILE"), 20_000)
    assert "and 81 more" in page.text


@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE"])
def test_profiles(mode):
    x = at.dvector("x")
    profile = ProfileStats(atexit_print=False, message=HOSTILE)
    f = aesara.function([x], at.exp(x).sum(), mode=mode, profile=profile)
    assert "0 calls" in page_of(profile).text
    f([1.0]), f([2.0])
    page = page_of(profile)
    assert HOSTILE in page.text and "2 calls" in page.text and "test_notebook.py" in page.text
    assert "exp" in page.text and "table" in page.tags
    shares = [float(part.rsplit("s", 1)[-1]) for part in page.text.split("%")[:-1]]
    assert sum(shares) == pytest.approx(100, abs=1)


def test_things_that_are_none_of_these():
    assert html_of("<b>") == "<code>'&lt;b&gt;'</code>"
