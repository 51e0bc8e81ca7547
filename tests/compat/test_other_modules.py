"""Every module of Aesara 2.9.4 exists, or importing it says what to use; and the small ones that stand alone."""

import importlib
import subprocess
import sys
import warnings
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.compat.other_modules import OTHER_MODULES, what_instead
from aesara.gradient import verify_grad
from aesara.graph.op import Op
from aesara.graph.sched import (
    key_to_cmp,
    make_dependence_cmp,
    make_depends,
    posort,
    reverse_dict,
    sort_apply_nodes,
    sort_schedule_fn,
)
from aesara.link.c.op import COp, ExternalCOp
from aesara.link.c.type import CType, Type, generic
from aesara.link.vm import VMLinker
from aesara.misc.may_share_memory import may_share_memory
from aesara.misc.ordered_set import OrderedSet
from aesara.misc.safe_asarray import _asarray
from aesara.sparse import csr_matrix
from aesara.tensor import inplace
from aesara.tensor.elementwise import ops, special
from aesara.tensor.nnet.conv3d2d import conv3d
from aesara.tensor.nnet.neighbours import Images2Neibs, images2neibs, neibs2images
from aesara.tensor.random.type import random_generator_type
from aesara.tensor.type_other import slicetype
from aesara.tensor.xlogx import xlogx, xlogy0
from aesara.typed_list import TypedListType
from tests.closeness import assert_close

MODULES = (Path(__file__).parent / "modules_of_aesara.txt").read_text(encoding="utf-8").split()
PACKAGE = Path(aesara.__file__).parent


def exists(name):
    path = PACKAGE.parent / Path(*name.split("."))
    return path.is_dir() or path.with_suffix(".py").exists()


@pytest.mark.parametrize("name", MODULES)
def test_every_module_exists_or_says_what_to_use(name):
    if name.startswith(("aesara.link.jax.dispatch", "aesara.link.jax.jax_dispatch")) and not find_spec("jax"):
        pytest.skip("needs JAX: see make test-jax")
    if exists(name):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            importlib.import_module(name)
        assert name in sys.modules
        return
    with pytest.raises(ImportError, match="There is no module 'aesara[.]") as caught:
        importlib.import_module(name)
    assert what_instead(name) in str(caught.value)


def test_the_list_is_whole():
    assert len(MODULES) == 215
    assert sum(map(exists, MODULES)) >= 110


def test_the_table_has_no_module_that_exists():
    assert not [name for name in OTHER_MODULES if exists(name) and name not in ("aesara.misc", "aesara.link.c")]
    for name in OTHER_MODULES:
        assert any(module == name or module.startswith(name + ".") for module in MODULES), name


@pytest.mark.parametrize(
    "statement, says",
    [
        ("from aesara.tensor import blas_c", "aesara.tensor.blas"),
        ("import aesara.sandbox.solve", "aesara.tensor"),
        ("from aesara.sandbox.linalg.ops import spectral_radius_bound", "aesara.tensor"),
        ("from aesara.link.c.params_type import ParamsType", "adding_a_lowering"),
        ("from aesara.link.c.cmodule import GCC_compiler", "through LLVM"),
    ],
)
def test_forms_of_import(statement, says):
    with pytest.raises(ModuleNotFoundError, match=says):
        exec(statement, {})


def test_other_imports_fail_as_ever():
    with pytest.raises(ModuleNotFoundError, match=r"No module named 'aesara\.tensor\.nothing'"):
        importlib.import_module("aesara.tensor.nothing")
    with pytest.raises(ModuleNotFoundError, match="No module named 'nothing_like_it'"):
        importlib.import_module("nothing_like_it")
    assert what_instead("numpy.linalg") is None and what_instead("aesara.tensor") is None
    assert not hasattr(at, "blas_c")


def test_they_cost_no_time():
    program = "import sys, aesara; print(*[m for m in sys.modules if 'nnet' in m or 'misc' in m or 'link.c' in m])"
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stdout.strip() == ""


# -- small modules -------------------------------------------------------------


def test_version():
    assert importlib.import_module("aesara.version").version == aesara.__version__


def test_raising_ops_under_their_older_path():
    x = at.dscalar("x")
    old = importlib.import_module("aesara.assert_op")
    with pytest.raises(AssertionError):
        aesara.function([x], old.assert_op(x, x > 0))(-1.0)


