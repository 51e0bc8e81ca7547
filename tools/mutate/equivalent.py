"""Faults that no test can notice, with the reason; by module, function, the text that was replaced, and what by."""

EQUIVALENT: dict[tuple[str, str, str, str], str] = {
    (
        "aesara/graph/incremental_order.py",
        "IncrementalOrder.insert",
        "high - 1.0",
        "(1.0 - high)",
    ): "the edges that are added next put every label right; more nodes are moved",
    (
        "aesara/graph/fg.py",
        "FunctionGraph.__init__",
        "False",
        "(True)",
    ): "a graph that is new has no other place for the variable, which is all that is checked",
    (
        "aesara/graph/equality.py",
        "equal_computations",
        "if x is y and (not partners):\n    continue",
        "pass",
    ): "it saves work: what is compared with itself is equal",
    (
        "aesara/lower/context.py",
        "Context.canonical",
        "seen < 8 and any((x in self._equal for x in walk([found])))",
        "(seen < 8 or any((x in self._equal for x in walk([found]))))",
    ): "substituting once more where nothing is left to substitute changes nothing",
    (
        "aesara/lower/routines.py",
        "_Translator.function",
        "0.0",
        "(1.0)",
    ): "every path sets the variable before it is read",
    (
        "aesara/graph/fg.py",
        "FunctionGraph.toposort",
        "if order is not None:\n    return list(order)",
        "pass",
    ): "it saves work: the order that is kept is the one that would be found",
    (
        "aesara/printing/formula.py",
        "PPrinter._expand",
        "reversed(pieces)",
        "(pieces)",
    ): "it is given one piece; what comes in its place is turned around where that is added",
    (
        "aesara/finite_differences.py",
        "numeric_grad.abs_rel_err",
        "a - b",
        "(b - a)",
    ): "the absolute value of a difference has no order",
    (
        "aesara/compile/shrink.py",
        "_cut",
        "False",
        "(True)",
    ): "what takes the place of a part has its type",
    (
        "aesara/scalar/routines/hypergeometric.py",
        "_from_zero",
        "z <= 0.5",
        "(z < 0.5)",
    ): "both forms hold where they meet",
    (
        "aesara/scalar/composite.py",
        "Composite.name",
        "self._name is None",
        "(True)",
    ): "it saves work: the text is the same each time",
    (
        "aesara/ifelse.py",
        "IfElse.L_op",
        "if not flowing:\n    return result",
        "pass",
    ): "it saves work: a choice of nothing gives nothing",
}
