"""The layers of docs/architecture.md, held by reading every import statement of the package.

Imports, those for type checkers too, point down, never up; no two modules import each other, however long the way
round; nothing of the package is imported inside a function; modules that only re-export names are for users, and
nothing inside imports them.
"""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent / "aesara"

# The longest matching prefix decides. A new file or folder must be given its place here.
LAYERS = {
    "aesara._version": 0,
    "aesara.clock": 0,
    "aesara.primitives": 0,
    "aesara.errors": 0,
    "aesara.configparams": 0,
    "aesara.configparser": 0,
    "aesara.configdefaults": 0,
    "aesara.digests": 0,
    "aesara.file_owners": 0,
    "aesara.notebooks": 0,
    "aesara.progress": 0,
    "aesara.records": 0,
    "aesara.sources": 0,
    "aesara.tracebacks": 0,
    "aesara.user_code": 0,
    "aesara.utils": 0,
    "aesara.graph": 1,
    "aesara.scalar": 2,
    "aesara.tensor": 3,
    "aesara.sparse": 9,
    "aesara.sparse.arithmetic": 3,
    "aesara.sparse.arrangement": 3,
    "aesara.sparse.comparison": 3,
    "aesara.sparse.construction": 3,
    "aesara.sparse.conversion": 3,
    "aesara.sparse.on_parts": 3,
    "aesara.sparse.parts": 3,
    "aesara.sparse.products": 3,
    "aesara.sparse.reductions": 3,
    "aesara.sparse.row_gradients": 3,
    "aesara.sparse.sharedvar": 3,
    "aesara.sparse.slicing": 3,
    "aesara.sparse.stacking": 3,
    "aesara.sparse.structured": 3,
    "aesara.sparse.type": 3,
    "aesara.sparse.utils": 3,
    "aesara.sparse.variables": 3,
    "aesara.typed_list": 9,
    "aesara.typed_list.basic": 3,
    "aesara.typed_list.type": 3,
    "aesara.tensor.rewriting": 4,
    "aesara.tensor.math_opt": 4,
    "aesara.tensor.basic_opt": 4,
    "aesara.tensor.opt_uncanonicalize": 4,
    "aesara.tensor.subtensor_opt": 4,
    "aesara.tensor.nnet": 4,
    "aesara.tensor.signal": 4,
    "aesara.tensor.random.rewriting": 4,
    "aesara.sparse.opt": 4,
    "aesara.sparse.pattern_rules": 4,
    "aesara.sparse.rewriting": 4,
    "aesara.sparse.vector_forms": 3,
    "aesara.sparse.vector_rules": 4,
    "aesara.typed_list.rewriting": 4,
    "aesara.raise_op": 5,
    "aesara.ifelse": 5,
    "aesara.scan": 5,
    "aesara.subgraph": 5,
    "aesara.updates": 5,
    "aesara.ir": 6,
    "aesara.lower": 7,
    "aesara.link": 8,
    "aesara.compile": 9,
    "aesara.__main__": 10,
    "aesara.breakpoint": 10,
    "aesara.d3viz": 10,
    "aesara.export": 10,
    "aesara.finite_differences": 10,
    "aesara.gradient": 10,
    "aesara.version": 10,
    "aesara.printing": 10,
    "aesara.printing.print_op": 1,
    "aesara.pytensor": 11,
    "aesara.compat": 11,
    "aesara.misc": 11,
    "aesara.sandbox": 11,
    "aesara": 12,
}


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


FILES = {module_name(path): path for path in sorted(ROOT.rglob("*.py"))}


@cache
def tree_of(name: str) -> ast.Module:
    return ast.parse(FILES[name].read_text(encoding="utf-8"))


