"""Warnings name the line of the program that has led to them, however deep they are."""

import contextlib
import inspect
import warnings

import pytest

import aesara
import aesara.tensor as at
from aesara.configdefaults import config
from aesara.configparser import AesaraConfigWarning
from aesara.graph import FunctionGraph
from aesara.graph.basic import Apply
from aesara.graph.features import ReplaceValidate
from aesara.graph.op import Op
from aesara.sandbox.rng_mrg import MRG_RandomStream, guess_n_streams
from aesara.tensor.derivatives.gradient_operators import consider_constant
from aesara.user_code import user_frame, warn_user


class Two(Op):
    def make_node(self, x):
        return Apply(self, [x], [x.type(), x.type()])

    def perform(self, node, inputs, outputs):
        raise NotImplementedError


def not_removed(x):
    y = at.exp(x)
    graph = FunctionGraph([x], [y + y], clone=False, features=[ReplaceValidate()])
    try:
        graph.replace_all_validate_remove([(graph.outputs[0], y * 2)], [y.owner])
    except Exception:
        pass


def without_test_value(x):
    with config.change_flags(compute_test_value="warn"):
        at.exp(x)


#: What gives a warning, each somewhere else in the package and through other calls.
WARNINGS = [
    lambda x: at.exp(x).dimshuffle(0) and consider_constant(x),
    lambda x: aesara.grad(x.sum(), at.dscalar(), disconnected_inputs="warn"),
    lambda x: aesara.grad(x.sum(), [at.dscalar()], disconnected_inputs="warn"),
    lambda x: aesara.function([x, at.dscalar()], x, on_unused_input="warn"),
    lambda x: Two()(x, name="both"),
    lambda x: at.TensorType("float64", broadcastable=[False]),
    lambda x: guess_n_streams((x.shape[0],), warn=True),
    lambda x: MRG_RandomStream(1).multinomial_wo_replacement(n=2, pvals=at.dmatrix()),
    lambda x: aesara.printing.debugprint(x, ids="int", file="str"),
    lambda x: at.nnet.conv2d(at.dtensor4(), at.dtensor4(), image_shape=None, filter_shape=None, unknown=1),
]


@pytest.mark.parametrize("number", range(len(WARNINGS)))
def test_a_warning_is_about_the_line_here(number):
    x = at.dvector("x")
    act = WARNINGS[number]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        act(x)
    assert caught
    for warning in caught:
        assert (warning.filename, warning.lineno) == (__file__, act.__code__.co_firstlineno)


@pytest.mark.parametrize("act", [not_removed, without_test_value], ids=lambda act: act.__name__)
def test_a_warning_is_about_a_line_of_the_function(act):
    lines, start = inspect.getsourcelines(act)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        act(at.dvector("x"))
    (warning,) = caught
    assert warning.filename == __file__ and start < warning.lineno < start + len(lines)


def test_options():
    with pytest.warns(AesaraConfigWarning) as caught:
        config.scan.no_such_option = 3
        AesaraConfigWarning.warn("a text")
    assert {warning.filename for warning in caught} == {__file__}


def test_each_line_is_told_once():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for _ in range(3):
            warn_user("a text")
        warn_user("a text", DeprecationWarning)
    assert [warning.category for warning in caught] == [UserWarning, DeprecationWarning]


def test_wrappers_of_the_standard_library_lie_between():
    found = []

    @contextlib.contextmanager
    def asking():
        found.append(user_frame(2).f_code.co_name)
        yield

    def of_the_program():
        with asking():
            pass

    of_the_program()
    assert found == ["of_the_program"]
