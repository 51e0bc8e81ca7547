"""`explain`, and what else says that something runs in Python."""

import io
import warnings

import numpy as np
import pytest

import aesara
import aesara.tensor as at
import tests.optable.rows  # noqa: F401
from aesara import sparse, typed_list
from aesara.compile import FunctionMaker
from aesara.compile.mode import Mode
from aesara.errors import NativeFallbackError, NativeFallbackWarning
from aesara.graph.basic import Apply
from aesara.graph.op import Op
from aesara.graph.traversal import explicit_graph_inputs
from aesara.graph.type import Type
from aesara.ifelse import ifelse
from aesara.ir.text import print_program
from aesara.link.c.basic import CLinker
from aesara.lower.dispatch import lower_graph, lower_op
from aesara.lower.errors import Unsupported
from aesara.lower.placement import place_nodes
from aesara.scan import until
from aesara.subgraph import OpFromGraph
from tests.optable.running import variable_of
from tests.optable.table import ROWS


class Reverse(Op):
    """An op without native form."""

    __props__ = ()

    def make_node(self, x):
        x = at.as_tensor_variable(x)
        return Apply(self, [x], [x.type()])

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = inputs[0][::-1].copy()


class Because(Reverse):
    """An op whose lowering gives a reason for there being none."""

    __props__ = ("why",)

    def __init__(self, why):
        self.why = why


@lower_op.register
def _because(op: Because, node, context):
    raise Unsupported(op.why)


class Text(Type):
    """A type that native code does not know."""

    def filter(self, value, strict=False, allow_downcast=None):
        return str(value)

    def __eq__(self, other):
        return type(self) is type(other)

    def __hash__(self):
        return hash(type(self))


class Length(Op):
    __props__ = ()

    def make_node(self, text):
        return Apply(self, [text], [at.lscalar()])

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = np.asarray(len(inputs[0]))


reverse = Reverse()
x = at.dvector("x")
m = at.dmatrix("m")


def ops(nodes):
    return [str(one.node.op) for one in nodes]


def in_steps(explanation):
    return [(step.kind, ops(step.nodes)) for step in explanation.steps]


def test_fused_nodes_stand_together():
    f = aesara.function([x], (at.exp(x) + 1).sum())
    found = aesara.explain(f)
    assert found.fallback is None and found.python == []
    (step,) = found.steps
    assert step.kind == "nest" and step.space == "x.shape[0]"
    assert ops(step.nodes) == ["Elemwise{exp,no_inplace}", "Elemwise{Add}[(0, 1)]", "Sum{acc_dtype=float64}"]
    assert found.native == list(step.nodes)


@pytest.mark.parametrize("length", [59, 60, 61, 150])
def test_no_text_of_an_operation_is_longer_than_sixty_characters(length):
    class Named(Reverse):
        def __str__(self):
            return "n" * length

    (line,) = map(str, aesara.explain(aesara.function([x], Named()(x))).python)
    shown = "n" * length if length <= 60 else "n" * 57 + "..."
    assert line.startswith(f"{shown}: no native lowering for Named")


def test_sizes_of_more_than_twice_as_many_characters_are_not_shown():
    spaces = []
    for length in (105, 106):
        long = at.dvector("n" * length)
        (step,) = aesara.explain(aesara.function([long], at.zeros(long.shape[0] + 1))).steps
        spaces.append(step.space)
    assert spaces == [f"{'n' * 105}.shape[0] + 1", "?"]


def test_python_nodes_have_reason_and_line():
    f = aesara.function([x], reverse(at.exp(x)) + 1)
    line = f.maker.fgraph.outputs[0].owner.source.lineno
    found = aesara.explain(f)
    assert in_steps(found) == [
        ("nest", ["Elemwise{exp,no_inplace}"]),
        ("python", ["Reverse"]),
        ("nest", ["Elemwise{Add}[(0, 1)]"]),
    ]
    (node,) = found.python
    assert node.reason == "no native lowering for Reverse"
    assert node.source.filename == __file__ and node.source.lineno == line
    assert "1 call of Python" in str(found)
    assert f"Reverse: no native lowering for Reverse  {__file__}:{line}" in str(found)


def test_products_take_what_they_read_in_place():
    y = at.dmatrix("y")
    found = aesara.explain(aesara.function([m, y], at.exp(m.T @ y)))
    assert [step.kind for step in found.steps] == ["product", "nest"]
    assert [type(one.node.op).__name__ for one in found.steps[0].nodes] == ["DimShuffle", "Dot22"]
    assert found.steps[0].space == "m.shape[1] x y.shape[1]"


