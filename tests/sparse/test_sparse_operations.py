"""Operations on sparse matrices against those on dense ones, by the reference and natively, and their gradients."""

import copy
import itertools
import warnings

import numpy as np
import pytest
import scipy.sparse
from operations import OPERATIONS, ROWS, added, operands, pattern
from sparse_data import FORMATS, as_dense, some_matrix

import aesara
import aesara.sparse as sparse
import aesara.tensor as at
from aesara.compile.mode import Mode
from aesara.gradient import DisconnectedType
from aesara.graph.null_type import NullType
from aesara.graph.traversal import applys_between
from aesara.sparse.type import SparseTensorType, has_sparse_type

MODES = ["FAST_COMPILE", "FAST_RUN"]
#: what has no native form: class of the operation, number of its sparse operands
IN_PYTHON = {
    *((name, 1) for name in "DeepCopyOp Diag EnsureSortedIndices GetItem2d GetItem2Lists GetItemList".split()),
    *((name, 1) for name in "GetItemScalar GreaterThanSD LessEqualSD NotEqualSD Remove0 TrueDot".split()),
    *((name, 2) for name in "AddSS Dot EqualSS HStack LessEqualSS LessThanSS MulSS StructuredDot TrueDot".split()),
    ("ConstructSparseFromList", 0),
    ("VStack", 2),
}
#: what has no meaning for some dtypes
NOT_FOR_ALL_DTYPES = {
    *(("complex128", name) for name in "ceil deg2rad floor rad2deg rint sgn trunc".split()),
    *(("complex128", f"structured_{name}") for name in "minimum maximum".split()),
    ("int64", "rint"),
}


def values_of(rng, format, dtype="float64"):
    values = operands(rng, format, dtype=dtype)
    values["U"] = values["A"].copy()
    values["U"].data = rng.uniform(-0.9, 0.9, size=values["U"].nnz).astype(dtype)
    return values


def variables_for(values):
    return {
        name: SparseTensorType(value.format, value.dtype.name)(name)
        if scipy.sparse.issparse(value)
        else at.tensor(value.dtype.name, shape=(None,) * value.ndim, name=name)
        for name, value in values.items()
    }


def equal_memory(a, b):
    if not scipy.sparse.issparse(a):
        return np.array_equal(a, b)
    return all(np.array_equal(getattr(a, part), getattr(b, part)) for part in ("data", "indices", "indptr"))


def close(name, got, expected, dtype):
    tolerance = {"float64": 1e-12, "float32": 1e-5, "complex128": 1e-12}[dtype]
    np.testing.assert_allclose(as_dense(got), expected, rtol=tolerance, atol=tolerance, err_msg=name)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("format, dtype", [("csr", "float64"), ("csc", "float64"), ("csr", "float32")])
def test_values(rng, format, dtype, mode):
    values = values_of(rng, format, dtype)
    variables = variables_for(values)
    built = [build(*(variables[name] for name in names)) for _, build, _, names, _ in OPERATIONS]
    f = aesara.function(list(variables.values()), built, mode=mode, on_unused_input="ignore")
    assert (f._native is not None) == (mode == "FAST_RUN")
    before = copy.deepcopy(values)
    results = f(*values.values())
    for name, value in before.items():
        assert equal_memory(value, values[name]), f"{name} has changed"
    for (name, _, expected, names, _), variable, got in zip(OPERATIONS, built, results, strict=True):
        close(name, got, expected(*(as_dense(values[one]) for one in names)), dtype)
        assert variable.type.filter(got, strict=True) is got, name


@pytest.mark.parametrize("mode", MODES)
def test_shapes(rng, mode):
    values = values_of(rng, "csr")
    variables = variables_for(values)
    built = [build(*(variables[name] for name in names)) for _, build, _, names, _ in OPERATIONS]
    lengths = [[out.shape[k] for k in range(out.type.ndim)] for out in built]
    f = aesara.function(list(variables.values()), [*itertools.chain(*lengths)], mode=mode, on_unused_input="ignore")
    found = iter(f(*values.values()))
    for (name, _, expected, names, _), of_one in zip(OPERATIONS, lengths, strict=True):
        shape = np.shape(expected(*(as_dense(values[one]) for one in names)))
        assert tuple(int(next(found)) for _ in of_one) == shape, name
    if mode == "FAST_RUN":
        nodes = [node for node in f.maker.fgraph.apply_nodes if any(map(has_sparse_type, node.outputs))]
        assert {type(node.op).__name__ for node in nodes} == {"GetItem2d"}  # the others are not computed


