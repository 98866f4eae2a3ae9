"""`tcgen05.cp`, bound: shared memory to tensor memory. PTX ISA 9.7.16.9.2."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from tilec.isa import TilecError
from tilec.isa.operands import by_descriptor
from tilec.isa.tensor_memory import COPIES, LANES, lane_and_column
from tilec.isa.wording import counted
from tilec.layout.tensor_memory import copied

from .binding import Binding
from .checks.in_flight import Thread
from .checks.sets import distinct
from .shared_operands import CHUNK, gather
from .tensor_memory import ctas_of
from .tensor_operands import placed

_GROUP = 8
"""Rows that stand together in shared memory."""
_PACKED = {6: "b6x16_p32", 4: "b4x16_p64"}
"""Bits of elements that stand packed in shared memory, by how mnemonics name them."""


def _unpacked(rows: NDArray[np.uint8], bits: int) -> NDArray[np.uint8]:
    """Rows of bytes, of each 16 of which the first hold 16 elements; those of 4 bits move up by 2.

    As elements stand in the bytes of A in tensor memory: PTX ISA 9.7.16.10.4.
    """
    chunks = rows.reshape(len(rows), -1, CHUNK)[..., : CHUNK * bits // 8]
    each = np.unpackbits(chunks, axis=-1, bitorder="little").reshape(*chunks.shape[:2], CHUNK, bits)
    codes = np.packbits(each, axis=-1, bitorder="little")[..., 0]
    return np.ascontiguousarray(codes << (2 if bits == 4 else 0)).reshape(rows.shape)


class TensorCopy:
    """One `tcgen05.cp`."""

    def __init__(self, binding: Binding) -> None:
        self.machine, self.instruction = binding.machine, binding.instruction
        words = binding.modifiers
        shape = next((one for one in COPIES if {*one.name.split(".")} <= {*words}), None)
        if shape is None:
            raise binding.error(f"'{binding.instruction.mnemonic}' is not simulated")
        self._lanes = copied(shape)
        self._packed = next((bits for bits, word in _PACKED.items() if word in words), 0)
        address, source = binding.expect(2)
        self._group = 2 if "cta_group::2" in words else 1
        self._rows, self._bytes = shape.rows, shape.bits // 8
        self._slot, bits, self._extra = binding.base(address)
        if bits != 32:
            raise binding.error("an address of tensor memory has 32 bits")
        self._descriptor = binding.source(source, "b64")

    def step(self) -> None:
        """Execute it, thread by thread."""
        for cta, warp, lane in np.argwhere(self.machine.active()).tolist():
            thread = (cta, warp, lane)
            try:
                self._execute(thread)
            except TilecError as error:
                if self.machine.observer is not None:
                    self.machine.observer.blame(
                        "tensor-memory", self.instruction, thread, f"copies, and {error}"
                    )

    def _execute(self, thread: Thread) -> None:
        machine, memory = self.machine, self.machine.memory
        registers = machine.registers
        word = int(machine.full(registers[self._descriptor])[thread])
        address = int(machine.full(registers[self._slot])[thread]) + self._extra
        # Descriptors tell rows by the eight.
        source = by_descriptor("a", "b8", max(self._rows, _GROUP), self._bytes)
        at = placed(source, word, transposed=False)[: self._rows]
        if int(at.max()) + CHUNK > memory.shared_bytes:
            raise TilecError(
                f"its source reaches {int(at.max()) + CHUNK:#x}, and shared memory has "
                f"{counted(memory.shared_bytes, 'byte')}"
            )
        lane, column = lane_and_column(address)
        lanes, columns = self._lanes + lane, column + np.arange(self._bytes // 4)
        for cta in ctas_of(machine.geometry, thread[0], self._group):
            outside = machine.tensor.outside(cta, columns)
            if outside is not None or int(lanes.max()) >= LANES:
                raise TilecError("its target is outside what its CTA has allocated")
            observer = machine.observer
            if observer is not None and observer.tensor is not None:
                granules = distinct(at >> 4)
                reads = [(granules, self._packed > 0)]
                observer.tensor.product(self.instruction, thread, columns, reads, cta)
            base = memory.shared_base + cta * memory.shared_stride
            rows = gather(memory.data, base, at, 1, transposed=False)
            if self._packed:
                rows = _unpacked(rows, self._packed)
            machine.tensor.data[cta, lanes[:, :, None], columns] = rows.view(np.uint32)[None]
            machine.tensor.written[cta, lanes[:, :, None], columns] = True
