"""The `Print` op, which prints its input at run time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Apply, Variable
from aesara.graph.op import Op


def _print_fn(op: Print, xin: object) -> None:
    """Print attributes of a value, one per line, after the message of the op."""
    for name in op.attrs:
        attribute = getattr(xin, name)
        print(op.message, name, "=", attribute() if callable(attribute) else attribute)


class Print(Op):
    """Returns its input, and prints it at run time.

    Parameters
    ----------
    message
        Printed before the value.
    attrs
        Attributes or methods of the value to print.
    global_fn
        A function ``global_fn(op, value)`` that is called instead of printing.

    Notes
    -----
    Nothing is printed if the result is unused.  Rewrites may change how often and in which order values are computed.

    Examples
    --------
    >>> x = aesara.tensor.dvector("x")
    >>> f = aesara.function([x], 2 * Print("x is")(x))
    >>> f([1.0])
    x is __str__ = [1.]
    array([2.])
    """

    view_map = {0: [0]}
    __props__ = ("message", "attrs", "global_fn")

    def __init__(
        self,
        message: str = "",
        attrs: Sequence[str] = ("__str__",),
        global_fn: Callable[[Print, Any], None] = _print_fn,
    ) -> None:
        self.message = message
        self.attrs = tuple(attrs)
        self.global_fn = global_fn

    def make_node(self, xin: Variable) -> Apply:
        return Apply(self, [xin], [xin.type()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[list[Any]]) -> None:
        output_storage[0][0] = inputs[0]
        self.global_fn(self, inputs[0])

    def grad(self, inputs: Sequence[Variable], output_grads: Sequence[Variable]) -> list[Variable]:
        return list(output_grads)

    def R_op(self, inputs: Sequence[Variable], eval_points: Sequence[object]) -> list[Any]:
        return list(eval_points)

    def infer_shape(self, fgraph: FunctionGraph, node: Apply, input_shapes: Sequence[object]) -> Sequence[Any]:
        return input_shapes

    def do_constant_folding(self, fgraph: FunctionGraph, node: Apply) -> bool:
        return False
