"""Transfer of tensors to devices that are registered by `register_transfer`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.variable import TensorVariable

_transfers: list[Callable[[TensorVariable, str], TensorVariable | None]] = []


def transfer(var: Any, target: str) -> TensorVariable:
    """Return a variable whose value is kept at a place that `target` names.

    Parameters
    ----------
    var
        A tensor.
    target
        ``"cpu"``, or a name that a registered function accepts; see `register_transfer`.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> transfer(at.vector("x"), "cpu").ndim
    1
    """
    if target == "cpu":
        return as_tensor_variable(var)
    for function in _transfers:
        moved = function(var, target)
        if moved is not None:
            return moved
    raise ValueError(
        f"Can't transfer to target {target!r}: tensors live on the host, whose name is 'cpu', and no function given to "
        "register_transfer() knows this one."
    )


def register_transfer(fn: Callable[[TensorVariable, str], TensorVariable | None]) -> None:
    """Register a function that moves variables to other places.

    Parameters
    ----------
    fn
        Called with a variable and a target; returns the moved variable, or None if it
        does not know the target.

    Examples
    --------
    >>> register_transfer(lambda var, target: None)
    """
    if not callable(fn):
        raise TypeError(f"A transfer function must be callable; got {fn!r}.")
    _transfers.append(fn)


__all__ = ["transfer"]
