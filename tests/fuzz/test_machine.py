"""Random programs of functions and memory, and of complex numbers."""

import pytest

from tests.fuzz import complex_programs
from tests.fuzz.machine import USUAL_MODES, draw_steps
from tests.fuzz.machine_campaign import complaint, minimised


@pytest.mark.parametrize("block", range(4))
def test_what_a_user_holds_after_compiling(block):
    for seed in range(12 * block, 12 * (block + 1)):
        steps = draw_steps(seed)
        text, machine = complaint(seed, steps, USUAL_MODES)
        if text is not None:
            _, text, machine = minimised(seed, steps, text, USUAL_MODES)
            trace = "\n".join(machine.trace)
            pytest.fail(f"seed {seed}: {text}\n{trace}")


def test_programs_of_complex_numbers():
    assert sum(complex_programs.check(seed) for seed in range(20)) >= 80
