"""Compiles simple loops over vecmath functions, for the tests and (run as a script) for measurements."""

from __future__ import annotations

import ctypes
import functools
import sys
import time

import llvmlite.binding as llvm
import numpy as np

from aesara.ir import vecmath
from aesara.link.llvm import missing_instructions
from aesara.link.llvm.target import target_named

llvm.initialize_native_target()
llvm.initialize_native_asmprinter()

TYPES = {"float64": "double", "float32": "float"}
_alive = []

LOOP = """
define void @loop(i64 %n, ptr noalias %out, {pointers}) "prefer-vector-width"="512" {{
entry:
  %any = icmp sgt i64 %n, 0
  br i1 %any, label %body, label %end
body:
  %i = phi i64 [ 0, %entry ], [ %next, %body ]
{loads}
  %r = call {t} @{symbol}({arguments}) {attributes}
  %o = getelementptr inbounds {t}, ptr %out, i64 %i
  store {t} %r, ptr %o
  %next = add nuw nsw i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %body, label %end
end:
  ret void
}}
"""


def loop_text(symbol: str, kind: str, arity: int, attributes: str = "") -> str:
    """A loop out[i] = symbol(x0[i], ...) in LLVM IR."""
    loads = "\n".join(
        f"  %p{k} = getelementptr inbounds {kind}, ptr %in{k}, i64 %i\n  %x{k} = load {kind}, ptr %p{k}"
        for k in range(arity)
    )
    return LOOP.format(
        t=kind,
        symbol=symbol,
        loads=loads,
        attributes=attributes,
        pointers=", ".join(f"ptr noalias %in{k}" for k in range(arity)),
        arguments=", ".join(f"{kind} %x{k}" for k in range(arity)),
    )


def compile_loop(text: str, arity: int, target: str = "native"):
    """Optimise for a value of the option `native_target`, and load; returns (callable over arrays, assembly text).

    The callable keeps the optimised IR as `optimised`.
    """
    wanted = target_named(target)
    # Small code: constants are operands in memory. The large model, which `jit=True` brings, keeps them
    # in registers, and on the stack around calls.
    target = llvm.Target.from_default_triple().create_target_machine(
        cpu=wanted.cpu, features=wanted.features, opt=3, reloc="pic", codemodel="small", jit=True
    )
    module = llvm.parse_assembly(
        f'target triple = "{wanted.triple}"\n' + missing_instructions.supply_missing(text, wanted)
    )
    module.verify()
    options = llvm.create_pipeline_tuning_options(speed_level=3)
    options.loop_vectorization = True
    options.slp_vectorization = True
    builder = llvm.create_pass_builder(target, options)
    builder.getModulePassManager().run(module, builder)
    optimised = str(module)
    assembly = target.emit_assembly(module)
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), target)
    engine.add_module(module)
    engine.finalize_object()
    address = engine.get_function_address("loop")
    _alive.append((engine, target))
    function = ctypes.CFUNCTYPE(None, ctypes.c_int64, *[ctypes.c_void_p] * (arity + 1))(address)

    def call(*arrays, out=None):
        out = np.empty_like(arrays[0]) if out is None else out
        function(len(out), out.ctypes.data, *[array.ctypes.data for array in arrays])
        return out

    call.raw = function
    call.optimised = optimised
    return call, assembly


def arity_of(name: str) -> int:
    return 2 if name in ("pow", "atan2") else 1


@functools.cache
def ours(name: str, dtype: str, target: str = "native"):
    """The loop over our function, and its assembly."""
    kind, arity = TYPES[dtype], arity_of(name)
    text = complete_text(name, dtype) + loop_text(vecmath.symbol(name, dtype), kind, arity)
    return compile_loop(text, arity, target)


def complete_text(name: str, dtype: str) -> str:
    """The function and all that it needs."""
    parts = (name, *vecmath.dependencies(name, dtype))
    return "\n".join(vecmath.definition(part, dtype) for part in parts)


