"""`tile.tcgen05_cp`: rows of bytes from shared to tensor memory."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from tilec.dialects.tile.ops.tcgen05_cp import Tcgen05CpOp
from tilec.dialects.tile.tensor import SCALES
from tilec.interpret.call import Call
from tilec.interpret.meanings.tcgen05 import ctas_of, issue
from tilec.interpret.memory import View
from tilec.interpret.numbers import BYTE, Array, Number, wrap
from tilec.interpret.places import find_places
from tilec.interpret.registry import meaning
from tilec.interpret.tensor import TensorView, elements
from tilec.ir.mlir import ir
from tilec.isa.tensor_memory import LANES, CopyShape
from tilec.layout.tensor_memory import copied

_SIXTEEN = 16
"""Elements that stand together where a copy makes bytes of them, in as many bytes."""
_CORE = 32
"""Rows of scale factors that a copy brings, of each of which four stand side by side."""


@meaning("tile.tcgen05_cp", meets=True)
def _copy(call: Call, source: View, target: TensorView, *indices: Array) -> None:
    for one in call.of_each_thread():
        _copy_rows(one, source, target, indices)


def _copy_rows(call: Call, source: View, target: TensorView, indices: Sequence[Array]) -> None:
    """Copy rows of bytes, of each CTA that takes part from its own to its own memory."""
    op, arithmetic = call.op, call.arithmetic
    assert isinstance(op, Tcgen05CpOp)
    shape = call.fact("shape", lambda: op.copied)
    group = call.fact("group", lambda: op.group)
    pipe, agent, warp = issue(call)
    rank = len(source.sizes)
    image = call.fact("image", lambda: op.is_image)
    taken = shape.rows, shape.bits // source.buffer.number.bits
    if image:
        taken = shape.rows * shape.bits // _CORE, SCALES
    places, inside = find_places(call, source, indices[:rank], taken, each=False, transposed=False)
    if not inside.all():
        call.report("bounds", "copies from outside its buffer")
    *leading, row, col = (int(call.uniform(one, "an index")) for one in indices[rank:])
    extents = call.fact("extents", lambda: ir.MemRefType(call.operand_type(1)).shape[:-2])
    matrix = int(np.ravel_multi_index(leading, extents, mode="clip")) if leading else 0
    held = target.buffer.held == "scale"
    rows = shape.rows * shape.bits // _CORE if held else shape.rows
    width = SCALES if held else shape.bits // _CORE * target.buffer.packed
    cols = slice(col, col + width)
    for cta in ctas_of(call, group):
        buffer = cta.buffer(source.buffer.shared)
        issuer = agent, warp if cta is call.cta else None
        cta.shared.read_by(buffer, np.unique(places), issuer, pipe.source, call.report)
        data = _unpacked(buffer.data[places], call.fact("bits", lambda: op.element_bits))
        found = _as_held(call, data, buffer.number, target.number)
        if held and not image:  # those of row r in row r mod 32, from byte 4·(r / 32) on
            split = found.reshape(-1, _CORE, found.shape[-1] // SCALES, SCALES)
            found = split.transpose(0, 2, 1, 3).reshape(rows, SCALES)
        for first, at, count in _runs(shape, row, target, rows, whole=held):
            where = elements(target, matrix, slice(at, at + count), cols)
            part = found[first : first + count]
            cta.tensor.write_by(where, part, agent, pipe, arithmetic, call.report)


def _runs(
    shape: CopyShape, row: int, target: TensorView, rows: int, *, whole: bool
) -> list[tuple[int, int, int]]:
    """First row of the source, row of the target, and how many go on, of all that is written.

    Args:
        shape: what is copied.
        row: of the target.
        target: where it goes.
        rows: of the source.
        whole: whether they go to as many rows, one after the other.
    """
    if whole or target.buffer.rows // target.buffer.group < LANES:
        return [(0, row, rows)]  # A that other banks of lanes have, too, is known of the first
    found = []
    for lanes in copied(shape):
        ends = [*(np.flatnonzero(np.diff(lanes) != 1) + 1).tolist(), len(lanes)]
        for first, end in zip([0, *ends], ends, strict=False):
            found.append((first, row + int(lanes[first]), end - first))
    return found


def _unpacked(values: Array, bits: int) -> Array:
    """Rows of bytes whose sixteens begin with as many elements of so many bits; 0 for as they are.

    Those of 4 bits stand in the middle of their byte then: PTX ISA 9.7.16.10.4.
    """
    if not bits:
        return values
    codes = np.asarray(values).astype(np.uint8).reshape(*values.shape[:-1], -1, _SIXTEEN)
    split = np.unpackbits(codes[..., : 2 * bits], axis=-1, bitorder="little")
    each = split.reshape(*codes.shape, bits).astype(np.int64) @ (1 << np.arange(bits))
    return wrap((each << (2 if bits == 4 else 0)).reshape(values.shape), BYTE.bits)


def _as_held(call: Call, values: Array, source: Number, target: Number) -> Array:
    """What is copied, as the target's elements."""
    if source == target:
        return values
    if source.bits != BYTE.bits or target.bits != BYTE.bits:
        call.unknown(f"a copy of {source} to {target}")
    if source == BYTE:
        return call.arithmetic.decode(values & 0xFF, target)
    return wrap(call.arithmetic.encode(values, source), BYTE.bits)
