"""Expressions of PyTensor, a row each: a name, a function that builds the expression, and values of its inputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytensor.scalar as ps
import pytensor.sparse as sparse
import pytensor.tensor as pt
import scipy.sparse
from pytensor.compile.builders import OpFromGraph
from pytensor.graph.basic import Apply
from pytensor.graph.op import Op
from pytensor.ifelse import ifelse
from pytensor.raise_op import Assert
from pytensor.scalar.loop import ScalarLoop
from pytensor.scan import scan
from pytensor.scan.utils import until
from pytensor.tensor import fft
from pytensor.tensor.elemwise import Elemwise
from pytensor.tensor.fourier import Fourier
from pytensor.tensor.signal.conv import Convolve1d, convolve2d

R = np.random.default_rng(4)
V = R.normal(size=5)
POSITIVE = np.abs(V) + 0.1
UNIT = np.array([0.05, 0.3, 0.5, 0.71, 0.99])
SPECIAL = np.array([0.0, -0.0, 1.5, -2.5, np.inf, -np.inf, np.nan])
M = R.normal(size=(3, 4))
SQUARE = R.normal(size=(3, 3)) + 3 * np.eye(3)
DEFINITE = SQUARE @ SQUARE.T
BATCH = np.stack([DEFINITE, DEFINITE + np.eye(3)])
CUBE = R.normal(size=(2, 3, 4))
INTEGERS = np.array([3, -7, 0, 5, -2])
OTHERS = np.array([2, 3, -4, -5, 7])
BOOLS = np.array([True, False, True, True, False])


class Case(NamedTuple):
    name: str
    build: Callable[..., Any]
    values: tuple[Any, ...]
    differentiable: bool = False


CASES: list[Case] = []


def case(name: str, build: Callable[..., Any], *values: Any, differentiable: bool = False) -> None:
    CASES.append(Case(name, build, tuple(np.asarray(v) for v in values), differentiable))


# -- elementwise ---------------------------------------------------------------------------------------------
for _name in (
    "abs ceil floor trunc round sign neg sqr exp expm1 sin cos tan sinh cosh tanh arctan arcsinh sigmoid softplus erf "
    "erfc isnan isinf deg2rad rad2deg exp2 log1pexp"
).split():
    case(_name, getattr(pt, _name), SPECIAL)
    case(f"{_name}-float32", getattr(pt, _name), V.astype("float32"))
for _name in (
    "exp expm1 sin cos tan sinh cosh tanh arctan arcsinh sigmoid softplus erf erfc exp2 sqr erfcx psi gammaln"
).split():
    case(f"{_name}-gradient", getattr(pt, _name), POSITIVE, differentiable=True)
for _name in "log log2 log10 log1p sqrt gammaln gamma psi tri_gamma reciprocal erfcx i0 i1 j0 j1".split():
    case(_name, getattr(pt, _name), POSITIVE)
    case(f"{_name}-gradient", getattr(pt, _name), POSITIVE, differentiable=_name not in ("i0", "i1"))
for _name in "arcsin arccos arctanh erfinv erfcinv".split():
    case(_name, getattr(pt, _name), UNIT, differentiable=True)
case("arccosh", pt.arccosh, POSITIVE + 1, differentiable=True)
case("log1mexp", pt.log1mexp, -POSITIVE, differentiable=True)
for _name in "exp log sin sqrt abs neg sign floor".split():
    case(f"{_name}-of-integers", getattr(pt, _name), np.abs(INTEGERS) + 1)
for _name in "add sub mul true_div maximum minimum pow arctan2 mod floor_div lt le gt ge eq neq".split():
    case(_name, getattr(pt, _name), POSITIVE, UNIT)
    case(f"{_name}-special", getattr(pt, _name), SPECIAL, SPECIAL[::-1].copy())
    case(f"{_name}-matrix-row", lambda x, y, f=_name: getattr(pt, f)(x, y[None, :]), np.abs(M) + 1, POSITIVE[:4])
for _name in "add sub mul maximum minimum mod floor_div true_div and_ or_ xor lt eq".split():
    case(f"{_name}-integers", getattr(pt, _name), INTEGERS, OTHERS)
    case(f"{_name}-mixed-integers", getattr(pt, _name), INTEGERS.astype("int8"), OTHERS.astype("int32"))
for _name in "add sub mul true_div pow arctan2 maximum".split():
    case(f"{_name}-gradient", getattr(pt, _name), POSITIVE, UNIT, differentiable=True)
    case(f"{_name}-mixed-floats", getattr(pt, _name), POSITIVE.astype("float32"), INTEGERS.astype("int16"))
case("and-bools", pt.and_, BOOLS, BOOLS[::-1].copy())
case("invert", pt.invert, INTEGERS)
case("invert-bools", pt.invert, BOOLS)
case("switch", lambda c, x, y: pt.switch(c, x, y), BOOLS, V, POSITIVE)
case("switch-scalar", lambda x: pt.switch(x > 0, x, -1.0), SPECIAL)
case("clip", lambda x: pt.clip(x, -0.5, 0.5), SPECIAL, differentiable=False)
case("second", lambda x, y: pt.second(x, y), V, np.array(2.0))
case("cast-down", lambda x: x.astype("int8"), np.array([1.9, -1.9, 100.2]))
case("cast-bool", lambda x: x.astype("bool"), SPECIAL[:4])
case("cast-up", lambda x: x.astype("float64"), INTEGERS)
case("many-terms", lambda x, y: pt.add(x, y, x, 1.0) * pt.mul(x, y, y), V, UNIT)
case("gammainc", pt.gammainc, POSITIVE, UNIT, differentiable=True)
case("gammaincc", pt.gammaincc, POSITIVE, UNIT)
case("betainc", lambda a, x: pt.betainc(a, 2.0, x), POSITIVE, UNIT)
case("polygamma", lambda x: pt.polygamma(2, x), POSITIVE)
case("iv", lambda x: pt.iv(1.5, x), POSITIVE)
case("kve", lambda x: pt.kve(1.5, x), POSITIVE)
case("hyp2f1", lambda x: pt.hyp2f1(0.5, 1.5, 2.5, x), UNIT)
case("owens_t", lambda x: pt.owens_t(x, 0.7), V)
case("xlogx", pt.xlogx.xlogx, np.array([0.0, 0.5, 2.0]))
case("xlogy0", pt.xlogx.xlogy0, np.array([0.0, 0.5, 2.0]), np.array([0.0, 0.5, 2.0]))
case("complex", lambda x, y: pt.abs(pt.complex(x, y) * pt.complex(y, x)), V, POSITIVE)
case("conj", lambda x, y: pt.conj(pt.complex(x, y)), V, POSITIVE)
case("real-imag", lambda x, y: pt.real(pt.exp(pt.complex(x, y))) + pt.imag(pt.complex(x, y)), V, POSITIVE)


def _composite() -> Elemwise:
    x, y = ps.float64("x"), ps.float64("y")
    return Elemwise(ps.Composite([x, y], [ps.exp(x) * y, x - y]))


case("composite", lambda x, y: list(_composite()(x, y)), V, POSITIVE)

# -- reductions ----------------------------------------------------------------------------------------------
for _name in "sum prod max min mean var std".split():
    for _axis in (None, 0, -1, (0, 2)):
        case(f"{_name}-{_axis}", lambda x, f=_name, a=_axis: getattr(pt, f)(x, axis=a), CUBE, differentiable=True)
    case(f"{_name}-nan", getattr(pt, _name), SPECIAL)
    case(f"{_name}-keepdims", lambda x, f=_name: getattr(pt, f)(x, axis=1, keepdims=True), CUBE)
for _dtype in ("int8", "uint16", "float32", "bool"):
    case(f"sum-{_dtype}", pt.sum, (np.abs(INTEGERS)).astype(_dtype))
    case(f"prod-{_dtype}", pt.prod, (np.abs(INTEGERS)).astype(_dtype))
    case(f"max-{_dtype}", pt.max, (np.abs(INTEGERS)).astype(_dtype))
case("sum-empty", pt.sum, np.zeros((0,)))
case("prod-empty-rows", lambda x: pt.prod(x, axis=1), np.zeros((3, 0)))
for _name in ("all", "any"):
    case(_name, getattr(pt, _name), BOOLS)
    case(f"{_name}-integers", lambda x, f=_name: getattr(pt, f)(x, axis=0), np.array([[1, 0], [2, 0]]))
for _axis in (None, 0, 1, -1):
    case(f"argmax-{_axis}", lambda x, a=_axis: pt.argmax(x, axis=a), CUBE)
    case(f"argmin-{_axis}", lambda x, a=_axis: pt.argmin(x, axis=a), CUBE)
case("argmax-ties", pt.argmax, np.array([1.0, 3.0, 3.0]))
case("argmax-nan", pt.argmax, SPECIAL)
case("max_and_argmax", lambda x: list(pt.max_and_argmax(x, axis=1)), CUBE)
case("cumsum", lambda x: pt.cumsum(x, axis=1), CUBE, differentiable=True)
case("cumsum-flat", pt.cumsum, M)
case("cumprod", lambda x: pt.cumprod(x, axis=0), M, differentiable=True)
case("sort", lambda x: pt.sort(x, axis=-1), M, differentiable=True)
case("sort-nan", pt.sort, SPECIAL)
case("argsort", lambda x: pt.argsort(x, axis=0), M)
case("logsumexp", lambda x: pt.logsumexp(x, axis=1), 8 * M, differentiable=True)
case("softmax", lambda x: pt.special.softmax(x, axis=-1), 100 * M, differentiable=True)
case("log_softmax", lambda x: pt.special.log_softmax(x, axis=0), 100 * M, differentiable=True)
case("median", lambda x: pt.median(x, axis=1), M)
case("searchsorted", lambda x, y: pt.searchsorted(pt.sort(x), y), V, UNIT)
case("unique", lambda x: pt.unique(x), np.array([3, 1, 3, 2]))
case("repeat", lambda x: pt.repeat(x, 2, axis=0), M, differentiable=True)
case("repeat-each", lambda x, n: pt.repeat(x, n), V, np.array([1, 0, 2, 1, 3]))
case("bincount", lambda x: pt.bincount(x, minlength=6), np.array([0, 3, 3, 1]))
case("diff", lambda x: pt.diff(x, axis=1), M, differentiable=True)

# -- shapes --------------------------------------------------------------------------------------------------
case("transpose", lambda x: x.T, M, differentiable=True)
case("dimshuffle", lambda x: x.dimshuffle(2, "x", 0, 1), CUBE, differentiable=True)
case("squeeze", lambda x: x[:, None].squeeze(1), M)
case("shape", lambda x: x.shape, CUBE)
case("shape-of-part", lambda x: x[1:].shape[0] + x.size, CUBE)
case("reshape", lambda x: x.reshape((3, -1)), CUBE, differentiable=True)
case("reshape-symbolic", lambda x, n: x.reshape((n, 4)), CUBE, np.array(6))
case("ravel", lambda x: x.ravel(), CUBE, differentiable=True)
case("flatten", lambda x: x.flatten(2), CUBE)
case("join_dims", lambda x: pt.join_dims(x, 1, 2), CUBE)
case("split_dims", lambda x: pt.split_dims(x, shape=(2, 2), axis=2), CUBE)
case("specify_shape", lambda x: pt.specify_shape(x, (3, None)), M, differentiable=True)
case("alloc", lambda x, n: pt.alloc(x, n, 5), V, np.array(3), differentiable=False)
case("alloc-gradient", lambda x: pt.alloc(x, 3, 5), V, differentiable=True)
case("zeros", lambda n: pt.zeros((n, 2)), np.array(3))
case("full", lambda x: pt.full((2, 3), x), np.array(1.5))
case("ones_like", lambda x: pt.ones_like(x) + pt.zeros_like(x), M)
case("broadcast_to", lambda x: pt.broadcast_to(x, (3, 5)), V)
case("arange", lambda n: pt.arange(n), np.array(4))
case("arange-floats", lambda a: pt.arange(a, 3.0, 0.5), np.array(0.25))
case("eye", lambda n: pt.eye(n, 4, 1), np.array(3))
case("identity_like", lambda x: pt.identity_like(x), SQUARE)
case("diagonal", lambda x: pt.diagonal(x, 1), M, differentiable=True)
case("diag", lambda x: pt.diag(x), V, differentiable=True)
case("tril", lambda x: pt.tril(x) + pt.triu(x, 1), SQUARE, differentiable=True)
case("stack", lambda x, y: pt.stack([x, y, x]), V, UNIT, differentiable=True)
case("stack-scalars", lambda x: pt.stack([x[0], x[1] * 2]), V, differentiable=True)
case("concatenate", lambda x: pt.concatenate([x, 2 * x], axis=1), M, differentiable=True)
case("concatenate-mixed", lambda x, n: pt.concatenate([x, n]), V, INTEGERS)
case("split", lambda x: pt.split(x, splits_size=[1, 3], n_splits=2, axis=1), M)
case("split-gradient", lambda x: pt.split(x, splits_size=[1, 3], n_splits=2, axis=1)[0], M, differentiable=True)
case("pad", lambda x: pt.pad(x, 1), M)
case("tile", lambda x: pt.tile(x, (2, 1)), M)
case("roll", lambda x: pt.roll(x, 2, axis=1), M)
case("moveaxis", lambda x: pt.moveaxis(x, 0, -1), CUBE)
case("nonzero", lambda x: list(pt.nonzero(x)), np.array([[1, 0], [0, 2]]))
case("make_vector-empty", lambda x: x + pt.as_tensor([]).sum(), V)

# -- indices -------------------------------------------------------------------------------------------------
I = np.array([2, 0, 2])
case("item", lambda x: x[1], M, differentiable=True)
case("item-negative", lambda x: x[-1, -2], M, differentiable=True)
case("slice", lambda x: x[1:, ::-2], M, differentiable=True)
case("slice-symbolic", lambda x, i: x[i:, : i + 1], M, np.array(1))
case("ellipsis", lambda x: x[..., 1], CUBE, differentiable=True)
case("newaxis", lambda x: x[:, None, 1:], M)
case("rows", lambda x, i: x[i], M, I)
case("rows-gradient", lambda x: x[I], M, differentiable=True)
case("columns", lambda x: x[:, I], M, differentiable=True)
case("pairs", lambda x, i, j: x[i, j], M, I, np.array([1, 3, 0]))
case("grid", lambda x: x[I[:, None], np.array([0, 1])], M, differentiable=True)
case("apart", lambda x: x[I[:2] % 2, :, I[:2]], CUBE, differentiable=True)
case("with-newaxis", lambda x: x[I, None], M)
case("mask", lambda x: x[x > 0], M)
case("mask-gradient", lambda x: (x[x > 0] ** 2).sum(), M, differentiable=True)
case("mask-rows", lambda x, m: x[m], M, np.array([True, False, True]))
case("take", lambda x, i: pt.take(x, i, axis=1), M, I)
case("take_along_axis", lambda x: pt.take_along_axis(x, pt.argsort(x, axis=1), axis=1), M)
case("set-item", lambda x: pt.set_subtensor(x[1], 7.0), M, differentiable=True)
case("set-slice", lambda x, y: x[1:, :2].set(y), M, np.ones((2, 2)), differentiable=True)
case("inc-slice", lambda x, y: x[:, 1].inc(y), M, np.array([1.0, 2.0, 3.0]), differentiable=True)
case("set-rows", lambda x, y: x[I[:2]].set(y), M, np.ones((2, 4)), differentiable=True)
case("inc-rows", lambda x, y: x[I].inc(y), M, np.ones((3, 4)), differentiable=True)
case("inc-pairs", lambda x, y: x[I, np.array([1, 3, 1])].inc(y), M, np.array([1.0, 2.0, 3.0]), differentiable=True)
case("set-mask", lambda x: x[x < 0].set(0.0), M, differentiable=True)
case("inc-mask", lambda x, y: x[x < 0].inc(y), M, np.array(2.0))
case("inc-once", lambda x: pt.subtensor.inc_subtensor(x[I], 1.0, ignore_duplicates=True), M)
case("set-broadcasts-at-run-time", lambda x, y: x[:].set(y), V, np.ones(1))
case("inc-broadcasts-at-run-time", lambda x, y: x[:2].inc(y), V, np.ones(1))
case("set-of-integers", lambda x: x[0].set(9), INTEGERS)

# -- products and linear algebra -----------------------------------------------------------------------------
case("dot-vectors", pt.dot, V, UNIT, differentiable=True)
case("dot-matrices", pt.dot, M, M.T.copy(), differentiable=True)
case("dot-matrix-vector", pt.dot, M, POSITIVE[:4], differentiable=True)
case("dot-integers", pt.dot, INTEGERS, OTHERS)
case("matmul-batches", pt.matmul, CUBE, np.swapaxes(CUBE, 1, 2).copy(), differentiable=True)
case("tensordot", lambda x, y: pt.tensordot(x, y, axes=[[1], [0]]), CUBE, M, differentiable=True)
case("outer", pt.outer, V, UNIT)
case("einsum", lambda x, y: pt.einsum("bij,jk->bik", x, y), CUBE, M.T.copy(), differentiable=True)
case("kron", lambda x, y: pt.linalg.kron(x, y), SQUARE, M)
case("cholesky", lambda x: pt.linalg.cholesky(x), DEFINITE, differentiable=True)
case("cholesky-batch", lambda x: pt.linalg.cholesky(x), BATCH, differentiable=True)
case("solve", lambda a, b: pt.linalg.solve(a, b), SQUARE, M, differentiable=True)
case("solve-vector", lambda a, b: pt.linalg.solve(a, b, b_ndim=1), SQUARE, V[:3], differentiable=True)
case("solve-positive", lambda a, b: pt.linalg.solve(a, b, assume_a="pos"), DEFINITE, M)
case("solve-batch", lambda a, b: pt.linalg.solve(a, b), BATCH, M, differentiable=True)
case(
    "solve_triangular",
    lambda a, b: pt.linalg.solve_triangular(a, b, lower=True),
    np.tril(SQUARE),
    M,
    differentiable=True,
)
case(
    "solve_triangular-batch",
    lambda a, b: pt.linalg.solve_triangular(a, b, lower=True, b_ndim=1),
    np.tril(BATCH),
    np.ones((2, 3)),
    differentiable=True,
)
case("cho_solve", lambda c, b: pt.linalg.cho_solve((c, True), b), np.linalg.cholesky(DEFINITE), M)
case("inv", lambda x: pt.linalg.inv(x), SQUARE, differentiable=True)
case("inv-batch", lambda x: pt.linalg.inv(x), BATCH, differentiable=True)
case("pinv", lambda x: pt.linalg.pinv(x), M)
case("det", lambda x: pt.linalg.det(x), SQUARE, differentiable=True)
case("slogdet", lambda x: list(pt.linalg.slogdet(x)), BATCH)
case("eigh", lambda x: pt.linalg.eigh(x)[0], DEFINITE, differentiable=True)
case("svd", lambda x: pt.linalg.svd(x, compute_uv=False), M)
case(
    "qr",
    lambda x: (
        abs(pt.linalg.qr(x, mode="r")[0])
        if isinstance(pt.linalg.qr(x, mode="r"), list | tuple)
        else abs(pt.linalg.qr(x, mode="r"))
    ),
    M,
)
case("expm", lambda x: pt.linalg.expm(x), SQUARE / 10, differentiable=True)
case("matrix_power", lambda x: pt.linalg.matrix_power(x, 3), SQUARE, differentiable=True)
case("block_diag", lambda x, y: pt.linalg.block_diag(x, y), SQUARE, M)
case("trace", lambda x: pt.linalg.trace(x), SQUARE, differentiable=True)
case("lu", lambda x: list(pt.linalg.lu(x)), SQUARE)
case("convolve1d", lambda x, y: pt.signal.convolve1d(x, y, mode="full"), V, UNIT[:3], differentiable=True)

# -- control -------------------------------------------------------------------------------------------------
case("assert", lambda x: Assert("positive")(x, (x > 0).all()), POSITIVE, differentiable=True)
case("ifelse", lambda x: ifelse(x.sum() > 0, x * 2, x * 3), V, differentiable=True)
case("ifelse-two", lambda x: list(ifelse(x[0] > 100, (x * 2, x[0]), (x * 3, x[1]))), V)


def _with_inner_graph(x: Any) -> Any:
    y = pt.vector("y", dtype=x.type.dtype)
    return OpFromGraph([y], [y * pt.exp(y)])(2 * x)


case("inner-graph", _with_inner_graph, V, differentiable=True)
case("scan-sum", lambda x: scan(lambda v, s: s + v, [x], [pt.zeros(())], return_updates=False), V, differentiable=True)
case(
    "scan-last",
    lambda x: scan(lambda v, s: s * v, [x], [pt.ones(())], return_updates=False)[-1],
    V,
    differentiable=True,
)
case(
    "scan-taps",
    lambda x: scan(
        lambda a, b, w: a + w[0] * b,
        outputs_info=[{"initial": x[:2], "taps": [-2, -1]}],
        non_sequences=[x],
        n_steps=6,
        return_updates=False,
    ),
    V,
    differentiable=True,
)
case("scan-map", lambda x: scan(lambda row: pt.dot(row, row), [x], return_updates=False), M, differentiable=True)
case(
    "scan-until",
    lambda x: scan(lambda s: (s * 2, until(s > 10)), outputs_info=[x], n_steps=100, return_updates=False),
    np.array(1.5),
)
case("scan-two", lambda x: list(scan(lambda v, s: (s + v, s * v), [x], [pt.ones(()), None], return_updates=False)), V)


class Doubled(Op):
    """An Op that nobody has registered."""

    def make_node(self, x):
        x = pt.as_tensor(x)
        return Apply(self, [x], [x.type()])

    def perform(self, node, inputs, outputs):
        outputs[0][0] = 2 * inputs[0]


case("unknown-op", lambda x: Doubled()(pt.exp(x)) + 1, V)


# -- more linear algebra -------------------------------------------------------------------------------------
BLOCKS = R.normal(size=(6, 2, 3)) + np.eye(6).reshape(6, 2, 3)
case("lu-indices", lambda x: list(pt.linalg.lu(x, p_indices=True)), SQUARE)
case("lu-permuted", lambda x: list(pt.linalg.lu(x, permute_l=True)), SQUARE)
case("lu-gradient", lambda x: list(pt.linalg.lu(x))[1:], SQUARE, differentiable=True)
case("lu_factor", lambda x: list(pt.linalg.lu_factor(x)), SQUARE)
case("lu_factor-batch", lambda x: list(pt.linalg.lu_factor(x)), BATCH)
case("lu_solve", lambda x, b: pt.linalg.lu_solve(pt.linalg.lu_factor(x), b), SQUARE, M)
case(
    "pivots",
    lambda x: [pt.slinalg.pivot_to_permutation(x), pt.slinalg.pivot_to_permutation(x, inverse=True)],
    np.array([2, 2, 3, 3]),
)
case("qr-full", lambda x: list(pt.linalg.qr(x, mode="full")), M)
case("qr-economic", lambda x: list(pt.linalg.qr(x, mode="economic")), M.T)
case("qr-pivoting", lambda x: list(pt.linalg.qr(x, mode="economic", pivoting=True)), M.T)
case("schur", lambda x: list(pt.slinalg.schur(x)), SQUARE)
case("lstsq", lambda x, y: list(pt.linalg.lstsq(x, y, np.float64(-1.0))), M.T, R.normal(size=(4, 2)))
case("tensorinv", lambda x: pt.linalg.tensorinv(x, ind=1), BLOCKS)
case("tensorsolve", lambda a, b: pt.linalg.tensorsolve(a, b), BLOCKS, R.normal(size=6))


# -- sparse matrices -----------------------------------------------------------------------------------------
def _sparse(x: Any, format: str = "csr") -> Any:
    return (sparse.csr_from_dense if format == "csr" else sparse.csc_from_dense)(x)


HOLES = np.where(R.random((4, 3)) < 0.5, R.normal(size=(4, 3)), 0.0)
FIXED = scipy.sparse.csr_matrix(HOLES)
for _format in ("csr", "csc"):
    case(f"sparse-dot-{_format}", lambda x, y, f=_format: sparse.dot(_sparse(x, f), y), HOLES, M, differentiable=True)
    case(f"sparse-structured-{_format}", lambda x, y, f=_format: sparse.structured_dot(_sparse(x, f), y), HOLES, M)
    case(f"sparse-sum-{_format}", lambda x, f=_format: [sparse.sp_sum(_sparse(x, f), a) for a in (None, 0, 1)], HOLES)
case("sparse-constant", lambda y: sparse.dot(FIXED, y), M, differentiable=True)
case("sparse-constant-vector", lambda y: sparse.structured_dot(FIXED, y[:, None]), V[:3], differentiable=True)
case("sparse-transpose", lambda x: _sparse(x).T.toarray(), HOLES)
case("sparse-add", lambda x, y: (_sparse(x) + _sparse(y)).toarray(), HOLES, HOLES[::-1].copy())
case("sparse-times", lambda x, y: (_sparse(x) * _sparse(y)).toarray(), HOLES, HOLES[::-1].copy())
case("sparse-times-dense", lambda x, y: (_sparse(x) * y).toarray(), HOLES, M.T, differentiable=True)
case("sparse-parts", lambda x: list(sparse.csm_properties(_sparse(x)))[:3], HOLES)


# -- Ops by the way ------------------------------------------------------------------------------------------
case("bartlett", pt.bartlett, np.array(5))
case("fill_diagonal", pt.fill_diagonal, M, np.array(2.0), differentiable=True)
case("fill_diagonal-cube", pt.fill_diagonal, np.zeros((2, 2, 2)), np.array(2.0))
for _offset in (-2, 0, 1):
    case(
        f"fill_diagonal_offset{_offset}",
        lambda x, y, k=_offset: pt.fill_diagonal_offset(x, y, k),
        M,
        np.array(2.0),
        differentiable=True,
    )
for _mode in ("raise", "wrap", "clip"):
    case(f"choose-{_mode}", lambda i, x, m=_mode: pt.choose(i, x, mode=m), I, M[:, :3].copy())
    case(f"ravel_multi_index-{_mode}", lambda i, j, m=_mode: pt.ravel_multi_index((i, j), (3, 4), mode=m), I, I)
for _order in ("C", "F"):
    case(f"unravel_index-{_order}", lambda i, o=_order: list(pt.unravel_index(i, (3, 4), order=o)), 4 * I)
    case(f"ravel_multi_index-{_order}", lambda i, j, o=_order: pt.ravel_multi_index((i, j), (3, 4), order=o), I, I)
case("choose-out-of-range", lambda i, x: pt.choose(i, x, mode="wrap"), np.array([5, -7, 0]), M[:, :3].copy())
case(
    "permute_row_elements",
    lambda x, i: pt.basic.permute_row_elements(x, i),
    M[:, :3].copy(),
    np.array([2, 0, 1]),
    differentiable=True,
)
case(
    "permute_row_elements-inverse",
    lambda x, i: pt.basic.permute_row_elements(x, i, True),
    M[:, :3].copy(),
    np.array([2, 0, 1]),
)
case(
    "prod-gradient-with-zeros",
    lambda x: pt.prod(x, axis=1, no_zeros_in_input=False),
    M * (M > -0.5),
    differentiable=True,
)
case("prod-without-zeros", lambda x: pt.math.ProdWithoutZeros(axis=0)(x), M * (M > -0.5))

# -- Fourier transforms and convolutions ---------------------------------------------------------------------
for _norm in (None, "ortho", "no_norm"):
    case(f"rfft-{_norm}", lambda x, n=_norm: fft.rfft(x, norm=n), CUBE, differentiable=True)
    case(f"irfft-{_norm}", lambda x, n=_norm: fft.irfft(fft.rfft(x), norm=n), CUBE, differentiable=True)
case("irfft-odd", lambda x: fft.irfft(fft.rfft(x), is_odd=True), CUBE[:, :, :3].copy())
case("rfft-float32", fft.rfft, CUBE.astype("float32"))
case("fourier", lambda x: abs(Fourier()(x, 5, 1)), M)
for _mode in ("full", "same", "valid"):
    for _left, _right in ((V, UNIT[:2]), (V[:2], UNIT), (V, UNIT)):
        case(
            f"convolve1d-{_mode}-{_left.size}-{_right.size}",
            lambda x, y, m=_mode: pt.signal.convolve1d(x, y, mode=m),
            _left,
            _right,
            differentiable=True,
        )
    for _left, _right in ((CUBE[0], M[:2, :2]), (M[:2, :2], CUBE[0]), (M, CUBE[0])):
        case(
            f"convolve2d-{_mode}-{_left.shape}-{_right.shape}",
            lambda x, y, m=_mode: convolve2d(x, y, mode=m),
            _left.copy(),
            _right.copy(),
            differentiable=_mode != "same",
        )
case("convolve1d-float32", pt.signal.convolve1d, V.astype("float32"), UNIT.astype("float32"))
case("convolve1d-integers", pt.signal.convolve1d, INTEGERS, OTHERS)
case("convolve1d-batch", pt.signal.convolve1d, M, UNIT[:3], differentiable=True)
case("convolve1d-mode-of-run-time", lambda x, y, m: Convolve1d()(x, y, m), V, UNIT[:2], np.array(False))
case("convolve2d-batch", convolve2d, CUBE, M[:2, :2].copy())
case("convolve2d-integers", convolve2d, INTEGERS[None, :], OTHERS[None, :])
case("convolve2d-wrap", lambda x, y: convolve2d(x, y, mode="same", boundary="wrap"), M, CUBE[0])

# -- eigenvalues, forms of Schur and equations ----------------------------------------------------------------
case("eig", lambda x: list(pt.linalg.eig(x)), SQUARE)
case("eig-batch", lambda x: list(pt.linalg.eig(x)), BATCH)
case("eig-complex", lambda x: list(pt.linalg.eig(x)), SQUARE + 1j * DEFINITE)
case("eigvalsh", lambda x, y: pt.linalg.eigvalsh(x, y), DEFINITE, DEFINITE + np.eye(3), differentiable=True)
case("eigh-upper", lambda x: [abs(part) for part in pt.linalg.eigh(x, UPLO="U")], DEFINITE)  # signs are free
for _output in ("real", "complex"):
    case(f"qz-{_output}", lambda x, y, o=_output: list(pt.linalg.qz(x, y, output=o)), SQUARE, DEFINITE)
case("qz-sorted", lambda x, y: list(pt.linalg.ordqz(x, y, sort="lhp")), SQUARE, DEFINITE)
case(
    "sylvester",
    lambda a, b, q: pt.linalg.solve_sylvester(a, b, q),
    SQUARE,
    DEFINITE,
    SQUARE.T.copy(),
    differentiable=True,
)
case("lyapunov", lambda a, q: pt.linalg.solve_continuous_lyapunov(a, q), SQUARE, DEFINITE, differentiable=True)
case(
    "solve-tridiagonal",
    lambda a, b: pt.linalg.solve(a, b, assume_a="tridiagonal"),
    np.triu(np.tril(SQUARE, 1), -1),
    M,
    differentiable=True,
)
case("solve-banded", lambda a, b: pt.linalg.solve(a, b, assume_a="banded"), SQUARE, M)

# -- more of sparse matrices ---------------------------------------------------------------------------------
DENSE_OTHER = np.where(R.random((4, 3)) < 0.5, HOLES, R.normal(size=(4, 3)))
for _format in ("csr", "csc"):
    case(f"sparse-item-{_format}", lambda x, f=_format: _sparse(x, f)[1, 2], HOLES)
    case(f"sparse-rectangle-{_format}", lambda x, f=_format: _sparse(x, f)[1:, :-1].toarray(), HOLES)
    case(f"sparse-rows-{_format}", lambda x, f=_format: _sparse(x, f)[[3, 0, 3]].toarray(), HOLES)
    case(
        f"sparse-pairs-{_format}", lambda x, f=_format: _sparse(x, f)[[3, 0, 1], [1, 2, 0]], HOLES, differentiable=True
    )
    case(
        f"sparse-hstack-{_format}",
        lambda x, y, f=_format: sparse.hstack([_sparse(x, f), _sparse(y, f)], format=f).toarray(),
        HOLES,
        DENSE_OTHER,
    )
    case(
        f"sparse-vstack-{_format}",
        lambda x, y, f=_format: sparse.vstack([_sparse(x, f), _sparse(y, f)], format=f).toarray(),
        HOLES,
        DENSE_OTHER,
    )
    case(f"sparse-cast-{_format}", lambda x, f=_format: sparse.cast(_sparse(x, f), "float32").toarray(), HOLES)
    case(f"sparse-diag-{_format}", lambda x, f=_format: sparse.diag(_sparse(x, f)), HOLES[:3])
    case(f"sparse-neg-{_format}", lambda x, f=_format: (-_sparse(x, f)).toarray(), HOLES)
    case(f"sparse-clean-{_format}", lambda x, f=_format: sparse.clean(_sparse(x, f)).toarray(), HOLES)
    case(f"sparse-plus-dense-{_format}", lambda x, y, f=_format: _sparse(x, f) + y, HOLES, DENSE_OTHER)
    case(f"sparse-times-row-{_format}", lambda x, y, f=_format: (_sparse(x, f) * y).toarray(), HOLES, V[:3])
    case(
        f"sparse-structured-plus-row-{_format}",
        lambda x, y, f=_format: sparse.structured_add_s_v(_sparse(x, f), y).toarray(),
        HOLES,
        V[:3],
    )
    case(
        f"sparse-structured-gradient-{_format}",
        lambda x, y, f=_format: sparse.structured_dot(_sparse(x, f), y),
        HOLES,
        M,
        differentiable=True,
    )
    case(
        f"sparse-true-dot-{_format}",
        lambda x, y, f=_format: sparse.true_dot(_sparse(x, f), _sparse(y, f).T).toarray(),
        HOLES,
        DENSE_OTHER,
    )
    case(
        f"sparse-scaled-columns-{_format}",
        lambda x, y, f=_format: sparse.col_scale(_sparse(x, f), y).toarray(),
        HOLES,
        V[:3],
        differentiable=True,
    )
    case(
        f"sparse-scaled-rows-{_format}",
        lambda x, y, f=_format: sparse.row_scale(_sparse(x, f), y).toarray(),
        HOLES,
        V[:4],
        differentiable=True,
    )
    case(
        f"sparse-sampling-dot-{_format}",
        lambda x, y, p, f=_format: sparse.sampling_dot(x, y, _sparse(p, f)).toarray(),
        M.T.copy(),
        M.T + 1,
        HOLES @ HOLES.T @ np.ones((4, 4)),
    )
    case(f"sparse-exp-{_format}", lambda x, f=_format: sparse.structured_exp(_sparse(x, f)).toarray(), HOLES)
for _name in ("eq", "neq", "lt", "gt", "le", "ge"):
    case(
        f"sparse-{_name}",
        lambda x, y, f=_name: getattr(sparse, f)(_sparse(x), _sparse(y)).toarray(),
        HOLES,
        DENSE_OTHER,
    )
    case(f"sparse-{_name}-dense", lambda x, y, f=_name: getattr(sparse, f)(_sparse(x), y), HOLES, DENSE_OTHER)
case(
    "sparse-usmm",
    lambda a, x, y, z: sparse.math.usmm(a, _sparse(x), y, z),
    np.array(2.0),
    HOLES,
    M,
    SQUARE[[0, 1, 2, 0]] @ M,
)
case("sparse-sum-gradient", lambda x: sparse.sp_sum(sparse.structured_exp(_sparse(x)), 1), HOLES, differentiable=True)

# -- loops of scalars, by which special functions are differentiated ------------------------------------------
case(
    "gammainc-gradients",
    pt.gammainc,
    np.array([0.3, 2.0, 7.0, 40.0]),
    np.array([0.01, 2.5, 6.0, 90.0]),
    differentiable=True,
)
case(
    "gammaincc-gradients",
    pt.gammaincc,
    np.array([0.3, 2.0, 7.0, 40.0]),
    np.array([0.01, 2.5, 9.0, 90.0]),
    differentiable=True,
)
case(
    "gammainc-gradients-of-a-grid",
    lambda a, x: pt.gammainc(a[:, None], x),
    POSITIVE,
    POSITIVE[::-1].copy(),
    differentiable=True,
)
case("betainc-gradients", pt.betainc, POSITIVE, POSITIVE[::-1].copy() + 1, UNIT, differentiable=True)
case("hyp2f1-gradients", pt.hyp2f1, POSITIVE, POSITIVE + 1, POSITIVE + 2.5, UNIT / 2, differentiable=True)


def _scalar_loop(stops: bool) -> Elemwise:
    x, c = ps.float64("x"), ps.float64("c")
    following = 2.0 * x + c
    return Elemwise(ScalarLoop([x], [following], [c], until=ps.gt(following, 10.0) if stops else None))


COUNTS = np.array([0, 1, 3, 40])
case("scalar-loop", lambda n, x, c: _scalar_loop(False)(n, x, c), COUNTS, POSITIVE[:4], UNIT[:4])
case("scalar-loop-until", lambda n, x, c: _scalar_loop(True)(n, x, c), COUNTS, POSITIVE[:4], UNIT[:4])
case("scalar-loop-of-none", lambda n, x, c: _scalar_loop(True)(n, x, c), COUNTS[:0], V[:0], V[:0])
case("scalar-loop-of-a-grid", lambda n, x, c: _scalar_loop(True)(n[:, None], x, c[None]), COUNTS, V, np.array(0.5))
