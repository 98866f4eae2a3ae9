"""What an instruction asks of the parts of an SM, whatever its addresses are."""

from __future__ import annotations

from dataclasses import dataclass

from tilec.isa import LANES, WARPGROUP_WARPS, ExecutionScope, Target
from tilec.isa.latencies import Latencies, latencies
from tilec.isa.rates import Rates, rates

from ..matrix_forms import matrix_form
from ..ptx.module import Address, Instruction, operand_names
from ..traits import First, Unit, traits, unit

PARTS = 4
"""Parts of an SM, each of which issues an instruction in a cycle to units of its own."""
_FOLDED = frozenset({"mov", "cvta"})
_FLOATS = frozenset({"f16", "f16x2", "bf16", "bf16x2", "f32", "f32x2"})
_OF_FLOATS = frozenset({"add", "sub", "mul", "fma", "mad", "min", "max", "neg", "abs", "ex2"})


@dataclass(frozen=True, slots=True)
class Cost:
    """What an instruction of a warp takes.

    Attributes:
        pipe: the unit of its part that it goes to: `float32`, `float64`, `integer`, `special`,
            `tensor`; or empty.
        cycles: that this is busy.
        latency: from its issue to its result, without waiting for memory.
        free: whether the assembler leaves it out: moves of registers, and loads of parameters,
            which are operands of other instructions.
        queued: whether the warp goes on while the unit is busy with what came before.
        reads, writes: registers.
    """

    pipe: str
    cycles: float
    latency: float
    free: bool
    queued: bool
    reads: tuple[str, ...]
    writes: tuple[str, ...]


class Costs:
    """Costs on a target, by instruction.

    Attributes:
        known: how long instructions take there.
        rates: what its tensor cores and memory do in a cycle.
    """

    def __init__(self, target: Target) -> None:
        self.known: Latencies = latencies(target)
        self.rates: Rates = rates(target)
        self._of: dict[int, Cost] = {}

    def of(self, instruction: Instruction) -> Cost:
        """What an instruction takes."""
        found = self._of.get(instruction.position)
        if found is None:
            found = self._of[instruction.position] = self._cost(instruction)
        return found

    def _cost(self, instruction: Instruction) -> Cost:
        pipe, cycles, latency = self._time(instruction, unit(instruction))
        asynchronous = pipe == "tensor" and instruction.opcode in ("wgmma", "tcgen05")
        reads, writes = _registers(instruction)
        return Cost(
            pipe, cycles, latency, _is_free(instruction), asynchronous, reads,
            () if asynchronous else writes,
        )  # fmt: skip

    def _time(self, instruction: Instruction, to: Unit) -> tuple[str, float, float]:
        known = self.known
        if to is Unit.TENSOR:
            cycles = self.of_product(instruction)
            return "tensor", cycles, cycles + known.deep
        if to is Unit.SPECIAL:
            cycles = LANES * PARTS / known.special_lanes
            return "special", cycles, cycles + known.deep
        if to in (Unit.SHARED, Unit.EXCHANGE):
            return "", 0.0, known.shared
        if to is Unit.NEAR:
            return "", 0.0, known.l1
        if to is not Unit.ARITHMETIC:
            return "", 0.0, known.arithmetic
        types = set(instruction.modifiers)
        if "f64" in types:
            cycles = LANES * PARTS / known.float64_lanes
            return "float64", cycles, cycles + known.deep
        if types & _FLOATS and instruction.opcode in _OF_FLOATS:
            return "float32", LANES * PARTS / known.float32_lanes, known.arithmetic
        return "integer", LANES * PARTS / known.integer_lanes, known.arithmetic

    def of_product(self, instruction: Instruction) -> float:
        """Cycles that the tensor core of a part is busy with a warp's share of a product."""
        if not traits(instruction).matrix:
            return 0.0  # in tensor memory: by what its descriptor says
        form = matrix_form(instruction)
        if not form.flops:
            return 0.0
        of_warpgroups = form.scope is ExecutionScope.WARPGROUP
        bits = max(one.type.bits for one in form.operands if one.name in {"a", "b"})
        rate = self.rates.products(of_warpgroups=of_warpgroups, bits=bits) / PARTS
        return form.flops / 2 / (WARPGROUP_WARPS if of_warpgroups else 1) / rate

    def in_tensor_memory(self, flops: float) -> float:
        """Cycles that all tensor cores of an SM are busy with a `tcgen05` product of 16 bits."""
        return flops / 2 / self.rates.in_tensor_memory(16)


def _is_free(instruction: Instruction) -> bool:
    if instruction.guard is not None:
        return False
    if instruction.opcode == "ld":
        return "param" in instruction.modifiers
    special = any(name.startswith("%") and name[1:2].isalpha() and "." in name
                  for name in operand_names(instruction.operands[1:]))  # fmt: skip
    return instruction.opcode in _FOLDED and not special


def _registers(instruction: Instruction) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The registers that an instruction reads, and those that it writes."""
    reads = list(operand_names(instruction.operands[1:]))
    writes: list[str] = []
    if instruction.guard is not None:
        reads.append(instruction.guard)
    if instruction.operands:
        first = instruction.operands[0]
        names = list(operand_names((first,)))
        kind = First.SOURCE if isinstance(first, Address) else traits(instruction).first
        if kind is not First.RESULT:
            reads += names
        if kind is not First.SOURCE:
            writes += names
    return tuple(dict.fromkeys(reads)), tuple(writes)
