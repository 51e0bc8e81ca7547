"""Native implementations of scalar ops, declared as data.

A scalar op declares one of the following.

* `native = Primitive("exp")`: the loop IR has an instruction of this name.
* `native = Special("gammaln")`: a C function of `scipy.special.cython_special`.
* `native = zeta`: a routine (see `aesara.scalar.routine`), which may contain loops.
* a method ``decompose(self, *inputs)``: a graph of other scalar ops that computes the same value.

Ops that declare none of them are computed by `ScalarOp.perform`. Lowerings use `ScalarOp.native_fact` and
`ScalarOp.decomposition`, never the class of an op.
"""

from __future__ import annotations

from aesara.primitives import PRIMITIVES
from aesara.records import dataclass

__all__ = ["Primitive", "Special"]


@dataclass(frozen=True)
class Primitive:
    """An instruction of the loop IR: one of `aesara.primitives`, or ``cast``.

    Operands are first cast to the dtypes that `ScalarOp.operand_dtypes` returns. ``add`` and ``mul`` of more than two
    operands are evaluated from left to right.

    Examples
    --------
    >>> Primitive("log1p").name
    'log1p'
    """

    name: str

    def __post_init__(self) -> None:
        if self.name not in PRIMITIVES and self.name != "cast":
            known = ", ".join(sorted([*PRIMITIVES, "cast"]))
            raise ValueError(f"Unknown primitive {self.name!r}: expected one of {known}")


@dataclass(frozen=True)
class Special:
    """A function that `scipy.special.cython_special` exports as a C function of doubles.

    The capsule in ``cython_special.__pyx_capi__`` is called `name` or, if SciPy offers several precisions,
    ``__pyx_fuse_<number><name>``, of which the one is used whose parameters are all ``double``. The C function has an
    additional last argument of type ``int``, which must be 0.

    Examples
    --------
    >>> Special("gammaln").name
    'gammaln'
    """

    name: str
