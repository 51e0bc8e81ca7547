"""`ScalarOp`: the base class of ops on numbers.

A class body declares all facts of an op, from which this module derives everything else:

``numpy``
    The reference implementation: a NumPy ufunc or a vectorized function. Its operands are arrays of any shape, which
    are cast to `ScalarOp.operand_dtypes`.
``dtype``
    A rule of `aesara.scalar.promotion` from input types to output types.
``operands``
    The dtype of the computation: ``"output"``, ``"common"`` (the promotion of the inputs) or ``"as_is"``.
``native`` or ``decompose(self, *inputs)``
    The native implementation, see `aesara.scalar.native`.
``domain``
    The interval of test values for each input, or one interval for all inputs.
``holomorphic``
    Whether the complex derivative exists, so that the formula of the real derivative holds for complex numbers.
``pullback(self, *inputs, output, g)``
    The gradient term of each input, written with scalar ops. `ScalarOp.L_op` promotes the operands, deals
    with
    integers and complex numbers and casts the terms: a pullback only states the formula.

An op may also follow the older protocol: `impl` on numbers instead of ``numpy``, `grad` or `L_op` instead of
``pullback``, and an ``output_types_preference`` given to the constructor.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from aesara.configdefaults import config
from aesara.graph.nodes import Apply, Constant, Variable
from aesara.graph.op import Op
from aesara.graph.utils import MethodNotDefined
from aesara.scalar.constants import as_scalar, literal, literals_in_uint64
from aesara.scalar.native import Primitive, Special
from aesara.scalar.routine import FloatRoutine, SciPyFunction
from aesara.scalar.types import ScalarType, get_scalar_type, upcast
from aesara.scalar.var import ScalarLike, ScalarVariable

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = [
    "BinaryScalarOp",
    "ScalarOp",
    "SciPyFunction",
    "UnaryScalarOp",
    "to_dtype",
    "zero_gradient",
]

#: attributes that a subclass does not inherit if it declares the key
_OVERRIDDEN = {
    "impl": ("numpy", "nfunc_spec", "native", "native_of_booleans", "decompose"),
    "numpy": ("nfunc_spec", "native", "native_of_booleans", "decompose"),
    "native": ("decompose",),
    "decompose": ("native",),
    "L_op": ("pullback",),
    "grad": ("pullback",),
}


class ScalarOp(Op):
    """An operation on numbers.

    Parameters
    ----------
    output_types_preference
        A rule from input types to output types that replaces the class's own ``dtype`` rule.
    name
        The name in printed graphs; by default that of the class.

    Examples
    --------
    >>> from aesara.scalar import UnaryScalarOp, float64, upgrade_to_float
    >>> class Cube(UnaryScalarOp):
    ...     dtype = upgrade_to_float
    ...     numpy = lambda x: x * x * x
    ...     def pullback(self, x, y, g):
    ...         return (g * 3 * x * x,)
    >>> Cube()(float64("x")).type
    ScalarType(float64)
    """

    nin: int = -1
    nout: int = 1

    numpy: ClassVar[Callable | None] = None
    nfunc_spec: tuple[str, int, int] | None = None
    nfunc_variadic: str | None = None
    dtype: ClassVar[Callable | None] = None
    operands: ClassVar[str] = "output"
    native: ClassVar[Primitive | Special | FloatRoutine | None] = None
    #: `native` for Booleans, if it differs
    native_of_booleans: ClassVar[Primitive | None] = None
    decompose: ClassVar[Callable | None] = None
    domain: ClassVar[tuple] = (-5.0, 5.0)
    holomorphic: ClassVar[bool] = True
    pullback: ClassVar[Callable | None] = None
    #: positions of inputs that are conditions, which are not cast for the gradient
    selectors: ClassVar[tuple[int, ...]] = ()
    #: whether an op with a variable number of inputs may have none
    allows_no_inputs: ClassVar[bool] = False

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        declared = cls.__dict__
        for declaration, overruled in _OVERRIDDEN.items():
            if declaration in declared:
                for attribute in overruled:
                    if attribute not in declared and getattr(cls, attribute, None) is not None:
                        setattr(cls, attribute, None)
        for attribute in ("numpy", "dtype"):
            function = declared.get(attribute)
            if callable(function) and hasattr(function, "__get__"):
                setattr(cls, attribute, staticmethod(function))
        reference = declared.get("numpy")
        if isinstance(reference, np.ufunc | SciPyFunction) and declared.get("nfunc_spec") is None:
            cls.nfunc_spec = (reference.__name__, cls.nin, cls.nout)

    def __init__(self, output_types_preference: Callable | None = None, name: str | None = None):
        self.name = name
        if output_types_preference is not None:
            if not callable(output_types_preference):
                raise TypeError(
                    "output_types_preference must be a function from input types to output types, "
                    f"got {output_types_preference!r} (in {type(self).__name__})"
                )
            self.output_types_preference: Any = output_types_preference
        else:
            self.output_types_preference = getattr(type(self), "output_types_preference", None) or self.dtype

    def __eq__(self, other: object) -> bool:
        return self is other or (
            type(self) is type(other) and self.output_types_preference == other.output_types_preference
        )

    def __hash__(self) -> int:
        return hash((type(self), self.output_types_preference))

    def digest_facts(self) -> tuple[object, ...]:
        """Return the parameters of the op; see `aesara.graph.digest`."""
        class_preference = getattr(type(self), "output_types_preference", None) or type(self).dtype
        return () if self.output_types_preference is class_preference else (self.output_types_preference,)

    def __str__(self) -> str:
        return getattr(self, "name", None) or type(self).__name__

    def __repr__(self) -> str:
        return str(self)

    # Types

    def make_node(self, *inputs: ScalarLike) -> Apply:
        """Apply the op to scalar variables or numbers."""
        if self.nin >= 0 and len(inputs) != self.nin:
            raise TypeError(f"{self} takes {self.nin} input(s), got {len(inputs)}: {inputs}")
        variables = [as_scalar(value) for value in inputs]
        for k in literals_in_uint64(inputs, [variable.type.dtype for variable in variables], self._output_dtypes):
            variables[k] = as_scalar(inputs[k], dtype="uint64")
        types = self.output_types([variable.type for variable in variables])
        return Apply(self, variables, [output_type() for output_type in types])

    def _output_dtypes(self, dtypes: Sequence[str]) -> list[str]:
        return [output_type.dtype for output_type in self.output_types([get_scalar_type(dtype) for dtype in dtypes])]

    def output_types(self, types: Sequence[ScalarType]) -> list[ScalarType]:
        """Return the types of the outputs for inputs of these types."""
        rule = self.output_types_preference
        if rule is None:
            raise NotImplementedError(f"{type(self).__name__} states no rule for its output types")
        if not types and self.nin < 0 and not self.allows_no_inputs:
            raise TypeError(f"{self} needs at least one input")
        try:
            result = list(rule(*types))
        except TypeError as error:
            raise TypeError(f"{self}({', '.join(str(t) for t in types)}): {error}") from None
        if len(result) != self.nout or not all(isinstance(t, ScalarType) for t in result):
            raise TypeError(f"{self} must have {self.nout} scalar output type(s), its rule returned {result}")
        return result

    def operand_dtypes(self, input_types: Sequence[ScalarType], output_types: Sequence[ScalarType]) -> list[str]:
        """Return the dtype to which each input is cast before the op computes."""
        if self.operands == "output":
            return [output_types[0].dtype] * len(input_types)
        if self.operands == "common":
            return [upcast(*[scalar_type.dtype for scalar_type in input_types])] * len(input_types)
        return [scalar_type.dtype for scalar_type in input_types]

    # Values

    def impl(self, *inputs: ArrayLike) -> Any:
        """Compute the op on numbers or arrays: the reference for back ends."""
        if self.numpy is None:
            raise MethodNotDefined("impl", type(self), type(self).__name__)
        types = [get_scalar_type(np.asarray(value).dtype.name) for value in inputs]
        results = self.evaluate(inputs, types, self.output_types(types))
        return results[0] if self.nout == 1 else results

    def evaluate(
        self, values: Sequence[ArrayLike], input_types: Sequence[ScalarType], output_types: Sequence[ScalarType]
    ) -> tuple:
        """Compute the op on numbers or broadcastable arrays with the dtypes of `input_types`.

        Returns
        -------
        tuple
            A value for each output, with the output types' dtypes.
        """
        with np.errstate(all="ignore"):
            if self.numpy is not None:
                dtypes = self.operand_dtypes(input_types, output_types)
                if not isinstance(self.numpy, np.ufunc):
                    # Half precision is rounded once, at the end, as by functions of NumPy.
                    dtypes = ["float32" if dtype == "float16" else dtype for dtype in dtypes]
                results = self.numpy(*[_cast_value(value, dtype) for value, dtype in zip(values, dtypes)])
            else:
                results = self._evaluate_with_impl(values, len(output_types))
            if len(output_types) == 1:
                return (_cast_value(results, output_types[0].dtype),)
            return tuple(_cast_value(value, t.dtype) for value, t in zip(results, output_types))

    def _evaluate_with_impl(self, values: Sequence[ArrayLike], n_results: int) -> Any:
        if type(self).impl is ScalarOp.impl and type(self).perform is not ScalarOp.perform:
            return np.frompyfunc(self._perform_on, len(values), n_results)(*values)
        if all(np.ndim(value) == 0 for value in values):
            return self.impl(*[np.asarray(value)[()] for value in values])
        return np.frompyfunc(self.impl, len(values), n_results)(*values)

    def _perform_on(self, *values: ArrayLike) -> Any:
        """Compute an op that defines only `perform`, on numbers."""
        numbers = [np.asarray(value)[()] for value in values]
        node = self.make_node(*(get_scalar_type(number.dtype.name)() for number in numbers))
        storage: list[list] = [[None] for _ in node.outputs]
        self.perform(node, numbers, storage)
        results = [cell[0] for cell in storage]
        return results[0] if len(results) == 1 else tuple(results)

    def perform(
        self, node: Apply, inputs: Sequence[ArrayLike], output_storage: Sequence[list], params: Any = None
    ) -> None:
        results = self.evaluate(
            inputs, [variable.type for variable in node.inputs], [variable.type for variable in node.outputs]
        )
        for storage, result in zip(output_storage, results):
            storage[0] = result[()]

    # Native code

    def native_fact(self, input_types: Sequence[ScalarType]) -> Primitive | Special | FloatRoutine | None:
        """Return the instruction or C function that computes the op for inputs of these types, or None."""
        if any(scalar_type.is_complex for scalar_type in input_types):
            return None
        if self.native_of_booleans is not None and all(t.dtype == "bool" for t in input_types):
            return self.native_of_booleans
        return self.native

    def decomposition(self, *inputs: ScalarVariable) -> list | None:
        """Return the outputs as a graph of other ops on scalar variables, or None if there is none.

        The outputs have the dtypes of the outputs of this op.
        """
        if self.decompose is None or any(variable.type.is_complex for variable in inputs):
            return None
        types = self.output_types([variable.type for variable in inputs])
        dtypes = self.operand_dtypes([variable.type for variable in inputs], types)
        results = self.decompose(*[to_dtype(variable, dtype) for variable, dtype in zip(inputs, dtypes)])
        if self.nout == 1 and not isinstance(results, (list, tuple)):
            results = [results]
        return [to_dtype(result, output_type.dtype) for result, output_type in zip(results, types)]

    # Gradients

    def grad(self, inputs: Sequence[ScalarVariable], output_gradients: Sequence[Variable]) -> list:
        """Return the gradients for the inputs; `L_op` does so without recomputing the outputs."""
        if self.pullback is None:
            raise MethodNotDefined("grad", type(self), type(self).__name__)
        return self.L_op(inputs, self(*inputs, return_list=True), output_gradients)

    def L_op(
        self, inputs: Sequence[ScalarVariable], outputs: Sequence[ScalarVariable], output_gradients: Sequence[Variable]
    ) -> list:
        """Return the gradient for each input, given outputs and gradients of a cost with respect to them.

        The gradients of an op with only discrete outputs are zero. Discrete inputs are treated as real numbers, so
        their gradients have a floating-point dtype. The gradient for a complex number is ``dC/dRe + 1j * dC/dIm``.
        """
        if all(output.type.is_discrete for output in outputs):
            return [zero_gradient(variable) for variable in inputs]
        if self.pullback is None:
            return self.grad(inputs, output_gradients)
        output = outputs[0]
        g = to_dtype(as_scalar(output_gradients[0]), output.type.dtype)
        operands = [
            variable if i in self.selectors else _operand_of_pullback(variable, output.type)
            for i, variable in enumerate(inputs)
        ]
        if self.holomorphic and output.type.is_complex:
            terms = [_conjugate(term) for term in self.pullback(*operands, output, g.conj())]
        else:
            terms = self.pullback(*operands, output, g)
        return [_gradient_of_input(term, variable) for term, variable in zip(terms, inputs, strict=True)]


class UnaryScalarOp(ScalarOp):
    """A scalar op with one input."""

    nin = 1


class BinaryScalarOp(ScalarOp):
    """A scalar op with two inputs."""

    nin = 2


def to_dtype(variable: ScalarVariable, dtype: str) -> ScalarVariable:
    """Cast a scalar variable to a dtype.

    Constants are converted to constants. A real dtype takes the real part of a complex variable.
    """
    scalar_type = variable.type
    if scalar_type.dtype == dtype:
        return variable
    target = get_scalar_type(dtype)
    if scalar_type.is_complex and not target.is_complex:
        return to_dtype(variable.real, dtype)
    if isinstance(variable, Constant):
        return literal(variable.data, target())
    return variable.astype(dtype)


def zero_gradient(variable: ScalarVariable) -> ScalarVariable:
    """Return the constant zero as the gradient for `variable`."""
    if variable.type.is_discrete:
        return literal(0, get_scalar_type(config.floatX)())
    return literal(0, variable)


def _cast_value(value: ArrayLike, dtype: str) -> np.ndarray | np.generic:
    if isinstance(value, np.ndarray | np.generic) and value.dtype == dtype:
        return value
    array = np.asarray(value)
    if array.dtype.kind == "c" and np.dtype(dtype).kind not in "cb":
        array = array.real
    return array.astype(dtype)[()]


def _operand_of_pullback(variable: ScalarVariable, output_type: ScalarType) -> ScalarVariable:
    """Return an operand of the pullback: an input, cast to the precision of the output."""
    if variable.type.is_complex:
        return variable
    if not output_type.is_complex:
        return to_dtype(variable, output_type.dtype)
    return to_dtype(variable, "float32" if output_type.dtype == "complex64" else "float64")


def _conjugate(term: ScalarVariable) -> ScalarVariable:
    if isinstance(term.type, ScalarType) and term.type.is_complex:
        return term.conj()
    return term


def _gradient_of_input(term: ScalarVariable, variable: ScalarVariable) -> ScalarVariable:
    if not isinstance(term.type, ScalarType):
        return term
    if not variable.type.is_discrete:
        return to_dtype(term, variable.type.dtype)
    if term.type.is_complex:
        return term.real
    if term.type.is_discrete:
        return to_dtype(term, config.floatX)
    return term
