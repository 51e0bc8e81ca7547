"""Each wrong program of the catalogue gets the message that its user needs."""

import inspect
import re

import pytest
from wrong_programs import PROGRAMS, Program

import aesara
import aesara.tensor as at
from aesara.compile.mode import Mode
from aesara.graph.rewriting.basic import in2out, node_rewriter

LONGEST = 15  # lines of a message


def message_of(program: Program, *mode: str) -> str:
    """The whole text of the exception of a program."""
    with pytest.raises(program.error) as caught:
        program.run(*mode)
    return "\n".join([str(caught.value), *getattr(caught.value, "__notes__", ())])


def marked_line(program: Program) -> int | None:
    """The number of the line that the message has to show."""
    lines, first = inspect.getsourcelines(program.run)
    marked = [first + k for k, line in enumerate(lines) if line.rstrip().endswith("# here")]
    assert len(marked) <= 1
    return marked[0] if marked else None


def names_line(text: str, file: str, line: int | None) -> bool:
    """Whether a text names a line of a file, if there is one to name."""
    place = re.escape(file)
    return line is None or re.search(rf'{place}(", line |:){line}\b', text) is not None


def check(program: Program, *mode: str) -> str:
    text = message_of(program, *mode)
    assert len(text.splitlines()) <= LONGEST, text
    for part in program.says:
        assert part in text, f"{part!r} is not in:\n{text}"
    assert names_line(text, inspect.getfile(program.run), marked_line(program)), text
    assert not text.startswith("("), text  # several texts, which are shown as a tuple
    return text


def test_size_of_the_catalogue():
    assert len(PROGRAMS) >= 40
    assert len({program.name for program in PROGRAMS}) == len(PROGRAMS)
    assert {program.stage for program in PROGRAMS} == {"build", "compile", "rewrite", "run"}
    assert all(program.says for program in PROGRAMS)


@pytest.mark.parametrize("program", [p for p in PROGRAMS if not p.takes_mode], ids=lambda p: p.name)
def test_before_running(program):
    check(program)


@pytest.mark.parametrize("mode", ["FAST_COMPILE", "FAST_RUN"])
@pytest.mark.parametrize("program", [p for p in PROGRAMS if p.takes_mode], ids=lambda p: p.name)
def test_running(program, mode):
    text = check(program, mode)
    if marked_line(program) is None:
        return
    for fact in ("Apply node that caused the error: ", "Inputs types: ", "Inputs shapes: ", "Inputs strides: ", "HINT"):
        assert fact in text, text
    assert "no shape" not in text and "None]" not in text.partition("Inputs values")[2].splitlines()[0], text


def test_rules_that_fail_are_left_out_in_few_lines(capsys):
    @node_rewriter([at.exp])
    def fails_deep_down(fgraph, node):
        def down(depth):
            return down(depth - 1) if depth else 1 / 0

        down(10)

    x = at.dvector("x")
    y = at.exp(x)
    for verbosity, few in (("low", True), ("high", False)):
        with aesara.config.change_flags(on_opt_error="warn", exception_verbosity=verbosity):
            f = aesara.function([x], y, mode=Mode("py", in2out(fails_deep_down, ignore_newtrees=True)))
        assert f([0.0]) == [1.0]
        text = capsys.readouterr().err
        assert "fails_deep_down on the node Elemwise{exp" in text and "ZeroDivisionError" in text
        assert names_line(text, __file__, y.owner.source.lineno)
        assert (len(text.splitlines()) <= LONGEST) is few, text


@pytest.mark.parametrize("mode", ["FAST_COMPILE", "FAST_RUN"])
def test_everything_on_demand(mode):
    program = next(p for p in PROGRAMS if p.name == "fused_sum_of_different_sizes")
    with aesara.config.change_flags(exception_verbosity="high"):
        text = message_of(program, mode)
    assert "The graph up to this node:" in text and "Elemwise{tanh" in text
    assert len(text.splitlines()) > LONGEST
