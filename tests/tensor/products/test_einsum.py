"""Einstein's notation."""

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.tensor.products.dot import BatchedDot, Dot
from tests.tensor.against_numpy import compare, drawn

CASES = [
    ("ij,jk->ik", (2, 3), (3, 4)),
    ("ij,jk", (2, 3), (3, 4)),
    ("ba,cb", (2, 3), (4, 2)),
    ("Ab,bC", (2, 3), (3, 4)),
    ("ii", (3, 3)),
    ("ii->i", (3, 3)),
    ("iij->ji", (3, 3, 2)),
    ("iii", (3, 3, 3)),
    ("ijij->ij", (2, 3, 2, 3)),
    ("i,i", (3,), (3,)),
    ("i,j->ji", (3,), (4,)),
    ("bij,bjk->bik", (5, 2, 3), (5, 3, 4)),
    ("bhid,bhjd->bhij", (2, 3, 4, 5), (2, 3, 6, 5)),
    ("bhij,bhjd->bihd", (2, 3, 4, 6), (2, 3, 6, 5)),
    ("...ij,...jk->...ik", (2, 3), (5, 3, 4)),
    ("...ij,...jk->...ik", (7, 1, 2, 3), (5, 3, 4)),
    ("...i,...i", (2, 3), (3,)),
    ("...", (2, 3)),
    ("i...->...", (2, 3, 4)),
    ("...ij,...->...i", (4, 2, 3), (4,)),
    ("ij->", (2, 3)),
    ("ij->ji", (2, 3)),
    ("ij,ij->i", (2, 3), (2, 3)),
    ("ij,kl->", (2, 3), (4, 5)),
    ("ijk,kl,lm->ijm", (2, 3, 4), (4, 5), (5, 6)),
    ("ij,ik,il->jkl", (2, 3), (2, 4), (2, 5)),
    ("i,i,i", (3,), (3,), (3,)),
    (",ij->ij", (), (2, 3)),
    ("->", ()),
    ("ij,ij->ij", (1, 3), (2, 3)),
    ("ij,jk->ik", (2, 1), (3, 4)),
    ("bi,bij,bj->b", (5, 2), (5, 2, 3), (5, 3)),
    ("ijkl,jl->ik", (2, 3, 4, 5), (3, 5)),
    ("abcd,cdef->abef", (2, 3, 4, 5), (4, 5, 2, 2)),
    (" i j , j k -> i k ", (2, 3), (3, 4)),
    ("ij,jk->ik", (2, 0), (0, 4)),
    ("abij,abjk->abik", (2, 0, 2, 3), (2, 0, 3, 4)),
    ("aij,aik,a->jk", (2, 3, 4), (2, 3, 5), (2,)),
    ("ij,jk,kl->il", (1, 2), (2, 3), (3, 4)),
    ("ij,jk,kl->il", (2, 1), (1, 3), (3, 1)),
]


@pytest.mark.parametrize("subscripts, shapes", [(case[0], case[1:]) for case in CASES])
def test_against_numpy(subscripts, shapes):
    small = all(np.prod(shape) <= 30 for shape in shapes)
    compare(
        lambda *xs: at.einsum(subscripts, *xs),
        lambda *xs: np.einsum(subscripts, *xs),
        *drawn("float64", *shapes),
        gradient=small,
    )


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "float32", "complex64"])
@pytest.mark.parametrize("case", [CASES[0], CASES[4], CASES[11], CASES[22]], ids=lambda case: case[0])
def test_dtypes(dtype, case):
    subscripts, *shapes = case
    compare(
        lambda *xs: at.einsum(subscripts, *xs),
        lambda *xs: np.einsum(subscripts, *xs),
        *drawn(dtype, *shapes),
        unknown=False,
    )


def test_dtype_of_the_result():
    x = at.matrix("x", dtype="int8")
    assert at.einsum("ij->", x, dtype="float64").type.dtype == "float64"
    assert at.einsum("ij,j->i", x, at.fvector()).type.dtype == "float32"


