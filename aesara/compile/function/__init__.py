"""`function`: from variables to something that can be called."""

from __future__ import annotations

import pickle
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aesara.compile.function import types
from aesara.compile.function.function import Function
from aesara.compile.function.inputs import OutputNameError
from aesara.compile.function.maker import orig_function
from aesara.compile.function.pfunc import pfunc, rebuild_collect_shared
from aesara.compile.io import In, Out
from aesara.configdefaults import config
from aesara.graph import hooks
from aesara.graph.nodes import Variable
from aesara.graph.source import user_source

if TYPE_CHECKING:
    from aesara.compile.mode import Mode
    from aesara.compile.profile_stats import ProfileStats


def function(
    inputs: Sequence[Any],
    outputs: Any = None,
    mode: Any = None,
    updates: Any = None,
    givens: Any = None,
    no_default_updates: Any = False,
    accept_inplace: bool = False,
    name: str | None = None,
    rebuild_strict: bool = True,
    allow_input_downcast: bool | None = None,
    profile: Any = None,
    on_unused_input: str | None = None,
) -> Function:
    """Compile a function that computes `outputs` from `inputs`.

    Parameters
    ----------
    inputs : list
        Variables, `In` objects, or pairs ``(variable, default value)``.  Constants and shared
        variables cannot be inputs.
    outputs : variable, Out, list, dict or None
        What to compute: the function returns a value, a list of values, a dict of values, or None.
    mode : str or Mode
        Rewrites and linker, such as ``"FAST_RUN"`` (default) or ``"FAST_COMPILE"``.
    updates : dict or list of pairs
        Shared variables and the expressions of their next values, which are stored together after
        everything has been computed.  When a call fails, all keep their values.
    givens : dict or list of pairs
        Variables, and what takes their place in the graph.
    no_default_updates : bool or list
        True, or a list of shared variables: leave their ``default_update`` out.
    accept_inplace : bool
        Whether the graph may hold operations that overwrite their inputs.
    name : str
        A name for error messages.  Default: the line of the program that calls `function`.
    rebuild_strict : bool
        Whether what `givens` puts in place of a variable must have its type.
    allow_input_downcast : bool or None
        Whether arguments of higher precision are converted: always, never, or (None) only Python
        floats to floats of ``config.floatX``.
    profile : bool, str, ProfileStats or None
        True, or a message for the page: measure calls and compiling in a `ProfileStats`, the function's attribute
        ``profile``, whose summary is printed when the program ends.  Default: ``config.profile``.
    on_unused_input : {'raise', 'warn', 'ignore'}
        What to do with inputs that no output needs.  Default: ``config.on_unused_input``.

    Returns
    -------
    Function
        Call it with values of the inputs, by position or by name.  Its results are new arrays.

    Raises
    ------
    UnusedInputError
        When an input is not needed, or given twice.
    MissingInputError
        When the outputs need a variable that is not among the inputs.

    Examples
    --------
    >>> x, y = aesara.tensor.dscalars("x", "y")
    >>> f = aesara.function([x, In(y, value=2.0)], {"sum": x + y, "product": x * y})
    >>> f(3.0)
    {'product': array(6.), 'sum': array(5.)}
    """
    if not isinstance(inputs, (list, tuple)):
        raise TypeError(
            "Input variables of an Aesara function should be contained in a list, even when there is a single input, "
            f"got {inputs!r}."
        )
    output_keys = None
    if isinstance(outputs, Mapping):
        for key in outputs:
            if not isinstance(key, str):
                raise OutputNameError(
                    f"The names of outputs given as a dict must be strings, got {key!r} ({type(key)})."
                )
        output_keys = sorted(outputs)
        outputs = [outputs[key] for key in output_keys]
    if name is None:
        source = user_source()
        name = None if source is None else source.place
    return pfunc(
        params=inputs,
        outputs=outputs,
        mode=mode,
        updates=() if updates is None else updates,
        givens=() if givens is None else givens,
        no_default_updates=no_default_updates,
        accept_inplace=accept_inplace,
        name=name,
        rebuild_strict=rebuild_strict,
        allow_input_downcast=allow_input_downcast,
        profile=profile,
        on_unused_input=on_unused_input,
        output_keys=output_keys,
    )


