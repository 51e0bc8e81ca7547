"""`Blockwise` and `vectorize`: any op, and any function of arrays, for each member of a batch."""

import pickle

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.gradient import DisconnectedInputError, verify_grad
from aesara.graph.disconnected_type import DisconnectedType
from aesara.graph.nodes import Apply
from aesara.graph.op import Op
from aesara.graph.replace import vectorize_graph
from aesara.graph.traversal import applys_between
from aesara.graph.vectorization import vectorize_node
from aesara.tensor.creation.ranges import ARange
from aesara.tensor.products.dot import Dot
from aesara.tensor.sequences.convolve import Convolve
from aesara.tensor.shapes.repeating import Repeat
from aesara.tensor.sort import SortOp
from aesara.tensor.vectorization.blockwise import Blockwise
from aesara.tensor.vectorization.fallback import vectorize_by_blockwise
from aesara.tensor.vectorization.gufunc_signature import parse_signature, signature_from_ndims
from tests.closeness import assert_close

MODES = ["FAST_COMPILE", None]


class RowsTimesVector(Op):
    """A matrix times a vector, and the sum of the matrix; integers become floats."""

    __props__ = ()
    gufunc_signature = "(m,n),(n)->(m),()"

    def make_node(self, a, x):
        a, x = at.as_tensor_variable(a), at.as_tensor_variable(x)
        a, x = (t.astype("float64") if t.type.dtype.startswith("int") else t for t in (a, x))
        return Apply(
            self, [a, x], [at.TensorType(a.type.dtype, (a.type.shape[0],))(), at.TensorType(a.type.dtype, ())()]
        )

    def perform(self, node, inputs, output_storage):
        a, x = inputs
        assert a.ndim == 2 and x.ndim == 1
        output_storage[0][0] = a @ x
        output_storage[1][0] = np.asarray(a.sum())

    def infer_shape(self, fgraph, node, shapes):
        return [(shapes[0][0],), ()]

    def L_op(self, inputs, outputs, output_grads):
        a, x = inputs
        g_y, g_sum = output_grads
        of_a, of_x = a.zeros_like(), x.zeros_like()
        if not isinstance(g_y.type, DisconnectedType):
            of_a, of_x = of_a + at.outer(g_y, x), at.dot(a.T, g_y)
        if not isinstance(g_sum.type, DisconnectedType):
            of_a = of_a + g_sum
        return [of_a, of_x]


class WithTangent(RowsTimesVector):
    def R_op(self, inputs, eval_points):
        (a, x), (da, dx) = inputs, eval_points
        terms = []
        if da is not None:
            terms.append(at.dot(da, x))
        if dx is not None:
            terms.append(at.dot(a, dx))
        return [sum(terms), None if da is None else da.sum()]


class WithRule(RowsTimesVector):
    """One whose rule knows some of the outputs as operations on the batch."""

    __props__ = ("known",)

    def __init__(self, *known):
        self.known = known


@vectorize_node.register(WithRule)
def _(op, node, a, x):
    by_members = vectorize_by_blockwise(op, node, a, x).outputs
    on_batches = [(a * x.dimshuffle(0, "x", 1)).sum(axis=2), a.sum(axis=(1, 2))]
    return [on_batches[k] if k in op.known else by_members[k] for k in range(2)]


class Twice(Op):
    """A vector, and the same behind it."""

    __props__ = ()

    def make_node(self, x):
        x = at.as_tensor_variable(x)
        return Apply(self, [x], [at.tensor(x.type.dtype, shape=(None,))])

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = np.concatenate([inputs[0], inputs[0]])


rows_times_vector = Blockwise(RowsTimesVector())
A, X = np.random.default_rng(0).normal(size=(2, 5, 3, 4)), np.random.default_rng(1).normal(size=(5, 4))


