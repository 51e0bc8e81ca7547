"""Measure products of matrices: the loops for small ones beside BLAS, to see up to which sizes they are faster.

    python benchmarks/products.py [--dtype float32] [--sizes 4,16,64]

Each line is a form of product and the length of the sides of its squares, with nanoseconds for the loops and for BLAS,
best of many in turns.
"""

import argparse
import ctypes
import time

import numpy as np

from aesara.link.llvm.addresses import fixed_words
from aesara.link.llvm.jit import load_routines
from aesara.link.llvm.runtime.code import routine_words
from aesara.link.llvm.runtime.one_thread import ROUTINES as ONE_THREAD
from aesara.link.llvm.runtime.products import products_library
from aesara.link.llvm.target import current_target

#: limits for never and always taking the loops
LIMITS = {"blas": (-1, -1), "loops": (2**40, 2**40)}
SIZES = "1,2,4,8,12,16,24,32,48,64,96,128"
KINDS = {"float64": ("double", ctypes.c_double), "float32": ("float", ctypes.c_float)}
MATRICES = "i64 %m, i64 %k, i64 %n, ptr %a, i64 %ars, i64 %acs, ptr %b, i64 %brs, i64 %bcs, ptr %c, i64 %crs"
REPEAT = """
define void @ae.repeat.TYPE(ptr %f, i64 %count, ptr %table, MATRICES, TYPE %alpha, TYPE %beta) nounwind {
entry:
  br label %again
again:
  %i = phi i64 [0, %entry], [%next, %again]
  %stopped = call i1 %f(ptr %table, ptr null, MATRICES, TYPE %alpha, TYPE %beta)
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %count
  br i1 %more, label %again, label %done
done:
  ret void
}
"""


class Products:
    """The routine for a dtype, with each of the limits."""

    def __init__(self, dtype: str) -> None:
        kind, number = KINDS[dtype]
        self.routines = {}
        for name, limits in LIMITS.items():
            text = products_library(dtype, current_target().vector_bytes, limits)
            addresses = load_routines(text, [f"matmul.{dtype}"], None, 1, current_target(), ONE_THREAD)
            (self.routines[name],) = addresses.values()
        text = REPEAT.replace("MATRICES", MATRICES).replace("TYPE", kind)
        (repeat,) = load_routines(text, [f"repeat.{kind}"], None, 1, current_target()).values()
        size, pointer = ctypes.c_int64, ctypes.c_void_p
        types = (size, size, size, pointer, size, size, pointer, size, size, pointer, size, number, number)
        self.repeat = ctypes.CFUNCTYPE(None, pointer, size, pointer, *types)(repeat)
        self.table = np.array(fixed_words(True, routine_words([dtype])), dtype=np.uint64)

    def seconds(self, name: str, count: int, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> float:
        """Measure the seconds of `count` products."""
        sizes = (*a.shape, b.shape[1])
        operands = [(x.ctypes.data, *(s // x.itemsize for s in x.strides)) for x in (a, b)]
        start = time.perf_counter()
        self.repeat(
            self.routines[name], count, self.table.ctypes.data, *sizes, *operands[0], *operands[1],
            c.ctypes.data, c.shape[1], 1.0, 0.0,
        )  # fmt: skip
        return time.perf_counter() - start

    def best(self, a: np.ndarray, b: np.ndarray) -> dict[str, float]:
        """Nanoseconds of a product."""
        c = np.zeros((a.shape[0], b.shape[1]), a.dtype)
        once = max(min(self.seconds("loops", 1, a, b, c) for _ in range(20)), 1e-8)
        count = max(20, int(1e-3 / once))
        rounds = [{name: self.seconds(name, count, a, b, c) for name in LIMITS} for _ in range(20)]
        return {name: 1e9 / count * min(times[name] for times in rounds) for name in LIMITS}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dtype", choices=KINDS, default="float64")
    parser.add_argument("--sizes", default=SIZES)
    arguments = parser.parse_args()
    products, rng = Products(arguments.dtype), np.random.default_rng(0)
    for n in map(int, arguments.sizes.split(",")):
        a, b = (rng.normal(size=(n, n)).astype(arguments.dtype) for _ in range(2))
        x = np.lib.stride_tricks.as_strided(b[0], (n, 1), (b.itemsize, 0))
        forms = {
            "A x": (a, x),
            "A' x": (a.T, x),
            "A B": (a, b),
            "A B'": (a, b.T),
            "A' B": (a.T, b),
            "A' B'": (a.T, b.T),
        }
        for form, operands in forms.items():
            found = products.best(*operands)
            ratio = found["blas"] / found["loops"]
            print(f"{form:5} {n:4}  loops {found['loops']:9.0f}  blas {found['blas']:9.0f}  {ratio:5.2f}", flush=True)


if __name__ == "__main__":
    main()
