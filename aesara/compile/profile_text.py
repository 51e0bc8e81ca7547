"""The pages of a profile, as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import IO, Any

from aesara.compile.profile_trace import lines_of
from aesara.compile.step_times import StepTime
from aesara.configdefaults import config
from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Apply, Variable
from aesara.link.utils import gc_helper
from aesara.records import dataclass


@dataclass(frozen=True)
class TableRow:
    """One line of a table: seconds, number of calls and of nodes, and the language."""

    key: Any
    seconds: float
    calls: int
    nodes: int
    impl: str


def rows(
    times: Mapping[Any, float], calls: Mapping[Any, int], nodes: Mapping[Any, int], impl: Mapping[Any, str]
) -> list[TableRow]:
    """The lines of a table, the longest times first."""
    found = [TableRow(key, times[key], calls[key], nodes[key], impl.get(key, "Py")) for key in times]
    return sorted(found, key=lambda row: -row.seconds)


def write_table(
    title: str, found: Sequence[TableRow], names: Mapping[Any, str], limit: int, file: IO[str], width: int
) -> None:
    """Print a table of times, at most `limit` lines of it."""
    total = sum(row.seconds for row in found)
    print(f"{title}\n{'-' * len(title)}", file=file)
    print("<% time> <sum %> <apply time> <time per call> <type> <#call> <#apply> <name>", file=file)
    so_far = 0.0
    for row in found[:limit]:
        so_far += row.seconds
        share, running = _percent(row.seconds, total), _percent(so_far, total)
        each = row.seconds / row.calls if row.calls else 0.0
        text = (
            f"  {share:5.1f}%  {running:6.1f}%  {row.seconds:11.3e}s   {each:8.2e}s    {row.impl:<4} "
            f"{row.calls:6d}  {row.nodes:4d}   {names[row.key]}"
        )
        print(text[:width], file=file)
    rest = found[limit:]
    if rest:
        missing = sum(row.seconds for row in rest)
        print(f"   ... (the other {len(rest)} take {_percent(missing, total):.2f}% ({missing:.2f}s))", file=file)
    print(file=file)


def write_classes(profile: Any, file: IO[str], limit: int) -> None:
    """Print the times of classes of operations."""
    found = rows(profile.class_time(), profile.class_callcount(), profile.class_nodes(), profile.class_impl())
    names = {row.key: f"{row.key.__module__}.{row.key.__qualname__}" for row in found}
    write_table("Class", found, names, limit, file, profile.line_width)


def write_ops(profile: Any, file: IO[str], limit: int) -> None:
    """Print the times of operations."""
    found = rows(profile.op_time(), profile.op_callcount(), profile.op_nodes(), profile.op_impl())
    write_table("Ops", found, {row.key: str(row.key) for row in found}, limit, file, profile.line_width)


def write_nodes(profile: Any, file: IO[str], limit: int) -> None:
    """Print the times of nodes, with the lines of the program they come from."""
    times, native = profile.apply_time, profile.apply_cimpl
    impl = {key: "C " if native.get(key[1]) else "Py" for key in times}
    found = rows(times, profile.apply_callcount, dict.fromkeys(times, 1), impl)
    places = {row.key: place_of(row.key[1]) for row in found}
    names = {key: str(key[1]) if place is None else f"{key[1]}  {place}" for key, place in places.items()}
    write_table("Apply", found, names, limit, file, profile.line_width)


def write_steps(profile: Any, file: IO[str], limit: int) -> None:
    """Print the times of the steps of native code, with the nodes that they compute."""
    steps = dict(enumerate(profile.steps()))
    if not steps:
        return
    times = {k: step.seconds for k, step in steps.items()}
    calls = {k: step.calls for k, step in steps.items()}
    counts = {k: len(step.nodes) for k, step in steps.items()}
    impl = {k: "Py" if step.kind == "python" else "C " for k, step in steps.items()}
    names = {k: step_name(step) for k, step in steps.items()}
    write_table("Steps of native code", rows(times, calls, counts, impl), names, limit, file, profile.line_width)


def place_of(node: Apply) -> str | None:
    """The line of the user's program that a node comes from."""
    return None if node.source is None else node.source.place


def step_name(step: StepTime) -> str:
    """Describe a step of native code: its kind, memory, source lines in the user's program, and nodes."""
    lines: list[str] = []
    last = None
    for line in lines_of(step.nodes):
        filename, number = line.rsplit(":", 1)
        lines.append(number if filename == last else line)
        last = filename
    place = f" [{', '.join(lines)}]" if lines else ""
    size = f" {_kilobytes(step.bytes)}" if step.bytes else ""
    return f"{step.kind}{size}{place}: {'; '.join(map(str, step.nodes)) or 'copies'}"


