"""Programs that import Theano."""

import importlib
import itertools
import os
import subprocess
import sys
import warnings

import numpy as np
import pytest

import aesara
import aesara.tensor as at
import aesara.theano_compat
from aesara.compat.theano.names import MODULES, NAMES
from aesara.tensor.random.stream import RandomStream

import theano  # isort: skip
import theano.tensor as T  # isort: skip
from tests.closeness import assert_close

#: modules that programs for Theano import
IMPORTED = """
theano.compile.debugmode theano.compile.function_module theano.compile.nanguardmode theano.compile.ops
theano.compile.pfunc theano.compile.profiling theano.compile.sharedvalue theano.configdefaults theano.d3viz theano.gof
theano.gof.fg theano.gof.graph theano.gof.null_type theano.gof.op theano.gof.opt theano.gof.toolbox theano.gof.utils
theano.gradient theano.ifelse theano.misc.pkl_utils theano.printing theano.raise_op theano.sandbox.linalg.ops
theano.sandbox.rng_mrg theano.scalar.basic theano.scan_module.scan_op theano.scan_module.scan_utils theano.sparse.basic
theano.tensor.basic theano.tensor.blas theano.tensor.elemwise theano.tensor.extra_ops theano.tensor.fft
theano.tensor.nlinalg theano.tensor.nnet.abstract_conv theano.tensor.nnet.bn theano.tensor.nnet.conv
theano.tensor.nnet.neighbours theano.tensor.nnet.nnet theano.tensor.nnet.sigm theano.tensor.opt
theano.tensor.raw_random theano.tensor.shared_randomstreams theano.tensor.sharedvar theano.tensor.signal.conv
theano.tensor.signal.downsample theano.tensor.signal.pool theano.tensor.slinalg theano.tensor.sort
theano.tensor.subtensor theano.tensor.type theano.tensor.var theano.tensor.xlogx theano.typed_list theano.updates
""".split()


def run(text, **env):
    done = subprocess.run([sys.executable, "-c", text], env=os.environ | env, capture_output=True, text=True)
    return done.stdout.strip() or done.stderr.strip().splitlines()[-1]


@pytest.mark.parametrize("name", IMPORTED)
def test_modules_are_found(name):
    module = importlib.import_module(name)
    assert sys.modules[name] is module
    parts = name.split(".")[1:]
    found = theano
    for part in parts:
        found = getattr(found, part)
    if name in ("theano.tensor.sort", "theano.tensor.var"):  # names of functions, too, which packages offer
        assert found is getattr(at, parts[-1])
    else:
        assert found is module


@pytest.mark.parametrize("module, name", [(module, name) for module, names in NAMES.items() for name in names])
def test_every_row_of_the_table_leads_somewhere(module, name):
    assert getattr(importlib.import_module(f"theano.{module}".rstrip(".")), name) is not None


def test_every_module_of_the_table_exists():
    for module in MODULES:
        importlib.import_module(f"theano.{module}".rstrip("."))


def test_names_are_those_of_this_package():
    assert T.TensorType is at.TensorType
    assert theano.function is aesara.function
    assert theano.config is aesara.config
    assert theano.gof.graph.Variable is theano.gof.Variable is aesara.graph.basic.Variable
    assert theano.gof.opt.local_optimizer and theano.tensor.opt.register_canonicalize
    assert theano.sparse.SparseType is aesara.sparse.SparseTensorType
    assert theano.sandbox.rng_mrg.MRG_RandomStreams(1).uniform((2,)).eval().shape == (2,)
    assert theano.__version__ == "1.1.2"  # by which PyMC 3 knows that it can be used


