"""Programs that use rewriting as libraries do: features, databases and modes of their own."""

import pickle

import pytest

import aesara
import aesara.tensor as at
from aesara.compile.function.types import Supervisor
from aesara.compile.mode import (
    FAST_COMPILE,
    OPT_FAST_COMPILE,
    AddDestroyHandler,
    AddFeatureOptimizer,
    Mode,
    get_mode,
    optdb,
    predefined_modes,
    register_mode,
)
from aesara.graph.features import (
    Bookkeeper,
    Feature,
    History,
    NodeFinder,
    PrintListener,
    ReplaceValidate,
)
from aesara.graph.fg import FunctionGraph
from aesara.graph.rewriting.basic import (
    GraphRewriter,
    SubstitutionNodeRewriter,
    in2out,
    node_rewriter,
)
from aesara.graph.rewriting.db import (
    EquilibriumDB,
    LocalGroupDB,
    ProxyDB,
    RewriteDatabaseQuery,
    SequenceDB,
)
from aesara.graph.utils import InconsistencyError
from aesara.raise_op import assert_op
from aesara.tensor.elemwise import Elemwise
from tests.graph.rewriting.graphs import graph, text

x, y = at.dvectors("x", "y")


def ops(function):
    return [str(node.op).removeprefix("Elemwise{").split(",")[0] for node in function.maker.fgraph.toposort()]


# Features


def test_bookkeepers_say_why():
    class Notes(Bookkeeper):
        def __init__(self):
            self.reasons = []

        def on_import(self, fgraph, node, reason):
            self.reasons.append(reason)

        def on_prune(self, fgraph, node, reason):
            self.reasons.append(reason)

    notes = Notes()
    fgraph = graph(at.exp(x))
    fgraph.attach_feature(notes)
    fgraph.remove_feature(notes)
    assert notes.reasons == ["Bookkeeper.on_attach", "Bookkeeper.detach"]


def test_what_listeners_are_told(capsys):
    inner = at.exp(x)
    fgraph = graph(at.sin(inner))
    listener = PrintListener()
    fgraph.attach_feature(listener)
    fgraph.replace(inner, at.log(x), reason="why")
    fgraph.remove_feature(listener)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0].split(" (")[0] for line in lines] == [
        "-- attaching to",
        "-- importing",
        "-- pruning",
        "-- changing",
        "-- detaching from",
    ]
    assert lines[1].endswith("reason: why")


def test_going_back():
    inner = at.exp(x)
    fgraph = graph(at.sin(inner))
    fgraph.attach_feature(History())
    start = fgraph.checkpoint()
    fgraph.replace(inner, at.log(x))
    middle = fgraph.checkpoint()
    fgraph.replace(fgraph.outputs[0], x)
    fgraph.revert(middle)
    assert text(fgraph) == "sin(log(x))"
    fgraph.revert(start)
    assert text(fgraph) == "sin(exp(x))" and fgraph.checkpoint() == start
    fgraph.check_integrity()


def test_validation():
    class NoSine(Feature):
        def validate(self, fgraph):
            if any(node.op == at.sin for node in fgraph.apply_nodes):
                raise InconsistencyError("a sine")

    fgraph = graph(at.exp(x))
    fgraph.attach_feature(NoSine())
    fgraph.attach_feature(ReplaceValidate())
    fgraph.replace_validate(fgraph.outputs[0], at.log(x), reason="good")
    with pytest.raises(InconsistencyError, match="a sine"):
        fgraph.replace_validate(fgraph.outputs[0], at.sin(x), reason="bad")
    assert text(fgraph) == "log(x)" and fgraph.consistent()


def test_nodes_by_op():
    fgraph = graph(at.exp(x) + at.exp(y))
    fgraph.attach_feature(NodeFinder())
    assert len(fgraph.get_nodes(at.exp)) == 2 and fgraph.get_nodes(at.sin) == []
    fgraph.replace(fgraph.get_nodes(at.exp)[0].outputs[0], x)
    assert len(fgraph.get_nodes(at.exp)) == 1


def test_graphs_travel_with_their_features():
    fgraph = FunctionGraph([x], [at.exp(x)])
    fgraph.attach_feature(NodeFinder())
    copy = pickle.loads(pickle.dumps(fgraph))
    assert len(copy.get_nodes(at.exp)) == 1
    copy.replace_validate(copy.outputs[0], copy.inputs[0])
    assert text(copy) == "x" and copy.get_nodes(at.exp) == []


