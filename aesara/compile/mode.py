"""Modes: which rewrites a graph gets, and which linker turns it into a function."""

from __future__ import annotations

import logging
from collections import UserDict
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal

from aesara.compile.pipeline import AddDestroyHandler, PrintCurrentFunctionGraph
from aesara.configdefaults import config
from aesara.graph.features import Feature
from aesara.graph.fg import FunctionGraph
from aesara.graph.rewriting.databases import load_rules, local_useless, optdb
from aesara.graph.rewriting.db import RewriteDatabase, RewriteDatabaseQuery
from aesara.graph.rewriting.rewriter import GraphRewriter
from aesara.link.basic import Linker, NativeLinker
from aesara.link.jax.linker import JAXLinker
from aesara.link.llvm.linker import LLVMLinker
from aesara.link.vm import VMLinker
from aesara.scan.inner_graphs import RewriteSteps
from aesara.utils import did_you_mean, found_at

if TYPE_CHECKING:
    from aesara.compile.profile_stats import ProfileStats


_logger = logging.getLogger("aesara.compile.mode")


class MissingLinker(Linker):
    """Stands for a linker that this installation does not have; compiling with it raises an error."""

    def __init__(self, name: Literal["numba", "jax"], reason: str) -> None:
        super().__init__()
        self.name = name
        self.reason = reason

    def accept(
        self, fgraph: FunctionGraph, no_recycling: object = None, profile: ProfileStats | None = None
    ) -> MissingLinker:
        raise NotImplementedError(f"The linker '{self.name}' is not available: {self.reason}")

    def make_thunk(self, **kwargs: object) -> Any:
        raise NotImplementedError(f"The linker '{self.name}' is not available: {self.reason}")


# The linker of the mode FAST_RUN.
_default_linker: Linker = LLVMLinker()

predefined_linkers: dict[str | None, Linker] = {
    "llvm": _default_linker,
    "py": VMLinker(),
    # Names of older linkers stand for the default.
    "cvm": _default_linker,
    "vm": _default_linker,
    "c|py": _default_linker,
    "c": _default_linker,
    "cvm_nogc": _default_linker.clone(allow_gc=False),
    "vm_nogc": _default_linker.clone(allow_gc=False),
    "c|py_nogc": _default_linker.clone(allow_gc=False),
    "jax": JAXLinker(),
    "numba": MissingLinker("numba", "native code is made without Numba here; use mode='FAST_RUN'."),
}


def register_linker(name: str, linker: Linker) -> None:
    """Make a linker known under a name, for `Mode` and ``config.linker``."""
    if name in predefined_linkers:
        raise ValueError(f"Linker name already taken: {name}")
    predefined_linkers[name] = linker


# If a string is passed as the linker or optimizer of a Mode, these say what it stands for.
OPT_NONE = RewriteDatabaseQuery(include=[])
OPT_MERGE = RewriteDatabaseQuery(include=["merge"])
OPT_FAST_RUN = RewriteDatabaseQuery(include=["fast_run"])
OPT_FAST_RUN_STABLE = OPT_FAST_RUN.requiring("stable")
# Shapes of results without the results could hide mistakes: they are for modes that make fast functions.
OPT_FAST_COMPILE = RewriteDatabaseQuery(include=["fast_compile"], exclude=["shape_unsafe"])
OPT_STABILIZE = RewriteDatabaseQuery(include=["fast_run"], position_cutoff=1.5000001)
OPT_UNSAFE = OPT_FAST_RUN.including("unsafe")
OPT_O2 = OPT_FAST_COMPILE.including("fusion")
OPT_O3 = OPT_FAST_RUN.excluding("inplace")

for _query, _name in (
    (OPT_NONE, "OPT_NONE"),
    (OPT_MERGE, "OPT_MERGE"),
    (OPT_FAST_RUN, "OPT_FAST_RUN"),
    (OPT_FAST_RUN_STABLE, "OPT_FAST_RUN_STABLE"),
    (OPT_FAST_COMPILE, "OPT_FAST_COMPILE"),
    (OPT_STABILIZE, "OPT_STABILIZE"),
    (OPT_UNSAFE, "OPT_UNSAFE"),
    (OPT_O2, "OPT_O2"),
    (OPT_O3, "OPT_O3"),
):
    _query.name = _name


