"""The mode that stops at NaN, infinity and very large values."""

import itertools
import logging
import pickle
import sys

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.compile.nanguardmode import NanGuardMode, contains_inf, contains_nan, flatten
from aesara.configdefaults import config
from aesara.ifelse import ifelse
from tests.closeness import assert_close

ALL = {"nan_is_error": True, "inf_is_error": True, "big_is_error": True}
NAN, INF, BIG = np.array([np.nan]), np.array([-np.inf]), np.array([2e10])


def errors_of(call):
    try:
        call()
    except AssertionError as error:
        return str(error)
    return ""


@pytest.mark.parametrize(
    ("value", "flag", "text"),
    [
        (NAN, "nan_is_error", "NaN detected"),
        (INF, "inf_is_error", "Inf detected"),
        (-INF, "inf_is_error", "Inf detected"),
        (BIG, "big_is_error", "Big value"),
        (-BIG, "big_is_error", "Big value"),
    ],
)
def test_each_kind_is_found_in_inputs_and_can_be_allowed(value, flag, text):
    x = at.dvector("x")
    f = aesara.function([x], x * 1.5, mode=NanGuardMode(**ALL))
    found = errors_of(lambda: f(value))
    assert text in found and "in an input of the graph, the input x" in found
    np.testing.assert_array_equal(f([1.0]), [1.5])
    allowed = dict.fromkeys(ALL, False) | {name: True for name in ALL if name != flag}
    if flag == "inf_is_error":
        allowed["big_is_error"] = False
    g = aesara.function([x], x * 1.5, mode=NanGuardMode(**allowed))
    np.testing.assert_array_equal(g(value), value * 1.5)


@pytest.mark.filterwarnings("error")
def test_numbers_are_big_by_their_absolute_value():
    z, h, n = at.zvector("z"), at.tensor("float16", (None,), name="h"), at.lvector("n")
    f = aesara.function([z, h, n], [z.real, h, n], mode=NanGuardMode(**ALL), on_unused_input="ignore")
    half, integer = np.array([np.finfo("float16").max]), np.array([2**60])
    f([1e10], half, integer)
    f([-1e10j], -half, -integer)
    for value in (1.1e10, -1.1e10, 1.1e10j, -1.1e10j, 0.9e10 + 0.9e10j):
        assert "Big value detected" in errors_of(lambda: f([1.0, value], half, integer))


def test_the_message_names_the_node_its_inputs_and_the_line():
    x, y = at.dvector("x"), at.dvector("y")
    quotient = x / y  # this line
    f = aesara.function([x, y], quotient.sum(), mode=NanGuardMode(**ALL))
    text = errors_of(lambda: f([0.0], [0.0]))
    assert text.startswith("NaN detected\nNanGuardMode found an error in the output of a node in this variable:")
    assert "true_div" in text and "Inputs values: [array([0.]), array([0.])]" in text
    assert "quotient = x / y  # this line" in text
    assert text.count("Apply node that caused the error") == 1
    assert f([1.0], [2.0]) == 0.5


def test_a_failed_call_changes_no_shared_variable():
    s, t = aesara.shared(1.0, name="s"), aesara.shared(0.0)
    f = aesara.function([], [], updates={s: at.log(s - 2), t: t + 1}, mode="NanGuardMode")
    with pytest.raises(AssertionError, match="NaN detected"):
        f()
    assert s.get_value() == 1.0 and t.get_value() == 0.0


def test_constants_are_looked_at_and_may_be_exempt():
    x = at.dvector("x")
    bad = at.constant(np.array([np.nan, 0.0]))
    f = aesara.function([x], x + bad, mode=NanGuardMode(**ALL))
    with pytest.raises(AssertionError, match="the constant TensorConstant"):
        f([1.0, 1.0])
    x.tag.nan_guard_mode_check = False
    g = aesara.function([x], at.isnan(x), mode=NanGuardMode(**ALL))
    np.testing.assert_array_equal(g([np.nan, 1.0]), [True, False])


def test_only_the_branch_that_is_taken_counts():
    x = at.dvector("x")
    f = aesara.function([x], ifelse(x.sum() > 0, at.log(x), 2 * x), mode=NanGuardMode(**ALL))
    np.testing.assert_array_equal(f([-1.0]), [-2.0])
    np.testing.assert_array_equal(f([1.0]), [0.0])
    with pytest.raises(AssertionError, match="Inf detected"):
        f([0.0, 1.0])


def test_numbers_without_nan_and_memory_without_meaning():
    n, i = at.lscalar("n"), at.lvector("i")
    steps, _ = aesara.scan(lambda a: a * 0.5, outputs_info=at.constant(1.0), n_steps=n)
    f = aesara.function([n, i], [steps, i * 2], mode=NanGuardMode(**ALL))
    for _ in range(5):
        np.full(50, np.nan)  # what may be left in memory
        assert_close(f(50, [2**60])[0], 0.5 ** np.arange(1, 51))


def test_a_loop_is_found():
    steps, _ = aesara.scan(lambda a: at.log(a), outputs_info=at.constant(1.0), n_steps=3)
    f = aesara.function([], steps, mode=NanGuardMode(**ALL).excluding("scan_unroll"))
    with pytest.raises(AssertionError, match=r"(?s)Inf detected.*for\{cpu,scan_fn\}") as caught:
        f()
    assert len(str(caught.value).splitlines()) <= 15
    with config.change_flags(exception_verbosity="high"):
        with pytest.raises(AssertionError, match="Inner graphs"):
            f()


