"""Makes the reference pages of ``docs/reference`` from the declarations of the package and the op table of the tests.

``python -m tools.reference`` writes the pages; nothing in them is written by hand.
"""
