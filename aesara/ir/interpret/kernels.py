"""Interpreter of kernels and scalar functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from aesara.ir.expr import Expr, walk
from aesara.ir.function import ScalarFunction
from aesara.ir.interpret.memory import IllegalAccess, Memory, RunningLoop, wrap_array
from aesara.ir.interpret.scalars import apply_primitive, convert, primitive, wrap_integer
from aesara.ir.kernel import Assign, BufferParam, Declare, For, If, Kernel, Statement, Store, While, must_follow
from aesara.ir.lanes import accumulations, lane_identity
from aesara.ir.verify import IRError

#: computes one operation, given a machine and the values of the operands
Computation = Callable[["Machine", list[Any]], Any]
#: the expressions below a root, operands before users, with their computations
Plan = list[tuple[Expr, Computation]]


def _computation(e: Expr) -> Computation:
    if e.op == "const":
        as_float = e.dtype.startswith(("float", "bool"))
        value = convert(e.attr, e.dtype) if as_float else wrap_integer(int(e.attr), e.dtype)
        return lambda machine, args: value
    if e.op == "var":
        return lambda machine, args: machine.scalar(e.attr)
    if e.op == "load":
        return lambda machine, args: machine.load(e.attr, int(args[0]))
    if e.op == "cast":
        return lambda machine, args: convert(args[0], e.dtype)
    if e.op == "call":
        if isinstance(e.attr, ScalarFunction):
            plans: dict[Expr, Plan] = {}
            return lambda machine, args: run_function(e.attr, args, plans)
        kind = np.dtype(e.dtype).type
        return lambda machine, args: kind(e.attr.reference(*args))
    compute = primitive(e.op, e.args[0].dtype)
    return lambda machine, args: compute(*args)


class Machine:
    """Runs statements on scalars and memories.

    Parameters
    ----------
    plans
        Evaluation plans of expressions, which machines may share.
    """

    def __init__(self, plans: dict[Expr, Plan] | None = None) -> None:
        self.scalars: dict[str, Any] = {}
        self.buffers: dict[str, Memory] = {}
        self.loops: list[RunningLoop] = []
        self.plans = {} if plans is None else plans

    def value(self, root: Expr, values: dict[Expr, Any] | None = None) -> Any:
        """Return the present value of an expression."""
        values = {} if values is None else values
        plan = self.plans.get(root)
        if plan is None:
            plan = self.plans[root] = [(e, _computation(e)) for e in walk([root])]
        for e, compute in plan:
            if e not in values:
                values[e] = compute(self, [values[a] for a in e.args])
        return values[root]

    def integer(self, root: Expr) -> int:
        return int(self.value(root))

    def scalar(self, name: str) -> Any:
        if name not in self.scalars:
            raise IRError(f"{name} is read before it has a value")
        return self.scalars[name]

    def load(self, name: str, offset: int) -> Any:
        memory = self.memory(name)
        for loop in self.loops:
            loop.note(memory, offset, is_store=False)
        return memory.load(offset)

    def memory(self, name: object) -> Memory:
        if name not in self.buffers:
            raise IRError(f"{name} is used before it has memory")
        return self.buffers[name]

    def run(self, body: Sequence[Statement]) -> None:
        stores: list[Store] = []
        for statement in body:
            if isinstance(statement, Store):
                if any(must_follow(statement, other) for other in stores):
                    self._store(stores)
                    stores = []
                stores.append(statement)
                continue
            self._store(stores)
            stores = []
            if isinstance(statement, For):
                self._loop(statement)
            elif isinstance(statement, If):
                if self.value(statement.condition):
                    self.run(statement.body)
            elif isinstance(statement, While):
                while self.value(statement.condition):
                    self.run(statement.body)
            else:
                assert isinstance(statement, (Declare, Assign))
                self.scalars[statement.name] = self.value(statement.value)
        self._store(stores)

    def _store(self, stores: Sequence[Store]) -> None:
        values: dict[Expr, Any] = {}
        prepared = [
            (self.memory(s.buffer), int(self.value(s.offset, values)), self.value(s.value, values)) for s in stores
        ]
        for memory, offset, value in prepared:
            for loop in self.loops:
                loop.note(memory, offset, is_store=True)
            memory.store(offset, value)

    def _loop(self, statement: For) -> None:
        loop = RunningLoop()
        extent = self.integer(statement.extent)
        hidden = self.scalars.get(statement.var)
        if statement.runs_in_any_order:
            self.loops.append(loop)
        done = 0
        for lanes in statement.lanes:
            whole = extent - extent % lanes
            if whole > done:
                self._run_in_lanes(statement, range(done, whole), lanes, loop)
                done = whole
        for k in range(done, extent):
            self._iteration(statement, k, loop)
            if statement.until and self.scalars[statement.until]:
                break
        if statement.runs_in_any_order:
            self.loops.pop()
        self.scalars.pop(statement.var, None)
        if hidden is not None:
            self.scalars[statement.var] = hidden

    def _iteration(self, statement: For, k: int, loop: RunningLoop) -> None:
        loop.iteration = k
        self.scalars[statement.var] = np.int64(k)
        self.run(statement.body)

    def _run_in_lanes(self, statement: For, iterations: range, lanes: int, loop: RunningLoop) -> None:
        """Run iterations whose accumulators have `lanes` partial results each."""
        kinds = {name: s.value for name, s in (accumulations(statement.body) or {}).items()}
        before = {name: self.scalars[name] for name in kinds}
        parts = {name: [self.value(lane_identity(e.op, e.dtype))] * lanes for name, e in kinds.items()}
        for k in iterations:
            for name in kinds:
                self.scalars[name] = parts[name][k % lanes]
            self._iteration(statement, k, loop)
            for name in kinds:
                parts[name][k % lanes] = self.scalars[name]
        for name, e in kinds.items():
            partial = parts[name]
            while len(partial) > 1:
                half = len(partial) // 2
                partial = [apply_primitive(e.op, pair) for pair in zip(partial[:half], partial[half:], strict=True)]
            self.scalars[name] = apply_primitive(e.op, [before[name], partial[0]])


def run_function(function: ScalarFunction, arguments: Sequence[Any], plans: dict[Expr, Plan] | None = None) -> Any:
    """Return the value of a scalar function; arguments are cast to the dtypes of its parameters."""
    machine = Machine(plans)
    for p, argument in zip(function.parameters, arguments, strict=True):
        machine.scalars[p.name] = np.dtype(p.dtype).type(argument)
    machine.run(function.body)
    return machine.value(function.result)


def run_kernel(kernel: Kernel, arguments: Sequence[Any]) -> None:
    """Run a kernel on arrays and scalars, in the order of its parameters; arrays are written in place.

    Raises
    ------
    IllegalAccess
        If it reads or writes outside an array, or if iterations of a parallel loop depend on each other.

    Examples
    --------
    >>> from aesara.ir.text import parse_kernel
    >>> kernel = parse_kernel('''
    ... kernel double(b0: float64[] written, n0: int64):
    ...     parallel for v0 < n0:
    ...         b0[v0] = b0[v0] * 2.0
    ... ''')
    >>> x = np.arange(3.0)
    >>> run_kernel(kernel, [x, 3])
    >>> x
    array([0., 2., 4.])

    """
    prepared: list[Any] = []
    for p, argument in zip(kernel.params, arguments, strict=True):
        if isinstance(p, BufferParam):
            if argument.dtype != np.dtype(p.dtype):
                raise TypeError(f"{p.name} of kernel {kernel.name} holds {p.dtype}, got an array of {argument.dtype}")
            prepared.append(wrap_array(p.name, argument))
        else:
            prepared.append(np.dtype(p.dtype).type(argument))
    launch(kernel, prepared)


def launch(kernel: Kernel, arguments: Sequence[Any], plans: dict[Expr, Plan] | None = None) -> None:
    """Run a kernel on memories and scalars of the dtypes of its parameters."""
    machine = Machine(plans)
    shared: dict[object, list[BufferParam]] = {}
    for p, argument in zip(kernel.params, arguments, strict=True):
        if isinstance(p, BufferParam):
            machine.buffers[p.name] = argument
            shared.setdefault(argument.block, []).append(p)
        else:
            machine.scalars[p.name] = argument
    for params in shared.values():
        if any(p.written for p in params) and len(params) > 1 and not all(p.aliased for p in params):
            names = ", ".join(p.name for p in params)
            raise IllegalAccess(f"kernel {kernel.name} gets one memory as {names}, which are not declared aliased")
    machine.run(kernel.body)
