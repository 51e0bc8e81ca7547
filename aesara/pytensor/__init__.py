"""Compilation of graphs of PyTensor, and thereby of models of PyMC.

Importing this module registers the mode ``"AESARA"`` in PyTensor, which must be installed
(``pip install aesara[pytensor]``).

Examples
--------
>>> import aesara.pytensor  # doctest: +SKIP
>>> import pytensor, pytensor.tensor as pt  # doctest: +SKIP
>>> x = pt.vector("x")  # doctest: +SKIP
>>> f = pytensor.function([x], pt.exp(x).sum(), mode="AESARA")  # doctest: +SKIP
"""

try:
    import pytensor as _pytensor
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "aesara.pytensor compiles PyTensor's graphs, but PyTensor is not installed: pip install 'aesara[pytensor]'.",
        name=error.name,
    ) from error

from aesara.pytensor import (
    control,
    elementwise,
    indexing,
    linear_algebra,
    nutpie_backend,
    random,
    reductions,
    shapes,
    signals,
    sparse,
    splines,
)
from aesara.pytensor.conversion import convert_graph, convert_op, convert_type, perform_in_python
from aesara.pytensor.linker import AesaraLinker
from aesara.pytensor.mode import AESARA
from aesara.pytensor.model import CompiledLogp, compile_logp

__all__ = [
    "AESARA",
    "AesaraLinker",
    "CompiledLogp",
    "compile_logp",
    "convert_graph",
    "convert_op",
    "convert_type",
    "perform_in_python",
]
