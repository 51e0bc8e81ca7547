"""Ops: what can be computed."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from copy import deepcopy
from types import GenericAlias
from typing import Any, Protocol, TypeVar, cast

from aesara.configdefaults import config
from aesara.graph.conversion import as_symbolic
from aesara.graph.inner import HasInnerGraph
from aesara.graph.messages import describe
from aesara.graph.nodes import Apply, Variable
from aesara.graph.type import Type
from aesara.graph.utils import MetaObject, MethodNotDefined, NoParams, TestValueError, add_tag_trace
from aesara.user_code import warn_user

V = TypeVar("V", bound=Variable)
StorageCellType = list
StorageMapType = dict
ComputeMapType = dict
OutputStorageType = list


class ThunkType(Protocol):
    """A function without parameters that computes one node, from and into one-element lists."""

    inputs: list[list[Any]]
    outputs: list[list[Any]]
    lazy: bool

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Compute the node."""


def is_thunk_type(thunk: Callable[..., Any]) -> ThunkType:
    """Return `thunk` unchanged; tells type checkers that attributes will be set on it."""
    return cast(ThunkType, thunk)


def compute_test_value(node: Apply) -> None:
    """Compute the test values of a node's outputs from those of its inputs.

    The option ``compute_test_value`` says what happens where one is missing.
    """
    policy = config.compute_test_value
    storage_map: dict[Variable, list[Any]] = {}
    compute_map: dict[Variable, list[Any]] = {}
    for position, variable in enumerate(node.inputs):
        try:
            storage_map[variable] = [variable.get_test_value()]
            compute_map[variable] = [True]
        except TestValueError:
            message = (
                f"Cannot compute test value: input {position} ({variable}) of Op {node.op} "
                "has no test value (missing default value)."
            )
            if policy == "pdb":
                import pdb  # slow to import

                pdb.post_mortem()
            if policy == "ignore":
                return
            missing_test_message(message)
            return
    for output in node.outputs:
        storage_map[output] = [None]
        compute_map[output] = [False]
    thunk = node.op.make_thunk(node, storage_map, compute_map, no_recycling=[])
    for positions in node.op.destroy_map.values():
        for position in positions:
            cell = storage_map[node.inputs[position]]
            cell[0] = deepcopy(cell[0])  # the input keeps its test value
    thunk.inputs = [storage_map[variable] for variable in node.inputs]
    thunk.outputs = [storage_map[variable] for variable in node.outputs]
    thunk()
    for output in node.outputs:
        # Filtering keeps what perform produced from having another type.
        tag: Any = output.tag
        tag.test_value = storage_map[output][0]


def missing_test_message(msg: str) -> None:
    """Raise `msg`, warn it, or stay silent, as the option ``compute_test_value`` says."""
    policy = config.compute_test_value
    if policy == "raise":
        raise TestValueError(msg)
    if policy == "warn":
        warn_user(msg)
    elif policy == "pdb":
        import pdb  # slow to import

        pdb.set_trace()
    elif policy != "ignore":
        raise ValueError(f"compute_test_value is '{policy}': there is nothing to do about a missing test value.")


def get_test_value(v: Variable) -> Any:
    """Return the test value of a variable, or of what `v` is as a variable."""
    return as_symbolic(v).get_test_value()


def stand_in(variable: V, name: str | None = None) -> V:
    """A free variable in place of another one, of the same type; with its test value, while these are in use.

    Graphs of free variables, which are replaced later, are built with operations that may ask for test values.
    """
    new: V = variable.type(name=name)
    if config.compute_test_value != "off":
        with suppress(TestValueError):
            new.tag.test_value = variable.get_test_value()
    return new


def get_test_values(*args: Variable) -> Any:
    """Return a list with the tuple of all test values, or an empty list where one is missing.

    Examples
    --------
    ::

        for x_value, y_value in get_test_values(x, y):
            ...  # runs at most once, and only if test values are in use
    """
    if config.compute_test_value == "off":
        return []
    values = []
    for position, variable in enumerate(args):
        try:
            values.append(get_test_value(variable))
        except TestValueError:
            missing_test_message(f"Argument {position} ({variable}) has no test value.")
            return []
    return [tuple(values)]


def empty_output(number: int) -> ValueError:
    """The error about an output that `Op.perform` has forgotten."""
    return ValueError(
        f"`perform` has left output {number} empty: it must store a value in output_storage[{number}][0]."
    )