def test_complex_numbers():
    z = at.zvector("z")
    found = aesara.explain(aesara.function([z], (reverse(z) * z).real))
    assert in_steps(found) == [
        ("python", ["Reverse"]),
        ("nest", ["Elemwise{Mul}[(0, 0)]", "Elemwise{real,no_inplace}"]),
    ]


def test_steps_of_a_loop():
    states, _ = aesara.scan(lambda new, state: at.tanh(state * new), sequences=[x], outputs_info=[at.zeros(())])
    found = aesara.explain(aesara.function([x], at.exp(states)))
    (loop,) = [step for step in found.steps if step.kind == "loop"]
    assert loop.space == "x.shape[0]"
    assert [in_nest for step in loop.steps for in_nest in ops(step.nodes)] == [
        "Elemwise{mul,no_inplace}",
        "Elemwise{tanh,no_inplace}",
    ]
    assert "a loop of x.shape[0] steps, in each of which" in str(found)
    assert "1 loop of steps" in str(found)


def test_sides_of_a_choice():
    y = at.dvector("y")
    found = aesara.explain(aesara.function([x, y], ifelse(x.sum() > y.sum(), at.exp(x) * 2, y * 3)))
    assert found.python == []
    sides = [step for step in found.steps if step.kind == "choice"]
    assert [ops(one.nodes) for side in sides for one in side.steps] == [
        ["Elemwise{exp,no_inplace}", "Elemwise{Mul}[(0, 1)]"],
        ["Elemwise{mul,no_inplace}"],
    ]
    assert "2 sides of choices" in str(found)


def test_nodes_that_leave_nothing():
    found = aesara.explain(aesara.function([x, m], at.zeros((x.shape[0], m.shape[1] + 1))))
    assert {type(one.node.op).__name__ for one in found.without_code} >= {"Shape_i", "Elemwise"}
    assert found.steps[0].space == "x.shape[0] x (m.shape[1] + 1)"
    assert "no code of their own" in str(found)


#: what a summary counts behind the loop nests
SUMMARIES = {
    "nothing in Python": lambda: x + 1,
    "1 matrix product, nothing in Python": lambda: at.tanh(m @ m),
    "2 matrix products, nothing in Python": lambda: [m @ m, m.T @ m],
    "1 library routine, nothing in Python": lambda: at.linalg.cholesky(m),
    "1 matrix product, 2 library routines, nothing in Python": lambda: [at.linalg.cholesky(m @ m), at.sort(x)],
    "1 call of Python (no native lowering for Reverse)": lambda: Reverse()(x),
    "2 calls of Python (no native lowering for Reverse)": lambda: [Reverse()(x), Reverse()(x[1:])],
    "3 calls of Python (a; b; c)": lambda: [Because(why)(x) for why in "abc"],
    "4 calls of Python (a; b; c; and 1 more)": lambda: [Because(why)(x) for why in "abcd"],
}


@pytest.mark.parametrize("summary", SUMMARIES)
def test_what_is_counted(summary):
    found = aesara.explain(aesara.function([x, m], SUMMARIES[summary](), on_unused_input="ignore", name="f"))
    nests = sum(step.kind == "nest" for step in found.steps)
    word = "loop nest" if nests == 1 else "loop nests"
    assert str(found).splitlines()[0] == f"f: native code, {nests} {word}, {summary}"


def test_updates_in_place_or_not():
    w = aesara.shared(np.zeros(3), name="w")
    v = aesara.shared(np.zeros(3), name="v")
    f = aesara.function([x], updates=[(w, w + x), (v, v[::-1] + x)], name="step")
    found = aesara.explain(f)
    notes = {value.name: value.notes for value in found.inputs}
    assert notes == {"x": (), "w": ("shared", "updated in place"), "v": ("shared", "updated by a new array")}
    assert str(found).startswith("step: native code, ")


def test_parts_written_over_in_place():
    table = aesara.shared(np.zeros((5, 3)), name="table")
    update = at.inc_subtensor(table[at.argsort(x)], 1.0)
    for outputs, notes in (([], ()), ([table], ("copied",))):
        f = aesara.function([x], outputs, updates=[(table, update)])
        assert aesara.explain(f).inputs[1].notes == ("shared", "updated in place", *notes)


def test_copies_of_inputs():
    f = aesara.function([x, m], [at.set_subtensor(x[:2], 0), m + 1])
    assert [value.notes for value in aesara.explain(f).inputs] == [("copied",), ()]


