"""Graphs as trees, formulas, descriptions and pictures; printing values while a function runs."""

import io
import itertools
import sys

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.compile import Mode
from aesara.compile.builders import OpFromGraph
from aesara.compile.profiling import ProfileStats
from aesara.graph.basic import Apply
from aesara.graph.fg import FunctionGraph
from aesara.graph.inner import HasInnerGraph
from aesara.graph.op import Op
from aesara.printing import (
    DefaultPrinter,
    FunctionPrinter,
    IgnorePrinter,
    PatternPrinter,
    PPrinter,
    Print,
    Printer,
    char_from_number,
    debugprint,
    default_printer,
    get_node_by_id,
    hex_digest,
    loop_remarks,
    min_informative_str,
    op_debug_information,
    position_independent_str,
    pp,
    pprint,
    pydotprint,
    var_descriptor,
)
from aesara.scan.op import Scan, ScanInfo
from aesara.tensor.elemwise import Elemwise
from aesara.tensor.shapes.dimshuffle import DimShuffle


@pytest.fixture
def x():
    return at.dmatrix("x")


@pytest.fixture
def y():
    return at.dmatrix("y")


def tree(graph, **options):
    return debugprint(graph, file="str", **options)


def lines(text):
    """An indented block as `debugprint` would write it."""
    return "\n".join(line[8:] for line in text.strip("\n").splitlines()).rstrip() + "\n"


