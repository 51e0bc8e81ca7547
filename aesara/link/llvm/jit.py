"""LLVM: from IR text to the address of the entry point, through the object cache."""

from __future__ import annotations

import atexit
import contextlib
import functools
import itertools
import platform
import re
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence

import llvmlite
import llvmlite.binding as llvm
import numpy as np
from llvmlite.binding.newpassmanagers import NewPassManager, create_new_module_pass_manager

from aesara.ir import vecmath
from aesara.ir.definitions import INLINED
from aesara.ir.typed.function import TypedFunction
from aesara.link.llvm import blas_threads, large_results, layout, missing_instructions
from aesara.link.llvm.cache import ObjectCache, object_cache
from aesara.link.llvm.long_entries import split_long_entry
from aesara.link.llvm.metadata import NO_VECTORS
from aesara.link.llvm.module import Module
from aesara.link.llvm.runtime import large_blocks, one_thread
from aesara.link.llvm.symbols import address_of
from aesara.link.llvm.target import Target, current_target, target_named
from aesara.link.llvm.typed_functions import Library, library_text
from aesara.records import dataclass
from aesara.scalar.routine import too_old_for
from aesara.sources import PACKAGE, state_of
from aesara.utils import free_in_children

__all__ = [
    "LIBRARY_SOURCES",
    "Code",
    "Image",
    "build",
    "host_key",
    "load",
    "load_functions",
    "load_routines",
    "load_vecmath",
    "object_code",
    "optimized_text",
    "postpone_stores",
]

#: level of LLVM's passes and of its code generator
_LEVEL = 1
#: objects are small; the large model, the default of JIT compilers, keeps constants in registers and spills them
_CODE_MODEL = "small" if sys.platform != "win32" else "jitdefault"

#: version of the format of object code and of its table
_FORMAT = 7

with contextlib.suppress(AttributeError):  # llvmlite's own lock, taken after ours
    free_in_children(llvm.ffi.lib._lock._lock)
_lock = free_in_children(threading.RLock())
_serial = itertools.count()
_exiting = False


@contextlib.contextmanager
def _hold_lock() -> Iterator[None]:
    """Hold the lock of LLVM; after the interpreter has begun to exit, other threads end here."""
    with _lock:
        if _exiting and threading.current_thread() is not threading.main_thread():
            raise SystemExit  # ends the thread silently
        yield


@atexit.register
def _finish() -> None:
    """Wait for a thread that compiles: process exit destroys data that LLVM uses."""
    global _exiting
    _exiting = True
    with _lock:
        pass


@dataclass(frozen=True)
class Image:
    """Object code that any process on the same kind of machine can load.

    Attributes
    ----------
    code
        The object file.
    entry_code
        A second object file with a long entry point; empty if `code` has it.
    externals
        The C functions that it calls.
    entry
        Symbol of its entry point.
    host
        Compiler and target; see `host_key`.
    """

    code: bytes
    entry_code: bytes
    externals: tuple[str, ...]
    entry: str
    host: str


@dataclass(frozen=True)
class Code:
    """Loaded machine code: the address of its entry, or None if it is for another architecture.

    The `library` keeps it in memory.
    """

    address: int | None
    library: object
    cached: bool
    image: Image
    target: str


@functools.cache
def _machine(target: Target, level: int = _LEVEL) -> llvm.TargetMachine:
    return llvm.Target.from_triple(target.triple).create_target_machine(
        cpu=target.cpu, features=target.features, opt=level, reloc="pic", codemodel=_CODE_MODEL, jit=True
    )


@functools.cache
def _jit() -> object:
    """Return the linker and loader, which owns its target machine.

    JITLink allocates all sections of an object together. LLVM's other linker allocates each section on its own and
    aborts the process if one is more than 2 GiB away, as happens in processes with many mappings (seen with CUDA). On
    Windows, where JITLink is untested, the code model is the large one.
    """
    host = target_named("native")
    machine = llvm.Target.from_triple(host.triple).create_target_machine(cpu=host.cpu, jit=True)
    return llvm.create_lljit_compiler(machine, use_jit_link=sys.platform != "win32")