COPIES = {
    "a matrix": (lambda m: m, True),
    "its product with one": (lambda m: 1 * m, True),
    "another shape": (lambda m: m.reshape((-1, 2)), True),
    "all in a row": (lambda m: m.flatten(), True),
    "some entries set": (lambda m: at.set_subtensor(m[[0, 0]], 1.0), True),
    "a row set": (lambda m: at.set_subtensor(m[1:], 1.0), True),
    "some entries increased": (lambda m: at.inc_subtensor(m[0, 0], 1.0), True),
    "the inverse": (lambda m: at.linalg.inv(m), True),
    "the transpose": (lambda m: m.T, False),
    "reversed": (lambda m: m[::-1], False),
    "without a row": (lambda m: m[1:], False),
    "some rows": (lambda m: m[[0, 0]], False),
    "every other": (lambda m: m[::2], False),
    "the diagonal": (lambda m: at.diagonal(m), False),
    "more of them": (lambda m: at.tile(m, (2, 1)), False),
    "one for each": (lambda m: at.broadcast_to(m, (3, *m.shape)), False),
    "joined": (lambda m: at.concatenate([m, m]), False),
    "sorted": (lambda m: at.sort(m, axis=0), False),
    "its negative": (lambda m: -m, False),
    "another dtype": (lambda m: m.astype("float32"), False),
    "the sum": (lambda m: m.sum(), False),
}


@pytest.mark.parametrize("name", COPIES)
def test_which_inputs_are_copied_element_by_element(name):
    build, is_copy = COPIES[name]
    f = aesara.function([m], build(m))
    assert [value.notes for value in aesara.explain(f).inputs] == [("copied",) if is_copy else ()]


def test_known_lengths():
    y = at.tensor("float32", shape=(3, None), name="y")
    found = aesara.explain(aesara.function([y], {"sums": y.sum(axis=1), "twice": y * 2}))
    assert [str(value) for value in found.inputs] == ["y: float32[3, ?]"]
    assert [str(value) for value in found.results] == ["sums: float32[3]", "twice: float32[3, ?]"]


def test_stages_and_cache():
    with aesara.config.change_flags(native_cache=False):
        found = aesara.explain(aesara.function([x], at.exp(x) * 1.25))
    assert list(found.seconds) == ["rewrite", "lower", "emit", "build"]
    assert all(seconds > 0 for seconds in found.seconds.values())
    assert found.cached is False
    assert "compiled in " in str(found)


@pytest.mark.parametrize("mode", ["FAST_COMPILE", Mode(linker="py")])
def test_the_mode_wants_python(mode):
    found = aesara.explain(aesara.function([x], at.exp(x), mode=mode))
    assert "the mode" in found.fallback
    assert ops(found.python) == ["Elemwise{exp,no_inplace}"] and found.native == []
    assert found.cached is None


def test_a_graph_that_another_compiler_has_compiled():
    class Whole(CLinker):
        pass

    f = aesara.function([x], at.exp(x).sum(), mode=Mode(linker=Whole()), name="f")
    found = aesara.explain(f)
    assert found.fallback is None and found.python == [] and len(found.native) == 2
    assert str(found).startswith("f: compiled by Whole\n")
    assert "1. the whole graph, compiled by Whole\n" in str(found)
    assert repr(f).endswith("; compiled by Whole>") or "; compiled by Whole, compiled in" in repr(f)
    assert "Python" not in aesara.dprint(f, file="str", print_native=True)
    with pytest.raises(ValueError, match="f has no memory plan: it is not native code, but compiled by Whole"):
        aesara.memory_plan(f)


def test_a_function_that_cannot_be_native_says_why():
    text = Text()("text")
    f = aesara.function([text], Length()(text) + 1)
    assert f("abc") == 4
    found = aesara.explain(f)
    assert found.fallback == "an input of type Text"
    assert "Python, node by node: an input of type Text" in str(found)
    assert ops(found.python) == ["Length", "Elemwise{Add}[(0, 1)]"]


@pytest.mark.parametrize("count", [1, 2, 3])
def test_equal_lines_are_counted(count):
    y = x
    for _ in range(count):
        y = at.sin(y) * 1.5
    mode = aesara.compile.get_default_mode().excluding("inplace")
    text = str(aesara.explain(aesara.function([x], y, mode=mode)))
    assert text.count("Elemwise{sin,no_inplace}") == 1
    assert text.count(f"({count} times)") == (2 if count > 1 else 0) and text.count("times)") == 2 * (count > 1)


def test_prints_to_a_file():
    file = io.StringIO()
    found = aesara.explain(aesara.function([x], x + 1, name="f"), file=file)
    assert file.getvalue() == f"{found}\n"
    assert repr(found) == str(found)


def test_explains_functions_only():
    with pytest.raises(TypeError, match="explain takes a compiled function, got x of type TensorVariable"):
        aesara.explain(x)


