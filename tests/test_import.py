"""Side effects of `import aesara`, among them those on garbage collection."""

import gc
import subprocess
import sys
import weakref

import pytest

import aesara
from aesara.utils import collection_paused


def in_fresh_process(program: str) -> str:
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.strip()


@pytest.mark.parametrize("enabled", [True, False])
def test_importing_leaves_the_collector_as_it_was(enabled):
    switch = "gc.enable()" if enabled else "gc.disable()"
    program = (
        f"import gc\n{switch}\nbefore = gc.get_freeze_count()\nimport aesara\n"
        "print(gc.isenabled(), gc.get_freeze_count() <= before)"
    )
    assert in_fresh_process(program) == f"{enabled} True"


@pytest.mark.parametrize("version", ["3.13.1 experimental free-threading build (main)", "3.14.0 free-threading build"])
def test_builds_of_python_without_the_gil_are_refused(version):
    program = (
        f"import sys\nsys.version = {version!r}\ntry:\n    import aesara\nexcept ImportError as error:\n"
        "    print(error, 'llvmlite' in sys.modules)"
    )
    text = in_fresh_process(program)
    assert f"does not support free-threaded builds of Python, and this is Python {version.split(' (')[0]}" in text
    assert "Use the build of the same version with the GIL" in text and text.endswith("False")


def test_importing_needs_no_test_values():
    program = (
        "import os\nos.environ['AESARA_FLAGS'] = 'compute_test_value=raise'\nimport aesara\n"
        "from aesara import sparse\nfrom aesara.tensor import nnet, signal, linalg\n"
        "print(aesara.config.compute_test_value)"
    )
    assert in_fresh_process(program) == "raise"


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
        "      aesara.compile.function.types.Function.__name__, aesara.compile.function.pfunc.__name__,\n"
        "      hasattr(aesara, 'nothing'), hasattr(aesara.compile, 'nothing'))"
    )
    assert in_fresh_process(program) == "Assert OpFromGraph SharedVariable Add Function pfunc False False"


def test_modules_behind_a_function_of_their_name_can_be_renamed_when_they_are_imported():
    program = (
        "import aesara.compile.function.types as types\nimport aesara.compile.function as function\n"
        "print(types.__name__, callable(function))"
    )
    assert in_fresh_process(program) == "aesara.compile.function.types True"


@pytest.mark.parametrize(
    "expression, shows",
    [
        ("at.nnet.relu(at.dvector('x')).type.ndim", "1"),
        ("at.relu is at.nnet.relu", "True"),
        ("at.log_softmax is at.special.log_softmax", "True"),
        ("at.conv2d.__name__", "conv2d"),
        ("hasattr(at, 'no_such_thing'), hasattr(at, 'blas_c'), hasattr(at, '__wrapped__')", "False False False"),
    ],
)
def test_functions_of_neural_networks_are_loaded_when_asked_for(expression, shows):
    program = (
        "import sys\nimport aesara.tensor as at\nbefore = 'aesara.tensor.nnet' in sys.modules\n"
        f"print(before, {expression})"
    )
    assert in_fresh_process(program) == f"False {shows}"


def test_unknown_names_hint_at_known_ones():
    for module, name, known in (
        ("aesara.tensor", "maxmium", "maximum"),
        ("aesara.tensor", "log_sotfmax", "log_softmax"),
        ("aesara", "fucntion", "function"),
        ("aesara.scalar", "flaot64", "float64"),
    ):
        with pytest.raises(AttributeError, match=f"'{module}' has no attribute '{name}'. Did you mean .*{known}"):
            getattr(sys.modules[module], name)
    with pytest.raises(AttributeError, match="has no attribute 'qwertz'$"):
        aesara.tensor.qwertz