def test_helpers():
    assert list(OrderedSet([3, 1, 3, 2])) == [3, 1, 2]
    assert _asarray([1, 2], "float32").dtype == "float32"
    a = np.zeros(4)
    assert may_share_memory(a, a[1:]) and not may_share_memory(a, a.copy())
    with pytest.raises(TypeError, match="needs arrays"):
        may_share_memory(a, [1])
    assert may_share_memory(a, [1], raise_other_type=False) is False


class TestOrders:
    def test_comparisons(self):
        assert [key_to_cmp(abs)(a, b) for a, b in ((1, -2), (2, -2), (-3, 2))] == [-1, 0, 1]
        assert reverse_dict({"a": (1, 2), "b": (2, 3), "c": ()}) == {1: ("a",), 2: ("a", "b"), 3: ("b",)}
        assert posort([3, 1, 4, 2], key_to_cmp(lambda n: n % 2), key_to_cmp(lambda n: n)) == [2, 4, 1, 3]
        assert posort([3, 1, 2]) == [3, 1, 2]
        assert posort([3, 1, 2], key_to_cmp(lambda n: n > 1), key_to_cmp(lambda n: -n)) == [1, 3, 2]
        ring = {(0, 1): -1, (1, 2): -1, (0, 2): 1}
        assert sorted(posort([0, 1, 2], lambda a, b: ring.get((a, b), 0))) == [0, 1, 2]

    def test_dependences(self):
        x = at.dvector("x")
        y = at.exp(x)
        z = y + 1
        depends = make_depends()
        assert depends((z.owner, y.owner)) and depends((z, x)) and depends((z.owner, x))
        assert not depends((y.owner, z.owner)) and not depends((x, z))
        compare = make_dependence_cmp()
        assert (compare(z.owner, y.owner), compare(y.owner, z.owner), compare(x, at.dscalar())) == (1, -1, 0)

    @pytest.mark.parametrize("sign", [1, -1])
    def test_nodes(self, sign):
        x = at.dvector("x")
        parts = [at.exp(x), at.sin(x), at.cos(x)]
        total = parts[0] + parts[1] * parts[2]
        by_name = key_to_cmp(lambda node: sign * ord(str(node.op)[len("Elemwise{")]))
        order = sort_apply_nodes([x], [total], [by_name])
        letters = "".join(str(node.op)[len("Elemwise{")] for node in order)
        assert letters == ("cesma" if sign == 1 else "secma")
        seen = set()
        for node in order:
            assert all(i.owner is None or i.owner in seen for i in node.inputs)
            seen.add(node)
        mode = aesara.Mode(linker=VMLinker(schedule=sort_schedule_fn(by_name)))
        f = aesara.function([x], total, mode=mode)
        assert_close(f([0.5]), np.exp(0.5) + np.sin(0.5) * np.cos(0.5))


class TestOpsWithCCode:
    def test_perform_is_what_runs(self):
        class Twice(COp):
            def make_node(self, x):
                x = at.as_tensor_variable(x)
                return aesara.graph.basic.Apply(self, [x], [x.type()])

            def perform(self, node, inputs, output_storage, params=None):
                output_storage[0][0] = inputs[0] * 2

            def c_code(self, *args):
                return "not compiled"

            def c_code_cache_version(self):
                return (1,)

        x = at.dvector("x")
        assert issubclass(COp, Op)
        np.testing.assert_array_equal(aesara.function([x], Twice()(x) + 1)([1.0, 2.0]), [3.0, 5.0])

    @pytest.mark.parametrize("mode", ["FAST_COMPILE", "FAST_RUN"])
    def test_c_code_alone_is_refused(self, mode):
        class OnlyC(ExternalCOp):
            def make_node(self, x):
                return aesara.graph.basic.Apply(self, [x], [x.type()])

        x = at.dvector("x")
        op = OnlyC("code.c", "main")
        assert (op.func_files, op.func_name) == (["code.c"], "main")
        with pytest.raises(NotImplementedError, match="has C code only, which is not compiled here.*OnlyC.*perform"):
            aesara.function([x], op(x), mode=mode)([1.0])


def test_types_that_aesara_has_in_c():
    """Libraries tell types of tensors and numbers from slices by this class."""
    scalar, vector = aesara.scalar.int64, at.dvector
    assert all(isinstance(one, CType) for one in (scalar, vector, generic, TypedListType(vector), csr_matrix().type))
    assert not any(isinstance(one, CType) for one in (slicetype, random_generator_type, slice(None)))

    class Own(CType):
        def filter(self, data, strict=False, allow_downcast=None):
            return data

    assert isinstance(Own()("x").type, Type)