class Op(MetaObject):
    """An operation on values, applied to variables by calling it.

    A subclass defines `make_node` (or the class attributes ``itypes`` and ``otypes``), `perform`, and usually
    ``__props__``, by which Ops are compared.

    Attributes
    ----------
    itypes, otypes
        Types of inputs and outputs, for Ops whose types are fixed.
    view_map
        ``{output index: [input index]}``: the output shows the input's memory.
    destroy_map
        ``{output index: [input index]}``: the output is written over the input.
    default_output
        Index of the output that a call returns; None for all.

    Notes
    -----
    Optional methods: ``infer_shape(fgraph, node, input_shapes)``, ``connection_pattern(node)``, `grad` or
    `L_op`, `R_op`.

    Examples
    --------
    ::

        class Square(Op):
            __props__ = ()

            def make_node(self, x):
                return Apply(self, [x], [x.type()])

            def perform(self, node, inputs, output_storage):
                output_storage[0][0] = inputs[0] ** 2
    """

    __class_getitem__: Any = classmethod(GenericAlias)

    default_output: int | None = None
    view_map: dict[int, list[int]] = {}
    destroy_map: dict[int, list[int]] = {}
    itypes: Sequence[Type] | None = None
    otypes: Sequence[Type] | None = None

    def make_node(self, *inputs: Any, **kwargs: Any) -> Apply:
        """Return a node that applies the Op to `inputs`.

        This implementation works for Ops with ``itypes`` and ``otypes``.
        """
        itypes, otypes = self.itypes, self.otypes
        if itypes is None or otypes is None:
            raise NotImplementedError(
                f"{type(self).__name__} defines neither `make_node` nor both `itypes` and `otypes`."
            )
        if len(inputs) != len(itypes):
            raise ValueError(f"{self} takes {len(itypes)} inputs, but {len(inputs)} were given: {inputs}.")
        for position, (variable, expected) in enumerate(zip(inputs, itypes)):
            if not isinstance(variable, Variable):
                raise TypeError(f"Input {position} of {self} must be a variable, not {describe(variable)}.")
            if not expected.is_super(variable.type):
                raise TypeError(
                    f"Invalid input types for Op {self}: input {position} has type {variable.type}, "
                    f"but {expected} is expected."
                )
        return Apply(self, inputs, [otype() for otype in otypes])

    def __call__(self, *inputs: Any, name: str | None = None, return_list: bool = False, **kwargs: Any) -> Any:
        """Apply the Op.

        Parameters
        ----------
        *inputs
            Passed to `make_node`.
        name
            Name of the output, for Ops with one.
        return_list
            Return a list even where there is a single output.
        **kwargs
            Passed to `make_node`.

        Returns
        -------
        Variable or list of Variable
            The default output, the only output, or all outputs.
        """
        node = self.make_node(*inputs, **kwargs)
        try:
            outputs = node.outputs
        except AttributeError:
            raise TypeError(f"make_node of {self} must return an Apply node, got {node!r}.") from None
        if name is not None:
            if len(outputs) == 1:
                outputs[0].name = name
            elif self.default_output is not None:
                outputs[self.default_output].name = name
            else:
                warn_user(f"Cannot name the outputs of {self}: there are {len(outputs)}.")
        if config.compute_test_value != "off":
            compute_test_value(node)
        default = self.default_output
        if default is not None:
            return [outputs[default]] if return_list else outputs[default]
        if return_list:
            return list(outputs)
        if len(outputs) == 1:
            return outputs[0]
        return list(outputs)

    # Provided for subclasses that call it.
    add_tag_trace = staticmethod(add_tag_trace)

    def grad(self, inputs: Sequence[Any], output_grads: Sequence[Any]) -> Sequence[Any]:
        """Return the gradients with respect to `inputs`, given those with respect to the outputs.

        Parameters
        ----------
        inputs
            Inputs of the node.
        output_grads
            Gradients of the cost with respect to each output.
        """
        raise NotImplementedError(f"grad is not implemented for Op {self.__class__.__name__}.")

    def L_op(self, inputs: Sequence[Any], outputs: Sequence[Any], output_grads: Sequence[Any]) -> Sequence[Any]:
        """Return the gradients with respect to `inputs`; unlike `grad` it may use the outputs."""
        return self.grad(inputs, output_grads)

    def R_op(self, inputs: Sequence[Any], eval_points: Sequence[Any]) -> Sequence[Any]:
        """Return the directional derivatives of the outputs along `eval_points`, which may contain None."""
        raise NotImplementedError(f"R_op is not implemented for Op {self.__class__.__name__}.")

    def perform(
        self, node: Apply, inputs: Sequence[Any], output_storage: list[list[Any]], *params: Any, **kwargs: Any
    ) -> None:
        """Compute the outputs.

        Parameters
        ----------
        node
            The node.
        inputs
            Values; they must not be changed unless ``destroy_map`` says so.
        output_storage
            One-element lists to store the outputs in. They may hold earlier outputs, whose memory may be used
            again.
        *params
            What ``get_params`` gives; only passed where the Op defines it. Others need no such parameter.
        """
        name = self.__class__.__name__
        if hasattr(self, "c_code"):
            raise NotImplementedError(
                f"{name} has C code but no `perform`. C code is not compiled here: write what it does in "
                "Python, as the method `perform`."
            )
        raise MethodNotDefined("perform", type(self), name)

    def shown_inputs(self, values: Sequence[Any]) -> Sequence[Any]:
        """Select the input values that an error message shows; by default all, unchanged."""
        return values

    def do_constant_folding(self, fgraph: Any, node: Apply) -> bool:
        """Tell whether rewriting may compute the node where all its inputs are constants."""
        return True

    def prepare_node(
        self, node: Apply, storage_map: dict[Any, Any] | None, compute_map: dict[Any, Any] | None, impl: str | None
    ) -> None:
        """Prepare the node for `make_thunk`; by default nothing."""

    def make_py_thunk(
        self,
        node: Apply,
        storage_map: dict[Any, Any],
        compute_map: dict[Any, Any],
        no_recycling: list[Variable],
        debug: bool = False,
    ) -> ThunkType:
        """Return a thunk that runs `perform`."""
        input_cells = [storage_map[variable] for variable in node.inputs]
        output_cells = [storage_map[variable] for variable in node.outputs]
        computed = [compute_map[variable] for variable in node.outputs] if compute_map is not None else []
        perform = self.perform
        params = node.run_params()
        arguments = () if params is NoParams else (params,)
        arrays = [(k, storage_map[v]) for k, v in enumerate(node.outputs) if hasattr(v.type, "dtype")]

        def run() -> None:
            perform(node, [cell[0] for cell in input_cells], output_cells, *arguments)
            for number, cell in arrays:
                if cell[0] is None:
                    raise empty_output(number)
            for cell in computed:
                cell[0] = True

        thunk: Any = run
        thunk.inputs = input_cells
        thunk.outputs = output_cells
        thunk.perform = perform
        thunk.lazy = False
        return thunk

    def make_thunk(
        self,
        node: Apply,
        storage_map: dict[Any, Any],
        compute_map: dict[Any, Any],
        no_recycling: list[Variable],
        impl: str | None = None,
    ) -> ThunkType:
        """Return a function without parameters that computes the node.

        Parameters
        ----------
        node
            The node.
        storage_map
            Maps variables to the one-element lists that hold their values.
        compute_map
            Maps variables to one-element lists that tell whether they were computed; None where nobody asks.
        no_recycling
            Outputs whose memory must not be used again.
        impl
            Kept for compatibility; thunks always run `perform`.
        """
        self.prepare_node(node, storage_map=storage_map, compute_map=compute_map, impl="py")
        return self.make_py_thunk(node, storage_map, compute_map, no_recycling)

    def __str__(self) -> str:
        return getattr(type(self), "__name__", "Op")

    def __repr__(self) -> str:
        return str(self)


class HasCFile:
    """Ops that have C code in a file in Aesara: its name, for classes derived from theirs. No file is read."""

    #: The file's name, from the folder of the class's module on.
    c_func_file: str = ""

    @classmethod
    def get_path(cls, f: str) -> str:
        """Return the absolute path of a file that is named as seen from the module of the class.

        Examples
        --------
        >>> from aesara.tensor.elemwise import DimShuffle
        >>> os.path.isabs(DimShuffle.get_path(DimShuffle.c_func_file))
        True
        """
        if os.path.isabs(f):
            return f
        module = getattr(sys.modules.get(cls.__module__), "__file__", None)
        return os.path.join(os.path.dirname(os.path.realpath(module)) if module else os.getcwd(), f)


__all__ = [
    "Apply",
    "HasCFile",
    "HasInnerGraph",
    "NoParams",
    "Op",
    "ThunkType",
    "compute_test_value",
    "get_test_value",
    "stand_in",
    "get_test_values",
    "is_thunk_type",
    "missing_test_message",
]
