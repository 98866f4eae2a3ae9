"""What memory instructions touch: wavefronts of shared memory, sectors, bytes that copies move."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from tilec.isa import LANES, MatrixMemory
from tilec.isa.described_product import DescribedProduct, described_product
from tilec.isa.instruction_descriptor import InstructionDescriptor
from tilec.isa.instructions import named
from tilec.isa.operands import Storage
from tilec.isa.tensor_products import TensorProduct
from tilec.isa.types import TYPE_BITS
from tilec.layout import wavefronts
from tilec.sim.matrix_forms import matrix_form
from tilec.sim.memory import GLOBAL_BASE
from tilec.sim.ptx.module import Address, Instruction, Integer, Operand, Vector
from tilec.sim.traits import Unit, traits, unit

from .slices import is_described
from .values import PARAMETERS, Read, Registers, Value

SECTOR = 32
_LINE = ~127
_WIDTHS = {"v2": 2, "v4": 4, "v8": 8}


class Touched(NamedTuple):
    """What a warp touches, an array of shape (CTAs, warps) each."""

    requests: Any = 0
    sectors: Any = 0
    wavefronts: Any = 0
    conflicts: Any = 0
    copied: Any = 0
    asked: Any = 0
    operands: Any = 0
    products: Any = 0
    unknown: Any = 0


Touch: TypeAlias = Callable[["Value | None"], Touched]
"""What the threads of a mask touch by an instruction; None for all threads."""


@dataclass
class Patterns:
    """What accesses of shared memory cost, by the pattern of their addresses."""

    known: dict[tuple[Any, ...], tuple[NDArray[np.int64], NDArray[np.int64]]] = field(
        default_factory=dict
    )

    def count(
        self, lanes: Value, size: int, active: Value | None, store: bool, form: MatrixMemory | None
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Wavefronts and conflicts of each warp."""
        relative = lanes - (int(lanes.flat[0]) & _LINE)
        mask = None if active is None else active.tobytes()
        key = (size, store, form, relative.shape, relative.tobytes(), mask)
        found = self.known.get(key)
        if found is None:
            aligned = relative & ~(size - 1)
            if form is not None:
                made = wavefronts.count_matrix(form, aligned)
            else:
                made = wavefronts.count(aligned, size, active, store=store)
            found = self.known[key] = made.wavefronts, made.conflicts
        return found


def touch(registers: Registers, found: Instruction, patterns: Patterns) -> Touch | None:
    """What counts an instruction's traffic; None if it has none."""
    what = traits(found)
    if what.reads or what.writes:
        return _plain(registers, found, patterns)
    match unit(found):
        case Unit.SHARED if what.matrix:
            form = matrix_form(found)
            if not isinstance(form, MatrixMemory):
                return None
            at = registers.address(_address(found))
            return _shared(at, form.row_bytes, form.is_store, form, patterns)
        case Unit.COPY:
            return _copy(registers, found, patterns)
        case Unit.TENSOR if is_described(found):
            return _tensor_product(registers, found)
        case Unit.TENSOR if what.asynchronous:
            return _operands(found)
    return None


def _address(found: Instruction) -> Operand | None:
    return next((one for one in found.operands if isinstance(one, Address)), None)


def _plain(registers: Registers, found: Instruction, patterns: Patterns) -> Touch | None:
    """What each thread reads or writes by itself: loads, stores and atomics."""
    words = found.modifiers
    if {"param", "const", "local", "shared::cluster", "async"} & set(words):
        return None
    count = next((_WIDTHS[word] for word in words if word in _WIDTHS), 1)
    size = TYPE_BITS[words[-1]] * count // 8
    at = registers.address(_address(found))
    shared = _shared(at, size, traits(found).writes, None, patterns)
    if any(word.startswith("shared") for word in words):
        return shared
    outside = _global(at)
    if "global" in words:
        return outside

    def generic(mask: Value | None) -> Touched:
        lanes = at()
        is_outside = lanes is None or int(lanes.flat[0]) >= GLOBAL_BASE
        return (outside if is_outside else shared)(mask)

    return generic


def _spread(lanes: Value, mask: Value | None) -> tuple[Value, Value | None]:
    """Addresses and mask of all lanes, of warps and CTAs that differ alone."""
    shape = np.broadcast_shapes(lanes.shape, (1, 1, LANES), () if mask is None else mask.shape)
    active = None if mask is None else np.broadcast_to(mask, shape)
    return np.broadcast_to(lanes, shape), active


def _shared(
    at: Read,
    size: int,
    store: bool,
    form: MatrixMemory | None,
    patterns: Patterns,
) -> Touch:
    def count(mask: Value | None) -> Touched:
        lanes = at()
        if lanes is None:
            return Touched(unknown=_present(mask))
        lanes, active = _spread(lanes, mask)
        passes, conflicts = patterns.count(lanes, size, active, store, form)
        if form is not None and active is not None:
            here = active.any(axis=2)
            passes, conflicts = passes * here, conflicts * here
        return Touched(wavefronts=passes, conflicts=conflicts)

    return count


def _present(mask: Value | None) -> Any:
    return np.ones((1, 1), np.int64) if mask is None else mask.any(axis=2).astype(np.int64)


def _global(at: Read) -> Touch:
    def count(mask: Value | None) -> Touched:
        lanes = at()
        if lanes is None:
            return Touched(requests=_present(mask), unknown=_present(mask))
        lanes, active = _spread(lanes, mask)
        sectors = lanes // SECTOR
        if active is not None:
            sectors = np.where(active, sectors, -1)
        sectors = np.sort(sectors, axis=2)
        fresh = np.ones(sectors.shape, np.bool_)
        fresh[:, :, 1:] = sectors[:, :, 1:] != sectors[:, :, :-1]
        fresh &= sectors >= 0
        return Touched(requests=_present(active), sectors=fresh.sum(axis=2))

    return count


