"""The backend ``"aesara"`` of ``nutpie.compile_pymc_model``, which ``pymc.sample`` uses.

nutpie has no registry of backends, so ``compile_pymc_model`` is replaced by a wrapper. The wrapper is installed when
nutpie is imported by somebody else: importing nutpie takes longer than importing the rest of `aesara.pytensor`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.util import find_spec
from types import ModuleType
from typing import Any

from pytensor.compile.mode import get_mode

from aesara.pytensor.lines import frames_of_pymc
from aesara.pytensor.linker import AesaraLinker

__all__ = ["add_backend", "add_backend_when_imported"]

BACKEND = "aesara"


def add_backend(nutpie: ModuleType) -> None:
    """Make ``compile_pymc_model`` of nutpie accept the backend ``"aesara"``; do nothing if nutpie has no such function.

    Without an explicit backend, `pymc.sample` uses it if the mode is ``"AESARA"``, given by ``compile_kwargs`` or as
    PyTensor's default.
    """
    theirs = getattr(nutpie, "compile_pymc_model", None)
    if not callable(theirs) or hasattr(theirs, "takes_aesara"):
        return

    @wraps(theirs)
    def compile_pymc_model(model: Any, **options: Any) -> Any:
        ours = str(options["backend"]).lower() == BACKEND if "backend" in options else _is_mode_of_pymc_sample()
        if not ours:
            return theirs(model, **options)
        options.pop("backend", None)
        try:
            return import_module("aesara.pytensor.nutpie").compile_pymc_model(model, **options)
        except NotImplementedError as error:
            error.add_note('PyMC\'s own sampler takes such models: pymc.sample(nuts_sampler="pymc").')
            raise

    vars(compile_pymc_model)["takes_aesara"] = True
    vars(nutpie)["compile_pymc_model"] = compile_pymc_model


def _is_mode_of_pymc_sample() -> bool:
    """Return whether `pymc.sample` is running with our mode, which it does not pass to nutpie."""
    options = [frame.f_locals["compile_kwargs"] for frame in frames_of_pymc() if "compile_kwargs" in frame.f_locals]
    if not options:
        return False
    mode = options[-1].get("mode") if isinstance(options[-1], dict) else None
    return isinstance(get_mode(mode).linker, AesaraLinker)


class _AfterImport(MetaPathFinder):
    """A finder that calls a function with a module after the module was imported."""

    def __init__(self, name: str, action: Callable[[ModuleType], None]) -> None:
        self.name, self.action = name, action
        self._searching = False

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> Any:
        if fullname != self.name or self._searching:
            return None
        self._searching = True
        try:
            spec = find_spec(fullname)
        finally:
            self._searching = False
        execute = getattr(spec.loader, "exec_module", None) if spec is not None else None
        if spec is None or execute is None:
            return spec

        def exec_module(module: ModuleType) -> None:
            execute(module)
            self.action(module)

        spec.loader.exec_module = exec_module  # type: ignore[union-attr, method-assign]
        return spec


def add_backend_when_imported() -> None:
    """Add the backend to nutpie now, or when it is imported."""
    loaded = sys.modules.get("nutpie")
    if loaded is not None:
        add_backend(loaded)
    elif not any(isinstance(finder, _AfterImport) for finder in sys.meta_path):
        sys.meta_path.insert(0, _AfterImport("nutpie", add_backend))


add_backend_when_imported()
