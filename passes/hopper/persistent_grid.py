"""A kernel whose CTAs take one tile of the grid after the other."""

from __future__ import annotations

from tilec.dialects.tile.ops import AllocSharedOp
from tilec.ir.aliases import Op, Value
from tilec.ir.attributes import signature
from tilec.ir.dimensions import dimension_of
from tilec.ir.mlir import gpu, ir
from tilec.ir.ops import arith, scf
from tilec.ir.ops import gpu as ops_gpu
from tilec.ir.types import i32

from ..analysis.index_forms import is_pure
from ..search import named


def walk_tiles(function: gpu.GPUFuncOp, around: Op) -> None:
    """Let each CTA take tiles that come as many behind each other as there are CTAs.

    Args:
        function: the kernel, whose body is one block and asks for no CTA but by `gpu.block_id` and
            `gpu.grid_dim`.
        around: an op of its body, at whose place in the source the loop is.
    """
    block = function.regions[0].blocks[0]
    ops = [op.operation for op in block.operations]
    moved = _of_tiles(ops)
    extents = _extents(function)
    with ir.InsertionPoint(ops[-1]), around.location:
        wide = ir.IndexType.get()
        x, y, z = extents
        count = _wide(arith.muli(arith.muli(x, y), z))
        first = ops_gpu.block_id(ops_gpu.Dimension.X)
        ctas = ops_gpu.grid_dim(ops_gpu.Dimension.X)
        loop = scf.for_([first, count, ctas], [])
        body = loop.regions[0].blocks.append(wide)
        with ir.InsertionPoint(body):
            places = _places(body.arguments[0], x, y)
            end = scf.yield_()
    for op in moved:
        op.move_before(end)
    for op in named(function, [gpu.BlockIdOp]):
        if op != first.owner.operation:
            _replace(op, places[dimension_of(op)])
    for op in named(function, [gpu.GridDimOp]):
        if op != ctas.owner.operation:
            with ir.InsertionPoint(op), op.location:
                extent = _wide(extents[dimension_of(op)])
            _replace(op, extent)


def _replace(op: ir.Operation, value: Value) -> None:
    op.results[0].replace_all_uses_with(value)
    op.erase()


def _of_tiles(ops: list[ir.Operation]) -> list[ir.Operation]:
    """Of the ops of a kernel those that each tile needs anew: not constants, buffers, the end."""
    stays: set[ir.Operation] = set()
    for op in ops[:-1]:
        if op.name == "arith.constant" or isinstance(op.opview, AllocSharedOp):
            stays.add(op)
        elif op.name != "gpu.block_id" and is_pure(op) and _is_scalar(op):
            owners = [operand.owner for operand in op.operands]
            if all(isinstance(one, ir.Block) or one.operation in stays for one in owners):
                stays.add(op)
    return [op for op in ops[:-1] if op not in stays]


def _is_scalar(op: ir.Operation) -> bool:
    """Whether what an op gives takes few registers."""
    return not any(isinstance(result.type, ir.ShapedType) for result in op.results)


def _extents(function: gpu.GPUFuncOp) -> list[Value]:
    """The extents of the grid along x, y and z, new arguments behind all others."""
    block, attributes = function.regions[0].blocks[0], function.attributes
    inputs = list(signature(function).inputs)
    found: list[Value] = [
        block.add_argument(i32(), ir.Location.name(f"grid_{axis}", function.location))
        for axis in ops_gpu.Dimension
    ]
    types = ir.FunctionType.get([*inputs, *(value.type for value in found)], [])
    attributes["function_type"] = ir.TypeAttr.get(types)
    if "known_grid_size" in attributes:  # of what is launched no longer
        del attributes["known_grid_size"]
    if "arg_attrs" in attributes:
        given = list(ir.ArrayAttr(attributes["arg_attrs"]))
        attributes["arg_attrs"] = ir.ArrayAttr.get([*given, *(ir.DictAttr.get({}) for _ in found)])
    return found


def _places(tile: Value, across: Value, down: Value) -> list[Value]:
    """The place of a tile along x, y and z: grids are walked row by row.

    In 32 bits, of which a division takes a quarter of the instructions; a launch has fewer tiles.
    """
    number = arith.index_castui(tile, i32())
    row = arith.divui(number, across)
    places = arith.remui(number, across), arith.remui(row, down), arith.divui(row, down)
    return [_wide(place) for place in places]


def _wide(count: Value) -> Value:
    """A number of 32 bits as an index, of which it is seen that it is less than 2^31."""
    most = arith.integer(i32(), (1 << 31) - 1)
    return arith.index_castui(arith.andi(count, most), ir.IndexType.get())
