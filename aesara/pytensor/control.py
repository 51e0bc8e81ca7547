"""Conversion of checks, lazy choices, inner graphs and loops."""

from __future__ import annotations

from typing import Any

from pytensor.compile.builders import OpFromGraph
from pytensor.gradient import DisconnectedGrad, GradClip, GradScale, ZeroGrad
from pytensor.graph.basic import Apply as PyTensorApply
from pytensor.raise_op import CheckAndRaise
from pytensor.scan.op import Scan

from aesara.graph.nodes import Variable
from aesara.ifelse import ifelse
from aesara.pytensor.conversion import convert_graph, convert_op
from aesara.pytensor.versions import class_of, classes
from aesara.scan.info import ScanInfo
from aesara.scan.op import Scan as OurScan
from aesara.scan.windows import with_rows_as_states
from aesara.tensor.core.check_and_raise import CheckAndRaise as OurCheckAndRaise
from aesara.tensor.core.conversion import as_tensor_variable


@convert_op.register(CheckAndRaise)
def _check(op: CheckAndRaise, node: PyTensorApply, x: Any, *conditions: Any) -> Any:
    return OurCheckAndRaise(op.exc_type, op.msg)(x, *conditions)


@convert_op.register(class_of("IfElse", "pytensor.conditional.op", "pytensor.ifelse"))
def _ifelse(op: Any, node: PyTensorApply, condition: Any, *branches: Any) -> Any:
    return ifelse(condition, list(branches[: op.n_outs]), list(branches[op.n_outs :]))


def _lazy_ifelse(op: Any, node: PyTensorApply, condition: Any, *inputs: Any) -> Any:
    """Convert a choice whose branches are inner graphs; PyTensor's rewrites create it."""
    branches = (_inner_graph(branch, node, *inputs) for branch in (op.true_branch, op.false_branch))
    return ifelse(condition, *branches)


for _class in classes("pytensor.conditional.op", ["LazyIfElse"]).values():
    convert_op.register(_class, _lazy_ifelse)


@convert_op.register(OpFromGraph)
def _inner_graph(op: OpFromGraph, node: PyTensorApply, *inputs: Any) -> Any:
    return convert_graph(op.inner_inputs, op.inner_outputs, dict(zip(op.inner_inputs, inputs)))[1]


@convert_op.register(DisconnectedGrad)
@convert_op.register(GradClip)
@convert_op.register(GradScale)
@convert_op.register(ZeroGrad)
def _identity(op: Any, node: PyTensorApply, x: Any) -> Any:
    return x


@convert_op.register(Scan)
def _scan(op: Scan, node: PyTensorApply, *inputs: Any) -> Any:
    their_info = op.info
    info = ScanInfo(
        n_seqs=their_info.n_seqs,
        mit_mot_in_slices=their_info.mit_mot_in_slices,
        mit_mot_out_slices=their_info.mit_mot_out_slices,
        mit_sot_in_slices=their_info.mit_sot_in_slices,
        sit_sot_in_slices=their_info.sit_sot_in_slices,
        n_nit_sot=their_info.n_nit_sot,
        n_shared_outs=their_info.n_untraced_sit_sot,
        n_non_seqs=their_info.n_non_seqs,
        as_while=their_info.as_while,
    )
    step_inputs, step_outputs = convert_graph(op.inner_inputs, op.inner_outputs)
    loop = OurScan(step_inputs, step_outputs, info, truncate_gradient=op.truncate_gradient, name=op.name)
    if info.n_mit_mot:
        # There are more rules for states than for buffers of which a step writes several rows.
        variables = [v if isinstance(v, Variable) else as_tensor_variable(v) for v in inputs]
        return with_rows_as_states(loop, variables)
    return loop(*inputs, return_list=True)
