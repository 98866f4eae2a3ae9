"""Operands of one instruction, bound to slots of the machine."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from tilec.isa.wording import counted

from . import special
from .alu import Array
from .alu.bits import width
from .errors import UnsupportedInstructionError
from .frames import Frame
from .machine import Machine, Step
from .memory import (
    GLOBAL_BASE,
    LOCAL_WINDOW,
    RANK_OFFSET,
    RANK_SHIFT,
    SHARED_WINDOW,
    Space,
)
from .native.computes import Computes
from .native.loads import Mover
from .ptx.constants import wrapped
from .ptx.declarations import fit
from .ptx.module import (
    Address,
    Float,
    Instruction,
    Integer,
    Name,
    Negated,
    Operand,
    Sink,
    Vector,
)
from .registers import ZEROS
from .sync import Waits
from .widths import dtype_of

Locate = Callable[[], list[tuple[Space, Array, Array | None]]]
"""The spaces that an access touches, with offsets in each and the threads that touch it."""

_WINDOWS = {"global": GLOBAL_BASE, "shared": SHARED_WINDOW, "local": LOCAL_WINDOW}
_WIDEST = 64
"""Bits of the widest register that narrower types are read from and written to."""
_ADDRESS = 0xFFFFFFFF
"""The bits of an address of shared or local memory."""
_WINDOWED = ("shared", "shared::cluster", "local")
"""Spaces whose addresses have 32 bits."""
_SPACES = {
    "global": "global",
    "const": "const",
    "shared": "shared",
    "shared::cta": "shared",
    "shared::cluster": "shared::cluster",
    "local": "local",
}


class Binding:
    """One instruction on its way to a step.

    Attributes:
        frame: the call that it stands in.
        instruction: the instruction.
        machine: the machine.
        sync: what it has to wait for, or None; set by whoever binds the instruction.
        deferred: whether only the next product reads its result (see `chains`).
        queued: whether others may compute it while the block goes on (see `chains.runs`).
        read: slots of the registers that it reads, addresses excluded.
        addressed: slots of those that it takes addresses from.
        constants: operands that are not registers, with the slots of their values.
        written: slots of those that it writes.
        inner: what it does where its guard holds, once it is bound.
        guard: the slot of its guard, and what has a step done where that holds; None without.
        product: the product of warpgroups that it is, if it is one.
        computes: what it computes, of one that computes on registers alone.
        plain: whether its step does nothing beside.
        mover: has machine code execute it, of a load or store that may be.
        absent: of a shuffle, finds the threads that take the value of a lane that does not take
            part; None where there are none.
    """

    def __init__(self, frame: Frame, instruction: Instruction) -> None:
        self.frame = frame
        self.instruction = instruction
        self.machine: Machine = frame.program.machine
        self.sync: Waits | None = None
        self.deferred = False
        self.queued = False
        self.read: list[int] = []
        self.addressed: list[int] = []
        self.constants: list[tuple[Operand, int]] = []
        self.written: list[int] = []
        self.inner: Step | None = None
        self.guard: tuple[int, Callable[[Step], Step]] | None = None
        self.product: object = None
        self.computes: Computes | None = None
        self.plain = False
        self.mover: Mover | None = None
        self.absent: Callable[[], Array | None] | None = None
        self.based: tuple[int, int, int] | None = None
        self._before: list[Step] = []
        self._after: list[Step] = []

    @property
    def operands(self) -> tuple[Operand, ...]:
        """The instruction's operands."""
        return self.instruction.operands

    @property
    def modifiers(self) -> tuple[str, ...]:
        """The instruction's qualifiers."""
        return self.instruction.modifiers

    def error(self, reason: str) -> UnsupportedInstructionError:
        """An error at the instruction."""
        return self.frame.error(reason, self.instruction)

    def expect(self, *counts: int) -> tuple[Operand, ...]:
        """The operands, of which there must be one of these numbers."""
        if len(self.operands) not in counts:
            wanted = " or ".join(map(str, counts))
            raise self.error(
                f"'{self.instruction.mnemonic}' takes {counted(wanted, 'operand')}, not "
                f"{len(self.operands)}"
            )
        return self.operands

    @property
    def converts(self) -> bool:
        """Whether operands are converted before the instruction, or results after it."""
        return bool(self._before or self._after)

    def precede(self, step: Step) -> None:
        """Have something done each time before the instruction."""
        self._before.append(step)

    def complete(self, step: Step) -> Step:
        """A step together with the conversions of its operands."""
        if not self._before and not self._after:
            return step
        steps = (*self._before, step, *self._after)

        def run() -> None:
            for one in steps:
                one()

        return run

    # Registers

    def _register(self, name: Name) -> tuple[int, int, str] | None:
        if name.component:
            return None
        return self.frame.register(name.text, self.instruction.scope)

    def slot_of(self, name: str) -> int | None:
        """The slot of a register; None if there is none of that name."""
        found = self.frame.register(name, self.instruction.scope)
        return None if found is None else found[0]

    def compute(self, value: Callable[[], Array]) -> int:
        """The slot of a value computed each time before the instruction."""
        registers = self.machine.registers
        slot = self.machine.slot(ZEROS[32])

        def fill() -> None:
            registers[slot] = value()

        self._before.append(fill)
        return slot

    def register_bits(self, operand: Operand) -> int | None:
        """Width of a register; None of anything else."""
        if isinstance(operand, Name):
            found = self._register(operand)
            return found[1] if found else None
        return None

    def source(self, operand: Operand, type_: str) -> int:
        """The slot of a source operand read as a type; wider registers are truncated."""
        bits = width(type_)
        registers = self.machine.registers
        if isinstance(operand, Integer):
            value = self._integer(operand.value, bits)
            return self._constant(operand, self.machine.constant(value, bits))
        if isinstance(operand, Float):
            value = self._float(operand, type_, bits)
            return self._constant(operand, self.machine.constant(value, bits))
        if isinstance(operand, Negated):
            slot = self.source(operand.name, "pred")
            return self.compute(lambda: ~registers[slot])
        if isinstance(operand, Name):
            found = self._register(operand)
            if found is not None:
                slot, have, _ = found
                self.read.append(slot)
                if have == bits:
                    return slot
                if _WIDEST >= have > bits > 1:
                    dtype = dtype_of(bits)
                    return self.compute(lambda: registers[slot].astype(dtype))
                raise self.error(
                    f"register '{operand}' has {counted(have, 'bit')} where {type_} is read"
                )
            return self._constant(operand, self._named(operand, bits))
        raise self.error(
            f"an operand of '{self.instruction.mnemonic}' is not a register or constant"
        )

    def exact(self, operand: Operand, type_: str) -> int:
        """The slot of a source operand of an instruction that takes no wider registers."""
        have, bits = self.register_bits(operand), width(type_)
        if have not in (None, bits):
            raise self.error(
                f"'{self.instruction.mnemonic}' takes a register of {counted(bits, 'bit')}, and "
                f"'{operand}' has {have}"
            )
        return self.source(operand, type_)

    def _float(self, operand: Float, type_: str, bits: int) -> int:
        """The bits of a floating-point constant, or of what stands for it."""
        if self.machine.numerics != "algebraic":
            return fit(operand, type_ if bits > 1 else "b8")
        from . import float_registers  # noqa: PLC0415 (few launches ask for it)

        return float_registers.literal(operand)

    def _integer(self, value: int, bits: int) -> int:
        """An integer constant; in algebraic numerics what stands for the floats that it spells."""
        if self.machine.numerics != "algebraic":
            return value
        from . import float_registers  # noqa: PLC0415 (few launches ask for it)
        from .alu.algebraic import MOVES  # noqa: PLC0415

        if self.instruction.opcode not in MOVES:
            return value
        floats = self.frame.program.floats(self.frame.function)
        element = floats.element(self.operands[0])
        return value if element is None else float_registers.embedded(value, element, bits)

    def _constant(self, operand: Operand, slot: int) -> int:
        self.constants.append((operand, slot))
        return slot

    def _named(self, name: Name, bits: int) -> int:
        """A special register, or the address of a variable or function."""
        registers = self.machine.registers
        if special.is_special(name.text, name.component):
            if special.is_clock(name.text):
                machine, text = self.machine, name.text
                dtype = dtype_of(bits)
                return self.compute(lambda: special.clock(machine, text).astype(dtype))
            slot = self.machine.special(f"{name.text}.{name.component}".removesuffix("."))
            have = special.bits(name.text)
            if have == bits:
                return slot
            dtype = dtype_of(bits)
            return self.compute(lambda: registers[slot].astype(dtype))
        address = self.frame.address(name.text, self.instruction.scope)
        if address is not None:
            return self.machine.constant(address[1] + name.offset, bits)
        function = self.frame.program.placement.function_address(name.text)
        if function is not None:
            return self.machine.constant(function, bits)
        raise self.error(f"unknown name '{name}'")

    def target(self, operand: Operand, type_: str) -> int | None:
        """The slot of a destination; wider registers are extended; None of `_`."""
        if isinstance(operand, Sink):
            return None
        bits = width(type_)
        found = self._register(operand) if isinstance(operand, Name) else None
        if found is None:
            raise self.error(f"a destination of '{self.instruction.mnemonic}' is not a register")
        slot, have, _ = found
        self.written.append(slot)
        if have == bits:
            return slot
        if have < bits or bits == 1 or have > _WIDEST:
            raise self.error(
                f"register '{operand}' has {counted(have, 'bit')} where {type_} is written"
            )
        machine, registers = self.machine, self.machine.registers
        narrow = machine.slot(ZEROS[bits])
        wide = dtype_of(have)
        if type_[0] == "s":
            signed, wider = np.dtype(f"i{bits // 8}"), np.dtype(f"i{have // 8}")

            def extend() -> None:
                value = np.ascontiguousarray(registers[narrow]).view(signed).astype(wider)
                machine.write(slot, value.view(wide))

        else:

            def extend() -> None:
                machine.write(slot, registers[narrow].astype(wide))

        self._after.append(extend)
        return narrow

    def items(self, operand: Operand) -> tuple[Operand, ...]:
        """The elements of a vector operand; one of a scalar."""
        return operand.items if isinstance(operand, Vector) else (operand,)

    # Addresses

    def space(self, operand: Operand, names: tuple[str, ...] | None = None) -> str | None:
        """The state space of the access; None if the address is generic."""
        for word in names or self.modifiers:
            if word in _SPACES:
                return _SPACES[word]
            if word == "param" or word.startswith("param::"):
                return self._parameter_space(operand)
        return None

    def _parameter_space(self, operand: Operand) -> str:
        if isinstance(operand, Address) and operand.base is not None:
            found = self.frame.address(operand.base.text, self.instruction.scope)
            if found is not None:
                return "param" if found[0] == "global" else found[0]
        return "param" if self.frame.function.entry else "local"

    def base(self, operand: Operand) -> tuple[int, int, int]:
        """Slot, bits and constant offset of an address."""
        found = self.based = self._base(operand)
        return found

    def _base(self, operand: Operand) -> tuple[int, int, int]:
        if not isinstance(operand, Address):
            raise self.error(f"'{self.instruction.mnemonic}' takes an address in brackets")
        if operand.extra:
            raise self.error("tensor addresses are not simulated")
        if operand.base is None:
            return self.machine.constant(operand.offset, 64), 64, 0
        bits = self.register_bits(operand.base)
        if bits is None:
            return self.source(operand.base, "u64"), 64, operand.offset
        if bits not in (32, 64):
            raise self.error(
                f"address register '{operand.base}' has {counted(bits, 'bit')}, not 32 or 64"
            )
        slot = self.source(operand.base, f"u{bits}")
        self.addressed.append(self.read.pop())
        return slot, bits, operand.offset

    def offsets(self, operand: Operand, space: str) -> Callable[[], Array]:
        """Offsets in a state space, as int64."""
        slot, bits, extra = self.base(operand)
        registers = self.machine.registers
        if space in _WINDOWED:
            return _in_window(registers, slot, bits, extra)
        shift = wrapped(extra - GLOBAL_BASE)
        if space == "param" and bits < 64:
            return lambda: registers[slot].astype(np.int64) + extra
        if bits == 64:
            return lambda: registers[slot].view(np.int64) + shift
        return lambda: registers[slot].astype(np.int64) + shift

    def locate(self, operand: Operand, names: tuple[str, ...] | None = None) -> Locate:
        """Where an access goes: in the space that the qualifiers say, or by the address."""
        machine, memory = self.machine, self.machine.memory
        space = self.space(operand, names)
        clustered = machine.geometry.cluster_ctas > 1
        if space == "shared::cluster":
            if clustered:
                addresses = self.offsets(operand, space)
                return lambda: by_rank(machine, addresses(), machine.mask)
            space = "shared"
        if space is not None:
            offsets = self.offsets(operand, space)
            return lambda: [(memory.spaces[space], offsets(), machine.mask)]
        slot, bits, extra = self.base(operand)
        registers = machine.registers

        def generic() -> list[tuple[Space, Array, Array | None]]:
            address = registers[slot].astype(np.int64) + extra
            if int(address.min()) >= GLOBAL_BASE:
                return [(memory.spaces["global"], address - GLOBAL_BASE, machine.mask)]
            found = _by_window(machine, address)
            if not clustered:
                return found
            return [
                part
                for space, at, mask in found
                for part in (
                    by_rank(machine, at, mask) if space.name == "shared" else [(space, at, mask)]
                )
            ]

        del bits
        return generic