def test_elements_by_empty_lists(rng):
    """None of them, and no gradient."""
    A, i, j = sparse.csr_matrix("A"), at.lvector("i"), at.lvector("j")
    f = aesara.function([A, i, j], [A[i, j], aesara.grad(A[i, j].sum(), A), A[i]])
    elements, slope, rows = f(values_of(rng, "csr")["A"], [], [])
    assert elements.shape == (0,) and slope.shape == (6, 5) and slope.nnz == 0 and rows.shape == (0, 5)


def test_rows_by_a_list_and_columns_by_a_slice(rng):
    """All columns take no rectangle, so that there is a gradient."""
    A, i = sparse.csr_matrix("A"), at.lvector("i")
    value, rows = values_of(rng, "csr")["A"], [3, 0]
    for index, columns in ((A[i], slice(None)), (A[i, :], slice(None)), (A[i, 1:4], slice(1, 4))):
        f = aesara.function([A, i], index)
        np.testing.assert_array_equal(f(value, rows).toarray(), value.toarray()[rows][:, columns])
        assert (type(index.owner.op) is sparse.basic.GetItemList) == (columns == slice(None))
    for last in (slice(0, None), slice(None, 2), slice(None, None, 2), slice(None, i[0])):
        assert type(A[i, last].owner.op) is sparse.basic.GetItem2d
    slope = aesara.function([A, i], aesara.grad(sparse.sp_sum(A[i, :]), A))(value, rows)
    np.testing.assert_array_equal(slope.toarray(), np.isin(np.arange(6), rows)[:, None] * np.ones(5))


@pytest.mark.parametrize("format", FORMATS)
def test_what_is_computed_natively(rng, format):
    variables = variables_for(values_of(rng, format))
    built = [build(*(variables[name] for name in names)) for _, build, _, names, _ in OPERATIONS]
    f = aesara.function(list(variables.values()), built, on_unused_input="ignore")
    nodes = [one.node for one in aesara.explain(f).python]
    lacking = [node for node in nodes if any(map(has_sparse_type, (*node.inputs, *node.outputs)))]
    found = {(type(node.op).__name__, sum(map(has_sparse_type, node.inputs))) for node in lacking}
    assert found == IN_PYTHON


@pytest.mark.parametrize("format", FORMATS)
def test_inputs_have_a_gradient_where_their_operation_says_so(rng, format):
    variables = variables_for(values_of(rng, format))
    built = [build(*(variables[name] for name in names)) for _, build, _, names, _ in OPERATIONS]
    parts = sparse.csm_properties(variables["A"])
    built += [parts[0], sparse.CSM(format)(*parts), sparse.csm_grad()(*parts, *parts)]
    seen = set()
    for node in applys_between(list(variables.values()), built):
        if hasattr(node.op, "connection_pattern") and type(node.op).__module__.startswith("aesara.sparse"):
            seen.add(type(node.op).__name__)
            terms = node.op.L_op(node.inputs, node.outputs, [out.astype("float64") for out in node.outputs])
            found = [not isinstance(term.type, DisconnectedType) for term in terms]
            assert found == list(map(any, node.op.connection_pattern(node))), node
    assert seen >= {"CSM", "CSMProperties", "GetItemList", "GetItem2Lists", "GetItemScalar"}


