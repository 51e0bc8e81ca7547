"""The loop IR: scalar expressions, loop nests over flat buffers, and the host program that runs them.

The IR knows scalars, buffers and sizes; it does not know graphs.  `expr` holds the expressions, `kernel` the
loop nests, `program` the host program, `verify` what is well-formed, `text` a printed form that reads back, and
`interpret` the meaning.
"""
