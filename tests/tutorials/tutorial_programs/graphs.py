"""Graphs: their nodes, printing, own operations and types, rewriting, graphs as operations, watching them run."""

import contextlib
import io

import numpy as np

import aesara
import aesara.scalar as aes
import aesara.tensor as at
from aesara import function, pp
from aesara.compile.builders import OpFromGraph
from aesara.compile.nanguardmode import NanGuardMode
from aesara.compile.ops import as_op
from aesara.graph.basic import Apply, Constant, ancestors, clone_replace, graph_inputs
from aesara.graph.features import ReplaceValidate
from aesara.graph.fg import FunctionGraph
from aesara.graph.op import Op
from aesara.graph.rewriting.basic import (
    GraphRewriter,
    MergeOptimizer,
    NodeRewriter,
    RemovalNodeRewriter,
    SubstitutionNodeRewriter,
    WalkingGraphRewriter,
    node_rewriter,
)
from aesara.graph.type import Type


def printed(call, *arguments, **named):
    stream = io.StringIO()
    with contextlib.redirect_stdout(stream):
        call(*arguments, **named)
    return stream.getvalue()


def from_a_variable_to_its_inputs(show):
    x = at.dmatrix("x")
    y = x * 2.0
    show(y.owner.op.name, len(y.owner.inputs), y.owner.inputs[0] is x, type(y.owner.inputs[1].owner.op).__name__)
    constant = y.owner.inputs[1].owner.inputs[0]
    show(isinstance(constant, Constant), constant.data, x.owner is None)
    show([v.name for v in graph_inputs([y]) if not isinstance(v, Constant)], len(list(ancestors([y]))))


def parts_are_replaced(show):
    x, y, z = at.dscalars("x", "y", "z")
    total = x + y
    product = total * z
    replaced = clone_replace(product, {total: z - 1})
    show(pp(replaced), function([z], replaced)(5.0))


def formulas(show):
    x, y = at.dmatrix("x"), at.dvector("y")
    for expression in (
        x + y, x * y - 1, x / (1 + at.exp(-x)), at.dot(x, y), x**2, -x, at.log(x).sum(), x.T, at.tanh(at.dot(x, y)),
        abs(y), at.sqrt(y), y > 2, at.eq(y, 3), at.maximum(x, y),
    ):  # fmt: skip
        show(pp(expression))


def trees(show):
    x, y = at.dvector("x"), at.dvector("y")
    z = at.exp(x + y) * (x + y)
    show(printed(aesara.dprint, z))
    show(printed(aesara.dprint, z, depth=2))
    named = at.log(x)
    named.name = "logarithm"
    show(printed(aesara.printing.debugprint, named + 1))
    show(printed(aesara.printing.debugprint, [x + y, named]))


def a_value_is_printed_while_a_function_runs(show):
    x = at.dvector("x")
    f = function([x], aesara.printing.Print("seen", attrs=["shape", "min", "__str__"])(x) * 5)
    show(printed(f, [1, 2, 3]))


def own_operation_by_make_node(show):
    class Triple(Op):
        __props__ = ()

        def make_node(self, x):
            x = at.as_tensor_variable(x)
            return Apply(self, [x], [x.type()])

        def perform(self, node, inputs, output_storage):
            output_storage[0][0] = inputs[0] * 3

        def infer_shape(self, fgraph, node, input_shapes):
            return input_shapes

        def grad(self, inputs, output_grads):
            return [output_grads[0] * 3]

        def R_op(self, inputs, eval_points):
            return eval_points if eval_points[0] is None else self.grad(inputs, eval_points)

    x, v = at.matrix(), at.matrix()
    data = np.arange(6.0).reshape(2, 3)
    show(function([x], Triple()(x))(data), function([x], Triple()(x).shape)(data))
    show(function([x], at.grad(Triple()(x).sum(), x), on_unused_input="ignore")(data))
    show(function([x, v], aesara.gradient.Rop(Triple()(x), x, v), on_unused_input="ignore")(data, data))
    show(Triple() == Triple(), hash(Triple()) == hash(Triple()), str(Triple()))
    aesara.gradient.verify_grad(Triple(), [np.random.RandomState(0).rand(3, 2)], rng=np.random.RandomState(1))


def own_operation_by_types(show):
    class Halve(Op):
        __props__ = ()
        itypes = [at.dmatrix]
        otypes = [at.dmatrix]

        def perform(self, node, inputs, output_storage):
            output_storage[0][0] = inputs[0] / 2

    x = at.dmatrix()
    show(function([x], Halve()(x))([[1, 2], [3, 4]]))
    try:
        Halve()(at.dvector())
    except TypeError:
        show("TypeError")


def own_operation_with_properties(show):
    class Line(Op):
        __props__ = ("slope", "start")

        def __init__(self, slope, start):
            self.slope, self.start = slope, start
            super().__init__()

        def make_node(self, x):
            x = at.as_tensor_variable(x)
            return Apply(self, [x], [x.type()])

        def perform(self, node, inputs, output_storage):
            output_storage[0][0] = self.slope * inputs[0] + self.start

        def grad(self, inputs, output_grads):
            return [self.slope * output_grads[0]]

    x = at.matrix()
    first, same, other = Line(4, 5), Line(4, 5), Line(2, 3)
    show(first == same, first == other, str(first))
    f = function([x], [first(x), same(x), other(x)])
    show(f(np.ones((1, 2))), sum(isinstance(node.op, Line) for node in f.maker.fgraph.toposort()))


