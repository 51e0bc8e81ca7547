"""Loops by their parts: which inputs and outputs belong together, and what is left without one of them."""

from copy import copy

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.scan.op import Scan
from aesara.scan.utils import (
    FieldInfo,
    ScanArgs,
    compress_outs,
    forced_replace,
    reconstruct_graph,
    safe_new,
    scan_can_remove_outs,
    traverse,
    until,
)

x, k, a0, b0 = at.dvector("x"), at.dscalar("k"), at.dvector("a0"), at.dscalar("b0")


def a_loop():
    def step(x, a2, a1, b, k):
        return [a2 + a1 * x, b + k, x * 2], until(b > 3)

    outputs, _ = aesara.scan(step, [x], [{"initial": a0, "taps": [-2, -1]}, b0, None], [k])
    return outputs[2].owner


NODE = a_loop()


def assert_same_as_the_second_output(variable):
    f = aesara.function([x, k, b0], variable, on_unused_input="ignore")
    assert f(np.arange(4.0), 1.0, 0.25).tolist() == [0.25, 1.25, 2.25, 3.25, 4.25]


def test_mappings_are_those_of_aesara():
    assert NODE.op.get_oinp_iinp_iout_oout_mappings() == {
        "outer_inp_from_outer_out": {0: 2, 1: 3, 2: 4},
        "inner_inp_from_outer_out": {0: [1, 2], 1: [3], 2: []},
        "inner_out_from_outer_out": {0: [0], 1: [1], 2: [2]},
        "inner_inp_from_outer_inp": {0: [], 1: [0], 2: [1, 2], 3: [3], 4: [], 5: [4]},
        "inner_out_from_outer_inp": {0: [], 1: [], 2: [0], 3: [1], 4: [2], 5: []},
        "outer_out_from_outer_inp": {0: -1, 1: -1, 2: 0, 3: 1, 4: 2, 5: -1},
        "outer_inp_from_inner_inp": {0: 1, 1: 2, 2: 2, 3: 3, 4: 5},
        "inner_out_from_inner_inp": {0: [], 1: [0], 2: [0], 3: [1], 4: []},
        "outer_out_from_inner_inp": {0: -1, 1: 0, 2: 0, 3: 1, 4: -1},
        "outer_inp_from_inner_out": {0: 2, 1: 3, 2: 4},
        "inner_inp_from_inner_out": {0: [1, 2], 1: [3], 2: []},
        "outer_out_from_inner_out": {0: 0, 1: 1, 2: 2},
    }


def test_parts_make_the_loop_again():
    args = ScanArgs.from_node(NODE)
    assert args.info == NODE.op.info and args.var_mappings == NODE.op.get_oinp_iinp_iout_oout_mappings()
    assert args.inner_inputs == NODE.op.inner_inputs and args.inner_outputs == NODE.op.inner_outputs
    assert args.outer_inputs == NODE.inputs and args.outer_outputs == NODE.outputs
    assert copy(args) == args and copy(args) is not args and args != 3
    copied = ScanArgs.from_node(NODE, clone=True)
    assert copied.outer_inputs == NODE.inputs and not set(copied.inner_inputs) & set(args.inner_inputs)
    again = Scan(copied.inner_inputs, copied.inner_outputs, copied.info)(*copied.outer_inputs)
    values = [np.arange(4.0), 1.0, [0.5, 2.0], 0.25]
    for got, want in zip(*(aesara.function([x, k, a0, b0], v)(*values) for v in (again, NODE.outputs)), strict=True):
        assert np.array_equal(got, want)


