"""Functions about loops by the names of Aesara, each with what it gives there."""

import io

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.compile.mode import get_mode
from aesara.graph.fg import FunctionGraph
from aesara.graph.rewriting.databases import optdb
from aesara.scan import rewriting, until
from aesara.scan.op import Scan, check_broadcast, copy_var_format, profile_printer
from aesara.scan.parts import expand_empty
from aesara.scan.utils import ScanArgs, ScanProfileStats
from aesara.tensor.indexing.subtensor_basic import Subtensor
from tests.closeness import assert_close

x, v, n = at.dvector("x"), at.dvector("v"), at.lscalar("n")


def a_loop():
    """A graph with one loop: its node, with a state of which the last value is read, and the graph."""
    states, _ = aesara.scan(lambda e, s, k: s + at.sin(e) * k, x, 0.0, v[0])
    graph = FunctionGraph([x, v], [states.owner.inputs[0][-1]], clone=False)
    return next(node for node in graph.apply_nodes if isinstance(node.op, Scan)), graph


def test_rules_stand_under_their_names_and_tags():
    for name in ("scan_eqopt1", "scan_eqopt2", "scan_save_mem", "scan_make_inplace"):
        assert optdb[name] is not None
    names = ["scan_remove_constants_and_unused_inputs0", "scan_pushout_nonseqs_ops", "scan_pushout_seqs_ops"]
    for name in [*names, "scan_pushout_dot1", "scan_pushout_add", "scan_pushout_dot"]:
        assert name in rewriting.scan_seqopt1
    names = [f"scan_remove_constants_and_unused_inputs{k}" for k in (1, 2, 3)]
    for name in [*names, "constant_folding_for_scan2", "scan_merge_inouts", "scan_merge"]:
        assert name in rewriting.scan_eqopt2
    assert optdb["while_scan_merge_subtensor_last_element"] is not None


@pytest.mark.parametrize("steps, taps, is_merged", [(5, [-1], True), (5, [-2, -1], True), (n, [-1], False)])
def test_the_last_value_of_a_loop_that_may_end_early_is_read_from_its_buffer(steps, taps, is_merged):
    def step(*former):
        return former[-1] * 2 + former[0], until(former[-1] > 3)

    first = v[:2] if len(taps) == 2 else v[0]
    states, _ = aesara.scan(step, outputs_info={"initial": first, "taps": taps}, n_steps=steps)
    mode = get_mode("FAST_RUN").excluding("scan_save_mem")
    f, other = (
        aesara.function([v, n], [states[-1], states[-2]], on_unused_input="ignore", mode=m)
        for m in (mode, mode.excluding("while_scan_merge_subtensor_last_element"))
    )
    (loop,) = [node for node in f.maker.fgraph.apply_nodes if isinstance(node.op, Scan)]
    reads = [client.op for client, _ in f.maker.fgraph.clients[loop.outputs[0]] if isinstance(client.op, Subtensor)]
    assert len(reads) == (2 if is_merged else 1)
    for start in (0.1, 2.0, 3.0):
        assert f([start, start], 5) == other([start, start], 5)
    with pytest.raises(IndexError):
        f([4.0, 4.0], 5)  # ends after one step


def test_small_helpers():
    assert rewriting.sanitize(None) is None and rewriting.sanitize(3).data == 3
    assert (rewriting.select_min(None, 3), rewriting.select_max(4, 3), rewriting.select_min(4, 3)) == (3, 4, 3)
    assert rewriting.select_max(n, 3).eval({n: 2}) == 3 and rewriting.select_min(n, None) is n
    assert rewriting.has_duplicates([1, 2, 1]) and rewriting.make_equiv([x, x, v], [1, 2, 3]) == ([2], [1])


def test_variables_of_the_step_for_all_steps():
    node, graph = a_loop()
    args = ScanArgs.from_node(node)
    inner = args.inner_out_sit_sot[0]
    entry, constant = args.inner_in_seqs[0], args.inner_in_non_seqs[0]
    assert [rewriting.get_outer_ndim(w, args) for w in (entry, constant, inner)] == [1, 0, 1]
    assert rewriting.inner_sitsot_only_last_step_used(graph, inner, args)
    (states,) = args.outer_out_sit_sot
    both = FunctionGraph(outputs=[states[-1], states[-2]], clone=False)
    assert not rewriting.inner_sitsot_only_last_step_used(both, inner, args)
    assert not rewriting.inner_sitsot_only_last_step_used(graph, entry, args)
    product = next(w for w in inner.owner.inputs if w.owner is not None)
    outer, parts, replaced = rewriting.push_out_inner_vars(graph, [product, entry, constant], node, args)
    assert set(replaced) == set(node.outputs)
    assert parts.info.n_nit_sot == 1  # the sequence has its rows
    got = aesara.function([x, v], outer)([1.0, 2.0], [3.0])
    assert_close(got[0], np.sin([1.0, 2.0]) * 3)
    assert got[1].tolist() == [1, 2] and got[2] == 3
    made, replaced = rewriting.add_nitsot_outputs(graph, node, args, [product])
    assert made.op.info.n_nit_sot == 1 and replaced[node.outputs[0]].owner is made


def test_buffers_of_other_lengths():
    buffer = expand_empty(v[None], n)
    assert rewriting.reshape_output_storage(buffer, n + 2, 1).shape[0].eval({v: [1.0], n: 3}) == 6
    assert rewriting.reshape_output_storage(at.zeros((3, 2)), n, 1) is None
    node, graph = a_loop()
    found = rewriting.save_mem_new_scan.transform(graph, node)
    assert [w.type.ndim for w in found.values()] == [0]
    assert rewriting.save_mem_new_scan.transform(FunctionGraph([x, v], node.outputs, clone=False), node) is False


def test_types_that_do_not_fit():
    row, column = at.TensorType("float64", (1,))(), at.dvector()
    check_broadcast(column, at.dvector())
    for pair in ((row, column), (column, row)):
        with pytest.raises(TypeError, match="length one in one of them only"):
            check_broadcast(*pair)
    # The last dimensions are compared, whichever of both has more.
    wide = at.TensorType("float64", (None, 1, None))()
    check_broadcast(wide, at.TensorType("float64", (1, None))())
    for pair in ((wide, at.dmatrix()), (at.dmatrix(), wide)):
        with pytest.raises(TypeError, match="dimension 0 is known to have length one"):
            check_broadcast(*pair)
    assert copy_var_format(at.fvector(), column).type == column.type
    assert copy_var_format(at.fmatrix(), column).type.dtype == "float64" and copy_var_format(3, column) == 3


def test_profiles_print_loops():
    node, _ = a_loop()
    printed = io.StringIO()
    profile_printer("", 0.0, 2.0, {node: 0.5}, {}, {}, printed)
    assert "25.0 %" in printed.getvalue() and "scan_fn" in printed.getvalue()
    profile_printer("", 0.0, 2.0, {node.inputs[0].owner: 0.5}, {}, {}, printed)
    assert printed.getvalue().count("Loops:") == 1
    stats = ScanProfileStats(False, name="smooth")
    stats.summary_function(printed)
    assert "smooth" not in printed.getvalue()
    stats.callcount, stats.nbsteps, stats.call_time = 2, 10, 0.5
    stats.summary_function(printed)
    stats.summary_globals(printed)
    assert "Loop smooth: 2 runs of 10 steps" in printed.getvalue() and "5.000e-02 s a step" in printed.getvalue()
