"""What `import aesara` leaves behind, and what it does to the collection of garbage."""

import gc
import subprocess
import sys
import weakref

import pytest

from aesara.utils import collection_paused


def in_fresh_process(program: str) -> str:
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.strip()


@pytest.mark.parametrize("enabled", [True, False])
def test_importing_leaves_the_collector_as_it_was(enabled):
    switch = "gc.enable()" if enabled else "gc.disable()"
    program = f"import gc\n{switch}\nimport aesara\nprint(gc.isenabled(), gc.get_freeze_count())"
    assert in_fresh_process(program) == f"{enabled} 0"


def test_an_error_while_paused_leaves_the_collector_as_it_was():
    assert gc.isenabled()
    with pytest.raises(ZeroDivisionError), collection_paused():
        assert not gc.isenabled()
        raise ZeroDivisionError
    assert gc.isenabled()


def test_what_a_user_has_frozen_stays_frozen():
    program = (
        "import gc\ngc.freeze()\nbefore = gc.get_freeze_count()\nimport aesara\n"
        "print(before > 0, gc.get_freeze_count() > 0.9 * before, gc.isenabled())"
    )
    assert in_fresh_process(program) == "True True True"


def test_garbage_made_while_paused_is_found_later():
    class Node:
        pass

    with collection_paused():
        node = Node()
        node.itself = node
        trace = weakref.ref(node)
        del node
    assert trace() is not None
    gc.collect()
    assert trace() is None


def test_modules_are_attributes_of_their_packages_as_in_older_versions():
    program = (
        "import aesara\n"
        "print(aesara.raise_op.Assert.__name__, aesara.compile.builders.OpFromGraph.__name__,\n"
        "      aesara.compile.sharedvalue.SharedVariable.__name__, aesara.scalar.basic.Add.__name__,\n"
        "      hasattr(aesara, 'nothing'), hasattr(aesara.compile, 'nothing'))"
    )
    assert in_fresh_process(program) == "Assert OpFromGraph SharedVariable Add False False"
