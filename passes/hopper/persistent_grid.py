"""A kernel whose CTAs take one tile of the grid after the other."""

from __future__ import annotations

from tilec.dialects.semantics import Place, place_of
from tilec.dialects.tile.attributes import TAKES_OVER
from tilec.dialects.tile.ops import AllocSharedOp
from tilec.ir.aliases import Op, Value
from tilec.ir.attributes import signature
from tilec.ir.dimensions import dimension_of
from tilec.ir.mlir import gpu, ir
from tilec.ir.ops import arith, scf
from tilec.ir.ops import gpu as ops_gpu
from tilec.ir.types import i32

from ..analysis.index_forms import is_pure
from ..emit import index_constant
from ..search import named
from ..tile_order import TileOrder, curve_places
from .clusters import Cluster


def walk_tiles(
    function: gpu.GPUFuncOp,
    around: Op,
    order: TileOrder,
    cluster: Cluster | None = None,
    *,
    takes_over: bool = False,
) -> None:
    """Let each CTA take tiles that come as many behind each other as there are CTAs.

    The CTAs of a cluster take tiles that are neighbours. Where a grid's extent is not a multiple,
    some have none: they go through the loop `around` with the last one's, to load for the others,
    and leave out what follows.

    Args:
        function: the kernel, whose body is one block and asks for no CTA but by `gpu.block_id` and
            `gpu.grid_dim`.
        around: an op of its body, at whose place in the source the loop is.
        order: of tiles, or of clusters.
        cluster: which CTAs are one, if they are in clusters.
        takes_over: whether clusters compute their own tiles instead, in a loop of one iteration
            that may take over those of others.
    """
    block = function.regions[0].blocks[0]
    ops = [op.operation for op in block.operations]
    moved = _of_tiles(ops)
    extents = _extents(function)
    guard = None
    with ir.InsertionPoint(ops[-1]), around.location:
        x, y, z = extents if cluster is None else _clusters_along(extents, cluster)
        count = _wide(arith.muli(arith.muli(x, y), z))
        first: Value = ops_gpu.block_id(ops_gpu.Dimension.X)
        ctas: Value = ops_gpu.grid_dim(ops_gpu.Dimension.X)
        own = [first, ctas]
        if cluster is not None:
            size = index_constant(cluster.size)
            rank = arith.index_cast(arith.remui(first, size), i32())
            first, ctas = arith.divui(first, size), arith.divui(ctas, size)
        if takes_over:
            bounds = [index_constant(number) for number in (0, 1, 1)]
            loop = scf.for_(bounds, [], {TAKES_OVER: ir.UnitAttr.get()})
        else:
            loop = scf.for_([first, count, ctas], [])
        body = loop.regions[0].blocks.append(ir.IndexType.get())
        with ir.InsertionPoint(body):
            number: Value = body.arguments[0]
            if takes_over:
                own.append(ops_gpu.block_id(ops_gpu.Dimension.X))
                number = arith.divui(
                    own[-1], index_constant(1 if cluster is None else cluster.size)
                )
            numbers = _places(number, x, y, order)
            if cluster is not None:
                numbers[cluster.axis], there = _in_cluster(numbers, rank, extents, cluster)
            places = [_wide(number) for number in numbers]
            if cluster is not None:
                guard = scf.branch(there)
                with ir.InsertionPoint(guard.regions[0].blocks.append()):
                    last = scf.yield_()
            end = scf.yield_()
    behind = set(ops[ops.index(around.operation) + 1 :])
    for op in moved:
        if guard is None:
            op.move_before(end)
        else:
            op.move_before(last if op in behind else guard)
    for op in named(function, [gpu.BlockIdOp]):
        if op.results[0] not in own:
            _replace(op, places[dimension_of(op)])
    for op in named(function, [gpu.GridDimOp]):
        if op.results[0] not in own:
            with ir.InsertionPoint(op), op.location:
                extent = _wide(extents[dimension_of(op)])
            _replace(op, extent)