def own_operation_with_several_results(show):
    class SumAndDifference(Op):
        __props__ = ()

        def make_node(self, x, y):
            x, y = at.as_tensor_variable(x), at.as_tensor_variable(y)
            return Apply(self, [x, y], [x.type(), x.type()])

        def perform(self, node, inputs, output_storage):
            x, y = inputs
            output_storage[0][0], output_storage[1][0] = x + y, x - y

        def grad(self, inputs, output_grads):
            g_sum, g_difference = output_grads
            return [g_sum + g_difference, g_sum - g_difference]

    x, y = at.dvectors("x", "y")
    plus, minus = SumAndDifference()(x, y)
    show(function([x, y], [plus, minus])([1, 2], [3, 5]))
    show(function([x, y], at.grad((plus * minus).sum(), [x, y]))([1, 2], [3, 5]))


def a_function_as_an_operation(show):
    @as_op(itypes=[at.dmatrix, at.dmatrix], otypes=[at.dmatrix])
    def product(a, b):
        return np.dot(a, b)

    x, y = at.dmatrices("x", "y")
    show(function([x, y], product(x, y))(np.ones((2, 3)), np.ones((3, 2))))


def own_operation_in_place(show):
    class AddOne(Op):
        __props__ = ()
        destroy_map = {0: [0]}

        def make_node(self, x):
            x = at.as_tensor_variable(x)
            return Apply(self, [x], [x.type()])

        def perform(self, node, inputs, output_storage):
            values = inputs[0]
            values += 1
            output_storage[0][0] = values

    x = at.dvector("x")
    mine = np.array([1.0, 2.0])
    show(function([x], AddOne()(at.exp(x)), accept_inplace=True)(mine), mine)
    twice = at.exp(x)
    try:
        f = function([x], AddOne()(twice))
    except TypeError:
        show("TypeError")
    f = function([x], [AddOne()(at.exp(x)), at.log(x)], accept_inplace=True)
    show(f([1.0, 2.0]))


def own_type(show):
    class Double(Type):
        def filter(self, value, strict=False, allow_downcast=None):
            if strict:
                if isinstance(value, float):
                    return value
                raise TypeError("Expected a float!")
            if allow_downcast:
                return float(value)
            if float(value) == value:
                return float(value)
            raise TypeError(f"{value} cannot be a float without loss.")

        def values_eq_approx(self, x, y, tolerance=1e-4):
            return abs(x - y) / (abs(x) + abs(y)) < tolerance

        def __str__(self):
            return "double"

    double = Double()

    class Combine(Op):
        __props__ = ("name", "how")

        def __init__(self, name, how):
            self.name, self.how = name, how

        def make_node(self, x, y):
            return Apply(self, [x, y], [double()])

        def perform(self, node, inputs, output_storage):
            output_storage[0][0] = self.how(*inputs)

        def __str__(self):
            return self.name

    plus, times = Combine("plus", lambda a, b: a + b), Combine("times", lambda a, b: a * b)
    x, y, z = double("x"), double("y"), double("z")
    f = function([x, y, z], times(plus(x, y), z))
    show(f(1.0, 2.0, 4.0), f(10, 20, 2), str(x.type), printed(aesara.dprint, plus(x, y)))
    try:
        f("a", 1.0, 2.0)
    except (TypeError, ValueError):
        show("refused")
    show(double.filter(3), double.is_valid_value(2.5), double.is_valid_value(2))


def static_shapes_of_types(show):
    partly, fully = at.TensorType("float64", (2, None)), at.TensorType("float64", (2, 1))
    show(partly.in_same_class(fully), partly.is_super(fully), fully.is_super(partly))
    show(partly.filter_variable(fully()).type == fully, fully.filter_variable(partly()).type.shape)


def simplify_as_a_graph_rewriter(show):
    class Simplify(GraphRewriter):
        def add_requirements(self, fgraph):
            fgraph.attach_feature(ReplaceValidate())

        def apply(self, fgraph):
            for node in fgraph.toposort():
                if node.op == aes.true_div:
                    x, y = node.inputs
                    z = node.outputs[0]
                    if x.owner and x.owner.op == aes.mul:
                        a, b = x.owner.inputs
                        if y == a:
                            fgraph.replace_validate(z, b)
                        elif y == b:
                            fgraph.replace_validate(z, a)

    x, y, z = aes.float64("x"), aes.float64("y"), aes.float64("z")
    quotient = aes.add(z, aes.mul(aes.true_div(aes.mul(y, x), y), aes.true_div(z, x)))
    graph = FunctionGraph([x, y, z], [quotient])
    show(str(graph))
    Simplify().rewrite(graph)
    show(str(graph))
    again = aes.true_div(aes.mul(aes.add(y, z), x), aes.add(y, z))
    graph = FunctionGraph([x, y, z], [again])
    Simplify().rewrite(graph)
    show(str(graph))
    MergeOptimizer().rewrite(graph)
    show(str(graph))
    Simplify().rewrite(graph)
    show(str(graph))


