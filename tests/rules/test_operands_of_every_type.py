"""Every rule on operands that are computed from what is no tensor: it does not fail, whatever it finds there.

Rules look at what their operands are computed from, several operations deep. There may be slices, None, generators,
lists, sparse matrices, scalars and objects, which have no dtype or no shape.
"""

import warnings
from functools import cache

import numpy as np
import pytest

import aesara
import aesara.sparse as sparse
import aesara.tensor as at
import tests.optable.rows  # noqa: F401
from aesara import scalar as aes
from aesara import typed_list
from aesara.compile.mode import Mode
from aesara.compile.ops import DeepCopyOp, ViewOp
from aesara.gradient import grad_clip, zero_grad
from aesara.graph.disconnected_type import disconnected_type
from aesara.graph.features import ReplaceValidate
from aesara.graph.fg import FunctionGraph
from aesara.graph.generic import generic
from aesara.graph.nodes import Apply, Constant
from aesara.graph.null_type import NullType
from aesara.graph.op import Op
from aesara.graph.rewriting.node_rewriters import is_tracked
from aesara.graph.rewriting.pattern import Rule
from aesara.graph.traversal import explicit_graph_inputs
from aesara.graph.type import Type
from aesara.ifelse import ifelse
from aesara.tensor.core.check_and_raise import CheckAndRaise, ExceptionType
from aesara.tensor.random.type import random_generator_type, random_state_type
from aesara.tensor.rewriting.shape import ShapeFeature
from aesara.tensor.type_other import NoneConst, SliceType, make_slice
from aesara.typed_list import TypedListType
from tests.op_classes import import_everything, subclasses
from tests.optable.table import ROWS
from tests.rules.framework import examples, examples_of_row, exceptions_of_rows
from tests.rules.leaves import variations
from tests.rules.registered import node_rewriters

OPERANDS = {
    "slice": SliceType()("slice"),
    "None": NoneConst,
    "generic": generic("generic"),
    "generator": random_generator_type("generator"),
    "random state": random_state_type("state"),
    "list": TypedListType(at.dmatrix)("list"),
    "list of sparse matrices": TypedListType(sparse.SparseTensorType("csr", "float64"))("sparse_list"),
    "sparse": sparse.csr_matrix("sparse"),
    "null": NullType("none")("null"),
    "disconnected": disconnected_type("disconnected"),
    "exception": ExceptionType()("exception"),
    "integer": aes.int64("integer"),
    "float": aes.float32("float"),
    "boolean": aes.bool("boolean"),
    "number": at.lscalar("number"),
    "vector": at.vector("vector", dtype="int8"),
    "matrix": at.dmatrix("matrix"),
    "mask": at.tensor("bool", shape=(None, 1), name="mask"),
    "array": at.constant(np.ones((2, 3))),
}
#: Classes from which types are derived, of which there are no variables.
BASES = {"CType", "DenseTensorType", "RandomType", "TensorType"}
WHILE_COLLECTED = aesara.config.on_opt_error, aesara.config.on_shape_error
#: Rules whose errors tell users what no other rule has replaced.
REFUSALS = {"AbstractConvCheck"}


class FromAll(Op):
    """A variable of any type, computed from one of each type, each of which is computed as well."""

    __props__ = ("type", "number", "depth")

    def __init__(self, type, number, depth=1):
        self.type, self.number, self.depth = type, number, depth

    def make_node(self):
        operands = list(OPERANDS.values())
        if self.depth:
            made = [FromAll(x.type, k, self.depth - 1)() for k, x in enumerate(operands)]
            # Some rules look at the first few.
            return Apply(self, [*made[self.number :], *made[: self.number], *operands], [self.type()])
        return Apply(self, operands, [self.type()])

    def perform(self, node, inputs, output_storage):
        raise NotImplementedError


class ToAll(Op):
    """Variables of every type, computed from some."""

    __props__ = ()

    def make_node(self, *inputs):
        return Apply(self, list(inputs), [x.type() for x in OPERANDS.values()])

    def perform(self, node, inputs, output_storage):
        raise NotImplementedError


def rules_on(outputs):
    """Try every rule that there is for an op on all its nodes; return how often one was tried, and what failed.

    The outputs are read by nothing at first, then by what returns variables of every type.
    """
    tried, failed = 0, []
    for of_graph in (outputs, [*outputs, *ToAll()(*outputs, return_list=True)]):
        fgraph = FunctionGraph(outputs=of_graph, clone=False, features=[ShapeFeature(), ReplaceValidate()])
        for node in fgraph.toposort():
            for name, rewriter in _rules_for(node.op):
                tried += 1
                try:
                    with warnings.catch_warnings(), np.errstate(all="ignore"):
                        warnings.simplefilter("ignore")
                        rewriter.transform(fgraph, node)
                except Exception as error:
                    failed.append(f"{name} on {node}: {type(error).__name__}: {error}")
    return tried, failed


