"""A product of warpgroups, bound: `wgmma.mma_async`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from tilec.isa import LANES, WARPGROUP_WARPS, Product, Storage
from tilec.isa import Operand as MatrixOperand
from tilec.isa.wording import counted
from tilec.layout.descriptors import Descriptor

from .alu import Array
from .binding import Binding
from .checks.sets import distinct
from .machine import Machine
from .matrix_forms import matrix_form
from .ptx.module import Integer, Operand
from .shared_operands import CHUNK, chunks, gather, granules
from .tensor.algebraic import bytes_as_numbers
from .tensor.elements import decode_bytes
from .tensor.warpgroup import Operands, matrix_of, multiply_warpgroups

_THREADS = WARPGROUP_WARPS * LANES
_NO_BASE = ~(7 << 49)
"""Bits of a descriptor without its base offset."""


@dataclass(frozen=True, slots=True)
class Side:
    """A or B of an instruction.

    Attributes:
        operand: what the table says of it.
        slots: its registers, or its descriptor's.
        sign: 1 or -1.
        transposed: whether it lies with M or N contiguous.
    """

    operand: MatrixOperand
    slots: tuple[int, ...]
    sign: int
    transposed: bool

    @property
    def shared(self) -> bool:
        """Whether it lies in shared memory."""
        return self.operand.storage is Storage.SHARED


class Warpgroup:
    """One `wgmma.mma_async`, bound.

    Attributes:
        form: its form.
        targets: registers of C and D.
        sides: A and B.
        scale_d: the predicate that says whether C is added.
        metadata: the register that says where elements of a sparse A are, or None.
    """

    def __init__(self, binding: Binding) -> None:
        self.machine: Machine = binding.machine
        self.instruction = binding.instruction
        first, *rest = binding.operands
        found = matrix_form(binding.instruction)
        assert isinstance(found, Product)
        self.form = form = found
        wanted = 3 + len(form.selectors) + (form.sparsity is not None)
        binding.expect(wanted)
        self.targets = _registers(binding, first, form.operand("d"))
        binding.written += self.targets
        sides = [rest.pop(0), rest.pop(0)]
        self.metadata: int | None = None
        self.selector = 0
        named = {selector.name: selector for selector in form.selectors}
        values: dict[str, int] = {}
        if form.sparsity:
            self.metadata = binding.source(rest.pop(0), "b32")
        if named.pop("selector", None) is not None:
            self.selector = _constant(binding, rest.pop(0), (0, 1))
        self.scale_d = binding.source(rest.pop(0), "pred")
        del named["scale_d"]
        for name, selector in named.items():
            values[name] = _constant(binding, rest.pop(0), tuple(selector.legal))
        self.sides = {
            name: Side(
                form.operand(name),
                _registers(binding, given, form.operand(name))
                if form.operand(name).storage is not Storage.SHARED
                else (binding.source(given, "b64"),),
                values.get(f"imm_scale_{name}", 1),
                bool(values.get(f"imm_trans_{name}", 0)),
            )
            for name, given in zip("ab", sides, strict=True)
        }

    def step(self) -> None:
        """Execute it."""
        places = self.places()
        if not len(places):
            return
        machine = self.machine
        self._watch(places)
        a, b = (self._values(side, places) for side in self.sides.values())
        reads_c = self.reads_c(places)
        groups = [np.flatnonzero(reads_c), np.flatnonzero(~reads_c)]
        for chosen, addend in zip(groups, (True, False), strict=True):
            if not chosen.size:
                continue
            some = places[chosen]
            operands = Operands(
                a[chosen],
                b[chosen].transpose(0, 2, 1),
                self._gather(self.targets, some) if addend else None,
                None if self.metadata is None else self._gather((self.metadata,), some),
                self.selector,
            )
            result = multiply_warpgroups(
                self.form, operands, arch=machine.arch, numerics=machine.numerics
            )
            self._spread(some, result)

    def places(self) -> Array:
        """The CTA and number of each warpgroup that executes it, (warpgroups, 2)."""
        machine = self.machine
        ctas, warps, _ = machine.shape
        active = machine.active()
        whole = np.zeros((ctas, -(-warps // WARPGROUP_WARPS) * WARPGROUP_WARPS), np.int64)
        whole[:, :warps] = active.sum(axis=2)
        counts = whole.reshape(ctas, -1, WARPGROUP_WARPS).sum(axis=2)
        partial = np.argwhere((counts > 0) & (counts < _THREADS))
        for cta, group in partial.tolist():
            if machine.observer is not None:
                some = np.zeros(machine.shape, np.bool_)
                some[cta, group * WARPGROUP_WARPS : (group + 1) * WARPGROUP_WARPS] = True
                machine.observer.findings.add(
                    "partial-warp",
                    self.instruction,
                    some & active,
                    lambda at: (
                        "executes it in a warpgroup with only "
                        f"{counted(int(counts[at[0], at[1] // WARPGROUP_WARPS]), 'active thread')}"
                    ),
                )
        return np.argwhere(counts == _THREADS)

    def rows(self, places: Array) -> tuple[Array, Array]:
        """Index of the warps of warpgroups: (warpgroups, 1) and (warpgroups, 4)."""
        return places[:, :1], places[:, 1:] * WARPGROUP_WARPS + np.arange(WARPGROUP_WARPS)

    def _gather(self, slots: tuple[int, ...], places: Array) -> Array:
        """Registers of warpgroups, (warpgroups, registers, 128)."""
        machine = self.machine
        return self.gathered([machine.registers[slot] for slot in slots], places)

    def gathered(self, values: Sequence[Array], places: Array) -> Array:
        """Values of all threads as those of warpgroups, (warpgroups, values, 128)."""
        if self._whole(places):
            each = [self.machine.full(value).reshape(len(places), _THREADS) for value in values]
            return np.stack(each, axis=1)
        rows = self.rows(places)
        found = [self.machine.full(value)[rows] for value in values]
        return np.stack(found, axis=1).reshape(len(places), len(values), _THREADS)

    def _whole(self, places: Array) -> bool:
        """Whether these are all threads of the wave."""
        ctas, warps, lanes = self.machine.shape
        return len(places) * _THREADS == ctas * warps * lanes

    def reads_c(self, places: Array) -> Array:
        """Which warpgroups add C."""
        return self._scalar(self.scale_d, places)

    def any_reads_c(self) -> bool:
        """Whether any of the active threads has C added."""
        scale_d = self.machine.registers[self.scale_d]
        return bool((scale_d if self.machine.mask is None else scale_d & self.machine.mask).any())

    def _spread(self, places: Array, result: Array) -> None:
        """Write registers of warpgroups."""
        machine, rows = self.machine, self.rows(places)
        split = result.reshape(len(places), len(self.targets), WARPGROUP_WARPS, LANES)
        if self._whole(places):
            apart = np.ascontiguousarray(split.transpose(1, 0, 2, 3))
            for slot, value in zip(self.targets, apart, strict=True):
                machine.registers[slot] = value.reshape(machine.shape)
            return
        for number, slot in enumerate(self.targets):
            value = machine.full(machine.registers[slot]).copy()
            value[rows] = split[:, number]
            machine.registers[slot] = value

    def _scalar(self, slot: int, places: Array) -> Array:
        """What all threads of each warpgroup must agree on, (warpgroups,)."""
        machine = self.machine
        values = machine.registers[slot]
        if values.size == 1:
            return np.broadcast_to(values.reshape(1), len(places))
        each = machine.full(values)[self.rows(places)].reshape(len(places), -1)
        differ = (each != each[:, :1]).any(axis=1)
        if differ.any() and machine.observer is not None:
            cta, group = places[np.argmax(differ)].tolist()
            watch = machine.observer.warpgroups
            assert watch is not None
            watch.blame(
                self.instruction,
                cta,
                group,
                "has a descriptor or a predicate that is not the same in all threads",
            )
        return np.asarray(each[:, 0])

    # Shared memory

    def _values(self, side: Side, places: Array) -> Array:
        """Values of A or B, (warpgroups, m or n, k), as they are stored."""
        numerics, type_ = self.machine.numerics, side.operand.type
        if not side.shared:
            registers = self._gather(side.slots, places)
            values = matrix_of(self.form, side.operand.name, registers, numerics)
            return values if side.sign == 1 else -values
        raw = self.raw(side, places, self.machine.memory.data)
        algebraic = numerics == "algebraic" and type_.is_float
        decoded = bytes_as_numbers if algebraic else decode_bytes
        values = np.stack([decoded(type_, one) for one in raw])
        return values if side.sign == 1 else -values

    def raw(self, side: Side, places: Array, data: Array) -> Iterator[Array]:
        """Bytes of A or B of each warpgroup, (m or n, bytes along k), of memory or its shadow."""
        size = max(side.operand.type.bits // 8, 1)
        for at in self.spans(side, places):
            yield gather(data, 0, at, size, transposed=side.transposed)

    def spans(self, side: Side, places: Array) -> Iterator[Array]:
        """Places in memory of the chunks of A or B, of each warpgroup."""
        memory = self.machine.memory
        for (cta, _), at in zip(places.tolist(), self._addresses(side, places), strict=True):
            legal = at if at.max() < memory.shared_bytes else np.zeros_like(at)
            yield memory.shared_base + cta * memory.shared_stride + legal

    def _addresses(self, side: Side, places: Array) -> list[Array]:
        """Addresses of the chunks of A or B, of each warpgroup."""
        words = self._scalar(side.slots[0], places).tolist()
        return [
            chunks(side.operand, word & _NO_BASE, transposed=side.transposed)[1] for word in words
        ]

    def _watch(self, places: Array) -> None:
        """Tell what registers and shared memory are in use from now on."""
        observer = self.machine.observer
        if observer is None or observer.warpgroups is None:
            return
        watch = observer.warpgroups
        groups = np.zeros(
            (self.machine.shape[0], -(-self.machine.shape[1] // WARPGROUP_WARPS)), np.bool_
        )
        groups[places[:, 0], places[:, 1]] = True
        slots = list(self.targets)
        if not self.sides["a"].shared:
            slots += self.sides["a"].slots
        watch.product(self.instruction, groups, slots, str(self.form.shape))
        shared = [side for side in self.sides.values() if side.shared]
        words = [self._scalar(side.slots[0], places).tolist() for side in shared]
        for index, (cta, group) in enumerate(places.tolist()):
            touched = []
            for side, given in zip(shared, words, strict=True):
                descriptor, at = chunks(
                    side.operand, given[index] & _NO_BASE, transposed=side.transposed
                )
                wrong = self._problem(side, given[index], descriptor, at)
                if wrong:
                    watch.blame(self.instruction, cta, group, wrong)
                    continue
                read = granules(side.operand, given[index] & _NO_BASE, transposed=side.transposed)
                watch.swizzles(self.instruction, cta, group, read, str(descriptor.swizzle))
                touched.append(read)
                observer.traffic.count_operand(self.instruction, at.size * CHUNK)
            if touched:
                watch.reads(self.instruction, cta, group, distinct(np.concatenate(touched)))

    def _problem(self, side: Side, word: int, descriptor: Descriptor, at: Array) -> str:
        """What is wrong with an operand's descriptor; empty if nothing is."""
        name, limit = side.operand.name, self.machine.memory.shared_bytes
        line = CHUNK << descriptor.swizzle.bits
        if int(at.max()) + CHUNK > limit:
            end = int(at.max()) + CHUNK
            return (
                f"reads operand {name} up to {end:#x}, and shared memory has "
                f"{counted(limit, 'byte')}"
            )
        if word & ~_NO_BASE:
            return (
                f"has a base offset in the descriptor of operand {name}, which is not simulated: "
                f"a matrix begins at a multiple of {8 * line} bytes"
            )
        row = at.shape[1] * CHUNK
        if not side.transposed and descriptor.swizzle.bits and row > line:
            return (
                f"reads {counted(row, 'byte')} along K of operand {name} by swizzle "
                f"{descriptor.swizzle}, "
                "whose lines are shorter"
            )
        return ""


def _registers(binding: Binding, given: Operand, wanted: MatrixOperand) -> tuple[int, ...]:
    items = binding.items(given)
    if len(items) != wanted.registers:
        raise binding.error(
            f"operand {wanted.name} of '{binding.instruction.mnemonic}' takes "
            f"{counted(wanted.registers, 'register')}, not {len(items)}"
        )
    type_ = f"b{wanted.register.bits}"
    return tuple(binding.source(item, type_) for item in items)


def _constant(binding: Binding, given: Operand, legal: tuple[int, ...]) -> int:
    if not isinstance(given, Integer) or given.value not in legal:
        names = ", ".join(map(str, legal))
        raise binding.error(f"'{binding.instruction.mnemonic}' takes a constant here: {names}")
    return given.value
