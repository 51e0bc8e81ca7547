"""What options of the configuration change when functions are compiled and run."""

import io

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.compile.mode import Mode
from aesara.compile.profiling import ProfileStats
from aesara.configdefaults import config
from aesara.graph.rewriting.basic import in2out, node_rewriter
from aesara.graph.utils import TestValueError as MissingTestValue
from aesara.link.vm import Loop, Stack
from aesara.scalar.composite import Composite
from aesara.tensor.creation.allocation import Alloc


@pytest.fixture
def x():
    return at.dvector("x")


def operations(function):
    return [node.op for node in function.maker.fgraph.apply_nodes]


def test_fusion(x):
    mode = Mode("py", "fast_run").including("fusion")
    for wanted in (True, False):
        with config.change_flags(tensor__local_elemwise_fusion=wanted):
            function = aesara.function([x], at.exp(at.sin(x)) * 2, mode=mode)
        composites = [op for op in operations(function) if isinstance(getattr(op, "scalar_op", None), Composite)]
        assert bool(composites) is wanted


def test_allocations_before_elementwise_operations(x):
    for wanted in (True, False):
        with config.change_flags(experimental__local_alloc_elemwise=wanted):
            function = aesara.function([x], x + at.alloc(x[0], x.shape[0]), mode="FAST_RUN")
        assert any(isinstance(op, Alloc) for op in operations(function)) is not wanted


def test_lazy_evaluation(x):
    for wanted, machine in (("True", Stack), ("None", Loop), ("False", Loop)):
        with config.change_flags(vm__lazy=wanted):
            function = aesara.function([x], x + 1, mode="FAST_COMPILE")
        assert isinstance(function.vm, machine)
        np.testing.assert_array_equal(function([1.0]), [2.0])


def test_graphs_after_a_profile(x):
    profile = ProfileStats(atexit_print=False)
    function = aesara.function([x], at.exp(x), profile=profile, mode="FAST_COMPILE")
    function([1.0])
    for wanted in (True, False):
        text = io.StringIO()
        with config.change_flags(profiling__debugprint=wanted):
            profile.print_extra(text)
        assert ("Elemwise{exp,no_inplace} [id A]" in text.getvalue()) is wanted


def test_test_values_while_rewriting(x):
    @node_rewriter([at.exp])
    def does_not_fit(fgraph, node):
        (variable,) = node.inputs
        return [node.op(variable[:-1]) + variable * 0]

    mode = Mode("py", in2out(does_not_fit, ignore_newtrees=True))
    x.tag.test_value = np.zeros(3)
    with config.change_flags(on_opt_error="raise"):
        aesara.function([x], at.exp(x), mode=mode)
        with config.change_flags(compute_test_value_opt="raise"), pytest.raises(ValueError, match="has length 2"):
            aesara.function([x], at.exp(x), mode=mode)
        del x.tag.test_value
        with config.change_flags(compute_test_value_opt="raise"), pytest.raises(MissingTestValue):
            aesara.function([x], at.exp(x), mode=mode)
        with config.change_flags(compute_test_value_opt="ignore"):
            aesara.function([x], at.exp(x), mode=mode)


def test_tags_of_modes(x):
    """Rewrites with any included tag, without any excluded tag, and with all required tags."""
    output = at.log(at.exp(x)) + 0
    plain = len(operations(aesara.function([x], output, mode=Mode("py", None))))
    assert plain == 4
    included = Mode("py", None).including("fast_run")
    assert not operations(aesara.function([x], output, mode=included))[1:]
    excluded = included.excluding("inplace", "local_exp_log", "canonicalize", "specialize", "stabilize")
    assert at.log in operations(aesara.function([x], output, mode=excluded))
    required = included.requiring("nothing has this tag")
    assert len(operations(aesara.function([x], output, mode=required))) == plain
