"""A clock that stands still but where a program lets time pass, for Python and for native code."""

import ctypes
import itertools

import numpy as np

import aesara.tensor as at
from aesara.graph.nodes import Apply
from aesara.graph.op import Op
from aesara.link.llvm.clock import Clock

TICK = 0.125  # seconds, of the clock that native code reads
_Reading = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int64))


class FakeClock:
    """Shows `seconds`.

    Each reading of native code first lets some ticks pass: `ticks`, and again from the first.
    """

    def __init__(self, ticks=(0,)):
        self.seconds = 1000.0
        self.ticks = itertools.cycle(ticks)
        self._reading = _Reading(self._read)

    def now(self):
        return self.seconds

    def wait(self, seconds):
        self.seconds += seconds

    def _read(self, place):
        self.wait(TICK * next(self.ticks))
        place[0] = round(self.seconds / TICK)
        return 0

    @property
    def native(self):
        """The same clock for native code."""
        return Clock(ctypes.cast(self._reading, ctypes.c_void_p).value, None, TICK)

    def install(self, monkeypatch):
        """Have everything that is measured go by this clock."""
        monkeypatch.setattr("aesara.clock.now", self.now)
        for module in ("emit_timed", "linker"):
            monkeypatch.setattr(f"aesara.link.llvm.{module}.system_clock", lambda: self.native)
        return self


class Waits(Op):
    """Hands on its first input, copied, after some seconds of a clock; it may wait when it is linked, too."""

    __props__ = ("seconds",)

    def __init__(self, clock, seconds, when_linked=0.0):
        self.clock = clock
        self.seconds = seconds
        self.when_linked = when_linked

    def make_node(self, *inputs):
        inputs = [at.as_tensor_variable(one) for one in inputs]
        return Apply(self, inputs, [inputs[0].type()])

    def infer_shape(self, fgraph, node, shapes):
        return [shapes[0]]

    def prepare_node(self, node, storage_map, compute_map, impl):
        self.clock.wait(self.when_linked)

    def perform(self, node, inputs, output_storage):
        self.clock.wait(self.seconds)
        output_storage[0][0] = inputs[0].copy()


class Late:
    """An argument that takes some seconds to become an array."""

    def __init__(self, clock, values, seconds):
        self.clock = clock
        self.values = np.asarray(values)
        self.seconds = seconds

    def __array__(self, dtype=None, copy=None):
        self.clock.wait(self.seconds)
        self.seconds = 0.0
        return np.array(self.values, dtype)
