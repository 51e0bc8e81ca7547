"""Sparse types, variables, constants and shared variables."""

import copy
import pickle
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse
from sparse_data import FORMATS, some_matrix

import aesara
import aesara.sparse as sparse
import aesara.tensor as at
from aesara.misc.may_share_memory import may_share_memory
from aesara.sparse import SparseTensorType
from aesara.sparse.utils import hash_from_sparse
from aesara.tensor.type import TensorType
from tests.closeness import assert_close


def test_it_is_loaded_by_import_only():
    code = "import aesara, sys; assert 'aesara.sparse' not in sys.modules; aesara.sparse.csr_matrix()"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_equality_and_clones():
    kind = SparseTensorType("csr", "float64", (3, None))
    assert kind == SparseTensorType("csr", "float64", (3, None)) and hash(kind) == hash(kind.clone())
    for other in (kind.clone(format="csc"), kind.clone(dtype="float32"), kind.clone(shape=(None, None))):
        assert other != kind
    assert kind != TensorType("float64", (3, None))
    assert pickle.loads(pickle.dumps(kind)) == kind and copy.deepcopy(kind) == kind
    assert repr(kind) == "Sparse(float64, (3, None), csr)"
    assert str(kind) == "Sparse(float64, (3, ?), csr)"


@pytest.mark.parametrize("wrong", [("coo", "float64"), ("csr", "float12"), (None, "float64")])
def test_wrong_types(wrong):
    with pytest.raises((ValueError, TypeError)):
        SparseTensorType(*wrong)
    with pytest.raises(TypeError, match="two lengths"):
        SparseTensorType("csr", "float64", (None,))


def test_relations():
    wide, narrow = SparseTensorType("csr", "float64"), SparseTensorType("csr", "float64", (3, 2))
    dense = TensorType("float64", (None, None))
    assert wide.is_super(narrow) and not narrow.is_super(wide)
    assert not wide.is_super(narrow.clone(format="csc")) and not wide.is_super(narrow.clone(dtype="float32"))
    assert not dense.is_super(wide) and not wide.is_super(dense)
    assert not dense.in_same_class(wide) and not wide.in_same_class(dense)
    with pytest.raises(TypeError, match="Cannot convert Type"):
        dense.filter_variable(wide())
    with pytest.raises(TypeError, match="Cannot convert Type"):
        wide.filter_variable(sparse.csc_matrix())
    x = at.dmatrix("x")
    assert wide.filter_variable(x).type == wide and wide.filter_variable(x).owner.inputs == [x]


def test_what_is_sparse(rng):
    """A variable and a value are asked for in different ways; neither question is an error for anything else."""
    value = some_matrix(rng, 3, 4)
    variables = [sparse.csr_matrix(), sparse.as_sparse(value), sparse.csr_from_dense(at.dmatrix())]
    values = [value, value.tocoo(), scipy.sparse.csr_array(value)]
    others = [at.dmatrix(), at.constant(1.0), value.toarray(), 1.5, None, variables, variables[0].type]
    for asked, expected in ((sparse.basic._is_sparse_variable, variables), (sparse.basic._is_sparse, values)):
        found = [one for one in [*variables, *values, *others] if asked(one)]
        assert [*map(id, found)] == [*map(id, expected)]


def test_filter(rng):
    kind = SparseTensorType("csr", "float64")
    value = some_matrix(rng, 4, 5)
    assert kind.filter(value) is value and kind.filter(value, strict=True) is value
    for other in (value.tocsc(), value.toarray(), value.astype("float32"), scipy.sparse.csr_array(value)):
        with pytest.raises(TypeError):
            kind.filter(other, strict=True)
        made = kind.filter(other)
        assert type(made) is scipy.sparse.csr_matrix and made.dtype == "float64"
        np.testing.assert_allclose(made.toarray(), value.toarray(), rtol=1e-6)
    with pytest.raises(TypeError, match="Expected float64 dtype but got complex128"):
        kind.filter(value.astype("complex128"))
    with pytest.raises(TypeError, match="not compatible"):
        kind.clone(shape=(4, 4)).filter(value)
    for wrong in (np.ones(3), "text", None):
        with pytest.raises(TypeError, match="expected a matrix"):
            kind.filter(wrong)
    assert SparseTensorType("csr", "float32").filter(value, allow_downcast=True).dtype == "float32"
    with pytest.raises(TypeError):
        TensorType("float64", (None, None)).filter(value)


