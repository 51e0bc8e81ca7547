"""Conventions of the tests and of the package's names and docstrings, checked by reading the source files."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent
PACKAGE = ROOT.parent / "aesara"

#: functions of `numpy.random` whose state the whole process shares
SHARED_STATE = {
    f"np.random.{name}" for name in "seed rand randn randint random uniform normal choice permutation shuffle".split()
}


@cache
def trees() -> dict[str, ast.Module]:
    """Return the syntax tree of each test file, by its name."""
    files = sorted(ROOT.rglob("*.py"))
    return {path.relative_to(ROOT).as_posix(): ast.parse(path.read_text(encoding="utf-8")) for path in files}


@cache
def modules() -> dict[str, ast.Module]:
    """Return the syntax tree of each file of the package, by its path below the package."""
    files = sorted(PACKAGE.rglob("*.py"))
    return {path.relative_to(PACKAGE).as_posix(): ast.parse(path.read_text(encoding="utf-8")) for path in files}


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.Lambda]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.Lambda))


def makes_generator(value: ast.AST | None) -> bool:
    return isinstance(value, ast.Call) and ast.unparse(value.func).endswith(("default_rng", "random.Random"))


def generators_of_the_module(tree: ast.Module) -> set[str]:
    return {
        ast.unparse(target)
        for statement in tree.body
        if isinstance(statement, ast.Assign) and makes_generator(statement.value)
        for target in statement.targets
    }


def bound_in(function: ast.FunctionDef | ast.Lambda) -> set[str]:
    """Names that are arguments or variables of the function."""
    given = function.args
    stored = {n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return stored | {a.arg for a in (*given.posonlyargs, *given.args, *given.kwonlyargs)}


def read_in(function: ast.FunctionDef | ast.Lambda) -> set[str]:
    """Names that the body reads, but for what it or a function in it binds."""
    body = function.body if isinstance(function.body, list) else [function.body]
    names = {n.id for statement in body for n in ast.walk(statement) if isinstance(n, ast.Name)}
    return names - bound_in(function)


def test_no_two_files_have_one_name():
    """Folders of tests are no packages: pytest would import one of the files and refuse the other."""
    names = [name for path in trees() if (name := path.rpartition("/")[2]).startswith("test_")]
    assert sorted(set(names)) == sorted(names)


@pytest.mark.slow
def test_random_numbers_are_a_tests_own():
    """Draws must not depend on which tests ran before: a test takes the fixture `rng`, or a seed."""
    found = []
    everywhere = {generator for tree in trees().values() for generator in generators_of_the_module(tree)}
    for name, tree in trees().items():
        imported = {a.asname or a.name for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) for a in n.names}
        shared = generators_of_the_module(tree) | imported & everywhere
        found += [
            f"{name}: functions draw from {n}"
            for n in sorted({n for f in functions(tree) for n in read_in(f)} & shared)
        ]
    assert not found, "\n".join(found)


@pytest.mark.slow
def test_random_numbers_have_a_seed():
    found = []
    for name, tree in trees().items():
        for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
            called = ast.unparse(call.func)
            unseeded = makes_generator(call) and not (call.args or call.keywords)
            hypothesis = called == "settings" and "derandomize" not in {k.arg for k in call.keywords}
            if unseeded or hypothesis or called in SHARED_STATE:
                found.append(f"{name}:{call.lineno}: {called} draws other numbers in each run")
    assert not found, "\n".join(found)


def asserts(statement: ast.stmt) -> bool:
    """Return whether a statement can fail a test."""
    calls = {ast.unparse(n.func).split(".")[-1] for n in ast.walk(statement) if isinstance(n, ast.Call)}
    named = ("assert_", "check", "compare", "raises")
    return any(isinstance(n, ast.Assert) for n in ast.walk(statement)) or any(c.startswith(named) for c in calls)


def leaves_early(function: ast.FunctionDef) -> Iterator[int]:
    """Lines at which a function returns before anything was asserted."""
    for statement in function.body:
        if asserts(statement):
            return
        yield from (n.lineno for n in ast.walk(statement) if isinstance(n, ast.Return) and n.value is None)


@pytest.mark.slow
def test_no_test_ends_before_it_asserts():
    """A case that has nothing to say is left out where cases are listed, not where they are run."""
    found = [
        f"{name}:{line}: {function.name} returns before it asserts anything"
        for name, tree in trees().items()
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef) and function.name.startswith("test_")
        for line in leaves_early(function)
    ]
    assert not found, "\n".join(found)


#: comparisons of floats with tolerances that are wide for some dtype, if none is given
COMPARISONS = {"np.testing.assert_allclose": ("rtol", 3), "np.allclose": ("rtol", 3), "pytest.approx": ("rel", 2)}


@pytest.mark.slow
def test_tolerances_are_said():
    """Comparisons give their tolerance unless it follows from the dtype (`assert_close`): defaults are wide."""
    found = []
    for name, tree in trees().items():
        for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
            keyword, count = COMPARISONS.get(ast.unparse(call.func), ("", 0))
            given = {k.arg for k in call.keywords}
            if keyword and len(call.args) < count and not given & {keyword, "abs"}:
                found.append(f"{name}:{call.lineno}: say `{keyword}`, or use `assert_close`")
    assert not found, "\n".join(found)


#: first words of docstrings that paraphrase their subject instead of naming it
RIDDLES = {"What", "Where", "How", "Whether"}


@pytest.mark.slow
def test_docstrings_open_with_a_verb_or_a_noun():
    docstrings = [
        (name, text)
        for name, tree in modules().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        if (text := ast.get_docstring(node))
    ]
    found = [f"{name}: {text.splitlines()[0]}" for name, text in docstrings if text.split(maxsplit=1)[0] in RIDDLES]
    assert not found, "\n".join(found)


#: participles without -ed that are not the base form of their verb (`read`, `set`); and `cut`
IRREGULAR_PARTICIPLES = set(
    "begun bent born bought brought built caught chosen cut done drawn driven fallen felt forgotten found frozen "
    "given gone gotten grown held hidden kept known laid led left lent lost made meant met overwritten paid redrawn "
    "rewritten risen said seen sent shown sold sought spent stood sworn taken taught thought thrown told torn "
    "understood undone withdrawn won worn woven written".split()
)
#: verbs, and names of NumPy and of Aesara 2.9.4
NOT_PARTICIPLES = {
    "deprecated",
    "embed",
    "exceed",
    "feed",
    "need",
    "proceed",
    "searchsorted",
    "seed",
    "shared",
    "succeed",
}


def is_bare_participle(name: str) -> bool:
    """Return whether a function's name is one past participle: `moved`, but not `move` or `moved_axes`."""
    word = name.strip("_")
    participle = word in IRREGULAR_PARTICIPLES or (word.endswith("ed") and "_" not in word)
    return participle and word not in NOT_PARTICIPLES


def qualified_names(node: ast.AST, prefix: str = "") -> Iterator[str]:
    """Yield the names of functions and methods below a node, with those of the classes and functions around them."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            if not isinstance(child, ast.ClassDef):
                yield prefix + child.name
            yield from qualified_names(child, f"{prefix}{child.name}.")
        else:
            yield from qualified_names(child, prefix)


@pytest.mark.slow
def test_no_new_functions_are_named_by_a_bare_participle():
    """Functions are named by a verb, or a noun; those that are not yet are listed, and the list only shrinks."""
    recorded = set((ROOT / "bare_participles.txt").read_text(encoding="utf-8").splitlines())
    found = {
        f"{path}: {name}"
        for path, tree in modules().items()
        for name in qualified_names(tree)
        if is_bare_participle(name.rpartition(".")[2])
    }
    assert not found - recorded, "name these by a verb or a noun:\n" + "\n".join(sorted(found - recorded))
    assert not recorded - found, "delete these from bare_participles.txt:\n" + "\n".join(sorted(recorded - found))
