"""The page of the options of `aesara.config`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import aesara
from aesara.configdefaults import config
from aesara.configparser import ConfigParam, EnumStr

_WITHOUT_EFFECT = "without effect"
TEXT = """\
# Options

Options are attributes of `aesara.config`. They are set by assignment, for a while by
`with aesara.config.change_flags(name=value):`, or from outside by the environment variable
`AESARA_FLAGS="name=value,name=value"`; the file `~/.aesararc` is read, too.

| option | default | choices | meaning |
|---|---|---|---|
{rows}

## Accepted for compatibility

These are options of Aesara that have nothing to act on.

{others}

These belong to parts of Aesara that this version does not have yet; nothing reads them.

{unread}
"""
_PACKAGE = Path(aesara.__file__).parent


def options_page() -> str:
    """A table of all options, in the order of their declarations."""
    rows, others, unread = [], [], []
    used = _used_names()
    for name, param in config._config_var_dict.items():
        meaning = " ".join(param.doc.split())
        if _WITHOUT_EFFECT in meaning:
            others.append(f"`{name}`")
        elif name not in used:
            unread.append(f"`{name}`")
        else:
            rows.append(f"| `{name}` | {_default(param)} | {_choices(param)} | {meaning.replace('|', chr(92) + '|')} |")
    return TEXT.format(rows="\n".join(rows), others=", ".join(others) + ".", unread=", ".join(unread) + ".")


def _used_names() -> set[str]:
    """All names that occur in the package outside of the declarations of options."""
    found: set[str] = set()
    for file in sorted(_PACKAGE.rglob("*.py")):
        if file.name not in ("configdefaults.py", "configparser.py"):
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