NAMES_OF_NETWORKS = """
sigmoid softplus hard_sigmoid ultra_fast_sigmoid relu elu selu softmax logsoftmax softsign crossentropy_softmax_1hot
categorical_crossentropy binary_crossentropy sigmoid_binary_crossentropy conv2d conv3d h_softmax confusion_matrix
batch_normalization_train batch_normalization_test batch_normalization softmax_graph crossentropy_categorical_1hot
""".split()
NAMES_OF_TENSORS = """
abs_ add all alloc allclose and_ any arange arccos argmax argmin as_tensor_variable basic batched_dot bvector cast
ceil clip col concatenate constant copy cos cumsum deg2rad diag dmatrix dot dscalar dtensor3 eq erf exp expm1
extra_ops eye fill flatten floor fmatrix ge gammaln grad gt identity_like imag inc_subtensor int_div inv invert
isinf isnan iscalar ivector jacobian join le lmatrix log log1p lscalar lt lvector matrix max max_and_argmax maximum
mean mgrid min minimum mod mul neg neq nlinalg nnet nonzero numeric_grad ones ones_like opt or_ outer
patternbroadcast prod psi ptp raw_random real repeat reshape roll round row scalar scalars set_subtensor sgn shape
shape_padleft shape_padright shared_randomstreams signal sin slinalg sort sqr sqrt squeeze stack std sub subtensor
sum switch tan tanh tensor tensor3 tensor4 tensordot tile transpose tri tril triu true_div trunc unbroadcast var
vector vectors xor zeros zeros_like TensorConstant TensorType TensorVariable Rop Lop verify_grad elemwise sharedvar
type
""".split()


@pytest.mark.parametrize("module, names", [(T.nnet, NAMES_OF_NETWORKS), (T, NAMES_OF_TENSORS)])
def test_the_names_that_programs_use(module, names):
    assert [name for name in names if not hasattr(module, name)] == []


def test_star_imports():
    names = {}
    exec("from theano import *\nfrom theano.tensor import *", names)
    assert names["dmatrix"] is at.dmatrix
    assert names["shared"] is aesara.shared
    assert names["patternbroadcast"] is T.patternbroadcast


@pytest.mark.parametrize("module", MODULES)
def test_star_imports_find_every_name_without_a_warning(module):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        exec(f"from theano.{module} import *" if module else "from theano import *", {})


def test_star_imports_have_old_names_and_modules():
    names = {}
    exec("from theano.tensor import *", names)
    assert names["abs_"] is at.abs
    assert names["sqr"] is at.square
    assert names["opt"] is importlib.import_module("theano.tensor.opt")
    assert names["nnet"] is T.nnet
    assert not hasattr(importlib.import_module("theano.scan_module.scan_op"), "hooks")


def test_constants_and_shared_variables_are_another_class_than_variables():
    x = T.dvector("x")
    assert isinstance(x, T.TensorVariable) and isinstance(x + 1, T.TensorVariable)
    assert importlib.import_module("theano.tensor.var").TensorVariable is T.TensorVariable
    assert not isinstance(T.constant(1.0), T.TensorVariable)
    assert not isinstance(theano.shared(np.ones(2)), T.TensorVariable)
    assert issubclass(T.TensorVariable, at.TensorVariable)

    class Named(T.TensorVariable):
        pass

    assert isinstance(Named(T.dvector, None, None), Named) and not isinstance(x, Named)


@pytest.mark.parametrize("module", [T.nnet, importlib.import_module("theano.tensor.nnet.nnet")])
def test_the_softmax_of_a_vector_is_a_matrix(module):
    values = np.array([0.5, -1.0, 2.0])
    wanted = np.exp(values) / np.exp(values).sum()
    x, rows = T.dvector("x"), T.dmatrix("rows")
    for name, of in (("softmax", wanted), ("logsoftmax", np.log(wanted))):
        function = getattr(module, name)
        assert_close(function(x)[0].eval({x: values}), of)
        assert_close(function(rows).eval({rows: np.array([values, values + 3])}), np.array([of, of]))
        assert_close(function(x, axis=0).eval({x: values}), of)


def test_graphs_can_be_disowned():
    x = T.dvector("x")
    graph = theano.gof.FunctionGraph([x], [T.exp(x)], clone=False)
    again = importlib.import_module("theano.graph.fg").FunctionGraph(graph.inputs, graph.outputs, clone=False)
    graph.disown()
    assert again.toposort() == [graph.outputs[0].owner]
    assert isinstance(theano.function([x], x + 1).maker.fgraph, theano.gof.FunctionGraph)
    assert not isinstance(x, theano.gof.FunctionGraph)


