"""Copies of variables and graphs for the steps of loops."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping, Sequence
from typing import Any

import numpy as np

from aesara.graph.cloning import clone_replace
from aesara.graph.equality import equal_computations
from aesara.graph.nodes import Constant, Variable
from aesara.graph.traversal import walk
from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.tensor_type import TensorType

__all__ = ["Validator", "copy_var_format", "forced_replace", "reconstruct_graph", "safe_new", "traverse"]


def safe_new(x: Variable, tag: str = "", dtype: str | np.dtype | None = None) -> Variable:
    """Return a new variable of the type of `x`, or a constant as it is.

    Parameters
    ----------
    x
        A variable, or a value to convert to one.
    tag
        A suffix of the name.
    dtype
        The dtype of the new variable; by default that of `x`.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> safe_new(at.fvector("x"), "_copy"), safe_new(at.fvector("x"), dtype="float64").type
    (x_copy, TensorType(float64, (None,)))
    """
    variable = x if isinstance(x, Variable) else as_tensor_variable(x)
    name = variable.name + tag if variable.name else None
    kind: Any = variable.type
    if dtype is not None and isinstance(kind, TensorType) and kind.dtype != np.dtype(dtype).name:
        if isinstance(variable, Constant):
            return as_tensor_variable(variable.data.astype(dtype))
        kind = TensorType(np.dtype(dtype).name, kind.shape)
    elif isinstance(variable, Constant):
        return variable
    return kind(name=name)


def reconstruct_graph(
    inputs: Sequence[Variable], outputs: Sequence[Variable], tag: str | None = None
) -> tuple[list[Variable], list[Variable]]:
    """Return a copy of a graph with new inputs, whose names end with `tag`.

    Examples
    --------
    >>> import aesara, aesara.tensor as at
    >>> x = at.dscalar("x")
    >>> (new,), (out,) = reconstruct_graph([x], [x * 2], "_step")
    >>> aesara.pprint(out)
    '(x_step * 2)'
    """
    new_inputs = [v.type(name=v.name + (tag or "") if v.name else None) for v in inputs]
    return new_inputs, clone_replace(list(outputs), dict(zip(inputs, new_inputs)))


def forced_replace(out: Any, x: Variable | Sequence[Variable], y: Any) -> Variable | None:
    """Replace subexpressions of `out` that compute the same as `x` by `y`.

    Examples
    --------
    >>> import aesara, aesara.tensor as at
    >>> w, s = at.dscalars("w", "s")
    >>> aesara.pprint(forced_replace(at.exp(w) * (1 - at.exp(w)), at.exp(w), s))
    '(s * (1 - s))'
    """
    if out is None:
        return None
    targets: list[Any] = list(x) if isinstance(x, (list, tuple)) else [x]
    substitutes = list(y) if isinstance(y, (list, tuple)) else [y]
    replacements: dict[Variable, Any] = {}

    def operands(variable: Variable) -> Sequence[Any] | None:
        for target, substitute in zip(targets, substitutes, strict=True):
            if equal_computations([variable], [target]):
                replacements[variable] = substitute
                return None
        return variable.owner.inputs if variable.owner is not None else None

    for _ in walk([out], operands):
        pass
    return clone_replace(out, replacements)


def traverse(
    out: Variable, x: Variable, x_copy: Variable, d: MutableMapping[object, object], visited: set[object] | None = None
) -> MutableMapping[Any, Any]:
    """Set ``d[x] = x_copy`` if `out` depends on `x`; return `d`.

    Parameters
    ----------
    out
        A variable or a list of them; None for nothing.
    x, x_copy
        The variable, and its replacement.
    d
        The dictionary of replacements.
    visited
        Nodes that are not visited again; the visited ones are added.
    """
    if out is None:
        return d
    visited_nodes = set() if visited is None else visited
    roots = list(out) if isinstance(out, (list, tuple)) else [out]

    def operands(variable: Variable) -> Sequence[Any] | None:
        return None if variable.owner is None or variable.owner in visited_nodes else variable.owner.inputs

    for variable in walk(roots, operands):
        if variable is x:
            d[x] = x_copy
        if variable.owner is not None:
            visited_nodes.add(variable.owner)
    return d


class Validator:
    """Rewrites expressions in terms of allowed variables.

    Parameters
    ----------
    valid, invalid
        Allowed and forbidden variables.
    valid_equivalent
        Allowed replacements of other variables.

    Examples
    --------
    >>> import aesara, aesara.tensor as at
    >>> x, inner, outer = at.dscalars("x", "inner", "outer")
    >>> validator = Validator(valid=[x], invalid=[inner], valid_equivalent={inner: outer})
    >>> found, is_same = validator.check(x + inner)
    >>> aesara.pprint(found), is_same
    ('(x + outer)', False)
    """

    def __init__(
        self, valid: Sequence[Variable] | None = None, invalid: Sequence[Variable] | None = None,
        valid_equivalent: Mapping[Variable, Variable] | None = None,
    ) -> None:  # fmt: skip
        self.valid_equivalent = dict(valid_equivalent or {})
        self.valid = {*(valid or []), *self.valid_equivalent.values()}
        self.invalid = {*(invalid or [])} - set(self.valid_equivalent)

    def check(self, out: Variable) -> tuple[Variable, bool] | None:
        """Return an equivalent expression of allowed variables and whether it is `out` itself, or None if there is
        none.
        """
        replacements = {}

        def operands(variable: Variable) -> Sequence[Any] | None:
            is_leaf = variable in self.valid or variable in self.valid_equivalent
            return None if is_leaf or variable.owner is None else variable.owner.inputs

        for variable in walk([out], operands):
            if variable in self.invalid:
                return None
            if variable in self.valid_equivalent:
                replacements[variable] = self.valid_equivalent[variable]
            elif variable.owner is None and variable not in self.valid and not isinstance(variable, Constant):
                return None
        if not replacements:
            return out, True
        return clone_replace(out, replacements), False


def copy_var_format(var: Any, as_var: Any) -> Variable:
    """Convert `var` to the dtype and type of `as_var`; `var` may have one more leading dimension.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> copy_var_format(at.fvector("x"), at.dvector("y")).type
    TensorType(float64, (None,))
    """
    if not hasattr(var, "dtype"):
        return var
    result = var if var.type.dtype == as_var.type.dtype else var.astype(as_var.type.dtype)
    if result.type.ndim == as_var.type.ndim:
        return as_var.type.filter_variable(result)
    return TensorType(as_var.type.dtype, (result.type.shape[0], *as_var.type.shape)).filter_variable(result)
