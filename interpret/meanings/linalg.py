"""`linalg`: what `tile-from-linalg` takes, by the loops and the body that each op has."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
from tilec.interpret.affine import indexing_maps, loop_count, of_operand, over_loops, places_in
from tilec.interpret.call import Call
from tilec.interpret.cta import Running
from tilec.interpret.execution import execute
from tilec.interpret.memory import View
from tilec.interpret.numbers import Array
from tilec.interpret.registry import meaning


@meaning("linalg.fill", control=True)
def _fill(call: Call, value: Array, result: View) -> Running:
    data, places = result.buffer.data, places_in(result)
    (body,) = call.node.bodies
    (found,) = yield from execute(call.cta, body, call.active, (value, data[places]), call.values)
    data[places] = call.uniform(found)
    return ()


@meaning("linalg.matmul", "linalg.batch_matmul", "linalg.contract", "linalg.generic", control=True)
def _loops(call: Call, *operands: Array | View) -> Running:
    """The body, for all that is not summed over at once, and in order for what is."""
    maps = call.fact("maps", lambda: indexing_maps(call.op))
    *inputs, result = operands
    if len(maps) != len(operands) or not isinstance(result, View):
        call.unknown("several results, or one that is not in memory")
    count, (*_, kept) = loop_count(maps), maps
    summed = [loop for loop in range(count) if loop not in kept]
    arrays = [
        over_loops(_values(value), loops, count) for value, loops in zip(inputs, maps, strict=False)
    ]
    data, places = result.buffer.data, places_in(result)
    shape = [result.sizes[kept.index(loop)] for loop in sorted(kept)]
    extents = _extents(call, operands, maps)
    if extents is None:
        return ()
    total = over_loops(data[places], kept, count).reshape(shape)
    (body,) = call.node.bodies
    for at in product(*(range(extents[loop]) for loop in summed)):
        given = [_slice(array, summed, at) for array in arrays]
        (total,) = yield from execute(call.cta, body, call.active, (*given, total), call.values)
    data[places] = of_operand(np.broadcast_to(total, shape), kept)
    return ()


def _extents(
    call: Call, operands: Sequence[Array | View], maps: Sequence[Sequence[int]]
) -> dict[int, int] | None:
    """How often each loop goes round; None if operands say different, which is reported."""
    found: dict[int, int] = {}
    for operand, loops in zip(operands, maps, strict=True):
        sizes = operand.sizes if isinstance(operand, View) else ()
        for loop, size in zip(loops, sizes, strict=True):
            if found.setdefault(loop, size) != size:
                call.report("bounds", "takes memrefs whose extents do not match")
                return None
    return found


def _values(operand: Array | View) -> Array:
    return operand.buffer.data[places_in(operand)] if isinstance(operand, View) else operand


def _slice(array: Array, summed: list[int], at: tuple[int, ...]) -> Array:
    """An operand at a place of the loops that are summed over, with an axis for each other one."""
    index: list[slice | int] = [slice(None)] * array.ndim
    for loop, number in zip(summed, at, strict=True):
        index[loop] = number if array.shape[loop] > 1 else 0
    return array[tuple(index)]
