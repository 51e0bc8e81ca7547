"""Cross-entropies, softmax with a bias and what belongs to them."""

import numpy as np
import pytest
import scipy.special

import aesara
import aesara.tensor as at
from aesara.gradient import verify_grad
from aesara.graph.fg import FunctionGraph
from aesara.tensor import nnet
from aesara.tensor.nnet import basic as nb
from aesara.tensor.special import LogSoftmax, Softmax, SoftmaxGrad
from tests.closeness import assert_close

RNG = np.random.default_rng(17)
X = RNG.normal(size=(5, 4)) * 3
B = RNG.normal(size=4)
Y = np.array([0, 3, 1, 1, 2])
EXTREME = np.array([[1000.0, -1000.0, 0.0, 2.0], [-2000.0, 2000.0, 1.0, 1.0]])


def both(inputs, outputs):
    """The function by the reference and natively; the latter without calls of Python."""
    native = aesara.function(inputs, outputs)
    assert native._native.report.python_nodes == {}
    return aesara.function(inputs, outputs, mode="FAST_COMPILE"), native


def ops_of(f):
    return [type(node.op) for node in f.maker.fgraph.apply_nodes]


def expected_cost(x, y):
    return -scipy.special.log_softmax(x, axis=1)[np.arange(len(y)), y]


class TestSoftmaxWithBias:
    @pytest.mark.parametrize("dtype", ["float32", "float64"])
    def test_values(self, dtype):
        x, b = at.matrix("x", dtype=dtype), at.vector("b", dtype=dtype)
        out = nb.softmax_with_bias(x, b)
        assert out.type.dtype == dtype
        for f in both([x, b], out):
            for values in (X, EXTREME, X[:0]):
                got = f(values.astype(dtype), B.astype(dtype))
                expected = scipy.special.softmax(values + B, axis=1)
                np.testing.assert_allclose(got, expected, rtol=200 * np.finfo(dtype).eps, atol=1e-30)

    def test_gradient(self, rng):
        verify_grad(nb.softmax_with_bias, [X, B], rng=rng)
        f, native = both(*self.gradient_graph())
        for one, other in zip(f(X, B), native(X, B)):
            np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-14)

    @staticmethod
    def gradient_graph():
        x, b = at.dmatrices("x", "b")[0], at.dvector("b")
        return [x, b], aesara.grad((nb.softmax_with_bias(x, b) ** 2).sum(), [x, b])

    def test_stays_finite_under_a_logarithm(self):
        x, b = at.dmatrix("x"), at.dvector("b")
        cost = at.log(nb.softmax_with_bias(x, b)).sum()
        f = aesara.function([x, b], [cost, *aesara.grad(cost, [x, b])])
        value, dx, db = f(EXTREME, B)
        assert_close(value, scipy.special.log_softmax(EXTREME + B, axis=1).sum())
        assert np.isfinite(dx).all() and np.isfinite(db).all()

    def test_errors(self):
        with pytest.raises(ValueError, match="x must have 2 dim"):
            nb.softmax_with_bias(at.vector(), B)
        with pytest.raises(ValueError, match="element for each column"):
            nb.softmax_with_bias(X, np.zeros(3))
        with pytest.raises(TypeError, match="real numbers"):
            nb.softmax_with_bias(at.cmatrix(), B)
        x, b = at.dmatrix(), at.dvector()
        f = aesara.function([x, b], nb.softmax_with_bias(x, b), mode="FAST_COMPILE")
        with pytest.raises(ValueError, match="length 4"):
            f(X, B[:1])

    def test_static_shape(self):
        x = at.tensor("float64", (None, 4))
        assert nb.softmax_with_bias(x, at.dvector()).type.shape == (None, 4)


