"""What kernels and programs mean: an interpreter, scalar by scalar, slow and obvious.

It is the definition that native code is held against, and it is strict where native code cannot be.  Every load and
store is checked against the bounds of its buffer, reading memory that nobody has written or that another buffer has
taken over is an error, and so are iterations of a parallel loop that touch what another iteration writes.

Scalars are NumPy scalars of the dtype of their expression.  Arithmetic is NumPy's, and in full:

* integers wrap; ``x // 0`` and ``x % 0`` are 0; a negative exponent gives the truncated quotient 1 / a**|b|;
* ``intdiv`` and ``mod`` round towards minus infinity;
* ``minimum`` and ``maximum`` propagate NaN and take -0.0 for less than 0.0;
* shifts by the width or more give 0, or the sign for ``shr`` of a negative number;
* arithmetic on bool is logic: add is or, mul is and, sub is xor;
* a cast of a float to an integer truncates, by way of 64 bits; what does not fit them gives the lowest int64.

Both values of a ``select`` are evaluated.  Consecutive stores to different buffers happen at once: all their values
are computed before the first is written.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from aesara.ir.expr import COMPARISONS, Expr, walk
from aesara.ir.function import ScalarFunction
from aesara.ir.kernel import Assign, BufferParam, Declare, For, If, Kernel, Statement, Store, While, must_follow
from aesara.ir.program import (
    BATCH,
    Allocate,
    Buffer,
    Check,
    Define,
    Launch,
    Loop,
    MatMul,
    Operand,
    Program,
    PythonCall,
    View,
)
from aesara.ir.verify import IRError

__all__ = ["CheckFailed", "IllegalAccess", "Results", "run_function", "run_kernel", "run_program"]

_INT64_LIMIT = 2.0**63
_SPECIAL = "special."


class CheckFailed(Exception):
    """A check of a program did not hold: `error` is its number, `values` what it says about it."""

    def __init__(self, error: int, values: tuple[int, ...]) -> None:
        super().__init__(f"check of error {error} failed with values {values}")
        self.error, self.values = error, values


class IllegalAccess(IRError):
    """A kernel or program touches memory that it must not: a fault of whoever built it."""


# -- scalars ---------------------------------------------------------------------------------------------------


def _wrapped(value: int, dtype: str) -> Any:
    """A Python integer in two's complement of the dtype's width."""
    if dtype == "bool":
        return np.bool_(value & 1)
    bits = int(dtype.lstrip("uint"))
    value &= 2**bits - 1
    if dtype[0] != "u" and value >> (bits - 1):
        value -= 2**bits
    return np.dtype(dtype).type(value)


def convert(value: Any, dtype: str) -> Any:
    """A scalar cast to another dtype."""
    if dtype == "bool":
        return np.bool_(value != 0)
    if dtype.startswith("float"):
        with np.errstate(all="ignore"):
            return np.dtype(dtype).type(value)
    if isinstance(value, np.floating):
        number = float(value)
        limit = 2 * _INT64_LIMIT if dtype == "uint64" else _INT64_LIMIT
        fits = math.isfinite(number) and -_INT64_LIMIT <= number < limit
        return _wrapped(int(number) if fits else -(2**63), dtype)
    return _wrapped(int(value), dtype)


def _floor_quotient(a: int, b: int) -> int:
    return a // b if b else 0


def _remainder(a: int, b: int) -> int:
    return a % b if b else 0


def _int_power(a: int, b: int) -> int:
    if b >= 0:
        return pow(a, b, 2**64) if a >= 0 else (-1 if b & 1 else 1) * pow(-a, b, 2**64)
    return 1 if a == 1 else (-1 if b & 1 else 1) if a == -1 else 0


_INTEGER: dict[str, Callable[..., int]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "minimum": min,
    "maximum": max,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "neg": lambda a: -a,
    "abs": abs,
    "invert": lambda a: ~a,
    "intdiv": _floor_quotient,
    "mod": _remainder,
    "pow": _int_power,
    **{name: (lambda a: a) for name in ("floor", "ceil", "trunc", "rint")},
}
_LOGIC = {"add": "or", "mul": "and", "sub": "xor", "maximum": "or", "minimum": "and"}


def _lesser(a: Any, b: Any) -> Any:
    if a == b:
        return a if np.signbit(a) else b
    return np.minimum(a, b)


def _greater(a: Any, b: Any) -> Any:
    if a == b:
        return b if np.signbit(a) else a
    return np.maximum(a, b)


_FLOAT: dict[str, Callable[..., Any]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "intdiv": np.floor_divide,
    "mod": np.remainder,
    "minimum": _lesser,
    "maximum": _greater,
    "neg": np.negative,
    "abs": np.abs,
    "pow": np.power,
    "atan2": np.arctan2,
    "hypot": np.hypot,
    "copysign": np.copysign,
    **{name: getattr(np, name) for name in ("sqrt", "floor", "ceil", "trunc", "rint", "exp", "exp2", "expm1")},
    **{name: getattr(np, name) for name in ("log", "log2", "log10", "log1p", "sin", "cos", "tan")},
    **{name: getattr(np, name) for name in ("sinh", "cosh", "tanh")},
    **{name: getattr(np, "arc" + name[1:]) for name in ("asin", "acos", "atan", "asinh", "acosh", "atanh")},
    "erf": lambda x: type(x)(math.erf(x)),
    "erfc": lambda x: type(x)(math.erfc(x)),
}
_COMPARE = {"lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal, "eq": np.equal}
_NOT_EXACT_IN_HALF = frozenset({"add", "sub", "mul", "div", "neg", "abs", "sqrt", "floor", "ceil", "trunc", "rint"})


def apply_primitive(name: str, args: Sequence[Any]) -> Any:
    """The value of a primitive on NumPy scalars of one dtype (a bool and two of one dtype for ``select``)."""
    if name == "select":
        return args[1] if args[0] else args[2]
    dtype = str(args[0].dtype)
    if name in COMPARISONS:
        return np.bool_(args[0] != args[1] if name == "ne" else _COMPARE[name](*args))
    if name in ("isnan", "isinf"):
        return np.bool_(dtype.startswith("float") and getattr(np, name)(args[0]))
    if dtype.startswith("float"):
        return _float_primitive(name, dtype, args)
    if name in ("shl", "shr"):
        return _shifted(name, int(args[0]), int(args[1]), dtype)
    if dtype == "bool":
        name = _LOGIC.get(name, name)
    if name not in _INTEGER:
        raise IRError(f"{name} is not defined on {dtype}")
    return _wrapped(_INTEGER[name](*map(int, args)), dtype)


def _float_primitive(name: str, dtype: str, args: Sequence[Any]) -> Any:
    if name not in _FLOAT:
        raise IRError(f"{name} is not defined on {dtype}")
    kind = np.dtype(dtype).type
    with np.errstate(all="ignore"):
        if dtype == "float16" and name not in _NOT_EXACT_IN_HALF:
            args = [np.float32(a) for a in args]
        return kind(_FLOAT[name](*args))


def _shifted(name: str, a: int, by: int, dtype: str) -> Any:
    bits = 1 if dtype == "bool" else int(dtype.lstrip("uint"))
    if not 0 <= by < bits:
        return _wrapped(-1 if name == "shr" and a < 0 else 0, dtype)
    return _wrapped(a << by if name == "shl" else a >> by, dtype)


def call_external(symbol: str, args: Sequence[Any], dtype: str) -> Any:
    """A function of SciPy by the symbol that native code calls, `special.<name>.<arity>`."""
    if not symbol.startswith(_SPECIAL):
        raise IRError(f"no definition of the external function {symbol!r}")
    from scipy.special import cython_special  # heavy, and rarely needed

    function = getattr(cython_special, symbol[len(_SPECIAL) :].rsplit(".", 1)[0])
    return np.dtype(dtype).type(function(*map(float, args)))


# -- memory ----------------------------------------------------------------------------------------------------


@dataclass(eq=False)
class _Memory:
    """A flat array, which of its elements have been written, and who has taken it over since."""

    name: str
    data: np.ndarray
    written: np.ndarray
    block: object
    lost_to: str | None = None

    def check(self, offset: int, what: str) -> None:
        if not 0 <= offset < self.data.size:
            raise IllegalAccess(f"{what} of element {offset} of {self.name}, which has {self.data.size}")
        if self.lost_to is not None:
            raise IllegalAccess(f"{what} of element {offset} of {self.name}, whose memory {self.lost_to} has taken")

    def load(self, offset: int) -> Any:
        self.check(offset, "load")
        if not self.written[offset]:
            raise IllegalAccess(f"load of element {offset} of {self.name}, which nobody has written")
        return self.data[offset]

    def store(self, offset: int, value: Any) -> None:
        self.check(offset, "store")
        self.data[offset] = value
        self.written[offset] = True


def _filled(name: str, array: np.ndarray) -> _Memory:
    """Memory that is an array which exists; what is stored goes into that array."""
    if not array.flags.c_contiguous:
        raise ValueError(f"the array for {name} must be C-contiguous")
    flat = array.reshape(-1)
    return _Memory(name, flat, np.ones(flat.size, bool), object())


@dataclass
class _Loop:
    """A running parallel loop: which iteration it is in, and which one wrote or read each element."""

    iteration: int = 0
    wrote: dict[tuple[object, int], int] = field(default_factory=dict)
    read: dict[tuple[object, int], int] = field(default_factory=dict)

    def note(self, memory: _Memory, offset: int, is_store: bool) -> None:
        place = (memory.block, offset)
        clash = self.wrote.get(place, self.iteration) != self.iteration
        if is_store:
            clash = clash or self.read.get(place, self.iteration) != self.iteration
            self.wrote[place] = self.iteration
        elif self.read.setdefault(place, self.iteration) != self.iteration:
            self.read[place] = -1  # several iterations
        if clash:
            raise IllegalAccess(
                f"element {offset} of {memory.name} is written in one iteration of a parallel loop and used in another"
            )


# -- kernels ---------------------------------------------------------------------------------------------------


class _Machine:
    """Runs statements on scalars and memories."""

    def __init__(self) -> None:
        self.scalars: dict[str, Any] = {}
        self.buffers: dict[str, _Memory] = {}
        self.loops: list[_Loop] = []
        self.orders: dict[Expr, list[Expr]] = {}

    def value(self, root: Expr, values: dict[Expr, Any] | None = None) -> Any:
        """The value of an expression now."""
        values = {} if values is None else values
        order = self.orders.get(root)
        if order is None:
            order = self.orders[root] = list(walk([root]))
        for e in order:
            if e not in values:
                values[e] = self._evaluate(e, [values[a] for a in e.args])
        return values[root]

    def integer(self, root: Expr) -> int:
        return int(self.value(root))

    def _evaluate(self, e: Expr, args: list[Any]) -> Any:
        if e.op == "const":
            if e.dtype.startswith(("float", "bool")):
                return convert(e.attr, e.dtype)
            return _wrapped(int(e.attr), e.dtype)
        if e.op == "var":
            if e.attr not in self.scalars:
                raise IRError(f"{e.attr} is read before it has a value")
            return self.scalars[e.attr]
        if e.op == "load":
            memory, offset = self.memory(e.attr), int(args[0])
            for loop in self.loops:
                loop.note(memory, offset, is_store=False)
            return memory.load(offset)
        if e.op == "cast":
            return convert(args[0], e.dtype)
        if e.op == "call":
            if isinstance(e.attr, ScalarFunction):
                return run_function(e.attr, args)
            return call_external(str(e.attr), args, e.dtype)
        return apply_primitive(e.op, args)

    def memory(self, name: object) -> _Memory:
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
        ready = [
            (self.memory(s.buffer), int(self.value(s.offset, values)), self.value(s.value, values)) for s in stores
        ]
        for memory, offset, value in ready:
            for loop in self.loops:
                loop.note(memory, offset, is_store=True)
            memory.store(offset, value)

    def _loop(self, statement: For) -> None:
        loop = _Loop()
        extent = self.integer(statement.extent)
        hidden = self.scalars.get(statement.var)
        if statement.parallel:
            self.loops.append(loop)
        for k in range(extent):
            loop.iteration = k
            self.scalars[statement.var] = np.int64(k)
            self.run(statement.body)
        if statement.parallel:
            self.loops.pop()
        self.scalars.pop(statement.var, None)
        if hidden is not None:
            self.scalars[statement.var] = hidden


def run_function(function: ScalarFunction, arguments: Sequence[Any]) -> Any:
    """The value of a scalar function; arguments are cast to the dtypes of its parameters."""
    machine = _Machine()
    for p, argument in zip(function.parameters, arguments, strict=True):
        machine.scalars[p.name] = np.dtype(p.dtype).type(argument)
    machine.run(function.body)
    return machine.value(function.result)


def run_kernel(kernel: Kernel, arguments: Sequence[Any]) -> None:
    """Run a kernel on arrays and scalars, in the order of its parameters; it writes into the arrays.

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
    ready: list[Any] = []
    for p, argument in zip(kernel.params, arguments, strict=True):
        if isinstance(p, BufferParam):
            if argument.dtype != np.dtype(p.dtype):
                raise TypeError(f"{p.name} of kernel {kernel.name} holds {p.dtype}, got an array of {argument.dtype}")
            ready.append(_filled(p.name, argument))
        else:
            ready.append(np.dtype(p.dtype).type(argument))
    _launch(kernel, ready)


