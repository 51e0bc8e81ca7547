"""All passes over a graph before it is linked, in order.

This list is read from top to bottom: a pass is taken when one of its tags is in the mode's query
(``fast_run``, ``fast_compile``, ...).  What happens in the passes that are databases is decided
where their rules stand.  Users' own passes enter through ``optdb.register(name, rewriter, *tags,
position=)``, and users' own rules through ``register_canonicalize`` and its kin.
"""

from __future__ import annotations

from aesara.graph import hooks
from aesara.graph.destroyhandler import DestroyHandler
from aesara.graph.fg import FunctionGraph
from aesara.graph.rewriting.databases import (
    canonicalize,
    local_useless,
    optdb,
    specialize,
    specialize_device,
    spellings,
    stabilize,
    uncanonicalize,
)
from aesara.graph.rewriting.db import RewriteDatabase, TopoDB
from aesara.graph.rewriting.fixed_point import ChangesSincePass, SettlingDB
from aesara.graph.rewriting.merge import MergeOptimizer
from aesara.graph.rewriting.rewriter import GraphRewriter
from aesara.graph.rewriting.stack_trace import CheckStackTraceRewriter
from aesara.graph.rewriting.walking import in2out
from aesara.ifelse import cond_make_inplace
from aesara.records import dataclass
from aesara.scan.editing import OverLoops
from aesara.scan.inner_graphs import RewriteSteps
from aesara.scan.inplace import ScanInplaceOptimizer
from aesara.scan.last_values import while_scan_merge_subtensor_last_element
from aesara.scan.late_terms import split_late_sums, take_late_terms_last
from aesara.scan.passes import scan_eqopt1, scan_eqopt2
from aesara.scan.pruning import remove_constants_and_unused_inputs_scan, remove_unused_outputs_scan
from aesara.scan.returned_rows import return_rows_as_results
from aesara.scan.rows_for_shapes import read_shapes_elsewhere
from aesara.scan.saving_memory import SaveMemory
from aesara.subgraph import inline_ofg_expansion
from aesara.tensor.rewriting.blas import blas_opt_inplace, blas_optdb
from aesara.tensor.rewriting.constants import local_alloc_empty_to_zeros, local_alloc_to_broadcast, local_fill_to_alloc
from aesara.tensor.rewriting.elemwise import fuse_seqopt, inplace_elemwise_optimizer, local_careduce_fusion
from aesara.tensor.rewriting.inplace import (
    InplaceWriter,
    local_inplace_AdvancedIncSubtensor,
    local_inplace_AdvancedIncSubtensor1,
    local_inplace_setsubtensor,
)
from aesara.tensor.rewriting.shape import ShapeOptimizer, UnShapeOptimizer


class AddDestroyHandler(GraphRewriter):
    """Makes the graph check from here on that nobody reads what an in-place operation has overwritten."""

    def apply(self, fgraph: FunctionGraph) -> None:
        fgraph.attach_feature(DestroyHandler())  # which does nothing where there is one already

    def add_requirements(self, fgraph: FunctionGraph) -> None:
        """Nothing: the handler itself is attached when the pass is reached."""


class PrintCurrentFunctionGraph(GraphRewriter):
    """Prints the graph as it is when the pass is reached, below a header."""

    def __init__(self, header: str) -> None:
        self.header = header

    def apply(self, fgraph: FunctionGraph) -> None:
        print("PrintCurrentFunctionGraph:", self.header)
        hooks.debugprint(fgraph)


@dataclass(frozen=True)
class Pass:
    """One pass: its position among the others, its name, what it does, and the tags that select it."""

    position: float
    name: str
    rewriter: RewriteDatabase | GraphRewriter
    tags: tuple[str, ...]


ALWAYS = ("fast_run", "fast_compile")
FAST_RUN = ("fast_run",)
IN_PLACE = ("fast_run", "inplace")
SETTLING = ("fast_run", "settling")

#: The passes that look again at what has changed since they ended.
REPEATED = (canonicalize, stabilize, blas_optdb, specialize, specialize_device, uncanonicalize)

