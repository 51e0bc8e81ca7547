"""Which forms each op has, in which order: the one table by which logarithms and gradients find exponentials."""

from __future__ import annotations

from aesara.graph.nodes import Apply
from aesara.graph.op import Op
from aesara.scalar.casting import Cast
from aesara.tensor.elementwise.elemwise import Elemwise
from aesara.tensor.elementwise.ops import (
    add,
    cosh,
    erfc,
    exp,
    expm1,
    gamma,
    i0,
    i1,
    mul,
    ndtr,
    neg,
    reciprocal,
    sigmoid,
    sinh,
    sqrt,
    square,
    sub,
    switch,
    tanh,
    true_divide,
)
from aesara.tensor.elementwise.ops import pow as at_pow
from aesara.tensor.products.dot import Dot
from aesara.tensor.reductions.softmax import LogSoftmax, Softmax
from aesara.tensor.reductions.sum_prod_max import Max, Min, Prod, Sum, Supremum
from aesara.tensor.rewriting.logarithms.differences import (
    difference_of_exponentials,
    difference_of_logistics,
    difference_of_normals,
    nothing_near_kept,
    one_minus_square_or_normal,
    rest_of_share,
)
from aesara.tensor.rewriting.logarithms.functions import (
    bessel_function,
    exponential_minus_one,
    gamma_function,
    hyperbolic_cosine,
    hyperbolic_sine,
    hyperbolic_tangent,
    large_power,
    opposite_of_expm1,
)
from aesara.tensor.rewriting.logarithms.products import (
    choice,
    complement_of_probability,
    complementary_error,
    exponential,
    inverse,
    logistic,
    negation,
    normal,
    power,
    product,
    product_along_axes,
    quotient,
)
from aesara.tensor.rewriting.logarithms.scaled import Form, Scaled, Search
from aesara.tensor.rewriting.logarithms.shifting import READERS
from aesara.tensor.rewriting.logarithms.sums import (
    extremum,
    matrix_product,
    moved,
    one_plus_error_function,
    sum_along_axes,
    total,
)
from aesara.tensor.shapes.dimshuffle import DimShuffle
from aesara.tensor.shapes.reshape import Reshape


def cast(analysis: Search, node: Apply, depth: int) -> Scaled | None:
    """The form of what is cast, in a dtype that is not narrower."""
    return analysis.scaled_in(node.inputs[0], node.outputs[0].type.dtype, depth)


def softmax(analysis: Search, node: Apply, depth: int) -> Scaled | None:
    return Scaled(LogSoftmax(node.op.axis)(node.inputs[0]), probability=True)


#: The forms of elementwise ops. The first that fits is taken.
ELEMENTWISE: dict[Elemwise, tuple[Form, ...]] = {
    exp: (exponential,),
    sigmoid: (logistic,),
    ndtr: (normal,),
    erfc: (complementary_error,),
    mul: (product,),
    true_divide: (quotient,),
    reciprocal: (inverse,),
    neg: (opposite_of_expm1, negation),
    sqrt: (power,),
    square: (power,),
    at_pow: (power, large_power),
    switch: (choice,),
    add: (one_plus_error_function, total),
    sub: (
        nothing_near_kept,
        one_minus_square_or_normal,
        rest_of_share,
        complement_of_probability,
        difference_of_logistics,
        difference_of_normals,
        difference_of_exponentials,
    ),
    sinh: (hyperbolic_sine,),
    cosh: (hyperbolic_cosine,),
    tanh: (hyperbolic_tangent,),
    expm1: (exponential_minus_one,),
    gamma: (gamma_function,),
    i0: (bessel_function,),
    i1: (bessel_function,),
}

#: The forms of other ops, by their classes.
OTHERS: dict[type[Op], tuple[Form, ...]] = {
    Softmax: (softmax,),
    **dict.fromkeys((DimShuffle, Reshape, *READERS), (moved,)),
    **dict.fromkeys((Max, Min, Supremum), (extremum,)),
    Sum: (sum_along_axes,),
    Prod: (product_along_axes,),
    Dot: (matrix_product,),
}


class Analysis(Search):
    """Finds `Scaled` forms by the tables of this module; see `Search` for its parameters."""

    def form_of_node(self, node: Apply, depth: int) -> Scaled | None:
        op = node.op
        if isinstance(op, Elemwise):
            forms = (cast,) if isinstance(op.scalar_op, Cast) else ELEMENTWISE.get(op, ())
        else:
            forms = OTHERS.get(type(op), ())
        for form in forms:
            found = form(self, node, depth - 1)
            if found is not None:
                return found or None
        return None