class TestBlockwise:
    @pytest.mark.parametrize("mode", MODES)
    def test_values(self, mode):
        a, x = at.dtensor4("a"), at.dmatrix("x")
        y, total = rows_times_vector(a, x)
        assert (y.ndim, total.ndim) == (3, 2)
        f = aesara.function([a, x], [y, total, y.shape, total.shape], mode=mode)
        found = f(A, X)
        assert_close(found[0], np.einsum("...mn,...n->...m", A, X))
        assert_close(found[1], A.sum((-1, -2)))
        assert tuple(found[2]) == (2, 5, 3) and tuple(found[3]) == (2, 5)

    def test_shape_needs_no_values(self):
        a, x = at.dtensor3("a"), at.dvector("x")
        f = aesara.function([a, x], rows_times_vector(a, x)[0].shape, on_unused_input="ignore")
        assert not any(isinstance(node.op, Blockwise) for node in f.maker.fgraph.apply_nodes)
        assert tuple(f(A[0], X[0])) == (5, 3)

    def test_new_lengths_need_no_values(self):
        a, x = at.dmatrix("a"), at.dvector("x")
        node = Blockwise(Convolve("full"), "(n),(m)->(k)")(a, x).owner
        (sizes,) = node.op.infer_shape(None, node, [tuple(a.shape), tuple(x.shape)])
        assert node not in applys_between([a, x], sizes)
        assert [size.eval({a: np.ones((7, 3)), x: np.ones(2)}, on_unused_input="ignore") for size in sizes] == [7, 4]

    def test_shape_that_depends_on_values(self):
        n = at.lvector("n")
        y = Blockwise(ARange("int64"), "(),(),()->(k)")(0, n, 1)
        f = aesara.function([n], [y, y.shape])
        value, shape = f([3, 3])
        np.testing.assert_array_equal(value, [[0, 1, 2]] * 2)
        assert tuple(shape) == (2, 3)
        with pytest.raises(ValueError, match="all must have the same"):
            f([3, 4])

    def test_static_shapes(self):
        a = at.tensor("float64", shape=(2, 1, 3, None))
        x = at.tensor("float64", shape=(5, 4))
        y, total = rows_times_vector(a, x)
        assert (y.type.shape, total.type.shape) == ((2, 5, 3), (2, 5))
        full = Blockwise(Convolve("full"), "(n),(m)->(k)")
        assert full(at.tensor("float64", shape=(7, 3)), at.tensor("float64", shape=(2,))).type.shape == (7, 4)

    def test_no_batch(self):
        a, x = at.dmatrix("a"), at.dvector("x")
        f = aesara.function([a, x], rows_times_vector(a, x)[0])
        assert isinstance(f.maker.fgraph.outputs[0].owner.op, RowsTimesVector)
        assert_close(f(A[0, 0], X[0]), A[0, 0] @ X[0])

    def test_inputs_are_converted(self):
        y, _ = rows_times_vector(np.ones((2, 3, 4), dtype="int64"), at.lvector("x"))
        assert y.dtype == "float64"
        assert_close(y.eval({y.owner.inputs[1].owner.inputs[0]: [1, 2, 3, 4]}), np.full((2, 3), 10.0))

    @pytest.mark.parametrize("mode", MODES)
    def test_empty_batch(self, mode):
        a, x = at.dtensor3("a"), at.dvector("x")
        f = aesara.function([a, x], rows_times_vector(a, x), mode=mode)
        y, total = f(np.empty((0, 3, 4)), np.ones(4))
        assert (y.shape, total.shape) == ((0, 3), (0,))

    def test_empty_batch_of_unknown_core_shape(self):
        a = at.dmatrix("a")
        f = aesara.function([a], Blockwise(Twice(), "(n)->(m)")(a))
        np.testing.assert_array_equal(f(np.ones((2, 1))), np.ones((2, 2)))
        with pytest.raises(ValueError, match="batch is empty"):
            f(np.empty((0, 3)))

    def test_reason_for_python(self):
        a = at.dmatrix("a")
        f = aesara.function([a], Blockwise(Twice(), "(n)->(m)")(a))
        (reason,) = f._native.report.python_nodes.values()
        assert reason == "Twice has no rule for batches (vectorize_node): it is called for each member"

    def test_shape_without_infer_shape(self):
        a = at.dmatrix("a")
        f = aesara.function([a], Blockwise(Twice(), "(n)->(m)")(a).shape)
        assert tuple(f(np.ones((2, 3)))) == (2, 6)

    def test_strided_inputs(self):
        a, x = at.dtensor4("a"), at.dmatrix("x")
        f = aesara.function([a, x], rows_times_vector(a, x)[0])
        assert_close(f(A[:, ::-1], X[::-1]), np.einsum("...mn,...n->...m", A[:, ::-1], X[::-1]))

    def test_gradient(self):
        rng = np.random.default_rng(3)
        verify_grad(lambda a, x: rows_times_vector(a, x)[0], [A, X], rng=rng)
        verify_grad(lambda a, x: sum(out.sum() for out in rows_times_vector(a, x)), [A[0], X[0]], rng=rng)
        verify_grad(lambda a, x: rows_times_vector(a, x)[0], [A[:1], X], rng=rng)
        verify_grad(lambda a: rows_times_vector(a, X)[1], [A], rng=rng)
        verify_grad(lambda x: rows_times_vector(A, x)[0] ** 2, [X[:1]], rng=rng)

    def test_second_derivatives(self):
        a, x = at.dtensor3("a"), at.dmatrix("x")
        cost = (rows_times_vector(a, x)[0] ** 3).sum()
        (g,) = aesara.grad(cost, [x])
        value = aesara.function([a, x], aesara.grad((g**2).sum(), a))(A[0], X)
        step = np.zeros_like(A[0])
        step[1, 2, 3] = 1e-6
        f = aesara.function([a, x], (g**2).sum())
        np.testing.assert_allclose(value[1, 2, 3], (f(A[0] + step, X) - f(A[0] - step, X)) / 2e-6, rtol=1e-6)

    @pytest.mark.parametrize("op", [RowsTimesVector(), WithTangent()])
    def test_forward_mode(self, op):
        a, x, da, dx = at.dtensor4("a"), at.dmatrix("x"), at.dtensor4("da"), at.dmatrix("dx")
        tangents = aesara.Rop(Blockwise(op)(a, x), [a, x], [da, dx])
        y, total = aesara.function([a, x, da, dx], tangents, on_unused_input="ignore")(A, X, A + 1, X - 2)
        assert_close(y, np.einsum("...mn,...n->...m", A + 1, X) + np.einsum("...mn,...n->...m", A, X - 2))
        assert_close(total, (A + 1).sum((-1, -2)))
        only_x = aesara.Rop(Blockwise(op)(a, x)[0], x, dx)
        value = aesara.function([a, x, dx], only_x, on_unused_input="ignore")(A, X, X)
        assert_close(value, np.einsum("...mn,...n->...m", A, X))

    def test_connection_pattern(self):
        x, k = at.dmatrix("x"), at.lscalar("k")
        y = Blockwise(SortOp("quicksort"), "(n),()->(n)")(x, -1)
        assert y.owner.op.connection_pattern(y.owner) == [[True], [False]]
        z = Blockwise(Repeat(0), "(n),()->(k)")(x, k)
        with pytest.raises(DisconnectedInputError):
            aesara.grad(z.sum(), k)

    def test_vectorized_again(self):
        a, x = at.dtensor3("a"), at.dvector("x")
        y = rows_times_vector(a, x)[0]
        more, rows = at.dtensor4("more"), at.dmatrix("rows")
        new = vectorize_graph(y, {x: rows})
        assert_close(new.eval({a: A[0], rows: X[:2]}), np.einsum("bmn,cn->cbm", A[0], X[:2]))
        new = vectorize_graph(y, {a: more, x: rows})
        assert_close(new.eval({more: A, rows: X[:2]}), np.einsum("cbmn,cn->cbm", A, X[:2]))

    def test_ops_with_a_rule_run_natively(self):
        a, b = at.dtensor3("a"), at.dmatrix("b")
        y = Blockwise(Dot(), "(m,n),(n,k)->(m,k)")(a, b)
        f = aesara.function([a, b], y)
        assert not any(isinstance(node.op, Blockwise) for node in f.maker.fgraph.apply_nodes)
        assert_close(f(A[0], A[1, 0].T), A[0] @ A[1, 0].T)

    @pytest.mark.parametrize("known", [(), (0,), (1,), (0, 1)])
    def test_rules_that_do_not_know_all_outputs(self, known, capsys):
        """The op stays, and the rule is not tried again and again on what it has made."""
        a, x = at.dtensor3("a"), at.dmatrix("x")
        f = aesara.function([a, x], Blockwise(WithRule(*known))(a, x))
        assert "stopped" not in capsys.readouterr().err
        left = [node for node in f.maker.fgraph.apply_nodes if isinstance(node.op, Blockwise)]
        assert len(left) == (known != (0, 1))
        rows, totals = f(A[0], X)
        assert_close(rows, np.einsum("bmn,bn->bm", A[0], X))
        assert_close(totals, A[0].sum(axis=(1, 2)))

    def test_equality_and_pickling(self):
        op = Blockwise(SortOp("quicksort"), "(n),()->(n)")
        assert op == Blockwise(SortOp("quicksort"), "(n),()->(n)") and op != Blockwise(
            SortOp("heapsort"), "(n),()->(n)"
        )
        assert hash(op) == hash(pickle.loads(pickle.dumps(op)))
        assert str(op) == "Blockwise{SortOp{quicksort, None}, (n),()->(n)}"
        assert str(Blockwise(Dot(), "(n),(n)->()", name="inner")) == "inner"

    def test_errors_of_the_op(self):
        with pytest.raises(TypeError, match="must be an Op"):
            Blockwise("dot", "()->()")
        with pytest.raises(TypeError, match="cannot be a Blockwise"):
            Blockwise(rows_times_vector)
        with pytest.raises(ValueError, match="gufunc_signature"):
            Blockwise(Dot())
        with pytest.raises(ValueError, match="signature"):
            Blockwise(Dot(), "n,n->()")
        with pytest.raises(NotImplementedError, match="in place"):
            Blockwise(InPlace(), "()->()")

    def test_errors_of_nodes(self):
        a, x = at.dtensor3("a"), at.dvector("x")
        with pytest.raises(TypeError, match="takes 2 inputs"):
            rows_times_vector(a)
        with pytest.raises(ValueError, match="at least the 2 core"):
            rows_times_vector(x, x)
        with pytest.raises(ValueError, match="core dimension n has size 5 in input 1, but 4 in input 0"):
            rows_times_vector(at.tensor("float64", shape=(2, 3, 4)), at.tensor("float64", shape=(5,)))
        with pytest.raises(ValueError, match="broadcast"):
            rows_times_vector(at.tensor("float64", shape=(2, 3, 4)), at.tensor("float64", shape=(3, 4)))
        with pytest.raises(ValueError, match="does not fit"):
            Blockwise(RowsTimesVector(), "(m,n),(n)->(m)")(a, x)
        with pytest.raises(ValueError, match="output 0"):
            Blockwise(RowsTimesVector(), "(m,n),(n)->(),()")(a, x)

    @pytest.mark.parametrize("mode", MODES)
    def test_errors_of_values(self, mode):
        a, x = at.dtensor3("a"), at.dmatrix("x")
        f = aesara.function([a, x], rows_times_vector(a, x), mode=mode)
        with pytest.raises(ValueError, match="core dimension n"):
            f(np.ones((2, 3, 4)), np.ones((2, 5)))
        with pytest.raises(ValueError, match="batch dimension 0"):
            f(np.ones((2, 3, 4)), np.ones((1, 4)))


