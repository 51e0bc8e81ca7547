"""Sums of products in Einstein's notation, as matrix products and elementwise products."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from aesara import scalar as aes
from aesara.tensor.core.check_and_raise import CheckAndRaise
from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.tensor_like import TensorLike
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.creation.diagonals import diagonal
from aesara.tensor.elementwise.ops import and_, eq, mul
from aesara.tensor.products.dot import batched_dot, dot, tensordot
from aesara.tensor.products.einsum_notation import Label, parse_einsum
from aesara.tensor.reductions.all_any import any as any_true
from aesara.tensor.reductions.sum_prod_max import sum as sum_along
from aesara.tensor.shapes.dimshuffle import dimshuffle
from aesara.tensor.shapes.rearranging import sizes_of
from aesara.tensor.shapes.reshape import reshape
from aesara.tensor.shapes.specify_shape import specify_shape

if TYPE_CHECKING:
    from numpy.typing import DTypeLike


__all__ = ["einsum"]

_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
#: The assumed value of unknown lengths in the choice of an order of products.
_TYPICAL_LENGTH = 64


class _Term(NamedTuple):
    """A tensor with a label for each dimension; labels are different."""

    tensor: TensorVariable
    labels: tuple[Label, ...]


def einsum(
    subscripts: Any,
    *operands: TensorLike,
    optimize: bool | str | Sequence[Any] | None = None,
    dtype: DTypeLike | None = None,
) -> TensorVariable:
    """Sums of products of tensors in Einstein's notation; see `numpy.einsum`.

    Parameters
    ----------
    subscripts
        A letter for each dimension of each operand, operands separated by
        commas: ``"ij,jk->ik"``. Letters after the arrow are the dimensions of
        the result; all others are summed over. Without an arrow those that
        occur once are kept, in alphabetical order. An ellipsis stands for any
        dimensions, which broadcast. A letter that an operand has twice takes
        a diagonal. Alternatively: operands, each followed by a list of
        integers that take the place of letters, and the list of the result.
    operands
        The tensors.
    optimize
        The order in which more than two operands are multiplied: by default the
        one that `numpy.einsum_path` finds for the static lengths; "greedy",
        "optimal", or a path for that function; False for left to right.
    dtype
        The dtype of the result and of the products; by default that to which
        the operands promote.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.einsum("ij,jk->ik", at.matrix(), at.matrix()).type
    TensorType(float64, (None, None))
    >>> at.einsum("ii", [[1.0, 2.0], [3.0, 4.0]]).eval()
    array(5.)
    """
    tensors, labels, output = parse_einsum(subscripts, operands)
    dtype = aes.upcast(*[t.type.dtype for t in tensors]) if dtype is None else np.dtype(dtype).name
    terms = [_with_diagonals(t.astype(dtype), names) for t, names in zip(tensors, labels)]
    terms = _without_broadcast_dimensions(terms)
    for group in _order_of_products(terms, output, optimize):
        chosen = [terms[i] for i in group]
        terms = [t for i, t in enumerate(terms) if i not in group]
        while len(chosen) > 1:
            first, second, *chosen = chosen
            needed = {*output, *[name for t in (*terms, *chosen) for name in t.labels]}
            chosen.insert(0, _product(first, second, needed))
        terms.extend(chosen)
    (result,) = terms
    result = _sum_unneeded(result, set(output))
    return _in_order(result, output)


def _with_diagonals(x: TensorVariable, labels: tuple[Label, ...]) -> _Term:
    """Return a tensor with distinct labels: the diagonal of dimensions with the same label."""
    names = list(labels)
    for name in dict.fromkeys(labels):
        while names.count(name) > 1:
            first = names.index(name)
            second = names.index(name, first + 1)
            x = diagonal(_checked_square(x, first, second, name), 0, first, second)
            del names[second], names[first]
            names.append(name)
    return _Term(x, tuple(names))


def _checked_square(x: TensorVariable, first: int, second: int, name: Label) -> TensorVariable:
    lengths = x.type.shape[first], x.type.shape[second]
    message = f"einsum: the dimensions of an operand with the same label {name!r} must have equal lengths"
    if None in lengths:
        return CheckAndRaise(ValueError, f"{message}.")(x, eq(x.shape[first], x.shape[second]))
    if lengths[0] != lengths[1]:
        raise ValueError(f"{message}; got {lengths[0]} and {lengths[1]}.")
    return x


def _without_broadcast_dimensions(terms: Sequence[_Term]) -> list[_Term]:
    """Drop dimensions of length 1 where another operand is longer, and check that known lengths agree."""
    known: dict[Label, set[int | None]] = {}
    for term in terms:
        for name, length in zip(term.labels, term.tensor.type.shape):
            known.setdefault(name, set()).add(length)
    for name, lengths in known.items():
        different = {n for n in lengths if n is not None and n != 1}
        if len(different) > 1:
            raise ValueError(f"einsum: operands have different lengths {sorted(different)} for the label {name!r}.")
    result = []
    for term in terms:
        axes = [
            axis
            for axis, (name, length) in enumerate(zip(term.labels, term.tensor.type.shape))
            if length != 1 or known[name] == {1}
        ]
        tensor = term.tensor if len(axes) == len(term.labels) else dimshuffle(term.tensor, axes)
        result.append(_Term(tensor, tuple([term.labels[axis] for axis in axes])))
    return result


def _order_of_products(terms: Sequence[_Term], output: Sequence[Label], optimize: Any) -> list[tuple[int, ...]]:
    """Return the order of products, as groups of positions in the list of terms, to which each product is appended."""
    n_terms = len(terms)
    if isinstance(optimize, (list, tuple)) and optimize and optimize[0] == "einsum_path":
        return _checked_path([tuple(sorted(step)) for step in optimize[1:]], n_terms)
    if optimize is not None and not isinstance(optimize, (bool, str, list, tuple)):
        raise TypeError(f"optimize must be True, False, a strategy or a path of numpy.einsum_path; got {optimize!r}.")
    names = list(dict.fromkeys(name for term in terms for name in term.labels))
    if n_terms <= 2 or optimize is False or len(names) > len(_LETTERS):
        # Products in a group are evaluated from left to right.
        return [tuple(range(n_terms))] if n_terms > 1 else []
    letter = dict(zip(names, _LETTERS))
    length = {name: n for term in terms for name, n in zip(term.labels, term.tensor.type.shape) if n is not None}
    # The order depends on shapes only: pass arrays of one broadcast number.
    stands_for = [np.broadcast_to(np.float64(0), [length.get(n, _TYPICAL_LENGTH) for n in t.labels]) for t in terms]
    inputs = ",".join("".join(letter[n] for n in t.labels) for t in terms)
    result = "".join(letter[n] for n in output)
    # The search for the best order takes time that grows with the factorial of the number of operands.
    strategy = ("optimal" if n_terms <= 4 else "greedy") if optimize in (None, True) else optimize
    steps = np.einsum_path(f"{inputs}->{result}", *stands_for, optimize=strategy)[0][1:]
    return [tuple(sorted(step)) for step in steps]


def _checked_path(path: list[tuple[int, ...]], n_terms: int) -> list[tuple[int, ...]]:
    left = n_terms
    for step in path:
        if len(set(step)) != len(step) or any(not 0 <= i < left for i in step):
            raise ValueError(f"einsum: step {step} of the path names operands that do not exist: {left} are left.")
        left -= len(step) - 1
    if left != 1:
        raise ValueError(f"einsum: the path leaves {left} operands; expected one.")
    return path


def _sum_unneeded(term: _Term, needed: set[Label]) -> _Term:
    """Sum a term over the dimensions that are not needed."""
    axes = tuple([axis for axis, name in enumerate(term.labels) if name not in needed])
    if not axes:
        return term
    dtype = term.tensor.type.dtype
    # As in NumPy, the sum of Booleans is a logical or, and small integers keep their dtype.
    total = any_true(term.tensor, axis=axes) if dtype == "bool" else sum_along(term.tensor, axis=axes, dtype=dtype)
    return _Term(total, tuple([name for name in term.labels if name in needed]))


def _in_order(term: _Term, labels: Sequence[Hashable]) -> TensorVariable:
    """Return a tensor with its dimensions in the order of labels; missing ones are broadcast."""
    order = [term.labels.index(name) if name in term.labels else "x" for name in labels]
    return term.tensor if order == list(range(term.tensor.type.ndim)) else dimshuffle(term.tensor, order)


def _product(a: _Term, b: _Term, needed: set[Label]) -> _Term:
    """Return the product of two terms, summed over the dimensions that are not needed."""
    a = _sum_unneeded(a, needed | set(b.labels))
    b = _sum_unneeded(b, needed | set(a.labels))
    shared = [name for name in a.labels if name in b.labels]
    batch = [name for name in shared if name in needed]
    along = [name for name in shared if name not in needed]
    of_a = [name for name in a.labels if name not in shared]
    of_b = [name for name in b.labels if name not in shared]
    result = (*batch, *of_a, *of_b)
    if along and not batch and (of_a or of_b):
        return _Term(_matrix_product(a, b, of_a, along, of_b), result)
    if along and batch and of_a and of_b:
        return _Term(_batched_product(a, b, batch, of_a, along, of_b), result)
    # Loops over products, fused with the sum: at most as much work as a product of matrices, and no copies.
    labels = (*result, *along)
    multiply = and_ if a.tensor.type.dtype == "bool" else mul
    return _sum_unneeded(_Term(multiply(_in_order(a, labels), _in_order(b, labels)), labels), needed)


def _matrix_product(a: _Term, b: _Term, of_a: list[Label], along: list[Label], of_b: list[Label]) -> TensorVariable:
    if len(along) == 1 and len(of_a) <= 1 and len(of_b) <= 1:
        return dot(_in_order(a, (*of_a, *along)), _in_order(b, (*along, *of_b)))
    axes = [[a.labels.index(name) for name in along], [b.labels.index(name) for name in along]]
    return tensordot(a.tensor, b.tensor, axes=axes)


def _batched_product(
    a: _Term, b: _Term, batch: list[Label], of_a: list[Label], along: list[Label], of_b: list[Label]
) -> TensorVariable:
    """Return a batch of matrix products, for which each group of dimensions is merged."""
    left, right = _in_order(a, (*batch, *of_a, *along)), _in_order(b, (*batch, *along, *of_b))
    n, m = len(batch), len(batch) + len(of_a)
    a_sizes, b_sizes = sizes_of(left), sizes_of(right)
    columns = b_sizes[n + len(along) :]
    product = batched_dot(
        _group_dimensions(left, (len(batch), len(of_a), len(along))),
        _group_dimensions(right, (len(batch), len(along), len(of_b))),
    )
    shape = [*a_sizes[:m], *columns]
    static = [
        *[p if p is not None else q for p, q in zip(left.type.shape[:n], right.type.shape[:n])],
        *left.type.shape[n:m],
        *right.type.shape[n + len(along) :],
    ]
    if len(shape) == 3 and n == 1:
        return product
    return specify_shape(reshape(product, shape, ndim=len(shape)), static)


def _group_dimensions(x: TensorVariable, lengths: tuple[int, ...]) -> TensorVariable:
    """Merge groups of consecutive dimensions."""
    if all(length == 1 for length in lengths):
        return x
    sizes = iter(sizes_of(x))
    shape = []
    for length in lengths:
        group = [next(sizes) for _ in range(length)]
        known = [n for n in group if isinstance(n, int)]
        unknown = [n for n in group if not isinstance(n, int)]
        total: Any = int(np.prod(known, dtype="int64"))
        for n in unknown:
            total = n if isinstance(total, int) and total == 1 else total * n
        shape.append(total)
    return reshape(x, [as_tensor_variable(np.int64(n)) if isinstance(n, int) else n for n in shape], ndim=len(shape))