@cache
def _rules_for(op):
    """The names of the rules that are for an op, with the rules."""
    tracked = [(name, rewriter, rewriter.tracks()) for name, (rewriter, _) in node_rewriters().items()]
    return [(n, r) for n, r, ops in tracked if n not in REFUSALS and (ops is None or is_tracked(ops, op))]


def from_all(variables):
    """Variables of the types of others, computed from variables of every type; constants are left as they are."""
    return [x if isinstance(x, Constant) else FromAll(x.type, k)() for k, x in enumerate(variables)]


def test_failures_are_errors_in_tests_and_while_they_are_collected():
    for options in (WHILE_COLLECTED, (aesara.config.on_opt_error, aesara.config.on_shape_error)):
        assert options == ("raise", "raise")


def test_every_type_is_among_the_operands():
    import_everything()
    classes = {cls for cls in subclasses(Type) if cls.__module__.startswith("aesara.")}
    used = {base for x in OPERANDS.values() for base in type(x.type).__mro__}
    assert {cls.__name__ for cls in classes - used} <= BASES


def expressions_of_rules():
    exceptions, own = exceptions_of_rows(), examples()
    for name, (rewriter, _) in sorted(node_rewriters().items()):
        made = examples_of_row(rewriter, exceptions.get(name, {})) if isinstance(rewriter, Rule) else []
        yield from (pytest.param(one, id=f"{name}-{k}") for k, one in enumerate([*made, *own.get(name, [])]))


EXPRESSIONS = list(expressions_of_rules())
PIECES = 8


@pytest.mark.parametrize("piece", range(PIECES))
def test_expressions_that_rules_are_for(piece):
    tried, failed = 0, []
    for parameters in EXPRESSIONS[piece::PIECES]:
        (of,) = parameters.values
        for variation in list(variations(of.leaves, of.dtypes, of.domain, True))[::7]:
            try:
                built = of.build(*from_all(variation.leaves))
            except (TypeError, ValueError, NotImplementedError, IndexError):
                continue
            count, faults = rules_on(list(built) if isinstance(built, (list, tuple)) else [built])
            tried += count
            failed += [f"{parameters.id}: {fault}" for fault in faults]
    assert failed == []
    assert tried > 1000


@pytest.mark.parametrize("piece", range(4))
def test_ops_of_the_table(piece):
    tried, failed = 0, []
    for row in list(ROWS.values())[piece::4]:
        for case in row.cases[:2]:
            variables = [at.tensor(a.dtype, shape=a.static or (None,) * len(a.shape)) for a in case.args]
            count, faults = rules_on(row.apply(case, from_all(variables)))
            tried += count
            failed += [f"{row.name}: {fault}" for fault in faults]
    assert failed == []
    assert tried > 1000


SPECIAL = [float("inf"), float("-inf"), float("nan"), 0.0, -0.0, 1e308]


@pytest.mark.parametrize("number", SPECIAL)
def test_operands_that_are_special_numbers(number):
    y = at.dmatrix("y")
    failed = []
    for row in ROWS.values():
        case = row.cases[0]
        if not row.elementwise or any(a.dtype != "float64" for a in case.args) or len(case.args) > 3:
            continue
        for place in range(len(case.args)):
            operands = [at.dmatrix(f"x{k}") if k != place else at.constant(number) for k in range(len(case.args))]
            (out,) = row.apply(case, operands)[:1]
            failed += rules_on([at.log(out * y), out * y + out / y, y - out] if out.dtype == "float64" else [out])[1]
    assert failed == []


