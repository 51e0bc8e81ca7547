"""Programs that go wrong when functions run: they take the mode, unless they need a certain one."""

from __future__ import annotations

import numpy as np
import scipy.sparse
from catalogue import Doubled, wrong

import aesara
import aesara.tensor as at
from aesara.compile.io import In
from aesara.compile.nanguardmode import NanGuardMode
from aesara.compile.ops import as_op
from aesara.errors import NanFound
from aesara.gradient import grad
from aesara.graph.nodes import Apply
from aesara.graph.op import Op
from aesara.raise_op import Assert
from aesara.tensor.shape import specify_shape


@wrong("run", TypeError, "index 0", "input `x` of type TensorType(int64, (?,))", "[1.5, 2.5]", "allow_input_downcast")
def argument_of_another_dtype(mode):
    x = at.lvector("x")
    aesara.function([x], x + 1, mode=mode)([1.5, 2.5])


@wrong("run", TypeError, "input `x`", "expected 2, got 1 with shape (2,)")
def argument_of_another_rank(mode):
    x = at.dmatrix("x")
    aesara.function([x], x + 1, mode=mode)([1.0, 2.0])


@wrong("run", TypeError, "input `x`", "((3,))", "((2,))")
def argument_of_another_size(mode):
    x = at.tensor("float64", shape=(3,), name="x")
    aesara.function([x], x + 1, mode=mode)([1.0, 2.0])


@wrong("run", TypeError, "Missing required input: y", "x, y")
def argument_is_missing(mode):
    x, y = at.dscalar("x"), at.dscalar("y")
    aesara.function([x, y], x + y, mode=mode)(1.0)


@wrong("run", TypeError, '"increment"', "takes 1, got 2")
def too_many_arguments(mode):
    x = at.dscalar("x")
    aesara.function([x], x + 1, mode=mode, name="increment")(1.0, 2.0)


@wrong("run", TypeError, "Unknown input or state: y", "1 input: x")
def unknown_name_of_an_argument(mode):
    x = at.dscalar("x")
    aesara.function([x], x + 1, mode=mode)(y=1.0)


@wrong("run", TypeError, "dtype=float64 (got float32)")
def strict_argument(mode):
    x = at.dvector("x")
    aesara.function([In(x, strict=True)], x + 1, mode=mode)(np.zeros(2, "float32"))


@wrong("run", ValueError, "2", "3", "(x, y)", "[(2,), (3,)]", "specify_broadcastable")
def sum_of_different_sizes(mode):
    x, y = at.dvector("x"), at.dvector("y")
    z = x + y  # here
    aesara.function([x, y], z, mode=mode)(np.zeros(2), np.zeros(3))


@wrong("run", ValueError, "input 0 has", "input 1 has", "Inputs shapes: [(2,), (3,)]")
def fused_sum_of_different_sizes(mode):
    x, y = at.dvector("x"), at.dvector("y")
    z = at.tanh(x) * 2
    z = at.exp(z + y) - 1  # here
    aesara.function([x, y], z.sum(), mode=mode)(np.zeros(2), np.zeros(3))


@wrong("run", ValueError, "[(2, 3), (1, 3)]", "specify_broadcastable")
def no_broadcasting_at_run_time(mode):
    x, y = at.dmatrix("x"), at.dmatrix("y")
    z = x * y  # here
    aesara.function([x, y], z, mode=mode)(np.zeros((2, 3)), np.zeros((1, 3)))


@wrong("run", ValueError, "3", "2", "[(2, 3), (2, 3)]")
def product_of_different_sizes(mode):
    x, y = at.dmatrix("x"), at.dmatrix("y")
    z = x.dot(y)  # here
    aesara.function([x, y], z, mode=mode)(np.zeros((2, 3)), np.zeros((2, 3)))


@wrong("run", ValueError, "[(2, 1), (4, 1)]")
def gradient_of_a_product_of_different_sizes(mode):
    w, x, y = at.dmatrix("w"), at.dvector("x"), at.dvector("y")
    cost = ((w.dot(x) - y) ** 2).sum()  # here
    aesara.function([w, x, y], grad(cost, w), mode=mode)(np.zeros((2, 3)), np.zeros(3), np.zeros(4))


@wrong("run", IndexError, "index 5 is out of bounds for axis 0 with size 3")
def index_out_of_bounds(mode):
    x, i = at.dvector("x"), at.lscalar("i")
    y = x[i]  # here
    aesara.function([x, i], y, mode=mode)(np.zeros(3), 5)


@wrong("run", IndexError, "index 7 is out of bounds for axis 0 with size 3")
def entry_of_an_index_array_out_of_bounds(mode):
    x, i = at.dmatrix("x"), at.lvector("i")
    y = at.tanh(x[i])  # here
    aesara.function([x, i], y, mode=mode)(np.zeros((3, 2)), [0, 1, 7])


