"""Conversions of matrix products and convolutions."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from aesara.graph.nodes import Apply
from aesara.link.jax.dispatch.basic import jax_funcify, require_known
from aesara.link.jax.dispatch.windows import WindowGrid
from aesara.tensor.products.correlation import Correlation, Direction, Shape, Windows, shapes_of_operands
from aesara.tensor.products.dot import BatchedDot, Dot
from aesara.tensor.products.matmul import MatMul, require_batches_to_fit


def precision() -> str:
    """Return the precision of products: that of the dtype unless JAX has an option, since GPUs would use TF32."""
    return jax.config.jax_default_matmul_precision or "highest"


def product(x: jax.Array, y: jax.Array, dtype: Any) -> Any:
    """Return the product of two arrays as `numpy.matmul`, computed in a dtype."""
    return jnp.matmul(jnp.asarray(x, dtype), jnp.asarray(y, dtype), precision=precision())


@jax_funcify.register(Dot)
def jax_funcify_Dot(op: Dot, node: Apply | None = None, **kwargs: Any) -> Callable[..., Any]:
    """Return the product of two vectors or matrices."""
    assert node is not None
    dtype = node.outputs[0].type.dtype

    def dot(x: Any, y: Any) -> Any:
        if x.shape[-1] != y.shape[0]:
            raise ValueError(f"dot: shapes {x.shape} and {y.shape} not aligned: {x.shape[-1]} != {y.shape[0]}.")
        return product(x, y, dtype)

    return dot


@jax_funcify.register(BatchedDot)
def jax_funcify_BatchedDot(op: BatchedDot, node: Apply | None = None, **kwargs: Any) -> Callable[..., Any]:
    """Return the products of two batches, pair by pair."""
    assert node is not None
    dtype = node.outputs[0].type.dtype

    def batched_dot(x: jax.Array, y: jax.Array) -> Any:
        if x.shape[0] != y.shape[0] or x.shape[-1] != y.shape[1]:
            raise ValueError(f"batched_dot: shapes {x.shape} and {y.shape} do not match.")
        rows = x if x.ndim == 3 else x[:, None, :]
        columns = y if y.ndim == 3 else y[:, :, None]
        return product(rows, columns, dtype).reshape(x.shape[:-1] + y.shape[2:])

    return batched_dot


@jax_funcify.register(MatMul)
def jax_funcify_MatMul(op: MatMul, node: Apply | None = None, **kwargs: Any) -> Callable[..., Any]:
    """Return batched products; only dimensions of static length 1 broadcast."""
    assert node is not None

    def matmul(x: jax.Array, y: jax.Array) -> Any:
        require_batches_to_fit(node, x.shape, y.shape)
        return product(x, y, node.outputs[0].type.dtype)

    return matmul


@jax_funcify.register(Correlation)
def jax_funcify_Correlation(op: Correlation, node: Apply | None = None, **kwargs: Any) -> Callable[..., Any]:
    """Return a convolution, or a gradient of one."""
    assert node is not None
    dtype = node.outputs[0].type.dtype
    working = "float32" if dtype == "float16" else dtype
    is_plain = not op.windows.unshared and jnp.issubdtype(working, jnp.inexact)
    compute = _by_convolution if is_plain else _by_windows

    def correlation(x: jax.Array, y: jax.Array, *rest: Any) -> Any:
        sizes = (
            [int(n) for v in rest for n in require_known(v, f"The sizes of the result of {op}").ravel()]
            if rest
            else None
        )
        shapes = shapes_of_operands(op.direction, op.windows, x.shape, y.shape, sizes)
        return compute(op.direction, op.windows, jnp.asarray(x, working), jnp.asarray(y, working), *shapes).astype(
            dtype
        )

    return correlation


def _by_convolution(
    direction: Direction, windows: Windows, x: jax.Array, y: jax.Array, image: Shape, kernel: Shape, output: Shape
) -> Any:
    """Compute by a convolution of XLA, of which the gradients are transposes."""

    def forward(images: Any, filters: Any) -> Any:
        return jax.lax.conv_general_dilated(
            images,
            jnp.flip(filters, range(-windows.ndim, 0)) if windows.flip else filters,
            windows.strides,
            windows.pads(kernel),
            rhs_dilation=windows.dilations,
            feature_group_count=windows.groups,
            precision=precision(),
        )

    if direction == "forward":
        return forward(x, y)
    if direction == "weights":
        shape, function = (y.shape[1], image[1] // windows.groups, *kernel), functools.partial(forward, x)
    else:
        shape, function = image, functools.partial(forward, filters=x)
    (result,) = jax.linear_transpose(function, jax.ShapeDtypeStruct(shape, x.dtype))(y)
    return result


def _by_windows(
    direction: Direction, windows: Windows, x: jax.Array, y: jax.Array, image: Shape, kernel: Shape, output: Shape
) -> Any:
    """Compute by an array with all entries of all windows, for integers and unshared filters."""
    grid = WindowGrid(output, kernel, windows.strides, windows.dilations)
    pads, groups, inner = windows.pads(kernel), windows.groups, windows.inner(image, kernel)
    at, of = "pqr"[: windows.ndim], "klm"[: windows.ndim]
    letters = {"x": f"bgc{at}{of}", "w": f"go{at if windows.unshared else ''}c{of}", "y": f"bgo{at}"}

    def split_groups(array: Any, axis: int) -> Any:
        """Split the channels of an array into groups."""
        return array.reshape(*array.shape[:axis], groups, array.shape[axis] // groups, *array.shape[axis + 1 :])

    def views(images: Any) -> Any:
        view = grid.unfold(jnp.pad(images, [(0, 0), (0, 0), *pads]))
        return split_groups(view[(..., *[slice(None, None, -1)] * windows.ndim)] if windows.flip else view, 1)

    def contract(first: str, other: str, result: str, *arrays: Any) -> Any:
        formula = f"{letters[first]},{letters[other]}->{letters[result]}"
        return jnp.einsum(formula, *arrays, precision=precision()).astype(x.dtype)

    if direction == "forward":
        result = contract("x", "w", "y", views(x), split_groups(y, 0))
        return result.reshape(image[0], y.shape[0], *output)
    if direction == "weights":
        result = contract("x", "y", "w", views(x), split_groups(y, 1))
        return result.reshape(y.shape[1], *result.shape[2:])
    view = contract("w", "y", "x", split_groups(x, 0), split_groups(y, 1))
    view = view.reshape(*image[:2], *output, *kernel)
    view = view[(..., *[slice(None, None, -1)] * windows.ndim)] if windows.flip else view
    return grid.fold(view, windows.padded_shape(image, kernel)[2:])[inner]