def test_rules_about_matrices_are_loaded_with_the_first_function_after_linear_algebra():
    """A graph without linear algebra does not wait for them, neither at the import nor when it is compiled."""
    program = (
        "import sys\nimport aesara, aesara.tensor as at\n"
        "loaded = lambda: any('linear_algebra.solve' in m or 'rewriting.matrices' in m for m in sys.modules)\n"
        "x, a = at.dvector('x'), at.dmatrix('a')\n"
        "aesara.function([x], [x.sum(), at.random.normal(x)])\nprint(loaded(), end=' ')\n"
        "aesara.function([a], at.linalg.inv(a))\nprint('aesara.tensor.rewriting.matrices.lengths' in sys.modules)"
    )
    assert in_fresh_process(program) == "False True"


def test_what_few_programs_use_is_imported_when_it_is_used():
    program = (
        "import sys, aesara, aesara.tensor\n"
        "few = ('aesara.tensor.random', 'aesara.printing', 'aesara.sparse', 'aesara.link.llvm.draws')\n"
        "print([name for name in few if name in sys.modules])\n"
        "aesara.tensor.random.normal, aesara.dprint, aesara.explain\n"
        "print([name for name in few if name in sys.modules], 'dprint' in dir(aesara))"
    )
    assert in_fresh_process(program).splitlines() == ["[]", "['aesara.tensor.random', 'aesara.printing'] True"]


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("np.random.default_rng(1)", "RandomGeneratorSharedVariable"),
        ("np.random.RandomState(1)", "RandomStateSharedVariable"),
        ("type('Own', (np.random.Generator,), {})(np.random.PCG64(1))", "RandomGeneratorSharedVariable"),
        ("scipy.sparse.csr_matrix(np.eye(2))", "SparseTensorSharedVariable"),
        ("{1: 2}", "SharedVariable"),
    ],
)
def test_shared_variables_of_types_that_are_not_imported_yet(value, kind):
    program = f"import aesara, numpy as np, scipy.sparse\nprint(type(aesara.shared({value})).__name__)"
    assert in_fresh_process(program) == kind


def test_messages_show_formulas_before_anything_was_printed():
    program = (
        "import aesara, aesara.tensor as at\nx = at.dvector('x')\nf = aesara.function([x], x[7])\n"
        "try:\n    f([1.0])\nexcept IndexError as error:\n    print('It computes: x[7]' in str(error))"
    )
    assert in_fresh_process(program) == "True"


def test_what_checks_and_measures_programs_is_loaded_when_it_is_asked_for():
    program = (
        "import sys, numpy\n"
        "by_numpy = 'hashlib' in sys.modules\n"  # NumPy 1 loads it with its generators
        "import aesara\n"
        "late = ('debugmode', 'monitormode', 'nanguardmode', 'nan_where', 'profiling', 'profile_stats')\n"
        "x = aesara.tensor.dvector()\n"
        "aesara.function([x], x + 1)([1.0])\n"
        "loaded = [name for name in late if f'aesara.compile.{name}' in sys.modules]\n"
        "print(loaded, 'hashlib' in sys.modules and not by_numpy)\n"
        "modes = aesara.compile.predefined_modes\n"
        "is_one = modes['DEBUG_MODE'] is aesara.compile.get_mode('DebugMode')\n"
        "print(len(modes), type(modes['NanWhere']).__name__, is_one)\n"
        "print(type(aesara.function([x], x, mode='MonitorMode').maker.mode).__name__, aesara.ProfileStats.__name__)"
    )
    assert in_fresh_process(program).splitlines() == [
        "[] False", "9 NanWhere True", "MonitorMode ProfileStats",
    ]  # fmt: skip


def test_names_of_packages_are_offered_wherever_they_live():
    scope = {}
    exec("from aesara.compile import *", scope)
    assert scope["DebugMode"] is aesara.compile.debugmode.DebugMode
    assert {"NanGuardMode", "NanWhere", "MonitorMode", "ProfileStats", "function", "Mode"} <= scope.keys()
    assert "TYPE_CHECKING" not in scope
