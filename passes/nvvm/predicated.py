"""Instructions on memory that a predicate guards: without a branch, as PTX has them.

LLVM has none for NVPTX, so they are inline assembly, ordered with all other accesses to memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from tilec.ir.aliases import Type, Value
from tilec.ir.ops import llvm
from tilec.ir.state import per_context

from .addresses import Address
from .registers import Packing

_CONSTRAINTS = {8: "h", 16: "h", 32: "r", 64: "l"}
"""The registers that hold operands of so many bits."""
_SPACES = {"!llvm.ptr<1>": ".global", "!llvm.ptr<3>": ".shared"}
_MEMORY = "~{memory}"
"""Keeps the order with other accesses to memory."""


def load(address: Address, moved: Packing, predicate: Value) -> list[Value]:
    """Load registers where a predicate holds; zeros where it does not.

    Args:
        address: a multiple of the bytes that are loaded.
        moved: how what is loaded lies in registers, 16 bytes at most.
        predicate: an i1.
    """
    count = moved.registers
    names = [f"${at}" for at in range(count)]
    zeros = "".join(f"mov.b{max(16, moved.bits)} {name}, 0;\n\t" for name in names)
    place = _place(address.bytes, count + 1)
    code = f"@${count} ld{_suffix(address, moved)} {_tuple(names)}, {place};"
    type_: Type = moved.type if count == 1 else llvm.struct([moved.type] * count)
    constraints = [*[f"={_CONSTRAINTS[moved.bits]}"] * count, "b", "l", _MEMORY]
    operands = [predicate, address.pointer]
    result = llvm.inline_asm(zeros + code, ",".join(constraints), operands, type_)
    if count == 1:
        return [result]
    return [llvm.extractvalue(result, [at], moved.type) for at in range(count)]


def store(address: Address, registers: Sequence[Value], moved: Packing, predicate: Value) -> None:
    """Store registers where a predicate holds.

    Args:
        address: a multiple of the bytes that are stored.
        registers: what is stored, 16 bytes at most.
        moved: how it lies in them.
        predicate: an i1.
    """
    update(f"st{_suffix(address, moved)}", address, registers, moved, predicate)


def update(
    instruction: str,
    address: Address,
    registers: Sequence[Value],
    moved: Packing,
    predicate: Value | None,
) -> None:
    """Emit `instruction [address], registers;`, where a predicate holds.

    Args:
        instruction: the mnemonic.
        address: where it goes.
        registers: its last operand, a vector of registers if there are several.
        moved: how elements lie in them.
        predicate: an i1; None to do it in any case.
    """
    guards = [] if predicate is None else [predicate]
    code, constraints = _update(
        instruction, address.bytes, len(guards), len(registers), _CONSTRAINTS[moved.bits]
    )
    llvm.inline_asm(code, constraints, [*guards, address.pointer, *registers], None)


@lru_cache(maxsize=1024)
def _update(
    instruction: str, bytes_: int, guards: int, registers: int, constraint: str
) -> tuple[str, str]:
    """The assembly of `update`, and its constraints: many of a kernel differ in operands only."""
    first = guards + 1
    names = [f"${at}" for at in range(first, first + registers)]
    code = f"{instruction} {_place(bytes_, guards)}, {_tuple(names)};"
    constraints = ["b"] * guards + ["l"] + [constraint] * registers
    return f"@$0 {code}" if guards else code, ",".join([*constraints, _MEMORY])


def fetch(
    instruction: str,
    address: Address,
    operands: Sequence[Value],
    moved: Packing,
    predicate: Value | None,
) -> Value:
    """Emit `instruction result, [address], operands;`; zero where a predicate does not hold.

    Args:
        instruction: the mnemonic.
        address: where it goes.
        operands: one register each.
        moved: how the one element of each, and of the result, lies in it.
        predicate: an i1; None to do it in any case.
    """
    held = _CONSTRAINTS[moved.bits]
    guards = [] if predicate is None else [predicate]
    first = len(guards) + 1
    names = ", ".join(f"${at}" for at in range(first + 1, first + 1 + len(operands)))
    code = f"{instruction} $0, {_place(address.bytes, first)}, {names};"
    zero = f"mov.b{max(16, moved.bits)} $0, 0;\n\t@$1 " if guards else ""
    result = "=&" if guards else "="
    constraints = [f"{result}{held}", *["b"] * len(guards), "l", *[held] * len(operands), _MEMORY]
    return llvm.inline_asm(
        zero + code, ",".join(constraints), [*guards, address.pointer, *operands], moved.type
    )


def _suffix(address: Address, moved: Packing) -> str:
    """State space, vector and type."""
    space = _space(address.pointer.type)
    vector = f".v{moved.registers}" if moved.registers > 1 else ""
    return f"{space}{vector}.b{moved.bits}"


@per_context()
def _space(pointer: Type) -> str:
    return _SPACES.get(str(pointer), "")


def _place(bytes_: int, operand: int) -> str:
    return f"[${operand}{f'+{bytes_}' if bytes_ else ''}]"


def _tuple(names: list[str]) -> str:
    return f"{{{', '.join(names)}}}" if len(names) > 1 else names[0]