def test_names_of_files_with_c_code():
    """Classes derived from Aesara's ask for the path of its file, and find none to read."""

    class Named(at.elemwise.DimShuffle):
        c_func_file = at.elemwise.DimShuffle.get_path(at.elemwise.DimShuffle.c_func_file)

    folder = Path(sys.modules[at.elemwise.DimShuffle.__module__].__file__).parent
    assert Path(Named.c_func_file) == folder.resolve() / "c_code" / "dimshuffle.c"
    assert Named.get_path(Named.c_func_file) == Named.c_func_file
    assert ExternalCOp.get_path("code.c").endswith(str(Path("compat", "code.c")))
    m = at.dmatrix("m")
    np.testing.assert_array_equal(Named((False, False), (1, 0))(m).eval({m: [[1.0, 2.0]]}), [[1.0], [2.0]])


def test_names_that_libraries_import_from_other_modules():
    assert at.basic.TensorVariable is at.TensorVariable
    assert at.nlinalg.diag is at.diag


def test_terms_of_entropies():
    x, y = at.dvectors("x", "y")
    values, others = np.array([0.0, 0.5, 2.0]), np.array([0.0, 3.0, 0.5])
    assert_close(xlogx(x).eval({x: values}), [0.0, 0.5 * np.log(0.5), 2 * np.log(2.0)])
    assert_close(xlogy0(x, y).eval({x: values, y: others}), [0.0, 0.5 * np.log(3.0), 2 * np.log(0.5)])
    assert_close(aesara.grad(xlogx(x).sum(), x).eval({x: values}), [-np.inf, np.log(0.5) + 1, np.log(2.0) + 1])


class TestInPlace:
    def test_results_and_memory(self):
        x, y = at.dvectors("x", "y")
        given = np.array([0.25, 0.5])
        mode = aesara.Mode(linker="py", optimizer=None)
        f = aesara.function([aesara.In(x, mutable=True), y], inplace.add_inplace(x, y), mode=mode, accept_inplace=True)
        result = f(given, np.ones(2))
        np.testing.assert_array_equal(result, [1.25, 1.5])
        np.testing.assert_array_equal(given, [1.25, 1.5])

    @pytest.mark.parametrize("name", [n for n in vars(inplace) if n.endswith("_inplace") and n[:9] != "transpose"])
    def test_each_is_the_function_of_its_name(self, name):
        op = getattr(inplace, name)
        assert op.inplace_pattern == {0: 0} and op.destroy_map == {0: [0]}
        plain = {"sqr": "square", "fill": "second", "conj": "conj_"}.get(
            name.removesuffix("_inplace"), name.removesuffix("_inplace")
        )
        assert str(op) == name and op.scalar_op == (vars(ops) | vars(special))[plain].scalar_op

    def test_transpose(self):
        m = at.dmatrix("m")
        np.testing.assert_array_equal(inplace.transpose_inplace(m).eval({m: [[1.0, 2.0]]}), [[1.0], [2.0]])


# -- neighbourhoods ------------------------------------------------------------