def test_ops_that_hash_their_class():
    class Twice(theano.Op):
        def __eq__(self, other):
            return type(self) is type(other)

        def __hash__(self):
            return T.hashtype(self)

        def make_node(self, x):
            return theano.gof.Apply(self, [x], [x.type()])

        def perform(self, node, inputs, outputs):
            outputs[0][0] = 2 * inputs[0]

    x = T.dvector("x")
    f = theano.function([x], [Twice()(x), Twice()(x) + 1])
    assert len([node for node in f.maker.fgraph.toposort() if isinstance(node.op, Twice)]) == 1
    assert [one.tolist() for one in f([1.5])] == [[3.0], [4.0]]


def test_a_function_keeps_its_name_when_the_module_of_that_name_is_imported():
    assert importlib.import_module("theano.scan").until is importlib.import_module("aesara.scan").until
    assert theano.scan is aesara.scan
    assert_close(T.var(T.constant([1.0, 3.0])).eval(), 1.0)


@pytest.mark.parametrize("structure", ["general", "symmetric", "lower_triangular", "upper_triangular"])
def test_solve_takes_the_structure_of_the_matrix(structure):
    matrix = np.array([[4.0, 1.0], [2.0, 3.0]])
    read = {
        "general": matrix, "symmetric": np.array([[4.0, 1.0], [1.0, 3.0]]), "lower_triangular": np.tril(matrix),
        "upper_triangular": np.triu(matrix),
    }[structure]  # fmt: skip
    a, b = T.dmatrix("a"), T.dvector("b")
    solved = T.slinalg.Solve(A_structure=structure)(a, b)
    assert_close(theano.function([a, b], solved)(matrix, [1.0, 2.0]), np.linalg.solve(read, [1.0, 2.0]))
    if structure != "general":
        named = {"lower_triangular": "solve_lower_triangular", "upper_triangular": "solve_upper_triangular"}
        again = getattr(T.slinalg, named.get(structure, "solve_symmetric"))
        assert again == solved.owner.op


def test_a_structure_that_is_unknown_is_named():
    with pytest.raises(ValueError, match="A_structure must be one of general, symmetric.*got 'banded'"):
        T.slinalg.Solve(A_structure="banded")


@pytest.mark.parametrize("ignore_border", [None, True])
def test_pooling_by_its_first_name(ignore_border):
    x = T.dtensor4("x")
    images = np.arange(30.0).reshape(1, 1, 5, 6)
    pooled = T.signal.downsample.max_pool_2d(x, (2, 3), ignore_border, st=(2, 3), padding=(0, 0))
    wanted = [[[[8.0, 11.0], [20.0, 23.0], [26.0, 29.0]][: 2 if ignore_border else 3]]]
    assert pooled.eval({x: images}).tolist() == wanted


def test_what_is_missing_is_named():
    with pytest.raises(ModuleNotFoundError, match=r"theano\.gpuarray has no counterpart"):
        importlib.import_module("theano.gpuarray")
    with pytest.raises(AttributeError, match=r"'theano\.tensor' has no attribute 'nope'"):
        T.nope


def test_a_training_step():
    x, y = T.dmatrix("x"), T.ivector("y")
    w = theano.shared(np.zeros((2, 2)), name="w")
    cost = -T.mean(T.log(T.nnet.softmax(T.dot(x, w)))[T.arange(y.shape[0]), y])
    train = theano.function(inputs=[x, y], outputs=cost, updates=[(w, w - 0.5 * T.grad(cost, w))])
    data = np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([0, 1], "int32")
    losses = [float(train(*data)) for _ in range(5)]
    assert_close(losses[0], np.log(2))
    assert all(after < before for before, after in itertools.pairwise(losses))


class Doubled(theano.gof.Op):
    __props__ = ()

    def make_node(self, x):
        x = T.as_tensor_variable(x)
        return theano.gof.Apply(self, [x], [x.type()])

    def perform(self, node, inputs, outputs):
        outputs[0][0] = 2 * inputs[0]

    def infer_shape(self, node, shapes):
        return shapes

    def grad(self, inputs, gradients):
        return [2 * gradients[0]]


