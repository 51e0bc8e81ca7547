"""Interface of Ops that hold an inner graph."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any


class HasInnerGraph(ABC):
    """Interface of Ops that compute by an inner graph."""

    @property
    @abstractmethod
    def fn(self) -> Any:
        """The compiled inner graph."""

    @property
    @abstractmethod
    def inner_inputs(self) -> list[Any]:
        """Inputs of the inner graph."""

    @property
    @abstractmethod
    def inner_outputs(self) -> list[Any]:
        """Outputs of the inner graph."""

    @abstractmethod
    def clone(self) -> Any:
        """Return an equal Op with a copy of the inner graph."""
