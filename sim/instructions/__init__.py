"""Instructions bound to steps: one file a kind, each declaring the opcodes that it binds.

What none of them declares computes on registers alone and is `tilec.sim.alu`'s.
"""

from __future__ import annotations

from ..binding import Binding
from ..machine import Step
from ..ptx.module import Instruction
from ..taint.flows import Finder
from . import arithmetic
from .registry import binder, flow


def bind(binding: Binding) -> Step:
    """The step of an instruction."""
    return (binder(binding.instruction) or arithmetic.bind)(binding)


def undefined(found: Instruction) -> Finder:
    """How undefined bits go through an instruction."""
    return flow(found) or arithmetic.flow(found)
