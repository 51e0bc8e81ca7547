"""Pages that show graphs: what is in them, and what they do in a browser."""

import json
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara import d3viz as d3v
from aesara.compile.builders import OpFromGraph
from aesara.compile.profiling import ProfileStats
from aesara.d3viz.drawing import drawing_of
from aesara.d3viz.formatting import (
    PyDotFormatter,
    apply_label,
    apply_profile,
    broadcastable_to_str,
    dict_to_pdnode,
    dtype_to_char,
    type_to_str,
    var_label,
    var_tag,
)

d3viz_module = sys.modules["aesara.d3viz.d3viz"]
HOSTILE = "</script><script>document.title='x'</script>&amp;\"'\\n<!--"
BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None)


class Parts(HTMLParser):
    """Counts elements, and keeps the text of the graph."""

    def __init__(self, text):
        super().__init__()
        self.found, self.addresses, self.graph, self._inside = [], [], None, False
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.found.append(tag)
        self.addresses += [value for name, value in attributes if name in ("src", "href")]
        self._inside = dict(attributes).get("id") == "graph"

    def handle_data(self, data):
        if self._inside:
            self.graph, self._inside = json.loads(data), False


def page_of(fct, path, **kwargs):
    d3v.d3viz(fct, path, **kwargs)
    return Parts(path.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def function():
    """A function with updates, graphs inside of nodes, names that are no names, and a profile."""
    x, a = at.dmatrix("x"), at.dvector("a")
    w = aesara.shared(np.full((3, 3), 0.1), name=HOSTILE)
    inside = OpFromGraph([a], [at.exp(a) + at.log1p(a)], name="inside<b>")
    h = at.tanh(x @ w)
    last = aesara.scan(lambda q, p: at.cos(p * q), sequences=inside(h.sum(0) ** 2), outputs_info=x[0, 0])[0][-1]
    profile = ProfileStats(atexit_print=False)
    f = aesara.function([x], [last, (h**2).sum()], updates={w: w - 0.1 * h[:3].T}, name="train<&>", profile=profile)
    for _ in range(3):
        f(np.ones((3, 3)))
    return f


class TestPage:
    def test_holds_the_whole_graph_and_nothing_else(self, function, tmp_path):
        page = page_of(function, tmp_path / "new folder" / "graph.html")
        assert [path.name for path in (tmp_path / "new folder").iterdir()] == ["graph.html"]
        assert page.addresses == [] and page.found.count("script") == 3
        nodes = page.graph["graph"]["nodes"]
        operations = [node for node in nodes if node["kind"] == "op"]
        graph = function.maker.fgraph
        assert len(operations) == len(graph.apply_nodes)
        assert [node["label"] for node in nodes if node["kind"] == "shared"] == [HOSTILE]
        assert [node["label"] for node in nodes if node["kind"] == "output"] == [
            "result 0", "result 1", f"new value of {HOSTILE}",
        ]  # fmt: skip
        ids = {node["id"] for node in nodes}
        assert len(ids) == len(nodes)
        assert all(edge["from"] in ids and edge["to"] in ids for edge in page.graph["graph"]["edges"])
        arriving = [edge["to"] for edge in page.graph["graph"]["edges"]]
        boxes = {box.node: box.id for box in drawing_of(function).boxes if box.node is not None}
        for node in graph.apply_nodes:
            assert arriving.count(boxes[node]) == len(node.inputs)

    def test_says_what_is_known_of_a_node(self, function, tmp_path):
        page = page_of(function, tmp_path / "graph.html")
        operations = [node for node in page.graph["graph"]["nodes"] if node["kind"] == "op"]
        tanh = next(node for node in operations if node["label"] == "tanh")
        rows = dict(map(tuple, tanh["rows"]))
        assert rows["result"] == "float64[?, ?]" and rows["class"] == "Elemwise"
        assert "test_d3viz.py" in rows["line"] and "h = at.tanh(x @ w)" in rows["line"]
        assert tanh["calls"] == 3 and tanh["seconds"] > 0
        assert page.graph["steps"][tanh["step"]].startswith("loops over")

    def test_graphs_inside(self, function, tmp_path):
        page = page_of(function, tmp_path / "graph.html")
        nodes = page.graph["graph"]["nodes"]
        inner = {node["label"]: node["inner"] for node in nodes if "inner" in node}
        scan = next(graph for label, graph in inner.items() if label.startswith("for{"))
        assert "cos" in [node["label"] for node in scan["nodes"]]
        names = {node["id"] for node in nodes}
        assert any(node.get("outer") in names for node in scan["nodes"] if node["kind"] == "input")

    def test_graphs_that_are_not_compiled(self, tmp_path):
        x, y = at.dvector("x"), at.dvector("y")
        z = at.exp(x + y)
        page = page_of([z, z.sum()], tmp_path / "a.html")
        kinds = [node["kind"] for node in page.graph["graph"]["nodes"]]
        assert sorted(kinds) == ["input", "input", "op", "op", "op", "output", "output"]
        page = page_of(z.owner, tmp_path / "b.html", compact=False)
        assert [node["kind"] for node in page.graph["graph"]["nodes"]].count("variable") == 2
        assert page_of(x, tmp_path / "c.html").graph["graph"]["edges"] != []
        assert page_of(aesara.function([], []), tmp_path / "d.html").graph["graph"] == {"nodes": [], "edges": []}
        with pytest.raises(TypeError, match="drawn"):
            d3v.d3viz(3, tmp_path / "e.html")

    def test_what_is_overwritten_and_what_is_shared(self, tmp_path):
        x = at.dmatrix("x")
        f = aesara.function([x], at.tanh(at.dot(x, x)).T, mode=aesara.compile.mode.Mode("py", "fast_run"))
        edges = page_of(f, tmp_path / "graph.html").graph["graph"]["edges"]
        effects = [edge["effect"] for edge in edges if "effect" in edge]
        maps = [node.op.destroy_map or {} for node in f.maker.fgraph.apply_nodes]
        views = [node.op.view_map or {} for node in f.maker.fgraph.apply_nodes]
        assert effects.count("destroy") == sum(len(one) for one in maps) > 0
        assert effects.count("view") == sum(len(one) for one in views) > 0

    def test_python_nodes_are_marked(self, tmp_path):
        @aesara.compile.ops.as_op([at.dvector], [at.dvector])
        def twice(values):
            return 2 * values

        x = at.dvector("x")
        page = page_of(aesara.function([x], twice(at.exp(x))), tmp_path / "graph.html")
        marked = [node["label"] for node in page.graph["graph"]["nodes"] if node.get("python")]
        assert len(marked) == 1 and "twice" in marked[0]

    def test_deep_and_large_graphs(self, tmp_path):
        y = at.dscalar("x")
        for _ in range(3000):
            y = at.sin(y)
        page = page_of(y, tmp_path / "graph.html")
        assert len(page.graph["graph"]["nodes"]) == 3002


# What a user does, and what is then to be seen; the results are read from the page's own elements.
ACTIONS = """
const seen = {};
const all = (selector) => [...document.querySelectorAll(selector)];
const press = (target, type, more) => target.dispatchEvent(new MouseEvent(type, { bubbles: true, ...more }));
const stage = document.getElementById("stage");
seen.title = document.title;
seen.boxes = all(".node").length;
seen.edges = all(".edge").length;
seen.labels = all(".node > text").map((one) => one.textContent);
const sizes = all(".node > rect").map((one) => one.getBBox());
seen.overlaps = sizes.filter((a, i) => sizes.some((b, j) => j > i && a.x < b.x + b.width && b.x < a.x + a.width
  && a.y < b.y + b.height && b.y < a.y + a.height)).length;
const top = (id) => document.querySelector(`[data-id="${id}"] > rect`).getBBox().y;
seen.upwards = all(".edge").filter((e) => top(e.dataset.from) >= top(e.dataset.to)).length;
press(document.querySelector(".toggle"), "click");
seen.opened = all(".node").length;
press(document.querySelector(".toggle"), "click");
seen.closed = all(".node").length;
press(document.getElementById("expand"), "click");
seen.expanded = all(".node").length;
press(document.getElementById("collapse"), "click");
const search = document.getElementById("search");
search.value = "cos";
search.dispatchEvent(new Event("input"));
seen.hits = all("#results button").map((one) => one.textContent);
press(document.querySelector("#results button"), "click");
seen.selected = all(".node.selected > text").map((one) => one.textContent);
seen.details = document.getElementById("details").textContent;
const colour = document.getElementById("colour");
seen.colours = [...colour.options].map((one) => one.value);
colour.value = "time";
colour.dispatchEvent(new Event("change"));
seen.coloured = all(".node.coloured").length;
const before = stage.getAttribute("transform");
document.getElementById("canvas").dispatchEvent(new WheelEvent("wheel", { deltaY: -200, clientX: 300, clientY: 300 }));
seen.zoomed = stage.getAttribute("transform") !== before;
const at = stage.getAttribute("transform");
for (const [type, x] of [["pointerdown", 100], ["pointermove", 160], ["pointerup", 160]]) {
  document.getElementById("canvas").dispatchEvent(
    new PointerEvent(type, { pointerId: 1, clientX: x, clientY: 100, bubbles: true }));
}
const shift = (text) => Number(text.match(/translate\\(([-0-9.e]+)/)[1]);
seen.moved = shift(stage.getAttribute("transform")) - shift(at);
press(document.querySelector(".node"), "pointerover");
seen.tip = document.getElementById("tip").textContent;
"""


def in_browser(page, actions, tmp_path):
    """Run a script at the end of a page; returns what it has put into `seen`."""
    report = "document.body.append(Object.assign(document.createElement('pre'), {id: 'seen'}));"
    report += "document.getElementById('seen').textContent = encodeURIComponent(JSON.stringify(seen));"
    text = page.read_text(encoding="utf-8").replace("</body>", f"<script>{{ {actions}\n{report} }}</script></body>")
    copy = tmp_path / "copy.html"
    copy.write_text(text, encoding="utf-8")
    found = subprocess.run(
        [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'user'}",
         "--window-size=1200,800", "--dump-dom", copy.as_uri()],
        capture_output=True, text=True, timeout=100,
    )  # fmt: skip
    report = re.search(r'<pre id="seen">([^<]*)</pre>', found.stdout)
    assert report, found.stdout[-500:] + found.stderr[-2000:]
    return json.loads(re.sub("%([0-9A-F]{2})", lambda m: chr(int(m[1], 16)), report[1]).encode("latin-1").decode())


