"""Support of programs written for Theano: ``import theano`` works after ``import aesara.theano_compat``.

Examples
--------
>>> import aesara.theano_compat
>>> import theano
>>> import theano.tensor as T
>>> x = T.dmatrix("x")
>>> f = theano.function([x], T.nnet.sigmoid(x).sum())
>>> float(f([[0.0, 0.0]]))
1.0
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from aesara.compat.theano.names import MODULES, NAMES
from aesara.configdefaults import config
from aesara.user_code import warn_user

__all__ = ["TheanoFinder"]


_MISSING = object()


def _ours(module: str) -> str:
    return f"aesara.{module}" if module else "aesara"


def _targets(name: str) -> list[ModuleType]:
    """The modules here that have the names of a module of Theano."""
    below = name.partition(".")[2]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # these modules are old on purpose
        return [import_module(_ours(module)) for module in MODULES.get(below, (below,))]


def _looked_up(module: ModuleType, name: str, otherwise: object = _MISSING) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # these names are old on purpose
        return getattr(module, name, otherwise)


class TheanoModule(ModuleType):
    """A module of Theano: its names are looked up where they are here."""

    def __init__(self, name: str) -> None:
        super().__init__(name, f"{name}, by its names here.")
        self._names: Mapping[str, str] = NAMES.get(name.partition(".")[2], {})
        self._targets = _targets(name)

    def __getattr__(self, name: str) -> Any:
        if name == "__all__":
            return [one for one in dir(self) if not one.startswith("_") and hasattr(self, one)]
        if name in self._names:
            module, _, attribute = self._names[name].partition(":")
            return getattr(import_module(_ours(module)), attribute)
        if name.startswith("__"):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        if f"{self.__name__}.{name}".partition(".")[2] in MODULES:
            return import_module(f"{self.__name__}.{name}")
        for target in self._targets:
            found = _looked_up(target, name)
            if isinstance(found, ModuleType) and found.__name__.startswith("aesara."):
                break
            if found is not _MISSING:
                return found
        try:
            return import_module(f"{self.__name__}.{name}")
        except ModuleNotFoundError:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}") from None

    def __setattr__(self, name: str, value: object) -> None:
        """Set an attribute; a module that is imported takes no name that is a function's here (``theano.scan``)."""
        if isinstance(value, TheanoModule):
            ours = [_looked_up(target, name, value) for target in self._targets]
            if any(not isinstance(one, ModuleType) for one in ours):
                return
        super().__setattr__(name, value)

    def __dir__(self) -> set[str]:
        """The names of this module; old ones and its modules are among them, since ``import *`` takes all."""
        below = self.__name__.partition(".")[2]
        modules = (one.rpartition(".") for one in MODULES if one)
        names = {*self._names, *(name for package, _, name in modules if package == below)}
        for target in self._targets:
            old = _looked_up(target, "DEPRECATED_NAMES", ())
            names.update(dir(target), (one if isinstance(one, str) else one[0] for one in old))
        return names


class TheanoFinder(MetaPathFinder, Loader):
    """Finds ``theano`` and its modules."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname.partition(".")[0] != "theano":
            return None
        try:
            _targets(fullname)
        except ModuleNotFoundError as error:
            if error.name is None or not error.name.startswith("aesara"):
                raise
            raise ModuleNotFoundError(
                f"{fullname} has no counterpart here (aesara.theano_compat): no module of Aesara has its names.",
                name=fullname,
            ) from None
        return ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return TheanoModule(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """There is nothing to run."""


def _take_flags() -> None:
    """Options of ``THEANO_FLAGS`` hold where ``AESARA_FLAGS`` does not say otherwise."""
    given = [flag.partition("=") for flag in os.environ.get("AESARA_FLAGS", "").split(",")]
    said = {name.strip().replace(".", "__") for name, _, _ in given}
    for flag in filter(None, os.environ.get("THEANO_FLAGS", "").split(",")):
        name, _, value = (part.strip() for part in flag.partition("="))
        name = name.replace(".", "__")
        if name in said or str(getattr(config, name, None)) == value:
            continue
        try:
            if not hasattr(config, name):
                raise AttributeError("there is no such option")
            setattr(config, name, value)
        except Exception as error:  # an option that is read once raises no class of its own
            warn_user(f"THEANO_FLAGS: {flag} has no effect: {error}")


if any(isinstance(finder, TheanoFinder) for finder in sys.meta_path):
    pass
elif "theano" in sys.modules and not isinstance(sys.modules["theano"], TheanoModule):
    raise ImportError("Theano itself has been imported: import aesara.theano_compat before it.")
else:
    sys.meta_path.insert(0, TheanoFinder())
    _take_flags()
