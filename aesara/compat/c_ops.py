"""Ops with C code, for programs that define some; their `perform` runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from aesara.graph.op import HasCFile, Op
from aesara.graph.utils import MethodNotDefined

if TYPE_CHECKING:
    from aesara.graph.nodes import Apply


class COp(Op):
    """An op that may define C code, which is not used.

    Functions are compiled through LLVM, and no C code is generated. An op with a `perform` is called from native code;
    one with only C code raises an error when a function with it is compiled. For native code, write a lowering, see
    ``docs/adding_a_lowering.md``.
    """

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: Any, *params: Any) -> None:
        raise NotImplementedError(
            f"{self} has C code only, which is not compiled here. Give {type(self).__name__} a method "
            "perform(self, node, inputs, output_storage) that computes it in Python, with NumPy."
        )

    def c_code(
        self, node: Apply, name: str, inputs: Sequence[str], outputs: Sequence[str], sub: dict[str, object]
    ) -> str:
        """C code of a node; it is not used."""
        raise MethodNotDefined("c_code", type(self), type(self).__name__)


class OpenMPOp(COp):
    """An op whose C code may use several threads, which is not used."""

    def __init__(self, openmp: bool | None = None) -> None:
        self.openmp = openmp


class ExternalCOp(HasCFile, COp):
    """An op whose C code is in files, which are not read."""

    def __init__(self, func_files: str | list[str], func_name: str | None = None) -> None:
        self.func_files = [func_files] if isinstance(func_files, str) else list(func_files)
        self.func_name = func_name