class InPlace(Op):
    destroy_map = {0: [0]}


class TestSignature:
    @pytest.mark.parametrize(
        "text, parsed",
        [
            ("()->()", (((),), ((),))),
            ("(m,n),(n)->(m)", ((("m", "n"), ("n",)), (("m",),))),
            (" ( m , n ) , () -> (m) , (3) ", ((("m", "n"), ()), (("m",), ("3",)))),
            ("->(n)", ((), (("n",),))),
        ],
    )
    def test_signatures_are_parsed(self, text, parsed):
        assert parse_signature(text) == parsed

    @pytest.mark.parametrize("text", ["", "()", "()->", "n->()", "(n)(m)->()", "(n,)->()", "()->()->()", "(a b)->()"])
    def test_malformed_signatures_raise(self, text):
        with pytest.raises(ValueError, match="signature"):
            parse_signature(text)

    def test_signatures_must_be_text(self):
        with pytest.raises(TypeError):
            parse_signature(3)

    def test_signature_from_ndims_names_dimensions(self):
        assert signature_from_ndims([2, 0, 1], [1, 0]) == "(i00,i01),(),(i20)->(o00),()"


class TestVectorize:
    def test_scalars(self):
        f = at.vectorize(lambda x, y: at.switch(x > y, x - y, x + y))
        a, b = [1.0, 2.0, 3.0, 4.0], 2.0
        assert_close(f(a, b).eval(), np.vectorize(lambda x, y: x - y if x > y else x + y)(a, b))

    def test_against_numpy(self):
        def centered(x, y):
            return x - y.mean(), (x * x.sum())[1:]

        ours = at.vectorize(centered, signature="(n),(k)->(n),(m)")
        x, y = A[0], X[:3]
        expected = np.vectorize(centered, signature="(n),(k)->(n),(m)")(x, y)
        found = ours(x, at.constant(y))
        assert isinstance(found, list)
        for a, b in zip(found, expected):
            assert_close(a.eval(), b)

    def test_gradient(self):
        f = at.vectorize(lambda x: at.special.softmax(x) ** 2, signature="(n)->(n)")
        verify_grad(f, [A[0]], rng=np.random.default_rng(0))

    def test_several_and_single(self):
        assert isinstance(at.vectorize(lambda x: [x, x])(at.dvector()), list)
        assert at.vectorize(lambda x: x + 1)(at.dvector()).ndim == 1

    def test_errors(self):
        f = at.vectorize(lambda x: x, signature="(n)->()")
        with pytest.raises(ValueError, match="promises"):
            f(at.dmatrix())
        with pytest.raises(TypeError, match="takes 1 inputs"):
            f(at.dmatrix(), at.dmatrix())
        with pytest.raises(ValueError, match="at least 1"):
            f(at.dscalar())
        g = at.vectorize(at.dot, signature="(n),(n)->()")
        with pytest.raises(ValueError, match="core dimension n"):
            g(at.tensor("float64", shape=(3,)), at.tensor("float64", shape=(4,)))
        with pytest.raises(ValueError, match="signature"):
            at.vectorize(at.exp, signature="n")