@wrong("run", ValueError, "3", "4", "(2, 3), (2, 4)")
def join_of_different_sizes(mode):
    x, y = at.dmatrix("x"), at.dmatrix("y")
    z = at.concatenate([x, y], axis=0)  # here
    aesara.function([x, y], z, mode=mode)(np.zeros((2, 3)), np.zeros((2, 4)))


@wrong("run", ValueError, "7", "Reshape{2}", "array([2, 3])")
def reshape_to_another_size(mode):
    x, n = at.dvector("x"), at.lscalar("n")
    y = x.reshape((n, 3))  # here
    aesara.function([x, n], y, mode=mode)(np.zeros(7), 2)


@wrong("run", ValueError, "could not broadcast", "3", "2", "IncSubtensor{Set;")
def set_subtensor_of_another_size(mode):
    x, y = at.dvector("x"), at.dvector("y")
    z = at.set_subtensor(x[1:3], y)  # here
    aesara.function([x, y], z, mode=mode)(np.zeros(5), np.zeros(3))


@wrong("run", AssertionError, "SpecifyShape", "4", "expected")
def specified_shape(mode):
    x = at.dvector("x")
    y = specify_shape(x, (3,)) * 2  # here
    aesara.function([x], y, mode=mode)(np.zeros(4))


@wrong("run", AssertionError, "x must be positive", "array([ 1., -1.])")
def asserted_condition(mode):
    x = at.dvector("x")
    y = Assert("x must be positive")(x, (x > 0).all())  # here
    aesara.function([x], at.log(y), mode=mode)([1.0, -1.0])


@wrong("run", ValueError, "nothing to double", "Doubled(x)", "[(0,)]")
def perform_that_fails(mode):
    x = at.dvector("x")
    y = at.exp(Doubled()(x))  # here
    aesara.function([x], y, mode=mode)([])


@wrong("run", ValueError, "[(2,), (3,)]")
def step_of_a_scan_that_fails(mode):
    x, y = at.dvector("x"), at.dvector("y")
    states, _ = aesara.scan(
        lambda s, y: s + y,  # here
        outputs_info=x,
        non_sequences=y,
        n_steps=3,
    )
    aesara.function([x, y], states, mode=mode)(np.zeros(2), np.zeros(3))


@wrong("run", ValueError, "sequence", "3", "5 steps")
def scan_over_too_short_a_sequence(mode):
    x = at.dvector("x")
    y, _ = aesara.scan(lambda one: one * 2, sequences=x, n_steps=5)  # here
    aesara.function([x], y, mode=mode)(np.zeros(3))


@wrong("run", ValueError, "3", "2", "Repeat{axis=None}(x, n)")
def repeats_of_another_size(mode):
    x, n = at.dvector("x"), at.lvector("n")
    y = at.repeat(x, n)  # here
    aesara.function([x, n], y, mode=mode)(np.zeros(3), [1, 2])


@wrong("run", ValueError, "negative dimensions are not allowed", "-2")
def negative_size(mode):
    n = at.lscalar("n")
    y = at.zeros((n,)) + 1  # here
    aesara.function([n], y, mode=mode)(-2)


@wrong("run", ValueError, "[(2,), (3,)]", "(s, ")
def update_that_fails(mode):
    s, x = aesara.shared(np.zeros(2), name="s"), at.dvector("x")
    new = s - 0.1 * x  # here
    aesara.function([x], [], updates={s: new}, mode=mode)(np.zeros(3))


@wrong("run", AssertionError, "NaN detected", "array([ 1., -1.])")
def nan_in_a_guarded_graph():
    x = at.dvector("x")
    y = at.log(x)  # here
    aesara.function([x], y.sum(), mode=NanGuardMode())([1.0, -1.0])


@wrong("run", ValueError, "zero-size array to reduction operation maximum")
def maximum_of_nothing(mode):
    x = at.dvector("x")
    y = x.max()  # here
    aesara.function([x], y, mode=mode)([])


@wrong("run", ValueError, "Integers to negative integer powers are not allowed")
def integers_to_negative_powers(mode):
    n, k = at.lvector("n"), at.lvector("k")
    y = n**k  # here
    aesara.function([n, k], y, mode=mode)([2, 3], [1, -1])


@wrong("run", ValueError, "input 0 has", "input 2 has", "[(2,), (2,), (3,)]")
def condition_of_different_sizes(mode):
    c, x, y = at.bvector("c"), at.dvector("x"), at.dvector("y")
    z = at.switch(c, x, at.exp(y))  # here
    aesara.function([c, x, y], z.sum(), mode=mode)([1, 0], np.zeros(2), np.zeros(3))


