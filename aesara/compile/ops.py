"""Operations that compilation itself inserts, and operations made from Python functions."""

from __future__ import annotations

import copy
import importlib
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from aesara.graph.disconnected_type import DisconnectedType, disconnected_type
from aesara.graph.nodes import Apply, Variable
from aesara.graph.op import Op
from aesara.graph.type import Type
from aesara.graph.view import ViewOp

if TYPE_CHECKING:
    from aesara.graph.fg import FunctionGraph


class OutputGuard(ViewOp):
    """A view that keeps rewrites from using the memory of its input as their output."""

    destroy_map = {0: [0]}
    check_input = False


class DeepCopyOp(Op):
    """Returns a copy of its input that shares no memory with it."""

    __props__: tuple[str, ...] = ()
    check_input = False
    passes_value_on = True

    def make_node(self, x: Variable) -> Apply:
        return Apply(self, [x], [x.type()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[list[Any]]) -> None:
        value = inputs[0]
        output_storage[0][0] = value.copy() if isinstance(value, np.ndarray) else copy.deepcopy(value)

    def infer_shape(self, fgraph: FunctionGraph, node: Apply, input_shapes: Sequence[object]) -> Sequence[Any]:
        return input_shapes

    def grad(self, inputs: Sequence[Variable], output_gradients: Sequence[Variable]) -> Sequence[Variable]:
        return output_gradients

    def R_op(self, inputs: Sequence[Variable], eval_points: Sequence[object]) -> Sequence[Any]:
        return eval_points


class UpdatePlaceholder(Op):
    """Stands for the new value of a shared variable inside a graph; it is never computed."""

    __props__: tuple[str, ...] = ()

    def make_node(self, *inputs: Variable) -> Apply:
        if not inputs:
            raise TypeError("UpdatePlaceholder takes the variable that it stands for, and got nothing.")
        return Apply(self, list(inputs), [inputs[0].type()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[list[Any]]) -> None:
        raise NotImplementedError("UpdatePlaceholder must be removed from a graph before it is computed.")

    def infer_shape(self, fgraph: FunctionGraph, node: Apply, input_shapes: Sequence[object]) -> Sequence[Any]:
        return input_shapes[:1]

    def grad(self, inputs: Sequence[Variable], output_gradients: Sequence[Variable]) -> Sequence[Variable]:
        raise NotImplementedError("UpdatePlaceholder has no gradient.")


view_op = ViewOp()
deep_copy_op = DeepCopyOp()
update_placeholder = UpdatePlaceholder()


def register_view_op_c_code(type: object, code: object, version: object = ()) -> None:
    """Accepted for compatibility; there is no C code here."""


def register_deep_copy_op_c_code(typ: object, code: object, version: object = ()) -> None:
    """Accepted for compatibility; there is no C code here."""


class FromFunctionOp(Op):
    """An operation that calls a Python function; made by `as_op`.

    Two of them are equal when they call the same function with the same types, and have the same gradient.
    """

    def __init__(
        self,
        fn: Callable[..., Any],
        itypes: Sequence[Type],
        otypes: Sequence[Type],
        infer_shape: Callable[..., Any] | None,
        grad: Callable[..., Any] | None = None,
    ) -> None:
        self._fn = fn
        self._grad = grad
        self.itypes: Sequence[Any] = list(itypes)
        self.otypes: Sequence[Any] = list(otypes)
        self._infer_shape = infer_shape
        self.__name__ = getattr(fn, "__name__", type(fn).__name__)
        if infer_shape is not None:
            self.infer_shape = infer_shape

    def __eq__(self, other: object) -> bool:
        return (
            type(self) is type(other)
            and self._fn == other._fn
            and self.itypes == other.itypes
            and self.otypes == other.otypes
            and self._grad == other._grad
        )

    def __hash__(self) -> int:
        return hash((type(self), self._fn))

    def __str__(self) -> str:
        return f"FromFunctionOp{{{self.__name__}}}"

    def make_node(self, *inputs: Variable) -> Apply:
        if len(inputs) != len(self.itypes):
            raise ValueError(f"{self} takes {len(self.itypes)} inputs, got {len(inputs)}.")
        checked = []
        for position, (variable, wanted) in enumerate(zip(inputs, self.itypes)):
            try:
                checked.append(wanted.filter_variable(variable))
            except TypeError as error:
                raise TypeError(f"Input {position} of {self} must have the type {wanted}: {error}") from error
        return Apply(self, checked, [otype() for otype in self.otypes])

    def L_op(self, inputs: Sequence[Variable], outputs: Sequence[Variable], output_grads: Sequence[Variable]) -> Any:
        if self._grad is None:
            raise NotImplementedError(
                f"The gradient of {self.__name__} is not known: as_op made an operation of a Python function, which"
                " cannot be differentiated. Give the gradient by `as_op(..., grad=...)`, or take the operation as"
                " constant with aesara.gradient.disconnected_grad."
            )
        gradients: list[Any] = [
            out.zeros_like() if isinstance(gradient.type, DisconnectedType) and hasattr(out, "zeros_like") else gradient
            for out, gradient in zip(outputs, output_grads)
        ]
        if isinstance(self._grad, Op):
            terms = self._grad(*inputs, *gradients, return_list=True)
        else:
            terms = self._grad(list(inputs), gradients)
        if not isinstance(terms, (list, tuple)):
            terms = [terms]
        if len(terms) != len(inputs):
            raise ValueError(
                f"The gradient of {self.__name__} returned {len(terms)} terms; it must return one for each of the"
                f" {len(inputs)} inputs."
            )
        return [disconnected_type() if term is None else term for term in terms]

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[list[Any]]) -> None:
        results = self._fn(*inputs)
        if not isinstance(results, (list, tuple)):
            results = (results,)
        if len(results) != len(output_storage):
            raise ValueError(
                f"The function {self.__name__} returned {len(results)} results; "
                f"its operation has {len(output_storage)} outputs."
            )
        for number, (otype, cell, result) in enumerate(zip(self.otypes, output_storage, results)):
            try:
                cell[0] = otype.filter(result)
            except (TypeError, ValueError) as error:
                raise TypeError(
                    f"The function {self.__name__} must return a value of type {otype} as result {number}: {error}"
                ) from None

    def __reduce_ex__(self, protocol: Any) -> tuple:
        fn = self._fn
        if _op_with_name_of(fn) is self:
            # `as_op` has put the operation in the place of its function.
            if protocol < 4 or not isinstance(fn, FunctionType):
                return load_back, (fn.__module__, fn.__name__)
            # From now on the function has a name by which it is found, so that picklers can treat it as all functions:
            # store the name, or, like cloudpickle those of scripts, what it consists of.
            fn.__qualname__ = f"{fn.__name__}._fn"
            for name in ("_infer_shape", "_grad"):
                one = getattr(self, name)
                if isinstance(one, FunctionType) and "<" in one.__qualname__ and one.__module__ == fn.__module__:
                    one.__qualname__ = f"{fn.__name__}.{name}"
        return _load_op, (fn, self.itypes, self.otypes, self._infer_shape, self._grad)


def _op_with_name_of(fn: Callable[..., object]) -> Any:
    try:
        return load_back(fn.__module__, fn.__name__)
    except (ImportError, AttributeError, TypeError):
        return None


def _load_op(
    fn: Any, itypes: Sequence[Type], otypes: Sequence[Type], infer_shape: Any, grad: Any = None
) -> FromFunctionOp:
    found = _op_with_name_of(fn)
    if isinstance(found, FromFunctionOp) and found._fn is fn and found.itypes == itypes and found.otypes == otypes:
        return found
    return FromFunctionOp(fn, itypes, otypes, infer_shape, grad)


def load_back(mod: str, name: str) -> Any:
    """Return the object that a module has under a name."""
    return getattr(importlib.import_module(mod), name)


def as_op(
    itypes: Type | Sequence[Type],
    otypes: Type | Sequence[Type],
    infer_shape: Callable[..., object] | None = None,
    grad: Callable[..., object] | None = None,
) -> Callable[[Callable[..., Any]], FromFunctionOp]:
    """Decorator that makes an operation out of a Python function of values.

    Parameters
    ----------
    itypes, otypes
        Types of the function's arguments and results.
    infer_shape
        Method ``infer_shape(fgraph, node, input_shapes)`` of the operation.
    grad
        The gradient: an operation of the inputs and the gradients of the outputs, such as another function under
        `as_op`; or a function ``grad(inputs, output_gradients)`` of two lists of variables. It returns one variable
        for each input, of the input's shape, or None where the outputs do not depend on the input. Without `grad`
        the operation cannot be differentiated.

    Examples
    --------
    >>> import aesara, aesara.tensor as at, numpy as np
    >>> from aesara.compile.ops import as_op
    >>> @as_op(itypes=[at.dvector, at.dvector], otypes=[at.dvector])
    ... def rolled_back(x, gradient):
    ...     return np.roll(gradient, -1)
    >>> @as_op(itypes=[at.dvector], otypes=[at.dvector], grad=rolled_back)
    ... def rolled(x):
    ...     return np.roll(x, 1)
    >>> x = at.dvector("x")
    >>> aesara.function([x], aesara.grad((rolled(x) * [1, 10, 100]).sum(), x))([0.0, 0.0, 0.0])
    array([ 10., 100.,   1.])
    """
    inputs = [itypes] if isinstance(itypes, Type) else list(itypes)
    outputs = [otypes] if isinstance(otypes, Type) else list(otypes)
    for wanted, name in ((inputs, "itypes"), (outputs, "otypes")):
        for one in wanted:
            if not isinstance(one, Type):
                raise TypeError(f"`{name}` must be a list of aesara types, got {one!r}.")
    if infer_shape is not None and not callable(infer_shape):
        raise TypeError("`infer_shape` must be callable.")
    if grad is not None and not callable(grad):
        raise TypeError("`grad` must be an operation, or a function of the inputs and the gradients of the outputs.")

    def make_op(fn: Callable[..., object]) -> FromFunctionOp:
        return FromFunctionOp(fn, inputs, outputs, infer_shape, grad)

    return make_op


# An older name of the decorator.
wrap_py = as_op
