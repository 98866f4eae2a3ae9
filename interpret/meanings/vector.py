"""`vector`: what `tile-from-vector` takes, of vectors that a CTA computes with."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
from tilec.interpret.affine import indexing_maps, loop_count, of_operand, over_loops
from tilec.interpret.boxes import places_of
from tilec.interpret.call import Call
from tilec.interpret.meanings.arith import apply, cast
from tilec.interpret.memory import View
from tilec.interpret.numbers import Array
from tilec.interpret.registry import meaning
from tilec.ir.attributes import attribute
from tilec.ir.mlir import ir


def _transfer(
    call: Call, view: View, indices: Sequence[Array], shape: Sequence[int]
) -> tuple[Array, Array]:
    """The elements of memory that those of a vector are, and which are inside."""
    *_, masks = attribute(call.op, "operandSegmentSizes", ir.DenseI32ArrayAttr)
    if masks:
        call.unknown("a transfer with a mask")
    results = attribute(call.op, "permutation_map", ir.AffineMapAttr).value.results
    bounds = [ir.BoolAttr(one).value for one in ir.ArrayAttr(call.op.attributes["in_bounds"])]
    coordinates = [np.full(shape, call.uniform(index, "an index")) for index in indices]
    sure = np.ones(shape, bool)
    for axis, (result, extent) in enumerate(zip(results, shape, strict=True)):
        if not isinstance(result, ir.AffineDimExpr):
            call.unknown("a transfer that repeats elements")
        along = np.arange(extent).reshape(-1, *(1,) * (len(shape) - 1 - axis))
        at = coordinates[result.position] = coordinates[result.position] + along
        if bounds[axis]:
            sure &= (at >= 0) & (at < view.sizes[result.position])
    if not sure.all():
        call.report("bounds", "accesses memory outside the memref")
    return places_of(view, coordinates)


@meaning("vector.transfer_read")
def _read(call: Call, view: View, *rest: Array) -> Array:
    *indices, padding = rest
    shape = ir.VectorType(call.result_type()).shape
    places, inside = _transfer(call, view, indices[: len(view.sizes)], shape)
    return np.where(inside, view.buffer.data[places], call.uniform(np.asarray(padding)))


@meaning("vector.transfer_write")
def _write(call: Call, values: Array, view: View, *indices: Array) -> None:
    places, inside = _transfer(call, view, indices[: len(view.sizes)], values.shape)
    view.buffer.data[places[inside]] = values[inside]


@meaning("vector.contract")
def _contract(call: Call, a: Array, b: Array, c: Array) -> Array:
    if str(call.op.attributes["kind"]) != "#vector.kind<add>":
        call.unknown("a contraction that does not add")
    maps = call.fact("maps", lambda: indexing_maps(call.op))
    count, kept = loop_count(maps), maps[2]
    summed = [loop for loop in range(count) if loop not in kept]
    numbers = [call.number(call.operand_type(at)) for at in range(3)]
    total_of = numbers[2]
    widen = "arith.extf" if total_of.is_float else "arith.extsi"
    sides = [
        over_loops(cast(call, widen, value, numbers[at], total_of), maps[at], count)
        for at, value in enumerate((a, b))
    ]
    total = over_loops(c, kept, count)
    fns = ("arith.mulf", "arith.addf") if total_of.is_float else ("arith.muli", "arith.addi")
    extents = [max(side.shape[loop] for side in sides) for loop in range(count)]
    for at in product(*(range(extents[loop]) for loop in summed)):
        index = [slice(None)] * count
        for loop, number in zip(summed, at, strict=True):
            index[loop] = slice(number, number + 1)
        one, other = (side[tuple(index)] for side in sides)
        total = apply(call, fns[1], total_of, total, apply(call, fns[0], total_of, one, other))
    shape = [total.shape[loop] for loop in sorted(kept)]
    return of_operand(total.reshape(shape), kept)


@meaning("vector.broadcast")
def _broadcast(call: Call, values: Array) -> Array:
    shape = ir.VectorType(call.result_type()).shape
    if isinstance(call.operand_type(0), ir.VectorType):
        return np.broadcast_to(values, shape)
    return np.broadcast_to(np.asarray(call.uniform(values)), shape)


@meaning("vector.transpose")
def _transpose(call: Call, values: Array) -> Array:
    return values.transpose(list(attribute(call.op, "permutation", ir.DenseI64ArrayAttr)))


@meaning("vector.shape_cast")
def _shape_cast(call: Call, values: Array) -> Array:
    return values.reshape(ir.VectorType(call.result_type()).shape)


@meaning("vector.fma")
def _fma(call: Call, *values: Array) -> Array:
    return apply(call, "math.fma", call.number(call.result_type()), *values)


@meaning("vector.multi_reduction")
def _multi_reduction(call: Call, values: Array, total: Array) -> Array:
    axes = sorted(attribute(call.op, "reduction_dims", ir.DenseI64ArrayAttr), reverse=True)
    return _reduce(call, values, axes, total)


@meaning("vector.reduction")
def _reduction(call: Call, values: Array, *total: Array) -> Array:
    return _reduce(call, values, [0], *total)


def _reduce(call: Call, values: Array, axes: Sequence[int], *total: Array) -> Array:
    """A vector combined along axes, the last first, and with `total`."""
    number = call.number(call.operand_type(0))
    kind = str(call.op.attributes["kind"]).partition("<")[2].rstrip(">")
    named = kind[-1] in "fi" and kind[:3] in ("max", "min")
    fn = f"arith.{kind}" if named else f"arith.{kind}{'f' if number.is_float else 'i'}"
    for axis in axes:
        found = np.moveaxis(values, axis, 0)
        values = found[0]
        for one in found[1:]:
            values = apply(call, fn, number, values, one)
    return values if not total else apply(call, fn, number, *total, values)
