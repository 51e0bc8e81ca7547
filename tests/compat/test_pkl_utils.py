"""Archives of arrays, pickles without what debugging needs, pickles of Python 2."""

import io
import pickle
import zipfile

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.misc.pkl_utils import (
    CompatUnpickler,
    PersistentNdarrayID,
    PersistentNdarrayLoad,
    PersistentSharedVariableID,
    StripPickler,
    dump,
    load,
)


def archived(obj, **options):
    file = io.BytesIO()
    dump(obj, file, **options)
    return io.BytesIO(file.getvalue())


def test_shared_variables_name_their_files():
    values = [aesara.shared(np.arange(n), name=name) for n, name in enumerate(["w", "w", "w_2", "pkl", None])]
    extra = np.ones(2)
    file = archived((values, extra, extra))
    arrays = np.load(file, allow_pickle=True)
    assert set(arrays) - {"pkl"} == {"w", "w_2", "w_2_2", "pkl_2", "array_0", "array_1"}
    assert arrays["w_2"].tolist() == [0] and arrays["w_2_2"].tolist() == [0, 1]
    again, one, other = load(file)
    assert [v.name for v in again] == [v.name for v in values]
    assert [v.get_value().tolist() for v in again] == [v.get_value().tolist() for v in values]
    assert one is other


def test_what_is_no_array_takes_no_name_away():
    generator = aesara.shared(np.random.default_rng(1), name="w")
    array = np.arange(3.0)
    file = archived((generator, aesara.shared(array, name="w", borrow=True), array))
    arrays = np.load(file, allow_pickle=True)
    assert arrays["w"].tolist() == [0.0, 1.0, 2.0] and "w_2" not in arrays
    again, variable, one = load(file)
    assert again.get_value().normal() == np.random.default_rng(1).normal()
    assert variable.get_value(borrow=True) is one and one.tolist() == [0.0, 1.0, 2.0]


def test_an_array_of_two_shared_variables_is_stored_once():
    array = np.arange(3.0)
    pair = [aesara.shared(array, name=name, borrow=True) for name in ("first", "second")]
    file = archived(pair)
    assert set(np.load(file, allow_pickle=True)) - {"pkl"} == {"first"}
    assert [one.get_value().tolist() for one in load(file)] == [[0.0, 1.0, 2.0]] * 2


def test_functions_in_archives():
    x, w = at.dvector("x"), aesara.shared(np.arange(3.0), name="w")
    f = aesara.function([x], (w * x).sum(), updates={w: w + x})
    f([1.0, 1.0, 1.0])
    g, v = load(archived((f, w)))
    assert g([1.0, 2.0, 3.0]) == 14.0
    assert v.get_value().tolist() == [2.0, 4.0, 6.0] and w.get_value().tolist() == [1.0, 2.0, 3.0]


def test_arrays_only():
    array = np.arange(6.0).reshape(2, 3).T
    objects = np.array([None, 1], dtype=object)
    file = archived({"a": array, "o": objects}, persistent_id=PersistentNdarrayID)
    assert sorted(np.load(file, allow_pickle=True)) == ["array_0", "pkl"]
    again = load(file)
    np.testing.assert_array_equal(again["a"], array)
    assert again["o"].tolist() == [None, 1]


def test_arrays_are_in_their_files_only(rng):
    """Each once, and the pickle has its name in its place."""
    whole = rng.normal(size=(30, 20))
    arrays = [whole, whole.T, whole[::-2], whole.astype("complex64"), whole > 0, rng.integers(2**60, size=9)]
    arrays += [np.array(whole[0, 0]), np.zeros((0, 3)), np.array([("a", 1.5)], dtype=[("k", "U1"), ("v", "f8")])]
    file = archived([*arrays, aesara.shared(whole[1:], name="w", borrow=True), arrays])
    asked = []

    def noting(archive):
        fetch = PersistentNdarrayLoad(archive)
        return lambda name: asked.append(name) or fetch(name)

    *again, w, same = load(file, persistent_load=noting)
    np.testing.assert_array_equal(w.get_value(), whole[1:])
    assert [*map(id, same)] == [*map(id, again)]
    for one, array in zip(again, arrays, strict=True):
        assert one.dtype == array.dtype and one.shape == array.shape and one.tobytes() == array.tobytes()
    names = [f"array_{k}" for k in range(len(arrays))]
    assert asked == [f"ndarray.{name}" for name in [*names, "w", *names]]
    with zipfile.ZipFile(file) as archive:
        assert sorted(archive.namelist()) == sorted(["pkl", "w.npy", *(f"{name}.npy" for name in names)])
        pickled = archive.read("pkl")
    assert not any(array.tobytes() in pickled for array in arrays if array.size > 1)


class Arrays:
    """Is pickled as a list of arrays that nothing else holds."""

    def __reduce__(self):
        return list, (), None, (np.full(3, k) for k in range(50))


def test_arrays_that_are_made_for_the_pickle():
    """None takes the place of another one that was at the same place in memory."""
    assert [array.tolist() for array in load(archived(Arrays()))] == [[k] * 3 for k in range(50)]


def test_names_that_are_refused():
    def pair(*names):
        return [aesara.shared(np.ones(1), name=name) for name in names]

    with pytest.raises(ValueError, match="no name"):
        archived(pair(None), persistent_id=lambda z: PersistentSharedVariableID(z, allow_unnamed=False))
    with pytest.raises(ValueError, match="More than one"):
        archived(pair("a", "a"), persistent_id=lambda z: PersistentSharedVariableID(z, allow_duplicates=False))
    for name in ("array_3", "a/b", "..\\a"):
        with pytest.raises(ValueError, match="another name"):
            archived(pair(name))


def test_stripped_pickles():
    x = at.dvector("x")
    y = at.exp(x)
    x.tag.trace = y.tag.trace = y.owner.tag.trace = ["a long story"]
    y.tag.note = "kept"
    x.tag.remark = "left out"
    file = io.BytesIO()
    StripPickler(file, protocol=-1, extra_tag_to_remove="remark").dump((x, y))
    assert y.owner.source is not None and x.tag.trace and x.tag.remark
    data = file.getvalue()
    assert b"story" not in data and b"left out" not in data and __file__.encode() not in data
    u, v = pickle.loads(data)
    assert v.tag.note == "kept" and not hasattr(v.tag, "trace") and v.owner.inputs == [u]
    assert v.owner.source is None
    assert b"story" in pickle.dumps(y)


def test_stripped_functions():
    x = at.dvector("x")
    f = aesara.function([x], at.exp(x), mode="FAST_COMPILE", name="f")
    file = io.BytesIO()
    StripPickler(file, protocol=-1).dump(f)
    assert __file__.encode() not in file.getvalue() and __file__.encode() in pickle.dumps(f)
    np.testing.assert_array_equal(pickle.loads(file.getvalue())([0.0]), [1.0])


def test_strings_of_python_2():
    # What Python 2 writes for the string "\xe9" with protocol 0.
    assert CompatUnpickler(io.BytesIO(b"S'\\xe9'\np0\n.")).load() == "\xe9"
    with pytest.raises(UnicodeDecodeError):
        pickle.loads(b"S'\\xe9'\np0\n.")
