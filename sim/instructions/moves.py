"""`mov`, address conversions, and instructions without effect here."""

from __future__ import annotations

import numpy as np

from ..alu import Array
from ..alu.bits import is_type, width
from ..binding import Binding
from ..machine import Step
from ..memory import GLOBAL_BASE, LOCAL_WINDOW, SHARED_WINDOW
from ..native.computes import Computes
from ..ptx.module import Vector
from ..taint.flows import move
from ..traits import PLAIN, First, Traits, Unit, unit_of_space
from ..widths import dtype_of
from .registry import instruction

_WINDOWS = {"shared": SHARED_WINDOW, "shared::cta": SHARED_WINDOW,
            "shared::cluster": SHARED_WINDOW, "local": LOCAL_WINDOW}  # fmt: skip
_FLAT = ("global", "const", "param", "param::entry", "param::func")


def elements(value: Array, bits: int) -> Array:
    """The elements of registers, low to high, along a new last axis."""
    return np.ascontiguousarray(value)[..., None].view(dtype_of(bits))


def packed(parts: list[Array], bits: int) -> Array:
    """Registers of so many bits from their elements, low to high."""
    together = np.stack(np.broadcast_arrays(*parts), axis=-1)
    return together.view(dtype_of(bits))[..., 0]


@instruction("mov", traits=PLAIN, undefined=move())
def _mov(binding: Binding) -> Step:
    target, source = binding.expect(2)
    type_ = binding.modifiers[-1] if binding.modifiers else ""
    if not is_type(type_):
        raise binding.error(f"'mov' of unknown type '.{type_}'")
    bits = width(type_)
    machine, registers = binding.machine, binding.machine.registers
    if isinstance(source, Vector) and isinstance(target, Vector):
        # `.v2`, `.v4`: element by element
        pairs = [
            (binding.target(t, type_), binding.source(s, type_))
            for t, s in zip(target.items, source.items, strict=True)
        ]

        def move() -> None:
            for to, from_ in pairs:
                if to is not None:
                    machine.write(to, registers[from_])

        return move
    if isinstance(source, Vector):
        each = f"b{bits // len(source.items)}"
        parts = [binding.source(item, each) for item in source.items]
        whole = binding.target(target, type_)
        kinds = (each,) * len(parts)
        binding.computes = Computes("pack", {}, (type_,), (whole,), kinds, tuple(parts))
        if whole is None:
            return lambda: None
        return lambda: machine.write(whole, packed([registers[p] for p in parts], bits))
    slot = binding.source(source, type_)
    if isinstance(target, Vector):
        share = bits // len(target.items)
        split = [binding.target(item, f"b{share}") for item in target.items]
        kinds = (f"b{share}",) * len(split)
        binding.computes = Computes("unpack", {}, kinds, tuple(split), (type_,), (slot,))

        def unpack() -> None:
            each = elements(registers[slot], share)
            for number, to in enumerate(split):
                if to is not None:
                    machine.write(to, each[..., number])

        return unpack
    to = binding.target(target, type_)
    binding.computes = Computes("mov", {}, (type_,), (to,), (type_,), (slot,))
    if to is None:
        return lambda: None
    return lambda: machine.write(to, registers[slot])


@instruction("cvta", traits=PLAIN)
def _cvta(binding: Binding) -> Step:
    target, source = binding.expect(2)
    type_ = binding.modifiers[-1]
    space = binding.modifiers[-2]
    if space not in _WINDOWS and space not in _FLAT:
        raise binding.error(f"'{binding.instruction.mnemonic}' of an unknown state space")
    to = binding.target(target, type_)
    slot = binding.source(source, type_)
    machine, registers = binding.machine, binding.machine.registers
    window = _WINDOWS.get(space, 0)
    if space.startswith("param") and not binding.frame.function.entry:
        window = LOCAL_WINDOW
    if to is None:
        return lambda: None
    shift = np.array(window, np.uint64).astype(dtype_of(width(type_)))
    if space.startswith("param") and window == 0 and type_.endswith("64"):
        # A parameter's address fits 32 bits, and may have come by a register of these.
        def widen() -> None:
            address = registers[slot]
            near = address < np.uint64(1 << 32)
            machine.write(to, np.where(near, address + np.uint64(GLOBAL_BASE), address))

        return widen
    if window == 0:
        binding.computes = Computes("mov", {}, (type_,), (to,), (type_,), (slot,))
        return lambda: machine.write(to, registers[slot])
    how, kinds = "sub" if "to" in binding.modifiers else "add", (type_, type_)
    by = machine.constant(window, width(type_))
    binding.computes = Computes(how, {"type": type_}, (type_,), (to,), kinds, (slot, by))
    if "to" in binding.modifiers:
        return lambda: machine.write(to, registers[slot] - shift)
    return lambda: machine.write(to, registers[slot] + shift)


@instruction("isspacep", traits=PLAIN)
def _isspacep(binding: Binding) -> Step:
    target, source = binding.expect(2)
    space = binding.modifiers[-1]
    machine, registers = binding.machine, binding.machine.registers
    to = binding.target(target, "pred")
    slot = binding.source(source, "u64")
    if to is None:
        return lambda: None
    if space in _WINDOWS:
        low = _WINDOWS[space]
        high = low + (1 << 32)
    elif space in ("global", "const", "param"):
        low, high = GLOBAL_BASE, 1 << 62
    else:
        raise binding.error(f"'isspacep' of '.{space}' is not simulated")
    return lambda: machine.write(to, (registers[slot] >= low) & (registers[slot] < high))


@instruction(
    *("prefetch", "prefetchu", "applypriority", "discard"), traits=PLAIN, unit=unit_of_space
)
@instruction("pmevent", traits=PLAIN, unit=Unit.CONTROL)
@instruction("griddepcontrol", traits=PLAIN, unit=Unit.SYNC)
@instruction("nanosleep", traits=Traits(first=First.SOURCE), unit=Unit.SYNC)
def _nothing(binding: Binding) -> Step:
    del binding
    return lambda: None


@instruction("createpolicy", traits=PLAIN)
def _policy(binding: Binding) -> Step:
    """`createpolicy`: a cache policy is never looked at."""
    machine = binding.machine
    to = binding.target(binding.operands[0], "b64")
    zero = machine.registers[machine.constant(0, 64)]
    return lambda: machine.write(to, zero) if to is not None else None
