"""Draws by the generator MRG31k3p, by a function of our own; see `aesara.scalar.mrg31k3p`."""

from __future__ import annotations

from typing import Any

import numpy as np

from aesara.ir.expr import const
from aesara.ir.routine import Data, Int64, Parameter, Routine, family, size
from aesara.ir.work import Work
from aesara.scalar.mrg31k3p import integers

__all__ = ["mrg31k3p"]

_COUNT, _STREAMS = size("count"), size("streams")


@family("mrg31k3p")
def mrg31k3p() -> Routine:
    """The next ``count`` numbers of streams, one of each in turn; their states go on."""

    def reference(values: dict[str, Any], states: np.ndarray, out: np.ndarray) -> None:
        if values["count"]:
            out[:], states[:] = integers(states, values["count"])

    return Routine(
        name="mrg31k3p",
        title="draws (MRG31k3p)",
        symbol="draw.mrg31k3p",
        sizes=("count", "streams"),
        parameters=(
            Parameter("states", "int32", (_STREAMS, const(6)), is_written=True),
            Parameter("out", "int64", (_COUNT,), is_read=False, is_written=True),
        ),
        arguments=(Data("states"), Int64(_STREAMS), Int64(_COUNT), Data("out")),
        work=Work({(_COUNT,): 6.0, (): 20.0}),
        reference=reference,
    )
