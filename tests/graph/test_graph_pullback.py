"""How gradients and tangents go through nodes, on toy operations that say what they are told."""

import pytest
from graph_toys import Toy, double, f, variables

import aesara.tensor as at
from aesara.graph.autodiff import Lop, check_cost
from aesara.graph.disconnected_type import DisconnectedType, disconnected_type
from aesara.graph.forward_mode import Rop, push_forward
from aesara.graph.nodes import Apply
from aesara.graph.null_type import NullType
from aesara.graph.pullback import connections, is_null, nodes_towards, pull_back


class Told(Toy):
    """Writes down the gradients of its outputs; each input's gradient is a node of its own."""

    def __init__(self, name, nout=1, pattern=None):
        super().__init__(name, nout)
        self.pattern, self.seen = pattern, []

    def connection_pattern(self, node):
        return self.pattern

    def L_op(self, inputs, outputs, output_gradients):
        self.seen.append(output_gradients)
        return [Toy(f"gradient of input {k}")(v) for k, v in enumerate(inputs)]


@pytest.mark.parametrize(
    "pattern, error",
    [
        (None, None),
        ([[True, False], [False, True]], None),
        (([True, False], [False, True]), TypeError),
        ([(True, False), (False, True)], TypeError),
        ([[True, False], (False, True)], TypeError),
        (True, TypeError),
        ([[True, False]], ValueError),
        ([[True, False], [False]], ValueError),
        ([[True, False], [False, True, True]], ValueError),
    ],
)
def test_connection_patterns(pattern, error):
    x, y = variables("xy")
    node = Told("told", 2, pattern)(x, y)[0].owner
    if error is None:
        assert connections(node) == pattern
    else:
        with pytest.raises(error, match="connection_pattern must"):
            connections(node)
    assert connections(f(x).owner) is None


def test_nodes_come_once_and_after_what_they_need():
    x, y = variables("xy")
    p = f(x, y)
    q, r = f(p), f(p, p)
    last = f(q, r, q)
    order = nodes_towards([last, p, x])
    assert len(order) == 4 and order[0] is p.owner and order[-1] is last.owner
    assert set(nodes_towards([last], [p])) == {q.owner, r.owner, last.owner}
    assert nodes_towards([p], [p]) == []


def test_what_does_not_exist_behind_a_node_does_not_exist_before_it():
    """But where the output that has no gradient does not depend on the input."""
    x, y, z = variables("xyz")
    op = Told("told", 2, [[True, False], [True, True], [False, True]])
    first, second = op(x, y, z)
    given, nothing = double("given"), NullType("because")()
    through_first, through_both, through_second = pull_back({first: given, second: nothing}, [x, y, z])
    assert through_first.owner.op.name == "gradient of input 0"
    assert is_null(through_both) and is_null(through_second)
    ((seen, disconnected),) = op.seen
    assert seen is given and isinstance(disconnected.type, DisconnectedType)
    assert [is_null(g) for g in pull_back({second: nothing}, [y, z])] == [True, True] and len(op.seen) == 1
    assert isinstance(pull_back({second: nothing}, [x])[0].type, DisconnectedType)
    (term,) = pull_back({first: given}, [x], consider_constant=[y])
    assert term.owner.op.name == "gradient of input 0"


@pytest.mark.parametrize("known", [False, True])
def test_an_error_of_a_gradient_names_the_node_and_its_place(known):
    class Fails(Toy):
        def L_op(self, inputs, outputs, output_gradients):
            raise KeyError("no")

    x = double("x")
    y = Fails("fails")(x)
    source = y.owner.source
    if not known:
        y.owner.source = None
    with pytest.raises(KeyError) as caught:
        pull_back({y: double("given")}, [x])
    place = f", which was created at {source}" if known else ""
    assert caught.value.__notes__ == [f"Raised by the gradient of the node fails(x){place}."]


@pytest.mark.parametrize("made", [disconnected_type, NullType("because")])
def test_an_operation_may_have_no_gradient(made):
    class Without(Toy):
        def L_op(self, inputs, outputs, output_gradients):
            return [made(), *output_gradients]

    x, y = variables("xy")
    given = double("given")
    first, second = pull_back({Without("without")(x, y): given}, [x, y])
    assert type(first.type) in (DisconnectedType, NullType) and second is given


