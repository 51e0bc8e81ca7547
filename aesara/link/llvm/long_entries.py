"""Long entry points apart from the kernels that they launch.

The entry point of a graph of hundreds of kernels whose sizes are not known has tens of thousands of lines, for which
LLVM's passes and its register allocator take seconds, although most of them run once in a call. In a module of its own
it is compiled as it is written, which takes a tenth of the time, while the kernels are optimized as ever.
"""

from __future__ import annotations

import re

from aesara.link.llvm.inlining import INLINED

__all__ = ["without_long_entry"]

#: lines of an entry point from which on it gets a module of its own: two modules take some milliseconds more than one
_LONG = 4000
#: the same for one with loops, whose rounds take a quarter longer without LLVM's passes
_LONG_WITH_LOOPS = 16000

_FUNCTION = re.compile(
    r"(?ms)^define (?:internal |hidden |)(?P<result>[^\n@]+) @(?P<name>[\w.]+)"
    r"\((?P<parameters>[^\n]*?)\)(?P<attributes>[^\n)]*)\{\n(?P<body>.*?)^\}\n"
)
#: what a parameter has beside its type
_DESCRIPTION = re.compile(r"(?: (?:readonly|noalias))* %[\w.]+(,|$)")


def without_long_entry(text: str, entry: str) -> tuple[str, str] | None:
    """A module without its entry point, and a module of this alone, which calls the functions of the first.

    Parameters
    ----------
    text
        A module. Its global variables are constants.
    entry
        The name of its entry point.

    Returns
    -------
    tuple
        None if the entry point is short.
    """
    if text.count("\n") < min(_LONG, _LONG_WITH_LOOPS):
        return None  # nothing in it is long
    functions = list(_FUNCTION.finditer(text))
    found = next(match for match in functions if match["name"] == entry)
    if found["body"].count("\n") < (_LONG if "optnone" in found["attributes"] else _LONG_WITH_LOOPS):
        return None
    kernels, alone, end = [], [], 0
    for match in functions:
        kernels.append(text[end : match.start()])
        alone.append(text[end : match.start()])
        end = match.end()
        if match is found:
            alone.append(match[0])
        elif INLINED in match["attributes"]:
            kernels.append(match[0])
            alone.append(match[0])
        else:
            kernels.append(match[0].replace("define internal ", "define ", 1))
            parameters = _DESCRIPTION.sub(r"\1", match["parameters"])
            alone.append(f"declare {match['result']} @{match['name']}({parameters})\n")
    # What the rest keeps is for vectors, which there are none of in the entry point.
    rest = re.sub(r"(?m)^@llvm\.compiler\.used = .*\n?", "", text[end:])
    return "".join([*kernels, text[end:]]), "".join([*alone, rest])
