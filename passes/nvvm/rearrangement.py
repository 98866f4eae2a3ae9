"""Elements from some registers into others, as whole as they go: nothing is computed of them."""

from __future__ import annotations

from collections.abc import Sequence

from tilec.ir.aliases import Value
from tilec.ir.ops import vector as vectors
from tilec.ir.types import integer
from tilec.layout import LinearLayout

from .registers import Packing, bitcast, elements, registers_of, vector


def rearranged(
    registers: Sequence[Value], before: Packing, order: Sequence[int], after: Packing
) -> list[Value]:
    """The registers of elements that others hold.

    Args:
        registers: the others.
        before: how elements lie in them.
        order: of each element of the result, which one it is of theirs.
        after: how elements lie in the result's registers.
    """
    if after.per_register == 1 and len(order) == len(registers) * before.per_register:
        held = elements(list(registers), before)
        return [held[at] for at in order]
    run = _run(order, min(before.per_register, after.per_register))
    if run == before.per_register == after.per_register:
        return [registers[at // run] for at in order[::run]]
    if before.is_sub_byte:
        return _rearranged_bits(registers, before, order, after, run)
    size = after.per_register
    return [
        _register(registers, before, order[first : first + size])
        for first in range(0, len(order), size)
    ]


def repacked(registers: Sequence[Value], before: Packing, after: Packing) -> list[Value]:
    """The same elements in registers of another size."""
    if before.per_register == after.per_register:
        return list(registers)
    return rearranged(registers, before, range(len(registers) * before.per_register), after)


def order_of(layout: LinearLayout) -> list[int]:
    """The place of each register under a layout with one output, such as the source's register."""
    order = [0]
    for column in layout.columns_of("register"):
        order += [at ^ column for at in order]
    return order


def _run(order: Sequence[int], most: int) -> int:
    """The largest power of two, `most` at most, of elements that stay side by side, aligned."""
    run = 1
    while run < most and all(
        order[at] % (2 * run) == 0 and order[at + run] == order[at] + run
        for at in range(0, len(order), 2 * run)
    ):
        run *= 2
    return run


def _register(registers: Sequence[Value], before: Packing, wanted: Sequence[int]) -> Value:
    """One register of elements of at least a byte."""
    size = before.per_register
    if size == 1:
        return vector([registers[at] for at in wanted])
    if len(wanted) == 1:
        register, at = divmod(wanted[0], size)
        return vectors.extract(registers[register], at, before.element)
    sources = list(dict.fromkeys(at // size for at in wanted))
    if len(sources) > 2:
        half = len(wanted) // 2
        parts = [_register(registers, before, part) for part in (wanted[:half], wanted[half:])]
        return vectors.shuffle(parts[0], parts[1], range(len(wanted)))
    places = [sources.index(at // size) * size + at % size for at in wanted]
    if places == list(range(size)):
        return registers[sources[0]]
    return vectors.shuffle(registers[sources[0]], registers[sources[-1]], places)


def _rearranged_bits(
    registers: Sequence[Value], before: Packing, order: Sequence[int], after: Packing, run: int
) -> list[Value]:
    """Elements of less than a byte; in bytes and more where such runs of them stay together."""
    bits = run * before.element.width
    if bits < 8:
        held = elements(list(registers), before)
        return registers_of([held[at] for at in order], after)
    wide = integer(bits)
    coarse = Packing(wide, before.per_register // run, before.registers)
    moved = rearranged(
        [bitcast(register, coarse.type) for register in registers],
        coarse,
        [at // run for at in order[::run]],
        Packing(wide, after.per_register // run, after.registers),
    )
    return [bitcast(register, after.type) for register in moved]
