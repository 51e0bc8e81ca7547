"""The linker that compiles graphs with JAX."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np

from aesara.graph.container import StorageCell, StorageMap
from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Apply
from aesara.graph.type import Type
from aesara.link.basic import JITLinker
from aesara.tensor.core.tensor_type import TensorType
from aesara.utils import found_at

__all__ = ["JAXLinker"]


def keeps_all_values(given: np.dtype[Any], wanted: np.dtype[Any]) -> bool:
    """Return whether a cast keeps all values, which `np.can_cast` also claims of `int64` to `float64`."""
    is_rounded = given.kind in "iu" and given.itemsize == 8 and wanted.kind in "fc"
    return np.can_cast(given, wanted, "safe") and not is_rounded


class JAXLinker(JITLinker):
    """Converts a graph to one function of JAX and compiles it by `jax.jit`.

    The function is compiled when it is called with arguments of new shapes.  If a size depends on the values of an
    integer input, this input becomes static: the function is compiled again for each of its values.
    Results are arrays of JAX, and so are the new values of shared variables, which stay on the device.

    `Assert` and bounds of indices are checked as by the other linkers, before any shared variable is updated.

    Notes
    -----
    JAX is an optional dependency: ``pip install 'aesara[jax]'``.  Functions compute with 64 bits where the graph says
    so, whatever the option ``jax_enable_x64``.

    Examples
    --------
    >>> x = at.dvector("x")
    >>> f = aesara.function([x], at.exp(x).sum(), mode="JAX")  # doctest: +SKIP
    """

    # XLA has its own fusion, memory reuse and matrix products.
    incompatible_rewrites: tuple[str, ...] = ("cxx_only", "fusion", "inplace", "BlasOpt")

    def on_devices(self, kind: Type, value: Any, strict: bool) -> Any:
        """Convert an array of JAX to the type on its devices; return None for other values, which need a check."""
        array = getattr(sys.modules.get("jax"), "Array", None)
        if (
            array is None
            or not isinstance(kind, TensorType)
            or not isinstance(value, array)
            or value.ndim != kind.ndim
            or not all(known in (None, length) for known, length in zip(kind.shape, value.shape))
        ):
            return None
        if value.dtype == kind.dtype:
            return value
        if strict or not keeps_all_values(value.dtype, kind.numpy_dtype):
            return None
        return found_at("aesara.link.jax.compiled:convert")(value, kind.dtype)

    def fgraph_convert(
        self,
        fgraph: FunctionGraph,
        order: list[Apply] | None = None,
        input_storage: list[StorageCell] | None = None,
        output_storage: list[StorageCell] | None = None,
        storage_map: StorageMap | None = None,
        **kwargs: Any,
    ) -> Callable[..., Any]:
        """Return a function on arrays of JAX."""
        if find_spec("jax") is None:
            raise ModuleNotFoundError("To compile graphs by JAX it has to be installed: pip install 'aesara[jax]'")
        return found_at("aesara.link.jax.compiled:for_linker")(fgraph, storage_map)

    def jit_compile(self, fn: Any) -> Callable[..., Any]:
        """Return the function that compiles at each call with arguments of new shapes."""
        return found_at("aesara.link.jax.compiled:CompiledByXLA")(fn)

    def create_thunk_inputs(self, storage_map: StorageMap) -> list[StorageCell]:
        """Return the cells of the graph's inputs."""
        assert self.fgraph is not None
        return [storage_map[variable] for variable in self.fgraph.inputs]
