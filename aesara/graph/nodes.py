"""The nodes of graphs: variables, constants, and applications of Ops."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from copy import copy
from itertools import count
from types import GenericAlias
from typing import Any
from weakref import WeakValueDictionary

from aesara.configdefaults import config
from aesara.graph import hooks, pickling
from aesara.graph.inner import HasInnerGraph
from aesara.graph.messages import describe
from aesara.graph.source import SourceLine, resolve, user_mark
from aesara.graph.utils import MetaObject, NoParams, Scratchpad, TestValueError, ValidatingScratchpad


class Node(MetaObject):
    """A node of a graph: a `Variable` or an `Apply`."""

    name: str | None

    def get_parents(self) -> list[Any]:
        """Return the nodes that this one is computed from."""
        raise NotImplementedError(f"{type(self).__name__} does not define get_parents.")

    __class_getitem__: Any = classmethod(GenericAlias)


class Apply(Node):
    """The application of an Op to inputs.

    Parameters
    ----------
    op
        What is computed.
    inputs
        The variables it is computed from.
    outputs
        New variables for the results; their ``owner`` and ``index`` are set here.

    Attributes
    ----------
    source : SourceLine or None
        The line of the user's program that made the node.
    tag : Scratchpad
        Free for remarks.

    Notes
    -----
    Users call the Op (``op(x, y)``); Ops make nodes in ``make_node``.
    """

    # Class-level defaults keep construction cheap.
    _tag = None
    _block = None  # reference to the description that is used while the node is pickled

    def __init__(self, op: Any, inputs: Sequence[Variable], outputs: Sequence[Variable]) -> None:
        if not isinstance(inputs, (list, tuple)) and not isinstance(inputs, Sequence):
            raise TypeError(f"The inputs of an Apply must be a sequence of Variables, not {inputs!r}.")
        if not isinstance(outputs, (list, tuple)) and not isinstance(outputs, Sequence):
            raise TypeError(f"The outputs of an Apply must be a sequence of Variables, not {outputs!r}.")
        self.op = op
        self.inputs = list(inputs)
        self.outputs = list(outputs)
        for input_ in self.inputs:
            if not isinstance(input_, Variable):
                raise TypeError(
                    f"The 'inputs' argument to Apply must contain Variable instances, not {describe(input_)} "
                    f"(a {type(input_).__name__}). {op}.make_node has to convert its arguments."
                )
        for index, output in enumerate(self.outputs):
            if not isinstance(output, Variable):
                raise TypeError(
                    "The 'outputs' argument to Apply must contain Variable instances with no owner, not "
                    f"{describe(output)}."
                )
            if output.owner is None:
                output.owner = self
                output.index = index
            else:
                raise ValueError(
                    f"All output variables passed to Apply must belong to it, but output {index} "
                    f"({describe(output)}) already "
                    f"belongs to {output.owner}. Make a new variable, for example by `variable.type()`."
                )
        self._source = user_mark(2)

    @property
    def tag(self) -> Scratchpad:
        """Free for remarks."""
        tag = self._tag
        if tag is None:
            tag = self._tag = Scratchpad()
        return tag

    @tag.setter
    def tag(self, tag: Any) -> None:
        self._tag = tag

    @property
    def source(self) -> SourceLine | None:
        """The line of the user's program that made the node."""
        return resolve(self._source)

    @source.setter
    def source(self, source: Any) -> None:
        self._source = source

    def run_params(self) -> Any:
        """Return the parameters that the Op passes to ``perform``, or `NoParams`."""
        get_params = getattr(self.op, "get_params", None)
        return NoParams if get_params is None else get_params(self)

    def default_output(self) -> Variable:
        """Return the output that stands for the node: the only one, or the one the Op names."""
        index = getattr(self.op, "default_output", None)
        if index is None:
            if len(self.outputs) == 1:
                return self.outputs[0]
            raise ValueError(
                f"{self.op} has {len(self.outputs)} outputs and no default_output: choose one of `node.outputs`."
            )
        if not isinstance(index, int):
            raise AttributeError(f"{self.op}.default_output should be an int, not {index!r}.")
        if not 0 <= index < len(self.outputs):
            raise AttributeError(f"{self.op}.default_output is {index}, but the node has {len(self.outputs)} outputs.")
        return self.outputs[index]

    out = property(default_output, doc="The output that stands for the node.")

    @property
    def nin(self) -> int:
        """Number of inputs."""
        return len(self.inputs)

    @property
    def nout(self) -> int:
        """Number of outputs."""
        return len(self.outputs)

    @property
    def params_type(self) -> Any:
        """The Op's type of parameters, or `NoParams`."""
        return getattr(self.op, "params_type", NoParams)

    def get_parents(self) -> list[Variable]:
        """Return the inputs."""
        return list(self.inputs)

    def clone(self, clone_inner_graph: bool = False) -> Apply:
        """Return a node of the same Op and inputs with new outputs.

        Parameters
        ----------
        clone_inner_graph
            Whether an Op with an inner graph is cloned too.
        """
        op = self.op
        if clone_inner_graph and isinstance(op, HasInnerGraph):
            op = op.clone()
        cls = type(self)
        clone = cls.__new__(cls)
        clone.op = op
        clone.inputs = list(self.inputs)
        clone.outputs = outputs = [output.clone() for output in self.outputs]
        if self._tag is not None:
            clone._tag = copy(self._tag)
        clone._source = self._source
        for index, output in enumerate(outputs):
            output.owner = clone
            output.index = index
        return clone

    def clone_with_new_inputs(
        self, inputs: Sequence[Variable], strict: bool = True, clone_inner_graph: bool = False
    ) -> Apply:
        """Return a node of the same Op on other inputs.

        Parameters
        ----------
        inputs
            The new inputs, as many as there are.
        strict
            Whether each new input must fit the type of the one it replaces. Otherwise the Op makes a new node
            where a type differs, whose outputs may have other types.
        clone_inner_graph
            Whether an Op with an inner graph is cloned too.
        """
        if not isinstance(inputs, (list, tuple)):
            raise TypeError(f"The new inputs must be a list or tuple of Variables, not {inputs!r}.")
        if len(inputs) != len(self.inputs):
            raise ValueError(f"{self} has {len(self.inputs)} inputs, but {len(inputs)} were given.")
        new_inputs = list(inputs)
        remake = clone_inner_graph and isinstance(self.op, HasInnerGraph)
        changed_type = False
        for index, (old, new) in enumerate(zip(self.inputs, new_inputs)):
            if old.type != new.type:
                if strict:
                    new_inputs[index] = new = old.type.filter_variable(new)
                    changed_type = changed_type or old.type != new.type
                else:
                    changed_type = True
        if not (remake or changed_type):
            clone = self.clone(clone_inner_graph)
            clone.inputs = new_inputs
            return clone
        op = self.op.clone() if remake else self.op
        clone = op.make_node(*new_inputs)
        clone._tag = copy(self._tag)
        clone._source = self._source
        for old, new in zip(self.outputs, clone.outputs):
            if new.name is None:
                new.name = old.name
            if old._tag is not None and hasattr(old._tag, "test_value"):
                with suppress(TypeError, ValueError):  # the new type may not have this value
                    new.tag.test_value = old._tag.test_value
        return clone

    def __reduce_ex__(self, protocol: Any) -> Any:
        return pickling.reduce_node(self)

    def __copy__(self) -> Any:
        # Ordinary pickling would hand back the node itself.
        clone = Apply.__new__(type(self))
        clone.__dict__.update(self.__dict__)
        clone._block = None
        return clone

    def __str__(self) -> str:
        return f"{self.op}({', '.join(str(input_) for input_ in self.inputs)})"

    def __repr__(self) -> str:
        return str(self)


