"""Pickles within pickles, and checksums of what they hold."""

import copy
import io
import pickle

import numpy as np
import pytest
from graph_toys import double, f, g, variables

from aesara.graph.checksums import checksum_of
from aesara.graph.formatting import as_string
from aesara.graph.pickling import NestedPickle, block_of, epoch, reduce_stripped, stripping


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


def change(node, what):
    if what == "operation":
        node.op = g
    elif what == "input":
        node.inputs[1] = node.inputs[0]
    elif what == "more inputs":
        node.inputs.append(node.inputs[0])
    elif what == "fewer inputs":
        node.inputs.pop()
    epoch[0] += what != "nothing"


@pytest.mark.parametrize("what", ["nothing", "another graph", "operation", "input", "more inputs", "fewer inputs"])
def test_a_description_holds_until_a_node_changes(what):
    x, y = variables("xy")
    first = f(x, y)
    second = f(first, y)
    block = block_of([second.owner])
    assert block.nodes == [first.owner, second.owner] and block_of([second.owner, first.owner]) is None
    third = f(second, first)
    assert block_of([third.owner]).nodes == [third.owner]
    change(first.owner, what)
    for _ in range(2):
        assert block.is_fresh() == (what in ("nothing", "another graph"))
    described_anew = block_of([second.owner])
    assert (described_anew is None) == block.is_fresh()
    restored = pickle.loads(pickle.dumps(second))
    assert as_string([restored.owner.inputs[1]], [restored]) == as_string([y], [second])


def test_nodes_and_their_copies_are_pickled_side_by_side():
    x, y = variables("xy")
    out = f(x, y)
    block = block_of([out.owner])
    twin, clone = copy.copy(out.owner), out.owner.clone()
    restored = pickle.loads(pickle.dumps([out.owner, twin, clone]))
    assert len({id(node) for node in restored}) == 3 and block.is_fresh()
    assert [str(node) for node in restored] == ["f(x, y)"] * 3


def test_what_is_stripped_from_tags():
    class Pickler(pickle.Pickler):
        def reducer_override(self, obj):
            return reduce_stripped(obj)

    x = double("x")
    out = f(x)
    out.tag.note, out.tag.other, x.tag.note = "note", "other", "note"

    def stored():
        stream = io.BytesIO()
        Pickler(stream).dump(out)
        return pickle.loads(stream.getvalue())

    with stripping(["note", "unknown"]):
        stripped = stored()
    assert vars(stripped.tag).get("other") == "other" and not hasattr(stripped.tag, "note")
    assert not hasattr(stripped.owner.inputs[0].tag, "note") and stripped.owner.source is None
    whole = stored()
    assert (whole.tag.note, whole.tag.other, whole.owner.source) == ("note", "other", out.owner.source)
    assert (out.tag.note, x.tag.note) == ("note", "note")
