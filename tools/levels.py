"""Runs tests natively at lower levels of processors that this one can run code for: ``python -m tools.levels``.

The tests are those whose results could depend on a level: accuracy of native functions, the values of the table of ops,
and a fifth of the random programs of the suite.  Tests of types that know lengths are left out, since they change at no
level what is computed, and so are tests of accuracy that run graphs node by node.  The suite itself runs all of them
for this processor, so that its own level, the highest that it has, is left out unless ``--all`` is given.  Vector math
and the equality of bits are compared at all levels by tests of the suite (``tests/ir/test_vecmath.py``,
``tests/link/test_same_bits.py``).  Other arguments are handed on to pytest.
"""

from __future__ import annotations

import os
import subprocess
import sys

from aesara.errors import NativeTargetError
from aesara.link.llvm.target import X86_LEVELS, target_named

#: the other files of `accuracy` run graphs node by node, all but a few of their functions; the programs of the last are
#: about states and memory, which no level changes
TESTS = (
    *("tests/accuracy/test_accuracy.py", "tests/accuracy/test_stability.py", "tests/accuracy/test_stable.py"),
    *("tests/optable/test_table_values.py", "tests/fuzz", "--ignore=tests/fuzz/test_machine.py"),
)
#: in these files, what a level does not change
LEFT_OUT = "not (test_static_shapes or test_values_and_slopes or FAST_COMPILE or rewritten)"
#: how many random programs of each kind are drawn, of 150 in the suite
PROGRAMS = 30


def levels_here() -> list[str]:
    """The levels that this processor has, and for the others a line that says why not."""
    found = []
    for level in X86_LEVELS:
        try:
            target = target_named(level)
        except NativeTargetError as reason:
            print(f"-- {level}: {reason}", flush=True)
            continue
        if target.runs:
            found.append(level)
        else:
            print(f"-- {level}: this processor is of another architecture", flush=True)
    return found


def main(arguments: list[str]) -> int:
    failed, levels = [], levels_here()
    if "--all" in arguments:
        arguments = [a for a in arguments if a != "--all"]
    elif levels:
        print(f"-- {levels.pop()}: this processor's own, at which the suite runs", flush=True)
    for level in levels:
        print(f"-- {level}", flush=True)
        flags = ",".join(filter(None, [os.environ.get("AESARA_FLAGS"), f"native_target={level}"]))
        command = [sys.executable, "-m", "pytest", "-m", "not main_thread", "-k", LEFT_OUT, *TESTS, *arguments]
        environment = {"AESARA_FUZZ_EXAMPLES": str(PROGRAMS)} | os.environ | {"AESARA_FLAGS": flags}
        if subprocess.run(command, env=environment).returncode:
            failed.append(level)
    if failed:
        print(f"failed at {', '.join(failed)}")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
