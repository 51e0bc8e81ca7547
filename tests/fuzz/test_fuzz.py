"""Random programs give the same results by the reference, rewritten, and as native code.

``AESARA_FUZZ_EXAMPLES`` sets the number of programs; if it is larger than usual, hypothesis draws others in each run.
"""

import os

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from tests.fuzz.campaign import complaint, minimised, program_of, smooth_complaint, smooth_program_of
from tests.fuzz.checking import check, modes
from tests.fuzz.programs import programs

USUAL = 150
EXAMPLES = int(os.environ.get("AESARA_FUZZ_EXAMPLES", USUAL))


@settings(
    max_examples=EXAMPLES,
    derandomize=EXAMPLES <= USUAL,
    database=None,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=(Phase.generate, Phase.shrink),
)
@given(programs())
def test_all_ways_to_run_a_program_agree(program):
    check(program)


#: larger programs come in blocks of about thirty, of which enough can be compared
LARGER = 2 * EXAMPLES
BLOCKS = max(1, LARGER // 30)


@pytest.mark.parametrize("block", range(BLOCKS))
def test_all_ways_to_run_a_larger_program_agree(block):
    seeds = range(block * LARGER // BLOCKS, (block + 1) * LARGER // BLOCKS)
    calls = comparable = by_oracle = 0
    for seed in seeds:
        program = program_of(seed)
        text = complaint(program)
        if text is not None:
            program, text = minimised(program, text)
            pytest.fail(f"seed {seed}: {text}\n{program.source()}")
        calls += program.compared
        comparable, by_oracle = comparable + program.applied.comparable, by_oracle + program.applied.compared
    assert calls >= 2.8 * len(seeds) and by_oracle >= 0.8 * comparable > 0.5 * len(seeds)


@pytest.mark.parametrize("way", ["native", "rewritten"])
def test_gradients_of_smooth_programs(way):
    count = EXAMPLES // 3
    for seed in range(count) if way == "native" else range(count, 3 * count):
        program = smooth_program_of(seed)
        text = smooth_complaint(program, modes()[way])
        if text is not None:
            pytest.fail(f"seed {seed}: {text}\n{program}")
