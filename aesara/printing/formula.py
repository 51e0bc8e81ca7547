"""Formulas of graphs: `pprint`, and printers of ops."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from aesara.compile.function.function import Function
from aesara.graph import hooks
from aesara.graph.fg import FunctionGraph
from aesara.graph.messages import describe
from aesara.graph.nodes import Apply, Constant, Variable
from aesara.graph.op import Op
from aesara.graph.utils import Scratchpad

_LOOSEST = -1000


class PrinterState(Scratchpad):
    """State of a printer.

    Attributes
    ----------
    pprinter
        The `PPrinter` that prints inputs.
    precedence
        The precedence of the surrounding operator.
    memo
        Texts of variables that were printed before.
    """

    pprinter: PPrinter
    precedence: int

    def __init__(self, props: Any = None, **more_props: Any) -> None:
        super().__init__()
        if props is None:
            props = {}
        elif isinstance(props, Scratchpad):
            props = props.__dict__
        self.__dict__.update(props)
        self.__dict__.update(more_props)


@contextmanager
def set_precedence(pstate: PrinterState, precedence: int = _LOOSEST) -> Iterator[None]:
    """Set the precedence of a state temporarily, while inputs are printed."""
    outer_precedence = getattr(pstate, "precedence", _LOOSEST)
    pstate.precedence = precedence
    try:
        yield
    finally:
        pstate.precedence = outer_precedence


class Printer(ABC):
    """Prints outputs of an op as formulas.

    A printer needs only the method `process`, which prints inputs by ``pstate.pprinter.process(variable, pstate)``. The
    printers of this package define `fragments` instead, so that formulas of any depth are printed without recursion.
    """

    @abstractmethod
    def process(self, var: Variable, pstate: PrinterState) -> str:
        """Return the formula of a variable."""


class _FragmentPrinter(Printer):
    """A printer that returns a formula as a sequence of strings, variables and their precedences."""

    @abstractmethod
    def fragments(self, var: Variable, pstate: PrinterState) -> Sequence[str | tuple[Variable, int]]:
        """Return strings, and pairs of an input and the precedence of the surrounding operator."""

    def process(self, var: Variable, pstate: PrinterState) -> str:
        return pstate.pprinter._expand(self.fragments(var, pstate), pstate)


class OperatorPrinter(_FragmentPrinter):
    """Prints ``(a + b)``.

    Parameters
    ----------
    operator
        The symbol of the operator.
    precedence
        The precedence of the operator; higher ones bind tighter.
    assoc
        ``'left'``, ``'right'``, ``'either'`` or ``'none'``.
    """

    def __init__(self, operator: str, precedence: int, assoc: str = "left") -> None:
        self.operator = operator
        self.precedence = precedence
        self.assoc = assoc

    def fragments(self, var: Variable, pstate: PrinterState) -> list[Any]:
        node = _owner(var, self)
        # Parentheses are always printed, so that formulas can be part of larger ones.
        inputs = node.inputs
        if len(inputs) == 1:
            return ["(", self.operator, (inputs[0], self.precedence), ")"]
        fragments: list[Any] = ["(" * (len(inputs) - 1)]
        for position, variable in enumerate(inputs):
            if position:
                fragments.append(f" {self.operator} ")
            fragments.append((variable, self.precedence))
            if position:
                fragments.append(")")
        return fragments


class PatternPrinter(_FragmentPrinter):
    """Prints by a pattern such as ``"|%(0)s|"``, one for each output of the op.

    Parameters
    ----------
    *patterns
        Patterns, or pairs of a pattern and the precedences of its inputs.
    """

    def __init__(self, *patterns: Any) -> None:
        self.patterns = [
            (pattern, ()) if isinstance(pattern, str) else (pattern[0], tuple(pattern[1:])) for pattern in patterns
        ]

    def fragments(self, var: Variable, pstate: PrinterState) -> list[Any]:
        node = _owner(var, self)
        pattern, precedences = self.patterns[var.index or 0]
        marks = {str(position): f"\0{position}\0" for position in range(len(node.inputs))}
        fragments: list[Any] = []
        for position, fragment in enumerate((pattern % marks).split("\0")):
            if position % 2:
                index = int(fragment)
                precedence = precedences[index] if index < len(precedences) else _LOOSEST
                fragments.append((node.inputs[index], precedence))
            else:
                fragments.append(fragment)
        return fragments


class FunctionPrinter(_FragmentPrinter):
    """Prints ``name(a, b)``.

    Parameters
    ----------
    names
        A name for each output.
    keywords
        Attributes of the op to print as keyword arguments.
    """

    def __init__(self, names: list[str], keywords: list[str] | None = None) -> None:
        self.names = names
        self.keywords = [] if keywords is None else keywords

    def fragments(self, var: Variable, pstate: PrinterState) -> list[Any]:
        node = _owner(var, self)
        keywords = [f"{name}={getattr(node.op, name)}" for name in self.keywords]
        return _call(self.names[var.index or 0], node.inputs, keywords)


class IgnorePrinter(_FragmentPrinter):
    """Prints only the first input of an op."""

    def fragments(self, var: Variable, pstate: PrinterState) -> list[Any]:
        return [(_owner(var, self).inputs[0], getattr(pstate, "precedence", _LOOSEST))]


class LeafPrinter(_FragmentPrinter):
    """Prints a variable without an owner."""

    def fragments(self, var: Variable, pstate: PrinterState) -> list[Any]:
        return [str(var)]


class ConstantPrinter(_FragmentPrinter):
    """Prints the value of a constant, or its name."""

    def fragments(self, var: Variable, pstate: PrinterState) -> list[Any]:
        return [var.name if var.name is not None else str(var.data if isinstance(var, Constant) else var)]


class DefaultPrinter(_FragmentPrinter):
    """Prints an op as a function of its inputs."""

    def fragments(self, var: Variable, pstate: PrinterState) -> list[Any]:
        node = var.owner
        if node is None:
            return leaf_printer.fragments(var, pstate)
        return _call(str(node.op), node.inputs, [])


def _owner(var: Variable, printer: Printer) -> Apply:
    if var.owner is None:
        raise TypeError(f"{type(printer).__name__} cannot print {describe(var)}: it is not the result of an operation.")
    return var.owner


def _call(name: str, inputs: Sequence[Variable], keywords: Sequence[str]) -> list[Any]:
    fragments: list[Any] = [f"{name}("]
    for position, variable in enumerate(inputs):
        if position:
            fragments.append(", ")
        fragments.append((variable, _LOOSEST))
    for position, keyword in enumerate(keywords):
        fragments.append(f", {keyword}" if position or inputs else keyword)
    fragments.append(")")
    return fragments


class PPrinter(Printer):
    """Prints variables as formulas, by the printers that are registered for their ops.

    Examples
    --------
    >>> x = at.dvector("x")
    >>> printer = pprint.clone_assign(at.exp, FunctionPrinter(["f"]))
    >>> printer(at.exp(x))
    'f(x)'
    """

    def __init__(self) -> None:
        self.printers: list[tuple[Callable[[PrinterState, Variable], bool], Printer]] = []
        self.printers_dict: dict[object, Printer] = {}

    def assign(self, condition: object, printer: Printer) -> None:
        """Register a printer.

        Parameters
        ----------
        condition
            An op, a class of ops, or a function ``(pstate, variable) -> bool``.
        printer
            The printer. Printers of ops take precedence over those of conditions, and these over those of classes;
            among conditions, the last registered one takes precedence.
        """
        if isinstance(condition, (Op, type)):
            self.printers_dict[condition] = printer
        elif callable(condition):
            self.printers.insert(0, (condition, printer))
        else:
            raise TypeError(f"A printer is assigned to an operation, a class or a condition, got {condition!r}.")

    def printer_for(self, var: Variable, pstate: PrinterState) -> Printer:
        """Return the printer of a variable."""
        registered = None if var.owner is None else self.printers_dict.get(var.owner.op)
        if registered is not None:
            return registered
        for condition, printer in self.printers:
            if condition(pstate, var):
                return printer
        if var.owner is None:
            return constant_printer if isinstance(var, Constant) else leaf_printer
        op = var.owner.op
        if registered is None:
            for cls in type(op).__mro__:
                registered = self.printers_dict.get(cls)
                if registered is not None:
                    break
        return default_printer if registered is None else registered

    def process(self, var: Variable, pstate: PrinterState | None = None) -> str:
        """Return the formula of a variable."""
        if pstate is None:
            pstate = PrinterState(pprinter=self, precedence=_LOOSEST, memo={})
        elif isinstance(pstate, dict):
            pstate = PrinterState(pprinter=self, **pstate)
        if not isinstance(var, Variable):
            raise TypeError(f"Only variables can be printed as formulas, got {var!r} ({type(var)}).")
        return self._expand([(var, getattr(pstate, "precedence", _LOOSEST))], pstate)

    def _expand(self, fragments: Sequence[Any], pstate: PrinterState) -> str:
        """Join fragments, with variables replaced by their own fragments."""
        text: list[str] = []
        pending = list(reversed(fragments))
        outer_precedence = getattr(pstate, "precedence", _LOOSEST)
        try:
            while pending:
                fragment = pending.pop()
                if isinstance(fragment, str):
                    text.append(fragment)
                    continue
                variable, pstate.precedence = fragment
                printer = self.printer_for(variable, pstate)
                if isinstance(printer, _FragmentPrinter):
                    pending.extend(reversed(printer.fragments(variable, pstate)))
                else:
                    text.append(printer.process(variable, pstate))
        finally:
            pstate.precedence = outer_precedence
        return "".join(text)

    def process_graph(
        self,
        inputs: Sequence[Variable],
        outputs: Sequence[Variable] | Variable,
        updates: dict[Variable, Variable] | None = None,
        display_inputs: bool = False,
    ) -> str:
        """Return the formulas of the outputs of a graph, one per line.

        Parameters
        ----------
        inputs, outputs
            The graph.
        updates
            Inputs and the outputs that become their next values.
        display_inputs
            Begin with a line that lists the inputs.
        """
        if isinstance(outputs, Variable):
            outputs = [outputs]
        updates = updates or {}
        new_value_of = {new: old for old, new in updates.items()}
        lines = []
        if display_inputs:
            lines.append("inputs: " + ", ".join(str(variable) for variable in inputs))
        for number, variable in enumerate(outputs):
            formula = self.process(variable)
            if variable in new_value_of:
                lines.append(f"{new_value_of[variable]} <- {formula}")
            elif len(outputs) > 1:
                lines.append(f"output {number}: {formula}")
            else:
                lines.append(formula)
        return "\n".join(lines)

    def clone(self) -> PPrinter:
        """Return a copy of the printer."""
        new = type(self)()
        new.printers = list(self.printers)
        new.printers_dict = dict(self.printers_dict)
        return new

    def clone_assign(self, condition: object, printer: Printer) -> PPrinter:
        """Return a copy of the printer with another registration."""
        new = self.clone()
        new.assign(condition, printer)
        return new

    def __call__(self, *args: Any) -> str:
        """Print a variable (optionally with a state), a graph, a function, or inputs and outputs."""
        if len(args) == 1:
            graph = args[0]
            if isinstance(graph, Function):
                graph = graph.maker.fgraph
            if isinstance(graph, FunctionGraph):
                return self.process_graph(graph.inputs, graph.outputs)
            if isinstance(graph, Apply):
                return self.process_graph(graph.inputs, graph.outputs)
            return self.process(graph)
        if len(args) == 2 and isinstance(args[1], (PrinterState, dict)):
            return self.process(*args)
        if len(args) > 2 or (len(args) == 2 and isinstance(args[1], (list, tuple, Variable))):
            return self.process_graph(*args)
        raise TypeError("pprint takes a variable and optionally a state, or inputs, outputs and optionally updates.")


default_printer = DefaultPrinter()
leaf_printer = LeafPrinter()
constant_printer = ConstantPrinter()

# The default printer; `aesara.printing.operations` registers the ops of the package.
pprint = PPrinter()
pp = pprint
hooks.pprint.set(pprint)
