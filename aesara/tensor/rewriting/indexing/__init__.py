"""Rules about parts of tensors.

=============  ==================================================
``positions``  parts that vectors of positions name
``lifting``    parts of results, computed from parts of operands
``reading``    simpler indices, and parts that need no reading
``writing``    writing to parts, and reading what was written
``scattered``  sums with tensors that are zero but for a part
=============  ==================================================
"""

from aesara.tensor.rewriting.indexing import lifting, positions, reading, scattered, writing
from aesara.tensor.rewriting.registration import Rules

#: The rules of this package. Vectors of positions that are slices become slices first, for which there are most rules.
rules = Rules(positions.rules, lifting.rules, reading.rules, writing.rules, scattered.rules)

__all__ = ["rules"]