class Variable(Node):
    """A value in a graph: an input, or a result of an `Apply`.

    Parameters
    ----------
    type
        The `Type` of the values.
    owner
        The node that computes it, or None.
    index
        Its position among the outputs of `owner`.
    name
        For printing and debugging.

    Examples
    --------
    Variables are made by their types::

        x = TensorType("float64", (None, 3))("x")
    """

    #: counts the variables that have been asked for their `auto_name`
    __count__ = count()

    def __init__(
        self, type: Any, owner: Apply | None = None, index: int | None = None, name: str | None = None
    ) -> None:
        if index is not None and not isinstance(index, int):
            raise TypeError(f"The index of a Variable must be an int, not {index!r}.")
        if name is not None and not isinstance(name, str):
            raise TypeError(f"The name of a Variable must be a str, not {name!r}.")
        if owner is not None and not isinstance(owner, Apply):
            raise TypeError(f"The owner of a Variable must be an Apply node, not {owner!r}.")
        self.type = type
        self.owner = owner
        self.index = index
        self.name = name

    # Class-level defaults keep construction cheap.
    _tag = None
    _auto_name: str | None = None

    @property
    def tag(self) -> Scratchpad:
        """Free for remarks; ``tag.test_value`` holds an example value, or that of a constant."""
        tag = self._tag
        if tag is None:
            tag = self._tag = self._new_tag()
        return tag

    @tag.setter
    def tag(self, tag: Any) -> None:
        self._tag = tag

    def _new_tag(self) -> ValidatingScratchpad:
        """A tag whose test value must fit the type."""
        return ValidatingScratchpad("test_value", self.type.filter)

    @property
    def auto_name(self) -> str:
        """A name that no other variable of this process has."""
        if self._auto_name is None:
            self._auto_name = f"auto_{next(Variable.__count__)}"
        return self._auto_name

    @auto_name.setter
    def auto_name(self, name: str) -> None:
        self._auto_name = name

    def get_test_value(self) -> Any:
        """Return the test value; raise `TestValueError` where there is none."""
        tag = self._tag
        if tag is None or not hasattr(tag, "test_value"):
            raise TestValueError(f"{self} has no test value. Set `variable.tag.test_value`." + _creation_remark(self))
        return tag.test_value

    def clone(self, **kwargs: Any) -> Variable:
        """Return a variable of the same type and name that nothing computes.

        Parameters
        ----------
        name
            Another name.
        """
        name = kwargs.pop("name", self.name)
        clone = self.__class__(self.type, None, None, name=name, **kwargs)
        if self._tag is not None:
            clone._tag = copy(self._tag)
        return clone

    def get_parents(self) -> list[Apply]:
        """Return the owner in a list, or an empty list."""
        return [] if self.owner is None else [self.owner]

    def eval(self, inputs_to_values: Any = None, **kwargs: Any) -> Any:
        """Compute the variable.

        Parameters
        ----------
        inputs_to_values
            Values of the inputs it depends on, by variable (or by name).
        **kwargs
            Passed on to the compilation.

        Examples
        --------
        ::

            x, y = aesara.tensor.scalars("x", "y")
            (x + y).eval({x: 1.0, y: 2.0})
        """
        return hooks.eval_variable(self, inputs_to_values, **kwargs)

    def __str__(self) -> str:
        if self.name is not None:
            return self.name
        if self.owner is not None:
            op = self.owner.op
            if self.index == getattr(op, "default_output", None):
                return f"{op}.out"
            return f"{op}.{self.index}"
        return f"<{self.type}>"

    def _repr_html_(self) -> str:
        return hooks.html(self)

    def __repr__(self) -> str:
        text = str(self)
        if config.print_test_value:
            try:
                return f"{text}\n{self.get_test_value()!r}"
            except TestValueError:
                pass
        return text

    def __reduce_ex__(self, protocol: Any) -> Any:
        if self.owner is not None:
            return pickling.reduce_variable(self)
        return super().__reduce_ex__(protocol)

    def __getstate__(self) -> Any:
        state = self.__dict__.copy()
        state.pop("_fn_cache", None)  # compiled functions of `eval`
        tag = state.get("_tag")
        if tag is not None and not config.pickle_test_value and hasattr(tag, "test_value"):
            tag = state["_tag"] = copy(tag)
            del tag.test_value
        return state

    def __copy__(self) -> Any:
        clone = self.__class__.__new__(self.__class__)
        clone.__dict__.update(self.__dict__)
        return clone


