"""Modules that hold many faults at once, of which one at most is active: it is chosen while the program runs.

So a process imports the package and the tests once, and forks for each fault. In front of each place the question
``__fault__(number)`` is asked, which also records which tests come there.
"""

from __future__ import annotations

import ast
import builtins
import importlib.abc
import importlib.machinery
import sys
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from tools.mutate.faults import Fault

QUESTION = "__fault__"


class Switch:
    """Which fault is active, and at the places of which faults the program has been."""

    def __init__(self) -> None:
        self.active = -1
        self.visited: set[int] = set()

    def __call__(self, number: int) -> bool:
        self.visited.add(number)
        return number == self.active


SWITCH = Switch()


def with_faults(source: str, faults: Mapping[int, Fault]) -> ast.Module:
    """The tree of a module with a choice at the place of each fault."""
    return ast.fix_missing_locations(_Planter(faults).visit(ast.parse(source)))


class LastingSwitch(Switch):
    """The switch of a program that a test starts; there is a file once a program has come to the fault."""

    def __init__(self, active: int, note: Path) -> None:
        super().__init__()
        self.active, self.note = active, note

    def __call__(self, number: int) -> bool:
        if not self.visited:
            self.note.touch()
        return super().__call__(number)


class _Planter(ast.NodeTransformer):
    def __init__(self, faults: Mapping[int, Fault]) -> None:
        self.by_place: dict[tuple[Any, ...], list[tuple[int, Fault]]] = defaultdict(list)
        for number, fault in faults.items():
            self.by_place[fault.place].append((number, fault))

    def visit(self, node: ast.AST) -> Any:
        place = tuple(getattr(node, name, None) for name in ("lineno", "col_offset", "end_lineno", "end_col_offset"))
        there = self.by_place.get(place, ())
        here = [(number, fault) for number, fault in there if ast.unparse(node) == fault.before]
        if here:
            del self.by_place[place]
        made = self.generic_visit(node)
        for number, fault in here:
            asked = ast.Call(ast.Name(QUESTION, ast.Load()), [ast.Constant(number)], [])
            new = ast.parse(fault.after).body[0]
            if isinstance(node, ast.expr):
                made = ast.copy_location(ast.IfExp(asked, new.value, made), node)
            else:
                made = ast.copy_location(ast.If(asked, [new], [made]), node)
        return made


class Planted(importlib.abc.MetaPathFinder):
    """Finds modules of the package in a tree, and compiles those that have faults with them."""

    def __init__(self, tree: Path, faults: Mapping[int, Fault]) -> None:
        self.files: dict[str, dict[int, Fault]] = defaultdict(dict)
        for number, fault in faults.items():
            self.files[str(tree / fault.path)][number] = fault

    def find_spec(self, name: str, path: Any, target: ModuleType | None = None) -> Any:
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        if spec is not None and spec.origin in self.files:
            spec.loader = _Loader(name, spec.origin, self.files[spec.origin])
        return spec


class _Loader(importlib.machinery.SourceFileLoader):
    def __init__(self, name: str, path: str, faults: Mapping[int, Fault]) -> None:
        super().__init__(name, path)
        self.faults = faults

    def get_code(self, fullname: str) -> CodeType:
        return compile(with_faults(self.get_data(self.path).decode(), self.faults), self.path, "exec")


def plant(tree: Path, faults: Mapping[int, Fault], switch: Switch = SWITCH) -> None:
    """From now on the modules of a tree are imported with these faults; the switch says which of them is active."""
    setattr(builtins, QUESTION, switch)
    sys.meta_path.insert(0, Planted(tree, faults))