class TestDebugprint:
    def test_tree(self, x, y):
        z = (x + 1) * x.sum()
        assert tree(at.exp(z) + z) == lines(
            """
        Elemwise{add,no_inplace} [id A]
         |Elemwise{exp,no_inplace} [id B]
         | |Elemwise{mul,no_inplace} [id C]
         |   |Elemwise{add,no_inplace} [id D]
         |   | |x [id E]
         |   | |InplaceDimShuffle{x,x} [id F]
         |   |   |TensorConstant{1} [id G]
         |   |InplaceDimShuffle{x,x} [id H]
         |     |Sum{acc_dtype=float64} [id I]
         |       |x [id E]
         |Elemwise{mul,no_inplace} [id C]
            """
        )

    def test_types_and_names(self, x):
        z = at.exp(x)
        z.name = "z"
        assert tree(z + at.dmatrix(), print_type=True) == lines(
            """
        Elemwise{add,no_inplace} [id A] <TensorType(float64, (?, ?))>
         |Elemwise{exp,no_inplace} [id B] <TensorType(float64, (?, ?))> 'z'
         | |x [id C] <TensorType(float64, (?, ?))>
         |<TensorType(float64, (?, ?))> [id D] <TensorType(float64, (?, ?))>
            """
        )

    def test_depth(self, x, y):
        z = (x + y) * x
        assert tree(z, depth=1) == "Elemwise{mul,no_inplace} [id A]\n"
        assert tree(z, depth=2).splitlines() == [
            "Elemwise{mul,no_inplace} [id A]",
            " |Elemwise{add,no_inplace} [id B]",
            " |x [id C]",
        ]
        assert tree(z, depth=0) == ""

    def test_stop_on_name(self, x, y):
        z = x + y
        z.name = "z"
        assert tree(z * 2.0, stop_on_name=True).splitlines()[1:3] == [
            " |Elemwise{add,no_inplace} [id B] 'z'",
            " |InplaceDimShuffle{x,x} [id C]",
        ]

    def test_identifiers(self, x, y):
        z = x + y
        assert "[id 0]" in tree(z, id_type="int") and "[id 2]" in tree(z, id_type="int")
        assert f"[id {id(x)}]" in tree(z, id_type="id")
        assert f"[id {x.auto_name}]" in tree(z, id_type="auto")
        assert tree(z, id_type="") == "Elemwise{add,no_inplace}\n |x\n |y\n"
        with pytest.warns(DeprecationWarning, match="id_type"):
            assert "[id 0]" in tree(z, ids="int")

    def test_many_identifiers(self):
        z = at.dscalar("x")
        for _ in range(30):
            z = -z
        assert "[id Z]" in tree(z) and "[id BA]" in tree(z)
        assert [char_from_number(i) for i in (0, 25, 26, 51, 52, 675, 676)] == [
            "A",
            "Z",
            "BA",
            "BZ",
            "CA",
            "ZZ",
            "BAA",
        ]

    def test_several_outputs(self):
        v = at.dvector("v")
        a, b = at.split(v, [1, 2], n_splits=2)
        assert tree([a, b + 1]).splitlines()[:1] == ["Split{2}.0 [id A]"]
        assert "Split{2}.1 [id A]" in tree([a, b])
        assert tree(a.owner).count("Split{2}") == 2

    def test_function_has_the_order_of_execution(self, x):
        f = aesara.function([x], [at.exp(x).sum(), x * 2], mode=Mode("py", None))
        text = tree(f)
        order = f.maker.fgraph.toposort()
        for index, node in enumerate(order):
            assert any(line.endswith(f" {index}") and str(node.op) in line for line in text.splitlines())
        assert tree(f.maker.fgraph) == text
        assert " 0\n" not in tree(f, print_topo_order=False)

    @pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE"])
    def test_times(self, mode):
        v = at.dvector("v")
        f = aesara.function([v], at.exp(v).sum(), mode=mode, profile=ProfileStats(atexit_print=False))
        assert "-->" not in tree(f)
        f(np.ones(1000))
        lines = [line for line in tree(f).splitlines() if " --> " in line][1:]
        assert len(lines) == 2 and "Sum" in lines[0] and "exp" in lines[1].lower()
        numbers = [[float(text.strip("s%")) for text in line.split("--> ")[1].split()] for line in lines]
        (own, share, total, total_share), (below, below_share, _, _) = numbers
        assert own + below == pytest.approx(total, rel=0.02)
        assert share + below_share == pytest.approx(100, abs=0.2) and total_share == 100
        assert "-->" not in tree(f.maker.fgraph)

    def test_storage(self):
        v = at.dvector("v")
        f = aesara.function([v], at.exp(v) + 1, mode=Mode("py", None).clone(link_kwargs={"allow_gc": False}))
        f([0.0])
        assert any(
            "exp" in line and line.endswith("[array([1.])]") for line in tree(f, print_storage=True).splitlines()
        )
        native = aesara.function([v], at.exp(v) + 1, mode="FAST_RUN")
        assert "exp" in tree(native, print_storage=True)

    def test_maps(self, x, y):
        destructive = Elemwise(aesara.scalar.add, {0: 0})
        text = tree(destructive(x, y.T), print_destroy_map=True, print_view_map=True).splitlines()
        assert text[0].endswith("[id A] d={0: [0]}")
        assert "[id C]" in text[2] and text[2].endswith("v={0: [0]}")
        plain = tree(x + y.T, print_destroy_map=True, print_view_map=True).splitlines()
        assert [line[-1] for line in plain] == ["]", "]", "}", "]"]

    def test_fgraph_inputs(self, x, y):
        text = tree(FunctionGraph([x, y], [x + y], clone=False), print_fgraph_inputs=True).splitlines()
        assert text == [
            "-x [id A]",
            "-y [id B]",
            "Elemwise{add,no_inplace} [id C] 0",
            " |x [id A]",
            " |y [id B]",
        ]

    def test_default_updates(self):
        s = aesara.shared(np.zeros(3), name="s")
        s.default_update = at.exp(s)
        assert tree(at.sin(s), print_default_updates=True) == lines(
            """
        Elemwise{sin,no_inplace} [id A]
         |s [id B] <- [id C]

        Default updates:

        Elemwise{exp,no_inplace} [id C]
         |s [id B] <- [id C]
            """
        )

    def test_default_updates_are_printed_one_by_one_and_last(self):
        s, t = aesara.shared(1.0, name="s"), aesara.shared(2.0, name="t")
        s.default_update, t.default_update = at.exp(t), at.exp(s)
        inner = at.dscalar("inner")
        printed = tree(OpFromGraph([inner], [at.sin(inner)])(s), print_default_updates=True)
        assert printed == lines(
            """
        OpFromGraph{inline=False} [id A]
         |s [id B] <- [id C]

        Inner graphs:

        OpFromGraph{inline=False} [id A]
         >Elemwise{sin,no_inplace} [id D]
         > |*0-<TensorType(float64, ())> [id E]

        Default updates:

        Elemwise{exp,no_inplace} [id C]
         |t [id F] <- [id G]

        Elemwise{exp,no_inplace} [id G]
         |s [id B] <- [id C]
            """
        )

    def test_what_native_code_computes_has_an_empty_cell(self, x, y):
        f = aesara.function([x, y], x + y)
        assert f._native is not None
        assert tree(f, id_type="", print_storage=True) == "Elemwise{add,no_inplace} 0 [None]\n |x [None]\n |y [None]\n"

    def test_shared_state_of_several_calls(self, x, y):
        used_ids, done = {}, {}
        tree(x + y, used_ids=used_ids)
        second = tree(x * y, used_ids=used_ids)
        assert "x [id B]" in second and "mul,no_inplace} [id D]" in second
        z = x + y
        tree(z, done=done)
        assert tree(at.exp(z), done=done).count("\n") == 2

    def test_files(self, x, capsys):
        stream = io.StringIO()
        assert debugprint(x, file=stream) is stream
        assert stream.getvalue() == "x [id A]\n"
        assert debugprint(x) is sys.stdout
        assert capsys.readouterr().out == "x [id A]\n"
        assert aesara.dprint is debugprint

    def test_errors(self, x):
        with pytest.raises(TypeError, match="of type int: 3"):
            debugprint(3)
        with pytest.raises(TypeError, match="depth"):
            debugprint(x, depth="all")
        with pytest.raises(ValueError, match="'foo'"):
            debugprint(x, id_type="foo")

    def test_list_of_everything(self, x, y):
        text = tree([x + y, aesara.function([x], at.exp(x), mode="FAST_COMPILE"), (x * y).owner])
        assert [line for line in text.splitlines() if not line.startswith(" ")] == [
            "Elemwise{add,no_inplace} [id A]",
            "Elemwise{exp,no_inplace} [id D] 0",
            "Elemwise{mul,no_inplace} [id F]",
        ]

    @pytest.mark.slow
    def test_deep_graph(self):
        z = at.dscalar("x")
        for _ in range(3000):
            z = -z
        assert tree(z).count("\n") == 3001
        for _ in range(100_000):
            z = -z
        assert tree(z, depth=5).count("\n") == 5

    def test_get_node_by_id(self, x, y):
        z = (x + y) * x
        assert get_node_by_id(z, "B") is z.owner.inputs[0].owner
        assert get_node_by_id(z, "C") is x
        assert get_node_by_id(z, "2", id_types="int") is x
        assert get_node_by_id(z, "X") is None