def test_ops_infer_shapes_in_theanos_way():
    x = T.dmatrix("x")
    shape = theano.function([x], Doubled()(x).shape)
    assert not any(isinstance(node.op, Doubled) for node in shape.maker.fgraph.apply_nodes)
    np.testing.assert_array_equal(shape(np.ones((2, 3))), [2, 3])
    theano.tensor.verify_grad(Doubled(), [np.ones((2, 3))], rng=np.random.default_rng(1))


def test_graphs_are_cloned():
    x, z = T.dvectors("x", "z")
    y = T.exp(x)
    assert_close(theano.clone(y, {x: 2 * z}).eval({z: [1.0]}), np.exp([2.0]))


def test_walks_through_graphs_give_lists():
    graph = importlib.import_module("theano.gof.graph")
    x, y = T.dvectors("x", "y")
    product = x * y
    z = product + 1.0
    inputs, orphans = graph.inputs([product]), graph.orphans([x], [product])
    assert (inputs, orphans) == ([x, y], [y])
    assert graph.inputs([z], [product]) == [one for one in graph.ancestors([z], [product]) if one.owner is None]
    assert set(graph.variables([x, y], [product])) == {x, y, product}
    assert graph.variables_and_orphans([x], [product]) == (graph.variables([x], [product]), [y])
    assert graph.ops([product], [z]) == {z.owner, *(one.owner for one in z.owner.inputs if one.owner)} - {product.owner}
    copied_inputs, copies = graph.clone(inputs, [product])
    assert_close(theano.function(copied_inputs, copies)([2.0], [3.0])[0], [6.0])


def test_broadcast_patterns():
    x = T.dmatrix("x")
    row = T.patternbroadcast(x, (True, False))
    assert row.broadcastable == (True, False)
    assert T.patternbroadcast(row, (False, False)).broadcastable == (False, False)
    assert T.addbroadcast(x, 1).broadcastable == (False, True)


def test_streams_take_the_size_first():
    streams = theano.tensor.shared_randomstreams.RandomStreams(seed=3)
    draws = [
        streams.uniform((400,), 2.0, 4.0), streams.normal((400,), 10.0, 0.1), streams.binomial((400,), 5, 0.3),
        streams.random_integers((400,), 1, 3), streams.permutation(n=5), streams.choice((400,), a=4),
        streams.multinomial(n=6, pvals=[0.2, 0.8]), streams.poisson((400,), 2.0),
        streams.shuffle_row_elements(np.arange(6).reshape(2, 3)),
    ]  # fmt: skip
    f = theano.function([], draws)
    uniform, normal, binomial, integers, permutation, choice, multinomial, poisson, shuffled = f()
    assert uniform.min() >= 2 and uniform.max() < 4 and uniform.dtype == aesara.config.floatX
    assert abs(normal.mean() - 10) < 0.1
    assert set(binomial) <= set(range(6)) and 1 < binomial.mean() < 2
    assert set(integers) == {1, 2, 3}
    assert sorted(permutation) == list(range(5))
    assert set(choice) == {0, 1, 2, 3}
    assert multinomial.sum() == 6
    assert 1.5 < poisson.mean() < 2.5
    np.testing.assert_array_equal(shuffled[1] - shuffled[0], [3, 3, 3])
    assert not np.array_equal(f()[0], uniform)
    again = theano.tensor.shared_randomstreams.RandomStreams(seed=3)
    np.testing.assert_array_equal(theano.function([], again.uniform((400,), 2.0, 4.0))(), uniform)


def test_streams_may_be_given_another_seed():
    def draws(streams, how_often=1):
        f = theano.function([], [streams.uniform((3,)), streams.normal((3,))])
        return f, [f() for _ in range(how_often)][-1]

    streams = theano.tensor.shared_randomstreams.RandomStreams(seed=3)
    f, first = draws(streams, 2)
    streams.seed(4)
    other = f()
    streams.seed(3)
    f()
    np.testing.assert_array_equal(f(), first)
    fresh = RandomStream(3)
    fresh.uniform(), fresh.normal()
    fresh.seed(4)
    generators = [rng.get_value() for rng, _ in fresh.state_updates]
    np.testing.assert_array_equal(other, [generators[0].uniform(size=3), generators[1].normal(size=3)])
    assert [rng for rng, _ in streams.updates()] == [rng for rng, _ in streams.state_updates]


