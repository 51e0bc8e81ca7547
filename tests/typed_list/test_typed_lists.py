"""Lists as variables: types, operations, compiled functions, loops and choices."""

import pickle

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.compile.mode import Mode
from aesara.graph.rewriting.utils import rewrite_graph
from aesara.ifelse import ifelse
from aesara.typed_list import (
    Append,
    Reverse,
    TypedListConstant,
    TypedListType,
    TypedListVariable,
    append,
    count,
    extend,
    getitem,
    index_,
    insert,
    length,
    make_list,
    remove,
    reverse,
)

MATRIX = at.TensorType("float64", (None, None))
LISTS = TypedListType(MATRIX)
A, B, C = np.zeros((1, 2)), np.ones((1, 2)), np.full((2, 1), 2.0)


def call(build, *values, **options):
    """A function of lists, a matrix and an integer, built and called."""
    x, y, m, k = LISTS("x"), LISTS("y"), MATRIX("m"), at.lscalar("k")
    f = aesara.function([x, y, m, k], build(x, y, m, k), on_unused_input="ignore", **options)
    return f(*values)


def same(got, want):
    assert type(got) is list and len(got) == len(want)
    for a, b in zip(got, want):
        np.testing.assert_array_equal(a, b)


WHAT = {
    "element": (lambda x, y, m, k: x[k], 1, B),
    "last": (lambda x, y, m, k: x[-1], 0, C),
    "part": (lambda x, y, m, k: x[1:], 0, [B, C]),
    "part to a variable": (lambda x, y, m, k: x[:k], 2, [A, B]),
    "append": (lambda x, y, m, k: x.append(m), 0, [A, B, C, B]),
    "extend": (lambda x, y, m, k: x.extend(y), 0, [A, B, C, C, A]),
    "insert": (lambda x, y, m, k: x.insert(k, m), 1, [A, B, B, C]),
    "insert from the end": (lambda x, y, m, k: x.insert(k, m), -1, [A, B, B, C]),
    "remove": (lambda x, y, m, k: x.remove(m), 0, [A, C]),
    "remove the first of several": (lambda x, y, m, k: x.append(m).append(A).remove(m), 0, [A, C, B, A]),
    "reverse": (lambda x, y, m, k: x.reverse(), 0, [C, B, A]),
    "count": (lambda x, y, m, k: x.append(m).count(m), 0, 2.0),
    "position": (lambda x, y, m, k: x.ind(m), 0, 1.0),
    "position of the first of several": (lambda x, y, m, k: x.append(m).extend(x).ind(m), 0, 1.0),
    "length": (lambda x, y, m, k: length(x), 0, 3),
    "made": (lambda x, y, m, k: make_list((m, m + 1)), 0, [B, B + 1]),
    "several": (lambda x, y, m, k: x.append(m).reverse().extend(y)[1:3], 0, [C, B]),
}


@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE", "DebugMode", Mode("py", "fast_run")], ids=str)
@pytest.mark.parametrize("build, k, want", WHAT.values(), ids=list(WHAT))
def test_values(build, k, want, mode):
    given = [A, B, C]
    got = call(build, given, [C, A], B, k, mode=mode)
    if isinstance(want, list):
        same(got, want)
        assert not any(np.shares_memory(a, b) for a in got for b in given)
    else:
        np.testing.assert_array_equal(got, want)
    same(given, [np.zeros((1, 2)), np.ones((1, 2)), np.full((2, 1), 2.0)])


def test_elements_may_be_computed_with():
    """What is made of an element never changes the list."""
    given = [A, B]
    (got, left), _ = call(lambda x, y, m, k: [at.exp(x.append(m)[0]), x], given, [], C, 0), given
    np.testing.assert_array_equal(got, np.ones((1, 2)))
    same(left, [np.zeros((1, 2)), np.ones((1, 2))])
    same(given, [np.zeros((1, 2)), np.ones((1, 2))])


