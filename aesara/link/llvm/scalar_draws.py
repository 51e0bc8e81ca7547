"""Draws of many numbers: fast paths in LLVM IR, and NumPy's C functions for the rest.

``draw.<name>(words, n, out, p, p.step, ...)`` draws `n` numbers; parameters are pointers and strides in elements, 0 or
1.

NumPy calls one function per random integer and one per number. For PCG64, whose next state is a product and a sum, the
loops here keep the state in a register (`fast_draws`). If a fast draw fails, the state from before it is stored and
NumPy's function draws from there. So the numbers are NumPy's if those of the fast draws are, which
`fast_draws_are_numpys` checks.
"""

from __future__ import annotations

import ctypes
import functools

import numpy as np

from aesara.ir.generators import HEADER, PARTS, draw_address, words_of
from aesara.ir.routines.draws import draw_named
from aesara.link.llvm.cache import object_cache
from aesara.link.llvm.fast_draws import fast_draws
from aesara.link.llvm.jit import load_routines
from aesara.link.llvm.module import Module
from aesara.link.llvm.target import target_named
from aesara.link.llvm.vector_draws import DRAWS, called_by
from aesara.records import dataclass

__all__ = ["SCALAR_DRAWS", "scalar_draw"]

#: byte offset of the word with the kind of bit generator; PCG64 is 0
_KIND = 40


@dataclass(frozen=True)
class _ScalarDraw:
    """A draw of scalars.

    Attributes
    ----------
    parameters
        Number of parameters.
    number
        LLVM type of the numbers.
    fill
        NumPy's function for many numbers, if it has one.
    """

    parameters: int = 0
    number: str = "double"
    fill: str = ""


#: draws by the name of NumPy's function
SCALAR_DRAWS = {
    "standard_uniform": _ScalarDraw(fill="standard_uniform_fill"),
    "standard_normal": _ScalarDraw(fill="standard_normal_fill"),
    "standard_exponential": _ScalarDraw(fill="standard_exponential_fill"),
    "uniform": _ScalarDraw(2),
    "normal": _ScalarDraw(2),
    "exponential": _ScalarDraw(1),
    "standard_gamma": _ScalarDraw(1),
    "gamma": _ScalarDraw(2),
    "poisson": _ScalarDraw(1, "i64"),
}


def texts_of(symbol: str) -> list[tuple[str, str, set[str]]]:
    """Return the functions of ours that a drawing routine needs, itself last: names, texts and called C functions.

    Examples
    --------
    >>> [(name, sorted(calls)) for name, _, calls in texts_of("draw.dirichlet")]
    [('@draw.dirichlet', ['random.random_beta', 'random.random_standard_gamma'])]
    >>> texts_of("draw.nothing")
    []
    """
    texts = [(f"@{symbol}", DRAWS[symbol])] if symbol in DRAWS else scalar_draw(symbol)
    return [(name, text, called_by(text)) for name, text in texts]


def scalar_draw(symbol: str) -> list[tuple[str, str]]:
    """Return names and texts of the functions that a draw needs, itself last; an empty list for other symbols."""
    source, _, name = symbol.partition(".")
    if source != "draw" or name not in SCALAR_DRAWS:
        return []
    return _functions(name, fast_draws_are_numpys())


def _functions(name: str, with_fast_draws: bool) -> list[tuple[str, str]]:
    return [*(fast_draws(name) if with_fast_draws else ()), (f"@draw.{name}", _loops(name, with_fast_draws))]