class TestCrossentropySoftmax:
    @pytest.mark.parametrize("dtype", ["float32", "float64"])
    @pytest.mark.parametrize("index_dtype", ["int32", "int64", "uint8"])
    def test_values(self, dtype, index_dtype):
        x, b, y = at.matrix("x", dtype=dtype), at.vector("b", dtype=dtype), at.vector("y", dtype=index_dtype)
        outputs = nb.crossentropy_softmax_argmax_1hot_with_bias(x, b, y)
        assert [out.type.dtype for out in outputs] == [dtype, dtype, index_dtype]
        for f in both([x, b, y], outputs):
            for values, classes in ((X, Y), (EXTREME, Y[:2]), (X[:0], Y[:0])):
                cost, probabilities, position = f(values.astype(dtype), B.astype(dtype), classes.astype(index_dtype))
                unit, expected = np.finfo(dtype).eps, scipy.special.softmax(values + B, 1)
                np.testing.assert_allclose(cost, expected_cost(values + B, classes), rtol=200 * unit)
                np.testing.assert_allclose(probabilities, expected, rtol=200 * unit, atol=1e-30)
                np.testing.assert_array_equal(position, np.argmax(values + B, axis=1))

    def test_functions(self):
        cost, probabilities = nb.crossentropy_softmax_1hot(X, Y)
        assert_close(cost.eval(), expected_cost(X, Y))
        assert_close(probabilities.eval(), scipy.special.softmax(X, axis=1))
        for function, arguments, total in (
            (nb.crossentropy_softmax_max_and_argmax_1hot, (X,), X),
            (nb.crossentropy_softmax_max_and_argmax_1hot_with_bias, (X, B), X + B),
        ):
            cost, probabilities, largest, position = [v.eval() for v in function(*arguments, Y)]
            assert_close(cost, expected_cost(total, Y))
            assert_close(largest, scipy.special.softmax(total, axis=1).max(axis=1))
            np.testing.assert_array_equal(position, total.argmax(axis=1))
        assert_close(nb.crossentropy_softmax_1hot_with_bias(X, B, Y)[0].eval(), expected_cost(X + B, Y))

    @pytest.mark.slow
    def test_gradients(self, rng):
        def cost(x, b):
            return nb.crossentropy_softmax_argmax_1hot_with_bias(x, b, Y)[0]

        def both_outputs(x, b):
            nll, probabilities, _ = nb.crossentropy_softmax_argmax_1hot_with_bias(x, b, Y)
            return nll + (probabilities**2).sum(axis=1)

        verify_grad(cost, [X, B], rng=rng)
        verify_grad(both_outputs, [X, B], rng=rng)
        verify_grad(
            lambda dy, sm: nb.crossentropy_softmax_1hot_with_bias_dx(dy, sm, Y), [rng.normal(size=5), X], rng=rng
        )
        verify_grad(lambda dy, sm: nb.crossentropy_softmax_1hot_with_bias_dx(dy, sm, Y), [np.array(0.5), X], rng=rng)

    def test_second_derivative(self):
        x = at.dvector("x")
        total = nb.crossentropy_softmax_1hot(x.reshape((2, 2)), np.array([0, 1]))[0].sum()
        hessian = aesara.function([x], aesara.hessian(total, x))
        p = scipy.special.softmax(np.array([[0.1, 0.5], [2.0, 1.0]]), axis=1)
        expected = np.zeros((4, 4))
        for k in range(2):
            expected[2 * k : 2 * k + 2, 2 * k : 2 * k + 2] = np.diag(p[k]) - np.outer(p[k], p[k])
        np.testing.assert_allclose(hessian(np.array([0.1, 0.5, 2.0, 1.0])), expected, rtol=1e-10, atol=1e-14)

    def test_forward_mode(self, rng):
        x, t = at.dmatrix("x"), at.dmatrix("t")
        cost = nb.crossentropy_softmax_1hot(x, Y)[0]
        T = rng.normal(size=X.shape)
        forward = aesara.function([x, t], aesara.Rop(cost, x, t))(X, T)
        p = scipy.special.softmax(X, axis=1)
        p[np.arange(5), Y] -= 1
        np.testing.assert_allclose(forward, (p * T).sum(axis=1), rtol=1e-10)

    @pytest.mark.parametrize("classes", [[0, 4, 0, 0, 0], [0, 0, -1, 0, 0], [0, 1]])
    def test_classes_out_of_bounds(self, classes):
        x, y, dy = at.dmatrix("x"), at.lvector("y"), at.dvector("dy")
        for outputs in (
            nb.crossentropy_softmax_1hot(x, y)[0],
            nb.crossentropy_softmax_1hot_with_bias_dx(dy, x, y),
            nb.crossentropy_categorical_1hot(x, y),
            nb.crossentropy_categorical_1hot_grad(dy, x, y),
        ):
            inputs = [x, y, dy]
            for mode in (None, "FAST_COMPILE"):
                f = aesara.function(inputs, outputs, mode=mode, on_unused_input="ignore")
                with pytest.raises((ValueError, IndexError)):
                    f(X, classes, np.ones(5))

    def test_errors(self):
        with pytest.raises(ValueError, match="vector of integers"):
            nb.crossentropy_softmax_1hot(X, np.array([0.5]))
        with pytest.raises(ValueError, match="one class for each row"):
            nb.crossentropy_softmax_1hot(X, np.array([0, 1]))
        p, two = at.tensor("float64", (5, 4)), at.tensor("int64", (2,))
        for build in (
            lambda: nb.crossentropy_softmax_argmax_1hot_with_bias(p, B, two),
            lambda: nb.crossentropy_softmax_1hot_with_bias_dx(at.dvector(), p, two),
            lambda: nb.crossentropy_categorical_1hot(p, two),
            lambda: nb.crossentropy_categorical_1hot_grad(at.dvector(), p, two),
        ):
            with pytest.raises(ValueError, match="one class for each row"):
                build()
        with pytest.raises(TypeError, match="coding_dist must have 2 dim"):
            nb.crossentropy_categorical_1hot(X[0], Y)
        with pytest.raises(TypeError, match="vector of integers"):
            nb.crossentropy_categorical_1hot(X, np.array([0.5]))
        with pytest.raises(TypeError, match="no parameters"):
            nb.CrossentropySoftmaxArgmax1HotWithBias(view=1)