def own_tile(function: gpu.GPUFuncOp, around: Op) -> None:
    """Let each CTA compute its tile in a loop of one iteration, that may take over others.

    Args:
        function: the kernel, as of `walk_tiles`.
        around: an op of its body, at whose place in the source the loop is.
    """
    ops = [op.operation for op in function.regions[0].blocks[0].operations]
    # What depends on the CTA's place must be computed anew for each tile.
    moved = [op for op in _of_tiles(ops) if not isinstance(op.opview, AllocSharedOp)]
    with ir.InsertionPoint(ops[-1]), around.location:
        bounds = [index_constant(number) for number in (0, 1, 1)]
        loop = scf.for_(bounds, [], {TAKES_OVER: ir.UnitAttr.get()})
        with ir.InsertionPoint(loop.regions[0].blocks.append(ir.IndexType.get())):
            end = scf.yield_()
    for op in moved:
        op.move_before(end)


def _replace(op: ir.Operation, value: Value) -> None:
    op.results[0].replace_all_uses_with(value)
    op.erase()


def _of_tiles(ops: list[ir.Operation]) -> list[ir.Operation]:
    """Of the ops of a kernel those that each tile needs anew: not constants, buffers, the end."""
    stays: set[ir.Operation] = set()
    for op in ops[:-1]:
        if op.name == "arith.constant" or isinstance(op.opview, AllocSharedOp):
            stays.add(op)
        elif place_of(op) is not Place.BLOCK and is_pure(op) and _is_scalar(op):
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


def _places(tile: Value, across: Value, down: Value, order: TileOrder) -> list[Value]:
    """The place of a tile, or cluster, along x, y and z.

    Grids are walked row by row, or some rows at a time, column by column in each such group, or
    along curves: what runs at the same time then reads less of both operands. The last group may
    have fewer rows.
    In 32 bits, of which a division takes a quarter of the instructions; a launch has fewer tiles.
    """
    number = arith.index_castui(tile, i32())
    if order.rows == 1:
        row = arith.divui(number, across)
        return [arith.remui(number, across), arith.remui(row, down), arith.divui(row, down)]
    layer = arith.muli(across, down)
    z, in_layer = arith.divui(number, layer), arith.remui(number, layer)
    if order.is_curve:
        return [*curve_places(in_layer, across, down), z]
    rows = arith.minui(arith.integer(i32(), order.rows), down)
    of_group = arith.muli(across, rows)
    which, within = arith.divui(in_layer, of_group), arith.remui(in_layer, of_group)
    first = arith.muli(which, rows)
    height = arith.minui(arith.subi(down, first), rows)
    y = arith.addi(first, arith.remui(within, height))
    return [arith.divui(within, height), y, z]


def _clusters_along(extents: list[Value], cluster: Cluster) -> list[Value]:
    """The clusters along x, y and z that a grid takes."""
    more = arith.integer(i32(), cluster.size - 1)
    size = arith.integer(i32(), cluster.size)
    found = list(extents)
    found[cluster.axis] = arith.divui(arith.addi(found[cluster.axis], more), size)
    return found


def _in_cluster(
    numbers: list[Value], rank: Value, extents: list[Value], cluster: Cluster
) -> tuple[Value, Value]:
    """The place of a CTA's tile along the axis of its cluster, and whether it has one."""
    axis = cluster.axis
    first = arith.muli(numbers[axis], arith.integer(i32(), cluster.size))
    place = arith.addi(first, rank)
    last = arith.subi(extents[axis], arith.integer(i32(), 1))
    there = arith.cmpi(arith.CmpI.ULE, place, last)
    return arith.minui(place, last), there


def _wide(count: Value) -> Value:
    """A number of 32 bits as an index, of which it is seen that it is less than 2^31."""
    most = arith.integer(i32(), (1 << 31) - 1)
    return arith.index_castui(arith.andi(count, most), ir.IndexType.get())
