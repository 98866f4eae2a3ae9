"""The flow of every instruction, by its opcode."""

from __future__ import annotations

from collections.abc import Callable

from ..ptx.module import Instruction
from . import through_memory
from .flows import (
    Flow,
    Flowing,
    add,
    compare,
    convert,
    decide,
    decide_across,
    half_or_whole,
    mix_bits,
    mix_warps,
    move,
    select,
    shuffle,
)
from .products import multiply
from .warpgroups import multiply as multiply_warpgroups

Finder = Callable[[Flowing], Flow]

_FINDERS: dict[str, Finder] = {
    **dict.fromkeys(("mov", "brev"), move()),
    **dict.fromkeys(("shl", "shr"), move(2)),
    **dict.fromkeys(("shf", "prmt"), move(3)),
    "bfe": move(2, 3),
    "bfi": move(3, 4),
    "shfl": shuffle,
    "movmatrix": move(across=True),
    **dict.fromkeys(("selp", "slct"), select),
    **dict.fromkeys(("and", "or", "xor", "not", "lop3"), decide),
    **dict.fromkeys(("add", "sub"), add),
    "cvt": convert,
    "setp": compare,
    **dict.fromkeys(("ld", "ldu", "ldmatrix"), through_memory.load),
    **dict.fromkeys(("st", "stmatrix"), through_memory.store),
    **dict.fromkeys(("atom", "red"), through_memory.update),
    "match": mix_warps,
    "mma": multiply,
}

_HARMED = ("bar", "barrier", "mbarrier", "cp", "setmaxnreg", "tensormap", "fence", "membar")
"""Opcodes of which an undefined operand does harm, whatever becomes of the result."""


def finder(instruction: Instruction) -> Finder | None:
    """What finds the flow of an instruction; None of one of which undefined operands do harm."""
    opcode, words = instruction.opcode, instruction.modifiers
    if opcode in _HARMED or "async" in words:
        return None
    if opcode == "wmma":
        if words[0] == "mma":
            return multiply
        return through_memory.load if words[0] == "load" else through_memory.store
    if opcode == "wgmma":
        return multiply_warpgroups if words[0] == "mma_async" else half_or_whole
    if opcode == "vote":
        return mix_warps if "uni" in words else decide_across
    if opcode == "redux":
        if "xor" in words:
            return mix_bits
        return decide_across if {"and", "or"} & set(words) else mix_warps
    return _FINDERS.get(opcode, half_or_whole)
