"""Random programs give the same results by the reference, rewritten, and as native code.

``AESARA_FUZZ_EXAMPLES`` sets the number of programs; above the default, each run draws others.
"""

import os

from hypothesis import HealthCheck, Phase, given, settings

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
