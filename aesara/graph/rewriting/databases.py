"""The databases of rewriters that compilation uses.

They stand here so that every layer that has rewrites can register them. The order of the passes
is set where functions are compiled: there `optdb` is filled, position by position.
"""

from __future__ import annotations

import importlib
import sys
from typing import Any

from aesara.graph.rewriting.db import EquilibriumDB, LocalGroupDB, SequenceDB, as_query
from aesara.graph.rewriting.merge import MergeOptimizer
from aesara.graph.rewriting.rewriter import NodeRewriter, SequentialGraphRewriter
from aesara.graph.rewriting.walking import in2out


class CanonicalDB(EquilibriumDB):
    """Canonical forms, which are spelled as in Aesara when a query asks for nothing else.

    Patterns of libraries are written for these: ``-1 * x``, where the rules of all passes here are about ``-x``.
    """

    def __init__(self) -> None:
        super().__init__(ignore_newtrees=False)
        #: Rules that are applied once, after all others; none of them may undo what another one does.
        self.spellings: list[NodeRewriter] = []

    def query(self, *tags: Any, **kwtags: Any) -> Any:
        forms = super().query(*tags, **kwtags)
        asked = as_query(tags, kwtags).include
        if "canonicalize" not in asked or not asked.isdisjoint(_LATER):
            return forms
        return SequentialGraphRewriter(forms, *map(in2out, self.spellings), MergeOptimizer())


#: Tags that take in passes after the canonical ones.
_LATER = frozenset(("fast_run", "fast_compile", "stabilize", "specialize", "uncanonicalize"))

#: All passes, by position. Filled by the compilation pipeline.
optdb = SequenceDB()

#: Simpler and uniform forms, that other rewrites can rely on.
canonicalize = CanonicalDB()
canonicalize.name = "canonicalize"

#: Forms that are computed more accurately.
stabilize = EquilibriumDB(ignore_newtrees=False)
stabilize.name = "stabilize"

#: Forms that are computed faster.
specialize = EquilibriumDB(ignore_newtrees=False)
specialize.name = "specialize"

#: Forms that are faster still, but that canonical forms stood in the way of.
uncanonicalize = EquilibriumDB(ignore_newtrees=False)
uncanonicalize.name = "uncanonicalize"

#: How expressions are spelled in graphs that are done, as in Aesara: no other rule is written for these forms.
spellings = LocalGroupDB()
spellings.name = "spellings"

#: Like `specialize`, for what depends on the device.
specialize_device = EquilibriumDB(ignore_newtrees=False)
specialize_device.name = "specialize_device"

#: Removal of what does nothing; a first walk over the graph.
local_useless = LocalGroupDB(apply_all_rewrites=True, profile=False)
local_useless.name = "useless"

# Rules leave equal nodes behind; merged, they may match rules again.
for _database in (canonicalize, stabilize, specialize, uncanonicalize):
    _database.register("merge_equal", MergeOptimizer(), "fast_run", "fast_compile", "merge", cleanup=True)

#: Modules of Ops, and of the rules about them, which are loaded with the first function that is compiled after the Ops.
RULES_ON_DEMAND = {
    "aesara.tensor.linear_algebra.solve": "aesara.tensor.rewriting.matrices",
    "aesara.tensor.random.random_variable": "aesara.tensor.random.rewriting",
}


def load_rules() -> None:
    """Register the rules about what has been loaded."""
    for ops, rules in RULES_ON_DEMAND.items():
        if ops in sys.modules:
            importlib.import_module(rules)
