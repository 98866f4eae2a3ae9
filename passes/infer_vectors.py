"""`tile-infer-vectors`: how wide the accesses of tiles to global memory may be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from tilec.dialects.tile.dialect import SharedAttr
from tilec.dialects.tile.tiles import PlainTile, bits_of, plain_tile
from tilec.ir.mlir import ir
from tilec.isa import TilecError

from .analysis.contiguity import contiguous, in_bounds, together, why_narrow
from .analysis.memory_facts import memory_facts
from .base import Diagnostic, Pass, PassError, remark
from .functions import functions, gpu_modules
from .layouts.tile_classes import MEMORY
from .search import named


@dataclass(frozen=True)
class InferVectors(Pass):
    """Set `vector` on loads and stores of tiles without layouts, and drop needless masks.

    In and out: level 1. `vector` follows from strides, their divisibility, and alignment: from
    the memrefs' types and, of a kernel's arguments, the attributes `tile.aligned = BYTES : i64`,
    `tile.sizes = array<i64: …>` and `tile.strides = array<i64: …>`, of which each dynamic size or
    stride is a multiple. A masked access is as wide as elements are inside or outside together.
    `masked` goes where the tile is known to lie inside. A `vector` that is there stays.
    """

    name: ClassVar[str] = "tile-infer-vectors"

    def apply(self, module: Any) -> None:
        """Annotate every kernel of `module`."""
        errors: list[Diagnostic] = []
        for gpu_module in gpu_modules(module):
            for function in functions(gpu_module):
                errors += _check_arguments(function)
                if errors:
                    continue
                for op in named(function, MEMORY):
                    _annotate(op)
        if errors:
            raise PassError(errors)


def _check_arguments(function: Any) -> list[Diagnostic]:
    """Errors in what is said about the arguments."""
    errors = []
    for argument in function.regions[0].blocks[0].arguments:
        if isinstance(argument.type, ir.MemRefType):
            try:
                memory_facts(argument)
            except TilecError as error:
                message = f"'gpu.func' op argument {argument.arg_number}: {error}"
                errors.append(Diagnostic(function.location, message))
    return errors


def _annotate(op: Any) -> None:
    load = op.operation.name == "tile.load"
    value = op.results[0] if load else op.operands[0]
    memref, *indices = list(op.operands)[0 if load else 1 :]
    tile = plain_tile(value.type)
    if tile is None or isinstance(memref.type.memory_space, SharedAttr):
        return
    shape = _in_memory(tile, transposed="transposed" in op.attributes)
    attributes = op.operation.attributes
    if "masked" in attributes and in_bounds(memref, indices, shape):
        del attributes["masked"]
        remark(op.location, f"'{op.operation.name}' op lies inside {memref.type}: no mask")
    if "vector" in attributes:
        return
    wide = contiguous(memref)
    vector = min(wide, shape[-1])
    if "masked" in attributes:
        vector = min(vector, together(memref))
    if vector > 1:
        attributes["vector"] = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), vector)
    _explain(op, memref, vector, wide)


def _in_memory(tile: PlainTile, *, transposed: bool) -> tuple[int, ...]:
    """The tile's extents as memory holds it, in elements of the memref."""
    *leading, row, col = (1, *tile.shape)
    shape = [*leading, col, row] if transposed else [*leading, row, col]
    shape[-1] = max(1, shape[-1] * bits_of(tile.element) // max(8, bits_of(tile.element)))
    return tuple(shape[-len(tile.shape) :])


def _explain(op: Any, memref: Any, vector: int, wide: int) -> None:
    size = bits_of(memref.type.element_type) // 8
    found = f"'{op.operation.name}' op moves {vector * size} bytes at a time"
    reason = why_narrow(memref)
    if vector < wide and "masked" in op.attributes:
        reason = "only so many are known to be in bounds together (tile.sizes may say more)"
    remark(op.location, f"{found}; {reason}" if reason else found)
