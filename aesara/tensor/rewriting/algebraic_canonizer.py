"""The canonical form of expressions of a commutative operation and its inverse; see `canonizer` for sums and products.

A sum of added and subtracted terms, or a product of factors and divisors, is flattened. Operands that occur on both
sides cancel, and constants become one.

An operand represents its value in the dtype of the whole expression: `uint8` factors of a quotient in `float64` are
`float64` numbers. The canonical form is therefore computed in that dtype.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from copy import copy
from typing import Any

import numpy as np

from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Apply, Constant, Variable
from aesara.graph.op import Op
from aesara.graph.rewriting.basic import NodeRewriter
from aesara.graph.rewriting.node_rewriters import RuleResult
from aesara.scalar.types import upcast
from aesara.tensor.core.conversion import constant
from aesara.tensor.core.tensor_type import TensorType
from aesara.tensor.rewriting.constant_arithmetic import dtype_of_constant, is_lost, working_dtype
from aesara.tensor.rewriting.helpers import common_value, computed_in, in_place_of

#: The largest number of nodes with other clients that a canonizer flattens. Without a bound, a chain of squares would
#: become a product of exponential length.
SHARED_NODES_ENTERED = 8

#: The largest number of operands that it visits, beyond those of nodes without other clients. Without a bound, each
#: gradient of a long product would visit all of it.
FURTHER_OPERANDS = 64


#: Simplifiers are assumed to leave at least one in so many of the operands that do not cancel.
LEAST_LEFT = 4


def get_constant(v: Variable) -> Any:
    """Return the value of a constant or number; None for a variable that is not constant."""
    if isinstance(v, Variable):
        return common_value(v)
    return v


class AlgebraicCanonizer(NodeRewriter):
    """Brings expressions of a commutative operation and its inverse into a canonical form.

    Parameters
    ----------
    main
        A commutative and associative op of any number of inputs, such as `add` or `mul`.
    inverse_fn
        An op with ``inverse(main(x, y), y) == x``, such as `sub` or `true_divide`.
    reciprocal_fn
        An op with ``main(x, reciprocal(y)) == inverse(x, y)``, such as `neg` or `reciprocal`.
    calculate
        ``calculate(numerators, denominators)`` computes ``inverse(main(*numerators), main(*denominators))`` of
        lists of NumPy arrays; of empty lists, the neutral element.
    use_reciprocal
        Whether the canonical form may use `reciprocal_fn`.

    Attributes
    ----------
    sign
        None, or an op of one operand that is flattened too, and counts as a further operand: `neg`, in products.

    Notes
    -----
    Operands that cancel are assumed to be finite, and not zero if they are divisors: ``x / x`` is 1 and ``x - x`` is 0
    also where `x` is zero, infinite or NaN.

    The products below are examples of what the canonizer of `mul` does; that of `add` does the
    same with sums::

        x / x -> 1                     x / (y / z) -> (x * z) / y
        (x * y) / x -> y               (a / b) * (b / c) * (c / d) -> a / d
        x / y / z -> x / (y * z)       (2.0 * x) / (4.0 * y) -> (0.5 * x) / y
        x * y * z -> one node with three inputs

    Examples
    --------
    >>> from aesara.tensor.rewriting.constant_arithmetic import mul_calculate
    >>> x, y, z = at.dvectors("x", "y", "z")
    >>> canonizer = AlgebraicCanonizer(at.mul, at.true_divide, at.reciprocal, mul_calculate)
    >>> canonizer.get_num_denum(x * y / z)
    ([x, y], [z])
    """

    sign: Op | None = None

    def __init__(
        self,
        main: Op,
        inverse_fn: Op,
        reciprocal_fn: Op,
        calculate: Callable,
        use_reciprocal: bool = True,
    ):
        self.main = main
        self.inverse = inverse_fn
        self.reciprocal = reciprocal_fn
        self.calculate = calculate
        self.neutral = calculate([], [])
        self.use_reciprocal = use_reciprocal
        self.external_simplifiers: list[tuple[str, Callable]] = []
        # A bit for each simplifier with operands, these operands, and the bits that each op sets.
        self._bit_of: dict[Callable, int] = {}
        self._operands: list[tuple[int, tuple[Any, ...]]] = []
        self._bits: dict[Op, int] = {}
        self.family = (main, inverse_fn, reciprocal_fn)
        signed = self.family if self.sign is None else (*self.family, self.sign)
        # Dictionaries avoid comparisons with each op of the family.
        self._unsigned, self._signed = ({op: op for op in ops} for ops in (self.family, signed))
        # Classes are quicker to compare than ops are.
        self._classes = frozenset(map(type, signed))

    def __str__(self) -> str:
        return self.name or f"AlgebraicCanonizer({self.main}, {self.inverse}, {self.reciprocal})"

    def tracks(self) -> Sequence[Op]:
        """Return the ops of the family."""
        return list(self.family)

    def add_simplifier(self, simplifier: Callable, reason: str, operands: Sequence[Any] | None = None) -> None:
        """Add a function ``(numerators, denominators) -> (numerators, denominators)``.

        With `operands`, ops and classes of ops, it is called only if one of these computes one of the variables.
        """
        self.external_simplifiers.append((reason, simplifier))
        if operands is not None:
            bit = self._bit_of[simplifier] = 1 << len(self._bit_of)
            self._operands.append((bit, tuple(operands)))
            self._bits.clear()

    def without(self, names: Collection[str]) -> AlgebraicCanonizer:
        """Return the canonizer without the simplifiers that were added for these reasons."""
        kept = [(reason, simplifier) for reason, simplifier in self.external_simplifiers if reason not in names]
        if len(kept) == len(self.external_simplifiers):
            return self
        other = copy(self)
        other.external_simplifiers = kept
        return other

    # Taking an expression apart

    def get_num_denum(self, inp: Variable) -> tuple[list[Variable], list[Variable]]:
        """Return flat lists with ``inp == inverse(main(*num), main(*denum))``.

        Expressions of another dtype are not flattened, since they are computed at another precision.

        Examples
        --------
        With ``main`` a product: ``x*y`` gives ``([x, y], [])``, ``reciprocal(x)`` gives
        ``([], [x])`` and ``a / (b / c)`` gives ``([a, c], [b])``.
        """
        return self._flatten(inp, lambda var, node: True)

    def get_near_num_denum(self, inp: Variable) -> tuple[list[Variable], list[Variable]]:
        """Return `get_num_denum` with a bound on visited operands, for rules that call it for every node of a graph."""
        visited = 0

        def near(var: Variable, node: Apply) -> bool:
            nonlocal visited
            visited += len(node.inputs)
            return visited <= FURTHER_OPERANDS

        return self._flatten(inp, near)

    def _flatten(
        self, inp: Variable, may_enter: Callable[[Variable, Apply], bool], through_signs: bool = False
    ) -> tuple[list[Variable], list[Variable]]:
        ops = self._signed if through_signs else self._unsigned
        classes = self._classes
        negative = False
        num: list[Variable] = []
        denum: list[Variable] = []
        dtype = inp.type.dtype
        main, inverse, recip = self.family
        stack: list[tuple[Variable, bool]] = [(inp, False)]
        while stack:
            var, inverted = stack.pop()
            node = var.owner
            if node is None:
                (denum if inverted else num).append(var)
                continue
            op = ops.get(node.op) if type(node.op) in classes else None
            if op is None or var.type.dtype != dtype or not (var is inp or may_enter(var, node)):
                (denum if inverted else num).append(var)
            elif op is main:
                stack += [(v, inverted) for v in reversed(node.inputs)]
            elif op is inverse:
                stack.append((node.inputs[1], not inverted))
                stack.append((node.inputs[0], inverted))
            elif op is recip:
                stack.append((node.inputs[0], not inverted))
            else:
                negative = not negative
                stack.append((node.inputs[0], inverted))
        if negative:
            num.insert(0, self._constant(-1, inp.type, ()))
        return num, denum

    # Putting it together again

    def merge_num_denum(self, num: Sequence[Variable], denum: Sequence[Variable], dtype: str | None = None) -> Variable:
        """Return ``inverse(main(*num), main(*denum))`` with as few operations as possible.

        They compute in `dtype`, by default the dtype that all variables promote to. A single variable keeps its own
        dtype.
        """
        if not num and not denum:
            return constant(np.asarray(self.neutral, dtype=dtype))
        if dtype is None:
            dtype = upcast(*(var.type.dtype for var in (*num, *denum)))
        top = self._main_of(num, dtype) if num else None
        bottom = self._main_of(denum, dtype) if denum else None
        if bottom is None:
            return top  # type: ignore[return-value]
        if top is None:
            if self.use_reciprocal:
                return computed_in(dtype, self.reciprocal, [bottom])
            top = constant(np.asarray(self.neutral, dtype=dtype))
        return computed_in(dtype, self.inverse, [top, bottom])

    def _main_of(self, variables: Sequence[Variable], dtype: str) -> Variable:
        return variables[0] if len(variables) == 1 else computed_in(dtype, self.main, variables)

    def _is_merged(self, out: Variable, num: Sequence[Variable], denum: Sequence[Variable]) -> bool:
        """Return whether `out` is the expression that `merge_num_denum` builds."""
        if not denum:
            return self._is_main_of(out, num)
        node = out.owner
        if node is None:
            return False
        if not num:
            if self.use_reciprocal:
                return node.op == self.reciprocal and self._is_main_of(node.inputs[0], denum)
            return (
                node.op == self.inverse
                and self._is_neutral(node.inputs[0])
                and node.inputs[0].type.dtype == out.type.dtype
                and self._is_main_of(node.inputs[1], denum)
            )
        return (
            node.op == self.inverse
            and self._is_main_of(node.inputs[0], num)
            and self._is_main_of(node.inputs[1], denum)
        )

    def _is_main_of(self, out: Variable, variables: Sequence[Variable]) -> bool:
        if len(variables) == 1:
            return out is variables[0]
        node = out.owner
        if node is None or node.op != self.main or len(node.inputs) != len(variables):
            return False
        return all(a is b for a, b in zip(node.inputs, variables))

    def _is_neutral(self, var: Variable) -> bool:
        value = get_constant(var)
        return value is not None and value == self.neutral

    # Simplifying

    def simplify(
        self, num: list[Variable], denum: list[Variable], out_type: TensorType
    ) -> tuple[list[Variable], list[Variable]]:
        """Cancel operands that occur on both sides, combine the constants, and apply the simplifiers."""
        num, denum = self.simplify_constants(*self.simplify_factors(num, denum), out_type=out_type)
        bits = None
        for _reason, simplifier in self.external_simplifiers:
            bit = self._bit_of.get(simplifier)
            if bit is not None:
                if bits is None:
                    bits = self._bits_of_all(num, denum)
                if not bits & bit:
                    continue
            num, denum = simplifier(num, denum)
            bits = None
        return num, denum

    def _bits_of_all(self, num: Sequence[Variable], denum: Sequence[Variable]) -> int:
        """Return the bits of the simplifiers that have operands among the variables."""
        known, bits = self._bits, 0
        for var in (*num, *denum):
            node = var.owner
            if node is not None:
                of_op = known.get(node.op)
                bits |= self._bits_of(node.op) if of_op is None else of_op
        return bits

    def _bits_of(self, op: Op) -> int:
        if len(self._bits) > 4096:
            self._bits.clear()
        bits = 0
        for bit, operands in self._operands:
            if any(isinstance(op, key) if isinstance(key, type) else op == key for key in operands):
                bits |= bit
        self._bits[op] = bits
        return bits

    def simplify_factors(self, num: list[Variable], denum: list[Variable]) -> tuple[list[Variable], list[Variable]]:
        """Remove common operands from both lists, in place, and return the lists.

        Examples
        --------
        ``[x, y], [x]`` gives ``[y], []``.
        """
        if not num or not denum:
            return num, denum
        count: dict[Variable, int] = {}
        for var in denum:
            count[var] = count.get(var, 0) + 1
        cancelled: dict[Variable, int] = {}
        kept = []
        for var in num:
            if count.get(var, 0) > 0:
                count[var] -= 1
                cancelled[var] = cancelled.get(var, 0) + 1
            else:
                kept.append(var)
        num[:] = kept
        remaining = []
        for var in denum:
            if cancelled.get(var, 0) > 0:
                cancelled[var] -= 1
            else:
                remaining.append(var)
        denum[:] = remaining
        return num, denum

    def simplify_constants(
        self,
        orig_num: Sequence[Variable],
        orig_denum: Sequence[Variable],
        out_type: TensorType | None = None,
    ) -> tuple[list[Variable], list[Variable]]:
        """Combine all constants to one, the first of the numerators, which is omitted if it is neutral.

        Examples
        --------
        With ``main`` a product: ``[2, 3, x], []`` gives ``[6, x], []`` and ``[x, y, 2], [4, z]``
        gives ``[0.5, x, y], [z]``.
        """
        num, num_constants = self._split(orig_num)
        denum, denum_constants = self._split(orig_denum)
        if not num_constants and not denum_constants:
            return list(orig_num), list(orig_denum)
        if len(num_constants) == 1 and not denum_constants:
            known, value = num_constants[0]
            in_place = out_type is None or known.type.dtype == dtype_of_constant([value], out_type.dtype)
            if in_place and value != self.neutral:
                # Keep this constant rather than make an equal one.
                return [known, *num], denum
        tops = [value for _, value in num_constants]
        bottoms = [value for _, value in denum_constants]
        dtype = working_dtype([*tops, *bottoms], out_type)
        with np.errstate(all="ignore"):
            value = self.calculate([np.asarray(v, dtype) for v in tops], [np.asarray(v, dtype) for v in bottoms])
            is_neutral = bool(np.all(value == self.neutral))
            lossy = not is_neutral and is_lost(value, [*tops, *bottoms], out_type)
        if lossy:
            return list(orig_num), list(orig_denum)
        if is_neutral:
            return num, denum
        return [self._constant(value, out_type, [*num, *denum]), *num], denum

    @staticmethod
    def _split(variables: Sequence[Variable]) -> tuple[list[Variable], list[tuple[Variable, Any]]]:
        rest: list[Variable] = []
        constants: list[tuple[Variable, Any]] = []
        for var in variables:
            value = get_constant(var)
            if value is None:
                rest.append(var)
            else:
                constants.append((var if isinstance(var, Variable) else constant(var), value))
        return rest, constants

    @staticmethod
    def _constant(value: Any, out_type: TensorType | None, others: Sequence[Variable]) -> Variable:
        array = np.asarray(value)
        if out_type is not None:
            with np.errstate(all="ignore"):
                array = array.astype(dtype_of_constant([array], out_type.dtype))
            # The shape comes from the others; alone, the constant has the rank of the result.
            array = array.reshape((1,) * out_type.ndim)
        return constant(array)

    # The rewrite

    def transform(self, fgraph: FunctionGraph, node: Apply, *args: object, **kwargs: object) -> RuleResult:
        """Return the canonical form if it differs from the expression."""
        out = node.outputs[0]
        if node.op not in self.family or out.type.dtype == "bool" or self._belongs_to_client(fgraph, node):
            return False
        clients = fgraph.clients
        shared = entered = 0

        def single(var: Variable, node: Apply) -> bool:
            return len(clients.get(var, ())) <= 1

        def few_shared(var: Variable, node: Apply) -> bool:
            nonlocal shared, entered
            entered += len(node.inputs)
            if single(var, node):
                return entered <= most
            shared += 1
            return entered <= most and shared <= SHARED_NODES_ENTERED

        flat = self._flatten(out, single, through_signs=True)
        most = 2 * _count(flat) + FURTHER_OPERANDS
        wider = self._flatten(out, few_shared, through_signs=True) if self._enters_shared(flat) else flat
        if shared:
            # Flattening nodes with other clients repeats their work, so something must cancel and no work be added.
            at_most = min(_count(wider) - 1, _count(flat))
            result = (
                self._simplify(out, wider, at_most) if _count_uncancelled(wider) <= LEAST_LEFT * (at_most + 1) else None
            )
            if result:
                return result
        # The range of float16 is so narrow that reordered intermediate results often leave it.
        return self._simplify(out, flat, at_most=_count(flat) - 1 if out.type.dtype == "float16" else None)

    def _enters_shared(self, flat: tuple[list[Variable], list[Variable]]) -> bool:
        return any(var.owner is not None and self._has(var.owner.op) for side in flat for var in side)

    def _has(self, op: Op) -> bool:
        """Return whether an op is of the family."""
        return type(op) in self._classes and op in self._unsigned

    def _belongs_to_client(self, fgraph: FunctionGraph, node: Apply) -> bool:
        """Return whether the only client of a node is of the family, whose canonical form then includes the node."""
        while True:
            clients = fgraph.clients.get(node.outputs[0], ())
            if len(clients) != 1 or not isinstance(clients[0][0], Apply):
                return False
            client = clients[0][0]
            if getattr(client.outputs[0].type, "dtype", None) != node.outputs[0].type.dtype:
                return False
            if client.op != self.sign:
                return self._has(client.op)
            node = client

    def _simplify(
        self, out: Variable, flat: tuple[list[Variable], list[Variable]], at_most: int | None = None
    ) -> list[Variable] | None:
        """Return the canonical form if it differs from the expression and has at most `at_most` operands."""
        num, denum = self.simplify(list(flat[0]), list(flat[1]), out.type)
        if at_most is not None and len(num) + len(denum) > at_most:
            return None
        if self._is_merged(out, num, denum):
            return None
        return self._rewrite(out, flat, num, denum)

    def _rewrite(
        self, out: Variable, flat: tuple[list[Variable], list[Variable]], num: list[Variable], denum: list[Variable]
    ) -> list[Variable] | None:
        """Return the replacement of `out`, an expression of the operands `flat`, by that of the simplified lists."""
        return in_place_of(out, self.rebuild(num, denum, out.type), [*flat[0], *flat[1]])

    def rebuild(self, num: list[Variable], denum: list[Variable], out_type: TensorType) -> Variable:
        """Return the expression of the simplified lists."""
        if not num and not denum:
            return self._constant(self.neutral, out_type, ())
        return self.merge_num_denum(num, denum, out_type.dtype)


def _count_uncancelled(flat: tuple[list[Variable], list[Variable]]) -> int:
    """Return the number of operands, without constants, that remain when equal ones on both sides have cancelled."""
    counts = Counter(flat[0])
    counts.subtract(flat[1])
    return sum(abs(n) for var, n in counts.items() if not isinstance(var, Constant))


def _count(flat: tuple[list[Variable], list[Variable]]) -> int:
    """Return the number of operands on both sides."""
    return len(flat[0]) + len(flat[1])