@pytest.mark.parametrize("dtype", ["float32", "complex128", "int64"])
@pytest.mark.parametrize("format, other", [("csr", "csc"), ("csc", "csr")])
def test_gradients_are_like_their_operands(rng, format, other, dtype):
    """In dtype, and in format if they are sparse, whatever the gradients of the results are; of integers, floats."""
    values = values_of(rng, format, dtype)
    values |= {name: values[name].asformat(other) for name in "BC"}
    variables = variables_for(values)

    def like(kind, dense):
        kind = at.TensorType(kind.dtype, kind.shape) if dense else kind
        return kind.clone(dtype="float64" if "int" in kind.dtype else kind.dtype)()

    operands = 0
    for name, build, _, names, _ in OPERATIONS:
        if (dtype, name) in NOT_FOR_ALL_DTYPES:
            continue
        for node in applys_between(list(variables.values()), [build(*(variables[one] for one in names))]):
            if not any(map(has_sparse_type, node.inputs)):
                continue
            for dense in (False, True):
                terms = node.op.L_op(node.inputs, node.outputs, [like(out.type, dense) for out in node.outputs])
                for term, operand in zip(terms, node.inputs, strict=True):
                    if isinstance(term.type, (DisconnectedType, NullType)):
                        continue
                    operands += 1
                    assert term.type.dtype == like(operand.type, False).type.dtype, (name, node, dense)
                    if has_sparse_type(term) and has_sparse_type(operand):
                        assert term.type.format == operand.type.format, (name, node, dense)
    assert operands > 100


def test_gradients_of_many_uses_are_added():
    A = sparse.csr_matrix("A")
    matrix = scipy.sparse.csr_matrix([[1.0, 0.0], [2.0, 3.0]])
    for n in range(1, 10):
        cost = sum(sparse.sp_sum(A * float(k), sparse_grad=True) for k in range(1, n + 1))
        slope = aesara.grad(cost, A)
        assert has_sparse_type(slope)
        assert slope.eval({A: matrix}).toarray().tolist() == (n * (n + 1) / 2 * (matrix.toarray() != 0)).tolist()


def test_gradients_of_dense_factors_may_be_sparse():
    A, m = sparse.csr_matrix("A"), at.dmatrix("m")
    for dense in (True, False):
        product = sparse.true_dot(A, m, grad_preserves_dense=dense)
        assert has_sparse_type(aesara.grad(product.toarray().sum(), m)) != dense


def test_added_rows_along_a_direction(rng):
    m, direction, rows = rng.normal(size=(3, 5)), rng.normal(size=(3, 5)), [4, 0, -2]
    M, D = at.dmatrix("M"), at.dmatrix("D")
    along = aesara.gradient.Rop(sparse.construct_sparse_from_list(at.zeros(ROWS), M, rows), M, D)
    assert along.owner.op == sparse.construct_sparse_from_list  # no more work than for the rows themselves
    found = along.eval({M: m, D: direction}, on_unused_input="ignore")
    np.testing.assert_array_equal(found.toarray(), added(direction, rows))


@pytest.mark.parametrize("mode", MODES)
def test_casts(rng, mode):
    """As SciPy casts values: numbers in the reach of all dtypes, of which real parts are taken."""
    dtypes = ["int8", "uint8", "int64", "float32", "float64", "complex64", "complex128"]
    values = [abs(some_matrix(rng, 3, 4, "csc")).astype(dtype) for dtype in dtypes]
    for value in values:
        value.data *= np.array(1.5 + 0.25j if value.dtype.kind == "c" else 1.5).astype(value.dtype)
    variables = [SparseTensorType("csc", dtype)() for dtype in dtypes]
    f = aesara.function(variables, [sparse.cast(one, dtype) for one in variables for dtype in dtypes], mode=mode)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", np.exceptions.ComplexWarning)
        found = iter(f(*values))
        for value in values:
            for dtype in dtypes:
                assert equal_memory(next(found), value.astype(dtype)), (value.dtype, dtype)


#: what makes a dense matrix of a sparse result: the gradient that flows back into it is sparse, or dense
USES = {
    "toarray": lambda out: out.toarray(),
    "dot": lambda out: sparse.dot(out, at.cos(at.arange(2 * out.shape[1])).reshape((out.shape[1], 2))),
}


