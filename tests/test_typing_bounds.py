"""Bounds on what types do not say: `Any` in annotations, `type: ignore`.

Each bound may only shrink: lower it when the count is below.
"""

import ast
import re
from collections.abc import Iterator

from tests.test_layers import FILES, tree_of

#: Lines on which a type checker is told to look away.
MOST_IGNORES = 68
#: Share of annotations that contain `Any`, in percent.
MOST_ANY = 16.8


def annotations(tree: ast.AST) -> Iterator[ast.expr]:
    """Iterate over the annotations of parameters, results and variables."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            a = node.args
            found = [*(p.annotation for p in (*a.posonlyargs, *a.args, *a.kwonlyargs, a.vararg, a.kwarg) if p)]
            yield from (one for one in (*found, node.returns) if one is not None)
        elif isinstance(node, ast.AnnAssign):
            yield node.annotation


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
