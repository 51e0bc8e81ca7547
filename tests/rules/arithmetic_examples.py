"""Examples of rules of elementary arithmetic and comparison."""

from tests.rules.framework import example

ABSORBED = "zero times infinity or NaN is taken for zero"

UNUSED = "what is not computed is not checked"

EXAMPLES = {
    "local_mul_zero": [
        example(lambda x: x * 0, assumes_finite=ABSORBED),
        example(lambda x, y: x * 0 * y, assumes_finite=ABSORBED, drops_checks=UNUSED),
    ],
}