def make_common_rewriters() -> None:
    """Make what most programs need with the package, where its time is not that of the first function.

    These are the rewriters of functions, and of the steps of their loops.
    """
    for query in (OPT_FAST_RUN, RewriteSteps.query):
        optdb.kept_answer(query)


predefined_optimizers: dict[str | None, object] = {
    None: OPT_NONE,
    "None": OPT_NONE,
    "merge": OPT_MERGE,
    "o4": OPT_FAST_RUN,
    "o3": OPT_O3,
    "o2": OPT_O2,
    "o1": OPT_FAST_COMPILE,
    "unsafe": OPT_UNSAFE,
    "fast_compile": OPT_FAST_COMPILE,
    "fast_run": OPT_FAST_RUN,
    "fast_run_stable": OPT_FAST_RUN_STABLE,
    "stabilize": OPT_STABILIZE,
}


def register_optimizer(name: str, opt: object) -> None:
    """Make a query or a rewriter known under a name, for `Mode` and ``config.optimizer``."""
    if name in predefined_optimizers:
        raise ValueError(f"Optimizer name already taken: {name}")
    predefined_optimizers[name] = opt


def optimizer_name(query: object) -> Any:
    """The name of a predefined query, the last if it has several; anything else stays as it is."""
    return next((name for name, known in reversed(predefined_optimizers.items()) if known is query), query)


class AddFeatureOptimizer(GraphRewriter):
    """Attaches a feature to the graph; it is not a rewrite."""

    def __init__(self, feature: Feature) -> None:
        self.feature = feature

    def add_requirements(self, fgraph: FunctionGraph) -> None:
        fgraph.attach_feature(self.feature)

    def apply(self, fgraph: FunctionGraph) -> None:
        pass