def _optimize(module: llvm.ModuleRef, text: str, target: Target) -> None:
    without_vectors = NO_VECTORS in text
    if without_vectors and INLINED not in text:
        return
    # The emitter's loops have the form that the vectorizer needs.  Interleaving and unrolling gain little on top of
    # vectors of eight doubles in loops bound by memory or long polynomials, and cost a third of the compile time;
    # level 2 takes longer without gain.
    tuning = llvm.create_pipeline_tuning_options(speed_level=_LEVEL)
    tuning.loop_vectorization = True
    tuning.slp_vectorization = False
    tuning.loop_interleaving = False
    tuning.loop_unrolling = False
    builder = llvm.create_pass_builder(_machine(target), tuning)
    if without_vectors:
        # Without vectors the passes have nothing to do: the emitter has hoisted invariants, and the code generator
        # eliminates common subexpressions.
        passes = create_new_module_pass_manager()
        passes.add_always_inliner_pass()
    else:
        passes = builder.getModulePassManager()
    passes.run(module, builder)
    _dispose(passes)


def _dispose(passes: NewPassManager) -> None:
    # llvmlite does not free it: its class inherits an empty `_dispose` before the right one.
    NewPassManager._dispose(passes)
    passes.detach()


def _parse(text: str, target: Target, level: int = _LEVEL) -> llvm.ModuleRef:
    """Parse a module, with a heading for the target."""
    return llvm.parse_assembly(_heading(target, level) + missing_instructions.supply_missing(text, target))


@functools.cache
def _heading(target: Target, level: int) -> str:
    """Return the data layout and triple of a module; the level only selects a machine that is needed anyway."""
    layout = _machine(target, level).target_data
    return f'target datalayout = "{layout}"\ntarget triple = "{target.triple}"\n'


def optimized_text(text: str, assembly: bool = False) -> str:
    """Return a module optimized for the current target, as IR or assembly text, for inspection."""
    target = current_target()
    with _hold_lock():
        module = _parse(text, target)
        _optimize(module, text, target)
        return _machine(target).emit_assembly(module) if assembly else str(module)


def object_code(text: str) -> bytes:
    """Return a module as object code for the current target, for other programs."""
    target = current_target()
    with _hold_lock():
        return _object(_with_vecmath(text), None, target)[0]


def _with_vecmath(text: str) -> str:
    """Return a module with definitions of the functions of `vecmath` that it declares."""
    missing = []
    for name, dtype in vecmath.apart():
        declared = [one for one in vecmath.interface(name, dtype).values() if one in text]
        for declaration in declared:
            text = text.replace(f"{declaration}\n", "")
        if declared:
            missing.append(vecmath.definition(name, dtype) or "")
    return "\n".join([text, *missing])


def host_key() -> str:
    """Return what object code depends on besides its IR text: compiler, target, interpreter and table."""
    return _host_key(current_target())


@functools.cache
def _host_key(target: Target) -> str:
    version = ".".join(map(str, llvm.llvm_version_info))
    python = f"{platform.python_implementation()} {sys.version_info[0]}.{sys.version_info[1]} {layout.HEAD}"
    table = " ".join((*layout.WORDS, *layout.DTYPES))
    compiler = f"{_FORMAT} {llvmlite.__version__} {version} {_LEVEL} {_CODE_MODEL}"
    return "\n".join((compiler, target.triple, target.cpu, target.features, python, table))


def build(module: Module, entry: str, cache: ObjectCache | None) -> tuple[Code, str]:
    """Compile a module for the current target (or get its object code from the cache) and load it.

    Return the code and the text of the module.
    """
    target, text = current_target(), module.text()
    with _hold_lock():
        kernels, alone = split_long_entry(module, entry) or (text, None)
        code, cached = _object(kernels, cache, target)
        entry_code = b"" if alone is None else _object(alone, cache, target, optimize=False, level=0)[0]
        externals = (*module.externals, *missing_instructions.externals(text, target))
        image = Image(code, entry_code, externals, entry, _host_key(target))
        return _load(image, cached, target), text