@pytest.mark.parametrize("format", FORMATS)
def test_values_are_compared(rng, format):
    kind = SparseTensorType(format, "float64")
    a = some_matrix(rng, 6, 5, format)
    b = a.copy()
    assert kind.values_eq(a, b) and kind.values_eq_approx(a, b)
    assert kind.values_eq(a, some_matrix(rng, 6, 5, format, density=0.0)) is False
    b.data[0] *= 1 + 1e-12
    assert not kind.values_eq(a, b) and kind.values_eq_approx(a, b)
    b.data[0] += 1
    assert not kind.values_eq_approx(a, b)
    zeros = a.copy()
    zeros.data[:] = 0
    assert kind.values_eq(zeros, type(a)(a.shape))
    nan = a.copy()
    nan.data[0] = np.nan
    assert kind.values_eq(nan, nan.copy()) and not kind.values_eq(nan, a)
    assert not kind.values_eq_approx(a, a.toarray())


def test_sharing_of_memory(rng):
    a = some_matrix(rng, 4, 4)
    assert SparseTensorType.may_share_memory(a, a) and SparseTensorType.may_share_memory(a, a.T)
    assert not SparseTensorType.may_share_memory(a, a.copy())
    assert SparseTensorType.may_share_memory(a, a.data) and not SparseTensorType.may_share_memory(a, np.ones(2))
    assert may_share_memory(a, a.indices) and not may_share_memory(a, a.copy())


def test_size_of_values(rng):
    a = some_matrix(rng, 4, 5)
    kind = SparseTensorType("csr", "float64")
    assert kind.get_size(kind.get_shape_info(a)) == a.data.nbytes + a.indices.nbytes + a.indptr.nbytes


def test_parts(rng):
    for format in FORMATS:
        a = some_matrix(rng, 4, 5, format)
        kind = SparseTensorType(format, "float64")
        parts = kind.take_apart(a)
        assert [part.dtype.name for part in parts] == [part.dtype for part in kind.part_types()]
        again = kind.put_together(parts)
        assert type(again) is type(a) and (again != a).nnz == 0
    wide = a.copy()
    wide.indices = wide.indices.astype("int64")
    assert kind.take_apart(wide)[1].dtype == "int32"
    wide.indices[0] = 2**40
    with pytest.raises(OverflowError, match="32 bits"):
        kind.take_apart(wide)
    assert SparseTensorType("bsr", "float64").part_types() is None


def test_constants(rng):
    a = some_matrix(rng, 4, 5)
    one, two = sparse.constant(a, name="a"), sparse.as_sparse_variable(a.copy())
    assert one.type == SparseTensorType("csr", "float64", (4, 5)) == two.type
    assert one.equals(two) and one.signature() == two.signature() and hash(one.signature()) == hash(two.signature())
    a.data[0] += 1
    assert one.data.data[0] != a.data[0]
    assert not one.equals(sparse.constant(a)) and one.equals(one.data)
    assert one.signature().aesara_hash() == hash_from_sparse(one.data) != hash_from_sparse(a)
    assert str(two) == f"SparseConstant{{csr,float64,shape=(4, 5),nnz={a.nnz}}}"
    f = aesara.function([], [one + two, two.toarray()])
    assert len([v for v in f.maker.fgraph.variables if isinstance(v, sparse.basic.SparseConstant)]) == 1
    assert pickle.loads(pickle.dumps(one)).equals(one)
    assert copy.deepcopy(one).equals(one)
    assert aesara.as_symbolic(a).equals(sparse.constant(a))


def test_what_makes_no_sparse_variable():
    for wrong in (at.dmatrix(), np.eye(2), 3.0, scipy.sparse.coo_matrix(np.eye(2)), "x"):
        with pytest.raises(TypeError):
            sparse.as_sparse_variable(wrong)
    x = sparse.csr_matrix()
    assert sparse.as_sparse_variable(x) is x and sparse.as_sparse_or_tensor_variable(1.5).type == at.constant(1.5).type
    for operation in (
        at.exp,
        at.sum,
        lambda x: at.dmatrix().dot(x),
        lambda x: x + at.dvector(),
        lambda x: x * at.dvector(),
    ):
        with pytest.raises(TypeError):
            operation(x)
    with pytest.raises(TypeError, match="Sparse matrices"):
        at.as_tensor_variable(scipy.sparse.eye(3, format="csr"))


