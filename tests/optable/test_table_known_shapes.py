"""Every row of the op table: what types know of lengths never changes a value or a gradient.

All rows times all lengths times all patterns of what is known would be millions of functions. For each row some
variants are compiled together: of 30 cases with lengths that are drawn, each with eight patterns (nothing, everything,
only ones, everything but ones, and four at random), the variants are taken one after the other that have the most pairs
of lengths, with whether they are known, that those before do not have. `test_coverage` asserts what comes of it: each
pair of lengths (0, 1, more), known or not, in one input and in two, in many rows.
"""

import zlib
from collections import Counter

import pytest

import tests.optable.rows  # noqa: F401
from tests.optable.faults import rows_for
from tests.optable.known_shapes import chosen, complaints, variants_of
from tests.optable.running import MODES, rng_of
from tests.optable.table import ROWS

#: cases with lengths that the variants of a row are chosen from
CANDIDATES = 30
#: variants of a row, of which each takes another part of the later operations
VARIANTS = 3


def variants_for(row):
    return chosen(variants_of(row, most=CANDIDATES), VARIANTS, rng_of(row, 13))


def uses_for(row):
    """For each variant one of the later operations, which are others for the next row."""
    first = zlib.crc32(row.name.encode())
    return [[first + k] for k in range(VARIANTS)]


@rows_for("known shapes", ROWS.values())
def test_known_shapes(row):
    """Native results with some lengths known are those of the graph as written, with none known."""
    found = complaints(variants_for(row), MODES["native"], uses_for(row))
    if found:
        pytest.fail("\n".join(found[:6]) + f"\n{len(found)} complaints", pytrace=False)


def test_coverage():
    """In one input, and in two, each pair of lengths occurs with each pattern of what is known, in many variants."""
    within, across = Counter(), Counter()
    for row in ROWS.values():
        for variant in variants_for(row):
            features = list(variant.features())
            for n, (k, d, *one) in enumerate(features):
                for other_k, _, *other in features[n + 1 :]:
                    (within if k == other_k else across)[tuple(one), tuple(other)] += 1
    kinds = [(length, known) for length in "01n" for known in (False, True)]
    missing = [(name, a, b) for name, counts in (("one input", within), ("two inputs", across))
               for a in kinds for b in kinds if counts[a, b] < 5]  # fmt: skip
    assert not missing
