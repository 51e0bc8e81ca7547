"""Does a test notice? Faults are planted in the package one at a time, and the tests that cover them are run.

    make mutate

or ``python -m tools.mutate``; `docs/testing.md` says what is reported and what to do about what no test notices.

The general tools for mutation testing do not fit: they run the whole suite for each fault, or start pytest anew and
choose tests by what they are called. This suite takes minutes, and as long as most of its tests to be imported. Here
one process imports the package with all faults in it (`planting`), of which none is active, and all tests (`session`).
It finds out which tests come to which fault, and forks for each fault, with this one active.
"""