class TestCategoricalCrossentropy:
    def test_values(self):
        p = scipy.special.softmax(X, axis=1)
        q = scipy.special.softmax(X[::-1], axis=1)
        assert_close(nb.categorical_crossentropy(p, q).eval(), -(q * np.log(p)).sum(axis=1))
        assert_close(nb.categorical_crossentropy(p, Y).eval(), -np.log(p[np.arange(5), Y]))
        p3, y2 = p[:4].reshape(2, 2, 4), Y[:4].reshape(2, 2)
        assert_close(nb.categorical_crossentropy(p3, p3).eval(), -(p3 * np.log(p3)).sum(axis=2))
        assert_close(
            nb.categorical_crossentropy(p3, y2).eval(), -np.log(np.take_along_axis(p3, y2[..., None], 2))[..., 0]
        )

    @pytest.mark.parametrize("one_hot", [False, True])
    @pytest.mark.parametrize("softmax", [nnet.softmax, lambda x: nb.softmax_with_bias(x, np.zeros(4))])
    def test_of_a_softmax_with_extreme_inputs(self, one_hot, softmax):
        x = at.dmatrix("x")
        if one_hot:
            y, classes = at.dmatrix("y"), np.eye(4)[[1, 2]]
        else:
            y, classes = at.lvector("y"), np.array([1, 2])
        cost = nb.categorical_crossentropy(softmax(x), y).mean()
        f = aesara.function([x, y], [cost, aesara.grad(cost, x)])
        assert f._native.report.python_nodes == {}
        value, gradient = f(EXTREME, classes)
        assert_close(value, expected_cost(EXTREME, np.array([1, 2])).mean())
        assert_close(gradient, (scipy.special.softmax(EXTREME, axis=1) - np.eye(4)[[1, 2]]) / 2)

    def test_index_of_a_logarithm_with_extreme_inputs(self):
        x, y = at.dmatrix("x"), at.lvector("y")
        cost = -at.log(nnet.softmax(x))[at.arange(y.shape[0]), y].mean()
        f = aesara.function([x, y], [cost, aesara.grad(cost, x)])
        value, gradient = f(EXTREME, [1, 2])
        assert_close(value, expected_cost(EXTREME, np.array([1, 2])).mean())
        assert_close(gradient, (scipy.special.softmax(EXTREME, axis=1) - np.eye(4)[[1, 2]]) / 2)

    def test_gradients(self, rng):
        p = rng.uniform(0.2, 1.0, size=(5, 4))
        verify_grad(lambda q: nb.categorical_crossentropy(q, Y), [p], rng=rng, eps=1e-7)
        verify_grad(lambda q: nb.categorical_crossentropy(q, p[::-1]), [p], rng=rng, eps=1e-7)
        verify_grad(
            lambda g, q: nb.crossentropy_categorical_1hot_grad(g, q, Y), [rng.normal(size=5), p], rng=rng, eps=1e-7
        )

    def test_errors(self):
        with pytest.raises(TypeError, match="rank mismatch"):
            nb.categorical_crossentropy(at.tensor3(), at.lvector())
        with pytest.raises(TypeError, match="rank mismatch"):
            nb.categorical_crossentropy(at.matrix(), at.dvector())


