"""Terms of entropies (``xlogy``, ``entr``, ``rel_entr``, ``kl_div``) of probabilities that underflow.

They are computed from logarithms of probabilities (see `logarithms`), and differentiated in these forms.
"""

from __future__ import annotations

from collections.abc import Callable

from aesara.graph.nodes import Apply, Variable
from aesara.graph.rewriting.matching import ops
from aesara.scalar.entropy import Entr, KLDiv, RelEntr, XLogY
from aesara.tensor.elementwise.ops import add, and_, entr, eq, isinf_, kl_div, neg, rel_entr, sub, switch, xlogy
from aesara.tensor.rewriting.helpers import is_float
from aesara.tensor.rewriting.logarithms.analysis import Analysis
from aesara.tensor.rewriting.logarithms.scaled import Search, times_logarithm
from aesara.tensor.rewriting.registration import Rules
from aesara.tensor.rewriting.rows import row

rules = Rules()


def _exponent(var: Variable, dtype: str, analysis: Search) -> Variable | None:
    """Return the logarithm of a variable that is an exponential, so that it is not negative; None for others."""
    found = analysis.scaled_in(var, dtype)
    return found.exponent if found is not None and len(found.pieces) == 1 else None


def form_of_xlogy(node: Apply, analysis: Search) -> Variable | None:
    x, y = node.inputs
    dtype = node.outputs[0].type.dtype
    found = analysis.scaled_in(y, dtype)
    return None if found is None else times_logarithm(x, found.logarithm(dtype))


def form_of_entropy(node: Apply, analysis: Search) -> Variable | None:
    (x,) = node.inputs
    logarithm = _exponent(x, node.outputs[0].type.dtype, analysis)
    return None if logarithm is None else neg(times_logarithm(x, logarithm))


def form_of_relative_entropy(node: Apply, analysis: Search) -> Variable | None:
    x, y = node.inputs
    first, second = (_exponent(v, node.outputs[0].type.dtype, analysis) for v in node.inputs)
    if first is None or second is None:
        return None
    # Where both are zero, the difference of their logarithms would be NaN.
    first = switch(and_(eq(x, 0), isinf_(first)), 0, first)
    term = times_logarithm(x, sub(first, second))
    return term if isinstance(node.op.scalar_op, RelEntr) else add(sub(term, x), y)


FORMS: dict[type, Callable[[Apply, Search], Variable | None]] = {
    XLogY: form_of_xlogy,
    Entr: form_of_entropy,
    RelEntr: form_of_relative_entropy,
    KLDiv: form_of_relative_entropy,
}


local_entropy_of_scaled = row(
    "local_entropy_of_scaled",
    (ops(xlogy, entr, rel_entr, kl_div), "**x"),
    lambda out: FORMS[type(out.owner.op.scalar_op)](out.owner, Analysis()),
    lambda out: is_float(out),
    each=None,
    why="Terms of entropies of exponentials or softmaxes from their logarithms, which are finite where they underflow",
)
rules.add(local_entropy_of_scaled, to=(rules.stabilize, rules.specialize))
