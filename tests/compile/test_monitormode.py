"""Functions of the user around every node."""

import copy
import pickle

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.compile.monitormode import MonitorMode, detect_nan
from aesara.ifelse import ifelse
from aesara.link.basic import PerformLinker
from tests.closeness import assert_close


def test_functions_see_every_node_in_order_with_its_values():
    x = at.dvector("x")
    seen = []

    def before(fgraph, i, node, thunk):
        seen.append(("before", i, node, [cell[0] is None for cell in thunk.outputs]))

    def after(fgraph, i, node, thunk):
        assert fgraph is f.maker.fgraph
        seen.append(("after", i, node, [np.array(cell[0]) for cell in thunk.inputs]))

    f = aesara.function([x], at.log(at.exp(x) + 1).sum(), mode=MonitorMode(before, after))
    assert f([0.0, 0.0]) == pytest.approx(2 * np.log(2), rel=1e-12)
    nodes = f.maker.fgraph.toposort()
    assert [(kind, i, node) for kind, i, node, _ in seen] == [
        (kind, i, node) for i, node in enumerate(nodes) for kind in ("before", "after")
    ]
    np.testing.assert_array_equal(seen[1][3][-1], [0.0, 0.0])


def test_results_of_one_call_survive_the_next():
    x = at.dvector("x")
    f = aesara.function([x], at.exp(x)[::2], mode=MonitorMode())
    first = f([0.0, 1.0, 2.0])
    f([5.0, 5.0, 5.0])
    assert_close(first, np.exp([0.0, 2.0]))


def test_updates_and_lazy_nodes():
    s, x = aesara.shared(1.0), at.dvector("x")
    f = aesara.function([x], ifelse(s > 1.5, x + 1, x * 3), updates={s: s + 1}, mode="MonitorMode")
    np.testing.assert_array_equal(f([1.0, 2.0]), [3.0, 6.0])
    np.testing.assert_array_equal(f([1.0, 2.0]), [2.0, 3.0])
    assert s.get_value() == 3.0


def test_an_error_names_its_node():
    x = at.dvector("x")
    f = aesara.function([x], x[5], mode=MonitorMode())
    with pytest.raises(IndexError, match="Apply node that caused the error"):
        f([1.0])


def test_detect_nan_prints_the_first_node_and_its_inputs(capsys):
    x = at.dvector("x")
    f = aesara.function([x], at.log(x), mode=MonitorMode(post_func=detect_nan))
    f([1.0])
    assert capsys.readouterr().out == ""
    f([-1.0])
    text = capsys.readouterr().out
    assert text.startswith("*** NaN detected ***\nElemwise{log")
    assert "Inputs : [array([-1.])]" in text and "Outputs: [array([nan])]" in text


def test_detect_nan_passes_over_integers_and_memory_without_meaning(capsys):
    n = at.lscalar("n")
    f = aesara.function([n], [at.empty((n,)), n + 1], mode=MonitorMode(post_func=detect_nan))
    f(1000)
    assert capsys.readouterr().out == ""


def test_copies_keep_the_functions():
    mode = MonitorMode(post_func=detect_nan, optimizer="fast_compile")
    for other in (
        mode.excluding("fusion"),
        mode.including("inplace"),
        mode.clone(),
        pickle.loads(pickle.dumps(mode)),
        copy.copy(mode),
    ):
        assert isinstance(other, MonitorMode)
        assert other.post_func is detect_nan and other.pre_func is None
    assert mode.clone(post_func=None).post_func is None
    assert aesara.compile.get_mode("MonitorMode").post_func is None


def test_linkers():
    x = at.dscalar("x")
    for linker in (None, "py", "cvm", PerformLinker()):
        f = aesara.function([x], x + 1, mode=MonitorMode(linker=linker))
        assert f(1.0) == 2.0
    with pytest.raises(ValueError, match="Unknown linker 'nonsense'"):
        MonitorMode(linker="nonsense")
    with pytest.raises(TypeError, match="runs single nodes"):
        MonitorMode(linker=3)
    with pytest.raises(TypeError, match="post_func"):
        MonitorMode(post_func="print")
    with pytest.raises(TypeError, match="clone takes"):
        MonitorMode().clone(middle=print)


def test_the_step_of_a_loop_can_be_watched():
    seen = []

    def note(fgraph, i, node, thunk):
        seen.extend(cell[0].item() for cell in thunk.outputs if np.ndim(cell[0]) == 0)

    x = at.dscalar("x")
    rows, _ = aesara.scan(lambda last: last * last, outputs_info=x, n_steps=3, mode=MonitorMode(post_func=note))
    assert aesara.function([x], rows[-1])(2.0) == 256.0
    assert seen == [4.0, 16.0, 256.0]