def libmvec(name: str, dtype: str):
    """The loop over glibc's vector function, or None."""
    try:
        library = ctypes.CDLL("libmvec.so.1")
    except OSError:
        return None
    kind, arity = TYPES[dtype], arity_of(name)
    vector = f"_ZGVeN{8 if dtype == 'float64' else 16}{'v' * arity}_{name}{'' if dtype == 'float64' else 'f'}"
    try:
        llvm.add_symbol(vector, ctypes.cast(getattr(library, vector), ctypes.c_void_p).value)
    except AttributeError:
        return None
    scalar = name + ("" if dtype == "float64" else "f")
    wide = f"<{8 if dtype == 'float64' else 16} x {kind}>"
    libm = ctypes.CDLL("libm.so.6")
    llvm.add_symbol(scalar, ctypes.cast(getattr(libm, scalar), ctypes.c_void_p).value)
    text = (
        f"declare {kind} @{scalar}({', '.join([kind] * arity)}) nounwind willreturn memory(none)\n"
        f"declare {wide} @{vector}({', '.join([wide] * arity)}) nounwind willreturn memory(none)\n"
        f'@llvm.compiler.used = appending global [1 x ptr] [ptr @{vector}], section "llvm.metadata"\n'
        "attributes #9 = { nounwind willreturn memory(none) "
        f'"vector-function-abi-variant"="{vector}({vector})" }}\n'
    )
    return compile_loop(text + loop_text(scalar, kind, arity, "#9"), arity)[0]


NUMPY = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "atan2": "arctan2", "asinh": "arcsinh"}
NUMPY |= {"acosh": "arccosh", "atanh": "arctanh", "pow": "power"}


def numpy_function(name: str):
    if name in ("erf", "erfc"):
        from scipy import special

        return getattr(special, name)
    return getattr(np, NUMPY.get(name, name))


DOMAINS = {
    "exp": (-20, 20), "exp2": (-20, 20), "expm1": (-5, 5), "log": (0.001, 1000), "log2": (0.001, 1000),
    "log10": (0.001, 1000), "log1p": (-0.9, 10), "asin": (-1, 1), "acos": (-1, 1), "atanh": (-0.99, 0.99),
    "acosh": (1, 100), "pow": (0.01, 20), "sin": (-50, 50), "cos": (-50, 50), "tan": (-50, 50),
}  # fmt: skip


def nanoseconds(call, arrays, repeats: int = 20) -> float:
    """Best time per element over arrays in cache."""
    out = np.empty_like(arrays[0])
    run, arguments = call, arrays
    if hasattr(call, "raw"):  # leave Python's share of the call out of it
        run, arguments = call.raw, [len(out), out.ctypes.data, *[array.ctypes.data for array in arrays]]
    else:
        run = functools.partial(call, out=out)
    best = 1e9
    for _ in range(repeats):
        start = time.perf_counter()
        for _ in range(10):
            run(*arguments)
        best = min(best, time.perf_counter() - start)
    return best / 10 / len(out) * 1e9


def main(names) -> None:
    print(f"{'function':16s}{'ours':>8s}{'libmvec':>9s}{'numpy':>8s}   ns per element; zmm instructions")
    rng = np.random.default_rng(0)
    for name, dtype in sorted(vecmath.available()):
        if names and name not in names:
            continue
        low, high = DOMAINS.get(name, (-4, 4))
        arrays = [rng.uniform(low, high, 30_000).astype(dtype) for _ in range(arity_of(name))]
        call, assembly = ours(name, dtype)
        vector = libmvec(name, dtype)
        times = [nanoseconds(call, arrays), nanoseconds(vector, arrays) if vector else float("nan")]
        times.append(nanoseconds(numpy_function(name), arrays, 3))
        print(f"{name + ' ' + dtype:16s}{times[0]:8.3f}{times[1]:9.3f}{times[2]:8.3f}   {assembly.count('zmm')}")


if __name__ == "__main__":
    main(sys.argv[1:])
