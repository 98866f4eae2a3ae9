"""The matrix instructions: every form of `tilec.isa`, found there by its mnemonic."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from tilec.isa import (
    LANES,
    Major,
    MatrixMemory,
    Mma,
    MovMatrix,
    Product,
    Selector,
    WmmaMemory,
    WmmaMma,
)
from tilec.isa import Operand as MatrixOperand
from tilec.isa.wording import counted

from .. import tensor
from ..access import Access
from ..alu import Array
from ..binding import Binding
from ..machine import Machine, Step
from ..matrix_forms import matrix_form
from ..native.choice import FEWEST, machine_code
from ..ptx.module import Instruction, Operand, Vector
from ..sync import Members
from ..taint import flows, products, through_memory
from ..taint.flows import Flow, Flowing
from ..traits import Sync, Traits, Unit, unit_of_space
from ..widths import dtype_of
from .registry import instruction

if TYPE_CHECKING:
    from ..native.fragment_products import FragmentProducts
    from ..observer import Observer
    from ..tensor import Fragment


def _fragment(binding: Binding, operand: Operand, matrix: MatrixOperand) -> list[Operand]:
    items = list(binding.items(operand))
    if len(items) != matrix.registers:
        raise binding.error(
            f"operand {matrix.name} of '{binding.instruction.mnemonic}' takes "
            f"{counted(matrix.registers, 'register')}, not {len(items)}"
        )
    return items


def _sources(binding: Binding, operand: Operand, matrix: MatrixOperand) -> tuple[int, ...]:
    type_ = f"b{matrix.register.bits}"
    return tuple(binding.source(o, type_) for o in _fragment(binding, operand, matrix))


def _targets(binding: Binding, operand: Operand, matrix: MatrixOperand) -> list[int | None]:
    type_ = f"b{matrix.register.bits}"
    return [binding.target(o, type_) for o in _fragment(binding, operand, matrix)]


_MATRIX = Traits(sync=Sync.WARP, matrix=True)


def _flow(flowing: Flowing) -> Flow:
    form = matrix_form(flowing.binding.instruction)
    match form:
        case Mma() | WmmaMma():
            return products.multiply(flowing)
        case MatrixMemory() | WmmaMemory():
            if form.results:
                return through_memory.load(flowing)
            return through_memory.store(flowing)
    return flows.move(across=True)(flowing)


def _unit(found: Instruction) -> Unit:
    """Of `wmma`, which multiplies, loads and stores."""
    return Unit.TENSOR if found.modifiers[:1] == ("mma",) else unit_of_space(found)


@instruction("wmma", traits=_MATRIX, unit=_unit, undefined=_flow)
@instruction("ldmatrix", "stmatrix", traits=_MATRIX, unit=Unit.SHARED, undefined=_flow)
@instruction("movmatrix", traits=_MATRIX, unit=Unit.EXCHANGE, undefined=_flow)
@instruction("mma", traits=replace(_MATRIX, product=True), unit=Unit.TENSOR, undefined=_flow)
def _bind(binding: Binding) -> Step:
    form = matrix_form(binding.instruction)
    binding.sync = Members()
    match form:
        case Mma() | WmmaMma():
            step = _multiply(binding, form)
        case MatrixMemory():
            step = _load(binding, form) if form.results else _store(binding, form)
        case WmmaMemory():
            step = _wmma_memory(binding, form)
        case MovMatrix():
            step = _move(binding, form)
        case _:
            raise binding.error(f"'{form.ptx}' is not simulated")
    observer, where, machine = binding.machine.observer, binding.instruction, binding.machine
    if observer is None:
        return step

    def whole() -> None:
        if machine.mask is not None:
            observer.whole_warps(where)
        step()

    return whole


def _multiply(binding: Binding, form: Product) -> Step:
    taken = [(operand, form.selectors_of(operand.name)) for operand in form.operands]
    count = 1 + sum(2 if picking else 1 for _, picking in taken)
    first, *rest = binding.expect(count)
    targets = _targets(binding, first, form.results[0])
    slots: dict[str, tuple[int, ...]] = {}
    selectors: dict[str, int] = {}
    for operand, picking in taken:
        slots[operand.name] = _sources(binding, rest.pop(0), operand)
        if picking:
            selectors |= _picking(binding, rest.pop(0), picking)
    bits = {operand.name: operand.register.bits for operand in form.operands}
    machine = binding.machine
    fragments = machine.fragments
    arch, numerics, deferred = machine.arch, machine.numerics, binding.deferred
    native = _by_machine_code(form, arch) if numerics == "exact" and machine_code() else None

    def step() -> None:
        chosen = {n: _per_warp(machine, s) for n, s in selectors.items()}
        inputs = {n: fragments.gather(s, bits[n]) for n, s in slots.items()}
        result = None
        if native is not None:
            result = native.multiply(inputs["a"], inputs["b"], inputs["c"])
        if result is None:
            result = tensor.multiply_fragments(form, inputs, chosen, arch=arch, numerics=numerics)
        if deferred and machine.merge is None:
            fragments.defer(targets, result)
        else:
            fragments.spread(targets, result)

    if not binding.queued:
        return step
    factors = frozenset((*slots["a"], *slots["b"]))
    written = frozenset(slot for slot in targets if slot is not None)
    observer = machine.observer

    def queued() -> None:
        """The same; others may compute it while this thread goes on."""
        result = None
        if native is not None and _together(machine, observer):
            result = later(native)
        if result is None:
            machine.settle()
            step()
        elif deferred:
            fragments.defer(targets, result)
        else:
            fragments.spread(targets, result)

    def later(products: FragmentProducts) -> Fragment | None:
        """D, which others compute; None if they do not."""
        if not machine.threaded:
            return None
        crew = machine.crew = products.crew()
        if crew is None:
            return None
        if not crew.unwritten.isdisjoint(factors):
            crew.finish()
        c = fragments.known(slots["c"])
        if c is None:
            if not crew.unwritten.isdisjoint(slots["c"]):
                crew.finish()
            c = fragments.gather(slots["c"], bits["c"])
        a, b = (fragments.gather(slots[name], bits[name]) for name in "ab")

        def again() -> Array:
            inputs = {"a": a, "b": b, "c": c}
            made = tensor.multiply_fragments(form, inputs, {}, arch=arch, numerics=numerics)
            return made.registers

        result = products.later(crew, (a, b, c), again)
        if result is not None:
            crew.unwritten |= written
        return result

    return queued


def _together(machine: Machine, observer: Observer | None) -> bool:
    """Whether all threads of enough warps execute an instruction, and nothing follows values."""
    if machine.mask is not None or machine.merge is not None:
        return False
    if machine.shape[0] * machine.shape[1] < FEWEST:
        return False
    return observer is None or not (observer.taint.active or observer.taint.replaying)


def _by_machine_code(form: Product, arch: str) -> FragmentProducts | None:
    """What computes an exact product of floats from its fragments, if anything does."""
    from ..native.fragment_products import products_of  # noqa: PLC0415 (for machine code only)

    return products_of(form, arch)


def _picking(binding: Binding, given: Operand, wanted: tuple[Selector, ...]) -> dict[str, int]:
    """The registers of an operand's selectors: one by itself, several in braces."""
    items = given.items if isinstance(given, Vector) else (given,)
    if len(items) != len(wanted):
        names = ", ".join(selector.name for selector in wanted)
        raise binding.error(f"operand {wanted[0].operand} is followed by {{{names}}}")
    return {
        selector.name: binding.source(item, f"u{selector.bits}")
        for selector, item in zip(wanted, items, strict=True)
    }