def load_routines(
    text: str | Library,
    names: Iterable[str],
    cache: ObjectCache | None,
    level: int,
    target: Target,
    calls: Iterable[str] = (),
    prefix: str = "ae.",
) -> dict[str, int]:
    """Compile functions that are never unloaded, or get them from the cache; return the address of each name.

    Only the code generator runs, with this level. `calls` are the C functions that they call, besides those that a
    library names; `prefix` is that of the names in the text.
    """
    with _hold_lock():
        if isinstance(text, str):
            code, _ = _object(text, cache, target, optimize=False, level=level)
        else:
            code, called = _library_object(text, cache, target, level)
            calls = (*calls, *called)
        symbols = {name: f"{prefix}{name}" for name in names}
        calls = (*calls, *(() if target.multiplies_and_adds else ("fma",)))
        addresses, library = _link((code,), calls, symbols.values(), target)
        _libraries.append(library)
        return {name: addresses[symbol] for name, symbol in symbols.items()}


def load_functions(
    functions: Sequence[TypedFunction], level: int = 0, target: Target | None = None, name: str = ""
) -> dict[TypedFunction, int]:
    """Compile typed functions for this process, or get their code from the cache; return their addresses.

    Parameters
    ----------
    level
        Level of the code generator; LLVM's passes do not run.
    target
        By default this processor.
    name
        Name of a library of these functions, see `Library`; without one they are translated in any case.
    """
    symbols = [function.symbol for function in functions]
    library = Library(name, functools.partial(library_text, functions))
    addresses = load_routines(library, symbols, object_cache(), level, target or target_named("native"), prefix="")
    return {function: addresses[function.symbol] for function in functions}


#: libraries that are never unloaded
_libraries: list[object] = []


@functools.cache
def load_vecmath(name: str, dtype: str, target: Target) -> dict[str, int]:
    """Return the addresses of functions of `vecmath` outside of the modules that call them.

    Scalar versions are not optimized: LLVM would take twice as long, for code that rarely runs.
    """
    names = [symbol.removeprefix("ae.") for symbol in vecmath.interface(name, dtype)]
    called: dict[str, str] = {}
    for needed in vecmath.dependencies(name, dtype):
        called.update(vecmath.interface(needed, dtype))
    own = (vecmath.definition(name, dtype) or "").replace("\ndefine hidden ", "\ndefine ")
    level = _LEVEL if vecmath.has_vectors(name) else 0
    found = load_routines("\n".join([*called.values(), own]), names, object_cache(), level, target, called)
    return {f"ae.{name}": address for name, address in found.items()}


@functools.cache
def _load_one_thread() -> dict[str, int]:
    """Return the addresses of the functions around short calls of BLAS."""
    known = all(blas_threads.address(symbol) for symbol in one_thread.NEEDED)
    functions = one_thread.ONE_THREAD if known else one_thread.NOTHING
    library = Library(f"one thread {known}", functools.partial(library_text, functions))
    return load_routines(library, one_thread.ROUTINES, object_cache(), 0, target_named("native"))


def _address(symbol: str, target: Target) -> int | None:
    if symbol.startswith("ae."):
        return load_vecmath(*vecmath.defining(symbol), target)[symbol]
    if symbol in one_thread.ROUTINES:
        return _load_one_thread()[symbol]
    if symbol in one_thread.NEEDED:
        return blas_threads.address(symbol)
    if symbol in large_blocks.NEEDED:
        return large_results.address(symbol)
    return address_of(symbol)


def _object(
    text: str, cache: ObjectCache | None, target: Target, optimize: bool = True, level: int = _LEVEL
) -> tuple[bytes, bool]:
    """Return the object code of a module, and whether it came from the cache."""
    if cache is None:
        return _compile(text, target, optimize, level), False
    key = cache.key(text, _host_key(target), f"{optimize} {level}")
    code = cache.load(key)
    if code is not None:
        return code, True
    code = _compile(text, target, optimize, level)
    _store(cache, key, code)
    return code, False


