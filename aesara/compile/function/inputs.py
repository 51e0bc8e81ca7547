"""Inputs as users give them: the short forms, and what is said of inputs that nothing needs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from aesara.compile.io import In, SymbolicInput
from aesara.graph.messages import describe, namesake_note
from aesara.graph.nodes import Constant, Variable
from aesara.graph.utils import MissingInputError
from aesara.user_code import warn_user


class UnusedInputError(Exception):
    """An input of a function is not used to compute its outputs."""


class MissingAndUnusedInputError(MissingInputError, UnusedInputError):
    """An input of a function is missing, and another one is not used."""


class OutputNameError(TypeError, AssertionError):
    """An output is named by something else than a string; Aesara 2.9 raises AssertionErrors."""


def convert_function_input(input: object) -> SymbolicInput:
    """Return the description of an input that is given in one of the short forms.

    Accepted are a `SymbolicInput`, a variable, and lists or tuples: ``(variable, value)``,
    ``(variable, update)``, ``((variable, update), value)``, each optionally with a name in front.
    """
    if isinstance(input, SymbolicInput):
        return input
    if isinstance(input, Constant):
        raise TypeError(f"A Constant instance is not a legal function input: {describe(input)}")
    if isinstance(input, Variable):
        return In(input)
    if not isinstance(input, (list, tuple)):
        raise TypeError(f"Unknown input type: {type(input)} ({input!r}), expected Variable instance")
    original = input
    if not input:
        raise TypeError(f"Nonsensical input specification: {describe(original)}")
    name = None
    if isinstance(input[0], str):
        name, input = input[0], input[1:]
    if len(input) == 1 and isinstance(input[0], Variable):
        return In(input[0], name=name)
    if len(input) != 2:
        raise TypeError(f"Invalid input syntax: {describe(original)} (expected a variable and a value or an update)")
    first, second = input
    if isinstance(first, (list, tuple)):
        if len(first) != 2 or not all(isinstance(part, Variable) for part in first):
            raise TypeError(
                f"Invalid input syntax: {describe(original)} (the first part must be a pair (variable, update))"
            )
        return In(first[0], name=name, value=second, update=first[1], mutable=True)
    if not isinstance(first, Variable):
        raise TypeError(f"Unknown input type: {type(first)} ({first!r}), expected Variable instance")
    if isinstance(second, Variable):
        return In(first, name=name, update=second, mutable=True)
    return In(first, name=name, value=second)


def get_info_on_inputs(named_inputs: Sequence[str], n_unnamed_inputs: int) -> str:
    """Return a sentence about the inputs of a function, for error messages."""
    total = len(named_inputs) + n_unnamed_inputs
    named = f"{len(named_inputs)} named input{'s' * (len(named_inputs) != 1)} ({', '.join(named_inputs)})"
    if total == 0:
        return "The function has no inputs."
    if not named_inputs:
        return f"The function has {total} input{'s' * (total != 1)}, none of them named."
    if n_unnamed_inputs == 0:
        return f"The function has {named}."
    return f"The function has {named}, and {n_unnamed_inputs} without a name."


def complain_about_unused_input(index: int, variable: Variable, action: str, used: Iterable[object]) -> None:
    """Raise or warn that a function does not need one of its inputs; it needs what is `used`."""
    note = namesake_note(variable, used, "is needed to compute the outputs")
    text = (
        "aesara.function was asked to create a function computing outputs given certain inputs, but the "
        f"provided input variable at index {index} is not part of the computational graph needed to compute the "
        f"outputs: {describe(variable)}.\n" + (f"{note}\n" if note else "")
    )
    if action == "warn":
        warn_user(
            text + "To make this warning into an error, you can pass the parameter on_unused_input='raise' to "
            "aesara.function. To disable it completely, use on_unused_input='ignore'.",
        )
    else:
        raise UnusedInputError(
            text + "To make this error into a warning, you can pass the parameter on_unused_input='warn' to "
            "aesara.function. To disable it completely, use on_unused_input='ignore'."
        )
