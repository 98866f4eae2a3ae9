"""`cp.async.bulk.tensor`, its reductions and prefetches. PTX ISA, "Data Movement … Tensor".

The tensor map is read when the copy is issued; its box is moved by `tilec.sim.transfers`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np
from tilec.isa.limits import MAP_BYTES, MAP_PLACES, ROWS_OF_COPY
from tilec.isa.wording import counted

from ..access import Access
from ..alu import Array
from ..binding import Binding
from ..boxes import Elements, im2col, rows, swizzled, tile
from ..machine import Machine, Step
from ..map_bytes import Descriptor
from ..memory import GLOBAL_BASE
from ..ptx.module import Address, Operand, Vector
from .delivery import Courier, Place, Target, places
from .mbarrier import MBarrier
from .reductions import Combine, combiner
from .tensor_maps import illegal_map

_KNOWN = {
    "async", "bulk", "tensor", "prefetch", "reduce", "tile", "im2col", "im2col_no_offs", "global",
    "tile::gather4", "tile::scatter4",
    "shared::cluster", "shared::cta", "L2", "mbarrier::complete_tx::bytes", "bulk_group",
    "L2::cache_hint", "multicast::cluster", "1d", "2d", "3d", "4d", "5d",
    "add", "min", "max", "inc", "dec", "and", "or", "xor",
}  # fmt: skip
_OPERATIONS = ("add", "min", "max", "inc", "dec", "and", "or", "xor")
_DESTINATION = 128
"""Bytes that a box in shared memory is aligned to."""
_FEWEST_IM2COL = 3
_OF_ROWS = ("tile::gather4", "tile::scatter4")

_decode = lru_cache(maxsize=256)(Descriptor.decode)


class _Map:
    """The tensor map and the coordinates that an instruction names."""

    def __init__(self, binding: Binding, operand: Operand, offsets: Operand | None) -> None:
        self.binding = binding
        self.machine = binding.machine
        rank = next(m for m in binding.modifiers if len(m) == 2 and m[1] == "d")
        self.rank = int(rank[0])
        if not isinstance(operand, Address) or len(operand.extra) != 1:
            raise binding.error("a tensor copy takes [map, {coordinates}]")
        (inside,) = operand.extra
        self.of_rows = next((m for m in binding.modifiers if m in _OF_ROWS), "")
        if self.of_rows and self.rank != len(("column", "row")):
            raise binding.error(f"{self.of_rows} of {rank}; legal: 2d")
        count = 1 + ROWS_OF_COPY if self.of_rows else self.rank
        if not isinstance(inside, Vector) or len(inside.items) != count:
            raise binding.error(f"a copy of {rank} takes {count} coordinates")
        self.coordinates = [binding.source(item, "s32") for item in inside.items]
        self.im2col = any(m.startswith("im2col") for m in binding.modifiers)
        if self.im2col and self.rank < _FEWEST_IM2COL:
            raise binding.error(f"im2col of {rank}; legal: 3d to 5d")
        self.offsets: list[int] = []
        if offsets is not None:
            items = offsets.items if isinstance(offsets, Vector) else ()
            if len(items) != self.rank - 2:
                raise binding.error(f"im2col of {rank} takes {self.rank - 2} offsets")
            self.offsets = [binding.source(item, "u16") for item in items]
        self.address = binding.locate(Address(operand.base, operand.offset), ("generic",))

    def fetch(self) -> dict[tuple[int, int, int], tuple[Descriptor, Elements]]:
        """The map, and the elements of the box, of each active thread."""
        machine = self.machine
        found = {}
        registers = machine.registers
        first = [machine.full(registers[slot]).view(np.int32) for slot in self.coordinates]
        moved = [machine.full(registers[slot]) for slot in self.offsets]
        for space, offsets, mask in self.address():
            active = machine.active() if mask is None else machine.full(mask)
            begins = machine.full(space.place(offsets))
            for cta, warp, lane in np.argwhere(active).tolist():
                thread = (cta, warp, lane)
                descriptor = self._read(thread, int(begins[thread]))
                at = tuple(int(values[thread]) for values in first)
                by = tuple(int(values[thread]) for values in moved) or (0,) * (self.rank - 2)
                if self.of_rows:
                    elements = rows(descriptor, at)
                else:
                    elements = im2col(descriptor, at, by) if self.im2col else tile(descriptor, at)
                found[thread] = descriptor, elements
        return found

    def _read(self, thread: tuple[int, int, int], begin: int) -> Descriptor:
        """The tensor map at a byte of memory.

        Raises:
            StoppedError: if it is not legal.
        """
        if self.machine.observer is not None:
            self.machine.observer.global_.map(begin, MAP_BYTES, Access.READ)
        data = self.machine.memory.data[begin : begin + MAP_BYTES].tobytes()
        try:
            descriptor = _decode(data)
            problem = descriptor.problem()
        except (ValueError, IndexError):
            problem = "these 128 bytes are not one"
        if problem is None and len(descriptor.dims) != self.rank:
            problem = f"it has {counted(len(descriptor.dims), 'dimension')}, not {self.rank}"
        if problem is None and (descriptor.im2col is not None) != self.im2col:
            problem = f"it is {'an' if descriptor.im2col else 'not an'} im2col map"
        if problem is None and self.of_rows and descriptor.box[1] != 1:
            problem = f"its box has {descriptor.box[1]} rows; {self.of_rows} takes boxes of one"
        if problem is None and self.of_rows and descriptor.interleave != "none":
            problem = f"it is interleaved, which {self.of_rows} does not take"
        if problem is None and begin % MAP_PLACES:
            problem = f"its address is not a multiple of {MAP_PLACES} bytes"
        if problem is None:
            return descriptor
        raise illegal_map(self.binding, thread, f"uses a tensor map: {problem}")


def bind(binding: Binding) -> Step:
    """The step of a tensor copy, a reduction or a prefetch."""
    modifiers = binding.modifiers
    if unknown := [m for m in modifiers if m not in _KNOWN]:
        raise binding.error(f"qualifier '.{unknown[0]}' of a tensor copy is not simulated")
    if "prefetch" in modifiers:
        map_, *rest = binding.expect(1, 2, 3)
        _Map(binding, map_, rest[0] if "im2col" in modifiers else None)
        return lambda: None
    if modifiers.index("global") < _index(modifiers, "shared::cta"):
        return _store(binding)
    return _load(binding)


def _index(modifiers: tuple[str, ...], word: str) -> int:
    return modifiers.index(word) if word in modifiers else -1


def _load(binding: Binding) -> Step:
    modifiers = binding.modifiers
    target, from_, barrier, *rest = binding.expect(3, 4, 5, 6)
    map_ = _Map(binding, from_, rest.pop(0) if "im2col" in modifiers else None)
    to = binding.locate(target, ("shared::cluster",))
    objects = MBarrier(binding, barrier, named=False)
    slot = binding.source(rest[0], "u16") if "multicast::cluster" in modifiers else None
    machine, courier = binding.machine, Courier(binding)
    stride = machine.memory.shared_stride

    def step() -> None:
        index, chosen = objects.places()
        barriers = dict(zip(map(tuple, np.argwhere(chosen).tolist()), index.tolist(), strict=True))
        boxes = map_.fetch()
        masks = None if slot is None else machine.full(machine.registers[slot])
        for place in places(machine, to):
            thread = place.thread
            if thread not in barriers or thread not in boxes:
                continue
            descriptor, elements = boxes[thread]
            legal = _within(courier, thread, elements, writes=False)
            if legal and elements.inside.any():
                courier.read_global(thread, _offsets(elements), elements.size)
            mask = None if masks is None else int(masks[thread])
            for one, far in courier.receivers(place, mask):
                object_ = barriers[thread] + far * (stride >> 3)
                if not legal or not courier.legal(one, elements.bytes, _DESTINATION, writes=True):
                    courier.tell(thread, object_, elements.bytes)
                    continue
                touched = _granules(descriptor, elements, one)
                move = _arrival(machine, descriptor, elements, one)
                courier.load(
                    one, touched, object_, elements.bytes, move, swizzle=descriptor.swizzle
                )

    return step


def _store(binding: Binding) -> Step:
    modifiers = binding.modifiers
    to, source, *_ = binding.expect(2, 3)
    map_ = _Map(binding, to, None)
    from_ = binding.locate(source, ("shared",))
    operation = next((m for m in modifiers if m in _OPERATIONS), "")
    machine, courier = binding.machine, Courier(binding)

    def step() -> None:
        boxes = map_.fetch()
        for place in places(machine, from_):
            if place.thread not in boxes:
                continue
            descriptor, elements = boxes[place.thread]
            if _within(courier, place.thread, elements, writes=True) and courier.legal(
                place, elements.bytes, _DESTINATION, writes=False
            ):
                combine = (
                    combiner(operation, _reduced(descriptor), machine.numerics)
                    if operation
                    else None
                )
                touched = _granules(descriptor, elements, place)
                move = _departure(machine, descriptor, elements, place, combine)
                to = _target(machine, descriptor, elements, place, combine)
                courier.store(place, touched, elements.bytes, move, to)

    return step


def _reduced(descriptor: Descriptor) -> str:
    """The type that elements are reduced in."""
    return "f32" if descriptor.type in ("f32.ftz", "tf32", "tf32.ftz") else descriptor.type


def _within(
    courier: Courier,
    thread: tuple[int, int, int],
    elements: Elements,
    *,
    writes: bool,
) -> bool:
    """Whether all elements that lie in the array lie in memory that is allocated."""
    source = elements.source[elements.inside]
    if not source.size:
        return True
    low, high = int(source.min()) - GLOBAL_BASE, int(source.max()) - GLOBAL_BASE
    size = high + elements.size - low
    return courier.legal_global(thread, low, size, elements.size, writes=writes)


def _at(descriptor: Descriptor, elements: Elements, place: Place) -> Array:
    """Offset in shared memory of each element."""
    return swizzled(place.offset + elements.offset, descriptor.swizzle)


def _offsets(elements: Elements) -> Array:
    """Offset in global memory of each element that lies in the array."""
    return elements.source[elements.inside] - GLOBAL_BASE


def _granules(descriptor: Descriptor, elements: Elements, place: Place) -> Array:
    """Offsets in shared memory of the 16-byte chunks of a box."""
    chunks = place.offset + np.arange(0, elements.bytes, 16)
    return swizzled(chunks, descriptor.swizzle)


def _arrival(
    machine: Machine, descriptor: Descriptor, elements: Elements, place: Place
) -> Callable[[int], None]:
    """Moves a box to shared memory."""
    shift = elements.size.bit_length() - 1
    target = _at(descriptor, elements, place)

    def move(base: int) -> None:
        view = machine.memory.views[8 << shift]
        begins = np.where(elements.inside, elements.source - GLOBAL_BASE, 0)
        fill = np.array(descriptor.fill_bits, view.dtype)
        view[(base + target) >> shift] = np.where(elements.inside, view[begins >> shift], fill)

    return move


def _target(
    machine: Machine,
    descriptor: Descriptor,
    elements: Elements,
    place: Place,
    combine: Combine | None,
) -> Target:
    """The elements that a box is copied to, or reduced into."""
    shift = elements.size.bit_length() - 1

    def new(base: int) -> Array:
        source = _at(descriptor, elements, place)[elements.inside]
        values = machine.memory.views[8 << shift][(base + source) >> shift]
        return np.asarray(values.view(np.uint8).reshape(-1, elements.size))

    return Target(_offsets(elements), elements.size, None if combine else new)


def _departure(
    machine: Machine,
    descriptor: Descriptor,
    elements: Elements,
    place: Place,
    combine: Combine | None,
) -> Callable[[int], None]:
    """Moves what of a box lies in the array there."""
    shift = elements.size.bit_length() - 1
    source = _at(descriptor, elements, place)[elements.inside]
    target = _offsets(elements)

    def move(base: int) -> None:
        view = machine.memory.views[8 << shift]
        new, at = view[(base + source) >> shift], target >> shift
        view[at] = new if combine is None else combine(view[at], new)

    return move
