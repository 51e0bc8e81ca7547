"""Functions that share a container of an argument, copies of them, and what stands where."""

import copy
import pickle

import pytest

import aesara
import aesara.tensor as at
from aesara.compile import DebugMode, In, Mode, ProfileStats
from aesara.compile.ops import update_placeholder
from aesara.graph.null_type import NullType

WAYS = {
    "copy": copy.deepcopy,
    "pickle": lambda things: pickle.loads(pickle.dumps(things)),
    "oldest protocol": lambda things: pickle.loads(pickle.dumps(things, protocol=0)),
}


@pytest.mark.parametrize("way", WAYS)
def test_copies_of_functions_share_what_the_functions_share(way):
    x, s = at.dscalars("x", "s")
    add = aesara.function([x, In(s, value=0.0, update=s + x, mutable=True)], s + x)
    look = aesara.function([x, In(s, value=add.container[s], mutable=True)], s * x)
    scaled = aesara.function([x, In(s, value=10.0)], s * x)
    assert add(3.0) == 3.0
    add2, look2, scaled2 = WAYS[way]([add, look, scaled])
    assert add2.container[1].storage is look2.container[1].storage
    assert add2.container[1].storage is not add.container[1].storage
    assert add2(1.0) == 4.0
    assert look2(2.0) == 8.0
    assert look(2.0) == 6.0
    assert scaled2(2.0, 5.0) == 10.0
    assert scaled2(2.0) == 20.0  # the default is back
    with pytest.raises(TypeError, match="x|Missing"):
        scaled2()


def test_native_functions_name_the_cells_of_their_inputs():
    x, y = at.dscalar("x"), aesara.shared(2.0, name="y")
    f = aesara.function([x], x * y)
    cells = {variable.name: cell for variable, cell in f.vm.storage_map.items()}
    assert set(cells) == {"x", "y", None}
    assert cells["y"] is y.container.storage
    assert cells[None] == [None]  # what is computed is in memory of the call


def test_a_placeholder_of_an_update_is_no_update():
    x, s, t = at.dscalars("x", "s", "t")
    f = aesara.function([x, In(s, value=1.0, update=update_placeholder(s)), In(t, value=1.0, update=t + x)], x + s + t)
    assert len(f.maker.fgraph.outputs) == 2
    assert f.maker.fgraph.update_mapping == {1: 2}
    assert [f(1.0), f(1.0)] == [3.0, 4.0]
    assert (f[s], f[t]) == (1.0, 3.0)


def test_names_and_options_of_aesara():
    assert Mode("py", "merge")._optimizer.include == {"merge"}
    mode = DebugMode(check_isfinite=True)
    mode.check_isfinite = False
    assert not mode.check_isfinite
    ProfileStats(atexit_print=False, gpu_checks=False)


def test_what_does_not_exist_cannot_be_computed():
    with pytest.raises(TypeError, match="NaN. there is none"):
        aesara.function([], NullType("there is none")())