class Inner(Op, HasInnerGraph):
    """Holds a graph, as loops and the like do."""

    def __init__(self, inputs, outputs):
        self.fgraph = FunctionGraph(inputs, outputs, clone=True)

    def make_node(self, *inputs):
        return Apply(self, inputs, [output.type() for output in self.fgraph.outputs])

    def perform(self, node, inputs, outputs):
        raise NotImplementedError

    @property
    def fn(self):
        raise NotImplementedError

    @property
    def inner_inputs(self):
        return self.fgraph.inputs

    @property
    def inner_outputs(self):
        return self.fgraph.outputs

    def clone(self):
        return self


class Mapped(Inner):
    """Knows which of its inputs an input of the inner graph stands for."""

    def get_oinp_iinp_iout_oout_mappings(self):
        return {"outer_inp_from_inner_inp": {i: i for i in range(len(self.fgraph.inputs))}}


@op_debug_information.register(Mapped)
def _remarks(op, node):
    return {
        node: {
            **dict.fromkeys(node.inputs, "outer"),
            **dict.fromkeys(op.inner_inputs, "inner"),
        }
    }


class TestInnerGraphs:
    def test_printed_after_the_tree(self, x, y):
        a, b = at.dmatrix("a"), at.dmatrix("b")
        inner = Inner([a], [at.exp(a)])
        outer = Inner([a, b], [inner(a) * b])
        assert tree(outer(x, y) + inner(y)) == lines(
            """
        Elemwise{add,no_inplace} [id A]
         |Inner [id B]
         | |x [id C]
         | |y [id D]
         |Inner [id E]
           |y [id D]

        Inner graphs:

        Inner [id B]
         >Elemwise{mul,no_inplace} [id F]
         > |Inner [id G]
         > | |a [id H]
         > |b [id I]

        Inner [id E]
         >Elemwise{exp,no_inplace} [id J]
         > |a [id K]

        Inner [id G]
         >Elemwise{exp,no_inplace} [id J]
            """
        )

    def test_inputs(self, x):
        a = at.dmatrix("a")
        assert tree(Inner([a], [at.exp(a)])(x), print_fgraph_inputs=True).splitlines()[-4:] == [
            "Inner [id A]",
            "-a [id C]",
            " >Elemwise{exp,no_inplace} [id D]",
            " > |a [id C]",
        ]

    def test_outer_inputs_and_remarks(self, x):
        a = at.dmatrix("a")
        text = tree(Mapped([a], [at.exp(a)])(x), print_op_info=True).splitlines()
        assert text[1] == " |x [id B] (outer)"
        assert text[-1] == " > |a [id D] -> [id B] (inner)"

    def test_remarks_are_asked_for_once_per_node_and_only_if_they_are_wanted(self, x, y):
        asked = []

        class Asked(Mapped):
            pass

        @op_debug_information.register(Asked)
        def note(op, node):
            asked.append(node)
            return _remarks(op, node)

        a = at.dmatrix("a")
        first, second = Asked([a], [at.exp(a)])(x), Asked([a], [at.exp(a)])(y)
        graph = [first + second, first]
        tree(graph)
        assert asked == []
        assert tree(graph, print_op_info=True).count("(outer)") == 2
        assert len(asked) == 2 and set(asked) == {first.owner, second.owner}

    def test_step_on_nominal_variables(self):
        k, first = at.iscalar("k"), at.dvector("first")
        powers, _ = aesara.scan(lambda s, base: s * base, None, at.ones_like(first), non_sequences=first, n_steps=k)
        text = tree(powers).splitlines()
        assert text[1] == " |for{cpu,scan_fn} [id B]"
        assert text[2] == " | |k [id C]"
        buffer = next(line for line in text if "|IncSubtensor{Set;:int64:}" in line).split("[id ")[1][:-1]
        base = next(line for line in text if line.startswith(" | |first")).split("[id ")[1][:-1]
        header, product, *inputs = text[text.index("Inner graphs:") + 2 :]
        assert header == "for{cpu,scan_fn} [id B]" and product.startswith(" >Elemwise{mul,no_inplace} [id ")
        ends = [line.split("[id ")[0] + line.split("] ")[1] for line in inputs]
        assert ends == [
            f" > |*0-<TensorType(float64, (?,))> -> [id {buffer}]",
            f" > |*1-<TensorType(float64, (?,))> -> [id {base}]",
        ]

    def test_a_nominal_variable_is_shown_with_what_it_stands_for_in_each_loop(self):
        v, w = at.dvectors("v", "w")
        doubled = aesara.scan(lambda x: x * 2, v)[0]
        tripled = aesara.scan(lambda x: x * 3, w)[0]
        text = tree(doubled + tripled, print_op_info=True).splitlines()
        read = [line.split("] -> [id ")[1] for line in text if "|*0-" in line]
        sequences = [line.split("[id ")[1] for line in text if line.endswith("(outer_in_seqs-0)")]
        assert read == [one.replace("outer", "inner") for one in sequences] and len(set(read)) == 2

    def test_loops(self):
        values = at.dvector("values")
        rows, _ = aesara.scan(
            lambda value, before, last: at.tanh(value + before * last),
            sequences=values,
            outputs_info=[{"initial": values[:2], "taps": [-2, -1]}],
        )
        text = tree(rows, print_op_info=True).splitlines()
        ends = [line.split("] ", 1)[1] for line in text if line.endswith(")")]
        assert ends[0] == "(outer_out_mit_sot-0)"
        assert "(outer_in_seqs-0)" in ends and "(outer_in_mit_sot-0)" in ends
        inside = [line for line in text if "(inner" in line]
        assert inside[0].endswith("(inner_out_mit_sot-0)")

        def letter(end):
            return next(line.split("[id ")[1].split("]")[0] for line in text if line.endswith(end))

        sequence, state = letter("(outer_in_seqs-0)"), letter("(outer_in_mit_sot-0)")
        assert any(line.endswith(f"-> [id {sequence}] (inner_in_seqs-0)") for line in inside)
        assert any(line.endswith(f"-> [id {state}] (inner_in_mit_sot-0-1)") for line in inside)

    def test_every_input_and_output_of_a_loop_has_its_kind(self):
        """Those of a step that belong to one buffer have numbers within it, too."""
        states = {"mit_mot_in_slices": ((0, 1),), "mit_mot_out_slices": ((1, 2),)}
        states |= {"mit_sot_in_slices": ((-2, -1),), "sit_sot_in_slices": ((-1,),)}
        info = ScanInfo(n_seqs=2, **states, n_nit_sot=1, n_shared_outs=1, n_non_seqs=1, as_while=False)
        inner = at.dscalars(9)
        results = [at.exp(inner[0] + k) for k in range(6)]
        outer = [at.lscalar("n"), *at.dvectors(5), at.dscalar("shared"), at.lscalar("length"), at.dscalar("factor")]
        op = Scan(inner, results, info)
        node = op.make_node(*outer)
        (remarks,) = loop_remarks(op, node).values()
        expected = {
            "outer_in": "seqs-0 seqs-1 mit_mot-0 mit_sot-0 sit_sot-0 shared-0 nit_sot-0 non_seqs-0",
            "inner_in": "seqs-0 seqs-1 mit_mot-0-0 mit_mot-0-1 mit_sot-0-0 mit_sot-0-1 sit_sot-0 shared-0 non_seqs-0",
            "inner_out": "mit_mot-0-0 mit_mot-0-1 mit_sot-0 sit_sot-0 nit_sot-0 shared-0",
            "outer_out": "mit_mot-0 mit_sot-0 sit_sot-0 nit_sot-0 shared-0",
        }
        sides = [node.inputs[1:], op.fgraph.inputs, op.fgraph.outputs, node.outputs]
        for variables, (side, kinds) in zip(sides, expected.items(), strict=True):
            assert [remarks.pop(one) for one in variables] == [f"{side}_{kind}" for kind in kinds.split()]
        assert remarks == {node.inputs[0]: "n_steps"}


