"""What kind of work an instruction is, for a timeline."""

from __future__ import annotations

from ..ptx.module import Instruction
from ..traits import traits
from .record import Kind

_SYNCHRONISE = frozenset(
    ("bar", "barrier", "mbarrier", "fence", "membar", "griddepcontrol", "setmaxnreg", "nanosleep")
)
_MOVE = frozenset(("ld", "st", "ldu", "atom", "red", "prefetch"))
_MATRIX_MOVES = frozenset(("ldmatrix", "stmatrix"))
_WAITS = frozenset(
    ("commit_group", "wait_group", "wait_all", "commit", "wait", "fence", "mbarrier")
)


def kind_of(instruction: Instruction) -> Kind:
    """What an instruction does."""
    opcode, modifiers = instruction.opcode, instruction.modifiers
    if is_product(instruction):
        return "tensor"
    if opcode in _MATRIX_MOVES or opcode == "wmma":
        return "shared"
    if opcode in _MOVE:
        return _space(modifiers)
    if opcode in _SYNCHRONISE:
        return "sync"
    if opcode in ("cp", "wgmma", "tcgen05"):
        if not _WAITS.isdisjoint(modifiers):
            return "sync"
        return "copy" if opcode == "cp" else "shared"
    return "other"


def is_product(instruction: Instruction) -> bool:
    """Whether tensor cores work on it."""
    opcode, modifiers = instruction.opcode, instruction.modifiers
    if opcode in ("wmma", "wgmma", "tcgen05"):
        return any(word.startswith("mma") for word in modifiers[:1])
    return opcode == "mma"


def polls(instruction: Instruction) -> bool:
    """Whether threads may issue it while they ask an mbarrier again and again."""
    return (
        traits(instruction).waits
        or kind_of(instruction) == "other"
        or instruction.opcode == "nanosleep"
    )


def _space(modifiers: tuple[str, ...]) -> Kind:
    spaces = {word.partition("::")[0] for word in modifiers}
    if "shared" in spaces:
        return "shared"
    return "other" if spaces & {"param", "const", "local"} else "global"
