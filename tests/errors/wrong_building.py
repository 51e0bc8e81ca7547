"""Programs that go wrong when their graphs are built."""

from __future__ import annotations

import math

import numpy as np
import scipy.sparse
from catalogue import Doubled, wrong

import aesara
import aesara.tensor as at
from aesara.compile.ops import as_op
from aesara.gradient import DisconnectedInputError, grad
from aesara.graph.op import Op
from aesara.graph.utils import TestValueError
from aesara.ifelse import ifelse


@wrong("build", TypeError, "same number of dimensions", "[2, 1]")
def ranks_in_join():
    at.join(0, at.matrix("m"), at.vector("v"))


@wrong("build", NotImplementedError, "Cannot convert <object object", "Expected a variable, a number, an array")
def not_a_tensor():
    at.exp(object())


@wrong("build", ValueError, "axis 2 is out of bounds", "2 dimensions")
def axis_out_of_range():
    at.dmatrix("m").sum(axis=2)


@wrong("build", NotImplementedError, "Cannot convert TensorType(float64, ())")
def product_of_too_many_dimensions():
    at.dot(at.dmatrix("m"), at.as_tensor_variable(aesara.scalar.float64("s")).type)


@wrong("build", ValueError, "has 3", "has 2", "Transpose or reshape")
def product_of_fixed_sizes():
    at.dot(at.tensor("float64", shape=(2, 3), name="a"), at.tensor("float64", shape=(2, 3), name="b"))


@wrong("build", ValueError, "(2,), (3,)", "dimension 0", "or one of them 1")
def sum_of_fixed_sizes():
    at.tensor("float64", shape=(2,), name="a") + at.tensor("float64", shape=(3,), name="b")


@wrong("build", IndexError, "2 dimension(s), but 3 are indexed")
def too_many_indices():
    at.dmatrix("m")[0, 0, 0]


@wrong("build", TypeError, "integers or a boolean mask", "i of dtype float64")
def float_as_index():
    at.dvector("v")[at.dscalar("i")]


@wrong("build", TypeError, "no value until it is computed", "aesara.tensor.switch")
def truth_of_a_variable():
    if at.dscalar("x") > 0:
        pass


@wrong("build", TypeError, "x has type TensorType(float64, ())", "aesara.scan")
def iteration():
    list(at.dscalar("x"))


@wrong("build", TypeError, "must be the result of a subtensor operation", "got v")
def set_subtensor_of_a_plain_variable():
    at.set_subtensor(at.dvector("v"), 1.0)


@wrong("build", TypeError, "1-dimensional subtensor with a 2-dimensional value")
def set_subtensor_with_too_many_dimensions():
    at.set_subtensor(at.dvector("v")[:2], at.dmatrix("m"))


@wrong("build", ValueError, "(6,)", "(4, 2)", "expected sizes that multiply to 6, got 8")
def reshape_to_a_fixed_wrong_size():
    at.constant(np.zeros(6)).reshape((4, 2))


@wrong("build", ValueError, "Only one size", "(-1, -1)")
def reshape_with_two_unknown_sizes():
    at.dvector("v").reshape((-1, -1))


@wrong("build", ValueError, "dimension 1", "specify_shape")
def dimshuffle_drops_a_dimension():
    at.dmatrix("m").dimshuffle(0)


@wrong("build", ValueError, "axes 2", "dimension 2")
def transpose_with_wrong_axes():
    at.dmatrix("m").transpose(0, 2)


@wrong("build", TypeError, "'float63'", "float64")
def unknown_dtype():
    at.tensor("float63", shape=(None,))


@wrong("build", TypeError, "complex128 to float64", "`real`")
def cast_from_complex():
    at.cast(at.zvector("z"), "float64")


@wrong("build", TypeError, "AND(float64, int8)", "only integers")
def bits_of_floats():
    at.dvector("v") & 1


@wrong("build", AttributeError, "'maen'")
def misspelt_method():
    at.dvector("v").maen()


@wrong("build", TypeError, "Cost must be a scalar", "1 dimensions", "cost.sum()")
def cost_that_is_not_scalar():
    x = at.dvector("x")
    grad(x**2, x)


@wrong("build", DisconnectedInputError, "y (of type TensorType(float64, ()))", "disconnected_inputs='ignore'")
def disconnected_gradient():
    x, y = at.dscalar("x"), at.dscalar("y")
    grad(x**2, y)


