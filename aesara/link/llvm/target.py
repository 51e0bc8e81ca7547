"""Processors that code is compiled for: the present one, or a level that the option `native_target` names."""

from __future__ import annotations

import functools

import llvmlite.binding as llvm

from aesara.configdefaults import config
from aesara.errors import NativeTargetError
from aesara.records import dataclass

__all__ = ["ARM_LEVELS", "HAS_EXTREMA_OF_NUMBERS", "X86_LEVELS", "Target", "current_target", "target_named"]

#: whether LLVM's extrema that ignore NaN work: LLVM 20 (llvmlite 0.45 to 0.47) confuses minimum and maximum on x86
HAS_EXTREMA_OF_NUMBERS = llvm.llvm_version_info[0] >= 22

#: levels of x86-64 and the features that each adds to the previous one, in LLVM's names
X86_LEVELS = {
    "x86-64-v2": ("cx16", "popcnt", "sahf", "sse3", "sse4.1", "sse4.2", "ssse3"),
    "x86-64-v3": ("avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe"),
    "x86-64-v4": ("avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl"),
}
#: ARM processors: LLVM's name, its features, and the optional ones to check for
ARM_LEVELS = {
    "armv8-a": ("generic", "+v8a", ()),
    "armv8.2-a": ("generic", "+v8.2a", ("crc", "lse")),
    "armv9-a": ("generic", "+v9a", ("crc", "lse", "sve", "sve2")),
    "apple-m1": ("apple-m1", "", ("crc", "dotprod", "fullfp16", "lse")),
}


@dataclass(frozen=True)
class Target:
    """A processor to compile for.

    Attributes
    ----------
    name
        The value of the option `native_target`.
    triple, cpu, features
        LLVM's names.
    runs
        Whether this process can run the code; otherwise it is for another architecture, for inspection only.
    """

    name: str
    triple: str
    cpu: str
    features: str
    runs: bool

    @property
    def is_x86(self) -> bool:
        """True for x86-64."""
        return _is_x86(self.triple)

    def has(self, feature: str) -> bool:
        """Return whether an x86-64 processor has a feature, by LLVM's name."""
        if self.name in X86_LEVELS:
            return feature in _features_of(self.name)
        return f"+{feature}" in _feature_set(self.features)

    @property
    def multiplies_and_adds(self) -> bool:
        """True if it has fused multiply-add instructions."""
        return not self.is_x86 or self.has("fma") or self.has("fma4")

    @property
    def vector_bytes(self) -> int:
        """Size of its vectors in bytes."""
        return 64 if self.has("avx512f") else 32 if self.has("avx") else 16


def current_target() -> Target:
    """Return the target named by the option `native_target`.

    Raises
    ------
    NativeTargetError
        If this processor has the same architecture and lacks a feature of the target.
    """
    return target_named(config.native_target)


@functools.cache
def target_named(name: str) -> Target:
    """Return the target with a name; see `current_target`."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    triple, cpu, features = llvm.get_process_triple(), llvm.get_host_cpu_name(), llvm.get_host_cpu_features()
    if name == "native":
        return Target(name, triple, cpu, features.flatten(), True)
    for_x86 = name in X86_LEVELS
    system = triple.split("-", 1)[1]
    its_cpu, its_features, needed = (name, "", _features_of(name)) if for_x86 else ARM_LEVELS[name]
    if for_x86 != _is_x86(triple):
        llvm.initialize_all_targets()
        llvm.initialize_all_asmprinters()
        return Target(name, f"{'x86_64' if for_x86 else 'aarch64'}-{system}", its_cpu, its_features, False)
    if not (needed and cpu.startswith("apple-")):  # these have all features without reporting them
        missing = [feature for feature in needed if not features.get(feature)]
        if missing:
            raise NativeTargetError(
                f"The option native_target asks for code for {name}, but this processor ({cpu}) lacks "
                f"{', '.join(missing)}, so it could not run it. {_remedy(for_x86, features)}"
            )
    return Target(name, triple, its_cpu, its_features, True)


@functools.cache
def _feature_set(features: str) -> frozenset[str]:
    return frozenset(features.split(","))


def _remedy(for_x86: bool, features: llvm.FeatureMap) -> str:
    if for_x86:
        runs = [level for level in X86_LEVELS if all(features.get(feature) for feature in _features_of(level))]
    else:
        runs = [level for level, (*_, needed) in ARM_LEVELS.items() if all(map(features.get, needed))]
    lower = f" or one of {', '.join(runs)}" if runs else ""
    return f"Set it to native{lower}."


def _features_of(level: str) -> tuple[str, ...]:
    """Return all features of a level of x86-64 beyond the baseline."""
    found: tuple[str, ...] = ()
    for name, added in X86_LEVELS.items():
        found += added
        if name == level:
            break
    return found


def _is_x86(triple: str) -> bool:
    return triple.startswith(("x86_64", "amd64"))