@wrong("run", ZeroDivisionError, "zero", "ARange")
def arange_with_step_zero(mode):
    n = at.lscalar("n")
    y = at.arange(0, 5, n)  # here
    aesara.function([n], y, mode=mode)(0)


@wrong("run", NanFound, "The first NaN at index 1", "x is -1.0", "forward computation")
def nan_found_natively():
    x = at.dvector("x")
    y = at.log(x)  # here
    aesara.function([x], at.tanh(y), mode="NanWhere")([1.0, -1.0])


@wrong("run", NanFound, "The first NaN at index 0", "x is 0.0", "gradient of the line below")
def nan_in_a_gradient():
    x = at.dvector("x")
    y = at.sqrt((x**2).sum())  # here
    aesara.function([x], grad(y, x), mode="NanWhere")([0.0, 0.0])


@wrong("run", TypeError, "input `x`", "1 masked elements", "filled")
def masked_argument(mode):
    x = at.dvector("x")
    aesara.function([x], x + 1, mode=mode)(np.ma.masked_array([1.0, 2.0], mask=[False, True]))


@wrong("run", TypeError, "input `x`", "Sparse matrices", "toarray()")
def sparse_argument(mode):
    x = at.dmatrix("x")
    aesara.function([x], x + 1, mode=mode)(scipy.sparse.csr_matrix(np.eye(2)))


@wrong("run", ValueError, "input `x`", "inhomogeneous shape")
def ragged_argument(mode):
    x = at.dmatrix("x")
    aesara.function([x], x + 1, mode=mode)([[1.0, 2.0], [3.0]])


@wrong("run", ValueError, "input `x`", "could not convert string to float")
def text_argument(mode):
    x = at.dvector("x")
    aesara.function([x], x + 1, mode=mode)("abc")


@wrong("run", TypeError, "input `x`", "found a list with variables: [y, y]")
def list_of_variables_as_argument(mode):
    x, y = at.dvector("x"), at.dscalar("y")
    aesara.function([x], x + 1, mode=mode)([y, y])


@wrong("run", TypeError, "input `x`", "found a Variable")
def variable_as_argument(mode):
    x, y = at.dvector("x"), at.dvector("y")
    aesara.function([x], x + 1, mode=mode)(y)


@wrong("run", TypeError, "input `x`", "complex128", "float64")
def complex_argument(mode):
    x = at.dvector("x")
    aesara.function([x], x + 1, mode=mode)(np.array([1j]))


@wrong("run", TypeError, "input `n`", "cannot store accurately value 300", "44")
def argument_out_of_range(mode):
    n = at.bscalar("n")
    aesara.function([n], n + 1, mode=mode)(300)


@wrong("run", TypeError, "input `x`", "got None")
def nothing_as_argument(mode):
    x = at.dvector("x")
    aesara.function([x], x + 1, mode=mode)(None)


@wrong("run", TypeError, "Multiple values for input: x")
def argument_given_twice(mode):
    x = at.dvector("x")
    aesara.function([x], x + 1, mode=mode)([1.0], x=[2.0])


@wrong("run", ValueError, "unknown output 'c'", "['a', 'b']")
def unknown_output(mode):
    x = at.dvector("x")
    aesara.function([x], {"a": x, "b": x + 1}, mode=mode)([1.0], output_subset=["c"])


@wrong("run", ValueError, "input 0 has", "input 1 has", "[(9,), (10,)]")
def data_of_another_size_than_the_model(mode):
    data = aesara.shared(np.zeros((10, 3)), name="data")
    mu, beta, observed = at.dscalar("mu"), at.dvector("beta"), at.dvector("observed")
    rate = at.exp(mu + data @ beta)
    logp = -0.5 * (observed - rate) ** 2  # here
    aesara.function([mu, beta, observed], logp.sum(), mode=mode)(0.0, np.zeros(3), np.zeros(9))


@wrong("run", IndexError, "index 8 is out of bounds for axis 0 with size 8", "TensorConstant{[0 1 8]}")
def group_that_does_not_exist(mode):
    effect = at.dvector("effect")
    rate = effect[np.array([0, 1, 8])]  # here
    aesara.function([effect], at.exp(rate).sum(), mode=mode)(np.zeros(8))


@wrong("run", IndexError, "index -4 is out of bounds for axis 0 with size 3")
def negative_index_out_of_bounds(mode):
    x, i = at.dvector("x"), at.lvector("i")
    y = at.exp(x)[i] * 2 + 1  # here
    aesara.function([x, i], y.sum(), mode=mode)(np.zeros(3), [0, -4])