def _creation_remark(variable: Variable) -> str:
    source = variable.owner.source if variable.owner is not None else None
    return f" It was created at {source}." if source is not None else ""


class AtomicVariable(Variable):
    """A variable that is never computed and that is known by its signature."""

    def __init__(self, type: Any, name: str | None = None, **kwargs: Any) -> None:
        super().__init__(type=type, owner=None, index=None, name=name, **kwargs)

    def signature(self) -> Any:
        """Return what two equal variables have in common; hashable or at least comparable."""
        raise NotImplementedError(f"{self.__class__.__name__} does not define signature.")

    def merge_signature(self) -> Any:
        """Return the signature by which equal variables of a graph are merged."""
        return self.signature()

    def equals(self, other: object) -> bool:
        """Tell whether `other` stands for the same value."""
        return isinstance(other, self.__class__) and self.signature() == other.signature()

    @property
    def owner(self) -> Any:
        """None: nothing computes it."""
        return None

    @owner.setter
    def owner(self, value: Any) -> None:
        if value is not None:
            raise ValueError(f"{self} is a {self.__class__.__name__}: it cannot be the output of a node.")

    @property
    def index(self) -> Any:
        """None: it is no output."""
        return None

    @index.setter
    def index(self, value: Any) -> None:
        if value is not None:
            raise ValueError(f"{self} is a {self.__class__.__name__}: it cannot be the output of a node.")

    def clone(self, **kwargs: Any) -> Variable:
        """Return an equal variable."""
        raise NotImplementedError(f"{self.__class__.__name__} does not define clone.")