class Mode:
    """Compilation mode: the rewrites and the linker that compile a function.

    Parameters
    ----------
    linker
        A linker, or the name of one: ``"llvm"`` (native code), ``"py"`` (the reference interpreter).
        Default: ``config.linker``.
    optimizer
        A query of the database of rewriters, a graph rewriter, or the name of a query:
        ``"fast_run"``, ``"fast_compile"``, ``"merge"``, ``None``, ...  Default: ``config.optimizer``.
    db
        The database that is queried.  Default: `optdb`.

    Examples
    --------
    >>> x = at.dvector("x")
    >>> mode = aesara.compile.Mode(linker="py", optimizer="fast_compile").excluding("inplace")
    >>> f = aesara.function([x], x**2, mode=mode)
    """

    def __init__(
        self,
        linker: str | Linker | None = None,
        optimizer: Any = "default",
        db: RewriteDatabase | None = None,
    ) -> None:
        if linker is None:
            linker = config.linker
        if optimizer == "default":
            optimizer = config.optimizer
        self.optdb = optdb if db is None else db
        self._set(linker, optimizer)

    def _set(self, linker: object, optimizer: object) -> None:
        self.provided_linker = linker
        self.linker, self._query = self.get_linker_optimizer(linker, optimizer)
        # The query itself, whatever name was given: libraries make modes of their own from it.
        self.provided_optimizer = self._query

    def __getstate__(self) -> tuple:
        return self.provided_linker, optimizer_name(self.provided_optimizer)

    def __setstate__(self, state: tuple) -> None:
        self.optdb = optdb
        self._set(*state)

    @staticmethod
    def get_linker_optimizer(linker: Any, optimizer: Any) -> tuple[Linker, Any]:
        """Resolve the names of a linker and of a query."""
        if isinstance(linker, str) or linker is None:
            if linker not in predefined_linkers:
                hint = did_you_mean(str(linker), predefined_linkers)
                raise ValueError(f"Unknown linker '{linker}'; known are {_names(predefined_linkers)}.{hint}")
            linker = predefined_linkers[linker]
        if isinstance(optimizer, str) or optimizer is None:
            if optimizer not in predefined_optimizers:
                hint = did_you_mean(str(optimizer), predefined_optimizers)
                raise ValueError(f"Unknown optimizer '{optimizer}'; known are {_names(predefined_optimizers)}.{hint}")
            optimizer = predefined_optimizers[optimizer]
        if isinstance(linker, type):
            raise TypeError(f"`linker` must be a linker, not the class {linker.__name__}; call it: {linker.__name__}()")
        return linker, optimizer

    @property
    def _optimizer(self) -> Any:
        """The query that selects the rewrites, or the graph rewriter, under its name in Aesara."""
        return self._query

    @_optimizer.setter
    def _optimizer(self, query: object) -> None:
        self._query = self.provided_optimizer = query

    @property
    def optimizer(self) -> Any:
        """The graph rewriter of this mode."""
        if isinstance(self._query, RewriteDatabaseQuery):
            load_rules()
            left_out = getattr(self.linker, "incompatible_rewrites", ())
            return self.optdb.kept_answer(self._query.excluding(*left_out) if left_out else self._query)
        return self._query

    def including(self, *tags: str) -> Mode:
        """Return a mode that also takes the rewrites with one of these tags."""
        return self._with_query("including", tags)

    def excluding(self, *tags: str) -> Mode:
        """Return a mode that leaves out the rewrites with one of these tags."""
        return self._with_query("excluding", tags)

    def requiring(self, *tags: str) -> Mode:
        """Return a mode that takes only the rewrites with all of these tags."""
        return self._with_query("requiring", tags)

    def register(self, *optimizations: tuple[object, int | float]) -> Mode:
        """Return a mode with further rewrites, given as pairs of a rewriter and its position."""
        return self._with_query("register", optimizations)

    def _with_query(self, method: str, arguments: tuple) -> Mode:
        if not isinstance(self._query, RewriteDatabaseQuery):
            raise TypeError(f"The mode {self} has a fixed rewriter; its rewrites cannot be chosen by tags.")
        return self.clone(optimizer=getattr(self._query, method)(*arguments))

    def clone(self, link_kwargs: dict[str, Any] | None = None, optimizer: object = "", **kwargs: object) -> Mode:
        """Return a mode like this one.

        Parameters
        ----------
        link_kwargs
            Options for the clone of the linker, such as ``allow_gc``.
        optimizer
            Another query, rewriter or name.  Default: this mode's.
        """
        linker = self.linker.clone(**link_kwargs) if link_kwargs else self.linker
        return type(self)(linker=linker, optimizer=self._choose_optimizer(optimizer), db=self.optdb)

    def _choose_optimizer(self, optimizer: Any) -> Any:
        """Return the `optimizer` argument of a method, or this mode's own if the argument is empty."""
        return self.provided_optimizer if optimizer == "" else optimizer

    def __str__(self) -> str:
        return f"{type(self).__name__}(linker={self.provided_linker}, optimizer={optimizer_name(self._query)})"


class CheckingMode(Mode):
    """A mode with a linker of its own: the first parameters of its class, in `_chosen`, say what the linker checks."""

    _chosen: tuple[Any, ...]

    def clone(
        self, link_kwargs: dict[str, Any] | None = None, optimizer: object = "", **kwargs: object
    ) -> CheckingMode:
        """Return a mode like this one; see `Mode.clone`."""
        others = {"optimizer": self._choose_optimizer(optimizer), "db": self.optdb}  # these stand behind
        new = type(self)(*self._chosen, **others)
        if link_kwargs:
            new.linker = new.provided_linker = new.linker.clone(**link_kwargs)
        return new

    def __getstate__(self) -> tuple[object, ...]:
        return self._chosen, optimizer_name(self.provided_optimizer)

    def __setstate__(self, state: Any) -> None:
        chosen, optimizer = state
        self.__init__(*chosen, optimizer)  # type: ignore[misc]


def _names(registry: Iterable[object]) -> str:
    return ", ".join(repr(name) for name in registry)


FAST_COMPILE = Mode("py", "fast_compile")
FAST_RUN = Mode("llvm", "fast_run")
JAX = Mode("jax", OPT_FAST_RUN.including("jax"))
NUMBA = Mode("numba", "fast_run")


class ModesByName(UserDict[str, Any]):
    """Modes by name. A text in the place of a mode says which module has it, as ``module:name``."""

    def __getitem__(self, name: str) -> Mode:
        mode = self.data[name]
        if isinstance(mode, str):
            mode = self.data[name] = found_at(mode)
        return mode