def programs():
    """Results of ops that take what is no tensor, or return it; each has a name."""
    x, v, k, b = at.dmatrix("x"), at.dvector("v"), at.lscalar("k"), at.bscalar("b")
    i, mask = at.lvector("i"), at.matrix("mask", dtype="bool")
    s, f = aes.int64("s"), aes.float64("f")
    piece = SliceType()("piece")
    matrices, numbers = TypedListType(at.dmatrix)("matrices"), TypedListType(at.lscalar)("numbers")
    csr, rng, other, thing = sparse.csr_matrix("csr"), random_generator_type("rng"), random_generator_type(), generic()
    checked = CheckAndRaise(ValueError, "wrong")
    holds = at.gt(k, 0)
    next_rng, draw = at.random.normal(0, 1, size=(k, 2), rng=rng).owner.outputs
    loop, _ = aesara.scan(lambda row, c: [row + c, at.gt(row[0], c)], sequences=[x], non_sequences=[at.sum(v)])
    drawn, _ = aesara.scan(lambda c: c + at.random.normal(size=(2,), rng=rng), non_sequences=[v], n_steps=k)
    return {
        "slices": [x[make_slice(k, None, 2)], x[piece], x[i, piece], x[:, make_slice(k, k + 1, None)], x[k:, k],
                   x[i, k:]],
        "writes": [at.set_subtensor(x[k:, i], 1.0), at.inc_subtensor(x[i, piece], v), at.set_subtensor(x[mask], 0.0)],
        "new dimensions": [x[i, None], x[None, k], v[None, piece], at.inc_subtensor(v[i, None], 1.0)],
        "scalars": [at.tensor_from_scalar(s), at.tensor_from_scalar(aes.add(f, s)), x[aes.add(s, s)], x[s:],
                    at.tensor_from_scalar(at.scalar_from_tensor(k)) + k],
        "lists": [matrices[k], typed_list.length(matrices), numbers[k], at.maximum(typed_list.length(numbers), 0),
                  matrices.append(x)[0], typed_list.length(matrices[k:]), typed_list.make_list([x, x])[k],
                  matrices.count(x), matrices[piece][0].shape[0]],
        "sparse": [sparse.dense_from_sparse(csr), sparse.sp_sum(csr), csr.shape[0], at.maximum(csr.shape[1], 0),
                   csr @ x, sparse.csm_data(csr), sparse.csm_shape(csr), sparse.dense_from_sparse(sparse.add(csr, csr)),
                   sparse.dense_from_sparse(csr[k:, :]), sparse.dense_from_sparse(sparse.mul(csr, x))],
        "generators": [draw, next_rng, at.random.uniform(v, v + 1, rng=next_rng), at.exp(draw), draw[piece]],
        "loops": [*loop, drawn, drawn[-1], loop[0][k:]],
        "choices": [ifelse(b, x, x + 1), sparse.dense_from_sparse(ifelse(b, csr, sparse.add(csr, csr))),
                    ifelse(b, matrices, matrices.append(x))[0], ifelse(b, rng, other), ifelse(b, piece, make_slice(k)),
                    x[ifelse(b, piece, make_slice(k))], ifelse(b, thing, thing), ifelse(b, k, k + 1)],
        "checks": [checked(x, holds), checked(csr, holds), checked(rng, holds), checked(matrices, holds),
                   checked(piece, holds), x[checked(piece, holds)], checked(thing, holds),
                   at.tensor_from_scalar(checked(s, holds))],
        "copies": [DeepCopyOp()(y) for y in (x, csr, matrices, rng, piece, thing)],
        "views": [ViewOp()(y) for y in (x, csr, matrices, rng, piece, thing)],
        "gradients": [grad_clip(x, -1, 1), zero_grad(x), zero_grad(csr)],
        "shapes": [at.specify_shape(x, (None, k)), at.specify_shape(x, (2, None)).shape, sparse.csm_shape(csr)[0]],
    }  # fmt: skip


def of_sizes(y):
    """Arithmetic in which rules ask what a number is made of."""
    yield from (at.maximum(y, 0), at.lt(y, 0), at.ge(y + y, 0), at.minimum(y, y), y * 0, 0 / (y + 1), y - y, -y, y**2)
    yield from (
        at.exp(y),
        at.switch(y > 0, y, 0) * y,
        at.zeros_like(y) + y,
        at.sum(y),
        at.clip(y, 0, 1),
        at.cast(y, "int8"),
    )
    yield from (
        at.alloc(y, 2, *y.shape),
        at.join(0, at.atleast_1d(y), at.atleast_1d(y)),
        y.flatten()[:1],
        at.log(1 + y),
    )


PROGRAMS = programs()


@pytest.mark.parametrize("name", PROGRAMS)
def test_ops_of_what_is_no_tensor(name):
    outputs = list(PROGRAMS[name])
    tensors = [y for y in outputs if isinstance(y.type, at.TensorType) and y.type.dtype != "bool"]
    outputs += [z for y in tensors if getattr(y.type, "is_dense", True) for z in of_sizes(y)]
    tried, failed = rules_on(outputs)
    assert failed == []
    assert tried > len(outputs)


@pytest.mark.parametrize("name", PROGRAMS)
def test_functions_of_what_is_no_tensor(name):
    """All passes, one after the other."""
    outputs = list(PROGRAMS[name])
    inputs = list(explicit_graph_inputs(outputs))
    for mode in (Mode("py", "fast_run"), Mode("py", "fast_compile")):
        for y in outputs:
            aesara.function(inputs, y, mode=mode, on_unused_input="ignore", accept_inplace=True)
