"""Pickles of models: with arrays in separate files, without data for debugging, and those of Python 2.

Reading a pickle runs what its author wants to be run: read only what you trust.
"""

from __future__ import annotations

import io
import itertools
import pickle
import zipfile
from collections.abc import Callable, Iterable
from typing import Any, BinaryIO

import numpy as np

from aesara.graph.messages import describe
from aesara.graph.pickling import reduce_stripped, stripping
from aesara.graph.shared import SharedVariable

__all__ = [
    "CompatUnpickler",
    "PersistentNdarrayID",
    "PersistentNdarrayLoad",
    "PersistentSharedVariableID",
    "StripPickler",
    "dump",
    "load",
]

DEFAULT_PROTOCOL = pickle.DEFAULT_PROTOCOL
#: The name of the pickle in the archive.
_PICKLE = "pkl"


class StripPickler(pickle.Pickler):
    """A pickler that omits data for debugging: traces, and the source lines of nodes.

    Parameters
    ----------
    file
        A binary file to write to.
    protocol
        The pickle protocol.
    extra_tag_to_remove
        Names of further attributes of the tags of variables and nodes that are left out.

    Examples
    --------
    >>> import io
    >>> x = aesara.tensor.dvector("x")
    >>> x.tag.remark = "long"
    >>> file = io.BytesIO()
    >>> StripPickler(file, protocol=-1, extra_tag_to_remove=["remark"]).dump([x, 2 * x])
    >>> b"long" in file.getvalue()
    False
    """

    def __init__(
        self, file: BinaryIO, protocol: int = 0, extra_tag_to_remove: str | Iterable[str] | None = None
    ) -> None:
        super().__init__(file, protocol)
        extra = [extra_tag_to_remove] if isinstance(extra_tag_to_remove, str) else extra_tag_to_remove or []
        self.tag_to_remove = ["trace", *extra]

    def dump(self, obj: object) -> None:
        """Write an object."""
        with stripping(self.tag_to_remove):
            super().dump(obj)

    def reducer_override(self, obj: object) -> Any:
        return reduce_stripped(obj)


class CompatUnpickler(pickle.Unpickler):
    """An unpickler for files written by Python 2, whose strings, also those in arrays, are read as Latin-1.

    Examples
    --------
    >>> import io, pickle
    >>> CompatUnpickler(io.BytesIO(pickle.dumps([1.5], protocol=2))).load()
    [1.5]
    """

    def __init__(self, file: BinaryIO, **kwargs: Any) -> None:
        super().__init__(file, **{"encoding": "latin1", **kwargs})


class PersistentNdarrayID:
    """Writes each array of a pickle to a separate file of an archive, named ``array_0``, ``array_1``...

    Parameters
    ----------
    zip_file
        The archive.
    """

    def __init__(self, zip_file: zipfile.ZipFile) -> None:
        self.zip_file = zip_file
        self.count = 0
        self.seen: dict[int, tuple[object, str]] = {}  # the objects, too, so that none takes another's place

    def _resolve_name(self, obj: object) -> str:
        """The name of the file of an array."""
        name = f"array_{self.count}"
        self.count += 1
        return name

    def __call__(self, obj: object) -> str | None:
        """The name of the object's file, or None if it belongs to the pickle itself."""
        if type(obj) is not np.ndarray or obj.dtype.hasobject:
            return None
        return self._store(obj, obj)

    def _store(self, obj: object, array: np.ndarray) -> str:
        known = self.seen.get(id(obj))
        if known is None:
            name = self._resolve_name(obj)
            with self.zip_file.open(f"{name}.npy", "w", force_zip64=True) as file:
                np.lib.format.write_array(file, array, allow_pickle=False)
            known = self.seen[id(obj)] = obj, f"ndarray.{name}"
        return known[1]


