"""Graphs as formulas: `pprint`, and the printers that operations are registered with."""

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
    """State of a printer: the surroundings of the text.

    Attributes
    ----------
    pprinter
        The `PPrinter` that prints inputs.
    precedence
        How tightly the surroundings bind.
    memo
        Texts of variables that were printed already.
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
    """Set the precedence of a printer's state while inputs are printed."""
    before = getattr(pstate, "precedence", _LOOSEST)
    pstate.precedence = precedence
    try:
        yield
    finally:
        pstate.precedence = before


class Printer(ABC):
    """Prints the outputs of some operations.

    The printers of this module implement `pieces`, which lets formulas of any depth be printed
    without recursion.  A printer of your own needs only `process`, which prints the inputs by
    ``pstate.pprinter.process(variable, pstate)``.
    """

    @abstractmethod
    def process(self, var: Variable, pstate: PrinterState) -> str:
        """Return the formula of a variable."""


class _PiecewisePrinter(Printer):
    """A printer that tells its text as pieces: strings, and variables with their precedence."""

    @abstractmethod
    def pieces(self, var: Variable, pstate: PrinterState) -> Sequence[str | tuple[Variable, int]]:
        """Return strings, and pairs of an input and the precedence of its place."""

    def process(self, var: Variable, pstate: PrinterState) -> str:
        return pstate.pprinter._expand(self.pieces(var, pstate), pstate)


class OperatorPrinter(_PiecewisePrinter):
    """Prints ``(a + b)``.

    Parameters
    ----------
    operator
        The sign.
    precedence
        How tightly it binds.
    assoc
        ``'left'``, ``'right'``, ``'either'`` or ``'none'``.
    """

    def __init__(self, operator: str, precedence: int, assoc: str = "left") -> None:
        self.operator = operator
        self.precedence = precedence
        self.assoc = assoc

    def pieces(self, var: Variable, pstate: PrinterState) -> list[Any]:
        node = _owner(var, self)
        # Parentheses are printed everywhere: formulas stay unambiguous, whatever they are pasted into.
        inputs = node.inputs
        if len(inputs) == 1:
            return ["(", self.operator, (inputs[0], self.precedence), ")"]
        parts: list[Any] = ["(" * (len(inputs) - 1)]
        for position, variable in enumerate(inputs):
            if position:
                parts.append(f" {self.operator} ")
            parts.append((variable, self.precedence))
            if position:
                parts.append(")")
        return parts


class PatternPrinter(_PiecewisePrinter):
    """Prints by a pattern such as ``"|%(0)s|"``, one for each output of the operation.

    Parameters
    ----------
    *patterns
        Patterns, or pairs of a pattern and the precedences of its inputs.
    """

    def __init__(self, *patterns: Any) -> None:
        self.patterns = [(one, ()) if isinstance(one, str) else (one[0], tuple(one[1:])) for one in patterns]

    def pieces(self, var: Variable, pstate: PrinterState) -> list[Any]:
        node = _owner(var, self)
        pattern, precedences = self.patterns[var.index or 0]
        marks = {str(position): f"\0{position}\0" for position in range(len(node.inputs))}
        parts: list[Any] = []
        for position, piece in enumerate((pattern % marks).split("\0")):
            if position % 2:
                which = int(piece)
                precedence = precedences[which] if which < len(precedences) else _LOOSEST
                parts.append((node.inputs[which], precedence))
            else:
                parts.append(piece)
        return parts


class FunctionPrinter(_PiecewisePrinter):
    """Prints ``name(a, b)``.

    Parameters
    ----------
    names
        A name for each output.
    keywords
        Attributes of the operation to print as keyword arguments.
    """

    def __init__(self, names: list[str], keywords: list[str] | None = None) -> None:
        self.names = names
        self.keywords = [] if keywords is None else keywords

    def pieces(self, var: Variable, pstate: PrinterState) -> list[Any]:
        node = _owner(var, self)
        keywords = [f"{name}={getattr(node.op, name)}" for name in self.keywords]
        return _call(self.names[var.index or 0], node.inputs, keywords)


class IgnorePrinter(_PiecewisePrinter):
    """Prints an operation as its first input."""

    def pieces(self, var: Variable, pstate: PrinterState) -> list[Any]:
        return [(_owner(var, self).inputs[0], getattr(pstate, "precedence", _LOOSEST))]


class LeafPrinter(_PiecewisePrinter):
    """Prints a variable that no node computes."""

    def pieces(self, var: Variable, pstate: PrinterState) -> list[Any]:
        return [str(var)]


class ConstantPrinter(_PiecewisePrinter):
    """Prints the value of a constant, or its name."""

    def pieces(self, var: Variable, pstate: PrinterState) -> list[Any]:
        return [var.name if var.name is not None else str(var.data)]  # type: ignore[attr-defined]