def test_explained_again_after_pickle_and_copy():
    w = aesara.shared(np.zeros(3), name="w")
    f = aesara.function([x], reverse(x) + w, updates=[(w, w + 1)])
    for g in (f, f.copy(), f.copy(delete_updates=True)):
        assert ops(aesara.explain(g).python) == ["Reverse"]


def test_every_node_is_somewhere():
    w = aesara.shared(np.ones((4, 2)), name="w")
    cost = (at.special.softmax(m @ w, axis=1)[:, 0] * at.sort(x)).sum() + reverse(x)[x.argmax()]
    f = aesara.function(
        [m, x], [cost, m.shape[0] + 1], updates=[(w, w - aesara.grad(cost - reverse(x)[x.argmax()], w))]
    )
    found = aesara.explain(f)
    explained = {one.node for one in (*found.native, *found.python, *found.without_code)}
    assert explained == set(f.maker.fgraph.apply_nodes)


@pytest.mark.parametrize("row", list(ROWS.values()), ids=list(ROWS))
def test_every_node_of_every_function_is_somewhere(row):
    case = row.cases[0]
    inputs = [variable_of(arg, f"x{k}") for k, arg in enumerate(case.args)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        graph = FunctionMaker(inputs, row.apply(case, inputs), mode="FAST_RUN", on_unused_input="ignore").fgraph
    placement = place_nodes([(v, False) for v in graph.inputs], graph.outputs, {})
    inside = {node for step in placement.steps for node in step.nodes}
    assert inside.isdisjoint(placement.without_code)
    assert inside.union(placement.without_code) == set(graph.apply_nodes)
    called = {node for step in placement.steps if step.kind == "python" for node in step.nodes}
    assert called >= set(placement.reasons).intersection(inside)


def test_lowering_twice_gives_the_same_program():
    """The explained program is the compiled one."""
    f = aesara.function([x, m], [reverse(at.exp(x)) + m.sum(axis=0), m @ m])
    report, graph = f._native.report, f.maker.fgraph
    again = lower_graph([(v, False) for v in graph.inputs], graph.outputs, {}, 2, False)
    assert print_program(again.program) == print_program(report.lowering.program)


# -- the option native_fallback -------------------------------------------------------------------------------------


def test_fallback_is_silent_unless_asked():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        aesara.function([x], reverse(x))


def test_fallback_warns_at_the_users_line():
    with aesara.config.change_flags(native_fallback="warn"), pytest.warns(NativeFallbackWarning) as caught:
        y = reverse(x)
        f = aesara.function([x], y)
    assert f([1.0, 2.0]).tolist() == [2.0, 1.0]
    (warning,) = caught
    assert str(warning.message) == "Reverse runs in Python: no native lowering for Reverse."
    assert warning.filename == __file__ and warning.lineno == y.owner.source.lineno


#: graphs that run in Python, in part or as a whole, each for another reason
IN_PYTHON = {
    "an op": lambda: reverse(x),
    "the step of a loop": lambda: aesara.scan(lambda a: reverse(a) * 2, sequences=[m])[0],
    "the step of a loop that may end": lambda: aesara.scan(
        lambda a: (reverse(a), until(a.sum() > 9)), outputs_info=[x], n_steps=5
    )[0],
    "a loop in a loop": lambda: aesara.scan(
        lambda a: aesara.scan(lambda b: reverse(b * a), sequences=[m])[0], sequences=[m]
    )[0],
    "a state that grows": lambda: aesara.scan(
        lambda a, b: at.concatenate([b, b])[: 3 + at.cast(a, "int64")], sequences=[x], outputs_info=[x]
    )[0],
    "one side of a choice": lambda: ifelse(x.sum() > 0, reverse(x), x),
    "a choice in a loop": lambda: aesara.scan(lambda a: ifelse(a[0] > 0, reverse(a), a), sequences=[m])[0],
    "a graph as an op": lambda: OpFromGraph([x], [reverse(x * 2) + 1])(x),
    "a value that is no array": lambda: typed_list.make_list([x, x * 2])[0],
    "a result that is no array": lambda: typed_list.make_list([x, x * 2]),
    "an input that is no array": lambda: Length()(Text()("text")),
    "a sparse matrix": lambda: sparse.csr_from_dense(m),
    "a batch": lambda: at.vectorize(reverse, "(n)->(n)")(m),
    "a draw": lambda: at.random.RandomStream(1, rng_ctor=np.random.RandomState).normal(size=x.shape),
}


@pytest.mark.parametrize("name", IN_PYTHON)
def test_what_is_explained_is_what_is_warned_of(name):
    with warnings.catch_warnings(record=True) as caught, aesara.config.change_flags(native_fallback="warn"):
        warnings.simplefilter("always")
        f = aesara.function(list(explicit_graph_inputs([y := IN_PYTHON[name]()])), y)
    warned = [str(one.message) for one in caught if one.category is NativeFallbackWarning]
    assert warned
    found = aesara.explain(f)
    if found.fallback is not None:
        assert warned == [f"The function runs in Python, node by node: {found.fallback}."]
    else:
        explained = {f"{one.node.op} runs in Python: {one.reason}." for one in found.python}
        assert set(warned) == {text for text in explained if not text.startswith("OpFromGraph")}
    first = str(found).splitlines()[0]
    assert all(text.partition(": ")[2].removesuffix(".") in first for text in warned)


def test_where_the_reason_is():
    reasons = {
        name: aesara.explain(aesara.function(list(explicit_graph_inputs([y := IN_PYTHON[name]()])), y))
        for name in ("the step of a loop", "one side of a choice", "a choice in a loop")
    }
    assert [one.reason for one in reasons["the step of a loop"].python] == [
        "Reverse in the step of a loop: no native lowering for Reverse"
    ]
    for name in ("one side of a choice", "a choice in a loop"):
        assert [one.reason for one in reasons[name].python] == [
            "Reverse on one side of a choice: no native lowering for Reverse"
        ]


def test_what_only_gives_values_to_python_is_not_in_python():
    found = aesara.explain(aesara.function([x, m], [reverse(x).sum(), x, sparse.csr_from_dense(m)]))
    assert ops(found.python) == ["Reverse", "SparseFromDense{csr}"]


def test_what_is_no_array_runs_with_the_nodes_that_need_it():
    y = typed_list.append(typed_list.make_list([x]), x * 2)
    found = aesara.explain(aesara.function([x], [typed_list.length(y), y[1]]))
    calls = [ops(step.nodes) for step in found.steps if step.kind == "python"]
    assert calls == [["MakeList", "Append", "Length"], ["MakeList", "Append", "GetItem"]]
    assert "MakeList" not in ops(found.without_code)


def test_fallback_of_a_whole_function_warns():
    text = Text()("text")
    with (
        aesara.config.change_flags(native_fallback="warn"),
        pytest.warns(NativeFallbackWarning, match="runs in Python, node by node: an input of type Text") as caught,
    ):
        aesara.function([text], Length()(text))
    assert caught[0].filename == __file__


def test_fallback_raises():
    text = Text()("text")
    with aesara.config.change_flags(native_fallback="raise"):
        with pytest.raises(NativeFallbackError, match=r"Reverse runs in Python: .*test_explain.py:\d+"):
            aesara.function([x], reverse(x))
        with pytest.raises(NativeFallbackError, match="an input of type Text"):
            aesara.function([text], Length()(text))
        assert aesara.function([x], x + 1)([1.0]) == [2.0]


def test_the_reference_mode_is_no_fallback():
    with aesara.config.change_flags(native_fallback="raise"):
        assert aesara.function([x], reverse(x), mode="FAST_COMPILE")([1.0, 2.0]).tolist() == [2.0, 1.0]


def test_arguments_that_consist_of_arrays_are_shown_as_their_parts():
    m = sparse.csr_matrix("m")
    f = aesara.function([m, x], sparse.sp_sum(m) + x)
    inputs = str(aesara.explain(f)).partition("inputs:")[2].partition("results:")[0]
    assert [line.split(":")[0].strip() for line in inputs.strip().splitlines()] == ["m[0]", "m[1]", "m[2]", "m[3]", "x"]
    assert "SpSum" in str(aesara.memory_plan(f))


# -- debugprint -----------------------------------------------------------------------------------------------------


def test_debugprint_marks_python_nodes():
    f = aesara.function([x], reverse(x) + 1)
    text = aesara.dprint(f, file="str", print_native=True)
    marked = [line for line in text.splitlines() if "Python" in line]
    assert [line.strip(" |") for line in marked] == ["Reverse [id C] 0 (Python: no native lowering for Reverse)"]
    assert "Python" not in aesara.dprint(f, file="str")


def test_debugprint_marks_sparse_matrices_made_in_python():
    text = aesara.dprint(aesara.function([m], sparse.sp_sum(sparse.csr_from_dense(m))), file="str", print_native=True)
    assert "(Python: no native lowering for SparseFromDense)" in text


def test_debugprint_of_a_function_in_python():
    f = aesara.function([x], reverse(x), mode="FAST_COMPILE")
    assert "(Python: the mode's linker)" in aesara.dprint(f, file="str", print_native=True)