def test_a_wide_gradient_of_an_output_does_not_widen_the_rest():
    x, wide = at.fvector("x"), at.dvector("wide")
    assert Lop(at.exp(x), x, wide).dtype == "float32"
    z = at.zvector("z")
    assert Lop(z * 2, z, wide).dtype == "complex128"


@pytest.mark.parametrize("given", ["float32", "float64", "complex64", "complex128", None])
@pytest.mark.parametrize("output", ["float16", "float32", "float64", "complex64", "complex128", "int32", "bool", None])
def test_in_which_dtype_an_operation_is_told_of_gradients(output, given):
    """In that of its output, if it is real; an integer has no gradient of its own dtype."""
    op = Told("told")
    op.make_node = lambda x: Apply(op, [x], [at.vector(dtype=output) if output else double()])
    x, gradient = at.dvector("x"), at.vector("gradient", dtype=given) if given else double("gradient")
    if given and given.startswith("complex") and output and output.startswith("float"):
        with pytest.raises(TypeError, match="ambiguous"):
            pull_back({op(x): gradient}, [x])
        return
    pull_back({op(x): gradient}, [x])
    ((told,),) = op.seen
    if output in ("float16", "float32", "float64") and given not in (None, output):
        assert told.dtype == output and told is not gradient
    else:
        assert told is gradient


def test_products_with_jacobians_of_what_has_no_dimensions():
    x, y = variables("xy")
    op = Told("told")
    given = double("given")
    (result,) = Lop(op(x, y), [y], given)
    assert op.seen == [[given]] and result.owner.op.name == "gradient of input 1"
    v, scalar = at.dvector("v"), at.dscalar("scalar")
    for before, after, point, dimensions in ((x, op(x), v, "0 and 1"), (v, at.exp(v), scalar, "1 and 0")):
        said = f"have mismatched dimensionalities: {dimensions}"
        with pytest.raises(ValueError, match=f"Elements 0 of `f` and `eval_points` {said}"):
            Lop(after, [before], point)
        with pytest.raises(ValueError, match=f"Elements 0 of `wrt` and `eval_points` {said}"):
            Rop(after, [before], [point])


@pytest.mark.parametrize("kinds", [("int64", "float64"), ("float64", "int64"), ("bool", "int8", "float32")])
def test_tangents_of_operations_with_results_of_several_kinds(kinds):
    class Both(Toy):
        def make_node(self, x):
            return Apply(self, [x], [at.vector(dtype=dtype) for dtype in kinds])

        def R_op(self, inputs, eval_points):
            return [point if dtype.startswith("float") else None for dtype in kinds for point in eval_points]

    x, point = at.dvector("x"), at.dvector("point")
    for dtype, result in zip(kinds, Both("both", len(kinds))(x)):
        if dtype.startswith("float"):
            assert Rop(result, x, point) is point
        else:
            assert Rop(result, x, point, disconnected_outputs="ignore", return_disconnected="none") is None


@pytest.mark.parametrize("operator", [Lop, Rop])
@pytest.mark.parametrize("wrong", [3.0, "x", None, [None], [2]])
def test_only_variables_are_differentiated(operator, wrong):
    x = at.dvector("x")
    y = at.exp(x)
    for function, variable, name in ((wrong, x, "f"), (y, wrong, "wrt")):
        with pytest.raises(TypeError, match=f"`{name}`"):
            operator(function, variable, x)


def test_costs_without_dimensions():
    check_cost(double("x"))
    with pytest.raises(TypeError, match="has 1 dimensions"):
        check_cost(at.dvector("v"))


def test_an_operation_is_not_asked_for_the_tangent_of_nothing():
    class Stops(Toy):
        def R_op(self, inputs, eval_points):
            return [None] * self.nout

    class Needs(Toy):
        def R_op(self, inputs, eval_points):
            assert any(point is not None for point in eval_points)
            return [next(point for point in eval_points if point is not None)]

    x, y = variables("xy")
    tangent = double("tangent")
    stopped = Stops("stops")(x)
    nothing, something = Needs("needs")(stopped), Needs("needs")(stopped, y)
    assert isinstance(push_forward([nothing], {x: tangent})[0].type, DisconnectedType)
    assert push_forward([something, y], {x: tangent, y: tangent}) == [tangent, tangent]