def neighbourhoods(images, shape, step, mode):
    """`images2neibs` written out."""
    height, width = shape
    before = {"half": (height // 2, width // 2), "full": (height - 1, width - 1)}.get(mode, (0, 0))
    if mode == "wrap_centered":
        starts = [[s - n // 2 for s in range(0, size, d)] for size, n, d in zip(images.shape[2:], shape, step)]
        images = np.tile(images, (1, 1, 3, 3))
        starts = [[s + images.shape[2 + k] // 3 for s in one] for k, one in enumerate(starts)]
    else:
        images = np.pad(images, [(0, 0), (0, 0), (before[0],) * 2, (before[1],) * 2])
        starts = [range(0, size - n + 1, d) for size, n, d in zip(images.shape[2:], shape, step)]
    rows = [
        image[i : i + height, j : j + width].ravel()
        for image in images.reshape(-1, *images.shape[2:])
        for i in starts[0]
        for j in starts[1]
    ]
    return np.array(rows).reshape(-1, height * width)


@pytest.mark.parametrize(
    "size, shape, step, mode",
    [
        ((2, 3, 4, 6), (2, 2), None, "valid"),
        ((1, 2, 5, 7), (3, 3), (1, 1), "valid"),
        ((1, 2, 5, 7), (3, 3), (2, 2), "valid"),
        ((1, 2, 6, 7), (4, 3), (2, 2), "ignore_borders"),
        ((2, 1, 5, 7), (3, 3), (2, 1), "half"),
        ((2, 1, 6, 7), (2, 3), (1, 1), "half"),
        ((1, 2, 5, 6), (3, 2), (2, 3), "full"),
        ((1, 2, 5, 6), (3, 5), (2, 2), "wrap_centered"),
        ((1, 1, 2, 2), (3, 3), None, "ignore_borders"),
        ((0, 1, 4, 4), (2, 2), None, "valid"),
    ],
)
@pytest.mark.parametrize("linker", ["FAST_COMPILE", "FAST_RUN"])
def test_neighbourhoods(size, shape, step, mode, linker):
    value = np.random.default_rng(0).normal(size=size)
    x, n = at.dtensor4("x"), at.lvector("n")
    result = images2neibs(x, n, step, mode)
    f = aesara.function([x, n], result, mode=linker)
    np.testing.assert_array_equal(f(value, shape), neighbourhoods(value, shape, step or shape, mode))
    again = aesara.function([x], Images2Neibs(mode)(x, shape, step), mode=linker)
    np.testing.assert_array_equal(again(value), neighbourhoods(value, shape, step or shape, mode))
    if linker == "FAST_RUN" and value.size and mode != "ignore_borders":
        assert not f._native.report.python_nodes
        verify_grad(lambda x: images2neibs(x, shape, step, mode), [value], rng=np.random.default_rng(1))


@pytest.mark.parametrize(
    "size, shape, step, mode, message",
    [
        ((1, 1, 5, 5), (2, 2), None, "valid", "multiple of the step"),
        ((1, 1, 2, 2), (3, 3), None, "wrap_centered", "larger than the image"),
        ((1, 1, 5, 5), (2, 2), None, "wrap_centered", "must be odd"),
    ],
)
@pytest.mark.parametrize("linker", ["FAST_COMPILE", "FAST_RUN"])
def test_wrong_neighbourhoods(size, shape, step, mode, message, linker):
    x = at.dtensor4("x")
    f = aesara.function([x], images2neibs(x, shape, step, mode), mode=linker)
    with pytest.raises(TypeError, match=message):
        f(np.zeros(size))
    with pytest.raises(NotImplementedError, match="mode must be"):
        images2neibs(x, shape, step, "other")
    with pytest.raises(TypeError, match="four dimensions"):
        images2neibs(at.dmatrix(), shape)
    with pytest.raises(TypeError, match="two integers"):
        images2neibs(x, 2.5)


@pytest.mark.parametrize("size, mode", [((2, 3, 4, 6), "valid"), ((1, 2, 5, 7), "ignore_borders")])
def test_images_of_neighbourhoods(size, mode):
    value = np.random.default_rng(2).normal(size=size)
    m = at.dmatrix("m")
    rows = neighbourhoods(value, (2, 3), (2, 3), mode)
    whole = value.copy()
    whole[:, :, size[2] // 2 * 2 :] = 0
    whole[:, :, :, size[3] // 3 * 3 :] = 0
    for linker in ("FAST_COMPILE", "FAST_RUN"):
        f = aesara.function([m], neibs2images(m, (2, 3), size, mode), mode=linker)
        np.testing.assert_array_equal(f(rows), whole)
    verify_grad(lambda m: neibs2images(m, (2, 3), size, mode), [rows], rng=np.random.default_rng(1))


@pytest.mark.parametrize("mode", ["valid", "full", "half", ("valid", "full", "half"), ("full", "full", "full")])
def test_sequences_of_images_are_convolved(mode):
    rng = np.random.default_rng(3)
    s, f = rng.normal(size=(2, 4, 2, 5, 4)), rng.normal(size=(3, 3, 2, 3, 2))
    modes = mode if isinstance(mode, tuple) else (mode,) * 3
    around = [{"valid": 0, "full": n - 1, "half": n // 2}[m] for m, n in zip(modes, (3, 3, 2))]
    padded = np.pad(s, [(0, 0), (around[0],) * 2, (0, 0), (around[1],) * 2, (around[2],) * 2])
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3, 2), axis=(1, 3, 4))
    wanted = np.einsum("ntchwijk,ficjk->ntfhw", windows, f[:, ::-1, :, ::-1, ::-1])
    S, F = at.TensorType("float64", (None,) * 5)("s"), at.TensorType("float64", (None,) * 5)("f")
    for linker in ("FAST_COMPILE", "FAST_RUN"):
        result = aesara.function([S, F], conv3d(S, F, s.shape, f.shape, mode), mode=linker)(s, f)
        np.testing.assert_allclose(result, wanted, rtol=1e-12, atol=1e-12)
    if isinstance(mode, tuple) and len(set(mode)) > 1:
        with pytest.raises(ValueError, match="filters_shape"):
            conv3d(S, F, border_mode=mode)