class PersistentSharedVariableID(PersistentNdarrayID):
    """Names the files of shared variables' arrays after the variables.

    Variables of one name get files with numbers: ``w``, ``w_2``, ``w_3``.

    Parameters
    ----------
    zip_file
        The archive.
    allow_unnamed
        Whether shared variables may be without a name; their files are named as those of other arrays.
    allow_duplicates
        Whether several shared variables may have the same name.
    """

    def __init__(self, zip_file: zipfile.ZipFile, allow_unnamed: bool = True, allow_duplicates: bool = True) -> None:
        super().__init__(zip_file)
        self.allow_unnamed = allow_unnamed
        self.allow_duplicates = allow_duplicates
        self.names: dict[int, tuple[Any, str]] = {}  # of the arrays in cells of shared variables
        self.taken = {_PICKLE}

    def _resolve_name(self, obj: object) -> str:
        named = self.names.get(id(obj))
        return super()._resolve_name(obj) if named is None else named[1]

    def __call__(self, obj: object) -> str | None:
        if isinstance(obj, SharedVariable):
            self._name(obj)
            return None
        return super().__call__(obj)

    def _name(self, variable: SharedVariable) -> None:
        """Remember what the array of a shared variable is called, as soon as the pickler meets the variable."""
        value = variable.container.value
        if not isinstance(value, np.ndarray) or id(value) in self.names:
            return
        name = variable.name
        if not name:
            if not self.allow_unnamed:
                raise ValueError(f"The shared variable {describe(variable)} of type {variable.type} has no name.")
            return
        if name.startswith("array_") or "/" in name or "\\" in name:
            raise ValueError(f"The shared variable {name!r} needs another name: it is to be that of a file.")
        if name in self.taken and name != _PICKLE and not self.allow_duplicates:
            raise ValueError(f"More than one shared variable is named {name!r}.")
        numbered = (f"{name}_{number}" for number in itertools.count(2))
        while name in self.taken:
            name = next(numbered)
        self.taken.add(name)
        self.names[id(value)] = value, name


class PersistentNdarrayLoad:
    """Reads each array of an archive once.

    Parameters
    ----------
    zip_file
        The archive.
    """

    def __init__(self, zip_file: zipfile.ZipFile) -> None:
        self.zip_file = zip_file
        self.cache: dict[str, np.ndarray] = {}

    def __call__(self, persid: str) -> np.ndarray:
        """The array that a pickle refers to."""
        _, _, name = persid.partition(".")
        if name not in self.cache:
            with self.zip_file.open(f"{name}.npy") as file:
                self.cache[name] = np.lib.format.read_array(file, allow_pickle=False)
        return self.cache[name]


def dump(
    obj: object,
    file_handler: BinaryIO,
    protocol: int = DEFAULT_PROTOCOL,
    persistent_id: Callable[[zipfile.ZipFile], Callable[[object], str | None]] = PersistentSharedVariableID,
) -> None:
    """Pickle an object to an archive, with its arrays in files that `numpy.load` reads.

    Parameters
    ----------
    obj
        The object.
    file_handler
        A binary file to write to.
    protocol
        The pickle protocol.
    persistent_id
        Called with the archive; returns what decides of each object whether it gets a file of its own.

    Examples
    --------
    >>> import io
    >>> w = aesara.shared(np.zeros(2), name="w")
    >>> file = io.BytesIO()
    >>> dump((w, np.ones(3)), file)
    >>> sorted(np.load(io.BytesIO(file.getvalue()), allow_pickle=True).keys())
    ['array_0', 'pkl', 'w']
    """
    with zipfile.ZipFile(file_handler, "w", zipfile.ZIP_DEFLATED, allowZip64=True) as archive:
        buffer = io.BytesIO()
        pickler = _ArchivePickler(buffer, protocol)
        pickler.identify = persistent_id(archive)
        pickler.dump(obj)
        archive.writestr(_PICKLE, buffer.getvalue())


def load(
    f: BinaryIO, persistent_load: Callable[[zipfile.ZipFile], Callable[[str], object]] = PersistentNdarrayLoad
) -> Any:
    """Read an archive written by `dump`.

    Parameters
    ----------
    f
        A binary file.
    persistent_load
        Called with the archive; returns what reads the objects that have a file of their own.

    Examples
    --------
    >>> import io
    >>> file = io.BytesIO()
    >>> dump(aesara.shared(np.arange(2), name="w"), file)
    >>> load(file).get_value()
    array([0, 1])
    """
    with zipfile.ZipFile(f) as archive:
        unpickler = _ArchiveUnpickler(io.BytesIO(archive.read(_PICKLE)))
        unpickler.fetch = persistent_load(archive)
        return unpickler.load()


class _ArchivePickler(pickle.Pickler):
    identify: Callable[[object], str | None]

    def persistent_id(self, obj: object) -> str | None:
        return self.identify(obj)


class _ArchiveUnpickler(pickle.Unpickler):
    fetch: Callable[[str], object]

    def persistent_load(self, pid: str) -> Any:
        return self.fetch(pid)
