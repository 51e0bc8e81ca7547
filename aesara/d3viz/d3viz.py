"""Graphs as pages for a browser."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any

from aesara.compile.function.function import Function
from aesara.d3viz.drawing import page_data
from aesara.d3viz.formatting import PyDotFormatter

__all__ = ["d3viz", "d3write", "replace_patterns", "safe_json"]

_HERE = Path(__file__).parent


def replace_patterns(x: str, replace: Mapping[str, object]) -> str:
    """Replace what matches regular expressions, all in one pass, by texts that are taken as they are.

    Parameters
    ----------
    x
        The text.
    replace
        Regular expression, without groups -> what stands in its place.

    Examples
    --------
    >>> replace_patterns("%name% is %value%", {"%name%": "%value%", "%value%": 3})
    '%value% is 3'
    """
    if not replace:
        return x
    texts = [str(value) for value in replace.values()]
    pattern = "|".join(f"({key})" for key in replace)
    return re.sub(pattern, lambda match: texts[(match.lastindex or 0) - 1], x)


def safe_json(obj: object) -> str:
    """Return an object as JSON that can stand inside of HTML, whatever texts are in it.

    Examples
    --------
    >>> print(safe_json({"name": "</script>"}))
    {"name": "\\u003c/script\\u003e"}
    """
    text = json.dumps(obj)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def d3viz(fct: Any, outfile: str | os.PathLike[str], copy_deps: bool = True, *args: Any, **kwargs: Any) -> None:
    """Write a page that shows a graph: one file, which loads nothing and works without a network.

    The graph can be moved and zoomed, searched for names, types and lines of the program, and the graphs inside of
    operations (`scan`, `OpFromGraph`) open and close.  A box that is chosen shows its type, the line of the program
    that made it and, for functions, whether it runs natively and in which step, and its time if the function has
    a profile.

    Parameters
    ----------
    fct
        A function, a `FunctionGraph`, a variable, an Apply, or a list of variables.
    outfile
        The file to write.
    copy_deps
        Accepted for compatibility: everything is in the one file.
    *args, **kwargs
        ``compact`` (default True): leave out variables between operations that have no name.

    Examples
    --------
    >>> import os, tempfile
    >>> x = at.dvector("x")
    >>> path = os.path.join(tempfile.mkdtemp(), "graph.html")
    >>> d3viz(aesara.function([x], at.exp(x).sum()), path)
    >>> "exp" in open(path).read()
    True
    """
    data = page_data(fct, *args, **kwargs)
    name = fct.name if isinstance(fct, Function) else None
    title = escape("Graph" if name is None else str(name))
    parts = {
        "%title%": title,
        "%style%": _part("page.css"),
        "%layout%": _part("layout.js"),
        "%view%": _part("view.js"),
        "%graph%": safe_json(data),
    }
    path = Path(outfile)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(replace_patterns(_part("page.html"), parts), encoding="utf-8")


def d3write(fct: Any, path: str | os.PathLike[str], *args: Any, **kwargs: Any) -> None:
    """Write a graph to a file in the language of Graphviz; needs pydot.

    Parameters
    ----------
    fct
        See `d3viz`.
    path
        The file to write.
    *args, **kwargs
        For `PyDotFormatter`.
    """
    text = PyDotFormatter(*args, **kwargs)(fct).to_string()
    Path(path).write_text(text, encoding="utf-8")


def _part(name: str) -> str:
    return (_HERE / name).read_text(encoding="utf-8").rstrip("\n")