def write_function(profile: Any, file: IO[str]) -> None:
    """Print the times of calls and of compiling."""
    print("Function profiling\n==================", file=file)
    if profile.message is not None:
        print(f"  Message: {profile.message}", file=file)
    calls, total = profile.fct_callcount, profile.fct_call_time
    if calls:
        each = total / calls
        print(f"  Time in {calls} calls to Function.__call__: {total:e}s ({each:e}s each)", file=file)
        vm, nodes = profile.vm_call_time, sum(profile.apply_time.values())
        print(f"  Time in Function.vm.__call__: {vm:e}s ({_percent(vm, total):.3f}%)", file=file)
        if nodes:
            print(f"  Time in nodes: {nodes:e}s ({_percent(nodes, total):.3f}%)", file=file)
    print(f"  Total compilation time: {profile.compile_time:e}s", file=file)
    if profile.nb_nodes >= 0:
        print(f"    Number of Apply nodes: {profile.nb_nodes}", file=file)
    print(f"    Rewriting: {profile.rewriting_time:e}s", file=file)
    print(f"    Linking: {profile.linker_time:e}s", file=file)
    for stage, seconds in profile.stages.items():
        print(f"       {stage}: {seconds:e}s", file=file)
    print(file=file)


def _percent(part: float, whole: float) -> float:
    return 100.0 * part / whole if whole else 0.0


def write_memory(
    sizes: Mapping[Variable, int],
    graphs: Sequence[FunctionGraph],
    workspaces: Sequence[int],
    limit: int,
    file: IO[str],
) -> None:
    """Print the sizes of results and the memory in use at once."""
    print("Memory Profile\n--------------", file=file)
    for size in workspaces:
        print(f"  Memory that native code keeps for intermediate results: {_kilobytes(size)}", file=file)
    for fgraph in graphs:
        order = fgraph.toposort()
        print(
            f"  Results node by node: {_kilobytes(peak(fgraph, order, sizes, True))} at once if results are dropped as "
            f"soon as nobody reads them any more, {_kilobytes(peak(fgraph, order, sizes, False))} if they are kept",
            file=file,
        )
    by_node: dict[Apply, int] = {}
    for variable, size in sizes.items():
        if variable.owner is not None:
            by_node[variable.owner] = by_node.get(variable.owner, 0) + size
    smallest = config.profiling__min_memory_size
    shown = sorted((item for item in by_node.items() if item[1] >= smallest), key=lambda item: -item[1])
    for node, size in shown[:limit]:
        print(f"  {size:12d}B  {node}", file=file)
    missing = len(by_node) - len(shown[:limit])
    if missing:
        print(f"   ... ({missing} nodes with smaller results, or of less than {smallest} bytes)", file=file)
    print(file=file)


def peak(fgraph: FunctionGraph, order: Sequence[Apply], sizes: Mapping[Variable, int], drop: bool) -> int:
    """Bytes of results in use at once when the nodes run in a given order; views and reused memory count nothing."""
    computed, _ = gc_helper(order)
    owner_of = {variable: variable for variable in computed}
    for node in order:
        for aliases in (node.op.view_map, node.op.destroy_map):
            for k, positions in (aliases or {}).items():
                if positions:
                    source = node.inputs[positions[0]]
                    owner_of[node.outputs[k]] = owner_of.get(source, source)
    dies_after: dict[Apply, list[Variable]] = {}
    outputs = {owner_of.get(out, out) for out in fgraph.outputs}
    last: dict[Variable, Apply] = {}
    for node in order:
        for variable in (*node.inputs, *node.outputs):
            if variable in owner_of:
                last[owner_of[variable]] = node
    for owner, node in last.items():
        if owner not in outputs:
            dies_after.setdefault(node, []).append(owner)
    used = highest = 0
    for node in order:
        used += sum(sizes.get(out, 0) for out in node.outputs if owner_of[out] is out)
        highest = max(highest, used)
        if drop:
            used -= sum(sizes.get(owner, 0) for owner in dies_after.get(node, ()) if owner in computed)
    return highest


def _kilobytes(size: int) -> str:
    return f"{size / 1024:.1f}KB"


def write_tips(native: Mapping[Apply, bool], by_node: bool, file: IO[str]) -> None:
    """Print suggestions for making the function faster."""
    tips = []
    if by_node:
        tips.append("The function runs node by node in Python; the mode 'FAST_RUN' makes native code.")
    else:
        in_python = sorted({str(node.op) for node, is_native in native.items() if not is_native})
        if in_python:
            tips.append(f"These run in Python: {', '.join(in_python)}; aesara.explain(f) says why.")
    if any(getattr(out.type, "dtype", "") == "float64" for node in native for out in node.outputs):
        tips.append("Numbers of dtype float32 take half the memory and about half the time of float64.")
    if tips:
        print("Tips\n----", file=file)
        for tip in tips:
            print(f"  - {tip}", file=file)
        print(file=file)
