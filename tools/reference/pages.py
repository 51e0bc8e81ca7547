"""The pages: text around the facts."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np

import aesara.tensor as at
from aesara.graph.op import Op
from aesara.scalar.op import ScalarOp, SciPyFunction
from aesara.scalar.types import get_scalar_type
from aesara.tensor.core.variable import _tensor_py_operators
from aesara.tensor.type import TensorType
from tools.reference.facts import DTYPES, Facts, facts_of, grouped, input_names
from tools.reference.formulas import argument_names, decomposition_formula, gradient_formulas, scalars
from tools.reference.names import PAGES, SECTIONS, Entry, entries
from tools.reference.options import options_page
from tools.reference.rules import rules_page

HEADER = "<!-- Made by `python -m tools.reference`; changes are made in the declarations. -->\n"
INTRODUCTION = """\
# Reference

Made from the declarations of the functions and from the op table of the tests, by `python -m tools.reference`.
`help(function)` tells more about parameters. `np`, `aesara` and `at` in examples are NumPy, the package, and
`aesara.tensor`; a function without them is that of the entry.

{pages}

What the lines of an entry say:

| line | meaning |
|---|---|
| reference | the function of NumPy or SciPy whose values it gives |
| formula | what it is computed as; other functions are those of this reference |
| dtype | the dtype of the result; "kept" is that of the input |
| gradient | the term of each input, where `g` is the gradient of the result and `y` (or `f`) the result itself; \
or of which inputs there is one |
| native | how the native linker computes it: an instruction of the loop IR, a routine with loops, a function of \
SciPy's C interface, its formula; otherwise what runs in Python and why |
| shape | whether the type of the result knows its lengths where the types of the inputs do; a length that is the \
value of an input is known if that is a constant |

