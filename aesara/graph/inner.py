"""What Ops that hold a graph of their own have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod


class HasInnerGraph(ABC):
    """Interface of Ops that compute by an inner graph."""

    @property
    @abstractmethod
    def fn(self):
        """The compiled inner graph."""

    @property
    @abstractmethod
    def inner_inputs(self) -> list:
        """Inputs of the inner graph."""

    @property
    @abstractmethod
    def inner_outputs(self) -> list:
        """Outputs of the inner graph."""

    @abstractmethod
    def clone(self):
        """Return an equal Op with a copy of the inner graph."""