def test_changes_of_graphs():
    inner = at.exp(x)
    fgraph = graph(at.sin(inner))
    with pytest.raises(aesara.graph.fg.MissingInputError, match="y"):
        fgraph.replace(inner, at.exp(y))
    fgraph.replace(inner, at.exp(y), import_missing=True)
    assert fgraph.inputs == [x, y] and text(fgraph) == "sin(exp(y))"
    fgraph.add_output(at.cos(x))
    fgraph.remove_node(fgraph.outputs[0].owner)
    assert text(fgraph) == "cos(x)" and len(fgraph.apply_nodes) == 1
    fgraph.check_integrity()
    copy, equivalent = fgraph.clone_get_equiv()
    assert equivalent[fgraph.outputs[0]] is copy.outputs[0] and equivalent[x] is copy.inputs[0]
    copy.variables.add(at.dvector())
    with pytest.raises(Exception, match="inappropriately cached"):
        copy.check_integrity()


def test_protected_variables_are_named():
    fgraph = graph(at.exp(x))
    fgraph.attach_feature(Supervisor([x]))
    AddDestroyHandler().rewrite(fgraph)
    overwriting = Elemwise(at.exp.scalar_op, inplace_pattern={0: 0})
    with pytest.raises(InconsistencyError, match=r"protected variables: x\."):
        fgraph.replace_validate(fgraph.outputs[0], overwriting(x))


# Databases and modes


def test_a_database_as_libraries_make_it():
    class Strict(EquilibriumDB):
        """Errors of its rules go on."""

        def query(self, *tags, **kwtags):
            answer = super().query(*tags, **kwtags)
            answer.failure_callback = None
            return answer

    database, inner, group = SequenceDB(), Strict(), LocalGroupDB()
    database.register("before", optdb.query("+canonicalize"), "basic")
    inner.name, group.name = "inner", "group"
    database.register("inner", inner, "basic")
    inner.register("group", group, "basic")
    group.register("one", SubstitutionNodeRewriter(at.cosh, at.square), "basic", "first")
    inner.register("two", SubstitutionNodeRewriter(at.square, at.sqrt), "basic")

    def rewritten(*excluded):
        fgraph = graph(at.cosh(x) * 1)
        database.query(RewriteDatabaseQuery(include=["basic"], exclude=list(excluded))).rewrite(fgraph)
        return text(fgraph)

    assert (rewritten(), rewritten("first"), rewritten("two"), rewritten("inner")) == (
        "sqrt(x)",
        "cosh(x)",
        "square(x)",
        "cosh(x)",
    )


def test_queries_of_databases_inside():
    inner, database = EquilibriumDB(), SequenceDB()
    inner.register("one", SubstitutionNodeRewriter(at.exp, at.log), "t", "stable")
    inner.register("two", SubstitutionNodeRewriter(at.log, at.sin), "t", "more")
    database.register("inner", inner, "t")
    database.register("again", ProxyDB(inner), "later")

    def rewritten(query, *more, **inside):
        fgraph = graph(at.exp(x))
        database.query(query, *more, **inside).rewrite(fgraph)
        return text(fgraph)

    less = RewriteDatabaseQuery(["t"], exclude=["more"])
    assert rewritten("+t") == "sin(x)"
    assert rewritten("+t", inner=less) == "log(x)"
    assert rewritten(RewriteDatabaseQuery(["t"], subquery={"inner": less})) == "log(x)"
    # What is required is required of the database as well.
    assert rewritten("+t", "&stable") == "exp(x)"
    assert [rewriter.name for rewriter in database.query("+t", "+later")] == ["inner", "again"]


def test_rules_for_all_functions_that_ask_for_them():
    @node_rewriter([at.sinh])
    def local_usage_sinh(fgraph, node):
        return [node.inputs[0]]

    optdb["canonicalize"].register("local_usage_sinh", local_usage_sinh, use_db_name_as_tag=False)
    assert ops(aesara.function([x], at.sinh(x), mode="FAST_COMPILE")) == ["sinh"]
    assert "sinh" not in ops(aesara.function([x], at.sinh(x), mode=FAST_COMPILE.including("local_usage_sinh")))


