"""Modes, linkers by name, the list of passes, and in-place graphs."""

import pickle

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.compile import mode as mode_module
from aesara.compile import optdb
from aesara.compile.debugmode import DebugMode
from aesara.compile.mode import (
    FAST_COMPILE,
    FAST_RUN,
    JAX,
    NUMBA,
    OPT_FAST_RUN,
    OPT_NONE,
    AddFeatureOptimizer,
    Mode,
    PrintCurrentFunctionGraph,
    get_default_mode,
    get_mode,
    get_target_language,
    predefined_linkers,
    predefined_modes,
    predefined_optimizers,
    register_linker,
    register_mode,
    register_optimizer,
)
from aesara.compile.monitormode import MonitorMode
from aesara.compile.nanguardmode import NanGuardMode
from aesara.compile.pipeline import PASSES, fill
from aesara.graph.features import Feature
from aesara.graph.rewriting.db import RewriteDatabaseQuery, SequenceDB
from aesara.graph.rewriting.rewriter import GraphRewriter
from aesara.graph.utils import InconsistencyError
from aesara.link.basic import NativeLinker, PerformLinker
from aesara.link.vm import VMLinker
from aesara.scalar import add
from aesara.tensor.elemwise import Elemwise
from tests.closeness import assert_close


@pytest.fixture
def x():
    return at.dvector("x")


class Recorder(GraphRewriter):
    """Remembers the graphs that it saw."""

    def __init__(self):
        self.seen = []

    def apply(self, fgraph):
        self.seen.append(fgraph)


class TestLookup:
    def test_names(self):
        assert get_mode("FAST_RUN") is FAST_RUN and get_mode("FAST_COMPILE") is FAST_COMPILE
        assert get_mode(FAST_RUN) is FAST_RUN

    def test_default(self):
        default = get_default_mode()
        assert default is get_mode(None) and default is get_mode("Mode")
        assert isinstance(default.linker, NativeLinker)
        with aesara.config.change_flags(linker="py", optimizer="None"):
            assert get_default_mode() is not default
            assert isinstance(get_default_mode().linker, VMLinker)
        with aesara.config.change_flags(mode="FAST_COMPILE"):
            assert get_default_mode() is FAST_COMPILE
        assert get_default_mode() is default

    def test_configured_tags(self):
        with aesara.config.change_flags(optimizer_excluding="merge:inplace", optimizer_including="mine"):
            for name in ("FAST_RUN", "Mode"):
                query = get_mode(name)._query
                assert {"merge", "inplace"} <= set(query.exclude) and "mine" in query.include

    def test_unknown(self):
        with pytest.raises(ValueError, match="'FOO'"):
            get_mode("FOO")
        with pytest.raises(ValueError, match="Unknown linker 'foo'.*'llvm'"):
            Mode("foo")
        with pytest.raises(ValueError, match="Unknown optimizer 'foo'.*'fast_run'"):
            Mode("py", "foo")
        with pytest.raises(TypeError, match="VMLinker()"):
            Mode(VMLinker)

    @pytest.mark.parametrize("name", ["cvm", "vm", "c|py", "py", "llvm"])
    def test_linker_names(self, name, x):
        f = aesara.function([x], x + 1, mode=Mode(name, "fast_run"))
        assert f([1.0]).tolist() == [2.0]

    @pytest.mark.parametrize("name", [name for name in predefined_optimizers if name != "fast_run_stable"])
    def test_optimizer_names(self, name, x):
        assert aesara.function([x], x + 1 + 1, mode=Mode("py", name))([1.0]).tolist() == [3.0]

    def test_missing_back_ends(self, x):
        with pytest.raises(NotImplementedError, match="numba"):
            aesara.function([x], x, mode=NUMBA)

    def test_jax_where_it_is_not_installed(self, x, monkeypatch):
        monkeypatch.setattr("aesara.link.jax.linker.find_spec", lambda name: None)
        with pytest.raises(ModuleNotFoundError, match=r"pip install 'aesara\[jax\]'"):
            aesara.function([x], x, mode=JAX)

    def test_target_language(self):
        assert get_target_language("FAST_COMPILE") == ("py",)
        assert "c" in get_target_language("FAST_RUN")


class TestRegistering:
    def test_mode(self, x, monkeypatch):
        monkeypatch.setattr(mode_module, "predefined_modes", dict(predefined_modes))
        register_mode("mine", Mode("py", None))
        assert aesara.function([x], x + 1, mode="mine")([1.0]).tolist() == [2.0]
        with pytest.raises(ValueError, match="already taken: mine"):
            register_mode("mine", FAST_RUN)

    def test_linker_and_optimizer(self, x, monkeypatch):
        monkeypatch.setattr(mode_module, "predefined_linkers", dict(predefined_linkers))
        monkeypatch.setattr(mode_module, "predefined_optimizers", dict(predefined_optimizers))
        register_linker("mine", VMLinker())
        register_optimizer("mine", OPT_NONE)
        assert aesara.function([x], x + 1, mode=Mode("mine", "mine"))([1.0]).tolist() == [2.0]
        with pytest.raises(ValueError, match="already taken"):
            register_linker("py", VMLinker())
        with pytest.raises(ValueError, match="already taken"):
            register_optimizer("fast_run", OPT_FAST_RUN)


