"""Programmatic dependent launch: waits for kernels before this one, by each role for itself."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from tilec.ir.aliases import Op
from tilec.ir.mlir import ir
from tilec.ir.ops.nvvm import DEPENDENCE, Dependence, dependence_of

from ..kernel_pass import Kernel


class Waits(NamedTuple):
    """What threads that load wait for, by a wait of their own: it may be early, and repeated.

    Attributes:
        top: a wait at the kernel's top, in front of its loops; None without one.
        before: one in the loop over tiles, or in the `scf.if`, in front of the loop, or in it.
        behind: one in the loop over tiles, behind the loop.
    """

    top: ir.Operation | None
    before: ir.Operation | None
    behind: ir.Operation | None


NO_WAITS = Waits(None, None, None)


def dependences(kernel: Kernel) -> frozenset[ir.Operation]:
    """The ops of a kernel that wait for kernels before it, or let those behind begin.

    Neither keeps its place among what other threads load: who loads waits as well, and kernels
    behind wait for the end of this one before they read what it stores.
    """
    return frozenset(op.operation for op in kernel.named(DEPENDENCE))


def waits_around(kernel: Kernel, loop: ir.Operation, around: ir.Operation | None) -> Waits:
    """The waits of a kernel, by where they stand to a loop of products.

    Args:
        kernel: the kernel.
        loop: its loop of products.
        around: the loop over tiles, or the `scf.if`, at the kernel's top in which that stands.
    """
    waits = [op for op in dependences(kernel) if dependence_of(op) is Dependence.WAIT]
    if not waits:
        return NO_WAITS
    if around is None:
        before, _ = _apart(loop.block.operations, loop)
        return Waits(_first(waits, [*before, loop]), None, None)
    before, _ = _apart(around.block.operations, around)
    inner = around.regions[0].blocks[0].operations
    ahead, behind = _apart(inner, loop)
    own = loop.parent
    if own is not None and own.operation != around:  # in an `scf.if` of the loop over tiles
        ahead, behind = _apart(inner, own.operation)
        within, after = _apart(loop.block.operations, loop)
        ahead, behind = [*ahead, *within], [*after, *behind]
    return Waits(_first(waits, before), _first(waits, [*ahead, loop]), _first(waits, behind))


def wait_again(wait: ir.Operation | None) -> None:
    """The same wait here, if there is one."""
    if wait is not None:
        wait.clone()


def _apart(ops: Iterable[Op], op: ir.Operation) -> tuple[list[ir.Operation], list[ir.Operation]]:
    """The ops of a block in front of one of them, and behind it."""
    listed = [one.operation for one in ops]
    at = listed.index(op) if op in listed else len(listed)
    return listed[:at], listed[at + 1 :]


def _first(waits: list[ir.Operation], ops: list[ir.Operation]) -> ir.Operation | None:
    """One of the waits that ops are, or hold."""
    for wait in waits:
        inside: ir.Operation | None = wait
        while inside is not None:
            if inside in ops:
                return wait
            parent = inside.parent
            inside = None if parent is None else parent.operation
    return None
