"""Faults that no test can notice, with the reason; by module, function, the text that was replaced, and what by."""

EQUIVALENT: dict[tuple[str, str, str, str], str] = {}
