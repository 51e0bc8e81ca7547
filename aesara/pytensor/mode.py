"""The mode ``"AESARA"`` of PyTensor."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from pytensor import config
from pytensor.compile.mode import Mode, register_linker, register_mode
from pytensor.graph.rewriting.db import RewriteDatabaseQuery

from aesara.pytensor.calls import AesaraFunctionMaker
from aesara.pytensor.linker import AesaraLinker

__all__ = ["AESARA", "AesaraMode"]


class AesaraMode(Mode):
    """A mode whose functions are called without PyTensor's Python code, unless options such as profiling require it."""

    function_maker = AesaraFunctionMaker

    def including(self, *tags: str) -> AesaraMode:
        """Return this mode with more of PyTensor's rules; canonicalizations include inference of shapes."""
        return super().including(*tags, *(["ShapeOpt"] if "canonicalize" in tags else []))


register_linker("aesara", AesaraLinker())
#: Graphs are rewritten by the rules of this package. Of PyTensor's rules only the mandatory ones run (variables with
#: labelled dimensions become tensors) and those that the user includes, but none that work in place.
AESARA = AesaraMode(
    linker="aesara",
    optimizer=RewriteDatabaseQuery(include=["aesara", "minimum_compile"], exclude=["inplace", "random_make_inplace"]),
)
register_mode("AESARA", AESARA)


def _accept_by_name(name: str) -> None:
    """Make ``pytensor.config.mode`` accept a mode by name, which PyTensor supports only for its own modes."""
    option = config._config_var_dict["mode"]
    option._apply = partial(_parse_mode, name, option._apply)


def _parse_mode(name: str, parse: Callable[[Any], Any], value: Any) -> Any:
    return value if value == name else parse(value)


_accept_by_name("AESARA")
