"""Ops behind the operators and methods of scalar variables."""

from aesara.scalar.arithmetic import abs as abs_op
from aesara.scalar.arithmetic import add, floor_divide, mod_check, mul, neg, sub, true_divide
from aesara.scalar.casting import cast
from aesara.scalar.comparison import ge, gt, le, lt
from aesara.scalar.complex import conj, imag, real
from aesara.scalar.conditional import second
from aesara.scalar.logic import and_, invert, or_, xor
from aesara.scalar.power import pow
from aesara.scalar.var import OPERATIONS

OPERATIONS.update(
    abs=abs_op,
    add=add,
    and_=and_,
    cast=cast,
    conj=conj,
    floor_divide=floor_divide,
    ge=ge,
    gt=gt,
    imag=imag,
    invert=invert,
    le=le,
    lt=lt,
    mod=mod_check,
    mul=mul,
    neg=neg,
    or_=or_,
    pow=pow,
    real=real,
    second=second,
    sub=sub,
    true_divide=true_divide,
    xor=xor,
)