def simplify_as_a_node_rewriter(show):
    class Simplify(NodeRewriter):
        def transform(self, fgraph, node):
            if node.op == aes.true_div:
                x, y = node.inputs
                if x.owner and x.owner.op == aes.mul:
                    a, b = x.owner.inputs
                    if y == a:
                        return [b]
                    if y == b:
                        return [a]
            return False

        def tracks(self):
            return [aes.true_div]

    x, y, z = aes.float64("x"), aes.float64("y"), aes.float64("z")
    graph = FunctionGraph([x, y, z], [aes.add(z, aes.mul(aes.true_div(aes.mul(y, x), y), aes.true_div(z, x)))])
    WalkingGraphRewriter(Simplify()).rewrite(graph)
    show(str(graph))


def operations_are_replaced_and_removed(show):
    x, y, z = at.dvectors("x", "y", "z")
    graph = FunctionGraph([x, y, z], [(x * y) / y + (at.exp(z) - x)], clone=False)
    WalkingGraphRewriter(SubstitutionNodeRewriter(at.add, at.mul)).rewrite(graph)
    show(pp(graph.outputs[0]))
    numbers = aes.float64("u"), aes.float64("v")
    graph = FunctionGraph(numbers, [aes.add(aes.identity(numbers[0]), numbers[1])], clone=False)
    WalkingGraphRewriter(RemovalNodeRewriter(aes.identity)).rewrite(graph)
    show(str(graph))


def a_rule_from_a_function(show):
    x = at.dvector("x")

    @node_rewriter([at.sin])
    def sine_to_cosine(fgraph, node):
        return [at.cos(node.inputs[0])]

    graph = FunctionGraph([x], [at.sin(x) + 1])
    WalkingGraphRewriter(sine_to_cosine).rewrite(graph)
    show(pp(graph.outputs[0]))


def rules_are_excluded(show):
    x = at.dvector("x")
    base = aesara.compile.mode.get_mode("FAST_RUN")
    for mode in (base, base.excluding("local_log1p"), base.excluding("stabilize", "specialize", "canonicalize")):
        f = function([x], at.log(1 + x), mode=mode.excluding("fusion", "inplace"))
        show(sorted(str(node.op) for node in f.maker.fgraph.toposort() if isinstance(node.op, at.elemwise.Elemwise)))


def a_graph_as_an_operation(show):
    x, y, z = at.scalars("xyz")
    e = x + y * z
    op = OpFromGraph([x, y, z], [e])
    f = function([x, y, z], op(x, y, z) - op(z, y, x))
    show(f(2, 3, 5))
    show(function([x, y, z], at.grad(op(x, y, z) * x, [x, y, z]))(2, 3, 5))
    w = aesara.shared(np.float64(10))
    show(function([x, y, z], OpFromGraph([x, y, z], [e * w])(x, y, z))(2, 3, 5))

    def rescaled(inputs, output_gradients):
        (g,) = output_gradients
        return [100 * g, g, g]

    own = OpFromGraph([x, y, z], [e], grad_overrides=rescaled)
    show(function([x, y, z], at.grad(own(x, y, z), [x, y, z]), on_unused_input="ignore")(2, 3, 5))


def each_node_is_watched(show):
    seen = []

    def before(fgraph, i, node, fn):
        seen.append((i, node.op.__class__.__name__, [np.array(cell[0]) for cell in fn.inputs]))

    def after(fgraph, i, node, fn):
        seen.append([np.array(cell[0]) for cell in fn.outputs])

    x = at.dscalar("x")
    mode = aesara.compile.MonitorMode(pre_func=before, post_func=after)
    show(function([x], [5 * x], mode=mode)(3))
    for entry in seen:
        show(*entry)


def a_nan_is_found(show):
    x = at.dvector("x")
    f = function([x], at.log(x) * 2, mode=NanGuardMode(True, True, True))
    show(f([1.0, np.e]))
    try:
        f([-1.0])
    except AssertionError:
        show("AssertionError")


def checks_in_a_graph(show):
    x = at.dvector("x")
    checked = aesara.raise_op.Assert("must be positive")(x, at.all(x > 0))
    f = function([x], at.log(checked))
    show(f([1.0]))
    try:
        f([-1.0])
    except AssertionError as error:
        show("must be positive" in str(error))


def rewritten_graphs(show):
    x = at.dvector("x")
    for expression in (x * 1, x + 0, x / x.shape[0] * x.shape[0], at.exp(at.log(x)), (x * 2) / 2, x.T, x.sum().sum()):
        f = function([x], expression, mode=aesara.compile.mode.get_mode("FAST_RUN").excluding("fusion"))
        show(f([1.0, 4.0]))


def generic_values(show):
    anything = aesara.shared({"a": 1}, name="settings")
    show(anything.get_value(), type(anything.type).__name__)
