"""PyTensor's mode ``"AESARA"``."""

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


class AesaraMode(Mode):  # type: ignore[misc]
    """A mode whose functions are called without PyTensor's Python, if nothing but results is asked of them."""

    function_maker = AesaraFunctionMaker

    def including(self, *tags: str) -> AesaraMode:
        """This mode with more of PyTensor's rules; those that it calls canonical ask for what is known of shapes."""
        return super().including(*tags, *(["ShapeOpt"] if "canonicalize" in tags else []))


register_linker("aesara", AesaraLinker())
#: our rules do the work: of PyTensor's only those run without which a graph has no meaning (variables with labelled
#: dimensions become tensors) and those that the user's mode names, but none that writes to inputs
AESARA = AesaraMode(
    linker="aesara",
    optimizer=RewriteDatabaseQuery(include=["aesara", "minimum_compile"], exclude=["inplace", "random_make_inplace"]),
)
register_mode("AESARA", AESARA)


def _accept_by_name(name: str) -> None:
    """Let ``pytensor.config.mode`` take a mode's name, which it knows of its own modes only."""
    option = config._config_var_dict["mode"]
    option._apply = partial(_this_or_known, name, option._apply)


def _this_or_known(name: str, known: Callable[[Any], Any], value: Any) -> Any:
    return value if value == name else known(value)


_accept_by_name("AESARA")