class TestChoosingRewrites:
    def test_tags(self, x):
        mode = Mode("py", "fast_run")
        assert "a" in mode.including("a")._query.include
        assert "a" in mode.excluding("a")._query.exclude
        assert "a" in mode.requiring("a")._query.require
        assert len(
            aesara.function([x], x * 1, mode=mode.excluding("canonicalize", "specialize")).maker.fgraph.apply_nodes
        ) > (len(aesara.function([x], x * 1, mode=mode).maker.fgraph.apply_nodes) - 1)

    def test_register(self, x):
        recorder = Recorder()
        aesara.function([x], x + 1, mode=FAST_COMPILE.register((recorder, 60)))
        assert len(recorder.seen) == 1

    def test_fixed_rewriter(self, x):
        recorder = Recorder()
        mode = Mode("py", recorder)
        aesara.function([x], x + 1, mode=mode)
        assert len(recorder.seen) == 1
        with pytest.raises(TypeError, match="fixed rewriter"):
            mode.including("a")

    def test_own_database(self, x):
        recorder, db = Recorder(), SequenceDB()
        db.register("recorder", recorder, "mine", position=1)
        mode = Mode("py", RewriteDatabaseQuery(include=["mine"]), db=db)
        aesara.function([x], x + 1, mode=mode)
        assert len(recorder.seen) == 1

    def test_new_registrations_are_noticed(self, x):
        db = SequenceDB()
        mode = Mode("py", RewriteDatabaseQuery(include=["mine"]), db=db)
        aesara.function([x], x + 1, mode=mode)
        recorder = Recorder()
        db.register("recorder", recorder, "mine", position=1)
        aesara.function([x], x + 1, mode=mode)
        assert len(recorder.seen) == 1

    def test_a_database_that_is_gone_answers_for_no_other(self, x):
        for _ in range(20):  # a database may be made where another has been
            recorder, db = Recorder(), SequenceDB()
            mode = Mode("py", RewriteDatabaseQuery(include=["mine"]), db=db)
            aesara.function([x], x + 1, mode=mode)
            db.register("recorder", recorder, "mine", position=1)
            aesara.function([x], x + 1, mode=mode)
            assert len(recorder.seen) == 1

    def test_clone(self):
        mode = Mode("py", "fast_run")
        assert mode.clone(link_kwargs={"allow_gc": False}).linker.allow_gc is False
        assert mode.clone(optimizer="None")._query is OPT_NONE
        assert mode.clone().linker is mode.linker

    @pytest.mark.parametrize("kind", [Mode, MonitorMode, DebugMode, NanGuardMode])
    def test_clones_have_the_query_that_is_given(self, kind):
        """A query, a rewriter, a name, or None for no rewrites; the mode's own if nothing is said."""
        db, rewriter, query = SequenceDB(), Recorder(), RewriteDatabaseQuery(include=["mine"])
        mode = kind(optimizer="fast_compile", db=db)
        for given, expected in (
            (query, query),
            (rewriter, rewriter),
            ("fast_run", OPT_FAST_RUN),
            (None, OPT_NONE),
            ("None", OPT_NONE),
        ):
            other = mode.clone(optimizer=given)
            assert type(other) is kind and other.optdb is db
            if kind is NanGuardMode and expected is not rewriter:
                expected = expected.including("alloc_empty_to_zeros")
            assert other.provided_optimizer == expected and other.clone().provided_optimizer == expected
        assert mode.clone().provided_optimizer == mode.provided_optimizer
        with pytest.raises(ValueError, match="Unknown optimizer 'nonsense'"):
            mode.clone(optimizer="nonsense")

    def test_the_query_can_be_set(self, x):
        mode = Mode("py")
        mode._optimizer = mode._optimizer.excluding("canonicalize", "specialize")
        kept = aesara.function([x], x * 1.0, mode=mode).maker.fgraph
        assert [node.op for node in kept.apply_nodes if node.op == at.mul]
        assert mode.clone()._optimizer is mode._optimizer

    @pytest.mark.parametrize("name", ["FAST_RUN", "FAST_COMPILE", "Mode", None])
    def test_the_query_of_a_named_mode(self, x, name):
        # Libraries make modes of their own from it.
        query = get_mode(name).provided_optimizer.including("mine").excluding("canonicalize", "specialize", "inplace")
        mode = Mode("py", query)
        assert mode.provided_optimizer is query
        f = aesara.function([x], x * 1.0, mode=mode)
        assert [node.op for node in f.maker.fgraph.apply_nodes if node.op == at.mul]

    def test_pickle(self, x):
        mode = pickle.loads(pickle.dumps(Mode("py", "fast_compile")))
        assert mode.provided_linker == "py" and str(mode) == "Mode(linker=py, optimizer=fast_compile)"
        assert aesara.function([x], x + 1, mode=mode)([1.0]).tolist() == [2.0]

    def test_rewriters_are_kept(self):
        assert FAST_RUN.optimizer is FAST_RUN.optimizer


