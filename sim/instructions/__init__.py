"""Instructions bound to steps: one file a kind, found by opcode.

What is not listed here computes on registers alone and is `tilec.sim.alu`'s.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from ..binding import Binding
from ..machine import Step
from . import (
    arithmetic,
    async_copy,
    atomics,
    barriers,
    calls,
    matrix,
    mbarrier,
    memory,
    moves,
    warp,
)

Binder = Callable[[Binding], Step]
"""Binds one instruction; raises `UnsupportedInstructionError` or `alu.Unsupported`."""

BINDERS: Mapping[str, Binder] = MappingProxyType(
    {
        **moves.BINDERS,
        **memory.BINDERS,
        **atomics.BINDERS,
        **warp.BINDERS,
        **barriers.BINDERS,
        **async_copy.BINDERS,
        **mbarrier.BINDERS,
        **matrix.BINDERS,
        **calls.BINDERS,
    }
)


def bind(binding: Binding) -> Step:
    """The step of an instruction."""
    return BINDERS.get(binding.instruction.opcode, arithmetic.bind)(binding)