def _compile(text: str, target: Target, optimize: bool, level: int) -> bytes:
    module = _parse(text, target, level)
    if optimize:
        _optimize(module, text, target)
    return bytes(_machine(target, level).emit_object(module))


#: folders and files of the package with all sources of libraries
LIBRARY_SOURCES = (
    "ir/typed", "ir/draws", "ir/definitions.py", "ir/generators.py", "ir/instructions.py", "link/llvm/runtime",
    "link/llvm/clock.py", "link/llvm/layout.py", "link/llvm/missing_instructions.py", "link/llvm/module.py",
    "link/llvm/typed_functions.py",
)  # fmt: skip
_DECLARED = re.compile(r"(?m)^(?:declare [^@\n]*|(?=@[\w.]+ = external ))@(?!llvm\.)([\w.]+)")


def _library_object(
    library: Library, cache: ObjectCache | None, target: Target, level: int
) -> tuple[bytes, Sequence[str]]:
    """Return the object code of a library, and the symbols outside of it that it refers to."""
    state, key = state_of(*LIBRARY_SOURCES), None
    if cache is not None and library.name and state is not None:
        sources = f"{PACKAGE} {state} {sys.version} {np.__version__}"
        key = cache.key("library", library.name, sources, _host_key(target), str(level))
        symbols, found, code = (cache.load(key) or b"").partition(b"\0")
        if found:
            return code, symbols.decode().split()
    text = library.text()
    called = _DECLARED.findall(text)
    if cache is None or key is None:
        return _object(text, cache, target, optimize=False, level=level)[0], called
    code = _compile(text, target, False, level)
    _store(cache, key, b"\0".join((" ".join(called).encode(), code)))
    return code, called


def _store(cache: ObjectCache, key: str, code: bytes) -> None:
    store = functools.partial(cache.store, key, code)
    if _postponed.stores is None:
        store()
    else:
        _postponed.stores.append(store)


class _Postponed(threading.local):
    stores: list[Callable[[], None]] | None = None


_postponed = _Postponed()


@contextlib.contextmanager
def postpone_stores() -> Iterator[list[Callable[[], None]]]:
    """Collect this thread's writes to the object cache in a list, for later."""
    _postponed.stores = []
    try:
        yield _postponed.stores
    finally:
        _postponed.stores = None


def load(image: Image) -> Code | None:
    """Load object code; None if it was made for another machine or by another compiler."""
    target = current_target()
    with _hold_lock():
        if image.host != _host_key(target):
            return None
        return _load(image, True, target)


def _load(image: Image, cached: bool, target: Target) -> Code:
    if not target.runs:
        return Code(None, None, cached, image, target.name)
    codes = (image.code, image.entry_code) if image.entry_code else (image.code,)
    addresses, library = _link(codes, image.externals, (image.entry,), target)
    return Code(addresses[image.entry], library, cached, image, target.name)


def _link(
    codes: Sequence[bytes], externals: Iterable[str], symbols: Iterable[str], target: Target
) -> tuple[dict[str, int], object]:
    """Return the addresses of symbols of objects, which may call each other, and the library that keeps them loaded."""
    builder = llvm.JITLibraryBuilder()
    for code in codes:
        builder.add_object_img(code)
    for symbol in symbols:
        builder.export_symbol(symbol)
    for symbol in externals:
        if not any(symbol.encode() in code for code in codes):
            continue  # declared but not called
        address = _address(symbol, target)
        if address is None:
            source, _, name = symbol.partition(".")
            if source == "special":
                raise too_old_for(name.partition(".")[0])
            raise RuntimeError(f"the C function {symbol} is not available in this installation")
        builder.import_symbol(symbol, address)
    builder.add_current_process()
    library = builder.link(_jit(), f"aesara.{next(_serial)}")
    return {symbol: library[symbol] for symbol in symbols}, library
