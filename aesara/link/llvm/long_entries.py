"""Separation of long entry points from the kernels that they launch.

The entry point of a graph with hundreds of kernels of unknown sizes has tens of thousands of lines, for which LLVM's
passes and register allocator take seconds, although most of them run once per call. In a module of its own it is
compiled without optimization, in a tenth of the time, while kernels are optimized as usual.
"""

from __future__ import annotations

import re

from aesara.link.llvm.inlining import INLINED

__all__ = ["split_long_entry"]

#: number of lines from which an entry point gets its own module: two modules take some milliseconds more than one
_LONG = 4000
#: the same for one with loops, whose iterations take 25% longer without LLVM's passes
_LONG_WITH_LOOPS = 16000

_FUNCTION = re.compile(
    r"(?ms)^define (?:internal |hidden |)(?P<result>[^\n@]+) @(?P<name>[\w.]+)"
    r"\((?P<parameters>[^\n]*?)\)(?P<attributes>[^\n)]*)\{\n(?P<body>.*?)^\}\n"
)
#: attributes and name of a parameter, after its type
_DESCRIPTION = re.compile(r"(?: (?:readonly|noalias))* %[\w.]+(,|$)")


def split_long_entry(text: str, entry: str) -> tuple[str, str] | None:
    """Split a module into one without its entry point, and one with only the entry point, which calls the former.

    Parameters
    ----------
    text
        A module; its global variables are constants.
    entry
        Name of its entry point.

    Returns
    -------
    tuple
        None if the entry point is short.
    """
    if text.count("\n") < min(_LONG, _LONG_WITH_LOOPS):
        return None  # the whole module is short
    functions = list(_FUNCTION.finditer(text))
    entry_match = next(match for match in functions if match["name"] == entry)
    if entry_match["body"].count("\n") < (_LONG if "optnone" in entry_match["attributes"] else _LONG_WITH_LOOPS):
        return None
    kernels, entry_module, end = [], [], 0
    for match in functions:
        kernels.append(text[end : match.start()])
        entry_module.append(text[end : match.start()])
        end = match.end()
        if match is entry_match:
            entry_module.append(match[0])
        elif INLINED in match["attributes"]:
            kernels.append(match[0])
            entry_module.append(match[0])
        else:
            kernels.append(match[0].replace("define internal ", "define ", 1))
            parameters = _DESCRIPTION.sub(r"\1", match["parameters"])
            entry_module.append(f"declare {match['result']} @{match['name']}({parameters})\n")
    # These functions are kept for the vectorizer, which does not run on the entry point.
    rest = re.sub(r"(?m)^@llvm\.compiler\.used = .*\n?", "", text[end:])
    return "".join([*kernels, text[end:]]), "".join([*entry_module, rest])
