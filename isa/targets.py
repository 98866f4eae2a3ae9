"""Compilation targets (`.target` strings), their limits, and what "requires sm_X" means.

PTX ISA, "PTX Module Directives: .target"; CUDA Programming Guide, "Compute Capabilities"; the
architecture traits of CCCL for sm_88, sm_103, sm_110 and sm_121; and the CUDA toolkit's
cuda_occupancy.h for the CTAs of an SM.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from types import MappingProxyType
from typing import NamedTuple

from .errors import TilecError, UnknownNameError
from .plugins import plugins
from .versions import PtxVersion


class Scope(StrEnum):
    """How far code for a target carries, by the suffix of its name."""

    PLAIN = ""
    """Runs on this and every later architecture."""
    FAMILY = "f"
    """Runs on this and later members of the same family."""
    ARCHITECTURE = "a"
    """Runs on exactly this architecture."""


@dataclass(frozen=True, slots=True)
class Target:
    """One `.target` string.

    Attributes:
        name: as PTX writes it, such as `sm_90a`.
        number: the architecture's number, 90.
        scope: what its suffix promises.
        family: number of the family's first member; 0 where there is no family.
        min_ptx: the first PTX version that knows the string.
        shared_per_cta: shared memory a CTA may use, opted in, in bytes.
        shared_per_sm: shared memory of an SM in bytes.
        warps_per_sm: resident warps.
        ctas_per_sm: resident CTAs.
        registers_per_sm: 32-bit registers of an SM.
        registers_per_thread: the most a thread can have.
        threads_per_cta: the most a CTA can have.
    """

    name: str
    number: int
    scope: Scope
    family: int
    min_ptx: PtxVersion
    shared_per_cta: int
    shared_per_sm: int
    warps_per_sm: int
    ctas_per_sm: int
    registers_per_sm: int = 65536
    registers_per_thread: int = 255
    threads_per_cta: int = 1024

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"<{self.name}>"

    def registers_at_entry(self, threads: int) -> int:
        """Registers of each thread when a CTA that takes the SM for itself begins, in eights."""
        return min(self.registers_per_thread, self.registers_per_sm // threads // 8 * 8)

    @property
    def has_async_copy(self) -> bool:
        """Whether it has `cp.async` (PTX ISA, "cp.async": Target ISA Notes)."""
        return _ASYNC_COPY.covers(self)

    @property
    def has_redux(self) -> bool:
        """Whether it has `redux.sync` of integers (PTX ISA, "redux.sync": Target ISA Notes)."""
        return _REDUX.covers(self)

    @property
    def has_tensor_memory(self) -> bool:
        """Whether it has tensor memory."""
        return any(clause.covers(self) for clause in _TENSOR_MEMORY)

    @property
    def reserved_shared(self) -> int:
        """Bytes of shared memory that the system keeps of each CTA (CUDA Programming Guide)."""
        return 1024 if self.number >= 80 else 0

    @property
    def shared_unit(self) -> int:
        """Bytes by which shared memory is given to CTAs (cuda_occupancy.h)."""
        return 128 if self.number >= 80 else 256

    @property
    def static_shared(self) -> int:
        """Bytes of shared memory that need no opt-in at launch."""
        return 48 * 1024

    def runs_on(self, gpu: Target) -> bool:
        """Whether a GPU, given as the most special target that it has, runs code for this one."""
        return Since(self.name, self.min_ptx).covers(gpu)


def _targets() -> tuple[Target, ...]:
    # number: KiB of shared memory a CTA, an SM; warps, CTAs an SM; first PTX of the plain,
    # `a` and `f` strings; family
    rows: dict[int, tuple[int, int, int, int, str, str, str, int]] = {
        70: (96, 96, 64, 32, "6.0", "", "", 0),
        72: (96, 96, 64, 32, "6.1", "", "", 0),
        75: (64, 64, 32, 16, "6.3", "", "", 0),
        80: (163, 164, 64, 32, "7.0", "", "", 0),
        86: (99, 100, 48, 16, "7.1", "", "", 0),
        87: (163, 164, 48, 16, "7.4", "", "", 0),
        88: (99, 100, 48, 16, "9.0", "", "", 0),
        89: (99, 100, 48, 24, "7.8", "", "", 0),
        90: (227, 228, 64, 32, "7.8", "8.0", "", 0),
        100: (227, 228, 64, 32, "8.6", "8.6", "8.8", 100),
        101: (227, 228, 48, 24, "8.6", "8.6", "8.8", 110),  # renamed sm_110 in PTX 9.0
        103: (227, 228, 64, 32, "8.8", "8.8", "8.8", 100),
        107: (227, 228, 64, 32, "9.4", "9.4", "9.4", 100),  # limits: sm_100's, its own unpublished
        110: (227, 228, 48, 24, "9.0", "9.0", "9.0", 110),
        120: (99, 100, 48, 24, "8.7", "8.7", "8.8", 120),
        121: (99, 100, 48, 24, "8.8", "8.8", "8.8", 120),
    }
    return tuple(
        Target(
            name=f"sm_{number}{scope}",
            number=number,
            scope=scope,
            family=family,
            min_ptx=PtxVersion.parse(version),
            shared_per_cta=cta * 1024,
            shared_per_sm=sm * 1024,
            warps_per_sm=warps,
            ctas_per_sm=ctas,
        )
        for number, (cta, sm, warps, ctas, plain, arch, fam, family) in rows.items()
        for scope, version in zip(
            (Scope.PLAIN, Scope.ARCHITECTURE, Scope.FAMILY), (plain, arch, fam), strict=True
        )
        if version
    )


TARGETS = MappingProxyType({t.name: t for t in _targets()})
"""Every target, by name, in ascending order of architecture."""


DEFAULT_TARGET = "sm_80"
"""Of a program that names none: the first with `cp.async`, and `mma` on bf16 and f64."""


def target(name: str) -> Target:
    """The target called `name`, of tilec or registered as `tilec.targets` by another package.

    `sm90a` is taken for `sm_90a`.

    Raises:
        UnknownNameError: if there is none.
        PluginError: if the other package's is none.
    """
    return TARGETS.get(name) or TARGETS.get(_spelled(str(name))) or _registered(str(name))


def _spelled(name: str) -> str:
    """A name that lacks its underscore, with it."""
    return f"sm_{name[2:]}" if name[:2] == "sm" and name[2:3].isdigit() else name


@cache
def _registered(name: str) -> Target:
    plugin = plugins("tilec.targets").get(name)
    if plugin is None:
        raise UnknownNameError("target", name, (*TARGETS, *plugins("tilec.targets")))
    found = plugin.load()
    if not isinstance(found, Target):
        raise plugin.wrong(f"which is of type {type(found).__name__}, not Target")
    if found.name != name:
        raise plugin.wrong(f"whose name is '{found.name}'")
    return found


class Since(NamedTuple):
    """One clause of a form's "Target ISA Notes": from this PTX version on, on these targets.

    Attributes:
        target: `sm_80` stands for itself and every later architecture, `sm_120a` for exactly
            that one, `sm_120f` for later members of its family too (their `a` strings included).
        ptx: the first PTX version.
    """

    target: str
    ptx: PtxVersion

    @classmethod
    def of(cls, target: str, ptx: str) -> Since:
        """`Since` from two strings."""
        if not re.fullmatch(r"sm_\d+[af]?", target):
            raise UnknownNameError("target", target, TARGETS)
        return cls(target, PtxVersion.parse(ptx))

    def covers(self, target: Target) -> bool:
        """Whether the clause speaks of `target`, whatever the PTX version."""
        wanted = TARGETS[self.target]
        match wanted.scope:
            case Scope.PLAIN:
                return target.number >= wanted.number
            case Scope.ARCHITECTURE:
                return target.name == wanted.name
            case Scope.FAMILY:
                return (
                    target.scope is not Scope.PLAIN
                    and target.family == wanted.family
                    and _position(target) >= _position(wanted)
                )


ASYNC_COPY_BYTES = (4, 8, 16)
"""Sizes that `cp.async` copies. PTX ISA, "cp.async"."""
_ASYNC_COPY = Since.of("sm_80", "7.0")
_REDUX = Since.of("sm_80", "7.0")
TENSOR_MEMORY = ("sm_100a", "sm_101a", "sm_110a", "sm_100f", "sm_101f", "sm_110f")
"""Targets with tensor memory, architectures and families (PTX ISA, "tcgen05.alloc")."""
_TENSOR_MEMORY = tuple(Since.of(name, "8.6") for name in TENSOR_MEMORY)


def _position(target: Target) -> int:
    """Place within the family; sm_101 and sm_110 are one architecture under two names."""
    return 110 if target.number == 101 else target.number


H200_SMS = 132
"""SMs of an H200, a GPU of sm_90 (NVIDIA H200 data sheet)."""


def min_ptx(clauses: tuple[Since, ...], target: Target) -> PtxVersion | None:
    """The lowest PTX version with which one of `clauses` holds on `target`; None if none does."""
    versions = [max(c.ptx, target.min_ptx) for c in clauses if c.covers(target)]
    return min(versions, default=None)


class Available:
    """What some targets have, from a PTX version on.

    Attributes:
        ptx: its name.
        since: targets and PTX versions, one clause each.
    """

    __slots__ = ()

    ptx: str
    since: tuple[Since, ...]

    def min_ptx(self, target: Target) -> PtxVersion | None:
        """The lowest PTX version with which `target` has it; None if it never does."""
        return min_ptx(self.since, target)

    def require(self, target: Target) -> PtxVersion:
        """The lowest PTX version with which `target` has it.

        Raises:
            TilecError: if it never does, naming the targets that do.
        """
        found = self.min_ptx(target)
        if found is None:
            where = ", ".join(f"{t} from PTX {v}" for t, v in self.targets.items())
            raise TilecError(f"{self.ptx} is not available on {target}; it is available on {where}")
        return found

    @property
    def targets(self) -> dict[str, PtxVersion]:
        """The target of each clause and the lowest PTX version with which it has it."""
        return {s.target: max(s.ptx, TARGETS[s.target].min_ptx) for s in self.since}