def test_action_warn(caplog):
    x = at.dvector("x")
    f = aesara.function([x], at.log(x), mode=NanGuardMode(**ALL))
    with config.change_flags(NanGuardMode__action="warn"), caplog.at_level(logging.ERROR, logger="aesara"):
        assert np.isnan(f([-1.0])).all()
    assert "NaN detected" in caplog.text


def test_action_pdb(monkeypatch, capsys):
    calls = []
    monkeypatch.setattr(sys, "breakpointhook", lambda: calls.append(1))
    x = at.dvector("x")
    f = aesara.function([x], at.log(x), mode=NanGuardMode(**ALL))
    with config.change_flags(NanGuardMode__action="pdb"):
        f([-1.0])
    assert calls == [1] and "NaN detected" in capsys.readouterr().out


def test_defaults_come_from_the_configuration():
    x = at.dvector("x")
    f = aesara.function([x], at.log(x), mode="NanGuardMode")
    with config.change_flags(NanGuardMode__inf_is_error=False, NanGuardMode__big_is_error=False):
        assert f([0.0]) == -np.inf
    with pytest.raises(AssertionError):
        f([0.0])
    with config.change_flags(mode="NanGuardMode"):
        g = aesara.function([x], at.log(x))
    assert isinstance(g.maker.mode, NanGuardMode)


def test_copies():
    mode = NanGuardMode(True, False, False)
    for other in (mode.excluding("fusion"), mode.clone({"allow_gc": False}), pickle.loads(pickle.dumps(mode))):
        assert isinstance(other, NanGuardMode)
        assert (other.nan_is_error, other.inf_is_error, other.big_is_error) == (True, False, False)
    with pytest.raises(TypeError, match="linker"):
        NanGuardMode(linker=3)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64", "complex128"])
def test_contains(dtype):
    ordinary = np.array([[1, -2], [0, 3]], dtype)
    assert not contains_nan(ordinary) and not contains_inf(ordinary)
    for value, nan, inf in ((np.nan, True, False), (np.inf, False, True), (-np.inf, False, True)):
        one = ordinary.copy()
        one[0, 1] = value
        assert contains_nan(one) is nan and contains_inf(one) is inf
        assert contains_nan(one[::-1, ::2]) is False
        assert contains_nan(one[0, 1]) is nan
    assert not contains_nan(np.empty((0, 2), dtype)) and not contains_inf(np.empty((0, 2), dtype))


@pytest.mark.parametrize(
    "value", [None, 3, slice(None), np.random.default_rng(1), np.random.RandomState(1), "text", np.array([1, 2]), True]
)
def test_other_values_contain_nothing(value):
    assert not contains_nan(value) and not contains_inf(value)


def test_memory_of_empty_contains_nothing():
    out = at.empty((2,))
    assert not contains_nan(np.array([np.nan]), var=out)
    assert not contains_inf(np.array([np.inf]), node=out.owner)


def test_flatten():
    assert flatten([1, [2, (3, [4])], (5,)]) == [1, 2, 3, 4, 5]
    assert flatten([]) == [] and flatten(3) == [3]


def test_long_graphs_are_cut():
    """A message has fifteen lines at most, and as much of the graph as there is room for; all if asked for."""
    x = at.dvector("x")
    y = x
    for _ in range(30):
        y = at.sin(y) * 2 + at.cos(y)
    f = aesara.function([x], at.log(y - 1e3), mode=NanGuardMode(**ALL).excluding("fusion"))
    text = errors_of(lambda: f([1.0]))
    lines = text.splitlines()
    assert "NaN detected" in lines[0] and len(lines) == 15
    assert sum("[id " in line for line in lines) == 2 and " ..." in lines
    with config.change_flags(exception_verbosity="high"):
        assert len(errors_of(lambda: f([1.0])).splitlines()) > 30
    g = aesara.function([x], at.log(x), mode=NanGuardMode(**ALL))
    lines = errors_of(lambda: g([-1.0])).splitlines()
    assert len(lines) <= 15 and " ..." not in lines and any("[id B]" in line for line in lines)


@pytest.mark.parametrize("configured", itertools.product([False, True], repeat=3))
def test_each_flag_is_what_was_chosen_or_what_is_configured(configured):
    names = ("nan_is_error", "inf_is_error", "big_is_error")
    flags = {f"NanGuardMode__{name}": value for name, value in zip(names, configured)}
    x = at.dvector("x")
    for chosen in itertools.product([None, False, True], repeat=3):
        mode = NanGuardMode(*chosen)
        with aesara.config.change_flags(**flags):
            expected = [value if given is None else given for given, value in zip(chosen, configured)]
            assert [getattr(mode, name) for name in names] == expected
    f = aesara.function([x], x * 2, mode=NanGuardMode())
    nan, inf, big = configured
    for value, is_error in ((np.nan, nan), (np.inf, inf or big), (1e12, big)):
        with aesara.config.change_flags(**flags):
            if is_error:
                with pytest.raises(AssertionError, match="the input x"):
                    f([value])
            else:
                assert len(f([value])) == 1
