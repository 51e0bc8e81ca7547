"""What the programs of this folder show, as plain data; and the record of what Aesara 2.9.4 shows.

With Aesara 2.9.4 and NumPy 1.26 in an environment of its own, from this folder:

    AESARA_FLAGS=cxx= /path/to/python recording.py

writes ``recorded.json`` again. The programs are the same for both: they use nothing but the interface of 2.9.4.
"""

from __future__ import annotations

import importlib
import inspect
import json
import sys
import warnings
from pathlib import Path

import numpy as np

MODULES = ("basics", "functions", "gradients", "graphs", "loops", "tensors")
RECORD = Path(__file__).with_name("recorded.json")


def programs():
    """The programs by name: the functions of the modules whose only parameter is ``show``."""
    found = {}
    for name in MODULES:
        module = importlib.import_module(f"tutorial_programs.{name}")
        for function_name, function in vars(module).items():
            if inspect.isfunction(function) and list(inspect.signature(function).parameters) == ["show"]:
                found[f"{name}.{function_name}"] = function
    return found


def as_data(value):
    """A value as JSON can keep it: arrays with dtype and shape, other things by their text."""
    if isinstance(value, (np.ndarray, np.generic)):
        array = np.asarray(value)
        if array.dtype.kind == "c":
            values = [[float(z.real), float(z.imag)] for z in array.ravel()]
        elif array.dtype == bool:
            values = [bool(b) for b in array.ravel()]
        elif array.dtype.kind in "iu":
            values = [int(n) for n in array.ravel()]
        else:
            values = [float(f) for f in array.ravel()]
        return {"dtype": str(array.dtype), "shape": list(array.shape), "values": values}
    if isinstance(value, (list, tuple)):
        return [as_data(part) for part in value]
    if isinstance(value, (bool, int, float, str)) or value is None:
        return value
    return repr(value)


def shown_by(program):
    """What a program has shown, in order."""
    shown = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        program(lambda *values: shown.extend(as_data(value) for value in values))
    return shown


if __name__ == "__main__":
    record = {}
    for name, program in programs().items():
        try:
            record[name] = shown_by(program)
        except Exception as error:
            print(f"{name}: {type(error).__name__}: {str(error)[:300]}", file=sys.stderr)
    if len(sys.argv) > 1:
        RECORD = Path(sys.argv[1])
    RECORD.write_text("{\n" + ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in record.items()) + "\n}\n")
