"""Loads, stores and atomics: what is undefined goes to shared and local memory, and comes back."""

from __future__ import annotations

import numpy as np
from tilec.isa.types import TYPE_BITS

from ..alu import Array
from ..ptx.module import Address, Operand
from ..traits import traits
from .flows import Flow, Flowing
from .marks import combined, resolved
from .shadow_memory import is_followed

_DEFINED = ("global", "const", "param", "param::entry")
"""Spaces that the host has filled."""


def _space(flowing: Flowing) -> str | None:
    address = next((o for o in flowing.binding.operands if isinstance(o, Address)), None)
    return None if address is None else flowing.binding.space(address)


def load(flowing: Flowing) -> Flow:
    """`ld`, `ldmatrix`, `wmma.load`."""
    taint, targets, replay = flowing.taint, flowing.targets, flowing.replay
    where = flowing.binding.instruction
    across = traits(where).matrix
    if _space(flowing) in _DEFINED:
        return lambda: taint.define(targets)

    def flow() -> None:
        results = replay.run({}, on_memory=True)
        if not any(bits.any() for bits in results.values()):
            taint.define(targets)
            return
        origin = np.zeros((1, 1, 1), np.int32)
        for space, offsets, size, legal, _ in taint.touched:
            origin = np.maximum(origin, taint.memory.origins(space, offsets, size, legal))
        origin = resolved(origin, where)
        if across:
            origin = np.asarray(origin.max(axis=2, keepdims=True))
        for slot, bits in results.items():
            taint.write(slot, bits, origin)

    return flow


def store(flowing: Flowing) -> Flow:
    """`st`, `stmatrix`, `wmma.store`."""
    taint, sources, replay = flowing.taint, flowing.sources, flowing.replay
    where = flowing.binding.instruction
    across = traits(where).matrix
    outside = _space(flowing) == "global"
    values = (*sources, *flowing.constants(1))

    def flow() -> None:
        if outside and not taint.any(sources):
            return
        threads, origin = combined(taint.of(where, sources))
        if across:
            origin = np.asarray(origin.max(axis=2, keepdims=True))
        replay.run(replay.shadows(values), on_memory=True)
        if not threads.any():
            return
        for space, offsets, size, legal, kind in taint.touched:
            if kind.writes:
                taint.memory.mark(space, offsets, size, legal, origin)
        for harmed in list(taint.harmed):
            taint.harm(where, harmed, origin, "stores to global memory")

    return flow


def update(flowing: Flowing) -> Flow:
    """`atom` and `red`: memory and what is found there depend on the operands and on memory."""
    binding, taint = flowing.binding, flowing.taint
    where, sources, targets = binding.instruction, flowing.sources, flowing.targets
    address: Operand = next(o for o in binding.operands if isinstance(o, Address))
    locate = binding.locate(address)
    types = [TYPE_BITS[word] for word in binding.modifiers if word in TYPE_BITS]
    size = types[-1] // 8 * len(binding.items(binding.operands[-1]))
    exchanges = "exch" in binding.modifiers

    def flow() -> None:
        threads, origin = combined(taint.of(where, sources))
        found: Array = np.zeros((1, 1, 1), np.bool_)
        for space, offsets, mask in locate():
            if not is_followed(space):
                chosen = threads if mask is None else threads & mask
                taint.harm(where, chosen, origin, "adds to global memory")
                found = found | chosen
                continue
            memory = taint.memory
            legal = memory.legal(space, offsets, size, mask)
            before = memory.origins(space, offsets, size, legal)
            dirty = threads & legal
            if exchanges:  # what was there is gone
                memory.set(space, offsets, size, legal, 0)
            else:
                dirty = dirty | (before != 0)
            if not (dirty.any() or before.any()):
                continue
            memory.set(space, offsets, size, dirty, 0xFF)
            memory.mark(space, offsets, size, dirty, np.maximum(resolved(before, where), origin))
            # A thread also finds what another one has put there in the same instruction.
            seen = np.maximum(before, memory.origins(space, offsets, size, legal))
            origin, found = np.maximum(resolved(seen, where), origin), found | (seen != 0)
        taint.write_whole(targets, found, origin)

    return flow