def is_facade(name: str) -> bool:
    """Return whether a module only re-exports: docstring, imports, dunder names, and perhaps a look-up of old names."""
    if FILES[name].name == "__init__.py":
        return False
    body = [s for s in tree_of(name).body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]

    def passes_names_on(statement: ast.stmt) -> bool:
        if isinstance(statement, ast.Assign):
            return all(isinstance(t, ast.Name) and t.id.startswith("__") for t in statement.targets)
        if isinstance(statement, ast.FunctionDef):
            return statement.name == "__getattr__"
        return isinstance(statement, ast.Import | ast.ImportFrom)

    return bool(body) and all(map(passes_names_on, body))


@cache
def facades() -> frozenset[str]:
    return frozenset(name for name in FILES if is_facade(name))


def layer_of(name: str) -> int:
    if name in facades():
        # What it re-exports may live above the place where its path puts it.
        return max([1, *(layer_of(module) for module, _, _ in imports_of(name) if module in FILES)])
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        prefix = ".".join(parts[:end])
        if prefix in LAYERS and (end > 1 or len(parts) == 1):
            return LAYERS[prefix]
    raise AssertionError(f"{name} has no layer: give it one in LAYERS of tests/test_layers.py")


def is_type_checking(statement: ast.stmt) -> bool:
    if not isinstance(statement, ast.If):
        return False
    test = statement.test
    return (isinstance(test, ast.Name) and test.id == "TYPE_CHECKING") or (
        isinstance(test, ast.Attribute) and test.attr == "TYPE_CHECKING"
    )


def imported_modules(name: str, statement: ast.Import | ast.ImportFrom) -> Iterator[str]:
    """Modules of this package that the statement imports (parents, which Python runs anyway, not counted)."""
    if isinstance(statement, ast.Import):
        for alias in statement.names:
            if alias.name.split(".")[0] == "aesara":
                yield alias.name
        return
    base = statement.module or ""
    if statement.level:
        parts = name.split(".")
        package = parts if FILES[name].name == "__init__.py" else parts[:-1]
        base = ".".join(package[: len(package) - statement.level + 1] + ([base] if base else []))
    if base.split(".")[0] != "aesara":
        return
    for alias in statement.names:
        submodule = f"{base}.{alias.name}"
        yield submodule if submodule in FILES else base


def imports(name: str, with_typed: bool = False) -> Iterator[tuple[str, int, bool]]:
    """(module, line, inside a function) of every import of the package, without those for type checkers by default."""
    stack: list[tuple[ast.AST, bool]] = [(tree_of(name), False)]
    while stack:
        node, in_function = stack.pop()
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Import | ast.ImportFrom):
                for module in imported_modules(name, child):
                    yield module, child.lineno, in_function
            elif not with_typed and isinstance(child, ast.stmt) and is_type_checking(child):
                continue
            else:
                inside = in_function or isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
                stack.append((child, inside))


@cache
def imports_of(name: str) -> list[tuple[str, int, bool]]:
    return sorted(set(imports(name)))


def imports_by_name(name: str) -> Iterator[str]:
    """Modules of the package that are imported by ``importlib.import_module`` with a literal."""
    for node in ast.walk(tree_of(name)):
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            for argument in node.args[:1]:
                if isinstance(argument, ast.Constant) and argument.value in FILES:
                    yield argument.value


def where(name: str, line: int) -> str:
    return f"{FILES[name].relative_to(ROOT.parent)}:{line}"


def test_every_module_has_a_layer():
    for name in FILES:
        layer_of(name)


def test_no_import_inside_functions():
    wrong = [
        f"{where(name, line)} imports {module} inside a function"
        for name in FILES
        for module, line, inside in imports_of(name)
        if inside
    ]
    assert not wrong, "\n".join(wrong)


def test_imports_point_down():
    wrong = [
        f"{where(name, line)} (layer {layer_of(name)}) imports {module} (layer {layer_of(module)})"
        for name in FILES
        for module, line, _ in imports(name, with_typed=True)
        if module in FILES and layer_of(module) > layer_of(name)
    ]
    assert not wrong, "\n".join(wrong)


def test_imported_modules_exist():
    wrong = [
        f"{where(name, line)} imports {module}, which does not exist"
        for name in FILES
        for module, line, _ in imports_of(name)
        if module not in FILES
    ]
    assert not wrong, "\n".join(wrong)