{python}Every function also runs in the reference mode (`mode="FAST_COMPILE"`), by NumPy and SciPy. A line that is
missing has not been established by a test.
"""


def pages() -> dict[str, str]:
    """File name -> text of each page."""
    by_page: dict[str, list[Entry]] = {page: [] for page in PAGES}
    for entry in entries():
        by_page[entry.page].append(entry)
    made = {}
    listed = []
    for page, (title, _) in PAGES.items():
        found = by_page[page]
        if page == "types":
            made["types.md"] = HEADER + "\n" + _types_page(title, found)
        elif found:
            made[f"{page}.md"] = HEADER + "\n" + "\n".join(_page(title, found)).rstrip() + "\n"
        else:
            continue
        listed.append(f"- [{title}]({page}.md)" + (f": {_first_names(found)}" if page != "types" else ""))
    made["variables.md"] = HEADER + "\n" + _variables_page()
    listed.append("- [Methods of variables](variables.md)")
    made["options.md"] = HEADER + "\n" + options_page()
    listed.append("- [Options](options.md)")
    made["rules.md"] = HEADER + "\n" + rules_page()
    listed.append("- [Rewriting rules](rules.md)")
    made["index.md"] = (
        HEADER
        + "\n"
        + INTRODUCTION.format(
            pages="\n".join(listed), python=_in_python([e for found in by_page.values() for e in found])
        )
    )
    return made


def _in_python(found: Sequence[Entry]) -> str:
    """The functions of real numbers that run in Python in every case that the tests have."""
    names = []
    for entry in found:
        facts = _facts(entry)
        if facts is not None and not facts.native_somewhere:
            names.append(f"`{entry.name}`")
    return f"Functions without native form: {', '.join(sorted(names))}.\n\n" if names else ""


_facts_found: dict[str, Facts | None] = {}


def _facts(entry: Entry) -> Facts | None:
    """Return the facts of a function from the op table, cached."""
    key = f"{entry.path}.{entry.name}"
    if key not in _facts_found:
        _facts_found[key] = facts_of([entry.name, *entry.aliases], entry.value)
    return _facts_found[key]


def _first_names(found: Sequence[Entry]) -> str:
    return ", ".join(f"`{e.name}`" for e in found[:8]) + (", ..." if len(found) > 8 else "")


def _page(title: str, found: Sequence[Entry]) -> Iterator[str]:
    yield f"# {title}\n"
    given = [section for section in SECTIONS.values() if any(e.section == section for e in found)]
    others = sorted({e.section for e in found} - {*given, ""})
    for section in (*given, *others, ""):
        inside = [e for e in found if e.section == section]
        if not inside:
            continue
        if section:
            yield f"## {section}\n"
        elif any(e.section for e in found):
            yield "## Functions\n"
        for entry in inside:
            yield from _entry(entry)


def _entry(entry: Entry) -> Iterator[str]:
    path = "" if entry.path == "aesara.tensor" else f"{entry.path}."
    facts = _facts(entry)
    yield f"### `{path}{signature(entry)}`\n"
    if entry.aliases:
        yield f"Also {', '.join(f'`{name}`' for name in entry.aliases)}.\n"
    yield f"{meaning(entry)}\n"
    op = entry.scalar_op
    lines = list(_scalar_lines(op, facts) if op is not None else _function_lines(entry, facts))
    if lines:
        yield "\n".join(f"- {line}" for line in lines) + "\n"
    example = example_of(entry)
    if example:
        yield f"```python\n{example}\n\n```\n"


def signature(entry: Entry) -> str:
    """The call, with defaults and without types."""
    value = entry.value
    if entry.scalar_op is not None:
        names = ", ".join(argument_names(entry.scalar_op))
        return f"{entry.name}({names}{', ...' if entry.scalar_op.nin < 0 else ''})"
    if isinstance(value, Op):
        value = value.make_node
    elif not callable(value):
        return f"{entry.name}[...]"
    parts = []
    keywords = False
    for p in inspect.signature(value).parameters.values():
        text = p.name
        if p.kind is p.VAR_POSITIONAL:
            text, keywords = f"*{text}", True
        elif p.kind is p.VAR_KEYWORD:
            text = f"**{text}"
        elif p.kind is p.KEYWORD_ONLY and not keywords:
            parts.append("*")
            keywords = True
        if p.default is not p.empty:
            text += f"={_default(p.default)}"
        parts.append(text)
    return f"{entry.name}({', '.join(parts)})"


def _default(value: Any) -> str:
    text = repr(value)
    return "..." if " at 0x" in text else text


def meaning(entry: Entry) -> str:
    """The first paragraph of the documentation."""
    document = inspect.getdoc(entry.scalar_op if entry.scalar_op is not None else entry.value) or ""
    first = re.split(r"\n\s*\n", document)[0]
    return " ".join(first.split()).replace("``", "`")


def example_of(entry: Entry) -> str:
    """The example of the documentation, without imports."""
    if entry.scalar_op is not None:
        return ""
    document = inspect.getdoc(entry.value) or ""
    found = re.search(r"^Examples\n-+\n(.*?)(?=^\w[^\n]*\n---|\Z)", document, re.DOTALL | re.MULTILINE)
    if found is None or ">>>" not in found[1]:
        return ""
    lines = [line for line in found[1].strip("\n").split("\n") if not re.match(r">>> import (aesara|numpy)", line)]
    return "\n".join(lines)


# -- elementwise functions ---------------------------------------------------------------------------------------------


def _scalar_lines(op: ScalarOp, facts: Facts | None) -> Iterator[str]:
    if getattr(np, getattr(op.numpy, "__name__", ""), None) is op.numpy and op.numpy is not None:
        yield f"reference: `numpy.{op.numpy.__name__}`"
    elif isinstance(op.numpy, SciPyFunction):
        yield f"reference: `{op.numpy.__name__}`"
    formula = decomposition_formula(op)
    if formula is not None:
        yield f"formula: `{formula}`"
    rule = _rule_text(op)
    results = "; ".join(grouped(_dtypes_of_scalar_op(op)))
    yield f"dtype: {rule}{results}"
    yield from _gradient_lines(op)
    yield f"native: {_native_text(op, formula, facts)}"


def _rule_text(op: ScalarOp) -> str:
    """Return the first paragraph of the docstring of an op's dtype rule, for ops of several inputs."""
    rule = op.output_types_preference
    if op.nin == 1 or rule is None or not inspect.isfunction(rule):
        return ""
    return (inspect.getdoc(rule) or "").split("\n\n")[0].replace("\n", " ").replace("``", "`") + " "


@cache
def _dtypes_of_scalar_op(op: ScalarOp) -> dict[str, tuple[str, ...]]:
    found = {}
    for dtype in DTYPES:
        types = [get_scalar_type("bool" if k in op.selectors else dtype) for k in range(len(scalars(op)))]
        try:
            found[dtype] = tuple(t.dtype for t in op.output_types(types))
        except (TypeError, NotImplementedError):
            continue
    return found


def _gradient_lines(op: ScalarOp) -> Iterator[str]:
    terms = gradient_formulas(op)
    if isinstance(terms, str):
        yield f"gradient: {terms}"
    elif set(terms.values()) == {"0"}:
        yield "gradient: zero"
    elif len(terms) == 1:
        (term,) = terms.values()
        yield f"gradient: `{term}`" if term not in ("none", "not connected") else f"gradient: {term}"
    else:
        texts = [f"{name}: {t if t in ('none', 'not connected') else f'`{t}`'}" for name, t in terms.items()]
        yield "gradient: " + "; ".join(texts)