def to_shared(found: Instruction) -> bool:
    """Whether a copy goes from global to shared memory: the state space of its target is first."""
    spaces = [w.partition("::")[0] for w in found.modifiers if w.startswith(("shared", "global"))]
    return spaces[:1] == ["shared"]


def _copy(registers: Registers, found: Instruction, patterns: Patterns) -> Touch | None:
    """`cp.async`, and the copies of its kinds that move bytes by themselves."""
    if "bulk" in found.modifiers:
        return _bulk(registers, found)
    brackets = [one for one in found.operands if isinstance(one, Address)]
    if len(brackets) < 2 or len(found.operands) < 3:
        return None
    size = found.operands[2]
    assert isinstance(size, Integer)
    to, from_ = (registers.address(one) for one in brackets)
    inside = _shared(to, size.value, True, None, patterns)
    outside = _global(from_)
    reading = readers(registers, found)

    def count(mask: Value | None) -> Touched:
        there, here = outside(reading(mask)), inside(mask)
        return here._replace(
            # As the simulator has it, which counts both ends of a copy.
            requests=there.requests + _present(mask),
            sectors=there.sectors,
            unknown=there.unknown + here.unknown,
        )

    return count


def readers(registers: Registers, found: Instruction) -> Callable[[Value | None], Value | None]:
    """What finds the threads of a mask that read: of `cp.async` those that ask for bytes."""
    rest = found.operands[3:]
    hinted = "L2::cache_hint" in found.modifiers and len(rest) == 1
    if unit(found) is not Unit.COPY or "bulk" in found.modifiers or not rest or hinted:
        return lambda mask: mask
    amount = registers.reader(rest[0], 32)

    def reading(mask: Value | None) -> Value | None:
        wanted = amount()
        if wanted is None or wanted.all():
            return mask
        return wanted > 0 if mask is None else mask & (wanted > 0)

    return reading


def _bulk(registers: Registers, found: Instruction) -> Touch | None:
    """`cp.async.bulk`: a thread each; a multicast brings the bytes to each CTA of its mask."""
    brackets = [one for one in found.operands if isinstance(one, Address)]
    if len(brackets) < 2:
        return None
    read: Read
    if "tensor" in found.modifiers:
        described = next((one for one in brackets if one.extra), brackets[0])
        read = registers.address(described)
        boxes = {PARAMETERS + at: size for at, size in registers.launch.boxes.items()}
    else:
        size = found.operands[-1] if isinstance(found.operands[-1], Integer) else found.operands[2]
        read, boxes = registers.reader(size, 32), {}
    peers = registers.reader(found.operands[-1], 16)
    everywhere = "multicast::cluster" in found.modifiers

    def count(mask: Value | None) -> Touched:
        value, lanes = read(), _lanes(mask)
        if value is None:
            return Touched(unknown=_present(mask))
        each = int(value.flat[0])
        moved = boxes.get(each, 0) if "tensor" in found.modifiers else each
        times: Any = 1
        if everywhere:
            chosen = peers()
            if chosen is None:
                return Touched(unknown=_present(mask))
            times = np.array([int(one).bit_count() for one in chosen.flat]).reshape(chosen.shape)
            times = times[:, :, 0]
        return Touched(copied=lanes * moved * times, asked=lanes * moved)

    return count


def _lanes(mask: Value | None) -> Any:
    """Threads of a mask in each warp."""
    if mask is None:
        return LANES
    return np.broadcast_to(mask, (*mask.shape[:2], LANES)).sum(axis=2)


def described(registers: Registers, found: Instruction) -> DescribedProduct | None:
    """The product of a `tcgen05.mma`, as its descriptor has it; None if that is not known."""
    place = "tensor" if isinstance(found.operands[1], Address) else "descriptor"
    form = named(f"{found.mnemonic}.a::{place}")
    assert isinstance(form, TensorProduct)
    word = registers.reader(found.operands[4 if form.sparse else 3], 32)()
    if word is None:
        return None
    return described_product(
        InstructionDescriptor.decode(form.kind, int(word.flat[0])), form.group,
        stationary=form.stationary, a=form.a, chunks=form.chunks,
    )  # fmt: skip


def _tensor_product(registers: Registers, found: Instruction) -> Touch:
    """`tcgen05.mma`: of each thread one, and what it reads of shared memory by descriptors."""

    def count(mask: Value | None) -> Touched:
        product = described(registers, found)
        if product is None:
            return Touched(unknown=_present(mask))
        shared = [one for one in product.operands[:2] if one.storage is Storage.SHARED]
        read = sum(one.rows * one.cols * one.container // 8 for one in shared)
        return Touched(operands=_lanes(mask) * read, products=_lanes(mask))

    return count


def _operands(found: Instruction) -> Touch:
    """`wgmma`: what a warpgroup reads of shared memory, a quarter for each of its warps."""
    form: Any = matrix_form(found)
    m, n, k = form.shape.m, form.shape.n, form.shape.k
    in_registers = isinstance(found.operands[1], Vector)
    bits = {operand.name: operand.type.bits for operand in form.operands}
    read = n * k * bits["b"] // 8 + (0 if in_registers else m * k * bits["a"] // 8)

    def count(mask: Value | None) -> Touched:
        return Touched(operands=_present(mask) * (read / 4))

    return count
