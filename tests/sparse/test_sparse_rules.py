"""Rules for sparse matrices, and the forms on vectors that some of them make."""

import numpy as np
import pytest
import scipy.sparse
from sparse_data import FORMATS, as_dense, some_matrix

import aesara
import aesara.sparse as sparse
import aesara.sparse.opt
import aesara.tensor as at
from aesara.compile.io import In
from aesara.graph.fg import FunctionGraph
from aesara.graph.rewriting.basic import in2out
from aesara.graph.rewriting.utils import rewrite_graph
from aesara.sparse import rewriting
from aesara.sparse.type import SparseTensorType
from tests.closeness import assert_close

ROWS = {
    "local_addsd_ccode": (lambda A, y, v: A + y, "AddSD_ccode", FORMATS),
    "local_structured_dot": (lambda A, y, v: sparse.structured_dot(A, y.T), "StructuredDotCS", FORMATS),
    "local_mul_s_d": (lambda A, y, v: A * y, "MulSDCS", FORMATS),
    "local_mul_s_v": (lambda A, y, v: sparse.mul_s_v(A, v), "MulSVCSR", ("csr",)),
    "local_structured_add_s_v": (lambda A, y, v: sparse.structured_add_s_v(A, v), "StructuredAddSVCSR", ("csr",)),
    "local_sampling_dot_csr": (lambda A, y, v: sparse.sampling_dot(y, at.dot(y.T, y), A), "SamplingDotCSR", ("csr",)),
    "local_usmm": (lambda A, y, v: at.dot(y, y.T) - v[0] * sparse.structured_dot(A, y.T), "Usmm", FORMATS),
    "local_usmm_csx": (lambda A, y, v: sparse.usmm(v[0], A, y.T, at.dot(y, y.T)), "UsmmCscDense", ("csc",)),
}


def ops_of(fgraph_or_outputs):
    return [type(node.op).__name__ for node in fgraph_or_outputs]


@pytest.mark.parametrize("name", ROWS)
@pytest.mark.parametrize("format", FORMATS)
def test_forms_on_vectors(rng, name, format):
    build, form, formats = ROWS[name]
    A, y, v = sparse.matrix(format, "A"), at.dmatrix("y"), at.dvector("v")
    written = build(A, y, v)
    changed = rewrite_graph(build(A, y, v), include=(), custom_rewrite=in2out(getattr(rewriting, name)), clone=False)
    names = ops_of(aesara.graph.traversal.applys_between([A, y, v], [changed]))
    assert any(one.startswith(form) for one in names) == (format in formats)
    a = some_matrix(rng, 5, 4, format, unsorted=True)
    values = a, rng.normal(size=(5, 4)), rng.normal(size=4)
    results = aesara.function([A, y, v], [written, changed], mode="FAST_COMPILE", on_unused_input="ignore")(*values)
    np.testing.assert_allclose(*map(as_dense, results), rtol=1e-12)


RULES = [*ROWS, "local_csm_properties_csm", "local_dense_from_sparse_sparse_from_dense"]


@pytest.mark.parametrize("name", RULES)
def test_what_has_another_form_is_left_alone(name):
    """Also by who asks a rule about nodes of its class whose operands come from anywhere."""
    A, y, v = sparse.matrix("csc" if name == "local_usmm_csx" else "csr", "A"), at.dmatrix("y"), at.dvector("v")
    written = [build(A, y, v) for build, _, _ in ROWS.values()]
    written += [part for x in (A, A.T) for part in (*sparse.csm_properties(x), sparse.dense_from_sparse(x))]
    fgraph = FunctionGraph([A, y, v], written, clone=False)
    rule = getattr(rewriting, name)
    changed = [node for node in fgraph.toposort() if rule.transform(fgraph, node)]
    assert changed == [] if name not in ROWS else changed != [] and set(changed) < fgraph.apply_nodes


@pytest.mark.parametrize("format", FORMATS)
def test_forms_on_vectors_do_not_broadcast(format):
    A, y, z = sparse.matrix(format, "A"), at.dmatrix("y"), at.dmatrix("z")
    row, column = (at.tensor("float64", shape=shape) for shape in ((1, None), (None, 1)))
    for written in (
        A * row,
        A * column,
        A * y[0, 0],
        row - 2.0 * sparse.structured_dot(A, y),
        z - 2.0 * sparse.structured_dot(A, column),
        z - row * sparse.structured_dot(A, y),
    ):
        for rule in (rewriting.local_mul_s_d, rewriting.local_usmm):
            assert not rule.transform(None, written.owner)


