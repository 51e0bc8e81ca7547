"""HTML representations of variables, functions and profiles in a notebook."""

from html.parser import HTMLParser

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.compile.ops import as_op
from aesara.compile.profiling import ProfileStats
from aesara.graph.fg import FunctionGraph
from aesara.printing.html import prose
from aesara.printing.notebook import html_of

HOSTILE = "<script>alert(1)</script>&\"'"


class Page(HTMLParser):
    """Checks that elements are closed in order; keeps tags and text."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.text = [], set(), ""
        assert "<code></code>" not in text and "<pre></pre>" not in text  # grey boxes with nothing inside
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
    assert HOSTILE in page_of(x).text and ": float64[?]" in page_of(x).text
    y = at.exp(x) * 2
    page = page_of(y)
    assert "(exp(" in page.text and "test_notebook.py" in page.text
    assert "Elemwise{mul,no_inplace} [id A]" in page.text and "3 nodes" in page.text
    assert "by Elemwise{mul,no_inplace}" in page.text
    assert "2.5" in page_of(at.constant(2.5)).text
    assert page_of(at.constant(np.arange(1e6)), 2000)


def test_shared_variables_show_their_values():
    text = page_of(aesara.shared(np.arange(6.0).reshape(3, 2), name="w")).text
    assert "w: float64[?, ?], shared, of shape (3, 2), 48 bytes" in text
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
    assert "float64[?]exp(x @ " in page_of(aesara.function([x], y)).text
    page = page_of(FunctionGraph([x], [at.exp(x)], clone=False))
    assert "float64[?, ?]exp(x)" in page.text
    assert "graph" in page.text and "1 node" in page.text


def test_products_and_types_are_written_in_one_way():
    x, w = at.dmatrix("x"), at.dvector("w")
    y = at.exp(at.dot(x, w)) + 1
    f = aesara.function([x, w], y)
    for thing in (y, f, aesara.explain(f), aesara.rewrite_trace(y)):
        for text in (page_of(thing).text, repr(thing)):
            assert "\\dot" not in text and "TensorType" not in text
    assert "(exp((x @ w)) + 1)" in page_of(y).text and "exp(x @ w) + 1" in repr(f)
    for text in (page_of(f).text, page_of(aesara.explain(f)).text, repr(f), repr(aesara.explain(f))):
        assert "float64[?, ?]" in text
    assert aesara.pprint(y) == "(exp((x \\dot w)) + 1)"  # as Aesara 2.9 has it


def test_empty_texts_make_no_box():
    assert page_of(aesara.shared("")).text.endswith("''")
    assert prose("`` and `f(<x>)` or ``g``") == "`` and <code>f(&lt;x&gt;)</code> or <code>g</code>"


@as_op(itypes=[at.dvector], otypes=[at.dvector])
def median(v):
    return v - np.median(v)


def test_explanations():
    x, s = at.dmatrix("x"), aesara.shared(np.zeros(2), name=HOSTILE)
    f = aesara.function([x], median(at.exp(x).sum(axis=1)) * 2, updates={s: s + 1}, name="f")
    explanation = aesara.explain(f)
    page = page_of(explanation, 20_000)
    text = str(explanation).split("\n")
    assert {"table", "th", "code"} <= page.tags and page.text.startswith(text[0] + text[1])
    assert f"{HOSTILE}float64[?]shared, updated in place" in page.text
    assert "why in Python" in page.text and "no native lowering for FromFunctionOp" in page.text
    assert "test_notebook.py:" in page.text
    steps = [line.split(".")[0] for line in text if line[:1].isdigit()]
    assert steps and all(f'<td style="text-align: left">{number}</td>' in explanation._repr_html_() for number in steps)
    page = page_of(aesara.explain(aesara.function([x], at.exp(x), mode="FAST_COMPILE")))
    assert "Python, node by node" in page.text and "exp" in page.text and "`" not in page.text
    y, _ = aesara.scan(lambda row, total: total + row.sum(), x, 0.0)
    page = page_of(aesara.explain(aesara.function([x], y)), 20_000)
    assert "a loop of" in page.text and ".1" in page.text


def test_memory_plans():
    x = at.dmatrix("x")
    f = aesara.function([x], x / x.sum(), name=HOSTILE)
    page = page_of(aesara.memory_plan(f))
    assert "table" in page.tags and page.text.startswith(f"{HOSTILE}: 2 buffers in 2 steps")
    assert "peak: 8 * x.shape[0] * x.shape[1] + 8 bytes" in page.text and "steps 1 to 2slot 0Sum" in page.text
    assert "8,000" in page_of(aesara.memory_plan(f, np.ones((100, 10)))).text


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
