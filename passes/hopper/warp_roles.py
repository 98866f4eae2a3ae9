"""What it takes to give warps roles: threads, and registers of each role."""

from __future__ import annotations

from typing import NamedTuple

from tilec.dialects.tile.attributes import PRODUCER
from tilec.ir.aliases import Op
from tilec.ir.attributes import given_attribute
from tilec.ir.mlir import ir
from tilec.isa import WARPGROUP_THREADS, Target, TilecError
from tilec.isa.limits import REGISTER_COUNTS
from tilec.isa.wording import counted

from ..analysis.costs import producer_registers

PRODUCERS = WARPGROUP_THREADS
"""Threads that load for others: a warpgroup, as registers are given to warpgroups."""
_UNIT = REGISTER_COUNTS.step


class WarpRoles(NamedTuple):
    """Registers of a thread of each role, by `setmaxnreg`.

    Attributes:
        threads: of the CTA, all roles together; of warpgroups that take tiles in turn, one.
        producer: registers of a thread that loads.
        consumer: registers of a thread that computes.
    """

    threads: int
    producer: int
    consumer: int

    @property
    def differ(self) -> bool:
        """Whether registers are dealt out anew."""
        return self.producer != self.consumer


def warp_roles(
    computing: int, accumulators: int, target: Target, turns: int = 1
) -> WarpRoles | None:
    """The roles of a CTA of which so many threads compute; None if it has no room for them.

    The registers that the CTA has at its entry are dealt out anew: PTX ISA, "setmaxnreg".

    Args:
        computing: threads that share tiles, whole warpgroups.
        accumulators: registers of each that hold accumulators.
        target: the target.
        turns: how often there are so many, each of which takes tiles in turn.
    """
    threads = computing * turns + PRODUCERS
    if threads > target.threads_per_cta or computing % WARPGROUP_THREADS:
        return None
    groups = computing * turns // WARPGROUP_THREADS
    entry = target.registers_at_entry(threads) // _UNIT * _UNIT
    producer = producer_registers(entry, groups, accumulators)
    left = (entry * (groups + 1) - producer) // groups // _UNIT * _UNIT
    consumer = min(left, REGISTER_COUNTS[-1])
    one = computing + PRODUCERS
    return WarpRoles(one, producer, consumer) if producer < entry <= consumer else None


def equal_roles(computing: int, target: Target) -> WarpRoles | None:
    """The roles of a CTA whose threads keep the registers that they have at its entry.

    Of one whose sums lie in tensor memory: no thread needs many.

    Args:
        computing: threads that compute.
        target: the target.
    """
    threads = computing + PRODUCERS
    if threads > target.threads_per_cta:
        return None
    entry = target.registers_at_entry(threads)
    return WarpRoles(threads, entry, entry)


def roles_of(branch: Op) -> WarpRoles:
    """The roles of a CTA, as the `scf.if` that holds the work of those that load has them.

    Raises:
        TilecError: if it does not say them.
    """
    numbers = given_attribute(branch, PRODUCER, ir.DenseI64ArrayAttr)
    fields = WarpRoles._fields
    if numbers is None or len(numbers) != len(fields):
        raise TilecError(
            f"{PRODUCER} has {counted(len(fields), 'number')}: threads of the CTA, and registers "
            "of a thread "
            "that loads and of one that computes"
        )
    return WarpRoles(*numbers)