PASSES = [
    # Nodes that come in without their line are reported, where the option `check_stack_trace` asks for it.
    Pass(-1, "CheckStackTrace", CheckStackTraceRewriter(), ALWAYS),
    # Operations that are graphs, where they ask for it, are replaced by these graphs.
    Pass(-0.01, "inline_ofg_expansion", in2out(inline_ofg_expansion), ALWAYS),
    # Equal nodes become one, so that rules see each expression once.
    Pass(0, "merge1", MergeOptimizer(), (*ALWAYS, "merge")),
    # What does not need a loop goes out of it.
    Pass(0.05, "scan_eqopt1", scan_eqopt1, (*FAST_RUN, "scan")),
    # The shapes of all variables become known to the graph, so that rules can ask for them.
    Pass(0.1, "ShapeOpt", ShapeOptimizer(), ALWAYS),
    # What does nothing goes, in one walk.
    Pass(0.6, "useless", TopoDB(local_useless), ALWAYS),
    Pass(0.65, "merge1.1", MergeOptimizer(), (*ALWAYS, "merge")),
    # Simpler and uniform forms, on which later rules rely; constants are folded.
    Pass(1, "canonicalize", canonicalize, (*ALWAYS, "canonicalize_db")),
    Pass(1.2, "merge1.2", MergeOptimizer(), (*ALWAYS, "merge")),
    # Prints, for modes that include them by name.
    Pass(1.21, "Print1.21", PrintCurrentFunctionGraph("Post-canonicalize"), ()),
    # From here on changes are news to `canonicalize`; and so on.
    Pass(1.3, "watch_canonicalize", ChangesSincePass("canonicalize"), SETTLING),
    # More accurate forms.
    Pass(1.5, "stabilize", stabilize, FAST_RUN),
    Pass(1.51, "Print1.51", PrintCurrentFunctionGraph("Post-stabilize"), ()),
    # One walk, for modes that include it by name and have no later passes.
    Pass(1.52, "local_fill_to_alloc", in2out(local_fill_to_alloc), ()),
    Pass(1.6, "watch_stabilize", ChangesSincePass("stabilize"), SETTLING),
    # Equal inputs and outputs of loops become one, and so do loops over the same steps.
    Pass(1.62, "scan_eqopt2", scan_eqopt2, (*FAST_RUN, "scan")),
    # (1.65: one factorization for all that is asked of a matrix; see aesara.tensor.rewriting.matrices.)
    # Products of matrices in the forms of BLAS.
    Pass(1.7, "BlasOpt", blas_optdb, ALWAYS),
    Pass(1.8, "watch_BlasOpt", ChangesSincePass("BlasOpt"), SETTLING),
    # Faster forms.
    Pass(2, "specialize", specialize, ALWAYS),
    Pass(2.1, "watch_specialize", ChangesSincePass("specialize"), SETTLING),
    # Forms that are faster on the device at hand.
    Pass(2.5, "specialize_device", specialize_device, FAST_RUN),
    Pass(2.6, "watch_specialize_device", ChangesSincePass("specialize_device"), SETTLING),
    # Faster forms that the canonical ones stood in the way of.
    Pass(3, "uncanonicalize", uncanonicalize, FAST_RUN),
    Pass(3.1, "watch_uncanonicalize", ChangesSincePass("uncanonicalize"), SETTLING),
    # The graphs inside of loops go through this list as well.
    Pass(3.1, "rewrite_steps", RewriteSteps(), FAST_RUN),
    # What a step asks for the shape of, the loop before need not keep.
    Pass(3.11, "scan_shapes_elsewhere", OverLoops(read_shapes_elsewhere), (*FAST_RUN, "scan")),
    # The last state of a loop that may end early is read from its buffer.
    Pass(
        3.12,
        "while_scan_merge_subtensor_last_element",
        OverLoops(while_scan_merge_subtensor_last_element),
        (*FAST_RUN, "scan"),
    ),
    # All states that are returned are written where they are returned.
    Pass(3.14, "scan_return_rows", OverLoops(return_rows_as_results), (*FAST_RUN, "scan")),
    # Loops forget what nobody reads; this needs to see all readers. What it changes is news to the passes before.
    Pass(3.15, "scan_save_mem", SaveMemory(), (*FAST_RUN, "scan", "save_mem_new_scan")),
    # What has changed since a pass ended may be of use to its rules, until nothing new comes of it.
    Pass(3.2, "settle", SettlingDB(*REPEATED), SETTLING),
    # A sequence may turn out to be constant then, and nobody may read any more what a loop computes.
    Pass(3.24, "scan_remove_constants", OverLoops(remove_constants_and_unused_inputs_scan), FAST_RUN),
    Pass(3.25, "scan_remove_unused", OverLoops(remove_unused_outputs_scan), FAST_RUN),
    # Operands that are repeated need not be in memory of their own.
    Pass(
        3.3,
        "local_alloc_to_broadcast",
        in2out(local_alloc_to_broadcast),
        (*FAST_RUN, "local_elemwise_alloc", "local_alloc_elemwise"),
    ),
    # What a step waits for comes last in its sums and products.
    Pass(3.6, "scan_late_terms", OverLoops(take_late_terms_last), (*FAST_RUN, "scan")),
    Pass(3.61, "scan_split_late_sums", OverLoops(split_late_sums), (*FAST_RUN, "scan")),
    # Nobody asks for shapes from here on.
    Pass(10, "UnShapeOpt", UnShapeOptimizer(), ALWAYS),
    # From here on the graph is spelled as it is shown: no rule looks for other forms.
    Pass(48, "spellings", TopoDB(spellings), FAST_RUN),
    Pass(49, "merge2", MergeOptimizer(), (*FAST_RUN, "merge")),
    # Native code is fused below the graph; this is for modes that ask for it.
    Pass(49, "elemwise_fusion", fuse_seqopt, ("fusion", "local_elemwise_fusion", "FusionOptimizer")),
    Pass(49, "local_careduce_fusion", in2out(local_careduce_fusion), ("fusion", "cxx_only")),
    # What nobody has written is no news to modes that look at every number.
    Pass(49.3, "local_alloc_empty_to_zeros", in2out(local_alloc_empty_to_zeros), ("alloc_empty_to_zeros",)),
    # In-place rewrites stand behind this position.
    Pass(49.5, "add_destroy_handler", AddDestroyHandler(), IN_PLACE),
    Pass(60, "local_inplace_setsubtensor", InplaceWriter(local_inplace_setsubtensor), IN_PLACE),
    Pass(60, "local_inplace_AdvancedIncSubtensor1", InplaceWriter(local_inplace_AdvancedIncSubtensor1), IN_PLACE),
    Pass(60, "local_inplace_AdvancedIncSubtensor", InplaceWriter(local_inplace_AdvancedIncSubtensor), IN_PLACE),
    Pass(70, "InplaceBlasOpt", blas_opt_inplace, (*FAST_RUN, "inplace", "blas_opt_inplace")),
    Pass(
        75,
        "inplace_elemwise_opt",
        inplace_elemwise_optimizer,
        (*IN_PLACE, "inplace_opt", "inplace_elemwise_optimizer"),
    ),
    Pass(75, "scan_make_inplace", ScanInplaceOptimizer(), (*IN_PLACE, "scan")),
    # What is chosen is what it was before, where nobody overwrites it.
    Pass(95, "cond_make_inplace", in2out(cond_make_inplace, ignore_newtrees=True), (*IN_PLACE, "cond_make_inplace")),
    # (99: draws change the state of a generator that nobody reads afterwards; see aesara.tensor.random.rewriting.)
    Pass(100, "merge3", MergeOptimizer(), (*FAST_RUN, "merge")),
]


def fill(database: RewriteDatabase) -> None:
    """Register all passes that `database` does not have yet."""
    for step in PASSES:
        if step.name not in database:
            database.register(step.name, step.rewriter, *step.tags, position=step.position)


fill(optdb)
