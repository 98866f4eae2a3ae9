"""The discardable attributes of the dialect: promises, pins and what passes tell each other.

They stand on ops of other dialects, too, and any pass may drop them, as MLIR has it: without one
a program means the same. Loads no MLIR.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from types import MappingProxyType
from typing import NamedTuple

ALIGNED = "tile.aligned"
SIZES = "tile.sizes"
STRIDES = "tile.strides"
RASTERIZE = "tile.rasterize"
AUTOMATIC = "tile.automatic"
ABI = "tile.abi"
DYNAMIC_SHARED = "tile.dynamic_shared"
GRID = "tile.grid"
WRITTEN = "tile.written"
TENSOR_MAPS = "tile.tensor_maps"
STAGES = "tile.stages"
OVERLAP = "tile.overlap"
DEFER_WAIT = "tile.defer_wait"
PROMOTE = "tile.promote"
UNROLL = "tile.unroll"
UNROLL_NOW = "tile.unroll_now"
LAYOUT = "tile.layout"
DIRECT = "tile.direct"
COPY_ROWS = "tile.copy_rows"
PRODUCER = "tile.producer"
PERSISTENT = "tile.persistent"
SCHEDULE = "tile.schedule"
TAKES_OVER = "tile.takes_over"
PINGPONG = "tile.pingpong"
TURNS = "tile.turns"
CTAS_PER_SM = "tile.ctas_per_sm"
CLUSTER_TILES = "tile.cluster_tiles"
CTA_CLUSTER = "tile.cluster"
MULTICAST = "tile.multicast"
IN_PAIRS = "tile.in_pairs"
ACCUMULATORS = "tile.accumulators"

PREFIX = "tile."
GRID_EXTENTS = (CTAS_PER_SM, CLUSTER_TILES)
"""What says that a kernel's CTAs are not those of the grid, whose extents are arguments of it."""


class Bearer(Enum):
    """What may have an attribute; the value is how errors say it."""

    ARGUMENT = "an attribute of a memref argument of gpu.func"
    FUNCTION = "an attribute of gpu.func"
    LOOP = "an attribute of scf.for"
    LOAD = "an attribute of tile.load"
    GATHER = "an attribute of tile.gather and tile.scatter"
    DOT = "an attribute of tile.dot"
    BRANCH = "an attribute of scf.if"
    COPY = "an attribute of tile.async_copy"
    TENSOR_DOT = "an attribute of tile.tensor_dot"
    TILE = "an attribute of ops that give a tile"


class Discardable(NamedTuple):
    """An attribute.

    Attributes:
        name: with the dialect's prefix.
        bearer: what may have it.
        kind: name of the class of `ir` that its value has.
        written: the value as errors say it.
        meaning: what it says, and to whom.
        promise: whether it promises what holds of memory or a launch; what breaks one is undefined.
        transient: whether a pass sets and removes it, so that no program has it.
        judged: whether the pass that obeys it judges its value, and says more of what is wrong.
    """

    name: str
    bearer: Bearer
    kind: str
    written: str
    meaning: str
    promise: bool = False
    transient: bool = False
    judged: bool = False


_UNIT = ("UnitAttr", "a unit attribute: it takes no value; omit it to mean false")
_PER_DIMENSION = ("DenseI64ArrayAttr", "array<i64: …>, one number per dimension")