def test_forms_in_place_hold_their_results():
    A, y = sparse.csc_fmatrix("A"), at.fmatrix("y")
    for dtype in ("float32", "float64"):
        data, indices, indptr, shape = sparse.csm_properties(sparse.cast(A, dtype))
        total = rewriting.AddSD_ccode("csc")(data, indices, indptr, y)
        product = rewriting.usmm_csc_dense(np.float32(2.0), data, indices, indptr, shape[0], y, y)
        assert bool(rewriting.local_inplace_addsd_ccode.transform(None, total.owner)) == (dtype == "float32")
        assert bool(rewriting.local_usmm_csc_dense_inplace.transform(None, product.owner)) == (dtype == "float32")


def test_forms_in_place(rng):
    A, y = sparse.csc_matrix("A"), at.dmatrix("y")
    a, value = some_matrix(rng, 5, 4, "csc"), rng.normal(size=(5, 4))
    data, indices, indptr, shape = sparse.csm_properties(A)
    forms = [
        (
            rewriting.AddSD_ccode("csc")(data, indices, indptr, y * 2),
            rewriting.local_inplace_addsd_ccode,
            2 * value + a,
        ),
        (
            rewriting.usmm_csc_dense(2.0, data, indices, indptr, shape[0], at.eye(4), y * 2),
            rewriting.local_usmm_csc_dense_inplace,
            2 * value + 2 * a,
        ),
    ]
    for written, rule, expected in forms:
        (changed,) = rule.transform(None, written.owner)
        assert changed.owner.op.inplace and changed.owner.op.destroy_map and not rule.transform(None, changed.owner)
        f = aesara.function([A, y], changed, mode="FAST_COMPILE", accept_inplace=True)
        assert_close(f(a, value), expected)


@pytest.mark.parametrize("name", ["local_structured_dot", "local_usmm"])
def test_products_of_two_sparse_matrices_have_no_form_on_vectors(name):
    A, B, y = sparse.csr_matrix("A"), sparse.csr_matrix("B"), at.dmatrix("y")
    product = y - sparse.structured_dot(A, B)
    changed = rewrite_graph(product, include=(), custom_rewrite=in2out(getattr(rewriting, name)), clone=False)
    assert changed is product
    assert not getattr(rewriting, name).transform(None, sparse.structured_dot(A, B).owner)


@pytest.mark.parametrize("shape", [(5, 4), (4, 9), (3, 1)])
def test_gradient_of_a_pattern(rng, shape):
    """`CSMGrad` picks elements by place, also out of another pattern."""
    x, g = some_matrix(rng, *shape, unsorted=True), some_matrix(rng, *shape)
    kind = SparseTensorType("csr", "float64")
    parts = [*kind.take_apart(x), *kind.take_apart(g)]
    for op in (sparse.csm_grad(), rewriting.csm_grad_c):
        expected = g.toarray()[np.repeat(np.arange(shape[0]), np.diff(x.indptr)), x.indices]
        np.testing.assert_array_equal(op(*parts).eval(), expected)
        np.testing.assert_array_equal(op(*parts[:4], *parts[:4]).eval(), x.data)
    node = sparse.csm_grad()(*parts).owner
    assert isinstance(rewriting.local_csm_grad_c.transform(None, node)[0].owner.op, rewriting.CSMGradC)


def test_rules_of_every_function(rng):
    y, data = at.dmatrix("y"), at.dvector("d")
    f = aesara.function([y], sparse.dense_from_sparse(sparse.csr_from_dense(y)) + 1)
    assert ops_of(f.maker.fgraph.toposort()) == ["Elemwise"]
    i, p = (at.constant(np.array(one, dtype="int32")) for one in ([0, 1], [0, 1, 2]))
    parts = sparse.csm_properties(sparse.CSR(data, i, p, [2, 2]))
    f = aesara.function([data], [parts[0] * 2, parts[2]])
    assert "CSM" not in ops_of(f.maker.fgraph.toposort())
    np.testing.assert_array_equal(f([1.0, 2.0])[0], [2, 4])


def test_zeros_are_removed_in_place_only_where_nobody_sees_it(rng):
    a = some_matrix(rng, 5, 4, stored_zero=True)
    A = sparse.csr_matrix("A")
    for given, in_place in ((A, False), (In(A, mutable=True, borrow=True), True)):
        f = aesara.function([given], sparse.remove0(A))
        (op,) = [node.op for node in f.maker.fgraph.toposort() if isinstance(node.op, sparse.Remove0)]
        assert op.inplace == in_place
        before = a.copy()
        assert f(a.copy()).nnz == a.nnz - 1
        assert (a.data == before.data).all()


def test_the_older_path():
    assert aesara.sparse.opt.sd_csr is rewriting.sd_csr
    assert scipy.sparse.issparse(sparse.CSR([1.0], [0], [0, 1], [1, 1]).eval())
