"""Ops between generators and their words, which represent generators in compiled code."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aesara.graph.nodes import Apply, Variable
from aesara.graph.op import Op
from aesara.graph.type import Type
from aesara.ir.generators import generator_of, words_of
from aesara.tensor.core.tensor_type import TensorType

__all__ = ["GeneratorOfWords", "WordsOfGenerator", "origin_of", "words_type"]

words_type = TensorType("uint64", shape=(None,))


class GeneratorOfWords(Op):
    """Convert words to a new generator in that state; natively the identity."""

    __props__ = ("kind",)
    passes_value_on = True

    def __init__(self, kind: Type) -> None:
        self.kind = kind

    def make_node(self, words: Variable) -> Apply:
        return Apply(self, [words], [self.kind()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: Any, params: object = None) -> None:
        output_storage[0][0] = generator_of(inputs[0])


class WordsOfGenerator(Op):
    """Return the words of a generator in its present state; natively the identity."""

    __props__ = ()
    passes_value_on = True

    def make_node(self, generator: Variable) -> Apply:
        return Apply(self, [generator], [words_type()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: Any, params: object = None) -> None:
        output_storage[0][0] = words_of(inputs[0])


def origin_of(generator: Variable, inputs: Sequence[Variable]) -> int | None:
    """Return the number of the input that a generator's state derives from by draws and loops; None if there is
    none."""
    while generator.owner is not None:
        node = generator.owner
        before = [v for v in node.inputs if v.type.in_words]
        after = [v for v in node.outputs if v.type.in_words]
        if len(before) != len(after):
            return None
        generator = before[after.index(generator)]
    return inputs.index(generator) if generator in inputs else None