def test_what_streams_take_beside_the_size():
    streams = theano.tensor.shared_randomstreams.RandomStreams(seed=3)
    for certain in (streams.binomial((9,), 5, 1.0), streams.binomial((9,), 5, prob=1.0)):
        assert certain.eval().tolist() == [5] * 9
    assert sorted(streams.choice((4,), a=4, replace=False).eval()) == [0, 1, 2, 3]
    assert streams.choice((9,), a=[5, 6, 7], p=[0.0, 1.0, 0.0]).eval().tolist() == [6] * 9
    assert set(streams.random_integers((50,)).eval()) == set(streams.binomial((50,)).eval()) == {0, 1}
    assert sorted(streams.shuffle_row_elements([4.0, 1.0, 3.0]).eval()) == [1, 3, 4]
    for draw in (streams.uniform, streams.normal, streams.binomial, streams.poisson, streams.random_integers):
        assert draw((2, 3), dtype="float32").type.dtype == "float32"
    with aesara.config.change_flags(floatX="float32"):
        assert streams.uniform().type.dtype == streams.normal().type.dtype == "float32"


def test_one_permutation_is_drawn():
    streams = theano.tensor.shared_randomstreams.RandomStreams(seed=3)
    for none in (None, (), []):
        assert sorted(streams.permutation(none, 4).eval()) == [0, 1, 2, 3]
    for size in ((2,), [1], 2, 0, T.lscalar(), T.lvector(), np.array([2])):
        with pytest.raises(NotImplementedError, match="size must be None"):
            streams.permutation(size, 4)


@pytest.mark.slow
def test_counts_have_the_mean_one_unless_another_is_given():
    streams = theano.tensor.shared_randomstreams.RandomStreams
    counts = [streams(seed=1).poisson((1000,), *mean).eval() for mean in ((), (1.0,), (3.0,))]
    assert (counts[0] == counts[1]).all() and abs(counts[0].mean() - 1) < 0.2 and counts[2].mean() > 2.5


def test_flags():
    text = "import aesara.theano_compat, theano; print(theano.config.floatX, theano.config.mode)"
    assert run(text, THEANO_FLAGS="floatX=float32,mode=FAST_COMPILE,device=cpu") == "float32 FAST_COMPILE"
    assert run(text, THEANO_FLAGS="floatX=float32", AESARA_FLAGS="floatX=float64").startswith("float64")
    text = "import warnings; warnings.simplefilter('error'); import aesara.theano_compat"
    assert "nonsense=3 has no effect: there is no such option" in run(text, THEANO_FLAGS="nonsense=3")


def test_flags_without_effect_are_named(monkeypatch):
    monkeypatch.setenv("THEANO_FLAGS", "nonsense=3,floatX=float128,on_opt_error=raise")
    monkeypatch.setenv("AESARA_FLAGS", "floatX=float64,on_opt_error=warn")
    with pytest.warns(UserWarning) as said:
        aesara.compat.theano._take_flags()
    assert [str(one.message) for one in said] == ["THEANO_FLAGS: nonsense=3 has no effect: there is no such option"]
    monkeypatch.setenv("AESARA_FLAGS", "")
    with pytest.warns(UserWarning, match="THEANO_FLAGS: floatX=float128 has no effect: .*float128"):
        monkeypatch.setenv("THEANO_FLAGS", "floatX=float128")
        aesara.compat.theano._take_flags()


def test_theano_itself_is_not_replaced_when_it_is_there():
    text = "import sys, types; sys.modules['theano'] = types.ModuleType('theano'); import aesara.theano_compat"
    assert "Theano itself has been imported" in run(text)


def test_nothing_is_found_without_it():
    assert "No module named 'theano'" in run("import aesara, theano")