class Constant(AtomicVariable):
    """A variable whose value is known.

    Parameters
    ----------
    type
        The `Type` of the value.
    data
        The value; it is filtered by `type`, and cannot be changed later.
    name
        For printing and debugging.
    """

    def __init__(self, type: Any, data: Any, name: str | None = None) -> None:
        super().__init__(type, name=name)
        self._data = type.filter(data)

    def _new_tag(self) -> ValidatingScratchpad:
        tag: Any = super()._new_tag()
        tag.test_value = self._data
        return tag

    @property
    def data(self) -> Any:
        """The value; it must not be modified."""
        return self._data

    @data.setter
    def data(self, value: Any) -> None:
        raise AttributeError(f"The value of the constant {self} is already set. Make a new constant instead.")

    @property
    def value(self) -> Any:
        """The value; the same as `data`."""
        return self._data

    def get_test_value(self) -> Any:
        """Return the value."""
        return self._data

    def signature(self) -> Any:
        """Return the type and the value, in the form that constants of the type have."""
        own = getattr(self.type, "constant_type", Constant)
        if isinstance(self, own):
            return (self.type, self._data)
        return self.type.make_constant(self._data).signature()

    def equals(self, other: object) -> bool:
        """Tell whether `other` is a constant of the same type and value."""
        return isinstance(other, Constant) and bool(self.signature() == other.signature())

    def clone(self, **kwargs: Any) -> Constant:
        """Return a constant of the same value; the value is shared."""
        clone = self.__class__.__new__(self.__class__)
        clone.__dict__.update(self.__dict__)
        clone._auto_name = None
        if self._tag is not None:
            clone._tag = copy(self._tag)
        if "name" in kwargs:
            clone.name = kwargs.pop("name")
        if kwargs:
            raise TypeError(f"Constant.clone does not take {sorted(kwargs)}.")
        return clone

    def __str__(self) -> str:
        if self.name is not None:
            return self.name
        text = str(self._data)
        if len(text) > 20:
            text = f"{text[:10]} ... {text[-10:]}"
        return f"{self.__class__.__name__}{{{text}}}"


class NominalVariable(AtomicVariable):
    """A variable known by an identifier: two of the same identifier and type are one object.

    Inner graphs are built on nominal variables, so that equal inner graphs are equal node by node.

    Parameters
    ----------
    id
        A hashable identifier.
    typ
        The `Type` of the values.

    Examples
    --------
    ::

        assert NominalVariable(0, some_type) is NominalVariable(0, some_type)
    """

    __instances__: WeakValueDictionary[Any, Any] = WeakValueDictionary()
    _classes: dict[tuple[type, type], type] = {}

    def __new__(cls, id: Any, typ: Any = None, **kwargs: Any) -> Any:
        base = cls._nominal_base if hasattr(cls, "_nominal_base") else cls
        key = (typ, id)
        instance = cls.__instances__.get(key)
        if instance is None:
            instance = object.__new__(base._class_for(typ.variable_type))
            cls.__instances__[key] = instance
        return instance

    @classmethod
    def _class_for(cls, variable_type: type) -> type:
        """Return the class that also has the methods of the type's variables."""
        key = (cls, variable_type)
        found = cls._classes.get(key)
        if found is None:
            bases = (cls,) if issubclass(cls, variable_type) else (cls, variable_type)
            found = type(
                f"Nominal{variable_type.__name__}",
                bases,
                {"_nominal_base": cls, "__module__": cls.__module__},
            )
            cls._classes[key] = found
        return found

    def __init__(self, id: Any, typ: Any, name: str | None = None, **kwargs: Any) -> None:
        if "id" in self.__dict__:
            return  # the one object of this identifier and type exists already
        self.id = id
        Variable.__init__(self, typ, None, None, name=name, **kwargs)

    def clone(self, **kwargs: Any) -> NominalVariable:
        """Return the variable itself."""
        return self

    def signature(self) -> Any:
        """Return the type and the identifier."""
        return (self.type, self.id)

    def equals(self, other: object) -> bool:
        """Tell whether `other` is this variable."""
        return self is other or (isinstance(other, NominalVariable) and self.signature() == other.signature())

    def __reduce_ex__(self, protocol: Any) -> Any:
        return (NominalVariable, (self.id, self.type))

    def __copy__(self) -> Any:
        return self

    def __str__(self) -> str:
        return self.name if self.name is not None else f"*{self.id}-{Variable.__str__(self)}"

    def __repr__(self) -> str:
        return f"{self.__class__.__name__}({self.id!r}, {self.type!r})"
