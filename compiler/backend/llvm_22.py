"""What LLVM 22, which generates code, needs said differently than MLIR's newer LLVM says it.

Each rewrite is one entry of `REWRITES`, for LLVM IR, or `with_version`, for PTX. Their tests,
`test/unit/compiler/test_llvm_22.py`, show of each that LLVM 22 refuses the text without it, or
makes wrong code of it: when a newer llvmlite fails such a test, its rewrite has had its day.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from tilec.isa import PtxVersion, Scope, Target

from .constants import with_constants

NEWEST = PtxVersion(9, 0)
"""The newest PTX version that LLVM 22 writes."""


class Rewrite(NamedTuple):
    """One thing that is said differently.

    Attributes:
        name: what.
        apply: the text of a module, rewritten.
    """

    name: str
    apply: Callable[[str], str]


def without_intrinsic_attributes(text: str) -> str:
    """Intrinsics declared without attributes, among which may be words newer than LLVM 22.

    It has its own attributes of the intrinsics that it knows. `nocreateundeforpoison` was such a
    word for LLVM 21.
    """
    text = re.sub(r"(\ndeclare [^\n]*@llvm\.[^\n]*?) #\d+(?=\n)", lambda m: m[1], text)
    functions, end, groups = text.rpartition("\n}")
    used = set(re.findall(r" (#\d+)(?=[ ,\n])(?! =)", text))
    groups = re.sub(r"\nattributes (#\d+) .*", lambda m: m[0] if m[1] in used else "", groups)
    return f"{functions}{end}{groups}"


def with_convergent_assembly(text: str) -> str:
    """Inline assembly marked `convergent`, which MLIR's LLVM dialect has no word for.

    It may hold a warp's matrix instruction or a barrier, which LLVM would sink under a divergent
    branch.
    """
    if " asm sideeffect " not in text:
        return text
    return re.sub(
        r"( asm sideeffect .*\))((?: #\d+)?(?:, !.*)?)$",
        lambda m: f"{m[1]} convergent{m[2]}",  # a template takes longer
        text,
        flags=re.M,
    )


_BY_A_VALUE = re.compile(r"sh[lr][ a-z]* i64 [^ ,\n]+, %")
"""A shift of 64 bits by what is not a constant."""


def with_whole_counts(text: str) -> str:
    """Shifts of 64 bits by a count that is below 64 whatever it was: more is undefined anyway.

    Where a shift of 64 bits is chosen for counts below 64, and 0 for others, LLVM 22 takes the
    choice for what the instruction does by itself (`PerformSELECTShiftCombine` of NVPTX). But that
    reads 32 bits of the count: by 1 << 32 it would shift by 0.
    """
    if _BY_A_VALUE.search(text) is None:
        return text
    text, found = re.subn(
        r"^  %([\w.]+) = (shl|lshr)((?: \w+)*) i64 ([^ ,]+), (%[\w.]+)(?=$|,)",
        r"  %count.\1 = call i64 @llvm.umin.i64(i64 \5, i64 63)\n"
        r"  %\1 = \2\3 i64 \4, %count.\1",
        text,
        flags=re.M,
    )
    if found and "@llvm.umin.i64(i64, i64)" not in text:
        text += "\ndeclare i64 @llvm.umin.i64(i64, i64)\n"
    return text


REWRITES = (
    Rewrite("attributes of intrinsics", without_intrinsic_attributes),
    Rewrite("floating-point constants", with_constants),
    Rewrite("convergent inline assembly", with_convergent_assembly),
    Rewrite("counts of 64-bit shifts", with_whole_counts),
)


def for_llvm_22(text: str) -> str:
    """A module of LLVM IR as MLIR prints it, as LLVM 22 reads it."""
    for rewrite in REWRITES:
        text = rewrite.apply(text)
    return text


def with_version(ptx: str, needed: PtxVersion) -> str:
    """PTX that says the version that it needs, where that is above what LLVM 22 can write.

    What is newer is inline assembly, which LLVM only copies: the header is all that it writes
    for the version.
    """
    if needed <= NEWEST:
        return ptx
    return ptx.replace(f".version {NEWEST}\n", f".version {needed}\n", 1)


_STAND_INS = {107: 100}
"""Architectures that LLVM 22 does not know, for which it would write `.version 3.2`, and the first
of their family, whose code they run."""


def known_as(target: Target) -> str:
    """The target to generate code for: one whose every instruction `target` has too."""
    other = _STAND_INS.get(target.number)
    if other is None:
        return target.name
    # What only one architecture of the family has is inline assembly, which LLVM copies.
    return f"sm_{other}{'' if target.scope is Scope.PLAIN else Scope.FAMILY}"


def with_target(ptx: str, target: Target) -> str:
    """PTX that names its target, where code was generated for another."""
    other = known_as(target)
    if other == target.name:
        return ptx
    return ptx.replace(f".target {other}\n", f".target {target}\n", 1)
