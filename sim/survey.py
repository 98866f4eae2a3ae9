"""What a kernel's instructions say before it runs."""

from __future__ import annotations

from collections.abc import Iterable

from tilec.isa.types import TYPE_BITS

from .ptx.module import Function, Instruction, Integer

_ORDERS = frozenset(("volatile", "relaxed", "acquire"))


def waits_for_ctas(functions: Iterable[Function]) -> bool:
    """Whether CTAs may wait for each other (see `residency`)."""
    return any(_may_wait(i) for function in functions for i in function.body or ())


def _may_wait(instruction: Instruction) -> bool:
    words = instruction.modifiers
    if any(w.startswith("shared") for w in words):
        return False
    if instruction.opcode == "ld":
        return not _ORDERS.isdisjoint(words)
    return instruction.opcode == "atom" and "cas" in words


def shared_granule(functions: Iterable[Function]) -> int:
    """The smallest access to shared memory that there may be, in bytes, at most 16."""
    sizes = (_shared_size(i) for function in functions for i in function.body or ())
    return min(sizes, default=16)


def _shared_size(instruction: Instruction) -> int:
    """Bytes that an instruction moves at a time, if shared memory may be concerned; else 16."""
    words = instruction.modifiers
    elsewhere = not words or any(w in ("global", "const", "param", "local") for w in words[:-1])
    if elsewhere and instruction.opcode not in ("cp", "wmma"):
        return 16
    match instruction.opcode:
        case "ld" | "ldu" | "st" | "atom" | "red":
            count = next((int(w[1:]) for w in words if w in ("v2", "v4", "v8")), 1)
            return min(TYPE_BITS.get(words[-1], 8) // 8 * count, 16)
        case "cp":
            sizes = [o.value for o in instruction.operands if isinstance(o, Integer)]
            return min([8 if "mbarrier" in words else 16, *(n for n in sizes[:1] if n in (4, 8))])
        case "mbarrier":
            return 8
        case "wmma":
            return 1
    return 8 if words[-1] == "s4" else 16
