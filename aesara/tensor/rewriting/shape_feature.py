"""Symbolic shapes of a graph's variables, inferred on demand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from aesara.configdefaults import config
from aesara.graph.features import AlreadyThere, Feature
from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Apply, Constant, Variable
from aesara.tensor.core.casting import cast
from aesara.tensor.core.conversion import as_tensor_variable, constant
from aesara.tensor.core.scalar_conversion import TensorFromScalar
from aesara.tensor.core.tensor_like import IntegerLike
from aesara.tensor.creation.make_vector import MakeVector
from aesara.tensor.elementwise.elemwise import Elemwise
from aesara.tensor.exceptions import ShapeError
from aesara.tensor.rewriting.length_facts import Dimension, LengthFacts, dimension_measured_by
from aesara.tensor.shapes.shape import Shape_i
from aesara.user_code import warn_user


class ShapesOfGraph(dict):
    """A mapping from variables to their shapes, which are inferred when they are looked up."""

    def __init__(self, feature: ShapeFeature):
        super().__init__()
        self.feature = feature

    def __missing__(self, var: Variable) -> tuple[Variable, ...] | None:
        self.feature.infer(var)
        return self[var]

    def __contains__(self, var: object) -> bool:
        return isinstance(var, Variable)

    def get(self, var: Any, default: Any = None) -> Any:
        return self[var] if isinstance(var, Variable) else default

    def known_variables(self) -> Iterator[Variable]:
        """Return an iterator over the variables whose shapes have been inferred."""
        return iter(dict.keys(self))


class ShapeFeature(Feature):
    """The shapes of the variables of a graph as symbolic integers.

    Shapes come from the types of variables and from `Op.infer_shape`. They are inferred when they are first looked up.

    Examples
    --------
    >>> x = at.dmatrix("x")
    >>> fgraph = FunctionGraph([x], [at.exp(x)], features=[ShapeFeature()])
    >>> [str(length.owner) for length in fgraph.shape_feature.shape_of[fgraph.outputs[0]]]
    ['Shape_i{0}(x)', 'Shape_i{1}(x)']
    """

    def __init__(self) -> None:
        self.lscalar_one = constant(np.int64(1))
        self.shape_of = ShapesOfGraph(self)
        self.fgraph: FunctionGraph | None = None
        self._facts: LengthFacts | None = None
        #: arguments for which `same_shape` returned False
        self._denied: dict[tuple, None] = {}

    def on_attach(self, fgraph: FunctionGraph) -> None:
        if hasattr(fgraph, "shape_feature"):
            raise AlreadyThere("The graph has a ShapeFeature.")
        fgraph.shape_feature = self  # type: ignore[attr-defined]  # features may set attributes of graphs
        self.fgraph = fgraph
        self.shape_of.clear()

    def on_detach(self, fgraph: FunctionGraph) -> None:
        self.shape_of.clear()
        self._denied.clear()
        self.fgraph = self._facts = None
        del fgraph.shape_feature

    def clone(self) -> ShapeFeature:
        return type(self)()

    def on_change_input(
        self, fgraph: FunctionGraph, node: Apply, i: int, r: Variable, new_r: Variable, reason: object | None = None
    ) -> None:
        """Use the shape of a replaced variable for its replacement."""
        shape_of = self.shape_of
        if dict.__contains__(shape_of, r) and not dict.__contains__(shape_of, new_r):
            known = dict.__getitem__(shape_of, r)
            if known is not None and not _depends_on(known, new_r):
                self.set_shape(new_r, known)

    # Lookup

    def get_shape(self, fgraph: FunctionGraph, var: Variable, idx: int) -> Variable:
        """Return the length of dimension `idx` of a variable."""
        shape = self.shape_of[var]
        if shape is None:
            raise ShapeError(f"{var} of type {var.type} has no shape.")
        return shape[idx]

    def shape_tuple(self, r: Variable) -> tuple[Variable, ...] | None:
        """Return the shape of a variable as its type has it; unknown lengths are `Shape_i` of the variable."""
        if not hasattr(r.type, "ndim") or not hasattr(r.type, "shape"):
            return None
        return tuple(self.shape_ir(i, r) for i in range(r.type.ndim))

    def shape_ir(self, i: int, r: Variable) -> Variable:
        """Return the length of dimension `i` of a variable: a constant, or `Shape_i` of the variable."""
        known = r.type.shape[i]
        if isinstance(r, Constant):
            known = r.data.shape[i]
        if known is not None:
            return self.lscalar_one if known == 1 else constant(np.int64(known))
        return Shape_i(i)(r)

    def same_shape(
        self, x: Variable, y: Variable, dim_x: int | None = None, dim_y: int | None = None, with_checks: bool = False
    ) -> bool:
        """Return whether two variables, or dimensions of them, are known to have the same length.

        Parameters
        ----------
        x, y
            The variables.
        dim_x, dim_y
            A dimension of each; by default all are compared.
        with_checks
            Whether it suffices that the graph raises an error if they differ. Only for rules tagged "shape_unsafe",
            which may remove such errors (see `length_facts`).
        """
        first, second = self.shape_of[x], self.shape_of[y]
        if first is None or second is None:
            return False
        axes = range(len(first)) if dim_x is None else (dim_x,)
        others = range(len(second)) if dim_y is None else (dim_y,)
        if len(axes) != len(others):
            return False
        for i, j in zip(axes, others):
            if not (_same_length(first[i], second[j]) or (with_checks and self._must_be_equal((x, i), (y, j)))):
                self._denied[x, y, dim_x, dim_y, with_checks] = None
                return False
        return True

    def ask_again(self, fgraph: FunctionGraph) -> list[Variable]:
        """Return the variables for which `same_shape` returned False to a rule, and returns True now.

        All shapes are inferred again, since they date from the first lookup.
        """
        denied = [arguments for arguments in self._denied if fgraph.variables.issuperset(arguments[:2])]
        self._denied.clear()
        if not denied:
            return []
        self.shape_of.clear()
        self._facts = None
        return [arguments[0] for arguments in denied if self.same_shape(*arguments)]

    def _must_be_equal(self, first: Dimension, second: Dimension) -> bool:
        facts = self._facts
        if facts is None:
            assert self.fgraph is not None, "a graph asks"
            facts = self._facts = LengthFacts(self.fgraph)
        return any(facts.are_equal(a, b) for a in self._sources(first) for b in self._sources(second))

    def _sources(self, dimension: Dimension) -> list[Dimension]:
        """Return a dimension, and the one from which its length comes."""
        variable, axis = dimension
        measured = dimension_measured_by(self.shape_of[variable][axis])
        return [dimension] if measured in (None, dimension) else [dimension, measured]

    # Inference

    def infer(self, wanted: Variable) -> None:
        """Infer the shape of a variable, and of the variables that it depends on."""
        shape_of = self.shape_of
        has = dict.__contains__
        stack = [wanted]
        while stack:
            var = stack[-1]
            if has(shape_of, var):
                stack.pop()
                continue
            node = var.owner
            if node is None or _fully_known(var) or not hasattr(var.type, "ndim"):
                self.init_r(var)
                stack.pop()
                continue
            missing = [v for v in node.inputs if not has(shape_of, v)]
            if missing:
                stack.extend(missing)
                continue
            stack.pop()
            for output, shape in zip(node.outputs, self.get_node_infer_shape(node)):
                if not has(shape_of, output):
                    self.set_shape(output, shape)

    def get_node_infer_shape(self, node: Apply) -> list[Any]:
        """Return the shapes of the outputs of a node, by its op."""
        in_shapes = [self.shape_of[var] for var in node.inputs]
        infer_shape = getattr(node.op, "infer_shape", None)
        if infer_shape is None:
            return self.default_infer_shape(self.fgraph, node, in_shapes)
        try:
            shapes = infer_shape(self.fgraph, node, in_shapes)
            _check_ranks(node, shapes)
        except (ShapeError, NotImplementedError):
            return self.default_infer_shape(self.fgraph, node, in_shapes)
        except Exception as error:
            if config.on_shape_error == "raise":
                raise
            warn_user(
                f"infer_shape of {node.op} fails ({type(error).__name__}: {error}); its shapes are taken from its "
                "values. The option on_shape_error makes this an error.",
            )
            return self.default_infer_shape(self.fgraph, node, in_shapes)
        return list(shapes)

    def default_infer_shape(
        self, fgraph: Any, node: Apply, i_shapes: Sequence[Sequence[Variable] | None]
    ) -> list[tuple[Variable, ...] | None]:
        """Return the shapes of the outputs as their types have them; unknown lengths are `Shape_i` of the outputs."""
        return [self.shape_tuple(output) for output in node.outputs]

    def init_r(self, r: Variable) -> None:
        """Record the shape of a variable that has no inference."""
        if not dict.__contains__(self.shape_of, r):
            dict.__setitem__(self.shape_of, r, self.shape_tuple(r))

    def set_shape(self, r: Variable, s: Sequence[IntegerLike] | None, override: bool = False) -> None:
        """Record the shape of a variable."""
        if not override and dict.__contains__(self.shape_of, r):
            return
        if s is None:
            dict.__setitem__(self.shape_of, r, self.shape_tuple(r))
            return
        if not isinstance(s, (tuple, list)):
            raise TypeError(f"A shape is a tuple or a list; got {s!r} for {r}.")
        if len(s) != r.type.ndim:
            raise ShapeError(f"A shape of {len(s)} entries was given for {r}, which has {r.type.ndim} dimensions.")
        shape = tuple(
            self.unpack(entry, r) if known is None else self.shape_ir(i, r)
            for i, (entry, known) in enumerate(zip(s, r.type.shape))
        )
        dict.__setitem__(self.shape_of, r, shape)

    def set_shape_i(self, r: Variable, i: int, s_i: IntegerLike) -> None:
        """Record the length of dimension `i` of a variable."""
        shape = list(self.shape_of[r] or ())
        shape[i] = self.unpack(s_i, r)
        dict.__setitem__(self.shape_of, r, tuple(shape))

    def update_shape(self, r: Variable, other_r: Variable) -> None:
        """Record that a variable has the shape of another."""
        self.set_shape(r, self.shape_of[other_r], override=True)

    def unpack(self, s_i: IntegerLike, var: Variable | None) -> Variable:
        """Return a length as an int64 scalar."""
        if isinstance(s_i, (int, np.integer)):
            if s_i < 0:
                raise ValueError(f"Lengths cannot be negative; got {s_i} for {var}.")
            return self.lscalar_one if s_i == 1 else constant(np.int64(s_i))
        if isinstance(s_i, float) and s_i.is_integer():
            return constant(np.int64(s_i))
        length = as_tensor_variable(s_i)
        if length.type.ndim != 0 or np.dtype(length.type.dtype).kind not in "iub":
            raise TypeError(f"A length must be an integer scalar; got {s_i} of type {length.type} for {var}.")
        if length.type.dtype != "int64":
            length = cast(length, "int64")
        return length

    def to_symbolic_int(self, s_i: IntegerLike) -> Variable:
        """Return a length as an int64 scalar."""
        return self.unpack(s_i, None)

    def make_vector_shape(self, r: Variable) -> Variable:
        """Return the shape of a variable as a vector."""
        return MakeVector("int64")(*(self.shape_of[r] or ()))


def import_ShapeFeature() -> type[ShapeFeature]:
    """Return `ShapeFeature`, under a name of Aesara 2.9.4."""
    return ShapeFeature


def _fully_known(var: Variable) -> bool:
    shape = getattr(var.type, "shape", (None,))
    return None not in shape


#: The depth of expressions that are compared; the length of a slice has five operations.
DEEPEST_COMPARED = 5


def _same_length(a: Variable, b: Variable, depth: int = DEEPEST_COMPARED) -> bool:
    """Return whether two lengths are the same variable, equal constants or the same expression of such."""
    if a is b:
        return True
    if isinstance(a, Constant) and isinstance(b, Constant):
        return a.type.dtype == b.type.dtype and bool(a.data == b.data)
    a_node, b_node = a.owner, b.owner
    if (
        not depth
        or a_node is None
        or b_node is None
        or a_node.op != b_node.op
        or len(a_node.inputs) != len(b_node.inputs)
    ):
        return False
    if isinstance(a_node.op, Shape_i):
        return a_node.inputs[0] is b_node.inputs[0]
    if len(a_node.outputs) != 1 or a.type.ndim or not isinstance(a_node.op, (Elemwise, TensorFromScalar)):
        return False
    return all(_same_length(x, y, depth - 1) for x, y in zip(a_node.inputs, b_node.inputs))


def _depends_on(shape: Any, var: Variable) -> bool:
    """Return whether a shape is computed from `var` itself."""
    return any(s.owner is not None and var in s.owner.inputs for s in shape)


def _check_ranks(node: Apply, shapes: Any) -> None:
    """Raise a `ValueError` unless each output has a shape with one entry for each of its dimensions."""
    if len(shapes) != len(node.outputs):
        raise ValueError(f"it returned {len(shapes)} shapes, one for each of {len(node.outputs)} outputs was expected")
    for number, (output, shape) in enumerate(zip(node.outputs, shapes)):
        ndim = getattr(output.type, "ndim", None)
        if isinstance(shape, (tuple, list)) and len(shape) != ndim:
            raise ValueError(f"the shape of output {number} has {len(shape)} entries, the output has {ndim} dimensions")