@wrong("build", NotImplementedError, "grad is not implemented for Op Doubled", "the gradient of the node Doubled(x)")
def op_without_gradient():
    x = at.dvector("x")
    y = Doubled()(x)  # here
    grad(y.sum(), x)


@wrong("build", ValueError, "TensorType(float64, (?, ?))", "first value x", "1 dimensions of dtype float64")
def scan_whose_state_changes_rank():
    aesara.scan(lambda x: at.outer(x, x), outputs_info=at.dvector("x"), n_steps=3)


@wrong("build", ValueError, "0 dimensions of dtype int64", "at.cast")
def scan_whose_state_changes_dtype():
    aesara.scan(lambda x: x * 1.5, outputs_info=at.lscalar("x"), n_steps=3)


@wrong("build", ValueError, "give n_steps, or a sequence")
def scan_without_length():
    aesara.scan(lambda x: x + 1, outputs_info=at.dscalar("x"))


@wrong("build", ValueError, "returns 1 outputs", "2 entries")
def scan_with_too_few_outputs():
    aesara.scan(lambda x, y: x + y, outputs_info=[at.dscalar("x"), at.dscalar("y")], n_steps=3)


@wrong("build", TypeError, "true_branch=1, false_branch=2")
def branches_of_different_types():
    ifelse(at.bscalar("c"), at.dvector("v"), at.dmatrix("m"))


@wrong("build", TypeError, "cannot store a value of dtype float64", "astype", 'Container name "s"')
def value_of_another_dtype_in_a_shared_variable():
    aesara.shared(np.zeros(2, "float32"), name="s").set_value(np.zeros(2, "float64"))


@wrong("build", TypeError, "make_node of NoApply must return an Apply node", "got x")
def make_node_gives_no_apply():
    class NoApply(Op):
        def make_node(self, x):
            return x

        def perform(self, node, inputs, outputs):
            pass

    NoApply()(at.dvector("x"))


@wrong("build", ValueError, "'FASTRUN'", "'mode'", "Did you mean 'FAST_RUN'?")
def unknown_value_of_an_option():
    aesara.config.mode = "FASTRUN"


@wrong("build", AttributeError, "'flaotX'", "Did you mean 'floatX'?")
def unknown_option():
    aesara.config.change_flags(flaotX="float32")


@wrong("build", TestValueError, "input 0 (x) of Op Elemwise{exp", "no test value")
def test_value_is_missing():
    with aesara.config.change_flags(compute_test_value="raise"):
        at.exp(at.dvector("x"))


@wrong("build", ValueError, "length 2 and input 1 has length 3", "specify_broadcastable")
def test_values_do_not_fit():
    with aesara.config.change_flags(compute_test_value="raise"):
        a, b = at.dvector("a"), at.dvector("b")
        a.tag.test_value, b.tag.test_value = np.zeros(2), np.zeros(3)
        a + b


@wrong("build", TypeError, "float() needs a number", "s of type TensorType(float64, ())", "aesara.tensor", ".eval()")
def function_of_the_math_module():
    math.exp(at.dscalar("s"))


@wrong("build", TypeError, "int() needs a number", "astype")
def variable_as_python_integer():
    int(at.lscalar("n"))


@wrong("build", TypeError, "An integer is needed", "aesara.tensor.arange", "aesara.scan")
def range_over_a_variable():
    range(at.lscalar("n"))


@wrong("build", TypeError, "An integer is needed", "as_tensor(values)")
def list_indexed_by_a_variable():
    [1, 2, 3][at.lscalar("n")]


@wrong("build", TypeError, "has no len()", "x.shape[0]")
def length_of_a_variable():
    len(at.dvector("v"))


@wrong("build", TypeError, "does not support item assignment", "set_subtensor(x[index], value)", "inc_subtensor")
def assignment_to_an_element():
    v = at.dvector("v")
    v[0] += 1


@wrong("build", TypeError, "numpy.packbits was called with a variable", "no counterpart here", "as_op")
def numpy_function_without_counterpart():
    np.packbits(at.dmatrix("m"))


@wrong("build", TypeError, "numpy.sum: the argument `out` is not supported", "aesara.tensor.sum")
def numpy_result_into_an_array():
    np.sum(at.dvector("v"), out=np.zeros(()))


@wrong("build", TypeError, "NumPy needs an array", "v of type", "as_tensor or stack")
def numpy_array_of_variables():
    np.array([at.dvector("v"), at.dvector("w")])


@wrong("build", TypeError, "numpy.fill_diagonal", "no memory that could be changed", "x = aesara.tensor.fill_diagonal")
def numpy_change_in_place():
    np.fill_diagonal(at.dmatrix("m"), 0.0)