def _loops(name: str, with_fast_draws: bool) -> str:
    """Return the loops of a draw: for all bit generators, and for PCG64 with constant and with varying parameters."""
    draw = SCALAR_DRAWS[name]
    names = [f"p{k}" for k in range(draw.parameters)]
    given = "".join(f", ptr %{p}, i64 %{p}.step" for p in names)
    lines = [
        f"declare {draw.number} @random.random_{name}({', '.join(['ptr', *['double'] * draw.parameters])})",
        f"define internal void @draw.{name}(ptr %words, i64 %n, ptr %out{given}) noinline nounwind {{",
        "entry:",
        "  %some = icmp sgt i64 %n, 0",
        f"  br i1 %some, label %{'look' if with_fast_draws else 'calls'}, label %done",
    ]
    if with_fast_draws:
        lines += [
            "look:",
            f"  %kind.at = getelementptr i8, ptr %words, i64 {_KIND}",
            "  %kind = load i64, ptr %kind.at",
            "  %tries = icmp eq i64 %kind, 0",
            "  br i1 %tries, label %start, label %calls",
            "start:",
            f"  %part.at = getelementptr i8, ptr %words, i64 {PARTS}",
            "  %part = load i64, ptr %part.at",
            "  %state.at = getelementptr i8, ptr %words, i64 %part",
            "  %state = load i128, ptr %state.at, align 8",
            "  %step.at = getelementptr i8, ptr %state.at, i64 16",
            "  %step = load i128, ptr %step.at, align 8",
        ]
        if names:
            steps = names[0] + ".step"
            for p in names[1:]:
                lines.append(f"  %{p}.steps = or i64 %{steps}, %{p}.step")
                steps = f"{p}.steps"
            lines += [f"  %same = icmp eq i64 %{steps}, 0", "  br i1 %same, label %alike, label %differing"]
            lines += ["alike:", *_fast_loop(name, draw, names, "alike", False)]
            lines += ["differing:", *_fast_loop(name, draw, names, "differing", True)]
        else:
            lines += ["  br label %alike", "alike:", *_fast_loop(name, draw, names, "alike", False)]
    lines += ["calls:"]
    if draw.fill:
        lines.insert(0, f"declare void @random.random_{draw.fill}(ptr, i64, ptr)")
        lines += [f"  call void @random.random_{draw.fill}(ptr %words, i64 %n, ptr %out)", "  br label %done"]
    else:
        lines += _call_loop(name, draw, names)
    return "\n".join([*lines, "done:", "  ret void", "}"])


def _fast_loop(name: str, draw: _ScalarDraw, names: list[str], at: str, differ: bool) -> list[str]:
    """Return a loop of fast draws; its names begin with the label of its first block."""
    kind, loads = draw.number, _load_parameters(at, names, differ)
    values = "".join(f", double %{at}.{p}" for p in names)
    triple = f"{{i128, {kind}, i1}}"
    return [
        *([] if differ else loads),
        f"  br label %{at}.loop",
        f"{at}.loop:",
        f"  %{at}.k = phi i64 [0, %{at}], [%{at}.k.next, %{at}.drawn]",
        f"  %{at}.state = phi i128 [%state, %{at}], [%{at}.next, %{at}.drawn]",
        *(loads if differ else []),
        f"  %{at}.tried = call {triple} @try.{name}(i128 %{at}.state, i128 %step{values})",
        f"  %{at}.after = extractvalue {triple} %{at}.tried, 0",
        f"  %{at}.number = extractvalue {triple} %{at}.tried, 1",
        f"  %{at}.found = extractvalue {triple} %{at}.tried, 2",
        f"  br i1 %{at}.found, label %{at}.drawn, label %{at}.call",
        f"{at}.call:",
        f"  store i128 %{at}.state, ptr %state.at, align 8",
        f"  %{at}.called = call {kind} @random.random_{name}(ptr %words{values})",
        f"  %{at}.changed = load i128, ptr %state.at, align 8",
        f"  br label %{at}.drawn",
        f"{at}.drawn:",
        f"  %{at}.next = phi i128 [%{at}.after, %{at}.loop], [%{at}.changed, %{at}.call]",
        f"  %{at}.value = phi {kind} [%{at}.number, %{at}.loop], [%{at}.called, %{at}.call]",
        f"  %{at}.to = getelementptr {kind}, ptr %out, i64 %{at}.k",
        f"  store {kind} %{at}.value, ptr %{at}.to",
        f"  %{at}.k.next = add i64 %{at}.k, 1",
        f"  %{at}.more = icmp slt i64 %{at}.k.next, %n",
        f"  br i1 %{at}.more, label %{at}.loop, label %{at}.end",
        f"{at}.end:",
        f"  store i128 %{at}.next, ptr %state.at, align 8",
        "  br label %done",
    ]


