"""Compiled functions on disk, by the digests of their graphs as written.

A function whose graph was compiled before, in this process or another one, is neither rewritten nor lowered again: its
machine code is loaded. Its rewritten graph is made when somebody asks for it, or when an error has to name a node, from
the graph at hand, so that names and lines are those of this program.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import pickle
import threading
from collections import OrderedDict
from dataclasses import replace
from typing import Any

import numpy as np

from aesara.configdefaults import config
from aesara.digests import blake2b
from aesara.graph.digest import NoDigest, digest_of
from aesara.graph.fg import FunctionGraph
from aesara.graph.rewriting.databases import load_rules, optdb
from aesara.graph.rewriting.db import RewriteDatabaseQuery
from aesara.graph.rewriting.watching import active_watch
from aesara.link.llvm.cache import function_cache
from aesara.link.llvm.jit import host_key
from aesara.link.llvm.linker import LLVMLinker
from aesara.lower.errors import ErrorInfo
from aesara.records import dataclass
from aesara.scan.inner_graphs import RewriteSteps
from aesara.sources import PACKAGE, state_of
from aesara.utils import free_in_children

__all__ = ["KeptFunction", "find", "key_of", "keep"]

#: options that make no difference to what a graph is compiled to
_WITHOUT_EFFECT = ("native_cache", "function_cache", "exception_verbosity", "on_unused_input", "traceback__limit")
#: bytes of code and constants that the process keeps at most
_MOST_BYTES = 64 * 2**20
#: functions that it keeps at most
_MOST_FUNCTIONS = 256
#: bytes of constants of a function that is kept on disk
_LARGEST = 2**24


@dataclass
class KeptFunction:
    """The outcome of a compilation.

    Attributes
    ----------
    form
        The machine code, and what it reads.
    types
        The types of the outputs of the rewritten graph.
    text
        The digest of the LLVM IR.
    errors
        The errors that checks raise, without nodes.
    """

    form: Any
    types: tuple[object, ...]
    text: bytes
    errors: tuple[ErrorInfo, ...]

    @property
    def size(self) -> int:
        """Bytes of machine code and constants."""
        image = self.form.image
        return len(image.code) + len(image.entry_code) + sum(constant.nbytes for constant in self.form.constants)

    def has_text(self, text: str) -> bool:
        """Return whether the machine code was made of this LLVM IR."""
        return _text_digest(text) == self.text


#: by folder and key
_kept: OrderedDict[tuple[str, str], KeptFunction] = OrderedDict()
_lock = free_in_children(threading.Lock())


def key_of(maker: Any, graph: FunctionGraph) -> str:
    """Return the digest of all that a compilation depends on.

    Parameters
    ----------
    maker
        The maker of the function.
    graph
        The graph as written.

    Raises
    ------
    NoDigest
        If it depends on more than can be told; the message says on what.
    """
    if not (config.function_cache and config.native_cache):
        raise NoDigest("the option function_cache or native_cache is off")
    mode = maker.mode
    query = mode.provided_optimizer
    if type(mode.linker) is not LLVMLinker or not isinstance(query, RewriteDatabaseQuery) or mode.optdb is not optdb:
        raise NoDigest(f"the mode {mode} is not one of rewrites and native code")
    if maker.profile is not None:
        raise NoDigest("the function is profiled")
    if maker.accept_inplace or maker.overwrites_arguments:
        raise NoDigest("operations of its graph may overwrite their inputs")
    if config.compute_test_value != "off" or config.compute_test_value_opt != "off":
        raise NoDigest("test values are computed")
    if active_watch() is not None:
        raise NoDigest("somebody watches its rewrites")
    load_rules()
    facts = (
        _facts_of_query(query),
        _facts_of_query(RewriteSteps.query),
        optdb.registrations_of_package(),
        [(one.mutable, one.borrow, one.strict, one.allow_downcast, one.implicit, one.value is None,
          one.update is None) for one in maker.inputs],
        [one.borrow for one in maker.outputs],
        maker.unpack_single,
        maker.return_none,
        sorted((k, v) for k, v in (graph.update_mapping or {}).items()),
        repr([(name, value) for name, value in config.values().items() if name not in _WITHOUT_EFFECT]),
        host_key(),
        _versions(),
    )  # fmt: skip
    return digest_of(graph.inputs, graph.outputs, *facts)


def _facts_of_query(query: RewriteDatabaseQuery) -> tuple[Any, ...]:
    if query.extra_rewrites:
        raise NoDigest("rewrites were added to the mode")
    return query.key()


@functools.cache
def _versions() -> tuple[Any, ...]:
    """Return what tells the versions of all that compiles apart.

    Installing a package writes its files anew; in a folder of sources any file may have changed. SciPy is not imported
    to be asked: it takes longer than all else.
    """
    is_installed = not {"site-packages", "dist-packages"}.isdisjoint(PACKAGE.split(os.sep))
    files = state_of("__init__.py" if is_installed else "")
    if files is None:
        raise NoDigest("files of the package were changed after it was imported, or cannot be looked at")
    spec = importlib.util.find_spec("scipy")
    scipy = None if spec is None or spec.origin is None else (spec.origin, os.stat(spec.origin).st_mtime_ns)
    return np.__version__, scipy, PACKAGE, files


def find(key: str) -> KeptFunction | None:
    """Return what was kept under a key; None if nothing was."""
    place = str(config.native_cache_dir), key
    with _lock:
        found = _kept.get(place)
        if found is not None:
            _kept.move_to_end(place)
            return found
    cache = function_cache()
    content = None if cache is None else cache.load(key)
    if content is None:
        return None
    try:
        found = pickle.loads(content)
    except Exception:  # whatever is the matter with it, it is not what was written
        return None
    if not isinstance(found, KeptFunction):
        return None
    _remember(key, found)
    return found


def keep(key: str, native: Any, types: tuple[Any, ...]) -> None:
    """Keep a compiled function under a key, if nothing of it runs in Python."""
    form = native.form
    if form.n_callbacks or sum(constant.nbytes for constant in form.constants) > _LARGEST:
        return
    errors = tuple(map(_without_node, form.symbols.errors))
    # The data of a constant can be changed, if nobody should.
    own = replace(form, symbols=None, constants=tuple(np.array(constant) for constant in form.constants))
    found = KeptFunction(own, types, _text_digest(native.report.text), errors)
    _remember(key, found)
    cache = function_cache()
    if cache is not None:
        cache.store(key, pickle.dumps(found, protocol=pickle.HIGHEST_PROTOCOL))


def _without_node(error: ErrorInfo) -> ErrorInfo:
    message = error.message if isinstance(error.message, str) else "A check of the function has failed."
    return ErrorInfo(error.kind, message, None)


def _text_digest(text: str) -> bytes:
    """Return the digest of the text of a module."""
    return blake2b(text.encode(), digest_size=20).digest()


def _remember(key: str, found: KeptFunction) -> None:
    with _lock:
        _kept[str(config.native_cache_dir), key] = found
        total = sum(one.size for one in _kept.values())
        while len(_kept) > 1 and (total > _MOST_BYTES or len(_kept) > _MOST_FUNCTIONS):
            total -= _kept.popitem(last=False)[1].size