@wrong("build", AttributeError, "'aesara.tensor' has no attribute 'sotfmax'", "Did you mean softmax?")
def misspelt_function():
    at.sotfmax


@wrong("build", AttributeError, "aesara.tensor.blas_c", "no C code is written", "aesara.tensor.blas")
def module_that_is_not_there():
    at.blas_c


@wrong("build", AttributeError, "'aesara' has no attribute 'fucntion'", "Did you mean function?")
def misspelt_name_of_the_package():
    aesara.fucntion


@wrong("build", TypeError, "The first argument of tensor is the dtype", "tensor('a', dtype='float64'")
def name_in_the_place_of_a_dtype():
    at.tensor("a", shape=(3,))


@wrong("build", TypeError, "got bool, int8", "astype('bool')", "np.array(True)")
def python_bool_as_constant():
    at.and_(at.dvector("v") > 0, at.constant(False))


@wrong("build", NotImplementedError, "The gradient of count is not known", "as_op(..., grad=...)", "disconnected_grad")
def gradient_of_a_python_function():
    v = at.dvector("v")
    aesara.grad(as_op([at.dvector], [at.dscalar])(count)(v), v)


def count(v):
    return np.asarray(float(len(v)))


@wrong("build", DisconnectedInputError, "Rop was asked", "depends on none of `wrt`", "disconnected_outputs")
def tangent_of_something_else():
    aesara.Rop(at.dvector("v").sum(), at.dvector("w"), at.dvector("d"))


@wrong("build", TypeError, "do not support boolean operations", "aesara.tensor.switch", "is None")
def truth_of_a_reduction():
    if at.any(at.dvector("v") > 0):
        pass


@wrong("build", TypeError, "1 masked elements", "filled")
def masked_constant():
    at.as_tensor_variable(np.ma.masked_array([1.0, 2.0], mask=[False, True]))


@wrong("build", TypeError, "Sparse matrices are not supported", "toarray()", "csr_matrix")
def sparse_constant():
    at.dmatrix("m") + at.as_tensor_variable(scipy.sparse.csr_matrix(np.eye(2)))


@wrong("build", TypeError, "'flaot32' is no dtype", "Did you mean 'float32'?")
def misspelt_dtype():
    at.dvector("v").astype("flaot32")


@wrong("build", OverflowError, "more than 64 bits")
def constant_that_is_too_large():
    at.lscalar("n") * 2**70


@wrong("build", TypeError, "sub(bool, bool)", "xor")
def difference_of_booleans():
    b = at.vector("b", dtype="bool")
    b - b


@wrong("build", TypeError, "Cannot cast True or False", "aesara.tensor.eq")
def comparison_by_the_wrong_operator():
    x, y = at.dscalar("x"), at.dscalar("y")
    at.switch(x == y, 1.0, 2.0)


@wrong("build", TypeError, "takes 1 positional argument but 2 were given", "1 from sequences, then 1 from outputs_info")
def step_with_too_few_parameters():
    aesara.scan(lambda x: x + 1, sequences=at.dvector("x"), outputs_info=at.zeros(()))


@wrong("build", ValueError, "the step returned None", "return")
def step_without_return():
    def step(x):
        x * 2

    aesara.scan(step, sequences=at.dvector("x"))


@wrong("build", ValueError, "a sequence needs at least one dimension", "s of type")
def scan_over_a_scalar():
    aesara.scan(lambda x: x * 2, sequences=at.dscalar("s"))


@wrong("build", ValueError, "returned 0 gradients for 1 inputs", "one for each input")
def gradient_with_too_few_terms():
    class Forgetful(Doubled):
        def grad(self, inputs, gradients):
            return []

    x = at.dvector("x")
    grad(Forgetful()(x).sum(), x)


@wrong("build", ValueError, "must be an integer", "got 2.5")
def scan_of_half_a_step():
    aesara.scan(lambda x: x * 2, outputs_info=at.ones(()), n_steps=2.5)


@wrong("build", TypeError, "`itypes` must be a list of aesara types", "'dvector'")
def as_op_with_names_of_types():
    as_op(itypes=["dvector"], otypes=[at.dvector])


@wrong("build", TypeError, "unhashable type: 'list'", "the properties of Doubling are {'factors': [1, 2]}")
def op_with_a_list_as_property():
    class Doubling(Doubled):
        __props__ = ("factors",)

        def __init__(self, factors):
            self.factors = factors

    hash(Doubling([1, 2]))