def _call_loop(name: str, draw: _ScalarDraw, names: list[str]) -> list[str]:
    """Return a loop that calls NumPy's function."""
    values = "".join(f", double %calls.{p}" for p in names)
    return [
        "  br label %calls.loop",
        "calls.loop:",
        "  %calls.k = phi i64 [0, %calls], [%calls.k.next, %calls.loop]",
        *_load_parameters("calls", names, True),
        f"  %calls.number = call {draw.number} @random.random_{name}(ptr %words{values})",
        f"  %calls.to = getelementptr {draw.number}, ptr %out, i64 %calls.k",
        f"  store {draw.number} %calls.number, ptr %calls.to",
        "  %calls.k.next = add i64 %calls.k, 1",
        "  %calls.more = icmp slt i64 %calls.k.next, %n",
        "  br i1 %calls.more, label %calls.loop, label %done",
    ]


def _load_parameters(at: str, names: list[str], differ: bool) -> list[str]:
    """Return loads of the parameters, of the current iteration or the first."""
    lines = []
    for p in names:
        place = f"%{p}"
        if differ:
            place = f"%{at}.{p}.at"
            lines += [
                f"  %{at}.{p}.which = mul i64 %{at}.k, %{p}.step",
                f"  {place} = getelementptr double, ptr %{p}, i64 %{at}.{p}.which",
            ]
        lines.append(f"  %{at}.{p} = load double, ptr {place}")
    return lines


#: parameters to compare
_LOOKS: tuple[tuple[str, tuple[float, ...]], ...] = (
    ("standard_uniform", ()),
    ("standard_normal", ()),
    ("standard_exponential", ()),
    ("uniform", (-1.0, 3.3)),
    ("normal", (0.3, 1.7)),
    ("exponential", (0.7,)),
    ("standard_gamma", (2.3,)),
    ("standard_gamma", (0.4,)),
    ("gamma", (2.3, 0.7)),
    ("poisson", (3.3,)),
    ("poisson", (33.3,)),
)
#: number of draws to compare, one of a hundred of which is not a fast draw
_MANY = 400


@functools.cache
def fast_draws_are_numpys() -> bool:
    """Return whether fast draws are bitwise those of this NumPy; otherwise only NumPy's functions are used.

    This is tested by drawing. NumPy may change its streams, and its compiler may have fused a product and a sum.
    """
    if draw_address("random_loggam") is None:
        return False
    module = Module()
    for name in SCALAR_DRAWS:
        for key, text in _functions(name, True):
            module.helper(key, text.replace("define internal void @draw.", "define void @ae.draw."))
            module.externals |= called_by(text)
    names = [f"draw.{name}" for name in SCALAR_DRAWS]
    addresses = load_routines(module.text(), names, object_cache(), 0, target_named("native"), module.externals)
    for name, parameters in _LOOKS:
        rng = np.random.Generator(np.random.PCG64(1))
        drawn, after = _draw(addresses[f"draw.{name}"], SCALAR_DRAWS[name], words_of(rng), parameters)
        method = draw_named(name).method
        wanted = method(rng, *parameters, _MANY) if method else getattr(rng, name)(*parameters, size=_MANY)
        if not (np.array_equal(drawn, wanted) and np.array_equal(after, words_of(rng)[_STATE:])):
            return False
    return True


#: first word of the numbers in a state of PCG64, after a pointer to them
_STATE = HEADER // 8 + 1


def _draw(
    address: int, draw: _ScalarDraw, words: np.ndarray, parameters: tuple[float, ...]
) -> tuple[np.ndarray, np.ndarray]:
    """Return numbers, and the words of the state after them."""
    words[0] = words.ctypes.data + HEADER
    words[HEADER // 8] = words.ctypes.data + int(words[PARTS // 8])
    values = [np.array([p]) for p in parameters]
    given = [x for value in values for x in (value.ctypes.data, 0)]
    drawn = np.empty(_MANY, "float64" if draw.number == "double" else "int64")
    kinds = (ctypes.c_void_p, ctypes.c_int64) * (1 + draw.parameters)
    function = ctypes.CFUNCTYPE(None, *kinds[:2], ctypes.c_void_p, *kinds[2:])(address)
    function(words.ctypes.data, _MANY, drawn.ctypes.data, *given)
    return drawn, words[_STATE:]
