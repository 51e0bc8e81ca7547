"""The page of the options of `aesara.config`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import aesara
from aesara.compat.options_without_effect import OPTIONS
from aesara.configdefaults import config
from aesara.configparser import ConfigParam, EnumStr

TEXT = """\
# Options

Options are attributes of `aesara.config`. They are set by assignment, for the duration of a block by
`with aesara.config.change_flags(name=value):`, before the program starts by the environment variable
`AESARA_FLAGS="name=value,name=value"`, or in the file `~/.aesararc`. Two underscores in a name stand for a section of
that file.

| option | default | choices | meaning |
|---|---|---|---|
{rows}

## Accepted for compatibility

These options of Aesara 2.9.4 have no effect here. Setting one to anything but its default gives a warning, once, with
the reason.

| reason | options |
|---|---|
{others}
"""
_PACKAGE = Path(aesara.__file__).parent


def options_page() -> str:
    """A table of all options, in the order of their declarations."""
    rows = []
    used = _used_names()
    for name, param in config._config_var_dict.items():
        if param.no_effect:
            continue
        assert name in used, f"Nothing reads the option {name}."
        meaning = " ".join(param.doc.split())
        rows.append(f"| `{name}` | {_default(param)} | {_choices(param)} | {meaning.replace('|', chr(92) + '|')} |")
    others = [
        f"| {reason} | {', '.join(f'`{name}`' for name, _, _ in options)} |" for reason, options in OPTIONS.items()
    ]
    return TEXT.format(rows="\n".join(rows), others="\n".join(others))


def _used_names() -> set[str]:
    """All names that occur in the package outside of the declarations of options."""
    found: set[str] = set()
    for file in sorted(_PACKAGE.rglob("*.py")):
        if file.name not in ("configdefaults.py", "options_without_effect.py", "configparser.py"):
            found.update(re.findall(r"\w+", file.read_text(encoding="utf-8")))
    return found


def _default(param: ConfigParam) -> str:
    value: Any = param._default
    if callable(value):
        return "depends on the machine"
    return f"`{value}`" if value != "" else ""


def _choices(param: ConfigParam) -> str:
    if isinstance(param, EnumStr):
        return ", ".join(f"`{choice}`".replace("|", "\\|") for choice in param.options)
    return type(param).__name__.removesuffix("Param").lower()