@pytest.mark.skipif(BROWSER is None, reason="needs the browser Chromium")
class TestInBrowser:
    def test_what_a_user_does(self, function, tmp_path):
        page = page_of(function, tmp_path / "graph.html")
        nodes, edges = page.graph["graph"]["nodes"], page.graph["graph"]["edges"]
        seen = in_browser(tmp_path / "graph.html", ACTIONS, tmp_path)
        assert seen["title"] == "train<&>"
        assert seen["boxes"] == len(nodes) and seen["edges"] == len(edges)
        assert sum(label.startswith("</script>") for label in seen["labels"]) == 1
        assert seen["overlaps"] == 0 and seen["upwards"] == 0
        first = next(node for node in nodes if "inner" in node)
        assert seen["opened"] == len(nodes) + len(first["inner"]["nodes"]) and seen["closed"] == len(nodes)
        assert seen["expanded"] == len(nodes) + sum(len(node["inner"]["nodes"]) for node in nodes if "inner" in node)
        assert "cos" in seen["hits"] and len(seen["selected"]) == 1
        assert "test_d3viz.py" in seen["details"] or "TensorType" in seen["details"]
        assert seen["colours"] == ["kind", "time", "step"]
        assert seen["coloured"] == sum("seconds" in node for node in nodes)
        assert seen["zoomed"] and seen["moved"] == pytest.approx(60, abs=1e-3)
        assert "type" in seen["tip"] or "op" in seen["tip"]

    @pytest.mark.parametrize("shape", ["tall", "wide", "small"])
    def test_what_is_seen_first(self, shape, tmp_path):
        x, y = at.dmatrix("x"), at.dscalar("y")
        tall, small = x, at.exp(x)
        for k in range(30):
            tall = at.tanh(tall @ x + k)
        results = {"tall": tall.sum(), "wide": at.add(*[at.exp(x[k]).sum() for k in range(30)]) + y, "small": small}
        d3v.d3viz(results[shape], tmp_path / "graph.html")
        actions = """
            const seen = { views: [] };
            const main = document.querySelector("main");
            const look = () => {
              const canvas = document.getElementById("canvas").getBoundingClientRect();
              const boxes = [...document.querySelectorAll(".node > rect")].map((one) => one.getBoundingClientRect());
              const result = document.querySelector(".node.output > rect").getBoundingClientRect();
              const legend = document.getElementById("legend").getBoundingClientRect();
              const whole = boxes.every((one) => one.top >= canvas.top && one.bottom <= canvas.bottom);
              seen.views.push({
                height: canvas.height, whole,
                above: Math.min(...boxes.map((one) => one.top)) - canvas.top, below: canvas.bottom - result.bottom,
                free: legend.top - result.bottom, left: result.left - canvas.left, right: canvas.right - result.right,
              });
            };
            const resize = (height) => {
              main.style.flex = `0 0 ${height}px`;
              window.dispatchEvent(new Event("resize"));
            };
            look();
            resize(350);
            look();
            document.getElementById("closer").click();
            const chosen = document.getElementById("stage").getAttribute("transform");
            resize(450);
            seen.kept = chosen === document.getElementById("stage").getAttribute("transform");
        """
        seen = in_browser(tmp_path / "graph.html", actions, tmp_path)
        first, second = seen["views"]
        assert second["height"] == 350 < first["height"]
        for one in (first, second):
            # The result is there, clear of the legend; what is above begins at the top, or is all there is.
            assert one["free"] >= 0 and min(one["left"], one["right"]) > 0
            assert one["below"] < 100 if not one["whole"] else one["above"] < one["height"] / 2
            assert one["whole"] or one["above"] < 0
        assert first["whole"] == (shape != "tall")
        assert seen["kept"]

    def test_legend(self, function, tmp_path):
        actions = """
            const spots = () => [...document.querySelectorAll("#legend span")].map((one) =>
              [one.textContent, one.firstChild.className, getComputedStyle(one.firstChild).backgroundColor]);
            const seen = { kinds: spots() };
            const colour = (element, name) => getComputedStyle(element)[name];
            seen.line = colour(document.querySelector(".edge.destroy"), "stroke");
            seen.box = colour(document.querySelector(".node.variable > rect"), "fill");
        """
        x, y = at.dvector("x"), at.dvector("y")
        z = at.exp(x) + y
        z.name = "z"
        w = aesara.shared(np.ones(3), name="w")
        f = aesara.function([x, y], [at.log(z)[1:], at.tanh(z) @ w], updates={w: w + x}, mode="FAST_RUN")
        d3v.d3viz(f, tmp_path / "graph.html")
        kinds = {one["kind"] for one in page_of(f, tmp_path / "graph.html").graph["graph"]["nodes"]}
        seen = in_browser(tmp_path / "graph.html", actions, tmp_path)
        words = {"input": "input", "shared": "shared variable", "constant": "constant", "output": "result",
                 "op": "operation", "variable": "intermediate result"}  # fmt: skip
        assert {text for text, shape, _ in seen["kinds"] if shape == "box"} == {words[kind] for kind in kinds}
        colours = {text: colour for text, _, colour in seen["kinds"]}
        assert colours["is overwritten"] == seen["line"]
        assert [shape for text, shape, _ in seen["kinds"] if text in ("is overwritten", "shares its memory")] == [
            "line", "line",
        ]  # fmt: skip

    def test_large_graphs_are_shown_in_part(self, tmp_path):
        y = at.dscalar("x")
        for k in range(3000):
            y = at.sin(y) if k else at.cosh(y)
        d3v.d3viz(y, tmp_path / "graph.html")
        actions = """
            const seen = { boxes: document.querySelectorAll(".node").length };
            seen.notice = document.getElementById("notice").textContent;
            const search = document.getElementById("search");
            search.value = "cosh";
            search.dispatchEvent(new Event("input"));
            document.querySelector("#results button").click();
            seen.labels = [...document.querySelectorAll(".node > text")].map((one) => one.textContent);
            document.getElementById("whole").click();
            seen.again = [...document.querySelectorAll(".node > text")].map((one) => one.textContent);
        """
        seen = in_browser(tmp_path / "graph.html", actions, tmp_path)
        assert seen["boxes"] == 800 and "of 3002" in seen["notice"]
        assert "cosh" in seen["labels"] and "cosh" not in seen["again"] and "result 0" in seen["again"]


