"""Every op says what shape its results have, so that a shape never needs the values."""

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.compile.mode import Mode
from aesara.printing import Print
from aesara.scalar.op import ScalarOp
from aesara.tensor import linalg
from aesara.tensor.indexing.nonzero import Nonzero
from aesara.tensor.linear_algebra.cholesky import CholeskyPullback
from aesara.tensor.linear_algebra.least_squares import PinvWithCutoff
from aesara.tensor.nnet.basic import softmax_with_bias
from aesara.tensor.ordering.searching import Unique
from aesara.tensor.random.from_uniform import ChoiceFromUniform, MultinomialFromUniform
from aesara.tensor.shape import Shape_i
from tests.op_classes import is_base, op_classes

#: Base classes for the ops of users, who say what they know of shapes.
#: What stands for C code, and what gives sparse matrices or lists: their own tests ask for shapes.
OTHERS = ("aesara.compat.", "aesara.sparse.", "aesara.typed_list.")
#: Ops without `infer_shape`, and why.
WITHOUT = {
    "CumsumOp": "makes another op",
    "CumprodOp": "makes another op",
    "Default": "which of its inputs it returns is known only when it is computed",
    "LoadFromDisk": "the file has the shape; what is known of it is in the type",
    "MakeSlice": "a slice has no shape",
    "ChainedIndex": "positions are scalars, which have no shape",
    "FromFunctionOp": "users give it where they know",
    "AbstractRNGConstructor": "a generator has no shape",
    "DefaultGeneratorMakerOp": "a generator has no shape",
    "RandomStateConstructor": "a generator has no shape",
    "PutTogether": "what is no tensor has no shape",
    "TakeApart": "the value has the shapes; what is known of them is in the types",
    "OnParts": "it is made when a function is compiled, behind the rules that ask for shapes",
    "_FromUniform": "a base class",
    "GeneratorOfWords": "a generator has no shape",
    "WordsOfGenerator": "it is made when a function is compiled, behind the rules that ask for shapes",
}


def all_ops():
    """The classes of ops that are no scalar ops."""
    return [c for c in op_classes() if not c.__module__.startswith(OTHERS) and not issubclass(c, ScalarOp)]


def makes_nodes(cls):
    """Return whether a class makes nodes, and is not just a base class."""
    return "make_node" in vars(cls) or not is_base(cls)


def test_every_op_infers_shapes():
    without = {cls.__name__ for cls in all_ops() if makes_nodes(cls) and not hasattr(cls, "infer_shape")}
    assert without - set(WITHOUT) == set(), "give them `infer_shape`, or a reason in WITHOUT"
    assert set(WITHOUT) - without == set(), "these have `infer_shape` now"


REWRITTEN = Mode("py", "fast_run")
X = np.array([[0.0, 2.0, np.nan, 2.0], [0.0, 0.0, 1.0, -0.0]])


@pytest.mark.parametrize("value", [X, X > 1, (X > 1).astype(int), X[0], X[:0], X + 1j], ids=str)
def test_nonzero_entries_are_counted(value):
    x = at.tensor(value.dtype.name, shape=(None,) * value.ndim)
    f = aesara.function([x], [v.shape[0] for v in at.nonzero(x)], mode=REWRITTEN)
    assert not any(isinstance(node.op, Nonzero) for node in f.maker.fgraph.apply_nodes)
    assert [int(n) for n in f(value)] == [len(v) for v in np.nonzero(value)]
    native = aesara.function([x], [v.shape[0] for v in at.nonzero(x)])
    assert [int(n) for n in native(value)] == [len(v) for v in np.nonzero(value)]


@pytest.mark.parametrize("axis", [None, 0, -1])
def test_different_entries(axis):
    x = at.dmatrix("x")
    outputs = at.unique(x, return_index=True, return_inverse=True, return_counts=True, axis=axis)
    f = aesara.function([x], [v.shape for v in outputs], mode=REWRITTEN)
    expected = np.unique(X, return_index=True, return_inverse=True, return_counts=True, axis=axis)
    assert [tuple(shape) for shape in f(X)] == [np.shape(np.ravel(v) if k else v) for k, v in enumerate(expected)]
    # The length that does not depend on what is equal needs no sorting.
    other = outputs[2].shape[0] if axis is None else outputs[0].shape[1 - axis % 2]
    f = aesara.function([x], other, mode=REWRITTEN)
    assert not any(isinstance(node.op, Unique) for node in f.maker.fgraph.apply_nodes)
    assert f(X) == (X.size if axis is None else X.shape[1 - axis % 2])


m, v, s, n = at.dmatrix("m"), at.dvector("v"), at.dscalar("s"), at.iscalar("n")
M = np.arange(1.0, 7.0).reshape(2, 3) / 21
SQUARE = np.array([[6.0, 2.0, 1.0], [2.0, 5.0, -1.0], [1.0, -1.0, 4.0]])

#: ops whose shapes other tests need no more than the values, with values for what they depend on
SHAPES = {
    "Det": (linalg.det(m), {m: SQUARE}),
    "CholeskyPullback": (CholeskyPullback()(m, m * 2), {m: SQUARE}),
    "EighGrad": (linalg.EighGrad()(m, v, m, v, m), {m: SQUARE, v: SQUARE[0]}),
    "EigvalshGrad": (linalg.EigvalshGrad()(m, 2 * m, v)[1], {m: SQUARE, v: SQUARE[0]}),
    "PinvWithCutoff": (PinvWithCutoff()(m, s), {m: M, s: 1e-15}),
    "SoftmaxWithBias": (softmax_with_bias(m, v), {m: M, v: M[0]}),
    "ScalarFromTensor": (at.scalar_from_tensor(s), {s: 2.0}),
    "TensorFromScalar": (at.tensor_from_scalar(at.scalar_from_tensor(s)), {s: 2.0}),
    "Shape_i": (Shape_i(1)(m), {m: M}),
    "diagonal of known length": (at.diagonal(at.specify_shape(m, (2, 3))), {m: M}),
    "range of known length": (at.arange(2, 9, 3) + n * 0, {n: 1}),
    "positions of a constant": (at.nonzero(at.constant(M > 0.1))[0] * n, {n: 1}),
    "Print": (Print("shape")(m), {m: M}),
    "MultinomialFromUniform": (MultinomialFromUniform("auto")(m, v, n), {m: M, v: [0.1, 0.9], n: 1}),
    "ChoiceFromUniform": (ChoiceFromUniform("auto")(m, v, n), {m: M, v: [0.1, 0.9, 0.5, 0.2], n: 2}),
}


@pytest.mark.parametrize("name", SHAPES)
def test_shapes_without_values(name):
    output, values = SHAPES[name]
    f = aesara.function(list(values), output.shape, mode=REWRITTEN, on_unused_input="ignore")
    assert not any(node.op == output.owner.op for node in f.maker.fgraph.apply_nodes) or name == "Shape_i"
    computed = aesara.function(list(values), output, mode="FAST_COMPILE", on_unused_input="ignore")(*values.values())
    assert tuple(f(*values.values())) == np.shape(computed)
