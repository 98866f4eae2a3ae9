"""`tcgen05.ld`, `.ld.red` and `.st`, bound: registers of warps from and to tensor memory.

PTX ISA 9.7.16.8.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, reduce

import numpy as np
from tilec.isa import LANES
from tilec.isa.operands import B32
from tilec.isa.tensor_memory import COLUMNS, lane_and_column
from tilec.isa.tensor_memory import LANES as TENSOR_LANES
from tilec.isa.tensor_moves import TensorMove
from tilec.isa.wording import counted
from tilec.layout.tensor_moves import moved

from .alu import Array
from .binding import Binding
from .ptx.module import Integer, Operand, Vector

_QUARTERS = 4


@lru_cache(maxsize=64)
def _places(form: TensorMove) -> tuple[Array, Array, Array]:
    """Lane, column and half of every element, (threads, elements)."""
    layout = moved(form)
    elements = form.fragment.elements
    found = layout(register=np.arange(elements)[None, :], lane=np.arange(LANES)[:, None])
    whole = [np.broadcast_to(one, (LANES, elements)) for one in found]
    half = whole[2] if len(whole) > 2 else np.zeros_like(whole[0])
    return np.asarray(whole[0]), np.asarray(whole[1]), np.asarray(half)


class TensorMoves:
    """One load or store.

    Attributes:
        form: its form.
        slots: its registers.
    """

    def __init__(self, binding: Binding, form: TensorMove) -> None:
        self.machine, self.instruction = binding.machine, binding.instruction
        if form.reduction and form.move.halves > 1:
            raise binding.error(
                f"'{form.ptx}' is not simulated: whether both halves are reduced together is not "
                "published"
            )
        self.form = form
        operands = list(binding.expect(2 + (form.move.halves > 1) + bool(form.reduction)))
        self._reduced, self._reduce = self._reduction(binding, operands)
        offset = 0
        if form.move.halves > 1:
            at = operands.pop(1 if form.is_store else 2)
            if not isinstance(at, Integer):
                raise binding.error(f"'{form.ptx}' takes a constant after its address")
            offset = at.value
        if form.is_store:
            operands.reverse()
        vector, address = operands
        self._address, bits, self._extra = binding.base(address)
        if bits != 32:
            raise binding.error("an address of tensor memory has 32 bits")
        self.slots = self._registers(binding, vector)
        lane, column, half = _places(form)
        self._lane, self._column = lane, column + half * offset

    def _reduction(
        self, binding: Binding, operands: list[Operand]
    ) -> tuple[int | None, Callable[[Array], Array] | None]:
        """The register of a reduction, taken out of the operands, and what makes its value."""
        if not self.form.reduction:
            return None, None
        operation, *words, type_ = self.form.reduction.split(".")
        resolve = binding.machine.resolve
        combine = resolve(operation, (*(word for word in words if word == "NaN"), type_))
        magnitude = resolve("abs", (type_,)) if "abs" in words else None

        def made(values: Array) -> Array:
            parts = values if magnitude is None else magnitude(values)
            return reduce(combine, np.moveaxis(parts, -1, 0))

        return binding.target(operands.pop(1), type_), made

    def _registers(self, binding: Binding, vector: Operand) -> list[int | None]:
        items = binding.items(vector)
        if len(items) != self.form.fragment.registers or not isinstance(vector, Vector):
            raise binding.error(
                f"'{self.form.ptx}' takes {counted(self.form.fragment.registers, 'register')} in "
                f"braces"
            )
        for item in items:
            if binding.register_bits(item) != B32.bits:
                raise binding.error(f"'{self.form.ptx}' takes registers of 32 bits, not '{item}'")
        if self.form.is_store:
            return [binding.source(item, "b32") for item in items]
        return [binding.target(item, "b32") for item in items]

    def step(self) -> None:
        """Execute it."""
        machine = self.machine
        if machine.observer is not None:
            machine.observer.whole_warps(self.instruction)
        warps = np.argwhere(machine.active().any(axis=2))
        if not len(warps):
            return
        lanes, columns, legal = self._reached(warps)
        if self.form.is_store:
            self._store(warps, lanes, columns, legal)
        else:
            self._load(warps, lanes, columns, legal)

    def _reached(self, warps: Array) -> tuple[Array, Array, Array]:
        """Lanes and columns of tensor memory, (warps, threads, elements), and which warps may."""
        machine = self.machine
        given = machine.full(machine.registers[self._address]).astype(np.int64) + self._extra
        each = given[warps[:, 0], warps[:, 1]]
        lane, column = lane_and_column(each[:, :1, None])
        lanes, columns = lane + self._lane, column + self._column
        legal = np.ones(len(warps), np.bool_)
        for number, (cta, warp) in enumerate(warps.tolist()):
            words = self._wrong(cta, warp, each[number], lanes[number], columns[number])
            legal[number] = not words
            if words and machine.observer is not None:
                machine.observer.blame("tensor-memory", self.instruction, (cta, warp, 0), words)
        return lanes % TENSOR_LANES, columns % COLUMNS, legal

    def _wrong(self, cta: int, warp: int, given: Array, lanes: Array, columns: Array) -> str:
        """What is wrong with where a warp reaches; empty if nothing is."""
        if (given != given[0]).any():
            return "has an address that is not the same in all lanes"
        own = LANES * (warp % _QUARTERS)
        if int(lanes.min()) < own or int(lanes.max()) >= own + LANES:
            return (
                f"reaches lanes {lanes.min()} to {lanes.max()} of tensor memory; warp {warp} has "
                f"{own} to {own + LANES - 1}"
            )
        column = self.machine.tensor.outside(cta, np.unique(columns))
        if column is not None:
            return f"reaches column {column} of tensor memory, which its CTA has not allocated"
        checks = self.machine.observer and self.machine.observer.tensor
        if checks:
            reached = np.unique(columns)
            if self.form.is_store:
                checks.stored(self.instruction, cta, warp, reached)
            else:
                checks.loaded(self.instruction, cta, warp, reached)
        return ""

    def _load(self, warps: Array, lanes: Array, columns: Array, legal: Array) -> None:
        machine, memory = self.machine, self.machine.tensor
        ctas = warps[:, 0][:, None, None]
        found = memory.data[ctas, lanes, columns]
        self._check_written(warps, lanes, columns, legal)
        if self.form.packed:
            halves = (found & 0xFFFF).reshape(*found.shape[:2], -1, 2)
            found = halves[..., 0] | halves[..., 1] << 16
        for number, slot in enumerate(self.slots):
            if slot is not None:
                value = np.zeros(machine.shape, np.uint32)
                value[warps[:, 0], warps[:, 1]] = found[:, :, number]
                machine.write(slot, value)
        if self._reduce is not None and self._reduced is not None:
            value = np.zeros(machine.shape, np.uint32)
            value[warps[:, 0], warps[:, 1]] = self._reduce(found)
            machine.write(self._reduced, value)

    def _check_written(self, warps: Array, lanes: Array, columns: Array, legal: Array) -> None:
        machine = self.machine
        if machine.observer is None:
            return
        blank = ~machine.tensor.written[warps[:, 0][:, None, None], lanes, columns]
        for number in np.flatnonzero(legal & blank.any(axis=(1, 2))).tolist():
            thread, element = np.argwhere(blank[number])[0].tolist()
            cta, warp = warps[number].tolist()
            lane, column = (
                int(lanes[number, thread, element]),
                int(columns[number, thread, element]),
            )
            machine.observer.blame(
                "uninitialised",
                self.instruction,
                (cta, warp, thread),
                f"reads lane {lane}, column {column} of tensor memory, which nothing has written",
            )

    def _store(self, warps: Array, lanes: Array, columns: Array, legal: Array) -> None:
        machine, memory = self.machine, self.machine.tensor
        values = np.stack(
            [
                machine.full(machine.registers[slot])[warps[:, 0], warps[:, 1]]
                for slot in self.slots
                if slot is not None
            ],
            axis=2,
        )
        if self.form.packed:
            values = np.stack([values & 0xFFFF, values >> 16], axis=3).reshape(lanes.shape)
        ctas = np.broadcast_to(warps[:, 0][:, None, None], lanes.shape)
        memory.data[ctas[legal], lanes[legal], columns[legal]] = values[legal]
        memory.written[ctas[legal], lanes[legal], columns[legal]] = True
