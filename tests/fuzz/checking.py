"""Runs a program by the reference, rewritten, and natively, and compares everything that can be observed."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

import aesara
from aesara.compile.mode import Mode
from aesara.configdefaults import config
from tests.fuzz.evaluation import conditioned, difference, evaluate
from tests.fuzz.programs import Program

CALLS = 3


class Disagreement(AssertionError):
    """Two ways to run a program gave different results."""


@dataclass
class Run:
    """Results of each call (values or an exception), and the shared variables after it."""

    results: list
    states: list
    function: object = None


def modes() -> dict[str, object]:
    return {"plain": Mode("py", None), "rewritten": Mode("py", "fast_run"), "native": Mode("llvm", "fast_run")}


def run(program: Program, mode) -> Run:
    variables = program.variables
    shared = [i for i in program.inputs if i.shared]
    explicit = [i for i in program.inputs if not i.shared]
    _reset(program, 0)
    with warnings.catch_warnings(), config.change_flags(native_verify=True, native_cache=False, on_opt_error="raise"):
        warnings.simplefilter("ignore")
        function = aesara.function(
            [variables[i.name] for i in explicit],
            [variables[n] for n in program.outputs],
            updates=[(variables[k], variables[v]) for k, v in program.updates.items()],
            mode=mode,
            on_unused_input="ignore",
        )
        outcome = Run([], [], function)
        kept = []
        for call in range(CALLS):
            if call == 2:
                _reset(program, 2)
            arguments = [i.values(2 if call == 2 else 0) for i in explicit]
            before = [a.copy() for a in arguments]
            with np.errstate(all="ignore"):
                try:
                    result = function(*arguments)
                except Exception as error:
                    result = error
            outcome.results.append(result if isinstance(result, Exception) else [np.array(r) for r in result])
            outcome.states.append([np.array(variables[i.name].get_value(borrow=True)) for i in shared])
            if not isinstance(result, Exception):
                _check_memory(program, arguments, before, result, shared)
                kept.append((result, outcome.results[-1]))
        for result, copies in kept:
            for k, (value, copy) in enumerate(zip(result, copies, strict=True)):
                if not np.array_equal(value, copy, equal_nan=copy.dtype.kind == "f"):
                    raise Disagreement(f"output {k} of an earlier call was overwritten by a later one")
    return outcome


def _reset(program: Program, call: int) -> None:
    for spec in program.inputs:
        if spec.shared:
            program.variables[spec.name].set_value(np.array(spec.values(call), order="C"))


def _check_memory(program, arguments, before, result, shared) -> None:
    for k, (now, then) in enumerate(zip(arguments, before, strict=True)):
        if not np.array_equal(now, then, equal_nan=then.dtype.kind == "f"):
            raise Disagreement(f"argument {k} was overwritten")
    kept = [program.variables[i.name].get_value(borrow=True) for i in shared]
    for k, value in enumerate(result):
        others = [*arguments, *kept, *result[:k]]
        if isinstance(value, np.ndarray) and value.size and any(np.shares_memory(value, o) for o in others):
            raise Disagreement(f"output {k} shares memory with an argument, a shared variable or another output")


def check(program: Program) -> None:
    """Raise `Disagreement` unless all ways to run the program agree, and the oracles of the op table with them."""
    _compare_with_oracles(program)
    runs = {name: run(program, mode) for name, mode in modes().items()}
    if getattr(runs["native"].function, "_native", None) is None:
        raise Disagreement("the native linker declined the program")
    for call in range(CALLS):
        errors = {name: r.results[call] if isinstance(r.results[call], Exception) else None for name, r in runs.items()}
        if any(errors.values()):
            kinds = {name: family(e) for name, e in errors.items()}
            # A rule may drop a step that would have failed, but not make one, and native code follows the graph.
            allowed = kinds["native"] == kinds["rewritten"] and kinds["native"] in (None, kinds["plain"])
            if not allowed:
                raise Disagreement(
                    f"call {call}: errors differ: " + "; ".join(f"{n}: {e!r:.300}" for n, e in errors.items())
                )
            for name, r in runs.items():
                if errors[name] is None:
                    continue
                before = _states_before(program, r, call)
                for k, (now, then) in enumerate(zip(r.states[call], before, strict=True)):
                    if not np.array_equal(now, then, equal_nan=then.dtype.kind == "f"):
                        raise Disagreement(
                            f"call {call}, {name}: shared variable {k} was changed by a call that failed"
                        )
            program.compared += 1
            return
        if not _compare(program, call, runs):
            return
        program.compared += 1


def _compare_with_oracles(program: Program) -> None:
    given = {program.variables[i.name]: i.values(0) for i in program.inputs}
    complaints = program.applied.complaints(lambda variables: evaluate(variables, given))
    if complaints:
        raise Disagreement("\n".join(complaints))


def family(error: Exception | None) -> type | None:
    """Exceptions that stand for each other: what NumPy reports in one way or another."""
    if error is None:
        return None
    if isinstance(error, (IndexError, ValueError, AssertionError)):
        return ValueError  # which of two faults is met first is a matter of order
    return type(error)


def _states_before(program: Program, way: Run, call: int) -> list:
    if call == 1:
        return way.states[0]
    return [i.values(call) for i in program.inputs if i.shared]


def _given(program: Program, way: Run, call: int) -> dict:
    states = iter(_states_before(program, way, call))
    return {
        program.variables[i.name]: next(states) if i.shared else i.values(2 if call == 2 else 0) for i in program.inputs
    }


def _compare(program: Program, call: int, runs: dict[str, Run]) -> bool:
    """Compare one call of each way, from its own state; False if what comes after it cannot be compared."""
    shared = [i.name for i in program.inputs if i.shared]
    names = program.outputs + [program.updates.get(n, n) for n in shared]
    variables = [program.variables[n] for n in names]
    certain = True
    for way, r in runs.items():
        given = _given(program, r, call)
        observed = r.results[call] + r.states[call]
        outcome = _complain(f"call {call}, {way}", names, variables, given, observed, relaxed=way != "plain")
        if outcome is None:
            return False
        certain &= not program.updates or not any(u.any() for u in outcome.uncertain)
        if not outcome.trace.finite and way != "plain":
            # Rules may give better results than the program as written: the rewritten graph says which.
            fgraph = r.function.maker.fgraph
            by_name = {variable.name: value for variable, value in given.items()}
            known = {v: by_name[v.name] for v in fgraph.inputs}
            count = len(program.outputs)
            _complain(f"call {call}, {way}, rewritten graph", names, fgraph.outputs[:count], known, observed[:count])
    return certain


def _complain(where: str, names, variables, given: dict, observed: list, relaxed: bool = False):
    """Compare what was observed with an evaluation of the variables; None if nothing can be said."""
    complaints: list[str] = []
    # Errors may cancel by chance in a few noisy evaluations, and sums that are exact may be taken in another order.
    for runs, exact in (4, True), (40, False):
        outcome = conditioned(list(variables), given, runs=runs, exact=exact)
        if outcome.trace.undefined or not outcome.stable:
            return None
        finite_only = relaxed and not outcome.trace.finite
        if finite_only and outcome.trace.decided:
            return outcome
        found = [difference(outcome, k, value, finite_only) for k, value in enumerate(observed)]
        complaints = [f"{where}, {names[k]}: {text}" for k, text in enumerate(found) if text]
        if not complaints:
            return outcome
    raise Disagreement("\n".join(complaints))
