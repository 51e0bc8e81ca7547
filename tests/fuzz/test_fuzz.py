"""Random programs give the same results by the reference, rewritten, and as native code.

``AESARA_FUZZ_EXAMPLES`` sets the number of programs; hypothesis then draws others in each run.
"""

import os

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from tests.fuzz.campaign import complaint, minimised, program_of
from tests.fuzz.checking import check
from tests.fuzz.programs import programs

EXAMPLES = int(os.environ.get("AESARA_FUZZ_EXAMPLES", "150"))


@settings(
    max_examples=EXAMPLES,
    derandomize="AESARA_FUZZ_EXAMPLES" not in os.environ,
    database=None,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=(Phase.generate, Phase.shrink),
)
@given(programs())
def test_all_ways_to_run_a_program_agree(program):
    check(program)


@pytest.mark.parametrize("block", range(10))
def test_all_ways_to_run_a_larger_program_agree(block):
    count = 4 * EXAMPLES
    for seed in range(block * count // 10, (block + 1) * count // 10):
        program = program_of(seed)
        text = complaint(program)
        if text is not None:
            program, text = minimised(program, text)
            pytest.fail(f"seed {seed}: {text}\n{program.source()}")