@pytest.mark.parametrize(
    "mode, use, dtype",
    [
        ("FAST_COMPILE", "toarray", "float64"),
        ("FAST_RUN", "toarray", "float64"),
        ("FAST_COMPILE", "dot", "float64"),
        ("FAST_COMPILE", "toarray", "complex128"),
        ("FAST_COMPILE", "dot", "complex128"),
    ],
)
@pytest.mark.parametrize("format", FORMATS)
def test_gradients(rng, format, mode, use, dtype):
    """The derivative along a direction is the product with the gradient: with respect to all that is stored.

    Of complex numbers it is the real part of the product.
    """
    values = values_of(rng, format, dtype)

    def numbers(shape):
        real = rng.normal(size=shape)
        return real if dtype == "float64" else real + 1j * rng.normal(size=shape)

    if dtype == "complex128":
        for value in values.values():
            numbers_of = value.data if scipy.sparse.issparse(value) else value
            if value.dtype == dtype:
                numbers_of[...] += 1j * rng.normal(size=numbers_of.shape) * 0.3
    # What is removed, also by the sum of two matrices, has no gradient.
    values["A"].data[values["A"].data == 0] = 1.0
    inputs, matrices = {}, {}
    for name, value in values.items():
        if scipy.sparse.issparse(value):
            inputs[name] = at.vector(name, dtype=dtype)
            parts = [at.constant(part) for part in SparseTensorType(format, dtype).take_apart(value)[1:]]
            matrices[name] = sparse.CSM(format)(inputs[name], *parts)
            values[name] = value.data
        else:
            inputs[name] = matrices[name] = at.tensor(value.dtype.name, shape=(None,) * value.ndim, name=name)
    costs, derivatives = [], []
    directions = {name: numbers(value.shape) for name, value in values.items() if value.dtype == dtype}
    rows = [row for row in OPERATIONS if row[4] and (dtype, row[0]) not in NOT_FOR_ALL_DTYPES]
    for _, build, _, names, _ in rows:
        out = build(*(matrices[name] for name in names))
        out = out if out.type.is_dense else USES[use](out)
        weights = at.cos(at.arange(out.size)).reshape(out.shape)
        cost = at.real((1 if dtype == "float64" else 1 - 0.5j) * weights * out).sum()
        wrt = [name for name in dict.fromkeys(names) if name in directions]
        gradients = aesara.grad(cost, [inputs[name] for name in wrt])
        costs.append(cost)
        gradients = [g if g.type.is_dense else g.toarray() for g in gradients]
        slopes = (at.real(at.conj(g) * directions[name]).sum() for g, name in zip(gradients, wrt, strict=True))
        derivatives.append(sum(slopes))
    known = list(inputs.values())
    f = aesara.function(known, [*costs, *derivatives], mode=mode, on_unused_input="ignore")
    step = 1e-6
    low, high = (
        f(*(v + sign * step * directions[name] if name in directions else v for name, v in values.items()))
        for sign in (-1, 1)
    )
    derivatives = f(*values.values())[len(rows) :]
    for (name, *_), got, above, below in zip(rows, derivatives, high, low, strict=False):
        np.testing.assert_allclose(got, (above - below) / (2 * step), rtol=2e-6, atol=2e-7, err_msg=name)


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_gradients_of_products_at_the_places_of_a_pattern(rng, dtype):
    values = values_of(rng, "csr", dtype)
    phase = 1.0 if dtype == "float64" else 0.6 - 0.8j
    p, given = values["A"] * phase, [values["k"] * phase, values["m"] + 1 - phase]
    k, m = at.matrix("k", dtype=dtype), at.matrix("m", dtype=dtype)
    weights = rng.normal(size=p.shape) * np.conj(phase)
    cost = at.real(sparse.sampling_dot(k, m, p).toarray() * weights).sum()
    of_k, of_m = aesara.function([k, m], aesara.grad(cost, [k, m]))(*given)
    weighted = np.conj(p.toarray() * weights)
    np.testing.assert_allclose(of_k, weighted @ given[1].conj(), rtol=1e-12)
    np.testing.assert_allclose(of_m, weighted.T @ given[0].conj(), rtol=1e-12)


@pytest.mark.parametrize("stored", [False, True])
@pytest.mark.parametrize("axis", [None, 0, 1])
def test_sums_of_integers_have_no_slope(axis, stored):
    A = sparse.csr_matrix("A", dtype="int64")
    a = scipy.sparse.csr_matrix(np.array([[1, 0], [2, 3]]))
    total = sparse.sp_sum(A, axis, stored)
    by_op = total.owner.op.grad([A], [at.ones(total.shape)])[0]
    for gradient in (by_op, aesara.grad(total.sum().astype("float64"), A)):
        found = gradient.eval({A: a}, on_unused_input="ignore")
        assert found.shape == (2, 2) and found.nnz == 0 and found.dtype == aesara.config.floatX


