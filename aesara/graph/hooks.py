"""Slots through which graphs reach what is defined above them: evaluation, calls that are running, and printing.

The module that provides a service fills its slot when it is imported::

    hooks.pprint.set(pprint)

A slot that is empty when it is used imports that module: most programs never print a graph.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any


class Hook:
    """A function that is provided later.

    Parameters
    ----------
    name
        What the function is called.
    provider
        The module that fills the slot.

    Examples
    --------
    >>> double = Hook("double", "example.doubling")
    >>> _ = double.set(lambda x: 2 * x)
    >>> double(4)
    8
    """

    __slots__ = ("function", "name", "provider")

    def __init__(self, name: str, provider: str):
        self.name = name
        self.provider = provider
        self.function: Callable[..., Any] | None = None

    def set(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Fill the slot; returns `function`, so that this is a decorator too."""
        self.function = function
        return function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self.function is None:
            importlib.import_module(self.provider)
        if self.function is None:
            raise RuntimeError(
                f"'{self.name}' is not available yet: {self.provider}, which provides it, is still being imported."
            )
        return self.function(*args, **kwargs)

    def __repr__(self) -> str:
        return f"Hook({self.name!r}, {'unset' if self.function is None else 'set'})"


#: ``eval_variable(variable, inputs_to_values, **kwargs)`` computes a variable.
eval_variable = Hook("eval_variable", "aesara.compile")
#: ``compile_step(inputs, outputs, mode=, name=, overwritten=, **options)`` compiles the graph inside of an operation.
compile_step = Hook("compile_step", "aesara.compile")
#: ``store(cell, value)`` puts a value into a cell, after calls that are updating it.
store = Hook("store", "aesara.link")
#: ``sparse_row_gradient(x, gradient, rows)`` is the gradient of ``x[rows]`` for `x` as a sparse matrix.
sparse_row_gradient = Hook("sparse_row_gradient", "aesara.sparse")
#: ``pprint(variable)`` returns a formula.
pprint = Hook("pprint", "aesara.printing")
#: ``formula(variable)`` returns a short formula, for messages.
formula = Hook("formula", "aesara.printing")
#: ``debugprint(graph, **options)`` prints a graph as a tree.
debugprint = Hook("debugprint", "aesara.printing")
#: ``html(thing)`` describes a variable, a graph or a function for a notebook.
html = Hook("html", "aesara.printing")
#: ``min_informative_str(variable)`` returns a short tree.
min_informative_str = Hook("min_informative_str", "aesara.printing")
#: ``printer_class(name)`` returns the class that prints an operation in formulas.
printer_class = Hook("printer_class", "aesara.printing")
#: ``empty_shape()`` is the shape of a scalar variable, as a tensor variable.
empty_shape = Hook("empty_shape", "aesara.tensor")
#: ``shape_of_variables(fgraph, input_shapes)`` computes the shapes of a graph's variables.
shape_of_variables = Hook("shape_of_variables", "aesara.compile")


def printer_attribute(module: str, documented: tuple[str, ...]) -> Callable[[str], Any]:
    """A ``__getattr__`` for a module under whose path classes of printers are documented.

    Examples
    --------
    >>> find = printer_attribute("example", ("SubtensorPrinter",))
    >>> find("something_else")
    Traceback (most recent call last):
    AttributeError: module 'example' has no attribute 'something_else'
    """

    def find(name: str) -> Any:
        if name in documented:
            return printer_class(name)
        raise AttributeError(f"module {module!r} has no attribute {name!r}")

    return find
