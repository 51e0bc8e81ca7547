"""The loop IR: scalar expressions, loop nests over flat buffers, and the host program that runs them.

The IR has scalars, buffers and sizes, but no graphs. `expr` has the expressions, `kernel` the loop nests, `program` the
host program, `verify` the verifier, `text` the text form, and `interpret` the reference interpreter.
"""