# What checks a program is loaded when somebody asks for it.
predefined_modes = ModesByName(
    FAST_COMPILE=FAST_COMPILE,
    FAST_RUN=FAST_RUN,
    JAX=JAX,
    NUMBA=NUMBA,
    DebugMode="aesara.compile.debugmode:DEBUG_MODE",
    DEBUG_MODE="aesara.compile.debugmode:DEBUG_MODE",
    MonitorMode="aesara.compile.monitormode:MONITOR_MODE",
    NanGuardMode="aesara.compile.nanguardmode:NAN_GUARD_MODE",
    NanWhere="aesara.compile.nan_where:NAN_WHERE",
)

_default_modes: dict[tuple, Mode] = {}


def get_mode(orig_string: Any) -> Mode:
    """Return the mode with a given name; a mode is returned unchanged.

    Parameters
    ----------
    orig_string
        A mode, the name of a predefined one, ``"Mode"`` (the combination of ``config.linker`` and
        ``config.optimizer``), or None for ``config.mode``.

    Notes
    -----
    Named modes take the tags of ``config.optimizer_including``, ``config.optimizer_excluding`` and
    ``config.optimizer_requiring`` into account.
    """
    name = config.mode if orig_string is None else orig_string
    if not isinstance(name, str):
        if not hasattr(name, "linker"):
            raise TypeError(f"A mode is a name or a `Mode`, got {name!r} of type {type(name).__name__}.")
        return name
    tags = (config.optimizer_including, config.optimizer_excluding, config.optimizer_requiring)
    if name == "Mode":
        key = (config.linker, config.optimizer, *tags)
        mode = _default_modes.get(key)
        if mode is None:
            mode = _default_modes[key] = _with_configured_tags(Mode(), *tags)
        return mode
    if name == "DEBUG_MODE":
        name = "DebugMode"
    if name not in predefined_modes:
        raise ValueError(
            f"No predefined mode exists for the string {name!r}; known are {_names(predefined_modes)}."
            f"{did_you_mean(name, predefined_modes)}"
        )
    return _with_configured_tags(predefined_modes[name], *tags)


def _with_configured_tags(mode: Mode, including: str, excluding: str, requiring: str) -> Mode:
    if including:
        mode = mode.including(*including.split(":"))
    if excluding:
        mode = mode.excluding(*excluding.split(":"))
    if requiring:
        mode = mode.requiring(*requiring.split(":"))
    return mode


def get_default_mode() -> Mode:
    """Return the mode that ``config.mode`` names."""
    return get_mode(None)


def register_mode(name: str, mode: Mode) -> None:
    """Make a mode known under a name, for `function` and ``config.mode``."""
    if name in predefined_modes:
        raise ValueError(f"Mode name already taken: {name}")
    predefined_modes[name] = mode


instantiated_default_mode: Mode | None = None


def get_target_language(mode: Mode | str | None = None) -> tuple[Literal["py", "c", "numba", "jax"], ...]:
    """Return what a mode's linker computes with; ``"c"`` stands for native code."""
    linker = get_mode(mode).linker
    if isinstance(linker, MissingLinker):
        return (linker.name,)
    if isinstance(linker, JAXLinker):
        return ("jax",)
    if isinstance(linker, NativeLinker):
        return ("c", "py")
    return ("py",)


__all__ = [
    "FAST_COMPILE",
    "FAST_RUN",
    "JAX",
    "NUMBA",
    "OPT_FAST_COMPILE",
    "OPT_FAST_RUN",
    "OPT_FAST_RUN_STABLE",
    "OPT_MERGE",
    "OPT_NONE",
    "OPT_O2",
    "OPT_O3",
    "OPT_STABILIZE",
    "OPT_UNSAFE",
    "AddDestroyHandler",
    "AddFeatureOptimizer",
    "MissingLinker",
    "Mode",
    "PrintCurrentFunctionGraph",
    "config",
    "get_default_mode",
    "get_mode",
    "get_target_language",
    "instantiated_default_mode",
    "local_useless",
    "optdb",
    "predefined_linkers",
    "predefined_modes",
    "predefined_optimizers",
    "register_linker",
    "register_mode",
    "register_optimizer",
]
