"""Symbolic expressions on arrays: build graphs, differentiate and rewrite them, compile them to native code.

Examples
--------
>>> import aesara
>>> import aesara.tensor as at
>>> x = at.dvector("x")
>>> f = aesara.function([x], aesara.grad((x**2).sum(), x))
>>> f([1.0, 2.0])
array([2., 4.])
"""

from __future__ import annotations

import logging
import os
import sys
from typing import TYPE_CHECKING, Any

# isort: split
import aesara.sources  # notes the time, before any other source is read

# isort: split
from aesara.utils import collection_paused, modules_on_demand, require_gil

require_gil(sys.version)

# Almost all that is made here stays; looking for garbage again and again would be a tenth of the time.
with collection_paused():
    from aesara.configdefaults import config

    # isort: split
    import aesara.compat
    import aesara.scalar
    import aesara.tensor
    import aesara.tensor.rewriting
    import aesara.tensor.sharedvar
    from aesara.compile import (
        FunctionMaker,
        In,
        Mode,
        Out,
        function,
        function_dump,
        predefined_linkers,
        predefined_modes,
        predefined_optimizers,
        shared,
    )
    from aesara.compile.mode import make_common_rewriters
    from aesara.gradient import Lop, Rop, grad, hessian, jacobian, subgraph_grad
    from aesara.graph.basic import Variable, clone_replace
    from aesara.graph.conversion import as_symbolic
    from aesara.graph.rewriting.db import note_foreign_modules
    from aesara.link.llvm import in_advance
    from aesara.lower.families import load_common_lowerings
    from aesara.notebooks import shorten_tracebacks
    from aesara.scan import foldl, foldr, map, reduce, scan
    from aesara.tensor.core.constant_value import get_scalar_constant_value as _tensor_constant_value
    from aesara.updates import OrderedUpdates

    load_common_lowerings()
    make_common_rewriters()
    in_advance.prepare()
    note_foreign_modules()

if TYPE_CHECKING:
    from aesara.compile.profiling import ProfileStats
    from aesara.compile.verify import verify_rewrites
    from aesara.printing.explain import explain
    from aesara.printing.formula import pp, pprint
    from aesara.printing.memory_plan import memory_plan
    from aesara.printing.rewrite_trace import rewrite_profile, rewrite_trace
    from aesara.printing.tree import debugprint as dprint

shorten_tracebacks()
config.warn_unused_flags()

__version__ = "3.0.0.dev0"

# The folder of the package, links resolved, and the one it is imported from.
rpath = os.path.dirname(os.path.realpath(__file__))
p = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

aesara_logger = logging.getLogger("aesara")
logging_default_handler = logging.NullHandler()
aesara_logger.addHandler(logging_default_handler)


def disable_log_handler(
    logger: logging.Logger = aesara_logger, handler: logging.Handler = logging_default_handler
) -> None:
    """Take the handler that the package installs from its logger."""
    if aesara_logger.hasHandlers():
        logger.removeHandler(handler)


def get_scalar_constant_value(v: Variable) -> Any:
    """Return the value of a number or of a variable that is a constant scalar.

    Raises
    ------
    NotScalarConstantError
        When `v` is not known to be constant, or not a scalar.

    Examples
    --------
    >>> aesara.get_scalar_constant_value(aesara.tensor.constant(3))
    array(3, dtype=int8)
    """
    return _tensor_constant_value(v)


# What looks at graphs and functions is loaded when somebody asks for it.
_ELSEWHERE = dict.fromkeys(("explain", "pp", "pprint", "rewrite_profile", "rewrite_trace"), "aesara.printing") | {
    "dprint": "aesara.printing:debugprint",
    "memory_plan": "aesara.printing.memory_plan",
    "ProfileStats": "aesara.compile.profiling",
    "verify_rewrites": "aesara.compile.verify",
}

# Functions of JAX, PyTorch and TensorFlow -> what does the same here; see docs/from_others.md.
_OTHER_LIBRARIES = {
    "custom_jvp": "Give a function a derivative of its own by aesara.subgraph.OpFromGraph with `rop_overrides`.",
    "custom_vjp": "Give a function a derivative of its own by aesara.subgraph.OpFromGraph with `lop_overrides`.",
    "jacfwd": "Use aesara.jacobian(y, x).",
    "jacrev": "Use aesara.jacobian(y, x).",
    "jit": "Expressions are compiled by aesara.function(inputs, outputs).",
    "jvp": "Use aesara.Rop(y, x, tangent).",
    "numpy": "NumPy's functions for variables are in aesara.tensor.",
    "random": "Random numbers are drawn by aesara.tensor.random.utils.RandomStream.",
    "stop_gradient": "Use aesara.gradient.disconnected_grad(x) or aesara.gradient.zero_grad(x).",
    "value_and_grad": "Compute both in one function: aesara.function([x], [y, aesara.grad(y, x)]).",
    "vjp": "Use aesara.Lop(y, x, cotangent).",
    "vmap": "Use aesara.tensor.vectorize(f), or aesara.tensor.vectorize(f, signature) for arrays.",
}

__getattr__ = modules_on_demand(__name__, elsewhere=_ELSEWHERE, other_libraries=_OTHER_LIBRARIES)

# Old names -> the message that using them gives, and their value.
DEPRECATED_NAMES: list[tuple[str, str, Any]] = []

__all__ = [
    "DEPRECATED_NAMES",
    "FunctionMaker",
    "In",
    "Lop",
    "Mode",
    "OrderedUpdates",
    "Out",
    "ProfileStats",
    "Rop",
    "Variable",
    "as_symbolic",
    "clone_replace",
    "config",
    "disable_log_handler",
    "dprint",
    "explain",
    "foldl",
    "foldr",
    "function",
    "function_dump",
    "get_scalar_constant_value",
    "grad",
    "hessian",
    "jacobian",
    "map",
    "memory_plan",
    "pp",
    "pprint",
    "predefined_linkers",
    "predefined_modes",
    "predefined_optimizers",
    "reduce",
    "rewrite_profile",
    "rewrite_trace",
    "scan",
    "shared",
    "subgraph_grad",
    "verify_rewrites",
]


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
