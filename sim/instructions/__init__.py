"""Instructions bound to steps: one file a kind, each declaring the opcodes that it binds.

What none of them declares computes on registers alone and is `tilec.sim.alu`'s.
"""

from __future__ import annotations

from ..binding import Binding
from ..machine import Step
from ..ptx.module import Instruction
from ..taint.flows import Finder
from . import (  # noqa: F401 (they declare what they bind)
    arithmetic,
    async_copy,
    atomics,
    barriers,
    branches,
    calls,
    cluster,
    launch_control,
    matrix,
    mbarrier,
    memory,
    moves,
    register_count,
    tcgen05,
    tensor_maps,
    video,
    warp,
    wgmma,
)
from .registry import binder, flow


def bind(binding: Binding) -> Step:
    """The step of an instruction."""
    return (binder(binding.instruction) or arithmetic.bind)(binding)


def undefined(found: Instruction) -> Finder:
    """How undefined bits go through an instruction."""
    return flow(found) or arithmetic.flow(found)
