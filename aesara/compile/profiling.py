"""Profiles as users meet them: the ``profile`` argument of functions, and what is printed when the program ends.

`ProfileStats` itself, which holds what is measured, is defined in `profile_stats`.
"""

from __future__ import annotations

import atexit
import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import IO, Any

from aesara import clock
from aesara.compile.profile_stats import PRINTED_AT_EXIT, PRINTERS, ProfileStats
from aesara.compile.profile_stats import profile_at_zero as _profile_at_zero  # noqa: F401 - older pickles name it
from aesara.configdefaults import config


@contextlib.contextmanager
def extended_open(filename: str, mode: str = "r") -> Iterator[IO[str]]:
    """Open a file, or take the standard stream that ``'stdout'`` or ``'stderr'`` names, which stays open.

    Examples
    --------
    >>> with extended_open("stdout", "w") as file:
    ...     _ = file.write("text")
    text
    """
    if filename in ("<stdout>", "stdout"):
        yield sys.stdout
    elif filename in ("<stderr>", "stderr"):
        yield sys.stderr
    else:
        with open(filename, mode, encoding="utf-8") as file:
            yield file


def register_profiler_printer(fct: Callable[..., object]) -> Callable[..., Any]:
    """Have a function called at the end of each summary; can be used as a decorator.

    Parameters
    ----------
    fct
        Called as ``fct(message, compile_time, fct_call_time, apply_time, apply_cimpl, output_size, file=file)``, with
        the attributes of `ProfileStats` of these names.
    """
    if not callable(fct):
        raise TypeError(f"register_profiler_printer takes a function, got {fct!r}.")
    PRINTERS.append(fct)
    return fct


def as_profile(profile: ProfileStats | bool | str | None, name: str | None) -> ProfileStats:
    """The profile that an argument of `aesara.function` asks for.

    Parameters
    ----------
    profile
        True; a text, which becomes the profile's message; or a profile.
    name
        The function's name.
    """
    if profile is True:
        return ProfileStats(message=name)
    if isinstance(profile, str):
        return ProfileStats(message=profile)
    if isinstance(profile, ProfileStats):
        return profile
    raise TypeError(f"`profile` must be True, False, a text or a ProfileStats, got {profile!r}.")


def print_global_stats() -> None:
    """Print the calls and times of all profiled functions together to ``config.profiling__destination``."""
    profiles = list(dict.fromkeys(PRINTED_AT_EXIT))
    calls = sum(one.fct_callcount for one in profiles)
    in_calls, compiling = (sum(getattr(p, name) for p in profiles) for name in ("fct_call_time", "compile_time"))
    with extended_open(config.profiling__destination, "a") as file:
        print("=" * 50, file=file)
        print(
            f"Global stats: Time elapsed since Aesara import = {clock.now() - clock.IMPORTED_AT:6.3f}s, "
            f"Time spent in {calls} calls of compiled functions = {in_calls:6.3f}s, "
            f"Time spent compiling Aesara functions = {compiling:6.3f}s",
            file=file,
        )
        print("=" * 50, file=file)


def _print_at_exit() -> None:
    """Print the summaries that were asked for, and their sum if there are several."""
    profiles = [one for one in dict.fromkeys(PRINTED_AT_EXIT) if one.fct_callcount or one.compile_time]
    if not profiles:
        return
    with extended_open(config.profiling__destination, "w") as file:
        for profile in profiles:
            profile.summary(file)
        if len(profiles) > 1 and all(profile.show_sum for profile in profiles):
            total = ProfileStats(atexit_print=False, message=f"Sum of all ({len(profiles)}) printed profiles at exit")
            for profile in profiles:
                total.absorb(profile)
            total.summary(file)


def _print_stats_at_exit() -> None:
    if config.print_global_stats:
        print_global_stats()


atexit.register(_print_stats_at_exit)
atexit.register(_print_at_exit)  # runs first

__all__ = ["ProfileStats", "config", "extended_open", "print_global_stats", "register_profiler_printer"]
