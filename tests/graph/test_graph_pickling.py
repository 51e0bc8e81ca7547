"""Pickles within pickles, and checksums of what they hold."""

import numpy as np

from aesara.graph.checksums import checksum_of
from aesara.graph.pickling import NestedPickle


def test_what_stays_outside_is_there_once_and_is_the_same_object():
    outside, inside = object(), [1, 2]
    packed = NestedPickle.pack([outside, inside, (outside, inside)], lambda obj: obj is outside)
    assert packed.outside == [outside]
    first, copied, (again, alike) = packed.unpack()
    assert first is outside is again and copied == inside and copied is alike is not inside


def test_checksums_tell_arrays_apart():
    arrays = [
        np.arange(6.0),
        np.arange(6.0).reshape(2, 3),
        np.arange(6.0).reshape(3, 2),
        np.arange(6.0).reshape(2, 3).T,
        np.arange(6.0).view("int64"),
        np.arange(6.0) + 1,
        np.arange(6.0).astype("float32"),
        np.zeros(0),
        np.zeros((0, 2)),
        np.array(0.0),
        np.array([None]),
    ]
    assert len({checksum_of("facts", b"data", [array]) for array in arrays}) == len(arrays)
    once = checksum_of("facts", b"data", arrays)
    assert once == checksum_of("facts", b"data", [array.copy() for array in arrays])
    assert once != checksum_of("facts", b"data", arrays[::-1])
    # only the place of what has no bytes counts
    assert checksum_of("f", b"", [np.array([None])]) == checksum_of("f", b"", [object()]) != checksum_of("f", b"", [])
    assert len({checksum_of("a", b"bc"), checksum_of("ab", b"c"), checksum_of("abc", b""), checksum_of("a", b"c")}) == 4
