"""Plain types and Ops for tests of graphs: numbers are Python floats, results are easy to predict."""

from aesara.graph.inner import HasInnerGraph
from aesara.graph.nodes import Apply, Variable
from aesara.graph.op import Op
from aesara.graph.type import Type


class Double(Type):
    """Python floats, as in the documentation of types."""

    __props__ = ()

    def filter(self, data, strict=False, allow_downcast=None):
        if strict:
            if isinstance(data, float):
                return data
            raise TypeError("expected a float")
        if allow_downcast:
            return float(data)
        as_float = float(data)
        if as_float == data:
            return as_float
        raise TypeError(f"cannot represent {data!r} exactly")

    @classmethod
    def values_eq_approx(cls, a, b, tolerance=1e-4):
        return abs(a - b) / (abs(a) + abs(b)) < tolerance


class Interval(Type):
    """Floats between two bounds; a wider interval is a supertype."""

    __props__ = ("low", "high")

    def __init__(self, low, high):
        self.low, self.high = low, high

    def filter(self, data, strict=False, allow_downcast=None):
        if not self.low <= data <= self.high:
            raise TypeError(f"{data} is not between {self.low} and {self.high}")
        return float(data)

    def is_super(self, otype):
        if not isinstance(otype, Interval):
            return None
        return self.low <= otype.low and otype.high <= self.high


class Toy(Op):
    """An Op with any number of inputs whose outputs have the type of the first."""

    __props__ = ("name", "nout", "views", "destroys")

    def __init__(self, name, nout=1, views=(), destroys=(), **attributes):
        self.name, self.nout = name, nout
        self.views, self.destroys = tuple(views), tuple(destroys)
        if views:
            self.view_map = {out: [i] for out, i in views}
        if destroys:
            self.destroy_map = {out: [i] for out, i in destroys}
        for key, value in attributes.items():
            setattr(self, key, value)

    def make_node(self, *inputs):
        return Apply(self, list(inputs), [inputs[0].type() for _ in range(self.nout)])

    def perform(self, node, inputs, output_storage):
        for storage in output_storage:
            storage[0] = float(sum(inputs))

    def __str__(self):
        return self.name


class Inner(Op, HasInnerGraph):
    """An Op with an inner graph."""

    def __init__(self, inputs, outputs):
        self.inputs, self.outputs = inputs, outputs

    fn = None
    inner_inputs = property(lambda self: self.inputs)
    inner_outputs = property(lambda self: self.outputs)

    def clone(self):
        return Inner(list(self.inputs), list(self.outputs))

    def make_node(self, *inputs):
        return Apply(self, list(inputs), [v.type() for v in self.outputs])


double = Double()
f, g, h = Toy("f"), Toy("g"), Toy("h")
pair = Toy("pair", nout=2)
view = Toy("view", views=[(0, 0)])
inplace = Toy("inplace", destroys=[(0, 0)])


def variables(names) -> list[Variable]:
    return [double(name) for name in names]


def chain(x, length, op=f):
    for _ in range(length):
        x = op(x)
    return x
