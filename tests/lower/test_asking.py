"""Arrays and steps are asked what they are, and names say nothing: held by reading the files of the compiler."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import aesara
from aesara.ir.steps import STEPS
from aesara.lower import arrays
from aesara.lower.arrays import ScheduledStep

ROOT = Path(aesara.__file__).resolve().parent
#: where classes of arrays and steps may ask about each other
OWN = (ROOT / "lower" / "arrays", ROOT / "ir" / "steps")
CLASSES = (
    {name for name in arrays.__all__ if isinstance(getattr(arrays, name), type)}
    | {step.__name__ for step in STEPS.values()}
    | {step.__name__ for step in ScheduledStep.__subclasses__()}
) - {"Array", "Write", "Row", "LoopBody"}
#: attributes that hold the names of sizes, buffers and kernels
NAMES = {"attr", "name", "buffer", "base", "label"}


def files() -> Iterator[tuple[str, ast.Module]]:
    for folder in ("ir", "lower", "link", "printing"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            if not any(own in path.parents for own in OWN):
                yield path.relative_to(ROOT).as_posix(), ast.parse(path.read_text(encoding="utf-8"))


def asked_classes(node: ast.AST) -> set[str]:
    """The classes of arrays and steps that `isinstance`, or a `case`, asks for."""
    kinds: list[ast.AST] = []
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "isinstance":
        kinds = [*ast.walk(node.args[1])]
    elif isinstance(node, ast.MatchClass):
        kinds = [node.cls]
    names = {kind.id for kind in kinds if isinstance(kind, ast.Name)}
    attributes = [kind for kind in kinds if isinstance(kind, ast.Attribute)]
    of_syntax = {"ast"}  # `ast.Call` is no step
    return (names | {kind.attr for kind in attributes if ast.unparse(kind.value) not in of_syntax}) & CLASSES


@pytest.mark.slow
def test_few_ask_what_class_an_array_or_a_step_is_of():
    found = [f"{name}:{node.lineno}" for name, tree in files() for node in ast.walk(tree) if asked_classes(node)]
    assert 0 < len(found) <= 20, found
    for planted in ("arrays.Pointwise", "Pointwise | Alias", "(int, Call)"):
        assert asked_classes(ast.parse(f"isinstance(x, {planted})", mode="eval").body), planted
    assert asked_classes(ast.parse("match x:\n    case Launch(): pass").body[0].cases[0].pattern)


#: methods that look into a text, and functions of `re` that do
LOOKING = {"startswith", "endswith", "removeprefix", "removesuffix", "partition", "rpartition", "split"}
LOOKING |= {"find", "index", "isdigit", "isalpha", "islower", "isupper", "count"}
MATCHING = {"match", "fullmatch", "search", "findall"}


def is_name(node: ast.AST, local: frozenset[str] = frozenset()) -> bool:
    return (isinstance(node, ast.Attribute) and node.attr in NAMES) or (isinstance(node, ast.Name) and node.id in local)


def looks_at_spelling(node: ast.AST, local: frozenset[str] = frozenset()) -> bool:
    """Return whether an expression inspects the spelling of a name; `local` are variables that hold one."""
    if isinstance(node, ast.Subscript):
        return is_name(node.value, local) and isinstance(node.slice, ast.Constant | ast.Slice)
    if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In | ast.NotIn):
        return isinstance(node.left, ast.Constant) and is_name(node.comparators[0], local)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr in MATCHING and len(node.args) > 0:
            return is_name(node.args[-1], local)
        return node.func.attr in LOOKING and is_name(node.func.value, local)
    return False


def names_in(function: ast.FunctionDef) -> frozenset[str]:
    """The variables of a function that are given nothing but such a name."""
    given: dict[str, list[ast.AST]] = {}
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            given.setdefault(node.targets[0].id, []).append(node.value)
    return frozenset(name for name, values in given.items() if all(map(is_name, values)))


def spellings(tree: ast.Module) -> dict[int, str]:
    """Return the expressions that inspect the spelling of names, by line."""
    found = [node for node in ast.walk(tree) if looks_at_spelling(node)]
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            local = names_in(function)
            found += [node for node in ast.walk(function) if looks_at_spelling(node, local)]
    return {node.lineno: ast.unparse(node) for node in found}


@pytest.mark.slow
def test_nothing_is_decided_by_the_spelling_of_a_name():
    found = [f"{name}:{line}: {text}" for name, tree in files() for line, text in spellings(tree).items()]
    # What is left are files of the cache, and the library that a symbol is from.
    allowed = ("link/llvm/cache.py", "link/llvm/emit_kernel.py", "printing/picture.py")
    assert [text for text in found if not text.startswith(allowed)] == []


@pytest.mark.parametrize(
    "planted",
    [
        "return e.attr[0] == 'h'",
        "return step.kernel.name.endswith('s')",
        "return 's' in buffer.name",
        "return re.match('s[0-9]+', e.attr)",
        "return e.attr.partition('.')[0] == 's0'",
        "kind = e.attr\n    return kind[:2]",
        "name = buffer.name\n    return name.startswith('t')",
    ],
)
def test_decisions_by_spelling_are_found(planted):
    assert spellings(ast.parse(f"def decide(e, step, buffer):\n    {planted}\n"))