def _in_window(registers: list[Array], slot: int, bits: int, extra: int) -> Callable[[], Array]:
    """Offsets in a space whose addresses have 32 bits, and wrap there.

    PTX ISA, "Addresses as Operands": an address register wider than the addresses of its state
    space is truncated. Here only a carry out of 32 bits is, so that an address of another space
    is still seen to be one.
    """
    if bits == 32:
        added = np.uint32(extra & _ADDRESS)
        if not added:
            return lambda: registers[slot].astype(np.int64)
        return lambda: (registers[slot] + added).astype(np.int64)

    def offsets() -> Array:
        address = registers[slot].view(np.int64)
        if extra:
            address = address + extra
        if not int(np.bitwise_or.reduce(address, axis=None)) >> 32:
            return address
        high = address >> 32
        return np.where((high == 1) | (high == -1), address & _ADDRESS, address)

    return offsets


def by_rank(
    machine: Machine, address: Array, mask: Array | None
) -> list[tuple[Space, Array, Array | None]]:
    """Addresses of `.shared::cluster`: those of the thread's own CTA, and those of others."""
    spaces = machine.memory.spaces
    code = address >> RANK_SHIFT
    if not code.any():
        return [(spaces["shared"], address, mask)]
    rank = np.arange(machine.shape[0]).reshape(-1, 1, 1) % machine.geometry.cluster_ctas
    own = (code == 0) | (code == rank + 1)
    active = np.True_ if mask is None else mask
    mine, others = np.asarray(own & active), np.asarray(~own & active)
    found: list[tuple[Space, Array, Array | None]] = []
    if mine.any():
        found.append((spaces["shared"], np.where(own, address & RANK_OFFSET, 0), mine))
    if others.any() or not found:
        found.append((spaces["shared::cluster"], np.where(own, 0, address), others))
    return found


def _by_window(machine: Machine, address: Array) -> list[tuple[Space, Array, Array | None]]:
    """Generic addresses of several spaces; what lies in none is taken for global."""
    spaces = machine.memory.spaces
    found: list[tuple[Space, Array, Array | None]] = []
    active = np.True_ if machine.mask is None else machine.mask
    rest = np.broadcast_to(active, np.broadcast_shapes(address.shape, np.shape(active)))
    for name in ("shared", "local"):
        window = _WINDOWS[name]
        inside = rest & (address >= window) & (address < window + (1 << 32))
        if inside.any():
            found.append((spaces[name], address - window, inside))
            rest = rest & ~inside
    if rest.any() or not found:
        found.append((spaces["global"], address - GLOBAL_BASE, rest))
    if len(found) == 1 and machine.mask is None:
        space, offsets, mask = found[0]
        return [(space, offsets, None if mask is None or mask.all() else mask)]
    return found