@pytest.mark.parametrize("optimize", [None, True, False, "greedy", "optimal", ["einsum_path", (1, 2), (0, 1)]])
def test_order_of_products(optimize):
    values = drawn("float64", (2, 30), (30, 3), (3, 20))
    compare(
        lambda *xs: at.einsum("ab,bc,cd->ad", *xs, optimize=optimize),
        lambda *xs: np.einsum("ab,bc,cd->ad", *xs),
        *values,
        gradient=False,
    )


def test_the_cheap_order_is_found():
    x, y, v = at.tensor("float64", (500, 400)), at.tensor("float64", (400, 300)), at.tensor("float64", (300,))
    product = at.einsum("ab,bc,c->a", x, y, v)
    # From the right there are only products of matrices and vectors.
    shapes = [n.outputs[0].type.shape for n in aesara.graph.basic.io_toposort([x, y, v], [product]) if n.op == Dot()]
    assert (500, 300) not in shapes and (400,) in shapes


def test_lists_of_labels():
    compare(
        lambda a, b: at.einsum(a, [0, 1], b, [1, 2], [2, 0]),
        lambda a, b: np.einsum(a, [0, 1], b, [1, 2], [2, 0]),
        *drawn("float64", (2, 3), (3, 4)),
    )
    compare(
        lambda a: at.einsum(a, [Ellipsis, 3]),
        lambda a: np.einsum(a, [Ellipsis, 3]),
        *drawn("float64", (2, 3)),
        gradient=False,
    )


def test_products_of_matrices_are_used():
    batched = at.einsum("bij,bjk->bik", at.tensor3(), at.tensor3())
    assert isinstance(batched.owner.op, BatchedDot)
    assert at.einsum("ij,jk->ik", at.matrix(), at.matrix()).owner.op == Dot()


@pytest.mark.parametrize(
    "arguments, message",
    [
        (("ij,jk",), "2 operand"),
        (("ijk", 0), "3 subscript"),
        (("ij->k", 0), "no operand has"),
        (("ij->ii", 0), "twice"),
        (("i1", 0), "letters"),
        (("..ij", 0), "three dots"),
        (("i...j...", 0), "three dots"),
        (("...ijk", 0), "at least 3 dimensions"),
        (("ij->i->j", 0), "arrow"),
        (("ij->i,j", 0), "comma"),
        (("...i->i", 0), "no ellipsis"),
    ],
)
def test_wrong_subscripts(arguments, message):
    subscripts, *count = arguments
    with pytest.raises(ValueError, match=message):
        at.einsum(subscripts, *[at.matrix() for _ in count])


def test_other_errors():
    x = at.matrix("x")
    with pytest.raises(ValueError, match=r"different lengths \[3, 4\]"):
        at.einsum("ij,jk", at.tensor("float64", (2, 3)), at.tensor("float64", (4, 5)))
    with pytest.raises(ValueError, match="equal lengths; got 2 and 3"):
        at.einsum("ii", at.tensor("float64", (2, 3)))
    with pytest.raises(ValueError, match="equal lengths"):
        aesara.function([x], at.einsum("ii", x))(np.ones((2, 3)))
    with pytest.raises(ValueError):
        y = at.matrix("y")
        aesara.function([x, y], at.einsum("ij,jk", x, y))(np.ones((2, 3)), np.ones((2, 3)))
    with pytest.raises(ValueError, match="do not exist"):
        at.einsum("ij,jk,kl", x, x, x, optimize=["einsum_path", (0, 3), (0, 1)])
    with pytest.raises(ValueError, match="leaves 2"):
        at.einsum("ij,jk,kl", x, x, x, optimize=["einsum_path", (0, 1)])
    with pytest.raises(TypeError, match="optimize must be"):
        at.einsum("ij,jk,kl", x, x, x, optimize=3)
    with pytest.raises(TypeError, match="list of integers must follow"):
        at.einsum(x, x)
    with pytest.raises(ValueError, match="labels are integers"):
        at.einsum(x, [0, -1])