def _launch(kernel: Kernel, arguments: Sequence[Any]) -> None:
    machine = _Machine()
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


# -- programs --------------------------------------------------------------------------------------------------

PythonFunction = Callable[..., Sequence[np.ndarray]]


@dataclass(frozen=True)
class Results:
    """What a program returns, and the new contents of the cells of its inputs, by number of the input."""

    returned: tuple[np.ndarray, ...]
    cells: dict[int, np.ndarray]


def run_program(
    program: Program,
    inputs: Sequence[np.ndarray],
    constants: Sequence[np.ndarray] = (),
    python: Sequence[PythonFunction] = (),
    in_place: bool = True,
) -> Results:
    """Run a program on the values of all its inputs, shared variables included.

    Parameters
    ----------
    program
        What to run.
    inputs
        One array for each of `program.inputs`.  They are copied, so never changed.
    constants
        One array for each of `program.constants`.
    python
        For each `PythonCall`, by its index: arrays in, arrays out.
    in_place
        Whether updates take over the memory of the value that they replace, where the program allows it.

    Raises
    ------
    CheckFailed
        If a check does not hold.
    IllegalAccess
        If the program touches memory that it must not.
    """
    return _ProgramRun(program, constants, python, in_place).run(inputs)


def _inside(buffer: Buffer, array: np.ndarray) -> np.ndarray:
    """An array as the program sees it: complex numbers as pairs."""
    return array.reshape(*array.shape, 1).view(buffer.dtype) if buffer.is_complex else array


