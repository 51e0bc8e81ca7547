"""Rules about subtensors.

=============  ===============================================================
``positions``  subtensors that are indexed by vectors of positions
``lifting``    subtensors of results, computed from subtensors of operands
``reading``    simpler indices, and subtensors that are known
``writing``    writing to subtensors, and reading written values
``scattered``  sums with tensors that are zero except for a subtensor
=============  ===============================================================
"""

from aesara.tensor.rewriting.indexing import lifting, positions, reading, scattered, writing
from aesara.tensor.rewriting.registration import Rules

#: The rules of this package. Vectors of positions become slices first if they can, since most rules are for slices.
rules = Rules(positions.rules, lifting.rules, reading.rules, writing.rules, scattered.rules)

__all__ = ["rules"]
