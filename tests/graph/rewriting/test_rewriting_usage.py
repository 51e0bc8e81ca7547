"""Programs that use rewriting as libraries do: rules, databases, modes and features of their own."""

import aesara.tensor as at
from aesara.graph.destroyhandler import DestroyHandler
from aesara.graph.features import Bookkeeper
from aesara.graph.fg import FunctionGraph
from aesara.graph.rewriting.basic import inplace_graph_rewriter

x, y = at.dvectors("x", "y")


def graph(*outputs, **options):
    return FunctionGraph(outputs=list(outputs), clone=False, **options)


# Features


def test_functions_that_overwrite_get_a_destroy_handler():
    @inplace_graph_rewriter
    def look(fgraph):
        seen.extend(type(feature) for feature in fgraph._features)

    seen = []
    fgraph = graph(at.exp(x))
    look.rewrite(fgraph)
    look.rewrite(fgraph)
    assert seen.count(DestroyHandler) == 2 and look.__name__ == "look"


def test_bookkeepers_say_why():
    class Notes(Bookkeeper):
        def __init__(self):
            self.reasons = []

        def on_import(self, fgraph, node, reason):
            self.reasons.append(reason)

        def on_prune(self, fgraph, node, reason):
            self.reasons.append(reason)

    notes = Notes()
    fgraph = graph(at.exp(x))
    fgraph.attach_feature(notes)
    fgraph.remove_feature(notes)
    assert notes.reasons == ["Bookkeeper.on_attach", "Bookkeeper.detach"]
