"""Sorting by partial comparisons that may contradict each other."""

import itertools
import random

import pytest

from aesara.graph.sched import posort


def sorted_slowly(items, comparisons):
    """Order each pair by the first comparison that decides it, unless previous pairs decide otherwise."""
    earlier = set()
    for compare in comparisons:
        for a, b in itertools.combinations(items, 2):
            if (a, b) in earlier or (b, a) in earlier or not compare(a, b):
                continue
            earlier.add((a, b) if compare(a, b) < 0 else (b, a))
            changed = True
            while changed:
                found = {(x, z) for x, y in earlier for w, z in earlier if y == w} - earlier
                earlier |= found
                changed = bool(found)
    result = []
    while len(result) < len(items):
        waiting = [x for x in items if x not in result]
        result.append(next(x for x in waiting if not any((y, x) in earlier for y in waiting)))
    return result


@pytest.mark.parametrize("seed", range(20))
def test_pairs_are_in_the_order_of_the_first_comparison_that_says_one(seed):
    rng = random.Random(seed)
    items = list(range(6))
    rng.shuffle(items)
    tables = [{pair: rng.choice([-1, 0, 0, 1]) for pair in itertools.combinations(range(6), 2)} for _ in range(3)]
    comparisons = [lambda a, b, t=table: t[a, b] if a < b else -t[b, a] for table in tables]
    for count in range(4):
        assert posort(items, *comparisons[:count]) == sorted_slowly(items, comparisons[:count])