@wrong("run", ValueError, "slice step cannot be zero")
def slice_with_step_zero(mode):
    x, k = at.dvector("x"), at.lscalar("k")
    y = x[::k]  # here
    aesara.function([x, k], y, mode=mode)(np.zeros(3), 0)


@wrong("run", IndexError, "boolean index did not match", "size of axis is 3", "boolean axis is 2")
def mask_of_another_size(mode):
    x, mask = at.dvector("x"), at.vector("mask", dtype="bool")
    y = x[mask]  # here
    aesara.function([x, mask], y.sum(), mode=mode)(np.zeros(3), [True, False])


@wrong("run", ValueError, "aesara.scan: state 0 (x) has", "4")
def state_that_grows(mode):
    x = at.dvector("x")
    states, _ = aesara.scan(lambda s: at.concatenate([s, s]), outputs_info=x, n_steps=3)  # here
    aesara.function([x], states, mode=mode)(np.zeros(2))


@wrong("run", KeyError, "missing", "FromFunctionOp{looks_up}(x)")
def function_of_the_user_that_fails(mode):
    @as_op([at.dvector], [at.dvector])
    def looks_up(values):
        return {}["missing"]

    x = at.dvector("x")
    y = looks_up(x)  # here
    aesara.function([x], at.exp(y).sum(), mode=mode)([1.0])


@wrong("run", TypeError, "The function gives_text must return", "TensorType(float64, (?,)) as result 0")
def function_of_the_user_that_returns_text(mode):
    @as_op([at.dvector], [at.dvector])
    def gives_text(values):
        return "text"

    x = at.dvector("x")
    y = gives_text(x)  # here
    aesara.function([x], at.exp(y).sum(), mode=mode)([1.0])


@wrong("run", NotImplementedError, "CodeOnly has C code but no `perform`", "write what it does in Python")
def op_with_c_code_only(mode):
    class CodeOnly(Op):
        __props__ = ()

        def make_node(self, x):
            return Apply(self, [x], [x.type()])

        def c_code(self, node, name, inputs, outputs, sub):
            return ""

    x = at.dvector("x")
    y = CodeOnly()(x)  # here
    aesara.function([x], y, mode=mode)([1.0])


class Stores(Doubled):
    """Stores something that it should not."""

    __props__ = ("what",)

    def __init__(self, what):
        self.what = what

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = {"nothing": None, "rank": np.ones((2, 2)), "dtype": np.array([1j])}[self.what]


@wrong("run", ValueError, "`perform` has left output 0 empty", "output_storage[0][0]")
def perform_that_stores_nothing(mode):
    x = at.dvector("x")
    y = Stores("nothing")(x)  # here
    aesara.function([x], at.exp(y), mode=mode)([1.0])


@wrong("run", TypeError, "Output 0 has the type TensorType(float64, (?,))", "shape (2, 2)")
def perform_that_stores_another_rank():
    x = at.dvector("x")
    y = Stores("rank")(x)  # here
    aesara.function([x], at.exp(y), mode="FAST_RUN")([1.0])


@wrong("run", TypeError, "Output 0 has the type TensorType(float64, (?,))", "dtype complex128")
def perform_that_stores_another_dtype():
    x = at.dvector("x")
    y = Stores("dtype")(x)  # here
    aesara.function([x], at.exp(y), mode="FAST_RUN")([1.0])


@wrong("run", TypeError, "Output 0 has the type TensorType(float64, (3,))", "shape (2,)")
def perform_that_stores_another_length():
    class Three(Doubled):
        def make_node(self, x):
            return Apply(self, [x], [at.tensor("float64", shape=(3,))])

    x = at.dvector("x")
    y = Three()(x)  # here
    aesara.function([x], at.exp(y), mode="FAST_RUN")([1.0, 2.0])


@wrong("run", MemoryError, "Unable to allocate 728. TiB", "shape (10000000, 10000000)", "data type float64")
def result_that_is_too_large(mode):
    n = at.lscalar("n")
    y = at.ones((n, n)) * 2  # here
    aesara.function([n], y, mode=mode)(10**7)


@wrong("run", ValueError, "larger than the maximum possible size")
def result_that_no_machine_holds(mode):
    n = at.lscalar("n")
    y = at.ones((n, n)) * 2  # here
    aesara.function([n], y, mode=mode)(2**40)


@wrong("run", MemoryError, "intermediate results", "aesara.memory_plan(f)")
def intermediate_results_that_are_too_large():
    n = at.lscalar("n")
    y = at.sort(at.exp(at.arange(n)))[::-1].cumsum()[n // 2]
    aesara.function([n], y, mode="FAST_RUN")(10**14)