def _outside(buffer: Buffer, array: np.ndarray) -> np.ndarray:
    """An array as the outside of the program sees it."""
    return array.view(buffer.outer_dtype).reshape(array.shape[:-1]) if buffer.is_complex else array


class _ProgramRun:
    def __init__(
        self, program: Program, constants: Sequence[np.ndarray], python: Sequence[PythonFunction], in_place: bool
    ) -> None:
        self.program, self.python, self.in_place = program, python, in_place
        self.machine = _Machine()
        self.shapes: dict[str, tuple[int, ...]] = {}
        self.slots: dict[int, tuple[int, _Memory | None]] = {}
        self.input_memory: list[_Memory] = []
        self.complex_results: dict[str, Buffer] = {}
        for buffer, array in zip(program.constants, constants, strict=True):
            self._bind(buffer.name, _filled(buffer.name, np.array(array, buffer.dtype, order="C")), np.shape(array))

    def _bind(self, name: str, memory: _Memory, shape: tuple[int, ...]) -> None:
        self.machine.buffers[name], self.shapes[name] = memory, shape

    def run(self, inputs: Sequence[np.ndarray]) -> Results:
        for item, value in zip(self.program.inputs, inputs, strict=True):
            buffer, array = item.buffer, np.array(value, order="C")
            rank = len(buffer.outer_shape)
            if array.dtype != np.dtype(buffer.outer_dtype) or array.ndim != rank:
                raise TypeError(f"{buffer.name} is {buffer.outer_dtype} of {rank} dimensions, got {array!r}")
            for n, size, static in zip(array.shape, buffer.outer_shape, item.static_shape, strict=True):
                if static is not None and n != static:
                    raise TypeError(f"{buffer.name} has static shape {item.static_shape}, got {array.shape}")
                if size.op == "var":
                    self.machine.scalars[str(size.attr)] = np.int64(n)
            array = _inside(buffer, array)
            memory = _filled(buffer.name, array)
            self.input_memory.append(memory)
            self._bind(buffer.name, memory, array.shape)
        for step in self.program.steps:
            self._step(step)
        arrays = []
        for name in self.program.outputs:
            memory = self.machine.memory(name)
            if not memory.written.all():
                raise IllegalAccess(f"{int((~memory.written).sum())} elements of result {name} are never written")
            array = memory.data.reshape(self.shapes[name])
            arrays.append(_outside(self.complex_results[name], array) if name in self.complex_results else array)
        cells = {number: arrays[k] for k, number in self.program.updates}
        return Results(tuple(arrays[: self.program.returned]), cells)

    def _step(self, step: object) -> None:
        machine = self.machine
        if isinstance(step, Define):
            machine.scalars[step.name] = machine.value(step.value)
        elif isinstance(step, Check):
            values = tuple(machine.integer(v) for v in step.values)
            if not machine.value(step.condition):
                raise CheckFailed(step.error, values)
        elif isinstance(step, Allocate):
            self._allocate(step)
        elif isinstance(step, Launch):
            _launch(
                step.kernel, [machine.memory(a) if isinstance(a, str) else machine.value(a) for a in step.arguments]
            )
        elif isinstance(step, MatMul):
            for number in range(1 if step.batch is None else machine.integer(step.batch)):
                machine.scalars[BATCH.attr] = np.int64(number)
                self._matmul(step)
        elif isinstance(step, View):
            self._view(step)
        elif isinstance(step, Loop):
            self._loop(step)
        else:
            assert isinstance(step, PythonCall)
            self._call_python(step)

    def _view(self, step: View) -> None:
        shape = tuple(self.machine.integer(n) for n in step.buffer.shape)
        base, start = self.machine.memory(step.base), self.machine.integer(step.offset)
        stop = start + math.prod(shape)
        if not 0 <= start <= stop <= base.data.size:
            raise IllegalAccess(f"{step.buffer.name} is {start} to {stop} of {step.base}, which has {base.data.size}")
        part = slice(start, stop)
        self._bind(step.buffer.name, _Memory(step.buffer.name, base.data[part], base.written[part], object()), shape)

    def _loop(self, loop: Loop) -> None:
        machine, count = self.machine, 0
        for number in range(machine.integer(loop.extent)):
            machine.scalars[loop.var] = np.int64(number)
            for step in loop.body:
                self._step(step)
            count += 1
            if loop.until is not None and machine.value(loop.until):
                break
        machine.scalars[loop.count] = np.int64(count)

    def _allocate(self, step: Allocate) -> None:
        buffer = step.buffer
        shape = tuple(self.machine.integer(n) for n in buffer.shape)
        if min(shape, default=0) < 0:
            raise IllegalAccess(f"{buffer.name} is allocated with shape {shape}")
        size = math.prod(shape)
        memory = _Memory(buffer.name, np.zeros(size, buffer.dtype), np.zeros(size, bool), object())
        if buffer.is_complex:
            self.complex_results[buffer.name] = buffer
        if step.slot is not None:
            need = self.machine.integer(self.program.slots[step.slot].size)
            if memory.data.nbytes > need:
                raise IllegalAccess(f"{buffer.name} of {memory.data.nbytes} bytes in slot {step.slot} of {need}")
            _, owner = self.slots.get(step.slot, (0, None))
            if owner is not None:
                owner.lost_to = buffer.name
            self.slots[step.slot] = need, memory
        if step.initial is not None:
            start = self.input_memory[step.initial]
            if start.data.dtype != memory.data.dtype or start.data.size != size:
                raise IllegalAccess(f"{buffer.name} of shape {shape} cannot start with the value of {start.name}")
            memory.data[:], memory.written[:] = start.data, True
        if step.reuse is not None and self.in_place:
            old = self.input_memory[step.reuse]
            if old.data.dtype != memory.data.dtype or old.data.size != size:
                raise IllegalAccess(f"{buffer.name} of shape {shape} cannot take the memory of {old.name}")
            memory.data, memory.block = old.data, old.block
            # Until it is overwritten, the old value may be read by its old name only.
        self._bind(buffer.name, memory, shape)

    def _elements(self, operand: Operand, rows: int, columns: int) -> tuple[_Memory, np.ndarray]:
        offset, down, right = (
            self.machine.integer(e) for e in (operand.offset, operand.row_stride, operand.column_stride)
        )
        places = offset + down * np.arange(rows)[:, None] + right * np.arange(columns)
        return self.machine.memory(operand.buffer), places

    def _matmul(self, step: MatMul) -> None:
        rows, inner, columns = (self.machine.integer(e) for e in (step.rows, step.inner, step.columns))

        def read(operand: Operand, height: int, width: int) -> np.ndarray:
            memory, places = self._elements(operand, height, width)
            found = np.zeros((height, width), step.dtype)
            for at in np.ndindex(height, width):
                found[at] = memory.load(int(places[at]))
            return found

        left, right = read(step.left, rows, inner), read(step.right, inner, columns)
        with np.errstate(all="ignore"):
            alpha = self.machine.value(step.alpha) if isinstance(step.alpha, Expr) else step.alpha
            product = (alpha * (left @ right)).astype(step.dtype)
            if step.beta:
                product += step.beta * read(step.out, rows, columns)
        memory, places = self._elements(step.out, rows, columns)
        for operand in (step.left, step.right):
            if self.machine.memory(operand.buffer).block is memory.block:
                raise IllegalAccess(f"a product is written to {step.out.buffer} while it reads {operand.buffer} there")
        for at in np.ndindex(rows, columns):
            memory.store(int(places[at]), product[at])

    def _call_python(self, step: PythonCall) -> None:
        windows = []
        for operand in step.operands:
            shape = tuple(self.machine.integer(n) for n in operand.shape)
            memory = self.machine.memory(operand.name)
            count = math.prod(shape)
            if count > memory.data.size:
                raise IllegalAccess(
                    f"a window of shape {shape} on {operand.name}, which has {memory.data.size} elements"
                )
            window = np.array([memory.load(k) for k in range(count)], operand.dtype).reshape(shape)
            windows.append(_outside(operand, window))
        made = self.python[step.index](*windows)
        for result, value in zip(step.results, made, strict=True):
            array = _inside(result, np.array(value, result.outer_dtype, order="C"))
            for n, size in zip(array.shape, result.shape, strict=True):
                if size.op == "var":
                    self.machine.scalars[str(size.attr)] = np.int64(n)
                elif self.machine.integer(size) != n:
                    raise IRError(f"result {result.name} of node {step.index} has shape {array.shape}")
            self._bind(result.name, _filled(result.name, array), array.shape)