DISCARDABLE: Mapping[str, Discardable] = MappingProxyType(
    {
        one.name: one
        for one in (
            Discardable(
                ALIGNED,
                Bearer.ARGUMENT,
                "IntegerAttr",
                "a number of bytes",
                "The address of the memref's first element is a multiple of this many bytes.",
                promise=True,
            ),
            Discardable(
                SIZES,
                Bearer.ARGUMENT,
                *_PER_DIMENSION,
                "Each extent is a multiple of its number.",
                promise=True,
            ),
            Discardable(
                STRIDES,
                Bearer.ARGUMENT,
                *_PER_DIMENSION,
                "Each stride, in elements, is a multiple of its number.",
                promise=True,
            ),
            Discardable(
                RASTERIZE,
                Bearer.FUNCTION,
                "IntegerAttr",
                'a number of rows, or `"hilbert"`',
                "`tile-rasterize` numbers CTAs, or `tile-make-persistent` tiles, in columns of "
                "this number of rows of the grid, or along Hilbert curves.",
                judged=True,
            ),
            Discardable(
                AUTOMATIC,
                Bearer.FUNCTION,
                *_UNIT,
                "`tile-assign-layouts` chose the layouts; staging, pipelines and epilogues are the "
                "passes' choice.",
            ),
            Discardable(
                ABI,
                Bearer.FUNCTION,
                "StringAttr",
                "a string, as tile-kernel-abi writes it",
                "JSON of the kernel's arguments as they are passed.",
            ),
            Discardable(
                DYNAMIC_SHARED,
                Bearer.FUNCTION,
                "IntegerAttr",
                "a number of bytes",
                "Dynamic shared memory of the launch.",
            ),
            Discardable(
                GRID,
                Bearer.FUNCTION,
                "ArrayAttr",
                "an array, as tile-from-linalg writes it",
                "How the grid follows from the arguments' extents.",
            ),
            Discardable(
                PERSISTENT,
                Bearer.FUNCTION,
                "BoolAttr",
                "true or false",
                "Whether `tile-make-persistent` lets each CTA process several tiles in turn.",
            ),
            Discardable(
                SCHEDULE,
                Bearer.FUNCTION,
                "StringAttr",
                '"static" or "dynamic"',
                "How `tile-make-persistent` gives tiles to CTAs: in steps of the CTAs' number, or "
                "one after the other, as clusters that have not started are taken over.",
                judged=True,
            ),
            Discardable(
                TAKES_OVER,
                Bearer.LOOP,
                *_UNIT,
                "`tile-make-persistent` says of a loop of one iteration that "
                "`tile-take-over-tiles` may let it take over tiles of other CTAs.",
                transient=True,
            ),
            Discardable(
                PINGPONG,
                Bearer.FUNCTION,
                "BoolAttr",
                "true or false",
                "Whether two warpgroups each compute whole tiles, one after the other in turn, of "
                "which `tile-choose-pingpong` decides.",
            ),
            Discardable(
                TURNS,
                Bearer.FUNCTION,
                "IntegerAttr",
                "a number of warpgroups, as tile-specialize-warps writes it",
                "The number of warpgroups that take the tiles of a CTA in turn, for "
                "`tile-split-roles`.",
                transient=True,
            ),
            Discardable(
                CTAS_PER_SM,
                Bearer.FUNCTION,
                "IntegerAttr",
                "a number of CTAs, as tile-make-persistent writes it",
                "The number of CTAs per SM that are launched; each processes several tiles of the "
                "grid in turn. The grid's extents are the last arguments before the tensor maps.",
            ),
            Discardable(
                CLUSTER_TILES,
                Bearer.FUNCTION,
                "DenseI64ArrayAttr",
                "array<i64: X, Y, Z>, as tile-make-persistent writes it",
                "The tiles along x, y and z of the grid that a cluster takes at a time; as many "
                "clusters are launched along x as take the grid. The grid's extents are the last "
                "arguments before the tensor maps.",
            ),
            Discardable(
                CTA_CLUSTER,
                Bearer.FUNCTION,
                "DenseI64ArrayAttr",
                "array<i64: X, Y, Z>, of which at most one is more than 1",
                "This number of neighbours along an axis of the grid form a cluster, whose CTAs "
                "load shared data for each other. `tile-form-clusters` chooses it, unless the "
                "program does, and `tile-make-persistent` assigns tiles to clusters.",
                judged=True,
            ),
            Discardable(
                MULTICAST,
                Bearer.COPY,
                *_UNIT,
                "`tile-form-clusters` says of a copy that it is the same in all CTAs of a cluster, "
                "for `tile-specialize-warps`.",
                transient=True,
            ),
            Discardable(
                IN_PAIRS,
                Bearer.TENSOR_DOT,
                *_UNIT,
                "`tile-form-pairs` says of a product that the two CTAs of a cluster are to compute "
                "it together, for `tile-specialize-warps`.",
                transient=True,
            ),
            Discardable(
                WRITTEN,
                Bearer.FUNCTION,
                "DenseI64ArrayAttr",
                "array<i64: …>, as tile-order-memory writes it",
                "The numbers of the arguments that the kernel may write; if absent, all.",
            ),
            Discardable(
                TENSOR_MAPS,
                Bearer.FUNCTION,
                "StringAttr",
                "a string, as tile-fragments-to-nvvm writes it",
                "JSON of the tensor maps that the last arguments are, for `tile-kernel-abi`.",
            ),
            Discardable(
                STAGES,
                Bearer.LOOP,
                "IntegerAttr",
                "a positive integer",
                "`tile-pipeline` gives the loop's buffers this number of stages.",
                judged=True,
            ),
            Discardable(
                OVERLAP,
                Bearer.LOOP,
                "BoolAttr",
                "true or false",
                "Whether `tile-overlap-products` overlaps products of two iterations.",
            ),
            Discardable(
                DEFER_WAIT,
                Bearer.LOOP,
                "BoolAttr",
                "true or false",
                "Whether an iteration leaves its product in flight, and the next one waits for it "
                "and releases its stage. `tile-specialize-warps` decides unless the program does, "
                "and `tile-defer-waits` rewrites the loop.",
            ),
            Discardable(
                ACCUMULATORS,
                Bearer.LOOP,
                "IntegerAttr",
                "1 or 2",
                "The number of accumulators in tensor memory that the tiles of a CTA take in turn: "
                "with two, sums are loaded while products of the next tile are computed. "
                "`tile-place-accumulators` decides unless the program does.",
            ),
            Discardable(
                UNROLL,
                Bearer.LOOP,
                "IntegerAttr",
                "a positive integer",
                "`tile-unroll` unrolls the loop by this factor.",
                judged=True,
            ),
            Discardable(
                UNROLL_NOW,
                Bearer.LOOP,
                *_UNIT,
                "`tile-unroll` marks the loop that it asks upstream to unroll.",
                transient=True,
            ),
            Discardable(
                PRODUCER,
                Bearer.BRANCH,
                "DenseI64ArrayAttr",
                "array<i64: …>, as tile-specialize-warps writes it",
                "What warps do that load for others, which do what follows: threads of the CTA, "
                "and registers of a thread of each role, for `tile-split-roles`.",
                transient=True,
            ),
            Discardable(
                PROMOTE,
                Bearer.DOT,
                "BoolAttr",
                "true or false",
                "Whether `tile-promote-sums` starts a product of 8-bit floats from zero, and adds "
                "it in f32.",
            ),
            Discardable(
                LAYOUT,
                Bearer.TILE,
                "Attribute",
                "a #tile.layout",
                "Pins the layout that `tile-assign-layouts` gives the result.",
                judged=True,
            ),
            Discardable(
                DIRECT,
                Bearer.LOAD,
                *_UNIT,
                "`tile-stage-shared` does not change this load from global memory to registers.",
            ),
            Discardable(
                COPY_ROWS,
                Bearer.GATHER,
                "BoolAttr",
                "true or false",
                "Whether `tile-copy-rows` lets TMA copy the rows, where the target and the array "
                "allow it.",
            ),
        )
    }
)
"""All of them, by name."""