@pytest.mark.parametrize(
    "build", [lambda x, m: x.append(m), lambda x, m: x.insert(0, m), lambda x, m: x.remove(m), lambda x, m: x.reverse()]
)
def test_lists_that_nobody_reads_are_changed(build):
    x, m = LISTS("x"), MATRIX("m")
    f = aesara.function([aesara.In(x, borrow=True, mutable=True), m], build(x, m), on_unused_input="ignore")
    changing = [n.op for n in f.maker.fgraph.toposort() if hasattr(n.op, "inplace")]
    assert [op.inplace for op in changing] == [True]
    f = aesara.function([x, m], build(x, m).append(m).reverse(), on_unused_input="ignore")
    changing = [n.op for n in f.maker.fgraph.toposort() if hasattr(n.op, "inplace")]
    assert [op.inplace for op in changing] == [False, True, True]
    plain = aesara.function([x, m], build(x, m).append(m).reverse(), mode="FAST_COMPILE", on_unused_input="ignore")
    same(f([A, C], C), plain([A, C], C))


def test_types():
    assert TypedListType(MATRIX) == LISTS and hash(TypedListType(MATRIX)) == hash(LISTS)
    assert TypedListType(MATRIX, 1) == TypedListType(LISTS) != LISTS
    assert LISTS != MATRIX and TypedListType(at.dvector) != LISTS
    assert LISTS.get_depth() == 0 and TypedListType(TypedListType(MATRIX, 1), 3).get_depth() == 5
    assert LISTS.ttype == LISTS.dtype == MATRIX and LISTS.ndim == 3 and LISTS.shape == (None,) * 3
    assert str(LISTS) == f"TypedList <{MATRIX}>"
    x = LISTS("x")
    assert isinstance(x, TypedListVariable) and (x.ttype, x.dtype, x.ndim) == (MATRIX, "float64", 3)
    assert LISTS.is_super(TypedListType(at.TensorType("float64", (2, None))))
    assert not LISTS.is_super(TypedListType(at.dvector)) and not LISTS.is_super(MATRIX)
    assert pickle.loads(pickle.dumps(LISTS)) == LISTS
    for error, arguments in ((TypeError, (3,)), (ValueError, (MATRIX, -1)), (ValueError, (MATRIX, 1.5))):
        with pytest.raises(error):
            TypedListType(*arguments)


def test_values_of_types():
    same(LISTS.filter((A, [[1, 2]])), [A, np.array([[1.0, 2]])])
    same(LISTS.filter([A], strict=True), [A])
    for value in ("ab", 3.0, [np.ones(2)], [1.0]):
        with pytest.raises(TypeError):
            LISTS.filter(value)
    for value in ((A,), [A.astype("int8")]):
        with pytest.raises(TypeError):
            LISTS.filter(value, strict=True)
    assert LISTS.values_eq([A, B], [A, B]) and not LISTS.values_eq([A], [B]) and not LISTS.values_eq([], [A])
    assert LISTS.values_eq_approx([B], [B + 1e-12]) and not LISTS.values_eq_approx([B], [B + 1])
    for equal in (LISTS.values_eq, LISTS.values_eq_approx):
        assert equal([], []) and equal([A, B], [A.copy(), B.copy()])
        for others in ([A, B + 1], [A + 1, B], [A + 1, B + 1], [A], [A, B, B], []):
            assert not equal([A, B], others) and not equal(others, [A, B])
    assert LISTS.values_eq_approx([B], [B + 1e-3], rtol=0, atol=1e-2)
    assert LISTS.may_share_memory([A, B], [B[:, 1:]]) and not LISTS.may_share_memory([A], [A.copy()])
    empty = []
    assert LISTS.may_share_memory(empty, empty) and not LISTS.may_share_memory([], [])
    assert LISTS.may_share_memory([B, A], A) and not LISTS.may_share_memory([B], A)
    vectors, row = TypedListType(at.dvector), A[0]
    assert vectors.may_share_memory([B[0], row], row) and not vectors.may_share_memory([B[0]], row)
    for value in (b"ab", "", b""):
        with pytest.raises(TypeError, match="Expected a sequence of values"):
            LISTS.filter(value)
    same(LISTS.filter(iter([A, B])), [A, B])


def test_nested_lists():
    nested = TypedListType(MATRIX, 1)("nested")
    x, m = LISTS("x"), MATRIX("m")
    f = aesara.function([nested, x, m], [nested.append(x)[-1], nested[0].append(m), nested.count(x)])
    last, first, number = f([[A], [B]], [B], C)
    same(last, [B])
    same(first, [A, C])
    assert number == 1


