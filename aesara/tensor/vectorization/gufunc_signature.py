"""Signatures of functions of arrays, in the form of NumPy's generalized ufuncs: ``(m,n),(n)->(m)``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

__all__ = ["CoreDims", "parse_signature", "signature_from_ndims", "static_core_sizes"]

#: For each input, or output, the names of its core dimensions.
CoreDims = tuple[tuple[str, ...], ...]

# Compiled at the first use, to import the package quickly.
_ARGUMENT = r"\(\s*(\w+(?:\s*,\s*\w+)*)?\s*\)"


@lru_cache(maxsize=1024)
def parse_signature(signature: str) -> tuple[CoreDims, CoreDims]:
    """Return the names of the core dimensions of inputs and outputs.

    Parameters
    ----------
    signature
        As for `numpy.vectorize`; a number is a dimension of that size.

    Raises
    ------
    ValueError
        If the text is no signature.

    Examples
    --------
    >>> parse_signature("(m,n),(n)->(m)")
    ((('m', 'n'), ('n',)), (('m',),))
    """
    if not isinstance(signature, str):
        raise TypeError(f'A signature is a text like "(m,n),(n)->(m)"; got {signature!r}.')
    sides = signature.split("->")
    if len(sides) != 2:
        raise ValueError(f'A signature has one "->", as in "(m,n),(n)->(m)"; got {signature!r}.')
    inputs, outputs = (_parse_side(side, signature) for side in sides)
    if not outputs:
        raise ValueError(f"A signature needs at least one output; got {signature!r}.")
    return inputs, outputs


def _parse_side(side: str, signature: str) -> CoreDims:
    side = side.strip()
    arguments = list(re.finditer(_ARGUMENT, side))
    between = re.sub(_ARGUMENT, "#", side).replace(" ", "")
    if between != ",".join("#" * len(arguments)):
        raise ValueError(
            f'Not a valid gufunc signature: {signature!r}. Write each argument in parentheses, as in "(m,n),(n)->(m)".'
        )
    return tuple([tuple([name.strip() for name in (match[1] or "").split(",") if name.strip()]) for match in arguments])


def signature_from_ndims(inputs: Sequence[int], outputs: Sequence[int]) -> str:
    """Return a signature in which all core dimensions have different names.

    Examples
    --------
    >>> signature_from_ndims([2, 0], [1])
    '(i00,i01),()->(o00)'
    """

    def side(letter: str, ndims: Sequence[int]) -> str:
        return ",".join(
            "(" + ",".join(f"{letter}{argument}{axis}" for axis in range(ndim)) + ")"
            for argument, ndim in enumerate(ndims)
        )

    return f"{side('i', inputs)}->{side('o', outputs)}"


def static_core_sizes(
    quantity: str, dims: CoreDims, shapes: Sequence[Sequence[int | None]], names: Sequence[str]
) -> dict[str, int]:
    """Return the sizes of core dimensions that are known from static shapes.

    Parameters
    ----------
    quantity
        Whose inputs they are, for messages.
    dims
        The names of the core dimensions of each input.
    shapes
        The shape of each input; its last dimensions are the core dimensions. Entries may be None.
    names
        How the inputs are called in messages.

    Raises
    ------
    ValueError
        If a dimension has different sizes in two inputs.
    """
    sizes: dict[str, int] = {}
    source: dict[str, str] = {}
    for core, shape, name in zip(dims, shapes, names):
        for dim, size in zip(core, shape[len(shape) - len(core) :]):
            expected = int(dim) if dim.isdigit() else sizes.get(dim)
            if size is None:
                continue
            if expected is not None and expected != size:
                other = "the signature" if dim.isdigit() else source[dim]
                raise ValueError(
                    f"{quantity}: the core dimension {dim} has size {size} in {name}, but {expected} in {other}."
                )
            sizes[dim] = size
            source[dim] = name
    return sizes