def _native_text(op: ScalarOp, formula: str | None, facts: Facts | None) -> str:
    fact = op.native_fact([v.type for v in scalars(op)])
    kind = type(fact).__name__
    if fact is None:
        lowered = facts is not None and facts.native_somewhere
        text = "by its formula" if formula is not None else "yes" if lowered else "in Python"
    elif kind == "Primitive":
        text = f"instruction `{fact.name}`"
    elif kind == "Special":
        text = f"SciPy's C function `{fact.name}`"
    else:
        text = f"routine `{fact.name}`"
    reasons = sorted({*facts.python.values(), *facts.whole}) if facts is not None and text != "in Python" else []
    return "; in Python: ".join([text, *reasons])


# -- other functions ---------------------------------------------------------------------------------------------------


def _function_lines(entry: Entry, facts: Facts | None) -> Iterator[str]:
    if facts is None:
        return
    if facts.dtypes:
        yield "dtype: " + "; ".join(grouped(facts.dtypes))
    if facts.gradients:
        yield "gradient: " + _gradients_in_words(entry, facts)
    elif any(not row.gradient for row in facts.rows):
        yield "gradient: none"
    yield f"native: {_python_text(facts)}"
    known, all_lengths = facts.static
    if all_lengths:
        yield "shape: " + _static_text(known, all_lengths, facts.needs_values)


def _gradients_in_words(entry: Entry, facts: Facts) -> str:
    statuses = set(facts.gradients.values())
    if statuses == {"yes"}:
        return "yes"
    if statuses == {"none"}:
        return "none"
    names = input_names(entry.value, max(facts.gradients) + 1)
    return "; ".join(f"`{names[k]}` {status}" for k, status in sorted(facts.gradients.items()))


def _python_text(facts: Facts) -> str:
    """Describe whether a function is native, and its parts that are not."""
    parts = [f"`{op}` ({reason})" for op, reason in sorted(facts.python.items())]
    parts += [f"whole functions ({reason})" for reason in sorted(facts.whole)]
    if not parts:
        return "yes"
    return ("yes; in Python: " if facts.native_somewhere else "in Python: ") + ", ".join(parts)


def _static_text(known: int, all_lengths: int, needs_values: str) -> str:
    if known == all_lengths:
        return "known"
    if known == 0:
        return f"not known ({needs_values})" if needs_values else "not known"
    return f"partly known ({needs_values})" if needs_values else "partly known"


# -- types and variables -----------------------------------------------------------------------------------------------


def _types_page(title: str, found: Sequence[Entry]) -> str:
    """Constructors of variables: a table of the types, and the functions."""
    rows = []
    for name in sorted(n for n in dir(at) if isinstance(getattr(at, n), TensorType)):
        kind = getattr(at, name)
        rows.append(f"| `{name}` | {kind.dtype} | {_shape_text(kind.shape)} |")
    names = {name for e in found for name in [e.name, *e.aliases]}
    plurals = sorted(n for n in names if n.endswith("s") and n[:-1] + "x" not in names and n not in ("as_tensor",))
    single = [e for e in found if e.name not in plurals]
    text = [f"# {title}\n"]
    for entry in single:
        text.append(f"### `{signature(entry)}`\n\n{meaning(entry)}\n")
    text.append(
        '## Types\n\nCalled with a name, each makes a variable: `at.dvector("v")`. Dimensions of length 1 broadcast.\n'
    )
    text.append("| type | dtype | shape |\n|---|---|---|\n" + "\n".join(rows) + "\n")
    text.append("Several variables at once, by names or by number: " + ", ".join(f"`{n}`" for n in plurals) + ".")
    return "\n".join(text).rstrip() + "\n"


def _shape_text(shape: Sequence[int | None]) -> str:
    return "(" + ", ".join("?" if n is None else str(n) for n in shape) + ")"


def _variables_page() -> str:
    text = ["# Methods of variables\n", "Tensors have the operators and methods of NumPy's arrays.\n"]
    text.append("| method | |\n|---|---|")
    for name, value in sorted(vars(_tensor_py_operators).items()):
        if name.startswith("_"):
            continue
        document = " ".join((inspect.getdoc(value) or "").split("\n\n")[0].split())
        if isinstance(value, property):
            text.append(f"| `{name}` | {document} |")
        elif inspect.isfunction(value):
            call = signature(Entry(name, "", value, "", "")).replace("(self, ", "(").replace("(self)", "()")
            text.append(f"| `{call}` | {document} |")
    return "\n".join(text).rstrip() + "\n"
