"""Compiled functions of JAX: static inputs for sizes that depend on values, and errors at run time."""

from __future__ import annotations

import functools
import re
from typing import Any, NoReturn

import jax
import jax.experimental
import numpy as np
from jax.experimental import checkify

from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Apply, Variable
from aesara.link.jax.dispatch import jax_funcify, jax_typify
from aesara.link.jax.dispatch.basic import (
    Checks,
    ChecksNeeded,
    ConvertedGraph,
    NotAsAssumed,
    SizeUnknown,
    numpy_value,
)
from aesara.link.replay import can_be_repeated, failure_of
from aesara.link.utils import raise_with_op
from aesara.scalar.types import ScalarType
from aesara.tensor.core.check_and_raise import CheckAndRaise
from aesara.tensor.core.tensor_type import TensorType
from aesara.tensor.random.type import RandomType

__all__ = ["CompiledByXLA", "convert", "for_linker"]

# renamed in JAX 0.8
enable_x64 = jax.enable_x64 if hasattr(jax, "enable_x64") else jax.experimental.enable_x64

#: data, dtype and shape of a static argument
_StaticKey = tuple[bytes, str, tuple[int, ...]]
#: largest number of elements of a static input, for each value of which XLA compiles again
MOST_STATIC = 64


def for_linker(fgraph: FunctionGraph | None, storage_map: Any = None, assuming: bool = True) -> Any:
    """Convert a graph to a function with run-time checks; see `Checks`."""
    return jax_funcify(fgraph, storage_map=storage_map, checks=Checks(assuming))


def convert(array: jax.Array, dtype: str) -> jax.Array:
    """Cast an array on its devices."""
    with enable_x64(True):
        return array.astype(dtype)


class CompiledByXLA:
    """A converted graph, compiled for each combination of shapes and values of static arguments.

    Parameters
    ----------
    graph
        The converted graph.
    """

    def __init__(self, graph: ConvertedGraph) -> None:
        self.graph = graph
        self.checks: Checks = graph.kwargs["checks"]
        #: positions of the static inputs
        self.static: tuple[int, ...] = ()
        self._generators = [k for k, v in enumerate(graph.inputs) if isinstance(v.type, RandomType)]
        self._new_generators = [k for k, v in enumerate(graph.outputs) if isinstance(v.type, RandomType)]
        self._compile()

    def _compile(self) -> None:
        traced = checkify.checkify(self._trace, errors=checkify.user_checks) if self.checks.traced else self._trace
        self._compiled = jax.jit(traced, static_argnums=0)

    @property
    def compilations(self) -> int:
        """The number of compilations by XLA."""
        others = self.__dict__.get("_without_assumptions")
        return int(self._compiled._cache_size()) + (others.compilations if others else 0)

    def _trace(self, static_keys: tuple[_StaticKey, ...], *traced_values: Any) -> tuple[Any, ...]:
        rest = iter(traced_values)
        arguments: list[Any] = []
        for position in range(len(self.graph.inputs)):
            if position in self.static:
                data, dtype, shape = static_keys[self.static.index(position)]
                arguments.append(np.frombuffer(data, dtype=dtype).reshape(shape))
            else:
                arguments.append(next(rest))
        try:
            return self.graph.as_outputs(self.graph.run(arguments))
        except SizeUnknown as unknown:
            unknown.positions = [k for k, one in enumerate(arguments) if any(one is value for value in unknown.values)]
            raise

    def __call__(self, *arguments: Any) -> tuple[Any, ...]:
        """Compute; raise the error of a check that fails."""
        if self._generators:
            arguments = tuple(jax_typify(one) if k in self._generators else one for k, one in enumerate(arguments))
        with enable_x64(True):
            while True:
                static_keys = tuple(_static_key(arguments[k]) for k in self.static)
                traced_values = [value for k, value in enumerate(arguments) if k not in self.static]
                try:
                    results = self._compiled(static_keys, *traced_values)
                    if self.checks.on_host:
                        # The host must be called before the process ends or inputs are overwritten.
                        jax.block_until_ready(results)
                    break
                except SizeUnknown as unknown:
                    self._make_static(unknown, arguments)
                except ChecksNeeded:
                    self.checks.traced = True
                except RuntimeError:
                    # JAX passes on only the text of an error on the host.
                    for node, error in self.checks.raised:
                        self.checks.raised = []
                        self._raise_at(node, error)
                    raise
                self._compile()
        if self.checks.traced:
            status, results = results
            try:
                self._raise(status.get(), arguments)
            except NotAsAssumed:
                return self._without_assumptions(*arguments)
        if self._new_generators:
            pairs = enumerate(zip(self.graph.outputs, results))
            return tuple(numpy_value(v.type, one) if k in self._new_generators else one for k, (v, one) in pairs)
        return results

    @functools.cached_property
    def _without_assumptions(self) -> CompiledByXLA:
        """The function for calls that violate an assumption; see `Checks.assuming`."""
        return CompiledByXLA(for_linker(self.graph.fgraph, assuming=False))

    def _make_static(self, unknown: SizeUnknown, arguments: tuple[Any, ...]) -> None:
        inputs = self.graph.inputs
        fit = [k for k in unknown.positions if _may_be_static(inputs[k], arguments[k])]
        if not fit or len(fit) < len(unknown.values):
            names = ", ".join(f"{inputs[k]} of type {inputs[k].type}" for k in unknown.positions if k not in fit)
            error = TypeError(
                f"{unknown}; it depends on values that are computed"
                + (f" from {names}" if names else "")
                + ". It may depend on shapes, and on values of small integer inputs. Compile without mode='JAX', or "
                "choose entries by at.switch or by multiplication with a mask."
            )
            self._raise_at(unknown.node, error)
        self.static = tuple(sorted({*self.static, *fit}))

    def _raise(self, message: str | None, arguments: tuple[Any, ...]) -> None:
        if message is None:
            return
        number = re.search(r"aesara:(\d+)\.", message)
        if number is None:
            raise RuntimeError(message)
        error, node = self.checks.errors[int(number[1])]
        self._raise_at(node, type(error)(*self._error_arguments(node, error, arguments)))

    def _error_arguments(self, node: Apply | None, error: Exception, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the arguments of an error; the reference computes values in its message."""
        fgraph = self.graph.fgraph
        if node is None or not isinstance(node.op, CheckAndRaise) or not node.op.n_facts or self._generators:
            return error.args
        if fgraph is None or node not in fgraph.apply_nodes or not can_be_repeated(fgraph):
            return error.args
        cells = failure_of(fgraph, dict(zip(fgraph.inputs, map(np.asarray, arguments)))).cells
        values = [cells[v][0] if v in cells else getattr(v, "data", None) for v in node.inputs]
        return (node.op.message_of_known(values),)

    def _raise_at(self, node: Apply | None, error: Exception) -> NoReturn:
        try:
            raise error
        except Exception:
            if node is None:
                raise
            raise_with_op(self.graph.fgraph, node)


def _static_key(value: Any) -> _StaticKey:
    array = np.asarray(value)
    return array.tobytes(), array.dtype.str, array.shape


def _may_be_static(variable: Variable, value: Any) -> bool:
    kind = variable.type
    if not isinstance(kind, TensorType | ScalarType):
        return False
    ndim = getattr(kind, "ndim", 0)
    whole = not kind.dtype.startswith(("float", "complex"))
    return ndim == 0 or (ndim == 1 and whole and kind.dtype != "bool" and np.size(value) <= MOST_STATIC)