class TestTexts:
    def test_safe_json(self):
        text = d3viz_module.safe_json({HOSTILE: [1, None, "é\u2028"]})
        assert json.loads(text) == {HOSTILE: [1, None, "é\u2028"]}
        assert not set("<>&\u2028") & set(text)

    def test_replace_patterns(self):
        assert d3viz_module.replace_patterns("%a% %b%", {"%a%": r"\1 %b%", "%b%": 3}) == r"\1 %b% 3"
        assert d3viz_module.replace_patterns("text", {}) == "text"

    @pytest.mark.parametrize("pattern, text", [
        ((), "scalar"), ((False,), "vector"), ((False, True), "col"), ((True, False), "row"),
        ((False, False), "matrix"), ((True,), ""), ((False,) * 3, ""),
    ])  # fmt: skip
    def test_broadcastable_to_str(self, pattern, text):
        assert broadcastable_to_str(pattern) == text

    def test_labels(self):
        x = at.dmatrix("x")
        assert [dtype_to_char(t) for t in ("float32", "int8", "complex64", "uint8", "")] == ["f", "b", "c", "X", "X"]
        assert [type_to_str(t) for t in (x.type, at.fcol().type, at.type_other.none_type_t)] == [
            "dmatrix", "fcol", "NoneTypeT",
        ]  # fmt: skip
        assert [var_label(v) for v in (x, at.ivector(), x + 1)] == ["x", "ivector", "dmatrix"]
        assert var_label(at.constant([1.23456, 2.0]), precision=1) == "[1.2 2. ]"
        assert len(var_label(at.constant(np.arange(10000.0)))) < 100
        assert var_label(at.type_other.SliceConstant(at.type_other.slicetype, slice(1, 2))) == "slice(1, 2, None)"
        assert apply_label(x.sum().owner) == "Sum"
        assert var_tag(x) is None
        z = x + 1  # here
        file, line, code = var_tag(z)
        assert file == __file__ and code.endswith("# here") and line > 0

    def test_apply_profile(self, function):
        graph = function.maker.fgraph
        node = graph.toposort()[-1]
        own, total = apply_profile(graph, node, function.profile)
        assert 0 <= own <= total == function.profile.fct_call_time
        assert apply_profile(graph, node, None) is None
        assert apply_profile(graph, node, ProfileStats(atexit_print=False)) is None