def function_dump(
    filename: str | Path,
    inputs: Sequence[object],
    outputs: object = None,
    mode: Mode | str | None = None,
    updates: object = None,
    givens: object = None,
    no_default_updates: object = False,
    accept_inplace: bool = False,
    name: str | None = None,
    rebuild_strict: bool = True,
    allow_input_downcast: bool | None = None,
    profile: ProfileStats | None = None,
    on_unused_input: str | None = None,
    extra_tag_to_remove: object = None,
) -> None:
    """Write the arguments of `function` to a file instead of compiling, for example to report a problem.

    Load it again with ``aesara.function(**pickle.load(open(filename, "rb")))``.

    Parameters
    ----------
    filename
        The file to write.
    extra_tag_to_remove
        Accepted for compatibility; has no effect.
    """
    arguments = {
        "inputs": inputs,
        "outputs": outputs,
        "mode": mode,
        "updates": updates,
        "givens": givens,
        "no_default_updates": no_default_updates,
        "accept_inplace": accept_inplace,
        "name": name,
        "rebuild_strict": rebuild_strict,
        "allow_input_downcast": allow_input_downcast,
        "profile": profile,
        "on_unused_input": on_unused_input,
    }
    with open(filename, "wb") as file:
        pickle.dump(arguments, file, protocol=pickle.HIGHEST_PROTOCOL)


class _EvalCache(dict):
    """Functions that `Variable.eval` has compiled; they are neither copied nor stored with the variable."""

    def __reduce__(self) -> tuple:
        return _EvalCache, ()

    def __copy__(self) -> _EvalCache:
        return _EvalCache()

    def __deepcopy__(self, memo: dict[int, object]) -> _EvalCache:
        return _EvalCache()


def eval_variable(variable: Variable, inputs_to_values: Mapping[object, object] | None = None, **kwargs: Any) -> Any:
    """Compile a variable, keeping the function for next time, and compute its value."""
    if inputs_to_values is not None and not isinstance(inputs_to_values, Mapping):
        raise TypeError(f"eval() takes a dict from variables to values, got {type(inputs_to_values).__name__}.")
    values = dict(inputs_to_values or {})
    for one in values:
        if not isinstance(one, Variable):
            raise TypeError(f"eval() takes a dict from variables to values, got the key {one!r} ({type(one)}).")
    cache = variable.__dict__.setdefault("_fn_cache", _EvalCache())
    key: tuple[Any, ...] | None = (
        frozenset(values),
        config.mode,
        config.linker,
        config.optimizer,
        tuple(sorted(kwargs.items())) if kwargs else (),
    )
    try:
        compiled = cache.get(key)
    except TypeError:  # an unhashable option
        compiled, key = None, None
    if compiled is None:
        compiled = function(list(values), variable, **kwargs)
        if key is not None:
            cache[key] = compiled
    return compiled(*[values[spec.variable] for spec in compiled.maker.inputs if not spec.implicit])


hooks.eval_variable.set(eval_variable)


@hooks.compile_step.set
def compile_step(
    inputs: Sequence[Variable],
    outputs: Sequence[Variable],
    mode: object = None,
    name: str | None = None,
    overwritten: Sequence[Variable] = (),
    on_unused_input: str = "ignore",
    **options: Any,
):
    """Compile the graph inside of an operation; the results of the function are only looked at until the next call.

    Values of the inputs that may be `overwritten` are not used again by the caller; `options` are those of `function`.
    """
    borrowed = [Out(out, borrow=True) for out in outputs]
    given = [In(v, mutable=True, borrow=True) if v in overwritten else v for v in inputs]
    return function(given, borrowed, mode=mode, name=name, on_unused_input=on_unused_input, **options)


__all__ = [
    "Function",
    "In",
    "Out",
    "function",
    "function_dump",
    "orig_function",
    "pfunc",
    "rebuild_collect_shared",
    "types",
]

# In `aesara.compile` this package has the name of its function, which so leads on to what is here.
for _name in __all__:
    setattr(function, _name, globals()[_name])
