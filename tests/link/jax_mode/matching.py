"""Graphs compiled by JAX beside those of the reference, for tests of one family of Ops."""

import numpy as np
import pytest

import aesara
from aesara.graph.fg import FunctionGraph
from aesara.link.jax.dispatch import jax_funcify
from aesara.tensor.vectorization.blockwise import Blockwise

FAMILIES = tuple(
    f"aesara.tensor.{name}"
    for name in (
        *("creation", "indexing", "joining", "ordering", "reductions", "sequences", "shapes", "statistics"),
        *("products", "linear_algebra", "discrete_fourier", "nnet", "signal", "vectorization"),
    )
)


def flat(results):
    return results if isinstance(results, list | tuple) else [results]


def on_both(inputs, outputs, *values, rtol=1e-9, host=(), same_values=True):
    """Check that JAX gives what the reference gives, and return that; nothing is computed on the host."""
    reference = aesara.function(inputs, outputs, mode="FAST_COMPILE", on_unused_input="ignore")
    compiled = aesara.function(inputs, outputs, mode="JAX", on_unused_input="ignore")
    wanted, found = flat(reference(*values)), flat(compiled(*values))
    for want, got in zip(wanted, found, strict=True):
        assert got.dtype == want.dtype
        assert got.shape == want.shape
        if same_values and want.dtype.kind in "fc":
            scale = np.max(np.abs(want[np.isfinite(want)]), initial=1.0)
            np.testing.assert_allclose(np.asarray(got), want, rtol=rtol, atol=rtol * scale)
        elif same_values:
            np.testing.assert_array_equal(np.asarray(got), want)
    assert not on_host(compiled) - set(host)
    return wanted


def function_of(inputs, outputs):
    """The graph as a function of JAX, without rewriting."""
    return jax_funcify(FunctionGraph(inputs, flat(outputs), clone=True))


def on_host(function):
    """The names of the Ops of these families in a compiled function that have no conversion of their own."""
    ops = [node.op for node in function.maker.fgraph.toposort()]
    ops = [op.core_op if isinstance(op, Blockwise) else op for op in ops]
    ops = [op for op in ops if type(op).__module__.startswith(FAMILIES)]
    return {type(op).__name__ for op in ops if jax_funcify.dispatch(type(op)) is jax_funcify.dispatch(object)}


def fail_alike(error, inputs, outputs, *values, match=None):
    """Check that both the reference and JAX raise an error."""
    for mode in ("FAST_COMPILE", "JAX"):
        function = aesara.function(inputs, outputs, mode=mode, on_unused_input="ignore")
        with pytest.raises(error, match=match):
            function(*values)
