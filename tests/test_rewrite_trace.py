"""`aesara.rewrite_trace`: steps, why they were taken, filters, loops, functions; and `aesara.rewrite_profile`."""

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.graph.rewriting.basic import in2out, rule
from aesara.printing.rewrite_trace import RewriteStep

x = at.dvector("x")


def test_steps_have_rule_stage_line_and_reason():
    trace = aesara.rewrite_trace(at.log(1 + at.exp(x)))
    (step,) = trace.only("log1pexp_to_softplus")
    assert (step.before, step.after, step.stage) == ("log1p(exp(x))", "softplus(x)", "stabilize")
    assert step.why == "log1p(exp(x)) becomes softplus(x)"
    assert step.source.filename == __file__ and step.level == 0
    text = str(trace)
    assert text.endswith("Before: log((1 + exp(x)))\nAfter: softplus(x)") and "test_rewrite_trace.py:" in text
    assert repr(trace) == text and len(trace) == len(list(trace)) == len(trace.steps)


def test_steps_that_change_no_formula_are_only_named():
    trace = aesara.rewrite_trace(at.log(1 + at.exp(x)), mode="FAST_RUN")
    hidden = [step for step in trace if not step.shows]
    assert {step.rule for step in hidden} >= {"constant_folding", "inplace_elemwise_opt"}
    lines = str(trace).splitlines()
    assert [line.split()[1] for line in lines if line[0].isdigit()] == ["local_log1p", "log1pexp_to_softplus"]
    assert lines[-3].startswith("The formula stays as it is: ") and "inplace_elemwise_opt (1)" in lines[-3]
    assert "inplace_elemwise_opt (1)" in trace._repr_html_()
    # Who asks for a rule sees its steps.
    assert "1. inplace_elemwise_opt" in str(trace.only("inplace_elemwise_opt"))
    assert not RewriteStep("r", "s", "(x + [1.])", "(x + 1)", "", None).shows
    assert RewriteStep("r", "s", "(x + [1.5])", "(x + 1)", "", None).shows
    assert RewriteStep("r", "s", "(x + 1)", "(x + 10)", "", None).shows


def test_reasons_read_as_mathematics():
    assert aesara.rewrite_trace(at.sqrt(x**2)).only("local_sqrt_sqr")[0].why == "sqrt(square(x)) becomes abs(x)"
    (step,) = aesara.rewrite_trace(x * 2 / 2).only("local_mul_canonizer")
    assert "equal factors cancel" in step.why and step.after == "x"
    assert "``" not in str(aesara.rewrite_trace(at.log(at.sum(at.exp(x)))))


def test_the_expression_itself_is_left_alone():
    y = at.log(at.exp(x))
    trace = aesara.rewrite_trace(y)
    assert aesara.pprint(y) == "log(exp(x))"
    assert aesara.pprint(trace.before[0]) == "log(exp(x))" and aesara.pprint(trace.after[0]) == "x"


def test_tags_and_modes():
    y = at.log(at.exp(x))
    assert "local_log_exp" in aesara.rewrite_trace(y).rules
    assert "local_log_exp" not in aesara.rewrite_trace(y, exclude=["local_log_exp"]).rules
    assert aesara.rewrite_trace(y, mode=aesara.Mode("py", None)).rules == []
    assert aesara.rewrite_trace(y, mode=aesara.Mode("py", None), include=["specialize"]).rules == ["local_log_exp"]
    alone = aesara.Mode("py", in2out(rule("mine", (at.log, (at.exp, "x")), (at.sin, "x"), why="No reason")))
    (step,) = aesara.rewrite_trace(y, mode=alone)
    assert (step.rule, step.why, step.after) == ("mine", "No reason", "sin(x)")
    assert "No rule applies." in str(aesara.rewrite_trace(x))


def test_functions():
    state = aesara.shared(np.zeros(3), name="s")
    f = aesara.function([x], at.log(at.exp(x)), updates=[(state, at.log(1 + state))])
    trace = aesara.rewrite_trace(f)
    assert {"local_log_exp", "local_log1p"} <= set(trace.rules) and len(trace.after) == 2


def test_loops():
    y, _ = aesara.scan(lambda e, s: at.log(1 + at.exp(e + s)), x, 0.0)
    trace = aesara.rewrite_trace(y)
    (step,) = trace.only("log1pexp_to_softplus")
    assert step.level == 1 and "in a loop" in str(step)
    assert not aesara.rewrite_trace(y, inner=False).only("log1pexp_to_softplus").steps


def test_large_expressions_are_cut():
    y = x
    for _ in range(200):
        y = at.sin(y) * at.cos(y)
    trace = aesara.rewrite_trace(at.log(at.exp(y)))
    (step,) = trace.only("local_log_exp")
    assert len(step.before) < 300 and "#1" in step.before and "#1" in step.after
    assert len(str(trace).splitlines()[-1]) < 300


def test_html_and_trees(capsys):
    trace = aesara.rewrite_trace(at.log(at.exp(x)) < 2)
    assert "<table>" in trace._repr_html_() and "local_log_exp" in trace._repr_html_()
    assert "&lt;" in trace._repr_html_() or "lt(" in trace._repr_html_()
    trace.dprint()
    out = capsys.readouterr().out
    assert out.index("Before:") < out.index("exp") < out.index("After:")


def test_profile_and_wrong_arguments():
    profile = aesara.rewrite_profile([at.log(at.exp(x)), at.log(at.exp(2 * x))])
    assert profile.rules["local_log_exp"].hits == 2
    with pytest.raises(TypeError, match="Expected a variable"):
        aesara.rewrite_trace([1])
