"""Measure how long the rewriting of a graph takes, and how it grows with the graph.

    python benchmarks/rewriting.py [--sizes 1000,10000] [--only WORD,...] [--seconds 40]
                                   [--peer NAME=PYTHON ...]

Only the passes of the mode FAST_RUN are measured: no code is made. Times are seconds of the processor, so that other
work on the machine hardly counts. A line is one graph in a process of its own, which is stopped after ``--seconds`` of
them; a library that has not come to an end is not asked for larger graphs of the kind. A peer is another library with
the same interface (Aesara, PyTensor) in an environment of its own; its name is the module to import. The last column
says how many times as long as this library it takes.
"""

import argparse
import importlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
SEEDS = 10

Graph = tuple[list[Any], Any]


def recurrence(at: Any, size: int) -> Graph:
    """An unrolled recurrence."""
    x, decay = at.dvector("x"), at.dscalar("decay")
    state = x
    for _ in range(size // 2):
        state = at.tanh(state) * decay
    return [x, decay], state.sum()


def wide_sum(at: Any, size: int) -> Graph:
    """A sum of many terms that share their inputs."""
    xs = [at.dvector(f"x{i}") for i in range(SEEDS)]
    total = xs[0]
    for i in range(size // 3):
        total = total + at.exp(xs[i % SEEDS] * (i + 1.5))
    return xs, total.sum()


def deep_chain(at: Any, size: int) -> Graph:
    """A chain of functions of one operand."""
    x = at.dvector("x")
    functions = [at.exp, at.sin, at.tanh, at.log1p, at.cos]
    y = x
    for i in range(size):
        y = functions[i % len(functions)](y)
    return [x], y.sum()


def layers(at: Any, size: int) -> Graph:
    """A network of many layers with the same weights."""
    x, weights, bias = at.dmatrix("x"), at.dmatrix("weights"), at.dvector("bias")
    y = x
    for _ in range(size // 3):
        y = at.tanh(at.dot(y, weights) + bias)
    return [x, weights, bias], y.sum()


def indexing(at: Any, size: int) -> Graph:
    """A recurrence that reads one entry after the other."""
    x, decay = at.dvector("x"), at.dscalar("decay")
    state = x[0]
    for i in range(1, size // 3):
        state = state * decay + x[i]
    return [x, decay], state


def continued_fraction(at: Any, size: int) -> Graph:
    """A quotient in a quotient, and so on."""
    x = at.dvector("x")
    y = x
    for _ in range(size // 3):
        y = 1.0 / (1.0 + x * y)
    return [x], y.sum()


def long_product(at: Any, size: int) -> Graph:
    """The logarithm of a product of many factors."""
    x = at.dvector("x")
    product = x
    for i in range(size // 3):
        product = product * at.sigmoid(x * (i + 1))
    return [x], at.log(product).sum()


def parts(at: Any, size: int) -> Graph:
    """Rows in the opposite order in every step."""
    x = at.dmatrix("x")
    y = x
    for _ in range(size // 4):
        y = at.tanh((y.T + x).T[::-1])
    return [x], y.sum()


def shrinking(at: Any, size: int) -> Graph:
    """All but the first element in every step."""
    x, decay = at.dvector("x"), at.dscalar("decay")
    y = x
    for _ in range(size // 3):
        y = at.tanh(y[1:]) * decay
    return [x, decay], y.sum()


def shrinking_pairs(at: Any, size: int) -> Graph:
    """All but the first element in every step, which is read twice."""
    x = at.dvector("x")
    y = x
    for _ in range(size // 3):
        y = (at.tanh(y) * y)[1:]
    return [x], y.sum()


GRAPHS: dict[str, Callable[[Any, int], Graph]] = {
    "recurrence": recurrence,
    "wide sum": wide_sum,
    "deep chain": deep_chain,
    "layers": layers,
    "indexing": indexing,
    "fraction": continued_fraction,
    "product": long_product,
    "parts": parts,
    "shrinking": shrinking,
    "shrinking pairs": shrinking_pairs,
}


def measure(module: str, name: str, size: int, gradient: bool) -> str:
    """Build a graph, rewrite it, and say how many nodes it had, has, and how long that took."""
    library = importlib.import_module(module)
    at = importlib.import_module(f"{module}.tensor")
    get_mode = importlib.import_module(f"{module}.compile.mode").get_mode
    function_graph = importlib.import_module(f"{module}.graph.fg").FunctionGraph
    inputs, output = GRAPHS[name](at, size)
    start = time.process_time()
    if gradient:
        grad = getattr(library, "grad", None) or library.gradient.grad
        output = grad(output, inputs[0])
    derived = time.process_time()
    graph = function_graph(inputs, [output], clone=True)
    before = len(graph.apply_nodes)
    cloned = time.process_time()
    get_mode("FAST_RUN").optimizer.rewrite(graph)
    done = time.process_time()
    return f"{before} {len(graph.apply_nodes)} {derived - start:.4f} {done - cloned:.4f}"


def in_process(python: str, module: str, name: str, size: int, gradient: bool, seconds: int) -> str:
    """One line of the table: what a process of its own measures, or why it has no figures."""
    command = [python, str(Path(__file__).resolve()), "--measure", module, name, str(size), str(int(gradient))]
    # This library is the one that the script stands beside; a peer is found where it is installed.
    path = {"PYTHONPATH": str(ROOT)} if python == sys.executable else {}
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | path
    variables["SECONDS"] = str(seconds)
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT.anchor, env=variables)
    if done.returncode == -signal.SIGXCPU:
        return f"stopped after {seconds} s"
    if done.returncode:
        last = done.stderr.strip().splitlines()[-1:] or ["no message"]
        return f"fails: {last[0].split(':')[0]}"
    before, after, derive, rewrite = done.stdout.split()[-4:]
    return f"{before:>7} {after:>7} {float(derive):9.3f} {float(rewrite):9.3f}"


def ratio(figures: str, ours: str) -> str:
    """Return the time of a rewriting relative to ours; "" if one of them did not end."""
    if not (is_measured(figures) and is_measured(ours)):
        return ""
    return f"{float(figures.split()[-1]) / max(float(ours.split()[-1]), 1e-4):8.1f} x"


def is_measured(figures: str) -> bool:
    """Return whether a line has figures."""
    return figures.strip()[:1].isdigit()


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sizes", default="1000,10000", help="numbers of nodes, roughly, before gradients")
    parser.add_argument("--only", default="", help="only graphs with one of these words in their names")
    parser.add_argument("--seconds", type=int, default=40, help="stop a measurement after this time")
    parser.add_argument("--peer", action="append", default=[], metavar="NAME=PYTHON", help="a library to compare with")
    parser.add_argument("--measure", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        module, name, size, gradient = options.measure
        import resource  # which not all systems have

        seconds = int(os.environ["SECONDS"])
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
        print(measure(module, name, int(size), gradient == "1"))
        return
    libraries = [("ours", sys.executable, "aesara")]
    for peer in options.peer:
        name, _, python = peer.partition("=")
        libraries.append((name, python, name))
    print(
        f"{'graph':12} {'of':9} {'size':>6} {'library':9} {'before':>7} {'after':>7} {'grad, s':>9} {'rewrite, s':>9} "
        f"{'to ours':>9}"
    )
    for name in GRAPHS:
        if not any(word in name for word in options.only.split(",")):
            continue
        for gradient in (False, True):
            given_up: dict[str, str] = {}
            for size in sorted(map(int, options.sizes.split(","))):
                ours = ""
                for label, python, module in libraries:
                    figures = given_up.get(label)
                    if figures is None:
                        figures = in_process(python, module, name, size, gradient, options.seconds)
                        if not is_measured(figures):
                            given_up[label] = f"- ({figures} at {size})"
                    ours = ours or figures
                    times = ratio(figures, ours) if label != "ours" else ""
                    kind = "gradient" if gradient else "value"
                    print(f"{name:12} {kind:9} {size:6} {label:9} {figures} {times}".rstrip(), flush=True)


if __name__ == "__main__":
    main()