class FakePydot:
    """Stands for pydot: writes text."""

    class Node:
        def __init__(self, name, **attributes):
            self.name, self.attributes = name, attributes

    class Edge:
        def __init__(self, source, target, **attributes):
            self.source, self.target, self.attributes = source, target, attributes

    class Dot:
        def __init__(self, *args, **kwargs):
            self.nodes, self.edges, self.inside = [], [], []
            self.add_node, self.add_edge, self.add_subgraph = self.nodes.append, self.edges.append, self.inside.append

        def to_string(self):
            return "\n".join(node.attributes["label"] for node in self.nodes)

    Cluster = Dot


class TestForGraphviz:
    @pytest.fixture
    def pydot(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "pydot", FakePydot)

    def test_missing_package(self, monkeypatch, tmp_path):
        monkeypatch.setitem(sys.modules, "pydot", None)
        monkeypatch.setitem(sys.modules, "pydot_ng", None)
        for call in (PyDotFormatter, lambda: d3v.d3write(at.dscalar(), tmp_path / "g.dot")):
            with pytest.raises(ImportError, match="PyDotFormatter needs pydot"):
                call()

    def test_nodes_and_edges(self, function, pydot):
        graph = PyDotFormatter()(function)
        kinds = [node.attributes["node_type"] for node in graph.nodes]
        assert kinds.count("apply") == len(function.maker.fgraph.apply_nodes)
        assert kinds.count("shared_input") == 1 and kinds.count("output") == 3
        assert all(len(n.attributes["profile"].split("\t")) == 2 for n in graph.nodes if "apply_op" in n.attributes)
        assert len(graph.inside) >= 1
        shared = next(node for node in graph.nodes if node.attributes["node_type"] == "shared_input")
        assert shared.attributes["label"].count('\\"') == 1 and shared.attributes["fillcolor"] == "YellowGreen"

    def test_compact_and_given_graph(self, pydot):
        x = at.dvector("x")
        graph = FakePydot.Dot()
        formatter = PyDotFormatter(compact=False)
        formatter.apply_colors["Sum"] = "pink"
        assert formatter([at.exp(x).sum()], graph) is graph
        assert [node.attributes["node_type"] for node in graph.nodes].count("variable") == 2
        assert "pink" in [node.attributes.get("fillcolor") for node in graph.nodes]

    def test_node_of_dict(self, pydot):
        node = dict_to_pdnode({"name": "n", "label": 3, "trace": [1, "a"], "nothing": None})
        assert node.name == "n" and node.attributes == {"label": "3", "trace": "1\ta"}

    def test_file(self, pydot, tmp_path):
        d3v.d3write(at.exp(at.dvector("x")), tmp_path / "graph.dot", compact=True)
        assert sorted((tmp_path / "graph.dot").read_text().split("\n")) == ['"exp"', '"result 0"', '"x"']