def test_facades_are_not_imported_inside():
    wrong = [
        f"{where(name, line)} imports the facade {module}"
        for name in FILES
        # A facade may lead on to another one, and a package is the face of its modules.
        if name not in facades() and FILES[name].name != "__init__.py"
        for module, line, _ in imports_of(name)
        if module in facades()
    ]
    assert not wrong, "\n".join(wrong)


def test_nothing_uses_what_is_there_for_older_programs():
    """Only documented paths, which have nothing else, and the package itself import `aesara.compat`."""
    wrong = [
        f"{where(name, line)} imports {module}"
        for name in FILES
        if name not in facades() and name != "aesara" and not name.startswith("aesara.compat")
        for module, line, _ in imports(name, with_typed=True)
        if f"{module}.".startswith("aesara.compat.")
    ]
    assert not wrong, "\n".join(wrong)


def strongly_connected(edges: dict[str, set[str]]) -> list[list[str]]:
    """Groups of modules that can reach one another (Kosaraju's algorithm, without recursion)."""
    order: list[str] = []
    seen: set[str] = set()
    for root in edges:
        if root in seen:
            continue
        seen.add(root)
        stack = [(root, iter(sorted(edges[root])))]
        while stack:
            node, targets = stack[-1]
            for target in targets:
                if target not in seen:
                    seen.add(target)
                    stack.append((target, iter(sorted(edges[target]))))
                    break
            else:
                order.append(node)
                stack.pop()
    backwards: dict[str, set[str]] = {name: set() for name in edges}
    for name, targets in edges.items():
        for target in targets:
            backwards[target].add(name)
    groups, taken = [], set()
    for root in reversed(order):
        group, todo = [], [root]
        while todo:
            node = todo.pop()
            if node not in taken:
                taken.add(node)
                group.append(node)
                todo.extend(backwards[node])
        if group:
            groups.append(sorted(group))
    return groups


def test_no_import_cycles():
    edges = {
        name: {module for module, _, _ in imports_of(name) if module in FILES and module != name} for name in FILES
    }
    cycles = [" <-> ".join(group) for group in strongly_connected(edges) if len(group) > 1]
    assert not cycles, "modules that import one another:\n" + "\n".join(cycles)


def test_no_cycles_for_type_checkers_or_by_name():
    def edges_of(name: str) -> set[str]:
        plain = {module for module, _, _ in imports_of(name)} | {*imports_by_name(name)}
        typed = {module for module, _, _ in imports(name, with_typed=True)}
        return (plain | typed) & {*FILES} - {name}

    edges = {name: edges_of(name) for name in FILES}
    cycles = [" <-> ".join(group) for group in strongly_connected(edges) if len(group) > 1]
    assert not cycles, "modules that import one another, for type checkers or by name:\n" + "\n".join(cycles)


def test_the_cycle_finder_finds_cycles():
    edges = {"a": {"b"}, "b": {"c"}, "c": {"a", "d"}, "d": set()}
    assert [g for g in strongly_connected(edges) if len(g) > 1] == [["a", "b", "c"]]


def test_facades_name_what_they_export():
    assert facades()
    wrong = [name for name in sorted(facades()) if not ast.get_docstring(tree_of(name))]
    assert not wrong, f"these need docstrings that say where their names live: {wrong}"


#: names that 2.9.4 gives to two classes, each in the module of its own family
GIVEN_TWICE = {"BadOptimization", "Cast", "Dot", "Mean", "Neg", "ScalarSharedVariable", "Validator"}


def test_a_class_is_found_by_its_name():
    """Public names of classes are unique in the package, but for those that programs of others rely on."""
    places: dict[str, list[str]] = {}
    for name in FILES:
        for statement in tree_of(name).body:
            if isinstance(statement, ast.ClassDef) and not statement.name.startswith("_"):
                places.setdefault(statement.name, []).append(name)
    several = {name: found for name, found in places.items() if len(found) > 1}
    assert several.keys() == GIVEN_TWICE, several