def test_passes_of_ones_own():
    class Count(GraphRewriter):
        def apply(self, fgraph):
            sizes.append(len(fgraph.apply_nodes))

    sizes = []
    optdb.register("usage_count", Count(), "fast_compile", "usage_tag", position=0.7)
    try:
        aesara.function([x], at.exp(x), mode="FAST_COMPILE")
        aesara.function([x], at.exp(x), mode=FAST_COMPILE.excluding("usage_tag"))
        assert sizes == [1] and "usage_tag" in optdb
    finally:
        optdb.remove_tags("usage_count", "fast_compile")
    aesara.function([x], at.exp(x), mode="FAST_COMPILE")
    assert sizes == [1]


def test_modes_of_ones_own():
    imported = []

    class Imports(Feature):
        def on_import(self, fgraph, node, reason):
            imported.append(str(node.op))

    own = SubstitutionNodeRewriter(at.exp, at.log)
    mode = Mode("py", OPT_FAST_COMPILE).register((AddFeatureOptimizer(Imports()), -5), (in2out(own, name="own"), 5))
    assert ops(aesara.function([x], at.exp(x), mode=mode)) == ["log"]
    assert imported == ["Elemwise{log,no_inplace}"]
    assert ops(aesara.function([x], at.exp(x), mode=Mode("py", in2out(own, name="own")))) == ["log"]
    database = SequenceDB()
    database.register("own", in2out(own, name="own"), "fast_run")
    alone = Mode("py", "fast_run", db=database)
    assert ops(aesara.function([x], at.exp(x), mode=alone)) == ["log"]
    assert ops(aesara.function([x], at.exp(x), mode=alone.excluding("own"))) == ["exp"]


def test_modes_with_names():
    register_mode("usage_mode", Mode("py", "fast_compile"))
    try:
        assert aesara.function([x], x + 1, mode="usage_mode")([1.0]).tolist() == [2.0]
        with pytest.raises(ValueError, match="already taken"):
            register_mode("usage_mode", FAST_COMPILE)
    finally:
        del predefined_modes["usage_mode"]


def test_assertions_are_left_out_where_that_is_asked_for():
    checked = assert_op(x, x.sum() > 0) * 3.0
    for mode, left in (
        (Mode("py", "fast_run"), True),
        (Mode("py", "fast_run").including("local_remove_all_assert"), False),
        (Mode("py", "unsafe"), False),
    ):
        f = aesara.function([x], checked, mode=mode)
        assert any("CheckAndRaise" in op or "Assert" in op for op in ops(f)) == left
    with aesara.config.change_flags(optimizer_including="local_remove_all_assert"):
        assert len(ops(aesara.function([x], assert_op(x, x.sum() > 0), mode="FAST_COMPILE"))) <= 1


def test_passes_that_print(capsys):
    aesara.function([x], at.exp(x * 1), mode=get_mode("FAST_COMPILE").including("Print1.21"))
    assert capsys.readouterr().out.splitlines()[:2] == [
        "PrintCurrentFunctionGraph: Post-canonicalize",
        "Elemwise{exp,no_inplace} [id A] 0",
    ]
    aesara.function([x], at.exp(x), mode=get_mode("FAST_COMPILE").including("Print1.51"))
    assert capsys.readouterr().out.startswith("PrintCurrentFunctionGraph: Post-stabilize\n")
    aesara.function([x], at.exp(x), mode="FAST_RUN")
    assert capsys.readouterr().out == ""


def test_nodes_without_their_line_are_reported():
    @node_rewriter([at.exp])
    def local_without_line(fgraph, node):
        hidden = at.log(node.inputs[0])
        hidden.owner.source = None
        return [hidden]

    mode = Mode("py", "fast_compile").register((in2out(local_without_line), 5))
    options = {"check_stack_trace": "raise", "on_opt_error": "raise"}
    with aesara.config.change_flags(**options), pytest.raises(AssertionError, match="without its line"):
        aesara.function([x], at.exp(x), mode=mode)
    # The rules of the package tell theirs.
    with aesara.config.change_flags(**options):
        aesara.function([x], [at.log(1 + at.exp(x)), at.grad((x**2).sum(), x)], mode="FAST_RUN")