v, w = at.dvectors("v", "w")
m, n = at.dmatrices("m", "n")
a, b, c = at.dscalars("a", "b", "c")
i, j = at.lscalars("i", "j")

FORMULAS = [
    (v + w, "(v + w)"),
    (v * w + v, "((v * w) + v)"),
    (v * (w + v), "(v * (w + v))"),
    (v - (w - v), "(v - (w - v))"),
    (v / w / v, "((v / w) / v)"),
    (i // j, "(i // j)"),
    (a ** (b**c), "(a ** (b ** c))"),
    ((-v) ** 2, "((-v) ** 2)"),
    (-(v + w), "(-(v + w))"),
    (at.exp(v), "exp(v)"),
    (abs(v), "|v|"),
    (m.T, "m.T"),
    ((m + n).T, "(m + n).T"),
    (v.dimshuffle("x", 0), "v"),
    (v.dimshuffle(0, "x"), "DimShuffle{0, x}(v)"),
    (at.dot(m, n) + m, "((m \\dot n) + m)"),
    (m.sum(), "sum(m, axis=None)"),
    (m.sum(axis=0), "sum(m, axis=(0,))"),
    (v[0], "v[0]"),
    (v[1:3], "v[1:3]"),
    (v[::2], "v[::2]"),
    (v[i:j], "v[i:j]"),
    (m[i, 1:], "m[i, 1:]"),
    (m[:, 0], "m[:, 0]"),
    (at.set_subtensor(v[0], 1.0), "set_subtensor(v[0], 1.0)"),
    (at.inc_subtensor(v[1:3], w[:2]), "inc_subtensor(v[1:3], w[:2])"),
    (a < b, "lt(a, b)"),
    (at.switch(a < b, a, b), "switch(lt(a, b), a, b)"),
    (at.cast(v, "int32"), "int32(v)"),
    (at.as_tensor([a, b]), "[a, b]"),
    (v + 1, "(v + 1)"),
    (v + np.arange(3.0), "(v + [0. 1. 2.])"),
    (at.alloc(1.0, 2, 3), "alloc(1.0, 2, 3)"),
    (at.join(0, v, w), "join(0, v, w)"),
    (Elemwise(aesara.scalar.add, {0: 0})(v, w), "(v + w)"),
    (at.dvector() + v, "(<TensorType(float64, (?,))> + v)"),
]


class TestFormulas:
    @pytest.mark.parametrize(("variable", "text"), FORMULAS, ids=[text for _, text in FORMULAS])
    def test_formula(self, variable, text):
        assert pp(variable) == text

    @pytest.mark.parametrize("shape", [(), (2,), (2, 3)])
    def test_dimensions_are_printed_where_broadcasting_does_not_make_them(self, shape):
        t = at.tensor("float64", shape=(None,) * len(shape), name="t")
        value = np.zeros(shape)
        for added in range(4):
            for order in set(itertools.permutations((*range(len(shape)), *["x"] * added))):
                moved = value.transpose([k for k in order if k != "x"])
                moved = moved.reshape([1 if k == "x" else shape[k] for k in order])
                if moved.shape == (1,) * added + shape:
                    text = "t"
                else:
                    text = "t.T" if order == (1, 0) else f"DimShuffle{{{', '.join(map(str, order))}}}(t)"
                assert pp(DimShuffle((False,) * len(shape), order)(t)) == text

    def test_printers_of_users_know_how_tightly_their_place_binds(self):
        class Precedence(Printer):
            def process(self, output, pstate):
                name = str(pstate.precedence)
                pstate.precedence = 7  # is that of this place only
                return name

        here, table = at.sin(v), at.sin(m)
        printer = pprint.clone_assign(at.sin, Precedence())
        for formula, text in (
            (here, "-1000"),
            (here + v, "(-2 + v)"),
            (v - here, "(v - -2)"),
            (here * v, "(-1 * v)"),
            (v / here, "(v / -1)"),
            (-here, "(-0)"),
            (here**2, "(1 ** 2)"),
            (at.exp(here), "exp(-1000)"),
            (here[1:], "1000[1:]"),
            (v[at.cast(at.sin(a), "int64")], "v[int64(-1000)]"),
            (at.set_subtensor(here[0], at.sin(a)), "set_subtensor(1000[0], -1000)"),
            (table.T, "1000.T"),
            (table.dimshuffle(0, "x", 1), "DimShuffle{0, x, 1}(-1000)"),
            # What is not printed changes nothing.
            (here.dimshuffle("x", 0), "-1000"),
            (m * here, "(m * -1)"),
            (m ** here.dimshuffle("x", 0), "(m ** 1)"),
        ):
            assert printer(formula) == text

    def test_the_printer_of_an_operation_comes_before_conditions(self):
        printer = PPrinter()
        printer.assign(at.exp, PatternPrinter("e^%(0)s"))
        printer.assign(lambda pstate, variable: True, default_printer)
        assert printer(at.exp(a)) == "e^a"
        assert printer(at.sin(a)) == "Elemwise{sin,no_inplace}(a)"

    def test_named_constant(self):
        assert pp(at.constant(2.5, name="two") * a) == "(two * a)"

    @pytest.mark.parametrize(
        "build, text",
        [
            (lambda m, i: at.stack([i + 1, -i]), "[(i + 1), (-i)]"),
            (lambda m, i: abs(m + 1), "|(m + 1)|"),
            (lambda m, i: at.exp(m + 1), "exp((m + 1))"),
            (lambda m, i: (m + 1).sum(axis=1), "sum((m + 1), axis=(1,))"),
            (lambda m, i: (m + 1).T, "(m + 1).T"),
            (lambda m, i: (m * 2)[0], "(m * 2)[0]"),
            (lambda m, i: (m + 1)[i:], "(m + 1)[i:]"),
            (lambda m, i: at.dot(m + 1, m * 2), "((m + 1) \\dot (m * 2))"),
            (lambda m, i: (-m) ** (-m), "((-m) ** (-m))"),
            (lambda m, i: at.switch(m > 1, m + 1, -m), "switch(gt(m, 1), (m + 1), (-m))"),
            (lambda m, i: at.join(0, m + 1, m), "join(0, (m + 1), m)"),
            (lambda m, i: at.set_subtensor(m[1:], m * 2), "set_subtensor(m[1:], (m * 2))"),
        ],
    )
    def test_operands_that_are_operations(self, build, text):
        assert pp(build(at.dmatrix("m"), at.lscalar("i"))) == text

    def test_the_last_condition_comes_first(self, x):
        class Says(Printer):
            def __init__(self, text):
                self.text = text

            def process(self, var, pstate):
                return self.text

        for printer in (pprint.clone(), PPrinter()):
            for text in ("first", "second"):
                printer.assign(lambda pstate, var: var.owner is not None and var.owner.op == at.exp, Says(text))
            assert printer(at.exp(x)) == "second"

    def test_graphs(self, x, y):
        assert pprint([x, y], [x + y, x * y]) == "output 0: (x + y)\noutput 1: (x * y)"
        assert pprint.process_graph([x], [x + y], display_inputs=True) == "inputs: x\n(x + y)"
        z = x + y
        assert pprint.process_graph([x, y], [z], updates={x: z}) == "x <- (x + y)"
        assert pp(aesara.function([x], at.exp(x), mode="FAST_COMPILE")) == "exp(x)"
        assert pp((x + y).owner) == "(x + y)"

    @pytest.mark.slow
    def test_deep_graph(self):
        z = at.dscalar("x")
        for _ in range(100_000):
            z = -z
        assert pp(z) == "(-" * 100_000 + "x" + ")" * 100_000

    def test_own_printers(self, x, y):
        class Odd(Printer):
            def process(self, var, pstate):
                return "odd<" + pstate.pprinter.process(var.owner.inputs[0], pstate) + ">"

        printer = pprint.clone_assign(at.exp, Odd())
        assert printer(at.exp(x + y) * 2.0) == "(odd<(x + y)> * 2.0)"
        assert pp(at.exp(x)) == "exp(x)"
        assert pprint.clone_assign(at.exp, IgnorePrinter())(at.exp(x) + y) == "(x + y)"
        assert pprint.clone_assign(at.exp, PatternPrinter("e^{%(0)s}"))(at.exp(x + y)) == "e^{(x + y)}"
        assert pprint.clone_assign(Elemwise, FunctionPrinter(["f"]))(at.sin(x)) == "f(x)"
        by_condition = pprint.clone_assign(lambda pstate, var: var.name == "x", Constant("X"))
        assert by_condition(x + y) == "(X + y)"
        with pytest.raises(TypeError, match="assigned to"):
            pprint.clone().assign(3, DefaultPrinter())

    def test_empty_printer(self, x, y):
        assert PPrinter()(x + y) == "Elemwise{add,no_inplace}(x, y)"

    def test_errors(self):
        with pytest.raises(TypeError, match="Only variables"):
            pp(3)
        with pytest.raises(TypeError):
            pprint()


class Constant(Printer):
    def __init__(self, text):
        self.text = text

    def process(self, var, pstate):
        return self.text


class TestDescriptions:
    def test_min_informative_str(self, x, y):
        z = x + y
        assert min_informative_str(z * z) == (
            "A. Elemwise{mul,no_inplace}\n B. Elemwise{add,no_inplace}\n  C. x\n  D. y\n <B>"
        )
        z.name = "z"
        assert min_informative_str(at.exp(z)) == "A. Elemwise{exp,no_inplace}\n B. z"

    def test_var_descriptor_of_arrays(self):
        long, other = np.zeros(5000), np.zeros(5000)
        other[2500] = 1  # which is not printed
        assert str(long) == str(other)
        described = [var_descriptor(array) for array in (long, long.copy(), other, long[::-1])]
        assert described[0] == described[1] and len(set(described)) == 3
        assert described[0].startswith("A=<ndarray:strides=[8],digest=") and "strides=[-8]" in described[3]

    def test_var_descriptor(self, x, y):
        z = x + y
        assert var_descriptor(z * z) == ("A=Elemwise{mul,no_inplace}(B=Elemwise{add,no_inplace}(C=x,D=y),<B>)")

    def test_deep_graph(self):
        z = at.dscalar("x")
        for _ in range(3000):
            z = -z
        assert min_informative_str(z).count("\n") == 3000
        assert var_descriptor(z).count("(") == 3000

    def test_position_independent_str(self, x):
        assert position_independent_str(x) == "aesara_var{type=TensorType(float64, (?, ?))}"
        with pytest.raises(NotImplementedError):
            position_independent_str(3)

    def test_hex_digest(self):
        value = np.arange(6.0).reshape(2, 3)
        assert hex_digest(value) == hex_digest(value.copy())
        assert len({hex_digest(one) for one in (value, value + 1, value.T, value.astype("int64"), value.ravel())}) == 5
        with pytest.raises(TypeError, match="takes an array"):
            hex_digest("abc")


@pytest.mark.parametrize("mode", ["FAST_COMPILE", "FAST_RUN"])
class TestPrint:
    def test_value(self, mode, capsys):
        f = aesara.function([v], Print("v is")(v) * 2, mode=mode)
        assert f([1.0]).tolist() == [2.0]
        assert capsys.readouterr().out == "v is __str__ = [1.]\n"

    def test_attributes(self, mode, capsys):
        aesara.function([v], Print("v", attrs=["shape", "min"])(v) * 2, mode=mode)([1.0, 3.0])
        assert capsys.readouterr().out == "v shape = (2,)\nv min = 1.0\n"

    def test_own_function(self, mode):
        seen = []
        op = Print("v", global_fn=lambda op, value: seen.append((op.message, value.tolist())))
        aesara.function([v], op(v) * 2, mode=mode)([1.0])
        assert seen == [("v", [1.0])]

    def test_unknown_attribute(self, mode):
        f = aesara.function([v], Print("v", attrs=["foo"])(v) * 2, mode=mode)
        with pytest.raises(AttributeError, match="foo"):
            f([1.0])

    def test_gradient(self, mode, capsys):
        g = aesara.function([v], aesara.grad((Print("v")(v) ** 2).sum(), v), mode=mode)
        assert g([3.0]).tolist() == [6.0]

    def test_constants_are_printed_at_each_call(self, mode, capsys):
        f = aesara.function([], Print("c")(at.constant(1.0)) * 2, mode=mode)
        capsys.readouterr()
        f()
        f()
        assert capsys.readouterr().out.count("c __str__") == 2


class FakePydot:
    """Stands for pydot: writes down what is drawn."""

    class Node:
        def __init__(self, name, **attributes):
            self.name, self.attributes = name, attributes

    class Edge:
        def __init__(self, source, target, **attributes):
            self.source, self.target, self.attributes = source, target, attributes

    class Dot:
        last = None

        def __init__(self, *args, **kwargs):
            self.nodes, self.edges = {}, []
            FakePydot.Dot.last = self

        def add_node(self, node):
            assert node.name not in self.nodes
            self.nodes[node.name] = node

        def add_edge(self, edge):
            assert edge.source in self.nodes and edge.target in self.nodes
            self.edges.append(edge)

        def create(self, format):
            return f"{format}:{len(self.nodes)}"

        def write(self, name, format, prog):
            with open(name, "w") as file:
                file.write(format)


class TestPydotprint:
    @pytest.fixture
    def pydot(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "pydot", FakePydot)
        return FakePydot

    def test_missing_package(self, x, monkeypatch):
        monkeypatch.setitem(sys.modules, "pydot", None)
        monkeypatch.setitem(sys.modules, "pydot_ng", None)
        with pytest.raises(RuntimeError, match="pip install pydot"):
            pydotprint(x + 1)

    @pytest.mark.parametrize("module", [aesara.printing, aesara.d3viz.formatting])
    def test_whether_it_can_draw(self, module, monkeypatch, tmp_path):
        for package in ("pydot", "pydot_ng"):
            monkeypatch.setitem(sys.modules, package, None)
        monkeypatch.setenv("PATH", str(tmp_path))
        assert not module.pydot_imported
        assert "pydot" in module.pydot_imported_msg and "Graphviz" in module.pydot_imported_msg
        monkeypatch.delitem(sys.modules, "pydot")
        (tmp_path / "pydot.py").touch()
        monkeypatch.syspath_prepend(tmp_path)
        assert not module.pydot_imported and module.pydot_imported_msg == "Install Graphviz."
        (tmp_path / "dot").touch(0o755)
        assert module.pydot_imported and module.pydot_imported_msg == ""
        with pytest.raises(AttributeError, match="nothing"):
            module.nothing

    def test_missing_graphviz(self, x, pydot, monkeypatch, tmp_path):
        def write(*args, **kwargs):
            raise FileNotFoundError('"dot" not found in path.')

        monkeypatch.setattr(pydot.Dot, "write", write)
        monkeypatch.setenv("PATH", str(tmp_path))
        with pytest.raises(RuntimeError, match="`dot` is not on the PATH"):
            pydotprint(x + 1, tmp_path / "graph.png")

    def test_names_are_texts(self, pydot):
        pydotprint(at.dvector('<b>"\\n') + 1, return_image=True, var_with_name_simple=True)
        labels = [node.attributes["label"] for node in pydot.Dot.last.nodes.values()]
        assert '"name=<b>\\"\\\\n"' in labels

    def test_nodes_and_edges(self, x, y, pydot):
        z = x + y
        image = pydotprint([at.exp(z), z], return_image=True, with_ids=True)
        graph = pydot.Dot.last
        labels = sorted(node.attributes["label"] for node in graph.nodes.values())
        assert image.startswith("png:") and len(graph.nodes) == 6 and len(graph.edges) == 5
        assert any("add" in label and "id=0" in label for label in labels)
        assert any(label.startswith('"name=x') for label in labels)

    def test_colors_say_what_a_variable_is(self, x, pydot):
        shared, constant = aesara.shared(np.zeros(3), "s"), at.constant(np.arange(3.0))
        f = aesara.function([x], at.dot(x, shared) + at.dot(x, constant), mode="FAST_COMPILE")
        pydotprint(f, return_image=True, high_contrast=False)
        boxes = [node.attributes for node in pydot.Dot.last.nodes.values() if node.attributes["shape"] == "box"]
        labels = "name=x", "name=s", "TensorConstant"
        colors = [{box["color"] for box in boxes if label in box["label"]} for label in labels]
        assert colors == [{"limegreen"}, {"cyan"}, {"grey"}]
        assert [box["color"] for box in boxes].count("dodgerblue") == 1

    @pytest.mark.parametrize("name, compact, boxes", [(None, True, 5), ("z", True, 6), (None, False, 7)])
    def test_variables_between_nodes(self, x, y, pydot, name, compact, boxes):
        """A compact picture leaves out variables without a name, and no others; a full one draws all of them."""
        z = x + y
        z.name = name
        pydotprint(at.exp(z), return_image=True, compact=compact)
        assert len(pydot.Dot.last.nodes) == boxes

    def test_file(self, x, pydot, tmp_path, capsys):
        f = aesara.function([x], at.exp(x), mode="FAST_COMPILE")
        pydotprint(f, outfile=tmp_path / "graph", format="svg")
        assert (tmp_path / "graph.svg").read_text() == "svg"
        assert "graph.svg" in capsys.readouterr().out
        pydotprint(f.maker.fgraph, outfile=tmp_path / "other.png", print_output_file=False, compact=False)
        assert (tmp_path / "other.png").exists() and not capsys.readouterr().out

    def test_inner_graphs(self, x, pydot, tmp_path):
        a = at.dmatrix("a")
        pydotprint(Inner([a], [at.exp(a)])(x), outfile=tmp_path / "g.png", scan_graphs=True)
        assert (tmp_path / "g_0.png").exists()

    def test_wrong_object(self, pydot):
        with pytest.raises(TypeError, match="drawn"):
            pydotprint(3)