def _per_warp(machine: Machine, slot: int) -> int | Array:
    """A selector: one number, or one of each warp."""
    value = machine.registers[slot]
    if value.size == 1:
        return int(value[0, 0, 0])
    return machine.full(value)[:, :, 0].reshape(-1).astype(np.int64)


def _address_lanes(form: MatrixMemory) -> tuple[int, Array]:
    lanes = form.matrices * form.rows
    return lanes, (np.arange(LANES) < lanes).reshape(1, 1, LANES)


def _load(binding: Binding, form: MatrixMemory) -> Step:
    target, address = binding.expect(2)
    targets = _targets(binding, target, form.results[0])
    locate = binding.locate(address)
    lanes, supplies = _address_lanes(form)
    machine, memory, where = binding.machine, binding.machine.memory, binding.instruction
    observer, fragments = machine.observer, machine.fragments
    bits = form.row_bytes * 8
    native = None
    if machine_code() and machine.numerics != "algebraic":
        from ..native.matrix_loads import matrix_load  # noqa: PLC0415 (for machine code only)

        native = matrix_load(machine, where, form)

    def step() -> None:
        rows: Array | None = None
        located = locate()
        if native is not None and machine.mask is None and len(located) == 1:
            space, offsets, active = located[0]
            if active is None and space.name == "shared":
                loaded = native.load(offsets)
                if loaded is not None:
                    fragments.spread(targets, tensor.Fragment(loaded))
                    return
        for space, offsets, active in located:
            mask = active
            if observer is not None:
                supplied = supplies if mask is None else supplies & mask
                mask = observer.access(
                    where, space, offsets, form.row_bytes, supplied, Access.READ, form
                )
            places = machine.full(space.place(offsets))[:, :, :lanes]
            wanted = None if mask is None else machine.full(mask)[:, :, :lanes]
            part = memory.load(places, bits, wanted)
            rows = part if rows is None or wanted is None else np.where(wanted, part, rows)
        assert rows is not None
        ctas, warps, _ = machine.shape
        row_bytes = np.ascontiguousarray(rows)[..., None].view(np.uint8)
        flat = row_bytes.reshape(ctas * warps, lanes, form.row_bytes)
        fragments.spread(targets, tensor.Fragment(tensor.load_matrix(form, flat)))

    return step


