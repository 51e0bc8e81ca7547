"""Which functions the reference has, and on which page each stands.

Everything that the public modules offer is found by looking at them: a new function needs no entry here.
"""

from __future__ import annotations

import importlib
import inspect
import sys
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any

from aesara.graph.op import Op
from aesara.scalar.op import ScalarOp
from aesara.tensor.elemwise import Elemwise

#: Modules of which every function is documented; what is found twice stands under the first.
PUBLIC = """
aesara.tensor aesara.tensor.special aesara.tensor.nnet aesara.tensor.nnet.ctc
aesara.tensor.nnet.abstract_conv aesara.tensor.nnet.batchnorm aesara.tensor.nnet.blocksparse aesara.tensor.nnet.conv
aesara.tensor.nnet.neighbours aesara.tensor.linalg aesara.tensor.nlinalg aesara.tensor.slinalg aesara.tensor.fft
aesara.tensor.signal.pool aesara.tensor.signal.conv aesara.gradient aesara.scan aesara.ifelse aesara.raise_op
""".split()

#: Functions that only other modules offer.
ELSEWHERE = {
    "aesara.tensor.extra_ops": "cpu_contiguous to_one_hot",
    "aesara.tensor.math": "isnan_ isinf_",
    "aesara.tensor.basic": "make_vector",
}

#: page -> (title, last parts of the names of the modules, or folders of `aesara.tensor`, whose functions stand on it)
PAGES: dict[str, tuple[str, str]] = {
    "elementwise": (
        "Elementwise functions",
        "arithmetic power rounding exponential trigonometric comparison conditional logic complex casting ufuncs "
        "elementwise constants basic transfer",
    ),
    "special": ("Special functions", "special math softmax"),
    "reductions": ("Reductions and statistics", "reductions statistics cumulative"),
    "shape": ("Shapes", "shapes vector_length padding"),
    "creation": (
        "Creating tensors",
        "allocation eye_tri ranges equal_steps make_vector windows conversion io scalar_conversion constant_value",
    ),
    "indexing": ("Indexing", "indexing diagonals"),
    "joining": ("Joining and splitting", "joining"),
    "products": ("Products", "products convolve"),
    "sorting": ("Sorting, searching and sets", "ordering"),
    "linear_algebra": ("Linear algebra", "linear_algebra"),
    "fourier": ("Fourier transforms", "discrete_fourier"),
    "nnet": ("Neural networks", ""),
    "gradients": (
        "Gradients",
        "autodiff forward_mode derivatives finite_differences pullback",
    ),
    "loops": ("Loops, branches and batches", "blockwise"),
    "types": ("Types and variables", "type type_other"),
    "more": ("More functions", ""),
}

#: Modules of scalar ops as sections of a page, in order; others have the first line of their documentation.
SECTIONS = {
    "arithmetic": "Arithmetic",
    "power": "Powers and roots",
    "exponential": "Exponentials and logarithms",
    "trigonometric": "Trigonometric and hyperbolic functions",
    "rounding": "Rounding",
    "comparison": "Comparisons",
    "logic": "Logic and bits",
    "conditional": "Choice",
    "ufuncs": "Further functions of NumPy",
    "complex": "Complex numbers",
    "casting": "Casts",
    "special": "Error, gamma, beta and hypergeometric functions",
    "inverse_incomplete": "Inverses of incomplete gamma and beta functions",
    "combinatorial": "Functions of several gamma functions, and zeta",
    "bessel": "Bessel functions",
    "integrals": "Integrals",
    "normal": "The normal distribution",
    "entropy": "Entropies",
}

_HIDDEN = set(
    """
deprecated_attribute as_list_or_tuple mode_not_slow tensor_type scalar_softsign softmax_simplifier grad_not_implemented
grad_undefined consider_constant_ disconnected_grad_ undefined_grad_ zero_grad_ values_eq_approx_always_true as_operand
dimshuffle
""".split()
)


#: Where documented functions are defined.
HOMES = ("aesara.tensor", "aesara.scalar", "aesara.gradient", "aesara.graph.autodiff", "aesara.graph.forward_mode",
         "aesara.finite_differences", "aesara.scan", "aesara.ifelse", "aesara.raise_op")  # fmt: skip


@dataclass
class Entry:
    """A public function with all its names."""

    name: str
    path: str
    value: Any
    page: str
    section: str
    aliases: list[str] = field(default_factory=list)

    @property
    def scalar_op(self) -> ScalarOp | None:
        return self.value.scalar_op if isinstance(self.value, Elemwise) else None


def entries() -> list[Entry]:
    """All public functions, each once."""
    found: dict[int, Entry] = {}
    for path in [*PUBLIC, *ELSEWHERE]:
        try:
            module = importlib.import_module(path)
        except ModuleNotFoundError:
            continue
        for name in ELSEWHERE[path].split() if path in ELSEWHERE else sorted(vars(module)):
            value = getattr(module, name)
            if name.startswith("_") or name in _HIDDEN or not is_documented(value):
                continue
            known = found.get(id(value))
            if known is None:
                page, section = place_of(value)
                found[id(value)] = Entry(name, path, value, page, section)
            elif known.path == path:
                known.aliases.append(name)
    for entry in found.values():
        preferred = _own_name(entry.value)
        if preferred in entry.aliases:
            entry.aliases.remove(preferred)
            entry.aliases.append(entry.name)
            entry.name = preferred
        entry.aliases.sort()
    return sorted(found.values(), key=lambda e: (e.name.lower(), e.path))


def is_documented(value: Any) -> bool:
    """Return whether a value is a public function or op of the package (types and classes have pages of their own)."""
    if not isinstance(value, (FunctionType, Op)) or inspect.getdoc(value) is None:
        return False
    home = getattr(value, "__module__", None) or type(value).__module__
    return home.startswith(HOMES)


def place_of(value: Any) -> tuple[str, str]:
    """The page and the section of a function."""
    home = value.__module__ if isinstance(value, FunctionType) else type(value).__module__
    if isinstance(value, Elemwise):
        home = type(value.scalar_op).__module__
    if home.startswith(("aesara.tensor.nnet", "aesara.tensor.signal")):
        return "nnet", ""
    if home.startswith(("aesara.scan", "aesara.ifelse")):
        return "loops", ""
    last = home.rsplit(".", 1)[-1]
    page = _page_of(last)
    if page == "more" and home.startswith("aesara.tensor."):
        page = _page_of(home.split(".")[2])
    if not isinstance(value, Elemwise):
        return page, ""
    # What is no everyday function of NumPy is a special function.
    return ("special" if page == "more" else page), SECTIONS.get(last) or _title_of(home)


def _page_of(name: str) -> str:
    return next((page for page, (_, modules) in PAGES.items() if name in modules.split()), "more")


def _title_of(module: str) -> str:
    """The first sentence of a module's documentation, as a title."""
    first = (sys.modules[module].__doc__ or module).strip().split("\n")[0]
    return first.split(": ")[0].rstrip(".")


def _own_name(value: Any) -> str:
    if isinstance(value, Elemwise):
        return str(value.name).removeprefix("Elemwise{").split(",")[0].rstrip("}")
    return getattr(value, "__name__", "")
