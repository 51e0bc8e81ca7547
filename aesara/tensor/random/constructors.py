"""Operations that make generators from seeds."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from aesara.graph.nodes import Apply, Variable
from aesara.graph.op import Op
from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.random.type import RandomGeneratorType, RandomStateType, RandomType
from aesara.tensor.type_other import NoneConst, NoneTypeT

if TYPE_CHECKING:
    from aesara.graph.fg import FunctionGraph

__all__ = [
    "AbstractRNGConstructor",
    "DefaultGeneratorMakerOp",
    "RandomState",
    "RandomStateConstructor",
    "default_rng",
]


class AbstractRNGConstructor(Op):
    """Base class of ops that construct a generator from a seed.

    Parameters
    ----------
    mark
        Something that no other op has, for a node without a seed: two such nodes are two generators, though they look
        the same.
    """

    __props__ = ("mark",)

    #: The type of the generators.
    random_type: RandomType
    #: The function of `numpy.random` that makes them.
    random_constructor: str

    def __init__(self, mark: str = "") -> None:
        super().__init__()
        self.mark = mark

    def __str__(self) -> str:
        return type(self).__name__

    def make_node(self, seed: Any = None) -> Apply:
        """Apply the op to a seed: an integer, several integers, or None for a new seed of the operating system in each
        call.
        """
        if seed is None:
            seed = NoneConst
        elif not isinstance(getattr(seed, "type", None), NoneTypeT):
            seed = as_tensor_variable(seed)
        unmarked = isinstance(seed.type, NoneTypeT) and not self.mark
        return Apply(type(self)(os.urandom(8).hex()) if unmarked else self, [seed], [self.random_type()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[list], params: object = None) -> None:
        (seed,) = inputs
        if seed is not None and np.size(seed) == 1 and np.ndim(seed) == 0:
            seed = int(seed) if np.asarray(seed).dtype.kind in "iu" else seed.item()
        output_storage[0][0] = getattr(np.random, self.random_constructor)(seed=seed)

    def do_constant_folding(self, fgraph: FunctionGraph, node: Apply) -> bool:
        # Without a seed each call gets another generator.
        return not isinstance(node.inputs[0].type, NoneTypeT)

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        return [[False]]

    def grad(self, inputs: Sequence[Variable], output_grads: Sequence[Variable]) -> list[Variable]:
        raise NotImplementedError("A generator does not change with its seed in any way that has a derivative.")


class RandomStateConstructor(AbstractRNGConstructor):
    """A `numpy.random.RandomState`, constructed from a seed."""

    random_type = RandomStateType()
    random_constructor = "RandomState"


class DefaultGeneratorMakerOp(AbstractRNGConstructor):
    """A `numpy.random.Generator` with NumPy's default bit generator, constructed from a seed."""

    random_type = RandomGeneratorType()
    random_constructor = "default_rng"


RandomState = RandomStateConstructor()
default_rng = DefaultGeneratorMakerOp()