def test_stored_values_only(rng):
    """Operations that leave what is not stored alone."""
    a = operands(rng, "csr")["A"]
    a.data = rng.uniform(0.5, 2.0, size=a.nnz)
    A, v = sparse.csr_matrix("A"), at.dvector("v")
    vector, stored, data = rng.normal(size=5), pattern(a), a.toarray()
    built = {
        "exp": (sparse.structured_exp(A), np.exp(data)),
        "log": (sparse.structured_log(A), np.log(np.where(stored, data, 1))),
        "sigmoid": (sparse.structured_sigmoid(A), 1 / (1 + np.exp(-data))),
        "pow": (sparse.structured_pow(A, 3), data**3),
        "minimum": (sparse.structured_minimum(A, 1.0), np.minimum(data, 1)),
        "maximum": (sparse.structured_maximum(A, 1.0), np.maximum(data, 1)),
        "add": (sparse.structured_add(A, 1.0), data + 1),
        "add vector": (sparse.structured_add_s_v(A, v), data + vector),
        "ones": (sparse.sp_ones_like(A), 1),
        "sqrt": (sparse.sqrt(A), np.sqrt(data)),
    }
    f = aesara.function([A, v], [variable for variable, _ in built.values()])
    assert aesara.explain(f).python == []
    for (name, (_, expected)), got in zip(built.items(), f(a, vector), strict=True):
        np.testing.assert_allclose(got.toarray(), expected * stored, rtol=1e-12, err_msg=name)
        assert got.nnz == a.nnz, name
    assert aesara.function([A], sparse.sp_zeros_like(A))(a).nnz == 0


A, m, p, s = sparse.csr_matrix("A"), at.dmatrix("m"), at.dmatrix("p"), at.dscalar("s")
rows, columns = at.lvector("rows"), at.lvector("columns")
STORED = scipy.sparse.csr_matrix([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]])
LEFT, RIGHT = np.arange(4.0).reshape(2, 2), np.arange(6.0).reshape(3, 2)


@pytest.mark.parametrize(
    "build, values",
    [
        (
            lambda: aesara.grad((sparse.slicing.get_item_list(A, rows).toarray() ** 2).sum(), A),
            {A: STORED, rows: [1, 0]},
        ),
        (
            lambda: aesara.grad((sparse.slicing.get_item_2lists(A, rows, columns) ** 2).sum(), A),
            {A: STORED, rows: [1, 0], columns: [1, 2]},
        ),
        (lambda: aesara.grad((A[:1, 1:].toarray() ** 2).sum(), A), {A: STORED}),
        (lambda: aesara.grad(A[0, 2] ** 2, A), {A: STORED}),
        (lambda: sparse.slicing.get_item_scalar(A, [0, 2]), {A: STORED}),
        (lambda: aesara.grad((sparse.structured_dot(A, p) ** 2).sum(), A), {A: STORED, p: RIGHT}),
        (lambda: sparse.sampling_dot(m, p, A), {A: STORED, m: LEFT, p: RIGHT}),
        (lambda: sparse.csc_from_dense(A.toarray()), {A: STORED}),
        (lambda: aesara.grad((sparse.vstack([A, A], "csr").toarray() ** 2).sum(), A), {A: STORED}),
        (lambda: sparse.usmm(s, A, p, m), {A: STORED, s: 2.0, m: LEFT, p: RIGHT}),
    ],
)
def test_shapes_without_values(build, values):
    made = build()
    f = aesara.function(list(values), made.shape, on_unused_input="ignore", mode=Mode("py", "fast_run"))
    assert not any(node.op == made.owner.op for node in f.maker.fgraph.apply_nodes)
    computed = aesara.function(list(values), made, mode="FAST_COMPILE")(*values.values())
    assert tuple(f(*values.values())) == np.shape(computed)
