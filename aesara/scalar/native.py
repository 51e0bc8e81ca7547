"""Native implementations of scalar ops, declared as data.

A scalar op states one of four things.

* `native = Primitive("exp")`: the loop IR has an instruction of that name.
* `native = Special("gammaln")`: a C function of `scipy.special.cython_special`.
* `native = zeta`, a routine (see `aesara.scalar.routine`): a function with loops, of our own.
* a method ``decompose(self, *inputs)``: a graph of other scalar ops computes the same value.

An op that states none of them runs through `ScalarOp.perform`.
A lowering asks `ScalarOp.native_fact` and `ScalarOp.decomposition`, never the op's class.
"""

from __future__ import annotations

from aesara.primitives import PRIMITIVES
from aesara.records import dataclass

__all__ = ["Primitive", "Special"]


@dataclass(frozen=True)
class Primitive:
    """An instruction of the loop IR: one of `aesara.primitives`, or ``cast``.

    Operands are first cast to the dtypes that `ScalarOp.operand_dtypes` states.
    ``add`` and ``mul`` of more than two operands fold from left to right.

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

    The capsule in ``cython_special.__pyx_capi__`` is called `name` or, where SciPy offers several
    precisions, ``__pyx_fuse_<number><name>``; the one to take has ``double`` for every parameter.
    The C function takes one more trailing ``int`` argument, which must be 0.

    Examples
    --------
    >>> Special("gammaln").name
    'gammaln'
    """

    name: str
