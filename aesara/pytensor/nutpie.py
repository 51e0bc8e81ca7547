"""Models of PyMC for nutpie, whose threads call native code by pointers, without the GIL.

nutpie must be installed: ``pip install aesara[nutpie]``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from itertools import pairwise, product
from threading import Lock
from typing import Any

import numpy as np
import pandas as pd
from nutpie.compile_pymc import CompiledPyMCModel
from pymc.initial_point import make_initial_point_fn

import aesara.tensor as at
from aesara.compile.function import function
from aesara.export import LogpPointer, VectorPointer, logp_pointer, vector_pointer
from aesara.pytensor.model import compile_logp, convert_model_graph

__all__ = ["NutpieModel", "compile_pymc_model"]


@dataclass(frozen=True)
class NutpieModel(CompiledPyMCModel):
    """A model for nutpie; built by `compile_pymc_model`."""

    def with_data(self, **updates: Any) -> NutpieModel:
        """Return the model with other values of its data containers; shapes of variables must stay the same."""
        logp, expand = self.compiled_logp_func, self.compiled_expand_func
        known = {**logp.values, **expand.values}
        unknown = [name for name in updates if name not in known]
        if unknown:
            has = ", ".join(known) or "none"
            raise KeyError(f"The model has no data container {', '.join(unknown)}; it has {has}.")
        return _with_pointers(self, _with_values(logp, updates), _with_values(expand, updates))


def _with_values(pointer: Any, updates: Mapping[str, Any]) -> Any:
    return pointer.with_values(**{name: value for name, value in updates.items() if name in pointer.values})


def _with_pointers(model: NutpieModel, logp: LogpPointer, expand: VectorPointer) -> NutpieModel:
    pointers: dict[str, Any] = {
        "compiled_logp_func": logp,
        "compiled_expand_func": expand,
        "user_data": np.array([logp.table, expand.table], np.uint64),
        "shared_data": {**expand.values, **logp.values},
    }
    return replace(model, **pointers)


def compile_pymc_model(
    model: Any,
    *,
    initial_points: dict[Any, Any] | None = None,
    jitter_rvs: set[Any] | None = None,
    default_initialization_strategy: str = "support_point",
    var_names: Iterable[str] | None = None,
) -> NutpieModel:
    """Compile a model for nutpie, as ``nutpie.compile_pymc_model`` does.

    Parameters
    ----------
    model : pymc.Model
        A model with continuous free variables.
    initial_points : dict, optional
        Initial values or strategies by variable or name, which override those of the model.
    jitter_rvs : set, optional
        Variables whose initial values are shifted by a random number between -1 and 1; by default all, if the strategy
        is ``"support_point"``.
    default_initialization_strategy : {"support_point", "prior"}
        The strategy for initial values.
    var_names : iterable of str, optional
        Variables to store besides the free variables; by default all.

    Returns
    -------
    NutpieModel
        A model for ``nutpie.sample``. Draws depend on the seed, but not on the number of threads.

    Raises
    ------
    NotImplementedError
        If a part of the model runs in Python; the message names it. Samplers of PyMC, with
        ``compile_kwargs={"mode": "AESARA"}``, accept such models.

    Examples
    --------
    >>> import nutpie, pymc as pm  # doctest: +SKIP
    >>> from aesara.pytensor.nutpie import compile_pymc_model  # doctest: +SKIP
    >>> with pm.Model() as model:  # doctest: +SKIP
    ...     x = pm.Normal("x", 0, 1, shape=2)
    >>> trace = nutpie.sample(compile_pymc_model(model), seed=1)  # doctest: +SKIP
    """
    density = compile_logp(model)
    if default_initialization_strategy == "support_point" and jitter_rvs is None:
        jitter_rvs = set(model.free_RVs)
    initial_point = make_initial_point_fn(
        model=model,
        overrides=initial_points,
        default_strategy=default_initialization_strategy,
        jitter_rvs=jitter_rvs,
        return_transformed=True,
    )
    lock = Lock()

    def initial_vector(seed: int | None = None) -> np.ndarray:
        with lock:
            return density.ravel(initial_point(seed))

    free = {variable.name for variable in model.value_vars}
    rest = [variable for variable in model.unobserved_value_vars if variable.name not in free]
    if var_names is not None:
        selected = set(var_names)
        rest = [variable for variable in rest if variable.name in selected]
    x, values = convert_model_graph(model, density.parts, rest)
    flat = [at.cast(at.flatten(value), "float64") for value in values]
    expand = function([x], at.concatenate([x, *flat]) if flat else at.as_tensor_variable(x).copy())
    shapes_of = function([x], [value.shape for value in values], on_unused_input="ignore")
    shapes = [tuple(shape.tolist()) for shape in shapes_of(initial_vector(0))]

    names, sizes = [*density.parts, *(v.name for v in rest)], [*(p.shape for p in density.parts.values()), *shapes]
    ends = np.cumsum([0, *(int(np.prod(shape)) for shape in sizes)]).tolist()
    slices = [slice(a, b) for a, b in pairwise(ends)]
    known = {field.name for field in fields(NutpieModel)}
    newer_fields: dict[str, Any] = {"shared_var_keys": {}}  # since nutpie 0.16.9
    without_pointers = NutpieModel(
        **{name: value for name, value in newer_fields.items() if name in known},
        _n_dim=density.size,
        dims=model.named_vars_to_dims,
        _coords=_coordinates(model, density.parts),
        _shapes=dict(zip(names, sizes)),
        compiled_logp_func=None,
        compiled_expand_func=None,
        initial_point_func=initial_vector,
        shared_data={},
        user_data=None,
        n_expanded=ends[-1],
        shape_info=(names, slices, sizes),
        logp_func=density.function,
        expand_func=expand,
    )
    return _with_pointers(without_pointers, logp_pointer(density), vector_pointer(expand, word=1))


def _coordinates(model: Any, parts: Mapping[str, Any]) -> dict[str, pd.Index]:
    """Return the coordinates of a model, and a name for each entry of the vector."""
    coordinates = {
        name: pd.Index(pd.RangeIndex(int(model.dim_lengths[name].eval())) if values is None else values)
        for name, values in model.coords.items()
    }
    if "unconstrained_parameter" in coordinates:
        raise ValueError("The model has a dimension unconstrained_parameter, which nutpie uses; give it another name.")
    coordinates["unconstrained_parameter"] = pd.Index(
        [
            name + ("_" + ".".join(map(str, index)) if index else "")
            for name, (_, shape) in parts.items()
            for index in product(*map(range, shape))
        ]
    )
    return coordinates