class DefaultPrinter(_PiecewisePrinter):
    """Prints an operation as a function of its inputs."""

    def pieces(self, var: Variable, pstate: PrinterState) -> list[Any]:
        node = var.owner
        if node is None:
            return leaf_printer.pieces(var, pstate)
        return _call(str(node.op), node.inputs, [])


def _owner(var: Variable, printer: Printer) -> Apply:
    if var.owner is None:
        raise TypeError(f"{type(printer).__name__} cannot print {describe(var)}: it is not the result of an operation.")
    return var.owner


def _call(name: str, inputs: Sequence[Variable], keywords: Sequence[str]) -> list[Any]:
    parts: list[Any] = [f"{name}("]
    for position, variable in enumerate(inputs):
        if position:
            parts.append(", ")
        parts.append((variable, _LOOSEST))
    for position, keyword in enumerate(keywords):
        parts.append(f", {keyword}" if position or inputs else keyword)
    parts.append(")")
    return parts


class PPrinter(Printer):
    """Prints variables as formulas; calls printers that are registered for their operations.

    Examples
    --------
    >>> x = at.dvector("x")
    >>> printer = pprint.clone_assign(at.exp, FunctionPrinter(["f"]))
    >>> printer(at.exp(x))
    'f(x)'
    """

    def __init__(self) -> None:
        self.printers: list[tuple[Callable[[PrinterState, Variable], bool], Printer]] = []
        self.printers_dict: dict[Any, Printer] = {}

    def assign(self, condition: Any, printer: Printer) -> None:
        """Register a printer.

        Parameters
        ----------
        condition
            An operation, a class of operations, or a function ``(pstate, variable) -> bool``.
        printer
            The printer. That of an operation comes before those of conditions, and these before those of classes; of
            conditions the one that is registered last comes first.
        """
        if isinstance(condition, (Op, type)):
            self.printers_dict[condition] = printer
        elif callable(condition):
            self.printers.insert(0, (condition, printer))
        else:
            raise TypeError(f"A printer is assigned to an operation, a class or a condition, got {condition!r}.")

    def printer_for(self, var: Variable, pstate: PrinterState) -> Printer:
        """Return the printer of a variable."""
        found = None if var.owner is None else self.printers_dict.get(var.owner.op)
        if found is not None:
            return found
        for condition, printer in self.printers:
            if condition(pstate, var):
                return printer
        if var.owner is None:
            return constant_printer if isinstance(var, Constant) else leaf_printer
        op = var.owner.op
        if found is None:
            for cls in type(op).__mro__:
                found = self.printers_dict.get(cls)
                if found is not None:
                    break
        return default_printer if found is None else found

    def process(self, var: Variable, pstate: PrinterState | None = None) -> str:
        """Return the formula of a variable."""
        if pstate is None:
            pstate = PrinterState(pprinter=self, precedence=_LOOSEST, memo={})
        elif isinstance(pstate, dict):
            pstate = PrinterState(pprinter=self, **pstate)
        if not isinstance(var, Variable):
            raise TypeError(f"Only variables can be printed as formulas, got {var!r} ({type(var)}).")
        return self._expand([(var, getattr(pstate, "precedence", _LOOSEST))], pstate)

    def _expand(self, pieces: Sequence[Any], pstate: PrinterState) -> str:
        """Join pieces, with the pieces of variables in their place."""
        text: list[str] = []
        pending = list(reversed(pieces))
        before = getattr(pstate, "precedence", _LOOSEST)
        try:
            while pending:
                piece = pending.pop()
                if isinstance(piece, str):
                    text.append(piece)
                    continue
                variable, pstate.precedence = piece
                printer = self.printer_for(variable, pstate)
                if isinstance(printer, _PiecewisePrinter):
                    pending.extend(reversed(printer.pieces(variable, pstate)))
                else:
                    text.append(printer.process(variable, pstate))
        finally:
            pstate.precedence = before
        return "".join(text)

    def process_graph(
        self,
        inputs: Sequence[Variable],
        outputs: Sequence[Variable] | Variable,
        updates: dict[Variable, Variable] | None = None,
        display_inputs: bool = False,
    ) -> str:
        """Return the formulas of a graph's outputs, one below the other.

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
            lines.append("inputs: " + ", ".join(str(one) for one in inputs))
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
        """Return another printer with the same registrations."""
        new = type(self)()
        new.printers = list(self.printers)
        new.printers_dict = dict(self.printers_dict)
        return new

    def clone_assign(self, condition: Any, printer: Printer) -> PPrinter:
        """Return another printer with one registration more."""
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

# The printer of everybody; `aesara.printing.operations` registers the operations of the package.
pprint = PPrinter()
pp = pprint
hooks.pprint.set(pprint)
