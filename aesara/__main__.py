"""The command line of the package: ``python -m aesara cache``."""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence

from aesara.configdefaults import config
from aesara.link.llvm.cache import ObjectCache, function_cache, object_cache

_DAY = 86400
_UNITS = {"K": 2**10, "M": 2**20, "G": 2**30}


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command; `arguments` are those of the process by default."""
    parser = argparse.ArgumentParser(prog="python -m aesara", description="Tools of the package.")
    commands = parser.add_subparsers(required=True)
    cache = commands.add_parser("cache", help="show the caches of compiled functions, or make them smaller")
    cache.set_defaults(run=show)
    actions = cache.add_subparsers()
    actions.add_parser("list", help="show their sizes (the default)").set_defaults(run=show)
    actions.add_parser("clear", help="remove all entries").set_defaults(run=clear)
    prune = actions.add_parser("prune", help="remove the least recently used entries")
    prune.add_argument("--size", type=_bytes, default=math.inf, help="of each cache, at most: 100M, say")
    prune.add_argument("--days", type=float, default=math.inf, help="since the last use, at most")
    prune.set_defaults(run=remove)
    chosen = parser.parse_args(arguments)
    chosen.run(chosen)


def show(chosen: argparse.Namespace) -> None:
    """Print the sizes of the caches."""
    print(config.native_cache_dir)
    for name, cache in _caches().items():
        entries = cache.entries()
        print(f"  {name}: {len(entries)} entries, {_size(sum(status.st_size for _, status in entries))}")


def clear(chosen: argparse.Namespace) -> None:
    """Remove all entries, and print how much that was."""
    _report({name: cache.prune(-1) for name, cache in _caches().items()})


def remove(chosen: argparse.Namespace) -> None:
    """Remove the least recently used entries, and print how much that was."""
    seconds = chosen.days * _DAY
    _report({name: cache.prune(chosen.size, seconds) for name, cache in _caches().items()})


def _report(removed: dict[str, int]) -> None:
    print(", ".join(f"{name}: {_size(number)} removed" for name, number in removed.items()))


def _caches() -> dict[str, ObjectCache]:
    found = {"functions": function_cache(), "objects": object_cache()}
    caches = {name: cache for name, cache in found.items() if cache is not None}
    if not caches:
        raise SystemExit("The caches are switched off by the option native_cache.")
    return caches


def _bytes(text: str) -> int:
    """Return the number of bytes that a text such as "100M" stands for."""
    unit = _UNITS.get(text[-1:].upper())
    return int(text) if unit is None else int(float(text[:-1]) * unit)


def _size(number: int) -> str:
    return f"{number / 2**20:.1f} MB"


if __name__ == "__main__":
    main()
