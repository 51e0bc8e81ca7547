"""Random indexing: arrays, indices in all of NumPy's forms, and values to write; NumPy says what they mean."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

import aesara
import aesara.tensor as at
from aesara.tensor.subtensor import inc_subtensor, set_subtensor

INDEX_DTYPES = ("int64", "int64", "int32", "int8", "uint8", "uint16", "int16", "uint32", "uint64")
KINDS = ("slice", "slice", "slice", "integer", "array", "array", "mask", "new")


@dataclass
class IndexCase:
    """An array, an index of it, and a value to write.

    `numpy_index` is what NumPy takes; `index` the same with variables in it, the values of which are in `values`.
    """

    x: np.ndarray
    numpy_index: tuple[Any, ...]
    index: tuple[Any, ...] = ()
    inputs: list[Any] = field(default_factory=list)
    values: list[Any] = field(default_factory=list)

    def __str__(self) -> str:
        return f"{self.x.dtype}{self.x.shape}[{', '.join(map(repr, self.numpy_index))}]"

    @property
    def is_advanced(self) -> bool:
        return any(isinstance(entry, (np.ndarray, list)) for entry in self.numpy_index)

    def has_repetitions(self) -> bool:
        """Return whether the index names an entry more than once."""
        positions = np.arange(self.x.size).reshape(self.x.shape)[self.numpy_index]
        return np.unique(positions).size < positions.size

    def variable(self, value: Any, static: tuple[int | None, ...] | None = None) -> Any:
        """A variable that stands for a value."""
        value = np.asarray(value)
        shape = (None,) * value.ndim if static is None else static
        variable = at.tensor(str(value.dtype), shape=shape, name=f"i{len(self.inputs)}")
        self.inputs.append(variable)
        self.values.append(value)
        return variable


class IndexGraph:
    """Expressions of an indexed tensor, with NumPy's values.

    The part that is read, the tensor with a value written or added to the part, and the gradients of all of it.
    """

    def __init__(self, case: IndexCase, drawer: Drawer) -> None:
        x, index = case.x, case.numpy_index
        self.case = case
        self.tensor = at.tensor(str(x.dtype), shape=drawer.static(x.shape), name="x")
        part = x[index]
        value = drawer.value(part)
        self.value = at.tensor(str(value.dtype), shape=_broadcasting(drawer.static(value.shape), value, part), name="y")
        self.inputs = [self.tensor, self.value, *case.inputs]
        self.values = [x, value, *case.values]
        self.outputs: dict[str, Any] = {}
        self.expected: dict[str, np.ndarray] = {}
        taken = self.tensor[case.index]
        self._add("part", taken, part)
        self._add("shape", taken.shape, np.array(part.shape, dtype="int64"))
        self._add_written("set", set_subtensor(taken, self.value), lambda out: out.__setitem__(index, value))
        if x.dtype != bool:
            repeated = np.broadcast_to(value, part.shape)
            self._add_written("inc", inc_subtensor(taken, self.value), lambda out: np.add.at(out, index, repeated))
            once = inc_subtensor(taken, self.value, ignore_duplicates=True)
            self._add_written("inc once", once, lambda out: out.__setitem__(index, part + value))
        if x.dtype.kind == "f":
            self._add_gradients(taken, part, value, drawer)

    def _add(self, name: str, variable: Any, expected: Any) -> None:
        self.outputs[name], self.expected[name] = variable, np.asarray(expected)

    def _add_written(self, name: str, variable: Any, write: Any) -> None:
        expected = self.case.x.copy()
        write(expected)
        self._add(name, variable, expected)

    def _add_gradients(self, taken: Any, part: np.ndarray, value: np.ndarray, drawer: Drawer) -> None:
        x, index = self.case.x, self.case.numpy_index
        of_part, of_tensor = drawer.array(part.shape, str(x.dtype)), drawer.array(x.shape, str(x.dtype))
        expected = np.zeros_like(x)
        np.add.at(expected, index, of_part)
        self._add("gradient of part", aesara.grad((taken * of_part).sum(), self.tensor), expected)
        of_value = _summed(of_tensor[index], value.shape)
        g_x, g_y = aesara.grad((self.outputs["inc"] * of_tensor).sum(), [self.tensor, self.value])
        self._add("inc, gradient of tensor", g_x, of_tensor)
        self._add("inc, gradient of value", g_y, of_value)
        g_x, g_y = aesara.grad((self.outputs["set"] * of_tensor).sum(), [self.tensor, self.value])
        expected = of_tensor.copy()
        expected[index] = 0
        self._add("set, gradient of tensor", g_x, expected)
        if not self.case.has_repetitions():
            self._add("set, gradient of value", g_y, of_value)

    def function(self, mode: Any) -> Any:
        return aesara.function(self.inputs, list(self.outputs.values()), mode=mode, on_unused_input="ignore")

    def check_static_shapes(self) -> None:
        for name, variable in self.outputs.items():
            actual = self.expected[name].shape
            assert len(variable.type.shape) == len(actual), name
            assert all(k is None or k == n for k, n in zip(variable.type.shape, actual)), (name, variable.type, actual)

    def check(self, results: Any) -> None:
        for (name, expected), got in zip(self.expected.items(), results):
            assert got.dtype == expected.dtype, name
            assert got.shape == expected.shape, name
            np.testing.assert_array_equal(got, expected, err_msg=f"{name} of {self.case}")


def _broadcasting(known: tuple[int | None, ...], value: np.ndarray, part: np.ndarray) -> tuple[int | None, ...]:
    """Return the static shape of a value: lengths along which it broadcasts are statically 1."""
    n_new = part.ndim - value.ndim
    return tuple(
        1 if size == 1 and part.shape[n_new + axis] != 1 else known[axis] for axis, size in enumerate(value.shape)
    )


def _summed(gradient: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """The gradient of what was broadcast from a shape."""
    gradient = gradient.sum(axis=tuple(range(gradient.ndim - len(shape))))
    repeated = tuple(axis for axis, n in enumerate(shape) if n == 1 and gradient.shape[axis] != 1)
    return gradient.sum(axis=repeated, keepdims=True)


class Drawer:
    """Draws cases."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)

    def below(self, n: int) -> int:
        return int(self.rng.integers(n))

    def pick(self, choices: Any) -> Any:
        return choices[self.below(len(choices))]

    def chance(self, p: float) -> bool:
        return bool(self.rng.random() < p)

    def array(self, shape: tuple[int, ...], dtype: str) -> np.ndarray:
        if dtype == "bool":
            return np.asarray(self.rng.random(shape) < 0.5)
        # Small integers, of which sums are exact.
        return np.asarray(self.rng.integers(0 if dtype[0] == "u" else -9, 9, shape)).astype(dtype)

    def static(self, shape: tuple[int, ...]) -> tuple[int | None, ...]:
        """Draw a static shape: each length is known or None."""
        p = self.pick([0.0, 0.5, 1.0])
        return tuple(n if self.chance(p) else None for n in shape)

    # -- index entries -------------------------------------------------------------------------------------------

    def slice(self, size: int) -> slice:
        def bound() -> int | None:
            return None if self.chance(0.4) else int(self.rng.integers(-size - 3, size + 4))

        step = self.pick([None, None, 1, 2, 3, -1, -1, -2, 7, -7])
        return slice(bound(), bound(), step)

    def positions(self, shape: tuple[int, ...], size: int) -> np.ndarray:
        dtype = self.pick(INDEX_DTYPES)
        low = 0 if dtype[0] == "u" else -size
        if size == 0:
            shape = (0,)
            return np.zeros(shape, dtype)
        return self.rng.integers(low, size, shape).astype(dtype)

    def entries(self, shape: tuple[int, ...]) -> list[Any]:
        """An index without Ellipsis for some of the leading dimensions, or all of them."""
        index: list[Any] = []
        rank = len(shape)
        common = tuple(self.below(3) + (not self.chance(0.1)) for _ in range(self.pick([0, 1, 1, 1, 2, 2])))
        n_masked: int | None = None
        axis = 0
        while axis < rank or self.chance(0.2):
            if self.chance(0.08) and index:
                break
            kind = self.pick(KINDS)
            if len(index) > 6:
                break
            if kind == "new" or axis >= rank:
                index.append(np.array(self.chance(0.7)) if self.chance(0.1) and n_masked is None else None)
                if index[-1] is not None:
                    n_masked = int(index[-1])
                continue
            size = shape[axis]
            if kind == "integer" and size:
                value = int(self.rng.integers(-size, size))
                index.append(self.pick([value, np.int8(value), np.int64(value), np.array(value, "int16")]))
            elif kind == "array":
                index.append(self.broadcastable_positions(common, size, n_masked))
            elif kind == "mask":
                ndim = 1 + self.below(min(3, rank - axis))
                mask = self.rng.random(shape[axis : axis + ndim]) < self.pick([0.2, 0.5, 0.8, 1.0])
                count = int(mask.sum())
                if n_masked is not None and count not in (1, n_masked):
                    continue
                if n_masked is None and not self.fits(index, count):
                    continue
                n_masked = count if n_masked in (None, 1) else n_masked
                index.append(mask)
                axis += ndim
                continue
            else:
                index.append(self.slice(size))
            axis += 1
        return index

    def broadcastable_positions(self, common: tuple[int, ...], size: int, n_masked: int | None) -> Any:
        if n_masked is not None:
            common = (*common[:-1], n_masked) if common else common
        shape = common[self.below(len(common) + 1) :] if self.chance(0.5) else common
        shape = tuple(1 if self.chance(0.2) else n for n in shape)
        found = self.positions(shape, size)
        if found.ndim == 1 and self.chance(0.2):
            return found.tolist()
        return found

    @staticmethod
    def fits(index: list[Any], count: int) -> bool:
        arrays = [np.asarray(e) for e in index if isinstance(e, (np.ndarray, list)) and np.ndim(e)]
        return all(a.shape[-1] in (1, count) or count == 1 for a in arrays if a.dtype != bool)

    # -- cases ---------------------------------------------------------------------------------------------------

    def case(self) -> IndexCase:
        """A case of which NumPy takes the index."""
        while True:
            rank = self.pick([0, 1, 1, 2, 2, 2, 3, 3, 4])
            shape = tuple(self.pick([0, 1, 2, 3, 4, 4]) for _ in range(rank))
            entries = self.entries(shape)
            if self.chance(0.3):
                place = self.below(len(entries) + 1)
                # What Ellipsis stands for is filled up behind it.
                tail = entries[place:]
                kept = rank - sum(_taken(e) for e in entries[:place])
                if sum(_taken(e) for e in tail) <= kept and place == len(entries):
                    entries.append(...)
                elif sum(_taken(e) for e in entries) == rank:
                    entries.insert(place, ...)
            x = self.array(shape, self.pick(["float64"] * 4 + ["float32", "int64", "int8", "bool"]))
            try:
                x[tuple(entries)]
            except IndexError:
                continue
            return self.symbolic(IndexCase(x, tuple(entries)))

    def symbolic(self, case: IndexCase) -> IndexCase:
        """Put variables in place of some parts of the index."""
        index: list[Any] = []
        for entry in case.numpy_index:
            if isinstance(entry, slice):
                index.append(slice(*(self.scalar(case, part) for part in (entry.start, entry.stop, entry.step))))
            elif isinstance(entry, (int, np.integer)):
                index.append(self.scalar(case, entry))
            elif isinstance(entry, np.ndarray) and self.chance(0.6):
                index.append(case.variable(entry, self.static(entry.shape)))
            else:
                index.append(entry)
        case.index = tuple(index)
        return case

    def scalar(self, case: IndexCase, value: Any) -> Any:
        if value is None or self.chance(0.5):
            return value
        dtype = self.pick(INDEX_DTYPES)
        return case.variable(np.asarray(value, dtype=dtype if dtype[0] != "u" or value >= 0 else "int32"))

    def value(self, part: np.ndarray) -> np.ndarray:
        """A value that broadcasts to a part."""
        shape = part.shape[self.below(part.ndim + 1) :] if self.chance(0.4) else part.shape
        shape = tuple(1 if self.chance(0.2) else n for n in shape)
        return self.array(shape, str(part.dtype))


def _taken(entry: Any) -> int:
    if entry is None or entry is Ellipsis:
        return 0
    return entry.ndim if isinstance(entry, np.ndarray) and entry.dtype == bool else 1
