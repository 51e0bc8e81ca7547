"""Table of the `Scaled` forms of each op."""

from __future__ import annotations

from aesara.graph.nodes import Apply
from aesara.graph.op import Op
from aesara.scalar.casting import Cast
from aesara.tensor.elementwise import ops, special
from aesara.tensor.elementwise.elemwise import Elemwise
from aesara.tensor.products.dot import Dot
from aesara.tensor.reductions.softmax import LogSoftmax, Softmax
from aesara.tensor.reductions.sum_prod_max import Max, Min, Prod, Sum, Supremum
from aesara.tensor.rewriting.indices import READERS
from aesara.tensor.rewriting.logarithms import differences, functions, products, sums
from aesara.tensor.rewriting.logarithms.scaled import Form, Scaled, Search
from aesara.tensor.shapes.dimshuffle import DimShuffle
from aesara.tensor.shapes.reshape import Reshape


def cast(analysis: Search, node: Apply, depth: int) -> Scaled | None:
    """Return the form of the operand if the cast is to a dtype that is not narrower."""
    return analysis.scaled_in(node.inputs[0], node.outputs[0].type.dtype, depth)


def softmax(analysis: Search, node: Apply, depth: int) -> Scaled | None:
    return Scaled(LogSoftmax(node.op.axis)(node.inputs[0]), probability=True)


#: The forms of elementwise ops; the first that applies is used.
ELEMENTWISE: dict[Elemwise, tuple[Form, ...]] = {
    ops.exp: (products.exponential,),
    ops.sigmoid: (products.logistic,),
    special.ndtr: (products.normal,),
    special.erfc: (products.complementary_error,),
    ops.mul: (products.product,),
    ops.true_divide: (products.quotient,),
    ops.reciprocal: (products.inverse,),
    ops.neg: (functions.opposite_of_expm1, products.negation),
    ops.sqrt: (products.power,),
    ops.square: (products.power,),
    ops.pow: (products.power, functions.large_power),
    ops.switch: (products.choice,),
    ops.add: (sums.one_plus_error_function, sums.total),
    ops.sub: (
        differences.no_form_near_kept,
        differences.one_minus_square_or_normal,
        differences.rest_of_share,
        products.complement_of_probability,
        differences.difference_of_logistics,
        differences.difference_of_normals,
        differences.difference_of_exponentials,
    ),
    ops.sinh: (functions.hyperbolic_sine,),
    ops.cosh: (functions.hyperbolic_cosine,),
    ops.tanh: (functions.hyperbolic_tangent,),
    ops.expm1: (functions.exponential_minus_one,),
    special.gamma: (functions.gamma_function,),
    special.i0: (functions.bessel_function,),
    special.i1: (functions.bessel_function,),
}

#: The forms of other ops, by their classes.
OTHERS: dict[type[Op], tuple[Form, ...]] = {
    Softmax: (softmax,),
    **dict.fromkeys((DimShuffle, Reshape, *READERS), (sums.rearrangement,)),
    **dict.fromkeys((Max, Min, Supremum), (sums.extremum,)),
    Sum: (sums.sum_along_axes,),
    Prod: (products.product_along_axes,),
    Dot: (sums.matrix_product,),
}


class Analysis(Search):
    """A search for `Scaled` forms by the tables of this module; see `Search` for its parameters."""

    def form_of_node(self, node: Apply, depth: int) -> Scaled | None:
        op = node.op
        if isinstance(op, Elemwise):
            forms = (cast,) if isinstance(op.scalar_op, Cast) else ELEMENTWISE.get(op, ())
        else:
            forms = OTHERS.get(type(op), ())
        for form in forms:
            scaled = form(self, node, depth - 1)
            if scaled is not None:
                return scaled or None
        return None
