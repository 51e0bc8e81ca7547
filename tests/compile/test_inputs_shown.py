"""Messages and callbacks show what a node has read, also where the node has written over it."""

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.compile.mode import Mode
from aesara.compile.monitormode import MonitorMode, detect_nan
from aesara.compile.nanguardmode import NanGuardMode
from aesara.compile.profiling import ProfileStats
from aesara.graph.nodes import Apply
from aesara.graph.op import Op
from aesara.ifelse import ifelse
from aesara.link.basic import PerformLinker
from aesara.link.vm import VMLinker

# log(v - 1) * 2, where the logarithm and the product write over what they read
POINTS = np.array([0.5, 2.0])
READ = [np.array([-0.5, 1.0])]


class ScaledInPlace(Op):
    """Multiplies its first input by -7 where it lies; then it may fail."""

    destroy_map = {0: [0]}
    __props__ = ("fails",)

    def __init__(self, fails):
        self.fails = fails

    def make_node(self, x, y):
        x, y = at.as_tensor_variable(x), at.as_tensor_variable(y)
        return Apply(self, [x, y], [x.type()])

    def perform(self, node, inputs, output_storage):
        inputs[0] *= -7
        if self.fails:
            raise ValueError("too late")
        output_storage[0][0] = inputs[0]


def has_in_place_nodes(f):
    return any(node.op.destroy_map for node in f.maker.fgraph.apply_nodes)


def log_of_difference(mode):
    v = at.dvector("v")
    f = aesara.function([v], at.log(v - 1) * 2, mode=mode)
    assert has_in_place_nodes(f)
    return f


def test_nan_guard_mode():
    f = log_of_difference(NanGuardMode(nan_is_error=True))
    with pytest.raises(AssertionError, match="NaN detected") as caught:
        f(POINTS)
    assert "Inputs values: [array([-0.5, 1. ])]" in str(caught.value)


def test_monitor_mode(capsys):
    seen = {}

    def after(fgraph, i, node, thunk):
        seen[type(node.op.scalar_op).__name__] = [np.array(cell[0]) for cell in thunk.inputs]

    f = log_of_difference(MonitorMode(post_func=after))
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(f(POINTS), [np.nan, 0.0])
        np.testing.assert_array_equal(seen["Log"], READ)
        np.testing.assert_array_equal(seen["Mul"][-1], [np.nan, 0.0])
        log_of_difference(MonitorMode(post_func=detect_nan))(POINTS)
    assert "Inputs : [array([-0.5,  1. ])]\nOutputs: [array([nan,  0.])]" in capsys.readouterr().out


@pytest.mark.parametrize("lazy", [False, True])
def test_callback_of_a_linker(lazy):
    seen = {}

    def after(node, thunk, storage_map, compute_map):
        seen[type(node.op.scalar_op).__name__] = [np.array(storage_map[v][0]) for v in node.inputs]

    f = log_of_difference(Mode(VMLinker(callback=after, lazy=lazy), "fast_run"))
    f([2.0, 3.0])
    np.testing.assert_array_equal(seen["Log"], [[1.0, 2.0]])


def test_nan_where():
    f = log_of_difference("NanWhere")
    with pytest.raises(aesara.errors.NanFound, match=r"Inputs values: \[array\(\[-0.5, 1. \]\)\]"):
        f(POINTS)


MODES = {
    "reference": lambda: Mode("py", "fast_run"),
    "lazy": lambda: Mode(VMLinker(lazy=True), "fast_run"),
    "perform": lambda: Mode(PerformLinker(), "fast_run"),
    "monitor": lambda: MonitorMode(),
    "native": lambda: "FAST_RUN",
    "nan guard": lambda: NanGuardMode(),
    "debug": lambda: "DebugMode",
}


@pytest.mark.parametrize(
    "mode, profile", [*((mode, False) for mode in MODES), *((mode, True) for mode in ("reference", "lazy", "native"))]
)
def test_a_node_that_fails_after_it_has_written(mode, profile):
    x, y = at.dvector("x"), at.dvector("y")
    z = ScaledInPlace(True)(x + 1, y)  # here
    measured = ProfileStats(atexit_print=False) if profile else False
    f = aesara.function([x, y], z * 2, mode=MODES[mode](), profile=measured, accept_inplace=True)
    for _ in range(2):
        with pytest.raises(ValueError, match="too late") as caught:
            f(np.array([1.0, 2.0]), np.array([5.0, 6.0]))
        assert "Inputs values: [array([2., 3.]), array([5., 6.])]" in str(caught.value)


@pytest.mark.parametrize("verbosity, shown", [("low", "not shown"), ("high", "array([2., 2., 2.,")])
def test_large_values(verbosity, shown):
    x, y = at.dvector("x"), at.dvector("y")
    f = aesara.function([x, y], ScaledInPlace(True)(x + 1, y), mode=Mode("py", "fast_run"), accept_inplace=True)
    with aesara.config.change_flags(exception_verbosity=verbosity), pytest.raises(ValueError) as caught:
        f(np.ones(21), np.zeros(1))
    assert f"Inputs values: [{shown}" in str(caught.value)


def test_results_and_shared_variables_are_what_they_are_without_a_look():
    x, y = at.dvector("x"), at.dvector("y")
    for mode in (Mode("py", "fast_run"), MonitorMode(), NanGuardMode(), Mode(VMLinker(callback=lambda **_: None))):
        total = aesara.shared(np.array([1.0, 2.0]))
        scaled = ScaledInPlace(False)(x + 1, y)
        updates = {total: total + scaled}
        outputs = [scaled, ifelse(y[0] > 0, x, -x)]
        f = aesara.function([x, y], outputs, updates=updates, mode=mode, accept_inplace=True)
        assert has_in_place_nodes(f)
        for _ in range(2):
            np.testing.assert_array_equal(f([1.0, 2.0], [1.0, 1.0])[0], [-14.0, -21.0])
        np.testing.assert_array_equal(total.get_value(), [-27.0, -40.0])
