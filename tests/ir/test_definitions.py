"""Functions of LLVM modules: text and objects."""

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.ir.definitions import FunctionDefinition, FunctionParameter, definitions_in
from aesara.link.llvm.runtime.pointer_pool import give_block, take_block
from aesara.link.llvm.typed_functions import library_text

SAMPLE = """@table = private constant [2 x i64] [i64 1, i64 2]

declare double @log(double) nounwind
define internal {i128, i1} @first(ptr noalias readonly %a, <2 x double> %b) noinline memory(none) {
entry:
  ret {i128, i1} zeroinitializer
}
define weak_odr hidden void @second() {
  ret void
}"""


def test_parts_of_functions():
    table, empty, declaration, first, second = definitions_in(SAMPLE)
    assert table.startswith("@table") and empty == "" and declaration.startswith("declare")
    assert first == FunctionDefinition(
        "@first",
        "{i128, i1}",
        [FunctionParameter("ptr", "%a", ("noalias", "readonly")), FunctionParameter("<2 x double>", "%b")],
        "noinline memory(none)",
        ["entry:", "  ret {i128, i1} zeroinitializer"],
    )
    assert first.declaration() == "declare {i128, i1} @first(ptr, <2 x double>)"
    assert (second.name, second.linkage, second.attributes) == ("@second", "weak_odr hidden", "")
    assert first.text(linkage="").startswith("define {i128, i1} @first(ptr noalias readonly %a, ")


def draws_and_factors():
    x, a = at.dvector("x"), at.dmatrix("a")
    draw = at.random.gamma(x, 1.0, rng=aesara.shared(np.random.default_rng(1)))
    return aesara.function([x, a], [draw, at.linalg.cholesky(a), at.sin(x) // 3])._native.report.text


TEXTS = {"sample": lambda: SAMPLE, "pool": lambda: library_text([take_block, give_block]), "module": draws_and_factors}


@pytest.mark.parametrize("name", TEXTS)
def test_text_is_written_as_it_was_read(name):
    text = TEXTS[name]()
    definitions = definitions_in(text)
    written = "\n".join([one if isinstance(one, str) else one.text() for one in definitions])
    assert written == "\n".join(text.splitlines())
    assert sum(isinstance(one, FunctionDefinition) for one in definitions) == text.count("define ")
