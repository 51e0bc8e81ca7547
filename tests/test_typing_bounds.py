"""Bounds on what types do not say: cyclic imports for type checkers, `Any` in annotations, `type: ignore`.

Each bound may only shrink: lower it when the count is below.
"""

import ast
import re
from collections.abc import Iterator

from tests.test_layers import FILES, imported_modules, imports, is_type_checking, layer_of, strongly_connected, tree_of

#: Names that are imported for type checkers only, from a higher layer or a module that leads back to the importing one.
MOST_CYCLIC_IMPORTS = 0
#: Lines on which a type checker is told to look away.
MOST_IGNORES = 68
#: Share of annotations that contain `Any`, in percent.
MOST_ANY = 22.8


def names_for_type_checkers(name: str) -> Iterator[tuple[str, str]]:
    """Iterate over (module, name) of the imports of this package below ``if TYPE_CHECKING``."""
    for block in ast.walk(tree_of(name)):
        if not (isinstance(block, ast.If) and is_type_checking(block)):
            continue
        for statement in ast.walk(block):
            if not isinstance(statement, ast.Import | ast.ImportFrom):
                continue
            for alias in statement.names:
                one = (
                    ast.Import([alias])
                    if isinstance(statement, ast.Import)
                    else ast.ImportFrom(statement.module, [alias], statement.level)
                )
                for module in imported_modules(name, one):
                    yield module, alias.name


def cyclic_imports() -> list[str]:
    """Return the names imported for type checkers that point up, or lie on a cycle of all imports."""
    edges = {name: {module for module, _, _ in imports(name, with_typed=True)} & {*FILES} - {name} for name in FILES}
    group_of = {name: k for k, group in enumerate(strongly_connected(edges)) for name in group}
    return [
        f"{name} imports {what} of {module}"
        for name in FILES
        for module, what in names_for_type_checkers(name)
        if module in FILES and (layer_of(module) > layer_of(name) or group_of[module] == group_of[name])
    ]


def annotations(tree: ast.AST) -> Iterator[ast.expr]:
    """Iterate over the annotations of parameters, results and variables."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            a = node.args
            found = [*(p.annotation for p in (*a.posonlyargs, *a.args, *a.kwonlyargs, a.vararg, a.kwarg) if p)]
            yield from (one for one in (*found, node.returns) if one is not None)
        elif isinstance(node, ast.AnnAssign):
            yield node.annotation


def test_few_imports_for_type_checkers_are_cyclic():
    found = cyclic_imports()
    assert len(found) <= MOST_CYCLIC_IMPORTS, "\n".join(found)


def test_few_lines_are_hidden_from_type_checkers():
    found = [
        f"{name}: {line.strip()}"
        for name, path in FILES.items()
        for line in path.read_text(encoding="utf-8").splitlines()
        if re.search(r"#\s*type:\s*ignore", line)
    ]
    assert len(found) <= MOST_IGNORES, "\n".join(found)


def test_few_annotations_contain_any():
    texts = [ast.unparse(one) for name in FILES for one in annotations(tree_of(name))]
    share = 100 * sum(bool(re.search(r"\bAny\b", text)) for text in texts) / len(texts)
    assert share <= MOST_ANY, share
