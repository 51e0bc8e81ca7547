"""The catalogue of wrong programs, and what belongs to several of them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass

import aesara.tensor as at
from aesara.graph.nodes import Apply
from aesara.graph.op import Op


@dataclass(frozen=True)
class Program:
    """A wrong program.

    Attributes
    ----------
    stage
        When it goes wrong: ``build``, ``rewrite``, ``compile`` or ``run``.
    error
        The class of the exception.
    says
        What the message has to contain.
    """

    run: Callable[..., object]
    stage: str
    error: type[BaseException]
    says: tuple[str, ...]

    @property
    def name(self) -> str:
        return self.run.__name__

    @property
    def takes_mode(self) -> bool:
        """Whether it is run both by the reference machine and natively."""
        return bool(inspect.signature(self.run).parameters)


PROGRAMS: list[Program] = []


def wrong(stage: str, error: type[BaseException], *says: str) -> Callable:
    """Add a program to the catalogue."""

    def register(run: Callable[..., object]) -> Callable[..., object]:
        PROGRAMS.append(Program(run, stage, error, says))
        return run

    return register


class Doubled(Op):
    __props__ = ()

    def make_node(self, x):
        x = at.as_tensor_variable(x)
        return Apply(self, [x], [x.type()])

    def perform(self, node, inputs, output_storage):
        if inputs[0].size == 0:
            raise ValueError("nothing to double")
        output_storage[0][0] = 2 * inputs[0]