def test_where_variables_stand():
    args = ScanArgs.from_node(NODE)
    second = args.inner_in_mit_sot[0][1]
    assert args.find_among_fields(second) == FieldInfo("inner_in_mit_sot", "inner_inputs", 0, 1, 2)
    assert args.inner_inputs[2] is second
    for variable in [*NODE.inputs[1:4], *NODE.outputs, *NODE.op.inner_inputs, *NODE.op.inner_outputs[:-1]]:
        info = args.find_among_fields(variable)
        assert getattr(args, info.agg_name)[info.agg_index] is variable
    assert args.find_among_fields(NODE.op.inner_outputs[-1]) is None
    new = args.inner_out_mit_sot[0]
    assert args.get_alt_field(new, "inner_in") == args.inner_in_mit_sot[0]
    assert (
        args.get_alt_field(new, "outer_in") is NODE.inputs[2]
        and args.get_alt_field(new, "outer_out") is NODE.outputs[0]
    )
    assert args.get_alt_field(args.inner_in_seqs[0], "outer_out") is None


def test_what_goes_with_a_variable():
    args = ScanArgs.from_node(NODE)
    entry = args.inner_in_seqs[0]
    removed = {v for v, _ in args.remove_from_fields(entry)}
    assert removed == {NODE.inputs[1], NODE.inputs[2], NODE.inputs[4], NODE.outputs[0], NODE.outputs[2],
                       *NODE.op.inner_inputs[:3], *NODE.op.inner_outputs[:1], NODE.op.inner_outputs[2]}  # fmt: skip
    assert (args.info.n_seqs, args.info.mit_sot_in_slices, args.info.n_nit_sot) == (0, (), 0)
    smaller = Scan(args.inner_inputs, args.inner_outputs, args.info)(args.n_steps, *args.outer_inputs[1:])
    assert_same_as_the_second_output(smaller)
    with pytest.raises(ValueError, match="not found among fields"):
        args.remove_from_fields(entry)


def test_a_variable_is_an_input_of_a_step_once():
    op = NODE.op
    with pytest.raises(ValueError, match="given as input more than once"):
        Scan([op.inner_inputs[0], op.inner_inputs[0], *op.inner_inputs[2:]], op.inner_outputs, op.info).fgraph


def test_two_loops_in_one():
    n = at.lscalar("n")
    one, two = (aesara.scan(lambda s, k=k: s * k, outputs_info=b0, n_steps=n)[0].owner.inputs[0].owner for k in (2, 3))
    both = ScanArgs.from_node(one).merge(ScanArgs.from_node(two))
    outputs = Scan(both.inner_inputs, both.inner_outputs, both.info)(*both.outer_inputs)
    got = aesara.function([n, b0], outputs)(3, 1.0)
    assert [v.tolist() for v in got] == [[1, 2, 4, 8], [1, 3, 9, 27]]
    with pytest.raises(ValueError, match="different conditions"):
        both.merge(ScanArgs.from_node(NODE))


def test_outputs_that_others_need():
    assert scan_can_remove_outs(NODE.op, [0, 1, 2]) == ([1], [0, 2])
    assert scan_can_remove_outs(NODE.op, [2]) == ([], [2])
    inner, outer, info, inputs, places = compress_outs(NODE.op, [0, 2], NODE.inputs)
    assert places == {1: 0, 3: 1} and inputs == [NODE.inputs[k] for k in (0, 1, 3, 5)]
    left = Scan(inner, outer, info)(*inputs)
    assert_same_as_the_second_output(left)


def test_copies_of_variables_and_graphs():
    assert safe_new(at.constant(3.0)).data == 3 and safe_new(at.constant(3.0), dtype="float32").type.dtype == "float32"
    inputs, (out,) = reconstruct_graph([x, k], [x * k + 1])
    assert out.eval({inputs[0]: [2.0], inputs[1]: 3.0}) == 7 and inputs[0] is not x
    assert forced_replace(at.exp(b0) * (1 - at.exp(b0)), at.exp(b0), k).eval({k: 3.0}) == -6
    assert forced_replace(None, x, k) is None
    assert traverse([x * 2 + k, None][:1], k, b0, {}) == {k: b0} and traverse(x, k, b0, {}) == {}