def test_constants():
    one, two, other = (TypedListConstant(LISTS, value) for value in ([A, B], [A.copy(), B.copy()], [A, C]))
    assert one.signature() == two.signature() != other.signature()
    m = MATRIX("m")
    f = aesara.function([m], [append(one, m), append(two, m), append(other, m)])
    assert len({node.inputs[0] for node in f.maker.fgraph.apply_nodes if isinstance(node.op, Append)}) == 2
    for _ in range(2):  # a constant stays what it is
        first, second, third = f(C)
        same(first, [A, B, C])
        same(second, [A, B, C])
        same(third, [A, C, C])
    x = LISTS("x")
    same(x.extend([A, [[5.0]]]).eval({x: [C]}), [C, A, np.array([[5.0]])])


def test_loops_and_choices():
    x, m, k = LISTS("x"), MATRIX("m"), at.lscalar("k")
    sums, _ = aesara.scan(lambda i, t: t[i].sum(), sequences=[at.arange(length(x))], non_sequences=[x])
    np.testing.assert_array_equal(aesara.function([x], sums)([B, C]), [2, 4])
    f = aesara.function([k, x, m], ifelse(k, x, x.append(m)))
    same(f(0, [A], B), [A, B])
    same(f(1, [A], B), [A])


def test_between_tensors():
    """A function of tensors that has lists inside."""
    a, b = MATRIX("a"), MATRIX("b")
    y = make_list((a * 2, b)).append(a + b).reverse()
    f = aesara.function([a, b], [y[0] * 10, length(y), y.count(a + b)])
    product, number, twice = f(B, A)
    np.testing.assert_array_equal(product, B * 10)
    assert (number, twice) == (3, 1)


def test_functions_pickle():
    x, m = LISTS("x"), MATRIX("m")
    f = pickle.loads(pickle.dumps(aesara.function([x, m], x.append(m).reverse())))
    same(f([A], B), [B, A])
    assert rewrite_graph(x.append(m)).owner.op == append and Append(True) != append and Reverse() == reverse


@pytest.mark.parametrize(
    "error, build",
    [
        (TypeError, lambda x, v: x.append(v)),
        (TypeError, lambda x, v: x.insert(0, v)),
        (TypeError, lambda x, v: x.insert(0.5, B)),
        (TypeError, lambda x, v: x.remove(v)),
        (TypeError, lambda x, v: x.count(v)),
        (TypeError, lambda x, v: x.ind(v)),
        (TypeError, lambda x, v: x.extend(v)),
        (TypeError, lambda x, v: x.extend(TypedListType(at.dvector)())),
        (TypeError, lambda x, v: x[v]),
        (TypeError, lambda x, v: x[1.0]),
        (TypeError, lambda x, v: append(v, v)),
        (TypeError, lambda x, v: length([1.0])),
        (TypeError, lambda x, v: make_list(v)),
        (TypeError, lambda x, v: make_list((v, MATRIX()))),
        (ValueError, lambda x, v: make_list(())),
        (TypeError, lambda x, v: list(x)),
        (TypeError, lambda x, v: len(x)),
        (TypeError, lambda x, v: bool(x)),
        (NotImplementedError, lambda x, v: aesara.grad(make_list((v, v))[0].sum(), v)),
    ],
)
def test_what_is_refused(error, build):
    with pytest.raises(error):
        build(LISTS("x"), at.dvector("v"))


@pytest.mark.parametrize(
    "error, message, build",
    [
        (IndexError, "list index out of range: 3 in a list of 2", lambda x, y, m, k: getitem(x, k)),
        (ValueError, "Remove: no element", lambda x, y, m, k: remove(x, m)),
        (ValueError, "Index: no element", lambda x, y, m, k: index_(x, m)),
    ],
)
def test_what_calls_refuse(error, message, build):
    with pytest.raises(error, match=message):
        call(build, [A, B], [], C, 3)
    assert insert(LISTS(), 0, A).owner and extend(LISTS(), LISTS()).owner and count(LISTS(), A).owner
