"""Frames of the package in tracebacks: which errors lose them, and which keep them."""

import traceback

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.graph.basic import Apply
from aesara.graph.op import Op
from aesara.tracebacks import hide_own_frames, is_on_purpose, without_own_frames


def caught(act):
    with pytest.raises(Exception) as found:
        act()
    return found.value


def files(trace):
    return [frame.filename for frame in traceback.extract_tb(trace)]


def shapes_that_do_not_fit(mode):
    x, y = at.dmatrix("x"), at.dvector("y")
    f = aesara.function([x, y], x @ y, mode=mode)
    return lambda: f(np.ones((3, 2)), np.ones(3))


def no_cost():
    aesara.grad(at.dvector("x"), [])


def not_a_variable():
    at.dot(at.dmatrix("x"), "a")  # through a wrapper of the standard library


def missing_input():
    x, y = at.dvectors("x", "y")
    aesara.function([x], x + y)


def value_of_another_kind():
    aesara.shared(np.ones(3)).set_value("a")  # NumPy's error, to which the container's name is added


@pytest.mark.parametrize(
    "act",
    [
        value_of_another_kind,
        no_cost,
        not_a_variable,
        missing_input,
        shapes_that_do_not_fit(None),
        shapes_that_do_not_fit("FAST_COMPILE"),
    ],
)
def test_a_traceback_ends_with_the_users_line(act):
    error = caught(act)
    shown = hide_own_frames(error, error.__traceback__)
    assert set(files(shown)) == {__file__}
    assert len(files(error.__traceback__)) > len(files(shown))


def test_native_code_adds_one_frame():
    error = caught(shapes_that_do_not_fit(None))
    own = [name for name in files(error.__traceback__) if name != __file__]
    assert len(own) == 1 and own[0].endswith("callable.py")


class Broken(Op):
    __props__ = ()

    def make_node(self, x):
        return Apply(self, [x], [x.type()])

    def perform(self, node, inputs, outputs):
        raise KeyError("of the user")


def test_frames_between_those_of_the_user_are_marked():
    x = at.dvector("x")
    f = aesara.function([x], Broken()(x), mode="FAST_COMPILE")
    error = caught(lambda: f([1.0]))
    shown = hide_own_frames(error, error.__traceback__)
    assert files(shown) == files(error.__traceback__) and files(shown)[-1] == __file__
    while shown is not None:
        own = shown.tb_frame.f_code.co_filename != __file__
        assert shown.tb_frame.f_locals.get("__tracebackhide__", False) == own
        shown = shown.tb_next


def test_causes_are_marked():
    def act():
        try:
            no_cost()
        except TypeError as error:
            raise ValueError("of the user") from error

    error = caught(act)
    hide_own_frames(error, error.__traceback__)
    last = error.__cause__.__traceback__
    while last.tb_next is not None:
        last = last.tb_next
    assert last.tb_frame.f_locals["__tracebackhide__"]


def test_defects_of_the_package_keep_their_frames(monkeypatch):
    monkeypatch.setattr("aesara.graph.autodiff.check_cost", None)  # calling it is an error that nobody has written
    error = caught(no_cost)
    assert not is_on_purpose(error, error.__traceback__)
    assert hide_own_frames(error, error.__traceback__) is error.__traceback__
    assert without_own_frames(error).__traceback__ is error.__traceback__
    frames = [link for link, _ in traceback.walk_tb(error.__traceback__)]
    assert not any("__tracebackhide__" in frame.f_locals for frame in frames)


def test_a_traceback_of_the_users_program_stays():
    error = caught(lambda: 1 / 0)
    assert hide_own_frames(error, error.__traceback__).tb_frame is error.__traceback__.tb_frame
    assert without_own_frames(error).__traceback__ is not None