class TestPasses:
    def test_in_order(self):
        positions = [step.position for step in PASSES]
        assert positions == sorted(positions)
        assert len({step.name for step in PASSES}) == len(PASSES)

    def test_all_are_registered(self):
        for step in PASSES:
            assert optdb.__position__[step.name] == step.position
        before = optdb.version
        fill(optdb)
        assert optdb.version == before

    def test_printing_a_graph(self, x, capsys):
        aesara.function([x], x + 1, mode=FAST_COMPILE.register((PrintCurrentFunctionGraph("here"), 60)))
        assert "here" in capsys.readouterr().out

    def test_adding_a_feature(self, x):
        class Mark(Feature):
            pass

        mark = Mark()
        f = aesara.function([x], x + 1, mode=FAST_COMPILE.register((AddFeatureOptimizer(mark), 0)))
        assert mark in f.maker.fgraph._features


class InPlaceAdd(GraphRewriter):
    """Makes every addition overwrite its first input, if the graph allows it."""

    def apply(self, fgraph):
        for node in fgraph.toposort():
            if isinstance(node.op, Elemwise) and node.op.scalar_op == add and not node.op.inplace_pattern:
                for position in range(len(node.inputs)):
                    new = Elemwise(add, {0: position})(*node.inputs)
                    try:
                        fgraph.replace_validate(node.outputs[0], new, reason="InPlaceAdd")
                        break
                    except InconsistencyError:
                        continue


class TestInPlace:
    """Rewrites of users that make operations overwrite their inputs."""

    mode = Mode("py", "fast_run").register((InPlaceAdd(), 75))

    def test_arguments_are_protected(self, x):
        with aesara.config.change_flags(on_opt_error="ignore"):  # where it must not overwrite anything, the rule fails
            f = aesara.function([x], x + x.sum(), mode=self.mode)
        value = np.ones(2)
        assert f(value).tolist() == [3.0, 3.0] and value.tolist() == [1.0, 1.0]
        assert not any(node.op.destroy_map for node in f.maker.fgraph.apply_nodes)

    def test_temporaries_may_be_overwritten(self, x):
        f = aesara.function([x], at.exp(x) + x, mode=self.mode)
        assert any(node.op.destroy_map for node in f.maker.fgraph.apply_nodes)
        assert_close(f(np.ones(2)), np.exp(1) + 1)

    def test_lent_arguments_may_be_overwritten(self, x):
        f = aesara.function([aesara.In(x, mutable=True)], x + x.sum(), mode=self.mode)
        value = np.ones(2)
        assert f(value).tolist() == [3.0, 3.0] and value.tolist() == [3.0, 3.0]

    def test_lent_arguments_that_share_memory_are_separated(self, x):
        y = at.dvector("y")
        f = aesara.function([aesara.In(x, mutable=True), y], [x + x.sum(), y * 1.5], mode=self.mode)
        value = np.ones(2)
        one, two = f(value, value)
        assert one.tolist() == [3.0, 3.0] and two.tolist() == [1.5, 1.5]

    def test_shared_values_after_an_error(self, x):
        s = aesara.shared(np.ones(2))
        with aesara.config.change_flags(on_opt_error="ignore"):
            f = aesara.function([x], (s * x).sum(), updates={s: s + s.sum()}, mode=self.mode)
        with pytest.raises(ValueError):
            f([1.0, 2.0, 3.0])
        assert s.get_value().tolist() == [1.0, 1.0]


class WithoutLogarithms(PerformLinker):
    incompatible_rewrites = ("canonicalize", "stabilize", "specialize")


def test_a_linker_leaves_out_rewrites():
    x = at.dvector("x")
    ops = {}
    for linker in (PerformLinker(), WithoutLogarithms()):
        f = aesara.function([x], at.log(at.exp(x)), mode=Mode(linker, "fast_run"))
        ops[type(linker)] = len(f.maker.fgraph.apply_nodes)
    assert ops[WithoutLogarithms] == 2 > ops[PerformLinker]


def test_none_is_no_name_of_a_linker():
    with pytest.raises(ValueError, match="Unknown linker 'None'"):
        Mode.get_linker_optimizer(None, "fast_run")
