"""Variables that share memory because some show (view) the memory of others."""

from __future__ import annotations

from aesara.graph.nodes import Apply, Variable


def destroyed_inputs(node: Apply) -> list[tuple[int, int]]:
    """Return pairs of an output index and the index of the input that it is written over."""
    destroy_map = node.op.destroy_map
    if not destroy_map:
        return []
    return [(output, index) for output, indices in destroy_map.items() for index in indices]


def viewed_inputs(node: Apply) -> list[tuple[int, int]]:
    """Return pairs of an output index and the index of the input whose memory it shows."""
    view_map = node.op.view_map
    if not view_map:
        return []
    pairs = []
    for output, indices in view_map.items():
        if len(indices) > 1:
            raise NotImplementedError(
                f"{node.op}.view_map says that output {output} shows the inputs {indices}; an output may show a "
                "single input."
            )
        if indices:
            pairs.append((output, indices[0]))
    return pairs


class Aliases:
    """The views of a graph: for each variable, the one whose memory it shows, and those that show its own.

    The *root* of a variable is found by following these views backwards. All variables with the same root may share
    memory.
    """

    def __init__(self) -> None:
        self.view_i: dict[Variable, Variable] = {}
        self.view_o: dict[Variable, dict[Variable, None]] = {}

    def link(self, view: Variable, shown: Variable) -> None:
        """Record that `view` shows the memory of `shown`."""
        self.view_i[view] = shown
        self.view_o.setdefault(shown, {})[view] = None

    def unlink(self, view: Variable, shown: Variable) -> None:
        """Forget that `view` shows the memory of `shown`."""
        self.view_i.pop(view, None)
        views = self.view_o.get(shown)
        if views is not None:
            views.pop(view, None)
            if not views:
                del self.view_o[shown]

    def root_of(self, variable: Variable) -> Variable:
        """Return the root of a variable."""
        view_i = self.view_i
        shown = view_i.get(variable)
        while shown is not None:
            variable = shown
            shown = view_i.get(variable)
        return variable

    def impact_of(self, root: Variable) -> dict[Variable, None]:
        """Return all variables with this root, itself included."""
        aliases = {root: None}
        stack = [root]
        while stack:
            for variable in self.view_o.get(stack.pop(), ()):
                if variable not in aliases:
                    aliases[variable] = None
                    stack.append(variable)
        return aliases