class TestBinary:
    def test_values(self, rng):
        o, t = np.array([0.2, 0.9, 0.5]), np.array([1.0, 0.0, 0.25])
        expected = -(t * np.log(o) + (1 - t) * np.log(1 - o))
        np.testing.assert_allclose(nb.binary_crossentropy(o, t).eval(), expected, rtol=1e-14)
        verify_grad(nb.binary_crossentropy, [o, t], rng=rng, eps=1e-7)

    def test_with_a_sigmoid(self):
        x = np.array([-1000.0, -40.0, -1.0, 0.0, 1.0, 40.0, 1000.0])
        for t in (0.0, 0.25, 1.0):
            expected = t * np.logaddexp(0, -x) + (1 - t) * np.logaddexp(0, x)
            v = at.dvector("v")
            for cost in (nb.sigmoid_binary_crossentropy(v, t), nb.binary_crossentropy(at.sigmoid(v), t)):
                f = aesara.function([v], [cost, aesara.grad(cost.sum(), v)])
                assert f._native.report.python_nodes == {}
                value, gradient = f(x)
                np.testing.assert_allclose(value, expected, rtol=1e-14)
                np.testing.assert_allclose(gradient, scipy.special.expit(x) - t, rtol=1e-12, atol=1e-15)


class TestRules:
    def test_crossentropy_of_softmax(self):
        x, b, y = at.dmatrix(), at.dvector(), at.lvector()
        for coding, rewriter in (
            (nnet.softmax(x), nb.crossentropy_to_crossentropy_with_softmax),
            (nb.softmax_with_bias(x, b), nb.crossentropy_to_crossentropy_with_softmax_with_bias),
        ):
            graph = FunctionGraph([x, b, y], [nb.crossentropy_categorical_1hot(coding, y)], clone=False)
            rewriter.rewrite(graph)
            assert isinstance(graph.outputs[0].owner.op, nb.CrossentropySoftmaxArgmax1HotWithBias)

    def test_no_composed_op_is_left(self):
        x, b, y = at.dmatrix(), at.dvector(), at.lvector()
        cost = nb.categorical_crossentropy(nb.softmax_with_bias(x, b), y).mean()
        f = aesara.function([x, b, y], [cost, *aesara.grad(cost, [x, b])])
        assert not any(issubclass(op, nnet.composed.ComposedOp) for op in ops_of(f))
        assert LogSoftmax in ops_of(f)

    def test_argmax_pushdown(self):
        x = at.dmatrix("x")
        for inner in (nnet.softmax(x), nb.softmax_with_bias(x, np.zeros(4)), at.tanh(x), at.exp(x)):
            f = aesara.function([x], at.argmax(inner, axis=1))
            assert not {Softmax, nb.SoftmaxWithBias} & set(ops_of(f))
            np.testing.assert_array_equal(f(X), X.argmax(axis=1))
        f = aesara.function([x], at.argmax(nnet.softmax(x), axis=0))
        assert Softmax in ops_of(f)
        np.testing.assert_array_equal(f(X), scipy.special.softmax(X, axis=1).argmax(axis=0))

    def test_rewriters_that_are_not_passes(self):
        x, b, y, n = at.dmatrix(), at.dvector(), at.lvector(), at.lscalar()
        graph = FunctionGraph([x, b], [nnet.softmax(x + b)], clone=False)
        (replacement,) = nb.local_softmax_with_bias.transform(graph, graph.outputs[0].owner)
        assert isinstance(replacement.owner.op, nb.SoftmaxWithBias)
        assert_close(replacement.eval({x: X, b: B}), scipy.special.softmax(X + B, axis=1))
        together = [nb.softmax_with_bias(x, b), nb.crossentropy_softmax_1hot_with_bias(x, b, y)[0]]
        graph = FunctionGraph([x, b, y], together, clone=False)
        (replacement,) = nb.graph_merge_softmax_with_crossentropy_softmax.transform(graph, together[0].owner)
        assert replacement is together[1].owner.outputs[1]
        out = nb.crossentropy_softmax_1hot_with_bias_dx(at.alloc(2.0, n), x, y)
        graph = FunctionGraph([n, x, y], [out], clone=False)
        rewriter = nb.local_useless_crossentropy_softmax_1hot_with_bias_dx_alloc
        (replacement,) = rewriter.transform(graph, out.owner)
        assert replacement.owner.inputs[0].type.ndim == 0
        np.testing.assert_array_equal(replacement.eval({x: X, y: Y, n: 5}), out.eval({x: X, y: Y, n: 5}))
        with pytest.raises(AssertionError):
            replacement.eval({x: X, y: Y, n: 4})