def test_names_and_text():
    x = sparse.csr_matrix("x")
    assert (str(x), str(x.T), str(x + x)) == ("x", "SparseVariable{csc,float64}", "SparseVariable{csr,float64}")
    assert sparse.csc_matrix(dtype="int32").type == SparseTensorType("csc", "int32")
    assert sparse.bsr_matrix("b").format == "bsr" and sparse.csr_fmatrix("y").dtype == "float32"


@pytest.mark.parametrize("format", FORMATS)
def test_shared(rng, format):
    a = some_matrix(rng, 4, 5, format)
    s = aesara.shared(a, name="s")
    assert s.type == SparseTensorType(format, "float64") and s.format == format
    assert not may_share_memory(a, s.get_value(borrow=True))
    x = at.dvector("x")
    f = aesara.function([x], sparse.dot(s, x), updates={s: s * 2.0})
    point = rng.normal(size=5)
    assert_close(f(point), a @ point)
    assert_close(f(point), 2 * (a @ point))
    s.set_value(a.asformat("csc" if format == "csr" else "csr"))
    assert s.get_value().format == format
    assert_close(f(point), a @ point)
    with pytest.raises(TypeError):
        s.set_value(a.astype("complex128"))
    s.zero()
    assert s.get_value().nnz == 0
    assert aesara.shared(a, format="csr").type.format == "csr"
    assert may_share_memory(aesara.shared(a, borrow=True).get_value(borrow=True), a)


DENSE_METHODS = [
    ("mean", ()), ("max", (1,)), ("std", ()), ("prod", (0,)), ("cumsum", (1,)), ("argmax", (1,)), ("ravel", ()),
    ("trace", ()), ("diagonal", ()), ("var", ()), ("any", ()), ("repeat", (2, 0)), ("take", ([0, 2], 0)),
    ("argsort", (1,)), ("real", None), ("imag", None),
]  # fmt: skip


@pytest.mark.parametrize("name, arguments", DENSE_METHODS, ids=[name for name, _ in DENSE_METHODS])
@pytest.mark.parametrize("format", ["csr", "csc"])
def test_what_sparse_variables_lack_is_done_by_dense_ones(name, arguments, format):
    x = sparse.matrix(format, dtype="float64")
    value = some_matrix(np.random.default_rng(4), 3, 4, format)
    with pytest.warns(UserWarning, match=f"Method {name} is not implemented for sparse variables"):
        built = getattr(x, name)
        built = built if arguments is None else built(*arguments)
    expected = getattr(value.toarray(), name)
    expected = expected if arguments is None else expected(*arguments)
    assert_close(aesara.function([x], built)(value), expected)


def test_members_of_variables():
    x, z = sparse.csr_matrix("x"), sparse.csc_matrix("z", dtype="complex128")
    value = scipy.sparse.csr_matrix([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]])
    assert aesara.function([x], x.size)(value) == value.size == 3
    complex_value = scipy.sparse.csc_matrix(value * (1 + 2j))
    assert_close(aesara.function([z], z.conj())(complex_value).toarray(), complex_value.toarray().conj())
    assert x.conj() is x
    for other in (object(), "text", None):
        assert x.__add__(other) is x.__mul__(other) is x.__rsub__(other) is NotImplemented


def test_comparisons_of_values():
    kind, empty = SparseTensorType("csr", "float64"), scipy.sparse.csr_matrix((2, 3))
    assert kind.values_eq(empty, empty.copy()) and kind.values_eq_approx(empty, empty.copy())
    assert not kind.values_eq(empty, empty.astype("float32")) and not kind.values_eq(empty, empty.T)
    with pytest.raises(TypeError, match="found a Variable"):
        kind.filter(kind())
    with pytest.raises(TypeError, match=r"a sparse array with 1 dimension\(s\)"):
        kind.filter(scipy.sparse.coo_array(np.array([1.0, 2.0])))
