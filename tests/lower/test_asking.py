"""Arrays and steps are asked what they are, and names say nothing: held by reading the files of the compiler."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import aesara
from aesara.ir.steps import STEPS
from aesara.lower import arrays
from aesara.lower.steps import ScheduledStep

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


def asked_classes(node: ast.Call) -> set[str]:
    kinds = node.args[1].elts if isinstance(node.args[1], ast.Tuple) else [node.args[1]]
    return {kind.id for kind in kinds if isinstance(kind, ast.Name)} & CLASSES


@pytest.mark.slow
def test_few_ask_what_class_an_array_or_a_step_is_of():
    found = [
        f"{name}:{node.lineno}"
        for name, tree in files()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "isinstance"
        if asked_classes(node)
    ]
    assert 0 < len(found) <= 20, found


def is_name(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and node.attr in NAMES


def looks_at_spelling(node: ast.AST) -> bool:
    """Whether an expression looks at single letters of a name."""
    if isinstance(node, ast.Subscript):
        return is_name(node.value) and isinstance(node.slice, ast.Constant | ast.Slice)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.attr in ("startswith", "endswith", "removeprefix") and is_name(node.func.value)
    return False


@pytest.mark.slow
def test_nothing_is_decided_by_the_spelling_of_a_name():
    found = [
        f"{name}:{node.lineno}: {ast.unparse(node)}"
        for name, tree in files()
        for node in ast.walk(tree)
        if looks_at_spelling(node)
    ]
    # What is left are files of the cache, and the library that a symbol is from.
    allowed = ("link/llvm/cache.py", "link/llvm/emit_kernel.py", "printing/picture.py")
    assert [text for text in found if not text.startswith(allowed)] == []
    assert looks_at_spelling(ast.parse("e.attr[0]", mode="eval").body)
    assert looks_at_spelling(ast.parse("step.kernel.name.endswith('s')", mode="eval").body)