class TestPrepend:
    @pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
    def test_values(self, dtype):
        mat, val = at.matrix("mat", dtype=dtype), at.scalar("val", dtype=dtype)
        outputs = [
            nb.prepend_0_to_each_row(mat),
            nb.prepend_1_to_each_row(mat),
            nb.prepend_scalar_to_each_row(val, mat),
        ]
        assert {out.type.dtype for out in outputs} == {dtype}
        for f in both([mat, val], outputs):
            for values in (X, X[:0], X[:, :0]):
                values = values.astype(dtype)
                for out, number in zip(f(values, 7), (0, 1, 7)):
                    np.testing.assert_array_equal(out, np.insert(values, 0, number, axis=1))

    def test_gradients(self, rng):
        verify_grad(nb.Prepend_scalar_constant_to_each_row(2.5), [X], rng=rng)
        verify_grad(nb.prepend_scalar_to_each_row, [np.array(0.5), X], rng=rng)

    def test_static_shapes_and_errors(self):
        x = at.tensor("float64", (2, 3))
        assert nb.prepend_0_to_each_row(x).type.shape == (2, 4)
        assert nb.prepend_scalar_to_each_row(1.0, x).type.shape == (2, 4)
        with pytest.raises(TypeError, match="matrix is expected"):
            nb.prepend_0_to_each_row(at.vector())
        with pytest.raises(TypeError, match="must be a scalar"):
            nb.prepend_scalar_to_each_row(at.vector(), x)


def test_classes_of_softmax_are_where_they_were():
    assert (nb.Softmax, nb.SoftmaxGrad) == (Softmax, SoftmaxGrad)


def test_confusion_matrix():
    actual, pred = at.lvector("actual"), at.lvector("pred")
    f = aesara.function([actual, pred], nb.confusion_matrix(actual, pred))
    matrix, order = f([2, 0, 2, 2, 0, 1], [0, 0, 2, 2, 0, 2])
    np.testing.assert_array_equal(matrix, [[2, 0, 0], [0, 0, 1], [1, 0, 2]])
    np.testing.assert_array_equal(order, [0, 1, 2])
    with pytest.raises(ValueError, match="must be a vector"):
        nb.confusion_matrix(at.lmatrix(), pred)


class TestHierarchicalSoftmax:
    W1, B1 = RNG.normal(size=(3, 4)), RNG.normal(size=4)
    W2, B2 = RNG.normal(size=(4, 3, 5)), RNG.normal(size=(4, 5))
    FEATURES = RNG.normal(size=(6, 3))

    def expected(self):
        classes = scipy.special.softmax(self.FEATURES @ self.W1 + self.B1, axis=1)
        within = scipy.special.softmax(np.einsum("bf,cfo->bco", self.FEATURES, self.W2) + self.B2, axis=2)
        return (classes[:, :, None] * within).reshape(6, 20)

    def test_all_outputs(self):
        x = at.dmatrix("x")
        for f in both([x], nb.h_softmax(x, 6, 18, 4, 5, self.W1, self.B1, self.W2, self.B2)):
            np.testing.assert_allclose(f(self.FEATURES), self.expected()[:, :18], rtol=1e-12)

    @pytest.mark.parametrize("column", [False, True])
    def test_targets(self, column):
        targets = np.array([0, 19, 7, 7, 12, 5])
        x, target = at.dmatrix("x"), at.lmatrix("t") if column else at.lvector("t")
        for f in both([x, target], nb.h_softmax(x, 6, 20, 4, 5, self.W1, self.B1, self.W2, self.B2, target)):
            got = f(self.FEATURES, targets[:, None] if column else targets)
            np.testing.assert_allclose(got, self.expected()[np.arange(6), targets], rtol=1e-12)

    def test_gradients(self, rng):
        def cost(x, W1, b1, W2, b2):
            return at.log(nb.h_softmax(x, 6, 20, 4, 5, W1, b1, W2, b2, np.array([0, 19, 7, 7, 12, 5]))).sum()

        verify_grad(cost, [self.FEATURES, self.W1, self.B1, self.W2, self.B2], rng=rng)


GRADIENTS = [nb.crossentropy_softmax_1hot_with_bias_dx, nb.crossentropy_categorical_1hot_grad]


@pytest.mark.parametrize("op", GRADIENTS, ids=str)
def test_a_gradient_of_length_one_is_for_all_rows_if_its_type_says_so(op):
    matrix, classes = scipy.special.softmax(X, axis=1), at.constant(Y)
    x, g = at.dmatrix("x"), at.dvector("g")
    row = at.tensor(dtype="float64", shape=(1,), name="row")
    for mode in ("FAST_COMPILE", "FAST_RUN"):
        whole = aesara.function([g, x], op(g, x, classes), mode=mode)
        one = aesara.function([row, x], op(row, x, classes), mode=mode)
        assert_close(one([2.0], matrix), whole(np.full(5, 2.0), matrix))
        for wrong in (np.ones(1), np.ones(2), np.ones(6)):
            with pytest.raises(ValueError, match="(?i)dimension mismatch"):
                whole(wrong, matrix)