def _store(binding: Binding, form: MatrixMemory) -> Step:
    address, source = binding.expect(2)
    slots = _sources(binding, source, form.operands[0])
    locate = binding.locate(address)
    lanes, supplies = _address_lanes(form)
    machine, memory, where = binding.machine, binding.machine.memory, binding.instruction
    observer, fragments = machine.observer, machine.fragments

    def step() -> None:
        ctas, warps, _ = machine.shape
        rows = tensor.store_matrix(form, fragments.gather(slots, 32).registers)
        values = np.ascontiguousarray(rows).view(np.complex128).reshape(ctas, warps, lanes)
        for space, offsets, active in locate():
            mask = active
            if observer is not None:
                supplied = supplies if mask is None else supplies & mask
                mask = observer.access(where, space, offsets, 16, supplied, Access.WRITE, form)
            places = machine.full(space.place(offsets))[:, :, :lanes]
            wanted = None if mask is None else machine.full(mask)[:, :, :lanes]
            memory.store(places, 128, values, wanted)

    return step


def _move(binding: Binding, form: MovMatrix) -> Step:
    target, source = binding.expect(2)
    targets = _targets(binding, target, form.results[0])
    slots = _sources(binding, source, form.operands[0])
    fragments = binding.machine.fragments

    def step() -> None:
        moved = tensor.move_matrix(form, fragments.gather(slots, 32).registers)
        fragments.spread(targets, tensor.Fragment(moved))

    return step


def _wmma_memory(binding: Binding, form: WmmaMemory) -> Step:
    load = bool(form.results)
    first, second, *stride = binding.expect(2, 3)
    inside, address = (first, second) if load else (second, first)
    operand = form.fragment
    targets = _targets(binding, inside, operand) if load else []
    slots = () if load else _sources(binding, inside, operand)
    row_major = operand.major is Major.ROW
    default = operand.cols if row_major else operand.rows
    step_slot = (
        binding.source(stride[0], "u32") if stride else binding.machine.constant(default, 32)
    )
    locate = binding.locate(address)
    rows, cols = tensor.wmma_offsets(form)
    # Elements of less than a byte move a register at a time: they lie together along K.
    together = operand.per_register if operand.container < 8 else 1
    unit = operand.container * together
    major, minor = (rows, cols) if row_major else (cols, rows)
    machine, memory, where = binding.machine, binding.machine.memory, binding.instruction
    observer, registers, fragments = machine.observer, machine.registers, machine.fragments
    bits = operand.register.bits

    def check() -> None:
        """The matrix must begin aligned, and its rows, or columns, to 16 bytes of that."""
        if observer is None:
            return
        line = registers[step_slot].astype(np.int64) * operand.container // 8
        low = min(form.alignment, 16) - 1
        for space, offsets, mask in locate():
            observer.aligned(where, space, offsets | line & low, form.alignment, mask)

    def units() -> Iterator[tuple[int, Callable[[Array], Array]]]:
        """Each unit of a lane, with what takes the matrix's offset to the unit's."""
        stride_here = registers[step_slot].astype(np.int64)
        for number in range(0, operand.elements, together):
            inner = (major[number] * stride_here + minor[number]) * operand.container // 8
            yield number // together, lambda offsets, inner=inner: offsets + inner  # type: ignore[misc]

    def read() -> None:
        check()
        ctas, warps, _ = machine.shape
        values = np.zeros((ctas, warps, operand.elements // together, LANES), dtype_of(unit))
        for number, move in units():
            for space, offsets, active in locate():
                mask = active
                at = move(offsets)
                if observer is not None:
                    mask = observer.access(where, space, at, unit // 8, mask, Access.READ)
                part = memory.load(space.place(at), unit, mask)
                values[:, :, number] = (
                    part if mask is None else np.where(mask, part, values[:, :, number])
                )
        split = values.reshape(ctas * warps, operand.registers, -1, LANES)
        packed = np.ascontiguousarray(split.transpose(0, 1, 3, 2)).view(dtype_of(bits))[..., 0]
        fragments.spread(targets, tensor.Fragment(packed))

    def write() -> None:
        check()
        ctas, warps, _ = machine.shape
        gathered = np.ascontiguousarray(fragments.gather(slots, bits).registers)
        split = gathered[..., None].view(dtype_of(unit)).transpose(0, 1, 3, 2)
        values = split.reshape(ctas, warps, -1, LANES)
        for number, move in units():
            one = values[:, :, number]
            for space, offsets, active in locate():
                mask = active
                at = move(offsets)
                if observer is not None:
                    mask = observer.access(
                        where, space, at, unit // 8, mask, Access.WRITE, values=[one]
                    )
                memory.store(space.place(at), unit, one, mask)

    return read if load else write
